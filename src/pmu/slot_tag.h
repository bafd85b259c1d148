/* SPDX-License-Identifier: BSD-2-Clause
 * A tag: which slots are looked at, by what their uops are and what happened to them.
 *
 * A program for a stack of truth values; no pointers, may be copied.  session/events/tag_parse.h makes it of an expression, regs_pushout.c of registers.
 */
#ifndef PMU_SLOT_TAG_H
#define PMU_SLOT_TAG_H
#include <stdbool.h>
#include <stdint.h>

enum { TAG_STEPS = 64 };
struct tag {
	unsigned steps;
	struct tag_step { enum { TAG_HAS /* one of the bits */, TAG_NOT, TAG_AND, TAG_OR } what; uint64_t is, did; } step[TAG_STEPS];
	uint64_t is, did;	/* all bits that it names */
	bool without;		/* it may hold for a slot that has none of them */
};
/* For a slot, all uops of which have these bits together. */
bool tag_holds(const struct tag *t, uint64_t is, uint64_t did);
#endif
