/* SPDX-License-Identifier: GPL-2.0-or-later
 * Runs a program, or reads a recorded stream, to make a file of live points (run_options.live_points).  Private to
 * src/run.
 */
#ifndef RUN_CAPTURE_PROGRAM_H
#define RUN_CAPTURE_PROGRAM_H
#include "run/run.h"

/* As run_program: result->warmed is the number of all instructions, ->points that of windows. */
int capture_program(const struct run_options *o, const struct run_sink *sink, struct run_result *result,
	struct err *err);
#endif
