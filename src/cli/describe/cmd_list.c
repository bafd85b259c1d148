/* SPDX-License-Identifier: GPL-2.0-or-later
 * softpmu list: lists the events of a core's PMU, with what each counts.  It runs nothing. */
#include "cli/cli.h"
#include "cli/common/cli_metrics.h"
#include "session/events/event_names.h"
#include "session/events/netburst_spell.h"
#include "softpmu/pmu.h"
#include "softpmu/uncore.h"
#include "util/json.h"
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

extern const struct cli_command cmd_list;

struct request {
	struct cli_run run;
	char **word;		/* the words to look for; they are moved to the front of argv */
	int words;
	unsigned parts;
	bool json, details, brief;
};

static const struct option options[] = {
	CLI_OPTION_CORE(struct request, run.),
	CLI_OPTION_PMU(struct request, run.),
	OPT_FLAG('v', "details", struct request, details, "Also print the event code, the umask and the counters "
		"that can count the event."),
	OPT_CLEAR('d', "desc", struct request, brief, "Print what each event counts. This is the default."),
	OPT_FLAG(0, "no-desc", struct request, brief, "Print the names alone."),
	OPT_IGNORED(0, "long-desc", "Accepted without effect: each event has one description."),
	OPT_IGNORED(0, "deprecated", "Accepted without effect: deprecated events are listed, too, and marked."),
	OPT_IGNORED(0, "debug", "Accepted without effect: there are no messages but errors."),
	OPT_REFUSED(0, "cputype", "all cores of a machine are of one type", "--core chooses it"),
	OPT_FLAG('j', "json", struct request, json, "Print one JSON array."),
	OPT_END
};

/* What perf list's own words choose.  Source: perf-list(1), "OPTIONS". */
enum {
	PART_HARDWARE = 1,	/* generic names but for those of caches */
	PART_CACHE = 2,		/* generic names of caches and TLBs */
	PART_SOFTWARE = 4,	/* clocks */
	PART_PMU = 8,		/* the PMU's and the uncore's own events */
	PART_METRICS = 16,
	PART_KERNEL = 32,	/* a kernel's: there is none */
	PART_USUAL = PART_HARDWARE | PART_CACHE | PART_SOFTWARE | PART_PMU,
};
static const struct { const char *word; unsigned parts; } kind[] = { { "hw", PART_HARDWARE },
	{ "hardware", PART_HARDWARE }, { "cache", PART_CACHE }, { "hwcache", PART_CACHE }, { "sw", PART_SOFTWARE },
	{ "software", PART_SOFTWARE }, { "pmu", PART_PMU }, { "metric", PART_METRICS }, { "metrics", PART_METRICS },
	{ "metricgroup", PART_METRICS }, { "metricgroups", PART_METRICS }, { "tracepoint", PART_KERNEL },
	{ "sdt", PART_KERNEL } };

/* The parts that the first word asks for, which is taken from the words then. */
static void take_kind(struct request *o)
{
	o->parts = PART_USUAL;
	for (size_t i = 0; i < sizeof kind / sizeof *kind && o->words; i++)
		if (!strcmp(o->word[0], kind[i].word)) {
			o->parts = kind[i].parts;
			o->word++;
			o->words--;
			return;
		}
}

static int take_word(void *target, const char *word, struct err *err)
{
	struct request *o = target;
	(void)err;
	o->word[o->words++] = (char *)word;	/* the word stands at this place of argv or behind it */
	return 0;
}

static bool holds(const char *text, const char *word)
{
	size_t n = strlen(word);
	for (; *text; text++) {
		size_t i = 0;
		while (i < n && text[i] && tolower((unsigned char)text[i]) == tolower((unsigned char)word[i]))
			i++;
		if (i == n)
			return true;
	}
	return n == 0;
}

/* Of the generic name of `n` bytes: the part that it belongs to.  Source: the two tables of names in Linux,
 * tools/perf/util/parse-events.c: a cache's name, then what is done to it. */
static unsigned generic_part(const char *name, size_t n)
{
	static const char *const cache[] = { "L1-", "LLC-", "dTLB-", "iTLB-", "node-", "branch-load" };
	for (size_t i = 0; i < sizeof cache / sizeof *cache; i++)
		if (n >= strlen(cache[i]) && !strncmp(name, cache[i], strlen(cache[i])))
			return PART_CACHE;
	return PART_HARDWARE;
}

static bool wanted(const struct spmu_event *e, int words, char **word)
{
	for (int i = 0; i < words; i++)
		if (!holds(e->name, word[i]) && !holds(e->help, word[i]) && !holds(e->perf_alias, word[i]))
			return false;
	return true;
}

/* Prints the words in lines of at most `width` columns, each behind `indent` spaces. */
static void wrap(const char *text, int indent, int width)
{
	int column = 0;
	while (*text) {
		int n = (int)strcspn(text, " ");
		if (column && column + 1 + n > width) {
			putchar('\n');
			column = 0;
		}
		column += printf("%*s%.*s", column ? 1 : indent, "", n, text);
		text += n;
		text += strspn(text, " ");
	}
	putchar('\n');
}

static void print_event(const struct spmu_model *m, const struct spmu_event *e, bool details, bool brief)
{
	bool not_modelled = e->flags & SPMU_EVENT_NOT_MODELLED;
	char text[160];
	netburst_hint(m, e, text, sizeof text);
	printf("  %s%s%s%s\n", e->name, text, not_modelled ? "  [not modelled]" : "",
		e->flags & SPMU_EVENT_DEPRECATED ? "  [deprecated]" : "");
	if (!brief)
		wrap(e->help, 7, 100);
	if (!brief && not_modelled && e->not_modelled[0]) {
		printf("%7snot modelled: ", "");
		wrap(e->not_modelled, 0, 100);
	}
	if (details) {
		names_code(m, e, text, sizeof text);
		printf("%7s%s", "", text);
		if (e->fixed >= 0)
			printf("  fixed counter %d%s", e->fixed, e->flags & SPMU_EVENT_FIXED_ONLY ? " only" : "");
		if (e->pmc_mask) {
			printf("  counters");
			for (unsigned i = 0; i < 32; i++)
				if (e->pmc_mask >> i & 1)
					printf(" %u", i);
		}
		printf("%s%s\n", e->flags & SPMU_EVENT_SPECULATIVE ? "  speculative" : "",
			e->flags & SPMU_EVENT_PRECISE ? "  PEBS-capable on the machine" : "");
	}
}

static const char pushout_help[] = "slots that retired N cycles later than the slot before them allowed (1 unless "
				   "given), of those that TAG holds for "
				   "('l2_miss & !l3_miss'; softpmu cost --list has the names); also from=due|event, "
				   "at=retire|alloc|decode|memory|visible|fetch, way=down|up|up-to; "
				   "in samples the weight is the pushout";

static bool pushout_wanted(int words, char **word)
{
	bool all = true;
	for (int i = 0; i < words; i++)
		all &= holds("pushout", word[i]) || holds(pushout_help, word[i]);
	return all;
}

/* Each returns how many it printed.  after: something stands above it. */
static size_t print_generic(const struct spmu_model *m, const struct request *o)
{
	size_t shown = 0;
	for (size_t i = 0; i < spmu_model_events(m); i++) {
		const struct spmu_event *e = spmu_model_event(m, i);
		if (!wanted(e, o->words, o->word))
			continue;
		for (const char *a = e->perf_alias; *a;) {
			size_t n = strcspn(a, ",");
			if (o->parts & generic_part(a, n)) {
				if (!shown++)
					puts("perf's generic names:\n");
				printf("  %-28.*s %s%s\n", (int)n, a, e->name,
					e->flags & SPMU_EVENT_NOT_MODELLED ? "  [not modelled]" : "");
			}
			a += n + (a[n] == ',');
		}
	}
	return shown;
}

static size_t print_clocks(const struct request *o, bool after)
{
	static const char *const clock[][2] = { { "task-clock",
		"ns of modelled time the threads ran (cpu-clock is the same)" },
		{ "duration_time", "ns of modelled time from start to end" } };
	size_t shown = 0;
	for (int i = 0; i < 2; i++) {
		bool all = true;
		for (int k = 0; k < o->words; k++)
			all &= holds(clock[i][0], o->word[k]) || holds(clock[i][1], o->word[k]);
		if (!all)
			continue;
		if (!shown++)
			printf("%sclocks:\n\n", after ? "\n" : "");
		printf("  %-28s %s\n", clock[i][0], clock[i][1]);
	}
	return shown;
}

static size_t print_events(const struct spmu_model *m, const struct request *o, bool after)
{
	size_t shown = 0;
	bool head = false;
	if (pushout_wanted(o->words, o->word)) {
		printf("%spushout counters, which every PMU of this model has:\n\n  pushout/threshold=N,tag=TAG,.../\n",
			after ? "\n" : "");
		if (!o->brief)
			wrap(pushout_help, 7, 100);
		shown++;
	}
	for (size_t i = 0; i < spmu_model_events(m); i++) {
		const struct spmu_event *e = spmu_model_event(m, i);
		if (!wanted(e, o->words, o->word))
			continue;
		if (!head)
			printf("%sthe machine's events:\n\n", after || shown ? "\n" : "");
		head = true;
		shown++;
		print_event(m, e, o->details, o->brief);
	}
	return shown;
}

/* Metrics for stat -M and topdown.  SIZE_MAX after one printed line. */
static size_t print_metrics(const struct spmu_model *m, const struct request *o)
{
	struct cli_metrics c = { 0 };
	size_t shown = 0;
	if (cli_metrics_load(&c, &o->run.core, m))
		return SIZE_MAX;
	for (size_t i = 0; i < c.m.metrics; i++) {
		const struct metric *x = &c.m.metric[i];
		const char *text = x->description ? x->description : "";
		bool all = true;
		for (int k = 0; k < o->words; k++)
			all &= holds(x->name, o->word[k]) || holds(text, o->word[k]) ||
			       (x->group && holds(x->group, o->word[k]));
		if (!all)
			continue;
		if (!shown++)
			puts("metrics, for stat -M:\n");
		printf("  %s%s\n", x->name, x->refused ? "  [not modelled]" : "");
		if (x->level)
			printf("%7sTopdownL%u\n", "", x->level);
		else if (x->group)
			printf("%7s%s\n", "", x->group);
		if (!o->brief)
			wrap(text, 7, 100);
	}
	cli_metrics_free(&c);
	return shown;
}

static bool uncore_wanted(const struct spmu_uncore_event *e, int words, char **word)
{
	for (int i = 0; i < words; i++)
		if (!holds(e->name, word[i]) && !holds(e->help, word[i]) && !holds(e->alias, word[i]))
			return false;
	return true;
}

/* Returns how many were printed. */
static size_t print_uncore(const struct spmu_uncore_model *m, const struct request *o, bool after)
{
	size_t shown = 0;
	for (size_t i = 0; m && i < spmu_uncore_events(m); i++) {
		const struct spmu_uncore_event *e = spmu_uncore_event(m, i);
		const char *unit = spmu_uncore_unit(m, e->unit)->name;
		if (!uncore_wanted(e, o->words, o->word))
			continue;
		if (!shown++)
			printf("%suncore events, counted for the whole machine:\n\n", after ? "\n" : "");
		printf("  %s%s\n", e->name, e->not_modelled[0] ? "  [not modelled]" : "");
		if (!o->brief)
			wrap(e->help, 7, 100);
		if (!o->brief && e->not_modelled[0]) {
			printf("%7snot modelled: ", "");
			wrap(e->not_modelled, 0, 100);
		}
		if (o->details && spmu_uncore_unit(m, e->unit)->programmable) {
			printf("%7suncore_%s/event=%#04x,umask=%#04x", "", unit, e->event, e->umask);
			if (e->cmask)
				printf(",%s=%u", spmu_uncore_server(m) ? "thresh" : "cmask", e->cmask);
			printf("/  counters");
			for (unsigned k = 0; k < 8; k++)
				if (e->counters >> k & 1)
					printf(" %u", k);
			putchar('\n');
		}
		if (e->alias[0])
			printf("%7suncore_%s/%s/%s%s\n", "", unit, e->alias, e->scale_unit[0] ? "  in " : "",
				e->scale_unit);
	}
	return shown;
}

static void print_json(const struct spmu_model *m, const struct spmu_uncore_model *uncore, int words, char **word)
{
	bool first = true;
	puts("[");
	for (size_t i = 0; i < spmu_model_events(m); i++) {
		const struct spmu_event *e = spmu_model_event(m, i);
		if (!wanted(e, words, word))
			continue;
		printf("%s{", first ? "" : ",\n");
		first = false;
		fputs("\"name\": ", stdout);
		char name[300], what[160];
		netburst_hint(m, e, what, sizeof what);
		snprintf(name, sizeof name, "%s%s", e->name, what);
		json_string(stdout, name);
		fputs(", ", stdout);
		fputs("\"perf\": ", stdout);
		json_string(stdout, e->perf_alias);
		printf(", \"event\": %u, \"umask\": %u, \"cmask\": %u, \"inv\": %u, \"edge\": %u, \"any\": %u, "
		       "\"fixed\": %d, \"counters\": %u, \"modelled\": %s, \"precise\": %s, "
		       "\"speculative\": %s, \"deprecated\": %s, ",
			e->event, e->umask, e->cmask, e->inv, e->edge, e->any, e->fixed, e->pmc_mask,
			e->flags & SPMU_EVENT_NOT_MODELLED ? "false" : "true",
			e->flags & SPMU_EVENT_PRECISE ? "true" : "false",
			e->flags & SPMU_EVENT_SPECULATIVE ? "true" : "false",
			e->flags & SPMU_EVENT_DEPRECATED ? "true" : "false");
		fputs("\"help\": ", stdout);
		json_string(stdout, e->help);
		fputs(", ", stdout);
		fputs("\"why_not_modelled\": ", stdout);
		json_string(stdout, e->not_modelled);
		putchar('}');
	}
	for (size_t i = 0; uncore && i < spmu_uncore_events(uncore); i++) {
		const struct spmu_uncore_event *e = spmu_uncore_event(uncore, i);
		if (!uncore_wanted(e, words, word))
			continue;
		printf("%s{\"name\": ", first ? "" : ",\n");
		first = false;
		json_string(stdout, e->name);
		printf(", \"pmu\": \"uncore_%s\", \"alias\": ", spmu_uncore_unit(uncore, e->unit)->name);
		json_string(stdout, e->alias);
		printf(", \"event\": %u, \"umask\": %u, \"cmask\": %u, \"counters\": %u, \"modelled\": %s, \"help\": ",
			e->event, e->umask, e->cmask, e->counters, e->not_modelled[0] ? "false" : "true");
		json_string(stdout, e->help);
		fputs(", \"why_not_modelled\": ", stdout);
		json_string(stdout, e->not_modelled);
		putchar('}');
	}
	puts("\n]");
}

static int run(int argc, char **argv)
{
	struct request o = { .word = argv + 1 };
	struct spmu_uncore_model *uncore = NULL;
	size_t shown = 0;
	cli_run_init(&o.run);
	const int go = cli_options_and_words(&cmd_list, &o, argc, argv, take_word);
	if (go <= 0)
		return go ? 2 : 0;
	if (cli_core(&o.run))
		return 2;
	const char *const first = o.words ? o.word[0] : "";
	take_kind(&o);
	if (o.parts & PART_KERNEL) {
		cli_error("%s: those events are a kernel's, and there is none in the model", first);
		return 2;
	}
	if (o.json && o.parts != PART_USUAL) {
		cli_error("-j prints the events of the PMU: not with '%s'", first);
		return 2;
	}
	struct spmu_model *m = cli_model(&o.run.core);
	if (!m)
		return 1;
	if (!o.run.pmu_name && cli_uncore(&uncore, &o.run.core)) {
		spmu_model_free(m);
		return 1;
	}
	if (o.json) {
		print_json(m, uncore, o.words, o.word);
		shown = 1;
	} else if (o.parts & PART_METRICS) {
		shown = print_metrics(m, &o);
	} else {
		shown += print_generic(m, &o);
		if (o.parts & PART_SOFTWARE)
			shown += print_clocks(&o, shown);
		if (o.parts & PART_PMU) {
			shown += print_events(m, &o, shown);
			shown += print_uncore(uncore, &o, shown);
		}
	}
	spmu_model_free(m);
	spmu_uncore_free(uncore);
	if (shown == SIZE_MAX)
		return 1;
	/* an exit status of its own, so that a script notices that nothing was found */
	if (!shown && o.words) {
		cli_error("no event of %s holds '%s'%s", o.run.core.name, o.word[0],
			o.words > 1 ? " and the other words" : "");
		return 1;
	}
	return 0;
}

const struct cli_command cmd_list = {
	.name = "list", .summary = "list the events of a core, with what each counts", .options = options, .run = run,
		.usage = "[options] [hw|cache|sw|pmu|metric] [WORD...]",
	.about = "Lists the events that -e takes on a core: perf's generic names first, then the machine's own. With "
		"WORDs, lists only events whose name or description holds all of them (in upper or lower case). A "
		"first word as in perf chooses what is listed: hw and cache (generic names), sw (clocks), pmu (the "
		"machine's own events), metric (what stat -M takes). An event marked \"not modelled\" exists on the "
		"machine, but the model cannot produce it: stat prints <not supported> for it, and the other commands "
		"refuse it.",
};
