/* SPDX-License-Identifier: GPL-2.0-or-later
 * The causes of slots that follow from one uop alone (slots.h): what a slot that retired held, and what a uop waits for
 * while it is the oldest in flight, one cause after the other. */
#ifndef ANALYSIS_SLOTS_CAUSE_H
#define ANALYSIS_SLOTS_CAUSE_H
#include "analysis/slots.h"

/* Causes that are settled by what else happens in the cycle, beside those of enum slots_cause. */
enum {
	SLOTS_NO_CAUSE = 255,		/* no uop is in flight */
	SLOTS_LINE_UNDER_WAY = 254,	/* the level is that of the misses pending, or else `fallback` */
	SLOTS_MEMORY = 253,		/* bandwidth or latency: by the reads under way */
	SLOTS_CHAIN = 252,		/* its own latency: by the uops dispatched in the cycle */
	SLOTS_PORT = 251,		/* a port: the same */
	SLOTS_LOAD_PORT = 250,		/* the same, or a locked operation before it */
};

/* Until when the access of a uop waited, as the signals ahead of its record say; 0: it did not. */
struct slots_access { uint64_t walk, fill_buffer, queue; };

enum { SLOTS_WAITS = 4 };
struct slots_wait {
	uint64_t until[SLOTS_WAITS];	/* ascending cycles, absolute */
	uint8_t cause[SLOTS_WAITS];	/* before until[] */
	uint8_t waits, last;		/* last: the cause behind them all */
	uint8_t fallback;		/* of SLOTS_LINE_UNDER_WAY */
};

/* is, did: all bits of the slot's uops; further: another slot of the same instruction came before. */
enum slots_cause slots_retired(uint64_t is, uint64_t did, bool further);
/* What r waits for while it is the oldest uop, from cycle `oldest` on. base: of r's batch.  The parts of an access are
 * scaled to the time until it retires: its wait consists of what the whole access consisted of. */
void slots_wait_of(struct slots_wait *w, const struct slots_core *core, const struct spmu_record *r, uint64_t base,
	const struct slots_access *a, uint64_t oldest);
#endif
