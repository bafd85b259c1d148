/* SPDX-License-Identifier: GPL-2.0-or-later
 * A picture of 512 x 512 points is turned; its rows are a power of two apart, so the points of a column share a few
 * sets of the caches; mended: rows that are 16 points longer, in squares of 16 x 16. */
#include "../zoo/zoo.h"

enum { N = 512, WIDE = N + 16 };
static _Alignas(4096) unsigned from[N * WIDE], to[N * WIDE];

static KEEP u64 slow(void)
{
	for (int y = 0; y < N; y++)
		for (int x = 0; x < N; x++)
			to[x * N + y] = from[y * N + x];	/* HERE */
	return to[5];
}
static KEEP u64 mended(void)
{
	for (int y = 0; y < N; y += 16)
		for (int x = 0; x < N; x += 16)
			for (int v = y; v < y + 16; v++)
				for (int u = x; u < x + 16; u++)
					to[u * WIDE + v] = from[v * WIDE + u];
	return to[5];
}
PAIR(slow, mended)
