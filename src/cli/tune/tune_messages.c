/* SPDX-License-Identifier: GPL-2.0-or-later
 * Requests and answers (tune_messages.h).  Either may come from anywhere, so both are read strictly. */
#include "cli/tune/tune_messages.h"
#include "cli/cli.h"
#include "store/program_key.h"
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

static const char first[] = "softpmu tune work 1";

int tune_request_model(struct tune_request *r, struct err *err)
{
	char key[PROGRAM_KEY_CHARS];
	const int rc = program_key("/proc/self/exe", key, err);
	snprintf(r->model, sizeof r->model, "softpmu %.40s %s", cli_version(), rc ? "" : key);
	return rc;
}

int tune_request_write(const struct tune_request *r, FILE *to, struct err *err)
{
	const struct run_sample *s = &r->sample;
	fprintf(to, "%s%cmodel=%s%cmachine=%s%cfolder=%s%c", first, 0, r->model, 0, r->machine, 0, r->folder, 0);
	for (size_t i = 0; i < r->options; i++)
		fprintf(to, "option=%s%c", r->option[i], 0);
	fprintf(to, "stream=%s%c", r->stream, 0);
	fprintf(to, "windows=%" PRIu64 " %" PRIu64 " %" PRIu64 "%c", s->interval, s->lead, s->measured, 0);
	if (r->seen)
		fprintf(to, "seen=%s%c", r->seen, 0);
	for (size_t i = 0; i < r->count; i++)
		fprintf(to, "settings=%s%c", r->settings[i], 0);
	fprintf(to, "end%c", 0);
	return fflush(to) || ferror(to) ? err_system(err, "cannot write what a replay needs") : 0;
}

/* ---- reading a request ---- */

/* A whole number and the blank or the end behind it. */
static bool whole(const char **at, uint64_t *out)
{
	char *end;
	if (**at < '0' || **at > '9')
		return false;
	errno = 0;
	*out = strtoull(*at, &end, 10);
	const bool good = !errno && (*end == ' ' || !*end);
	*at = *end ? end + 1 : end;
	return good;
}

static bool add(char ***list, size_t *count, const char *value)
{
	char **grown = realloc(*list, (*count + 2) * sizeof *grown);
	if (!grown)
		return false;
	*list = grown;
	grown[*count + 1] = NULL;
	return (grown[*count] = strdup(value)) && ++*count;
}

static bool once(char **text, const char *value)
{
	return !*text && (*text = strdup(value));
}

static bool copy(char *to, size_t room, const char *value)
{
	return !*to && snprintf(to, room, "%s", value) < (int)room;
}

static bool take(struct tune_request *r, const char *name, const char *value)
{
	if (!strcmp(name, "windows")) {
		struct run_sample *s = &r->sample;
		return whole(&value, &s->interval) && whole(&value, &s->lead) && whole(&value, &s->measured) && !*value;
	}
	return !strcmp(name, "model") ? copy(r->model, sizeof r->model, value)
		: !strcmp(name, "machine") ? copy(r->machine, sizeof r->machine, value)
		: !strcmp(name, "folder") ? once(&r->folder, value)
		: !strcmp(name, "option") ? add(&r->option, &r->options, value)
		: !strcmp(name, "stream") ? once(&r->stream, value)
		: !strcmp(name, "seen") ? once(&r->seen, value)
		: !strcmp(name, "settings") && r->count < TUNE_AT_ONCE && add(&r->settings, &r->count, value);
}

int tune_request_read(struct tune_request *r, FILE *from, struct err *err)
{
	char *text = NULL;
	size_t room = 0;
	*r = (struct tune_request){ 0 };
	bool good = getdelim(&text, &room, 0, from) > 0 && !strcmp(text, first), ended = false;
	while (good && !ended && getdelim(&text, &room, 0, from) > 0) {
		char *value = strchr(text, '=');
		ended = !strcmp(text, "end");
		if (value)
			*value++ = 0;
		good = ended || (value && take(r, text, value));
	}
	free(text);
	if (good && ended && r->folder && r->stream && r->count && !r->sample.measured == !r->seen)
		return 0;
	return err_set(err, ERR_INPUT, "standard input does not say what to do: softpmu tune --launch starts this "
		"command, and the launcher must pass the input on");
}

static void free_list(char **list, size_t count)
{
	for (size_t i = 0; i < count; i++)
		free(list[i]);
	free(list);
}

void tune_request_free(struct tune_request *r)
{
	free_list(r->option, r->options);
	free_list(r->settings, r->count);
	free(r->folder);
	free(r->stream);
	free(r->seen);
}

/* ---- answers ---- */

void tune_answer_write(const struct tune_machine *m, size_t count, FILE *to)
{
	for (size_t i = 0; i < count; i++) {
		if (m[i].err.code) {
			fprintf(to, "failed %zu %d %s\n", i, -m[i].err.code, m[i].err.text);
			continue;
		}
		fprintf(to, "measured %zu", i);
		for (unsigned k = 0; k < ENERGY_COUNTS_COUNT; k++)
			fprintf(to, " %" PRIu64, m[i].activity.n[k]);
		fprintf(to, " %a\n", m[i].half);
	}
	fputs("end\n", to);
}

static bool begins(const char **at, const char *word)
{
	const size_t n = strlen(word);
	const bool is = !strncmp(*at, word, n);
	*at += is ? n : 0;
	return is;
}

/* One line, without its end. */
static bool line(struct tune_answer *a, size_t count, const char *at)
{
	const bool failed = begins(&at, "failed ");
	uint64_t n, code;
	char *end;
	if ((!failed && !begins(&at, "measured ")) || !whole(&at, &n) || n >= count || a[n].there)
		return false;
	struct tune_answer *one = &a[n];
	one->there = true;
	if (failed) {
		if (!whole(&at, &code) || !code || code > -ERR_NOT_MODELLED)
			return false;
		err_set(&one->err, -(int)code, "%s", at);
		return true;
	}
	for (unsigned i = 0; i < ENERGY_COUNTS_COUNT; i++)
		if (!whole(&at, &one->activity.n[i]))
			return false;
	one->half = strtod(at, &end);
	return *at != ' ' && end != at && !*end;
}

int tune_answer_read(struct tune_answer *a, size_t count, const char *text, size_t bytes, struct err *err)
{
	size_t there = 0;
	bool ended = false;
	for (const char *at = text, *next; at < text + bytes; at = next) {
		const char *const stop = memchr(at, '\n', (size_t)(text + bytes - at));
		char one[2 * sizeof a->err.text];
		if (!stop)
			return err_set(err, ERR_INPUT, "ended in the middle of a line, '%.*s'",
				(int)(text + bytes - at < 60 ? text + bytes - at : 60), at);
		next = stop + 1;
		const size_t n = (size_t)(stop - at);
		const bool fits = n < sizeof one && !memchr(at, 0, n);
		if (fits)
			snprintf(one, sizeof one, "%.*s", (int)n, at);
		if (fits && !ended && !strcmp(one, "end"))
			ended = true;
		else if (!fits || ended || !line(a, count, one))
			return err_set(err, ERR_INPUT, "printed '%.*s', which is no result", (int)(n < 60 ? n : 60),
				at);
		else
			there++;
	}
	if (!ended || there < count)
		return err_set(err, ERR_INPUT, "ended without all results");
	return 0;
}
