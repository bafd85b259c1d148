/* SPDX-License-Identifier: GPL-2.0-or-later
 * The part "code" of a page: instructions and source lines of the hottest functions, with what hit each instruction.
 *
 *   {"events": [TEXT, ...],			all events of the file, those of the exact profile among them
 *    "causes": {TEXT: TEXT, ...},		what the exact profile's causes mean
 *    "functions": [{
 *        "function": N,			of the run
 *        "address": [...], "text": [...],	instructions: as the object's file numbers them, disassembled
 *        "file": [...], "line": [...],		where each is in the source; line 0: unknown
 *        "inlined": [...],			name of the inlined function it belongs to, text 0 if none
 *        "source": {"file": [...], "line": [...], "text": [...]},	the lines to show, in order
 *        "hit": [[EVENT, ROW, THREAD, PERIOD, SAMPLES, LATENCY, LATENCIES, LATE], ...]}, ...],
 *    "threads": [[PID, TID], ...],		those that hits name
 *    "samples": [{"hit": [...], "latency": [...] or null}, ...]}	for each event of the part "profile"
 *
 * Texts are strings of the run.  A hit's row is the index of an instruction.  LATENCY is the sum of the LATENCIES known
 * latencies of accesses, LATE the sum of the cycles by which the samples' instructions retired late.  The samples of an
 * event stand in the order of the part "profile", each with 1 + the number of its hit, counted over all functions, or 0
 * if that is not here; they say what was hit when.  Functions come in
 * order of their largest share of a sampled event or of the exact cycles, and only FUNCTIONS of them; those whose code
 * cannot be read are left out.
 */
#include "analysis/exact.h"
#include "isa/isa.h"
#include "output/exact_record.h"
#include "output/html/part.h"
#include "output/profile.h"
#include "symbols/source_text.h"
#include "util/grow.h"
#include "util/json.h"
#include <linux/perf_event.h>
#include <stdlib.h>
#include <string.h>

enum { FUNCTIONS = 200, CODE_LIMIT = 1 << 18, ROWS_LIMIT = 100000, AROUND = 3 };
#define NO_KEY UINT32_MAX

struct key { const struct symbol *symbol; uint64_t address, event, thread; };
struct hit { uint64_t period, samples, latency, latencies, late; uint32_t number; };	/* number: in the page, or 0 */
struct thread { uint32_t pid, tid; };
struct sample { uint32_t key, latency; };	/* key: NO_KEY if it has no symbol */
struct event { struct sample *sample; size_t samples, room; bool latencies; };
struct function {
	const struct symbol *symbol;
	struct symfile *file;
	uint32_t number;
	size_t first, hits;	/* in load.order */
	double share;		/* the largest of an event */
};
struct row { uint32_t file, line, inlined; };
struct load {
	struct html_run *run;
	struct profile *profile;
	struct html_table keys, symbols, threads;
	struct event *event;
	struct hit *hit;		/* one for each key */
	struct function *function;	/* one for each symbol */
	size_t room, function_room, events;
	uint64_t *total;		/* of each event */
	const struct key **order;	/* the keys by function and address */
	struct sources sources;
	size_t rows;			/* written so far */
	uint32_t hits;			/* likewise */
};

/* Notes a sample of an event that the part "profile" has. */
static int note_sample(struct load *l, const struct perfdata_record *r, uint32_t key)
{
	struct event *e = &l->event[r->event];
	if (exact_record_event(perfdata_event_info(l->run->file, r->event)->name) < EXACT_EVENTS)
		return 0;
	struct sample *grown = grow_array(e->sample, e->samples, &e->room, 256, sizeof *grown);
	if (!grown)
		return ERR_NOMEM;
	const bool latency = !profile_counts_pushouts(l->profile->event[r->event].info) && r->weight;
	e->sample = grown;
	e->latencies |= latency;
	grown[e->samples++] = (struct sample){ key, !latency ? 0 : r->weight < UINT32_MAX ? (uint32_t)r->weight :
		UINT32_MAX };
	return 0;
}

static int on_sample(void *context, const struct perfdata_record *r, const struct symbols_place *place,
	const char *comm)
{
	struct load *l = context;
	(void)comm;
	l->total[r->event] += r->period;
	if (!place->symbol)
		return note_sample(l, r, NO_KEY);
	const size_t functions = l->symbols.count, hits = l->keys.count;
	const uint32_t symbol = html_number(&l->symbols, &place->symbol);
	const uint32_t thread = html_number(&l->threads, &(struct thread){ r->pid, r->tid });
	const uint32_t key = html_number(&l->keys, &(struct key){ place->symbol, place->address, r->event, thread });
	if (symbol == UINT32_MAX || key == UINT32_MAX || thread == UINT32_MAX)
		return ERR_NOMEM;
	if (symbol == functions) {
		struct function *grown = grow_array(l->function, functions, &l->function_room, 64, sizeof *grown);
		if (!grown)
			return ERR_NOMEM;
		l->function = grown;
		grown[symbol] = (struct function){ place->symbol, symbols_place_file(place),
			html_function(l->run, place), 0, 0, 0 };
	}
	if (key == hits) {
		struct hit *grown = grow_array(l->hit, hits, &l->room, 256, sizeof *grown);
		if (!grown)
			return ERR_NOMEM;
		l->hit = grown;
		grown[key] = (struct hit){ 0 };
	}
	struct hit *h = &l->hit[key];
	const bool pushout = profile_counts_pushouts(l->profile->event[r->event].info);
	h->period += r->period;
	h->samples++;
	h->late += pushout ? r->weight : r->retire_latency;
	if (!pushout && r->weight) {
		h->latency += r->weight;
		h->latencies++;
	}
	return note_sample(l, r, key);
}

/* ---- the order of functions and hits ---- */

static int by_place(const void *x, const void *y)
{
	const struct key *a = *(const struct key *const *)x, *b = *(const struct key *const *)y;
	if (a->symbol != b->symbol)
		return (uintptr_t)a->symbol < (uintptr_t)b->symbol ? -1 : 1;
	if (a->address != b->address)
		return a->address < b->address ? -1 : 1;
	if (a->event != b->event)
		return a->event < b->event ? -1 : 1;
	return a->thread < b->thread ? -1 : a->thread > b->thread;
}

static int hotter(const void *x, const void *y)
{
	const struct function *a = x, *b = y;
	if (a->share != b->share)
		return a->share > b->share ? -1 : 1;
	return a->number < b->number ? -1 : a->number > b->number;
}

static struct hit *hit_of(const struct load *l, const struct key *k)
{
	return &l->hit[k - (const struct key *)l->keys.key];
}

/* The largest share of a sampled event, or of the exact cycles, that the function has.  sum: room for the events. */
static double share_of(const struct load *l, const struct function *f, uint64_t *sum)
{
	double share = 0, exact = 0, exact_total = 0;
	memset(sum, 0, l->events * sizeof *sum);
	for (size_t i = f->first; i < f->first + f->hits; i++)
		sum[l->order[i]->event] += hit_of(l, l->order[i])->period;
	for (size_t i = 0; i < l->events; i++) {
		const unsigned kind = exact_record_event(perfdata_event_info(l->run->file, i)->name);
		if (kind < EXACT_CAUSES) {
			exact += (double)sum[i];
			exact_total += (double)l->total[i];
		} else if (kind == EXACT_EVENTS && sum[i] && (double)sum[i] / (double)l->total[i] > share) {
			share = (double)sum[i] / (double)l->total[i];
		}
	}
	return exact > share * exact_total ? exact / exact_total : share;
}

static int sort(struct load *l)
{
	const struct key *key = l->keys.key;
	uint64_t *sum = calloc(l->events + 1, sizeof *sum);
	l->order = calloc(l->keys.count + 1, sizeof *l->order);
	if (!sum || !l->order) {
		free(sum);
		return ERR_NOMEM;
	}
	for (size_t i = 0; i < l->keys.count; i++)
		l->order[i] = &key[i];
	if (l->keys.count)
		qsort(l->order, l->keys.count, sizeof *l->order, by_place);
	for (size_t i = 0, next; i < l->keys.count; i = next) {
		struct function *f = &l->function[html_number(&l->symbols, &l->order[i]->symbol)];
		for (next = i; next < l->keys.count && l->order[next]->symbol == f->symbol; next++)
			;
		f->first = i;
		f->hits = next - i;
		f->share = share_of(l, f, sum);
	}
	if (l->symbols.count)
		qsort(l->function, l->symbols.count, sizeof *l->function, hotter);
	free(sum);
	return 0;
}

/* ---- source lines ---- */

static int by_line(const void *x, const void *y)
{
	const struct row *a = x, *b = y;
	if (a->file != b->file)
		return a->file < b->file ? -1 : 1;
	return a->line < b->line ? -1 : a->line > b->line;
}

/* The lines of the rows and those around them; sorts the rows. */
static void write_source(FILE *to, struct load *l, struct row *row, size_t rows)
{
	char *column[3] = { 0 };
	size_t bytes[3] = { 0 };
	FILE *f[3];
	bool first[3] = { true, true, true };
	uint32_t file = UINT32_MAX, last = 0;
	qsort(row, rows, sizeof *row, by_line);
	for (unsigned i = 0; i < 3; i++) {
		f[i] = open_memstream(&column[i], &bytes[i]);
		l->run->failed |= !f[i];
	}
	for (size_t i = 0; i < rows && !l->run->failed; i++) {
		if (row[i].file != file)
			last = 0;
		file = row[i].file;
		const uint32_t from = row[i].line > AROUND + last ? row[i].line - AROUND : last + 1;
		for (uint32_t n = from; row[i].line && n <= row[i].line + AROUND; n++) {
			const char *path = ((const char *const *)l->run->strings.key)[file];
			const char *text = source_text(&l->sources, path, n);
			if (!text && n != row[i].line)
				continue;
			html_item(f[0], file, &first[0]);
			html_item(f[1], n, &first[1]);
			html_item(f[2], html_text(l->run, text ? text : ""), &first[2]);
			last = n;
		}
	}
	for (unsigned i = 0; i < 3; i++) {
		static const char *const name[] = { "file", "line", "text" };
		if (f[i])
			fclose(f[i]);
		fprintf(to, "%s\"%s\": [%s]", i ? ", " : "\"source\": {", name[i], column[i] ? column[i] : "");
		free(column[i]);
	}
	fputs("}", to);
}

/* ---- instructions ---- */

struct writing {
	FILE *to;
	struct load *l;
	const struct function *f;
	uint8_t *code;
	uint64_t size, vaddr;
	struct row *row;
	uint64_t *start;		/* of the rows, from the function's start on */
	size_t rows;
};

/* Fills the rows, and writes the columns "address" and "text". */
static void disassemble(struct writing *w, const struct isa_style *style)
{
	struct html_run *run = w->l->run;
	const uint64_t from = w->f->symbol->start;
	char text[1024], *texts = NULL;
	size_t bytes;
	uint64_t stop = 0;
	bool first = true, first_text = true;
	FILE *column = open_memstream(&texts, &bytes);
	run->failed |= !column;
	fputs("\"address\": [", w->to);
	for (uint64_t at = 0; at < w->size && column; w->rows++) {
		if (at >= stop) {
			uint64_t next = from + at;
			const size_t n = symfile_code(w->f->file, &next, from + w->size);
			if (!n)
				break;
			at = next - from;
			stop = at + n;
		}
		const unsigned length = isa_text(w->code + at, stop - at, w->vaddr + at, symfile_word_bytes(w->f->file),
			style, text, sizeof text);
		struct symbols_line line = { .file = "", .function = "" };
		symfile_lines(w->f->file, from + at, &line, 1);
		w->start[w->rows] = at;
		w->row[w->rows] = (struct row){ html_text(run, line.file), *line.file ? line.line : 0,
			line.inlined ? html_text(run, line.function) : 0 };
		html_item(w->to, w->vaddr + at, &first);
		html_item(column, html_text(run, text), &first_text);
		at += length ? length : 1;
	}
	if (column)
		fclose(column);
	fprintf(w->to, "],\n\"text\": [%s]", texts ? texts : "");
	free(texts);
}

static void write_rows(const struct writing *w, const char *name, size_t offset)
{
	bool first = true;
	fprintf(w->to, ",\n\"%s\": [", name);
	for (size_t i = 0; i < w->rows; i++)
		html_item(w->to, *(const uint32_t *)((const char *)&w->row[i] + offset), &first);
	fputs("]", w->to);
}

static void write_hits(const struct writing *w)
{
	const char *between = "";
	size_t row = 0;
	fputs(",\n\"hit\": [", w->to);
	for (size_t i = w->f->first; i < w->f->first + w->f->hits; i++) {
		const struct key *k = w->l->order[i];
		struct hit *h = hit_of(w->l, k);
		h->number = ++w->l->hits;
		while (row + 1 < w->rows && w->start[row + 1] <= k->address - w->f->symbol->start)
			row++;
		fprintf(w->to, "%s[%llu,%zu,%llu,%llu,%llu,%llu,%llu,%llu]", between, (unsigned long long)k->event, row,
			(unsigned long long)k->thread, (unsigned long long)h->period,
			(unsigned long long)h->samples, (unsigned long long)h->latency,
			(unsigned long long)h->latencies, (unsigned long long)h->late);
		between = ",";
	}
	fputs("]", w->to);
}

static int write_function(FILE *to, struct load *l, const struct function *f, bool *first)
{
	struct writing w = { .to = to, .l = l, .f = f, .size = f->symbol->shown_end - f->symbol->start };
	struct symbols_names *names;
	struct err ignored;
	if (w.size > CODE_LIMIT)
		w.size = CODE_LIMIT;
	if (!f->file || !symfile_vaddr(f->file, f->symbol->start, &w.vaddr))
		return 0;
	w.code = malloc(w.size + 1);
	w.row = calloc(w.size + 1, sizeof *w.row);
	w.start = calloc(w.size + 1, sizeof *w.start);
	int code = w.code && w.row && w.start ? 0 : ERR_NOMEM;
	if (!code)
		w.size = symfile_read(f->file, f->symbol->start, w.code, w.size);
	if (!code && w.size)
		code = symbols_names_open(&names, f->file, &ignored);
	if (!code && w.size) {
		const struct isa_style style = { .symbol = symbols_names_find, .ctx = names };
		fprintf(to, "%s{\"function\": %u,\n", *first ? "\n" : ",\n", f->number);
		*first = false;
		disassemble(&w, &style);
		write_rows(&w, "file", offsetof(struct row, file));
		write_rows(&w, "line", offsetof(struct row, line));
		write_rows(&w, "inlined", offsetof(struct row, inlined));
		write_hits(&w);
		fputs(",\n", to);
		write_source(to, l, w.row, w.rows);
		fputs("}", to);
		l->rows += w.rows;
		symbols_names_close(names);
	}
	free(w.code);
	free(w.row);
	free(w.start);
	return code;
}

static void write_samples(FILE *to, const struct load *l)
{
	const struct thread *thread = l->threads.key;
	const char *between = "\n";
	fputs("],\n\"threads\": [", to);
	for (size_t i = 0; i < l->threads.count; i++)
		fprintf(to, "%s[%u,%u]", i ? "," : "", thread[i].pid, thread[i].tid);
	fputs("],\n\"samples\": [", to);
	for (size_t i = 0; i < l->events; i++) {
		const struct event *e = &l->event[i];
		bool first = true;
		if (exact_record_event(perfdata_event_info(l->run->file, i)->name) < EXACT_EVENTS)
			continue;
		fprintf(to, "%s{\"hit\": [", between);
		between = ",\n";
		for (size_t k = 0; k < e->samples; k++)
			html_item(to, e->sample[k].key == NO_KEY ? 0 : l->hit[e->sample[k].key].number, &first);
		fputs(e->latencies ? "],\n\"latency\": [" : "], \"latency\": null", to);
		first = true;
		for (size_t k = 0; k < e->samples && e->latencies; k++)
			html_item(to, e->sample[k].latency, &first);
		fputs(e->latencies ? "]}" : "}", to);
	}
}

static int write_code(FILE *to, struct load *l)
{
	static const char *const help[] = {
#define X(name, text, help) help,
		EXACT_CAUSE_LIST(X)
#undef X
	};
	bool first = true;
	int code = 0;
	fputs("{\"events\": [", to);
	for (size_t i = 0; i < l->events; i++) {
		fputs(i ? ", " : "", to);
		json_string(to, perfdata_event_info(l->run->file, i)->name);
	}
	fputs("],\n\"causes\": {", to);
	for (unsigned i = 0; i < EXACT_CAUSES; i++) {
		fprintf(to, "%s\"" EXACT_PREFIX "%s\": ", i ? ", " : "", exact_cause_name(i));
		json_string(to, help[i]);
	}
	fputs("},\n\"functions\": [", to);
	for (size_t i = 0; !code && i < l->symbols.count && i < FUNCTIONS && l->rows < ROWS_LIMIT; i++)
		code = write_function(to, l, &l->function[i], &first);
	write_samples(to, l);
	fputs("]}", to);
	return code;
}

int html_part_code(FILE *to, struct html_run *r, struct err *err)
{
	const struct profile_options nothing = { 0 };
	struct load l = { .run = r, .keys.bytes = sizeof(struct key), .symbols.bytes = sizeof(struct symbol *),
		.threads.bytes = sizeof(struct thread), .events = perfdata_event_count(r->file) };
	int code = profile_open(&l.profile, r->file, &nothing, err);
	if (!code) {
		l.total = calloc(l.events + 1, sizeof *l.total);
		l.event = calloc(l.events + 1, sizeof *l.event);
		code = l.total && l.event ? 0 : ERR_NOMEM;
	}
	if (!code)
		code = profile_walk(l.profile, &(struct profile_visit){ &l, on_sample }, err);
	if (!code)
		code = sort(&l);
	if (!code)
		code = write_code(to, &l);
	if (code == ERR_NOMEM)
		err_set(err, ERR_NOMEM, "out of memory");
	source_text_free(&l.sources);
	for (size_t i = 0; l.event && i < l.events; i++)
		free(l.event[i].sample);
	free(l.event);
	free(l.order);
	free(l.total);
	free(l.hit);
	free(l.function);
	html_table_free(&l.keys);
	html_table_free(&l.threads);
	html_table_free(&l.symbols);
	profile_free(l.profile);
	return code;
}
