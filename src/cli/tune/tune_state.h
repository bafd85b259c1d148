/* SPDX-License-Identifier: GPL-2.0-or-later
 * What a search has measured so far, in a file, so that an interrupted search continues where it was.
 *
 * Each configuration is a line, which is appended in one write as soon as it is measured: the key, the
 * settings, and the run's counts (energy.h).  The key is a hash of the trace, the core with all its fields, and
 * the result of the preset's run, so that another program, machine or model finds no line with its key.  A file
 * beside the profile store begins with a line that says whose it is: "program", the program's key in the store,
 * the core's name.
 *
 * Incomplete lines (the writer was killed) and lines with another key are skipped.
 */
#ifndef CLI_TUNE_STATE_H
#define CLI_TUNE_STATE_H
#include "analysis/cost/energy.h"
#include <stdio.h>

struct tune_state;
/* path: NULL for tune-KEY.tsv beside the profile store, for this program ("": not known) and core. fresh:
 * discards what the file contains. */
int tune_state_open(struct tune_state **out, const char *path, uint64_t key, const char *program, const char *core,
	bool fresh, struct err *err);
/* Removes the files beside the profile store that belong to this program and core (NULL: to any). Returns how
 * many were removed, or an error. */
int  tune_state_forget(const char *program, const char *core, struct err *err);
void tune_state_close(struct tune_state *s);
const char *tune_state_path(const struct tune_state *s);
/* What was measured for these settings; NULL: nothing. */
const struct energy_activity *tune_state_find(const struct tune_state *s, const char *settings);
int  tune_state_add(struct tune_state *s, const char *settings, const struct energy_activity *a, struct err *err);
/* FNV-1a over bytes, continuing from `hash`; start with TUNE_HASH. */
#define TUNE_HASH UINT64_C(0xcbf29ce484222325)
uint64_t tune_hash(uint64_t hash, const void *bytes, size_t n);
#endif
