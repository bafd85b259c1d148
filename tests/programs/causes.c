/* SPDX-License-Identifier: GPL-2.0-or-later
 * Functions with one cause of waiting each: memory (chase), an unpredictable branch (toss), the divider
 * (divide). Deterministic. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

enum { NODES = 1 << 14 };
struct node { struct node *next; long value[7]; };
static uint64_t state = 1;

static uint64_t draw(void)
{
	state = state * 6364136223846793005u + 1442695040888963407u;
	return state >> 33;
}

__attribute__((noinline)) static long chase(const struct node *p, long n)
{
	long sum = 0;
	for (; n; n--, p = p->next)
		sum += p->value[0];
	return sum;
}

__attribute__((noinline)) static long toss(long n)
{
	long sum = 0;
	for (; n; n--)
		if (draw() & 1)
			sum += n;
		else
			sum ^= 3 * n;
	return sum;
}

__attribute__((noinline)) static long divide(long n)
{
	long sum = 1;
	for (; n; n--)
		sum += 1000000007 / (sum & 0xff ? sum & 0xff : 1);
	return sum;
}

int main(int argc, char **argv)
{
	static struct node node[NODES];
	static uint32_t order[NODES];
	long n = argc > 1 ? atol(argv[1]) : 100000;
	for (uint32_t i = 0; i < NODES; i++)
		order[i] = i;
	for (uint32_t i = NODES - 1; i; i--) {
		uint32_t j = (uint32_t)(draw() % (i + 1)), t = order[i];
		order[i] = order[j];
		order[j] = t;
	}
	for (uint32_t i = 0; i < NODES; i++) {
		node[order[i]].next = &node[order[(i + 1) % NODES]];
		node[order[i]].value[0] = i;
	}
	printf("%ld\n", chase(node, n) + toss(n) + divide(n));
	return 0;
}
