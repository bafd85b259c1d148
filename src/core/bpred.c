/* SPDX-License-Identifier: GPL-2.0-or-later
 * Branch prediction as the front end sees it: what is known at fetch, at decode, and only at execution.
 *
 *   in the BTB               fetch follows the prediction at once (a bubble if only the second level knows it)
 *   not in the BTB           fetch runs on; decode finds the branch: a direct target, the direction tables' word for a
 *                            conditional, the return stack for a return make it re-steer fetch (`resteer`);
 *                            an indirect branch has no target until it executes (`mispredicted`, `wrong_target`)
 * Far transfers are not predicted: the pipeline drains for them anyway.
 * The history is the right path's; what a wrong path does to predictor and return stack is left out.
 */
#include "core/bpred.h"
#include "core/btb.h"
#include "core/tage.h"
#include <stdlib.h>
#include <string.h>

struct bpred {
	struct tage tage;
	struct btb btb;
	struct indirect indirect;
	struct ras ras;
	uint32_t l2_bubble;
};

int bpred_create(struct bpred **out, const struct core_config *c, struct err *err)
{
	struct bpred *p = aligned_alloc(64, (sizeof(*p) + 63) & ~(size_t)63);
	if (!p)
		return err_set(err, ERR_NOMEM, "out of memory for the branch predictor");
	memset(p, 0, sizeof(*p));
	int rc = c->ras_depth && c->ras_depth <= RAS_MAX ? 0 : err_set(err, ERR_INPUT, "ras.depth: %u is not 1 to %d", c->ras_depth, RAS_MAX);
	if (!rc)
		rc = tage_init(&p->tage, c, err);
	if (!rc)
		rc = btb_init(&p->btb, c, err);
	if (!rc)
		rc = indirect_init(&p->indirect, c, err);
	if (rc) {
		bpred_destroy(p);
		return rc;
	}
	p->ras.depth = c->ras_depth;
	p->l2_bubble = c->btb_l2_bubble;
	*out = p;
	return 0;
}

void bpred_destroy(struct bpred *p)
{
	if (!p)
		return;
	tage_release(&p->tage);
	btb_release(&p->btb);
	indirect_release(&p->indirect);
	free(p);
}

void bpred_reset(struct bpred *p)
{
	tage_clear(&p->tage);
	btb_clear(&p->btb);
	indirect_clear(&p->indirect);
	p->ras.top = 0;
	memset(p->ras.address, 0, sizeof(p->ras.address));
}

void bpred_branch(struct bpred *p, uint64_t ip, uint32_t flags, uint64_t fallthrough, bool taken, uint64_t target,
                  struct bpred_outcome *out)
{
	*out = (struct bpred_outcome){ .predicted_taken = true };
	if (flags & INSN_FAR)
		return;
	if (flags & INSN_COND) {
		out->predicted_taken = tage_branch(&p->tage, ip, taken);
		out->mispredicted = out->predicted_taken != taken;
		if (!taken)
			return;		/* the BTB's word would change nothing: decode corrects it, and not taken is not learned */
	}
	if (flags & INSN_CALL)
		ras_push(&p->ras, fallthrough);
	if (!(flags & (INSN_RET | INSN_INDIRECT)) && btb_use_direct(&p->btb, ip)) {
		indirect_push(&p->indirect, ip, target);
		return;
	}
	uint64_t known_target;
	struct btb_place place = btb_find(&p->btb, ip, &known_target);
	if (flags & INSN_RET) {
		out->wrong_target = out->mispredicted = ras_pop(&p->ras) != target;
	} else if (flags & INSN_INDIRECT) {
		uint64_t says = indirect_branch(&p->indirect, ip, target, known_target);
		out->wrong_target = out->mispredicted = place.level < 0 || says != target;
		tage_push(&p->tage, target >> 2 & 1);
		tage_push(&p->tage, target >> 5 & 1);
	}
	out->resteer = place.level < 0 && !out->mispredicted;
	if (place.level == 1 && !out->mispredicted)
		out->bubble = p->l2_bubble;
	btb_train(&p->btb, ip, target, place);
	indirect_push(&p->indirect, ip, target);
}
