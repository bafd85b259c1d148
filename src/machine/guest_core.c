/* SPDX-License-Identifier: GPL-2.0-or-later
 * Everything that a guest's model does to its core.  Each function writes its record (stream/format.h) first, if
 * somebody wants the stream, and then calls what a replay of the record calls (core/paging/told.h): so a replay on an
 * equal core has equal cycles.
 */
#include "machine/guest_internal.h"
#include "core/paging/told.h"
#include <string.h>

#define RECORD(kind, type) .header = ST_HEADER(kind, sizeof(struct type))

/* A record follows that does not say where the block before it led to. */
static void settle_next(struct guest *g)
{
	if (!g->owes)
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

void guest_core_block(struct guest *g, struct iblock *b, const struct st_block_def *def, unsigned exit, unsigned insns,
	const uint64_t *values, uint64_t next_ip)
{
	active(g);
	if (__builtin_expect(g->stream != NULL, 0)) {
		if (g->owes && ((const struct st_insn_def *)(def + 1))->addr != g->next_ip)
			settle_next(g);
		guest_code_block(g, ((const struct st_insn_def *)(def + 1))->addr);
		guest_stream_block(g->stream, def, exit, values);
		g->owes = true;
		g->next_ip = next_ip;
	}
	core_run_block(g->core, b, exit, insns, values, next_ip);
}

void guest_core_level(struct guest *g, unsigned cpl, unsigned word_bytes)
{
	const bool drains = cpl != g->cpl;
	if (!drains && word_bytes == g->word_bytes)
		return;
	if (g->stream) {
		settle_next(g);
		const struct st_level r = { RECORD(ST_LEVEL, st_level), .cpl = (uint8_t)cpl,
			.word_bytes = (uint8_t)word_bytes, .drains = drains };
		guest_stream_record(g->stream, &r, sizeof r);
	}
	g->word_bytes = (uint8_t)word_bytes;
	if (!drains)
		return;
	core_serialize(g->core);
	g->report.cycles[g->cpl != 0] += core_now(g->core) - g->cycles_from;
	g->cycles_from = core_now(g->core);
	g->cpl = cpl;
}

void guest_core_trap(struct guest *g, const struct guest_trap *t)
{
	if (g->stream) {
		const struct st_trap r = { RECORD(ST_TRAP, st_trap), .from = t->from, .address = t->address,
			.vector = t->vector, .error = t->error, .interrupt = t->interrupt, .next = take_next(g) };
		guest_stream_record(g->stream, &r, sizeof r);
	}
	core_trap(g->core);
}

void guest_core_delivery(struct guest *g)
{
	const unsigned n = g->delivered;
	active(g);
	if (g->stream) {
		settle_next(g);
		uint64_t r[(sizeof(struct st_delivery) / 8) + 2 * GUEST_DELIVERED];
		const struct st_delivery head = { .header = ST_HEADER(ST_DELIVERY, sizeof head + 16 * n),
			.accesses = n };
		memcpy(r, &head, sizeof head);
		memcpy(r + sizeof head / 8, g->delivery, 16 * n);
		guest_stream_record(g->stream, r, sizeof head + 16 * n);
	}
	g->delivered = 0;
	core_deliver(g->core, g->delivery, n);
}

void guest_core_halt(struct guest *g, uint64_t cycles)
{
	if (g->stream) {
		const struct st_halt r = { RECORD(ST_HALT, st_halt), .cycles = cycles, .next = take_next(g) };
		guest_stream_record(g->stream, &r, sizeof r);
	}
	const uint64_t from = core_now(g->core);
	core_halt_for(g->core, cycles);
	g->cycles_from += core_now(g->core) - from;	/* they are no cycles of the privilege */
}

void guest_core_serialize(struct guest *g)
{
	if (g->stream) {
		const struct st_serialize r = { RECORD(ST_SERIALIZE, st_serialize), .next = take_next(g) };
		guest_stream_record(g->stream, &r, sizeof r);
	}
	core_serialize(g->core);
}

void guest_core_space(struct guest *g, uint64_t tables)
{
	if (!g->stream)
		return;
	if (g->code)
		g->code->last = 0;
	settle_next(g);
	const struct st_space r = { RECORD(ST_SPACE, st_space), .tag = g->tag, .tables = tables };
	guest_stream_record(g->stream, &r, sizeof r);
}

void guest_core_page(struct guest *g, const struct st_page *p)
{
	active(g);
	if (g->stream) {
		struct st_page r = *p;
		settle_next(g);
		r.header = ST_HEADER(ST_PAGE, sizeof r);
		guest_stream_record(g->stream, &r, sizeof r);
	}
	if (core_told_page(g->core, p, &g->failure) < 0)
		guest_fail(g);
}

void guest_core_drop(struct guest *g, enum st_drop_what what, uint64_t addr)
{
	/* what an earlier drop has taken already, while nothing came since */
	if (g->pages->dropped == ST_DROP_ALL || (g->pages->dropped == ST_DROP_NOT_GLOBAL &&
		(what == ST_DROP_NOT_GLOBAL || what == ST_DROP_SPACE)))
		return;
	if (what != ST_DROP_PAGE && what != ST_DROP_SPACE)
		g->pages->dropped = (int)what;
	if (g->stream) {
		settle_next(g);
		const struct st_drop r = { RECORD(ST_DROP, st_drop), .what = what, .addr = addr };
		guest_stream_record(g->stream, &r, sizeof r);
	}
	core_told_drop(g->core, what, addr);
}

void guest_core_flush(struct guest *g)
{
	core_flush(g->core, false);
}
