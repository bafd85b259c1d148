/* SPDX-License-Identifier: GPL-2.0-or-later
 * Branch prediction: direction, target, return stack, indirect targets.  Called once for each branch in
 * program order; prediction and update in one step (the history is the right path's).
 */
#ifndef CORE_BPRED_H
#define CORE_BPRED_H
#include "core/config.h"
#include "isa/isa.h"

struct bpred;
struct bpred_outcome {
	bool mispredicted;	/* found wrong when it executes: flush */
	bool wrong_target;	/* mispredicted because of the target */
	bool resteer;		/* front end learns of the branch or its direct target at decode only (BACLEAR): bubble, no flush */
	bool predicted_taken;
	uint8_t bubble;		/* fetch cycles lost although the prediction stands: only the second BTB level knew the branch */
};

int  bpred_create(struct bpred **out, const struct core_config *c, struct err *err);
void bpred_destroy(struct bpred *p);
void bpred_reset(struct bpred *p);
/* flags: enum insn_flags of the branch; fallthrough: address behind it; target: where it went if taken. */
void bpred_branch(struct bpred *p, uint64_t ip, uint32_t flags, uint64_t fallthrough, bool taken, uint64_t target,
                  struct bpred_outcome *out);
#endif
