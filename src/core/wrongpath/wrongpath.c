/* SPDX-License-Identifier: GPL-2.0-or-later
 * Execution of the wrong path, and how it is undone; what is modelled and left out: wrongpath.h.
 *
 * How: what the right path must find as it was is saved and put back; of the store queue, the buckets that
 * stores changed are logged; of the scheduler, the uops that took an entry and were not dispatched are counted.
 * Everything that could move the core's time to the resolve cycle or beyond is checked first.
 */
#include "core/wrongpath/wrongpath.h"
#include "core/slot.h"
#include <string.h>

bool wrong_may_wait(struct core *c, unsigned run, enum spmu_signal signal, uint64_t from, uint64_t until)
{
	if (until < c->wrong.resolve)
		return true;
	emit_grow(&c->e, run, signal, from, c->wrong.resolve, 1);
	return false;
}

/* The scheduler goes on to the cycle behind its next dispatch.  Returns false if the branch resolves first. */
static bool next_dispatch(struct core *c)
{
	struct scheduler *s = &c->sc;
	uint64_t cycle = s->walk, end = min64(c->wrong.resolve, s->walk + SCHED_WINDOW - 64);
	while (cycle < end && !s->used[cycle & (SCHED_WINDOW - 1)])
		cycle++;
	if (cycle + 1 >= end)
		return false;
	scheduler_advance(s, cycle + 1);
	return true;
}

uint64_t wrong_wait_entry(struct core *c, const struct port_choice *choice, uint64_t alloc, uint64_t *did)
{
	while (scheduler_full(&c->sc, choice))
		if (!next_dispatch(c)) {
			emit_grow(&c->e, RUN_RS, SPMU_SIG_RESOURCE_STALL_RS, alloc, c->wrong.resolve, 1);
			return WRONG_NEVER;
		}
	if (c->sc.walk <= alloc)
		return alloc;
	*did |= SPMU_DID(STALL_RS);
	return rename_stall(c, SPMU_SIG_RESOURCE_STALL_RS, alloc, c->sc.walk);
}

uint64_t wrong_slot_waits(struct core *c, uint64_t fetch, uint64_t *did)
{
	struct rename *rn = &c->rn;
	struct scheduler *s = &c->sc;
	const uint64_t resolve = c->wrong.resolve, delivered = fetch + rn->frontend_latency, open = rn->cycle;
	const uint32_t pos = rn->pos += SLOT_STEP;
	if (pos - c->wrong.rn.pos > c->wrong.most_slots)
		return WRONG_NEVER;	/* older entries of the rings are the right path's */
	const uint64_t rob = pos - c->wrong.rn.pos > rn->rob_back ? resolve /* it is the wrong path's own */ :
		*slot_free(rn, pos - rn->rob_back);
	uint64_t cycle = max64(max64(open, delivered), max64(rob, rn->barrier));
	if (cycle >= resolve) {
		uint64_t from = max64(max64(max64(open, rn->barrier), rn->bubble_floor), rob),
			 end = min64(delivered, resolve);
		if (from < end && from == open && rn->used) {	/* the cycle's first slots are taken */
			emit_grow(&c->e, RUN_BUBBLE, SPMU_SIG_IDQ_BUBBLE, from, from + 1, rn->width - rn->used);
			from++;
		}
		if (from < end)
			emit_grow(&c->e, RUN_BUBBLE, SPMU_SIG_IDQ_BUBBLE, from, end, rn->width);
		from = max64(open, delivered);
		if (min64(rn->serial, resolve) > from)
			emit_signal(&c->e, SPMU_SIG_SERIALIZED, from, min64(rn->serial, resolve), 1);
		from = max64(from, rn->barrier);
		if (rob > from)
			emit_grow(&c->e, RUN_ROB, SPMU_SIG_RESOURCE_STALL_ROB, from, resolve, 1);
		return WRONG_NEVER;
	}
	if (cycle > open)
		cycle = rename_wait(c, delivered, rob, did);
	if (cycle != s->walk) {
		scheduler_advance(s, cycle);
		lsq_advance(c, cycle);
	}
	if (UNLIKELY((uint16_t)s->free < s->group_room)) {
		if (c->config.ports_binding == BIND_LEAST) {
			scheduler_count(s);
		} else if (!rn->used) {
			while ((uint16_t)s->free < s->group_room)
				if (!next_dispatch(c)) {
					emit_grow(&c->e, RUN_RS, SPMU_SIG_RESOURCE_STALL_RS, cycle, resolve, 1);
					return WRONG_NEVER;
				}
			if (s->walk > cycle) {
				emit_grow(&c->e, RUN_RS, SPMU_SIG_RESOURCE_STALL_RS, cycle, s->walk, 1);
				*did |= SPMU_DID(STALL_RS);
				cycle = rn->cycle = s->walk;
				lsq_advance(c, cycle);
			}
		}
	}
	rn->slot = rn->used;
	if (++rn->used >= rn->width) {
		rn->used = 0;
		rn->cycle = cycle + 1;
	} else {
		rn->cycle = cycle;
	}
	*slot_alloc(rn, pos) = cycle;
	return cycle;
}

uint64_t wrong_take_unit(
	struct core *c, const struct port_choice *choice, unsigned port, uint64_t ready, unsigned unit, unsigned busy)
{
	struct scheduler *s = &c->sc;
	if (ready >= c->wrong.reach)
		return port < SCHED_PORTS ? wrong_waits(c, choice, port) : WRONG_NEVER;
	uint64_t at = scheduler_take_unit(s, port, ready, unit, busy);
	if (at < c->wrong.resolve)
		return at;
	struct unit *u = &s->unit[unit & (UNITS - 1)];
	for (uint32_t i = 0; i < u->count; i++)
		if (u->taken[i].begin == at) {
			memmove(u->taken + i, u->taken + i + 1, (--u->count - i) * sizeof *u->taken);
			break;
		}
	if (at - s->walk < SCHED_WINDOW - 64) {
		s->used[at & (SCHED_WINDOW - 1)] &= (uint16_t)~(1u << port);
		return wrong_waits(c, choice, port);
	}
	return at;	/* it is in the list of those far ahead: it goes, late */
}

/* --- stores --- */

uint64_t wrong_store_room(struct core *c)
{
	struct lsq *q = &c->q;
	if (c->wrong.full)
		return WRONG_NEVER;
	while (q->tail - q->head >= q->sb_size) {
		if (q->head == c->wrong.stores)		/* all of them are the wrong path's */
			return WRONG_NEVER;
		lsq_commit(c);
	}
	const uint32_t before = q->tail - q->sb_size;
	return (int32_t)(before - c->wrong.stores) >= 0 ? WRONG_NEVER : q->store[before & q->mask].commit;
}

void wrong_log_store(struct core *c, uint64_t addr, uint32_t size)
{
	struct wrong *x = &c->wrong;
	const uint32_t at = c->q.tail & c->q.mask;
	x->store[c->q.tail - x->stores] = c->q.store[at];
	x->given[c->q.tail - x->stores] = c->q.given[at];
	if (!size || size > SQ_INDEXED)
		return;
	uint64_t g = addr >> 3, last = (addr + (size - 1)) >> 3;
	for (;; g = (g + 1) & UINT64_MAX >> 3) {
		uint32_t bucket = g & (SQ_BUCKETS - 1);
		x->log[x->logged].bucket = bucket;
		x->log[x->logged++].was = c->q.bucket[bucket];
		if (g == last)
			break;
	}
	x->full = x->logged > WRONG_LOG - SQ_INDEXED / 8 - 1;
}

/* --- loads --- */

uint64_t wrong_load(struct core *c, const struct port_choice *choice, uint64_t ip, uint64_t addr, uint32_t size,
	unsigned port, uint64_t ready, bool vector, uint64_t *did, uint64_t *dispatch)
{
	struct lsq *q = &c->q;
	if (UNLIKELY(q->addr_known > ready && q->mdp[ip & (MDP_ENTRIES - 1)] < q->mdp_limit))
		ready = q->addr_known;
	*dispatch = wrong_take_any(c, choice, port, ready);
	return *dispatch == WRONG_NEVER ? WRONG_NEVER : wrong_load_taken(c, ip, addr, size, *dispatch, vector, did);
}

uint64_t wrong_load_taken(
	struct core *c, uint64_t ip, uint64_t addr, uint32_t size, uint64_t at, bool vector, uint64_t *did)
{
	struct lsq *q = &c->q;
	bool alias = false,
	     clear = size <= SQ_INDEXED && q->tail - q->big >= q->sb_size && lsq_clear(q, addr, size, at);
	const uint32_t found = clear ? 0 : lsq_find(q, addr, size, at, &alias);
	uint64_t go = at;
	if (found) {
		const struct store *s = &q->store[(found - 1) & q->mask];
		const uint64_t offset = addr - s->addr;
		if (offset < s->size && size <= s->size - offset && !s->flush) {
			*did |= SPMU_DID(FORWARDED) | SPMU_DID(L1D_HIT);
			return max64(at, s->data_ready) + q->forward_latency;
		}
		/* it waits for a store that will never be written */
		if ((int32_t)(found - 1 - c->wrong.stores) >= 0) {
			*did |= SPMU_DID(FORWARD_BLOCKED);
			return WRONG_NEVER;
		}
		while ((int32_t)(found - 1 - q->head) >= 0)
			lsq_commit(c);
		if (s->commit > at) {
			*did |= SPMU_DID(FORWARD_BLOCKED);
			go = s->commit + q->forward_blocked;
		}
	} else if (UNLIKELY(alias)) {
		*did |= SPMU_DID(ALIAS_4K);
		go += q->alias_penalty;
	}
	if (go >= c->wrong.resolve || !wrong_translated(c, addr, size))
		return WRONG_NEVER;
	struct mem_result r = { 0, 0 };
	memsys_load(c->mem, ip, addr, size, go, vector, &r);
	*did |= r.did;
	return max64(r.ready, at + 1);
}

/* --- records --- */

static uint32_t reached(const struct core *c, uint64_t cycle)
{
	return cycle < c->wrong.resolve ? (uint32_t)cycle - (uint32_t)c->e.base : UINT32_MAX;
}

void wrong_record(struct core *c, uint64_t ip, uint64_t is, unsigned port, uint32_t size, uint64_t did, uint64_t addr,
	uint64_t fetch, uint64_t alloc, uint64_t ready, uint64_t dispatch, uint64_t complete)
{
	const uint32_t base = (uint32_t)c->e.base;
	struct spmu_record *r = emit_uop(&c->e);
	*r = (struct spmu_record){ .kind = SPMU_REC_UOP,
		.cpl = 3,
		.port = (uint8_t)port,
		.size = size,
		.ip = ip,
		.is = is,
		.did = did,
		.addr = addr,
		.fetch = (uint32_t)fetch - base,
		.alloc = (uint32_t)alloc - base,
		.ready = reached(c, ready),
		.dispatch = reached(c, dispatch),
		.complete = reached(c, complete),
		.retire = (uint32_t)c->wrong.resolve - base };
}

/* --- there and back --- */

/* Hides the size from the compiler, which else copies with REP MOVS: that is slow to begin on the host. */
static __attribute__((noipa)) void copy(void *to, const void *from, size_t bytes)
{
	memcpy(to, from, bytes);
}

/* How much of these a wrong path changes so that the right path must find it as it was: the hints where windows
 * are in the uop cache are verified at each use; constants are added to general registers alone. */
enum { FRONTEND_KEPT = offsetof(struct frontend, dsb_hint), ELIMINATE_KEPT = offsetof(struct eliminate, sum[REG_VEC]) };

/* Without slots no copy is ever noted. */
static void copy_eliminate(uint32_t slots, struct eliminate *to, const struct eliminate *from)
{
	if (slots)
		copy(to, from, ELIMINATE_KEPT);
	else
		copy(to->sum, from->sum, ELIMINATE_KEPT - offsetof(struct eliminate, sum));
}

static void begin(struct core *c)
{
	struct wrong *x = &c->wrong;
	const struct rename *rn = &c->rn;
	const struct lsq *q = &c->q;
	copy(x->reg, c->reg, sizeof x->reg);
	copy(&x->fe, &c->fe, FRONTEND_KEPT);
	x->rn.cycle = rn->cycle;
	x->rn.barrier = rn->barrier;
	x->rn.serial = rn->serial;
	x->rn.bubble_floor = rn->bubble_floor;
	x->rn.used = rn->used;
	x->rn.slot = rn->slot;
	x->rn.pos = rn->pos;
	x->rn.loads = rn->loads;
	x->q.addr_known = q->addr_known;
	x->q.load_floor = q->load_floor;
	x->q.big = q->big;
	x->q.slot_tail = q->slot_tail;
	x->q.forwarded = q->forwarded;
	x->q.wants_data = q->wants_data;
	copy_eliminate(c->el.slots, &x->el, &c->el);
	copy(&x->by, &c->by, sizeof x->by);
	if (c->old.any)
		x->old = c->old;
	x->walks = c->config.wrong_path_walks;
	x->tlb = c->config.wrong_path_tlb;
	x->most_slots =
		(SLOT_RING - (c->config.rob_size > c->config.idq_size ? c->config.rob_size : c->config.idq_size)) *
		SLOT_STEP;
	x->most_quick = x->most_slots < rn->rob_back ? x->most_slots : rn->rob_back;
	x->most_loads = LOAD_RING - c->config.load_buffer_size - (LOAD_RING - c->config.load_buffer_size) / 8;
	x->reach = min64(x->resolve, c->sc.walk + SCHED_REACH);
	x->stores = q->tail;
	x->logged = 0;
	x->full = false;
	x->entries = 0;
	memset(x->waiting, 0, sizeof x->waiting);
}

static void undo(struct core *c)
{
	struct wrong *x = &c->wrong;
	struct rename *rn = &c->rn;
	struct lsq *q = &c->q;
	const uint32_t dsb_stamp = c->fe.dsb_stamp;
	copy(c->reg, x->reg, sizeof x->reg);
	copy(&c->fe, &x->fe, FRONTEND_KEPT);
	c->fe.dsb_stamp = dsb_stamp;
	rn->cycle = max64(x->rn.cycle, x->resolve);
	rn->used = rn->cycle == x->rn.cycle ? x->rn.used : 0;
	rn->slot = x->rn.slot;
	rn->barrier = x->rn.barrier;
	rn->serial = x->rn.serial;
	rn->resteered = false;
	rn->quick = 0;
	rn->bubble_floor = x->rn.bubble_floor;
	rn->pos = x->rn.pos;
	rn->loads = x->rn.loads;
	while (x->logged) {
		x->logged--;
		q->bucket[x->log[x->logged].bucket] = x->log[x->logged].was;
	}
	while (q->tail != x->stores) {
		q->tail--;
		q->store[q->tail & q->mask] = x->store[q->tail - x->stores];
		q->given[q->tail & q->mask] = x->given[q->tail - x->stores];
	}
	q->addr_known = x->q.addr_known;
	q->load_floor = x->q.load_floor;
	q->big = x->q.big;
	q->slot_tail = x->q.slot_tail;
	q->forwarded = x->q.forwarded;
	q->wants_data = x->q.wants_data;
	q->lock_slot = false;
	for (unsigned p = 0; p < SCHED_PORTS; p++)
		c->sc.pending[p] = (uint8_t)(c->sc.pending[p] - x->waiting[p]);
	c->sc.free += x->entries;
	copy_eliminate(c->el.slots, &c->el, &x->el);
	copy(&c->by, &x->by, sizeof x->by);
	if (c->old.any) {
		x->old.stamp = c->old.stamp;
		c->old = x->old;
	}
}

void core_wrong_path(struct core *c, const uint64_t *w)
{
	begin(c);
	c->wrong.on = true;	/* machine clears wait until the wrong path is over */
	if (!c->wrong.tlb)
		memsys_keep_tlb(c->mem, true);
	c->wrong_steps(c, w + 1);
	if (!c->wrong.tlb)
		memsys_keep_tlb(c->mem, false);
	c->wrong.on = false;
	c->e.busy = false;	/* it may have stopped within an instruction of microcode */
	if (*w >> SCRIPT_WALK)
		c->walked[(*w >> SCRIPT_WALK) - 1] = (uint16_t)(c->wrong.at - (w + 1));
	undo(c);
	core_redirect(c, c->wrong.resolve);
}
