/* SPDX-License-Identifier: GPL-2.0-or-later
 * Pushout: by how many cycles a slot retired later than the slot before it allowed.
 *
 * Retirement is in order and so many slots wide.  A slot is *due* in the cycle in which the slot before it retired, or in the next if that one
 * retired as many as it can; its pushout is its retirement less that.  Read in two ways: *sequential*, of every slot, and *tagged*, of those that
 * a tag holds for (tag.h).  What a mispredicted branch or a branch unknown to the BTB pushes out is what comes behind it: a tag that names one of
 * them and holds for a slot that has it measures the next slot that retires, and charges the slot that was tagged.  So do machine clears but for
 * that of a load that passed a store, which is executed again itself; of others no uop is asked: the tag is asked of the clear's bit alone.
 *
 * From when is measured, too (enum pushout_from): from when the slot was due; or from the event: the dispatch of the uop that has it (for a
 * mispredict: its completion, when it is known to be one; for what happened on the way there: its fetch or its allocation; of every slot: its
 * allocation), to the retirement.
 *
 * The same at the other points that slots pass in order (enum pushout_point): a slot is due at allocation, or in delivery by the front end, when the
 * slot before it was, or a cycle later if that cycle was full.
 *
 * Hardware would count by threshold: `struct pushout_counter` is such a counter, set up in one of three ways, all with the same count.
 *
 * After C. Newburn, US 2005/0273310 A1.  The first slot of a stretch in which the core runs is due when the stretch begins.
 * Leaves out: that hardware threads of a core retire in turn; the points that records do not tell of: memory-order buffer allocation apart from that
 * of the slot, and when stores become visible.
 */
#ifndef ANALYSIS_PUSHOUT_H
#define ANALYSIS_PUSHOUT_H
#include "analysis/spread.h"
#include "analysis/tag.h"
#include "softpmu/record.h"
#include "util/err.h"
#include <stdbool.h>
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
struct pushout_counter {
	enum pushout_way way;
	uint32_t threshold;
	uint64_t count;		/* times that it fired */
	bool frozen;		/* `stored` holds a pushout, until it is read */
	uint32_t stored;	/* the first that made it fire since */
};
/* ERR_INPUT: a threshold of 0, which every slot would reach, or one beyond 31 bits. */
int  pushout_counter_set(struct pushout_counter *c, enum pushout_way way, uint64_t threshold, struct err *err);
/* A slot that retired `cycles` after the counter was started for it. */
void pushout_counter_run(struct pushout_counter *c, uint32_t cycles);
/* What is stored; false: nothing.  The register is free again. */
bool pushout_counter_read(struct pushout_counter *c, uint32_t *cycles);

/* ---- measures over records ---- */

enum pushout_from { PUSHOUT_FROM_DUE, PUSHOUT_FROM_EVENT };
enum pushout_point { PUSHOUT_RETIRE, PUSHOUT_ALLOC, PUSHOUT_FETCH, PUSHOUT_POINTS };
struct pushout_widths { unsigned at[PUSHOUT_POINTS]; };	/* slots a cycle; 0 where nothing is measured */
enum { PUSHOUT_MEASURES = 64 };

struct pushout_measure {
	const struct tag *tag;		/* NULL: sequential, every slot */
	enum pushout_from from;
	enum pushout_point point;
	struct pushout_counter *counter;/* of the caller's, each is run for every slot measured; NULL: none */
	size_t counters;
	struct spread *spread;		/* likewise; NULL: none */
	/* told of each slot measured: the address of the tagged one's instruction, and its cycles; NULL: nobody */
	void (*each)(void *context, unsigned measure, uint64_t ip, uint32_t cycles);
	void *context;
};

struct pushout;				/* of one thread */
/* The measures are copied; what they point to has to last.  NULL: out of memory, too many, or one at a point without a width. */
struct pushout *pushout_create(const struct pushout_widths *widths, const struct pushout_measure *m, unsigned measures);
void pushout_destroy(struct pushout *p);
/* All uop records and the signals CYCLES, CLEAR_MEMORY_ORDER and CLEAR_SMC have to be in the batches.  ERR_NOMEM once a spread could not grow. */
int  pushout_batch(struct pushout *p, const struct spmu_batch *b);
/* Slots retired, their pushouts at retirement, and the cycles in which retirement moved on only because the cycle before was full: the two make up
 * the time from the first stretch's begin to the last retirement, less what was halted. */
struct pushout_sums { uint64_t slots, pushed, full; };
struct pushout_sums pushout_sums(const struct pushout *p);
/* A tag that names one of these measures the next slot. */
#define PUSHOUT_NEXT (SPMU_DID(MISPREDICTED) | SPMU_DID(MISP_TARGET) | SPMU_DID(BTB_MISS))
#endif
