/* SPDX-License-Identifier: GPL-2.0-or-later
 * softpmu tune on the model.  One run on the preset keeps the stream, and its events say which features may gain.
 * The search (analysis/tune/tune_model.h) then replays the stream on changed machines.  The trace is the same, so
 * only the machine differs. */
#include "analysis/tune/tune_limit.h"
#include "cli/cli.h"
#include "cli/common/cli_profile.h"
#include "cli/tune/tune_commands.h"
#include "cli/common/cli_sample.h"
#include "cli/tune/tune_launch.h"
#include "cli/tune/tune_pool.h"
#include "cli/tune/tune_print.h"
#include "cli/tune/tune_seen.h"
#include "core/machine/features.h"
#include "session/events/pushout_events.h"
#include "util/near.h"
#include <errno.h>
#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>

struct search {
	struct cli_run run;
	struct tune_goal goal;
	const char *objective, *wanted, *state_path, *output;
	bool fresh, json, all, no_prune, keep;
	double threshold, exhaustive;	/* percent; most configurations, 0: not asked for */
	unsigned exhaustive_most, jobs;
	FILE *out;
	char *file, *program;		/* the stream's temporary file, or NULL; the command line */
	char key[PROGRAM_KEY_CHARS];	/* the program's */
	struct energy_model model;
	struct core_feature info[FEATURES_MAX];
	struct tune_feature feature[TUNE_FEATURES];
	const char *why[TUNE_FEATURES];
	unsigned features;
	/* the run on the preset */
	struct cost_run *cost;
	struct tune_try preset;
	uint64_t trace;			/* a hash of what was executed */
	bool warmed;
	struct cli_sample sample;
	struct run_sample plan;		/* of all runs; measured 0: they are timed throughout */
	struct tune_seen seen;		/* of the run on the preset, if it is sampled */
	struct tune_launch *launch;
	char **words;			/* the options of the run, for replays that are launched */
	size_t words_count;
	bool host;			/* --core host */
};
enum { WINDOWS = 500 };	/* --sample=auto: in each run */
struct thread { struct cost_thread *cost; uint64_t hash; struct tune_seen_thread seen; };

/* ---- options ---- */

static int set_objective(void *target, const struct option *option, const char *value, struct err *err)
{
	static const char *const name[] = { "cycles", "energy", "edp" };
	struct search *s = target;
	double within;
	s->objective = value;
	for (unsigned i = 0; i < 3; i++)
		if (!strcmp(value, name[i])) {
			s->goal.what = (enum tune_objective)i;
			return 0;
		}
	if (strncmp(value, "energy-within:", 14))
		return err_set(err, ERR_INPUT,
			"option --objective: '%s' is not one of cycles, energy, edp or energy-within:PERCENT", value);
	const struct option row = {
		.kind = OPTION_PERCENT, .name = option->name, .argument = "PERCENT", .bytes = sizeof within, .most = 100
	};
	const int code = options_value(&row, &within, value + 14, err);
	if (!code) {
		s->goal.what = TUNE_ENERGY_WITHIN;
		s->goal.within = within / 100;
	}
	return code;
}

static int set_sample(void *target, const struct option *option, const char *value, struct err *err)
{
	(void)option;
	return cli_sample_parse(&((struct search *)target)->sample, value, err);
}

static int set_launch(void *target, const struct option *option, const char *value, struct err *err)
{
	struct search *s = target;
	(void)option;
	tune_launch_destroy(s->launch);
	return tune_launch_create(&s->launch, value, err);
}

static int of_its_own(void *target, const struct option *option, const char *value, struct err *err)
{
	(void)target, (void)value;
	return err_set(err, ERR_INPUT, "--%s is a search of its own: softpmu tune --%s [options] ...", option->name,
		option->name);
}

const struct option tune_search_options[] = {
	OPT_GROUP("What is searched for"),
	OPT_CALL(0, "objective", "WHAT", set_objective, "Make this small: cycles (the default), energy, edp (energy "
		"times time), or energy-within:PERCENT (energy, among the settings that take at most PERCENT more "
		"time than the fastest)."),
	OPT_TEXT(0, "features", "NAME,...", struct search, wanted, "Change these features alone: names or patterns, "
		"as in 'prefetch.*,l1d.size'. Default: all."),
	OPT_PERCENT(0, "threshold", "PERCENT", struct search, threshold, "Make a change only if it saves PERCENT of "
		"the objective. Default: 0.5."),
	OPT_GROUP("How"),
	OPT_FLAG(0, "no-prune", struct search, no_prune, "Try every feature, even if its events cost next to nothing."),
	OPT_WHOLE(0, "exhaustive", "N", struct search, exhaustive_most, 1, 1000000, "Try every combination instead, "
		"if there are at most N."),
	OPT_WHOLE(0, "jobs", "N", struct search, jobs, 1, 256, "Make N replays at a time. Default: the number of "
		"processors; with --sample 20, because they share the unpacking of the stream. With --launch, N "
		"processes at a time. Default: the number of processors here."),
	OPT_CALL(0, "launch", "COMMAND", set_launch, "Make the replays in processes that COMMAND starts, as on the "
		"nodes of a cluster: --launch 'srun -N1 -n1 --exclusive'. --jobs says how many run at a time. The "
		"nodes must see softpmu, the stream and the core's file under the same paths."),
	OPT_TEXT(0, "state", "FILE", struct search, state_path, "Keep what was measured in FILE. Default: a file for "
		"each program and core in the folder of the profile store."),
	OPT_FLAG(0, "fresh", struct search, fresh, "Forget what was measured before."),
	OPT_CALL(0, "sample", "auto|N,U,W", set_sample, "Run faster: time only short windows of each run. All "
		"machines have the same windows, so that only the setting differs. The program is first executed "
		"without a model, to record it. " CLI_SAMPLE_HOW, .optional = true),
	OPT_GROUP("What is printed"),
	OPT_FLAG(0, "all", struct search, all, "Print every configuration that was tried."),
	OPT_FLAG('j', "json", struct search, json, "Print JSON objects, one a line; every configuration that was "
		"tried is one of them."),
	OPT_TEXT('o', "output", "FILE", struct search, output, "Print to FILE instead of standard error."),
	OPT_CALL(0, "software", NULL, of_its_own, "Search the program instead of the machine. First option.",
		.hidden = true),
	OPT_CALL(0, "native", NULL, of_its_own, "Search the machine that this runs on. First option.", .hidden = true),
	OPT_CALL(0, "phases", NULL, of_its_own, "Search settings for each phase. First option.", .hidden = true),
	OPT_END
};

/* Keeps the options of the run for replays that are launched, but those that say where the stream is and what becomes
 * of the choice.  The only ones with a letter are about processes of a live run. */
static void keep_words(void *context, const struct option_set *set, char **words, int count)
{
	static const char *const other[] = { "--replay", "--save-stream", "--profile", "--no-profile" };
	struct search *s = context;
	bool keep = set->option == cli_run_options && !strncmp(words[0], "--", 2);
	for (size_t i = 0; i < sizeof other / sizeof *other; i++)
		keep &= strncmp(words[0], other[i], strlen(other[i])) != 0;
	for (int i = 0; i < count && keep; i++)
		s->words[s->words_count++] = words[i];
}

/* 1: goes on; 0: help was printed; -1: bad, one line was printed. */
static int parse(struct search *s, int argc, char **argv, int *next)
{
	const struct option_set set[] = { { tune_search_options, s }, { cli_run_options, &s->run }, { NULL, NULL } };
	struct option_parser p = { .set = set, .taken = keep_words, .context = s };
	if (!(s->words = calloc((size_t)argc + 3, sizeof *s->words))) {
		cli_error("out of memory");
		return -1;
	}
	const int go = cli_parse(&cmd_tune, &p, argc, argv, next);
	if (go <= 0)
		return go;
	if (s->run.features) {
		cli_error("--feature and --wrmsr: tune itself tries them; --features says which");
		return -1;
	}
	s->host = s->run.core_name && !strcmp(s->run.core_name, "host");
	s->goal.threshold = s->threshold / 100;
	s->exhaustive = s->exhaustive_most;
	s->keep = s->run.profile != CLI_PROFILE_REFUSED && !s->run.sets;
	s->run.profile = CLI_PROFILE_NONE;	/* profile_name is the name to keep the choice under */
	return 1;
}

/* ---- the features ---- */

/* Prefetchers hide and replace each other, so they are one group: the search tries them together. */
static unsigned group_of(const struct core_feature *f)
{
	return f->kind == FEATURE_SWITCH && !strncmp(f->name, "prefetch.", 9);
}

static int no_feature(const struct search *s, const struct core_feature *all, size_t n, const char *word)
{
	struct near near;
	char text[256];
	near_start(&near, word);
	for (size_t i = 0; i < n; i++)
		near_offer(&near, all[i].name, strlen(all[i].name));
	if (!near_text(&near, "; nearest: ", text, sizeof text))
		snprintf(text, sizeof text, " (softpmu cores %s --features)", s->run.core.name);
	cli_error("--features: %s has no '%s'%s", s->run.core.name, word, text);
	return -1;
}

static int choose_features(struct search *s)
{
	struct core_feature all[FEATURES_MAX];
	bool chosen[FEATURES_MAX] = { false };
	const size_t n = core_features_list(&s->run.core, all, FEATURES_MAX);
	char *words = strdup(s->wanted ? s->wanted : "*"), *save = NULL;
	int rc = words ? 0 : -1;
	for (char *w = words ? strtok_r(words, ",", &save) : NULL; w && !rc; w = strtok_r(NULL, ",", &save)) {
		bool any = false;
		for (size_t i = 0; i < n; i++)
			if (!fnmatch(w, all[i].name, 0))
				chosen[i] = any = true;
		if (!any)
			rc = no_feature(s, all, n, w);
	}
	for (size_t i = 0; i < n && !rc; i++)
		if (chosen[i] && all[i].levels > 1 && s->features < TUNE_FEATURES) {
			struct core_feature *info = &s->info[s->features];
			struct tune_feature *f = &s->feature[s->features++];
			*info = all[i];
			*f = (struct tune_feature){ .name = info->name,
				.levels = info->levels < TUNE_LEVELS ? info->levels : TUNE_LEVELS,
				.ordered = info->kind == FEATURE_SIZE, .group = group_of(info), .limit = 1 };
			for (unsigned l = 0; l < f->levels; l++)
				f->level[l] = info->level[l].name;
		}
	if (!rc && !s->features) {
		cli_error("--features '%s': none of these can be changed", s->wanted);
		rc = -1;
	}
	free(words);
	return rc;
}

/* ---- the machine as it is ---- */

static int on_start(void *context, struct run_thread *t, struct err *err)
{
	struct search *s = context;
	struct thread *own = calloc(1, sizeof *own);
	int rc = own ? cost_thread_start(s->cost, &own->cost, t->pid, err) : err_set(err, ERR_NOMEM, "out of memory");
	if (!rc && s->plan.measured)
		rc = cost_thread_sample(own->cost, t, err);
	if (!rc && s->plan.measured)
		rc = tune_seen_start(&s->seen, &own->seen, t, err);
	if (rc) {
		free(own);
		own = NULL;
	} else {
		own->hash = TUNE_HASH;
	}
	t->sink_private = own;
	return rc;
}

static void on_end(void *context, struct run_thread *t)
{
	struct search *s = context;
	struct thread *own = t->sink_private;
	if (!own)
		return;
	cost_thread_end(own->cost);
	s->trace += own->hash;	/* a sum: the order in which threads end does not matter */
	free(own);
	t->sink_private = NULL;
}

static void on_batch(void *context, struct run_thread *t, const struct spmu_batch *b)
{
	struct search *s = context;
	struct thread *own = t->sink_private;
	if (!s->plan.measured)
		energy_batch(&s->preset.activity, b);
	if (!own)
		return;
	tune_seen_batch(&own->seen, b);
	cost_thread_batch(own->cost, b);
	for (uint32_t i = 0; i < b->count; i++) {
		const struct spmu_record *u = &b->records[i];
		if (u->kind == SPMU_REC_UOP && u->did & SPMU_DID(RETIRED))
			own->hash = (own->hash ^ u->ip ^ u->addr << 16) * UINT64_C(0x100000001b3);
	}
}

static uint64_t on_window(void *context, struct run_thread *t, const struct run_window *part)
{
	struct thread *own = t->sink_private;
	(void)context;
	if (own) {
		tune_seen_window(&own->seen, part);
		cost_thread_window(own->cost, part);
	}
	return 0;
}

/* Prepares what windows count. */
static int sample_preset(struct search *s, struct err *err)
{
	const int rc = s->plan.measured ? cost_run_sample(s->cost, err) : 0;
	return rc || !s->plan.measured ? rc : tune_seen_create(&s->seen, err);
}

/* Makes estimates of what windows counted. */
static int estimate_preset(struct search *s, const struct run_result *res, struct err *err)
{
	const int rc = s->plan.measured ? tune_seen_total(&s->seen, res, &s->preset.activity, err) : 0;
	return rc || !s->plan.measured ? rc : cost_run_estimate(s->cost, res, err);
}

static int run_preset(struct search *s, struct run_result *res)
{
	const struct run_sink sink = {
		.context = s, .thread_start = on_start, .thread_end = on_end, .batch = on_batch, .window = on_window
	};
	const struct core_config *c = &s->run.core;
	const struct pushout_widths widths = session_pushout_widths(c);
	struct cost_measure measure[COST_MEASURES];
	struct err err = { 0 };
	const unsigned measures = tune_limit_measures(measure, c, &err);
	int rc = measures ? cost_run_create(&s->cost, &widths, measure, measures, true, &err) : err.code;
	if (!rc)
		rc = sample_preset(s, &err);
	if (!rc) {
		const struct core_wanted wanted = core_wanted_both(energy_wanted(), cost_run_wanted(s->cost));
		s->run.run.wanted = &wanted;
		s->run.run.core = c;
		rc = cli_run_program(&s->run, &sink, res, &err);
		s->run.run.wanted = NULL;
		struct err memory = { 0 };
		if (cost_run_finish(s->cost, &memory) && !rc) {
			rc = memory.code;
			err = memory;
		}
		if (!rc && !cli_interrupted())
			rc = estimate_preset(s, res, &err);
	}
	if (rc)
		cli_error("%s", err.text);
	return rc;
}

static int set_limits(struct search *s)
{
	const struct tune_limits l = { &s->run.core, s->cost, &s->model, &s->preset.activity, s->run.run.smt,
		s->warmed };
	struct energy_bill bill;
	struct err err = { 0 };
	energy_bill(&bill, &s->model, &s->run.core, &s->preset.activity);
	s->preset.cycles = (double)s->preset.activity.n[ENERGY_COUNT_cycles];
	s->preset.energy = bill.total;
	for (unsigned i = 0; i < s->features; i++) {
		if (tune_limit(&s->feature[i].limit, &l, &s->feature[i], &s->goal, &s->why[i], &err)) {
			cli_error("%s", err.text);
			return -1;
		}
		if (s->no_prune)
			s->feature[i].limit = 1;
	}
	return 0;
}

/* A key of the trace, the core and its figures: a state file is used only for the same one. */
static uint64_t key_of(const struct search *s)
{
	char *text = core_config_print(&s->run.core, false);
	uint64_t key = tune_hash(TUNE_HASH, &s->trace, sizeof s->trace);
	key = tune_hash(key, text ? text : "", text ? strlen(text) : 0);
	key = tune_hash(key, s->preset.activity.n, sizeof s->preset.activity.n);
	if (s->plan.measured)
		key = tune_hash(key, &s->plan, sizeof s->plan);
	free(text);
	return key;
}

/* ---- what is kept ---- */

/* Keeps what was found as the program's profile. */
static int keep_profile(struct search *s, const struct tune *t)
{
	size_t n, settings = 0;
	const struct tune_try *tries = tune_tries(t, &n), *choice = tune_choice(t);
	const char *setting[TUNE_FEATURES];
	char text[TUNE_FEATURES][80];
	struct store_tried *tried = calloc(n, sizeof *tried);
	struct store_profile p = { .objective = s->objective,
		.command = s->program,
		.tried = tried,
		.tries = n,
		.before = { tries->activity.n[ENERGY_COUNT_instructions], tries->activity.n[ENERGY_COUNT_cycles],
			tries->energy },
		.after = { choice->activity.n[ENERGY_COUNT_instructions], choice->activity.n[ENERGY_COUNT_cycles],
			choice->energy } };
	int rc = tried ? 0 : -1;
	for (unsigned i = 0; i < s->features; i++)
		if (choice->set.level[i]) {
			snprintf(text[settings], sizeof text[settings], "%s=%s", s->feature[i].name,
				s->feature[i].level[choice->set.level[i]]);
			setting[settings] = text[settings];
			settings++;
		}
	p.set.setting = setting;
	p.set.settings = settings;
	for (size_t i = 0; i < n && !rc; i++) {
		char *words = tune_text(s->feature, s->features, &tries[i].set);
		for (char *c = words ? strchr(words, ',') : NULL; c; c = strchr(c, ','))
			*c = ' ';
		tried[i] = (struct store_tried){ words,
			{ tries[i].activity.n[ENERGY_COUNT_instructions], tries[i].activity.n[ENERGY_COUNT_cycles],
				tries[i].energy } };
		rc = words ? 0 : -1;
	}
	if (rc)
		cli_error("out of memory");
	else
		rc = cli_profile_keep(&s->run, &p);
	for (size_t i = 0; tried && i < n; i++)
		free((char *)tried[i].settings);
	free(tried);
	return rc;
}

/* ---- the search ---- */

static int prepare_launch(struct search *s, const struct tune_pool *pool, struct err *err)
{
	if (!s->launch)
		return 0;
	if (s->host) {
		s->words[s->words_count++] = "--core";	/* that of this machine, on every node */
		s->words[s->words_count++] = s->run.core.name;
	}
	return tune_launch_prepare(s->launch, pool, s->words, s->words_count, err);
}

static int search(struct search *s)
{
	struct err err = { 0 };
	struct tune_pool pool = { .run = &s->run,
		.preset = &s->run.core,
		.features = s->feature,
		.count = s->features,
		.model = &s->model,
		.jobs = s->jobs,
		.sample = s->plan,
		.seen = &s->seen,
		.launch = s->launch };
	struct tune *t = NULL;
	int rc = tune_state_open(&pool.state, s->state_path, key_of(s), s->key, s->run.core.name, s->fresh, &err);
	if (!rc)
		rc = prepare_launch(s, &pool, &err);
	if (!rc)
		rc = tune_create(&t, s->feature, s->features, &s->goal, &s->preset, tune_pool_measure, &pool, &err);
	cli_catch(true);
	if (!rc)
		rc = s->exhaustive > 0 ? tune_exhaustive(t, s->exhaustive, &err) : tune_search(t, &err);
	const bool interrupted = cli_interrupted();
	cli_catch(false);
	cli_progress_clear(&s->run);
	if (rc && interrupted)
		cli_error("interrupted; the %zu configurations measured so far are kept in %s, the same search goes on "
			  "from there",
			pool.ran + pool.known, tune_state_path(pool.state));
	else if (rc)
		cli_error("%s", err.text);
	if (!rc) {
		const struct tune_view v = { .out = s->out,
			.run = &s->run,
			.program = s->program,
			.search = t,
			.pool = &pool,
			.goal = &s->goal,
			.objective = s->objective,
			.why = s->why,
			.all = s->all,
			.exhaustive = s->exhaustive > 0 };
		if (s->json)
			tune_print_json(&v);
		else
			tune_print(&v);
	}
	if (!rc && s->keep && !s->run.core.both_rings) {	/* a machine is no program and has no profile */
		if (s->file)
			s->run.run.replay = NULL;	/* the profile is the program's, not its stream's */
		rc = keep_profile(s, t);
		if (!rc && !s->json)
			fprintf(s->out,
				" Kept: softpmu run, stat and record apply it to this program on %s (softpmu tune "
				"show, forget)\n\n",
				s->run.core.name);
	}
	tune_destroy(t);
	tune_state_close(pool.state);
	return rc;
}

/* The command line, or the name of the stream. */
static char *program_text(const struct search *s)
{
	char *text = NULL;
	size_t bytes = 0;
	FILE *f = open_memstream(&text, &bytes);
	if (!f)
		return NULL;
	if (s->run.run.replay)
		fputs(s->run.run.replay, f);
	for (char *const *a = s->run.argv; a && *a; a++)
		fprintf(f, "%s%s", a == s->run.argv ? "" : " ", *a);
	if (!fclose(f))
		return text;
	free(text);
	return NULL;
}


static int measure_and_search(struct search *s)
{
	struct run_result res = { 0 };
	struct err err = { 0 };
	int recorded = 0;
	if (energy_load(&s->model, cli_data_dir(), s->run.core.energy, &err)) {
		cli_error("%s", err.text);
		return 1;
	}
	if (choose_features(s))
		return 2;
	s->program = program_text(s);
	if (cli_profile_program(&s->run, s->key, &err))	/* of a stream whose program is gone: the profile is nobody's */
		s->key[0] = 0;
	if (!s->program ||
		(!s->run.run.replay && !s->run.run.save && !(s->file = cli_keep_stream(&s->run, "tune", ""))))
		return 1;
	if (s->sample.on && cli_sample_plan(&s->sample, &s->run, WINDOWS, &s->plan, &recorded))
		return 1;
	if (s->sample.on)
		s->run.run.sample = s->plan;
	int rc = run_preset(s, &res), status = cli_exit_status(recorded ? recorded : res.wait_status);
	if (res.note[0])
		cli_warn("%s", res.note);
	if (!rc && !s->preset.activity.n[ENERGY_COUNT_instructions]) {
		if (!status)
			cli_error("nothing was measured: no instruction lies between --start and --stop");
		rc = !status;
	} else if (!rc && cli_interrupted()) {
		cli_error("interrupted: nothing was searched for");
		rc = 1;
	} else if (!rc) {
		if (!s->run.run.replay)
			s->run.run.replay = s->run.run.save;
		s->run.run.save = NULL;
		s->run.run.argv = NULL;
		s->warmed = res.warmed && !s->sample.on;
		rc = set_limits(s) || search(s);
	}
	return rc ? 1 : status;
}

int cmd_tune_search(int argc, char **argv)
{
	struct search *s = calloc(1, sizeof *s);
	int next = 0, status = 2;
	if (!s) {
		cli_error("out of memory");
		return 1;
	}
	s->out = stderr;
	s->objective = "cycles";
	s->threshold = 0.5;
	cli_run_init(&s->run);
	const int go = parse(s, argc, argv, &next);
	if (!go)
		status = 0;
	if (go > 0 && !cli_run_finish(&s->run, argc, argv, next) && !cli_sample_check(&s->sample, &s->run)) {
		status = 1;
		if (s->output && !(s->out = fopen(s->output, "we")))
			cli_error("cannot write %s: %s", s->output, strerror(errno));
		else
			status = measure_and_search(s);
		if (s->output && s->out) {
			const bool bad = ferror(s->out);
			if (fclose(s->out) || bad) {
				cli_error("cannot write %s: %s", s->output, strerror(errno));
				status = status ? status : 1;
			}
		}
	}
	cli_forget_stream(&s->run, s->file);
	free(s->program);
	cost_run_destroy(s->cost);
	tune_seen_release(&s->seen);
	tune_launch_destroy(s->launch);
	free(s->words);
	free(s);
	return status;
}
