/* SPDX-License-Identifier: GPL-2.0-or-later
 * NetBurst's bus events: which requests the fields of a mask select, on models from 2 on and before.
 */
#include "netburst_fixture.h"

static struct spmu_model *model, *older;
static struct stream s;

static int setup(void **state)
{
	(void)state;
	model = fixture_model("netburst");
	older = netburst_model("@model 1");
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	spmu_model_free(model);
	spmu_model_free(older);
	stream_free(&s);
	return 0;
}

#define A(name) SPMU_ATTR(BUS_##name)
/* Each kind of request comes as often as its place says, from 1 on, in powers of two. */
static const uint64_t requests[] = {
	A(READ), A(READ) | A(PREFETCH), A(CODE), A(RFO), A(WRITE_BACK),		/* 1 2 4 8 10h */
	A(WRITE) | A(COMBINED), A(WRITE) | A(COMBINED) | A(CHUNK),		/* 20h 40h */
	A(READ) | A(CHUNK) | A(LOCK) | A(SPLIT), A(WRITE) | A(CHUNK) | A(LOCK) | A(SPLIT),	/* 80h 100h */
	A(READ) | A(OTHER), A(WRITE_BACK) | A(OTHER),				/* 200h 400h */
};
enum { KINDS = sizeof requests / sizeof *requests };

static void send(enum spmu_signal signal, struct spmu *p)
{
	stream_free(&s);
	for (unsigned k = 0, at = 0; k < KINDS; k++)
		for (unsigned n = 0; n < 1u << k; n++, at++) {
			stream_signal(&s, signal, at, at + 3, 1);
			s.r[s.n - 1].is = requests[k];
		}
	stream_cycles(&s, 0, 3, 0, 1u << KINDS);
	stream_send_cut(&s, p, 5, 500);
}

static uint64_t count(const struct spmu_model *m, unsigned n, uint32_t escr, unsigned select, enum spmu_signal signal)
{
	struct spmu *p = netburst_pmu(m, NULL);
	nb_write(p, spmu_netburst_escr(m, n, select), escr | T0);
	nb_write(p, NB_CCCR(n), SPMU_CCCR_ENABLE | SPMU_CCCR_SELECT(select) | SPMU_CCCR_ACTIVE(3));
	send(signal, p);
	uint64_t value = nb_count(p, n);
	spmu_destroy(p);
	return value;
}

static void test_fields_of_the_queue_are_combined_with_and_from_model_2_on(void **state)
{
	(void)state;
	enum { ANY = 1, READ = 0x20, WRITE = 0x40, WC = 0x100, WB = 0x800, OWN = 0x2000, OTHER = 0x4000, PF = 0x8000 };
	static const struct { uint32_t mask, kinds, before; } table[] = {
		{ 0, 0, 0 },
		/* a field that is left open selects nothing */
		{ READ, 0, 0 }, { ANY | READ | WB, 0, 0 }, { ANY | WB | OWN, 0, 0x19d },
		{ ANY | READ | OWN, 0, 0x8d }, { READ | WB | OWN, 0, 0x8d },
		{ ANY | READ | WB | OWN, 0x8d, 0x8d }, { ANY | READ | WB | OWN | PF, 0x8f, 0x8f },
		{ ANY | WRITE | WB | OWN, 0x110, 0x170 }, { ANY | WRITE | WC | OWN, 0x60, 0x170 },
		{ ANY | WRITE | WC | WB | OWN, 0x170, 0x170 }, { ANY | READ | WC | OWN, 0, 0x8d },
		{ ANY | WC | OWN, 0, 0x60 }, { ANY | WC | WB | OWN, 0, 0x1fd },
		{ ANY | READ | WRITE | WB | OTHER, 0x600, 0x600 },
		{ ANY | READ | WRITE | WB | OWN | OTHER, 0x79d, 0x7fd },
		/* types, as on the bus of the P6 */
		{ 6 | READ | WB | OWN, 0x81, 0x8d }, { 4 | READ | WB | OWN, 4, 0x8d }, { 2 | READ | WB | OWN, 8, 0x8d },
		{ 2 | WRITE | WB | OWN, 0, 0x178 }, { 5 | WRITE | WB | OWN, 0x10, 0x170 },
		{ 7 | WRITE | WC | WB | OWN, 0x160, 0x170 }, { 2 | OWN, 0, 8 }, { 31 | READ | WB | OWN, 0, 0x8d },
	};
	for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
		uint32_t allocation = SPMU_ESCR_EVENT(0x03) | SPMU_ESCR_MASK(table[i].mask);
		uint32_t active = SPMU_ESCR_EVENT(0x1a) | SPMU_ESCR_MASK(table[i].mask);
		if (count(model, 0, allocation, 6, SPMU_SIG_BUS_QUEUE) != table[i].kinds ||
			count(model, 2, active, 6, SPMU_SIG_BUS_QUEUE) != 3 * table[i].kinds ||
			count(older, 0, allocation, 6, SPMU_SIG_BUS_QUEUE) != table[i].before)
			fail_msg("mask %x: %llx and %llx, not %x and %x", table[i].mask,
				(unsigned long long)count(model, 0, allocation, 6, SPMU_SIG_BUS_QUEUE),
				(unsigned long long)count(older, 0, allocation, 6, SPMU_SIG_BUS_QUEUE), table[i].kinds,
				table[i].before);
	}
}

static void test_the_mask_of_the_bus_unit_is_a_pattern(void **state)
{
	(void)state;
	static const struct { uint32_t mask, kinds; } table[] = {
		{ 0x328c, 0x205 },	/* reads of lines, demanded */
		{ 0x308c, 2 },		/* prefetches */
		{ 0x368d, 8 }, { 0x328d, 0 }, { 0x328f, 0x410 }, { 0x0a0e, 0x20 }, { 0x0a06, 0x40 },
		{ 0x3744, 0x80 }, { 0x3746, 0x100 }, { 0x3644, 0 }, { 1, 0 }, { 0x32ac, 0 }, { 0xffff, 0 },
	};
	for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
		uint64_t n = count(model, 0, SPMU_ESCR_EVENT(0x05) | SPMU_ESCR_MASK(table[i].mask), 7,
			SPMU_SIG_BUS_UNIT);
		uint64_t active = count(model, 2, SPMU_ESCR_EVENT(0x06) | SPMU_ESCR_MASK(table[i].mask), 7,
			SPMU_SIG_BUS_UNIT);
		if (n != table[i].kinds || active != 3 * n)
			fail_msg("mask %x: %llx, not %x", table[i].mask, (unsigned long long)n, table[i].kinds);
	}
}

static void test_a_name_of_one_bit_fills_in_the_fields_that_it_leaves_open(void **state)
{
	(void)state;
	static const struct { const char *event; uint32_t mask, kinds; } table[] = {
		{ "IOQ_allocation.ALL_READ", 0x2921, 0x8d }, { "IOQ_allocation.ALL_WRITE", 0x2941, 0x170 },
		{ "IOQ_allocation.TYPE_BIT0", 0x2961, 0x1fd }, { "IOQ_allocation.TYPE_BIT1", 0x2962, 8 },
		{ "IOQ_allocation.TYPE_BIT2", 0x2964, 4 }, { "IOQ_allocation.MEM_WC", 0x2161, 0x60 },
		{ "IOQ_allocation.OTHER", 0x4961, 0x600 }, { "IOQ_allocation.PREFETCH", 0xa961, 0x1ff },
		{ "BSQ_allocation.REQ_TYPE0", 0x368d, 8 }, { "BSQ_allocation.REQ_TYPE1", 0x0a0e, 0x20 },
		{ "BSQ_allocation.REQ_LEN0", 0x0a06, 0x40 }, { "BSQ_allocation.REQ_LOCK_TYPE", 0x3744, 0x80 },
		{ "BSQ_allocation.MEM_TYPE2", 0x328c, 0x205 },
	};
	for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
		const struct spmu_event *e = fixture_event(model, table[i].event);
		const bool unit = e->event == 0x05;
		if (spmu_netburst_mask(model, e, e->umask) != table[i].mask)
			fail_msg("%s: %x, not %x", table[i].event, spmu_netburst_mask(model, e, e->umask),
				table[i].mask);
		assert_int_equal(count(model, 0, nb_escr_named(model, e, 0), unit ? 7 : 6,
			unit ? SPMU_SIG_BUS_UNIT : SPMU_SIG_BUS_QUEUE), table[i].kinds);
	}
}

/* A program may try any number of masks one after the other. */
static void test_masks_do_not_use_up_the_pmu(void **state)
{
	(void)state;
	struct spmu *p = netburst_pmu(model, NULL);
	nb_write(p, NB_CCCR(0), SPMU_CCCR_ENABLE | SPMU_CCCR_SELECT(6) | SPMU_CCCR_ACTIVE(3));
	for (uint32_t mask = 0; mask <= 0xffff; mask += 7)
		nb_write(p, MSR_FSB_ESCR0, SPMU_ESCR_EVENT(0x03) | SPMU_ESCR_MASK(mask) | T0);
	nb_write(p, MSR_FSB_ESCR0, SPMU_ESCR_EVENT(0x03) | SPMU_ESCR_MASK(0x2821) | T0);
	send(SPMU_SIG_BUS_QUEUE, p);
	assert_int_equal(nb_count(p, 0), 0x8d);
	spmu_destroy(p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_fields_of_the_queue_are_combined_with_and_from_model_2_on, setup,
			teardown),
		cmocka_unit_test_setup_teardown(test_the_mask_of_the_bus_unit_is_a_pattern, setup, teardown),
		cmocka_unit_test_setup_teardown(test_a_name_of_one_bit_fills_in_the_fields_that_it_leaves_open, setup,
			teardown),
		cmocka_unit_test_setup_teardown(test_masks_do_not_use_up_the_pmu, setup, teardown),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
