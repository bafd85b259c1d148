/* SPDX-License-Identifier: GPL-2.0-or-later
 * Finds and decodes paths (path.h): a hash table with open addressing, of which nothing is ever removed.
 *
 * Every block has two exits: 0 behind its last instruction, and 1, for REP string instructions, behind one round.  The
 * block of a REP instruction has the slots of one round; exit 0 has none of them.
 */
#include "machine/path.h"
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

struct path_known {
	struct iblock *block;
	uint8_t word_bytes;
	bool repeats;
	struct st_block_def def;	/* what it has follows */
};

struct entry {
	uint64_t hash;
	struct path_known *known;	/* NULL: empty */
};

enum { GUESSES_LOG2 = 12 };

struct path_store {
	const struct isa *isa;
	struct entry *entry;
	size_t size, used;	/* size: a power of two */
	size_t def_bytes;
	struct st_block_def *def;	/* room for the largest */
	uint32_t last;		/* id of the path before: where it leads depends on where it came from */
	const struct path_known *guess[1 << GUESSES_LOG2];	/* by address and `last`; NULL: none */
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
		if (s->entry[i].known) {
			isa_block_free(s->entry[i].known->block);
			free(s->entry[i].known);
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

static const struct st_insn_def *insns_of(const struct path_known *k)
{
	return (const struct st_insn_def *)(&k->def + 1);
}

/* Are the accesses, and all but the instructions, those of the path? */
static inline bool is_alike(const struct path_known *k, const struct path *p)
{
	if (k->def.insns != p->insns || k->def.slots != p->open || k->word_bytes != p->word_bytes ||
		k->repeats != p->repeats)
		return false;
	const struct st_slot *slot = (const struct st_slot *)(insns_of(k) + p->insns);
	uint64_t differ = 0, a, b;
	for (unsigned i = 0; i < p->open; i++) {	/* few: a memcmp would take longer */
		memcpy(&a, &slot[i], sizeof a);
		memcpy(&b, &p->slot[i], sizeof b);
		differ |= a ^ b;
	}
	return !differ;
}

static bool is_path(const struct path_known *k, const struct path *p)
{
	return is_alike(k, p) && !memcmp(insns_of(k), p->insn, p->insns * sizeof *p->insn);
}

void path_guess(struct path_store *s, struct path *p, uint64_t addr)
{
	const uint64_t h = (addr ^ (uint64_t)s->last << 32) * UINT64_C(0x9e3779b97f4a7c15);
	p->guessed = &s->guess[h >> (64 - GUESSES_LOG2)];
	p->guess = *p->guessed;
	p->knowns = p->guess ? p->guess->def.insns : 0;
	p->known = p->guess ? insns_of(p->guess) : p->insn;
}

void path_own(struct path *p)
{
	const unsigned n = p->insns < p->knowns ? p->insns + 1 : p->knowns;
	memcpy(p->insn, p->known, n * sizeof *p->insn);
	p->knowns = 0;
	p->known = p->insn;
}

static bool grow(struct path_store *s)
{
	const size_t size = 2 * s->size;
	struct entry *bigger = calloc(size, sizeof *bigger);
	if (!bigger)
		return false;
	for (size_t i = 0; i < s->size; i++) {
		if (!s->entry[i].known)
			continue;
		size_t at = s->entry[i].hash & (size - 1);
		while (bigger[at].known)
			at = (at + 1) & (size - 1);
		bigger[at] = s->entry[i];
	}
	free(s->entry);
	s->entry = bigger;
	s->size = size;
	return true;
}

void path_append(struct path *p, uint64_t w0, uint64_t w1, uint64_t w2)
{
	const uint64_t w[3] = { w0, w1, w2 };
	if (p->knowns)
		path_own(p);
	memcpy(&p->insn[p->insns], w, sizeof w);
}

/* Decodes the path.  NULL: *err says why. */
static struct path_known *learn(struct path_store *s, const struct path *p, struct err *err)
{
	const size_t bytes = define(s, p);
	struct path_known *k = malloc(offsetof(struct path_known, def) + bytes);
	s->def->id = (uint32_t)s->used;
	if (!k)
		err_set(err, ERR_NOMEM, "out of memory for the guest's code");
	if (!k || isa_decode(s->isa, p->word_bytes, s->def, bytes, &k->block, err) < 0) {
		free(k);
		return NULL;
	}
	k->word_bytes = p->word_bytes;
	k->repeats = p->repeats;
	memcpy(&k->def, s->def, bytes);
	return k;
}

/* The path, of which insn[] has the instructions. */
static struct path_known *find(struct path_store *s, const struct path *p, struct err *err)
{
	const uint64_t hash = hash_of(p);
	size_t at = hash & (s->size - 1);
	for (struct entry *e; (e = &s->entry[at])->known; at = (at + 1) & (s->size - 1))
		if (e->hash == hash && is_path(e->known, p))
			return e->known;
	struct path_known *k = learn(s, p, err);
	if (!k)
		return NULL;
	s->entry[at] = (struct entry){ hash, k };
	if (++s->used * 2 > s->size && !grow(s) && s->used + 1 >= s->size) {
		err_set(err, ERR_NOMEM, "out of memory for the guest's code");
		return NULL;
	}
	return k;
}

struct iblock *path_block(struct path_store *s, struct path *p, const struct st_block_def **def, struct err *err)
{
	const struct path_known *k = p->guess;
	if (__builtin_expect(!p->knowns || !is_alike(k, p), 0)) {
		if (p->knowns)
			path_own(p);
		k = find(s, p, err);
		if (!k)
			return NULL;
		*p->guessed = k;
	}
	s->last = k->def.id;
	*def = &k->def;
	return k->block;
}
