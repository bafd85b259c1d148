/* SPDX-License-Identifier: GPL-2.0-or-later
 * The part "analyses" of a page: what other commands printed about the same program (html_input.add).
 *
 *   [{"file": TEXT, "lines": [OBJECT, ...]}, ...]
 *
 * The objects are those of `softpmu topdown --json` and `softpmu cost --json`, one a line, as softpmu(1) describes
 * them, and those of `softpmu trace --pipeline` (pipeline/pipeline_json.c).
 */
#include "output/html/part.h"
#include "util/json.h"
#include <errno.h>
#include <json-c/json.h>
#include <stdlib.h>
#include <string.h>

enum { LINES_LIMIT = 100000 };

/* The objects say what they are of. */
static void check_program(struct html_run *r, const char *path, struct json_object *o)
{
	struct json_object *program;
	if (*r->warning || !json_object_object_get_ex(o, "program", &program))
		return;
	const char *name = json_object_get_string(program);
	if (name && *name && !html_has_program(r, name))
		snprintf(r->warning, HTML_WARNING, "%s is of the program %.15s, which %s has no samples of", path, name,
			r->name);
}

static int write_file(FILE *to, struct html_run *r, const char *path, struct err *err)
{
	FILE *f = fopen(path, "re");
	char *line = NULL;
	size_t room = 0, number = 0;
	int code = 0;
	if (!f)
		return err_system(err, "cannot read %s", path);
	fputs("{\"file\": ", to);
	json_string(to, path);
	fputs(", \"lines\": [", to);
	while (!code && getline(&line, &room, f) > 0 && number < LINES_LIMIT) {
		struct json_object *o = json_tokener_parse(line);
		fputs(number++ ? ",\n" : "\n", to);
		const char *text = json_object_is_type(o, json_type_object) ?
			json_object_to_json_string_ext(o, JSON_C_TO_STRING_PLAIN) : NULL;
		/* json-c reads these as numbers, but browsers do not */
		if (text && !strstr(text, "NaN") && !strstr(text, "Infinity")) {
			fputs(text, to);
			check_program(r, path, o);
		} else {
			code = err_set(err, ERR_INPUT, "%s: line %zu is not what `softpmu topdown --json' or `softpmu "
				"cost --json' prints", path, number);
		}
		json_object_put(o);
	}
	if (!code && ferror(f))
		code = err_system(err, "cannot read %s", path);
	fputs("]}", to);
	free(line);
	fclose(f);
	return code;
}

int html_part_analyses(FILE *to, struct html_run *r, struct err *err)
{
	int code = 0;
	fputs("[", to);
	for (size_t i = 0; !code && i < r->adds; i++) {
		fputs(i ? ",\n" : "", to);
		code = write_file(to, r, r->add[i], err);
	}
	fputs("]", to);
	return code;
}
