/* SPDX-License-Identifier: GPL-2.0-or-later
 * Makes a file of live points of a stream (docs/reference/live-points.md).
 *
 * The file is a stream (stream/format.h) that leaves out most blocks.  What it keeps is, for each window of the plan,
 * the window itself and the instructions before it (capture_plan.tail); and for what it leaves out, the lines that were
 * touched (touched.h), the way that the last branches took, how many steps that were, and how often each block was
 * executed.  No machine is modelled, so the file is good for any.
 *
 * Left out: programs with several threads or processes, which are refused.
 */
#ifndef RUN_CAPTURE_H
#define RUN_CAPTURE_H
#include "run/run.h"
#include "stream/stream.h"
#include "stream/trace_writer.h"

struct capture_plan {
	struct run_sample sample;	/* interval, lead, measured: as of sampled runs */
	bool automatic;			/* the interval grows with the run, so that there are some thousand windows */
	uint64_t tail;			/* steps that are kept before a window's lead */
	uint32_t path;			/* blocks before those whose way is kept: at most one less than this */
	uint32_t history;		/* the same where a part of the file begins: a power of two, at least path */
	/* called for every record that is not an execution of a block; NULL: nobody wants to know */
	void (*side)(void *context, uint32_t process, const uint64_t *record, size_t words);
	void *context;
};
enum { CAPTURE_TAIL = 20000, CAPTURE_PATH = 1 << 17, CAPTURE_HISTORY = 1 << 20 };

struct capture;
/* Makes the file.  What the system says, or ERR_NOMEM. */
int  capture_create(struct capture **out, const char *path, const struct capture_plan *plan, struct err *err);
/* A span of the stream.  ERR_INPUT: it is malformed; ERR_UNSUPPORTED: a second thread or process; ERR_NOMEM; or the
 * file cannot be written. */
int  capture_span(struct capture *c, const struct stream_span *span, struct err *err);
/* The stream ended so; finishes the file. */
int  capture_end(struct capture *c, enum trace_end how, int wait_status, const char *text, struct err *err);
void capture_destroy(struct capture *c);	/* NULL: nothing */
uint64_t capture_instructions(const struct capture *c);	/* so far */
uint64_t capture_windows(const struct capture *c);	/* that have ended */
#endif
