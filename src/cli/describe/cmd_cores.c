/* SPDX-License-Identifier: GPL-2.0-or-later
 * softpmu cores: the machines that can be modelled, every field of one, and what its uop table lacks of a program. */
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

static const char help[] =
"usage: softpmu cores [options] [NAME]\n\n"
"Lists the preset cores; with NAME (a preset, or a file with a '/' in its name) every field of that core with its\n"
"meaning, in the form of a core's file: save it, change it, use it with --core ./FILE, or change one field with --set.\n\n"
"      --set FIELD=VALUE   change a field first (again for more)\n"
"      --features          what of NAME can be changed by writes of its registers, and to which levels\n"
"      --coverage FILE     the instruction forms of FILE that have no row of their own in the core's uop table (in all\n"
"                          cores' tables, without NAME), by count: of an ELF file its code, each instruction once; of a saved\n"
"                          stream (--save-stream) as often as each was executed\n"
"  -j, --json              JSON\n";

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

/* One preset a line.  A preset whose file is broken is reported, the others still shown. */
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

/* The printed file as one JSON object: `field = value` lines; comments are dropped. */
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
	struct cli_run r;
	const char *name = NULL, *covered = NULL;
	bool json = false, features = false;
	cli_run_init(&r);
	for (int i = 1; i < argc; i++) {
		const char *word = argv[i], *v;
		if (!strcmp(word, "--help") || !strcmp(word, "-h")) {
			fputs(help, stdout);
			return 0;
		} else if (!strcmp(word, "-j") || !strcmp(word, "--json")) {
			json = true;
		} else if (!strcmp(word, "--features")) {
			features = true;
		} else if ((v = cli_value(argc, argv, &i, 0, "set"))) {
			if (r.sets == sizeof r.set / sizeof *r.set) {
				cli_error("more than %u --set options", r.sets);
				return 2;
			}
			r.set[r.sets++] = v;
		} else if (i >= 0 && (v = cli_value(argc, argv, &i, 0, "coverage"))) {
			covered = v;
		} else if (i < 0) {
			return 2;
		} else if (word[0] == '-') {
			cli_unknown_option("cores", help, word);
			return 2;
		} else if (name) {
			cli_error("one core at a time: '%s' or '%s'", name, word);
			return 2;
		} else {
			name = word;
		}
	}
	if (!name && (r.sets || features)) {
		cli_error("%s needs the name of the core", r.sets ? "--set" : "--features");
		return 2;
	}
	if (!name)
		return covered ? coverage_of_all(covered, json) : list(json);
	r.core_name = name;
	if (cli_core(&r))
		return 2;
	if (covered)
		return coverage(covered, &r.core, 1, json);
	if (features) {
		features_print(&r.core, json);
		return 0;
	}
	char *text = core_config_print(&r.core, !json);
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
	.name = "cores", .summary = "the machines that can be modelled, and every field of one", .help = help, .run = run,
};
