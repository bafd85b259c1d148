/* SPDX-License-Identifier: GPL-2.0-or-later
 * Writes a trace file (trace_file.h): spans as they come, packed and compressed by a thread of its own.
 */
#ifndef STREAM_TRACE_WRITER_H
#define STREAM_TRACE_WRITER_H
#include "stream/stream.h"

struct trace_writer;
enum trace_end {		/* how a recording ended */
	TRACE_END_WHOLE = 0,	/* every process ended */
	TRACE_END_CLOSED = 1,	/* the reader stopped reading early */
	TRACE_END_FAILED = 2	/* the live stream broke; the text says how */
};
/* points: the file will hold live points, and begins with a common section.  Errors of these functions: what the system
 * says, or ERR_NOMEM. */
int trace_writer_open(struct trace_writer **out, const char *path, bool points, struct err *err);
/* A span: at most ST_CHUNK_BYTES of whole records. */
int trace_writer_span(struct trace_writer *w, const struct stream_span *span, struct err *err);
/* Of a file of live points: what comes next belongs to a new section (trace_file.h: TRACE_SECTION_), of this part. */
int trace_writer_section(struct trace_writer *w, uint32_t kind, uint32_t part, struct err *err);
/* Writes out what is buffered if the last write was at least a second ago; call it when nothing comes. */
int trace_writer_idle(struct trace_writer *w, struct err *err);
/* Writes the end marker; after it only trace_writer_close may be called. */
int trace_writer_end(struct trace_writer *w, enum trace_end how, int wait_status, const char *text, struct err *err);
void trace_writer_close(struct trace_writer *w);
#endif
