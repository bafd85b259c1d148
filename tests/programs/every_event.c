/* SPDX-License-Identifier: GPL-2.0-or-later
 * every_event [STANZA...]: makes as many events happen as a program can, for tests/system/stat/every-event.sh.  Each
 * stanza is a function that makes one kind of thing happen some hundred times: see the table at the end of this file.
 * Without a STANZA all of them run, in order.  Compiled for 64 and for 32 bits (every_event32).  Deterministic. */
#define _GNU_SOURCE
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

enum { ROUNDS = 200, LINE = 64, PAGE = 4096, LARGE = 2 << 20 };
#define REPEAT for (int round = 0; round < ROUNDS; round++)
#define ASM(text) __asm__ volatile(text ::: "eax", "ecx", "edx", "esi", "edi", "cc", "memory", \
	"xmm0", "xmm1", "xmm2", "xmm3", "xmm4", "xmm5", "xmm6", "xmm7", "st", "st(1)", "mm0", "mm1")
#define ASM_AT(text, p) __asm__ volatile(text :: "r"(p) : "eax", "ecx", "edx", "cc", "memory", "xmm0", "xmm1")

static uint8_t area[64 * PAGE] __attribute__((aligned(4096)));
static uint32_t state = 1;

static uint32_t draw(void)
{
	state = state * 1664525u + 1013904223u;
	return state >> 8;
}

/* Memory at a multiple of `align`. */
static uint8_t *map(size_t bytes, size_t align, int protection)
{
	uint8_t *p = mmap(NULL, bytes + align, protection, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (p == MAP_FAILED)
		exit(1);
	return (uint8_t *)(((uintptr_t)p + align - 1) & ~(uintptr_t)(align - 1));
}

/* Floating point: scalar and packed, single and double, 128 and 256 bits, fused. */
static void fp_sse(void)
{
	REPEAT ASM("addss %%xmm0, %%xmm1; mulsd %%xmm0, %%xmm2; addps %%xmm0, %%xmm1; mulpd %%xmm0, %%xmm2;"
		"mulss %%xmm0, %%xmm2; cvtsi2sd %%eax, %%xmm3; cvttsd2si %%xmm3, %%eax; movaps %%xmm0, %%xmm1;"
		"ucomisd %%xmm0, %%xmm1");
}

/* Valgrind runs AVX code and segment loads in one word size only. */
#ifdef __x86_64__
#define ASM64 ASM
#define ASM32(text) (void)0
#else
#define ASM64(text) (void)0
#define ASM32 ASM
#endif
static void fp_avx(void)
{
	REPEAT ASM64("vaddps %%ymm0, %%ymm1, %%ymm2; vmulpd %%ymm0, %%ymm1, %%ymm2; vfmadd231ps %%ymm0, %%ymm1, %%ymm2;"
		"vfmadd231sd %%xmm0, %%xmm1, %%xmm2; vzeroupper");
}

/* The upper halves in use while SSE instructions run, and back. */
static void fp_transitions(void)
{
	REPEAT ASM64("vaddps %%ymm0, %%ymm1, %%ymm2; addps %%xmm0, %%xmm1; vaddps %%ymm0, %%ymm1, %%ymm2; vzeroupper");
}

static void x87(void)
{
	static volatile double a = 1.5, b = 0.75;
	REPEAT __asm__ volatile("fldl %1; faddl %1; fmull %1; fdivl %1; fsqrt; fxch; fstpl %0"
		: "=m"(a) : "m"(b) : "st");
	REPEAT ASM("fld1; fldpi; fyl2x; fstp %%st(0)");
}

static void mmx(void)
{
	REPEAT ASM("movd %%eax, %%mm0; paddw %%mm0, %%mm1; pmullw %%mm0, %%mm1; packsswb %%mm0, %%mm1; psllw $2, %%mm0;"
		"pand %%mm0, %%mm1; movd %%mm1, %%eax; emms");
}

static void integer_vector(void)
{
	REPEAT ASM("paddd %%xmm0, %%xmm1; pmuludq %%xmm0, %%xmm2; pshufd $1, %%xmm0, %%xmm1; psrlq $3, %%xmm1;"
		"packssdw %%xmm0, %%xmm1; pxor %%xmm3, %%xmm3");
	REPEAT ASM64("pmulld %%xmm0, %%xmm2;"
		"vpaddd %%ymm0, %%ymm1, %%ymm2; vpmulld %%ymm0, %%ymm1, %%ymm2; vzeroupper");
}

/* Divides, square roots and multiplications. */
static void divide(void)
{
	REPEAT ASM("mov $1000, %%eax; xor %%edx, %%edx; mov $7, %%ecx; div %%ecx; cltd; idiv %%ecx; imul %%ecx, %%eax;"
		"mul %%ecx; divss %%xmm0, %%xmm1; divpd %%xmm0, %%xmm1; sqrtsd %%xmm0, %%xmm2; sqrtps %%xmm0, %%xmm2");
}

/* Branches: taken and not, of each kind, and mispredicted. */
__attribute__((noinline)) static void leaf_a(void) { __asm__ volatile(""); }
__attribute__((noinline)) static void leaf_b(void) { __asm__ volatile("nop"); }
__attribute__((noinline)) static void leaf_c(void) { __asm__ volatile("nop; nop"); }
static void (*volatile const leaves[])(void) = { leaf_a, leaf_b, leaf_c, leaf_a };

static void branches(void)
{
	volatile uint32_t sum = 0;
	for (int i = 0; i < 2000; i++) {
		if (draw() & 1)
			sum += 3;
		leaves[draw() & 3]();
	}
	static const void *const targets[] = { &&first, &&second, &&third, &&fourth };
	for (int i = 0; i < 2000; i++) {
		goto *targets[draw() & 3];
first:		sum += 1;
second:		sum += 2;
third:		sum += 3;
fourth:		sum += 4;
	}
}

/* Returns that go elsewhere than behind their call, and more nested calls than the return stack holds. */
__attribute__((noinline)) static int deep(int n)
{
	__asm__ volatile("" ::: "memory");
	return n ? deep(n - 1) + 1 : 0;
}

static void returns(void)
{
	for (int i = 0; i < 20; i++)
		deep(100);
#ifdef __x86_64__
	REPEAT __asm__ volatile("lea 1f(%%rip), %%rax; push %%rax; ret; 1:" ::: "rax", "memory");
#else
	REPEAT __asm__ volatile("pushl $1f; ret; 1:" ::: "memory");
#endif
}

/* Loads and stores that cross lines and pages, that wait for stores, or that only seem to. */
static void splits(void)
{
	REPEAT ASM_AT("mov 62(%0), %%eax; mov %%eax, 126(%0); mov 4094(%0), %%eax; mov %%eax, 8190(%0);"
		"movups 56(%0), %%xmm0; movups %%xmm0, 120(%0); lock incl 62(%0)", area);
	/* Many at a time that miss every cache: each keeps a split register until its second line is there. */
	uint8_t *far = map(1 << 22, PAGE, PROT_READ | PROT_WRITE);
	REPEAT ASM_AT(".set at, 62; .rept 16; mov at(%0), %%eax; .set at, at + 640; .endr",
		far + round * (3 * PAGE - LINE));
}

static void forwarding(void)
{
	REPEAT {
		ASM_AT("mov %%eax, 64(%0); mov 64(%0), %%ecx", area);				/* forwarded */
		ASM_AT("movb %%al, 64(%0); movb %%al, 65(%0); mov 64(%0), %%ecx", area);	/* from two stores */
		ASM_AT("mov %%eax, 66(%0); mov 64(%0), %%ecx", area);				/* not aligned alike */
		ASM_AT("mov %%eax, 128(%0); mov 4224(%0), %%ecx", area);			/* 4 KB apart */
	}
	/* The store's address or its data are known late. */
	volatile uint32_t *p = (volatile uint32_t *)area;
	p[1] = 64;
	for (int i = 0; i < 2000; i++) {
		uint32_t far = p[draw() % 8192 * 4] / (draw() | 1);
		p[far % 16] = 5;
		p[draw() % 16] = p[2] / 3;
	}
}

/* A load is executed before an older store to the same address, whose address is known late. */
static void memory_order(void)
{
	volatile uint32_t *p = (volatile uint32_t *)area;
	for (uint32_t i = 0; i < 2000; i++) {
		uint32_t at = i % 16 == 15 ? 5 : 9;
		at = at * 77 / 7 / 11;
		p[at] = i;
		p[20] = p[5];
	}
}

static void locks(void)
{
	REPEAT ASM_AT("lock incl (%0); xchg %%eax, (%0); lock cmpxchg %%ecx, 64(%0); lock xaddl %%eax, 128(%0)", area);
}

/* Fences, PAUSE, CPUID and the time-stamp counter. */
static void serialise(void)
{
	REPEAT ASM("lfence; mfence; sfence; pause; rdtsc; clc; cmc");
	REPEAT __asm__ volatile("cpuid" :: "a"(0), "c"(0) : "ebx", "edx", "memory");
}

/* Prefetches of each kind, of lines in L1 and of lines that are far, which are loaded at once. */
static void prefetches(void)
{
	uint8_t *far = map(1 << 20, PAGE, PROT_READ | PROT_WRITE);
	REPEAT ASM_AT("prefetchnta (%0); prefetcht0 64(%0); prefetcht1 128(%0); prefetcht2 192(%0); prefetchw 256(%0)",
		area);
	REPEAT {
		uint8_t *p = far + draw() % (1 << 14) * LINE;
		ASM_AT("prefetcht0 (%0); mov (%0), %%eax", p);
		p = far + draw() % (1 << 14) * LINE;
		ASM_AT("prefetchnta (%0); mov 8(%0), %%eax", p);
		p = far + draw() % (1 << 14) * LINE;
		ASM_AT("prefetcht1 (%0); prefetcht2 64(%0)", p);
	}
}

static void cache_control(void)
{
	uint8_t *p = map(64 * PAGE, PAGE, PROT_READ | PROT_WRITE);
	for (int i = 0; i < 64 * PAGE; i += LINE)
		ASM_AT("movnti %%eax, (%0); movntps %%xmm0, 16(%0); movntdq %%xmm1, 32(%0)", p + i);
	for (int i = 0; i < 256 * LINE; i += LINE)	/* whole lines */
		ASM_AT("movntdq %%xmm0, (%0); movntdq %%xmm0, 16(%0); movntdq %%xmm1, 32(%0); movntdq %%xmm1, 48(%0)",
			p + i);
	for (int i = 0; i < 64 * LINE; i += LINE)	/* lines that the caches have */
		ASM_AT("mov (%0), %%eax; mfence; movntdq %%xmm0, (%0); movntdq %%xmm0, 16(%0); movntdq %%xmm1, 32(%0);"
			"movntdq %%xmm1, 48(%0)", p + i);
	ASM("sfence");
	REPEAT ASM_AT("mov %%eax, (%0); clflush (%0); mov (%0), %%eax; mfence", p + round % 64 * LINE);
}

/* Length-changing prefixes, slow LEAs, copies of registers, partial registers, eight-byte no-operations. */
/* SETBE reads CF of one instruction and ZF of another. */
static void flags(void)
{
	REPEAT ASM("cmp %%eax, %%ecx; inc %%edx; setbe %%al");
}

static void decode(void)
{
	REPEAT ASM(".rept 4; addw $0x1234, %%ax; addw $0x4321, %%cx; .endr");
	REPEAT ASM("lea 5(%%eax,%%ecx,4), %%edx; lea (%%eax,%%ecx), %%edx;"
		".byte 0x0f,0x1f,0x84,0,0,0,0,0; movb $1, %%al;"
		"add %%eax, %%ecx; movb $2, %%ah; add %%eax, %%ecx; bsf %%ecx, %%eax; rcl $3, %%eax; nop");
	REPEAT ASM("mov %%eax, %%ecx; mov %%eax, %%edx; mov %%eax, %%esi; mov %%eax, %%edi; movaps %%xmm0, %%xmm1;"
		"movaps %%xmm0, %%xmm2; movaps %%xmm0, %%xmm3; movaps %%xmm0, %%xmm4; movaps %%xmm0, %%xmm5;"
		"movaps %%xmm0, %%xmm6; movaps %%xmm0, %%xmm7; add $1, %%eax; paddd %%xmm0, %%xmm0");
}

static void strings(void)
{
	REPEAT __asm__ volatile("mov %0, %%ecx; lea %1, %%edi; lea %2, %%esi; rep movsl; mov %0, %%ecx; rep stosl;"
		"mov %0, %%ecx; mov $7, %%eax; lea %1, %%edi; repne scasb"
		:: "i"(100), "m"(area[0]), "m"(area[PAGE]) : "eax", "ecx", "esi", "edi", "cc", "memory");
}

static void segments(void)
{
	REPEAT ASM32("mov %%ds, %%eax; mov %%eax, %%es; push %%es; pop %%es");
}

/* Code that is written and then executed: each call runs what the call before has changed. */
static void self_modifying(void)
{
	uint8_t *code = map(PAGE, PAGE, PROT_READ | PROT_WRITE | PROT_EXEC);
	memcpy(code, "\xb8\x00\x00\x00\x00\xc3", 6);	/* mov $n, %eax; ret */
	volatile int sum = 0;
	for (int i = 0; i < 50; i++) {
		code[1] = (uint8_t)i;
		sum += ((int (*)(void))(uintptr_t)code)();
	}
}

/* Straight code of 256 KB, executed three times: more than L1I, the uop cache and the first-level ITLB hold. */
enum { CODE_BYTES = 256 << 10 };
static uint8_t *long_code;

static void big_code(void)
{
	if (!long_code)
		long_code = map(CODE_BYTES, PAGE, PROT_READ | PROT_WRITE | PROT_EXEC);
	for (int i = 0; i < CODE_BYTES; i += 32) {
		memset(long_code + i, 0x90, 32);
		memcpy(long_code + i + 27, "\xe9\0\0\0\0", 5);	/* jmp to the next 32 bytes */
	}
	long_code[CODE_BYTES - 5] = 0xc3;
	for (int i = 0; i < 3; i++)
		((void (*)(void))(uintptr_t)long_code)();
}

static uint8_t *place(uint8_t *p, size_t page, size_t i) { return p + i * page + i % 64 * LINE; }

/* Makes the TLBs forget other pages. */
static void forget_pages(void)
{
	static uint8_t *p;
	enum { PAGES = 2500 };
	if (!p)
		p = map((size_t)PAGES * PAGE, PAGE, PROT_READ | PROT_WRITE);
	for (size_t i = 0; i < PAGES; i++)
		ASM_AT("mov (%0), %%eax", place(p, PAGE, i));
}

/* Loads, stores and calls in more pages than the TLBs hold: of 4 KB, then of 2 MB. */
static void walk(uint8_t *p, size_t page, size_t pages)
{
	for (size_t i = 0; i < pages; i++)
		*place(p, page, i) = 0xc3;
	for (int t = 0; t < 3; t++) {
		if (t < 2)
			forget_pages();
		for (size_t i = 0; i < pages; i++)
			ASM_AT("mov (%0), %%eax", place(p, page, i));
		if (t < 2)
			forget_pages();
		for (size_t i = 0; i < pages; i++)
			((void (*)(void))(uintptr_t)place(p, page, i))();
		for (size_t i = 0; i < pages; i++)
			ASM_AT("movb $0xc3, 1(%0)", place(p, page, i));
	}
}

static void small_pages(void)
{
	walk(map(300 * PAGE, PAGE, PROT_READ | PROT_WRITE | PROT_EXEC), PAGE, 300);
}

static void large_pages(void)
{
	enum { PAGES = 40 };
	uint8_t *p = map((size_t)PAGES * LARGE, LARGE, PROT_READ | PROT_WRITE | PROT_EXEC);
	madvise(p, (size_t)PAGES * LARGE, MADV_HUGEPAGE);
	walk(p, LARGE, PAGES);
}

/* Stores first to pages in different GB of the address space: with pages of 1 GB, walks for stores. */
static void giant_pages(void)
{
	for (uint64_t gb = 0; sizeof(void *) > 4 && gb < 8; gb++) {
		void *at = (void *)(uintptr_t)((UINT64_C(16) << 40) + (gb << 30));
		uint8_t *p = mmap(at, PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
		if (p != MAP_FAILED)
			*p = 1;
	}
}

/* Random reads of 1 MB and of 8 MB: hits in each level of cache, and misses. */
static void caches(void)
{
	uint8_t *p = map(8 << 20, PAGE, PROT_READ | PROT_WRITE);
	uint32_t at = 0;
	for (int i = 0; i < 8000; i++) {
		at = (draw() + *(volatile uint8_t *)(p + at)) % (i < 4000 ? 1 << 14 : 1 << 17) * LINE;
		if (i & 1)
			p[at]++;
	}
	for (int i = 0; i < 8000; i++)	/* independent reads: many at a time */
		(void)*(volatile uint8_t *)(p + draw() % (1 << 17) * LINE);
}

/* Fills the queue beyond L2: reads of many pages, which L2's prefetchers follow, and then reads of lines that nobody
 * expects, all at once. */
static void queues(void)
{
	enum { STREAMS = 24, FAR = 24 };
	uint8_t *p = map(16 << 20, LARGE, PROT_READ | PROT_WRITE);
	madvise(p, 16 << 20, MADV_HUGEPAGE);	/* no page walks in between */
	for (int from = 0; from < 8 * STREAMS; from += STREAMS)
		for (int line = 0; line < PAGE / LINE; line += 2) {
			const uint32_t at = draw() % (1 << 16) * LINE;
			for (int i = 0; i < STREAMS; i++)
				(void)*(volatile uint8_t *)(p + (from + i) * PAGE + line * LINE);
			for (int i = 0; i < FAR; i++)
				(void)*(volatile uint8_t *)(p + (8 << 20) + at + i * 33 * PAGE);
			ASM("lfence");
		}
}

/* Threads read and write the same lines: clean, modified, falsely shared. */
enum { THREADS = 3, SHARED = 64 };
static pthread_barrier_t meet;

/* Thread 1 reads lines, and then so many others that its core drops them without a word; thread 0 reads and writes
 * them. */
static void stale_lines(uintptr_t me)
{
	enum { LINES = 512, OTHERS = 4 << 20 };
	static uint8_t *lines, *others;
	volatile uint8_t sum = 0;
	if (!me) {
		lines = map(LINES * LINE, PAGE, PROT_READ | PROT_WRITE);
		others = map(OTHERS, PAGE, PROT_READ | PROT_WRITE);
	}
	pthread_barrier_wait(&meet);
	for (int i = 0; me == 1 && i < LINES; i++)
		sum += *(volatile uint8_t *)(lines + i * LINE);
	for (int i = 0; me == 1 && i < OTHERS; i += LINE)
		sum += *(volatile uint8_t *)(others + i);
	pthread_barrier_wait(&meet);
	for (int i = 0; !me && i < LINES; i++)
		if (i % 2)
			sum += *(volatile uint8_t *)(lines + i * LINE);
		else
			lines[i * LINE] = 1;
	pthread_barrier_wait(&meet);
}

/* Thread 0 writes code that thread 1 then runs. */
static void new_code(uintptr_t me)
{
	static uint8_t *code;
	if (!me) {
		code = map(PAGE, PAGE, PROT_READ | PROT_WRITE | PROT_EXEC);
		for (int i = 0; i < PAGE; i += LINE)
			code[i] = 0xc3;	/* ret */
	}
	pthread_barrier_wait(&meet);
	for (int i = 0; me == 1 && i < PAGE; i += LINE)
		((void (*)(void))(uintptr_t)(code + i))();
	pthread_barrier_wait(&meet);
}

static void *share(void *number)
{
	volatile uint32_t *lines = (volatile uint32_t *)area, sum = 0;
	uintptr_t me = (uintptr_t)number;
	stale_lines(me);
	new_code(me);
	if (!me)	/* its core has the end of this code; the others read the code as data */
		big_code();
	pthread_barrier_wait(&meet);
	for (size_t i = 0; me && i < CODE_BYTES; i += LINE)
		sum += *(volatile uint8_t *)&long_code[i];
	for (int round = 0; round < 9; round++) {
		pthread_barrier_wait(&meet);
		if (round % THREADS == (int)me)
			for (int i = 0; i < SHARED; i++)
				lines[i * 16 + me] += me;
		pthread_barrier_wait(&meet);
		for (int i = 0; i < SHARED; i++)
			sum += lines[i * 16];
	}
	for (int i = 0; i < 2000; i++) {	/* no barrier: machine clears for memory ordering */
		lines[16 * (i % 4) + me] = sum;
		sum += lines[16 * (i % 4 ^ 1)] + lines[16 * (i % 4)];
	}
	return NULL;
}

static void threads(void)
{
	pthread_t thread[THREADS];
	pthread_barrier_init(&meet, NULL, THREADS);
	for (uintptr_t i = 1; i < THREADS; i++)
		pthread_create(&thread[i], NULL, share, (void *)i);
	share(NULL);
	for (int i = 1; i < THREADS; i++)
		pthread_join(thread[i], NULL);
}

static const struct { const char *name; void (*run)(void); } stanzas[] = {
	{ "fp_sse", fp_sse }, { "fp_avx", fp_avx }, { "fp_transitions", fp_transitions }, { "x87", x87 },
	{ "mmx", mmx }, { "integer_vector", integer_vector }, { "divide", divide }, { "branches", branches },
	{ "returns", returns },
	{ "splits", splits }, { "forwarding", forwarding }, { "memory_order", memory_order }, { "locks", locks },
	{ "serialise", serialise }, { "prefetches", prefetches }, { "cache_control", cache_control },
	{ "flags", flags }, { "decode", decode }, { "strings", strings }, { "segments", segments },
	{ "self_modifying", self_modifying },
	{ "big_code", big_code }, { "small_pages", small_pages }, { "large_pages", large_pages },
	{ "giant_pages", giant_pages }, { "caches", caches },
	{ "queues", queues }, { "threads", threads },
};

int main(int argc, char **argv)
{
	enum { STANZAS = sizeof stanzas / sizeof *stanzas };
	for (int i = 0; argc < 2 && i < STANZAS; i++)
		stanzas[i].run();
	for (int a = 1; a < argc; a++) {
		int i = 0;
		while (i < STANZAS && strcmp(stanzas[i].name, argv[a]))
			i++;
		if (i == STANZAS) {
			fprintf(stderr, "every_event: no stanza '%s'\n", argv[a]);
			return 1;
		}
		stanzas[i].run();
	}
	return 0;
}
