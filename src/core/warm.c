/* SPDX-License-Identifier: GPL-2.0-or-later
 * Functional warming of a core: predictors, caches and TLBs see an execution, and nothing else happens.
 *
 * The predictors see the branches, the memory sees the accesses, each in program order (script/warm_plan.h has both
 * lists).  A block that was cut, or left before an instruction that is tried again, does not fit its lists, and is
 * looked at instruction by instruction.
 */
#include "core/pipeline.h"
#include "core/frontend/frontend.h"
#include "core/script/script.h"
#include "core/script/warm_plan.h"
#include "core/smt.h"

/* The predictors learn a branch, behind which the execution goes on at `next`. */
static inline void warm_branch(struct core *c, const struct warm_branch *b, uint64_t next)
{
	const bool taken = !(b->flags & INSN_COND) || (next && next != b->fallthrough);
	c->warm_mispredicts += bpred_learn(c->bp, b->ip, b->flags, b->fallthrough, taken,
		b->target ? b->target : next ? next : b->fallthrough);
}

static inline void warm_path(struct core *c, const struct warm_path *path, uint64_t next_ip)
{
	const struct warm_branch *b = path->branch, *end = b + path->branches - path->last;
	for (; b < end; b++)
		warm_branch(c, b, b->next);
	if (path->last)
		warm_branch(c, b, next_ip);
}

/* Without a uop cache the lines of code are fetched; a trace cache has no windows, and any size does. */
static struct warm_code code_of(const struct core *c)
{
	const bool caches = c->config.dsb_sets && !c->config.frontend_simple;
	return (struct warm_code){ .line_log2 = c->fe.line_log2,
		.window_log2 = c->old.trace ? 6 : caches ? c->fe.window_log2 : 0, .hints = c->config.bpred_hints };
}

static inline const struct warm_plan *plan_of(const struct core *c, struct iblock *b)
{
	return LIKELY(b->core_warm != NULL) ? b->core_warm : warm_plan_make(b, code_of(c));
}

/* The front end sees the code: the uop cache notes that its windows were used, if it holds them.  If it does, a leader,
 * which is never timed, notes that for warm_held. */
static inline void warm_code(struct core *c, const struct iblock *b, const struct warm_plan *plan, struct warm_exit *x,
	const bool leader)
{
	if (UNLIKELY(c->old.trace != NULL)) {
		frontend_warm(c, b, 0, x->insns);
		c->warm.next = x->next;
		return;
	}
	struct frontend *fe = &c->fe;
	struct warm_window *w = plan->window, *const last = w + x->windows - 1;
	bool quick = !c->warm.decodes && fe->dsb_stamp < DSB_STAMPS, held = leader && x->windows && !c->st &&
		!c->config.dsb_straddle && !c->config.dsb_halves;	/* how a window was come to matters for these */
	for (; w <= last; w++) {
		const uint16_t entry = fe->dsb_hint[w->window & 255];
		struct dsb_entry *e = &fe->dsb[entry];
		const uint64_t mask = w == last ? x->last_mask : w->mask;
		if (LIKELY(e->window == w->window && !(mask & ~e->mask) && quick && !e->held)) {
			e->stamp = ++fe->dsb_stamp;
			c->warm.window = w->window;
			w->entry = entry;
		} else {
			frontend_warm(c, b, w->first, w->end < x->insns ? w->end : x->insns);
			quick = !c->warm.decodes;
			held = false;
		}
	}
	x->held = held ? c->warm.losses : 0;
	c->warm.next = x->next;
}

/* As warm_code, if warm_code found all windows of the execution in the uop cache, which has lost nothing since: they
 * are used once more, in the same order.  Else returns false. */
static inline bool warm_held(struct core *c, const struct warm_plan *plan, const struct warm_exit *x)
{
	struct frontend *fe = &c->fe;
	uint32_t stamp = fe->dsb_stamp;
	if (x->held != c->warm.losses || c->warm.decodes || UNLIKELY(stamp >= DSB_STAMPS))
		return false;
	struct dsb_entry *const dsb = fe->dsb;
	const struct warm_window *w = plan->window, *const last = w + x->windows - 1;
	for (; w < last; w++)
		dsb[w->entry].stamp = ++stamp;
	dsb[w->entry].stamp = ++stamp;
	fe->dsb_stamp = stamp;
	c->warm.window = w->window;
	c->warm.next = x->next;
	return true;
}

void core_predict(struct core *c, struct iblock *b, unsigned exit, unsigned insns, uint64_t next_ip)
{
	const struct warm_plan *plan = plan_of(c, b);
	const struct warm_exit *x = warm_plan_exit(plan, exit, insns);
	if (LIKELY(x != NULL)) {
		script_uppers(c, b, x->insns);
		warm_path(c, &plan->path[exit], next_ip);
		return;
	}
	core_executed(b, exit, &insns);
	script_uppers(c, b, insns);
	for (unsigned i = 0; i < insns && i < SCRIPT_BRANCHES; i++)
		if (b->insn[i].flags & INSN_BRANCH && !(b->insn[i].flags & INSN_FAR)) {
			const struct warm_branch one = warm_plan_branch(b, i, c->config.bpred_hints);
			warm_branch(c, &one, i + 1 < insns ? one.next : next_ip);
		}
}

static void warm_by_insn(struct core *c, const struct iblock *b, unsigned exit, unsigned insns, const uint64_t *slots)
{
	const unsigned nslots = core_executed(b, exit, &insns);
	const struct warm_code code = code_of(c);
	uint64_t line = WARM_NO_LINE;
	for (unsigned i = 0; i < insns; i++) {
		if (code.window_log2)
			frontend_warm(c, b, i, i + 1);
		struct warm_op op[1 + b->insn[i].slots];
		const struct warm_op *end = warm_plan_accesses(b, i, code, &line, op);
		while (end > op && end[-1].kind != WARM_FETCH && end[-1].slot >= nslots)
			end--;
		memsys_warm(c->mem, op, (size_t)(end - op), b->insn, slots);
		c->warm.next = b->insn[i].addr + b->insn[i].len;
	}
}

/* What is in flight in the core ends: the execution that comes is not timed. */
static inline void leave_timing(struct core *c)
{
	if (UNLIKELY(c->st != NULL))
		smt_enter(c);
	if (UNLIKELY(c->rep.active))
		rep_end(c, false);
	frontend_elsewhere(c);
}

void core_warm_memory(struct core *c, struct iblock *b, unsigned exit, unsigned insns, const uint64_t *slots)
{
	const struct warm_plan *plan = b->core_warm;	/* if core_predict made one */
	leave_timing(c);
	if (UNLIKELY(!warm_plan_exit(plan, exit, insns))) {
		warm_by_insn(c, b, exit, insns, slots);
		return;
	}
	struct warm_exit *x = &plan->exit[exit];
	warm_code(c, b, plan, x, false);
	memsys_warm(c->mem, plan->op, x->ops, b->insn, slots);
	x->times++;
}

void core_warm_line(struct core *c, uint64_t addr, bool code, bool written)
{
	const uint64_t step = c->fe.line_log2 < 6 ? UINT64_C(1) << c->fe.line_log2 : 64;
	for (uint64_t at = 0; at < 64; at += step)
		if (code)
			memsys_warm_fetch(c->mem, addr + at);
		else
			memsys_warm_data(c->mem, 0, addr + at, 8, written);
}

void core_warm_prefetchers(struct core *c, bool on)
{
	memsys_prefetchers(c->mem, on);
}

void core_warm_block(
	struct core *c, struct iblock *b, unsigned exit, unsigned insns, const uint64_t *slots, uint64_t next_ip)
{
	core_predict(c, b, exit, insns, next_ip);
	core_warm_memory(c, b, exit, insns, slots);
}

void core_warm_taught(struct core *c, struct iblock *b, unsigned exit, unsigned insns, const uint64_t *slots)
{
	const struct warm_exit *x = warm_plan_exit(plan_of(c, b), exit, insns);
	unsigned executed = insns;
	if (UNLIKELY(!x))
		core_executed(b, exit, &executed);
	script_uppers(c, b, executed);
	core_warm_memory(c, b, exit, insns, slots);
}

static inline void warm_rest(struct core *c, struct iblock *b, const struct warm_plan *plan, struct warm_exit *x,
	const uint64_t *slots, const bool leader)
{
	leave_timing(c);
	script_uppers(c, b, x->insns);
	warm_code(c, b, plan, x, leader);
	memsys_warm(c->mem, plan->op, x->ops, b->insn, slots);
	x->times++;
}

unsigned core_warm_whole(struct core *c, struct iblock *b, unsigned exit, const uint64_t *slots, uint64_t next_ip)
{
	const struct warm_plan *plan = plan_of(c, b);
	struct warm_exit *x = plan && LIKELY(exit < plan->exits) ? &plan->exit[exit] : NULL;
	if (UNLIKELY(!x || !x->insns)) {
		core_warm_block(c, b, exit, b->exit[exit].insns, slots, next_ip);
		return b->exit[exit].insns - (b->exit[exit].jump == ST_JUMP_REPEAT);
	}
	warm_path(c, &plan->path[exit], next_ip);
	warm_rest(c, b, plan, x, slots, false);
	return x->completed;
}

static __attribute__((noinline)) struct core_warmed warm_rest_general(struct core *c, struct iblock *b, unsigned exit,
	const uint64_t *slots)
{
	const struct warm_plan *plan = plan_of(c, b);
	if (UNLIKELY(!plan || exit >= plan->exits || !plan->exit[exit].insns))
		return (struct core_warmed){ NULL, 0 };
	struct warm_exit *const x = &plan->exit[exit];
	warm_rest(c, b, plan, x, slots, true);
	return (struct core_warmed){ &plan->path[exit], x->completed };
}

struct core_warmed core_warm_rest(struct core *c, struct iblock *b, unsigned exit, const uint64_t *slots)
{
	const struct warm_plan *plan = b->core_warm;
	if (UNLIKELY(!plan || exit >= plan->exits || !warm_held(c, plan, &plan->exit[exit])))
		return warm_rest_general(c, b, exit, slots);
	struct warm_exit *const x = &plan->exit[exit];
	if (UNLIKELY(b->vector != NULL))
		script_uppers(c, b, x->insns);
	x->times++;
	const struct core_warmed done = { &plan->path[exit], x->completed };
	memsys_warm(c->mem, plan->op, x->ops, b->insn, slots);
	return done;
}

void core_learn(struct core *c, const struct warm_path *const *path, size_t n, uint64_t next_ip)
{
	for (size_t i = 0; i + 1 < n; i++)
		warm_path(c, path[i], path[i + 1]->addr);
	if (n)
		warm_path(c, path[n - 1], next_ip);
}

unsigned core_take_times(struct iblock *b, unsigned exit, uint64_t *times)
{
	const struct warm_plan *plan = b->core_warm;
	*times = 0;
	if (!plan || exit >= plan->exits)
		return 0;
	*times = plan->exit[exit].times;
	plan->exit[exit].times = 0;
	return plan->exit[exit].insns;
}

bool core_counts_times(const struct iblock *b, unsigned exit, unsigned insns)
{
	return warm_plan_exit(b->core_warm, exit, insns);
}
