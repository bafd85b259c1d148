/* SPDX-License-Identifier: GPL-2.0-or-later
 * A filter whose echo dies away until its numbers are denormal; mended: a small constant keeps them above. */
#include "../zoo/zoo.h"

enum { N = 30000 };
static volatile float keep = 0.99f, small;

static KEEP u64 filter(float floor)
{
	float y = 1e-37f, sum = 0;
	const float k = keep;
	for (int i = 0; i < N; i++) {
		y = y * k + floor;	/* HERE */
		sum += y;
	}
	return (u64)sum;
}
static KEEP u64 slow(void) { return filter(small); }
static KEEP u64 mended(void) { return filter(small + 1e-18f); }
PAIR(slow, mended)
