/* SPDX-License-Identifier: GPL-2.0-or-later
 * Records of a file of live points on their way to the file: gathered into spans.  Private to src/run.
 */
#ifndef RUN_CAPTURE_OUT_H
#define RUN_CAPTURE_OUT_H
#include "stream/trace_writer.h"

enum { CAPTURE_OUT_WORDS = ST_CHUNK_BYTES / 8 };
struct capture_out {
	struct trace_writer *file;
	uint32_t pid;
	size_t used;
	uint64_t all;		/* words so far */
	uint64_t word[CAPTURE_OUT_WORDS];
	int rc;			/* the first error, which err says */
	struct err err;
};

void capture_out_flush(struct capture_out *o);
/* A section of the file begins (trace_file.h). */
void capture_out_section(struct capture_out *o, uint32_t kind, uint32_t part);
/* Adds a record, or drops it after an error.  words: at most CAPTURE_OUT_WORDS. */
void capture_out_put(struct capture_out *o, const void *record, size_t words);
/* Adds a list of words as records of this kind, each with at most as many as fit.  `together`: so many stay in one
 * record. */
void capture_out_list(struct capture_out *o, unsigned kind, const uint64_t *word, size_t count, unsigned together);
#endif
