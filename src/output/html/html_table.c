/* SPDX-License-Identifier: GPL-2.0-or-later
 * The tables that all parts of a run share: strings and functions. */
#include "output/html/part.h"
#include "util/grow.h"
#include "util/json.h"
#include <stdlib.h>
#include <string.h>

static size_t bucket_of(const struct html_table *t, const void *key)
{
	size_t at = texts_hash(key, t->bytes) & (t->buckets - 1);
	while (t->bucket[at] && memcmp((const char *)t->key + (size_t)(t->bucket[at] - 1) * t->bytes, key, t->bytes))
		at = (at + 1) & (t->buckets - 1);
	return at;
}

/* Makes room for one more. */
static bool fits(struct html_table *t)
{
	const int grew = t->count < UINT32_MAX / 4
		? grow_indexed(&t->key, t->count, &t->room, 256, t->bytes, &t->bucket, &t->buckets) : -1;
	for (size_t i = 0; grew > 0 && i < t->count; i++)
		t->bucket[bucket_of(t, (char *)t->key + i * t->bytes)] = (uint32_t)i + 1;
	return grew >= 0;
}

uint32_t html_number(struct html_table *t, const void *key)
{
	if (t->count && t->bucket[bucket_of(t, key)])
		return t->bucket[bucket_of(t, key)] - 1;
	if (!fits(t))
		return UINT32_MAX;
	t->bucket[bucket_of(t, key)] = (uint32_t)t->count + 1;
	memcpy((char *)t->key + t->count * t->bytes, key, t->bytes);
	return (uint32_t)t->count++;
}

void html_table_free(struct html_table *t)
{
	free(t->key);
	free(t->bucket);
}

/* ---- strings and functions ---- */

struct function { uint64_t address; uint32_t name, object, inlined, pad; };

void html_run_init(struct html_run *r, struct html_input *in)
{
	*r = (struct html_run){ .file = in->file, .name = in->name, .add = in->add, .adds = in->adds,
		.warning = in->warning, .strings.bytes = sizeof(const char *),
		.functions.bytes = sizeof(struct function), .programs.bytes = sizeof(const char *) };
	html_text(r, "");
}

void html_run_release(struct html_run *r)
{
	html_table_free(&r->strings);
	html_table_free(&r->functions);
	html_table_free(&r->programs);
	texts_free(&r->texts);
}

static uint32_t number_or_fail(struct html_run *r, struct html_table *t, const void *key)
{
	const uint32_t n = html_number(t, key);
	r->failed |= n == UINT32_MAX;
	return n == UINT32_MAX ? 0 : n;
}

uint32_t html_text(struct html_run *r, const char *text)
{
	const char *kept = texts_keep(&r->texts, text);
	r->failed |= !kept;
	return kept ? number_or_fail(r, &r->strings, &kept) : 0;
}

void html_program(struct html_run *r, const char *name)
{
	const char *kept = texts_keep(&r->texts, name);
	r->failed |= !kept || html_number(&r->programs, &kept) == UINT32_MAX;
}

bool html_has_program(const struct html_run *r, const char *name)
{
	const char *const *have = r->programs.key;
	for (size_t i = 0; i < r->programs.count; i++)
		if (!strcmp(have[i], name))
			return true;
	return !r->programs.count;
}

uint32_t html_function_of(struct html_run *r, const struct symbols_place *at, const struct symbol *symbol)
{
	const struct function f = { symbol ? symbol->start : 0, html_text(r, symbol ? symbol->name : ""),
		html_text(r, *at->path ? at->path : at->dso),
		symbol && symbol->inlined, 0 };
	return number_or_fail(r, &r->functions, &f);
}

uint32_t html_function(struct html_run *r, const struct symbols_place *at)
{
	return html_function_of(r, at, at->symbol);
}

void html_item(FILE *to, uint64_t number, bool *first)
{
	fprintf(to, "%s%llu", *first ? "" : ",", (unsigned long long)number);
	*first = false;
}

void html_columns(FILE *to, const struct html_table *t, const char *const name[], size_t columns)
{
	for (size_t column = 0; column < columns; column++) {
		bool first = true;
		fprintf(to, "%s\"%s\": [", column ? ",\n" : "", name[column]);
		for (size_t i = 0; i < t->count; i++)
			html_item(to, ((const uint32_t *)t->key)[columns * i + column], &first);
		fputs("]", to);
	}
}

void html_run_tables(FILE *to, const struct html_run *r)
{
	const char *const *string = r->strings.key;
	const struct function *f = r->functions.key;
	bool first = true;
	fputs("\"strings\": [", to);
	for (size_t i = 0; i < r->strings.count; i++) {
		fputs(i ? ",\n" : "", to);
		json_string(to, string[i]);
	}
	fputs("],\n\"functions\": {\"name\": [", to);
	for (size_t i = 0; i < r->functions.count; i++)
		html_item(to, f[i].name, &first);
	fputs("],\n\"object\": [", to);
	first = true;
	for (size_t i = 0; i < r->functions.count; i++)
		html_item(to, f[i].object, &first);
	fputs("],\n\"inlined\": [", to);
	first = true;
	for (size_t i = 0; i < r->functions.count; i++)
		html_item(to, f[i].inlined, &first);
	fputs("],\n\"address\": [", to);
	first = true;
	for (size_t i = 0; i < r->functions.count; i++)
		html_item(to, f[i].address, &first);
	fputs("]}", to);
}
