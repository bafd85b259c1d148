/* SPDX-License-Identifier: GPL-2.0-or-later
 * What a search has measured so far, in a file, so that one that was interrupted goes on where it was.
 *
 * A line a configuration, appended whole as soon as it is measured: the key, the settings, and the counts (energy.h) of the run.  The key stands for the
 * trace, the core with all its fields, and how the run of the preset came out, so that another program, machine or model finds nothing of its own here.
 * A file beside the profile store begins with a line that says whose it is: "program", the program's key in the store, the core's name.
 *
 * A line that is not whole (whoever wrote it was killed) or not of this key is passed over.
 */
#ifndef CLI_TUNE_STATE_H
#define CLI_TUNE_STATE_H
#include "analysis/cost/energy.h"
#include <stdio.h>

struct tune_state;
/* path: NULL: tune-KEY.tsv beside the profile store, of this program ("": nobody knows) and core.  fresh: what is there is forgotten. */
int  tune_state_open(struct tune_state **out, const char *path, uint64_t key, const char *program, const char *core, bool fresh, struct err *err);
/* Removes the files beside the profile store that are of this program and core, NULL: any.  How many went, or an error. */
int  tune_state_forget(const char *program, const char *core, struct err *err);
void tune_state_close(struct tune_state *s);
const char *tune_state_path(const struct tune_state *s);
/* What was measured for these settings before; NULL: nothing. */
const struct energy_activity *tune_state_find(const struct tune_state *s, const char *settings);
int  tune_state_add(struct tune_state *s, const char *settings, const struct energy_activity *a, struct err *err);
/* FNV-1a over bytes, from `hash` on; start with TUNE_HASH. */
#define TUNE_HASH UINT64_C(0xcbf29ce484222325)
uint64_t tune_hash(uint64_t hash, const void *bytes, size_t n);
#endif
