/* SPDX-License-Identifier: GPL-2.0-or-later
 * A branch whose direction is random, among other work: for tests that compare a run that is sampled or cut with full
 * detail, on a program that no library and no compiler's choice changes much.  ROUNDS: of some 110,000 instructions. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

enum { WORDS = 4096 };	/* twice 32 KB: more than L1D has */
#define KEEP __attribute__((noinline, noclone))
static uint64_t word[WORDS], sum[WORDS];

static KEEP void fill(uint64_t *state)
{
	for (int i = 0; i < WORDS; i++) {
		*state ^= *state << 13;
		*state ^= *state >> 7;
		word[i] = *state ^= *state << 17;
	}
}

static KEEP uint64_t toss(void)
{
	uint64_t heads = 0;
	for (int i = 0; i < WORDS; i++)
		if (word[i] & 1) {
			heads += word[i] >> 1;
			__asm__ volatile("" : "+r"(heads));	/* so that it stays a branch */
		}
	return heads;
}

static KEEP uint64_t add_up(void)
{
	for (int i = 1; i < WORDS; i++)
		sum[i] = sum[i - 1] + word[i];
	return sum[WORDS - 1];
}

int main(int argc, char **argv)
{
	const int rounds = argc > 1 ? atoi(argv[1]) : 110;
	uint64_t state = 88172645463325252u, all = 0;
	for (int r = 0; r < rounds; r++) {
		fill(&state);
		all += toss() + add_up();
	}
	printf("%llu\n", (unsigned long long)all);
	return 0;
}
