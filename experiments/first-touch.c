/* SPDX-License-Identifier: GPL-2.0-or-later
 * What the first access to a page, and a system call, take on this host: ns of the thread's time.
 *   cc -O2 -o first-touch experiments/first-touch.c && ./first-touch
 * Each row is the least of 5 rounds over 16 MB.  With shadow page tables, the first access to a page that the guest has
 * mapped already (second row) takes far longer than the second access: the hypervisor has not mapped the page yet. */
#include <stdio.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum { PAGES = 4096, PAGE = 4096, CALLS = 100000, ROUNDS = 5 };

static double ns(void)
{
	struct timespec t;
	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return 1e9 * (double)t.tv_sec + (double)t.tv_nsec;
}

static double touch(volatile char *p)
{
	double from = ns();
	for (int i = 0; i < PAGES; i++)
		p[i * PAGE] = 1;
	return (ns() - from) / PAGES;
}

static void least(double *a, double b)
{
	*a = b < *a ? b : *a;
}

int main(void)
{
	double fresh = 1e9, mapped = 1e9, again = 1e9, call = 1e9;
	for (int round = 0; round < ROUNDS; round++) {
		for (int populate = 0; populate < 2; populate++) {
			char *p = mmap(NULL, PAGES * PAGE, PROT_READ | PROT_WRITE,
				MAP_PRIVATE | MAP_ANONYMOUS | (populate ? MAP_POPULATE : 0), -1, 0);
			if (p == MAP_FAILED) {
				perror("first-touch");
				return 1;
			}
			least(populate ? &mapped : &fresh, touch(p));
			least(&again, touch(p));
			munmap(p, PAGES * PAGE);
		}
		double from = ns();
		for (int i = 0; i < CALLS; i++)
			syscall(SYS_getppid);
		least(&call, (ns() - from) / CALLS);
	}
	printf("first access to a page that is not mapped  %8.0f ns\n"
		"first access to a page that is (populated) %8.0f ns\n"
		"second access                              %8.0f ns\n"
		"system call (getppid)                      %8.0f ns\n", fresh, mapped, again, call);
	return 0;
}
