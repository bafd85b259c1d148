/* SPDX-License-Identifier: BSD-2-Clause
 * The registers of the architectural PMU, versions 1 to 5, each as its generation had it.
 *
 * Source: SDM vol. 3B, chapter "Performance Monitoring", sections "Architectural Performance Monitoring"
 * (versions 1 to 5) and "Full-Width Writes to Performance Counter Registers"; vol. 4, "IA-32 Architectural
 * MSRs"; vol. 2, "RDPMC", "CPUID"; vol. 3A, "Processor State After Reset" (IA32_PERF_GLOBAL_CTRL enables all
 * general-purpose counters).
 *
 *   version 1   IA32_PMCx and IA32_PERFEVTSELx, each with its own enable bit
 *   version 2   fixed counters, GLOBAL_CTRL, GLOBAL_STATUS, GLOBAL_OVF_CTRL; freeze on PMI: GLOBAL_CTRL is
 *               cleared (legacy)
 *   version 3   AnyThread
 *   version 4   GLOBAL_STATUS_RESET and _SET, GLOBAL_INUSE; freeze on PMI: GLOBAL_STATUS.CTR_Frz (streamlined)
 *   version 5   fixed counters by bit map, AnyThread deprecated where CPUID.0AH:EDX[15] says so
 *
 * Features of a generation that are not architectural are in the table's @features: in_tx (PERFEVTSEL bits 32,
 * 33: TSX), split (two threads share the eight counters, four each).  Records do not say which instructions a
 * transaction or an elided region holds: a counter with IN_TX counts nothing, and spmu_unmodelled names it.  IN_TXCP
 * excludes nothing, as what an aborted attempt did is in no record.  Pin control (PC) is stored and has no effect.
 * PEBS, BTS and LBR: ds.h; PERF_METRICS: arch_metrics.c; MSR_OFFCORE_RSP_x: offcore.c.
 *
 * GUESS: with AnyThread deprecated (CPUID.0AH:EDX[15]) its bits are reserved; writing one on such a processor
 * settles it.  GUESS: reading STATUS_RESET and STATUS_SET gives 0; RDMSR of 390H and 391H settles it.
 * GUESS: bits above the width of a fixed counter and of IA32_A_PMCx are reserved; writing one settles it.
 */
#include "../ds/ds.h"
#include "../pmu_internal.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CAP_FW_WRITE (UINT64_C(1) << 13)
#define CAP_PEBS_BASELINE (UINT64_C(1) << 14)
#define CAP_PERF_METRICS (UINT64_C(1) << 15)
#define STATUS_PERF_METRICS (UINT64_C(1) << 48)
#define STATUS_CTR_FRZ (UINT64_C(1) << 59)
#define STATUS_DS_BUFFER (UINT64_C(1) << 62)
#define STATUS_COND_CHGD (UINT64_C(1) << 63)
#define DEBUGCTL_FREEZE_PERFMON_ON_PMI (UINT64_C(1) << 12)
#define DEBUGCTL_FREEZE_ON_PMI (DEBUGCTL_FREEZE_PERFMON_ON_PMI | UINT64_C(1) << 11)	/* LBRs, too */
#define EVTSEL_IN_TX (UINT64_C(1) << 32)
#define EVTSEL_IN_TXCP (UINT64_C(1) << 33)	/* counter 2 only */
#define EVTSEL_ADAPTIVE (UINT64_C(1) << 34)
#define GP_MASK(m) ((UINT64_C(1) << ((m)->cpuid[0] >> 16 & 0xff)) - 1)
#define FIXED_MASK(m) ((UINT64_C(1) << ((m)->cpuid[3] >> 5 & 0xff)) - 1)

/* Number of general-purpose counters of this thread: half of them if two threads share (@features split). */
static unsigned gp_counters(const struct spmu *p)
{
	return spmu_model_gp_counters_of(p->model, p->host.siblings);
}

static bool has_fixed(const struct spmu_model *m, unsigned i)
{
	return i < m->fixed && (m->version < 5 || m->cpuid[2] >> i & 1 || i < (m->cpuid[3] & 0x1f));
}

static uint64_t fixed_bits(const struct spmu_model *m)
{
	uint64_t bits = 0;
	for (unsigned i = 0; i < m->fixed; i++)
		bits |= (uint64_t)has_fixed(m, i) << (32 + i);
	return bits;
}

/* Enable bits of IA32_PERF_GLOBAL_CTRL, and overflow bits of the status registers. */
static uint64_t counter_bits(const struct spmu *p)
{
	return ((UINT64_C(1) << gp_counters(p)) - 1) | fixed_bits(p->model) |
		(p->model->capabilities & CAP_PERF_METRICS ? STATUS_PERF_METRICS : 0);
}

/* The other status bits that can be cleared, without those that cannot be set.  Version 2: OvfDSBuffer and
 * CondChgd; 3: also OvfUncore; 4: TraceToPAPMI 55, LBR_Frz 58, CTR_Frz 59, ASCI 60. */
static uint64_t other_bits(const struct spmu_model *m)
{
	uint64_t bits = STATUS_COND_CHGD | STATUS_DS_BUFFER;
	if (m->version >= 3)
		bits |= UINT64_C(1) << 61;
	if (m->version >= 4)
		bits |= UINT64_C(1) << 55 | UINT64_C(7) << 58;
	return bits;
}

/* Bit of the engine's counter i: the general-purpose counters come first, then the fixed ones. */
static uint64_t status_bit(const struct spmu_model *m, unsigned i)
{
	return i < m->gp ? UINT64_C(1) << i : UINT64_C(1) << (32 + i - m->gp);
}

/* Sets the status.  Overflow bits do not change what is counted; CTR_Frz does. */
static int write_status(struct spmu *p, uint64_t clear, uint64_t set)
{
	if ((p->arch.status & clear & STATUS_CTR_FRZ) | (~p->arch.status & set & STATUS_CTR_FRZ)) {
		int error = pmu_change(p, &p->arch.status, p->arch.status ^ STATUS_CTR_FRZ);
		if (error)
			return error;
	}
	p->arch.status = (p->arch.status & ~clear) | set;
	if (set)
		pmu_pebs_status_set(p, set);
	return SPMU_OK;
}

static uint64_t evtsel_bits(const struct spmu_model *m, unsigned pmc)
{
	uint64_t bits = UINT64_C(0xffffffff);
	if (!m->any_thread)
		bits &= ~SPMU_EVTSEL_ANY;
	if (m->features & PMU_FEATURE_IN_TX)
		bits |= EVTSEL_IN_TX | (pmc == 2 ? EVTSEL_IN_TXCP : 0);
	if (m->capabilities & CAP_PEBS_BASELINE)
		bits |= EVTSEL_ADAPTIVE;
	return bits;
}

static bool has_offcore(const struct spmu_model *m, unsigned i)
{
	return i < pmu_offcore_registers(m->offcore);
}

/* What MSR_OFFCORE_RSP_i selects, as an expression.  False: no room. */
static bool select_offcore(struct spmu *p, unsigned i)
{
	struct pmu_source want;
	struct pmu_expr *x = &p->offcore[i];
	memset(x, 0, sizeof *x);
	if (!pmu_offcore_source(p->model->offcore, p->arch.offcore[i], &want))
		return true;
	const int source = pmu_own_source(p, &want);
	if (source < 0)
		return false;
	x->terms = 1;
	x->term[0] = (struct pmu_term){ .num = 1, .den = 1, .source = (uint16_t)source };
	return true;
}

static int write_offcore(struct spmu *p, unsigned i, uint64_t value)
{
	const uint64_t old = p->arch.offcore[i];
	if (!pmu_offcore_valid(p->model->offcore, value))
		return SPMU_GP;
	if (value == old)
		return SPMU_OK;
	pmu_ring_settle(p, p->in_pmi ? p->now : pmu_ring_end(p));
	p->arch.offcore[i] = value;
	const int error = select_offcore(p, i) ? pmu_plan(p) : SPMU_ENOMEM;
	if (error) {
		p->arch.offcore[i] = old;
		select_offcore(p, i);	/* its source is still there */
	}
	return error;
}

/* What general-purpose counter i counts; NULL: nothing. */
static const struct pmu_expr *counted(const struct spmu *p, unsigned i)
{
	const struct pmu_expr *x = pmu_pebs_expr(p, i);
	const unsigned which = x ? p->row[i]->public.extra_msr - MSR_OFFCORE_RSP_0 : 0;
	return x && has_offcore(p->model, which) ? &p->offcore[which] : x;
}

static const struct pmu_row *find(const struct spmu_model *m, uint64_t evtsel, unsigned pmc)
{
	const struct pmu_row *row = evtsel & 0xff ? pmu_find_code(m, evtsel) : NULL;
	return row && row->expr.terms && row->public.pmc_mask >> pmc & 1 ? row : NULL;
}

static int write_evtsel(struct spmu *p, unsigned pmc, uint64_t value)
{
	struct pmu_counter *c = &p->counter[pmc];
	if (value & ~evtsel_bits(p->model, pmc))
		return SPMU_GP;
	uint64_t old = p->arch.evtsel[pmc];
	const struct pmu_row *old_row = p->row[pmc];
	if (value == old)
		return SPMU_OK;
	if (!p->in_pmi || c->ring)
		pmu_ring_settle(p, p->in_pmi ? p->now : pmu_ring_end(p));
	p->arch.evtsel[pmc] = value;
	p->row[pmc] = find(p->model, value, pmc);
	int error = pmu_plan(p);
	if (error) {
		p->arch.evtsel[pmc] = old;
		p->row[pmc] = old_row;
		return error;
	}
	if ((old ^ value) & ~(SPMU_EVTSEL_INT | SPMU_EVTSEL_PC | SPMU_EVTSEL_EN)) {
		c->previous = false;
		c->remainder = 0;
	}
	return SPMU_OK;
}

static uint64_t fixed_ctrl_bits(const struct spmu_model *m)
{
	uint64_t allowed = 0;
	for (unsigned i = 0; i < m->fixed; i++)
		if (has_fixed(m, i))
			allowed |= (m->any_thread ? UINT64_C(15) : UINT64_C(11)) << 4 * i |
				(m->capabilities & CAP_PEBS_BASELINE ? UINT64_C(1) << (32 + 4 * i) : 0);
	return allowed;
}

static int write_fixed_ctrl(struct spmu *p, uint64_t value)
{
	return value & ~fixed_ctrl_bits(p->model) ? SPMU_GP : pmu_change(p, &p->arch.fixed_ctrl, value);
}

static int write_counter(struct spmu *p, unsigned i, uint64_t value)
{
	pmu_write_counter(p, i, value);
	return SPMU_OK;
}

static int write_debugctl(struct spmu *p, uint64_t value)
{
	if (value & ~((p->model->version >= 2 ? DEBUGCTL_FREEZE_PERFMON_ON_PMI : 0) | pmu_ds_debugctl_bits(p)))
		return SPMU_GP;
	int error = pmu_change(p, &p->arch.debugctl, value);
	if (!error)
		pmu_ds_debugctl(p, value);
	return error;
}

static int arch_wrmsr(struct spmu *p, uint32_t msr, uint64_t value)
{
	const struct spmu_model *m = p->model;
	unsigned gp = gp_counters(p);
	if (msr - MSR_IA32_PMC0 < gp)	/* bits 63:32 are ignored, bit 31 is sign-extended */
		return write_counter(p, msr - MSR_IA32_PMC0, (uint64_t)(int64_t)(int32_t)(uint32_t)value);
	if (msr - MSR_IA32_A_PMC0 < gp && m->capabilities & CAP_FW_WRITE)
		return value > GP_MASK(m) ? SPMU_GP : write_counter(p, msr - MSR_IA32_A_PMC0, value);
	if (msr - MSR_IA32_PERFEVTSEL0 < gp)
		return write_evtsel(p, msr - MSR_IA32_PERFEVTSEL0, value);
	if (has_fixed(m, msr - MSR_IA32_FIXED_CTR0))
		return value > FIXED_MASK(m) ? SPMU_GP : write_counter(p, m->gp + msr - MSR_IA32_FIXED_CTR0, value);
	if (m->version >= 2)
		switch (msr) {
		case MSR_IA32_FIXED_CTR_CTRL:
			return write_fixed_ctrl(p, value);
		case MSR_IA32_PERF_GLOBAL_CTRL:
			return value & ~counter_bits(p) ? SPMU_GP : pmu_change(p, &p->arch.global_ctrl, value);
		case MSR_IA32_PERF_GLOBAL_STATUS_RESET:	/* before version 4: GLOBAL_OVF_CTRL */
			if (value & ~(counter_bits(p) | other_bits(m)))
				return SPMU_GP;
			return write_status(p, value, 0);
		case MSR_IA32_PERF_GLOBAL_STATUS:
			return SPMU_GP;		/* read-only */
		}
	if (msr == MSR_PERF_METRICS && m->capabilities & CAP_PERF_METRICS) {
		pmu_settle(p);
		pmu_metrics_write(p, m->gp + m->fixed, p->counter[m->gp + 3].value, value);
		return SPMU_OK;
	}
	if (m->version >= 4)
		switch (msr) {
		case MSR_IA32_PERF_GLOBAL_STATUS_SET:
			if (value & ~(counter_bits(p) | (other_bits(m) & ~STATUS_COND_CHGD)))
				return SPMU_GP;
			return write_status(p, 0, value);
		case MSR_IA32_PERF_GLOBAL_INUSE:
			return SPMU_GP;
		}
	if (has_offcore(m, msr - MSR_OFFCORE_RSP_0))
		return write_offcore(p, msr - MSR_OFFCORE_RSP_0, value);
	switch (msr) {
	case MSR_IA32_PERF_CAPABILITIES:
		return m->capabilities ? SPMU_GP : SPMU_ENOMSR;
	case MSR_IA32_DEBUGCTL:
		return write_debugctl(p, value);
	default:
		return pmu_ds_wrmsr(p, msr, value);
	}
}

static uint64_t in_use(const struct spmu *p)
{
	uint64_t set = 0;
	bool pmi = p->ds.enable & counter_bits(p);	/* PEBS makes PMI in use */
	for (unsigned i = 0; i < gp_counters(p); i++) {
		set |= (uint64_t)!!(p->arch.evtsel[i] & 0xff) << i;
		pmi |= !!(p->arch.evtsel[i] & SPMU_EVTSEL_INT);
	}
	for (unsigned i = 0; i < p->model->fixed; i++) {
		set |= (uint64_t)!!(p->arch.fixed_ctrl >> 4 * i & 3) << (32 + i);
		pmi |= p->arch.fixed_ctrl >> (4 * i + 3) & 1;
	}
	return set | (uint64_t)pmi << 63;
}

static int arch_rdmsr(const struct spmu *p, uint32_t msr, uint64_t *value)
{
	const struct spmu_model *m = p->model;
	unsigned gp = gp_counters(p);
	if (msr - MSR_IA32_PMC0 < gp)
		*value = p->counter[msr - MSR_IA32_PMC0].value;
	else if (msr - MSR_IA32_A_PMC0 < gp && m->capabilities & CAP_FW_WRITE)
		*value = p->counter[msr - MSR_IA32_A_PMC0].value;
	else if (msr - MSR_IA32_PERFEVTSEL0 < gp)
		*value = p->arch.evtsel[msr - MSR_IA32_PERFEVTSEL0];
	else if (has_fixed(m, msr - MSR_IA32_FIXED_CTR0))
		*value = p->counter[m->gp + msr - MSR_IA32_FIXED_CTR0].value;
	else if (msr == MSR_IA32_PERF_CAPABILITIES && m->capabilities)
		*value = m->capabilities;
	else if (msr == MSR_IA32_DEBUGCTL)
		*value = p->arch.debugctl;
	else if (m->version >= 2 && msr == MSR_IA32_FIXED_CTR_CTRL)
		*value = p->arch.fixed_ctrl;
	else if (m->version >= 2 && msr == MSR_IA32_PERF_GLOBAL_CTRL)
		*value = p->arch.global_ctrl;
	else if (m->version >= 2 && msr == MSR_IA32_PERF_GLOBAL_STATUS)
		*value = p->arch.status;
	else if (m->version >= 2 && msr == MSR_IA32_PERF_GLOBAL_STATUS_RESET)
		*value = 0;
	else if (m->version >= 4 && msr == MSR_IA32_PERF_GLOBAL_STATUS_SET)
		*value = 0;
	else if (m->version >= 4 && msr == MSR_IA32_PERF_GLOBAL_INUSE)
		*value = in_use(p);
	else if (has_offcore(m, msr - MSR_OFFCORE_RSP_0))
		*value = p->arch.offcore[msr - MSR_OFFCORE_RSP_0];
	else if (msr == MSR_PERF_METRICS && m->capabilities & CAP_PERF_METRICS)
		*value = pmu_metrics_read(p, m->gp + m->fixed);
	else
		return pmu_ds_rdmsr(p, msr, value);
	return SPMU_OK;
}

/* ECX[31:16] is the type (0: general-purpose, 4000H: fixed, 2000H: PERF_METRICS), [15:0] the index.  Bit 31,
 * the fast read of NetBurst, is no type of an architectural PMU. */
static int arch_rdpmc(const struct spmu *p, uint32_t rdpmc_idx, uint64_t *value)
{
	unsigned type = rdpmc_idx >> 16, index = rdpmc_idx & 0xffff;
	if (type == 0 && index < gp_counters(p))
		*value = p->counter[index].value;
	else if (type == 0x4000 && has_fixed(p->model, index))
		*value = p->counter[p->model->gp + index].value;
	else if (type == 0x2000 && !index && p->model->capabilities & CAP_PERF_METRICS)
		*value = pmu_metrics_read(p, p->model->gp + p->model->fixed);
	else
		return SPMU_GP;
	return SPMU_OK;
}

static int arch_shape(struct spmu_model *m, char *text, size_t text_bytes)
{
	m->counters = m->gp + m->fixed;
	if (m->capabilities & CAP_PERF_METRICS) {
		m->counters += PMU_METRICS;
		for (unsigned i = 0; i < PMU_METRICS; i++)
			if (m->fixed < 4 || (i <= METRIC_FE_BOUND && !m->metric[i].terms)) {
				snprintf(text, text_bytes,
					"PERF_METRICS wants fixed counter 3 and @metric slots, retiring, bad_spec and "
					"fe_bound");
				return SPMU_EINPUT;
			}
	}
	if (m->counters > PMU_MAX_COUNTERS) {
		snprintf(text, text_bytes, "%u counters are more than %d", m->counters, PMU_MAX_COUNTERS);
		return SPMU_EINPUT;
	}
	return SPMU_OK;
}

static void arch_reset(struct spmu *p)
{
	pmu_ds_reset(p);
	p->arch.global_ctrl = (UINT64_C(1) << gp_counters(p)) - 1;
}

static void arch_setup(const struct spmu *p, unsigned i, struct pmu_counter *c)
{
	const struct spmu_model *m = p->model;
	bool enabled, interrupt;
	if (i >= m->gp + m->fixed) {	/* a sum for PERF_METRICS */
		unsigned control = p->arch.fixed_ctrl >> 12 & 15;
		c->expr = &m->metric[i - m->gp - m->fixed];
		c->mask = UINT64_MAX >> 1;
		c->who = (control & 2 ? WHO_USER : 0) | (control & 1 ? WHO_KERNEL : 0);
		c->programmed = p->arch.global_ctrl & STATUS_PERF_METRICS;
		c->counts = p->arch.global_ctrl & UINT64_C(1) << 35 && !(p->arch.status & STATUS_CTR_FRZ);
		return;
	}
	if (i >= m->gp) {
		unsigned control = p->arch.fixed_ctrl >> (4 * (i - m->gp)) & 15;
		c->expr = has_fixed(m, i - m->gp) ? &m->fixed_row[i - m->gp]->expr : NULL;
		c->mask = FIXED_MASK(m);
		c->who = (control & 2 ? WHO_USER : 0) | (control & 1 ? WHO_KERNEL : 0);
		if (control & 4)
			c->who |= c->who << 2;
		enabled = control & 3;
		interrupt = control >> 3;
	} else {
		uint64_t v = p->arch.evtsel[i];
		c->expr = counted(p, i);
		c->mask = GP_MASK(m);
		c->who = (v & SPMU_EVTSEL_USR ? WHO_USER : 0) | (v & SPMU_EVTSEL_OS ? WHO_KERNEL : 0);
		if (v & SPMU_EVTSEL_ANY)
			c->who |= c->who << 2;
		enabled = v & SPMU_EVTSEL_EN && !(v & EVTSEL_IN_TX);
		interrupt = v & SPMU_EVTSEL_INT;
		c->cmask = (uint8_t)(v >> 24);
		c->inv = !!(v & SPMU_EVTSEL_INV);
		c->edge = !!(v & SPMU_EVTSEL_EDGE);
	}
	c->programmed = enabled && c->who && c->expr;
	c->acts = (interrupt && (p->host.pmi || p->arch.debugctl & DEBUGCTL_FREEZE_ON_PMI)) || pmu_pebs_on(p, i);
	c->counts = m->version < 2 || (p->arch.global_ctrl & status_bit(m, i) && !(p->arch.status & STATUS_CTR_FRZ));
}

static void arch_wrapped(struct spmu *p, unsigned i)
{
	if (p->model->version >= 2 && i < p->model->gp + p->model->fixed)
		p->arch.status |= status_bit(p->model, i);
}

static bool interrupts(const struct spmu *p, unsigned i)
{
	return i < p->model->gp ? !!(p->arch.evtsel[i] & SPMU_EVTSEL_INT)
		: p->arch.fixed_ctrl >> (4 * (i - p->model->gp) + 3) & 1;
}

/* A PMI is requested: counters (and LBR) freeze now, while the interrupt comes later.  True: enable bits have
 * changed. */
static bool arch_pmi(struct spmu *p, const struct pmu_moment *at)
{
	pmu_request(p, at->cycle);
	pmu_lbr_pmi(p);
	if (!(p->arch.debugctl & DEBUGCTL_FREEZE_PERFMON_ON_PMI))
		return false;
	if (p->model->version >= 4)
		p->arch.status |= STATUS_CTR_FRZ;
	else
		p->arch.global_ctrl = 0;
	return true;
}

static bool arch_acts(struct spmu *p, unsigned i, bool wrapped, bool fired, const struct pmu_moment *at)
{
	bool changed = pmu_pebs_acts(p, i, wrapped, fired, at);
	return wrapped && interrupts(p, i) ? arch_pmi(p, at) || changed : changed;
}

static uint64_t arch_status(const struct spmu *p)
{
	return p->arch.status;
}

/* A DS buffer has reached its threshold, or PEBS requests an interrupt by itself. */
static bool arch_ds_pmi(struct spmu *p, bool pebs, const struct pmu_moment *at)
{
	if (pebs && p->model->version >= 2)
		p->arch.status |= STATUS_DS_BUFFER;
	return arch_pmi(p, at);
}

static int arch_restored(struct spmu *p)
{
	const struct spmu_model *m = p->model;
	struct pmu_arch_state *a = &p->arch;
	bool bad = a->fixed_ctrl & ~fixed_ctrl_bits(m) || a->global_ctrl & ~counter_bits(p) ||
		a->status & ~(counter_bits(p) | other_bits(m)) ||
		a->debugctl & ~(DEBUGCTL_FREEZE_PERFMON_ON_PMI | pmu_ds_debugctl_bits(p));
	for (unsigned i = 0; i < PMU_MAX_GP; i++) {
		bad |= a->evtsel[i] && (i >= gp_counters(p) || a->evtsel[i] & ~evtsel_bits(m, i));
		p->row[i] = i < m->gp ? find(m, a->evtsel[i], i) : NULL;
	}
	for (unsigned i = 0; i < PMU_OFFCORE_REGISTERS; i++)
		bad |= has_offcore(m, i) ? !pmu_offcore_valid(m->offcore, a->offcore[i]) || !select_offcore(p, i)
			: a->offcore[i] != 0;
	return bad ? SPMU_EINPUT : SPMU_OK;
}

const struct pmu_family pmu_arch = {
	.name = "arch",
	.public = SPMU_FAMILY_ARCH, .shape = arch_shape, .reset = arch_reset, .wrmsr = arch_wrmsr,
	.rdmsr = arch_rdmsr, .rdpmc = arch_rdpmc, .setup = arch_setup, .wrapped = arch_wrapped,
	.acts = arch_acts, .ds_pmi = arch_ds_pmi, .tag = pmu_pebs_tag, .restored = arch_restored,
	.status = arch_status, .lvt = 2,
};
