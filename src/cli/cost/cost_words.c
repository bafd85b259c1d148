/* SPDX-License-Identifier: GPL-2.0-or-later
 * What the methods of an event say together, in words (cost_print.h). */
#include "cli/cost/cost_print.h"
#include <math.h>

static const double LEAST = 0.01;	/* of the cycles: of smaller shares there is nothing to say */

/* Of an event without a total time. */
static bool say_without(const double share[COST_METHODS], const char *why, char *text, size_t bytes)
{
	const double under_way = share[COST_DURATION], waits = share[COST_PUSHOUT];
	if (!(fmax(under_way, waits) >= LEAST))
		return false;
	if (waits >= LEAST)
		snprintf(text, bytes, "retirement waits for it in %.1f %% of the cycles; no total time: %s",
			100 * waits, why ? why : "there is no replay");
	else
		snprintf(text, bytes, "under way in %.1f %% of the cycles, and retirement hardly waits for it: other "
			"work hides it", 100 * under_way);
	return true;
}

bool cost_words(const struct cost_view *v, const struct cost_row *r, char *text, size_t bytes)
{
	double share[COST_METHODS];
	for (unsigned m = 0; m < COST_METHODS; m++)
		share[m] = cost_share_by(v, r, (enum cost_method)m);
	const double under_way = share[COST_DURATION], waits = share[COST_PUSHOUT], worth = share[COST_TOTAL];
	if (v->place)
		return false;
	if (isnan(worth))
		return say_without(share, r->how[COST_TOTAL], text, bytes);
	if (!(fmax(fmax(under_way, waits), worth) >= LEAST) && !(worth <= -LEAST))
		return false;
	const char *so = " and the methods agree";
	char more[160] = "";
	if (worth <= -LEAST) {
		snprintf(text, bytes, "the program is %.1f %% slower without it: it happens to order the work better, "
			"or brings what is needed later", -100 * worth);
		return true;
	}
	if (under_way >= 3 * fmax(worth, LEAST / 3))
		snprintf(more, sizeof more, "; under way in %.1f %% of the cycles: other work hides most of it",
			100 * under_way);
	else if (waits >= LEAST && waits >= 1.5 * worth)
		snprintf(more, sizeof more, "; retirement waits for it in %.1f %%: without it, it would wait for "
			"something else instead", 100 * waits);
	else if (waits < worth / 1.5)
		snprintf(more, sizeof more, "; retirement waits for it in only %.1f %%: it delays what comes later, "
			"not its own uop", 100 * waits);
	else if (isnan(waits) && !isnan(under_way) && worth >= 1.5 * under_way)
		snprintf(more, sizeof more, "; under way in only %.1f %%: what it delays costs more than itself",
			100 * under_way);
	else
		snprintf(more, sizeof more, "%s", isnan(waits) && isnan(under_way) ? "" : so);
	snprintf(text, bytes, "worth %.1f %% of the cycles%s", 100 * worth, more);
	return true;
}

void cost_print_words(const struct cost_style *s, const struct cost_view *v)
{
	char text[512];
	bool any = false;
	if (s->form != COST_TABLE)
		return;
	for (size_t i = 0; i < v->rows; i++)
		if (cost_words(v, v->row + i, text, sizeof text)) {
			fprintf(s->out, "%s   %-13s %s\n", any ? "" : "\n What the methods say together:\n",
				v->row[i].name, text);
			any = true;
		}
}

void cost_print_whatifs(
	const struct cost_style *s, const struct cost_view *v, const struct cost_gain *g, unsigned gains)
{
	bool any = false;
	for (unsigned i = 0; i < gains; i++) {
		const struct cost_whatif *w = g[i].of;
		if (s->form == COST_JSON) {
			fprintf(s->out, "{\"what_if\": \"%s\", \"change\": \"%s\", \"saved\": ", w->name, w->fields);
			if (isnan(g[i].saved))
				fputs("null, \"share\": null}\n", s->out);
			else
				fprintf(s->out, "%.0f, \"share\": %.6f}\n", g[i].saved, g[i].saved / v->cycles);
		} else if (s->form == COST_CSV) {
			fprintf(s->out, "what-if%s%s%s", s->separator, w->name, s->separator);
			fprintf(s->out, isnan(g[i].saved) ? "\n" : "%.0f\n", g[i].saved);
		} else if (!isnan(g[i].saved)) {
			fprintf(s->out, "%s   %-13s %5.1f%%  %s (%s)\n",
				any ? "" : "\n What if, in cycles saved at most:\n", w->name,
				100 * g[i].saved / v->cycles, w->help, w->fields);
			any = true;
		}
	}
}
