/* SPDX-License-Identifier: BSD-2-Clause
 * A performance monitoring unit at register level, to embed.
 *
 * Index spaces, never mixed: `msr` is an MSR address (ECX of RDMSR), `rdpmc_idx` is ECX of RDPMC,
 * `pmc` is the number of a general-purpose counter, from 0.
 *
 * Nothing here prints, exits, aborts or keeps global state.  All memory comes from malloc at creation (and
 * when a counter is programmed); steady state allocates nothing.
 */
#ifndef SOFTPMU_PMU_H
#define SOFTPMU_PMU_H
#include "softpmu/record.h"
#include <stdbool.h>
#include <stddef.h>
#ifdef __cplusplus
extern "C" {
#endif

enum spmu_status {
	SPMU_OK = 0,
	SPMU_GP = -1,		/* the hardware would raise #GP(0); state unchanged */
	SPMU_ENOMSR = -2,	/* this model has no such MSR (hardware: #GP(0) as well) */
	SPMU_ENOMEM = -3,
	SPMU_EINPUT = -4,	/* malformed event table */
	SPMU_UD = -5,		/* the part has no such instruction: #UD */
};

struct spmu_model;		/* an event table and the PMU's shape; immutable, shareable */
struct spmu;			/* one PMU of one logical processor */

/* Where an interrupted instruction stands. */
struct spmu_pmi {
	uint64_t cycle;		/* at which the interrupt is taken */
	uint64_t overflow_cycle;/* of the first overflow that raised it */
	uint64_t ip;		/* address of the first instruction not retired when it is taken */
	uint64_t status;	/* IA32_PERF_GLOBAL_STATUS at that moment; NetBurst: bit n is the OVF flag of CCCR n */
	uint32_t record;	/* index in the batch of that instruction's first uop; batch->count: the end of the stream
				 * (`ip` is then the last instruction's: nothing comes after it) */
	uint32_t behind;	/* 0; n: the instruction named by `ip` is the n-th before `record` and lay in an earlier
				 * batch (an event that is not counted at retirement overflowed before this batch's
				 * first record retired); registers written now take effect from `record` on */
	uint8_t hw_thread;	/* the hardware thread that is interrupted: spmu_host.hw_thread, except where NetBurst's OVF_PMI_T1 says the other */
};

/* What a PEBS record says of the guest. */
struct spmu_registers {
	uint64_t rflags, rip;
	uint64_t gpr[16];	/* as instructions number them: RAX, RCX, RDX, RBX, RSP, RBP, RSI, RDI, R8 to R15 */
	uint64_t xmm[16][2];	/* low half first */
};

enum spmu_quirks {
	/* NetBurst.  SDM vol. 3B, table of non-retirement events: TC_misc.FLUSH counts every flush twice. */
	SPMU_QUIRK_NETBURST_TC_MISC_TWICE = 1,
	/* SDM vol. 3B, "Extended Cascading": a counter started by cascading, extended or not, raises no PMI (model 2; models 0
	 * and 1 behind stepping 9). */
	SPMU_QUIRK_NETBURST_CASCADE_NO_PMI = 2,
	/* Linux, asm/perf_event_p4.h: the enable bit of CCCR1 (361H) does not work; counter 1 stands still. */
	SPMU_QUIRK_NETBURST_CCCR1_ENABLE = 4,
	/* SDM vol. 3B, same table: BSQ_cache_reference may be off by a factor of two; here it counts every reference twice. */
	SPMU_QUIRK_NETBURST_BSQ_TWICE = 8,
};

struct spmu_host {
	void *context;
	/* A PMI is taken.  The handler may use every register function of this PMU (reload a counter, clear
	 * status); counting goes on behind `pmi->record`.  What a later batch tells of cycles below the PMI's (a load that was still on its
	 * way) is counted as the handler left the registers, a counter that it wrote apart.  NULL: PMIs are lost. */
	void (*pmi)(void *context, struct spmu *pmu, const struct spmu_pmi *pmi, const struct spmu_batch *batch);
	uint32_t pmi_latency;	/* cycles from overflow to the interrupt's arrival at the core */
	uint8_t hw_thread;	/* the hardware thread this PMU belongs to (records' hw_thread); other threads' records count only for AnyThread and
				 * its like.  NetBurst, whose two threads share the counters: the thread that is T0. */
	uint8_t siblings;	/* hardware threads of the core that are switched on; 0 and 1: one.  From Sandy Bridge to Skylake two of them have
				 * half of the general-purpose counters each */

	/* The guest's linear memory, where the DS area with its PEBS and BTS buffers lies; both or neither (then IA32_MISC_ENABLE says that
	 * PEBS and BTS are unavailable).  0, or nonzero for a fault; may be called with any address. */
	int (*read_memory)(void *context, uint64_t address, void *to, size_t bytes);
	int (*write_memory)(void *context, uint64_t address, const void *from, size_t bytes);
	/* The guest's registers before or after the instruction that uop `record` of the batch is part of.  0, or nonzero when they are not
	 * known.  NULL or nonzero: PEBS records hold zeros, except RIP, which the uop records tell. */
	int (*registers)(void *context, const struct spmu_batch *batch, uint32_t record, bool before, struct spmu_registers *out);
	/* PEBS record of a counter whose IA32_PEBS_ENABLE[62:61] is 1 (output into the trace, where IA32_PERF_CAPABILITIES[16] says so):
	 * the bytes that would have gone into the DS buffer, in place of trace packets.  NULL: they are lost. */
	void (*pebs_output)(void *context, const void *record, size_t bytes);
	uint32_t pebs_arming;	/* cycles from a counter's overflow to the moment from which an event triggers PEBS; 0: the very next event does */
	bool pebs_reload_msrs;	/* counters are reloaded from MSR_RELOAD_x, never from the DS area: the virtualised PEBS of US20200242003A1, adaptive
				 * formats only.  Otherwise those MSRs exist where IA32_PERF_CAPABILITIES[16] is set, and serve output into the trace */
	uint32_t quirks;	/* set of SPMU_QUIRK_: published errata that the part has; 0: it behaves as its manual says */
	/* Slots a cycle at each point that slots pass in order (SPMU_PUSHOUT_RETIRE...), for the pushout counters (MSR_PUSHOUT_CAPABILITIES and up):
	 * how wide the core is.  0: this point is not measured; 0 at retirement, or several hardware threads, whose retirement takes turns: the PMU
	 * has none of these registers. */
	uint8_t pushout_width[6];
	bool mode64;		/* the guest is in IA-32e mode at first: 64-bit DS area on processors that go by the mode (Yonah, NetBurst) */
};

/* Events */
enum spmu_event_flags {
	SPMU_EVENT_NOT_MODELLED = 1,	/* exists on the machine; this model cannot produce it */
	SPMU_EVENT_PRECISE = 2,		/* PEBS-capable on the machine */
	SPMU_EVENT_SPECULATIVE = 4,	/* counts speculative work too */
	SPMU_EVENT_FIXED = 8,		/* has a fixed counter: `fixed` says which */
	SPMU_EVENT_FIXED_ONLY = 16,
	SPMU_EVENT_DEPRECATED = 32,
	SPMU_EVENT_DURATION = 64,	/* P5: true over stretches of time; an occurrence is a beginning */
};
struct spmu_event {		/* one row of the table */
	const char *name;	/* "MEM_LOAD_RETIRED.L1_MISS" */
	const char *help;
	const char *perf_alias;	/* perf's generic name(s), comma-separated ("instructions"), or "" */
	const char *not_modelled; /* why, or "" */
	uint32_t flags;
	uint8_t  event;		/* event select */
	uint8_t  cmask, inv, edge, any;
	int8_t   fixed;		/* fixed counter, -1 none */
	uint16_t umask;		/* unit mask; NetBurst: the ESCR's event mask */
	uint8_t  escr_select;	/* NetBurst: of the CCCR */
	bool     thread_independent; /* NetBurst: qualified by the TI rule (SDM, "Programmable Event Qualification by Logical Processor") */
	uint16_t escr[2];	/* NetBurst: ESCRs (MSR addresses) that detect it, 0 none; which counters see which is pmc_mask and wiring */
	uint32_t pmc_mask;	/* counters that can count it */
	uint32_t replay_enable, replay_matrix; /* NetBurst, replay metrics: what goes into MSR_PEBS_ENABLE and MSR_PEBS_MATRIX_VERT */
	const char *upstream;	/* NetBurst, tagged events: name of the event that has to be programmed to tag for it, or "" */
	uint32_t extra_msr;	/* an MSR beside PERFEVTSEL that says what it counts (MSR_PEBS_LD_LAT_THRESHOLD, MSR_PEBS_FRONTEND); 0: none */
	uint64_t extra;		/* what has to stand there */
};

enum spmu_pmu_family { SPMU_FAMILY_ARCH, SPMU_FAMILY_P5, SPMU_FAMILY_P6, SPMU_FAMILY_NETBURST };

/* Reads data/events/NAME.tsv.  On failure *out is untouched and `text` (text_bytes long) says why, with the line. */
int  spmu_model_load(struct spmu_model **out, const char *path, char *text, size_t text_bytes);
void spmu_model_free(struct spmu_model *m);
size_t spmu_model_events(const struct spmu_model *m);
const struct spmu_event *spmu_model_event(const struct spmu_model *m, size_t index);
/* By name, else by one of perf's aliases; case-insensitive, '.' and ':' alike; NULL if there is none. */
const struct spmu_event *spmu_model_find(const struct spmu_model *m, const char *name);
/* By the low 16 bits of PERFEVTSEL plus cmask, inv, edge where the table tells events apart by them; NULL if this machine (or this model) has none,
 * and on NetBurst, which has no PERFEVTSEL. */
const struct spmu_event *spmu_model_find_code(const struct spmu_model *m, uint64_t perfevtsel);
/* The signals (set of enum spmu_signal) that must reach the PMU for this event to count, whatever modifiers it is
 * programmed with; what else a core raises may be dropped at the source. */
void spmu_event_signals(const struct spmu_model *m, const struct spmu_event *event, uint64_t set[2]);
/* Likewise the uop records: adds bits to *is and *did (sets of enum spmu_is, spmu_did) so that every uop the event may count has
 * one of them.  A session that samples needs all records, whatever this says.  plain: the event is programmed without CMASK,
 * INV and EDGE; retired instructions are then taken from spmu_batch.instructions and need no record. */
void spmu_event_uops(const struct spmu_model *m, const struct spmu_event *event, int plain, uint64_t *is, uint64_t *did);
/* Whether this value of the MSR that `event` needs beside PERFEVTSEL selects something that the model produces: rows give names to some values only.
 * NULL if it does, else what is wrong with it; static. */
const char *spmu_event_extra(const struct spmu_model *m, const struct spmu_event *event, uint64_t value);
/* Whether the event may count squashed branches by TAKEN, MISPREDICTED or MISP_TARGET: a core may leave it at what was predicted for the others. */
int spmu_event_outcomes(const struct spmu_model *m, const struct spmu_event *event);
/* Shape. */
enum spmu_pmu_family spmu_model_family(const struct spmu_model *m);
const char *spmu_model_core(const struct spmu_model *m);	/* nearest core preset (data/cores), NULL: the table does not say */
const char *spmu_model_libpfm(const struct spmu_model *m);	/* libpfm4's name of this PMU, or NULL */
uint64_t spmu_model_capabilities(const struct spmu_model *m);	/* IA32_PERF_CAPABILITIES; 0: there is none */
unsigned spmu_model_counter_bits(const struct spmu_model *m, bool fixed);	/* width of general-purpose or fixed counters */
unsigned spmu_model_version(const struct spmu_model *m);	/* architectural perfmon version */
unsigned spmu_model_gp_counters(const struct spmu_model *m);
unsigned spmu_model_fixed_counters(const struct spmu_model *m);
unsigned spmu_model_slots(const struct spmu_model *m);		/* issue slots a cycle, for TOPDOWN.SLOTS */

int  spmu_create(struct spmu **out, const struct spmu_model *m, const struct spmu_host *host);
void spmu_destroy(struct spmu *p);
const struct spmu_model *spmu_model_of(const struct spmu *p);
unsigned spmu_version(const struct spmu *p);	/* of architectural performance monitoring; 0: another family */

/* As WRMSR and RDMSR would do at CPL 0.  Source: SDM vol. 3B, chapter "Performance Monitoring". */
int  spmu_wrmsr(struct spmu *p, uint32_t msr, uint64_t value);
int  spmu_rdmsr(const struct spmu *p, uint32_t msr, uint64_t *value);
/* As RDPMC at the given CPL with CR4.PCE as set; SPMU_GP for a bad index. */
int  spmu_rdpmc(const struct spmu *p, uint32_t rdpmc_idx, unsigned cpl, uint64_t *value);
/* The local APIC's memory-mapped register at this offset, of which the PMU owns one: the vector table's performance entry.  It is
 * masked after reset: a PMI reaches the handler only when software has unmasked it, and masks it again (from NetBurst on), so that the
 * handler has to unmask it.  SPMU_ENOMSR: no such register in this PMU. */
#define SPMU_APIC_LVT_PC 0x340
int  spmu_apic_write(struct spmu *p, uint32_t offset, uint32_t value);
int  spmu_apic_read(const struct spmu *p, uint32_t offset, uint32_t *value);
void spmu_set_cr4_pce(struct spmu *p, bool pce);
/* The guest enters or leaves IA-32e mode (spmu_host.mode64). */
void spmu_set_mode64(struct spmu *p, bool mode64);
/* CPUID leaf 0AH: registers EAX, EBX, ECX, EDX. */
void spmu_cpuid_0a(const struct spmu *p, uint32_t regs[4]);
/* The bits of any CPUID leaf (subleaf 0) that say what this PMU has, all others 0: 01H (DS, DTES64, DS-CPL, PDCM), 07H (architectural
 * LBRs), 0AH, 1CH (their depths and filters). */
void spmu_cpuid_bits(const struct spmu *p, uint32_t leaf, uint32_t regs[4]);
/* The whole PMU as one block of spmu_state_bytes() bytes, so that counts belong to a task or a virtual machine: registers, counters, LBR stack,
 * DS registers, LVT entry, CR4.PCE.  The block is opaque and good for a PMU of the same model and version of this library, in this process
 * or another; SPMU_EINPUT for any other block or a damaged one (nothing changes then), SPMU_ENOMEM.  A PMI on its way stays with the PMU. */
size_t spmu_state_bytes(const struct spmu *p);
void spmu_save(struct spmu *p, void *out);
int  spmu_restore(struct spmu *p, const void *in);
/* Count a batch. */
void spmu_consume(struct spmu *p, const struct spmu_batch *batch);

/* Names of registers and of their fields, as the manual of each generation spells them; for debuggers, traces and tests.  Which of the
 * named registers a PMU has, spmu_rdmsr says: it depends on the host, too. */
struct spmu_msr {
	uint32_t address;	/* of the MSR; apic: offset in the local APIC's page */
	bool apic;
	char name[40];		/* "IA32_PERFEVTSEL0" */
	char help[100];		/* one line */
};
struct spmu_field_value { uint64_t value; const char *meaning; };
struct spmu_field {
	uint8_t high, low;	/* bit numbers */
	char name[40];		/* "CMASK" */
	char help[160];		/* one line */
	const struct spmu_field_value *value;	/* what single values mean, of those that have a meaning of their own; static */
	size_t values;
};
enum { SPMU_FIELDS_MAX = 64 };	/* of one register */
/* All named registers of PMUs of this model, by address, the local APIC's entry last: writes the first `room` of them to out (NULL with
 * room 0), returns how many there are. */
size_t spmu_msr_list(const struct spmu_model *m, struct spmu_msr *out, size_t room);
/* The MSR at an address; false: it has no name here. */
bool spmu_msr_at(const struct spmu_model *m, uint32_t msr, struct spmu_msr *out);
/* By name, with or without "MSR_" and "IA32_", upper or lower case, or by address: 0x186, 186H, 390.  False: none. */
bool spmu_msr_find(const struct spmu_model *m, const char *text, struct spmu_msr *out);
/* Its fields from the highest to the lowest; bits between them are reserved.  Returns how many there are. */
size_t spmu_msr_fields(const struct spmu_model *m, const struct spmu_msr *msr, struct spmu_field out[SPMU_FIELDS_MAX]);
/* What a value of the field means; NULL if nothing of its own. */
const char *spmu_field_meaning(const struct spmu_field *f, uint64_t value);

/* P5 */
enum { MSR_P5_CESR = 0x11, MSR_P5_CTR0 = 0x12, MSR_P5_CTR1 = 0x13 };
/* Fields of CESR for counter n: event select in 6 bits from 16n, control code in 3 from 16n + 6, pin control at 16n + 9. */
#define SPMU_CESR_ES(n, select) ((uint64_t)((select) & 0x3f) << 16 * (n))
#define SPMU_CESR_CC(n, code)   ((uint64_t)((code) & 7) << (16 * (n) + 6))
enum { SPMU_CC_CPL012 = 1, SPMU_CC_CPL3 = 2, SPMU_CC_CLOCKS = 4 };
/* P6; PerfEvtSel's fields are those of IA32_PERFEVTSELx below */
enum { MSR_P6_PERFCTR0 = 0xC1, MSR_P6_PERFCTR1 = 0xC2, MSR_P6_PERFEVTSEL0 = 0x186, MSR_P6_PERFEVTSEL1 = 0x187 };

/* MSR addresses used by the architectural PMU */
enum {
	MSR_IA32_PMC0 = 0xC1, MSR_IA32_PERFEVTSEL0 = 0x186, MSR_IA32_A_PMC0 = 0x4C1,
	MSR_IA32_FIXED_CTR0 = 0x309, MSR_PERF_METRICS = 0x329, MSR_IA32_PERF_CAPABILITIES = 0x345,
	MSR_IA32_FIXED_CTR_CTRL = 0x38D, MSR_IA32_PERF_GLOBAL_STATUS = 0x38E, MSR_IA32_PERF_GLOBAL_CTRL = 0x38F,
	MSR_IA32_PERF_GLOBAL_STATUS_RESET = 0x390, MSR_IA32_PERF_GLOBAL_STATUS_SET = 0x391,
	MSR_IA32_PERF_GLOBAL_INUSE = 0x392, MSR_IA32_DEBUGCTL = 0x1D9,
};
/* Debug store, PEBS, last branch records.  LBR stacks: see the manual's table for the generation. */
enum {
	MSR_IA32_MISC_ENABLE = 0x1A0, MSR_IA32_DS_AREA = 0x600, MSR_IA32_PEBS_ENABLE = 0x3F1, MSR_PEBS_DATA_CFG = 0x3F2,
	MSR_PEBS_LD_LAT_THRESHOLD = 0x3F6, MSR_PEBS_FRONTEND = 0x3F7, MSR_RELOAD_PMC0 = 0x14C1, MSR_RELOAD_FIXED_CTR0 = 0x1309,
	MSR_LBR_SELECT = 0x1C8, MSR_LASTBRANCH_TOS = 0x1C9, MSR_LBR_NHM_FROM = 0x680, MSR_LBR_NHM_TO = 0x6C0, MSR_LBR_INFO_0 = 0xDC0,
	MSR_LBR_CORE_FROM = 0x40, MSR_LBR_CORE_TO = 0x60, MSR_LER_FROM_LIP = 0x1DD, MSR_LER_TO_LIP = 0x1DE,
	MSR_IA32_LBR_CTL = 0x14CE, MSR_IA32_LBR_DEPTH = 0x14CF, MSR_IA32_LBR_0_INFO = 0x1200, MSR_IA32_LBR_0_FROM_IP = 0x1500,
	MSR_IA32_LBR_0_TO_IP = 0x1600, MSR_IA32_LER_INFO = 0x1E0,
	MSR_P6_LASTBRANCHFROMIP = 0x1DB, MSR_P6_LASTBRANCHTOIP = 0x1DC, MSR_P6_LASTINTFROMIP = 0x1DD, MSR_P6_LASTINTTOIP = 0x1DE,
	MSR_P4_LER_FROM_LIP = 0x1D7, MSR_P4_LER_TO_LIP = 0x1D8, MSR_P4_LASTBRANCH_TOS = 0x1DA, MSR_P4_LASTBRANCH_0 = 0x1DB,
};
/* NetBurst.  Counter n is 300H + n, its CCCR 360H + n, for n from 0 to 17; names by block. */
enum {
	MSR_BPU_COUNTER0 = 0x300, MSR_MS_COUNTER0 = 0x304, MSR_FLAME_COUNTER0 = 0x308, MSR_IQ_COUNTER0 = 0x30C, MSR_IQ_COUNTER4 = 0x310,
	MSR_BPU_CCCR0 = 0x360, MSR_MS_CCCR0 = 0x364, MSR_FLAME_CCCR0 = 0x368, MSR_IQ_CCCR0 = 0x36C, MSR_IQ_CCCR4 = 0x370,
	MSR_BSU_ESCR0 = 0x3A0, MSR_BSU_ESCR1, MSR_FSB_ESCR0, MSR_FSB_ESCR1, MSR_FIRM_ESCR0, MSR_FIRM_ESCR1, MSR_FLAME_ESCR0, MSR_FLAME_ESCR1,
	MSR_DAC_ESCR0, MSR_DAC_ESCR1, MSR_MOB_ESCR0, MSR_MOB_ESCR1, MSR_PMH_ESCR0, MSR_PMH_ESCR1, MSR_SAAT_ESCR0, MSR_SAAT_ESCR1,
	MSR_U2L_ESCR0, MSR_U2L_ESCR1, MSR_BPU_ESCR0, MSR_BPU_ESCR1, MSR_IS_ESCR0, MSR_IS_ESCR1, MSR_ITLB_ESCR0, MSR_ITLB_ESCR1,
	MSR_CRU_ESCR0, MSR_CRU_ESCR1, MSR_IQ_ESCR0, MSR_IQ_ESCR1, MSR_RAT_ESCR0, MSR_RAT_ESCR1, MSR_SSU_ESCR0,
	MSR_MS_ESCR0 = 0x3C0, MSR_MS_ESCR1, MSR_TBPU_ESCR0, MSR_TBPU_ESCR1, MSR_TC_ESCR0, MSR_TC_ESCR1,
	MSR_IX_ESCR0 = 0x3C8, MSR_IX_ESCR1, MSR_ALF_ESCR0, MSR_ALF_ESCR1, MSR_CRU_ESCR2, MSR_CRU_ESCR3, MSR_CRU_ESCR4 = 0x3E0, MSR_CRU_ESCR5,
	MSR_TC_PRECISE_EVENT = 0x3F0, MSR_PEBS_ENABLE = 0x3F1, MSR_PEBS_MATRIX_VERT = 0x3F2, MSR_DEBUGCTLA = 0x1D9,
};
/* Pushout counters: registers of this model, which no processor has (40000000H to 400000FFH: SDM vol. 4, "Reserved MSR Address Space").  There are
 * four units; unit n has the registers at 40000010H + 16 n.
 *
 * A slot's pushout is by how many cycles it retired, or passed another point, later than the slot before it allowed (src/pmu/pushout_meter.h).  For each
 * slot that its tag holds for a unit runs a register of 32 bits through so many cycles; where that fires, COUNT goes up by 1.
 *
 *   CAPABILITIES  read-only: 7:0 units; 15:8, 23:16, 31:24, 39:32, 47:40, 55:48 slots a cycle at retirement, allocation, decode, the memory-order buffer; stores that become visible;
 *                 slots that are fetched for the decoders
 *   STATUS        bit n: COUNT of unit n overflowed; writing 1 clears.  Bit 16 + n, read-only: STORED of unit n holds a pushout
 *   CONTROL       SPMU_PUSHOUT_* below
 *   LOAD          what the register is loaded with: the threshold (WAY down, up-to), or 2^32 less the threshold (up).  0: no threshold
 *   COUNT         48 bits
 *   STORED        31:0 a pushout that fired, the first one since this was last read; 63: there is one.  Reading it frees the register: until then
 *                 the value stays, whatever fires.  With STORE_OVF only the pushout with which COUNT overflows is stored
 *   STORED_IP     address of the instruction whose slot that was (of a mispredicted branch: the branch, which pushed out what came behind)
 *   ALL_IS, ALL_DID, ANY_IS, ANY_DID, NONE_IS, NONE_DID
 *                 the tag: sets of enum spmu_is and enum spmu_did (record.h).  It holds for a slot that has all of ALL, at least one of ANY
 *                 (unless that is empty) and nothing of NONE.  All empty: every slot
 *
 * A unit whose COUNT overflows with INT set asks for a PMI as the other counters do.  GLOBAL_CTRL and freezing on PMI do not reach them. */
enum {
	MSR_PUSHOUT_CAPABILITIES = 0x40000000, MSR_PUSHOUT_STATUS = 0x40000001, MSR_PUSHOUT_0 = 0x40000010, SPMU_PUSHOUT_UNITS = 4, SPMU_PUSHOUT_STRIDE = 16,
	SPMU_PUSHOUT_BLOCK = SPMU_PUSHOUT_STRIDE * (SPMU_PUSHOUT_UNITS + 1),	/* addresses */
	SPMU_PUSHOUT_CONTROL = 0, SPMU_PUSHOUT_LOAD, SPMU_PUSHOUT_COUNT, SPMU_PUSHOUT_STORED, SPMU_PUSHOUT_STORED_IP, SPMU_PUSHOUT_ALL_IS, SPMU_PUSHOUT_ALL_DID,
	SPMU_PUSHOUT_ANY_IS, SPMU_PUSHOUT_ANY_DID, SPMU_PUSHOUT_NONE_IS, SPMU_PUSHOUT_NONE_DID, SPMU_PUSHOUT_REGISTERS,
};
#define MSR_PUSHOUT(n, reg) (MSR_PUSHOUT_0 + SPMU_PUSHOUT_STRIDE * (uint32_t)(n) + SPMU_PUSHOUT_##reg)
/* Fields of CONTROL; USR, OS, INT and EN as in IA32_PERFEVTSELx (INT 20, EN 22) */
enum { SPMU_PUSHOUT_RETIRE, SPMU_PUSHOUT_ALLOC, SPMU_PUSHOUT_DECODE, SPMU_PUSHOUT_MEMORY, SPMU_PUSHOUT_VISIBLE, SPMU_PUSHOUT_FETCH };
#define SPMU_PUSHOUT_WAY(v)   ((uint64_t)((v) & 3))	/* 0 down from LOAD, 1 up from LOAD, 2 up to LOAD */
#define SPMU_PUSHOUT_POINT(v) ((uint64_t)((v) & 7) << 4)
#define SPMU_PUSHOUT_EVENT    (UINT64_C(1) << 7)	/* from when the event happened, not from when the slot was due */
#define SPMU_PUSHOUT_STORE_OVF (UINT64_C(1) << 24)
/* Fields of an ESCR */
#define SPMU_ESCR_T1_USR UINT32_C(1)
#define SPMU_ESCR_T1_OS  UINT32_C(2)
#define SPMU_ESCR_T0_USR UINT32_C(4)
#define SPMU_ESCR_T0_OS  UINT32_C(8)
#define SPMU_ESCR_TAG_ENABLE UINT32_C(16)
#define SPMU_ESCR_TAG(v)   ((uint32_t)((v) & 15) << 5)
#define SPMU_ESCR_MASK(v)  ((uint32_t)((v) & 0xffff) << 9)
#define SPMU_ESCR_EVENT(v) ((uint32_t)((v) & 63) << 25)
/* Fields of a CCCR */
#define SPMU_CCCR_EXTENDED_CASCADE (UINT32_C(1) << 11)
#define SPMU_CCCR_ENABLE     (UINT32_C(1) << 12)
#define SPMU_CCCR_SELECT(v)  ((uint32_t)((v) & 7) << 13)
#define SPMU_CCCR_ACTIVE(v)  ((uint32_t)((v) & 3) << 16)	/* 0 none, 1 single, 2 both, 3 any thread active */
#define SPMU_CCCR_COMPARE    (UINT32_C(1) << 18)
#define SPMU_CCCR_COMPLEMENT (UINT32_C(1) << 19)
#define SPMU_CCCR_THRESHOLD(v) ((uint32_t)((v) & 15) << 20)
#define SPMU_CCCR_EDGE       (UINT32_C(1) << 24)
#define SPMU_CCCR_FORCE_OVF  (UINT32_C(1) << 25)
#define SPMU_CCCR_OVF_PMI_T0 (UINT32_C(1) << 26)
#define SPMU_CCCR_OVF_PMI_T1 (UINT32_C(1) << 27)
#define SPMU_CCCR_CASCADE    (UINT32_C(1) << 30)
#define SPMU_CCCR_OVF        (UINT32_C(1) << 31)
/* Fields of MSR_PEBS_ENABLE; bits 12:0, 15 and 16 choose what is replayed (SDM, table of replay metrics) */
#define SPMU_PEBS_UOP_TAG    (UINT32_C(1) << 24)
#define SPMU_PEBS_MY_THREAD  (UINT32_C(1) << 25)
#define SPMU_PEBS_OTHER_THREAD (UINT32_C(1) << 26)
/* The ESCR (its MSR) that counter n sees with this ESCR select; 0: none. */
uint32_t spmu_netburst_escr(const struct spmu_model *m, unsigned n, unsigned select);
/* Fields of IA32_PERFEVTSELx */
#define SPMU_EVTSEL_USR   (UINT64_C(1) << 16)
#define SPMU_EVTSEL_OS    (UINT64_C(1) << 17)
#define SPMU_EVTSEL_EDGE  (UINT64_C(1) << 18)
#define SPMU_EVTSEL_PC    (UINT64_C(1) << 19)
#define SPMU_EVTSEL_INT   (UINT64_C(1) << 20)
#define SPMU_EVTSEL_ANY   (UINT64_C(1) << 21)
#define SPMU_EVTSEL_EN    (UINT64_C(1) << 22)
#define SPMU_EVTSEL_INV   (UINT64_C(1) << 23)
#define SPMU_EVTSEL_CMASK(v) ((uint64_t)(uint8_t)(v) << 24)
#ifdef __cplusplus
}
#endif
#endif
