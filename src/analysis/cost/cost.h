/* SPDX-License-Identifier: GPL-2.0-or-later
 * What an event costs, in four ways:
 *
 *   analytic    from the machine description: what one event alone, with nothing to hide it, adds
 *   duration    cycles in which something was under way for it (a queue held entries, a state machine ran), divided by the events
 *   pushout     by how much the slots that had it retired later than the slot before allowed (pmu/pushout_meter.h)
 *   total time  two runs of one trace, the second with the feature changed: (cycles - cycles') / (events - events').  Where the change leaves
 *               the events and takes their penalty away, it is (cycles - cycles') / events.  Asked for apart, the same for a machine on which the events
 *               happen as they did and take no time, and nothing else is changed (COST_ONLY)
 *
 * They differ: the first knows no overlap, the second none with other things, the third none behind retirement, and the fourth
 * knows all of it, but is an average over what the change did, other things included.  A method that does not apply says why.
 *
 * Beside it the decomposition of the cycles by what retirement waited for (exact.h), in groups that sum to all cycles.
 *
 * Leaves out: events of stores (they miss L1D when they are written, behind retirement, which the store buffer hides); hardware threads that
 * share a core, whose shares of it cannot be told apart.
 */
#ifndef ANALYSIS_COST_H
#define ANALYSIS_COST_H
#include "analysis/exact.h"
#include "analysis/cost/spread.h"
#include "session/events/tag_parse.h"
#include "core/machine/config.h"
#include "core/core.h"
#include "pmu/pushout_meter.h"
#include "util/err.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* ---- events ---- */

enum cost_change {		/* what the change of the feature does to the event */
	COST_NO_CHANGE,		/* there is none: `why` says it */
	COST_REMOVES,		/* it happens less often (or more) */
	COST_FREES,		/* it happens as often, and costs nothing */
};
enum { COST_ALLOCATION = SPMU_SIG_COUNT /* from a mispredicted branch's allocation to that of what follows on the right path */, COST_BUSY };

enum cost_try {			/* which change */
	COST_BETTER,		/* the feature perfect, or as large as it gets */
	COST_WITHOUT,		/* likewise, where that leaves the events: they cost nothing, or their cause goes away otherwise */
	COST_WORSE,		/* a smaller one */
	COST_ONLY,		/* the event happens and costs nothing, all else is as it was */
	COST_TRIES
};
struct cost_event {
	const char *name, *help;
	const char *tag, *tag_last;	/* the tag; of a core without L3, where that differs */
	/* Cycles, NaN where there is no such figure; how: the formula, or why there is none. */
	double (*analytic)(const struct core_config *c, const char **how);
	uint8_t busy[2], less;		/* signals: union of the first two less the third; 0: none (CYCLES is none of them) */
	const char *busy_how;		/* what is counted, or why nothing is */
	/* Changes c; text: the fields, "l2.size=8M".  COST_NO_CHANGE, with *why. */
	enum cost_change (*change)(struct core_config *c, enum cost_try how, char *text, size_t bytes, const char **why);
	const char *only, *only_last;	/* fields for COST_ONLY, "free.l1_miss=1"; of a core without L3, where they differ; NULL: there are none */
	bool by_default;		/* among those that are looked at unless some are asked for */
};
extern const struct cost_event cost_events[];
extern const unsigned cost_events_count;
const struct cost_event *cost_event_find(const char *name);
/* Its tag on this core, or why it has no such event there. */
const char *cost_event_tag(const struct cost_event *e, const struct core_config *c, const char **why);

/* ---- the decomposition ---- */

#define COST_GROUPS(X) /* name, text, help; what of exact.h belongs to it: cost.c */ \
	X(BASE,       "base",       "slots retire") \
	X(LATENCY,    "latency",    "operations, ports, the way through the pipeline: with no event to blame") \
	X(DIVIDER,    "divider",    "divides and square roots") \
	X(FORWARDING, "forwarding", "loads that wait for older stores") \
	X(L1D,        "l1d",        "loads that hit L1D: its latency") \
	X(LFB,        "lfb",        "loads of lines on their way") \
	X(L2,         "l2",         "loads served by L2") \
	X(L3,         "l3",         "loads served by L3") \
	X(SNOOP,      "other-core", "loads of lines that another core had") \
	X(MEMORY,     "memory",     "loads served by memory") \
	X(TLB,        "tlb",        "data TLB misses of accesses that hit L1D, and all that waited for a page walk") \
	X(MISPREDICT, "mispredict", "mispredicted branches") \
	X(CLEAR,      "clear",      "machine clears") \
	X(LOCK,       "serialize",  "locked and serialising instructions") \
	X(RESOURCE,   "resource",   "the store buffer is full, nothing older is left") \
	X(ASSIST,     "assist",     "microcode assists") \
	X(ICACHE,     "icache",     "instruction fetch missed L1I") \
	X(ITLB,       "itlb",       "instruction fetch missed the TLB") \
	X(RESTEER,    "resteer",    "branches unknown to the BTB") \
	X(FRONT_END,  "front-end",  "nothing was delivered in time, for another reason")
enum cost_group {
#define X(name, text, help) COST_##name,
	COST_GROUPS(X)
#undef X
	COST_GROUPS_COUNT
};
extern const char *const cost_group_name[COST_GROUPS_COUNT], *const cost_group_help[COST_GROUPS_COUNT];

/* ---- a run ---- */

enum { COST_MEASURES = 48, COST_SITE_FINE = 4 /* of the spreads of an instruction */ };
struct cost_measure {
	struct tag tag;
	enum pushout_from from;
	enum pushout_point point;
	uint8_t busy[2], less;	/* as in struct cost_event */
};
struct cost_result {		/* of one measure */
	uint64_t count;		/* slots that it holds for */
	uint64_t busy;		/* cycles */
	struct spread pushout;
};
struct cost_site_result { uint64_t count, pushed; struct spread pushout; };
struct cost_site {		/* an instruction */
	uint64_t ip;
	uint32_t pid;
	uint64_t instructions;	/* times it retired */
	uint64_t group[COST_GROUPS_COUNT];	/* cycles, in parts of 1 / EXACT_CYCLE */
	struct cost_site_result *of;	/* by measure; NULL: had none of them */
};

struct cost_run;
/* detail: busy cycles, pushouts and sites, too; else counts and cycles alone. */
int  cost_run_create(struct cost_run **out, const struct pushout_widths *widths, const struct cost_measure *m, unsigned measures, bool detail, struct err *err);
void cost_run_destroy(struct cost_run *r);
/* What it looks at in the records. */
void cost_run_wanted(const struct cost_run *r, struct core_wanted *w);
struct cost_thread;		/* belongs to the run */
int  cost_thread_start(struct cost_run *r, struct cost_thread **out, uint32_t pid, struct err *err);
void cost_thread_batch(struct cost_thread *t, const struct spmu_batch *b);
void cost_thread_end(struct cost_thread *t);
/* When all threads have ended.  0, or that memory ran out on the way. */
int  cost_run_finish(struct cost_run *r, struct err *err);
uint64_t cost_run_cycles(const struct cost_run *r);		/* unhalted, of all threads */
uint64_t cost_run_instructions(const struct cost_run *r);
const struct cost_result *cost_run_result(const struct cost_run *r, unsigned measure);
const struct cost_site *cost_run_sites(const struct cost_run *r, size_t *count);	/* in order of process and address */
/* Cycles charged to each group, in parts of 1 / EXACT_CYCLE: they sum to the cycles. */
void cost_run_groups(const struct cost_run *r, uint64_t group[COST_GROUPS_COUNT]);

/* ---- total time ---- */

/* Cycles an event, from two runs; change: COST_REMOVES or COST_FREES.  NaN with *why (not changed otherwise): the change did not change the count, or there were none. */
double cost_marginal(enum cost_change change, double cycles, double events, double cycles_changed, double events_changed, const char **why);
#endif
