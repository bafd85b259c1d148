/* SPDX-License-Identifier: GPL-2.0-or-later
 * The exact profile (analysis/exact.h) in a perf.data file.
 *
 * Each cause is an event of its own, "exact.memory" for example, whose samples are the instructions: one sample each with the cycles as its period.
 * So perf reads them, and their sum is the number of cycles counted, to the cycle: parts of cycles are rounded so that the thread's sum stays
 * right (no instruction is off by a whole cycle).  Two events more: exact.instructions, how often it retired, and exact.sampled, what a
 * time-proportional sampler found (analysis/exact.h, sample_cycles).
 *
 * A thread's instructions are written when it ends, when it gets another name, and before something else is mapped where they lie.
 */
#ifndef OUTPUT_EXACT_RECORD_H
#define OUTPUT_EXACT_RECORD_H
#include "analysis/exact.h"
#include "output/perfdata.h"
#include "run/run.h"

enum { EXACT_INSTRUCTIONS = EXACT_CAUSES, EXACT_SAMPLED, EXACT_EVENTS };
#define EXACT_PREFIX "exact."

/* Describes the EXACT_EVENTS events that the file has to have, one behind the other. */
void exact_record_events(struct perfdata_event out[EXACT_EVENTS], uint64_t sample_cycles);
/* Which of them an event is, by its name; EXACT_EVENTS: none. */
unsigned exact_record_event(const char *name);
/* What it is called without the prefix. */
const char *exact_record_name(unsigned event);

struct exact_record;
/* first: index of the first of the events in the file.  hz: clock of the modelled cores. */
int  exact_record_create(struct exact_record **out, struct perfdata_writer *w, size_t first, uint64_t sample_cycles, double hz, struct err *err);
void exact_record_destroy(struct exact_record *r);
/* From the run's sink.  skip: the batch's cycles shall not be charged.  Negative: no memory, or the file could not be written. */
int  exact_record_batch(struct exact_record *r, const struct run_thread *t, const struct spmu_batch *b, bool skip);
int  exact_record_side(struct exact_record *r, const struct run_thread *t, uint32_t pid, const uint64_t *record);
int  exact_record_end(struct exact_record *r, const struct run_thread *t);
/* What of the cores' records it looks at: added to what others want. */
void exact_record_wanted(struct core_wanted *w);
/* Threads that have not ended. */
int  exact_record_finish(struct exact_record *r);
#endif
