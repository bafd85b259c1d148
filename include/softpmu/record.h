/* SPDX-License-Identifier: BSD-2-Clause
 * What a core hands to a PMU: records, in batches.
 *
 * A record is a uop (kind SPMU_REC_UOP), or a signal that belongs to no uop (SPMU_REC_SIGNAL).  Uop records
 * are in program order; signal records may stand anywhere in the batch.  All cycles are 32-bit offsets from the
 * batch's `base_cycle`, which is at or below every cycle in the batch.
 *
 * Ownership: a batch and its array belong to whoever made them.  A receiver may read them during the call only.
 */
#ifndef SOFTPMU_RECORD_H
#define SOFTPMU_RECORD_H
#include <stdint.h>

enum spmu_is {			/* bit numbers of spmu_record.is */
#define STATIC(name, text) SPMU_IS_##name,
#include "signals.def"
	SPMU_IS_COUNT
};
enum spmu_did {			/* bit numbers of spmu_record.did */
#define DYNAMIC(name, text) SPMU_DID_##name,
#include "signals.def"
	SPMU_DID_COUNT
};
enum spmu_attribute {		/* bit numbers of spmu_record.is of a signal */
#define ATTRIBUTE(name, text) SPMU_ATTR_##name,
#include "signals.def"
	SPMU_ATTR_COUNT
};
enum spmu_signal {		/* spmu_record.signal */
#define SIGNAL(name, kind, text) SPMU_SIG_##name,
#include "signals.def"
	SPMU_SIG_COUNT
};
enum spmu_signal_kind { SPMU_POINT, SPMU_INTERVAL, SPMU_OCCUPANCY };

#define SPMU_IS(name)  (UINT64_C(1) << SPMU_IS_##name)
#define SPMU_DID(name) (UINT64_C(1) << SPMU_DID_##name)
#define SPMU_ATTR(name) (UINT64_C(1) << SPMU_ATTR_##name)
/* A macro-fused branch: `ip` is the address of the instruction it is fused with, and bits 63:60 of `is` are that
 * instruction's length in bytes.  SPMU_BRANCH_IP gives the branch's own address. */
#define SPMU_IS_FUSED_SHIFT 60
#define SPMU_BRANCH_IP(r) ((r)->ip + ((r)->is & SPMU_IS(MACRO_FUSED) ? (r)->is >> SPMU_IS_FUSED_SHIFT : 0))

enum spmu_record_kind { SPMU_REC_UOP, SPMU_REC_SIGNAL };

/* The state in which an uncore signal found a line in the L3 (a snoop: in the snooped cores), or the row buffer
 * of a bank of memory. */
enum spmu_found {
	SPMU_FOUND_NOTHING,	/* no such line */
	SPMU_FOUND_CLEAN,
	SPMU_FOUND_MODIFIED,
	SPMU_FOUND_ELSEWHERE,	/* not in L3, but in a core's cache */
	SPMU_FOUND_ROW_OPEN,	/* the row was open */
	SPMU_FOUND_ROW_EMPTY,	/* no row was open */
	SPMU_FOUND_ROW_OTHER,	/* another row was open */
	SPMU_FOUND_ROW_CLOSED	/* a row had been open until its time without use was over */
};

/* 64 bytes.  Cycles: offsets from spmu_batch.base_cycle. */
struct spmu_record {
	uint8_t  kind;		/* enum spmu_record_kind */
	uint8_t  hw_thread;	/* hardware thread on this core, from 0 */
	uint8_t  cpl;		/* privilege level: 0 or 3 */
	uint8_t  port;		/* execution port, 255 if none */
	union {
		uint32_t size;	/* uop: bytes accessed, 0 if no access */
		uint32_t signal;/* signal: enum spmu_signal */
	};
	uint64_t ip;		/* linear address of its instruction; 0 for a signal that belongs to none */
	uint64_t is;		/* uop: set of enum spmu_is; signal: set of enum spmu_attribute but THREAD* */
	uint64_t did;		/* uop: set of enum spmu_did; signal: its `count` (signals.def) */
	/* Load and store uops: linear data address.  Branch uops: where the branch went; squashed ones: where
	 * fetch went.  Signals of an access: its address.  FEATURE_WRITE: the value.  Else 0. */
	uint64_t addr;
	union {
		struct {	/* uop */
			uint32_t fetch, alloc, ready, dispatch, complete, retire;
		};
		struct {	/* signal */
			uint32_t begin, end;
			uint32_t unit;	/* uncore signal: L3 slice or memory channel, from 0; FEATURE_WRITE: the MSR */
			uint32_t found;	/* uncore signal: enum spmu_found */
		};
	};
};
#ifdef __cplusplus
static_assert(sizeof(struct spmu_record) == 64, "a record is 64 bytes");
#else
_Static_assert(sizeof(struct spmu_record) == 64, "a record is 64 bytes");
#endif

enum { SPMU_BATCH_MAX = 1024 };	/* most records in a batch */

struct spmu_batch {
	uint64_t base_cycle;	/* cycle 0 of every offset in this batch */
	uint64_t watermark;	/* no later batch holds a cycle below this one (absolute, not an offset) */
	uint32_t count;		/* records, at most SPMU_BATCH_MAX */
	uint32_t instructions;	/* number of INST_END and INST_END2 bits in uop records with RETIRED */
	uint32_t is_last;	/* 1: the hardware thread ends or halts here; nothing is under way after `watermark` */
	/* 1: all records have cpl 3, 2: all have cpl 0, and one hw_thread, whose `instructions` these are.  0: each
	 * record says by itself. */
	uint32_t user_only;
	/* set of hardware threads (bit n: thread n) that have records here; 0: thread 0 alone */
	uint64_t hw_threads;
	const struct spmu_record *records;
};
#endif
