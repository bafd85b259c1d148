/* SPDX-License-Identifier: GPL-2.0-or-later
 * Completion for bash (cli_help.h): a script with every command's options and the values that they take, both
 * printed from the commands' tables, and one function that completes the word at the cursor from them.
 *
 * An option's argument says how its value is completed: FILE, DIR, CORE, PMU, or words joined by |.  Left out:
 * names of events, fields and features.  They differ from core to core, and are too many. */
#include "cli/common/cli_help.h"
#include <dirent.h>
#include <stdlib.h>
#include <string.h>

static const char script[] =
"# SPDX-License-Identifier: GPL-2.0-or-later\n"
"# bash completion for softpmu: commands, options, values and files.  Made by `softpmu help --completion bash`\n"
"# (tools/docs/option-lists.sh); do not edit.\n";

/* The script's function.  _softpmu_options COMMAND and _softpmu_values COMMAND OPTION are the tables, made below. */
static const char function[] =
	"\n"
	"_softpmu()\n"
	"{\n"
	"	local cur=${COMP_WORDS[COMP_CWORD]} prev='' command='' i word=''\n"
	"	COMPREPLY=()\n"
	"	# Bash splits --option=value at the =, which then is a word of its own.\n"
	"	local words=()\n"
	"	for ((i = 0; i < COMP_CWORD; i++)); do words+=(\"${COMP_WORDS[i]}\"); done\n"
	"	if [[ $cur == = ]]; then\n"
	"		prev=${words[-1]} cur=\n"
	"	elif [[ ${words[-1]} == = && ${#words[@]} -gt 2 ]]; then\n"
	"		prev=${words[-2]}\n"
	"	else\n"
	"		prev=${words[-1]}\n"
	"	fi\n"
	"	if ((COMP_CWORD == 1)); then\n"
	"		mapfile -t COMPREPLY < <(compgen -W \"$(_softpmu_options '')\" -- \"$cur\")\n"
	"		return\n"
	"	fi\n"
	"	command=${words[1]}\n"
	"	if [[ $command == help ]]; then\n"
	"		mapfile -t COMPREPLY < <(compgen -W \"$(_softpmu_options '') run-options\" -- \"$cur\")\n"
	"		return\n"
	"	fi\n"
	"	# A part of a command has options of its own: softpmu tune --software.\n"
	"	if ((COMP_CWORD > 2)) && [[ $(_softpmu_options \"$command ${words[2]}\") ]]; then\n"
	"		command=\"$command ${words[2]}\"\n"
	"	fi\n"
	"	case $(_softpmu_values \"$command\" \"$prev\") in\n"
	"	'') ;;\n"
	"	FILE) mapfile -t COMPREPLY < <(compgen -f -- \"$cur\"); compopt -o filenames 2>/dev/null; return ;;\n"
	"	DIR) mapfile -t COMPREPLY < <(compgen -d -- \"$cur\"); compopt -o filenames 2>/dev/null; return ;;\n"
	"	-) return ;;	# a value that nothing is known of\n"
	"	*) mapfile -t COMPREPLY < <(compgen -W \"$(_softpmu_values \"$command\" \"$prev\")\" -- \"$cur\"); "
	"return ;;\n"
	"	esac\n"
	"	if [[ $cur == -* ]]; then\n"
	"		word=$(_softpmu_options \"$command\")\n"
	"		if ((COMP_CWORD == 2)); then word+=\" $(_softpmu_parts \"$command\")\"; fi\n"
	"		mapfile -t COMPREPLY < <(compgen -W \"$word --help\" -- \"$cur\")\n"
	"		return\n"
	"	fi\n"
	"	# A part's name, then what is run or read.\n"
	"	mapfile -t COMPREPLY < <(((COMP_CWORD == 2)) && compgen -W \"$(_softpmu_parts \"$command\")\" -- "
	"\"$cur\"\n"
	"		[[ $(_softpmu_takes_program \"$command\") ]] && compgen -c -- \"$cur\"\n"
	"		compgen -f -- \"$cur\")\n"
	"	compopt -o filenames 2>/dev/null\n"
	"}\n"
	"complete -F _softpmu softpmu\n";

/* Prints words behind each other, and continues on the next line where one would become too long. */
struct line { FILE *out; unsigned column; };

static void print_word(struct line *l, const char *before, const char *word, size_t n)
{
	enum { MOST = 110 };
	if (l->column + strlen(before) + n + 1 > MOST) {
		fputs(" \\\n\t\t", l->out);
		l->column = 16;
	}
	l->column += (unsigned)fprintf(l->out, " %s%.*s", before, (int)n, word);
}

static int by_name(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

/* The names of the files of one kind in the data directory, which end with `suffix`, in order. */
static void print_files(struct line *l, const char *folder, const char *suffix, const char *but)
{
	enum { MOST = 256 };
	char path[4096], *name[MOST];
	size_t n = 0;
	snprintf(path, sizeof path, "%s/%s", cli_data_dir(), folder);
	DIR *d = opendir(path);
	for (struct dirent *e; d && n < MOST && (e = readdir(d));) {
		const size_t length = strlen(e->d_name), end = strlen(suffix);
		if (length > end && !strcmp(e->d_name + length - end, suffix) && strncmp(e->d_name, but, strlen(but)) &&
		    (name[n] = strndup(e->d_name, length - end)))
			n++;
	}
	if (d)
		closedir(d);
	qsort(name, n, sizeof *name, by_name);
	for (size_t i = 0; i < n; i++) {
		print_word(l, "", name[i], strlen(name[i]));
		free(name[i]);
	}
}

static void print_options(struct line *l, const struct option *o)
{
	for (; o && o->kind; o++)
		if (o->kind != OPTION_GROUP && o->kind != OPTION_REFUSED && !o->hidden) {
			if (o->name)
				print_word(l, "--", o->name, strlen(o->name));
			else
				print_word(l, "-", &o->brief, 1);
		}
}

/* A word of lower-case letters, digits, - and _: a choice, not the name of a value. */
static bool is_choice(const char *argument)
{
	return strchr(argument, '|') && !strpbrk(argument, "ABCDEFGHIJKLMNOPQRSTUVWXYZ,");
}

/* A line of the table of values: "COMMAND -o"|"COMMAND --output") echo ... ;; */
static void print_values(FILE *out, const char *command, const struct option *o)
{
	for (; o && o->kind; o++) {
		if (!o->argument || o->hidden || (o->optional && !o->name))
			continue;
		struct line l = { out, 100 };	/* the values begin on a line of their own, if there are many */
		fputs("	", out);
		if (o->brief && !o->optional)
			fprintf(out, "'%s -%c'%s", command, o->brief, o->name ? " | " : "");
		if (o->name)
			fprintf(out, "'%s --%s'", command, o->name);
		fputs(") echo", out);
		if (o->kind == OPTION_CHOICE || is_choice(o->argument)) {
			for (const char *word = o->argument; *word; word += *word == '|') {
				const size_t n = strcspn(word, "|");
				print_word(&l, "", word, n);
				word += n;
			}
		} else if (!strcmp(o->argument, "CORE")) {
			print_word(&l, "", "host", 4);
			print_files(&l, "cores", ".conf", "\n");
		} else if (!strcmp(o->argument, "PMU")) {
			print_files(&l, "events", ".tsv", "uncore-");
		} else {
			fputs(!strcmp(o->argument, "FILE") || !strcmp(o->argument, "DIR")
					? o->argument[0] == 'F' ? " FILE" : " DIR"
					: " -",
				out);
		}
		fputs(" ;;\n", out);
	}
}

static void each(FILE *out, const struct cli_command *const *list,
	void (*print)(FILE *out, const struct cli_command *c))
{
	for (; *list; list++) {
		print(out, *list);
		if ((*list)->parts)
			each(out, (*list)->parts, print);
	}
}

static void options_row(FILE *out, const struct cli_command *c)
{
	struct line l = { out, (unsigned)fprintf(out, "	'%s') echo", c->name) + 7 };
	print_options(&l, c->options);
	fputs(c->runs ? " \"$run\" ;;\n" : " ;;\n", out);
}

static void values_row(FILE *out, const struct cli_command *c)
{
	print_values(out, c->name, c->options);
}

static void runs_row(FILE *out, const struct cli_command *c)
{
	if (c->runs)
		fprintf(out, "	'%s') _softpmu_values run-options \"$2\" ;;\n", c->name);
}

static void program_row(FILE *out, const struct cli_command *c)
{
	if (strstr(c->usage, "PROGRAM"))
		fprintf(out, "	'%s') echo yes ;;\n", c->name);
}

void cli_completion_bash(FILE *out, const struct cli_command *const *commands)
{
	fputs(script, out);
	struct line l = { out, 24 };
	fputs("\n_softpmu_options()\n{\n	local run=\"", out);
	print_options(&l, cli_run_options);
	fputs("\"\n	case $1 in\n	'') echo", out);
	l.column = 16;
	for (const struct cli_command *const *c = commands; *c; c++)
		print_word(&l, "", (*c)->name, strlen((*c)->name));
	fputs(" help --help --version ;;\n", out);
	each(out, commands, options_row);
	fputs("	esac\n}\n\n_softpmu_parts()\n{\n	case $1 in\n", out);
	for (const struct cli_command *const *c = commands; *c; c++)
		if ((*c)->parts) {
			fprintf(out, "	'%s') echo", (*c)->name);
			for (const struct cli_command *const *part = (*c)->parts; *part; part++)
				fprintf(out, " %s", (*part)->name + strlen((*c)->name) + 1);
			fputs(" ;;\n", out);
		}
	fputs("	esac\n}\n\n# FILE, DIR, - (anything), or the words that may follow an option; nothing if it takes no "
	      "value.\n"
	      "_softpmu_values()\n{\n	case \"$1 $2\" in\n",
		out);
	print_values(out, "run-options", cli_run_options);
	each(out, commands, values_row);
	fputs("	*) case $1 in\n", out);
	each(out, commands, runs_row);
	fputs("	esac ;;\n	esac\n}\n\n_softpmu_takes_program()\n{\n	case $1 in\n", out);
	each(out, commands, program_row);
	fputs("	esac\n}\n", out);
	fputs(function, out);
}
