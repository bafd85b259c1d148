/* SPDX-License-Identifier: GPL-2.0-or-later
 * Branch prediction as the front end sees it: what fetch knows, what decode finds, and what only execution finds.
 *
 *   in the BTB       Fetch follows the prediction at once (with a bubble if only the second level holds the branch).
 *   not in the BTB   Fetch continues straight on, and decode finds the branch.  It resteers fetch (`resteer`) by a
 *                    direct target, by the direction tables for a conditional branch, by the return stack for a
 *                    return.  An indirect branch has no target until it executes (`mispredicted`, `wrong_target`).
 *
 * There are three kinds of machine (bpred.class).  `btb` keeps directions in the branch target buffer (twolevel.h:
 * P5, P6, NetBurst); `hybrid` (hybrid.h: Core 2) and `tage` (tage.h: later cores) keep them in separate tables, which
 * predict every branch.
 * At an indirect branch that no BTB holds, fetch falls through (Optimization Manual, "Static Prediction"); with
 * `tage` it waits (GUESS; to settle: cold indirect branches before a line that nothing else touches).
 * Far transfers are not predicted: the pipeline drains for them anyway.
 * bpred.perfect = 1 looks nothing up and predicts everything right; 2 predicts as usual and then corrects only
 * mispredicts.
 * A wrong path keeps its changes in struct bpred_path, so histories and return stack recover at once when it ends.
 */
#include "core/predict/bpred.h"
#include "core/predict/hybrid.h"
#include "core/predict/twolevel.h"
#include <stdlib.h>
#include <string.h>

enum { CLASS_TAGE, CLASS_HYBRID, CLASS_BTB };	/* bpred.class */

struct bpred {
	uint32_t class, underflow;	/* underflow: ras.underflow */
	enum { PERFECT_NOT, PERFECT_ALL, PERFECT_MISPREDICTS } perfect;	/* bpred.perfect */
	uint32_t unusual;		/* flags of branches that do not take the usual path of bpred_branch */
	struct tage tage;
	struct hybrid hybrid;
	struct twolevel two;
	struct btb btb;
	struct indirect indirect;
	struct ras ras;
	uint32_t l2_bubble, call_bubble, indirect_bubble, override, indirect_override;
	struct {			/* the branch mispredicted last */
		uint64_t ip, predicted, path[3], history;
		uint32_t flags;
		bool taken;	/* as predicted */
	} last;
};

static __attribute__((noinline)) void
keep_mispredict(struct bpred *p, uint64_t ip, uint32_t flags, bool taken, uint64_t predicted)
{
	p->last.ip = ip;
	p->last.predicted = predicted;
	p->last.flags = flags;
	p->last.taken = taken;
	memcpy(p->last.path, p->indirect.path, sizeof(p->last.path));
	p->last.history = p->class == CLASS_BTB ? p->two.history : p->hybrid.before;
}

static inline void mispredict(struct bpred *p, uint64_t ip, uint32_t flags, bool taken, uint64_t predicted,
	struct bpred_outcome *out)
{
	out->mispredicted = true;
	out->predicted = predicted;
	keep_mispredict(p, ip, flags, taken, predicted);
}

int bpred_create(struct bpred **out, const struct core_config *c, struct err *err)
{
	struct bpred *p = aligned_alloc(64, (sizeof(*p) + 63) & ~(size_t)63);
	if (!p)
		return err_set(err, ERR_NOMEM, "out of memory for the branch predictor");
	memset(p, 0, sizeof(*p));
	p->class = c->bpred_class;
	p->perfect = c->bpred_perfect;
	p->unusual = p->class == CLASS_BTB || p->perfect ? UINT32_MAX : INSN_FAR;
	int rc = c->ras_depth > RAS_MAX
		? err_set(err, ERR_INPUT, "ras.depth = %u is more than %d", c->ras_depth, RAS_MAX)
		: 0;
	if (!rc && !c->ras_depth && p->class != CLASS_BTB && !c->ras_underflow)
		rc = err_set(err, ERR_INPUT, "ras.depth = 0 needs bpred.class = btb or ras.underflow = 1");
	if (!rc && p->class == CLASS_TAGE)
		rc = tage_init(&p->tage, c, err);
	if (!rc && p->class == CLASS_HYBRID)
		rc = hybrid_init(&p->hybrid, c, err);
	if (!rc)
		rc = p->class == CLASS_BTB ? twolevel_init(&p->two, c, err) : btb_init(&p->btb, c, err);
	if (!rc)
		rc = indirect_init(&p->indirect, c, err);
	if (rc) {
		bpred_destroy(p);
		return rc;
	}
	p->ras.depth = c->ras_depth;
	p->underflow = c->ras_underflow;
	p->l2_bubble = c->btb_l2_bubble;
	p->call_bubble = c->btb_call_bubble;
	p->override = c->predict_override;
	p->indirect_override = c->indirect_override;
	p->indirect_bubble = c->btb_indirect_bubble || !c->predict_pairs ? c->btb_indirect_bubble : BUBBLE_ALONE;
	*out = p;
	return 0;
}

void bpred_destroy(struct bpred *p)
{
	if (!p)
		return;
	tage_release(&p->tage);
	hybrid_release(&p->hybrid);
	twolevel_release(&p->two);
	btb_release(&p->btb);
	indirect_release(&p->indirect);
	free(p);
}

#define SAME(field) (was->field == c->field)
#define EXCHANGE(a, b) do { __typeof__(a) was_ = (a); (a) = (b); (b) = was_; } while (0)

int bpred_resize(struct bpred *p, const struct core_config *was, const struct core_config *c, struct err *err)
{
	struct bpred *n;
	int rc = bpred_create(&n, c, err);
	if (rc)
		return rc;
	const bool base = SAME(tage_base_log2) && SAME(tage_loop_entries),
		   btb = SAME(btb_l1_entries) && SAME(btb_l1_ways);
	const bool global = SAME(global_entries_log2);
	if (base && SAME(tage_tables) && SAME(tage_entries_log2))
		EXCHANGE(n->tage, p->tage);
	if (base && global)
		EXCHANGE(n->hybrid, p->hybrid);
	if (btb && global && SAME(trace_btb_entries) && SAME(trace_btb_ways) && SAME(local_history))
		EXCHANGE(n->two, p->two);
	if (btb)
		EXCHANGE(n->btb.level[0], p->btb.level[0]);
	if (SAME(btb_l2_entries) && SAME(btb_l2_ways))
		EXCHANGE(n->btb.level[1], p->btb.level[1]);
	if (SAME(indirect_tables) && SAME(indirect_entries_log2) && SAME(indirect_own_bits))
		EXCHANGE(n->indirect, p->indirect);
	if (SAME(ras_depth))
		n->ras = p->ras;
	n->last = p->last;
	EXCHANGE(*n, *p);	/* others hold pointers to p */
	bpred_destroy(n);
	return 0;
}

struct ras *bpred_stack(struct bpred *p)
{
	return &p->ras;
}

void bpred_reset(struct bpred *p)
{
	if (p->class == CLASS_TAGE)
		tage_clear(&p->tage);
	else if (p->class == CLASS_HYBRID)
		hybrid_clear(&p->hybrid);
	else
		twolevel_clear(&p->two);
	btb_clear(&p->btb);
	indirect_clear(&p->indirect);
	p->ras.top = p->ras.filled = 0;
	memset(p->ras.address, 0, sizeof(p->ras.address));
}

void bpred_copy(struct bpred *to, const struct bpred *from)
{
	if (from->class == CLASS_TAGE)
		tage_copy(&to->tage, &from->tage);
	else if (from->class == CLASS_HYBRID)
		hybrid_copy(&to->hybrid, &from->hybrid);
	else
		twolevel_copy(&to->two, &from->two);
	btb_copy(&to->btb, &from->btb);
	indirect_copy(&to->indirect, &from->indirect);
	to->ras = from->ras;
}
/* The two bits that an indirect branch's target adds to the history of directions. */
static unsigned target_bits(uint64_t target)
{
	return (target >> 1 & 2) | (target >> 5 & 1);
}

/* bpred_branch of P5, P6 and NetBurst. */
static __attribute__((noinline)) void
branch_by_btb(struct bpred *p, uint64_t ip, uint32_t flags, uint64_t fallthrough, bool taken, uint64_t target,
              struct bpred_outcome *out)
{
	struct twolevel_look l;
	twolevel_look(&p->two, p->two.history, -1, ip, flags, target, &l);
	if (flags & INSN_COND) {
		out->predicted_taken = l.taken;
		if (l.taken != taken)
			mispredict(p, ip, flags, l.taken, taken ? fallthrough : target, out);
	} else if (flags & (INSN_RET | INSN_INDIRECT)) {
		uint64_t says = l.known ? l.target : fallthrough;
		if (flags & INSN_CALL)
			ras_push(&p->ras, fallthrough);
		if (flags & INSN_RET && p->ras.depth)
			says = ras_pop(&p->ras);
		else if (l.known && p->indirect.tables)
			says = indirect_branch(&p->indirect, ip, target, l.target);
		if (says != target) {
			out->wrong_target = true;
			mispredict(p, ip, flags, true, says, out);
		}
	} else if (flags & INSN_CALL) {
		ras_push(&p->ras, fallthrough);
	}
	out->resteer = taken && !l.known && !out->mispredicted;
	twolevel_learn(&p->two, &l, ip, flags & INSN_COND, taken, target);
	if (taken)
		indirect_push(&p->indirect, ip, target);
}

/* Predicts a return with an empty stack as an indirect branch, on a core that detects that. */
static __attribute__((noinline)) uint64_t return_beyond(struct bpred *p, uint64_t ip, uint64_t target,
	uint64_t known_target)
{
	uint64_t says = indirect_branch(&p->indirect, ip, target, known_target);
	ras_pop(&p->ras);
	return says;
}

/* The fetch bubble of a taken branch that this level of the BTB holds (-1: none does). */
static uint8_t bubble(const struct bpred *p, int level, uint32_t flags)
{
	if (level)
		return (uint8_t)(level == 1 ? p->l2_bubble : 0);
	if (flags & (INSN_CALL | INSN_RET))
		return (uint8_t)p->call_bubble;
	return (uint8_t)(flags & INSN_INDIRECT ? p->indirect_bubble : 0);
}

/* bpred_branch of cores with separate direction tables. */
static inline __attribute__((always_inline)) void branch_by_tables(struct bpred *p, uint64_t ip, uint32_t flags,
	uint64_t fallthrough, bool taken, uint64_t target, struct bpred_outcome *out)
{
	uint8_t lost = 0;
	if (flags & INSN_COND) {
		out->predicted_taken = p->class == CLASS_TAGE ? tage_branch(&p->tage, ip, taken)
							      : hybrid_branch(&p->hybrid, ip, taken);
		if (out->predicted_taken != taken)
			mispredict(p, ip, flags, !taken, taken ? fallthrough : target, out);
		lost = (uint8_t)(p->tage.overruled ? p->override : 0);
		if (!taken) {
			/* the BTB does not matter: decode corrects it, and it learns only taken branches */
			out->bubble = lost;
			return;
		}
	}
	if (flags & INSN_CALL)
		ras_push(&p->ras, fallthrough);
	if (!(flags & (INSN_RET | INSN_INDIRECT)) && btb_use_direct(&p->btb, ip)) {
		indirect_push(&p->indirect, ip, target);
		out->bubble = (uint8_t)(bubble(p, 0, flags) + lost);
		return;
	}
	uint64_t known_target;
	struct btb_place place = btb_find(&p->btb, ip, &known_target);
	if (flags & INSN_RET) {
		p->hybrid.before = p->hybrid.path;
		uint64_t says =
			p->underflow && !p->ras.filled ? return_beyond(p, ip, target, known_target) : ras_pop(&p->ras);
		if (says != target) {
			out->wrong_target = true;
			mispredict(p, ip, flags, true, says, out);
		}
	} else if (flags & INSN_INDIRECT) {
		uint64_t says = indirect_branch(&p->indirect, ip, target, known_target);
		lost = (uint8_t)(says == known_target ? 0 : p->indirect_override);
		if (place.level < 0)
			says = p->class == CLASS_TAGE ? 0 : fallthrough;
		if (p->class == CLASS_TAGE) {
			unsigned bits = target_bits(target);
			tage_push(&p->tage, bits >> 1);
			tage_push(&p->tage, bits & 1);
		} else {
			hybrid_indirect(&p->hybrid, ip, target);
		}
		if (says != target) {
			out->wrong_target = true;
			mispredict(p, ip, flags, true, says, out);
		}
	}
	out->resteer = place.level < 0 && !out->mispredicted;
	if (!out->mispredicted)
		out->bubble = (uint8_t)(bubble(p, place.level, flags) + lost);
	btb_train(&p->btb, ip, target, place);
	indirect_push(&p->indirect, ip, target);
}

/* bpred_branch with bpred.perfect. */
static __attribute__((noinline)) void put_right(struct bpred *p, uint64_t ip, uint32_t flags, uint64_t fallthrough,
	bool taken, uint64_t target, struct bpred_outcome *out)
{
	if (p->perfect == PERFECT_MISPREDICTS && p->class == CLASS_BTB)
		branch_by_btb(p, ip, flags, fallthrough, taken, target, out);
	else if (p->perfect == PERFECT_MISPREDICTS)
		branch_by_tables(p, ip, flags, fallthrough, taken, target, out);
	out->predicted_taken = taken;
	out->mispredicted = out->wrong_target = false;
	out->predicted = 0;
}

bool bpred_learn(struct bpred *p, uint64_t ip, uint32_t flags, uint64_t fallthrough, bool taken, uint64_t target)
{
	if (__builtin_expect(!(flags & p->unusual), 1)) {
		struct bpred_outcome usual = { .predicted_taken = true };	/* what is not used is not written */
		branch_by_tables(p, ip, flags, fallthrough, taken, target, &usual);
		return usual.mispredicted;
	}
	struct bpred_outcome out;
	bpred_branch(p, ip, flags, fallthrough, taken, target, &out);
	return out.mispredicted;
}

void bpred_branch(struct bpred *p, uint64_t ip, uint32_t flags, uint64_t fallthrough, bool taken, uint64_t target,
                  struct bpred_outcome *out)
{
	*out = (struct bpred_outcome){ .predicted_taken = true };
	if (__builtin_expect(!(flags & p->unusual), 1))
		branch_by_tables(p, ip, flags, fallthrough, taken, target, out);
	else if (flags & INSN_FAR)
		return;
	else if (p->perfect)
		put_right(p, ip, flags, fallthrough, taken, target, out);
	else
		branch_by_btb(p, ip, flags, fallthrough, taken, target, out);
}

/* --- the wrong path --- */
/* Finds a branch among those whose local history this path has changed. */
static int own_find(const struct bpred_path *path, uint32_t tag)
{
	for (uint32_t i = 0; i < path->own_count; i++)
		if (path->own[i].tag == tag)
			return (int)i;
	return -1;
}

/* Returns the local history of the branch on this path, or -1 if it is that of the tables. */
static int own_history(const struct bpred_path *path, uint64_t ip)
{
	int i = own_find(path, btb_tag(ip));
	return i < 0 ? -1 : (int)path->own[i].value;
}

/* Sets the local history of a branch on this path.  If there is no room, the branch keeps that of the tables. */
static void own_set(struct bpred_path *path, uint64_t ip, uint32_t value)
{
	int i = own_find(path, btb_tag(ip));
	if (i < 0) {
		if (path->own_count == BPRED_OWN)
			return;
		i = (int)path->own_count++;
		path->own[i].tag = btb_tag(ip);
	}
	path->own[i].value = value & 255;
}

void bpred_path_begin(const struct bpred *p, struct bpred_path *path)
{
	bool conditional = p->last.flags & INSN_COND, indirect = !conditional && !(p->last.flags & INSN_RET);
	path->resteer = false;
	path->bubble = 0;
	path->own_count = 0;
	memcpy(path->path, p->last.path, sizeof(path->path));
	path->ras.depth = p->ras.depth;
	path->ras.top = p->ras.top;
	path->ras.filled = p->ras.filled;
	memcpy(path->ras.address, p->ras.address, (p->ras.depth ? p->ras.depth : 1) * sizeof(*p->ras.address));
	if (p->last.taken)
		indirect_path_push(&p->indirect, path->path, p->last.ip, p->last.predicted);

	path->history = p->last.history;
	switch (p->class) {
	case CLASS_TAGE:
		if (conditional)
			tage_path_begin(&p->tage, &path->tage, 1, p->last.taken);
		else
			tage_path_begin(&p->tage, &path->tage, indirect ? 2 : 0, target_bits(p->last.predicted));
		break;
	case CLASS_HYBRID:
		if (conditional ? p->last.taken : indirect)
			path->history = hybrid_path_push((uint32_t)path->history, p->last.ip,
				conditional ? 0 : p->last.predicted);
		break;
	default:
		if (!conditional)
			break;
		path->history = path->history << 1 | p->last.taken;
		struct twolevel_look l;		/* its entry, if any, has the real outcome in bit 0 */
		twolevel_look(&p->two, 0, -1, p->last.ip, 0, 0, &l);
		if (l.main >= 0)
			own_set(path, p->last.ip, (p->two.local[l.main] & ~1u) | p->last.taken);
	}
}

static uint64_t path_by_btb(const struct bpred *p, struct bpred_path *path, uint64_t ip, uint32_t flags,
	uint64_t fallthrough, uint64_t target)
{
	struct twolevel_look l;
	int own = flags & INSN_COND ? own_history(path, ip) : -1;
	twolevel_look(&p->two, path->history, own, ip, flags, target, &l);
	if (flags & INSN_COND) {
		path->history = path->history << 1 | l.taken;
		if (l.main >= 0 && p->two.local_mask)
			own_set(path, ip, (own < 0 ? p->two.local[l.main] : (uint32_t)own) << 1 | l.taken);
		if (!l.taken)
			return fallthrough;
	} else if (flags & (INSN_RET | INSN_INDIRECT)) {
		target = l.known ? l.target : fallthrough;
		if (flags & INSN_CALL)
			ras_push(&path->ras, fallthrough);
		if (flags & INSN_RET && p->ras.depth)
			target = ras_pop(&path->ras);
		else if (l.known && p->indirect.tables)
			target = indirect_look(&p->indirect, path->path, ip, l.target);
	} else if (flags & INSN_CALL) {
		ras_push(&path->ras, fallthrough);
	}
	path->resteer = !l.known;
	if (target)
		indirect_path_push(&p->indirect, path->path, ip, target);
	return target;
}

uint64_t bpred_path_branch(const struct bpred *p, struct bpred_path *path, uint64_t ip, uint32_t flags,
	uint64_t fallthrough, uint64_t target)
{
	path->resteer = false;
	path->bubble = 0;
	if (flags & INSN_FAR)
		return 0;
	if (p->class == CLASS_BTB)
		return path_by_btb(p, path, ip, flags, fallthrough, target);
	if (flags & INSN_COND) {
		bool taken;
		if (p->class == CLASS_TAGE) {
			taken = tage_path_branch(&p->tage, &path->tage, ip);
		} else {
			taken = hybrid_look(&p->hybrid, (uint32_t)path->history, ip);
			if (taken)
				path->history = hybrid_path_push((uint32_t)path->history, ip, 0);
		}
		if (!taken)
			return fallthrough;
	}
	if (flags & INSN_CALL)
		ras_push(&path->ras, fallthrough);
	if (!(flags & (INSN_RET | INSN_INDIRECT)) && btb_knows_direct(&p->btb, ip)) {
		path->bubble = target ? bubble(p, 0, flags) : 0;
	} else {
		uint64_t known_target;
		struct btb_place place = btb_find(&p->btb, ip, &known_target);
		uint8_t lost = 0;
		if (flags & INSN_RET) {
			bool beyond = p->underflow && !path->ras.filled;
			target = ras_pop(&path->ras);
			if (beyond)
				target = indirect_look(&p->indirect, path->path, ip, known_target);
		} else if (flags & INSN_INDIRECT) {
			target = indirect_look(&p->indirect, path->path, ip, known_target);
			lost = (uint8_t)(target == known_target ? 0 : p->indirect_override);
			if (place.level < 0)
				target = p->class == CLASS_TAGE ? 0 : fallthrough;
			if (p->class == CLASS_TAGE) {
				unsigned bits = target_bits(target);
				tage_path_push(&p->tage, &path->tage, bits >> 1);
				tage_path_push(&p->tage, &path->tage, bits & 1);
			} else {
				path->history = hybrid_path_push((uint32_t)path->history, ip, target);
			}
		}
		path->resteer = target && place.level < 0;
		path->bubble = (uint8_t)(target ? bubble(p, place.level, flags) + lost : 0);
	}
	if (target)
		indirect_path_push(&p->indirect, path->path, ip, target);
	return target;
}
