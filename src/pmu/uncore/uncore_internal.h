/* SPDX-License-Identifier: BSD-2-Clause
 * The insides of the uncore PMU (softpmu/uncore.h).
 *
 *   uncore_table.c   a table -> struct spmu_uncore_model: events, and what each bit of a unit mask selects
 *   uncore_regs.c    registers: client, server
 *   uncore_pmu.c         counting
 */
#ifndef PMU_UNCORE_INTERNAL_H
#define PMU_UNCORE_INTERNAL_H
#include "softpmu/uncore.h"

/* What there is to count.  All up to PENDING come as signals; the ones behind the clock are requests that snooped one core, or more. */
enum uncore_what { WHAT_READ, WHAT_RFO, WHAT_CODE, WHAT_PREFETCH, WHAT_WRITE, WHAT_VICTIM, WHAT_SNOOP, WHAT_INVALIDATE, WHAT_EVICT,
	WHAT_DRAM_READ, WHAT_DRAM_WRITE, WHAT_PENDING, WHAT_CLOCK, WHAT_CORE_ONE, WHAT_CORE_MANY, WHAT_EVICT_ONE, WHAT_EVICT_MANY, WHATS };
enum { FOUND_ALL = 0xff };	/* set of enum spmu_found */

enum { UNITS_MAX = 8, SELECTORS_MAX = 32, GROUPS_MAX = 5, ENTRIES_MAX = 16 };

struct entry { uint32_t bits; uint8_t accept[WHATS]; bool unmodelled; };	/* accept: of each uncore_what, a set of spmu_found */
struct group { bool exact; uint8_t entries; struct entry entry[ENTRIES_MAX]; };
struct selector { uint8_t unit, event, groups; struct group group[GROUPS_MAX]; };

struct spmu_uncore_model {
	bool server;
	uint32_t global;		/* client: MSR_UNC_PERF_GLOBAL_CTRL */
	uint32_t cores;			/* client: bits of it that select cores */
	uint64_t uclk_hz, dclk_hz;	/* 0: as the core */
	struct spmu_uncore_unit unit[UNITS_MAX];
	unsigned units;
	struct selector selector[SELECTORS_MAX];
	unsigned selectors;
	struct spmu_uncore_event *event;
	size_t events;
	char *text;			/* the file; names and help point into it */
};

/* accept[what]: set of spmu_found with which it counts.  False: no such event there; *unmodelled: bits of the mask that ask for what is not
 * produced, or that nobody knows. */
bool uncore_select(const struct spmu_uncore_model *m, unsigned unit, unsigned event, uint32_t umask, uint8_t accept[WHATS], uint32_t *unmodelled);
int uncore_unit_find(const struct spmu_uncore_model *m, const char *name);

/* What a counter with a threshold still has to look at: sorted by time when it is looked at. */
struct change { uint64_t tick; int64_t amount; bool level; };
struct shape {
	struct change *change;
	size_t changes, room;
	uint64_t done;		/* ticks below are counted */
	int64_t level;
	bool previous;
};

struct counter {
	uint64_t value, mask, control;
	uint8_t accept[WHATS];
	bool counts;		/* enabled here and above */
	bool shaped;		/* threshold, edge: through shape */
	struct shape shape;
};

struct box {
	uint8_t unit, counters;
	uint16_t number;
	uint8_t found_counts;	/* some counter counts */
	uint64_t control, status, filter;
	struct counter counter[SPMU_UNCORE_COUNTERS + 1];	/* the last: server's fixed one of a channel */
};

enum { SOURCES_MAX = 4096, CHANGES_MAX = 1 << 20, FIXED_COUNTER = SPMU_UNCORE_COUNTERS };
struct source { bool used, idle, seen; unsigned core; uint64_t watermark; };

struct spmu_uncore {
	const struct spmu_uncore_model *model;
	struct spmu_uncore_host host;
	uint64_t global, status;	/* the registers */
	struct box *box;
	unsigned boxes, first[UNITS_MAX + 1];	/* boxes of unit k: first[k] .. first[k + 1] - 1 */
	int slice_unit, channel_unit;	/* -1: none */
	uint64_t now;			/* core cycle up to which time has gone */
	bool started, shapes;
	struct source *source;
	size_t sources;
};

static inline const struct spmu_uncore_unit *unit_of(const struct spmu_uncore *u, const struct box *b)
{
	return &u->model->unit[b->unit];
}

/* uncore_pmu.c: before registers change, what is known is counted under the old ones; behind it, what they ask for now. */
void uncore_settle(struct spmu_uncore *u);
void uncore_plan(struct spmu_uncore *u);
/* uncore_regs.c */
/* Is the counter enabled, by its own control register and all above it? */
bool uncore_enabled(const struct spmu_uncore *u, const struct box *b, unsigned n);
/* Its overflow was noticed. */
void uncore_overflowed(struct spmu_uncore *u, struct box *b, unsigned n);
#endif
