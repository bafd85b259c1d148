/* SPDX-License-Identifier: GPL-2.0-or-later
 * Two threads add to one sum under a mutex, an element at a time; mended: each adds up for itself, and takes the
 * mutex once. */
#include "../zoo/zoo.h"

enum { N = 6000 };
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static u64 sum;

static void *by_one(void *from)
{
	for (u64 i = 0; i < N; i++) {
		pthread_mutex_lock(&mutex);
		sum += i ^ (uintptr_t)from;	/* HERE */
		pthread_mutex_unlock(&mutex);
	}
	return NULL;
}
static void *at_once(void *from)
{
	u64 own = 0;
	for (u64 i = 0; i < N; i++) {
		own += i ^ (uintptr_t)from;
		__asm__ volatile("" : "+r"(own));
	}
	pthread_mutex_lock(&mutex);
	sum += own;
	pthread_mutex_unlock(&mutex);
	return NULL;
}
static KEEP u64 slow(void) { two_threads(by_one, (void *)1, (void *)2); return sum; }
static KEEP u64 mended(void) { two_threads(at_once, (void *)1, (void *)2); return sum; }
PAIR(slow, mended)
