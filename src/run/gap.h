/* SPDX-License-Identifier: GPL-2.0-or-later
 * A gap: a stretch of a thread's blocks that only warm caches and predictors, taken from the stream without a detour.
 * Private to src/run.
 */
#ifndef RUN_GAP_H
#define RUN_GAP_H
#include "run/sample.h"

/* Does the process' current thread only warm? */
static inline bool gap_here(const struct runner *r, const struct process *p)
{
	if (p->current && p->current->leader)
		return sample_only_warms(p->current);
	return (p->current && p->current->pub.warms) || (r->window.active && !r->window.open);
}

/* Takes blocks from the stream for as long as nothing but warming is to be done, as run.c would do one by one, and
 * leaves the last of them pending.  Returns the number of words taken; 0: run.c must handle the first record. */
size_t gap_take(struct runner *r, struct process *p, const uint64_t *w, size_t count);
#endif
