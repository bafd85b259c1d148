/* SPDX-License-Identifier: BSD-2-Clause
 * The insides of the PMU: what an event table becomes, and the state of one PMU.
 *
 *   pmu_table.c  event table file -> struct spmu_model        pmu_expr.c  its `count` expressions
 *   pmu_regs.c   registers: WRMSR, RDMSR, RDPMC, CPUID        pmu_plan.c  registers -> what to count and how
 *   pmu_count.c  batches: sums, overflow, PMI                 pmu_ring.c  per-cycle increments
 *
 * Left out of this PMU: PEBS, LBR, DS area, PERF_METRICS, more than one hardware thread a core.
 */
#ifndef PMU_INTERNAL_H
#define PMU_INTERNAL_H
#include "softpmu/pmu.h"

#define PMU_COUNTER_MASK ((UINT64_C(1) << 48) - 1)
#define PMU_NEVER UINT64_MAX
#define PMU_CYCLE_LAST (UINT64_MAX / 4)	/* no cycle beyond this: sums of two do not wrap */
#define STATUS_CTR_FRZ (UINT64_C(1) << 59)
#define DEBUGCTL_FREEZE_PERFMON_ON_PMI (UINT64_C(1) << 12)

enum {
	PMU_MAX_GP = 16, PMU_MAX_FIXED = 8, PMU_MAX_COUNTERS = PMU_MAX_GP + PMU_MAX_FIXED,
	PMU_MAX_TERMS = 8,	/* of one expression */
	PMU_MAX_CONDS = 4,	/* of one cycles(...) */
	PMU_MAX_ADDENDS = 4,	/* sources added up in one condition */
	PMU_MAX_CHANNELS = 96,	/* per-cycle quantities of one PMU */
	PMU_MAX_SOURCES = 512,	/* distinct ones in an event table */
	PMU_RING_FIRST = 8192, PMU_RING_LAST = 65536,	/* cycles; powers of two */
	PMU_FAR_LAST = 65536,	/* entries beyond the ring */
	PMU_PMI_LAST = 4096,	/* interrupts taken in one batch */
	PMU_HISTORY = 4096,	/* instructions remembered from earlier batches */
};

enum pmu_stage { STAGE_FETCH, STAGE_ALLOC, STAGE_READY, STAGE_DISPATCH, STAGE_COMPLETE, STAGE_RETIRE, STAGE_NONE };

/* Something that happens: uops that meet a predicate, at a stage; or a signal. */
struct pmu_source {
	uint64_t is_mask, is_want;	/* (is & is_mask) == is_want */
	uint64_t did_mask, did_want;
	uint64_t any_is, any_did;	/* at least one of them, unless both are 0 */
	uint16_t ports;			/* set of ports, 0: any */
	uint8_t  is_signal, signal, form;
	uint8_t  stage, until;		/* until != STAGE_NONE: in every cycle from stage to until */
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

struct pmu_row {
	struct spmu_event public;	/* first: handed out */
	struct pmu_expr expr;		/* no terms: not modelled */
	bool weighted;			/* has a weighted cycles(...): means something only at its own cmask */
};

struct spmu_model {
	uint32_t cpuid[4];		/* leaf 0AH */
	uint64_t capabilities;		/* IA32_PERF_CAPABILITIES */
	unsigned version, gp, fixed, slots, tsc_num, tsc_den;
	bool any_thread;		/* AnyThread bits exist */
	struct pmu_row *row;
	size_t rows;
	struct pmu_source *source;
	size_t sources;
	const struct pmu_row *fixed_row[PMU_MAX_FIXED];
	char *text;			/* the file; names and help point into it */
};

enum pmu_mode {
	MODE_OFF,	/* counts nothing */
	MODE_RETIRE,	/* uops at retirement: in record order, final at once */
	MODE_CYCLES,	/* unhalted cycles, scaled: in order, final at once */
	MODE_SUM,	/* any other sum that no interrupt depends on */
	MODE_RING,	/* needs increments cycle by cycle */
};

struct pmu_counter {
	uint64_t value;
	uint64_t remainder;		/* of a fractional weight */
	uint64_t from;			/* cycles below belong to a value overwritten in a handler (MODE_RING, MODE_CYCLES) */
	const struct pmu_row *row;
	enum pmu_mode mode;
	uint8_t  cmask, inv, edge;
	uint8_t  cpl;			/* 1 user, 2 kernel, 3 both */
	bool     interrupts;		/* its overflow changes the run: PMI or freeze */
	bool     previous;		/* edge detector */
	bool     programmed;		/* enabled in its own register, with an event that it can count */
	bool     ring;			/* MODE_RING when it counts */
	uint32_t max_step;		/* most that one record can add (MODE_RETIRE) */
	uint16_t slot[PMU_MAX_TERMS];	/* tally slot of each plain term */
	uint8_t  channel[PMU_MAX_TERMS][PMU_MAX_CONDS][PMU_MAX_ADDENDS];	/* ring channels of each term */
	uint8_t  gate;			/* ring channel of CYCLES: is the core running? */
};

struct pmu_channel {
	uint16_t source;
	uint8_t  cpl;
	bool     level;			/* entries are changes, not amounts */
	bool     fresh;			/* has not seen the batch in progress */
	int64_t  now;			/* level so far */
	int64_t *entry;			/* [ring cycles] */
};
enum { PMU_NO_CHANNEL = 255 };

struct pmu_far { uint64_t cycle; int64_t amount; uint32_t channel; };

struct pmu_ring {
	struct pmu_channel channel[PMU_MAX_CHANNELS];
	unsigned channels;
	uint64_t cycles;		/* capacity */
	uint64_t *touched;		/* bitmap: some channel has an entry at this cycle */
	uint64_t first;			/* cycles below are counted */
	uint64_t end;			/* no dense entry at or above */
	struct pmu_far *far;
	size_t fars, far_room;
};

struct pmu_span { uint64_t begin, end; };
struct pmu_cover { struct pmu_span *span; size_t spans, room; };	/* sorted, disjoint */
struct pmu_piece { uint64_t begin, end; uint8_t signal, kernel; };

struct pmu_tally_source { uint64_t im, iw, dm, dw, ai, ad; uint16_t ports; uint8_t stage, until; };

struct spmu {
	const struct spmu_model *model;
	struct spmu_host host;
	bool cr4_pce;
	uint64_t evtsel[PMU_MAX_GP], fixed_ctrl, global_ctrl, status, debugctl;
	struct pmu_counter counter[PMU_MAX_COUNTERS];	/* general-purpose, then fixed from PMU_MAX_GP */

	/* plan: what the registers ask for */
	bool live;			/* some counter counts */
	unsigned tallies;		/* uop sources first (0 .. tally_uops - 1) */
	unsigned tally_uops;
	unsigned tally_masks;		/* the first so many are bit masks at retirement, nothing else */
	bool tally_instructions;	/* the first two of them are INST_END and INST_END2 and only ever summed: spmu_batch.instructions */
	struct pmu_tally_source tally_source[PMU_MAX_COUNTERS * PMU_MAX_TERMS];
	int16_t signal_slot[SPMU_SIG_COUNT][PMU_FORMS];
	uint64_t tally[2][PMU_MAX_COUNTERS * PMU_MAX_TERMS];	/* [kernel][slot] */
	uint8_t ring_counter[PMU_MAX_COUNTERS];	/* those in MODE_RING */
	unsigned ring_counters;
	bool keep_history;		/* some counter interrupts on what is not a retirement */
	uint64_t signals[2];		/* set of signals in use */
	uint64_t intervals[2];		/* those of them whose overlaps have to be merged */
	struct pmu_cover cover[SPMU_SIG_COUNT];
	struct pmu_piece *piece;
	size_t pieces, piece_room;
	struct pmu_ring ring;

	/* run */
	bool started, in_pmi, pending;
	uint64_t floor;			/* last batch's watermark */
	uint64_t now;			/* boundary cycle while a handler runs */
	uint64_t arrival, overflow_cycle;	/* of the pending PMI */
	uint64_t last_retire, last_ip;	/* of the last retired uop */
	struct { uint64_t ip, retire, before; } *history;	/* first uop; last uop of the instruction before it */
	size_t histories;
};

/* pmu_expr.c.  0, or SPMU_EINPUT/SPMU_ENOMEM with the reason in text.  Adds sources to m->source (room PMU_MAX_SOURCES). */
int pmu_expr_parse(struct spmu_model *m, struct pmu_expr *out, const char *s, char *text, size_t text_bytes);
const struct pmu_row *pmu_find_code(const struct spmu_model *m, uint64_t perfevtsel);

/* pmu_plan.c */
/* The expression is the plain sum of both halves of an instruction (INST_END, INST_END2): spmu_batch.instructions. */
bool pmu_is_instructions(const struct spmu_model *m, const struct pmu_expr *x);
enum spmu_signal_kind pmu_signal_kind(unsigned signal);
int  pmu_plan(struct spmu *p);		/* 0 or SPMU_ENOMEM, then nothing has changed */
void pmu_plan_release(struct spmu *p);

/* pmu_ring.c */
void pmu_ring_release(struct pmu_ring *g);
/* Enters what `batch` and its pieces say; cycles below `since` left out.  fresh: only into channels that are. */
void pmu_ring_feed(struct spmu *p, const struct spmu_batch *batch, bool fresh, uint64_t since);
/* Counts cycles up to `limit` (exclusive).  stop: ends behind the first cycle in which an interrupting counter overflows.
 * Returns that cycle (the first such, even without stop), or PMU_NEVER. */
uint64_t pmu_ring_run(struct spmu *p, uint64_t limit, bool stop);
/* First cycle from which nothing is known. */
uint64_t pmu_ring_end(const struct spmu *p);
/* A register is about to change what ring counters do from `limit` on: counts what is known below it. */
void pmu_ring_settle(struct spmu *p, uint64_t limit);


static inline uint64_t pmu_status_bit(unsigned counter)
{
	return counter < PMU_MAX_GP ? UINT64_C(1) << counter : UINT64_C(1) << (32 + counter - PMU_MAX_GP);
}

/* Adds to a counter; true when it wrapped. */
static inline bool pmu_add(struct spmu *p, unsigned i, uint64_t n)
{
	uint64_t sum = p->counter[i].value + (n & PMU_COUNTER_MASK);
	p->counter[i].value = sum & PMU_COUNTER_MASK;
	if (sum <= PMU_COUNTER_MASK)
		return false;
	p->status |= pmu_status_bit(i);
	return true;
}

/* A uop's stage as an offset in its batch. */
static inline uint32_t pmu_offset(const struct spmu_record *r, unsigned stage)
{
	_Static_assert(offsetof(struct spmu_record, retire) == offsetof(struct spmu_record, fetch) + 4 * STAGE_RETIRE, "stages in order");
	return *(const uint32_t *)((const char *)r + offsetof(struct spmu_record, fetch) + 4 * stage);
}

/* Absolute cycle of a uop's stage; PMU_NEVER if it never got there (offset UINT32_MAX; RETIRED says it for retirement). */
static inline uint64_t pmu_cycle(const struct spmu_batch *b, const struct spmu_record *r, unsigned stage)
{
	uint32_t offset = pmu_offset(r, stage);
	return offset == UINT32_MAX && stage != STAGE_RETIRE ? PMU_NEVER : b->base_cycle + offset;
}

__attribute__((always_inline)) static inline bool pmu_match(const struct pmu_source *s, const struct spmu_record *r)
{
	return (r->is & s->is_mask) == s->is_want && (r->did & s->did_mask) == s->did_want &&
		(!(s->any_is | s->any_did) || (r->is & s->any_is) | (r->did & s->any_did)) &&
		(!s->ports || (r->port < 16 && s->ports >> r->port & 1));
}

static inline bool pmu_in_set(const uint64_t set[2], unsigned signal)
{
	return set[signal >> 6] >> (signal & 63) & 1;
}
#endif
