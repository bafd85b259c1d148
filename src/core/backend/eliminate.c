/* SPDX-License-Identifier: GPL-2.0-or-later
 * Move elimination slots; what is modelled and left out: eliminate.h. */
#include "core/backend/eliminate.h"
#include "core/frontend/frontend.h"
#include <string.h>

void eliminate_reset(struct core *c)
{
	struct eliminate *el = &c->el;
	memset(el, 0, sizeof *el);
	el->slots = c->config.eliminate_slots;
	el->cycles = c->config.eliminate_cycles;
	el->least = c->config.eliminate_all_names ? 1 : 2;
	el->constants = (int)c->config.eliminate_constants;
}

/* The last cycle before the slot's own in which slots were allocated; with `again` the one before that. */
static inline uint64_t active_before(struct rename *rn, bool again)
{
	uint32_t pos = rn->pos - (rn->slot + 1) * SLOT_STEP;
	uint64_t cycle = *slot_alloc(rn, pos), same = cycle;
	for (unsigned n = 0; UNLIKELY(again) && n < 16 && cycle == same; n++)
		cycle = *slot_alloc(rn, pos -= SLOT_STEP);
	return cycle;
}

/* True if at least `least` names still refer to the value.  Forgets those that it has lost. */
static __attribute__((noinline)) bool named(const struct core *c, struct copied *s, unsigned least)
{
	unsigned n = 0;
	for (uint64_t r = s->names; r; r &= r - 1) {
		unsigned reg = (unsigned)__builtin_ctzll(r);
		if (c->reg[reg] != s->ready) {
			s->names ^= r & (0 - r);
		} else if (++n == least) {
			s->name = reg;
			return true;
		}
	}
	return false;
}

static inline __attribute__((always_inline)) bool
eliminate_one(struct core *c, struct copies *f, const unsigned least, unsigned src, unsigned dst, uint64_t cycle)
{
	const struct eliminate *el = &c->el;
	const uint64_t known = el->cycles > 1 ? active_before(&c->rn, el->cycles > 2) : cycle, ready = c->reg[src];
	unsigned taken = 0;
	if (f->recent[0] >> 8 >= known) {
		taken = f->recent[0] & 255;
		taken += f->recent[1] >> 8 >= known ? f->recent[1] & 255 : 0;
		taken += f->recent[2] >> 8 >= known ? f->recent[2] & 255 : 0;
	}
	struct copied *same = NULL, *end = f->copied + f->count;
	for (struct copied *s = f->copied; s < end; s++) {
		if ((least > 1 || UNLIKELY(c->reg[s->name] != s->ready)) && !named(c, s, least)) {
			*s-- = *--end;
			continue;
		}
		taken += s->since < known;
		same = s->ready == ready ? s : same;
	}
	f->count = (uint32_t)(end - f->copied);
	if (taken >= el->slots || (!same && f->count == COPIES_MAX))
		return false;
	if (!same) {
		same = end;
		f->count++;
		*same = (struct copied){ .ready = ready, .since = cycle, .name = dst };
	}
	same->names |= UINT64_C(1) << src | UINT64_C(1) << dst;
	if (cycle != f->recent[0] >> 8) {
		f->recent[2] = f->recent[1];
		f->recent[1] = f->recent[0];
		f->recent[0] = cycle << 8;
	}
	f->recent[0]++;
	return true;
}

bool eliminate_copy(struct core *c, unsigned src, unsigned dst, uint64_t cycle)
{
	struct eliminate *el = &c->el;
	return src < REG_VEC && el->least == 1 ? eliminate_one(c, &el->file[0], 1, src, dst, cycle) :
	       eliminate_one(c, &el->file[src >= REG_VEC], 2, src, dst, cycle);
}
