/* SPDX-License-Identifier: GPL-2.0-or-later
 * Functional warming of the memory side: a block's accesses as a list, made once and then run for each execution.
 */
#ifndef CORE_MEMORY_WARM_H
#define CORE_MEMORY_WARM_H
#include "isa/isa.h"

struct memsys;

enum warm_kind {
	WARM_FETCH,	/* the instruction's bytes are fetched; slot and size have no meaning */
	WARM_LOAD, WARM_STORE,
	WARM_STREAM,	/* a non-temporal store */
	WARM_PREFETCH,	/* a software prefetch; size has no meaning */
	WARM_FLUSH,	/* size: enum uop_flush */
};

/* An access, in the order in which the block makes them.  slot: index of its address among the block's slots; an
 * address of ST_NOT_DONE was not accessed. */
struct warm_op {
	uint16_t insn, slot, size;
	uint16_t kind;		/* enum warm_kind */
};

/* Does what memsys_warm_fetch, memsys_warm_data and the like do for each of these.  insn: the block's. */
void memsys_warm(struct memsys *m, const struct warm_op *op, size_t ops, const struct insn *insn,
	const uint64_t *slots);
#endif
