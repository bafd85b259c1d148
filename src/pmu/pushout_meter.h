/* SPDX-License-Identifier: BSD-2-Clause
 * Pushout: by how many cycles a slot retired later than the slot before it allowed.
 *
 * Retirement is in order and so many slots wide.  A slot is *due* in the cycle in which the slot before it retired, or in the next if that one
 * retired as many as it can; its pushout is its retirement less that.  Read in two ways: *sequential*, of every slot, and *tagged*, of those that
 * a tag holds for (slot_tag.h).  What a mispredicted branch or a branch unknown to the BTB pushes out is what comes behind it: a tag that names one of
 * them and holds for a slot that has it measures the next slot that retires, and charges the slot that was tagged.  So do machine clears but for
 * that of a load that passed a store, which is executed again itself; of others no uop is asked: the tag is asked of the clear's bit alone.
 *
 * From when is measured, too (enum pushout_from): from when the slot was due; or from the event: the dispatch of the uop that has it (for a
 * mispredict: its completion, when it is known to be one; for what happened on the way there: its fetch or its allocation; of every slot: its
 * allocation), to the retirement.
 *
 * The same at the other points that slots pass in order (enum pushout_point): a slot is due at allocation, or at decode, when the slot before it was,
 * or a cycle later if that cycle was full.  Decode is delivery by the front end: from the decoders, the uop cache or the loop buffer into the uop queue.
 * Fetch lies before the decoders: an instruction's bytes are in the instruction queue, their length known; what comes from the uop cache or the
 * loop buffer is fetched when it is delivered.  Slots behind the first of an instruction that is decoded are fetched with it, and fill no cycle: its width is that of predecode, of
 * those that are delivered at once that of decode.  The memory-order buffer is passed by slots that access memory alone, when they are
 * allocated: they are due when the one before of them was.  Stores become visible, after they have retired, in order, too: each is due when the one
 * before it was written; from the event is then from its retirement; what is asked is what its own slot is and did.
 *
 * Hardware counts by threshold, in one of three ways, all with the same count: pushout_fires.  regs_pushout.c has such counters as registers, and
 * analysis/cost/cost.c keeps all values.
 *
 * After C. Newburn, US 2005/0273310 A1.  The first slot of a stretch in which the core runs is due when the stretch begins.
 * Leaves out: that hardware threads of a core retire in turn; reads of the uop cache apart from delivery, which the core has no time of its own for;
 * stores that have not been written when the last slot of the records retires.
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
/* Does a register of 32 bits, loaded with this, fire on the way when so many cycles pass?  A threshold of 0 is none: DOWN and UP_TO fire at once,
 * UP_FROM never. */
static inline bool pushout_fires(enum pushout_way way, uint32_t loaded, uint32_t cycles)
{
	switch (way) {
	case PUSHOUT_DOWN:	/* zero is passed when the register borrows, or reached */
		return loaded == cycles || (uint64_t)loaded - cycles > UINT32_MAX;
	case PUSHOUT_UP_FROM:
		return loaded + (uint64_t)cycles > UINT32_MAX;
	default:
		return cycles >= loaded;
	}
}

/* ---- measures over records ---- */

enum pushout_from { PUSHOUT_FROM_DUE, PUSHOUT_FROM_EVENT };
enum pushout_point { PUSHOUT_RETIRE, PUSHOUT_ALLOC, PUSHOUT_DECODE, PUSHOUT_MEMORY, PUSHOUT_VISIBLE, PUSHOUT_FETCH, PUSHOUT_POINTS };
struct pushout_widths { unsigned at[PUSHOUT_POINTS]; };	/* slots a cycle; 0 where nothing is measured */
enum { PUSHOUT_MEASURES = 64 };

struct pushout_one {
	uint64_t ip;		/* of the instruction that the tagged slot belongs to */
	uint32_t cycles;
	uint32_t record;	/* the last uop of the slot that retired so late: index in the batch */
	uint8_t  cpl;		/* of the tagged slot */
};
struct pushout_measure {
	const struct tag *tag;		/* NULL: sequential, every slot */
	enum pushout_from from;
	enum pushout_point point;
	/* told of each slot measured */
	void (*each)(void *context, unsigned measure, const struct pushout_one *one);
	void *context;
};

struct pushout;				/* of one thread */
/* The measures are copied; what they point to has to last.  NULL: out of memory, too many, or one at a point without a width. */
struct pushout *pushout_create(const struct pushout_widths *widths, const struct pushout_measure *m, unsigned measures);
void pushout_destroy(struct pushout *p);
/* Other measures from here on, where slots stand stays; changed: set of those whose slots that wait for the next one are forgotten.  False, nothing
 * changed: too many, or one at a point without a width. */
bool pushout_set(struct pushout *p, const struct pushout_measure *m, unsigned measures, uint64_t changed);
/* As at first, with the measures it has: nobody has looked meanwhile. */
void pushout_restart(struct pushout *p);
void pushout_copy(struct pushout *to, const struct pushout *from);
/* All uop records and the signals CYCLES, CLEAR_MEMORY_ORDER and CLEAR_SMC have to be in the batches, and that of its point (pushout_signal). */
void pushout_batch(struct pushout *p, const struct spmu_batch *b);
/* The signal that a point is measured by; SPMU_SIG_COUNT: none. */
static inline enum spmu_signal pushout_signal(enum pushout_point point)
{
	return point == PUSHOUT_VISIBLE ? SPMU_SIG_STORE_VISIBLE : point == PUSHOUT_FETCH ? SPMU_SIG_INSN_FETCHED : SPMU_SIG_COUNT;
}
/* Slots retired, their pushouts at retirement, and the cycles in which retirement moved on only because the cycle before was full: the two make up
 * the time from the first stretch's begin to the last retirement, less what was halted. */
struct pushout_sums { uint64_t slots, pushed, full; };
struct pushout_sums pushout_sums(const struct pushout *p);
/* A tag that names one of these measures the next slot. */
#define PUSHOUT_NEXT (SPMU_DID(MISPREDICTED) | SPMU_DID(MISP_TARGET) | SPMU_DID(BTB_MISS))
#endif
