/* SPDX-License-Identifier: GPL-2.0-or-later
 * fills [thread]: long REP STOSB between loops whose branches nobody can predict, and which load from many pages.  With
 * an argument a second thread waits meanwhile. */
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

enum { BYTES = 1200000, PAGES = 300, LOOPS = 150000, FILLS = 3 };

static pthread_mutex_t held = PTHREAD_MUTEX_INITIALIZER;

static void *wait(void *none)
{
	pthread_mutex_lock(&held);
	pthread_mutex_unlock(&held);
	return none;
}

static void fill(char *at, size_t bytes)
{
	__asm__ volatile("rep stosb" : "+D"(at), "+c"(bytes) : "a"(1) : "memory");
}

int main(int argc, char **argv)
{
	pthread_t thread;
	char *const page = calloc(FILLS * PAGES, 4096), *const filled = malloc(BYTES);
	uint32_t x = 1, sum = 0;
	(void)argv;
	if (!page || !filled)
		return 1;
	pthread_mutex_lock(&held);
	if (argc > 1 && pthread_create(&thread, NULL, wait, NULL))
		return 1;
	for (unsigned n = 0; n < FILLS; n++) {
		for (unsigned i = 0; i < LOOPS; i++) {
			x ^= x << 13;
			x ^= x >> 17;
			x ^= x << 5;
			if (x & 64)
				sum += (uint32_t)page[((x >> 8) % PAGES + n * PAGES) * 4096];
		}
		fill(filled, BYTES);
	}
	pthread_mutex_unlock(&held);
	if (argc > 1)
		pthread_join(thread, NULL);
	printf("%u %d\n", (unsigned)sum, filled[BYTES - 1]);
	return 0;
}
