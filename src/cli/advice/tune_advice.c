/* SPDX-License-Identifier: GPL-2.0-or-later
 * Advice on a program (tune_advice.h). */
#include "cli/advice/tune_advice.h"
#include "cli/advice/tune_places.h"
#include "cli/common/cli_symbols.h"
#include "cli/tune/tune_replays.h"
#include "analysis/cost/cost.h"
#include "session/events/pushout_events.h"
#include "core/machine/leads.h"
#include "util/grow.h"
#include "util/json.h"
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { FIELDS_BYTES = 256, WINDOWS = 500 /* --sample=auto: of each replay */ };
enum { EVIDENCE_LEAD = 10000, EVIDENCE_MEASURED = 40000, EVIDENCE_APART = 3 };
struct piece {
	struct advice a;
	const struct advice_place *at;
	double wins, low, high;	/* cycles; the range in which the two estimates lie */
	const char *sure;
};
struct tune_advice {
	struct symbols *symbols;
	uint64_t time;		/* of the last side record */
	struct evidence *evidence;
	struct cost_run *cycles;	/* of a sampled run: the estimate of its cycles; else NULL */
	size_t windows;
	double measured;		/* share of the instructions that these measured */
	uint64_t lone_core;	/* next number for a core that threads do not share */
	struct advice_program program;
	struct tune_places at;
	struct piece *piece;
	size_t pieces;
	struct {
		bool wanted;
		bool done;
		double gain, half;	/* share of the cycles; half of its interval's width: 0: exact, NaN: unknown */
		char fields[FIELDS_BYTES];
		const char *why;
	} replay[ADVICE_CHANGES_COUNT];
	const char *name;	/* of the program, or the stream */
};

int tune_advice_create(struct tune_advice **out, struct err *err)
{
	struct tune_advice *a = calloc(1, sizeof *a);
	if (!a)
		return err_set(err, ERR_NOMEM, "out of memory");
	int rc = symbols_create(&a->symbols, err);
	if (rc) {
		free(a);
		return rc;
	}
	*out = a;
	return 0;
}

void tune_advice_destroy(struct tune_advice *a)
{
	if (!a)
		return;
	evidence_destroy(a->evidence);
	cost_run_destroy(a->cycles);
	symbols_destroy(a->symbols);
	tune_places_release(&a->at);
	free(a->piece);
	free(a);
}

/* ---- the run ---- */

struct thread { struct evidence_thread *evidence; struct cost_thread *cycles; /* NULL: not sampled */ };

static int on_start(void *context, struct run_thread *t, struct err *err)
{
	struct tune_advice *a = context;
	struct thread *thread = calloc(1, sizeof *thread);
	const bool shared = t->siblings > 1;
	const uint64_t core = shared ? (uint64_t)t->process << 32 | t->core : UINT64_C(1) << 63 | a->lone_core++;
	int rc = thread ? evidence_thread_start(a->evidence, &thread->evidence, t->pid, core, shared, err)
		: err_set(err, ERR_NOMEM, "out of memory");
	if (!rc && a->cycles)
		rc = cost_thread_start(a->cycles, &thread->cycles, t->pid, err);
	if (!rc && a->cycles) {
		evidence_thread_sample(thread->evidence);
		rc = cost_thread_sample(thread->cycles, t, err);
	}
	if (rc)
		free(thread);
	t->sink_private = rc ? NULL : thread;
	return rc;
}

static void on_end(void *context, struct run_thread *t)
{
	(void)context;
	struct thread *thread = t->sink_private;
	if (thread)
		evidence_thread_end(thread->evidence);
	if (thread && thread->cycles)
		cost_thread_end(thread->cycles);
	free(thread);
	t->sink_private = NULL;
}

static void on_batch(void *context, struct run_thread *t, const struct spmu_batch *b)
{
	(void)context;
	const struct thread *thread = t->sink_private;
	if (thread)
		evidence_thread_batch(thread->evidence, b);
	if (thread && thread->cycles)
		cost_thread_batch(thread->cycles, b);
}

static uint64_t on_window(void *context, struct run_thread *t, const struct run_window *part)
{
	(void)context;
	const struct thread *thread = t->sink_private;
	if (thread) {
		evidence_thread_window(thread->evidence, part);
		cost_thread_window(thread->cycles, part);
	}
	return 0;
}

static void on_side(void *context, struct run_thread *t, uint32_t pid, const uint64_t *record, uint64_t cycle)
{
	struct tune_advice *a = context;
	(void)t, (void)cycle;
	cli_symbols_side(a->symbols, pid, record, &a->time);
}

/* The windows from which evidence comes are longer than the replays', and fewer: the fully associative caches have to
 * fill, and lines have to be used as they are in the whole run. */
static struct run_sample evidence_plan(const struct run_sample *plan)
{
	struct run_sample p = { .lead = EVIDENCE_LEAD, .measured = EVIDENCE_MEASURED };
	const uint64_t least = RUN_SAMPLE_LEAST * (p.lead + p.measured), wanted = EVIDENCE_APART * plan->interval;
	p.interval = wanted > least ? wanted : least;
	return p;
}

/* plan: of a sampled run, else NULL. */
static int gather(struct tune_advice *a, struct cli_run *r, const struct run_sample *plan, struct run_result *res)
{
	struct run_sink sink = {
		.context = a, .thread_start = on_start, .thread_end = on_end, .batch = on_batch, .side = on_side
	};
	struct err err = { 0 };
	int rc = evidence_create(&a->evidence, &r->core, &err);
	if (!rc && plan) {
		const struct pushout_widths widths = session_pushout_widths(&r->core);
		sink.window = on_window;
		r->run.sample = evidence_plan(plan);
		rc = cost_run_create(&a->cycles, &widths, NULL, 0, false, &err);
		rc = rc ? rc : cost_run_sample(a->cycles, &err);
	}
	if (!rc) {
		const struct core_wanted wanted = evidence_wanted();
		r->run.wanted = &wanted;
		rc = cli_run_program(r, &sink, res, &err);
		r->run.wanted = NULL;
		struct err memory = { 0 };
		if (evidence_finish(a->evidence, &memory) && !rc) {
			rc = memory.code;
			err = memory;
		}
	}
	r->run.sample = (struct run_sample){ 0 };
	if (!rc && plan)
		rc = cost_run_finish(a->cycles, &err);
	if (!rc && plan)	/* of a run that was interrupted: from the windows that it has */
		rc = cost_run_estimate(a->cycles, res, &err);
	a->program.cycles = rc ? 0 : plan ? (double)cost_run_cycles(a->cycles) : (double)res->cycles;
	if (rc)
		cli_error("%s", err.text);
	return rc;
}

/* ---- the rules ---- */

static int ask(struct tune_advice *a)
{
	size_t room = 0;
	for (size_t i = 0; i < a->at.places; i++) {
		const struct advice_place *place = &a->at.place[i];
		unsigned given = 0;	/* classes of which a rule was given */
		if (tune_places_only_start(&a->at, place))
			continue;
		for (unsigned k = 0; k < advice_rules_count; k++) {
			struct advice advice;
			const unsigned class_of = advice_rules[k].class_of;
			if ((class_of && given >> class_of & 1) || !advice_ask(k, place, &a->program, &advice))
				continue;
			given |= 1u << class_of;
			struct piece *more = grow_array(a->piece, a->pieces, &room, 64, sizeof *more);
			if (!more) {
				cli_error("out of memory");
				return ERR_NOMEM;
			}
			a->piece = more;
			a->piece[a->pieces++] = (struct piece){ .a = advice, .at = place };
		}
	}
	return 0;
}

/* ---- estimates ---- */

/* A replay is made if some piece can be worth it.  Where the exact profile knows the cause, what it charges is nearly
 * the most that can be gained; a tenth of the threshold is left for what it does not see. */
static void choose_replays(struct tune_advice *a, double threshold)
{
	for (size_t i = 0; i < a->pieces; i++) {
		const struct piece *p = &a->piece[i];
		if (!(p->a.charged > 0) || !(a->program.charged > 0) ||
			p->a.charged >= 0.1 * threshold * a->program.charged)
			a->replay[p->a.change].wanted = true;
	}
}

/* Replays on the machines that are wanted.  Changes that make the same machine share its replay. */
static int replay(struct tune_advice *a, struct cli_run *r, const struct run_sample *plan)
{
	struct tune_replay *replay = calloc(ADVICE_CHANGES_COUNT, sizeof *replay);
	unsigned of[ADVICE_CHANGES_COUNT], n = 0;
	if (!replay) {
		cli_error("out of memory");
		return ERR_NOMEM;
	}
	for (unsigned k = ADVICE_NONE + 1; k < ADVICE_CHANGES_COUNT; k++) {
		replay[n].core = r->core;
		of[k] = n;
		if (!a->replay[k].wanted || !advice_change((enum advice_change)k, &replay[n].core,
				a->replay[k].fields, FIELDS_BYTES, &a->replay[k].why)) {
			a->replay[k].wanted = false;
			continue;
		}
		while (of[k] && !core_config_same(&replay[of[k] - 1].core, &replay[n].core))
			of[k]--;
		of[k] = of[k] ? of[k] - 1 : n;
		n += of[k] == n;
	}
	const int rc = n ? tune_replays(r, a->program.cycles, plan, replay, n) : 0;
	for (unsigned k = ADVICE_NONE + 1; k < ADVICE_CHANGES_COUNT && !rc; k++) {
		a->replay[k].done = a->replay[k].wanted && replay[of[k]].done;
		a->replay[k].gain = replay[of[k]].gain;
		a->replay[k].half = replay[of[k]].half;
	}
	free(replay);
	return rc;
}

/* Cycles elapsed, of those charged. */
static double elapsed(const struct tune_advice *a, double charged)
{
	return a->program.charged > 0 ? charged / a->program.charged * a->program.cycles : 0;
}

/* Of a sampled replay: its interval widens the range. */
static void add_chance(const struct tune_advice *a, struct piece *p)
{
	const double half = a->replay[p->a.change].half * fmin(p->a.share, 1) * a->program.cycles;
	if (half > 0) {
		p->low = fmax(p->low - half, 0);
		p->high += half;
	}
}

/* The replay's estimate, beside which the exact profile has one of its own: what retirement waited for. */
static void estimate(const struct tune_advice *a, struct piece *p)
{
	const double gain = a->replay[p->a.change].gain * a->program.cycles, charged = elapsed(a, p->a.charged);
	p->wins = p->low = p->high = charged;
	p->sure = p->a.unmeasured ? "low: nothing but a rebuild shows it" : "fair: no replay can free this alone";
	if (p->a.change == ADVICE_NONE || !a->replay[p->a.change].done)
		return;
	p->wins = p->low = p->high = gain > 0 ? gain * fmin(p->a.share, 1) : 0;
	p->sure = "fair: by a replay; the exact profile cannot tell this cause from others";
	if (!(charged > 0)) {
		add_chance(a, p);
		return;
	}
	p->low = fmin(charged, p->wins);
	p->high = fmax(charged, p->wins);
	p->sure = p->high <= 1.5 * p->low ? "high: a replay and the exact profile agree"
		: charged > p->wins ? "fair: retirement waits longer for it than the replay gains: it would wait for "
				      "something else"
				    : "fair: the replay gains more than retirement waits for it here";
	add_chance(a, p);
}

static int by_gain(const void *x, const void *y)
{
	const struct piece *a = x, *b = y;
	if (a->wins != b->wins)
		return a->wins > b->wins ? -1 : 1;
	return a->at != b->at ? (a->at > b->at) - (a->at < b->at) : strcmp(a->a.rule->name, b->a.rule->name);
}

static void keep_what_counts(struct tune_advice *a, double threshold)
{
	size_t kept = 0;
	for (size_t i = 0; i < a->pieces; i++) {
		struct piece *p = &a->piece[i];
		estimate(a, p);
		if ((p->a.uncertain ? p->high : p->wins) < threshold * a->program.cycles || !(p->high > 0))
			continue;
		a->piece[kept++] = *p;
	}
	a->pieces = kept;
	if (kept)
		qsort(a->piece, kept, sizeof *a->piece, by_gain);
}

/* Nobody asked for a sampled run, and its threads run at the same time: such runs leave out how they delay each other.
 */
static int gather_in_full(struct tune_advice *a, struct cli_run *r, struct run_result *res)
{
	struct err err = { 0 };
	cli_note(CLI_SAMPLE_NOT_THREADS);
	evidence_destroy(a->evidence);
	cost_run_destroy(a->cycles);
	symbols_destroy(a->symbols);
	a->evidence = NULL;
	a->cycles = NULL;
	a->symbols = NULL;
	a->lone_core = a->time = 0;
	if (!symbols_create(&a->symbols, &err))
		return gather(a, r, NULL, res);
	cli_error("%s", err.text);
	return ERR_NOMEM;
}

int tune_advice_run(struct tune_advice *a, struct cli_run *r, struct cli_sample *sample, double threshold, int *status)
{
	struct run_result res = { 0 };
	struct run_sample windows;
	const bool unasked = !sample->on;
	int recorded = 0;
	if (cli_sample_plan_long(sample, r, WINDOWS, &windows, &recorded))
		return ERR_INPUT;
	const struct run_sample *plan = sample->on ? &windows : NULL;
	a->program.core = &r->core;
	int rc = gather(a, r, plan, &res);
	if (!rc && plan && unasked && res.threads_at_once && !cli_interrupted()) {
		plan = NULL;
		rc = gather_in_full(a, r, &res);
	} else if (res.threads_at_once) {
		cli_warn(CLI_SAMPLE_THREADS);
	}
	*status = cli_exit_status(recorded ? recorded : res.wait_status);
	if (res.note[0])
		cli_warn("%s", res.note);
	if (rc)
		return rc;
	if (!(a->program.cycles > 0)) {
		cli_error("nothing was measured: no instruction lies between --start and --stop");
		return ERR_INPUT;
	}
	if (plan) {
		a->windows = windows_number(cost_run_windows(a->cycles));
		a->measured = windows_measured(cost_run_windows(a->cycles)) / (double)(res.instructions + res.warmed);
	}
	a->at.symbols = a->symbols;
	a->at.program = &a->program;
	if (tune_places_find(&a->at, a->evidence) || ask(a))
		return ERR_NOMEM;
	const char *const replayed = r->run.replay, *const saved = r->run.save;
	char *const *const argv = r->argv;
	r->run.replay = replayed ? replayed : saved;
	r->run.save = NULL;
	r->run.argv = NULL;
	choose_replays(a, threshold);
	if (r->run.replay && !cli_interrupted())
		rc = replay(a, r, plan);
	r->run.replay = replayed;
	r->run.save = saved;
	r->run.argv = argv;
	keep_what_counts(a, threshold);
	return rc;
}

/* ---- printing ---- */

static const char *basis(const struct tune_advice *a, const struct piece *p, char text[FIELDS_BYTES + 64])
{
	if (a->replay[p->a.change].done)
		snprintf(text, FIELDS_BYTES + 64, "replay with %s", a->replay[p->a.change].fields);
	else
		snprintf(text, FIELDS_BYTES + 64, "%s",
			p->a.unmeasured ? "cycles spent here; only a rebuild shows how many of them it saves"
					: "cycles charged to it");
	return text;
}

static void print_json(const struct tune_advice *a, FILE *to, size_t rows)
{
	char text[FIELDS_BYTES + 64], check[160];
	for (size_t i = 0; i < a->pieces && i < rows; i++) {
		const struct piece *p = &a->piece[i];
		fputs("{\"advice\":", to);
		json_string(to, p->a.rule->name);
		fputs(",\"function\":", to);
		json_string(to, p->at->function);
		fputs(",\"object\":", to);
		json_string(to, p->at->dso);
		if (p->at->line) {
			fputs(",\"file\":", to);
			json_string(to, p->at->file);
			fprintf(to, ",\"line\":%u", p->at->line);
		}
		if (*p->at->caller) {
			fputs(",\"into_function\":", to);
			json_string(to, p->at->caller);
			fputs(",\"into_file\":", to);
			json_string(to, p->at->caller_file);
			fprintf(to, ",\"into_line\":%u", p->at->caller_line);
		}
		fputs(",\"evidence\":", to);
		json_string(to, p->a.evidence);
		fprintf(to, ",\"%s\":%.0f,\"share\":%.6f,", p->a.unmeasured ? "spent_cycles" : "gain_cycles",
			p->wins, p->wins / a->program.cycles);
		fprintf(to, "\"low\":%.6f,\"high\":%.6f,\"sure\":", p->low / a->program.cycles,
			p->high / a->program.cycles);
		json_string(to, p->sure);
		fputs(",\"basis\":", to);
		json_string(to, basis(a, p, text));
		advice_check(p->a.change, check, sizeof check);
		fputs(",\"check\":", to);
		json_string(to, check);
		fputs(",\"do\":", to);
		json_string(to, p->a.rule->advice);
		fputs("}\n", to);
	}
}

void tune_advice_print(const struct tune_advice *a, FILE *to, size_t rows, bool json)
{
	char text[FIELDS_BYTES + 64], check[160];
	if (json) {
		print_json(a, to, rows);
		return;
	}
	fprintf(to, "%.0f cycles on %s\n", a->program.cycles, a->program.core->name);
	if (a->windows)
		fprintf(to, "Estimated; the evidence is from %zu windows, which have %.1f %% of the instructions "
			"(--detail times all of them)\n", a->windows, 100 * a->measured);
	if (!a->pieces)
		fputs("no advice: no rule found anything that costs enough\n", to);
	for (size_t i = 0; i < a->pieces && i < rows; i++) {
		const struct piece *p = &a->piece[i];
		fprintf(to, "\n%zu. %s: %s\n   at        %s", i + 1, p->a.rule->name, p->a.rule->title,
			p->at->function);
		if (p->at->line)
			fprintf(to, " (%s:%u)", p->at->file, p->at->line);
		if (*p->at->caller)
			fprintf(to, ", inlined into %s (%s:%u)", p->at->caller, p->at->caller_file,
				p->at->caller_line);
		fprintf(to, " [%s]\n   evidence  %s\n", p->at->dso, p->a.evidence);
		fprintf(to, "   %s  %.1f %%", p->a.unmeasured ? "spent   " : "wins    ",
			100 * p->wins / a->program.cycles);
		if (p->high - p->low >= 0.001 * a->program.cycles)
			fprintf(to, ", range %.1f to %.1f %%", 100 * p->low / a->program.cycles,
				100 * p->high / a->program.cycles);
		advice_check(p->a.change, check, sizeof check);
		fprintf(to, " (%s)\n   sure      %s\n", basis(a, p, text), p->sure);
		fprintf(to, "   do        %s\n   check     %s\n", p->a.rule->advice, check);
	}
	if (a->pieces > rows)
		fprintf(to, "\n%zu more (--rows)\n", a->pieces - rows);
}
