/* SPDX-License-Identifier: GPL-2.0-or-later
 * The zoo: programs with one known bottleneck each.  NAME slow and NAME mended do the same work; the second one does
 * it as somebody would who knows the bottleneck.  The line that costs the time is marked with the comment HERE; what
 * each tool should say is in zoo.tsv. */
#ifndef ZOO_H
#define ZOO_H
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef uint64_t u64;
#define KEEP __attribute__((noinline, noclone))

static inline u64 next_random(u64 *state)
{
	*state ^= *state << 13;
	*state ^= *state >> 7;
	return *state ^= *state << 17;
}

/* The result is used, so that the compiler keeps the work. */
static volatile u64 result;
#define PAIR(slow, mended) \
	int main(int argc, char **argv) \
	{ \
		result = argc > 1 && !strcmp(argv[1], "mended") ? (u64)mended() : (u64)slow(); \
		return 0; \
	}

/* Runs `work` in two threads with these arguments. */
static inline void two_threads(void *(*work)(void *), void *a, void *b)
{
	pthread_t other;
	if (pthread_create(&other, NULL, work, b))
		exit(1);
	work(a);
	pthread_join(other, NULL);
}
#endif
