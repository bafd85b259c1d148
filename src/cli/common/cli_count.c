/* SPDX-License-Identifier: GPL-2.0-or-later
 * Shared by the commands that count (cli_count.h). */
#include "cli/common/cli_count.h"
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---- options ---- */

/* A number from min to max, with nothing after it; prints nothing. */
static bool number(const char *text, double min, double max, double *out)
{
	char *end;
	errno = 0;
	double v = strtod(text, &end);
	if (errno || end == text || *end || !(v >= min && v <= max))
		return false;
	*out = v;
	return true;
}

bool cli_whole(const char *option, const char *text, unsigned min, unsigned max, const char *what, unsigned *out)
{
	double v;
	if (!number(text, min, max, &v) || v != floor(v)) {
		cli_error("%s '%s': %s was expected", option, text, what);
		return false;
	}
	*out = (unsigned)v;
	return true;
}

bool cli_milliseconds(const char *option, const char *text, double *out)
{
	char plain[32];
	size_t n = strlen(text);
	snprintf(plain, sizeof plain, "%.*s", (int)(n > 2 && !strcmp(text + n - 2, "ms") ? n - 2 : n), text);
	if (n < sizeof plain && number(plain, 1e-4, 1e9, out))
		return true;
	cli_error("option %s: '%s' is not a number of milliseconds, at least 0.0001", option, text);
	return false;
}

bool cli_separator(const char *text, const char **out)
{
	if (!*text) {
		cli_error("-x: the separator is empty");
		return false;
	}
	*out = !strcmp(text, "\\t") ? "\t" : text;
	return true;
}

uint64_t cli_cycles(const struct core_config *core, double milliseconds)
{
	double cycles = milliseconds * 1e6 * core->frequency_ghz;
	return cycles < 1 ? 1 : (uint64_t)llround(cycles);
}

/* ---- output ---- */

bool cli_output_open(struct cli_output *o)
{
	o->out = stderr;
	if (o->path) {
		o->out = fopen(o->path, o->append ? "ae" : "we");
	} else if (o->fd >= 0) {
		/* a copy that the program does not inherit; the caller keeps the descriptor itself */
		int fd = fcntl(o->fd, F_DUPFD_CLOEXEC, 3);
		o->out = fd < 0 ? NULL : fdopen(fd, "w");
		if (!o->out && fd >= 0)
			close(fd);
	}
	if (!o->out && o->path)
		cli_error("cannot write %s: %s", o->path, strerror(errno));
	else if (!o->out)
		cli_error("cannot write to descriptor %d: %s", o->fd, strerror(errno));
	return o->out;
}

bool cli_output_close(struct cli_output *o)
{
	if (!o->out)
		return true;
	bool bad = fflush(o->out) || ferror(o->out);
	int why = errno;
	if (o->out != stderr && fclose(o->out) && !bad) {
		why = errno;
		bad = true;
	}
	o->out = NULL;
	if (bad)
		cli_error("cannot write %s: %s", o->path ? o->path : "what was counted", strerror(why));
	return !bad;
}

void cli_print_program(FILE *out, const struct cli_run *r, const char *replay)
{
	if (r->run.replay)
		fprintf(out, "%s%s", replay, r->run.replay);
	for (char *const *a = r->argv; a && *a; a++)
		fprintf(out, "%s%s", a == r->argv ? "" : " ", *a);
}

void cli_plain_name(char *out, size_t bytes, const char *name, const char *separator)
{
	snprintf(out, bytes, "%s", name);
	for (char *c = out; *c; c++)
		if ((unsigned char)*c < ' ' || *c == 127)
			*c = '?';
		else if (separator && strchr(separator, *c))
			*c = '_';
}

/* ---- the run ---- */

static int on_start(void *context, struct run_thread *t, struct err *err)
{
	return session_thread_start(*(struct session **)context, t, err);
}

static void on_end(void *context, struct run_thread *t)
{
	session_thread_end(*(struct session **)context, t);
}

static void on_batch(void *context, struct run_thread *t, const struct spmu_batch *b)
{
	session_batch(*(struct session **)context, t, b);
}

static bool on_client(void *context, struct run_thread *t, const struct st_client *request, const char *name,
	struct st_answer *answer)
{
	return session_client(*(struct session **)context, t, request, name, answer);
}

static void on_side(void *context, struct run_thread *t, uint32_t pid, const uint64_t *record, uint64_t cycle)
{
	(void)pid;
	(void)cycle;
	session_side(*(struct session **)context, t, record);
}

void cli_session_machine(struct run_sink *sink)
{
	sink->side = on_side;
}

struct run_sink cli_session_sink(struct session **session)
{
	return (struct run_sink){ .context = session,
		.thread_start = on_start, .thread_end = on_end, .batch = on_batch, .client = on_client };
}

void cli_warn_unmodelled(const struct session *session, const struct spmu_model *m)
{
	const struct spmu_unmodelled *u;
	size_t n = session_unmodelled(session, &u);
	for (size_t i = 0; i < n; i++) {
		struct spmu_msr r;
		bool named = spmu_msr_at(m, u[i].counter_msr, &r);
		cli_warn("%s, set up by registers (%llXH%s%s), does not count this event: %s",
			named ? r.name : "a counter", (unsigned long long)u[i].select, u[i].event[0] ? ", " : "",
			u[i].event, u[i].reason);
	}
}

void cli_no_region(const struct session *session, const char *region, const char *done)
{
	enum { NAMED = 5 };
	const size_t regions = session_regions(session);
	char text[1024] = "";
	size_t used = 0;
	for (size_t k = 0; k < regions && k < NAMED && used < sizeof text; k++) {
		struct session_region r;
		char name[128];
		session_region_info(session, k, &r);
		cli_plain_name(name, sizeof name, r.name, NULL);
		used += (size_t)snprintf(text + used, sizeof text - used, "%s%s", k ? ", " : "; it entered ", name);
	}
	cli_warn("--region %s: the program never entered a region of this name, so nothing was %s%s%s", region, done,
		regions ? text : "; it marked none (softpmu/client.h)", regions > NAMED ? ", ..." : "");
}
