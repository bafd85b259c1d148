/* SPDX-License-Identifier: GPL-2.0-or-later
 * A number is put together from bytes in memory and read as a whole; mended: in a register. */
#include "../zoo/zoo.h"

enum { N = 60000 };

static KEEP u64 slow(void)
{
	u64 sum = 0;
	for (int i = 0; i < N; i++) {
		union { volatile unsigned char byte[8]; volatile u64 whole; } u;
		for (int k = 0; k < 8; k++)
			u.byte[k] = (unsigned char)(i + k + (int)sum);
		sum += u.whole;	/* HERE */
	}
	return sum;
}
static KEEP u64 mended(void)
{
	u64 sum = 0;
	for (int i = 0; i < N; i++) {
		u64 whole = 0;
		for (int k = 0; k < 8; k++)
			whole |= (u64)(unsigned char)(i + k + (int)sum) << 8 * k;
		sum += whole;
	}
	return sum;
}
PAIR(slow, mended)
