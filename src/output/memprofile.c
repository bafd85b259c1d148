/* SPDX-License-Identifier: GPL-2.0-or-later
 * Adds up data addresses (memprofile.h).  Every sample goes to an entry of each table, and to an array that is sorted
 * afterwards to find what needs all addresses of an entry (how many there are, how far apart, which lines in which
 * sets).
 *
 * The name of an object is a symbol of the file mapped there; a stack; the allocation site of a heap block, which
 * `softpmu mem record` writes as a mapping called "[heap] FUNCTION ADDRESS ..." (recorder.c); or else the mapping.
 *
 * Verdicts follow from the samples: a conflict that is found is real, but with few samples one may be missed.
 */
#include "output/memprofile.h"
#include "output/profile.h"
#include "util/grow.h"
#include <linux/perf_event.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { TEXT = 4096 };
#define NO_ENTRY UINT32_MAX

struct hit { uint64_t address; uint32_t entry[MEM_KEYS]; };
struct memprofile_work {
	struct memprofile *out;
	const struct memprofile_options *o;
	struct profile *walk;
	struct texts texts;
	size_t *slot[MEM_KEYS], slots[MEM_KEYS], room[MEM_KEYS];
	struct { const void *name, *dso; uint64_t where; } *key[MEM_KEYS];
	struct hit *hit;
	size_t hits, hit_room, object_room;
	bool *event_used;
};

/* ---- entries ---- */

static int grow(struct memprofile_work *w, enum memprofile_key k)
{
	struct memprofile *p = w->out;
	size_t room = w->room[k] ? w->room[k] * 2 : 64, slots = room * 2, *slot = calloc(slots, sizeof *slot);
	void *key = realloc(w->key[k], room * sizeof *w->key[k]);
	if (key)
		w->key[k] = key;
	struct memprofile_entry *entry = key ? realloc(p->entry[k], room * sizeof *entry) : NULL;
	if (entry)
		p->entry[k] = entry;
	if (!slot || !entry) {
		free(slot);
		return ERR_NOMEM;
	}
	w->room[k] = room;
	free(w->slot[k]);
	w->slot[k] = slot;
	w->slots[k] = slots;
	for (size_t i = 0; i < p->entries[k]; i++) {
		size_t at = texts_hash(&w->key[k][i], sizeof w->key[k][i]) & (slots - 1);
		while (slot[at])
			at = (at + 1) & (slots - 1);
		slot[at] = i + 1;
	}
	return 0;
}

/* Returns the index of the entry, or NO_ENTRY without memory. */
static uint32_t get_entry(struct memprofile_work *w, enum memprofile_key k, const char *name, const char *dso,
	uint64_t where, bool *fresh)
{
	struct memprofile *p = w->out;
	__typeof__(*w->key[k]) key = { name, dso, where };
	*fresh = false;
	if (p->entries[k] == w->room[k] && grow(w, k))
		return NO_ENTRY;
	size_t at = texts_hash(&key, sizeof key) & (w->slots[k] - 1);
	for (; w->slot[k][at]; at = (at + 1) & (w->slots[k] - 1))
		if (!memcmp(&w->key[k][w->slot[k][at] - 1], &key, sizeof key))
			return (uint32_t)(w->slot[k][at] - 1);
	size_t i = p->entries[k];
	if (i >= NO_ENTRY - 1)
		return NO_ENTRY;
	w->key[k][i] = key;
	p->entry[k][i] = (struct memprofile_entry){ .name = name, .dso = dso, .source = "", .where = where,
		.number = (uint32_t)i };
	w->slot[k][at] = ++p->entries[k];
	*fresh = true;
	return (uint32_t)i;
}

/* ---- names ---- */

static const char *place_name(struct memprofile_work *w, const struct symbols_place *at, bool offset)
{
	char text[TEXT];
	if (!at->symbol)
		return NULL;
	if (offset)
		snprintf(text, sizeof text, "%.3900s+%#llx", at->symbol->name,
			(unsigned long long)(at->address - at->symbol->start));
	else
		snprintf(text, sizeof text, "%.4000s", at->symbol->name);
	return texts_keep(&w->texts, text);
}

static const char *place_source(struct memprofile_work *w, const struct symbols_place *at)
{
	struct symbols_line line;
	char text[TEXT];
	if (!symbols_place_lines(at, &line, 1) || !*line.file)
		return "";
	const char *slash = strrchr(line.file, '/');
	snprintf(text, sizeof text, "%.4000s:%u", slash ? slash + 1 : line.file, line.line);
	return texts_keep(&w->texts, text);
}

/* From "[heap] malloc 0x401136 ...": the name of the allocation site.  The address is the return address of
 * the call. */
static const char *heap_name(struct memprofile_work *w, const struct perfdata_record *r, const char *path,
	const char **source)
{
	char function[64], text[TEXT];
	unsigned long long site;
	if (sscanf(path, "[heap] %63s 0x%llx", function, &site) != 2)
		return texts_keep(&w->texts, path);
	struct symbols_place at;
	symbols_resolve(w->walk->symbols, r->pid, site - 1, UINT64_MAX, &at);
	*source = place_source(w, &at);
	if (at.symbol)
		snprintf(text, sizeof text, "%s by %.3800s+%#llx", function, at.symbol->name,
			(unsigned long long)(at.address + 1 - at.symbol->start));
	else
		snprintf(text, sizeof text, "%s by %#llx", function, site);
	return texts_keep(&w->texts, text);
}

/* Returns the name of the data object at an address.  *named: it is more than the name of the mapping. */
static const char *object_name(struct memprofile_work *w, const struct perfdata_record *r, const char **dso,
	const char **source, bool *named)
{
	struct symbols_place at;
	char text[TEXT];
	symbols_resolve(w->walk->symbols, r->pid, r->data_addr, UINT64_MAX, &at);
	*dso = *source = "";
	*named = true;
	if (at.symbol) {
		*dso = texts_keep(&w->texts, at.dso);
		return place_name(w, &at, false);
	}
	if (!strncmp(at.path, "[heap] ", 7))
		return heap_name(w, r, at.path, source);
	if (!strncmp(at.path, "[stack:", 7)) {
		snprintf(text, sizeof text, "stack of thread %.*s", (int)strcspn(at.path + 7, "]"), at.path + 7);
		return texts_keep(&w->texts, text);
	}
	if (!strcmp(at.path, "[stack]"))
		return texts_keep(&w->texts, "stack");
	*named = false;
	if (!*at.path)
		return texts_keep(&w->texts, "[unknown]");
	if (!strcmp(at.path, "[heap]"))
		return texts_keep(&w->texts, "heap, allocation not known");
	if (!strcmp(at.path, "//anon"))
		return texts_keep(&w->texts, "anonymous memory");
	*dso = texts_keep(&w->texts, at.dso);
	return texts_keep(&w->texts, "no symbol");
}

/* ---- samples ---- */

enum memprofile_level memprofile_level_of(uint64_t source)
{
	union perf_mem_data_src d = { .val = source };
	uint64_t l = d.mem_lvl;
	if (!source || !l || l & PERF_MEM_LVL_NA)
		return MEM_NONE;
	if (l & PERF_MEM_LVL_MISS)
		return MEM_L1_MISS;
	return l & PERF_MEM_LVL_L1                                                           ? MEM_L1
		: l & PERF_MEM_LVL_LFB                                                       ? MEM_LFB
		: l & PERF_MEM_LVL_L2                                                        ? MEM_L2
		: l & PERF_MEM_LVL_L3                                                        ? MEM_L3
		: l & (PERF_MEM_LVL_LOC_RAM | PERF_MEM_LVL_REM_RAM1 | PERF_MEM_LVL_REM_RAM2) ? MEM_RAM
											     : MEM_NONE;
}

static void count(struct memprofile_entry *e, const struct perfdata_record *r, bool load, bool store, bool has_address)
{
	union perf_mem_data_src d = { .val = r->data_src };
	e->samples++;
	e->loads += load;
	e->stores += store;
	e->period += r->period;
	e->level[memprofile_level_of(r->data_src)]++;
	e->tlb_miss += d.mem_dtlb & PERF_MEM_TLB_MISS && !(d.mem_dtlb & PERF_MEM_TLB_L1);
	e->with_address += has_address;
	if (!r->weight)
		return;
	e->latency_sum += r->weight;
	e->latencies++;
	if (r->weight > e->latency_max)
		e->latency_max = r->weight;
}

static int note_event(struct memprofile_work *w, const struct perfdata_record *r)
{
	if (w->event_used[r->event])
		return 0;
	char **list = realloc(w->out->event, (w->out->events + 1) * sizeof *list);
	if (!list)
		return ERR_NOMEM;
	w->out->event = list;
	if (!(list[w->out->events] = strdup(w->walk->event[r->event].info->name)))
		return ERR_NOMEM;
	w->out->events++;
	w->event_used[r->event] = true;
	return 0;
}

static int on_sample(void *context, const struct perfdata_record *r, const struct symbols_place *place,
	const char *comm)
{
	struct memprofile_work *w = context;
	struct memprofile *p = w->out;
	union perf_mem_data_src d = { .val = r->data_src };
	bool load = d.mem_op & PERF_MEM_OP_LOAD, store = d.mem_op & PERF_MEM_OP_STORE, has_address = r->data_addr != 0,
	     fresh, named = false;
	struct hit hit = { .address = r->data_addr, .entry = { NO_ENTRY, NO_ENTRY, NO_ENTRY, NO_ENTRY } };
	const char *dso, *source = "", *object = NULL, *name;
	(void)comm;
	if ((w->o->loads || w->o->stores) && !(w->o->loads && load) && !(w->o->stores && store))
		return 0;
	if (has_address && !(object = object_name(w, r, &dso, &source, &named)))
		return ERR_NOMEM;
	if (w->o->hide_unresolved && (!place->symbol || (has_address && !named))) {
		p->hidden++;
		return 0;
	}
	if (note_event(w, r))
		return ERR_NOMEM;
	p->samples++;
	p->period += r->period;
	p->with_address += has_address;
	p->has_latency |= r->weight;
	p->has_level |= memprofile_level_of(r->data_src) != MEM_NONE;

	if (has_address) {
		hit.entry[MEM_BY_OBJECT] = get_entry(w, MEM_BY_OBJECT, object, dso, 0, &fresh);
		hit.entry[MEM_BY_PAGE] =
			get_entry(w, MEM_BY_PAGE, NULL, NULL, r->data_addr / MEM_PAGE_BYTES * MEM_PAGE_BYTES, &fresh);
		if (hit.entry[MEM_BY_OBJECT] == NO_ENTRY || hit.entry[MEM_BY_PAGE] == NO_ENTRY || !source)
			return ERR_NOMEM;
		p->entry[MEM_BY_OBJECT][hit.entry[MEM_BY_OBJECT]].source = source;
		if (p->l1d.sets) {
			hit.entry[MEM_BY_SET] =
				get_entry(w, MEM_BY_SET, NULL, NULL, r->data_addr / p->l1d.line % p->l1d.sets, &fresh);
			if (hit.entry[MEM_BY_SET] == NO_ENTRY)
				return ERR_NOMEM;
		}
	}
	name = place->symbol ? place_name(w, place, true) : "[unknown]";
	dso = texts_keep(&w->texts, place->dso);
	uint32_t at = name && dso ? get_entry(w, MEM_BY_INSTRUCTION, name, dso, r->ip, &fresh) : NO_ENTRY;
	if (at == NO_ENTRY)
		return ERR_NOMEM;
	if (fresh && !(p->entry[MEM_BY_INSTRUCTION][at].source = place_source(w, place)))
		return ERR_NOMEM;
	hit.entry[MEM_BY_INSTRUCTION] = at;
	for (unsigned k = 0; k < MEM_KEYS; k++)
		if (hit.entry[k] != NO_ENTRY)
			count(&p->entry[k][hit.entry[k]], r, load, store, has_address);
	if (!has_address)
		return 0;
	struct hit *grown = grow_array(w->hit, w->hits, &w->hit_room, 1024, sizeof *grown);
	if (!grown)
		return ERR_NOMEM;
	w->hit = grown;
	uint32_t *number = grow_array(p->object, w->hits, &w->object_room, 1024, sizeof *number);
	if (!number)
		return ERR_NOMEM;
	p->object = number;
	p->object[w->hits] = hit.entry[MEM_BY_OBJECT];
	w->hit[w->hits++] = hit;
	return 0;
}

/* ---- what needs all addresses of an entry ---- */

struct order { enum memprofile_key key; };

static int by_entry(const void *a, const void *b, void *context)
{
	const struct hit *x = a, *y = b;
	enum memprofile_key k = ((const struct order *)context)->key;
	if (x->entry[k] != y->entry[k])
		return x->entry[k] < y->entry[k] ? -1 : 1;
	return x->address < y->address ? -1 : x->address > y->address;
}

static int by_address(const void *a, const void *b)
{
	const struct hit *x = a, *y = b;
	return x->address < y->address ? -1 : x->address > y->address;
}

static uint64_t divisor(uint64_t a, uint64_t b)
{
	while (b) {
		uint64_t rest = a % b;
		a = b;
		b = rest;
	}
	return a;
}

/* Finds the pattern of an entry's addresses.  hit[0..n): all of the entry, sorted by address.  in_set: scratch, one
 * for each set. */
static void pattern(struct memprofile_entry *e, const struct hit *hit, size_t n, const struct memprofile_cache *c,
	uint32_t *in_set)
{
	uint64_t before = hit[0].address, line = UINT64_MAX, differ = 0;
	e->low = hit[0].address;
	e->high = hit[n - 1].address;
	e->addresses = 1;
	e->even = true;
	for (size_t i = 1; i < n; i++) {
		uint64_t distance = hit[i].address - before;
		if (!distance)
			continue;
		e->even = e->even && (e->addresses == 1 || distance == e->stride);
		e->stride = divisor(e->stride, distance);
		e->addresses++;
		differ |= hit[i].address ^ e->low;
		before = hit[i].address;
	}
	e->equal_bits = differ ? (unsigned)__builtin_ctzll(differ) : 64;
	if (!c->sets)
		return;
	memset(in_set, 0, c->sets * sizeof *in_set);
	for (size_t i = 0; i < n; i++) {
		if (hit[i].address / c->line == line)
			continue;
		line = hit[i].address / c->line;
		e->lines++;
		unsigned set = (unsigned)(line % c->sets);
		if (!in_set[set]++)
			e->sets++;
		if (in_set[set] > e->worst_lines) {
			e->worst_lines = in_set[set];
			e->worst_set = set;
		}
	}
	/* No verdict if half of the samples are known to have hit L1, or if lines were sampled once each: these may
	 * have been used only once. */
	bool hits = e->level[MEM_L1] * 2 > e->samples, again = e->with_address >= 2 * e->lines;
	if (hits || !again || e->worst_lines <= c->ways)
		return;
	e->verdict = e->lines <= (uint64_t)c->sets * c->ways ? MEM_SET_CONFLICT : MEM_CAPACITY;
}

static int patterns(struct memprofile_work *w)
{
	struct memprofile *p = w->out;
	uint32_t *in_set = calloc(p->l1d.sets ? p->l1d.sets : 1, sizeof *in_set);
	if (!in_set)
		return ERR_NOMEM;
	for (unsigned k = 0; k < MEM_KEYS; k++) {
		struct order order = { k };
		if (w->hits)
			qsort_r(w->hit, w->hits, sizeof *w->hit, by_entry, &order);
		for (size_t i = 0, end; i < w->hits; i = end) {
			uint32_t entry = w->hit[i].entry[k];
			for (end = i + 1; end < w->hits && w->hit[end].entry[k] == entry; end++)
				;
			if (entry != NO_ENTRY)
				pattern(&p->entry[k][entry], w->hit + i, end - i, &p->l1d, in_set);
		}
	}
	free(in_set);
	/* It is a conflict only if the other sets have room; otherwise the cache as a whole is too small. */
	uint64_t lines = 0;
	for (size_t i = 0; i < p->entries[MEM_BY_SET]; i++)
		lines += p->entry[MEM_BY_SET][i].lines;
	for (size_t i = 0; i < p->entries[MEM_BY_SET]; i++)
		if (p->entry[MEM_BY_SET][i].verdict && lines > (uint64_t)p->l1d.sets * p->l1d.ways)
			p->entry[MEM_BY_SET][i].verdict = MEM_CAPACITY;
	return 0;
}

/* Makes the stripes of the map: stretches of memory as large as a way. */
static int stripes(struct memprofile_work *w)
{
	struct memprofile *p = w->out;
	size_t room = 0;
	if (!p->l1d.sets || !w->hits)
		return 0;
	uint64_t way = (uint64_t)p->l1d.line * p->l1d.sets;
	qsort(w->hit, w->hits, sizeof *w->hit, by_address);
	for (size_t i = 0; i < w->hits; i++) {
		uint64_t base = w->hit[i].address / way * way;
		struct memprofile_stripe *s = p->stripes ? &p->stripe[p->stripes - 1] : NULL;
		if (!s || s->base != base) {
			struct memprofile_stripe *grown = grow_array(p->stripe, p->stripes, &room, 64, sizeof *grown);
			if (!grown)
				return ERR_NOMEM;
			p->stripe = grown;
			s = &p->stripe[p->stripes];
			*s = (struct memprofile_stripe){ .base = base, .set = calloc(p->l1d.sets, sizeof *s->set) };
			if (!s->set)
				return ERR_NOMEM;
			p->stripes++;
		}
		s->samples++;
		s->set[(w->hit[i].address - base) / p->l1d.line]++;
	}
	return 0;
}

static int by_share(const void *a, const void *b)
{
	const struct memprofile_entry *x = a, *y = b;
	if (x->period != y->period)
		return x->period > y->period ? -1 : 1;
	if (x->samples != y->samples)
		return x->samples > y->samples ? -1 : 1;
	int c = x->name && y->name ? strcmp(x->name, y->name) : 0;
	return c ? c : x->where < y->where ? -1 : x->where > y->where;
}

static int by_where(const void *a, const void *b)
{
	const struct memprofile_entry *x = a, *y = b;
	return x->where < y->where ? -1 : x->where > y->where;
}

/* The tables in the order in which they are printed. */
static int sort_entries(struct memprofile *p)
{
	for (unsigned k = 0; k < MEM_KEYS; k++)
		if (p->entries[k])
			qsort(p->entry[k], p->entries[k], sizeof *p->entry[k],
				k == MEM_BY_SET || k == MEM_BY_PAGE ? by_where : by_share);
	uint32_t *place = calloc(p->entries[MEM_BY_OBJECT] + 1, sizeof *place);
	if (!place)
		return ERR_NOMEM;
	for (size_t i = 0; i < p->entries[MEM_BY_OBJECT]; i++)
		place[p->entry[MEM_BY_OBJECT][i].number] = (uint32_t)i;
	for (size_t i = 0; i < p->with_address; i++)
		p->object[i] = place[p->object[i]];
	free(place);
	return 0;
}

static bool sensible(const struct memprofile_cache *c)
{
	return c->line && c->line <= 4096 && c->sets && c->sets <= 1 << 20 && c->ways && c->ways <= 4096;
}

static void free_work(struct memprofile_work *w)
{
	if (!w)
		return;
	texts_free(&w->texts);
	for (unsigned k = 0; k < MEM_KEYS; k++) {
		free(w->slot[k]);
		free(w->key[k]);
	}
	free(w->hit);
	free(w->event_used);
	profile_free(w->walk);
	free(w);
}

int memprofile_load(struct memprofile **out, struct perfdata_file *file, const struct memprofile_options *o,
	struct err *err)
{
	struct memprofile *p = calloc(1, sizeof *p);
	struct memprofile_work *w = calloc(1, sizeof *w);
	struct perfdata_cache cache;
	if (!p || !w) {
		free(p);
		free(w);
		return err_set(err, ERR_NOMEM, "out of memory");
	}
	p->work = w;
	w->out = p;
	w->o = o;
	p->l1d = o->l1d;
	if (perfdata_data_cache(file, 1, &cache))
		p->l1d = (struct memprofile_cache){ cache.line, cache.sets, cache.ways };
	if (!sensible(&p->l1d))
		p->l1d = (struct memprofile_cache){ 0, 0, 0 };
	w->event_used = calloc(perfdata_event_count(file) + 1, sizeof *w->event_used);
	int code = w->event_used ? profile_open(&w->walk, file, &(struct profile_options){ 0 }, err)
				 : err_set(err, ERR_NOMEM, "out of memory");
	if (!code)
		code = profile_walk(w->walk, &(struct profile_visit){ w, on_sample }, err);
	if (!code && (patterns(w) || stripes(w) || sort_entries(p)))
		code = err_set(err, ERR_NOMEM, "out of memory");
	if (code)
		memprofile_free(p);
	else
		*out = p;
	return code;
}

void memprofile_free(struct memprofile *p)
{
	if (!p)
		return;
	for (size_t i = 0; i < p->events; i++)
		free(p->event[i]);
	free(p->event);
	for (unsigned k = 0; k < MEM_KEYS; k++)
		free(p->entry[k]);
	for (size_t i = 0; i < p->stripes; i++)
		free(p->stripe[i].set);
	free(p->stripe);
	free(p->object);
	free_work(p->work);
	free(p);
}

const char *memprofile_level_name(enum memprofile_level level)
{
	static const char *const name[MEM_LEVELS] = { "L1", "LFB", "L2", "L3", "RAM", "L1 miss", "unknown" };
	return (unsigned)level < MEM_LEVELS ? name[level] : "unknown";
}

const char *memprofile_verdict_name(enum memprofile_verdict verdict)
{
	return verdict == MEM_SET_CONFLICT ? "set conflict" : verdict == MEM_CAPACITY ? "capacity" : "";
}
