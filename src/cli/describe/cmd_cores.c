/* SPDX-License-Identifier: GPL-2.0-or-later
 * softpmu cores: lists the machines that can be modelled, every field of one, and the instructions of a program
 * that its uop table lacks. */
#include "cli/cli.h"
#include "cli/describe/coverage.h"
#include "cli/describe/features_print.h"
#include "util/json.h"
#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

extern const struct cli_command cmd_cores;

struct cores {
	struct cli_run run;
	const char *name, *covered;
	bool json, features;
};

static const struct option options[] = {
	CLI_OPTION_SET(struct cores, run.),
	OPT_FLAG(0, "features", struct cores, features, "Print the features of CORE that register writes (--feature, "
		"--wrmsr) can change, and their levels."),
	OPT_TEXT(0, "coverage", "FILE", struct cores, covered, "Print the instruction forms of FILE that have no row "
		"of their own in the core's uop table (without CORE: in all cores' tables), by count. Of an ELF file, "
		"each instruction of its code counts once; of a saved stream (--save-stream), as often as it was "
		"executed."),
	OPT_FLAG('j', "json", struct cores, json, "Print JSON."),
	OPT_END
};

static int take_name(void *target, const char *word, struct err *err)
{
	struct cores *o = target;
	if (o->name)
		return err_set(err, ERR_INPUT, "one core at a time: '%s' or '%s'", o->name, word);
	o->name = word;
	return 0;
}

enum { PRESETS = 256 };

static int by_name(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

/* Names of the presets, sorted; the number, or -1 after one printed line. */
static int presets(char *name[PRESETS])
{
	char path[PATH_MAX];
	int n = 0;
	snprintf(path, sizeof path, "%s/cores", cli_data_dir());
	DIR *d = opendir(path);
	if (!d) {
		cli_error("%s: %s", path, strerror(errno));
		return -1;
	}
	for (struct dirent *e; n < PRESETS && (e = readdir(d));) {
		size_t len = strlen(e->d_name);
		if (len > 5 && !strcmp(e->d_name + len - 5, ".conf") && (name[n] = strndup(e->d_name, len - 5)))
			n++;
	}
	closedir(d);
	qsort(name, (size_t)n, sizeof *name, by_name);
	return n;
}

/* Lists the presets, one a line.  A broken file is reported; the others are still listed. */
static int list(bool json)
{
	char *name[PRESETS];
	int n = presets(name), status = 0, shown = 0;
	if (n < 0)
		return 1;
	if (json)
		puts("[");
	for (int i = 0; i < n; i++) {
		struct core_config c;
		struct err err = { 0 };
		if (core_config_load(&c, cli_data_dir(), name[i], &err)) {
			cli_error("%s", err.text);
			status = 1;
		} else if (json) {
			printf("%s{\"name\": ", shown++ ? ",\n" : "");
			json_string(stdout, c.name);
			fputs(", \"title\": ", stdout);
			json_string(stdout, c.title);
			fputs(", \"pmu\": ", stdout);
			json_string(stdout, c.pmu);
			fputs(", \"cpuid\": ", stdout);
			json_string(stdout, c.cpuid_signature);
			printf(", \"ghz\": %g}", c.frequency_ghz);
		} else {
			printf("  %-16s %s, %g GHz\n", c.name, c.title, c.frequency_ghz);
		}
		free(name[i]);
	}
	if (json)
		puts("\n]");
	return status;
}

/* --coverage without NAME: all presets. */
static int coverage_of_all(const char *path, bool json)
{
	char *name[PRESETS];
	struct core_config *core = calloc(COVERAGE_CORES, sizeof *core);
	int n = presets(name), status = 0;
	unsigned cores = 0;
	if (!core)
		cli_error("out of memory");
	for (int i = 0; i < n; i++) {
		struct err err = { 0 };
		if (core && cores < COVERAGE_CORES && core_config_load(&core[cores], cli_data_dir(), name[i], &err)) {
			cli_error("%s", err.text);
			status = 1;
		} else {
			cores++;
		}
		free(name[i]);
	}
	if (!core || n < 0 || coverage(path, core, cores < COVERAGE_CORES ? cores : COVERAGE_CORES, json))
		status = 1;
	free(core);
	return status;
}

/* Prints the `field = value` lines of a core's file as one JSON object, without its comments. */
static void print_json(const char *text)
{
	bool first = true;
	puts("{");
	while (*text) {
		size_t n = strcspn(text, "\n"), key = strcspn(text, "=\n");
		size_t hash = 0;
		while (hash < n && text[hash] != '#')
			hash++;
		if (key < hash) {
			const char *value = text + key + 1, *end = text + hash;
			while (key && (text[key - 1] == ' ' || text[key - 1] == '\t'))
				key--;
			while (value < end && (*value == ' ' || *value == '\t'))
				value++;
			while (end > value && (end[-1] == ' ' || end[-1] == '\t'))
				end--;
			fputs(first ? "" : ",\n", stdout);
			first = false;
			json_bytes(stdout, text, key);
			fputs(": ", stdout);
			json_bytes(stdout, value, (size_t)(end - value));
		}
		text += n + (text[n] == '\n');
	}
	puts("\n}");
}

static int run(int argc, char **argv)
{
	struct cores o = { .name = NULL };
	struct cli_run *const r = &o.run;
	cli_run_init(r);
	const int go = cli_options_and_words(&cmd_cores, &o, argc, argv, take_name);
	if (go <= 0)
		return go ? 2 : 0;
	const char *name = o.name;
	const bool json = o.json;
	if (!name && (r->sets || o.features)) {
		cli_error("%s needs the name of the core", r->sets ? "--set" : "--features");
		return 2;
	}
	if (!name)
		return o.covered ? coverage_of_all(o.covered, json) : list(json);
	r->core_name = name;
	if (cli_core(r))
		return 2;
	if (o.covered)
		return coverage(o.covered, &r->core, 1, json);
	if (o.features) {
		features_print(&r->core, json);
		return 0;
	}
	char *text = core_config_print(&r->core, !json);
	if (!text) {
		cli_error("out of memory");
		return 1;
	}
	if (json)
		print_json(text);
	else
		fputs(text, stdout);
	free(text);
	return 0;
}

const struct cli_command cmd_cores = {
	.name = "cores", .summary = "list the machines that can be modelled, or print every field of one machine",
	.options = options,
		.run = run,
	.usage = "[options] [CORE]",
	.about = "Lists the preset cores. With CORE (a preset, or a file with a / in its name), prints every field of "
		"that core with its meaning, in the form of a core's file: save it, change it, and use it with --core "
		"./FILE, or change one field with --set.",
};
