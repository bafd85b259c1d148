/* SPDX-License-Identifier: GPL-2.0-or-later
 * Finds out what a terminal can do (cli_terminal.h). */
#include "util/terminal_output.h"
#include <langinfo.h>
#include <locale.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

enum { LEAST_WIDTH = 20, MOST_WIDTH = 10000, USUAL_WIDTH = 80 };

/* $COLUMNS; 0: it is not set, or no number of columns. */
static unsigned columns_wanted(void)
{
	const char *text = getenv("COLUMNS");
	char *end = NULL;
	const unsigned long n = text ? strtoul(text, &end, 10) : 0;
	return end && end != text && !*end && n >= LEAST_WIDTH && n <= MOST_WIDTH ? (unsigned)n : 0;
}

static unsigned width_of(int fd)
{
	struct winsize size;
	const unsigned wanted = columns_wanted();
	if (wanted)
		return wanted;
	if (ioctl(fd, TIOCGWINSZ, &size) || !size.ws_col)
		return USUAL_WIDTH;
	return size.ws_col < LEAST_WIDTH ? LEAST_WIDTH : size.ws_col;
}

static bool has_utf8(void)
{
	const locale_t here = newlocale(LC_CTYPE_MASK, "", (locale_t)0);
	const bool utf8 = here && !strcmp(nl_langinfo_l(CODESET, here), "UTF-8");
	if (here)
		freelocale(here);
	return utf8;
}

static bool has_colour(void)
{
	const char *none = getenv("NO_COLOR"), *term = getenv("TERM");
	return !(none && *none) && term && *term && strcmp(term, "dumb");
}

void terminal_output_open(struct terminal_output *c, FILE *to, enum terminal_when colour)
{
	const int fd = fileno(to);
	const bool here = fd >= 0 && isatty(fd);
	*c = (struct terminal_output){ .out = to };
	if (!here && colour != TERMINAL_ALWAYS)
		return;
	c->t.width = here ? width_of(fd) : columns_wanted();
	c->t.colour = colour == TERMINAL_ALWAYS || (colour == TERMINAL_AUTO && has_colour());
	c->t.utf8 = has_utf8();
	c->terminal = &c->t;
	FILE *fold = c->t.width ? terminal_fold(to, &c->t) : NULL;
	if (fold) {	/* without memory the terminal folds the lines itself */
		c->out = fold;
		c->folds = true;
	}
}

bool terminal_output_close(struct terminal_output *c)
{
	const bool good = !c->folds || !fclose(c->out);
	c->folds = false;
	return good;
}
