/* SPDX-License-Identifier: GPL-2.0-or-later
 * A uop that rename adds to the program's: one that merges the parts of a register.
 */
#ifndef CORE_ADDED_UOP_H
#define CORE_ADDED_UOP_H
#include "core/pipeline.h"

/* Allocates, executes in one cycle, retires and records it, as a uop of instruction `in`.  is: what it is; ports: where
 * it may go (0: to none, it is done when its sources are there); sources: when these are there.  Returns when its
 * result is there. */
uint64_t added_uop(struct core *c, const struct insn *in, uint64_t is, unsigned ports, uint64_t sources);
#endif
