/* SPDX-License-Identifier: GPL-2.0-or-later
 * The slots of each function, source line or loop, by cause: the sites of slots.h added up by the names of their
 * addresses.
 *
 * A loop is what a taken backward branch within a function closes: the code from the branch's target to the
 * branch.  Code in several loops counts with the innermost; a called function counts by itself.  Leaves out:
 * inlined functions, which count as the function around them; parts of a loop's body that the compiler placed
 * outside of it. */
#ifndef CLI_TOPDOWN_PLACES_H
#define CLI_TOPDOWN_PLACES_H
#include "analysis/slots.h"

enum topdown_per { TOPDOWN_WHOLE, TOPDOWN_FUNCTION, TOPDOWN_LINE, TOPDOWN_LOOP };
struct topdown_place { char *name; uint64_t all, slots[SLOTS_CAUSE_COUNT]; };

struct topdown_places;
int  topdown_places_create(struct topdown_places **out, enum topdown_per per, struct err *err);
void topdown_places_destroy(struct topdown_places *p);
/* Takes a side record of the run, which says what is mapped where. */
void topdown_places_side(struct topdown_places *p, uint32_t pid, const uint64_t *record);
/* Takes the branches of a batch, for the loops. */
int  topdown_places_batch(struct topdown_places *p, uint32_t pid, const struct spmu_batch *b, struct err *err);
/* Adds the slots of a thread of this process, with names from the current mappings. */
int  topdown_places_add(struct topdown_places *p, uint32_t pid, const struct slots *s, struct err *err);
/* Place number k by slots, most first; NULL: there are no more. Call after the last add. */
const struct topdown_place *topdown_places_get(struct topdown_places *p, size_t k);
#endif
