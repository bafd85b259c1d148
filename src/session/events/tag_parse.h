/* SPDX-License-Identifier: GPL-2.0-or-later
 * Tags: expressions that select slots by what their uops are and what happened to them: 'l2_miss & !l3_miss'.
 *
 * A tag is an expression of names with ! & | and parentheses (! binds closest, then &).  A name is that of a
 * bit of the records (signals.def, in small letters) or one of the words of TAG_WORDS, each of which stands for
 * several bits.  A tag is evaluated for a slot: for all uops together that are fused into one entry of the
 * reorder buffer.
 *
 * Leaves out: signals that belong to no uop (lines filled, stores that miss after retirement); they are refused
 * by name.
 */
#ifndef SESSION_TAG_PARSE_H
#define SESSION_TAG_PARSE_H
#include "pmu/slot_tag.h"
#include "softpmu/record.h"
#include "util/err.h"
#include <stdbool.h>

#define TAG_WORDS(X) /* word, bits of `is`, bits of `did` */ \
	X("mispredict", 0, SPMU_DID(MISPREDICTED)) \
	X("l1_miss", 0, SPMU_DID(L1D_MISS)) \
	X("access", SPMU_IS(LOAD) | SPMU_IS(STORE_ADDR), 0) \
	X("store", SPMU_IS(STORE_ADDR), 0) \
	X("snoop", 0, SPMU_DID(SNOOP_HIT) | SPMU_DID(SNOOP_HITM)) \
	X("clear", 0, SPMU_DID(CLEAR_MEMORY_ORDER) | SPMU_DID(CLEAR_SMC)) \
	X("prefetch", 0, SPMU_DID(PF_L1_USED) | SPMU_DID(PF_L2_USED) | SPMU_DID(LFB_HW_PF)) \
	X("split", 0, SPMU_DID(SPLIT_LINE) | SPMU_DID(SPLIT_PAGE)) \
	X("no_forward", 0, SPMU_DID(FORWARD_BLOCKED) | SPMU_DID(ALIAS_4K)) \
	X("resource", 0, SPMU_DID(STALL_ROB) | SPMU_DID(STALL_RS) | SPMU_DID(STALL_LB) | SPMU_DID(STALL_SB)) \
	X("decode", 0, SPMU_DID(FROM_MITE) | SPMU_DID(FROM_MS)) \
	X("write_back", 0, SPMU_DID(WROTE_BACK_L1D) | SPMU_DID(WROTE_BACK_L2)) \
	X("page_walk", 0, SPMU_DID(STLB_MISS)) \
	X("itlb_miss", 0, SPMU_DID(ITLB_MISS_F)) \
	X("assist", 0, SPMU_DID(ASSIST_AVX_TO_SSE) | SPMU_DID(ASSIST_SSE_TO_AVX) | SPMU_DID(ASSIST_FP_INPUT) | \
		SPMU_DID(ASSIST_FP_OUTPUT))

/* ERR_INPUT, with the place and the nearest names. */
int  tag_parse(struct tag *out, const char *text, struct err *err);
/* Name number n in the order of the list, NULL: there are no more; *help: what it means. */
const char *tag_name(unsigned n, char name[64], const char **help);
#endif
