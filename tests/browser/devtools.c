// SPDX-License-Identifier: GPL-2.0-or-later
#include "devtools.h"
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { CALL_SECONDS = 60 };

double devtools_now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec + t.tv_nsec * 1e-9;
}

static int fail(struct devtools *d, const char *what, const char *detail)
{
	snprintf(d->text, sizeof(d->text), "%s%s%s", what, detail ? ": " : "", detail ? detail : "");
	return -1;
}

/* ---- messages ---- */

static const char *text_of(struct json_object *o, const char *key)
{
	struct json_object *v;

	return json_object_object_get_ex(o, key, &v) ? json_object_get_string(v) : NULL;
}

static struct json_object *member(struct json_object *o, const char *key)
{
	struct json_object *v;

	return json_object_object_get_ex(o, key, &v) ? v : NULL;
}

static void add_text(struct json_object *list, const char *s)
{
	json_object_array_add(list, json_object_new_string(s ? s : "?"));
}

static void exception(struct devtools *d, struct json_object *params)
{
	struct json_object *details = member(params, "exceptionDetails");
	const char *s = text_of(member(details, "exception"), "description");

	add_text(d->errors, s ? s : text_of(details, "text"));
}

static void console(struct devtools *d, struct json_object *params)
{
	const char *type = text_of(params, "type");
	struct json_object *args = member(params, "args"), *arg;

	if (!type || (strcmp(type, "error") && strcmp(type, "warning") && strcmp(type, "assert")))
		return;
	arg = args && json_object_array_length(args) ? json_object_array_get_idx(args, 0) : NULL;
	add_text(d->errors, text_of(arg, "description") ? text_of(arg, "description") : text_of(arg, "value"));
}

static void event(struct devtools *d, const char *method, struct json_object *params)
{
	const char *s;

	if (!strcmp(method, "Page.loadEventFired"))
		d->loaded = true;
	else if (!strcmp(method, "Runtime.exceptionThrown"))
		exception(d, params);
	else if (!strcmp(method, "Runtime.consoleAPICalled"))
		console(d, params);
	else if (!strcmp(method, "Log.entryAdded")) {
		struct json_object *entry = member(params, "entry");

		s = text_of(entry, "level");
		if (s && (!strcmp(s, "error") || !strcmp(s, "warning")))
			add_text(d->errors, text_of(entry, "text"));
	} else if (!strcmp(method, "Network.requestWillBeSent")) {
		s = text_of(member(params, "request"), "url");
		if (s && strncmp(s, "data:", 5) && strncmp(s, "blob:", 5) && (!d->page || strcmp(s, d->page)))
			add_text(d->requests, s);
	}
}

/* Returns the next whole message that was read, or NULL. */
static struct json_object *next_message(struct devtools *d)
{
	char *end = d->filled ? memchr(d->input, 0, d->filled) : NULL;
	struct json_object *o;
	size_t length;

	if (!end)
		return NULL;
	o = json_tokener_parse(d->input);
	length = end + 1 - d->input;
	memmove(d->input, end + 1, d->filled - length);
	d->filled -= length;
	return o;
}

/* Reads what there is, waiting until `until` at most.  Returns 1, 0 if nothing came, or -1. */
static int fill(struct devtools *d, double until)
{
	struct pollfd p = { .fd = d->from, .events = POLLIN };
	double left = (until < d->deadline ? until : d->deadline) - devtools_now();
	ssize_t n;
	char *grown;

	if (d->stop && *d->stop)
		return fail(d, "ended by a signal", NULL);
	n = poll(&p, 1, left > 0 ? (int)(left * 1000) + 1 : 0);
	if (n == 0)
		return devtools_now() >= d->deadline ? fail(d, "the time is over", NULL) : 0;
	if (n < 0)
		return errno == EINTR ? 0 : fail(d, "poll", strerror(errno));
	if (d->room - d->filled < 65536) {
		grown = realloc(d->input, d->room * 2 + 131072);
		if (!grown)
			return fail(d, "out of memory", NULL);
		d->input = grown;
		d->room = d->room * 2 + 131072;
	}
	n = read(d->from, d->input + d->filled, d->room - d->filled);
	if (n <= 0)
		return fail(d, "the browser is gone", NULL);
	d->filled += n;
	return 1;
}

/* Handles the events among the messages that were read.  Returns the answer to the call `id` if it is among them. */
static struct json_object *take_messages(struct devtools *d, int id)
{
	struct json_object *o, *v;

	while ((o = next_message(d))) {
		if (id && json_object_object_get_ex(o, "id", &v) && json_object_get_int(v) == id)
			return o;
		if (text_of(o, "method"))
			event(d, text_of(o, "method"), member(o, "params"));
		json_object_put(o);
	}
	return NULL;
}

int devtools_listen(struct devtools *d, double seconds)
{
	double until = devtools_now() + seconds;
	bool was_loaded = d->loaded;

	do {
		take_messages(d, 0);
		if (d->loaded && !was_loaded)
			return 0;
		if (fill(d, until) < 0)
			return -1;
	} while (devtools_now() < until);
	take_messages(d, 0);
	return 0;
}

static int send_text(struct devtools *d, const char *s)
{
	size_t left = strlen(s) + 1;

	while (left) {
		struct pollfd p = { .fd = d->to, .events = POLLOUT };
		double time = d->deadline - devtools_now();
		ssize_t n;

		if (time <= 0 || poll(&p, 1, (int)(time * 1000) + 1) <= 0)
			return fail(d, "the browser does not read", NULL);
		n = write(d->to, s, left);
		if (n < 0 && errno != EAGAIN)
			return fail(d, "the browser is gone", NULL);
		if (n > 0) {
			s += n;
			left -= n;
		}
	}
	return 0;
}

static struct json_object *await(struct devtools *d, int id, const char *method)
{
	double until = devtools_now() + CALL_SECONDS;
	struct json_object *o, *v, *result;

	while (!(o = take_messages(d, id))) {
		if (devtools_now() >= until) {
			fail(d, method, "no answer");
			return NULL;
		}
		if (fill(d, until) < 0)
			return NULL;
	}
	if (json_object_object_get_ex(o, "error", &v)) {
		fail(d, method, text_of(v, "message"));
		json_object_put(o);
		return NULL;
	}
	result = json_object_get(member(o, "result"));
	json_object_put(o);
	if (!result)
		fail(d, method, "an answer without a result");
	return result;
}

struct json_object *devtools_call(struct devtools *d, const char *method, struct json_object *params)
{
	struct json_object *o = json_object_new_object();
	int id = ++d->last_id, code;

	json_object_object_add(o, "id", json_object_new_int(id));
	json_object_object_add(o, "method", json_object_new_string(method));
	if (d->session[0])
		json_object_object_add(o, "sessionId", json_object_new_string(d->session));
	json_object_object_add(o, "params", params ? params : json_object_new_object());
	code = send_text(d, json_object_to_json_string_ext(o, JSON_C_TO_STRING_PLAIN));
	json_object_put(o);
	return code ? NULL : await(d, id, method);
}

int devtools_do(struct devtools *d, const char *method, struct json_object *params)
{
	struct json_object *o = devtools_call(d, method, params);

	json_object_put(o);
	return o ? 0 : -1;
}

/* ---- the process ---- */

static void child(const char *program, const char *profile, const int to[2], const int from[2], int parent)
{
	char profile_option[300];
	int null = open("/dev/null", O_RDWR);
	const char *argv[] = {
		program, "--headless=new", "--remote-debugging-pipe", profile_option,
		"--disable-gpu", "--disable-dev-shm-usage", "--no-first-run", "--no-default-browser-check",
		"--disable-background-networking", "--disable-component-update", "--disable-default-apps",
		"--disable-extensions", "--disable-sync", "--disable-breakpad", "--metrics-recording-only",
		"--host-resolver-rules=MAP * ~NOTFOUND", "--force-color-profile=srgb", "--password-store=basic",
		getuid() == 0 ? "--no-sandbox" : "--no-pings", NULL
	};

	setpgid(0, 0);
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != parent)
		_exit(126);
	snprintf(profile_option, sizeof(profile_option), "--user-data-dir=%s", profile);
	setenv("HOME", profile, 1);	/* caches and settings outside of the profile */
	unsetenv("DISPLAY");
	unsetenv("DBUS_SESSION_BUS_ADDRESS");
	dup2(null, 0);
	dup2(null, 1);
	dup2(null, 2);
	/* the pipes' own numbers may be 3 or 4 */
	if (dup2(fcntl(to[0], F_DUPFD, 10), 3) < 0 || dup2(fcntl(from[1], F_DUPFD, 10), 4) < 0)
		_exit(126);
	for (int fd = 5; fd < 64; fd++)
		close(fd);
	execvp(program, (char *const *)argv);
	_exit(127);
}

static int open_page(struct devtools *d)
{
	struct json_object *p = json_object_new_object(), *o;

	json_object_object_add(p, "url", json_object_new_string("about:blank"));
	o = devtools_call(d, "Target.createTarget", p);
	if (!o)
		return -1;
	p = json_object_new_object();
	json_object_object_add(p, "targetId", json_object_get(member(o, "targetId")));
	json_object_object_add(p, "flatten", json_object_new_boolean(true));
	json_object_put(o);
	o = devtools_call(d, "Target.attachToTarget", p);
	if (!o)
		return -1;
	snprintf(d->session, sizeof(d->session), "%s", text_of(o, "sessionId"));
	json_object_put(o);
	return devtools_do(d, "Page.enable", NULL) || devtools_do(d, "Runtime.enable", NULL) ||
		devtools_do(d, "Log.enable", NULL) || devtools_do(d, "Network.enable", NULL);
}

int devtools_start(struct devtools *d, const char *program, double seconds, volatile int *stop)
{
	int to[2], from[2], parent = getpid();
	const char *tmp = getenv("TMPDIR");

	*d = (struct devtools){ .to = -1, .from = -1, .stop = stop, .deadline = devtools_now() + seconds };
	d->errors = json_object_new_array();
	d->requests = json_object_new_array();
	if (pipe(to))
		return fail(d, "pipe", strerror(errno));
	if (pipe(from)) {
		close(to[0]);
		close(to[1]);
		return fail(d, "pipe", strerror(errno));
	}
	d->to = to[1];
	d->from = from[0];
	snprintf(d->profile, sizeof(d->profile), "%s/softpmu-browser-XXXXXX", tmp && *tmp ? tmp : "/tmp");
	if (!mkdtemp(d->profile)) {
		fail(d, d->profile, strerror(errno));
		d->profile[0] = 0;
	} else {
		/* what the browser leaves behind becomes this process's children, which devtools_stop ends */
		prctl(PR_SET_CHILD_SUBREAPER, 1);
		signal(SIGPIPE, SIG_IGN);
		d->pid = fork();
		if (d->pid == 0)
			child(program, d->profile, to, from, parent);
		if (d->pid < 0)
			fail(d, "fork", strerror(errno));
	}
	close(to[0]);
	close(from[1]);
	fcntl(d->to, F_SETFL, O_NONBLOCK);
	return d->pid > 0 && d->profile[0] ? open_page(d) : -1;
}

/* Waits until all children have ended, for at most so many seconds.  Returns whether they have. */
static bool children_end(double seconds)
{
	double until = devtools_now() + seconds;
	pid_t pid;

	do {
		while ((pid = waitpid(-1, NULL, WNOHANG)) > 0)
			;
		if (pid < 0 && errno == ECHILD)
			return true;
		nanosleep(&(struct timespec){ 0, 20000000 }, NULL);
	} while (devtools_now() < until);
	return false;
}

static void kill_children(void)
{
	char path[64], line[4096];
	FILE *f;

	snprintf(path, sizeof(path), "/proc/self/task/%d/children", getpid());
	f = fopen(path, "r");
	if (!f)
		return;
	if (fgets(line, sizeof(line), f))
		for (char *s = line, *end; strtol(s, &end, 10) > 1 && end != s; s = end)
			kill(strtol(s, NULL, 10), SIGKILL);
	fclose(f);
}

static int remove_entry(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
	(void)st, (void)type, (void)ftw;
	remove(path);
	return 0;
}

void devtools_stop(struct devtools *d)
{
	static const char close_message[] = "{\"id\":1000000000,\"method\":\"Browser.close\"}";

	d->deadline = devtools_now() + 1;	/* of this last message */
	if (d->pid > 0) {
		send_text(d, close_message);
		if (!children_end(3)) {
			kill(-d->pid, SIGKILL);
			/* each round ends the children of those that the last one ended */
			for (int round = 0; round < 50; round++) {
				kill_children();
				if (children_end(0.1))
					break;
			}
		}
	}
	if (d->to >= 0)
		close(d->to);
	if (d->from >= 0)
		close(d->from);
	if (d->profile[0])
		nftw(d->profile, remove_entry, 16, FTW_DEPTH | FTW_PHYS);
	json_object_put(d->errors);
	json_object_put(d->requests);
	free(d->input);
	free(d->page);
}
