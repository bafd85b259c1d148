/* SPDX-License-Identifier: GPL-2.0-or-later
 * Costs by the dependence graph; what is printed: cost_graph.h. */
#include "cli/cost/cost_graph.h"
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* PAIRED: pairs of the classes that replays know, too; SHOWN: instructions */
enum { PAIRED = GRAPH_STORE_BUFFER + 1, SINGLES = 1 + GRAPH_CLASSES_COUNT, SHOWN = 10 };

struct cost_graph {
	struct core_config c;
	uint32_t free[GRAPH_RUNS];
	struct { unsigned a, b; } pair[GRAPH_RUNS];
	unsigned runs, pairs;
	struct graph_thread *thread;
	bool places, slack;
	size_t threads;
	double replayed[GRAPH_CLASSES_COUNT], only[GRAPH_CLASSES_COUNT];
};
_Static_assert(SINGLES + PAIRED * (PAIRED - 1) / 2 <= GRAPH_RUNS, "all pairs at a time");

int cost_graph_create(
	struct cost_graph **out, const struct core_config *c, bool pairs, bool places, bool slack, struct err *err)
{
	int rc = graph_supports(c, err);
	if (rc)
		return rc;
	struct cost_graph *g = calloc(1, sizeof *g);
	if (!g)
		return err_set(err, ERR_NOMEM, "out of memory");
	g->c = *c;
	g->runs = 1;
	g->places = places;
	g->slack = slack;
	for (unsigned k = 0; k < GRAPH_CLASSES_COUNT; k++) {
		g->free[g->runs++] = 1u << k;
		g->replayed[k] = g->only[k] = (double)NAN;
	}
	for (unsigned a = 0; pairs && a < PAIRED; a++)
		for (unsigned b = a + 1; b < PAIRED; b++) {
			g->pair[g->pairs].a = a;
			g->pair[g->pairs++].b = b;
			g->free[g->runs++] = 1u << a | 1u << b;
		}
	*out = g;
	return 0;
}

void cost_graph_destroy(struct cost_graph *g)
{
	if (!g)
		return;
	for (size_t i = 0; i < g->threads; i++)
		graph_destroy(g->thread[i].graph);
	free(g->thread);
	free(g);
}

int cost_graph_thread(struct cost_graph *g, struct graph **out, uint32_t pid, struct err *err)
{
	struct graph_thread *more = realloc(g->thread, (g->threads + 1) * sizeof *more);
	if (!more)
		return err_set(err, ERR_NOMEM, "out of memory");
	g->thread = more;
	int rc = graph_create(out, &g->c, g->free, g->runs, err);
	if (!rc) {
		g->thread[g->threads++] = (struct graph_thread){ *out, pid };
		rc = graph_keep(*out, g->places, g->slack, err);
	}
	return rc;
}

void cost_graph_replayed(struct cost_graph *g, const char *event, double cycles_saved, double only)
{
	for (unsigned k = 0; k < GRAPH_CLASSES_COUNT; k++)
		if (!strcmp(graph_class_name[k], event)) {
			g->replayed[k] = cycles_saved;
			g->only[k] = only;
		}
}

/* By how many cycles graph `run` is shorter than the whole one, over all threads. */
static double saved(const struct cost_graph *g, unsigned run)
{
	double sum = 0;
	for (size_t i = 0; i < g->threads; i++)
		sum += (double)graph_cycles(g->thread[i].graph, 0) - (double)graph_cycles(g->thread[i].graph, run);
	return sum;
}

/* Prints what the critical path consists of, and its instructions. */
static void print_path(const struct cost_style *s, const struct cost_graph *g, struct cost_places *names, double cycles)
{
	FILE *out = s->out;
	const char *sep = s->separator;
	double kind[PATH_KINDS_COUNT] = { 0 }, all = 0;
	for (size_t i = 0; i < g->threads; i++)
		for (unsigned k = 0; k < PATH_KINDS_COUNT; k++)
			kind[k] += (double)path_cycles(graph_path(g->thread[i].graph), (enum path_kind)k);
	for (unsigned k = 0; k < PATH_KINDS_COUNT; k++)
		all += kind[k];
	if (s->form == COST_TABLE)
		fprintf(out, "\n Critical path, %.1f%% of the cycles followed:\n", 100 * all / cycles);
	for (unsigned k = 0; k < PATH_KINDS_COUNT; k++) {
		if (s->form == COST_TABLE && kind[k] > 0)
			fprintf(out, " %-14s %12.0f %6.2f%%   %s\n", path_kind_name[k], kind[k], 100 * kind[k] / cycles,
				path_kind_help[k]);
		else if (s->form == COST_CSV)
			fprintf(out, "path%s%s%s%.0f%s%.6f\n", sep, path_kind_name[k], sep, kind[k], sep,
				kind[k] / cycles);
		else if (s->form == COST_JSON)
			fprintf(out, "{\"path\": \"%s\", \"cycles\": %.0f, \"share\": %.6f}\n", path_kind_name[k],
				kind[k], kind[k] / cycles);
	}
	for (size_t i = 0; i < g->threads; i++) {
		size_t n;
		const struct path_site *site = path_sites(graph_path(g->thread[i].graph), &n);
		if (s->form == COST_TABLE && n)
			fprintf(out, "   instructions with most of it%s:\n", g->threads > 1 ? ", of a thread" : "");
		for (size_t k = 0; k < n && k < SHOWN; k++) {
			unsigned most = 0;
			for (unsigned e = 1; e < PATH_KINDS_COUNT; e++)
				most = site[k].kind[e] > site[k].kind[most] ? e : most;
			char *name = s->form == COST_TABLE
				? cost_places_name(names, g->thread[i].pid, site[k].ip, true) : NULL;
			if (s->form == COST_TABLE)
				fprintf(out, "   %10" PRIu64 " %6.2f%%   %3.0f%% %-12s %s\n", site[k].cycles,
					100 * (double)site[k].cycles / cycles,
					100 * (double)site[k].kind[most] / (double)site[k].cycles,
					path_kind_name[most], name ? name : "?");
			else if (s->form == COST_CSV)
				fprintf(out, "path-instruction%s0x%" PRIx64 "%s%" PRIu64 "%s%s\n", sep, site[k].ip, sep,
					site[k].cycles, sep, path_kind_name[most]);
			else
				fprintf(out,
					"{\"path-instruction\": \"0x%" PRIx64 "\", \"cycles\": %" PRIu64
					", \"most\": \"%s\"}\n",
					site[k].ip, site[k].cycles, path_kind_name[most]);
			free(name);
		}
	}
}

static void print_ratio(FILE *out, double by, double replay, int width)
{
	if (isnan(replay) || replay == 0)
		fprintf(out, " %*s", width, "");
	else
		fprintf(out, " %*.3f", width, by / replay);
}

static void csv_replayed(FILE *out, const char *sep, double by, double replay)
{
	fputs(sep, out);
	if (!isnan(replay))
		fprintf(out, "%.0f", replay);
	fputs(sep, out);
	if (!isnan(replay) && replay != 0)
		fprintf(out, "%.4f", by / replay);
}

static void json_replayed(FILE *out, const char *key, double replay)
{
	if (isnan(replay))
		fprintf(out, ", \"%s\": null", key);
	else
		fprintf(out, ", \"%s\": %.0f", key, replay);
}

void cost_graph_print(const struct cost_style *s, const struct cost_graph *g, struct cost_places *names, double cycles)
{
	FILE *out = s->out;
	const char *sep = s->separator;
	double whole = 0, measured = 0;
	for (size_t i = 0; i < g->threads; i++) {
		whole += (double)graph_cycles(g->thread[i].graph, 0);
		measured += (double)graph_measured(g->thread[i].graph);
	}
	if (s->form == COST_TABLE)
		fprintf(out,
			"\n Dependence graph, no wrong paths: its longest path is %+.2f%% off the run's %.0f cycles; "
			"without the edges of a class it is shorter by\n" "                     cycles   share |     "
			"replay   share | graph/replay |       only | graph/only\n",
			100 * (whole - measured) / cycles, cycles);
	else if (s->form == COST_CSV)
		fprintf(out, "graph%sall%s%.0f%s%.0f\n", sep, sep, cycles, sep, cycles + whole - measured);
	else
		fprintf(out, "{\"graph\": \"all\", \"cycles\": %.0f, \"path\": %.0f}\n", cycles,
			cycles + whole - measured);
	for (unsigned k = 0; k < GRAPH_CLASSES_COUNT; k++) {
		const double by = saved(g, 1 + k), replay = g->replayed[k], only = g->only[k];
		if (s->form == COST_TABLE) {
			fprintf(out, " %-14s %12.0f %6.2f%% |", graph_class_name[k], by, 100 * by / cycles);
			if (isnan(replay))
				fprintf(out, " %10s %7s |", "-", "");
			else
				fprintf(out, " %10.0f %6.2f%% |", replay, 100 * replay / cycles);
			print_ratio(out, by, replay, 12);
			if (isnan(only))
				fprintf(out, " | %10s |", "-");
			else
				fprintf(out, " | %10.0f |", only);
			print_ratio(out, by, only, 10);
			fprintf(out, "  %s\n", graph_class_help[k]);
		} else if (s->form == COST_CSV) {
			fprintf(out, "graph%s%s%s%.0f%s%.6f", sep, graph_class_name[k], sep, by, sep, by / cycles);
			csv_replayed(out, sep, by, replay);
			csv_replayed(out, sep, by, only);
			fputc('\n', out);
		} else {
			fprintf(out, "{\"graph\": \"%s\", \"saved\": %.0f, \"share\": %.6f", graph_class_name[k], by,
				by / cycles);
			json_replayed(out, "replay", replay);
			json_replayed(out, "only", only);
			fputs("}\n", out);
		}
	}
	print_path(s, g, names, cycles);
	if (g->slack)
		graph_slack_print(s, g->thread, g->threads);
	static const char *const kind[] = {
		[COST_INDEPENDENT] = "independent", [COST_PARALLEL] = "parallel", [COST_SERIAL] = "serial"
	};
	bool any = false;
	for (unsigned i = 0; i < g->pairs; i++) {
		const double a = saved(g, 1 + g->pair[i].a), b = saved(g, 1 + g->pair[i].b),
			     both = saved(g, SINGLES + i);
		const struct cost_pair p = { graph_class_name[g->pair[i].a], graph_class_name[g->pair[i].b], cycles - a,
			cycles - b, cycles - both };
		double more;
		const enum cost_interaction is = cost_interaction(cycles, &p, &more);
		if (fabs(a) < 0.005 * cycles || fabs(b) < 0.005 * cycles)	/* too small to interact */
			continue;
		if (s->form == COST_TABLE) {
			if (!any)
				fputs("\n Pairs, by the graph: cycles saved without the first, the second, both; what "
				      "both save beyond the sum\n",
					out);
			fprintf(out, " %-14s %-14s %12.0f %12.0f %12.0f %+12.0f  %s\n", p.first, p.second, a, b, both,
				more, kind[is]);
		} else if (s->form == COST_CSV) {
			fprintf(out, "graph-pair%s%s%s%s%s%.0f%s%.0f%s%.0f%s%.0f%s%s\n", sep, p.first, sep, p.second,
				sep, a, sep, b, sep, both, sep, more, sep, kind[is]);
		} else {
			fprintf(out,
				"{\"graph-pair\": [\"%s\", \"%s\"], \"saved\": [%.0f, %.0f], \"both\": %.0f, "
				"\"interaction\": %.0f, \"kind\": \"%s\"}\n",
				p.first, p.second, a, b, both, more, kind[is]);
		}
		any = true;
	}
}

bool cost_graph_incomplete(const struct cost_graph *g)
{
	bool failed = false;
	for (size_t i = 0; i < g->threads; i++)
		failed |= path_failed(graph_path(g->thread[i].graph));
	return failed;
}

int cost_graph_print_places(const struct cost_style *s, const struct cost_graph *g, struct cost_places *names,
	bool instructions, size_t rows, double cycles, struct err *err)
{
	return graph_places_print(s, g->thread, g->threads, names, instructions, rows, cycles, err);
}
