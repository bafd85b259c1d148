/* SPDX-License-Identifier: GPL-2.0-or-later
 * softpmu cost --graph: the critical path, the classes' costs and slack by function or instruction, and slack of the whole run.
 *
 * CSV: slack,global or local,instructions,with none,below 5 cycles,below 50,mean,median; slack-histogram,global or local,from,to,instructions.
 * A place: graph-place,name,cycles on the path,share,kind of most of them; graph-place-class,name,class,cycles saved,share (classes that save something there);
 * graph-place-slack,name,global or local,instructions,with none,below 5,below 50,mean.
 *
 * A class costs at a place what the graph without it gains on the whole one while the place's slots retire: places sum up to the whole.
 */
#ifndef CLI_GRAPH_PLACES_H
#define CLI_GRAPH_PLACES_H
#include "analysis/graph/graph.h"
#include "cli/cost/cost_places.h"
#include "cli/cost/cost_print.h"

/* Of one thread's graph, which is ended. */
struct graph_thread { struct graph *graph; uint32_t pid; };
void graph_slack_print(const struct cost_style *s, const struct graph_thread *t, size_t threads);
/* The first `rows` by cycles on the path.  ERR_NOMEM. */
int  graph_places_print(const struct cost_style *s, const struct graph_thread *t, size_t threads, struct cost_places *names, bool instructions, size_t rows, double cycles,
                        struct err *err);
#endif
