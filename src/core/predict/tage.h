/* SPDX-License-Identifier: GPL-2.0-or-later
 * Direction of conditional branches: TAGE with a loop predictor.
 *
 * A bimodal base and tables tagged with parts of a hash of (address, the last L outcomes), L growing geometrically; the
 * longest match provides.  Source: A. Seznec, P. Michaud, "A case for (partially) TAgged GEometric history
 * length branch prediction", JILP 2006; loop predictor and aging as in Seznec's later championship papers.  That Intel's
 * cores have such a predictor since Haswell is what published reverse engineering says; sizes are GUESSes of the preset.
 *
 * Each history is kept folded twice, to 15 and to 13 bits, whatever the sizes, and moves by one step a branch.
 * (Folds as wide as index and tag, as usual, lose a pattern whose period is a multiple of the width: its outcomes cancel.)
 * An entry is 16 bits: tag 11, counter 3, usefulness 2.  Choices that hardware leaves to chance come from a shift
 * register with a fixed seed.  A wrong path has folds of its own (tage_path).  Left out: the statistical corrector, local
 * histories, delayed update, the loop predictor's count on a wrong path.
 */
#ifndef CORE_TAGE_H
#define CORE_TAGE_H
#include "core/machine/config.h"

enum { TAGE_TABLES = 16, TAGE_TAG_BITS = 11, TAGE_FOLD_BITS = 15, TAGE_FOLD2_BITS = 13, TAGE_HISTORY_MAX = 1000, TAGE_HISTORY_BYTES = 16384 };

struct loop_entry { uint32_t tag; uint16_t trip, count; uint8_t confidence, age, taken; };

struct tage {
	/* a lane of 16 bits a table, worked on by eights */
	uint16_t fold[TAGE_TABLES] __attribute__((aligned(64))), fold2[TAGE_TABLES];
	uint16_t leaves[TAGE_TABLES], leaves2[TAGE_TABLES];	/* bit on which the outcome sits that leaves the history */
	uint16_t tag_mask[TAGE_TABLES];
	uint16_t at[TAGE_TABLES], tag[TAGE_TABLES];	/* of the branch being looked up: its entry in each table, its tag there */
	uint16_t *table[TAGE_TABLES];
	uint32_t length[TAGE_TABLES];
	uint32_t tables, groups, all;	/* groups of eight lanes; a bit a table */
	uint32_t entries_log2;
	uint32_t base_mask, loop_mask;
	uint32_t position;		/* of the newest outcome in history[], which is filled downward */
	uint32_t lfsr;
	int32_t  use_alternate;		/* -8..7: trust the alternate over a fresh entry */
	int32_t  trust_loop;		/* -64..63 */
	uint32_t pressure;		/* failed less successful allocations */
	uint16_t *entry;
	uint8_t  *base;			/* two-bit counters */
	struct loop_entry *loop;
	uint8_t  history[TAGE_HISTORY_BYTES + 16];
};

/* The histories on a wrong path. */
enum { TAGE_PATH_MAX = 1024 };	/* branches of it that move them */
struct tage_path {
	uint16_t fold[TAGE_TABLES] __attribute__((aligned(16))), fold2[TAGE_TABLES];
	uint32_t position, pushed;	/* of the newest outcome in history[], which is filled downward; since it began */
	uint8_t  history[TAGE_PATH_MAX + TAGE_HISTORY_MAX + 16];
};

int  tage_init(struct tage *t, const struct core_config *c, struct err *err);
void tage_release(struct tage *t);
void tage_clear(struct tage *t);
/* Predicts the branch at `ip`, then learns that it was `taken`.  Returns the prediction. */
bool tage_branch(struct tage *t, uint64_t ip, bool taken);
/* Moves the history by one bit that is no conditional's outcome. */
void tage_push(struct tage *t, bool bit);
/* The state in which the last `count` (0 to 2) bits that were pushed are those of `bits`, the newest in bit 0. */
void tage_path_begin(const struct tage *t, struct tage_path *path, unsigned count, unsigned bits);
/* Predicts there, without learning, and moves that history. */
bool tage_path_branch(const struct tage *t, struct tage_path *path, uint64_t ip);
void tage_path_push(const struct tage *t, struct tage_path *path, bool bit);
#endif
