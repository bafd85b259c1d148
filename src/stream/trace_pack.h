/* SPDX-License-Identifier: GPL-2.0-or-later
 * Packs the words of a stream with a predictor: one code byte for each word, which names the predictor that was right,
 * and literal bytes for each word that all of them missed.  zstd then compresses the result.
 *
 * This is written here, not taken from a library, because it predicts the stream's own structure: a word by the block
 * it belongs to, its place behind the block's header, and the blocks before.  It only guesses that structure (it takes
 * every word that looks like a block's header for one), so any words come back unchanged; a wrong guess only costs
 * space.
 * The predictors, in the order in which they are tried: the word that came here after the same blocks; a constant step
 * from the word before at this place; the step that followed the last two steps; the distance to the word just before.
 * Source for these kinds and for coding which one was right: M. Burtscher, "VPC3: A Fast and Effective
 * Trace-Compression Algorithm", SIGMETRICS 2004.
 */
#ifndef STREAM_TRACE_PACK_H
#define STREAM_TRACE_PACK_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct trace_pack;	/* what the predictor has learnt: the same on both sides after the same words */
struct trace_pack *trace_pack_create(void);	/* NULL: no memory */
void trace_pack_destroy(struct trace_pack *p);
void trace_pack_forget(struct trace_pack *p);	/* it is as it was when it was created */

#define TRACE_PACKED_MAX(words) ((size_t)(words) * 9)
/* Packs words of a process into at most TRACE_PACKED_MAX(count) bytes; returns how many. */
size_t trace_pack(struct trace_pack *p, uint32_t process, const uint64_t *words, size_t count, uint8_t *out);
/* The reverse of trace_pack: uses exactly `bytes` of input; false if they do not make `count` words. */
bool trace_unpack(struct trace_pack *p, uint32_t process, const uint8_t *in, size_t bytes, uint64_t *words,
		  size_t count);
#endif
