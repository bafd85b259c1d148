/* SPDX-License-Identifier: GPL-2.0-or-later
 * A headless Chromium with one page, driven by the DevTools protocol over two pipes.
 *
 * Nothing waits without an end: each call has a deadline, and the browser and everything that it started is killed when
 * it is stopped.  Its profile lies in a folder of its own, which is removed.  No name is resolved, so that no request
 * gets to a network.
 *
 * Source: https://chromedevtools.github.io/devtools-protocol/; with --remote-debugging-pipe, Chromium reads messages
 * from descriptor 3 and writes them to 4; a NUL ends each.
 */
#ifndef DEVTOOLS_H
#define DEVTOOLS_H
#include <json-c/json.h>
#include <stdbool.h>
#include <stddef.h>

struct devtools {
	int pid;			/* of the browser, and its process group */
	int to, from;			/* pipes */
	char profile[256];		/* the folder; "": none */
	char session[128];		/* of the page */
	int last_id;
	char *input;			/* what was read and not used yet */
	size_t filled, room;
	bool loaded;			/* the load event of the last navigation came */
	char *page;			/* address of the opened page */
	struct json_object *errors;	/* list of texts: messages of the console, exceptions */
	struct json_object *requests;	/* list of addresses that the page asked for, its own omitted */
	double deadline;		/* of the whole run, in seconds of devtools_now */
	volatile int *stop;		/* not 0: a signal asks to end */
	char text[512];			/* what went wrong */
};

double devtools_now(void);	/* seconds, monotonic */
/* Starts the browser and opens an empty page.  seconds: until everything is given up.  Returns 0, or -1 with d->text.
 * devtools_stop must be called in both cases. */
int  devtools_start(struct devtools *d, const char *program, double seconds, volatile int *stop);
void devtools_stop(struct devtools *d);
/* Calls a method with params, which it takes over (NULL: none), and waits for the result.  Returns it, to be put by the
 * caller; NULL with d->text if it failed. */
struct json_object *devtools_call(struct devtools *d, const char *method, struct json_object *params);
/* The same without a result.  Returns 0 or -1. */
int  devtools_do(struct devtools *d, const char *method, struct json_object *params);
/* Reads messages for at most so many seconds, or until a page that was not loaded yet is.  Returns -1 if the browser is
 * gone. */
int  devtools_listen(struct devtools *d, double seconds);
#endif
