/* SPDX-License-Identifier: BSD-2-Clause
 * The insides of the uncore PMU (softpmu/uncore.h).
 *
 *   uncore_table.c   a table -> struct spmu_uncore_model: events, and what each bit of a unit mask selects
 *   uncore_regs.c    registers: client, server
 *   uncore_pmu.c     counting
 */
#ifndef PMU_UNCORE_INTERNAL_H
#define PMU_UNCORE_INTERNAL_H
#include "softpmu/uncore.h"

/* What a box can count.  Those up to PENDING_DATA are signals: at a slice before DRAM_READ, at a channel from there on.
 * CORE_ and EVICT_ are requests that snooped one core, or several.  _1: in the second half of the channel. */
enum uncore_what {
	WHAT_READ, WHAT_RFO, WHAT_CODE, WHAT_PREFETCH, WHAT_WRITE, WHAT_FLUSH, WHAT_VICTIM, WHAT_VICTIM_SHARED,
	WHAT_WRITTEN,
	WHAT_ENTRY_READ, WHAT_ENTRY_RFO, WHAT_ENTRY_CODE, WHAT_ENTRY_PREFETCH,
	WHAT_SNOOP, WHAT_INVALIDATE, WHAT_EVICT,
	WHAT_DRAM_READ, WHAT_DRAM_READ_1, WHAT_UNDERFILL, WHAT_UNDERFILL_1, WHAT_DRAM_WRITE, WHAT_DRAM_WRITE_1,
	WHAT_PENDING, WHAT_PENDING_DATA,
	WHAT_CLOCK, WHAT_CORE_ONE, WHAT_CORE_MANY, WHAT_EVICT_ONE, WHAT_EVICT_MANY, WHATS
};
enum { FOUND_ALL = 0xff };	/* set of enum spmu_found */

enum { UNITS_MAX = 8, SELECTORS_MAX = 32, GROUPS_MAX = 5, ENTRIES_MAX = 16 };

/* A @select line: a selector has groups, a group has entries for bits of the unit mask.  accept: for each
 * uncore_what, the set of spmu_found that it lets through.  otherwise: for a mask without bits of the other entries. */
struct entry { uint32_t bits; uint8_t accept[WHATS]; bool unmodelled, otherwise; };
struct group { bool exact; uint8_t entries; struct entry entry[ENTRIES_MAX]; };
struct selector { uint8_t unit, event, groups; struct group group[GROUPS_MAX]; };

struct spmu_uncore_model {
	bool server;
	uint32_t global;		/* client: address of MSR_UNC_PERF_GLOBAL_CTRL */
	uint32_t cores;			/* client: its lowest bits, one a core, that select who takes the interrupt */
	uint64_t uclk_hz, dclk_hz;	/* clocks of the uncore and of the memory; 0: as the core's */
	struct spmu_uncore_unit unit[UNITS_MAX];
	unsigned units;
	struct selector selector[SELECTORS_MAX];
	unsigned selectors;
	struct spmu_uncore_event *event;
	size_t events;
	char *text;			/* the file; names and help point into it */
};

/* Writes what a unit counts with this event select and unit mask: accept[what] is a set of spmu_found.
 * *unmodelled: bits of the mask that select what the model does not produce, or that the table does not know.
 * False: the unit has no such event. */
bool uncore_select(const struct spmu_uncore_model *m, unsigned unit, unsigned event, uint32_t umask,
	uint8_t accept[WHATS], uint32_t *unmodelled);

/* Changes that a counter with a threshold has not evaluated yet; they are sorted by time before they are. */
struct change { uint64_t tick; int64_t amount; bool level; };
struct shape {
	struct change *change;
	size_t changes, room;
	uint64_t done;		/* ticks below have been counted */
	int64_t level;
	bool previous;		/* the condition held in the last tick */
};

struct counter {
	uint64_t value, mask, control;
	uint8_t accept[WHATS];
	bool counts;		/* enabled by its own control register, its box's and the global one */
	bool shaped;		/* has a threshold or edge: counts through `shape` */
	struct shape shape;
};

struct box {
	uint8_t unit, counters;
	uint16_t number;
	uint8_t found_counts;	/* some counter counts */
	uint64_t control, status, filter;
	struct counter counter[SPMU_UNCORE_COUNTERS + 1];	/* the last one is a server channel's fixed counter */
};

enum { SOURCES_MAX = 4096, CHANGES_MAX = 1 << 20, FIXED_COUNTER = SPMU_UNCORE_COUNTERS };
struct source { bool used, idle, seen; unsigned core; uint64_t watermark; };

struct spmu_uncore {
	const struct spmu_uncore_model *model;
	struct spmu_uncore_host host;
	uint64_t global, status;	/* the global control and status registers */
	struct box *box;
	unsigned boxes, first[UNITS_MAX + 1];	/* boxes of unit k: first[k] .. first[k + 1] - 1 */
	int slice_unit, channel_unit;	/* -1: none */
	uint64_t now;			/* core cycle up to which the clocks have counted */
	bool started, shapes;
	struct source *source;
	size_t sources;
};

static inline const struct spmu_uncore_unit *unit_of(const struct spmu_uncore *u, const struct box *b)
{
	return &u->model->unit[b->unit];
}

/* uncore_pmu.c: call settle before registers change (it counts everything known with the old ones), and plan
 * afterwards. */
void uncore_settle(struct spmu_uncore *u);
void uncore_plan(struct spmu_uncore *u);
/* uncore_regs.c */
/* Is the counter enabled, by its own control register and all above it? */
bool uncore_enabled(const struct spmu_uncore *u, const struct box *b, unsigned n);
/* The counter has overflowed: sets status bits, freezes, calls the host. */
void uncore_overflowed(struct spmu_uncore *u, struct box *b, unsigned n);
#endif
