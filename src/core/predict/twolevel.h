/* SPDX-License-Identifier: GPL-2.0-or-later
 * Direction predictors that live in the branch target buffer: P5, P6 and NetBurst.
 *
 *   P5        each entry has one two-bit counter.  Pentium Processor Family Developer's Manual, "Branch Prediction".
 *   P6        each entry has the branch's own last 4 outcomes, and a two-bit counter for each of their 16 patterns: T.-Y. Yeh,
 *             Y. Patt, "Two-level adaptive training branch prediction", MICRO 1991 (PAp); that P6 does so: A. Fog,
 *             "Microarchitecture", "Branch prediction in PMMX, PPro, P2, and P3"; M. Milenkovic, A. Milenkovic, J. Kulick,
 *             "Microbenchmarks for determining branch predictor organization", SP&E 2004.
 *   NetBurst  the front-end BTB has a counter an entry; a branch that the trace cache's BTB holds too is predicted by a table of
 *             counters under the last 16 outcomes of all branches (same two sources), which say whether the branch will
 *             do as it was biased when it came into that BTB (agree predictor; that NetBurst's is one: Fog, unverified).
 * A branch that no BTB holds is predicted statically: not taken (P5), or backward taken and forward not, unless a prefix
 * says else (NetBurst: 2EH, 3EH); Optimization Manual, "Static Prediction" and "Branch Hints".  It is entered when it is taken
 * or when that was wrong (GUESS: of branches mispredicted but not taken; settle with n backward branches that fall through).
 * Left out: that the trace cache's lines are built along the prediction, addresses looked up by fetch blocks, partial tags,
 * counters that are not up to date because branches are in flight.
 */
#ifndef CORE_TWOLEVEL_H
#define CORE_TWOLEVEL_H
#include "core/predict/btb.h"

enum static_rule { STATIC_NOT_TAKEN, STATIC_BACKWARD_TAKEN };	/* bpred.static */

struct twolevel {
	struct btb_level main, trace;
	uint8_t  *local;	/* of each entry of `main`: its branch's last outcomes */
	uint32_t *counters;	/* and two bits for each pattern of them */
	uint8_t  *bias;		/* of each entry of `trace`: mostly taken */
	uint8_t  *global;	/* two-bit counters: 2 and 3 agree; NULL: none */
	uint32_t local_mask, global_mask, global_entries, global_log2;
	uint32_t rule, hints, backward_limit;
	uint64_t history;	/* outcomes of all conditional branches, the newest in bit 0 */
};

struct twolevel_look {
	int32_t main, trace;	/* entries, or -1 */
	uint32_t agree;		/* entry in global[] */
	bool taken, known;	/* known: in a BTB */
	uint64_t target;	/* last target, 0: unknown */
};

int  twolevel_init(struct twolevel *t, const struct core_config *c, struct err *err);
void twolevel_release(struct twolevel *t);
void twolevel_clear(struct twolevel *t);
/* What is known of a branch, and its direction.  history: outcomes of all branches; local: of this one, -1: as its entry has. */
void twolevel_look(const struct twolevel *t, uint64_t history, int local, uint64_t ip, uint32_t flags, uint64_t target,
                   struct twolevel_look *out);
void twolevel_learn(struct twolevel *t, const struct twolevel_look *l, uint64_t ip, bool conditional, bool taken, uint64_t target);
#endif
