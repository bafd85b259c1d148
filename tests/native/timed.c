/* SPDX-License-Identifier: GPL-2.0-or-later
 * timed: a program's user-level cycles on this host, without a PMU.
 *
 *   timed [-n RUNS] [-i FILE] [-r LIBRARY] [-w WIDTH | -m MARKS] -- PROGRAM [ARGUMENTS]
 *			standard input from FILE or /dev/null, output to /dev/null
 * Prints: least cycles of a run, user and kernel; GHz; ms of user level and ms of the kernel, each over all sampled
 * runs; least and median ms of a run; page faults in the run with the least cycles; bytes of heap that the program
 * needs (0: not known); system calls of a run; with -w the mean share of the runs in which the core was shared; with
 * -m the number of segments, and the sum of their second least times divided by the sum of their least ones. Heap and
 * calls are 0 without -r.
 *
 *   timed --width	prints how many NOPs a cycle the core executes at best, for -w
 *
 *   timed --calls N	makes N system calls, the shortest that there are; for what one costs: timed -- timed --calls N
 *
 * The time of a run is what the scheduler charged the process (user and system together, exact to the ns). Its cycles
 * are that time multiplied by the frequency. A chain of ADD r64, r64 in this process measures the frequency right
 * before and right after the run, on the same CPU. The least of all runs counts, because other users of the core only
 * add time.
 *
 * In a virtual machine another guest may run on the same core, as its second hardware thread. NOPs show it: two threads
 * share the core's width. Such times last from some 100 us to seconds, so that no run of 10 ms may be without them.
 * With -w, timed waits before each run until NOPs reach nine tenths of WIDTH, on any CPU that it may use, for at most
 * WAITS ms. While the program runs, timed measures the width every PROBE_US us, on the same CPU. A run of T cycles of
 * which the share d was shared took T = C + k d T. k is the middle of the slopes of all pairs of runs (Theil and Sen),
 * from 0 to MOST_K; C is the middle of T - k d T. C is printed instead of the least run if it is less, and if the core
 * was shared in at most half of the probes. More than that also comes from a program whose instructions lower the
 * frequency, which the probes take for sharing.
 *
 * With -m (and -r) a file of tests/native/marks.c cuts the run into short segments, and the cycles printed are the sum
 * of each segment's least time (segments.c). That needs no stretch of a whole run in which nobody shares the core. Each
 * run goes to the CPU that executes the most NOPs a cycle right before it. The file MARKS.least keeps these times, so
 * further calls of timed lower them. Addresses are the same in each run. Unless more than half of the runs pass the
 * same marks, there are 0 segments, and the cycles are those of the least run.
 *
 * With -r, a first run is traced and counts the system calls, and a second one shows the heap; neither is timed. A
 * virtual machine whose kernel runs in user mode takes thousands of cycles for a system call, and the samples show a
 * part of them as user level. So callers subtract what --calls shows.
 *
 * The share of user level comes from further runs, as many again, which the kernel's cpu-clock interrupts every ms
 * (perf_event_open with a software event, which needs no PMU); the time of these runs does not count. If that is not
 * allowed, the share comes from the kernel's tick, which samples the timed runs every few ms. With 100 ticks a share
 * of 0.6 has a standard error of 0.05, so a caller should add up several calls. Left out: children that the program
 * does not wait for.
 *
 * With -r the program loads build/native/resident.so, which touches its memory before main. Then time, share and page
 * faults are those from main to the end, without what the library leaves out. A program that does not report (linked
 * statically, or one that had children) is measured as a whole. */
#include <fcntl.h>
#include <linux/perf_event.h>
#include <sched.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/personality.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include "resident.h"
#include "segments.h"

enum { CHAIN = 100, ROUNDS = 2000, TRIES = 8, MOST = 400, PERIOD_NS = 1000000, PAGES = 64, NOPS = 1200, BLOCKS = 1000,
	WAITS = 50, WIDTH_TRIES = 4000, PROBE_BLOCKS = 50, PROBE_US = 400 };
#define MOST_K 0.6

static bool fixed_addresses;	/* programs get the same addresses in each run */

/* In the child. */
static void fix_addresses(void)
{
	if (fixed_addresses)
		personality((unsigned long)personality(0xffffffff) | ADDR_NO_RANDOMIZE);
}

static double now(void)
{
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return 1e9 * (double)t.tv_sec + (double)t.tv_nsec;
}

/* What resident.so reports of a run, and the library; fd is -1 without it. */
struct report { struct resident *page; const char *library; int fd; uint64_t heap; };

static bool report_open(struct report *r, const char *library)
{
	r->library = library;
	r->fd = memfd_create("resident", 0);
	if (r->fd < 0 || ftruncate(r->fd, sizeof *r->page))
		return false;
	r->page = mmap(NULL, sizeof *r->page, PROT_READ | PROT_WRITE, MAP_SHARED, r->fd, 0);
	return r->page != MAP_FAILED;
}

/* In the child: what the library finds in its environment. */
static void report_environment(const struct report *r)
{
	char number[24];
	snprintf(number, sizeof number, "%d", r->fd);
	setenv("RESIDENT_FD", number, 1);
	snprintf(number, sizeof number, "%llu", (unsigned long long)r->heap);
	setenv("RESIDENT_HEAP", number, 1);
	setenv("LD_PRELOAD", r->library, 1);
}

/* True if the program's report counts a moment of CLOCK_MONOTONIC, or if there is no report. */
static bool report_counts(const struct resident *page, uint64_t at)
{
	if (!page || !page->ended)
		return true;
	for (uint64_t i = 0; i < page->stretches && i < RESIDENT_STRETCHES; i++)
		if (at >= page->stretch[i].begin && at < page->stretch[i].end)
			return true;
	return false;
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

/* Returns how many NOPs a cycle the core executes now. They have 4 bytes, so that uop caches hold them. */
static double width_of(double ghz, uint64_t blocks)
{
	uint64_t rounds = blocks;
	const double start = now();
	__asm__ volatile(".p2align 6\n1:\n\t.rept 1200\n\tnopl 4(%%rax)\n\t.endr\n\tdec %0\n\tjnz 1b" : "+r"(rounds)
		: : "cc");
	return (double)(NOPS * blocks) / (now() - start) / ghz;
}

static double width(double ghz)
{
	return width_of(ghz, BLOCKS);
}

static void stay_on(int cpu)
{
	cpu_set_t one;
	CPU_ZERO(&one);
	CPU_SET(cpu, &one);
	sched_setaffinity(0, sizeof one, &one);
}

/* Waits until the core executes nine tenths of `full` NOPs a cycle, on one of the CPUs in turn; returns the CPU. */
static int wait_alone(double full, const cpu_set_t *cpus, int cpu)
{
	const double end = now() + 1e6 * WAITS;
	while (width(frequency()) < 0.9 * full && now() < end) {
		do
			cpu = (cpu + 1) % CPU_SETSIZE;
		while (!CPU_ISSET(cpu, cpus));
		stay_on(cpu);
		usleep(1000);
	}
	return cpu;
}

/* Goes to the CPU that executes the most NOPs a cycle now, and returns it. */
static int least_shared(const cpu_set_t *cpus)
{
	double most = 0;
	int best = 0;
	for (int cpu = 0; cpu < CPU_SETSIZE; cpu++) {
		if (!CPU_ISSET(cpu, cpus))
			continue;
		stay_on(cpu);
		const double here = width(frequency());
		best = here > most ? cpu : best;
		most = here > most ? here : most;
	}
	stay_on(best);
	return best;
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
		.sample_type = PERF_SAMPLE_IP | PERF_SAMPLE_TIME, .inherit = 1, .use_clockid = 1,
		.clockid = CLOCK_MONOTONIC };
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

/* Adds the ms in user and in kernel mode that the program's report counts, and closes the sampler. */
static void sampler_close(struct sampler *s, const struct resident *page, double *user, double *kernel)
{
	const uint64_t ms_of = 1000000, size = s->page->data_size, end = __atomic_load_n(&s->page->data_head,
		__ATOMIC_ACQUIRE);
	for (uint64_t at = 0; at < end && end - at <= size;) {
		const struct perf_event_header *h = (const void *)((const char *)s->page + s->page->data_offset +
			at % size);
		const unsigned mode = h->misc & PERF_RECORD_MISC_CPUMODE_MASK;
		const uint64_t *body = (const uint64_t *)(h + 1);	/* IP, time */
		if (h->type != PERF_RECORD_SAMPLE || !report_counts(page, body[1]))
			;
		else if (mode == PERF_RECORD_MISC_USER)
			*user += (double)PERIOD_NS / ms_of;
		else if (mode == PERF_RECORD_MISC_KERNEL)
			*kernel += (double)PERIOD_NS / ms_of;
		at += h->size;
	}
	munmap(s->page, s->bytes);
	close(s->fd);
}

/* How often the core was shared while the program ran; full: NOPs a cycle that it can execute, 0: do not look. */
struct sharing { double full, ghz; long probes, shared; };

/* Waits for the program, and looks at the core's width all the while. Returns as wait4. */
static pid_t wait_and_probe(pid_t pid, int *status, struct rusage *use, struct sharing *sharing)
{
	pid_t ended;
	while ((ended = wait4(pid, status, WNOHANG, use)) == 0) {
		usleep(PROBE_US);
		sharing->shared += width_of(sharing->ghz, PROBE_BLOCKS) < 0.9 * sharing->full;
		sharing->probes++;
	}
	return ended;
}

/* Runs the program, with the sampler if there is one; sets *sampled if it worked. sharing: NULL: do not look. marks:
 * NULL: none. Returns 0, or -1 after it printed a line. */
static int run(char **argv, const char *input, int cpu, const struct report *report, struct sampler *sampler,
	bool *sampled, struct sharing *sharing, struct marks *marks, struct rusage *use)
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
		if (report->fd >= 0)
			report_environment(report);
		fix_addresses();
		execvp(argv[0], argv);
		_exit(127);
	}
	if (report->fd >= 0) {
		memset(report->page, 0, sizeof *report->page);
		report->page->pid = (uint64_t)pid;
	}
	*sampled = pid > 0 && sampler && sampler_open(sampler, pid, cpu);
	if (pid > 0 && marks && !marks_open(marks, pid))
		perror("timed: breakpoints");
	close(ready[0]);
	close(ready[1]);	/* lets the child start */
	if (pid < 0 || (sharing ? wait_and_probe(pid, &status, use, sharing) : wait4(pid, &status, 0, use)) < 0) {
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

/* Runs the program once under ptrace, and counts its system calls; those of its children are left out. Finds where the
 * marks lie when it ends.  Returns -1 if that does not work. */
static long count_calls(char **argv, const char *input, const struct report *report, struct marks *marks)
{
	int status, signal = 0;
	long stops = 0;
	pid_t pid = fork();
	if (!pid) {
		int in = open(input, O_RDONLY), out = open("/dev/null", O_WRONLY);
		if (in < 0 || out < 0 || dup2(in, 0) < 0 || dup2(out, 1) < 0 || dup2(out, 2) < 0)
			_exit(126);
		if (report->fd >= 0)
			report_environment(report);
		fix_addresses();
		ptrace(PTRACE_TRACEME, 0, NULL, NULL);
		execvp(argv[0], argv);
		_exit(127);
	}
	if (pid < 0 || waitpid(pid, &status, 0) < 0 || !WIFSTOPPED(status))
		return -1;
	ptrace(PTRACE_SETOPTIONS, pid, NULL, PTRACE_O_TRACESYSGOOD | PTRACE_O_EXITKILL |
		PTRACE_O_TRACEEXIT);
	while (ptrace(PTRACE_SYSCALL, pid, NULL, signal) == 0 && waitpid(pid, &status, 0) > 0 && WIFSTOPPED(status)) {
		signal = WSTOPSIG(status);
		if (status >> 16 == PTRACE_EVENT_EXIT)
			marks_find(marks, pid);
		if (signal == (SIGTRAP | 0x80)) {
			stops++;
			signal = 0;
		} else if (signal == SIGTRAP)
			signal = 0;
	}
	return stops / 2;	/* one stop at the entry, one at the exit */
}

static int by_value(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;
	return (x > y) - (x < y);
}

/* The middle of n values; changes their order. */
static double middle(double *value, int n)
{
	qsort(value, (size_t)n, sizeof *value, by_value);
	return (value[(n - 1) / 2] + value[n / 2]) / 2;
}

/* The cycles of a run in which nobody shares the core: C of T = C + k d T for the n runs, the least of which took
 * `least`. */
static double alone(const double *cycles, const double *shared, int n, double least)
{
	static double value[MOST * (MOST - 1) / 2];
	int slopes = 0;
	for (int i = 0; i < n; i++)
		for (int j = 0; j < i; j++) {
			const double across = shared[i] * cycles[i] - shared[j] * cycles[j];
			if (across > 0.01 * cycles[i] || -across > 0.01 * cycles[i])
				value[slopes++] = (cycles[i] - cycles[j]) / across;
		}
	const double slope = slopes ? middle(value, slopes) : 0, k = slope < 0 ? 0 : slope > MOST_K ? MOST_K : slope;
	for (int i = 0; i < n; i++)
		value[i] = cycles[i] * (1 - k * shared[i]);
	const double fitted = middle(value, n);
	return fitted < least ? fitted : least;
}

/* What the command line asks for. */
struct options {
	int runs;
	double full;		/* -w */
	const char *input;
	char **program;
	struct report report;
	struct marks marks;	/* -m */
	struct segments segments;
	char kept[4096 + 8];	/* where the segments' times are kept */
};

/* Returns 0, or the status to exit with after it printed a line. */
static int parse(int argc, char **argv, struct options *o)
{
	int i = 1;
	for (; i + 1 < argc && argv[i][0] == '-' && strcmp(argv[i], "--"); i += 2) {
		const char *value = argv[i + 1];
		if (!strcmp(argv[i], "-n")) {
			o->runs = atoi(value);
		} else if (!strcmp(argv[i], "-i")) {
			o->input = value;
		} else if (!strcmp(argv[i], "-w")) {
			o->full = atof(value);
		} else if (!strcmp(argv[i], "-m")) {
			snprintf(o->kept, sizeof o->kept, "%s.least", value);
			if (!marks_read(&o->marks, value) || !segments_resume(&o->segments, o->kept))
				return 1;
			fixed_addresses = true;
		} else if (!strcmp(argv[i], "-r") && o->report.fd < 0) {
			if (!report_open(&o->report, value)) {
				perror("timed: the report of resident.so");
				return 1;
			}
		} else {
			o->runs = 0;
		}
	}
	i += i < argc && !strcmp(argv[i], "--");
	o->program = argv + i;
	if (o->runs < 1 || o->runs > MOST || i >= argc || (fixed_addresses && (o->report.fd < 0 || o->full > 0))) {
		fputs("usage: timed [-n RUNS] [-i FILE] [-r LIBRARY] [-w WIDTH | -m MARKS] -- PROGRAM [ARGUMENTS]\n",
			stderr);
		return 2;
	}
	return 0;
}

/* Before the runs that count: how many system calls the program makes, where its marks lie, and how much heap it
 * needs. Returns the calls, or -1 after it printed a line. */
static long prepare(struct options *o, int cpu)
{
	struct rusage use;
	bool sampled;
	const long calls = count_calls(o->program, o->input, &o->report, &o->marks);
	if (calls < 0) {
		fprintf(stderr, "timed: %s cannot be traced by ptrace\n", o->program[0]);
		return -1;
	}
	if (run(o->program, o->input, cpu, &o->report, NULL, &sampled, NULL, NULL, &use))
		return -1;
	o->report.heap = o->report.page->heap;
	return calls;
}

static int special(const char *what, const char *number)
{
	double best = 0;
	for (long n = number ? atol(number) : 0; n > 0; n--)
		syscall(SYS_getppid);
	for (int n = 0; n < WIDTH_TRIES && !strcmp(what, "--width"); n++) {
		const double one = width(frequency());
		best = one > best ? one : best;
	}
	if (best > 0)
		printf("%.2f\n", best);
	return 0;
}

int main(int argc, char **argv)
{
	static double took[MOST], cycles[MOST], shared[MOST];
	static struct options o = { .runs = 20, .input = "/dev/null", .report.fd = -1 };
	double share = 0;
	if ((argc == 2 && !strcmp(argv[1], "--width")) || (argc == 3 && !strcmp(argv[1], "--calls")))
		return special(argv[1], argv[2]);
	const int wrong = parse(argc, argv, &o), runs = o.runs;
	if (wrong)
		return wrong;
	cpu_set_t cpus;
	int cpu = sched_getcpu();
	sched_getaffinity(0, sizeof cpus, &cpus);
	stay_on(cpu);	/* the frequency is this CPU's */
	double least = 1e300, fastest = 0, user = 0, kernel = 0, sampled_user = 0, sampled_kernel = 0;
	uint64_t faults = 0;
	struct rusage use;
	bool sampled;
	if (o.marks.count && !marks_cost(&o.marks)) {
		perror("timed: breakpoints");
		return 1;
	}
	const long calls = o.report.fd >= 0 ? prepare(&o, cpu) : 0;
	if (calls < 0)
		return 1;
	for (int n = 0; n < runs; n++) {
		struct sampler sampler;
		if (run(o.program, o.input, cpu, &o.report, &sampler, &sampled, NULL, NULL, &use))
			return 1;
		if (sampled)
			sampler_close(&sampler, o.report.page, &sampled_user, &sampled_kernel);
		if (o.full > 0)
			cpu = wait_alone(o.full, &cpus, cpu);
		else if (o.marks.count)
			cpu = least_shared(&cpus);
		double before = frequency();
		struct sharing sharing = { .full = o.full, .ghz = before };
		if (run(o.program, o.input, cpu, &o.report, NULL, &sampled, o.full > 0 ? &sharing : NULL,
			o.marks.count ? &o.marks : NULL, &use))
			return 1;
		const bool reported = o.report.fd >= 0 && o.report.page->ended;
		double after = frequency(), ghz = after > before ? after : before,
			all = reported ? 1e-6 * (double)o.report.page->cpu_ns : ms(use.ru_utime) + ms(use.ru_stime);
		if (o.marks.count) {
			segments_add(&o.segments, &o.marks, o.report.page, ghz);
			marks_close(&o.marks);
		}
		user += ms(use.ru_utime);
		kernel += ms(use.ru_stime);
		took[n] = all;
		fastest = ghz > fastest ? ghz : fastest;
		cycles[n] = all * ghz;
		shared[n] = sharing.probes ? (double)sharing.shared / (double)sharing.probes : 0;
		share += shared[n] / runs;
		if (all * ghz < least) {
			least = all * ghz;
			faults = reported ? o.report.page->faults : (uint64_t)(use.ru_minflt + use.ru_majflt);
		}
	}
	if (sampled_user > 0) {
		user = sampled_user;
		kernel = sampled_kernel;
	}
	if (o.marks.count && !segments_keep(&o.segments, o.kept))
		return 1;
	qsort(took, (size_t)runs, sizeof *took, by_value);
	if (o.full > 0 && share <= 0.5)
		least = alone(cycles, shared, runs, least);
	double cut = 0, second = 0;
	if (o.segments.runs > o.segments.others)
		segments_sum(&o.segments, &cut, &second);
	printf("%.0f\t%.3f\t%.2f\t%.2f\t%.2f\t%.2f\t%llu\t%llu\t%ld\t%.3f\t%zu\t%.3f\n",
		cut > 0 ? cut : least * 1e6, fastest, user, kernel, took[0], took[runs / 2],
		(unsigned long long)faults, (unsigned long long)o.report.heap, calls, share,
		cut > 0 ? o.segments.count : 0, cut > 0 && o.segments.runs > 1 ? second / cut : 0);
	return 0;
}
