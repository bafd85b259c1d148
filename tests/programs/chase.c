/* SPDX-License-Identifier: GPL-2.0-or-later
 * chase KILOBYTES STRIDE linear|backward|random STEPS [small|huge|protected|moved|late|freed]: follows a chain of
 * pointers, one every STRIDE bytes, STEPS loads; the start-up does not depend on STEPS. huge: with MADV_HUGEPAGE;
 * protected: also changed by mprotect; moved: also moved by mremap; late: MADV_HUGEPAGE after the memory was written;
 * freed: MADV_HUGEPAGE was given for an earlier mapping at the same place. */
#define _GNU_SOURCE
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

static char *map(char *at, size_t bytes, int prot)
{
	char *m = mmap(at, bytes, prot, MAP_PRIVATE | MAP_ANONYMOUS | (at ? MAP_FIXED : 0), -1, 0);
	if (m == MAP_FAILED)
		exit(1);
	return m;
}

int main(int argc, char **argv)
{
	if (argc < 5)
		return 2;
	const size_t bytes = strtoull(argv[1], NULL, 10) * 1024, stride = strtoull(argv[2], NULL, 10),
		n = bytes / stride;
	const char *how = argc > 5 ? argv[5] : "small";
	const size_t mb2 = 2 << 20;
	char *whole = map(NULL, bytes + 2 * mb2, PROT_READ | PROT_WRITE),
		*a = (char *)(((uintptr_t)whole + mb2 - 1) & ~(mb2 - 1));
	if (strcmp(how, "small") && strcmp(how, "late")) {
		if (madvise(a, (bytes + mb2 - 1) & ~(mb2 - 1), MADV_HUGEPAGE))
			return 1;
		if (!strcmp(how, "protected"))
			mprotect(a, bytes, PROT_READ), mprotect(a, bytes, PROT_READ | PROT_WRITE);
		if (!strcmp(how, "moved")) {
			char *to = map(NULL, bytes + 2 * mb2, PROT_NONE);
			to = (char *)(((uintptr_t)to + mb2 - 1) & ~(mb2 - 1));
			a = mremap(a, (bytes + mb2 - 1) & ~(mb2 - 1), (bytes + mb2 - 1) & ~(mb2 - 1),
				MREMAP_MAYMOVE | MREMAP_FIXED, to);
			if (a == MAP_FAILED)
				return 1;
		}
		if (!strcmp(how, "freed")) {
			munmap(a, bytes);
			map(a, bytes, PROT_READ | PROT_WRITE);
		}
	}
	uint32_t *order = malloc(n * sizeof *order);
	if (!order || !n)
		return 1;
	for (size_t i = 0; i < n; i++)	/* first touched in ascending order */
		*(void **)(a + i * stride) = NULL;
	if (!strcmp(how, "late"))
		madvise(a, (bytes + mb2 - 1) & ~(mb2 - 1), MADV_HUGEPAGE);
	uint64_t x = 1;
	for (size_t i = 0; i < n; i++) {
		size_t j = i;
		if (argv[3][0] == 'r') {
			x = x * 6364136223846793005u + 1442695040888963407u;
			j = (size_t)((x >> 32) * (i + 1) >> 32);
		}
		order[i] = order[j];
		order[j] = (uint32_t)(argv[3][0] == 'b' ? n - 1 - i : i);
	}
	for (size_t i = 0; i < n; i++)
		*(void **)(a + order[i] * stride) = a + order[i + 1 < n ? i + 1 : 0] * stride;
	free(order);
	void **p = (void **)a;
	for (size_t steps = strtoull(argv[4], NULL, 10) / 16; steps; steps--) {
#define LOAD __asm__ volatile("mov (%0), %0" : "+r"(p));
#define LOAD4 LOAD LOAD LOAD LOAD
		LOAD4 LOAD4 LOAD4 LOAD4
	}
	printf("%zu\n", ((char *)p - a) / stride);
	return 0;
}
