/* SPDX-License-Identifier: GPL-2.0-or-later
 * Prints what events cost (cost_print.h). */
#include "cli/cost/cost_print.h"
#include "util/json.h"
#include <math.h>
#include <string.h>

const char *const cost_method_name[COST_METHODS] = { "analytic", "duration", "pushout", "total time" };
static const char *const method_key[COST_METHODS] = { "analytic", "duration", "pushout", "total_time" };

double cost_share_by(const struct cost_view *v, const struct cost_row *r, enum cost_method m)
{
	if (!(v->cycles > 0))
		return (double)NAN;
	if (m == COST_DURATION)
		return r->busy && r->count ? (double)r->busy / v->cycles : (double)NAN;
	return r->each[m] * (double)r->count / v->cycles;
}

/* Total time / pushout: the factor by which a hardware user would multiply a pushout count; NaN: none. */
static double scale_of(const struct cost_row *r)
{
	return r->each[COST_PUSHOUT] > 0 ? r->each[COST_TOTAL] / r->each[COST_PUSHOUT] : (double)NAN;
}

/* What has an interval in a sampled run. */
enum { INTERVALS = 4 };
static const char *const interval_key[INTERVALS] = { "count_confidence-95", "duration_confidence-95",
	"pushout_confidence-95", "total_time_confidence-95" };

/* Half of the width of an interval, in per cent; NaN: unknown. */
static double percent_half(const struct cost_row *r, unsigned which)
{
	static const enum cost_method method[INTERVALS] = { [1] = COST_DURATION, COST_PUSHOUT, COST_TOTAL };
	const double value = which ? r->each[method[which]] : (double)r->count;
	const double half = which ? r->half[method[which]] : r->half_count;
	return fabs(value) > 0 ? 100 * half / fabs(value) : (double)NAN;
}

/* ---- tables ---- */

const char *cost_grouped(double n, char text[48])
{
	char digits[40];
	size_t len = (size_t)snprintf(digits, sizeof digits, "%.0f", fabs(n)), at = 0;
	if (n < 0 && strcmp(digits, "0"))
		text[at++] = '-';
	for (size_t i = 0; i < len; i++) {
		if (i && (len - i) % 3 == 0)
			text[at++] = ',';
		text[at++] = digits[i];
	}
	text[at] = 0;
	return text;
}

static void cell(FILE *out, int width, double value, const char *format, const char *unit)
{
	char text[48];
	if (isnan(value)) {
		fprintf(out, " %*s", width, "-");
		return;
	}
	snprintf(text, sizeof text, format, value);
	if (!strncmp(text, "-0.0", 4) && !strpbrk(text, "123456789"))
		memmove(text, text + 1, strlen(text));
	strncat(text, unit, sizeof text - strlen(text) - 1);
	fprintf(out, " %*s", width, text);
}

static bool hidden(const struct cost_view *v, const struct cost_row *r)
{
	return v->short_form && !r->count;
}

/* The events that have no row. */
static void table_rest(FILE *out, const struct cost_view *v)
{
	unsigned n = 0;
	for (size_t i = 0; i < v->rows; i++)
		if (hidden(v, v->row + i))
			fprintf(out, "%s%s", n++ ? ", " : " did not occur: ", v->row[i].name);
	fputs(n ? "\n" : "", out);
}

static void quartiles_text(const struct cost_row *r, char text[48])
{
	if (r->count && !isnan(r->each[COST_PUSHOUT]))
		snprintf(text, 48, "%u %u %u", r->quartile[0], r->quartile[1], r->quartile[2]);
	else
		strcpy(text, "-");
}

enum { TABLE_WIDTH = 140, GROUPS_WIDTH = 150, NAME = 13, MOST_CELLS = 10 };

/* The cells of a row, as in table(), for a terminal that is narrower. */
static void row_cells(const struct cost_view *v, const struct cost_row *r, char cell_text[MOST_CELLS][48])
{
	cost_grouped((double)r->count, cell_text[0]);
	for (unsigned m = 0; m < COST_METHODS; m++) {
		const double share = 100 * cost_share_by(v, r, m);
		snprintf(cell_text[1 + m], 48, isnan(r->each[m]) ? "-" : "%.1f", r->each[m]);
		if (m)
			snprintf(cell_text[5 + m], 48, isnan(share) ? "-" : "%.1f%%", share);
	}
	quartiles_text(r, cell_text[5]);
	snprintf(cell_text[9], 48, isnan(scale_of(r)) ? "-" : "%.2f", scale_of(r));
}

/* The table in pieces, one below the other, each of as many columns as fit. */
static void narrow_table(FILE *out, const struct cost_view *v, unsigned width)
{
	static const struct { const char *title, *heading; } column[MOST_CELLS] = { { "count", "cycles an event" },
		{ "analytic", NULL }, { "duration", NULL }, { "pushout", NULL }, { "total time", NULL },
		{ "quartiles of pushout", NULL }, { "duration", "share of all cycles, by" }, { "pushout", NULL },
		{ "total time", NULL }, { "scale", NULL } };
	char text[MOST_CELLS][48];
	size_t wide[MOST_CELLS];
	for (unsigned c = 0; c < MOST_CELLS; c++)
		wide[c] = strlen(column[c].title);
	for (size_t i = 0; i < v->rows; i++) {
		if (hidden(v, v->row + i))
			continue;
		row_cells(v, v->row + i, text);
		for (unsigned c = 0; c < MOST_CELLS; c++)
			wide[c] = strlen(text[c]) > wide[c] ? strlen(text[c]) : wide[c];
	}
	for (unsigned from = 0, to; from < MOST_CELLS; from = to) {
		size_t used = 1 + NAME + 1 + wide[from];
		for (to = from + 1; to < MOST_CELLS && !column[to].heading && used + 1 + wide[to] <= width; to++)
			used += 1 + wide[to];
		if (column[from].heading)
			fprintf(out, "%s %*s%s\n", from ? "\n" : "", NAME + 1, "", column[from].heading);
		fprintf(out, "%s %-*s", column[from].heading ? "" : "\n", NAME, "event");
		for (unsigned c = from; c < to; c++)
			fprintf(out, " %*s", (int)wide[c], column[c].title);
		fputc('\n', out);
		for (size_t i = 0; i < v->rows; i++) {
			if (hidden(v, v->row + i))
				continue;
			row_cells(v, v->row + i, text);
			fprintf(out, " %-*s", NAME, v->row[i].name);
			for (unsigned c = from; c < to; c++)
				fprintf(out, " %*s", (int)wide[c], text[c]);
			fputc('\n', out);
		}
	}
}

static void table(FILE *out, const struct cost_view *v)
{
	char n[48];
	fprintf(out, " %-13s %13s |%34s%25s |%28s |\n", "", "", "cycles an event", "", "share of all cycles");
	fprintf(out, " %-13s %13s |%9s %9s %9s %17s %11s | %8s %8s %10s | %6s\n", "event", "count", "analytic",
		"duration", "pushout", "quartiles", "total time", "duration", "pushout", "total time", "scale");
	for (size_t i = 0; i < v->rows; i++) {
		const struct cost_row *r = v->row + i;
		if (hidden(v, r))
			continue;
		char quartiles[48];
		quartiles_text(r, quartiles);
		fprintf(out, " %-13s %13s |", r->name, cost_grouped((double)r->count, n));
		for (unsigned m = 0; m < COST_TOTAL; m++)
			cell(out, m ? 9 : 8, r->each[m], "%.1f", "");
		fprintf(out, " %17s", quartiles);
		cell(out, 11, r->each[COST_TOTAL], "%.1f", "");
		fputs(" |", out);
		for (unsigned m = COST_DURATION; m < COST_METHODS; m++)
			cell(out, m == COST_TOTAL ? 10 : 8, 100 * cost_share_by(v, r, m), "%.1f", "%");
		fputs(" |", out);
		cell(out, 6, scale_of(r), "%.2f", "");
		fputc('\n', out);
	}
}

void cost_print_intervals(const struct cost_style *s, const struct cost_view *v)
{
	if (s->form != COST_TABLE)
		return;
	fprintf(s->out, "\n 95 %% intervals, +- per cent (-: no figure, or its interval is unknown):\n"
		" %-13s %13s |%9s %9s %9s %17s %11s\n", "event", "count", "", "duration", "pushout", "", "total time");
	for (size_t i = 0; i < v->rows; i++) {
		const struct cost_row *r = v->row + i;
		fprintf(s->out, " %-13s", r->name);
		cell(s->out, 13, percent_half(r, 0), "%.1f", "%");
		fputs(" |         ", s->out);
		cell(s->out, 9, percent_half(r, 1), "%.1f", "%");
		cell(s->out, 9, percent_half(r, 2), "%.1f", "%");
		cell(s->out, 29, percent_half(r, 3), "%.1f", "%");
		fputc('\n', s->out);
	}
}

static void csv_number(FILE *out, const char *separator, double n, const char *format)
{
	fputs(separator, out);
	if (!isnan(n))
		fprintf(out, format, n);
}

void cost_csv_text(FILE *out, const char *separator, const char *text)
{
	if (!strstr(text, separator) && !strpbrk(text, "\"\n")) {
		fputs(text, out);
		return;
	}
	fputc('"', out);
	for (; *text; text++) {
		if (*text == '"')
			fputc('"', out);
		fputc(*text, out);
	}
	fputc('"', out);
}

static void csv(FILE *out, const char *sep, const struct cost_view *v)
{
	for (size_t i = 0; i < v->rows; i++) {
		const struct cost_row *r = v->row + i;
		if (v->place) {
			cost_csv_text(out, sep, v->place);
			csv_number(out, sep, v->place_cycles / v->cycles, "%.6f");
			fputs(sep, out);
		}
		cost_csv_text(out, sep, r->name);
		fprintf(out, "%s%llu", sep, (unsigned long long)r->count);
		for (unsigned m = 0; m < COST_TOTAL; m++)
			csv_number(out, sep, r->each[m], "%.4f");
		for (unsigned k = 0; k < 3; k++)
			csv_number(out, sep, r->count ? r->quartile[k] : (double)NAN, "%.0f");
		csv_number(out, sep, r->each[COST_TOTAL], "%.4f");
		for (unsigned m = COST_DURATION; m < COST_METHODS; m++)
			csv_number(out, sep, cost_share_by(v, r, m), "%.6f");
		csv_number(out, sep, scale_of(r), "%.4f");
		csv_number(out, sep, r->worse.change ? r->worse.each : (double)NAN, "%.4f");
		csv_number(out, sep, r->better.change ? r->better.each : (double)NAN, "%.4f");
		csv_number(out, sep, isnan(r->each[COST_TOTAL]) ? (double)NAN : r->total.check.low, "%.4f");
		csv_number(out, sep, isnan(r->each[COST_TOTAL]) ? (double)NAN : r->total.check.high, "%.4f");
		for (unsigned k = 0; v->sampled && k < INTERVALS; k++)
			csv_number(out, sep, percent_half(r, k), "%.2f");
		fputc('\n', out);
	}
}

static void json_number(FILE *out, const char *key, double n, const char *format)
{
	fprintf(out, ", \"%s\": ", key);
	if (isnan(n))
		fputs("null", out);
	else
		fprintf(out, format, n);
}

static void json_replay(FILE *out, const char *key, const struct cost_replay *r)
{
	fprintf(out, ", \"%s\": ", key);
	if (!r->change) {
		fputs("null", out);
		return;
	}
	fputs("{\"change\": ", out);
	json_string(out, r->change);
	json_number(out, "cycles", r->cycles, "%.0f");
	json_number(out, "events", r->events, "%.0f");
	json_number(out, "cycles_an_event", r->each, "%.4f");
	json_number(out, "low", isnan(r->each) ? r->each : r->check.low, "%.4f");
	json_number(out, "high", isnan(r->each) ? r->each : r->check.high, "%.4f");
	if (isnan(r->each)) {
		fputs(", \"why\": ", out);
		json_string(out, r->why);
	}
	fputs(", \"beside\": [", out);
	for (unsigned i = 0; i < r->check.besides; i++) {
		const struct cost_beside *b = &r->check.beside[i];
		fprintf(out, "%s{\"event\": ", i ? ", " : "");
		json_string(out, b->name);
		fprintf(out, ", \"before\": %.0f, \"after\": %.0f}", b->before, b->after);
	}
	fputs("]}", out);
}

static void json(const struct cost_style *s, const struct cost_view *v)
{
	FILE *out = s->out;
	for (size_t i = 0; i < v->rows; i++) {
		const struct cost_row *r = v->row + i;
		fputs("{\"event\": ", out);
		json_string(out, r->name);
		if (v->place) {
			fputs(", \"place\": ", out);
			json_string(out, v->place);
			json_number(out, "place_share", v->place_cycles / v->cycles, "%.6f");
		}
		fputs(", \"tag\": ", out);
		json_string(out, r->tag);
		fprintf(out, ", \"count\": %llu", (unsigned long long)r->count);
		for (unsigned m = 0; m < COST_METHODS; m++) {
			json_number(out, method_key[m], r->each[m], "%.4f");
			if (isnan(r->each[m]) && r->how[m]) {
				fprintf(out, ", \"%s_why\": ", method_key[m]);
				json_string(out, r->how[m]);
			}
		}
		if (r->count)
			fprintf(out, ", \"pushout_quartiles\": [%u, %u, %u]", r->quartile[0], r->quartile[1],
				r->quartile[2]);
		json_number(out, "share_duration", cost_share_by(v, r, COST_DURATION), "%.6f");
		json_number(out, "share_pushout", cost_share_by(v, r, COST_PUSHOUT), "%.6f");
		json_number(out, "share_total_time", cost_share_by(v, r, COST_TOTAL), "%.6f");
		json_number(out, "scale", scale_of(r), "%.4f");
		for (unsigned k = 0; v->sampled && k < INTERVALS; k++)
			json_number(out, interval_key[k], percent_half(r, k), "%.2f");
		char words[512];
		if (cost_words(v, r, words, sizeof words)) {
			fputs(", \"words\": ", out);
			json_string(out, words);
		}
		json_replay(out, "replay", &r->total);
		json_replay(out, "replay_worse", &r->worse);
		json_replay(out, "replay_better", &r->better);
		fputs(", \"program\": ", out);
		json_string(out, s->program);
		fputs("}\n", out);
	}
}

void cost_print(const struct cost_style *s, const struct cost_view *v)
{
	if (s->form == COST_CSV)
		csv(s->out, s->separator, v);
	else if (s->form == COST_JSON)
		json(s, v);
	else if (terminal_width(s->terminal, TABLE_WIDTH) < TABLE_WIDTH)
		narrow_table(s->out, v, terminal_width(s->terminal, TABLE_WIDTH));
	else
		table(s->out, v);
	if (s->form == COST_TABLE)
		table_rest(s->out, v);
}

static void replay_line(
	FILE *out, const char *event, const struct cost_view *v, const struct cost_row *r, const struct cost_replay *p)
{
	char a[48], b[48], c[48], d[48];
	fprintf(out, "   %-13s %s: %s cycles -> %s, %s events -> %s", event, p->change, cost_grouped(v->cycles, a),
		cost_grouped(p->cycles, b), cost_grouped((double)r->count, c), cost_grouped(p->events, d));
	if (isnan(p->each))
		fprintf(out, "; no cost: %s", p->why);
	else
		fprintf(out, ": %.1f each", p->each);
	if (!isnan(p->each) && p->check.high - p->check.low >= 0.1)
		fprintf(out, " (%.1f to %.1f)", p->check.low, p->check.high);
	for (unsigned i = 0; i < p->check.besides; i++)
		fprintf(out, "%s %s %s -> %s", i ? "," : "; beside it", p->check.beside[i].name,
			cost_grouped(p->check.beside[i].before, a), cost_grouped(p->check.beside[i].after, b));
	fputc('\n', out);
}

void cost_print_methods(const struct cost_style *s, const struct cost_view *v)
{
	bool any = false;
	if (s->form != COST_TABLE)
		return;
	fputs("\n Total time, by replays of the same trace:\n", s->out);
	for (size_t i = 0; i < v->rows; i++) {
		const struct cost_row *r = v->row + i;
		if (r->total.change)
			replay_line(s->out, r->name, v, r, &r->total);
		if (r->better.change && (!r->total.change || strcmp(r->better.change, r->total.change)))
			replay_line(s->out, r->name, v, r, &r->better);
		if (r->worse.change)
			replay_line(s->out, r->name, v, r, &r->worse);
		any |= r->total.change || r->better.change || r->worse.change;
	}
	fputs(any ? "" : "   none was run\n", s->out);
	any = false;
	for (size_t i = 0; i < v->rows; i++)
		for (unsigned m = 0; m < COST_METHODS; m++) {
			const struct cost_row *r = v->row + i;
			if (!isnan(r->each[m]) || !r->how[m] || (m == COST_TOTAL && r->total.change) || hidden(v, r))
				continue;
			fprintf(s->out, "%s   %-13s %s: %s\n", any ? "" : "\n Does not apply:\n", r->name,
				cost_method_name[m], r->how[m]);
			any = true;
		}
}

/* The decomposition of the CPI for a terminal on which the rows of a file would not fit. */
static void narrow_groups(const struct cost_style *s, const struct cost_view *v,
	const uint64_t group[COST_GROUPS_COUNT], const struct cost_hidden *h)
{
	enum { CPI_FITS = 67 };
	const bool with_cpi = terminal_width(s->terminal, CPI_FITS) >= CPI_FITS;
	char n[48], under[48], hidden[48];
	double sum = 0;
	bool any = false;
	fprintf(s->out, "\n Decomposition of the CPI, by what retirement waited for:\n %-13s %11s%s %7s %11s %11s\n",
		"", "cycles", with_cpi ? "      CPI" : "", "share", "under way", "hidden");
	for (unsigned g = 0; g <= COST_GROUPS_COUNT; g++) {
		const bool last = g == COST_GROUPS_COUNT;
		const double cycles = last ? sum : (double)group[g] / EXACT_CYCLE;
		const double busy = last ? (double)NAN : h->busy[g];
		sum += last ? 0 : cycles;
		if (!last && !group[g] && !(busy > 0))
			continue;
		fprintf(s->out, " %-13s %11s", last ? "sum" : cost_group_name[g], cost_grouped(cycles, n));
		if (with_cpi)
			cell(s->out, 8, v->instructions > 0 ? cycles / v->instructions : 0, "%.4f", "");
		fprintf(s->out, " %6.2f%%", v->cycles > 0 ? 100 * cycles / v->cycles : 0);
		if (!last)
			fprintf(s->out, " %11s %11s", isnan(busy) ? "-" : cost_grouped(busy, under),
				isnan(busy) ? "-" : cost_grouped(busy > cycles ? busy - cycles : 0, hidden));
		fputc('\n', s->out);
	}
	for (unsigned g = 0; g < COST_GROUPS_COUNT; g++)
		if (group[g] || h->busy[g] > 0) {
			fprintf(s->out, "%s%s: %s", any ? "; " : " ", cost_group_name[g], cost_group_help[g]);
			any = true;
		}
	fputs(any ? "\n" : "", s->out);
}

void cost_print_groups(const struct cost_style *s, const struct cost_view *v, const uint64_t group[COST_GROUPS_COUNT],
	const struct cost_hidden *h)
{
	char n[48];
	double sum = 0;
	if (s->form == COST_TABLE && terminal_width(s->terminal, GROUPS_WIDTH) < GROUPS_WIDTH) {
		narrow_groups(s, v, group, h);
		return;
	}
	if (s->form == COST_TABLE)
		fprintf(s->out,
			"\n Decomposition of the CPI, by what retirement waited for:\n %-13s %15s %8s %7s  %15s %15s\n",
			"", "cycles", "CPI", "share", "under way", "hidden");
	for (unsigned g = 0; g < COST_GROUPS_COUNT; g++) {
		const double cycles = (double)group[g] / EXACT_CYCLE, busy = h->busy[g],
			     cpi = v->instructions > 0 ? cycles / v->instructions : 0;
		sum += cycles;
		if (s->form == COST_CSV) {
			fprintf(s->out, "cpi%s%s%s%.3f%s%.6f%s%.6f", s->separator, cost_group_name[g], s->separator,
				cycles, s->separator, cpi, s->separator, v->cycles > 0 ? cycles / v->cycles : 0);
			csv_number(s->out, s->separator, busy, "%.0f");
			fputc('\n', s->out);
		} else if (s->form == COST_JSON) {
			fprintf(s->out, "{\"group\": \"%s\", \"cycles\": %.3f, \"cpi\": %.6f", cost_group_name[g],
				cycles, cpi);
			json_number(s->out, "under_way", busy, "%.0f");
			fputs("}\n", s->out);
		} else if (group[g] || busy > 0) {
			fprintf(s->out, " %-13s %15s %8.4f %6.2f%%", cost_group_name[g], cost_grouped(cycles, n), cpi,
				v->cycles > 0 ? 100 * cycles / v->cycles : 0);
			if (!isnan(busy)) {
				fprintf(s->out, "  %15s", cost_grouped(busy, n));
				fprintf(s->out, " %15s", cost_grouped(busy > cycles ? busy - cycles : 0, n));
			}
			fprintf(s->out, "%s%s\n", isnan(busy) ? "                                    " : "    ",
				cost_group_help[g]);
		}
	}
	if (s->form == COST_TABLE)
		fprintf(s->out, " %-13s %15s %8.4f %6.2f%%\n", "sum", cost_grouped(sum, n),
			v->instructions > 0 ? sum / v->instructions : 0, v->cycles > 0 ? 100 * sum / v->cycles : 0);
}

/* ---- pairs ---- */

enum cost_interaction cost_interaction(double cycles, const struct cost_pair *p, double *interaction)
{
	*interaction = (cycles - p->cycles_both) - (cycles - p->cycles_first) - (cycles - p->cycles_second);
	return fabs(*interaction) < 0.005 * cycles ? COST_INDEPENDENT : *interaction > 0 ? COST_PARALLEL : COST_SERIAL;
}

void cost_print_pairs(const struct cost_style *s, const struct cost_view *v, const struct cost_pair *p, size_t count)
{
	static const char *const kind[] = { "independent", "parallel", "serial" };
	char n[48];
	if (s->form == COST_TABLE)
		fprintf(s->out,
			"\n Pairs, cycles saved without the events (independent: within 0.5 %% of the cycles):\n "
			"%-27s %15s %15s %15s %15s\n",
			"", "first", "second", "both", "interaction");
	for (size_t i = 0; i < count; i++) {
		double more;
		const enum cost_interaction what = cost_interaction(v->cycles, &p[i], &more);
		const double saved[] = { v->cycles - p[i].cycles_first, v->cycles - p[i].cycles_second,
			v->cycles - p[i].cycles_both, more };
		if (s->form == COST_JSON) {
			fputs("{\"pair\": [", s->out);
			json_string(s->out, p[i].first);
			fputs(", ", s->out);
			json_string(s->out, p[i].second);
			fprintf(s->out,
				"], \"saved\": [%.0f, %.0f], \"both\": %.0f, \"interaction\": %.0f, \"kind\": "
				"\"%s\"}\n",
				saved[0], saved[1], saved[2], saved[3], kind[what]);
			continue;
		}
		if (s->form == COST_CSV) {
			fprintf(s->out, "pair%s", s->separator);
			cost_csv_text(s->out, s->separator, p[i].first);
			fputs(s->separator, s->out);
			cost_csv_text(s->out, s->separator, p[i].second);
		} else {
			fprintf(s->out, " %-13s %-13s", p[i].first, p[i].second);
		}
		for (unsigned k = 0; k < 4; k++)
			if (s->form == COST_CSV)
				csv_number(s->out, s->separator, saved[k], "%.0f");
			else
				fprintf(s->out, " %15s", cost_grouped(saved[k], n));
		fprintf(s->out, "%s%s\n", s->form == COST_CSV ? s->separator : "  ", kind[what]);
	}
	if (!count && s->form == COST_TABLE)
		fputs("   no two events have a replay of their own\n", s->out);
}
