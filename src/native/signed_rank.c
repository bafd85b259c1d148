/* SPDX-License-Identifier: GPL-2.0-or-later
 * The signed-rank test by its exact distribution, as a sum of independent terms: each rank counts or does not.
 */
#include "native/signed_rank.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { N = SIGNED_RANK_MOST, SUMS = N * (N + 1) + 1, WALSH = N * (N + 1) / 2 };

static int by_value(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;
	return (x > y) - (x < y);
}

static int by_size(const void *a, const void *b)
{
	double x = fabs(*(const double *)a), y = fabs(*(const double *)b);
	return (x > y) - (x < y);
}

/* share[s]: the part of all choices of signs for which twice the rank sum is s.  twice[]: the ranks, doubled so
 * that tied ones are whole numbers.  Returns the greatest sum. */
static unsigned distribution(double *share, const unsigned *twice, unsigned n)
{
	unsigned most = 0;
	memset(share, 0, sizeof(double) * (n * (n + 1) + 1));
	share[0] = 1;
	for (unsigned i = 0; i < n; i++) {
		most += twice[i];
		for (unsigned s = most + 1; s-- > 0;)
			share[s] = 0.5 * share[s] + (s >= twice[i] ? 0.5 * share[s - twice[i]] : 0);
	}
	return most;
}

static double test(const double *difference, unsigned n, unsigned *counted, double *share)
{
	double d[N];
	unsigned twice[N], m = 0, observed = 0;
	for (unsigned i = 0; i < n; i++)
		if (difference[i] != 0)
			d[m++] = difference[i];
	qsort(d, m, sizeof *d, by_size);
	for (unsigned i = 0, j; i < m; i = j) {
		for (j = i + 1; j < m && fabs(d[j]) == fabs(d[i]); j++) ;
		for (unsigned k = i; k < j; k++) {
			twice[k] = i + 1 + j;	/* ranks i+1 .. j share their mean */
			observed += d[k] > 0 ? twice[k] : 0;
		}
	}
	unsigned most = distribution(share, twice, m);
	double p = 0;
	for (unsigned s = most + 1; s-- > observed;)
		p += share[s];
	*counted = m;
	return p < 1 ? p : 1;
}

void signed_rank(struct signed_rank *r, const double *difference, unsigned n, double confidence)
{
	double share[SUMS], walsh[WALSH];
	unsigned twice[N], k = 0;
	n = n < N ? n : N;
	*r = (struct signed_rank){ .p = 1, .low = -INFINITY, .high = INFINITY };
	if (!n)
		return;
	r->p = test(difference, n, &r->n, share);
	for (unsigned i = 0; i < n; i++)
		for (unsigned j = i; j < n; j++)
			walsh[k++] = 0.5 * (difference[i] + difference[j]);
	qsort(walsh, k, sizeof *walsh, by_value);
	r->estimate = 0.5 * (walsh[(k - 1) / 2] + walsh[k / 2]);
	/* The interval contains each median that the test, with that median subtracted from all n differences,
	 * would reject to neither side. */
	for (unsigned i = 0; i < n; i++)
		twice[i] = 2 * (i + 1);
	distribution(share, twice, n);
	double below = 0;
	for (unsigned cut = 0; 2 * cut + 1 <= k; cut++) {
		below += share[2 * cut];
		if (below > 0.5 * (1 - confidence))
			break;
		r->low = walsh[cut];
		r->high = walsh[k - 1 - cut];
	}
}

void holm(double *p, unsigned n)
{
	double sorted[N], least[N], most = 0;
	n = n < N ? n : N;
	memcpy(sorted, p, n * sizeof *p);
	qsort(sorted, n, sizeof *sorted, by_value);
	for (unsigned i = 0; i < n; i++) {
		double own = (n - i) * sorted[i];
		most = own > most ? own : most;
		least[i] = most < 1 ? most : 1;
	}
	for (unsigned i = 0; i < n; i++) {
		unsigned at = 0;
		while (at + 1 < n && sorted[at] != p[i])
			at++;
		p[i] = least[at];	/* of equal ones the first is found: the steps behind it are not smaller */
	}
}
