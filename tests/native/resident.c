/* SPDX-License-Identifier: GPL-2.0-or-later
 * resident.so: makes a program's memory resident before the program needs it, and takes its time without that.
 *
 * Loaded by LD_PRELOAD, of timed (natively) and of real.sh (under the model, so that both run the same code).
 * On a virtual machine with shadow page tables the first access to a page takes 5.5 us where the guest has mapped it,
 * and 12 us where it has not (experiments/first-touch.c; the PVM of a Zen 5 host). The interrupts of cpu-clock see a
 * part of that as user mode. So page faults would drown the cycles of many programs.
 *
 * Before main, each page is written or read once: of the heap (RESIDENT_HEAP bytes, which malloc then hands out), of
 * the stack's first 256 KB, and of the segments of all objects.  malloc neither maps blocks of their own nor gives
 * memory back.  What mmap, mremap, mprotect and sbrk make writable is touched at once; that time does not count.
 *
 * RESIDENT_FD: a file of struct resident, which timed reads; without it nothing is reported. */
#include "resident.h"
#include <dlfcn.h>
#include <link.h>
#include <malloc.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum { PAGE = 4096, STACK = 256 << 10 };
static const size_t most = 32 << 20;	/* larger mappings are reserved rather than used: they are not touched */

static struct resident *report;
static char *heap_begin;
static unsigned depth;

static uint64_t ns(clockid_t clock)
{
	struct timespec t;
	clock_gettime(clock, &t);
	return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

static uint64_t faults(void)
{
	struct rusage use;
	getrusage(RUSAGE_SELF, &use);
	return (uint64_t)(use.ru_minflt + use.ru_majflt);
}

/* False in a child that this process forked, too. */
static bool mine(void)
{
	return report && report->pid == (uint64_t)getpid();
}

/* What happens between leave and enter does not count. */
static void leave(void)
{
	if (!mine() || depth++)
		return;
	report->cpu_ns += ns(CLOCK_PROCESS_CPUTIME_ID) - report->entered_cpu;
	report->faults += faults() - report->entered_faults;
	uint64_t n = report->stretches;
	if (n < RESIDENT_STRETCHES) {
		report->stretch[n].begin = report->entered;
		report->stretch[n].end = ns(CLOCK_MONOTONIC);
	}
	report->stretches++;
}

static void enter(void)
{
	if (!mine() || --depth)
		return;
	report->entered = ns(CLOCK_MONOTONIC);
	report->entered_faults = faults();
	report->entered_cpu = ns(CLOCK_PROCESS_CPUTIME_ID);
}

static void touch(void *at, size_t bytes, bool write)
{
	if (bytes > most)
		return;
	for (char *p = (char *)((uintptr_t)at & -PAGE), *end = (char *)at + bytes; p < end; p += PAGE)
		if (write)
			__atomic_fetch_add((int *)p, 0, __ATOMIC_RELAXED);
		else
			__atomic_load_n((int *)p, __ATOMIC_RELAXED);
}

static int object(struct dl_phdr_info *o, size_t size, void *data)
{
	uintptr_t relro = 0, relro_end = 0;
	(void)size, (void)data;
	for (int i = 0; i < o->dlpi_phnum; i++)
		if (o->dlpi_phdr[i].p_type == PT_GNU_RELRO) {
			relro = o->dlpi_addr + o->dlpi_phdr[i].p_vaddr;
			relro_end = (relro + o->dlpi_phdr[i].p_memsz) & -PAGE;
		}
	for (int i = 0; i < o->dlpi_phnum; i++) {
		const ElfW(Phdr) *h = &o->dlpi_phdr[i];
		uintptr_t from = o->dlpi_addr + h->p_vaddr, to = from + h->p_memsz;
		if (h->p_type != PT_LOAD || !(h->p_flags & PF_R) || to - from > 2 * most)
			continue;
		if (!(h->p_flags & PF_W)) {
			for (uintptr_t at = from; at < to; at += PAGE)
				touch((void *)at, 1, false);
			continue;
		}
		for (uintptr_t at = from & -PAGE; at < to; at += PAGE)
			touch((void *)at, 1, at < (relro & -PAGE) || at >= relro_end);
	}
	return 0;
}

static void __attribute__((noinline)) touch_stack(void)
{
	volatile char room[STACK];
	for (size_t i = sizeof room; i > PAGE; i -= PAGE)
		room[i - 1] = 0;
}

static void __attribute__((constructor)) begin(void)
{
	const char *fd = getenv("RESIDENT_FD"), *bytes = getenv("RESIDENT_HEAP");
	struct resident *r = fd ? mmap(NULL, sizeof *r, PROT_READ | PROT_WRITE, MAP_SHARED, atoi(fd), 0) : MAP_FAILED;
	mallopt(M_MMAP_MAX, 0);
	mallopt(M_TRIM_THRESHOLD, -1);
	heap_begin = sbrk(0);
	size_t n = bytes ? strtoul(bytes, NULL, 10) : 0;
	char *heap = n ? malloc(n) : NULL;
	if (heap)
		for (size_t at = 0; at < n; at += most)
			touch(heap + at, n - at < most ? n - at : most, true);
	free(heap);
	touch_stack();
	dl_iterate_phdr(object, NULL);
	if (r == MAP_FAILED || r->pid != (uint64_t)getpid())
		return;
	touch(r, sizeof *r, true);
	report = r;
	depth = 1;
	enter();
}

static void __attribute__((destructor)) end(void)
{
	struct rusage children;
	if (!mine() || report->ended || getrusage(RUSAGE_CHILDREN, &children) || children.ru_maxrss)
		return;		/* the time of children counts, and is not known here */
	depth = 0;
	leave();
	report->heap = (uint64_t)((char *)sbrk(0) - heap_begin);
	report->ended = 1;
}

#define REAL(type, name, ...) \
	static type (*real)(__VA_ARGS__); \
	if (!real) \
		real = (type (*)(__VA_ARGS__))dlsym(RTLD_NEXT, name)

void *mmap(void *at, size_t bytes, int protection, int flags, int fd, off_t offset)
{
	REAL(void *, "mmap", void *, size_t, int, int, int, off_t);
	leave();
	void *p = real(at, bytes, protection, flags, fd, offset);
	struct stat file = { 0 };
	if (p == MAP_FAILED || !(protection & PROT_READ))
		;
	else if (flags & MAP_ANONYMOUS)
		touch(p, bytes, protection & PROT_WRITE);
	else if (!fstat(fd, &file) && file.st_size > offset)	/* behind the file's end are no pages */
		touch(p, bytes < (size_t)(file.st_size - offset) ? bytes : (size_t)(file.st_size - offset),
			protection & PROT_WRITE);
	enter();
	return p;
}

void *mmap64(void *at, size_t bytes, int protection, int flags, int fd, off_t offset)
{
	return mmap(at, bytes, protection, flags, fd, offset);
}

void *mremap(void *old, size_t before, size_t bytes, int flags, ...)
{
	REAL(void *, "mremap", void *, size_t, size_t, int, ...);
	va_list list;
	va_start(list, flags);
	void *to = flags & MREMAP_FIXED ? va_arg(list, void *) : NULL;
	va_end(list);
	leave();
	void *p = real(old, before, bytes, flags, to);
	enter();
	return p;
}

int mprotect(void *at, size_t bytes, int protection)
{
	REAL(int, "mprotect", void *, size_t, int);
	leave();
	int outcome = real(at, bytes, protection);
	if (!outcome && protection & PROT_READ && protection & PROT_WRITE)
		touch(at, bytes, true);
	enter();
	return outcome;
}

int munmap(void *at, size_t bytes)
{
	REAL(int, "munmap", void *, size_t);
	leave();
	int outcome = real(at, bytes);
	enter();
	return outcome;
}

void *sbrk(intptr_t more)
{
	REAL(void *, "sbrk", intptr_t);
	if (!more)
		return real(0);
	leave();
	void *p = real(more);
	if (p != (void *)-1 && more > 0)
		touch(p, (size_t)more, true);
	enter();
	return p;
}

void _exit(int status)
{
	REAL(void, "_exit", int);
	end();
	real(status);
	__builtin_unreachable();
}

void _Exit(int status)
{
	_exit(status);
}
