/* SPDX-License-Identifier: BSD-2-Clause
 * The tables behind spmu_msr_list, spmu_msr_find and spmu_msr_fields: msr_names.c has the registers' names,
 * msr_fields.c their fields'. */
#ifndef PMU_MSR_H
#define PMU_MSR_H
#include "../pmu_internal.h"

/* On which models a register or a field exists (msr_names.c, holds). */
enum msr_when {
	ALWAYS,
	FROM_V2,
	FROM_V3,
	FROM_V4,
	V2_OR_V3,
	FULL_WIDTH,
	METRICS,
	ADAPTIVE,
	IN_TX,
	IN_TXCP,
	ANY_THREAD,
	HAS_CAPABILITIES,
	PEBS_ANY,
	PEBS_0,
	PEBS_1_TO_3,
	PEBS_FROM_1,
	PEBS_FROM_3,
	PEBS_FROM_4,
	PEBS_STORES,
	PEBS_OUTPUT,
	OFFCORE,
	OFFCORE_TWO,
	OFFCORE_NEHALEM,
	OFFCORE_LATER,	/* not Nehalem */
	OFFCORE_TO_BROADWELL,
	OFFCORE_TO_HASWELL,
	OFFCORE_FROM_HASWELL,
	OFFCORE_HASWELL,
	OFFCORE_FROM_BROADWELL,
	OFFCORE_BROADWELL,
	OFFCORE_SKYLAKE,
	OFFCORE_ICE_LAKE,
	OFFCORE_FROM_ICE_LAKE,
	OFFCORE_GOLDEN_COVE,
	TWO_THREADS,
	ONE_THREAD,
	NOT_LATER_THAN_2,
	FROM_MODEL_3,
	CASCADES_EXTENDED,
	STYLE_YONAH,
	STYLE_CORE2,
	STYLE_BONNELL,
	STYLE_680,
	STYLE_NEHALEM,
	STYLE_HASWELL,
	STYLE_SELECT,
	STYLE_CALL_STACK,
	STYLE_SKYLAKE,
	STYLE_ARCH,
	STYLE_TOS,
};

/* How many copies of it there are: one, or one for each general-purpose or fixed counter, 4, 8. */
enum msr_each { ONCE, EACH_GP, EACH_FIXED, EACH_4, EACH_8 };

enum { MSR_TO_WIDTH = 255, MSR_TO_FIXED_WIDTH = 254 };	/* msr_bits.high: the counters' last bit */
struct msr_bits {
	uint8_t high, low;
	const char *name, *help;	/* with %u for the copy's number if there are several */
	const struct spmu_field_value *value;
	uint8_t values;
	uint8_t each, step;		/* enum msr_each; bits from one copy to the next */
	uint8_t when;			/* enum msr_when */
};
struct msr_layout { const struct msr_bits *bits; size_t count; };

extern const struct msr_layout msr_gp_counter, msr_counter40, msr_fixed_counter, msr_evtsel, msr_p6_evtsel0,
	msr_p6_evtsel1, msr_fixed_ctrl, msr_global_ctrl, msr_global_status, msr_global_clear, msr_global_set, msr_inuse,
	msr_capabilities, msr_debugctl, msr_p6_debugctl, msr_p4_debugctl, msr_metrics, msr_pebs_enable, msr_data_cfg,
	msr_ld_lat, msr_frontend, msr_misc_enable, msr_address, msr_from, msr_pair, msr_info, msr_tos, msr_select,
	msr_lbr_ctl, msr_depth, msr_cesr, msr_escr, msr_cccr, msr_p4_pebs_enable, msr_p4_matrix, msr_precise, msr_lvt,
	msr_reload, msr_fixed_reload, msr_offcore, msr_pushout_capabilities, msr_pushout_status, msr_pushout_control,
	msr_pushout_load, msr_pushout_count, msr_pushout_stored, msr_pushout_is, msr_pushout_did,
	msr_threads_capabilities, msr_threads, msr_iq_threads;
#endif
