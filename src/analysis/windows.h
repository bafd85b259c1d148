/* SPDX-License-Identifier: GPL-2.0-or-later
 * What the threads of a sampled run counted in its windows, and the totals of the run (estimate.h).
 *
 * Two runs of one trace with the same plan have the same windows, whatever their machines are.  So the difference
 * between two machines is known much better than what either of them counts: its interval comes from the differences
 * in each window (windows_ratio).
 */
#ifndef ANALYSIS_WINDOWS_H
#define ANALYSIS_WINDOWS_H
#include "run/run.h"
#include "util/err.h"

struct windows;			/* of a run */
/* counts: how many things are counted; the first is the time, in cycles, and those from `parts` on are parts of it
 * (estimate_clock).  ERR_NOMEM. */
int  windows_create(struct windows **out, size_t counts, size_t parts, struct err *err);
void windows_destroy(struct windows *w);	/* NULL: nothing */
struct windows_thread;		/* belongs to the run's */
int  windows_thread(struct windows *w, struct windows_thread **out, const struct run_thread *t, struct err *err);
/* run_sink.window.  now: what the thread has counted so far, of each.  Returns whether its measured part begins. */
bool windows_part(struct windows_thread *t, const struct run_window *part, const double *now);
/* Makes the totals, when the run has ended.  ERR_NOMEM; ERR_INPUT: it has no window. */
int  windows_total(struct windows *w, const struct run_result *r, struct err *err);
/* *half: half of the width of the 95 % interval; 0: exact; NaN: unknown.  Without a total, as when a run was
 * interrupted, there are no windows, and all is NaN. */
double windows_count(const struct windows *w, size_t count, double *half);
size_t windows_number(const struct windows *w);
double windows_measured(const struct windows *w);	/* instructions in them */
/* What was counted in the windows, of a run whose windows are a fair sample: without the regression of estimate.h. */
double windows_seen(const struct windows *w, size_t count);

struct windows_term { const struct windows *of; size_t count; double factor; };
/* Half of the width of the 95 % interval of (sum of the tops) / (sum of the bottoms).  NaN: unknown, as when the runs'
 * windows differ. */
double windows_ratio(const struct windows_term *top, size_t tops, const struct windows_term *bottom, size_t bottoms);
/* What windows_ratio needs to know of one count, exactly, as one line, for another process.  The caller frees it; NULL:
 * out of memory. */
char *windows_text(const struct windows *w, size_t count);
/* Makes windows of such a line.  They are only good for terms of that count, except for the first one at the top.
 * ERR_NOMEM; ERR_INPUT: it is no such line. */
int  windows_read(struct windows **out, const char *text, struct err *err);
#endif
