/* SPDX-License-Identifier: GPL-2.0-or-later
 * Overflow and the performance monitoring interrupt: at which instruction it is taken, for every latency and however
 * the stream is cut into batches; freeze; a handler's changes take effect from that instruction on.
 */
#include "pmu_fixture.h"

enum { MAX_SAMPLES = 4000 };
struct log {
	struct spmu_pmi pmi[MAX_SAMPLES];
	unsigned n;
	uint64_t reload;		/* written to PMC0 in the handler, unless 0 */
	uint64_t status_seen;
	void (*more)(struct spmu *p, struct log *l);
	uint64_t other;
};

static void handler(void *context, struct spmu *p, const struct spmu_pmi *pmi, const struct spmu_batch *b)
{
	struct log *l = context;
	assert_true(pmi->record <= b->count);
	if (pmi->record < b->count && !pmi->behind)
		assert_int_equal(b->records[pmi->record].ip, pmi->ip);
	if (l->n < MAX_SAMPLES)
		l->pmi[l->n] = *pmi;
	l->n++;
	l->status_seen = pmi->status;
	assert_int_equal(fixture_read(p, MSR_IA32_PERF_GLOBAL_STATUS), pmi->status);
	spmu_apic_write(p, SPMU_APIC_LVT_PC, 0x400);
	spmu_wrmsr(p, MSR_IA32_PERF_GLOBAL_STATUS_RESET, pmi->status);
	if (l->reload)
		spmu_wrmsr(p, MSR_IA32_PMC0, l->reload);
	if (l->more)
		l->more(p, l);
}

static struct spmu_model *model(void)
{
	static struct spmu_model *m;
	if (!m)
		m = fixture_model("skylake");
	return m;
}

static struct spmu *sampler(struct log *l, uint32_t latency, const char *event, uint64_t period)
{
	struct spmu_host host = { .context = l, .pmi = handler, .pmi_latency = latency };
	struct spmu *p = fixture_pmu(model(), &host);
	fixture_program(p, 0, event, SPMU_EVTSEL_INT);
	l->reload = (uint64_t)-period;
	assert_int_equal(spmu_wrmsr(p, MSR_IA32_PMC0, l->reload), SPMU_OK);
	return p;
}

/* Adds ten instructions that retire at cycles 10, 20, ..., 100. */
static void ten(struct stream *s)
{
	for (unsigned i = 0; i < 10; i++)
		stream_inst(s, 0x1000 + i, 0, 0, 10 * (i + 1));
	stream_signal(s, SPMU_SIG_CYCLES, 0, 101, 1);
}

static void test_the_interrupt_falls_on_the_first_instruction_that_has_not_retired(void **state)
{
	(void)state;
	/* the third instruction overflows, cycle 30 */
	static const struct { uint32_t latency; uint64_t ip, cycle; } rows[] = {
		{ 0, 0x1003, 30 }, { 1, 0x1003, 31 }, { 9, 0x1003, 39 }, { 10, 0x1004, 40 }, { 11, 0x1004, 41 },
		{ 35, 0x1006, 65 },
		{ 69, 0x1009, 99 },
	};
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		struct stream s = { 0 };
		struct log l = { 0 };
		struct spmu *p = sampler(&l, rows[i].latency, "INST_RETIRED.ANY_P", 3);
		l.reload = 0;	/* one sample only */
		ten(&s);
		stream_send_all(&s, p);
		assert_int_equal(l.n, 1);
		assert_int_equal(l.pmi[0].ip, rows[i].ip);
		assert_int_equal(l.pmi[0].cycle, rows[i].cycle);
		assert_int_equal(l.pmi[0].overflow_cycle, 30);
		assert_int_equal(l.pmi[0].status, 1);
		assert_int_equal(fixture_read(p, MSR_IA32_PMC0), 7);	/* it wrapped to 0 and counted on */
		spmu_destroy(p);
		stream_free(&s);
	}
}

static void test_an_interrupt_may_fall_into_a_later_batch(void **state)
{
	(void)state;
	struct stream s = { 0 };
	struct log l = { 0 };
	struct spmu *p = sampler(&l, 45, "INST_RETIRED.ANY_P", 3);
	l.reload = 0;
	ten(&s);
	stream_send(&s, 0, 4, 0, 40, false, p);
	assert_int_equal(l.n, 0);
	assert_int_equal(fixture_read(p, MSR_IA32_PERF_GLOBAL_STATUS), 1);
	stream_send(&s, 4, 6, 40, 60, false, p);
	assert_int_equal(l.n, 0);
	stream_send(&s, 6, 11, 0, 200, true, p);
	assert_int_equal(l.n, 1);
	assert_int_equal(l.pmi[0].ip, 0x1007);
	assert_int_equal(l.pmi[0].record, 1);
	assert_int_equal(l.pmi[0].cycle, 75);
	spmu_destroy(p);
	stream_free(&s);
}

static void test_an_instruction_in_mid_retirement_completes_first(void **state)
{
	(void)state;
	struct stream s = { 0 };
	struct log l = { 0 };
	struct spmu *p = sampler(&l, 5, "INST_RETIRED.ANY_P", 1);
	l.reload = 0;
	stream_inst(&s, 0x10, 0, 0, 10);
	for (unsigned k = 0; k < 4; k++) {	/* four uops, retiring at 12, 14, 16, 18 */
		struct spmu_record *r = stream_inst(&s, 0x20, 0, 0, 12 + 2 * k);
		r->is &= ~((k ? SPMU_IS(INST_BEGIN) : 0) | (k < 3 ? SPMU_IS(INST_END) : 0));
	}
	stream_inst(&s, 0x30, 0, 0, 18);
	stream_inst(&s, 0x40, 0, 0, 30);
	stream_send_all(&s, p);
	assert_int_equal(l.n, 1);
	assert_int_equal(l.pmi[0].ip, 0x30);
	assert_int_equal(l.pmi[0].cycle, 18);
	assert_int_equal(l.pmi[0].record, 5);
	spmu_destroy(p);
	stream_free(&s);
}

/* A pending interrupt stays at its place although another counter overflows in the very cycle in which that
 * instruction completes and the next one retires. */
static void test_another_overflow_does_not_move_a_pending_interrupt(void **state)
{
	(void)state;
	for (unsigned retired = 0; retired < 2; retired++) {
		struct stream s = { 0 };
		struct log l = { 0 };
		struct spmu *p = sampler(&l, 5, "INST_RETIRED.ANY_P", 1);
		l.reload = 0;
		fixture_program(p, 1, retired ? "INST_RETIRED.ANY_P" : "CPU_CLK_UNHALTED.THREAD_P", SPMU_EVTSEL_INT);
		assert_int_equal(spmu_wrmsr(p, MSR_IA32_PMC0 + 1, retired ? (uint64_t)-3 : (uint64_t)-19), SPMU_OK);
		stream_inst(&s, 0x10, 0, 0, 10);
		for (unsigned k = 0; k < 4; k++) {
			struct spmu_record *r = stream_inst(&s, 0x20, 0, 0, 12 + 2 * k);
			r->is &= ~((k ? SPMU_IS(INST_BEGIN) : 0) | (k < 3 ? SPMU_IS(INST_END) : 0));
		}
		stream_inst(&s, 0x30, 0, 0, 18);
		stream_inst(&s, 0x40, 0, 0, 30);
		stream_signal(&s, SPMU_SIG_CYCLES, 0, 31, 1);
		stream_send_all(&s, p);
		assert_int_equal(l.pmi[0].ip, 0x30);
		assert_int_equal(l.pmi[0].cycle, 18);
		assert_int_equal(l.pmi[0].status, retired ? 1 : 3);	/* 0x30 retires after the interrupt */
		assert_int_equal(l.n, retired ? 2 : 1);
		spmu_destroy(p);
		stream_free(&s);
	}
}

static void test_a_pending_interrupt_is_taken_at_the_end_of_the_stream(void **state)
{
	(void)state;
	struct stream s = { 0 };
	struct log l = { 0 };
	struct spmu *p = sampler(&l, 500, "INST_RETIRED.ANY_P", 3);
	l.reload = 0;
	ten(&s);
	stream_send_all(&s, p);
	assert_int_equal(l.n, 1);
	assert_int_equal(l.pmi[0].record, s.n);
	assert_int_equal(l.pmi[0].ip, 0x1009);
	spmu_destroy(p);
	stream_free(&s);
}

static void test_an_overflow_without_int_sets_the_status_bit_only(void **state)
{
	(void)state;
	struct stream s = { 0 };
	struct log l = { 0 };
	struct spmu_host host = { .context = &l, .pmi = handler };
	struct spmu *p = fixture_pmu(model(), &host);
	fixture_program(p, 5, "INST_RETIRED.ANY_P", 0);
	assert_int_equal(spmu_wrmsr(p, MSR_IA32_A_PMC0 + 5, PMU_COUNTER_MASK - 3), SPMU_OK);
	ten(&s);
	stream_send_all(&s, p);
	assert_int_equal(l.n, 0);
	assert_int_equal(fixture_read(p, MSR_IA32_PERF_GLOBAL_STATUS), 1 << 5);
	assert_int_equal(fixture_read(p, MSR_IA32_PMC0 + 5), 6);
	spmu_destroy(p);
	stream_free(&s);
}

static void test_a_fixed_counter_interrupts_too(void **state)
{
	(void)state;
	struct stream s = { 0 };
	struct log l = { 0 };
	struct spmu_host host = { .context = &l, .pmi = handler, .pmi_latency = 2 };
	struct spmu *p = fixture_pmu(model(), &host);
	assert_int_equal(spmu_wrmsr(p, MSR_IA32_FIXED_CTR_CTRL, 0xb0), SPMU_OK); /* fixed 1: cycles, both rings, PMI */
	assert_int_equal(spmu_wrmsr(p, MSR_IA32_FIXED_CTR0 + 1, PMU_COUNTER_MASK - 24), SPMU_OK);
	ten(&s);
	stream_send_all(&s, p);
	assert_int_equal(l.n, 1);
	assert_int_equal(l.pmi[0].overflow_cycle, 24);	/* the 25th cycle of 0, 1, .. */
	assert_int_equal(l.pmi[0].ip, 0x1002);
	assert_int_equal(l.pmi[0].cycle, 26);
	assert_int_equal(l.pmi[0].status, UINT64_C(1) << 33);
	spmu_destroy(p);
	stream_free(&s);
}

/* ---- against a naive walk, cut at random ---------------------------------------------------------------------- */

struct expected { uint64_t ip[MAX_SAMPLES], cycle[MAX_SAMPLES]; unsigned n; };

/* Returns the first record, from `from` on, that begins an instruction and retires after `arrival`; s->n: none. */
static size_t naive_boundary(const struct stream *s, size_t from, uint64_t arrival, uint64_t *cycle)
{
	*cycle = arrival;
	for (size_t i = 0; i < s->n; i++) {
		const struct spmu_record *r = &s->r[i];
		if (r->kind != SPMU_REC_UOP || !(r->did & SPMU_DID(RETIRED)))
			continue;
		if (i >= from && (r->is & SPMU_IS(INST_BEGIN)) && s->at[i][5] > arrival)
			return i;
		if (s->at[i][5] > *cycle)
			*cycle = s->at[i][5];
	}
	return s->n;
}

static void naive_instructions(const struct stream *s, uint64_t period, uint64_t latency, struct expected *x)
{
	uint64_t left = period;
	for (size_t i = 0; i < s->n; i++) {
		const struct spmu_record *r = &s->r[i];
		if (r->kind != SPMU_REC_UOP || !(r->did & SPMU_DID(RETIRED)))
			continue;
		uint64_t n = !!(r->is & SPMU_IS(INST_END)) + !!(r->is & SPMU_IS(INST_END2));
		if (n < left) {
			left -= n;
			continue;
		}
		uint64_t cycle;
		size_t j = naive_boundary(s, i + 1, s->at[i][5] + latency, &cycle);
		if (j == s->n)
			return;		/* the end of the stream is tested elsewhere */
		x->ip[x->n] = s->r[j].ip;
		x->cycle[x->n++] = cycle;
		left = period;
		i = j - 1;
	}
}

/* As above, for an event that occurs v[cycle] times in each cycle. */
static void naive_cycles(const struct stream *s, const int64_t *v, uint64_t cycles, uint64_t period, uint64_t latency,
	struct expected *x)
{
	uint64_t sum = 0;
	for (uint64_t c = 0; c < cycles; c++) {
		sum += (uint64_t)v[c];
		if (sum < period)
			continue;
		uint64_t cycle;
		size_t j = naive_boundary(s, 0, c + latency, &cycle);
		if (j == s->n)
			return;
		x->ip[x->n] = s->r[j].ip;
		x->cycle[x->n++] = cycle;
		sum = 0;
		c = cycle;	/* counting starts again after the interrupt */
	}
}

static void check_against(const char *event, int which, bool may_be_behind)
{
	static struct expected x;
	static struct log l;
	uint64_t rng = 31 + (uint64_t)which;
	unsigned samples = 0;
	for (unsigned round = 0; round < 24; round++) {
		struct stream s = { 0 };
		uint64_t cycles = stream_random(&s, 1000 + round, 2500), period = 5 + draw(&rng, 60);
		uint32_t latency = (uint32_t)(draw(&rng, 3) ? draw(&rng, 50) : draw(&rng, 700));
		const struct spmu_event *e = fixture_event(model(), event);
		memset(&x, 0, sizeof x);
		memset(&l, 0, sizeof l);
		if (which == 0) {
			naive_instructions(&s, period, latency, &x);
		} else {
			const struct pmu_expr *expr = &((const struct pmu_row *)e)->expr;
			int64_t *v = naive_source(model(), e, &s, &model()->source[expr->term[0].source], cycles, 3);
			if (e->cmask)
				for (uint64_t c = 0; c < cycles; c++)
					v[c] = v[c] >= e->cmask;
			naive_cycles(&s, v, cycles, period, latency, &x);
			free(v);
		}
		struct spmu *p = sampler(&l, latency, event, period);
		stream_send_cut(&s, p, rng, 1 + draw(&rng, 1000));
		samples += x.n;
		for (unsigned i = 0; i < x.n; i++) {
			if (i >= l.n || l.pmi[i].ip != x.ip[i] || l.pmi[i].cycle != x.cycle[i])
				fail_msg("%s, period %llu, latency %u, round %u, sample %u of %u (%u taken): ip %llx "
					"cycle %llu, expected ip "
					"%llx cycle %llu", event, (unsigned long long)period, latency, round, i, x.n,
					l.n,
					(unsigned long long)l.pmi[i].ip, (unsigned long long)l.pmi[i].cycle,
					(unsigned long long)x.ip[i], (unsigned long long)x.cycle[i]);
			if (!may_be_behind)
				assert_int_equal(l.pmi[i].behind, 0);
		}
		assert_true(l.n <= x.n + 1);	/* one more may wait at the end */
		spmu_destroy(p);
		stream_free(&s);
	}
	assert_true(samples > 24 * 10);	/* a round may have few events, so few samples */
}

static void test_samples_of_instructions_fall_where_a_naive_walk_puts_them(void **state)
{
	(void)state;
	check_against("INST_RETIRED.ANY_P", 0, false);
}

static void test_samples_of_events_out_of_order_fall_where_a_naive_walk_puts_them(void **state)
{
	(void)state;
	check_against("UOPS_EXECUTED.THREAD", 1, true);
	check_against("UOPS_EXECUTED.THREAD_CYCLES_GE_1", 2, true);
	check_against("UOPS_ISSUED.ANY", 3, true);
	check_against("L1D_PEND_MISS.PENDING", 4, true);
}

static void test_samples_of_cycles_fall_where_a_naive_walk_puts_them(void **state)
{
	(void)state;
	check_against("CPU_CLK_UNHALTED.THREAD_P", 5, true);
}

/* ---- freeze and handlers ---------------------------------------------------------------------------------------- */

static void test_freeze_on_pmi_stops_all_counters_at_the_overflow(void **state)
{
	(void)state;
	struct stream s = { 0 };
	struct log l = { 0 };
	struct spmu_host host = { .context = &l, .pmi = handler, .pmi_latency = 35 };
	struct spmu *p = fixture_pmu(model(), &host);
	fixture_program(p, 0, "INST_RETIRED.ANY_P", SPMU_EVTSEL_INT);
	fixture_program(p, 1, "CPU_CLK_UNHALTED.THREAD_P", 0);
	fixture_program(p, 2, "BR_INST_RETIRED.ALL_BRANCHES", 0);
	fixture_program(p, 3, "UOPS_EXECUTED.THREAD_CYCLES_GE_1", 0);
	assert_int_equal(spmu_wrmsr(p, MSR_IA32_DEBUGCTL, 1 << 12), SPMU_OK);
	assert_int_equal(spmu_wrmsr(p, MSR_IA32_PMC0, (uint64_t)-3), SPMU_OK);
	for (unsigned i = 0; i < 10; i++)
		stream_inst(&s, 0x1000 + i, SPMU_IS(BRANCH), 0, 10 * (i + 1));
	stream_signal(&s, SPMU_SIG_CYCLES, 0, 101, 1);
	stream_send_all(&s, p);
	assert_int_equal(l.n, 1);
	assert_int_equal(l.status_seen, 1 | STATUS_CTR_FRZ);
	assert_int_equal(l.pmi[0].ip, 0x1006);			/* 30 + 35 = 65 */
	assert_int_equal(fixture_read(p, MSR_IA32_PMC0), 4);	/* 0x1006 .. 0x1009 behind the handler's reset */
	assert_int_equal(fixture_read(p, MSR_IA32_PMC0 + 1), 31 + 35);	/* cycles 0..30 and 66..100 */
	assert_int_equal(fixture_read(p, MSR_IA32_PMC0 + 2), 3 + 4);
	/* dispatch is two cycles earlier: 8,18,28 and 68..98 */
	assert_int_equal(fixture_read(p, MSR_IA32_PMC0 + 3), 3 + 4);
	spmu_destroy(p);
	stream_free(&s);
}

static void test_without_a_handler_a_frozen_pmu_stays_frozen(void **state)
{
	(void)state;
	struct stream s = { 0 };
	struct spmu *p = fixture_pmu(model(), NULL);
	fixture_program(p, 0, "INST_RETIRED.ANY_P", SPMU_EVTSEL_INT);
	fixture_program(p, 1, "CPU_CLK_UNHALTED.THREAD_P", 0);
	assert_int_equal(spmu_wrmsr(p, MSR_IA32_DEBUGCTL, 1 << 12), SPMU_OK);
	assert_int_equal(spmu_wrmsr(p, MSR_IA32_PMC0, (uint64_t)-3), SPMU_OK);
	ten(&s);
	stream_send_all(&s, p);
	assert_int_equal(fixture_read(p, MSR_IA32_PERF_GLOBAL_STATUS), 1 | STATUS_CTR_FRZ);
	assert_int_equal(fixture_read(p, MSR_IA32_PMC0), 0);
	assert_int_equal(fixture_read(p, MSR_IA32_PMC0 + 1), 31);
	spmu_destroy(p);
	stream_free(&s);
}

static void start_branches(struct spmu *p, struct log *l)
{
	(void)l;
	fixture_program(p, 4, "BR_INST_RETIRED.ALL_BRANCHES", 0);
	fixture_program(p, 5, "UOPS_EXECUTED.THREAD_CYCLES_GE_1", 0);
	fixture_program(p, 6, "CPU_CLK_UNHALTED.THREAD_P", 0);
	fixture_program(p, 7, "UOPS_ISSUED.ANY", 0);
}

static void test_what_a_handler_programs_counts_from_there_on(void **state)
{
	(void)state;
	struct stream s = { 0 };
	struct log l = { .more = start_branches };
	struct spmu_host host = { .context = &l, .pmi = handler, .pmi_latency = 35 };
	struct spmu *p = fixture_pmu(model(), &host);
	fixture_program(p, 0, "INST_RETIRED.ANY_P", SPMU_EVTSEL_INT);
	assert_int_equal(spmu_wrmsr(p, MSR_IA32_PMC0, (uint64_t)-3), SPMU_OK);
	for (unsigned i = 0; i < 10; i++)
		stream_inst(&s, 0x1000 + i, SPMU_IS(BRANCH), 0, 10 * (i + 1));
	stream_signal(&s, SPMU_SIG_CYCLES, 0, 101, 1);
	stream_send_all(&s, p);
	assert_int_equal(l.n, 1);
	assert_int_equal(l.pmi[0].cycle, 65);
	assert_int_equal(fixture_read(p, MSR_IA32_PMC0 + 4), 4);	/* retired at 70, 80, 90, 100 */
	assert_int_equal(fixture_read(p, MSR_IA32_PMC0 + 5), 4);	/* dispatched at 68, .. 98 */
	assert_int_equal(fixture_read(p, MSR_IA32_PMC0 + 6), 35);	/* cycles 66 .. 100 */
	assert_int_equal(fixture_read(p, MSR_IA32_PMC0 + 7), 4);	/* issued at 66, .. 96 */
	spmu_destroy(p);
	stream_free(&s);
}

static void stop_counting(struct spmu *p, struct log *l)
{
	(void)l;
	assert_int_equal(spmu_wrmsr(p, MSR_IA32_PERF_GLOBAL_CTRL, 0), SPMU_OK);
}

static void test_what_a_handler_stops_has_counted_up_to_there(void **state)
{
	(void)state;
	struct stream s = { 0 };
	struct log l = { .more = stop_counting };
	struct spmu_host host = { .context = &l, .pmi = handler, .pmi_latency = 35 };
	struct spmu *p = fixture_pmu(model(), &host);
	fixture_program(p, 0, "INST_RETIRED.ANY_P", SPMU_EVTSEL_INT);
	start_branches(p, &l);
	assert_int_equal(spmu_wrmsr(p, MSR_IA32_PMC0, (uint64_t)-3), SPMU_OK);
	for (unsigned i = 0; i < 10; i++)
		stream_inst(&s, 0x1000 + i, SPMU_IS(BRANCH), 0, 10 * (i + 1));
	stream_signal(&s, SPMU_SIG_CYCLES, 0, 101, 1);
	stream_send_all(&s, p);
	assert_int_equal(fixture_read(p, MSR_IA32_PMC0 + 4), 6);
	assert_int_equal(fixture_read(p, MSR_IA32_PMC0 + 5), 6);
	assert_int_equal(fixture_read(p, MSR_IA32_PMC0 + 6), 66);
	assert_int_equal(fixture_read(p, MSR_IA32_PMC0 + 7), 6);
	spmu_destroy(p);
	stream_free(&s);
}

static void toggle(struct spmu *p, struct log *l)
{
	(void)l;
	uint64_t on = fixture_read(p, MSR_IA32_PERF_GLOBAL_CTRL);
	assert_int_equal(spmu_wrmsr(p, MSR_IA32_PERF_GLOBAL_CTRL, 0), SPMU_OK);
	assert_int_equal(spmu_wrmsr(p, MSR_IA32_PERF_GLOBAL_CTRL, on), SPMU_OK);
}

/* A kernel's handler clears and sets IA32_PERF_GLOBAL_CTRL. It takes no simulated time, so no event is lost. */
static void test_stopping_and_starting_in_a_handler_loses_nothing(void **state)
{
	(void)state;
	struct stream s = { 0 };
	uint64_t cycles = stream_random(&s, 12, 3000);
	static struct log l;
	memset(&l, 0, sizeof l);
	struct spmu *p = sampler(&l, 30, "INST_RETIRED.ANY_P", 50);
	l.more = toggle;
	static const char *const names[] = { "UOPS_EXECUTED.THREAD_CYCLES_GE_2", "CYCLE_ACTIVITY.STALLS_L1D_MISS",
		"RS_EVENTS.EMPTY_END",
		"UOPS_ISSUED.STALL_CYCLES", "L1D_PEND_MISS.PENDING", "BR_INST_RETIRED.NEAR_TAKEN" };
	for (unsigned k = 0; k < 6; k++)
		fixture_program(p, k + 1, names[k], 0);
	stream_send_cut(&s, p, 9, 1000);
	assert_true(l.n > 10);
	for (unsigned k = 0; k < 6; k++) {
		const struct spmu_event *e = fixture_event(model(), names[k]);
		assert_int_equal(fixture_read(p, MSR_IA32_PMC0 + k + 1),
			naive_count(model(), &s, (const struct pmu_row *)e, cycles, 3, e->cmask, e->inv, e->edge));
	}
	spmu_destroy(p);
	stream_free(&s);
}

static void test_two_overflows_before_the_interrupt_are_one_interrupt(void **state)
{
	(void)state;
	struct stream s = { 0 };
	struct log l = { 0 };
	struct spmu_host host = { .context = &l, .pmi = handler, .pmi_latency = 35 };
	struct spmu *p = fixture_pmu(model(), &host);
	fixture_program(p, 0, "INST_RETIRED.ANY_P", SPMU_EVTSEL_INT);
	fixture_program(p, 1, "INST_RETIRED.ANY_P", SPMU_EVTSEL_INT);
	assert_int_equal(spmu_wrmsr(p, MSR_IA32_PMC0, (uint64_t)-3), SPMU_OK);
	assert_int_equal(spmu_wrmsr(p, MSR_IA32_PMC0 + 1, (uint64_t)-5), SPMU_OK);
	ten(&s);
	stream_send_all(&s, p);
	assert_int_equal(l.n, 1);
	assert_int_equal(l.status_seen, 3);
	assert_int_equal(l.pmi[0].overflow_cycle, 30);
	spmu_destroy(p);
	stream_free(&s);
}

static void test_events_below_the_first_retirement_name_an_instruction_of_an_earlier_batch(void **state)
{
	(void)state;
	struct stream s = { 0 };
	struct log l = { 0 };
	struct spmu *p = sampler(&l, 1, "L1D.REPLACEMENT", 1);
	l.reload = 0;
	for (unsigned i = 0; i < 3; i++)
		stream_inst(&s, 0x1000 + i, 0, 0, 100 + 10 * i);
	stream_signal(&s, SPMU_SIG_L1D_REPLACEMENT, 104, 104, 1);
	stream_inst(&s, 0x1003, 0, 0, 130);
	for (unsigned k = 0; k < 5; k++)
		s.at[4][k] = 106;
	stream_send(&s, 0, 3, 0, 104, false, p);	/* retire 100, 110, 120 */
	stream_send(&s, 3, 5, 104, 200, true, p);
	assert_int_equal(l.n, 1);
	assert_int_equal(l.pmi[0].overflow_cycle, 104);
	assert_int_equal(l.pmi[0].ip, 0x1001);
	assert_int_equal(l.pmi[0].behind, 2);
	assert_int_equal(l.pmi[0].record, 1);
	spmu_destroy(p);
	stream_free(&s);
}

static int cleanup(void **state)
{
	(void)state;
	spmu_model_free(model());
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_the_interrupt_falls_on_the_first_instruction_that_has_not_retired),
		cmocka_unit_test(test_an_interrupt_may_fall_into_a_later_batch),
		cmocka_unit_test(test_an_instruction_in_mid_retirement_completes_first),
		cmocka_unit_test(test_another_overflow_does_not_move_a_pending_interrupt),
		cmocka_unit_test(test_a_pending_interrupt_is_taken_at_the_end_of_the_stream),
		cmocka_unit_test(test_an_overflow_without_int_sets_the_status_bit_only),
		cmocka_unit_test(test_a_fixed_counter_interrupts_too),
		cmocka_unit_test(test_samples_of_instructions_fall_where_a_naive_walk_puts_them),
		cmocka_unit_test(test_samples_of_events_out_of_order_fall_where_a_naive_walk_puts_them),
		cmocka_unit_test(test_samples_of_cycles_fall_where_a_naive_walk_puts_them),
		cmocka_unit_test(test_freeze_on_pmi_stops_all_counters_at_the_overflow),
		cmocka_unit_test(test_without_a_handler_a_frozen_pmu_stays_frozen),
		cmocka_unit_test(test_what_a_handler_programs_counts_from_there_on),
		cmocka_unit_test(test_what_a_handler_stops_has_counted_up_to_there),
		cmocka_unit_test(test_stopping_and_starting_in_a_handler_loses_nothing),
		cmocka_unit_test(test_two_overflows_before_the_interrupt_are_one_interrupt),
		cmocka_unit_test(test_events_below_the_first_retirement_name_an_instruction_of_an_earlier_batch),
	};
	return cmocka_run_group_tests(tests, NULL, cleanup);
}
