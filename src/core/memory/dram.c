/* SPDX-License-Identifier: GPL-2.0-or-later
 * Memory channels and banks; see dram.h for what is modelled. */
#include "core/memory/dram.h"
#include <math.h>
#include <string.h>

void rate_init(struct rate *r, double cycles_a_line)
{
	memset(r, 0, sizeof(*r));
	r->line = (uint64_t)llround(cycles_a_line * 256);
	r->span = r->line * RATE_LINES;
}

uint64_t rate_book(struct rate *r, uint64_t cycle)
{
	if (!r->line)
		return cycle;
	for (uint64_t span = (cycle << 8) / r->span; ; span++) {
		unsigned at = span % RATE_SPANS;
		if (r->number[at] != span + 1) {
			if (r->number[at] > span + 1)	/* so long ago that its span is forgotten: no limit */
				return cycle;
			r->number[at] = span + 1;
			r->used[at] = 0;
		}
		if (r->used[at] == RATE_LINES)
			continue;
		uint64_t place = (span * r->span + r->used[at]++ * r->line) >> 8;
		return place > cycle ? place : cycle;
	}
}

static uint32_t log2_of(uint32_t v)
{
	return 31 - (uint32_t)__builtin_clz(v);
}

int dram_init(struct dram *d, const struct core_config *c, double frequency_ghz, struct err *err)
{
	memset(d, 0, sizeof(*d));
	uint32_t channels = c->dram_channels, banks = c->dram_banks, row = c->dram_row;
	if (!channels || channels & (channels - 1) || channels > DRAM_CHANNELS_MAX)
		return err_set(err, ERR_INPUT, "dram.channels = %u is not a power of two up to %d", channels,
			DRAM_CHANNELS_MAX);
	if (!banks || banks & (banks - 1) || banks > DRAM_BANKS_MAX)
		return err_set(err, ERR_INPUT, "dram.banks = %u is not a power of two up to %d", banks, DRAM_BANKS_MAX);
	if (row < 64 || row & (row - 1))
		return err_set(err, ERR_INPUT, "dram.row = %u bytes is not a power of two of at least 64", row);
	d->channel_mask = channels - 1;
	d->bank_mask = banks - 1;
	d->idle = (uint64_t)llround(c->dram_row_close_ns * frequency_ghz);
	d->ecc = c->dram_ecc;
	d->half_mask = c->dram_halves == 2 ? channels : 0;
	d->channel_log2 = log2_of(channels);
	d->bank_log2 = log2_of(banks);
	d->row_log2 = log2_of(row / (64 >> c->cache_line));
	d->latency = (uint32_t)lround(c->dram_latency_ns * frequency_ghz);
	d->empty = (uint32_t)lround(c->dram_row_empty_ns * frequency_ghz);
	d->conflict = (uint32_t)lround(c->dram_row_conflict_ns * frequency_ghz);
	if (c->dram_refresh_ns > 0 && c->dram_refresh_ns >= c->dram_refresh_interval_ns)
		return err_set(err, ERR_INPUT, "dram.refresh_ns = %g must be less than dram.refresh_interval_ns",
			c->dram_refresh_ns);
	d->refresh = (uint32_t)lround(c->dram_refresh_ns * frequency_ghz);
	d->interval = (uint32_t)fmax(lround(c->dram_refresh_interval_ns * frequency_ghz), 1);
	for (unsigned i = 0; i < 256; i++)
		d->wait[i] =
			(uint16_t)fmin(lround(-log((i + 0.5) / 256) * c->dram_others_ns * frequency_ghz), UINT16_MAX);
	for (unsigned i = 0; i < channels; i++)
		rate_init(&d->channel[i], (64 >> c->cache_line) / (c->dram_bandwidth / channels) * frequency_ghz);
	return 0;
}

/* Lines interleave over the channels, then fill a row, then go to the next bank. */
struct place { uint32_t channel, bank, row; };
static struct place place_of(const struct dram *d, uint32_t line)
{
	uint32_t rest = line >> d->channel_log2 >> d->row_log2;
	/* row bits are XORed into the bank, as usual */
	return (struct place){ dram_channel(d, line), (rest ^ rest >> d->bank_log2) & d->bank_mask,
		(rest >> d->bank_log2) + 1 };
}

/* Returns the end of the bank's refresh, or `cycle` if none is going on. */
static uint64_t refreshed(const struct dram *d, struct place p, uint64_t cycle)
{
	if (!d->refresh)
		return cycle;
	const uint64_t phase =
		(uint64_t)d->interval * p.bank / (d->bank_mask + 1) + (p.channel & 1) * (d->interval / 2);
	const uint64_t into = (cycle + phase) % d->interval;
	return into < d->refresh ? cycle + d->refresh - into : cycle;
}

/* Has the bank's open row been closed because no read used it for too long? */
static bool idle(const struct dram *d, struct place p, uint64_t cycle)
{
	return d->idle && d->row[p.channel][p.bank] && cycle > d->used[p.channel][p.bank] + d->idle;
}

uint64_t dram_read(struct dram *d, uint32_t line, uint64_t cycle)
{
	struct place p = place_of(d, line);
	uint32_t row = p.row;
	uint64_t start = rate_book(&d->channel[p.channel], refreshed(d, p, cycle));
	const bool closed = idle(d, p, start);
	uint32_t open = closed ? 0 : d->row[p.channel][p.bank];
	d->row[p.channel][p.bank] = row;
	if (start > d->used[p.channel][p.bank])
		d->used[p.channel][p.bank] = start;
	d->found = open == row ? SPMU_FOUND_ROW_OPEN : open ? SPMU_FOUND_ROW_OTHER
		: closed ? SPMU_FOUND_ROW_CLOSED : SPMU_FOUND_ROW_EMPTY;
	const uint32_t draw = (line ^ ++d->reads * UINT32_C(0x85ebca6b)) * UINT32_C(0x9e3779b1) >> 24;
	return start + d->latency + d->wait[draw] + (open == row ? 0 : open ? d->conflict : d->empty);
}

uint64_t dram_write(struct dram *d, uint32_t line, uint64_t cycle)
{
	struct place p = place_of(d, line);
	uint32_t *written = &d->written[p.channel][p.bank];
	const uint32_t open = idle(d, p, cycle) ? 0 : d->row[p.channel][p.bank];
	d->found = p.row == open || p.row == *written ? SPMU_FOUND_ROW_OPEN :
	           open || *written ? SPMU_FOUND_ROW_OTHER : SPMU_FOUND_ROW_EMPTY;
	*written = p.row;
	return rate_book(&d->channel[p.channel], cycle);
}

void dram_warm(struct dram *d, uint32_t line, bool write, uint64_t now)
{
	const struct place p = place_of(d, line);
	if (write) {
		d->written[p.channel][p.bank] = p.row;
		return;
	}
	d->row[p.channel][p.bank] = p.row;
	if (now > d->used[p.channel][p.bank])
		d->used[p.channel][p.bank] = now;
}
