/* SPDX-License-Identifier: GPL-2.0-or-later
 * The spread of values: a histogram of cycle counts that gives medians and quartiles without keeping the values.
 *
 * Values below 2 << fine have one bucket each.  Above that, each octave has 1 << fine buckets, so a bucket is at
 * most value >> fine wide.
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
/* false: out of memory; then the value is in count and sum, but in no bucket */
bool spread_add(struct spread *s, uint32_t value);
/* both must have the same fineness; false: out of memory */
bool spread_merge(struct spread *s, const struct spread *other);
/* As if each value had occurred `by` times. */
void spread_scale(struct spread *s, double by);
/* The least value such that at least this part of all values (0 to 1) is not above it, or the low end of its
 * bucket; 0 if there are no values. */
uint32_t spread_quantile(const struct spread *s, double part);
/* Buckets are in order of value: bucket i holds the values from spread_low(s, i) to below spread_low(s, i + 1). */
uint32_t spread_low(const struct spread *s, size_t i);
/* How many values are at least `low`, which must be the low end of a bucket. */
uint64_t spread_at_least(const struct spread *s, uint32_t low);
#endif
