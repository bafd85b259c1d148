/* SPDX-License-Identifier: GPL-2.0-or-later
 * Kernels by textbook algorithms, for tests/accuracy/held-out.sh: kernels NAME N; the work grows as N does.
 * Prints a number that depends on all of it. */
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static uint64_t seed = 88172645463325252u;
static uint32_t random32(void)
{
	seed ^= seed << 13;
	seed ^= seed >> 7;
	seed ^= seed << 17;
	return (uint32_t)(seed >> 16);
}

static void *room(size_t count, size_t size)
{
	void *p = calloc(count, size);
	if (!p)
		exit(2);
	return p;
}

/* Fast Fourier transform, radix 2, in place, 4096 points. */
static double fft(unsigned n)
{
	enum { POINTS = 4096 };
	static double re[POINTS], im[POINTS], c[POINTS / 2], s[POINTS / 2];
	for (unsigned i = 0; i < POINTS / 2; i++) {
		c[i] = cos(2 * M_PI * i / POINTS);
		s[i] = -sin(2 * M_PI * i / POINTS);
	}
	for (unsigned i = 0; i < POINTS; i++)
		re[i] = random32() * 1e-9;
	for (unsigned round = 0; round < n / 200; round++) {
		for (unsigned i = 1, j = 0; i < POINTS; i++) {
			unsigned bit = POINTS / 2;
			for (; j & bit; bit /= 2)
				j ^= bit;
			j |= bit;
			if (i < j) {
				double t = re[i]; re[i] = re[j]; re[j] = t;
				t = im[i]; im[i] = im[j]; im[j] = t;
			}
		}
		for (unsigned size = 2; size <= POINTS; size *= 2)
			for (unsigned at = 0; at < POINTS; at += size)
				for (unsigned k = 0; k < size / 2; k++) {
					unsigned a = at + k, b = a + size / 2, w = k * (POINTS / size);
					double r = re[b] * c[w] - im[b] * s[w], i = re[b] * s[w] + im[b] * c[w];
					re[b] = re[a] - r; im[b] = im[a] - i;
					re[a] += r; im[a] += i;
				}
		for (unsigned i = 0; i < POINTS; i++) {
			re[i] /= 64;
			im[i] /= 64;
		}
	}
	return re[1] + im[2];
}

/* Hash join: builds a chained table of one relation, probes it with another that is larger. */
static double hash_join(unsigned n)
{
	unsigned build = n * 4, probe = n * 25, buckets = 1;
	while (buckets < build)
		buckets *= 2;
	uint32_t *head = room(buckets, sizeof *head), *next = room(build + 1, sizeof *next), *key = room(build + 1,
		sizeof *key), *value = room(build + 1, sizeof *value);
	double sum = 0;
	for (unsigned i = 1; i <= build; i++) {
		key[i] = random32() % (2 * build);
		value[i] = i;
		uint32_t h = key[i] * 2654435761u & (buckets - 1);
		next[i] = head[h];
		head[h] = i;
	}
	for (unsigned i = 0; i < probe; i++) {
		uint32_t k = random32() % (2 * build);
		for (uint32_t e = head[k * 2654435761u & (buckets - 1)]; e; e = next[e])
			if (key[e] == k)
				sum += value[e];
	}
	free(head); free(next); free(key); free(value);
	return sum;
}

/* Hoare's quicksort with insertion sort of short ranges. */
static void quicksort(int32_t *a, long low, long high)
{
	while (high - low > 12) {
		int32_t pivot = a[(low + high) / 2];
		long i = low, j = high;
		while (i <= j) {
			while (a[i] < pivot) i++;
			while (a[j] > pivot) j--;
			if (i <= j) {
				int32_t t = a[i];
				a[i++] = a[j];
				a[j--] = t;
			}
		}
		if (j - low < high - i) {
			quicksort(a, low, j);
			low = i;
		} else {
			quicksort(a, i, high);
			high = j;
		}
	}
	for (long i = low + 1; i <= high; i++) {
		int32_t x = a[i];
		long j = i;
		for (; j > low && a[j - 1] > x; j--)
			a[j] = a[j - 1];
		a[j] = x;
	}
}

static double sorting(unsigned n)
{
	long count = 12 * (long)n;
	int32_t *a = room((size_t)count, sizeof *a);
	for (long i = 0; i < count; i++)
		a[i] = (int32_t)random32();
	quicksort(a, 0, count - 1);
	double r = a[count / 2];
	free(a);
	return r;
}

/* Dijkstra's shortest paths with a binary heap, on a random graph of 5 edges a node. */
static double dijkstra(unsigned n)
{
	unsigned nodes = 3 * n, size = 0;
	enum { DEGREE = 5 };
	uint32_t *to = room((size_t)nodes * DEGREE, sizeof *to), *weight = room((size_t)nodes * DEGREE, sizeof *weight),
		*distance = room(nodes, sizeof *distance);
	struct entry { uint32_t distance, node; } *heap = room((size_t)nodes * DEGREE + 2, sizeof *heap);
	for (unsigned i = 0; i < nodes * DEGREE; i++) {
		to[i] = random32() % nodes;
		weight[i] = 1 + random32() % 1000;
	}
	memset(distance, 0xff, nodes * sizeof *distance);
	distance[0] = 0;
	heap[++size] = (struct entry){ 0, 0 };
	double sum = 0;
	while (size) {
		struct entry top = heap[1], last = heap[size--];
		unsigned i = 1;
		for (unsigned child; (child = 2 * i) <= size; i = child) {
			child += child < size && heap[child + 1].distance < heap[child].distance;
			if (last.distance <= heap[child].distance)
				break;
			heap[i] = heap[child];
		}
		heap[i] = last;
		if (top.distance > distance[top.node])
			continue;
		sum += top.distance;
		for (unsigned e = top.node * DEGREE; e < (top.node + 1) * DEGREE; e++) {
			uint32_t d = top.distance + weight[e];
			if (d < distance[to[e]]) {
				distance[to[e]] = d;
				unsigned at = ++size;
				for (; at > 1 && heap[at / 2].distance > d; at /= 2)
					heap[at] = heap[at / 2];
				heap[at] = (struct entry){ d, to[e] };
			}
		}
	}
	free(to); free(weight); free(distance); free(heap);
	return sum;
}

/* Sparse matrix (compressed rows, 9 entries each, most near the diagonal) times a vector. */
static double spmv(unsigned n)
{
	enum { ROWS = 30000, ENTRIES = 9 };
	uint32_t *column = room((size_t)ROWS * ENTRIES, sizeof *column);
	double *value = room((size_t)ROWS * ENTRIES, sizeof *value), *x = room(ROWS, sizeof *x), *y = room(ROWS,
		sizeof *y);
	for (unsigned i = 0; i < ROWS * ENTRIES; i++) {
		column[i] = i % ENTRIES < 7 ? (i / ENTRIES + i % ENTRIES * 50) % ROWS : random32() % ROWS;
		value[i] = random32() * 1e-10;
	}
	for (unsigned i = 0; i < ROWS; i++)
		x[i] = 1;
	for (unsigned round = 0; round < n / 500; round++) {
		for (unsigned i = 0; i < ROWS; i++) {
			double sum = 0;
			for (unsigned e = i * ENTRIES; e < (i + 1) * ENTRIES; e++)
				sum += value[e] * x[column[e]];
			y[i] = sum;
		}
		double *t = x; x = y; y = t;
	}
	double r = x[7];
	free(column); free(value); free(x); free(y);
	return r;
}

/* Queens that do not attack each other: sets of columns and diagonals as bits. */
static unsigned place(unsigned all, unsigned columns, unsigned left, unsigned right)
{
	unsigned count = 0;
	if (columns == all)
		return 1;
	for (unsigned free = all & ~(columns | left | right); free; free &= free - 1) {
		unsigned bit = free & -free;
		count += place(all, columns | bit, (left | bit) << 1, (right | bit) >> 1);
	}
	return count;
}

static double queens(unsigned n)
{
	double sum = 0;
	for (unsigned round = 0; round < n / 500; round++)
		sum += place((1u << (8 + round % 3)) - 1, 0, 0, 0);
	return sum;
}

/* Edit distance of two strings, by rows. */
static double edit_distance(unsigned n)
{
	enum { LENGTH = 500 };
	static char a[LENGTH + 1], b[LENGTH + 1];
	static unsigned row[LENGTH + 1];
	double sum = 0;
	for (unsigned round = 0; round < n / 1000; round++) {
		for (unsigned i = 0; i < LENGTH; i++) {
			a[i] = (char)('a' + random32() % 4);
			b[i] = (char)('a' + random32() % 4);
		}
		for (unsigned j = 0; j <= LENGTH; j++)
			row[j] = j;
		for (unsigned i = 1; i <= LENGTH; i++) {
			unsigned diagonal = row[0];
			row[0] = i;
			for (unsigned j = 1; j <= LENGTH; j++) {
				unsigned change = diagonal + (a[i - 1] != b[j - 1]), least = row[j] < row[j - 1]
					? row[j] + 1 : row[j - 1] + 1;
				diagonal = row[j];
				row[j] = change < least ? change : least;
			}
		}
		sum += row[LENGTH];
	}
	return sum;
}

/* Conway's life on a torus of 128 by 128 cells. */
static double life(unsigned n)
{
	enum { SIDE = 128 };
	static uint8_t now[SIDE][SIDE], then[SIDE][SIDE];
	double alive = 0;
	for (unsigned i = 0; i < SIDE * SIDE; i++)
		now[i / SIDE][i % SIDE] = random32() % 3 == 0;
	for (unsigned round = 0; round < n / 200; round++) {
		for (unsigned y = 0; y < SIDE; y++)
			for (unsigned x = 0; x < SIDE; x++) {
				unsigned up = (y + SIDE - 1) % SIDE, down = (y + 1) % SIDE,
					left = (x + SIDE - 1) % SIDE, right = (x + 1) % SIDE;
				unsigned near = now[up][left] + now[up][x] + now[up][right] + now[y][left] +
					now[y][right] + now[down][left] + now[down][x] + now[down][right];
				then[y][x] = near == 3 || (near == 2 && now[y][x]);
			}
		memcpy(now, then, sizeof now);
	}
	for (unsigned i = 0; i < SIDE * SIDE; i++)
		alive += now[i / SIDE][i % SIDE];
	return alive;
}

int main(int argc, char **argv)
{
	static const struct { const char *name; double (*run)(unsigned n); } kernel[] = {
		{ "fft", fft }, { "hashjoin", hash_join }, { "quicksort", sorting }, { "dijkstra", dijkstra },
		{ "spmv", spmv }, { "queens", queens }, { "distance", edit_distance }, { "life", life },
	};
	for (size_t i = 0; argc == 3 && i < sizeof kernel / sizeof *kernel; i++)
		if (!strcmp(argv[1], kernel[i].name)) {
			printf("%.6g\n", kernel[i].run((unsigned)atoi(argv[2])));
			return 0;
		}
	fputs("usage: kernels NAME N\n", stderr);
	return 2;
}
