/* SPDX-License-Identifier: GPL-2.0-or-later
 * The order of loads, computing uops and stores: of most instructions, and of those with a shape of their own (LEAVE,
 * prefetches, flushes of lines, strings, exchanges of names).
 */
#include "isa/build.h"

static void emit_lock(struct build *c)
{
	const struct row *r = isa_row(c->isa, CLASS_lock, c->o.width, FORM_REG);
	for (unsigned i = 0; i < r->count; i++) {
		const struct spec *s = &c->isa->specs[r->first + i];
		struct uop *u = build_emit(c, s->kind, s->ports, s->latency, true);
		if (!u)
			return;
		u->busy = s->busy;
		u->unit = s->unit;
	}
}

void build_generic(struct build *c, bool locked)
{
	bool store = c->o.form == FORM_STORE || c->o.form == FORM_RMW;
	build_loads(c);
	if (!c->row->count) {
		c->result = c->n_loaded ? c->loaded[0] : c->o.n_src ? c->o.src[0] : REG_NONE;
		if (c->n_loaded && c->o.form == FORM_LOAD && c->o.n_merge) {	/* the load itself merges its result */
			struct uop *u = &c->b->uop[c->b->n - 1];
			u->dst[0] = REG_NONE;
			for (unsigned i = 0; i < c->o.n_dst; i++)
				build_write_register(c, u, i);
		}
	} else if (!(c->traits & T_BRANCH)) {
		build_compute(c, 0, store);
	}
	if (locked && !c->form)	/* a form's row includes the lock's uops */
		emit_lock(c);
	if (c->traits & T_BRANCH)	/* a call stores its return address */
		c->result = REG_NONE;
	if (store)
		build_stores(c);
	build_left_over(c);
	if ((c->traits & T_BRANCH) && c->row->count) {
		c->fusable &= !store && c->b->n == c->first + 1;
		build_compute(c, 0, false);
		struct uop *u = &c->b->uop[c->b->n - 1];
		u->kind = UOP_BRANCH;
	}
}

/* LEAVE: RSP takes RBP's value before RBP is popped. */
void build_leave(struct build *c)
{
	const struct spec *s = build_specs(c);
	for (unsigned i = 0; i < c->row->count; i++) {
		struct uop *u = build_emit_spec(c, &s[i], true);
		if (u && i == 0) {
			build_add_source(u, REG_GPR + 5);
			build_add_dest(u, REG_GPR + 4);
		}
	}
	struct mem m = c->o.n_mem ? c->o.mem[0] : (struct mem){ .plain = 1, .base = REG_GPR + 5, .size = 8 };
	build_load(c, &m, REG_GPR + 5, true);
	build_left_over(c);
}

void build_prefetch(struct build *c)
{
	struct mem m = c->o.n_mem ? c->o.mem[0] : (struct mem){ .plain = 1 };
	const struct spec *s = build_memory_spec(c, CLASS_load, CLASS_load_index, false);
	struct uop *u = build_emit(c, UOP_LOAD, s->ports, 0, true);
	if (!u)
		return;
	u->is = SPMU_IS(PREFETCH_SW) | c->is_mem;
	if (m.base)
		build_add_source(u, m.base);
	if (m.index)
		build_add_source(u, m.index);
	build_assign_slot(c, u, ST_SLOT_PREFETCH, m.size);
	build_left_over(c);
}

/* CLFLUSH and the like: one of the uops that the table gives carries the address, and has the line flushed.  It is the
 * one before the last, which a store's address would be.  CLDEMOTE is a NOP; cores that execute a NOP on a port do not
 * have CLDEMOTE. */
void build_flush(struct build *c, const ZydisDecodedInstruction *zi)
{
	struct builder *b = c->b;
	const unsigned n = b->n - c->first;
	if (!n)
		return;
	struct uop *u = &b->uop[b->n - (n > 1 ? 2 : 1)];
	if (u->kind != UOP_NOP && !(c->traits & T_FLUSH))
		return;
	u->kind = UOP_FLUSH;
	u->domain = 0;
	u->flush = zi->mnemonic == ZYDIS_MNEMONIC_CLFLUSH ? FLUSH_OUT
		: zi->mnemonic == ZYDIS_MNEMONIC_CLFLUSHOPT ? FLUSH_OUT_WEAK
		: zi->mnemonic == ZYDIS_MNEMONIC_CLWB ? FLUSH_CLEAN : FLUSH_DEMOTE;
	build_assign_slot(c, u, ST_SLOT_FLUSH, 1);
}

/* The pointers and the count advance independently of memory; a compare reads what was loaded. */
void build_string(struct build *c, bool rep, unsigned size)
{
	static const struct { uint8_t base, read, write; } shape[5][2] = {
		{ { REG_GPR + 6, 1, 0 }, { REG_GPR + 7, 0, 1 } },	/* MOVS: [RSI] to [RDI] */
		{ { REG_GPR + 6, 1, 0 }, { REG_GPR + 7, 1, 0 } },	/* CMPS */
		{ { REG_GPR + 7, 0, 1 }, { 0, 0, 0 } },			/* STOS */
		{ { REG_GPR + 6, 1, 0 }, { 0, 0, 0 } },			/* LODS */
		{ { REG_GPR + 7, 1, 0 }, { 0, 0, 0 } },			/* SCAS */
	};
	enum isa_class k = c->cls;
	int which = k == CLASS_movs || k == CLASS_rep_movs ? 0 : k == CLASS_cmps || k == CLASS_rep_cmps ? 1 :
	            k == CLASS_stos || k == CLASS_rep_stos ? 2 : k == CLASS_lods || k == CLASS_rep_lods ? 3 : 4;
	const struct spec *s = build_specs(c);
	const uint8_t rax = REG_GPR, rcx = REG_GPR + 1;
	unsigned i = 0;
	for (; i < c->row->startup; i++)
		build_emit_spec(c, &s[i], true);
	if (rep) {
		c->in->rep_first = (uint8_t)(c->b->n - c->first);
		c->in->rep_chunk = c->row->chunk;
	}
	uint8_t loaded = REG_NONE;
	for (int m = 0; m < 2; m++) {
		struct mem mem = { .plain = 1, .base = shape[which][m].base, .size = (uint16_t)size };
		if (shape[which][m].read) {
			const struct row *merge = isa_row(c->isa, CLASS_mov, size == 1 ? WIDTH_8 : WIDTH_16, FORM_LOAD);
			bool merges = which == 3 && size < 4 && merge->count == 1;
			uint8_t dest = which == 3 && !merges ? rax : build_new_temp(c);
			struct uop *u = build_load(c, &mem, dest, true);
			/* as MOV al, m */
			if (merges && (u = build_emit_spec(c, &c->isa->specs[merge->first], false))) {
				build_add_source(u, dest);
				build_add_source(u, rax);
				build_add_dest(u, rax);
			} else if (u && which == 3 && size < 4) {
				build_add_source(u, rax);
			}
			if (which != 3 && c->n_loaded < sizeof c->loaded)
				c->loaded[c->n_loaded++] = loaded = dest;
		}
	}
	for (int m = 0; m < 2; m++)	/* stores come ahead of the uop that moves the pointer */
		if (shape[which][m].write) {
			struct mem mem = { .plain = 1, .base = shape[which][m].base, .size = (uint16_t)size };
			build_store(c, &mem, which == 2 ? rax : loaded);
		}
	for (; i < c->row->count; i++) {
		struct uop *u = build_emit_spec(c, &s[i], true);
		if (!u)
			return;
		if (s[i].attr & SPEC_FLAGS) {
			for (unsigned l = 0; l < c->n_loaded; l++)
				build_add_source(u, c->loaded[l]);
			if (which == 4)
				build_add_source(u, rax);
			build_write_flags(c, u);
		} else if (s[i].attr & SPEC_PTR) {
			for (int m = 0; m < 2; m++)
				if (shape[which][m].base) {
					build_add_source(u, shape[which][m].base);
					build_add_dest(u, shape[which][m].base);
				}
			if (rep) {
				build_add_source(u, rcx);
				build_add_dest(u, rcx);
			}
		}
	}
	build_left_over(c);
}

void build_names(struct build *c)
{
	if (c->row->count < 2 || c->o.n_dst < 2) {
		build_generic(c, false);
		return;
	}
	const struct spec *s = build_specs(c);
	uint8_t a = c->o.dst[0], b = c->o.dst[1], t = build_new_temp(c);
	const uint8_t move[3][2] = { { t, a }, { a, b }, { b, t } };
	for (int i = 0; i < 3; i++) {
		struct uop *u = build_emit_spec(c, &s[i ? i - 1 : 0], i != 1);
		if (!u)
			return;
		if (i == 0) {	/* saves a name, does no work */
			u->kind = UOP_ELIMINATED;
			u->ports = 0;
			u->latency = 0;
		}
		build_add_dest(u, move[i][0]);
		build_add_source(u, move[i][1]);
	}
}
