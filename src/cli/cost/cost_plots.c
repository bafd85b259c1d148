/* SPDX-License-Identifier: GPL-2.0-or-later
 * Plots of what events cost (cost_print.h): bars and histograms for the terminal, both as SVG. */
#include "cli/common/cli_svg.h"
#include "cli/cost/cost_print.h"
#include "util/json.h"
#include <inttypes.h>
#include <math.h>
#include <string.h>

enum { BINS = 40, BAR = 50, LEAST_BAR = 10, MOST_BAR = 120, SPLIT_MOST = 6 };
struct bins { uint64_t low[BINS + 2], count[BINS + 1], most; unsigned n; };

/* The longest bar, behind `used` columns. */
static unsigned bar_width(const struct cost_style *s, unsigned used)
{
	const unsigned width = terminal_width(s->terminal, used + BAR);
	return width < used + LEAST_BAR ? LEAST_BAR : width > used + MOST_BAR ? MOST_BAR : width - used;
}

/* The bin behind the one that begins at `low`.  Below 2 << split each value has one; above that, each octave has
 * 1 << split of them. */
static uint64_t next_bin(uint64_t low, unsigned split)
{
	return low < UINT64_C(2) << split ? low + 1 : low + (UINT64_C(1) << (63 - __builtin_clzll(low) - split));
}

/* The bins from that of the least value to that of the largest.  Returns their number, or more than BINS. */
static unsigned split_bins(struct bins *b, const struct spread *s, unsigned split)
{
	const uint32_t first = spread_quantile(s, 0);
	unsigned n = 0;
	uint64_t low = 0;
	while (next_bin(low, split) <= first)
		low = next_bin(low, split);
	b->low[0] = low;
	while (n <= BINS && low <= s->max) {
		low = next_bin(low, split);
		b->low[++n] = low;
	}
	return n;
}

/* Makes up to BINS bins, as narrow as that allows, whose widths grow with the values: a few late uops can have most of
 * the cycles, and they too are shown apart. */
static void make_bins(struct bins *b, const struct spread *s)
{
	unsigned split = SPLIT_MOST;
	*b = (struct bins){ 0 };
	while ((b->n = split_bins(b, s, split)) > BINS && split)
		split--;
	for (size_t i = 0; i < s->buckets; i++) {
		if (!s->bucket[i])
			continue;
		unsigned at = 0;
		while (at + 1 < b->n && b->low[at + 1] <= spread_low(s, i))
			at++;
		b->count[at] += s->bucket[i];
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
	const unsigned most = bar_width(s, 28);
	make_bins(&b, r->spread);
	fprintf(s->out, "\n Pushout of %s, cycles:\n", r->name);
	for (unsigned i = 0; i < b.n; i++) {
		unsigned empty = 0;
		char range[48];
		while (!b.count[i + empty])	/* the last bin is never empty */
			empty++;
		if (empty > 1) {
			fputs("             :\n", s->out);
			i += empty - 1;
			continue;
		}
		if (b.low[i] + 1 == b.low[i + 1])
			snprintf(range, sizeof range, "%" PRIu64, b.low[i]);
		else
			snprintf(range, sizeof range, "%" PRIu64 "..%" PRIu64, b.low[i], b.low[i + 1] - 1);
		fprintf(s->out, " %13s %12s ", range, cost_grouped((double)b.count[i], n));
		/* in a file whole columns, rounded down */
		const double length = (double)most * (double)b.count[i] / (double)b.most;
		terminal_bar(s->out, s->terminal, s->terminal ? length : floor(length), most, TERMINAL_BLUE, false);
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
	static const enum terminal_colour colour_of[COST_METHODS] = { TERMINAL_DIM, TERMINAL_YELLOW, TERMINAL_BLUE,
		TERMINAL_MAGENTA };
	const double most = longest(v);
	const unsigned widest = bar_width(s, 36);
	if (s->form != COST_TABLE)
		return;
	fputs("\n Cycles an event, the methods side by side:\n", s->out);
	for (size_t i = 0; i < v->rows; i++) {
		const struct cost_row *r = v->row + i;
		for (unsigned m = 0, any = 0; m < COST_METHODS && r->count; m++) {
			if (isnan(r->each[m]))
				continue;
			fprintf(s->out, " %-13s %-10s", any++ ? "" : r->name, cost_method_name[m]);
			fprintf(s->out, " %9.1f ", r->each[m]);
			terminal_bar(s->out, s->terminal, r->each[m] > 0 ? widest * r->each[m] / most : 0, widest,
				colour_of[m], false);
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
		"<text x=\"%d\" y=\"%u\" font-size=\"10\">%" PRIu64 "</text><text x=\"%d\" y=\"%u\" font-size=\"10\" "
		"text-anchor=\"end\">%" PRIu64 " cycles</text>\n",
		SVG_PLOT, y + 70, b.low[0], SVG_PLOT + SVG_PLOT_WIDTH, y + 70, b.low[b.n] - 1);
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
			SVG_LEFT + 90 * m, colour[m], SVG_LEFT + 16 + 90 * m, cost_method_name[m]);
	fprintf(out, "<text x=\"%d\" y=\"42\">pushouts</text>\n", SVG_PLOT);
	for (size_t i = 0, row = 0; i < v->rows; i++)
		if (v->row[i].count)
			svg_row(out, v->row + i, SVG_TOP + (unsigned)row++ * SVG_ROW, most);
	fputs("</svg>\n", out);
}
