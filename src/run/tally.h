/* SPDX-License-Identifier: GPL-2.0-or-later
 * Counts the instructions in a stream without a model: what `softpmu trace` says of what it recorded.
 *
 * As the model counts them: a REP instruction once, an instruction that faults not at all.  Left out: what instructions are.
 */
#ifndef RUN_TALLY_H
#define RUN_TALLY_H
#include "stream/stream.h"
#include "util/err.h"

struct tally;
int  tally_create(struct tally **out, struct err *err);
void tally_destroy(struct tally *t);
/* A span of the stream; ERR_INPUT if it is not well-formed.  side: told of every record that is no execution of a block, `words` long. */
typedef void tally_side(void *context, uint32_t process, const uint64_t *record, size_t words);
int  tally_span(struct tally *t, const struct stream_span *span, tally_side *side, void *context, struct err *err);
uint64_t tally_instructions(const struct tally *t);
#endif
