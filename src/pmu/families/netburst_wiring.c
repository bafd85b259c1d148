/* SPDX-License-Identifier: BSD-2-Clause
 * NetBurst's wiring as data (netburst_pmu.h).
 *
 * Source: SDM vol. 3B (edition of June 2016), Table 18-63 "Performance Counter MSRs and Associated CCCR and
 * ESCR MSRs (Processors Based on Intel NetBurst Microarchitecture)"; sections "Cascading Counters" and
 * "Extended Cascading" with Table 18-65.
 * There are eighteen counters in four blocks.  The counters of a block have two sides, and every unit has one
 * ESCR for each.
 *
 * MSR_IQ_ESCR0 and 1 exist on models 0 to 2 only (note of the table).  Linux agrees: it clears 45 ESCRs there
 * and 43 from model 3 on.
 * Counter 17 cascades from 15: the manual gives counter 16's partner (14) and says "similar restrictions apply
 * to counter 17".
 */
#include "netburst_pmu.h"

enum { BPU, MS, FLAME, IQ };

static const struct { uint16_t msr; uint8_t block, side, select; } escrs[PMU_NETBURST_ESCRS] = {
	{ MSR_BSU_ESCR0, BPU, 0, 7 },     { MSR_BSU_ESCR1, BPU, 1, 7 },
	{ MSR_FSB_ESCR0, BPU, 0, 6 },     { MSR_FSB_ESCR1, BPU, 1, 6 },
	{ MSR_MOB_ESCR0, BPU, 0, 2 },     { MSR_MOB_ESCR1, BPU, 1, 2 },
	{ MSR_PMH_ESCR0, BPU, 0, 4 },     { MSR_PMH_ESCR1, BPU, 1, 4 },
	{ MSR_BPU_ESCR0, BPU, 0, 0 },     { MSR_BPU_ESCR1, BPU, 1, 0 },
	{ MSR_IS_ESCR0, BPU, 0, 1 },      { MSR_IS_ESCR1, BPU, 1, 1 },
	{ MSR_ITLB_ESCR0, BPU, 0, 3 },    { MSR_ITLB_ESCR1, BPU, 1, 3 },
	{ MSR_IX_ESCR0, BPU, 0, 5 },      { MSR_IX_ESCR1, BPU, 1, 5 },
	{ MSR_MS_ESCR0, MS, 0, 0 },       { MSR_MS_ESCR1, MS, 1, 0 },
	{ MSR_TC_ESCR0, MS, 0, 1 },       { MSR_TC_ESCR1, MS, 1, 1 },
	{ MSR_TBPU_ESCR0, MS, 0, 2 },     { MSR_TBPU_ESCR1, MS, 1, 2 },
	{ MSR_FLAME_ESCR0, FLAME, 0, 0 }, { MSR_FLAME_ESCR1, FLAME, 1, 0 },
	{ MSR_FIRM_ESCR0, FLAME, 0, 1 },  { MSR_FIRM_ESCR1, FLAME, 1, 1 },
	{ MSR_SAAT_ESCR0, FLAME, 0, 2 },  { MSR_SAAT_ESCR1, FLAME, 1, 2 },
	{ MSR_U2L_ESCR0, FLAME, 0, 3 },   { MSR_U2L_ESCR1, FLAME, 1, 3 },
	{ MSR_DAC_ESCR0, FLAME, 0, 5 },   { MSR_DAC_ESCR1, FLAME, 1, 5 },
	{ MSR_IQ_ESCR0, IQ, 0, 0 },       { MSR_IQ_ESCR1, IQ, 1, 0 },
	{ MSR_ALF_ESCR0, IQ, 0, 1 },      { MSR_ALF_ESCR1, IQ, 1, 1 },
	{ MSR_RAT_ESCR0, IQ, 0, 2 },      { MSR_RAT_ESCR1, IQ, 1, 2 },
	{ MSR_SSU_ESCR0, IQ, 0, 3 },
	{ MSR_CRU_ESCR0, IQ, 0, 4 },      { MSR_CRU_ESCR1, IQ, 1, 4 },
	{ MSR_CRU_ESCR2, IQ, 0, 5 },      { MSR_CRU_ESCR3, IQ, 1, 5 },
	{ MSR_CRU_ESCR4, IQ, 0, 6 },      { MSR_CRU_ESCR5, IQ, 1, 6 },
};

static const struct { uint32_t counters[2]; } blocks[] = {
	[BPU] = { { 1u << 0 | 1u << 1, 1u << 2 | 1u << 3 } },
	[MS] = { { 1u << 4 | 1u << 5, 1u << 6 | 1u << 7 } },
	[FLAME] = { { 1u << 8 | 1u << 9, 1u << 10 | 1u << 11 } },
	[IQ] = { { 1u << 12 | 1u << 13 | 1u << 16, 1u << 14 | 1u << 15 | 1u << 17 } },
};

static bool exists(const struct spmu_model *m, unsigned escr)
{
	return m->model < 3 || (escrs[escr].msr != MSR_IQ_ESCR0 && escrs[escr].msr != MSR_IQ_ESCR1);
}

int netburst_escr(const struct spmu_model *m, uint32_t msr)
{
	for (unsigned i = 0; i < PMU_NETBURST_ESCRS; i++)
		if (escrs[i].msr == msr)
			return exists(m, i) ? (int)i : -1;
	return -1;
}

uint32_t netburst_escr_msr(unsigned escr)
{
	return escrs[escr].msr;
}

int netburst_wired(const struct spmu_model *m, unsigned i, unsigned select)
{
	for (unsigned e = 0; e < PMU_NETBURST_ESCRS; e++)
		if (escrs[e].select == select && netburst_counters(e) >> i & 1)
			return exists(m, e) ? (int)e : -1;
	return -1;
}

int netburst_pair(const struct spmu_model *m, unsigned escr)
{
	return netburst_escr(m, escrs[escr].msr ^ 1u);
}

uint32_t netburst_counters(unsigned escr)
{
	return blocks[escrs[escr].block].counters[escrs[escr].side];
}

uint32_t netburst_block(unsigned escr)
{
	return blocks[escrs[escr].block].counters[0] | blocks[escrs[escr].block].counters[1];
}

int netburst_cascade(unsigned i)
{
	return i < 16 ? (int)(i ^ 2u) : i < PMU_NETBURST_COUNTERS ? (int)i - 2 : -1;
}

int netburst_extended_cascade(const struct spmu_model *m, unsigned i)
{
	if (m->model != 2 && m->model != 3 && m->model != 4 && m->model != 6)
		return -1;
	switch (i) {
	case 12: return 16;	/* MSR_IQ_CCCR0: CASCNT4INTO0 */
	case 15: return 17;	/* MSR_IQ_CCCR3: CASCNT5INTO3 */
	case 16: return 17;	/* MSR_IQ_CCCR4: CASCNT5INTO4 */
	case 17: return 16;	/* MSR_IQ_CCCR5: CASCNT4INTO5 */
	default: return -1;
	}
}

uint32_t spmu_netburst_escr(const struct spmu_model *m, unsigned n, unsigned select)
{
	int escr = m->family == &pmu_netburst ? netburst_wired(m, n, select) : -1;
	return escr < 0 ? 0 : escrs[escr].msr;
}
