/* SPDX-License-Identifier: GPL-2.0-or-later
 * A program with a library, for docs/howto/ci.md: makes words, hashes them and sorts the hashes. */
#include <stdio.h>

void order(unsigned *v, int n);

enum { WORDS = 2000, LETTERS = 12, ROUNDS = 100 };
static char word[WORDS][LETTERS];
static unsigned key[WORDS];

static void make(void)
{
	unsigned random = 1;
	for (int i = 0; i < WORDS; i++)
		for (int k = 0; k < LETTERS; k++) {
			random = random * 1103515245 + 12345;
			word[i][k] = (char)('a' + (random >> 16) % 26);
		}
}

__attribute__((noinline)) static unsigned hash(const char *text, int rounds)
{
	unsigned h = 2166136261u;
	for (int i = 0; i < rounds; i++)
		h = (h ^ (unsigned)text[i % LETTERS]) * 16777619u;
	return h;
}

int main(void)
{
	make();
	for (int i = 0; i < WORDS; i++)
		key[i] = hash(word[i], ROUNDS);
	order(key, WORDS);
	printf("%u\n", key[0]);
	return 0;
}
