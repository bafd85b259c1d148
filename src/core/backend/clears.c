/* SPDX-License-Identifier: GPL-2.0-or-later
 * Machine clears and assists; what is modelled: clears.h. */
#include "core/backend/added_uop.h"
#include "core/backend/clears.h"
#include "core/backend/elision.h"
#include "core/backend/rename.h"
#include "core/backend/retire.h"
#include "core/backend/scheduler.h"
#include "core/record/uop_record.h"
#include "core/script/script.h"
#include "core/smt.h"
#include <string.h>

void clears_init(struct core *c)
{
	c->e.owner = c;
	c->e.code_written = clears_code_written;
	c->e.snooped = clears_snooped;
	c->e.line_taken = elision_line_taken;
	c->e.line_left = elision_line_left;
}

/* The set of enum st_assist for which this core's microcode assists. */
static uint16_t fp_assists(const struct core_config *f)
{
	enum { NONE, MULTIPLY, ALL };
	const unsigned fast = ST_ASSIST_ADD_IN | ST_ASSIST_ADD_OUT | ST_ASSIST_COMPARE_IN,
		more = ST_ASSIST_X87_OVERFLOW | ST_ASSIST_STACK_UNDERFLOW | ST_ASSIST_STACK_OVERFLOW;
	unsigned set = ST_ASSIST_SIMD_IN | ST_ASSIST_SIMD_OUT | ST_ASSIST_X87_IN | ST_ASSIST_X87_OUT;
	if (f->fp_assist == NONE)
		return 0;
	if (f->fp_assist == MULTIPLY)
		set &= ~fast;
	return (uint16_t)(set | (f->fp_assist_x87 ? more : 0));
}

void clears_reset(struct core *c)
{
	const bool watching = c->cl.watching;
	memset(&c->cl, 0, sizeof c->cl);
	c->cl.watching = watching;
	c->cl.follows_uppers = c->config.sse_avx;
	c->cl.blends = c->config.sse_avx == 2;
	c->cl.fp_assists = fp_assists(&c->config);
}

/* Everything behind `cycle` is thrown away, and fetch is redirected `later` cycles after it. */
static uint64_t machine_clear(
	struct core *c, enum spmu_signal signal, uint64_t cycle, uint32_t later, uint64_t ip, uint64_t addr)
{
	emit_signal_at(&c->e, signal, cycle, cycle, 1, ip, addr);
	emit_signal(&c->e, SPMU_SIG_RECOVERY, cycle, cycle + later, 1);
	core_redirect(c, cycle + later);
	return cycle + later + c->config.recovery_redirect;
}

uint64_t clears_passed_store(struct core *c, uint64_t ip, uint64_t addr, uint64_t known)
{
	const uint64_t cycle = max64(known, c->e.now) + 1;
	return machine_clear(c, SPMU_SIG_CLEAR_MEMORY_ORDER, cycle, c->config.clear_cycles, ip, addr) +
		c->rn.frontend_latency + c->rn.dispatch_delay;
}

void clears_passed_free(struct core *c, uint64_t ip, uint64_t addr, uint64_t known)
{
	const uint64_t cycle = max64(known, c->e.now) + 1;
	emit_signal_at(&c->e, SPMU_SIG_CLEAR_MEMORY_ORDER, cycle, cycle, 1, ip, addr);
}

/* A clear waits for the next instruction, which comes to frontend_enter and from there to clears_take. */
static void wait(struct core *c, enum spmu_signal signal, uint64_t ip, uint64_t addr)
{
	struct clears *cl = &c->cl;
	if (UNLIKELY(c->config.free_clear)) {
		emit_signal_at(&c->e, signal, c->e.now + 1, c->e.now + 1, 1, ip, addr);
		return;
	}
	cl->pending = true;
	cl->signal = signal;
	cl->ip = ip;
	cl->addr = addr;
	frontend_elsewhere(c);
	c->fe.loop_active = false;
}

void clears_code_written(void *core, uint64_t addr, uint32_t size, bool timed)
{
	struct core *c = core;
	const uint32_t bytes = c->config.clear_smc_bytes;
	uint64_t first = addr & ~(uint64_t)(bytes - 1), last = (addr + (size ? size - 1 : 0)) | (bytes - 1);
	frontend_discard(c, first, last - first + 1);
	if (c->config.clear_smc && timed)
		wait(c, SPMU_SIG_CLEAR_SMC, 0, addr);
}

static void snooped(struct core *c, uint64_t vline, uint64_t cycle)
{
	struct clears *cl = &c->cl;
	const struct watched *hit = NULL;
	if (!c->config.clear_snoop)
		return;
	if (!cl->watching) {	/* remember loads from now on */
		cl->watching = true;
		core_choose_steps(c);
		return;
	}
	for (uint32_t back = 1; back <= c->rn.lb_size && back <= c->rn.loads; back++) {
		uint32_t at = (c->rn.loads - back) & (LOAD_RING - 1);
		if (c->rn.lb[at] <= cycle + 1)	/* it has retired, and so have those before it */
			break;
		const struct watched *w = &cl->load[at];
		if (w->addr >> 6 == vline && w->complete <= cycle)
			hit = w;	/* keeps the oldest */
	}
	if (hit)
		wait(c, SPMU_SIG_CLEAR_MEMORY_ORDER, hit->ip, hit->addr);
}

void clears_snooped(void *core, uint64_t vline, uint64_t cycle)
{
	struct core *c = core;
	if (LIKELY(!c->st))
		snooped(c, vline, cycle);
	for (unsigned i = 0; c->st && i < SMT_MOST; i++)	/* all hardware threads of the core had the line */
		if (c->st->smt->thread[i])
			snooped(c->st->smt->thread[i], vline, cycle);
}

void clears_take(struct core *c)
{
	struct clears *cl = &c->cl;
	const bool smc = cl->signal == SPMU_SIG_CLEAR_SMC;
	cl->pending = false;
	if (smc)		/* behind the store, when the store is written */
		machine_clear(c, cl->signal, c->e.now + c->config.store_commit_delay, c->config.clear_smc_cycles,
			cl->ip, cl->addr);
	else
		machine_clear(c, cl->signal, c->e.now + 1, c->config.clear_cycles, cl->ip, cl->addr);
}

void clears_assist(struct core *c, enum spmu_did kind, uint64_t ip)
{
	uint64_t begin = c->e.now + 1, end = begin + c->config.sse_avx_cycles;
	emit_signal_at(&c->e, SPMU_SIG_ASSIST, begin, begin, 1, ip, 0);
	rename_serialize(&c->rn, end);
	c->fe.did |= UINT64_C(1) << kind;
}

void clears_fp_assist(struct core *c, unsigned why, uint64_t ip)
{
	/* an instruction with several reasons is assisted once: its inputs are seen first */
	static const struct { uint8_t attribute, did; } kind[SCRIPT_FP_KINDS] = {
		{ SPMU_ATTR_ASSIST_STACK_UNDERFLOW, SPMU_DID_ASSIST_FP_INPUT },
		{ SPMU_ATTR_ASSIST_STACK_OVERFLOW, SPMU_DID_ASSIST_FP_OUTPUT },
		{ SPMU_ATTR_ASSIST_X87_INPUT, SPMU_DID_ASSIST_FP_INPUT },
		{ SPMU_ATTR_ASSIST_X87_OVERFLOW, SPMU_DID_ASSIST_FP_OUTPUT },
		{ SPMU_ATTR_ASSIST_X87_OUTPUT, SPMU_DID_ASSIST_FP_OUTPUT },
		{ SPMU_ATTR_ASSIST_SIMD_INPUT, SPMU_DID_ASSIST_FP_INPUT },
		{ SPMU_ATTR_ASSIST_SIMD_OUTPUT, SPMU_DID_ASSIST_FP_OUTPUT },
	};
	const unsigned first = (unsigned)__builtin_ctz(why);
	const uint64_t begin = c->e.now + 1;
	emit_attributes(&c->e, SPMU_SIG_FP_ASSIST, begin, begin, 1, UINT64_C(1) << kind[first].attribute);
	if (emit_wanted(&c->e, SPMU_SIG_FP_ASSIST))
		c->e.record[c->e.count - 1].ip = ip;
	rename_serialize(&c->rn, begin + c->config.fp_assist_cycles);
	c->fe.did |= UINT64_C(1) << kind[first].did;
}

void clears_blend_begin(const struct core *c, const struct uop *u, unsigned uops, struct blend *b)
{
	b->regs = 0;
	for (; uops--; u++)
		for (unsigned k = 0; k < sizeof u->dst; k++) {
			const uint8_t reg = u->dst[k];
			if ((uint8_t)(reg - REG_VEC) >= REG_X87 - REG_VEC || b->regs == BLENDS ||
				memchr(b->reg, reg, b->regs))
				continue;
			b->reg[b->regs] = reg;
			b->upper[b->regs++] = c->reg[reg];
		}
}

void clears_blend_end(struct core *c, const struct insn *in, const struct blend *b)
{
	for (unsigned i = 0; i < b->regs; i++)
		c->reg[b->reg[i]] = added_uop(c, in, SPMU_IS(VECTOR_BLEND), c->config.sse_avx_ports & c->sc.port_mask,
			max64(c->reg[b->reg[i]], b->upper[i]));
}
