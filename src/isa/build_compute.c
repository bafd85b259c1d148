/* SPDX-License-Identifier: GPL-2.0-or-later
 * The computing uops of one instruction: the row's uops, which operands each reads, and which results each writes.
 *
 * Attributes of the row name the operands of a uop (SPEC_IN1, SPEC_OUT1, ...).  The first uop reads, and the last one
 * writes, what no attribute names.  Between uops of an instruction, values travel in temporaries.
 */
#include "isa/build.h"

/* Index of the uop that does the work: the one that blocks a unit, else the one with the longest latency on the
 * path. */
static unsigned main_uop(const struct build *c, unsigned from)
{
	const struct spec *s = build_specs(c);
	unsigned best = c->row->count;
	for (unsigned i = from; i < c->row->count; i++) {
		if (s[i].attr & SPEC_SIDE)
			continue;
		if (s[i].unit)
			return i;
		if (best == c->row->count || s[i].latency >= s[best].latency)
			best = i;
	}
	return best;
}

static void read_flags(struct build *c, struct uop *u)
{
	if (c->o.flags_read & 1)
		build_source(c, u, REG_FLAGS);
	if (c->o.flags_read & 2)
		build_source(c, u, REG_CARRY);
}

/* Reads the operands of the bits `which`; with `rest` also those that no `in` attribute of the row names, and flags. */
static void read_sources(struct build *c, struct uop *u, unsigned which, bool rest)
{
	unsigned named = c->row->in / SPEC_IN1;
	for (unsigned i = 0; i < c->n_loaded; i++)
		if ((c->loaded_operand[i] & which) || (rest && !(c->loaded_operand[i] & named)))
			build_source(c, u, c->loaded[i]);
	for (unsigned i = 0; i < c->o.n_src; i++)
		if ((c->o.src_operand[i] & which) || (rest && !(c->o.src_operand[i] & named)))
			build_source(c, u, c->o.src[i]);
	if (rest)
		read_flags(c, u);
}

static void read_temps(struct build *c, struct uop *u)
{
	unsigned kept = 0, late = c->n_late;
	for (unsigned i = 0; i < c->n_unread; i++)
		if (!build_add_source(u, c->unread[i]))
			c->unread[kept++] = c->unread[i];
	c->n_unread = (uint8_t)kept;
	c->n_late = 0;
	for (unsigned i = 0; i < late; i++)
		build_source(c, u, c->late[i]);
}

void build_write_flags(struct build *c, struct uop *u)
{
	if (c->o.flags_written & 1)
		build_destination(c, u, REG_FLAGS);
	if (c->o.flags_written & 2)
		build_destination(c, u, REG_CARRY);
}

void build_write_register(struct build *c, struct uop *u, unsigned i)
{
	if (i >= c->o.n_dst)
		return;
	for (unsigned k = 0; k < c->o.n_merge; k++)
		if (c->o.merge[k] == c->o.dst[i])
			build_source(c, u, c->o.merge[k]);
	build_destination(c, u, c->o.dst[i]);
}

struct uop *build_emit_spec(struct build *c, const struct spec *s, bool slot)
{
	struct uop *u = build_emit(c, s->kind, s->ports, s->latency, slot && !(s->attr & SPEC_JOINED));
	if (!u)
		return NULL;
	u->busy = s->busy;
	u->unit = s->unit;
	if (u->unit == UNIT_INTDIV)
		u->slot = build_divided_slot(c);
	if (!(s->attr & SPEC_SIDE) || s->kind == UOP_NOP)
		u->is |= c->is_all;
	return u;
}

void build_compute(struct build *c, unsigned from, bool store)
{
	const struct spec *s = build_specs(c);
	unsigned n = c->row->count, main = main_uop(c, from), last = n, done = 0;
	bool first = true;
	for (unsigned i = from; i < n; i++)
		if (!(s[i].attr & SPEC_SIDE))
			last = i;
	for (unsigned i = from; i < n; i++) {
		done |= s[i].attr & (SPEC_OUT1 | SPEC_OUT2 | SPEC_FLAGS);
	}
	for (unsigned i = from; i < n; i++) {
		struct uop *u = build_emit_spec(c, &s[i], !(first && c->fusable));
		if (!u)
			return;
		first = false;
		if (i == main)
			u->is |= c->is_main;
		if (s[i].attr & SPEC_SIDE)
			continue;
		if (s[i].attr & SPEC_IN)
			read_sources(c, u, (s[i].attr & SPEC_IN) / SPEC_IN1, !c->sources_read);
		else if ((s[i].attr & SPEC_PAR) || !c->sources_read)
			read_sources(c, u, 0, true);
		c->sources_read = true;
		if (!(s[i].attr & SPEC_PAR))
			read_temps(c, u);
		/* Results: each uop writes what its attributes name; the last one writes what no attribute named. */
		unsigned attr = s[i].attr & (SPEC_OUT1 | SPEC_OUT2 | SPEC_FLAGS);
		if (i == last)
			attr |= (SPEC_OUT1 | SPEC_OUT2 | SPEC_FLAGS) & ~done;
		bool passes_on = (i != last) || store;
		if (passes_on && (!attr || i == last || !(attr == SPEC_FLAGS))) {
			uint8_t t = build_new_temp(c);
			build_add_dest(u, t);
			if (c->n_unread < sizeof c->unread)
				c->unread[c->n_unread++] = t;
			c->result = t;
		}
		if (attr & SPEC_OUT1)
			build_write_register(c, u, 0);
		if (attr & SPEC_OUT2)
			build_write_register(c, u, 1);
		for (unsigned d = 0; i == last && d < c->o.n_late; d++)
			build_source(c, u, c->o.late[d]);
		if (i == last)
			for (unsigned d = 2; d < c->o.n_dst; d++)
				build_write_register(c, u, d);
		if (attr & SPEC_FLAGS)
			build_write_flags(c, u);
	}
	/* Sources that are still without a uop (CMPXCHG16B names six registers) go to any uop of the instruction
	 * with room. */
	for (unsigned k = 0; k < c->n_late; k++) {
		bool placed = false;
		for (unsigned i = c->first; i < c->b->n && !placed; i++)
			placed = c->b->uop[i].kind == UOP_COMPUTE && build_add_source(&c->b->uop[i], c->late[k]);
		c->b->dropped += !placed;
	}
	c->n_late = 0;
}
