/* SPDX-License-Identifier: GPL-2.0-or-later
 * TAGE and the loop predictor; see tage.h. */
#include "core/predict/tage.h"
#include <emmintrin.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
	COUNTER_MAX = 7, USEFUL_MAX = 3,
	BASE_MAX = 3, QUICK = 4,	/* base[]: the bimodal counter, and from bit QUICK on that of quick_says */
	PRESSURE_MAX = 1024,	/* at this pressure, all usefulness counters are halved */
	LOOP_CONFIDENT = 3, LOOP_TRIP_MAX = 16383, LOOP_AGE = 31,
};

/* entry: tag << 5 | counter << 2 | useful */
#define ENTRY(tag, counter, useful) ((uint16_t)((tag) << 5 | (counter) << 2 | (useful)))
#define COUNTER(e) ((e) >> 2 & 7)
#define USEFUL(e)  ((e) & 3)

int tage_init(struct tage *t, const struct core_config *c, struct err *err)
{
	memset(t, 0, sizeof(*t));
	uint32_t n = c->tage_tables, min = c->tage_history_min, max = c->tage_history_max;
	if (n >= TAGE_TABLES || min >= max || max > TAGE_HISTORY_MAX)
		return err_set(err, ERR_INPUT, "tage.tables = %u: cannot have histories from %u to %u branches", n, min,
			max);
	if (c->tage_loop_entries & (c->tage_loop_entries - 1))
		return err_set(err, ERR_INPUT, "tage.loop_entries = %u is not a power of two", c->tage_loop_entries);
	t->tables = n;
	t->groups = n > 8 ? 2 : 1;
	t->all = (1u << n) - 1;
	t->entries_log2 = c->tage_entries_log2;
	t->base_mask = (UINT32_C(1) << c->tage_base_log2) - 1;
	t->quick = c->predict_override != 0;
	t->loop_mask = c->tage_loop_entries ? c->tage_loop_entries - 1 : 0;
	t->entry = malloc(((size_t)(n ? n : 1) << t->entries_log2) * sizeof(*t->entry));
	t->base = malloc((size_t)t->base_mask + 1);
	t->loop = c->tage_loop_entries ? malloc(c->tage_loop_entries * sizeof(*t->loop)) : NULL;
	if (!t->entry || !t->base || (c->tage_loop_entries && !t->loop)) {
		tage_release(t);
		return err_set(err, ERR_NOMEM, "out of memory for the branch predictor");
	}
	for (uint32_t i = 0; i < TAGE_TABLES; i++)
		t->table[i] = t->entry;		/* a lane without a table reads any entry, and never matches */
	for (uint32_t i = 0; i < n; i++) {
		double length = n == 1 ? min : min * pow((double)max / min, (double)i / (n - 1));
		t->length[i] = (uint32_t)lround(length);
		t->leaves[i] = (uint16_t)(1u << t->length[i] % TAGE_FOLD_BITS);
		t->leaves2[i] = (uint16_t)(1u << t->length[i] % TAGE_FOLD2_BITS);
		uint32_t bits = c->tage_tag_bits + i / 2;
		t->tag_mask[i] = (uint16_t)((1u << (bits < TAGE_TAG_BITS ? bits : TAGE_TAG_BITS)) - 1);
		t->table[i] = t->entry + ((size_t)i << t->entries_log2);
	}
	tage_clear(t);
	return 0;
}

void tage_release(struct tage *t)
{
	free(t->entry);
	free(t->base);
	free(t->loop);
	t->entry = NULL;
	t->base = NULL;
	t->loop = NULL;
}

void tage_clear(struct tage *t)
{
	size_t entries = (size_t)(t->tables ? t->tables : 1) << t->entries_log2;
	for (size_t i = 0; i < entries; i++)
		t->entry[i] = ENTRY(0, 3, 0);
	/* both counters weakly not taken: a new branch falls through */
	memset(t->base, 1 | 1 << QUICK, (size_t)t->base_mask + 1);
	if (t->loop)
		memset(t->loop, 0, (t->loop_mask + 1) * sizeof(*t->loop));
	memset(t->fold, 0, sizeof(t->fold));
	memset(t->fold2, 0, sizeof(t->fold2));
	memset(t->history, 0, sizeof(t->history));
	t->position = TAGE_HISTORY_BYTES - TAGE_HISTORY_MAX - 1;
	t->lfsr = 0xace1u;
	t->use_alternate = 0;
	t->trust_loop = 0;
	t->pressure = 0;
	t->overruled = false;
}

static uint32_t chance(struct tage *t)
{
	/* Galois register of 32 bits, taps 32 22 2 1 */
	t->lfsr = t->lfsr >> 1 ^ (-(t->lfsr & 1) & 0x80200003u);
	return t->lfsr;
}

/* Moves one fold of eight histories: rotates by one, adds the new outcome, removes the oldest (mask `out`). */
static inline __attribute__((always_inline)) void fold(uint16_t *lanes, const uint16_t *leaves, const unsigned bits,
                                                       __m128i in, __m128i out)
{
	__m128i f = _mm_load_si128((const __m128i *)lanes);
	f = _mm_or_si128(_mm_slli_epi16(f, 1), _mm_srli_epi16(f, (int)bits - 1));
	f = _mm_and_si128(f, _mm_set1_epi16((short)((1u << bits) - 1)));
	out = _mm_and_si128(out, _mm_load_si128((const __m128i *)leaves));
	_mm_store_si128((__m128i *)lanes, _mm_xor_si128(f, _mm_xor_si128(in, out)));
}

/* Two bytes of the history; only the lower one is used. */
static inline short two_bytes(const uint8_t *h)
{
	short v;
	memcpy(&v, h, sizeof(v));
	return v;
}

/* Adds an outcome to all folds.  newest: it is newest[0] in the history, and the one before it is newest[1]. */
static inline __attribute__((always_inline)) void push_folds(const struct tage *t, uint16_t *folds, uint16_t *folds2,
	const uint8_t *newest, bool bit, const unsigned groups)
{
	__m128i in = _mm_set1_epi16(bit), one = _mm_set1_epi16(1);
	for (unsigned g = 0; g < groups; g++) {
		const uint32_t *l = t->length + 8 * g;
		/* Gathered in a register, because a vector load after narrow stores would stall the host. */
		__m128i old = _mm_cvtsi32_si128(two_bytes(newest + l[0]));
		old = _mm_insert_epi16(old, two_bytes(newest + l[1]), 1);
		old = _mm_insert_epi16(old, two_bytes(newest + l[2]), 2);
		old = _mm_insert_epi16(old, two_bytes(newest + l[3]), 3);
		old = _mm_insert_epi16(old, two_bytes(newest + l[4]), 4);
		old = _mm_insert_epi16(old, two_bytes(newest + l[5]), 5);
		old = _mm_insert_epi16(old, two_bytes(newest + l[6]), 6);
		old = _mm_insert_epi16(old, two_bytes(newest + l[7]), 7);
		__m128i out = _mm_cmpeq_epi16(_mm_and_si128(old, one), one);
		fold(folds + 8 * g, t->leaves + 8 * g, TAGE_FOLD_BITS, in, out);
		fold(folds2 + 8 * g, t->leaves2 + 8 * g, TAGE_FOLD2_BITS, in, out);
	}
}

static inline __attribute__((always_inline)) void push(struct tage *t, bool bit, const unsigned groups)
{
	if (__builtin_expect(!t->position, 0)) {
		t->position = TAGE_HISTORY_BYTES - TAGE_HISTORY_MAX - 1;
		memmove(t->history + t->position, t->history, TAGE_HISTORY_MAX + 1);
	}
	t->history[--t->position] = bit;
	push_folds(t, t->fold, t->fold2, t->history + t->position, bit, groups);
}

void tage_push(struct tage *t, bool bit)
{
	if (t->groups == 1)
		push(t, bit, 1);
	else
		push(t, bit, 2);
}

static uint8_t toward(uint8_t counter, bool taken, uint8_t max)
{
	if (taken)
		return counter < max ? counter + 1 : counter;
	return counter ? counter - 1 : 0;
}

static void train_entry(uint16_t *e, bool taken)
{
	uint16_t v = *e;
	*e = (uint16_t)((v & ~(7 << 2)) | toward(COUNTER(v), taken, COUNTER_MAX) << 2);
}

/* After a mispredict, allocates up to two entries that are not useful in tables with longer histories. */
static void allocate(struct tage *t, int provider, bool taken)
{
	uint32_t from = (uint32_t)(provider + 1), dice = chance(t);
	/* Skip a table now and then, so that one branch does not fill all of them in step. */
	if (dice & 1 && from + 1 < t->tables)
		from += 1 + (dice >> 1 & 1 && from + 2 < t->tables);
	int taken_up = 0;
	for (uint32_t i = from; i < t->tables && taken_up < 2; i++) {
		uint16_t *e = &t->table[i][t->at[i]];
		if (USEFUL(*e)) {
			if (t->pressure < PRESSURE_MAX)
				t->pressure++;
			continue;
		}
		*e = ENTRY(t->tag[i], taken ? 4 : 3, 0);
		taken_up++;
		if (t->pressure)
			t->pressure--;
		i++;	/* skip the next table */
	}
	if (t->pressure == PRESSURE_MAX) {
		size_t entries = (size_t)t->tables << t->entries_log2;
		for (size_t i = 0; i < entries; i++)
			t->entry[i] = (uint16_t)((t->entry[i] & ~3) | USEFUL(t->entry[i]) >> 1);
		t->pressure = 0;
	}
}

/* The loop predictor: returns the direction, or -1 if it has none. */
static int loop_predict(uint32_t tag, const struct loop_entry *e)
{
	if (e->tag != tag || e->confidence < LOOP_CONFIDENT)
		return -1;
	return e->count + 1 == e->trip ? !e->taken : e->taken;
}

static void loop_train(struct tage *t, uint32_t tag, struct loop_entry *e, bool taken, bool others_wrong, int opinion)
{
	if (e->tag == tag && e->age) {
		if (opinion >= 0 && opinion != taken) {	/* its trip count is not constant */
			*e = (struct loop_entry){ 0 };
			return;
		}
		if (opinion >= 0 && others_wrong && e->age < LOOP_AGE)
			e->age++;
		if (e->count < LOOP_TRIP_MAX)
			e->count++;
		if (taken != e->taken) {
			if (e->count == e->trip) {
				if (e->confidence < LOOP_CONFIDENT)
					e->confidence++;
			} else {
				e->trip = e->count;
				e->confidence = 0;
			}
			e->count = 0;
		} else if (e->count == LOOP_TRIP_MAX || (e->trip && e->count > e->trip)) {
			e->confidence = 0;
			e->trip = 0;
		}
		return;
	}
	if (!others_wrong || (chance(t) & 3))
		return;
	if (e->age)
		e->age--;
	else	/* the mispredict was most likely the exit */
		*e = (struct loop_entry){ .tag = tag, .age = 15, .taken = !taken };
}

/* What the tables hold for a branch: sets of tables, a bit each. */
struct looked {
	uint32_t match;		/* the tag matches */
	uint32_t taken, firm;	/* the counter says taken; the entry is not new */
};

/* The top bits of the lanes: those of b above those of a. */
static inline uint32_t signs(__m128i a, __m128i b)
{
	return (uint32_t)_mm_movemask_epi8(_mm_packs_epi16(a, b));
}

/* Computes entry and tag in every table, and looks at the entries; path: only a wrong path's prediction is wanted. */
static inline __attribute__((always_inline)) struct looked look_up(const struct tage *t, const uint16_t *fold,
	const uint16_t *fold2, uint16_t *at, uint16_t *tags, uint32_t index_pc, uint32_t tag_pc, const unsigned groups,
	const bool path)
{
	__m128i pc = _mm_set1_epi16((short)index_pc), mask = _mm_set1_epi16((short)((1u << t->entries_log2) - 1));
	__m128i tag = _mm_set1_epi16((short)tag_pc), log2 = _mm_cvtsi32_si128((int)t->entries_log2);
	struct looked l = { 0, 0, 0 };
	for (unsigned g = 0; g < groups; g++, at += 8) {
		uint16_t *const *e = t->table + 8 * g;
		__m128i f = _mm_load_si128((const __m128i *)(fold + 8 * g)),
			f2 = _mm_load_si128((const __m128i *)(fold2 + 8 * g));
		__m128i index = _mm_xor_si128(_mm_xor_si128(f, _mm_srl_epi16(f, log2)), pc);
		_mm_store_si128((__m128i *)at, _mm_and_si128(index, mask));
		__m128i want =
			_mm_xor_si128(_mm_xor_si128(f2, _mm_srli_epi16(f2, TAGE_TAG_BITS)), _mm_srli_epi16(f, 4));
		want = _mm_xor_si128(want, tag);
		want = _mm_and_si128(want, _mm_load_si128((const __m128i *)(t->tag_mask + 8 * g)));
		if (!path)
			_mm_store_si128((__m128i *)(tags + 8 * g), want);
		__m128i have = _mm_cvtsi32_si128(e[0][at[0]]);
		have = _mm_insert_epi16(have, e[1][at[1]], 1);
		have = _mm_insert_epi16(have, e[2][at[2]], 2);
		have = _mm_insert_epi16(have, e[3][at[3]], 3);
		have = _mm_insert_epi16(have, e[4][at[4]], 4);
		have = _mm_insert_epi16(have, e[5][at[5]], 5);
		have = _mm_insert_epi16(have, e[6][at[6]], 6);
		have = _mm_insert_epi16(have, e[7][at[7]], 7);
		const __m128i same = _mm_cmpeq_epi16(_mm_srli_epi16(have, 5), want);
		if (!path) {
			l.match |= signs(same, _mm_setzero_si128()) << 8 * g;
			continue;
		}
		const uint32_t both = signs(same, _mm_slli_epi16(have, 11));	/* and the counter's top bit */
		l.match |= (both & 255) << 8 * g;
		l.taken |= both >> 8 << 8 * g;
		/* a new entry has usefulness 0 and a counter of 3 or 4 */
		const __m128i state = _mm_and_si128(have, _mm_set1_epi16(31));
		const __m128i fresh = _mm_or_si128(_mm_cmpeq_epi16(state, _mm_set1_epi16(ENTRY(0, 3, 0))),
			_mm_cmpeq_epi16(state, _mm_set1_epi16(ENTRY(0, 4, 0))));
		l.firm |= (signs(fresh, _mm_setzero_si128()) ^ 255) << 8 * g;
	}
	l.match &= t->all;
	return l;
}

/* --- the wrong path --- */
void tage_path_begin(const struct tage *t, struct tage_path *path, unsigned count, unsigned bits)
{
	memcpy(path->fold, t->fold, sizeof(path->fold));
	memcpy(path->fold2, t->fold2, sizeof(path->fold2));
	path->position = TAGE_PATH_MAX;
	path->pushed = 0;
	memcpy(path->history + TAGE_PATH_MAX, t->history + t->position, TAGE_HISTORY_MAX + 1);
	for (unsigned age = 0; age < count; age++) {
		unsigned bit = bits >> age & 1;
		path->history[TAGE_PATH_MAX + age] = (uint8_t)bit;
		if (bit == t->history[t->position + age])
			continue;
		for (uint32_t i = 0; i < t->tables; i++) {
			if (t->length[i] <= age)
				continue;
			path->fold[i] ^= (uint16_t)(1u << age);
			path->fold2[i] ^= (uint16_t)(1u << age);
		}
	}
}

static inline __attribute__((always_inline)) void path_push(const struct tage *t, struct tage_path *path, bool bit,
	const unsigned groups)
{
	if (__builtin_expect(path->pushed == TAGE_PATH_MAX, 0))
		return;
	path->pushed++;
	path->history[--path->position] = bit;
	push_folds(t, path->fold, path->fold2, path->history + path->position, bit, groups);
}

void tage_path_push(const struct tage *t, struct tage_path *path, bool bit)
{
	if (t->groups == 1)
		path_push(t, path, bit, 1);
	else
		path_push(t, path, bit, 2);
}

/* The prediction of the matching entry with the longest history, or of the next one, or of the bimodal table.  It
 * has no branches: where the path goes is what the host can least predict, so it should know soon. */
static inline __attribute__((always_inline)) bool
path_says(const struct tage *t, const struct tage_path *path, uint32_t pc, uint32_t hash, const unsigned groups)
{
	uint16_t at[TAGE_TABLES] __attribute__((aligned(16)));
	const uint32_t index_pc = pc ^ pc >> t->entries_log2;
	const struct looked l = look_up(t, path->fold, path->fold2, at, NULL, index_pc, hash >> 20, groups, true);
	/* The bimodal table is bit 0 of these sets, ahead of the tables. */
	const uint32_t base = t->base[(pc ^ pc >> 13) & t->base_mask] >> 1 & 1;
	const uint32_t match = l.match << 1 | 1, taken = l.taken << 1 | base,
		       firm = (l.firm << 1 | 1) | (t->use_alternate < 0 ? UINT32_MAX : 0);
	const unsigned provider = 31 - (unsigned)__builtin_clz(match);
	/* the next one behind it, or itself if there is none */
	const uint32_t rest = (match ^ UINT32_C(1) << provider) | 1;
	const unsigned next = 31 - (unsigned)__builtin_clz(rest);
	const uint32_t ask = taken >> next ^ ((taken >> provider ^ taken >> next) & (0 - (firm >> provider & 1)));
	return ask & 1;
}

static inline __attribute__((always_inline)) bool path_branch(const struct tage *t, struct tage_path *path, uint64_t ip,
	const unsigned groups)
{
	const uint32_t pc = (uint32_t)(ip ^ ip >> 32), hash = pc * UINT32_C(0x9e3779b1);
	const int opinion =
		t->loop && t->trust_loop >= 0 ? loop_predict(hash | 1, &t->loop[(hash >> 12) & t->loop_mask]) : -1;
	const bool taken = opinion >= 0 ? opinion : path_says(t, path, pc, hash, groups);
	path_push(t, path, taken, groups);
	return taken;
}

bool tage_path_branch(const struct tage *t, struct tage_path *path, uint64_t ip)
{
	return t->groups == 1 ? path_branch(t, path, ip, 1) : path_branch(t, path, ip, 2);
}

/* What the tables say of a branch.  provider, second: the tables with the longest match and the next one, or -1;
 * says, alternate: what these two say, or the bimodal table.  fresh: the provider's entry is new. */
struct opinion { int provider, second; uint16_t *entry; bool fresh, says, alternate; };

static inline struct opinion ask(struct tage *t, uint32_t match, bool base_says)
{
	struct opinion o = { .provider = -1, .second = -1, .says = base_says, .alternate = base_says };
	if (!match)
		return o;
	o.provider = 31 - __builtin_clz(match);
	o.entry = &t->table[o.provider][t->at[o.provider]];
	const unsigned counter = COUNTER(*o.entry);
	const uint32_t rest = match & ~(UINT32_C(1) << o.provider);
	o.says = counter >= 4;
	if (rest) {
		o.second = 31 - __builtin_clz(rest);
		o.alternate = COUNTER(t->table[o.second][t->at[o.second]]) >= 4;
	}
	o.fresh = !USEFUL(*o.entry) && (counter == 3 || counter == 4);
	return o;
}

static inline void learn_base(uint8_t *base, bool taken)
{
	*base = (uint8_t)((*base & ~BASE_MAX) | toward(*base & BASE_MAX, taken, BASE_MAX));
}

/* What a counter of the branch's address alone says, which learns at every branch.  The second of two equal outcomes
 * makes it sure, so it is wrong once, not twice, in each period of an alternating branch. */
static inline bool quick_says(uint8_t *base, bool taken)
{
	static const uint8_t next[2][4] = { { 0, 0, 0, 2 }, { 1, 3, 3, 3 } };
	const uint8_t was = *base >> QUICK;
	*base = (uint8_t)((*base & BASE_MAX) | next[taken][was] << QUICK);
	return was >= 2;
}

/* The tables learn what the branch did.  right: they had predicted it. */
static inline void learn(struct tage *t, const struct opinion *o, uint8_t *base, bool taken, bool right)
{
	bool more = !right && o->provider < (int)t->tables - 1;
	uint16_t *const entry = o->entry;
	if (entry) {
		if (o->fresh && o->says != o->alternate) {
			if (o->alternate == taken)
				t->use_alternate += t->use_alternate < 7;
			else
				t->use_alternate -= t->use_alternate > -8;
		}
		if (o->fresh && o->says == taken)	/* the new entry was right and only needs training */
			more = false;
		if (o->says != o->alternate) {
			unsigned useful = toward((uint8_t)USEFUL(*entry), o->says == taken, USEFUL_MAX);
			*entry = (uint16_t)((*entry & ~3) | useful);
		}
		if (o->fresh) {
			if (o->second >= 0)
				train_entry(&t->table[o->second][t->at[o->second]], taken);
			else
				learn_base(base, taken);
		}
		train_entry(entry, taken);
	} else {
		learn_base(base, taken);
	}
	if (more)
		allocate(t, o->provider, taken);
}

static inline __attribute__((always_inline)) bool branch(struct tage *t, uint64_t ip, bool taken, const unsigned groups)
{
	const uint32_t pc = (uint32_t)(ip ^ ip >> 32), hash = pc * UINT32_C(0x9e3779b1);
	const uint32_t index_pc = pc ^ pc >> t->entries_log2, tag_pc = hash >> 20;
	const uint32_t match = look_up(t, t->fold, t->fold2, t->at, t->tag, index_pc, tag_pc, groups, false).match;
	uint8_t *const base = &t->base[(pc ^ pc >> 13) & t->base_mask];
	const struct opinion o = ask(t, match, (*base & BASE_MAX) >= 2);
	const bool tage_says = o.fresh && t->use_alternate >= 0 ? o.alternate : o.says;
	bool predicted = tage_says;
	if (t->loop) {
		uint32_t tag = hash | 1;
		struct loop_entry *e = &t->loop[(hash >> 12) & t->loop_mask];
		int opinion = loop_predict(tag, e);
		if (opinion >= 0) {
			if (t->trust_loop >= 0)
				predicted = opinion;
			if (opinion != tage_says) {
				if (opinion == taken)
					t->trust_loop += t->trust_loop < 63;
				else
					t->trust_loop -= t->trust_loop > -64;
			}
		}
		if (e->tag == tag || tage_says != taken)
			loop_train(t, tag, e, taken, tage_says != taken, opinion);
	}
	/* Most branches hit a saturated entry, and there is nothing to learn. */
	if (!o.entry || tage_says != taken || o.says != o.alternate || COUNTER(*o.entry) != (taken ? COUNTER_MAX : 0))
		learn(t, &o, base, taken, tage_says == taken);
	push(t, taken, groups);
	if (t->quick)
		t->overruled = quick_says(base, taken) != predicted;
	return predicted;
}

bool tage_branch(struct tage *t, uint64_t ip, bool taken)
{
	return t->groups == 1 ? branch(t, ip, taken, 1) : branch(t, ip, taken, 2);
}

void tage_copy(struct tage *to, const struct tage *from)
{
	uint16_t *const entry = to->entry, *table[TAGE_TABLES];
	uint8_t *const base = to->base;
	struct loop_entry *const loop = to->loop;
	memcpy(table, to->table, sizeof table);
	memcpy(entry, from->entry, ((size_t)(from->tables ? from->tables : 1) << from->entries_log2) * sizeof *entry);
	memcpy(base, from->base, (size_t)from->base_mask + 1);
	if (loop)
		memcpy(loop, from->loop, ((size_t)from->loop_mask + 1) * sizeof *loop);
	*to = *from;
	to->entry = entry;
	to->base = base;
	to->loop = loop;
	memcpy(to->table, table, sizeof table);
}
