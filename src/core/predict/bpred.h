/* SPDX-License-Identifier: GPL-2.0-or-later
 * Branch prediction: direction, target, return stack, indirect targets.  It is called once for each branch, in program
 * order, and predicts and learns in one step.  The tables learn only from branches that retire.
 *
 * A wrong path runs on a copy of the state that is speculative in hardware (histories, return stack): struct
 * bpred_path.  It reads the tables and never trains them, since the predictors in the papers learn at retirement.
 */
#ifndef CORE_BPRED_H
#define CORE_BPRED_H
#include "core/predict/btb.h"
#include "core/machine/config.h"
#include "core/predict/tage.h"
#include "isa/isa.h"

/* A bubble of an indirect jump on a core that predicts pairs of taken branches (predict.pairs): no cycle is lost, but
 * its target is not the second of a pair.  Zen 5: four LEA and JMP r64 take 4.1 cycles, four direct JMP 2.6. */
enum { BUBBLE_ALONE = 128 };

struct bpred;
struct bpred_outcome {
	bool mispredicted;	/* found wrong when it executes: flush */
	bool wrong_target;	/* mispredicted because of the target */
	bool resteer;		/* decode finds the branch or its direct target (BACLEAR): a bubble, but no flush */
	bool predicted_taken;
	/* Fetch cycles lost although the prediction is right, because of where the BTB held the branch; or
	 * BUBBLE_ALONE. */
	uint8_t bubble;
	/* Only of a mispredicted branch: where fetch continued; 0: no target was known, and fetch waits. */
	uint64_t predicted;
};

enum bpred_flags {		/* with enum insn_flags: hint prefixes (3EH, 2EH), for the cores that honour them */
	BPRED_HINT_TAKEN = 1 << 16, BPRED_HINT_NOT_TAKEN = 1 << 17,
};

int  bpred_create(struct bpred **out, const struct core_config *c, struct err *err);
void bpred_destroy(struct bpred *p);
void bpred_reset(struct bpred *p);
/* Takes over what another predictor of the same description has learned. */
void bpred_copy(struct bpred *to, const struct bpred *from);
/* Changes the machine's features (features.h).  Tables whose size changes start empty; the others keep their contents.
 * Nothing changes on an error. */
int  bpred_resize(struct bpred *p, const struct core_config *was, const struct core_config *c, struct err *err);
/* The predictor's return stack, for hardware threads that share all but that (smt.h). */
struct ras *bpred_stack(struct bpred *p);
/* Predicts a branch and learns its outcome.  flags: enum insn_flags and bpred_flags; fallthrough: address of the next
 * instruction; target: where the branch goes if taken. */
void bpred_branch(struct bpred *p, uint64_t ip, uint32_t flags, uint64_t fallthrough, bool taken, uint64_t target,
                  struct bpred_outcome *out);
/* As bpred_branch, if nobody asks for more than whether it was mispredicted, which is returned. */
bool bpred_learn(struct bpred *p, uint64_t ip, uint32_t flags, uint64_t fallthrough, bool taken, uint64_t target);

/* --- the wrong path --- */
enum { BPRED_OWN = 8 };
struct bpred_path {
	bool resteer;		/* the last bpred_path_branch was found at decode, which resteered fetch */
	uint8_t bubble;		/* fetch cycles that the last bpred_path_branch lost, or BUBBLE_ALONE */
	/* private to the predictor: */
	uint32_t own_count;
	struct { uint32_t tag, value; } own[BPRED_OWN];	/* local histories that this path has changed, by address */
	uint64_t history;	/* short global history */
	uint64_t path[3];	/* history of the indirect predictor */
	struct tage_path tage;
	struct ras ras;
};
/* Sets `path` to the state after the branch of the last bpred_branch, which must have been mispredicted, as if it had
 * gone as predicted.  Valid until the next bpred_branch.  Takes less than 100 ns. */
void bpred_path_begin(const struct bpred *p, struct bpred_path *path);
/* Predicts a branch of the wrong path, and changes only `path`.  Returns where fetch continues, or 0 if no target is
 * known or it is a far transfer, and fetch waits.  target: of a direct branch; else ignored. */
uint64_t bpred_path_branch(const struct bpred *p, struct bpred_path *path, uint64_t ip, uint32_t flags,
	uint64_t fallthrough, uint64_t target);
#endif
