/* SPDX-License-Identifier: GPL-2.0-or-later
 * softpmu trace --timeline: threads, regions, phases and counters over modelled time, for Perfetto. */
#ifndef CLI_TRACE_TIMELINE_H
#define CLI_TRACE_TIMELINE_H
#include "cli/cli.h"

/* Runs the program, or replays its stream, and writes the file; "-": standard output.  Returns the exit status. */
int trace_timeline(struct cli_run *run, const char *file, bool quiet);
#endif
