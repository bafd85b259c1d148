/* SPDX-License-Identifier: BSD-2-Clause
 * The pushout of a slot: the number of cycles by which it retired later than the slot before it allowed.
 *
 * Retirement is in order and a fixed number of slots wide.  A slot is *due* in the cycle in which the slot before it
 * retired, or in the next cycle if that one was full; its pushout is its retirement less that cycle.  There are two
 * readings: *sequential*, for every slot, and *tagged*, for the slots that a tag selects (slot_tag.h).
 *
 * A mispredicted branch, or a branch unknown to the BTB, pushes out the slots after it.  So a tag that names
 * one of these (PUSHOUT_NEXT) and holds for a slot that has it measures the next slot that retires, and charges
 * the tagged slot.  Machine clears are handled the same way, except for that of a load that passed a store,
 * since this load itself is executed again.  The other clears belong to no uop, so the tag is evaluated with
 * the clear's bit alone.
 *
 * The pushout is measured from one of two moments (enum pushout_from) to the retirement:
 *   due    the cycle in which the slot was due
 *   event  the dispatch of the uop that has the event; for a mispredict its completion, when it becomes known;
 *          for an event of fetch or allocation, that fetch or allocation; in a sequential reading, the slot's
 *          allocation
 *
 * The same is measured at other points that slots pass in order (enum pushout_point).  A slot is due at a point
 * when the slot before it passed, or a cycle later if that cycle was full.
 *   alloc    allocation
 *   decode   delivery by the front end, from the decoders, the uop cache or the loop buffer, into the uop queue
 *   fetch    before the decoders: an instruction's bytes are in the instruction queue and its length is known.
 *            Uops from the uop cache or loop buffer are fetched when they are delivered.  The slots after the
 *            first one of a decoded instruction are fetched with it and fill no cycle: the width for decoded
 *            instructions is that of predecode, for those delivered directly that of decode
 *   memory   the memory-order buffer, at allocation; only slots that access memory pass it, and each is due
 *            when the one before it was
 *   visible  stores become visible to other cores, in order, after they have retired.  Each is due when the one
 *            before it was written; "event" is its retirement; the tag is evaluated for the store's own slot
 *
 * Hardware counts pushouts by a threshold, in one of three ways that all give the same count (pushout_fires).
 * regs_pushout.c has such counters as registers; analysis/cost/cost.c keeps all values.
 *
 * After C. Newburn, US 2005/0273310 A1.  The first slot of a stretch in which the core runs is due when the
 * stretch begins.  Leaves out: hardware threads of a core, which retire in turn; reads of the uop cache apart
 * from delivery, for which the core has no time of its own; stores that have not been written when the last
 * slot of the records retires.
 */
#ifndef PMU_PUSHOUT_METER_H
#define PMU_PUSHOUT_METER_H
#include "slot_tag.h"
#include "softpmu/record.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* ---- a counter of pushouts that are at least a threshold ---- */

#define PUSHOUT_WAYS(X) /* name, what the counter is loaded with and when it fires */ \
	X(DOWN,    "down",  "from the threshold down, fires at zero") \
	X(UP_FROM, "up",    "from minus the threshold up, fires when it overflows") \
	X(UP_TO,   "up-to", "from zero up, fires when it equals the threshold")
enum pushout_way {
#define X(name, text, help) PUSHOUT_##name,
	PUSHOUT_WAYS(X)
#undef X
	PUSHOUT_WAYS_COUNT
};
/* Does a 32-bit register that is loaded with this value fire at or before the end of `cycles` steps?  With a
 * threshold of 0, DOWN and UP_TO fire at once, UP_FROM never. */
static inline bool pushout_fires(enum pushout_way way, uint32_t loaded, uint32_t cycles)
{
	switch (way) {
	case PUSHOUT_DOWN:	/* it ends at zero, or a borrow says that it has passed zero */
		return loaded == cycles || (uint64_t)loaded - cycles > UINT32_MAX;
	case PUSHOUT_UP_FROM:
		return loaded + (uint64_t)cycles > UINT32_MAX;
	default:
		return cycles >= loaded;
	}
}

/* ---- measures over records ---- */

enum pushout_from { PUSHOUT_FROM_DUE, PUSHOUT_FROM_EVENT };
enum pushout_point {
	PUSHOUT_RETIRE,
	PUSHOUT_ALLOC,
	PUSHOUT_DECODE,
	PUSHOUT_MEMORY,
	PUSHOUT_VISIBLE,
	PUSHOUT_FETCH,
	PUSHOUT_POINTS
};
struct pushout_widths { unsigned at[PUSHOUT_POINTS]; };	/* slots a cycle; 0 where nothing is measured */
enum { PUSHOUT_MEASURES = 64 };

/* One measured slot. */
struct pushout_one {
	uint64_t ip;		/* of the instruction that the tagged slot belongs to */
	uint32_t cycles;
	uint32_t record;	/* index in the batch of the last uop of the slot that retired late */
	uint8_t  cpl;		/* of the tagged slot */
};
struct pushout_measure {
	const struct tag *tag;		/* NULL: sequential, every slot */
	enum pushout_from from;
	enum pushout_point point;
	/* called for each measured slot */
	void (*each)(void *context, unsigned measure, const struct pushout_one *one);
	void *context;
};

struct pushout;				/* the meter of one thread */
/* Copies the measures and their tags; `context` must outlive the meter.  NULL: out of memory, more than
 * PUSHOUT_MEASURES, a measure at a point whose width is 0, or no width at retirement. */
struct pushout *pushout_create(const struct pushout_widths *widths, const struct pushout_measure *m, unsigned measures);
void pushout_destroy(struct pushout *p);
/* Replaces the measures; the positions of slots stay.  changed: set of measures that forget a tagged slot which
 * waits for the next one.  False, and nothing has changed: too many, or one at a point whose width is 0. */
bool pushout_set(struct pushout *p, const struct pushout_measure *m, unsigned measures, uint64_t changed);
/* Starts again after a gap in the records, with the same measures. */
void pushout_restart(struct pushout *p);
void pushout_copy(struct pushout *to, const struct pushout *from);
/* Measures a batch.  It must hold all uop records, the signals CYCLES, CLEAR_MEMORY_ORDER and CLEAR_SMC, and
 * that of each measured point (pushout_signal). */
void pushout_batch(struct pushout *p, const struct spmu_batch *b);
/* The signal by which a point is measured; SPMU_SIG_COUNT: none. */
static inline enum spmu_signal pushout_signal(enum pushout_point point)
{
	return point == PUSHOUT_VISIBLE ? SPMU_SIG_STORE_VISIBLE
		: point == PUSHOUT_FETCH ? SPMU_SIG_INSN_FETCHED
		: SPMU_SIG_COUNT;
}
/* slots: retired slots.  pushed: the sum of their pushouts at retirement.  full: cycles in which retirement
 * moved on only because the cycle before was full.  pushed + full is the time from the first stretch's begin to
 * the last retirement, without halted cycles. */
struct pushout_sums { uint64_t slots, pushed, full; };
struct pushout_sums pushout_sums(const struct pushout *p);
/* A tag that names one of these bits measures the next slot. */
#define PUSHOUT_NEXT (SPMU_DID(MISPREDICTED) | SPMU_DID(MISP_TARGET) | SPMU_DID(BTB_MISS))
#endif
