/* SPDX-License-Identifier: GPL-2.0-or-later
 * Counting in the second model (naive_pmu.h). A stretch of records is complete when it is counted. In each cycle, each
 * counter that the registers enable adds what its definition says about that cycle.
 *
 * An interrupt is taken at the first instruction of this thread that has not begun to retire in the cycle of the
 * overflow. Everything that retires before it, and everything else up to the cycle in which the instruction before it
 * has retired, is counted with the registers as they were before the handler.
 *
 * The sources do not settle the following, so the fuzzer leaves it out:
 *   - an event's code on a counter that the manual does not list for it
 *   - weighted conditions under another CMASK, INV or EDGE than their own; events that need MSRs of PEBS (load
 *     latency, precise store, front-end events)
 *   - a row that is not modelled if another row of the same event and unit mask is modelled, with modifiers other than
 *     that row's; likewise a row that only other counters have
 *   - fractions of cycles kept from one set-up to the next
 *   - NetBurst: an edge seen together with a filter of active threads (which comes first?); complement of an event
 *     that the table does not know
 *   - NetBurst: tags and replay (MSR_PEBS_ENABLE stays 0), OVF_PMI_T1, several mask bits that overlap, edges of
 *     cascaded counters, a PMI bit that is set after the overflow (it counts for later overflows), quirks
 *   - MSR_PERF_METRICS
 *   - an edge detector that stands at 1 when its counter is set up anew
 *   - IN_TX, IN_TXCP: nothing here is transactional
 *   - overflow interrupts while records of two threads come (which one's instruction is next?)
 *   - a freeze in the middle of a cycle in which several uops retire
 */
#include "naive_pmu.h"
#include "pmu/families/netburst_pmu.h"
#include <stdlib.h>
#include <string.h>

#define BIT(n) (UINT64_C(1) << (n))
enum { FIXED = 16, OWN = 3, OTHER = 12 };

static bool arch(const struct naive *n)
{
	return spmu_model_family(n->m) == SPMU_FAMILY_ARCH;
}

/* ---- what the registers ask for
 * ----------------------------------------------------------------------------------- */

/* Adds the expression of the event with this code if counter `pmc` can count it. */
static void event(const struct naive *n, struct naive_setup *s, unsigned code, unsigned umask, unsigned pmc)
{
	bool known = false, here = false, refused = false, exact = false, weighted = false, bare = false;
	for (size_t i = 0; i < n->m->rows; i++) {
		const struct pmu_row *row = &n->m->row[i];
		const struct spmu_event *e = &row->public;
		if (e->event != code || e->umask != umask || e->flags & SPMU_EVENT_FIXED_ONLY)
			continue;
		known = true;
		if (!(e->pmc_mask >> pmc & 1)) {
			refused = true;
			continue;
		}
		if (!here && row->expr.terms && e->extra_msr >> 1 != 0x1a6 >> 1)	/* (those registers stay 0) */
			s->expr[s->exprs++] = &row->expr;
		here = true;
		refused |= !row->expr.terms;
		exact |= row->expr.terms && s->threshold == e->cmask && s->edge == e->edge && s->inverted == e->inv;
		weighted |= row->weighted;
		bare |= row->weighted && s->threshold == e->cmask && s->below == (e->inv && e->cmask) &&
			s->edge == e->edge;
		if (!strncmp(e->name, "FRONTEND_RETIRED", 16) || !strncmp(e->name, "MEM_TRANS_RETIRED", 17) ||
			!strncmp(e->name, "MEM_INST_RETIRED.LATENCY", 24))
			s->unsettled = true;
		if (row->expr.terms && row->expr.term[0].den > 1)
			s->unsettled = true;
	}
	s->unsettled |= (known && !here) || (weighted && !bare) || (refused && s->exprs && !exact);
}

/* The fields that P6 and the architectural PMUs share. */
static void evtsel(const struct naive *n, struct naive_setup *s, uint64_t e, unsigned pmc)
{
	s->who = (e & BIT(16) ? 1u : 0) | (e & BIT(17) ? 2u : 0);
	s->threshold = e >> 24 & 255;
	s->inverted = e & BIT(23);
	s->below = s->threshold && s->inverted;
	s->edge = e & BIT(18);
	s->gated = true;
	s->interrupts = e & BIT(20);
	event(n, s, e & 255, e >> 8 & 255, pmc);
}

static void setup_arch(const struct naive *n, unsigned i, struct naive_setup *s)
{
	uint64_t control = n->version < 2 ? ~UINT64_C(0) : naive_reg(n, 0x38f);
	if (n->version >= 4 && n->status & BIT(59))
		return;
	if (i >= FIXED) {
		unsigned f = i - FIXED, field = naive_reg(n, 0x38d) >> 4 * f & 15;
		if (!(control >> (32 + f) & 1) || !(field & 3) || !n->m->fixed_row[f])
			return;
		s->expr[s->exprs++] = &n->m->fixed_row[f]->expr;
		s->who = (field & 1) << 1 | (field & 2) >> 1;
		if (field & 4)
			s->who |= s->who << 2;
		s->interrupts = field & 8;
		s->unsettled = s->expr[0]->terms && s->expr[0]->term[0].den > 1;
		return;
	}
	uint64_t e = naive_reg(n, 0x186 + i);
	if (!(e & BIT(22)) || !(control >> i & 1))
		return;
	evtsel(n, s, e, i);
	if (e & BIT(21))
		s->who |= s->who << 2;
	if (e >> 32 & 3)
		s->unsettled = true;
}

static void setup_p6(const struct naive *n, unsigned i, struct naive_setup *s)
{
	if (naive_reg(n, 0x186) & BIT(22))
		evtsel(n, s, naive_reg(n, 0x186 + i), i);
}

static void setup_p5(const struct naive *n, unsigned i, struct naive_setup *s)
{
	unsigned field = naive_reg(n, 0x11) >> 16 * i & 0x3ff, control = field >> 6 & 7;
	bool duration = false;
	s->who = (control & 1) << 1 | (control & 2) >> 1;
	if (!s->who)
		return;
	for (size_t k = 0; k < n->m->rows; k++) {
		const struct spmu_event *e = &n->m->row[k].public;
		if (e->event == (field & 63) && e->pmc_mask >> i & 1)
			duration = e->flags & SPMU_EVENT_DURATION;
	}
	if (control & 4 || duration)
		s->threshold = 1;
	s->edge = duration && !(control & 4);
	event(n, s, field & 63, 0, i);
}

/* Returns the ESCR that a counter sees under a select: each block has two, one for each half of its counters. */
static uint32_t escr_of(unsigned counter, unsigned select)
{
	static const uint16_t bpu[8] = { 0x3b2, 0x3b4, 0x3aa, 0x3b6, 0x3ac, 0x3c8, 0x3a2, 0x3a0 }, ms[8] = { 0x3c0,
		0x3c4, 0x3c2 },
		flame[8] = { 0x3a6, 0x3a4, 0x3ae, 0x3b0, 0, 0x3a8 }, iq[8] = { 0x3ba, 0x3ca, 0x3bc, 0x3be, 0x3b8, 0x3cc,
		0x3e0 };
	const uint16_t *block = counter < 4 ? bpu : counter < 8 ? ms : counter < 12 ? flame : iq;
	bool odd = counter < 12 ? counter & 2 : counter == 14 || counter == 15 || counter == 17;
	if (!block[select] || (odd && block[select] == 0x3be))
		return 0;
	return block[select] + odd;
}

/* Whether the counter has overflowed that this one waits for by its CASCADE or extended cascade bit. */
static bool cascaded(const struct naive *n, unsigned i, uint64_t cccr)
{
	static const uint8_t partner[18] = { 2, 3, 0, 1, 6, 7, 4, 5, 10, 11, 8, 9, 14, 15, 12, 13, 14, 15 },
		extended[18] = { [12] = 16, [15] = 17, [16] = 17, [17] = 16 };
	return (cccr & BIT(30) && naive_reg(n, 0x360 + partner[i]) & BIT(31)) || (cccr & BIT(11) &&
		naive_reg(n, 0x360 + extended[i]) & BIT(31));
}

/* started: as if the counter that this one waits for had overflowed */
static void setup_netburst(const struct naive *n, unsigned i, struct naive_setup *s, bool started)
{
	uint64_t cccr = naive_reg(n, 0x360 + i);
	if (!(cccr & BIT(12)) && !cascaded(n, i, cccr) && !(started && cccr & (BIT(30) | BIT(11))))
		return;
	uint32_t at = escr_of(i, cccr >> 13 & 7);
	if (!at || !naive_find(n, at))
		return;
	uint64_t escr = naive_reg(n, at);
	unsigned code = escr >> 25 & 63, mask = escr >> 9 & 0xffff, bits = escr & 15;
	bool whole = false, independent = false, known = false;
	s->who = (bits & 4 ? 1u : 0) | (bits & 8 ? 2u : 0) | (bits & 1 ? 4u : 0) | (bits & 2 ? 8u : 0);
	for (size_t k = 0; k < n->m->rows; k++) {
		const struct pmu_row *row = &n->m->row[k];
		const struct spmu_event *e = &row->public;
		if (e->event != code || e->escr_select != (cccr >> 13 & 7) || (e->escr[0] != at && e->escr[1] != at) ||
			e->replay_enable || *e->upstream)
			continue;
		known = true;
		independent |= e->thread_independent;
		if (e->umask & (e->umask - 1) && (e->umask & mask) == e->umask)
			s->unsettled |= e->umask != mask;	/* overlapping mask bits */
		if (e->umask == mask && !whole) {
			s->exprs = 0;
			if (row->expr.terms)
				s->expr[s->exprs++] = &row->expr;
			whole = true;
		} else if (!whole && e->umask & mask && !(e->umask & (e->umask - 1)) && row->expr.terms) {
			s->expr[s->exprs++] = &row->expr;
		}
		if (e->umask & mask && !(e->pmc_mask >> i & 1))
			s->unsettled = true;
	}
	if (!known)
		s->exprs = 0;
	/* its mask bits are fields that are looked at together: test_pmu_netburst_bus */
	s->unsettled |= netburst_bus(at, code) != NETBURST_NO_BUS;
	/* an event that is not modelled never happens, but a threshold may count the cycles without it */
	s->on = s->exprs || known;
	if (independent) {
		bool os = bits & 10, usr = bits & 5;
		s->while_in = os && usr ? 0 : os ? 10 : 5;
		s->who = os || usr ? 15 : 0;
	}
	s->clip = 15;
	s->active = (const unsigned[]){ 1, 2, 4, 7 }[cccr >> 16 & 3];
	if (cccr & BIT(18)) {
		s->threshold = (cccr >> 20 & 15) + 1;
		s->below = cccr & BIT(19);
		s->edge = cccr & BIT(24);
	}
	s->interrupts = cccr & BIT(26);
	s->forced = cccr & BIT(25);
	if (cccr & BIT(27) || (s->edge && cccr & (BIT(30) | BIT(11))))
		s->unsettled = true;
	if ((!known && s->below) || (s->edge && s->active != 7))
		s->unsettled = true;
	for (unsigned k = 0; k < n->msrs; k++)		/* some ESCR tags */
		s->unsettled |= i >= 12 && n->msr[k].address >= 0x3a0 && n->msr[k].value & BIT(4);
}

void naive_setup(const struct naive *n, unsigned i, struct naive_setup *s)
{
	memset(s, 0, sizeof *s);
	switch (spmu_model_family(n->m)) {
	case SPMU_FAMILY_P5: setup_p5(n, i, s); break;
	case SPMU_FAMILY_P6: setup_p6(n, i, s); break;
	case SPMU_FAMILY_NETBURST: setup_netburst(n, i, s, false); break;
	default: setup_arch(n, i, s); break;
	}
	s->on |= s->exprs != 0;
}

static bool exists(const struct naive *n, unsigned i)
{
	return i < FIXED || !arch(n) ? i < n->gp : i - FIXED < n->fixed;
}

void naive_changes(struct naive *n)
{
	struct naive_setup s;
	for (unsigned i = 0; i < NAIVE_COUNTERS; i++)
		if (exists(n, i)) {
			naive_setup(n, i, &s);
			n->counter[i].changed |= memcmp(&s, &n->counter[i].last, sizeof s) != 0;
		}
}

int naive_unsettled(const struct naive *n)
{
	struct naive_setup s;
	for (unsigned i = 0; i < NAIVE_COUNTERS; i++)
		if (exists(n, i)) {
			naive_setup(n, i, &s);
			if (spmu_model_family(n->m) == SPMU_FAMILY_NETBURST && !s.on) {
				memset(&s, 0, sizeof s);
				setup_netburst(n, i, &s, true);
			}
			if (s.unsettled || (s.edge && n->counter[i].previous && n->counter[i].changed))
				return (int)i;
		}
	return -1;
}

bool naive_freezes(const struct naive *n)
{
	return n->version >= 2 && naive_reg(n, 0x1d9) & BIT(12);
}

bool naive_cascades(const struct naive *n)
{
	for (uint32_t i = 0; i < 18 && spmu_model_family(n->m) == SPMU_FAMILY_NETBURST; i++) {
		uint64_t cccr = naive_reg(n, 0x360 + i);
		if (!(cccr & BIT(12)) && cccr & (BIT(30) | BIT(11)))
			return true;
	}
	return false;
}

/* ---- what happens in a cycle
 * -------------------------------------------------------------------------------------- */

static unsigned class_of(const struct naive *n, const struct spmu_record *r)
{
	return BIT((r->hw_thread == n->hw_thread ? 0 : 2) + (r->cpl ? 0 : 1));
}

static bool meets(const struct pmu_source *s, const struct spmu_record *r)
{
	for (unsigned bit = 0; bit < 64; bit++) {
		if (s->is_mask >> bit & 1 && (r->is >> bit & 1) != (s->is_want >> bit & 1))
			return false;
		if (s->did_mask >> bit & 1 && (r->did >> bit & 1) != (s->did_want >> bit & 1))
			return false;
	}
	if ((s->any_is || s->any_did) && !(r->is & s->any_is) && !(r->did & s->any_did))
		return false;
	return (!s->ports || (r->port < 16 && s->ports & BIT(r->port))) && !s->tagged;	/* no uop has a tag */
}

/* The record of a signal has the attributes that the source asks for: bit by bit. */
static bool has_attributes(const struct pmu_source *s, const struct spmu_record *x)
{
	bool any = !s->any_is;
	for (unsigned bit = 0; bit < 64; bit++) {
		bool has = x->is >> bit & 1;
		if (bit == SPMU_ATTR_THREAD0 || bit == SPMU_ATTR_THREAD1)
			has = x->hw_thread % 2 == (bit == SPMU_ATTR_THREAD1);
		if (s->is_mask >> bit & 1 && has != (s->is_want >> bit & 1))
			return false;
		any |= s->any_is >> bit & has;
	}
	return any;
}

/* Returns how much the source adds in cycle c, from records of the classes `who`. */
static int64_t amount(const struct naive *n, const struct pmu_source *s, const struct naive_record *r, unsigned records,
	unsigned who, uint64_t c)
{
	int64_t sum = 0;
	for (unsigned i = 0; i < records; i++) {
		const struct spmu_record *x = &r[i].r;
		const uint64_t *at = r[i].at;
		if (!(who & class_of(n, x)) || (x->kind == SPMU_REC_SIGNAL) != s->is_signal)
			continue;
		if (!s->is_signal) {
			if (at[s->stage] == PMU_NEVER)
				continue;
			if (s->until == STAGE_NONE ? at[s->stage] == c : at[s->until] != PMU_NEVER &&
				at[s->stage] <= c && c < at[s->until])
				sum += meets(s, x);
			continue;
		}
		if (x->signal != s->signal || !has_attributes(s, x))
			continue;
		bool in = at[0] <= c && c < at[1];
		switch (s->form) {
		case FORM_BEGINS: sum += at[0] == c; break;
		case FORM_ENDS: sum += at[1] == c; break;
		case FORM_PENDING: sum += in; break;
		default:
			switch (pmu_signal_kind(x->signal)) {
			case SPMU_POINT: sum += at[0] == c ? (int64_t)x->did : 0; break;
			case SPMU_OCCUPANCY: sum += in ? (int64_t)x->did : 0; break;
			default: sum = sum || in; break;
			}
		}
	}
	return sum;
}

static unsigned running(const struct naive *n, const struct naive_record *r, unsigned records, unsigned who, uint64_t c)
{
	const struct pmu_source cycles = { .is_signal = 1, .signal = SPMU_SIG_CYCLES, .until = STAGE_NONE };
	return amount(n, &cycles, r, records, who, c) != 0;
}

static bool holds(int64_t v, const struct pmu_cond *c)
{
	int64_t to = (int64_t)c->value;
	switch (c->op) {
	case OP_GE: return v >= to;
	case OP_GT: return v > to;
	case OP_LE: return v <= to;
	case OP_LT: return v < to;
	case OP_EQ: return v == to;
	default: return v != to;
	}
}

/* Whether the event is counted uop by uop, as the uops retire. */
static bool at_retirement(const struct naive *n, const struct naive_setup *s)
{
	for (unsigned k = 0; k < s->exprs; k++)
		for (unsigned t = 0; t < s->expr[k]->terms; t++) {
			const struct pmu_term *term = &s->expr[k]->term[t];
			const struct pmu_source *source = &n->m->source[term->source];
			if (term->conds || source->is_signal || source->stage != STAGE_RETIRE ||
				source->until != STAGE_NONE ||
				!(source->did_want & SPMU_DID(RETIRED)))
				return false;
		}
	return s->exprs && !s->threshold && !s->edge && !s->while_in && (!s->active || s->active == 7);
}

static bool some(const struct naive *n, bool interrupts, bool late, bool edge)
{
	if (interrupts && naive_cascades(n))
		return true;
	struct naive_setup s;
	for (unsigned i = 0; i < NAIVE_COUNTERS; i++)
		if (exists(n, i)) {
			naive_setup(n, i, &s);
			if ((!interrupts || s.interrupts) && (!late || !at_retirement(n, &s)) && (!edge || s.edge))
				return true;
		}
	return false;
}

bool naive_interrupts(const struct naive *n)
{
	return some(n, true, false, false);
}

bool naive_interrupts_late(const struct naive *n)
{
	return some(n, true, true, false);
}

bool naive_edges(const struct naive *n)
{
	return some(n, false, false, true);
}

/* Returns the counter's increment in cycle c. */
static uint64_t increment(struct naive *n, unsigned i, const struct naive_setup *s, const struct naive_record *r,
	unsigned records, uint64_t c)
{
	uint64_t sum = 0;
	bool now;
	for (unsigned k = 0; k < s->exprs; k++)
		for (unsigned t = 0; t < s->expr[k]->terms; t++) {
			const struct pmu_term *term = &s->expr[k]->term[t];
			if (!term->conds) {
				sum += (uint64_t)amount(n, &n->m->source[term->source], r, records, s->who,
					c) * term->num;
				continue;
			}
			bool all = running(n, r, records, s->who, c);
			for (unsigned j = 0; j < term->conds && all; j++) {
				int64_t v = 0;
				for (unsigned a = 0; a < term->cond[j].sources; a++)
					v += amount(n, &n->m->source[term->cond[j].source[a]], r, records, s->who, c);
				all = holds(v, &term->cond[j]);
			}
			sum += all ? term->num : 0;
		}
	if (s->while_in && !running(n, r, records, s->while_in, c))
		sum = 0;
	if (s->clip && sum > s->clip)
		sum = s->clip;
	now = !s->threshold ? sum > 0 : s->below ? sum < s->threshold : sum >= s->threshold;
	if (s->below && s->gated && !running(n, r, records, s->who, c))
		now = false;
	if (s->active && s->active != 7 && !(s->active >> (running(n, r, records, OWN, c) + running(n, r, records,
		OTHER, c)) & 1))
		return 0;
	if (!s->threshold && !s->edge)
		return sum;
	bool counts = now && !(s->edge && n->counter[i].previous);
	n->counter[i].previous = now;
	return counts;
}

/* ---- a stretch
 * ------------------------------------------------------------------------------------------------------ */

/* Adds to a counter; returns whether that asks for a PMI. */
static bool add(struct naive *n, unsigned i, const struct naive_setup *s, uint64_t amount_, uint64_t c)
{
	uint64_t width = naive_width(n, i);
	struct naive_counter *x = &n->counter[i];
	if (spmu_model_family(n->m) == SPMU_FAMILY_NETBURST) {	/* the interrupt comes with the next event */
		bool fires = amount_ && s->interrupts && x->armed && c >= x->armed_from;
		x->armed &= !fires;
		x->value += amount_;
		if (x->value > width || (amount_ && s->forced)) {
			naive_find(n, 0x360 + i)->value |= BIT(31);
			if (!x->armed)
				x->armed_from = c + 1;
			x->armed |= s->interrupts;	/* a PMI bit that is set later counts for later overflows */
		}
		x->value &= width;
		return fires;
	}
	n->counter[i].value += amount_;
	if (n->counter[i].value <= width)
		return false;
	n->counter[i].value &= width;
	if (arch(n) && n->version >= 2)
		n->status |= BIT(i < FIXED ? i : 32 + i - FIXED);
	return s->interrupts;
}

/* Does what the start of a PMI's condition does to the registers: freezes. */
static void condition(struct naive *n)
{
	if (n->version >= 2 && naive_reg(n, 0x1d9) & BIT(11)) {
		if (n->version >= 4)
			n->status |= BIT(58);
		else
			naive_find(n, 0x1d9)->value &= ~BIT(0);
	}
	if (!naive_freezes(n))
		return;
	if (n->version >= 4)
		n->status |= BIT(59);
	else
		naive_find(n, 0x38f)->value = 0;
}

void naive_run(struct naive *n, const struct naive_record *r, unsigned records, uint64_t from, uint64_t to)
{
	struct naive_setup s[NAIVE_COUNTERS];
	bool pending = false;
	uint64_t overflow = 0, take_at = 0;
	/* the last interrupt was taken at record `first`; the next one is taken at record `border` */
	unsigned first = 0, border = 0;
	for (unsigned i = 0; i < NAIVE_COUNTERS; i++)
		if (exists(n, i)) {
			naive_setup(n, i, &s[i]);
			n->counter[i].last = s[i];
			n->counter[i].changed = false;
			n->counter[i].previous &= s[i].on;
		}
	for (uint64_t c = from; c < to; c++) {
		bool by_cycle = true;
		for (;;) {
			bool asks = false;
			for (unsigned i = 0; i < NAIVE_COUNTERS; i++) {
				if (!exists(n, i) || !s[i].on)
					continue;
				if (!at_retirement(n, &s[i])) {
					if (by_cycle)
						asks |= add(n, i, &s[i], increment(n, i, &s[i], r, records, c), c);
					continue;
				}
				/* the uops that retire in this cycle; after an interrupt, only those from it on */
				for (unsigned k = first; k < records && (!pending || k < border); k++)
					if (r[k].r.kind == SPMU_REC_UOP && r[k].r.did & SPMU_DID(RETIRED) &&
						r[k].at[STAGE_RETIRE] == c)
						asks |= add(n, i, &s[i], increment(n, i, &s[i], &r[k], 1, c), c);
			}
			by_cycle = false;
			if (asks)
				condition(n);
			if (asks || naive_cascades(n)) {
				for (unsigned i = 0; i < NAIVE_COUNTERS; i++)
					if (exists(n, i))
						naive_setup(n, i, &s[i]);
			}
			if (asks && !pending) {
				pending = true;
				overflow = take_at = c;
				for (border = 0; border < records; border++) {
					const struct naive_record *x = &r[border];
					if (x->r.kind != SPMU_REC_UOP || !(x->r.did & SPMU_DID(RETIRED)))
						continue;
					if (border >= first && x->r.is & SPMU_IS(INST_BEGIN) && x->at[STAGE_RETIRE] > c)
						break;
					if (x->at[STAGE_RETIRE] > take_at)
						take_at = x->at[STAGE_RETIRE];
				}
			}
			if (!pending || c < take_at)
				break;
			pending = false;
			first = border;
			if (n->pmi && !(n->lvt & 0x10000)) {
				if (arch(n) || spmu_model_family(n->m) == SPMU_FAMILY_NETBURST)
					n->lvt |= 0x10000;
				n->pmi(n->context, n, take_at, overflow, border);
			}
			for (unsigned i = 0; i < NAIVE_COUNTERS; i++)
				if (exists(n, i))
					naive_setup(n, i, &s[i]);
		}
	}
}
