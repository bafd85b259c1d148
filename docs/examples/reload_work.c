/* SPDX-License-Identifier: GPL-2.0-or-later
 * The shared object of reload.c; with -DALONE a program of its own, which softpmu tune --software --build can run. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

static float table[4096], weight[4096];

/* A weighted sum of squares over a table that the seed fills: a loop that gains from vectors. */
uint64_t work(uint64_t seed)
{
	float sum[8] = { 0 };
	for (unsigned i = 0; i < 4096; i++) {
		table[i] = (float)((i * 7 + seed) & 255);
		weight[i] = (float)((i ^ seed) & 15);
	}
	for (unsigned i = 0; i < 4096; i += 8)
		for (unsigned k = 0; k < 8; k++)
			sum[k] += table[i + k] * weight[i + k];
	uint64_t all = 0;
	for (unsigned k = 0; k < 8; k++)
		all = all * 31 + (uint64_t)sum[k];
	return all;
}

#ifdef ALONE
int main(int argc, char **argv)
{
	uint64_t sum = 0;
	for (int i = 0; i < (argc > 1 ? atoi(argv[1]) : 16); i++)
		sum += work((uint64_t)i % 16);
	printf("%llx\n", (unsigned long long)sum);
	return 0;
}
#endif
