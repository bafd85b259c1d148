/* SPDX-License-Identifier: GPL-2.0-or-later
 * A list whose nodes lie in memory in no order, 96 MB in all; mended: the values in an array. */
#include "../zoo/zoo.h"

struct node { struct node *next; u64 value, rest[6]; };
enum { N = 1500000, STEPS = 60000 };

static KEEP struct node *make(void)
{
	struct node *node = malloc(sizeof *node * N);
	u64 at = 0;
	if (!node)
		exit(1);
	for (int i = 0; i < STEPS; i++) {	/* steps by a number that has no divisor in common with N */
		const u64 to = (at + 611953) % N;
		node[at].next = node + to;
		node[at].value = (u64)i;
		at = to;
	}
	return node;
}
static KEEP u64 slow(void)
{
	u64 sum = 0;
	const struct node *n = make();
	for (int i = 0; i < STEPS; i++) {
		sum += n->value;
		n = n->next;	/* HERE */
	}
	return sum;
}
static KEEP u64 mended(void)
{
	u64 sum = 0, *value = malloc(STEPS * sizeof *value);
	if (!value)
		exit(1);
	for (int i = 0; i < STEPS; i++)
		value[i] = (u64)i;
	for (int i = 0; i < STEPS; i++)
		sum += value[i];
	return sum;
}
PAIR(slow, mended)
