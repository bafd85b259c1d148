/* SPDX-License-Identifier: GPL-2.0-or-later
 * Counts from stat's files (compare_stat.h).  json-c reads JSON. */
#include "cli/compare/compare_stat.h"
#include "util/grow.h"
#include <json-c/json.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

enum { FIELDS = 16, DEPTH = 4 };

const struct compare_count *compare_stat_find(const struct compare_counts *c, const char *name)
{
	for (size_t i = 0; i < c->counts; i++)
		if (!strcmp(c->count[i].name, name))
			return c->count + i;
	return NULL;
}

void compare_stat_free(struct compare_counts *c)
{
	for (size_t i = 0; i < c->counts; i++)
		free(c->count[i].name);
	free(c->count);
	*c = (struct compare_counts){ 0 };
}

/* "1,234.5" or "<not ...": false if it is neither. */
static bool number(const char *text, double *value, bool *counted)
{
	char plain[64];
	size_t n = 0;
	char *end;
	*value = 0;
	*counted = strncmp(text, "<not ", 5);
	if (!*counted)
		return true;
	for (; *text && n < sizeof plain - 1; text++)
		if (*text != ',')
			plain[n++] = *text;
	plain[n] = 0;
	if (!n || plain[0] < '0' || plain[0] > '9')
		return false;
	*value = strtod(plain, &end);
	return !*end && isfinite(*value);
}

/* of: what the count is of, a region or thread; "": the whole run. */
static int add(struct compare_counts *c, const char *of, const char *event, double value, bool counted,
	struct err *err)
{
	char *name = NULL;
	struct compare_count *grown = grow_array(c->count, c->counts, &c->room, 16, sizeof *grown);
	if (grown)
		c->count = grown;
	if (!grown || asprintf(&name, "%s%s%s", of, *of ? " " : "", event) < 0)
		return err_set(err, ERR_NOMEM, "out of memory");
	if (compare_stat_find(c, name)) {
		free(name);
		return err_set(err, ERR_INPUT, "'%.100s' stands there twice: intervals and several runs in one file "
			"cannot be compared", event);
	}
	grown[c->counts++] = (struct compare_count){ name, value, counted };
	return 0;
}

/* ---- lines of fields -------------------------------------------------------------------------------------- */

static size_t split(char *line, const char *separator, char *field[FIELDS])
{
	const size_t n = strlen(separator);
	size_t fields = 0;
	while (fields < FIELDS) {
		field[fields++] = line;
		if (!(line = strstr(line, separator)))
			break;
		*line = 0;
		line += n;
	}
	return fields;
}

/* VALUE,UNIT,EVENT,...; THREAD,VALUE,UNIT,EVENT,...; REGION,ENTRIES,VALUE,UNIT,EVENT,... */
static int fields_line(struct compare_counts *c, char *line, const char *separator, struct err *err)
{
	char *field[FIELDS];
	double value, other;
	bool counted, also;
	const size_t fields = split(line, separator, field);
	size_t at = 0;
	if (!number(field[0], &value, &counted)) {
		/* an empty unit stands behind a value, and is no number */
		at = fields > 4 && number(field[1], &value, &counted) && number(field[2], &other, &also) ? 2 : 1;
		if (fields <= at || !number(field[at], &value, &counted))
			return err_set(err, ERR_INPUT, "it holds no count");
	}
	if (fields < at + 3 || !*field[at + 2] || number(field[at + 2], &other, &also))
		return err_set(err, ERR_INPUT, "it names no event");
	return add(c, at ? field[0] : "", field[at + 2], value, counted, err);
}

/* ---- JSON ------------------------------------------------------------------------------------------------- */

static const char *text_of(struct json_object *o, const char *name)
{
	struct json_object *v = json_object_object_get(o, name);
	return json_object_is_type(v, json_type_string) ? json_object_get_string(v) : NULL;
}

static int json_line(struct compare_counts *c, const char *line, struct err *err)
{
	struct json_tokener *parser = json_tokener_new_ex(DEPTH);
	double value;
	bool counted;
	if (!parser)
		return err_set(err, ERR_NOMEM, "out of memory");
	struct json_object *o = json_tokener_parse_ex(parser, line, -1);
	const bool good = json_tokener_get_error(parser) == json_tokener_success &&
			  json_object_is_type(o, json_type_object);
	const char *count = good ? text_of(o, "counter-value") : NULL, *event = good ? text_of(o, "event") : NULL;
	const char *region = good ? text_of(o, "region") : NULL, *thread = good ? text_of(o, "thread") : NULL;
	int rc;
	json_tokener_free(parser);
	if (good && json_object_object_get(o, "interval"))
		rc = err_set(err, ERR_INPUT, "intervals cannot be compared");
	else if (!count || !event || !number(count, &value, &counted))
		rc = err_set(err, ERR_INPUT, "it is no object of stat --json");
	else
		rc = add(c, region ? region : thread ? thread : "", event, value, counted, err);
	json_object_put(o);
	return rc;
}

/* ---- the table -------------------------------------------------------------------------------------------- */

/* "  1,234 msec event # ..."; other lines are none of a count, and are left out. */
static int table_line(struct compare_counts *c, char *line, struct err *err)
{
	static const char *const unit[] = { "msec", "ns", "Joules", "MiB", "seconds" };
	char *word[4] = { 0 }, *rest = line;
	double value;
	bool counted;
	size_t words = 0;
	line[strcspn(line, "#")] = 0;
	if (*line != ' ')
		return 0;
	if ((rest = strstr(line, "<not "))) {	/* two words */
		char *end = strchr(rest, '>');
		if (!end || rest != line + strspn(line, " "))	/* behind the time of an interval */
			return 0;
		word[words++] = rest;
		rest = end + 1;
	} else {
		rest = line;
	}
	for (char *save = NULL, *w = strtok_r(rest, " ", &save); w && words < 4; w = strtok_r(NULL, " ", &save))
		word[words++] = w;
	if (words < 2 || !number(word[0], &value, &counted))
		return 0;
	size_t name = 1;
	for (size_t i = 0; i < sizeof unit / sizeof *unit && words > 2; i++)
		if (!strcmp(word[1], unit[i]))
			name = 2;
	if (words == 4 && !strcmp(word[1], "+-"))	/* of several runs: "1.25 +- 0.01 seconds time elapsed" */
		return add(c, "seconds", "elapsed", value, counted, err);
	if (name == 2 && !strcmp(word[1], "seconds"))
		return add(c, "seconds", strcmp(word[2], "time") ? word[2] : "elapsed", value, counted, err);
	return add(c, "", word[name], value, counted, err);
}

/* ---- the file --------------------------------------------------------------------------------------------- */

int compare_stat_read(struct compare_counts *c, char *text, const char *path, const char *separator, struct err *err)
{
	enum { UNKNOWN, CSV, JSON, TABLE } form = UNKNOWN;
	unsigned number_of_line = 0;
	for (char *line = text, *next; line; line = next) {
		struct err why = { 0 };
		int rc = 0;
		if ((next = strchr(line, '\n')))
			*next++ = 0;
		number_of_line++;
		line[strcspn(line, "\r")] = 0;
		if (!*line || *line == '#')
			continue;
		if (form == UNKNOWN)
			form = *line == '{' ? JSON : *line == ' ' ? TABLE : CSV;
		rc = form == JSON ? json_line(c, line, &why) : form == CSV ? fields_line(c, line, separator, &why)
									   : table_line(c, line, &why);
		if (rc)
			return err_set(err, rc, "%s, line %u: %.900s", path, number_of_line, why.text);
	}
	return c->counts ? 0 : err_set(err, ERR_INPUT, "%s holds no counts of a whole run by "
		"stat, and is no profile", path);
}
