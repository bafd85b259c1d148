/* SPDX-License-Identifier: GPL-2.0-or-later
 * Rules about what is executed, and how threads wait for each other (advice_rules.h).
 *
 * Where a rule's place gets the share of the gain that it has of the cycles charged for a cause, the cause is one that
 * hardly anything else has.
 */
#include "analysis/tune/advice_rules_internal.h"

/* A load that reads the same address again and again, while another thread writes it now and then. */
bool advice_spin_wait(const struct advice_place *p, const struct advice_program *r, struct advice *a)
{
	const uint64_t n = p->sum.n[EVIDENCE_OTHER_CORE], loads = p->sum.n[EVIDENCE_LOADS];
	if (n < ENOUGH || loads < 4 * n || p->sum.n[EVIDENCE_LOCKS] * 2 > n || p->sum.apart * 2 >= n ||
		p->worst.stride || p->worst.regular * 10 < p->worst.steps * 9 || p->sum.n[EVIDENCE_CONDS] * 2 < loads)
		return false;
	SAY(a,
		"%" PRIu64 " loads of one address, of which another core had changed the line %" PRIu64 " times; %"
		PRIu64 " machine clears",
		loads, n, p->sum.n[EVIDENCE_CLEARS]);
	a->charged = advice_charged(p, ~0u);
	return advice_gains(a, ADVICE_SNOOP, n, r->n[EVIDENCE_OTHER_CORE] + r->n[EVIDENCE_STORE_OTHER_CORE]);
}

bool advice_lock(const struct advice_place *p, const struct advice_program *r, struct advice *a)
{
	const uint64_t n = p->sum.n[EVIDENCE_LOCKS];
	/* where lines of other cores take the time, a plain operation would wait for them as well */
	if (n < ENOUGH || n * OFTEN < p->sum.instructions || p->sum.n[EVIDENCE_OTHER_CORE] * 2 >= n ||
		advice_charged(p, CAUSE(SNOOP)) * 4 >= advice_charged(p, ~0u))
		return false;
	SAY(a,
		"%" PRIu64 " locked operations in %" PRIu64 " instructions; in %" PRIu64
		" of them another core had changed the line",
		n, p->sum.instructions, p->sum.n[EVIDENCE_OTHER_CORE]);
	a->charged = advice_charged(p, CAUSE(SERIALIZE));
	return advice_gains(a, ADVICE_LOCK, n, r->n[EVIDENCE_LOCKS]);
}

bool advice_fence(const struct advice_place *p, const struct advice_program *r, struct advice *a)
{
	const uint64_t n = p->sum.n[EVIDENCE_FENCES], locks = p->sum.n[EVIDENCE_LOCKS];
	if (n < ENOUGH || n * OFTEN < p->sum.instructions || locks >= n)
		return false;
	SAY(a, "%" PRIu64 " fences or serialising instructions among %" PRIu64 " instructions", n, p->sum.instructions);
	a->charged = advice_charged(p, CAUSE(SERIALIZE));
	return advice_gains(a, ADVICE_SERIALIZE, n, r->n[EVIDENCE_FENCES]);
}

bool advice_divide(const struct advice_place *p, const struct advice_program *r, struct advice *a)
{
	const uint64_t n = p->sum.n[EVIDENCE_DIVIDES];
	if (n < ENOUGH || n * OFTEN < p->sum.instructions)
		return false;
	SAY(a, "%" PRIu64 " operations of dividers in %" PRIu64 " instructions", n, p->sum.instructions);
	a->charged = advice_charged(p, CAUSE(DIVIDER));
	return advice_gains(a, ADVICE_DIVIDE, n, r->n[EVIDENCE_DIVIDES]);
}

bool advice_denormal(const struct advice_place *p, const struct advice_program *r, struct advice *a)
{
	const uint64_t n = p->sum.n[EVIDENCE_ASSISTS_FP];
	if (n < ENOUGH)
		return false;
	SAY(a, "%" PRIu64 " microcode assists for denormal operands or results in %" PRIu64 " instructions", n,
		p->sum.instructions);
	a->charged = advice_charged(p, CAUSE(ASSIST));
	return advice_gains(a, ADVICE_ASSIST, n, r->n[EVIDENCE_ASSISTS_FP] + r->n[EVIDENCE_ASSISTS_VECTOR]);
}

bool advice_sse_avx(const struct advice_place *p, const struct advice_program *r, struct advice *a)
{
	const uint64_t saved = p->sum.n[EVIDENCE_ASSISTS_VECTOR], blends = p->sum.n[EVIDENCE_BLENDS];
	if (saved + blends < ENOUGH)
		return false;
	if (saved >= blends) {
		SAY(a, "%" PRIu64 " microcode assists that save or restore upper halves of vector registers", saved);
		a->charged = advice_charged(p, CAUSE(ASSIST));
		return advice_gains(a, ADVICE_ASSIST, saved, r->n[EVIDENCE_ASSISTS_FP] + r->n[EVIDENCE_ASSISTS_VECTOR]);
	}
	SAY(a, "%" PRIu64 " uops merge what legacy SSE code wrote with upper halves that are in use", blends);
	return advice_gains(a, ADVICE_BLEND, blends, r->n[EVIDENCE_BLENDS]);
}

/* REP with few bytes a time, or one that looks at each byte: what is left would be a load and a store of 16 bytes, or a
 * load and a compare, a cycle. */
bool advice_string(const struct advice_place *p, const struct advice_program *r, struct advice *a)
{
	const uint64_t n = p->sum.n[EVIDENCE_STRING];
	const double least = (double)p->sum.moved / 16, all = (double)p->string / EXACT_CYCLE;
	(void)r;
	if (n < ENOUGH || all < 4 * least)
		return false;
	SAY(a, "%" PRIu64 " uops of string instructions for %" PRIu64 " bytes: %.1f cycles for 16 bytes", n,
		p->sum.moved, p->sum.moved ? 16 * all / (double)p->sum.moved : 0);
	a->charged = all - least;
	return true;
}

bool advice_partial(const struct advice_place *p, const struct advice_program *r, struct advice *a)
{
	const uint64_t n = p->sum.merged;
	if (n < ENOUGH || n * OFTEN < p->sum.instructions)
		return false;
	SAY(a, "%" PRIu64 " uops merge parts of registers, in %" PRIu64 " instructions", n, p->sum.instructions);
	return advice_gains(a, ADVICE_PARTIAL, n, r->merged);
}

bool advice_lcp(const struct advice_place *p, const struct advice_program *r, struct advice *a)
{
	const double here = advice_charged(p, FETCH), all = r->part[EXACT_FRONT_END] + r->part[EXACT_PIPELINE];
	/* the stalls name no instruction: they are taken to be where the front end lost most */
	if (!(here > 0) || r->lcp < ENOUGH || here * 2 < all ||
		p->sum.n[EVIDENCE_DECODED] < ENOUGH ||
		r->lcp * OFTEN < p->sum.n[EVIDENCE_DECODED])
		return false;
	SAY(a, "%" PRIu64 " stalls of the decoders by length-changing prefixes; %.0f %% of what the front end lost "
		"was lost here", r->lcp, 100 * here / all);
	a->charged = here;
	return advice_gains(a, ADVICE_LCP, here, all);
}

/* Code that would fit the uop cache, and comes from the decoders. */
bool advice_jcc(const struct advice_place *p, const struct advice_program *r, struct advice *a)
{
	const uint64_t decoded = p->sum.n[EVIDENCE_DECODED], all = p->sum.n[EVIDENCE_SLOTS];
	if (!r->core->dsb_jcc_erratum || decoded < 10 * ENOUGH || decoded * OFTEN < all ||
		p->code_lines * 64 * 2 > r->core->l1i_size)
		return false;
	SAY(a,
		"%" PRIu64 " of its %" PRIu64 " uops come from the legacy decoders, although its %" PRIu64
		" lines of code fit the uop cache; this core keeps no branch there that touches a boundary of 32 bytes",
		decoded, all, p->code_lines);
	return advice_gains(a, ADVICE_JCC, decoded, r->n[EVIDENCE_DECODED]);
}

bool advice_store_passed(const struct advice_place *p, const struct advice_program *r, struct advice *a)
{
	const uint64_t n = p->sum.n[EVIDENCE_CLEARS];
	if (n < ENOUGH || p->sum.n[EVIDENCE_OTHER_CORE] * 2 >= n)
		return false;
	SAY(a, "%" PRIu64 " of %" PRIu64 " loads read before an older store to the same address was known, and "
		"everything behind them was thrown away", n, p->sum.n[EVIDENCE_LOADS]);
	a->charged = advice_charged(p, CAUSE(CLEAR));
	return advice_gains(a, ADVICE_CLEAR, n, r->n[EVIDENCE_CLEARS]);
}

bool advice_load_chain(const struct advice_place *p, const struct advice_program *r, struct advice *a)
{
	const struct core_config *c = r->core;
	const uint64_t *w = p->worst.n, loads = w[EVIDENCE_LOADS], beyond = w[EVIDENCE_L2_MISS],
		       memory = c->l3_size ? w[EVIDENCE_L3_MISS] : beyond;
	if (beyond < ENOUGH || beyond * 2 < loads || p->worst.serial * 10 < loads * 9 ||
		p->worst.regular * 2 > p->worst.steps)
		return false;
	SAY(a,
		"%" PRIu64 " of %" PRIu64 " loads miss L2, %" PRIu64 " miss all caches; %.0f %% of them begin when the "
		"one before has its data: never are two under way",
		beyond, loads, memory, 100 * advice_of(p->worst.serial, loads));
	a->charged = advice_charged(p, CAUSE(L3) | CAUSE(MEMORY) | CAUSE(L3_WALK) | CAUSE(MEMORY_WALK));
	return memory * 2 >= beyond ? advice_gains(a, ADVICE_MEMORY, memory, r->n[EVIDENCE_L3_MISS])
				    : advice_gains(a, ADVICE_L3, beyond, r->n[EVIDENCE_L2_MISS]);
}

bool advice_allocation(const struct advice_place *p, const struct advice_program *r, struct advice *a)
{
	if (p->allocations < ENOUGH)
		return false;
	SAY(a, "%" PRIu64 " of %" PRIu64 " calls of the allocator, which takes %.1f %% of the cycles", p->allocations,
		r->allocations, r->charged > 0 ? 100 * r->allocator / r->charged : 0);
	a->charged = r->allocator * advice_of(p->allocations, r->allocations);
	return true;
}

/* The longest operations that wait for each other: a loop-carried chain, if it goes on for long. */
bool advice_chain(const struct advice_place *p, const struct advice_program *r, struct advice *a)
{
	const double here = advice_charged(p, CAUSE(EXECUTION));
	if (!(here > 0) || p->sum.slow < 10 * ENOUGH || p->sum.slow * 10 < p->sum.instructions ||
		here * 4 < advice_charged(p, ~0u))
		return false;
	SAY(a,
		"%" PRIu64 " operations of several cycles in %" PRIu64 " instructions, and retirement waits for the "
		"latency of such operations in %.0f %% of its cycles",
		p->sum.slow, p->sum.instructions, 100 * here / advice_charged(p, ~0u));
	a->charged = here;
	return advice_gains(a, ADVICE_LATENCY, here, r->part[EXACT_EXECUTION]);
}

/* A port that takes one uop a cycle lets one retire each cycle: nothing waits for long, and little is done.  So it is
 * the rate that tells, beside uops that queue: less than half of what the core has room for. */
bool advice_port(const struct advice_place *p, const struct advice_program *r, struct advice *a)
{
	const double all = advice_charged(p, ~0u), least = (double)p->sum.n[EVIDENCE_SLOTS] / r->core->alloc_width;
	if (p->sum.queued < 10 * ENOUGH || p->sum.queued * 2 < p->sum.n[EVIDENCE_SLOTS] || !(all > 2 * least) ||
		advice_charged(p, CAUSE(RETIRING) | CAUSE(PORT)) * 2 < all)
		return false;
	SAY(a, "%" PRIu64 " of %" PRIu64 " uops were ready and waited for a port; %.1f retire a cycle, and the core "
		"has room for %u", p->sum.queued, p->sum.n[EVIDENCE_SLOTS], (double)p->sum.n[EVIDENCE_SLOTS] / all,
		r->core->alloc_width);
	return advice_gains(a, ADVICE_PORTS, p->sum.queued, r->queued);
}
