/* SPDX-License-Identifier: GPL-2.0-or-later
 * softpmu cost: says what events cost a program, in four ways side by side (analysis/cost/cost.h), and what its
 * cycles are made of.
 *
 * The program runs once, and its stream is kept.  For each event the stream is replayed on a machine with one
 * feature changed.  The trace is the same, so only the machine differs. */
#include "cli/cli.h"
#include "cli/cost/cost_graph.h"
#include "cli/cost/cost_places.h"
#include "cli/cost/cost_print.h"
#include "session/events/pushout_events.h"
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

extern const struct cli_command cmd_cost;

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
		bool shared;
	} replay[COST_TRIES];
};
enum { LOOKS = COST_MEASURES };

struct cost {
	struct cli_run run;
	struct cost_style style;
	const char *output, *svg;
	enum pushout_from from;
	enum pushout_point point;
	enum { BY_NOTHING, BY_FUNCTION, BY_INSTRUCTION } by;
	size_t rows;
	bool list, worse, only, no_total, histogram, pairs, by_graph, slack, bars;
	struct cost_graph *graph;
	struct cost_pair *pair;
	size_t pairs_count;
	double replay_from;	/* percent */
	struct look look[LOOKS];
	unsigned looks, measures;
	struct cost_measure measure[LOOKS];
	struct cost_run *base, *now;	/* now: the run that the sink fills */
	struct cost_places *places;
};

/* ---- options ---------------------------------------------------------------------------------------------- */

static void list(void)
{
	char name[64];
	const char *text;
	puts("Events (* marks those that are shown without -e and --tag):");
	for (unsigned i = 0; i < cost_events_count; i++)
		printf("  %c %-13s %s\n    %-13s tag: %s\n", cost_events[i].by_default ? '*' : ' ', cost_events[i].name,
			cost_events[i].help, "", cost_events[i].tag);
	puts("\nNames for --tag:");
	for (unsigned i = 0; tag_name(i, name, &text); i++)
		printf("    %-18s %s\n", name, *text ? text : "(several of those below)");
}

static int add_look(struct cost *c, const struct look *l, struct err *err)
{
	if (c->looks == LOOKS)
		return err_set(err, ERR_INPUT, "more than %d events", LOOKS);
	c->look[c->looks++] = *l;
	return 0;
}

static int add_event(struct cost *c, const struct cost_event *e, struct err *err)
{
	for (unsigned i = 0; i < c->looks; i++)
		if (c->look[i].event == e)
			return 0;
	return add_look(c, &(struct look){ .event = e, .name = e->name }, err);
}

static int no_event(const char *name, struct err *err)
{
	char all[512] = "";
	for (unsigned i = 0; i < cost_events_count; i++)
		snprintf(all + strlen(all), sizeof all - strlen(all), "%s%s", i ? ", " : "", cost_events[i].name);
	return err_set(err, ERR_INPUT, "option -e: '%s' is not one of %s; --tag looks at others", name, all);
}

static int add_events(void *target, const struct option *option, const char *names, struct err *err)
{
	struct cost *c = target;
	int code = 0;
	(void)option;
	for (const char *word = names; !code; word++) {
		char name[64];
		size_t n = strcspn(word, ",");
		snprintf(name, sizeof name, "%.*s", (int)(n < 60 ? n : 60), word);
		const struct cost_event *e = cost_event_find(name);
		if (!strcmp(name, "all"))
			for (unsigned i = 0; i < cost_events_count && !code; i++)
				code = add_event(c, &cost_events[i], err);
		else
			code = e ? add_event(c, e, err) : no_event(name, err);
		word += n;
		if (!*word)
			break;
	}
	return code;
}

static int add_tag(void *target, const struct option *option, const char *value, struct err *err)
{
	(void)option;
	return add_look(target, &(struct look){ .name = value, .tag = value }, err);
}

static int set_change(void *target, const struct option *option, const char *value, struct err *err)
{
	struct cost *c = target;
	(void)option;
	if (!c->looks || c->look[c->looks - 1].event)
		return err_set(err, ERR_INPUT,
			"option --change: '%s' must come after the --tag whose replay it changes", value);
	c->look[c->looks - 1].fields = value;
	return 0;
}

static int set_form(void *target, const struct option *option, const char *value, struct err *err)
{
	struct cost *c = target;
	c->style.form = option->brief == 'j' ? COST_JSON : COST_CSV;
	if (value && !*value)
		return err_set(err, ERR_INPUT, "option -x: the separator is empty");
	c->style.separator = value ? value : c->style.separator;
	return 0;
}

/* Wrong paths are not in the graph; so that its figures can be compared, the replays have none either. */
static int set_graph(void *target, const struct option *option, const char *value, struct err *err)
{
	struct cost *c = target;
	(void)option, (void)value, (void)err;
	c->by_graph = c->run.no_wrong_path = true;
	return 0;
}

static const struct option options[] = {
	OPT_GROUP("Which events"),
	OPT_CALL('e', "event", "NAME,...", add_events, "Look at these events; all: every one. May be repeated. "
		"Default: those marked * in --list."),
	OPT_CALL(0, "tag", "EXPRESSION", add_tag, "Look at uops by what happened to them: names joined by ! & | ( ), "
		"as in 'l2_miss & !l3_miss'. May be repeated."),
	OPT_CALL(0, "change", "FIELD=VALUE,...", set_change, "Change these fields of the core in the replay for the "
		"--tag that stands before this option."),
	OPT_FLAG(0, "list", struct cost, list, "List the events and the names for --tag, and stop."),
	OPT_GROUP("Pushouts"),
	OPT_CHOICE(0, "from", "due|event", struct cost, from, PUSHOUT_FROM_DUE, "Measure from when the uop could have "
		"retired (due, the default), or from when the event happened."),
	OPT_CHOICE(0, "at", "retire|alloc|decode|memory|visible|fetch", struct cost, point, PUSHOUT_RETIRE, "Measure "
		"at retirement (the default), at allocation, at delivery by the front end (decode), at the entry of "
		"memory accesses into the memory-order buffer (memory), at the write of stores to L1D (visible), or "
		"at fetch, ahead of the decoders."),
	OPT_GROUP("Replays"),
	OPT_FLAG(0, "no-total", struct cost, no_total, "Make no replays; the column total time stays empty."),
	OPT_PERCENT(0, "replay-from", "PERCENT", struct cost, replay_from, "Replay for an event only if its pushout "
		"or its duration is at least PERCENT of the cycles. Default: 1; with -e or --tag: 0."),
	OPT_FLAG(0, "worse", struct cost, worse, "Make one more replay an event, with the feature made worse: a "
		"smaller cache, a last-target predictor."),
	OPT_FLAG(0, "only", struct cost, only, "Make one more replay an event, in which the event still happens but "
		"takes no time; nothing else is changed."),
	OPT_FLAG(0, "pairs", struct cost, pairs, "Also replay with the features of two events changed at once, to "
		"see whether their costs overlap or add up."),
	OPT_GROUP("The dependence graph"),
	OPT_CALL(0, "graph", NULL, set_graph, "Print the costs that the dependence graph of the run gives beside "
		"those of the replays; with --pairs, also the interaction of two classes of events. Implies "
		"--no-wrong-path."),
	OPT_FLAG(0, "slack", struct cost, slack, "With --graph, print by how many cycles instructions could complete "
		"later without making the run longer."),
	OPT_GROUP("What is printed"),
	OPT_CHOICE(0, "by", "function|instruction", struct cost, by, BY_FUNCTION, "Also print the costs of each "
		"function or instruction, largest pushout first; with --graph its part of the critical path, too, "
		"largest part first."),
	OPT_WHOLE(0, "rows", "N", struct cost, rows, 0, 1e9, "Print at most N of them; 0: all. Default: 10."),
	OPT_FLAG(0, "bars", struct cost, bars, "Print the four methods of each event as bars, side by side."),
	OPT_FLAG(0, "histogram", struct cost, histogram, "Print the pushouts of each event as a histogram."),
	OPT_TEXT(0, "svg", "FILE", struct cost, svg, "Draw the four methods and the histograms into FILE."),
	OPT_CALL('x', "field-separator", "SEPARATOR", set_form, "Print fields; softpmu(1) has the columns."),
	OPT_CALL('j', "json", NULL, set_form, "Print JSON objects, one a line."),
	OPT_TEXT('o', "output", "FILE", struct cost, output, "Print to FILE instead of standard error."),
	OPT_REFUSED(0, "sample", "a cost is a sum over all uops of the run; in a sampled run, the uops around a gap "
		"would be charged with the time of the gap", "--start and --stop measure a part of the run"),
	OPT_END
};

/* 1: goes on; 0: done; -1: bad, one line was printed. */
static int parse(struct cost *c, int argc, char **argv, int *next)
{
	struct err err = { 0 };
	const int go = cli_options(&cmd_cost, c, &c->run, argc, argv, next);
	if (go <= 0)
		return go;
	if (c->list) {
		list();
		return 0;
	}
	if (c->by_graph && c->run.run.smt) {
		cli_error("--graph and --smt exclude each other: "
			"the graph of hardware threads that share a core is not known");
		return -1;
	}
	if (c->slack && !c->by_graph) {
		cli_error("--slack needs --graph: slack is in the dependence graph");
		return -1;
	}
	c->rows = c->rows ? c->rows : SIZE_MAX;
	const bool chosen = c->looks;
	if (c->replay_from < 0)
		c->replay_from = chosen ? 0 : 1;
	for (unsigned k = 0; !chosen && k < cost_events_count; k++)
		if (cost_events[k].by_default && add_event(c, &cost_events[k], &err)) {
			cli_error("%s", err.text);
			return -1;
		}
	return 1;
}

/* ---- what is measured ------------------------------------------------------------------------------------- */

/* Sets the fields FIELD=VALUE,... of a core; text: the same text, to be printed. */
static int set_fields(struct core_config *core, const char *fields, char text[CHANGE_BYTES], struct err *err)
{
	char *save = NULL;
	snprintf(text, CHANGE_BYTES, "%s", fields);
	for (char *field = strtok_r(text, ",", &save); field; field = strtok_r(NULL, ",", &save))
		if (core_config_set(core, field, err))
			return err->code;
	snprintf(text, CHANGE_BYTES, "%s", fields);
	return 0;
}

/* Changes a machine for one event; text: the fields.  *why: if there is no such change. */
static enum cost_change apply(const struct look *l, enum cost_try how, struct core_config *core,
	char text[CHANGE_BYTES], const char **why, struct err *err)
{
	enum cost_change what = COST_NO_CHANGE;
	*text = 0;
	if (how == COST_ONLY) {
		*why = "no field of the core makes only this event free";
		const char *fields = !l->event                  ? NULL
			: core->l3_size || !l->event->only_last ? l->event->only
								: l->event->only_last;
		what = fields && !set_fields(core, fields, text, err) ? COST_FREES : COST_NO_CHANGE;
	} else if (l->event) {
		what = l->event->change(core, how, text, CHANGE_BYTES, why);
	} else if (!l->fields || how) {
		*why = how ? "--change gives one machine only" : "no --change was given for a replay";
	} else {
		if (set_fields(core, l->fields, text, err))
			return COST_NO_CHANGE;
		what = COST_REMOVES;
	}
	if (what && core_config_check(core, l->event ? NULL : err)) {
		*why = "this machine cannot be changed so";
		return COST_NO_CHANGE;
	}
	return what;
}

/* Makes the changed machine of one event. */
static int prepare_change(struct cost *c, struct look *l, enum cost_try how)
{
	struct replayed *p = &l->replay[how];
	struct err err = { 0 };
	if (l->fields && strlen(l->fields) >= CHANGE_BYTES) {
		cli_error("--change of %s: more than %d characters", l->tag, CHANGE_BYTES - 1);
		return -1;
	}
	p->core = c->run.core;
	p->what = apply(l, how, &p->core, p->text, &p->why, &err);
	if (err.code)
		cli_error("--change %s: %s", l->fields, err.text);
	return err.code ? -1 : 0;
}

static int prepare(struct cost *c)
{
	struct err err = { 0 };
	for (unsigned i = 0; i < c->looks; i++) {
		struct look *l = &c->look[i];
		if (l->event && !(l->tag = cost_event_tag(l->event, &c->run.core, &l->why)))
			continue;
		struct cost_measure *m = &c->measure[l->measure = c->measures];
		if (tag_parse(&m->tag, l->tag, &err)) {
			cli_error("%s", err.text);
			return -1;
		}
		m->from = c->from;
		m->point = c->point;
		if (l->event) {
			m->busy[0] = l->event->busy[0];
			m->busy[1] = l->event->busy[1];
			m->less = c->run.core.l3_size || strcmp(l->name, "l2_miss")
				? l->event->less
				: 0; /* without an L3, every miss of L2 goes to memory */
		}
		c->measures++;
		for (unsigned how = 0; how < COST_TRIES; how++)
			if (prepare_change(c, l, (enum cost_try)how))
				return -1;
	}
	return 0;
}

struct measured { struct cost_thread *cost; struct graph *graph; /* NULL: without */ };

static int on_start(void *context, struct run_thread *t, struct err *err)
{
	struct cost *c = context;
	struct measured *m = calloc(1, sizeof *m);
	int rc = m ? cost_thread_start(c->now, &m->cost, t->pid, err) : err_set(err, ERR_NOMEM, "out of memory");
	if (!rc && c->graph && c->now == c->base)
		rc = cost_graph_thread(c->graph, &m->graph, t->pid, err);
	if (rc)
		free(m);
	t->sink_private = rc ? NULL : m;
	return rc;
}

static void on_end(void *context, struct run_thread *t)
{
	(void)context;
	if (t->sink_private)
		cost_thread_end(((struct measured *)t->sink_private)->cost);
	free(t->sink_private);
	t->sink_private = NULL;
}

static void on_batch(void *context, struct run_thread *t, const struct spmu_batch *b)
{
	(void)context;
	const struct measured *m = t->sink_private;
	if (m)
		cost_thread_batch(m->cost, b);
	if (m && m->graph)
		graph_batch(m->graph, b);
}

static void on_side(void *context, struct run_thread *t, uint32_t pid, const uint64_t *record, uint64_t cycle)
{
	struct cost *c = context;
	(void)t, (void)cycle;
	if (c->now == c->base)
		cost_places_side(c->places, pid, record);
}

/* Makes one run, and creates *out with its figures.  0, or an error after one printed line; what was measured is
 * kept. */
static int measure(struct cost *c, struct cost_run **out, const struct core_config *core, bool detail,
	struct run_result *res)
{
	const struct run_sink sink = {
		.context = c, .thread_start = on_start, .thread_end = on_end, .batch = on_batch, .side = on_side
	};
	struct err err = { 0 };
	const struct pushout_widths widths = session_pushout_widths(core);
	int rc = cost_run_create(out, &widths, c->measure, c->measures, detail, &err);
	if (!rc) {
		struct core_wanted wanted = cost_run_wanted(*out);
		c->now = *out;
		wanted.detail = c->graph && c->now == c->base;
		c->run.run.wanted = &wanted;
		c->run.run.core = core;
		struct run_sink own = sink;
		rc = cli_run_program(&c->run, &own, res, &err);
		c->run.run.wanted = NULL;
		c->run.run.core = &c->run.core;
		struct err memory = { 0 };
		if (cost_run_finish(*out, &memory) && !rc) {
			rc = memory.code;
			err = memory;
		}
	}
	if (rc)
		cli_error("%s", err.text);
	return rc;
}

/* Replays the stream for one event.  If another event changed the machine in the same way, its replay is shared. */
static int replay(struct cost *c, unsigned at, struct replayed *p)
{
	struct run_result res = { 0 };
	if (!p->what)
		return 0;
	for (unsigned i = 0; i <= at; i++)
		for (unsigned how = 0; how < COST_TRIES; how++) {
			struct replayed *other = &c->look[i].replay[how];
			if (other != p && other->run && !strcmp(other->text, p->text)) {
				p->run = other->run;
				p->shared = true;
				return 0;
			}
		}
	return measure(c, &p->run, &p->core, c->by != BY_NOTHING, &res);
}

/* ---- what is printed -------------------------------------------------------------------------------------- */

static void fill_replay(struct cost_replay *out, const struct cost *c, const struct look *l, const struct replayed *p)
{
	out->each = (double)NAN;
	if (!p->run)
		return;
	out->change = p->text;
	out->cycles = (double)cost_run_cycles(p->run);
	out->events = (double)cost_run_result(p->run, l->measure)->count;
	out->each = cost_marginal(p->what, (double)cost_run_cycles(c->base),
		(double)cost_run_result(c->base, l->measure)->count, out->cycles, out->events, &out->why);
}

/* The replay whose total time the table shows: the better machine, or the one without the events if that gives none. */
static const struct replayed *chosen(const struct cost *c, const struct look *l, struct cost_replay *out)
{
	const struct replayed *p = &l->replay[COST_BETTER];
	fill_replay(out, c, l, p);
	if (isnan(out->each) && l->replay[COST_WITHOUT].run) {
		p = &l->replay[COST_WITHOUT];
		fill_replay(out, c, l, p);
	}
	return p;
}

static void fill_pushout(struct cost_row *r, const struct spread *s)
{
	r->spread = s;
	r->pushed = s->sum;
	r->each[COST_PUSHOUT] = s->count ? (double)s->sum / (double)s->count : (double)NAN;
	for (unsigned q = 0; q < 3; q++)
		r->quartile[q] = spread_quantile(s, 0.25 * (q + 1));
	r->how[COST_PUSHOUT] = "no retired uop had the event";
}

static void fill(struct cost_row *r, const struct cost *c, const struct look *l)
{
	*r = (struct cost_row){ .name = l->name, .tag = l->tag ? l->tag : "", .help = l->event ? l->event->help : "" };
	for (unsigned m = 0; m < COST_METHODS; m++) {
		r->each[m] = (double)NAN;
		r->how[m] = l->why;
	}
	r->better.each = r->worse.each = r->only.each = (double)NAN;
	if (l->why)
		return;
	const struct cost_result *result = cost_run_result(c->base, l->measure);
	r->count = result->count;
	fill_pushout(r, &result->pushout);
	if (l->event) {
		r->each[COST_ANALYTIC] = l->event->analytic(&c->run.core, &r->how[COST_ANALYTIC]);
		r->busy = result->busy;
		r->how[COST_DURATION] = l->event->busy_how;
		if (l->event->busy[0] && r->count && r->busy)
			r->each[COST_DURATION] = (double)r->busy / (double)r->count;
		else if (l->event->busy[0])
			r->how[COST_DURATION] =
				r->count ? "the core records no duration for it" : "the event did not occur";
	} else {
		r->how[COST_ANALYTIC] = "only events have a formula";
		r->how[COST_DURATION] = "only events have a duration";
	}
	const struct replayed *p = chosen(c, l, &r->better);
	fill_replay(&r->worse, c, l, &l->replay[COST_WORSE]);
	fill_replay(&r->only, c, l, &l->replay[COST_ONLY]);
	r->each[COST_TOTAL] = r->better.each;
	r->how[COST_TOTAL] = p->run ? r->better.why
		: p->why            ? p->why
		: c->no_total       ? "--no-total"
				    : "it was not replayed";
}

/* For each group of the decomposition, the event whose duration says how long such accesses were under way. */
static const char *const under_way[COST_GROUPS_COUNT] = { [COST_L2] = "l1_miss",
	[COST_L3] = "l2_miss",
	[COST_MEMORY] = "l3_miss",
	[COST_TLB] = "page_walk",
	[COST_MISPREDICT] = "mispredict",
	[COST_LOCK] = "lock",
	[COST_RESOURCE] = "store_buffer",
	[COST_ICACHE] = "icache_miss",
	[COST_ITLB] = "itlb_miss",
	[COST_DIVIDER] = "divide" };

static void print_groups(const struct cost *c, const struct cost_view *v)
{
	uint64_t group[COST_GROUPS_COUNT];
	struct cost_hidden hidden;
	cost_run_groups(c->base, group);
	for (unsigned g = 0; g < COST_GROUPS_COUNT; g++) {
		const char *name = g == COST_MEMORY && !c->run.core.l3_size ? "l2_miss" : under_way[g];
		hidden.busy[g] = (double)NAN;
		for (unsigned i = 0; name && i < c->looks; i++)
			if (c->look[i].event && !c->look[i].why && !strcmp(c->look[i].name, name) &&
				!(g == COST_L3 && !c->run.core.l3_size) &&
				cost_run_result(c->base, c->look[i].measure)->count &&
				cost_run_result(c->base, c->look[i].measure)
					->busy) /* a miss's time beyond a cache is not a hit's */
				hidden.busy[g] = (double)cost_run_result(c->base, c->look[i].measure)->busy;
	}
	cost_print_groups(&c->style, v, group, &hidden);
}

static void print_program(FILE *out, const struct cost *c)
{
	if (!c->run.argv)
		fprintf(out, "--replay %s", c->run.run.replay);
	for (char *const *a = c->run.argv; a && *a; a++)
		fprintf(out, "%s%s", a == c->run.argv ? "" : " ", *a);
}

/* Fills the rows of one place, one for each look. */
static void fill_place(const struct cost *c, const struct cost_place *p, struct cost_row *own)
{
	for (unsigned i = 0; i < c->looks; i++) {
		const struct look *l = &c->look[i];
		struct cost_row *r = &own[i];
		fill(r, c, l);
		if (l->why)
			continue;
		const struct cost_site_result *s = &p->of[l->measure];
		r->count = s->count;
		fill_pushout(r, &s->pushout);
		r->each[COST_DURATION] = (double)NAN;
		r->how[COST_DURATION] = "durations are not known by place";
		r->better.change = r->worse.change = r->only.change = NULL;
		r->each[COST_TOTAL] = (double)NAN;
		struct cost_replay whole;
		const struct replayed *changed = chosen(c, l, &whole);
		for (unsigned k = 0; changed->run && k < p->runs; k++)
			if (p->changed[k].run == changed->run)
				r->each[COST_TOTAL] =
					cost_marginal(changed->what, p->cycles, (double)s->count, p->changed[k].cycles,
						(double)p->changed[k].count[l->measure], &r->how[COST_TOTAL]);
	}
}

static int print_places(struct cost *c, const struct cost_view *whole)
{
	struct cost_row *own = calloc(c->looks, sizeof *own);
	struct cost_run *changed[2 * LOOKS];
	unsigned runs = 0;
	struct err err = { 0 };
	for (unsigned i = 0; i < c->looks; i++)
		for (unsigned how = 0; how < COST_WORSE; how++)
			if (c->look[i].replay[how].run && !c->look[i].replay[how].shared)
				changed[runs++] = c->look[i].replay[how].run;
	int rc = own ? cost_places_add(c->places, c->base, changed, runs, c->measures, c->by == BY_INSTRUCTION, &err) :
		err_set(&err, ERR_NOMEM, "out of memory");
	const struct cost_place *p;
	for (size_t k = 0; !rc && k < c->rows && (p = cost_places_get(c->places, k)); k++) {
		struct cost_view v = { .place = p->name,
			.place_cycles = p->cycles,
			.cycles = whole->cycles,
			.instructions = whole->instructions,
			.row = own };
		fill_place(c, p, own);
		for (unsigned i = 0; i < c->looks; i++)	/* only events that happened there */
			if (own[i].count)
				own[v.rows++] = own[i];
		if (c->style.form == COST_TABLE)
			fprintf(c->style.out, "\n %s: %.2f%% of all cycles\n", p->name,
				100 * p->cycles / whole->cycles);
		cost_print(&c->style, &v);
	}
	free(own);
	if (rc)
		cli_error("%s", err.text);
	return rc;
}

static int draw(const struct cost *c, const struct cost_view *v)
{
	char *title = NULL;
	size_t bytes = 0;
	FILE *f = open_memstream(&title, &bytes), *out = NULL;
	if (f) {
		fputs("Cost of events of ", f);
		print_program(f, c);
		fprintf(f, " on %s, cycles an event", c->run.core.name);
	}
	bool bad = !f || fclose(f);
	if (!bad && (out = fopen(c->svg, "we")))
		cost_svg(out, v, title);
	bad |= !out || ferror(out);
	if ((out && fclose(out)) || bad) {
		cli_error("cannot write %s: %s", c->svg, strerror(errno));
		bad = true;
	}
	free(title);
	return bad ? -1 : 0;
}

static const char *const point_text[PUSHOUT_POINTS] = { "retirement", "allocation", "decode: delivery by the front end",
	"allocation in the memory-order buffer", "the moment at which stores become visible",
	"fetch, ahead of the decoders" };

static int print(struct cost *c)
{
	struct cost_row *row = calloc(c->looks, sizeof *row);
	struct cost_view v = { .cycles = (double)cost_run_cycles(c->base),
		.instructions = (double)cost_run_instructions(c->base),
		.row = row,
		.rows = c->looks };
	struct err err = { 0 };
	int rc = 0;
	if (!row) {
		cli_error("out of memory");
		return -1;
	}
	for (unsigned i = 0; i < c->looks; i++)
		fill(&row[i], c, &c->look[i]);
	if (c->style.form == COST_TABLE) {
		char note[128];
		FILE *out = c->style.out;
		fputs("\n Cost of events of ", out);
		print_program(out, c);
		fprintf(out,
			"\n Core: %s (%s) at %g GHz%s, user mode only; %.0f instructions, %.0f cycles, CPI %.4f\n%s",
			c->run.core.name, c->run.core.title, c->run.core.frequency_ghz, cli_changed(&c->run),
			v.instructions, v.cycles, v.instructions > 0 ? v.cycles / v.instructions : 0,
			cli_pmu_note(&c->run, note));
		if (c->from == PUSHOUT_FROM_EVENT)
			fputs(" Pushouts from when the event happened, not from when the uop could have retired\n",
				out);
		if (c->point)
			fprintf(out, " Pushouts at %s\n", point_text[c->point]);
		fputc('\n', out);
	}
	cost_print(&c->style, &v);
	cost_print_methods(&c->style, &v);
	if (c->bars)
		cost_print_bars(&c->style, &v);
	for (size_t i = 0; i < v.rows && c->histogram; i++)
		if (row[i].spread)
			cost_print_histogram(&c->style, &row[i]);
	if (c->pairs)
		cost_print_pairs(&c->style, &v, c->pair, c->pairs_count);
	for (size_t i = 0; i < v.rows && c->graph; i++)
		if (row[i].better.change && c->look[i].event)
			cost_graph_replayed(c->graph, row[i].name, row[i].each[COST_TOTAL] * (double)row[i].count,
				row[i].only.change ? row[i].only.each * (double)row[i].count : (double)NAN);
	if (c->graph)
		cost_graph_print(&c->style, c->graph, v.cycles);
	print_groups(c, &v);
	if (c->by)
		rc = print_places(c, &v);
	if (c->by && c->graph && !rc &&
		(rc = cost_graph_print_places(
			 &c->style, c->graph, c->places, c->by == BY_INSTRUCTION, c->rows, v.cycles, &err)))
		cli_error("%s", err.text);
	if (c->graph && cost_graph_incomplete(c->graph))
		cli_warn("--graph: out of memory: some instructions are missing");
	if (c->style.form == COST_TABLE)
		fputc('\n', c->style.out);
	if (c->svg && draw(c, &v))
		rc = -1;
	free(row);
	return rc;
}

/* ---- the command ------------------------------------------------------------------------------------------ */

/* Replays for each event by itself. */
static int replay_each(struct cost *c)
{
	int rc = 0;
	for (unsigned i = 0; i < c->looks && !rc && !cli_interrupted(); i++) {
		struct replayed *p = c->look[i].replay;
		struct cost_replay first;
		if (c->look[i].why)
			continue;
		const struct cost_result *result = cost_run_result(c->base, c->look[i].measure);
		const uint64_t most = result->busy > result->pushout.sum ? result->busy : result->pushout.sum;
		if (!result->count || 100.0 * (double)most < c->replay_from * (double)cost_run_cycles(c->base)) {
			for (unsigned how = 0; how < COST_TRIES; how++)
				p[how].why = !result->count ? "the event did not occur" :
					"it cost too few cycles for a replay (--replay-from)";
			continue;
		}
		rc = replay(c, i, &p[COST_BETTER]);
		fill_replay(&first, c, &c->look[i], &p[COST_BETTER]);
		if (!rc && isnan(first.each))
			rc = replay(c, i, &p[COST_WITHOUT]);
		if (!rc && c->worse)
			rc = replay(c, i, &p[COST_WORSE]);
		if (!rc && c->only)
			rc = replay(c, i, &p[COST_ONLY]);
	}
	return rc;
}

/* Replays with the features of two events changed at once, if both have a total time. */
static int replay_pair(struct cost *c, const struct look *a, const struct look *b)
{
	struct cost_replay of_a, of_b;
	const struct replayed *ra = chosen(c, a, &of_a), *rb = chosen(c, b, &of_b);
	if (!ra->run || !rb->run || isnan(of_a.each) || isnan(of_b.each) || !strcmp(ra->text, rb->text))
		return 0;
	struct cost_pair *more = realloc(c->pair, (c->pairs_count + 1) * sizeof *more);
	if (!more) {
		cli_error("out of memory");
		return ERR_NOMEM;
	}
	c->pair = more;
	struct core_config core = ra->core;
	char text[CHANGE_BYTES];
	const char *why;
	struct err err = { 0 };
	struct run_result res = { 0 };
	struct cost_run *both = NULL;
	if (!apply(b, (enum cost_try)(rb - b->replay), &core, text, &why,
		    &err)) /* the first change already covers the second */
		return 0;
	int rc = measure(c, &both, &core, false, &res);
	if (!rc)
		c->pair[c->pairs_count++] =
			(struct cost_pair){ a->name, b->name, of_a.cycles, of_b.cycles, (double)cost_run_cycles(both) };
	cost_run_destroy(both);
	return rc;
}

static int measure_all(struct cost *c)
{
	struct run_result res = { 0 };
	const bool own = !c->no_total && !c->run.run.replay && !c->run.run.save;
	char *file = own ? cli_keep_stream(&c->run, "cost", "; --no-total needs none") : NULL;
	if (own && !file)
		return 1;
	int rc = measure(c, &c->base, &c->run.core, true, &res), status = cli_exit_status(res.wait_status);
	if (res.note[0])
		cli_warn("%s", res.note);
	if (!c->base || !cost_run_cycles(c->base)) {
		if (!rc && !status)
			cli_error("nothing was measured: no instruction lies between --start and --stop");
		rc = rc ? rc : !status;
	} else {
		const char *const replayed = c->run.run.replay ? c->run.run.replay : c->run.run.save;
		char *const *const argv = c->run.argv;
		c->run.run.replay = c->no_total ? NULL : replayed;
		c->run.run.save = NULL;
		c->run.run.argv = NULL;
		if (!rc && c->run.run.replay)
			rc = replay_each(c);
		for (unsigned i = 0; c->pairs && c->run.run.replay && i < c->looks; i++)
			for (unsigned k = i + 1; k < c->looks && !rc && !cli_interrupted(); k++)
				if (!c->look[i].why && !c->look[k].why)
					rc = replay_pair(c, &c->look[i], &c->look[k]);
		c->run.run.replay = replayed;
		c->run.run.argv = argv;
		if (print(c))
			rc = rc ? rc : -1;
	}
	cli_forget_stream(&c->run, file);
	return status ? status : rc != 0;
}

static void release(struct cost *c)
{
	for (unsigned i = 0; i < c->looks; i++) {
		for (unsigned how = 0; how < COST_TRIES; how++)
			if (!c->look[i].replay[how].shared)
				cost_run_destroy(c->look[i].replay[how].run);
	}
	cost_run_destroy(c->base);
	cost_places_destroy(c->places);
	cost_graph_destroy(c->graph);
	free(c->pair);
	free(c);
}

static int run(int argc, char **argv)
{
	struct cost *c = calloc(1, sizeof *c);
	struct err err = { 0 };
	int next = 0, status = 2;
	if (!c) {
		cli_error("out of memory");
		return 1;
	}
	c->style = (struct cost_style){ .out = stderr, .separator = "," };
	c->rows = 10;
	c->replay_from = -1;
	cli_run_init(&c->run);
	int go = parse(c, argc, argv, &next);
	if (go > 0 && !cli_run_finish(&c->run, argc, argv, next) && !prepare(c)) {
		status = 1;
		if (cost_places_create(&c->places, &err))
			cli_error("%s", err.text);
		else if (c->by_graph &&
			cost_graph_create(&c->graph, &c->run.core, c->pairs, c->by != BY_NOTHING, c->slack, &err))
			cli_error("%s", err.text);
		else if (c->output && !(c->style.out = fopen(c->output, "we")))
			cli_error("cannot write %s: %s", c->output, strerror(errno));
		else
			status = measure_all(c);
		if (c->output && c->style.out) {
			bool bad = ferror(c->style.out);
			if (fclose(c->style.out) || bad) {
				cli_error("cannot write %s: %s", c->output, strerror(errno));
				status = status ? status : 1;
			}
		}
	}
	release(c);
	return go ? status : 0;
}

const struct cli_command cmd_cost = {
	.name = "cost", .options = options, .runs = true, .run = run, .usage = "[options] [--] PROGRAM [arguments]\n"
		"[options] --replay FILE",
	.summary = "print what events (cache misses, mispredicts) cost a program by four methods, and what every "
		"cycle was spent on",
	.about = "Says what events cost PROGRAM on the modelled core, in four ways side by side:\n  analytic    "
		"cycles of one event by the fields of the core, with nothing hidden\n  duration    cycles in which "
		"at least one such event was in progress, divided by\n              the number of events\n  pushout  "
		"   cycles by which uops with the event retired later than they could\n              have: mean and "
		"quartiles\n  total time  replays of the same trace with the feature changed (a perfect\n            "
		"  predictor, a larger cache ...): cycles saved for each event avoided\nEach is also printed as a "
		"share of all cycles. The scale is total time divided by pushout. The decomposition of the CPI "
		"follows: every cycle charged to what retirement waited for. A method that does not apply says why.",
};
