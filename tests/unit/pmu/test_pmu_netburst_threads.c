/* SPDX-License-Identifier: GPL-2.0-or-later
 * Two hardware threads that share one NetBurst PMU (spmu_host.siblings, spmu_execute_on): what is the core's and what
 * each thread's, who is interrupted, whose DS area gets a record.
 */
#include "netburst_fixture.h"

static struct spmu_model *model;
static struct stream s;
static struct { unsigned pmis; struct spmu_pmi pmi[16]; uint8_t memory[0x8000]; } host_state;

static int setup(void **state)
{
	(void)state;
	model = fixture_model("netburst");
	memset(&host_state, 0, sizeof host_state);
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	spmu_model_free(model);
	stream_free(&s);
	return 0;
}

static void on_pmi(void *context, struct spmu *p, const struct spmu_pmi *pmi, const struct spmu_batch *b)
{
	(void)context, (void)b;
	host_state.pmi[host_state.pmis++ & 15] = *pmi;
	spmu_apic_write(p, SPMU_APIC_LVT_PC, 0x400);	/* the handler runs on the interrupted thread */
}

static int read_memory(void *context, uint64_t address, void *to, size_t bytes)
{
	(void)context;
	if (address > sizeof host_state.memory || bytes > sizeof host_state.memory - address)
		return -1;
	memcpy(to, host_state.memory + address, bytes);
	return 0;
}

static int write_memory(void *context, uint64_t address, const void *from, size_t bytes)
{
	(void)context;
	if (address > sizeof host_state.memory || bytes > sizeof host_state.memory - address)
		return -1;
	memcpy(host_state.memory + address, from, bytes);
	return 0;
}

static struct spmu *two_threads(void)
{
	struct spmu *p = netburst_pmu(model, &(struct spmu_host){ .siblings = 2, .pmi = on_pmi, .pmi_latency = 5,
		.read_memory = read_memory, .write_memory = write_memory });
	assert_int_equal(spmu_execute_on(p, 1), SPMU_OK);
	assert_int_equal(spmu_apic_write(p, SPMU_APIC_LVT_PC, 0x400), SPMU_OK);
	assert_int_equal(spmu_execute_on(p, 0), SPMU_OK);
	return p;
}

/* One instruction a cycle of this thread; instruction i has the address 1000H + i, or 2000H + i for T1. */
static void instructions(unsigned thread, unsigned n, uint64_t from)
{
	for (unsigned i = 0; i < n; i++)
		stream_inst(&s, 0x1000 * (thread + 1) + i, SPMU_IS(LOAD), SPMU_DID(L1D_MISS), from + i)->hw_thread =
			(uint8_t)thread;
}

static void test_each_thread_has_its_own_ds_area_debugctl_and_apic(void **state)
{
	(void)state;
	static const struct { uint32_t msr; uint64_t value; bool own; } reg[] = {
		{ MSR_IA32_DS_AREA, 0x1000, true }, { MSR_DEBUGCTLA, 0x1, true }, { MSR_IQ_CCCR0, 0x3000, false },
		{ MSR_CRU_ESCR0, 0x04000204, false }, { MSR_IQ_COUNTER0, 77, false },
		{ MSR_PEBS_MATRIX_VERT, 1, false }, { MSR_TC_PRECISE_EVENT, 5, false },
	};
	struct spmu *p = two_threads();
	for (unsigned i = 0; i < sizeof reg / sizeof *reg; i++) {
		nb_write(p, reg[i].msr, reg[i].value);
		assert_int_equal(spmu_execute_on(p, 1), SPMU_OK);
		assert_int_equal(fixture_read(p, reg[i].msr), reg[i].own ? 0 : reg[i].value);
		assert_int_equal(spmu_execute_on(p, 0), SPMU_OK);
		assert_int_equal(fixture_read(p, reg[i].msr), reg[i].value);
	}
	uint32_t entry = 0;
	assert_int_equal(spmu_apic_write(p, SPMU_APIC_LVT_PC, 0x10000), SPMU_OK);
	spmu_execute_on(p, 1);
	assert_int_equal(spmu_apic_read(p, SPMU_APIC_LVT_PC, &entry), SPMU_OK);
	assert_int_equal(entry, 0x400);
	assert_int_equal(spmu_execute_on(p, 2), SPMU_EINPUT);
	spmu_destroy(p);
	p = netburst_pmu(model, NULL);		/* a PMU of one thread has no other */
	assert_int_equal(spmu_execute_on(p, 0), SPMU_OK);
	assert_int_equal(spmu_execute_on(p, 1), SPMU_EINPUT);
	spmu_destroy(p);
}

static void test_pebs_enable_means_the_thread_that_writes(void **state)
{
	(void)state;
	struct spmu *p = two_threads();
	nb_write(p, MSR_PEBS_ENABLE, SPMU_PEBS_MY_THREAD | 1);
	spmu_execute_on(p, 1);
	assert_int_equal(fixture_read(p, MSR_PEBS_ENABLE), SPMU_PEBS_OTHER_THREAD | 1);
	nb_write(p, MSR_PEBS_ENABLE, SPMU_PEBS_MY_THREAD);
	spmu_execute_on(p, 0);
	assert_int_equal(fixture_read(p, MSR_PEBS_ENABLE), SPMU_PEBS_OTHER_THREAD);
	spmu_destroy(p);
}

/* Batches of the threads alternate, as in a run.  Counter 12 counts T0, 14 counts T1, each with one OVF_PMI bit; the
 * interrupted thread may be the other one, and may be ahead. */
static void test_a_pmi_interrupts_the_chosen_thread_wherever_it_is(void **state)
{
	(void)state;
	for (unsigned counted = 0; counted < 2; counted++)
		for (unsigned to = 0; to < 2; to++)
			for (unsigned first = 0; first < 2; first++) {
				struct spmu *p = two_threads();
				host_state.pmis = 0;
				unsigned n = counted ? 14 : 12;
				nb_write(p, NB_COUNTER(n), (uint64_t)-9);
				nb_program(p, n, "instr_retired.NBOGUSNTAG",
					counted ? SPMU_ESCR_T1_USR : SPMU_ESCR_T0_USR,
					to ? SPMU_CCCR_OVF_PMI_T1 : SPMU_CCCR_OVF_PMI_T0);
				stream_free(&s);
				instructions(first, 100, 100);
				instructions(!first, 100, 100);
				instructions(first, 100, 200);
				stream_send(&s, 0, 100, 100, 100, false, p);
				stream_send(&s, 100, 200, 100, 200, false, p);
				stream_send(&s, 200, 300, 200, 300, true, p);
				/* the tenth instruction retires at 109, and the interrupt arrives at 114 */
				assert_int_equal(host_state.pmis, 1);
				assert_int_equal(host_state.pmi[0].overflow_cycle, 109);
				assert_int_equal(host_state.pmi[0].hw_thread, to);
				assert_int_equal(host_state.pmi[0].ip, 0x1000 * (to + 1) + 15);
				spmu_destroy(p);
			}
}

/* Each thread's PEBS counter (16, 17) writes into the DS area of its thread. */
static void test_each_thread_s_records_go_into_its_ds_area(void **state)
{
	(void)state;
	struct spmu *p = two_threads();
	const struct spmu_event *e = fixture_event(model, "replay_event.L1_LD_MISS");
	for (unsigned t = 0; t < 2; t++) {
		const uint32_t base = 0x4000 * t, index = base + 0x1000,
			words[] = { 0, 0, 0, 0, index, index, index + 400, index + 400, (uint32_t)-9, 0xff };
		memcpy(host_state.memory + base, words, sizeof words);
		spmu_execute_on(p, (uint8_t)t);
		nb_write(p, MSR_IA32_DS_AREA, base);
		nb_write(p, NB_COUNTER(16 + t), (uint64_t)-9);
		nb_write(p, spmu_netburst_escr(model, 16 + t, 5),
			SPMU_ESCR_EVENT(9) | SPMU_ESCR_MASK(1) | (t ? SPMU_ESCR_T1_USR : SPMU_ESCR_T0_USR));
		nb_write(p, NB_CCCR(16 + t), SPMU_CCCR_ENABLE | SPMU_CCCR_SELECT(5) | SPMU_CCCR_ACTIVE(3));
	}
	nb_write(p, MSR_PEBS_MATRIX_VERT, e->replay_matrix);
	nb_write(p, MSR_PEBS_ENABLE, e->replay_enable | SPMU_PEBS_MY_THREAD | SPMU_PEBS_OTHER_THREAD);
	instructions(0, 50, 100);
	instructions(1, 30, 100);
	stream_send(&s, 0, 50, 100, 100, false, p);
	stream_send(&s, 50, 80, 100, 150, true, p);
	for (unsigned t = 0; t < 2; t++) {
		uint32_t index, ip;
		memcpy(&index, host_state.memory + 0x4000 * t + 0x14, 4);
		memcpy(&ip, host_state.memory + 0x4000 * t + 0x1000 + 4, 4);
		assert_int_equal(index, 0x4000 * t + 0x1000 + 40 * (t ? 3 : 5));
		assert_int_equal(ip, 0x1000 * (t + 1) + 9);
	}
	/* T0's enable bit alone: nothing more for T1 */
	spmu_execute_on(p, 1);
	nb_write(p, MSR_PEBS_ENABLE, e->replay_enable | SPMU_PEBS_OTHER_THREAD);
	stream_free(&s);
	instructions(0, 50, 200);
	instructions(1, 50, 200);
	stream_send(&s, 0, 50, 200, 200, false, p);
	stream_send(&s, 50, 100, 200, 250, true, p);
	uint32_t index[2];
	memcpy(&index[0], host_state.memory + 0x14, 4);
	memcpy(&index[1], host_state.memory + 0x4014, 4);
	assert_int_equal(index[0], 0x1000 + 400);
	assert_int_equal(index[1], 0x5000 + 120);
	spmu_destroy(p);
}

static void test_a_saved_state_has_both_threads(void **state)
{
	(void)state;
	struct spmu *p = two_threads(), *q = two_threads();
	void *block = malloc(spmu_state_bytes(p));
	for (unsigned t = 0; t < 2; t++) {
		spmu_execute_on(p, (uint8_t)t);
		nb_write(p, MSR_IA32_DS_AREA, 0x1000 * (t + 1));
		nb_write(p, MSR_DEBUGCTLA, t + 1);
	}
	spmu_save(p, block);
	assert_int_equal(spmu_restore(q, block), SPMU_OK);
	assert_int_equal(fixture_read(q, MSR_IA32_DS_AREA), 0x2000);	/* T1 executes, as when it was saved */
	for (unsigned t = 0; t < 2; t++) {
		spmu_execute_on(q, (uint8_t)t);
		assert_int_equal(fixture_read(q, MSR_IA32_DS_AREA), 0x1000 * (t + 1));
		assert_int_equal(fixture_read(q, MSR_DEBUGCTLA), t + 1);
	}
	struct spmu *one = netburst_pmu(model, NULL);
	assert_int_equal(spmu_restore(one, block), SPMU_EINPUT);
	spmu_destroy(one);
	spmu_destroy(p);
	spmu_destroy(q);
	free(block);
}

static void test_more_threads_than_the_registers_know_are_refused(void **state)
{
	(void)state;
	for (unsigned siblings = 0; siblings < 9; siblings++) {
		struct spmu *p = NULL;
		const struct spmu_host host = { .siblings = (uint8_t)siblings };
		assert_int_equal(spmu_create(&p, model, &host), siblings > 2 ? SPMU_EINPUT : SPMU_OK);
		assert_true(!p == (siblings > 2));
		spmu_destroy(p);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_more_threads_than_the_registers_know_are_refused, setup,
			teardown),
		cmocka_unit_test_setup_teardown(test_each_thread_has_its_own_ds_area_debugctl_and_apic, setup,
			teardown),
		cmocka_unit_test_setup_teardown(test_pebs_enable_means_the_thread_that_writes, setup, teardown),
		cmocka_unit_test_setup_teardown(test_a_pmi_interrupts_the_chosen_thread_wherever_it_is, setup,
			teardown),
		cmocka_unit_test_setup_teardown(test_each_thread_s_records_go_into_its_ds_area, setup, teardown),
		cmocka_unit_test_setup_teardown(test_a_saved_state_has_both_threads, setup, teardown),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
