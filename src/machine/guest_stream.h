/* SPDX-License-Identifier: GPL-2.0-or-later
 * What a guest's model does to its core, written as a stream (stream/format.h), so that a replay does the same to
 * another core.  guest_core.c calls these functions where it does the thing itself, in the same order.  With `s` NULL
 * they do nothing.  A failed write is kept and reported by guest_stream_close; what comes behind it is dropped.
 */
#ifndef MACHINE_GUEST_STREAM_H
#define MACHINE_GUEST_STREAM_H
#include "stream/format.h"
#include "util/err.h"
#include <stdbool.h>
#include <stddef.h>

struct guest_stream;

/* word_bytes: of the first blocks; pages: pages are told (core_told).  ERR_SYSTEM, ERR_NOMEM. */
int  guest_stream_open(struct guest_stream **out, const char *path, unsigned word_bytes, bool pages, struct err *err);
/* Writes the end.  ERR_SYSTEM: something could not be written. */
int  guest_stream_close(struct guest_stream *s, struct err *err);
/* def: as isa_decode gets it, with its id, which is dense from 0; it is written at its first use.  values: a word for
 * each slot of this exit. */
void guest_stream_block(struct guest_stream *s, const struct st_block_def *def, unsigned exit, const uint64_t *values);
/* A record of any of the kinds ST_LEVEL to ST_NEXT, header included. */
void guest_stream_record(struct guest_stream *s, const void *record, size_t bytes);
#endif
