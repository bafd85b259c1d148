/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "util/err.h"
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* Replaces control characters, which user text quoted in a message may hold: a message stays one line and cannot
 * change the terminal's state. */
static void one_line(char *text)
{
	for (unsigned char *c = (unsigned char *)text; *c; c++)
		if (*c < 0x20 || *c == 0x7f)
			*c = '?';
}

int err_set(struct err *e, int code, const char *format, ...)
{
	if (e) {
		va_list ap;
		va_start(ap, format);
		vsnprintf(e->text, sizeof e->text, format, ap);
		va_end(ap);
		one_line(e->text);
		e->code = code;
	}
	return code;
}

int err_system(struct err *e, const char *format, ...)
{
	int saved = errno;
	if (e) {
		va_list ap;
		va_start(ap, format);
		int n = vsnprintf(e->text, sizeof e->text, format, ap);
		va_end(ap);
		if (n >= 0 && (size_t)n < sizeof e->text)
			snprintf(e->text + n, sizeof e->text - (size_t)n, ": %s", strerror(saved));
		one_line(e->text);
		e->code = ERR_SYSTEM;
	}
	errno = saved;
	return ERR_SYSTEM;
}
