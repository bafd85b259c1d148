/* SPDX-License-Identifier: GPL-2.0-or-later
 * Executes what `softpmu msr -e` prints. For every event of every table, a PMU accepts the driver's whole list of
 * writes, the names in it are those of the registers, and the count of a random stream is the one that the event's
 * definition gives.
 */
#include "pmu_fixture.h"
#include "session/driver/driver.h"
#include "session/events/event_names.h"
#include "session/session.h"

static const char *const tables[] = { "p5", "p6", "netburst", "netburst-prescott", "yonah", "core2", "bonnell",
	"nehalem", "sandy-bridge", "ivy-bridge",
	"haswell", "broadwell", "skylake", "ice-lake", "golden-cove" };
enum { TABLES = sizeof tables / sizeof *tables };

static int no_read(void *context, uint64_t address, void *to, size_t bytes)
{
	(void)context, (void)address;
	memset(to, 0, bytes);
	return 1;
}
static int no_write(void *context, uint64_t address, const void *from, size_t bytes)
{
	(void)context, (void)address, (void)from, (void)bytes;
	return 1;
}

static struct driver_event job_of(const struct spmu_event *e)
{
	return (struct driver_event){ .event = e, .evtsel = e->flags & SPMU_EVENT_FIXED_ONLY ? 0 : names_evtsel(e),
		.fixed = e->fixed, .user = true,
		.extra = e->extra };
}

/* Makes the writes for one event alone and executes them on a new PMU. */
static struct spmu *set_up(const struct spmu_model *m, const struct spmu_host *host, struct driver_event *e,
	uint64_t period, struct driver_writes *w)
{
	struct spmu *p = NULL;
	struct err err = { 0 };
	unsigned pmus = 0;
	size_t which = 0;
	if (driver_for(m)->assign(m, e, 1, 0, &pmus, &which, &err))
		fail_msg("%s: %s", e->event->name, err.text);
	assert_int_equal(pmus, 1);
	w->count = 0;
	if (driver_program(m, e, 1, 0, &period, w, &err))
		fail_msg("%s: %s", e->event->name, err.text);
	assert_int_equal(spmu_create(&p, m, host), SPMU_OK);
	if (driver_execute(p, w, &err))
		fail_msg("%s: %s", e->event->name, err.text);
	return p;
}

static void check_names(const struct spmu_model *m, const struct driver_writes *w)
{
	for (size_t i = 0; i < w->count; i++) {
		const struct driver_write *one = &w->write[i];
		struct spmu_msr r;
		assert_true(spmu_msr_find(m, one->name, &r));
		if (strcmp(r.name, one->name) || r.address != one->msr || r.apic != one->apic)
			fail_msg("a driver calls %XH %s; it is %s (%XH)", one->msr, one->name, r.name, r.address);
		assert_true(*one->why);
	}
}

static void test_writes_of_every_event_are_taken_and_well_named(void **state)
{
	static struct driver_writes w;
	const struct spmu_host host = { .read_memory = no_read, .write_memory = no_write };
	(void)state;
	for (unsigned t = 0; t < TABLES; t++) {
		struct spmu_model *m = fixture_model(tables[t]);
		bool interrupts = driver_for(m)->interrupts;
		for (size_t i = 0; i < spmu_model_events(m); i++)
			for (unsigned how = 0; how < 3; how++) {	/* counted, sampled, sampled in all rings */
				struct driver_event e = job_of(spmu_model_event(m, i));
				if (how && (!interrupts || e.event->flags & SPMU_EVENT_METRIC))
					continue;	/* nothing of it overflows */
				e.sampled = how > 0;
				e.kernel = how == 2;
				struct spmu *p = set_up(m, &host, &e, 1000, &w);
				check_names(m, &w);
				const char *name;
				uint64_t v = 0, mask = (UINT64_C(1) << driver_for(m)->counter_bits(m, &e)) - 1;
				assert_int_equal(spmu_rdmsr(p, driver_for(m)->counter_msr(m, &e, &name), &v), SPMU_OK);
				uint64_t preset = !how ? 0
					: (0 - UINT64_C(1000) + (spmu_model_family(m) == SPMU_FAMILY_NETBURST)) & mask;
				if (v != preset)
					fail_msg("%s %s: counter holds %llx", tables[t], e.event->name,
						(unsigned long long)v);
				spmu_destroy(p);
			}
		spmu_model_free(m);
	}
}

/* Events that one counter counts alone: no tags (except by an extra MSR), no upstream event, no replay registers. */
static bool countable(const struct pmu_row *row, const struct spmu_model *m)
{
	const struct spmu_event *e = &row->public;
	if (!row->expr.terms || *e->upstream || e->replay_enable || !naive_knows(m, e))
		return false;
	for (unsigned t = 0; t < row->expr.terms; t++) {
		const struct pmu_term *term = &row->expr.term[t];
		const struct pmu_source *s = &m->source[term->source];
		if (!term->conds && (s->tagged || s->untagged) && !e->extra_msr)
			return false;
	}
	return true;
}

static void test_what_is_counted_is_the_naive_count(void **state)
{
	static struct driver_writes w;
	static struct stream s;
	unsigned checked = 0;
	(void)state;
	for (unsigned t = 0; t < TABLES; t++) {
		struct spmu_model *m = fixture_model(tables[t]);
		stream_free(&s);
		uint64_t cycles = stream_random(&s, 0x1234567 + t, 300);
		unsigned of_table = 0;
		for (size_t i = 0; i < m->rows; i++) {
			const struct pmu_row *row = &m->row[i];
			struct driver_event e = job_of(&row->public);
			if (!countable(row, m) || m->family == &pmu_netburst)
				continue;
			struct spmu *p = set_up(m, NULL, &e, 0, &w);
			stream_send_cut(&s, p, 77 + i, 200);
			uint64_t v = 0, want;
			const char *name;
			assert_int_equal(spmu_rdmsr(p, driver_for(m)->counter_msr(m, &e, &name), &v), SPMU_OK);
			bool fixed = e.counter < 0, p5 = m->family == &pmu_p5, duration = p5 &&
				row->public.flags & SPMU_EVENT_DURATION;
			want = naive_count(m, &s, row, cycles, 1, fixed ? 0 : duration ? 1 : row->public.cmask,
				!fixed && row->public.inv, !fixed && row->public.edge);
			if (v != want)
				fail_msg("%s %s (%s): %llu, not %llu", tables[t], row->public.name, name,
					(unsigned long long)v, (unsigned long long)want);
			of_table += want != 0;
			checked++;
			spmu_destroy(p);
		}
		if (m->family != &pmu_netburst && of_table < 10)
			fail_msg("%s: only %u events counted anything", tables[t], of_table);
		spmu_model_free(m);
	}
	assert_true(checked > 1000);
	stream_free(&s);
}

/* On NetBurst: one uop with a certain property retires each cycle, so neither the limit of 15 a clock nor tags
 * affect the count. */
static void test_what_is_counted_on_netburst_is_the_naive_count(void **state)
{
	static struct driver_writes w;
	static struct stream s;
	(void)state;
	for (unsigned t = 2; t < 4; t++) {
		struct spmu_model *m = fixture_model(tables[t]);
		uint64_t seed = 99;
		unsigned of_table = 0;
		stream_free(&s);
		for (unsigned i = 0; i < 200; i++) {
			uint64_t is = 0, did = 0;
			for (unsigned k = 0; k < 6; k++) {
				is |= UINT64_C(1) << draw(&seed, SPMU_IS_COUNT);
				did |= UINT64_C(1) << draw(&seed, SPMU_DID_COUNT);
			}
			stream_inst(&s, 0x1000 + i, is, did, 20 + 3 * i);
		}
		stream_signal(&s, SPMU_SIG_CYCLES, 0, 690, 1);
		for (size_t i = 0; i < m->rows; i++) {
			const struct pmu_row *row = &m->row[i];
			struct driver_event e = job_of(&row->public);
			if (!countable(row, m))
				continue;
			struct spmu *p = set_up(m, NULL, &e, 0, &w);
			stream_send_all(&s, p);
			uint64_t v = 0, want = naive_count(m, &s, row, 700, 1, 0, false, false);
			const char *name;
			assert_int_equal(spmu_rdmsr(p, driver_for(m)->counter_msr(m, &e, &name), &v), SPMU_OK);
			if (v != want)
				fail_msg("%s %s (%s): %llu, not %llu", tables[t], row->public.name, name,
					(unsigned long long)v, (unsigned long long)want);
			of_table += want != 0;
			spmu_destroy(p);
		}
		assert_true(of_table >= 10);
		spmu_model_free(m);
	}
	stream_free(&s);
}

static void test_counters_are_preset_before_they_count(void **state)
{
	static const struct { const char *table, *event; uint64_t period; const char *order[8]; } table[] = {
		{ "p5", "INSTRUCTIONS_EXECUTED", 0, { "CESR", "CTR1", "CESR" } },
		{ "p6", "INST_RETIRED", 100, { "LVT_PC", "PerfEvtSel0", "PerfEvtSel1", "PerfCtr1", "PerfEvtSel0" } },
		{ "yonah", "INSTR_RET", 0, { "IA32_PMC1", "IA32_PERFEVTSEL1" } },
		{ "skylake", "MEM_LOAD_RETIRED.L1_MISS", 100, { "LVT_PC", "IA32_PERF_GLOBAL_CTRL", "IA32_PERFEVTSEL3",
		"IA32_A_PMC3", "IA32_PERF_GLOBAL_CTRL" } },
		{ "core2", "INST_RETIRED.ANY_P", 0, { "IA32_PERF_GLOBAL_CTRL", "IA32_FIXED_CTR_CTRL", "IA32_FIXED_CTR0",
		"IA32_PERF_GLOBAL_CTRL" } },
		{ "netburst", "instr_retired.NBOGUSNTAG", 100, { "LVT_PC", "MSR_IQ_CCCR0", "MSR_CRU_ESCR0",
		"MSR_IQ_CCCR0", "MSR_IQ_CCCR0", "MSR_IQ_COUNTER0",
			"MSR_IQ_CCCR0" } },
	};
	static struct driver_writes w;
	(void)state;
	for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
		struct spmu_model *m = fixture_model(table[i].table);
		struct driver_event e = job_of(fixture_event(m, table[i].event));
		e.sampled = table[i].period != 0;
		spmu_destroy(set_up(m, NULL, &e, table[i].period, &w));
		for (size_t k = 0; k < w.count || table[i].order[k]; k++)
			if (k >= w.count || !table[i].order[k] || strcmp(w.write[k].name, table[i].order[k]))
				fail_msg("%s: write %zu is %s", table[i].table, k, k < w.count ? w.write[k].name
					: "missing");
		spmu_model_free(m);
	}
}

static void test_pebs_is_set_up_where_it_exists_and_refused_where_not(void **state)
{
	static const struct { const char *table, *event; uint64_t enable; const char *refused; } table[] = {
		{ "skylake", "MEM_LOAD_RETIRED.L1_MISS", 8, NULL }, { "core2", "INST_RETIRED.ANY_P", 1, NULL },
		{ "golden-cove", "BR_MISP_RETIRED.ALL_BRANCHES", 0x80, NULL },
		{ "skylake", "CPU_CLK_UNHALTED.THREAD_P", 0, "not a precise event" }, { "yonah", "INSTR_RET", 0,
		"no PEBS" }, { "p6", "INST_RETIRED", 0, "no PEBS" },
	};
	static struct driver_writes w;
	const struct spmu_host host = { .read_memory = no_read, .write_memory = no_write };
	(void)state;
	for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
		struct spmu_model *m = fixture_model(table[i].table);
		struct driver_event e = job_of(fixture_event(m, table[i].event));
		e.sampled = e.precise = true;
		e.ds_area = 0x7000;
		if (table[i].refused) {
			struct err err = { 0 };
			unsigned pmus = 0;
			size_t which = 0;
			assert_int_equal(driver_for(m)->assign(m, &e, 1, 0, &pmus, &which, &err), ERR_UNSUPPORTED);
			assert_non_null(strstr(err.text, table[i].refused));
			assert_non_null(strstr(err.text, table[i].event));
		} else {
			struct spmu *p = set_up(m, &host, &e, 100, &w);
			assert_int_equal(fixture_read(p, MSR_IA32_PEBS_ENABLE), table[i].enable);
			assert_int_equal(fixture_read(p, MSR_IA32_DS_AREA), 0x7000);
			assert_int_equal(fixture_read(p, MSR_IA32_PERFEVTSEL0 + (uint32_t)e.counter) & SPMU_EVTSEL_INT,
				0);
			spmu_destroy(p);
		}
		spmu_model_free(m);
	}
}

static void test_periods_that_no_counter_holds_are_refused(void **state)
{
	static struct driver_writes w;
	(void)state;
	struct spmu_model *m = fixture_model("p6");
	struct driver_event e = job_of(fixture_event(m, "INST_RETIRED"));
	struct err err = { 0 };
	unsigned pmus;
	size_t which;
	e.sampled = true;
	assert_int_equal(driver_for(m)->assign(m, &e, 1, 0, &pmus, &which, &err), 0);
	for (unsigned i = 0; i < 3; i++) {
		const uint64_t period[] = { 0, INT32_MAX, (uint64_t)INT32_MAX + 1 };
		w.count = 0;
		assert_int_equal(driver_program(m, &e, 1, 0, &period[i], &w, &err), i == 1 ? 0 : ERR_INPUT);
	}
	spmu_model_free(m);
}

static void note_pmi(void *context, struct spmu *p, const struct spmu_pmi *pmi, const struct spmu_batch *b)
{
	uint64_t *first = context;
	(void)p, (void)b;
	*first = *first ? *first : pmi->overflow_cycle;
}

static void test_the_nth_event_interrupts_on_every_family(void **state)
{
	static struct driver_writes w;
	static struct stream s;
	(void)state;
	for (unsigned i = 0; i < 100; i++)
		stream_inst(&s, 0x1000 + i, SPMU_IS(LOAD), SPMU_DID(L1D_MISS), 20 + i);
	stream_signal(&s, SPMU_SIG_CYCLES, 0, 130, 1);
	for (unsigned t = 0; t < TABLES; t++) {
		struct spmu_model *m = fixture_model(tables[t]);
		uint64_t first = 0;
		const struct spmu_host host = { .context = &first, .pmi = note_pmi };
		struct driver_event e = job_of(fixture_event(m, "instructions"));
		e.sampled = true;
		if (driver_for(m)->interrupts) {
			struct spmu *p = set_up(m, &host, &e, 10, &w);
			stream_send_all(&s, p);
			if (first != 20 + 9)
				fail_msg("%s: PMI for cycle %llu", tables[t], (unsigned long long)first);
			spmu_destroy(p);
		}
		spmu_model_free(m);
	}
	stream_free(&s);
}

static uint8_t guest[0x4000];
static int guest_read(void *context, uint64_t address, void *to, size_t bytes)
{
	(void)context;
	if (address >= sizeof guest || bytes > sizeof guest - address)
		return 1;
	memcpy(to, guest + address, bytes);
	return 0;
}
static int guest_write(void *context, uint64_t address, const void *from, size_t bytes)
{
	(void)context;
	if (address >= sizeof guest || bytes > sizeof guest - address)
		return 1;
	memcpy(guest + address, from, bytes);
	return 0;
}

/* With PEBS the writes lead to records in a DS area that the driver has set up in memory, and no interrupt comes
 * before the area's threshold. */
static void test_precise_events_make_records(void **state)
{
	static const struct { const char *table, *event; uint64_t record; } table[] = {
		{ "core2", "INST_RETIRED.ANY_P", 144 }, { "nehalem", "INST_RETIRED.ANY_P", 176 },
		{ "skylake", "MEM_LOAD_RETIRED.L1_MISS", 200 },
		{ "golden-cove", "MEM_LOAD_RETIRED.L1_MISS", 32 }, { "netburst", "L1-dcache-load-misses", 144 },
	};
	static struct driver_writes w;
	static struct stream s;
	(void)state;
	for (unsigned i = 0; i < 100; i++)
		stream_inst(&s, 0x1000 + i, SPMU_IS(LOAD), SPMU_DID(L1D_MISS), 20 + i);
	stream_signal(&s, SPMU_SIG_CYCLES, 0, 130, 1);
	for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
		struct spmu_model *m = fixture_model(table[i].table);
		const uint64_t area[8] = { 0, 0, 0, 0, 0x2000, 0x2000, 0x3000, 0x3000 };
		uint64_t first = 0, index;
		const struct spmu_host host = { .context = &first, .pmi = note_pmi, .read_memory = guest_read,
			.write_memory = guest_write, .mode64 = true };
		struct driver_event e = job_of(fixture_event(m, table[i].event));
		e.sampled = e.precise = true;
		e.ds_area = 0x1000;
		memset(guest, 0, sizeof guest);
		memcpy(guest + 0x1000, area, sizeof area);
		struct spmu *p = set_up(m, &host, &e, 10, &w);
		stream_send_all(&s, p);
		memcpy(&index, guest + 0x1028, sizeof index);
		assert_int_equal(first, 0);
		if (index <= 0x2000 || (index - 0x2000) % table[i].record)
			fail_msg("%s: index %llx", table[i].table, (unsigned long long)index);
		spmu_destroy(p);
		spmu_model_free(m);
	}
	stream_free(&s);
}

/* Events that no session can count, but for which the registers can be set up. */
static void test_registers_take_rings_pebs_and_events_that_are_not_modelled(void **state)
{
	static const struct { const char *text; bool user, kernel, precise; } table[] = {
		{ "INST_RETIRED.ANY_P", true, false, false }, { "INST_RETIRED.ANY_P:k", false, true, false },
		{ "INST_RETIRED.ANY_P:uk", true, true, false },
		{ "INST_RETIRED.ANY_P:kpp", false, true, true }, { "MACHINE_CLEARS.SMC:p", true, false, true },
	};
	struct spmu_model *m = fixture_model("skylake");
	(void)state;
	for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
		struct session_events e = { 0 };
		struct err err = { 0 };
		if (session_parse(&e, &(struct session_parse_options){ .model = m, .purpose = SESSION_FOR_REGISTERS },
			table[i].text, &err))
			fail_msg("%s: %s", table[i].text, err.text);
		assert_int_equal(e.count, 1);
		assert_int_equal(!e.event->exclude_user, table[i].user);
		assert_int_equal(!e.event->exclude_kernel, table[i].kernel);
		assert_int_equal(e.event->precise != 0, table[i].precise);
		session_events_free(&e);
		bool plain = table[i].user && !table[i].kernel && !table[i].precise;
		assert_int_equal(!session_parse(&e, &(struct session_parse_options){ .model = m }, table[i].text, &err),
			plain);
		session_events_free(&e);
	}
	for (size_t i = 0; i < spmu_model_events(m); i++) {
		const struct spmu_event *row = spmu_model_event(m, i);
		struct session_events e = { 0 };
		if (!(row->flags & SPMU_EVENT_NOT_MODELLED))
			continue;
		assert_int_equal(session_parse(&e, &(struct session_parse_options){ .model = m,
			.purpose = SESSION_FOR_REGISTERS }, row->name, NULL), 0);
		assert_ptr_equal(e.event->event, row);
		session_events_free(&e);
		assert_int_equal(session_parse(&e, &(struct session_parse_options){ .model = m }, row->name, NULL),
			ERR_NOT_MODELLED);
	}
	spmu_model_free(m);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_writes_of_every_event_are_taken_and_well_named),
		cmocka_unit_test(test_what_is_counted_is_the_naive_count),
		cmocka_unit_test(test_what_is_counted_on_netburst_is_the_naive_count),
		cmocka_unit_test(test_counters_are_preset_before_they_count),
		cmocka_unit_test(test_pebs_is_set_up_where_it_exists_and_refused_where_not),
		cmocka_unit_test(test_periods_that_no_counter_holds_are_refused),
		cmocka_unit_test(test_the_nth_event_interrupts_on_every_family),
		cmocka_unit_test(test_precise_events_make_records),
		cmocka_unit_test(test_registers_take_rings_pebs_and_events_that_are_not_modelled),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
