/* SPDX-License-Identifier: GPL-2.0-or-later
 * The rarer half of the scheduler; what it models and leaves out: scheduler.h. */
#include "core/backend/scheduler.h"
#include <stdlib.h>
#include <string.h>

int scheduler_init(struct core *c, struct err *err)
{
	unsigned masks = 1u << c->config.ports_count;
	c->sc.choice = aligned_alloc(64, masks * sizeof *c->sc.choice);
	if (!c->sc.choice)
		return err_set(err, ERR_NOMEM, "out of memory for the scheduler");
	return 0;
}

void scheduler_release(struct core *c)
{
	free(c->sc.choice);
}

enum { UNLIMITED = 1000 * SCHED_PORTS };	/* a rate that limits nothing */

/* The number of slots that are allocated together.  With as many uops more in flight, and those of a cycle just
 * dispatched, a byte of `pending` can still count them (fields_pipeline.def: rs.size). */
static uint32_t group_slots(const struct core_config *f)
{
	return f->alloc_width < f->rs_size ? f->alloc_width : f->rs_size;
}

void scheduler_reset(struct core *c, uint64_t cycle)
{
	const struct core_config *f = &c->config;
	struct scheduler *s = &c->sc;
	struct port_choice *choice = s->choice;
	memset(s, 0, sizeof *s);
	s->choice = choice;
	s->walk = cycle;
	s->far_first = ~UINT64_C(0);
	s->quick = !f->sustain_rate && !f->sustain_memory_rate;
	s->sustain.ports = f->sustain_ports;
	s->sustain.queue = 1000 * f->sustain_queue;
	s->sustain.all.rate = f->sustain_rate ? f->sustain_rate : UNLIMITED;
	s->sustain.memory.rate = f->sustain_memory_rate ? f->sustain_memory_rate : UNLIMITED;
	s->port_mask = (1u << f->ports_count) - 1;
	const uint32_t size[SCHED_POOLS] = { f->rs_size, f->rs_load_size, f->rs_store_size };
	const uint32_t ports[SCHED_POOLS] = { s->port_mask, f->ports_load, f->ports_store };
	const uint32_t more = f->rs_group && f->ports_binding != BIND_LEAST ? group_slots(f) : 0;
	s->group_room =
		f->ports_binding == BIND_LEAST ? UINT16_MAX /* rename_group is called at every slot */ : 2 * more;
	for (unsigned i = 0; i < SCHED_POOLS; i++) {
		s->free |= (uint64_t)(size[i] + (i ? 0 : more)) << 16 * i;
		if (size[i]) {
			s->pools = i + 1;
			s->pool_ports[i] = (uint16_t)ports[i];
		}
	}
	for (unsigned i = 1; i < s->pools; i++)
		s->pool_ports[0] &= (uint16_t)~s->pool_ports[i];
	for (unsigned m = 0; m <= s->port_mask; m++) {	/* the ports of one scheduler only: that of the lowest port */
		memset(choice[m].shuffle, 0x80, sizeof choice->shuffle);
		memset(choice[m].low, 0xff, sizeof choice->low);
		unsigned pool = 0;
		choice[m].count = 0;
		for (unsigned i = 1; i < s->pools; i++)
			if (m & (0u - m) & s->pool_ports[i])
				pool = i;
		choice[m].lane = UINT64_C(0xffff) << 16 * pool;
		choice[m].entry = UINT64_C(1) << 16 * pool;
		const unsigned all = m & s->pool_ports[pool], on = all & ~f->ports_off;
		for (unsigned own = on ? on : all; own; own &= own - 1)
			if (f->ports_binding != BIND_FIRST || !choice[m].count)
				choice[m].port[choice[m].count++] = (uint8_t)__builtin_ctz(own);
		for (unsigned i = 0; i < choice[m].count && i < 8; i++) {
			choice[m].shuffle[2 * i + 1] = choice[m].port[i];
			choice[m].low[2 * i] = (uint8_t)(15 - choice[m].port[i]);
			choice[m].low[2 * i + 1] = 0;
		}
	}
	for (unsigned p = 0; p < SCHED_PORTS; p++)
		s->one[p][p] = 1;
	for (unsigned h = 0; h < 2; h++)
		for (unsigned m = 0; m < 256; m++)
			for (unsigned p = 0; p < 8; p++)
				if (m >> p & 1) {
					unsigned pool = 0;
					for (unsigned i = 1; i < s->pools; i++)
						if (s->pool_ports[i] >> (8 * h + p) & 1)
							pool = i;
					s->spread[h][m].bytes |= UINT64_C(1) << 8 * p;
					s->spread[h][m].entries += UINT64_C(1) << 16 * pool;
				}
	scheduler_count(s);
}

/* The window moved: dispatches of the list that it now covers go in. */
static void take_in(struct scheduler *s)
{
	uint64_t first = ~UINT64_C(0);
	uint32_t kept = 0;
	for (uint32_t i = 0; i < s->far_count; i++) {
		uint64_t cycle = s->far[i].cycle;
		if (cycle - s->walk < SCHED_WINDOW - 64) {
			s->used[cycle & (SCHED_WINDOW - 1)] |= (uint16_t)(1u << s->far[i].port);
		} else {
			first = min64(first, cycle);
			s->far[kept++] = s->far[i];
		}
	}
	s->far_count = kept;
	s->far_first = first;
}

/* Goes on so far that everything in the window has been dispatched. */
static void leap(struct scheduler *s, uint64_t to)
{
	for (unsigned i = 0; i < SCHED_WINDOW; i++)
		if (s->used[i])
			scheduler_give_back(s, s->used[i] & ~(unsigned)s->again[i]);
	memset(s->used, 0, sizeof s->used);
	memset(s->again, 0, sizeof s->again);
	memset(s->sustain.slow, 0, sizeof s->sustain.slow);
	s->sustain.all.waits = s->sustain.memory.waits = 0;
	uint32_t kept = 0;
	for (uint32_t i = 0; i < s->far_count; i++) {
		if (s->far[i].cycle < to)
			scheduler_give_back(s, 1u << s->far[i].port);
		else
			s->far[kept++] = s->far[i];
	}
	scheduler_give_back(s, 0);
	s->far_count = kept;
	s->walk = to;
	take_in(s);
	scheduler_count(s);
}

/* A cycle in which so many thousandths of a uop were dispatched.  Returns true if the queue has no room for
 * them. */
static bool sustained(struct sustained *r, uint32_t queue, uint32_t dispatched)
{
	const uint32_t waits = r->waits + dispatched;
	r->waits = waits > r->rate ? waits - r->rate : 0;
	return r->waits > queue;
}

static void refuse(struct sustained *r, uint32_t dispatched)
{
	r->waits -= dispatched < r->waits ? dispatched : r->waits;
}

/* What was dispatched on the ports in the cycle before `walk` is dispatched again, as far as there are entries
 * to wait in. */
static void again(struct scheduler *s, unsigned ports, unsigned slow)
{
	for (unsigned left = ports; left; left &= left - 1) {
		const unsigned port = (unsigned)__builtin_ctz(left);
		const struct port_choice *choice = &s->choice[1u << port];
		if (scheduler_full(s, choice))
			continue;
		scheduler_enter(s, choice, port);
		const uint64_t cycle = scheduler_take(s, port, s->walk);
		if (slow >> port & 1)
			scheduler_slow(s, port, cycle);
	}
}

/* From `cycle` on it finds uops of before, which wait for ports; which ones, `seed` says.  They leave no record. */
void scheduler_disturb(struct scheduler *s, uint64_t cycle, uint64_t seed)
{
	enum { UOPS = 32, BEHIND = 8, CYCLES = 64 };	/* BEHIND: nothing is allocated before */
	scheduler_advance(s, cycle);
	for (unsigned i = 0; i < UOPS; i++) {
		seed = seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);	/* Knuth's MMIX */
		const unsigned port = (unsigned)(seed >> 33) % (unsigned)(32 - __builtin_clz(s->port_mask));
		const struct port_choice *choice = &s->choice[1u << port];
		if (scheduler_full(s, choice))
			continue;
		scheduler_enter(s, choice, port);
		scheduler_take(s, port, s->walk + BEHIND + (seed >> 48) % CYCLES);
	}
}

/* Without an instruction for it on every host, __builtin_popcount is a call; few bits are set here, if any. */
static inline unsigned ones(unsigned bits)
{
	unsigned n = 0;
	for (; bits; bits &= bits - 1)
		n++;
	return n;
}

/* scheduler_advance within the window, with the rates of struct sustain. */
static void advance_sustained(struct scheduler *s, uint64_t to)
{
	struct sustain *u = &s->sustain;
	while (s->walk < to) {
		const unsigned at = s->walk & (SCHED_WINDOW - 1), ports = s->used[at] & ~(unsigned)s->again[at],
			       slow = u->slow[at] & ports & ~u->ports;
		const unsigned memory = ports & u->ports, all = memory | slow;
		s->used[at] = s->again[at] = u->slow[at] = 0;
		s->walk++;
		scheduler_give_back(s, ports);
		const bool all_over = sustained(&u->all, u->queue, 1000 * ones(all));
		const bool memory_over = sustained(&u->memory, u->queue, 1000 * ones(memory));
		if (UNLIKELY(all_over || memory_over)) {
			refuse(&u->all, 1000 * ones(all_over ? all : memory));
			refuse(&u->memory, 1000 * ones(memory));
			again(s, all_over ? all : memory, slow);
		}
	}
}

/* scheduler_advance by any distance. */
void scheduler_advance_far(struct scheduler *s, uint64_t to)
{
	if (UNLIKELY(to - s->walk >= SCHED_WINDOW - 64)) {
		leap(s, to);
		return;
	}
	if (!s->quick) {
		advance_sustained(s, to);
		scheduler_count(s);
		if (UNLIKELY(s->far_count && s->far_first - s->walk < SCHED_WINDOW - 64))
			take_in(s);
		return;
	}
	uint64_t walk = s->walk, free = s->free;
	__m128i pending = *(__m128i *)s->pending,
		late = *(__m128i *)s->late; /* as scheduler_give_back, in registers of the host */
	while (walk < to) {
		const unsigned at = walk & (SCHED_WINDOW - 1), ports = s->used[at] & ~(unsigned)s->again[at];
		uint64_t four;
		pending = _mm_sub_epi8(pending, late);
		if (!(at & 3) && walk + 4 <= to && (memcpy(&four, &s->used[at], sizeof four), !four)) {
			late = _mm_setzero_si128();
			walk += 4;
			continue;
		}
		late = scheduler_dispatched(s, ports);
		free += scheduler_entries(s, ports);
		s->used[at] = s->again[at] = 0;
		walk++;
	}
	*(__m128i *)s->pending = pending;
	*(__m128i *)s->late = late;
	s->free = free;
	s->walk = walk;
	scheduler_count(s);
	if (UNLIKELY(s->far_count && s->far_first - walk < SCHED_WINDOW - 64))
		take_in(s);
}

/* Goes on to the cycle behind the next dispatch. */
static void next_dispatch(struct scheduler *s)
{
	uint64_t cycle = s->walk, end = s->walk + SCHED_WINDOW - 64;
	while (cycle < end && !s->used[cycle & (SCHED_WINDOW - 1)])
		cycle++;
	if (cycle == end && s->far_count)
		cycle = s->far_first;
	scheduler_advance_far(s, cycle + 1);
}

/* Goes on until the pool has an entry; s->walk is then the first cycle in which it can be used. */
void scheduler_wait(struct scheduler *s, const struct port_choice *choice)
{
	while (scheduler_full(s, choice))
		next_dispatch(s);
}

/* The same until the common pool has `room` entries. */
void scheduler_wait_room(struct scheduler *s, uint32_t room)
{
	while ((uint16_t)s->free < room)
		next_dispatch(s);
}

/* Beyond the window: the list tells what is taken. */
uint64_t scheduler_take_far(struct scheduler *s, unsigned port, uint64_t cycle)
{
	for (bool again = true; again;) {
		again = false;
		for (uint32_t i = 0; i < s->far_count; i++)
			if (s->far[i].cycle == cycle && s->far[i].port == port) {
				cycle++;
				again = true;
			}
	}
	/* cycles between SCHED_REACH and the window's end may be in the ring already */
	uint16_t bit = (uint16_t)(1u << port);
	while (cycle - s->walk < SCHED_WINDOW - 64 && s->used[cycle & (SCHED_WINDOW - 1)] & bit)
		cycle++;
	if (cycle - s->walk < SCHED_WINDOW - 64) {
		s->used[cycle & (SCHED_WINDOW - 1)] |= bit;
		return cycle;
	}
	s->far[s->far_count].cycle = cycle;	/* never full: the schedulers hold fewer uops */
	s->far[s->far_count++].port = port;
	s->far_first = min64(s->far_first, cycle);
	return cycle;
}

uint64_t scheduler_again(struct scheduler *s, unsigned port, uint64_t cycle)
{
	if (cycle - s->walk >= SCHED_REACH)
		return cycle;
	cycle = scheduler_take(s, port, cycle);
	s->again[cycle & (SCHED_WINDOW - 1)] |= (uint16_t)(1u << port);
	return cycle;
}

/* Returns the first cycle from `cycle` on in which the port is free. */
uint64_t scheduler_port_free(struct scheduler *s, unsigned port, uint64_t cycle)
{
	if (cycle - s->walk < SCHED_REACH && s->used[cycle & (SCHED_WINDOW - 1)] >> port & 1)
		cycle = scheduler_behind(s, port, cycle);
	return cycle;
}

/* A unit that takes one uop in `busy` cycles: takes the first gap in its calendar in which the port is free,
 * too. */
uint64_t scheduler_take_unit(struct scheduler *s, unsigned port, uint64_t ready, unsigned unit, unsigned busy)
{
	struct unit *u = &s->unit[unit & (UNITS - 1)];
	uint32_t past = 0, at;
	while (past < u->count && u->taken[past].end <= s->walk)
		past++;
	if (past == u->count || past > UNIT_RESERVATIONS / 2) {
		u->count -= past;
		memmove(u->taken, u->taken + past, u->count * sizeof *u->taken);
		past = 0;
	}
	uint64_t cycle = ready;
	for (at = past; at < u->count; at++) {
		if (cycle + busy <= u->taken[at].begin) {	/* it fits before this one */
			uint64_t free = scheduler_port_free(s, port, cycle);
			if (free + busy <= u->taken[at].begin) {
				cycle = free;
				break;
			}
		}
		cycle = max64(cycle, u->taken[at].end);
	}
	cycle = scheduler_take(s, port, cycle);
	if (u->count == UNIT_RESERVATIONS) {	/* more than can wait to be dispatched: only the last ones, far ahead */
		u->count--;
		memmove(u->taken, u->taken + 1, u->count * sizeof *u->taken);
		at -= at > 0;
	}
	memmove(u->taken + at + 1, u->taken + at, (u->count - at) * sizeof *u->taken);
	u->taken[at].begin = cycle;
	u->taken[at].end = cycle + busy;
	u->count++;
	return cycle;
}
