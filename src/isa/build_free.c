/* SPDX-License-Identifier: GPL-2.0-or-later
 * Uops as no core has them: without a port, a latency or a wait that they have (fields free.* of a core's file).  A run
 * on such a machine shows what that costs a program.  The uops keep their bits (`is`), so events count as before.
 */
#include "isa/build.h"

enum { MULTIPLY = 3, MULTIPLY_FP = 4 };	/* cycles: those of every core from Nehalem on, to within one */

static void divide(struct uop *u)
{
	if (u->kind != UOP_COMPUTE || !(u->unit == UNIT_INTDIV || u->unit == UNIT_FPDIV || u->unit == UNIT_FPDIVS))
		return;
	const unsigned most = u->unit == UNIT_INTDIV ? MULTIPLY : MULTIPLY_FP;
	u->latency = (uint8_t)(u->latency < most ? u->latency : most);
	u->busy = 0;
	u->unit = 0;
}

static void serialize(struct uop *u)
{
	u->kind = UOP_COMPUTE;
	u->latency = 1;
	u->busy = 0;
	u->unit = 0;
}

void build_free(const struct build *c, bool far)
{
	const struct isa_options *o = &c->isa->o;
	if (!(o->free_lock || o->free_divide || o->free_serialize || o->free_latency || o->free_ports))
		return;
	for (unsigned i = c->first; i < c->b->n; i++) {
		struct uop *u = &c->b->uop[i];
		if (o->free_lock && u->is & SPMU_IS(LOCK) && u->unit == UNIT_OTHER)	/* XCHG has no form without */
			u->busy = u->unit = 0;
		if (o->free_divide)
			divide(u);
		if (o->free_serialize && u->kind >= UOP_FENCE_LOAD && u->kind <= UOP_SERIALIZE &&
			!far)
			serialize(u);
		if (o->free_latency && u->kind == UOP_COMPUTE && !u->unit && u->latency > 1)
			u->latency = 1;
		if (o->free_ports && u->kind == UOP_COMPUTE && u->ports)
			u->ports = c->isa->computing;
	}
}
