/* SPDX-License-Identifier: GPL-2.0-or-later
 * Regions that the program marks (softpmu/client.h): how often each was entered, and what was counted in it,
 * summed over threads.  Private to src/session.
 *
 * Programs that are marked for Callgrind dump and zero its counts.  A dump makes what was counted in the region
 * REGION_CALLGRIND since the last dump or zero (anywhere, before the thread enters it) a region of its own.
 *
 * A region begins and ends for a thread at the outermost of its markers.  A region that is open when the thread
 * ends, ends there.
 */
#ifndef SESSION_REGION_H
#define SESSION_REGION_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct region { char *name; uint64_t entries, *count; /* [items] */ };
struct regions { struct region *region; size_t regions, items; };

/* One thread's state; all zero at first. */
struct region_open { uint64_t depth, *from; /* [items]: the counts when it began */ };
struct region_thread {
	struct region_open *open;
	size_t regions;
	/* for dumps; NULL: there was no request of Callgrind */
	uint64_t *part, *part_from;	/* [items]: counted since the last dump, without what began at part_from */
	bool part_open;			/* counted now */
};
#define REGION_CALLGRIND "callgrind"

/* now[items]: the thread's counts at the marker.  Returns the region that began or ended with this marker; NULL
 * if none did, or if memory ran out. */
const struct region *region_begin(struct regions *r, struct region_thread *t, const char *name, const uint64_t *now);
const struct region *region_end(struct regions *r, struct region_thread *t, const char *name, const uint64_t *now);
/* What was counted since the last dump is added to the region of this name, or forgotten. */
void region_dump(struct regions *r, struct region_thread *t, const char *name, const uint64_t *now);
void region_zero(struct regions *r, struct region_thread *t, const uint64_t *now);
/* Call it when the thread ends: ends its open regions and frees its state. */
void region_thread_end(struct regions *r, struct region_thread *t, const uint64_t *now);
void region_thread_release(struct region_thread *t);
void regions_release(struct regions *r);
#endif
