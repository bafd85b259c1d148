/* SPDX-License-Identifier: GPL-2.0-or-later
 * The scheduler: entries, ports, non-pipelined units.
 *
 * Models: a uop is bound to a port at allocation.  What counts is how many uops of each port are allocated and
 * not yet dispatched at the beginning of the cycle (a count falls the cycle after dispatch): even slots of the
 * cycle take the port with the fewest, odd slots the next port, unless that has three more; of equal ports the
 * one with the higher number; loads go round the load ports.  Intel's cores bind at allocation (A. Abel, J.
 * Reineke, "uiCA", ICS 2022, assignment of ports), and measured throughputs show the imbalance that this
 * leaves; so binding was preferred to "the first port that is free when the operands are there".
 * From then on a uop takes the first cycle from `ready` on in which its port is free; younger uops fill the
 * holes that older ones left.
 * An entry is held until the cycle after dispatch.  With rs.group a cycle's slots are allocated only if there
 * is an entry for each of them (as in uiCA).  Dispatches too far ahead for the window wait in a list.
 * sustain.rate: loads, store addresses and slow computations together are sustained at a lower rate than their
 * ports allow.  They enter a queue that so many leave in a cycle; what is dispatched in a cycle in which the
 * queue is full is refused and dispatched again, on the same ports.  sustain.memory_rate: a second queue, of
 * loads and store addresses alone.  Found in measured throughputs (data/cores/skylake.conf); it is not known
 * what these uops share, and their results are not later for it: only ports and entries are taken once more.
 * l1d.replay: a load that waits for its line takes its port again in the cycle in which the line arrives.  It has given
 * its entry back then (GUESS), and no count of dispatched uops shows it.  Beyond the window it is left out.
 * Leaves out: writeback conflicts, and replays otherwise.  Bypass delays: bypass.h.
 *
 * How: a ring of future cycles with a bit a port; `walk` follows allocation and gives entries back.
 */
#ifndef CORE_SCHEDULER_H
#define CORE_SCHEDULER_H
#include "core/pipeline.h"
#ifdef __SSE4_1__
#include <smmintrin.h>
#else
#include <emmintrin.h>
#endif

enum { BIND_COUNTS, BIND_LEAST, BIND_FIRST };	/* ports.binding */
void scheduler_advance_far(struct scheduler *s, uint64_t to);
void scheduler_wait(struct scheduler *s, const struct port_choice *choice);
void scheduler_wait_room(struct scheduler *s, uint32_t room);
uint64_t scheduler_take_far(struct scheduler *s, unsigned port, uint64_t cycle);
void scheduler_disturb(struct scheduler *s, uint64_t cycle, uint64_t seed);
uint64_t scheduler_port_free(struct scheduler *s, unsigned port, uint64_t cycle);
/* A load that took the port takes it again at `cycle` or later.  Returns when. */
uint64_t scheduler_again(struct scheduler *s, unsigned port, uint64_t cycle);
uint64_t scheduler_take_unit(struct scheduler *s, unsigned port, uint64_t ready, unsigned unit, unsigned busy);

/* Returns the port for a uop that is allocated in slot `slot` of its cycle.  It has no branches, which would be
 * among the host's least predictable ones, and uses counts that stay the same within a cycle: a dependency from
 * uop to uop took twice as long. */
static inline unsigned scheduler_port(const struct scheduler *s, const struct port_choice *choice, unsigned slot)
{
	/* the two least: count << 8, and 15 - port in the low bits */
	unsigned first = UINT16_MAX, second = UINT16_MAX;
#ifdef __SSE4_1__
	if (LIKELY(choice->count <= 8)) {
		__m128i key = _mm_shuffle_epi8(*(const __m128i *)s->counts, *(const __m128i *)choice->shuffle);
		key = _mm_or_si128(key, *(const __m128i *)choice->low);
		const __m128i least = _mm_minpos_epu16(key);	/* in the lowest lane; the one above has its number */
		/* without it: no two keys are the same */
		key = _mm_or_si128(key, _mm_cmpeq_epi16(key, _mm_shuffle_epi8(least, _mm_set1_epi16(0x100))));
		second = (unsigned)_mm_cvtsi128_si32(_mm_minpos_epu16(key)) & UINT16_MAX;
		first = (unsigned)_mm_cvtsi128_si32(least);	/* the lane's number does not matter */
	} else
#endif
	for (unsigned i = 0; i < choice->count; i++) {
		unsigned key = (unsigned)s->counts[choice->port[i]] << 8 | (15 - choice->port[i]),
			 more = key > first ? key : first;
		first = key < first ? key : first;
		second = more < second ? more : second;
	}
	unsigned margin = second - (first & 0xff00), wanted = (0u - (slot & 1)) & 3u << 8;
	unsigned close = (unsigned)((int)(margin - wanted) >> 31);	/* all ones if margin < wanted */
	__asm__("" : "+r" (close));	/* else GCC makes it a branch */
	return ~(first ^ ((first ^ second) & close)) & 15;
}

static inline unsigned scheduler_load_port(struct scheduler *s, const struct port_choice *choice)
{
	uint32_t at = s->loads < choice->count ? s->loads : 0;
	s->loads = at + 1;
	s->load_choice = choice;
	return choice->port[at];
}

static inline bool scheduler_full(const struct scheduler *s, const struct port_choice *choice)
{
	return !(s->free & choice->lane);
}

/* A uop takes an entry and is bound to the port. */
static inline void scheduler_enter(struct scheduler *s, const struct port_choice *choice, unsigned port)
{
	__m128i *pending = (__m128i *)s->pending;
	*pending = _mm_add_epi8(*pending, *(const __m128i *)s->one[port]);
	s->free -= choice->entry;
}

/* The set of ports as bytes of 1, and as entries in `free`. */
static inline __m128i scheduler_dispatched(const struct scheduler *s, unsigned ports)
{
	return _mm_unpacklo_epi64(_mm_loadl_epi64((const __m128i *)&s->spread[0][ports & 255].bytes),
	                          _mm_loadl_epi64((const __m128i *)&s->spread[1][ports >> 8].bytes));
}
static inline uint64_t scheduler_entries(const struct scheduler *s, unsigned ports)
{
	return s->spread[0][ports & 255].entries + s->spread[1][ports >> 8].entries;
}

/* Uops dispatched in a cycle on these ports give their entries back; the counts learn of it a cycle later. */
static inline void scheduler_give_back(struct scheduler *s, unsigned ports)
{
	__m128i *pending = (__m128i *)s->pending, *late = (__m128i *)s->late;
	*pending = _mm_sub_epi8(*pending, *late);
	*late = scheduler_dispatched(s, ports);
	s->free += scheduler_entries(s, ports);
}

/* A cycle begins. */
static inline void scheduler_count(struct scheduler *s)
{
	*(__m128i *)s->counts = *(const __m128i *)s->pending;
}

/* Nothing searches further beyond its ready cycle than a scheduler's worth of uops on one port. */
#define SCHED_REACH (SCHED_WINDOW - 512)

/* The port is taken at `cycle`: returns the first cycle behind it in which it is not, within the window. */
static inline uint64_t scheduler_behind(struct scheduler *s, unsigned port, uint64_t cycle)
{
	uint64_t first = cycle;
	bool known = cycle - s->run[port].from < s->run[port].to - s->run[port].from;
	if (known)
		cycle = s->run[port].to;
	while (s->used[cycle & (SCHED_WINDOW - 1)] >> port & 1)
		cycle++;
	if (!known)
		s->run[port].from = first;
	s->run[port].to = cycle;
	return cycle;
}

/* Takes the port for a uop that is ready at `ready`.  Returns the cycle of dispatch. */
static inline uint64_t scheduler_take(struct scheduler *s, unsigned port, uint64_t ready)
{
	if (UNLIKELY(ready - s->walk >= SCHED_REACH))
		return scheduler_take_far(s, port, ready);
	unsigned used = s->used[ready & (SCHED_WINDOW - 1)];
	if (used >> port & 1) {
		ready = scheduler_behind(s, port, ready);
		used = s->used[ready & (SCHED_WINDOW - 1)];
	}
	s->used[ready & (SCHED_WINDOW - 1)] = (uint16_t)(used | 1u << port);
	return ready;
}

/* A DOMAIN_SLOW uop was dispatched.  If that is far ahead, the mark may be cleared again or be taken for
 * another cycle's: that only makes a slight miscount. */
static inline void scheduler_slow(struct scheduler *s, unsigned port, uint64_t cycle)
{
	s->sustain.slow[cycle & (SCHED_WINDOW - 1)] |= (uint16_t)(1u << port);
}

/* Goes on to cycle `to`: uops dispatched before it give their entries back. */
static inline void scheduler_advance(struct scheduler *s, uint64_t to)
{
	uint64_t walk = s->walk;
	if (UNLIKELY(to != walk + s->quick || s->far_count)) {
		if (to > walk)
			scheduler_advance_far(s, to);
		return;
	}
	const unsigned ports = s->used[walk & (SCHED_WINDOW - 1)] & ~(unsigned)s->again[walk & (SCHED_WINDOW - 1)];
	s->used[walk & (SCHED_WINDOW - 1)] = s->again[walk & (SCHED_WINDOW - 1)] = 0;
	s->walk = to;
	scheduler_give_back(s, ports);
	scheduler_count(s);
}
#endif
