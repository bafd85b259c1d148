/* SPDX-License-Identifier: BSD-2-Clause
 * The registers of the P6 family: PerfEvtSel0/1 and PerfCtr0/1.
 *
 * Source: SDM vol. 3B, chapter "Performance Monitoring", section "Performance Monitoring (P6 Family Processor)"
 * (layout of PerfEvtSel0/1; one enable bit, in PerfEvtSel0, for both; a write sets the low 32 bits and extends
 * their sign over 39:32); vol. 2, "RDPMC".
 *
 * Pin control (PC) is stored and has no effect: there is no pin.  There are no overflow bits: software reads
 * the counters.  GUESS: bits 63:32 of PerfEvtSelx are reserved and fault, as on its successors; writing one on
 * a Pentium III settles it.
 */
#include "../ds/ds.h"
#include "../pmu_internal.h"

#define EVTSEL_BITS (UINT64_C(0xffffffff) & ~SPMU_EVTSEL_ANY)	/* bit 21 is reserved */

static int p6_shape(struct spmu_model *m, char *text, size_t text_bytes)
{
	(void)text, (void)text_bytes;
	m->gp = m->counters = 2;
	return SPMU_OK;
}

static void p6_reset(struct spmu *p)
{
	pmu_ds_reset(p);
}

static const struct pmu_row *find(const struct spmu_model *m, uint64_t evtsel, unsigned pmc)
{
	const struct pmu_row *row = evtsel & 0xff ? pmu_find_code(m, evtsel) : NULL;
	return row && row->expr.terms && row->public.pmc_mask >> pmc & 1 ? row : NULL;
}

static int write_evtsel(struct spmu *p, unsigned pmc, uint64_t value)
{
	if (value & ~(pmc ? EVTSEL_BITS & ~SPMU_EVTSEL_EN : EVTSEL_BITS))
		return SPMU_GP;
	uint64_t old = p->p6.evtsel[pmc];
	const struct pmu_row *old_row = p->row[pmc];
	p->row[pmc] = find(p->model, value, pmc);
	int error = pmu_change(p, &p->p6.evtsel[pmc], value);
	if (error)
		p->row[pmc] = old_row;
	else if ((old ^ value) & ~(SPMU_EVTSEL_INT | SPMU_EVTSEL_PC | SPMU_EVTSEL_EN))
		p->counter[pmc].previous = false;
	return error;
}

static int p6_wrmsr(struct spmu *p, uint32_t msr, uint64_t value)
{
	if (msr - MSR_P6_PERFEVTSEL0 < 2)
		return write_evtsel(p, msr - MSR_P6_PERFEVTSEL0, value);
	if (msr - MSR_P6_PERFCTR0 < 2) {
		pmu_write_counter(p, msr - MSR_P6_PERFCTR0, (uint64_t)(int64_t)(int32_t)(uint32_t)value);
		return SPMU_OK;
	}
	if (msr == MSR_IA32_DEBUGCTL) {
		if (value & ~pmu_ds_debugctl_bits(p))
			return SPMU_GP;
		p->p6.debugctl = value;
		pmu_ds_debugctl(p, value);
		return SPMU_OK;
	}
	return pmu_ds_wrmsr(p, msr, value);
}

static int p6_rdmsr(const struct spmu *p, uint32_t msr, uint64_t *value)
{
	if (msr - MSR_P6_PERFEVTSEL0 < 2)
		*value = p->p6.evtsel[msr - MSR_P6_PERFEVTSEL0];
	else if (msr - MSR_P6_PERFCTR0 < 2)
		*value = p->counter[msr - MSR_P6_PERFCTR0].value;
	else if (msr == MSR_IA32_DEBUGCTL)
		*value = p->p6.debugctl;
	else
		return pmu_ds_rdmsr(p, msr, value);
	return SPMU_OK;
}

static int p6_rdpmc(const struct spmu *p, uint32_t rdpmc_idx, uint64_t *value)
{
	if (rdpmc_idx > 1)
		return SPMU_GP;
	*value = p->counter[rdpmc_idx].value;
	return SPMU_OK;
}

static void p6_setup(const struct spmu *p, unsigned i, struct pmu_counter *c)
{
	uint64_t v = p->p6.evtsel[i];
	c->expr = p->row[i] ? &p->row[i]->expr : NULL;
	c->mask = (UINT64_C(1) << 40) - 1;
	c->who = (v & SPMU_EVTSEL_USR ? WHO_USER : 0) | (v & SPMU_EVTSEL_OS ? WHO_KERNEL : 0);
	c->cmask = (uint8_t)(v >> 24);
	c->inv = !!(v & SPMU_EVTSEL_INV);
	c->edge = !!(v & SPMU_EVTSEL_EDGE);
	c->programmed = true;
	c->counts = p->p6.evtsel[0] & SPMU_EVTSEL_EN;
	c->acts = v & SPMU_EVTSEL_INT && p->host.pmi;
}

static void p6_wrapped(struct spmu *p, unsigned i)
{
	(void)p, (void)i;
}

static bool p6_acts(struct spmu *p, unsigned i, bool wrapped, bool fired, const struct pmu_moment *at)
{
	(void)i, (void)fired;
	if (wrapped)
		pmu_request(p, at->cycle);
	return false;
}

static int p6_restored(struct spmu *p)
{
	for (unsigned i = 0; i < 2; i++) {
		uint64_t v = p->p6.evtsel[i];
		if (v & ~(i ? EVTSEL_BITS & ~SPMU_EVTSEL_EN : EVTSEL_BITS))
			return SPMU_EINPUT;
		p->row[i] = find(p->model, v, i);
	}
	return p->p6.debugctl & ~pmu_ds_debugctl_bits(p) ? SPMU_EINPUT : SPMU_OK;
}

const struct pmu_family pmu_p6 = {
	.name = "p6",
	.public = SPMU_FAMILY_P6, .shape = p6_shape, .reset = p6_reset, .wrmsr = p6_wrmsr, .rdmsr = p6_rdmsr,
	.rdpmc = p6_rdpmc, .setup = p6_setup, .wrapped = p6_wrapped, .acts = p6_acts, .restored = p6_restored,
	.lvt = 1,
};
