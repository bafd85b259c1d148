/* SPDX-License-Identifier: GPL-2.0-or-later
 * How NetBurst's events are spelled: masks, fields, perf's config, what tags; for every row of both tables.
 */
#include "netburst_fixture.h"
#include "session/driver/driver.h"
#include "session/events/netburst_spell.h"
#include "session/session.h"

static const char *const tables[] = { "netburst", "netburst-prescott" };
enum { TABLES = sizeof tables / sizeof *tables };

static int parse(struct session_events *out, const struct spmu_model *m, const char *list, enum session_purpose purpose,
	struct err *err)
{
	const struct session_parse_options how = { .model = m, .purpose = purpose };
	memset(out, 0, sizeof *out);
	return session_parse(out, &how, list, err);
}

static struct session_event good(struct session_events *e, const struct spmu_model *m, const char *text)
{
	struct err err = { 0 };
	if (parse(e, m, text, SESSION_FOR_REGISTERS, &err))
		fail_msg("%s: %s", text, err.text);
	assert_int_equal(e->count, 1);
	return e->event[0];
}

static void bad(const struct spmu_model *m, const char *text, const char *needle)
{
	struct session_events e;
	struct err err = { 0 };
	if (!parse(&e, m, text, SESSION_FOR_COUNTING, &err))
		fail_msg("%s is taken", text);
	if (!strstr(err.text, needle))
		fail_msg("%s: '%s' lacks '%s'", text, err.text, needle);
	assert_int_equal(e.count, 0);
}

/* The writes for one event on a PMU of its own. */
static void writes(struct driver_writes *w, const struct spmu_model *m, const struct session_event *e)
{
	struct driver_event job = { .event = e->event, .evtsel = e->evtsel, .fixed = -1, .user = true };
	struct err err = { 0 };
	unsigned pmus;
	size_t which;
	w->count = 0;
	if (driver_netburst.assign(m, &job, 1, 0, &pmus, &which, &err) ||
		driver_netburst.setup(m, &job, 1, 0, w, &err))
		fail_msg("%s: %s", e->spelled, err.text);
}

static uint64_t written(const struct driver_writes *w, uint32_t first, uint32_t last)
{
	uint64_t v = 0;
	for (size_t i = 0; i < w->count; i++)
		if (w->write[i].msr >= first && w->write[i].msr <= last)
			v = w->write[i].value;
	return v;
}

/* Some ESCR or MSR_PEBS_ENABLE tags. */
static bool tags(const struct driver_writes *w)
{
	const uint32_t taggers[] = { MSR_RAT_ESCR0, MSR_RAT_ESCR1, MSR_FIRM_ESCR0, MSR_FIRM_ESCR1 };
	for (unsigned i = 0; i < 4; i++)
		if (written(w, taggers[i], taggers[i]) & SPMU_ESCR_TAG_ENABLE)
			return true;
	return written(w, MSR_PEBS_ENABLE, MSR_PEBS_ENABLE) & SPMU_PEBS_UOP_TAG;
}

/* A row that looks at tags sets them up itself; or it is refused, and the error ends with a name that works. */
static void test_no_event_counts_tags_that_nothing_sets(void **state)
{
	static struct driver_writes w;
	unsigned own = 0, told = 0;
	(void)state;
	for (unsigned t = 0; t < TABLES; t++) {
		struct spmu_model *m = fixture_model(tables[t]);
		for (size_t i = 0; i < spmu_model_events(m); i++) {
			const struct spmu_event *row = spmu_model_event(m, i);
			struct session_events e;
			struct err err = { 0 };
			if (!row->needs_tags)
				continue;
			if (parse(&e, m, row->name, SESSION_FOR_COUNTING, &err)) {
				const char *paste = strstr(err.text, "as in ");
				if (!paste)
					fail_msg("%s: %s", row->name, err.text);
				good(&e, m, paste + 6);
				told++;
			} else {
				own++;
			}
			writes(&w, m, &e.event[0]);
			if (!tags(&w))
				fail_msg("%s: nothing tags", e.event[0].spelled);
			session_events_free(&e);
		}
		spmu_model_free(m);
	}
	/* front_end_event's two, seven metrics of the manual, nine replay metrics; execution_event's eight,
	 * replay_event's two, and the two tagged halves of instr_retired */
	assert_int_equal(own, TABLES * 18);
	assert_int_equal(told, TABLES * 12);
}

/* Every row by its name, and by its code in perf's config, is the same event. */
static void test_names_and_codes_of_all_rows_are_taken(void **state)
{
	static struct driver_writes by_name, by_code;
	unsigned uncoded = 0;
	(void)state;
	for (unsigned t = 0; t < TABLES; t++) {
		struct spmu_model *m = fixture_model(tables[t]);
		for (size_t i = 0; i < spmu_model_events(m); i++) {
			const struct spmu_event *row = spmu_model_event(m, i);
			struct session_events e;
			struct session_event one;
			char code[200], name[300], what[160];
			netburst_hint(m, row, what, sizeof what);
			snprintf(name, sizeof name, "%s%s", row->name, what);
			one = good(&e, m, name);
			writes(&by_name, m, &one);
			assert_int_equal(one.event->flags & SPMU_EVENT_NOT_MODELLED,
				row->flags & SPMU_EVENT_NOT_MODELLED);
			session_events_free(&e);
			netburst_code(m, row, code, sizeof code);
			uncoded += !*code;
			if (!*code)
				continue;
			one = good(&e, m, code);
			writes(&by_code, m, &one);
			assert_int_equal(by_code.count, by_name.count);
			for (size_t k = 0; k < by_code.count; k++)
				if (by_code.write[k].msr != by_name.write[k].msr ||
					by_code.write[k].value != by_name.write[k].value)
					fail_msg("%s and %s: %x %llx, %x %llx", name, code, by_name.write[k].msr,
						(unsigned long long)by_name.write[k].value, by_code.write[k].msr,
						(unsigned long long)by_code.write[k].value);
			session_events_free(&e);
		}
		spmu_model_free(m);
	}
	assert_int_equal(uncoded, TABLES * 2);	/* x87_SIMD_moves_uop, which Linux does not number */
}

static void test_words_become_fields(void **state)
{
	static const struct { const char *text; uint32_t mask, tag, cccr; } table[] = {
		{ "branch_retired.MMNM:MMTM", 0xa, 0, 0 },
		{ "branch_retired:mmnp:MMTM:MMTP", 0xd, 0, 0 },
		{ "cpu/branch_retired.MMNM:MMTM,thr=2/", 0xa, 0, SPMU_CCCR_COMPARE | SPMU_CCCR_THRESHOLD(2) },
		{ "branch_retired.MMNM:MMTM:u:thr=1:cmpl", 0xa, 0,
			SPMU_CCCR_COMPARE | SPMU_CCCR_COMPLEMENT | SPMU_CCCR_THRESHOLD(1) },
		{ "uops_retired.NBOGUS:thr=0", 1, 0, 0 },
		{ "uops_retired.NBOGUS:cmpl", 1, 0, SPMU_CCCR_COMPARE | SPMU_CCCR_COMPLEMENT },
		{ "uops_retired.NBOGUS:edge:thr=15", 1, 0,
			SPMU_CCCR_COMPARE | SPMU_CCCR_EDGE | SPMU_CCCR_THRESHOLD(15) },
		{ "cpu/event=0x29,umask=0xa/", 0xa, 0, 0 },
		{ "cpu/event=0x29,umask=0xa,edge,cmask=4/", 0xa, 0,
			SPMU_CCCR_COMPARE | SPMU_CCCR_EDGE | SPMU_CCCR_THRESHOLD(3) },
		{ "cpu/escr=0x52001400,cccr=0x37b000/", 0xa, 0, SPMU_CCCR_COMPARE | SPMU_CCCR_THRESHOLD(3) },
		{ "r520014000037b000", 0xa, 0, SPMU_CCCR_COMPARE | SPMU_CCCR_THRESHOLD(3) },
		{ "x87_FP_uop:ALL:TAG1", 0x8000, SPMU_ESCR_TAG_ENABLE | SPMU_ESCR_TAG(2), 0 },
		{ "x87_FP_uop:tag=5", 0x8000, SPMU_ESCR_TAG_ENABLE | SPMU_ESCR_TAG(5), 0 },
		{ "replay_event:BOGUS:L1_LD_MISS", 2, 0, 0 },
		{ "replay_event:NBOGUS:BOGUS:L1_LD_MISS", 3, 0, 0 },
		{ "execution_event.NBOGUS1:BOGUS1:up=packed_DP_uop", 0x22, 0, 0 },
		{ "packed_DP_retired:tag=4", 4, 0, 0 },
	};
	static struct driver_writes w;
	struct spmu_model *m = fixture_model("netburst");
	(void)state;
	for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
		struct session_events e;
		struct session_event one = good(&e, m, table[i].text);
		struct session_events again;
		writes(&w, m, &one);
		uint32_t escr = 0, cccr = (uint32_t)written(&w, MSR_BPU_CCCR0, MSR_BPU_CCCR0 + 17);
		for (unsigned k = 0; k < 2; k++)
			escr = escr ? escr : (uint32_t)written(&w, one.event->escr[k], one.event->escr[k]);
		if ((escr >> 9 & 0xffff) != table[i].mask || (escr & 0x1f0) != table[i].tag ||
			(cccr & 0x1fc0000) != table[i].cccr)
			fail_msg("%s: ESCR %x, CCCR %x", table[i].text, escr, cccr);
		/* the name in messages is taken, too */
		struct session_event named = good(&again, m, one.event->name);
		assert_int_equal(named.event->umask, one.event->umask);
		assert_string_equal(named.event->name, one.event->name);
		session_events_free(&again);
		session_events_free(&e);
	}
	spmu_model_free(m);
}

static void test_what_does_not_fit_is_refused_by_name(void **state)
{
	struct spmu_model *m = fixture_model("netburst");
	(void)state;
	bad(m, "branch_retired.MMNM:up=packed_DP_uop", "'branch_retired.MMNM' looks at no tags");
	bad(m, "front_end_event.NBOGUS:up=packed_DP_uop", "counts no tags that packed_DP_uop.ALL sets");
	bad(m, "execution_event.NBOGUS0:up=branch_retired.MMNM", "only uop_type");
	bad(m, "execution_event.NBOGUS0:up=nonsense", "unknown event");
	bad(m, "branch_retired.MMNM:tag=1", "takes no tag value");
	bad(m, "execution_event.NBOGUS0:tag=16:up=packed_DP_uop", "0 to 15");
	bad(m, "uops_retired.NBOGUS:thr=16", "0 to 15");
	bad(m, "replay_event.NBOGUS:L1_LD_MISS:L2_LD_MISS", "one replay metric");
	bad(m, "r0000000000000000", "no mask bit");
	bad(m, "r7e00020000000000", "no event number 63");
	bad(m, "cpu/event=0x29,umask=0xa,cccr=0x40000000/", "CASCADE");
	bad(m, "cpu/event=0x29,umask=0x100/", "not modelled");
	bad(m, "machine_clear.CLEAR:NONSENSE", "NONSENSE");
	spmu_model_free(m);
}

/* perf's second cycles event: at most 15 of execution_event, with every mask bit. */
static void test_at_most_15_needs_no_tag(void **state)
{
	struct spmu_model *m = fixture_model("netburst");
	struct session_events e;
	(void)state;
	struct session_event one = good(&e, m, "cpu/event=0x24,umask=0xff,cccr=0xfc0000/");
	assert_int_equal(one.event->umask, 0xff);
	session_events_free(&e);
	bad(m, "cpu/event=0x24,umask=0xff,cccr=0xec0000/", "up=");
	spmu_model_free(m);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_no_event_counts_tags_that_nothing_sets),
		cmocka_unit_test(test_names_and_codes_of_all_rows_are_taken),
		cmocka_unit_test(test_words_become_fields),
		cmocka_unit_test(test_what_does_not_fit_is_refused_by_name),
		cmocka_unit_test(test_at_most_15_needs_no_tag),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
