/* SPDX-License-Identifier: BSD-2-Clause
 * A performance monitoring unit (PMU) of Intel's processors at register level, to embed in other programs.
 *
 * Index spaces, never mixed: `msr` is an MSR address (ECX of RDMSR), `rdpmc_idx` is ECX of RDPMC,
 * `pmc` is the number of a general-purpose counter, from 0.
 *
 * Nothing here prints, exits, aborts or keeps global state.  All memory comes from malloc when a model is loaded,
 * when a PMU is created and when a counter is programmed; in steady state nothing is allocated.
 *
 * Functions that can fail return SPMU_OK or a negative enum spmu_status.  On failure nothing has changed.
 *
 * Threads: a model may be used by any number of threads at once, a PMU by one thread at a time.
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
	SPMU_GP = -1,		/* the hardware would raise #GP(0) */
	SPMU_ENOMSR = -2,	/* this model has no such MSR (hardware: #GP(0) as well) */
	SPMU_ENOMEM = -3,	/* out of memory */
	SPMU_EINPUT = -4,	/* malformed event table or saved state; an uncore host whose boxes cannot be */
	SPMU_UD = -5,		/* the processor has no such instruction: #UD */
};

struct spmu_model;		/* an event table and the PMU's shape; immutable, shareable */
struct spmu;			/* one PMU of one logical processor */

/* A performance monitoring interrupt (PMI) that is taken, and where the interrupted program stands. */
struct spmu_pmi {
	uint64_t cycle;		/* at which the interrupt is taken */
	uint64_t overflow_cycle;/* of the first overflow that raised it */
	uint64_t ip;		/* address of the first instruction that has not retired when it is taken */
	uint64_t status;	/* IA32_PERF_GLOBAL_STATUS at that moment; NetBurst: bit n is the OVF flag of CCCR n */
	/* Index in the batch of that instruction's first uop.  It is batch->count at the end of the stream: no
	 * instruction follows, and `ip` is that of the last one. */
	uint32_t record;
	/* Usually 0.  n > 0: the instruction at `ip` is the n-th before `record` and lies in an earlier batch.
	 * That happens when an event that is not counted at retirement overflowed before this batch's first
	 * record retired.  Registers that the handler writes then take effect from `record` on. */
	uint32_t behind;
	/* The hardware thread that is interrupted: spmu_host.hw_thread, or the other one where NetBurst's
	 * OVF_PMI_T1 says so. */
	uint8_t hw_thread;
};

/* The guest's registers, for PEBS records. */
struct spmu_registers {
	uint64_t rflags, rip;
	uint64_t gpr[16];	/* as instructions number them: RAX, RCX, RDX, RBX, RSP, RBP, RSI, RDI, R8 to R15 */
	uint64_t xmm[16][2];	/* low half first */
};

/* Published errata that a processor may have. */
enum spmu_quirks {
	/* NetBurst: TC_misc.FLUSH counts every flush twice.  Source: SDM vol. 3B, table of non-retirement events. */
	SPMU_QUIRK_NETBURST_TC_MISC_TWICE = 1,
	/* A counter that cascading, extended or not, has started raises no PMI (model 2; models 0 and 1 after
	 * stepping 9).  Source: SDM vol. 3B, "Extended Cascading". */
	SPMU_QUIRK_NETBURST_CASCADE_NO_PMI = 2,
	/* The enable bit of CCCR1 (361H) does not work: counter 1 never counts.  Source: Linux,
	 * asm/perf_event_p4.h. */
	SPMU_QUIRK_NETBURST_CCCR1_ENABLE = 4,
	/* BSQ_cache_reference "may be off by a factor of two"; this model counts every reference twice.
	 * Source: SDM vol. 3B, table of non-retirement events. */
	SPMU_QUIRK_NETBURST_BSQ_TWICE = 8,
};

/* What the embedding program gives a PMU.  All functions may be NULL; each is called with `context`. */
struct spmu_host {
	void *context;
	/* Called when a PMI is taken.  The handler may use every register function of this PMU: it may reload a
	 * counter or clear a status bit.  Counting goes on after `pmi->record` with the registers as the
	 * handler left them.  A later batch may hold events of cycles before the PMI's (a load that was still
	 * under way): these are counted with the registers as the handler left them, too, except by counters
	 * that the handler wrote.  NULL: PMIs are lost. */
	void (*pmi)(void *context, struct spmu *pmu, const struct spmu_pmi *pmi, const struct spmu_batch *batch);
	uint32_t pmi_latency;	/* cycles from the overflow to the interrupt's arrival at the core */
	/* The interrupt arrives with the next edge of a clock of so many cycles, as a local APIC may hand it
	 * over (cycles are counted from 0); 0 and 1: at once. */
	uint32_t pmi_clock;
	/* It is taken only before an instruction that begins a line of the trace cache (LINE_HEAD), not before any. */
	bool pmi_line;
	/* The hardware thread that this PMU belongs to (spmu_record.hw_thread).  Records of other threads count
	 * only for AnyThread and the like.  NetBurst, whose two threads share the counters: the thread that is
	 * T0. */
	uint8_t hw_thread;
	/* Hardware threads of the core that are switched on; 0 and 1 both mean one.  From Sandy Bridge to
	 * Skylake, each of two such threads has half of the general-purpose counters.  NetBurst: above 1, one struct
	 * spmu is the PMU of all of them (spmu_execute_on); feed it the records of all.  Its hw_thread is then 0.
	 * Above 2, up to 8, it has registers that no processor has (MSR_THREADS_CAPABILITIES).  spmu_create refuses
	 * more than 8, and more than 1 if the processor has no Hyper-Threading (SPMU_EINPUT). */
	uint8_t siblings;

	/* Access to the guest's linear memory, where the DS area with its PEBS and BTS buffers lies.  Give both
	 * or neither; with neither, IA32_MISC_ENABLE says that PEBS and BTS are unavailable.  They may be
	 * called with any address and return 0, or nonzero for a page fault. */
	int (*read_memory)(void *context, uint64_t address, void *to, size_t bytes);
	int (*write_memory)(void *context, uint64_t address, const void *from, size_t bytes);
	/* Gives the guest's registers before or after the instruction that uop `record` of the batch belongs
	 * to.  Returns 0, or nonzero when they are not known.  NULL or nonzero: PEBS records hold zeros, except
	 * for RIP, which the records give. */
	int (*registers)(void *context, const struct spmu_batch *batch, uint32_t record, bool before,
		struct spmu_registers *out);
	/* Called with the PEBS records of a PMU whose IA32_PEBS_ENABLE[62:61] is 1 (output into the Intel PT
	 * trace, possible where IA32_PERF_CAPABILITIES[16] is set): the bytes that the DS buffer would have
	 * held, and not trace packets.  NULL: such records are lost. */
	void (*pebs_output)(void *context, const void *record, size_t bytes);
	/* Cycles from a counter's overflow to the moment from which an event triggers PEBS; 0: the very next
	 * event does. */
	uint32_t pebs_arming;
	/* true: PEBS reloads counters from MSR_RELOAD_x and never from the DS area, as in the virtualised PEBS
	 * of patent application US20200242003A1; adaptive record formats only.  false: those MSRs exist where
	 * IA32_PERF_CAPABILITIES[16] is set, and serve output into the trace. */
	bool pebs_reload_msrs;
	uint32_t quirks;	/* set of SPMU_QUIRK_; 0: the PMU behaves as its manual says */
	/* The core's width, for the pushout counters (MSR_PUSHOUT_CAPABILITIES and up): slots a cycle at each
	 * point that slots pass in program order, by SPMU_PUSHOUT_RETIRE to SPMU_PUSHOUT_FETCH.  0: this point
	 * is not measured.  With 0 at retirement, or with several hardware threads, whose retirement takes
	 * turns, the PMU has no pushout registers. */
	uint8_t pushout_width[6];
	/* The guest starts in IA-32e mode.  The DS area then has the 64-bit layout on processors where the mode
	 * decides (Yonah, NetBurst). */
	bool mode64;
};

/* Events */
enum spmu_event_flags {
	SPMU_EVENT_NOT_MODELLED = 1,	/* exists on the machine; this model cannot produce it */
	SPMU_EVENT_PRECISE = 2,		/* PEBS-capable on the machine */
	SPMU_EVENT_SPECULATIVE = 4,	/* counts wrong-path work too */
	SPMU_EVENT_FIXED = 8,		/* has a fixed counter: `fixed` says which */
	SPMU_EVENT_FIXED_ONLY = 16,	/* no general-purpose counter can count it */
	SPMU_EVENT_DEPRECATED = 32,	/* the machine has a newer event for the same */
	/* P5: true for a number of cycles at a time; one occurrence is one such stretch */
	SPMU_EVENT_DURATION = 64,
	/* No counter counts it: it is a field of MSR_PERF_METRICS, the one of bits 8n+7:8n where `umask` is 80H + n,
	 * times fixed counter 3 (`fixed`) over 255, both since they were last written with 0. */
	SPMU_EVENT_METRIC = 128,
	/* Counts 0 unless last branch records are on (IA32_DEBUGCTL.LBR, IA32_LBR_CTL.LBREn). */
	SPMU_EVENT_LBR = 256,
};
struct spmu_event {		/* one row of the table; its strings belong to the model */
	const char *name;	/* "MEM_LOAD_RETIRED.L1_MISS" */
	const char *help;	/* what it counts, in one line */
	const char *perf_alias;	/* perf's generic name(s), comma-separated ("instructions"), or "" */
	const char *not_modelled; /* why this model cannot produce it, or "" */
	uint32_t flags;		/* set of enum spmu_event_flags */
	uint8_t  event;		/* event select */
	uint8_t  cmask, inv, edge, any;	/* fields of PERFEVTSEL that the event fixes; 0: it does not use them */
	int8_t   fixed;		/* fixed counter, -1 none */
	uint16_t umask;		/* unit mask; NetBurst: the ESCR's event mask */
	uint8_t  escr_select;	/* NetBurst: ESCR select of the CCCR */
	/* NetBurst: qualified by the TI rule (SDM, "Programmable Event Qualification by Logical Processor"). */
	bool     thread_independent;
	/* NetBurst: the ESCRs (MSR addresses) that detect it, 0 none.  pmc_mask and the wiring
	 * (spmu_netburst_escr) say which counter sees which ESCR. */
	uint16_t escr[2];
	uint32_t pmc_mask;	/* bit n: general-purpose counter n can count it */
	/* NetBurst, replay metrics: the values for MSR_PEBS_ENABLE and MSR_PEBS_MATRIX_VERT. */
	uint32_t replay_enable, replay_matrix;
	/* NetBurst, tagged events: the event that must be programmed to tag uops for it, or "" */
	const char *upstream;
	/* NetBurst: true if it counts nothing unless `upstream` or `replay_enable` tags uops for it. */
	bool     needs_tags;
	/* NetBurst: TAG VALUE of the ESCR that tags: its own if it has no `upstream`; 0: any value will do, or none.
	 * 0 in all rows; a copy of a row may say otherwise. */
	uint8_t  tag_value;
	/* An MSR beside PERFEVTSEL that selects what it counts (MSR_PEBS_LD_LAT_THRESHOLD, MSR_PEBS_FRONTEND);
	 * 0: none. */
	uint32_t extra_msr;
	uint64_t extra;		/* the value that extra_msr must have */
};

enum spmu_pmu_family { SPMU_FAMILY_ARCH, SPMU_FAMILY_P5, SPMU_FAMILY_P6, SPMU_FAMILY_NETBURST };

/* Reads data/events/NAME.tsv, whose format src/pmu/pmu_table.c describes.  On success the caller owns *out and
 * releases it with spmu_model_free after the last PMU of this model.  On failure (SPMU_EINPUT, SPMU_ENOMEM)
 * *out is untouched and `text` (text_bytes long) holds the reason with the line number. */
int  spmu_model_load(struct spmu_model **out, const char *path, char *text, size_t text_bytes);
void spmu_model_free(struct spmu_model *m);	/* NULL: does nothing */
/* The table's rows in their order, from 0.  They live as long as the model. */
size_t spmu_model_events(const struct spmu_model *m);
const struct spmu_event *spmu_model_event(const struct spmu_model *m, size_t index);
/* Finds an event by its name, or else by one of perf's aliases.  Case does not matter, and '.' equals ':'.
 * NULL: none. */
const struct spmu_event *spmu_model_find(const struct spmu_model *m, const char *name);
/* Finds an event by the low 16 bits of PERFEVTSEL.  If several rows have them, the one with the same CMASK, INV
 * and EDGE is taken, else the one without any.  NULL if the table has no such code, and on NetBurst, which has
 * no PERFEVTSEL. */
const struct spmu_event *spmu_model_find_code(const struct spmu_model *m, uint64_t perfevtsel);
/* NetBurst: an ESCR counts the sum of several rows if its mask has their bits.  Of the modelled rows of
 * `event`'s kind (the same event select and ESCRs) whose bits are all in `mask`, returns the one with most bits.
 * With that row's bits taken out of the mask, the next call gives the next row of the sum.  If no modelled row
 * is left: a row that is not modelled and has a bit of the mask; NULL: no row has. */
const struct spmu_event *spmu_netburst_part(const struct spmu_model *m, const struct spmu_event *event, uint32_t mask);
/* For this function and the next ones, `event` is a row of the model; on NetBurst it may be a copy of a row with
 * another mask, upstream, replay metric or tag value.
 * Writes to `set` the signals (bit n of the 128: enum spmu_signal n) that must reach the PMU for this event to
 * count, whatever modifiers it is programmed with.  A core need not raise any other. */
void spmu_event_signals(const struct spmu_model *m, const struct spmu_event *event, uint64_t set[2]);
/* If the event, programmed without CMASK, INV and EDGE, counts retired uops by nothing but what they are, returns the
 * set of bits (enum spmu_is) that it looks at, else 0.  Then spmu_event_uop returns what a retired uop with these bits
 * adds. */
uint64_t spmu_event_decoded(const struct spmu_model *m, const struct spmu_event *event);
uint64_t spmu_event_uop(const struct spmu_model *m, const struct spmu_event *event, uint64_t is);
/* Adds bits to *is and *did (sets of enum spmu_is and spmu_did) such that every uop that the event may count
 * has at least one of them.  A core need not hand over any other uop, unless somebody samples: samples need all
 * records.  plain: nonzero if the event is programmed without CMASK, INV and EDGE.  Retired instructions then
 * come from spmu_batch.instructions and need no record. */
void spmu_event_uops(const struct spmu_model *m, const struct spmu_event *event, int plain, uint64_t *is,
	uint64_t *did);
/* The signals and bits of these functions for all that this PMU's registers are set up to count and record now.
 * far: nonzero if no overflow that has an effect comes in what the PMU gets next; else all uops may be wanted.  Counts
 * of instructions alone need no record, as with `plain`.  outcomes: as spmu_event_outcomes. */
struct spmu_wants { uint64_t signal[2], is, did; int outcomes; };
void spmu_wanted(const struct spmu *p, int far, struct spmu_wants *out);
/* Whether the model can count the event with this value of event->extra_msr (the table's rows name some values
 * only).  Returns NULL if it can, else the reason as a static string. */
const char *spmu_event_extra(const struct spmu_model *m, const struct spmu_event *event, uint64_t value);
/* 1 if the event may count squashed branches by TAKEN, MISPREDICTED or MISP_TARGET, else 0.  For events that
 * may not, a core can report the predicted outcome of squashed branches. */
int spmu_event_outcomes(const struct spmu_model *m, const struct spmu_event *event);
/* The PMU's shape.  Strings live as long as the model. */
enum spmu_pmu_family spmu_model_family(const struct spmu_model *m);
/* nearest core preset (data/cores); NULL: not in the table */
const char *spmu_model_core(const struct spmu_model *m);
const char *spmu_model_libpfm(const struct spmu_model *m);	/* libpfm4's name of this PMU, or NULL */
uint64_t spmu_model_capabilities(const struct spmu_model *m);	/* IA32_PERF_CAPABILITIES; 0: there is none */
/* Width in bits of the general-purpose (fixed: of the fixed) counters. */
unsigned spmu_model_counter_bits(const struct spmu_model *m, bool fixed);
unsigned spmu_model_version(const struct spmu_model *m);	/* of architectural perfmon; 0: another family */
unsigned spmu_model_gp_counters(const struct spmu_model *m);
/* How many each of so many hardware threads of a core has (spmu_host.siblings). */
unsigned spmu_model_gp_counters_of(const struct spmu_model *m, unsigned siblings);
unsigned spmu_model_fixed_counters(const struct spmu_model *m);
unsigned spmu_model_slots(const struct spmu_model *m);		/* issue slots a cycle, for TOPDOWN.SLOTS */

/* Makes a PMU with its registers as after reset.  The model must outlive it.  *host is copied; NULL is as one
 * of zeros.  The caller owns *out and releases it with spmu_destroy.  SPMU_ENOMEM. */
int  spmu_create(struct spmu **out, const struct spmu_model *m, const struct spmu_host *host);
void spmu_destroy(struct spmu *p);		/* NULL: does nothing */
const struct spmu_model *spmu_model_of(const struct spmu *p);
unsigned spmu_version(const struct spmu *p);	/* of architectural performance monitoring; 0: another family */

/* As WRMSR and RDMSR at CPL 0.  value: the raw 64-bit image; reserved bits must be zero.  SPMU_GP where
 * hardware raises #GP(0); SPMU_ENOMSR: no register of this PMU.  Source: SDM vol. 3B, chapter "Performance
 * Monitoring". */
int  spmu_wrmsr(struct spmu *p, uint32_t msr, uint64_t value);
int  spmu_rdmsr(const struct spmu *p, uint32_t msr, uint64_t *value);
/* As RDPMC at this CPL.  SPMU_GP: there is no such index, or CPL is not 0 and CR4.PCE is clear (spmu_set_cr4_pce);
 * SPMU_UD: the processor has no RDPMC. */
int  spmu_rdpmc(const struct spmu *p, uint32_t rdpmc_idx, unsigned cpl, uint64_t *value);
/* The local APIC's memory-mapped registers by their offset in the APIC's page.  The PMU owns one of them, the
 * performance entry of the local vector table (LVT).  It is masked after reset; a PMI that finds it masked is
 * lost.  From NetBurst on a delivered PMI masks it, and the handler must unmask it.  SPMU_ENOMSR: not a
 * register of this PMU. */
#define SPMU_APIC_LVT_PC 0x340
int  spmu_apic_write(struct spmu *p, uint32_t offset, uint32_t value);
int  spmu_apic_read(const struct spmu *p, uint32_t offset, uint32_t *value);
void spmu_set_cr4_pce(struct spmu *p, bool pce);
/* NetBurst, where hardware threads share a PMU (spmu_host.siblings above 1): the thread that executes the register
 * accesses from now on; at first spmu_host.hw_thread.  Each has its own IA32_DS_AREA, MSR_DEBUGCTLA, branch stack and
 * local APIC, and ENABLE_PEBS_MY_THR of MSR_PEBS_ENABLE means the thread that executes.  The host's PMI handler runs on
 * the interrupted thread.  SPMU_EINPUT: the PMU has no such thread.
 * A thread that writes a register, or is interrupted, may be ahead of the batches' watermark.  A counter that looks at
 * several threads (several of them in its ESCR, ACTIVE THREAD) is then counted up to the watermark; a value that is
 * written to it counts from there on.  Other counters are counted up to the write. */
int  spmu_execute_on(struct spmu *p, uint8_t hw_thread);
/* The guest enters (true) or leaves IA-32e mode; see spmu_host.mode64. */
void spmu_set_mode64(struct spmu *p, bool mode64);
/* spmu_host.pmi_latency of the overflows from now on. */
void spmu_set_pmi_latency(struct spmu *p, uint32_t cycles);
/* CPUID leaf 0AH: registers EAX, EBX, ECX, EDX. */
void spmu_cpuid_0a(const struct spmu *p, uint32_t regs[4]);
/* The bits of a CPUID leaf (subleaf 0) that describe this PMU; all other bits are 0.  Leaves: 01H (DS, DTES64,
 * DS-CPL, PDCM), 07H (architectural LBRs), 0AH, 1CH (depths and filters of the LBRs). */
void spmu_cpuid_bits(const struct spmu *p, uint32_t leaf, uint32_t regs[4]);
/* Save and restore the whole PMU, so that its counts can belong to a task or a virtual machine: registers,
 * counters, LBR stack, DS registers, LVT entry, CR4.PCE.  The block has spmu_state_bytes() bytes and is opaque; it
 * holds a version, its length, a checksum and the model's identity.  It can be restored, in this process or another,
 * into a PMU of the same model and the same spmu_host.siblings, by the same version of this library; spmu_restore
 * refuses any other block, and a damaged one (every change within eight bytes is found), with SPMU_EINPUT, and changes
 * nothing then.  A PMI that was requested but not yet taken stays with the PMU.  If memory runs out, spmu_restore
 * returns SPMU_ENOMEM, and spmu_save writes a block that spmu_restore refuses. */
size_t spmu_state_bytes(const struct spmu *p);
void spmu_save(struct spmu *p, void *out);
int  spmu_restore(struct spmu *p, const void *in);
/* The same for a block of this many bytes, as read from a file; SPMU_EINPUT also if it is too short or too long. */
int  spmu_restore_bytes(struct spmu *p, const void *in, size_t bytes);
/* A running counter that watches something which the model cannot produce: it reads 0, or too little. */
struct spmu_unmodelled {
	uint32_t counter_msr;	/* the counter's address */
	uint64_t select;	/* the register that selects its event: PERFEVTSEL, CESR, ESCR; fixed: FIXED_CTR_CTRL */
	const char *event;	/* the table's name for it, which belongs to the model; "": it has none */
	const char *reason;	/* why it cannot be counted; belongs to the model */
};
/* Writes the first `room` such counters to out (which may be NULL if room is 0) and returns how many there are; a
 * NetBurst counter is there once for each such event in its ESCR's mask.  Ask after the registers are written: who
 * programs a PMU by event names need not, since a name tells by spmu_event.not_modelled. */
size_t spmu_unmodelled(const struct spmu *p, struct spmu_unmodelled *out, size_t room);
/* A lower bound of how many instructions retire before the next PMI can be taken, for the registers as they are: an
 * emulator that must not be ahead of its PMU runs so many and then asks again.  At least 1; UINT64_MAX: none can be
 * taken.  It holds as long as no stretch of instructions has more than one access each where accesses are counted,
 * adds more than 4 each to a counter of uops, or takes more than 256 cycles each. */
uint64_t spmu_pmi_distance(const struct spmu *p);
/* The same in two parts: no PMI is taken before so many instructions have retired, or so many cycles have passed since
 * the last watermark. */
void spmu_pmi_distances(const struct spmu *p, uint64_t *instructions, uint64_t *cycles);
/* Counts a batch (record.h), which is only read, and not after the call.  Calls the host's functions, the PMI
 * handler among them. */
void spmu_consume(struct spmu *p, const struct spmu_batch *batch);
/* Where records of several hardware threads come, and one of them stands still: says that it will go on at or after
 * `cycle`, which may lie above the batches' watermarks.  What is counted by the cycle is counted up to there with the
 * next batch.  Should a record of an earlier cycle come after all, it counts in the first cycle not yet counted. */
void spmu_pass(struct spmu *p, uint64_t cycle);
/* Where records of several hardware threads come: says that this one has ended, and that its records have come.  An
 * interrupt of it that is pending is taken at its last instruction (spmu_pmi.behind is 1), and so holds up nobody; for
 * overflows behind its last record nobody takes one.  Records of it that come later make it go on.  A hardware thread
 * that the PMU does not have is ignored. */
void spmu_leave(struct spmu *p, uint8_t hw_thread);

/* Names of registers and of their fields, as the manual of each generation spells them; for debuggers, traces
 * and tests.  A PMU may lack some of them, since that depends on the host, too: spmu_rdmsr then returns
 * SPMU_ENOMSR. */
struct spmu_msr {
	uint32_t address;	/* of the MSR; with `apic`: offset in the local APIC's page */
	bool apic;		/* a register of the local APIC, not an MSR */
	char name[40];		/* "IA32_PERFEVTSEL0" */
	char help[100];		/* one line */
};
struct spmu_field_value { uint64_t value; const char *meaning; };
struct spmu_field {
	uint8_t high, low;	/* bit numbers */
	char name[40];		/* "CMASK" */
	char help[160];		/* one line */
	const struct spmu_field_value *value;	/* the values that have a meaning of their own; static */
	size_t values;
};
enum { SPMU_FIELDS_MAX = 64 };	/* of one register */
/* The named registers of PMUs of this model, by address, the local APIC's entry last.  Writes the first `room`
 * of them to out (which may be NULL if room is 0) and returns how many there are. */
size_t spmu_msr_list(const struct spmu_model *m, struct spmu_msr *out, size_t room);
/* Finds the MSR at an address.  False: it has no name here. */
bool spmu_msr_at(const struct spmu_model *m, uint32_t msr, struct spmu_msr *out);
/* Finds a register by its name, with or without "MSR_" and "IA32_", in any case, or by its address: 0x186,
 * 186H, 390.  False: none. */
bool spmu_msr_find(const struct spmu_model *m, const char *text, struct spmu_msr *out);
/* Writes the register's fields from the highest to the lowest and returns how many there are.  Bits in no field are
 * reserved. */
size_t spmu_msr_fields(const struct spmu_model *m, const struct spmu_msr *msr, struct spmu_field out[SPMU_FIELDS_MAX]);
/* What this value of the field means; NULL if it has no meaning of its own. */
const char *spmu_field_meaning(const struct spmu_field *f, uint64_t value);

/* P5 */
enum { MSR_P5_CESR = 0x11, MSR_P5_CTR0 = 0x12, MSR_P5_CTR1 = 0x13 };
/* Fields of CESR for counter n: event select at 16n (6 bits), control code at 16n + 6 (3 bits), pin control at
 * 16n + 9. */
#define SPMU_CESR_ES(n, select) ((uint64_t)((select) & 0x3f) << 16 * (n))
#define SPMU_CESR_CC(n, code)   ((uint64_t)((code) & 7) << (16 * (n) + 6))
enum { SPMU_CC_CPL012 = 1, SPMU_CC_CPL3 = 2, SPMU_CC_CLOCKS = 4 };
/* P6.  The fields of PerfEvtSel are those of IA32_PERFEVTSELx below. */
enum { MSR_P6_PERFCTR0 = 0xC1, MSR_P6_PERFCTR1 = 0xC2, MSR_P6_PERFEVTSEL0 = 0x186, MSR_P6_PERFEVTSEL1 = 0x187 };

/* Architectural PMU */
enum {
	MSR_IA32_PMC0 = 0xC1, MSR_IA32_PERFEVTSEL0 = 0x186, MSR_IA32_A_PMC0 = 0x4C1,
	MSR_IA32_FIXED_CTR0 = 0x309, MSR_PERF_METRICS = 0x329, MSR_IA32_PERF_CAPABILITIES = 0x345,
	MSR_IA32_FIXED_CTR_CTRL = 0x38D, MSR_IA32_PERF_GLOBAL_STATUS = 0x38E, MSR_IA32_PERF_GLOBAL_CTRL = 0x38F,
	MSR_IA32_PERF_GLOBAL_STATUS_RESET = 0x390, MSR_IA32_PERF_GLOBAL_STATUS_SET = 0x391,
	MSR_IA32_PERF_GLOBAL_INUSE = 0x392, MSR_IA32_DEBUGCTL = 0x1D9,
	MSR_OFFCORE_RSP_0 = 0x1A6, MSR_OFFCORE_RSP_1 = 0x1A7,
};
/* Debug store, PEBS, last branch records (LBR).  Where an LBR stack lies and how deep it is differs between
 * generations; see the manual's table. */
enum {
	MSR_IA32_MISC_ENABLE = 0x1A0, MSR_IA32_DS_AREA = 0x600, MSR_IA32_PEBS_ENABLE = 0x3F1,
	MSR_PEBS_DATA_CFG = 0x3F2, MSR_PEBS_LD_LAT_THRESHOLD = 0x3F6, MSR_PEBS_FRONTEND = 0x3F7,
	MSR_RELOAD_PMC0 = 0x14C1, MSR_RELOAD_FIXED_CTR0 = 0x1309, MSR_LBR_SELECT = 0x1C8,
	MSR_LASTBRANCH_TOS = 0x1C9, MSR_LBR_NHM_FROM = 0x680, MSR_LBR_NHM_TO = 0x6C0, MSR_LBR_INFO_0 = 0xDC0,
	MSR_LBR_CORE_FROM = 0x40, MSR_LBR_CORE_TO = 0x60, MSR_LER_FROM_LIP = 0x1DD, MSR_LER_TO_LIP = 0x1DE,
	MSR_IA32_LBR_CTL = 0x14CE, MSR_IA32_LBR_DEPTH = 0x14CF, MSR_IA32_LBR_0_INFO = 0x1200,
	MSR_IA32_LBR_0_FROM_IP = 0x1500, MSR_IA32_LBR_0_TO_IP = 0x1600, MSR_IA32_LER_INFO = 0x1E0,
	MSR_P6_LASTBRANCHFROMIP = 0x1DB, MSR_P6_LASTBRANCHTOIP = 0x1DC, MSR_P6_LASTINTFROMIP = 0x1DD,
	MSR_P6_LASTINTTOIP = 0x1DE, MSR_P4_LER_FROM_LIP = 0x1D7, MSR_P4_LER_TO_LIP = 0x1D8,
	MSR_P4_LASTBRANCH_TOS = 0x1DA, MSR_P4_LASTBRANCH_0 = 0x1DB,
};
/* NetBurst.  Counter n is 300H + n and its CCCR is 360H + n, for n from 0 to 17.  The names here are those of
 * the first counter of each block. */
enum {
	MSR_BPU_COUNTER0 = 0x300, MSR_MS_COUNTER0 = 0x304, MSR_FLAME_COUNTER0 = 0x308, MSR_IQ_COUNTER0 = 0x30C,
	MSR_IQ_COUNTER4 = 0x310, MSR_BPU_CCCR0 = 0x360, MSR_MS_CCCR0 = 0x364, MSR_FLAME_CCCR0 = 0x368,
	MSR_IQ_CCCR0 = 0x36C, MSR_IQ_CCCR4 = 0x370, MSR_BSU_ESCR0 = 0x3A0, MSR_BSU_ESCR1, MSR_FSB_ESCR0,
	MSR_FSB_ESCR1, MSR_FIRM_ESCR0, MSR_FIRM_ESCR1, MSR_FLAME_ESCR0, MSR_FLAME_ESCR1, MSR_DAC_ESCR0,
	MSR_DAC_ESCR1, MSR_MOB_ESCR0, MSR_MOB_ESCR1, MSR_PMH_ESCR0, MSR_PMH_ESCR1, MSR_SAAT_ESCR0,
	MSR_SAAT_ESCR1, MSR_U2L_ESCR0, MSR_U2L_ESCR1, MSR_BPU_ESCR0, MSR_BPU_ESCR1, MSR_IS_ESCR0, MSR_IS_ESCR1,
	MSR_ITLB_ESCR0, MSR_ITLB_ESCR1, MSR_CRU_ESCR0, MSR_CRU_ESCR1, MSR_IQ_ESCR0, MSR_IQ_ESCR1, MSR_RAT_ESCR0,
	MSR_RAT_ESCR1, MSR_SSU_ESCR0, MSR_MS_ESCR0 = 0x3C0, MSR_MS_ESCR1, MSR_TBPU_ESCR0, MSR_TBPU_ESCR1,
	MSR_TC_ESCR0, MSR_TC_ESCR1, MSR_IX_ESCR0 = 0x3C8, MSR_IX_ESCR1, MSR_ALF_ESCR0, MSR_ALF_ESCR1,
	MSR_CRU_ESCR2, MSR_CRU_ESCR3, MSR_CRU_ESCR4 = 0x3E0, MSR_CRU_ESCR5, MSR_TC_PRECISE_EVENT = 0x3F0,
	MSR_PEBS_ENABLE = 0x3F1, MSR_PEBS_MATRIX_VERT = 0x3F2, MSR_DEBUGCTLA = 0x1D9,
};
/* NetBurst with more than two hardware threads (spmu_host.siblings above 2): registers of this model alone; no
 * processor has them.  Elsewhere there is no such MSR.  Their addresses lie in the range of the pushout counters'.
 * The registers of ESCR and CCCR know T0 and T1 only; these know T0 to T7.  Bits of threads that the core does not have
 * are reserved (#GP).
 *
 *   THREADS_CAPABILITIES  read-only.  7:0 number of threads
 *   THREADS(n)  for counter n, from 0 to 17:
 *     15:0   whom it counts: bit 2k is thread k at CPL above 0, bit 2k + 1 thread k at CPL 0.  0: whom the thread
 *            bits of its ESCR say; else these bits alone decide.  An ESCR that tags does so for the threads of its
 *            own bits and for those of the running counters that select it
 *     23:16  bit 16 + k: an overflow interrupts thread k, beside those that OVF_PMI_T0 and OVF_PMI_T1 of its CCCR
 *            say
 *     32:24  bit 24 + k: it counts while exactly k threads run.  0: as ACTIVE THREAD of its CCCR says (none, one,
 *            two, any number)
 *     40     counters 12 to 17: PEBS, as bits 25 and 26 of MSR_PEBS_ENABLE say it for counters 16 and 17
 *     43:41  the thread whose DS area takes its PEBS records */
enum { MSR_THREADS_CAPABILITIES = 0x40000080, MSR_THREADS_0 = 0x40000090 };
#define MSR_THREADS(n) (MSR_THREADS_0 + (uint32_t)(n))
#define SPMU_THREADS_USR(thread)     (UINT64_C(1) << 2 * (thread))
#define SPMU_THREADS_OS(thread)      (UINT64_C(2) << 2 * (thread))
#define SPMU_THREADS_OVF_PMI(set)    ((uint64_t)((set) & 0xff) << 16)
#define SPMU_THREADS_ACTIVE(numbers) ((uint64_t)((numbers) & 0x1ff) << 24)
#define SPMU_THREADS_PEBS            (UINT64_C(1) << 40)
#define SPMU_THREADS_PEBS_THREAD(t)  ((uint64_t)((t) & 7) << 41)
/* Pushout counters: registers of this model alone; no processor has them.  Their addresses lie in 40000000H to
 * 400000FFH, which SDM vol. 4, "Reserved MSR Address Space", keeps free.  There are four units; unit n has the
 * registers at 40000010H + 16 n.
 *
 * The pushout of a slot is the number of cycles by which it retired, or passed another point of the pipeline,
 * later than the slot before it allowed (src/pmu/pushout_meter.h).  A unit looks at the slots that its tag
 * selects.  For each of them a 32-bit register is loaded and counts one step for each cycle of the pushout; if
 * it fires on the way, COUNT goes up by 1.
 *
 *   CAPABILITIES  read-only.  7:0 number of units; then the slots a cycle at each point (0: not measured): 15:8
 *                 retirement, 23:16 allocation, 31:24 decode, 39:32 memory-order buffer, 47:40 stores that
 *                 become visible, 55:48 fetch for the decoders
 *   STATUS        bit n: COUNT of unit n overflowed; write 1 to clear.  Bit 16 + n, read-only: STORED of unit n
 *                 is valid
 *   CONTROL       SPMU_PUSHOUT_* below
 *   LOAD          the value that the 32-bit register is loaded with: the threshold in cycles (WAY "down" and
 *                 "up to"), or 2^32 less the threshold (WAY "up").  0: there is no threshold
 *   COUNT         48 bits
 *   STORED        31:0 a pushout that fired; 63 valid.  The register takes the first pushout after it was last
 *                 read, and keeps it until it is read again.  With STORE_OVF it takes only the pushout with
 *                 which COUNT overflows
 *   STORED_IP     address of the instruction of that slot; of a mispredict, the branch, whose pushout is that
 *                 of the next slot
 *   ALL_IS, ALL_DID, ANY_IS, ANY_DID, NONE_IS, NONE_DID
 *                 the tag: sets of enum spmu_is and enum spmu_did (record.h).  It selects the slots that have
 *                 every bit of ALL, at least one bit of ANY (unless ANY is empty) and no bit of NONE.  All six
 *                 empty: every slot
 *
 * A unit whose COUNT overflows with INT set requests a PMI, as the other counters do.  IA32_PERF_GLOBAL_CTRL and
 * freeze-on-PMI do not affect these units. */
enum {
	MSR_PUSHOUT_CAPABILITIES = 0x40000000, MSR_PUSHOUT_STATUS = 0x40000001, MSR_PUSHOUT_0 = 0x40000010,
	SPMU_PUSHOUT_UNITS = 4, SPMU_PUSHOUT_STRIDE = 16,
	SPMU_PUSHOUT_BLOCK = SPMU_PUSHOUT_STRIDE * (SPMU_PUSHOUT_UNITS + 1),	/* addresses */
	SPMU_PUSHOUT_CONTROL = 0, SPMU_PUSHOUT_LOAD, SPMU_PUSHOUT_COUNT, SPMU_PUSHOUT_STORED, SPMU_PUSHOUT_STORED_IP,
	SPMU_PUSHOUT_ALL_IS, SPMU_PUSHOUT_ALL_DID,
	SPMU_PUSHOUT_ANY_IS, SPMU_PUSHOUT_ANY_DID, SPMU_PUSHOUT_NONE_IS, SPMU_PUSHOUT_NONE_DID, SPMU_PUSHOUT_REGISTERS,
};
#define MSR_PUSHOUT(n, reg) (MSR_PUSHOUT_0 + SPMU_PUSHOUT_STRIDE * (uint32_t)(n) + SPMU_PUSHOUT_##reg)
/* Points of the pipeline, for POINT and spmu_host.pushout_width. */
enum {
	SPMU_PUSHOUT_RETIRE, SPMU_PUSHOUT_ALLOC, SPMU_PUSHOUT_DECODE, SPMU_PUSHOUT_MEMORY, SPMU_PUSHOUT_VISIBLE,
	SPMU_PUSHOUT_FETCH
};
/* Fields of CONTROL; USR, OS, INT and EN as in IA32_PERFEVTSELx (INT 20, EN 22) */
#define SPMU_PUSHOUT_WAY(v)   ((uint64_t)((v) & 3))	/* 0 down from LOAD, 1 up from LOAD, 2 up to LOAD */
#define SPMU_PUSHOUT_POINT(v) ((uint64_t)((v) & 7) << 4)
/* Measure from the moment the tagged event happened, not from the cycle in which the slot was due. */
#define SPMU_PUSHOUT_EVENT    (UINT64_C(1) << 7)
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
/* Fields of MSR_PEBS_ENABLE; bits 12:0, 15 and 16 select the replay metric (SDM, table of replay metrics). */
#define SPMU_PEBS_UOP_TAG    (UINT32_C(1) << 24)
#define SPMU_PEBS_MY_THREAD  (UINT32_C(1) << 25)
#define SPMU_PEBS_OTHER_THREAD (UINT32_C(1) << 26)
/* The ESCR mask that counts what a name with these mask bits means.  The bus events (IOQ_*, BSQ_*) look at fields of
 * their mask together, and a bit alone would select nothing: fields that are left open are filled in (any type, both
 * directions, the memory types that occur, own requests; for BSQ_*, one bit alone: the most usual request that has
 * it).  Other events, and other PMUs: the mask itself. */
uint32_t spmu_netburst_mask(const struct spmu_model *m, const struct spmu_event *event, uint32_t mask);
/* The MSR address of the ESCR that counter n sees with this ESCR select; 0: none. */
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
