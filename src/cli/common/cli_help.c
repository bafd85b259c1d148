/* SPDX-License-Identifier: GPL-2.0-or-later
 * softpmu help (cli_help.h). */
#include "cli/common/cli_help.h"
#include "util/near.h"
#include <string.h>

static void usage(FILE *out, const struct cli_command *c)
{
	const char *before = "usage:";
	for (const char *line = c->usage; *line; before = "") {
		const size_t n = strcspn(line, "\n");
		fprintf(out, "%-6s softpmu %s%s%.*s\n", before, c->name, n ? " " : "", (int)n, line);
		line += n + (line[n] == '\n');
	}
}

void cli_help_command(FILE *out, const struct cli_command *c)
{
	usage(out, c);
	fputc('\n', out);
	options_wrap(out, c->about, 0, 0);
	if (c->options) {
		fputc('\n', out);
		options_help(out, c->options);
	}
	if (c->runs)
		fputs("\nOptions of a run (--core, --set, --feature, --start, --stop, --replay ...) go\nwith these: "
		      "softpmu help run-options.\n",
			out);
	for (const struct cli_command *const *part = c->parts; part && *part; part++) {
		const unsigned column =
			(unsigned)fprintf(out, "%s  softpmu %-18s ", part == c->parts ? "\n" : "", (*part)->name);
		options_wrap(out, (*part)->summary, 30, column);
	}
	if (c->parts)
		fprintf(out, "\nEach has options of its own: softpmu help %s.\n", c->parts[0]->name);
	if (c->notes) {
		fputc('\n', out);
		options_wrap(out, c->notes, 0, 0);
	}
}

void cli_help_run_options(FILE *out)
{
	fputs("Options of a run, which every command that runs a program takes:\n\n", out);
	options_help(out, cli_run_options);
}

/* The command, or the part of one, that the words name; NULL: none. */
static const struct cli_command *find(const struct cli_command *const *list, int words, char **word)
{
	char name[256] = "";
	for (int i = 0; i < words; i++)
		snprintf(name + strlen(name), sizeof name - strlen(name), "%s%s", i ? " " : "", word[i]);
	for (; *list; list++) {
		if (!strcmp((*list)->name, name))
			return *list;
		const struct cli_command *part = (*list)->parts ? find((*list)->parts, words, word) : NULL;
		if (part)
			return part;
	}
	return NULL;
}

int cli_unknown_command(const struct cli_command *const *list, const char *name)
{
	struct near near;
	char text[256];
	near_start(&near, name);
	for (; *list; list++)
		near_offer(&near, (*list)->name, strlen((*list)->name));
	near_offer(&near, "help", 4);
	near_text(&near, "; nearest: ", text, sizeof text);
	cli_error("unknown command '%s'%s (softpmu --help)", name, text);
	return 2;
}

/* Prints what is wrong with a table, which is an error of softpmu's own.  Whether it is in order. */
static bool in_order(const char *name, const struct option *options)
{
	char text[512];
	if (!*options_fault(options, text, sizeof text))
		return true;
	cli_error("options of %s: %s", name, text);
	return false;
}

/* The commands and parts that have options of their own; false: a table is faulty. */
static bool mdoc_names(const struct cli_command *const *list)
{
	bool good = true;
	for (; *list; list++) {
		if ((*list)->options) {
			puts((*list)->name);
			good &= in_order((*list)->name, (*list)->options);
		}
		if ((*list)->parts)
			good &= mdoc_names((*list)->parts);
	}
	return good;
}

static int mdoc(const struct cli_command *const *commands, int argc, char **argv)
{
	if (!argc) {
		puts("run-options");
		return in_order("a run", cli_run_options) & mdoc_names(commands) ? 0 : 1;
	}
	if (argc == 1 && !strcmp(argv[0], "run-options")) {
		options_mdoc(stdout, cli_run_options);
		return 0;
	}
	const struct cli_command *c = find(commands, argc, argv);
	if (!c)
		return cli_unknown_command(commands, argv[0]);
	if (c->options)
		options_mdoc(stdout, c->options);
	return 0;
}

int cli_help(const struct cli_command *const *commands, int argc, char **argv)
{
	if (!strcmp(argv[0], "--mdoc"))
		return mdoc(commands, argc - 1, argv + 1);
	if (argc == 2 && !strcmp(argv[0], "--completion") && !strcmp(argv[1], "bash")) {
		cli_completion_bash(stdout, commands);
		return 0;
	}
	if (argc == 1 && !strcmp(argv[0], "run-options")) {
		cli_help_run_options(stdout);
		return 0;
	}
	const struct cli_command *c = find(commands, argc, argv);
	if (!c)	/* softpmu help stat ls: what follows the command does not matter */
		c = find(commands, 1, argv);
	if (!c)
		return cli_unknown_command(commands, argv[0]);
	cli_help_command(stdout, c);
	return 0;
}
