/* SPDX-License-Identifier: GPL-2.0-or-later
 * A function that does nothing but allocate for others: advice on allocations is for those that call it. */
#include <stdlib.h>

static __attribute__((noinline)) void *get_memory(size_t bytes)
{
	void *p = malloc(bytes);
	if (!p)
		abort();
	return p;
}

static __attribute__((noinline)) unsigned make(unsigned n)
{
	unsigned sum = 0;
	for (unsigned i = 0; i < n; i++) {
		unsigned *a = get_memory(64), *b = get_memory(640);
		*a = *b = i;
		sum += *a ^ n;
		free(a);
		free(b);
	}
	return sum;
}

int main(void) { return make(5000) == 7; }
