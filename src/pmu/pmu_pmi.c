/* SPDX-License-Identifier: BSD-2-Clause
 * Where an overflow becomes an interrupt.
 *
 * A PMI arrives pmi_latency cycles after the overflow, with the next edge of pmi_clock.  It is taken at the first
 * instruction (pmi_line: the first that begins a line of the trace cache) none of whose uops has retired by then; an
 * instruction that is partly retired completes first.  So the instruction that a sample names is some instructions
 * behind the one that caused the overflow: the skid.  REP instructions are not interrupted between iterations.
 *
 * Events that are not counted at retirement come out of order.  Their overflow is known only once the watermark has
 * passed it, and the instruction to interrupt may then lie in an earlier batch.  A short history names that
 * instruction, and registers change from the current batch's first record on (pmu_count.c, which takes the PMI).
 *
 * Source: SDM vol. 3B, "Performance Monitoring", section "Generating an Interrupt on Overflow".  Simplified: interrupts
 * that arrive while one is pending merge.
 *
 * While one is pending, cycles behind its arrival are not counted, because the handler may change registers.  So one
 * that goes to a hardware thread that has ended (spmu_leave) must not wait for an instruction of that thread: it would
 * hold up the counters of all others.
 */
#include "pmu_count.h"
#include <stdlib.h>
#include <string.h>

void pmu_request(struct spmu *p, uint64_t cycle)
{
	pmu_request_to(p, cycle, 1u << p->on);
}

void pmu_request_to(struct spmu *p, uint64_t cycle, unsigned threads)
{
	for (threads &= ~(unsigned)p->pmi_to; threads; threads &= threads - 1) {
		unsigned thread = (unsigned)__builtin_ctz(threads);
		p->pmi_to |= (uint8_t)(1u << thread);
		p->overflow_cycle[thread] = cycle;
		p->arrival[thread] = cycle + p->host.pmi_latency;
		if (p->host.pmi_clock > 1)
			p->arrival[thread] += (p->host.pmi_clock - p->arrival[thread] % p->host.pmi_clock) %
				p->host.pmi_clock;
	}
	p->pending = p->pmi_to != 0;
}

void spmu_set_pmi_latency(struct spmu *p, uint32_t cycles)
{
	p->host.pmi_latency = cycles;
}

/* Is this hardware thread the one that a PMI interrupts? */
static bool of_thread(const struct spmu *p, unsigned to, unsigned thread)
{
	return (p->threads == 1 && !p->others) || thread == to;
}

/* May an interrupt be taken before this uop? */
static bool interruptible(const struct spmu *p, const struct spmu_record *r)
{
	return r->is & SPMU_IS(INST_BEGIN) && (!p->host.pmi_line || r->did & SPMU_DID(LINE_HEAD));
}

/* First record at or after `from` that begins an instruction of thread `to` and retires after `cycle`; count if none.
 * *before: when the thread's last uop before it retired. */
static uint32_t first_unretired(const struct spmu *p, const struct spmu_batch *b, uint32_t from, uint64_t cycle,
	unsigned to, uint64_t *before)
{
	*before = p->last_retire[to];
	for (uint32_t i = 0; i < b->count; i++) {
		const struct spmu_record *r = &b->records[i];
		if (r->kind != SPMU_REC_UOP || !(r->did & SPMU_DID(RETIRED)))
			continue;
		uint64_t retire = b->base_cycle + r->retire;
		if (!of_thread(p, to, pmu_thread(p, r->hw_thread)))
			continue;
		if (i >= from && interruptible(p, r) && retire > cycle)
			return i;
		if (retire > *before)
			*before = retire;
	}
	return b->count;
}

/* Number of instructions of thread `to` in the history that retired after `cycle`; they are its last ones.  *at:
 * index of the first of them. */
static size_t history_behind(const struct spmu *p, uint64_t cycle, unsigned to, size_t *at)
{
	size_t n = 0;
	for (size_t i = p->histories; i-- > 0;) {
		const bool its = of_thread(p, to, p->history[i].thread);
		if (its && p->history[i].retire <= cycle)
			break;
		if (its) {
			*at = i;
			n++;
		}
	}
	return n;
}

/* Finds where the PMI to thread `to` is taken.  False: not in this batch. */
static bool pmi_place_of(const struct spmu *p, const struct spmu_batch *b, const struct pmu_bounds *g, unsigned to,
	struct spmu_pmi *pmi)
{
	uint64_t before;
	const uint64_t arrival = p->arrival[to];
	size_t at = 0;
	uint32_t record = first_unretired(p, b, g->record0, arrival, to, &before);
	pmi->hw_thread = !to ? p->host.hw_thread
		: p->threads > 1 ? (uint8_t)(p->host.hw_thread ^ to)
		: record < b->count ? b->records[record].hw_thread
		: !p->host.hw_thread;
	size_t behind = g->here >> to & 1 ? 0 : history_behind(p, arrival, to, &at);
	if (record == b->count && !behind && p->left >> to & 1) {
		*pmi = (struct spmu_pmi){ .overflow_cycle = p->overflow_cycle[to], .ip = p->thread_ip[to],
			.record = pmu_first_behind(b, g->record0, arrival), .behind = 1,
			.hw_thread = pmi->hw_thread,
			.cycle = before > p->overflow_cycle[to] ? before : p->overflow_cycle[to] };
		return true;
	}
	if (record == b->count && !behind && !b->is_last)
		return false;
	if (behind && record == b->count && !b->is_last)	/* the thread is ahead, and this batch is another's */
		record = pmu_first_behind(b, g->record0, arrival);
	*pmi = (struct spmu_pmi){ .overflow_cycle = p->overflow_cycle[to], .record = record,
		.hw_thread = pmi->hw_thread };
	if (behind) {
		pmi->ip = p->history[at].ip;
		pmi->behind = (uint32_t)behind;
		pmi->cycle = p->history[at].before > arrival ? p->history[at].before : arrival;
	} else {
		/* Behind the thread's last instruction there is no boundary: it is taken at the thread's end. */
		const uint64_t earliest = record < b->count ? arrival : p->overflow_cycle[to];
		pmi->cycle = before > earliest ? before : earliest;
		pmi->ip = record < b->count ? b->records[record].ip : p->last_ip;
		for (uint32_t i = b->count; record == b->count && i-- > 0;)
			if (b->records[i].kind == SPMU_REC_UOP && b->records[i].did & SPMU_DID(RETIRED)) {
				pmi->ip = b->records[i].ip;
				break;
			}
	}
	return true;
}

bool pmu_pmi_place(const struct spmu *p, const struct spmu_batch *b, const struct pmu_bounds *g, struct spmu_pmi *pmi,
	unsigned *to)
{
	bool found = false;
	for (unsigned set = p->pmi_to; set; set &= set - 1) {
		struct spmu_pmi one = { 0 };
		unsigned thread = (unsigned)__builtin_ctz(set);
		if (!pmi_place_of(p, b, g, thread, &one) ||
			(found && (one.record > pmi->record || (one.record == pmi->record && !one.behind))))
			continue;
		*pmi = one;
		*to = thread;
		found = true;
	}
	return found;
}

/* Doubles the history where threads share the PMU: one of them may be far ahead of the others. */
static bool more_history(struct spmu *p)
{
	const size_t room = 2 * p->history_room;
	if (p->threads == 1 || room > PMU_HISTORY_SHARED)
		return false;
	void *grown = realloc(p->history, room * sizeof *p->history);
	if (!grown)
		return false;
	p->history = grown;
	p->history_room = room;
	return true;
}

/* Keeps the instructions that an overflow may interrupt which is found in a later batch. */
static void remember(struct spmu *p, const struct spmu_batch *b)
{
	size_t n = 0;
	uint64_t before[PMU_THREADS];
	memcpy(before, p->last_retire, sizeof before);
	while (n < p->histories && p->history[n].retire < b->watermark)
		n++;
	memmove(p->history, p->history + n, (p->histories - n) * sizeof *p->history);
	p->histories -= n;
	for (uint32_t i = 0; i < b->count; i++) {
		const struct spmu_record *r = &b->records[i];
		uint64_t retire = b->base_cycle + r->retire;
		if (r->kind != SPMU_REC_UOP || !(r->did & SPMU_DID(RETIRED)))
			continue;
		const unsigned thread = pmu_thread(p, r->hw_thread);
		uint64_t previous = before[thread];
		before[thread] = retire > previous ? retire : previous;
		if (!interruptible(p, r) || retire < b->watermark)
			continue;
		if (p->histories == p->history_room && !more_history(p)) {
			p->histories /= 2;
			memmove(p->history, p->history + p->histories, p->histories * sizeof *p->history);
		}
		p->history[p->histories].ip = r->ip;
		p->history[p->histories].before = previous;
		p->history[p->histories].thread = (uint8_t)thread;
		p->history[p->histories++].retire = retire;
	}
}

static void note_last(struct spmu *p, const struct spmu_batch *b)
{
	unsigned seen = 0, all = p->others ? 1u << PMU_THREADS : 1;
	for (uint32_t i = b->count; i-- > 0 && seen < all;) {
		const struct spmu_record *r = &b->records[i];
		unsigned thread = pmu_thread(p, r->hw_thread);
		if (r->kind != SPMU_REC_UOP || !(r->did & SPMU_DID(RETIRED)) || seen >> thread & 1)
			continue;
		if (!seen)
			p->last_ip = r->ip;
		p->thread_ip[thread] = r->ip;
		if (b->base_cycle + r->retire > p->last_retire[thread])
			p->last_retire[thread] = b->base_cycle + r->retire;
		seen |= 1u << thread;
	}
}

void pmu_pmi_remember(struct spmu *p, const struct spmu_batch *b)
{
	if (p->keep_history)
		remember(p, b);
	else
		p->histories = 0;
	note_last(p, b);
}
