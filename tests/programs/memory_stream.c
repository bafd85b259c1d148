/* SPDX-License-Identifier: GPL-2.0-or-later
 * stream read|write KILOBYTES ROUNDS: reads or writes an array line by line from end to end, ROUNDS times. The
 * start-up (writing the array once) does not depend on ROUNDS. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int main(int argc, char **argv)
{
	if (argc != 4)
		return 2;
	size_t bytes = strtoull(argv[2], NULL, 10) * 1024;
	unsigned rounds = (unsigned)strtoul(argv[3], NULL, 10);
	volatile uint64_t *a = aligned_alloc(4096, bytes);
	uint64_t sum = 0;
	if (!a)
		return 1;
	for (size_t i = 0; i < bytes / 8; i += 8)
		a[i] = i;
	for (unsigned r = 0; r < rounds; r++)
		for (size_t i = 0; i < bytes / 8; i += 8) {
			if (argv[1][0] == 'w')
				a[i] = i + r;
			else
				sum += a[i];
		}
	printf("%llu\n", (unsigned long long)sum);
	return 0;
}
