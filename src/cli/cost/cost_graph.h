/* SPDX-License-Identifier: GPL-2.0-or-later
 * softpmu cost --graph: costs from the dependence graph (analysis/graph/graph.h) beside those of replays, and how pairs of them interact.
 *
 * CSV: graph,all,measured cycles,cycles of the graph; then a line a class: graph,class,cycles saved,share of all cycles,saved by the replay,graph / replay,saved by that with the event alone free,graph / it;
 * a line a pair: graph-pair,first,second,saved by the first,by the second,by both,interaction,kind.  Of the critical path: path,kind,cycles,share; path-instruction,address,cycles,kind
 * of most of them.  What there is not is empty, null in JSON.
 */
#ifndef CLI_COST_GRAPH_H
#define CLI_COST_GRAPH_H
#include "analysis/graph/graph.h"
#include "cli/cost/cost_print.h"
#include "cli/cost/graph_places.h"

struct cost_graph;		/* of a program */
/* pairs: of the classes that cost something, their interaction.  places: for cost_graph_print_places.  slack: of instructions, too. */
int  cost_graph_create(struct cost_graph **out, const struct core_config *c, bool pairs, bool places, bool slack, struct err *err);
void cost_graph_destroy(struct cost_graph *g);
int  cost_graph_thread(struct cost_graph *g, struct graph **out, uint32_t pid, struct err *err);	/* belongs to it */
/* What the replay of the event of that name saved; that with nothing else changed, NaN: there was none. */
void cost_graph_replayed(struct cost_graph *g, const char *event, double cycles_saved, double only);
/* By function or instruction, and slack: graph_places.h. */
int  cost_graph_print_places(const struct cost_style *s, const struct cost_graph *g, struct cost_places *names, bool instructions, size_t rows, double cycles, struct err *err);
void cost_graph_print(const struct cost_style *s, const struct cost_graph *g, double cycles);
#endif
