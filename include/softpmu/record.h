/* SPDX-License-Identifier: BSD-2-Clause
 * What a core tells the rest of the house: records, in batches.
 *
 * A record is a uop (kind SPMU_REC_UOP) or a signal that belongs to no uop (SPMU_REC_SIGNAL).  Uop records
 * come in program order; signal records lie anywhere in the batch.  All cycles are 32-bit offsets from the
 * batch's `base_cycle`, which lies at or below every cycle in the batch.
 *
 * Ownership: a batch and its arrays belong to the core and are valid only during the callback.
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
enum spmu_signal {		/* spmu_record.signal */
#define SIGNAL(name, kind, text) SPMU_SIG_##name,
#include "signals.def"
	SPMU_SIG_COUNT
};
enum spmu_signal_kind { SPMU_POINT, SPMU_INTERVAL, SPMU_OCCUPANCY };

#define SPMU_IS(name)  (UINT64_C(1) << SPMU_IS_##name)
#define SPMU_DID(name) (UINT64_C(1) << SPMU_DID_##name)
/* Bits 63:60 of `is` of a macro-fused branch: bytes of the instruction that it is fused with, which lies at `ip`; the branch's own address. */
#define SPMU_IS_FUSED_SHIFT 60
#define SPMU_BRANCH_IP(r) ((r)->ip + ((r)->is & SPMU_IS(MACRO_FUSED) ? (r)->is >> SPMU_IS_FUSED_SHIFT : 0))

enum spmu_record_kind { SPMU_REC_UOP, SPMU_REC_SIGNAL };

/* What an uncore signal came upon: a line in the L3 (or in the cores that a snoop went to), a row of a bank of memory. */
enum spmu_found { SPMU_FOUND_NOTHING, SPMU_FOUND_CLEAN, SPMU_FOUND_MODIFIED, SPMU_FOUND_ELSEWHERE /* not in L3, but in a core's cache */,
	SPMU_FOUND_ROW_OPEN, SPMU_FOUND_ROW_EMPTY, SPMU_FOUND_ROW_OTHER };

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
	uint64_t ip;		/* linear address of its instruction; a signal's: 0 if it belongs to none */
	uint64_t is;		/* uop: set of enum spmu_is */
	uint64_t did;		/* uop: set of enum spmu_did.  signal: `count` */
	uint64_t addr;		/* uop: linear data address; of a branch uop: where it went, of a squashed one where fetch went; of a signal
				 * that belongs to an access: its address; of FEATURE_WRITE: the value; else 0 */
	union {
		struct {	/* uop */
			uint32_t fetch, alloc, ready, dispatch, complete, retire;
		};
		struct {	/* signal */
			uint32_t begin, end;
			uint32_t unit;	/* of an uncore signal: L3 slice or memory channel, from 0; of FEATURE_WRITE: the MSR */
			uint32_t found;	/* of an uncore signal: enum spmu_found */
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
	uint64_t watermark;	/* no later batch holds a cycle below this (absolute) */
	uint32_t count;		/* records, at most SPMU_BATCH_MAX */
	uint32_t instructions;	/* INST_END and INST_END2 bits in uop records with RETIRED */
	uint32_t is_last;	/* 1: the hardware thread ends (or halts) here and no cycle beyond `watermark` is open */
	uint32_t user_only;	/* 1: every record has cpl 3 and the same hw_thread, so that `instructions` is a user-mode count */
	uint64_t hw_threads;	/* set of hardware threads (bit n: thread n) that records come from; 0: thread 0 alone */
	const struct spmu_record *records;
};
#endif
