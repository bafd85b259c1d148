/* SPDX-License-Identifier: GPL-2.0-or-later
 * Prints a top-down tree (topdown_print.h). */
#include "cli/topdown/topdown_print.h"
#include "cli/common/cli_svg.h"
#include "util/json.h"
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum {
	BAR = 24,		/* in a file */
	MOST_BAR = 100,		/* on a terminal: 1 % a column */
	LEAST_BAR = 8,
	NAME = 27,		/* the longest name with its indentation */
	BOTTLENECK = 16,	/* "  <== bottleneck" */
	SHORT_MARK = 4,		/* " <==" */
};

/* Where the columns of the tree are: on a narrow terminal those go that can be spared. */
struct layout { unsigned name, indent, bar; bool difference, brief, short_mark; };

/* Calls `each` for the nodes down to a level: parents before their children, siblings in the file's order. */
struct walk { const struct metrics *m; unsigned level; void (*each)(void *context, size_t k); void *context; };
static void visit(const struct walk *w, int parent)
{
	for (size_t k = 0; k < w->m->metrics; k++) {
		const struct metric *n = w->m->metric + k;
		if (!n->level || n->parent != parent || n->level > w->level)
			continue;
		w->each(w->context, k);
		visit(w, (int)k);
	}
}

struct printing {
	const struct topdown_style *s;
	const struct metrics *m;
	const double *value, *exact;
	size_t named;
	struct layout layout;
	double y;		/* for SVG */
};

static void print_number(FILE *out, double v)
{
	if (!isnan(v))
		fprintf(out, "%.6f", v);
}

static void print_csv(const struct printing *p, size_t k, double exact, bool flagged)
{
	const char *sep = p->s->separator;
	if (p->s->what)
		fprintf(p->s->out, "%s%s", p->s->what, sep);
	fprintf(p->s->out, "%u%s%s%s", p->m->metric[k].level, sep, p->m->metric[k].name, sep);
	print_number(p->s->out, p->value[k]);
	fputs(sep, p->s->out);
	print_number(p->s->out, exact);
	fputs(sep, p->s->out);
	print_number(p->s->out, p->value[k] - exact);
	fprintf(p->s->out, "%s%d", sep, k == p->named ? 2 : flagged);
	for (unsigned c = 0; c < p->s->columns; c++) {
		fputs(sep, p->s->out);
		print_number(p->s->out, p->s->column[c].value[k]);
	}
	fputc('\n', p->s->out);
}

static void json_number(FILE *out, const char *name, double v)
{
	if (isnan(v))
		fprintf(out, ", \"%s\": null", name);
	else
		fprintf(out, ", \"%s\": %.6f", name, v);
}

static void json_end(const struct topdown_style *s)
{
	fputs(", \"program\": ", s->out);
	json_string(s->out, s->program);
	fputs("}\n", s->out);
}

static void print_json(const struct printing *p, size_t k, double exact, bool flagged)
{
	FILE *out = p->s->out;
	const struct metric *n = p->m->metric + k;
	fputs("{\"", out);
	if (p->s->what) {
		fputs("of\": ", out);
		json_string(out, p->s->what);
		fputs(", \"", out);
	}
	fprintf(out, "level\": %u, \"name\": \"%s\", \"parent\": ", n->level, n->name);
	if (n->parent < 0)
		fputs("null", out);
	else
		fprintf(out, "\"%s\"", p->m->metric[n->parent].name);
	json_number(out, "value", p->value[k]);
	json_number(out, "exact", exact);
	json_number(out, "difference", p->value[k] - exact);
	for (unsigned c = 0; c < p->s->columns; c++)
		json_number(out, p->s->column[c].name, p->s->column[c].value[k]);
	fprintf(out, ", \"flagged\": %s%s", flagged ? "true" : "false",
		k == p->named ? ", \"bottleneck\": true" : "");
	json_end(p->s);
}

static const char *column_title(const struct topdown_style *s, unsigned c, const struct layout *l)
{
	return l->brief && s->column[c].brief ? s->column[c].brief : s->column[c].title;
}

/* Columns of a row ahead of its bar. */
static unsigned figures_width(const struct topdown_style *s, bool exact, const struct layout *l)
{
	unsigned width = 1 + l->name + 1 + 8;
	if (exact)
		width += 9 + (l->difference ? 8 : 0);
	for (unsigned c = 0; c < s->columns; c++)
		width += 1 + (unsigned)strlen(column_title(s, c, l));
	return width;
}

static struct layout choose_layout(const struct topdown_style *s, bool exact)
{
	static const struct layout step[] = { { .name = NAME, .indent = 2, .difference = true },
		{ .name = NAME, .indent = 2 }, { .name = NAME - 3, .indent = 1, .brief = true } };
	enum { STEPS = sizeof step / sizeof *step };
	struct layout l = step[0];
	const unsigned width = terminal_width(s->terminal, 0);
	l.bar = BAR;
	for (unsigned k = 0; width && k < STEPS; k++) {
		l = step[k];
		const unsigned used = figures_width(s, exact, &l) + SHORT_MARK;
		l.short_mark = used + LEAST_BAR + 2 + BOTTLENECK > width;
		l.bar = width < used + 1 ? 0
			: l.short_mark   ? width - used - 1
					 : width - used - 2 - BOTTLENECK + SHORT_MARK;
		l.bar = l.bar > MOST_BAR ? MOST_BAR : l.bar;
		if (l.bar >= LEAST_BAR)
			break;
	}
	return l;
}

static void print_node(void *context, size_t k)
{
	struct printing *p = context;
	const struct metric *n = p->m->metric + k;
	double exact = p->exact ? p->exact[k] : (double)NAN;
	bool flagged = metrics_flagged(p->m, p->exact ? p->exact : p->value, k);
	FILE *out = p->s->out;
	if (n->refused && isnan(exact))
		return;
	if (p->s->form == TOPDOWN_CSV) {
		print_csv(p, k, exact, flagged);
		return;
	}
	if (p->s->form == TOPDOWN_JSON) {
		print_json(p, k, exact, flagged);
		return;
	}
	const struct layout *l = &p->layout;
	const int indent = (int)(l->indent * (n->level - 1));
	const enum terminal_colour colour = k == p->named ? TERMINAL_ALARM : flagged ? TERMINAL_BOLD : TERMINAL_PLAIN;
	fprintf(out, " %*s", indent, "");
	terminal_on(out, p->s->terminal, colour);
	fprintf(out, "%-*s ", (int)l->name - indent, n->name);
	if (colour)
		terminal_off(out, p->s->terminal);
	if (isnan(p->value[k]))
		fprintf(out, "%8s", n->refused && n->text ? "refused" : "-");
	else
		fprintf(out, "%7.1f%%", 100 * p->value[k]);
	if (p->exact) {
		if (isnan(exact))
			fprintf(out, "%9s", "-");
		else
			fprintf(out, "%8.1f%%", 100 * exact);
		if (l->difference && !isnan(exact) && !isnan(p->value[k]))
			fprintf(out, " %+7.1f", 100 * (p->value[k] - exact));
		else if (l->difference)
			fprintf(out, " %7s", "");
	}
	for (unsigned c = 0; c < p->s->columns; c++) {
		const int width = (int)strlen(column_title(p->s, c, l));
		if (isnan(p->s->column[c].value[k]))
			fprintf(out, " %*s", width, "-");
		else
			fprintf(out, " %*.1f%%", width - 1, 100 * p->s->column[c].value[k]);
	}
	fputs(l->short_mark ? " " : "  ", out);
	/* the exact share, and a mark at the formula's; the formula's where it is all that is known */
	const double drawn = isnan(exact) ? p->value[k] : exact;
	terminal_bar_marked(out, p->s->terminal, drawn * l->bar, isnan(exact) ? (double)NAN : p->value[k] * l->bar,
		l->bar, k == p->named ? TERMINAL_RED : flagged ? TERMINAL_YELLOW : TERMINAL_CYAN, true);
	terminal_on(out, p->s->terminal, colour);
	if (k == p->named)
		fputs(l->short_mark ? " <==" : "  <== bottleneck", out);
	else if (flagged)
		fputs(l->short_mark ? " *" : "  *", out);
	if (colour)
		terminal_off(out, p->s->terminal);
	fputc('\n', out);
}

void topdown_print(const struct topdown_style *s, const struct metrics *m, const double *value, const double *exact)
{
	struct printing p = { .s = s,
		.m = m, .value = value, .exact = exact,
		.named = topdown_bottleneck(m, exact ? exact : value, s->level, NULL),
		.layout = choose_layout(s, exact) };
	const struct walk w = { m, s->level, print_node, &p };
	if (s->form == TOPDOWN_TREE) {
		if (s->what)
			fprintf(s->out, " %s\n", s->what);
		fprintf(s->out, " %-*s %8s", (int)p.layout.name, "", "formula");
		if (exact)
			fprintf(s->out, p.layout.difference ? "%9s %7s" : "%9s", "exact", "diff");
		for (unsigned c = 0; c < s->columns; c++)
			fprintf(s->out, " %s", column_title(s, c, &p.layout));
		fputc('\n', s->out);
	}
	visit(&w, -1);
}

void topdown_print_share(const struct topdown_style *s, double share)
{
	const char *sep = s->separator;
	if (s->form == TOPDOWN_CSV) {
		fprintf(s->out, "%s%s0%sSlot_Share%s%s%.6f%s%s0\n", s->what, sep, sep, sep, sep, share, sep, sep);
	} else if (s->form == TOPDOWN_JSON) {
		fputs("{\"of\": ", s->out);
		json_string(s->out, s->what);
		fputs(", \"name\": \"Slot_Share\"", s->out);
		json_number(s->out, "exact", share);
		json_end(s);
	}
}

void topdown_print_others(const struct topdown_style *s, const struct metrics *m, const double *value)
{
	const char *group = "";
	for (size_t k = 0; k < m->metrics; k++) {
		const struct metric *n = m->metric + k;
		if (!n->group || !strcmp(n->group, "info") || n->refused || isnan(value[k]))
			continue;
		bool percent = !strcmp(n->unit_text, "%");
		if (s->form == TOPDOWN_CSV) {
			if (s->what)
				fprintf(s->out, "%s%s", s->what, s->separator);
			fprintf(s->out, "0%s%s%s%.6f%s%s%s0\n", s->separator, n->name, s->separator, value[k],
				s->separator, s->separator, s->separator);
		} else if (s->form == TOPDOWN_JSON) {
			fputs("{", s->out);
			if (s->what) {
				fputs("\"of\": ", s->out);
				json_string(s->out, s->what);
				fputs(", ", s->out);
			}
			fprintf(s->out, "\"name\": \"%s\", \"group\": \"%s\", \"unit\": \"%s\"", n->name, n->group,
				percent ? "1" : n->unit_text);
			json_number(s->out, "value", value[k]);
			json_end(s);
		} else {
			if (strcmp(group, n->group))
				fputc('\n', s->out);
			group = n->group;
			bool large = fabs(value[k]) >= 1e6;
			fprintf(s->out, " %-20s %10.*f%-2s %s\n", n->name,
				percent         ? 1
					: large ? 1
						: 3,
				percent         ? 100 * value[k]
					: large ? 1e-6 * value[k]
						: value[k],
				percent         ? "%"
					: large ? "M"
						: "",
				n->description ? n->description : "");
		}
	}
}

/* Nodes are compared down to this level: below it are the parts of one cause. */
enum { COMPARED = 3 };

static bool is_marked(const struct metrics *m, const double *value, size_t k, unsigned level)
{
	return m->metric[k].level && m->metric[k].level <= level && metrics_flagged(m, value, k);
}

static bool is_marked_leaf(const struct metrics *m, const double *value, size_t k, unsigned level)
{
	if (!is_marked(m, value, k, level))
		return false;
	for (size_t i = 0; i < m->metrics; i++)
		if (m->metric[i].parent == (int)k && is_marked(m, value, i, level))
			return false;
	return true;
}

/* The largest marked child; SIZE_MAX: none. */
static size_t largest_part(const struct metrics *m, const double *value, size_t k, unsigned level)
{
	size_t at = SIZE_MAX;
	for (size_t i = 0; i < m->metrics; i++)
		if (m->metric[i].parent == (int)k && is_marked(m, value, i, level) &&
			(at == SIZE_MAX || value[i] > value[at]))
			at = i;
	return at;
}

size_t topdown_bottleneck(const struct metrics *m, const double *value, unsigned level, double *joined)
{
	size_t at = SIZE_MAX;
	double *view = malloc((m->metrics + 1) * sizeof *view);
	if (!view)
		return at;
	metrics_joined(m, value, view);
	const unsigned compared = level < COMPARED ? level : COMPARED;
	for (size_t k = 0; k < m->metrics; k++)
		if (is_marked_leaf(m, view, k, compared) && (at == SIZE_MAX || view[k] > view[at]))
			at = k;
	for (size_t part = at; part != SIZE_MAX; part = largest_part(m, view, part, level))
		at = part;
	if (joined)
		*joined = at == SIZE_MAX ? 0 : fmax(view[at] - value[at], 0);
	free(view);
	return at;
}

/* ---- SVG ---- */

enum { SVG_ROW = 20, SVG_NAME = 230, SVG_BAR = 400, SVG_WIDTH = 860 };

static double within(double v)
{
	return isnan(v) || v < 0 ? 0 : v > 1 ? 1 : v;
}

static void svg_node(void *context, size_t k)
{
	struct printing *p = context;
	const struct metric *n = p->m->metric + k;
	double exact = p->exact ? p->exact[k] : (double)NAN, v = p->value[k];
	FILE *out = p->s->out;
	if (n->refused && isnan(exact))
		return;
	bool flagged = metrics_flagged(p->m, p->exact ? p->exact : p->value, k);
	unsigned x = 10 + 14 * (n->level - 1);
	fprintf(out, "<g><title>");
	cli_svg_text(out, n->description ? n->description : n->name);
	fprintf(out, "</title><text x=\"%u\" y=\"%.0f\"%s>%s</text>", x, p->y + 13,
		flagged ? " font-weight=\"bold\"" : "", n->name);
	fprintf(out, "<rect x=\"%d\" y=\"%.0f\" width=\"%.1f\" height=\"13\" fill=\"%s\"/>", SVG_NAME, p->y + 3,
		SVG_BAR * within(isnan(exact) ? v : exact), flagged ? "#c0392b" : "#5b84b1");
	if (!isnan(exact) && !isnan(v))	/* a mark at the formula's share */
		fprintf(out, "<rect x=\"%.1f\" y=\"%.0f\" width=\"2\" height=\"17\" fill=\"#333\"/>",
			SVG_NAME - 1 + SVG_BAR * within(v), p->y + 1);
	fprintf(out, "<text x=\"%d\" y=\"%.0f\">", SVG_NAME + SVG_BAR + 10, p->y + 13);
	if (!isnan(v))
		fprintf(out, "%.1f%%", 100 * v);
	if (!isnan(exact))
		fprintf(out, " (exact %.1f%%)", 100 * exact);
	fputs("</text></g>\n", out);
	p->y += SVG_ROW;
}

static void svg_count(void *context, size_t k)
{
	(void)k;
	++*(unsigned *)context;
}

void topdown_svg(
	FILE *out, const struct metrics *m, const double *value, const double *exact, unsigned level, const char *title)
{
	unsigned rows = 0;
	const struct topdown_style s = { .out = out };
	struct printing p = { .s = &s, .m = m, .value = value, .exact = exact, .y = 34 };
	const struct walk count = { m, level, svg_count, &rows }, draw = { m, level, svg_node, &p };
	visit(&count, -1);
	fprintf(out,
		"<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" height=\"%u\" font-family=\"sans-serif\" "
		"font-size=\"12\">\n",
		SVG_WIDTH, rows * SVG_ROW + 44);
	fputs("<rect width=\"100%\" height=\"100%\" fill=\"#fff\"/><text x=\"10\" y=\"20\" font-size=\"14\">", out);
	cli_svg_text(out, title);
	fputs("</text>\n", out);
	visit(&draw, -1);
	fputs("</svg>\n", out);
}
