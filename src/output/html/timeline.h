/* SPDX-License-Identifier: GPL-2.0-or-later
 * Counts over modelled time: what each thread did in each interval of a run, kept in perf.data as a feature of its own
 * (PERFDATA_TIMELINE), which perf skips.
 *
 * There are at most TIMELINE_INTERVALS intervals.  A run that goes on makes them twice as long, so they need not be
 * chosen before.  A uop is counted in the interval in which it retires.  Issue slots (analysis/slots.h) become known
 * batch by batch, so those of a batch are spread evenly over the cycles in which it ran.
 *
 * Of a sampled run a window's counts, times what it stands for, are spread evenly over the time from the end of the
 * window before it to its own end.  Where hardware threads share a core, records do not say whose issue slots are: then
 * there are no columns of slots.
 *
 * Its totals are estimates with an interval of confidence (analysis/windows.h); the sums over time are near them.
 *
 * Layout of the feature: "softpmu timeline 3" and a NUL; then whole numbers in LEB128 (DWARF 5, section 7.6): cycles of
 * an interval, clock in Hz, issue slots a cycle, number of windows (0: all was timed), number of totals (of a sampled
 * run: those of the first columns), and for each its count and 1 + half of the width of its 95 % interval (0: unknown);
 * number of columns; the columns' names, each with a NUL; the number of threads; and for each thread pid, tid, its
 * first interval, how many it has, and its columns one behind the other.  "softpmu timeline 2" is the same without
 * totals, "softpmu timeline 1" also without the number of windows.
 */
#ifndef OUTPUT_HTML_TIMELINE_H
#define OUTPUT_HTML_TIMELINE_H
#include "analysis/slots.h"
#include "core/core.h"
#include "output/perfdata/perfdata.h"
#include "run/run.h"

enum { TIMELINE_INTERVALS = 1024 };
#define TIMELINE_MAGIC "softpmu timeline 3"

/* What is counted, beside the causes of slots: name in the file, its meaning */
#define TIMELINE_COUNT_LIST(X) \
	X(CYCLES, "cycles", "cycles in which it ran") \
	X(INSTRUCTIONS, "instructions", "retired instructions") \
	X(BRANCHES, "branches", "retired branches") \
	X(MISPREDICTS, "mispredicts", "those of them that were mispredicted") \
	X(LOADS, "loads", "retired load uops") \
	X(L1D_MISSES, "l1d_misses", "those of them that missed L1D, also for a line on its way") \
	X(L2_MISSES, "l2_misses", "those of them that missed L2") \
	X(L3_MISSES, "l3_misses", "those of them that missed L3; left out if the machine has none")
enum timeline_count {
#define X(name, text, help) TIMELINE_##name,
	TIMELINE_COUNT_LIST(X)
#undef X
	TIMELINE_COUNTS,
	TIMELINE_COLUMNS = TIMELINE_COUNTS + SLOTS_CAUSE_COUNT
};

struct timeline_total {
	uint64_t count;
	bool known;
	uint64_t half;		/* of the width of the 95 % interval, if it is known */
};

/* ---- gathering ---- */

struct timeline;
/* shared: hardware threads share cores (run_options.smt). */
int  timeline_create(struct timeline **out, const struct core_config *core, bool shared, struct err *err);
void timeline_destroy(struct timeline *t);
struct core_wanted timeline_wanted(void);
/* Called from the run's sink.  They return a negative error. */
int  timeline_batch(struct timeline *t, const struct run_thread *run, const struct spmu_batch *b);
int  timeline_end(struct timeline *t, const struct run_thread *run);
/* run_sink.sampled and run_sink.window.  weight: what each instruction of the window stands for; used at its end. */
int  timeline_sampled(struct timeline *t, const struct run_thread *run);
int  timeline_window(struct timeline *t, const struct run_thread *run, const struct run_window *w, double weight);
/* run_sink.executed: with it, the totals of branches and loads are exact. */
void timeline_executed(struct timeline *t, const struct iblock *b, unsigned insns, uint64_t times, bool repeats);
/* Gives the file all that was gathered, behind the run. */
int  timeline_keep(struct timeline *t, struct perfdata_writer *w, const struct run_result *r, struct err *err);

/* ---- reading ---- */

struct timeline_thread {
	uint32_t pid, tid;
	uint64_t first, intervals;
	uint64_t *value;	/* [column * intervals + interval] */
};
struct timeline_data {
	uint64_t interval_cycles, hz, width, windows, columns;
	struct timeline_total total[TIMELINE_COUNTS];	/* of the first columns */
	uint64_t totals;
	const char **name;	/* of the columns; they point into the file */
	struct timeline_thread *thread;
	size_t threads;
};
/* *out: NULL if the file has no timeline.  ERR_INPUT: it is damaged. */
int  timeline_read(struct timeline_data **out, const struct perfdata_file *f, struct err *err);
void timeline_free(struct timeline_data *d);
#endif
