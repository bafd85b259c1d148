/* SPDX-License-Identifier: BSD-2-Clause
 * The register interface of the NetBurst PMU (Pentium 4, Xeon): 18 counters, their configuration control
 * registers (CCCR), the event selection control registers (ESCR) that detect events, and the registers of
 * replay tagging and PEBS.
 *
 * Source: SDM vol. 3B (edition of June 2016), "Performance Monitoring (Processors Based on Intel NetBurst
 * Microarchitecture)" and "Performance Monitoring and Intel Hyper-Threading Technology in Processors Based on
 * Intel NetBurst Microarchitecture"; vol. 2, "RDPMC"; B. Sprunt, "Pentium 4 Performance-Monitoring Features",
 * IEEE Micro 22(4), 2002.  Wiring: netburst_wiring.c; tags: netburst_tags.c; threads: netburst_threads.c.  The event
 * that an ESCR detects is a row of the event table, or several, one for each mask bit.
 *
 * An event passes, in this order: the ESCR's event select and mask; CPL and thread; the CCCR's ESCR select;
 * threshold; edge; active threads; the counter.  Where sources differ or say nothing:
 * - MSR_PEBS_ENABLE: bit 25 enables PEBS and bit 24 tagging for replay, as in the manual's MSR table and in Linux
 *   (asm/perf_event_p4.h); the manual's text on PEBS calls bit 24 the enable flag.
 * - Bits 63:40 written to a counter are ignored: OProfile and Linux's watchdog wrote negative numbers of 64
 * bits to them.  - CCCR bits 17:16 on processors with one hardware thread "must be 11B"; Linux cleared whole
 *   CCCRs on such processors, so other values do not fault.  GUESS: the counter counts with other values, too;
 *   counting with 00B settles it.
 * - A counter that is started by another one (CASCADE) counts while the other's OVF is set.  GUESS: that is a
 *   level, so setting CASCADE with OVF set already starts it; doing so settles it.  The manual's two ways to
 *   stop it (clear CASCADE, clear OVF) suggest a level.
 * - The interrupt and PEBS come with the next clock after the overflow that counts something.  GUESS: clearing
 *   OVF cancels this; a handler that clears OVF of a second counter between its overflow and its next event
 *   settles it.
 * - Active threads qualify the count itself, after threshold and edge; 11B ("any") lets everything pass, as
 *   counting of non-sleep clocks needs (threshold 15 with COMPLEMENT counts in halted cycles).  GUESS: this
 *   order; 00B with COMPLEMENT settles it.
 * - If the event select of an ESCR and of its pair is 0 (no_event), the counter does not count, whatever its
 * threshold.  - Thread-independent events with USR bits only count, wherever they come from, while some thread
 *   runs at CPL > 0 (Table 18-67).
 *
 * Left out: the 32-bit counters 18 to 25 of RDPMC on Xeon MP with a third-level cache; a second local vector
 * table entry (one serves both threads).  The four bits of an event's bus carry at most 15 a clock; only plain sums
 * of uops are not clipped to that (no core passes 16 of them a clock).  MSR_TC_PRECISE_EVENT is stored and has no
 * effect: no documented event uses it.
 */
#include "../ds/ds.h"
#include "netburst_pmu.h"
#include <string.h>

#define COUNTER_MASK ((UINT64_C(1) << 40) - 1)
#define FILTER_BITS \
	(SPMU_CCCR_SELECT(7) | SPMU_CCCR_COMPARE | SPMU_CCCR_COMPLEMENT | SPMU_CCCR_THRESHOLD(15) | SPMU_CCCR_EDGE)
#define CLASS_AND_ACTIVE(v) ((v) & (0xffff | SPMU_THREADS_ACTIVE(0x1ff)))
#define PEBS_METRICS (UINT32_C(0x1fff) | UINT32_C(3) << 15)
/* expr[NEVER]: an event that never happens */
enum { COUNTERS = PMU_NETBURST_COUNTERS, NEVER = PMU_NETBURST_COUNTERS };

bool netburst_detects(const struct pmu_row *row, uint32_t msr, unsigned event)
{
	const struct spmu_event *e = &row->public;
	return row->expr.terms && e->umask && e->event == event && (e->escr[0] == msr || e->escr[1] == msr);
}

bool netburst_running(const struct spmu *p, unsigned i)
{
	const uint32_t *cccr = p->netburst.cccr;
	int from = netburst_cascade(i), extended = netburst_extended_cascade(p->model, i);
	if (i == 1 && p->host.quirks & SPMU_QUIRK_NETBURST_CCCR1_ENABLE)
		return false;
	return cccr[i] & SPMU_CCCR_ENABLE ||
		(cccr[i] & SPMU_CCCR_CASCADE && from >= 0 && cccr[from] & SPMU_CCCR_OVF) ||
		(cccr[i] & SPMU_CCCR_EXTENDED_CASCADE && extended >= 0 && cccr[extended] & SPMU_CCCR_OVF);
}

/* May its overflow start another counter?  now: its OVF is set, and that starts one. */
static bool starts_others(const struct spmu *p, unsigned i, bool now)
{
	for (unsigned k = 0; k < COUNTERS; k++) {
		uint32_t v = p->netburst.cccr[k];
		if (((v & SPMU_CCCR_CASCADE && netburst_cascade(k) == (int)i) ||
		     (v & SPMU_CCCR_EXTENDED_CASCADE && netburst_extended_cascade(p->model, k) == (int)i)) &&
		    !(now && (p->counter[k].counts || !p->counter[k].programmed || !netburst_running(p, k))))
			return true;
	}
	return false;
}

/* PEBS is on for counter i, with one of the three tagged events. */
static bool samples(const struct spmu *p, unsigned i)
{
	int e = netburst_wired(p->model, i, p->netburst.cccr[i] >> 13 & 7);
	if (netburst_pebs_thread(p, i) < 0 || e < 0)
		return false;
	uint32_t msr = netburst_escr_msr((unsigned)e), event = p->netburst.escr[e] >> 25 & 63;
	return (msr == MSR_CRU_ESCR2 || msr == MSR_CRU_ESCR3) && (event == 0x08 || event == 0x09 || event == 0x0c);
}

/* ---- what an ESCR detects, as an expression ------------------------------------------------------------------- */

/* A copy of the source with other tags, as one of the PMU's own sources; -1: no room. */
static int with_tags(struct spmu *p, const struct pmu_source *s, uint16_t tagged)
{
	struct pmu_source want;
	memcpy(&want, s, sizeof want);
	want.tagged = tagged;
	return pmu_own_source(p, &want);
}

/* A uop with several tags counts once, so terms that differ only in their tags become one term. */
static bool merge(struct spmu *p, struct pmu_expr *x, const struct pmu_term *t, const struct pmu_source *s)
{
	for (unsigned k = 0; k < x->terms && s->tagged; k++) {
		struct pmu_term *o = &x->term[k];
		const struct pmu_source *other = pmu_source_of(p, o->source);
		struct pmu_source a, b;
		memcpy(&a, s, sizeof a);
		memcpy(&b, other, sizeof b);
		a.tagged = b.tagged = 0;
		if (o->conds || o->num != t->num || !other->tagged || memcmp(&a, &b, sizeof a))
			continue;
		int merged = with_tags(p, s, s->tagged | other->tagged);
		if (merged < 0)
			return false;
		o->source = (uint16_t)merged;
		return true;
	}
	return false;
}

static void add_row(struct spmu *p, unsigned i, const struct pmu_row *row)
{
	struct pmu_expr *x = &p->detected.expr[i];
	const struct spmu_event *e = &row->public;
	bool twice = (p->host.quirks & SPMU_QUIRK_NETBURST_TC_MISC_TWICE && e->escr[0] == MSR_TC_ESCR0 &&
			     e->event == 0x06) ||
		(p->host.quirks & SPMU_QUIRK_NETBURST_BSQ_TWICE && e->escr[0] == MSR_BSU_ESCR0 && e->event == 0x0c);
	for (unsigned k = 0; k < row->expr.terms; k++) {
		struct pmu_term t = row->expr.term[k];
		t.num *= twice ? 2 : 1;
		if (!t.conds) {
			const struct pmu_source *s = &p->model->source[t.source];
			/* what may come more than 15 times a clock: levels, and all signals but "true in this clock" */
			bool many = s->is_signal
				? s->form != FORM_VALUE || pmu_signal_kind(s->signal) != SPMU_INTERVAL
				: s->until != STAGE_NONE;
			if (many || pmu_squashed(s->stage, s->did_mask, s->did_want))
				p->detected.exact |= 1u << i;
			if (merge(p, x, &t, s))
				continue;
		}
		if (x->terms < PMU_MAX_TERMS)	/* no event of our tables has more than this */
			x->term[x->terms++] = t;
	}
	if (e->thread_independent)
		p->detected.independent |= 1u << i;
}

/* Composes expr[i] of a bus event.  Its rows count the same signal; the mask as a whole says which records of it. */
static void compose_bus(struct spmu *p, unsigned i, enum netburst_bus of, uint32_t msr, unsigned event, uint32_t mask)
{
	struct pmu_expr *x = &p->detected.expr[i];
	for (size_t k = 0; k < p->model->rows; k++) {
		const struct pmu_row *row = &p->model->row[k];
		struct pmu_source want;
		int source;
		if (!netburst_detects(row, msr, event))
			continue;
		memcpy(&want, &p->model->source[row->expr.term[0].source], sizeof want);
		if (!netburst_bus_selects(p->model, of, mask, &want) || (source = pmu_own_source(p, &want)) < 0)
			return;
		x->terms = 1;
		x->term[0] = (struct pmu_term){ .num = 1, .den = 1, .source = (uint16_t)source };
		p->detected.exact |= 1u << i;	/* the bus takes more than 15 entries, and a clock may bring as many */
		return;
	}
}

/* Composes expr[i] of the rows that match the ESCR's mask, the row with most bits first. */
static void compose(struct spmu *p, unsigned i)
{
	struct pmu_netburst_state *n = &p->netburst;
	int e = netburst_wired(p->model, i, n->cccr[i] >> 13 & 7);
	p->detected.expr[i].terms = 0;
	p->detected.exact &= ~(1u << i);
	p->detected.independent &= ~(1u << i);
	if (e < 0)
		return;
	uint32_t msr = netburst_escr_msr((unsigned)e), event = n->escr[e] >> 25 & 63, left = n->escr[e] >> 9 & 0xffff;
	const enum netburst_bus bus = netburst_bus(msr, event);
	if (bus) {
		compose_bus(p, i, bus, msr, event, left);
		return;
	}
	while (left) {
		const struct pmu_row *best = NULL;
		int most = 0;
		for (size_t k = 0; k < p->model->rows; k++) {
			const struct pmu_row *row = &p->model->row[k];
			int bits = __builtin_popcount(row->public.umask);
			if (netburst_detects(row, msr, event) && !(row->public.umask & ~left) && bits > most) {
				best = row;
				most = bits;
			}
		}
		if (!best)
			break;
		add_row(p, i, best);
		left &= ~(uint32_t)best->public.umask;
	}
}

static void netburst_setup(const struct spmu *p, unsigned i, struct pmu_counter *c)
{
	const struct pmu_netburst_state *n = &p->netburst;
	uint32_t v = n->cccr[i];
	c->mask = COUNTER_MASK;
	c->acts = (netburst_interrupted(p, i) && p->host.pmi) || samples(p, i) || starts_others(p, i, false);
	c->every = v & SPMU_CCCR_FORCE_OVF;
	if (!samples(p, i) && !starts_others(p, i, false))
		c->pmi_only = netburst_interrupted(p, i);
	int e = netburst_wired(p->model, i, v >> 13 & 7), pair = e < 0 ? -1 : netburst_pair(p->model, (unsigned)e);
	if (e < 0 || (!(n->escr[e] >> 25 & 63) && !(pair >= 0 && n->escr[pair] >> 25 & 63)))
		return;
	bool independent = p->detected.independent >> i & 1,
	     clocks = (v & SPMU_CCCR_COMPARE) && (v & SPMU_CCCR_COMPLEMENT);
	c->expr = &p->detected.expr[i];
	const uint16_t everyone = (uint16_t)pmu_everyone(p);
	c->who = (uint16_t)netburst_who(p, i, n->escr[e], independent);
	if (independent && c->who && c->who != everyone) {
		c->while_in = c->who;
		c->who = everyone;
	}
	if (!c->expr->terms || !c->who) {	/* an event that never happens is always at most the threshold */
		if (!clocks)
			return;
		c->expr = &p->detected.expr[NEVER];
		c->who = everyone;
	}
	if (v & SPMU_CCCR_COMPARE) {
		/* count cycles with more than the threshold; with COMPLEMENT, not more */
		c->cmask = (uint8_t)((v >> 20 & 15) + 1);
		c->inv = c->always = clocks;
		c->edge = !!(v & SPMU_CCCR_EDGE);
	}
	c->clip = 15;
	c->exact = p->detected.exact >> i & 1;
	c->active = netburst_active(p, i);
	c->counts = netburst_running(p, i);
	c->programmed = c->counts || v & (SPMU_CCCR_CASCADE | SPMU_CCCR_EXTENDED_CASCADE);
}

/* ---- what happens at an overflow ------------------------------------------------------------------------------ */

static void netburst_wrapped(struct spmu *p, unsigned i)
{
	p->netburst.cccr[i] |= SPMU_CCCR_OVF;
}

/* The tagged uop that made a PEBS counter fire, if the engine knows only the cycle. */
static uint32_t sampled_record(const struct spmu *p, unsigned i, const struct pmu_moment *at)
{
	const struct pmu_expr *x = p->counter[i].expr;
	for (uint32_t r = 0; x && r < at->batch->count; r++) {
		const struct spmu_record *u = &at->batch->records[r];
		if (u->kind != SPMU_REC_UOP || pmu_cycle(at->batch, u, STAGE_RETIRE) != at->cycle)
			continue;
		for (unsigned k = 0; k < x->terms; k++)
			if (!x->term[k].conds && p->tag && pmu_match(pmu_source_of(p, x->term[k].source), u, p->tag[r]))
				return r;
	}
	return at->record;
}

static bool netburst_acts(struct spmu *p, unsigned i, bool wrapped, bool fired, const struct pmu_moment *at)
{
	struct pmu_counter *c = &p->counter[i];
	uint32_t v = p->netburst.cccr[i];
	bool changed = false, pebs = samples(p, i);
	bool interrupts =
		netburst_interrupted(p, i) &&
		(v & SPMU_CCCR_ENABLE || !(p->host.quirks & SPMU_QUIRK_NETBURST_CASCADE_NO_PMI));
	if (fired && c->armed && at->cycle >= c->armed_from) {
		c->armed = false;
		if (pebs) {
			struct pmu_moment moment = *at;
			if (moment.record >= at->batch->count)
				moment.record = sampled_record(p, i, at);
			/* the DS area of the counter's thread */
			unsigned was = pmu_on(p, (unsigned)netburst_pebs_thread(p, i));
			changed |= pmu_pebs_sample(p, i, &moment, NULL);
			pmu_on(p, was);
		}
		if (interrupts)
			pmu_request_to(p, at->cycle, netburst_interrupted(p, i));
	}
	if (wrapped) {
		c->armed = pebs || interrupts;
		c->armed_from = pebs ? at->cycle + p->host.pebs_arming : at->cycle + 1;
		changed |= starts_others(p, i, true);
	}
	return changed;
}

static bool netburst_ds_pmi(struct spmu *p, bool pebs, const struct pmu_moment *at)
{
	(void)pebs;
	pmu_request(p, at->cycle);
	return false;
}

/* Bit n: the OVF flag of CCCR n. */
static uint64_t netburst_status(const struct spmu *p)
{
	uint64_t set = 0;
	for (unsigned i = 0; i < COUNTERS; i++)
		set |= (uint64_t)(p->netburst.cccr[i] >> 31) << i;
	return set;
}

/* ---- registers ------------------------------------------------------------------------------------------------ */

/* Call it before a register changes: counts everything known with the old registers.  set: counters that the register
 * belongs to; changes: those that may count something else from now on. */
static void settle(struct spmu *p, uint32_t set, uint32_t changes)
{
	if (p->threads > 1)
		pmu_settle_shared(p, set, changes);
	else if (!p->in_pmi)
		pmu_settle(p);
	else if (p->ring.channels)
		pmu_ring_settle(p, p->now);
}

/* Registers of these counters have changed: what is new about them begins now. */
static void begin(struct spmu *p, uint32_t set)
{
	const uint64_t now = pmu_write_cycle(p);
	for (; p->threads > 1 && set; set &= set - 1) {
		struct pmu_counter *c = &p->counter[__builtin_ctz(set)];
		if (c->mode == MODE_RING && c->from < now)
			c->from = now;
	}
}

/* Composes the expressions of a set of counters again, and makes the plan. */
static int replan(struct spmu *p, uint32_t counters)
{
	for (uint32_t set = counters; set; set &= set - 1)
		compose(p, (unsigned)__builtin_ctz(set));
	return pmu_plan(p);
}

/* What a write that changes these bits of a register of `counters` may change about counters: about these if they are
 * not just the flag OVF, and OVF may start or stop cascaded counters. */
static uint32_t changed_by(const struct spmu *p, const uint32_t *reg, uint64_t bits, uint32_t counters)
{
	const bool cccr = reg >= p->netburst.cccr && reg < p->netburst.cccr + COUNTERS;
	uint32_t set = cccr && !(bits & ~(uint64_t)SPMU_CCCR_OVF) ? 0 : counters;
	for (unsigned k = 0; cccr && k < COUNTERS; k++)
		if (p->netburst.cccr[k] & (SPMU_CCCR_CASCADE | SPMU_CCCR_EXTENDED_CASCADE))
			set |= 1u << k;
	return set;
}

static int write_word(struct spmu *p, uint32_t *reg, uint64_t value, uint64_t allowed, uint32_t counters)
{
	if (value & ~allowed)
		return SPMU_GP;
	uint32_t old = *reg;
	const uint32_t changes = old != value ? changed_by(p, reg, old ^ value, counters) : 0;
	settle(p, counters | changes, changes);
	old = *reg;		/* with overflows up to now */
	if (old == value)
		return SPMU_OK;
	*reg = (uint32_t)value;
	int error = replan(p, counters);
	if (!error)
		begin(p, changes);
	if (error) {
		*reg = old;
		for (; counters; counters &= counters - 1)
			compose(p, (unsigned)__builtin_ctz(counters));
	}
	return error;
}

/* The bits of a register that are not reserved. */
static uint64_t escr_bits(const struct spmu *p)
{
	return p->model->threads > 1 ? 0x7fffffff : 0x7ffffffc;
}

static uint64_t cccr_bits(const struct spmu *p, unsigned i)
{
	return (UINT64_C(0xcffff000) & ~(p->model->threads > 1 ? 0 : (uint64_t)SPMU_CCCR_OVF_PMI_T1)) |
		(netburst_extended_cascade(p->model, i) >= 0 ? SPMU_CCCR_EXTENDED_CASCADE : 0);
}

static uint64_t pebs_bits(const struct spmu *p)
{
	return PEBS_METRICS | SPMU_PEBS_UOP_TAG | SPMU_PEBS_MY_THREAD |
		(p->model->threads > 1 ? SPMU_PEBS_OTHER_THREAD : 0);
}
#define MATRIX_BITS UINT64_C(0x13)

static int write_escr(struct spmu *p, unsigned e, uint64_t value)
{
	uint32_t old = p->netburst.escr[e], set = netburst_counters(e);
	int error = write_word(p, &p->netburst.escr[e], value, escr_bits(p), set);
	for (; !error && old != value && set; set &= set - 1) {
		unsigned i = (unsigned)__builtin_ctz(set);
		if (netburst_wired(p->model, i, p->netburst.cccr[i] >> 13 & 7) == (int)e)
			p->counter[i].previous = false;
	}
	return error;
}

static int write_cccr(struct spmu *p, unsigned i, uint64_t value)
{
	uint32_t old = p->netburst.cccr[i];
	int error = write_word(p, &p->netburst.cccr[i], value, cccr_bits(p, i), 1u << i);
	if (error)
		return error;
	if ((old ^ value) & FILTER_BITS)
		p->counter[i].previous = false;
	if (!(value & SPMU_CCCR_OVF))
		p->counter[i].armed = false;
	return SPMU_OK;
}

static int write_threads(struct spmu *p, unsigned i, uint64_t value)
{
	uint64_t *reg = &p->netburst.threads[i], old = *reg;
	if (!netburst_threads_valid(p, i, value))
		return SPMU_GP;
	settle(p, 1u << i, old != value ? 1u << i : 0);
	if (old == value)
		return SPMU_OK;
	*reg = value;
	int error = pmu_plan(p);
	if (error) {
		*reg = old;
		return error;
	}
	begin(p, 1u << i);
	if (CLASS_AND_ACTIVE(old ^ value))
		p->counter[i].previous = false;
	return SPMU_OK;
}

/* MSR_PEBS_ENABLE's "my thread" is the one that executes the access.  The register holds T0's bit where T0 reads it as
 * its own; T1 finds the two bits exchanged.  Threads from T2 on have no bit there, and read it as T0 does.
 * Source: SDM vol. 3B, "IA32_PEBS_ENABLE MSR" (Hyper-Threading). */
static uint64_t pebs_by_thread(const struct spmu *p, uint64_t value)
{
	const uint64_t both = SPMU_PEBS_MY_THREAD | SPMU_PEBS_OTHER_THREAD;
	if (p->on != 1)
		return value;
	return (value & ~both) | (value & SPMU_PEBS_MY_THREAD) << 1 | (value & SPMU_PEBS_OTHER_THREAD) >> 1;
}

static int netburst_wrmsr(struct spmu *p, uint32_t msr, uint64_t value)
{
	struct pmu_netburst_state *n = &p->netburst;
	if (msr - MSR_BPU_COUNTER0 < COUNTERS) {
		pmu_write_counter(p, msr - MSR_BPU_COUNTER0, value);
		return SPMU_OK;
	}
	if (msr - MSR_BPU_CCCR0 < COUNTERS)
		return write_cccr(p, msr - MSR_BPU_CCCR0, value);
	if (netburst_extended(p) && msr - MSR_THREADS_0 < COUNTERS)
		return write_threads(p, msr - MSR_THREADS_0, value);
	if (netburst_extended(p) && msr == MSR_THREADS_CAPABILITIES)
		return SPMU_GP;
	int e = netburst_escr(p->model, msr);
	if (e >= 0)
		return write_escr(p, (unsigned)e, value);
	switch (msr) {
	case MSR_TC_PRECISE_EVENT:
		return write_word(p, &n->tc_precise, value, UINT32_MAX, 0);
	case MSR_PEBS_ENABLE:
		return write_word(p, &n->pebs_enable, pebs_by_thread(p, value), pebs_bits(p), 0);
	case MSR_PEBS_MATRIX_VERT:
		return write_word(p, &n->pebs_matrix, value, MATRIX_BITS, 0);
	case MSR_DEBUGCTLA:
		if (value & ~pmu_ds_debugctl_bits(p))
			return SPMU_GP;
		settle(p, 0, 0);
		pmu_ds_debugctl(p, value);
		return SPMU_OK;
	default:
		return pmu_ds_wrmsr(p, msr, value);
	}
}

static int netburst_rdmsr(const struct spmu *p, uint32_t msr, uint64_t *value)
{
	const struct pmu_netburst_state *n = &p->netburst;
	int e = netburst_escr(p->model, msr);
	if (msr - MSR_BPU_COUNTER0 < COUNTERS)
		*value = p->counter[msr - MSR_BPU_COUNTER0].value;
	else if (msr - MSR_BPU_CCCR0 < COUNTERS)
		*value = n->cccr[msr - MSR_BPU_CCCR0];
	else if (e >= 0)
		*value = n->escr[e];
	else if (netburst_extended(p) && msr - MSR_THREADS_0 < COUNTERS)
		*value = n->threads[msr - MSR_THREADS_0];
	else if (netburst_extended(p) && msr == MSR_THREADS_CAPABILITIES)
		*value = p->threads;
	else switch (msr) {
	case MSR_TC_PRECISE_EVENT: *value = n->tc_precise; break;
	case MSR_PEBS_ENABLE: *value = pebs_by_thread(p, n->pebs_enable); break;
	case MSR_PEBS_MATRIX_VERT: *value = n->pebs_matrix; break;
	case MSR_DEBUGCTLA: *value = p->ds.debugctl; break;
	default: return pmu_ds_rdmsr(p, msr, value);
	}
	return SPMU_OK;
}

/* ECX[30:0] is the counter's number; ECX[31] asks for the low 32 bits only ("fast read"). */
static int netburst_rdpmc(const struct spmu *p, uint32_t rdpmc_idx, uint64_t *value)
{
	uint32_t i = rdpmc_idx & 0x7fffffff;
	if (i >= COUNTERS)
		return SPMU_GP;
	*value = rdpmc_idx >> 31 ? (uint32_t)p->counter[i].value : p->counter[i].value;
	return SPMU_OK;
}

static int netburst_shape(struct spmu_model *m, char *text, size_t text_bytes)
{
	(void)text, (void)text_bytes;
	m->counters = m->gp = COUNTERS;
	return SPMU_OK;
}

static void netburst_reset(struct spmu *p)
{
	const struct pmu_source never = { .is_want = 1, .until = STAGE_NONE };
	struct pmu_expr *x = &p->detected.expr[NEVER];
	memset(&p->own[0], 0, sizeof p->own[0]);
	p->own[0] = never;
	p->owns = 1;
	x->terms = 1;
	x->term[0] = (struct pmu_term){ .num = 1, .den = 1, .source = (uint16_t)p->model->sources };
	pmu_ds_reset(p);
	if (p->model->model < 3)
		pmu_lbr_style(p, LBR_NETBURST4);
}

static int netburst_restored(struct spmu *p)
{
	struct pmu_netburst_state *n = &p->netburst;
	for (unsigned e = 0; e < PMU_NETBURST_ESCRS; e++)
		if (n->escr[e] & ~(netburst_escr(p->model, netburst_escr_msr(e)) < 0 ? 0 : escr_bits(p)))
			return SPMU_EINPUT;
	for (unsigned i = 0; i < COUNTERS; i++)
		if (n->cccr[i] & ~cccr_bits(p, i) || !netburst_threads_valid(p, i, n->threads[i]))
			return SPMU_EINPUT;
	if (n->pebs_enable & ~pebs_bits(p) || n->pebs_matrix & ~MATRIX_BITS ||
		p->ds.debugctl & ~pmu_ds_debugctl_bits(p))
		return SPMU_EINPUT;
	n->batch = p->batches;	/* an instruction that a batch leaves unfinished continues in the next one */
	for (unsigned i = 0; i < COUNTERS; i++)
		compose(p, i);
	return SPMU_OK;
}

const struct pmu_family pmu_netburst = {
	.name = "netburst",
	.public = SPMU_FAMILY_NETBURST, .shape = netburst_shape, .reset = netburst_reset,
	.wrmsr = netburst_wrmsr, .rdmsr = netburst_rdmsr, .rdpmc = netburst_rdpmc, .setup = netburst_setup,
	.wrapped = netburst_wrapped, .acts = netburst_acts, .tag = netburst_tag, .ds_pmi = netburst_ds_pmi,
	.restored = netburst_restored, .status = netburst_status, .lvt = 2,
};
