/* SPDX-License-Identifier: BSD-2-Clause
 * NetBurst's three tagging mechanisms: which uops carry a tag when they reach retirement.
 *
 * Front end: an RAT ESCR with event uop_type (02H) and tag enable marks loads (TAGLOADS) or stores (TAGSTORES):
 * one bit.  Execution: a FIRM ESCR with tag enable marks the uops that its event detects with its tag value:
 * four bits.  Replay:    MSR_PEBS_ENABLE, with UOP_TAG (bit 24), selects the causes of a replay that mark the
 *            uop: bit 0 a load that missed L1D, 1 a load that missed L2; 2 a miss of the data TLB; 15 and 16 a
 *            mispredicted branch; 9 a load blocked by a store; 10 an access that crosses a line.
 *            MSR_PEBS_MATRIX_VERT selects the uops: bit 0 loads, 1 stores, 4 branches.  Bit 9 also needs
 *            MOB_load_replay with PARTIAL_DATA and UNALGN_ADDR in an MOB ESCR; bit 10 needs SPLIT_LD in
 *            MSR_SAAT_ESCR1, SPLIT_ST in MSR_SAAT_ESCR0.
 * Source: SDM vol. 3B, "At-Retirement Counting" and its tables of front-end, execution and replay tagging
 * (19-31 to 19-33); B. Sprunt, "Pentium 4 Performance-Monitoring Features", IEEE Micro 22(4), 2002 (one bit,
 * four bits, one bit).
 *
 * An ESCR tags only while a counter that can see it or its pair is enabled: the manual says that counts may
 * otherwise be 0; here they are.
 * Never tagged: locked accesses, returns, far transfers (the manual's list; uncached and I/O accesses do not
 * occur in the model).
 * SPLIT_ST: MSR_SAAT_ESCR1 serves as well, because the table of non-retirement events names it for counting at
 * retirement.  GUESS: the ESCR's CPL and thread bits are compared with the uop's own privilege level; tagging
 * user code's loads with OS bits only settles it.
 */
#include "netburst_pmu.h"
#include <string.h>

enum {
	EVENT_UOP_TYPE = 0x02, EVENT_MOB_LOAD_REPLAY = 0x03, EVENT_LOAD_PORT_REPLAY = 0x04,
	EVENT_STORE_PORT_REPLAY = 0x05
};
enum { MASK_SPLIT = 1 << 1, MASK_MOB = 1 << 4 | 1 << 5, RULES = 64 };

struct rules { struct pmu_source match[RULES]; uint16_t tags[RULES], who[RULES]; unsigned n; };

static void rule(struct rules *t, const struct pmu_source *s, unsigned who, uint16_t tags)
{
	if (t->n == RULES || !who)
		return;
	struct pmu_source *m = &t->match[t->n];
	*m = *s;
	m->did_mask &= ~SPMU_DID(RETIRED);
	m->did_want &= ~SPMU_DID(RETIRED);
	m->tagged = m->untagged = 0;
	t->who[t->n] = (uint16_t)who;
	t->tags[t->n++] = tags;
}

/* The ESCR's value if it detects an event and a counter of its block is enabled; else 0. */
static uint32_t at_work(const struct spmu *p, uint32_t msr)
{
	int e = netburst_escr(p->model, msr);
	uint32_t set = e < 0 || !(p->netburst.escr[e] >> 25 & 63) ? 0 : netburst_block((unsigned)e);
	for (; set; set &= set - 1)
		if (netburst_running(p, (unsigned)__builtin_ctz(set)))
			return p->netburst.escr[e];
	return 0;
}

/* Adds the predicates of the rows that an ESCR which tags detects. */
static void by_escr(const struct spmu *p, struct rules *t, uint32_t msr, int event, int front_end)
{
	uint32_t v = at_work(p, msr);
	if (!(v & SPMU_ESCR_TAG_ENABLE) || (event >= 0 && (v >> 25 & 63) != (unsigned)event))
		return;
	uint16_t tags = front_end ? 1u << NETBURST_TAG_FRONT_END : v >> 5 & 15;
	for (size_t i = 0; i < p->model->rows && tags; i++) {
		const struct pmu_row *row = &p->model->row[i];
		if (!netburst_detects(row, msr, v >> 25 & 63) || row->public.umask & ~(v >> 9))
			continue;
		for (unsigned k = 0; k < row->expr.terms; k++)
			if (!row->expr.term[k].conds && !p->model->source[row->expr.term[k].source].is_signal)
				rule(t, &p->model->source[row->expr.term[k].source],
					netburst_tags_who(p, (unsigned)netburst_escr(p->model, msr),
						row->public.thread_independent), tags);
	}
}

static void replay(struct rules *t, unsigned who, uint64_t is, uint64_t did)
{
	const struct pmu_source s = { .is_mask = is, .is_want = is, .any_did = did, .until = STAGE_NONE };
	rule(t, &s, who, 1u << NETBURST_TAG_REPLAY);
}

/* The set of WHO_ that a replay's companion ESCR lets pass, if it has this event and all of these mask bits;
 * else 0. */
static unsigned companion(const struct spmu *p, uint32_t msr, unsigned event, uint32_t mask)
{
	uint32_t v = at_work(p, msr);
	return (v >> 25 & 63) == event && (v >> 9 & mask) == mask
		? netburst_tags_who(p, (unsigned)netburst_escr(p->model, msr), false) : 0;
}

static void by_replay(const struct spmu *p, struct rules *t)
{
	uint32_t on = p->netburst.pebs_enable, of = p->netburst.pebs_matrix;
	const uint64_t load = SPMU_IS(LOAD), store = SPMU_IS(STORE_ADDR);
	const unsigned all = pmu_everyone(p);
	if (!(on & SPMU_PEBS_UOP_TAG))
		return;
	if (on & 1 && of & 1)
		replay(t, all, load, SPMU_DID(L1D_MISS) | SPMU_DID(LFB_HIT));
	if (on & 2 && of & 1)
		replay(t, all, load, SPMU_DID(L2_MISS));
	if (on & 4 && of & 1)
		replay(t, all, load, SPMU_DID(DTLB_MISS));
	if (on & 4 && of & 2)
		replay(t, all, store, SPMU_DID(DTLB_MISS));
	if ((on >> 15 & 3) == 3 && of & 16)
		replay(t, all, SPMU_IS(BRANCH), SPMU_DID(MISPREDICTED));
	if (on >> 9 & 1 && of & 1)
		replay(t, companion(p, MSR_MOB_ESCR0, EVENT_MOB_LOAD_REPLAY, MASK_MOB) |
			companion(p, MSR_MOB_ESCR1, EVENT_MOB_LOAD_REPLAY, MASK_MOB), load, SPMU_DID(FORWARD_BLOCKED));
	if (on >> 10 & 1 && of & 1)
		replay(t, companion(p, MSR_SAAT_ESCR1, EVENT_LOAD_PORT_REPLAY, MASK_SPLIT), load,
			SPMU_DID(SPLIT_LINE) | SPMU_DID(SPLIT_PAGE));
	if (on >> 10 & 1 && of & 2)
		replay(t, companion(p, MSR_SAAT_ESCR0, EVENT_STORE_PORT_REPLAY, MASK_SPLIT) |
			companion(p, MSR_SAAT_ESCR1, EVENT_STORE_PORT_REPLAY, MASK_SPLIT), store,
			SPMU_DID(SPLIT_LINE) | SPMU_DID(SPLIT_PAGE));
}

void netburst_tag(struct spmu *p, const struct spmu_batch *b, uint16_t *tag)
{
	struct pmu_netburst_state *n = &p->netburst;
	struct rules t;
	t.n = 0;
	by_escr(p, &t, MSR_RAT_ESCR0, EVENT_UOP_TYPE, 1);
	by_escr(p, &t, MSR_RAT_ESCR1, EVENT_UOP_TYPE, 1);
	by_escr(p, &t, MSR_FIRM_ESCR0, -1, 0);
	by_escr(p, &t, MSR_FIRM_ESCR1, -1, 0);
	by_replay(p, &t);
	if (n->batch != p->batches) {
		n->batch = p->batches;
		memcpy(n->open, n->closing, sizeof n->open);
	}
	uint16_t open[PMU_THREADS], any = 0;
	memcpy(open, n->open, sizeof open);
	for (unsigned k = 0; k < PMU_THREADS; k++)
		any |= open[k];
	if (!t.n && !any) {
		memset(tag, 0, b->count * sizeof *tag);
		memset(n->closing, 0, sizeof n->closing);
		return;
	}
	const uint64_t never = SPMU_IS(LOCK) | SPMU_IS(RET) | SPMU_IS(FAR);
	for (uint32_t i = 0; i < b->count; i++) {
		const struct spmu_record *r = &b->records[i];
		tag[i] = 0;
		if (r->kind != SPMU_REC_UOP)
			continue;
		unsigned class = pmu_class(p, r);
		uint16_t *instruction = &open[class >> 1], tags = 0;
		for (unsigned k = 0; k < t.n; k++)
			if (t.who[k] >> class & 1 && !(r->is & never) && pmu_match(&t.match[k], r, 0))
				tags |= t.tags[k];
		if (r->is & SPMU_IS(INST_BEGIN))
			*instruction = 0;
		*instruction |= tags;
		tag[i] = tags;
		if (r->is & SPMU_IS(INST_END)) {
			tag[i] |= (uint16_t)(*instruction ? 1u << NETBURST_TAG_INSTRUCTION : 0);
			*instruction = 0;
		}
	}
	memcpy(n->closing, open, sizeof open);
}
