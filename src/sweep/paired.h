/* SPDX-License-Identifier: GPL-2.0-or-later
 * Means of differences with intervals, by Student's distribution. */
#ifndef SWEEP_PAIRED_H
#define SWEEP_PAIRED_H
#include <stddef.h>

struct paired { double mean, half; size_t n; };	/* half: of the interval's width; NaN with fewer than two values */

/* The value that Student's variable with so many degrees of freedom exceeds with chance `tail`, 0 < tail <= 0.5. */
double student_quantile(double tail, double degrees);
/* The mean of the values that are not NaN; confidence: 0.95, two-sided. */
struct paired paired_mean(const double *difference, size_t n, double confidence);
#endif
