/* SPDX-License-Identifier: GPL-2.0-or-later
 * Branch prediction: direction, target, return stack, indirect targets.  Called once for each branch in
 * program order; prediction and update in one step: the tables learn what retired, nothing of the wrong path.
 *
 * Wrong paths run on a copy of the little that is speculative in hardware (histories, return stack): struct bpred_path.  It
 * reads the tables and never trains them, as the predictors in the papers learn at retirement.
 */
#ifndef CORE_BPRED_H
#define CORE_BPRED_H
#include "core/predict/btb.h"
#include "core/machine/config.h"
#include "core/predict/tage.h"
#include "isa/isa.h"

struct bpred;
struct bpred_outcome {
	bool mispredicted;	/* found wrong when it executes: flush */
	bool wrong_target;	/* mispredicted because of the target */
	bool resteer;		/* front end learns of the branch or its direct target at decode only (BACLEAR): bubble, no flush */
	bool predicted_taken;
	uint8_t bubble;		/* fetch cycles lost although the prediction stands: only the second BTB level knew the branch */
	uint64_t predicted;	/* of a mispredicted one alone: where fetch went on; 0: no target was known, it waits */
};

enum bpred_flags {		/* beside enum insn_flags: hints by prefix (3EH, 2EH), for the cores that honour them */
	BPRED_HINT_TAKEN = 1 << 16, BPRED_HINT_NOT_TAKEN = 1 << 17,
};

int  bpred_create(struct bpred **out, const struct core_config *c, struct err *err);
void bpred_destroy(struct bpred *p);
void bpred_reset(struct bpred *p);
/* The machine is another (features.h): tables of another size are made anew, and know nothing; the others stay.  Nothing changes after an error. */
int  bpred_resize(struct bpred *p, const struct core_config *was, const struct core_config *c, struct err *err);
struct ras *bpred_stack(struct bpred *p);	/* its return stack, for hardware threads that share the rest (smt.h) */
/* flags: enum insn_flags and bpred_flags of the branch; fallthrough: address behind it; target: where it goes if taken. */
void bpred_branch(struct bpred *p, uint64_t ip, uint32_t flags, uint64_t fallthrough, bool taken, uint64_t target,
                  struct bpred_outcome *out);

/* --- the wrong path --- */
enum { BPRED_OWN = 8 };
struct bpred_path {
	bool resteer;		/* of the last bpred_path_branch: decode re-steered fetch */
	uint8_t bubble;		/* likewise: fetch cycles lost */
	/* what follows is the predictor's own */
	uint32_t own_count;
	struct { uint32_t tag, value; } own[BPRED_OWN];	/* local histories, by address, where this path has changed them */
	uint64_t history;	/* short global history */
	uint64_t path[3];	/* the indirect predictor's */
	struct tage_path tage;
	struct ras ras;
};
/* The state right behind the branch of the last bpred_branch, which was mispredicted, had it gone as predicted.  Valid until
 * the next bpred_branch; costs less than 100 ns. */
void bpred_path_begin(const struct bpred *p, struct bpred_path *path);
/* A branch of the wrong path: returns where fetch goes on behind it, and notes that in `path` alone.  0: no target is known (or a
 * far transfer), fetch waits.  target: a direct branch's; else ignored. */
uint64_t bpred_path_branch(const struct bpred *p, struct bpred_path *path, uint64_t ip, uint32_t flags, uint64_t fallthrough,
                           uint64_t target);
#endif
