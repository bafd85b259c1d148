/* SPDX-License-Identifier: GPL-2.0-or-later
 * The blocks of a thread that were read from the stream and do not run yet, so that the wrong path can see what
 * comes (core/wrongpath/converge.h).  Each waits until CONVERGE_BLOCKS more were read; when anything other than a
 * block comes, all of them run.  Private to src/run.
 */
#ifndef RUN_AHEAD_H
#define RUN_AHEAD_H
#include "core/wrongpath/converge.h"
#include "run/threads/process.h"

struct ahead {
	struct pending pending[CONVERGE_BLOCKS];	/* the blocks of converge.block, at the same indices */
	struct converge converge;
	uint64_t *kept[2];	/* slots of blocks whose span is gone; two buffers, used in turn */
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

/* Adds a block.  Must not be called when full. */
static inline void ahead_put(struct ahead *a, const struct pending *p)
{
	a->pending[a->converge.end & (CONVERGE_BLOCKS - 1)] = *p;
	converge_read(&a->converge, p->block, p->slots, p->slot_count);
}

/* Takes the oldest block; valid until the next ahead_put.  Must not be called when empty. */
static inline struct pending *ahead_take(struct ahead *a)
{
	return &a->pending[a->converge.first++ & (CONVERGE_BLOCKS - 1)];
}

/* The span becomes invalid: copies the slots of the blocks. */
int ahead_keep(struct ahead *a, struct err *err);
void ahead_destroy(struct ahead *a);	/* NULL: nothing */
#endif
