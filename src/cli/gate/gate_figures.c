/* SPDX-License-Identifier: GPL-2.0-or-later
 * The figures of `softpmu gate` and their file (gate_figures.h).  json-c reads the JSON; it is written by hand, because
 * the order of lines and the spaces are part of the format. */
#include "cli/gate/gate_figures.h"
#include "util/grow.h"
#include "util/json.h"
#include <errno.h>
#include <json-c/json.h>
#include <stdlib.h>
#include <string.h>

enum { VERSION = 1, FILE_MOST = 64 << 20, DEPTH = 8 };

static const char *const table_name[GATE_TABLES] = {
	[GATE_COUNTS] = "counts",
	[GATE_CYCLES] = "cycles by function",
	[GATE_INSTRUCTIONS] = "instructions by function",
};

/* ---- tables --------------------------------------------------------------------------------------------- */

/* Index of the first figure that is not before `name`. */
static size_t figure_place(const struct gate_figures *f, const char *name)
{
	size_t low = 0, high = f->count;
	while (low < high) {
		const size_t at = low + (high - low) / 2;
		if (strcmp(f->figure[at].name, name) < 0)
			low = at + 1;
		else
			high = at;
	}
	return low;
}

int gate_figures_add(struct gate_figures *f, const char *name, uint64_t value)
{
	const size_t at = figure_place(f, name);
	if (value > INT64_MAX)
		return ERR_INPUT;
	if (at < f->count && !strcmp(f->figure[at].name, name)) {
		if (value > INT64_MAX - f->figure[at].value)
			return ERR_INPUT;
		f->figure[at].value += value;
		return 0;
	}
	struct gate_figure *grown = grow_array(f->figure, f->count, &f->room, 16, sizeof *grown);
	char *copy = grown ? strdup(name) : NULL;
	if (grown)
		f->figure = grown;
	if (!copy)
		return ERR_NOMEM;
	memmove(grown + at + 1, grown + at, (f->count - at) * sizeof *grown);
	grown[at] = (struct gate_figure){ copy, value };
	f->count++;
	return 0;
}

const struct gate_figure *gate_figures_find(const struct gate_figures *f, const char *name)
{
	const size_t at = figure_place(f, name);
	return at < f->count && !strcmp(f->figure[at].name, name) ? f->figure + at : NULL;
}

uint64_t gate_figures_sum(const struct gate_figures *f)
{
	uint64_t sum = 0;
	for (size_t i = 0; i < f->count; i++)
		sum += f->figure[i].value;	/* of unsigned numbers: it may wrap, and no harm is done */
	return sum;
}

/* Whether "ID+ID" holds this id. */
static bool holds(const char *ids, const char *id)
{
	const size_t n = strlen(id);
	for (const char *at = ids; at; at = strchr(at, '+') ? strchr(at, '+') + 1 : NULL)
		if (!strncmp(at, id, n) && (!at[n] || at[n] == '+'))
			return true;
	return false;
}

int gate_objects_add(struct gate_objects *o, const char *name, const char *id)
{
	size_t at = 0;
	while (at < o->count && strcmp(o->object[at].name, name) < 0)
		at++;
	if (at < o->count && !strcmp(o->object[at].name, name)) {
		char *both = NULL;
		if (holds(o->object[at].id, id))
			return 0;
		if (asprintf(&both, "%s+%s", o->object[at].id, id) < 0)
			return ERR_NOMEM;
		free(o->object[at].id);
		o->object[at].id = both;
		return 0;
	}
	struct gate_object *grown = grow_array(o->object, o->count, &o->room, 8, sizeof *grown);
	if (!grown)
		return ERR_NOMEM;
	o->object = grown;
	struct gate_object new = { strdup(name), strdup(id) };
	if (!new.name || !new.id) {
		free(new.name);
		free(new.id);
		return ERR_NOMEM;
	}
	memmove(grown + at + 1, grown + at, (o->count - at) * sizeof *grown);
	grown[at] = new;
	o->count++;
	return 0;
}

const char *gate_objects_find(const struct gate_objects *o, const char *name)
{
	for (size_t i = 0; i < o->count; i++)
		if (!strcmp(o->object[i].name, name))
			return o->object[i].id;
	return NULL;
}

static void figures_free(struct gate_figures *f)
{
	for (size_t i = 0; i < f->count; i++)
		free(f->figure[i].name);
	free(f->figure);
	*f = (struct gate_figures){ 0 };
}

int gate_fold(struct gate_benchmark *b, const struct gate_benchmark *old)
{
	const uint64_t share = old ? 1000 : 10000;
	const struct gate_figures *cycles = b->table + GATE_CYCLES, *insns = b->table + GATE_INSTRUCTIONS;
	const uint64_t of_cycles = gate_figures_sum(cycles) / share, of_insns = gate_figures_sum(insns) / share;
	struct gate_figures folded[GATE_TABLES] = { 0 };
	int rc = 0;
	for (size_t i = 0; i < cycles->count && !rc; i++) {
		const char *name = cycles->figure[i].name, *file = strrchr(name, '[');
		const struct gate_figure *same = gate_figures_find(insns, name);
		const uint64_t count[] = { cycles->figure[i].value, same ? same->value : 0 };
		char *rest = NULL;
		const bool keep = count[0] >= of_cycles || count[1] >= of_insns || !file ||
				  (old && gate_figures_find(old->table + GATE_CYCLES, name));
		if (!keep && asprintf(&rest, "(others) %s", file) < 0)
			rc = ERR_NOMEM;
		for (unsigned t = 0; t < 2 && !rc; t++)
			rc = gate_figures_add(folded + GATE_CYCLES + t, rest ? rest : name, count[t]);
		free(rest);
	}
	for (unsigned t = GATE_CYCLES; t < GATE_TABLES; t++) {
		figures_free(b->table + t);
		b->table[t] = folded[t];
	}
	return rc;
}

struct gate_benchmark *gate_benchmark_find(const struct gate_file *f, const char *name)
{
	for (size_t i = 0; i < f->benchmarks; i++)
		if (!strcmp(f->benchmark[i].name, name))
			return f->benchmark + i;
	return NULL;
}

struct gate_benchmark *gate_benchmark_add(struct gate_file *f, const char *name)
{
	struct gate_benchmark *b = gate_benchmark_find(f, name);
	if (b)
		return b;
	struct gate_benchmark *grown = grow_array(f->benchmark, f->benchmarks, &f->room, 8, sizeof *grown);
	char *copy = grown ? strdup(name) : NULL;
	if (grown)
		f->benchmark = grown;
	if (!copy)
		return NULL;
	size_t at = f->benchmarks;
	while (at && strcmp(grown[at - 1].name, name) > 0)
		at--;
	memmove(grown + at + 1, grown + at, (f->benchmarks - at) * sizeof *grown);
	grown[at] = (struct gate_benchmark){ .name = copy };
	f->benchmarks++;
	return grown + at;
}

void gate_file_free(struct gate_file *f)
{
	for (size_t i = 0; i < f->benchmarks; i++) {
		struct gate_benchmark *b = f->benchmark + i;
		for (size_t k = 0; k < b->objects.count; k++) {
			free(b->objects.object[k].name);
			free(b->objects.object[k].id);
		}
		free(b->objects.object);
		for (size_t t = 0; t < GATE_TABLES; t++)
			figures_free(b->table + t);
		free(b->name);
	}
	free(f->benchmark);
	free(f->model);
	free(f->machine);
	free(f->processor);
	*f = (struct gate_file){ 0 };
}

/* ---- writing -------------------------------------------------------------------------------------------- */

static void write_table(FILE *to, const char *name, const struct gate_figures *f, bool last)
{
	fprintf(to, "      \"%s\": {%s", name, f->count ? "\n" : "");
	for (size_t i = 0; i < f->count; i++) {
		fputs("        ", to);
		json_string(to, f->figure[i].name);
		fprintf(to, ": %llu%s\n", (unsigned long long)f->figure[i].value, i + 1 < f->count ? "," : "");
	}
	fprintf(to, "%s}%s\n", f->count ? "      " : "", last ? "" : ",");
}

static void write_text(FILE *to, const char *name, const char *text)
{
	fprintf(to, "  \"%s\": ", name);
	json_string(to, text ? text : "");
	fputs(",\n", to);
}

void gate_file_write(FILE *to, const struct gate_file *f)
{
	fprintf(to, "{\n  \"softpmu gate\": %d,\n", VERSION);
	write_text(to, "model", f->model);
	write_text(to, "machine", f->machine);
	write_text(to, "processor", f->processor);
	fprintf(to, "  \"benchmarks\": {%s", f->benchmarks ? "\n" : "");
	for (size_t i = 0; i < f->benchmarks; i++) {
		const struct gate_benchmark *b = f->benchmark + i;
		fputs("    ", to);
		json_string(to, b->name);
		fprintf(to, ": {\n      \"objects\": {%s", b->objects.count ? "\n" : "");
		for (size_t k = 0; k < b->objects.count; k++) {
			fputs("        ", to);
			json_string(to, b->objects.object[k].name);
			fputs(": ", to);
			json_string(to, b->objects.object[k].id);
			fputs(k + 1 < b->objects.count ? ",\n" : "\n", to);
		}
		fprintf(to, "%s},\n", b->objects.count ? "      " : "");
		for (size_t t = 0; t < GATE_TABLES; t++)
			write_table(to, table_name[t], b->table + t, t + 1 == GATE_TABLES);
		fprintf(to, "    }%s\n", i + 1 < f->benchmarks ? "," : "");
	}
	fprintf(to, "%s}\n}\n", f->benchmarks ? "  " : "");
}

/* ---- reading -------------------------------------------------------------------------------------------- */

struct reading { const char *path; struct err *err; };

static int nomem(const struct reading *r)
{
	return err_set(r->err, ERR_NOMEM, "out of memory");
}

/* A whole number from 0 to INT64_MAX. */
static bool whole(struct json_object *value, uint64_t *out)
{
	if (!json_object_is_type(value, json_type_int) || json_object_get_int64(value) < 0)
		return false;
	*out = json_object_get_uint64(value);
	return *out <= INT64_MAX;
}

static int take_figures(const struct reading *r, struct gate_figures *f, struct json_object *table, const char *of)
{
	json_object_object_foreach(table, name, value) {
		uint64_t count = 0;
		if (!whole(value, &count))
			return err_set(r->err, ERR_INPUT, "%s: %.100s: '%.100s' is not a count", r->path, of, name);
		if (gate_figures_add(f, name, count))
			return nomem(r);
	}
	return 0;
}

static int take_objects(const struct reading *r, struct gate_benchmark *b, struct json_object *table)
{
	json_object_object_foreach(table, name, id) {
		if (!json_object_is_type(id, json_type_string))
			return err_set(r->err, ERR_INPUT, "%s: %.100s: the id of '%.100s' is not a text", r->path,
				b->name, name);
		if (gate_objects_add(&b->objects, name, json_object_get_string(id)))
			return nomem(r);
	}
	return 0;
}

static int take_benchmark(const struct reading *r, struct gate_benchmark *b, struct json_object *from)
{
	json_object_object_foreach(from, name, value) {
		size_t t = 0;
		int rc;
		if (!json_object_is_type(value, json_type_object))
			return err_set(r->err, ERR_INPUT, "%s: %.100s: '%.100s' is not an object", r->path, b->name,
				name);
		while (t < GATE_TABLES && strcmp(name, table_name[t]))
			t++;
		if (t < GATE_TABLES)
			rc = take_figures(r, b->table + t, value, b->name);
		else if (!strcmp(name, "objects"))
			rc = take_objects(r, b, value);
		else
			rc = err_set(r->err, ERR_INPUT, "%s: %.100s: unknown table '%.100s'", r->path, b->name, name);
		if (rc)
			return rc;
	}
	return 0;
}

static int take_text(const struct reading *r, char **out, struct json_object *from, const char *name)
{
	struct json_object *text = json_object_object_get(from, name);
	if (!json_object_is_type(text, json_type_string))
		return err_set(r->err, ERR_INPUT, "%s: no text '%s'", r->path, name);
	*out = strdup(json_object_get_string(text));
	return *out ? 0 : nomem(r);
}

static int take_file(const struct reading *r, struct gate_file *f, struct json_object *from)
{
	uint64_t version = 0;
	int rc;
	if (!json_object_is_type(from, json_type_object) ||
		!whole(json_object_object_get(from, "softpmu gate"), &version))
		return err_set(r->err, ERR_INPUT, "%s is no baseline of softpmu gate", r->path);
	if (version != VERSION)
		return err_set(r->err, ERR_INPUT, "%s has version %llu; this softpmu reads version %d", r->path,
			(unsigned long long)version, VERSION);
	if ((rc = take_text(r, &f->model, from, "model")) || (rc = take_text(r, &f->machine, from, "machine")) ||
		(rc = take_text(r, &f->processor, from, "processor")))
		return rc;
	struct json_object *all = json_object_object_get(from, "benchmarks");
	if (!json_object_is_type(all, json_type_object) || json_object_object_length(from) != 5)
		return err_set(r->err, ERR_INPUT, "%s: %s", r->path,
			json_object_is_type(all, json_type_object) ? "it holds more than a baseline does"
								   : "no object 'benchmarks'");
	json_object_object_foreach(all, name, value) {
		if (!json_object_is_type(value, json_type_object))
			return err_set(r->err, ERR_INPUT, "%s: benchmark '%.100s' is not an object", r->path, name);
		struct gate_benchmark *b = gate_benchmark_add(f, name);
		if (!b)
			return nomem(r);
		if ((rc = take_benchmark(r, b, value)))
			return rc;
	}
	return 0;
}

int gate_file_parse(struct gate_file *f, const char *text, size_t bytes, const char *path, struct err *err)
{
	const struct reading r = { path, err };
	struct json_object *root = NULL;
	struct json_tokener *parser = json_tokener_new_ex(DEPTH);
	int rc;
	*f = (struct gate_file){ 0 };
	if (!parser)
		return nomem(&r);
	json_tokener_set_flags(parser, JSON_TOKENER_STRICT | JSON_TOKENER_VALIDATE_UTF8);
	root = json_tokener_parse_ex(parser, text, (int)bytes);
	const enum json_tokener_error wrong = json_tokener_get_error(parser);
	const size_t end = json_tokener_get_parse_end(parser);
	json_tokener_free(parser);
	if (wrong != json_tokener_success) {
		unsigned line = 1;
		for (size_t i = 0; i < end && i < bytes; i++)
			line += text[i] == '\n';
		rc = wrong == json_tokener_continue
			? err_set(err, ERR_INPUT, "%s: the file is cut short", path)
			: err_set(err, ERR_INPUT, "%s, line %u: %s", path, line, json_tokener_error_desc(wrong));
	} else {
		rc = take_file(&r, f, root);
	}
	json_object_put(root);
	if (rc)
		gate_file_free(f);
	return rc;
}

int gate_file_read(struct gate_file *f, const char *path, bool *missing, struct err *err)
{
	char *text = NULL;
	size_t used = 0, room = 0, got = 1;
	int rc = 0;
	*f = (struct gate_file){ 0 };
	FILE *from = fopen(path, "re");
	*missing = !from && errno == ENOENT;
	if (!from)
		return err_system(err, "cannot read %s", path);
	while (got && !rc) {
		if (used == room) {
			char *grown = room < FILE_MOST ? realloc(text, room = room ? 2 * room : 1 << 16) : NULL;
			if (!grown) {
				rc = room > FILE_MOST / 2 ? err_set(err, ERR_INPUT, "%s: it is too long", path)
							  : err_set(err, ERR_NOMEM, "out of memory");
				break;
			}
			text = grown;
		}
		got = fread(text + used, 1, room - used, from);
		used += got;
	}
	if (!rc && ferror(from))
		rc = err_system(err, "cannot read %s", path);
	fclose(from);
	if (!rc)
		rc = gate_file_parse(f, text, used, path, err);
	free(text);
	return rc;
}
