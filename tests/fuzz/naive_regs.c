/* SPDX-License-Identifier: GPL-2.0-or-later
 * Registers of the second model (naive_pmu.h): a list of addresses with the bits that can be written.
 *
 * Written from the manual: SDM vol. 3B, "Performance Monitoring" (architectural versions 1 to 5; "Performance
 * Monitoring (Processors Based on Intel NetBurst Microarchitecture)"; "(P6 Family Processor)"; "(Pentium
 * Processors)"), vol. 2 RDPMC, vol. 4 for addresses.
 *
 * Don't care, because the sources do not settle it:
 *   - bits beyond the width of a fixed counter, of P5's and NetBurst's counters, and 63:32 of P6's PerfEvtSel:
 *     ignored or #GP
 *   - PerfEvtSel1.EN (bit 22) of P6: said to exist in PerfEvtSel0 only
 *   - reserved bits of CESR
 *   - IA32_FIXED_CTR_CTRL[14]: AnyThread of counter 3, or on later parts PERF_METRICS' clear mode
 *   - IA32_PERF_GLOBAL_OVF_CTRL and _STATUS_SET: bits 55, 60, 61 (Processor Trace, SGX, uncore), and 62 (no DS
 *     buffer with no memory); what they read
 *   - MSR_PERF_METRICS: what a write and counting make of it
 *   - IA32_DEBUGCTL: all but FREEZE_PERFMON_ON_PMI and the bits that no edition names; P6: all
 *   - everything of DS, PEBS and LBR (fuzz_pmu_ds.c looks at it), NetBurst's 3F0H to 3F2H
 */
#include "naive_pmu.h"
#include <string.h>

#define BIT(n) (UINT64_C(1) << (n))
#define LOW(n) ((n) >= 64 ? ~UINT64_C(0) : BIT(n) - 1)

enum { FIXED = 16 };	/* first fixed counter */

static bool arch(const struct naive *n)
{
	return spmu_model_family(n->m) == SPMU_FAMILY_ARCH;
}

static struct naive_msr *add(struct naive *n, uint32_t address, enum naive_kind kind, uint64_t valid, uint64_t loose)
{
	struct naive_msr *r = &n->msr[n->msrs++];
	*r = (struct naive_msr){ .address = address, .kind = (uint8_t)kind, .valid = valid, .loose = loose & ~valid };
	return r;
}

static void add_counter(struct naive *n, uint32_t address, enum naive_kind kind, unsigned counter, uint64_t loose)
{
	add(n, address, kind, kind == NAIVE_NARROW ? ~UINT64_C(0) : naive_width(n, counter), loose)->counter =
		(uint8_t)counter;
}

static void init_arch(struct naive *n)
{
	const struct spmu_model *m = n->m;
	uint64_t capabilities = spmu_model_capabilities(m), fixed_bits = 0, fixed_loose = 0, status, loose;
	bool any = n->version >= 3 && !(n->version >= 5 && m->cpuid[3] & 0x8000);
	bool metrics = capabilities & BIT(15), tsx = m->features & PMU_FEATURE_IN_TX;
	for (unsigned i = 0; i < n->gp; i++) {
		uint64_t valid = LOW(32) & ~BIT(21);
		valid |= any ? BIT(21) : 0;
		valid |= tsx ? BIT(32) : 0;
		valid |= tsx && i == 2 ? BIT(33) : 0;
		valid |= capabilities & BIT(14) ? BIT(34) : 0;
		add(n, 0x186 + i, NAIVE_PLAIN, valid, 0);
		add_counter(n, 0xc1 + i, NAIVE_NARROW, i, 0);
		if (capabilities & BIT(13))
			add_counter(n, 0x4c1 + i, NAIVE_WIDE, i, 0);
	}
	if (capabilities)
		add(n, 0x345, NAIVE_READ_ONLY, 0, 0)->value = capabilities;
	if (n->version < 2)
		return;
	for (unsigned i = 0; i < n->fixed; i++) {
		add_counter(n, 0x309 + i, NAIVE_WIDE, FIXED + i, ~UINT64_C(0));
		fixed_bits |= (any ? UINT64_C(15) : UINT64_C(11)) << 4 * i;
		fixed_bits |= capabilities & BIT(14) ? BIT(32 + 4 * i) : 0;
	}
	if (metrics)
		fixed_loose = BIT(14);
	add(n, 0x38d, NAIVE_PLAIN, fixed_bits & ~fixed_loose, fixed_loose);
	add(n, 0x38f, NAIVE_PLAIN, LOW(n->gp) | LOW(n->fixed) << 32 | (metrics ? BIT(48) : 0), 0)->value = LOW(n->gp);
	status = LOW(n->gp) | LOW(n->fixed) << 32 | (metrics ? BIT(48) : 0) | (n->version >= 4 ? BIT(58) | BIT(59) : 0);
	loose = BIT(55) | BIT(60) | BIT(61) | BIT(62);
	add(n, 0x38e, NAIVE_STATUS, 0, 0);
	add(n, 0x390, NAIVE_CLEAR, status | BIT(63), loose);
	if (n->version >= 4) {
		add(n, 0x391, NAIVE_SET, status, loose);
		add(n, 0x392, NAIVE_INUSE, 0, 0);
	}
	/* bits 5:2 and 63:16 have no meaning, except BLD (2), which only Goldmont and newer small cores have */
	add(n, 0x1d9, NAIVE_PLAIN, BIT(12), LOW(16) & ~UINT64_C(0x38));
}

static void init_netburst(struct naive *n)
{
	static const uint8_t from[][2] = { { 0xa0, 0xb9 }, { 0xba, 0xbb }, { 0xbc, 0xbe }, { 0xc0, 0xc5 },
		{ 0xc8, 0xcd }, { 0xe0, 0xe1 } };
	for (unsigned i = 0; i < 18; i++) {
		uint64_t valid = LOW(28) & ~LOW(12);
		valid |= BIT(30) | BIT(31);
		if (i == 12 || i >= 15)
			valid |= BIT(11);	/* extended cascade: IQ_CCCR0, 3, 4, 5 */
		add_counter(n, 0x300 + i, NAIVE_WIDE, i, ~UINT64_C(0));
		add(n, 0x360 + i, NAIVE_PLAIN, valid, 0);
	}
	for (unsigned k = 0; k < sizeof from / sizeof *from; k++)
		for (uint32_t a = from[k][0]; a <= from[k][1]; a++)
			if (k != 1 || n->m->model < 3)		/* IQ_ESCR0 and 1 */
				add(n, 0x300 + a, NAIVE_PLAIN, LOW(31), 0);
}

void naive_init(struct naive *n, const struct spmu_model *m, const struct spmu_host *host)
{
	memset(n, 0, sizeof *n);
	n->m = m;
	n->hw_thread = host->hw_thread;
	n->lvt = 0x10000;
	switch (spmu_model_family(m)) {
	case SPMU_FAMILY_P5:
		n->gp = 2;
		add(n, 0x11, NAIVE_PLAIN, 0x03ff03ff, ~UINT64_C(0));
		add_counter(n, 0x12, NAIVE_WIDE, 0, ~UINT64_C(0));
		add_counter(n, 0x13, NAIVE_WIDE, 1, ~UINT64_C(0));
		break;
	case SPMU_FAMILY_P6:
		n->gp = 2;
		for (unsigned i = 0; i < 2; i++) {
			add(n, 0x186 + i, NAIVE_PLAIN, LOW(32) & ~BIT(21) & ~(i ? BIT(22) : 0), ~BIT(21));
			add_counter(n, 0xc1 + i, NAIVE_NARROW, i, 0);
		}
		break;
	case SPMU_FAMILY_NETBURST:
		n->gp = 18;
		init_netburst(n);
		break;
	default:
		n->version = m->cpuid[0] & 0xff;
		n->gp = m->cpuid[0] >> 8 & 0xff;
		n->fixed = n->version >= 2 ? m->cpuid[3] & 31 : 0;
		if (m->features & PMU_FEATURE_SPLIT && host->siblings > 1)
			n->gp /= 2;
		init_arch(n);
	}
}

uint64_t naive_width(const struct naive *n, unsigned counter)
{
	if (!arch(n))
		return LOW(40);
	return counter < FIXED ? LOW(n->m->cpuid[0] >> 16 & 0xff) : LOW(n->m->cpuid[3] >> 5 & 0xff);
}

struct naive_msr *naive_find(const struct naive *n, uint32_t address)
{
	for (unsigned i = 0; i < n->msrs; i++)
		if (n->msr[i].address == address)
			return (struct naive_msr *)&n->msr[i];
	return NULL;
}

uint64_t naive_reg(const struct naive *n, uint32_t address)
{
	const struct naive_msr *r = naive_find(n, address);
	return r ? r->value : 0;
}

/* Registers of DS, PEBS and LBR, which this model does not have. */
static bool elsewhere(const struct naive *n, uint32_t a)
{
	static const uint32_t some[][2] = { { 0x40, 0x47 }, { 0x60, 0x67 }, { 0x1a0, 0x1a0 },
		{ 0x1a6, 0x1a7 }, { 0x1c8, 0x1c9 },
		{ 0x1d7, 0x1e2 }, { 0x329, 0x329 },
		{ 0x3f0, 0x3f7 }, { 0x600, 0x600 }, { 0x680, 0x6df }, { 0xdc0, 0xddf }, { 0x1200, 0x121f },
		{ 0x1309, 0x1318 }, { 0x14c1, 0x14cf },
		{ 0x1500, 0x161f } };
	if (spmu_model_family(n->m) == SPMU_FAMILY_P5)
		return false;
	for (unsigned i = 0; i < sizeof some / sizeof *some; i++)
		if (a >= some[i][0] && a <= some[i][1])
			return true;
	return false;
}

static int write(struct naive *n, uint32_t address, uint64_t value)
{
	struct naive_msr *r = naive_find(n, address);
	if (!r)
		return elsewhere(n, address) ? NAIVE_ANY : SPMU_ENOMSR;
	if (r->kind == NAIVE_READ_ONLY || r->kind == NAIVE_STATUS || r->kind == NAIVE_INUSE ||
		value & ~(r->valid | r->loose))
		return SPMU_GP;
	if (value & r->loose)
		return NAIVE_ANY;
	struct naive_counter *c = &n->counter[r->counter];
	switch (r->kind) {
	case NAIVE_NARROW:
		c->value = (uint64_t)(int64_t)(int32_t)(uint32_t)value & naive_width(n, r->counter);
		break;
	case NAIVE_WIDE:
		c->value = value;
		break;
	case NAIVE_CLEAR: n->status &= ~value; break;
	case NAIVE_SET: n->status |= value; break;
	default:
		r->value = value;
		if (spmu_model_family(n->m) == SPMU_FAMILY_NETBURST && address >= 0x360 && address < 0x372 &&
			!(value & BIT(31)))
			n->counter[address - 0x360].armed = false;
	}
	return SPMU_OK;
}

int naive_wrmsr(struct naive *n, uint32_t address, uint64_t value)
{
	int outcome = write(n, address, value);
	naive_changes(n);
	return outcome;
}

static uint64_t inuse(const struct naive *n)
{
	uint64_t v = 0, fixed = naive_reg(n, 0x38d);
	for (unsigned i = 0; i < n->gp; i++) {
		uint64_t e = naive_reg(n, 0x186 + i);
		v |= e & 0xff ? BIT(i) : 0;
		v |= e & BIT(20) ? BIT(63) : 0;
	}
	for (unsigned i = 0; i < n->fixed; i++) {
		v |= fixed >> 4 * i & 3 ? BIT(32 + i) : 0;
		v |= fixed >> 4 * i & 8 ? BIT(63) : 0;
	}
	return v;
}

int naive_rdmsr(const struct naive *n, uint32_t address, uint64_t *value)
{
	const struct naive_msr *r = naive_find(n, address);
	if (!r)
		return elsewhere(n, address) ? NAIVE_ANY : SPMU_ENOMSR;
	switch (r->kind) {
	case NAIVE_NARROW: case NAIVE_WIDE: *value = n->counter[r->counter].value; break;
	case NAIVE_STATUS: *value = n->status; break;
	case NAIVE_CLEAR: case NAIVE_SET: return NAIVE_ANY;
	case NAIVE_INUSE: *value = inuse(n); break;
	default: *value = r->value; break;
	}
	return SPMU_OK;
}

void naive_adopt(struct naive *n, uint32_t address, uint64_t value)
{
	struct naive_msr *r = naive_find(n, address);
	if (!r)
		return;
	if (r->kind == NAIVE_NARROW || r->kind == NAIVE_WIDE)
		n->counter[r->counter].value = value & naive_width(n, r->counter);
	else if (r->kind == NAIVE_PLAIN)
		r->value = value;
	else if (r->kind == NAIVE_STATUS)
		n->status = value;
	naive_changes(n);
}

int naive_rdpmc(const struct naive *n, uint32_t index, unsigned cpl, uint64_t *value)
{
	enum spmu_pmu_family family = spmu_model_family(n->m);
	if (family == SPMU_FAMILY_P5 && !(n->m->features & PMU_FEATURE_RDPMC))
		return SPMU_UD;
	if (cpl && !n->pce)
		return SPMU_GP;
	uint64_t mask = ~UINT64_C(0);
	if (family == SPMU_FAMILY_NETBURST && index & BIT(31)) {	/* fast */
		mask = LOW(32);
		index &= ~BIT(31);
	}
	if (arch(n) && index & BIT(30) && n->fixed) {
		index &= ~BIT(30);
		if (index >= n->fixed)
			return SPMU_GP;
		index += FIXED;
	} else if (arch(n) && index == BIT(29) && spmu_model_capabilities(n->m) & BIT(15)) {
		return NAIVE_ANY;
	} else if (index >= n->gp) {
		return SPMU_GP;
	}
	*value = n->counter[index].value & mask;
	return SPMU_OK;
}

/* Vector, delivery mode and mask can be written; the rest reads 0. */
int naive_apic_write(struct naive *n, uint32_t offset, uint32_t value)
{
	if (offset != 0x340 || spmu_model_family(n->m) == SPMU_FAMILY_P5)
		return SPMU_ENOMSR;
	n->lvt = value & 0x107ff;
	return SPMU_OK;
}

int naive_apic_read(const struct naive *n, uint32_t offset, uint32_t *value)
{
	if (offset != 0x340 || spmu_model_family(n->m) == SPMU_FAMILY_P5)
		return SPMU_ENOMSR;
	*value = n->lvt;
	return SPMU_OK;
}
