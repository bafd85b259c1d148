/* SPDX-License-Identifier: GPL-2.0-or-later
 * softpmu trace --pipeline: an excerpt of a run, uop by uop, for viewers of pipelines. */
#ifndef CLI_TRACE_PIPELINE_H
#define CLI_TRACE_PIPELINE_H
#include "cli/cli.h"
#include "output/pipeline/pipeline_rows.h"

/* --format: TRACE_BY_NAME: pipeline_format_of says. */
enum trace_format { TRACE_KANATA, TRACE_O3, TRACE_JSON, TRACE_BY_NAME };	/* as enum pipeline_format */
#define TRACE_FORMATS "kanata|o3pipeview|json"

/* Runs the program, or replays its stream, and writes the part between --start and --stop to the file; "-": standard
 * output.  Returns the exit status. */
int trace_pipeline(struct cli_run *run, const char *file, enum trace_format format, bool quiet);
/* Writes it.  0, or -1 after one printed line. */
int trace_pipeline_write(const struct pipeline *p, const char *file, enum trace_format format);
#endif
