/* SPDX-License-Identifier: GPL-2.0-or-later
 * Loads that meet stores of late address: cycles an iteration, natively, in units of a chain of ADD.
 *   cc -O2 -o late-stores experiments/late-stores.c
 *   ./late-stores DISTANCE ITERATIONS	prints the least of 40 runs
 *   ./late-stores DISTANCE ITERATIONS x	runs once, for softpmu stat: the difference of two counts of iterations
 * Each iteration loads a cell that was stored DISTANCE (a power of two) iterations before, stores it again, and stores
 * at an address that it computes from the loaded value. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static volatile uint64_t cell[4096], other[4096];

static double now(void)
{
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static __attribute__((noinline)) double cycle(void)
{
	const double from = now();
	long n = 200000;
	__asm__ volatile("1: .rept 10\nadd $1, %%rax\n.endr\ndec %0\njnz 1b" : "+r"(n) : : "rax");
	return (now() - from) / 2e6;
}

static __attribute__((noinline)) void run(unsigned distance, long iterations)
{
	for (long i = 0; i < iterations; i++) {
		const uint64_t x = cell[i & (distance - 1)];
		cell[i & (distance - 1)] = x;
		other[3 * x & 7] = (uint64_t)i;
	}
}

int main(int argc, char **argv)
{
	if (argc < 3)
		return fprintf(stderr, "late-stores DISTANCE ITERATIONS [x]\n"), 2;
	const unsigned distance = (unsigned)atoi(argv[1]);
	const long iterations = atol(argv[2]);
	double least = 1, unit = 1;
	if (argc > 3)
		return run(distance, iterations), 0;
	for (unsigned i = 0; i < 40; i++) {
		const double u = cycle(), from = now();
		run(distance, iterations);
		const double took = now() - from;
		unit = u < unit ? u : unit;
		least = took < least ? took : least;
	}
	printf("%.2f\n", least / unit / (double)iterations);
	return 0;
}
