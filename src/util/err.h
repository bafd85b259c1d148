/* SPDX-License-Identifier: GPL-2.0-or-later
 * Errors of the libraries: a code and one clear line.  Libraries never print, exit or abort.
 *
 * Functions that can fail return 0 or a negative enum err_code and fill *err (if not NULL) with a sentence
 * for the user, without trailing period or newline.  On failure nothing the caller owns was changed unless
 * the header says so.
 */
#ifndef UTIL_ERR_H
#define UTIL_ERR_H
#include <stddef.h>

enum err_code {
	ERR_OK = 0,
	ERR_NOMEM = -1,		/* out of memory */
	ERR_INPUT = -2,		/* bad input: option, event, field, file content */
	ERR_SYSTEM = -3,	/* a system call failed */
	ERR_UNSUPPORTED = -4,	/* understood, but refused by name */
	ERR_TRUNCATED = -5,	/* input ended early; what came before is good */
	ERR_TRACER = -6,	/* the tracer died or said so */
	ERR_NOT_MODELLED = -7,	/* an event that machines have, but this model has not */
};

struct err {
	int  code;
	char text[1024];
};

/* Fills *e (if not NULL) and returns code. */
int err_set(struct err *e, int code, const char *format, ...) __attribute__((format(printf, 3, 4)));
/* The same, with ": strerror(errno)" appended; code ERR_SYSTEM. */
int err_system(struct err *e, const char *format, ...) __attribute__((format(printf, 2, 3)));
#endif
