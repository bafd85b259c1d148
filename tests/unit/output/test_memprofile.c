/* SPDX-License-Identifier: GPL-2.0-or-later
 * Data-address profiles: samples made up, added up by instruction, object, page and set; what their addresses
 * are said to mean. */
#include "perfdata_fixture.h"
#include "output/memprofile.h"
#include "session/driver/data_source.h"

enum { LINE = 64, SETS = 32, WAYS = 4 };
#define HEAP UINT64_C(0x10000000)

static const struct perfdata_cache cache = { 1, LINE, SETS, WAYS, "Data" };
static struct perfdata_writer *writer;
static uint64_t now;

static void begin(struct fixture *f)
{
	struct err err;
	struct perfdata_options o = options(f->path, 2, false);
	o.fields = PERFDATA_ADDR | PERFDATA_WEIGHT | PERFDATA_DATA_SRC;
	o.cache = &cache;
	o.caches = 1;
	now = 1;
	assert_int_equal(perfdata_create(&writer, &o, &err), 0);
	perfdata_comm(writer, 5, 5, "prog", true, now);
}

static void map(uint64_t addr, uint64_t bytes, const char *path)
{
	struct perfdata_map m = { .pid = 5, .tid = 5, .addr = addr, .bytes = bytes, .path = path,
		.prot = PROT_READ | PROT_WRITE };
	assert_int_equal(perfdata_mmap(writer, &m, ++now), 0);
}

static void touch(uint64_t ip, uint64_t address, uint64_t source, bool store, uint32_t latency)
{
	struct perfdata_sample s = { .ip = ip, .time = ++now, .period = 100, .pid = 5, .tid = 5, .exact = true,
		.addr = address, .weight = latency,
		.data_src = source == UINT64_MAX ? data_source_unknown(store) : data_source(source, store) };
	assert_int_equal(perfdata_sample(writer, &s), 0);
}

static struct perfdata_file *file;
static struct memprofile *load(struct fixture *f, const struct memprofile_options *o)
{
	static const struct memprofile_options none;
	struct memprofile *p;
	struct err err;
	if (writer)
		assert_int_equal(perfdata_finish(writer, NULL, NULL, NULL), 0);
	writer = NULL;
	assert_int_equal(perfdata_open(&file, f->path, &err), 0);
	assert_int_equal(memprofile_load(&p, file, o ? o : &none, &err), 0);
	return p;
}
static void done(struct memprofile *p)
{
	memprofile_free(p);
	perfdata_close(file);
}

static void test_lines_in_one_set_beyond_its_ways_are_a_set_conflict(void **state)
{
	begin(*state);
	for (unsigned i = 0; i < 80; i++)
		touch(0x1000, HEAP + 0x400 + i % 8 * 8192, UINT64_MAX, false, 0);
	struct memprofile *p = load(*state, NULL);
	const struct memprofile_entry *e = p->entry[MEM_BY_INSTRUCTION];
	assert_int_equal(p->entries[MEM_BY_INSTRUCTION], 1);
	assert_int_equal(e->samples, 80);
	assert_int_equal(e->addresses, 8);
	assert_int_equal(e->stride, 8192);
	assert_true(e->even);
	assert_int_equal(e->equal_bits, 13);
	assert_int_equal(e->lines, 8);
	assert_int_equal(e->sets, 1);
	assert_int_equal(e->worst_set, 16);
	assert_int_equal(e->verdict, MEM_SET_CONFLICT);
	assert_int_equal(p->entries[MEM_BY_SET], 1);
	assert_int_equal(p->entry[MEM_BY_SET][0].where, 16);
	assert_int_equal(p->entry[MEM_BY_SET][0].verdict, MEM_SET_CONFLICT);
	assert_int_equal(p->entries[MEM_BY_PAGE], 8);
	assert_int_equal(p->stripes, 8);
	done(p);
}

static void test_as_many_lines_as_ways_are_no_conflict(void **state)
{
	begin(*state);
	for (unsigned i = 0; i < 80; i++)
		touch(0x1000, HEAP + i % WAYS * 8192, UINT64_MAX, false, 0);
	struct memprofile *p = load(*state, NULL);
	assert_int_equal(p->entry[MEM_BY_INSTRUCTION][0].verdict, MEM_NOTHING);
	done(p);
}

static void test_more_lines_than_the_cache_holds_are_its_capacity(void **state)
{
	begin(*state);
	for (unsigned i = 0; i < 2 * (SETS * WAYS + SETS); i++)	/* five lines in every set */
		touch(0x1000, HEAP + i % (SETS * WAYS + SETS) * LINE, UINT64_MAX, false, 0);
	struct memprofile *p = load(*state, NULL);
	assert_int_equal(p->entry[MEM_BY_INSTRUCTION][0].verdict, MEM_CAPACITY);
	assert_int_equal(p->entry[MEM_BY_SET][7].verdict, MEM_CAPACITY);
	done(p);
}

static void test_what_hits_or_comes_once_is_no_conflict(void **state)
{
	begin(*state);
	for (unsigned i = 0; i < 80; i++)
		touch(0x1000, HEAP + i % 8 * 8192, 1, false, 4);	/* L1 hits */
	for (unsigned i = 0; i < 8; i++)
		touch(0x2000, HEAP + i * 8192, 3, false, 14);		/* each line once */
	struct memprofile *p = load(*state, NULL);
	assert_int_equal(p->entries[MEM_BY_INSTRUCTION], 2);
	assert_int_equal(p->entry[MEM_BY_INSTRUCTION][0].verdict, MEM_NOTHING);
	assert_int_equal(p->entry[MEM_BY_INSTRUCTION][1].verdict, MEM_NOTHING);
	done(p);
}

static void test_levels_latencies_loads_and_stores_add_up(void **state)
{
	begin(*state);
	touch(0x1000, HEAP, 1, false, 4);
	touch(0x1000, HEAP, 3, false, 14);
	touch(0x1000, HEAP + 8, 4 | 1 << 4, false, 60);	/* L3, TLB miss */
	touch(0x1000, HEAP + 8, 0xa, false, 300);
	touch(0x2000, HEAP, 0, true, 0);	/* a store that missed L1 */
	struct memprofile *p = load(*state, NULL);
	const struct memprofile_entry *e = p->entry[MEM_BY_INSTRUCTION];
	assert_int_equal(e->loads, 4);
	assert_int_equal(e->stores, 0);
	assert_int_equal(e->level[MEM_L1], 1);
	assert_int_equal(e->level[MEM_L2], 1);
	assert_int_equal(e->level[MEM_L3], 1);
	assert_int_equal(e->level[MEM_RAM], 1);
	assert_int_equal(e->tlb_miss, 1);
	assert_int_equal(e->latency_sum, 378);
	assert_int_equal(e->latency_max, 300);
	assert_int_equal(e->latencies, 4);
	assert_int_equal(e->addresses, 2);
	assert_int_equal(e[1].stores, 1);
	assert_int_equal(e[1].level[MEM_L1_MISS], 1);
	done(p);
	p = load(*state, &(struct memprofile_options){ .stores = true });
	assert_int_equal(p->samples, 1);
	done(p);
}

static void test_objects_are_stacks_heap_blocks_and_mappings(void **state)
{
	begin(*state);
	map(HEAP, 0x10000, "[heap]");
	map(0x20000000, 0x1000, "[stack]");
	map(0x30000000, 0x1000, "[stack:77]");
	map(0x40000000, 0x1000, "//anon");
	map(HEAP + 0x100, 0x40, "[heap] malloc 0x401136 main");
	touch(0x1000, HEAP, UINT64_MAX, false, 0);
	touch(0x1000, HEAP + 0x13f, UINT64_MAX, false, 0);
	touch(0x1000, 0x20000010, UINT64_MAX, false, 0);
	touch(0x1000, 0x30000010, UINT64_MAX, false, 0);
	touch(0x1000, 0x40000010, UINT64_MAX, false, 0);
	touch(0x1000, 0x50000010, UINT64_MAX, false, 0);
	struct memprofile *p = load(*state, NULL);
	static const char *const want[] = { "[unknown]", "anonymous memory", "heap, allocation not known",
		"malloc by 0x401136", "stack", "stack of thread 77" };
	assert_int_equal(p->entries[MEM_BY_OBJECT], 6);
	for (unsigned i = 0; i < 6; i++)
		assert_string_equal(p->entry[MEM_BY_OBJECT][i].name, want[i]);
	done(p);
}

static void test_without_a_cache_there_are_no_sets(void **state)
{
	struct fixture *f = *state;
	begin(f);
	touch(0x1000, HEAP, UINT64_MAX, false, 0);
	struct memprofile *p = load(f, NULL);
	assert_int_equal(p->l1d.ways, WAYS);
	assert_int_equal(p->entry[MEM_BY_INSTRUCTION][0].lines, 1);
	done(p);
	struct perfdata_options o = options(f->path, 2, false);
	o.fields = PERFDATA_ADDR | PERFDATA_DATA_SRC;
	assert_int_equal(perfdata_create(&writer, &o, NULL), 0);
	touch(0x1000, HEAP, UINT64_MAX, false, 0);
	p = load(f, NULL);
	assert_int_equal(p->l1d.sets, 0);
	assert_int_equal(p->entries[MEM_BY_SET], 0);
	assert_int_equal(p->entry[MEM_BY_INSTRUCTION][0].lines, 0);
	done(p);
	p = load(f, &(struct memprofile_options){ .l1d = { 64, 64, 8 } });
	assert_int_equal(p->entries[MEM_BY_SET], 1);
	done(p);
}

/* Changes every byte of the file in turn. Any result is allowed, but no access out of bounds (SAN=1 detects it). */
static void test_damaged_files_are_survived(void **state)
{
	struct fixture *f = *state;
	begin(f);
	map(HEAP, 0x10000, "[heap] malloc 0x401136 main");
	for (unsigned i = 0; i < 6; i++)
		touch(0x1000, HEAP + i * 8192, 3, false, 14);
	done(load(f, NULL));
	struct contents c = slurp(f->path);
	for (size_t i = 0; i < c.size; i += 3) {
		struct perfdata_file *damaged;
		struct memprofile *p;
		uint8_t was = c.bytes[i];
		c.bytes[i] ^= (uint8_t)(1u << i % 8 | 0x80);
		if (perfdata_open_memory(&damaged, c.bytes, c.size, NULL) == 0) {
			if (memprofile_load(&p, damaged, &(struct memprofile_options){ 0 }, NULL) == 0) {
				FILE *null = fopen("/dev/null", "w");
				struct memreport_options o = { .file_name = "x", .keys = 15, .map = true };
				memreport_text(null, p, &o);
				memreport_json(null, p, &o);
				memreport_csv(null, p, &o);
				fclose(null);
				memprofile_free(p);
			}
			perfdata_close(damaged);
		}
		c.bytes[i] = was;
	}
	free(c.bytes);
}

#define T(name) cmocka_unit_test_setup_teardown(name, fixture_setup, fixture_teardown)
int main(void)
{
	const struct CMUnitTest tests[] = {
		T(test_lines_in_one_set_beyond_its_ways_are_a_set_conflict),
			T(test_as_many_lines_as_ways_are_no_conflict),
		T(test_more_lines_than_the_cache_holds_are_its_capacity),
		T(test_what_hits_or_comes_once_is_no_conflict),
		T(test_levels_latencies_loads_and_stores_add_up), T(test_objects_are_stacks_heap_blocks_and_mappings),
		T(test_without_a_cache_there_are_no_sets), T(test_damaged_files_are_survived),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
