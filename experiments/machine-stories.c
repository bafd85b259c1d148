/* SPDX-License-Identifier: GPL-2.0-or-later
 * Programs whose time goes where no tool of user mode looks: machine-stories NAME, one of
 *   calls       about half of its time in short system calls (reads of a byte of /dev/zero), half in a loop of its own
 *   switches    two processes that pass a byte to and fro through pipes
 *   faults      maps, touches and unmaps 512 pages, again and again
 *   interrupts  a loop of its own under an interval timer of 20,000 signals a second
 *   walk        one load of each line of an array, whose first and last address it prints: for data addresses
 */
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <fcntl.h>
#include <unistd.h>

static volatile uint64_t sum;
static volatile unsigned ticks;

static void work(unsigned n)
{
	uint64_t s = sum;
	for (unsigned i = 0; i < n; i++)
		s = s * 6364136223846793005u + i;
	sum = s;
}

static int calls(void)
{
	char byte;
	const int fd = open("/dev/zero", O_RDONLY);
	for (unsigned i = 0; i < 3000; i++) {
		if (read(fd, &byte, 1) != 1)
			return 1;
		work(200);
	}
	return 0;
}

static int switches(void)
{
	int there[2], back[2];
	char byte = 0;
	if (pipe(there) || pipe(back))
		return 1;
	const pid_t child = fork();
	for (unsigned i = 0; i < 1000; i++) {
		if (child ? write(there[1], &byte, 1) != 1 || read(back[0], &byte, 1) != 1
			: read(there[0], &byte, 1) != 1 || write(back[1], &byte, 1) != 1)
			return 1;
	}
	if (child)
		waitpid(child, NULL, 0);
	return 0;
}

static int faults(void)
{
	enum { PAGES = 512, PAGE = 4096 };
	for (unsigned i = 0; i < 8; i++) {
		char *p = mmap(NULL, PAGES * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
		if (p == MAP_FAILED)
			return 1;
		for (unsigned k = 0; k < PAGES; k++)
			p[k * PAGE] = 1;
		munmap(p, PAGES * PAGE);
	}
	return 0;
}

static void on_tick(int signal)
{
	(void)signal;
	ticks++;
}

static int interrupts(void)
{
	const struct itimerval each = { { 0, 50 }, { 0, 50 } };
	signal(SIGALRM, on_tick);
	if (setitimer(ITIMER_REAL, &each, NULL))
		return 1;
	while (ticks < 200)
		work(1000);
	return 0;
}

static int walk(void)
{
	static volatile char array[1 << 20];
	uint64_t s = 0;
	for (unsigned k = 0; k < 4; k++)
		for (size_t i = 0; i < sizeof array; i += 64)
			s += (uint64_t)array[i];
	sum = s;
	printf("%p %p\n", (const void *)array, (const void *)(array + sizeof array - 1));
	return 0;
}

int main(int argc, char **argv)
{
	static const struct { const char *name; int (*run)(void); } story[] = {
		{ "calls", calls }, { "switches", switches }, { "faults", faults }, { "interrupts", interrupts },
		{ "walk", walk },
	};
	for (size_t i = 0; argc == 2 && i < sizeof story / sizeof *story; i++)
		if (!strcmp(argv[1], story[i].name))
			return story[i].run();
	fprintf(stderr, "machine-stories calls | switches | faults | interrupts | walk\n");
	return 2;
}
