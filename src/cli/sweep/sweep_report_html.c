/* SPDX-License-Identifier: GPL-2.0-or-later
 * A sweep's results as one page with plots, which needs no other file (sweep_report.h).
 *
 * The plots are SVG without scripts; a machine's or level's figures are in the title that a browser shows at its mark.
 */
#include "cli/sweep/sweep_report.h"
#include "cli/common/cli_svg.h"
#include <math.h>
#include <string.h>

static const char style[] = "<style>:root{--ink:#1b1f24;--paper:#fff;--line:#d0d7de;--dim:#57606a;--good:#1a7f37;--bad:"
			    "#cf222e;--mark:#0969da}"
			    "@media(prefers-color-scheme:dark){:root{--ink:#e6edf3;--paper:#0d1117;--line:#30363d;--"
			    "dim:#8d96a0;--good:#3fb950;"
			    "--bad:#f85149;--mark:#58a6ff}}body{font:15px/1.5 "
			    "system-ui,sans-serif;color:var(--ink);background:var(--paper);"
			    "max-width:1080px;margin:2em auto;padding:0 "
			    "1em}h1{font-size:1.5em}h2{font-size:1.15em;margin-top:2em}table{"
			    "border-collapse:collapse;font-size:13px}th,td{padding:3px "
			    "10px;text-align:right;border-bottom:1px solid var(--line);"
			    "white-space:nowrap}th:first-child,td:first-child{text-align:left}.wide{overflow-x:auto}p."
			    "note{color:var(--dim);"
			    "font-size:13px}svg{max-width:100%;height:auto;display:block}svg text{font:12px "
			    "system-ui,sans-serif;fill:var(--ink)}"
			    "svg .dim{fill:var(--dim)}svg .axis{stroke:var(--line)}svg .zero{stroke:var(--dim)}svg "
			    ".bar{stroke:var(--mark);"
			    "stroke-width:2}svg .dot{fill:var(--mark)}svg .off{fill:var(--line)}svg "
			    ".front{fill:none;stroke:var(--good);"
			    "stroke-width:1.5}svg "
			    ".best{fill:var(--good)}.best{color:var(--good);font-weight:600}.bad{color:var(--bad)}</"
			    "style>";

static void text(FILE *to, const char *t)
{
	cli_svg_text(to, t);
}

/* ---- a plot of intervals: a row each ---- */

struct row { const char *name[3]; const struct paired *log; bool off; };
struct scale { double least, most; unsigned left, width; };

static double at(const struct scale *s, double percent)
{
	return s->left + (percent - s->least) / (s->most - s->least) * s->width;
}

/* A step of 1, 2 or 5 times a power of ten, of which about five fit. */
static double step_of(double range)
{
	const double ten = pow(10, floor(log10(range / 5))), times = range / 5 / ten;
	return ten * (times < 1.5 ? 1 : times < 3.5 ? 2 : times < 7.5 ? 5 : 10);
}

static void widen(struct scale *s)
{
	s->least = s->least > 0 ? 0 : s->least;
	s->most = s->most < 0 ? 0 : s->most;
	const double more = s->most > s->least ? 0.05 * (s->most - s->least) : 1;
	s->least -= more;
	s->most += more;
}

static void grid(FILE *to, const struct scale *s, unsigned height)
{
	const double step = step_of(s->most - s->least);
	for (double v = ceil(s->least / step) * step; v <= s->most; v += step)
		fprintf(to,
			"<line class=\"%s\" x1=\"%.1f\" y1=\"0\" x2=\"%.1f\" y2=\"%u\"/><text class=\"dim\" x=\"%.1f\" "
			"y=\"%u\" text-anchor=\"middle\">%+.4g %%</text>\n",
			fabs(v) < step / 2 ? "zero" : "axis", at(s, v), at(s, v), height, at(s, v), height + 16,
			fabs(v) < step / 2 ? 0 : v);
}

static void put_row(FILE *to, const struct scale *s, unsigned y, const struct row *r)
{
	const struct paired *p = r->log;
	fprintf(to, "<text x=\"%u\" y=\"%u\" text-anchor=\"end\"%s>", s->left - 10, y + 4,
		r->off ? " class=\"dim\"" : "");
	for (int i = 0; i < 3 && r->name[i]; i++)
		text(to, r->name[i]);
	fputs("</text>\n", to);
	if (!p->n)
		return;
	const double low = isnan(p->half) ? p->mean : p->mean - p->half,
		     high = isnan(p->half) ? p->mean : p->mean + p->half;
	fputs("<g><title>", to);
	for (int i = 0; i < 3 && r->name[i]; i++)
		text(to, r->name[i]);
	fprintf(to,
		": %+.2f %% (%+.2f to %+.2f), %zu programs</title><line class=\"bar\" x1=\"%.1f\" y1=\"%u\" "
		"x2=\"%.1f\" "
		"y2=\"%u\"/><circle class=\"%s\" cx=\"%.1f\" cy=\"%u\" r=\"4\"/></g>\n",
		sweep_report_percent(p->mean), sweep_report_percent(low), sweep_report_percent(high), p->n,
		at(s, sweep_report_percent(low)), y, at(s, sweep_report_percent(high)), y, r->off ? "off" : "dot",
		at(s, sweep_report_percent(p->mean)), y);
}

static void fit(struct scale *s, const struct paired *p)
{
	if (!p->n)
		return;
	const double half = isnan(p->half) ? 0 : p->half;
	/* an interval of few programs may be so wide that nothing else is seen: it is cut at three times the mean */
	const double cut = fmin(half, 3 * fabs(p->mean) + 0.02);
	s->least = fmin(s->least, sweep_report_percent(p->mean - cut));
	s->most = fmax(s->most, sweep_report_percent(p->mean + cut));
}

static void plot_begin(FILE *to, const struct scale *s, unsigned height, const char *name)
{
	fprintf(to,
		"<svg viewBox=\"0 0 %u %u\" width=\"%u\" role=\"img\" aria-label=\"%s\"><svg x=\"0\" y=\"0\" "
		"width=\"%u\" "
		"height=\"%u\">\n",
		s->left + s->width + 20, height + 24, s->left + s->width + 20, name, s->left + s->width + 20,
		height + 24);
	grid(to, s, height);
}

static unsigned left_of(size_t characters)
{
	return characters > 60 ? 440 : 20 + 7 * (unsigned)characters;
}

static void plot_machines(FILE *to, const struct report *r)
{
	struct scale s = { 0, 0, 0, 560 };
	size_t widest = 0;
	for (size_t m = 0; m < r->t->count; m++) {
		const size_t n = strlen(r->s->machines.machine[m].name);
		widest = n > widest ? n : widest;
		if (m)
			fit(&s, r->mean + m);
	}
	s.left = left_of(widest);
	widen(&s);
	plot_begin(to, &s, 22 * (unsigned)r->t->count, "machines");
	for (size_t m = 0; m < r->t->count; m++)
		put_row(to, &s, 22 * (unsigned)m + 11, &(struct row){ { r->s->machines.machine[m].name }, r->mean + m,
			r->t->gone[m] != 0 });
	fputs("</svg></svg>\n", to);
}

static void plot_effects(FILE *to, const struct report *r)
{
	struct scale s = { 0, 0, 0, 560 };
	size_t widest = 0;
	for (size_t i = 0; i < r->effects; i++) {
		const struct report_effect *e = r->effect + i;
		const size_t n = strlen(e->field) + strlen(e->from) + strlen(e->to) + 5;
		widest = n > widest ? n : widest;
		fit(&s, &e->log);
	}
	s.left = left_of(widest);
	widen(&s);
	plot_begin(to, &s, 22 * (unsigned)r->effects, "effects");
	for (size_t i = 0; i < r->effects; i++) {
		const struct report_effect *e = r->effect + i;
		char name[400];
		snprintf(name, sizeof name, "%.120s %.120s to %.120s", e->field, e->from, e->to);
		put_row(to, &s, 22 * (unsigned)i + 11, &(struct row){ { name }, &e->log, false });
	}
	fputs("</svg></svg>\n", to);
}

/* ---- time and energy ---- */

static void plot_front(FILE *to, const struct report *r)
{
	struct scale x = { 0, 0, 70, 640 }, y = { 0, 0, 0, 400 };
	const unsigned height = 420;
	unsigned numbered = 0;
	for (size_t m = 0; m < r->t->count; m++)
		if (!isnan(r->x[m]) && !isnan(r->y[m])) {
			x.least = fmin(x.least, 100 * (r->x[m] - 1));
			x.most = fmax(x.most, 100 * (r->x[m] - 1));
			y.least = fmin(y.least, 100 * (r->y[m] - 1));
			y.most = fmax(y.most, 100 * (r->y[m] - 1));
		}
	widen(&x);
	widen(&y);
	fprintf(to, "<svg viewBox=\"0 0 %u %u\" width=\"%u\" role=\"img\" aria-label=\"time and energy\">\n",
		x.left + x.width + 20, height + 40, x.left + x.width + 20);
	grid(to, &x, height);
	const double step = step_of(y.most - y.least);
	for (double v = ceil(y.least / step) * step; v <= y.most; v += step)
		fprintf(to,
			"<line class=\"%s\" x1=\"%u\" y1=\"%.1f\" x2=\"%u\" y2=\"%.1f\"/><text class=\"dim\" x=\"%u\" "
			"y=\"%.1f\" text-anchor=\"end\">%+.4g %%</text>\n",
			fabs(v) < step / 2 ? "zero" : "axis", x.left, height - at(&y, v), x.left + x.width,
			height - at(&y, v), x.left - 6, height - at(&y, v) + 4, fabs(v) < step / 2 ? 0 : v);
	fprintf(to, "<text x=\"%u\" y=\"%u\" text-anchor=\"middle\">time</text><text x=\"12\" y=\"12\">energy</text>\n",
		x.left + x.width / 2, height + 34);
	/* the front from left to right, as the steps that no machine lies below */
	double from = -INFINITY, before = NAN;
	fputs("<path class=\"front\" d=\"", to);
	for (;;) {
		size_t next = r->t->count;
		for (size_t m = 0; m < r->t->count; m++)
			if (r->front[m] && r->x[m] > from && (next == r->t->count || r->x[m] < r->x[next]))
				next = m;
		if (next == r->t->count)
			break;
		const double px = at(&x, 100 * (r->x[next] - 1)), py = height - at(&y, 100 * (r->y[next] - 1));
		if (isnan(before))
			fprintf(to, "M%.1f,%.1f", px, py);
		else
			fprintf(to, "L%.1f,%.1fL%.1f,%.1f", px, before, px, py);
		before = py;
		from = r->x[next];
	}
	fputs("\"/>\n", to);
	for (size_t m = 0; m < r->t->count; m++) {
		if (isnan(r->x[m]) || isnan(r->y[m]))
			continue;
		const double px = at(&x, 100 * (r->x[m] - 1)), py = height - at(&y, 100 * (r->y[m] - 1));
		fprintf(to, "<circle class=\"%s\" cx=\"%.1f\" cy=\"%.1f\" r=\"5\"><title>",
			r->front[m] ? "best" : "dot", px, py);
		text(to, r->s->machines.machine[m].name);
		fprintf(to, ": time %+.2f %%, energy %+.2f %%</title></circle>\n", 100 * (r->x[m] - 1),
			100 * (r->y[m] - 1));
		if (r->front[m])	/* a number: names of neighbours would lie on each other */
			fprintf(to, "<text x=\"%.1f\" y=\"%.1f\" text-anchor=\"end\">%u</text>\n", px - 6, py + 14,
				++numbered);
	}
	fputs("</svg>\n<ol>", to);
	for (size_t m = 0; m < r->t->count; m++)
		if (r->front[m]) {
			fputs("<li>", to);
			text(to, r->s->machines.machine[m].name);
			fprintf(to, ": time %+.2f %%, energy %+.2f %%</li>\n", 100 * (r->x[m] - 1),
				100 * (r->y[m] - 1));
		}
	fputs("</ol>\n", to);
}

/* ---- tables ---- */

/* Machines have the long names, so they are the rows. */
static void table_programs(FILE *to, const struct report *r)
{
	const struct sweep_table *t = r->t;
	fputs("<div class=\"wide\"><table><tr><th>machine</th>", to);
	for (size_t p = 0; p < t->programs; p++) {
		fputs("<th>", to);
		text(to, r->s->plan.program[p].name);
		fputs("</th>", to);
	}
	fputs("</tr>\n", to);
	for (size_t m = 0; m < t->count; m++) {
		fputs("<tr><td>", to);
		text(to, r->s->machines.machine[m].name);
		fputs("</td>", to);
		for (size_t p = 0; p < t->programs; p++) {
			const double first = sweep_table_objective(t, r->objective, p, 0);
			const double value = sweep_table_objective(t, r->objective, p, m);
			const char *class = r->best[p] == m ? " class=\"best\"" : "";
			if (t->state[p * t->count + m] == SWEEP_FAILED)
				fputs("<td class=\"bad\">failed</td>", to);
			else if (isnan(value))
				fputs("<td></td>", to);
			else if (!m || !(first > 0))
				fprintf(to, "<td%s>%.6g</td>", class, value);
			else
				fprintf(to, "<td%s title=\"%.6g\">%+.2f %%</td>", class, value,
					100 * (value / first - 1));
		}
		fputs("</tr>\n", to);
	}
	fputs("</table></div>\n", to);
}

static void table_eliminated(FILE *to, const struct report *r)
{
	const struct sweep_table *t = r->t;
	bool any = false;
	for (size_t m = 0; m < t->count; m++) {
		if (!t->gone[m])
			continue;
		if (!any)
			fprintf(to,
				"<h2>Eliminated</h2><p class=\"note\">Worse with %.4g %% confidence over all "
				"comparisons and "
				"looks; no more points were run.</p><div "
				"class=\"wide\"><table><tr><th>machine</th><th>after"
				"</th><th>by</th><th>interval</th><th>against</th></tr>\n",
				100 * r->s->plan.confidence);
		any = true;
		fputs("<tr><td>", to);
		text(to, r->s->machines.machine[m].name);
		fprintf(to, "</td><td>%zu %s</td><td>%+.2f %%</td><td>%+.2f to %+.2f %%</td><td>",
			t->looks[t->gone[m] - 1], sweep_report_looked(r), sweep_report_percent(t->why[m].mean),
			sweep_report_percent(t->why[m].mean - t->why[m].half),
			sweep_report_percent(t->why[m].mean + t->why[m].half));
		text(to, r->s->machines.machine[t->against[m]].name);
		fputs("</td></tr>\n", to);
	}
	if (any)
		fputs("</table></div>\n", to);
}

void sweep_report_html(FILE *to, const struct report *r)
{
	fputs("<!doctype html><html lang=\"en\"><meta charset=\"utf-8\"><meta name=\"viewport\" "
	      "content=\"width=device-width\">"
	      "<title>",
		to);
	text(to, r->s->plan_path);
	fprintf(to, "</title>%s<body><h1>", style);
	text(to, r->s->plan_path);
	fprintf(to,
		"</h1><p>%zu programs on %zu machines; %zu points done, %zu missing, %zu failed. What should be "
		"small: ",
		r->t->programs, r->t->count, r->done, r->missing, r->failed);
	text(to, r->objective);
	fputs(".</p><h2>Machines</h2><p class=\"note\">Against the first one: mean over the programs that both ran, "
	      "with its "
	      "95 % interval.</p>\n",
		to);
	plot_machines(to, r);
	if (r->effects) {
		fputs("<h2>Effects of fields</h2><p class=\"note\">Mean over all other fields; the 95 % interval is "
		      "over "
		      "programs.</p>\n",
			to);
		plot_effects(to, r);
	}
	if (r->has_front) {
		fputs("<h2>Time and energy</h2><p class=\"note\">Against the first machine. No machine is better in "
		      "both than "
		      "those on the line.</p>\n",
			to);
		plot_front(to, r);
	}
	table_eliminated(to, r);
	fputs("<h2>Programs</h2><p class=\"note\">The first machine's figures, and how the others differ from them. "
	      "The "
	      "best one of each program stands out.</p>\n",
		to);
	table_programs(to, r);
	fputs("</body></html>\n", to);
}
