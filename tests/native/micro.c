/* SPDX-License-Identifier: GPL-2.0-or-later
 * micro: runs one microbenchmark of kernels.S, so that the same machine code can be timed natively and under the model.
 *
 *   micro --list [SIZES]           name, operations a round, rounds of a short and a long run for the model, level,
 *                                  text
 *   micro NAME ROUNDS [SIZES]      runs it, prints nothing: for the model; start-up falls out of the difference of
 *                                  two runs
 *   micro --native [NAME] [SIZES]  times all or one: name, cycles an operation, ns an operation, GHz, repeats that
 *                                  nothing disturbed
 *   SIZES: --l3 BYTES --memory BYTES of the buffers for these levels (4M and 64M)
 *
 * Native cycles are time × frequency. The frequency comes from the chain of ADD r64, r64 (one cycle each on
 * every core since the P6), run before and after each repeat of a benchmark. A chain is not slowed by another
 * hardware thread of the core, which may belong to another guest; a benchmark that keeps all ports busy is. So a
 * repeat counts if the independent POPCNTs of ports_popcnt, run in the same way, were within 2 % of their fastest in
 * this process, and the chains within 1 % of each other. The figure is the median of those repeats, because a cache
 * may at times be faster than usual. If no repeat counts within PATIENCE, the figure is the least of all repeats and
 * the last column is 0. Left out: pinning to a CPU (taskset does it), huge pages (the model has 4 KB pages, too). */
#include <cpuid.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

enum { NONE, L1, L2, L3, DRAM, LEVEL = 7, CHASE = 8, AVX2 = 16, BMI2 = 32 };	/* as in kernels.S */
enum { LINE = 64, ROUND = 4096, REPEATS = 25, L1_BYTES = 16384, L2_BYTES = 131072 };
/* ns: least time of a repeat; the same beyond L2; longest wait for undisturbed repeats; warm-up before the first */
enum { PIECE = 50000, FAR_PIECE = 500000, PATIENCE = 300000000, WARM = 20000000 };

struct bench {
	const char *name, *text;
	void *(*run)(uint64_t rounds, void *memory, uint64_t bytes);
	uint32_t ops, needs;
};
extern const struct bench benches[] __asm__("__start_benches"), benches_end[] __asm__("__stop_benches");

struct sizes { uint64_t l3, memory; };

static uint64_t buffer_bytes(const struct bench *b, const struct sizes *s)
{
	const uint64_t bytes[] = { 0, L1_BYTES, L2_BYTES, s->l3, s->memory };
	return bytes[b->needs & LEVEL];
}

/* A permutation of 0 to 2^bits - 1 that looks random. It is made of shifts and odd factors, which are invertible. */
static uint64_t scramble(uint64_t i, unsigned bits)
{
	uint64_t mask = (1ull << bits) - 1;
	i ^= i >> (bits / 2);
	i = i * 0x9e3779b97f4a7c15ull & mask;
	i ^= i >> (bits / 2);
	i = i * 0xbf58476d1ce4e5b9ull & mask;
	return i ^ i >> (bits / 2);
}

/* Returns the buffer, or NULL. A chase is linked in the order in which it is walked, so the line that was used longest
 * ago comes first. */
static char *buffer(const struct bench *b, uint64_t bytes)
{
	char *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (memory == MAP_FAILED)
		return NULL;
	madvise(memory, bytes, MADV_NOHUGEPAGE);
	if (!(b->needs & CHASE)) {
		for (uint64_t at = 0; at < bytes; at += ROUND)	/* gives each page its own frame, not the zero page */
			memory[at] = 1;
		return memory;
	}
	unsigned bits = 0;
	while ((uint64_t)LINE << bits < bytes)
		bits++;
	uint64_t lines = 1ull << bits;
	char *from = memory + scramble(0, bits) * LINE;
	for (uint64_t i = 1; i <= lines; i++) {
		char *to = memory + scramble(i == lines ? 0 : i, bits) * LINE;
		memcpy(from, &to, sizeof to);
		from = to;
	}
	return memory;
}

static void rounds_of(const struct bench *b, const struct sizes *s, uint64_t *few, uint64_t *many)
{
	uint64_t lap = buffer_bytes(b, s) / LINE / b->ops;
	/* The difference between them is large enough to hide an end of the program that is a thousand cycles longer
	 * because its reads met a refresh. */
	*few = 8000 / b->ops + 2;
	*many = *few + 800000 / b->ops;
	switch (b->needs & LEVEL) {
	case L2:
		*few = 2 * lap;
		*many = 34 * lap;
		break;
	case L3:
		*few = b->needs & CHASE ? lap / 4 : lap;	/* linking the chase was a first lap */
		*many = *few + lap / 2;
		break;
	case DRAM:
		*few = 256;
		*many = 1024;
		break;
	}
}

static uint64_t now(void)
{
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static bool can_run(const struct bench *b)
{
	__builtin_cpu_init();
	return (!(b->needs & AVX2) || (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"))) &&
	       (!(b->needs & BMI2) || __builtin_cpu_supports("bmi2"));
}

/* Returns the ns of one run. A chase goes on where it stopped. */
static uint64_t once(const struct bench *b, uint64_t rounds, char **at, uint64_t bytes)
{
	uint64_t start = now();
	char *end = b->run(rounds, *at, bytes);
	uint64_t took = now() - start;
	if (b->needs & CHASE)
		*at = end;
	return took;
}

/* The benches that show how long a cycle is and whether anything disturbs the run. least: the fewest cycles that a
 * round of `busy` has taken in this process. */
struct yardsticks {
	const struct bench *add, *busy;
	double least;
};

/* Sets *ns to the length of a cycle. Returns whether nothing disturbed the run: the chain takes the same time twice,
 * within 1 %, and `busy`, which keeps the ports busy, in between takes at most 2 % more than its least. */
static bool cycle_now(struct yardsticks *y, double *ns)
{
	enum { CHAIN_ROUNDS = 400, BUSY_ROUNDS = 1000 };
	char *none = NULL;
	double chain[2], busy;
	chain[0] = (double)once(y->add, CHAIN_ROUNDS, &none, 0) / CHAIN_ROUNDS / y->add->ops;
	busy = (double)once(y->busy, BUSY_ROUNDS, &none, 0) / BUSY_ROUNDS;
	chain[1] = (double)once(y->add, CHAIN_ROUNDS, &none, 0) / CHAIN_ROUNDS / y->add->ops;
	*ns = chain[0] < chain[1] ? chain[0] : chain[1];
	if (chain[0] > 1.01 * chain[1] || chain[1] > 1.01 * chain[0])
		return false;
	busy /= *ns;
	if (!(y->least && y->least <= busy))
		y->least = busy;
	return busy <= 1.02 * y->least;
}

static int by_size(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;
	return (x > y) - (x < y);
}

static int native(const struct bench *b, struct yardsticks *y, const struct sizes *s)
{
	uint64_t bytes = buffer_bytes(b, s), rounds = 1, took;
	char *memory = bytes ? buffer(b, bytes) : NULL, *at = memory;
	if (bytes && !memory) {
		perror("micro: memory");
		return 1;
	}
	if ((b->needs & LEVEL) == L3)	/* warms the buffer before it is timed */
		once(b, bytes / LINE / b->ops, &at, bytes);
	while ((took = once(b, rounds, &at, bytes)) < ((b->needs & LEVEL) >= L3 ? FAR_PIECE : PIECE) &&
		rounds < 1ull << 40)
		rounds *= 2;
	if (!(b->needs & CHASE) && rounds * b->ops * LINE < bytes) /* all of it: the caches would hold a part */
		rounds = bytes / LINE / b->ops;
	double cycles[REPEATS], per = (double)rounds * b->ops, least_ns = 0, cycle = 0, before, after;
	unsigned repeats = 0, undisturbed = 0;
	for (uint64_t start = now(); undisturbed < REPEATS && (repeats < REPEATS || now() - start < PATIENCE);
		repeats++) {
		bool quiet = cycle_now(y, &before);
		double ns = (double)once(b, rounds, &at, bytes) / per;
		quiet &= cycle_now(y, &after) && before <= 1.01 * after && after <= 1.01 * before;
		least_ns = !repeats || ns < least_ns ? ns : least_ns;
		before = before < after ? before : after;
		cycle = !repeats || before < cycle ? before : cycle;
		if (quiet)
			cycles[undisturbed++] = ns / before;
	}
	double figure = least_ns / cycle;
	if (undisturbed) {
		qsort(cycles, undisturbed, sizeof *cycles, by_size);
		figure = cycles[undisturbed / 2];
	}
	printf("%s\t%.4f\t%.4f\t%.3f\t%u\n", b->name, figure, figure * cycle, 1 / cycle, undisturbed);
	if (memory)
		munmap(memory, bytes);
	return 0;
}

static const struct bench *find(const char *name)
{
	for (const struct bench *b = benches; b < benches_end; b++)
		if (!strcmp(b->name, name))
			return b;
	fprintf(stderr, "micro: no microbenchmark '%s' (micro --list)\n", name);
	return NULL;
}

/* A power of two between 64 KB and 1 GB, or 0. */
static uint64_t size_of(const char *text)
{
	char *end;
	uint64_t v = strtoull(text, &end, 10);
	return *end || v < 65536 || v > 1u << 30 || (v & (v - 1)) ? 0 : v;
}

int main(int argc, char **argv)
{
	struct sizes s = { 4u << 20, 64u << 20 };
	const char *word[2] = { NULL, NULL };
	int words = 0, failed = 0;
	for (int i = 1; i < argc; i++) {
		uint64_t *size = !strcmp(argv[i], "--l3") ? &s.l3 : !strcmp(argv[i], "--memory") ? &s.memory : NULL;
		if (size && i + 1 < argc) {
			if (!(*size = size_of(argv[++i]))) {
				fprintf(stderr, "micro: %s %s: not a power of two from 65536 to 1073741824\n",
					argv[i - 1], argv[i]);
				return 2;
			}
		} else if (!size && words < 2) {
			word[words++] = argv[i];
		} else {
			words = 0;
			break;
		}
	}
	if (words == 1 && !strcmp(word[0], "--list")) {
		for (const struct bench *b = benches; b < benches_end; b++) {
			uint64_t few, many;
			rounds_of(b, &s, &few, &many);
			printf("%s\t%u\t%llu\t%llu\t%u\t%s\n", b->name, b->ops, (unsigned long long)few,
			       (unsigned long long)many, b->needs & LEVEL, b->text);
		}
		return 0;
	}
	if (words && !strcmp(word[0], "--native")) {
		struct yardsticks y = { find("add"), find("ports_popcnt"), 0 };
		const struct bench *one = word[1] ? find(word[1]) : NULL;
		if (!y.add || !y.busy || (word[1] && !one))
			return 2;
		double ns;
		for (uint64_t start = now(); now() - start < WARM;)
			cycle_now(&y, &ns);
		for (const struct bench *b = one ? one : benches; b < (one ? one + 1 : benches_end); b++)
			if (can_run(b))
				failed |= native(b, &y, &s);
			else
				printf("%s\t-\t-\t-\t0\n", b->name);
		return failed;
	}
	if (words == 2) {
		const struct bench *b = find(word[0]);
		char *end;
		uint64_t rounds = strtoull(word[1], &end, 10), bytes = b ? buffer_bytes(b, &s) : 0;
		if (!b)
			return 2;
		if (*end || !rounds) {
			fprintf(stderr, "micro: '%s' is not a number of rounds\n", word[1]);
			return 2;
		}
		char *memory = bytes ? buffer(b, bytes) : NULL;
		if (bytes && !memory) {
			perror("micro: memory");
			return 1;
		}
		b->run(rounds, memory, bytes);
		return 0;
	}
	fputs("usage: micro --list | micro NAME ROUNDS | micro --native [NAME]   [--l3 BYTES] [--memory BYTES]\n",
		stderr);
	return 2;
}
