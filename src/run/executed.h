/* SPDX-License-Identifier: GPL-2.0-or-later
 * What run_sink.executed says of a block's uops. */
#ifndef RUN_EXECUTED_H
#define RUN_EXECUTED_H
#include "isa/isa.h"
#include <stdbool.h>

/* Has each of these executions the uop exactly once?  How many uops a REP instruction has is not known there. */
static inline bool executed_once(const struct iblock *b, const struct uop *u, unsigned insns, bool repeats)
{
	return u->insn < insns - (repeats && insns) && !(b->insn[u->insn].flags & INSN_REP);
}
#endif
