/* SPDX-License-Identifier: GPL-2.0-or-later
 * Phases of a program: stretches of a run that execute the same code, and an instruction at which each can be seen to begin.
 *
 * The run is cut into intervals of as many instructions each.  An interval's signature is how many instructions of it each basic block had: the basic
 * block vector of T. Sherwood, E. Perelman, G. Hamerly, B. Calder, "Automatically Characterizing Large Scale Program Behavior", ASPLOS 2002; two
 * intervals are as far apart as their vectors' Manhattan distance, 0 to 2.  They are clustered by k-means, for 1, 2, ... phases until the intervals lie close
 * to their phases.  Unlike there the vectors are not projected (they are few enough), and the first centres are the intervals that are farthest from those
 * before, not random ones: same run, same phases.
 * A marker of a phase is an instruction that is executed in each of its stretches and never in the middle of another phase's: the idea of J. Lau,
 * E. Perelman, B. Calder, "Selecting Software Phase Markers with Code Structure Analysis", CGO 2006.  It is what a later run knows the phase by,
 * whatever its input and however long its phases.  A phase without one is joined to what comes before it.
 *
 * Takes the batches of one thread.  Leaves out: phases that differ in data alone; stretches shorter than two intervals;
 * phases of less than a fiftieth of the run.
 */
#ifndef ANALYSIS_PHASE_FINDER_H
#define ANALYSIS_PHASE_FINDER_H
#include "core/core.h"
#include "softpmu/record.h"
#include "util/err.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { PHASES_MOST = 8, PHASES_INTERVALS = 4096 };	/* a longer run has longer intervals */

struct phases;
/* signatures: false for a run of which only the cycles of intervals are wanted. */
int  phases_create(struct phases **out, uint64_t interval, bool signatures, struct err *err);
void phases_destroy(struct phases *p);
void phases_wanted(struct core_wanted *w);
void phases_batch(struct phases *p, const struct spmu_batch *b);
/* Behind the last batch: what is left is an interval too.  ERR_NOMEM if something was lost. */
int  phases_finish(struct phases *p, struct err *err);

uint64_t phases_interval(const struct phases *p);	/* instructions in each; a power of two times what was asked for */
size_t phases_intervals(const struct phases *p);
uint64_t phases_cycles(const struct phases *p, size_t interval);
uint64_t phases_instructions(const struct phases *p, size_t interval);

struct phase {
	uint64_t marker;	/* address of the instruction; 0: the first phase may be without, if the run never comes back to it */
	size_t intervals, stretches;
};
/* Clusters the intervals, finds markers among the instructions that `usable` takes (NULL: all), and joins what has none.  Phases are numbered as they come. */
int  phases_find(struct phases *p, bool (*usable)(void *context, uint64_t ip), void *context, struct err *err);
size_t phases_count(const struct phases *p);
const struct phase *phases_get(const struct phases *p, size_t phase);
size_t phases_of(const struct phases *p, size_t interval);
/* Clusters that were joined to others because nothing marks them. */
size_t phases_unmarked(const struct phases *p);
#endif
