/* SPDX-License-Identifier: GPL-2.0-or-later
 * Words of a stream as what a predictor got wrong: a code byte a word, and literal bytes for those it missed; zstd does the rest.
 *
 * Written here and not taken from a library because it is the stream's own structure that is predicted: a word by the block it belongs to,
 * its place behind the block's header, and the blocks before.  It only guesses at that structure (a word that looks like a block's header is
 * taken for one), so that any words whatever come back as they were; a wrong guess costs space alone.
 * Predictors, in the order in which they are asked (M. Burtscher, "VPC3: A Fast and Effective Trace-Compression Algorithm", SIGMETRICS 2004, has
 * the kinds and the idea of coding which one hit): what came here after the same blocks; a constant step from the word before; the step
 * that followed the two last steps; the distance to the word just before.
 */
#ifndef STREAM_TRACE_PACK_H
#define STREAM_TRACE_PACK_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct trace_pack;	/* what was learnt: the same on both sides, after the same words */
struct trace_pack *trace_pack_create(void);	/* NULL: no memory */
void trace_pack_destroy(struct trace_pack *p);

#define TRACE_PACKED_MAX(words) ((size_t)(words) * 9)
/* Packs words of a process into at most TRACE_PACKED_MAX(count) bytes; returns how many. */
size_t trace_pack(struct trace_pack *p, uint32_t process, const uint64_t *words, size_t count, uint8_t *out);
/* The reverse: exactly `bytes` of input; false: they do not make `count` words. */
bool trace_unpack(struct trace_pack *p, uint32_t process, const uint8_t *in, size_t bytes, uint64_t *words, size_t count);
#endif
