/* SPDX-License-Identifier: GPL-2.0-or-later
 * Marks in a program's run, and the least time of each segment between them (timed -m). */
#ifndef SEGMENTS_H
#define SEGMENTS_H
#include "resident.h"
#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

enum { MOST_MARKS = 4 };

struct marks {
	int count;
	struct { unsigned long offset; char path[4096]; unsigned long addr; bool found; } at[MOST_MARKS];
	struct { int fd; void *page; } event[MOST_MARKS];
	double cost_ns;		/* of a mark that is passed */
};

/* What the runs so far have in common: how many segments, by which marks they end, and the least time of each, in
 * cycles; second: the next to least. */
struct segments { size_t count; unsigned char *by; double *least, *second; unsigned runs, others; };

/* Reads the lines of tests/native/marks.c.  False after a line was printed. */
bool marks_read(struct marks *m, const char *path);
/* Measures cost_ns, on the current CPU. False if breakpoints do not work. */
bool marks_cost(struct marks *m);
/* Finds where the marks lie in a process that is stopped. Addresses must not change from run to run. */
void marks_find(struct marks *m, pid_t pid);
/* Opens a process's breakpoints before it runs, and takes them away. */
bool marks_open(struct marks *m, pid_t pid);
void marks_close(struct marks *m);
/* Adds a run at `ghz` that has ended and reported, before marks_close.  A run whose marks are not those of the first
 * one only counts in s->others. */
void segments_add(struct segments *s, const struct marks *m, const struct resident *report, double ghz);
/* Goes on with what was kept in a file, if it is there; keeps it.  False after a line was printed. */
bool segments_resume(struct segments *s, const char *path);
bool segments_keep(const struct segments *s, const char *path);
/* The sums of the least and of the next to least times, in cycles. */
void segments_sum(const struct segments *s, double *least, double *second);
#endif
