/* SPDX-License-Identifier: GPL-2.0-or-later
 * The least time of each segment of a program's run (segments.h).
 *
 * A breakpoint event of the kernel takes the time whenever the program executes an instruction. The program does the
 * same in each run, so the n-th segment is the same work, and its least time of many runs is the one in which nobody
 * shared the core. A segment of 100 us has such a run soon where a whole run of 20 ms has none. */
#include "segments.h"
#include <linux/hw_breakpoint.h>
#include <linux/perf_event.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum { PAGE = 4096, PAGES = 64, TRIES = 2000, CHAIN = 200 };
#define ROOM ((1 + PAGES) * (size_t)PAGE)

bool marks_read(struct marks *m, const char *path)
{
	FILE *f = fopen(path, "r");
	if (!f) {
		fprintf(stderr, "timed: %s cannot be read\n", path);
		return false;
	}
	for (m->count = 0; m->count < MOST_MARKS && !feof(f); m->count++)
		if (fscanf(f, "%lx\t%*u\t%4095[^\n]\n", &m->at[m->count].offset, m->at[m->count].path) != 2)
			break;
	const bool good = m->count && feof(f);
	fclose(f);
	if (!good)
		fprintf(stderr, "timed: %s is not a file of marks\n", path);
	return good;
}

static bool open_at(struct marks *m, int n, unsigned long addr, pid_t pid)
{
	struct perf_event_attr attr = { .type = PERF_TYPE_BREAKPOINT, .size = sizeof attr, .sample_period = 1,
		.sample_type = PERF_SAMPLE_TIME, .bp_type = HW_BREAKPOINT_X, .bp_addr = addr, .bp_len = sizeof(long),
		.exclude_kernel = 1, .exclude_hv = 1, .use_clockid = 1, .clockid = CLOCK_MONOTONIC };
	const int fd = (int)syscall(SYS_perf_event_open, &attr, pid, -1, -1, PERF_FLAG_FD_CLOEXEC);
	void *page = fd < 0 ? MAP_FAILED : mmap(NULL, ROOM, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (page == MAP_FAILED) {
		if (fd >= 0)
			close(fd);
		return false;
	}
	m->event[n].fd = fd;
	m->event[n].page = page;
	return true;
}

void marks_close(struct marks *m)
{
	for (int n = 0; n < m->count; n++)
		if (m->event[n].page) {
			munmap(m->event[n].page, ROOM);
			close(m->event[n].fd);
			m->event[n].page = NULL;
		}
}

bool marks_open(struct marks *m, pid_t pid)
{
	for (int n = 0; n < m->count; n++)
		if (m->at[n].found && !open_at(m, n, m->at[n].addr, pid)) {
			marks_close(m);
			return false;
		}
	return true;
}

static void __attribute__((noinline)) passed(void)
{
	__asm__ volatile("nop");
}

static double chain(void)
{
	struct timespec from, to;
	clock_gettime(CLOCK_MONOTONIC, &from);
	for (int i = 0; i < 2; i++) {
		for (unsigned long n = CHAIN, a = 1; n; n--)
			__asm__ volatile(".rept 100\n\tadd %0, %0\n\t.endr" : "+r"(a));
		if (!i)
			passed();
	}
	clock_gettime(CLOCK_MONOTONIC, &to);
	return 1e9 * (double)(to.tv_sec - from.tv_sec) + (double)(to.tv_nsec - from.tv_nsec);
}

static double least_chain(void)
{
	double least = 1e300;
	for (int i = 0; i < TRIES; i++) {
		const double one = chain();
		least = one < least ? one : least;
	}
	return least;
}

/* The least time of a chain with a breakpoint in it, less that of the chain alone. */
bool marks_cost(struct marks *m)
{
	struct marks own = { .count = 1 };
	own.at[0].found = true;
	own.at[0].addr = (unsigned long)passed;
	const double without = least_chain();
	if (!marks_open(&own, 0))
		return false;
	m->cost_ns = least_chain() - without;
	marks_close(&own);
	return true;
}

void marks_find(struct marks *m, pid_t pid)
{
	char name[64], line[4096 + 200], path[4096];
	snprintf(name, sizeof name, "/proc/%d/maps", (int)pid);
	FILE *f = fopen(name, "r");
	while (f && fgets(line, sizeof line, f)) {
		unsigned long from, to, offset;
		char may[8];
		if (sscanf(line, "%lx-%lx %7s %lx %*s %*s %4095[^\n]", &from, &to, may, &offset, path) != 5 ||
		    may[2] != 'x')
			continue;
		for (int n = 0; n < m->count; n++)
			if (!strcmp(path, m->at[n].path) && m->at[n].offset - offset < to - from) {
				m->at[n].addr = from + m->at[n].offset - offset;
				m->at[n].found = true;
			}
	}
	if (f)
		fclose(f);
}

struct hit { uint64_t at; unsigned char by; };

static int by_time(const void *a, const void *b)
{
	const uint64_t x = ((const struct hit *)a)->at, y = ((const struct hit *)b)->at;
	return (x > y) - (x < y);
}

/* The moments of all marks in order, those after begin and before end.  SIZE_MAX: some were lost. */
static size_t hits_of(const struct marks *m, uint64_t begin, uint64_t end, struct hit **out)
{
	size_t count = 0, room = 1024;
	struct hit *hit = malloc(room * sizeof *hit);
	for (int n = 0; n < m->count && hit; n++) {
		const struct perf_event_mmap_page *page = m->event[n].page;
		if (!page)
			continue;
		const uint64_t size = PAGES * PAGE, last = __atomic_load_n(&page->data_head, __ATOMIC_ACQUIRE);
		if (last > size - PAGE) {
			free(hit);
			return SIZE_MAX;
		}
		for (uint64_t at = 0; at < last;) {
			const struct perf_event_header *h = (const void *)((const char *)page + PAGE + at);
			const uint64_t when = *(const uint64_t *)(h + 1);
			at += h->size;
			if (h->type != PERF_RECORD_SAMPLE) {	/* throttled, or lost */
				free(hit);
				return SIZE_MAX;
			}
			if (when <= begin || when >= end)
				continue;
			if (count == room)
				hit = realloc(hit, (room *= 2) * sizeof *hit);
			if (!hit)
				break;
			hit[count++] = (struct hit){ when, (unsigned char)n };
		}
	}
	if (!hit)
		return SIZE_MAX;
	qsort(hit, count, sizeof *hit, by_time);
	*out = hit;
	return count;
}

/* How much of begin to end the report counts. */
static double counted(const struct resident *r, uint64_t begin, uint64_t end, uint64_t *from)
{
	double ns = 0;
	for (uint64_t i = *from; i < r->stretches && r->stretch[i].begin < end; i++) {
		const uint64_t a = r->stretch[i].begin > begin ? r->stretch[i].begin : begin,
			b = r->stretch[i].end < end ? r->stretch[i].end : end;
		ns += b > a ? (double)(b - a) : 0;
		*from = i;
	}
	return ns;
}

static void segments_drop(struct segments *s)
{
	free(s->by);
	free(s->least);
	free(s->second);
	*s = (struct segments){ 0 };
}

static bool segments_room(struct segments *s, size_t count)
{
	s->count = count;
	s->by = malloc(count);
	s->least = malloc(count * sizeof *s->least);
	s->second = malloc(count * sizeof *s->second);
	return s->by && s->least && s->second;
}

bool segments_resume(struct segments *s, const char *path)
{
	FILE *f = fopen(path, "r");
	size_t count;
	bool good = true;
	if (!f)
		return true;
	good = fscanf(f, "%zu %u %u", &count, &s->runs, &s->others) == 3 && count && count < 1 << 24 &&
		segments_room(s, count);
	for (size_t i = 0; good && i < count; i++)
		good = fscanf(f, "%hhu %lf %lf", &s->by[i], &s->least[i], &s->second[i]) == 3;
	fclose(f);
	if (!good)
		fprintf(stderr, "timed: %s is not a file of timed\n", path);
	return good;
}

bool segments_keep(const struct segments *s, const char *path)
{
	FILE *f = s->runs ? fopen(path, "w") : NULL;
	if (!s->runs)
		return true;
	bool good = f && fprintf(f, "%zu %u %u\n", s->count, s->runs, s->others) > 0;
	for (size_t i = 0; good && i < s->count; i++)
		good = fprintf(f, "%u %.1f %.1f\n", s->by[i], s->least[i], s->second[i]) > 0;
	if (!f || fclose(f) || !good) {
		fprintf(stderr, "timed: %s cannot be written\n", path);
		return false;
	}
	return true;
}

void segments_add(struct segments *s, const struct marks *m, const struct resident *r, double ghz)
{
	struct hit *hit = NULL;
	if (!r->ended || !r->stretches || r->stretches > RESIDENT_STRETCHES) {
		s->others++;
		return;
	}
	uint64_t begin = r->stretch[0].begin, from = 0;
	const uint64_t end = r->stretch[r->stretches - 1].end;
	const size_t count = hits_of(m, begin, end, &hit);
	bool same = count != SIZE_MAX && (!s->runs || count + 1 == s->count);
	for (size_t i = 0; same && s->runs && i < count; i++)
		same = s->by[i] == hit[i].by;
	if (same && !s->runs)
		same = segments_room(s, count + 1);
	if (!same) {
		free(hit);
		if (++s->others > s->runs)	/* the first run was the odd one */
			segments_drop(s);
		return;
	}
	for (size_t i = 0; i <= count; i++) {
		const uint64_t until = i < count ? hit[i].at : end;
		const double ns = counted(r, begin, until, &from), cost = i < count ? m->cost_ns : 0;
		const double cycles = (ns > cost ? ns - cost : 0) * ghz;	/* less: the mark is left out */
		if (!s->runs) {
			s->by[i] = i < count ? hit[i].by : 0;
			s->least[i] = s->second[i] = 1e300;
		}
		if (cycles < s->least[i]) {
			s->second[i] = s->least[i];
			s->least[i] = cycles;
		} else if (cycles < s->second[i]) {
			s->second[i] = cycles;
		}
		begin = until;
	}
	s->runs++;
	free(hit);
}

void segments_sum(const struct segments *s, double *least, double *second)
{
	*least = *second = 0;
	for (size_t i = 0; i < s->count; i++) {
		*least += s->least[i];
		*second += s->second[i];
	}
}
