/* SPDX-License-Identifier: GPL-2.0-or-later
 * Histograms (spread.h).  The buckets grow with the largest value seen, because most spreads belong to an
 * instruction whose values are all small. */
#include "analysis/cost/spread.h"
#include <stdlib.h>
#include <string.h>

static size_t place(unsigned fine, uint32_t v)
{
	if (v < 2u << fine)
		return v;
	unsigned shift = 31 - (unsigned)__builtin_clz(v) - fine;
	return ((size_t)shift << fine) + (v >> shift);
}

uint32_t spread_low(const struct spread *s, size_t i)
{
	if (i < (size_t)2 << s->fine)
		return (uint32_t)i;
	size_t shift = (i >> s->fine) - 1;
	uint64_t low = (uint64_t)(i - (shift << s->fine)) << shift;
	return low > UINT32_MAX ? UINT32_MAX : (uint32_t)low;
}

void spread_init(struct spread *s, unsigned fine)
{
	*s = (struct spread){ .fine = fine < SPREAD_FINE_MAX ? fine : SPREAD_FINE_MAX };
}

void spread_release(struct spread *s)
{
	free(s->bucket);
	*s = (struct spread){ 0 };
}

static bool room(struct spread *s, size_t buckets)
{
	if (buckets <= s->buckets)
		return true;
	buckets = (buckets + 15) & ~(size_t)15;
	uint64_t *more = realloc(s->bucket, buckets * sizeof *more);
	if (!more)
		return false;
	memset(more + s->buckets, 0, (buckets - s->buckets) * sizeof *more);
	s->bucket = more;
	s->buckets = buckets;
	return true;
}

bool spread_add(struct spread *s, uint32_t value)
{
	const size_t at = place(s->fine, value);
	s->count++;
	s->sum += value;
	s->max = value > s->max ? value : s->max;
	if (at >= s->buckets && !room(s, at + 1))
		return false;
	s->bucket[at]++;
	return true;
}

bool spread_merge(struct spread *s, const struct spread *other)
{
	s->count += other->count;
	s->sum += other->sum;
	s->max = other->max > s->max ? other->max : s->max;
	if (!room(s, other->buckets))
		return false;
	for (size_t i = 0; i < other->buckets; i++)
		s->bucket[i] += other->bucket[i];
	return true;
}

void spread_scale(struct spread *s, double by)
{
	double all = 0;
	uint64_t before = 0;
	for (size_t i = 0; i < s->buckets; i++) {	/* rounded so that the buckets add up */
		all += (double)s->bucket[i] * by;
		s->bucket[i] = (uint64_t)(all + 0.5) - before;
		before += s->bucket[i];
	}
	s->count = (uint64_t)((double)s->count * by + 0.5);
	s->sum = (uint64_t)((double)s->sum * by + 0.5);
}

uint32_t spread_quantile(const struct spread *s, double part)
{
	uint64_t all = 0, below = 0;
	for (size_t i = 0; i < s->buckets; i++)
		all += s->bucket[i];
	for (size_t i = 0; i < s->buckets; i++) {
		below += s->bucket[i];
		if (s->bucket[i] && (double)below >= part * (double)all)
			return spread_low(s, i);
	}
	return 0;
}

uint64_t spread_at_least(const struct spread *s, uint32_t low)
{
	uint64_t n = 0;
	for (size_t i = place(s->fine, low); i < s->buckets; i++)
		n += s->bucket[i];
	return n;
}
