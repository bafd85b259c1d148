/* SPDX-License-Identifier: GPL-2.0-or-later
 * Is the middle of these paired differences above zero, by how much, and how sure is that: Wilcoxon's signed-rank test, exact, the
 * Hodges-Lehmann estimate, and the confidence interval that belongs to both (Hollander, Wolfe and Chicken, "Nonparametric Statistical Methods",
 * third edition, sections 3.1 to 3.3).
 *
 * Ranks, because the noise of a shared host has no variance to speak of: one run that met a backup counts as the largest difference, and not
 * as thirty times the others.  Exact, because there are few differences: the chance is counted over all 2^n choices of their signs, ties and all.
 * That every difference is as likely as its negative is what the caller arranges, by a coin for which side goes first.
 */
#ifndef NATIVE_SIGNED_RANK_H
#define NATIVE_SIGNED_RANK_H

enum { SIGNED_RANK_MOST = 64 };

struct signed_rank {
	unsigned n;		/* differences that are not zero; zeros say nothing about a direction and are not ranked */
	double p;		/* chance of a rank sum so high, or higher, when signs are fair coins; 1 with n = 0 */
	double estimate;	/* median of the averages of all pairs of differences */
	double low, high;	/* interval that covers the true middle with the confidence asked for; infinite if so few differences cannot say */
};

/* n differences (at most SIGNED_RANK_MOST are looked at, all finite); confidence: 0.95. */
void signed_rank(struct signed_rank *r, const double *difference, unsigned n, double confidence);
/* Holm's step-down: p[i] becomes the level at which hypothesis i is rejected while the chance of any false rejection among all n is no more than
 * that level, whatever they have to do with each other (Holm, Scandinavian Journal of Statistics 6, 1979).  n up to SIGNED_RANK_MOST. */
void holm(double *p, unsigned n);
#endif
