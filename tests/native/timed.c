/* SPDX-License-Identifier: GPL-2.0-or-later
 * timed: a program's user-level cycles on this host, without a PMU.
 *
 *   timed [-n RUNS] [-i FILE] -- PROGRAM [ARGUMENTS]	standard input from FILE or /dev/null, output to /dev/null
 *
 * Prints: least cycles of a run, user and kernel; GHz; ms of user level and ms of the kernel, each over all sampled
 * runs; least and median ms of a run.
 *
 * The time of a run is what the scheduler charged the process (user and system together, exact to the ns). Its cycles
 * are that time multiplied by the frequency. A chain of ADD r64, r64 in this process measures the frequency right
 * before and right after the run, on the same CPU. The least of all runs counts, because other users of the core only
 * add time.
 *
 * The share of user level comes from further runs, as many again, which the kernel's cpu-clock interrupts every 100 us
 * (perf_event_open with a software event, which needs no PMU); the time of these runs does not count. If that is not
 * allowed, the share comes from the kernel's tick, which samples the timed runs every few ms. With 100 ticks a share
 * of 0.6 has a standard error of 0.05, so a caller should add up several calls. Left out: children that the program
 * does not wait for. */
#include <fcntl.h>
#include <linux/perf_event.h>
#include <sched.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { CHAIN = 100, ROUNDS = 2000, TRIES = 8, MOST = 1000, PERIOD_NS = 100000, PAGES = 64 };

static double now(void)
{
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return 1e9 * (double)t.tv_sec + (double)t.tv_nsec;
}

/* Returns the frequency in GHz, from the shortest of several runs of the chain. */
static double frequency(void)
{
	double least = 1e300;
	for (int i = 0; i < TRIES; i++) {
		uint64_t rounds = ROUNDS, a = 1, b = 3;
		double start = now();
		__asm__ volatile(".p2align 6\n1:\n\t.rept 100\n\tadd %1, %0\n\t.endr\n\tdec %2\n\tjnz 1b" : "+r"(a)
			: "r"(b), "r"(rounds) : "cc");
		double took = now() - start;
		least = took < least ? took : least;
	}
	return (double)CHAIN * ROUNDS / least;
}

static double ms(struct timeval t)
{
	return 1e3 * (double)t.tv_sec + 1e-3 * (double)t.tv_usec;
}

/* Samples of cpu-clock for a process and its children on one CPU. */
struct sampler { int fd; struct perf_event_mmap_page *page; size_t bytes; };

static bool sampler_open(struct sampler *s, pid_t pid, int cpu)
{
	struct perf_event_attr attr = { .type = PERF_TYPE_SOFTWARE, .size = sizeof attr,
		.config = PERF_COUNT_SW_CPU_CLOCK, .sample_period = PERIOD_NS,
		.sample_type = PERF_SAMPLE_IP, .inherit = 1 };
	s->fd = (int)syscall(SYS_perf_event_open, &attr, pid, cpu, -1, PERF_FLAG_FD_CLOEXEC);
	if (s->fd < 0)
		return false;
	s->bytes = (1 + PAGES) * (size_t)sysconf(_SC_PAGESIZE);
	s->page = mmap(NULL, s->bytes, PROT_READ | PROT_WRITE, MAP_SHARED, s->fd, 0);
	if (s->page == MAP_FAILED) {
		close(s->fd);
		return false;
	}
	return true;
}

/* Adds the ms in user and in kernel mode, and closes the sampler. */
static void sampler_close(struct sampler *s, double *user, double *kernel)
{
	const uint64_t ms_of = 1000000, size = s->page->data_size, end = __atomic_load_n(&s->page->data_head,
		__ATOMIC_ACQUIRE);
	for (uint64_t at = 0; at < end && end - at <= size;) {
		const struct perf_event_header *h = (const void *)((const char *)s->page + s->page->data_offset +
			at % size);
		const unsigned mode = h->misc & PERF_RECORD_MISC_CPUMODE_MASK;
		if (h->type == PERF_RECORD_SAMPLE && mode == PERF_RECORD_MISC_USER)
			*user += (double)PERIOD_NS / ms_of;
		else if (h->type == PERF_RECORD_SAMPLE && mode == PERF_RECORD_MISC_KERNEL)
			*kernel += (double)PERIOD_NS / ms_of;
		at += h->size;
	}
	munmap(s->page, s->bytes);
	close(s->fd);
}

/* Runs the program, with the sampler if there is one; sets *sampled if it worked. Returns 0, or -1 after it printed a
 * line. */
static int run(char **argv, const char *input, int cpu, struct sampler *sampler, bool *sampled, struct rusage *use)
{
	int status, ready[2];
	if (pipe(ready)) {
		perror("timed");
		return -1;
	}
	pid_t pid = fork();
	if (!pid) {
		char c;
		int in = open(input, O_RDONLY), out = open("/dev/null", O_WRONLY);
		close(ready[1]);
		if (read(ready[0], &c, 1) != 0 || in < 0 || out < 0 || dup2(in, 0) < 0 || dup2(out, 1) < 0)
			_exit(126);
		close(ready[0]);
		execvp(argv[0], argv);
		_exit(127);
	}
	*sampled = pid > 0 && sampler && sampler_open(sampler, pid, cpu);
	close(ready[0]);
	close(ready[1]);	/* lets the child start */
	if (pid < 0 || wait4(pid, &status, 0, use) < 0) {
		perror("timed");
		return -1;
	}
	if (!WIFEXITED(status) || WEXITSTATUS(status) > 1) {
		fprintf(stderr, "timed: %s ended with status %d\n", argv[0], WIFEXITED(status) ? WEXITSTATUS(status)
			: status);
		return -1;
	}
	return 0;
}

static int by_value(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;
	return (x > y) - (x < y);
}

int main(int argc, char **argv)
{
	static double took[MOST];
	int runs = 20, i = 1;
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
	int cpu = sched_getcpu();
	CPU_ZERO(&one);
	CPU_SET(cpu, &one);	/* stay on this CPU: the frequency is this CPU's */
	sched_setaffinity(0, sizeof one, &one);
	double least = 1e300, fastest = 0, user = 0, kernel = 0, sampled_user = 0, sampled_kernel = 0;
	for (int n = 0; n < runs; n++) {
		struct sampler sampler;
		struct rusage use;
		bool sampled;
		if (run(argv + i, input, cpu, &sampler, &sampled, &use))
			return 1;
		if (sampled)
			sampler_close(&sampler, &sampled_user, &sampled_kernel);
		double before = frequency();
		if (run(argv + i, input, cpu, NULL, &sampled, &use))
			return 1;
		double after = frequency(), ghz = after > before ? after : before,
			all = ms(use.ru_utime) + ms(use.ru_stime);
		user += ms(use.ru_utime);
		kernel += ms(use.ru_stime);
		took[n] = all;
		fastest = ghz > fastest ? ghz : fastest;
		least = all * ghz < least ? all * ghz : least;
	}
	if (sampled_user > 0) {
		user = sampled_user;
		kernel = sampled_kernel;
	}
	qsort(took, (size_t)runs, sizeof *took, by_value);
	printf("%.0f\t%.3f\t%.2f\t%.2f\t%.2f\t%.2f\n", least * 1e6, fastest, user, kernel, took[0], took[runs / 2]);
	return 0;
}
