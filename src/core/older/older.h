/* SPDX-License-Identifier: GPL-2.0-or-later
 * State of the mechanisms that only older cores have; all of it idle on the others.  Included by pipeline.h.
 * p6.h: registers read at allocation, the loop buffer ahead of Core 2's decoders.  netburst_core.h: ALUs of double speed, replay, trace cache.
 * inorder.h: the Pentium's two pipes.  store.commit_cycles, store.commit_group: a write-through L1D takes so many stores in so many cycles.
 */
#ifndef CORE_OLDER_H
#define CORE_OLDER_H
#include "isa/isa.h"
#include <stdbool.h>
#include <stdint.h>

enum { TRACE_SLOTS = 8, TRACE_NONE = -1 };
struct trace_line {
	uint64_t ip[TRACE_SLOTS];	/* instructions in the order in which they were executed; the first is its head */
	uint32_t stamp;			/* of its last use; 0: empty */
	uint8_t insns, slots;
	bool closed;			/* takes no more */
};

struct older {
	bool any;		/* one of them is on: every instruction goes the general way */
	bool inorder, double_speed;
	uint32_t reads, replay, loop_insns, commit_cycles, commit_group;	/* of the core's file; 0: off */
	uint32_t commit_part;	/* of commit_cycles that stores written have not used up, in 1/commit_group of a cycle */
	/* P6 */
	uint64_t retired[REG_COUNT];	/* cycle in which the register's last writer retired: from then on it is read from the retired file */
	uint64_t reads_cycle;	/* allocation's cycle */
	uint64_t read[2];	/* set of the retired registers read in it */
	uint32_t group, group_size;	/* slots of the cycle so far, and as many as it takes: the rest of a group that was broken */
	/* Core 2 */
	uint64_t stream_branch, stream_target;
	uint32_t stream_insns, stream_before;	/* instructions decoded since the loop's branch, and in the round before */
	bool streaming;		/* the loop comes from the instruction queue */
	/* NetBurst */
	uint8_t early[REG_COUNT];	/* 1: ready half a cycle ahead of core.reg */
	uint64_t hoped[REG_COUNT];	/* when the register was assumed to be ready, as if the load behind it had hit L1D; 0: as it was */
	uint64_t why[REG_COUNT];	/* and why it was not: REPLAY_* of enum spmu_did */
	uint64_t again;			/* when the uop at hand was first dispatched in vain; 0: it was not */
	struct trace_line *trace;	/* sets x ways; NULL: no trace cache */
	int32_t line;		/* delivered from; TRACE_NONE: none */
	int32_t building;
	uint32_t at;		/* its next instruction */
	uint32_t stamp;
	/* Pentium */
	uint64_t issue, end;	/* of the pair under way: cycle of issue; from which the next may go */
	uint64_t fp_free;	/* the floating-point unit takes the next */
	uint64_t written[2];	/* set of registers that the elder writes */
	uint8_t elder;		/* enum inorder_class of it; INORDER_ALONE: nothing pairs */
	bool elder_rmw;
	uint64_t start;		/* of the instruction under way */
	uint8_t pipe;		/* 0 U, 1 V, 2 floating point */
};

/* Cycles from one store written to the next: commit_group of them in commit_cycles. */
static inline uint32_t older_commit_gap(struct older *o)
{
	uint32_t part = o->commit_part + o->commit_cycles, gap = part / o->commit_group;
	o->commit_part = part % o->commit_group;
	return gap;
}
#endif
