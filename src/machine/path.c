/* SPDX-License-Identifier: GPL-2.0-or-later
 * Finds and decodes paths (path.h): a hash table with open addressing, of which nothing is ever removed.
 *
 * Every block has two exits: 0 behind its last instruction, and 1, for REP string instructions, behind one round.  The
 * block of a REP instruction has the slots of one round; exit 0 has none of them.
 */
#include "machine/path.h"
#include <stdlib.h>
#include <string.h>

struct entry {
	uint64_t hash;
	struct iblock *block;	/* NULL: empty */
	struct st_block_def *def;
	uint8_t word_bytes;
	bool repeats;
};

struct path_store {
	const struct isa *isa;
	struct entry *entry;
	size_t size, used;	/* size: a power of two */
	uint32_t next_id;
	size_t def_bytes;
	struct st_block_def *def;	/* room for the largest */
};

enum { STORE_FIRST = 1 << 12 };

struct path_store *path_store_create(const struct isa *isa)
{
	struct path_store *s = calloc(1, sizeof *s);
	if (!s)
		return NULL;
	s->isa = isa;
	s->size = STORE_FIRST;
	s->entry = calloc(s->size, sizeof *s->entry);
	s->def_bytes = sizeof(struct st_block_def) + PATH_INSNS * sizeof(struct st_insn_def) +
		PATH_SLOTS * sizeof(struct st_slot) + 2 * sizeof(struct st_exit_def);
	s->def = calloc(1, s->def_bytes);
	if (!s->entry || !s->def) {
		path_store_destroy(s);
		return NULL;
	}
	return s;
}

void path_store_destroy(struct path_store *s)
{
	if (!s)
		return;
	for (size_t i = 0; s->entry && i < s->size; i++)
		if (s->entry[i].block) {
			isa_block_free(s->entry[i].block);
			free(s->entry[i].def);
		}
	free(s->entry);
	free(s->def);
	free(s);
}

size_t path_store_count(const struct path_store *s)
{
	return s->used;
}

/* The definition without its id, in s->def.  Returns its length. */
static size_t define(struct path_store *s, const struct path *p)
{
	struct st_block_def *def = s->def;
	struct st_insn_def *insn = (struct st_insn_def *)(def + 1);
	struct st_slot *slot = (struct st_slot *)(insn + p->insns);
	struct st_exit_def *exit = (struct st_exit_def *)(slot + p->open);
	const size_t bytes = (size_t)((char *)(exit + 2) - (char *)def);
	memset(def, 0, sizeof *def);
	def->header = ST_HEADER(ST_BLOCK_DEF, bytes);
	def->insns = (uint16_t)p->insns;
	def->slots = (uint16_t)p->open;
	def->exits = 2;
	memcpy(insn, p->insn, p->insns * sizeof *insn);
	memcpy(slot, p->slot, p->open * sizeof *slot);
	memset(exit, 0, 2 * sizeof *exit);
	exit[0].insns = exit[1].insns = def->insns;
	exit[0].slots = p->repeats ? 0 : def->slots;
	exit[1].slots = def->slots;
	exit[1].jump = p->repeats ? ST_JUMP_REPEAT : ST_JUMP_BORING;
	return bytes;
}

static uint64_t mixed(uint64_t a, uint64_t b)
{
	__extension__ const unsigned __int128 product = (unsigned __int128)a * b;
	return (uint64_t)product ^ (uint64_t)(product >> 64);
}

/* Each instruction and access adds by itself, so that the host can multiply for several at once. */
static uint64_t hash_of(const struct path *p)
{
	const uint64_t k = UINT64_C(0x9e3779b97f4a7c15);
	uint64_t h = p->word_bytes + 16u * p->insns + 4096u * p->open;
	for (unsigned i = 0; i < p->insns; i++) {
		uint64_t w[3];
		memcpy(w, &p->insn[i], sizeof w);
		h += mixed(w[0] ^ k, w[1] ^ w[2] ^ (k << 1 | i));
	}
	for (unsigned i = 0; i < p->open; i++) {
		uint64_t w;
		memcpy(&w, &p->slot[i], sizeof w);
		h += mixed(w ^ k, k + 2 * i);
	}
	return mixed(h, k);
}

/* Is it the path of this entry? */
static bool is_path(const struct entry *e, const struct path *p)
{
	const struct st_block_def *d = e->def;
	const struct st_insn_def *insn = (const struct st_insn_def *)(d + 1);
	const struct st_slot *slot = (const struct st_slot *)(insn + d->insns);
	return e->word_bytes == p->word_bytes && e->repeats == p->repeats && d->insns == p->insns &&
		d->slots == p->open && !memcmp(insn, p->insn, p->insns * sizeof *insn) &&
		!memcmp(slot, p->slot, p->open * sizeof *slot);
}

static bool grow(struct path_store *s)
{
	const size_t size = 2 * s->size;
	struct entry *bigger = calloc(size, sizeof *bigger);
	if (!bigger)
		return false;
	for (size_t i = 0; i < s->size; i++) {
		if (!s->entry[i].block)
			continue;
		size_t at = s->entry[i].hash & (size - 1);
		while (bigger[at].block)
			at = (at + 1) & (size - 1);
		bigger[at] = s->entry[i];
	}
	free(s->entry);
	s->entry = bigger;
	s->size = size;
	return true;
}

struct iblock *path_block(struct path_store *s, const struct path *p, const struct st_block_def **def, struct err *err)
{
	const uint64_t hash = hash_of(p);
	size_t at = hash & (s->size - 1);
	for (struct entry *e; (e = &s->entry[at])->block; at = (at + 1) & (s->size - 1))
		if (e->hash == hash && is_path(e, p)) {
			*def = e->def;
			return e->block;
		}
	const size_t bytes = define(s, p);
	struct entry new = { .hash = hash, .word_bytes = p->word_bytes, .repeats = p->repeats, .def = malloc(bytes) };
	s->def->id = s->next_id;
	if (!new.def || isa_decode(s->isa, p->word_bytes, s->def, bytes, &new.block, err) < 0) {
		if (!new.def)
			err_set(err, ERR_NOMEM, "out of memory for the guest's code");
		free(new.def);
		return NULL;
	}
	memcpy(new.def, s->def, bytes);
	s->next_id++;
	s->entry[at] = new;
	if (++s->used * 2 > s->size && !grow(s) && s->used + 1 >= s->size) {
		err_set(err, ERR_NOMEM, "out of memory for the guest's code");
		return NULL;
	}
	*def = new.def;
	return new.block;
}
