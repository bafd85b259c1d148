/* SPDX-License-Identifier: GPL-2.0-or-later
 * What a guest's model writes into its stream (machine/guest_core.c) is all that another core needs for equal cycles:
 * a toy guest with page tables, traps, both privilege levels and both code sizes, replayed by core/paging/told.h.
 * The writer of streams is a mock that keeps the records.
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
#include "core/machine/config.h"
#include "core/paging/told.h"
#include "machine/guest_stream.h"
#include "machine/machine.h"

enum { MOST = 200000, BLOCKS = 1 << 16 };

/* The stream: each entry points to a record or a block's definition of its own. */
static struct kept {
	void *record;			/* NULL: an execution of `def` */
	const struct st_block_def *def;
	unsigned exit;
	uint64_t *values;
} kept[MOST];
static size_t kept_count;
static unsigned kinds[ST_KINDS];

int guest_stream_open(struct guest_stream **out, const char *path, unsigned word_bytes, bool pages, struct err *err)
{
	(void)path;
	(void)pages;
	(void)word_bytes;
	(void)err;
	*out = (struct guest_stream *)kept;
	return 0;
}
int guest_stream_close(struct guest_stream *s, struct err *err)
{
	(void)s;
	(void)err;
	return 0;
}
static void *copied(const void *from, size_t bytes)
{
	void *to = malloc(bytes ? bytes : 1);
	assert_non_null(to);
	memcpy(to, from, bytes);
	return to;
}
void guest_stream_block(struct guest_stream *s, const struct st_block_def *def, unsigned exit, const uint64_t *values)
{
	(void)s;
	const struct st_exit_def *e = (const struct st_exit_def *)((const struct st_slot *)((const struct st_insn_def *)
		(def + 1) + def->insns) + def->slots);
	assert_true(kept_count < MOST);
	kept[kept_count++] = (struct kept){ .def = copied(def, ST_HEADER_LOW(def->header)), .exit = exit,
		.values = copied(values, e[exit].slots * sizeof *values) };
	kinds[ST_BLOCK]++;
}
void guest_stream_record(struct guest_stream *s, const void *record, size_t bytes)
{
	(void)s;
	const uint64_t header = *(const uint64_t *)record;
	assert_int_equal(ST_HEADER_LOW(header), bytes);
	assert_true(kept_count < MOST);
	kept[kept_count++] = (struct kept){ .record = copied(record, bytes) };
	kinds[ST_HEADER_KIND(header)]++;
}

/* ---- the toy ---- */

static uint64_t seed;
static unsigned random_below(unsigned n)
{
	seed = seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
	return (unsigned)(seed >> 33) % n;
}
static uint64_t moved;			/* changes where pages lie */

static bool on_walk(void *context, uint64_t linear, struct guest_page *out)
{
	(void)context;
	const bool large = linear >> 63 && linear & 1u << 22;
	*out = (struct guest_page){ .levels = large ? 3 : 4, .shift = large ? 21 : 12, .entry_bytes = 8,
		.global = linear >> 63 };
	out->frame = ((linear & 0xffff000) ^ (linear >> 63 ? 0 : moved << 12 & 0x7000)) >> out->shift << out->shift;
	for (unsigned l = 0; l < out->levels; l++)
		out->entry[l] = 0x10000000 + (l + large) * 0x200000 + (linear >> (out->shift + 9 * l) & 0xffff) * 8;
	return true;
}

static uint64_t place(unsigned cpl)
{
	const uint64_t base = cpl ? 0x400000 : random_below(2) ? UINT64_C(0xffffffff81000000) :
		UINT64_C(0xffff888000400000);
	return base + 4096 * random_below(40) + 8 * random_below(500);
}

static void run(struct guest *g)
{
	static const struct { const char *code; uint8_t len, kind; } insn[] = {
		{ "\x8b\x06", 2, GUEST_LOAD }, { "\x89\x06", 2, GUEST_STORE }, { "\x01\x06", 2, GUEST_UPDATE },
		{ "\x01\xc8", 2, 0 }, { "\x75\x02", 2, 9 }, { "\xf7\xe1", 2, 0 },
	};
	unsigned cpl = 3, bits = 64;
	uint64_t ip = 0x401000;
	const unsigned mode = GUEST_PAGED | GUEST_PAE | GUEST_GLOBAL_PAGES | GUEST_LONG;
	guest_paging(g, mode);
	guest_space(g, 0x1000);
	for (unsigned n = 0; n < 40000; n++) {
		const unsigned what = random_below(400), k = random_below(6);
		struct guest_insn i = { .ip = ip, .cpl = (uint8_t)cpl, .bits = (uint8_t)bits,
			.code = INSN_CODE((const char *)insn[k].code, insn[k].len), .len = insn[k].len };
		if (what == 0) {		/* an interrupt or a fault, with a delivery */
			const struct guest_trap t = { .from = ip, .vector = 14, .address = place(cpl), .error = 4,
				.interrupt = random_below(2) };
			guest_event(g, &t);
			cpl = 0;
			for (unsigned a = 0; a < 5; a++)
				guest_access(g, a < 2 ? GUEST_LOAD : GUEST_STORE, place(0), 8);
			ip = UINT64_C(0xffffffff81000000) + 64 * random_below(64);
			continue;
		} else if (what == 1) {
			cpl = cpl ? 0 : 3;
			bits = cpl && random_below(2) ? 32 : 64;
			ip = cpl ? 0x401000 + 32 * random_below(64) : UINT64_C(0xffffffff81000000);
			continue;
		} else if (what == 2) {
			guest_space(g, 0x1000 + 0x1000 * random_below(3));
			continue;
		} else if (what == 3) {
			moved++;
			guest_invlpg(g, place(3));
			continue;
		} else if (what == 4) {
			guest_halted(g, 1000 + random_below(500));
			continue;
		} else if (what == 5) {
			uint64_t v;
			(void)guest_rdmsr(g, MSR_IA32_PMC0, &v);	/* Pentium III has none */
			continue;
		} else if (what == 6) {
			guest_paging(g, mode ^ (n & 1 ? GUEST_GLOBAL_PAGES : 0));
			continue;
		} else if (what == 7) {		/* rep movsd */
			const uint64_t from = place(cpl), to = place(cpl);
			i = (struct guest_insn){ .ip = ip, .cpl = i.cpl, .bits = i.bits, .len = 2, .rep = true,
				.code = INSN_CODE("\xf3\xa5", 2) };
			guest_begin(g, &i);
			for (unsigned r = 0; r < 20; r++) {
				guest_access(g, GUEST_LOAD, from + 4 * r, 4);
				guest_access(g, GUEST_STORE, to + 4 * r, 4);
				guest_iteration(g);
			}
			guest_end(g, ip += 2);
			continue;
		}
		guest_begin(g, &i);
		if (insn[k].kind && insn[k].kind != 9)
			guest_access(g, insn[k].kind, place(cpl), 4);
		ip += insn[k].len;
		if (insn[k].kind == 9 && random_below(3) == 0)
			ip = (cpl ? 0x401000 : UINT64_C(0xffffffff81000000)) + 32 * random_below(64);
		guest_end(g, ip);
	}
}

/* ---- the replay ---- */

static struct spmu_record *no_records(void *context, const struct spmu_batch *b)
{
	(void)context;
	(void)b;
	return NULL;
}

/* Where the block before entry `at` led to. */
static uint64_t next_of(size_t at)
{
	if (at >= kept_count)
		return 0;
	const struct kept *k = &kept[at];
	if (!k->record)
		return ((const struct st_insn_def *)(k->def + 1))->addr;
	switch (ST_HEADER_KIND(*(const uint64_t *)k->record)) {
	case ST_NEXT:
		return ((const struct st_next *)k->record)->next;
	case ST_TRAP:
		return ((const struct st_trap *)k->record)->next;
	case ST_HALT:
		return ((const struct st_halt *)k->record)->next;
	case ST_SERIALIZE:
		return ((const struct st_serialize *)k->record)->next;
	default:
		fail_msg("a record of kind %u follows a block", ST_HEADER_KIND(*(const uint64_t *)k->record));
		return 0;
	}
}

static void replay_record(struct core *c, const void *record, unsigned *word_bytes)
{
	struct err err = { 0 };
	const struct st_drop *drop = record;
	const struct st_delivery *delivery = record;
	const struct st_level *level = record;
	switch (ST_HEADER_KIND(*(const uint64_t *)record)) {
	case ST_LEVEL:
		*word_bytes = level->word_bytes;
		if (level->drains)
			core_serialize(c);
		break;
	case ST_TRAP:
		core_trap(c);
		break;
	case ST_HALT:
		core_halt_for(c, ((const struct st_halt *)record)->cycles);
		break;
	case ST_SERIALIZE:
		core_serialize(c);
		break;
	case ST_PAGE:
		assert_int_equal(core_told_page(c, record, &err), 0);
		break;
	case ST_DROP:
		core_told_drop(c, (enum st_drop_what)drop->what, drop->addr);
		break;
	case ST_DELIVERY:
		core_deliver(c, (const uint64_t *)(delivery + 1), delivery->accesses);
		break;
	default:
		break;
	}
}

static uint64_t replay(const char *core)
{
	struct core_config config;
	struct err err = { 0 };
	struct isa *isa;
	struct machine *m;
	struct core *c;
	struct isa_options options;
	char path[4096];
	unsigned word_bytes = 8;
	static struct iblock *block[BLOCKS];
	memset(block, 0, sizeof block);
	assert_int_equal(core_config_load(&config, data_dir(), core, &err), 0);
	snprintf(path, sizeof path, "%s/uops/%s.tsv", data_dir(), config.uops);
	assert_int_equal(isa_create(&isa, path, &err), 0);
	core_isa_options(&config, &options);
	isa_configure(isa, &options);
	assert_int_equal(machine_create(&m, &config, &err), 0);
	assert_int_equal(core_create(&c, m, no_records, NULL, &err), 0);
	assert_int_equal(core_told(c, &err), 0);
	for (size_t i = 0; i < kept_count; i++) {
		const struct kept *k = &kept[i];
		if (k->record) {
			replay_record(c, k->record, &word_bytes);
			continue;
		}
		assert_true(k->def->id < BLOCKS);
		struct iblock **b = &block[k->def->id];
		if (!*b)
			assert_int_equal(isa_decode(isa, word_bytes, k->def, ST_HEADER_LOW(k->def->header), b, &err),
				0);
		core_run_block(c, *b, k->exit, (*b)->exit[k->exit].insns, k->values, next_of(i + 1));
	}
	core_serialize(c);
	const uint64_t now = core_now(c);
	core_destroy(c);
	machine_destroy(m);
	for (unsigned i = 0; i < BLOCKS; i++)
		if (block[i])
			isa_block_free(block[i]);
	isa_destroy(isa);
	return now;
}

static void check(const char *core)
{
	const struct guest_options o = { .data_dir = data_dir(), .core = core, .timing = GUEST_ALWAYS,
		.stream = "kept" };
	const struct guest_emulator e = { .interrupt = on_interrupt, .read = on_read, .write = on_write,
		.registers = on_registers, .walk = on_walk };
	struct guest *g = NULL;
	struct err err = { 0 };
	kept_count = 0;
	seed = 7;
	moved = 0;
	if (guest_create(&g, &o, &e, &err))
		fail_msg("%s", err.text);
	run(g);
	assert_int_equal(guest_end_stream(g, &err), 0);
	struct guest_report r;
	guest_report(g, &r);
	assert_null(r.failure);
	/* the stream's last record has drained the core */
	assert_int_equal(guest_now(g) + 1, replay(core));
	assert_int_equal(replay(core), guest_now(g) + 1);
	guest_destroy(g);
	for (size_t i = 0; i < kept_count; i++) {
		free(kept[i].record);
		free((void *)kept[i].def);
		free(kept[i].values);
	}
}

static void test_a_replay_has_equal_cycles(void **state)
{
	(void)state;
	memset(kinds, 0, sizeof kinds);
	check("skylake");
	static const uint8_t all[] = { ST_BLOCK, ST_LEVEL, ST_TRAP, ST_HALT, ST_SERIALIZE, ST_SPACE, ST_PAGE, ST_DROP,
		ST_DELIVERY, ST_NEXT };
	for (unsigned i = 0; i < sizeof all; i++)
		if (!kinds[all[i]])
			fail_msg("no record of kind %u", all[i]);
}

static void test_on_other_cores_too(void **state)
{
	(void)state;
	check("golden-cove");
	check("prescott");
	check("pentium3");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_a_replay_has_equal_cycles),
		cmocka_unit_test(test_on_other_cores_too),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
