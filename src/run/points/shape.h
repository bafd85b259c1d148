/* SPDX-License-Identifier: GPL-2.0-or-later
 * What a capture needs of a block: the length of its records, and which of its slots are accesses.  Private to src/run.
 */
#ifndef RUN_SHAPE_H
#define RUN_SHAPE_H
#include "stream/format.h"
#include "util/err.h"
#include <stdbool.h>
#include <stddef.h>

struct shape_exit {
	uint16_t insns, completed;	/* begun; completed: less than begun in a round of REP */
	uint16_t slots, accesses, lines;
	uint64_t times;			/* how often it was skipped since shape_exit.times was told */
};
struct shape_access { uint16_t slot, size; bool load, store; };

struct shape {			/* a block */
	uint64_t addr;
	uint16_t insns, exits, accesses, lines;
	struct shape_exit *exit;
	struct shape_access *access;	/* in order of their slots */
	/* lines of code, in the order in which the block runs through them */
	struct shape_line { uint64_t line; uint16_t insn; } *line;
	uint16_t *slots;		/* of each instruction: slots up to its end */
};

struct shapes {			/* of a process, by id; NULL: not defined */
	struct shape **block;
	size_t blocks;
};

/* Adds the block that a record of ST_BLOCK_DEF, `length` words long, defines.  ERR_INPUT, ERR_NOMEM. */
int  shapes_define(struct shapes *s, const uint64_t *record, size_t length, struct err *err);
void shapes_clear(struct shapes *s);
/* An execution of the block's first `insns` instructions, which was cut. */
void shape_cut(const struct shape *b, unsigned insns, struct shape_exit *out);
#endif
