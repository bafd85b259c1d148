/* SPDX-License-Identifier: GPL-2.0-or-later
 * Hardware threads that share one NetBurst PMU (spmu_host.siblings, spmu_execute_on): what is the core's and what each
 * thread's, who is interrupted, whose DS area gets a record.  With more than two threads, the same by the registers
 * that extend the machine's (MSR_THREADS).
 */
#include "netburst_setup.h"

static struct { unsigned pmis; struct spmu_pmi pmi[16]; uint8_t memory[0x8000]; } host_state;

static int setup(void **state)
{
	(void)state;
	nb_setup("netburst");
	memset(&host_state, 0, sizeof host_state);
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

/* ---- more than two threads: MSR_THREADS(n) ---- */

static struct spmu *four_threads(void)
{
	struct spmu *p = netburst_pmu(model, &(struct spmu_host){ .siblings = 4, .pmi = on_pmi, .pmi_latency = 5,
		.read_memory = read_memory, .write_memory = write_memory });
	for (unsigned t = 0; t < 4; t++) {
		assert_int_equal(spmu_execute_on(p, (uint8_t)t), SPMU_OK);
		assert_int_equal(spmu_apic_write(p, SPMU_APIC_LVT_PC, 0x400), SPMU_OK);
	}
	assert_int_equal(spmu_execute_on(p, 4), SPMU_EINPUT);
	assert_int_equal(spmu_execute_on(p, 0), SPMU_OK);
	return p;
}

static void test_the_extension_is_there_with_more_than_two_threads(void **state)
{
	(void)state;
	for (unsigned siblings = 0; siblings < 11; siblings++) {
		struct spmu *p = NULL;
		const struct spmu_host host = { .siblings = (uint8_t)siblings };
		const bool there = siblings > 2;
		uint64_t v;
		assert_int_equal(spmu_create(&p, model, &host), siblings > 8 ? SPMU_EINPUT : SPMU_OK);
		assert_true(!p == (siblings > 8));
		if (!p)
			continue;
		assert_int_equal(spmu_rdmsr(p, MSR_THREADS_CAPABILITIES, &v), there ? SPMU_OK : SPMU_ENOMSR);
		assert_true(!there || v == siblings);
		assert_int_equal(spmu_wrmsr(p, MSR_THREADS_CAPABILITIES, siblings), there ? SPMU_GP : SPMU_ENOMSR);
		for (unsigned n = 0; n < 20; n++) {
			const bool one = there && n < 18;
			const uint64_t all = ((1u << 2 * siblings) - 1) |
				SPMU_THREADS_OVF_PMI((1u << siblings) - 1) |
				SPMU_THREADS_ACTIVE((2u << siblings) - 1) | (n >= 12 ? SPMU_THREADS_PEBS : 0);
			assert_int_equal(spmu_wrmsr(p, MSR_THREADS(n), all), one ? SPMU_OK : SPMU_ENOMSR);
			assert_int_equal(spmu_rdmsr(p, MSR_THREADS(n), &v), one ? SPMU_OK : SPMU_ENOMSR);
			for (unsigned bit = 0; one && bit < 64; bit++) {
				const bool thread = bit - 41 < 3 && n >= 12 && 1u << (bit - 41) < siblings;
				assert_int_equal(spmu_wrmsr(p, MSR_THREADS(n), UINT64_C(1) << bit),
					all >> bit & 1 || thread ? SPMU_OK : SPMU_GP);
			}
		}
		spmu_destroy(p);
	}
	struct spmu_model *one = netburst_model("@threads 1");
	struct spmu *p = NULL;
	assert_int_equal(spmu_create(&p, one, &(struct spmu_host){ .siblings = 3 }), SPMU_EINPUT);
	spmu_model_free(one);
}

/* Class c (thread c / 2, in user mode or the kernel) retires 2^c instructions, so what a set counts is its number. */
static void test_any_set_of_threads_and_rings_counts(void **state)
{
	(void)state;
	for (unsigned class = 0; class < 8; class++)
		for (unsigned i = 0; i < 1u << class; i++) {
			struct spmu_record *r = stream_inst(&s, 0x1000, 0, 0, 100 + i);
			r->hw_thread = (uint8_t)(class / 2);
			r->cpl = class & 1 ? 0 : 3;
		}
	for (unsigned set = 1; set < 256; set++)
		for (unsigned way = 0; way < 3; way++) {	/* summed up, by record, by cycle */
			struct spmu *p = four_threads();
			nb_write(p, MSR_THREADS(12), set | (way == 1 ? SPMU_THREADS_OVF_PMI(8) : 0));
			nb_program(p, 12, "instr_retired.NBOGUSNTAG", 0, way == 2 ? SPMU_CCCR_OVF_PMI_T0 : 0);
			nb_program(p, 14, "instr_retired.NBOGUSNTAG", SPMU_ESCR_T1_USR, 0);
			stream_send_all(&s, p);
			assert_int_equal(nb_count(p, 12), set);
			assert_int_equal(nb_count(p, 14), 4);	/* without the register: as the ESCR says */
			spmu_destroy(p);
		}
}

/* Clocks with one, two, three and four running threads: 20, 30, 40, 10. */
static void test_any_number_of_running_threads_can_be_chosen(void **state)
{
	(void)state;
	static const unsigned begin[] = { 0, 20, 50, 80 }, end[] = { 100, 100, 100, 90 }, n[] = { 0, 20, 30, 40, 10 };
	static const uint64_t field[] = { 0, 20, 30, 100 };
	const uint32_t select = SPMU_CCCR_SELECT(6) | SPMU_CCCR_ENABLE;
	for (unsigned t = 0; t < 4; t++)
		stream_cycles(&s, t, 3, begin[t], end[t]);
	for (unsigned set = 1; set < 32; set++) {
		struct spmu *p = four_threads();
		uint64_t want = 0;
		for (unsigned k = 0; k < 5; k++)
			want += set >> k & 1 ? n[k] : 0;
		nb_program(p, 0, "global_power_events.RUNNING", 0, 0);
		nb_write(p, MSR_THREADS(0), 0x55 | SPMU_THREADS_ACTIVE(set));
		stream_send_all(&s, p);
		assert_int_equal(nb_count(p, 0), want);
		spmu_destroy(p);
	}
	for (unsigned v = 0; v < 4; v++) {	/* ACTIVE THREAD alone */
		struct spmu *p = four_threads();
		nb_program(p, 0, "global_power_events.RUNNING", 0, 0);
		nb_write(p, MSR_THREADS(0), 0x55);
		nb_write(p, NB_CCCR(0), select | SPMU_CCCR_ACTIVE(v));
		stream_send_all(&s, p);
		assert_int_equal(nb_count(p, 0), field[v]);
		spmu_destroy(p);
	}
}

static void test_cycles_of_some_threads_count_once(void **state)
{
	(void)state;
	static const unsigned begin[] = { 0, 20, 50, 80 }, end[] = { 30, 40, 70, 90 };
	for (unsigned t = 0; t < 4; t++)
		stream_cycles(&s, t, 3, begin[t], end[t]);
	for (unsigned set = 1; set < 16; set++) {
		struct spmu *p = four_threads();
		unsigned want = 0, classes = 0;
		for (unsigned cycle = 0; cycle < 100; cycle++) {
			bool runs = false;
			for (unsigned t = 0; t < 4; t++)
				runs |= set >> t & 1 && cycle >= begin[t] && cycle < end[t];
			want += runs;
		}
		for (unsigned t = 0; t < 4; t++)
			classes |= (set >> t & 1) << 2 * t;
		nb_write(p, MSR_THREADS(0), classes);
		nb_program(p, 0, "global_power_events.RUNNING", 0, 0);
		stream_send_all(&s, p);
		assert_int_equal(nb_count(p, 0), want);
		spmu_destroy(p);
	}
}

static void test_a_pmi_interrupts_each_of_four_threads(void **state)
{
	(void)state;
	for (unsigned counted = 0; counted < 4; counted++)
		for (unsigned to = 0; to < 4; to++) {
			struct spmu *p = four_threads();
			host_state.pmis = 0;
			nb_write(p, NB_COUNTER(12), (uint64_t)-9);
			nb_write(p, MSR_THREADS(12), SPMU_THREADS_USR(counted) | SPMU_THREADS_OVF_PMI(1u << to));
			nb_program(p, 12, "instr_retired.NBOGUSNTAG", 0, 0);
			stream_free(&s);
			for (unsigned i = 0; i < 100; i++)
				for (unsigned t = 0; t < 4; t++)
					stream_inst(&s, 0x1000 * (t + 1) + i, 0, 0, 100 + i)->hw_thread = (uint8_t)t;
			stream_send(&s, 0, 400, 100, 200, true, p);
			assert_int_equal(host_state.pmis, 1);
			assert_int_equal(host_state.pmi[0].overflow_cycle, 109);
			assert_int_equal(host_state.pmi[0].hw_thread, to);
			assert_int_equal(host_state.pmi[0].ip, 0x1000 * (to + 1) + 15);
			spmu_destroy(p);
		}
}

/* Counters 12 to 15, one for each thread; both ESCRs are shared by two of them. */
static void test_records_of_four_threads_go_into_their_ds_areas(void **state)
{
	(void)state;
	struct spmu *p = four_threads();
	const struct spmu_event *e = fixture_event(model, "replay_event.L1_LD_MISS");
	for (unsigned t = 0; t < 4; t++) {
		const uint32_t base = 0x2000 * t, index = base + 0x1000,
			words[] = { 0, 0, 0, 0, index, index, index + 400, index + 400, (uint32_t)-9, 0xff };
		memcpy(host_state.memory + base, words, sizeof words);
		spmu_execute_on(p, (uint8_t)t);
		nb_write(p, MSR_IA32_DS_AREA, base);
		nb_write(p, NB_COUNTER(12 + t), (uint64_t)-9);
		nb_write(p, MSR_THREADS(12 + t),
			SPMU_THREADS_USR(t) | SPMU_THREADS_PEBS | SPMU_THREADS_PEBS_THREAD(t));
		nb_write(p, spmu_netburst_escr(model, 12 + t, 5), SPMU_ESCR_EVENT(9) | SPMU_ESCR_MASK(1));
		nb_write(p, NB_CCCR(12 + t), SPMU_CCCR_ENABLE | SPMU_CCCR_SELECT(5) | SPMU_CCCR_ACTIVE(3));
	}
	nb_write(p, MSR_PEBS_MATRIX_VERT, e->replay_matrix);
	nb_write(p, MSR_PEBS_ENABLE, e->replay_enable);
	for (unsigned t = 0; t < 4; t++)
		instructions(t, 50 - 10 * t, 100);
	stream_send(&s, 0, s.n, 100, 150, true, p);
	for (unsigned t = 0; t < 4; t++) {
		uint32_t index, ip;
		memcpy(&index, host_state.memory + 0x2000 * t + 0x14, 4);
		memcpy(&ip, host_state.memory + 0x2000 * t + 0x1000 + 4, 4);
		assert_int_equal(index, 0x2000 * t + 0x1000 + 40 * (5 - t));
		assert_int_equal(ip, 0x1000 * (t + 1) + 9);
	}
	spmu_destroy(p);
}

/* The ESCR that tags has bits for T0; the counter that keeps it awake adds T2. */
static void test_uops_of_any_thread_can_be_tagged(void **state)
{
	(void)state;
	for (unsigned t = 0; t < 4; t++)
		instructions(t, 10 + t, 100);
	for (unsigned set = 0; set < 16; set++) {
		struct spmu *p = four_threads();
		unsigned classes = 0, want = 10;
		for (unsigned t = 0; t < 4; t++) {
			classes |= (set >> t & 1) << 2 * t;
			want += t && set >> t & 1 ? 10 + t : 0;
		}
		nb_write(p, MSR_THREADS(13), classes);
		nb_program(p, 13, "uop_type.TAGLOADS", SPMU_ESCR_T0_USR | SPMU_ESCR_TAG_ENABLE, 0);
		nb_write(p, MSR_THREADS(14), 0x55);
		nb_program(p, 14, "front_end_event.NBOGUS", 0, 0);
		stream_send_all(&s, p);
		assert_int_equal(nb_count(p, 14), want);
		spmu_destroy(p);
	}
}

static void test_a_saved_state_has_the_extension(void **state)
{
	(void)state;
	struct spmu *p = four_threads(), *q = four_threads(), *three = NULL;
	void *block = malloc(spmu_state_bytes(p));
	for (unsigned n = 0; n < 18; n++)
		nb_write(p, MSR_THREADS(n), 1 + n);
	for (unsigned t = 0; t < 4; t++) {
		spmu_execute_on(p, (uint8_t)t);
		nb_write(p, MSR_IA32_DS_AREA, 0x1000 * (t + 1));
	}
	spmu_save(p, block);
	assert_int_equal(spmu_restore(q, block), SPMU_OK);
	for (unsigned n = 0; n < 18; n++)
		assert_int_equal(fixture_read(q, MSR_THREADS(n)), 1 + n);
	for (unsigned t = 0; t < 4; t++) {
		spmu_execute_on(q, (uint8_t)t);
		assert_int_equal(fixture_read(q, MSR_IA32_DS_AREA), 0x1000 * (t + 1));
	}
	assert_int_equal(spmu_create(&three, model, &(struct spmu_host){ .siblings = 3 }), SPMU_OK);
	assert_int_equal(spmu_restore_bytes(three, block, spmu_state_bytes(p)), SPMU_EINPUT);
	spmu_destroy(three);
	spmu_destroy(p);
	spmu_destroy(q);
	free(block);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_each_thread_has_its_own_ds_area_debugctl_and_apic, setup,
			teardown),
		cmocka_unit_test_setup_teardown(test_pebs_enable_means_the_thread_that_writes, setup, teardown),
		cmocka_unit_test_setup_teardown(test_a_pmi_interrupts_the_chosen_thread_wherever_it_is, setup,
			teardown),
		cmocka_unit_test_setup_teardown(test_each_thread_s_records_go_into_its_ds_area, setup, teardown),
		cmocka_unit_test_setup_teardown(test_a_saved_state_has_both_threads, setup, teardown),
		cmocka_unit_test_setup_teardown(test_the_extension_is_there_with_more_than_two_threads, setup,
			teardown),
		cmocka_unit_test_setup_teardown(test_any_set_of_threads_and_rings_counts, setup, teardown),
		cmocka_unit_test_setup_teardown(test_any_number_of_running_threads_can_be_chosen, setup, teardown),
		cmocka_unit_test_setup_teardown(test_cycles_of_some_threads_count_once, setup, teardown),
		cmocka_unit_test_setup_teardown(test_a_pmi_interrupts_each_of_four_threads, setup, teardown),
		cmocka_unit_test_setup_teardown(test_records_of_four_threads_go_into_their_ds_areas, setup, teardown),
		cmocka_unit_test_setup_teardown(test_uops_of_any_thread_can_be_tagged, setup, teardown),
		cmocka_unit_test_setup_teardown(test_a_saved_state_has_the_extension, setup, teardown),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
