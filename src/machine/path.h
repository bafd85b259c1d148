/* SPDX-License-Identifier: GPL-2.0-or-later
 * The paths that a guest takes, as the blocks of isa.h.  A path is a stretch of instructions that were executed one
 * behind the other, with the accesses that they made.  Paths that are alike in addresses, bytes and kinds of accesses
 * are decoded once.  Code that was changed has other bytes, and so is another path.
 */
#ifndef MACHINE_PATH_H
#define MACHINE_PATH_H
#include "isa/isa.h"

enum {
	PATH_INSNS = 32,	/* the longest path */
	PATH_SLOTS = 256,	/* accesses of one; further ones are dropped */
};

struct path {
	unsigned insns, slots;
	unsigned open;		/* slots of complete instructions */
	uint8_t word_bytes;
	bool repeats;		/* a round of a REP instruction; the path is that instruction */
	struct st_insn_def insn[PATH_INSNS];
	struct st_slot slot[PATH_SLOTS];
	uint64_t value[PATH_SLOTS];
};

struct path_store;		/* the decoded ones */

/* isa must outlive the store.  NULL: out of memory. */
struct path_store *path_store_create(const struct isa *isa);
void path_store_destroy(struct path_store *s);	/* NULL: does nothing */
size_t path_store_count(const struct path_store *s);
/* The block of the path's complete instructions, and its definition.  Both live as long as the store.  NULL: *err says
 * why. */
struct iblock *path_block(struct path_store *s, const struct path *p, const struct st_block_def **def, struct err *err);
#endif
