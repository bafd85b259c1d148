/* SPDX-License-Identifier: BSD-2-Clause
 * A tag: a condition that selects slots by what their uops are and what happened to them.
 *
 * It is a program for a stack of truth values.  It has no pointers, so it may be copied.  session/events/tag_parse.h
 * compiles it from an expression, regs_pushout.c from registers.
 */
#ifndef PMU_SLOT_TAG_H
#define PMU_SLOT_TAG_H
#include <stdbool.h>
#include <stdint.h>

enum { TAG_STEPS = 64 };
struct tag {
	unsigned steps;
	/* HAS: the slot has at least one of these bits. */
	struct tag_step { enum { TAG_HAS, TAG_NOT, TAG_AND, TAG_OR } what; uint64_t is, did; } step[TAG_STEPS];
	uint64_t is, did;	/* all bits that it names */
	bool without;		/* it may hold for a slot that has none of them */
};
/* Does the tag hold for a slot whose uops together have these bits?  A tag without steps holds for none. */
bool tag_holds(const struct tag *t, uint64_t is, uint64_t did);
#endif
