/* SPDX-License-Identifier: GPL-2.0-or-later
 * Half cycles, replay, trace cache; what is modelled: netburst_core.h. */
#include "core/older/netburst_core.h"
#include "core/backend/scheduler.h"
#include <string.h>

/* SET_LOG2: the set of a line comes from its head's address, from this bit on: GUESS; straight code that just fits,
 * with heads at chosen distances, would settle it. */
enum { FIRST_HALF = 0x03, SECOND_HALF = 0x30, REPLAYS_MAX = 16, SET_LOG2 = 4 };

/* --- half cycles --- */
unsigned netburst_half(const struct core *c, const struct uop *u, uint64_t floor, uint64_t *ready)
{
	const struct older *o = &c->old;
	const struct scheduler *s = &c->sc;
	uint64_t half = 2 * floor;
	for (unsigned k = 0; k < 4; k++) {
		uint8_t reg = u->src[k];
		uint64_t at = 2 * c->reg[reg] - (c->reg[reg] ? o->early[reg] : 0);
		half = reg ? max64(half, at) : half;
	}
	for (;; half++) {
		uint64_t cycle = half >> 1;
		unsigned may = u->ports & (half & 1 ? SECOND_HALF : FIRST_HALF);
		if (cycle - s->walk < SCHED_REACH)
			may &= (unsigned)~s->used[cycle & (SCHED_WINDOW - 1)];
		if (may) {
			*ready = cycle;
			return (unsigned)__builtin_ctz(may);
		}
	}
}

/* --- replay --- */
uint64_t netburst_hoped(struct core *c, const struct uop *u, uint64_t dispatch, uint64_t hit, uint64_t complete,
	uint64_t *did)
{
	struct older *o = &c->old;
	const bool load = u->kind == UOP_LOAD;
	const uint64_t again = o->again ? o->again + u->latency + !u->latency : 0;
	o->again = 0;
	/* dependents of a uop dispatched too early are too early, too */
	if (!load && u->kind != UOP_STORE_ADDR)
		return again < complete ? again : 0;
	uint64_t why = 0;
	if (*did &
		(SPMU_DID(WAIT_STORE_ADDR) | SPMU_DID(WAIT_STORE_DATA) | SPMU_DID(FORWARD_BLOCKED) |
			SPMU_DID(ALIAS_4K)))
		why |= SPMU_DID(REPLAY_STORE);
	if (*did & SPMU_DID(SPLIT_LINE))
		why |= SPMU_DID(REPLAY_SPLIT);
	if (*did & SPMU_DID(DTLB_MISS))
		why |= SPMU_DID(REPLAY_TLB);
	if (why) {		/* the access itself is replayed; its latency includes that */
		emit_signal(&c->e, SPMU_SIG_REPLAY, dispatch, dispatch, 1);
		*did |= why | SPMU_DID(REPLAYED);
	}
	if (!load || !(*did & (SPMU_DID(L1D_MISS) | SPMU_DID(LFB_HIT) | SPMU_DID(DTLB_MISS) | SPMU_DID(SPLIT_LINE))) ||
		hit >= complete)
		return 0;
	return hit;
}

/* The causes for which a uop is replayed: those of the loads that it depends on. */
static uint64_t causes(const struct core *c, const struct uop *u)
{
	uint64_t why = 0;
	for (unsigned k = 0; k < 4; k++)
		if (u->src[k] && c->old.hoped[u->src[k]])
			why |= c->old.why[u->src[k]] ? c->old.why[u->src[k]] : SPMU_DID(REPLAY_MISS);
	return why;
}

uint64_t netburst_replay(struct core *c, const struct uop *u, unsigned port, uint64_t floor, uint64_t ready,
	uint64_t *did)
{
	struct older *o = &c->old;
	struct scheduler *s = &c->sc;
	uint64_t hoped = floor;
	bool hopes = false;
	for (unsigned k = 0; k < 4; k++) {
		uint8_t reg = u->src[k];
		hopes |= reg && o->hoped[reg] != 0;
		hoped = max64(hoped, o->hoped[reg] ? o->hoped[reg] : c->reg[reg]);
	}
	o->again = 0;
	if (!hopes || hoped >= ready)
		return ready;
	o->again = hoped;
	uint64_t rounds = (ready - hoped + o->replay - 1) / o->replay;
	emit_signal(&c->e, SPMU_SIG_REPLAY, hoped + o->replay, hoped + o->replay, rounds);
	*did |= SPMU_DID(REPLAYED) | causes(c, u);
	const struct port_choice *choice = &s->choice[1u << port];
	for (uint64_t i = 0; i < rounds && i < REPLAYS_MAX; i++) {
		uint64_t at = hoped + i * o->replay;
		if (scheduler_full(s, choice) || at - s->walk >= SCHED_REACH ||
			s->used[at & (SCHED_WINDOW - 1)] >> port & 1)
			continue;	/* the port is taken, so this replay costs no other uop anything */
		scheduler_enter(s, choice, port);	/* the entry is given back with the port's cycle */
		scheduler_take(s, port, at);
	}
	return hoped + rounds * o->replay;
}

/* --- trace cache --- */
static struct trace_line *set_of(struct core *c, uint64_t ip)
{
	return &c->old.trace[(ip >> SET_LOG2 & (c->config.trace_sets - 1)) * c->config.trace_ways];
}

/* Goes on in a line of the trace cache that holds the instruction, if there is one; o->head: the line begins here. */
static bool follow(struct core *c, const struct insn *in)
{
	struct older *o = &c->old;
	o->head = false;
	if (o->line != TRACE_NONE) {
		struct trace_line *l = &o->trace[o->line];
		if (o->at < l->insns && l->ip[o->at] == in->addr) {
			o->at++;
			return true;
		}
		o->line = TRACE_NONE;
	}
	struct trace_line *set = set_of(c, in->addr);
	for (unsigned i = 0; i < c->config.trace_ways; i++)
		if (set[i].insns && set[i].ip[0] == in->addr) {
			o->line = (int32_t)(&set[i] - o->trace);
			o->at = 1;
			o->head = true;
			set[i].stamp = ++o->stamp;
			o->building = TRACE_NONE;
			return true;
		}
	return false;
}

bool netburst_trace(struct core *c, const struct insn *in)
{
	struct frontend *fe = &c->fe;
	if (!follow(c, in))
		return false;
	if (c->old.head) {	/* a line starts in a new cycle */
		fe->cycle += fe->room != fe->width;
		fe->room = c->config.dsb_width;
	}
	return true;
}

bool netburst_warm(struct core *c, const struct insn *in)
{
	if (follow(c, in))
		return true;
	netburst_build(c, in);
	return false;
}

void netburst_copy(struct core *to, const struct core *from)
{
	const size_t lines = (size_t)from->config.trace_sets * from->config.trace_ways;
	memcpy(to->old.trace, from->old.trace, lines * sizeof *to->old.trace);
	to->old.stamp = from->old.stamp;
	to->old.line = to->old.building = TRACE_NONE;
}

void netburst_build(struct core *c, const struct insn *in)
{
	struct older *o = &c->old;
	unsigned slots = in->issue_slots ? in->issue_slots : 1;
	bool alone = in->flags & INSN_MS || slots > c->config.trace_line_uops;
	struct trace_line *l = o->building == TRACE_NONE ? NULL : &o->trace[o->building];
	slots = alone ? 1 : slots;	/* the line only refers to the microcode */
	o->head = false;
	if (!l || l->closed || l->insns == TRACE_SLOTS || l->slots + slots > c->config.trace_line_uops) {
		struct trace_line *set = set_of(c, in->addr);
		l = set;
		for (unsigned i = 1; i < c->config.trace_ways; i++)
			if (set[i].stamp < l->stamp)
				l = &set[i];
		*l = (struct trace_line){ .stamp = ++o->stamp };
		o->building = (int32_t)(l - o->trace);
		o->head = true;
	}
	l->ip[l->insns++] = in->addr;
	l->slots = (uint8_t)(l->slots + slots);
	l->closed = alone || in->flags & (INSN_INDIRECT | INSN_RET | INSN_FAR);
}

void netburst_built(struct core *c, const struct insn *in, uint64_t from, bool again)
{
	struct older *o = &c->old;
	struct frontend *fe = &c->fe;
	/* What lies between two decoded instructions belongs to building, but not for longer than a batch can wait. */
	const bool gap = !again && o->built <= from && from - o->built <= EMIT_HELD;
	const uint64_t begin = gap ? o->built : from, end = max64(fe->cycle + 1, begin);
	const uint64_t block = in->addr >> fe->fetch_log2;
	if (again || block != o->fetch_block)
		emit_signal(&c->e, SPMU_SIG_TC_MISS, from, from, 1);
	o->fetch_block = (in->addr + (in->len ? in->len - 1u : 0)) >> fe->fetch_log2;
	emit_grow(&c->e, RUN_BUILD, SPMU_SIG_TC_BUILD, begin, end, 1);
	o->built = c->e.open = end;
}

void netburst_discard(struct core *c, uint64_t addr, uint64_t bytes)
{
	struct older *o = &c->old;
	size_t n = (size_t)c->config.trace_sets * c->config.trace_ways;
	bool dropped = false;
	for (size_t i = 0; i < n; i++)
		for (unsigned k = 0; k < o->trace[i].insns; k++)
			if (o->trace[i].ip[k] - addr < bytes || addr - o->trace[i].ip[k] < 15) {
				o->trace[i] = (struct trace_line){ .insns = 0 };
				dropped = true;
				break;
			}
	if (dropped)
		emit_signal(&c->e, SPMU_SIG_TC_FLUSH, c->fe.cycle, c->fe.cycle, 1);
	o->line = o->building = TRACE_NONE;
}
