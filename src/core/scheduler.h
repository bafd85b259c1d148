/* SPDX-License-Identifier: GPL-2.0-or-later
 * The scheduler: entries, ports, non-pipelined units.
 *
 * Models: a port is bound at allocation, to the port with the fewest uops allocated and not yet dispatched,
 * the higher-numbered one of equals.  Binding was preferred to "first port that is free when the operands are": Intel's
 * cores bind at allocation (A. Abel, J. Reineke, "uiCA", ICS 2022, section on port assignment), and the imbalance that
 * this leaves is what measured throughputs show.  From then on the oldest uop that can go first takes the cycle: a uop takes the
 * first cycle from `ready` on in which its port is free, later uops fill the holes that older ones left.
 * An entry is held until the cycle after dispatch.  Dispatches too far ahead for the window wait in a list.
 * Leaves out: writeback conflicts, bypass delays, replays, the one-cycle age of the counts that real cores use.
 *
 * How: a ring of future cycles with a bit a port; `walk` follows allocation and gives entries back.
 */
#ifndef CORE_SCHEDULER_H
#define CORE_SCHEDULER_H
#include "core/pipeline.h"

void scheduler_advance_far(struct scheduler *s, uint64_t to);
void scheduler_wait(struct scheduler *s, unsigned pool);
uint64_t scheduler_take_far(struct scheduler *s, unsigned port, uint64_t cycle);
uint64_t scheduler_take_unit(struct scheduler *s, unsigned port, uint64_t ready, unsigned unit, unsigned busy);

/* Port for a uop that is being allocated, of a mask that is not empty.  Without branches, which would be among the
 * host's least predictable ones. */
static inline unsigned scheduler_port(const struct scheduler *s, unsigned ports)
{
	const struct port_choice *choice = &s->choice[ports];
	unsigned a = s->key[choice->port[0]], b = s->key[choice->port[1]];
	unsigned c = s->key[choice->port[2]], d = s->key[choice->port[3]];
	a = a < b ? a : b;
	c = c < d ? c : d;
	a = a < c ? a : c;
	for (unsigned i = 4; UNLIKELY(i < choice->count); i++) {
		b = s->key[choice->port[i]];
		a = a < b ? a : b;
	}
	return 15 - (a & 15);
}

/* A uop takes an entry, bound to the port. */
static inline void scheduler_enter(struct scheduler *s, unsigned port)
{
	s->key[port] += 16;
	s->free[s->pool[port]]--;
}

/* Those that dispatch in a cycle give theirs back. */
static inline void scheduler_give_back(struct scheduler *s, unsigned ports)
{
	while (ports) {
		unsigned p = (unsigned)__builtin_ctz(ports);
		ports &= ports - 1;
		s->key[p] -= 16;
		s->free[s->pool[p]]++;
	}
}

/* Nothing searches further than a scheduler's worth of uops on one port beyond its ready cycle. */
#define SCHED_REACH (SCHED_WINDOW - 512)

/* First cycle from `cycle` on in which the port is free; within the window. */
static inline uint64_t scheduler_find(const struct scheduler *s, unsigned port, uint64_t cycle)
{
	if (cycle - s->run[port].from < s->run[port].to - s->run[port].from)
		cycle = s->run[port].to;
	while (s->used[cycle & (SCHED_WINDOW - 1)] >> port & 1)
		cycle++;
	return cycle;
}

/* Dispatch cycle on the port of a uop that is ready at `ready`. */
static inline uint64_t scheduler_take(struct scheduler *s, unsigned port, uint64_t ready)
{
	if (UNLIKELY(ready - s->walk >= SCHED_REACH))
		return scheduler_take_far(s, port, ready);
	uint64_t cycle = scheduler_find(s, port, ready);
	s->used[cycle & (SCHED_WINDOW - 1)] |= (uint16_t)(1u << port);
	if (cycle != ready) {	/* all of ready..cycle is taken now; keep the stretch that reaches further */
		if (ready - s->run[port].from >= s->run[port].to - s->run[port].from)
			s->run[port].from = ready;
		s->run[port].to = cycle + 1;
	}
	return cycle;
}

/* Uops that dispatch before `to` give their entries back. */
static inline void scheduler_advance(struct scheduler *s, uint64_t to)
{
	uint64_t walk = s->walk;
	if (UNLIKELY(to != walk + 1 || s->far_count)) {
		if (to > walk)
			scheduler_advance_far(s, to);
		return;
	}
	unsigned ports = s->used[walk & (SCHED_WINDOW - 1)];
	s->used[walk & (SCHED_WINDOW - 1)] = 0;
	s->walk = to;
	scheduler_give_back(s, ports);
}
#endif
