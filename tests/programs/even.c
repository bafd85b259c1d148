/* SPDX-License-Identifier: GPL-2.0-or-later
 * even ROUNDS: does the same from begin to end, half of it in its own code and half in libc, for tests that compare a
 * sampled run with full detail: whatever windows are timed, they hold about the same.  Each round makes a text of two
 * numbers, counts it in a hash table, reads a number back, and sorts a few numbers.  So there are branches that nobody
 * can predict, misses of L1, and calls of functions.  Prints a sum. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SLOTS = 4096 /* a power of two */, KEYS = 3001, SORTED = 6 };
static struct slot { char text[24]; uint64_t count; } table[SLOTS];

__attribute__((noinline)) static struct slot *find(const char *text)
{
	uint32_t hash = 2166136261u;
	for (const char *c = text; *c; c++)
		hash = (hash ^ (uint8_t)*c) * 16777619u;
	struct slot *s = &table[hash % SLOTS];
	while (*s->text && strcmp(s->text, text))
		s = s + 1 < table + SLOTS ? s + 1 : table;
	return s;
}

/* The sum of the bits' lengths of runs, by a branch on each bit. */
__attribute__((noinline)) static uint64_t runs(uint64_t x)
{
	uint64_t sum = 0, length = 0;
	for (int i = 0; i < 40; i++, x >>= 1)
		if (x & 1) {
			length++;
			__asm__ volatile("" : "+r"(length));
		} else {
			sum += length * length;
			length = 0;
		}
	return sum + length;
}

static int order(const void *a, const void *b)
{
	const uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
	return x < y ? -1 : x > y;
}

int main(int argc, char **argv)
{
	const unsigned rounds = argc > 1 ? (unsigned)atoi(argv[1]) : 1000;
	uint64_t sum = 0, x = 88172645463325252u;
	for (unsigned i = 0; i < rounds; i++) {
		char text[24];
		uint32_t number[SORTED];
		const unsigned key = i * 7919u % KEYS;
		snprintf(text, sizeof text, "%u.%u", key, key * 31u);
		struct slot *s = find(text);
		if (!s->count++)
			strcpy(s->text, text);
		for (int k = 0; k < SORTED; k++) {
			x ^= x << 13, x ^= x >> 7, x ^= x << 17;
			number[k] = (uint32_t)x;
		}
		qsort(number, SORTED, sizeof *number, order);
		sum += strtoul(text, NULL, 10) + s->count + number[0] % 7 + runs(x);
	}
	printf("%lu\n", (unsigned long)sum);
	return 0;
}
