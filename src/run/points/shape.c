/* SPDX-License-Identifier: GPL-2.0-or-later
 * Blocks as a capture sees them (shape.h).
 */
#include "run/points/shape.h"
#include "run/points/touched.h"
#include <stdlib.h>
#include <string.h>

static void free_shape(struct shape *b)
{
	if (!b)
		return;
	free(b->exit);
	free(b->access);
	free(b->line);
	free(b->slots);
	free(b);
}

void shapes_clear(struct shapes *s)
{
	for (size_t i = 0; i < s->blocks; i++)
		free_shape(s->block[i]);
	free(s->block);
	*s = (struct shapes){ 0 };
}

static void find_accesses(struct shape *b, const struct st_slot *slot, unsigned slots)
{
	for (unsigned i = 0; i < slots; i++) {
		const unsigned kind = slot[i].kind;
		if (kind != ST_SLOT_LOAD && kind != ST_SLOT_STORE && kind != ST_SLOT_LOADSTORE &&
			kind != ST_SLOT_PREFETCH)
			continue;
		b->access[b->accesses++] = (struct shape_access){ .slot = (uint16_t)i,
			.size = kind == ST_SLOT_PREFETCH || !slot[i].size ? 1 : slot[i].size,
			.load = kind == ST_SLOT_LOAD || kind == ST_SLOT_LOADSTORE,
			.store = kind == ST_SLOT_STORE || kind == ST_SLOT_LOADSTORE };
	}
}

static void find_lines(struct shape *b, const struct st_insn_def *insn)
{
	uint64_t last = UINT64_MAX;
	for (unsigned i = 0; i < b->insns; i++)
		for (unsigned end = 0; end < 2; end++) {
			const uint64_t at = insn[i].addr + (end && insn[i].len ? insn[i].len - 1u : 0);
			if (at >> TOUCHED_LINE_LOG2 == last)
				continue;
			last = at >> TOUCHED_LINE_LOG2;
			b->line[b->lines++] = (struct shape_line){ last, (uint16_t)i };
		}
}

/* Sets how many accesses and lines come with so many slots and instructions. */
static void count(const struct shape *b, struct shape_exit *x)
{
	while (x->accesses < b->accesses && b->access[x->accesses].slot < x->slots)
		x->accesses++;
	while (x->lines < b->lines && b->line[x->lines].insn < x->insns)
		x->lines++;
}

void shape_cut(const struct shape *b, unsigned insns, struct shape_exit *out)
{
	*out = (struct shape_exit){ .insns = (uint16_t)insns, .completed = (uint16_t)insns,
		.slots = insns ? b->slots[insns - 1] : 0 };
	count(b, out);
}

static int fill(struct shape *b, const struct st_block_def *d, struct err *err)
{
	const struct st_insn_def *insn = (const struct st_insn_def *)(d + 1);
	const struct st_slot *slot = (const struct st_slot *)(insn + d->insns);
	const struct st_exit_def *exit = (const struct st_exit_def *)(slot + d->slots);
	b->exit = calloc(d->exits + 1u, sizeof *b->exit);
	b->access = calloc(d->slots + 1u, sizeof *b->access);
	b->line = calloc(2u * d->insns + 1, sizeof *b->line);
	b->slots = calloc(d->insns + 1u, sizeof *b->slots);
	if (!b->exit || !b->access || !b->line || !b->slots)
		return err_set(err, ERR_NOMEM, "out of memory for a block");
	b->insns = d->insns;
	b->exits = d->exits;
	b->addr = d->insns ? insn[0].addr : 0;
	find_accesses(b, slot, d->slots);
	find_lines(b, insn);
	for (unsigned i = 0, k = 0; i < d->insns; i++) {
		while (k < d->slots && slot[k].insn <= i)
			k++;
		b->slots[i] = (uint16_t)k;
	}
	for (unsigned i = 0; i < d->exits; i++) {
		if (exit[i].insns > d->insns || exit[i].slots > d->slots)
			return err_set(err, ERR_INPUT, "a block's definition has an exit that does not fit it");
		b->exit[i] = (struct shape_exit){ .insns = exit[i].insns, .slots = exit[i].slots,
			.completed = exit[i].insns - (exit[i].jump == ST_JUMP_REPEAT && exit[i].insns) };
		count(b, &b->exit[i]);
	}
	return 0;
}

int shapes_define(struct shapes *s, const uint64_t *record, size_t length, struct err *err)
{
	const struct st_block_def *d = (const struct st_block_def *)record;
	if (length * 8 < sizeof *d || length * 8 != sizeof *d + d->insns * sizeof(struct st_insn_def) +
			d->slots * sizeof(struct st_slot) + d->exits * sizeof(struct st_exit_def))
		return err_set(err, ERR_INPUT, "a block's definition has a wrong length");
	if (d->id >= s->blocks && d->id - s->blocks > 1 << 24)	/* ids are dense */
		return err_set(err, ERR_INPUT, "a block's number is out of order");
	if (d->id >= s->blocks) {
		const size_t room = d->id + d->id / 2 + 64;
		struct shape **more = realloc(s->block, room * sizeof *more);
		if (!more)
			return err_set(err, ERR_NOMEM, "out of memory for blocks");
		memset(more + s->blocks, 0, (room - s->blocks) * sizeof *more);
		s->block = more;
		s->blocks = room;
	}
	struct shape *b = calloc(1, sizeof *b);
	const int rc = b ? fill(b, d, err) : err_set(err, ERR_NOMEM, "out of memory for a block");
	if (rc) {
		free_shape(b);
		return rc;
	}
	free_shape(s->block[d->id]);
	s->block[d->id] = b;
	return 0;
}
