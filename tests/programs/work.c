/* SPDX-License-Identifier: GPL-2.0-or-later
 * A program with a known profile: hot() does three quarters of the work, warm() one quarter. Deterministic. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

static uint32_t state = 1;

__attribute__((noinline)) static uint32_t mix(uint32_t x)
{
	x ^= x << 13;
	x ^= x >> 17;
	return x ^ x << 5;
}

__attribute__((noinline)) static void warm(int n)
{
	for (int i = 0; i < n; i++)
		state = mix(state);
}

__attribute__((noinline)) static void hot(int n)
{
	for (int i = 0; i < n; i++)
		state = mix(state) + 1;
}

int main(int argc, char **argv)
{
	int n = argc > 1 ? atoi(argv[1]) : 100000;
	warm(n);
	hot(3 * n);
	printf("%u\n", state);
	return 0;
}
