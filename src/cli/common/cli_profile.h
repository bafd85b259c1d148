/* SPDX-License-Identifier: GPL-2.0-or-later
 * Profiles of programs (store/profile_store.h) as the commands use them: looked up before a run, kept after a search. */
#ifndef CLI_PROFILE_H
#define CLI_PROFILE_H
#include "cli/cli.h"
#include "store/profile_store.h"
#include "store/program_key.h"

/* Behind cli_core, when the program is known: looks the profile of r's program and core up as r->profile says, sets the core's features and says so
 * on stderr.  Nothing happens where there is no store.  0, or -1 after one printed line: only if it was asked for. */
int cli_profile_apply(struct cli_run *r);
/* The user's store.  *out NULL, and 0: there is none, and create is false.  -1 after one printed line. */
int cli_profile_store(struct profile_store **out, bool create);
/* What the store calls a program: a name in PATH, a path, or a key as `tune list` prints it; path: where it is.  0, or -1 after one printed line. */
int cli_profile_key(const char *program, char key[PROGRAM_KEY_CHARS], char *path, size_t bytes);
/* What the store calls r's program, or that of the stream it replays.  0, or an error. */
int cli_profile_program(const struct cli_run *r, char key[PROGRAM_KEY_CHARS], struct err *err);
/* Keeps what was found for r's program, core and profile name as the active profile.  Of p, the program, path, core, name, date, version, and the
 * registers of its sets are filled in here; --set makes another machine than the preset, of which nothing is kept.  0, or -1 after one printed line. */
int cli_profile_keep(struct cli_run *r, struct store_profile *p);
/* A phase: where it begins (NULL: nowhere), and the registers that then hold. */
struct cli_phase { const char *object; uint64_t offset; struct core_features to; };
/* For run_options.write: the registers in which the phases differ are written where each begins.  From malloc; NULL: no memory. */
struct run_write *cli_phase_writes(const struct cli_phase *phase, size_t phases, size_t *count);
/* "prefetch.l2_streamer=off,l1d.size=1/2", or "as the preset has it"; false: cut. */
bool cli_profile_settings(const struct store_set *set, char *text, size_t bytes);
/* Today as a profile has it, or the day of $SOURCE_DATE_EPOCH. */
void cli_profile_date(char text[16]);
#endif
