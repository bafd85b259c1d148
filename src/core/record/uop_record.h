/* SPDX-License-Identifier: GPL-2.0-or-later
 * Writes the record of a uop of the right path.  (Those of the wrong path: wrong_record, wrongpath.h.)
 */
#ifndef CORE_UOP_RECORD_H
#define CORE_UOP_RECORD_H
#include "core/pipeline.h"
#include <string.h>

/* Writes the record if a consumer wants one of the uop's bits `is` or `did`.  emit_room has made room for it.
 * Cycles are absolute; port 255: none. */
static inline __attribute__((always_inline)) void
write_record(struct core *c, uint64_t ip, uint64_t is, unsigned port, uint32_t size, uint64_t did, uint64_t addr,
             uint64_t fetch, uint64_t alloc, uint64_t ready, uint64_t dispatch, uint64_t complete, uint64_t retire)
{
	if (!((is & c->e.wanted_is) | (did & c->e.wanted_did)))
		return;
	struct spmu_record *r = emit_uop(&c->e);
	const uint32_t base = (uint32_t)c->e.base;
	const uint32_t head = SPMU_REC_UOP | 3u << 16 | port << 24;
	memcpy(r, &head, sizeof head);		/* kind, hw_thread, cpl, port */
	r->size = size;
	r->ip = ip;
	r->is = is;
	r->did = did;
	r->addr = addr;
	r->fetch = (uint32_t)fetch - base;
	r->alloc = (uint32_t)alloc - base;
	r->ready = (uint32_t)ready - base;
	r->dispatch = (uint32_t)dispatch - base;
	r->complete = (uint32_t)complete - base;
	r->retire = (uint32_t)retire - base;
}

/* The slot retires: sets the cycle in the records of its earlier uops, which were written before it was known. */
static inline void record_retired(struct emitter *e, uint64_t retire)
{
	for (uint32_t i = e->hold - 1; i < e->count; i++)
		if (e->record[i].kind == SPMU_REC_UOP)
			e->record[i].retire = (uint32_t)(retire - e->base);
	e->hold = 0;
}
#endif
