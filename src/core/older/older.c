/* SPDX-License-Identifier: GPL-2.0-or-later
 * Sets up the mechanisms of older cores that a core has; older.h lists them. */
#include "core/pipeline.h"
#include <stdlib.h>
#include <string.h>

int older_init(struct core *c, struct err *err)
{
	const struct core_config *f = &c->config;
	struct older *o = &c->old;
	*o = (struct older){
		.inorder = f->inorder, .double_speed = f->alu_double_speed, .reads = f->rename_register_reads,
		.replay = f->replay_cycles, .loop_insns = f->lsd_predecode, .commit_cycles = f->store_commit_cycles,
		.commit_group = f->store_commit_group,
	};
	o->any = o->inorder || o->double_speed || o->reads || o->replay || f->trace_sets;
	if (f->trace_sets) {
		o->trace = calloc((size_t)f->trace_sets * f->trace_ways, sizeof *o->trace);
		if (!o->trace)
			return err_set(err, ERR_NOMEM, "out of memory for the trace cache");
	}
	return 0;
}

void older_release(struct core *c)
{
	free(c->old.trace);
}

void older_reset(struct core *c)
{
	struct older *o = &c->old;
	const struct older is = {
		.any = o->any, .inorder = o->inorder, .double_speed = o->double_speed, .reads = o->reads,
		.replay = o->replay, .loop_insns = o->loop_insns, .commit_cycles = o->commit_cycles,
		.commit_group = o->commit_group, .trace = o->trace,
		.line = TRACE_NONE, .building = TRACE_NONE, .elder = UINT8_MAX,
	};
	*o = is;
	if (o->trace)
		memset(o->trace, 0, (size_t)c->config.trace_sets * c->config.trace_ways * sizeof *o->trace);
}
