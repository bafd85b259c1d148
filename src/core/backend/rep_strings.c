/* SPDX-License-Identifier: GPL-2.0-or-later
 * REP string instructions.  The stream has them once an iteration; the core makes one instruction of that.
 *
 * Models: the uops ahead of the rounds go once.  MOVS and STOS with ascending neighbouring addresses go in
 * rounds of the uops in the uop table, up to rep.chunk_bytes each ("fast strings": Optimization Manual, "REP
 * Prefix and Data Movement"); the others go a round an iteration.  The instruction ends with its last uop.
 * Leaves out: the read-for-ownership without data of long MOVS and STOS.
 */
#include "core/frontend/frontend.h"
#include <string.h>

/* The waiting round goes through the pipeline.  leave: it is the instruction's last. */
static void go(struct core *c, bool leave)
{
	struct rep *r = &c->rep;
	unsigned start = r->started ? r->insn.rep_first : 0;
	unsigned stop = r->pending ? r->insn.uops : r->insn.rep_first;
	/* nothing is left that could end the instruction: a round without an access does */
	if (start >= stop && leave)
		start = 0, stop = r->insn.uops;
	if (start >= stop)
		return;
	for (unsigned i = start; i < stop; i++)
		r->uop[i].is &= ~(SPMU_IS(INST_END) | SPMU_IS(INST_BEGIN));
	if (!start && !r->started)
		r->uop[0].is |= SPMU_IS(INST_BEGIN);
	if (leave) {
		r->uop[stop - 1].is |= SPMU_IS(INST_END);
		c->instructions++;
	}
	core_run_insn(c, &r->insn, r->uop + start, stop - start, r->at + start, !leave);
	if (r->pending)
		emit_signal_at(&c->e, SPMU_SIG_REP_ROUND, c->e.now, c->e.now, 1, r->addr, 0);
	r->started = true;
	r->pending = false;
}

void rep_end(struct core *c, bool leave)
{
	if (leave || c->rep.pending || !c->rep.started)
		go(c, leave);
	if (c->fe.path == FE_MS)
		frontend_ms_leave(c);
	c->rep.active = false;
}

static void begin(struct core *c, const struct iblock *b, const struct insn *in)
{
	struct rep *r = &c->rep;
	r->active = true;
	r->started = r->pending = false;
	r->addr = in->addr;
	r->insn = *in;
	if (r->insn.uops > REP_UOPS)
		r->insn.uops = REP_UOPS;
	if (r->insn.rep_first > r->insn.uops)
		r->insn.rep_first = r->insn.uops;
	memcpy(r->uop, b->uop + in->first_uop, r->insn.uops * sizeof *r->uop);
	for (unsigned i = 0; i < REP_UOPS; i++)
		r->at[i] = ST_NOT_DONE;
}

/* One iteration of instruction i of the block. */
void rep_run(
	struct core *c, const struct iblock *b, unsigned i, const uint64_t *slots, unsigned nslots, uint64_t next_ip)
{
	const struct insn *in = &b->insn[i];
	struct rep *r = &c->rep;
	uint64_t at[REP_UOPS];
	uint32_t bytes = 0,
		 chunk = in->rep_chunk < c->config.rep_chunk_bytes ? in->rep_chunk : c->config.rep_chunk_bytes;
	bool any = false, stores = false, grows = true;

	if (!in->uops)
		return;
	if (r->active && r->addr != in->addr)
		rep_end(c, false);
	if (!r->active)
		begin(c, b, in);
	unsigned n = r->insn.uops, first = r->insn.rep_first;
	const struct uop *u = b->uop + in->first_uop;
	for (unsigned k = first; k < n && k < in->uops; k++) {
		at[k] = u[k].size && u[k].slot < nslots ? slots[u[k].slot] : ST_NOT_DONE;
		if (at[k] == ST_NOT_DONE)
			continue;
		any = true;
		stores |= u[k].kind == UOP_STORE_ADDR;
		bytes = u[k].size;
		grows &= r->at[k] != ST_NOT_DONE && at[k] == r->at[k] + r->bytes;
	}
	if (any) {
		if (r->pending && stores && grows && r->bytes + bytes <= chunk) {
			r->bytes += bytes;
		} else {
			if (r->pending)
				go(c, false);
			for (unsigned k = first; k < n && k < in->uops; k++)
				r->at[k] = at[k];
			r->bytes = bytes;
			r->pending = true;
		}
		for (unsigned k = first; k < n; k++)
			if (r->at[k] != ST_NOT_DONE)
				r->uop[k].size = (uint16_t)r->bytes;
	}
	if (next_ip == in->addr)
		return;
	rep_end(c, next_ip != 0);
}
