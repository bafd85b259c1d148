/* SPDX-License-Identifier: GPL-2.0-or-later
 * Lists of touched lines as bytes: the content of ST_LINES (stream/format.h).  Private to src/run.
 *
 * A list is in order of the last use, the oldest first.  What a cache keeps of it depends on this order, but for lines
 * that were used long ago on a rough one only.  So the list is cut into groups.  The most recent LINES_EXACT lines are
 * one: its data in their order, then its code.  Each group before it has half as many lines as all that are more
 * recent, in order of addresses.  That takes 3 bits a line where the order of all takes 20, of a program with long gaps
 * (docs/measured/live-point-error.md).  The order of addresses would mislead prefetchers, so they see the exact group
 * only.
 *
 * A group is a number, count * 4 + exact * 2 + code, then a number for each line: the zigzag difference from the line
 * before of the same kind (code or data, the first one from line 0) * 2 + written.  Numbers are LEB128; count 0 ends
 * the record.
 */
#ifndef RUN_LINES_H
#define RUN_LINES_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { LINES_EXACT = 4096 };

/* Calls `put` with records of ST_LINES, at most `most` words long (16 at least), that hold the list: words as of
 * ST_TOUCH, which are reordered.  room: `most` words. */
void lines_pack(uint64_t *line, size_t count, uint64_t *room, size_t most,
	void (*put)(void *context, const uint64_t *record, size_t words), void *context);

struct lines_reader {		/* of a record, behind its header */
	const uint8_t *at, *end;
	uint64_t left;		/* of this group */
	uint64_t last[2];
	bool exact, code;
	bool damaged;		/* it ended because of that */
};
/* words: behind the record's header. */
struct lines_reader lines_read(const uint64_t *word, size_t words);
/* The next line, as a word of ST_TOUCH; false: there is no more. */
bool lines_next(struct lines_reader *r, uint64_t *line);
#endif
