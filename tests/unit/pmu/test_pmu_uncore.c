/* SPDX-License-Identifier: GPL-2.0-or-later
 * The uncore PMU: registers (address, value, outcome), events with exact counts, thresholds over several cores,
 * overflow and freeze. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "softpmu/uncore.h"
#include "data_dir.h"

#define EN SPMU_UNC_EN
#define COUNTER44 ((UINT64_C(1) << 44) - 1)
#define COUNTER48 ((UINT64_C(1) << 48) - 1)

static struct spmu_uncore_model *load(const char *name)
{
	char path[512], text[400] = "";
	struct spmu_uncore_model *m = NULL;
	snprintf(path, sizeof path, "%s/events/uncore-%s.tsv", data_dir(), name);
	if (spmu_uncore_load(&m, path, text, sizeof text))
		fail_msg("%s", text);
	return m;
}

struct fixture { struct spmu_uncore_model *model; struct spmu_uncore *u; int core[3]; unsigned pmis; uint64_t cores,
	seen; };

static void on_pmi(void *context, struct spmu_uncore *u, uint64_t cores)
{
	struct fixture *f = context;
	f->pmis++;
	f->cores = cores;
	spmu_uncore_rdmsr(u, spmu_uncore_server(f->model) ? MSR_UNC_PMON_GLOBAL_CTL : MSR_UNC_PERF_GLOBAL_CTRL,
		&f->seen);
}

static void begin(struct fixture *f, const char *name)
{
	memset(f, 0, sizeof *f);
	f->model = load(name);
	struct spmu_uncore_host h = { .context = f, .slices = 4, .channels = 2, .core_hz = UINT64_C(3000000000),
		.pmi = on_pmi };
	assert_int_equal(spmu_uncore_create(&f->u, f->model, &h), SPMU_OK);
	for (int i = 0; i < 3; i++)
		assert_true((f->core[i] = spmu_uncore_attach(f->u, (unsigned)i)) >= 0);
}

static void end(struct fixture *f)
{
	spmu_uncore_destroy(f->u);
	spmu_uncore_free(f->model);
}

static uint64_t rd(struct fixture *f, uint32_t msr)
{
	uint64_t v = 0;
	assert_int_equal(spmu_uncore_rdmsr(f->u, msr, &v), SPMU_OK);
	return v;
}

static void wr(struct fixture *f, uint32_t msr, uint64_t value)
{
	if (spmu_uncore_wrmsr(f->u, msr, value))
		fail_msg("WRMSR %x = %llx is refused", msr, (unsigned long long)value);
}

struct one { enum spmu_signal signal; uint32_t begin, end, count, unit; enum spmu_found found; };

static struct spmu_record record_of(const struct one *s, uint64_t attributes)
{
	return (struct spmu_record){ .kind = SPMU_REC_SIGNAL, .cpl = 3, .port = 255, .signal = s->signal,
		.did = s->count, .begin = s->begin, .end = s->end, .unit = s->unit, .found = s->found,
		.is = attributes };
}

/* Sends a batch of core `core` with these signals; it begins at cycle `base` and its watermark is `watermark`. */
static void feed(struct fixture *f, int core, uint64_t base, uint64_t watermark, const struct one *s, unsigned n)
{
	struct spmu_record r[64];
	assert_true(n <= 64);
	for (unsigned i = 0; i < n; i++)
		r[i] = record_of(&s[i], 0);
	struct spmu_batch b = { .base_cycle = base, .watermark = watermark, .count = n, .records = r };
	spmu_uncore_consume(f->u, f->core[core], &b);
}

/* ---- registers ------------------------------------------------------------------------------------------ */

struct access { uint32_t msr; uint64_t value; int outcome; uint64_t after; };

static void try_all(struct fixture *f, const struct access *a, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		int rc = spmu_uncore_wrmsr(f->u, a[i].msr, a[i].value);
		if (rc != a[i].outcome)
			fail_msg("WRMSR %x = %llx: %d, not %d", a[i].msr, (unsigned long long)a[i].value, rc,
				a[i].outcome);
		uint64_t v = 0;
		rc = spmu_uncore_rdmsr(f->u, a[i].msr, &v);
		if (a[i].outcome == SPMU_ENOMSR ? rc != SPMU_ENOMSR : rc != SPMU_OK)
			fail_msg("RDMSR %x: %d", a[i].msr, rc);
		if (rc == SPMU_OK && v != a[i].after)
			fail_msg("RDMSR %x behind %llx: %llx, not %llx", a[i].msr, (unsigned long long)a[i].value,
				(unsigned long long)v,
				(unsigned long long)a[i].after);
	}
}
#define TRY(f, table) try_all(f, table, sizeof(table) / sizeof *(table))

static void test_client_registers_keep_their_bits_and_fault_on_others(void **state)
{
	(void)state;
	struct fixture f;
	begin(&f, "ivy-bridge");
	const struct access a[] = {
		{ 0x391, 0xe000000f, SPMU_OK, 0xe000000f }, { 0x391, 0x10, SPMU_GP, 0xe000000f }, { 0x391, 0, SPMU_OK,
		0 },
		{ 0x392, 11, SPMU_OK, 0 }, { 0x392, 4, SPMU_GP, 0 }, { 0x393, 0, SPMU_ENOMSR, 0 },
		{ 0x394, 0x500000, SPMU_OK, 0x500000 }, { 0x394, 1, SPMU_GP, 0x500000 }, { 0x394, 0x700000, SPMU_GP,
		0x500000 },
		{ 0x395, COUNTER48, SPMU_OK, COUNTER48 }, { 0x395, COUNTER48 + 1, SPMU_GP, COUNTER48 },
		{ 0x396, 0, SPMU_GP, 4 },
		{ 0x3b0, COUNTER44, SPMU_OK, COUNTER44 }, { 0x3b1, 7, SPMU_OK, 7 }, { 0x3b1, COUNTER44 + 1, SPMU_GP,
		7 },
		{ 0x3b2, 0x1fd4ffff, SPMU_OK, 0x1fd4ffff }, { 0x3b3, 0x400181, SPMU_OK, 0x400181 },
		{ 0x3b4, 0, SPMU_ENOMSR, 0 },
		{ 0x700, 0x408f34, SPMU_OK, 0x408f34 }, { 0x703, 1, SPMU_OK, 1 }, { 0x704, 0, SPMU_ENOMSR, 0 },
		{ 0x705, 15, SPMU_OK, 0 }, { 0x705, 16, SPMU_GP, 0 }, { 0x706, 3, SPMU_OK, 3 }, { 0x709, 5, SPMU_OK,
		5 }, { 0x70a, 0, SPMU_ENOMSR, 0 },
		{ 0x736, 9, SPMU_OK, 9 }, { 0x740, 0, SPMU_ENOMSR, 0 }, { 0xe01, 0, SPMU_ENOMSR, 0 },
		{ 0x2000, 0, SPMU_ENOMSR, 0 },
	};
	TRY(&f, a);
	for (int bit = 0; bit < 64; bit++) {	/* each reserved bit of an event select */
		bool reserved = !(UINT64_C(0x1fd4ffff) >> bit & 1);
		assert_int_equal(spmu_uncore_wrmsr(f.u, 0x701, UINT64_C(1) << bit), reserved ? SPMU_GP : SPMU_OK);
	}
	end(&f);
}

static void test_skylake_has_its_global_control_elsewhere_and_two_counters_a_box(void **state)
{
	(void)state;
	struct fixture f;
	begin(&f, "skylake");
	const struct access a[] = {
		{ 0xe01, 0xe000001f, SPMU_OK, 0xe000001f }, { 0xe01, 0x20, SPMU_GP, 0xe000001f }, { 0xe02, 11, SPMU_OK,
		0 }, { 0x391, 0, SPMU_ENOMSR, 0 },
		{ 0x701, 0, SPMU_OK, 0 }, { 0x702, 0, SPMU_ENOMSR, 0 }, { 0x705, 0, SPMU_ENOMSR, 0 },
		{ 0x707, 1, SPMU_OK, 1 }, { 0x708, 0, SPMU_ENOMSR, 0 },
		{ 0x395, COUNTER44, SPMU_OK, COUNTER44 }, { 0x395, COUNTER44 + 1, SPMU_GP, COUNTER44 },
	};
	TRY(&f, a);
	end(&f);
}

static void test_server_registers_keep_their_bits_and_fault_on_others(void **state)
{
	(void)state;
	struct fixture f;
	begin(&f, "golden-cove");
	const struct access a[] = {
		{ 0x2ff0, 1, SPMU_OK, 1 }, { 0x2ff0, 2, SPMU_GP, 1 }, { 0x2ff0, 0, SPMU_OK, 0 },
		{ 0x2000, 1, SPMU_OK, 1 }, { 0x2000, 0x301, SPMU_OK, 1 }, { 0x2000, 2, SPMU_GP, 1 },
		{ 0x2000, 0, SPMU_OK, 0 },
		{ 0x2001, 15, SPMU_OK, 0 }, { 0x2001, 16, SPMU_GP, 0 },
		{ 0x2002, UINT64_C(0x3ffffffffd5ffff), SPMU_OK, UINT64_C(0x3ffffffffd5ffff) },
		{ 0x2002, UINT64_C(1) << 58, SPMU_GP, UINT64_C(0x3ffffffffd5ffff) },
		{ 0x2005, 1 << 19, SPMU_GP, 0 }, { 0x2005, 1 << 21, SPMU_GP, 0 }, { 0x2006, 0, SPMU_ENOMSR, 0 },
		{ 0x2008, COUNTER48, SPMU_OK, COUNTER48 }, { 0x200b, COUNTER48 + 1, SPMU_GP, 0 },
		{ 0x200c, 0, SPMU_ENOMSR, 0 },
		{ 0x200e, 0x3ff, SPMU_OK, 0x3ff }, { 0x200e, 0x400, SPMU_GP, 0x3ff }, { 0x2038, 1, SPMU_OK, 1 },
		{ 0x2040, 0, SPMU_ENOMSR, 0 },
	};
	TRY(&f, a);
	end(&f);
}

static void test_resets_of_a_box_and_of_a_counter_clear_what_they_name(void **state)
{
	(void)state;
	struct fixture f;
	begin(&f, "golden-cove");
	wr(&f, 0x2002, 0x400001);
	wr(&f, 0x2008, 77);
	wr(&f, 0x2002, 0x420001);	/* RST reads 0 */
	assert_int_equal(rd(&f, 0x2002), 0x400001);
	assert_int_equal(rd(&f, 0x2008), 0);
	wr(&f, 0x2008, 78);
	wr(&f, 0x2000, SPMU_UNC_BOX_RST_CTRS);
	assert_int_equal(rd(&f, 0x2008), 0);
	assert_int_equal(rd(&f, 0x2002), 0x400001);
	wr(&f, 0x2008, 79);
	wr(&f, 0x2000, SPMU_UNC_BOX_RST_CTRL);
	assert_int_equal(rd(&f, 0x2008), 79);
	assert_int_equal(rd(&f, 0x2002), 0);
	end(&f);
}

static void test_memory_mapped_registers_answer_at_their_widths(void **state)
{
	(void)state;
	struct fixture f;
	uint64_t v = 0;
	begin(&f, "golden-cove");
	assert_int_equal(spmu_uncore_mmio_write(f.u, 0, 0x22840, 4, 0x4ff005 | 1u << 16), SPMU_OK);
	assert_int_equal(spmu_uncore_mmio_read(f.u, 0, 0x22840, 4, &v), SPMU_OK);
	assert_int_equal(v, 0x44f005);	/* reserved bits and RST read 0 */
	assert_int_equal(spmu_uncore_mmio_write(f.u, 0, 0x22840, 8, 0), SPMU_GP);
	assert_int_equal(spmu_uncore_mmio_write(f.u, 0, 0x22808, 8, COUNTER48), SPMU_OK);
	assert_int_equal(spmu_uncore_mmio_write(f.u, 0, 0x2280c, 4, 0x12), SPMU_OK);
	assert_int_equal(spmu_uncore_mmio_read(f.u, 0, 0x22808, 8, &v), SPMU_OK);
	assert_int_equal(v, UINT64_C(0x12ffffffff));
	assert_int_equal(spmu_uncore_mmio_read(f.u, 0, 0x2280c, 4, &v), SPMU_OK);
	assert_int_equal(v, 0x12);
	assert_int_equal(spmu_uncore_mmio_read(f.u, 0, 0x22809, 4, &v), SPMU_GP);
	assert_int_equal(spmu_uncore_mmio_read(f.u, 0, 0x22860, 4, &v), SPMU_ENOMSR);
	assert_int_equal(spmu_uncore_mmio_read(f.u, 0, 0x32800, 4, &v), SPMU_ENOMSR);	/* a third channel */
	assert_int_equal(spmu_uncore_mmio_read(f.u, 1, 0x22800, 4, &v), SPMU_ENOMSR);	/* a second controller */
	assert_int_equal(spmu_uncore_mmio_read(f.u, 0, 0x2290, 8, &v), SPMU_OK);
	assert_int_equal(spmu_uncore_mmio_write(f.u, 0, 0x2290, 8, 5), SPMU_OK);	/* read only: ignored */
	assert_int_equal(spmu_uncore_mmio_read(f.u, 0, 0x2290, 8, &v), SPMU_OK);
	assert_int_equal(v, 0);
	end(&f);
	begin(&f, "skylake");
	assert_int_equal(spmu_uncore_mmio_read(f.u, 0, 0x5050, 4, &v), SPMU_OK);
	assert_int_equal(spmu_uncore_mmio_read(f.u, 0, 0x5050, 8, &v), SPMU_GP);
	assert_int_equal(spmu_uncore_mmio_read(f.u, 0, 0x5060, 4, &v), SPMU_ENOMSR);
	assert_int_equal(spmu_uncore_mmio_read(f.u, 0, 0x22800, 4, &v), SPMU_ENOMSR);
	end(&f);
}

/* ---- events --------------------------------------------------------------------------------------------- */

/* Accesses to slices 0 to 3, of every kind and outcome, each a different number of times. */
static const struct one everything[] = {
	{ SPMU_SIG_UNC_READ, 1, 1, 1, 0, SPMU_FOUND_NOTHING }, { SPMU_SIG_UNC_READ, 1, 1, 2, 1, SPMU_FOUND_CLEAN },
	{ SPMU_SIG_UNC_READ, 1, 1, 4, 2, SPMU_FOUND_MODIFIED }, { SPMU_SIG_UNC_READ, 1, 1, 8, 3, SPMU_FOUND_ELSEWHERE },
	{ SPMU_SIG_UNC_RFO, 1, 1, 16, 0, SPMU_FOUND_NOTHING }, { SPMU_SIG_UNC_CODE, 1, 1, 32, 0, SPMU_FOUND_CLEAN },
	{ SPMU_SIG_UNC_PREFETCH, 1, 1, 64, 0, SPMU_FOUND_NOTHING }, { SPMU_SIG_UNC_WRITE, 1, 1, 128, 1,
	SPMU_FOUND_MODIFIED },
	{ SPMU_SIG_UNC_VICTIM, 1, 1, 3, 0, SPMU_FOUND_CLEAN }, { SPMU_SIG_UNC_VICTIM, 1, 1, 5, 0, SPMU_FOUND_MODIFIED },
	{ SPMU_SIG_UNC_SNOOP, 1, 1, 1, 0, SPMU_FOUND_CLEAN }, { SPMU_SIG_UNC_SNOOP, 1, 1, 1, 0, SPMU_FOUND_MODIFIED },
	{ SPMU_SIG_UNC_SNOOP, 1, 1, 1, 0, SPMU_FOUND_MODIFIED }, { SPMU_SIG_UNC_INVALIDATE, 1, 1, 3, 0,
	SPMU_FOUND_CLEAN },
	{ SPMU_SIG_UNC_EVICT, 1, 1, 2, 0, SPMU_FOUND_MODIFIED },
	{ SPMU_SIG_DRAM_READ, 1, 1, 1, 0, SPMU_FOUND_ROW_OPEN }, { SPMU_SIG_DRAM_READ, 1, 1, 2, 1,
	SPMU_FOUND_ROW_EMPTY },
	{ SPMU_SIG_DRAM_READ, 1, 1, 4, 0, SPMU_FOUND_ROW_OTHER }, { SPMU_SIG_DRAM_WRITE, 1, 1, 8, 1,
	SPMU_FOUND_ROW_OPEN },
	{ SPMU_SIG_DRAM_WRITE, 1, 1, 16, 1, SPMU_FOUND_ROW_OTHER }, { SPMU_SIG_UNC_PENDING, 10, 40, 1, 0,
	SPMU_FOUND_ROW_OPEN },
	{ SPMU_SIG_UNC_PENDING, 20, 60, 1, 1, SPMU_FOUND_ROW_OPEN },
};
enum { EVERYTHING = sizeof everything / sizeof *everything };

/* Signals that come in kinds, and those of slices that last. */
static const struct { struct one one; uint64_t attributes; } kinds[] = {
	{ { SPMU_SIG_UNC_READ, 1, 1, 1, 0, SPMU_FOUND_NOTHING }, 0 },
	{ { SPMU_SIG_UNC_RFO, 1, 1, 2, 0, SPMU_FOUND_ELSEWHERE }, 0 },
	{ { SPMU_SIG_UNC_WRITE, 1, 1, 4, 1, SPMU_FOUND_NOTHING }, 0 },
	{ { SPMU_SIG_UNC_FLUSH, 1, 1, 8, 1, SPMU_FOUND_MODIFIED }, 0 },
	{ { SPMU_SIG_UNC_FLUSH, 1, 1, 16, 2, SPMU_FOUND_NOTHING }, 0 },
	{ { SPMU_SIG_UNC_WRITTEN, 1, 1, 32, 2, SPMU_FOUND_NOTHING }, 0 },
	{ { SPMU_SIG_UNC_VICTIM, 1, 1, 64, 2, SPMU_FOUND_MODIFIED }, 0 },
	/* cycles: 6 and 12 are 5 and 10 of the slices' clock */
	{ { SPMU_SIG_UNC_ENTRY, 12, 18, 1, 0, SPMU_FOUND_NOTHING }, SPMU_ATTR(REQUEST_DATA_RD) },
	{ { SPMU_SIG_UNC_ENTRY, 12, 24, 1, 0, SPMU_FOUND_CLEAN }, SPMU_ATTR(REQUEST_DATA_RD) },
	{ { SPMU_SIG_UNC_ENTRY, 12, 72, 1, 0, SPMU_FOUND_NOTHING }, SPMU_ATTR(REQUEST_RFO) },
	{ { SPMU_SIG_UNC_ENTRY, 12, 84, 1, 0, SPMU_FOUND_NOTHING }, SPMU_ATTR(REQUEST_CODE_RD) },
	{ { SPMU_SIG_UNC_ENTRY, 12, 96, 1, 0, SPMU_FOUND_NOTHING }, SPMU_ATTR(REQUEST_PF_L2) },
	{ { SPMU_SIG_UNC_PENDING, 10, 11, 1, 0, SPMU_FOUND_ROW_OPEN }, SPMU_ATTR(REQUEST_DATA_RD) },
	{ { SPMU_SIG_UNC_PENDING, 10, 12, 1, 0, SPMU_FOUND_ROW_OPEN }, SPMU_ATTR(REQUEST_PF_L2) },
	{ { SPMU_SIG_UNC_PENDING, 10, 14, 1, 0, SPMU_FOUND_ROW_OPEN }, SPMU_ATTR(REQUEST_RFO) },
	{ { SPMU_SIG_UNC_PENDING, 10, 18, 1, 0, SPMU_FOUND_ROW_OPEN }, SPMU_ATTR(REQUEST_CODE_RD) },
	{ { SPMU_SIG_DRAM_READ, 1, 1, 1, 0, SPMU_FOUND_ROW_OTHER }, 0 },
	{ { SPMU_SIG_DRAM_READ, 1, 1, 2, 0, SPMU_FOUND_ROW_OTHER }, SPMU_ATTR(SECOND_HALF) },
	{ { SPMU_SIG_DRAM_READ, 1, 1, 16, 0, SPMU_FOUND_ROW_OPEN }, SPMU_ATTR(UNDERFILL) },
	{ { SPMU_SIG_DRAM_READ, 1, 1, 32, 0, SPMU_FOUND_ROW_CLOSED }, SPMU_ATTR(UNDERFILL) | SPMU_ATTR(SECOND_HALF) },
	{ { SPMU_SIG_UNC_VICTIM, 1, 1, 1, 0, SPMU_FOUND_CLEAN }, SPMU_ATTR(SHARED) },
	{ { SPMU_SIG_UNC_VICTIM, 1, 1, 2, 0, SPMU_FOUND_CLEAN }, SPMU_ATTR(EXCLUSIVE) },
	{ { SPMU_SIG_UNC_VICTIM, 1, 1, 4, 0, SPMU_FOUND_MODIFIED }, SPMU_ATTR(SHARED) },
	{ { SPMU_SIG_UNC_EVICT, 1, 1, 1, 0, SPMU_FOUND_CLEAN }, 0 },
	{ { SPMU_SIG_UNC_EVICT, 1, 1, 2, 0, SPMU_FOUND_CLEAN }, 0 },
	{ { SPMU_SIG_UNC_SNOOP, 1, 1, 1, 0, SPMU_FOUND_CLEAN }, 0 },
	{ { SPMU_SIG_UNC_INVALIDATE, 1, 1, 1, 0, SPMU_FOUND_CLEAN }, 0 },
	/* in vain: three requests with one record, and two with another record of cores that had the line */
	{ { SPMU_SIG_UNC_SNOOP, 1, 1, 1, 0, SPMU_FOUND_NOTHING }, 0 },
	{ { SPMU_SIG_UNC_INVALIDATE, 1, 1, 2, 0, SPMU_FOUND_NOTHING }, 0 },
	{ { SPMU_SIG_UNC_EVICT, 1, 1, 4, 0, SPMU_FOUND_NOTHING }, 0 },
	{ { SPMU_SIG_UNC_INVALIDATE, 1, 1, 1, 0, SPMU_FOUND_MODIFIED }, SPMU_ATTR(SHARED) },
	{ { SPMU_SIG_UNC_INVALIDATE, 1, 1, 8, 0, SPMU_FOUND_NOTHING }, SPMU_ATTR(SHARED) },
	{ { SPMU_SIG_UNC_EVICT, 1, 1, 1, 0, SPMU_FOUND_CLEAN }, SPMU_ATTR(SHARED) },
	{ { SPMU_SIG_UNC_EVICT, 1, 1, 1, 0, SPMU_FOUND_NOTHING }, SPMU_ATTR(SHARED) },
	{ { SPMU_SIG_DRAM_WRITE, 1, 1, 4, 1, SPMU_FOUND_ROW_OPEN }, 0 },
	{ { SPMU_SIG_DRAM_WRITE, 1, 1, 8, 1, SPMU_FOUND_ROW_OPEN }, SPMU_ATTR(SECOND_HALF) },
};
enum { KINDS = sizeof kinds / sizeof *kinds };

/* Programs an event on counter 0 of all boxes, sends these records and returns the sum over the boxes. */
static uint64_t count_records(const char *table, const char *name, const struct spmu_record *record, unsigned records)
{
	struct fixture f;
	begin(&f, table);
	const struct spmu_uncore_event *e = spmu_uncore_find(f.model, name);
	if (!e || e->not_modelled[0])
		fail_msg("%s has no %s", table, name);
	bool server = spmu_uncore_server(f.model);
	const char *unit = spmu_uncore_unit(f.model, e->unit)->name;
	uint64_t select = SPMU_UNC_SELECT(e->event, e->umask, e->cmask) | EN, sum = 0, v = 0;
	if (!server)
		wr(&f, !strcmp(table, "skylake") ? 0xe01 : 0x391, SPMU_UNC_GLOBAL_EN);
	for (unsigned b = 0; b < 4; b++)
		if (!strcmp(unit, "cbox") || !strcmp(unit, "cha"))
			wr(&f, (server ? 0x2002u : 0x700u) + 16 * b, select);
	for (unsigned b = 0; b < 2; b++)
		if (server && !strcmp(unit, "imc"))
			assert_int_equal(spmu_uncore_mmio_write(f.u, 0, 0x22840 + 0x8000 * b, 4, select), SPMU_OK);
	if (!strcmp(unit, "arb"))
		wr(&f, 0x3b2, select);
	if (!strcmp(unit, "clock"))
		wr(&f, 0x394, EN);
	feed(&f, 0, 0, 0, NULL, 0);
	spmu_uncore_consume(f.u, f.core[0], &(struct spmu_batch){ .watermark = 3000, .count = records,
		.records = record });
	for (unsigned b = 0; b < 4; b++)
		if (!strcmp(unit, "cbox") || !strcmp(unit, "cha"))
			sum += rd(&f, (server ? 0x2008u : 0x706u) + 16 * b);
	for (unsigned b = 0; b < 2; b++)
		if (server && !strcmp(unit, "imc")) {
			assert_int_equal(spmu_uncore_mmio_read(f.u, 0, 0x22808 + 0x8000 * b, 8, &v), SPMU_OK);
			sum += v;
		}
	if (!strcmp(unit, "arb"))
		sum = rd(&f, 0x3b0);
	if (!strcmp(unit, "clock"))
		sum = rd(&f, 0x395);
	end(&f);
	return sum;
}

static uint64_t count_event(const char *table, const char *name)
{
	struct spmu_record r[EVERYTHING];
	for (unsigned i = 0; i < EVERYTHING; i++)
		r[i] = record_of(&everything[i], 0);
	return count_records(table, name, r, EVERYTHING);
}

static void test_kinds_of_a_signal_are_counted_apart(void **state)
{
	(void)state;
	static const struct { const char *table, *name; uint64_t count; } expected[] = {
		{ "golden-cove", "UNC_CHA_LLC_LOOKUP.FLUSH_INV", 24 }, { "golden-cove", "UNC_CHA_LLC_LOOKUP.ALL", 31 },
		{ "golden-cove", "UNC_CHA_LLC_LOOKUP.MISS_ALL", 1 + 4 + 16 },
		{ "golden-cove", "UNC_CHA_TOR_INSERTS.IA", 31 }, { "golden-cove", "UNC_CHA_TOR_INSERTS.IA_HIT", 2 + 8 },
		{ "golden-cove", "UNC_CHA_TOR_INSERTS.IA_MISS", 1 + 4 + 16 },
		{ "golden-cove", "UNC_CHA_REQUESTS.READS", 1 }, { "golden-cove", "UNC_CHA_REQUESTS.WRITES", 32 },
		{ "golden-cove", "UNC_CHA_TOR_OCCUPANCY.IA_MISS_DRD", 5 },
		{ "golden-cove", "UNC_M_CAS_COUNT.ALL", 63 }, { "golden-cove", "UNC_M_CAS_COUNT.PCH0", 1 + 4 + 16 },
		{ "golden-cove", "UNC_M_CAS_COUNT.PCH1", 2 + 8 + 32 }, { "golden-cove", "UNC_M_PRE_COUNT.RD", 3 },
		{ "golden-cove", "UNC_M_CAS_COUNT.RD", 3 + 48 }, { "golden-cove", "UNC_M_CAS_COUNT.RD_REG", 3 },
		{ "golden-cove", "UNC_M_CAS_COUNT.RD_UNDERFILL", 48 }, { "golden-cove", "UNC_M_PRE_COUNT.PGT", 32 },
		{ "golden-cove", "UNC_M_PRE_COUNT.ALL", 35 }, { "golden-cove", "UNC_M_ACT_COUNT.RD", 35 },
		{ "golden-cove", "UNC_CHA_LLC_VICTIMS.ALL", 64 + 7 }, { "golden-cove", "UNC_CHA_LLC_VICTIMS.TOTAL_M",
		64 + 4 },
		{ "golden-cove", "UNC_CHA_LLC_VICTIMS.TOTAL_E", 2 },
		{ "golden-cove", "UNC_CHA_LLC_VICTIMS.TOTAL_S", 1 },
		{ "golden-cove", "UNC_CHA_CORE_SNP.EVICT_ONE", 1 },
		{ "golden-cove", "UNC_CHA_CORE_SNP.EVICT_GTONE", 1 + 1 + 1 },
		{ "golden-cove", "UNC_CHA_CORE_SNP.CORE_ONE", 2 + 1 },
		{ "golden-cove", "UNC_CHA_CORE_SNP.CORE_GTONE", 1 + 1 },
		{ "golden-cove", "UNC_CHA_CORE_SNP.ANY_ONE", 3 + 1 },
		{ "golden-cove", "UNC_CHA_CORE_SNP.ANY_GTONE", 1 + 2 + 2 },
		{ "skylake", "UNC_CBO_XSNP_RESPONSE.MISS_XCORE", 1 + 2 + 8 },
		{ "skylake", "UNC_CBO_XSNP_RESPONSE.MISS_EVICTION", 4 + 1 },
		{ "skylake", "UNC_CBO_XSNP_RESPONSE.INVAL_M_XCORE", 1 },
		{ "skylake", "UNC_CBO_XSNP_RESPONSE.INVAL_EVICTION", 1 + 2 + 1 },
		{ "ivy-bridge", "UNC_CBO_XSNP_RESPONSE.MISS_XCORE", 1 + 2 + 8 },
		{ "ivy-bridge", "UNC_CBO_XSNP_RESPONSE.MISS_EVICTION", 4 + 1 },
		{ "skylake", "UNC_ARB_TRK_OCCUPANCY.ALL", 1 + 2 + 4 + 8 },
		{ "skylake", "UNC_ARB_TRK_OCCUPANCY.DATA_READ", 1 + 2 },
		{ "skylake", "UNC_CBO_CACHE_LOOKUP.ANY_MESI", 31 }, { "skylake", "UNC_CBO_CACHE_LOOKUP.READ_MESI", 3 },
		{ "skylake", "UNC_CBO_CACHE_LOOKUP.WRITE_MESI", 4 }, { "ivy-bridge", "UNC_CBO_CACHE_LOOKUP.ANY_MESI",
		31 },
	};
	struct spmu_record r[KINDS];
	for (unsigned i = 0; i < KINDS; i++)
		r[i] = record_of(&kinds[i].one, kinds[i].attributes);
	for (size_t i = 0; i < sizeof expected / sizeof *expected; i++) {
		const uint64_t n = count_records(expected[i].table, expected[i].name, r, KINDS);
		if (n != expected[i].count)
			fail_msg("%s, %s: %llu, not %llu", expected[i].table, expected[i].name, (unsigned long long)n,
				(unsigned long long)expected[i].count);
	}
}

static void test_each_event_counts_what_its_name_says(void **state)
{
	(void)state;
	static const struct { const char *table, *name; uint64_t count; } expected[] = {
		{ "skylake", "UNC_CBO_CACHE_LOOKUP.ANY_MESI", 255 }, { "skylake", "UNC_CBO_CACHE_LOOKUP.ANY_I",
		1 + 8 + 16 + 64 },
		{ "skylake", "UNC_CBO_CACHE_LOOKUP.ANY_M", 4 + 128 }, { "skylake", "UNC_CBO_CACHE_LOOKUP.ANY_ES",
		2 + 32 },
		{ "skylake", "UNC_CBO_CACHE_LOOKUP.READ_MESI", 127 }, { "skylake", "UNC_CBO_CACHE_LOOKUP.WRITE_MESI",
		128 },
		{ "skylake", "UNC_CBO_CACHE_LOOKUP.WRITE_ES", 0 }, { "skylake", "UNC_CBO_CACHE_LOOKUP.READ_I",
		1 + 8 + 16 + 64 },
		{ "skylake", "UNC_CBO_XSNP_RESPONSE.HIT_XCORE", 1 }, { "skylake", "UNC_CBO_XSNP_RESPONSE.HITM_XCORE",
		2 },
		{ "skylake", "UNC_CBO_XSNP_RESPONSE.INVAL_XCORE", 3 },
		{ "skylake", "UNC_CBO_XSNP_RESPONSE.INVAL_M_EVICTION", 2 },
		{ "skylake", "UNC_ARB_TRK_REQUESTS.ALL", 31 }, { "skylake", "UNC_ARB_TRK_REQUESTS.WRITES", 24 },
		{ "skylake", "UNC_ARB_TRK_REQUESTS.EVICTIONS", 5 }, { "skylake", "UNC_ARB_TRK_REQUESTS.DATA_READ", 65 },
		{ "skylake", "UNC_ARB_TRK_OCCUPANCY.ALL", 70 },
		{ "skylake", "UNC_ARB_TRK_OCCUPANCY.CYCLES_WITH_ANY_REQUEST", 50 },
		{ "skylake", "UNC_CLOCK.SOCKET", 3000 }, { "ivy-bridge", "UNC_CLOCK.SOCKET", 3000 },
		{ "ivy-bridge", "UNC_CBO_CACHE_LOOKUP.ANY_MESI", 255 }, { "ivy-bridge",
		"UNC_ARB_TRK_OCCUPANCY.CYCLES_OVER_HALF_FULL", 0 },
		{ "golden-cove", "UNC_CHA_LLC_LOOKUP.ALL", 255 }, { "golden-cove", "UNC_CHA_LLC_LOOKUP.MISS_ALL",
		1 + 16 + 64 },
		{ "golden-cove", "UNC_CHA_LLC_LOOKUP.DATA_RD", 15 + 64 }, { "golden-cove",
		"UNC_CHA_LLC_LOOKUP.LOCAL_DMND_DATA_RD", 15 },
		{ "golden-cove", "UNC_CHA_LLC_LOOKUP.LOCAL_PF", 64 }, { "golden-cove",
		"UNC_CHA_LLC_LOOKUP.DATA_READ_MISS", 65 },
		{ "golden-cove", "UNC_CHA_LLC_LOOKUP.RFO", 16 }, { "golden-cove", "UNC_CHA_LLC_LOOKUP.CODE_READ", 32 },
		{ "golden-cove", "UNC_CHA_LLC_LOOKUP.WRITES_AND_OTHER", 128 }, { "golden-cove",
		"UNC_CHA_LLC_LOOKUP.LOCALLY_HOMED_ADDRESS", 255 },
		{ "golden-cove", "UNC_CHA_LLC_VICTIMS.ALL", 8 }, { "golden-cove", "UNC_CHA_LLC_VICTIMS.TOTAL_M", 5 },
		{ "golden-cove", "UNC_CHA_CORE_SNP.CORE_ONE", 3 }, { "golden-cove", "UNC_CHA_CORE_SNP.CORE_GTONE", 1 },
		{ "golden-cove", "UNC_CHA_TOR_INSERTS.IA_DRD", 15 }, { "golden-cove", "UNC_CHA_TOR_INSERTS.IA_MISS_DRD",
		1 },
		{ "golden-cove", "UNC_CHA_TOR_INSERTS.IA_HIT_DRD", 14 }, { "golden-cove",
		"UNC_CHA_TOR_INSERTS.IA_MISS_RFO", 16 },
		{ "golden-cove", "UNC_CHA_TOR_INSERTS.IA_MISS_DRD_PREF", 64 }, { "golden-cove",
		"UNC_CHA_TOR_INSERTS.IA_CRD", 32 },
		{ "golden-cove", "UNC_CHA_CLOCKTICKS", 4 * 2500 }, { "golden-cove", "UNC_M_CLOCKTICKS", 2 * 2400 },
		{ "golden-cove", "UNC_M_CAS_COUNT.RD", 7 }, { "golden-cove", "UNC_M_CAS_COUNT.WR", 24 },
		{ "golden-cove", "UNC_M_CAS_COUNT.ALL", 31 },
		{ "golden-cove", "UNC_M_ACT_COUNT.ALL", 2 + 4 + 16 }, { "golden-cove", "UNC_M_ACT_COUNT.RD", 6 },
		{ "golden-cove", "UNC_M_PRE_COUNT.RD", 4 },
		{ "golden-cove", "UNC_M_PRE_COUNT.WR", 16 }, { "golden-cove", "UNC_M_PRE_COUNT.ALL", 20 },
	};
	for (size_t i = 0; i < sizeof expected / sizeof *expected; i++) {
		uint64_t n = count_event(expected[i].table, expected[i].name);
		if (n != expected[i].count)
			fail_msg("%s, %s: %llu, not %llu", expected[i].table, expected[i].name, (unsigned long long)n,
				(unsigned long long)expected[i].count);
	}
}

static void test_a_box_counts_its_own_slice_or_channel(void **state)
{
	(void)state;
	struct fixture f;
	begin(&f, "skylake");
	wr(&f, 0xe01, SPMU_UNC_GLOBAL_EN);
	for (unsigned b = 0; b < 4; b++)
		wr(&f, 0x700 + 16 * b, 0x1f34 | EN);
	feed(&f, 0, 0, 100, everything, EVERYTHING);
	assert_int_equal(rd(&f, 0x706), 1 + 16 + 32 + 64);
	assert_int_equal(rd(&f, 0x716), 2);
	assert_int_equal(rd(&f, 0x726), 4);
	assert_int_equal(rd(&f, 0x736), 8);
	end(&f);
}

static void test_free_running_counters_need_no_enabling(void **state)
{
	(void)state;
	struct fixture f;
	uint64_t v;
	begin(&f, "skylake");
	feed(&f, 0, 0, 100, everything, EVERYTHING);
	assert_int_equal(spmu_uncore_mmio_read(f.u, 0, MMIO_UNC_DATA_READS, 4, &v), SPMU_OK);
	assert_int_equal(v, 7);
	assert_int_equal(spmu_uncore_mmio_read(f.u, 0, MMIO_UNC_DATA_WRITES, 4, &v), SPMU_OK);
	assert_int_equal(v, 24);
	assert_int_equal(spmu_uncore_mmio_read(f.u, 0, MMIO_UNC_IA_REQUESTS, 4, &v), SPMU_OK);
	assert_int_equal(v, 31);
	end(&f);
}

static void test_a_counter_counts_between_its_enabling_and_its_disabling(void **state)
{
	(void)state;
	const struct one r = { SPMU_SIG_UNC_READ, 1, 1, 1, 0, SPMU_FOUND_CLEAN };
	struct fixture f;
	begin(&f, "ivy-bridge");
	wr(&f, 0x700, 0x8f34 | EN);
	feed(&f, 0, 0, 10, &r, 1);	/* not yet enabled above */
	wr(&f, 0x391, SPMU_UNC_GLOBAL_EN);
	feed(&f, 0, 10, 20, &r, 1);
	feed(&f, 1, 10, 20, &r, 1);
	wr(&f, 0x700, 0x8f34);
	feed(&f, 0, 20, 30, &r, 1);
	wr(&f, 0x700, 0x8f34 | EN);
	wr(&f, 0x391, 0);
	feed(&f, 0, 30, 40, &r, 1);
	assert_int_equal(rd(&f, 0x706), 2);
	end(&f);
	begin(&f, "golden-cove");
	wr(&f, 0x2002, SPMU_UNC_SELECT(0x34, 0x1fffff, 0) | EN);
	feed(&f, 0, 0, 10, &r, 1);
	wr(&f, 0x2000, SPMU_UNC_BOX_FRZ);
	feed(&f, 0, 10, 20, &r, 1);
	wr(&f, 0x2000, 0);
	wr(&f, 0x2ff0, 1);
	feed(&f, 0, 20, 30, &r, 1);
	wr(&f, 0x2ff0, 0);
	feed(&f, 0, 30, 40, &r, 1);
	assert_int_equal(rd(&f, 0x2008), 2);
	end(&f);
}

static void test_the_cha_s_filter_keeps_a_counter_to_a_core(void **state)
{
	(void)state;
	const struct one r = { SPMU_SIG_UNC_READ, 1, 1, 1, 0, SPMU_FOUND_CLEAN };
	struct fixture f;
	begin(&f, "golden-cove");
	wr(&f, 0x2002, SPMU_UNC_SELECT(0x34, 0x1fffff, 0) | EN | SPMU_UNC_TID_EN);
	wr(&f, 0x2003, SPMU_UNC_SELECT(0x34, 0x1fffff, 0) | EN);
	wr(&f, 0x200e, 1 << 3);
	for (int core = 0; core < 3; core++)
		feed(&f, core, 0, 10, &r, 1);
	assert_int_equal(rd(&f, 0x2008), 1);
	assert_int_equal(rd(&f, 0x2009), 3);
	end(&f);
}

/* ---- thresholds ----------------------------------------------------------------------------------------- */

static void test_thresholds_add_what_all_cores_do_in_a_cycle(void **state)
{
	(void)state;
	const struct one first[] = { { SPMU_SIG_UNC_READ, 5, 5, 1, 0, SPMU_FOUND_CLEAN }, { SPMU_SIG_UNC_READ, 6, 6, 1,
		0, SPMU_FOUND_CLEAN },
		{ SPMU_SIG_UNC_READ, 9, 9, 3, 0, SPMU_FOUND_CLEAN } };
	const struct one second[] = { { SPMU_SIG_UNC_READ, 6, 6, 1, 0, SPMU_FOUND_CLEAN }, { SPMU_SIG_UNC_READ, 5, 5, 1,
		0, SPMU_FOUND_CLEAN } };
	static const struct { uint64_t more, count; } expected[] = {
		{ 0, 7 }, { 1u << 24, 3 }, { 2u << 24, 3 }, { 3u << 24, 1 }, { 4u << 24, 0 },
		{ 2u << 24 | SPMU_UNC_EDGE, 2 }, { SPMU_UNC_EDGE, 2 }, { 2u << 24 | SPMU_UNC_INV, 97 },
			{ 2u << 24 | SPMU_UNC_INV | SPMU_UNC_EDGE, 3 } };
	for (size_t i = 0; i < sizeof expected / sizeof *expected; i++) {
		struct fixture f;
		begin(&f, "skylake");
		wr(&f, 0xe01, SPMU_UNC_GLOBAL_EN);
		wr(&f, 0x700, 0x8f34 | EN | expected[i].more);
		spmu_uncore_detach(f.u, f.core[2]);
		feed(&f, 0, 0, 0, NULL, 0);
		feed(&f, 1, 0, 0, NULL, 0);
		feed(&f, 0, 0, 100, first, 3);
		if (expected[i].more)
			assert_int_equal(rd(&f, 0x706), 0);	/* not final: the other core may still add here */
		feed(&f, 1, 0, 100, second, 2);
		if (rd(&f, 0x706) != expected[i].count)
			fail_msg("%llx: %llu, not %llu", (unsigned long long)expected[i].more,
				(unsigned long long)rd(&f, 0x706),
				(unsigned long long)expected[i].count);
		end(&f);
	}
}

/* ---- overflow ------------------------------------------------------------------------------------------- */

static void test_a_client_s_overflow_sets_status_freezes_and_interrupts_as_asked(void **state)
{
	(void)state;
	const struct one r[] = { { SPMU_SIG_UNC_READ, 1, 1, 3, 1, SPMU_FOUND_CLEAN }, { SPMU_SIG_UNC_READ, 2, 2, 5, 1,
		SPMU_FOUND_CLEAN } };
	struct fixture f;
	begin(&f, "ivy-bridge");
	wr(&f, 0x391, SPMU_UNC_GLOBAL_EN | SPMU_UNC_GLOBAL_FREEZE | 5);
	wr(&f, 0x711, 0x8f34 | EN | SPMU_UNC_OVF_EN);
	wr(&f, 0x717, COUNTER44 - 2);
	feed(&f, 0, 0, 10, r, 2);
	assert_int_equal(f.pmis, 1);
	assert_int_equal(f.cores, 5);
	assert_int_equal(f.seen & SPMU_UNC_GLOBAL_EN, 0);
	assert_int_equal(rd(&f, 0x717), 0);	/* events after the freeze are not counted */
	assert_int_equal(rd(&f, 0x392), 8);
	assert_int_equal(rd(&f, 0x715), 2);
	wr(&f, 0x715, 2);
	wr(&f, 0x392, 8);
	assert_int_equal(rd(&f, 0x715) | rd(&f, 0x392), 0);
	/* without OVF_EN a wrap sets no status; without FREEZE counting goes on */
	wr(&f, 0x391, SPMU_UNC_GLOBAL_EN | 1);
	wr(&f, 0x711, 0x8f34 | EN);
	wr(&f, 0x717, COUNTER44);
	feed(&f, 0, 10, 20, r, 2);
	assert_int_equal(rd(&f, 0x717), 7);
	assert_int_equal(rd(&f, 0x392), 0);
	wr(&f, 0x711, 0x8f34 | EN | SPMU_UNC_OVF_EN);
	wr(&f, 0x717, COUNTER44);
	feed(&f, 0, 20, 30, r, 2);
	assert_int_equal(rd(&f, 0x717), 7);
	assert_int_equal(f.pmis, 2);
	/* the fixed counter and the ARB have status bits of their own */
	wr(&f, 0x394, EN | SPMU_UNC_OVF_EN);
	wr(&f, 0x395, COUNTER48 - 1);
	feed(&f, 0, 30, 40, NULL, 0);
	assert_int_equal(rd(&f, 0x392), 9);
	end(&f);
}

static void test_a_server_s_overflow_freezes_all_boxes(void **state)
{
	(void)state;
	const struct one r[] = { { SPMU_SIG_UNC_READ, 1, 1, 1, 0, SPMU_FOUND_CLEAN }, { SPMU_SIG_UNC_READ, 1, 1, 1, 1,
		SPMU_FOUND_CLEAN },
		{ SPMU_SIG_DRAM_READ, 2, 2, 1, 0, SPMU_FOUND_ROW_OPEN } };
	struct fixture f;
	uint64_t v;
	begin(&f, "golden-cove");
	wr(&f, 0x2003, SPMU_UNC_SELECT(0x34, 0x1fffff, 0) | EN | SPMU_UNC_OVF_EN);
	wr(&f, 0x2012, SPMU_UNC_SELECT(0x34, 0x1fffff, 0) | EN);
	wr(&f, 0x2009, COUNTER48);
	assert_int_equal(spmu_uncore_mmio_write(f.u, 0, 0x22840, 4, 0xcf05 | EN), SPMU_OK);
	feed(&f, 0, 0, 10, r, 3);
	assert_int_equal(rd(&f, 0x2ff0), 1);
	assert_int_equal(rd(&f, 0x2001), 2);
	assert_int_equal(rd(&f, 0x2018), 0);
	assert_int_equal(spmu_uncore_mmio_read(f.u, 0, 0x22808, 8, &v), SPMU_OK);
	assert_int_equal(v, 0);
	assert_int_equal(f.pmis, 1);
	end(&f);
}

/* ---- input from outside ---------------------------------------------------------------------------------- */

static void test_damaged_tables_are_refused_with_their_line(void **state)
{
	(void)state;
	static const struct { const char *text, *says; } bad[] = {
		{ "", "no events" },
		{ "@unit cbox slice 2 44\n", "line 1: @family" },
		{ "@family x\n", "line 1: unknown @family" },
		{ "@family server\n@family server\n", "line 2" },
		{ "@family server\n@unit a slice 9 44\n", "line 2: bad @unit" },
		{ "@family server\n@unit a slice 2 44\n@select a 1 bits 1\n", "line 3" },
		{ "@family server\n@unit a slice 2 44\n@select a 1 bits 1=reed\n", "line 3" },
		{ "@family server\n@unit a slice 2 44\nX\ta\t1\t1\t0\t-\th\t-\n", "no @select line says" },
		{ "@family server\n@unit a slice 2 44\n@select a 1 bits 1=read\nX\ta\t1\t1\t2\t-\th\t-\n", "counters" },
		{ "@family server\n@unit a slice 2 44\n@select a 1 bits 1=read\nX\ta\t1\t1\t0\t-\th\n", "columns" },
		{ "@family server\n@unit a slice 2 44\n@select a 1 bits 1=!\nX\ta\t1\t1\t0\t-\th\t-\n",
		"no @select line says" },
	};
	for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
		char path[] = "/tmp/softpmu-uncore-XXXXXX", text[400] = "";
		struct spmu_uncore_model *m = NULL;
		int fd = mkstemp(path);
		assert_true(fd >= 0);
		FILE *file = fdopen(fd, "w");
		fputs(bad[i].text, file);
		fclose(file);
		int rc = spmu_uncore_load(&m, path, text, sizeof text);
		remove(path);
		if (rc != SPMU_EINPUT || !strstr(text, bad[i].says))
			fail_msg("%zu: %d, '%s'", i, rc, text);
	}
}

static void test_nonsense_in_batches_is_survived(void **state)
{
	(void)state;
	const struct one r[] = { { SPMU_SIG_UNC_READ, 1, 1, 1, UINT32_MAX, SPMU_FOUND_CLEAN }, { SPMU_SIG_UNC_READ, 1,
		1, 1, 0, (enum spmu_found)99 },
		{ SPMU_SIG_COUNT, 1, 1, 1, 0, SPMU_FOUND_CLEAN }, { SPMU_SIG_UNC_PENDING, 50, 10, UINT32_MAX, 0,
		SPMU_FOUND_CLEAN },
		{ (enum spmu_signal)UINT32_MAX, 1, 1, 1, 0, SPMU_FOUND_CLEAN } };
	struct fixture f;
	begin(&f, "skylake");
	wr(&f, 0xe01, SPMU_UNC_GLOBAL_EN);
	wr(&f, 0x700, 0x8f34 | EN | 1u << 24);
	wr(&f, 0x3b2, 0x0180 | EN | 1u << 24);
	feed(&f, 0, 0, 100, r, 5);
	feed(&f, 0, UINT64_MAX - 10, 5, r, 1);
	feed(&f, 0, 100, UINT64_MAX, r, 1);
	struct spmu_batch b = { .watermark = 7 };
	spmu_uncore_consume(f.u, -1, &b);
	spmu_uncore_consume(f.u, 77, &b);
	spmu_uncore_detach(f.u, 77);
	assert_int_equal(rd(&f, 0x706), 0);
	assert_int_equal(rd(&f, 0x3b0), 0);
	end(&f);
	struct spmu_uncore_model *m = load("skylake");
	struct spmu_uncore *u;
	struct spmu_uncore_host h = { .slices = 65, .channels = 2, .core_hz = 1 };
	assert_int_equal(spmu_uncore_create(&u, m, &h), SPMU_EINPUT);
	h = (struct spmu_uncore_host){ .slices = 1, .channels = 0, .core_hz = 1 };
	assert_int_equal(spmu_uncore_create(&u, m, &h), SPMU_EINPUT);
	spmu_uncore_free(m);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_client_registers_keep_their_bits_and_fault_on_others),
		cmocka_unit_test(test_skylake_has_its_global_control_elsewhere_and_two_counters_a_box),
		cmocka_unit_test(test_server_registers_keep_their_bits_and_fault_on_others),
		cmocka_unit_test(test_resets_of_a_box_and_of_a_counter_clear_what_they_name),
		cmocka_unit_test(test_memory_mapped_registers_answer_at_their_widths),
		cmocka_unit_test(test_each_event_counts_what_its_name_says),
		cmocka_unit_test(test_kinds_of_a_signal_are_counted_apart),
		cmocka_unit_test(test_a_box_counts_its_own_slice_or_channel),
		cmocka_unit_test(test_free_running_counters_need_no_enabling),
		cmocka_unit_test(test_a_counter_counts_between_its_enabling_and_its_disabling),
		cmocka_unit_test(test_the_cha_s_filter_keeps_a_counter_to_a_core),
		cmocka_unit_test(test_thresholds_add_what_all_cores_do_in_a_cycle),
		cmocka_unit_test(test_a_client_s_overflow_sets_status_freezes_and_interrupts_as_asked),
		cmocka_unit_test(test_a_server_s_overflow_freezes_all_boxes),
		cmocka_unit_test(test_damaged_tables_are_refused_with_their_line),
		cmocka_unit_test(test_nonsense_in_batches_is_survived),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
