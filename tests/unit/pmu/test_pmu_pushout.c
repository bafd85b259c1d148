/* SPDX-License-Identifier: GPL-2.0-or-later
 * The pushout counters' registers (regs_pushout.c) on every family, compared with pushouts that the test computes; an
 * instruction has one slot. */
#include "pmu_fixture.h"

static const char *const tables[] = { "p5", "p6", "netburst", "netburst-prescott", "core2", "ivy-bridge", "skylake",
	"golden-cove" };
enum { TABLES = sizeof tables / sizeof *tables, WIDTH = 3, INSTS = 3000 };
#define ON (SPMU_EVTSEL_EN | SPMU_EVTSEL_USR)

/* Instructions that retire in order, at most WIDTH a cycle, and each one's pushout in cycles. */
struct program { struct stream s; uint32_t pushout[INSTS]; };

static void make(struct program *g, uint64_t seed)
{
	uint64_t now = 20, last = 0;
	unsigned in_cycle = 0;
	g->s = (struct stream){ 0 };
	for (unsigned i = 0; i < INSTS; i++) {
		const uint64_t due = last + (in_cycle >= WIDTH), late = draw(&seed, 3) ? draw(&seed, 2)
			: draw(&seed, 20) ? draw(&seed, 9) : draw(&seed, 400);
		now = due > now ? due : now;
		now += late;
		g->pushout[i] = (uint32_t)(now - due);
		in_cycle = now > last ? 1 : in_cycle + 1;
		last = now;
		stream_inst(&g->s, 0x1000 + 4 * i, draw(&seed, 2) ? SPMU_IS(LOAD) : 0, (draw(&seed, 3) ? 0
			: SPMU_DID(L2_MISS)) |
			(draw(&seed, 3) ? 0 : SPMU_DID(L3_MISS)) | (draw(&seed, 5) ? 0 : SPMU_DID(DTLB_MISS)), now);
	}
	/* the core has run from cycle 0 on */
	stream_signal(&g->s, SPMU_SIG_CYCLES, 0, last + 1, 1);
}

static struct spmu *new_pmu(const struct spmu_model *m, struct spmu_host host)
{
	struct spmu *p = NULL;
	host.pushout_width[0] = host.pushout_width[1] = host.pushout_width[2] = host.pushout_width[3] = WIDTH;
	assert_int_equal(spmu_create(&p, m, &host), SPMU_OK);
	spmu_apic_write(p, SPMU_APIC_LVT_PC, 0x400);
	return p;
}

static void put(struct spmu *p, uint32_t msr, uint64_t value)
{
	assert_int_equal(spmu_wrmsr(p, msr, value), SPMU_OK);
}

static uint32_t loaded(unsigned way, uint32_t threshold)
{
	return way == 1 ? 0u - threshold : threshold;
}

static void test_three_ways_count_the_same_on_every_family(void **state)
{
	static struct program g;
	(void)state;
	for (unsigned t = 0; t < TABLES; t++) {
		struct spmu_model *m = fixture_model(tables[t]);
		for (uint32_t threshold = 1; threshold < 300; threshold += 1 + threshold / 2) {
			struct spmu *p = new_pmu(m, (struct spmu_host){ 0 });
			make(&g, 77 + threshold);
			uint64_t expect = 0, tagged = 0;
			for (unsigned i = 0; i < INSTS; i++) {
				const uint64_t did = g.s.r[i].did;
				expect += g.pushout[i] >= threshold;
				tagged += g.pushout[i] >= threshold && did & SPMU_DID(L2_MISS) &&
					!(did & SPMU_DID(L3_MISS)) &&
					(g.s.r[i].is & SPMU_IS(LOAD) || did & SPMU_DID(DTLB_MISS));
			}
			for (unsigned n = 0; n < 4; n++) {
				put(p, MSR_PUSHOUT(n, LOAD), loaded(n % 3, threshold));
				put(p, MSR_PUSHOUT(n, CONTROL), ON | SPMU_PUSHOUT_WAY(n % 3));
			}
			put(p, MSR_PUSHOUT(3, ALL_DID), SPMU_DID(L2_MISS));
			put(p, MSR_PUSHOUT(3, NONE_DID), SPMU_DID(L3_MISS));
			put(p, MSR_PUSHOUT(3, ANY_IS), SPMU_IS(LOAD));
			put(p, MSR_PUSHOUT(3, ANY_DID), SPMU_DID(DTLB_MISS));
			stream_send_cut(&g.s, p, 9 + threshold, 700);
			for (unsigned n = 0; n < 3; n++)
				assert_int_equal(fixture_read(p, MSR_PUSHOUT(n, COUNT)), expect);
			assert_int_equal(fixture_read(p, MSR_PUSHOUT(3, COUNT)), tagged);
			stream_free(&g.s);
			spmu_destroy(p);
		}
		spmu_model_free(m);
	}
}

static void test_a_histogram_by_thresholds_is_the_direct_one(void **state)
{
	static struct program g;
	struct spmu_model *m = fixture_model("skylake");
	uint32_t direct[500] = { 0 };
	uint64_t above = 0;
	(void)state;
	make(&g, 5);
	for (unsigned i = 0; i < INSTS; i++)
		direct[g.pushout[i]]++;
	for (uint32_t value = 499; value > 0; value--) {
		struct spmu *p = new_pmu(m, (struct spmu_host){ 0 });
		put(p, MSR_PUSHOUT(0, LOAD), loaded(value % 3, value));
		put(p, MSR_PUSHOUT(0, CONTROL), ON | SPMU_PUSHOUT_WAY(value % 3));
		stream_send_cut(&g.s, p, value, 900);
		uint64_t n = fixture_read(p, MSR_PUSHOUT(0, COUNT));
		assert_int_equal(n - above, direct[value]);
		above = n;
		spmu_destroy(p);
	}
	assert_int_equal(above + direct[0], INSTS);
	stream_free(&g.s);
	spmu_model_free(m);
}

static void test_the_stored_pushout_stays_until_it_is_read(void **state)
{
	struct spmu_model *m = fixture_model("p6");
	struct spmu *p = new_pmu(m, (struct spmu_host){ 0 });
	(void)state;
	put(p, MSR_PUSHOUT(1, LOAD), 25);
	put(p, MSR_PUSHOUT(1, CONTROL), ON);
	const uint32_t late[] = { 24, 26, 40, 30, 28 };
	struct stream s = { 0 };
	uint64_t now = 0;
	for (unsigned i = 0; i < 5; i++)
		stream_inst(&s, 0x100 + i, 0, 0, now += late[i]);
	stream_send(&s, 0, 1, 0, 0, false, p);
	assert_int_equal(fixture_read(p, MSR_PUSHOUT_STATUS), 0);
	assert_int_equal(fixture_read(p, MSR_PUSHOUT(1, STORED)), 0);
	stream_send(&s, 1, 3, 0, 0, false, p);
	assert_int_equal(fixture_read(p, MSR_PUSHOUT_STATUS), UINT64_C(1) << 17);
	assert_int_equal(fixture_read(p, MSR_PUSHOUT(1, STORED_IP)), 0x101);
	assert_int_equal(fixture_read(p, MSR_PUSHOUT(1, STORED)), UINT64_C(1) << 63 | 26);	/* not the later one */
	assert_int_equal(fixture_read(p, MSR_PUSHOUT_STATUS), 0);
	stream_send(&s, 3, 5, 0, 0, true, p);
	assert_int_equal(fixture_read(p, MSR_PUSHOUT(1, STORED)), UINT64_C(1) << 63 | 30);
	assert_int_equal(fixture_read(p, MSR_PUSHOUT(1, COUNT)), 4);
	stream_free(&s);
	spmu_destroy(p);
	spmu_model_free(m);
}

struct handler { uint64_t period, samples, stands_for; const struct program *g; uint32_t threshold; uint64_t raise_at;
	};

static void on_pmi(void *context, struct spmu *p, const struct spmu_pmi *pmi, const struct spmu_batch *b)
{
	struct handler *h = context;
	uint64_t count = fixture_read(p, MSR_PUSHOUT(2, COUNT));
	(void)pmi, (void)b;
	assert_int_equal(fixture_read(p, MSR_PUSHOUT_STATUS) & 15, 4);
	put(p, MSR_PUSHOUT_STATUS, 4);
	uint64_t ip = fixture_read(p, MSR_PUSHOUT(2, STORED_IP)), stored = fixture_read(p, MSR_PUSHOUT(2, STORED));
	assert_true(stored >> 63);
	assert_int_equal((uint32_t)stored, h->g->pushout[(ip - 0x1000) / 4]);	/* the pushout of exactly this slot */
	assert_true((uint32_t)stored >= h->threshold);
	/* keeps what was counted since the overflow, for the next sample */
	put(p, MSR_PUSHOUT(2, COUNT), (count - h->period) & ((UINT64_C(1) << 48) - 1));
	h->samples++;
	if (h->raise_at && h->samples == h->raise_at)
		put(p, MSR_PUSHOUT(2, LOAD), 1000);
	spmu_apic_write(p, SPMU_APIC_LVT_PC, 0x400);
}

static void test_as_many_samples_as_periods_in_the_count(void **state)
{
	static struct program g;
	(void)state;
	for (unsigned t = 0; t < TABLES; t++) {
		struct spmu_model *m = fixture_model(tables[t]);
		for (uint64_t period = 1; period < 200; period = period * 3 + 1) {
			struct handler h = { .period = period, .g = &g, .threshold = 2 };
			uint64_t expect = 0;
			make(&g, period);
			for (unsigned i = 0; i < INSTS; i++)
				expect += g.pushout[i] >= 2;
			struct spmu *p = new_pmu(m, (struct spmu_host){ .context = &h, .pmi = on_pmi });
			put(p, MSR_PUSHOUT(2, LOAD), 2);
			put(p, MSR_PUSHOUT(2, COUNT), -period & ((UINT64_C(1) << 48) - 1));
			put(p, MSR_PUSHOUT(2, CONTROL), ON | SPMU_EVTSEL_INT | SPMU_PUSHOUT_STORE_OVF |
				SPMU_PUSHOUT_WAY(2));
			stream_send_cut(&g.s, p, 3 * period, 900);
			const uint64_t rest = (fixture_read(p, MSR_PUSHOUT(2, COUNT)) +
				period) & ((UINT64_C(1) << 48) - 1);
			assert_int_equal(h.samples * period + rest, expect);
			assert_true(h.samples > 0);
			spmu_destroy(p);
			stream_free(&g.s);
		}
		spmu_model_free(m);
	}
}

static void test_what_a_handler_changes_holds_from_there_on(void **state)
{
	static struct program g;
	struct spmu_model *m = fixture_model("golden-cove");
	struct handler h = { .period = 50, .g = &g, .threshold = 2, .raise_at = 3 };
	(void)state;
	make(&g, 4711);
	struct spmu *p = new_pmu(m, (struct spmu_host){ .context = &h, .pmi = on_pmi });
	put(p, MSR_PUSHOUT(2, LOAD), 2);
	put(p, MSR_PUSHOUT(2, COUNT), -h.period & ((UINT64_C(1) << 48) - 1));
	put(p, MSR_PUSHOUT(2, CONTROL), ON | SPMU_EVTSEL_INT | SPMU_PUSHOUT_STORE_OVF);
	put(p, MSR_PUSHOUT(0, LOAD), 2);	/* a second unit, which must not change what unit 2 does */
	put(p, MSR_PUSHOUT(0, CONTROL), ON);
	stream_send_cut(&g.s, p, 1, 900);
	uint64_t all = 0;
	for (unsigned i = 0; i < INSTS; i++)
		all += g.pushout[i] >= 2;
	assert_int_equal(h.samples, 3);
	assert_int_equal(fixture_read(p, MSR_PUSHOUT(2, COUNT)), -h.period & ((UINT64_C(1) << 48) - 1));
	assert_int_equal(fixture_read(p, MSR_PUSHOUT(0, COUNT)), all);
	assert_true(all > 300);
	stream_free(&g.s);
	spmu_destroy(p);
	spmu_model_free(m);
}

static void test_without_widths_or_with_siblings_there_are_no_registers(void **state)
{
	struct spmu_model *m = fixture_model("skylake");
	const struct spmu_host with[] = { { .pushout_width = { 0, 4, 4, 4 } }, { .pushout_width = { 4, 4, 4, 4 },
		.siblings = 2 } };
	(void)state;
	for (unsigned i = 0; i < 2; i++) {
		struct spmu *p = NULL;
		uint64_t v;
		assert_int_equal(spmu_create(&p, m, &with[i]), SPMU_OK);
		assert_int_equal(spmu_rdmsr(p, MSR_PUSHOUT_CAPABILITIES, &v), SPMU_ENOMSR);
		assert_int_equal(spmu_wrmsr(p, MSR_PUSHOUT(0, COUNT), 1), SPMU_ENOMSR);
		spmu_destroy(p);
	}
	spmu_model_free(m);
}

static void test_reserved_bits_fault_and_change_nothing(void **state)
{
	struct spmu_model *m = fixture_model("p5");
	struct spmu *p = NULL;
	(void)state;
	assert_int_equal(spmu_create(&p, m, &(struct spmu_host){ .pushout_width = { 4, 0, 4, 0 } }), SPMU_OK);
	assert_int_equal(fixture_read(p, MSR_PUSHOUT_CAPABILITIES), 0x00040004 << 8 | 4);
	const struct { uint32_t msr; uint64_t value; } bad[] = {
		{ MSR_PUSHOUT_CAPABILITIES, 4 }, { MSR_PUSHOUT_STATUS, 16 }, { MSR_PUSHOUT(0, CONTROL), 3 },
		{ MSR_PUSHOUT(0, CONTROL), 4 },
		{ MSR_PUSHOUT(0, CONTROL), SPMU_PUSHOUT_POINT(1) /* no width */ }, { MSR_PUSHOUT(0, CONTROL),
		SPMU_PUSHOUT_POINT(4) },
		{ MSR_PUSHOUT(0, LOAD), UINT64_C(1) << 32 }, { MSR_PUSHOUT(0, COUNT), UINT64_C(1) << 48 },
		{ MSR_PUSHOUT(0, STORED), 0 },
		{ MSR_PUSHOUT(0, STORED_IP), 0 }, { MSR_PUSHOUT(0, ALL_IS), UINT64_C(1) << SPMU_IS_COUNT },
		{ MSR_PUSHOUT(0, NONE_DID), UINT64_C(1) << 63 },
		{ MSR_PUSHOUT(0, ALL_IS), (UINT64_C(1) << SPMU_IS_COUNT) - 1 /* more than a tag has steps for */ },
	};
	for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
		assert_int_equal(spmu_wrmsr(p, bad[i].msr, bad[i].value), SPMU_GP);
	assert_int_equal(spmu_wrmsr(p, MSR_PUSHOUT(4, CONTROL), 0), SPMU_ENOMSR);
	assert_int_equal(spmu_wrmsr(p, MSR_PUSHOUT_0 + 15, 0), SPMU_ENOMSR);
	for (uint32_t k = 0; k < SPMU_PUSHOUT_REGISTERS; k++)
		assert_int_equal(fixture_read(p, MSR_PUSHOUT_0 + k), 0);
	spmu_destroy(p);
	spmu_model_free(m);
}

static void test_counts_go_on_behind_save_and_restore(void **state)
{
	static struct program g;
	struct spmu_model *m = fixture_model("netburst"), *other = fixture_model("netburst");
	struct spmu *p = new_pmu(m, (struct spmu_host){ 0 }), *q = new_pmu(other, (struct spmu_host){ 0 }),
		*none = NULL;
	uint8_t *block = malloc(spmu_state_bytes(p));
	(void)state;
	make(&g, 1);
	put(p, MSR_PUSHOUT(0, LOAD), 2);
	put(p, MSR_PUSHOUT(0, COUNT), 12345);
	put(p, MSR_PUSHOUT(0, CONTROL), ON);
	spmu_save(p, block);
	assert_int_equal(spmu_restore(q, block), SPMU_OK);
	stream_send_cut(&g.s, p, 2, 500);
	stream_send_cut(&g.s, q, 2, 500);
	assert_true(fixture_read(p, MSR_PUSHOUT(0, COUNT)) > 12345);
	assert_int_equal(fixture_read(p, MSR_PUSHOUT(0, COUNT)), fixture_read(q, MSR_PUSHOUT(0, COUNT)));
	assert_int_equal(spmu_create(&none, m, NULL), SPMU_OK);
	assert_int_equal(spmu_restore(none, block), SPMU_EINPUT);	/* this model has no such registers */
	free(block);
	stream_free(&g.s);
	spmu_destroy(none);
	spmu_destroy(p);
	spmu_destroy(q);
	spmu_model_free(m);
	spmu_model_free(other);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_three_ways_count_the_same_on_every_family),
		cmocka_unit_test(test_a_histogram_by_thresholds_is_the_direct_one),
		cmocka_unit_test(test_the_stored_pushout_stays_until_it_is_read),
		cmocka_unit_test(test_as_many_samples_as_periods_in_the_count),
		cmocka_unit_test(test_what_a_handler_changes_holds_from_there_on),
		cmocka_unit_test(test_without_widths_or_with_siblings_there_are_no_registers),
		cmocka_unit_test(test_reserved_bits_fault_and_change_nothing),
		cmocka_unit_test(test_counts_go_on_behind_save_and_restore),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
