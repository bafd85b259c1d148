/* SPDX-License-Identifier: GPL-2.0-or-later
 * Slots by function, line or loop (topdown_places.h). */
#include "cli/topdown/topdown_places.h"
#include "cli/common/cli_symbols.h"
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_LOOPS = 1 << 20 };

struct loop { uint64_t head, end; uint32_t pid; };	/* end: the branch's address */
struct topdown_places {
	enum topdown_per per;
	struct symbols *symbols;
	uint64_t time;		/* of the last side record */
	/* backward branches: open addressing, a power of two; end 0: free. `sorted` is by head, for looking up. */
	struct loop *loop, *sorted;
	size_t loops, loop_room, sorted_count;
	struct topdown_place *place;
	uint32_t *bucket;	/* 1 + index into place; 0: free */
	size_t places, room;
	bool in_order;
};

int topdown_places_create(struct topdown_places **out, enum topdown_per per, struct err *err)
{
	struct topdown_places *p = calloc(1, sizeof *p);
	if (!p)
		return err_set(err, ERR_NOMEM, "out of memory");
	p->per = per;
	int rc = symbols_create(&p->symbols, err);
	if (rc)
		free(p);
	else
		*out = p;
	return rc;
}

void topdown_places_destroy(struct topdown_places *p)
{
	if (!p)
		return;
	for (size_t i = 0; i < p->places; i++)
		free(p->place[i].name);
	free(p->place);
	free(p->bucket);
	free(p->loop);
	free(p->sorted);
	symbols_destroy(p->symbols);
	free(p);
}

void topdown_places_side(struct topdown_places *p, uint32_t pid, const uint64_t *record)
{
	cli_symbols_side(p->symbols, pid, record, &p->time);
}

/* ---- loops ---- */

static struct loop *loop_slot(struct loop *loop, size_t room, const struct loop *k)
{
	size_t i = (size_t)((k->end * UINT64_C(0x9E3779B97F4A7C15) ^ k->head * UINT64_C(0xC2B2AE3D27D4EB4F) ^ k->pid) >>
			   20) &
		(room - 1);
	while (loop[i].end && (loop[i].end != k->end || loop[i].head != k->head || loop[i].pid != k->pid))
		i = (i + 1) & (room - 1);
	return loop + i;
}

static int note(struct topdown_places *p, const struct loop *k, struct err *err)
{
	if (2 * (p->loops + 1) > p->loop_room) {
		size_t room = p->loop_room ? 2 * p->loop_room : 256;
		struct loop *more = room <= MOST_LOOPS ? calloc(room, sizeof *more) : NULL;
		if (!more)
			return err_set(err, room <= MOST_LOOPS ? ERR_NOMEM : ERR_UNSUPPORTED,
				room <= MOST_LOOPS ? "out of memory" : "--per loop: the program has too many loops");
		for (size_t i = 0; i < p->loop_room; i++)
			if (p->loop[i].end)
				*loop_slot(more, room, p->loop + i) = p->loop[i];
		free(p->loop);
		p->loop = more;
		p->loop_room = room;
	}
	struct loop *l = loop_slot(p->loop, p->loop_room, k);
	if (!l->end) {
		*l = *k;
		p->loops++;
	}
	return 0;
}

int topdown_places_batch(struct topdown_places *p, uint32_t pid, const struct spmu_batch *b, struct err *err)
{
	const uint64_t not_in = SPMU_IS(CALL) | SPMU_IS(RET) | SPMU_IS(FAR), did = SPMU_DID(TAKEN) | SPMU_DID(RETIRED);
	if (p->per != TOPDOWN_LOOP)
		return 0;
	for (uint32_t i = 0; i < b->count; i++) {
		const struct spmu_record *r = b->records + i;
		if (r->kind != SPMU_REC_UOP || !(r->is & SPMU_IS(BRANCH)) || r->is & not_in || (r->did & did) != did)
			continue;
		const struct loop k = { .head = r->addr, .end = SPMU_BRANCH_IP(r), .pid = pid };
		if (k.head <= k.end && k.end && (!p->loop_room || !loop_slot(p->loop, p->loop_room, &k)->end)) {
			int rc = note(p, &k, err);
			if (rc)
				return rc;
		}
	}
	return 0;
}

static int by_head(const void *a, const void *b)
{
	const struct loop *x = a, *y = b;
	return x->head != y->head ? (x->head < y->head ? -1 : 1) : x->end < y->end ? -1 : x->end > y->end;
}

/* Sorts the process's loops by their heads; of loops with the same head it keeps the longest: `continue` and
 * the end of the body close the same loop. */
static int sort_loops(struct topdown_places *p, uint32_t pid, struct err *err)
{
	free(p->sorted);
	p->sorted_count = 0;
	p->sorted = malloc((p->loops + 1) * sizeof *p->sorted);
	if (!p->sorted)
		return err_set(err, ERR_NOMEM, "out of memory");
	for (size_t i = 0; i < p->loop_room; i++)
		if (p->loop[i].end && p->loop[i].pid == pid)
			p->sorted[p->sorted_count++] = p->loop[i];
	qsort(p->sorted, p->sorted_count, sizeof *p->sorted, by_head);
	size_t n = 0;
	for (size_t i = 0; i < p->sorted_count; i++) {
		if (n && p->sorted[n - 1].head == p->sorted[i].head)
			n--;
		p->sorted[n++] = p->sorted[i];
	}
	p->sorted_count = n;
	return 0;
}

/* The innermost loop around ip within [start, end); NULL: none. */
static const struct loop *loop_of(const struct topdown_places *p, uint64_t ip, uint64_t start, uint64_t end)
{
	const struct loop *best = NULL;
	size_t low = 0, high = p->sorted_count;
	while (low < high) {
		size_t middle = low + (high - low) / 2;
		if (p->sorted[middle].head <= ip)
			low = middle + 1;
		else
			high = middle;
	}
	while (low-- > 0 && p->sorted[low].head >= start) {
		const struct loop *l = p->sorted + low;
		if (l->end >= ip && l->end < end && (!best || l->end - l->head < best->end - best->head))
			best = l;
	}
	return best;
}

/* ---- places ---- */

static const char *base_name(const char *path)
{
	const char *slash = strrchr(path, '/');
	return slash ? slash + 1 : path;
}

static bool line_of(const struct symbols_place *at, struct symbols_line *line)
{
	return symbols_place_lines(at, line, 1) && *line->file && line->line;
}

/* The name of the place with which an instruction counts; malloc'd. */
static char *name_of(struct topdown_places *p, uint32_t pid, uint64_t ip)
{
	struct symbols_place at, head;
	struct symbols_line line = { 0 };
	char *name = NULL;
	int n;
	if (!ip)
		return strdup("(no instruction)");
	symbols_resolve(p->symbols, pid, ip, UINT64_MAX, &at);
	const char *function = at.symbol ? at.symbol->name : "(no symbol)";
	if (p->per == TOPDOWN_LINE && line_of(&at, &line)) {
		n = asprintf(&name, "%s:%u %s [%s]", base_name(line.file), line.line, function, at.dso);
	} else if (p->per == TOPDOWN_LOOP) {
		const uint64_t start = at.symbol ? ip - (at.address - at.symbol->start) : 0;
		const struct loop *l =
			loop_of(p, ip, start, at.symbol ? start + (at.symbol->end - at.symbol->start) : UINT64_MAX);
		if (!l) {
			n = asprintf(&name, "%s, no loop [%s]", function, at.dso);
		} else {
			symbols_resolve(p->symbols, pid, l->head, UINT64_MAX, &head);
			/* offsets from the function, or from the start of the object */
			const uint64_t from = at.symbol ? start : ip - at.address;
			if (line_of(&head, &line))
				n = asprintf(&name, "%s+0x%" PRIx64 "..0x%" PRIx64 " (%s:%u) [%s]", function,
					l->head - from, l->end - from, base_name(line.file), line.line, at.dso);
			else
				n = asprintf(&name, "%s+0x%" PRIx64 "..0x%" PRIx64 " [%s]", function, l->head - from,
					l->end - from, at.dso);
		}
	} else {
		n = asprintf(&name, "%s [%s]", function, at.dso);
	}
	return n < 0 ? NULL : name;
}

static size_t slot_of(const struct topdown_places *p, const char *name)
{
	uint64_t h = UINT64_C(0xcbf29ce484222325);
	for (const char *c = name; *c; c++)
		h = (h ^ (unsigned char)*c) * UINT64_C(0x100000001b3);
	size_t at = (size_t)(h >> 20) & (2 * p->room - 1);
	while (p->bucket[at] && strcmp(p->place[p->bucket[at] - 1].name, name))
		at = (at + 1) & (2 * p->room - 1);
	return at;
}

static bool grow(struct topdown_places *p)
{
	size_t room = p->room ? 2 * p->room : 256;
	struct topdown_place *place = room < UINT32_MAX / 4 ? realloc(p->place, room * sizeof *place) : NULL;
	if (place)
		p->place = place;
	uint32_t *bucket = place ? calloc(2 * room, sizeof *bucket) : NULL;
	if (!bucket)
		return false;
	free(p->bucket);
	p->bucket = bucket;
	p->room = room;
	for (size_t i = 0; i < p->places; i++)
		p->bucket[slot_of(p, p->place[i].name)] = (uint32_t)i + 1;
	return true;
}

int topdown_places_add(struct topdown_places *p, uint32_t pid, const struct slots *s, struct err *err)
{
	size_t count;
	const struct slots_site *site = slots_sites(s, &count);
	int rc = p->per == TOPDOWN_LOOP ? sort_loops(p, pid, err) : 0;
	for (size_t i = 0; i < count && !rc; i++) {
		uint64_t all = 0;
		for (unsigned c = 0; c < SLOTS_CAUSE_COUNT; c++)
			all += site[i].slots[c];
		if (!all)
			continue;
		char *name = name_of(p, pid, site[i].ip);
		if (!name || (p->places == p->room && !grow(p))) {
			free(name);
			return err_set(err, ERR_NOMEM, "out of memory");
		}
		size_t at = slot_of(p, name);
		if (p->bucket[at]) {
			free(name);
		} else {
			p->place[p->places] = (struct topdown_place){ .name = name };
			p->bucket[at] = (uint32_t)++p->places;
		}
		struct topdown_place *k = &p->place[p->bucket[at] - 1];
		k->all += all;
		for (unsigned c = 0; c < SLOTS_CAUSE_COUNT; c++)
			k->slots[c] += site[i].slots[c];
	}
	return rc;
}

static int by_slots(const void *a, const void *b)
{
	const struct topdown_place *x = a, *y = b;
	return x->all != y->all ? (x->all > y->all ? -1 : 1) : strcmp(x->name, y->name);
}

const struct topdown_place *topdown_places_get(struct topdown_places *p, size_t k)
{
	if (!p->in_order && p->places)
		qsort(p->place, p->places, sizeof *p->place, by_slots);
	p->in_order = true;
	return k < p->places ? &p->place[k] : NULL;
}
