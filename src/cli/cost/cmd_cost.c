/* SPDX-License-Identifier: GPL-2.0-or-later
 * softpmu cost: says what events cost a program, in four ways side by side (analysis/cost/cost.h), and what its
 * cycles are made of.
 *
 * The program runs once, and its stream is kept.  For each event the stream is replayed on a machine with one
 * feature changed.  The trace is the same, so only the machine differs. */
#include "cli/cost/cost_state.h"
#include "core/machine/leads.h"
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

extern const struct cli_command cmd_cost;

enum { WINDOWS = 500 };		/* --sample=auto: in each run */

/* ---- options ---------------------------------------------------------------------------------------------- */

static void list(void)
{
	char name[64];
	const char *text;
	puts("Events (* marks those that are shown without -e and --tag):");
	for (unsigned i = 0; i < cost_events_count; i++)
		printf("  %c %-13s %s\n    %-13s tag: %s\n", cost_events[i].by_default ? '*' : ' ', cost_events[i].name,
			cost_events[i].help, "", cost_events[i].tag ? cost_events[i].tag : "none (counted by signals)");
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

static int set_sample(void *target, const struct option *option, const char *value, struct err *err)
{
	(void)option;
	return cli_sample_parse(&((struct cost *)target)->sample, value, err);
}

static int set_detail(void *target, const struct option *option, const char *value, struct err *err)
{
	(void)option, (void)value, (void)err;
	((struct cost *)target)->sample.in_full = true;
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
	OPT_FLAG(0, "better", struct cost, better, "Make one more replay an event, with the feature made better: a "
		"larger cache, a perfect predictor. Without it, only events that no replay makes free get this one."),
	OPT_FLAG(0, "pairs", struct cost, pairs, "Also replay with the features of two events changed at once, to "
		"see whether their costs overlap or add up."),
	OPT_GROUP("Speed"),
	OPT_CALL(0, "sample", "auto|N,U,W", set_sample, "Run faster: time only short windows of each run, and estimate "
		"the costs from them. All machines have the same windows, so that only the change differs. The program "
		"is first executed without a model, to record it. " CLI_SAMPLE_HOW, .optional = true),
	OPT_CALL(0, "detail", NULL, set_detail, CLI_SAMPLE_LONG_HOW " With --graph all is timed, and with "
		"--no-total a program that is executed."),
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
	OPT_COLOR(struct cost, colour),
	OPT_END
};

/* Behind the looks come the events that nobody asked for: a replay that changes these did more than it should. */
static int look_beside(struct cost *c, struct err *err)
{
	const unsigned looks = c->looks;
	for (unsigned k = 0; k < cost_events_count && c->looks < LOOKS && !c->no_total; k++)
		if (cost_events[k].by_default && add_event(c, &cost_events[k], err))
			return -1;
	c->all = c->looks;
	c->looks = looks;
	return 0;
}

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
	if (c->by_graph && c->sample.on) {
		cli_error("--graph and --sample exclude each other: "
			"the graph follows dependences from the first instruction of the run to the last");
		return -1;
	}
	if (c->slack && !c->by_graph) {
		cli_error("--slack needs --graph: slack is in the dependence graph");
		return -1;
	}
	c->rows = c->rows ? c->rows : SIZE_MAX;
	const bool chosen = c->chosen = c->looks;
	if (c->replay_from < 0)
		c->replay_from = chosen ? 0 : 1;
	for (unsigned k = 0; !chosen && k < cost_events_count; k++)
		if (cost_events[k].by_default && add_event(c, &cost_events[k], &err)) {
			cli_error("%s", err.text);
			return -1;
		}
	return look_beside(c, &err) ? -1 : 1;
}

/* ---- the command ------------------------------------------------------------------------------------------ */

/* Wishes for a replay.  If another event changes the machine in the same way, its replay is shared. */
static void wish(struct cost *c, struct replayed *p, struct wish *list, unsigned *n)
{
	if (!p->what || p->wished)
		return;
	p->wished = true;
	for (unsigned i = 0; i < c->looks && !p->same; i++)
		for (unsigned how = 0; how < COST_TRIES && !p->same; how++) {
			struct replayed *other = &c->look[i].replay[how];
			if (other != p && other->wished && !other->same && !strcmp(other->text, p->text))
				p->same = other;
		}
	if (!p->same)
		list[(*n)++] = (struct wish){ &p->run, &p->core };
}

/* Hands on what is shared. */
static void share(struct cost *c)
{
	for (unsigned i = 0; i < c->looks; i++)
		for (unsigned how = 0; how < COST_TRIES; how++) {
			struct replayed *p = &c->look[i].replay[how];
			p->run = p->same ? p->same->run : p->run;
		}
}

/* Did the event cost enough for a replay?  *why: why not. */
static bool deserves(const struct cost *c, const struct look *l, const char **why)
{
	const struct cost_result *result = cost_run_result(c->base, l->measure);
	uint64_t most = result->busy > result->pushout.sum ? result->busy : result->pushout.sum;
	uint64_t group[COST_GROUPS_COUNT];
	cost_run_groups(c->base, group);
	for (unsigned g = 0; l->event && g < COST_GROUPS_COUNT; g++)
		if (l->event->groups >> g & 1 && group[g] / EXACT_CYCLE > most)
			most = group[g] / EXACT_CYCLE;
	*why = !result->count ? "the event did not occur" : "it cost too few cycles for a replay (--replay-from)";
	return result->count && 100.0 * (double)most >= c->replay_from * (double)cost_run_cycles(c->base);
}

/* Replays on machines without a whole kind of limit, if enough cycles are charged to it. */
static void wish_whatifs(struct cost *c, struct wish *list, unsigned *n)
{
	uint64_t group[COST_GROUPS_COUNT];
	cost_run_groups(c->base, group);
	const double base = (double)group[COST_BASE] / EXACT_CYCLE,
		     least = (double)cost_run_instructions(c->base) / c->run.core.alloc_width;
	for (unsigned i = 0; i < COST_WHATIFS && !c->chosen; i++) {
		double sum = 0;
		for (unsigned g = 0; g < COST_GROUPS_COUNT; g++)
			sum += cost_whatifs[i].groups >> g & 1 ? (double)group[g] / EXACT_CYCLE : 0;
		if (cost_whatifs[i].slow_base && base > 1.5 * least)
			sum += base - least;
		if (100 * sum >= c->replay_from * (double)cost_run_cycles(c->base) && c->whatif[i].what)
			list[(*n)++] = (struct wish){ &c->whatif[i].run, &c->whatif[i].core };
	}
}

/* Replays for each event by itself. */
static int replay_each(struct cost *c)
{
	struct wish list[LOOKS * COST_TRIES + COST_WHATIFS];
	bool wanted[LOOKS] = { false };
	unsigned n = 0;
	for (unsigned i = 0; i < c->looks; i++) {
		struct replayed *p = c->look[i].replay;
		const char *why;
		if (c->look[i].why)
			continue;
		wanted[i] = deserves(c, &c->look[i], &why);
		for (unsigned how = 0; how < COST_TRIES && !wanted[i]; how++)
			p[how].why = why;
		if (!wanted[i])
			continue;
		if (p[COST_ONLY].what)
			wish(c, &p[COST_ONLY], list, &n);
		if (!p[COST_ONLY].what || c->better)
			wish(c, &p[COST_BETTER], list, &n);
		/* may not be needed, but by itself it would take a leader of its own */
		if (!p[COST_ONLY].what && c->sample.on &&
			core_config_leads_alike(&p[COST_WITHOUT].core, &c->run.core))
			wish(c, &p[COST_WITHOUT], list, &n);
		if (c->worse)
			wish(c, &p[COST_WORSE], list, &n);
	}
	wish_whatifs(c, list, &n);
	int rc = cost_grant(c, list, n);
	share(c);
	n = 0;
	for (unsigned i = 0; i < c->looks && !rc; i++) {
		struct cost_replay first;
		cost_chosen(c, &c->look[i], &first);
		if (wanted[i] && isnan(first.each) && !c->look[i].replay[COST_ONLY].what)
			wish(c, &c->look[i].replay[COST_WITHOUT], list, &n);
	}
	if (!rc)
		rc = cost_grant(c, list, n);
	share(c);
	return rc;
}

/* Replays with the features of two events changed at once, if both have a total time. */
static int replay_pair(struct cost *c, const struct look *a, const struct look *b)
{
	struct cost_replay of_a, of_b;
	const struct replayed *ra = cost_chosen(c, a, &of_a), *rb = cost_chosen(c, b, &of_b);
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
	if (!cost_apply(b, (enum cost_try)(rb - b->replay), &core, text, &why,
		    &err)) /* the first change already covers the second */
		return 0;
	int rc = c->sample.on ? cost_grant(c, &(struct wish){ &both, &core }, 1)
		: cost_measure_one(c, &both, &core, false, &res);	/* its counts are not needed, only its cycles */
	if (!rc && both)
		c->pair[c->pairs_count++] =
			(struct cost_pair){ a->name, b->name, of_a.cycles, of_b.cycles, (double)cost_run_cycles(both) };
	cost_run_destroy(both);
	return rc;
}

/* Nobody asked for a sampled run, and its threads run at the same time: such runs leave out how they delay each other.
 */
static int measure_in_full(struct cost *c, struct run_result *res)
{
	struct err err = { 0 };
	cli_note(CLI_SAMPLE_NOT_THREADS);
	c->sample.on = false;
	c->run.run.sample = (struct run_sample){ 0 };
	cost_run_destroy(c->base);
	cost_places_destroy(c->places);
	c->base = NULL;
	c->places = NULL;
	if (!cost_places_create(&c->places, &err))
		return cost_measure_one(c, &c->base, &c->run.core, true, res);
	cli_error("%s", err.text);
	return ERR_NOMEM;
}

static int measure_all(struct cost *c)
{
	struct run_result res = { 0 };
	const bool own = !c->no_total && !c->run.run.replay && !c->run.run.save, unasked = !c->sample.on;
	char *file = own ? cli_keep_stream(&c->run, "cost", "; --no-total needs none") : NULL;
	int recorded = 0;
	if (own && !file)
		return 1;
	if (c->sample.on && !file && !c->run.run.replay && !(file = cli_keep_stream(&c->run, "cost", "")))
		return 1;
	if (!c->by_graph && (c->sample.on || c->run.run.replay || !c->no_total) &&
		cli_sample_plan_long(&c->sample, &c->run, WINDOWS, &c->run.run.sample, &recorded)) {
		cli_forget_stream(&c->run, file);
		return 1;
	}
	int rc = cost_measure_one(c, &c->base, &c->run.core, true, &res);
	if (!rc && unasked && c->sample.on && res.threads_at_once && !cli_interrupted())
		rc = measure_in_full(c, &res);
	const int status = cli_exit_status(recorded ? recorded : res.wait_status);
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
		if (cost_print_all(c))
			rc = rc ? rc : -1;
	}
	cli_forget_stream(&c->run, file);
	return status ? status : rc != 0;
}

static int measure_and_print(struct cost *c, FILE *to)
{
	struct terminal_output terminal = { .out = to };
	if (c->style.form == COST_TABLE)
		terminal_output_open(&terminal, to, c->colour);
	c->style.out = terminal.out;
	c->style.terminal = terminal.terminal;
	const int status = measure_all(c);
	return terminal_output_close(&terminal) || status ? status : 1;
}

static void release(struct cost *c)
{
	for (unsigned i = 0; i < c->looks; i++) {
		for (unsigned how = 0; how < COST_TRIES; how++)
			if (!c->look[i].replay[how].same)
				cost_run_destroy(c->look[i].replay[how].run);
	}
	for (unsigned i = 0; i < COST_WHATIFS; i++)
		cost_run_destroy(c->whatif[i].run);
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
	FILE *to = stderr;
	c->style = (struct cost_style){ .separator = ",", .program = c->run.program };
	c->rows = 10;
	c->replay_from = -1;
	cli_run_init(&c->run);
	int go = parse(c, argc, argv, &next);
	if (go > 0 && !cli_run_finish(&c->run, argc, argv, next) && !cli_sample_check(&c->sample, &c->run) &&
		!cost_prepare(c)) {
		status = 1;
		if (cost_places_create(&c->places, &err))
			cli_error("%s", err.text);
		else if (c->by_graph &&
			cost_graph_create(&c->graph, &c->run.core, c->pairs, c->by != BY_NOTHING, c->slack, &err))
			cli_error("%s", err.text);
		else if (c->output && !(to = fopen(c->output, "we")))
			cli_error("cannot write %s: %s", c->output, strerror(errno));
		else
			status = measure_and_print(c, to);
		if (c->output && to && to != stderr) {
			bool bad = ferror(to);
			if (fclose(to) || bad) {
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
