/* SPDX-License-Identifier: GPL-2.0-or-later
 * The rules of advice (advice_rules.h).
 *
 * Thresholds: an event counts if it happens in at least one of OFTEN executions.  The shares that tell one
 * pattern from another are GUESSES.  Experiment that would settle them: apply the rules to programs whose fixes
 * are known, and count wrong advice; tests/programs/advice.c has one such pair for each rule. */
#include "analysis/tune/advice_rules_internal.h"
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LONGEST = 15 };	/* bytes of an instruction */

/* ---- places ---- */

static bool same_set(const struct evidence_site *a, const struct evidence_site *b, const struct core_config *core)
{
	const uint64_t way = core->l1d_size / core->l1d_ways,
		       apart = (a->low > b->low ? a->low - b->low : b->low - a->low) % way;
	return a->shared && b->shared && a->pid == b->pid && a->thread != b->thread && a->ip == b->ip &&
		a->low <= a->high && b->low <= b->high && (apart < 64 || apart > way - 64);
}

void advice_place_add(struct advice_place *p, const struct evidence_site *s, const struct core_config *core)
{
	struct evidence_site *a = &p->sum;
	if (!a->ip)
		a->ip = s->ip;
	p->between |= same_set(&p->before, s, core);
	if (s->pid == p->before.pid && s->ip > p->before.ip && s->ip - p->before.ip <= LONGEST)
		p->code_bytes += s->ip - p->before.ip;
	p->code_lines += s->pid != p->before.pid || s->ip >> 6 != p->before.ip >> 6;
	p->before = *s;
	a->instructions += s->instructions;
	for (unsigned i = 0; i < EXACT_CAUSES; i++) {
		a->part[i] += s->part[i];
		p->string += s->n[EVIDENCE_STRING] ? s->part[i] : 0;
	}
	for (unsigned i = 0; i < EVIDENCE_COUNT; i++)
		a->n[i] += s->n[i];
	a->conflict += s->conflict;
	a->code_conflict += s->code_conflict;
	a->apart += s->apart;
	a->lines += s->lines;
	a->bytes += s->bytes;
	a->beside += s->beside;
	a->slow += s->slow;
	a->queued += s->queued;
	a->serial += s->serial;
	a->merged += s->merged;
	a->moved += s->moved;
	p->places++;
	const struct evidence_site *w = &p->worst;
	const uint64_t had = w->n[EVIDENCE_L1D_MISS] + w->n[EVIDENCE_LFB_HIT],
		       has = s->n[EVIDENCE_L1D_MISS] + s->n[EVIDENCE_LFB_HIT];
	if (has > had ||
		(has == had &&
			s->n[EVIDENCE_LOADS] + s->n[EVIDENCE_STORES] > w->n[EVIDENCE_LOADS] + w->n[EVIDENCE_STORES]))
		p->worst = *s;
}

uint64_t advice_kept(const struct evidence_site *s)
{
	return !s->stride && s->regular * 4 >= s->steps * 3 ? s->n[EVIDENCE_FORWARDED] : 0;
}

bool advice_of_lines(const struct evidence_site *s)
{
	static const uint8_t any[] = { EVIDENCE_COND_MISSED, EVIDENCE_INDIRECT_MISSED, EVIDENCE_ALIAS, EVIDENCE_BLOCKED,
		EVIDENCE_SPLIT, EVIDENCE_OTHER_CORE, EVIDENCE_WALK, EVIDENCE_FP_SCALAR,
		EVIDENCE_LOCKS, EVIDENCE_DIVIDES, EVIDENCE_STORE_OTHER_CORE, EVIDENCE_TLB_MISS, EVIDENCE_STORE_MISS,
		EVIDENCE_CLEARS, EVIDENCE_FENCES, EVIDENCE_ASSISTS_FP, EVIDENCE_ASSISTS_VECTOR, EVIDENCE_BLENDS,
		EVIDENCE_STRING, EVIDENCE_CALLS };
	for (size_t i = 0; i < sizeof any; i++)
		if (s->n[any[i]] >= ENOUGH)
			return true;
	return s->n[EVIDENCE_L1D_MISS] + s->n[EVIDENCE_LFB_HIT] >= ENOUGH || s->slow >= ENOUGH || s->merged >= ENOUGH ||
		s->part[EXACT_FRONT_END] / EXACT_CYCLE >= ENOUGH || s->queued >= ENOUGH;
}

double advice_charged(const struct advice_place *p, uint32_t causes)
{
	uint64_t parts = 0;
	for (unsigned i = 0; i < EXACT_CAUSES; i++)
		parts += causes >> i & 1 ? p->sum.part[i] : 0;
	return (double)parts / EXACT_CYCLE;
}

static uint64_t larger(uint64_t a, uint64_t b) { return a > b ? a : b; }

/* ---- rules ---- */

bool advice_gains(struct advice *a, enum advice_change change, double part, double all)
{
	a->change = change;
	a->share = all > 0 ? part / all : 0;
	return true;
}

static bool random_branch(const struct advice_place *p, const struct advice_program *r, struct advice *a)
{
	const uint64_t conds = p->sum.n[EVIDENCE_CONDS], missed = p->sum.n[EVIDENCE_COND_MISSED];
	const double taken = advice_of(p->sum.n[EVIDENCE_TAKEN], conds);
	if (missed < ENOUGH || missed * 10 < conds || taken < 0.1 || taken > 0.9)
		return false;
	SAY(a, "%" PRIu64 " of %" PRIu64 " executions mispredicted (%.1f %%), taken in %.1f %%", missed, conds,
		100 * advice_of(missed, conds), 100 * taken);
	a->charged = advice_charged(p, CAUSE(MISPREDICT));
	return advice_gains(
		a, ADVICE_PREDICTOR, missed, r->n[EVIDENCE_COND_MISSED] + r->n[EVIDENCE_INDIRECT_MISSED]);
}

static bool random_target(const struct advice_place *p, const struct advice_program *r, struct advice *a)
{
	const uint64_t all = p->sum.n[EVIDENCE_INDIRECTS], missed = p->sum.n[EVIDENCE_INDIRECT_MISSED];
	if (missed < ENOUGH || missed * 10 < all)
		return false;
	SAY(a, "%" PRIu64 " of %" PRIu64 " indirect jumps and calls mispredicted (%.1f %%)", missed, all,
		100 * advice_of(missed, all));
	a->charged = advice_charged(p, CAUSE(MISPREDICT));
	return advice_gains(
		a, ADVICE_INDIRECT, missed, r->n[EVIDENCE_COND_MISSED] + r->n[EVIDENCE_INDIRECT_MISSED]);
}

static bool code_alias(const struct advice_place *p, const struct advice_program *r, struct advice *a)
{
	const uint64_t missed = p->sum.n[EVIDENCE_ICACHE];
	if (missed < ENOUGH || p->sum.code_conflict * 2 < missed)
		return false;
	SAY(a,
		"%" PRIu64 " of its %" PRIu64 " misses of L1I would hit if it were fully associative: code at "
		"addresses equal modulo %u KB",
		p->sum.code_conflict, missed, r->core->l1i_size / r->core->l1i_ways >> 10);
	a->charged = advice_charged(p, CAUSE(ICACHE));
	return advice_gains(a, ADVICE_L1I, p->sum.code_conflict, r->n[EVIDENCE_ICACHE]);
}

/* At least half of what the front end lost here was lost by these causes.  (Threads that share a core: not known.) */
static bool mostly(const struct advice_place *p, uint32_t causes)
{
	const double all = advice_charged(p, CAUSE(ICACHE) | CAUSE(ITLB) | CAUSE(RESTEER) | FETCH);
	return all > 0 && advice_charged(p, causes) * 2 >= all;
}

/* Code that is executed nearly as it lies: no other order of it would make it fit. */
static bool dense(const struct advice_place *p)
{
	return p->code_bytes * 4 >= p->code_lines * 64 * 3;
}

/* After a branch that misses the BTB fetch is resteered, and the pipeline drains.  The exact profile charges the refill
 * to PIPELINE, so RESTEER alone is too small.  Hence the other test: one taken branch in four is unknown. */
static bool unknown_branches(const struct advice_place *p)
{
	const uint64_t unknown = p->sum.n[EVIDENCE_UNKNOWN_BRANCH];
	return unknown >= ENOUGH && (unknown * 4 >= p->sum.n[EVIDENCE_JUMPS] || mostly(p, CAUSE(RESTEER)));
}

static bool code_size(const struct advice_place *p, const struct advice_program *r, struct advice *a)
{
	const uint64_t missed = p->sum.n[EVIDENCE_ICACHE], decoded = p->sum.n[EVIDENCE_DECODED],
		       holds = (uint64_t)r->core->dsb_sets * r->core->dsb_ways * r->core->dsb_line_uops;
	a->charged = advice_charged(p, CAUSE(ICACHE) | CAUSE(ITLB) | CAUSE(RESTEER));
	if (unknown_branches(p))
		return false;
	if (missed >= ENOUGH && p->code_lines * 64 > r->core->l1i_size && dense(p)) {
		SAY(a,
			"%" PRIu64 " KB of it are executed, and L1I has %u KB: %" PRIu64 " misses of L1I in %" PRIu64
			" instructions",
			p->code_lines >> 4, r->core->l1i_size >> 10, missed, p->sum.instructions);
		return advice_gains(a, ADVICE_L1I, missed, r->n[EVIDENCE_ICACHE]);
	}
	/* a quarter of what the uop cache could hold at best: lines are seldom full */
	if (!holds || decoded < 10 * ENOUGH || decoded * 2 < p->sum.n[EVIDENCE_SLOTS] || !dense(p) ||
		p->places * 4 < holds || !mostly(p, FETCH) || r->lcp * 20 > decoded)
		return false;
	SAY(a,
		"%" PRIu64 " of its %" PRIu64 " uops come from the legacy decoders; %" PRIu64 " KB of code are "
		"executed, and the uop cache does not hold them",
		decoded, p->sum.n[EVIDENCE_SLOTS], p->code_bytes >> 10);
	a->charged = 0;		/* of what the front end lost, any part may be due to it */
	return advice_gains(a, ADVICE_DSB, decoded, r->n[EVIDENCE_DECODED]);
}

static bool code_layout(const struct advice_place *p, const struct advice_program *r, struct advice *a)
{
	const uint64_t missed = p->sum.n[EVIDENCE_ICACHE], pages = p->sum.n[EVIDENCE_ITLB],
		       unknown = p->sum.n[EVIDENCE_UNKNOWN_BRANCH], jumps = p->sum.n[EVIDENCE_JUMPS];
	SAY(a,
		"%" PRIu64 " misses of L1I, %" PRIu64 " of the instruction TLB, %" PRIu64 " branches unknown to the "
		"BTB, %" PRIu64 " taken branches in %" PRIu64 " instructions",
		missed, pages, unknown, jumps, p->sum.instructions);
	a->charged = advice_charged(p, CAUSE(ICACHE) | CAUSE(ITLB) | CAUSE(RESTEER));
	if (unknown_branches(p))
		return advice_gains(a, ADVICE_BTB, unknown, r->n[EVIDENCE_UNKNOWN_BRANCH]);
	if (missed + pages >= ENOUGH && mostly(p, CAUSE(ICACHE) | CAUSE(ITLB)))
		return missed >= pages ? advice_gains(a, ADVICE_L1I, missed, r->n[EVIDENCE_ICACHE])
				       : advice_gains(a, ADVICE_ITLB, pages, r->n[EVIDENCE_ITLB]);
	return false;
}

/* Each taken branch ends what a cycle can fetch; one in four instructions is more than dense code has. */
static bool taken_branches(const struct advice_place *p, const struct advice_program *r, struct advice *a)
{
	const uint64_t jumps = p->sum.n[EVIDENCE_JUMPS];
	if (jumps < 10 * ENOUGH || jumps * 4 < p->sum.instructions || !mostly(p, FETCH))
		return false;
	SAY(a, "%" PRIu64 " taken branches in %" PRIu64 " instructions", jumps, p->sum.instructions);
	return advice_gains(a, ADVICE_FRONT_END, jumps, r->n[EVIDENCE_JUMPS]);
}

static bool data_alias(const struct advice_place *p, const struct advice_program *r, struct advice *a)
{
	const uint64_t n = p->sum.n[EVIDENCE_ALIAS];
	if (n < ENOUGH || n * OFTEN < p->sum.n[EVIDENCE_LOADS])
		return false;
	SAY(a,
		"%" PRIu64 " of %" PRIu64 " loads waited for an older store whose address differs, but not in its "
		"low 12 bits (%.1f %%)",
		n, p->sum.n[EVIDENCE_LOADS], 100 * advice_of(n, p->sum.n[EVIDENCE_LOADS]));
	a->charged = advice_charged(p, CAUSE(FORWARDING));
	return advice_gains(a, ADVICE_ALIAS, n, r->n[EVIDENCE_ALIAS] + r->n[EVIDENCE_BLOCKED]);
}

static bool forwarding(const struct advice_place *p, const struct advice_program *r, struct advice *a)
{
	const uint64_t n = p->sum.n[EVIDENCE_BLOCKED];
	if (n < ENOUGH || n * OFTEN < p->sum.n[EVIDENCE_LOADS])
		return false;
	SAY(a,
		"%" PRIu64 " of %" PRIu64 " loads needed bytes of which an older store had only some, and waited "
		"until it was written (%.1f %%)",
		n, p->sum.n[EVIDENCE_LOADS], 100 * advice_of(n, p->sum.n[EVIDENCE_LOADS]));
	a->charged = advice_charged(p, CAUSE(FORWARDING));
	return advice_gains(a, ADVICE_FORWARD, n, r->n[EVIDENCE_ALIAS] + r->n[EVIDENCE_BLOCKED]);
}

static bool split(const struct advice_place *p, const struct advice_program *r, struct advice *a)
{
	const uint64_t n = p->sum.n[EVIDENCE_SPLIT], all = p->sum.n[EVIDENCE_LOADS] + p->sum.n[EVIDENCE_STORES];
	if (n < ENOUGH || n * OFTEN < all)
		return false;
	SAY(a, "%" PRIu64 " of %" PRIu64 " accesses cross a line or a page (%.1f %%)", n, all, 100 * advice_of(n, all));
	return advice_gains(a, ADVICE_SPLIT, n, r->n[EVIDENCE_SPLIT]);
}

/* Loads and stores of lines that another core had. */
static uint64_t taken(const uint64_t n[EVIDENCE_COUNT])
{
	return n[EVIDENCE_OTHER_CORE] + n[EVIDENCE_STORE_OTHER_CORE];
}

/* False sharing by plain stores: another core takes the line after the store has executed and before it commits, so
 * no store counts as a miss.  Where accesses got lines that another core had changed, the advice is given there. */
static bool writes_beside(const struct advice_place *p, const struct advice_program *r, struct advice *a)
{
	const uint64_t n = p->sum.beside, stores = p->sum.n[EVIDENCE_STORES];
	a->charged = advice_charged(p, CAUSE(STORES));
	if (n < ENOUGH || n * 2 < stores || taken(r->n) * 10 > r->beside ||
		a->charged * 10 < advice_charged(p, ~0u))
		return false;
	SAY(a,
		"%" PRIu64 " of %" PRIu64 " stores are to lines of which another thread uses other bytes, and "
		"allocation waits for the store buffer",
		n, stores);
	a->uncertain = true;
	return advice_gains(a, ADVICE_SNOOP, n, r->beside);
}

static bool false_sharing(const struct advice_place *p, const struct advice_program *r, struct advice *a)
{
	const uint64_t n = taken(p->sum.n);
	if (n < ENOUGH || p->sum.apart * 2 < n)
		return writes_beside(p, r, a);
	SAY(a,
		"%" PRIu64 " of %" PRIu64 " accesses got a line that another core had changed; in %" PRIu64
		" of them no two threads use the same bytes of it",
		n, p->sum.n[EVIDENCE_LOADS] + p->sum.n[EVIDENCE_STORES], p->sum.apart);
	a->charged = advice_charged(p, CAUSE(SNOOP) | CAUSE(STORES));
	a->uncertain = true;
	return advice_gains(a, ADVICE_SNOOP, n, taken(r->n));
}

static bool true_sharing(const struct advice_place *p, const struct advice_program *r, struct advice *a)
{
	const uint64_t n = taken(p->sum.n);
	if (n < ENOUGH || n * OFTEN < p->sum.n[EVIDENCE_LOADS] || p->sum.apart * 2 >= n)
		return false;
	SAY(a,
		"%" PRIu64 " of %" PRIu64 " accesses got a line that another core had changed; in %" PRIu64
		" of them threads use the same bytes of it",
		n, p->sum.n[EVIDENCE_LOADS] + p->sum.n[EVIDENCE_STORES], n - p->sum.apart);
	a->charged = advice_charged(p, CAUSE(SNOOP) | CAUSE(STORES));
	a->uncertain = true;
	/* what each thread has for itself needs no locked operation either */
	return advice_gains(a, p->sum.n[EVIDENCE_LOCKS] >= ENOUGH ? ADVICE_OWN : ADVICE_SNOOP, n, taken(r->n));
}

static bool huge_pages(const struct advice_place *p, const struct advice_program *r, struct advice *a)
{
	const uint64_t n = p->sum.n[EVIDENCE_WALK] + p->sum.n[EVIDENCE_TLB_MISS],
		       all = p->sum.n[EVIDENCE_LOADS] + p->sum.n[EVIDENCE_STORES];
	if (n < ENOUGH || n * 5 * OFTEN < all)
		return false;
	SAY(a, "%" PRIu64 " of %" PRIu64 " accesses miss the data TLB (%.1f %%), %" PRIu64 " walk the page tables", n,
		all, 100 * advice_of(n, all), p->sum.n[EVIDENCE_WALK]);
	a->charged = advice_charged(p, CAUSE(TLB) | CAUSE(L2_WALK) | CAUSE(L3_WALK) | CAUSE(MEMORY_WALK));
	return advice_gains(a, ADVICE_PAGES, n, r->n[EVIDENCE_WALK] + r->n[EVIDENCE_TLB_MISS]);
}

/* The cost of the place's misses, with lines on their way, but without lines that other cores had.  The change
 * is of the level from which the misses are served: the most distant one that serves at least a quarter of
 * them.  Where a prefetcher asked for most of the lines, it is the level into which the lines fit. */
static uint64_t missed(const uint64_t n[EVIDENCE_COUNT])
{
	const uint64_t all = n[EVIDENCE_L1D_MISS] + n[EVIDENCE_LFB_HIT];
	return all - (n[EVIDENCE_OTHER_CORE] < all ? n[EVIDENCE_OTHER_CORE] : all);
}
static bool misses(const struct advice_place *p, const struct advice_program *r, struct advice *a)
{
	const struct core_config *c = r->core;
	const uint64_t *n = p->sum.n, all = missed(n), l2 = n[EVIDENCE_L2_MISS],
		       l3 = c->l3_size ? n[EVIDENCE_L3_MISS] : 0, bytes = p->sum.lines * 64;
	a->charged = advice_charged(p,
		CAUSE(L2) | CAUSE(L3) | CAUSE(MEMORY) | CAUSE(LFB) | CAUSE(L2_WALK) | CAUSE(L3_WALK) |
			CAUSE(MEMORY_WALK));
	if (l3 * 4 >= all || (c->l3_size && bytes > c->l3_size))
		return advice_gains(a, ADVICE_MEMORY, all, missed(r->n));
	if (l2 * 4 >= all || bytes > c->l2_size)
		return advice_gains(a, ADVICE_L3, all, missed(r->n));
	return advice_gains(a, ADVICE_L2, all, missed(r->n));
}

static bool missing(const struct advice_place *p)
{
	return missed(p->sum.n) >= ENOUGH && missed(p->sum.n) * OFTEN >= p->sum.n[EVIDENCE_LOADS];
}

static bool conflict(const struct advice_place *p, const struct advice_program *r, struct advice *a, bool between)
{
	const uint64_t n = p->sum.n[EVIDENCE_L1D_MISS];
	if (n < ENOUGH || !missing(p) || p->sum.conflict * 2 < n || between != p->between)
		return false;
	const unsigned way = r->core->l1d_size / r->core->l1d_ways;
	if (between)
		SAY(a,
			"%" PRIu64 " of its %" PRIu64 " misses of L1D would hit if it were fully associative; its "
			"threads begin at addresses that are equal modulo %u bytes, and displace each other's lines",
			p->sum.conflict, n, way);
	else
		SAY(a,
			"%" PRIu64 " of its %" PRIu64 " misses of L1D would hit if it were fully associative; steps "
			"of %" PRId64 " bytes (a way has %u)",
			p->sum.conflict, n, p->worst.stride, way);
	return misses(p, r, a);
}
static bool conflict_own(const struct advice_place *p, const struct advice_program *r, struct advice *a)
{
	return conflict(p, r, a, false);
}
static bool conflict_between(const struct advice_place *p, const struct advice_program *r, struct advice *a)
{
	return conflict(p, r, a, true);
}

static bool fields(const struct advice_place *p, const struct advice_program *r, struct advice *a)
{
	const uint64_t most = p->sum.lines * 64;
	const int64_t step = p->worst.stride < 0 ? -p->worst.stride : p->worst.stride;
	const bool regular = step >= 16 && step <= 1024 && advice_of(p->worst.regular, p->worst.steps) >= 0.5;
	/* either the steps are regular, over elements of which only a part is used; or the same lines come
	 * again and again in no order, and the same part of them is used */
	if (!missing(p) || p->sum.lines < ENOUGH || p->sum.bytes * 2 >= most ||
		(!regular && missed(p->sum.n) < 2 * p->sum.lines))
		return false;
	if (regular)
		SAY(a,
			"the program uses %.1f of the 64 bytes of each line that this brings in; elements of %"
			PRId64 " bytes; %" PRIu64 " of %" PRIu64 " loads miss L1D",
			(double)p->sum.bytes / (double)p->sum.lines, step, missed(p->sum.n), p->sum.n[EVIDENCE_LOADS]);
	else
		SAY(a,
			"of each of %" PRIu64 " lines (%" PRIu64 " KB) the program uses %.1f of 64 bytes, %" PRIu64
			" KB in all; %" PRIu64 " of %" PRIu64 " loads miss L1D",
			p->sum.lines, most >> 10, (double)p->sum.bytes / (double)p->sum.lines, p->sum.bytes >> 10,
			missed(p->sum.n), p->sum.n[EVIDENCE_LOADS]);
	misses(p, r, a);
	a->share *= 1 - advice_of(p->sum.bytes, most);
	return true;
}

/* Stores that miss, to lines of which little is used. */
static bool store_fields(const struct advice_place *p, const struct advice_program *r, struct advice *a)
{
	const uint64_t *n = p->sum.n, missed_stores = n[EVIDENCE_STORE_MISS], most = p->sum.lines * 64;
	if (missed_stores < ENOUGH || missed_stores * OFTEN < n[EVIDENCE_STORES] || missing(p) ||
		p->sum.lines < ENOUGH || p->sum.bytes * 2 >= most || missed_stores < 2 * p->sum.lines)
		return false;
	SAY(a,
		"of each of %" PRIu64 " lines (%" PRIu64 " KB) the program uses %.1f of 64 bytes; %" PRIu64 " of %"
		PRIu64 " stores miss L1D, and %" PRIu64 " L2",
		p->sum.lines, most >> 10, (double)p->sum.bytes / (double)p->sum.lines, missed_stores,
		n[EVIDENCE_STORES], missed_stores - n[EVIDENCE_STORE_L2]);
	a->charged = advice_charged(p, CAUSE(STORES));
	return advice_gains(a, ADVICE_STORES, missed_stores, r->n[EVIDENCE_STORE_MISS]);
}

static bool blocking(const struct advice_place *p, const struct advice_program *r, struct advice *a)
{
	const uint64_t n = missed(p->sum.n), lines = larger(p->sum.lines, 1);
	if (!missing(p) || n < 3 * lines || lines * 64 * 2 < r->core->l1d_size ||
		advice_of(p->worst.regular, p->worst.steps) < 0.5)
		return false;
	SAY(a,
		"%" PRIu64 " of %" PRIu64 " loads miss L1D, %" PRIu64 " times each of %" PRIu64 " lines (%" PRIu64
		" KB, L1D has %u KB): they are displaced before they are used again",
		n, p->sum.n[EVIDENCE_LOADS], n / lines, lines, lines >> 4, r->core->l1d_size >> 10);
	misses(p, r, a);
	a->share *= 1 - 1 / advice_of(n, lines);	/* each line must come once */
	return true;
}

static bool prefetch(const struct advice_place *p, const struct advice_program *r, struct advice *a)
{
	const struct evidence_site *w = &p->worst;
	const int64_t step = w->stride < 0 ? -w->stride : w->stride;
	if (!missing(p) || p->sum.n[EVIDENCE_L2_MISS] * OFTEN < p->sum.n[EVIDENCE_LOADS] ||
		advice_of(w->regular, w->steps) < 0.7 || step < 64)
		return false;
	SAY(a, "%" PRIu64 " of %" PRIu64 " loads miss L2, at steps of %" PRId64 " bytes (%.1f %% of them)%s",
		p->sum.n[EVIDENCE_L2_MISS], p->sum.n[EVIDENCE_LOADS], w->stride, 100 * advice_of(w->regular, w->steps),
		step >= PAGE ? ", which no prefetcher follows from page to page" : "");
	return misses(p, r, a);
}

static bool unoptimised(const struct advice_place *p, const struct advice_program *r, struct advice *a)
{
	(void)r;
	const uint64_t moved = p->sum.n[EVIDENCE_LOADS] + p->sum.n[EVIDENCE_STORES];
	/* -O0 keeps variables in memory and reads each back: half of the loads, or more, read what was just stored.
	 * Lua 5.4 by GCC 12: at most 0.40 of them in a function of -O2, 0.5 to 1 in most of -O0 */
	if (p->sum.instructions < 10 * ENOUGH || p->kept * 2 < p->sum.n[EVIDENCE_LOADS] ||
		moved * 2 < p->sum.instructions)
		return false;
	SAY(a,
		"%.2f accesses an instruction, and %.1f %% of the loads get what was just stored there: variables are "
		"kept in memory",
		advice_of(moved, p->sum.instructions), 100 * advice_of(p->kept, p->sum.n[EVIDENCE_LOADS]));
	a->charged = advice_charged(p, ~0u);
	a->unmeasured = true;
	return true;
}

static bool scalar(const struct advice_place *p, const struct advice_program *r, struct advice *a)
{
	const uint64_t n = p->sum.n[EVIDENCE_FP_SCALAR];
	const int64_t step = p->worst.stride < 0 ? -p->worst.stride : p->worst.stride;
	if (n < 10 * ENOUGH || n * 5 < p->sum.instructions || p->sum.n[EVIDENCE_FP_VECTOR] ||
		(step != 4 && step != 8) || advice_of(p->worst.regular, p->worst.steps) < 0.7)
		return false;
	SAY(a,
		"%" PRIu64 " scalar floating-point operations and no packed one in %" PRIu64 " instructions, on "
		"neighbouring elements of %" PRId64 " bytes",
		n, p->sum.instructions, step);
	a->charged = advice_charged(p, ~0u);
	/* packed operations and several accumulators help most where the sum waits for itself */
	if (advice_charged(p, CAUSE(EXECUTION)) * 2 >= a->charged)
		return advice_gains(a, ADVICE_LATENCY, advice_charged(p, CAUSE(EXECUTION)), r->part[EXACT_EXECUTION]);
	a->unmeasured = true;
	return true;
}

/* function, name, title, advice, applies to functions, class */
#define RULES(X) \
	X(random_branch, "random-branch", "a branch whose direction is near random", \
		"compute both sides and select (if-conversion: ?:, masks, min and max, a table; " \
		"__builtin_unpredictable), or sort the data by the condition; " \
		"where one side is rare after all, say so: __builtin_expect", \
		false, 0) \
	X(random_target, "indirect-branch", "an indirect branch whose target is near random", \
		"sort the work by target, test for the likely one first, or give each case a dispatch of its own " \
		"(computed goto)", \
		false, 0) \
	X(code_alias, "code-alias", "code that displaces itself", \
		"put the functions that run in turn next to each other: -ffunction-sections with an order for the " \
		"linker, or relayout (--build with --bolt)", \
		true, 1) \
	X(code_size, "code-size", "code that the caches for code do not hold", \
		"make it smaller: less inlining and unrolling (-Os, noinline), loops and tables instead of copies; " \
		"or do one part of the work for many elements before the next part", \
		true, 1) \
	X(code_layout, "code-layout", "hot and cold code lie mixed", \
		"separate hot from cold blocks and put hot ones together: relayout (--build with --bolt), AutoFDO " \
		"(--autofdo), __attribute__((cold)), __builtin_expect; fewer inlined copies", \
		true, 1) \
	X(taken_branches, "taken-branches", "more taken branches than fetch can follow", \
		"let the hot path fall through: __builtin_expect, relayout (--build with --bolt), AutoFDO " \
		"(--autofdo); unroll short loops, inline small functions", \
		true, 1) \
	X(data_alias, "4k-alias", "loads that only seem to overlap an older store", \
		"move one of the arrays by a few lines, so that load and store differ in their low 12 address bits", \
		false, 0) \
	X(forwarding, "store-forward", "loads that cannot be forwarded to", \
		"load no more bytes than were stored at once: store the wide value, or keep it in registers", false, \
		0) \
	X(split, "split", "accesses that cross lines", \
		"align the data to the size of the access, or to 64 bytes: _Alignas, aligned_alloc; no packed " \
		"structures in hot loops", \
		false, 0) \
	X(false_sharing, "false-sharing", "threads that write different bytes of one line", \
		"give each thread's data a line of its own: _Alignas(64), padding", false, 2) \
	X(true_sharing, "true-sharing", "threads that change the same data", \
		"let each thread have its own, on a line of its own, and put them together seldom; or hand over less " \
		"often", \
		false, 2) \
	X(advice_spin_wait, "spin-wait", "a thread that polls what another one writes", \
		"hand over more work at a time, or wait otherwise: PAUSE in the loop, then a futex (a condition " \
		"variable, std::atomic::wait)", \
		false, 2) \
	X(advice_lock, "lock", "locked operations", \
		"use plain operations where only one thread comes; else count in a local variable and add it to the " \
		"shared one seldom", \
		false, 0) \
	X(advice_fence, "fence", "fences and serialising instructions", \
		"use the weakest order that is enough (memory_order_release and acquire need no fence here), and " \
		"only where threads meet; no CPUID or RDTSCP in hot loops", \
		false, 0) \
	X(advice_divide, "divide", "divisions", \
		"multiply by the reciprocal of what stays the same, divide by constants, shift for powers of two; " \
		"take narrower types", \
		false, 3) \
	X(advice_denormal, "denormal", "operations on denormal numbers", \
		"let them be zero: _MM_SET_FLUSH_ZERO_MODE and _MM_SET_DENORMALS_ZERO_MODE in each thread, or " \
		"-ffast-math when linking; or scale the data", \
		false, 3) \
	X(advice_sse_avx, "sse-avx", "legacy SSE code behind 256-bit code", \
		"compile all of it with -mavx, or put VZEROUPPER (_mm256_zeroupper) behind the 256-bit code", \
		false, 3) \
	X(advice_string, "string", "string instructions on short data", \
		"copy and search by vector instructions: memcpy with a constant size, -mmemcpy-strategy, " \
		"-minline-all-stringops, library calls instead of REP", \
		false, 3) \
	X(advice_partial, "partial-register", "parts of registers that must be merged", \
		"write whole registers: MOVZX instead of moves into AH to DH; take 32-bit types for what is computed", \
		false, 3) \
	X(advice_lcp, "lcp", "length-changing prefixes", \
		"no 16-bit constants in hot code: take int instead of short for what is compared and computed", \
		false, 3) \
	X(advice_jcc, "jcc", "branches that touch a boundary of 32 bytes", \
		"compile with -Wa,-mbranches-within-32B-boundaries", true, 1) \
	X(advice_store_passed, "store-passed", "loads that pass a store to the same address", \
		"keep the value in a register, or compute the store's address earlier", false, 0) \
	X(advice_load_chain, "load-chain", "misses that wait for each other", \
		"follow several chains in turn, prefetch the next element (__builtin_prefetch), or lay the elements " \
		"out in the order of use", \
		false, 4) \
	X(advice_allocation, "allocation", "memory that is allocated and freed again and again", \
		"allocate once outside of the loop and use it again, or take it from a pool or the stack", false, 0) \
	X(conflict_between, "thread-conflict", "threads displace each other's lines in a set", \
		"stagger the start addresses of what each thread uses, stacks too, by a different number of lines " \
		"each", \
		false, 2) \
	X(conflict_own, "set-conflict", "addresses that fall into few sets", \
		"pad the leading dimension, or move arrays, so that they are not equal modulo the bytes of a way", \
		false, 2) \
	X(fields, "split-structure", "lines of which little is used", \
		"split the structure: the hot fields of all elements next to each other", false, 2) \
	X(store_fields, "split-structure", "lines of which little is written", \
		"split the structure: the fields that are written together next to each other; or write in the order " \
		"of the addresses", \
		false, 2) \
	X(blocking, "blocking", "data that is displaced before it is used again", \
		"block the loops so that what is used again fits the cache, or change their order", false, 2) \
	X(prefetch, "prefetch", "misses at a regular step that no prefetcher covers", \
		"prefetch some iterations ahead (__builtin_prefetch), or change the order of the loops", false, 2) \
	X(huge_pages, "huge-pages", "page walks", \
		"larger pages: madvise(MADV_HUGEPAGE) on aligned memory, GLIBC_TUNABLES=glibc.malloc.hugetlb=1; or " \
		"touch fewer pages in turn", \
		false, 0) \
	X(unoptimised, "compile-flags", "code that was not optimised", \
		"compile it with -O2 (--build tries sets of flags)", true, 0) \
	X(scalar, "vectorise", "a loop that could be vectorised", \
		"compile with -O3 -march=native, and -ffast-math where the order of the sums does not matter " \
		"(--build tries sets of flags); restrict, fixed trip counts", \
		false, 3) \
	X(advice_chain, "chain", "computations that wait for each other", \
		"use several independent accumulators, or another order of the operations (-fassociative-math)", \
		false, 3) \
	X(advice_port, "port", "work for the same execution ports", \
		"replace a part of it by operations of other ports (LEA and shifts for multiplications, loads for " \
		"shuffles), or do less of it", \
		false, 3)

const struct advice_rule advice_rules[] = {
#define X(function, name, title, advice, whole, class_of) { name, title, advice, whole, class_of },
	RULES(X)
#undef X
};
const unsigned advice_rules_count = sizeof advice_rules / sizeof *advice_rules;

bool advice_ask(unsigned k, const struct advice_place *p, const struct advice_program *r, struct advice *out)
{
	static bool (*const ask[])(const struct advice_place *, const struct advice_program *, struct advice *) = {
#define X(function, name, title, advice, whole, class_of) function,
		RULES(X)
#undef X
	};
	*out = (struct advice){ .rule = &advice_rules[k] };
	return advice_rules[k].whole == p->whole && ask[k](p, r, out);
}
