/* SPDX-License-Identifier: GPL-2.0-or-later
 * What an event costs, in four ways:
 *
 *   analytic    from the machine description: what one event adds if nothing hides it
 *   duration    cycles in which something was busy for the event (a queue held entries, a state machine ran),
 *               divided by the events
 *   pushout     by how many cycles slots with the event retired later than the slot before them allowed
 *               (pmu/pushout_meter.h)
 *   total time  two runs of one trace, the second with the feature changed: (cycles - cycles') / (events - events').
 *               Where the change leaves the events and removes their penalty: (cycles - cycles') / events.  The best
 *               machine for this is one on which the events happen as before, take no time, and nothing else is
 *               changed (COST_ONLY).  cost_check.h says whether the figure can be true.
 *
 * The four differ.  Analytic ignores overlap; duration ignores overlap with other things; pushout ignores what
 * overlaps behind retirement; total time includes all overlap, but is an average over everything that the change
 * did.  A method that does not apply says why.
 *
 * Beside that: the decomposition of the cycles by what retirement waited for (exact.h), in groups that sum to all
 * cycles.
 *
 * Leaves out: events of stores (a store misses L1D when it is written, after its retirement, and the store buffer
 * hides that); hardware threads that share a core, because each one's share of it is not known.
 */
#ifndef ANALYSIS_COST_H
#define ANALYSIS_COST_H
#include "analysis/exact.h"
#include "analysis/windows.h"
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
	COST_NO_CHANGE,		/* there is no change; `why` says the reason */
	COST_REMOVES,		/* it happens less often (or more often) */
	COST_FREES,		/* it happens as often, and costs nothing */
};
/* COST_ALLOCATION: from a mispredicted branch's allocation to the next allocation on the right path */
enum { COST_ALLOCATION = SPMU_SIG_COUNT, COST_BUSY };

enum cost_try {			/* which change */
	COST_BETTER,		/* the feature is perfect, or as large as it gets */
	/* the same, where COST_BETTER keeps the events: they cost nothing, or another change removes their cause */
	COST_WITHOUT,
	COST_WORSE,		/* the feature is smaller */
	COST_ONLY,		/* the event happens and costs nothing; all else is unchanged */
	COST_TRIES
};
struct cost_event {
	const char *name, *help;
	/* the tag; the tag on a core without L3, if it differs ("": none there).  NULL: it is counted by signals */
	const char *tag, *tag_last;
	uint8_t counted[2];		/* these signals, which belong to no uop: such events have no pushout */
	/* set of 1 << enum cost_group: what is charged there may be due to it (events without pushout or duration) */
	uint32_t groups;
	/* events of one family (not 0) count the same accesses at other places: none is an effect beside another */
	uint8_t family;
	/* Cycles; NaN if there is no such figure.  how: the formula, or why there is none. */
	double (*analytic)(const struct core_config *c, const char **how);
	/* busy cycles: the union of the first two signals less the third; 0: none (CYCLES is not used here) */
	uint8_t busy[2], less;
	const char *busy_how;		/* what is counted as busy, or why nothing is */
	/* Changes c and writes the changed fields into text ("l2.size=8M").  COST_NO_CHANGE: *why has the reason. */
	enum cost_change (*change)(struct core_config *c, enum cost_try how, char *text, size_t bytes,
		const char **why);
	/* fields for COST_ONLY ("free.l1_miss=1"; NULL: none); the same for a core without L3, if they differ */
	const char *only, *only_last;
	bool by_default;		/* looked at if the user names no events */
	/* a load or divide with the event waits for it from dispatch to completion */
	bool waits;
	/* the analytic cost is that time, on average; NULL: `analytic` says it */
	const char *latency_how;
};
extern const struct cost_event cost_events[];
extern const unsigned cost_events_count;
const struct cost_event *cost_event_find(const char *name);
/* The fields that make it free on this core and change nothing else, in text; NULL: there are none. */
const char *cost_event_only(const struct cost_event *e, const struct core_config *c, char *text, size_t bytes);
/* Its tag on this core; NULL with *why if this core has no such event. */
const char *cost_event_tag(const struct cost_event *e, const struct core_config *c, const char **why);

/* ---- the decomposition ---- */

/* name, text, help; cost.c says which causes of exact.h belong to each */
#define COST_GROUPS(X) \
	X(BASE,       "base",       "slots retire") \
	X(LATENCY,    "latency",    "operations, ports and pipeline stages, without an event as the cause") \
	X(DIVIDER,    "divider",    "divides and square roots") \
	X(FORWARDING, "forwarding", "loads that wait for older stores") \
	X(L1D,        "l1d",        "loads that hit L1D: its latency") \
	X(LFB,        "lfb",        "loads of lines that an earlier miss is fetching") \
	X(L2,         "l2",         "loads served by L2") \
	X(L3,         "l3",         "loads served by L3") \
	X(SNOOP,      "other-core", "loads of lines that another core had") \
	X(MEMORY,     "memory",     "loads served by memory") \
	X(TLB,        "tlb", \
	  "data TLB misses of accesses that hit L1D, and all accesses that waited for a page walk") \
	X(MISPREDICT, "mispredict", "mispredicted branches") \
	X(CLEAR,      "clear",      "machine clears") \
	X(LOCK,       "serialize",  "locked and serialising instructions") \
	X(RESOURCE,   "resource",   "the store buffer is full, and everything older has retired") \
	X(ASSIST,     "assist",     "microcode assists") \
	X(ICACHE,     "icache",     "instruction fetch missed L1I") \
	X(ITLB,       "itlb",       "instruction fetch missed the TLB") \
	X(RESTEER,    "resteer",    "branches unknown to the BTB") \
	X(FRONT_END,  "front-end",  "the front end delivered nothing in time, for another reason")
enum cost_group {
#define X(name, text, help) COST_##name,
	COST_GROUPS(X)
#undef X
	COST_GROUPS_COUNT
};
extern const char *const cost_group_name[COST_GROUPS_COUNT], *const cost_group_help[COST_GROUPS_COUNT];

/* ---- a run ---- */

enum { COST_MEASURES = 48, COST_SITE_FINE = 4 /* COST_SITE_FINE: fineness of an instruction's spreads */ };
struct cost_measure {
	struct tag tag;
	enum pushout_from from;
	enum pushout_point point;
	uint8_t busy[2], less;	/* as in struct cost_event */
	bool waits;
	uint8_t counted[2];
};
struct cost_result {		/* the result of one measure */
	uint64_t count;		/* slots for which the tag holds */
	uint64_t busy;		/* cycles */
	/* of a measure that waits: retired uops with the event, and their cycles from dispatch to completion */
	uint64_t uops, waited;
	struct spread pushout;
};
struct cost_site_result { uint64_t count, pushed; struct spread pushout; };
struct cost_site {		/* an instruction */
	uint64_t ip;
	uint32_t pid;
	uint64_t instructions;	/* how often it retired */
	uint64_t group[COST_GROUPS_COUNT];	/* cycles, in parts of 1 / EXACT_CYCLE */
	struct cost_site_result *of;	/* by measure; NULL: it had none of the events */
};

struct cost_run;
/* detail: keep busy cycles, pushouts and sites, too; otherwise only counts and cycles. */
int cost_run_create(struct cost_run **out, const struct pushout_widths *widths, const struct cost_measure *m,
	unsigned measures, bool detail, struct err *err);
void cost_run_destroy(struct cost_run *r);
/* Before its threads start: the run is a sampled one (run_options.sample), of which only windows are counted. */
int  cost_run_sample(struct cost_run *r, struct err *err);
/* Sets *w to what the run needs in the records. */
struct core_wanted cost_run_wanted(const struct cost_run *r);
struct cost_thread;		/* belongs to the run */
int  cost_thread_start(struct cost_run *r, struct cost_thread **out, uint32_t pid, struct err *err);
/* Of a sampled run: behind cost_thread_start; and run_sink.window. */
int  cost_thread_sample(struct cost_thread *t, const struct run_thread *run, struct err *err);
void cost_thread_window(struct cost_thread *t, const struct run_window *part);
/* What follows belongs to this process: of a whole machine, where address spaces take turns. */
void cost_thread_pid(struct cost_thread *t, uint32_t pid);
void cost_thread_batch(struct cost_thread *t, const struct spmu_batch *b);
void cost_thread_end(struct cost_thread *t);
/* Call when all threads have ended. 0, or ERR_NOMEM if memory ran out during the run. */
int  cost_run_finish(struct cost_run *r, struct err *err);
/* Of a sampled run, when it has finished: makes all figures estimates of the whole run.  ERR_INPUT: no window. */
int  cost_run_estimate(struct cost_run *r, const struct run_result *res, struct err *err);
const struct windows *cost_run_windows(const struct cost_run *r);	/* NULL: it is not sampled */
uint64_t cost_run_cycles(const struct cost_run *r);		/* unhalted, of all threads */
uint64_t cost_run_instructions(const struct cost_run *r);
const struct cost_result *cost_run_result(const struct cost_run *r, unsigned measure);
/* in order of process and address */
const struct cost_site *cost_run_sites(const struct cost_run *r, size_t *count);
/* Cycles charged to each group, in parts of 1 / EXACT_CYCLE; they sum to all cycles. */
void cost_run_groups(const struct cost_run *r, uint64_t group[COST_GROUPS_COUNT]);

/* ---- total time ---- */

/* Cycles an event, from two runs.  change: COST_REMOVES or COST_FREES.  NaN with *why (else *why is unchanged):
 * the change did not change the count, or there were no events. */
double cost_marginal(enum cost_change change, double cycles, double events, double cycles_changed,
	double events_changed, const char **why);

/* ---- intervals of sampled runs ---- */

/* Half of the width of the 95 % interval; NaN: unknown, or the runs are not sampled.
 * Of a count; of the cycles an event by duration and by pushout; of cost_marginal. */
double cost_half_count(const struct cost_run *r, unsigned measure);
double cost_half_duration(const struct cost_run *r, unsigned measure);
double cost_half_pushout(const struct cost_run *r, unsigned measure);
/* Of the difference of the cycles of two measures' pushouts, as a share of the run's cycles. */
double cost_half_difference(const struct cost_run *r, unsigned measure, unsigned other);
double cost_half_marginal(enum cost_change change, const struct cost_run *r, const struct cost_run *changed,
	unsigned measure);
#endif
