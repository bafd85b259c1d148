/* SPDX-License-Identifier: GPL-2.0-or-later
 * Reads data objects of all kinds: blocks of malloc, calloc and realloc, two arrays, a thread's stack. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { NODES = 2000, WORDS = 4096, LARGE = 40000, LARGER = 100000 };
struct node { struct node *next; long pad[7]; };
long zeroed[WORDS], initialized[WORDS] = { 1 };

__attribute__((noinline)) static struct node *make(int n)
{
	struct node *head = NULL;
	for (int i = 0; i < n; i++) {
		struct node *x = malloc(sizeof *x);
		x->next = head;
		head = x;
	}
	return head;
}

__attribute__((noinline)) static long sum(struct node *n)
{
	long s = 0;
	for (; n; n = n->next)
		s += n->pad[3]++;
	return s;
}

__attribute__((noinline)) static long walk(const long *p, int n)
{
	long s = 0;
	for (int i = 0; i < n; i += 8)
		s += p[i];
	return s;
}

static void *thread(void *out)
{
	long buffer[WORDS];
	memset(buffer, 1, sizeof buffer);
	for (int i = 0; i < 40; i++)
		*(long *)out += walk(buffer, WORDS);
	return NULL;
}

int main(void)
{
	struct node *list = make(NODES);
	long *large = calloc(LARGE, sizeof *large), s = 0, t = 0;
	pthread_t other;
	for (int i = 0; i < 8; i++)
		s += sum(list) + walk(large, LARGE) + walk(zeroed, WORDS) + walk(initialized, WORDS);
	pthread_create(&other, NULL, thread, &t);
	pthread_join(other, NULL);
	large = realloc(large, LARGER * sizeof *large);
	s += walk(large, LARGER);
	free(large);
	printf("%ld\n", s + t);
	return 0;
}
