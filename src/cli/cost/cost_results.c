/* SPDX-License-Identifier: GPL-2.0-or-later
 * What `softpmu cost` prints (cost_state.h): takes the figures out of the runs, and hands them to cost_print.h. */
#include "cli/cost/cost_state.h"
#include "util/elide.h"
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Compares the other events of both runs. */
static void check(struct cost_replay *out, const struct cost *c, const struct look *l, const struct replayed *p)
{
	struct cost_beside other[LOOKS];
	unsigned others = 0;
	for (unsigned i = 0; i < c->all; i++) {
		const struct look *b = &c->look[i];
		if (b->why || !b->event || b->measure == l->measure ||
			(l->event && b->event->family && b->event->family == l->event->family))
			continue;
		const struct cost_result *was = cost_run_result(c->base, b->measure);
		other[others++] = (struct cost_beside){ b->name, (double)was->count,
			(double)cost_run_result(p->run, b->measure)->count,
			was->count ? (double)was->pushout.sum / (double)was->count : (double)NAN };
	}
	const struct cost_result *own = cost_run_result(c->base, l->measure);
	const struct cost_claim claim = { .change = p->what, .worse = p == &l->replay[COST_WORSE],
		.cycles = (double)cost_run_cycles(c->base), .events = (double)own->count,
		.cycles_changed = out->cycles, .events_changed = out->events,
		.most = own->uops ? (double)own->waited / (double)own->uops : (double)NAN };
	cost_check(&out->check, &claim, out->each, other, others);
}

void cost_fill_replay(struct cost_replay *out, const struct cost *c, const struct look *l, const struct replayed *p)
{
	out->each = (double)NAN;
	if (!p->run)
		return;
	out->change = p->text;
	out->cycles = (double)cost_run_cycles(p->run);
	out->events = (double)cost_run_result(p->run, l->measure)->count;
	out->each = cost_marginal(p->what, (double)cost_run_cycles(c->base),
		(double)cost_run_result(c->base, l->measure)->count, out->cycles, out->events, &out->why);
	if (isnan(out->each))
		return;
	check(out, c, l, p);
	if (out->check.withheld) {
		out->each = (double)NAN;
		out->why = out->check.withheld;
	}
}

const struct replayed *cost_chosen(const struct cost *c, const struct look *l, struct cost_replay *out)
{
	const struct replayed *p = &l->replay[l->replay[COST_ONLY].what ? COST_ONLY : COST_BETTER];
	cost_fill_replay(out, c, l, p);
	if (p != &l->replay[COST_ONLY] && isnan(out->each) && l->replay[COST_WITHOUT].run) {
		p = &l->replay[COST_WITHOUT];
		cost_fill_replay(out, c, l, p);
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

static void no_intervals(struct cost_row *r)
{
	r->half_count = (double)NAN;
	for (unsigned m = 0; m < COST_METHODS; m++)
		r->half[m] = (double)NAN;
}

/* Of a sampled run.  p: the replay that the row's total time is from. */
static void fill_intervals(struct cost_row *r, const struct cost *c, const struct look *l, const struct replayed *p)
{
	r->half_count = cost_half_count(c->base, l->measure);
	if (!isnan(r->each[COST_DURATION]))
		r->half[COST_DURATION] = cost_half_duration(c->base, l->measure);
	if (!isnan(r->each[COST_PUSHOUT]))
		r->half[COST_PUSHOUT] = cost_half_pushout(c->base, l->measure);
	if (!isnan(r->each[COST_TOTAL]) && p->run)
		r->half[COST_TOTAL] = cost_half_marginal(p->what, c->base, p->run, l->measure);
}

static void fill(struct cost_row *r, const struct cost *c, const struct look *l)
{
	*r = (struct cost_row){ .name = l->name, .tag = l->tag ? l->tag : "", .help = l->event ? l->event->help : "" };
	for (unsigned m = 0; m < COST_METHODS; m++) {
		r->each[m] = (double)NAN;
		r->how[m] = l->why;
	}
	r->total.each = r->better.each = r->worse.each = (double)NAN;
	no_intervals(r);
	if (l->why)
		return;
	const struct cost_result *result = cost_run_result(c->base, l->measure);
	r->count = result->count;
	fill_pushout(r, &result->pushout);
	if (l->event) {
		r->each[COST_ANALYTIC] = l->event->analytic(&c->run.core, &r->how[COST_ANALYTIC]);
		if (l->event->latency_how && result->uops) {
			r->each[COST_ANALYTIC] = (double)result->waited / (double)result->uops;
			r->how[COST_ANALYTIC] = l->event->latency_how;
		}
		if (l->event->counted[0])
			r->how[COST_PUSHOUT] = "the event belongs to no uop";
		r->busy = result->busy;
		r->how[COST_DURATION] = l->event->busy_how;
		if (l->event->busy[0] && r->count && r->busy)
			r->each[COST_DURATION] = (double)r->busy / (double)r->count;
		else if (l->event->busy[0])
			r->how[COST_DURATION] =
				r->count ? "the core records no duration for it" : "the event did not occur";
		/* the queue was busy for others, too: for loads that found the line under way, for prefetches */
		if (result->uops && r->each[COST_DURATION] > 1.05 * (double)result->waited / (double)result->uops) {
			r->each[COST_DURATION] = (double)NAN;
			r->how[COST_DURATION] = "it was busy for longer than all such uops waited: "
				"also for loads of lines that something else had asked for";
		}
	} else {
		r->how[COST_ANALYTIC] = "only events have a formula";
		r->how[COST_DURATION] = "only events have a duration";
	}
	const struct replayed *p = cost_chosen(c, l, &r->total);
	cost_fill_replay(&r->worse, c, l, &l->replay[COST_WORSE]);
	if (c->better)
		cost_fill_replay(&r->better, c, l, &l->replay[COST_BETTER]);
	r->each[COST_TOTAL] = r->total.each;
	r->how[COST_TOTAL] = p->run ? r->total.why
		: p->why            ? p->why
		: c->no_total       ? "--no-total"
				    : "it was not replayed";
	if (c->sample.on)
		fill_intervals(r, c, l, p);
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
		no_intervals(r);
		fill_pushout(r, &s->pushout);
		r->each[COST_DURATION] = (double)NAN;
		r->busy = 0;
		r->how[COST_DURATION] = "durations are not known by place";
		r->total.change = r->better.change = r->worse.change = NULL;
		r->each[COST_TOTAL] = (double)NAN;
		struct cost_replay whole;
		const struct replayed *changed = cost_chosen(c, l, &whole);
		for (unsigned k = 0; changed->run && k < p->runs; k++)
			if (p->changed[k].run == changed->run)
				r->each[COST_TOTAL] =
					cost_marginal(changed->what, p->cycles, (double)s->count, p->changed[k].cycles,
						(double)p->changed[k].count[l->measure], &r->how[COST_TOTAL]);
	}
}

static void print_place(const struct cost_style *s, const char *name, double share)
{
	enum { SHARE = 28 };	/* " ", ": 100.00% of all cycles" */
	char text[ELIDE_BYTES];
	const unsigned width = terminal_width(s->terminal, 0);
	if (width > SHARE)
		elide_name(text, name, width - SHARE, terminal_mark(s->terminal), NULL);
	fprintf(s->out, "\n %s: %.2f%% of all cycles\n", width > SHARE ? text : name, share);
}

static int print_places(struct cost *c, const struct cost_view *whole)
{
	struct cost_row *own = calloc(c->looks, sizeof *own);
	struct cost_run *changed[COST_TRIES * LOOKS];
	unsigned runs = 0;
	struct err err = { 0 };
	for (unsigned i = 0; i < c->looks; i++)
		for (unsigned how = 0; how < COST_TRIES; how++)
			if (how != COST_WORSE && c->look[i].replay[how].run && !c->look[i].replay[how].same)
				changed[runs++] = c->look[i].replay[how].run;
	int rc = own ? cost_places_add(c->places, c->base, changed, runs, c->measures, c->by == BY_INSTRUCTION, &err) :
		err_set(&err, ERR_NOMEM, "out of memory");
	const struct cost_place *p;
	for (size_t k = 0; !rc && k < c->rows && (p = cost_places_get(c->places, k)); k++) {
		struct cost_view v = { .place = p->name,
			.place_cycles = p->cycles,
			.cycles = whole->cycles,
			.instructions = whole->instructions,
			.row = own,
			.sampled = whole->sampled };
		fill_place(c, p, own);
		for (unsigned i = 0; i < c->looks; i++)	/* only events that happened there */
			if (own[i].count)
				own[v.rows++] = own[i];
		if (c->style.form == COST_TABLE)
			print_place(&c->style, p->name, 100 * p->cycles / whole->cycles);
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

static void print_whatifs(const struct cost *c, const struct cost_view *v)
{
	struct cost_gain gain[COST_WHATIFS];
	for (unsigned i = 0; i < COST_WHATIFS; i++)
		gain[i] = (struct cost_gain){ &cost_whatifs[i],
			c->whatif[i].run ? v->cycles - (double)cost_run_cycles(c->whatif[i].run) : (double)NAN };
	if (!c->chosen && !c->no_total)
		cost_print_whatifs(&c->style, v, gain, COST_WHATIFS);
}

int cost_print_all(struct cost *c)
{
	struct cost_row *row = calloc(c->looks, sizeof *row);
	struct cost_view v = { .cycles = (double)cost_run_cycles(c->base),
		.instructions = (double)cost_run_instructions(c->base),
		.row = row,
		.rows = c->looks,
		.sampled = c->sample.on,
		.short_form = !c->chosen };
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
			"\n Core: %s (%s) at %g GHz%s, %s; %.0f instructions, %.0f cycles, CPI %.4f\n%s",
			c->run.core.name, c->run.core.title, c->run.core.frequency_ghz, cli_changed(&c->run),
			cli_rings(&c->run), v.instructions, v.cycles,
			v.instructions > 0 ? v.cycles / v.instructions : 0,
			cli_pmu_note(&c->run, note));
		if (c->sample.on)
			fprintf(out, " Estimated from %zu windows; %.2f%% of the instructions were measured\n",
				windows_number(cost_run_windows(c->base)),
				100 * windows_measured(cost_run_windows(c->base)) / v.instructions);
		if (c->from == PUSHOUT_FROM_EVENT)
			fputs(" Pushouts from when the event happened, not from when the uop could have retired\n",
				out);
		if (c->point)
			fprintf(out, " Pushouts at %s\n", point_text[c->point]);
		fputc('\n', out);
	}
	cost_print(&c->style, &v);
	if (c->sample.on)
		cost_print_intervals(&c->style, &v);
	if (c->sample.on)
		cost_print_ties(c, row);
	cost_print_methods(&c->style, &v);
	cost_print_words(&c->style, &v);
	print_whatifs(c, &v);
	if (c->bars)
		cost_print_bars(&c->style, &v);
	for (size_t i = 0; i < v.rows && c->histogram; i++)
		if (row[i].spread)
			cost_print_histogram(&c->style, &row[i]);
	if (c->pairs)
		cost_print_pairs(&c->style, &v, c->pair, c->pairs_count);
	for (size_t i = 0; i < v.rows && c->graph; i++)
		if (c->look[i].event)
			cost_graph_replayed(c->graph, row[i].name,
				(double)row[i].count * (c->better && !isnan(row[i].better.each) ? row[i].better.each
									: row[i].each[COST_TOTAL]),
				c->look[i].replay[COST_ONLY].run ? row[i].each[COST_TOTAL] * (double)row[i].count
								 : (double)NAN);
	if (c->graph)
		cost_graph_print(&c->style, c->graph, c->places, v.cycles);
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
