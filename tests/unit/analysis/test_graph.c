/* SPDX-License-Identifier: GPL-2.0-or-later
 * The dependence graph (analysis/graph/graph.h): hand-made runs whose longest paths are known. */
#include "analysis/graph/graph.h"
#include "core/memory/cache.h"
#include "core/record/detail.h"
#include "isa/isa.h"
#include "session_fixture.h"

enum { PART = 64 };
struct made {			/* a run: one record for each uop */
	struct core_config c;
	struct spmu_record record[2 * PART];
	uint32_t count;
	uint64_t retire;
};

static struct made *made(void)
{
	struct made *m = calloc(1, sizeof *m);
	assert_non_null(m);
	m->c = (struct core_config){ .idq_size = 64, .rob_size = 64, .load_buffer_size = 64, .store_buffer_size = 32,
		.alloc_width = 8, .retire_width = 8,
		.rs_size = 64, .ports_count = 4, .l1d_latency = 4, .l2_latency = 14, .recovery_redirect = 5,
		.store_commit_delay = 1, .store_commit_width = 1,
		.forward_blocked = 3 };
	return m;
}

/* Adds a uop that is delivered at `fetch`, waits for register src until `ready`, is dispatched at `dispatch` and is
 * complete at `complete`. */
static struct core_detail *put(struct made *m, uint64_t is, uint64_t did, unsigned port, unsigned src, unsigned dst,
	uint32_t fetch, uint32_t ready,
                               uint32_t dispatch, uint32_t complete)
{
	struct core_detail *d = (struct core_detail *)&m->record[m->count];
	struct spmu_record *r = &m->record[m->count + 1];
	m->count += 2;
	assert_true(m->count <= 2 * PART);
	m->retire = complete > m->retire ? complete : m->retire;
	*d = (struct core_detail){ .kind = SPMU_REC_SIGNAL, .what = DETAIL_UOP, .src = { (uint8_t)src },
		.dst = { (uint8_t)dst }, .flags = DETAIL_SLOT | DETAIL_LAST,
		.ports = (uint16_t)(1u << port), .fetch = fetch, .result = complete, .room = 8, .width = 8 };
	*r = (struct spmu_record){ .kind = SPMU_REC_UOP, .port = (uint8_t)port, .size = is & SPMU_IS(LOAD) ? 8 : 0,
		.ip = 0x1000 + m->count, .is = is | SPMU_IS(SLOT) | SPMU_IS(EXEC),
		.did = did | SPMU_DID(RETIRED), .addr = 64 * m->count, .fetch = fetch, .alloc = fetch, .ready = ready,
		.dispatch = dispatch, .complete = complete,
		.retire = (uint32_t)m->retire };
	return d;
}

/* Returns the cycles of the graph without the classes. */
static uint64_t without(const struct made *m, uint32_t classes)
{
	struct graph *g;
	struct err err = { 0 };
	const uint32_t free_classes[] = { classes };
	const struct spmu_batch b = { .count = m->count, .records = m->record };
	assert_int_equal(graph_create(&g, &m->c, free_classes, 1, &err), 0);
	graph_batch(g, &b);
	assert_int_equal(graph_measured(g), m->retire);
	uint64_t cycles = graph_cycles(g, 0);
	graph_destroy(g);
	return cycles;
}
#define CLASS(name) (1u << GRAPH_##name)

static void test_a_chain_is_as_long_as_its_latencies(void **state)
{
	struct made *m = made();
	(void)state;
	put(m, 0, 0, 0, 0, 1, 0, 0, 0, 3);
	put(m, 0, 0, 1, 1, 2, 0, 3, 3, 7);
	put(m, 0, 0, 2, 0, 3, 0, 0, 0, 2);	/* in parallel */
	put(m, 0, 0, 0, 2, 4, 0, 7, 7, 12);
	assert_int_equal(without(m, 0), 12);
	assert_int_equal(without(m, CLASS(PORTS)), 12);
	assert_int_equal(without(m, CLASS(MISPREDICT)), 12);
	free(m);
}

static void test_a_mispredicted_branch_costs_what_comes_behind_it_later(void **state)
{
	struct made *m = made();
	(void)state;
	put(m, 0, 0, 0, 0, 1, 0, 0, 0, 10);
	put(m, SPMU_IS(BRANCH), SPMU_DID(MISPREDICTED), 1, 1, 0, 0, 10, 10, 11);
	put(m, 0, 0, 2, 0, 2, 16, 16, 16, 20);	/* 11 + the redirection */
	assert_int_equal(without(m, 0), 20);
	assert_int_equal(without(m, CLASS(MISPREDICT)), 11);	/* the branch itself remains */
	free(m);
}

static struct made *two_misses(uint32_t other)
{
	struct made *m = made();
	struct core_detail *d;
	put(m, SPMU_IS(LOAD), SPMU_DID(L1D_MISS) | SPMU_DID(L2_HIT), 0, 0, 1, 0, 0, 0, 104);
	d = put(m, SPMU_IS(LOAD), SPMU_DID(L1D_MISS) | SPMU_DID(L3_MISS), 1, other, 2, 0, other ? 104 : 0, other ? 104
		: 0, other ? 208 : 104);
	d->memory = 100;
	return m;
}

static void test_misses_beside_each_other_cost_nothing_alone_and_are_parallel(void **state)
{
	struct made *m = two_misses(0);
	(void)state;
	assert_int_equal(without(m, 0), 104);
	assert_int_equal(without(m, CLASS(L1_MISS)), 104);
	assert_int_equal(without(m, CLASS(L3_MISS)), 104);
	assert_int_equal(without(m, CLASS(L1_MISS) | CLASS(L3_MISS)), 4);
	free(m);
}

static void test_misses_behind_each_other_beside_other_work_are_serial(void **state)
{
	struct made *m = two_misses(1);
	(void)state;
	put(m, 0, 0, 2, 0, 3, 0, 0, 0, 108);	/* as long as one of them */
	assert_int_equal(without(m, 0), 208);
	assert_int_equal(without(m, CLASS(L1_MISS)), 108);
	assert_int_equal(without(m, CLASS(L3_MISS)), 108);
	assert_int_equal(without(m, CLASS(L1_MISS) | CLASS(L3_MISS)), 108);	/* 100 saved, not 200 */
	free(m);
}

static void test_uops_of_a_port_go_one_a_cycle(void **state)
{
	struct made *m = made();
	(void)state;
	for (uint32_t i = 0; i < 6; i++)
		put(m, 0, 0, 0, 0, 1, 0, 0, i, i + 1);
	assert_int_equal(without(m, 0), 6);
	assert_int_equal(without(m, CLASS(PORTS)), 1);
	free(m);
}

static void test_a_full_reorder_buffer_holds_allocation_back(void **state)
{
	struct made *m = made();
	(void)state;
	m->c.rob_size = 2;
	put(m, 0, 0, 0, 0, 1, 0, 0, 0, 50);
	put(m, 0, 0, 1, 0, 2, 0, 0, 0, 50);
	put(m, 0, 0, 2, 0, 3, 0, 51, 51, 61);
	m->record[m->count - 1].alloc = 51;
	assert_int_equal(without(m, 0), 61);
	assert_int_equal(without(m, CLASS(WINDOW)), 50);
	free(m);
}

static void test_a_load_waits_for_its_store_and_for_lines_on_their_way(void **state)
{
	struct made *m = made();
	(void)state;
	put(m, SPMU_IS(LOAD), SPMU_DID(L1D_MISS) | SPMU_DID(L2_HIT), 0, 0, 1, 0, 0, 0, 30);
	put(m, SPMU_IS(STORE_ADDR), 0, 1, 0, 0, 0, 0, 0, 1)->store = 7;
	struct core_detail *data = put(m, SPMU_IS(STORE_DATA), 0, 2, 1, 0, 0, 30, 30, 31);
	data->store = 7;
	data->flags |= DETAIL_STORED;
	put(m, SPMU_IS(LOAD), SPMU_DID(FORWARDED) | SPMU_DID(L1D_HIT), 3, 0, 2, 0, 0, 0, 36)->store = 7;
	assert_int_equal(without(m, 0), 36);
	assert_int_equal(without(m, CLASS(L1_MISS)), 10);	/* 4, 1 for the data, 5 to forward */
	free(m);
}

/* Adds a store to addr of the register src, which is ready at `given`. */
static void stores(struct made *m, uint32_t number, uint64_t addr, unsigned src, uint32_t given)
{
	put(m, SPMU_IS(STORE_ADDR), 0, 1, 0, 0, 0, 0, 0, 1)->store = number;
	m->record[m->count - 1].addr = addr;
	m->record[m->count - 1].size = 8;
	struct core_detail *data = put(m, SPMU_IS(STORE_DATA), 0, 2, src, 0, 0, given, given, given + 1);
	data->store = number;
	data->flags |= DETAIL_STORED;
}

static void test_a_load_becomes_the_stored_register_when_its_pair_was_seen_often_enough_in_that_graph(void **state)
{
	(void)state;
	for (unsigned limit = 1; limit < 4; limit++) {
		struct made *m = made();
		m->c.forward_renamed = limit;
		m->c.forward_latency = 5;
		/* A store and a load of its data, by the same instructions: seen for the first time, a second time,
		 * and a third time, which is often enough for a limit of 1. */
		for (uint32_t i = 0; i < 3; i++) {
			stores(m, 7 + i, 0x4000 + 64 * i, 0, 20 * i);
			const uint32_t loaded = 20 * i + 6, known = i == 2 && limit == 1 ? 20 * i : loaded;
			struct core_detail *d = put(m, SPMU_IS(LOAD), SPMU_DID(FORWARDED) | SPMU_DID(L1D_HIT), 3, 0, 5,
				0, 0, i, loaded);
			d->store = 7 + i;
			d->flags |= DETAIL_RENAMES;
			d->result = known;
			m->record[m->count - 1].ip = 0x2000;
			m->record[m->count - 1].addr = 0x4000 + 64 * i;
			if (i == 2)
				put(m, 0, 0, 0, 5, 6, 0, known, known, known + 30);
		}
		struct graph *g;
		struct err err = { 0 };
		const uint32_t none = 0;
		const struct spmu_batch b = { .count = m->count, .records = m->record };
		assert_int_equal(graph_create(&g, &m->c, &none, 1, &err), 0);
		graph_batch(g, &b);
		assert_int_equal(graph_cycles(g, 0), limit == 1 ? 70 : 76);
		graph_destroy(g);
		free(m);
	}
}

/* The next load asks for its line at `from`; it comes from L2 at `ready`. */
static void asks(struct made *m, uint64_t from, uint64_t ready)
{
	struct core_fill *f = (struct core_fill *)&m->record[m->count++];
	assert_true(m->count < 2 * PART);
	*f = (struct core_fill){ .kind = SPMU_REC_SIGNAL, .what = DETAIL_FILL, .level = 1, .line = m->count + 2,
		.physical = m->count + 2, .from = from, .ready = ready };
}

static void test_a_miss_waits_for_a_fill_buffer_from_when_its_address_is_translated(void **state)
{
	struct made *m = made();
	const uint64_t miss = SPMU_DID(L1D_MISS) | SPMU_DID(L2_HIT);
	(void)state;
	m->c.l1d_fill_buffers = 1;
	asks(m, 0, 14);
	put(m, SPMU_IS(LOAD), miss, 0, 0, 1, 0, 0, 0, 14);
	asks(m, 7, 28);
	put(m, SPMU_IS(LOAD), miss | SPMU_DID(DTLB_MISS) | SPMU_DID(STLB_HIT), 1, 0, 2, 0, 0, 0, 28)->tlb = 7;
	asks(m, 1, 42);
	put(m, SPMU_IS(LOAD), miss, 2, 0, 3, 0, 1, 1, 42);
	assert_int_equal(without(m, 0), 42);
	assert_int_equal(without(m, CLASS(DTLB_MISS)), 42);	/* the buffer is not free earlier */
	assert_int_equal(without(m, CLASS(L1_MISS)), 11);	/* no load takes it */
	free(m);
}

static void test_a_line_whose_address_is_translated_sooner_is_there_sooner_for_all(void **state)
{
	struct made *m = made();
	const uint64_t miss = SPMU_DID(L1D_MISS) | SPMU_DID(L2_HIT);
	(void)state;
	m->c.l1d_fill_buffers = 1;
	asks(m, 7, 21);
	put(m, SPMU_IS(LOAD), miss | SPMU_DID(DTLB_MISS) | SPMU_DID(STLB_HIT), 0, 0, 1, 0, 0, 0, 21)->tlb = 7;
	put(m, SPMU_IS(LOAD), SPMU_DID(LFB_HIT), 1, 0, 2, 0, 0, 0, 21);
	m->record[m->count - 1].addr = m->record[m->count - 3].addr;
	asks(m, 1, 35);
	put(m, SPMU_IS(LOAD), miss, 2, 0, 3, 0, 1, 1, 35);
	assert_int_equal(without(m, 0), 35);
	assert_int_equal(without(m, CLASS(DTLB_MISS)), 28);
	assert_int_equal(without(m, CLASS(L1_MISS)), 11);
	free(m);
}

static struct graph *of(const struct made *m)
{
	struct graph *g;
	struct err err = { 0 };
	const uint32_t none = 0;
	const struct spmu_batch b = { .count = m->count, .records = m->record };
	assert_int_equal(graph_create(&g, &m->c, &none, 1, &err), 0);
	graph_batch(g, &b);
	return g;
}

static void test_the_critical_path_goes_through_what_came_last(void **state)
{
	struct made *m = made();
	size_t sites;
	(void)state;
	put(m, 0, 0, 3, 0, 9, 0, 0, 0, 40);	/* in parallel to all of it */
	put(m, SPMU_IS(LOAD), SPMU_DID(L1D_MISS) | SPMU_DID(L2_HIT), 0, 0, 1, 0, 0, 0, 30);
	put(m, 0, 0, 1, 1, 2, 0, 30, 33, 37);	/* three cycles for the port */
	put(m, 0, 0, 1, 0, 4, 0, 0, 30, 31);
	put(m, SPMU_IS(BRANCH), SPMU_DID(MISPREDICTED), 2, 2, 0, 0, 37, 37, 38);
	put(m, 0, 0, 0, 0, 3, 43, 43, 43, 50);
	struct graph *g = of(m);
	struct path *p = graph_path(g);
	/* the port is free: the previous uop in program order is dispatched there later */
	assert_int_equal(graph_cycles(g, 0), 47);
	assert_int_equal(path_cycles(p, PATH_L2), 30);
	assert_int_equal(path_cycles(p, PATH_EXECUTE), 4 + 1 + 7);
	assert_int_equal(path_cycles(p, PATH_MISPREDICT), 5);
	assert_int_equal(path_cycles(p, PATH_PORT), 0);
	const struct path_site *site = path_sites(p, &sites);
	assert_int_equal(sites, 4);
	assert_int_equal(site[0].ip, m->record[3].ip);	/* the load */
	assert_int_equal(site[0].cycles, 30);
	graph_destroy(g);
	free(m);
}

static void test_the_critical_path_names_the_level_of_a_line_under_way(void **state)
{
	static const struct { enum inflight_source from; enum path_kind kind; } of_level[] = {
		{ FROM_L2, PATH_LINE_L2 }, { FROM_L3, PATH_LINE_L3 }, { FROM_MEMORY, PATH_LINE_MEMORY } };
	(void)state;
	for (unsigned i = 0; i < 3; i++) {
		struct made *m = made();
		asks(m, 0, 30);
		((struct core_fill *)&m->record[m->count - 1])->source = (uint8_t)of_level[i].from;
		put(m, SPMU_IS(LOAD), SPMU_DID(L1D_MISS) | SPMU_DID(L3_MISS), 0, 0, 1, 0, 0, 0, 30);
		put(m, SPMU_IS(LOAD), SPMU_DID(LFB_HIT), 0, 0, 2, 0, 5, 5, 35);	/* it is complete last */
		m->record[m->count - 1].addr = m->record[m->count - 3].addr;
		struct graph *g = of(m);
		assert_in_range(path_cycles(graph_path(g), of_level[i].kind), 25, 35);
		assert_int_equal(path_cycles(graph_path(g), PATH_LINE), 0);
		graph_destroy(g);
		free(m);
	}
}

static void test_a_long_run_s_path_is_followed_through_all_windows(void **state)
{
	struct made *m = made();
	struct graph *g;
	struct err err = { 0 };
	const uint32_t none = 0;
	(void)state;
	put(m, 0, 0, 0, 1, 1, 0, 0, 0, 3);
	assert_int_equal(graph_create(&g, &m->c, &none, 1, &err), 0);
	for (uint64_t i = 0; i < 50000; i++) {	/* a chain */
		const struct spmu_batch b = { .base_cycle = 3 * i, .count = 2, .records = m->record };
		struct core_detail *d = (struct core_detail *)m->record;
		d->fetch = 3 * i;
		d->result = 3 * i + 3;
		graph_batch(g, &b);
	}
	assert_int_equal(graph_measured(g), 150000);
	uint64_t sum = 0;
	for (unsigned k = 0; k < PATH_KINDS_COUNT; k++)
		sum += path_cycles(graph_path(g), (enum path_kind)k);
	assert_in_range(sum, 149000, 150000);
	assert_in_range(path_cycles(graph_path(g), PATH_EXECUTE) + path_cycles(graph_path(g), PATH_FRONT_END), 149000,
		150000);
	graph_destroy(g);
	free(m);
}

static void test_what_it_cannot_do_is_refused_by_name(void **state)
{
	struct made *m = made();
	struct graph *g = NULL;
	struct err err = { 0 };
	const uint32_t none = 0;
	(void)state;
	m->c.partial_high_ports = 1;
	snprintf(m->c.name, sizeof m->c.name, "odd");
	assert_int_equal(graph_create(&g, &m->c, &none, 1, &err), ERR_UNSUPPORTED);
	assert_non_null(strstr(err.text, "odd"));
	m->c.partial_high_ports = 0;
	assert_int_equal(graph_create(&g, &m->c, &none, 0, &err), ERR_INPUT);
	free(m);
}

static void test_records_without_details_are_no_graph_and_no_crash(void **state)
{
	struct made *m = made();
	struct graph *g;
	struct err err = { 0 };
	const uint32_t none = 0;
	(void)state;
	put(m, 0, 0, 0, 0, 1, 0, 0, 0, 3);
	const struct spmu_batch alone = { .count = 1, .records = &m->record[1] };
	assert_int_equal(graph_create(&g, &m->c, &none, 1, &err), 0);
	graph_batch(g, &alone);
	assert_int_equal(graph_cycles(g, 0), 0);
	graph_destroy(g);
	free(m);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_a_chain_is_as_long_as_its_latencies),
		cmocka_unit_test(test_a_mispredicted_branch_costs_what_comes_behind_it_later),
		cmocka_unit_test(test_misses_beside_each_other_cost_nothing_alone_and_are_parallel),
		cmocka_unit_test(test_misses_behind_each_other_beside_other_work_are_serial),
		cmocka_unit_test(test_uops_of_a_port_go_one_a_cycle),
		cmocka_unit_test(test_a_full_reorder_buffer_holds_allocation_back),
		cmocka_unit_test(test_a_load_waits_for_its_store_and_for_lines_on_their_way),
		cmocka_unit_test(
			test_a_load_becomes_the_stored_register_when_its_pair_was_seen_often_enough_in_that_graph),
		cmocka_unit_test(test_a_miss_waits_for_a_fill_buffer_from_when_its_address_is_translated),
		cmocka_unit_test(test_a_line_whose_address_is_translated_sooner_is_there_sooner_for_all),
		cmocka_unit_test(test_the_critical_path_goes_through_what_came_last),
		cmocka_unit_test(test_the_critical_path_names_the_level_of_a_line_under_way),
		cmocka_unit_test(test_a_long_run_s_path_is_followed_through_all_windows),
		cmocka_unit_test(test_what_it_cannot_do_is_refused_by_name),
		cmocka_unit_test(test_records_without_details_are_no_graph_and_no_crash),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
