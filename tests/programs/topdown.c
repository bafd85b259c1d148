/* SPDX-License-Identifier: GPL-2.0-or-later
 * topdown LEAF [ROUNDS]: programs that each stress one leaf of the top-down tree. The loops are in assembly, so
 * that the compiler does not change them. icache, dsb and mite run code made by `.rept`; the memory leaves chase
 * pointers through a given number of bytes in a random cycle. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#define LOOP(n, body) do { uint64_t left_ = (n); begin(); \
	__asm__ volatile("1:\n" body "\tdec %0\n\tjnz 1b" : "+b"(left_) :: \
	"rax", "rcx", "rdx", "rsi", "rdi", "r8", "r9", "r10", "r11", "xmm0", "cc", "memory"); end(); } while (0)
#define LOOP_WITH(n, body, p, x, y) do { uint64_t left_ = (n); begin(); \
	__asm__ volatile("1:\n" body "\tdec %0\n\tjnz 1b" : "+&r"(left_), "+&r"(p) : \
	"r"(x), "r"(y) : "cc", "memory"); end(); } while (0)

static uint64_t rounds;

/* The measured code runs between these two: --start begin --stop end. */
__attribute__((noinline)) void begin(void) { __asm__ volatile("" ::: "memory"); }
__attribute__((noinline)) void end(void) { __asm__ volatile("" ::: "memory"); }

/* 64 independent additions and moves: limited by retirement only. */
static void retiring(void)
{
	LOOP(rounds, ".rept 8\n\tlea 1(%%r8), %%r9\n\tlea 1(%%r10), %%r11\n\tmov $5, %%ecx\n\tmov $7, %%edx\n\tmov $3, "
		"%%esi\n\tmov $1, %%edi\n.endr\n");
}

/* One chain of additions: latency. */
static void latency(void)
{
	LOOP(rounds, ".rept 32\n\timul $3, %%r8, %%r8\n.endr\n");
}

/* Independent multiplications, all on one port. */
static void ports(void)
{
	LOOP(rounds, ".rept 8\n\timul $3, %%r8, %%r9\n\timul $3, %%r8, %%r10\n\timul $3, %%r8, %%r11\n\timul $3, %%r8, "
		"%%rcx\n.endr\n");
}

static void divider(void)
{
	LOOP(rounds, ".rept 4\n\tdivpd %%xmm1, %%xmm0\n.endr\n");
}

/* More code than L1I holds: a new line every one or two instructions, and no branch except the loop's. */
__attribute__((noinline)) static void far_code(void)
{
	__asm__ volatile(".rept 16384\n\tnopw 0x0(%%rax,%%rax,1)\n\t.byte "
		"0x66,0x0f,0x1f,0x84,0,0,0,0,0\n\t.endr" ::: "memory");
}
static void icache(void)
{
	begin();
	for (uint64_t i = 0; i < rounds / 400 + 8; i++)
		far_code();
	end();
}

/* Jumps between pages that are far apart, in the same order in every
 * round. The lines fit in L1I, the pages exceed every ITLB. */
#define PAGES 400
static void *make_jumps(void)
{
	uint8_t *code = mmap(NULL, PAGES * 4096, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1,
		0);
	if (code == MAP_FAILED)
		exit(1);
	for (unsigned i = 0; i < PAGES; i++) {
		/* page i * 171 mod PAGES next; lines differ, so that sets do */
		unsigned from = i * 171 % PAGES, to = (i + 1) * 171 % PAGES;
		uint8_t *at = code + from * 4096 + from % 61 * 64, *next = code + to * 4096 + to % 61 * 64;
		int32_t distance = (int32_t)(next - (at + 5));
		if (i + 1 == PAGES) {
			*at = 0xc3;
		} else {
			*at = 0xe9;
			memcpy(at + 1, &distance, 4);
		}
	}
	return code;
}
static void itlb(void)
{
	void (*code)(void);
	void *at = make_jumps();
	memcpy(&code, &at, sizeof code);
	begin();
	for (uint64_t i = 0; i < rounds / 40 + 8; i++)
		code();
	end();
}

/* Fits in L1I, but not in the uop cache: instructions so long that legacy decode gets few per fetch block. */
static void mite(void)
{
	LOOP(rounds / 40 + 50, ".rept 1200\n\tmovabs $0x123456789abcdef, %%r8\n\tmovabs $0x123456789abcdef, "
		"%%r9\n.endr\n");
}

/* 16-bit immediates. */
static void lcp(void)
{
	LOOP(rounds / 40 + 50, ".rept 500\n\taddw $0x1234, %%r8w\n\taddw $0x1235, %%r9w\n\taddw $0x1236, "
		"%%r10w\n\taddw "
		"$0x1237, %%r11w\n.endr\n");
}

/* Half of the branches are mispredicted: a linear congruential generator decides the direction. */
static void mispredict(void)
{
	uint64_t x = 12345;
	LOOP_WITH(rounds * 2, "\timul %2, %1\n\tadd $12345, %1\n\tbt $40, %1\n\tjc 2f\n\tnop\n2:\tbt $43, %1\n\tjc "
		"3f\n\tnop\n3:\n",
		x, 6364136223846793005, 0);
}

/* Code that writes into itself: machine clears. */
static void clear(void)
{
	uint8_t *code = mmap(NULL, 4096, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (code == MAP_FAILED)
		exit(1);
	/* a loop in the page that stores to its own line: mov %edi,%ecx;
	 * 1: mov %al,0x40(%rip); dec %ecx; jnz 1b; ret */
	static const uint8_t text[] = { 0x89, 0xf9, 0x88, 0x05, 0x20, 0, 0, 0, 0xff, 0xc9, 0x75, 0xf6, 0xc3 };
	memcpy(code, text, sizeof text);
	void (*go)(int);
	memcpy(&go, &code, sizeof go);
	begin();
	go((int)(rounds / 4));
	end();
}

/* A chain of loads through `bytes`, one per line, in an order that no prefetcher follows. */
static void chase(size_t bytes, uint64_t loads)
{
	size_t n = bytes / 64, *order = malloc(n * sizeof *order);
	char *mem = aligned_alloc(4096, bytes);
	uint64_t seed = 1;
	if (!order || !mem)
		exit(1);
	for (size_t i = 0; i < n; i++)
		order[i] = i;
	for (size_t i = n - 1; i > 0; i--) {
		seed = seed * 6364136223846793005u + 1442695040888963407u;
		size_t j = (size_t)(seed >> 33) % (i + 1), t = order[i];
		order[i] = order[j];
		order[j] = t;
	}
	for (size_t i = 0; i < n; i++)
		*(char **)(mem + 64 * order[i]) = mem + 64 * order[(i + 1) % n];
	char *p = mem;
	LOOP_WITH(loads / 8, ".rept 8\n\tmov (%1), %1\n.endr\n", p, 0, 0);
	free(order);
	free(mem);
}
static void l1(void) { chase(8 << 10, rounds * 8); }
static void l2(void) { chase(128 << 10, rounds * 16); }
static void l3(void) { chase(3 << 20, rounds * 10); }
/* Dependent loads all over 256 MB that nothing else has accessed. */
static void dram(void)
{
	char *mem = mmap(NULL, 1 << 28, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	uint64_t left = rounds, x = 1;
	if (mem == MAP_FAILED)
		exit(1);
	begin();
	__asm__ volatile("1:\timul %3, %1\n\tadd $12345, %1\n\tmov %1, %%rax\n\tshr $30, %%rax\n\tand $0xfffffc0, "
		"%%eax\n"
		"\tadd (%2,%%rax), %1\n\tdec %0\n\tjnz 1b" : "+&r"(left), "+&r"(x) : "r"(mem), "r"(6364136223846793005)
			: "rax", "cc", "memory");
	end();
}

/* Stores to a line each, more than L1D and L2 can accept. */
static void store(void)
{
	size_t bytes = 32 << 20;
	char *mem = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0), *p = mem;
	if (mem == MAP_FAILED)
		exit(1);
	LOOP_WITH(rounds * 8, "\tmov %0, (%1)\n\tmov %0, 8(%1)\n\tadd $4160, %1\n\tcmp %2, %1\n\tcmovae %3, %1\n", p,
		mem + bytes - 8192, mem);
}

int main(int argc, char **argv)
{
	static const struct { const char *name; void (*run)(void); } leaf[] = {
		{ "retiring", retiring }, { "latency", latency }, { "ports", ports }, { "divider", divider },
		{ "icache", icache }, { "itlb", itlb },
		{ "mite", mite }, { "lcp", lcp }, { "mispredict", mispredict }, { "clear", clear }, { "l1", l1 },
		{ "l2", l2 }, { "l3", l3 },
		{ "dram", dram }, { "store", store },
	};
	rounds = argc > 2 ? strtoull(argv[2], NULL, 10) : 4000;
	for (unsigned i = 0; argc > 1 && i < sizeof leaf / sizeof *leaf; i++)
		if (!strcmp(argv[1], leaf[i].name)) {
			leaf[i].run();
			return 0;
		}
	fprintf(stderr, "usage: topdown LEAF [rounds]\n");
	return 2;
}
