/* SPDX-License-Identifier: GPL-2.0-or-later
 * The front-side bus; bus.h says what is modelled. */
#include "core/memory/bus.h"
#include "core/memory/memsys_state.h"
#include <math.h>
#include <string.h>

#define BUS_SIGNALS(X) X(BUS_QUEUE) X(BUS_DRIVE) X(BUS_SAMPLE) X(BUS_OTHER_DATA) X(BUS_HOLD_DRIVE) \
	X(BUS_HOLD_SAMPLE) X(BUS_HOLD_OTHER)
/* Core clocks for which data are seen in each bus clock (SDM, FSB_data_activity). */
enum { PULSE = 2 };

void bus_init(struct bus *b, const struct core_config *c)
{
	memset(b, 0, sizeof *b);
	b->clock = c->fsb_clock;
	b->chipset = (uint32_t)lround(c->fsb_chipset_ns * c->frequency_ghz);
	b->count = c->fsb_queue < BUS_QUEUE_MAX ? c->fsb_queue : BUS_QUEUE_MAX;
	rate_init(&b->rate, 2.0 * b->clock);
}

/* A transaction, as the cores see it. */
struct transaction { uint64_t begin, data, end, attributes; bool write; };

/* Raises DRDY and DBSY in each bus clock of the data.  A chunk takes one bus clock, and needs no DBSY. */
static void data_signals(struct emitter *e, const struct bus *b, const struct transaction *t, bool own)
{
	const enum spmu_signal ready =
		!own ? SPMU_SIG_BUS_OTHER_DATA : t->write ? SPMU_SIG_BUS_DRIVE : SPMU_SIG_BUS_SAMPLE;
	const enum spmu_signal busy =
	 !own ? SPMU_SIG_BUS_HOLD_OTHER : t->write ? SPMU_SIG_BUS_HOLD_DRIVE : SPMU_SIG_BUS_HOLD_SAMPLE;
	emit_signal(e, ready, t->data, t->data + PULSE, 1);
	if (t->attributes & SPMU_ATTR(BUS_CHUNK))
		return;
	emit_signal(e, ready, t->data + b->clock, t->data + b->clock + PULSE, 1);
	emit_signal(e, busy, t->data, t->data + PULSE, 1);
}

static bool anybody(const struct emitter *e)
{
#define WANTED(name) || emit_wanted(e, SPMU_SIG_##name)
	return false BUS_SIGNALS(WANTED);
#undef WANTED
}

static void report(struct memsys *m, const struct transaction *t)
{
	const struct bus *b = &m->shared->bus;
	for (uint32_t i = 0; i < m->shared->cores; i++) {
		struct memsys *core = m->shared->core[i];
		const bool own = core == m;
		if (!anybody(core->emitter) || (!own && core->emitter->closed))
			continue;
		emit_attributes(core->emitter, SPMU_SIG_BUS_QUEUE, t->begin, t->end, 1,
			t->attributes | (own ? 0 : SPMU_ATTR(BUS_OTHER)));
		data_signals(core->emitter, b, t, own);
	}
}

/* The entry of the queue that is free soonest; *begin: the cycle from which it is the request's. */
static unsigned enter(struct bus *b, uint64_t *begin)
{
	unsigned best = 0;
	for (unsigned i = 1; i < b->count; i++)
		if (b->entry[i] < b->entry[best])
			best = i;
	if (b->entry[best] > *begin)
		*begin = b->entry[best];
	return best;
}

/* Transfers the data, which are there at `known`.  Returns the first cycle of the transfer. */
static uint64_t transfer(struct bus *b, unsigned entry, uint64_t begin, uint64_t known, uint64_t length)
{
	if (begin >= b->begun) {
		b->begun = begin;
		known = b->data > known ? b->data : known;
	}
	const uint64_t start = rate_book(&b->rate, known);
	if (begin == b->begun)
		b->data = start + length;
	b->entry[entry] = start + length;
	return start;
}

static uint64_t attributes_of(enum access_kind kind)
{
	switch (kind) {
	case ACCESS_RFO: return SPMU_ATTR(BUS_RFO);
	case ACCESS_CODE: return SPMU_ATTR(BUS_CODE);
	case ACCESS_PREFETCH: return SPMU_ATTR(BUS_READ) | SPMU_ATTR(BUS_PREFETCH);
	default: return SPMU_ATTR(BUS_READ);
	}
}

uint64_t bus_read(struct memsys *m, uint32_t line, uint64_t cycle, enum access_kind kind)
{
	struct bus *b = &m->shared->bus;
	uint64_t begin = cycle;
	const unsigned entry = enter(b, &begin);
	const uint64_t there =
		dram_read(&m->shared->dram, line, begin + BUS_REQUEST_CLOCKS * b->clock + b->chipset);
	const uint64_t data = transfer(b, entry, begin, there, 2 * b->clock);
	const struct transaction t = { begin, data, data + 2 * b->clock, attributes_of(kind), false };
	report(m, &t);
	emit_attributes(m->emitter, SPMU_SIG_BUS_UNIT, cycle, t.end, 1, t.attributes);
	return data + b->clock;
}

uint64_t bus_write(struct memsys *m, uint64_t cycle, uint64_t attributes, unsigned chunks)
{
	struct bus *b = &m->shared->bus;
	const uint64_t length = attributes & SPMU_ATTR(BUS_CHUNK) ? b->clock : 2 * b->clock;
	const bool write = !(attributes & SPMU_ATTR(BUS_READ));
	uint64_t last = cycle;
	for (unsigned i = 0; i < chunks; i++) {
		uint64_t begin = cycle;
		const unsigned entry = enter(b, &begin);
		/* (a locked read of a chunk takes the time of its request, as a write does) */
		const uint64_t data = transfer(b, entry, begin, begin + BUS_REQUEST_CLOCKS * b->clock, length);
		const struct transaction t = { begin, data, data + length, attributes, write };
		report(m, &t);
		last = t.end > last ? t.end : last;
	}
	emit_attributes(m->emitter, SPMU_SIG_BUS_UNIT, cycle, last, 1, attributes);
	return last;
}

uint64_t memsys_bus_lock(struct memsys *m, uint64_t addr, uint32_t size, uint64_t cycle)
{
	const uint64_t locked = SPMU_ATTR(BUS_LOCK) | SPMU_ATTR(BUS_SPLIT) | SPMU_ATTR(BUS_CHUNK);
	if (!m->shared->bus.clock || !size || !((addr ^ (addr + size - 1)) >> m->line_log2))
		return cycle;
	const uint64_t read = bus_write(m, cycle, locked | SPMU_ATTR(BUS_READ), 2);
	return bus_write(m, read, locked | SPMU_ATTR(BUS_WRITE), 2);
}
