/* SPDX-License-Identifier: GPL-2.0-or-later
 * Records of 60 bytes without padding, so that a field of 16 bytes often lies in two lines; mended: 64 bytes. */
#include "../zoo/zoo.h"
#include <emmintrin.h>

enum { N = 300, ROUNDS = 200 };
static _Alignas(64) unsigned char memory[N * 64 + 64];

static KEEP u64 add_up(int bytes)
{
	__m128i sum = _mm_setzero_si128();
	for (int r = 0; r < ROUNDS; r++)
		for (int i = 0; i < N; i++)
			for (int k = 0; k < 48; k += 16) {
				const __m128i *at = (const __m128i *)(memory + i * bytes + k);
				sum = _mm_add_epi64(sum, _mm_loadu_si128(at));	/* HERE */
			}
	return (u64)_mm_cvtsi128_si64(sum);
}
static KEEP u64 slow(void) { return add_up(60); }
static KEEP u64 mended(void) { return add_up(64); }
PAIR(slow, mended)
