/* SPDX-License-Identifier: GPL-2.0-or-later
 * advice RULE bad|good: a program with the fault that a rule of softpmu tune --software finds, and the same program
 * without the fault. The line that the advice must name is marked with AT and the rule. */
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#define KEEP __attribute__((noinline, noclone))
typedef uint64_t u64;
static volatile u64 zero;	/* x & zero: a dependence that the compiler must keep */
static u64 random_state = 88172645463325252u;
static u64 random_next(void)
{
	random_state ^= random_state << 13;
	random_state ^= random_state >> 7;
	return random_state ^= random_state << 17;
}

/* ---- branches ---- */

enum { N = 20000 };
static u64 word[N];
static void fill(void) { for (int i = 0; i < N; i++) word[i] = random_next() >> 32; }

static KEEP u64 branch_bad(void)
{
	u64 sum = 0;
	for (int i = 0; i < N; i++)
		if (word[i] & 1) {	/* AT random-branch */
			sum += word[i];
			__asm__ volatile("" : "+r"(sum));
		}
	return sum;
}
static KEEP u64 branch_good(void)
{
	u64 sum = 0;
	for (int i = 0; i < N; i++)
		sum += word[i] & -(word[i] & 1);
	return sum;
}

#define CASE(n) static KEEP u64 case##n(u64 x) { return x * (2 * n + 3) + n; }
CASE(0) CASE(1) CASE(2) CASE(3) CASE(4) CASE(5) CASE(6) CASE(7)
static u64 (*const cases[8])(u64) = { case0, case1, case2, case3, case4, case5, case6, case7 };
static KEEP u64 target_bad(void)
{
	u64 sum = 1;
	for (int i = 0; i < N; i++)
		sum = cases[word[i] & 7](sum);	/* AT indirect-branch */
	return sum;
}
static KEEP u64 target_good(void)	/* the same calls, sorted by target */
{
	u64 sum = 1;
	for (u64 k = 0; k < 8; k++)
		for (int i = 0; i < N; i++)
			if (i % 8 == (int)k)
				sum = cases[k](sum);
	return sum;
}

/* ---- code ---- */

#define APART(gap) ".rept 120\n add $3, %0\n jmp 1f\n .balign " gap ", 0xcc\n 1:\n .endr\n"
static KEEP u64 code_alias_bad(void)
{
	u64 sum = 0;
	for (int i = 0; i < 100; i++)
		__asm__ volatile(APART("4096") : "+r"(sum));	/* AT code-alias */
	return sum;
}
static KEEP u64 code_alias_good(void)
{
	u64 sum = 0;
	for (int i = 0; i < 100; i++)
		__asm__ volatile(APART("64") : "+r"(sum));
	return sum;
}
/* Pieces of code that run, 110 bytes that do not run before each: more lines than L1I holds. */
static KEEP u64 layout_bad(void)
{
	u64 sum = 0;
	for (int i = 0; i < 40; i++)
		/* AT code-layout */
		__asm__ volatile(".rept 1200\n add $3, %0\n jmp 1f\n .skip 122, 0xcc\n 1:\n .endr\n" : "+r"(sum));
	return sum;
}
static KEEP u64 layout_good(void)
{
	u64 sum = 0;
	for (int i = 0; i < 40; i++)
		__asm__ volatile(".rept 1200\n add $3, %0\n jmp 1f\n 1:\n .endr\n" : "+r"(sum));
	return sum;
}

/* ---- stores and later loads ---- */

_Alignas(4096) struct { u64 to[512], from[1024]; } page;
static KEEP u64 copy(u64 *to, const u64 *from)
{
	u64 x = 0;
	for (int k = 0; k < 40; k++)
		for (int i = 0; i < 500; i++) {
			x = from[i + (x & zero)];	/* AT 4k-alias */
			to[i] = x;
		}
	return x;
}
/* each load lies a page behind the last store */
static u64 alias_bad(void) { return copy(page.to + 1, page.from); }
static u64 alias_good(void) { return copy(page.to + 1, page.from + 256); }

static KEEP u64 forward_bad(void)
{
	static union { uint32_t half[2]; u64 whole; } a;
	u64 x = 1;
	for (int i = 0; i < N; i++) {
		*(volatile uint32_t *)&a.half[0] = (uint32_t)x;
		*(volatile uint32_t *)&a.half[1] = (uint32_t)i;
		x += *(volatile u64 *)&a.whole;	/* AT store-forward */
	}
	return x;
}
static KEEP u64 forward_good(void)
{
	static union { uint32_t half[2]; u64 whole; } a;
	u64 x = 1;
	for (int i = 0; i < N; i++) {
		*(volatile u64 *)&a.whole = (uint32_t)x | (u64)i << 32;
		x += *(volatile u64 *)&a.whole;
	}
	return x;
}

_Alignas(64) unsigned char bytes[16384 + 64];
static KEEP u64 across(const unsigned char *from)
{
	u64 x = 0, y;
	for (int k = 0; k < 100; k++)
		for (int i = 0; i < 16384; i += 64) {
			memcpy(&y, from + i + (x & zero), 8);
			x += y;	/* AT split */
		}
	return x;
}
static u64 split_bad(void) { return across(bytes + 60); }
static u64 split_good(void) { return across(bytes + 56); }

/* ---- caches ---- */

enum { ROWS = 32, WIDTH = 512 };
u64 matrix[ROWS * (WIDTH + 8)];
static KEEP u64 columns(int width)
{
	u64 x = 0;
	for (int k = 0; k < 40; k++)
		for (int c = 0; c < 16; c++)
			for (int r = 0; r < ROWS; r++)
				x += matrix[r * 11 % ROWS * width + c + (x & zero)];	/* AT set-conflict */
	return x;
}
static u64 conflict_bad(void) { return columns(WIDTH); }
static u64 conflict_good(void) { return columns(WIDTH + 8); }

enum { ELEMENTS = 4000 };
struct element { u64 key; char name[248]; } element[ELEMENTS];
u64 key[ELEMENTS];
static KEEP u64 structure_bad(void)
{
	u64 x = 0;
	for (int k = 0; k < 12; k++)
		for (int i = 0; i < ELEMENTS; i++)
			x += element[i + (x & zero)].key;	/* AT split-structure */
	return x;
}
static KEEP u64 structure_good(void)
{
	u64 x = 0;
	for (int k = 0; k < 12; k++)
		for (int i = 0; i < ELEMENTS; i++)
			x += key[i + (x & zero)];
	return x;
}

u64 table[8 * ELEMENTS];
static KEEP u64 blocking_bad(void)
{
	u64 x = 0;
	for (int k = 0; k < 8; k++)
		for (int i = 0; i < ELEMENTS; i++)
			x += table[8 * i + k + (x & zero)];	/* AT blocking */
	return x;
}
static KEEP u64 blocking_good(void)
{
	u64 x = 0;
	for (int block = 0; block < ELEMENTS; block += 250)
		for (int k = 0; k < 8; k++)
			for (int i = block; i < block + 250; i++)
				x += table[8 * i + k + (x & zero)];
	return x;
}

enum { STEPS = 6000, STEP = 8256 };
char wide[STEPS * STEP + 64 * STEP];
static KEEP u64 prefetch_bad(void)
{
	u64 x = 0;
	for (size_t i = 0; i < STEPS; i++)
		x += *(u64 *)(wide + i * STEP + (x & zero));	/* AT prefetch */
	return x;
}
static KEEP u64 prefetch_good(void)
{
	u64 x = 0;
	for (size_t i = 0; i < STEPS; i++) {
		__builtin_prefetch(wide + (i + 32) * STEP);
		for (int k = 0; k < 20; k++)
			x += x >> 3 ^ (u64)k;	/* work that gives the prefetches time */
		x += *(u64 *)(wide + i * STEP + (x & zero));
	}
	return x;
}

/* A permutation of the pages, which no prefetcher follows. */
static KEEP u64 hop(const char *from, size_t pages)
{
	u64 x = 0, at = 1;
	for (int i = 0; i < 20000; i++) {
		at = (at * 1103515245 + 12345) % pages;
		x += *(const u64 *)(from + (at << 12) + (at % 64 << 6) + (x & zero));	/* AT huge-pages */
	}
	return x;
}
static u64 pages(int advice)
{
	const size_t size = 48 << 20;
	char *p = mmap(NULL, size + (2 << 20), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1,
		0);
	if (p == MAP_FAILED)
		return 0;
	p = (char *)(((uintptr_t)p + (2 << 20) - 1) & ~(uintptr_t)((2 << 20) - 1));
	madvise(p, size, advice);
	return hop(p, size >> 12);
}
static u64 pages_bad(void) { return pages(MADV_NORMAL); }
static u64 pages_good(void) { return pages(MADV_HUGEPAGE); }

/* ---- threads ---- */

_Alignas(64) volatile u64 counter[16];
static KEEP void *count(void *which)
{
	u64 x = 3;
	for (int i = 0; i < 1000; i++) {
		/* waits until the last store is written: a forwarded load accesses no other core's line */
		for (int k = 0; k < 200; k++)
			x = x * x | 5;
		counter[(size_t)which + (x & zero)] += x | 1;	/* AT false-sharing */
	}
	return NULL;
}
static u64 both(void *(*f)(void *), size_t a, size_t b)
{
	pthread_t t;
	if (pthread_create(&t, NULL, f, (void *)a))
		return 0;
	f((void *)b);
	pthread_join(t, NULL);
	return counter[0];
}
static u64 sharing_bad(void) { return both(count, 0, 1); }
static u64 sharing_good(void) { return both(count, 0, 8); }

/* The example of US 2005/0273310: threads whose data start at equal addresses modulo the size of a cache way evict
 * each other's lines. Each thread uses 8 lines of a set of 12. */
_Alignas(4096) char region[2 * 16 * 4096];
static KEEP void *walk(void *start)
{
	u64 x = 0;
	for (int k = 0; k < 1500; k++)
		for (int i = 0; i < 8; i++)
			x += *(u64 *)((char *)start + 4096 * i + (x & zero));	/* AT thread-conflict */
	__asm__ volatile("" : : "r"(x));
	return NULL;
}
static u64 threads_bad(void) { return both(walk, (size_t)region, (size_t)region + 16 * 4096); }
static u64 threads_good(void) { return both(walk, (size_t)region, (size_t)region + 15 * 4096 + 1024); }

/* ---- compilation ---- */

double a[2000], b[2000];
static KEEP __attribute__((optimize("O0"))) u64 flags_bad(void)	/* AT compile-flags */
{
	u64 sum = 0;
	for (int i = 0; i < N; i++)
		sum = sum * 31 + word[i];
	return sum;
}
static KEEP u64 flags_good(void)
{
	u64 sum = 0;
	for (int i = 0; i < N; i++)
		sum = sum * 31 + word[i];
	return sum;
}
static KEEP u64 vector_bad(void)
{
	double sum = 0;
	for (int k = 0; k < 20; k++)
		for (int i = 0; i < 2000; i++)
			sum += a[i] * b[i];	/* AT vectorise */
	return (u64)sum;
}
static KEEP __attribute__((optimize("O3", "fast-math"))) u64 vector_good(void)
{
	double sum = 0;
	for (int k = 0; k < 20; k++)
		for (int i = 0; i < 2000; i++)
			sum += a[i] * b[i];
	return (u64)sum;
}

static const struct { const char *rule; u64 (*run[2])(void); } program[] = {
	{ "random-branch", { branch_bad, branch_good } }, { "indirect-branch", { target_bad, target_good } },
	{ "code-alias", { code_alias_bad, code_alias_good } }, { "code-layout", { layout_bad, layout_good } },
	{ "4k-alias", { alias_bad, alias_good } }, { "store-forward", { forward_bad, forward_good } },
	{ "split", { split_bad, split_good } },
	{ "set-conflict", { conflict_bad, conflict_good } }, { "split-structure", { structure_bad, structure_good } },
	{ "blocking", { blocking_bad, blocking_good } }, { "prefetch", { prefetch_bad, prefetch_good } },
	{ "huge-pages", { pages_bad, pages_good } },
	{ "false-sharing", { sharing_bad, sharing_good } }, { "thread-conflict", { threads_bad, threads_good } },
	{ "compile-flags", { flags_bad, flags_good } }, { "vectorise", { vector_bad, vector_good } },
};

int main(int argc, char **argv)
{
	fill();
	for (size_t i = 0; argc == 3 && i < sizeof program / sizeof *program; i++)
		if (!strcmp(argv[1], program[i].rule)) {
			printf("%llu\n", (unsigned long long)program[i].run[!strcmp(argv[2], "good")]());
			return 0;
		}
	fputs("usage: advice RULE bad|good\n", stderr);
	return 2;
}
