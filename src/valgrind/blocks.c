/* SPDX-License-Identifier: GPL-2.0-or-later
 * The blocks that exist.  Their descriptions are kept as long as their translations live, because a fault must find out
 * how far its block came, and a forked child must define the blocks that it inherits again.
 *
 * There are two kinds of discard.  When code changed or vanished (munmap, dlclose, a JIT), the core discards by address
 * range, and ST_DISCARD gives the reader that range.  When the translation table is recycled, single translations go
 * although their code is still valid; another translation that overlaps may live on, so no range is announced: the
 * id just does not come again.
 */
#include "tracer.h"
#include "core_private.h"

struct by_addr {
	struct by_addr *next;	/* VgHashNode */
	UWord nraddr;
	UInt id;
};

static struct st_block_def **defs;	/* by id; NULL once discarded */
static UInt defs_used, defs_size;
static VgHashTable *by_addr;
static UInt discarded_now;
static Bool again;	/* the discarded code is still valid */

void blocks_init(void)
{
	by_addr = VG_(HT_construct)("softpmu.blocks");
}

UInt blocks_next_id(void)
{
	return defs_used;
}

static void define(const struct st_block_def *def)
{
	SizeT bytes = ST_HEADER_LOW(def->header);

	VG_(memcpy)(ring_record(ST_BLOCK_DEF, bytes), def, bytes);
}

void blocks_add(const struct st_block_def *def, Addr nraddr)
{
	SizeT bytes = ST_HEADER_LOW(def->header);

	tl_assert(def->id == defs_used);
	if (defs_used == 0xffffffffu) {
		events_note(2, "more than 2^32 - 1 blocks");
		ring_end();
		VG_(exit)(1);
	}
	if (defs_used == defs_size) {
		defs_size = defs_size ? defs_size * 2 : 4096;
		defs = VG_(realloc)("softpmu.defs", defs, defs_size * sizeof *defs);
	}
	struct st_block_def *copy = VG_(malloc)("softpmu.def", bytes);
	VG_(memcpy)(copy, def, bytes);
	defs[defs_used++] = copy;
	struct by_addr *node = VG_(malloc)("softpmu.by_addr", sizeof *node);
	node->nraddr = nraddr;
	node->id = def->id;
	VG_(HT_add_node)(by_addr, node);
	define(def);
}

void blocks_define_all(void)
{
	for (UInt id = 0; id < defs_used; id++)
		if (defs[id])
			define(defs[id]);
}

/* A fault left a block.  The instructions before the one where the thread stands are complete; if the thread stands at
 * none of them (INT3 leaves with the address behind itself), all are. */
void blocks_cut(ThreadId tid, UInt id, UChar *at)
{
	if (id >= defs_used || !defs[id])
		return;		/* the core discarded the block already: nothing can be said about it */
	const struct st_block_def *def = defs[id];
	const struct st_insn_def *insns = (const struct st_insn_def *)(def + 1);
	const struct st_slot *slots = (const struct st_slot *)(insns + def->insns);
	Addr ip = VG_(get_IP)(tid);
	UInt done = 0, used = 0;

	while (done < def->insns && insns[done].addr != ip)
		done++;
	while (used < def->slots && slots[used].insn < done)
		used++;
	*(ULong *)at = ST_HEADER(ST_BLOCK_CUT, (ULong)done << 32 | id);
	ring.ptr = at + 8 + 8 * (SizeT)used;
}

void blocks_discarded(Addr orig_addr, VexGuestExtents extents)
{
	struct by_addr *node = VG_(HT_remove)(by_addr, orig_addr);

	(void)extents;
	if (!node)
		return;		/* it had no instruction that we could describe */
	VG_(free)(defs[node->id]);
	defs[node->id] = NULL;
	VG_(free)(node);
	discarded_now++;
}

void blocks_translate_again(void)
{
	again = True;
	VG_(discard_translations)(0, ~(Addr)0, "softpmu");
	again = False;
}

void __wrap_vgPlain_discard_translations(Addr start, ULong range, const HChar *who)
{
	discarded_now = 0;
	__real_vgPlain_discard_translations(start, range, who);
	if (discarded_now && !again && ring.running == VG_INVALID_THREADID) {
		struct st_range *r = ring_record(ST_DISCARD, sizeof *r);
		r->addr = start;
		r->bytes = range;
	}
}
