/* SPDX-License-Identifier: GPL-2.0-or-later
 * REP string instructions.  The stream has them once an iteration; the core makes one instruction of that.
 *
 * Models: the uops ahead of the rounds go once.  MOVS and STOS with ascending neighbouring addresses go in
 * rounds of the uops in the uop table, up to rep.chunk_bytes each ("fast strings": Optimization Manual, "REP
 * Prefix and Data Movement"); the others go a round an iteration.  The instruction ends with its last uop.
 * rep.few_stores, rep.few_moves: STOS, and MOVS of more than a byte, of fewer elements than this take one round for
 * each element.  The core holds that many elements back before it starts.  With more elements, the start takes longer
 * (rep.many_stores, rep.many_moves).
 * While an instruction starts, the front end delivers nothing (rep.start); older instructions go on.
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
	if (!r->started)
		c->fe.cycle += r->start;
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

/* What is held back goes: an element a round if the elements are few. */
static void go_in_rounds(struct core *c, bool leave)
{
	struct rep *r = &c->rep;
	const uint32_t held = r->pending ? r->bytes : 0,
		       round = r->few || r->element > r->chunk ? r->element : r->chunk;
	for (uint32_t done = 0;; done += round) {
		const bool last = done + round >= held;
		r->bytes = last ? held - done : round;
		for (unsigned k = r->insn.rep_first; k < r->insn.uops && r->pending; k++)
			if (r->at[k] != ST_NOT_DONE)
				r->uop[k].size = (uint16_t)r->bytes;
		go(c, last && leave);
		if (last)
			return;
		for (unsigned k = r->insn.rep_first; k < r->insn.uops; k++)
			if (r->at[k] != ST_NOT_DONE)
				r->at[k] += round;
		r->pending = true;
	}
}

void rep_end(struct core *c, bool leave)
{
	if (leave || c->rep.pending || !c->rep.started)
		go_in_rounds(c, leave);
	if (c->fe.path == FE_MS)
		frontend_ms_leave(c);
	c->rep.active = false;
}

static void begin(struct core *c, const struct iblock *b, const struct insn *in)
{
	struct rep *r = &c->rep;
	r->active = true;
	r->started = r->pending = false;
	r->few = 0;
	r->start = c->config.rep_start;
	r->chunk = in->rep_chunk < c->config.rep_chunk_bytes ? in->rep_chunk : c->config.rep_chunk_bytes;
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

/* The first element: fewer than how many go alone? */
static void count_few(struct core *c, bool loads, uint32_t element)
{
	struct rep *r = &c->rep;
	r->few = !loads ? c->config.rep_few_stores : element > 1 ? c->config.rep_few_moves : 0;
	r->more = loads ? c->config.rep_many_moves : c->config.rep_many_stores;
}

/* There are not few elements: rounds are full from now on, and the start, if it has not gone yet, takes longer. */
static void are_many(struct rep *r)
{
	r->few = 0;
	if (!r->started)
		r->start += r->more;
}

/* One iteration of instruction i of the block. */
void rep_run(
	struct core *c, const struct iblock *b, unsigned i, const uint64_t *slots, unsigned nslots, uint64_t next_ip)
{
	const struct insn *in = &b->insn[i];
	struct rep *r = &c->rep;
	uint64_t at[REP_UOPS];
	uint32_t bytes = 0;
	bool any = false, loads = false, stores = false, grows = true;

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
		loads |= u[k].kind == UOP_LOAD;
		stores |= u[k].kind == UOP_STORE_ADDR;
		bytes = u[k].size;
		grows &= r->at[k] != ST_NOT_DONE && at[k] == r->at[k] + r->bytes;
	}
	if (any) {
		if (!r->started && !r->pending && stores && bytes < r->chunk)
			count_few(c, loads, bytes);
		const bool goes_on = r->pending && stores && grows;
		if (goes_on && r->bytes + bytes <= (r->few ? r->few * bytes : r->chunk)) {
			r->bytes += bytes;
			if (r->bytes == r->few * bytes)
				are_many(r);
		} else {
			if (r->pending)
				go_in_rounds(c, false);
			for (unsigned k = first; k < n && k < in->uops; k++)
				r->at[k] = at[k];
			r->bytes = r->element = bytes;
			r->pending = true;
		}
	}
	if (next_ip == in->addr)
		return;
	rep_end(c, next_ip != 0);
}
