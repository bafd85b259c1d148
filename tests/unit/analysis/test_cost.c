/* SPDX-License-Identifier: GPL-2.0-or-later
 * What events cost: marginal cost, busy cycles, the decomposition, and the table of events
 * (analysis/cost/cost.h, busy.h). */
#include "analysis/cost/busy_cycles.h"
#include "analysis/cost/cost.h"
#include "session_fixture.h"
#include <math.h>
#include "data_dir.h"

static void test_marginal_cost_is_cycles_saved_by_events_removed(void **state)
{
	const char *why = NULL;
	(void)state;
	/* the example of US 2005/0273310 */
	assert_float_equal(cost_marginal(COST_REMOVES, 2000, 100, 1600, 90, &why), 40, 0);
	assert_null(why);
	assert_float_equal(cost_marginal(COST_FREES, 2000, 100, 1600, 100, &why), 4, 0);
	assert_null(why);
}

static void test_what_makes_a_run_faster_has_a_negative_cost(void **state)
{
	const char *why = NULL;
	(void)state;
	assert_float_equal(cost_marginal(COST_REMOVES, 2000, 100, 2600, 0, &why), -6, 0);
	assert_null(why);
}

static void test_a_change_that_leaves_the_events_says_so(void **state)
{
	const char *why = NULL;
	(void)state;
	assert_true(isnan(cost_marginal(COST_REMOVES, 2000, 1000, 1990, 999, &why)));
	assert_non_null(strstr(why, "within 1 %"));
	assert_true(isnan(cost_marginal(COST_FREES, 2000, 0, 1990, 0, &why)));
	assert_non_null(strstr(why, "did not occur"));
}

static void test_busy_is_the_length_of_the_union(void **state)
{
	struct busy b = { 0 };
	uint64_t naive = 0;
	bool busy[4000] = { false };
	(void)state;
	for (uint32_t x = 3, i = 0; i < 500; i++) {	/* the begins are out of order by up to 40 cycles */
		x = x * 1103515245 + 12345;
		uint32_t begin = i * 6 + (x >> 16) % 40, end = begin + (x >> 24) % 30;
		for (uint32_t c = begin; c < end; c++)
			busy[c] = true;
		assert_true(busy_add(&b, begin, end));
		if (i % 7 == 0)
			busy_close(&b, i * 6);
	}
	busy_close(&b, UINT64_MAX);
	for (size_t c = 0; c < sizeof busy / sizeof *busy; c++)
		naive += busy[c];
	assert_int_equal(b.cycles, naive);
	assert_int_equal(b.count, 0);
	busy_release(&b);
}

static struct core_config preset(const char *name)
{
	struct core_config c;
	struct err err = { 0 };
	if (core_config_load(&c, data_dir(), name, &err))
		fail_msg("%s", err.text);
	return c;
}

static void test_every_event_has_a_tag_or_a_reason_on_every_preset(void **state)
{
	char *name[CONFIG_PRESETS];
	struct err err;
	(void)state;
	int n = core_config_presets(name, data_dir(), &err);
	assert_true(n > 4);
	for (int k = 0; k < n; k++) {
		struct core_config c = preset(name[k]);
		for (unsigned i = 0; i < cost_events_count; i++) {
			const struct cost_event *e = &cost_events[i];
			const char *why = NULL, *how = NULL, *tag = cost_event_tag(e, &c, &why);
			struct tag t;
			assert_true(e->counted[0] ? !*tag : tag ? tag_parse(&t, tag, NULL) == 0 : why != NULL);
			double each = e->analytic(&c, &how);
			assert_non_null(how);
			assert_true(isnan(each) || !tag || each >= 0);
			/* the text of the change gives the same change */
			for (unsigned try = 0; try < COST_TRIES; try++) {
				struct core_config changed = c, again = c;
				char text[256] = "", *save = NULL;
				why = NULL;
				if (try == COST_ONLY) {	/* it sets fields that there are */
					if (!cost_event_only(e, &c, text, sizeof text))
						continue;
					for (char *field = strtok_r(text, ",", &save); field;
						field = strtok_r(NULL, ",", &save))
						if (core_config_set(&again, field, &err))
							fail_msg("%s: %s", field, err.text);
					assert_int_equal(core_config_check(&again, &err), 0);
					continue;
				}
				if (!e->change(&changed, (enum cost_try)try, text, sizeof text, &why)) {
					assert_non_null(why);
					continue;
				}
				if (core_config_check(&changed, &err))
					fail_msg("%s %s: %s", name[k], text, err.text);
				for (char *field = strtok_r(text, ",", &save); field; field = strtok_r(NULL, ",",
					&save))
					if (core_config_set(&again, field, &err))
						fail_msg("%s: %s", field, err.text);
				if (memcmp(&again, &changed, sizeof again))
					fail_msg("%s, %s %u: not the change that it says", name[k], e->name, try);
			}
		}
		free(name[k]);
	}
}

static void test_prescott_s_mispredict_is_31_cycles(void **state)
{
	struct core_config c = preset("prescott");
	const char *how;
	(void)state;
	assert_float_equal(cost_event_find("mispredict")->analytic(&c, &how), 31, 0);
}

/* Runs a thread of three stretches: a miss of 100 cycles, a mispredict, work. */
static void run_one(struct cost_run *r)
{
	static struct fixture_batch f;
	struct cost_thread *t;
	const uint64_t whole = SPMU_IS(INST_BEGIN) | SPMU_IS(INST_END);
	assert_int_equal(cost_thread_start(r, &t, 7, NULL), 0);
	fixture_begin(&f, 1000);
	fixture_uop(&f, 0x10, whole | SPMU_IS(LOAD), SPMU_DID(L1D_MISS) | SPMU_DID(L2_MISS) | SPMU_DID(L3_MISS), 0, 0);
	f.r[0].dispatch = 1, f.r[0].complete = 101, f.r[0].retire = 103;
	f.r[f.b.count++] = (struct spmu_record){ .kind = SPMU_REC_SIGNAL, .cpl = 3, .signal = SPMU_SIG_L3_PENDING,
		.did = 1, .begin = 10, .end = 90 };
	struct spmu_record *b = fixture_uop(&f, 0x14, whole | SPMU_IS(BRANCH) | SPMU_IS(COND), SPMU_DID(MISPREDICTED),
		0, 0);
	b->dispatch = 2, b->complete = 3, b->retire = 103;
	struct spmu_record *n = fixture_uop(&f, 0x18, whole, 0, 0, 0);
	n->fetch = 20, n->alloc = n->ready = n->dispatch = 105, n->complete = 106, n->retire = 110;
	fixture_end(&f, 0, 110, true);
	cost_thread_batch(t, &f.b);
	cost_thread_end(t);
}

static void test_a_run_counts_events_busy_cycles_and_where(void **state)
{
	static const char *const tag[] = { "l3_miss", "mispredict", "lock" };
	struct cost_measure m[3] = { { .busy = { SPMU_SIG_L3_PENDING } }, { .busy = { COST_ALLOCATION } } };
	struct cost_run *r;
	struct err err = { 0 };
	uint64_t group[COST_GROUPS_COUNT], sum = 0;
	size_t sites;
	(void)state;
	for (unsigned i = 0; i < 3; i++)
		assert_int_equal(tag_parse(&m[i].tag, tag[i], &err), 0);
	assert_int_equal(cost_run_create(&r, &(struct pushout_widths){ { 4, 4, 4 } }, m, 3, true, &err), 0);
	run_one(r);
	run_one(r);
	assert_int_equal(cost_run_finish(r, &err), 0);
	assert_int_equal(cost_run_cycles(r), 220);
	assert_int_equal(cost_run_instructions(r), 6);
	assert_int_equal(cost_run_result(r, 0)->count, 2);
	assert_int_equal(cost_run_result(r, 0)->busy, 160);
	assert_int_equal(cost_run_result(r, 0)->pushout.sum, 206);
	assert_int_equal(cost_run_result(r, 1)->count, 2);
	assert_int_equal(cost_run_result(r, 1)->busy, 2 * 104);
	assert_int_equal(cost_run_result(r, 1)->pushout.sum, 14);
	assert_int_equal(cost_run_result(r, 2)->count, 0);
	cost_run_groups(r, group);
	for (unsigned g = 0; g < COST_GROUPS_COUNT; g++)
		sum += group[g];
	assert_int_equal(sum, (uint64_t)220 * EXACT_CYCLE);
	const struct cost_site *s = cost_run_sites(r, &sites);
	assert_int_equal(sites, 3);
	assert_int_equal(s[0].ip, 0x10);
	assert_int_equal(s[0].pid, 7);
	assert_int_equal(s[0].of[0].count, 2);
	assert_int_equal(s[1].of[1].pushed, 14);	/* the branch is charged */
	assert_null(s[2].of);
	cost_run_destroy(r);
}

static void test_without_detail_counts_and_cycles_are_the_same(void **state)
{
	struct cost_measure m = { .busy = { SPMU_SIG_L3_PENDING } };
	struct cost_run *r;
	struct err err = { 0 };
	size_t sites;
	(void)state;
	assert_int_equal(tag_parse(&m.tag, "l3_miss", &err), 0);
	assert_int_equal(cost_run_create(&r, &(struct pushout_widths){ { 4, 4, 4 } }, &m, 1, false, &err), 0);
	run_one(r);
	assert_int_equal(cost_run_finish(r, &err), 0);
	assert_int_equal(cost_run_cycles(r), 110);
	assert_int_equal(cost_run_result(r, 0)->count, 1);
	cost_run_sites(r, &sites);
	assert_int_equal(sites, 0);
	cost_run_destroy(r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_marginal_cost_is_cycles_saved_by_events_removed),
		cmocka_unit_test(test_what_makes_a_run_faster_has_a_negative_cost),
		cmocka_unit_test(test_a_change_that_leaves_the_events_says_so),
		cmocka_unit_test(test_busy_is_the_length_of_the_union),
		cmocka_unit_test(test_every_event_has_a_tag_or_a_reason_on_every_preset),
		cmocka_unit_test(test_prescott_s_mispredict_is_31_cycles),
		cmocka_unit_test(test_a_run_counts_events_busy_cycles_and_where),
		cmocka_unit_test(test_without_detail_counts_and_cycles_are_the_same),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
