/* SPDX-License-Identifier: GPL-2.0-or-later
 * Hardware threads that share one NetBurst PMU, whose batches come one thread after the other: a thread that takes an
 * interrupt, or writes a register, is ahead of the cycle that all threads have passed.  Whatever counters count there
 * must not be lost: a handler that reads and presets a counter, as the kernel's does, adds up what a counter without
 * interrupts counts.
 */
#include "netburst_setup.h"

enum { END = 6000, BATCH = 97, MOST = 4 };

/* A sampled counter, of thread `thread`, and what its handler has added up. */
struct job { unsigned counter, thread; uint64_t previous, total; unsigned interrupts; };
static struct {
	struct job job[MOST];
	unsigned jobs;
	uint64_t period;
	bool whole;
	struct spmu_pmi last[MOST];	/* the last interrupt of each thread */
} kernel;

static int setup(void **state)
{
	(void)state;
	nb_setup("netburst");
	memset(&kernel, 0, sizeof kernel);
	return 0;
}

/* Does this thread run in this cycle?  All numbers of running threads occur, none too. */
static bool runs(unsigned thread, unsigned cycle)
{
	static const unsigned long on[] = { 170, 110, 83, 41 }, off[] = { 40, 61, 35, 29 };
	return cycle % (on[thread] + off[thread]) < on[thread];
}

/* The clocks and the instructions (one in each clock) of a thread in [from, to). */
static void run_thread(unsigned thread, unsigned from, unsigned to)
{
	for (unsigned cycle = from; cycle < to; cycle++) {
		unsigned end = cycle;
		while (end < to && runs(thread, end))
			stream_inst(&s, 0x1000 * (thread + 1) + end, 0, 0, end)->hw_thread = (uint8_t)thread, end++;
		if (end > cycle)
			stream_cycles(&s, thread, 3, cycle, end);
		cycle = end;
	}
}

/* The threads take turns, a batch each.  `after` is called for each of them. */
static void run_all(struct spmu *p, unsigned threads, void (*after)(struct spmu *p, unsigned thread, unsigned reached))
{
	for (unsigned from = 0; from < END; from += BATCH)
		for (unsigned t = 0; t < threads; t++) {
			const unsigned to = from + BATCH < END ? from + BATCH : END;
			stream_free(&s);
			run_thread(t, from, to);
			stream_send(&s, 0, s.n, from, t + 1 < threads ? from : to, to == END && t + 1 == threads, p);
			if (after)
				after(p, t, to);
		}
}

/* The handler: what Linux does with a counter whose OVF flag is set. */
static void on_pmi(void *context, struct spmu *p, const struct spmu_pmi *pmi, const struct spmu_batch *b)
{
	(void)context, (void)b;
	spmu_apic_write(p, SPMU_APIC_LVT_PC, 0x400);
	kernel.last[pmi->hw_thread] = *pmi;
	for (struct job *j = kernel.job; j < kernel.job + kernel.jobs; j++) {
		const uint64_t cccr = fixture_read(p, NB_CCCR(j->counter));
		if (!(cccr & SPMU_CCCR_OVF) || (!kernel.whole && j->thread != pmi->hw_thread))
			continue;
		nb_write(p, NB_CCCR(j->counter), cccr & ~(uint64_t)SPMU_CCCR_OVF);
		j->total += (nb_count(p, j->counter) - j->previous) & NB_MASK;
		j->previous = -kernel.period & NB_MASK;
		j->interrupts++;
		nb_write(p, NB_COUNTER(j->counter), j->previous);
	}
}

static struct spmu *create(unsigned threads, unsigned latency)
{
	struct spmu *p = netburst_pmu(model, &(struct spmu_host){ .siblings = (uint8_t)threads, .pmi = on_pmi,
		.pmi_latency = latency });
	for (unsigned t = threads; t-- > 0;) {
		assert_int_equal(spmu_execute_on(p, (uint8_t)t), SPMU_OK);
		assert_int_equal(spmu_apic_write(p, SPMU_APIC_LVT_PC, 0x400), SPMU_OK);
	}
	return p;
}

/* Programs a counter of clocks of the threads in `set` while as many threads run as `active` says. */
static void program(struct spmu *p, unsigned threads, unsigned counter, unsigned set, unsigned active, bool sampled)
{
	if (threads > 2) {
		uint64_t classes = 0;
		for (unsigned t = 0; t < threads; t++)
			classes |= set >> t & 1 ? SPMU_THREADS_USR(t) : 0;
		nb_write(p, MSR_THREADS(counter), classes | SPMU_THREADS_ACTIVE(active) |
			SPMU_THREADS_OVF_PMI(sampled ? set & -set : 0));
		nb_program(p, counter, "global_power_events.RUNNING", 0, 0);
		return;
	}
	const struct spmu_event *e = fixture_event(p->model, "global_power_events.RUNNING");
	const unsigned field = active == 7 ? 3 : active == 4 ? 2 : active == 2 ? 1 : 0;
	nb_write(p, spmu_netburst_escr(p->model, counter, e->escr_select),
		nb_escr(e, (set & 1 ? SPMU_ESCR_T0_USR : 0) | (set & 2 ? SPMU_ESCR_T1_USR : 0)));
	nb_write(p, NB_CCCR(counter), SPMU_CCCR_ENABLE | SPMU_CCCR_SELECT(e->escr_select) | SPMU_CCCR_ACTIVE(field) |
		(sampled ? set & 1 ? SPMU_CCCR_OVF_PMI_T0 : SPMU_CCCR_OVF_PMI_T1 : 0));
}

/* Clocks of the threads in `set` while as many threads run as `active` says. */
static uint64_t clocks(unsigned threads, unsigned set, unsigned active)
{
	uint64_t n = 0;
	for (unsigned cycle = 0; cycle < END; cycle++) {
		unsigned running = 0, of_set = 0;
		for (unsigned t = 0; t < threads; t++)
			if (runs(t, cycle)) {
				running++;
				of_set |= set >> t & 1;
			}
		n += of_set && active >> running & 1;
	}
	return n;
}

/* The counter's clocks so far: of periods that are over, and of the one that is not. */
static uint64_t counted(const struct spmu *p, const struct job *j)
{
	return j->total + ((nb_count(p, j->counter) - j->previous) & NB_MASK);
}

/* Runs all threads with sampled counters: with `whole`, one for all threads, else one for each. */
static void sample(unsigned threads, unsigned active, bool whole, unsigned period, unsigned latency)
{
	struct spmu *p = create(threads, latency);
	const unsigned all = (1u << threads) - 1;
	memset(&kernel, 0, sizeof kernel);
	kernel.period = period;
	kernel.whole = whole;
	kernel.jobs = whole ? 1 : threads;
	for (unsigned j = 0; j < kernel.jobs; j++) {
		struct job *job = &kernel.job[j];
		*job = (struct job){ .counter = threads > 2 ? j : 2 * j, .thread = j,
			.previous = -kernel.period & NB_MASK };
		program(p, threads, job->counter, whole ? all : 1u << j, active, true);
		nb_write(p, NB_COUNTER(job->counter), job->previous);
	}
	run_all(p, threads, NULL);
	for (unsigned j = 0; j < kernel.jobs; j++) {
		const struct job *job = &kernel.job[j];
		const uint64_t want = clocks(threads, whole ? all : 1u << j, active);
		const bool rare = want < 2 * (period + latency);
		if (counted(p, job) != want || (!job->interrupts && !rare))
			fail_msg("%u threads, ACTIVE %#x, thread %u: %u interrupts every %u, %u later: "
				"%lu clocks, want %lu", threads, active, j, job->interrupts, period, latency,
				(unsigned long)counted(p, job), (unsigned long)want);
	}
	spmu_destroy(p);
}

/* ACTIVE THREAD with each number of running threads, and with any. */
static void test_sampled_counters_add_up_however_many_threads_run(void **state)
{
	(void)state;
	static const unsigned period[] = { 23, 61, 499 }, latency[] = { 0, 5, 60 };
	for (unsigned threads = 2; threads <= MOST; threads += 2)
		for (unsigned n = 0; n <= threads + 1; n++)
			for (unsigned k = 0; k < 18; k++)
				sample(threads, n <= threads ? 1u << n : (2u << threads) - 1, k & 1, period[k / 2 % 3],
					latency[k / 6]);
}

/* T1 is ahead of T0, and T0's counter looks at both: what T1 does with counters of its own changes nothing about it. */
static void write_own(struct spmu *p, unsigned thread, unsigned reached)
{
	(void)reached;
	assert_int_equal(spmu_execute_on(p, (uint8_t)thread), SPMU_OK);
	nb_write(p, NB_COUNTER(6), 0);
	nb_write(p, NB_CCCR(6), fixture_read(p, NB_CCCR(6)) ^ SPMU_CCCR_ENABLE);
	nb_write(p, NB_CCCR(12), fixture_read(p, NB_CCCR(12)) ^ SPMU_CCCR_THRESHOLD(3));
}

static void test_a_write_of_one_thread_leaves_the_counts_of_others(void **state)
{
	(void)state;
	for (unsigned threads = 2; threads <= MOST; threads += 2)
		for (unsigned n = 1; n <= threads; n++) {
			struct spmu *p = create(threads, 0);
			program(p, threads, 0, 1, 1u << n, false);
			program(p, threads, 2, 2, 1u << n, false);
			run_all(p, threads, write_own);
			assert_int_equal(nb_count(p, 0), clocks(threads, 1, 1u << n));
			assert_int_equal(nb_count(p, 2), clocks(threads, 2, 1u << n));
			spmu_destroy(p);
		}
}

/* T1 stands still from cycle 485 on, and the watermark with it, for longer than the PMU keeps cycles.  spmu_pass says
 * so.  What T1 does when it goes on counts, too. */
static void test_a_thread_that_stands_still_holds_up_nobody(void **state)
{
	(void)state;
	enum { STOP = 5 * BATCH, LONG = 2500 * BATCH };
	struct spmu *p = create(2, 0);
	uint64_t want = 0;
	nb_program(p, 12, "instr_retired.NBOGUSNTAG", SPMU_ESCR_T0_USR | SPMU_ESCR_T1_USR, 0);
	const uint64_t cccr = fixture_read(p, NB_CCCR(12)) & ~(uint64_t)SPMU_CCCR_ACTIVE(3);
	nb_write(p, NB_CCCR(12), cccr | SPMU_CCCR_ACTIVE(1));
	for (unsigned from = 0; from < LONG; from += BATCH) {
		for (unsigned t = 0; t < (from < STOP ? 2 : 1); t++) {
			stream_free(&s);
			run_thread(t, from, from + BATCH);
			stream_send(&s, 0, s.n, from, from < STOP ? from : STOP, false, p);
		}
		if (from > STOP)
			spmu_pass(p, from);
	}
	for (unsigned cycle = 0; cycle < LONG; cycle++)
		want += runs(0, cycle) + (cycle < STOP && runs(1, cycle)) == 1;
	stream_free(&s);
	run_thread(1, LONG, LONG + 10);
	for (unsigned cycle = LONG; cycle < LONG + 10; cycle++)
		want += runs(1, cycle);
	stream_send(&s, 0, s.n, STOP, LONG + 10, true, p);
	assert_int_equal(nb_count(p, 12), want);
	spmu_pass(p, UINT64_MAX);	/* beyond any run: ignored */
	spmu_destroy(p);
}

/* T1 ends at cycle STOP, while an interrupt is on its way to it, and T0 runs on.  Returns the interrupts that T0 takes,
 * for clocks in which one thread runs.  with_t1: T1 has a sampled counter, too, and one of T0's interrupts T1. */
static unsigned one_ends(bool with_t1)
{
	enum { STOP = 4 * BATCH, PERIOD = 61, LATENCY = 40 };
	struct spmu *p = create(2, LATENCY);
	unsigned at_end = 0;
	memset(&kernel, 0, sizeof kernel);
	kernel.period = PERIOD;
	kernel.jobs = with_t1 ? 3 : 1;
	for (unsigned j = 0; j < kernel.jobs; j++) {
		struct job *job = &kernel.job[j];
		*job = (struct job){ .counter = j < 2 ? 2 * j : 12, .thread = j > 0,
			.previous = -(uint64_t)PERIOD & NB_MASK };
		program(p, 2, job->counter, j == 1 ? 2 : 1, j ? 7 : 2, true);
		if (j == 1)	/* it overflows LATENCY / 2 cycles before the end */
			job->previous = (-(uint64_t)PERIOD + 31) & NB_MASK;
		if (j == 2)
			nb_write(p, NB_CCCR(12), (fixture_read(p, NB_CCCR(12)) & ~(uint64_t)SPMU_CCCR_OVF_PMI_T0) |
				SPMU_CCCR_OVF_PMI_T1);
		nb_write(p, NB_COUNTER(job->counter), job->previous);
	}
	for (unsigned from = 0; from < END; from += BATCH)
		for (unsigned t = 0; t < (from < STOP ? 2 : 1); t++) {
			const unsigned to = from + BATCH < END ? from + BATCH : END;
			stream_free(&s);
			run_thread(t, from, to);
			if (from >= STOP)
				spmu_leave(p, 1);
			if (from == STOP)
				at_end = kernel.job[1].interrupts + kernel.job[2].interrupts;
			stream_send(&s, 0, s.n, from, t == 0 && from < STOP ? from : to, to == END, p);
		}
	uint64_t want = 0;
	for (unsigned cycle = 0; cycle < END; cycle++)
		want += runs(0, cycle) && !(cycle < STOP && runs(1, cycle));
	assert_int_equal(counted(p, &kernel.job[0]), want);
	if (with_t1) {
		assert_int_equal(kernel.last[1].ip, 0x2000 + STOP - 1);
		assert_int_equal(kernel.last[1].behind, 1);
		assert_in_range(kernel.last[1].overflow_cycle, STOP - LATENCY, STOP - 1);
		assert_in_range(kernel.last[1].cycle, kernel.last[1].overflow_cycle, STOP);
		assert_in_range(kernel.job[1].interrupts + kernel.job[2].interrupts, at_end + 1, at_end + 2);
	}
	spmu_leave(p, 200);	/* no thread of it: ignored */
	const unsigned n = kernel.job[0].interrupts;
	spmu_destroy(p);
	return n;
}

static void test_an_interrupt_of_a_thread_that_has_ended_holds_up_nobody(void **state)
{
	(void)state;
	const unsigned alone = one_ends(false);
	assert_in_range(alone, 3 * END / 4 / (61 + 40), END / 61);	/* a period begins when the handler runs */
	assert_int_equal(one_ends(true), alone);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_sampled_counters_add_up_however_many_threads_run, setup, teardown),
		cmocka_unit_test_setup_teardown(test_a_write_of_one_thread_leaves_the_counts_of_others, setup,
			teardown),
		cmocka_unit_test_setup_teardown(test_a_thread_that_stands_still_holds_up_nobody, setup, teardown),
		cmocka_unit_test_setup_teardown(test_an_interrupt_of_a_thread_that_has_ended_holds_up_nobody, setup,
			teardown),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
