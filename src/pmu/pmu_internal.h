/* SPDX-License-Identifier: BSD-2-Clause
 * The insides of the PMU: what an event table becomes, and the state of one PMU.
 *
 *   pmu_table.c  event table file -> struct spmu_model        pmu_expr.c  its `count` expressions
 *   pmu.c        what all families share: creation, CR4.PCE, the local APIC's entry
 *   pmu_threads.c  registers that each hardware thread has for itself, where threads share a PMU
 *   pmu_save.c   save and restore                            pmu_unmodelled.c  counters that the model cannot count
 *   families/regs_*.c  a family's registers (WRMSR, RDMSR, RDPMC, CPUID) and what each counter is set up to count
 *   families/regs_pushout.c  the pushout counters, which every family may have: pushout_meter.h measures, slot_tag.h
 *                selects the slots
 *   pmu_plan.c   the counters' set-up -> what to count and how
 *   pmu_count.c  batches: segments, overflow, PMIs            pmu_ring.c  per-cycle increments
 *   pmu_tally.c  sums of a batch                              pmu_cover.c  what intervals of signals cover
 *   pmu_pmi.c    where an overflow becomes an interrupt       (pmu_count.h: these three for pmu_count.c)
 *   pmu_distance.c  how many instructions the next PMI is away
 *   ds/ds.h      debug store, PEBS, BTS, LBR: ds.c, pebs.c, pebs_format.c, lbr_stack.c
 *
 * A family (struct pmu_family) knows registers and never looks at batches; the engine (plan, count, ring) counts
 * expressions and knows no register.  They meet in struct pmu_counter, whose first part the family fills in.
 */
#ifndef PMU_INTERNAL_H
#define PMU_INTERNAL_H
#include "softpmu/pmu.h"
#include "ds/ds.h"

#define PMU_NEVER UINT64_MAX
#define PMU_CYCLE_LAST (UINT64_MAX / 4)	/* no cycle beyond this: sums of two do not wrap */
#define PMU_LVT_MASKED (UINT32_C(1) << 16)
#define PMU_LVT_WRITABLE (UINT32_C(0xff) | UINT32_C(7) << 8 | PMU_LVT_MASKED)

enum {
	PMU_MAX_GP = 16, PMU_MAX_FIXED = 8, PMU_MAX_COUNTERS = PMU_MAX_GP + PMU_MAX_FIXED,
	PMU_MAX_TERMS = 16,	/* of one expression */
	PMU_MAX_OWN = 64,	/* sources that a PMU makes itself, from registers: ESCRs, MSR_OFFCORE_RSP_x */
	PMU_MAX_CONDS = 4,	/* of one cycles(...) */
	PMU_MAX_ADDENDS = 4,	/* sources added up in one condition */
	PMU_MAX_CHANNELS = 96,	/* per-cycle quantities of one PMU */
	PMU_MAX_SOURCES = 512,	/* distinct ones in an event table */
	PMU_RING_FIRST = 8192, PMU_RING_LAST = 65536,	/* cycles; powers of two */
	PMU_FAR_LAST = 65536,	/* entries beyond the ring */
	PMU_ACTS_LAST = 16384,	/* overflows handled and interrupts taken in one batch, at most */
	/* and at most this many, and so many more for each record and for each effect (struct spmu.effects) */
	PMU_ACTS_FREE = 64, PMU_ACTS_RECORD = 4, PMU_ACTS_EFFECT = 16,
	PMU_HISTORY = 4096,	/* instructions remembered from earlier batches */
	PMU_HISTORY_SHARED = 65536,	/* the same, at most, where threads share the PMU */
	PMU_THREADS = 8,	/* hardware threads that can share a PMU */
	PMU_OFFCORE_REGISTERS = 2,	/* MSR_OFFCORE_RSP_0 and _1 */
};

enum pmu_stage { STAGE_FETCH, STAGE_ALLOC, STAGE_READY, STAGE_DISPATCH, STAGE_COMPLETE, STAGE_RETIRE, STAGE_NONE };

/* Something to count: uops that meet a predicate, at a stage; or a signal. */
struct pmu_source {
	uint64_t is_mask, is_want;	/* (is & is_mask) == is_want; of a signal: attributes, as any_is */
	uint64_t did_mask, did_want;
	uint64_t any_is, any_did;	/* at least one of them, unless both are 0 */
	uint16_t ports;			/* set of ports, 0: any */
	uint8_t  is_signal, signal, form;
	uint8_t  stage, until;		/* until != STAGE_NONE: in every cycle from stage to until */
	/* Tags (pmu_family.tag): at least one of `tagged`, unless 0, and none of `untagged`. */
	uint16_t tagged, untagged;
};
enum pmu_form { FORM_VALUE, FORM_BEGINS, FORM_ENDS, FORM_PENDING, PMU_FORMS };

struct pmu_cond { uint16_t source[PMU_MAX_ADDENDS]; uint8_t sources, op; uint32_t value; };
enum pmu_op { OP_GE, OP_GT, OP_LE, OP_LT, OP_EQ, OP_NE };

struct pmu_term {
	uint32_t num, den;		/* weight */
	uint16_t source;		/* plain term (conds == 0) */
	uint8_t  conds;
	struct pmu_cond cond[PMU_MAX_CONDS];
};

struct pmu_expr { uint8_t terms; struct pmu_term term[PMU_MAX_TERMS]; };

/* The sums that PERF_METRICS is computed from: slots (SLOTS to FETCH_LAT) and cycles (MEMORY_STALLS, STALLS),
 * whose ratio splits the back end's slots. */
enum pmu_metric {
	METRIC_SLOTS, METRIC_RETIRING, METRIC_BAD_SPEC, METRIC_FE_BOUND, METRIC_HEAVY_OPS, METRIC_BR_MISPREDICT,
	METRIC_FETCH_LAT, METRIC_MEMORY_STALLS, METRIC_STALLS, PMU_METRICS
};

struct pmu_row {
	struct spmu_event public;	/* the first member, because callers get pointers to it */
	struct pmu_expr expr;		/* no terms: not modelled */
	bool weighted;			/* has a weighted cycles(...), which is valid only with the row's own CMASK */
};

enum { PMU_FEATURE_IN_TX = 1, PMU_FEATURE_SPLIT = 2, PMU_FEATURE_RDPMC = 4 };

struct spmu_model {
	const struct pmu_family *family;
	unsigned counters;		/* how many of struct spmu.counter exist: gp + fixed, or what the family has */
	uint32_t cpuid[4];		/* leaf 0AH; family arch */
	uint64_t capabilities;		/* IA32_PERF_CAPABILITIES */
	unsigned version, gp, fixed, slots, tsc_num, tsc_den;
	bool any_thread;		/* AnyThread bits exist */
	unsigned features;		/* set of PMU_FEATURE_ */
	const struct pmu_offcore *offcore;	/* layout of MSR_OFFCORE_RSP_x; NULL: the PMU lacks them */
	const char *core, *libpfm;	/* nearest core preset, libpfm4's name of the PMU; NULL: not in the table */
	unsigned model, threads;	/* family netburst: CPUID model; hardware threads */
	struct pmu_row *row;
	size_t rows;
	struct pmu_source *source;
	size_t sources;
	const struct pmu_row *fixed_row[PMU_MAX_FIXED];
	struct pmu_expr metric[PMU_METRICS];	/* no terms: not given */
	uint64_t identity;		/* pmu_model_identity */
	char *text;			/* the file; names and help point into it */
};

enum pmu_mode {
	MODE_OFF,	/* counts nothing */
	MODE_RETIRE,	/* uops at retirement: in record order, final at once */
	MODE_CYCLES,	/* unhalted cycles, scaled: in order, final at once */
	MODE_SUM,	/* any other sum that no interrupt depends on */
	MODE_RING,	/* needs increments cycle by cycle */
};

/* Classes of records, by thread and privilege level: 2n is thread n in user mode, 2n + 1 in the kernel.  WHO_ are sets
 * of classes, by name those of the first two threads. */
enum { CLASS_USER, PMU_CLASSES = 2 * PMU_THREADS };
enum { WHO_USER = 1, WHO_KERNEL = 2, WHO_OTHER_USER = 4, WHO_OTHER_KERNEL = 8, WHO_OWN = 3, WHO_OTHER = 12 };
/* Hardware threads to interrupt: a set, bit n for thread n (pmu_thread). */
enum { PMI_OWN = 1, PMI_OTHER = 2 };

struct pmu_counter {
	/* Set by the family (pmu_family.setup), which finds all zero. */
	const struct pmu_expr *expr;	/* NULL: counts nothing */
	uint64_t mask;			/* 2^width - 1 */
	uint16_t who;			/* set of WHO_ */
	/* With cmask not 0, the counter counts cycles: those whose increment is at least cmask; with inv, less
	 * than cmask; with edge, those in which that condition begins to hold. */
	uint8_t  cmask, inv, edge;
	/* Largest increment in a cycle; 0: any.  Ignored for plain sums, so set it only where points can exceed
	 * it. */
	uint8_t  clip;
	bool     always;		/* inv counts halted cycles, too */
	uint16_t while_in;		/* set of WHO_: count only in cycles in which such a thread runs; 0: in any */
	/* bit n: count in cycles with n threads running; 0: in any */
	uint16_t active;
	bool     exact;			/* count cycle by cycle even where a sum would do */
	bool     programmed;		/* set up to count; `counts` alone starts and stops it */
	bool     counts;		/* started */
	bool     acts;			/* its overflow has an effect at its place: PMI, freeze, cascade, PEBS */
	bool     every;			/* each increment is an overflow (FORCE_OVF) */
	uint8_t  pmi_only;		/* set of PMI_: its overflow requests these, and does nothing else; 0: more */

	/* State. */
	uint64_t value;
	uint64_t remainder;		/* of a fractional weight: not yet counted, below term[0].den */
	/* Cycles below this one belong to a value that a handler has overwritten (MODE_RING, MODE_CYCLES). */
	uint64_t from;
	uint64_t armed_from;		/* with armed: events before this cycle do not fire */
	bool     armed;			/* overflowed; the next increment fires (PMI after the overflow, PEBS) */
	/* Clocks behind the stream's end that it did not count; it does if the stream goes on after all. */
	uint64_t withheld;
	bool     previous;		/* the edge detector's condition in the last cycle */

	/* Set by the plan. */
	enum pmu_mode mode;
	bool     ring;			/* MODE_RING when it counts */
	uint32_t max_step;		/* most that one record can add (MODE_RETIRE) */
	uint16_t slot[PMU_MAX_TERMS];	/* tally slot of each plain term */
	/* Ring channels of each term. */
	uint8_t  channel[PMU_MAX_TERMS][PMU_MAX_CONDS][PMU_MAX_ADDENDS];
	uint8_t  gate;			/* ring channel of CYCLES: above 0 while the core runs */
	uint8_t  gate_in, gate_thread[PMU_THREADS];	/* the same for while_in, and for each thread with `active` */
};

struct pmu_channel {
	uint16_t source, who;
	bool     level;			/* entries are changes of a level, not amounts */
	bool     once;			/* the level counts as 1 at most: intervals of two threads that overlap */
	bool     fresh;			/* new: the current batch has not been entered into it */
	int64_t  now;			/* current level */
	int64_t *entry;			/* [ring cycles] */
};
enum { PMU_NO_CHANNEL = 255 };

struct pmu_far { uint64_t cycle; int64_t amount; uint32_t channel; };

struct pmu_ring {
	struct pmu_channel channel[PMU_MAX_CHANNELS];
	unsigned channels;
	uint64_t cycles;		/* capacity */
	uint64_t *touched;		/* bitmap: some channel has an entry at this cycle */
	uint64_t first;			/* all cycles below have been counted */
	uint64_t end;			/* the ring has no entry at or above this cycle (`far` may have) */
	uint64_t counted;		/* no entry of the ring says what is counted at or above this cycle */
	struct pmu_far *far;		/* a heap: the nearest cycle first */
	size_t fars, far_room;
	uint64_t far_end;		/* with fars: as `counted`, for `far` */
};

struct pmu_span { uint64_t begin, end; };
struct pmu_cover { struct pmu_span *span; size_t spans, room; };	/* sorted, disjoint */
/* What a signal's intervals cover.  Overlapping intervals count once, separately for each thread (its number:
 * pmu_thread), and for all of them together (AnyThread). */
enum { COVER_OWN, COVER_ANY = PMU_THREADS, PMU_COVERS };
/* A part of the current batch's intervals that nothing before it had covered. */
struct pmu_piece { uint64_t begin, end; uint8_t signal, cover, kernel; };

/* A signal source with attributes, and its tally slot. */
struct pmu_tally_signal { uint64_t im, iw, ai; uint16_t slot; uint8_t signal, form; };
struct pmu_tally_source { uint64_t im, iw, dm, dw, ai, ad; uint16_t ports, tagged, untagged; uint8_t stage, until; };
enum { TALLY_ANY = PMU_CLASSES, PMU_TALLIES = PMU_CLASSES + 2 };	/* classes, then COVER_ANY's user and kernel */

/* When and where a counter overflowed or fired. */
struct pmu_moment {
	const struct spmu_batch *batch;
	uint64_t cycle;
	uint32_t record;	/* the uop whose retirement caused it; batch->count: no uop of this batch did */
	uint32_t next;		/* first record after it, from which on changed registers hold */
};

struct pmu_family {
	const char *name;
	enum spmu_pmu_family public;
	/* Called once the table's shape has been read.  Fills in m->counters.  0, or SPMU_EINPUT with the
	 * reason in text. */
	int  (*shape)(struct spmu_model *m, char *text, size_t text_bytes);
	void (*reset)(struct spmu *p);		/* registers as after power-up; all zero before */
	/* These change registers by pmu_change, or directly followed by pmu_plan.  The caller of rdpmc has
	 * checked the CPL and CR4.PCE. */
	int  (*wrmsr)(struct spmu *p, uint32_t msr, uint64_t value);
	int  (*rdmsr)(const struct spmu *p, uint32_t msr, uint64_t *value);
	int  (*rdpmc)(const struct spmu *p, uint32_t rdpmc_idx, uint64_t *value);
	/* Writes what the registers set counter i up for into the first part of *c. */
	void (*setup)(const struct spmu *p, unsigned i, struct pmu_counter *c);
	/* Counter i wrapped.  May set sticky overflow bits only, because it is called out of order. */
	void (*wrapped)(struct spmu *p, unsigned i);
	/* Counter i, whose `acts` is set, wrapped, fired (an increment while `armed` or with `every`), or both.
	 * Called at the exact place.  True if registers have changed such that the plan must be made again;
	 * they may only start programmed counters and stop counters. */
	bool (*acts)(struct spmu *p, unsigned i, bool wrapped, bool fired, const struct pmu_moment *at);
	/* Writes the tags of the batch's records, for sources with `tagged` or `untagged`.  NULL: the family
	 * has no tags. */
	void (*tag)(struct spmu *p, const struct spmu_batch *b, uint16_t *tag);
	/* A DS buffer (pebs: the PEBS buffer; else BTS) has reached its interrupt threshold.  Sets the status,
	 * freezes, requests the PMI.  Returns as `acts` does. */
	bool (*ds_pmi)(struct spmu *p, bool pebs, const struct pmu_moment *at);
	/* Called when p->registers come from outside (spmu_restore).  Refuses values that no WRMSR could have
	 * written, and recomputes what follows from the registers (rows, expressions).  SPMU_OK or SPMU_EINPUT. */
	int  (*restored)(struct spmu *p);
	uint64_t (*status)(const struct spmu *p);	/* the value for spmu_pmi.status; NULL: 0 */
	uint8_t lvt;		/* 0: the local APIC has no performance entry; 1: it has; 2: and a PMI masks it */
};
extern const struct pmu_family pmu_arch, pmu_p5, pmu_p6, pmu_netburst;

struct pmu_p5_state { uint64_t cesr; };
struct pmu_p6_state { uint64_t evtsel[2], debugctl; };
struct pmu_arch_state {
	uint64_t evtsel[PMU_MAX_GP], fixed_ctrl, global_ctrl, status, debugctl, offcore[PMU_OFFCORE_REGISTERS];
};

enum { PMU_NETBURST_COUNTERS = 18, PMU_NETBURST_ESCRS = 45 };
struct pmu_netburst_state {
	uint32_t escr[PMU_NETBURST_ESCRS], cccr[PMU_NETBURST_COUNTERS];
	uint32_t tc_precise, pebs_enable, pebs_matrix;
	uint64_t batch;			/* number of the batch whose tags were made last */
	/* By thread: tags of the instruction that the previous batch left unfinished, and that the current one
	 * leaves so. */
	uint16_t open[PMU_THREADS], closing[PMU_THREADS];
	uint64_t threads[PMU_NETBURST_COUNTERS];	/* MSR_COUNTER_THREADSn; 0 where there are at most two */
};

/* Registers of the pushout counters (regs_pushout.c). */
struct pmu_pushout_state { uint64_t unit[SPMU_PUSHOUT_UNITS][SPMU_PUSHOUT_REGISTERS], status; };
struct pmu_pushout;

/* Computed from the registers. */
struct pmu_netburst_detected {
	/* What each counter's ESCR detects; the last entry is an event that never happens. */
	struct pmu_expr expr[PMU_NETBURST_COUNTERS + 1];
	/* Sets of counters: whose events may exceed 15 in a cycle; whose events are thread-independent. */
	uint32_t exact, independent;
};

union pmu_registers {
	struct pmu_arch_state arch;
	struct pmu_p6_state p6;
	struct pmu_p5_state p5;
	struct pmu_netburst_state netburst;
};

/* Registers that each hardware thread has for itself where several share a PMU. */
struct pmu_logical { struct pmu_ds_state ds; uint32_t lvt; };

struct spmu {
	const struct spmu_model *model;
	struct spmu_host host;
	bool cr4_pce;
	uint32_t lvt;			/* the local APIC's performance entry */
	union {
		union pmu_registers registers;
		struct pmu_arch_state arch;
		struct pmu_p6_state p6;
		struct pmu_p5_state p5;
		struct pmu_netburst_state netburst;
	};
	/* From the registers: the row that general-purpose counter n is set up for; NULL: none.  (P5, P6, arch) */
	const struct pmu_row *row[PMU_MAX_GP];
	struct pmu_ds_state ds;		/* DS area, PEBS, BTS, LBR */
	/* Threads that share this PMU (pmu_threads.c); 1: it belongs to one.  Thread `on` executes: lvt and ds are
	 * its own, those of the others are in `logical` (NULL: there are none).  watching: set of threads whose
	 * branches are recorded. */
	unsigned threads, on;
	unsigned last_thread;		/* the highest number that pmu_thread returns */
	uint8_t watching;
	struct pmu_logical *logical;
	struct pmu_pushout *pushout;	/* NULL: this PMU has no pushout counters (spmu_host.pushout_width) */
	struct pmu_netburst_detected detected;	/* family netburst */
	struct pmu_expr offcore[PMU_OFFCORE_REGISTERS];	/* what MSR_OFFCORE_RSP_x selects; no terms: nothing */
	struct pmu_counter counter[PMU_MAX_COUNTERS];
	struct pmu_source own[PMU_MAX_OWN];	/* this PMU's own sources, numbered from model->sources up */
	unsigned owns;

	/* the plan: what to count, from the registers */
	bool live;			/* some counter counts */
	unsigned tallies;		/* uop sources first (0 .. tally_uops - 1) */
	unsigned tally_uops;
	unsigned tally_masks;		/* the first tally_masks of them are bit masks at retirement, nothing else */
	/* The first two of those are INST_END and INST_END2, and only their sum is used: spmu_batch.instructions. */
	bool tally_instructions;
	struct pmu_tally_source tally_source[PMU_MAX_COUNTERS * PMU_MAX_TERMS];
	int16_t signal_slot[SPMU_SIG_COUNT][PMU_FORMS];
	/* The signal sources that look at attributes, which have no entry in signal_slot, and the set of their
	 * signals. */
	struct pmu_tally_signal qualified[PMU_MAX_COUNTERS * PMU_MAX_TERMS];
	unsigned qualifieds;
	uint64_t qualified_signals[2];
	bool merged[PMU_MAX_COUNTERS * PMU_MAX_TERMS];	/* [slot]: the value of an INTERVAL, counted from pieces */
	uint64_t tally[PMU_TALLIES][PMU_MAX_COUNTERS * PMU_MAX_TERMS];	/* [class][slot] */
	bool tagging;			/* some source looks at tags */
	uint16_t *tag;			/* tags of the current batch, [SPMU_BATCH_MAX]; NULL until needed */
	uint8_t ring_counter[PMU_MAX_COUNTERS];	/* the counters in MODE_RING */
	unsigned ring_counters;
	bool keep_history;		/* some counter interrupts on an event that is not a retirement */
	uint64_t intervals[2];		/* set of INTERVAL signals in use, whose overlaps must be merged */
	struct pmu_cover cover[PMU_COVERS][SPMU_SIG_COUNT];
	struct pmu_piece *piece;
	size_t pieces, piece_room;
	struct pmu_ring ring;

	/* the run */
	bool started, in_pmi, pending;	/* a batch has come; a handler runs; a PMI was requested and not taken */
	bool others;			/* records of another hardware thread have been seen */
	uint8_t pmi_to;			/* with pending: set of PMI_; each of them takes the PMI separately */
	uint64_t batches;		/* number of the current batch */
	uint64_t lost_in;		/* the batch in which a PMI last found nobody to take it */
	uint8_t lost_to;		/* the threads of which this was so, with no handler since: a set of PMI_ */
	uint64_t effects;		/* PMIs taken, PEBS records written, so far */
	uint64_t steps;			/* work done so far, in records and stretches of cycles looked at; for tests */
	uint32_t wrapped;		/* counters with `acts` that wrapped and have not been handled yet */
	uint32_t ring_due;		/* counters to handle in the cycle that pmu_ring_run returned */
	uint64_t late;			/* PMU_NEVER; or a counted cycle in which `late_due` should have been handled */
	uint32_t late_due;		/* set of counters */
	uint64_t floor;			/* last batch's watermark */
	uint64_t passed;		/* the ring counts up to here, whatever the watermark (spmu_pass) */
	/* Where threads share the PMU.  All of them have passed cycle `known`; with `ended`, none has more to come.
	 * reached: by thread, where its own records end. */
	uint64_t known, reached[PMU_THREADS];
	bool ended;
	uint8_t left;			/* set of threads that have ended (spmu_leave) */
	/* Where the stream ends: from this cycle on no clock ticks.  PMU_NEVER: it goes on, or does not say. */
	uint64_t ends;
	uint64_t now;			/* while a handler runs: the cycle from which its changes hold */
	/* of the pending PMIs, by the thread that they interrupt */
	uint64_t arrival[PMU_THREADS], overflow_cycle[PMU_THREADS];
	uint64_t last_retire[PMU_THREADS];	/* by thread */
	uint64_t last_ip;		/* of the last retired uop */
	uint64_t thread_ip[PMU_THREADS];	/* of each thread's last retired uop */
	/* Instructions of earlier batches: address, retirement of the first uop, and of the thread's last uop before
	 * it; the thread. */
	struct { uint64_t ip, retire, before; uint8_t thread; } *history;
	size_t histories, history_room;
};

/* pmu_expr.c.  Parses a `count` expression and adds its sources to m->source (room PMU_MAX_SOURCES).  SPMU_OK, or
 * SPMU_EINPUT or SPMU_ENOMEM with the reason in text. */
int pmu_expr_parse(struct spmu_model *m, struct pmu_expr *out, const char *s, char *text, size_t text_bytes);
/* pmu_table.c.  The row by which a general-purpose counter counts: as spmu_model_find_code, but a row that only a fixed
 * counter counts is found only if no other has the code. */
const struct pmu_row *pmu_find_code(const struct spmu_model *m, uint64_t perfevtsel);

/* offcore.c: the layouts of MSR_OFFCORE_RSP_x.  The layout of this name (@offcore); NULL: there is none. */
struct pmu_offcore;
const struct pmu_offcore *pmu_offcore_find(const char *name);
/* Both take NULL, for a PMU without the registers. */
const char *pmu_offcore_name(const struct pmu_offcore *o);
unsigned pmu_offcore_registers(const struct pmu_offcore *o);
bool pmu_offcore_valid(const struct pmu_offcore *o, uint64_t value);	/* WRMSR takes it */
bool pmu_offcore_in_vain(const struct pmu_offcore *o, uint64_t value);	/* it selects only snoops in vain */
/* The signal source that counts what the value asks for; false: it asks for nothing. */
bool pmu_offcore_source(const struct pmu_offcore *o, uint64_t value, struct pmu_source *out);
/* Why this value does not count what it asks for; NULL: it does.  *nothing: on the machine it counts nothing either. */
const char *pmu_offcore_problem(const struct pmu_offcore *o, uint64_t value, bool *nothing);

/* arch_metrics.c: MSR_PERF_METRICS computed from counters first, first + 1, ... (enum pmu_metric), and the
 * counters set such that it reads as `value`. */
uint64_t pmu_metrics_read(const struct spmu *p, unsigned first);
void pmu_metrics_write(struct spmu *p, unsigned first, uint64_t slots, uint64_t value);
/* The metric of this name ("retiring", ...); PMU_METRICS if there is none. */
enum pmu_metric pmu_metric_find(const char *name);

/* pmu_plan.c */
/* The expression is the plain sum of INST_END and INST_END2: spmu_batch.instructions. */
bool pmu_is_instructions(const struct spmu_model *m, const struct pmu_expr *x);
enum spmu_signal_kind pmu_signal_kind(unsigned signal);
/* Makes the source one of the PMU's own, and returns its number, by which channels of the ring refer to it; -1: no
 * room. */
int  pmu_own_source(struct spmu *p, const struct pmu_source *want);
/* Makes the plan again from the family's set-up of each counter.  SPMU_ENOMEM: nothing has changed. */
int  pmu_plan(struct spmu *p);
void pmu_plan_release(struct spmu *p);

/* pmu.c */
/* Writes the register *reg and makes the plan again.  Overflow bits of *reg that counting up to now sets
 * survive the write.  SPMU_ENOMEM: nothing has changed. */
int  pmu_change(struct spmu *p, uint64_t *reg, uint64_t value);
/* The model's identity for saved states: a hash of its shape and of its events' names and codes. */
uint64_t pmu_model_identity(const struct spmu_model *m);
/* pmu_save.c.  Makes a changed block pass as undamaged, so that tests reach the checks behind the checksum. */
void pmu_save_seal(const struct spmu *p, void *block);
/* Call it before registers change: counts everything known so far with the old registers. */
void pmu_settle(struct spmu *p);
/* The same where threads share the PMU and thread p->on writes registers: counts the cycles that all threads have
 * passed.  In cycles behind them only the records of some threads have come.  There, the counters of `set` whose
 * `changes` bit is set, and those that count this thread alone, count what is known up to the write.  All others count
 * these cycles later. */
void pmu_settle_shared(struct spmu *p, uint32_t set, uint32_t changes);
/* The cycle from which a write of thread p->on holds, in its own time. */
uint64_t pmu_write_cycle(const struct spmu *p);
/* The cycle that all threads which share the PMU have passed. */
uint64_t pmu_known(const struct spmu *p);
/* A batch of the threads that share the PMU has come; has been counted. */
void pmu_threads_begin(struct spmu *p, const struct spmu_batch *b);
void pmu_threads_remember(struct spmu *p, const struct spmu_batch *b);
void pmu_write_counter(struct spmu *p, unsigned i, uint64_t value);

/* pmu_pmi.c */
/* Requests an interrupt for an overflow at `cycle`; merges with a pending one.  threads: set of PMI_. */
void pmu_request(struct spmu *p, uint64_t cycle);
void pmu_request_to(struct spmu *p, uint64_t cycle, unsigned threads);

/* pmu_threads.c */
int  pmu_threads_create(struct spmu *p);
void pmu_threads_destroy(struct spmu *p);
/* Thread `thread` executes from now on.  Returns the one that executed before. */
unsigned pmu_on(struct spmu *p, unsigned thread);
/* The performance entry of this thread's local APIC. */
uint32_t *pmu_lvt(struct spmu *p, unsigned thread);
/* For spmu_save and spmu_restore: the registers of threads 1 and up behind those of thread 0, which executes.
 * pmu_threads_restored does for every thread what pmu_ds_restored does. */
size_t pmu_threads_bytes(const struct spmu *p);
void pmu_threads_save(const struct spmu *p, void *out);
bool pmu_threads_fit(const struct spmu *p, const void *in);	/* their branch stacks are of this PMU's kind */
void pmu_threads_put(struct spmu *p, const void *in);
int  pmu_threads_restored(struct spmu *p);
/* Drops pending PMIs to threads whose local APIC masks them. */
void pmu_drop_masked(struct spmu *p);

/* regs_pushout.c.  All but create, destroy, save, valid and restore need p->pushout. */
int  pmu_pushout_create(struct spmu *p);
void pmu_pushout_destroy(struct pmu_pushout *q);
int  pmu_pushout_wrmsr(struct spmu *p, uint32_t msr, uint64_t value);
int  pmu_pushout_rdmsr(const struct spmu *p, uint32_t msr, uint64_t *value);
void pmu_pushout_save(const struct spmu *p, struct pmu_pushout_state *out);
/* WRMSRs can write this state */
bool pmu_pushout_valid(const struct spmu *p, const struct pmu_pushout_state *in);
int  pmu_pushout_restore(struct spmu *p, const struct pmu_pushout_state *in);
/* Call it at the beginning of a batch.  True: a unit will interrupt within it. */
bool pmu_pushout_begin(struct spmu *p, const struct spmu_batch *b);
/* Some unit is switched on and requests interrupts. */
bool pmu_pushout_interrupts(const struct spmu *p);
/* First record not yet retired at which a unit interrupts; b->count: none. */
uint32_t pmu_pushout_due(const struct spmu *p, const struct spmu_batch *b);
/* Counts up to record `to` (exclusive), since all before it have retired. */
void pmu_pushout_segment(struct spmu *p, const struct spmu_batch *b, uint32_t to);
/* Call it when registers may have changed; they hold from record `from` on. */
void pmu_pushout_again(struct spmu *p, const struct spmu_batch *b, uint32_t from);

/* pmu_ring.c */
void pmu_ring_release(struct pmu_ring *g);
/* Makes the far list a heap again, after entries were removed from its middle. */
void pmu_far_order(struct pmu_ring *g);
/* Enters the batch and its pieces into the channels, without cycles below `since`.  fresh: into fresh channels
 * only. */
void pmu_ring_feed(struct spmu *p, const struct spmu_batch *batch, bool fresh, uint64_t since);
/* Counts cycles up to `limit` (exclusive).  stop: ends after the first cycle in which a counter with `acts`
 * overflows.  Returns the first such cycle, with or without stop, or PMU_NEVER. */
uint64_t pmu_ring_run(struct spmu *p, uint64_t limit, bool stop);
/* An overflow of this counter has no effect now, however many there are. */
bool pmu_quiet(const struct spmu *p, const struct pmu_counter *c);
/* The cycle up to which entries say what is counted. */
uint64_t pmu_ring_end(const struct spmu *p);
/* Call it before a register changes what ring counters do from `limit` on: counts what is known below it. */
void pmu_ring_settle(struct spmu *p, uint64_t limit);
/* Counts what is known below `limit` in the counters of `set` alone.  The ring stays where it is, and the counters will
 * not count these cycles again. */
void pmu_ring_ahead(struct spmu *p, uint32_t set, uint64_t limit);

/* Adds to a counter.  True if it wrapped or, with `every`, counted at all. */
static inline bool pmu_add(struct spmu *p, unsigned i, uint64_t n)
{
	struct pmu_counter *c = &p->counter[i];
	uint64_t sum = c->value + (n & c->mask);
	c->value = sum & c->mask;
	if (sum <= c->mask && n <= c->mask && !(c->every && n))
		return false;
	if (c->acts)
		p->wrapped |= 1u << i;
	p->model->family->wrapped(p, i);
	return true;
}

/* Increments left until the counter acts. */
static inline uint64_t pmu_left(const struct pmu_counter *c)
{
	return (c->armed | c->every) ? 1 : c->mask + 1 - c->value;
}

/* A bit that every uop which matches the source has: the rarest, as far as its name tells; else all. */
void pmu_source_uops(const struct pmu_source *s, uint64_t *is, uint64_t *did);
/* As spmu_event_outcomes. */
bool pmu_source_outcomes(const struct pmu_source *s);
static inline const struct pmu_source *pmu_source_of(const struct spmu *p, unsigned source)
{
	return source < p->model->sources ? &p->model->source[source] : &p->own[source - p->model->sources];
}

/* The number of a hardware thread among those that the PMU tells apart: 0 its own (T0), then the others of NetBurst's
 * core.  Where the PMU belongs to one thread, 1 is any other. */
static inline unsigned pmu_thread(const struct spmu *p, unsigned hw_thread)
{
	const unsigned number = hw_thread ^ p->host.hw_thread;
	return number < p->last_thread ? number : p->last_thread;
}

/* The classes of all these threads. */
static inline unsigned pmu_everyone(const struct spmu *p)
{
	return (1u << 2 * (p->last_thread + 1)) - 1;
}

/* The set has classes of more than one thread. */
static inline bool pmu_several(unsigned who)
{
	const unsigned threads = (who | who >> 1) & 0x5555;
	return threads & (threads - 1);
}

/* Does a counter of `who` see this piece?  While there is one thread only, COVER_OWN serves AnyThread, too.  A
 * counter that sees only some classes of both threads gets the pieces of each thread, which may overlap; it
 * counts in the ring, where the level counts as 1 at most. */
static inline bool pmu_piece_seen(const struct spmu *p, unsigned who, const struct pmu_piece *e)
{
	if (who == pmu_everyone(p) && p->others)
		return e->cover == COVER_ANY;
	return e->cover != COVER_ANY && who >> (2 * e->cover + e->kernel) & 1;
}

static inline unsigned pmu_class(const struct spmu *p, const struct spmu_record *r)
{
	return 2 * pmu_thread(p, r->hw_thread) + !r->cpl;
}

/* When the first of the pending PMIs arrives. */
static inline uint64_t pmu_arrival(const struct spmu *p)
{
	uint64_t first = PMU_NEVER;
	for (unsigned to = p->pmi_to; to; to &= to - 1)
		if (p->arrival[__builtin_ctz(to)] < first)
			first = p->arrival[__builtin_ctz(to)];
	return first;
}

/* The cycle of a uop's stage, as an offset in its batch. */
static inline uint32_t pmu_offset(const struct spmu_record *r, unsigned stage)
{
	_Static_assert(offsetof(struct spmu_record, retire) == offsetof(struct spmu_record, fetch) + 4 * STAGE_RETIRE,
		"stages in order");
	return *(const uint32_t *)((const char *)r + offsetof(struct spmu_record, fetch) + 4 * stage);
}

/* The source counts squashed uops, at the cycle in which they leave the core. */
static inline bool pmu_squashed(uint8_t stage, uint64_t did_mask, uint64_t did_want)
{
	return stage == STAGE_RETIRE && did_mask & ~did_want & SPMU_DID(RETIRED);
}

/* Absolute cycle of a uop's stage; PMU_NEVER if the uop did not reach it (offset UINT32_MAX; for retirement,
 * RETIRED says it).  For a squashed uop, `retire` is the cycle in which it left the core. */
static inline uint64_t pmu_cycle(const struct spmu_batch *b, const struct spmu_record *r, unsigned stage)
{
	uint32_t offset = pmu_offset(r, stage);
	bool may_miss = stage != STAGE_RETIRE || !(r->did & SPMU_DID(RETIRED));
	return offset == UINT32_MAX && may_miss ? PMU_NEVER : b->base_cycle + offset;
}

/* Does the uop meet the source's predicate?  tag: the record's tags; 0 if the source looks at none. */
__attribute__((always_inline)) static inline bool pmu_match(const struct pmu_source *s, const struct spmu_record *r,
	unsigned tag)
{
	return (r->is & s->is_mask) == s->is_want && (r->did & s->did_mask) == s->did_want &&
		(!(s->any_is | s->any_did) || (r->is & s->any_is) | (r->did & s->any_did)) &&
		(!s->ports || (r->port < 16 && s->ports >> r->port & 1)) && (!s->tagged || s->tagged & tag) &&
		!(s->untagged & tag);
}

/* Does this signal source look at attributes? */
static inline bool pmu_qualified(const struct pmu_source *s)
{
	return s->is_mask | s->any_is;
}

/* The attributes of a signal's record. */
static inline uint64_t pmu_attributes(const struct spmu_record *r)
{
	return r->is | (r->hw_thread & 1 ? SPMU_ATTR(THREAD1) : SPMU_ATTR(THREAD0));
}

static inline bool pmu_attributes_match(uint64_t is_mask, uint64_t is_want, uint64_t any_is,
	const struct spmu_record *r)
{
	const uint64_t is = pmu_attributes(r);
	return (is & is_mask) == is_want && (!any_is || is & any_is);
}

static inline bool pmu_in_set(const uint64_t set[2], unsigned signal)
{
	return set[signal >> 6] >> (signal & 63) & 1;
}
#endif
