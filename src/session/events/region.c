/* SPDX-License-Identifier: GPL-2.0-or-later
 * Regions (region.h). */
#include "session/events/region.h"
#include <stdlib.h>
#include <string.h>

/* a limit, so that a program that makes up names without end does not use up the memory */
enum { REGIONS_LAST = 4096 };

/* Index of the region; REGIONS_LAST if there is none.  make: adds it if it is new. */
static size_t find(struct regions *r, const char *name, bool make)
{
	for (size_t i = 0; i < r->regions; i++)
		if (!strcmp(r->region[i].name, name))
			return i;
	if (!make || r->regions == REGIONS_LAST)
		return REGIONS_LAST;
	struct region *grown = realloc(r->region, (r->regions + 1) * sizeof *grown);
	if (!grown)
		return REGIONS_LAST;
	r->region = grown;
	struct region new = { .name = strdup(name), .count = calloc(r->items ? r->items : 1, sizeof *new.count) };
	if (!new.name || !new.count) {
		free(new.name);
		free(new.count);
		return REGIONS_LAST;
	}
	grown[r->regions] = new;
	return r->regions++;
}

static struct region_open *open_of(const struct regions *r, struct region_thread *t, size_t region)
{
	if (region >= t->regions) {
		struct region_open *grown = realloc(t->open, r->regions * sizeof *grown);
		if (!grown)
			return NULL;
		memset(grown + t->regions, 0, (r->regions - t->regions) * sizeof *grown);
		t->open = grown;
		t->regions = r->regions;
	}
	struct region_open *o = t->open + region;
	if (!o->from)
		o->from = calloc(r->items ? r->items : 1, sizeof *o->from);
	return o->from ? o : NULL;
}

/* ---- parts between dumps ---- */

/* The thread's part, which is open from its start on until it enters the region.  False: no memory. */
static bool part_of(const struct regions *r, struct region_thread *t)
{
	const size_t items = r->items ? r->items : 1;
	if (t->part)
		return true;
	t->part = calloc(items, sizeof *t->part);
	t->part_from = calloc(items, sizeof *t->part_from);
	t->part_open = true;
	if (t->part && t->part_from)
		return true;
	free(t->part);
	free(t->part_from);
	t->part = t->part_from = NULL;
	return false;
}

static void part_close(const struct regions *r, struct region_thread *t, const uint64_t *now)
{
	for (size_t k = 0; k < r->items && t->part_open; k++)
		t->part[k] += now[k] - t->part_from[k];
	t->part_open = false;
}

static void part_begin(const struct regions *r, struct region_thread *t, const uint64_t *now)
{
	memcpy(t->part_from, now, r->items * sizeof *now);
	t->part_open = true;
}

/* The thread enters the region.  Before it did so for the first time, all was counted; that is forgotten. */
static void part_enter(const struct regions *r, struct region_thread *t, const uint64_t *now)
{
	if (!part_of(r, t))
		return;
	if (t->part_open)
		memset(t->part, 0, r->items * sizeof *t->part);
	part_begin(r, t, now);
}

void region_dump(struct regions *r, struct region_thread *t, const char *name, const uint64_t *now)
{
	const size_t i = part_of(r, t) ? find(r, name, true) : REGIONS_LAST;
	if (i == REGIONS_LAST)
		return;
	const bool open = t->part_open;
	part_close(r, t, now);
	for (size_t k = 0; k < r->items; k++)
		r->region[i].count[k] += t->part[k];
	r->region[i].entries++;
	memset(t->part, 0, r->items * sizeof *t->part);
	if (open)
		part_begin(r, t, now);
}

void region_zero(struct regions *r, struct region_thread *t, const uint64_t *now)
{
	const size_t i = find(r, REGION_CALLGRIND, false);
	if (i < t->regions && t->open[i].from)
		memcpy(t->open[i].from, now, r->items * sizeof *now);
	if (i < REGIONS_LAST)
		memset(r->region[i].count, 0, r->items * sizeof *now);
	if (!part_of(r, t))
		return;
	memset(t->part, 0, r->items * sizeof *t->part);
	if (t->part_open)
		part_begin(r, t, now);
}

/* ---- markers ---- */

const struct region *region_begin(struct regions *r, struct region_thread *t, const char *name, const uint64_t *now)
{
	size_t i = find(r, name, true);
	struct region_open *o = i < REGIONS_LAST ? open_of(r, t, i) : NULL;
	if (!o || o->depth++)
		return NULL;
	r->region[i].entries++;
	memcpy(o->from, now, r->items * sizeof *now);
	if (!strcmp(name, REGION_CALLGRIND))
		part_enter(r, t, now);
	return r->region + i;
}

static void leave(struct regions *r, struct region_thread *t, size_t i, const uint64_t *now)
{
	t->open[i].depth = 0;
	for (size_t k = 0; k < r->items; k++)
		r->region[i].count[k] += now[k] - t->open[i].from[k];
}

const struct region *region_end(struct regions *r, struct region_thread *t, const char *name, const uint64_t *now)
{
	size_t i = find(r, name, false);
	if (i >= t->regions || !t->open[i].depth || --t->open[i].depth)
		return NULL;
	leave(r, t, i, now);
	if (t->part && !strcmp(name, REGION_CALLGRIND))
		part_close(r, t, now);
	return r->region + i;
}

void region_thread_end(struct regions *r, struct region_thread *t, const uint64_t *now)
{
	for (size_t i = 0; i < t->regions; i++)
		if (t->open[i].depth)
			leave(r, t, i, now);
	region_thread_release(t);
}

void region_thread_release(struct region_thread *t)
{
	for (size_t i = 0; i < t->regions; i++)
		free(t->open[i].from);
	free(t->open);
	free(t->part);
	free(t->part_from);
	*t = (struct region_thread){ 0 };
}

void regions_release(struct regions *r)
{
	for (size_t i = 0; i < r->regions; i++) {
		free(r->region[i].name);
		free(r->region[i].count);
	}
	free(r->region);
	*r = (struct regions){ 0 };
}
