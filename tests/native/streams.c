/* SPDX-License-Identifier: GPL-2.0-or-later
 * streams: memory read and written in order and not, so that the same machine code can be timed natively and
 * under the model.
 *
 *   streams NAME BYTES LAPS        runs it, prints nothing: for the model; start-up falls out of the difference of
 *                                  two runs
 *   streams --native NAME BYTES    name, bytes, cycles a line (or access, where an access is one of a line), GHz
 *   streams --lines NAME BYTES     how many lines (or accesses) a lap is
 *   streams --list                 the names
 *
 * Native cycles are time × frequency, as in micro.c: the shortest of many repeats, and of a chain of ADD r64,
 * r64 before each. They are not part of the native check, and nothing is fitted to them. Left out: huge pages. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

enum { LINE = 64, PAGE = 4096, REPEATS_MOST = 3000, REPEATS_LEAST = 3, CHAIN = 400000 };
static const uint64_t native_ns = 300000000;

struct buffers { char *a, *b, *c; uint64_t bytes; };

#define LOAD_LINE(p) __asm__ volatile("vmovdqa (%0), %%ymm0\n\tvmovdqa 32(%0), %%ymm1" :: "r"(p) : "xmm0", "xmm1", \
	"memory")
#define STORE_LINE(p) __asm__ volatile("vmovdqa %%ymm0, (%0)\n\tvmovdqa %%ymm0, 32(%0)" :: "r"(p) : "memory")
#define STREAM_LINE(p) __asm__ volatile("vmovntdq %%ymm0, (%0)\n\tvmovntdq %%ymm0, 32(%0)" :: "r"(p) : "memory")
#define LOAD(p) __asm__ volatile("mov (%0), %%rax" :: "r"(p) : "rax", "memory")
#define STORE(p) __asm__ volatile("movq $1, (%0)" :: "r"(p) : "memory")
#define ADD_LINES(x, y, z) \
	__asm__ volatile("vmovdqa (%0), %%ymm0\n\tvaddpd (%1), %%ymm0, %%ymm0\n\tvmovdqa %%ymm0, (%2)\n\t" \
	"vmovdqa 32(%0), %%ymm0\n\tvaddpd 32(%1), %%ymm0, %%ymm0\n\tvmovdqa %%ymm0, 32(%2)" :: "r"(x), "r"(y), "r"(z) \
		: "xmm0", "memory")

/* Defines a function that goes through the whole buffer: its name, the step in bytes, and what it does at m->a + i. */
#define EACH(name, step, ...) static uint64_t name(const struct buffers *m) \
	{ uint64_t n = 0; for (uint64_t i = 0; i < m->bytes; i += (step), n++) { __VA_ARGS__; } return n; }
EACH(read, LINE, LOAD_LINE(m->a + i))
EACH(write, LINE, STORE_LINE(m->a + i))
EACH(write_nt, LINE, STREAM_LINE(m->a + i))
EACH(copy, LINE, LOAD_LINE(m->a + i); STORE_LINE(m->b + i))
EACH(copy_nt, LINE, LOAD_LINE(m->a + i); STREAM_LINE(m->b + i))
EACH(triad, LINE, ADD_LINES(m->a + i, m->b + i, m->c + i))
EACH(backward, LINE, LOAD_LINE(m->a + m->bytes - LINE - i))
EACH(update, LINE, __asm__ volatile("addq $1, (%0)" :: "r"(m->a + i) : "memory", "cc"))
EACH(stride2, 2 * LINE, LOAD(m->a + i))
EACH(stride4, 4 * LINE, LOAD(m->a + i))
EACH(stride8, 8 * LINE, LOAD(m->a + i))

static uint64_t streams8(const struct buffers *m)
{
	uint64_t part = m->bytes / 8, n = 0;
	for (uint64_t i = 0; i < part; i += LINE)
		for (unsigned k = 0; k < 8; k++, n++)
			LOAD(m->a + k * part + i);
	return n;
}

/* Returns a random number below `many`; *x is the generator's state. */
static uint64_t drawn(uint64_t *x, uint64_t many)
{
	*x = *x * 6364136223846793005u + 1442695040888963407u;
	return (*x >> 33) * many >> 31;
}

static uint64_t blocks4k(const struct buffers *m)
{
	uint64_t n = 0, x = 12345, pages = m->bytes / PAGE;
	for (uint64_t i = 0; i < pages; i++) {
		const char *p = m->a + drawn(&x, pages) * PAGE;
		for (unsigned at = 0; at < PAGE; at += LINE, n++)
			LOAD(p + at);
	}
	return n;
}

static uint64_t random_loads(const struct buffers *m)
{
	uint64_t n = 0, x = 12345, lines = m->bytes / LINE;
	for (; n < lines / 4; n++)
		LOAD(m->a + drawn(&x, lines) * LINE);
	return n;
}

static uint64_t random_stores(const struct buffers *m)
{
	uint64_t n = 0, x = 12345, lines = m->bytes / LINE;
	for (; n < lines / 4; n++)
		STORE(m->a + drawn(&x, lines) * LINE);
	return n;
}

static const struct kernel { const char *name; uint64_t (*run)(const struct buffers *m); unsigned buffers; } kernels[] =
	{
	{ "read", read, 1 }, { "write", write, 1 }, { "write_nt", write_nt, 1 }, { "copy", copy, 2 },
	{ "copy_nt", copy_nt, 2 }, { "triad", triad, 3 },
	{ "backward", backward, 1 }, { "update", update, 1 }, { "stride2", stride2, 1 }, { "stride4", stride4, 1 },
	{ "stride8", stride8, 1 },
	{ "streams8", streams8, 1 }, { "blocks4k", blocks4k, 1 }, { "random_loads", random_loads, 1 },
	{ "random_stores", random_stores, 1 },
};

static uint64_t now(void)
{
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static void chain(void)
{
	uint64_t rounds = CHAIN / 100, a = 1, b = 3;
	__asm__ volatile(".p2align 6\n1:\n\t.rept 100\n\tadd %1, %0\n\t.endr\n\tdec %2\n\tjnz 1b" : "+r"(a), "+r"(b),
		"+r"(rounds) :: "cc");
}

static char *buffer(uint64_t bytes)
{
	char *p = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (p == MAP_FAILED) {
		perror("streams: memory");
		exit(1);
	}
	madvise(p, bytes, MADV_NOHUGEPAGE);
	for (uint64_t i = 0; i < bytes; i += PAGE)	/* gives each page its own frame, not the zero page */
		p[i] = 1;
	return p;
}

static void native(const struct kernel *k, const struct buffers *m)
{
	uint64_t least = UINT64_MAX, least_chain = UINT64_MAX, n = k->run(m), start = now();
	for (unsigned i = 0; i < REPEATS_LEAST || (i < REPEATS_MOST && now() - start < native_ns); i++) {
		uint64_t from = now();
		chain();
		uint64_t between = now();
		k->run(m);
		uint64_t to = now();
		least_chain = between - from < least_chain ? between - from : least_chain;
		least = to - between < least ? to - between : least;
	}
	double ghz = (double)CHAIN / (double)least_chain;
	printf("%s\t%llu\t%.3f\t%.3f\n", k->name, (unsigned long long)m->bytes, (double)least * ghz / (double)n, ghz);
}

int main(int argc, char **argv)
{
	const int timed = argc > 1 && !strcmp(argv[1], "--native"), counted = argc > 1 && !strcmp(argv[1], "--lines");
	const size_t count = sizeof kernels / sizeof *kernels;
	if (argc == 2 && !strcmp(argv[1], "--list")) {
		for (size_t i = 0; i < count; i++)
			puts(kernels[i].name);
		return 0;
	}
	for (size_t i = 0; argc == 4 && i < count; i++) {
		struct buffers m = { .bytes = strtoull(argv[2 + (timed || counted)], NULL, 10) / PAGE * PAGE };
		if (strcmp(argv[1 + (timed || counted)], kernels[i].name) || !m.bytes)
			continue;
		m.a = buffer(m.bytes);
		m.b = kernels[i].buffers > 1 ? buffer(m.bytes) : NULL;
		m.c = kernels[i].buffers > 2 ? buffer(m.bytes) : NULL;
		if (timed)
			native(kernels + i, &m);
		if (counted)
			printf("%llu\n", (unsigned long long)kernels[i].run(&m));
		for (uint64_t laps = timed || counted ? 0 : strtoull(argv[3], NULL, 10); laps; laps--)
			kernels[i].run(&m);
		return 0;
	}
	fputs("usage: streams --list | streams NAME BYTES LAPS | streams --native NAME BYTES | streams --lines NAME "
		"BYTES\n", stderr);
	return 2;
}
