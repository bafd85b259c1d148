/* SPDX-License-Identifier: GPL-2.0-or-later
 * Threads: `threads workers N`, `threads pingpong N` (mutex and condition variable), `threads spin N` (a spin lock
 * without PAUSE), `threads spinpause N` (with), `threads stale N` (one thread reads N lines, and then so many others
 * that its core drops them; the other thread reads the N lines). Prints a sum that proves every step was done. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int n;
static long sum[2];

static void *worker(void *arg)
{
	long id = (long)arg, s = 0;
	for (int i = 0; i < n; i++)
		s += (i ^ id) & 7;
	sum[id] = s;
	return NULL;
}

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t turned = PTHREAD_COND_INITIALIZER;
static long turn;

static void *player(void *arg)
{
	long id = (long)arg;
	for (int i = 0; i < n; i++) {
		pthread_mutex_lock(&mutex);
		while (turn != id)
			pthread_cond_wait(&turned, &mutex);
		sum[id]++;
		turn = !id;
		pthread_cond_signal(&turned);
		pthread_mutex_unlock(&mutex);
	}
	return NULL;
}

static volatile int lock, pausing;
static long shared;

static void *spinner(void *arg)
{
	long id = (long)arg;
	for (int i = 0; i < n; i++) {
		while (__atomic_exchange_n(&lock, 1, __ATOMIC_ACQUIRE))
			while (lock)
				if (pausing)
					__builtin_ia32_pause();
		shared++;
		sum[id]++;
		__atomic_store_n(&lock, 0, __ATOMIC_RELEASE);
	}
	return NULL;
}

static pthread_barrier_t meet;

static void *reader(void *arg)
{
	enum { LINE = 64, OTHERS = 2 << 20 };
	static char lines[16384 * LINE], others[OTHERS];
	const volatile char *of = lines;
	const long id = (long)arg;
	for (long turns = 0; turns < 2; turns++) {
		if (turns == id)
			for (int i = 0; i < n; i++)
				sum[id] += 1 + of[i * LINE];
		for (int i = 0; !turns && !id && i < OTHERS; i += LINE)
			sum[0] += ((const volatile char *)others)[i];
		pthread_barrier_wait(&meet);
	}
	return NULL;
}

int main(int argc, char **argv)
{
	pthread_t t[2];
	if (argc != 3)
		return 2;
	n = atoi(argv[2]);
	pausing = !strcmp(argv[1], "spinpause");
	void *(*run)(void *) = !strcmp(argv[1], "workers") ? worker : !strcmp(argv[1], "pingpong") ? player
		: !strcmp(argv[1], "stale") ? reader : spinner;
	pthread_barrier_init(&meet, NULL, 2);
	for (long i = 0; i < 2; i++)
		if (pthread_create(&t[i], NULL, run, (void *)i))
			return 1;
	for (int i = 0; i < 2; i++)
		pthread_join(t[i], NULL);
	printf("%ld %ld %ld\n", sum[0], sum[1], shared);
	return 0;
}
