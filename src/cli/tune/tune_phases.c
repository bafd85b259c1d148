/* SPDX-License-Identifier: GPL-2.0-or-later
 * softpmu tune --phases: finds settings of the machine's features for each phase of a program, switched where it
 * begins.
 *
 * The program runs once, and its phases are found in that run (analysis/tune/phase_finder.h).  One replay for each
 * level of each feature says what the level is worth in each phase; intervals have the same number of instructions
 * on every machine, so they can be compared.  Each further replay tries a setting in every phase at once, and
 * writes the registers at the phases' markers as later runs will: the promise includes the cost of the switches.
 * Left out: objectives other than cycles, and sizes, which only cost cycles when they are smaller (softpmu tune has
 * both, for whole runs). */
#include "cli/cli.h"
#include "cli/common/cli_profile.h"
#include "cli/tune/tune_commands.h"
#include "analysis/tune/phase_finder.h"
#include <fnmatch.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { CANDIDATES = 256, CHOSEN = 8 /* settings of a phase */, TRIES = 512, ROUNDS = 6 };
static const double worth = 0.001;	/* a share of the cycles; less is no gain */

struct candidate { size_t feature; unsigned level; char text[64]; uint64_t cycles[PHASES_MOST], all; };
struct chosen { size_t at[CHOSEN], count; uint64_t cycles; };	/* candidates */
struct place { char object[256]; uint64_t offset; };

struct tuning {
	struct cli_run run;
	struct core_features preset;
	uint64_t interval;
	const char *features, *name;
	bool no_keep, quiet, itself, own;	/* own: the stream is a temporary file of this search */
	struct core_feature feature[FEATURES_MAX];
	struct candidate *candidate;
	size_t candidates;
	struct phases *base, *now;
	size_t phases;
	uint64_t base_cycles[PHASES_MOST], insns[PHASES_MOST], base_all, insns_all;
	struct { uint64_t addr, bytes, offset; char path[PATH_MAX]; } *map;
	size_t maps;
	struct place place[PHASES_MOST];
	struct cli_phase *phase;
	struct store_tried *tried;
	size_t tries;
	bool first;			/* the first thread, the only one that the sink looks at, was seen */
	const void *thread;
	bool lost;
};

/* ---- options ---- */

static const struct option options[] = {
	OPT_FLAG(0, "phases", struct tuning, itself, "Find settings for each phase. It must be the first option."),
	OPT_SCALED(0, "interval", "N", struct tuning, interval, 100, 1e18, "Cut the run into intervals of N "
		"instructions (suffixes k, M); a phase has two or more. Default: 10k."),
	OPT_TEXT(0, "features", "NAME,...", struct tuning, features, "Try these features: names or patterns. Default: "
		"'prefetch.*,disambiguation'."),
	OPT_FLAG(0, "no-keep", struct tuning, no_keep, "Only say what was found."),
	OPT_FLAG('q', "quiet", struct tuning, quiet, "Do not say what is being tried."),
	OPT_REFUSED(0, "sample", "an interval is the same instructions on every machine, so each would need windows of "
		"its own", "softpmu tune --sample finds settings for the whole run"),
	OPT_END
};

/* 1: goes on; 0: help was printed; -1: bad, one line was printed. */
static int parse(struct tuning *t, int argc, char **argv, int *next)
{
	const int go = cli_options(&tune_phases, t, &t->run, argc, argv, next);
	if (go <= 0)
		return go;
	t->name = t->run.profile_name;	/* the name to keep the choice under; no profile is applied */
	t->run.profile = CLI_PROFILE_NONE;
	if (t->run.sets || t->run.features || t->run.cpus || t->run.run.smt) {
		cli_error("tune --phases: a profile is for a preset, each thread on a core of its own: not with --set, "
			  "--feature, --wrmsr, --cpus or --smt");
		return -1;
	}
	return 1;
}

/* Whether a name or pattern of the list matches the feature. */
static bool is_wanted(const char *list, const char *name)
{
	char word[128];
	while (*list) {
		size_t n = strcspn(list, ",");
		snprintf(word, sizeof word, "%.*s", (int)(n < sizeof word ? n : 0), list);
		if (!fnmatch(word, name, 0))
			return true;
		list += n + (list[n] == ',');
	}
	return false;
}

static int choose_candidates(struct tuning *t)
{
	size_t n = core_features_list(&t->run.core, t->feature, FEATURES_MAX);
	for (size_t f = 0; f < n; f++)
		for (unsigned l = 1; l < t->feature[f].levels && is_wanted(t->features, t->feature[f].name); l++) {
			if (t->candidates == CANDIDATES) {
				cli_error("--features %s: more than %d levels in all", t->features, CANDIDATES);
				return -1;
			}
			struct candidate *c = t->candidate + t->candidates++;
			*c = (struct candidate){ .feature = f, .level = l };
			snprintf(c->text, sizeof c->text, "%s=%s", t->feature[f].name, t->feature[f].level[l].name);
		}
	if (!t->candidates)
		cli_error("--features %s: core '%s' has none of these (softpmu cores %s --features)", t->features,
			t->run.core.name, t->run.core.name);
	return t->candidates ? 0 : -1;
}

/* ---- runs ---- */

static int on_start(void *context, struct run_thread *thread, struct err *err)
{
	struct tuning *t = context;
	(void)err;
	if (!t->first)
		t->thread = thread;
	t->first = true;
	return 0;
}

static void on_end(void *context, struct run_thread *thread)
{
	struct tuning *t = context;
	if (t->thread == thread)
		t->thread = NULL;
}

static void on_batch(void *context, struct run_thread *thread, const struct spmu_batch *b)
{
	struct tuning *t = context;
	if (thread == t->thread)
		phases_batch(t->now, b);
}

static void on_side(void *context, struct run_thread *thread, uint32_t pid, const uint64_t *record, uint64_t cycle)
{
	struct tuning *t = context;
	const struct st_map *m = (const struct st_map *)record;
	(void)thread, (void)pid, (void)cycle;
	if (ST_HEADER_KIND(*record) != ST_MAP || t->now != t->base || !(m->prot & ST_PROT_X) || !m->path_bytes)
		return;
	void *more = realloc(t->map, (t->maps + 1) * sizeof *t->map);
	if (!more) {
		t->lost = true;
		return;
	}
	t->map = more;
	t->map[t->maps].addr = m->addr;
	t->map[t->maps].bytes = m->bytes;
	t->map[t->maps].offset = m->offset;
	snprintf(t->map[t->maps++].path, PATH_MAX, "%s", (const char *)(m + 1));
}

/* The file that an address is mapped from, and the offset in it; false if there is none. */
static bool place_of(const struct tuning *t, uint64_t ip, struct place *out)
{
	for (size_t i = t->maps; i-- > 0;)
		if (ip - t->map[i].addr < t->map[i].bytes) {
			const char *name = strrchr(t->map[i].path, '/');
			if (t->map[i].path[0] != '/' || !name || strlen(name + 1) >= sizeof out->object)
				return false;
			strcpy(out->object, name + 1);
			out->offset = ip - t->map[i].addr + t->map[i].offset;
			return true;
		}
	return false;
}

static bool usable(void *context, uint64_t ip)
{
	struct place place;
	return place_of(context, ip, &place);
}

/* Makes one run on the machine with these registers, and fills t->now. */
static int run_once(struct tuning *t, const struct core_features *f, struct run_result *res)
{
	const struct run_sink sink = {
		.context = t, .thread_start = on_start, .thread_end = on_end, .batch = on_batch, .side = on_side
	};
	struct err err = { 0 };
	const struct core_wanted wanted = phases_wanted();
	struct core_config core;
	core_features_config(f, &core);
	t->run.run.core = &core;
	t->run.run.features = f;
	t->run.run.wanted = &wanted;
	t->first = false;
	int rc = cli_run_program(&t->run, &sink, res, &err);
	t->run.run.core = &t->run.core;
	t->run.run.features = &t->preset;
	t->run.run.wanted = NULL;
	if (!rc)
		rc = phases_finish(t->now, &err);
	if (!rc && t->lost)
		rc = err_set(&err, ERR_NOMEM, "out of memory");
	if (rc)
		cli_error("%s", err.text);
	return rc || cli_interrupted() ? -1 : 0;
}

static int keep_try(struct tuning *t, const char *settings, uint64_t cycles)
{
	char *text = t->tries < TRIES ? strdup(settings) : NULL;
	if (text)
		t->tried[t->tries++] = (struct store_tried){ text, { t->insns_all, cycles, -1 } };
	if (!t->quiet)
		fprintf(stderr, "softpmu: %15" PRIu64 " cycles with %s\n", cycles, *settings ? settings : "the preset");
	return text ? 0 : -1;
}

/* Makes a replay; fills the cycles of each phase, and of the run. */
static int measure(struct tuning *t, const struct core_features *f, const char *settings, uint64_t cycles[PHASES_MOST],
	uint64_t *all)
{
	struct run_result res;
	struct err err = { 0 };
	memset(cycles, 0, PHASES_MOST * sizeof *cycles);
	if (phases_create(&t->now, phases_interval(t->base), false, &err)) {
		cli_error("%s", err.text);
		return -1;
	}
	int rc = run_once(t, f, &res);
	for (size_t i = 0; !rc && i < phases_intervals(t->now) && i < phases_intervals(t->base); i++)
		cycles[phases_of(t->base, i)] += phases_cycles(t->now, i);
	phases_destroy(t->now);
	t->now = NULL;
	*all = res.cycles;
	return rc ? rc : keep_try(t, settings, *all);
}

static int set_of(const struct tuning *t, const struct chosen *c, struct core_features *out)
{
	struct err err;
	*out = t->preset;
	for (size_t i = 0; i < c->count; i++)
		if (core_features_set(out, t->candidate[c->at[i]].text, &err)) {
			cli_error("%s", err.text);
			return -1;
		}
	return 0;
}

static void text_of(const struct tuning *t, const struct chosen *c, char *text, size_t bytes)
{
	size_t used = 0;
	*text = 0;
	for (size_t i = 0; i < c->count && used < bytes; i++)
		used += (size_t)snprintf(text + used, bytes - used, "%s%s", i ? "," : "", t->candidate[c->at[i]].text);
}

/* Makes a replay in which each phase has its own settings. */
static int measure_switched(struct tuning *t, const struct chosen *of, uint64_t cycles[PHASES_MOST], uint64_t *all)
{
	char settings[4096];
	size_t used = 0;
	for (size_t p = 0; p < t->phases; p++) {
		char text[512];
		if (set_of(t, of + p, &t->phase[p].to))
			return -1;
		text_of(t, of + p, text, sizeof text);
		if (used < sizeof settings)
			used += (size_t)snprintf(settings + used, sizeof settings - used, "%sphase %zu: %s",
				p ? "; " : "", p + 1, *text ? text : "as it is");
	}
	struct run_write *write = cli_phase_writes(t->phase, t->phases, &t->run.run.writes);
	t->run.run.write = write;
	if (!write)
		cli_error("out of memory");
	int rc = write ? measure(t, &t->phase[0].to, settings, cycles, all) : -1;
	t->run.run.write = NULL;
	t->run.run.writes = 0;
	free(write);
	return rc;
}

/* ---- the search ---- */

struct queue { size_t at[CANDIDATES], count, next; };	/* candidates that gain, largest gain first */

static void fill(struct queue *q, const struct tuning *t, size_t phase)
{
	uint64_t base = phase < PHASES_MOST ? t->base_cycles[phase] : t->base_all, before;
	q->count = q->next = 0;
	for (size_t c = 0; c < t->candidates; c++) {
		uint64_t cycles = phase < PHASES_MOST ? t->candidate[c].cycles[phase] : t->candidate[c].all;
		if ((double)cycles > (1 - worth) * (double)base)
			continue;
		size_t i = q->count++;
		for (; i > 0; i--) {
			before = phase < PHASES_MOST ? t->candidate[q->at[i - 1]].cycles[phase]
						     : t->candidate[q->at[i - 1]].all;
			if (before <= cycles)
				break;
			q->at[i] = q->at[i - 1];
		}
		q->at[i] = c;
	}
}

/* Adds to *c the next candidate of a feature that is not chosen yet; false if there is none. */
static bool add_next(const struct tuning *t, struct queue *q, struct chosen *c)
{
	while (q->next < q->count && c->count < CHOSEN) {
		size_t at = q->at[q->next++];
		bool taken = false;
		for (size_t i = 0; i < c->count; i++)
			taken |= t->candidate[c->at[i]].feature == t->candidate[at].feature;
		if (!taken) {
			c->at[c->count++] = at;
			return true;
		}
	}
	return false;
}

/* Finds the best settings for the whole run: the one that gains most, then each that gains more beside those chosen. */
static int search_whole(struct tuning *t, struct chosen *best)
{
	struct queue q;
	uint64_t cycles[PHASES_MOST], all;
	fill(&q, t, PHASES_MOST);
	*best = (struct chosen){ .cycles = t->base_all };
	for (unsigned round = 0; round <= ROUNDS; round++) {
		struct chosen with = *best;
		struct core_features f;
		char text[512];
		if (!add_next(t, &q, &with))
			break;
		if (with.count == 1) {	/* measured already */
			all = t->candidate[with.at[0]].all;
		} else {
			text_of(t, &with, text, sizeof text);
			if (set_of(t, &with, &f) || measure(t, &f, text, cycles, &all))
				return -1;
		}
		with.cycles = all;
		if ((double)all < (1 - worth) * (double)best->cycles)
			*best = with;
	}
	return 0;
}

/* Does the same for each phase; one replay takes a step in every phase.  *all: cycles of the run with what was
 * chosen. */
static int search_phases(struct tuning *t, struct chosen best[PHASES_MOST], uint64_t *all)
{
	struct queue *q = calloc(PHASES_MOST, sizeof *q);
	uint64_t cycles[PHASES_MOST];
	int rc = q ? 0 : -1;
	bool last_kept = false;
	if (!q)
		cli_error("out of memory");
	for (size_t p = 0; !rc && p < t->phases; p++) {
		fill(q + p, t, p);
		best[p] = (struct chosen){ .cycles = t->base_cycles[p] };
	}
	for (unsigned round = 0; !rc && round <= ROUNDS; round++) {
		struct chosen with[PHASES_MOST];
		bool any = false;
		for (size_t p = 0; p < t->phases; p++) {
			with[p] = best[p];
			any |= add_next(t, q + p, with + p);
		}
		if (!any)
			break;
		rc = measure_switched(t, with, cycles, all);
		last_kept = true;
		for (size_t p = 0; !rc && p < t->phases; p++) {
			if (with[p].count == best[p].count)
				continue;
			with[p].cycles = cycles[p];
			if ((double)cycles[p] < (1 - worth) * (double)best[p].cycles)
				best[p] = with[p];
			else
				last_kept = false;
		}
	}
	if (!rc && !last_kept)
		rc = measure_switched(t, best, cycles, all);
	for (size_t p = 0; !rc && p < t->phases; p++)
		best[p].cycles = cycles[p];
	free(q);
	return rc;
}

/* ---- what was found ---- */

static void print(const struct tuning *t, const struct chosen *whole, const struct chosen *of, uint64_t all)
{
	char text[512];
	printf("\n %zu phase%s of the program on %s, in %zu intervals of %" PRIu64 " instructions", t->phases,
		t->phases == 1 ? "" : "s", t->run.core.name, phases_intervals(t->base), phases_interval(t->base));
	if (phases_unmarked(t->base))
		printf("; %zu more that no instruction marks", phases_unmarked(t->base));
	puts("\n\n   phase  intervals  stretches          cycles           tuned  settings");
	for (size_t p = 0; p < t->phases; p++) {
		const struct phase *f = phases_get(t->base, p);
		text_of(t, of + p, text, sizeof text);
		printf("   %5zu  %9zu  %9zu %15" PRIu64 " %15" PRIu64 "  %s", p + 1, f->intervals, f->stretches,
			t->base_cycles[p], t->phases > 1 ? of[p].cycles : whole->cycles,
			*text ? text : "as the preset has it");
		if (f->marker)
			printf("; from %s+0x%" PRIx64 " on", t->place[p].object, t->place[p].offset);
		putchar('\n');
	}
	text_of(t, whole, text, sizeof text);
	printf("\n %15" PRIu64 " cycles as the preset has it\n %15" PRIu64 " with the best settings for the whole run "
									   "(%+.2f %%): %s\n",
		t->base_all, whole->cycles, 100 * ((double)whole->cycles / (double)t->base_all - 1),
		*text ? text : "as the preset has it");
	if (t->phases > 1)
		printf(" %15" PRIu64 " with those of the phases (%+.2f %%)\n", all,
			100 * ((double)all / (double)t->base_all - 1));
}

static void store_set(const struct tuning *t, const struct chosen *c, struct store_set *out, const char *text[CHOSEN])
{
	for (size_t i = 0; i < c->count; i++)
		text[i] = t->candidate[c->at[i]].text;
	*out = (struct store_set){ .setting = text, .settings = c->count };
}

static int keep(struct tuning *t, const struct chosen *whole, const struct chosen *of, uint64_t all, bool phases)
{
	const char *text[PHASES_MOST][CHOSEN];
	struct store_phase phase[PHASES_MOST] = { 0 };
	struct store_profile p = { .objective = "cycles",
		.command = "softpmu tune --phases",
		.before = { t->insns_all, t->base_all, -1 },
		.after = { t->insns_all, phases ? all : whole->cycles, -1 },
		.tried = t->tried,
		.tries = t->tries };
	store_set(t, phases ? of : whole, &p.set, text[0]);
	for (size_t i = 0; phases && i < t->phases; i++) {
		phase[i] = (struct store_phase){ .object = phases_get(t->base, i)->marker ? t->place[i].object : NULL,
			.offset = t->place[i].offset,
			.before = { t->insns[i], t->base_cycles[i], -1 },
			.after = { t->insns[i], of[i].cycles, -1 } };
		store_set(t, of + i, &phase[i].set, text[i]);
	}
	p.phase = phase;
	p.phases = phases ? t->phases : 0;
	t->run.profile_name = t->name;
	if (t->own)
		t->run.run.replay = NULL;	/* the profile is the program's, not its stream's */
	if (cli_profile_keep(&t->run, &p))
		return -1;
	puts(phases ? "\n The settings of the phases are kept; stat, record and run switch them from now on." :
		"\n The settings for the whole run are kept; stat, record and run apply them from now on.");
	return 0;
}

/* ---- the command ---- */

static int find_phases(struct tuning *t)
{
	struct err err = { 0 };
	int rc = phases_find(t->base, usable, t, &err);
	if (rc) {
		cli_error("%s", err.text);
		return -1;
	}
	t->phases = phases_count(t->base);
	for (size_t i = 0; i < phases_intervals(t->base); i++) {
		size_t p = phases_of(t->base, i);
		t->base_cycles[p] += phases_cycles(t->base, i);
		t->insns[p] += phases_instructions(t->base, i);
	}
	for (size_t p = 0; p < t->phases; p++) {
		uint64_t marker = phases_get(t->base, p)->marker;
		if (marker && place_of(t, marker, t->place + p))
			t->phase[p] = (struct cli_phase){ .object = t->place[p].object, .offset = t->place[p].offset };
	}
	if (!t->phases)
		cli_error("tune --phases: the program executed nothing that was timed");
	return t->phases ? 0 : -1;
}

static int tune(struct tuning *t)
{
	struct run_result res = { 0 };
	struct err err = { 0 };
	struct chosen whole, of[PHASES_MOST] = { 0 };
	uint64_t all = 0;
	if (phases_create(&t->base, t->interval, true, &err)) {
		cli_error("%s", err.text);
		return 1;
	}
	t->now = t->base;
	int rc = run_once(t, &t->preset, &res), status = cli_exit_status(res.wait_status);
	t->now = NULL;
	if (res.note[0])
		cli_warn("%s", res.note);
	if (t->run.run.save) {
		t->run.run.replay = t->run.run.save;
		t->run.run.save = NULL;
	}
	t->base_all = res.cycles;
	t->insns_all = res.instructions;
	if (rc || find_phases(t) || keep_try(t, "", t->base_all))
		return status ? status : 1;
	for (size_t c = 0; c < t->candidates; c++) {
		struct chosen one = { .at = { c }, .count = 1 };
		struct core_features f;
		if (set_of(t, &one, &f) ||
			measure(t, &f, t->candidate[c].text, t->candidate[c].cycles, &t->candidate[c].all))
			return 1;
	}
	if (search_whole(t, &whole) || (t->phases > 1 && search_phases(t, of, &all)))
		return 1;
	bool phases = t->phases > 1 && (double)all < (1 - worth) * (double)whole.cycles;
	if (t->phases == 1)
		of[0] = whole;
	print(t, &whole, of, all);
	if (t->no_keep)
		return status;
	return keep(t, &whole, of, all, phases) ? 1 : status;
}

static int run(int argc, char **argv)
{
	struct tuning *t = calloc(1, sizeof *t);
	int next = 0, status = 2, go = -1;
	if (t) {
		t->candidate = calloc(CANDIDATES, sizeof *t->candidate);
		t->phase = calloc(PHASES_MOST, sizeof *t->phase);
		t->tried = calloc(TRIES, sizeof *t->tried);
		t->interval = 10000;
		t->features = "prefetch.*,disambiguation";
		cli_run_init(&t->run);
	}
	if (!t || !t->candidate || !t->phase || !t->tried)
		cli_error("out of memory");
	else
		go = parse(t, argc, argv, &next);
	if (go > 0 && !cli_run_finish(&t->run, argc, argv, next) && !choose_candidates(t)) {
		core_features_init(&t->preset, &t->run.core);
		t->own = !t->run.run.replay && !t->run.run.save;
		char *file = t->own ? cli_keep_stream(&t->run, "tune", "") : NULL;
		status = t->own && !file ? 1 : tune(t);
		cli_forget_stream(&t->run, file);
	}
	for (size_t i = 0; t && i < t->tries; i++)
		free((char *)t->tried[i].settings);
	if (t) {
		phases_destroy(t->base);
		free(t->candidate);
		free(t->phase);
		free(t->tried);
		free(t->map);
	}
	free(t);
	return go ? status : 0;
}

const struct cli_command tune_phases = {
	.name = "tune --phases", .summary = "find settings for each phase of the program, switched where it begins",
		.options = options, .runs = true,
	.run = run, .usage = "[options] [--] PROGRAM [arguments]\n[options] --replay FILE",
	.about = "Finds the phases of PROGRAM, stretches that execute the same code, and for each the settings of "
		"the core's features with which it takes the fewest cycles. If these are better than the best "
		"settings for the whole run, they are kept, and whenever PROGRAM runs, they are written into the "
		"core's registers where each phase begins. Otherwise the settings for the whole run are kept.",
};
