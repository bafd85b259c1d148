/* SPDX-License-Identifier: GPL-2.0-or-later
 * Costs by function or instruction: the sites of a run (analysis/cost/cost.h), and of runs on changed machines,
 * added up by the names of their addresses.
 *
 * The name of an address comes from the last file that was mapped there.  Leaves out: inlined functions, which
 * count as the function around them. */
#ifndef CLI_COST_PLACES_H
#define CLI_COST_PLACES_H
#include "analysis/cost/cost.h"
#include "util/err.h"

struct cost_changed { const struct cost_run *run; double cycles; uint64_t *count; };	/* count: by measure */
struct cost_place {
	char *name;
	double cycles;
	uint64_t pushed;	/* of all measures */
	struct cost_site_result *of;	/* by measure */
	struct cost_changed *changed;
	unsigned runs;
};
struct cost_places;
int  cost_places_create(struct cost_places **out, struct err *err);
void cost_places_destroy(struct cost_places *p);
/* Takes a side record of the run, which says what is mapped where. If memory runs out, names are missing. */
void cost_places_side(struct cost_places *p, uint32_t pid, const uint64_t *record);
/* The name of an address: the function, or the instruction and its line. malloc'd; NULL: out of memory. */
char *cost_places_name(struct cost_places *p, uint32_t pid, uint64_t ip, bool instruction);
/* The disassembled instruction at an address, as objdump prints it; empty if its file cannot be read. */
void cost_places_text(struct cost_places *p, uint32_t pid, uint64_t ip, char *text, size_t bytes);
/* Adds the sites of all runs. Call it once. */
int cost_places_add(struct cost_places *p, const struct cost_run *base, struct cost_run *const *changed, unsigned runs,
	unsigned measures, bool instructions, struct err *err);
/* Place number k by pushout, largest first; places without pushout by cycles; NULL: there are no more. */
const struct cost_place *cost_places_get(const struct cost_places *p, size_t k);
#endif
