/* SPDX-License-Identifier: GPL-2.0-or-later
 * A guest with page tables and several processors (machine/machine.h), driven by a toy of an emulator: which pages it
 * is asked for, and what the PMU counts of caches, TLBs and other cores.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>
#include "insn_code.h"
#include "idle_emulator.h"
#include "data_dir.h"
#include "machine/machine.h"

enum { CODE = 0x401000, DATA = 0x600000, ALIAS = 0x900000, TABLES = 0x1000000, MAPPED = 16 };
enum { USR = SPMU_EVTSEL_USR, OS = SPMU_EVTSEL_OS, EN = SPMU_EVTSEL_EN };
enum { LOADS_L1_MISS = 0x08d1, LOADS_L1_HIT = 0x01d1, LOAD_WALKS = 0x0108, LOADS_HITM = 0x04d2 };

/* The tables: linear pages that lie elsewhere than at their own address; and how often it was asked. */
static struct toy {
	struct { uint64_t page, frame; bool gone, global; uint8_t shift; } map[MAPPED];
	unsigned maps, asked;
	uint64_t last;
} toy;

static bool on_walk(void *context, uint64_t linear, struct guest_page *out)
{
	(void)context;
	toy.asked++;
	toy.last = linear;
	*out = (struct guest_page){ .frame = linear & 0x3ffff000, .levels = 4, .shift = 12, .entry_bytes = 8 };
	for (unsigned i = 0; i < toy.maps; i++)
		if (toy.map[i].page == linear >> toy.map[i].shift << toy.map[i].shift) {
			out->frame = toy.map[i].frame;
			out->global = toy.map[i].global;
			out->shift = toy.map[i].shift;
			if (toy.map[i].gone)
				return false;
		}
	for (unsigned l = out->shift == 12 ? 0 : 1; l < 4; l++)
		out->entry[l - (out->shift != 12)] = TABLES + l * 0x100000 + (linear >> 12 >> 9 * l & 0xffff) * 8;
	out->levels = out->shift == 12 ? 4 : 3;
	return true;
}

static const struct guest_emulator emulator = { .interrupt = on_interrupt, .read = on_read, .write = on_write,
	.registers = on_registers, .walk = on_walk };
enum { LONG = GUEST_PAGED | GUEST_PAE | GUEST_GLOBAL_PAGES | GUEST_LONG };

static void set(struct guest *g, uint32_t msr, uint64_t v)
{
	assert_int_equal(guest_wrmsr(g, msr, v), GUEST_DONE);
}

static uint64_t counter(struct guest *g, unsigned n)
{
	uint64_t v = 0;
	assert_int_equal(guest_rdmsr(g, MSR_IA32_PMC0 + n, &v), GUEST_DONE);
	return v;
}

static uint64_t cycles(struct guest *g)
{
	struct guest_report r;
	guest_report(g, &r);
	return r.cycles[0] + r.cycles[1];
}

/* Counters 0 to 3: loads that hit and miss L1D, walks of loads, loads that hit a modified line of another core. */
static void count(struct guest *g)
{
	static const uint16_t event[] = { LOADS_L1_HIT, LOADS_L1_MISS, LOAD_WALKS, LOADS_HITM };
	for (unsigned i = 0; i < 4; i++)
		set(g, MSR_IA32_PERFEVTSEL0 + i, event[i] | USR | OS | EN);
	set(g, MSR_IA32_PERF_GLOBAL_CTRL, 15);
}

static struct guest *make(unsigned mode)
{
	/* no prefetcher fetches what a test has not asked for */
	static const char *const off[] = { "prefetch.l1d_next_line=0", "prefetch.l1d_ip=0", "prefetch.l2_adjacent=0",
		"prefetch.l2_streamer=0" };
	const struct guest_options o = { .data_dir = data_dir(), .core = "skylake", .setting = off, .settings = 4 };
	struct guest *g = NULL;
	struct err err = { 0 };
	memset(&toy, 0, sizeof toy);
	if (guest_create(&g, &o, &emulator, &err))
		fail_msg("%s", err.text);
	guest_paging(g, mode);
	guest_space(g, 0x1000);
	count(g);
	return g;
}

static void access(struct guest *g, enum guest_access kind, uint64_t addr, unsigned cpl)
{
	/* mov (%rsi), %rax and back */
	const struct guest_insn i = { .ip = CODE, .len = 3, .cpl = (uint8_t)cpl, .bits = 64,
		.code = INSN_CODE(kind == GUEST_LOAD ? "\x48\x8b\x06" : "\x48\x89\x06", 3) };
	guest_begin(g, &i);
	guest_access(g, kind, addr, 8);
	guest_end(g, CODE);
}
static void load(struct guest *g, uint64_t addr) { access(g, GUEST_LOAD, addr, 3); }
static void store(struct guest *g, uint64_t addr) { access(g, GUEST_STORE, addr, 3); }

static unsigned map(uint64_t page, uint64_t frame)
{
	toy.map[toy.maps].page = page;
	toy.map[toy.maps].frame = frame;
	toy.map[toy.maps].shift = 12;
	return toy.maps++;
}

static void test_a_line_has_one_place_whatever_its_linear_address(void **state)
{
	(void)state;
	struct guest *g = make(LONG);
	map(ALIAS, DATA);
	load(g, DATA + 64);
	assert_int_equal(counter(g, 1), 1);
	load(g, ALIAS + 64);
	load(g, DATA + 64);
	assert_int_equal(counter(g, 1), 1);
	assert_int_equal(counter(g, 0), 2);
	assert_int_equal(counter(g, 2), 2);		/* and the TLB has both pages */
	load(g, ALIAS + 0x1040);
	assert_int_equal(counter(g, 1), 2);
	guest_space(g, 0x2000);				/* the same page in another process */
	load(g, DATA + 64);
	assert_int_equal(counter(g, 1), 2);
	guest_destroy(g);
}

static void test_a_page_is_asked_for_once(void **state)
{
	(void)state;
	struct guest *g = make(LONG);
	for (unsigned i = 0; i < 100; i++)
		load(g, DATA + 64 * (i % 64));
	assert_int_equal(toy.asked, 2);			/* and the code's */
	load(g, DATA + 4092);				/* lies in two pages */
	assert_int_equal(toy.asked, 3);
	assert_int_equal(toy.last, DATA + 4099);
	guest_destroy(g);
}

static void test_invlpg_and_a_new_frame(void **state)
{
	(void)state;
	struct guest *g = make(LONG);
	const unsigned m = map(DATA, 0x700000);
	load(g, DATA);
	const unsigned asked = toy.asked;
	guest_invlpg(g, DATA);
	load(g, DATA);					/* the line is still there, the TLB entry is not */
	assert_int_equal(toy.asked, asked + 1);
	assert_int_equal(counter(g, 1), 1);
	assert_int_equal(counter(g, 2), 2);
	toy.map[m].frame = 0x800000;
	guest_invlpg(g, DATA);
	load(g, DATA);
	assert_int_equal(counter(g, 1), 2);		/* another line */
	map(ALIAS, 0x700000);
	load(g, ALIAS);					/* the old one is where it was */
	assert_int_equal(counter(g, 1), 2);
	guest_destroy(g);
}

static void test_a_store_behind_a_change_goes_to_the_new_frame(void **state)
{
	(void)state;
	struct guest *g = make(LONG);
	const unsigned m = map(DATA, 0x700000);
	store(g, DATA + 640);	/* table entries take set 0 of L1D */
	toy.map[m].frame = 0x800000;
	guest_invlpg(g, DATA);
	store(g, DATA + 640);
	map(ALIAS, 0x700000);
	map(ALIAS + 4096, 0x800000);
	(void)counter(g, 0);				/* both are written */
	load(g, ALIAS + 640);
	load(g, ALIAS + 4096 + 640);
	assert_int_equal(counter(g, 1), 0);		/* both are in L1D, modified */
	guest_destroy(g);
}

static void test_a_walk_reads_the_guests_entries(void **state)
{
	(void)state;
	struct guest *g = make(LONG);
	const uint64_t entry = TABLES + (DATA >> 12) * 8;	/* on_walk: the leaf's */
	map(ALIAS, entry & ~UINT64_C(4095));
	load(g, DATA + 640);
	assert_int_equal(counter(g, 1), 1);
	load(g, ALIAS + (entry & 4095));
	assert_int_equal(counter(g, 1), 1);		/* the walk has brought its line */
	load(g, ALIAS + ((entry & 4095) ^ 1024));
	assert_int_equal(counter(g, 1), 2);
	guest_destroy(g);
}

static void test_cr3_without_pcids_drops_what_is_not_global(void **state)
{
	(void)state;
	struct guest *g = make(LONG);
	const uint64_t kernel = UINT64_C(0xffffffff82000000), own = UINT64_C(0xffff888000000000);
	toy.map[map(kernel, 0x2000000)].global = true;
	load(g, kernel);
	load(g, own);
	load(g, DATA);
	assert_int_equal(counter(g, 2), 3);
	guest_space(g, 0x1000);				/* the same one */
	load(g, kernel);
	assert_int_equal(counter(g, 2), 3);
	load(g, own);
	load(g, DATA);
	assert_int_equal(counter(g, 2), 5);
	guest_paging(g, LONG & ~GUEST_GLOBAL_PAGES);	/* CR4.PGE, to and fro */
	guest_paging(g, LONG);
	load(g, kernel);
	assert_int_equal(counter(g, 2), 6);
	guest_destroy(g);
}

static void test_pcids_keep_their_entries(void **state)
{
	(void)state;
	struct guest *g = make(LONG);
	const uint64_t keep = UINT64_C(1) << 63;
	guest_paging(g, LONG | GUEST_PCIDS);
	guest_space(g, 0x1001);
	load(g, DATA);
	guest_space(g, 0x2002);
	load(g, DATA);
	assert_int_equal(counter(g, 2), 2);
	guest_space(g, 0x1001 | keep);
	load(g, DATA);
	assert_int_equal(counter(g, 2), 2);
	guest_space(g, 0x2002);				/* without bit 63 */
	load(g, DATA);
	assert_int_equal(counter(g, 2), 3);
	guest_invpcid(g, 0, 1, DATA);			/* an address of the other */
	load(g, DATA);
	assert_int_equal(counter(g, 2), 3);
	guest_space(g, 0x1001 | keep);
	load(g, DATA);
	assert_int_equal(counter(g, 2), 4);
	guest_space(g, 0x3001);				/* the PCID is another space's now */
	guest_space(g, 0x1003 | keep);
	load(g, DATA);
	assert_int_equal(counter(g, 2), 5);
	guest_destroy(g);
}

static void test_a_large_page_takes_one_entry(void **state)
{
	(void)state;
	struct guest *g = make(LONG);
	const unsigned m = map(0x40000000, 0x20000000);
	toy.map[m].shift = 21;
	for (unsigned i = 0; i < 512; i++)
		load(g, 0x40000280 + 4096 * i);
	assert_int_equal(counter(g, 2), 1);
	map(ALIAS, 0x20000000 + 4096 * 510);
	load(g, ALIAS + 640);
	assert_int_equal(counter(g, 0), 1);
	toy.map[m].gone = true;				/* it is split */
	guest_invlpg(g, 0x40000000);
	toy.map[m].page = 1;
	map(0x40003000, 0x700000);
	load(g, 0x40003000);
	load(g, 0x40004000);
	assert_int_equal(counter(g, 2), 4);
	guest_destroy(g);
}

static void test_a_delivery_goes_through_the_caches(void **state)
{
	(void)state;
	uint64_t took[2];
	for (unsigned cold = 0; cold < 2; cold++) {
		struct guest *g = make(LONG);
		const uint64_t stack = UINT64_C(0xffffc90000003f00), idt = UINT64_C(0xfffffe0000000000);
		const struct guest_trap t = { .from = CODE, .vector = 0x20, .interrupt = true };
		for (unsigned i = 0; i < 3; i++) {
			access(g, GUEST_LOAD, idt + (cold ? 4096 : 0), 0);
			access(g, GUEST_LOAD, stack, 0);
		}
		load(g, DATA);
		(void)counter(g, 0);
		const uint64_t from = cycles(g);
		guest_event(g, &t);
		guest_access(g, GUEST_LOAD, idt, 16);
		guest_access(g, GUEST_STORE, stack - 8, 8);
		access(g, GUEST_LOAD, stack - 64, 0);
		(void)counter(g, 0);
		took[cold] = cycles(g) - from;
		const uint64_t misses = counter(g, 1);
		access(g, GUEST_LOAD, idt, 0);
		access(g, GUEST_LOAD, stack - 8, 0);
		assert_int_equal(counter(g, 1), misses);	/* it has brought both */
		guest_destroy(g);
	}
	assert_true(took[1] > took[0] + 50);
}

static struct guest *make_second(struct guest *first)
{
	struct guest *g = NULL;
	struct err err = { 0 };
	if (guest_create_processor(&g, first, &emulator, &err))
		fail_msg("%s", err.text);
	guest_paging(g, LONG);
	guest_space(g, 0x1000);
	count(g);
	return g;
}

static void test_two_processors_share_lines(void **state)
{
	(void)state;
	uint64_t took[2];
	for (unsigned run = 0; run < 2; run++) {
		struct guest *a = make(LONG), *b = make_second(a);
		map(ALIAS, DATA);
		for (unsigned i = 0; i < 50; i++) {
			store(a, DATA);
			(void)counter(a, 0);
			guest_time(b, guest_now(a));
			load(b, ALIAS);			/* another address of the same line */
			(void)counter(b, 0);
			guest_time(a, guest_now(b));
		}
		assert_int_equal(counter(b, 3), 50);
		assert_int_equal(counter(a, 3), 0);
		load(b, DATA);
		assert_int_equal(counter(b, 3), 50);
		took[run] = cycles(b);
		guest_destroy(b);
		guest_destroy(a);
	}
	assert_int_equal(took[0], took[1]);
}

static void test_what_cannot_be_is_refused(void **state)
{
	(void)state;
	static const char *const pages[] = { "memory.page=2M" };
	const struct guest_options o = { .data_dir = data_dir(), .core = "skylake", .setting = pages, .settings = 1 };
	struct guest *g = NULL;
	struct err err = { 0 };
	assert_int_equal(guest_create(&g, &o, &emulator, &err), ERR_UNSUPPORTED);
	assert_non_null(strstr(err.text, "memory.page"));
	g = make(LONG);
	map(DATA, UINT64_C(1) << 40);
	load(g, DATA);
	(void)guest_watches(g);
	struct guest_report r;
	guest_report(g, &r);
	assert_non_null(r.failure);
	assert_non_null(strstr(r.failure, "0x10000000000"));
	guest_destroy(g);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_a_line_has_one_place_whatever_its_linear_address),
		cmocka_unit_test(test_a_page_is_asked_for_once),
		cmocka_unit_test(test_invlpg_and_a_new_frame),
		cmocka_unit_test(test_a_store_behind_a_change_goes_to_the_new_frame),
		cmocka_unit_test(test_a_walk_reads_the_guests_entries),
		cmocka_unit_test(test_cr3_without_pcids_drops_what_is_not_global),
		cmocka_unit_test(test_pcids_keep_their_entries),
		cmocka_unit_test(test_a_large_page_takes_one_entry),
		cmocka_unit_test(test_a_delivery_goes_through_the_caches),
		cmocka_unit_test(test_two_processors_share_lines),
		cmocka_unit_test(test_what_cannot_be_is_refused),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
