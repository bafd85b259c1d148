/* SPDX-License-Identifier: GPL-2.0-or-later
 * Uops that rename adds (added_uop.h). */
#include "core/backend/added_uop.h"
#include "core/backend/rename.h"
#include "core/backend/retire.h"
#include "core/record/uop_record.h"

uint64_t added_uop(struct core *c, const struct insn *in, uint64_t is, unsigned ports, uint64_t sources)
{
	struct scheduler *sc = &c->sc;
	const uint64_t fetch = c->fe.cycle + !c->fe.room;
	uint64_t did = c->fe.did_path | SPMU_DID(RETIRED), alloc = rename_slot(c, fetch, &did);
	uint64_t ready = max64(sources, alloc + c->rn.dispatch_delay), dispatch = ready;
	unsigned port = 255;
	if (ports) {
		const struct port_choice *choice = &sc->choice[ports];
		if (UNLIKELY(scheduler_full(sc, choice))) {
			alloc = rename_wait_entry(c, choice, alloc, &did);
			ready = max64(ready, alloc + c->rn.dispatch_delay);
		}
		port = scheduler_port(sc, choice, c->rn.slot);
		scheduler_enter(sc, choice, port);
		dispatch = scheduler_take(sc, port, ready);
	}
	emit_room(&c->e);
	const uint64_t retire = retire_at(c, dispatch + 1);
	write_record(c, in->addr, is | SPMU_IS(SLOT) | SPMU_IS(EXEC), port, 0, did, 0, fetch, alloc, ready, dispatch,
		dispatch + 1, retire);
	return dispatch + 1;
}
