/* SPDX-License-Identifier: GPL-2.0-or-later
 * In how many cycles something was under way: the length of the union of intervals that come in some disorder.
 */
#ifndef ANALYSIS_BUSY_CYCLES_H
#define ANALYSIS_BUSY_CYCLES_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct busy_interval { uint64_t begin, end; };
struct busy {			/* zeroed: empty */
	uint64_t cycles;	/* of what has been closed */
	uint64_t covered;	/* below this all cycles are counted */
	struct busy_interval *open;
	size_t count, room;
};
bool busy_add(struct busy *b, uint64_t begin, uint64_t end);	/* cycles from begin to below end; false: out of memory */
/* No interval that is added later begins below `watermark`. */
void busy_close(struct busy *b, uint64_t watermark);
void busy_release(struct busy *b);
#endif
