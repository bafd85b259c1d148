/* SPDX-License-Identifier: GPL-2.0-or-later
 * State of the mechanisms that only older cores have; it is unused on the others.  Included by pipeline.h.
 *
 *   p6.h             register reads at allocation, the loop buffer in front of Core 2's decoders
 *   netburst_core.h  double-speed ALUs, replay, trace cache
 *   inorder.h        the Pentium's two pipes
 *   here             store.commit_cycles, store.commit_group: the rate of stores into a write-through L1D
 */
#ifndef CORE_OLDER_H
#define CORE_OLDER_H
#include "isa/isa.h"
#include <stdbool.h>
#include <stdint.h>

enum { TRACE_SLOTS = 8, TRACE_NONE = -1 };
struct trace_line {
	uint64_t ip[TRACE_SLOTS];	/* its instructions in the order of execution; the first is the head */
	uint32_t stamp;			/* time of its last use; 0: empty */
	uint8_t insns, slots;
	bool closed;			/* takes no more instructions */
};

struct older {
	bool any;		/* one of them is on: every instruction takes the general path */
	bool inorder, double_speed;
	uint32_t reads, replay, loop_insns, commit_cycles, commit_group;	/* fields of the core; 0: off */
	uint32_t commit_part;	/* remainder of commit_cycles after the last store, in 1/commit_group cycles */
	/* P6 */
	/* Cycle in which each register's last writer retired.  From then on it is read from the retirement register
	 * file. */
	uint64_t retired[REG_COUNT];
	uint64_t reads_cycle;	/* cycle of allocation */
	uint64_t read[2];	/* set of the retired registers read in it */
	/* Slots of the cycle so far, and the most that it takes: the rest of a group, if the group was split. */
	uint32_t group, group_size;
	/* Core 2 */
	uint64_t stream_branch, stream_target;
	/* instructions decoded since the loop's branch, and in the iteration before */
	uint32_t stream_insns, stream_before;
	bool streaming;		/* the loop comes from the instruction queue */
	/* NetBurst */
	uint8_t early[REG_COUNT];	/* 1: ready half a cycle before core.reg */
	/* When a register was expected to be ready because a load was expected to hit L1D; 0: the expectation was
	 * right. */
	uint64_t hoped[REG_COUNT];
	uint64_t why[REG_COUNT];	/* why it was not ready then: REPLAY_* of enum spmu_did */
	/* first cycle in which the current uop was dispatched too early; 0: it was not */
	uint64_t again;
	struct trace_line *trace;	/* sets x ways; NULL: no trace cache */
	int32_t line;		/* line that delivers, or TRACE_NONE */
	int32_t building;	/* line being built, or TRACE_NONE */
	uint32_t at;		/* next instruction of the delivering line */
	bool head;		/* the instruction that enters begins a line */
	uint64_t built;		/* cycle behind the last one in which lines were built */
	uint64_t fetch_block;	/* block of code that was fetched last because the trace cache missed it */
	uint32_t stamp;
	/* Pentium */
	uint64_t issue, end;	/* current pair: its cycle of issue, and the cycle from which the next may issue */
	uint64_t fp_free;	/* cycle from which the floating-point unit accepts the next */
	uint64_t written[2];	/* set of the registers that the pair's first instruction (the elder) writes */
	uint8_t elder;		/* its enum inorder_class; INORDER_ALONE: nothing pairs with it */
	bool elder_rmw;
	uint64_t start;		/* cycle of issue of the current instruction */
	uint8_t pipe;		/* 0 U, 1 V, 2 floating point */
};

/* Cycles from one written store to the next, so that commit_group stores take commit_cycles. */
static inline uint32_t older_commit_gap(struct older *o)
{
	uint32_t part = o->commit_part + o->commit_cycles, gap = part / o->commit_group;
	o->commit_part = part % o->commit_group;
	return gap;
}
#endif
