/* SPDX-License-Identifier: GPL-2.0-or-later
 * Text for a terminal (terminal.h).  Sources: ECMA-48, 5th edition, 8.3.117, SGR; Unicode, Block Elements. */
#include "util/terminal.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>

const char *terminal_mark(const struct terminal *t)
{
	return t && t->utf8 ? "\xe2\x80\xa6" : "..";
}

unsigned terminal_width(const struct terminal *t, unsigned otherwise)
{
	return t && t->width ? t->width : otherwise;
}

void terminal_on(FILE *out, const struct terminal *t, enum terminal_colour colour)
{
	static const char *const sgr[] = { "", "1", "2", "31", "32", "33", "34", "35", "36", "1;31" };
	if (t && t->colour && colour)
		fprintf(out, "\033[%sm", sgr[colour]);
}

void terminal_off(FILE *out, const struct terminal *t)
{
	if (t && t->colour)
		fputs("\033[m", out);
}

void terminal_bar(FILE *out, const struct terminal *t, double length, unsigned width, enum terminal_colour colour,
	bool track)
{
	terminal_bar_marked(out, t, length, (double)NAN, width, colour, track);
}

void terminal_bar_marked(FILE *out, const struct terminal *t, double length, double mark, unsigned width,
	enum terminal_colour colour, bool track)
{
	static const char *const eighth[] = { "", "\u258f", "\u258e", "\u258d", "\u258c", "\u258b", "\u258a",
		"\u2589" };
	const bool fine = t && t->utf8;
	length = isnan(length) || length < 0 ? 0 : length > width ? width : length;
	const unsigned eighths = fine ? (unsigned)lround(8 * length) : 8 * (unsigned)lround(length);
	/* the column in which the marked length ends */
	const unsigned at = isnan(mark) || mark < 1 || !width ? width : mark >= width ? width - 1 : (unsigned)mark;
	const unsigned end = track ? width : at < width && at > eighths / 8 ? at + 1 : (eighths + 7) / 8;
	enum { NOTHING, BAR, MARK, TRACK } now = NOTHING;
	for (unsigned i = 0; i < end; i++) {
		const unsigned part = eighths > 8 * i ? eighths - 8 * i : 0;
		const int next = i == at ? MARK : part ? BAR : TRACK;
		if (next != (int)now) {
			if (now == BAR || now == TRACK)
				terminal_off(out, t);
			if (next != MARK)
				terminal_on(out, t, next == BAR ? colour : TERMINAL_DIM);
			now = next;
		}
		fputs(next == MARK           ? fine ? "\u2502" : "|"
				: part >= 8  ? fine ? "\u2588" : "#"
				: part       ? eighth[part]
				: !track     ? " "
				: fine       ? "\u00b7"
					     : ".",
			out);
	}
	if (now == BAR || now == TRACK)
		terminal_off(out, t);
}

/* ---- folding ---- */

struct fold { FILE *to; size_t width, used, room; char *line; };

/* The bytes of what stands at s and moves the cursor by *columns: a character, or an SGR sequence. */
static size_t step(const char *s, size_t bytes, size_t *columns)
{
	size_t n = 1;
	*columns = 0;
	if (s[0] == '\033' && bytes > 1 && s[1] == '[') {
		for (n = 2; n < bytes && !(s[n] >= '@' && s[n] <= '~'); )
			n++;
		return n < bytes ? n + 1 : n;
	}
	while (n < bytes && ((unsigned char)s[n] & 0xc0) == 0x80)
		n++;
	*columns = 1;
	return n;
}

/* Where what continues a line begins: below its last column, which begins behind two blanks, or a little to the right
 * of the line's own beginning. */
static size_t hanging(const char *line, size_t bytes, size_t width)
{
	size_t at = 0, columns, begin = 0, last = 0, blanks = 0;
	for (size_t i = 0; i < bytes && at < width / 2; at += columns) {
		if (line[i] == ' ') {
			blanks++;
		} else if (line[i] != '\033') {
			if (at && blanks == at)
				begin = at;
			else if (blanks > 1)
				last = at;
			blanks = 0;
		}
		i += step(line + i, bytes - i, &columns);
	}
	return last ? last : begin + 2 < width / 2 ? begin + 2 : 0;
}

static void put_line(const struct fold *f, const char *line, size_t bytes)
{
	static const char call[] = ": softpmu ";
	const bool comment = bytes > 1 && line[0] == '#' && line[1] == ' ';
	const bool command = memmem(line, bytes, call, sizeof call - 1);
	size_t indent = hanging(line, bytes, f->width), start = 0, columns;
	indent = comment && indent < 2 ? 2 : indent;
	for (;;) {
		const size_t first = start ? 0 : indent;	/* no break ahead of this column */
		const size_t room = f->width - (start ? indent : 0);
		size_t at = 0, i = start, blank = 0, comma = 0;
		for (size_t n; i < bytes; i += n, at += columns) {
			n = step(line + i, bytes - i, &columns);
			if (at + columns > room)
				break;
			if (line[i] == ' ' && at > first && (!command || at + 2 <= room))
				blank = i;
			if (line[i] == ',')
				comma = i + 1;
		}
		if (i == bytes) {
			fwrite(line + start, 1, bytes - start, f->to);
			return;
		}
		/* between words, else behind a comma in the second half, else anywhere */
		const size_t end = line[i] == ' ' && !command ? i : blank ? blank : 2 * comma > start + i ? comma : i;
		fwrite(line + start, 1, end - start, f->to);
		for (start = end; start < bytes && line[start] == ' '; )
			start++;
		if (start == bytes)
			return;
		fputs(command ? " \\" : "", f->to);
		fprintf(f->to, comment ? "\n# %*s" : "\n%*s", (int)(comment ? indent - 2 : indent), "");
	}
}

static ssize_t fold_write(void *cookie, const char *text, size_t bytes)
{
	struct fold *f = cookie;
	if (f->used + bytes > f->room) {
		const size_t room = 2 * (f->used + bytes) + 256;
		char *line = realloc(f->line, room);
		if (!line)
			return 0;
		f->line = line;
		f->room = room;
	}
	memcpy(f->line + f->used, text, bytes);
	f->used += bytes;
	size_t start = 0;
	for (char *end; (end = memchr(f->line + start, '\n', f->used - start)); ) {
		put_line(f, f->line + start, (size_t)(end - f->line) - start);
		fputc('\n', f->to);
		start = (size_t)(end - f->line) + 1;
	}
	memmove(f->line, f->line + start, f->used - start);
	f->used -= start;
	if (start)
		fflush(f->to);
	return ferror(f->to) ? 0 : (ssize_t)bytes;
}

static int fold_close(void *cookie)
{
	struct fold *f = cookie;
	put_line(f, f->line, f->used);
	const int bad = fflush(f->to);
	free(f->line);
	free(f);
	return bad;
}

FILE *terminal_fold(FILE *to, const struct terminal *t)
{
	struct fold *f = calloc(1, sizeof *f);
	if (!f)
		return NULL;
	*f = (struct fold){ .to = to, .width = t->width };
	FILE *out = fopencookie(f, "w", (cookie_io_functions_t){ .write = fold_write, .close = fold_close });
	if (!out)
		free(f);
	else
		setvbuf(out, NULL, _IOLBF, BUFSIZ);
	return out;
}
