/* SPDX-License-Identifier: GPL-2.0-or-later
 * softpmu list: lists the events of a core's PMU, with what each counts.  It runs nothing. */
#include "cli/cli.h"
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
	bool json, details;
};

static const struct option options[] = {
	CLI_OPTION_CORE(struct request, run.),
	CLI_OPTION_PMU(struct request, run.),
	OPT_FLAG('v', "details", struct request, details, "Also print the event code, the umask and the counters "
		"that can count the event."),
	OPT_FLAG('j', "json", struct request, json, "Print one JSON array."),
	OPT_END
};

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

static void print_event(const struct spmu_model *m, const struct spmu_event *e, bool details)
{
	bool not_modelled = e->flags & SPMU_EVENT_NOT_MODELLED;
	char text[160];
	netburst_hint(m, e, text, sizeof text);
	printf("  %s%s%s%s\n", e->name, text, not_modelled ? "  [not modelled]" : "",
		e->flags & SPMU_EVENT_DEPRECATED ? "  [deprecated]" : "");
	wrap(e->help, 7, 100);
	if (not_modelled && e->not_modelled[0]) {
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

static void print_table(const struct spmu_model *m, int words, char **word, bool details)
{
	bool any = false;
	for (size_t i = 0; i < spmu_model_events(m); i++) {
		const struct spmu_event *e = spmu_model_event(m, i);
		if (!wanted(e, words, word))
			continue;
		for (const char *a = e->perf_alias; *a;) {
			size_t n = strcspn(a, ",");
			if (!any)
				puts("perf's generic names:\n");
			any = true;
			printf("  %-28.*s %s%s\n", (int)n, a, e->name,
				e->flags & SPMU_EVENT_NOT_MODELLED ? "  [not modelled]" : "");
			a += n + (a[n] == ',');
		}
	}
	static const char *const clock[][2] = { { "task-clock",
		"ns of modelled time the threads ran (cpu-clock is the same)" },
		{ "duration_time", "ns of modelled time from start to end" } };
	bool clocks = false;
	for (int i = 0; i < 2; i++) {
		bool all = true;
		for (int k = 0; k < words; k++)
			all &= holds(clock[i][0], word[k]) || holds(clock[i][1], word[k]);
		if (!all)
			continue;
		if (!clocks)
			printf("%sclocks:\n\n", any ? "\n" : "");
		clocks = true;
		printf("  %-28s %s\n", clock[i][0], clock[i][1]);
	}
	if (pushout_wanted(words, word)) {
		printf("%spushout counters, which every PMU of this model has:\n\n  pushout/threshold=N,tag=TAG,.../\n",
			any || clocks ? "\n" : "");
		wrap(pushout_help, 7, 100);
		clocks = true;
	}
	bool head = false;
	for (size_t i = 0; i < spmu_model_events(m); i++) {
		const struct spmu_event *e = spmu_model_event(m, i);
		if (!wanted(e, words, word))
			continue;
		if (!head)
			printf("%sthe machine's events:\n\n", any || clocks ? "\n" : "");
		head = true;
		print_event(m, e, details);
	}
}

static bool uncore_wanted(const struct spmu_uncore_event *e, int words, char **word)
{
	for (int i = 0; i < words; i++)
		if (!holds(e->name, word[i]) && !holds(e->help, word[i]) && !holds(e->alias, word[i]))
			return false;
	return true;
}

/* Returns how many were printed. */
static size_t print_uncore(const struct spmu_uncore_model *m, int words, char **word, bool details, bool after)
{
	size_t shown = 0;
	for (size_t i = 0; m && i < spmu_uncore_events(m); i++) {
		const struct spmu_uncore_event *e = spmu_uncore_event(m, i);
		const char *unit = spmu_uncore_unit(m, e->unit)->name;
		if (!uncore_wanted(e, words, word))
			continue;
		if (!shown++)
			printf("%suncore events, counted for the whole machine:\n\n", after ? "\n" : "");
		printf("  %s%s\n", e->name, e->not_modelled[0] ? "  [not modelled]" : "");
		wrap(e->help, 7, 100);
		if (e->not_modelled[0]) {
			printf("%7snot modelled: ", "");
			wrap(e->not_modelled, 0, 100);
		}
		if (details && spmu_uncore_unit(m, e->unit)->programmable) {
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
	struct cli_run *const r = &o.run;
	cli_run_init(r);
	const int go = cli_options_and_words(&cmd_list, &o, argc, argv, take_word);
	if (go <= 0)
		return go ? 2 : 0;
	const int words = o.words;
	const bool json = o.json, details = o.details;
	if (cli_core(r))
		return 2;
	struct spmu_model *m = cli_model(&r->core);
	if (!m)
		return 1;
	size_t shown = 0;
	for (size_t k = 0; k < spmu_model_events(m); k++)
		shown += wanted(spmu_model_event(m, k), words, argv + 1);
	struct spmu_uncore_model *uncore = NULL;
	if (!r->pmu_name && cli_uncore(&uncore, &r->core)) {
		spmu_model_free(m);
		return 1;
	}
	if (json) {
		print_json(m, uncore, words, argv + 1);
	} else {
		print_table(m, words, argv + 1, details);
		shown += print_uncore(uncore, words, argv + 1, details, shown);
	}
	spmu_model_free(m);
	spmu_uncore_free(uncore);
	/* an exit status of its own, so that a script notices that nothing was found */
	shown += pushout_wanted(words, argv + 1);
	if (!shown && words && !json && !holds("task-clock cpu-clock duration_time", argv[1])) {
		cli_error("no event of %s holds '%s'%s", r->core.name, argv[1],
			words > 1 ? " and the other words" : "");
		return 1;
	}
	return 0;
}

const struct cli_command cmd_list = {
	.name = "list", .summary = "list the events of a core, with what each counts", .options = options, .run = run,
		.usage = "[options] [WORD...]",
	.about = "Lists the events that -e takes on a core: perf's generic names first, then the machine's own. With "
		"WORDs, lists only events whose name or description holds all of them (in upper or lower case). An "
		"event marked \"not modelled\" exists on the machine, but the model cannot produce it; counting it is "
		"refused.",
};
