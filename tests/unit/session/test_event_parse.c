/* SPDX-License-Identifier: GPL-2.0-or-later
 * Event lists as perf spells them, against a small table. */
#include "session_fixture.h"

static struct session_events good(const char *list)
{
	struct session_events e = { 0 };
	struct err err = { 0 };
	int rc = session_parse(&e, &(struct session_parse_options){ .model = model, .core = &core }, list, &err);
	if (rc)
		print_error("%s: %s\n", list, err.text);
	assert_int_equal(rc, 0);
	return e;
}

static void bad(const char *list, int code, const char *needle)
{
	struct session_events e = { 0 };
	struct err err = { 0 };
	int rc = session_parse(&e, &(struct session_parse_options){ .model = model, .core = &core }, list, &err);
	if (rc != code || !strstr(err.text, needle))
		print_error("%s: %d, %s\n", list, rc, err.text);
	assert_int_equal(rc, code);
	assert_int_equal(err.code, code);
	assert_non_null(strstr(err.text, needle));
	assert_int_equal(e.count, 0);
	assert_null(strchr(err.text, '\n'));
}

static bool note(void *context, const char *event, size_t bytes, const struct err *why)
{
	char *all = context;
	const size_t used = strlen(all);
	snprintf(all + used, 200 - used, "%.*s;", (int)bytes, event);
	return why->code == ERR_NOT_MODELLED;
}

static void test_a_list_goes_on_without_events_that_are_left_out(void **state)
{
	(void)state;
	char seen[200] = "";
	struct session_events e = { 0 };
	struct err err = { 0 };
	const struct session_parse_options how = { .model = model, .core = &core, .leave_out = note, .context = seen };
	assert_int_equal(session_parse(&e, &how, "page-faults, {cycles:k ,branches},{r4242},cycles", &err), 0);
	assert_string_equal(seen, "page-faults;cycles:k;r4242;");
	assert_int_equal(e.count, 2);
	assert_string_equal(e.event[0].name, "branches:u");
	assert_string_equal(e.event[1].name, "cycles:u");
	assert_true(e.event[0].group >= 0 && e.event[1].group == -1);
	/* what is not left out ends the list, and adds nothing */
	assert_int_equal(session_parse(&e, &how, "instructions,page-faults,xyzzyxyzzy", &err), ERR_INPUT);
	assert_int_equal(e.count, 2);
	assert_int_equal(session_parse(&e, &how, "{}", &err), ERR_INPUT);
	session_events_free(&e);
}

static void test_a_name_is_printed_with_the_u_it_did_not_ask_for(void **state)
{
	(void)state;
	struct session_events e =
		good("cycles,inst_retired.any_p,branches:u,cpu/event=0xc4/,cpu/branches/u,cpu/event=0xc4,name=b/");
	const char *name[] = { "cycles:u", "inst_retired.any_p:u", "branches:u", "cpu/event=0xc4/u", "cpu/branches/u",
		"b:u" };
	assert_int_equal(e.count, 6);
	for (int i = 0; i < 6; i++)
		assert_string_equal(e.event[i].name, name[i]);
	assert_true(e.event[0].exclude_kernel);
	assert_false(e.event[0].exclude_user);
	session_events_free(&e);
}

static void test_generic_names_find_their_rows_and_fixed_counters(void **state)
{
	(void)state;
	struct session_events e =
		good("cycles,instructions,cpu-cycles,branch-misses,L1-dcache-load-misses,l1d-misses,slots");
	assert_int_equal(e.event[0].fixed, 1);
	assert_int_equal(e.event[0].evtsel, 0);
	assert_int_equal(e.event[1].fixed, 0);
	assert_int_equal(e.event[2].fixed, 1);
	assert_int_equal(e.event[3].fixed, -1);
	assert_int_equal(e.event[3].evtsel, 0xc5);
	assert_string_equal(e.event[4].event->name, "MEM_LOAD_RETIRED.L1_MISS");
	assert_ptr_equal(e.event[4].event, e.event[5].event);
	assert_int_equal(e.event[6].fixed, 3);
	session_events_free(&e);
}

static void test_software_clocks_need_no_counter(void **state)
{
	(void)state;
	struct session_events e = good("task-clock,cpu-clock:u,duration_time");
	assert_int_equal(e.event[0].source, SESSION_TASK_CLOCK);
	assert_int_equal(e.event[1].source, SESSION_TASK_CLOCK);
	assert_int_equal(e.event[2].source, SESSION_DURATION);
	assert_null(e.event[0].event);
	session_events_free(&e);
}

static void test_raw_codes_become_register_bits(void **state)
{
	(void)state;
	struct session_events e = good("r08d1,r1a8010e,cpu/r20081d0/,r5300c0,cpu/config=0xc4/");
	assert_int_equal(e.event[0].evtsel, 0x08d1);
	assert_string_equal(e.event[0].event->name, "MEM_LOAD_RETIRED.L1_MISS");
	assert_int_equal(e.event[1].evtsel, 0x1a8010e & ~(UINT64_C(1) << 19));
	assert_int_equal(e.event[2].evtsel, 0x20081d0);
	assert_int_equal(e.event[3].evtsel, 0xc0);	/* USR, OS, INT and EN are not part of the event */
	assert_int_equal(e.event[4].evtsel, 0xc4);
	session_events_free(&e);
}

static void test_terms_become_register_bits(void **state)
{
	(void)state;
	struct session_events e = good("cpu/event=0x0e,umask=0x1,cmask=2,inv,edge/,cpu/event=14,umask=1,inv=0/u,"
				       "cpu/UOPS_ISSUED.ANY,cmask=1,inv=1/,cpu/branches,period=777/");
	assert_int_equal(e.event[0].evtsel, 0x010e | SPMU_EVTSEL_CMASK(2) | SPMU_EVTSEL_INV | SPMU_EVTSEL_EDGE);
	assert_int_equal(e.event[1].evtsel, 0x010e);
	assert_string_equal(e.event[1].name, "cpu/event=14,umask=1,inv=0/u");
	assert_int_equal(e.event[2].evtsel, 0x010e | SPMU_EVTSEL_CMASK(1) | SPMU_EVTSEL_INV);
	assert_int_equal(e.event[3].period, 777);
	session_events_free(&e);
}

static void test_a_named_event_carries_its_own_mask_bits(void **state)
{
	(void)state;
	struct session_events e = good("UOPS_ISSUED.STALL_CYCLES");
	assert_int_equal(e.event[0].evtsel, 0x010e | SPMU_EVTSEL_CMASK(1) | SPMU_EVTSEL_INV);
	session_events_free(&e);
}

static void test_libpfm4_spelling_is_understood(void **state)
{
	(void)state;
	struct session_events e =
		good("skl::MEM_LOAD_RETIRED:L1_MISS:u,skl::UOPS_ISSUED:ANY:c=2:i:e,UOPS_ISSUED:ANY:c=1,"
			"skl::UNHALTED_CORE_CYCLES");
	assert_int_equal(e.event[0].evtsel, 0x08d1);
	assert_string_equal(e.event[0].name, "skl::MEM_LOAD_RETIRED:L1_MISS:u");
	assert_int_equal(e.event[1].evtsel, 0x010e | SPMU_EVTSEL_CMASK(2) | SPMU_EVTSEL_INV | SPMU_EVTSEL_EDGE);
	assert_string_equal(e.event[1].name, "skl::UOPS_ISSUED:ANY:c=2:i:e:u");
	assert_int_equal(e.event[2].evtsel, 0x010e | SPMU_EVTSEL_CMASK(1));
	assert_int_equal(e.event[3].evtsel, 0x3c);	/* a name that only libpfm4 knows, by its code */
	session_events_free(&e);
	assert_null(getenv("LIBPFM_ENCODE_INACTIVE"));	/* the traced program must not see it */
}

static void test_another_pmus_libpfm4_name_is_refused(void **state)
{
	(void)state;
	bad("spr::INST_RETIRED:ANY", ERR_UNSUPPORTED, "skl::");
}

static void test_groups_share_a_number_and_modifiers(void **state)
{
	(void)state;
	struct session_events e = good("cycles,{branches,branch-misses}:u,{instructions},r00c4");
	assert_int_equal(e.count, 5);
	assert_int_equal(e.event[0].group, -1);
	assert_int_equal(e.event[1].group, 0);
	assert_int_equal(e.event[2].group, 0);
	assert_int_equal(e.event[3].group, 1);
	assert_int_equal(e.event[4].group, -1);
	assert_string_equal(e.event[2].name, "branch-misses");
	session_events_free(&e);
}

static void test_lists_append_and_groups_stay_apart(void **state)
{
	(void)state;
	struct session_events e = good("{cycles,branches}");
	assert_int_equal(session_parse(&e, &(struct session_parse_options){ .model = model }, "{instructions}", NULL),
		0);
	assert_int_equal(e.count, 3);
	assert_int_equal(e.event[2].group, 1);
	assert_int_equal(session_parse(&e, &(struct session_parse_options){ .model = model }, "branches,nonsense",
		NULL), ERR_INPUT);
	assert_int_equal(e.count, 3);		/* the list did not change */
	session_events_free(&e);
}

static void test_ring_0_is_refused_by_name(void **state)
{
	(void)state;
	bad("cycles:k", ERR_NOT_MODELLED, "user mode only");
	bad("cycles:uk", ERR_NOT_MODELLED, "user mode only");
	bad("{cycles,branches}:k", ERR_NOT_MODELLED, "user mode only");
	bad("cpu/branches/k", ERR_NOT_MODELLED, "user mode only");
	bad("skl::UOPS_ISSUED:ANY:k", ERR_NOT_MODELLED, "user mode only");
	bad("cycles:G", ERR_NOT_MODELLED, "guest");
}

static void test_precise_sampling_is_refused_by_name(void **state)
{
	(void)state;
	bad("cycles:p", ERR_UNSUPPORTED, "PEBS");
	bad("cpu/branches/ppu", ERR_UNSUPPORTED, "PEBS");
	bad("cycles:pppp", ERR_INPUT, "three");
	struct session_events e = good("branches:P");	/* as precise as the PMU can be: not precise */
	assert_int_equal(e.event[0].precise, 0);
	session_events_free(&e);
}

static void test_the_u_follows_libpfm4s_attributes_behind_a_colon(void **state)
{
	(void)state;
	struct session_events e =
		good("branches:c=4,branches:u:c=4,branches:c=4:i=1:u,r00c4:c=1,cycles:D,branches:k=0");
	const char *name[] = { "branches:c=4:u", "branches:u:c=4", "branches:c=4:i=1:u", "r00c4:c=1:u", "cycles:Du",
		"branches:k=0:u" };
	assert_int_equal(e.count, 6);
	for (int i = 0; i < 6; i++)
		assert_string_equal(e.event[i].name, name[i]);
	for (int i = 0; i < 3; i++)
		assert_int_equal(e.event[i].evtsel >> 24, 4);
	session_events_free(&e);
	bad("cycles:u=0", ERR_UNSUPPORTED, "user mode only");
}

static void test_unknown_names_get_the_nearest(void **state)
{
	(void)state;
	bad("cylces", ERR_INPUT, "nearest: cycles");
	bad("l1_miss", ERR_INPUT, "MEM_LOAD_RETIRED.L1_MISS");
	bad("INST_RETIRD.ANY_P", ERR_INPUT, "INST_RETIRED.ANY_P");
	bad("cpu/brances/", ERR_INPUT, "branches");
	bad("xyzzyxyzzy", ERR_INPUT, "softpmu list");
	bad("INST_RETIRED:ANI_P:u", ERR_INPUT, "INST_RETIRED.ANY_P");
	/* a name in small letters is not taken for a tracepoint */
	bad("inst_retired:ani_p", ERR_INPUT, "nearest: INST_RETIRED.ANY_P");
	bad("inst:ani_p", ERR_NOT_MODELLED, "tracepoint");
}

static void test_events_that_are_not_modelled_give_the_tables_reason(void **state)
{
	(void)state;
	bad("ASSISTS.ANY", ERR_NOT_MODELLED, "no assist is ever taken in this model");
	bad("r07c1", ERR_NOT_MODELLED, "no assist is ever taken in this model");
	bad("page-faults", ERR_NOT_MODELLED, "kernel");
}

static void test_codes_outside_of_the_table_are_refused(void **state)
{
	(void)state;
	bad("r4242", ERR_NOT_MODELLED, "not in the event table of test-core");
	bad("cpu/event=0xd1,umask=0x40/", ERR_NOT_MODELLED, "not in the event table");
	bad("r1000000c4c4c4", ERR_UNSUPPORTED, "select nothing");
}

static void test_fixed_only_events_take_no_mask_bits(void **state)
{
	(void)state;
	bad("cpu/instructions,cmask=1/", ERR_UNSUPPORTED, "fixed counter only");
}

static void test_malformed_lists_are_refused(void **state)
{
	(void)state;
	bad("", ERR_INPUT, "empty");
	bad("cycles,", ERR_INPUT, "empty");
	bad(",cycles", ERR_INPUT, "empty");
	bad("{cycles", ERR_INPUT, "'}'");
	bad("{cycles,{branches}}", ERR_INPUT, "cannot contain a group");
	bad("{}", ERR_INPUT, "empty");
	bad("{cycles,}", ERR_INPUT, "empty");
	bad("cycles}", ERR_INPUT, "comma was expected");
	bad("cpu/event=0xc4", ERR_INPUT, "closing '/'");
	bad("cpu//", ERR_INPUT, "names no event");
	bad("cpu/event=0x1c4/", ERR_INPUT, "event");
	bad("cpu/event=/", ERR_INPUT, "event");
	bad("cpu/evnt=1/", ERR_INPUT, "unknown term");
	bad("cpu/ldlat=3/", ERR_INPUT, "names no event");
	bad("cpu/cycles,ldlat=3/", ERR_UNSUPPORTED, "no such register");
	bad("uncore_imc/event=1/", ERR_UNSUPPORTED, "stat");
	bad("cycles:", ERR_INPUT, "colon");
	bad("cycles:z", ERR_INPUT, "unknown modifier");
	bad("cycles:S", ERR_UNSUPPORTED, ":S");
	bad("branches:e", ERR_INPUT, "edge");
	bad("sched:sched_switch", ERR_NOT_MODELLED, "tracepoint");
}

/* A list uses all of the syntax. Each of its prefixes and each change of one character either parses or gives an
 * error, and leaks nothing. */
static void test_broken_lists_never_crash(void **state)
{
	(void)state;
	static const char list[] =
		"{cycles:u,cpu/event=0xc4,cmask=2,name=x/u}:u,r08d1:u,skl::UOPS_ISSUED:ANY:c=2:i,task-clock";
	char text[sizeof list];
	for (size_t n = 0; n < sizeof list - 1; n++)
		for (const char *c = "\0{}/,:=r%"; c < (const char *)"\0{}/,:=r%" + 9; c++) {
			struct session_events e = { 0 };
			struct err err = { 0 };
			memcpy(text, list, sizeof list);
			text[n] = *c;
			int rc = session_parse(&e, &(struct session_parse_options){ .model = model, .core = &core },
				text, &err);
			assert_true(rc == 0 ? e.count > 0 : e.count == 0 && err.text[0]);
			session_events_free(&e);
		}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_a_list_goes_on_without_events_that_are_left_out),
		cmocka_unit_test(test_a_name_is_printed_with_the_u_it_did_not_ask_for),
		cmocka_unit_test(test_generic_names_find_their_rows_and_fixed_counters),
		cmocka_unit_test(test_software_clocks_need_no_counter),
		cmocka_unit_test(test_raw_codes_become_register_bits),
		cmocka_unit_test(test_terms_become_register_bits),
		cmocka_unit_test(test_a_named_event_carries_its_own_mask_bits),
		cmocka_unit_test(test_libpfm4_spelling_is_understood),
		cmocka_unit_test(test_another_pmus_libpfm4_name_is_refused),
		cmocka_unit_test(test_groups_share_a_number_and_modifiers),
		cmocka_unit_test(test_lists_append_and_groups_stay_apart),
		cmocka_unit_test(test_ring_0_is_refused_by_name),
		cmocka_unit_test(test_precise_sampling_is_refused_by_name),
		cmocka_unit_test(test_the_u_follows_libpfm4s_attributes_behind_a_colon),
		cmocka_unit_test(test_unknown_names_get_the_nearest),
		cmocka_unit_test(test_events_that_are_not_modelled_give_the_tables_reason),
		cmocka_unit_test(test_codes_outside_of_the_table_are_refused),
		cmocka_unit_test(test_fixed_only_events_take_no_mask_bits),
		cmocka_unit_test(test_malformed_lists_are_refused),
		cmocka_unit_test(test_broken_lists_never_crash),
	};
	return cmocka_run_group_tests(tests, fixture_setup, fixture_teardown);
}
