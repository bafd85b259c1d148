/* SPDX-License-Identifier: GPL-2.0-or-later
 * What `softpmu cost` knows while it runs: its options, the events that it looks at, and their runs.  Private to its
 * files: cmd_cost.c (options, and which replays are made), cost_measured.c (the runs), cost_results.c and cost_ties.c
 * (the output). */
#ifndef CLI_COST_STATE_H
#define CLI_COST_STATE_H
#include "cli/cli.h"
#include "cli/common/cli_sample.h"
#include "util/terminal_output.h"
#include "cli/cost/cost_graph.h"
#include "cli/cost/cost_places.h"
#include "cli/cost/cost_print.h"
#include "session/events/pushout_events.h"

enum { CHANGE_BYTES = 256 };
struct look {			/* an event, or the uops of a --tag */
	const struct cost_event *event;	/* NULL: --tag */
	const char *name, *tag, *why;	/* why: this core has no such event */
	unsigned measure;
	const char *fields;	/* --change */
	struct replayed {
		struct core_config core;
		enum cost_change what;
		char text[CHANGE_BYTES];
		const char *why;
		struct cost_run *run;
		bool wished;
		struct replayed *same;	/* the replay of another event, whose machine is changed in the same way */
	} replay[COST_TRIES];
};
enum { LOOKS = COST_MEASURES };

struct cost {
	struct cli_run run;
	struct cost_style style;
	enum terminal_when colour;
	const char *output, *svg;
	enum pushout_from from;
	enum pushout_point point;
	enum { BY_NOTHING, BY_FUNCTION, BY_INSTRUCTION } by;
	size_t rows;
	bool list, worse, better, no_total, histogram, pairs, by_graph, slack, bars;
	struct cost_graph *graph;
	struct cost_pair *pair;
	size_t pairs_count;
	double replay_from;	/* percent */
	struct look look[LOOKS];
	unsigned looks, all, measures;	/* all: with those behind the looks that only checks look at */
	struct cost_measure measure[LOOKS];
	struct cost_run *base;
	struct replayed whatif[COST_WHATIFS];
	bool chosen;		/* the user has chosen events */
	struct cost_places *places;
	struct cli_sample sample;
};

/* cost_measured.c */
/* Finds the events' tags and measures, and makes their changed machines.  0, or -1 after one printed line. */
int cost_prepare(struct cost *c);
/* Changes a machine for one event; text: the fields.  *why: if there is no such change. */
enum cost_change cost_apply(const struct look *l, enum cost_try how, struct core_config *core, char text[CHANGE_BYTES],
	const char **why, struct err *err);
/* Makes one run, and creates *out with its figures.  0, or an error after one printed line; what was measured is
 * kept. */
int cost_measure_one(struct cost *c, struct cost_run **out, const struct core_config *core, bool detail,
	struct run_result *res);
struct wish { struct cost_run **out; const struct core_config *core; };
/* Makes the replays that were wished for.  0, or an error after one printed line. */
int cost_grant(struct cost *c, const struct wish *w, unsigned n);

/* cost_results.c */
/* What the replay says of the event, and whether that can be true. */
void cost_fill_replay(struct cost_replay *out, const struct cost *c, const struct look *l, const struct replayed *p);
/* The replay whose total time the table shows: that in which only the event is free, else the better machine, else the
 * one without the events.  out->each: NaN, too, if the check withholds it. */
const struct replayed *cost_chosen(const struct cost *c, const struct look *l, struct cost_replay *out);
/* Prints everything.  0, or an error after one printed line. */
int cost_print_all(struct cost *c);
/* cost_ties.c */
/* Prints which rows' pushouts are not told apart by the windows of a sampled run. */
void cost_print_ties(const struct cost *c, const struct cost_row *row);
#endif
