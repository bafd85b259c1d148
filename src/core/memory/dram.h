/* SPDX-License-Identifier: GPL-2.0-or-later
 * Memory behind the L3: channels with a bandwidth, banks with an open row.
 *
 * A request waits for a free place on its channel, then takes the latency of an open, empty or conflicting row.
 * Writes are held back and drained a row at a time.  They take their place on the channel.  A write counts as opening
 * a row if the row is neither the open one nor that of the bank's last write (for the uncore PMU); reads find the row
 * open that the last read left open.
 * Other programs on the machine, which are not modelled, use its memory, too (dram.others_ns): a read waits for them
 * for an exponentially distributed time, drawn by a hash of the line and the number of the read, so that a run
 * repeats exactly.
 * A chain of loads sees the mean; loads that retire in order see the longest wait of a window.
 * Each bank is refreshed in turn, for dram.refresh_ns once in dram.refresh_interval_ns, and a read that meets a
 * refresh waits for its end.  Every other channel is half an interval late, and banks follow one another.  This was
 * measured on an EPYC 9005: a line flushed and read again and again takes up to 220 ns longer in one phase of each
 * 1950.7 ns; odd lines are 975 ns after even ones, and lines 4 KB apart have other phases.
 * An open row is closed when no read has used it for dram.row_close_ns.  That shows, and counts, when the bank is read
 * again.
 * The halves of a channel (dram.halves) only tell lines apart for the uncore PMU: they share their channel's bandwidth
 * and banks.
 * Left out: a refresh closes rows and delays writes; bank busy times (tRC, tFAW); read/write turnaround; scheduling
 * by row hits.
 *
 * Requests come in program order while their cycles jump within the span of the reorder buffer, so a plain "free
 * from" time would make early requests wait for late ones.  A `struct rate` instead books places in spans of time:
 * four lines a span, in the first span that is not full.
 */
#ifndef CORE_DRAM_H
#define CORE_DRAM_H
#include "core/machine/config.h"
#include "softpmu/record.h"

enum { RATE_SPANS = 256, RATE_LINES = 4, DRAM_CHANNELS_MAX = 16, DRAM_BANKS_MAX = 64 };
struct rate {
	uint64_t line;			/* time of a line in 1/256 cycles; 0: no limit */
	uint64_t span;			/* time of a span in 1/256 cycles */
	uint64_t number[RATE_SPANS];	/* number of the span in this entry, plus 1 */
	uint8_t  used[RATE_SPANS];
};
void rate_init(struct rate *r, double cycles_a_line);
/* Books a line at or after `cycle`; returns the cycle at which its transfer starts. */
uint64_t rate_book(struct rate *r, uint64_t cycle);

struct dram {
	struct rate channel[DRAM_CHANNELS_MAX];
	uint32_t row[DRAM_CHANNELS_MAX][DRAM_BANKS_MAX];	/* open row + 1; 0: none */
	uint64_t used[DRAM_CHANNELS_MAX][DRAM_BANKS_MAX];	/* cycle of the last read */
	uint64_t idle;					/* cycles after which an unused row is closed; 0: never */
	uint32_t written[DRAM_CHANNELS_MAX][DRAM_BANKS_MAX];	/* row + 1 of the last write; 0: none */
	enum spmu_found found;				/* state in which the last read or write found its bank */
	uint32_t channel_mask, bank_mask;
	uint32_t half_mask;				/* the bit of a line that chooses its half; 0: none */
	uint32_t channel_log2, bank_log2, row_log2;	/* row_log2: lines of a row */
	uint32_t latency, empty, conflict;		/* cycles */
	/* cycles of a bank's refresh (0: none), and between two of them */
	uint32_t refresh, interval;
	uint32_t reads;
	bool ecc;					/* a write of a part of a line reads it first */
	uint16_t wait[256];				/* wait for others in cycles, for 1 read in 256 each */
};
int  dram_init(struct dram *d, const struct core_config *c, double frequency_ghz, struct err *err);
/* Reads a line; returns the cycle at which it can be used. */
uint64_t dram_read(struct dram *d, uint32_t line, uint64_t cycle);
/* Writes a line; returns the cycle at which its channel takes it. */
uint64_t dram_write(struct dram *d, uint32_t line, uint64_t cycle);
/* Warming: the bank has this row open, or wrote to it last; time stands still at `now`. */
void dram_warm(struct dram *d, uint32_t line, bool write, uint64_t now);
static inline uint32_t dram_channel(const struct dram *d, uint32_t line)
{
	return line & d->channel_mask;
}
/* The bit above those of the channel: GUESS; counting UNC_M_CAS_COUNT.PCH0 in reads of each second, fourth, ... line
 * of a huge page settles it. */
static inline uint64_t dram_half(const struct dram *d, uint32_t line)
{
	return line & d->half_mask ? SPMU_ATTR(SECOND_HALF) : 0;
}
#endif
