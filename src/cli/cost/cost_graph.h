/* SPDX-License-Identifier: GPL-2.0-or-later
 * softpmu cost --graph: costs from the dependence graph (analysis/graph/graph.h) beside those from replays, and
 * how pairs of them interact.
 *
 * CSV: graph,all,measured cycles,cycles of the graph.  Then a line a class: graph,class,cycles saved,share of
 * all cycles, saved by the replay,graph / replay,saved by the replay with only the event free,graph / that.  A
 * line a pair: graph-pair,first,second,saved by the first,by the second,by both,interaction,kind.  Of the
 * critical path: path,kind,cycles,share; path-instruction,address,cycles,kind of most of them.  Missing figures
 * are empty; null in JSON.
 */
#ifndef CLI_COST_GRAPH_H
#define CLI_COST_GRAPH_H
#include "analysis/graph/graph.h"
#include "cli/cost/cost_print.h"
#include "cli/cost/graph_places.h"

struct cost_graph;		/* of a program */
/* pairs: also the interaction of pairs of classes. places: needed for cost_graph_print_places. slack: also the
 * slack of instructions. */
int cost_graph_create(
	struct cost_graph **out, const struct core_config *c, bool pairs, bool places, bool slack, struct err *err);
void cost_graph_destroy(struct cost_graph *g);
/* *out belongs to g */
int  cost_graph_thread(struct cost_graph *g, struct graph **out, uint32_t pid, struct err *err);
/* What the replay for the event of that name saved; and the one in which only the event was free. NaN: there
 * was none. */
void cost_graph_replayed(struct cost_graph *g, const char *event, double cycles_saved, double only);
/* By function or instruction, and slack: graph_places.h. */
int cost_graph_print_places(const struct cost_style *s, const struct cost_graph *g, struct cost_places *names,
	bool instructions, size_t rows, double cycles, struct err *err);
/* names: of the instructions on the path. */
void cost_graph_print(const struct cost_style *s, const struct cost_graph *g, struct cost_places *names, double cycles);
/* Memory ran out: instructions are missing from the critical path and the places. Call after printing. */
bool cost_graph_incomplete(const struct cost_graph *g);
#endif
