/* SPDX-License-Identifier: GPL-2.0-or-later
 * Counts instructions of a stream (tally.h).
 */
#include "run/watch/tally.h"
#include "stream/format.h"
#include <stdlib.h>
#include <string.h>

struct shape {			/* of a block: the lengths of its records */
	uint16_t insns, exits;
	/* for each exit: instructions completed; behind them `insns` more: slots up to that instruction's end */
	struct { uint16_t insns, slots; } exit[];
};

struct space {			/* a process */
	struct shape **block;
	size_t blocks;
};

struct tally {
	struct space *space;
	size_t spaces;
	uint64_t instructions;
};

int tally_create(struct tally **out, struct err *err)
{
	*out = calloc(1, sizeof **out);
	return *out ? 0 : err_set(err, ERR_NOMEM, "out of memory");
}

void tally_destroy(struct tally *t)
{
	if (!t)
		return;
	for (size_t i = 0; i < t->spaces; i++) {
		for (size_t k = 0; k < t->space[i].blocks; k++)
			free(t->space[i].block[k]);
		free(t->space[i].block);
	}
	free(t->space);
	free(t);
}

/* Makes room for element `index`; new elements are zero. */
static int grow(void **array, size_t *count, size_t index, size_t size, struct err *err)
{
	if (index < *count)
		return 0;
	size_t room = index + index / 2 + 64;
	char *more = realloc(*array, room * size);
	if (!more)
		return err_set(err, ERR_NOMEM, "out of memory");
	memset(more + *count * size, 0, (room - *count) * size);
	*array = more;
	*count = room;
	return 0;
}

static int define(struct space *s, const uint64_t *w, size_t length, struct err *err)
{
	const struct st_block_def *d = (const struct st_block_def *)w;
	const struct st_insn_def *insn = (const struct st_insn_def *)(d + 1);
	if (length * 8 < sizeof *d ||
	    length * 8 !=
			sizeof *d + d->insns * sizeof *insn + d->slots * sizeof(struct st_slot) +
				d->exits * sizeof(struct st_exit_def))
		return err_set(err, ERR_INPUT, "a block's definition has a wrong length");
	const struct st_slot *slot = (const struct st_slot *)(insn + d->insns);
	const struct st_exit_def *exit = (const struct st_exit_def *)(slot + d->slots);
	if (d->id >= s->blocks && d->id - s->blocks > 1 << 24)	/* ids are dense */
		return err_set(err, ERR_INPUT, "a block's number is out of order");
	int rc = grow((void **)&s->block, &s->blocks, d->id, sizeof *s->block, err);
	struct shape *b = rc ? NULL : calloc(1, sizeof *b + (d->exits + (size_t)d->insns) * sizeof *b->exit);
	if (!b)
		return rc ? rc : err_set(err, ERR_NOMEM, "out of memory");
	b->insns = d->insns;
	b->exits = d->exits;
	for (unsigned i = 0; i < d->exits; i++) {
		b->exit[i].insns = exit[i].insns - (exit[i].jump == ST_JUMP_REPEAT && exit[i].insns);
		b->exit[i].slots = exit[i].slots;
	}
	for (unsigned i = 0, k = 0; i < d->insns; i++) {
		while (k < d->slots && slot[k].insn <= i)
			k++;
		b->exit[d->exits + i].slots = (uint16_t)k;
	}
	free(s->block[d->id]);
	s->block[d->id] = b;
	return 0;
}

int tally_span(struct tally *t, const struct stream_span *span, tally_side *side, void *context, struct err *err)
{
	int rc = grow((void **)&t->space, &t->spaces, span->process, sizeof *t->space, err);
	if (rc)
		return rc;
	struct space *s = &t->space[span->process];
	const uint64_t *w = span->words, *end = w + span->count;
	while (w < end) {
		unsigned kind = ST_HEADER_KIND(*w);
		uint32_t low = ST_HEADER_LOW(*w);
		if (kind == ST_CHUNK_END)
			break;
		if (kind == ST_BLOCK || kind == ST_BLOCK_CUT) {
			const struct shape *b = low < s->blocks ? s->block[low] : NULL;
			unsigned which = ST_HEADER_EXIT(*w), insns = which, slots = 0;
			if (!b || which >= (kind == ST_BLOCK ? b->exits : b->insns + 1u))
				return err_set(err, ERR_INPUT,
					"the stream runs block %u, which it did not define", low);
			if (kind == ST_BLOCK) {
				insns = b->exit[which].insns;
				slots = b->exit[which].slots;
			} else if (which) {
				slots = b->exit[b->exits + which - 1].slots;
			}
			if (slots > (size_t)(end - w) - 1)
				return err_set(err, ERR_INPUT, "the stream ends within a block");
			t->instructions += insns;
			w += 1 + slots;
			continue;
		}
		if (low % 8 || low < 8 || low / 8 > (size_t)(end - w))
			return err_set(err, ERR_INPUT, "the stream holds a record of kind %u with a bad length", kind);
		if (kind == ST_PROCESS) {	/* exec: ids begin again */
			for (size_t k = 0; k < s->blocks; k++)
				free(s->block[k]);
			free(s->block);
			*s = (struct space){ 0 };
		} else if (kind == ST_BLOCK_DEF && (rc = define(s, w, low / 8, err))) {
			return rc;
		}
		side(context, span->process, w, low / 8);
		w += low / 8;
	}
	return 0;
}

uint64_t tally_instructions(const struct tally *t)
{
	return t->instructions;
}
