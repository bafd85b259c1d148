/* SPDX-License-Identifier: GPL-2.0-or-later
 * Direction predictor of the cores from the Pentium M to Core 2: bimodal table, loop detector, tagged global table.
 *
 *   global   set-associative, indexed by a hash of address and path (below); if it has an entry, its counter decides.
 *   loop     Otherwise, if the branch ran the same number of times before each of its last two exits, the next exit is
 *            predicted; counts of 6 bits.
 *   bimodal  Otherwise, a two-bit counter selected by the address.
 * The path register of 15 bits is shifted by two at each taken conditional or indirect branch and mixed with its
 * address, and with the target of an indirect branch.
 * `global` gets an entry when the predictors below it were wrong, unless the loop detector watches the branch.  The
 * detector gives up on a branch whose counts differ three times.  (Both GUESS: otherwise the path register, full of
 * the loop's own branch, would confuse each exit with the iterations before it.)
 * Sources: S. Gochman et al., "The Intel Pentium M Processor: Microarchitecture and Performance", Intel Technology
 * Journal Q2 2003; V. Uzelac, A. Milenkovic, "Experiment flows and microbenchmarks for reverse engineering of branch
 * predictor structures", ISPASS 2009 (Pentium M: sizes, order of the three, path register, hash; from memory,
 * unverified; Sniper's Pentium M predictor has the same).  That Core 2 has the same predictor is a GUESS, to be
 * settled with their experiments.
 * Address bits below the fourth in the tag: GUESS.
 * Left out: lookup by fetch blocks, partial tags of the loop detector, iteration counts of the wrong path.
 */
#ifndef CORE_HYBRID_H
#define CORE_HYBRID_H
#include "core/machine/config.h"

enum { HYBRID_WAYS = 4, HYBRID_PATH_BITS = 15 };

/* A set, 16 bytes; tag 0: empty. */
struct hybrid_global { uint16_t tag[HYBRID_WAYS]; uint8_t counter[HYBRID_WAYS], age[HYBRID_WAYS]; };
struct hybrid_loop { uint32_t tag; uint16_t trip, count; uint8_t confidence, taken, age, differed; };

struct hybrid {
	uint8_t *base;
	struct hybrid_global *global;
	struct hybrid_loop *loop;
	uint32_t base_mask, global_mask, loop_mask, loop_max;
	uint32_t path, before;	/* before: the path before the last branch */
};

int  hybrid_init(struct hybrid *h, const struct core_config *c, struct err *err);
void hybrid_release(struct hybrid *h);
void hybrid_clear(struct hybrid *h);
/* Takes over the state of another one of the same description. */
void hybrid_copy(struct hybrid *to, const struct hybrid *from);
/* Predicts a conditional branch, then learns its outcome and adds it to the path. */
bool hybrid_branch(struct hybrid *h, uint64_t ip, bool taken);
/* Predicts with another path, and learns nothing. */
bool hybrid_look(const struct hybrid *h, uint32_t path, uint64_t ip);
/* Returns the path after a taken conditional branch (target 0) or an indirect branch. */
static inline uint32_t hybrid_path_push(uint32_t path, uint64_t ip, uint64_t target)
{
	return (path << 2 ^ ((uint32_t)(ip >> 4) | (uint32_t)target)) & ((1u << HYBRID_PATH_BITS) - 1);
}
/* Adds an indirect branch, except returns, to the path. */
static inline void hybrid_indirect(struct hybrid *h, uint64_t ip, uint64_t target)
{
	h->before = h->path;
	h->path = hybrid_path_push(h->path, ip, target);
}
#endif
