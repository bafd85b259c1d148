/* SPDX-License-Identifier: GPL-2.0-or-later
 * Of a sampled run of `softpmu cost` (cost_state.h): which events' costs its windows do not tell apart.
 *
 * Events are ordered by the cycles of their pushouts.  Two of them are a tie if the difference lies within its 95 %
 * interval.  Both are counted in the same windows, so the interval is that of the differences in each window. */
#include "cli/cost/cost_state.h"
#include "util/json.h"
#include <math.h>

static const double LEAST = 1;		/* per cent of the cycles: of smaller ones the order does not matter */

struct tie { const char *first, *second; double share[2], half; };	/* shares of the cycles, in per cent */

static double share(const struct cost *c, const struct cost_row *r)
{
	return 100 * (double)r->pushed / (double)cost_run_cycles(c->base);
}

static void print(const struct cost *c, const struct tie *t, bool first)
{
	const struct cost_style *s = &c->style;
	if (s->form == COST_TABLE) {
		if (first)
			fputs("\n Ties: pushouts that differ by less than the 95 % interval of the difference, in "
			      "points of the cycles:\n", s->out);
		fprintf(s->out, "   %-13s %-13s %.1f - %.1f +- ", t->first, t->second, t->share[0], t->share[1]);
		fprintf(s->out, isnan(t->half) ? "unknown\n" : "%.1f\n", t->half);
	} else if (s->form == COST_CSV) {
		fprintf(s->out, "tie%s", s->separator);
		cost_csv_text(s->out, s->separator, t->first);
		fputs(s->separator, s->out);
		cost_csv_text(s->out, s->separator, t->second);
		fprintf(s->out, "%s%.4f%s", s->separator, t->share[0] - t->share[1], s->separator);
		fprintf(s->out, isnan(t->half) ? "\n" : "%.4f\n", t->half);
	} else {
		fputs("{\"tie\": [", s->out);
		json_string(s->out, t->first);
		fputs(", ", s->out);
		json_string(s->out, t->second);
		fprintf(s->out, "], \"difference_points\": %.4f, \"confidence-95\": ", t->share[0] - t->share[1]);
		fprintf(s->out, isnan(t->half) ? "null}\n" : "%.4f}\n", t->half);
	}
}

void cost_print_ties(const struct cost *c, const struct cost_row *row)
{
	bool any = false;
	for (unsigned i = 0; i < c->looks; i++)
		for (unsigned k = 0; k < c->looks; k++) {
			const struct cost_row *a = &row[i], *b = &row[k];
			if (i == k || c->look[i].why || c->look[k].why || share(c, a) < LEAST ||
				a->pushed < b->pushed || (a->pushed == b->pushed && i > k))
				continue;
			const struct tie t = { a->name, b->name, { share(c, a), share(c, b) },
				100 * cost_half_difference(c->base, c->look[i].measure, c->look[k].measure) };
			if (t.share[0] - t.share[1] > t.half)
				continue;
			print(c, &t, !any);
			any = true;
		}
}
