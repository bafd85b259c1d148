/* SPDX-License-Identifier: GPL-2.0-or-later
 * What a record does not say about a uop, for building the dependence graph of a run (analysis/graph/graph.h):
 * the registers that it reads and writes, what its delivery waited for, which store it took its data from.
 *
 * Details lie among the records of a batch, as signals with numbers behind those of signals.def, in program
 * order, each ahead of its uop's record.  They come only if core_wanted.detail asks for them; all instructions
 * then go the general way, with the same timing on the right path.  Otherwise they cost nothing.
 * Cycles are absolute.  Leaves out: uops of the wrong path, which have no details; the mechanisms of older.h.
 */
#ifndef CORE_DETAIL_H
#define CORE_DETAIL_H
#include "core/record/emit.h"

enum detail_what {
	DETAIL_UOP = 120,		/* struct core_detail */
	DETAIL_FILL,			/* an access or a prefetch asked for a line; struct core_fill */
	DETAIL_WRITTEN,			/* a store left the store buffer; struct core_written */
};

enum detail_flags {
	DETAIL_SLOT = 1,	/* first uop of its slot */
	DETAIL_COPY = 2,	/* its result is that of its first operand: it was eliminated */
	DETAIL_RENAMES = 4,	/* a load for which lsq_may_rename (lsq.h) is true */
	DETAIL_STORED = 8,	/* a store's data uop */
	DETAIL_LAST = 16,	/* last uop of its slot */
	DETAIL_BESIDE = 32,	/* it has no slot; the other fields are not set */
};

struct core_detail {		/* laid over a record */
	uint8_t  kind, hw_thread, cpl, pool;	/* pool: its scheduler */
	uint32_t what;
	uint8_t  src[4], dst[3];/* registers; 0: none */
	uint8_t  flags;		/* enum detail_flags */
	/* of a store's uop: the store's number; of a load that took its data from a store: that store's; else 0 */
	uint32_t store;
	uint8_t  unit, busy;	/* a non-pipelined unit (unit_of), and how many cycles the uop takes it; 0: none */
	uint16_t tlb;		/* of an access: cycles for its translation */
	/* of a slot, set in its first uop: */
	uint64_t fetch;		/* cycle of the front end when it came to the slot, regardless of the uop queue */
	uint64_t barrier;	/* nothing could be allocated before this cycle */
	uint64_t result;	/* cycle in which its registers are ready */
	uint8_t  room, width;	/* slots that could still be delivered in that cycle, and slots of a whole cycle */
	uint16_t code_l3;	/* of `code`: cycles for L3, beyond what L2 takes */
	uint16_t code;		/* cycles that the fetch of its instruction waited for L1I */
	uint16_t code_memory;	/* of `code`: cycles for lines from memory */
	uint16_t memory, walk;	/* of an access: cycles that memory took; cycles of a page walk, part of tlb */
	uint16_t ports;		/* that it may go to */
	uint16_t code_tlb;	/* cycles that fetch waited for the translation; not part of `code` */
};
struct core_fill {
	uint8_t  kind, hw_thread, cpl, level;	/* 1: of L1D, 2: of L2 */
	uint32_t what;
	uint64_t line;		/* of L1D: linear; of L2: physical */
	uint64_t from, ready;
	uint32_t memory;	/* of these, cycles that memory took */
	uint8_t  source, prefetch, pad[2];	/* enum inflight_source */
	uint64_t physical;	/* of level 1: the number that this line has as a line of level 2 */
	uint64_t spare[2];
};
struct core_written {
	uint8_t  kind, hw_thread, cpl, pad;
	uint32_t what;
	uint32_t store;		/* number */
	uint32_t memory;
	uint64_t from, ready;	/* it went to L1D; it was written, regardless of the stores before it */
	uint64_t spare[4];
};
_Static_assert((int)SPMU_SIG_COUNT < (int)DETAIL_UOP, "numbers of their own");
_Static_assert(sizeof(struct core_detail) == sizeof(struct spmu_record) &&
		sizeof(struct core_fill) == sizeof(struct spmu_record) &&
		sizeof(struct core_written) == sizeof(struct spmu_record),
	"a detail lies in a record's place");

static inline uint16_t detail_cycles(uint64_t n)
{
	return n < UINT16_MAX ? (uint16_t)n : UINT16_MAX;
}
/* A place among the records for a detail. */
static inline void *detail_new(struct emitter *e, enum detail_what what)
{
	struct spmu_record *r = emit_new(e, e->base);
	*r = (struct spmu_record){ .kind = SPMU_REC_SIGNAL, .cpl = 3, .signal = what };
	return r;
}
#endif
