/* SPDX-License-Identifier: GPL-2.0-or-later
 * Costs by function or instruction (cost_places.h). */
#include "cli/cost/cost_places.h"
#include "cli/common/cli_symbols.h"
#include "isa/isa.h"
#include "util/grow.h"
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct cost_places {
	struct symbols *symbols;
	uint64_t time;		/* of the last side record */
	struct cost_place *place;
	uint32_t *bucket;	/* 1 + index into place; 0: free */
	size_t places, room, buckets;
	struct cost_place **order;
};

int cost_places_create(struct cost_places **out, struct err *err)
{
	struct cost_places *p = calloc(1, sizeof *p);
	if (!p)
		return err_set(err, ERR_NOMEM, "out of memory");
	int rc = symbols_create(&p->symbols, err);
	if (rc) {
		free(p);
		return rc;
	}
	*out = p;
	return 0;
}

void cost_places_destroy(struct cost_places *p)
{
	if (!p)
		return;
	for (size_t i = 0; i < p->places; i++) {
		struct cost_place *a = &p->place[i];
		for (unsigned k = 0; k < a->runs; k++)
			free(a->changed[k].count);
		for (unsigned k = 0; a->of && a->of[k].pushout.fine; k++)
			spread_release(&a->of[k].pushout);
		free(a->changed);
		free(a->of);
		free(a->name);
	}
	free(p->order);
	free(p->place);
	free(p->bucket);
	symbols_destroy(p->symbols);
	free(p);
}

void cost_places_side(struct cost_places *p, uint32_t pid, const uint64_t *record)
{
	cli_symbols_side(p->symbols, pid, record, &p->time);
}

char *cost_places_name(struct cost_places *p, uint32_t pid, uint64_t ip, bool instruction)
{
	struct symbols_place at;
	struct symbols_line line;
	char *name = NULL;
	int n;
	symbols_resolve(p->symbols, pid, ip, UINT64_MAX, &at);
	if (instruction && at.symbol && symbols_place_lines(&at, &line, 1) && *line.file)
		n = asprintf(&name, "%s+0x%" PRIx64 " (%s:%u) [%s]", at.symbol->name, at.address - at.symbol->start,
			strrchr(line.file, '/') ? strrchr(line.file, '/') + 1 : line.file, line.line, at.dso);
	else if (instruction && at.symbol)
		n = asprintf(&name, "%s+0x%" PRIx64 " [%s]", at.symbol->name, at.address - at.symbol->start, at.dso);
	else if (instruction || (!at.symbol && !at.object))
		n = asprintf(&name, "0x%" PRIx64 " [%s]", ip, at.dso);
	else
		n = asprintf(&name, "%s [%s]", at.symbol ? at.symbol->name : "(no symbol)", at.dso);
	return n < 0 ? NULL : name;
}

void cost_places_text(struct cost_places *p, uint32_t pid, uint64_t ip, char *text, size_t bytes)
{
	const struct isa_style style = { 0 };
	struct symbols_place at;
	uint8_t code[16];
	uint64_t vaddr;
	symbols_resolve(p->symbols, pid, ip, UINT64_MAX, &at);
	const struct symfile *f = symbols_place_file(&at);
	const size_t n = f ? symfile_read(f, at.address, code, sizeof code) : 0;
	if (!n || !symfile_vaddr(f, at.address, &vaddr) ||
		!isa_text(code, n, vaddr, symfile_word_bytes(f), &style, text, bytes))
		*text = 0;
}

static uint64_t hash(const char *name)
{
	uint64_t h = UINT64_C(0xcbf29ce484222325);
	while (*name)
		h = (h ^ (unsigned char)*name++) * UINT64_C(0x100000001b3);
	return h >> 20;
}

static size_t slot_of(const struct cost_places *p, const char *name)
{
	size_t at = hash(name) & (p->buckets - 1);
	while (p->bucket[at] && strcmp(p->place[p->bucket[at] - 1].name, name))
		at = (at + 1) & (p->buckets - 1);
	return at;
}

/* Makes room for one more. */
static bool fits(struct cost_places *p)
{
	void *array = p->place;
	const int grew = grow_indexed(&array, p->places, &p->room, 256, sizeof *p->place, &p->bucket, &p->buckets);
	p->place = array;
	for (size_t i = 0; grew > 0 && i < p->places; i++)
		p->bucket[slot_of(p, p->place[i].name)] = (uint32_t)i + 1;
	return grew >= 0;
}

/* Takes ownership of the name. */
static struct cost_place *find(
	struct cost_places *p, char *name, const struct cost_run *const *changed, unsigned runs, unsigned measures)
{
	if (!name || !fits(p)) {
		free(name);
		return NULL;
	}
	size_t at = slot_of(p, name);
	if (p->bucket[at]) {
		free(name);
		return &p->place[p->bucket[at] - 1];
	}
	struct cost_place *a = &p->place[p->places];
	*a = (struct cost_place){ .name = name, .of = calloc(measures + 1, sizeof *a->of),
		.changed = calloc(runs + 1, sizeof *a->changed) };
	bool good = a->of && a->changed;
	for (unsigned k = 0; a->of && k < measures; k++)
		spread_init(&a->of[k].pushout, COST_SITE_FINE);
	for (unsigned k = 0; good && k < runs; k++) {
		a->changed[k].run = changed[k];
		a->changed[k].count = calloc(measures + 1, sizeof *a->changed[k].count);
		good = a->changed[k].count;
		a->runs = k + 1;
	}
	p->bucket[at] = (uint32_t)++p->places;
	return good ? a : NULL;
}

static double cycles_of(const struct cost_site *s)
{
	uint64_t parts = 0;
	for (unsigned g = 0; g < COST_GROUPS_COUNT; g++)
		parts += s->group[g];
	return (double)parts / EXACT_CYCLE;
}

static int by_pushout(const void *a, const void *b)
{
	const struct cost_place *p = *(struct cost_place *const *)a, *q = *(struct cost_place *const *)b;
	if (p->pushed != q->pushed)
		return p->pushed > q->pushed ? -1 : 1;
	if (p->cycles != q->cycles)
		return p->cycles > q->cycles ? -1 : 1;
	return strcmp(p->name, q->name);
}

int cost_places_add(struct cost_places *p, const struct cost_run *base, struct cost_run *const *changed, unsigned runs,
	unsigned measures, bool instructions, struct err *err)
{
	const struct cost_run *const *others = (const struct cost_run *const *)changed;
	for (unsigned k = 0; k <= runs; k++) {
		size_t n;
		const struct cost_site *s = cost_run_sites(k ? changed[k - 1] : base, &n);
		for (size_t i = 0; i < n; i++) {
			struct cost_place *a =
				find(p, cost_places_name(p, s[i].pid, s[i].ip, instructions), others, runs, measures);
			if (!a)
				return err_set(err, ERR_NOMEM, "out of memory");
			*(k ? &a->changed[k - 1].cycles : &a->cycles) += cycles_of(&s[i]);
			for (unsigned m = 0; s[i].of && m < measures; m++) {
				if (k) {
					a->changed[k - 1].count[m] += s[i].of[m].count;
					continue;
				}
				a->of[m].count += s[i].of[m].count;
				a->of[m].pushed += s[i].of[m].pushed;
				a->pushed += s[i].of[m].pushed;
				if (!spread_merge(&a->of[m].pushout, &s[i].of[m].pushout))
					return err_set(err, ERR_NOMEM, "out of memory");
			}
		}
	}
	if (!(p->order = calloc(p->places + 1, sizeof(struct cost_place *))))
		return err_set(err, ERR_NOMEM, "out of memory");
	for (size_t i = 0; i < p->places; i++)
		p->order[i] = &p->place[i];
	qsort(p->order, p->places, sizeof(struct cost_place *), by_pushout);
	return 0;
}

const struct cost_place *cost_places_get(const struct cost_places *p, size_t k)
{
	return p->order && k < p->places ? p->order[k] : NULL;
}
