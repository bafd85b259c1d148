/* SPDX-License-Identifier: GPL-2.0-or-later
 * Compares PEBS, BTS and LBR with naive models, on random streams that are cut in random ways; and moves state from
 * one PMU to another.
 */
#include "pmu_ds_fixture.h"

enum { CAPACITY = 60, PEBS_BYTES = 200, UOPS = 3000 };

/* ---- naive models ------------------------------------------------------------------------------------------- */

struct naive_sampler {
	const struct pmu_row *row;
	uint64_t value, reset, armed_from;
	bool armed, exact;
	unsigned records;
	uint64_t ip[CAPACITY], cycle[CAPACITY];
};

static bool retired(const struct spmu_record *r)
{
	return r->kind == SPMU_REC_UOP && r->did & SPMU_DID(RETIRED);
}

static void sample(struct naive_sampler *c, const struct spmu_record *r, uint64_t cycle, uint64_t n)
{
	c->armed = false;
	if (c->records == CAPACITY) {
		c->value = (c->value + n) & PMU_COUNTER_MASK;
		return;
	}
	c->ip[c->records] = r->ip;
	c->cycle[c->records++] = cycle;
	c->value = c->reset;
}

static void naive_sample(struct naive_sampler *c, const struct spmu_model *m, const struct stream *s, uint64_t arming)
{
	for (size_t i = 0; i < s->n; i++) {
		const struct spmu_record *r = &s->r[i];
		uint64_t n = 0, cycle = s->at[i][STAGE_RETIRE];
		if (!retired(r))
			continue;
		for (unsigned t = 0; t < c->row->expr.terms; t++)
			n += naive_match(&m->source[c->row->expr.term[t].source], r) && (!c->row->public.extra_msr ||
				naive_tagged(m, &c->row->public, r, s->at[i])) ?
				c->row->expr.term[t].num : 0;
		if (!n)
			continue;
		if (c->armed && cycle >= c->armed_from) {
			sample(c, r, cycle, n);
		} else if (c->value + n <= PMU_COUNTER_MASK) {
			c->value += n;
		} else if (c->exact) {
			sample(c, r, cycle, n);
		} else {
			c->value = (c->value + n) & PMU_COUNTER_MASK;
			c->armed = true;
			c->armed_from = cycle + arming;
		}
	}
}

static bool taken(const struct spmu_record *r)
{
	return retired(r) && r->is & SPMU_IS(BRANCH) && r->did & SPMU_DID(TAKEN);
}

/* ---- the same twice ----------------------------------------------------------------------------------------- */

static bool plain(const struct spmu_model *m, const struct pmu_row *row)
{
	if (!(row->public.flags & SPMU_EVENT_PRECISE) || !row->expr.terms || row->public.cmask || row->public.inv ||
		row->public.edge)
		return false;
	for (unsigned t = 0; t < row->expr.terms; t++) {
		const struct pmu_source *s = &m->source[row->expr.term[t].source];
		if (row->expr.term[t].conds || row->expr.term[t].den != 1 || s->is_signal || s->stage != STAGE_RETIRE ||
			s->until != STAGE_NONE)
			return false;
	}
	return true;
}

static void test_precise_records_are_those_of_a_naive_sampler(void **state)
{
	(void)state;
	static const char *const names[] = { "skylake", "golden-cove" };
	unsigned records = 0;
	for (uint64_t seed = 1; seed <= 60; seed++) {
		struct spmu_model *m = fixture_model(names[seed & 1]);
		struct guest *g = guest_new();
		struct stream s = { 0 };
		uint64_t draws = seed * 77777;
		unsigned pmc = (unsigned)draw(&draws, 4), size = seed & 1 ? 32 : PEBS_BYTES, ip_at = seed & 1 ? 8
			: 0xb0, tsc_at = seed & 1 ? 24 : 0xc0;
		const struct pmu_row *row;
		do
			row = &m->row[draw(&draws, m->rows)];
		while (!plain(m, row) || !(row->public.pmc_mask >> pmc & 1) || !naive_knows(m, &row->public));
		struct naive_sampler c = { .row = row, .value = PMU_COUNTER_MASK - draw(&draws, 60) };
		c.reset = PMU_COUNTER_MASK - draw(&draws, seed % 3 ? 40 : 3);
		c.exact = seed & 1 ? pmc == 0 : pmc == 1 && row->public.event == 0xc0 && row->public.umask == 1;
		g->host.pebs_arming = (uint32_t)draw(&draws, 3) * 7;
		struct spmu *p = fixture_pmu(m, &g->host);
		guest_pebs(g, size, CAPACITY, 1000);
		guest_put(g, DS_AREA + 0x40 + 8 * pmc, c.reset, 8);
		put_msr(p, MSR_IA32_DS_AREA, DS_AREA);
		put_msr(p, MSR_IA32_PERFEVTSEL0 + pmc, fixture_evtsel(&row->public));
		put_msr(p, MSR_IA32_A_PMC0 + pmc, c.value);
		put_msr(p, MSR_IA32_PEBS_ENABLE, UINT64_C(1) << pmc);
		fixture_extra(p, &row->public, pmc);
		stream_random(&s, seed, UOPS);
		naive_sample(&c, m, &s, g->host.pebs_arming);
		if (seed % 4 > 1) {	/* another counter overflows meanwhile */
			unsigned other = (pmc + 1) & 3;
			put_msr(p, MSR_IA32_PERFEVTSEL0 + other, 0x3c | SPMU_EVTSEL_USR | SPMU_EVTSEL_OS |
				SPMU_EVTSEL_EN | SPMU_EVTSEL_INT);
			put_msr(p, MSR_IA32_A_PMC0 + other, PMU_COUNTER_MASK - 900);
		}
		stream_send_cut(&s, p, seed, seed % 5 ? 60 : 400);
		if (guest_records(g, size) != c.records)
			fail_msg("seed %llu, %s on %u: %u records, expected %u", (unsigned long long)seed,
				row->public.name, pmc, guest_records(g, size), c.records);
		for (unsigned i = 0; i < c.records; i++) {
			assert_int_equal(guest_u64(g, PEBS_BUFFER + size * i + ip_at), c.ip[i]);
			assert_int_equal(guest_u64(g, PEBS_BUFFER + size * i + tsc_at), c.cycle[i]);
		}
		assert_int_equal(fixture_read(p, MSR_IA32_PMC0 + pmc), c.value);
		records += c.records;
		stream_free(&s);
		spmu_destroy(p);
		spmu_model_free(m);
		free(g);
	}
	assert_true(records > 300);
}

static void test_branches_are_those_of_a_naive_recorder(void **state)
{
	(void)state;
	for (uint64_t seed = 1; seed <= 30; seed++) {
		struct spmu_model *m = fixture_model("skylake");
		struct guest *g = guest_new();
		struct stream s = { 0 };
		struct spmu *p = fixture_pmu(m, &g->host);
		uint64_t n = 0, last[32] = { 0 };
		unsigned off = (unsigned)seed & 3;	/* BTS_OFF_OS, BTS_OFF_USR */
		guest_bts(g, 24, 1000, 2000);
		put_msr(p, MSR_IA32_DS_AREA, DS_AREA);
		put_msr(p, MSR_IA32_DEBUGCTL, 0xc1 | off << 9);
		if (seed & 4) {
			put_msr(p, MSR_IA32_PERFEVTSEL0, 0xc0 | SPMU_EVTSEL_USR | SPMU_EVTSEL_EN | SPMU_EVTSEL_INT);
			put_msr(p, MSR_IA32_A_PMC0, PMU_COUNTER_MASK - 90);
		}
		stream_random(&s, seed, UOPS);
		for (size_t i = 0; i < s.n; i++) {
			s.r[i].is &= ~SPMU_IS(FAR);
			s.r[i].addr = i * 8;
		}
		stream_send_cut(&s, p, seed, 100);
		uint64_t at = BTS_BUFFER;
		for (size_t i = 0; i < s.n; i++) {
			if (!taken(&s.r[i]))
				continue;
			last[++n & 31] = s.r[i].ip;
			if (off >> !!s.r[i].cpl & 1)
				continue;
			assert_int_equal(guest_u64(g, at), s.r[i].ip);
			assert_int_equal(guest_u64(g, at + 8), s.r[i].addr);
			at += 24;
		}
		assert_int_equal(guest_u64(g, DS_AREA + 8), at);
		assert_int_equal(fixture_read(p, MSR_LASTBRANCH_TOS), n & 31);
		for (unsigned i = 0; i < 32; i++)
			assert_int_equal(fixture_read(p, MSR_LBR_NHM_FROM + i), last[i]);
		stream_free(&s);
		spmu_destroy(p);
		spmu_model_free(m);
		free(g);
	}
}

/* ---- state moves -------------------------------------------------------------------------------------------- */

static void test_a_restored_pmu_goes_on_as_the_saved_one(void **state)
{
	(void)state;
	static const char *const names[] = { "skylake", "golden-cove" };
	for (uint64_t seed = 1; seed <= 10; seed++) {
		struct spmu_model *m = fixture_model(names[seed & 1]);
		struct guest *g[2];
		struct stream s = { 0 };
		stream_random(&s, seed, 900);
		for (unsigned moved = 0; moved < 2; moved++) {
			g[moved] = guest_new();
			struct spmu *p = fixture_pmu(m, &g[moved]->host);
			guest_pebs(g[moved], seed & 1 ? 32 + 32 * 24 : 200, 20, 1000);
			guest_put(g[moved], DS_AREA + 0x40, PMU_COUNTER_MASK - 20, 8);
			put_msr(p, MSR_IA32_DS_AREA, DS_AREA);
			fixture_program(p, 0, "BR_INST_RETIRED.ALL_BRANCHES", seed & 1 ? UINT64_C(1) << 34 : 0);
			put_msr(p, MSR_IA32_A_PMC0, PMU_COUNTER_MASK - 5);
			put_msr(p, MSR_IA32_PEBS_ENABLE, 1);
			if (seed & 1) {
				put_msr(p, MSR_PEBS_DATA_CFG, 0x1f000008);
				put_msr(p, MSR_IA32_LBR_CTL, 0x7f0007);
			} else {
				put_msr(p, MSR_IA32_DEBUGCTL, 1);
			}
			size_t half = s.n / 2;
			uint64_t low = UINT64_MAX;
			for (size_t i = half; i < s.n; i++)
				low = stream_lowest(&s, i) < low ? stream_lowest(&s, i) : low;
			stream_send(&s, 0, half, 0, low, false, p);
			if (moved) {
				void *saved = malloc(spmu_state_bytes(p));
				struct spmu *other = fixture_pmu(m, &g[moved]->host);
				spmu_save(p, saved);
				spmu_destroy(p);
				p = other;
				assert_int_equal(spmu_restore(p, saved), SPMU_OK);
				free(saved);
			}
			stream_send(&s, half, s.n, low, 1 << 20, true, p);
			guest_put(g[moved], 0x1fff0, fixture_read(p, MSR_IA32_PMC0), 8);
			guest_put(g[moved], 0x1fff8, fixture_read(p, seed & 1 ? MSR_IA32_LBR_0_FROM_IP + 3
				: MSR_LASTBRANCH_TOS), 8);
			spmu_destroy(p);
		}
		assert_true(guest_u64(g[0], DS_AREA + 0x28) > PEBS_BUFFER);
		assert_memory_equal(g[0]->memory, g[1]->memory, GUEST_BYTES);
		free(g[0]);
		free(g[1]);
		stream_free(&s);
		spmu_model_free(m);
	}
}

static void test_state_that_no_wrmsr_could_have_made_is_refused(void **state)
{
	(void)state;
	struct spmu_model *m = fixture_model("golden-cove");
	for (unsigned i = 0; i < 9; i++) {
		struct guest *g = guest_new();
		struct spmu *p = fixture_pmu(m, &g->host), *other = fixture_pmu(m, &g->host);
		void *saved = malloc(spmu_state_bytes(p));
		put_msr(p, MSR_IA32_LBR_DEPTH, 16);
		put_msr(p, MSR_IA32_DS_AREA, DS_AREA);
		switch (i) {
		case 1: p->ds.area = UINT64_C(1) << 47; break;
		case 2: p->ds.misc = 0x80; break;
		case 3: p->ds.enable = 0x100; break;
		case 4: p->ds.data_cfg = 0x10; break;
		case 5: p->ds.lbr.depth = 12; break;
		case 6: p->ds.lbr.tos = 16; break;
		case 7: p->ds.lbr.control = 0x10; break;
		case 8: p->ds.lbr.info[3] = 1 << 16; break;
		}
		spmu_save(p, saved);
		assert_int_equal(spmu_restore(other, saved), i ? SPMU_EINPUT : SPMU_OK);
		assert_int_equal(fixture_read(other, MSR_IA32_LBR_DEPTH), i ? 32 : 16);
		assert_int_equal(fixture_read(other, MSR_IA32_DS_AREA), i ? 0 : DS_AREA);
		free(saved);
		spmu_destroy(p);
		spmu_destroy(other);
		free(g);
	}
	spmu_model_free(m);
}

static void test_a_record_left_open_is_of_the_guest_that_was(void **state)
{
	(void)state;
	struct guest *g = guest_new(), *h = guest_new();
	struct spmu_model *m = fixture_model("skylake");
	struct spmu *p = sampler(g, m, 0, "BR_INST_RETIRED.ALL_BRANCHES", 0, 200), *other = fixture_pmu(m, &h->host);
	struct stream s = { 0 };
	void *saved = malloc(spmu_state_bytes(p));
	arm(p, 0, 1);
	for (unsigned k = 0; k < 2; k++)	/* not taken: the next address is not known yet */
		stream_inst(&s, 0x1000 + 5 * k, SPMU_IS(BRANCH) | SPMU_IS(COND), 0, 20 + k);
	stream_send(&s, 0, 2, 0, 20, false, p);
	assert_int_equal(guest_records(g, 200), 1);
	guest_put(h, PEBS_BUFFER + 8, guest_u64(g, PEBS_BUFFER + 8), 8);	/* the same bytes, by chance */
	spmu_save(p, saved);
	assert_int_equal(spmu_restore(other, saved), SPMU_OK);
	stream_send(&s, 0, 1, 0, 21, true, other);
	assert_int_equal(guest_u64(h, PEBS_BUFFER + 8), 0x1005);
	free(saved);
	stream_free(&s);
	spmu_destroy(p);
	spmu_destroy(other);
	spmu_model_free(m);
	free(g);
	free(h);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_precise_records_are_those_of_a_naive_sampler),
		cmocka_unit_test(test_branches_are_those_of_a_naive_recorder),
		cmocka_unit_test(test_a_restored_pmu_goes_on_as_the_saved_one),
		cmocka_unit_test(test_state_that_no_wrmsr_could_have_made_is_refused),
		cmocka_unit_test(test_a_record_left_open_is_of_the_guest_that_was),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
