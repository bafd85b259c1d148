/* SPDX-License-Identifier: GPL-2.0-or-later
 * A ring between two threads whose two positions stand side by side in one line; mended: each has a line of its own,
 * and each side looks at the other's position only when it has to. */
#include "../zoo/zoo.h"

enum { N = 20000, RING = 1024 };
static _Alignas(64) struct { volatile u64 head, tail; } near;
static _Alignas(128) struct { volatile u64 head; char gap[120]; volatile u64 tail; char rest[120]; } apart;
static u64 ring[RING], sum;

static void *put_near(void *unused)
{
	(void)unused;
	for (u64 i = 0; i < N; i++) {
		while (i - near.tail >= RING)
			__builtin_ia32_pause();
		ring[i % RING] = i;
		near.head = i + 1;	/* HERE */
	}
	return NULL;
}
static void *take_near(void *unused)
{
	(void)unused;
	for (u64 i = 0; i < N; i++) {
		while (near.head == i)
			__builtin_ia32_pause();
		sum += ring[i % RING];
		near.tail = i + 1;
	}
	return NULL;
}
static void *put_apart(void *unused)
{
	u64 tail = 0;
	(void)unused;
	for (u64 i = 0; i < N; i++) {
		while (i - tail >= RING)
			if (i - (tail = apart.tail) >= RING)
				__builtin_ia32_pause();
		ring[i % RING] = i;
		if (i % 64 == 63 || i == N - 1)
			apart.head = i + 1;
	}
	return NULL;
}
static void *take_apart(void *unused)
{
	u64 head = 0;
	(void)unused;
	for (u64 i = 0; i < N; i++) {
		while (head == i)
			if ((head = apart.head) == i)
				__builtin_ia32_pause();
		sum += ring[i % RING];
		if (i % 64 == 63)
			apart.tail = i + 1;
	}
	return NULL;
}
static KEEP u64 run(void *(*put)(void *), void *(*take)(void *))
{
	pthread_t other;
	if (pthread_create(&other, NULL, put, NULL))
		exit(1);
	take(NULL);
	pthread_join(other, NULL);
	return sum;
}
static KEEP u64 slow(void) { return run(put_near, take_near); }
static KEEP u64 mended(void) { return run(put_apart, take_apart); }
PAIR(slow, mended)
