/* SPDX-License-Identifier: GPL-2.0-or-later
 * Puts a page together; page.h describes it. */
#include "output/html/page.h"
#include "output/html/assets.h"
#include "output/html/part.h"
#include "util/json.h"
#include <stdlib.h>
#include <string.h>

/* The parts of a run, in the order in which they are written. */
static const struct {
	const char *name;
	int (*write)(FILE *to, struct html_run *r, struct err *err);
} part[] = {
	{ "summary", html_part_summary },
	{ "profile", html_part_profile },
	{ "exact", html_part_exact },
	{ "timeline", html_part_timeline },
	{ "code", html_part_code },
	{ "memory", html_part_memory },
	{ "analyses", html_part_analyses },
};

/* A comparison is of functions with the same name in objects of the same name: of two programs it says nothing. */
static void check_program(const struct html_run *r, const struct html_run *first, char warning[])
{
	const char *const *name = r->programs.key, *const *other = first->programs.key;
	for (size_t i = 0; i < r->programs.count; i++)
		if (html_has_program(first, name[i]))
			return;
	if (r->programs.count)
		snprintf(warning, HTML_WARNING, "%s is of the program %.15s, but %s is of %.15s: a comparison of two "
			"programs says little", r->name, name[0], first->name, other[0]);
}

/* first: the run that it is compared with, or NULL. */
static int write_run(FILE *to, struct html_run *r, const struct html_run *first, struct err *err)
{
	int code = 0;
	fputs("{\"name\": ", to);
	json_string(to, r->name);
	for (size_t i = 0; !code && i < sizeof part / sizeof *part; i++) {
		fprintf(to, ",\n\"%s\": ", part[i].name);
		code = part[i].write(to, r, err);
	}
	if (first)
		check_program(r, first, r->warning);
	fputs(",\n\"warning\": ", to);
	json_string(to, r->warning);
	fputs(",\n", to);
	html_run_tables(to, r);
	fputs("}", to);
	if (!code && r->failed)
		code = err_set(err, ERR_NOMEM, "out of memory");
	return code;
}

/* In a script element `<` could begin its end or a comment (HTML, section "Restrictions for contents of script
 * elements").  In JSON it stands in strings only, where it has an escape. */
static void write_data(FILE *to, const char *json, size_t bytes)
{
	for (const char *end = json + bytes; json < end; ) {
		const char *next = memchr(json, '<', (size_t)(end - json));
		fwrite(json, 1, (size_t)((next ? next : end) - json), to);
		if (next)
			fputs("\\u003c", to);
		json = next ? next + 1 : end;
	}
}

static void write_text(FILE *to, const char *text)
{
	for (; *text; text++)
		switch (*text) {
		case '<': fputs("&lt;", to); break;
		case '&': fputs("&amp;", to); break;
		default: fputc((unsigned char)*text < ' ' || *text == 127 ? '?' : *text, to);
		}
}

static void write_scripts(FILE *to)
{
	const struct html_asset *a;
	for (size_t i = 0; (a = html_asset(i)); i++)
		if (a->script)
			fprintf(to, "<script>\n%s</script>\n", a->text);
}

static const char *text_of(const char *file)
{
	const struct html_asset *a;
	for (size_t i = 0; (a = html_asset(i)); i++)
		if (!strcmp(a->file, file))
			return a->text;
	return "";
}

static void write_page(FILE *to, const char *title, const char *json, size_t bytes)
{
	for (const char *at = text_of("page.html"); *at; ) {
		const char *mark = strstr(at, "@@");
		if (!mark) {
			fputs(at, to);
			break;
		}
		fwrite(at, 1, (size_t)(mark - at), to);
		at = strstr(mark + 2, "@@");
		const size_t n = (size_t)(at - mark) - 2;
		if (!strncmp(mark + 2, "TITLE", n))
			write_text(to, title);
		else if (!strncmp(mark + 2, "STYLE", n))
			fprintf(to, "%s%s", text_of("style.css"), text_of("analysis.css"));
		else if (!strncmp(mark + 2, "DATA", n))
			write_data(to, json, bytes);
		else if (!strncmp(mark + 2, "SCRIPTS", n))
			write_scripts(to);
		at += 2;
	}
}

int html_write(FILE *to, struct html_input *input, size_t inputs, const char *version, struct err *err)
{
	struct html_run run[2];
	char *json = NULL;
	size_t bytes = 0;
	int code = 0;
	FILE *data = open_memstream(&json, &bytes);
	if (!data)
		return err_set(err, ERR_NOMEM, "out of memory");
	fputs("{\"format\": 1, \"softpmu\": ", data);
	json_string(data, version);
	fputs(", \"runs\": [", data);
	for (size_t i = 0; i < inputs; i++) {
		html_run_init(&run[i], &input[i]);
		fputs(i ? ",\n" : "\n", data);
		code = code ? code : write_run(data, &run[i], i ? run : NULL, err);
	}
	for (size_t i = 0; i < inputs; i++)
		html_run_release(&run[i]);
	fputs("]}", data);
	if (fclose(data) && !code)
		code = err_set(err, ERR_NOMEM, "out of memory");
	if (!code)
		write_page(to, input->name, json, bytes);
	free(json);
	return code;
}
