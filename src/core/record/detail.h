/* SPDX-License-Identifier: GPL-2.0-or-later
 * What a record does not say of a uop, for whoever builds the dependence graph of a run (analysis/graph/graph.h): the registers that it
 * reads and writes, what its delivery waited for, which store it took its data from.
 *
 * Details lie among the records of a batch as signals of numbers behind those of signals.def, in program order, each ahead of its uop's record; they come
 * only if core_wanted.detail asks for them.  All instructions take the general way then, with the same timing on the right path; nothing is paid for it otherwise.
 * Cycles are absolute.  Leaves out: the wrong path, whose uops have none; what older.h is about.
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
	DETAIL_COPY = 2,	/* its result is its first operand's: eliminated */
	DETAIL_RENAMES = 4,	/* a load: as lsq_may_rename (lsq.h) says */
	DETAIL_STORED = 8,	/* a store's data uop */
	DETAIL_LAST = 16,	/* last uop of its slot */
	DETAIL_BESIDE = 32,	/* it has no slot: nothing else is said of it */
};

struct core_detail {		/* laid over a record */
	uint8_t  kind, hw_thread, cpl, pool;	/* pool: its scheduler */
	uint32_t what;
	uint8_t  src[4], dst[3];/* registers; 0: none */
	uint8_t  flags;		/* enum detail_flags */
	uint32_t store;		/* a store's uop: its number; a load that was forwarded to: that of the store; else 0 */
	uint8_t  unit, busy;	/* a non-pipelined unit (unit_of), and cycles that it takes; 0: none */
	uint16_t tlb;		/* of an access: cycles for its translation */
	/* of a slot, in its first uop */
	uint64_t fetch;		/* the front end was at this cycle when it came to it, the uop queue aside */
	uint64_t barrier;	/* nothing could be allocated before */
	uint64_t result;	/* its registers are ready */
	uint8_t  room, width;	/* slots that could still be delivered in that cycle, and in a whole one */
	uint16_t code_l3;	/* of `code`: cycles for L3, beyond what L2 takes */
	uint16_t code;		/* cycles that the fetch of its instruction waited for L1I or the TLB; */
	uint16_t code_memory;	/* those of them for lines from memory */
	uint16_t memory, walk;	/* of an access: cycles that memory took; cycles of a page walk, in tlb */
	uint16_t ports;		/* that it may go to */
	uint16_t code_tlb;	/* as `code`: for the translation, not in `code` */
};
struct core_fill {
	uint8_t  kind, hw_thread, cpl, level;	/* 1: of L1D, 2: of L2 */
	uint32_t what;
	uint64_t line;		/* of L1D: linear; of L2: physical */
	uint64_t from, ready;
	uint32_t memory;	/* cycles of it that memory took */
	uint8_t  source, prefetch, pad[2];	/* enum inflight_source */
	uint64_t physical;	/* of level 1: line of level 2, `line` there */
	uint64_t spare[2];
};
struct core_written {
	uint8_t  kind, hw_thread, cpl, pad;
	uint32_t what;
	uint32_t store;		/* number */
	uint32_t memory;
	uint64_t from, ready;	/* it went to L1D; it was written, the stores before it aside */
	uint64_t spare[4];
};
_Static_assert((int)SPMU_SIG_COUNT < (int)DETAIL_UOP, "numbers of their own");
_Static_assert(sizeof(struct core_detail) == sizeof(struct spmu_record) && sizeof(struct core_fill) == sizeof(struct spmu_record) &&
               sizeof(struct core_written) == sizeof(struct spmu_record), "a detail lies in a record's place");

static inline uint16_t detail_cycles(uint64_t n)
{
	return n < UINT16_MAX ? (uint16_t)n : UINT16_MAX;
}
/* A place among the records. */
static inline void *detail_new(struct emitter *e, enum detail_what what)
{
	struct spmu_record *r = emit_new(e, e->base);
	*r = (struct spmu_record){ .kind = SPMU_REC_SIGNAL, .cpl = 3, .signal = what };
	return r;
}
#endif
