/* SPDX-License-Identifier: GPL-2.0-or-later
 * Streams of a whole machine (format.h, ST_LEVEL): what happens to the processor between its blocks.
 *
 * The front runs the block before such a record, for which the record says where it went, and queues the record for
 * the cores' thread, as it does with side records.  Private to src/run.
 */
#ifndef RUN_MACHINE_EVENTS_H
#define RUN_MACHINE_EVENTS_H
#include "run/threads/process.h"

struct engine;

/* Which of these options goes with no stream of a whole machine: a sentence; NULL: none. */
const char *whole_misfit(const struct run_options *o);

/* ---- the front ---- */
/* The process has become a whole machine's, or not; before its thread starts.  ERR_UNSUPPORTED: not with this run. */
int  whole_image(struct process *p, const struct st_process *s, const struct run_options *o, struct err *err);
/* May it have records of this kind, one of those that programs' streams have? */
bool whole_has(unsigned kind);
/* The size of words in a block's code. */
int  whole_word_bytes(const struct process *p, const struct st_block_def *def, struct err *err);
int  whole_start(struct rthread *t, struct err *err);
/* Handles one of ST_LEVEL to ST_NEXT.  ERR_INPUT: it is malformed, or out of place. */
int  whole_record(struct runner *r, struct process *p, const uint64_t *w, size_t length, struct err *err);

/* ---- the cores' thread ---- */
void whole_apply(struct engine *e, struct rthread *t, const uint64_t *record);
/* Makes a batch the machine's: privilege level, and addresses without tags. */
void whole_batch(const struct rthread *t, struct spmu_batch *b);
#endif
