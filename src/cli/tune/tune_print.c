/* SPDX-License-Identifier: GPL-2.0-or-later
 * Prints the results of a search (tune_print.h). */
#include "cli/tune/tune_print.h"
#include "core/machine/features.h"
#include "util/json.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

static const double TOO_SLOW = -900;	/* gains below this mean: slower than the objective allows (tune_value) */

static double change(double before, double after)
{
	return before > 0 ? 100 * (after - before) / before : 0;
}

static const char *signed_percent(double p, char text[32])
{
	snprintf(text, 32, "%+.2f%%", fabs(p) < 0.005 ? 0.0 : p);
	return text;
}

static const char *objective_help(const struct tune_goal *g, char text[96])
{
	if (g->what == TUNE_ENERGY_WITHIN)
		snprintf(text, 96, "least energy within %g %% of the best time", 100 * g->within);
	else
		snprintf(text, 96, "%s",
			g->what == TUNE_CYCLES           ? "fewest cycles"
				: g->what == TUNE_ENERGY ? "least energy"
							 : "least energy times time");
	return text;
}

/* ---- table ---- */

static void row(const struct tune_view *v, const char *name, const char *level, const struct tune_try *r)
{
	const struct tune_try *p = tune_tries(v->search, &(size_t){ 0 });
	char a[32], b[32], c[32], half[32] = "";
	if (v->pool->sample.measured && r->half > 0)
		snprintf(half, sizeof half, "   +- %.2f%%", 100 * r->half);
	fprintf(v->out, " %-24s %-9s %10s %10s %10s%s\n", name, level, signed_percent(change(p->cycles, r->cycles), a),
		signed_percent(change(p->energy, r->energy), b),
		signed_percent(change(p->cycles * p->energy, r->cycles * r->energy), c), half);
}

static void singles(const struct tune_view *v)
{
	size_t n, shown = 0;
	const struct tune_try *r = tune_tries(v->search, &n);
	for (unsigned i = 0; i < v->pool->count; i++)
		for (size_t k = 1; k < n; k++) {
			unsigned changed = 0;
			for (unsigned f = 0; f < v->pool->count; f++)
				changed += !!r[k].set.level[f];
			if (changed != 1 || !r[k].set.level[i])
				continue;
			if (!shown++)
				fprintf(v->out, " %-24s %-9s %10s %10s %10s%s\n", "one feature", "", "cycles", "energy",
					"EDP", v->pool->sample.measured ? "   of cycles, 95 %" : "");
			row(v, v->pool->features[i].name, v->pool->features[i].level[r[k].set.level[i]], &r[k]);
		}
	if (shown)
		fputc('\n', v->out);
}

static void interactions(const struct tune_view *v)
{
	size_t n;
	const struct tune_pair *p = tune_pairs(v->search, &n);
	if (n)
		fprintf(v->out, " %-49s %8s %8s %8s %12s\n", "two features, at their best", "first", "second", "both",
			"interaction");
	for (size_t i = 0; i < n; i++) {
		char text[64];
		snprintf(text, sizeof text, "%s, %s", v->pool->features[p[i].a].name, v->pool->features[p[i].b].name);
		fprintf(v->out, " %-49s %7.2f%% %7.2f%%", text, 100 * p[i].gain_a, 100 * p[i].gain_b);
		if (p[i].gain_both < TOO_SLOW)
			fprintf(v->out, " %8s %12s\n", "too slow", "-");
		else
			fprintf(v->out, " %7.2f%% %+11.2f%%\n", 100 * p[i].gain_both, 100 * p[i].interaction);
	}
	if (n)
		fputc('\n', v->out);
}

static void wrapped(FILE *out, size_t *column, const char *word, bool last)
{
	const size_t n = strlen(word) + !last;
	if (*column + n > 130) {
		fputs("\n  ", out);
		*column = 2;
	}
	*column += (size_t)fprintf(out, " %s%s", word, last ? "" : ",");
}

/* The features that were not run. */
static void pruned(const struct tune_view *v)
{
	unsigned n = 0, left;
	for (unsigned i = 0; i < v->pool->count && !v->exhaustive; i++)
		n += tune_pruned(v->search, i);
	if (!(left = n))
		return;
	size_t column = (size_t)fprintf(v->out,
		" Not run, because they could save less than %g %%, judged by the cost of their events:",
		100 * v->goal->threshold);
	for (unsigned i = 0; i < v->pool->count; i++)
		if (tune_pruned(v->search, i))
			wrapped(v->out, &column, v->pool->features[i].name, !--left);
	fprintf(v->out, "\n  (%u of %u features)\n\n", n, v->pool->count);
}

/* ---- ties of a sampled search ---- */

/* Do the intervals leave open whether this is better than the choice, by more than what counts as nothing?  Both
 * intervals are of differences from the same run, so the root of the sum of their squares is rather too wide. */
static bool is_tie(const struct tune_view *v, const struct tune_try *r, const struct tune_try *c)
{
	const struct tune_try *p = tune_tries(v->search, &(size_t){ 0 });
	const double half = hypot(r->half, c->half), more = (r->cycles - c->cycles) / p->cycles;
	return r != c && !(more - half >= -TUNE_NOTHING * v->goal->threshold);	/* unknown: it may be */
}

static size_t ties(const struct tune_view *v, const struct tune_try *c)
{
	size_t n, found = 0;
	const struct tune_try *r = tune_tries(v->search, &n);
	for (size_t i = 0; i < n; i++)
		found += is_tie(v, &r[i], c);
	return found;
}

static bool has_ties(const struct tune_view *v)
{
	return v->pool->sample.measured && v->goal->what == TUNE_CYCLES;
}

static void print_ties(const struct tune_view *v, const struct tune_try *c)
{
	size_t n;
	const struct tune_try *r = tune_tries(v->search, &n);
	if (!has_ties(v)) {
		if (v->pool->sample.measured)
			fputs("   Ties are not known: only cycles have an interval\n", v->out);
		return;
	}
	if (!ties(v, c)) {
		fputs("   No tie: by its 95 % interval, no other configuration is better\n", v->out);
		return;
	}
	fputs("   Ties: by their 95 % intervals these may be better (cycles against the choice):\n", v->out);
	for (size_t i = 0; i < n; i++) {
		char more[32], half[32] = "unknown";
		if (!is_tie(v, &r[i], c))
			continue;
		if (!isnan(r[i].half + c->half))
			snprintf(half, sizeof half, "+- %.2f%%", 100 * hypot(r[i].half, c->half));
		char *text = tune_text(v->pool->features, v->pool->count, &r[i].set);
		fprintf(v->out, "     %-8s %-10s %s\n",
			signed_percent(change(r->cycles, r->cycles + r[i].cycles - c->cycles), more), half,
			text && *text ? text : "the core unchanged");
		free(text);
	}
}

/* Where the energy went, for the parts that the choice changes most. */
static void parts(const struct tune_view *v, const struct tune_try *p, const struct tune_try *c, const char *settings)
{
	struct core_config core = *v->pool->preset;
	struct energy_bill before, after;
	bool done[ENERGY_PARTS_COUNT] = { false };
	energy_bill(&before, v->pool->model, &core, &p->activity);
	if (*settings && core_features_apply(&core, settings, NULL))
		return;
	energy_bill(&after, v->pool->model, &core, &c->activity);
	fputs("   energy by part, the largest changes:", v->out);
	for (unsigned k = 0; k < 5; k++) {
		unsigned most = ENERGY_PARTS_COUNT;
		for (unsigned i = 0; i < ENERGY_PARTS_COUNT; i++)
			if (!done[i] &&
				(most == ENERGY_PARTS_COUNT ||
					fabs(after.part[i] - before.part[i]) >
						fabs(after.part[most] - before.part[most])))
				most = i;
		done[most] = true;
		if (fabs(after.part[most] - before.part[most]) > 0.0005 * before.total)
			fprintf(v->out, "%s %s %+.2f%%", k ? "," : "", energy_part_name[most],
				100 * (after.part[most] - before.part[most]) / before.total);
	}
	fputs(" of all\n", v->out);
}

static void every(const struct tune_view *v)
{
	size_t n;
	const struct tune_try *r = tune_tries(v->search, &n);
	fprintf(v->out, " %-10s %14s %14s %10s  %s\n", "why", "cycles", "energy, nJ", "objective", "settings");
	for (size_t i = 0; i < n; i++) {
		char *text = tune_text(v->pool->features, v->pool->count, &r[i].set);
		const double value = tune_value(v->search, &r[i]);
		fprintf(v->out, " %-10s %14.0f %14.0f ", tune_stage_name[r[i].stage], r[i].cycles, r[i].energy);
		if (value > 1000)
			fprintf(v->out, "%10s", "too slow");
		else
			fprintf(v->out, "%10.5f", value);
		fprintf(v->out, "  %s\n", text && *text ? text : "-");
		free(text);
	}
	fputc('\n', v->out);
}

void tune_print(const struct tune_view *v)
{
	FILE *out = v->out;
	char text[96];
	size_t n;
	const struct tune_try *p = tune_tries(v->search, &n), *c = tune_choice(v->search);
	char *settings = tune_text(v->pool->features, v->pool->count, &c->set);
	struct energy_bill bill;
	energy_bill(&bill, v->pool->model, v->pool->preset, &p->activity);
	fprintf(out, "\n Tuning of '%s'\n Core: %s (%s) at %g GHz%s, %s; %s\n", v->program,
		v->run->core.name, v->run->core.title, v->run->core.frequency_ghz,
		v->run->sets ? ", changed by --set" : "", cli_rings(v->run), objective_help(v->goal, text));
	fprintf(out, " Unchanged: %.0f instructions, %.0f cycles, %.0f nJ (%.0f%% leaked)\n%s",
		(double)p->activity.n[ENERGY_COUNT_instructions], p->cycles, p->energy,
		bill.total > 0 ? 100 * bill.fixed / bill.total : 0, v->pool->sample.measured ? "" : "\n");
	if (v->pool->sample.measured)
		fprintf(out, " Estimated from %zu windows; %.2f%% of the instructions were measured\n\n",
			windows_number(v->pool->seen->windows), 100 * windows_measured(v->pool->seen->windows) /
			(double)p->activity.n[ENERGY_COUNT_instructions]);
	singles(v);
	interactions(v);
	pruned(v);
	if (v->all)
		every(v);
	if (settings && *settings) {
		char a[32], b[32], e[32];
		fprintf(out, " Choice: %s\n   cycles %.0f (%s), energy %.0f nJ (%s), EDP %s\n", settings, c->cycles,
			signed_percent(change(p->cycles, c->cycles), a), c->energy,
			signed_percent(change(p->energy, c->energy), b),
			signed_percent(change(p->cycles * p->energy, c->cycles * c->energy), e));
		parts(v, p, c, settings);
	} else {
		fprintf(out, " Choice: the core unchanged; no change gains %g %%\n", 100 * v->goal->threshold);
	}
	print_ties(v, c);
	fprintf(out, " %zu configurations, of %.4g possible ones: %zu run", n, tune_space(v->search), v->pool->ran + 1);
	if (v->pool->known)
		fprintf(out, ", %zu known from an earlier search", v->pool->known);
	fputs("\n\n", out);
	free(settings);
}

/* ---- JSON ---- */

static void json_settings(const struct tune_view *v, const struct tune_set *s)
{
	char *text = tune_text(v->pool->features, v->pool->count, s);
	json_string(v->out, text ? text : "");
	free(text);
}

static void json_try(const struct tune_view *v, const struct tune_try *r)
{
	const double value = tune_value(v->search, r);
	fprintf(v->out, "\"cycles\": %.0f, \"energy_nj\": %.3f, \"objective\": ", r->cycles, r->energy);
	if (value > 1000)
		fputs("null}\n", v->out);
	else
		fprintf(v->out, "%.9f}\n", value);
}

void tune_print_json(const struct tune_view *v)
{
	size_t n;
	const struct tune_try *r = tune_tries(v->search, &n), *c = tune_choice(v->search);
	fputs("{\"tune\": ", v->out);
	json_string(v->out, v->program);
	fputs(", \"core\": ", v->out);
	json_string(v->out, v->run->core.name);
	fputs(", \"objective\": ", v->out);
	json_string(v->out, v->objective);
	fprintf(v->out, ", \"threshold\": %g, \"instructions\": %.0f, \"space\": %.9g}\n", v->goal->threshold,
		(double)r->activity.n[ENERGY_COUNT_instructions], tune_space(v->search));
	for (unsigned i = 0; i < v->pool->count; i++) {
		fputs("{\"feature\": ", v->out);
		json_string(v->out, v->pool->features[i].name);
		fprintf(v->out, ", \"limit\": %.9f, \"events\": ", v->pool->features[i].limit);
		json_string(v->out, v->why[i]);
		fprintf(v->out, ", \"run\": %s}\n", tune_pruned(v->search, i) && !v->exhaustive ? "false" : "true");
	}
	for (size_t i = 0; i < n; i++) {
		fputs("{\"tried\": ", v->out);
		json_settings(v, &r[i].set);
		fprintf(v->out, ", \"why\": \"%s\", ", tune_stage_name[r[i].stage]);
		json_try(v, &r[i]);
	}
	const struct tune_pair *p = tune_pairs(v->search, &n);
	for (size_t i = 0; i < n; i++) {
		fprintf(v->out, "{\"pair\": [\"%s\", \"%s\"], \"gain_first\": %.9f, \"gain_second\": %.9f",
			v->pool->features[p[i].a].name, v->pool->features[p[i].b].name, p[i].gain_a, p[i].gain_b);
		if (p[i].gain_both < TOO_SLOW)
			fputs(", \"gain_both\": null, \"interaction\": null}\n", v->out);
		else
			fprintf(v->out, ", \"gain_both\": %.9f, \"interaction\": %.9f}\n", p[i].gain_both,
				p[i].interaction);
	}
	fputs("{\"choice\": ", v->out);
	json_settings(v, &c->set);
	if (has_ties(v)) {
		const char *comma = "";
		r = tune_tries(v->search, &n);
		fputs(", \"ties\": [", v->out);
		for (size_t i = 0; i < n; i++)
			if (is_tie(v, &r[i], c)) {
				fputs(comma, v->out);
				json_settings(v, &r[i].set);
				comma = ", ";
			}
		fputs("]", v->out);
	}
	fprintf(v->out, ", \"ran\": %zu, \"known\": %zu, ", v->pool->ran + 1, v->pool->known);
	json_try(v, c);
}
