/* SPDX-License-Identifier: GPL-2.0-or-later
 * Lookups all over a table of 128 MB, each of which needs a page walk; mended: huge pages. */
#include "../zoo/zoo.h"
#include <sys/mman.h>

enum { LOOKUPS = 40000 };
static const size_t bytes = (size_t)128 << 20;

static KEEP u64 look(int huge)
{
	u64 s = 3, sum = 0;
	unsigned char *table = mmap(NULL, bytes + (2 << 20), PROT_READ | PROT_WRITE,
		MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (table == MAP_FAILED)
		exit(1);
	table = (unsigned char *)(((uintptr_t)table + (2 << 20) - 1) & -(uintptr_t)(2 << 20));
	if (huge && madvise(table, bytes, MADV_HUGEPAGE))
		exit(1);
	for (int i = 0; i < LOOKUPS; i++) {	/* a line of each page, another one in each */
		const u64 page = next_random(&s) % (bytes / 4096);
		sum += table[page * 4096 + page % 64 * 64];	/* HERE */
	}
	return sum;
}
static KEEP u64 slow(void) { return look(0); }
static KEEP u64 mended(void) { return look(1); }
PAIR(slow, mended)
