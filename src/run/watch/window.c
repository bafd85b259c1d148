/* SPDX-License-Identifier: GPL-2.0-or-later
 * --start and --stop (window.h).
 */
#include "run/watch/window.h"
#include "symbols/symbols.h"
#include "run/threads/process.h"
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A count is "1000" or "20M".  Anything that does not begin with a digit is a function's name. */
static int parse_condition(const char *spec, const char *option, uint64_t *count, struct window_function *f,
	struct err *err)
{
	if (!isdigit((unsigned char)spec[0])) {
		if (!spec[0])
			return err_set(err, ERR_INPUT,
				"%s needs a function's name or a number of instructions", option);
		f->name = strdup(spec);
		return f->name ? 0 : err_set(err, ERR_NOMEM, "out of memory for %s", option);
	}
	char *end;
	unsigned long long n = strtoull(spec, &end, 10);
	unsigned long long scale = 1;
	if (*end == 'K' || *end == 'k')
		scale = 1000;
	else if (*end == 'M')
		scale = 1000000;
	else if (*end == 'G')
		scale = 1000000000;
	if (scale != 1)
		end++;
	if (*end || n == 0 || n > UINT64_MAX / scale)
		return err_set(err, ERR_INPUT,
			"%s %s: neither a number of instructions (1 or more; suffixes K, M, G) nor a function's name",
			option, spec);
	*count = n * scale;
	return 0;
}

int window_init(struct window *w, const char *start, const char *stop, struct err *err)
{
	int rc = 0;
	memset(w, 0, sizeof *w);
	w->open = !start;
	w->has_stop = stop != NULL;
	w->active = start || stop;
	if (start)
		rc = parse_condition(start, "--start", &w->start_count, &w->start, err);
	if (rc == 0 && stop)
		rc = parse_condition(stop, "--stop", &w->stop_count, &w->stop, err);
	return rc;
}

void window_release(struct window *w)
{
	free(w->start.name);
	free(w->start.at);
	free(w->stop.name);
	free(w->stop.at);
}

static void look_up(struct window_function *f, uint32_t process, const struct st_map *m, const char *path)
{
	uint64_t offset;
	if (!f->name || !symbols_find_function(path, f->name, &offset))
		return;
	if (offset < m->offset || offset - m->offset >= m->bytes)
		return;
	void *list = realloc(f->at, (f->found + 1) * sizeof *f->at);
	if (!list)
		return;		/* then it is reported as not found */
	f->at = list;
	f->at[f->found].process = process;
	f->at[f->found++].addr = m->addr + (offset - m->offset);
}

void window_map(struct window *w, uint32_t process, const struct st_map *m, const char *path)
{
	if (!(m->prot & ST_PROT_X) || path[0] != '/')
		return;
	look_up(&w->start, process, m, path);
	look_up(&w->stop, process, m, path);
}

static bool enters(const struct window_function *f, uint32_t process, const struct iblock *b)
{
	for (size_t i = 0; i < f->found; i++)
		if (f->at[i].process == process)
			for (unsigned k = 0; k < b->insns; k++)
				if (b->insn[k].addr == f->at[i].addr)
					return true;
	return false;
}

unsigned window_flags(const struct window *w, uint32_t process, const struct iblock *b)
{
	return (enters(&w->start, process, b) ? BLOCK_START : 0) | (enters(&w->stop, process, b) ? BLOCK_STOP : 0);
}

enum window_verdict window_block(struct window *w, unsigned block_flags, unsigned insns)
{
	if (!w->open) {
		if (w->start.name ? !(block_flags & BLOCK_START) : w->warmed < w->start_count) {
			w->warmed += insns;
			return WINDOW_WARM;
		}
		w->open = true;
		w->active = w->has_stop;	/* without --stop nothing is left to look for */
	} else if (block_flags & BLOCK_STOP) {
		return WINDOW_CLOSED;
	}
	if (w->stop_count && w->timed + insns >= w->stop_count)
		return WINDOW_LAST;
	w->timed += insns;
	return WINDOW_RUN;
}

uint64_t window_gap(const struct window *w)
{
	if (w->open || (!w->start.name && w->warmed >= w->start_count))
		return 0;
	return w->start.name ? UINT64_MAX : w->start_count - w->warmed;
}

unsigned window_left(const struct window *w, unsigned insns)
{
	uint64_t left = w->stop_count - w->timed;
	return left < insns ? (unsigned)left : insns;
}

void window_note(const struct window *w, char *text, size_t bytes)
{
	if (w->open || !(w->start.name || w->start_count))
		return;
	if (w->start.name)
		snprintf(text, bytes,
			w->start.found ? "--start %s: the program never entered this function, so nothing was timed"
				       : "--start %s: no file of the program has a symbol of this name, so nothing "
					 "was timed",
			w->start.name);
	else
		snprintf(text, bytes, "--start %llu: the program ended after %llu instructions, so nothing was timed",
		         (unsigned long long)w->start_count, (unsigned long long)w->warmed);
}
