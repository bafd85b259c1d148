/* SPDX-License-Identifier: BSD-2-Clause
 * The register interface of the architectural PMU, versions 4 and 5.
 *
 * Source: SDM vol. 3B, chapter "Performance Monitoring", sections "Architectural Performance Monitoring" (versions 1 to 5)
 * and "Full-Width Writes to Performance Counter Registers"; vol. 4, "IA-32 Architectural MSRs"; vol. 2, "RDPMC", "CPUID".
 *
 * Not modelled, and absent as on a machine without it: PEBS (IA32_PEBS_ENABLE, DS area), LBR, SMM freeze, TSX (IN_TX,
 * IN_TXCP), adaptive PEBS and event-logging bits; their bits are reserved.  Pin control (PC) is kept and does nothing.
 * MSR_PERF_METRICS is refused: four of its eight fields (heavy operations, branch mispredicts, fetch latency, memory
 * bound) are split slot by slot in a way the manual does not define, so IA32_PERF_CAPABILITIES[15] is 0 and 329H does
 * not exist.  The slots themselves are counted (TOPDOWN.SLOTS, fixed counter 3).
 *
 * GUESS: with AnyThread deprecated (CPUID.0AH:EDX[15]) its bits are reserved; writing one on such a part settles it.
 * GUESS: reading STATUS_RESET and STATUS_SET gives 0; RDMSR of 390H and 391H settles it.
 * GUESS: bits 63:48 of a fixed counter and of IA32_A_PMCx are reserved; writing one settles it.
 * On parts with one hardware thread a core AnyThread counts what the thread counts.
 */
#include "pmu_internal.h"
#include <stdlib.h>
#include <string.h>

#define CAP_FW_WRITE (UINT64_C(1) << 13)

/* Bits of IA32_PERF_GLOBAL_CTRL, and the overflow bits of the status registers. */
static uint64_t counter_bits(const struct spmu_model *m)
{
	return ((UINT64_C(1) << m->gp) - 1) | ((UINT64_C(1) << m->fixed) - 1) << 32;
}

/* TraceToPAPMI 55, LBR_Frz 58, CTR_Frz 59, ASCI 60, OvfUncore 61, OvfDSBuffer 62 (figures of version 4). */
static const uint64_t status_others = UINT64_C(1) << 55 | UINT64_C(0x1f) << 58;
static const uint64_t status_cond_chgd = UINT64_C(1) << 63;

int spmu_create(struct spmu **out, const struct spmu_model *m, const struct spmu_host *host)
{
	struct spmu *p = calloc(1, sizeof *p);
	if (!p)
		return SPMU_ENOMEM;
	p->model = m;
	if (host)
		p->host = *host;
	p->global_ctrl = (UINT64_C(1) << m->gp) - 1;	/* reset value: all general-purpose counters */
	for (unsigned i = 0; i < m->fixed; i++)
		p->counter[PMU_MAX_GP + i].row = m->fixed_row[i];
	int error = pmu_plan(p);
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
	free(p);
}

/* Changes *reg, and with it what is counted.  On SPMU_ENOMEM everything is as before. */
static int change(struct spmu *p, uint64_t *reg, uint64_t value)
{
	uint64_t old = *reg;
	if (old == value)
		return SPMU_OK;
	if (!p->in_pmi)		/* in a handler no time passes: settled behind it, if a difference remains */
		pmu_ring_settle(p, pmu_ring_end(p));
	uint64_t settled = *reg ^ old;	/* overflow bits, when it is the status register */
	*reg = value ^ settled;
	int error = pmu_plan(p);
	if (error)
		*reg = old ^ settled;
	return error;
}

/* Overflow bits change nothing that is counted; CTR_Frz does. */
static int write_status(struct spmu *p, uint64_t clear, uint64_t set)
{
	if ((p->status & clear & STATUS_CTR_FRZ) | (~p->status & set & STATUS_CTR_FRZ)) {
		int error = change(p, &p->status, p->status ^ STATUS_CTR_FRZ);
		if (error)
			return error;
	}
	p->status = (p->status & ~clear) | set;
	return SPMU_OK;
}

static int write_evtsel(struct spmu *p, unsigned pmc, uint64_t value)
{
	struct pmu_counter *c = &p->counter[pmc];
	uint64_t allowed = UINT64_C(0xffffffff);
	if (!p->model->any_thread)
		allowed &= ~SPMU_EVTSEL_ANY;
	if (value & ~allowed)
		return SPMU_GP;
	uint64_t old = p->evtsel[pmc];
	const struct pmu_row *old_row = c->row;
	if (value == old)
		return SPMU_OK;
	if (!p->in_pmi || c->ring)
		pmu_ring_settle(p, p->in_pmi ? p->now : pmu_ring_end(p));
	const struct pmu_row *row = value & 0xff ? pmu_find_code(p->model, value) : NULL;
	if (row && (!row->expr.terms || !(row->public.pmc_mask >> pmc & 1)))
		row = NULL;
	p->evtsel[pmc] = value;
	c->row = row;
	int error = pmu_plan(p);
	if (error) {
		p->evtsel[pmc] = old;
		c->row = old_row;
		return error;
	}
	if ((old ^ value) & ~(SPMU_EVTSEL_INT | SPMU_EVTSEL_PC | SPMU_EVTSEL_EN)) {
		c->previous = false;
		c->remainder = 0;
	}
	return SPMU_OK;
}

static int write_fixed_ctrl(struct spmu *p, uint64_t value)
{
	uint64_t allowed = 0;
	for (unsigned i = 0; i < p->model->fixed; i++)
		allowed |= (p->model->any_thread ? UINT64_C(15) : UINT64_C(11)) << 4 * i;
	if (value & ~allowed)
		return SPMU_GP;
	return change(p, &p->fixed_ctrl, value);
}

static int write_counter(struct spmu *p, unsigned i, uint64_t value)
{
	if (p->in_pmi)		/* what happened so far went into the old value */
		p->counter[i].from = p->now;
	else if (p->counter[i].mode == MODE_RING)
		pmu_ring_settle(p, pmu_ring_end(p));
	p->counter[i].value = value & PMU_COUNTER_MASK;
	p->counter[i].remainder = 0;
	return SPMU_OK;
}

int spmu_wrmsr(struct spmu *p, uint32_t msr, uint64_t value)
{
	const struct spmu_model *m = p->model;
	if (msr - MSR_IA32_PMC0 < m->gp)	/* bits 63:32 are ignored, bit 31 is extended */
		return write_counter(p, msr - MSR_IA32_PMC0, (uint64_t)(int64_t)(int32_t)(uint32_t)value);
	if (msr - MSR_IA32_A_PMC0 < m->gp && m->capabilities & CAP_FW_WRITE)
		return value > PMU_COUNTER_MASK ? SPMU_GP : write_counter(p, msr - MSR_IA32_A_PMC0, value);
	if (msr - MSR_IA32_PERFEVTSEL0 < m->gp)
		return write_evtsel(p, msr - MSR_IA32_PERFEVTSEL0, value);
	if (msr - MSR_IA32_FIXED_CTR0 < m->fixed)
		return value > PMU_COUNTER_MASK ? SPMU_GP : write_counter(p, PMU_MAX_GP + msr - MSR_IA32_FIXED_CTR0, value);
	switch (msr) {
	case MSR_IA32_FIXED_CTR_CTRL:
		return write_fixed_ctrl(p, value);
	case MSR_IA32_PERF_GLOBAL_CTRL:
		return value & ~counter_bits(m) ? SPMU_GP : change(p, &p->global_ctrl, value);
	case MSR_IA32_PERF_GLOBAL_STATUS_RESET:
		if (value & ~(counter_bits(m) | status_others | status_cond_chgd))
			return SPMU_GP;
		return write_status(p, value, 0);
	case MSR_IA32_PERF_GLOBAL_STATUS_SET:
		if (value & ~(counter_bits(m) | status_others))
			return SPMU_GP;
		return write_status(p, 0, value);
	case MSR_IA32_DEBUGCTL:
		return value & ~DEBUGCTL_FREEZE_PERFMON_ON_PMI ? SPMU_GP : change(p, &p->debugctl, value);
	case MSR_IA32_PERF_GLOBAL_STATUS:
	case MSR_IA32_PERF_GLOBAL_INUSE:
	case MSR_IA32_PERF_CAPABILITIES:
		return SPMU_GP;		/* read-only */
	default:
		return SPMU_ENOMSR;
	}
}

static uint64_t in_use(const struct spmu *p)
{
	uint64_t set = 0;
	bool pmi = false;
	for (unsigned i = 0; i < p->model->gp; i++) {
		set |= (uint64_t)!!(p->evtsel[i] & 0xff) << i;
		pmi |= !!(p->evtsel[i] & SPMU_EVTSEL_INT);
	}
	for (unsigned i = 0; i < p->model->fixed; i++) {
		set |= (uint64_t)!!(p->fixed_ctrl >> 4 * i & 3) << (32 + i);
		pmi |= p->fixed_ctrl >> (4 * i + 3) & 1;
	}
	return set | (uint64_t)pmi << 63;
}

int spmu_rdmsr(const struct spmu *p, uint32_t msr, uint64_t *value)
{
	const struct spmu_model *m = p->model;
	if (msr - MSR_IA32_PMC0 < m->gp)
		*value = p->counter[msr - MSR_IA32_PMC0].value;
	else if (msr - MSR_IA32_A_PMC0 < m->gp && m->capabilities & CAP_FW_WRITE)
		*value = p->counter[msr - MSR_IA32_A_PMC0].value;
	else if (msr - MSR_IA32_PERFEVTSEL0 < m->gp)
		*value = p->evtsel[msr - MSR_IA32_PERFEVTSEL0];
	else if (msr - MSR_IA32_FIXED_CTR0 < m->fixed)
		*value = p->counter[PMU_MAX_GP + msr - MSR_IA32_FIXED_CTR0].value;
	else switch (msr) {
	case MSR_IA32_FIXED_CTR_CTRL: *value = p->fixed_ctrl; break;
	case MSR_IA32_PERF_GLOBAL_CTRL: *value = p->global_ctrl; break;
	case MSR_IA32_PERF_GLOBAL_STATUS: *value = p->status; break;
	case MSR_IA32_PERF_GLOBAL_STATUS_RESET:
	case MSR_IA32_PERF_GLOBAL_STATUS_SET: *value = 0; break;
	case MSR_IA32_PERF_GLOBAL_INUSE: *value = in_use(p); break;
	case MSR_IA32_PERF_CAPABILITIES: *value = m->capabilities; break;
	case MSR_IA32_DEBUGCTL: *value = p->debugctl; break;
	default: return SPMU_ENOMSR;
	}
	return SPMU_OK;
}

/* ECX[31:16] is the type (0: general-purpose, 4000H: fixed, 2000H: PERF_METRICS, which this model lacks), [15:0] the
 * index.  Bit 31, the fast read of NetBurst, is no type of an architectural PMU. */
int spmu_rdpmc(const struct spmu *p, uint32_t rdpmc_idx, unsigned cpl, uint64_t *value)
{
	unsigned type = rdpmc_idx >> 16, index = rdpmc_idx & 0xffff;
	if (cpl && !p->cr4_pce)
		return SPMU_GP;
	if (type == 0 && index < p->model->gp)
		*value = p->counter[index].value;
	else if (type == 0x4000 && index < p->model->fixed)
		*value = p->counter[PMU_MAX_GP + index].value;
	else
		return SPMU_GP;
	return SPMU_OK;
}

void spmu_set_cr4_pce(struct spmu *p, bool pce)
{
	p->cr4_pce = pce;
}

void spmu_cpuid_0a(const struct spmu *p, uint32_t regs[4])
{
	memcpy(regs, p->model->cpuid, sizeof p->model->cpuid);
}
