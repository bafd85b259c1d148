/* SPDX-License-Identifier: GPL-2.0-or-later
 * Prints what events cost (cost_print.h). */
#include "cli/cost/cost_print.h"
#include "cli/common/cli_svg.h"
#include "util/json.h"
#include <math.h>
#include <string.h>

static const char *const method_name[COST_METHODS] = { "analytic", "duration", "pushout", "total time" };
static const char *const method_key[COST_METHODS] = { "analytic", "duration", "pushout", "total_time" };

/* Share of all cycles by a method; NaN: none. */
static double share_by(const struct cost_view *v, const struct cost_row *r, enum cost_method m)
{
	if (!(v->cycles > 0))
		return (double)NAN;
	if (m == COST_DURATION && !isnan(r->each[m]))
		return (double)r->busy / v->cycles;
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

static const char *grouped(double n, char text[48])
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

static void table(FILE *out, const struct cost_view *v)
{
	char n[48];
	fprintf(out, " %-13s %13s |%34s%25s |%28s |\n", "", "", "cycles an event", "", "share of all cycles");
	fprintf(out, " %-13s %13s |%9s %9s %9s %17s %11s | %8s %8s %10s | %6s\n", "event", "count", "analytic",
		"duration", "pushout", "quartiles", "total time", "duration", "pushout", "total time", "scale");
	for (size_t i = 0; i < v->rows; i++) {
		const struct cost_row *r = v->row + i;
		char quartiles[48] = "-";
		if (r->count && !isnan(r->each[COST_PUSHOUT]))
			snprintf(quartiles, sizeof quartiles, "%u %u %u", r->quartile[0], r->quartile[1],
				r->quartile[2]);
		fprintf(out, " %-13s %13s |", r->name, grouped((double)r->count, n));
		for (unsigned m = 0; m < COST_TOTAL; m++)
			cell(out, m ? 9 : 8, r->each[m], "%.1f", "");
		fprintf(out, " %17s", quartiles);
		cell(out, 11, r->each[COST_TOTAL], "%.1f", "");
		fputs(" |", out);
		for (unsigned m = COST_DURATION; m < COST_METHODS; m++)
			cell(out, m == COST_TOTAL ? 10 : 8, 100 * share_by(v, r, m), "%.1f", "%");
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
			csv_number(out, sep, share_by(v, r, m), "%.6f");
		csv_number(out, sep, scale_of(r), "%.4f");
		csv_number(out, sep, r->worse.change ? r->worse.each : (double)NAN, "%.4f");
		csv_number(out, sep, r->only.change ? r->only.each : (double)NAN, "%.4f");
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
	fputc('}', out);
}

static void json(FILE *out, const struct cost_view *v)
{
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
		json_number(out, "share_duration", share_by(v, r, COST_DURATION), "%.6f");
		json_number(out, "share_pushout", share_by(v, r, COST_PUSHOUT), "%.6f");
		json_number(out, "share_total_time", share_by(v, r, COST_TOTAL), "%.6f");
		json_number(out, "scale", scale_of(r), "%.4f");
		for (unsigned k = 0; v->sampled && k < INTERVALS; k++)
			json_number(out, interval_key[k], percent_half(r, k), "%.2f");
		json_replay(out, "replay", &r->better);
		json_replay(out, "replay_worse", &r->worse);
		json_replay(out, "replay_only", &r->only);
		fputs("}\n", out);
	}
}

void cost_print(const struct cost_style *s, const struct cost_view *v)
{
	if (s->form == COST_CSV)
		csv(s->out, s->separator, v);
	else if (s->form == COST_JSON)
		json(s->out, v);
	else
		table(s->out, v);
}

static void replay_line(
	FILE *out, const char *event, const struct cost_view *v, const struct cost_row *r, const struct cost_replay *p)
{
	char a[48], b[48], c[48], d[48];
	fprintf(out, "   %-13s %s: %s cycles -> %s, %s events -> %s", event, p->change, grouped(v->cycles, a),
		grouped(p->cycles, b), grouped((double)r->count, c), grouped(p->events, d));
	if (isnan(p->each))
		fprintf(out, "; no cost: %s\n", p->why);
	else
		fprintf(out, ": %.1f each\n", p->each);
}

void cost_print_methods(const struct cost_style *s, const struct cost_view *v)
{
	bool any = false;
	if (s->form != COST_TABLE)
		return;
	fputs("\n Total time, by replays of the same trace:\n", s->out);
	for (size_t i = 0; i < v->rows; i++) {
		const struct cost_row *r = v->row + i;
		if (r->better.change)
			replay_line(s->out, r->name, v, r, &r->better);
		if (r->worse.change)
			replay_line(s->out, r->name, v, r, &r->worse);
		if (r->only.change && (!r->better.change || strcmp(r->only.change, r->better.change)))
			replay_line(s->out, r->name, v, r, &r->only);
		any |= r->better.change || r->worse.change || r->only.change;
	}
	fputs(any ? "" : "   none was run\n", s->out);
	any = false;
	for (size_t i = 0; i < v->rows; i++)
		for (unsigned m = 0; m < COST_METHODS; m++) {
			const struct cost_row *r = v->row + i;
			if (!isnan(r->each[m]) || !r->how[m] || (m == COST_TOTAL && r->better.change))
				continue;
			fprintf(s->out, "%s   %-13s %s: %s\n", any ? "" : "\n Does not apply:\n", r->name,
				method_name[m], r->how[m]);
			any = true;
		}
}

void cost_print_groups(const struct cost_style *s, const struct cost_view *v, const uint64_t group[COST_GROUPS_COUNT],
	const struct cost_hidden *h)
{
	char n[48];
	double sum = 0;
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
			fprintf(s->out, " %-13s %15s %8.4f %6.2f%%", cost_group_name[g], grouped(cycles, n), cpi,
				v->cycles > 0 ? 100 * cycles / v->cycles : 0);
			if (!isnan(busy)) {
				fprintf(s->out, "  %15s", grouped(busy, n));
				fprintf(s->out, " %15s", grouped(busy > cycles ? busy - cycles : 0, n));
			}
			fprintf(s->out, "%s%s\n", isnan(busy) ? "                                    " : "    ",
				cost_group_help[g]);
		}
	}
	if (s->form == COST_TABLE)
		fprintf(s->out, " %-13s %15s %8.4f %6.2f%%\n", "sum", grouped(sum, n),
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
				fprintf(s->out, " %15s", grouped(saved[k], n));
		fprintf(s->out, "%s%s\n", s->form == COST_CSV ? s->separator : "  ", kind[what]);
	}
	if (!count && s->form == COST_TABLE)
		fputs("   no two events have a replay of their own\n", s->out);
}

/* ---- plots ---- */

enum { BINS = 40 };
struct bins { uint32_t low[BINS + 1]; uint64_t count[BINS], most; unsigned n; };

/* Makes up to BINS bins of equal width: from the least to the largest value if each cycle can have a bin, else
 * to the 98th percentile; the last bin takes what is above. */
static void make_bins(struct bins *b, const struct spread *s)
{
	uint32_t first = spread_quantile(s, 0), last = spread_quantile(s, 0.98);
	last = s->max - first < BINS ? s->max : last;
	uint32_t width = (last - first) / (BINS - 1) + 1;
	*b = (struct bins){ 0 };
	b->n = (last - first) / width + 1;
	for (unsigned i = 0; i <= b->n; i++)
		b->low[i] = first + i * width;
	for (size_t i = 0; i < s->buckets; i++) {
		if (!s->bucket[i])
			continue;
		uint32_t at = (spread_low(s, i) - first) / width;
		b->count[at < b->n ? at : b->n - 1] += s->bucket[i];
	}
	for (unsigned i = 0; i < b->n; i++)
		b->most = b->count[i] > b->most ? b->count[i] : b->most;
}

void cost_print_histogram(const struct cost_style *s, const struct cost_row *r)
{
	struct bins b;
	char n[48];
	if (s->form == COST_CSV) {
		for (size_t i = 0; i < r->spread->buckets; i++)
			if (r->spread->bucket[i])
				fprintf(s->out, "histogram%s%s%s%u%s%llu\n", s->separator, r->name, s->separator,
					spread_low(r->spread, i), s->separator,
					(unsigned long long)r->spread->bucket[i]);
		return;
	}
	if (s->form == COST_JSON) {
		bool any = false;
		fputs("{\"histogram\": ", s->out);
		json_string(s->out, r->name);
		fputs(", \"pushout\": [", s->out);
		for (size_t i = 0; i < r->spread->buckets; i++)
			if (r->spread->bucket[i]) {
				fprintf(s->out, "%s[%u, %llu]", any ? ", " : "", spread_low(r->spread, i),
					(unsigned long long)r->spread->bucket[i]);
				any = true;
			}
		fputs("]}\n", s->out);
		return;
	}
	if (!r->spread || !r->count)
		return;
	make_bins(&b, r->spread);
	fprintf(s->out, "\n Pushout of %s, cycles:\n", r->name);
	for (unsigned i = 0; i < b.n; i++) {
		unsigned width = (unsigned)(50 * b.count[i] / b.most), empty = 0;
		char range[32];
		while (!b.count[i + empty])	/* the last bin is never empty */
			empty++;
		if (empty > 1) {
			fputs("             :\n", s->out);
			i += empty - 1;
			continue;
		}
		if (i + 1 == b.n && r->spread->max >= b.low[i + 1])
			snprintf(range, sizeof range, "%u..%u", b.low[i], r->spread->max);
		else if (b.low[i] + 1 == b.low[i + 1])
			snprintf(range, sizeof range, "%u", b.low[i]);
		else
			snprintf(range, sizeof range, "%u..%u", b.low[i], b.low[i + 1] - 1);
		fprintf(s->out, " %13s %12s ", range, grouped((double)b.count[i], n));
		while (width--)
			fputc('#', s->out);
		fputc('\n', s->out);
	}
}

/* The longest of all bars. */
static double longest(const struct cost_view *v)
{
	double most = 0;
	for (size_t i = 0; i < v->rows; i++)
		for (unsigned m = 0; m < COST_METHODS && v->row[i].count; m++)
			most = v->row[i].each[m] > most ? v->row[i].each[m] : most;
	return most;
}

void cost_print_bars(const struct cost_style *s, const struct cost_view *v)
{
	const double most = longest(v);
	if (s->form != COST_TABLE)
		return;
	fputs("\n Cycles an event, the methods side by side:\n", s->out);
	for (size_t i = 0; i < v->rows; i++) {
		const struct cost_row *r = v->row + i;
		for (unsigned m = 0, any = 0; m < COST_METHODS && r->count; m++) {
			if (isnan(r->each[m]))
				continue;
			fprintf(s->out, " %-13s %-10s", any++ ? "" : r->name, method_name[m]);
			cell(s->out, 9, r->each[m], "%.1f", "");
			fputc(' ', s->out);
			for (int width = r->each[m] > 0 ? (int)lround(50 * r->each[m] / most) : 0; width; width--)
				fputc('#', s->out);
			fputc('\n', s->out);
		}
	}
}

enum {
	SVG_LEFT = 110,
	SVG_BARS = 330,
	SVG_PLOT = 520,
	SVG_PLOT_WIDTH = 400,
	SVG_ROW = 84,
	SVG_WIDTH = 960,
	SVG_TOP = 58
};
static const char *const colour[COST_METHODS] = { "#9aa5b1", "#e0a030", "#3070c0", "#b03060" };

static void svg_row(FILE *out, const struct cost_row *r, unsigned y, double most)
{
	fprintf(out, "<text x=\"10\" y=\"%u\">", y + 14);
	cli_svg_text(out, r->name);
	fprintf(out, "</text><text x=\"10\" y=\"%u\" fill=\"#666\" font-size=\"10\">%llu</text>\n", y + 28,
		(unsigned long long)r->count);
	for (unsigned m = 0; m < COST_METHODS; m++) {
		if (isnan(r->each[m]))
			continue;
		double w = r->each[m] > 0 && most > 0 ? SVG_BARS * r->each[m] / most : 0;
		fprintf(out,
			"<rect x=\"%d\" y=\"%u\" width=\"%.1f\" height=\"13\" fill=\"%s\"/><text x=\"%.1f\" y=\"%u\" "
			"font-size=\"10\">%.1f</text>\n",
			SVG_LEFT, y + 3 + 16 * m, w, colour[m], SVG_LEFT + w + 4, y + 13 + 16 * m, r->each[m]);
	}
	if (!r->spread || !r->count)
		return;
	struct bins b;
	make_bins(&b, r->spread);
	const double w = (double)SVG_PLOT_WIDTH / b.n;
	for (unsigned i = 0; i < b.n; i++) {
		double h = 54.0 * (double)b.count[i] / (double)b.most;
		fprintf(out, "<rect x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%.1f\" fill=\"%s\"/>\n",
			SVG_PLOT + w * i, y + 58 - h, w > 2 ? w - 1 : w, h, colour[COST_PUSHOUT]);
	}
	fprintf(out,
		"<text x=\"%d\" y=\"%u\" font-size=\"10\">%u</text><text x=\"%d\" y=\"%u\" font-size=\"10\" "
		"text-anchor=\"end\">%u cycles and above</text>\n",
		SVG_PLOT, y + 70, b.low[0], SVG_PLOT + SVG_PLOT_WIDTH, y + 70, b.low[b.n - 1]);
}

void cost_svg(FILE *out, const struct cost_view *v, const char *title)
{
	unsigned rows = 0;
	const double most = longest(v);
	for (size_t i = 0; i < v->rows; i++)
		rows += v->row[i].count != 0;
	fprintf(out,
		"<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" height=\"%u\" font-family=\"sans-serif\" "
		"font-size=\"12\">\n"
		"<rect width=\"100%%\" height=\"100%%\" fill=\"#fff\"/><text x=\"10\" y=\"20\" "
		"font-size=\"14\">",
		SVG_WIDTH, SVG_TOP + rows * SVG_ROW + 10);
	cli_svg_text(out, title);
	fputs("</text>\n", out);
	for (unsigned m = 0; m < COST_METHODS; m++)
		fprintf(out,
			"<rect x=\"%u\" y=\"32\" width=\"12\" height=\"12\" fill=\"%s\"/><text x=\"%u\" y="
			"\"42\">%s</text>\n",
			SVG_LEFT + 90 * m, colour[m], SVG_LEFT + 16 + 90 * m, method_name[m]);
	fprintf(out, "<text x=\"%d\" y=\"42\">pushouts</text>\n", SVG_PLOT);
	for (size_t i = 0, row = 0; i < v->rows; i++)
		if (v->row[i].count)
			svg_row(out, v->row + i, SVG_TOP + (unsigned)row++ * SVG_ROW, most);
	fputs("</svg>\n", out);
}
