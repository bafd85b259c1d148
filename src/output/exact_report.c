/* SPDX-License-Identifier: GPL-2.0-or-later
 * Reads exact profiles and prints them; exact_report.h defines the sampling error.
 */
#include "output/exact_report.h"
#include "output/report_tree.h"
#include "util/elide.h"
#include "util/json.h"
#include <linux/perf_event.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- loading ---- */

struct loading {
	struct exact_report *r;
	bool by_function;
	size_t room, buckets;
	uint32_t *bucket;	/* 1 + index of a row; 0: free */
};

static size_t place_of(const struct loading *l, const struct exact_row *k)
{
	uint64_t h = (k->address + (uint64_t)(uintptr_t)k->symbol) * UINT64_C(0x9e3779b97f4a7c15);
	size_t at = (size_t)(h >> 32) & (l->buckets - 1);
	for (; l->bucket[at]; at = (at + 1) & (l->buckets - 1)) {
		const struct exact_row *x = &l->r->row[l->bucket[at] - 1];
		if (x->address == k->address && x->symbol == k->symbol && !strcmp(x->path, k->path))
			break;
	}
	return at;
}

static bool grow(struct loading *l)
{
	struct exact_report *r = l->r;
	size_t room = l->room ? 2 * l->room : 256;
	struct exact_row *row = room < UINT32_MAX / 4 ? realloc(r->row, room * sizeof *row) : NULL;
	if (row)
		r->row = row;
	uint64_t *periods = row ? realloc(r->periods, room * r->events * sizeof *periods) : NULL;
	if (periods)
		r->periods = periods;
	uint32_t *bucket = periods ? calloc(2 * room, sizeof *bucket) : NULL;
	if (!bucket)
		return false;
	free(l->bucket);
	l->bucket = bucket;
	l->room = room;
	l->buckets = 2 * room;
	for (size_t i = 0; i < r->rows; i++)
		l->bucket[place_of(l, r->row + i)] = (uint32_t)i + 1;
	return true;
}

static int on_sample(void *context, const struct perfdata_record *s, const struct symbols_place *place,
	const char *comm)
{
	struct loading *l = context;
	struct exact_report *r = l->r;
	(void)comm;
	struct exact_row key = {
		.dso = place->dso, .path = place->path, .symbol = place->symbol, .address = place->address
	};
	if (l->by_function)	/* all addresses of an object without a symbol are one function */
		key.address = place->symbol ? place->symbol->start : 0;
	if (!r->rows || !l->bucket[place_of(l, &key)]) {
		if (r->rows == l->room && !grow(l))
			return ERR_NOMEM;
		key.file = symbols_place_file(place);
		memset(r->periods + r->rows * r->events, 0, r->events * sizeof *r->periods);
		size_t at = place_of(l, &key);
		r->row[r->rows++] = key;
		l->bucket[at] = (uint32_t)r->rows;
	}
	size_t i = l->bucket[place_of(l, &key)] - 1;
	r->periods[i * r->events + s->event] += s->period;
	r->total[s->event] += s->period;
	r->samples[s->event]++;
	r->precise[s->event] += (s->misc & PERF_RECORD_MISC_EXACT_IP) != 0;
	return 0;
}

static int hotter(const void *x, const void *y)
{
	const struct exact_row *a = x, *b = y;
	if (a->cycles != b->cycles)
		return a->cycles > b->cycles ? -1 : 1;
	int c = strcmp(a->path, b->path);
	return c ? c : a->address < b->address ? -1 : a->address > b->address;
}

bool exact_report_has(const struct perfdata_file *f)
{
	for (size_t i = 0; i < perfdata_event_count(f); i++)
		if (exact_record_event(perfdata_event_info(f, i)->name) < EXACT_EVENTS)
			return true;
	return false;
}

int exact_report_load(struct exact_report **out, struct perfdata_file *f, bool by_function, struct err *err)
{
	struct profile_options nothing = { 0 };
	if (!exact_report_has(f))
		return err_set(err, ERR_INPUT, "the file has no exact profile (softpmu record --exact makes one)");
	struct exact_report *r = calloc(1, sizeof *r);
	if (!r)
		return err_set(err, ERR_NOMEM, "out of memory");
	r->file = f;
	r->events = perfdata_event_count(f);
	r->total = calloc(r->events, sizeof *r->total);
	r->samples = calloc(r->events, sizeof *r->samples);
	r->precise = calloc(r->events, sizeof *r->precise);
	r->kind = calloc(r->events, sizeof *r->kind);
	struct loading l = { .r = r, .by_function = by_function };
	int code = r->total && r->samples && r->precise && r->kind ? 0 : err_set(err, ERR_NOMEM, "out of memory");
	if (!code)
		code = profile_open(&r->profile, f, &nothing, err);
	for (size_t i = 0; !code && i < r->events; i++)
		r->kind[i] = exact_record_event(perfdata_event_info(f, i)->name);
	if (!code)
		code = profile_walk(r->profile, &(struct profile_visit){ &l, on_sample }, err);
	free(l.bucket);
	for (size_t i = 0; !code && i < r->rows; i++) {
		r->row[i].period = r->periods + i * r->events;
		for (size_t k = 0; k < r->events; k++)
			r->row[i].cycles += r->kind[k] < EXACT_CAUSES ? r->row[i].period[k] : 0;
		r->cycles += r->row[i].cycles;
	}
	if (code) {
		exact_report_free(r);
		return code;
	}
	if (r->rows)
		qsort(r->row, r->rows, sizeof *r->row, hotter);
	*out = r;
	return 0;
}

void exact_report_free(struct exact_report *r)
{
	if (!r)
		return;
	profile_free(r->profile);
	free(r->row);
	free(r->periods);
	free(r->total);
	free(r->samples);
	free(r->precise);
	free(r->kind);
	free(r);
}

/* ---- printing ---- */

static double percent(uint64_t part, uint64_t whole)
{
	return whole ? 100.0 * (double)part / (double)whole : 0.0;
}

/* Sums over the events of a kind: a file merged from several can have more than one. */
static uint64_t of_kind(const struct exact_report *r, const uint64_t *period, unsigned kind)
{
	uint64_t sum = 0;
	for (size_t k = 0; k < r->events; k++)
		sum += r->kind[k] == kind ? period[k] : 0;
	return sum;
}

/* Writes "l3 80 %, retiring 12 %": the largest first, those of 1 % and more, but at least three. */
static void causes(const struct exact_report *r, const struct exact_row *row, char *text, size_t bytes)
{
	bool done[EXACT_CAUSES] = { false };
	size_t used = 0;
	*text = 0;
	for (unsigned shown = 0; shown < EXACT_CAUSES; shown++) {
		unsigned best = EXACT_CAUSES;
		uint64_t most = 0;
		for (unsigned c = 0; c < EXACT_CAUSES; c++) {
			uint64_t v = done[c] ? 0 : of_kind(r, row->period, c);
			if (v > most) {
				most = v;
				best = c;
			}
		}
		if (best == EXACT_CAUSES || (shown >= 3 && percent(most, row->cycles) < 1))
			break;
		done[best] = true;
		int n = snprintf(text + used, bytes - used, "%s%s %.1f%%", shown ? ", " : "",
			exact_cause_name((enum exact_cause)best), percent(most, row->cycles));
		if (n < 0 || (size_t)n >= bytes - used)
			break;
		used += (size_t)n;
	}
}

/* Writes the row's name; what would move a terminal's cursor is not passed on, because names come out of files.
 * terminal: the name is cut to `width` columns; the offset stays. */
static void print_name(FILE *to, const struct exact_row *row, bool by_function, const struct terminal *terminal,
	unsigned width)
{
	char offset[24] = "", name[ELIDE_BYTES];
	if (!row->symbol && by_function) {
		fputs("[unknown]", to);
		return;
	}
	if (!row->symbol) {
		fprintf(to, "%#.16llx", (unsigned long long)row->address);
		return;
	}
	if (!by_function)
		snprintf(offset, sizeof offset, "+%#llx", (unsigned long long)(row->address - row->symbol->start));
	if (terminal)
		elide_name(name, row->symbol->name, width - (unsigned)strlen(offset), terminal_mark(terminal), NULL);
	for (const char *c = terminal ? name : row->symbol->name; *c; c++)
		fputc((unsigned char)*c < ' ' || *c == 127 ? '?' : *c, to);
	fputs(offset, to);
}

enum { FRONT = 32, OBJECT = 22, LEAST_NAME = 60 };

/* On a narrow terminal the object and the causes stand on a line of their own. */
static bool is_narrow(const struct terminal *t)
{
	return terminal_width(t, FRONT + OBJECT + LEAST_NAME) < FRONT + OBJECT + LEAST_NAME;
}

static void print_row(FILE *to, const struct exact_report *r, const struct exact_report_options *o,
	const struct exact_row *row)
{
	const double share = percent(row->cycles, r->cycles);
	const uint64_t n = of_kind(r, row->period, EXACT_INSTRUCTIONS);
	const unsigned width = terminal_width(o->terminal, 0);
	const bool narrow = is_narrow(o->terminal);
	char text[1024];
	terminal_on(to, o->terminal, report_colour(share));
	fprintf(to, "  %7.2f%%", share);
	terminal_off(to, o->terminal);
	fprintf(to, "  %12llu  ", (unsigned long long)row->cycles);
	if (n)
		fprintf(to, "%4.2f  ", (double)row->cycles / (double)n);
	else
		fprintf(to, "%4s  ", "-");
	if (!narrow)
		fprintf(to, "%-20s  ", row->dso);
	print_name(to, row, o->by_function, width ? o->terminal : NULL, width - FRONT - (narrow ? 0 : OBJECT + 2));
	causes(r, row, text, sizeof text);
	if (narrow)
		fprintf(to, "\n%*s[%s] %s\n", FRONT / 2, "", row->dso, text);
	else
		fprintf(to, ": %s\n", text);
}

static void print_stdio(FILE *to, const struct exact_report *r, const struct exact_report_options *o)
{
	fprintf(to, "# softpmu report of %s\n#\n", o->file_name);
	fprintf(to,
		"# Exact profile: every cycle charged to the instruction that retirement waited for\n# Cycles: "
		"%llu\n#\n",
		(unsigned long long)r->cycles);
	fprintf(to, "# Causes:");
	for (unsigned c = 0; c < EXACT_CAUSES; c++)
		if (of_kind(r, r->total, c))
			fprintf(to, "  %s %.2f%%", exact_cause_name((enum exact_cause)c),
				percent(of_kind(r, r->total, c), r->cycles));
	if (is_narrow(o->terminal))
		fprintf(to, "\n#\n# Overhead        Cycles   CPI  %s\n#%*s[Shared Object] causes\n#\n",
			o->by_function ? "Symbol" : "Instruction", FRONT / 2 - 1, "");
	else
		fprintf(to, "\n#\n# Overhead        Cycles   CPI  %-20s  %s\n"
			"# ........  ............  ....  ....................  ................................\n#\n",
			"Shared Object", o->by_function ? "Symbol: causes" : "Instruction: causes");
	for (size_t i = 0; i < r->rows; i++)
		if (r->row[i].cycles && percent(r->row[i].cycles, r->cycles) >= o->percent_limit)
			print_row(to, r, o, r->row + i);
	fputc('\n', to);
}

static void json_causes(FILE *to, const struct exact_report *r, const uint64_t *period)
{
	bool first = true;
	fputs("\"causes\": {", to);
	for (unsigned c = 0; c < EXACT_CAUSES; c++) {
		uint64_t v = of_kind(r, period, c);
		if (v)
			fprintf(to, "%s\"%s\": %llu", first ? "" : ", ", exact_cause_name((enum exact_cause)c),
				(unsigned long long)v);
		first &= !v;
	}
	fputc('}', to);
}

static void print_json(FILE *to, const struct exact_report *r, const struct exact_report_options *o)
{
	bool first = true;
	fputs("{\"file\": ", to);
	json_string(to, o->file_name);
	fprintf(to, ", \"cycles\": %llu, ", (unsigned long long)r->cycles);
	json_causes(to, r, r->total);
	fputs(", \"entries\": [", to);
	for (size_t i = 0; i < r->rows; i++) {
		const struct exact_row *row = &r->row[i];
		if (!row->cycles || percent(row->cycles, r->cycles) < o->percent_limit)
			continue;
		fprintf(to, "%s\n  {\"dso\": ", first ? "" : ",");
		first = false;
		json_string(to, row->dso);
		fputs(", \"symbol\": ", to);
		json_string(to, row->symbol ? row->symbol->name : "");
		fprintf(to, ", \"address\": %llu, \"cycles\": %llu, \"instructions\": %llu, ",
			(unsigned long long)row->address, (unsigned long long)row->cycles,
			(unsigned long long)of_kind(r, row->period, EXACT_INSTRUCTIONS));
		json_causes(to, r, row->period);
		fputc('}', to);
	}
	fputs("\n]}\n", to);
}

void exact_report_print(FILE *to, const struct exact_report *r, const struct exact_report_options *o)
{
	if (o->json)
		print_json(to, r, o);
	else
		print_stdio(to, r, o);
}

/* ---- sampling error ---- */

/* The sampling error of an event in percent, against cycles or against the number of retired instructions. */
static double error_of(const struct exact_report *r, size_t event, bool against_instructions)
{
	uint64_t whole = against_instructions ? of_kind(r, r->total, EXACT_INSTRUCTIONS) : r->cycles;
	double right = 0;
	for (size_t i = 0; i < r->rows; i++) {
		const struct exact_row *row = &r->row[i];
		double have = percent(row->period[event], r->total[event]);
		double want = percent(against_instructions ? of_kind(r, row->period, EXACT_INSTRUCTIONS) : row->cycles,
			whole);
		right += have < want ? have : want;
	}
	return 100 - right > 0 ? 100 - right : 0;
}

/* The mean of |X - np| for X distributed as the binomial B(n, p): 2 m C(n, m) p^m (1 - p)^(n - m + 1), where m is the
 * integer above np (de Moivre). */
static double mean_deviation(double n, double p)
{
	double m = floor(n * p) + 1;
	int sign;
	if (p <= 0 || p >= 1 || m > n)
		return 0;
	return 2 * m *
		exp(lgamma_r(n + 1, &sign) - lgamma_r(m + 1, &sign) - lgamma_r(n - m + 1, &sign) + m * log(p) +
			(n - m + 1) * log1p(-p));
}

/* The mean error, in percent, of as many samples drawn at random from the exact profile itself. */
static double floor_of(const struct exact_report *r, uint64_t samples, bool against_instructions)
{
	uint64_t whole = against_instructions ? of_kind(r, r->total, EXACT_INSTRUCTIONS) : r->cycles;
	double sum = 0, n = (double)samples;
	for (size_t i = 0; i < r->rows && samples && whole; i++) {
		const struct exact_row *row = &r->row[i];
		double p = (double)(against_instructions ? of_kind(r, row->period, EXACT_INSTRUCTIONS) : row->cycles) /
			(double)whole;
		sum += mean_deviation(n, p) / n;
	}
	return 50 * sum;
}

static bool counts_instructions(const char *name)
{
	return !strncmp(name, "instructions", 12) || !strncasecmp(name, "INST_RETIRED", 12) ||
		!strncasecmp(name, "instr_retired", 13);
}

static bool is_method(const struct exact_report *r, size_t event)
{
	return (r->kind[event] == EXACT_EVENTS || r->kind[event] == EXACT_SAMPLED) && r->samples[event];
}

bool exact_report_has_methods(const struct exact_report *r)
{
	size_t e = 0;
	while (e < r->events && !is_method(r, e))
		e++;
	return e < r->events;
}

void exact_report_errors(FILE *to, const struct exact_report *in, const struct exact_report *fn, bool json)
{
	bool first = true;
	size_t instructions = 0, functions = 0;
	for (size_t i = 0; i < in->rows; i++)
		instructions += in->row[i].cycles != 0;
	for (size_t i = 0; i < fn->rows; i++)
		functions += fn->row[i].cycles != 0;
	if (json)
		fprintf(to, "{\"cycles\": %llu, \"instructions\": %zu, \"functions\": %zu, \"methods\": [",
			(unsigned long long)in->cycles, instructions, functions);
	else
		fprintf(to,
			"# Sampling error: the share of samples that the exact profile has elsewhere\n# Exact: %llu "
			"cycles, at %zu instructions of %zu "
			"functions\n# (chance): what as many samples drawn at random from the exact profile would have "
			"on average\n#\n"
			"# Samples  instruction  (chance)  function  (chance)  against       method, event\n"
			"# .......  ...........  ........  ........  ........  ............  "
			"........................\n#\n",
			(unsigned long long)in->cycles, instructions, functions);
	for (size_t e = 0; e < in->events; e++) {
		if (!is_method(in, e))
			continue;
		const struct perfdata_event_info *info = perfdata_event_info(in->file, e);
		bool timed = in->kind[e] == EXACT_SAMPLED;
		uint64_t samples = timed && info->period ? in->total[e] / info->period : in->samples[e];
		const char *method = timed                 ? "time-proportional"
			: !in->precise[e]                  ? "imprecise"
			: in->precise[e] == in->samples[e] ? "precise"
							   : "mixed";
		for (unsigned own = 0; own < (!timed && counts_instructions(info->name) ? 2u : 1u); own++) {
			double at = error_of(in, e, own), in_function = error_of(fn, e, own);
			double at_chance = floor_of(in, samples, own), function_chance = floor_of(fn, samples, own);
			const char *against = own ? "instructions" : "cycles";
			if (json) {
				fprintf(to, "%s\n  {\"event\": ", first ? "" : ",");
				json_string(to, info->name);
				fprintf(to,
					", \"method\": \"%s\", \"against\": \"%s\", \"samples\": %llu, "
					"\"instruction\": %.4f, \"function\": %.4f, "
					"\"instruction_chance\": %.4f, \"function_chance\": %.4f}",
					method, against, (unsigned long long)samples, at, in_function, at_chance,
					function_chance);
				first = false;
			} else {
				fprintf(to, "  %7llu  %9.1f %%  %6.1f %%  %6.1f %%  %6.1f %%  %-12s  %s%s%s\n",
					(unsigned long long)samples, at, at_chance, in_function, function_chance,
					against, method, timed ? "" : ", ", timed ? "" : info->name);
			}
		}
	}
	fputs(json ? "\n]}\n" : "\n", to);
}

/* ---- annotated ---- */

struct annotating { const struct exact_report *r; const struct exact_row *const *row; size_t rows; };

static void on_note(void *context, uint64_t from, uint64_t to, char *text, size_t bytes)
{
	const struct annotating *a = context;
	*text = 0;
	for (size_t i = 0; i < a->rows; i++) {
		const struct exact_row *row = a->row[i];
		if (row->address < from || row->address >= to || !row->cycles)
			continue;
		uint64_t n = of_kind(a->r, row->period, EXACT_INSTRUCTIONS);
		int used = n ? snprintf(text, bytes, "%.2f each: ", (double)row->cycles / (double)n) : 0;
		causes(a->r, row, text + used, bytes - (size_t)used);
		return;
	}
}

static int by_address(const void *x, const void *y)
{
	const struct exact_row *a = *(const struct exact_row *const *)x, *b = *(const struct exact_row *const *)y;
	return a->address < b->address ? -1 : a->address > b->address;
}

/* Annotates one function from the rows of its instructions. */
static int annotate_one(FILE *to, const struct exact_report *r, const struct exact_row *of,
	const struct annotate_options *o, struct err *err)
{
	const struct exact_row **row = calloc(r->rows, sizeof *row);
	struct annotate_hit *hit = calloc(r->rows, sizeof *hit);
	struct annotating a = { r, row, 0 };
	struct annotate_symbol s = {
		.symbol = of->symbol, .file = of->file, .path = of->path, .dso = of->dso, .hit = hit
	};
	struct perfdata_event_info info = { .name = "exact cycles" };
	struct annotate_event event = { .info = &info, .symbol = &s, .symbols = 1, .period = r->cycles };
	struct annotate_options options = *o;
	int rc = row && hit ? 0 : err_set(err, ERR_NOMEM, "out of memory");
	for (size_t i = 0; !rc && i < r->rows; i++)
		if (r->row[i].symbol == of->symbol)
			row[a.rows++] = &r->row[i];
	if (!rc)
		qsort(row, a.rows, sizeof *row, by_address);
	for (size_t i = 0; !rc && i < a.rows; i++) {
		hit[s.hits++] = (struct annotate_hit){ .address = row[i]->address, .period = row[i]->cycles,
			.samples = of_kind(r, row[i]->period, EXACT_INSTRUCTIONS) };
		s.period += row[i]->cycles;
		s.samples += row[i]->cycles;
	}
	options.note = on_note;
	options.note_context = &a;
	options.what = "cycles";
	if (!rc)
		rc = annotate_print(to, &event, &s, &options, err);
	free(row);
	free(hit);
	return rc;
}

unsigned exact_report_annotate(FILE *to, const struct exact_report *r, const char *symbol,
	const struct annotate_options *o, struct err *err)
{
	struct exact_report *functions;
	unsigned printed = 0;
	if (exact_report_load(&functions, r->file, true, err))
		return 0;
	for (size_t i = 0; i < functions->rows; i++) {
		const struct exact_row *f = &functions->row[i], *same = NULL;
		if (!f->symbol || !f->cycles ||
			(symbol && strcmp(f->symbol->name, symbol) &&
				!(f->symbol->linkage && !strcmp(f->symbol->linkage, symbol))))
			continue;
		/* compared by address: the other report has its own symbols */
		for (size_t k = 0; k < r->rows && !same; k++)
			if (r->row[k].symbol && r->row[k].symbol->start == f->address &&
				!strcmp(r->row[k].path, f->path) && r->row[k].cycles)
				same = &r->row[k];
		if (same && annotate_one(to, r, same, o, err) == 0)
			printed++;
	}
	exact_report_free(functions);
	return printed;
}
