/* SPDX-License-Identifier: GPL-2.0-or-later
 * Files of tasks and results (sweep_task.h). */
#include "sweep/sweep_task.h"
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char magic[] = "softpmu-sweep 1";

/* ---- fields ---- */

static void put(FILE *to, const char *text)
{
	for (; *text; text++)
		if (*text == '%' || *text == ' ' || (unsigned char)*text < ' ' || (unsigned char)*text > '~')
			fprintf(to, "%%%02x", (unsigned char)*text);
		else
			putc(*text, to);
}

static int digit(char c)
{
	return c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* Takes the escapes out, in place.  False: they are not well made. */
static bool plain(char *text)
{
	char *to = text;
	for (; *text; *to++ = *text++)
		if (*text == '%') {
			const int high = digit(text[1]), low = high < 0 ? -1 : digit(text[2]);
			if (low < 0 || !(high | low))
				return false;
			text += 2;
			*text = (char)(high << 4 | low);
		}
	*to = 0;
	return true;
}

/* The next field of the line, up to `mark`; NULL: there is none, or it is not well made. */
static char *field(char **line, char mark)
{
	char *at = *line, *end;
	if (!at)
		return NULL;
	if ((end = strchr(at, mark)))
		*end++ = 0;
	*line = end;
	return plain(at) ? at : NULL;
}

static bool is_key(const char *text)
{
	return text && strlen(text) == FNV_CHARS - 1 && strspn(text, "0123456789abcdef") == FNV_CHARS - 1;
}

/* ---- tasks ---- */

void sweep_task_key(struct sweep_task *t)
{
	struct fnv f;
	fnv_init(&f);
	if (t->trace) {
		for (size_t i = 0; t->env && t->env[i]; i++)
			fnv_text(&f, t->env[i]);
		fnv_text(&f, "");
		for (size_t i = 0; t->argv[i]; i++)
			fnv_text(&f, t->argv[i]);
		fnv_text(&f, t->program);	/* the key of its file */
	} else {
		const char *const text[] = { t->program, t->machine, t->model, t->mode, t->events,
			t->energy ? "energy" : "" };
		for (size_t i = 0; i < sizeof text / sizeof *text; i++)
			fnv_text(&f, text[i]);
	}
	fnv_hex(&f, t->key);
}

static void put_fields(FILE *to, const char *const *text, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		putc('\t', to);
		put(to, text[i]);
	}
}

void sweep_task_write(FILE *to, const struct sweep_task *t)
{
	if (t->trace) {
		char count[24];
		size_t n = 0;
		while (t->env[n])
			n++;
		snprintf(count, sizeof count, "%zu", n);
		fputs(t->points ? "points" : "trace", to);
		put_fields(to, (const char *[]){ t->key, t->file, count }, 3);
		for (size_t i = 0; i < n; i++)
			put_fields(to, (const char *[]){ t->env[i] }, 1);
		for (size_t i = 0; t->argv[i]; i++)
			put_fields(to, (const char *[]){ t->argv[i] }, 1);
	} else {
		fputs("point", to);
		put_fields(to, (const char *[]){ t->key, t->program, t->machine, t->model, t->mode,
			t->energy ? "energy" : "", t->events, t->stream, t->core }, 9);
		for (size_t i = 0; i < t->settings; i++)
			put_fields(to, (const char *[]){ t->setting[i].feature ? "f" : "s", t->setting[i].field,
				t->setting[i].level }, 3);
	}
	putc('\n', to);
}

static int bad(struct err *err)
{
	return err_set(err, ERR_INPUT, "not a line of tasks that softpmu sweep writes");
}

static int read_trace(struct sweep_task *t, char *line, struct plan *keep, struct err *err)
{
	const char *key = field(&line, '\t'), *file = field(&line, '\t'), *count = field(&line, '\t');
	size_t fields = 1;
	if (!is_key(key) || !file || !count || strspn(count, "0123456789") != strlen(count) || strlen(count) > 6 ||
		!line)
		return bad(err);
	for (const char *c = line; *c; c++)
		fields += *c == '\t';
	const size_t variables = (size_t)atoi(count);
	char **words = plan_keep(keep, (fields + 2) * sizeof *words);
	if (!words)
		return err_set(err, ERR_NOMEM, "out of memory");
	if (variables >= fields)
		return bad(err);
	for (size_t i = 0; i <= fields; i++)	/* a NULL between variables and words, and one at the end */
		if (i == variables)
			words[i] = NULL;
		else if (!(words[i] = field(&line, '\t')))
			return bad(err);
	words[fields + 1] = NULL;
	strcpy(t->key, key);
	t->file = file;
	t->env = words;
	t->argv = words + variables + 1;
	return 0;
}

static int read_point(struct sweep_task *t, char *line, struct plan *keep, struct err *err)
{
	const char *text[9];
	size_t fields = 1;
	for (size_t i = 0; i < 9; i++)
		if (!(text[i] = field(&line, '\t')))
			return bad(err);
	if (!is_key(text[0]) || !is_key(text[1]) || !is_key(text[2]) || !*text[7] || !*text[8])
		return bad(err);
	strcpy(t->key, text[0]);
	t->program = text[1];
	t->machine = text[2];
	t->model = text[3];
	t->mode = text[4];
	t->energy = *text[5];
	t->events = text[6];
	t->stream = text[7];
	t->core = text[8];
	for (const char *c = line ? line : ""; *c; c++)
		fields += *c == '\t';
	struct plan_setting *setting = plan_keep(keep, (fields / 3 + 1) * sizeof *setting);
	if (!setting)
		return err_set(err, ERR_NOMEM, "out of memory");
	while (line) {
		const char *kind = field(&line, '\t'), *name = field(&line, '\t'), *level = field(&line, '\t');
		if (!kind || !name || !level || !*name || (strcmp(kind, "s") && strcmp(kind, "f")))
			return bad(err);
		setting[t->settings++] = (struct plan_setting){ name, level, *kind == 'f' };
	}
	t->setting = setting;
	return 0;
}

int sweep_task_read(struct sweep_task *t, char *line, struct plan *keep, struct err *err)
{
	const char *kind = field(&line, '\t');
	const bool points = kind && !strcmp(kind, "points");
	*t = (struct sweep_task){ .trace = points || (kind && !strcmp(kind, "trace")), .points = points };
	if (t->trace)
		return read_trace(t, line, keep, err);
	return kind && !strcmp(kind, "point") ? read_point(t, line, keep, err) : bad(err);
}

/* ---- results ---- */

static void put_number(FILE *to, double value)
{
	if (isnan(value))
		fputs(" -", to);
	else
		fprintf(to, " %.17g", value);
}

static void put_line(FILE *to, const char *name, const char *text)
{
	if (*text) {
		fprintf(to, "%s ", name);
		put(to, text);
		putc('\n', to);
	}
}

int sweep_result_write(const struct sweep_result *r, const char *dir, struct err *err)
{
	char *path = NULL, *final = NULL;
	int rc = 0;
	if (asprintf(&path, "%s/.%s.%ld", dir, r->key, (long)getpid()) < 0)
		return err_set(err, ERR_NOMEM, "out of memory");
	if (asprintf(&final, "%s/%s", dir, r->key) < 0) {
		free(path);
		return err_set(err, ERR_NOMEM, "out of memory");
	}
	FILE *to = fopen(path, "we");
	if (to) {
		fprintf(to, "%s\nkind %s\n", magic, r->trace ? "trace" : "point");
		put_line(to, "key", r->key);
		put_line(to, "program", r->program);
		put_line(to, "machine", r->machine);
		put_line(to, "model", r->model);
		put_line(to, "mode", r->mode);
		put_line(to, "host", r->host);
		put_line(to, "file", r->file);
		put_line(to, "digest", r->digest);
		put_line(to, "failed", r->failed);
		fprintf(to, "cost %.3f %llu\n", r->seconds, (unsigned long long)r->kilobytes);
		for (size_t i = 0; i < r->values; i++) {
			fputs("value ", to);
			put(to, r->value[i].event);
			put_number(to, r->value[i].value);
			put_number(to, r->value[i].half);
			putc('\n', to);
		}
		fputs("end\n", to);
	}
	bool wrong = !to || fflush(to) || ferror(to) || fsync(fileno(to));
	const int why = errno;
	if (to && fclose(to) && !wrong)
		wrong = true;
	else
		errno = why;
	if (wrong || rename(path, final)) {
		rc = err_system(err, "%s: the result cannot be written", final);
		unlink(path);
	}
	free(path);
	free(final);
	return rc;
}

static bool take(char *to, size_t bytes, const char *text)
{
	return text && snprintf(to, bytes, "%s", text) < (int)bytes;
}

static bool number(const char *text, double *out)
{
	char *end;
	*out = NAN;
	if (!text || !*text)
		return false;
	if (!strcmp(text, "-"))
		return true;
	*out = strtod(text, &end);
	return !*end && isfinite(*out);
}

static bool take_value(struct sweep_result *r, char *line)
{
	struct sweep_value *v = r->value + r->values;
	const char *event = field(&line, ' '), *value = field(&line, ' '), *half = field(&line, ' ');
	if (r->values == TASK_VALUES || !event || !take(v->event, sizeof v->event, event) ||
		!number(value, &v->value) || !number(half, &v->half) || line)
		return false;
	r->values++;
	return true;
}

static bool take_cost(struct sweep_result *r, char *line)
{
	const char *seconds = field(&line, ' '), *kilobytes = field(&line, ' ');
	double n;
	if (!number(seconds, &r->seconds) || !number(kilobytes, &n) || !(n >= 0 && n < 1e15) || !(r->seconds >= 0) ||
		line)
		return false;
	r->kilobytes = (uint64_t)n;
	return true;
}

/* A line of the file; false: it is wrong. */
static bool take_line(struct sweep_result *r, char *line, bool *ended)
{
	char *rest = line;
	const char *name = field(&rest, ' ');
	const struct { const char *name; char *at; size_t bytes; bool key; } text[] = {
		{ "key", r->key, sizeof r->key, true }, { "program", r->program, sizeof r->program, true },
		{ "machine", r->machine, sizeof r->machine, true }, { "model", r->model, sizeof r->model, false },
		{ "mode", r->mode, sizeof r->mode, false }, { "host", r->host, sizeof r->host, false },
		{ "failed", r->failed, sizeof r->failed, false }, { "file", r->file, sizeof r->file, false },
		{ "digest", r->digest, sizeof r->digest, true },
	};
	if (!name)
		return false;
	if (!strcmp(name, "end"))
		return *ended = !rest;
	if (!strcmp(name, "value"))
		return take_value(r, rest);
	if (!strcmp(name, "cost"))
		return take_cost(r, rest);
	if (!strcmp(name, "kind")) {
		const char *kind = field(&rest, ' ');
		r->trace = kind && !strcmp(kind, "trace");
		return kind && !rest && (r->trace || !strcmp(kind, "point"));
	}
	for (size_t i = 0; i < sizeof text / sizeof *text; i++)
		if (!strcmp(name, text[i].name)) {
			const char *value = field(&rest, ' ');
			return value && !rest && take(text[i].at, text[i].bytes, value) &&
				(!text[i].key || is_key(value));
		}
	return false;
}

int sweep_result_read(struct sweep_result *r, const char *path, struct err *err)
{
	char *line = NULL;
	size_t room = 0;
	bool good = true, ended = false;
	unsigned lines = 0;
	FILE *from = fopen(path, "re");
	if (!from)
		return err_system(err, "cannot read %s", path);
	*r = (struct sweep_result){ .value = calloc(TASK_VALUES, sizeof *r->value) };
	if (!r->value) {
		fclose(from);
		return err_set(err, ERR_NOMEM, "out of memory");
	}
	for (ssize_t n; good && !ended && (n = getline(&line, &room, from)) > 0; lines++) {
		good = line[n - 1] == '\n' && !memchr(line, 0, (size_t)n);
		line[n - 1] = 0;
		good = good && (lines ? take_line(r, line, &ended) : !strcmp(line, magic));
	}
	free(line);
	fclose(from);
	if (good && ended && *r->key && (r->trace ? *r->file && (*r->digest || *r->failed)
			: *r->program && *r->machine && *r->model && *r->mode && (r->values || *r->failed)))
		return 0;
	free(r->value);
	r->value = NULL;
	return err_set(err, ERR_INPUT, "%s: is not a whole result of softpmu sweep", path);
}
