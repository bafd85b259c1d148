/* SPDX-License-Identifier: GPL-2.0-or-later
 * Where fetch goes on behind branches and machine clears.
 *
 * Models: the redirect behind a mispredicted branch or a clear (recovery.redirect, recovery.stall), cycles that
 * the predictors take for a taken branch, and the re-steer of a branch that the branch target buffer did not
 * know (frontend.resteer).
 */
#include "core/frontend/frontend.h"
#include "core/predict/bpred.h"
#include "core/script/script.h"

void core_redirect(struct core *c, uint64_t resolve)
{
	struct frontend *fe = &c->fe;
	frontend_forget(c);
	fe->cycle = fe->predicted = max64(fe->cycle, resolve + c->config.recovery_redirect);
	c->rn.bubble_floor = max64(c->rn.bubble_floor, resolve + c->config.recovery_stall);
	c->rn.resteered = true;
	emit_signal(&c->e, SPMU_SIG_RECOVERY, resolve, resolve + c->config.recovery_stall, 1);
}

uint64_t frontend_branch_unusual(struct core *c, const struct insn *br, uint64_t word, uint64_t went, uint64_t complete)
{
	struct frontend *fe = &c->fe;
	const uint64_t taken = script_says(word, SCRIPT_TAKEN) ? SPMU_DID(TAKEN) : 0;
	const uint64_t wrong_target = script_says(word, SCRIPT_WRONG_TARGET) ? SPMU_DID(MISP_TARGET) : 0;
	if (script_says(word, SCRIPT_FAR))	/* not predicted; it serialises */
		return SPMU_DID(TAKEN);
	if (script_says(word, SCRIPT_WRONG)) {
		c->wrong.resolve = complete;
		if (script_says(word, SCRIPT_PREDICTED))
			frontend_taken(c, br->addr, went);
		return taken | SPMU_DID(MISPREDICTED) | wrong_target;
	}
	if (taken)
		frontend_taken(c, br->addr, went);
	uint64_t did = taken;
	if (script_says(word, SCRIPT_MISPREDICTED) &&
		c->wrong.on) { /* the walk found it so, and fetch goes on as predicted (walker.h) */
		did = SPMU_DID(MISPREDICTED) |
			(wrong_target ? SPMU_DID(TAKEN) | wrong_target : taken ^ SPMU_DID(TAKEN));
	} else if (script_says(word, SCRIPT_MISPREDICTED)) {
		emit_signal(&c->e, SPMU_SIG_WRONG_PATH, c->rn.cycle + 1, max64(c->rn.cycle + 1, complete), 1);
		core_redirect(c, complete);
		return taken | SPMU_DID(MISPREDICTED) | wrong_target;
	}
	const uint64_t lost = word >> SCRIPT_BUBBLE & (BUBBLE_ALONE - 1);
	if (c->config.predict_ahead && word >> SCRIPT_BUBBLE) {
		fe->predicted += lost;
		fe->pairs = false;
	} else {
		fe->cycle += lost;
	}
	if (!script_says(word, SCRIPT_RESTEER))
		return did;
	emit_signal(&c->e, SPMU_SIG_BACLEAR, fe->cycle, fe->cycle, 1);
	emit_signal(&c->e, SPMU_SIG_UNKNOWN_BRANCH, fe->cycle, fe->cycle + c->config.frontend_resteer, 1);
	fe->cycle += c->config.frontend_resteer;
	fe->predicted = max64(fe->predicted, fe->cycle - 1);	/* it goes on from the target */
	return did | SPMU_DID(BTB_MISS);
}
