/* SPDX-License-Identifier: BSD-2-Clause
 * Names and meanings of the fields of the PMU's registers, as data.
 *
 * Sources of names and positions: SDM vol. 3B, chapter "Performance Monitoring" (the figures of each register,
 * of every generation), chapter "Debug, Branch Profile, TSC..." (DEBUGCTL, LBR), chapter "Last Branch Records";
 * vol. 4; vol. 3A, "Local Vector Table"; for IA32_PERF_CAPABILITIES[16:14], bit 34 of PERFEVTSELx and
 * MSR_PEBS_DATA_CFG also Linux, arch/x86/events/perf_event.h and arch/x86/include/asm/perf_event.h.  The
 * descriptions are in our own words and say what this model does.
 *
 * A table goes from the highest bit to the lowest.  test_msr_names compares it with the registers: every bit
 * that a WRMSR can set must have a name.
 */
#include "msr.h"

#define LAYOUT(name, ...) static const struct msr_bits name##_bits[] = { __VA_ARGS__ }; \
	const struct msr_layout name = { name##_bits, sizeof name##_bits / sizeof *name##_bits }
#define F(high_bit, low_bit, title, text, ...) \
	{ \
		.high = high_bit, .low = low_bit, .name = title, .help = text, __VA_ARGS__ \
	}
#define VALUES(list) .value = list, .values = sizeof list / sizeof *list
typedef struct spmu_field_value value;

/* ---- counters ------------------------------------------------------------------------------------------------- */

LAYOUT(msr_gp_counter, F(MSR_TO_WIDTH, 0, "COUNT", "events so far; overflow is the step from all ones to 0"));
LAYOUT(msr_fixed_counter, F(MSR_TO_FIXED_WIDTH, 0, "COUNT", "events so far; overflow is the step from all ones to 0"));
LAYOUT(msr_counter40, F(39, 0, "COUNT", "events so far; overflow is the step from all ones to 0"));
LAYOUT(msr_reload, F(MSR_TO_WIDTH, 0, "RELOAD", "loaded into the counter after its PEBS record is written"));
LAYOUT(msr_fixed_reload,
	F(MSR_TO_FIXED_WIDTH, 0, "RELOAD", "loaded into the counter after its PEBS record is written"));

/* ---- event selects -------------------------------------------------------------------------------------------- */

#define EVTSEL_CMASK F(31, 24, "CMASK", "not 0: count 1 for each cycle with at least this many events"), \
	F(23, 23, "INV", "invert the comparison of CMASK: count cycles with fewer events")
#define EVTSEL_EN F(22, 22, "EN", "the counter counts (from version 2 on: if IA32_PERF_GLOBAL_CTRL enables it, too)")
#define EVTSEL_LOW F(20, 20, "INT", "interrupt through the local APIC's performance entry on overflow"), \
	F(19, 19, "PC", "pin control; no pin is modelled: the bit has no effect"), \
	F(18, 18, "E", "edge detect: count the cycles in which the condition becomes true"), \
	F(17, 17, "OS", "count at privilege level 0"), \
	F(16, 16, "USR", "count at privilege levels 1, 2 and 3"), \
	F(15, 8, "UMASK", "unit mask: which variants of the selected event"), \
	F(7, 0, "EVENT SELECT", "which event is counted")

LAYOUT(msr_evtsel,
	F(34, 34, "ADAPTIVE_RECORD",
		"PEBS records hold the groups that MSR_PEBS_DATA_CFG selects besides the basic one", .when = ADAPTIVE),
	F(33, 33, "IN_TXCP", "leave out events of aborted transactions, of which the model counts none anyway",
		.when = IN_TXCP),
	F(32, 32, "IN_TX", "count only inside transactions; the model does not know them, and counts nothing",
		.when = IN_TX),
	EVTSEL_CMASK, EVTSEL_EN,
	F(21, 21, "ANY", "AnyThread: count events of the core's other hardware threads, too", .when = ANY_THREAD),
	EVTSEL_LOW);
LAYOUT(msr_p6_evtsel0, EVTSEL_CMASK, F(22, 22, "EN", "both counters count"), EVTSEL_LOW);
LAYOUT(msr_p6_evtsel1, EVTSEL_CMASK, EVTSEL_LOW);

static const value control_codes[] = {
	{ 0, "does not count" },
	{ 1, "events at CPL 0, 1 and 2" },
	{ 2, "events at CPL 3" },
	{ 3, "events at any CPL" },
	{ 4, "does not count" },
	{ 5, "clocks at CPL 0, 1 and 2 in which the event is under way" },
	{ 6, "clocks at CPL 3 in which the event is under way" },
	{ 7, "clocks at any CPL in which the event is under way" },
};
LAYOUT(msr_cesr,
	F(25, 25, "PC1", "pin PM1/BP1 follows overflows of CTR1, not its increments; no pin is modelled: no effect"),
	F(24, 22, "CC1", "counter control of CTR1", VALUES(control_codes)),
	F(21, 16, "ES1", "event select of CTR1"),
	F(9, 9, "PC0", "pin PM0/BP0 follows overflows of CTR0, not its increments; no pin is modelled: no effect"),
	F(8, 6, "CC0", "counter control of CTR0", VALUES(control_codes)),
	F(5, 0, "ES0", "event select of CTR0"));

/* ---- architectural control and status ------------------------------------------------------------------------- */

static const value rings[] = { { 0, "does not count" }, { 1, "ring 0" }, { 2, "rings 1 to 3" }, { 3, "all rings" } };
LAYOUT(msr_fixed_ctrl,
	F(32, 32, "FIXED_CTR%u_ADAPTIVE", "PEBS records of fixed counter %u hold the groups of MSR_PEBS_DATA_CFG",
		.each = EACH_FIXED, .step = 4, .when = ADAPTIVE),
	F(3, 3, "PMI%u", "interrupt when fixed counter %u overflows", .each = EACH_FIXED, .step = 4),
	F(2, 2, "ANY%u", "AnyThread: fixed counter %u counts the core's other hardware threads, too",
		.each = EACH_FIXED, .step = 4, .when = ANY_THREAD),
	F(1, 0, "ENABLE%u", "rings in which fixed counter %u counts", VALUES(rings), .each = EACH_FIXED, .step = 4));
LAYOUT(msr_global_ctrl, F(48, 48, "EN_PERF_METRICS", "MSR_PERF_METRICS is kept up to date", .when = METRICS),
	F(32, 32, "EN_FIXED_CTR%u", "fixed counter %u counts, if IA32_FIXED_CTR_CTRL enables it, too",
		.each = EACH_FIXED, .step = 1),
	F(0, 0, "EN_PMC%u", "counter %u counts, if its IA32_PERFEVTSELx enables it, too", .each = EACH_GP, .step = 1));
LAYOUT(msr_global_status, F(63, 63, "CondChgd", "some other state of the PMU has changed"),
	F(62, 62, "OvfDSBuffer", "the DS area's PEBS buffer has reached its interrupt threshold"),
	F(61, 61, "Ovf_Uncore", "an uncore counter has overflowed", .when = FROM_V3),
	F(60, 60, "ASCI", "counts may include what ran inside a secure enclave", .when = FROM_V4),
	F(59, 59, "CTR_Frz", "a PMI has frozen the counters (DEBUGCTL.FREEZE_PERFMON_ON_PMI); clear it to go on",
		.when = FROM_V4),
	F(58, 58, "LBR_Frz", "a PMI has frozen the LBR stack (DEBUGCTL.FREEZE_LBRS_ON_PMI); clear it to go on",
		.when = FROM_V4),
	F(55, 55, "Trace_ToPA_PMI", "an output region of the processor trace is full", .when = FROM_V4),
	F(48, 48, "Ovf_PERF_METRICS", "a field of MSR_PERF_METRICS has overflowed", .when = METRICS),
	F(32, 32, "Ovf_FIXED_CTR%u", "fixed counter %u has overflowed", .each = EACH_FIXED, .step = 1),
	F(0, 0, "Ovf_PMC%u", "counter %u has overflowed", .each = EACH_GP, .step = 1));
LAYOUT(msr_global_clear,
	F(63, 63, "Clr_CondChgd", "1: clear CondChgd"),
	F(62, 62, "Clr_OvfDSBuffer", "1: clear OvfDSBuffer"),
	F(61, 61, "Clr_Ovf_Uncore", "1: clear Ovf_Uncore", .when = FROM_V3),
	F(60, 60, "Clr_ASCI", "1: clear ASCI", .when = FROM_V4),
	F(59, 59, "Clr_CTR_Frz", "1: clear CTR_Frz; the counters count again", .when = FROM_V4),
	F(58, 58, "Clr_LBR_Frz", "1: clear LBR_Frz; the LBR stack records again", .when = FROM_V4),
	F(55, 55, "Clr_Trace_ToPA_PMI", "1: clear Trace_ToPA_PMI", .when = FROM_V4),
	F(48, 48, "Clr_Ovf_PERF_METRICS", "1: clear Ovf_PERF_METRICS", .when = METRICS),
	F(32, 32, "Clr_Ovf_FIXED_CTR%u", "1: clear the overflow of fixed counter %u", .each = EACH_FIXED, .step = 1),
	F(0, 0, "Clr_Ovf_PMC%u", "1: clear the overflow of counter %u", .each = EACH_GP, .step = 1));
LAYOUT(msr_global_set,
	F(62, 62, "Set_OvfDSBuffer", "1: set OvfDSBuffer"),
	F(61, 61, "Set_Ovf_Uncore", "1: set Ovf_Uncore"),
	F(60, 60, "Set_ASCI", "1: set ASCI"),
	F(59, 59, "Set_CTR_Frz", "1: set CTR_Frz; the counters freeze"),
	F(58, 58, "Set_LBR_Frz", "1: set LBR_Frz; the LBR stack freezes"),
	F(55, 55, "Set_Trace_ToPA_PMI", "1: set Trace_ToPA_PMI"),
	F(48, 48, "Set_Ovf_PERF_METRICS", "1: set Ovf_PERF_METRICS", .when = METRICS),
	F(32, 32, "Set_Ovf_FIXED_CTR%u", "1: set the overflow of fixed counter %u", .each = EACH_FIXED, .step = 1),
	F(0, 0, "Set_Ovf_PMC%u", "1: set the overflow of counter %u", .each = EACH_GP, .step = 1));
LAYOUT(msr_inuse,
	F(63, 63, "PMI_InUse", "some counter has its interrupt enabled"),
	F(32, 32, "FIXED_CTR%u_InUse", "ENABLE%u of IA32_FIXED_CTR_CTRL is not 0", .each = EACH_FIXED, .step = 1),
	F(0, 0, "PERFEVTSEL%u_InUse", "EVENT SELECT of IA32_PERFEVTSEL%u is not 0", .each = EACH_GP, .step = 1));

static const value lbr_formats[] = {
	{ 0, "32-bit addresses" },
	{ 1, "64-bit linear addresses" },
	{ 2, "64-bit effective addresses" },
	{ 3, "as format 2; FROM[63] set: mispredicted" },
	{ 4, "as format 3; FROM[62:61]: TSX flags" },
	{ 5, "flags and cycles in MSR_LBR_INFO_x" },
	{ 0x3f, "architectural last branch records" },
};
static const value pebs_formats[] = {
	{ 0, "general registers (Core 2)" },
	{ 1, "format 0 and data address, source, latency (Nehalem)" },
	{ 2, "format 1 and EventingIP, TSX information (Haswell)" },
	{ 3, "format 2 and time stamp (Skylake)" },
	{ 4, "adaptive (Ice Lake)" },
	{ 5, "adaptive; reset values of fixed counters at 140H of the DS area (Golden Cove)" },
};
LAYOUT(msr_capabilities,
	F(16, 16, "PEBS_OUTPUT_PT_AVAIL", "PEBS records can go into the processor trace; MSR_RELOAD_x exist"),
	F(15, 15, "PERF_METRICS_AVAILABLE", "MSR_PERF_METRICS exists"),
	F(14, 14, "PEBS_BASELINE", "adaptive PEBS on all counters, and on events that are not precise"),
	F(13, 13, "FW_WRITE", "IA32_A_PMCx exist, which take values of a counter's full width"),
	F(12, 12, "SMM_FREEZE", "DEBUGCTL can freeze counters in system management mode"),
	F(11, 8, "PEBS_REC_FMT", "format of PEBS records", VALUES(pebs_formats)),
	F(7, 7, "PEBS_ARCH_REGS", "records hold the complete architectural state"),
	F(6, 6, "PEBS_TRAP", "records hold the state after the instruction, not before it"),
	F(5, 0, "LBR_FMT", "format of last branch records", VALUES(lbr_formats)));

LAYOUT(msr_metrics, F(63, 56, "Memory_Bound", "share of SLOTS in 1/255: waiting for memory; part of BE_Bound"),
	F(55, 48, "Fetch_Latency", "share of SLOTS in 1/255: the front end delivers nothing; part of FE_Bound"),
	F(47, 40, "Branch_Mispredict",
		"share of SLOTS in 1/255: lost to mispredicted branches; part of Bad_Speculation"),
	F(39, 32, "Heavy_Operations", "share of SLOTS in 1/255: instructions of several uops; part of Retiring"),
	F(31, 24, "BE_Bound", "share of SLOTS in 1/255: the back end takes no uops"),
	F(23, 16, "FE_Bound", "share of SLOTS in 1/255: the front end delivers too few uops"),
	F(15, 8, "Bad_Speculation", "share of SLOTS in 1/255: work thrown away"),
	F(7, 0, "Retiring", "share of SLOTS in 1/255: uops that retire"));

/* ---- DEBUGCTL ------------------------------------------------------------------------------------------------- */

#define LBR_BTF \
	F(1, 1, "BTF", "single-step on branches; no effect on the PMU"), \
		F(0, 0, "LBR", "record taken branches in the LBR stack")
LAYOUT(msr_debugctl,
	F(12, 12, "FREEZE_PERFMON_ON_PMI", "the overflow that raises a PMI freezes the counters", .when = FROM_V2),
	F(11, 11, "FREEZE_LBRS_ON_PMI", "the overflow that raises a PMI freezes the LBR stack", .when = FROM_V2),
	F(10, 10, "BTS_OFF_USR", "no branch trace at CPL above 0", .when = FROM_V2),
	F(9, 9, "BTS_OFF_OS", "no branch trace at CPL 0", .when = FROM_V2),
	F(8, 8, "BTINT", "interrupt when the branch trace buffer reaches its threshold; 0: the buffer is circular"),
	F(7, 7, "BTS", "branch trace messages go into the DS area's buffer"),
	F(6, 6, "TR", "send branch trace messages"),
	LBR_BTF);
LAYOUT(msr_p6_debugctl,
	F(6, 6, "TR", "branch trace messages on the bus; there is none"),
	F(5, 2, "PB3-PB0", "the pins BP3 to BP0 show counters or breakpoints; there are no pins"),
	LBR_BTF);
LAYOUT(msr_p4_debugctl,
	F(6, 6, "BTS_OFF_USR", "no branch trace at CPL above 0"),
	F(5, 5, "BTS_OFF_OS", "no branch trace at CPL 0"),
	F(4, 4, "BTINT", "interrupt when the branch trace buffer reaches its threshold; 0: the buffer is circular"),
	F(3, 3, "BTS", "branch trace messages go into the DS area's buffer"),
	F(2, 2, "TR", "send branch trace messages"),
	LBR_BTF);

/* ---- debug store, PEBS ---------------------------------------------------------------------------------------- */

static const value outputs[] = { { 0, "into the DS area" }, { 1, "into the trace" } };
LAYOUT(msr_pebs_enable, F(63, 63, "PS_EN", "precise store on counter 3", .when = PEBS_STORES),
	F(62, 61, "PEBS_OUTPUT", "where records go", VALUES(outputs), .when = PEBS_OUTPUT),
	F(60, 60, "PMI_AFTER_EACH_RECORD", "interrupt after every record that goes into the trace",
		.when = PEBS_OUTPUT),
	F(32, 32, "PEBS_EN_FIXED%u", "fixed counter %u makes PEBS records", .each = EACH_FIXED, .step = 1,
		.when = PEBS_FROM_4),
	F(32, 32, "LL_EN_PMC%u", "counter %u measures the latency of loads", .each = EACH_4, .step = 1,
		.when = PEBS_1_TO_3),
	F(0, 0, "PEBS_EN_PMC%u", "counter %u makes PEBS records", .each = EACH_8, .step = 1, .when = PEBS_FROM_4),
	F(0, 0, "PEBS_EN_PMC%u", "counter %u makes PEBS records", .each = EACH_4, .step = 1, .when = PEBS_1_TO_3),
	F(0, 0, "PEBS_EN_PMC0", "counter 0 makes PEBS records", .when = PEBS_0));
LAYOUT(msr_data_cfg,
	F(31, 24, "LBR_ENTRIES", "entries of the LBR group, less 1"),
	F(3, 3, "LBRS", "record the newest entries of the LBR stack"),
	F(2, 2, "XMMS", "record XMM0 to XMM15"),
	F(1, 1, "GPRS", "record RFLAGS, RIP and the general registers"),
	F(0, 0, "MEMORY_INFO", "record data address, data source, latency and TSX information"));
LAYOUT(msr_ld_lat, F(15, 0, "THRESHOLD", "loads that take more cycles than this are counted; values below 3 act as 3"));
static const value frontend_codes[] = {
	{ 0x01, "ANY_DSB_MISS" },
	{ 0x06, "IDQ_BUBBLE_WIDTH slots empty for IDQ_BUBBLE_LENGTH cycles" },
	{ 0x08, "MS_FLOWS" },
	{ 0x11, "DSB_MISS" },
	{ 0x12, "L1I_MISS" },
	{ 0x13, "L2_MISS" },
	{ 0x14, "ITLB_MISS" },
	{ 0x15, "STLB_MISS" },
	{ 0x17, "UNKNOWN_BRANCH" },
};
LAYOUT(msr_frontend, F(22, 20, "IDQ_BUBBLE_WIDTH", "at least this many issue slots stayed empty"),
	F(19, 8, "IDQ_BUBBLE_LENGTH", "for at least this many cycles"),
	F(4, 0, "EVENT CODE", "which front-end event FRONTEND_RETIRED counts (before PEBS format 5 bit 3 is reserved)",
		VALUES(frontend_codes)));
/* Bits: offcore.c. */
LAYOUT(msr_offcore,
	F(37, 37, "SNOOP_NON_DRAM", "snoop: the address is not in DRAM; here all addresses are", .when = OFFCORE_LATER),
	F(36, 36, "SNOOP_HITM", "snoop: another core had the line modified", .when = OFFCORE_LATER),
	F(35, 35, "SNOOP_HIT_WITH_FWD", "snoop: another core had the line clean, and sent it", .when = OFFCORE_LATER),
	F(34, 34, "SNOOP_HIT_NO_FWD", "snoop: another core had the line clean; L3 sent it", .when = OFFCORE_LATER),
	F(33, 33, "SNOOP_MISS", "snoop: the cores that were asked did not have it",
		.when = OFFCORE_LATER),
	F(32, 32, "SNOOP_NOT_NEEDED", "snoop: no other core was asked (reads)", .when = OFFCORE_LATER),
	F(31, 31, "SNOOP_NONE", "snoop: memory answered, or a write that no other core was asked for",
		.when = OFFCORE_LATER),
	F(30, 30, "SPL_HIT", "supplier: not documented; never here", .when = OFFCORE_FROM_HASWELL),
	F(29, 28, "L3_MISS_REMOTE", "supplier: another socket; there is none here", .when = OFFCORE_GOLDEN_COVE),
	F(27, 27, "SNC", "supplier: another cluster of the socket; there is none here", .when = OFFCORE_GOLDEN_COVE),
	F(29, 27, "L3_MISS_REMOTE", "supplier: another socket; there is none here", .when = OFFCORE_BROADWELL),
	F(29, 27, "L3_MISS_REMOTE", "supplier: another socket; there is none here", .when = OFFCORE_SKYLAKE),
	F(29, 27, "L3_MISS_REMOTE", "supplier: another socket; there is none here", .when = OFFCORE_ICE_LAKE),
	F(29, 23, "L3_MISS_REMOTE", "supplier: another socket; there is none here", .when = OFFCORE_HASWELL),
	F(26, 26, "L3_MISS_LOCAL", "supplier: memory", .when = OFFCORE_FROM_BROADWELL),
	F(25, 22, "PMM", "supplier: memory other than DRAM; there is none here", .when = OFFCORE_FROM_ICE_LAKE),
	F(25, 22, "L4_HIT", "supplier: L4; there is none here", .when = OFFCORE_BROADWELL),
	F(25, 22, "L4_HIT", "supplier: L4; there is none here", .when = OFFCORE_SKYLAKE),
	F(22, 22, "L3_MISS_LOCAL", "supplier: memory", .when = OFFCORE_TO_HASWELL),
	F(21, 21, "L3_HIT_F", "supplier: L3, the line in state F; counts only together with E and S",
		.when = OFFCORE_LATER),
	F(20, 20, "L3_HIT_S", "supplier: L3, the line in state S; counts only together with E",
		.when = OFFCORE_LATER),
	F(19, 19, "L3_HIT_E", "supplier: L3, the line in state E; counts only together with S",
		.when = OFFCORE_LATER),
	F(18, 18, "L3_HIT_M", "supplier: L3, the line modified", .when = OFFCORE_LATER),
	F(17, 17, "NO_SUPP", "supplier: nobody (writes, locks, flushes)", .when = OFFCORE_LATER),
	F(16, 16, "ANY", "any answer: the bits above do not matter", .when = OFFCORE_LATER),
	F(15, 15, "NON_DRAM", "answer: the address is not in DRAM; here all addresses are", .when = OFFCORE_NEHALEM),
	F(14, 14, "LOCAL_DRAM", "answer: memory", .when = OFFCORE_NEHALEM),
	F(13, 11, "REMOTE", "answer: another socket; there is none here", .when = OFFCORE_NEHALEM),
	F(10, 10, "OTHER_CORE_HITM", "answer: another core had the line modified", .when = OFFCORE_NEHALEM),
	F(9, 9, "OTHER_CORE_HIT_SNP", "answer: another core had the line clean", .when = OFFCORE_NEHALEM),
	F(8, 8, "UNCORE_HIT", "answer: L3; no other core was asked", .when = OFFCORE_NEHALEM),
	F(7, 7, "OTHER", "request: write past the caches, flush, bus lock", .when = OFFCORE_NEHALEM),
	F(15, 15, "OTHER", "request: flush of a line", .when = OFFCORE_TO_BROADWELL),
	F(15, 15, "OTHER", "request: write past the caches, flush, bus lock", .when = OFFCORE_SKYLAKE),
	F(15, 15, "OTHER", "request: flush, bus lock", .when = OFFCORE_FROM_ICE_LAKE),
	F(14, 14, "SWPF_RD", "request: software prefetch", .when = OFFCORE_GOLDEN_COVE),
	F(13, 13, "HWPF_L3", "request: prefetch into L3 alone; none here", .when = OFFCORE_FROM_ICE_LAKE),
	F(12, 12, "COREWB_NONM", "request: clean line that L2 evicted", .when = OFFCORE_GOLDEN_COVE),
	F(12, 12, "Bit_12", "not documented", .when = OFFCORE_ICE_LAKE),
	F(11, 11, "STREAMING_WR", "request: write past the caches", .when = OFFCORE_TO_BROADWELL),
	F(11, 11, "Bit_11", "not documented", .when = OFFCORE_SKYLAKE),
	F(11, 11, "STREAMING_WR", "request: write past the caches", .when = OFFCORE_FROM_ICE_LAKE),
	F(10, 10, "BUS_LOCKS", "request: bus lock", .when = OFFCORE_TO_BROADWELL),
	F(10, 10, "PF_L1D_AND_SW", "request: prefetch of L1D, or software prefetch", .when = OFFCORE_SKYLAKE),
	F(10, 10, "HWPF_L1D_AND_SWPF", "request: prefetch of L1D, or software prefetch", .when = OFFCORE_ICE_LAKE),
	F(10, 10, "HWPF_L1D", "request: prefetch of L1D", .when = OFFCORE_GOLDEN_COVE),
	F(9, 7, "PF_LLC", "request: prefetch into L3 alone; none here", .when = OFFCORE_TO_BROADWELL),
	F(9, 9, "Bit_9", "not documented", .when = OFFCORE_SKYLAKE),
	F(8, 7, "PF_L3", "request: prefetch into L3 alone; none here", .when = OFFCORE_SKYLAKE),
	F(9, 7, "HWPF_L3", "request: prefetch into L3 alone; none here", .when = OFFCORE_FROM_ICE_LAKE),
	F(6, 6, "PF_IFETCH", "request: code prefetch of L2; none here", .when = OFFCORE_NEHALEM),
	F(6, 6, "PF_IFETCH", "request: code prefetch of L2; none here", .when = OFFCORE_TO_BROADWELL),
	F(6, 6, "Bit_6", "not documented", .when = OFFCORE_SKYLAKE),
	F(6, 6, "HWPF_L2_CODE_RD", "request: code prefetch of L2; none here", .when = OFFCORE_FROM_ICE_LAKE),
	F(5, 5, "PF_RFO", "request: prefetch of L2 for ownership; none here", .when = OFFCORE),
	F(4, 4, "PF_DATA_RD", "request: prefetch of L2", .when = OFFCORE),
	F(3, 3, "WB", "request: modified line that L2 evicted", .when = OFFCORE_NEHALEM),
	F(3, 3, "WB", "request: modified line that L2 evicted", .when = OFFCORE_TO_BROADWELL),
	F(3, 3, "Bit_3", "not documented", .when = OFFCORE_SKYLAKE),
	F(3, 3, "COREWB_M", "request: modified line that L2 evicted", .when = OFFCORE_FROM_ICE_LAKE),
	F(2, 2, "DMND_CODE_RD", "request: code read", .when = OFFCORE),
	F(1, 1, "DMND_RFO", "request: read for ownership, or request for ownership alone", .when = OFFCORE),
	F(0, 0, "DMND_DATA_RD", "request: demand data read or page walk; before Skylake also prefetch of L1D",
		.when = OFFCORE));
static const value available[] = { { 0, "available" }, { 1, "not available" } };
LAYOUT(msr_misc_enable,
	F(12, 12, "PEBS Unavailable", "read-only", VALUES(available)),
	F(11, 11, "BTS Unavailable", "read-only", VALUES(available)),
	F(7, 7, "Performance Monitoring Available", "read-only"),
	F(0, 0, "Fast-Strings Enable", "kept; the model's REP MOVS and REP STOS are fast with and without it"));
LAYOUT(msr_address, F(63, 0, "ADDRESS", "linear address"));

/* ---- last branch records -------------------------------------------------------------------------------------- */

LAYOUT(msr_from,
	F(63, 63, "MISPRED", "the branch was mispredicted", .when = STYLE_NEHALEM),
	F(62, 0, "ADDRESS", "linear address of the branch instruction, sign-extended", .when = STYLE_NEHALEM),
	F(63, 63, "MISPRED", "the branch was mispredicted", .when = STYLE_HASWELL),
	F(62, 62, "IN_TX", "the branch was in a transaction; the model leaves it 0", .when = STYLE_HASWELL),
	F(61, 61, "TSX_ABORT", "the branch aborted a transaction; the model leaves it 0", .when = STYLE_HASWELL),
	F(60, 0, "ADDRESS", "linear address of the branch instruction, sign-extended", .when = STYLE_HASWELL),
	F(63, 0, "ADDRESS", "linear address of the branch instruction", .when = STYLE_SKYLAKE),
	F(63, 0, "ADDRESS", "linear address of the branch instruction", .when = STYLE_ARCH));
LAYOUT(msr_pair,
	F(63, 32, "TO", "where the branch went"),
	F(31, 0, "FROM", "address of the branch instruction"));
static const value branch_types[] = { { 0, "JCC" }, { 1, "NEAR_IND_JMP" }, { 2, "NEAR_REL_JMP" },
	{ 3, "NEAR_IND_CALL" }, { 4, "NEAR_REL_CALL" }, { 5, "NEAR_RET" }, { 8, "OTHER_BRANCH" } };
LAYOUT(msr_info,
	F(63, 63, "MISPRED", "the branch was mispredicted"),
	F(62, 62, "IN_TX", "the branch was in a transaction; the model leaves it 0"),
	F(61, 61, "TSX_ABORT", "the branch aborted a transaction; the model leaves it 0"),
	F(60, 60, "CYC_CNT_VALID", "CYC_CNT is valid", .when = STYLE_ARCH),
	F(59, 56, "BR_TYPE", "kind of branch", VALUES(branch_types), .when = STYLE_ARCH),
	F(15, 0, "CYC_CNT", "cycles since the last recorded branch; all ones: this many or more"));
LAYOUT(msr_tos, F(4, 0, "TOS", "index of the stack's newest entry"));
LAYOUT(msr_depth, F(5, 0, "DEPTH", "entries of the stack: 8, 16 or 32; a write clears them"));
LAYOUT(msr_select,
	F(9, 9, "EN_CALLSTACK", "a return removes its call from the stack", .when = STYLE_CALL_STACK),
	F(8, 8, "FAR_BRANCH", "leave out far branches"),
	F(7, 7, "NEAR_REL_JMP", "leave out near relative jumps"),
	F(6, 6, "NEAR_IND_JMP", "leave out near indirect jumps"),
	F(5, 5, "NEAR_RET", "leave out near returns"),
	F(4, 4, "NEAR_IND_CALL", "leave out near indirect calls"),
	F(3, 3, "NEAR_REL_CALL", "leave out near relative calls"),
	F(2, 2, "JCC", "leave out conditional branches"),
	F(1, 1, "CPL_NEQ_0", "leave out branches that end at CPL above 0"),
	F(0, 0, "CPL_EQ_0", "leave out branches that end at CPL 0"));
LAYOUT(msr_lbr_ctl,
	F(22, 22, "OTHER_BRANCH", "record all other branches"),
	F(21, 21, "NEAR_RET", "record near returns"),
	F(20, 20, "NEAR_IND_CALL", "record near indirect calls"),
	F(19, 19, "NEAR_REL_CALL", "record near relative calls"),
	F(18, 18, "NEAR_IND_JMP", "record near indirect jumps"),
	F(17, 17, "NEAR_REL_JMP", "record near relative jumps"),
	F(16, 16, "JCC", "record conditional branches"),
	F(3, 3, "CALL_STACK", "a return removes its call from the stack"),
	F(2, 2, "USR", "record branches that end at CPL above 0"),
	F(1, 1, "OS", "record branches that end at CPL 0"),
	F(0, 0, "LBREn", "record taken branches"));

/* ---- NetBurst ------------------------------------------------------------------------------------------------- */

LAYOUT(msr_escr,
	F(30, 25, "EVENT SELECT", "which event of this unit; 0: none"),
	F(24, 9, "EVENT MASK", "which variants of the event, one bit each"),
	F(8, 5, "TAG VALUE", "with TAG ENABLE: the tags that uops get, one bit each"),
	F(4, 4, "TAG ENABLE", "the event tags uops for execution_event"),
	F(3, 3, "T0_OS", "count when thread 0 runs at CPL 0", .when = TWO_THREADS),
	F(2, 2, "T0_USR", "count when thread 0 runs at CPL 1, 2 or 3", .when = TWO_THREADS),
	F(1, 1, "T1_OS", "count when thread 1 runs at CPL 0", .when = TWO_THREADS),
	F(0, 0, "T1_USR", "count when thread 1 runs at CPL 1, 2 or 3", .when = TWO_THREADS),
	F(3, 3, "OS", "count at CPL 0", .when = ONE_THREAD),
	F(2, 2, "USR", "count at CPL 1, 2 and 3", .when = ONE_THREAD));
static const value active[] = { { 0, "count while no thread is active" }, { 1, "count while one thread is active" },
	{ 2, "count while both are active" }, { 3, "count whatever threads are active" } };
LAYOUT(msr_cccr, F(31, 31, "OVF", "the counter has overflowed; stays until software clears it"),
	F(30, 30, "CASCADE", "the counter starts when the other one of its pair overflows"),
	F(27, 27, "OVF_PMI_T1", "interrupt thread 1 at the event after the overflow", .when = TWO_THREADS),
	F(26, 26, "OVF_PMI_T0", "interrupt thread 0 at the event after the overflow", .when = TWO_THREADS),
	F(26, 26, "OVF_PMI", "interrupt at the event after the overflow", .when = ONE_THREAD),
	F(25, 25, "FORCE_OVF", "every increment is an overflow"),
	F(24, 24, "EDGE", "with COMPARE: count the clocks in which the comparison becomes true"),
	F(23, 20, "THRESHOLD", "with COMPARE: count clocks with more events than this"),
	F(19, 19, "COMPLEMENT", "with COMPARE: count clocks with THRESHOLD events or fewer"),
	F(18, 18, "COMPARE", "compare a clock's events with THRESHOLD; count 1 if there are more"),
	F(17, 16, "ACTIVE THREAD", "which threads must be active (processors with one thread: 11B)", VALUES(active)),
	F(15, 13, "ESCR SELECT", "number of the ESCR that the counter sees"), F(12, 12, "ENABLE", "the counter counts"),
	F(11, 11, "EXTENDED CASCADE",
		"the counter starts when an IQ counter overflows: CASCNT4INTO0, 5INTO3, 5INTO4, 4INTO5",
		.when = CASCADES_EXTENDED));
LAYOUT(msr_p4_pebs_enable,
	F(26, 26, "ENABLE_PEBS_OTH_THR", "PEBS on MSR_IQ_COUNTER5 for the other thread", .when = TWO_THREADS),
	F(25, 25, "ENABLE_PEBS_MY_THR", "PEBS on MSR_IQ_COUNTER4"),
	F(24, 24, "UOP TAG", "tag replayed uops for replay_event"),
	F(16, 16, "METRIC 16", "with bit 15: mispredicted branches"),
	F(15, 15, "METRIC 15", "with bit 16: mispredicted branches"),
	F(12, 0, "METRIC",
		"why uops were replayed: 1 first-level miss, 2 second-level miss, 4 DTLB miss, 200H MOB, 400H split"));
LAYOUT(msr_p4_matrix,
	F(4, 4, "BRANCHES", "tag branches"),
	F(1, 1, "STORES", "tag stores"),
	F(0, 0, "LOADS", "tag loads"));
LAYOUT(msr_precise, F(31, 0, "TAGGING", "front-end tagging by the trace cache; no documented event uses it"));

LAYOUT(msr_threads_capabilities, F(7, 0, "THREADS", "hardware threads of the core"));
#define THREAD_FIELDS \
	F(32, 24, "ACTIVE", "bit n: count while n threads run; no bit: when ACTIVE THREAD of the CCCR says"), \
	F(23, 16, "OVF_PMI", "bit n: interrupt thread n at the event after the overflow"), \
	F(15, 0, "WHO", "count thread n at CPL above 0 (bit 2n), at CPL 0 (bit 2n + 1); no bit: as the ESCR says")
LAYOUT(msr_threads, THREAD_FIELDS);
LAYOUT(msr_iq_threads,
	F(43, 41, "PEBS THREAD", "with PEBS: the thread whose DS area takes the records"),
	F(40, 40, "PEBS", "makes PEBS records (counters 16 and 17: see bits 25 and 26 of MSR_PEBS_ENABLE)"),
	THREAD_FIELDS);

/* ---- pushout counters ----------------------------------------------------------------------------------------- */

static const value pushout_ways[] = {
	{ 0, "counts down from LOAD; fires when it reaches or passes 0" },
	{ 1, "counts up from LOAD; fires when it passes 2^32" },
	{ 2, "counts up from 0; fires when it reaches LOAD" },
};
static const value pushout_points[] = { { 0, "retirement" }, { 1, "allocation" },
	{ 2, "decode: delivery by the front end" }, { 3, "memory-order buffer" }, { 4, "stores becoming visible" },
	{ 5, "fetch" } };
LAYOUT(msr_pushout_capabilities,
	F(55, 48, "FETCH SLOTS", "instructions that may be fetched for the decoders in a cycle; 0: not measured"),
	F(47, 40, "STORES", "stores that may become visible in a cycle; 0: not measured"),
	F(39, 32, "MEMORY SLOTS", "slots that may enter the memory-order buffer in a cycle; 0: not measured"),
	F(31, 24, "DECODE SLOTS", "slots that the front end may deliver in a cycle; 0: not measured"),
	F(23, 16, "ALLOC SLOTS", "slots that may be allocated in a cycle; 0: not measured"),
	F(15, 8, "RETIRE SLOTS", "slots that may retire in a cycle"),
	F(7, 0, "UNITS", "pushout counters"));
LAYOUT(msr_pushout_status,
	F(19, 16, "STORED", "bit n, read-only: counter n's STORED holds a pushout"),
	F(3, 0, "OVF", "bit n: counter n's COUNT overflowed; writing 1 clears"));
LAYOUT(msr_pushout_control,
	F(24, 24, "STORE_OVF", "store only the pushout with which COUNT overflows"),
	F(22, 22, "EN", "the counter counts"),
	F(20, 20, "INT", "interrupt through the local APIC's performance entry on overflow"),
	F(17, 17, "OS", "count slots at privilege level 0"),
	F(16, 16, "USR", "count slots at privilege levels 1, 2 and 3"),
	F(7, 7, "FROM_EVENT", "measure from the tagged event, not from the cycle in which the slot was due"),
	F(6, 4, "POINT", "at which point of the pipeline slots are measured", VALUES(pushout_points)),
	F(1, 0, "WAY", "how the register counts the cycles of a slot's pushout", VALUES(pushout_ways)));
LAYOUT(msr_pushout_load, F(31, 0, "LOAD", "the threshold in cycles; with WAY 1: 2^32 less the threshold"));
LAYOUT(msr_pushout_count, F(47, 0, "COUNT", "slots so far whose pushouts reached the threshold"));
LAYOUT(msr_pushout_stored,
	F(63, 63, "VALID", "CYCLES holds a pushout; reading this register frees it for the next"),
	F(31, 0, "CYCLES", "the pushout in cycles"));
#define STATIC(name, text) F(SPMU_IS_##name, SPMU_IS_##name, #name, text),
static const struct msr_bits is_bits[] = {
#include "softpmu/signals.def"
};
#define DYNAMIC(name, text) F(SPMU_DID_##name, SPMU_DID_##name, #name, text),
static const struct msr_bits did_bits[] = {
#include "softpmu/signals.def"
};
const struct msr_layout msr_pushout_is = { is_bits, SPMU_IS_COUNT }, msr_pushout_did = { did_bits, SPMU_DID_COUNT };

/* ---- local APIC ----------------------------------------------------------------------------------------------- */

static const value delivery[] = { { 0, "fixed: VECTOR" }, { 2, "SMI" }, { 4, "NMI" }, { 5, "INIT" }, { 7, "ExtINT" } };
static const value masked[] = { { 0, "PMIs are delivered" }, { 1, "PMIs are lost" } };
LAYOUT(msr_lvt,
	F(16, 16, "MASK", "set by a PMI from NetBurst on, until software clears it", VALUES(masked)),
	F(12, 12, "DELIVERY STATUS", "read-only; always idle here"),
	F(10, 8, "DELIVERY MODE", "kind of interrupt that a PMI raises", VALUES(delivery)),
	F(7, 0, "VECTOR", "number of the interrupt"));
