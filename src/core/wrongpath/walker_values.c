/* SPDX-License-Identifier: GPL-2.0-or-later
 * Flags and conditions on the wrong path, and its accesses that walker_values.h does not do inline.
 */
#include "core/wrongpath/walker_values.h"

int walk_flag(const struct walk_state *x, unsigned which)
{
	static const uint8_t bit[] = { [0] = 11, [1] = 0, [2] = 6, [4] = 7, [5] = 2 };
	if (x->flags == FLAGS_BITS)
		return x->a >> bit[which] & 1;
	if (x->flags == FLAGS_UNKNOWN)
		return -1;
	const uint64_t top = UINT64_C(1) << (8 * x->flags_size - 1);	/* only the other kinds have a size */
	switch (which) {
	case 2: return x->r == 0;
	case 4: return (x->r & top) != 0;
	case 5: return !(__builtin_popcount((unsigned)x->r & 255) & 1);
	case 1:
		return x->flags == FLAGS_ADD ? x->r < x->a : x->flags == FLAGS_SUB ? x->a < x->b :
			x->flags == FLAGS_LOGIC ? 0 : -1;
	default:
		switch (x->flags) {
		case FLAGS_ADD: return (~(x->a ^ x->b) & (x->a ^ x->r) & top) != 0;
		case FLAGS_SUB: return ((x->a ^ x->b) & (x->a ^ x->r) & top) != 0;
		case FLAGS_LOGIC: return 0;
		case FLAGS_INC: return x->r == top;
		case FLAGS_DEC: return x->r == top - 1;
		default: return -1;
		}
	}
}

int walk_condition(const struct walk_state *x, unsigned cc)
{
	int a, b;
	switch (cc >> 1) {
	case 3:			/* CF or ZF */
		a = walk_flag(x, 1), b = walk_flag(x, 2);
		a = a > 0 || b > 0 ? 1 : a < 0 || b < 0 ? -1 : 0;
		break;
	case 6: case 7:		/* SF is not OF; or ZF */
		a = walk_flag(x, 4), b = walk_flag(x, 0);
		a = a < 0 || b < 0 ? -1 : a != b;
		if (cc >> 1 == 7) {
			b = walk_flag(x, 2);
			a = a > 0 || b > 0 ? 1 : a < 0 || b < 0 ? -1 : 0;
		}
		break;
	default:
		a = walk_flag(x, cc >> 1);
	}
	return a < 0 ? -1 : a ^ (int)(cc & 1);
}

static inline struct overlay *overlay_of(struct walker *w, uint64_t word)
{
	unsigned i = (unsigned)(word ^ word >> 8) & (OVERLAY - 1);
	while (w->overlay[i].walk == w->walks && w->overlay[i].word != word)
		i = (i + 1) & (OVERLAY - 1);
	return &w->overlay[i];
}

void walk_store_parts(struct walk_state *x, uint64_t addr, unsigned bytes, uint64_t v, bool known)
{
	struct walker *w = x->w;
	while (bytes) {
		const unsigned offset = addr & 7, n = bytes < 8 - offset ? bytes : 8 - offset;
		struct overlay *o = overlay_of(w, addr >> 3);
		const uint8_t set = (uint8_t)(((1u << n) - 1) << offset);
		const uint64_t m = walk_mask(n) << 8 * offset;
		if (o->walk != w->walks) {
			*o = (struct overlay){ .word = addr >> 3, .walk = w->walks };
			w->stores++;
		}
		o->written |= set;
		o->known = (uint8_t)(known ? o->known | set : o->known & ~set);
		o->value = (o->value & ~m) | (v << 8 * offset & m);
		v = n < 8 ? v >> 8 * n : 0;
		addr += n;
		bytes -= n;
	}
}

bool walk_load_parts(const struct walk_state *x, uint64_t addr, unsigned bytes, uint64_t *v)
{
	struct walker *w = x->w;
	uint64_t value = 0;
	for (unsigned done = 0; done < bytes;) {
		const unsigned offset = (addr + done) & 7, n = bytes - done < 8 - offset ? bytes - done : 8 - offset;
		const uint8_t set = (uint8_t)(((1u << n) - 1) << offset);
		const struct overlay *o = overlay_of(w, (addr + done) >> 3);
		uint64_t part;
		if (o->walk == w->walks && o->written & set) {
			/* partly an old value, partly a new one: unknown */
			if ((o->known & set) != set)
				return false;
			part = o->value >> 8 * offset & walk_mask(n);
		} else if (!walk_memory_read(w->space, addr + done, n, &part)) {
			return false;
		}
		value |= part << 8 * done;
		done += n;
	}
	*v = value;
	return true;
}
