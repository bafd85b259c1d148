/* SPDX-License-Identifier: GPL-2.0-or-later
 * pages MIB READS: random reads of malloc'ed memory. With 4 KiB pages nearly every read misses the TLB, and the
 * first access to each page is a page fault; with huge pages (glibc.malloc.hugetlb=1) there are 512 times fewer
 * of both. Exits with 0. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

int main(int argc, char **argv)
{
	size_t words = (argc > 1 ? strtoul(argv[1], NULL, 10) : 64) << 17;
	unsigned long reads = argc > 2 ? strtoul(argv[2], NULL, 10) : 1000000;
	uint64_t *p = malloc(words * sizeof *p), at = 1, sum = 0;
	if (!words || !p)
		return 1;
	for (size_t i = 0; i < words; i += 512)
		p[i] = i;
	for (unsigned long i = 0; i < reads; i++) {
		at = at * 6364136223846793005u + 1442695040888963407u;
		sum += p[(at >> 20) % words];
	}
	printf("%lu\n", (unsigned long)sum);
	free(p);
	return 0;
}
