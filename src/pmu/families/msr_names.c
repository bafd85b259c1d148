/* SPDX-License-Identifier: BSD-2-Clause
 * The registers of the PMUs by name: spmu_msr_list, spmu_msr_at, spmu_msr_find, spmu_msr_fields.
 *
 * Source of names and addresses: SDM vol. 4 (MSRs of each generation), vol. 3B, chapter "Performance
 * Monitoring"; MSR_RELOAD_x: Linux, arch/x86/include/asm/msr-index.h.  Where manuals have two names for an
 * address, the generation's own comes first; the other one is found, too.
 *
 * This file knows names only.  Whether a PMU has a register is decided by regs_*.c; test_msr_names compares the two.
 * Left out: MSRs that the PMU does not have (other features' registers), and uncore PMUs.
 */
#include "msr.h"
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

struct row {
	uint32_t first, count;		/* number of addresses; 0: as many as there are counters (each) */
	const char *name, *alias;	/* with %u if there are several */
	const char *help;
	const struct msr_layout *layout;
	uint8_t when, each;
};

#define LBR_FORMAT(m) ((m)->capabilities & 0x3f)

/* The LBR style, as pmu_ds_reset chooses it. */
static enum pmu_lbr_style style(const struct spmu_model *m)
{
	static const uint8_t by_format[] = { LBR_CORE2, LBR_BONNELL, LBR_CORE2, LBR_NEHALEM, LBR_HASWELL, LBR_SKYLAKE };
	if (m->family != &pmu_arch)
		return LBR_NONE;
	if (m->version < 2)
		return LBR_YONAH;
	return LBR_FORMAT(m) < sizeof by_format ? by_format[LBR_FORMAT(m)]
		: LBR_FORMAT(m) == 0x3f ? LBR_ARCH
		: LBR_NONE;
}

static int pebs_format(const struct spmu_model *m)
{
	return m->family == &pmu_arch && m->version >= 2 ? (int)(m->capabilities >> 8 & 15) : -1;
}

static bool capable(const struct spmu_model *m, unsigned bit)
{
	return m->capabilities >> bit & 1;
}

static bool extended_cascade(const struct spmu_model *m, uint32_t msr)
{
	static const uint32_t cccrs[] = { MSR_IQ_CCCR0, MSR_IQ_CCCR0 + 3, MSR_IQ_CCCR4, MSR_IQ_CCCR4 + 1 };
	for (unsigned i = 0; i < 4; i++)
		if (cccrs[i] == msr)
			return m->model == 2 || m->model == 3 || m->model == 4 || m->model == 6;
	return false;
}

/* The place of the layout of MSR_OFFCORE_RSP_x among the generations; 0: the PMU lacks the registers. */
enum { NEHALEM = 1, SANDY_BRIDGE, HASWELL, BROADWELL, SKYLAKE, ICE_LAKE, GOLDEN_COVE };
static int offcore_generation(const struct spmu_model *m)
{
	static const char *const names[] = { "nehalem", "sandy-bridge", "haswell", "broadwell", "skylake", "ice-lake",
		"golden-cove" };
	for (unsigned i = 0; i < sizeof names / sizeof *names; i++)
		if (!strcmp(pmu_offcore_name(m->offcore), names[i]))
			return (int)i + 1;
	return 0;
}

static bool offcore_holds(const struct spmu_model *m, enum msr_when when)
{
	const int generation = offcore_generation(m);
	switch (when) {
	case OFFCORE: return generation != 0;
	case OFFCORE_TWO: return pmu_offcore_registers(m->offcore) == 2;
	case OFFCORE_NEHALEM: return generation == NEHALEM;
	case OFFCORE_LATER: return generation > NEHALEM;
	case OFFCORE_TO_BROADWELL: return generation > NEHALEM && generation <= BROADWELL;
	case OFFCORE_TO_HASWELL: return generation > NEHALEM && generation <= HASWELL;
	case OFFCORE_FROM_HASWELL: return generation >= HASWELL;
	case OFFCORE_HASWELL: return generation == HASWELL;
	case OFFCORE_FROM_BROADWELL: return generation >= BROADWELL;
	case OFFCORE_BROADWELL: return generation == BROADWELL;
	case OFFCORE_SKYLAKE: return generation == SKYLAKE;
	case OFFCORE_ICE_LAKE: return generation == ICE_LAKE;
	case OFFCORE_FROM_ICE_LAKE: return generation >= ICE_LAKE;
	case OFFCORE_GOLDEN_COVE: return generation == GOLDEN_COVE;
	default: return false;
	}
}

static bool holds(const struct spmu_model *m, enum msr_when when, uint32_t msr)
{
	int format = pebs_format(m);
	enum pmu_lbr_style lbr = style(m);
	switch (when) {
	case ALWAYS: return true;
	case FROM_V2: return m->version >= 2;
	case FROM_V3: return m->version >= 3;
	case FROM_V4: return m->version >= 4;
	case V2_OR_V3: return m->version == 2 || m->version == 3;
	case FULL_WIDTH: return capable(m, 13);
	case METRICS: return capable(m, 15);
	case ADAPTIVE: return capable(m, 14);
	case IN_TX: return m->features & PMU_FEATURE_IN_TX;
	case IN_TXCP: return m->features & PMU_FEATURE_IN_TX && msr == MSR_IA32_PERFEVTSEL0 + 2;
	case ANY_THREAD: return m->any_thread;
	case HAS_CAPABILITIES: return m->capabilities != 0;
	case PEBS_ANY: return format >= 0;
	case PEBS_0: return format == 0;
	case PEBS_1_TO_3: return format >= 1 && format <= 3;
	case PEBS_FROM_1: return format >= 1;
	case PEBS_FROM_3: return format >= 3;
	case PEBS_FROM_4: return format >= 4;
	case PEBS_STORES: return format == 1 && capable(m, 13);
	case PEBS_OUTPUT: return format >= 4 && capable(m, 16);
	case OFFCORE ... OFFCORE_GOLDEN_COVE: return offcore_holds(m, when);
	case TWO_THREADS: return m->threads > 1;
	case ONE_THREAD: return m->threads <= 1;
	case NOT_LATER_THAN_2: return m->model <= 2;
	case FROM_MODEL_3: return m->model >= 3;
	case CASCADES_EXTENDED: return extended_cascade(m, msr);
	case STYLE_YONAH: return lbr == LBR_YONAH;
	case STYLE_CORE2: return lbr == LBR_CORE2;
	case STYLE_BONNELL: return lbr == LBR_BONNELL;
	case STYLE_NEHALEM: return lbr == LBR_NEHALEM;
	case STYLE_HASWELL: return lbr == LBR_HASWELL;
	case STYLE_680: return lbr == LBR_NEHALEM || lbr == LBR_HASWELL;
	case STYLE_SELECT: return lbr == LBR_NEHALEM || lbr == LBR_HASWELL || lbr == LBR_SKYLAKE;
	case STYLE_CALL_STACK: return lbr == LBR_HASWELL || lbr == LBR_SKYLAKE;
	case STYLE_SKYLAKE: return lbr == LBR_SKYLAKE;
	case STYLE_ARCH: return lbr == LBR_ARCH;
	case STYLE_TOS: return lbr != LBR_NONE && lbr != LBR_ARCH;
	}
	return false;
}

static unsigned copies(const struct spmu_model *m, enum msr_each each)
{
	switch (each) {
	case EACH_GP: return m->gp;
	case EACH_FIXED: return m->fixed;
	case EACH_4: return m->gp < 4 ? m->gp : 4;
	case EACH_8: return m->gp < 8 ? m->gp : 8;
	default: return 1;
	}
}

/* ---- registers ------------------------------------------------------------------------------------------------ */

static const struct row p5[] = {
	{ 0x11, 1, "CESR", NULL, "control and event select of both counters", &msr_cesr, ALWAYS, 0 },
	{ 0x12, 2, "CTR%u", NULL, "counter, 40 bits; no interrupt", &msr_counter40, ALWAYS, 0 },
};

static const struct row p6[] = {
	{ 0xc1, 2, "PerfCtr%u", "PERFCTR%u", "counter, 40 bits; a write takes 32 bits and extends their sign",
		&msr_counter40, ALWAYS, 0 },
	{ 0x186, 1, "PerfEvtSel0", "EVNTSEL0", "event of counter 0, and the enable bit of both counters",
		&msr_p6_evtsel0, ALWAYS, 0 },
	{ 0x187, 1, "PerfEvtSel1", "EVNTSEL1", "event of counter 1", &msr_p6_evtsel1, ALWAYS, 0 },
	{ 0x1d9, 1, "DebugCtlMSR", "DEBUGCTL", "last branch recording, trace messages", &msr_p6_debugctl, ALWAYS, 0 },
	{ 0x1db, 1, "LastBranchFromIP", NULL, "address of the last taken branch", &msr_address, ALWAYS, 0 },
	{ 0x1dc, 1, "LastBranchToIP", NULL, "where it went", &msr_address, ALWAYS, 0 },
	{ 0x1dd, 1, "LastIntFromIP", "LastExceptionFromIP", "LastBranchFromIP as it was when the last interrupt came",
		&msr_address, ALWAYS, 0 },
	{ 0x1de, 1, "LastIntToIP", "LastExceptionToIP", "LastBranchToIP as it was when the last interrupt came",
		&msr_address, ALWAYS, 0 },
};

#define ESCR(address, unit, help) { address, 2, "MSR_" unit "_ESCR%u", NULL, help, &msr_escr, ALWAYS, 0 }
static const struct row netburst[] = {
	{ 0x1a0, 1, "IA32_MISC_ENABLE", NULL, "what the processor has: performance monitoring, BTS, PEBS",
		&msr_misc_enable, ALWAYS, 0 },
	{ 0x1d7, 1, "MSR_LER_FROM_LIP", NULL, "last branch before the last interrupt: from", &msr_address, ALWAYS, 0 },
	{ 0x1d8, 1, "MSR_LER_TO_LIP", NULL, "last branch before the last interrupt: to", &msr_address, ALWAYS, 0 },
	{ 0x1d9, 1, "MSR_DEBUGCTLA", "IA32_DEBUGCTL", "last branch recording, branch trace store", &msr_p4_debugctl,
		ALWAYS, 0 },
	{ 0x1da, 1, "MSR_LASTBRANCH_TOS", NULL, "top of the LBR stack", &msr_tos, ALWAYS, 0 },
	{ 0x1db, 4, "MSR_LASTBRANCH_%u", NULL, "LBR stack: from and to", &msr_pair, NOT_LATER_THAN_2, 0 },
	{ 0x300, 4, "MSR_BPU_COUNTER%u", NULL, "counter, 40 bits, of the BPU block", &msr_counter40, ALWAYS, 0 },
	{ 0x304, 4, "MSR_MS_COUNTER%u", NULL, "counter, 40 bits, of the MS block", &msr_counter40, ALWAYS, 0 },
	{ 0x308, 4, "MSR_FLAME_COUNTER%u", NULL, "counter, 40 bits, of the FLAME block", &msr_counter40, ALWAYS, 0 },
	{ 0x30c, 6, "MSR_IQ_COUNTER%u", NULL, "counter, 40 bits, of the IQ block; 4 and 5: PEBS", &msr_counter40,
		ALWAYS, 0 },
	{ 0x360, 4, "MSR_BPU_CCCR%u", NULL, "configuration of MSR_BPU_COUNTER%u", &msr_cccr, ALWAYS, 0 },
	{ 0x364, 4, "MSR_MS_CCCR%u", NULL, "configuration of MSR_MS_COUNTER%u", &msr_cccr, ALWAYS, 0 },
	{ 0x368, 4, "MSR_FLAME_CCCR%u", NULL, "configuration of MSR_FLAME_COUNTER%u", &msr_cccr, ALWAYS, 0 },
	{ 0x36c, 6, "MSR_IQ_CCCR%u", NULL, "configuration of MSR_IQ_COUNTER%u", &msr_cccr, ALWAYS, 0 },
	ESCR(0x3a0, "BSU", "event detector: bus sequence unit"),
	ESCR(0x3a2, "FSB", "event detector: front-side bus"),
	ESCR(0x3a4, "FIRM", "event detector: SSE and x87 uops"),
	ESCR(0x3a6, "FLAME", "event detector: moves and x87"),
	ESCR(0x3a8, "DAC", "event detector: data access"),
	ESCR(0x3aa, "MOB", "event detector: memory order buffer"),
	ESCR(0x3ac, "PMH", "event detector: page miss handler"),
	ESCR(0x3ae, "SAAT", "event detector: load and store ports"),
	ESCR(0x3b0, "U2L", "event detector: microcode to linear"),
	ESCR(0x3b2, "BPU", "event detector: branch prediction unit"),
	ESCR(0x3b4, "IS", "event detector: instruction steering"),
	ESCR(0x3b6, "ITLB", "event detector: instruction TLB"),
	ESCR(0x3b8, "CRU", "event detector: retirement, instructions and uops"),
	{ 0x3ba, 2, "MSR_IQ_ESCR%u", NULL, "event detector: instruction queue; models 0 to 2", &msr_escr,
		NOT_LATER_THAN_2, 0 },
	ESCR(0x3bc, "RAT", "event detector: register allocation, uop types"),
	{ 0x3be, 1, "MSR_SSU_ESCR0", NULL, "event detector: SSU", &msr_escr, ALWAYS, 0 },
	ESCR(0x3c0, "MS", "event detector: microcode store"),
	ESCR(0x3c2, "TBPU", "event detector: branches by type"),
	ESCR(0x3c4, "TC", "event detector: trace cache"),
	ESCR(0x3c8, "IX", "event detector: instruction translation"),
	ESCR(0x3ca, "ALF", "event detector: allocation"),
	{ 0x3cc, 1, "MSR_CRU_ESCR2", NULL, "event detector: retirement, branches and tagged uops", &msr_escr, ALWAYS,
		0 },
	{ 0x3cd, 1, "MSR_CRU_ESCR3", NULL, "event detector: retirement, branches and tagged uops", &msr_escr, ALWAYS,
		0 },
	{ 0x3e0, 1, "MSR_CRU_ESCR4", NULL, "event detector: retirement", &msr_escr, ALWAYS, 0 },
	{ 0x3e1, 1, "MSR_CRU_ESCR5", NULL, "event detector: retirement", &msr_escr, ALWAYS, 0 },
	{ 0x3f0, 1, "MSR_TC_PRECISE_EVENT", NULL, "front-end tagging", &msr_precise, ALWAYS, 0 },
	{ 0x3f1, 1, "MSR_PEBS_ENABLE", NULL, "PEBS, and tagging of replayed uops: why replayed", &msr_p4_pebs_enable,
		ALWAYS, 0 },
	{ 0x3f2, 1, "MSR_PEBS_MATRIX_VERT", NULL, "tagging of replayed uops: which", &msr_p4_matrix, ALWAYS, 0 },
	{ 0x600, 1, "IA32_DS_AREA", NULL, "where the debug store area lies", &msr_address, ALWAYS, 0 },
	{ 0x680, 16, "MSR_LASTBRANCH_%u_FROM_LIP", "MSR_LASTBRANCH_%u_FROM_IP", "LBR stack: from", &msr_address,
		FROM_MODEL_3, 0 },
	{ 0x6c0, 16, "MSR_LASTBRANCH_%u_TO_LIP", "MSR_LASTBRANCH_%u_TO_IP", "LBR stack: to", &msr_address, FROM_MODEL_3,
		0 },
};

static const struct row arch[] = {
	{ 0x40, 8, "MSR_LASTBRANCH_%u", NULL, "LBR stack: from and to", &msr_pair, STYLE_YONAH, 0 },
	{ 0x40, 4, "MSR_LASTBRANCH_%u_FROM_IP", NULL, "LBR stack: from", &msr_address, STYLE_CORE2, 0 },
	{ 0x40, 8, "MSR_LASTBRANCH_%u_FROM_IP", NULL, "LBR stack: from", &msr_address, STYLE_BONNELL, 0 },
	{ 0x60, 4, "MSR_LASTBRANCH_%u_TO_IP", NULL, "LBR stack: to", &msr_address, STYLE_CORE2, 0 },
	{ 0x60, 8, "MSR_LASTBRANCH_%u_TO_IP", NULL, "LBR stack: to", &msr_address, STYLE_BONNELL, 0 },
	{ 0xc1, 0, "IA32_PMC%u", "PERFCTR%u", "general-purpose counter; a write takes 32 bits and extends their sign",
		&msr_gp_counter, ALWAYS, EACH_GP },
	{ 0x186, 0, "IA32_PERFEVTSEL%u", NULL, "event of IA32_PMC%u", &msr_evtsel, ALWAYS, EACH_GP },
	{ 0x1a0, 1, "IA32_MISC_ENABLE", NULL, "what the processor has: performance monitoring, BTS, PEBS",
		&msr_misc_enable, ALWAYS, 0 },
	{ 0x1a6, 1, "MSR_OFFCORE_RSP_0", NULL, "requests and answers that OFFCORE_RESPONSE_0 counts", &msr_offcore,
		OFFCORE, 0 },
	{ 0x1a7, 1, "MSR_OFFCORE_RSP_1", NULL, "requests and answers that OFFCORE_RESPONSE_1 counts", &msr_offcore,
		OFFCORE_TWO, 0 },
	{ 0x1c8, 1, "MSR_LBR_SELECT", NULL, "which branches stay out of the LBR stack", &msr_select, STYLE_SELECT, 0 },
	{ 0x1c9, 1, "MSR_LASTBRANCH_TOS", NULL, "top of the LBR stack", &msr_tos, STYLE_TOS, 0 },
	{ 0x1d9, 1, "IA32_DEBUGCTL", "MSR_DEBUGCTLB", "last branch recording, branch trace store, freezing",
		&msr_debugctl, ALWAYS, 0 },
	{ 0x1dd, 1, "MSR_LER_FROM_LIP", "MSR_LER_FROM_IP", "last branch before the last interrupt: from", &msr_address,
		STYLE_TOS, 0 },
	{ 0x1dd, 1, "IA32_LER_FROM_IP", "MSR_LER_FROM_LIP", "last branch before the last interrupt: from", &msr_address,
		STYLE_ARCH, 0 },
	{ 0x1de, 1, "MSR_LER_TO_LIP", "MSR_LER_TO_IP", "last branch before the last interrupt: to", &msr_address,
		STYLE_TOS, 0 },
	{ 0x1de, 1, "IA32_LER_TO_IP", "MSR_LER_TO_LIP", "last branch before the last interrupt: to", &msr_address,
		STYLE_ARCH, 0 },
	{ 0x1e0, 1, "IA32_LER_INFO", NULL, "last branch before the last interrupt: flags, cycles, kind", &msr_info,
		STYLE_ARCH, 0 },
	{ 0x309, 0, "IA32_FIXED_CTR%u", "MSR_PERF_FIXED_CTR%u",
		"fixed counter: 0 instructions, 1 cycles, 2 reference cycles, 3 slots", &msr_fixed_counter, ALWAYS,
		EACH_FIXED },
	{ 0x329, 1, "MSR_PERF_METRICS", NULL, "where the issue slots of fixed counter 3 went", &msr_metrics, METRICS,
		0 },
	{ 0x345, 1, "IA32_PERF_CAPABILITIES", NULL, "what PEBS and LBR can do; read-only", &msr_capabilities,
		HAS_CAPABILITIES, 0 },
	{ 0x38d, 1, "IA32_FIXED_CTR_CTRL", "MSR_PERF_FIXED_CTR_CTRL", "rings and interrupts of the fixed counters",
		&msr_fixed_ctrl, FROM_V2, 0 },
	{ 0x38e, 1, "IA32_PERF_GLOBAL_STATUS", "MSR_PERF_GLOBAL_STATUS", "overflows; read-only", &msr_global_status,
		FROM_V2, 0 },
	{ 0x38f, 1, "IA32_PERF_GLOBAL_CTRL", "MSR_PERF_GLOBAL_CTRL", "which counters count", &msr_global_ctrl, FROM_V2,
		0 },
	{ 0x390, 1, "IA32_PERF_GLOBAL_OVF_CTRL", "MSR_PERF_GLOBAL_OVF_CTRL", "clears bits of IA32_PERF_GLOBAL_STATUS",
		&msr_global_clear, V2_OR_V3, 0 },
	{ 0x390, 1, "IA32_PERF_GLOBAL_STATUS_RESET", "IA32_PERF_GLOBAL_OVF_CTRL",
		"clears bits of IA32_PERF_GLOBAL_STATUS", &msr_global_clear, FROM_V4, 0 },
	{ 0x391, 1, "IA32_PERF_GLOBAL_STATUS_SET", NULL, "sets bits of IA32_PERF_GLOBAL_STATUS", &msr_global_set,
		FROM_V4, 0 },
	{ 0x392, 1, "IA32_PERF_GLOBAL_INUSE", NULL, "which counters are in use; read-only", &msr_inuse, FROM_V4, 0 },
	{ 0x3f1, 1, "IA32_PEBS_ENABLE", "MSR_PEBS_ENABLE", "which counters make PEBS records", &msr_pebs_enable,
		PEBS_ANY, 0 },
	{ 0x3f2, 1, "MSR_PEBS_DATA_CFG", NULL, "groups of an adaptive PEBS record", &msr_data_cfg, PEBS_FROM_4, 0 },
	{ 0x3f6, 1, "MSR_PEBS_LD_LAT_THRESHOLD", "MSR_PEBS_LD_LAT", "latency from which a load counts", &msr_ld_lat,
		PEBS_FROM_1, 0 },
	{ 0x3f7, 1, "MSR_PEBS_FRONTEND", NULL, "which front-end event FRONTEND_RETIRED counts", &msr_frontend,
		PEBS_FROM_3, 0 },
	{ 0x4c1, 0, "IA32_A_PMC%u", NULL, "IA32_PMC%u, written in its full width", &msr_gp_counter, FULL_WIDTH,
		EACH_GP },
	{ 0x600, 1, "IA32_DS_AREA", NULL, "where the debug store area lies", &msr_address, ALWAYS, 0 },
	{ 0x680, 16, "MSR_LASTBRANCH_%u_FROM_IP", NULL, "LBR stack: from", &msr_from, STYLE_680, 0 },
	{ 0x680, 32, "MSR_LASTBRANCH_%u_FROM_IP", NULL, "LBR stack: from", &msr_from, STYLE_SKYLAKE, 0 },
	{ 0x6c0, 16, "MSR_LASTBRANCH_%u_TO_IP", NULL, "LBR stack: to", &msr_address, STYLE_680, 0 },
	{ 0x6c0, 32, "MSR_LASTBRANCH_%u_TO_IP", NULL, "LBR stack: to", &msr_address, STYLE_SKYLAKE, 0 },
	{ 0xdc0, 32, "MSR_LBR_INFO_%u", NULL, "LBR stack: flags and cycles", &msr_info, STYLE_SKYLAKE, 0 },
	{ 0x1200, 32, "IA32_LBR_%u_INFO", NULL, "LBR stack: flags, cycles, kind", &msr_info, STYLE_ARCH, 0 },
	{ 0x1309, 0, "MSR_RELOAD_FIXED_CTR%u", NULL, "reload value of fixed counter %u for PEBS", &msr_fixed_reload,
		PEBS_FROM_4, EACH_FIXED },
	{ 0x14c1, 0, "MSR_RELOAD_PMC%u", NULL, "reload value of counter %u for PEBS", &msr_reload, PEBS_FROM_4,
		EACH_GP },
	{ 0x14ce, 1, "IA32_LBR_CTL", NULL, "which branches go into the LBR stack", &msr_lbr_ctl, STYLE_ARCH, 0 },
	{ 0x14cf, 1, "IA32_LBR_DEPTH", NULL, "how deep the LBR stack is", &msr_depth, STYLE_ARCH, 0 },
	{ 0x1500, 32, "IA32_LBR_%u_FROM_IP", NULL, "LBR stack: from", &msr_address, STYLE_ARCH, 0 },
	{ 0x1600, 32, "IA32_LBR_%u_TO_IP", NULL, "LBR stack: to", &msr_address, STYLE_ARCH, 0 },
};

static const struct row lvt = { SPMU_APIC_LVT_PC, 1, "LVT_PC", "LVT_PMI", "local APIC: how a PMI is delivered",
	&msr_lvt, ALWAYS, 0 };

#define UNIT(n) \
	{ MSR_PUSHOUT(n, CONTROL), 1, "PUSHOUT" #n "_CONTROL", NULL, \
		"pushout counter " #n ": what is measured, and whether it counts", &msr_pushout_control, ALWAYS, 0 }, \
		{ MSR_PUSHOUT(n, LOAD), 1, "PUSHOUT" #n "_LOAD", NULL, \
			"pushout counter " #n ": the threshold, as its register is loaded", &msr_pushout_load, ALWAYS, \
			0 }, \
		{ MSR_PUSHOUT(n, COUNT), 1, "PUSHOUT" #n "_COUNT", NULL, \
			"pushout counter " #n ": slots that reached the threshold", &msr_pushout_count, ALWAYS, 0 }, \
		{ MSR_PUSHOUT(n, STORED), 1, "PUSHOUT" #n "_STORED", NULL, \
			"pushout counter " #n ": an exact pushout, frozen until it is read; read-only", \
			&msr_pushout_stored, ALWAYS, 0 }, \
		{ MSR_PUSHOUT(n, STORED_IP), 1, "PUSHOUT" #n "_STORED_IP", NULL, \
			"pushout counter " #n ": whose pushout that is; read-only", &msr_address, ALWAYS, 0 }, \
		{ MSR_PUSHOUT(n, ALL_IS), 1, "PUSHOUT" #n "_ALL_IS", NULL, \
			"pushout counter " #n ": a slot is tagged only if it is all of these", &msr_pushout_is, \
			ALWAYS, 0 }, \
		{ MSR_PUSHOUT(n, ALL_DID), 1, "PUSHOUT" #n "_ALL_DID", NULL, \
			"pushout counter " #n ": a slot is tagged only if it had all of these events", \
			&msr_pushout_did, ALWAYS, 0 }, \
		{ MSR_PUSHOUT(n, ANY_IS), 1, "PUSHOUT" #n "_ANY_IS", NULL, \
			"pushout counter " #n ": with ANY_DID: tagged slots are or had at least one of these", \
			&msr_pushout_is, ALWAYS, 0 }, \
		{ MSR_PUSHOUT(n, ANY_DID), 1, "PUSHOUT" #n "_ANY_DID", NULL, \
			"pushout counter " #n ": with ANY_IS: tagged slots are or had at least one of these", \
			&msr_pushout_did, ALWAYS, 0 }, \
		{ MSR_PUSHOUT(n, NONE_IS), 1, "PUSHOUT" #n "_NONE_IS", NULL, \
			"pushout counter " #n ": no tagged slot is any of these", &msr_pushout_is, ALWAYS, 0 }, \
	{ \
		MSR_PUSHOUT(n, NONE_DID), 1, "PUSHOUT" #n "_NONE_DID", NULL, \
			"pushout counter " #n ": no tagged slot had any of these events", &msr_pushout_did, ALWAYS, 0 \
	}
#define IQ_THREADS(n) \
	{ MSR_THREADS(n), 1, "MSR_THREADS" #n, NULL, \
		"more than two hardware threads: whom counter " #n " counts, and PEBS", &msr_iq_threads, \
		TWO_THREADS, 0 }
/* Registers of this model alone, if the host has them. */
static const struct row pushout[] = {
	{ MSR_PUSHOUT_CAPABILITIES, 1, "PUSHOUT_CAPABILITIES", NULL,
		"pushout counters: how many, and how wide the core is; read-only", &msr_pushout_capabilities, ALWAYS,
		0 },
	{ MSR_PUSHOUT_STATUS, 1, "PUSHOUT_STATUS", NULL, "pushout counters: which overflowed", &msr_pushout_status,
		ALWAYS, 0 },
	UNIT(0), UNIT(1), UNIT(2), UNIT(3),
	{ MSR_THREADS_CAPABILITIES, 1, "MSR_THREADS_CAPABILITIES", NULL,
		"more than two hardware threads: how many; read-only", &msr_threads_capabilities, TWO_THREADS, 0 },
	{ MSR_THREADS_0, 12, "MSR_THREADS%u", NULL, "more than two hardware threads: whom counter %u counts",
		&msr_threads, TWO_THREADS, 0 },
	IQ_THREADS(12), IQ_THREADS(13), IQ_THREADS(14), IQ_THREADS(15), IQ_THREADS(16), IQ_THREADS(17),
};
_Static_assert(SPMU_PUSHOUT_UNITS == 4, "a row for each register of each unit");

struct table { const struct row *row; size_t rows; };
enum { TABLES = 2 };

/* The tables: the family's, and the one that all families have. */
static struct table table_of(const struct spmu_model *m, unsigned which)
{
#define TABLE(t) (struct table){ t, sizeof t / sizeof *t }
	return which ? TABLE(pushout)
		: m->family == &pmu_p5 ? TABLE(p5)
		: m->family == &pmu_p6 ? TABLE(p6)
		: m->family == &pmu_netburst ? TABLE(netburst)
		: TABLE(arch);
#undef TABLE
}

/* Number of addresses of a row; 0: this model does not have it. */
static unsigned length(const struct spmu_model *m, const struct row *r)
{
	return !holds(m, r->when, 0) ? 0 : r->count ? r->count : copies(m, r->each);
}

/* `format` with its %u, if it has one, replaced by n. */
static void numbered(char *out, size_t bytes, const char *format, unsigned n)
{
	const char *at = strstr(format, "%u");
	if (at)
		snprintf(out, bytes, "%.*s%u%s", (int)(at - format), format, n, at + 2);
	else
		snprintf(out, bytes, "%s", format);
}

static void fill(struct spmu_msr *out, const struct row *r, unsigned n)
{
	out->address = r->first + n;
	out->apic = r == &lvt;
	numbered(out->name, sizeof out->name, r->name, n);
	numbered(out->help, sizeof out->help, r->help, n);
}

size_t spmu_msr_list(const struct spmu_model *m, struct spmu_msr *out, size_t room)
{
	size_t n = 0;
	for (unsigned which = 0; which < TABLES; which++) {
		struct table t = table_of(m, which);
		for (size_t i = 0; i < t.rows; i++)
			for (unsigned k = 0; k < length(m, &t.row[i]); k++, n++)
				if (n < room)
					fill(&out[n], &t.row[i], k);
	}
	if (m->family->lvt) {
		if (n < room)
			fill(&out[n], &lvt, 0);
		n++;
	}
	return n;
}

static const struct row *row_at(const struct spmu_model *m, uint32_t msr)
{
	for (unsigned which = 0; which < TABLES; which++) {
		struct table t = table_of(m, which);
		for (size_t i = 0; i < t.rows; i++)
			if (msr - t.row[i].first < length(m, &t.row[i]))
				return &t.row[i];
	}
	return NULL;
}

bool spmu_msr_at(const struct spmu_model *m, uint32_t msr, struct spmu_msr *out)
{
	const struct row *r = row_at(m, msr);
	if (r)
		fill(out, r, msr - r->first);
	return r != NULL;
}

static const char *bare(const char *name)
{
	if (!strncasecmp(name, "MSR_", 4))
		name += 4;
	if (!strncasecmp(name, "IA32_", 5))
		name += 5;
	return name;
}

/* Is this the name of the row's n-th register? */
static bool is_called(const struct row *r, unsigned n, const char *text)
{
	char name[64];
	for (unsigned k = 0; k < 2; k++) {
		const char *format = k ? r->alias : r->name;
		if (!format)
			continue;
		numbered(name, sizeof name, format, n);
		if (!strcasecmp(bare(name), bare(text)))
			return true;
	}
	return false;
}

/* Reads 0x186, 186H or 390: the whole text must be a number that fits. */
static bool address_of(const char *text, uint32_t *out)
{
	char *end;
	size_t digits = strspn(text, "0123456789abcdefABCDEF");
	if (!isdigit((unsigned char)*text))
		return false;
	bool h = digits && (text[digits] == 'h' || text[digits] == 'H') && !text[digits + 1];
	unsigned long long v = strtoull(text, &end, h ? 16 : strncasecmp(text, "0x", 2) ? 10 : 16);
	if (end == text || (h ? end != text + digits : *end != 0) || v > UINT32_MAX)
		return false;
	*out = (uint32_t)v;
	return true;
}

bool spmu_msr_find(const struct spmu_model *m, const char *text, struct spmu_msr *out)
{
	uint32_t msr;
	if (address_of(text, &msr))
		return spmu_msr_at(m, msr, out);
	for (unsigned which = 0; which < TABLES; which++) {
		struct table t = table_of(m, which);
		for (size_t i = 0; i < t.rows; i++)
			for (unsigned n = 0; n < length(m, &t.row[i]); n++)
				if (is_called(&t.row[i], n, text)) {
					fill(out, &t.row[i], n);
					return true;
				}
	}
	if (m->family->lvt && is_called(&lvt, 0, text)) {
		fill(out, &lvt, 0);
		return true;
	}
	return false;
}

/* ---- fields --------------------------------------------------------------------------------------------------- */

static uint8_t last_bit(const struct spmu_model *m, const struct msr_bits *b)
{
	if (b->high == MSR_TO_WIDTH || b->high == MSR_TO_FIXED_WIDTH)
		return (uint8_t)(spmu_model_counter_bits(m, b->high == MSR_TO_FIXED_WIDTH) - 1);
	return b->high;
}

size_t spmu_msr_fields(const struct spmu_model *m, const struct spmu_msr *msr, struct spmu_field out[SPMU_FIELDS_MAX])
{
	const struct row *r = msr->apic ? &lvt : row_at(m, msr->address);
	size_t n = 0;
	for (size_t i = 0; r && i < r->layout->count; i++) {
		const struct msr_bits *b = &r->layout->bits[i];
		if (!holds(m, b->when, msr->address))
			continue;
		for (unsigned k = copies(m, b->each); k-- > 0 && n < SPMU_FIELDS_MAX;) {
			struct spmu_field *f = &out[n++];
			*f = (struct spmu_field){ .high = (uint8_t)(last_bit(m, b) + k * b->step),
				.low = (uint8_t)(b->low + k * b->step),
				.value = b->value, .values = b->values };
			numbered(f->name, sizeof f->name, b->name, k);
			numbered(f->help, sizeof f->help, b->help, k);
		}
	}
	/* several fields of each counter: order them by position */
	for (size_t i = 1; i < n; i++)
		for (size_t k = i; k > 0 && out[k].high > out[k - 1].high; k--) {
			struct spmu_field f = out[k];
			out[k] = out[k - 1];
			out[k - 1] = f;
		}
	return n;
}

const char *spmu_field_meaning(const struct spmu_field *f, uint64_t value)
{
	for (size_t i = 0; i < f->values; i++)
		if (f->value[i].value == value)
			return f->value[i].meaning;
	return NULL;
}
