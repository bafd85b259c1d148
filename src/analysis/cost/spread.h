/* SPDX-License-Identifier: GPL-2.0-or-later
 * How values are spread: a histogram of cycle counts, for medians and quartiles without keeping the values.
 *
 * Values below 2 << fine have a bucket each; above, each octave has 1 << fine buckets, so that a bucket is at most value >> fine wide.
 */
#ifndef ANALYSIS_SPREAD_H
#define ANALYSIS_SPREAD_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct spread { uint64_t count, sum; uint32_t max; unsigned fine; size_t buckets; uint64_t *bucket; };

enum { SPREAD_FINE_MAX = 12 };
void spread_init(struct spread *s, unsigned fine);	/* empty; fine: at most SPREAD_FINE_MAX */
void spread_release(struct spread *s);
bool spread_add(struct spread *s, uint32_t value);	/* false: out of memory; the value is in count and sum, not in a bucket */
bool spread_merge(struct spread *s, const struct spread *other);	/* of the same fineness */
/* The least value such that so many of all (0 to 1) are not above it, or the low end of its bucket; 0 if there are none. */
uint32_t spread_quantile(const struct spread *s, double part);
/* Buckets in order of value: the i-th holds the values from spread_low(s, i) to below spread_low(s, i + 1). */
uint32_t spread_low(const struct spread *s, size_t i);
/* How many values were at least `low`, which is the low end of a bucket. */
uint64_t spread_at_least(const struct spread *s, uint32_t low);
#endif
