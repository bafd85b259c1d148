/* SPDX-License-Identifier: GPL-2.0-or-later
 * Direction predictors that live in the branch target buffer: P5, P6 and NetBurst.
 *
 *   P5        Each entry has one two-bit counter.
 *             Source: Pentium Processor Family Developer's Manual, "Branch Prediction".
 *   P6        Each entry has the last 4 outcomes of its branch and a two-bit counter for each of their 16 patterns.
 *             Sources: T.-Y. Yeh, Y. Patt, "Two-level adaptive training branch prediction", MICRO 1991 (PAp); for P6:
 *             A. Fog, "Microarchitecture", "Branch prediction in PMMX, PPro, P2, and P3"; M. Milenkovic,
 *             A. Milenkovic, J. Kulick, "Microbenchmarks for determining branch predictor organization", SP&E 2004.
 *   NetBurst  Each entry of the front-end BTB has one counter.  A branch that the trace cache's BTB also holds is
 *             predicted by a table of counters, selected by the last 16 outcomes of all branches (the last two
 *             sources).  A counter says whether the branch will agree with its bias, which was set when it entered
 *             that BTB (agree predictor; that NetBurst has one: Fog, unverified).
 *
 * A branch that no BTB holds is predicted statically: not taken (P5), or backward taken and forward not taken, unless
 * a hint prefix says otherwise (NetBurst: 2EH, 3EH).  Source: Optimization Manual, "Static Prediction" and "Branch
 * Hints".  It enters the BTB when it is taken, or when the static prediction was wrong (GUESS for mispredicted branches
 * that are not taken; settle with n backward branches that fall through).
 * Left out: lines of the trace cache that are built along the prediction, lookup by fetch blocks, partial tags, and
 * counters that lag because branches are in flight.
 */
#ifndef CORE_TWOLEVEL_H
#define CORE_TWOLEVEL_H
#include "core/predict/btb.h"

enum static_rule { STATIC_NOT_TAKEN, STATIC_BACKWARD_TAKEN };	/* bpred.static */

struct twolevel {
	struct btb_level main, trace;
	uint8_t  *local;	/* for each entry of `main`: the branch's last outcomes */
	uint32_t *counters;	/* for each entry of `main`: a two-bit counter for each pattern */
	uint8_t  *bias;		/* for each entry of `trace`: 1 if the branch is mostly taken */
	uint8_t  *global;	/* two-bit counters, 2 and 3 agree; NULL: no global table */
	uint32_t local_mask, global_mask, global_entries, global_log2;
	uint32_t rule, hints, backward_limit;
	uint64_t history;	/* outcomes of all conditional branches, the newest in bit 0 */
};

struct twolevel_look {
	int32_t main, trace;	/* entries, or -1 */
	uint32_t agree;		/* entry in global[] */
	bool taken, known;	/* known: a BTB holds the branch */
	uint64_t target;	/* last target, 0: unknown */
};

int  twolevel_init(struct twolevel *t, const struct core_config *c, struct err *err);
void twolevel_release(struct twolevel *t);
void twolevel_clear(struct twolevel *t);
/* Takes over the state of another one of the same description. */
void twolevel_copy(struct twolevel *to, const struct twolevel *from);
/* Looks a branch up and predicts its direction.  history: outcomes of all branches; local: outcomes of this branch,
 * or -1 for those of its entry. */
void twolevel_look(const struct twolevel *t, uint64_t history, int local, uint64_t ip, uint32_t flags, uint64_t target,
                   struct twolevel_look *out);
/* Learns the outcome of a branch.  l: the result of twolevel_look for it. */
void twolevel_learn(struct twolevel *t, const struct twolevel_look *l, uint64_t ip, bool conditional, bool taken,
                    uint64_t target);
#endif
