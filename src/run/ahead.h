/* SPDX-License-Identifier: GPL-2.0-or-later
 * The blocks of a thread that were read from the stream and do not run yet, for whoever wants to know what comes (core/wrongpath/converge.h): each waits
 * until CONVERGE_BLOCKS more were read, or something else than a block comes, for which all of them run.  Private to src/run.
 */
#ifndef RUN_AHEAD_H
#define RUN_AHEAD_H
#include "core/wrongpath/converge.h"
#include "run/process.h"

struct ahead {
	struct pending pending[CONVERGE_BLOCKS];	/* as converge.block, under the same numbers */
	struct converge converge;
	uint64_t *kept[2];	/* slots of those whose span is gone; in turns */
	size_t kept_size[2];
	unsigned turn;
};

static inline bool ahead_is_empty(const struct ahead *a)
{
	return a->converge.first == a->converge.end;
}

static inline bool ahead_is_full(const struct ahead *a)
{
	return a->converge.end - a->converge.first == CONVERGE_BLOCKS;
}

/* Not if it is full. */
static inline void ahead_put(struct ahead *a, const struct pending *p)
{
	a->pending[a->converge.end & (CONVERGE_BLOCKS - 1)] = *p;
	converge_read(&a->converge, p->block, p->slots, p->slot_count);
}

/* The oldest, until the next one is put in; not if it is empty. */
static inline struct pending *ahead_take(struct ahead *a)
{
	return &a->pending[a->converge.first++ & (CONVERGE_BLOCKS - 1)];
}

/* The span goes away: they take their slots along. */
int ahead_keep(struct ahead *a, struct err *err);
void ahead_destroy(struct ahead *a);	/* NULL: nothing */
#endif
