/* SPDX-License-Identifier: GPL-2.0-or-later
 * Counts the instructions in a stream without a model: `softpmu trace` reports them for what it recorded.
 *
 * It counts as the model does: a REP instruction once, an instruction that faults not at all.  Left out: kinds of
 * instructions.
 */
#ifndef RUN_TALLY_H
#define RUN_TALLY_H
#include "stream/stream.h"
#include "util/err.h"

struct tally;
int  tally_create(struct tally **out, struct err *err);
void tally_destroy(struct tally *t);
/* Counts a span of the stream; ERR_INPUT if it is malformed.  side: called for every record that is not an
 * execution of a block, `words` long. */
typedef void tally_side(void *context, uint32_t process, const uint64_t *record, size_t words);
int  tally_span(struct tally *t, const struct stream_span *span, tally_side *side, void *context, struct err *err);
uint64_t tally_instructions(const struct tally *t);
#endif
