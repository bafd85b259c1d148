/* SPDX-License-Identifier: GPL-2.0-or-later
 * softpmu tune --native: finds the settings of this machine that a program runs faster with, by its time.
 * native/trial.h has the rule. */
#include "cli/cli.h"
#include "cli/common/cli_profile.h"
#include "cli/tune/native_commands.h"
#include "cli/tune/tune_commands.h"
#include "native/knobs.h"
#include "stream/stream.h"
#include "util/json.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { ONLY = 32 };

struct tune {
	struct trial_options trial;
	struct native_knobs knobs;
	struct trial_arm arm[TRIAL_ARMS];
	const struct native_set *set[TRIAL_ARMS];	/* the setting of each arm */
	unsigned arms;
	const char *only[ONLY], *input;
	unsigned onlys;
	bool list, process, null, no_keep, json, itself;
	double budget, least;		/* seconds; percent */
	/* the run */
	char *const *argv;
	char path[PATH_MAX];
	struct native_machine *machine;
	const struct native_signals *signals;
	struct trial_times usual;
	int status;			/* the program's exit status without any setting */
	double started;
	unsigned runs;
	bool shows;
	/* the result */
	struct native_set chosen;
	struct trial_arm confirmed;
	bool tried, keeps;		/* tried: fresh runs were made of a set; keeps: they confirmed it */
};

static double now(void)
{
	struct timespec ts;
	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (double)ts.tv_sec + 1e-9 * (double)ts.tv_nsec;
}

/* ---- options ---- */

static const struct option options[] = {
	OPT_FLAG(0, "native", struct tune, itself, "Tune for this machine instead of the model. It must be the first "
		"option."),
	OPT_GROUP("Which settings"),
	OPT_FLAG(0, "list", struct tune, list, "Only say which settings there are, and why others are missing."),
	OPT_LIST(0, "only", "KNOB", struct tune, only, onlys, "Try only settings whose names begin with KNOB, as in "
		"--only glibc.malloc. May be repeated."),
	OPT_FLAG(0, "process", struct tune, process, "Try only settings of the process: leave the machine's "
		"prefetchers and caches alone."),
	OPT_FLAG(0, "null", struct tune, null, "Test the measurement: go through all settings without applying them, "
		"so that every gain found is a false one. Nothing is kept."),
	OPT_GROUP("How it is measured and decided"),
	OPT_CHOICE(0, "measure", "cpu|wall", struct tune, trial.measure, TRIAL_CPU, "Measure user and system time "
		"(cpu, the default), or elapsed time, for programs that wait or have threads."),
	OPT_WHOLE(0, "blocks", "N", struct tune, trial.blocks, TRIAL_LEAST_BLOCKS, SIGNED_RANK_MOST, "Make at most N "
		"blocks of four runs a setting, 10 to 64. Default: 20."),
	OPT_NUMBER(0, "level", "P", struct tune, trial.level, 0.0001, 0.5, "Accept the probability P that a setting "
		"is kept although no setting helps the program. Default: 0.05."),
	OPT_NUMBER(0, "least", "PERCENT", struct tune, least, 0, 90, "Ignore gains below PERCENT. Default: 1."),
	OPT_NUMBER(0, "budget", "SECONDS", struct tune, budget, 0, 1e7, "Measure no longer than SECONDS. A setting "
		"that is not decided by then counts as no gain."),
	OPT_WHOLE(0, "seed", "N", struct tune, trial.seed, 0, 9007199254740992.0, "Draw the order of the runs from "
		"this seed. Default: 1."),
	OPT_TEXT(0, "input", "FILE", struct tune, input, "Give FILE to every run as standard input. Default: "
		"/dev/null."),
	OPT_GROUP("The result"),
	OPT_FLAG(0, "no-keep", struct tune, no_keep, "Keep nothing."),
	OPT_FLAG('j', "json", struct tune, json, "Print JSON."),
	OPT_END
};

/* 1: go on; 0: help was printed; -1: bad, one line was printed. */
static int parse(struct tune *t, int argc, char **argv)
{
	int i;
	const int go = cli_options(&tune_native, t, NULL, argc, argv, &i);
	if (go <= 0)
		return go;
	t->trial.least = t->least / 100;
	i += i < argc && !strcmp(argv[i], "--");
	if (i >= argc) {
		cli_error("no program given: softpmu tune --native [options] [--] PROGRAM [arguments]");
		return -1;
	}
	t->argv = argv + i;
	return 1;
}

static bool wanted(const struct tune *t, const struct native_set *set)
{
	if (t->process && native_set_machine(set))
		return false;
	for (unsigned k = 0; k < t->onlys; k++)
		if (!strncmp(set->at[0].knob, t->only[k], strlen(t->only[k])))
			return true;
	return !t->onlys;
}

/* ---- runs ---- */

static void progress(struct tune *t)
{
	double spent = now() - t->started;
	if (t->shows && spent > 2)
		fprintf(stderr, "\r  %u runs in %.0f s, of at most %u, %.0f s\033[K", t->runs, spent,
			t->arms * t->trial.blocks * 4, spent / t->runs * t->arms * t->trial.blocks * 4);
}

static void clear(const struct tune *t)
{
	if (t->shows)
		fputs("\r\033[K", stderr);
}

static const char *ending(int status, char text[64])
{
	if (WIFSIGNALED(status))
		snprintf(text, 64, "signal %d", WTERMSIG(status));
	else
		snprintf(text, 64, "exit status %d", WEXITSTATUS(status));
	return text;
}

/* Runs the program once with a set of settings (NULL: none). */
static int once(struct tune *t, const struct native_set *set, uint64_t layout, int *status, struct trial_times *times,
	struct err *err)
{
	struct native_start s = {
		.argv = t->argv, .set = set, .input = t->input, .layout = layout, .stop = &t->signals->sent
	};
	bool machine = set && native_set_machine(set);
	if (t->signals->taken)
		return err_set(err, ERR_SYSTEM, "interrupted");
	if (machine && native_machine_set(t->machine, set, err))
		return TRIAL_REFUSED;
	s.tasks = machine ? native_machine_tasks(t->machine) : NULL;
	int rc = native_run(&s, status, times, err);
	if (machine) {
		struct err late = { 0 };
		int back = native_machine_reset(t->machine, &late);
		if (back) {
			if (err)
				*err = late;
			return back;
		}
	}
	if (t->signals->taken)
		return err_set(err, ERR_SYSTEM, "interrupted");
	t->runs++;
	progress(t);
	return rc == ERR_UNSUPPORTED ? TRIAL_REFUSED : rc;
}

static int measured(void *context, int arm, uint64_t block, struct trial_times *times, struct err *err)
{
	struct tune *t = context;
	char is[64], was[64];
	int status = 0;
	if (t->budget > 0 && now() - t->started > t->budget)
		return TRIAL_ENOUGH;
	int rc = once(t, arm < 0 || t->null ? NULL : t->set[arm], block, &status, times, err);
	if (rc || status == t->status)
		return rc;
	return err_set(err, arm < 0 ? ERR_INPUT : TRIAL_REFUSED, "%s instead of %s", ending(status, is),
		ending(t->status, was));
}

/* Runs the program twice without any setting, to learn its time and how it ends.  In the first run its files are
 * not cached. */
static int first_runs(struct tune *t, struct err *err)
{
	char text[64];
	for (int i = 0; i < 2; i++) {
		int rc = once(t, NULL, 0, &t->status, &t->usual, err);
		if (rc)
			return rc;
		if (WIFSIGNALED(t->status))
			return err_set(err, ERR_INPUT, "%s ends by %s: there is nothing to measure", t->argv[0],
				ending(t->status, text));
	}
	t->started = now();
	t->runs = 0;
	return 0;
}

/* Joins the sets with a gain, the greatest first; of two settings of one knob, the first counts. */
static int choose(const struct tune *t, struct native_set *all, struct native_set *best, unsigned *of, struct err *err)
{
	bool taken[TRIAL_ARMS] = { false };
	*of = 0;
	for (;;) {
		int next = -1;
		for (unsigned i = 0; i < t->arms; i++)
			if (!taken[i] && t->arm[i].verdict == TRIAL_GAIN &&
				(next < 0 ||
					t->arm[i].effect[t->trial.measure].gain >
						t->arm[next].effect[t->trial.measure].gain))
				next = (int)i;
		if (next < 0)
			return 0;
		taken[next] = true;
		if (!*of)
			*best = *t->set[next];
		int rc = native_set_join(all, t->set[next], err);
		if (rc)
			return rc;
		++*of;
	}
}

/* Confirms the set by fresh runs.  Several settings may spoil each other: if their set fails, the best one is tried
 * alone, and each of the two tests has half the level. */
static int confirm(struct tune *t, struct err *err)
{
	struct native_set all = { .n = 0 }, best = { .n = 0 };
	const struct native_set *first = t->set[0];
	struct trial_options o = t->trial;
	unsigned of;
	int rc = choose(t, &all, &best, &of, err);
	if (rc || !of)
		return rc;
	o.blocks = TRIAL_LEAST_BLOCKS > o.blocks / 2 ? TRIAL_LEAST_BLOCKS : o.blocks / 2;
	o.level = of > 1 ? o.level / 2 : o.level;
	for (unsigned try = 0; try < (of > 1 ? 2 : 1) && !t->keeps; try++) {
		t->chosen = try ? best : all;
		t->set[0] = &t->chosen;
		o.seed = t->trial.seed + 1 + try;
		t->tried = true;
		rc = trial_confirm(&t->confirmed, &o, err);
		t->set[0] = first;
		if (rc)
			return rc;
		t->keeps = t->confirmed.verdict == TRIAL_GAIN;
	}
	return 0;
}

/* ---- what is printed ---- */

static const char *percent(double part, char text[16])
{
	if (isfinite(part) && part > -9.99)
		snprintf(text, 16, "%.1f", 100 * part);
	else
		strcpy(text, "?");
	return text;
}

static void print_absent(const struct tune *t)
{
	if (t->knobs.absents)
		puts("\n not on this machine:");
	for (unsigned i = 0; i < t->knobs.absents; i++)
		printf("   %s: %s\n", t->knobs.absent[i].knob, t->knobs.absent[i].why);
}

static void print_found(const struct tune *t)
{
	char text[NATIVE_TEXT];
	printf(" machine: %s\n\n of         setting\n", t->knobs.processor);
	for (unsigned i = 0; i < t->knobs.choices; i++)
		printf(" %-9s  %s  (%s)\n", native_set_machine(&t->knobs.choice[i].set) ? "machine" : "process",
			native_set_text(&t->knobs.choice[i].set, text), t->knobs.choice[i].what);
	print_absent(t);
}

static void print_effect(const struct trial_arm *a, unsigned measure)
{
	char gain[16], low[16], high[16];
	const struct trial_effect *e = &a->effect[measure];
	printf("%7s %%  %7s to %6s %%", percent(e->gain, gain), percent(e->low, low), percent(e->high, high));
}

static void print_report(const struct tune *t)
{
	char text[NATIVE_TEXT];
	const char *time = t->trial.measure == TRIAL_CPU ? "user and system time" : "elapsed time";
	printf(" machine: %s\n program: %s, %.4f s of user and system time, %.4f s elapsed\n"
	       " %s saved, level %g for all together, least gain %g %%, seed %llu%s\n\n",
		t->knobs.processor, t->argv[0], t->usual.cpu, t->usual.wall, time, t->trial.level, 100 * t->trial.least,
		(unsigned long long)t->trial.seed, t->null ? "; nothing is set: the program against itself" : "");
	printf("    saved   95 %% interval       blocks       p  verdict    setting\n");
	for (unsigned i = 0; i < t->arms; i++) {
		const struct trial_arm *a = &t->arm[i];
		if (a->verdict == TRIAL_FAILED)
			printf("  %-42s  %-9s  %s: %s\n", "", "failed", native_set_text(t->set[i], text), a->why);
		else {
			print_effect(a, t->trial.measure);
			printf("  %6u  %6.4f  %-9s  %s\n", a->blocks, a->p, trial_verdict_name(a->verdict),
				native_set_text(t->set[i], text));
		}
	}
	print_absent(t);
}

static void print_choice(const struct tune *t, bool stored)
{
	char text[NATIVE_TEXT];
	if (!t->tried) {
		printf("\n no setting gains enough to be told from noise: %s runs as it is\n", t->argv[0]);
		return;
	}
	printf("\n chosen: %s\n fresh runs: ",
		t->null ? "nothing, under the names of settings" : native_set_text(&t->chosen, text));
	print_effect(&t->confirmed, t->trial.measure);
	printf(" in %u blocks, p %.4f: %s\n", t->confirmed.blocks, t->confirmed.p,
		t->keeps ? "confirmed" : "not confirmed");
	if (stored)
		printf(" kept: softpmu run --native -- %s\n", t->argv[0]);
}

static void json_number(const char *name, double x)
{
	if (isfinite(x))
		printf(", \"%s\": %.6g", name, x);
	else
		printf(", \"%s\": null", name);
}

static void json_arm(const struct trial_arm *a, unsigned measure)
{
	static const char *const prefix[] = { "cpu", "wall" };
	printf(", \"verdict\": \"%s\", \"blocks\": %u", trial_verdict_name(a->verdict), a->blocks);
	for (unsigned m = 0; m < TRIAL_MEASURES; m++) {
		printf(", \"%s\": {\"measured\": %s", prefix[m], m == measure ? "true" : "false");
		json_number("saved", a->effect[m].gain);
		json_number("low", a->effect[m].low);
		json_number("high", a->effect[m].high);
		putchar('}');
	}
	json_number("p", a->p);
	if (a->why[0]) {
		fputs(", \"why\": ", stdout);
		json_string(stdout, a->why);
	}
}

static void json_settings(const struct native_set *set)
{
	fputs("[", stdout);
	for (unsigned i = 0; i < set->n; i++)
		printf("%s\"%s=%s\"", i ? ", " : "", set->at[i].knob, set->at[i].value);
	putchar(']');
}

static void print_json(const struct tune *t)
{
	printf("{\"machine\": ");
	json_string(stdout, t->knobs.processor);
	printf(", \"program\": ");
	json_string(stdout, t->path);
	printf(", \"null\": %s, \"settings\": [", t->null ? "true" : "false");
	for (unsigned i = 0; i < (t->list ? t->knobs.choices : t->arms); i++) {
		const struct native_set *set = t->list ? &t->knobs.choice[i].set : t->set[i];
		printf("%s{\"set\": ", i ? ", " : "");
		json_settings(set);
		printf(", \"of\": \"%s\"", native_set_machine(set) ? "machine" : "process");
		if (!t->list)
			json_arm(&t->arm[i], t->trial.measure);
		putchar('}');
	}
	fputs("], \"absent\": [", stdout);
	for (unsigned i = 0; i < t->knobs.absents; i++) {
		fputs(i ? ", {\"knob\": " : "{\"knob\": ", stdout);
		json_string(stdout, t->knobs.absent[i].knob);
		fputs(", \"why\": ", stdout);
		json_string(stdout, t->knobs.absent[i].why);
		putchar('}');
	}
	fputs("]", stdout);
	if (!t->list) {
		printf(", \"runs\": %u, \"tried\": ", t->runs);
		json_settings(&t->chosen);
		if (t->tried) {
			fputs(", \"fresh\": {\"confirmed\": ", stdout);
			fputs(t->keeps ? "true" : "false", stdout);
			json_arm(&t->confirmed, t->trial.measure);
			putchar('}');
		}
		fputs(", \"chosen\": ", stdout);
		json_settings(t->keeps ? &t->chosen : &(struct native_set){ .n = 0 });
	}
	puts("}");
}

/* ---- the whole ---- */

/* Keeps what was decided, also that nothing gains.  0, or -1 after one printed line. */
static int keep(const struct tune *t)
{
	char key[PROGRAM_KEY_CHARS], path[PATH_MAX], date[16], objective[64], command[256],
		settings[NATIVE_SETTINGS][2 * NATIVE_WORD];
	const char *setting[NATIVE_SETTINGS], *measure = t->trial.measure == TRIAL_CPU ? "cpu time" : "elapsed time";
	const struct trial_effect *e = &t->confirmed.effect[t->trial.measure];
	struct profile_store *store = NULL;
	struct err err = { 0 };
	unsigned n = t->keeps ? t->chosen.n : 0;
	for (unsigned i = 0; i < n; i++) {
		snprintf(settings[i], sizeof settings[i], "%s=%s", t->chosen.at[i].knob, t->chosen.at[i].value);
		setting[i] = settings[i];
	}
	if (t->keeps) {
		snprintf(objective, sizeof objective, "%s -%.1f %%", measure, 100 * e->gain);
		snprintf(command, sizeof command,
			"softpmu tune --native: %.1f to %.1f %% of %s saved with 95 %% confidence, p %.4f",
			100 * e->low, 100 * e->high, measure, t->confirmed.p);
	} else {
		snprintf(objective, sizeof objective, "%s", measure);
		snprintf(command, sizeof command, "softpmu tune --native: none of %u settings gains", t->arms);
	}
	if (cli_profile_key(t->argv[0], key, path, sizeof path) || cli_profile_store(&store, true))
		return -1;
	cli_profile_date(date);
	struct store_profile p = { .program = key,
		.path = path,
		.core = NATIVE_CORE,
		.objective = objective,
		.command = command,
		.date = date,
		.version = cli_version(),
		.before.energy = -1,
		.after.energy = -1,
		.set.setting = setting,
		.set.settings = n };
	int rc = profile_store_put(store, &p, &err);
	profile_store_close(store);
	if (rc)
		cli_error("%s", err.text);
	return rc ? -1 : 0;
}

static int search(struct tune *t, struct err *err)
{
	bool machine = false;
	for (unsigned i = 0; i < t->knobs.choices; i++)
		if (wanted(t, &t->knobs.choice[i].set)) {
			t->set[t->arms++] = &t->knobs.choice[i].set;
			machine |= native_set_machine(&t->knobs.choice[i].set);
		}
	if (!t->arms)
		return err_set(err, ERR_INPUT, "no such setting on this machine (softpmu tune --native --list)");
	int rc = machine && !t->null ? native_machine_open(&t->machine, native_root(), NULL, err) : 0;
	if (!rc)
		rc = first_runs(t, err);
	if (!rc)
		rc = trial_run(t->arm, t->arms, &t->trial, err);
	clear(t);
	if (rc)
		return rc;
	if (!t->json)
		print_report(t);
	fflush(stdout);
	rc = confirm(t, err);
	clear(t);
	return rc;
}

static int run(int argc, char **argv)
{
	struct tune *t = calloc(1, sizeof *t);
	struct err err = { 0 }, late = { 0 };
	if (!t) {
		cli_error("out of memory");
		return 1;
	}
	t->trial = (struct trial_options){
		.measure = TRIAL_CPU, .level = 0.05, .blocks = TRIAL_BLOCKS, .seed = 1, .run = measured, .context = t
	};
	t->least = 1;
	int rc = parse(t, argc, argv), status = 0;
	if (rc <= 0) {
		free(t);
		return rc ? 2 : 0;
	}
	t->shows = isatty(2);
	t->signals = native_signals();
	rc = native_tidy() ? ERR_SYSTEM : stream_find_program(t->argv[0], t->path, sizeof t->path, &err);
	if (!rc)
		rc = native_knobs(&t->knobs, native_root(), t->path, &err);
	if (!rc && t->list)
		t->json ? print_json(t) : print_found(t);
	else if (!rc)
		rc = search(t, &err);
	if (native_machine_close(t->machine, &late))
		cli_error("%s", late.text);
	/* A search of only some settings, or cut short, that finds no gain does not replace what was found before. */
	bool whole = !t->onlys && !t->process && !(t->budget > 0);
	bool keeps = !rc && !t->list && !t->null && !t->no_keep && (t->keeps || whole);
	if (rc && err.text[0])
		cli_error("%s", err.text);
	else if (!rc && keeps && keep(t))
		rc = ERR_SYSTEM;
	if (!rc && !t->list)
		t->json ? print_json(t) : print_choice(t, keeps);
	status = t->signals->taken ? 128 + (int)t->signals->taken : rc ? 1 : 0;
	free(t);
	return status;
}

const struct cli_command tune_native = {
	.name = "tune --native", .summary = "find settings of this machine that the program runs faster with",
		.options = options, .run = run,
	.usage = "[options] [--] PROGRAM [arguments]",
	.about = "Tries each setting that this machine has against runs without it, and keeps for softpmu run "
		"--native the settings with which PROGRAM runs faster beyond chance (--level). The program is run "
		"some hundred times; its output is thrown away.",
};
