/* SPDX-License-Identifier: GPL-2.0-or-later
 * The four hardware prefetchers of Intel's Optimization Manual, "Data Prefetching", and a fifth: what trains them and
 * which lines they request.  The caller checks whether there is room for a request.
 *
 *   DCU next line   Ascending loads from a line that is still in flight to L1D request the next line.  GUESS for "an
 *                   ascending access to very recently loaded data": in the MemLat files of InstLatx64 a chain of
 *                   loads in order, two to a line, is not helped (Core 2: 9 cycles at a stride of 32 in L2, Ivy
 *                   Bridge 8), so lines that have arrived do not count.
 *   DCU IP stride   An instruction whose accesses have a constant stride requests the next `distance` addresses.
 *   L2 spatial      "Every cache line fetched to the L2 cache", also by the streamer, requests the other line of its
 *                   aligned pair of 128 bytes (line ^ 1; needs no state).
 *   L2 streamer     Ascending or descending requests to L2 within a 4 KB page request up to `degree` missing lines
 *                   each, at most `distance` lines ahead.
 *                   With `any_order` a request trains a stream if the two lines directly below it, or the two
 *                   directly above it, were requested before, in any order and at any time.
 *   linear streams  After `start` consecutive lines, up or down by linear address, L2 requests up to `degree` lines
 *                   for each further one, at most `distance` lines ahead, across pages.
 *
 * The linear streams follow Zen 5, where n lines of a fresh buffer were read in order and the lines after them were
 * then timed.  After up to 120 lines, as many more lines had come as were read, to the page's end and 8 beyond; after
 * 144, 176, 192, 224 and 256 lines 24, 56, 72, 104 and 128 more; after 448 not more than 128.  Down behaves as up,
 * also where the frames of the pages are in no order.
 * Lines of such a stream may come in another order, as long as none is more than LINEAR_APART from the furthest.
 * Zen 5 also prefetches lines in orders such as 1 0 3 2 5 4, 0 3 6 1 4 7 2 5 and, in part, 3 2 1 0 7 6 5 4
 * (experiments/line-orders.c).  No such stream follows every second line; l1d_ip does.
 * No other prefetcher crosses a 4 KB page, except the stride prefetcher with prefetch.l1d_ip_pages.  Zen's goes by
 * linear addresses: a chain of loads 256 bytes apart through data in L2 takes 4.0 to 4.1 cycles a load on Zen 5
 * (softpmu calibrate, stride.128K to stride.512K); a wait for L2 at each page would make that 4.6.  Across a page it
 * translates the address as a load does, and only if the program has touched that page: other pages are not mapped
 * yet, and no core prefetches those.
 * How fast they gain confidence is a GUESS (third access in one direction or of one stride); to settle, count
 * L2_RQSTS.ALL_PF over the first n lines of fresh pages.
 * Left out: training of the DCU prefetchers by plain L1D hits (they see misses, waits and first uses of prefetched
 * lines, so that a hit costs the model nothing); throttling by bandwidth; the L3-only mode of the streamer; the
 * next-page prefetcher.
 */
#ifndef CORE_PREFETCHERS_H
#define CORE_PREFETCHERS_H
#include "core/machine/config.h"

enum { RECENT_LINES = 8, STREAMS_MAX = 64, STREAM_OUT_MAX = 8, PREFETCH_CONFIDENT = 2 };

struct next_line {
	uint64_t recent[RECENT_LINES];	/* address of the last load from each of the lines requested last */
	uint32_t at;
};
void next_line_init(struct next_line *p);
/* A load missed L1D or found its line in flight.  Returns whether to request the next line. */
bool next_line_train(struct next_line *p, uint64_t addr, unsigned line_log2);

struct ip_entry {
	uint32_t ip, confidence;
	uint64_t addr;
	int64_t stride, lines;	/* in bytes and in lines */
	uint32_t ahead;		/* strides requested beyond addr */
};
struct ip_stride {
	struct ip_entry *entry;
	uint32_t mask;
	uint32_t max_stride, distance;
	bool pages;		/* it crosses pages */
};
/* Creates one that stays in the page. */
int  ip_stride_init(struct ip_stride *p, uint32_t entries, uint32_t max_stride, uint32_t distance, struct err *err);
void ip_stride_release(struct ip_stride *p);
void ip_stride_clear(struct ip_stride *p);
/* Returns how many addresses to request: *target and the following ones, each *step further. */
unsigned ip_stride_train(struct ip_stride *p, uint64_t ip, uint64_t addr, uint64_t *target, int64_t *step);

enum { LINEAR_MAX = 32, LINEAR_APART = 4 };
struct linear_stream {
	uint64_t last, first, stamp;	/* the furthest line in its direction, and in the other one while it is young */
	int64_t direction;
	uint32_t run;		/* lines so far; 0: the entry is empty */
	uint32_t holes;		/* lines that were passed over, and have not come since */
	uint32_t ahead;		/* lines requested beyond last */
};
struct linear {
	uint32_t count, start, distance, degree;	/* count 0: no such prefetcher */
	uint32_t current;	/* stream of the last line */
	uint64_t clock;
	struct linear_stream stream[LINEAR_MAX];
};
void linear_init(struct linear *l, uint32_t count, uint32_t start, uint32_t distance, uint32_t degree);
/* A line missed L1D, or was used for the first time.  Returns how many lines to request: *next and the following
 * ones, each *step further. */
unsigned linear_train(struct linear *l, uint64_t vline, uint64_t *next, int64_t *step);
/* The last n of those were not requested. */
void linear_refused(struct linear *l, unsigned n);

struct stream_entry {
	uint64_t asked;			/* any_order: lines of the page that were asked for, by bit */
	uint32_t last, next, confidence;
	int32_t direction;
};
struct streamer {
	uint32_t count, degree, distance;
	uint32_t window;	/* most lines between two requests of a stream; 0: no limit */
	bool any_order;
	uint32_t current;	/* stream of the last request */
	/* Streams by their last request.  next, previous: those asked for just after and just before */
	uint8_t oldest, newest, next[STREAMS_MAX], previous[STREAMS_MAX];
	_Alignas(16) uint32_t page[STREAMS_MAX];	/* of each stream; all ones: none */
	struct stream_entry stream[STREAMS_MAX];
};
void streamer_init(struct streamer *s, uint32_t streams, uint32_t degree, uint32_t distance);
/* L2 is asked for a physical line.  Returns how many lines may be prefetched, in order; the caller requests up to
 * `degree` that are missing, and returns the rest through streamer_refused. */
unsigned streamer_train(struct streamer *s, uint32_t line, uint32_t out[STREAM_OUT_MAX]);
/* This line was not requested: the stream continues with it next time. */
void streamer_refused(struct streamer *s, uint32_t line);
#endif
