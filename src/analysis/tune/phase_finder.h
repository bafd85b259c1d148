/* SPDX-License-Identifier: GPL-2.0-or-later
 * Phases of a program: stretches of a run that execute the same code, and for each an instruction that shows its
 * start.
 *
 * The run is cut into intervals of equally many instructions.  The signature of an interval is how many of its
 * instructions each basic block had: the basic block vector of T. Sherwood, E. Perelman, G. Hamerly, B. Calder,
 * "Automatically Characterizing Large Scale Program Behavior", ASPLOS 2002.  The distance of two intervals is
 * the Manhattan distance of their vectors, 0 to 2.  The intervals are clustered by k-means for 1, 2, ... phases,
 * until they lie close to their phases.  Unlike in that paper, vectors are not projected (there are few enough),
 * and the first centres are not random: each is the interval that is farthest from the centres before it.  So
 * the same run always gives the same phases.  A marker of a phase is an instruction that is executed in each
 * stretch of the phase, and never in the middle of another phase's stretch: the idea of J. Lau, E. Perelman, B.
 * Calder, "Selecting Software Phase Markers with Code Structure Analysis", CGO 2006.  A later run recognises the
 * phase by it, whatever its input and however long its phases.  A phase without a marker is joined to what comes
 * before it.
 *
 * Takes the batches of one thread.  Leaves out: phases that differ only in data; stretches shorter than two
 * intervals; phases of less than a fiftieth of the run.
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
/* signatures: false if only the intervals' cycles are needed. */
int  phases_create(struct phases **out, uint64_t interval, bool signatures, struct err *err);
void phases_destroy(struct phases *p);
struct core_wanted phases_wanted(void);
void phases_batch(struct phases *p, const struct spmu_batch *b);
/* Call after the last batch: the rest becomes an interval, too.  ERR_NOMEM if something was lost. */
int  phases_finish(struct phases *p, struct err *err);

/* instructions of each; a power of two times the interval given to phases_create */
uint64_t phases_interval(const struct phases *p);
size_t phases_intervals(const struct phases *p);
uint64_t phases_cycles(const struct phases *p, size_t interval);
uint64_t phases_instructions(const struct phases *p, size_t interval);

struct phase {
	/* address of the marker; 0: the first phase has none, if the run never comes back to it */
	uint64_t marker;
	size_t intervals, stretches;
};
/* Clusters the intervals, chooses markers among the instructions that `usable` accepts (NULL: all), and joins
 * phases without one.  Phases are numbered in order of appearance. */
int  phases_find(struct phases *p, bool (*usable)(void *context, uint64_t ip), void *context, struct err *err);
size_t phases_count(const struct phases *p);
const struct phase *phases_get(const struct phases *p, size_t phase);
size_t phases_of(const struct phases *p, size_t interval);
/* Number of clusters that were joined to others because they have no marker. */
size_t phases_unmarked(const struct phases *p);
#endif
