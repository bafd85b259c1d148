/* SPDX-License-Identifier: GPL-2.0-or-later
 * Branch trace store: records in the BTS buffer, its interrupt, its bounds.
 */
#include "pmu_ds_fixture.h"

/* DEBUGCTL: TR, BTS, BTINT, BTS_OFF_OS, BTS_OFF_USR; from Yonah on, and NetBurst's. */
enum { TR = 1 << 6, BTS = 1 << 7, BTINT = 1 << 8, OFF_OS = 1 << 9, OFF_USR = 1 << 10, P4_TR = 1 << 2, P4_BTS = 1 << 3 };

static struct spmu *tracer(struct guest *g, const struct spmu_model *m, uint64_t debugctl)
{
	struct spmu *p = NULL;
	assert_int_equal(spmu_create(&p, m, &g->host), SPMU_OK);
	spmu_apic_write(p, SPMU_APIC_LVT_PC, 0x400);
	put_msr(p, MSR_IA32_DS_AREA, DS_AREA);
	put_msr(p, MSR_IA32_DEBUGCTL, debugctl);
	return p;
}

static void branches(struct stream *s, unsigned n, uint64_t retire)
{
	for (unsigned i = 0; i < n; i++) {
		stream_inst(s, 0x500, SPMU_IS(BRANCH) | SPMU_IS(COND), 0, retire + 2 * i); /* not taken: no record */
		stream_branch(s, 0x1000 + 16 * i, 0x2000 + 16 * i, 0, i % 2 ? SPMU_DID(MISPREDICTED) : 0,
			retire + 2 * i + 1);
	}
}

static void test_the_three_flags_of_the_manuals_table(void **state)
{
	(void)state;
	static const struct { uint64_t debugctl; unsigned records; } rows[] = {
		{ 0, 0 }, { BTS | BTINT, 0 }, { TR, 0 }, { TR | BTINT, 0 }, { TR | BTS, 5 }, { TR | BTS | BTINT, 5 },
		{ TR | BTS | OFF_USR, 1 }, { TR | BTS | OFF_OS, 4 }, { TR | BTS | OFF_OS | OFF_USR, 0 },
	};
	static const char *const names[] = { "core2", "nehalem", "skylake", "golden-cove" };
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
		for (unsigned k = 0; k < 4; k++) {
			struct guest *g = guest_new();
			struct spmu_model *m = fixture_model(names[k]);
			struct spmu *p = tracer(g, m, rows[i].debugctl);
			struct stream s = { 0 };
			guest_bts(g, 24, 10, 10);
			branches(&s, 5, 10);
			s.r[3].cpl = 0;
			stream_send_all(&s, p);
			assert_int_equal(guest_u64(g, DS_AREA + 8), BTS_BUFFER + 24 * rows[i].records);
			assert_int_equal(g->pmis, 0);
			stream_free(&s);
			spmu_destroy(p);
			spmu_model_free(m);
			free(g);
		}
}

static void test_records_are_of_64_bits_from_core_2_on_and_say_nothing_of_prediction(void **state)
{
	(void)state;
	struct guest *g = guest_new();
	struct spmu_model *m = fixture_model("core2");
	struct spmu *p = tracer(g, m, TR | BTS);
	struct stream s = { 0 };
	guest_bts(g, 24, 10, 10);
	branches(&s, 3, 10);
	stream_send_cut(&s, p, 5, 2);
	for (unsigned i = 0; i < 3; i++) {
		assert_int_equal(guest_u64(g, BTS_BUFFER + 24 * i), 0x1000 + 16 * i);
		assert_int_equal(guest_u64(g, BTS_BUFFER + 24 * i + 8), 0x2000 + 16 * i);
		assert_int_equal(guest_u64(g, BTS_BUFFER + 24 * i + 16), 0);
	}
	stream_free(&s);
	spmu_destroy(p);
	spmu_model_free(m);
	free(g);
}

static void test_netburst_has_32_bits_or_64_by_mode_and_the_predicted_flag(void **state)
{
	(void)state;
	for (unsigned wide = 0; wide < 2; wide++) {
		struct guest *g = guest_new();
		struct spmu_model *m = fixture_model("netburst-prescott");
		unsigned n = wide ? 8 : 4;
		g->host.mode64 = wide;
		struct spmu *p = tracer(g, m, P4_TR | P4_BTS);
		struct stream s = { 0 };
		guest_put(g, DS_AREA, BTS_BUFFER, n);
		guest_put(g, DS_AREA + n, BTS_BUFFER, n);
		guest_put(g, DS_AREA + 2 * n, BTS_BUFFER + 10 * 3 * n + 1, n);
		guest_put(g, DS_AREA + 3 * n, BTS_BUFFER + 10 * 3 * n, n);
		branches(&s, 4, 10);
		stream_send_all(&s, p);
		assert_int_equal(guest_get(g, DS_AREA + n, n), BTS_BUFFER + 4 * 3 * n);
		for (unsigned i = 0; i < 4; i++) {
			assert_int_equal(guest_get(g, BTS_BUFFER + 3 * n * i, n), 0x1000 + 16 * i);
			assert_int_equal(guest_get(g, BTS_BUFFER + 3 * n * i + n, n), 0x2000 + 16 * i);
			assert_int_equal(guest_get(g, BTS_BUFFER + 3 * n * i + 2 * n, n), i % 2 ? 0 : 16);
		}
		stream_free(&s);
		spmu_destroy(p);
		spmu_model_free(m);
		free(g);
	}
}

static void test_yonah_has_the_area_of_32_bits(void **state)
{
	(void)state;
	struct guest *g = guest_new();
	struct spmu_model *m = fixture_model("yonah");
	struct spmu *p = tracer(g, m, TR | BTS);
	struct stream s = { 0 };
	for (unsigned i = 0; i < 4; i++)
		guest_put(g, DS_AREA + 4 * i, BTS_BUFFER + (i > 1 ? 120 : 0), 4);
	branches(&s, 4, 10);
	stream_send_all(&s, p);
	assert_int_equal(guest_get(g, DS_AREA + 4, 4), BTS_BUFFER + 48);
	assert_int_equal(guest_get(g, BTS_BUFFER + 36, 4), 0x1030);
	assert_int_equal(spmu_wrmsr(p, MSR_IA32_DEBUGCTL, OFF_OS), SPMU_GP);	/* CPL qualification came with Core 2 */
	stream_free(&s);
	spmu_destroy(p);
	spmu_model_free(m);
	free(g);
}

static void test_without_btint_the_buffer_is_circular(void **state)
{
	(void)state;
	struct guest *g = guest_new();
	struct spmu_model *m = fixture_model("skylake");
	struct spmu *p = tracer(g, m, TR | BTS);
	struct stream s = { 0 };
	guest_bts(g, 24, 4, 2);
	guest_put(g, DS_AREA + 16, BTS_BUFFER + 4 * 24 + 1, 8);	/* the maximum is the end plus 1, as in the manual */
	branches(&s, 10, 10);
	stream_send_cut(&s, p, 9, 5);
	assert_int_equal(guest_u64(g, DS_AREA + 8), BTS_BUFFER + 2 * 24);
	static const unsigned at[4] = { 8, 9, 6, 7 };
	for (unsigned i = 0; i < 4; i++)
		assert_int_equal(guest_u64(g, BTS_BUFFER + 24 * i), 0x1000 + 16 * at[i]);
	assert_int_equal(g->pmis, 0);
	stream_free(&s);
	spmu_destroy(p);
	spmu_model_free(m);
	free(g);
}

static uint64_t drained;

static void drain(struct guest *g, struct spmu *p, const struct spmu_pmi *pmi)
{
	(void)p, (void)pmi;
	drained += (guest_u64(g, DS_AREA + 8) - BTS_BUFFER) / 24;
	guest_put(g, DS_AREA + 8, BTS_BUFFER, 8);
}

static void test_btint_interrupts_behind_the_branch_that_reached_the_threshold(void **state)
{
	(void)state;
	static const char *const names[] = { "core2", "skylake", "golden-cove" };
	for (unsigned k = 0; k < 3; k++)
		for (unsigned cut = 0; cut < 3; cut++)
			for (unsigned counting = 0; counting < 2; counting++) {
				struct guest *g = guest_new();
				struct spmu_model *m = fixture_model(names[k]);
				struct spmu *p = tracer(g, m, TR | BTS | BTINT);
				struct stream s = { 0 };
				guest_bts(g, 24, 8, 3);
				g->on_pmi = drain;
				drained = 0;
				if (counting) {		/* a counter that counts meanwhile does not disturb BTS */
					put_msr(p, MSR_IA32_PERF_GLOBAL_CTRL, 1);
					put_msr(p, MSR_IA32_PERFEVTSEL0, 0x3c | SPMU_EVTSEL_USR | SPMU_EVTSEL_EN |
						SPMU_EVTSEL_INT);
				}
				branches(&s, 11, 10);
				stream_signal(&s, SPMU_SIG_CYCLES, 5, 40, 1);
				if (cut)
					stream_send_cut(&s, p, 100 + cut, 4);
				else
					stream_send_all(&s, p);
				assert_int_equal(g->pmis, 3);
				assert_int_equal(drained, 9);
				assert_int_equal(guest_u64(g, DS_AREA + 8), BTS_BUFFER + 2 * 24);
				assert_int_equal(g->pmi.overflow_cycle, 10 + 2 * 8 + 1);
				assert_int_equal(g->pmi.status, 0);
				if (counting)
					assert_int_equal(fixture_read(p, MSR_IA32_PMC0), 35);
				stream_free(&s);
				spmu_destroy(p);
				spmu_model_free(m);
				free(g);
			}
}

static void test_with_btint_a_full_buffer_takes_no_more(void **state)
{
	(void)state;
	struct guest *g = guest_new();
	struct spmu_model *m = fixture_model("skylake");
	struct spmu *p = tracer(g, m, TR | BTS | BTINT);
	struct stream s = { 0 };
	guest_bts(g, 24, 4, 2);
	branches(&s, 10, 10);		/* a handler that does nothing */
	stream_send_all(&s, p);
	assert_int_equal(guest_u64(g, DS_AREA + 8), BTS_BUFFER + 4 * 24);
	assert_int_equal(guest_u64(g, BTS_BUFFER), 0x1000);
	assert_int_equal(g->pmis, 1);
	stream_free(&s);
	spmu_destroy(p);
	spmu_model_free(m);
	free(g);
}

static void test_bad_pointers_lose_records_only(void **state)
{
	(void)state;
	static const struct { uint64_t base, index, maximum, threshold, area; } rows[] = {
		{ BTS_BUFFER, BTS_BUFFER - 24, BTS_BUFFER + 240, BTS_BUFFER + 240, DS_AREA },
		{ BTS_BUFFER, UINT64_MAX - 7, UINT64_MAX, 0, DS_AREA },
		{ 0x7fff00000000, 0x7fff00000000, 0x7fff00001000, UINT64_MAX, DS_AREA },
		{ 0x7fff00000000, 0x7fff00000000, 0x7fff00001000, 0x7fff00000000 + 24, DS_AREA },
		{ BTS_BUFFER, BTS_BUFFER, BTS_BUFFER + 23, BTS_BUFFER, DS_AREA },
		{ BTS_BUFFER, BTS_BUFFER, BTS_BUFFER, BTS_BUFFER, DS_AREA },
		{ UINT64_MAX, UINT64_MAX, UINT64_MAX, UINT64_MAX, DS_AREA },
		{ BTS_BUFFER, BTS_BUFFER, BTS_BUFFER + 240, BTS_BUFFER + 24, 0x7ffffffff000 },
		{ BTS_BUFFER, BTS_BUFFER, BTS_BUFFER + 240, BTS_BUFFER + 24, UINT64_C(0xfffffffffffffff8) },
	};
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
		for (unsigned btint = 0; btint < 2; btint++) {
			struct guest *g = guest_new();
			struct spmu_model *m = fixture_model("skylake");
			struct spmu *p = tracer(g, m, TR | BTS | (btint ? BTINT : 0));
			struct stream s = { 0 };
			put_msr(p, MSR_IA32_DS_AREA, rows[i].area);
			for (unsigned k = 0; k < 4; k++)
				guest_put(g, DS_AREA + 8 * k, (&rows[i].base)[k], 8);
			branches(&s, 10, 10);
			stream_send_all(&s, p);
			assert_int_equal(g->pmis, 0);
			stream_free(&s);
			spmu_destroy(p);
			spmu_model_free(m);
			free(g);
		}
}

static void test_without_guest_memory_nothing_is_stored(void **state)
{
	(void)state;
	struct guest *g = guest_new();
	struct spmu_model *m = fixture_model("skylake");
	g->host.read_memory = NULL;
	struct spmu *p = tracer(g, m, TR | BTS | BTINT);
	struct stream s = { 0 };
	branches(&s, 10, 10);
	stream_send_all(&s, p);
	assert_int_equal(fixture_read(p, MSR_IA32_DEBUGCTL), TR | BTS | BTINT);
	stream_free(&s);
	spmu_destroy(p);
	spmu_model_free(m);
	free(g);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_the_three_flags_of_the_manuals_table),
		cmocka_unit_test(test_records_are_of_64_bits_from_core_2_on_and_say_nothing_of_prediction),
		cmocka_unit_test(test_netburst_has_32_bits_or_64_by_mode_and_the_predicted_flag),
		cmocka_unit_test(test_yonah_has_the_area_of_32_bits),
		cmocka_unit_test(test_without_btint_the_buffer_is_circular),
		cmocka_unit_test(test_btint_interrupts_behind_the_branch_that_reached_the_threshold),
		cmocka_unit_test(test_with_btint_a_full_buffer_takes_no_more),
		cmocka_unit_test(test_bad_pointers_lose_records_only),
		cmocka_unit_test(test_without_guest_memory_nothing_is_stored),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
