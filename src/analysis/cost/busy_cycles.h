/* SPDX-License-Identifier: GPL-2.0-or-later
 * The number of cycles in which something was busy: the length of the union of intervals that arrive out of order.
 */
#ifndef ANALYSIS_BUSY_CYCLES_H
#define ANALYSIS_BUSY_CYCLES_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct busy_interval { uint64_t begin, end; };
struct busy {			/* zeroed: empty */
	uint64_t cycles;	/* of the intervals that are closed */
	uint64_t covered;	/* all cycles below this are counted */
	struct busy_interval *open;
	size_t count, room;
};
bool busy_add(struct busy *b, uint64_t begin, uint64_t end);	/* adds cycles [begin, end); false: out of memory */
/* Counts the intervals that begin below the watermark.  Intervals that are added later must begin at or after it. */
void busy_close(struct busy *b, uint64_t watermark);
void busy_release(struct busy *b);
#endif
