/* SPDX-License-Identifier: BSD-2-Clause
 * What the intervals of signals cover.
 *
 * Intervals of one signal may overlap, and come out of order: several misses are under way at once.  An event such as
 * "cycles with a miss" counts each cycle once.  So each signal in use has a list of the cycles that its intervals have
 * covered so far, and a new interval is counted by its pieces: the parts that none before it had covered.  Cycles below
 * the watermark leave the list, since no interval reaches them any more.
 */
#include "pmu_count.h"
#include <stdlib.h>
#include <string.h>

static void piece_add(struct spmu *p, uint64_t begin, uint64_t end, unsigned signal, unsigned cover, bool kernel)
{
	if (p->pieces == p->piece_room) {
		size_t room = p->piece_room ? 2 * p->piece_room : 256;
		struct pmu_piece *piece = realloc(p->piece, room * sizeof *piece);
		if (!piece)
			return;
		p->piece = piece;
		p->piece_room = room;
	}
	p->piece[p->pieces++] = (struct pmu_piece){ begin, end, (uint8_t)signal, (uint8_t)cover, kernel };
}

/* Adds [begin, end) to the cycles that a signal covers; the parts that were not covered before become pieces. */
static void cover_add(struct spmu *p, unsigned signal, uint64_t begin, uint64_t end, unsigned cover, bool kernel)
{
	struct pmu_cover *v = &p->cover[cover][signal];
	if (begin < p->floor)
		begin = p->floor;
	if (begin >= end)
		return;
	size_t a = v->spans, b;
	while (a && v->span[a - 1].end >= begin)	/* afterwards, spans before `a` end below begin */
		a--;
	uint64_t at = begin, low = begin, high = end;
	for (b = a; b < v->spans && v->span[b].begin <= end; b++) {
		if (at < v->span[b].begin)
			piece_add(p, at, v->span[b].begin, signal, cover, kernel);
		if (at < v->span[b].end)
			at = v->span[b].end;
		if (v->span[b].begin < low)
			low = v->span[b].begin;
		if (v->span[b].end > high)
			high = v->span[b].end;
	}
	if (at < end)
		piece_add(p, at, end, signal, cover, kernel);
	if (a == b) {
		if (v->spans == v->room) {
			size_t room = v->room ? 2 * v->room : 16;
			struct pmu_span *span = realloc(v->span, room * sizeof *span);
			if (!span)
				return;		/* out of memory: this stretch may count twice */
			v->span = span;
			v->room = room;
		}
		memmove(&v->span[a + 1], &v->span[a], (v->spans - a) * sizeof *v->span);
		v->spans++;
	} else {
		memmove(&v->span[a + 1], &v->span[b], (v->spans - b) * sizeof *v->span);
		v->spans -= b - a - 1;
	}
	v->span[a] = (struct pmu_span){ low, high };
}

void pmu_cover_record(struct spmu *p, const struct spmu_batch *b, const struct spmu_record *r)
{
	uint64_t begin = b->base_cycle + r->begin, end = b->base_cycle + r->end;
	cover_add(p, r->signal, begin, end, pmu_thread(p, r->hw_thread), !r->cpl);
	if (p->others)
		cover_add(p, r->signal, begin, end, COVER_ANY, !r->cpl);
}

void pmu_cover_others(struct spmu *p)
{
	p->others = true;
	for (unsigned i = 0; i < SPMU_SIG_COUNT; i++) {
		const struct pmu_cover *from = &p->cover[COVER_OWN][i];
		struct pmu_span *span = from->spans ? malloc(from->spans * sizeof *span) : NULL;
		if (!span)
			continue;
		memcpy(span, from->span, from->spans * sizeof *span);
		p->cover[COVER_ANY][i] = (struct pmu_cover){ span, from->spans, from->spans };
	}
}

void pmu_cover_prune(struct spmu *p, uint64_t watermark)
{
	for (unsigned k = 0; k < (p->others ? PMU_COVERS : 1u); k = k == p->last_thread ? COVER_ANY : k + 1)
		for (unsigned w = 0; w < 2; w++)
			for (uint64_t set = p->intervals[w]; set; set &= set - 1) {
				struct pmu_cover *v = &p->cover[k][64 * w + (unsigned)__builtin_ctzll(set)];
				size_t n = 0;
				while (n < v->spans && v->span[n].end < watermark)
					n++;
				if (n) {
					memmove(v->span, v->span + n, (v->spans - n) * sizeof *v->span);
					v->spans -= n;
				}
			}
}

void pmu_cover_collect(struct spmu *p, const struct spmu_batch *b, const uint64_t set[2])
{
	if (!(set[0] | set[1]))
		return;
	for (uint32_t i = 0; i < b->count; i++) {
		const struct spmu_record *r = &b->records[i];
		if (r->kind != SPMU_REC_UOP && r->signal < SPMU_SIG_COUNT && pmu_in_set(set, r->signal))
			pmu_cover_record(p, b, r);
	}
}
