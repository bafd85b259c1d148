/* SPDX-License-Identifier: GPL-2.0-or-later
 * Events that no counter of the PMU counts: clocks, and over a whole machine what its processor shows of what its
 * kernel does.  Names: perf-list(1).
 */
#ifndef SESSION_SOFTWARE_EVENTS_H
#define SESSION_SOFTWARE_EVENTS_H
#include <stdbool.h>

/* Finds an event of this name.  machine: for a stream of a whole machine.  *source: enum of session_event. */
bool software_find(const char *name, bool machine, int *source);
/* Of a whole machine: does a software event count what the PMU's event of this name does, which is not modelled? */
bool software_instead(const char *name, int *source);
/* A name that perf has for something that only a kernel counts? */
bool software_of_kernel(const char *name);
#endif
