/* SPDX-License-Identifier: BSD-2-Clause
 * Running counters that watch something which the model cannot produce (spmu_unmodelled): they read 0, or too little,
 * and that is not what the machine would count.  Every family's registers are read here, because a driver that writes
 * registers has no event name that could be refused.
 *
 * A counter runs if its own enable bits and the global ones say so, for some privilege level.  Not reported: a counter
 * that counts nothing on the machine either (an event select of 0, an ESCR without a mask bit, a tag that nobody sets).
 */
#include "families/netburst_pmu.h"

#define EVTSEL_IN_TX (UINT64_C(1) << 32)

struct list { struct spmu_unmodelled *out; size_t n, room; };

static void add(struct list *l, uint32_t msr, uint64_t select, const struct pmu_row *row, const char *reason)
{
	if (l->n < l->room)
		l->out[l->n] = (struct spmu_unmodelled){ .counter_msr = msr, .select = select,
			.event = row ? row->public.name : "", .reason = reason };
	l->n++;
}

/* The row that has this code and names the present value of its extra MSR; else any that has the code; NULL: none. */
static const struct pmu_row *row_of(const struct spmu *p, uint64_t evtsel)
{
	const struct pmu_row *row = pmu_find_code(p->model, evtsel);
	const struct spmu_event *e = row ? &row->public : NULL;
	uint64_t value;
	if (!e || !e->extra_msr || spmu_rdmsr(p, e->extra_msr, &value))
		return row;
	for (size_t i = 0; i < p->model->rows; i++) {
		const struct spmu_event *o = &p->model->row[i].public;
		if (o->extra_msr == e->extra_msr && o->extra == value && o->event == e->event && o->umask == e->umask &&
			o->cmask == e->cmask && o->inv == e->inv && o->edge == e->edge)
			return &p->model->row[i];
	}
	return row;
}

/* A value of MSR_OFFCORE_RSP_x with which the event counts nothing on the machine either. */
static bool asks_nothing(const struct spmu *p, const struct spmu_event *e, uint64_t value)
{
	bool nothing = false;
	if (e->extra_msr - MSR_OFFCORE_RSP_0 < pmu_offcore_registers(p->model->offcore))
		pmu_offcore_problem(p->model->offcore, value, &nothing);
	return nothing;
}

/* A counter whose PERFEVTSEL is `v`: P6 and architectural. */
static void selected(const struct spmu *p, struct list *l, unsigned pmc, uint32_t msr, uint64_t v)
{
	const struct pmu_row *row = row_of(p, v);
	uint64_t value;
	const char *extra;
	if ((!(v & 0xff) && (!row || !(v & 0xff00))) || !(v & (SPMU_EVTSEL_USR | SPMU_EVTSEL_OS)))
		return;
	if (!row)
		add(l, msr, v, NULL, "this model's event table has no such event select and unit mask");
	else if (!row->expr.terms && !(row->public.flags & SPMU_EVENT_METRIC))
		add(l, msr, v, row, row->public.not_modelled);
	else if (row->public.flags & SPMU_EVENT_FIXED_ONLY || !(row->public.pmc_mask >> pmc & 1))
		add(l, msr, v, row, "this counter cannot count it on the machine, either");
	else if (row->public.extra_msr && !spmu_rdmsr(p, row->public.extra_msr, &value) &&
		(extra = spmu_event_extra(p->model, &row->public, value)) && !asks_nothing(p, &row->public, value))
		add(l, msr, v, row, extra);
}

static void arch(const struct spmu *p, struct list *l)
{
	const struct spmu_model *m = p->model;
	const bool global = m->version >= 2;
	for (unsigned i = 0; i < m->gp; i++)
		if (p->arch.evtsel[i] & SPMU_EVTSEL_EN && (!global || p->arch.global_ctrl >> i & 1)) {
			if (p->arch.evtsel[i] & EVTSEL_IN_TX)
				add(l, MSR_IA32_PMC0 + i, p->arch.evtsel[i], row_of(p, p->arch.evtsel[i]),
					"the model does not know which instructions are in a transaction (IN_TX)");
			else
				selected(p, l, i, MSR_IA32_PMC0 + i, p->arch.evtsel[i]);
		}
	for (unsigned i = 0; i < m->fixed; i++)
		if (m->fixed_row[i] && !m->fixed_row[i]->expr.terms && p->arch.fixed_ctrl >> 4 * i & 3 &&
			(!global || p->arch.global_ctrl >> (32 + i) & 1))
			add(l, MSR_IA32_FIXED_CTR0 + i, p->arch.fixed_ctrl, m->fixed_row[i],
				m->fixed_row[i]->public.not_modelled);
}

static void p5(const struct spmu *p, struct list *l)
{
	for (unsigned i = 0; i < 2; i++) {
		const unsigned select = p->p5.cesr >> 16 * i & 0x3f;
		const struct pmu_row *row = NULL;
		if (p->row[i] || !(p->p5.cesr >> (16 * i + 6) & 3))
			continue;
		for (size_t k = 0; k < p->model->rows && !row; k++)
			if (p->model->row[k].public.event == select && p->model->row[k].public.pmc_mask >> i & 1)
				row = &p->model->row[k];
		add(l, MSR_P5_CTR0 + i, p->p5.cesr, row, row ? row->public.not_modelled
			: "this model's event table has no such event select for this counter");
	}
}

/* Does MSR_PEBS_ENABLE ask for this row's replay metric?  Other rows do not depend on it. */
static bool replays(const struct spmu *p, const struct spmu_event *e)
{
	const uint32_t metric = UINT32_C(0x18fff) | SPMU_PEBS_UOP_TAG;
	return !e->replay_enable || !((e->replay_enable ^ p->netburst.pebs_enable) & metric);
}

/* The row detects an event of this ESCR, and no mask bit that is not set there. */
static bool asked(const struct pmu_row *row, uint32_t msr, uint32_t escr)
{
	const struct spmu_event *x = &row->public;
	return x->event == (escr >> 25 & 63) && (x->escr[0] == msr || x->escr[1] == msr) && x->umask &&
		!(x->umask & ~(escr >> 9 & 0xffff));
}

static void netburst_counter(const struct spmu *p, struct list *l, unsigned i, uint32_t escr, uint32_t msr)
{
	const struct spmu_model *m = p->model;
	uint32_t left = escr >> 9 & 0xffff, otherwise = 0;
	for (size_t k = 0; k < m->rows; k++) {	/* what is counted; and what counts nothing because nothing is tagged */
		const struct pmu_row *row = &m->row[k];
		if (asked(row, msr, escr) && !replays(p, &row->public))
			otherwise |= row->public.umask;
		else if (asked(row, msr, escr) && row->expr.terms)
			left &= ~(uint32_t)row->public.umask;
	}
	while (left) {
		const struct pmu_row *best = NULL;
		int most = 0;
		for (size_t k = 0; k < m->rows; k++) {
			const struct pmu_row *row = &m->row[k];
			const int bits = __builtin_popcount(row->public.umask & left);
			if (asked(row, msr, escr) && replays(p, &row->public) && !row->expr.terms && bits > most) {
				best = row;
				most = bits;
			}
		}
		if (!best)
			break;
		add(l, MSR_BPU_COUNTER0 + i, escr, best, best->public.not_modelled);
		left &= ~(uint32_t)best->public.umask;
	}
	if (left & ~otherwise)
		add(l, MSR_BPU_COUNTER0 + i, escr, NULL,
			"this model's event table has no such event, or not all bits of its mask");
}

static void netburst(const struct spmu *p, struct list *l)
{
	for (unsigned i = 0; i < PMU_NETBURST_COUNTERS; i++) {
		const int e = netburst_wired(p->model, i, p->netburst.cccr[i] >> 13 & 7);
		const uint32_t escr = e < 0 ? 0 : p->netburst.escr[e];
		if (netburst_running(p, i) && escr >> 25 & 63 && escr & 15)
			netburst_counter(p, l, i, escr, netburst_escr_msr((unsigned)e));
	}
}

size_t spmu_unmodelled(const struct spmu *p, struct spmu_unmodelled *out, size_t room)
{
	struct list l = { out, 0, room };
	switch (p->model->family->public) {
	case SPMU_FAMILY_ARCH:
		arch(p, &l);
		break;
	case SPMU_FAMILY_P5:
		p5(p, &l);
		break;
	case SPMU_FAMILY_P6:
		for (unsigned i = 0; i < 2 && p->p6.evtsel[0] & SPMU_EVTSEL_EN; i++)
			selected(p, &l, i, MSR_P6_PERFCTR0 + i, p->p6.evtsel[i]);
		break;
	case SPMU_FAMILY_NETBURST:
		netburst(p, &l);
		break;
	}
	return l.n;
}
