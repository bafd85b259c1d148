/* SPDX-License-Identifier: GPL-2.0-or-later
 * softpmu cost --graph: the critical path, the classes' costs and slack by function or instruction, and the
 * slack of the whole run.
 *
 * CSV: slack,global or local,instructions,with none,below 5 cycles,below 50,mean,median
 *      slack-histogram,global or local,from,to,instructions
 * For each place:
 *      graph-place,name,cycles on the path,share,kind of most of them
 *      graph-place-class,name,class,cycles saved,share (only classes that save something there)
 *      graph-place-slack,name,global or local,instructions,with none,below 5,below 50,mean
 *
 * The cost of a class at a place is what the graph without the class gains on the whole graph while the place's
 * slots retire; the places add up to the whole.
 */
#ifndef CLI_GRAPH_PLACES_H
#define CLI_GRAPH_PLACES_H
#include "analysis/graph/graph.h"
#include "cli/cost/cost_places.h"
#include "cli/cost/cost_print.h"

/* The graph of one thread; printing ends it. */
struct graph_thread { struct graph *graph; uint32_t pid; };
void graph_slack_print(const struct cost_style *s, const struct graph_thread *t, size_t threads);
/* Prints the first `rows` places by cycles on the path. ERR_NOMEM. */
int graph_places_print(const struct cost_style *s, const struct graph_thread *t, size_t threads,
	struct cost_places *names, bool instructions, size_t rows, double cycles, struct err *err);
#endif
