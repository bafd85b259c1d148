/* SPDX-License-Identifier: GPL-2.0-or-later
 * What resident.so reports to timed, in a file that both map. */
#ifndef RESIDENT_H
#define RESIDENT_H
#include <stdint.h>

enum { RESIDENT_STRETCHES = 4000 };

struct resident {
	uint64_t pid;		/* whose report it is; set by timed */
	uint64_t ended;		/* 1: the program ended in a way that the library saw */
	uint64_t cpu_ns;	/* of the process (CLOCK_PROCESS_CPUTIME_ID), main to end, without what is left out */
	uint64_t faults;	/* page faults in that time */
	uint64_t heap;		/* bytes that the heap grew by */
	uint64_t entered, entered_cpu, entered_faults;	/* where the current stretch began */
	uint64_t stretches;	/* how many; the first RESIDENT_STRETCHES are kept */
	struct { uint64_t begin, end; } stretch[RESIDENT_STRETCHES];	/* CLOCK_MONOTONIC, ns */
};
#endif
