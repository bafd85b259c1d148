/* SPDX-License-Identifier: GPL-2.0-or-later
 * What the wrong path knows of a process (walker.h): a hash of instruction addresses; the bytes of executable
 * mappings, which are decoded when a walk gets there; and a direct-mapped table of words of memory.
 */
#include "core/wrongpath/walker_state.h"
#include <stdlib.h>
#include <string.h>

enum { LAZY_INSNS = 24 };

int walk_space_create(struct walk_space **out, const struct isa *isa, int word_bytes, struct err *err)
{
	struct walk_space *s = calloc(1, sizeof *s);
	if (s) {
		s->isa = isa;
		s->word_bytes = word_bytes;
		s->places = 1 << 12;
		s->generation = 1;
		s->place = calloc(s->places, sizeof *s->place);
		s->word = calloc((size_t)1 << WORDS_LOG2, sizeof *s->word);
	}
	if (!s || !s->place || !s->word) {
		walk_space_destroy(s);
		return err_set(err, ERR_NOMEM, "out of memory for the wrong path's code");
	}
	*out = s;
	return 0;
}

void walk_space_destroy(struct walk_space *s)
{
	if (!s)
		return;
	for (size_t i = 0; i < s->lazies; i++)
		isa_block_free(s->lazy[i]);
	for (size_t i = 0; i < s->ranges; i++)
		free(s->range[i].data);
	free(s->range);
	free(s->lazy);
	free(s->place);
	free(s->word);
	free(s);
}

/* --- instructions --- */

static bool put(struct walk_space *s, uint64_t addr, const struct iblock *b, unsigned index)
{
	if (s->used * 2 >= s->places) {
		struct walk_space bigger = { .places = s->places * 2 };
		bigger.place = calloc(bigger.places, sizeof *bigger.place);
		if (!bigger.place)
			return false;
		for (size_t i = 0; i < s->places; i++)
			if (s->place[i].block) {
				*place_of(&bigger, s->place[i].addr) = s->place[i];
				bigger.used++;
			}
		free(s->place);
		s->place = bigger.place;
		s->places = bigger.places;
		s->used = bigger.used;
	}
	struct place *p = place_of(s, addr);
	s->used += !p->addr;
	p->addr = addr;
	p->block = (uint64_t)b | (uint64_t)index << PLACE_INDEX;
	return true;
}

int walk_space_block(struct walk_space *s, struct iblock *b, struct err *err)
{
	s->generation++;
	for (unsigned i = 0; i < b->insns; i++)
		if (b->insn[i].addr && !put(s, b->insn[i].addr, b, i))
			return err_set(err, ERR_NOMEM, "out of memory for the wrong path's code");
	return 0;
}

void walk_space_forget(struct walk_space *s, const struct iblock *b)
{
	s->generation++;
	for (unsigned i = 0; i < b->insns; i++) {
		struct place *p = place_of(s, b->insn[i].addr);
		if (p->block && block_at(p->block) == b)
			p->block = 0;
	}
}

/* --- bytes --- */

static bool more_room(void *array, size_t *room, size_t count, size_t size)
{
	void **a = array, *p;
	if (count < *room)
		return true;
	size_t bigger = *room ? *room * 2 : 16;
	if (!(p = realloc(*a, bigger * size)))
		return false;
	*a = p;
	*room = bigger;
	return true;
}

static bool add_range(struct walk_space *s, uint64_t addr, const void *bytes, size_t n)
{
	uint8_t *data = n ? malloc(n) : NULL;
	if (!data || !more_room(&s->range, &s->ranges_room, s->ranges, sizeof *s->range)) {
		free(data);
		return !n;
	}
	memcpy(data, bytes, n);
	s->range[s->ranges++] = (struct range){ addr, n, data };
	return true;
}

int walk_space_code(struct walk_space *s, uint64_t addr, const void *bytes, size_t n, struct err *err)
{
	if (addr + n < addr)
		return err_set(
			err, ERR_INPUT, "the stream holds code that reaches beyond the end of the address space");
	walk_space_cut(s, addr, n);
	if (!add_range(s, addr, bytes, n))
		return err_set(err, ERR_NOMEM, "out of memory for the program's code");
	return 0;
}

void walk_space_cut(struct walk_space *s, uint64_t addr, uint64_t bytes)
{
	if (!bytes)
		return;
	const uint64_t end = addr + bytes - 1;
	for (size_t i = 0; i < s->ranges; i++) {
		struct range r = s->range[i];
		const uint64_t last = r.addr + r.bytes - 1;
		if (r.addr > end || last < addr)
			continue;
		s->range[i--] = s->range[--s->ranges];
		/* what is left of the range before and behind, which is looked at again; without memory for it,
		 * that code is unknown */
		if (r.addr < addr)
			add_range(s, r.addr, r.data, addr - r.addr);
		if (last > end)
			add_range(s, end + 1, r.data + (end + 1 - r.addr), last - end);
		free(r.data);
	}
	for (size_t i = s->lazy_live; i < s->lazies; i++) {
		const struct iblock *b = s->lazy[i];
		const struct insn *last = &b->insn[b->insns - 1];
		if (b->addr <= end && last->addr + last->len - 1 >= addr) {
			walk_space_forget(s, b);
			struct iblock *cut = s->lazy[i];	/* kept: the core may not have run it yet */
			s->lazy[i] = s->lazy[s->lazy_live];
			s->lazy[s->lazy_live++] = cut;
		}
	}
}

void walk_space_again(struct walk_space *s)
{
	for (; s->lazy_live < s->lazies; s->lazy_live++)
		walk_space_forget(s, s->lazy[s->lazy_live]);
}

/* The memory slots that the tracer would describe for the instruction. */
static unsigned slots_of(const struct sem *m, unsigned insn, int word_bytes, struct st_slot *out)
{
	unsigned n = 0;
	const unsigned word = m->size ? m->size : (unsigned)word_bytes;
	if (m->flags & SEM_PREFETCH)
		out[n++] = (struct st_slot){ .kind = ST_SLOT_PREFETCH, .insn = (uint8_t)insn };
	if (m->flags & SEM_LOADS)
		out[n++] = (struct st_slot){ .kind = ST_SLOT_LOAD, .insn = (uint8_t)insn, .size = m->bytes };
	if (m->flags & SEM_POPS)
		out[n++] = (struct st_slot){ .kind = ST_SLOT_LOAD, .insn = (uint8_t)insn, .size = (uint16_t)word };
	if (m->flags & SEM_STORES)
		out[n++] = (struct st_slot){ .kind = ST_SLOT_STORE, .insn = (uint8_t)insn, .size = m->bytes };
	if (m->flags & SEM_PUSHES)
		out[n++] = (struct st_slot){ .kind = ST_SLOT_STORE, .insn = (uint8_t)insn, .size = (uint16_t)word };
	return n;
}

/* Decodes a block of straight-line code from the bytes at addr; returns NULL if there are none. */
static struct iblock *decode(struct walk_space *s, uint64_t addr)
{
	const struct range *r = NULL;
	for (size_t i = 0; i < s->ranges; i++)
		if (addr - s->range[i].addr < s->range[i].bytes)
			r = &s->range[i];
	if (!r)
		return NULL;
	struct {
		struct st_block_def def;
		uint8_t rest[LAZY_INSNS * (sizeof(struct st_insn_def) + 4 * sizeof(struct st_slot)) +
			sizeof(struct st_exit_def)];
	} block = { .def.id = UINT32_MAX };
	struct st_slot slot[LAZY_INSNS * 4];
	struct st_insn_def *insn = (struct st_insn_def *)block.rest;
	unsigned n = 0, slots = 0;
	for (uint64_t at = addr; n < LAZY_INSNS && at - r->addr < r->bytes && !(n && place_of(s, at)->block);) {
		const uint8_t *code = r->data + (at - r->addr);
		size_t left = r->bytes - (at - r->addr);
		struct sem m;
		unsigned len = isa_semantic(s->isa, s->word_bytes, code, left, at, &m);
		if (!len)
			break;
		insn[n].addr = at;
		insn[n].len = (uint8_t)len;
		memcpy(insn[n].bytes, code, len);
		slots += slots_of(&m, n, s->word_bytes, slot + slots);
		n++;
		at += len;
		if (m.op == SEM_STOP || m.op == SEM_CALL || m.op == SEM_RET || m.op == SEM_JMP || m.op == SEM_JCC)
			break;
	}
	if (!n)
		return NULL;
	block.def.insns = (uint16_t)n;
	block.def.slots = (uint16_t)slots;
	memcpy(insn + n, slot, slots * sizeof *slot);
	struct iblock *b = NULL;
	if (!more_room(&s->lazy, &s->lazies_room, s->lazies, sizeof *s->lazy) ||
	    isa_decode(s->isa, s->word_bytes, &block.def, sizeof block, &b, NULL) < 0)
		return NULL;
	s->lazy[s->lazies++] = b;
	if (walk_space_block(s, b, NULL) < 0)
		return NULL;
	return b;
}

struct iblock *walk_space_find(struct walk_space *s, uint64_t addr, unsigned *index)
{
	const struct place *p = place_of(s, addr);
	*index = (unsigned)(p->block >> PLACE_INDEX);
	return !addr ? NULL : p->block ? block_at(p->block) : decode(s, addr);
}

/* --- memory --- */

static uint64_t bytes_mask(unsigned bytes)
{
	return bytes >= 8 ? ~UINT64_C(0) : (UINT64_C(1) << 8 * bytes) - 1;
}

bool walk_memory_read(const struct walk_space *s, uint64_t addr, unsigned bytes, uint64_t *value)
{
	const unsigned offset = addr & 7, first = bytes < 8 - offset ? bytes : 8 - offset;
	const struct word *w = word_of(s, addr >> 3);
	const uint64_t needs = ((1u << first) - 1) << offset;
	if (w->tag >> 8 != addr >> 3 || needs & ~w->tag)
		return false;
	*value = w->value >> 8 * offset & bytes_mask(first);
	if (first == bytes)
		return true;
	uint64_t rest;
	if (!walk_memory_read(s, addr + first, bytes - first, &rest))
		return false;
	*value |= rest << 8 * first;
	return true;
}

void walk_memory_write(struct walk_space *s, uint64_t addr, unsigned bytes, uint64_t value)
{
	const unsigned offset = addr & 7, first = bytes < 8 - offset ? bytes : 8 - offset;
	struct word *w = word_of(s, addr >> 3);
	const uint64_t mask = bytes_mask(first) << 8 * offset;
	if (w->tag >> 8 != addr >> 3)
		w->tag = addr >> 3 << 8;
	w->tag |= ((1u << first) - 1) << offset;
	w->value = (w->value & ~mask) | (value << 8 * offset & mask);
	if (first != bytes)
		walk_memory_write(s, addr + first, bytes - first, value >> 8 * first);
}

void walk_memory_forget(struct walk_space *s, uint64_t addr, unsigned bytes)
{
	while (bytes) {
		const unsigned offset = addr & 7, first = bytes < 8 - offset ? bytes : 8 - offset;
		struct word *w = word_of(s, addr >> 3);
		if (w->tag >> 8 == addr >> 3)
			w->tag &= ~(uint64_t)(((1u << first) - 1) << offset);
		addr += first;
		bytes -= first;
	}
}
