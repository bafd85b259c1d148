/* SPDX-License-Identifier: GPL-2.0-or-later
 * What a whole machine does to a core beside running blocks (told.h). */
#include "core/paging/told.h"
#include "core/paging/told_map.h"
#include "core/pipeline.h"

/* GUESS: published latencies of interrupt delivery with a change of privilege lie around a hundred cycles.  What would
 * settle it: on a machine of the preset's kind, the cycles of INT3 into a handler that returns at once, by RDTSC around
 * it, less those of IRETQ. */
enum { DELIVERY = 100 };

int core_told(struct core *c, struct err *err)
{
	return memsys_told(c->mem, err);
}

int core_told_page(struct core *c, const struct st_page *p, struct err *err)
{
	bool moved;
	if (p->shift > 12 || memsys_told_find(c->mem, p->addr))
		core_settle(c);		/* stores that have retired go where the page was */
	const int rc = memsys_told_page(c->mem, p, &moved, err);
	if (moved)
		core_discard_code(c, p->addr, UINT64_C(1) << p->shift);
	return rc;
}

struct told_page *core_told_find(struct core *c, uint64_t addr)
{
	return memsys_told_find(c->mem, addr);
}

void core_told_drop(struct core *c, enum st_drop_what what, uint64_t addr)
{
	core_settle(c);
	memsys_told_drop(c->mem, what, addr);
}

void core_trap(struct core *c)
{
	core_serialize(c);
	core_hold(c, core_now(c) + DELIVERY);
}

/* What a load takes beyond a hit is added to the time of the delivery, one behind the other: each descriptor says where
 * the next one lies.  Stores wait in the store buffer, as always.  GUESS; what would settle it: the same measurement
 * with the stack, the IDT and the GDT out of the caches. */
void core_deliver(struct core *c, const uint64_t *access, uint64_t accesses)
{
	const uint64_t from = core_now(c);
	uint64_t at = from;
	for (uint64_t i = 0; i < accesses; i++) {
		const uint64_t addr = access[2 * i], what = access[2 * i + 1];
		const uint32_t size = (uint32_t)(what & 0xffff);
		struct mem_result r;
		if (what >> 32) {
			memsys_store_translate(c->mem, addr, size, at, &r);
			at = max64(at, r.ready);
			memsys_store_commit(c->mem, 0, addr, size, at, false, &r);
			continue;
		}
		memsys_load(c->mem, 0, addr, size, at, false, &r);
		at = max64(at, r.ready - min64(r.ready, c->config.l1d_latency));
	}
	core_hold(c, at + DELIVERY);
}

void core_halt_for(struct core *c, uint64_t cycles)
{
	core_halt_until(c, core_now(c) + cycles);
}
