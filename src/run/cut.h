/* SPDX-License-Identifier: GPL-2.0-or-later
 * A saved stream that is timed in pieces, by several runs at once (run_sample.cut_step).  Private to src/run.
 *
 * Piece k of a thread begins at the first block behind k * length instructions.  All runs read the whole stream.  Each
 * has a leader as a sampled run has (sample.h), which warms all of the stream, and times every cut_step-th piece: the
 * piece's machine and core are new, take over what the leader has, and run `lead` instructions before the piece.  The
 * wrong path's registers and words of memory are followed throughout: walks read words that were last touched millions
 * of instructions ago (sqlite3: cycles -0.40 %, L1 misses -19 % if only the lead is followed; +0.06, +0.3 % like this).
 * What a piece finds depends on the stream alone, so its counts are the same in whichever run it is timed.
 * The first piece begins as a run in full detail does.
 *
 * Not as in one run: what wrong paths left in caches, TLBs and predictors before the lead.
 * Not taken: more than one thread (how threads delay each other is not known in a gap); l3.others (lines have ages by
 * the clock, and a leader has none).
 */
#ifndef RUN_CUT_H
#define RUN_CUT_H
#include "run/runner.h"

static inline bool cut_is(const struct run_options *o)
{
	return o->sample.cut_step;
}
/* Of run_options that ask for it: ERR_UNSUPPORTED, ERR_INPUT. */
int  cut_check(const struct run_options *o, struct err *err);
/* A thread starts: ERR_UNSUPPORTED if it is not the first one. */
int  cut_thread(struct runner *r, struct err *err);
/* Sets the thread's next place. */
void cut_place(const struct runner *r, struct rthread *t);
/* The thread has reached that place. */
void cut_turn(struct runner *r, struct rthread *t);
#endif
