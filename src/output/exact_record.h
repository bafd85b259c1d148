/* SPDX-License-Identifier: GPL-2.0-or-later
 * The exact profile (analysis/exact.h) in a perf.data file.
 *
 * Each cause is an event of its own, for example "exact.memory", with one sample for each instruction whose period is
 * the number of cycles.  So perf can read them.  Their sum is exactly the number of cycles counted: fractions of
 * cycles are rounded so that the thread's sum stays right, and no instruction is off by a whole cycle.  There are two
 * more events: exact.instructions, how often an instruction retired, and exact.sampled, what a time-proportional
 * sampler found (analysis/exact.h, sample_cycles).
 *
 * A thread's instructions are written when it ends, when it is renamed, and before something else is mapped over them.
 */
#ifndef OUTPUT_EXACT_RECORD_H
#define OUTPUT_EXACT_RECORD_H
#include "analysis/exact.h"
#include "output/perfdata/perfdata.h"
#include "run/run.h"

enum { EXACT_INSTRUCTIONS = EXACT_CAUSES, EXACT_SAMPLED, EXACT_EVENTS };
#define EXACT_PREFIX "exact."

/* Describes the EXACT_EVENTS events that the file must have, consecutively. */
void exact_record_events(struct perfdata_event out[EXACT_EVENTS], uint64_t sample_cycles);
/* Returns the index of an event by its name, or EXACT_EVENTS if it is none of them. */
unsigned exact_record_event(const char *name);

struct exact_record;
/* first: index of the first of the events in the file.  hz: clock of the modelled cores.  The writer is borrowed. */
int  exact_record_create(struct exact_record **out, struct perfdata_writer *w, size_t first, uint64_t sample_cycles,
                         double hz, struct err *err);
void exact_record_destroy(struct exact_record *r);
/* Called from the run's sink.  skip: do not charge the cycles of this batch.  Returns a negative error if there is no
 * memory or the file could not be written. */
int  exact_record_batch(struct exact_record *r, const struct run_thread *t, const struct spmu_batch *b, bool skip);
int  exact_record_side(struct exact_record *r, const struct run_thread *t, uint32_t pid, const uint64_t *record);
int  exact_record_end(struct exact_record *r, const struct run_thread *t);
/* Adds the parts of the cores' records that it reads to those that others want. */
struct core_wanted exact_record_wanted(void);
/* Writes the threads that have not ended. */
int  exact_record_finish(struct exact_record *r);
#endif
