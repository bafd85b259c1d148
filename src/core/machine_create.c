/* SPDX-License-Identifier: GPL-2.0-or-later
 * A machine: its description and what its cores share.  Leaves out: sockets, clusters, frequency changes.
 */
#include "core/pipeline.h"
#include <stdlib.h>

int machine_create(struct machine **out, const struct core_config *config, struct err *err)
{
	int code = core_config_check(config, err);
	if (code)
		return code;
	struct machine *m = calloc(1, sizeof *m);
	if (!m)
		return err_set(err, ERR_NOMEM, "out of memory for a machine");
	m->config = *config;
	code = memsys_shared_create(&m->shared, &m->config, err);
	if (code) {
		free(m);
		return code;
	}
	*out = m;
	return 0;
}

void machine_destroy(struct machine *m)
{
	if (!m)
		return;
	memsys_shared_destroy(m->shared);
	free(m);
}

void machine_map(struct machine *m, uint64_t addr, uint64_t bytes, bool huge)
{
	memsys_shared_map(m->shared, addr, bytes, huge);
}

int machine_replaces(struct machine *m, const struct machine *of, struct err *err)
{
	m->losses = of->losses;	/* what blocks have noted of uop caches (warm.c) does not hold for those of this one */
	return memsys_shared_map_like(m->shared, of->shared, err);
}

void machine_leads(struct machine *leader)
{
	memsys_shared_leads(leader->shared);
}

int machine_copy(struct machine *to, const struct machine *leader, struct err *err)
{
	return memsys_shared_copy(to->shared, leader->shared, err);
}

void machine_pass(struct machine *leader, uint64_t cycle)
{
	memsys_shared_pass(leader->shared, cycle);
}

void core_isa_options(const struct core_config *config, struct isa_options *out)
{
	enum { MOVES_NONE, MOVES_VECTOR, MOVES_ALL };
	*out = (struct isa_options){
		.micro_fusion = config->fusion_micro,
		.macro_fusion = config->fusion_macro,
		.unlaminate = config->fusion_unlaminate,
		.moves = config->eliminate_moves == MOVES_ALL,
		.vector_moves = config->eliminate_moves != MOVES_NONE,
		.zero_idioms = config->eliminate_zero_idioms,
		.apart_partial_flags = !config->fusion_partial_flags,
		.apart_immediate = !config->fusion_immediate,
		.apart_widening = !config->fusion_widening,
		.apart_pshufb = !config->fusion_pshufb,
		.blend_first = config->issue_blend_first,
		.moves_limited = config->eliminate_slots,
		.constants = config->eliminate_constants,
		.domains = config->bypass_delay || config->bypass_fp_add,
		.fp_adder = config->bypass_fp_add,
		.renamed_loads = config->forward_renamed || config->forward_renamed_stores,
		.renamed_by_address = config->forward_renamed_stores,
		.renamed_stack = config->forward_renamed_stack,
		.renamed_few = config->forward_renamed_few && config->forward_renamed,
		.nops_share = config->fusion_nop,
		.slow_ports = config->sustain_rate ? (uint16_t)config->sustain_slow_ports : 0,
		.slow_latency = (uint16_t)config->sustain_latency,
		.banked_loads = config->l1d_banks || config->l1d_bank_reads,
		.high_bytes = config->partial_high_ports,
		.flags_ports = (uint16_t)config->partial_flags_ports,
		.bytes = config->partial_stall,
		.laminated = config->dsb_laminated,
		.elides = config->hle,
		.free_lock = config->free_lock,
		.free_divide = config->free_divide,
		.free_serialize = config->free_serialize,
		.free_latency = config->free_latency,
		.free_ports = config->free_ports,
	};
}
