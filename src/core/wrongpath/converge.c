/* SPDX-License-Identifier: GPL-2.0-or-later
 * Searches for an instruction in the blocks that were read and have not run yet (converge.h).
 */
#include "core/wrongpath/converge.h"

/* The address that it has in one execution of a block. */
static bool in_block(const struct converge_block *e, uint64_t ip, bool store, uint64_t *addr)
{
	const struct iblock *b = e->block;
	for (unsigned i = 0; i < b->insns; i++) {
		const struct insn *in = &b->insn[i];
		if (in->addr != ip)
			continue;
		for (unsigned k = in->first_slot; k < in->first_slot + in->slots && k < e->nslots; k++) {
			if (b->slot[k].kind == ST_SLOT_REG || (b->slot[k].kind == ST_SLOT_STORE) != store)
				continue;
			*addr = e->slots[k];
			return *addr != ST_NOT_DONE;
		}
		return false;
	}
	return false;
}

bool converge_address(struct converge *c, uint64_t ip, bool store, uint32_t walk, uint64_t *addr)
{
	const uint64_t bit = converge_bit(ip);
	const unsigned at = (unsigned)__builtin_ctzll(bit);
	const bool before = c->place[at].ip == ip && c->place[at].walk == walk;
	uint32_t n = before ? c->place[at].next : c->first;
	bool found = false;
	while (n != c->end && !found) {
		const struct converge_block *e = &c->block[n++ & (CONVERGE_BLOCKS - 1)];
		found = e->accesses & bit && in_block(e, ip, store, addr);
	}
	c->place[at].ip = ip;
	c->place[at].walk = walk;
	c->place[at].next = n;
	return found;
}
