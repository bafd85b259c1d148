/* SPDX-License-Identifier: GPL-2.0-or-later
 * --start and --stop: which part of a run is timed.  Private to src/run.
 *
 * A function is looked up by name in every executable file that a traced process maps; the window opens (closes)
 * at the first block that enters it.  Counts: `start` instructions are warmed first (to the end of the block that
 * reaches them); `stop` instructions are timed, exactly.
 */
#ifndef RUN_WINDOW_H
#define RUN_WINDOW_H
#include "isa/isa.h"
#include "stream/format.h"
#include "util/err.h"
#include <stddef.h>

struct window_function {
	char *name;		/* NULL: a count, or none */
	struct { uint32_t process; uint64_t addr; } *at;	/* run-time entries found so far */
	size_t found;
};

struct window {
	bool active;		/* a condition is still to be met */
	bool open;		/* timing */
	bool has_stop;
	uint64_t start_count, stop_count;	/* instructions; 0 with a function */
	uint64_t warmed, timed;
	struct window_function start, stop;
};

enum window_verdict { WINDOW_RUN, WINDOW_WARM, WINDOW_LAST, WINDOW_CLOSED };

/* spec: NULL, a decimal count (suffixes K M G), or a function's name. */
int  window_init(struct window *w, const char *start, const char *stop, struct err *err);
void window_release(struct window *w);
/* Looks the functions up in a new mapping. */
void window_map(struct window *w, uint32_t process, const struct st_map *m, const char *path);
/* BLOCK_START, BLOCK_STOP if the block enters one of the functions. */
unsigned window_flags(const struct window *w, uint32_t process, const struct iblock *b);
/* Decides what to do with a block of `insns` instructions.  WINDOW_LAST: run window_left() of them, then stop. */
enum window_verdict window_block(struct window *w, unsigned block_flags, unsigned insns);
/* How many more instructions are warmed at least, if no block comes that enters a function. */
uint64_t window_gap(const struct window *w);
unsigned window_left(const struct window *w, unsigned insns);
/* Writes a sentence if a function was never found or never entered, else "". */
void window_note(const struct window *w, char *text, size_t bytes);
#endif
