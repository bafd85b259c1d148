/* SPDX-License-Identifier: GPL-2.0-or-later
 * Functional warming of the memory side (memsys_warm.h).
 *
 * An access that hits L1 and the first-level TLB leaves the state that the general paths leave: it touches the
 * replacement states, those of the TLB only if the page is not the youngest of its set already.  All other accesses
 * take the general paths.
 */
#include "core/memory/memsys_state.h"
#include "core/memory/memsys_warm.h"

enum { FETCH_AHEAD = 32 };	/* memsys_feed_back prefetches the host's lines of L3's tags for so many lines ahead */

#define ALWAYS_INLINE static inline __attribute__((always_inline))

/* Proves that the page is in this TLB, and touches it there.  *youngest: the page of the TLB's last lookup, whose touch
 * would change nothing.  Returns false, and changes nothing, if the general path must look. */
ALWAYS_INLINE bool in_tlb(struct memsys *m, struct tlb *t, uint64_t page, uint64_t *youngest, bool data)
{
	if (__builtin_expect(page == *youngest, 1))
		return true;
	const uint32_t at = t->guess[page % TLB_GUESSES];
	if (t->page[at] != page || (data && has_code(m, page)))
		return false;
	repl_touch_plru(&t->repl, &t->word[page & t->mask], at & ((1u << t->log2) - 1));
	*youngest = page;
	return true;
}

ALWAYS_INLINE void fetch(struct memsys *m, uint64_t addr)
{
	const uint64_t vline = addr >> LINE_LOG2;
	uint32_t slot;
	if (__builtin_expect(l1_guess(&m->l1i, vline, &slot) && !(m->l1i.state[slot] & LINE_PREFETCHED) &&
			    in_tlb(m, &m->itlb, addr >> m->page_shift, &m->last_code_page, false),
		    1))
		l1_touch(&m->l1i, vline, slot);
	else
		memsys_warm_fetch(m, addr);
}

ALWAYS_INLINE bool hits(struct memsys *m, struct tlb *t, uint64_t addr, uint32_t size, uint64_t *youngest,
	uint8_t bad_states, uint32_t *slot)
{
	const uint64_t vline = addr >> LINE_LOG2;
	if ((addr & (LINE_BYTES - 1)) + size - 1 >= m->quick_bytes || !l1_guess(&m->l1d, vline, slot) ||
		m->l1d.state[*slot] & bad_states || !in_tlb(m, t, addr >> m->page_shift, youngest, true))
		return false;
	repl_touch_plru(&m->l1d.repl, &m->l1d.word[vline & m->l1d.mask], *slot & m->l1d.ways_mask);
	return true;
}

/* Of load and store, op: the access; insn: the block's instructions, which are only looked at if there is a miss. */
ALWAYS_INLINE void load(struct memsys *m, const struct insn *insn, const struct warm_op *op, uint64_t addr)
{
	uint32_t slot;
	if (__builtin_expect(!hits(m, &m->dtlb, addr, op->size, &m->last_page, LINE_PREFETCHED, &slot), 0))
		memsys_warm_data(m, insn[op->insn].addr, addr, op->size, false);
}

ALWAYS_INLINE void store(struct memsys *m, const struct insn *insn, const struct warm_op *op, uint64_t addr)
{
	struct tlb *t = m->has_dtlb_store ? &m->dtlb_store : &m->dtlb;
	uint64_t *youngest = m->has_dtlb_store ? &m->last_store_page : &m->last_page;
	uint32_t slot;
	if (__builtin_expect(m->store_fast &&
			    hits(m, t, addr, op->size, youngest, LINE_PREFETCHED | LINE_SHARED, &slot),
		    1))
		m->l1d.state[slot] |= LINE_DIRTY;
	else
		memsys_warm_data(m, insn[op->insn].addr, addr, op->size, true);
}

void memsys_warm(struct memsys *m, const struct warm_op *op, size_t ops, const struct insn *insn, const uint64_t *slots)
{
	for (const struct warm_op *end = op + ops; op < end; op++) {
		if (op->kind == WARM_FETCH) {
			fetch(m, insn[op->insn].addr);
			continue;
		}
		const uint64_t addr = slots[op->slot];
		if (__builtin_expect(addr == ST_NOT_DONE, 0))
			continue;
		if (op->kind == WARM_LOAD)
			load(m, insn, op, addr);
		else if (op->kind == WARM_STORE)
			store(m, insn, op, addr);
		else if (op->kind == WARM_STREAM)
			memsys_warm_stream(m, addr, op->size);
		else if (op->kind == WARM_PREFETCH)
			memsys_warm_prefetch(m, addr);
		else if (op->size != FLUSH_DEMOTE || m->config.l3_demote)
			memsys_warm_flush(m, addr, op->size);
	}
}

/* --- what wrong paths brought --- */

/* Did the page map give this frame since it last followed another one? */
static bool gave(const struct frames *f, uint32_t frame)
{
	for (size_t i = 0; i < f->notes; i++)
		if (f->note[i].frame == frame)
			return true;
	return false;
}

static inline bool same_four(const uint32_t *a, const uint32_t *b)
{
	return _mm_movemask_epi8(_mm_cmpeq_epi32(_mm_load_si128((const __m128i *)a),
		_mm_load_si128((const __m128i *)b))) == 0xffff;
}

void memsys_feed_back(struct memsys *leader, const struct memsys *timed)
{
	struct memsys_shared *shared = leader->shared;
	l3_settle(shared);
	const __typeof__(leader->warmed) before = leader->warmed;
	if (leader->page_shift != 12 || !leader->has_stlb || leader->keeps_tlb)
		return;
	for (uint32_t i = 0; i < timed->stlb.sets << timed->stlb.log2; i++) {
		const uint64_t page = timed->stlb.page[i];
		if (page >> 61 || tlb_find(&leader->stlb, page) >= 0)	/* empty, or huge */
			continue;
		tlb_fill(&leader->stlb, page, frames_get(&shared->frames, 0, page));
	}
	const uint32_t lines = shared->has_l3 ? timed->l2.sets * timed->l2.stride : 0;
	for (uint32_t i = 0; i < lines; i++) {
		/* most are the same; lines is a multiple of 4 */
		if (!(i & 3) && same_four(&timed->l2.tag[i], &leader->l2.tag[i])) {
			i += 3;
			continue;
		}
		const uint32_t line = timed->l2.tag[i], ahead = i + FETCH_AHEAD < lines ? i + FETCH_AHEAD : i;
		if (timed->l2.tag[ahead] != leader->l2.tag[ahead])
			__builtin_prefetch(&shared->l3.tag[cache_set(&shared->l3, timed->l2.tag[ahead]) *
				shared->l3.stride]);
		enum inflight_source source;
		uint8_t state;
		if (line != leader->l2.tag[i] && line != LINE_NONE && cache_find(&leader->l2, line) < 0 &&
			(l3_settle(shared), cache_find(&shared->l3, line) < 0) &&	/* nothing changes there */
			!gave(&timed->shared->frames, line >> (12 - leader->line_log2)))
			l2_access(leader, line, 0, ACCESS_WALK, false, &source, &state);
	}
	l3_settle(shared);
	leader->warmed = before;
}
