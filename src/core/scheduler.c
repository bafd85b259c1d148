/* SPDX-License-Identifier: GPL-2.0-or-later
 * The rarer half of the scheduler; what it models and leaves out: scheduler.h. */
#include "core/scheduler.h"
#include <stdlib.h>
#include <string.h>

int scheduler_init(struct core *c, struct err *err)
{
	unsigned masks = 1u << c->config.ports_count;
	c->sc.choice = calloc(masks, sizeof *c->sc.choice);
	if (!c->sc.choice)
		return err_set(err, ERR_NOMEM, "out of memory for the scheduler");
	return 0;
}

void scheduler_release(struct core *c)
{
	free(c->sc.choice);
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
	s->port_mask = (1u << f->ports_count) - 1;
	const uint32_t size[SCHED_POOLS] = { f->rs_size, f->rs_load_size, f->rs_store_size };
	const uint32_t ports[SCHED_POOLS] = { s->port_mask, f->ports_load, f->ports_store };
	for (unsigned i = 0; i < SCHED_POOLS; i++) {
		s->free |= (uint64_t)size[i] << 16 * i;
		if (size[i]) {
			s->pools = i + 1;
			s->pool_ports[i] = (uint16_t)ports[i];
		}
	}
	for (unsigned i = 1; i < s->pools; i++)
		s->pool_ports[0] &= (uint16_t)~s->pool_ports[i];
	for (unsigned m = 0; m <= s->port_mask; m++) {	/* ports of one scheduler only: that of the lowest */
		memset(choice[m].port, PORT_NONE, sizeof choice->port);
		unsigned pool = 0;
		choice[m].count = 0;
		for (unsigned i = 1; i < s->pools; i++)
			if (m & (0u - m) & s->pool_ports[i])
				pool = i;
		choice[m].shift = (uint8_t)(16 * pool);
		for (unsigned own = m & s->pool_ports[pool]; own; own &= own - 1)
			choice[m].port[choice[m].count++] = (uint8_t)__builtin_ctz(own);
	}
	for (unsigned p = 0; p < SCHED_PORTS; p++)
		s->key_base[p] = p == PORT_NONE ? UINT16_MAX : (uint16_t)(15 - p);
	for (unsigned p = 0; p < 8; p++)
		s->one[p] = UINT64_C(1) << 8 * p;
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

/* Everything in the window has dispatched. */
static void leap(struct scheduler *s, uint64_t to)
{
	for (unsigned i = 0; i < SCHED_WINDOW; i++)
		if (s->used[i])
			scheduler_give_back(s, s->used[i]);
	memset(s->used, 0, sizeof s->used);
	uint32_t kept = 0;
	for (uint32_t i = 0; i < s->far_count; i++) {
		if (s->far[i].cycle < to)
			scheduler_give_back(s, 1u << s->far[i].port);
		else
			s->far[kept++] = s->far[i];
	}
	s->far_count = kept;
	s->walk = to;
	take_in(s);
	scheduler_count(s);
}

/* scheduler_advance by any distance. */
void scheduler_advance_far(struct scheduler *s, uint64_t to)
{
	if (UNLIKELY(to - s->walk >= SCHED_WINDOW - 64)) {
		leap(s, to);
		return;
	}
	uint64_t walk = s->walk;
	while (walk < to) {
		unsigned at = walk & (SCHED_WINDOW - 1);
		uint64_t four;
		if (!(at & 3) && walk + 4 <= to && (memcpy(&four, &s->used[at], sizeof four), !four)) {
			walk += 4;
			continue;
		}
		scheduler_give_back(s, s->used[at]);
		s->used[at] = 0;
		walk++;
	}
	s->walk = walk;
	scheduler_count(s);
	if (UNLIKELY(s->far_count && s->far_first - walk < SCHED_WINDOW - 64))
		take_in(s);
}

/* Goes on until the pool has an entry; s->walk is then the cycle at which it can be used. */
void scheduler_wait(struct scheduler *s, const struct port_choice *choice)
{
	while (scheduler_full(s, choice)) {
		uint64_t cycle = s->walk, end = s->walk + SCHED_WINDOW - 64;
		while (cycle < end && !s->used[cycle & (SCHED_WINDOW - 1)])
			cycle++;
		if (cycle == end && s->far_count)
			cycle = s->far_first;
		scheduler_advance_far(s, cycle + 1);
	}
}

/* Beyond the window: the list says what is taken. */
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
	/* what lies between SCHED_REACH and the window's end may be in the ring already */
	uint16_t bit = (uint16_t)(1u << port);
	while (cycle - s->walk < SCHED_WINDOW - 64 && s->used[cycle & (SCHED_WINDOW - 1)] & bit)
		cycle++;
	if (cycle - s->walk < SCHED_WINDOW - 64) {
		s->used[cycle & (SCHED_WINDOW - 1)] |= bit;
		return cycle;
	}
	s->far[s->far_count].cycle = cycle;	/* never full: fewer entries than the schedulers have together */
	s->far[s->far_count++].port = port;
	s->far_first = min64(s->far_first, cycle);
	return cycle;
}

/* A unit that takes one uop in `busy` cycles: the first hole in its calendar in which the port is free too. */
uint64_t scheduler_take_unit(struct scheduler *s, unsigned port, uint64_t ready, unsigned unit, unsigned busy)
{
	struct unit *u = &s->unit[unit & (UNITS - 1)];
	uint32_t live = 0;
	for (uint32_t i = 0; i < u->count; i++)
		if (u->taken[i].end > s->walk)
			u->taken[live++] = u->taken[i];
	u->count = live;

	uint64_t cycle = ready;
	for (bool again = true; again;) {
		again = false;
		for (uint32_t i = 0; i < u->count; i++)
			if (cycle < u->taken[i].end && cycle + busy > u->taken[i].begin) {
				cycle = u->taken[i].end;
				again = true;
			}
		if (!again && cycle - s->walk < SCHED_REACH) {
			again = s->used[cycle & (SCHED_WINDOW - 1)] >> port & 1;
			if (again)
				cycle = scheduler_behind(s, port, cycle);
		}
	}
	uint32_t at = u->count;
	if (at == UNIT_RESERVATIONS) {		/* forget the one that ends first */
		at = 0;
		for (uint32_t i = 1; i < u->count; i++)
			if (u->taken[i].end < u->taken[at].end)
				at = i;
	} else {
		u->count++;
	}
	cycle = scheduler_take(s, port, cycle);
	u->taken[at].begin = cycle;
	u->taken[at].end = cycle + busy;
	return cycle;
}
