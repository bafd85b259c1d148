/* SPDX-License-Identifier: GPL-2.0-or-later
 * What the PMU's tests share: event tables, a batch builder, and the naive evaluation of an event: every quantity of
 * every cycle in an array, and the definition of the expression applied to it.
 */
#ifndef PMU_FIXTURE_H
#define PMU_FIXTURE_H
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "pmu/pmu_internal.h"

#define STATUS_CTR_FRZ (UINT64_C(1) << 59)
#define DEBUGCTL_FREEZE_PERFMON_ON_PMI (UINT64_C(1) << 12)
#define PMU_COUNTER_MASK ((UINT64_C(1) << 48) - 1)	/* of the architectural PMUs tested here */

static struct spmu_model *fixture_model(const char *name)
{
	char path[512], text[300] = "";
	const char *top = getenv("TOP");
	struct spmu_model *m = NULL;
	snprintf(path, sizeof path, "%s/data/events/%s.tsv", top ? top : ".", name);
	if (spmu_model_load(&m, path, text, sizeof text))
		fail_msg("%s", text);
	return m;
}

static inline struct spmu *fixture_pmu(const struct spmu_model *m, const struct spmu_host *host)
{
	struct spmu *p = NULL;
	assert_int_equal(spmu_create(&p, m, host), SPMU_OK);
	assert_int_equal(spmu_apic_write(p, SPMU_APIC_LVT_PC, 0x400), SPMU_OK);	/* NMI, not masked */
	assert_int_equal(spmu_wrmsr(p, MSR_IA32_PERF_GLOBAL_CTRL, ((UINT64_C(1) << m->gp) - 1) | ((UINT64_C(1) << m->fixed) - 1) << 32),
		SPMU_OK);
	return p;
}

static inline uint64_t fixture_read(const struct spmu *p, uint32_t msr)
{
	uint64_t v = 0;
	assert_int_equal(spmu_rdmsr(p, msr, &v), SPMU_OK);
	return v;
}

/* PERFEVTSEL image of an event, enabled, user and kernel. */
static inline uint64_t fixture_evtsel(const struct spmu_event *e)
{
	return e->event | (uint64_t)e->umask << 8 | SPMU_EVTSEL_CMASK(e->cmask) | (e->inv ? SPMU_EVTSEL_INV : 0) |
		(e->edge ? SPMU_EVTSEL_EDGE : 0) | SPMU_EVTSEL_USR | SPMU_EVTSEL_OS | SPMU_EVTSEL_EN;
}

static inline const struct spmu_event *fixture_event(const struct spmu_model *m, const char *name)
{
	const struct spmu_event *e = spmu_model_find(m, name);
	if (!e)
		fail_msg("no event %s", name);
	return e;
}

static inline void fixture_program(struct spmu *p, unsigned pmc, const char *name, uint64_t more)
{
	assert_int_equal(spmu_wrmsr(p, MSR_IA32_PERFEVTSEL0 + pmc, fixture_evtsel(fixture_event(p->model, name)) | more), SPMU_OK);
}

/* ---- batches: records with absolute cycles, cut and sent -------------------------------------------------------- */

struct stream { struct spmu_record *r; uint64_t (*at)[6]; size_t n, room; };	/* at: absolute cycles (signals: begin, end) */

static inline struct spmu_record *stream_add(struct stream *s)
{
	if (s->n == s->room) {
		s->room = s->room ? 2 * s->room : 1024;
		s->r = realloc(s->r, s->room * sizeof *s->r);
		s->at = realloc(s->at, s->room * sizeof *s->at);
	}
	memset(&s->r[s->n], 0, sizeof *s->r);
	memset(s->at[s->n], 0, sizeof *s->at);
	return &s->r[s->n++];
}

static inline void stream_free(struct stream *s)
{
	free(s->r);
	free(s->at);
	memset(s, 0, sizeof *s);
}

/* One instruction of one uop; stages one cycle apart up to `retire`. */
static inline struct spmu_record *stream_inst(struct stream *s, uint64_t ip, uint64_t is, uint64_t did, uint64_t retire)
{
	struct spmu_record *r = stream_add(s);
	r->kind = SPMU_REC_UOP;
	r->cpl = 3;
	r->port = 0;
	r->ip = ip;
	r->is = is | SPMU_IS(INST_BEGIN) | SPMU_IS(INST_END) | SPMU_IS(SLOT) | SPMU_IS(EXEC);
	r->did = did | SPMU_DID(RETIRED);
	for (unsigned k = 0; k < 6; k++)
		s->at[s->n - 1][k] = retire >= 5 - k ? retire - 5 + k : 0;
	return r;
}

static inline void stream_signal(struct stream *s, unsigned signal, uint64_t begin, uint64_t end, uint64_t count)
{
	struct spmu_record *r = stream_add(s);
	r->kind = SPMU_REC_SIGNAL;
	r->cpl = 3;
	r->port = 255;
	r->signal = signal;
	r->did = count;
	s->at[s->n - 1][0] = begin;
	s->at[s->n - 1][1] = end;
}

static inline uint64_t stream_lowest(const struct stream *s, size_t i)
{
	uint64_t low = UINT64_MAX;
	for (unsigned k = 0; k < (s->r[i].kind == SPMU_REC_UOP ? 6u : 1u); k++)
		if (s->at[i][k] < low)
			low = s->at[i][k];
	return low;
}

/* Sends records [from, to) as one batch.  base: at or below all of them. */
static inline void stream_send(struct stream *s, size_t from, size_t to, uint64_t base, uint64_t watermark, bool last, struct spmu *p)
{
	static struct spmu_record copy[SPMU_BATCH_MAX];
	assert_true(to - from <= SPMU_BATCH_MAX);
	struct spmu_batch b = { .base_cycle = base, .watermark = watermark, .count = (uint32_t)(to - from), .is_last = last,
		.user_only = 1, .records = copy };
	for (size_t i = from; i < to; i++) {
		struct spmu_record *r = &copy[i - from];
		const uint64_t *at = s->at[i];
		*r = s->r[i];
		b.user_only &= r->cpl == 3 && r->hw_thread == s->r[from].hw_thread;
		b.hw_threads |= UINT64_C(1) << (r->hw_thread & 63);
		if (r->kind != SPMU_REC_UOP) {
			r->begin = (uint32_t)(at[0] - base);
			r->end = (uint32_t)(at[1] - base);
			continue;
		}
		if (r->did & SPMU_DID(RETIRED))
			b.instructions += !!(r->is & SPMU_IS(INST_END)) + !!(r->is & SPMU_IS(INST_END2));
		uint32_t *out[6] = { &r->fetch, &r->alloc, &r->ready, &r->dispatch, &r->complete, &r->retire };
		for (unsigned k = 0; k < 6; k++)
			*out[k] = at[k] == PMU_NEVER ? UINT32_MAX : (uint32_t)(at[k] - base);
	}
	spmu_consume(p, &b);
}

/* Sends everything: one batch, the last. */
static inline void stream_send_all(struct stream *s, struct spmu *p)
{
	uint64_t top = 0;
	for (size_t i = 0; i < s->n; i++)
		for (unsigned k = 0; k < 6; k++)
			if (s->at[i][k] != PMU_NEVER && s->at[i][k] > top)
				top = s->at[i][k];
	stream_send(s, 0, s->n, 0, top + 1, true, p);
}

/* Sends everything in batches of about 1 to `largest` records, sizes drawn from *seed, with the tightest watermarks less
 * a slack.  As a core does, a batch ends with CYCLES up to its last retirement. */
static inline uint64_t draw(uint64_t *seed, uint64_t below)
{
	*seed ^= *seed << 13;
	*seed ^= *seed >> 7;
	*seed ^= *seed << 17;
	return below ? *seed % below : 0;
}

static inline void stream_send_cut(struct stream *s, struct spmu *p, uint64_t seed, size_t largest)
{
	uint64_t *low = malloc((s->n + 1) * sizeof *low), base = 0;
	low[s->n] = UINT64_MAX;
	for (size_t i = s->n; i-- > 0;) {
		uint64_t own = stream_lowest(s, i);
		low[i] = own < low[i + 1] ? own : low[i + 1];
	}
	for (size_t from = 0; from < s->n;) {
		size_t to = from + 1 + draw(&seed, largest);
		while (to < s->n && to - from < SPMU_BATCH_MAX && !(s->r[to - 1].kind == SPMU_REC_SIGNAL && s->r[to - 1].signal == SPMU_SIG_CYCLES))
			to++;
		if (to > s->n)
			to = s->n;
		bool last = to == s->n;
		uint64_t slack = draw(&seed, 4) ? 0 : draw(&seed, 40);
		uint64_t mark = last ? base : low[to] > base + slack ? low[to] - slack : base;
		stream_send(s, from, to, base, mark, last, p);
		base = mark;
		from = to;
	}
	free(low);
}

/* ---- the naive evaluation ---------------------------------------------------------------------------------------- */

struct naive { uint64_t cycles; int64_t *v; uint64_t *running; };

/* Tags of events with an MSR of their own, by what their names say; `at`: cycles of the stages. */
static inline bool naive_tagged(const struct spmu_model *m, const struct spmu_event *e, const struct spmu_record *r, const uint64_t *at)
{
	static const struct { uint8_t code, format; uint64_t is, did; } front[] = {
		{ 0x01, 4, SPMU_IS(INST_BEGIN), SPMU_DID(FROM_MITE) }, { 0x11, 3, SPMU_IS(INST_BEGIN), SPMU_DID(FROM_MITE) },
		{ 0x12, 3, 0, SPMU_DID(ICACHE_MISS) }, { 0x13, 3, 0, SPMU_DID(FETCH_L2_MISS) }, { 0x14, 3, 0, SPMU_DID(ITLB_MISS_F) },
		{ 0x15, 3, 0, SPMU_DID(FETCH_STLB_MISS) }, { 0x17, 4, 0, SPMU_DID(BTB_MISS) }, { 0x08, 4, SPMU_IS(INST_BEGIN), SPMU_DID(FROM_MS) },
	};
	if (e->extra_msr == MSR_PEBS_LD_LAT_THRESHOLD)
		return r->is & SPMU_IS(LOAD) && !(r->is & SPMU_IS(PREFETCH_SW)) && at[STAGE_DISPATCH] != PMU_NEVER && at[STAGE_COMPLETE] != PMU_NEVER &&
			at[STAGE_COMPLETE] > at[STAGE_DISPATCH] + (e->extra < 3 ? 3 : e->extra);
	for (size_t i = 0; e->extra_msr == MSR_PEBS_FRONTEND && i < sizeof front / sizeof *front; i++)
		if (front[i].code == e->extra && (m->capabilities >> 8 & 15) >= front[i].format)
			return (r->is & front[i].is) == front[i].is && r->did & front[i].did;
	return false;
}

/* The tests' random uops are issued in no order, which the events behind stretches of empty slots take for granted (test_pmu_pebs_record has them). */
static inline bool naive_knows(const struct spmu_model *m, const struct spmu_event *e)
{
	return e->extra_msr != MSR_PEBS_FRONTEND || !((e->extra & 0xff) == 0x06 || (e->extra == 0x11 && (m->capabilities >> 8 & 15) >= 4));
}

/* Writes what an event on counter `pmc` needs beside PERFEVTSEL. */
static inline void fixture_extra(struct spmu *p, const struct spmu_event *e, unsigned pmc)
{
	if (!e->extra_msr)
		return;
	assert_int_equal(spmu_wrmsr(p, e->extra_msr, e->extra), SPMU_OK);
	if (e->extra_msr == MSR_PEBS_LD_LAT_THRESHOLD && pmc < 4)
		assert_int_equal(spmu_wrmsr(p, MSR_IA32_PEBS_ENABLE, (p->model->capabilities >> 8 & 15) < 4 ? UINT64_C(0x100000001) << pmc : UINT64_C(1) << pmc), SPMU_OK);
	else if (e->extra_msr == MSR_PEBS_LD_LAT_THRESHOLD)
		assert_int_equal(spmu_wrmsr(p, MSR_IA32_PEBS_ENABLE, UINT64_C(1) << pmc), SPMU_OK);
}

static inline bool naive_match(const struct pmu_source *s, const struct spmu_record *r)
{
	for (unsigned bit = 0; bit < 64; bit++) {
		uint64_t one = UINT64_C(1) << bit;
		if ((s->is_mask & one) && (r->is & one) != (s->is_want & one))
			return false;
		if ((s->did_mask & one) && (r->did & one) != (s->did_want & one))
			return false;
	}
	if ((s->any_is || s->any_did) && !(r->is & s->any_is) && !(r->did & s->any_did))
		return false;
	return !s->ports || (r->port < 16 && (s->ports & (1u << r->port)));
}

/* How much the source adds in each cycle [0, cycles), to be freed. */
static inline int64_t *naive_source(const struct spmu_model *m, const struct spmu_event *e, const struct stream *s, const struct pmu_source *src, uint64_t cycles,
	unsigned cpl_mask)
{
	int64_t *v = calloc(cycles, sizeof *v);
	for (size_t i = 0; i < s->n; i++) {
		const struct spmu_record *r = &s->r[i];
		const uint64_t *at = s->at[i];
		if (!(cpl_mask & (r->cpl ? 1 : 2)))
			continue;
		if (r->kind == SPMU_REC_UOP && !src->is_signal && naive_match(src, r) && (!src->tagged || !e->extra_msr || naive_tagged(m, e, r, at))) {
			uint64_t a = at[src->stage], b = src->until == STAGE_NONE ? a + 1 : at[src->until];
			if (a == PMU_NEVER || b == PMU_NEVER)
				continue;
			for (uint64_t c = a; c < b; c++)
				v[c]++;
		}
		if (r->kind == SPMU_REC_UOP || !src->is_signal || r->signal != src->signal)
			continue;
		enum spmu_signal_kind kind = pmu_signal_kind(r->signal);
		if (src->form == FORM_BEGINS)
			v[at[0]]++;
		else if (src->form == FORM_ENDS)
			v[at[1]]++;
		else if (src->form == FORM_VALUE && kind == SPMU_POINT)
			v[at[0]] += (int64_t)r->did;
		else for (uint64_t c = at[0]; c < at[1]; c++) {
			if (src->form == FORM_VALUE && kind == SPMU_INTERVAL)
				v[c] = 1;
			else
				v[c] += kind == SPMU_OCCUPANCY ? (int64_t)r->did : 1;
		}
	}
	return v;
}

static inline bool naive_compare(int64_t v, const struct pmu_cond *c)
{
	static const bool table[6][3] = {	/* below, equal, above */
		[OP_GE] = { 0, 1, 1 }, [OP_GT] = { 0, 0, 1 }, [OP_LE] = { 1, 1, 0 }, [OP_LT] = { 1, 0, 0 }, [OP_EQ] = { 0, 1, 0 },
		[OP_NE] = { 1, 0, 1 },
	};
	return table[c->op][v < (int64_t)c->value ? 0 : v == (int64_t)c->value ? 1 : 2];
}

static inline uint64_t naive_count(const struct spmu_model *m, const struct stream *s, const struct pmu_row *row, uint64_t cycles,
	unsigned cpl_mask, unsigned cmask, bool inv, bool edge)
{
	static int64_t *v[PMU_MAX_SOURCES];
	struct pmu_source running = { .is_signal = 1, .signal = SPMU_SIG_CYCLES, .until = STAGE_NONE };
	int64_t *on = naive_source(m, &row->public, s, &running, cycles, cpl_mask);
	const struct pmu_expr *x = &row->expr;
	uint64_t total = 0, rest = 0;
	bool previous = false;
#define NAIVE(i) (v[i] ? v[i] : (v[i] = naive_source(m, &row->public, s, &m->source[i], cycles, cpl_mask)))
	for (uint64_t c = 0; c < cycles; c++) {
		uint64_t sum = 0;
		for (unsigned t = 0; t < x->terms; t++) {
			const struct pmu_term *term = &x->term[t];
			if (!term->conds) {
				sum += (uint64_t)NAIVE(term->source)[c] * term->num;
				continue;
			}
			bool all = on[c];
			for (unsigned j = 0; j < term->conds; j++) {
				int64_t w = 0;
				for (unsigned a = 0; a < term->cond[j].sources; a++)
					w += NAIVE(term->cond[j].source[a])[c];
				all = all && naive_compare(w, &term->cond[j]);
			}
			sum += all ? term->num : 0;
		}
		rest += sum;
		sum = rest / x->term[0].den;
		rest %= x->term[0].den;
		if (cmask || edge) {
			bool now = !cmask ? sum > 0 : inv ? sum < cmask && on[c] : sum >= cmask;
			total += edge ? now && !previous : now;
			previous = now;
		} else {
			total += sum;
		}
	}
#undef NAIVE
	for (size_t i = 0; i < m->sources; i++) {
		free(v[i]);
		v[i] = NULL;
	}
	free(on);
	return total;
}

/* A random run of a core: program order, in-order retirement, some squashed uops, every signal, a halt or two. */
static inline uint64_t stream_random(struct stream *s, uint64_t seed, size_t uops)
{
	uint64_t now = 10, retire = 20, cycles_from = 5, top = 0, inst = 0;
	bool begin = true;
	for (size_t i = 0; i < uops; i++) {
		while (draw(&seed, 100) < 35) {
			unsigned signal = (unsigned)draw(&seed, SPMU_SIG_COUNT);
			uint64_t b = now + draw(&seed, 60), e = b + (draw(&seed, 8) ? draw(&seed, 30) : draw(&seed, 400));
			if (signal == SPMU_SIG_CYCLES)
				continue;
			stream_signal(s, signal, b, pmu_signal_kind(signal) == SPMU_POINT ? b : e, 1 + draw(&seed, 4));
		}
		now += draw(&seed, 4) ? draw(&seed, 2) : draw(&seed, 20) ? draw(&seed, 12) : draw(&seed, 500);
		bool squashed = begin && draw(&seed, 100) < 15;
		uint64_t is = 0, did = 0;
		for (unsigned k = 0; k < 8; k++) {
			is |= UINT64_C(1) << draw(&seed, SPMU_IS_COUNT);
			did |= UINT64_C(1) << draw(&seed, SPMU_DID_COUNT);
		}
		is |= draw(&seed, 2) ? SPMU_IS(EXEC) | SPMU_IS(LOAD) : SPMU_IS(EXEC);
		is |= draw(&seed, 3) ? SPMU_IS(SLOT) : 0;
		did &= ~SPMU_DID(RETIRED);
		is &= ~(SPMU_IS(INST_BEGIN) | SPMU_IS(INST_END));
		struct spmu_record *r = stream_add(s);
		uint64_t *at = s->at[s->n - 1];
		r->kind = SPMU_REC_UOP;
		r->cpl = draw(&seed, 8) ? 3 : 0;
		r->port = (uint8_t)(draw(&seed, 9) ? draw(&seed, 12) : 255);
		at[0] = now;
		at[1] = at[0] + draw(&seed, 20);
		at[2] = at[1] + draw(&seed, 10);
		at[3] = at[2] + draw(&seed, 30);
		at[4] = at[3] + (draw(&seed, 10) ? 1 + draw(&seed, 6) : draw(&seed, 300));
		if (squashed) {
			at[5] = at[4] + 1;
			if (!draw(&seed, 3))
				at[3] = at[4] = PMU_NEVER;
		} else {
			retire = at[4] + 1 > retire ? at[4] + 1 : retire;
			at[5] = retire;
			did |= SPMU_DID(RETIRED);
			is |= begin ? SPMU_IS(INST_BEGIN) : 0;
			inst += begin;
			begin = draw(&seed, 3);
			is |= begin ? SPMU_IS(INST_END) : 0;
		}
		r->ip = 0x400000 + 16 * inst;
		r->is = is;
		r->did = did;
		if (!draw(&seed, 12) && retire > cycles_from) {
			stream_signal(s, SPMU_SIG_CYCLES, cycles_from, retire, 1);
			cycles_from = retire;
			if (!draw(&seed, 30)) {	/* halted for a while */
				now = retire + 50 + draw(&seed, 3000);
				cycles_from = now - 5;
			}
		}
	}
	if (retire > cycles_from)
		stream_signal(s, SPMU_SIG_CYCLES, cycles_from, retire, 1);
	for (size_t i = 0; i < s->n; i++)
		for (unsigned k = 0; k < 6; k++)
			if (s->at[i][k] != PMU_NEVER && s->at[i][k] > top)
				top = s->at[i][k];
	return top + 2;
}
#endif
