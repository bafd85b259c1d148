/* SPDX-License-Identifier: GPL-2.0-or-later
 * timed: a program's user-level cycles on this host, without a PMU.
 *
 *   timed [-n RUNS] [-i FILE] -- PROGRAM [ARGUMENTS]	standard input from FILE or /dev/null, output to /dev/null
 *
 * Prints: least cycles of a run, user and kernel; GHz; ms of user level, of the kernel, both of all runs; least and median ms of a run.
 *
 * A run's time is what the scheduler charged the process (user and system together, exact to the ns); its cycles are that times
 * the frequency, which a chain of ADD r64, r64 tells in this process right before and right after, on the same CPU.  The least of all runs
 * counts: who shares the core only adds.  How much of it is user level the kernel samples at its tick: who calls this several times
 * adds that up, so that there are enough ticks.  Left out: children of the program's that it does not wait for. */
#include <fcntl.h>
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { CHAIN = 100, ROUNDS = 2000, TRIES = 8, MOST = 1000 };

static double now(void)
{
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return 1e9 * (double)t.tv_sec + (double)t.tv_nsec;
}

/* GHz: of some runs of the chain the shortest. */
static double frequency(void)
{
	double least = 1e300;
	for (int i = 0; i < TRIES; i++) {
		uint64_t rounds = ROUNDS, a = 1, b = 3;
		double start = now();
		__asm__ volatile(".p2align 6\n1:\n\t.rept 100\n\tadd %1, %0\n\t.endr\n\tdec %2\n\tjnz 1b" : "+r"(a) : "r"(b), "r"(rounds) : "cc");
		double took = now() - start;
		least = took < least ? took : least;
	}
	return (double)CHAIN * ROUNDS / least;
}

static double ms(struct timeval t)
{
	return 1e3 * (double)t.tv_sec + 1e-3 * (double)t.tv_usec;
}

static int by_value(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;
	return (x > y) - (x < y);
}

int main(int argc, char **argv)
{
	static double took[MOST];
	int runs = 20, i = 1, status;
	const char *input = "/dev/null";
	for (; i + 1 < argc && argv[i][0] == '-' && strcmp(argv[i], "--"); i += 2) {
		if (!strcmp(argv[i], "-n"))
			runs = atoi(argv[i + 1]);
		else if (!strcmp(argv[i], "-i"))
			input = argv[i + 1];
		else
			runs = 0;
	}
	i += i < argc && !strcmp(argv[i], "--");
	if (runs < 1 || runs > MOST || i >= argc) {
		fputs("usage: timed [-n RUNS] [-i FILE] -- PROGRAM [ARGUMENTS]\n", stderr);
		return 2;
	}
	cpu_set_t one;
	CPU_ZERO(&one);
	CPU_SET(sched_getcpu(), &one);	/* where we are: the frequency is that CPU's */
	sched_setaffinity(0, sizeof one, &one);
	double least = 1e300, fastest = 0, user = 0, kernel = 0, before = frequency();
	for (int n = 0; n < runs; n++) {
		struct rusage use;
		pid_t pid = fork();
		if (!pid) {
			int in = open(input, O_RDONLY), out = open("/dev/null", O_WRONLY);
			if (in < 0 || out < 0 || dup2(in, 0) < 0 || dup2(out, 1) < 0)
				_exit(126);
			execvp(argv[i], argv + i);
			_exit(127);
		}
		if (pid < 0 || wait4(pid, &status, 0, &use) < 0) {
			perror("timed");
			return 1;
		}
		if (!WIFEXITED(status) || WEXITSTATUS(status) > 1) {
			fprintf(stderr, "timed: %s ended with status %d\n", argv[i], WIFEXITED(status) ? WEXITSTATUS(status) : status);
			return 1;
		}
		double after = frequency(), ghz = after > before ? after : before, all = ms(use.ru_utime) + ms(use.ru_stime);
		before = after;
		user += ms(use.ru_utime);
		kernel += ms(use.ru_stime);
		took[n] = all;
		fastest = ghz > fastest ? ghz : fastest;
		least = all * ghz < least ? all * ghz : least;
	}
	qsort(took, (size_t)runs, sizeof *took, by_value);
	printf("%.0f\t%.3f\t%.2f\t%.2f\t%.2f\t%.2f\n", least * 1e6, fastest, user, kernel, took[0], took[runs / 2]);
	return 0;
}
