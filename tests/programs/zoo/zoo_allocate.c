/* SPDX-License-Identifier: GPL-2.0-or-later
 * A node allocated and freed for each element; mended: one node that is used again. */
#include "zoo.h"

enum { N = 20000 };
static KEEP u64 use(u64 *node, u64 x) { *node = x; return *node * 3; }
static KEEP u64 slow(void)
{
	u64 sum = 0;
	for (int i = 0; i < N; i++) {
		u64 *node = malloc(2000);	/* HERE */
		sum += use(node, (u64)i);
		free(node);
	}
	return sum;
}
static KEEP u64 mended(void)
{
	u64 sum = 0, *node = malloc(2000);
	for (int i = 0; i < N; i++)
		sum += use(node, (u64)i);
	free(node);
	return sum;
}
PAIR(slow, mended)
