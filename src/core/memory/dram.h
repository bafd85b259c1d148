/* SPDX-License-Identifier: GPL-2.0-or-later
 * Memory behind the L3: channels with a bandwidth, banks with an open row.
 *
 * A request waits for a free place on its channel, then takes the latency of an open, empty or conflicting row.
 * Writes are kept back and drained a row at a time: they cost their place on the channel, and count as opening a row when it is neither the
 * open one nor that of the write before (for the uncore PMU; reads find the row open that they left open).
 * Others on a machine of which one program is modelled use its memory, too (dram.others_ns): a read waits for them, an exponential time, drawn by a hash of
 * line and number of the read, so always the same.  A chain of loads sees the mean, loads that retire in order the longest of a window.
 * Each bank is refreshed in turn, dram.refresh_ns of every dram.refresh_interval_ns, and a read that finds it so waits for the end.  Every other channel is half an
 * interval behind, banks follow one another: measured so on an EPYC 9005, where a line flushed and read again and again takes up to 220 ns longer in one phase
 * of each 1950.7 ns, odd lines 975 ns after even ones, lines 4 KB apart at other phases.
 * Left out: that a refresh closes rows, and delays writes; bank busy times (tRC, tFAW), read/write turnaround, scheduling by row hits.
 *
 * Requests come in program order while their cycles jump by what the reorder buffer spans, so a plain
 * "free from" time would make early requests wait for late ones.  A `struct rate` instead books places in spans
 * of time: four lines a span, the first span that is not full.
 */
#ifndef CORE_DRAM_H
#define CORE_DRAM_H
#include "core/machine/config.h"
#include "softpmu/record.h"

enum { RATE_SPANS = 256, RATE_LINES = 4, DRAM_CHANNELS_MAX = 16, DRAM_BANKS_MAX = 64 };
struct rate {
	uint64_t line;			/* 1/256 cycles a line; 0: no limit */
	uint64_t span;			/* 1/256 cycles a span */
	uint64_t number[RATE_SPANS];	/* which span this entry stands for, plus 1 */
	uint8_t  used[RATE_SPANS];
};
void rate_init(struct rate *r, double cycles_a_line);
/* Books a line at or after `cycle`; returns the cycle at which its transfer starts. */
uint64_t rate_book(struct rate *r, uint64_t cycle);

struct dram {
	struct rate channel[DRAM_CHANNELS_MAX];
	uint32_t row[DRAM_CHANNELS_MAX][DRAM_BANKS_MAX];	/* open row + 1; 0: none */
	uint32_t written[DRAM_CHANNELS_MAX][DRAM_BANKS_MAX];	/* row + 1 of the last write; 0: none */
	enum spmu_found found;				/* what the last read or write came upon in its bank */
	uint32_t channel_mask, bank_mask;
	uint32_t channel_log2, bank_log2, row_log2;	/* row_log2: lines of a row */
	uint32_t latency, empty, conflict;		/* cycles */
	uint32_t refresh, interval;			/* a bank's refresh takes so many cycles, once in so many; refresh 0: none */
	uint32_t reads;
	uint16_t wait[256];				/* cycles for others, one in 256 each; all 0: there are none */
};
int  dram_init(struct dram *d, const struct core_config *c, double frequency_ghz, struct err *err);
/* A line is read; returns the cycle at which it can be used. */
uint64_t dram_read(struct dram *d, uint32_t line, uint64_t cycle);
/* A line is written; returns the cycle at which its channel takes it. */
uint64_t dram_write(struct dram *d, uint32_t line, uint64_t cycle);
static inline uint32_t dram_channel(const struct dram *d, uint32_t line)
{
	return line & d->channel_mask;
}
#endif
