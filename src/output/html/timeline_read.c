/* SPDX-License-Identifier: GPL-2.0-or-later
 * Reads the timeline of a perf.data file; timeline.h describes it. */
#include "output/html/timeline.h"
#include <stdlib.h>
#include <string.h>

#define MAGIC_1 "softpmu timeline 1"
#define MAGIC_2 "softpmu timeline 2"

struct in { const uint8_t *p, *end; bool bad; };

static uint64_t take(struct in *in)
{
	uint64_t v = 0;
	for (unsigned shift = 0; in->p < in->end && shift < 64; shift += 7) {
		const uint8_t byte = *in->p++;
		v |= (uint64_t)(byte & 127) << shift;
		if (!(byte & 128))
			return v;
	}
	in->bad = true;
	return 0;
}

static const char *take_name(struct in *in)
{
	const char *name = (const char *)in->p;
	const uint8_t *end = in->p < in->end ? memchr(in->p, 0, (size_t)(in->end - in->p)) : NULL;
	in->bad |= !end;
	in->p = end ? end + 1 : in->end;
	return end ? name : "";
}

/* Every value is a byte at least, so what is left bounds what is allocated. */
static bool fits(const struct in *in, uint64_t count)
{
	return !in->bad && count <= (uint64_t)(in->end - in->p);
}

static int take_threads(struct timeline_data *d, struct in *in, uint64_t threads)
{
	d->thread = calloc((size_t)threads + 1, sizeof *d->thread);
	if (!d->thread)
		return ERR_NOMEM;
	for (; d->threads < threads && !in->bad; d->threads++) {
		struct timeline_thread *t = &d->thread[d->threads];
		t->pid = (uint32_t)take(in);
		t->tid = (uint32_t)take(in);
		t->first = take(in);
		t->intervals = take(in);
		if (t->first > TIMELINE_INTERVALS || t->intervals > TIMELINE_INTERVALS ||
			!fits(in, t->intervals * d->columns))
			return ERR_INPUT;
		t->value = calloc((size_t)(t->intervals * d->columns) + 1, sizeof *t->value);
		if (!t->value)
			return ERR_NOMEM;
		for (size_t k = 0; k < t->intervals * d->columns; k++)
			t->value[k] = take(in);
	}
	return in->bad ? ERR_INPUT : 0;
}

int timeline_read(struct timeline_data **out, const struct perfdata_file *f, struct err *err)
{
	size_t bytes = 0;
	const uint8_t *p = perfdata_own_bytes(f, PERFDATA_TIMELINE, &bytes);
	struct in in = { p, p + bytes, false };
	*out = NULL;
	if (!p)
		return 0;
	struct timeline_data *d = calloc(1, sizeof *d);
	if (!d)
		return err_set(err, ERR_NOMEM, "out of memory");
	const char *magic = take_name(&in);
	const bool first = !strcmp(magic, MAGIC_1), second = !strcmp(magic, MAGIC_2);
	int code = !first && !second && strcmp(magic, TIMELINE_MAGIC) ? ERR_INPUT : 0;
	d->interval_cycles = take(&in);
	d->hz = take(&in);
	d->width = take(&in);
	d->windows = first ? 0 : take(&in);
	const uint64_t totals = first || second ? 0 : take(&in);
	if (totals > TIMELINE_COUNTS)
		code = ERR_INPUT;
	for (; d->totals < totals && !code; d->totals++) {
		struct timeline_total *total = &d->total[d->totals];
		total->count = take(&in);
		total->half = take(&in);
		total->known = total->half != 0;
		total->half -= total->known;
	}
	d->columns = take(&in);
	if (!code && (!fits(&in, d->columns) || !d->hz || !d->interval_cycles || d->columns > 1000 ||
		d->columns < d->totals))
		code = ERR_INPUT;
	if (!code && !(d->name = calloc((size_t)d->columns + 1, sizeof *d->name)))
		code = ERR_NOMEM;
	for (size_t c = 0; !code && c < d->columns; c++)
		d->name[c] = take_name(&in);
	const uint64_t threads = code ? 0 : take(&in);
	if (!code && (!fits(&in, threads) || !fits(&in, 4 * threads)))	/* four numbers each */
		code = ERR_INPUT;
	if (!code)
		code = take_threads(d, &in, threads);
	if (code) {
		timeline_free(d);
		return err_set(err, code, code == ERR_NOMEM ? "out of memory" : "the file's timeline is damaged");
	}
	*out = d;
	return 0;
}

void timeline_free(struct timeline_data *d)
{
	if (!d)
		return;
	for (size_t i = 0; d->thread && i <= d->threads; i++)	/* the last may be incomplete */
		free(d->thread[i].value);
	free(d->thread);
	free(d->name);
	free(d);
}
