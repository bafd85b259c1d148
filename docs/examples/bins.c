/* bins N: reads numbers from standard input and prints how many fall into each of N bins of equal rank, as programs
 * that learn from data do with each feature.  -DSTEADY: without an unpredictable branch (docs/howto/topdown.md). */
#include <stdio.h>
#include <stdlib.h>

static unsigned *read_numbers(size_t *count)
{
	size_t n = 0, room = 0;
	unsigned *list = NULL, value = 0;
	int c, digits = 0;
	while ((c = getchar_unlocked()) != EOF) {
		if (c >= '0' && c <= '9') {
			value = value * 10 + (unsigned)(c - '0');
			digits = 1;
		} else if (digits) {
			if (n == room && !(list = realloc(list, (room = 2 * room + 1024) * sizeof *list)))
				exit(1);
			list[n++] = value;
			value = 0;
			digits = 0;
		}
	}
	*count = n;
	return list;
}

static int smaller(const void *a, const void *b)
{
	const unsigned x = *(const unsigned *)a, y = *(const unsigned *)b;
	return x < y ? -1 : x > y;
}

/* The first bin whose upper bound is not below x. */
__attribute__((noinline)) static size_t bin_of(const unsigned *bound, size_t bins, unsigned x)
{
#ifdef STEADY
	const unsigned *base = bound;
	for (size_t left = bins; left > 1; left -= left / 2)
		base += (base[left / 2 - 1] < x) * (left / 2);
	return (size_t)(base - bound);
#else
	size_t low = 0, high = bins - 1;
	while (low < high) {
		size_t middle = (low + high) / 2;
		if (bound[middle] < x)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
#endif
}

int main(int argc, char **argv)
{
	size_t count, bins = argc > 1 ? strtoul(argv[1], NULL, 10) : 256;
	unsigned *number = read_numbers(&count);
	if (!bins || count < bins)
		return 1;
	unsigned *sample = malloc(bins * 8 * sizeof *sample), *bound = malloc(bins * sizeof *bound);
	size_t *filled = calloc(bins, sizeof *filled), sampled = 0;
	if (!sample || !bound || !filled)
		return 1;
	for (size_t i = 0; i < count && sampled < bins * 8; i += 1 + count / (bins * 8))
		sample[sampled++] = number[i];
	qsort(sample, sampled, sizeof *sample, smaller);
	for (size_t i = 0; i < bins; i++)
		bound[i] = sample[(i + 1) * sampled / bins - 1];
	for (unsigned feature = 0; feature < 8; feature++)	/* eight features: the same numbers, rotated */
		for (size_t i = 0; i < count; i++)
			filled[bin_of(bound, bins, number[i] << feature | number[i] >> (31 - feature))]++;
	for (size_t i = 0; i < bins; i++)
		printf("%zu\n", filled[i]);
	return 0;
}
