/* SPDX-License-Identifier: GPL-2.0-or-later
 * A run over modelled time as JSON in the Trace Event Format, which Perfetto (https://ui.perfetto.dev) and Chrome's
 * about:tracing read: for each thread a track with the regions that the program marked, one with its states, one with
 * its phases, and counters.
 *
 * Source: the Trace Event Format (the document that Chromium's catapult/docs/trace-event-format.md names): "JSON Object
 * Format", "Duration Events" (B, E), "Counter Events" (C), "Metadata Events" (M); Perfetto, docs/faq.md: slices of a
 * thread nest perfectly.  ts is in microseconds of modelled time.
 *
 * A region ends all regions that were begun in it; those that the program has not ended begin again, so that slices
 * nest.  States: "runs" while the core is unhalted, else nothing.  Phases are those of analysis/tune/phase_finder.h.
 * Counters are averages over intervals, at most TRACE_INTERVALS of them; a run that goes on makes them twice as long.
 *
 * A thread has tid TID for its regions, TRACE_STATES + n for its states and TRACE_PHASES + n for its phases, n counting
 * threads; the tracks' names have the tid.  Leaves out: slots of threads that share a core; sampled runs.
 */
#ifndef OUTPUT_TRACE_EVENTS_H
#define OUTPUT_TRACE_EVENTS_H
#include "core/core.h"
#include "core/machine/config.h"
#include "run/run.h"
#include "util/err.h"
#include <stdio.h>

enum { TRACE_INTERVALS = 1024, TRACE_STATES = 1000000000, TRACE_PHASES = 1500000000 };

struct trace_events;
int  trace_events_create(struct trace_events **out, const struct core_config *core, struct err *err);
void trace_events_destroy(struct trace_events *e);
struct core_wanted trace_events_wanted(void);
/* Called from the run's sink.  They keep their state in run_thread.sink_private, and return a negative error. */
int  trace_events_thread(struct trace_events *e, struct run_thread *t, struct err *err);
int  trace_events_batch(struct trace_events *e, struct run_thread *t, const struct spmu_batch *b, struct err *err);
/* A region begins or ends.  Its name is kept. */
int  trace_events_region(struct trace_events *e, struct run_thread *t, const char *name, bool begins, struct err *err);
void trace_events_end(struct trace_events *e, struct run_thread *t);
/* Behind the run.  command: what was run.  A failed write shows in ferror(to). */
int  trace_events_write(FILE *to, struct trace_events *e, const char *command, struct err *err);
#endif
