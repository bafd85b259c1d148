/* SPDX-License-Identifier: GPL-2.0-or-later
 * Changes a machine's features while programs run on it (core.h, machine_resize).
 *
 * Models: every core drains, as for a serialising instruction.  What gets another size or policy is made anew
 * and is empty; everything else goes on as it was.  Modified lines of a cache that is made anew are written
 * back (memsys_resize.c).
 * Leaves out: the time that this takes beyond draining.
 */
#include "core/backend/clears.h"
#include "core/backend/eliminate.h"
#include "core/frontend/frontend.h"
#include "core/backend/lsq.h"
#include "core/backend/rename.h"
#include "core/backend/scheduler.h"
#include "core/smt.h"
#include "core/wrongpath/walker.h"
#include <stdlib.h>
#include <string.h>

#define SAME(field) (was.field == to->field)

static int resize_front(struct core *c, const struct core_config *to, struct err *err)
{
	const struct core_config was = c->config;
	struct trace_line *trace = c->old.trace;
	int rc = 0;
	c->config = *to;
	if (!SAME(dsb_sets)) {
		rc = frontend_init(c, err);
		if (rc)
			c->config.dsb_sets = was.dsb_sets;
		else
			frontend_reset(c, max64(c->fe.cycle, c->e.now));
	}
	c->fe.idq_back = to->idq_size * SLOT_STEP;
	c->fe.loop_buffer = to->lsd_size || to->lsd_predecode;
	if (!rc && (!SAME(trace_sets) || !SAME(lsd_predecode))) {
		rc = older_init(c, err);
		if (rc)
			c->old.trace = NULL;
		free(trace);
		older_reset(c);
	}
	frontend_forget(c);
	return rc;
}

/* Everything in flight has completed. */
static int resize_core(struct core *c, const struct core_config *to, struct err *err)
{
	const struct core_config was = c->config;
	const uint64_t now = c->e.now;
	int rc = resize_front(c, to, err);
	if (c->walker)
		walker_converge(c->walker, to->wrong_path_converge);
	if (!SAME(rob_size) || !SAME(load_buffer_size) || !SAME(prf_integer) || !SAME(idq_size)) {
		rename_reset(c, now);
		core_choose_steps(c);
	}
	if (!SAME(rs_size) || !SAME(rs_load_size) || !SAME(rs_store_size) || !SAME(ports_off))
		scheduler_reset(c, now);
	if (!SAME(store_buffer_size) || !SAME(disambiguation_limit) || !SAME(forward_renamed) ||
		!SAME(forward_renamed_stores) || !SAME(forward_renamed_few))
		lsq_reset(c, now);
	if (!SAME(eliminate_moves) || !SAME(eliminate_constants))
		eliminate_reset(c);
	if (c->st) {
		c->st->smt->active = 0;		/* core_smt_share will divide anew */
		if (!SAME(ras_depth))
			c->st->stack = (struct ras){ .depth = to->ras_depth };
	}
	return rc;
}

int machine_resize(
	struct machine *m, struct core *const *core, size_t cores, const struct core_config *to, struct err *err)
{
	const struct core_config was = m->config;
	int rc = core_config_check(to, err);
	for (size_t i = 0; i < cores; i++)
		core_drain(core[i]);
	for (size_t i = 0; i < cores && !rc; i++) {
		bool again = false;	/* another hardware thread of this core was done before */
		for (size_t k = 0; k < i; k++)
			again |= core[k]->mem == core[i]->mem;
		if (!again)
			rc = bpred_resize(core[i]->bp, &was, to, err);
		if (!rc && !again)
			rc = memsys_resize(core[i]->mem, to, core[i]->e.now, err);
		if (!rc)
			rc = resize_core(core[i], to, err);
	}
	if (!rc && cores)
		rc = memsys_shared_resize(m->shared, core[0]->mem, &was, to, core[0]->e.now, err);
	m->config = *to;
	return rc;
}

void core_note_write(struct core *c, uint32_t msr, uint64_t value)
{
	if (!emit_wanted(&c->e, SPMU_SIG_FEATURE_WRITE))
		return;
	emit_signal_at(&c->e, SPMU_SIG_FEATURE_WRITE, c->e.now, c->e.now, 1, 0, value);
	c->e.record[c->e.count - 1].unit = msr;
}
