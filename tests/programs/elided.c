/* SPDX-License-Identifier: GPL-2.0-or-later
 * Critical sections with elided locks (XACQUIRE, XRELEASE): so many of one kind.  tests/system/stat/elision.sh knows
 * what becomes of them.
 *
 *	elided commit|pause|cpuid|syscall|x87|mmx|flush|capacity|nested|store|reach|wrong|vzeroupper|rtm N
 *	elided all N		N sections of each kind, then as shared
 *	elided apart N		two threads, N sections each, which write lines of their own
 *	elided shared N	N sections, and another thread that writes their line
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Locks and data on lines of their own. */
static struct { _Alignas(128) volatile int word; } lock, other;
static struct { _Alignas(128) volatile int word; } datum[2];
enum { LARGE = 128 << 10 };
static _Alignas(4096) volatile char large[LARGE];

static inline int acquire(volatile int *l)
{
	int was = 1;
	__asm__ volatile("xacquire xchg %0, %1" : "+r"(was), "+m"(*l) : : "memory");
	return was;
}
static inline void release(volatile int *l)
{
	__asm__ volatile("xrelease movl $0, %0" : "=m"(*l) : : "memory");
}
static void enter(volatile int *l)
{
	while (acquire(l))
		while (*l)
			__asm__ volatile("pause");
}

static int touch;		/* sections of each thread */
static void *sections(void *which)
{
	volatile int *d = which;
	for (int i = 0; i < touch; i++) {
		enter(&lock.word);
		for (int k = 0; k < 20; k++)
			++*d;
		release(&lock.word);
		for (volatile int k = 0; k < 10; k++)
			;
	}
	return NULL;
}

/* Writes the line of `sections`, and takes no lock. */
static volatile int running, stop;
static void *writes(void *which)
{
	volatile int *d = which;
	for (running = 1; !stop; ++d[1])
		;
	return NULL;
}

static int threads(const char *kind, int n)
{
	const int shared = !strcmp(kind, "shared");
	pthread_t t;
	touch = n;
	if (pthread_create(&t, NULL, shared ? writes : sections, (void *)&datum[!shared].word))
		return 1;
	while (shared && !running)
		;
	sections((void *)&datum[0].word);
	stop = 1;
	pthread_join(t, NULL);
	return 0;
}

static void region(const char *kind, int i)
{
	unsigned a = 0, b, c = 0, d;
	long r;
	switch (*kind) {
	case 'c':
		if (kind[1] == 'p')
			__asm__ volatile("cpuid" : "+a"(a), "=b"(b), "+c"(c), "=d"(d));
		else if (kind[1] == 'a')
			for (int k = 0; k < LARGE; k += 64)
				large[k] = (char)i;
		break;
	case 'p': __asm__ volatile("pause"); break;
	case 's':
		if (kind[1] == 't')
			lock.word = 1;
		else
			__asm__ volatile("syscall" : "=a"(r) : "0"(39L) : "rcx", "r11", "memory");	/* getpid */
		break;
	case 'x': __asm__ volatile("fld1\n\tfstp %%st(0)" : : : "st"); break;
	case 'm': __asm__ volatile("movq %%mm0, %%mm1\n\temms" : : : "mm0", "mm1"); break;
	case 'f': __asm__ volatile("clflush %0" : : "m"(large[0])); break;
	case 'n': enter(&other.word); release(&other.word); break;
	case 'r':
		if (kind[1] == 'e')
			__asm__ volatile("movq %1, %0" : "=r"(r) : "m"(lock.word));
		else
			__asm__ volatile("xbegin 1f\n1:" : : : "eax", "memory");
		break;
	case 'w': release(&other.word); break;
	case 'v': __asm__ volatile("vzeroupper"); break;
	}
	datum[0].word += i;
}

int main(int argc, char **argv)
{
	if (argc != 3)
		return 2;
	const char *kind = argv[1];
	const int n = atoi(argv[2]);
	if (!strcmp(kind, "shared") || !strcmp(kind, "apart"))
		return threads(kind, n);
	static const char *const all[] = {
		"commit", "pause", "capacity", "nested", "store", "reach", "wrong", "vzeroupper"
	};
	const int kinds = strcmp(kind, "all") ? 1 : (int)(sizeof all / sizeof *all);
	for (int k = 0; k < kinds; k++)
		for (int i = 0; i < n; i++) {
			enter(&lock.word);
			region(kinds > 1 ? all[k] : kind, i);
			release(&lock.word);
		}
	return kinds > 1 ? threads("shared", n) : 0;
}
