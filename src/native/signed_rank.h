/* SPDX-License-Identifier: GPL-2.0-or-later
 * Tests whether the median of paired differences is above zero, and estimates it: Wilcoxon's signed-rank test,
 * exact, the Hodges-Lehmann estimate, and the confidence interval that belongs to both (Hollander, Wolfe and
 * Chicken, "Nonparametric Statistical Methods", third edition, sections 3.1 to 3.3).
 *
 * It uses ranks, because the noise of a shared host has no useful variance: a run that met a backup counts as the
 * largest difference, not as thirty times the others.  It is exact, because there are few differences: it counts
 * over all 2^n choices of their signs, with ties.  The caller must ensure that each difference is as likely as its
 * negative if there is no effect; it does so with a coin that decides which side runs first.
 */
#ifndef NATIVE_SIGNED_RANK_H
#define NATIVE_SIGNED_RANK_H

enum { SIGNED_RANK_MOST = 64 };

struct signed_rank {
	unsigned n;		/* differences that are not zero; zeros have no direction and are not ranked */
	/* chance of a rank sum at least this high if the signs are fair coins; 1 with n = 0 */
	double p;
	double estimate;	/* median of the averages of all pairs of differences */
	/* interval that covers the true median with the given confidence; infinite if there are too few
	 * differences */
	double low, high;
};

/* Tests n differences (at most SIGNED_RANK_MOST are used, all finite); confidence: 0.95. */
void signed_rank(struct signed_rank *r, const double *difference, unsigned n, double confidence);
/* Holm's step-down procedure: p[i] becomes the level at which hypothesis i is rejected while the chance of any
 * false rejection among all n is at most that level, however they depend on each other (Holm, Scandinavian Journal
 * of Statistics 6, 1979).  n: up to SIGNED_RANK_MOST. */
void holm(double *p, unsigned n);
#endif
