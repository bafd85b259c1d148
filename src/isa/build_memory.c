/* SPDX-License-Identifier: GPL-2.0-or-later
 * Appends uops, and makes those of memory operands: loads, stores, and which of the block's slots they take.
 *
 * Memory uops take the block's slots of their kind in order.  A wide operand that the tracer saw in several pieces
 * becomes one uop again; classes with T_SPLIT keep one uop for each slot; slots that are left over get uops of
 * their own.  Only the first 256 slots of an instruction are used.
 */
#include "isa/build.h"
#include <stdlib.h>

struct uop *build_emit(struct build *c, uint8_t kind, uint16_t ports, uint8_t latency, bool slot)
{
	struct builder *b = c->b;
	static const struct uop nothing;
	if (b->n == b->capacity) {
		unsigned capacity = b->capacity * 2 + 64;
		struct uop *more = realloc(b->uop, capacity * sizeof *more);
		if (!more) {	/* the caller overwrites the last uop; isa_decode reports the lack of memory */
			b->no_memory = true;
			return b->n ? &b->uop[b->n - 1] : NULL;
		}
		b->uop = more;
		b->capacity = capacity;
	}
	struct uop *u = &b->uop[b->n++];
	*u = nothing;
	u->kind = kind;
	u->ports = ports;
	u->latency = latency;
	u->slot = UOP_NO_SLOT;
	u->flags = slot ? UOP_SLOT : 0;
	return u;
}

bool build_add_source(struct uop *u, uint8_t reg)
{
	for (int i = 0; i < 4; i++) {
		if (u->src[i] == reg)
			return true;
		if (u->src[i] == REG_NONE) {
			u->src[i] = reg;
			return true;
		}
	}
	return false;
}

bool build_add_dest(struct uop *u, uint8_t reg)
{
	for (int i = 0; i < 3; i++) {
		if (u->dst[i] == reg)
			return true;
		if (u->dst[i] == REG_NONE) {
			u->dst[i] = reg;
			return true;
		}
	}
	return false;
}

void build_source(struct build *c, struct uop *u, uint8_t reg)
{
	if (build_add_source(u, reg))
		return;
	if (c->n_late < sizeof c->late)
		c->late[c->n_late++] = reg;
	else
		c->b->dropped++;
}

/* Adds a result.  If the uop has no room, the nearest earlier uop of this instruction with room gets it. */
void build_destination(struct build *c, struct uop *u, uint8_t reg)
{
	struct builder *b = c->b;
	if (build_add_dest(u, reg))
		return;
	for (unsigned i = b->n; i > c->first; i--) {
		struct uop *v = &b->uop[i - 1];
		if (v != u && v->kind != UOP_STORE_ADDR && v->kind != UOP_STORE_DATA && build_add_dest(v, reg))
			return;
	}
	b->dropped++;
}

uint8_t build_new_temp(struct build *c)
{
	return (uint8_t)(REG_TEMP + c->temp++ % TEMPS);
}

/* ---- memory ---- */

static bool is_taken(const struct slot_cursor *s, unsigned i)
{
	return i < 256 && s->taken[i / 64] >> (i % 64) & 1;
}

static void take(struct slot_cursor *s, unsigned i)
{
	if (i < 256)
		s->taken[i / 64] |= UINT64_C(1) << (i % 64);
}

/* The first slot of `kind` that no uop has taken; a LOADSTORE serves both a load and a store.  -1 if there is none. */
static int find_slot(const struct slot_cursor *s, unsigned kind)
{
	for (unsigned i = 0; i < s->count && i < 256; i++)
		if (s->slot[i].kind == kind && !is_taken(s, i))
			return (int)i;
	if (kind == ST_SLOT_PREFETCH || kind == ST_SLOT_FLUSH)
		return -1;
	for (unsigned i = 0; i < s->count && i < 256; i++)
		if (s->slot[i].kind == ST_SLOT_LOADSTORE && !is_taken(s, i))
			return (int)i;
	return -1;
}

/* The slot that says what a division did (ST_SLOT_DIVIDED); UOP_NO_SLOT if the stream has none. */
uint16_t build_divided_slot(const struct build *c)
{
	const struct slot_cursor *s = c->slots;
	for (unsigned i = 0; i < s->count; i++)
		if (s->slot[i].kind == ST_SLOT_REG && s->slot[i].reg == ST_SLOT_DIVIDED)
			return (uint16_t)(s->first + i);
	return UOP_NO_SLOT;
}

/* Gives the uop its slot, and the slots that follow as long as they are pieces of the same operand of `want` bytes. */
void build_assign_slot(struct build *c, struct uop *u, unsigned kind, unsigned want)
{
	struct slot_cursor *s = c->slots;
	int i = find_slot(s, kind);
	u->size = (uint16_t)want;
	if (i < 0)
		return;
	u->slot = (uint16_t)(s->first + (unsigned)i);
	u->pieces = 1;
	unsigned size = s->slot[i].size;
	bool both = s->slot[i].kind == ST_SLOT_LOADSTORE;
	if (!both)
		take(s, (unsigned)i);
	for (int j = i + 1; want > 8 && size < want && !(c->traits & T_SPLIT) && (unsigned)j < s->count && j < 256;
	    j++) {
		if (s->slot[j].kind == ST_SLOT_REG)
			continue;
		if (s->slot[j].kind != s->slot[i].kind || size + s->slot[j].size > want)
			break;
		size += s->slot[j].size;
		u->pieces++;
		if (!both)
			take(s, (unsigned)j);
	}
	if (kind != ST_SLOT_PREFETCH && kind != ST_SLOT_FLUSH)	/* the tracer gives these no size */
		u->size = (uint16_t)size;
}

static unsigned count_slots(const struct slot_cursor *s, unsigned kind)
{
	unsigned n = 0;
	for (unsigned i = 0; i < s->count && i < 256; i++)
		n += s->slot[i].kind == kind && !is_taken(s, i);
	return n;
}

static bool is_vector_load(const struct build *c)
{
	return c->o.width >= WIDTH_128 && c->o.width <= WIDTH_512;
}

const struct spec *build_memory_spec(const struct build *c, enum isa_class cls, enum isa_class indexed, bool slow)
{
	unsigned width = is_vector_load(c) ? c->o.width : WIDTH_64;
	const struct row *r = isa_row(c->isa, slow ? indexed : cls, width, FORM_REG);
	return &c->isa->specs[r->first];
}

static bool is_slow(const struct build *c, const struct mem *m, bool otherwise)
{
	return c->isa->slow_scaled ? m->scaled : !m->plain || otherwise;
}

struct uop *build_load(struct build *c, const struct mem *m, uint8_t dest, bool slot)
{
	const struct spec *s = build_memory_spec(c, CLASS_load, CLASS_load_index, is_slow(c, m, m->far_disp));
	struct uop *u = build_emit(c, UOP_LOAD, s->ports, s->latency, slot);
	if (!u)
		return NULL;
	u->is = SPMU_IS(LOAD) | c->is_mem;
	if (m->base)
		build_add_source(u, m->base);
	if (m->index)
		build_add_source(u, m->index);
	if (dest)
		build_add_dest(u, dest);
	build_assign_slot(c, u, ST_SLOT_LOAD, m->size);
	return u;
}

void build_store(struct build *c, const struct mem *m, uint8_t data)
{
	const struct spec *s =
		build_memory_spec(c, CLASS_store_address, CLASS_store_address_index, is_slow(c, m, false));
	const struct spec *d = build_memory_spec(c, CLASS_store_data, CLASS_store_data, false);
	struct uop *u = build_emit(c, UOP_STORE_ADDR, s->ports, s->latency, true);
	if (!u)
		return;
	u->is = SPMU_IS(STORE_ADDR) | c->is_mem;
	if (m->base)
		build_add_source(u, m->base);
	if (m->index)
		build_add_source(u, m->index);
	build_assign_slot(c, u, ST_SLOT_STORE, m->size);
	uint16_t slot = u->slot, size = u->size, parts = u->pieces;
	if (!(u = build_emit(c, UOP_STORE_DATA, d->ports, d->latency, false)))
		return;
	u->is = SPMU_IS(STORE_DATA) | c->is_mem;
	u->slot = slot;
	u->size = size;
	u->pieces = parts;
	if (data)
		build_add_source(u, data);
	/* A LOADSTORE slot has now served the load and the store. */
	if (slot != UOP_NO_SLOT)
		take(c->slots, slot - c->slots->first);
}

/* How many uops a memory operand takes: one for each slot with T_SPLIT, else one. */
static unsigned pieces(const struct build *c, unsigned kind, const struct mem *m)
{
	if (!(c->traits & T_SPLIT))
		return 1;
	unsigned n = count_slots(c->slots, kind);
	if (!n)			/* the tracer did not see them: one for each element, else for each 32 bytes */
		n = (c->traits & T_GATHER) ? c->elements : (c->traits & T_STACK) ? 8 : (m->size + 31u) / 32;
	return n < 1 ? 1 : n > PIECES_MAX ? PIECES_MAX : n;
}

void build_loads(struct build *c)
{
	bool direct = !c->row->count && c->o.n_dst && !c->o.n_merge && c->o.form == FORM_LOAD;
	for (unsigned i = 0; i < c->o.n_mem; i++) {
		const struct mem *m = &c->o.mem[i];
		if (!m->read)
			continue;
		unsigned n = pieces(c, ST_SLOT_LOAD, m);
		struct mem piece = *m;
		if (n > 1)
			piece.size = (uint16_t)(m->size / n ? m->size / n : 1);
		for (unsigned k = 0; k < n; k++) {
			uint8_t dest = direct ? c->o.dst[k < c->o.n_dst ? k : c->o.n_dst - 1u] : build_new_temp(c);
			struct uop *u = build_load(c, &piece, dest, true);
			if (!u)
				return;
			if (!direct && c->n_loaded < sizeof c->loaded) {
				c->loaded_operand[c->n_loaded] = m->operand;
				c->loaded[c->n_loaded++] = dest;
			}
			if (direct && k == 0)
				for (unsigned d = 1; d < c->o.n_dst && n == 1; d++)
					build_destination(c, u, c->o.dst[d]);
		}
		c->fusable = n == 1;
	}
}

void build_stores(struct build *c)
{
	for (unsigned i = 0; i < c->o.n_mem; i++) {
		const struct mem *m = &c->o.mem[i];
		if (!m->write)
			continue;
		unsigned n = pieces(c, ST_SLOT_STORE, m);
		struct mem piece = *m;
		if (n > 1)
			piece.size = (uint16_t)(m->size / n ? m->size / n : 1);
		for (unsigned k = 0; k < n; k++) {
			uint8_t data = c->result;
			if ((c->traits & T_SPLIT) && !c->row->count && !c->n_loaded && k < c->o.n_src)	/* PUSHA */
				data = c->o.src[k];
			build_store(c, &piece, data);
		}
	}
}

/* Makes uops for slots that no operand explains (pieces of FXSAVE, accesses of helpers): they were accesses. */
void build_left_over(struct build *c)
{
	struct mem m = { .plain = 1 };
	for (unsigned i = 0; i < c->slots->count && i < 256; i++) {
		const struct st_slot *s = &c->slots->slot[i];
		if (is_taken(c->slots, i) || s->kind == ST_SLOT_FLUSH)	/* build_flush takes it */
			continue;
		if (c->b->n - c->first > INSN_UOPS_MAX - 3)
			return;
		m.size = s->size;
		if (s->kind == ST_SLOT_LOAD) {
			build_load(c, &m, REG_NONE, true);
		} else if (s->kind == ST_SLOT_STORE) {
			build_store(c, &m, REG_NONE);
		} else if (s->kind == ST_SLOT_LOADSTORE) {
			/* A load may have taken it, or nobody: in both cases the store is still missing. */
			bool loaded = false;
			for (unsigned k = c->first; k < c->b->n; k++)
				loaded |= c->b->uop[k].kind == UOP_LOAD && c->b->uop[k].slot == c->slots->first + i;
			if (!loaded)
				build_load(c, &m, REG_NONE, true);
			build_store(c, &m, REG_NONE);
		}
		take(c->slots, i);
	}
}
