/* SPDX-License-Identifier: GPL-2.0-or-later
 * The four hardware prefetchers of Intel's Optimization Manual, "Data Prefetching", and one more: what they look at
 * and which line they ask for.  Whether there is room for the request is the caller's matter.
 *
 *   DCU next line     ascending loads from a line that is still on its way to L1D: the line after.  GUESS for "an ascending access to very
 *                     recently loaded data": in the MemLat files of InstLatx64 a chain of loads in order, two to a line, is not helped
 *                     (Core 2: 9 cycles at a stride of 32 in L2, Ivy Bridge 8), so lines that have arrived do not count
 *   DCU IP stride     an instruction whose accesses are a constant stride apart: the next address, or the next `distance` ones
 *   L2 spatial        the other line of an aligned pair of 128 bytes, of "every cache line fetched to the L2 cache", the streamer's
 *                     included (needs no state: line ^ 1)
 *   L2 streamer       ascending or descending requests to L2 within a 4 KB page: up to `degree` lines a request that
 *                     are not there yet,
 *                     up to `distance` lines ahead
 *   linear streams    lines in order, up or down, by linear address: once `start` of them followed one another, L2 asks for up to `degree` a
 *                     line, up to `distance` lines ahead, over pages
 * Linear streams as on Zen 5, where n lines of a fresh buffer were read in order and it was then timed which of those behind had come: up to 120 lines
 * read, as many more as there were read, to the page's end and 8 beyond; of 144, 176, 192, 224, 256 lines 24, 56, 72, 104 and 128 more, and of 448
 * no more than that; down as up, and where the frames of pages are in no order at all.
 * No other crosses a 4 KB page, but the stride prefetcher where prefetch.l1d_ip_pages lets it: Zen's go by linear addresses, and a chain of loads 256 bytes on
 * through what L2 holds takes 4.0 to 4.1 cycles a load on Zen 5 (softpmu calibrate, stride.128K to stride.512K), a wait for L2 a page would be 4.6.  Then it asks for
 * the page's translation as a load does, and only for pages that the program has touched: another is not mapped yet, for which no core prefetches.
 * How fast they become confident is a GUESS (third access in one direction or of one stride);
 * to settle, count L2_RQSTS.ALL_PF over the first n lines of fresh pages.
 * Left out: training of the DCU prefetchers by plain L1D hits (they see misses, waits and first uses of prefetched lines, so a hit
 * costs the model nothing), throttling by bandwidth, the L3-only mode of the streamer, the next-page prefetcher.
 */
#ifndef CORE_PREFETCHERS_H
#define CORE_PREFETCHERS_H
#include "core/machine/config.h"

enum { RECENT_LINES = 8, STREAMS_MAX = 64, STREAM_OUT_MAX = 8, PREFETCH_CONFIDENT = 2 };

struct next_line {
	uint64_t recent[RECENT_LINES];	/* address of the last load from each of the lines asked for last */
	uint32_t at;
};
void next_line_init(struct next_line *p);
/* A load that missed L1D or found its line on the way.  True: ask for the next line. */
bool next_line_train(struct next_line *p, uint64_t addr, unsigned line_log2);

struct ip_entry { uint32_t ip, confidence; uint64_t addr; int64_t stride, lines; uint32_t ahead; };	/* ahead: strides asked for beyond addr */
struct ip_stride {
	struct ip_entry *entry;
	uint32_t mask;
	uint32_t max_stride, distance;
	bool pages;		/* it asks beyond the page */
};
int  ip_stride_init(struct ip_stride *p, uint32_t entries, uint32_t max_stride, uint32_t distance, struct err *err);	/* stays in the page */
void ip_stride_release(struct ip_stride *p);
void ip_stride_clear(struct ip_stride *p);
/* How many to ask for: *target, and those *step further on. */
unsigned ip_stride_train(struct ip_stride *p, uint64_t ip, uint64_t addr, uint64_t *target, int64_t *step);

enum { LINEAR_MAX = 32 };
struct linear_stream { uint64_t last, stamp; int64_t direction; uint32_t run, ahead; };	/* run: lines in order, 0: none; ahead: asked for beyond last */
struct linear {
	uint32_t count, start, distance, degree;	/* count 0: there is none */
	uint32_t current;	/* stream of the last line */
	uint64_t clock;
	struct linear_stream stream[LINEAR_MAX];
};
void linear_init(struct linear *l, uint32_t count, uint32_t start, uint32_t distance, uint32_t degree);
/* A line's first use in L1D or its miss. How many lines to ask for: *next, and those *step further on. */
unsigned linear_train(struct linear *l, uint64_t vline, uint64_t *next, int64_t *step);
/* The last n of them were not asked for. */
void linear_refused(struct linear *l, unsigned n);

struct stream_entry { uint32_t last, next, confidence; int32_t direction; uint64_t stamp; };
struct streamer {
	uint32_t count, degree, distance;
	uint32_t window;	/* requests of one stream are no further apart than so many lines; 0: no limit */
	uint32_t current;	/* stream of the last request */
	uint64_t clock;
	_Alignas(16) uint32_t page[STREAMS_MAX];	/* of each stream; all ones: none */
	struct stream_entry stream[STREAMS_MAX];
};
void streamer_init(struct streamer *s, uint32_t streams, uint32_t degree, uint32_t distance);
/* A request to L2 for a physical line; returns how many lines it may ask for, in order; it asks for `degree` that are not there
 * and gives the rest back (streamer_refused). */
unsigned streamer_train(struct streamer *s, uint32_t line, uint32_t out[STREAM_OUT_MAX]);
/* One of those lines was not asked for: the stream goes on from there next time. */
void streamer_refused(struct streamer *s, uint32_t line);
#endif
