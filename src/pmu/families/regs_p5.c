/* SPDX-License-Identifier: BSD-2-Clause
 * The registers of the Pentium (P5): CESR and CTR0/CTR1.
 *
 * Source: SDM vol. 3B, chapter "Performance Monitoring", section "Performance Monitoring (Pentium Processors)"
 * (layout of CESR, the control codes, 40-bit counters, no interrupt) and the table of its events ("Pentium
 * Processor Performance Monitoring Events": which are occurrences and which durations); vol. 2, "RDPMC" (from
 * the MMX parts on).
 *
 * Bit 2 of a control code selects clocks in which the event is under way, instead of occurrences.  An
 * occurrence of a duration is its begin.  CPL 0, 1 and 2 are not distinguished.  The pins PM0/BP0 and PM1/BP1
 * (PC0, PC1) do not exist here; their bits are stored.
 * GUESS: reserved bits of CESR fault, bits above 39 of a counter are ignored; a Pentium settles it.
 */
#include "../pmu_internal.h"

#define CESR_BITS UINT64_C(0x03ff03ff)

static int p5_shape(struct spmu_model *m, char *text, size_t text_bytes)
{
	(void)text, (void)text_bytes;
	m->gp = m->counters = 2;
	return SPMU_OK;
}

static void p5_reset(struct spmu *p)
{
	(void)p;
}

/* The row of this 6-bit event select that counter n can count. */
static const struct pmu_row *find(const struct spmu_model *m, unsigned select, unsigned pmc)
{
	for (size_t i = 0; i < m->rows; i++)
		if (m->row[i].public.event == select && m->row[i].public.pmc_mask >> pmc & 1 && m->row[i].expr.terms)
			return &m->row[i];
	return NULL;
}

static int p5_wrmsr(struct spmu *p, uint32_t msr, uint64_t value)
{
	if (msr - MSR_P5_CTR0 < 2) {
		pmu_write_counter(p, msr - MSR_P5_CTR0, value);
		return SPMU_OK;
	}
	if (msr != MSR_P5_CESR)
		return SPMU_ENOMSR;
	if (value & ~CESR_BITS)
		return SPMU_GP;
	const uint64_t old = p->p5.cesr;
	const struct pmu_row *old_row[2] = { p->row[0], p->row[1] };
	for (unsigned i = 0; i < 2; i++)
		p->row[i] = find(p->model, value >> 16 * i & 0x3f, i);
	int error = pmu_change(p, &p->p5.cesr, value);
	for (unsigned i = 0; i < 2; i++) {
		if (error)
			p->row[i] = old_row[i];
		else if ((old ^ value) >> 16 * i & 0x3f)
			p->counter[i].previous = false;
	}
	return error;
}

static int p5_rdmsr(const struct spmu *p, uint32_t msr, uint64_t *value)
{
	if (msr == MSR_P5_CESR)
		*value = p->p5.cesr;
	else if (msr - MSR_P5_CTR0 < 2)
		*value = p->counter[msr - MSR_P5_CTR0].value;
	else
		return SPMU_ENOMSR;
	return SPMU_OK;
}

static int p5_rdpmc(const struct spmu *p, uint32_t rdpmc_idx, uint64_t *value)
{
	if (!(p->model->features & PMU_FEATURE_RDPMC))
		return SPMU_UD;
	if (rdpmc_idx > 1)
		return SPMU_GP;
	*value = p->counter[rdpmc_idx].value;
	return SPMU_OK;
}

static void p5_setup(const struct spmu *p, unsigned i, struct pmu_counter *c)
{
	unsigned control = p->p5.cesr >> (16 * i + 6) & 7;
	c->mask = (UINT64_C(1) << 40) - 1;
	if (!p->row[i])
		return;
	c->expr = &p->row[i]->expr;
	c->who = (control & 2 ? WHO_USER : 0) | (control & 1 ? WHO_KERNEL : 0);
	c->edge = !(control & 4) && p->row[i]->public.flags & SPMU_EVENT_DURATION;
	c->cmask = control & 4 || c->edge;
	c->programmed = c->counts = true;
}

static void p5_wrapped(struct spmu *p, unsigned i)
{
	(void)p, (void)i;
}

static bool p5_acts(struct spmu *p, unsigned i, bool wrapped, bool fired, const struct pmu_moment *at)
{
	(void)p, (void)i, (void)wrapped, (void)fired, (void)at;
	return false;
}

static int p5_restored(struct spmu *p)
{
	for (unsigned i = 0; i < 2; i++)
		p->row[i] = find(p->model, p->p5.cesr >> 16 * i & 0x3f, i);
	return p->p5.cesr & ~CESR_BITS ? SPMU_EINPUT : SPMU_OK;
}

const struct pmu_family pmu_p5 = {
	.name = "p5",
	.public = SPMU_FAMILY_P5, .shape = p5_shape, .reset = p5_reset, .wrmsr = p5_wrmsr, .rdmsr = p5_rdmsr,
	.rdpmc = p5_rdpmc, .setup = p5_setup, .wrapped = p5_wrapped, .acts = p5_acts, .restored = p5_restored,
};
