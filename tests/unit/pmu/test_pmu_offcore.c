/* SPDX-License-Identifier: GPL-2.0-or-later
 * MSR_OFFCORE_RSP_0 and _1: which requests each value selects, on a stream with every kind of request, answer and snoop
 * response; #GP; changes while counting; saved states; values that the model cannot count.
 */
#include "pmu_fixture.h"

#define A(name) SPMU_ATTR(name)

static const uint64_t requests[] = { A(REQUEST_DATA_RD), A(REQUEST_RFO), A(REQUEST_CODE_RD), A(REQUEST_PF_L2),
	A(REQUEST_PF_L1D), A(REQUEST_PF_SOFTWARE), A(REQUEST_WALK), A(REQUEST_WRITE_BACK), A(REQUEST_VICTIM),
	A(REQUEST_STREAMING), A(REQUEST_LOCK), A(REQUEST_FLUSH) };
static const uint64_t suppliers[] = { A(SUPPLIED_L3) | A(SUPPLIED_MODIFIED), A(SUPPLIED_L3) | A(SUPPLIED_CLEAN),
	A(SUPPLIED_MEMORY), A(SUPPLIED_NOTHING) };
static const uint64_t snoops[] = { A(SNOOPED_NOBODY), A(SNOOPED_CLEAN), A(SNOOPED_FORWARD), A(SNOOPED_MODIFIED),
	A(SNOOPED_AT_MISS), A(SNOOPED_AT_WRITE), A(SNOOPED_IN_VAIN) };
#define COUNT(a) (sizeof (a) / sizeof *(a))

/* What each bit fits, as the manual's tables and Intel's lists have it; 0: nothing that happens here. */
struct bits { const char *table; uint64_t valid; unsigned registers; uint64_t fits[38]; };
#define SNOOPS_FIT \
	[31] = A(SNOOPED_AT_MISS) | A(SNOOPED_AT_WRITE), [32] = A(SNOOPED_NOBODY) | A(SNOOPED_AT_MISS), \
	[33] = A(SNOOPED_IN_VAIN), [34] = A(SNOOPED_CLEAN), [35] = A(SNOOPED_FORWARD), [36] = A(SNOOPED_MODIFIED)
#define L3_FITS \
	[17] = A(SUPPLIED_NOTHING), [18] = A(SUPPLIED_MODIFIED), [19] = A(SUPPLIED_CLEAN), [20] = A(SUPPLIED_CLEAN), \
	[21] = A(SUPPLIED_CLEAN)
#define READS_FIT \
	[0] = A(REQUEST_DATA_RD) | A(REQUEST_WALK) | A(REQUEST_PF_L1D) | A(REQUEST_PF_SOFTWARE), \
	[1] = A(REQUEST_RFO), [2] = A(REQUEST_CODE_RD), [3] = A(REQUEST_WRITE_BACK), [4] = A(REQUEST_PF_L2)
#define WRITES_FIT \
	[10] = A(REQUEST_LOCK), [11] = A(REQUEST_STREAMING), [15] = A(REQUEST_FLUSH) | A(REQUEST_VICTIM)
static const struct bits machines[] = {
	{ "skylake", UINT64_C(0x3fffff8fff), 2, {
		[0] = A(REQUEST_DATA_RD) | A(REQUEST_WALK), [1] = A(REQUEST_RFO), [2] = A(REQUEST_CODE_RD),
		[4] = A(REQUEST_PF_L2), [10] = A(REQUEST_PF_L1D) | A(REQUEST_PF_SOFTWARE),
		[15] = A(REQUEST_STREAMING) | A(REQUEST_LOCK) | A(REQUEST_FLUSH),
		[17] = A(SUPPLIED_NOTHING), [18] = A(SUPPLIED_MODIFIED), [19] = A(SUPPLIED_CLEAN),
		[20] = A(SUPPLIED_CLEAN),
		[21] = A(SUPPLIED_CLEAN), [26] = A(SUPPLIED_MEMORY),
		[31] = A(SNOOPED_AT_MISS) | A(SNOOPED_AT_WRITE), [32] = A(SNOOPED_NOBODY) | A(SNOOPED_AT_MISS),
		[33] = A(SNOOPED_IN_VAIN), [34] = A(SNOOPED_CLEAN), [35] = A(SNOOPED_FORWARD),
		[36] = A(SNOOPED_MODIFIED) } },
	{ "golden-cove", UINT64_C(0x3fffffffff), 2, {
		[0] = A(REQUEST_DATA_RD) | A(REQUEST_WALK), [1] = A(REQUEST_RFO), [2] = A(REQUEST_CODE_RD),
		[3] = A(REQUEST_WRITE_BACK), [4] = A(REQUEST_PF_L2), [10] = A(REQUEST_PF_L1D),
		[11] = A(REQUEST_STREAMING), [12] = A(REQUEST_VICTIM), [14] = A(REQUEST_PF_SOFTWARE),
		[15] = A(REQUEST_LOCK) | A(REQUEST_FLUSH),
		[17] = A(SUPPLIED_NOTHING), [18] = A(SUPPLIED_MODIFIED), [19] = A(SUPPLIED_CLEAN),
		[20] = A(SUPPLIED_CLEAN),
		[21] = A(SUPPLIED_CLEAN), [26] = A(SUPPLIED_MEMORY),
		[31] = A(SNOOPED_AT_MISS) | A(SNOOPED_AT_WRITE), [32] = A(SNOOPED_NOBODY) | A(SNOOPED_AT_MISS),
		[33] = A(SNOOPED_IN_VAIN), [34] = A(SNOOPED_CLEAN), [35] = A(SNOOPED_FORWARD),
		[36] = A(SNOOPED_MODIFIED) } },
	{ "nehalem", 0xffff, 1, { READS_FIT,
		[7] = A(REQUEST_STREAMING) | A(REQUEST_LOCK) | A(REQUEST_FLUSH) | A(REQUEST_VICTIM),
		[8] = A(SNOOPED_NOBODY) | A(SNOOPED_IN_VAIN) | A(SNOOPED_AT_WRITE),
		[9] = A(SNOOPED_CLEAN) | A(SNOOPED_FORWARD), [10] = A(SNOOPED_MODIFIED), [14] = A(SNOOPED_AT_MISS) } },
	{ "sandy-bridge", UINT64_C(0x3f807f8fff), 2, { READS_FIT, WRITES_FIT, L3_FITS, [22] = A(SUPPLIED_MEMORY),
		SNOOPS_FIT } },
	{ "ivy-bridge", UINT64_C(0x3f807f8fff), 2, { READS_FIT, WRITES_FIT, L3_FITS, [22] = A(SUPPLIED_MEMORY),
		SNOOPS_FIT } },
	{ "haswell", UINT64_C(0x3fffff8fff), 2, { READS_FIT, WRITES_FIT, L3_FITS, [22] = A(SUPPLIED_MEMORY),
		SNOOPS_FIT } },
	{ "broadwell", UINT64_C(0x3fffff8fff), 2, { READS_FIT, WRITES_FIT, L3_FITS, [26] = A(SUPPLIED_MEMORY),
		SNOOPS_FIT } },
	{ "ice-lake", UINT64_C(0x3fffffbfff), 2, {
		[0] = A(REQUEST_DATA_RD) | A(REQUEST_WALK), [1] = A(REQUEST_RFO), [2] = A(REQUEST_CODE_RD),
		[3] = A(REQUEST_WRITE_BACK), [4] = A(REQUEST_PF_L2), [10] = A(REQUEST_PF_L1D) | A(REQUEST_PF_SOFTWARE),
		[11] = A(REQUEST_STREAMING), [15] = A(REQUEST_LOCK) | A(REQUEST_FLUSH), L3_FITS,
		[26] = A(SUPPLIED_MEMORY), SNOOPS_FIT } },
};

static bool fits(const struct bits *b, uint64_t value, unsigned first, unsigned last, uint64_t attributes)
{
	for (unsigned i = first; i <= last; i++)
		if (value >> i & 1 && b->fits[i] & attributes)
			return true;
	return false;
}

/* Does the value select a request with these attributes? */
static bool selected(const struct bits *b, uint64_t value, uint64_t attributes)
{
	if (b->registers == 1)	/* Nehalem */
		return fits(b, value, 0, 7, attributes) && fits(b, value, 8, 15, attributes);
	return fits(b, value, 0, 15, attributes) &&
		(value >> 16 & 1 || (fits(b, value, 17, 30, attributes) && fits(b, value, 31, 37, attributes)));
}

/* Every combination once, with counts that differ.  Returns the cycle behind the last. */
static uint64_t every_request(struct stream *s, uint64_t begin)
{
	uint64_t at = begin;
	for (size_t r = 0; r < COUNT(requests); r++)
		for (size_t a = 0; a < COUNT(suppliers); a++)
			for (size_t n = 0; n < COUNT(snoops); n++) {
				stream_signal(s, SPMU_SIG_OFFCORE_REQUEST, at, at, 1 + (at * 7 + r) % 5);
				s->r[s->n - 1].is = requests[r] | suppliers[a] | snoops[n];
				at++;
			}
	return at;
}

static uint64_t any(uint64_t *seed)
{
	draw(seed, 1);
	return *seed;
}

static uint64_t expected(const struct bits *b, uint64_t value, const struct stream *s)
{
	uint64_t n = 0;
	for (size_t i = 0; i < s->n; i++)
		n += selected(b, value, s->r[i].is) ? s->r[i].did : 0;
	return n;
}

static const struct spmu_event *first_with(const struct spmu_model *m, uint32_t msr)
{
	for (size_t i = 0; i < spmu_model_events(m); i++) {
		const struct spmu_event *e = spmu_model_event(m, i);
		if (e->extra_msr == msr && !(e->flags & SPMU_EVENT_NOT_MODELLED))
			return e;
	}
	fail_msg("no event has %XH", msr);
	return NULL;
}

static void test_a_value_selects_by_request_supplier_and_snoop(void **state)
{
	(void)state;
	uint64_t seed = 0x9e3779b97f4a7c15u;
	struct stream s = { 0 };
	const uint64_t end = every_request(&s, 10);
	for (size_t t = 0; t < COUNT(machines); t++) {
		const struct bits *b = &machines[t];
		struct spmu_model *m = fixture_model(b->table);
		unsigned above = 0;
		for (unsigned i = 0; i < 400; i++) {
			const unsigned which = b->registers == 2 ? i & 1 : 0;
			const struct spmu_event *e = first_with(m, MSR_OFFCORE_RSP_0 + which);
			const uint64_t one = any(&seed), more = any(&seed);	/* few bits or many */
			uint64_t value = one, v;
			value = i % 3 ? i % 3 == 1 ? value & more : value | more : value;
			if (i < 64)	/* one request type, every answer */
				value = UINT64_C(1) << (i >> 1 & 15) | UINT64_C(0x3fffff0000);
			value &= b->valid & (draw(&seed, 2) ? ~(UINT64_C(1) << 16) : ~UINT64_C(0));
			struct spmu *p = NULL;
			assert_int_equal(spmu_create(&p, m, NULL), SPMU_OK);
			assert_int_equal(spmu_wrmsr(p, MSR_OFFCORE_RSP_0 + which, value), SPMU_OK);
			assert_int_equal(spmu_wrmsr(p, MSR_IA32_PERFEVTSEL0 + 1, fixture_evtsel(e)), SPMU_OK);
			stream_send(&s, 0, s.n, 0, end, true, p);
			v = fixture_read(p, MSR_IA32_PMC0 + 1);
			if (v != expected(b, value, &s))
				fail_msg("%s: %#llx counts %llu, not %llu", b->table, (unsigned long long)value,
					(unsigned long long)v, (unsigned long long)expected(b, value, &s));
			above += v != 0;
			spmu_destroy(p);
		}
		assert_true(above > 100);
		spmu_model_free(m);
	}
	stream_free(&s);
}

static void test_reserved_bits_raise_gp(void **state)
{
	(void)state;
	for (size_t t = 0; t < COUNT(machines); t++) {
		struct spmu_model *m = fixture_model(machines[t].table);
		struct spmu *p = NULL;
		assert_int_equal(spmu_create(&p, m, NULL), SPMU_OK);
		for (unsigned which = 0; which < 2; which++)
			for (unsigned bit = 0; bit < 64; bit++) {
				const uint64_t one = UINT64_C(1) << bit;
				const bool there = which < machines[t].registers, valid = machines[t].valid & one;
				uint64_t v = 0;
				assert_int_equal(spmu_wrmsr(p, MSR_OFFCORE_RSP_0 + which, one),
					!there ? SPMU_ENOMSR : valid ? SPMU_OK : SPMU_GP);
				assert_int_equal(spmu_rdmsr(p, MSR_OFFCORE_RSP_0 + which, &v),
					there ? SPMU_OK : SPMU_ENOMSR);
				if (there)	/* a refused write changes nothing */
					assert_true(v == one || (!valid && !(v & ~machines[t].valid)));
			}
		spmu_destroy(p);
		spmu_model_free(m);
	}
	struct spmu_model *m = fixture_model("core2");
	struct spmu *p = NULL;
	assert_int_equal(spmu_create(&p, m, NULL), SPMU_OK);
	assert_int_equal(spmu_wrmsr(p, MSR_OFFCORE_RSP_0, 0), SPMU_ENOMSR);
	spmu_destroy(p);
	spmu_model_free(m);
}

/* The register changes between two halves of a stream: each half is counted by the value that was there, in a plain
 * sum and, with a CMASK, cycle by cycle. */
static void test_a_write_holds_from_its_place_on(void **state)
{
	(void)state;
	struct spmu_model *m = fixture_model("skylake");
	const struct spmu_event *e = first_with(m, MSR_OFFCORE_RSP_0);
	static const uint64_t values[] = { 0x10001, 0x10002, 0, UINT64_C(0x3f80180001), 0x10001 };
	for (unsigned cmask = 0; cmask < 2; cmask++) {
		struct spmu *p = NULL;
		uint64_t want = 0, at = 10;
		assert_int_equal(spmu_create(&p, m, NULL), SPMU_OK);
		assert_int_equal(spmu_wrmsr(p, MSR_IA32_PERFEVTSEL0, fixture_evtsel(e) | SPMU_EVTSEL_CMASK(cmask)),
			SPMU_OK);
		for (size_t i = 0; i < 40 * COUNT(values); i++) {	/* more values than the PMU has sources */
			struct stream s = { 0 };
			const uint64_t value = values[i % COUNT(values)] | (i / COUNT(values)) << 18;
			const uint64_t begin = at;
			at = every_request(&s, at);
			stream_signal(&s, SPMU_SIG_CYCLES, begin, at, at - begin);
			s.r[s.n - 1].is = 0;
			assert_int_equal(spmu_wrmsr(p, MSR_OFFCORE_RSP_0, value), SPMU_OK);
			stream_send(&s, 0, s.n, begin, at, false, p);
			for (size_t k = 0; k + 1 < s.n; k++)
				want += selected(&machines[0], value, s.r[k].is) ? cmask ? 1 : s.r[k].did : 0;
			stream_free(&s);
		}
		struct spmu_batch end = { .base_cycle = at, .watermark = at + 1, .is_last = true };
		spmu_consume(p, &end);
		assert_true(want > 1000);
		assert_int_equal(fixture_read(p, MSR_IA32_PMC0), want);
		spmu_destroy(p);
	}
	spmu_model_free(m);
}

static void test_saved_states_hold_the_registers(void **state)
{
	(void)state;
	struct spmu_model *m = fixture_model("golden-cove");
	struct spmu *p = NULL, *q = NULL;
	struct stream s = { 0 };
	const uint64_t end = every_request(&s, 10), value = UINT64_C(0x3fbfc00001);
	assert_int_equal(spmu_create(&p, m, NULL), SPMU_OK);
	assert_int_equal(spmu_create(&q, m, NULL), SPMU_OK);
	assert_int_equal(spmu_wrmsr(p, MSR_OFFCORE_RSP_1, value), SPMU_OK);
	assert_int_equal(spmu_wrmsr(p, MSR_IA32_PERFEVTSEL0, fixture_evtsel(first_with(m, MSR_OFFCORE_RSP_1))),
		SPMU_OK);
	void *block = malloc(spmu_state_bytes(p));
	spmu_save(p, block);
	assert_int_equal(spmu_restore(q, block), SPMU_OK);
	assert_int_equal(fixture_read(q, MSR_OFFCORE_RSP_0), 0);
	assert_int_equal(fixture_read(q, MSR_OFFCORE_RSP_1), value);
	stream_send(&s, 0, s.n, 0, end, true, q);
	assert_int_equal(fixture_read(q, MSR_IA32_PMC0), expected(&machines[1], value, &s));
	/* a value that WRMSR would not take, in a block that is otherwise whole */
	p->arch.offcore[0] = UINT64_C(1) << 40;
	spmu_save(p, block);
	assert_int_equal(spmu_restore(q, block), SPMU_EINPUT);
	assert_int_equal(fixture_read(q, MSR_OFFCORE_RSP_1), value);
	free(block);
	stream_free(&s);
	spmu_destroy(p);
	spmu_destroy(q);
	spmu_model_free(m);
}

static void test_what_the_model_cannot_tell_is_named(void **state)
{
	(void)state;
	static const struct { uint64_t value; const char *why; } values[] = {
		{ UINT64_C(0x730000001), "one socket" },	/* OCR.DEMAND_DATA_RD.REMOTE_DRAM */
		{ UINT64_C(0x703000001), "DRAM only" },		/* REMOTE_PMM */
		{ UINT64_C(0x708000001), "clusters" },		/* SNC_DRAM */
		{ UINT64_C(0x12380), "L3 alone" },		/* HWPF_L3.ANY_RESPONSE */
		{ UINT64_C(0x80080001), "not told apart" },	/* state E alone */
		{ UINT64_C(0x80080800), NULL },			/* STREAMING_WR.L3_HIT */
		{ UINT64_C(0x2003c0001), NULL },			/* SNOOP_MISS */
		{ UINT64_C(0x3fbfc00001), NULL },		/* L3_MISS */
		{ 0, NULL }, { 0x10000, NULL }, { 0x40001, NULL },	/* nothing is asked for on the machine either */
	};
	struct spmu_model *m = fixture_model("golden-cove");
	struct spmu *p = NULL;
	assert_int_equal(spmu_create(&p, m, NULL), SPMU_OK);
	assert_int_equal(spmu_wrmsr(p, MSR_IA32_PERFEVTSEL0, fixture_evtsel(first_with(m, MSR_OFFCORE_RSP_0))),
		SPMU_OK);
	for (size_t i = 0; i < COUNT(values); i++) {
		struct spmu_unmodelled u[2];
		assert_int_equal(spmu_wrmsr(p, MSR_OFFCORE_RSP_0, values[i].value), SPMU_OK);
		const size_t n = spmu_unmodelled(p, u, 2);
		if (n != (values[i].why ? 1 : 0) || (n && !strstr(u[0].reason, values[i].why)))
			fail_msg("%#llx: %s", (unsigned long long)values[i].value, n ? u[0].reason : "not named");
	}
	spmu_destroy(p);
	spmu_model_free(m);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_a_value_selects_by_request_supplier_and_snoop),
		cmocka_unit_test(test_reserved_bits_raise_gp),
		cmocka_unit_test(test_a_write_holds_from_its_place_on),
		cmocka_unit_test(test_saved_states_hold_the_registers),
		cmocka_unit_test(test_what_the_model_cannot_tell_is_named),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
