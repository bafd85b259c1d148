/* SPDX-License-Identifier: GPL-2.0-or-later
 * The length of strings by REPNE SCASB; mended: by vector compares. */
#include "zoo.h"
#include <emmintrin.h>

enum { N = 3000 };
static _Alignas(64) char text[512];
static KEEP u64 slow(void)
{
	u64 sum = 0;
	memset(text, 'x', 200);
	for (int i = 0; i < N; i++) {
		const char *at = text;
		u64 left = ~(u64)0;
		__asm__ volatile("repne scasb" : "+D"(at), "+c"(left) : "a"(0) : "memory", "cc");	/* HERE */
		sum += (u64)(at - text);
	}
	return sum;
}
static KEEP u64 mended(void)
{
	u64 sum = 0;
	memset(text, 'x', 200);
	for (int i = 0; i < N; i++)
		for (const char *at = text;; at += 16) {
			const __m128i v = _mm_load_si128((const __m128i *)at);
			const int bits = _mm_movemask_epi8(_mm_cmpeq_epi8(v, _mm_setzero_si128()));
			__asm__ volatile("" ::: "memory");
			if (bits) {
				sum += (u64)(at - text) + (u64)__builtin_ctz((unsigned)bits) + 1;
				break;
			}
		}
	return sum;
}
PAIR(slow, mended)
