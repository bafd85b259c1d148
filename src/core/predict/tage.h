/* SPDX-License-Identifier: GPL-2.0-or-later
 * Direction of conditional branches: TAGE with a loop predictor.
 *
 * A bimodal table, and tagged tables indexed by a hash of the address and the last L outcomes; L grows geometrically
 * from table to table, and the longest match predicts.
 * Source: A. Seznec, P. Michaud, "A case for (partially) TAgged GEometric history length branch prediction", JILP
 * 2006; loop predictor and aging as in Seznec's later championship papers.  Published reverse engineering finds such
 * a predictor in Intel's cores from Haswell on; sizes are GUESSes of the preset.
 *
 * Each history is kept folded twice, to 15 and to 13 bits, whatever the sizes, and moves one step a branch.  (The
 * usual folds, as wide as index and tag, lose a pattern whose period is a multiple of the width: its outcomes
 * cancel.)
 * An entry has 16 bits: tag 11, counter 3, usefulness 2.  Random choices come from a shift register with a fixed
 * seed.
 * predict.override: two-bit counters by address alone, as many as the bimodal table has, predict before the tables do.
 * Where the tables overrule them, bpred.c counts a bubble; not on a wrong path.
 * A wrong path has folds of its own (tage_path).
 * Left out: the statistical corrector, local histories, delayed update, the loop predictor's counts on a wrong path.
 */
#ifndef CORE_TAGE_H
#define CORE_TAGE_H
#include "core/machine/config.h"

enum {
	TAGE_TABLES = 16,
	TAGE_TAG_BITS = 11,
	TAGE_FOLD_BITS = 15,
	TAGE_FOLD2_BITS = 13,
	TAGE_HISTORY_MAX = 1000,
	TAGE_HISTORY_BYTES = 16384
};

struct loop_entry { uint32_t tag; uint16_t trip, count; uint8_t confidence, age, taken; };

struct tage {
	/* Each table has a lane of 16 bits; vectors hold eight lanes. */
	uint16_t fold[TAGE_TABLES] __attribute__((aligned(64))), fold2[TAGE_TABLES];
	uint16_t leaves[TAGE_TABLES], leaves2[TAGE_TABLES];	/* mask of the fold's bit with the oldest outcome */
	uint16_t tag_mask[TAGE_TABLES];
	uint16_t at[TAGE_TABLES], tag[TAGE_TABLES];	/* entry and tag of the current branch in each table */
	uint16_t *table[TAGE_TABLES];
	uint32_t length[TAGE_TABLES];
	uint32_t tables, groups, all;	/* groups: of eight lanes; all: a bit for each table */
	uint32_t entries_log2;
	uint32_t base_mask, loop_mask;
	uint32_t position;		/* index of the newest outcome in history[], which is filled downward */
	uint32_t lfsr;
	int32_t  use_alternate;		/* -8..7; from 0 on, the alternate prediction is preferred to a new entry's */
	int32_t  trust_loop;		/* -64..63; from 0 on, the loop predictor is believed */
	uint32_t pressure;		/* failed minus successful allocations, at least 0 */
	uint16_t *entry;
	uint8_t  *base;			/* two two-bit counters each */
	bool quick, overruled;	/* predict.override; the last branch was predicted otherwise than quick_says does */
	struct loop_entry *loop;
	uint8_t  history[TAGE_HISTORY_BYTES + 16];
};

/* The histories on a wrong path. */
enum { TAGE_PATH_MAX = 1024 };	/* most branches of a wrong path that move its histories */
struct tage_path {
	uint16_t fold[TAGE_TABLES] __attribute__((aligned(16))), fold2[TAGE_TABLES];
	/* position: index of the newest outcome in history[], which is filled downward; pushed: outcomes since the
	 * path began */
	uint32_t position, pushed;
	uint8_t  history[TAGE_PATH_MAX + TAGE_HISTORY_MAX + 16];
};

int  tage_init(struct tage *t, const struct core_config *c, struct err *err);
void tage_release(struct tage *t);
void tage_clear(struct tage *t);
/* Takes over the state of another one of the same description. */
void tage_copy(struct tage *to, const struct tage *from);
/* Predicts the branch at `ip`, then learns that it was `taken`.  Returns the prediction. */
bool tage_branch(struct tage *t, uint64_t ip, bool taken);
/* Adds one bit that is not the outcome of a conditional branch to the history. */
void tage_push(struct tage *t, bool bit);
/* Sets `path` to the current state with the last `count` (0 to 2) outcomes replaced by those of `bits`, the newest in
 * bit 0. */
void tage_path_begin(const struct tage *t, struct tage_path *path, unsigned count, unsigned bits);
/* Predicts with the histories of `path`, adds the prediction to them, and learns nothing. */
bool tage_path_branch(const struct tage *t, struct tage_path *path, uint64_t ip);
void tage_path_push(const struct tage *t, struct tage_path *path, bool bit);
#endif
