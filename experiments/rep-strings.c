/* SPDX-License-Identifier: GPL-2.0-or-later
 * What REP MOVS and REP STOS of few and of many elements cost.
 *   cc -O2 -o rep-strings experiments/rep-strings.c
 *   rep-strings stosb|stosq|movsb|movsq COUNT LEAS IMULS ROUNDS
 * A round runs the instruction 100 times, each time with COUNT elements (at most 512) between the same lines of L1D,
 * LEAS independent LEAs and a chain of IMULS IMULs, in loops. Prints the cycles of one of the 100, those of the loop
 * included, as beside.h says.
 * Under the model: run softpmu stat with two numbers of rounds. The difference in cycles, divided by that in rounds,
 * less 8,000 for the chains, is for 100 instructions. */
#include "beside.h"
#include <string.h>

enum { MOST = 512, TIMES = 100 };
static char to[8 * MOST] __attribute__((aligned(4096))), from[8 * MOST + 2048] __attribute__((aligned(4096)));

static inline void one(int kind, uint64_t count)
{
	void *d = to, *s = from + 2048;	/* half a page apart, so that no load looks like one of what is stored */
	switch (kind) {
	case 0: __asm__ volatile("rep stosb" : "+D"(d), "+c"(count) : "a"(0) : "memory"); break;
	case 1: __asm__ volatile("rep stosq" : "+D"(d), "+c"(count) : "a"(0) : "memory"); break;
	case 2: __asm__ volatile("rep movsb" : "+D"(d), "+S"(s), "+c"(count) : : "memory"); break;
	default: __asm__ volatile("rep movsq" : "+D"(d), "+S"(s), "+c"(count) : : "memory"); break;
	}
}

int main(int argc, char **argv)
{
	static const char *const name[] = { "stosb", "stosq", "movsb", "movsq" };
	int kind = 0;
	while (argc > 5 && kind < 4 && strcmp(argv[1], name[kind]))
		kind++;
	if (argc < 6 || kind == 4 || atol(argv[2]) < 0 || atol(argv[2]) > MOST || atol(argv[3]) < 0 ||
	    atol(argv[4]) < 0) {
		fputs("usage: rep-strings stosb|stosq|movsb|movsq COUNT LEAS IMULS ROUNDS\n", stderr);
		return 2;
	}
	const uint64_t count = (uint64_t)atol(argv[2]);
	const long leas = atol(argv[3]), imuls = atol(argv[4]);
	static struct beside beside;
	for (long round = 0; round < atol(argv[5]); round++) {
		const double before = beside_chain();
		const uint64_t begin = __rdtsc();
		for (int i = 0; i < TIMES; i++) {
			one(kind, count);
			for (long k = leas; k > 0; k--)
				__asm__ volatile("lea 1(%%r8), %%r9" : : : "r9");
			for (long k = imuls; k > 0; k--)
				__asm__ volatile("imul %%r10, %%r10" : : : "r10", "cc");
		}
		const uint64_t end = __rdtsc();
		const double after = beside_chain();
		beside_add(&beside, (double)(end - begin), TIMES, before, after);
	}
	return beside_print(&beside);
}
