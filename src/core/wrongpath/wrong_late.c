/* SPDX-License-Identifier: GPL-2.0-or-later
 * The wrong path's slots that are allocated too late to be dispatched before the branch resolves, if only records of
 * branches are wanted.
 *
 * Models: of what slot.h does, what can still be seen when the branch has resolved: delivery, allocation, entries with
 * their stalls, the turn of the load ports, and branches.  No load looks at the store queue any more, so stores take
 * entries of it and nothing else.  A uop's port would show in records alone, so none is chosen.
 */
#include "core/backend/eliminate.h"
#include "core/stages.h"

static const struct way late = { .wrong = true, .lead = true, .quiet = true };

/* Delivers and allocates the step's slot.  Returns false if the branch resolves first. */
STAGE bool begin(struct core *c, struct wrong_lead *l, const struct step *s, bool branch, struct allocated *x)
{
	uint64_t did = 0;
	if (LIKELY(s->flags & STEP_FIRST))
		wrong_fetch(c, l, s);
	if (branch && UNLIKELY(c->e.count >= EMIT_LIMIT))
		emit_room(&c->e);
	const bool allocates = wrong_allocate(c, l, wrong_deliver(c, l), &x->alloc, &x->slot, &did);
	x->did = did;
	return allocates;
}

/* A scheduler entry for uop i.  load: loads go round the load ports. */
STAGE bool enter(struct core *c, struct wrong_lead *l, const struct step *s, unsigned i, bool load, struct allocated *x)
{
	struct scheduler *sc = &c->sc;
	const struct port_choice *choice = &sc->choice[s->ports[i] & sc->port_mask];
	if (!stage_scheduler(c, late, l, choice, x))
		return false;
	if (load)
		scheduler_load_port(sc, choice);
	sc->free -= choice->entry;
	c->wrong.entries += choice->entry;
	return true;
}

/* Rename eliminates the slot's uop if it can. */
STAGE bool renamed(struct core *c, const struct wrong_lead *l, const struct step *s, const struct allocated *x)
{
	c->rn.pos = l->pos;	/* eliminate looks at the slots allocated before this one */
	c->rn.slot = x->slot;
	return eliminate(c, s->src[0][0], s->dst[0][0], s->constant, !(s->flags & STEP_ADDS), x->alloc);
}

STAGE void eliminated(struct core *c, const struct step *s, const struct allocated *x)
{
	stage_result(c, s->dst[0], s->flags & STEP_COPY ? c->reg[s->src[0][0]] : x->alloc);
}

/* The store takes an entry of the store queue, which nothing reads before it is given back (undo). */
STAGE void enter_store(struct core *c)
{
	struct lsq *q = &c->q;
	const uint32_t at = q->tail & q->mask, number = q->tail++ - c->wrong.stores;
	c->wrong.store[number] = q->store[at];
	c->wrong.given[number] = q->given[at];
	q->store[at].retire = WRONG_NEVER;
	q->wants_data = false;
}

/* The slot of a load, with what follows it in the slot: `more` uops. */
STAGE bool load(struct core *c, struct wrong_lead *l, const struct step *s, unsigned more, struct allocated *x)
{
	uint64_t *lb;
	if (!stage_load_buffer(c, late, l, x, &lb) || !enter(c, l, s, 0, true, x))
		return false;
	stage_result(c, s->dst[0], WRONG_NEVER + s->latency[0]);
	if (more) {
		x->did = 0;
		if (!enter(c, l, s, 1, false, x))
			return false;
		stage_result(c, s->dst[1], WRONG_NEVER + s->latency[1]);
	}
	*lb = c->wrong.resolve;
	return true;
}

/* A branch, which is uop i of the step at w; went: where it went. */
STAGE void branch(struct core *c, struct wrong_lead *l, const struct step *s, unsigned i, const uint64_t *w,
	uint64_t went, struct allocated *x)
{
	const uint64_t complete = WRONG_NEVER + s->latency[i], fetch = l->delivery;
	x->did |= stage_branch(c, late, l, s->in + (s->branch - s->insn), s->ip + s->branch_at, *w, went, complete);
	if (wrong_wanted(c, s->is[i], x->did))
		wrong_record(c, s->ip, s->is[i], PORT_NONE, 0, x->did, went, fetch, x->alloc, WRONG_NEVER,
			WRONG_NEVER, complete);
}

/* The step's slot behind its allocation.  Returns how many words the step has; 0: the branch resolves first. */
STAGE unsigned finish(struct core *c, struct wrong_lead *l, const struct step *s, unsigned kind, const uint64_t *w,
	struct allocated *x)
{
	switch (kind) {
	case STEP_ELIMINATED:
		eliminated(c, s, x);
		return 1;
	case STEP_RENAME:
		if (renamed(c, l, s, x)) {
			eliminated(c, s, x);
			return 1;
		}
		/* fallthrough */
	case STEP_COMPUTE: case STEP_COMPUTE_MORE:
		if (!enter(c, l, s, 0, false, x))
			return 0;
		stage_result(c, s->dst[0], WRONG_NEVER + s->latency[0]);
		return 1;
	case STEP_BRANCH:
		if (!enter(c, l, s, 0, false, x))
			return 0;
		stage_result(c, s->dst[0], WRONG_NEVER + s->latency[0]);
		branch(c, l, s, 0, w, w[1], x);
		return 2;
	case STEP_STORE:
		if (!stage_store_buffer(c, late, l, x) || !enter(c, l, s, 0, false, x))
			return 0;
		enter_store(c);
		return enter(c, l, s, 1, false, x) ? 2 : 0;
	case STEP_LOAD: case STEP_LOAD_MORE:
		return load(c, l, s, 0, x) ? 2 : 0;
	case STEP_LOAD_COMPUTE: case STEP_LOAD_COMPUTE_MORE:
		return load(c, l, s, 1, x) ? 2 : 0;
	default:	/* STEP_LOAD_BRANCH, STEP_LOAD_BRANCH_MORE */
		if (!load(c, l, s, 1, x))
			return 0;
		branch(c, l, s, 1, w, w[2], x);
		return 3;
	}
}

const uint64_t *wrong_late(struct core *c, const uint64_t *w)
{
	struct wrong_lead l;
	wrong_enter(c, &l);
	for (;;) {
		const unsigned kind = *w & SCRIPT_KIND;
		if (UNLIKELY(!script_is_short(kind))) {
			if (kind == SCRIPT_END)
				break;
			wrong_leave(c, &l);
			const uint64_t *next = core_wrong_general(c, w);
			wrong_enter(c, &l);
			if (!next)
				break;
			w = next;
			continue;
		}
		const struct step *s = script_step(*w);
		struct allocated x;
		if (!begin(c, &l, s, script_is_branch(kind), &x))
			break;
		const unsigned words = finish(c, &l, s, kind, w, &x);
		if (!words)
			break;
		w += words;
	}
	wrong_leave(c, &l);
	return w;
}
