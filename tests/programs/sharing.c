/* SPDX-License-Identifier: GPL-2.0-or-later
 * sharing MODE N THREADS: threads that share data. All threads, main's included, meet at a barrier and then
 * do N rounds in all, N / THREADS each:
 *   padded  add to a counter of their own, in lines of their own     false   the same, counters side by side in one
 *           line
 *   atomic  add to one counter, locked                               lock    add to it under a spin lock with PAUSE
 *   mutex   add to it under a pthread mutex                          queue   odd threads take from a ring what even
 *           ones put in
 *   alu     dependent arithmetic in registers                        wide    independent arithmetic, as much as
 *           fits a cycle
 *   chase   follow pointers through 128 KB of their own              mixed   even threads chase, odd ones do wide
 * Prints a sum that proves that every round was done. */
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST = 16, RING = 64, NODES = 2048 };
static long rounds, threads;
static const char *mode;
static _Alignas(4096) struct { volatile long n; char pad[120]; } padded[MOST];
static _Alignas(4096) volatile long side[MOST];
static _Alignas(128) volatile long one;
static _Alignas(128) volatile int spin;
static _Alignas(128) pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static struct ring { _Alignas(128) volatile long put; _Alignas(128) volatile long taken; _Alignas(128) long at[RING];
	} ring[MOST];
static struct node { struct node *next; char pad[56]; } *nodes[MOST];
static long sum[MOST];
static pthread_barrier_t barrier;

static long chase(long id, long n)
{
	struct node *p = nodes[id];
	for (long i = 0; i < n; i++)
		p = p->next;
	return p == NULL ? 0 : n;
}

static long wide(long n)
{
	uint64_t a = 1, b = 2, c = 3, d = 4, e = 5, f = 6;
	long left = n > 0 ? n : 1;
	/* aligned, so that the back end limits it and not the placement of the code */
	__asm__ volatile(".p2align 6\n1:\tadd $1, %0\n\tadd $1, %1\n\tadd $1, %2\n\tadd $1, %3\n\tadd $1, %4\n\tadd "
		"$1, "
		"%5\n\t"
	                 "xor $1, %0\n\txor $1, %1\n\tsub $1, %6\n\tjnz 1b"
	                 : "+r"(a), "+r"(b), "+r"(c), "+r"(d), "+r"(e), "+r"(f), "+r"(left));
	return a + b + c + d + e + f ? n : 0;
}

static long alu(long n)
{
	uint64_t a = 1;
	for (long i = 0; i < n; i++)
		__asm__ volatile("imul $3, %0, %0\n\tadd $1, %0\n\timul $5, %0, %0\n\tadd $1, %0" : "+r"(a));
	return a ? n : 0;
}

static void *worker(void *arg)
{
	const long id = (long)arg, n = rounds / threads;
	pthread_barrier_wait(&barrier);
	if (!strcmp(mode, "alu"))
		sum[id] = alu(n);
	else if (!strcmp(mode, "wide") || (!strcmp(mode, "mixed") && id & 1))
		sum[id] = wide(n);
	else if (!strcmp(mode, "chase") || !strcmp(mode, "mixed"))
		sum[id] = chase(id, n);
	else if (!strcmp(mode, "queue")) {
		struct ring *r = &ring[id / 2];
		for (long i = 0; i < n; i++)
			if (id & 1) {
				while (r->put == i)
					__builtin_ia32_pause();
				sum[id] += r->at[i % RING];
				__atomic_store_n(&r->taken, i + 1, __ATOMIC_RELEASE);
			} else {
				while (i - r->taken == RING)
					__builtin_ia32_pause();
				r->at[i % RING] = 1;
				__atomic_store_n(&r->put, i + 1, __ATOMIC_RELEASE);
			}
	} else
		for (long i = 0; i < n; i++)
			switch (mode[0]) {
			case 'p':
				padded[id].n++;
				break;
			case 'f':
				side[id]++;
				break;
			case 'a':
				__atomic_fetch_add(&one, 1, __ATOMIC_SEQ_CST);
				break;
			case 'l':
				while (__atomic_exchange_n(&spin, 1, __ATOMIC_ACQUIRE))
					while (spin)
						__builtin_ia32_pause();
				one++;
				__atomic_store_n(&spin, 0, __ATOMIC_RELEASE);
				break;
			case 'm':
				pthread_mutex_lock(&mutex);
				one++;
				pthread_mutex_unlock(&mutex);
				break;
			}
	return NULL;
}

int main(int argc, char **argv)
{
	static const char *known[] = { "padded", "false", "atomic", "lock", "mutex", "queue", "alu", "wide", "chase",
		"mixed" };
	pthread_t t[MOST];
	long all = 0, is = 0;
	if (argc != 4)
		return 2;
	mode = argv[1];
	rounds = atol(argv[2]);
	threads = atol(argv[3]);
	for (unsigned i = 0; i < sizeof known / sizeof *known; i++)
		is |= !strcmp(mode, known[i]);
	if (!is || threads < 1 || threads > MOST || (!strcmp(mode, "queue") && threads & 1))
		return 2;
	for (long k = 0; (mode[0] == 'c' || !strcmp(mode, "mixed")) && k < threads; k++) {	/* chase, mixed */
		uint32_t random = 1 + (uint32_t)k, order[NODES];
		if (!(nodes[k] = aligned_alloc(4096, NODES * sizeof **nodes)))
			return 1;
		for (uint32_t i = 0; i < NODES; i++)
			order[i] = i;
		for (uint32_t i = NODES - 1; i > 0; i--) {
			random = random * 1103515245 + 12345;
			uint32_t j = (random >> 8) % (i + 1), x = order[i];
			order[i] = order[j];
			order[j] = x;
		}
		for (uint32_t i = 0; i < NODES; i++)
			nodes[k][order[i]].next = &nodes[k][order[(i + 1) % NODES]];
	}
	pthread_barrier_init(&barrier, NULL, (unsigned)threads);
	for (long i = 1; i < threads; i++)
		if (pthread_create(&t[i], NULL, worker, (void *)i))
			return 1;
	worker(NULL);
	for (long i = 1; i < threads; i++)
		pthread_join(t[i], NULL);
	for (long i = 0; i < threads; i++)
		all += sum[i] + padded[i].n + side[i];
	printf("%ld\n", all + one);
	return 0;
}
