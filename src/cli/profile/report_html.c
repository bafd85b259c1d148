/* SPDX-License-Identifier: GPL-2.0-or-later
 * Writes the page of a perf.data file (output/html/page.h). */
#include "cli/profile/report_html.h"
#include "cli/cli.h"
#include "output/html/page.h"
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum { ADDS = 16 };

/* Splits a list at its commas.  Returns the number of words, or -1 after a line that was printed. */
static int split(char *list, const char *word[ADDS])
{
	int n = 0;
	for (char *at = list; at; ) {
		char *comma = strchr(at, ',');
		if (n == ADDS) {
			cli_error("--add takes at most %d files", ADDS);
			return -1;
		}
		if (comma)
			*comma++ = 0;
		word[n++] = at;
		at = comma;
	}
	return n;
}

/* True if writing to `path` would destroy `input`. */
static bool same_file(const char *path, const char *input)
{
	struct stat a, b;
	return input && !stat(path, &a) && !stat(input, &b) && a.st_dev == b.st_dev && a.st_ino == b.st_ino;
}

int report_html(const char *path, const char *input, const char *other, const char *add)
{
	const char *word[ADDS];
	char *list = add ? strdup(add) : NULL;
	const int words = add && !list ? -1 : split(list, word);
	if (words < 0) {
		free(list);
		return 2;
	}
	for (int i = -2; i < words; i++) {
		const char *read = i == -2 ? input : i == -1 ? other : word[i];
		if (same_file(path, read)) {
			cli_error("--html %s would overwrite %s, which the page is made from", path, read);
			free(list);
			return 2;
		}
	}
	struct html_input in[2] = { { .name = input, .add = word, .adds = (size_t)words }, { .name = other } };
	const size_t inputs = other ? 2 : 1;
	const bool standard = !strcmp(path, "-");
	struct err err = { 0 };
	FILE *to = NULL;
	int code = 0;
	for (size_t i = 0; i < inputs && !code; i++)
		code = cli_open_data(&in[i].file, in[i].name);
	if (!code) {
		to = standard ? stdout : fopen(path, "we");
		if (!to)
			code = err_system(&err, "cannot write %s", path);
		else
			code = html_write(to, in, inputs, cli_version(), &err);
		if (to && (standard ? fflush(to) : fclose(to)) && !code)
			code = err_system(&err, "cannot write %s", path);
		if (code)
			cli_error("%s", err.text);
		for (size_t i = 0; i < inputs && !code; i++)
			if (*in[i].warning)
				cli_warn("%s", in[i].warning);
	}
	for (size_t i = 0; i < inputs; i++)
		perfdata_close(in[i].file);
	free(list);
	return code ? 1 : 0;
}
