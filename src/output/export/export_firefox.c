/* SPDX-License-Identifier: GPL-2.0-or-later
 * Writes a processed profile of the Firefox Profiler (https://profiler.firefox.com), version 58.
 *
 * Source: https://github.com/firefox-devtools/profiler: src/types/profile.ts (the types from Profile down, and what the
 * comments there ask for), docs-developer/CHANGELOG-formats.md ("Processed profile format", up to version 58).  The
 * profiler upgrades older versions itself.
 *
 * Tables are columns of equal length, and rows are referred to by their index.  Strings, libraries and source files are
 * one table for all; each thread has tables of stacks, frames, functions, resources and native symbols of its own, with
 * what its samples need and nothing else.  A stack is a node of a tree: a frame, and the index of the stack of its
 * caller, which is smaller than its own.
 *
 * The samples of each event of a thread are a thread in the profile, because samples have one weight: the period.  Time
 * is modelled time in milliseconds.  Left out: markers, counters, build-ids (everything has its name already).
 */
#include "output/export/export.h"
#include "util/grow.h"
#include "util/json.h"
#include "util/texts.h"
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { FORMAT = 58, GECKO_FORMAT = 31 };
enum { CATEGORY_USER = 1, CATEGORY_KERNEL = 2 };	/* [0]: "Other", which has to be grey */
enum { RESOURCE_LIBRARY = 1 };
#define NONE SIZE_MAX

/* Texts in order of their first use. */
struct strings { const char **text; size_t n, room, *slot, slots; };

/* Which rows of a table of the whole file a thread uses, in order of their first use. */
struct used { size_t *row, n; size_t *index; uint32_t *stamp; };

struct node { size_t prefix, place; };	/* a stack: NONE, or a node with a smaller number */
struct group { uint32_t pid, tid; size_t event, first, samples; const char *comm; };

struct firefox {
	FILE *to;
	const struct export *x;
	struct strings strings, files, libs;
	size_t *file_of, *lib_of;	/* by function; NONE */
	size_t *base;			/* by place: that of the function that has its code */
	struct node *node;
	size_t nodes, node_room, *slot, slots, *leaf;	/* leaf: by stack */
	struct group *group;
	size_t groups, group_room, *sample;	/* sample: numbers, by group */
	uint32_t stamp;
	struct used stacks, frames, functions, symbols, resources;
	bool failed;
};

/* ---- tables of the whole file ---- */

static size_t string_of(struct firefox *f, struct strings *s, const char *text)
{
	if (2 * (s->n + 1) > s->slots) {
		const size_t slots = s->slots ? 2 * s->slots : 1024;
		size_t *slot = calloc(slots, sizeof *slot);
		if (!slot) {
			f->failed = true;
			return 0;
		}
		for (size_t i = 0; i < s->n; i++) {
			size_t at = texts_hash(s->text[i], strlen(s->text[i])) & (slots - 1);
			while (slot[at])
				at = (at + 1) & (slots - 1);
			slot[at] = i + 1;
		}
		free(s->slot);
		s->slot = slot;
		s->slots = slots;
	}
	size_t at = texts_hash(text, strlen(text)) & (s->slots - 1);
	for (; s->slot[at]; at = (at + 1) & (s->slots - 1))
		if (!strcmp(s->text[s->slot[at] - 1], text))
			return s->slot[at] - 1;
	const char **grown = grow_array(s->text, s->n, &s->room, 256, sizeof *grown);
	if (!grown) {
		f->failed = true;
		return 0;
	}
	s->text = grown;
	s->text[s->n++] = text;
	s->slot[at] = s->n;
	return s->n - 1;
}

static size_t node_slot(const struct firefox *f, const struct node *n)
{
	const uint64_t h = (n->prefix + 1) * UINT64_C(0x9e3779b97f4a7c15) ^ n->place * UINT64_C(0xc2b2ae3d27d4eb4f);
	size_t at = (size_t)(h ^ h >> 29) & (f->slots - 1);
	for (; f->slot[at]; at = (at + 1) & (f->slots - 1)) {
		const struct node *have = &f->node[f->slot[at] - 1];
		if (have->prefix == n->prefix && have->place == n->place)
			break;
	}
	return at;
}

static size_t node_of(struct firefox *f, size_t prefix, size_t place)
{
	const struct node n = { prefix, place };
	if (2 * (f->nodes + 1) > f->slots) {
		const size_t slots = f->slots ? 2 * f->slots : 4096;
		size_t *slot = calloc(slots, sizeof *slot);
		if (!slot) {
			f->failed = true;
			return 0;
		}
		free(f->slot);
		f->slot = slot;
		f->slots = slots;
		for (size_t i = 0; i < f->nodes; i++)
			f->slot[node_slot(f, &f->node[i])] = i + 1;
	}
	const size_t at = node_slot(f, &n);
	if (f->slot[at])
		return f->slot[at] - 1;
	struct node *node = grow_array(f->node, f->nodes, &f->node_room, 1024, sizeof *node);
	if (!node) {
		f->failed = true;
		return 0;
	}
	f->node = node;
	f->node[f->nodes++] = n;
	f->slot[at] = f->nodes;
	return f->nodes - 1;
}

static bool make_tables(struct firefox *f)
{
	const struct export *x = f->x;
	f->file_of = calloc(x->functions + 1, sizeof *f->file_of);
	f->lib_of = calloc(x->functions + 1, sizeof *f->lib_of);
	f->base = calloc(x->places + 1, sizeof *f->base);
	f->leaf = calloc(x->stacks + 1, sizeof *f->leaf);
	if (!f->file_of || !f->lib_of || !f->base || !f->leaf)
		return false;
	for (size_t i = 0; i < x->functions; i++) {
		const struct export_function *fn = &x->function[i];
		f->file_of[i] = *fn->file ? string_of(f, &f->files, fn->file) : NONE;
		f->lib_of[i] = *fn->path ? string_of(f, &f->libs, fn->path) : NONE;
	}
	for (size_t i = 0; i < x->places; i++)
		f->base[i] = x->place[i].is_inlined && i ? f->base[i - 1] : i;
	for (size_t s = 0; s < x->stacks && !f->failed; s++) {
		size_t node = NONE;
		for (size_t i = x->stack[s].depth; i-- > 0;)
			node = node_of(f, node, x->frame[x->stack[s].first + i]);
		f->leaf[s] = node;
	}
	return !f->failed;
}

/* A group for each event of each thread, in order of the first sample. */
static bool make_groups(struct firefox *f)
{
	const struct export *x = f->x;
	size_t *of = calloc(x->samples + 1, sizeof *of), last = 0;
	f->sample = calloc(x->samples + 1, sizeof *f->sample);
	bool ok = of && f->sample;
	for (size_t i = 0; ok && i < x->samples; i++) {
		const struct export_sample *s = &x->sample[i];
		size_t g = last;
		const struct group *had = f->groups ? &f->group[g] : NULL;
		if (!had || had->pid != s->pid || had->tid != s->tid || had->event != s->event)
			for (g = 0; g < f->groups; g++)
				if (f->group[g].pid == s->pid && f->group[g].tid == s->tid &&
					f->group[g].event == s->event)
					break;
		if (g == f->groups) {
			struct group *grown = grow_array(f->group, f->groups, &f->group_room, 16, sizeof *grown);
			if (!(ok = grown))
				break;
			f->group = grown;
			f->group[f->groups++] = (struct group){ .pid = s->pid, .tid = s->tid, .event = s->event };
		}
		f->group[g].comm = x->stack[s->stack].comm;
		f->group[g].samples++;
		of[i] = last = g;
	}
	for (size_t g = 1; ok && g < f->groups; g++)
		f->group[g].first = f->group[g - 1].first + f->group[g - 1].samples;
	for (size_t g = 0; ok && g < f->groups; g++)
		f->group[g].samples = 0;
	for (size_t i = 0; ok && i < x->samples; i++) {
		struct group *g = &f->group[of[i]];
		f->sample[g->first + g->samples++] = i;
	}
	free(of);
	return ok;
}

/* ---- what a thread uses ---- */

static bool used_init(struct used *u, size_t rows)
{
	u->row = calloc(rows + 1, sizeof *u->row);
	u->index = calloc(rows + 1, sizeof *u->index);
	u->stamp = calloc(rows + 1, sizeof *u->stamp);
	return u->row && u->index && u->stamp;
}

static void used_release(struct used *u)
{
	free(u->row);
	free(u->index);
	free(u->stamp);
}

/* The row's index in the thread's table. */
static size_t use(struct firefox *f, struct used *u, size_t row)
{
	if (u->stamp[row] != f->stamp) {
		u->stamp[row] = f->stamp;
		u->index[row] = u->n;
		u->row[u->n++] = row;
	}
	return u->index[row];
}

static void use_node(struct firefox *f, size_t node)
{
	const size_t from = f->stacks.n;
	for (; node != NONE && f->stacks.stamp[node] != f->stamp; node = f->node[node].prefix)
		use(f, &f->stacks, node);
	/* callers come first */
	for (size_t a = from, b = f->stacks.n; a + 1 < b; a++) {
		const size_t row = f->stacks.row[a];
		f->stacks.row[a] = f->stacks.row[--b];
		f->stacks.row[b] = row;
	}
	for (size_t i = from; i < f->stacks.n; i++) {
		const size_t place = f->node[f->stacks.row[i]].place, base = f->base[place];
		const size_t function = f->x->place[place].function, around = f->x->place[base].function;
		f->stacks.index[f->stacks.row[i]] = i;
		use(f, &f->frames, place);
		use(f, &f->functions, function);
		if (f->lib_of[function] != NONE)
			use(f, &f->resources, f->lib_of[function]);
		if (f->x->function[around].symbol && f->lib_of[around] != NONE)
			use(f, &f->symbols, around);
	}
}

/* ---- JSON ---- */

/* Begins a column, and writes its value: separator first. */
static void column(struct firefox *f, const char *name, size_t i)
{
	if (!i)
		fprintf(f->to, ",\n\"%s\": [", name);
	else
		putc(',', f->to);
}
static void put_number(struct firefox *f, size_t n)
{
	if (n == NONE)
		fputs("null", f->to);
	else
		fprintf(f->to, "%zu", n);
}
/* A column of n rows; `value` is an expression of i. */
#define COLUMN(name, n, value) \
	do { \
		fputs(",\n\"" name "\": [", f->to); \
		for (size_t i = 0; i < (n); i++) { \
			if (i) \
				putc(',', f->to); \
			put_number(f, value); \
		} \
		putc(']', f->to); \
	} while (0)
#define CONSTANT(name, n, text) \
	do { \
		fputs(",\n\"" name "\": [", f->to); \
		for (size_t i = 0; i < (n); i++) \
			fputs(i ? "," text : text, f->to); \
		putc(']', f->to); \
	} while (0)

/* The address in the file's own numbering; of a call, that of its last byte or so, as the format asks. */
static size_t address_of(const struct export_place *p)
{
	const struct symfile *file = symbols_place_file(&p->at);
	uint64_t vaddr;
	if (!file || !symfile_vaddr(file, p->at.address, &vaddr))
		vaddr = p->at.address;
	return (size_t)(vaddr - (p->caller && vaddr));
}

static bool is_kernel(const struct export_place *p) { return !strcmp(p->at.dso, "[kernel.kallsyms]"); }

static void write_frames(struct firefox *f)
{
	const struct export_place *place = f->x->place;
	const size_t *row = f->frames.row, n = f->frames.n;
	fprintf(f->to, ",\n\"frameTable\": {\"length\": %zu", n);
	COLUMN("address", n, address_of(&place[f->base[row[i]]]));
	COLUMN("inlineDepth", n, row[i] - f->base[row[i]]);
	COLUMN("category", n, (size_t)(is_kernel(&place[row[i]]) ? CATEGORY_KERNEL : CATEGORY_USER));
	CONSTANT("subcategory", n, "0");
	COLUMN("func", n, f->functions.index[place[row[i]].function]);
	fputs(",\n\"nativeSymbol\": [", f->to);
	for (size_t i = 0; i < n; i++) {
		const size_t around = place[f->base[row[i]]].function;
		if (i)
			putc(',', f->to);
		put_number(f, f->symbols.stamp[around] == f->stamp ? f->symbols.index[around] : NONE);
	}
	fputs("]", f->to);
	CONSTANT("innerWindowID", n, "0");
	COLUMN("line", n, place[row[i]].line ? (size_t)place[row[i]].line : NONE);
	CONSTANT("column", n, "null");
	fputs("}", f->to);
}

static void write_functions(struct firefox *f)
{
	const struct export_function *fn = f->x->function;
	const size_t *row = f->functions.row, n = f->functions.n;
	fprintf(f->to, ",\n\"funcTable\": {\"length\": %zu", n);
	COLUMN("name", n, string_of(f, &f->strings, fn[row[i]].name));
	CONSTANT("isJS", n, "false");
	CONSTANT("relevantForJS", n, "false");
	fputs(",\n\"resource\": [", f->to);
	for (size_t i = 0; i < n; i++) {
		const size_t lib = f->lib_of[row[i]];
		fprintf(f->to, i ? ",%ld" : "%ld", lib == NONE ? -1L : (long)f->resources.index[lib]);
	}
	putc(']', f->to);
	COLUMN("source", n, f->file_of[row[i]]);
	CONSTANT("lineNumber", n, "null");
	CONSTANT("columnNumber", n, "null");
	fputs("}", f->to);
	row = f->symbols.row;
	fprintf(f->to, ",\n\"nativeSymbols\": {\"length\": %zu", f->symbols.n);
	COLUMN("libIndex", f->symbols.n, f->lib_of[row[i]]);
	fputs(",\n\"address\": [", f->to);
	for (size_t i = 0; i < f->symbols.n; i++) {
		struct export_place start = f->x->place[f->base[fn[row[i]].place]];
		start.caller = false;
		start.at.address = fn[row[i]].symbol->start;
		fprintf(f->to, i ? ",%zu" : "%zu", address_of(&start));
	}
	putc(']', f->to);
	COLUMN("name", f->symbols.n, string_of(f, &f->strings, fn[row[i]].name));
	COLUMN("functionSize", f->symbols.n, (size_t)(fn[row[i]].symbol->end - fn[row[i]].symbol->start));
	fputs("}", f->to);
	row = f->resources.row;
	fprintf(f->to, ",\n\"resourceTable\": {\"length\": %zu", f->resources.n);
	COLUMN("lib", f->resources.n, row[i]);
	COLUMN("name", f->resources.n, string_of(f, &f->strings, f->libs.text[row[i]]));
	CONSTANT("host", f->resources.n, "null");
	COLUMN("type", f->resources.n, (size_t)RESOURCE_LIBRARY);
	fputs("}", f->to);
}

static void write_samples(struct firefox *f, const struct group *g)
{
	const struct export_sample *sample = f->x->sample;
	const size_t *number = f->sample + g->first;
	fprintf(f->to, ",\n\"samples\": {\"length\": %zu, \"weightType\": \"samples\"", g->samples);
	fputs(",\n\"stack\": [", f->to);
	for (size_t i = 0; i < g->samples; i++) {
		const size_t node = f->leaf[sample[number[i]].stack];
		if (i)
			putc(',', f->to);
		put_number(f, node == NONE ? NONE : f->stacks.index[node]);
	}
	fputs("]", f->to);
	for (size_t i = 0; i < g->samples; i++) {
		column(f, "time", i);
		fprintf(f->to, "%.6f", 1e-6 * (double)sample[number[i]].time);
	}
	fputs("]", f->to);
	for (size_t i = 0; i < g->samples; i++) {
		column(f, "weight", i);
		fprintf(f->to, "%" PRIu64, sample[number[i]].value);
	}
	fputs("]}", f->to);
}

/* The name of a thread's process: that of its main thread, or else of the first with samples. */
static const char *process_name(const struct firefox *f, uint32_t pid)
{
	const char *name = NULL;
	for (size_t i = 0; i < f->groups; i++)
		if (f->group[i].pid == pid && (!name || f->group[i].tid == pid))
			name = f->group[i].comm;
	return name ? name : "";
}

static void write_thread(struct firefox *f, size_t number)
{
	const struct group *g = &f->group[number];
	const struct export_sample *sample = f->x->sample;
	f->stamp++;
	f->stacks.n = f->frames.n = f->functions.n = f->symbols.n = f->resources.n = 0;
	for (size_t i = 0; i < g->samples; i++)
		use_node(f, f->leaf[sample[f->sample[g->first + i]].stack]);
	fprintf(f->to, "%s\n{\"processType\": \"default\", \"processStartupTime\": 0, \"processShutdownTime\": null, "
		"\"registerTime\": %.6f, \"unregisterTime\": %.6f, \"pausedRanges\": [], \"name\": ",
		number ? "," : "", 1e-6 * (double)sample[f->sample[g->first]].time,
		1e-6 * (double)sample[f->sample[g->first + g->samples - 1]].time);
	char name[256];
	if (f->x->events > 1)
		snprintf(name, sizeof name, "%s (%s)", g->comm, f->x->event_name[g->event]);
	else
		snprintf(name, sizeof name, "%s", g->comm);
	json_string(f->to, name);
	fprintf(f->to, ", \"isMainThread\": %s, \"processName\": ", g->pid == g->tid && !g->event ? "true" : "false");
	json_string(f->to, process_name(f, g->pid));
	fprintf(f->to, ", \"pid\": \"%u\", \"tid\": ", g->pid);
	if (g->event)
		fprintf(f->to, "\"%u.%zu\"", g->tid, g->event);
	else
		fprintf(f->to, "%u", g->tid);
	write_samples(f, g);
	fputs(",\n\"markers\": {\"length\": 0, \"data\": [], \"name\": [], \"startTime\": [], \"endTime\": [], "
	      "\"phase\": [], \"category\": []}", f->to);
	fprintf(f->to, ",\n\"stackTable\": {\"length\": %zu", f->stacks.n);
	COLUMN("frame", f->stacks.n, f->frames.index[f->node[f->stacks.row[i]].place]);
	fputs(",\n\"prefix\": [", f->to);
	for (size_t i = 0; i < f->stacks.n; i++) {
		const size_t prefix = f->node[f->stacks.row[i]].prefix;
		if (i)
			putc(',', f->to);
		put_number(f, prefix == NONE ? NONE : f->stacks.index[prefix]);
	}
	fputs("]}", f->to);
	write_frames(f);
	write_functions(f);
	fputs("}", f->to);
}

static void write_meta(struct firefox *f, const char *title)
{
	const struct export *x = f->x;
	const double first = x->samples ? 1e-6 * (double)x->sample[0].time : 0,
		     last = x->samples ? 1e-6 * (double)x->sample[x->samples - 1].time : 0;
	size_t most = 0;
	for (size_t i = 0; i < f->groups; i++)
		most = f->group[i].samples > most ? f->group[i].samples : most;
	fprintf(f->to, "{\"meta\": {\"interval\": %.6f, \"startTime\": 0, \"profilingStartTime\": %.6f, "
		"\"profilingEndTime\": %.6f, \"processType\": 0, \"product\": ",
		most > 1 && last > first ? (last - first) / (double)(most - 1) : 1.0, first, last);
	json_string(f->to, title);
	fprintf(f->to, ", \"importedFrom\": \"softpmu\", \"stackwalk\": 1, \"version\": %d, "
		"\"preprocessedProfileVersion\": %d, \"symbolicated\": true, \"markerSchema\": [], "
		"\"usesOnlyOneStackType\": true, \"sourceCodeIsNotOnSearchfox\": true, "
		"\"sampleUnits\": {\"time\": \"ms\", \"eventDelay\": \"ms\", \"threadCPUDelta\": \"ns\"},\n"
		"\"categories\": [{\"name\": \"Other\", \"color\": \"grey\", \"subcategories\": [\"Other\"]}, "
		"{\"name\": \"User\", \"color\": \"yellow\", \"subcategories\": [\"Other\"]}, "
		"{\"name\": \"Kernel\", \"color\": \"orange\", \"subcategories\": [\"Other\"]}]},\n\"threads\": [",
		GECKO_FORMAT, FORMAT);
}

static void write_shared(struct firefox *f)
{
	fputs("],\n\"libs\": [", f->to);
	for (size_t i = 0; i < f->libs.n; i++) {
		const char *path = f->libs.text[i], *name = strrchr(path, '/') ? strrchr(path, '/') + 1 : path;
		fprintf(f->to, "%s\n{\"arch\": \"\", \"name\": ", i ? "," : "");
		json_string(f->to, name);
		fputs(", \"path\": ", f->to);
		json_string(f->to, path);
		fputs(", \"debugName\": ", f->to);
		json_string(f->to, name);
		fputs(", \"debugPath\": ", f->to);
		json_string(f->to, path);
		fputs(", \"breakpadId\": \"\", \"codeId\": null}", f->to);
	}
	fprintf(f->to, "],\n\"shared\": {\"sources\": {\"length\": %zu", f->files.n);
	CONSTANT("uuid", f->files.n, "null");
	COLUMN("filename", f->files.n, string_of(f, &f->strings, f->files.text[i]));
	fputs("},\n\"stringArray\": [", f->to);
	for (size_t i = 0; i < f->strings.n; i++) {
		fputs(i ? ",\n" : "\n", f->to);
		json_string(f->to, f->strings.text[i]);
	}
	fputs("]}}\n", f->to);
}

static void release(struct strings *s)
{
	free(s->text);
	free(s->slot);
}

int export_firefox(FILE *to, const struct export *x, const char *title, struct err *err)
{
	struct firefox firefox = { .to = to, .x = x }, *f = &firefox;
	bool ok = make_tables(f) && make_groups(f) && used_init(&f->stacks, f->nodes) &&
		used_init(&f->frames, x->places) && used_init(&f->functions, x->functions) &&
		used_init(&f->symbols, x->functions) && used_init(&f->resources, f->libs.n);
	if (ok) {
		write_meta(f, title);
		for (size_t i = 0; i < f->groups && !f->failed; i++)
			write_thread(f, i);
		write_shared(f);
		ok = !f->failed;
	}
	used_release(&f->stacks);
	used_release(&f->frames);
	used_release(&f->functions);
	used_release(&f->symbols);
	used_release(&f->resources);
	release(&f->strings);
	release(&f->files);
	release(&f->libs);
	free(f->file_of);
	free(f->lib_of);
	free(f->base);
	free(f->node);
	free(f->slot);
	free(f->leaf);
	free(f->group);
	free(f->sample);
	return ok ? 0 : err_set(err, ERR_NOMEM, "out of memory");
}
