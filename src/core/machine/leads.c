/* SPDX-License-Identifier: GPL-2.0-or-later
 * Machines with one leader (leads.h).
 */
#include "core/machine/leads.h"
#include <string.h>

/* Warming reads none of these: latencies, widths, bandwidths, and the sizes of queues and buffers in flight.
 * tests/unit/core/test_core_leads.c changes each of them and looks at what warming leaves. */
#define TIMED_FIELDS(X) \
	/* caches, memory, page walks */ \
	X(l1d_latency) X(l1d_vector_extra) X(l1d_fill_buffers) X(l1d_split_penalty) X(l1d_page_split_penalty) \
	X(l1d_split_registers) X(l1i_fill_buffers) X(l1i_line_cycles) X(l2_latency) X(l2_code_latency) X(l2_queue) \
	X(l2_bandwidth_cycles) X(l2_writeback_lines) \
	X(l3_latency) X(l3_latency_ns) X(l3_line_ns) X(l3_snoop_ns) X(dram_latency_ns) \
	X(dram_row_empty_ns) X(dram_row_conflict_ns) X(dram_others_ns) X(dram_refresh_ns) \
	X(dram_refresh_interval_ns) X(dram_bandwidth) X(dram_line_ns) X(dram_write_ns) X(stlb_latency) \
	X(walk_walkers) X(walk_overhead) X(free_l1_miss) X(free_l2_miss) X(free_dtlb_miss) X(free_icache_miss) \
	X(free_store_miss) X(free_snoop) X(free_walk) X(free_forward) X(free_clear) \
	X(free_divide) X(free_serialize) X(free_latency) X(free_ports) \
	/* front end */ \
	X(dsb_width) X(mite_width) X(mite_switch) X(mite_latency) X(mite_lcp_penalty) X(ms_width) X(ms_enter) \
	X(ms_leave) X(lsd_size) X(lsd_width) X(lsd_iterations) X(idq_size) X(frontend_latency) X(frontend_resteer) \
	X(btb_l2_bubble) X(btb_call_bubble) X(btb_indirect_bubble) X(recovery_redirect) X(recovery_stall) \
	/* rename, scheduler, retirement */ \
	X(alloc_width) X(rob_size) X(load_buffer_size) X(store_buffer_size) X(prf_integer) X(pause_cycles) X(rs_size) \
	X(rs_load_size) X(rs_store_size) X(rs_dispatch_delay) X(ports_off) X(retire_width) X(retire_latency) \
	X(eliminate_moves) X(eliminate_zero_idioms) X(eliminate_constants) X(eliminate_cycles) \
	/* execution, loads and stores */ \
	X(bypass_delay) X(bypass_fp_add) X(divide_latency) X(divide_bits) X(divide_wide) X(divide_overlap) \
	X(forward_latency) X(forward_blocked) X(forward_renamed) X(forward_renamed_stores) X(forward_vector_extra) \
	X(forward_gap) X(alias_penalty) X(disambiguation_limit) X(disambiguation_initial) X(store_commit_delay) \
	X(store_commit_width) X(lock_penalty) \
	/* clears and assists */ \
	X(clear_cycles) X(clear_smc_cycles) X(sse_avx_cycles) X(fp_assist_cycles) X(hle_abort_cycles)

static bool same_fall(const struct core_fall *a, const struct core_fall *b)
{
	return a->points == b->points && !memcmp(a->at, b->at, a->points * sizeof *a->at) &&
		!memcmp(a->per_cent, b->per_cent, a->points * sizeof *a->per_cent);
}

bool core_config_same(const struct core_config *a, const struct core_config *b)
{
	bool same = !strcmp(a->uops, b->uops);
#define FIELD_INT(id, key, min, max, unit, help) same &= a->id == b->id;
#define FIELD_REAL(id, key, min, max, unit, help) same &= !(a->id < b->id) && !(a->id > b->id);
#define FIELD_ENUM(id, key, names, help) same &= a->id == b->id;
#define FIELD_FALL(id, key, unit, help) same &= same_fall(&a->id, &b->id);
#include "core/machine/fields.def"
	return same;
}

void core_config_time_like(struct core_config *to, const struct core_config *from)
{
#define LIKE(id) to->id = from->id;
	TIMED_FIELDS(LIKE)
}

bool core_config_leads_alike(const struct core_config *a, const struct core_config *b)
{
	struct core_config timed = *a;
	core_config_time_like(&timed, b);
	return core_config_same(&timed, b);
}

bool core_config_predict_alike(const struct core_config *of, const struct core_config *b)
{
	struct core_config timed = *of;
	const struct core_config *const a = &timed;
	bool same = !strcmp(a->uops, b->uops);
	core_config_time_like(&timed, b);
	/* predictors are made of these fields alone (bpred_create), and learn from nothing but branches */
#define FIELD_INT(id, key, min, max, unit, help) same &= a->id == b->id;
#define FIELD_ENUM(id, key, names, help) same &= a->id == b->id;
#define FIELD_DEFAULT(key, value)
#include "core/machine/fields_bpred.def"
#undef FIELD_INT
#undef FIELD_ENUM
#undef FIELD_DEFAULT
	return same;
}

const char *core_config_timed_field(unsigned k)
{
	static const struct { const char *id, *key; } field[] = {
#define FIELD_INT(id, key, min, max, unit, help) { #id, key },
#define FIELD_REAL(id, key, min, max, unit, help) { #id, key },
#define FIELD_ENUM(id, key, names, help) { #id, key },
#define FIELD_FALL(id, key, unit, help) { #id, key },
#include "core/machine/fields.def"
	};
#define ID(id) #id,
	static const char *const timed[] = { TIMED_FIELDS(ID) };
	for (size_t i = 0; k < sizeof timed / sizeof *timed && i < sizeof field / sizeof *field; i++)
		if (!strcmp(field[i].id, timed[k]))
			return field[i].key;
	return NULL;
}
