/* SPDX-License-Identifier: GPL-2.0-or-later
 * phases ROUNDS: two phases that need different prefetchers, like a program with a garbage collector.
 *
 *   mutate   reads both lines of objects of 128 bytes, in an order without a stride, more than L2 holds: the
 *            adjacent-line prefetcher has requested
 *            the second line before it is needed
 *   collect  reads one of the two lines of fewer objects, again and again: these lines fit in L2, but not together
 *            with the other lines, which the
 *            adjacent-line prefetcher fetches needlessly
 */
#include <stdint.h>
#include <stdlib.h>

enum { OBJECTS = 40000, STEP = 14969, MARKED = 24000, MARKED_STEP = 8933 /* each without a common factor */ };
static volatile uint64_t heap[OBJECTS * 16] __attribute__((aligned(4096)));

static __attribute__((noinline)) uint64_t mutate(unsigned objects)
{
	static uint64_t at;
	while (objects--) {
		at += STEP + heap[at * 16];	/* which is 0 */
		at = at >= OBJECTS ? at - OBJECTS : at;
		at += heap[at * 16 + 8];
	}
	return at;
}

static __attribute__((noinline)) uint64_t collect(unsigned times)
{
	uint64_t at = 0;
	for (unsigned n = times * MARKED; n--; ) {
		const uint64_t odd = (at ^ at >> 2 ^ at >> 5) & 1;	/* so that all sets are used equally */
		at += MARKED_STEP + heap[at * 16 + odd * 8];
		at = at >= MARKED ? at - MARKED : at;
	}
	return at;
}

int main(int argc, char **argv)
{
	unsigned rounds = argc > 1 ? (unsigned)atoi(argv[1]) : 3;
	uint64_t sum = 0;
	while (rounds--)
		sum += mutate(30000) + collect(2);
	return sum == 1;
}
