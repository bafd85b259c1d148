/* SPDX-License-Identifier: GPL-2.0-or-later
 * The places that advice is given for: the instructions of a run's evidence, put together by function and by line, with
 * the calls of the allocator that they answer for. */
#ifndef CLI_TUNE_PLACES_H
#define CLI_TUNE_PLACES_H
#include "analysis/tune/advice_rules.h"
#include "symbols/symbols.h"

struct tune_places {
	struct symbols *symbols;	/* the caller's; they own the names */
	struct advice_program *program;	/* the caller's; its sums over all places are filled */
	struct advice_place *place;	/* functions, then lines */
	size_t places;
	double loader;			/* cycles of the exact profile that are charged to the dynamic loader */
};
/* t: zero, with the caller's fields set.  0, or ERR_NOMEM after one printed line. */
int  tune_places_find(struct tune_places *t, const struct evidence *e);
/* The place is in the dynamic loader, and the loader takes less than half of the cycles. */
bool tune_places_only_start(const struct tune_places *t, const struct advice_place *p);
void tune_places_release(struct tune_places *t);
#endif
