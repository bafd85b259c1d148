/* SPDX-License-Identifier: GPL-2.0-or-later
 * The core's life: it is created, runs scripts of blocks, drains, halts, changes threads, is reset and
 * destroyed.
 *
 * The pipeline itself is elsewhere: steps.c runs a script, slot.h and general.c send slots through the stages.
 * Models here: serialisation, halts, and what an interrupt costs the program (core_interrupt: time, and lines
 * of code and data that the handler brings into the caches).
 * Leaves out: the handler's own instructions; the rotation of the x87 stack from one block to the next
 * (registers are named relative to the top of the stack at each block's entry).
 */
#include "core/backend/clears.h"
#include "core/backend/eliminate.h"
#include "core/backend/elision.h"
#include "core/backend/lsq.h"
#include "core/backend/partial_regs.h"
#include "core/frontend/frontend.h"
#include "core/script/script.h"
#include "core/smt.h"
#include "core/wrongpath/walker.h"
#include <stdlib.h>
#include <string.h>

bool core_rep_goes_on(const struct core *c, const uint64_t *script)
{
	const uint64_t first = script[1];
	switch (first & SCRIPT_KIND) {
	case SCRIPT_END:
		return false;
	case STEP_GENERAL:
		return c->rep.addr ==
			((const struct iblock *)script_end(script)[0])->insn[(uint32_t)first >> SCRIPT_INDEX].addr;
	default:
		return c->rep.addr == script_step(first)->ip;
	}
}

void core_run_script(struct core *c, const uint64_t *w)
{
	c->steps(c, w);
}

const uint64_t *core_run_scripts(struct core *c, const uint64_t *op, const uint64_t *end, const uint64_t *stop)
{
	c->follow.end = c->st ? op + 1 : end;	/* hardware threads of a core take turns */
	c->follow.stop = stop;
	c->follow.steps = c->steps;
	c->steps(c, op + SCRIPT_OP_WORDS);
	c->follow.end = NULL;
	return c->follow.next;
}

void core_run_block(
	struct core *c, struct iblock *b, unsigned exit, unsigned insns, const uint64_t *slots, uint64_t next_ip)
{
	uint64_t script[core_script_room(b) + (c->walker ? CORE_SCRIPT_WALK : 0)];
	core_script(c, b, exit, insns, slots, next_ip, script);
	core_run_script(c, script);
}

void core_set_walker(struct core *c, struct walker *w)
{
	c->walker = w;
	c->walked = w ? walker_ran(w) : NULL;
	rename_rings(c, w || c->config.wrong_path);
}

/* Called before anything that may reach memory, except scripts: these enter by themselves. */
static inline void enter(struct core *c)
{
	if (UNLIKELY(c->st != NULL))
		smt_enter(c);
}

void core_flush(struct core *c, bool last)
{
	if (last) {
		enter(c);
		if (c->rep.active)
			rep_end(c, false);
		lsq_drain(c);
		elision_reset(c);
		emit_stop(&c->e, max64(c->e.watermark, c->e.now));
	}
	emit_flush(&c->e, last);
}

void core_discard_code(struct core *c, uint64_t addr, uint64_t bytes)
{
	frontend_discard(c, addr, bytes);
}

uint64_t core_now(const struct core *c)
{
	return c->e.now;
}

uint64_t core_instructions(const struct core *c)
{
	return c->instructions;
}

/* Bits that only branches' records have. */
static const uint64_t branch_is =
	SPMU_IS(BRANCH) | SPMU_IS(COND) | SPMU_IS(CALL) | SPMU_IS(RET) | SPMU_IS(INDIRECT) | SPMU_IS(FAR);
static const uint64_t branch_did =
	SPMU_DID(TAKEN) | SPMU_DID(MISPREDICTED) | SPMU_DID(MISP_TARGET) | SPMU_DID(BTB_MISS);

/* These bits ask for records of branches only. */
static bool wants_branches(uint64_t is, uint64_t did)
{
	return !(is & ~branch_is) && !(did & ~branch_did);
}

void core_choose_steps(struct core *c)
{
	const bool branches = wants_branches(c->e.wanted_is, c->e.wanted_did);
	const enum steps_for what = !branches ? STEPS_ALL : c->config.prf_integer ? STEPS_QUIET_RESULTS : STEPS_QUIET;
	const bool sse4 = __builtin_cpu_supports("sse4.1");
	c->steps = c->cl.watching ? core_steps_watched(what) : sse4 ? core_steps_sse4(what) : NULL;
	const enum steps_for wrong = branches ? STEPS_WRONG_QUIET : STEPS_WRONG;
	c->wrong_steps = sse4 ? core_steps_sse4(wrong) : NULL;
	if (!c->steps)
		c->steps = core_steps(what);
	if (!c->wrong_steps)
		c->wrong_steps = core_steps(wrong);
	if (c->st) {
		c->cl.watching = true;
		c->smt_steps = core_steps_smt(what);
		c->steps = smt_steps;
	}
	if (c->hle.on) {
		c->hle.steps = c->steps;
		c->steps = elision_steps;
	}
}

struct core_wanted core_wanted_both(struct core_wanted a, struct core_wanted b)
{
	return (struct core_wanted){ .signal = { a.signal[0] | b.signal[0], a.signal[1] | b.signal[1] },
		.is = a.is | b.is, .did = a.did | b.did, .outcomes = a.outcomes | b.outcomes,
		.assists = a.assists | b.assists, .detail = a.detail | b.detail };
}

void core_want(struct core *c, const struct core_wanted *w)
{
	if (wants_branches(c->e.wanted_is, c->e.wanted_did))
		c->fe.did = 0;	/* no record has taken these bits */
	c->e.wanted[0] = w->signal[0];
	c->e.wanted[1] = w->signal[1];
	c->e.wanted_is = w->is;
	c->e.wanted_did = w->did;
	c->e.detail = w->detail && !c->st && !c->old.any;
	c->pa.general |= c->e.detail;
	core_choose_steps(c);
	c->e.span = w->is == ~UINT64_C(0) ? EMIT_SPAN : EMIT_SPAN_SPARSE;
}

/* Everything in flight has completed; the next instruction is fetched at `cycle`. */
static void restart(struct core *c, uint64_t cycle)
{
	frontend_forget(c);
	c->fe.cycle = max64(c->fe.cycle, cycle);
	c->fe.pd = c->fe.cycle;
	c->q.advanced = max64(c->q.advanced, cycle);
	c->rn.barrier = max64(c->rn.barrier, cycle);
	c->rn.bubble_floor = max64(c->rn.bubble_floor, cycle);
	c->e.now = max64(c->e.now, cycle);
	c->retire_next = c->e.now << RETIRE_SHIFT;
	c->e.watermark = c->e.cycles_from = cycle;
}

uint64_t core_clock(const struct core *c)
{
	return max64(c->rn.cycle, c->rn.barrier);
}

void core_hold(struct core *c, uint64_t cycle)
{
	c->rn.quick = 0;
	c->rn.barrier = max64(c->rn.barrier, cycle);
}

void core_settle(struct core *c)
{
	enter(c);
	while (c->q.head != c->q.tail && !(c->q.wants_data && c->q.head + 1 == c->q.tail))
		lsq_commit(c);
}

void core_passes(struct core *c)
{
	elision_reset(c);
}

void core_leave(struct core *c)
{
	enter(c);
	if (c->rep.active)
		rep_end(c, false);
	lsq_drain(c);
	elision_interrupt(c);
	emit_stop(&c->e, max64(c->e.watermark, c->e.now));
	emit_flush(&c->e, false);
}

void core_switch_to(struct core *c, void *context, uint64_t cycle)
{
	core_leave(c);
	c->e.context = context;
	memset(c->reg, 0, sizeof c->reg);
	restart(c, max64(cycle, c->e.now));
	c->e.base = c->e.watermark;
}

void core_halt_until(struct core *c, uint64_t cycle)
{
	if (cycle <= c->e.now)
		return;
	enter(c);
	if (c->rep.active)
		rep_end(c, false);
	lsq_drain(c);
	elision_interrupt(c);
	emit_stop(&c->e, cycle);
	emit_flush(&c->e, false);	/* the batch ends here; the next one is based behind the gap */
	restart(c, cycle);
}

/* The handler uses the same lines each time, at addresses where Linux has its text and its direct map. */
void core_interrupt(struct core *c, uint64_t cycles, unsigned lines)
{
	enter(c);
	if (c->rep.active)	/* its last cycles are the program's */
		rep_end(c, false);
	core_halt_until(c, c->e.now + cycles);
	frontend_elsewhere(c);
	for (unsigned i = 0; i < lines; i++) {
		memsys_warm_fetch(c->mem, UINT64_C(0xffffffff81000000) + 64 * i);
		memsys_warm_data(c->mem, 0, UINT64_C(0xffff888000000000) + 64 * i, 8, true);
	}
}

static void drain(struct core *c, uint64_t least)
{
	enter(c);
	if (c->rep.active)
		rep_end(c, false);
	c->e.now = max64(c->e.now + least, lsq_drain(c));
	elision_interrupt(c);
	emit_stop(&c->e, c->e.now);
	emit_flush(&c->e, false);
	restart(c, c->e.now);
}

void core_serialize(struct core *c)
{
	drain(c, 1);
}

void core_drain(struct core *c)
{
	drain(c, 0);
}

static void reset(struct core *c, uint64_t cycle)
{
	memset(c->reg, 0, sizeof c->reg);
	frontend_reset(c, cycle);
	rename_reset(c, cycle);
	scheduler_reset(c, cycle);
	lsq_reset(c, cycle);
	older_reset(c);
	eliminate_reset(c);
	partial_reset(c);
	clears_reset(c);
	elision_reset(c);
	c->by = (struct bypass){
		.delay = c->config.bypass_delay, .ports = c->config.bypass_ports, .fp_add = c->config.bypass_fp_add
	};
	c->retire_next = cycle << RETIRE_SHIFT;
	c->rep.active = c->rep.pending = false;
	c->e.count = c->e.hold = c->e.instructions = 0;
	memset(c->e.run, 0, sizeof c->e.run);
	c->e.open = 0;
	c->e.busy = false;
	c->e.base = c->e.watermark = c->e.now = c->e.cycles_from = cycle;
}

void core_reset(struct core *c, uint64_t cycle)
{
	core_flush(c, true);
	if (!c->st || c->st->smt->members == 1) {
		memsys_reset(c->mem);
		bpred_reset(c->bp);
	}
	reset(c, cycle);
}

unsigned core_hw_thread(const struct core *c)
{
	return c->e.hw_thread;
}

static int create(
	struct core **out, struct machine *m, struct core *of, core_emit *emit, void *context, struct err *err)
{
	struct core *c = aligned_alloc(CORE_APART, sizeof *c);
	if (!c)
		return err_set(err, ERR_NOMEM, "out of memory for a core");
	memset(c, 0, sizeof *c);
	c->config = m->config;
	c->machine = m;
	c->retire_width = m->config.retire_width;
	c->retire_latency = m->config.retire_latency;
	c->e.emit = emit;
	c->e.context = context;
	clears_init(c);
	c->e.record = malloc(SPMU_BATCH_MAX * sizeof *c->e.record);
	core_want(c,
		&(struct core_wanted){
			.signal = { ~UINT64_C(0), ~UINT64_C(0) }, .is = ~UINT64_C(0), .did = ~UINT64_C(0) });
	int code = c->e.record ? older_init(c, err) : err_set(err, ERR_NOMEM, "out of memory for a core's records");
	if (!code)
		code = frontend_init(c, err);
	if (!code)
		code = scheduler_init(c, err);
	if (!code)
		code = elision_init(c, err);
	if (!code && of)
		code = smt_join(of, c, err);
	if (!code && of) {
		c->mem = of->mem;
		c->bp = of->bp;
	}
	if (!code && !of)
		code = memsys_create(&c->mem, m->shared, &m->config, &c->e, err);
	if (!code && !of)
		code = bpred_create(&c->bp, &m->config, err);
	if (code) {
		core_destroy(c);
		return code;
	}
	core_choose_steps(c);
	reset(c, 0);
	*out = c;
	return 0;
}

int core_create(struct core **out, struct machine *m, core_emit *emit, void *context, struct err *err)
{
	return create(out, m, NULL, emit, context, err);
}

int core_create_thread(struct core **out, struct core *of, core_emit *emit, void *context, struct err *err)
{
	return create(out, of->machine, of, emit, context, err);
}

void core_destroy(struct core *c)
{
	if (!c)
		return;
	elision_reset(c);
	bool last = !c->st || smt_leave(c);
	if (c->bp && last)
		bpred_destroy(c->bp);
	if (c->mem && last)
		memsys_destroy(c->mem);
	scheduler_release(c);
	frontend_release(c);
	older_release(c);
	elision_release(c);
	free(c->e.record);
	free(c);
}
