/* SPDX-License-Identifier: BSD-2-Clause
 * Parts that all families have in common: creation, dispatch to the family's registers, CR4.PCE, and the
 * performance entry of the local APIC's vector table (LVT).
 *
 * Source: SDM vol. 3A, chapter "Advanced Programmable Interrupt Controller (APIC)", section "Local Vector
 * Table"; vol. 3B, chapter "Performance Monitoring", "Generating an Interrupt on Overflow".
 *
 * The LVT entry is at offset 340H of the APIC's page.  It is masked after reset, and on families with `lvt` 2 a
 * delivered PMI masks it; a PMI that arrives while it is masked is lost (the overflow bits remain).
 */
#include "ds/ds.h"
#include "pmu_internal.h"
#include <stdlib.h>
#include <string.h>

int spmu_create(struct spmu **out, const struct spmu_model *m, const struct spmu_host *host)
{
	struct spmu *p = calloc(1, sizeof *p);
	if (!p)
		return SPMU_ENOMEM;
	p->model = m;
	if (host)
		p->host = *host;
	p->lvt = PMU_LVT_MASKED;
	p->late = PMU_NEVER;
	p->ends = PMU_NEVER;
	m->family->reset(p);
	int error = pmu_threads_create(p);
	if (!error)
		error = pmu_pushout_create(p);
	if (!error)
		error = pmu_plan(p);
	if (error) {
		spmu_destroy(p);
		return error;
	}
	*out = p;
	return SPMU_OK;
}

void spmu_destroy(struct spmu *p)
{
	if (!p)
		return;
	pmu_plan_release(p);
	pmu_threads_destroy(p);
	pmu_pushout_destroy(p->pushout);
	free(p);
}

void pmu_settle(struct spmu *p)
{
	if (!p->in_pmi)		/* no time passes in a handler; change_end settles after it if registers still differ */
		pmu_ring_settle(p, pmu_ring_end(p));
}

int pmu_change(struct spmu *p, uint64_t *reg, uint64_t value)
{
	uint64_t old = *reg;
	if (old == value)
		return SPMU_OK;
	pmu_settle(p);
	uint64_t settled = *reg ^ old;	/* overflow bits that settling set, if it is the status register */
	*reg = value ^ settled;
	int error = pmu_plan(p);
	if (error)
		*reg = old ^ settled;
	return error;
}

void pmu_write_counter(struct spmu *p, unsigned i, uint64_t value)
{
	struct pmu_counter *c = &p->counter[i];
	if (p->threads > 1 && c->mode == MODE_RING)
		pmu_settle_shared(p, 1u << i, 0);
	else if (p->in_pmi)	/* events up to now went into the old value */
		c->from = p->now;
	else if (c->mode == MODE_RING)
		pmu_ring_settle(p, pmu_ring_end(p));
	c->value = value & c->mask;
	c->remainder = 0;
	p->wrapped &= ~(1u << i);
}

/* ---- dispatch ----------------------------------------------------------------------------------------------- */

int spmu_wrmsr(struct spmu *p, uint32_t msr, uint64_t value)
{
	return p->pushout && msr - MSR_PUSHOUT_CAPABILITIES < SPMU_PUSHOUT_BLOCK
		? pmu_pushout_wrmsr(p, msr, value)
		: p->model->family->wrmsr(p, msr, value);
}

int spmu_rdmsr(const struct spmu *p, uint32_t msr, uint64_t *value)
{
	return p->pushout && msr - MSR_PUSHOUT_CAPABILITIES < SPMU_PUSHOUT_BLOCK
		? pmu_pushout_rdmsr(p, msr, value)
		: p->model->family->rdmsr(p, msr, value);
}

int spmu_rdpmc(const struct spmu *p, uint32_t rdpmc_idx, unsigned cpl, uint64_t *value)
{
	if (cpl && !p->cr4_pce)
		return SPMU_GP;
	return p->model->family->rdpmc(p, rdpmc_idx, value);
}

void spmu_set_cr4_pce(struct spmu *p, bool pce)
{
	p->cr4_pce = pce;
}

void spmu_cpuid_0a(const struct spmu *p, uint32_t regs[4])
{
	memcpy(regs, p->model->cpuid, sizeof p->model->cpuid);
	if (p->model->features & PMU_FEATURE_SPLIT && p->host.siblings > 1)
		regs[0] = (regs[0] & ~UINT32_C(0xff00)) | p->model->gp / 2 << 8;
}

const struct spmu_model *spmu_model_of(const struct spmu *p)
{
	return p->model;
}

unsigned spmu_version(const struct spmu *p)
{
	return p->model->family == &pmu_arch ? p->model->version : 0;
}

int spmu_apic_write(struct spmu *p, uint32_t offset, uint32_t value)
{
	if (offset != SPMU_APIC_LVT_PC || !p->model->family->lvt)
		return SPMU_ENOMSR;
	p->lvt = value & PMU_LVT_WRITABLE;	/* reserved and read-only bits are ignored in the memory-mapped APIC */
	return SPMU_OK;
}

int spmu_apic_read(const struct spmu *p, uint32_t offset, uint32_t *value)
{
	if (offset != SPMU_APIC_LVT_PC || !p->model->family->lvt)
		return SPMU_ENOMSR;
	*value = p->lvt;
	return SPMU_OK;
}
