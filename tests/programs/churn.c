/* SPDX-License-Identifier: GPL-2.0-or-later
 * churn MIB ROUNDS: allocates and frees a large block in each round. Above 32 MiB malloc maps each block anew, with
 * a page fault for each page, unless the tunables glibc.malloc.mmap_threshold and trim_threshold make it keep the
 * memory. */
#include <stdio.h>
#include <stdlib.h>

int main(int argc, char **argv)
{
	size_t bytes = (argc > 1 ? strtoul(argv[1], NULL, 10) : 40) << 20;
	unsigned long rounds = argc > 2 ? strtoul(argv[2], NULL, 10) : 4, sum = 0;
	for (unsigned long r = 0; r < rounds; r++) {
		volatile char *p = malloc(bytes);
		if (!p)
			return 1;
		for (size_t i = 0; i < bytes; i += 4096)
			p[i] = (char)r;
		sum += (unsigned long)p[bytes / 2];
		free((void *)p);
	}
	printf("%lu\n", sum);
	return 0;
}
