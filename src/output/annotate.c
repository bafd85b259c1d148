/* SPDX-License-Identifier: GPL-2.0-or-later
 * Charges samples to the instructions of a function and prints them with their source.
 *
 * An instruction's percentage is its share of the period of the function's samples, as in perf annotate ("local
 * period").
 * Code is read from the file on disk, whose build-id was checked when it was opened.
 * Left out: JIT code, whose bytes are not kept.
 */
#include "output/annotate.h"
#include "isa/isa.h"
#include "symbols/source_text.h"
#include "util/grow.h"
#include <stdlib.h>
#include <string.h>

enum { CODE_LIMIT = 4 << 20 };

/* ---- collecting ---- */

struct collecting { struct annotate *a; };

static struct annotate_symbol *get_symbol(struct annotate_event *e, const struct symbols_place *place)
{
	/* sorted by the addresses of the symbol structs, until sorted by period */
	size_t low = 0, high = e->symbols;
	while (low < high) {
		size_t middle = low + (high - low) / 2;
		if ((uintptr_t)e->symbol[middle].symbol < (uintptr_t)place->symbol)
			low = middle + 1;
		else
			high = middle;
	}
	if (low < e->symbols && e->symbol[low].symbol == place->symbol)
		return &e->symbol[low];
	if ((e->symbols & (e->symbols - 1)) == 0) {
		struct annotate_symbol *grown = realloc(e->symbol, (e->symbols ? e->symbols * 2 : 1) * sizeof *grown);
		if (!grown)
			return NULL;
		e->symbol = grown;
	}
	memmove(&e->symbol[low + 1], &e->symbol[low], (e->symbols++ - low) * sizeof *e->symbol);
	e->symbol[low] = (struct annotate_symbol){
		.symbol = place->symbol, .file = symbols_place_file(place), .path = place->path, .dso = place->dso
	};
	return &e->symbol[low];
}

static int on_sample(void *context, const struct perfdata_record *r, const struct symbols_place *place,
	const char *comm)
{
	struct annotate_event *e = &((struct collecting *)context)->a->event[r->event];
	(void)comm;
	e->samples++;
	e->period += r->period;
	if (!place->symbol)
		return 0;
	struct annotate_symbol *s = get_symbol(e, place);
	if (!s)
		return ERR_NOMEM;
	s->samples++;
	s->period += r->period;
	size_t low = 0, high = s->hits;
	while (low < high) {
		size_t middle = low + (high - low) / 2;
		if (s->hit[middle].address < place->address)
			low = middle + 1;
		else
			high = middle;
	}
	if (low == s->hits || s->hit[low].address != place->address) {
		struct annotate_hit *grown = grow_array(s->hit, s->hits, &s->room, 16, sizeof *grown);
		if (!grown)
			return ERR_NOMEM;
		s->hit = grown;
		memmove(&s->hit[low + 1], &s->hit[low], (s->hits++ - low) * sizeof *s->hit);
		s->hit[low] = (struct annotate_hit){ .address = place->address };
	}
	s->hit[low].period += r->period;
	s->hit[low].samples++;
	return 0;
}

static int hotter(const void *x, const void *y)
{
	const struct annotate_symbol *a = x, *b = y;
	if (a->period != b->period)
		return a->period > b->period ? -1 : 1;
	int c = strcmp(a->symbol->name, b->symbol->name);
	if (!c)
		c = strcmp(a->path, b->path);
	return c ? c : a->symbol->start < b->symbol->start ? -1 : a->symbol->start > b->symbol->start;
}

int annotate_load(struct annotate **out, struct perfdata_file *file, struct err *err)
{
	struct annotate *a = calloc(1, sizeof *a);
	struct profile_options nothing = { 0 };
	if (!a)
		return err_set(err, ERR_NOMEM, "out of memory");
	int code = profile_open(&a->profile, file, &nothing, err);
	a->events = perfdata_event_count(file);
	if (!code && !(a->event = calloc(a->events, sizeof *a->event)))
		code = err_set(err, ERR_NOMEM, "out of memory");
	struct collecting c = { a };
	if (!code)
		code = profile_walk(a->profile, &(struct profile_visit){ &c, on_sample }, err);
	for (size_t i = 0; !code && i < a->events; i++) {
		a->event[i].info = perfdata_event_info(file, i);
		if (a->event[i].symbols)
			qsort(a->event[i].symbol, a->event[i].symbols, sizeof *a->event[i].symbol, hotter);
	}
	if (code)
		annotate_free(a);
	else
		*out = a;
	return code;
}

void annotate_free(struct annotate *a)
{
	if (!a)
		return;
	for (size_t i = 0; a->event && i < a->events; i++) {
		for (size_t k = 0; k < a->event[i].symbols; k++)
			free(a->event[i].symbol[k].hit);
		free(a->event[i].symbol);
	}
	free(a->event);
	profile_free(a->profile);
	free(a);
}

/* ---- printing ---- */

struct printing {
	FILE *to;
	const struct annotate_symbol *s;
	const struct annotate_options *o;
	struct sources sources;
	struct symbols_line last;
	int margin;		/* columns in front of the colon */
};

static void print_source(struct printing *p, uint64_t address)
{
	struct symbols_line line;
	if (!symfile_lines(p->s->file, address, &line, 1))
		return;
	bool other_function = !p->last.function || strcmp(line.function, p->last.function);
	bool other_file = !p->last.file || strcmp(line.file, p->last.file);
	if (!other_function && !other_file && line.line == p->last.line)
		return;
	if (other_function && *line.function)
		fprintf(p->to, "%*s:      %s():%s\n", p->margin, "", line.function, line.inlined ? " (inlined)" : "");
	if ((other_file || p->o->line_numbers) && line.line)
		fprintf(p->to, "%*s:      %s:%u\n", p->margin, "", line.file, line.line);
	const char *text = source_text(&p->sources, line.file, line.line);
	if (text)
		fprintf(p->to, "%*s: %-5u%s\n", p->margin, "", line.line, text);
	p->last = line;
}

static double percent(uint64_t part, uint64_t whole)
{
	return whole ? 100.0 * (double)part / (double)whole : 0.0;
}

int annotate_print(FILE *to, const struct annotate_event *e, const struct annotate_symbol *s,
	const struct annotate_options *o, struct err *err)
{
	static const char *const head[] = { " Percent", " Samples", " Period     " };
	struct printing p = { .to = to, .s = s, .o = o, .margin = (int)strlen(head[o->column]) + 1 };
	uint64_t size = s->symbol->shown_end - s->symbol->start, vaddr;
	if (!s->file || !symfile_vaddr(s->file, s->symbol->start, &vaddr))
		return err_set(err, ERR_INPUT, "%s: no code to show for %s", s->path, s->symbol->name);
	if (size > CODE_LIMIT)
		size = CODE_LIMIT;
	uint8_t *code = malloc(size + 1);
	if (!code)
		return err_set(err, ERR_NOMEM, "out of memory");
	size = symfile_read(s->file, s->symbol->start, code, size);
	if (!size) {
		free(code);
		return err_set(err, ERR_INPUT, "%s: no code to show for %s (%s)", s->path,
			s->symbol->name, *s->path == '[' ? "none of it was executed, or the file keeps no kernel code"
			: "JIT code is not kept");
	}
	struct symbols_names *names;
	if (symbols_names_open(&names, s->file, err)) {
		free(code);
		return ERR_NOMEM;
	}
	int n = fprintf(to, "%s |      Source code & Disassembly of %s for %s (%llu %s, percent: local period)\n",
		head[o->column], s->dso, e->info->name, (unsigned long long)s->samples, o->what ? o->what : "samples");
	for (int i = 1; i < n; i++)
		fputc('-', to);
	fprintf(to, "\n%*s:\n%*s:      %016llx <%s>:\n", p.margin, "", p.margin, "", (unsigned long long)vaddr,
		o->mangled && s->symbol->linkage ? s->symbol->linkage : s->symbol->name);

	const struct isa_style style = { .intel = o->intel, .symbol = symbols_names_find, .ctx = names };
	char text[1024];
	size_t hit = 0;
	uint64_t stop = 0;		/* end of the section that contains `at` */
	for (uint64_t at = 0; at < size; ) {
		/* as in objdump and perf, a symbol without a size may continue in the next section */
		if (at >= stop) {
			uint64_t from = s->symbol->start + at;
			size_t bytes = symfile_code(s->file, &from, s->symbol->start + size);
			if (!bytes)
				break;
			at = from - s->symbol->start;
			stop = at + bytes;
		}
		unsigned length = isa_text(code + at, stop - at, vaddr + at, symfile_word_bytes(s->file), &style, text,
			sizeof text);
		uint64_t period = 0, samples = 0;
		for (; hit < s->hits && s->hit[hit].address < s->symbol->start + at + length; hit++) {
			period += s->hit[hit].period;
			samples += s->hit[hit].samples;
		}
		if (!o->no_source)
			print_source(&p, s->symbol->start + at);
		char note[512] = "";
		if (o->note)
			o->note(o->note_context, s->symbol->start + at, s->symbol->start + at + length, note,
				sizeof note);
		if (o->column == ANNOTATE_PERCENT)
			fprintf(to, " %7.2f", percent(period, s->period));
		else
			fprintf(to, "%*llu", p.margin - 1,
				(unsigned long long)(o->column == ANNOTATE_SAMPLES ? samples : period));
		fprintf(to, " : %6llx:   %s%s%s\n", (unsigned long long)(vaddr + at), text, *note ? "    ; " : "",
			note);
		at += length;
	}
	fputc('\n', to);
	source_text_free(&p.sources);
	symbols_names_close(names);
	free(code);
	return 0;
}
