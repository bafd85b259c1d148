// SPDX-License-Identifier: GPL-2.0-or-later
/* Shows a page in a headless Chromium and does with it what a script on standard input says:
 *   browser [--limit=SECONDS] [--program=CHROMIUM] <SCRIPT
 * A line of the script is a command with what follows it:
 *   open FILE             show a file, and wait until it is loaded
 *   size WIDTH HEIGHT     size of the window; below 500 wide it is a phone
 *   theme light|dark      what prefers-color-scheme says
 *   media screen|print
 *   eval EXPRESSION       print the value: a text as it is, others as JSON; a promise is waited for
 *   run FILE              the same with the expression in a file
 *   wait EXPRESSION       until it is true, for 20 seconds at most
 *   click SELECTOR        the first element that the CSS selector matches, in its middle
 *   hover SELECTOR        move the mouse there
 *   drag FROM TO SELECTOR from one part of the element's width to another, each from 0 to 1
 *   wheel STEPS SELECTOR  turn the wheel over the element; a step is 100 pixels, downwards
 *   key KEY               press a key: a character, Enter, Escape, Tab, ArrowUp, ..., with Shift+ or Control+ before it
 *   type TEXT             insert a text where the focus is
 *   screenshot FILE       as PNG; what the window shows
 *   fullshot FILE         as PNG; the whole page
 *   pdf FILE              the page as it is printed
 *   errors                print what the console got as errors or warnings, and exceptions, since the page was opened
 *   requests              print the addresses that the page asked for, except for its own
 *   loaded                print the milliseconds from the call to open the page until it was loaded and painted
 *   worked                print the milliseconds of processor time that the page's process has taken so far, which
 *                         other work on the host hardly changes
 *   echo TEXT
 * Lines that are empty or begin with # do nothing.  The first command that fails ends it with exit code 1 and a line on
 * standard error; the browser does not live longer than the program, which ends after --limit seconds (default 120).
 */
#include "devtools.h"
#include <ctype.h>
#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static volatile int stop;

static void on_signal(int n)
{
	stop = n;
}

struct script {
	struct devtools d;
	double load_ms;		/* below 0: nothing was opened */
	double x, y;		/* where the mouse is */
	char *rest;		/* of the command's line */
};

static int fail(struct script *s, const char *what)
{
	snprintf(s->d.text, sizeof(s->d.text), "%s", what);
	return -1;
}

static struct json_object *params(const char *key, struct json_object *value)
{
	struct json_object *o = json_object_new_object();

	json_object_object_add(o, key, value);
	return o;
}

static struct json_object *text(const char *s)
{
	return json_object_new_string(s);
}

/* ---- expressions ---- */

/* Returns the value, which may be NULL for null; *code is 0 or -1. */
static struct json_object *value_of(struct script *s, const char *expression, int *code)
{
	struct json_object *p = params("expression", text(expression)), *o, *v, *details, *value = NULL;

	json_object_object_add(p, "returnByValue", json_object_new_boolean(true));
	json_object_object_add(p, "awaitPromise", json_object_new_boolean(true));
	json_object_object_add(p, "userGesture", json_object_new_boolean(true));
	o = devtools_call(&s->d, "Runtime.evaluate", p);
	*code = o ? 0 : -1;
	if (!o)
		return NULL;
	if (json_object_object_get_ex(o, "exceptionDetails", &details)) {
		const char *said = json_object_get_string(details);

		if (json_object_object_get_ex(details, "exception", &v) &&
		    json_object_object_get_ex(v, "description", &v))
			said = json_object_get_string(v);
		*code = fail(s, said);
	} else if (json_object_object_get_ex(o, "result", &v) && json_object_object_get_ex(v, "value", &value))
		value = json_object_get(value);
	json_object_put(o);
	return value;
}

static int do_eval(struct script *s)
{
	int code;
	struct json_object *v = value_of(s, s->rest, &code);

	if (!code)
		puts(v && json_object_is_type(v, json_type_string) ? json_object_get_string(v) :
		     v ? json_object_to_json_string_ext(v, JSON_C_TO_STRING_PLAIN) : "null");
	json_object_put(v);
	return code;
}

static int do_run(struct script *s)
{
	char *line = s->rest, *whole = NULL;
	FILE *f = fopen(line, "r");
	size_t room = 0;
	int code;

	if (!f || getdelim(&whole, &room, 0, f) < 0)
		code = fail(s, "the file cannot be read");
	else {
		s->rest = whole;
		code = do_eval(s);
		s->rest = line;
	}
	if (f)
		fclose(f);
	free(whole);
	return code;
}

static int do_wait(struct script *s)
{
	double until = devtools_now() + 20;
	int code;

	for (;;) {
		struct json_object *v = value_of(s, s->rest, &code);
		bool is = !code && json_object_get_boolean(v);

		json_object_put(v);
		if (is || code)
			return code;
		if (devtools_now() >= until)
			return fail(s, "it did not become true");
		usleep(20000);
	}
}

/* ---- the page ---- */

static int do_open(struct script *s)
{
	static const char painted[] =
		"new Promise(done => requestAnimationFrame(() => requestAnimationFrame(() => done(1))))";
	char path[PATH_MAX], *at;
	struct json_object *v;
	double start;
	int code;

	if (!realpath(s->rest, path))
		return fail(s, strerror(errno));
	free(s->d.page);
	s->d.page = malloc(strlen(path) * 3 + 8);
	if (!s->d.page)
		return fail(s, "out of memory");
	at = s->d.page + sprintf(s->d.page, "file://");
	for (const unsigned char *c = (unsigned char *)path; *c; c++)
		at += sprintf(at, strchr("/-_.~", *c) || isalnum(*c) ? "%c" : "%%%02X", *c);
	json_object_array_del_idx(s->d.errors, 0, json_object_array_length(s->d.errors));
	json_object_array_del_idx(s->d.requests, 0, json_object_array_length(s->d.requests));
	s->d.loaded = false;
	start = devtools_now();
	if (devtools_do(&s->d, "Page.navigate", params("url", text(s->d.page))) || devtools_listen(&s->d, 60))
		return -1;
	if (!s->d.loaded)
		return fail(s, "the page is not loaded after 60 seconds");
	v = value_of(s, painted, &code);
	json_object_put(v);
	s->load_ms = (devtools_now() - start) * 1000;
	return code;
}

static int do_size(struct script *s)
{
	struct json_object *p;
	int width, height;

	if (sscanf(s->rest, "%d %d", &width, &height) != 2 || width < 1 || height < 1)
		return fail(s, "two sizes are wanted");
	p = params("width", json_object_new_int(width));
	json_object_object_add(p, "height", json_object_new_int(height));
	json_object_object_add(p, "deviceScaleFactor", json_object_new_int(1));
	json_object_object_add(p, "mobile", json_object_new_boolean(width < 500));
	return devtools_do(&s->d, "Emulation.setDeviceMetricsOverride", p);
}

static int do_theme(struct script *s)
{
	struct json_object *feature = params("name", text("prefers-color-scheme")), *list = json_object_new_array();

	json_object_object_add(feature, "value", text(s->rest));
	json_object_array_add(list, feature);
	return devtools_do(&s->d, "Emulation.setEmulatedMedia", params("features", list));
}

static int do_media(struct script *s)
{
	return devtools_do(&s->d, "Emulation.setEmulatedMedia", params("media", text(s->rest)));
}

/* ---- mouse and keys ---- */

/* Brings the element into the window.  box: left, top, width, height. */
static int find(struct script *s, const char *selector, double box[4])
{
	struct json_object *quoted = text(selector), *v;
	char *expression;
	int code = 0;

	if (asprintf(&expression, "(e => { if (!e) return null; e.scrollIntoView({ block: 'center', inline: 'nearest', "
		     "behavior: 'instant' }); const r = e.getBoundingClientRect(); "
		     "return [r.left, r.top, r.width, r.height]; })(document.querySelector(%s))",
		     json_object_to_json_string(quoted)) < 0)
		expression = NULL;
	v = expression ? value_of(s, expression, &code) : NULL;
	if (!code && (!v || !json_object_is_type(v, json_type_array)))
		code = fail(s, "there is no such element");
	for (int i = 0; i < 4 && !code; i++)
		box[i] = json_object_get_double(json_object_array_get_idx(v, i));
	json_object_put(v);
	json_object_put(quoted);
	free(expression);
	return code;
}

static int mouse(struct script *s, const char *type, double x, double y, double wheel)
{
	bool turned = !strcmp(type, "mouseWheel"), moved = !strcmp(type, "mouseMoved");
	struct json_object *p = params("type", text(type));

	s->x = x;
	s->y = y;
	json_object_object_add(p, "x", json_object_new_double(x));
	json_object_object_add(p, "y", json_object_new_double(y));
	if (turned) {
		json_object_object_add(p, "deltaX", json_object_new_double(0));
		json_object_object_add(p, "deltaY", json_object_new_double(wheel));
	} else if (!moved || wheel) {	/* with a button, in a drag */
		json_object_object_add(p, "button", text("left"));
		json_object_object_add(p, "buttons", json_object_new_int(1));
		json_object_object_add(p, "clickCount", json_object_new_int(1));
	}
	return devtools_do(&s->d, "Input.dispatchMouseEvent", p);
}

static int do_click(struct script *s)
{
	double b[4], x, y;

	if (find(s, s->rest, b))
		return -1;
	x = b[0] + b[2] / 2;
	y = b[1] + b[3] / 2;
	return mouse(s, "mouseMoved", x, y, 0) || mouse(s, "mousePressed", x, y, 0) ||
		mouse(s, "mouseReleased", x, y, 0) ? -1 : 0;
}

static int do_hover(struct script *s)
{
	double b[4];

	return find(s, s->rest, b) || mouse(s, "mouseMoved", b[0] + b[2] / 2, b[1] + b[3] / 2, 0) ? -1 : 0;
}

static int do_drag(struct script *s)
{
	double b[4], from, to, y;
	int used = 0;

	if (sscanf(s->rest, "%lf %lf %n", &from, &to, &used) != 2 || !used)
		return fail(s, "two parts and a selector are wanted");
	if (find(s, s->rest + used, b))
		return -1;
	y = b[1] + b[3] / 2;
	if (mouse(s, "mouseMoved", b[0] + b[2] * from, y, 0) || mouse(s, "mousePressed", b[0] + b[2] * from, y, 0))
		return -1;
	for (int i = 1; i <= 4; i++)
		if (mouse(s, "mouseMoved", b[0] + b[2] * (from + (to - from) * i / 4), y, 1))
			return -1;
	return mouse(s, "mouseReleased", b[0] + b[2] * to, y, 0);
}

static int do_wheel(struct script *s)
{
	double b[4], steps;
	int used = 0;

	if (sscanf(s->rest, "%lf %n", &steps, &used) != 1 || !used)
		return fail(s, "a number of steps and a selector are wanted");
	return find(s, s->rest + used, b) || mouse(s, "mouseWheel", b[0] + b[2] / 2, b[1] + b[3] / 2, steps * 100) ?
		-1 : 0;
}

/* Key codes: UI Events KeyboardEvent code Values; the numbers are Windows' virtual key codes. */
static const struct key { const char *name, *typed; int code; } keys[] = {
	{ "Enter", "\r", 13 }, { "Escape", "", 27 }, { "Tab", "", 9 }, { "Backspace", "", 8 }, { "Delete", "", 46 },
	{ "ArrowLeft", "", 37 }, { "ArrowUp", "", 38 }, { "ArrowRight", "", 39 }, { "ArrowDown", "", 40 },
	{ "Home", "", 36 }, { "End", "", 35 }, { "PageUp", "", 33 }, { "PageDown", "", 34 }, { "Space", " ", 32 },
};

static int do_key(struct script *s)
{
	const char *name = s->rest, *typed = name, *key = name;
	int modifiers = 0, code = 0;
	struct json_object *p;

	for (;;)
		if (!strncmp(name, "Shift+", 6) && name[6])
			modifiers |= 8, name += 6;
		else if (!strncmp(name, "Control+", 8) && name[8])
			modifiers |= 2, name += 8;
		else
			break;
	key = typed = name;
	for (size_t i = 0; i < sizeof(keys) / sizeof(*keys); i++)
		if (!strcmp(name, keys[i].name)) {
			typed = keys[i].typed;
			code = keys[i].code;
			key = code == 32 ? " " : name;
		}
	if (!code && strlen(name) != 1)
		return fail(s, "no such key");
	if (!code)
		code = *name >= 'a' && *name <= 'z' ? *name - 32 : *name;
	for (int up = 0; up < 2; up++) {
		p = params("type", text(up ? "keyUp" : "keyDown"));
		json_object_object_add(p, "key", text(key));
		json_object_object_add(p, "modifiers", json_object_new_int(modifiers));
		json_object_object_add(p, "windowsVirtualKeyCode", json_object_new_int(code));
		if (!up && *typed && !(modifiers & 2))
			json_object_object_add(p, "text", text(typed));
		if (devtools_do(&s->d, "Input.dispatchKeyEvent", p))
			return -1;
	}
	return 0;
}

static int do_type(struct script *s)
{
	return devtools_do(&s->d, "Input.insertText", params("text", text(s->rest)));
}

/* ---- pictures ---- */

/* Writes what base64 text stands for. */
static int write_base64(struct script *s, const char *b, const char *path)
{
	static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
	FILE *f = fopen(path, "w");
	unsigned bits = 0, held = 0;

	if (!f)
		return fail(s, strerror(errno));
	for (const char *d; *b && *b != '=' && (d = strchr(digits, *b)); b++) {
		held = held << 6 | (d - digits);
		bits += 6;
		if (bits >= 8) {
			bits -= 8;
			putc(held >> bits & 255, f);
		}
	}
	return fclose(f) ? fail(s, strerror(errno)) : 0;
}

static int picture(struct script *s, const char *method, struct json_object *p)
{
	struct json_object *o = devtools_call(&s->d, method, p), *v;
	int code;

	if (!o)
		return -1;
	code = json_object_object_get_ex(o, "data", &v) ? write_base64(s, json_object_get_string(v), s->rest) :
		fail(s, "no picture");
	json_object_put(o);
	return code;
}

static int do_screenshot(struct script *s)
{
	return picture(s, "Page.captureScreenshot", params("format", text("png")));
}

static int do_fullshot(struct script *s)
{
	struct json_object *p = params("format", text("png"));

	json_object_object_add(p, "captureBeyondViewport", json_object_new_boolean(true));
	return picture(s, "Page.captureScreenshot", p);
}

static int do_pdf(struct script *s)
{
	return picture(s, "Page.printToPDF", params("printBackground", json_object_new_boolean(true)));
}

/* ---- what was heard ---- */

static int print_list(struct script *s, struct json_object *list)
{
	if (devtools_listen(&s->d, 0.1))
		return -1;
	for (size_t i = 0; i < json_object_array_length(list); i++)
		puts(json_object_get_string(json_object_array_get_idx(list, i)));
	return 0;
}

static int do_errors(struct script *s)
{
	return print_list(s, s->d.errors);
}

static int do_requests(struct script *s)
{
	return print_list(s, s->d.requests);
}

static int do_loaded(struct script *s)
{
	if (s->load_ms < 0)
		return fail(s, "nothing was opened");
	printf("%.0f\n", s->load_ms);
	return 0;
}

static int do_worked(struct script *s)
{
	struct json_object *o, *list, *name, *value;
	int code = fail(s, "the browser has no ProcessTime");

	if (devtools_do(&s->d, "Performance.enable", NULL) ||
		!(o = devtools_call(&s->d, "Performance.getMetrics", NULL)))
		return -1;
	if (!json_object_object_get_ex(o, "metrics", &list))
		list = NULL;
	for (size_t i = 0; list && i < json_object_array_length(list); i++) {
		struct json_object *metric = json_object_array_get_idx(list, i);

		if (json_object_object_get_ex(metric, "name", &name) &&
			json_object_object_get_ex(metric, "value", &value) &&
			!strcmp(json_object_get_string(name), "ProcessTime")) {
			printf("%.0f\n", json_object_get_double(value) * 1000);
			code = 0;
		}
	}
	json_object_put(o);
	return code;
}

static int do_echo(struct script *s)
{
	puts(s->rest);
	return 0;
}

static const struct command { const char *name; int (*run)(struct script *s); } commands[] = {
	{ "open", do_open }, { "size", do_size }, { "theme", do_theme }, { "media", do_media }, { "eval", do_eval },
	{ "run", do_run }, { "wait", do_wait }, { "click", do_click }, { "hover", do_hover }, { "drag", do_drag },
	{ "wheel", do_wheel }, { "key", do_key }, { "type", do_type }, { "screenshot", do_screenshot },
	{ "fullshot", do_fullshot }, { "pdf", do_pdf }, { "errors", do_errors }, { "requests", do_requests },
	{ "loaded", do_loaded }, { "worked", do_worked }, { "echo", do_echo },
};

static int run_line(struct script *s, char *line)
{
	size_t length;

	line[strcspn(line, "\n")] = 0;
	line += strspn(line, " \t");
	if (!*line || *line == '#')
		return 0;
	length = strcspn(line, " \t");
	s->rest = line + length + strspn(line + length, " \t");
	for (size_t i = 0; i < sizeof(commands) / sizeof(*commands); i++)
		if (strlen(commands[i].name) == length && !strncmp(line, commands[i].name, length))
			return commands[i].run(s);
	return fail(s, "no such command");
}

int main(int argc, char **argv)
{
	struct sigaction act = { .sa_handler = on_signal };	/* without SA_RESTART: waiting ends */
	const char *program = "chromium";
	struct script s = { .load_ms = -1 };
	double limit = 120;
	size_t room = 0, number = 0;
	char *line = NULL;
	int code;

	for (int i = 1; i < argc; i++)
		if (!strncmp(argv[i], "--limit=", 8) && atof(argv[i] + 8) > 0)
			limit = atof(argv[i] + 8);
		else if (!strncmp(argv[i], "--program=", 10))
			program = argv[i] + 10;
		else {
			fprintf(stderr, "browser: usage: browser [--limit=SECONDS] [--program=CHROMIUM] <SCRIPT\n");
			return 2;
		}
	sigaction(SIGTERM, &act, NULL);
	sigaction(SIGINT, &act, NULL);
	sigaction(SIGHUP, &act, NULL);
	sigaction(SIGALRM, &act, NULL);
	alarm((unsigned)limit + 1);	/* the script may come from a pipe in which nobody writes */
	setvbuf(stdout, NULL, _IOLBF, 0);
	code = devtools_start(&s.d, program, limit, &stop);
	if (code)
		fprintf(stderr, "browser: %s does not start: %s\n", program, s.d.text);
	while (!code && !stop && getline(&line, &room, stdin) > 0) {
		number++;
		code = run_line(&s, line);
		if (code)
			fprintf(stderr, "browser: line %zu: %.200s: %s\n", number, line, s.d.text);
	}
	free(line);
	devtools_stop(&s.d);
	return code || stop ? 1 : 0;
}
