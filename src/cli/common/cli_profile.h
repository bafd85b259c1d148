/* SPDX-License-Identifier: GPL-2.0-or-later
 * Profiles of programs (store/profile_store.h) as the commands use them: looked up before a run, kept after a
 * search. */
#ifndef CLI_PROFILE_H
#define CLI_PROFILE_H
#include "cli/cli.h"
#include "store/profile_store.h"
#include "store/program_key.h"

/* Call after cli_core, when the program is known: looks up the profile of r's program and core as r->profile
 * says, sets the core's features and reports that on stderr. Does nothing where there is no store. 0, or -1
 * after one printed line (only if a profile was asked for). */
int cli_profile_apply(struct cli_run *r);
/* Opens the user's store. *out is NULL, with 0, if there is none and create is false. -1 after one printed line. */
int cli_profile_store(struct profile_store **out, bool create);
/* The store's key of a program, which is given by name in PATH, by path, or by the key that `tune list` prints.
 * path: where the program is. 0, or -1 after one printed line. */
int cli_profile_key(const char *program, char key[PROGRAM_KEY_CHARS], char *path, size_t bytes);
/* The store's key of r's program, or of the program of the stream that it replays. 0, or an error. */
int cli_profile_program(const struct cli_run *r, char key[PROGRAM_KEY_CHARS], struct err *err);
/* Keeps what was found for r's program, core and profile name as the active profile. Fills in p's program,
 * path, core, name, date, version, and the registers of its sets. Refuses --set, which makes a machine other
 * than the preset. 0, or -1 after one printed line. */
int cli_profile_keep(struct cli_run *r, struct store_profile *p);
/* A phase: where it begins (NULL: nowhere), and the registers that hold from there on. */
struct cli_phase { const char *object; uint64_t offset; struct core_features to; };
/* For run_options.write: writes the registers in which the phases differ where each phase begins. malloc'd;
 * NULL: out of memory. */
struct run_write *cli_phase_writes(const struct cli_phase *phase, size_t phases, size_t *count);
/* "prefetch.l2_streamer=off,l1d.size=1/2", or "as the preset has it". false: the text was cut. */
bool cli_profile_settings(const struct store_set *set, char *text, size_t bytes);
/* Today in a profile's form, or the day of $SOURCE_DATE_EPOCH. */
void cli_profile_date(char text[16]);
#endif
