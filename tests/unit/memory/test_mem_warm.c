/* SPDX-License-Identifier: GPL-2.0-or-later
 * Warming by lists, on the memory systems of all kinds of presets: leaves exactly the state that warming access by
 * access leaves, and the state that detailed accesses leave if they are so far apart that each finds nothing in flight.
 */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>
#include "core/core.h"
#include "core/memory/memsys.h"
#include "core/memory/memsys_state.h"
#include "core/memory/memsys_warm.h"
#include <stdlib.h>
#include <string.h>
#include "data_dir.h"

enum { CODE = 0x400000, DATA = 0x40000000, OPS = 8, BLOCKS = 50000 };

static uint64_t next_random(uint64_t *s)
{
	*s ^= *s << 13;
	*s ^= *s >> 7;
	return *s ^= *s << 17;
}

/* Makes a block: a fetch, then accesses to a few lines that are used often, to an array in order (by one instruction),
 * near code, and anywhere. */
static void block(uint64_t *s, unsigned n, struct warm_op op[OPS], struct insn insn[2], uint64_t slots[OPS])
{
	const uint64_t r = next_random(s);
	insn[1].addr = CODE;
	insn->addr = CODE + (r % 16 ? r >> 8 & 0x3fff : r >> 8 & 0xfffff);
	for (unsigned i = 0; i < OPS; i++) {
		const uint64_t v = next_random(s);
		const uint32_t size = 1u << (v >> 3 & 3);
		op[i] = (struct warm_op){ .slot = (uint16_t)i, .size = (uint16_t)size,
			.kind = i == 0 ? WARM_FETCH : v % 8 < 5 ? WARM_LOAD : WARM_STORE };
		switch (v >> 8 & 7) {
		case 0:
			slots[i] = DATA + (v >> 16) % (8u << 20);
			break;
		case 1:
		case 2:
			op[i].insn = i > 0;
			slots[i] = DATA + (16u << 20) + n * 64 % (1u << 20);
			break;
		case 3:
			slots[i] = v >> 16 & 63 ? insn->addr + (v >> 16) % 256 : ST_NOT_DONE;
			break;
		default:
			slots[i] = DATA + (v >> 16) % 16 * 4096 + (v >> 24) % 512;
		}
		if ((v >> 12 & 255) == 1 && i) {
			op[i].kind = WARM_FLUSH;
			op[i].size = (uint16_t)(v & 1 ? FLUSH_OUT : FLUSH_CLEAN);
			slots[i] &= ~UINT64_C(63);
		} else if ((v >> 12 & 255) < 8 && i) {
			op[i].kind = v >> 12 & 1 ? WARM_PREFETCH : WARM_STREAM;
		}
	}
}

static void one_by_one(struct memsys *m, const struct warm_op op[OPS], const struct insn *insn, const uint64_t *slots)
{
	for (unsigned i = 0; i < OPS; i++) {
		const uint64_t addr = slots[i];
		if (op[i].kind == WARM_FETCH)
			memsys_warm_fetch(m, insn->addr);
		else if (addr == ST_NOT_DONE)
			continue;
		else if (op[i].kind == WARM_FLUSH)
			memsys_warm_flush(m, addr, op[i].size);
		else if (op[i].kind == WARM_STREAM)
			memsys_warm_stream(m, addr, op[i].size);
		else if (op[i].kind == WARM_PREFETCH)
			memsys_warm_prefetch(m, addr);
		else
			memsys_warm_data(m, insn[op[i].insn].addr, addr, op[i].size, op[i].kind == WARM_STORE);
	}
}

/* Makes an access. */
static void access(struct memsys *m, const struct warm_op *op, const struct insn *insn, uint64_t addr, uint64_t cycle,
	struct mem_result *r, struct mem_result *commit)
{
	*r = *commit = (struct mem_result){ 0, 0 };
	if (op->kind == WARM_FETCH) {
		memsys_fetch(m, insn->addr, cycle, cycle, r);
	} else if (addr == ST_NOT_DONE) {
		return;
	} else if (op->kind == WARM_LOAD) {
		memsys_load(m, insn[op->insn].addr, addr, op->size, cycle, false, r);
	} else if (op->kind == WARM_PREFETCH) {
		memsys_prefetch(m, addr, cycle);
	} else if (op->kind == WARM_FLUSH) {
		memsys_flush_translate(m, addr, cycle, r);
		commit->ready = memsys_flush(m, addr, op->size, r->ready);
	} else {
		memsys_store_translate(m, addr, op->size, cycle, r);
		memsys_store_commit(m, insn[op->insn].addr, addr, op->size, r->ready, op->kind == WARM_STREAM, commit);
	}
}

/* Makes an access in both memory systems, with the same outcome at the same time.  Returns whether it was a load that
 * missed L1D. */
static bool timed(struct memsys *const m[2], const struct warm_op *op, const struct insn *insn, uint64_t addr,
	uint64_t cycle)
{
	struct mem_result r[2], commit[2];
	for (unsigned k = 0; k < 2; k++)
		access(m[k], op, insn, addr, cycle, &r[k], &commit[k]);
	assert_int_equal(r[0].did, r[1].did);
	assert_int_equal(commit[0].did, commit[1].did);
	assert_int_equal(r[0].ready, r[1].ready);
	assert_int_equal(commit[0].ready, commit[1].ready);
	return op->kind == WARM_LOAD && r[0].did & SPMU_DID(L1D_MISS);
}

enum against { SINGLE, DETAIL };

/* Two memory systems, one warmed by lists and the other by single accesses or in detail, so slowly that nothing is in
 * flight, are timed in the same way now and then. */
static void compare(const char *preset, enum against against)
{
	struct err err = { 0 };
	struct core_config config;
	struct memsys_shared *shared[2];
	struct memsys *m[2];
	struct emitter *e = calloc(1, sizeof *e);	/* no signal is wanted */
	struct mem_result r, commit;
	uint64_t s = 42, slots[OPS], cycle = 0;
	struct warm_op op[OPS];
	struct insn insn[2] = { { 0 } };
	assert_non_null(e);
	if (core_config_load(&config, data_dir(), preset, &err))
		fail_msg("%s", err.text);
	if (against == DETAIL) {	/* or prefetches would be dropped while the super queue is full */
		config.l2_queue = 64;
		config.prefetch_l2_reserve = 0;
		/* what depends on the time, which stands still while warming, or on the number of reads */
		config.dram_refresh_ns = config.dram_row_close_ns = config.dram_others_ns = 0;
	}
	for (unsigned k = 0; k < 2; k++)
		if (memsys_shared_create(&shared[k], &config, &err) ||
			memsys_create(&m[k], shared[k], &config, e, &err))
			fail_msg("%s", err.text);
	uint64_t misses = 0, timed_blocks = 0;
	for (unsigned n = 0; n < BLOCKS; n++) {
		block(&s, n, op, insn, slots);
		if (next_random(&s) % 8) {
			if (against == SINGLE)
				one_by_one(m[0], op, insn, slots);
			for (unsigned i = 0; i < OPS && against == DETAIL; i++)
				access(m[0], &op[i], insn, slots[i], cycle += 10000, &r, &commit);
			memsys_warm(m[1], op, OPS, insn, slots);
			continue;
		}
		timed_blocks++;
		for (unsigned i = 0; i < OPS; i++)
			misses += timed(m, &op[i], insn, slots[i], cycle += 10000);
	}
	assert_true(misses > timed_blocks / 2 && misses < timed_blocks * OPS / 2);
	for (unsigned k = 0; k < 2; k++) {
		memsys_destroy(m[k]);
		memsys_shared_destroy(shared[k]);
	}
	free(e);
}

static const char *const presets[] = { "golden-cove", "skylake", "zen5", "core2", "willamette", "pentium" };

static void test_lists_warm_like_single_accesses(void **state)
{
	(void)state;
	for (unsigned i = 0; i < sizeof presets / sizeof *presets; i++)
		compare(presets[i], SINGLE);
}

static void test_warming_leaves_what_detail_leaves(void **state)
{
	(void)state;
	for (unsigned i = 0; i < sizeof presets / sizeof *presets; i++)
		compare(presets[i], DETAIL);
}

/* A machine that takes over what a leader has warmed finds memory's rows open, as the leader does. */
static void test_a_copy_finds_the_rows_open(void **state)
{
	(void)state;
	struct err err = { 0 };
	struct core_config config;
	struct memsys_shared *shared[2];
	struct memsys *m[2];
	struct emitter *e = calloc(1, sizeof *e);
	const struct warm_op op = { .size = 8, .kind = WARM_LOAD };
	struct insn insn[2] = { { .addr = CODE } };
	assert_non_null(e);
	assert_int_equal(core_config_load(&config, data_dir(), "golden-cove", &err), 0);
	config.dram_refresh_ns = config.dram_row_close_ns = config.dram_others_ns = 0;
	for (unsigned k = 0; k < 2; k++) {
		assert_int_equal(memsys_shared_create(&shared[k], &config, &err), 0);
		if (k)
			memsys_shared_leads(shared[k]);
		assert_int_equal(memsys_create(&m[k], shared[k], &config, e, &err), 0);
	}
	memsys_warm_data(m[1], CODE, DATA, 8, false);
	memsys_copy(m[0], m[1]);
	assert_int_equal(memsys_shared_copy(shared[0], shared[1], &err), 0);
	assert_true(timed(m, &op, insn, DATA + 2048, 100000));	/* of the same row */
	for (unsigned k = 0; k < 2; k++) {
		memsys_destroy(m[k]);
		memsys_shared_destroy(shared[k]);
	}
	free(e);
}

static void assert_same_l3(const struct memsys_shared *a, const struct memsys_shared *b)
{
	const size_t slots = (size_t)a->l3.sets * a->l3.stride;
	assert_memory_equal(a->l3.tag, b->l3.tag, slots * sizeof *a->l3.tag);
	assert_memory_equal(a->l3.state, b->l3.state, slots);
	assert_memory_equal(a->l3.word, b->l3.word, a->l3.sets * sizeof *a->l3.word);
	if (a->used)
		assert_memory_equal(a->used, b->used, slots * sizeof *a->used);
	if (a->valid)
		assert_memory_equal(a->valid, b->valid, slots * sizeof *a->valid);
}

/* A machine takes over a leader's L3 again and again, and changes its own in between.  Only what may differ is copied,
 * and then nothing differs: after few changes, after more than a log holds, and after L3 was emptied. */
static void copies(const char *preset)
{
	struct err err = { 0 };
	struct core_config config;
	struct memsys_shared *shared[2];	/* the leader's, and that of the machine that is timed */
	struct memsys *m[2];
	struct emitter *e = calloc(1, sizeof *e);
	struct mem_result r, commit;
	uint64_t s = 42, slots[OPS], cycle = 0;
	struct warm_op op[OPS];
	struct insn insn[2] = { { 0 } };
	unsigned skipped = 0, n = 0;
	assert_non_null(e);
	assert_int_equal(core_config_load(&config, data_dir(), preset, &err), 0);
	for (unsigned k = 0; k < 2; k++) {
		assert_int_equal(memsys_shared_create(&shared[k], &config, &err), 0);
		if (!k)
			memsys_shared_leads(shared[k]);
		assert_int_equal(memsys_create(&m[k], shared[k], &config, e, &err), 0);
	}
	for (unsigned round = 0; round < 40; round++) {
		const unsigned blocks = round % 10 == 7 ? 20000 : 10 * round;
		for (unsigned i = 0; i < blocks; i++) {
			block(&s, n++, op, insn, slots);
			memsys_warm(m[0], op, OPS, insn, slots);
			if (i % 4)
				continue;
			block(&s, n, op, insn, slots);
			for (unsigned k = 0; k < OPS; k++)
				access(m[1], &op[k], insn, slots[k], cycle += 10000, &r, &commit);
		}
		if (round == 30)
			l3_empty(m[1], cycle);
		skipped += shared[1]->log.source == shared[0] &&
			shared[0]->log.count - shared[1]->log.source_count < L3_LOG;
		memsys_copy(m[1], m[0]);
		assert_int_equal(memsys_shared_copy(shared[1], shared[0], &err), 0);
		assert_same_l3(shared[0], shared[1]);
	}
	assert_in_range(skipped, 30, 38);	/* most are copied in part, those after 20,000 blocks in full */
	for (unsigned k = 0; k < 2; k++) {
		memsys_destroy(m[k]);
		memsys_shared_destroy(shared[k]);
	}
	free(e);
}

static void test_a_copy_of_what_changed_is_a_whole_copy(void **state)
{
	static const char *const kinds[] = { "golden-cove", "skylake", "zen5" };	/* victim, inclusive */
	(void)state;
	for (unsigned i = 0; i < sizeof kinds / sizeof *kinds; i++)
		copies(kinds[i]);
}

/* A leader does what L2 asks of L3 later, if it can.  What is copied from it, and its counts, are those of a machine
 * that does it at once. */
static void leads(const char *preset, bool small)
{
	struct err err = { 0 };
	struct core_config config;
	struct memsys_shared *shared[4];
	struct memsys *m[4];		/* leader, machine that does it at once, and their copies */
	struct emitter *e = calloc(1, sizeof *e);
	struct core_misses misses[2] = { { 0 } };
	uint64_t s = 42, slots[OPS], cycle = 0;
	struct warm_op op[OPS];
	struct insn insn[2] = { { 0 } };
	assert_non_null(e);
	assert_int_equal(core_config_load(&config, data_dir(), preset, &err), 0);
	if (small) {	/* modified lines come from L3 and leave L2 again at once */
		config.l2_size = 1 << 10;
		config.l2_ways = 1;
		config.l3_size = 15 << 14;
	}
	for (unsigned k = 0; k < 4; k++) {
		assert_int_equal(memsys_shared_create(&shared[k], &config, &err), 0);
		if (!k)
			memsys_shared_leads(shared[k]);
		assert_int_equal(memsys_create(&m[k], shared[k], &config, e, &err), 0);
	}
	for (unsigned n = 0; n < BLOCKS / 2; n++) {
		block(&s, n, op, insn, slots);
		memsys_warm(m[0], op, OPS, insn, slots);
		memsys_warm(m[1], op, OPS, insn, slots);
		if (n % 1000)
			continue;
		for (unsigned k = 0; k < 2; k++) {
			memsys_warm_misses(m[k], &misses[k]);
			memsys_copy(m[2 + k], m[k]);
			assert_int_equal(memsys_shared_copy(shared[2 + k], shared[k], &err), 0);
		}
		assert_memory_equal(&misses[0], &misses[1], sizeof *misses);
		for (unsigned i = 0; i < 64 * OPS; i++) {
			block(&s, n, op, insn, slots);
			timed(m + 2, &op[1 + i % (OPS - 1)], insn, slots[1 + i % (OPS - 1)], cycle += 10000);
		}
	}
	for (unsigned k = 0; k < 4; k++) {
		memsys_destroy(m[k]);
		memsys_shared_destroy(shared[k]);
	}
	free(e);
}

static void test_a_leader_that_waits_ends_up_equal(void **state)
{
	(void)state;
	leads("golden-cove", true);
	leads("golden-cove", false);
	leads("skylake", false);
	leads("zen5", false);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_lists_warm_like_single_accesses),
		cmocka_unit_test(test_warming_leaves_what_detail_leaves),
		cmocka_unit_test(test_a_copy_finds_the_rows_open),
		cmocka_unit_test(test_a_copy_of_what_changed_is_a_whole_copy),
		cmocka_unit_test(test_a_leader_that_waits_ends_up_equal),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
