/* SPDX-License-Identifier: GPL-2.0-or-later
 * Everything that a guest's model does to its core.  Each function writes its record (stream/format.h) first, if
 * somebody wants the stream, and then calls what a replay of the record calls (core/paging/told.h): so a replay on an
 * equal core has equal cycles.
 */
#include "machine/guest_internal.h"
#include "core/paging/told.h"
#include "core/paging/told_map.h"
#include <string.h>

#define RECORD(kind, type) .header = ST_HEADER(kind, sizeof(struct type))

/* A record follows that does not say where the block before it led to. */
static void settle_next(struct guest *g)
{
	if (!g->owes)		/* nor does anybody want the stream */
		return;
	g->owes = false;
	const struct st_next r = { RECORD(ST_NEXT, st_next), .next = g->next_ip };
	guest_stream_record(g->stream, &r, sizeof r);
}

/* One follows that does. */
static uint64_t take_next(struct guest *g)
{
	g->owes = false;
	return g->next_ip;
}

/* Something enters TLBs again. */
static inline void active(struct guest *g)
{
	g->pages->dropped = -1;
}

/* A change of spaces counts where something is executed behind it. */
static void settle_space(struct guest *g)
{
	g->owes_space = false;
	if (g->code)
		g->code->last = 0;
	settle_next(g);
	const struct st_space r = { RECORD(ST_SPACE, st_space), .tag = g->tag, .tables = g->tables };
	guest_stream_record(g->stream, &r, sizeof r);
}

/* ---- by whoever has the core ---- */

/* The half of warming that needs no predictor. */
static void warm(struct guest *g, const struct guest_run *r, const uint64_t *values)
{
	core_passes(g->core);
	core_warm_memory(g->core, r->block, r->exit, r->insns, values);
}

/* In the emulator's thread. */
static void run(struct guest *g, const struct guest_run *r, const uint64_t *values)
{
	if (r->warms) {
		core_predict(g->core, r->block, r->exit, r->insns, r->next_ip);
		warm(g, r, values);
		return;
	}
	const bool step = guest_closeness(g) == GUEST_STEPPING;
	core_run_block(g->core, r->block, r->exit, r->insns, values, r->next_ip);
	g->applied += r->complete;
	g->report.stepped += step ? r->complete : 0;
	const enum guest_closeness now = guest_closeness(g);
	if (step || (now != GUEST_FAR) != g->near || now == GUEST_STEPPING)
		guest_approach(g);
}

static void change_level(struct guest *g, const struct st_level *r)
{
	spmu_set_mode64(g->pmu, r->word_bytes == 8);
	if (!r->drains)
		return;
	core_serialize(g->core);
	g->report.cycles[g->core_cpl != 0] += core_now(g->core) - g->cycles_from;
	g->cycles_from = core_now(g->core);
	g->core_cpl = r->cpl;
}

static void do_record(struct guest *g, const void *record)
{
	const uint64_t *words = record;
	switch (ST_HEADER_KIND(*words)) {
	case ST_LEVEL:
		change_level(g, record);
		break;
	case ST_TRAP:
		core_trap(g->core);
		break;
	case ST_DELIVERY: {
		const struct st_delivery *r = record;
		core_deliver(g->core, (const uint64_t *)(r + 1), r->accesses);
		break;
	}
	case ST_HALT: {
		const struct st_halt *r = record;
		const uint64_t from = core_now(g->core);
		core_halt_for(g->core, r->cycles);
		g->cycles_from += core_now(g->core) - from;	/* they are no cycles of the privilege */
		break;
	}
	case ST_SERIALIZE:
		core_serialize(g->core);
		break;
	case ST_PAGE:
		g->core_failed = g->core_failed || core_told_page(g->core, record, &g->core_failure) < 0;
		break;
	case ST_DROP: {
		const struct st_drop *r = record;
		core_told_drop(g->core, (enum st_drop_what)r->what, r->addr);
		break;
	}
	default:
		break;
	}
}

enum { RUN_WORDS = sizeof(struct guest_run) / 8 };
enum op { OP_RECORD, OP_SCRIPT, OP_WARM };	/* in the high half of an operation's header */
#define OP(kind, words) ((uint64_t)(kind) << 32 | (words))

const uint64_t *guest_core_apply(void *guest, const uint64_t *op, const uint64_t *end)
{
	static const uint64_t never;
	struct guest *g = guest;
	const uint64_t *next = op + (uint32_t)*op;
	if (g->core_failed)
		return next;
	switch ((enum op)(*op >> 32)) {
	case OP_SCRIPT:
		return core_run_scripts(g->core, op, end, &never);
	case OP_WARM:
		warm(g, (const struct guest_run *)(op + 1), op + 1 + RUN_WORDS);
		break;
	case OP_RECORD:
		do_record(g, op + 1);
		break;
	}
	return next;
}

/* ---- by the emulator's thread ---- */

/* The record goes into the stream and to the core. */
static void pass(struct guest *g, const void *record, size_t bytes)
{
	if (g->stream)
		guest_stream_record(g->stream, record, bytes);
	if (g->ahead) {
		const size_t words = 1 + bytes / 8;
		uint64_t *op = guest_queue_room(g->queue, words);
		memcpy(op + 1, record, bytes);
		op[0] = OP(OP_RECORD, words);
		guest_queue_push(g->queue, words);
		return;
	}
	do_record(g, record);
	if (g->core_failed && !g->failed) {
		g->failure = g->core_failure;
		guest_fail(g);
	}
}

/* The emulator's thread does what needs the predictors, as long as it is ahead: the other one never uses them. */
static void queue_run(struct guest *g, const struct guest_run *r, const uint64_t *values)
{
	uint64_t *op;
	size_t words;
	if (r->warms) {
		core_predict(g->core, r->block, r->exit, r->insns, r->next_ip);
		words = 1 + RUN_WORDS + r->slots;
		op = guest_queue_room(g->queue, words);
		memcpy(op + 1, r, sizeof *r);
		memcpy(op + 1 + RUN_WORDS, values, r->slots * sizeof *values);
		op[0] = OP(OP_WARM, words);
	} else {
		op = guest_queue_room(g->queue, SCRIPT_OP_WORDS + core_script_room(r->block));
		words = SCRIPT_OP_WORDS + core_script(g->core, r->block, r->exit, r->insns, values, r->next_ip,
			op + SCRIPT_OP_WORDS);
		op[1] = 0;		/* there is one core */
		op[0] = OP(OP_SCRIPT, words);
	}
	guest_queue_push(g->queue, words);
}

void guest_core_block(struct guest *g, const struct guest_run *r, const struct st_block_def *def,
	const uint64_t *values)
{
	active(g);
	if (__builtin_expect(g->stream != NULL, 0)) {
		if (g->owes_space)
			settle_space(g);
		if (g->owes && ((const struct st_insn_def *)(def + 1))->addr != g->next_ip)
			settle_next(g);
		guest_code_block(g, ((const struct st_insn_def *)(def + 1))->addr);
		guest_stream_block(g->stream, def, r->exit, values);
		g->owes = true;
		g->next_ip = r->next_ip;
	}
	g->given += r->complete;
	if (__builtin_expect(g->ahead && core_script_room(r->block) > QUEUE_OP_WORDS - SCRIPT_OP_WORDS, 0))
		guest_together(g);
	if (!g->ahead) {
		run(g, r, values);
		guest_apart(g);
		return;
	}
	queue_run(g, r, values);
	g->report.ahead += r->complete;
	if (g->times && g->given >= g->meet_at)
		guest_meet(g);
}

void guest_core_level(struct guest *g, unsigned cpl, unsigned word_bytes)
{
	const bool drains = cpl != g->cpl;
	if (!drains && word_bytes == g->word_bytes)
		return;
	settle_next(g);
	const struct st_level r = { RECORD(ST_LEVEL, st_level), .cpl = (uint8_t)cpl, .word_bytes = (uint8_t)word_bytes,
		.drains = drains };
	g->word_bytes = (uint8_t)word_bytes;
	g->cpl = cpl;
	pass(g, &r, sizeof r);
}

void guest_core_trap(struct guest *g, const struct guest_trap *t)
{
	const struct st_trap r = { RECORD(ST_TRAP, st_trap), .from = t->from, .address = t->address,
		.vector = t->vector, .error = t->error, .interrupt = t->interrupt, .next = take_next(g) };
	pass(g, &r, sizeof r);
}

void guest_core_delivery(struct guest *g)
{
	const unsigned n = g->delivered;
	active(g);
	settle_next(g);
	uint64_t r[(sizeof(struct st_delivery) / 8) + 2 * GUEST_DELIVERED];
	const struct st_delivery head = { .header = ST_HEADER(ST_DELIVERY, sizeof head + 16 * n), .accesses = n };
	memcpy(r, &head, sizeof head);
	memcpy(r + sizeof head / 8, g->delivery, 16 * n);
	g->delivered = 0;
	pass(g, r, sizeof head + 16 * n);
}

void guest_core_halt(struct guest *g, uint64_t cycles)
{
	const struct st_halt r = { RECORD(ST_HALT, st_halt), .cycles = cycles, .next = take_next(g) };
	pass(g, &r, sizeof r);
}

void guest_core_serialize(struct guest *g)
{
	const struct st_serialize r = { RECORD(ST_SERIALIZE, st_serialize), .next = take_next(g) };
	pass(g, &r, sizeof r);
}

void guest_core_space(struct guest *g, uint64_t tables)
{
	g->tables = tables;
	g->owes_space = g->stream != NULL;
}

void guest_core_page(struct guest *g, const struct st_page *p)
{
	struct st_page r = *p;
	struct told_page was;
	active(g);
	settle_next(g);
	r.header = ST_HEADER(ST_PAGE, sizeof r);
	if (told_enter(g->pages->told, &r, 6 - g->config.cache_line, &was, &g->failure) < 0)
		guest_fail(g);
	else
		pass(g, &r, sizeof r);
}

void guest_core_drop(struct guest *g, enum st_drop_what what, uint64_t addr)
{
	/* what an earlier drop has taken already, while nothing came since */
	if (g->pages->dropped == ST_DROP_ALL || (g->pages->dropped == ST_DROP_NOT_GLOBAL &&
		(what == ST_DROP_NOT_GLOBAL || what == ST_DROP_SPACE)))
		return;
	if (what != ST_DROP_PAGE && what != ST_DROP_SPACE)
		g->pages->dropped = (int)what;
	settle_next(g);
	const struct st_drop r = { RECORD(ST_DROP, st_drop), .what = what, .addr = addr };
	pass(g, &r, sizeof r);
}
