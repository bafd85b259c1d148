/* SPDX-License-Identifier: GPL-2.0-or-later
 * Prints what events cost: tables for people, CSV, JSON, plots for the terminal and as SVG.  It only formats: it
 * takes numbers.
 *
 * CSV, a line an event: event,count,analytic,duration,pushout,first quartile,median,third quartile,total time,
 * share by duration,share by pushout,share by total time,scale,total time of the worse machine,of the better one,
 * least and largest total time (cost_check.h).
 * With --by, two columns come first: the place and its share of the cycles.  Then a line a what-if (cost_whatif.h) that
 * was replayed: what-if,name,cycles saved; a line a group of the decomposition: cpi,group,cycles,CPI,share,busy; and a
 * line a pair: pair,first,second,saved by the first,by the second,by both,interaction,kind.  What a method does not
 * give is empty; null in JSON.
 * Of a sampled run an event's line has four columns more: half of the width of the 95 % intervals of count, duration,
 * pushout and total time, in per cent of these, empty if unknown; and there is a line a tie: tie,first,second,
 * difference of their shares by pushout in points,half of its interval (empty: unknown).
 */
#ifndef CLI_COST_PRINT_H
#define CLI_COST_PRINT_H
#include "analysis/cost/cost_check.h"
#include "analysis/cost/cost_whatif.h"
#include "util/terminal.h"
#include <stdio.h>

enum cost_form { COST_TABLE, COST_CSV, COST_JSON };
/* terminal: NULL: out is a file or a pipe */
struct cost_style {
	FILE *out;
	enum cost_form form;
	const char *separator;
	const char *program;	/* what ran */
	const struct terminal *terminal;
};

enum cost_method { COST_ANALYTIC, COST_DURATION, COST_PUSHOUT, COST_TOTAL, COST_METHODS };

struct cost_replay {		/* of a changed machine */
	const char *change;	/* its fields; NULL: none was run */
	double cycles, events, each;	/* each: cycles an event; NaN: none */
	const char *why;	/* why there is no `each` */
	struct cost_check check;	/* not of a place */
};
struct cost_row {
	const char *name, *help, *tag;
	uint64_t count;
	double each[COST_METHODS];	/* cycles an event; NaN: the method does not apply */
	const char *how[COST_METHODS];	/* the formula, or why the method does not apply; may be NULL */
	/* of a sampled run: half of the width of the 95 % interval; NaN: unknown, or there is none */
	double half_count, half[COST_METHODS];
	uint32_t quartile[3];
	uint64_t busy, pushed;		/* cycles of all events */
	struct cost_replay total, better, worse;	/* total: the one whose total time the row has */
	const struct spread *spread;
};
struct cost_view {
	/* the place of these rows: a function, an instruction; NULL: the whole program */
	const char *place;
	double place_cycles;
	double cycles, instructions;	/* of the whole program */
	const struct cost_row *row;
	size_t rows;
	bool sampled;
	bool short_form;	/* tables leave out rows of events that did not occur, but for their names */
};

/* Prints a field of CSV, in quotes where necessary. */
void cost_csv_text(FILE *out, const char *separator, const char *text);
extern const char *const cost_method_name[COST_METHODS];
/* "1,234,567"; returns text. */
const char *cost_grouped(double n, char text[48]);
void cost_print(const struct cost_style *s, const struct cost_view *v);
/* Of a sampled run: a table of the intervals; in CSV and JSON they stand in cost_print's lines. */
void cost_print_intervals(const struct cost_style *s, const struct cost_view *v);
/* Share of all cycles by a method; NaN: none. */
double cost_share_by(const struct cost_view *v, const struct cost_row *r, enum cost_method m);
/* What the methods of a row say together, and why they differ.  false: too little to speak of, or rows of a place. */
bool cost_words(const struct cost_view *v, const struct cost_row *r, char *text, size_t bytes);
/* The same for each row; prints nothing in CSV. */
void cost_print_words(const struct cost_style *s, const struct cost_view *v);
/* The replays of cost_whatif.h.  saved: cycles; NaN: it was not made, as too few cycles can be due to it. */
struct cost_gain { const struct cost_whatif *of; double saved; };
void cost_print_whatifs(
	const struct cost_style *s, const struct cost_view *v, const struct cost_gain *g, unsigned gains);
/* Prints each row's replays, and why methods do not apply. */
void cost_print_methods(const struct cost_style *s, const struct cost_view *v);
/* Cycles in which each group's events were under way; NaN: not known. */
struct cost_hidden { double busy[COST_GROUPS_COUNT]; };
void cost_print_groups(const struct cost_style *s, const struct cost_view *v, const uint64_t group[COST_GROUPS_COUNT],
	const struct cost_hidden *h);
void cost_print_histogram(const struct cost_style *s, const struct cost_row *r);
/* Two events whose features were changed, each alone and both together: the cycles of those runs. The
 * interaction is what both together save beyond the sum of what each saves (B. Fields et al., "Using
 * Interaction Costs for Microarchitectural Bottleneck Analysis", MICRO 2003). Positive: the costs are parallel,
 * each hides the other's. Negative: they are serial, and removing one removes part of the other's. */
struct cost_pair { const char *first, *second; double cycles_first, cycles_second, cycles_both; };
enum cost_interaction { COST_INDEPENDENT, COST_PARALLEL, COST_SERIAL };
enum cost_interaction cost_interaction(double cycles, const struct cost_pair *p, double *interaction);
void cost_print_pairs(const struct cost_style *s, const struct cost_view *v, const struct cost_pair *p, size_t count);
/* Bars of the four methods side by side, for the terminal; prints nothing in CSV and JSON, which have the numbers. */
void cost_print_bars(const struct cost_style *s, const struct cost_view *v);
/* The same as SVG, with a histogram of each row's pushouts. */
void cost_svg(FILE *out, const struct cost_view *v, const char *title);
#endif
