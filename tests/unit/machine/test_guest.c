/* SPDX-License-Identifier: GPL-2.0-or-later
 * The model of a guest processor (machine/machine.h), driven by a toy of an emulator: loops whose instructions are
 * known, at both privilege levels.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>
#include "insn_code.h"
#include "data_dir.h"
#include "machine/guest_internal.h"

enum { LOOP = 0x401000, MEMORY = 0x600000, LVT = 0x40 };
static const uint64_t kernel_loop = UINT64_C(0xffffffff81000000);

/* What the emulator side has seen, and its registers. */
static struct {
	unsigned interrupts;
	uint32_t sent, lvt;
	uint64_t rcx, rip;
	uint8_t memory[65536];		/* from MEMORY on */
} toy;

static void on_interrupt(void *context, uint32_t sent, uint32_t lvt)
{
	(void)context;
	toy.interrupts++;
	toy.sent = sent;
	toy.lvt = lvt;
}
static int on_read(void *context, uint64_t addr, void *to, size_t bytes)
{
	(void)context;
	if (addr < MEMORY || addr + bytes > MEMORY + sizeof toy.memory)
		return -1;
	memcpy(to, toy.memory + (addr - MEMORY), bytes);
	return 0;
}
static int on_write(void *context, uint64_t addr, const void *from, size_t bytes)
{
	(void)context;
	if (addr < MEMORY || addr + bytes > MEMORY + sizeof toy.memory)
		return -1;
	memcpy(toy.memory + (addr - MEMORY), from, bytes);
	return 0;
}
static void on_registers(void *context, struct spmu_registers *out)
{
	(void)context;
	memset(out, 0, sizeof *out);
	out->gpr[1] = toy.rcx;
	out->rip = toy.rip;
}

static struct guest *make_with(const char *core, enum guest_timing timing, bool ahead, bool warm)
{
	const struct guest_options o = { .data_dir = data_dir(), .core = core, .timing = timing,
		.ahead = ahead, .warm = warm };
	const struct guest_emulator e = { .interrupt = on_interrupt, .read = on_read, .write = on_write,
		.registers = on_registers };
	struct guest *g = NULL;
	struct err err = { 0 };
	memset(&toy, 0, sizeof toy);
	if (guest_create(&g, &o, &e, &err))
		fail_msg("%s", err.text);
	return g;
}

static struct guest *make(const char *core, enum guest_timing timing)
{
	return make_with(core, timing, false, false);
}

static void insn(struct guest *g, uint64_t ip, unsigned cpl, const char *code, unsigned len, uint64_t next)
{
	const struct guest_insn i = { .ip = ip, .code = INSN_CODE(code, len), .len = (uint8_t)len, .cpl = (uint8_t)cpl,
		.bits = 64 };
	toy.rip = ip;
	if (!guest_watches(g)) {
		toy.rcx -= code[0] == '\xff';
		return;
	}
	guest_begin(g, &i);
	if (code[0] == '\x48' && code[1] == '\x8b')	/* mov (%rsi), %rax */
		guest_access(g, GUEST_LOAD, MEMORY, 8);
	if (code[0] == '\xff')
		toy.rcx--;
	toy.rip = next;
	guest_end(g, next);
}

/* n rounds of: mov (%rsi), %rax; dec %ecx; jnz.  3n instructions. */
static void rounds(struct guest *g, uint64_t at, unsigned cpl, unsigned n)
{
	for (toy.rcx = n; toy.rcx;) {
		insn(g, at, cpl, "\x48\x8b\x06", 3, at + 3);
		insn(g, at + 3, cpl, "\xff\xc9", 2, at + 5);
		insn(g, at + 5, cpl, "\x75\xf9", 2, toy.rcx ? at : at + 7);
	}
}

static uint64_t counter(struct guest *g, uint32_t msr)
{
	uint64_t v = 0;
	assert_int_equal(guest_rdmsr(g, msr, &v), GUEST_DONE);
	return v;
}

static void set(struct guest *g, uint32_t msr, uint64_t v)
{
	assert_int_equal(guest_wrmsr(g, msr, v), GUEST_DONE);
}

enum { USR = SPMU_EVTSEL_USR, OS = SPMU_EVTSEL_OS, EN = SPMU_EVTSEL_EN, INT = SPMU_EVTSEL_INT };

static void test_counts_each_privilege_level_by_itself(void **state)
{
	(void)state;
	struct guest *g = make("skylake", GUEST_COUNTING);
	set(g, MSR_IA32_PERFEVTSEL0, 0xc0 | USR | EN);
	set(g, MSR_IA32_PERFEVTSEL0 + 1, 0xc0 | OS | EN);
	set(g, MSR_IA32_PERFEVTSEL0 + 2, 0xc0 | OS | USR | EN);
	set(g, MSR_IA32_PERF_GLOBAL_CTRL, 7);
	rounds(g, LOOP, 3, 1000);
	rounds(g, kernel_loop, 0, 500);
	rounds(g, LOOP, 3, 10);
	assert_int_equal(counter(g, MSR_IA32_PMC0), 3030);
	assert_int_equal(counter(g, MSR_IA32_PMC0 + 1), 1500);
	assert_int_equal(counter(g, MSR_IA32_PMC0 + 2), 4530);
	struct guest_report r;
	guest_report(g, &r);
	assert_int_equal(r.instructions[0], 1500);
	assert_int_equal(r.instructions[1], 3030);
	assert_true(r.cycles[0] > 400 && r.cycles[1] > 900);
	guest_destroy(g);
}

static void test_watches_while_a_counter_is_enabled(void **state)
{
	(void)state;
	struct guest *g = make("skylake", GUEST_COUNTING);
	assert_false(guest_watches(g));
	assert_int_equal(guest_ticks(g, 1000), 1000);	/* an instruction a cycle */
	set(g, MSR_IA32_PERF_GLOBAL_CTRL, 0);
	set(g, MSR_IA32_PERFEVTSEL0, 0xc0 | USR | EN);
	assert_false(guest_watches(g));
	set(g, MSR_IA32_PERF_GLOBAL_CTRL, 1);
	assert_true(guest_watches(g));
	rounds(g, LOOP, 3, 1000);
	set(g, MSR_IA32_PERF_GLOBAL_CTRL, 0);
	assert_false(guest_watches(g));
	guest_destroy(g);
	g = make("skylake", GUEST_MARKED);
	set(g, MSR_IA32_PERFEVTSEL0, 0xc0 | USR | EN);
	set(g, MSR_IA32_PERF_GLOBAL_CTRL, 1);
	rounds(g, LOOP, 3, 10);
	guest_mark(g, true);
	rounds(g, LOOP, 3, 20);
	assert_int_equal(counter(g, MSR_IA32_PMC0), 60);
	guest_destroy(g);
}

/* The WRMSR that ends a count begins under the model's eyes, and does not end so; the next one is the other way
 * round. */
static void test_a_count_begins_and_ends_between_instructions(void **state)
{
	(void)state;
	struct guest *g = make("skylake", GUEST_COUNTING);
	const struct guest_insn wrmsr = { .ip = kernel_loop + 64, .code = INSN_CODE("\x0f\x30", 2),
		.len = 2, .bits = 64 };
	set(g, MSR_IA32_PERFEVTSEL0, 0xc0 | OS | USR | EN);
	for (unsigned i = 0; i < 3; i++) {
		set(g, MSR_IA32_PERF_GLOBAL_CTRL, 0);
		set(g, MSR_IA32_PMC0, 0);
		set(g, MSR_IA32_PERF_GLOBAL_CTRL, 1);
		guest_end(g, kernel_loop);		/* of the WRMSR before: it is no instruction of the count */
		rounds(g, kernel_loop, 0, 100);
		guest_begin(g, &wrmsr);
		set(g, MSR_IA32_PERF_GLOBAL_CTRL, 0);
		assert_int_equal(counter(g, MSR_IA32_PMC0), 300);
	}
	guest_destroy(g);
}

static void test_time_is_the_cores(void **state)
{
	(void)state;
	struct guest *g = make("skylake", GUEST_ALWAYS);
	rounds(g, LOOP, 3, 1000);			/* warm */
	(void)guest_ticks(g, 0);
	set(g, MSR_IA32_FIXED_CTR_CTRL, 0x30);
	set(g, MSR_IA32_PERF_GLOBAL_CTRL, UINT64_C(1) << 33);
	const uint64_t from = counter(g, MSR_IA32_FIXED_CTR0 + 1);
	(void)guest_ticks(g, 0);
	rounds(g, LOOP, 3, 5000);			/* a dependent DEC a cycle */
	const uint64_t cycles = counter(g, MSR_IA32_FIXED_CTR0 + 1) - from, ticks = guest_ticks(g, 15000);
	assert_in_range(cycles, 5000, 5200);
	assert_in_range(ticks, cycles - 20, cycles + 20);
	guest_halted(g, 70000);				/* they passed on the machine's clock, and none is counted */
	assert_int_equal(guest_ticks(g, 0), 0);
	assert_in_range(counter(g, MSR_IA32_FIXED_CTR0 + 1) - from, cycles, cycles + 60);
	guest_destroy(g);
}

static void test_a_pmi_comes_right_behind_its_overflow(void **state)
{
	(void)state;
	struct guest *g = make("skylake", GUEST_COUNTING);
	guest_lvt(g, LVT);
	set(g, MSR_IA32_PERFEVTSEL0, 0xc0 | USR | INT | EN);
	set(g, MSR_IA32_PMC0, (uint32_t)-30000);
	set(g, MSR_IA32_PERF_GLOBAL_CTRL, 1);
	unsigned n = 0;
	while (!toy.interrupts && n < 20000) {
		rounds(g, LOOP, 3, 1);
		n++;
	}
	assert_int_equal(toy.interrupts, 1);
	assert_int_equal(toy.sent & 0xff, LVT);
	assert_true(toy.lvt & 0x10000);		/* masked, for the handler to unmask */
	assert_in_range(n, 10000, 10200);	/* pmi.latency and the skid */
	struct guest_report r;
	guest_report(g, &r);
	assert_in_range(r.stepped, 1, 1500);	/* and not all the way */
	guest_destroy(g);
}

/* The core in a thread of its own: the same counts, and PMIs at the same places. */
static void test_ahead_of_the_core_nothing_changes(void **state)
{
	(void)state;
	static const uint32_t event[] = { 0xc0, 0x3c, 0x01c2, 0x20c4 };
	struct guest_report r[2];
	uint64_t count[2][4];
	unsigned sent[2];
	for (unsigned ahead = 0; ahead < 2; ahead++) {
		struct guest *g = make_with("skylake", GUEST_COUNTING, ahead, false);
		guest_lvt(g, 0xf0);
		for (uint32_t i = 0; i < 4; i++)
			set(g, MSR_IA32_PERFEVTSEL0 + i, event[i] | USR | OS | EN | (i < 2 ? INT : 0));
		set(g, MSR_IA32_PMC0, (uint32_t)-150000);
		set(g, MSR_IA32_PMC0 + 1, (uint32_t)-100000);
		set(g, MSR_IA32_PERF_GLOBAL_CTRL, 15);
		for (unsigned i = 0; i < 40; i++) {
			rounds(g, LOOP, 3, 3000);
			rounds(g, kernel_loop, 0, 500);
			if (i == 20)
				guest_lvt(g, 0xf0);	/* a PMI has masked it */
			/* FS_BASE: the core's thread goes on */
			assert_int_equal(guest_wrmsr(g, 0xc0000100, i), GUEST_NOT_MINE);
		}
		for (uint32_t i = 0; i < 4; i++)
			count[ahead][i] = counter(g, MSR_IA32_PMC0 + i);
		guest_report(g, &r[ahead]);
		sent[ahead] = toy.interrupts;
		guest_destroy(g);
	}
	assert_memory_equal(count[0], count[1], sizeof count[0]);
	assert_true(r[0].cycles[0] == r[1].cycles[0] && r[0].cycles[1] == r[1].cycles[1]);
	assert_int_equal(sent[0], sent[1]);
	assert_int_equal(sent[0], 2);
	assert_int_equal(r[0].ahead, 0);
	assert_true(r[1].ahead > 200000);
	assert_int_equal(r[1].late, 0);
}

/* Registers are read from the emulator's thread then, so the core must be no other thread's. */
static void test_a_model_that_fails_has_its_core_back(void **state)
{
	(void)state;
	struct guest *g = make_with("skylake", GUEST_COUNTING, true, false);
	struct guest_report r;
	set(g, MSR_IA32_PERFEVTSEL0, 0xc0 | USR | EN);
	set(g, MSR_IA32_PERF_GLOBAL_CTRL, 1);
	rounds(g, LOOP, 3, 1000);
	assert_true(g->ahead);
	err_set(&g->failure, ERR_NOMEM, "no more");
	guest_fail(g);
	assert_false(g->ahead);
	assert_false(guest_watches(g));
	assert_int_equal(g->applied, g->given);
	assert_in_range(counter(g, MSR_IA32_PMC0), 0, 3000);
	guest_report(g, &r);
	assert_string_equal(r.failure, "no more");
	guest_destroy(g);
}

/* Linux's handler starts the counters first and unmasks the interrupt then: the next overflow interrupts all the same,
 * however short the period. */
static void test_an_interrupt_that_is_unmasked_late_comes(void **state)
{
	(void)state;
	for (unsigned ahead = 0; ahead < 2; ahead++) {
		struct guest *g = make_with("skylake", GUEST_COUNTING, ahead, false);
		set(g, MSR_IA32_PERFEVTSEL0, 0xc0 | USR | OS | INT | EN);
		for (unsigned n = 1; n <= 20; n++) {
			set(g, MSR_IA32_PERF_GLOBAL_CTRL, 0);
			set(g, MSR_IA32_PMC0, (uint32_t)-700);
			set(g, MSR_IA32_PERF_GLOBAL_CTRL, 1);
			rounds(g, LOOP, 3, 10);
			guest_lvt(g, 0xf0);
			rounds(g, LOOP, 3, 3000);
			assert_int_equal(toy.interrupts, n);
		}
		guest_destroy(g);
	}
}

/* What is not timed warms the core all the same: a count that begins then has no cold miss, and is exact. */
static void test_what_is_not_timed_may_warm_the_core(void **state)
{
	(void)state;
	for (unsigned k = 0; k < 4; k++) {	/* with and without warming, in one thread and two */
		struct guest *g = make_with("skylake", GUEST_COUNTING, k & 2, k & 1);
		struct guest_report r;
		assert_int_equal(guest_watches(g), k & 1);
		rounds(g, LOOP, 3, 1000);
		if (k & 1)
			guest_event(g, &(struct guest_trap){ .from = LOOP, .vector = 32, .interrupt = true });
		assert_int_equal(guest_ticks(g, 3000), 3000);
		set(g, MSR_IA32_PERFEVTSEL0, 0x08d1 | USR | EN);	/* MEM_LOAD_RETIRED.L1_MISS */
		set(g, MSR_IA32_PERFEVTSEL0 + 1, 0xc0 | USR | OS | EN);
		set(g, MSR_IA32_PERF_GLOBAL_CTRL, 3);
		rounds(g, LOOP, 3, 100);
		set(g, MSR_IA32_PERF_GLOBAL_CTRL, 0);
		rounds(g, LOOP, 3, 100);
		assert_int_equal(counter(g, MSR_IA32_PMC0), k & 1 ? 0 : 1);
		assert_int_equal(counter(g, MSR_IA32_PMC0 + 1), 300);
		guest_report(g, &r);
		assert_int_equal(r.warmed, k & 1 ? 3300 : 0);
		assert_int_equal(r.instructions[1], 300);
		assert_int_equal(r.events, 0);
		guest_destroy(g);
	}
}

static void test_registers_fault_as_they_do(void **state)
{
	(void)state;
	struct guest *g = make("skylake", GUEST_COUNTING);
	uint64_t v = 7;
	assert_int_equal(guest_wrmsr(g, MSR_IA32_PERFEVTSEL0, UINT64_C(1) << 40), GUEST_GP);
	assert_int_equal(guest_rdmsr(g, 0x10, &v), GUEST_NOT_MINE);	/* TSC: the emulator's */
	assert_int_equal(guest_wrmsr(g, 0xc0000080, 0), GUEST_NOT_MINE);
	assert_int_equal(guest_rdpmc(g, 0, 3, &v), GUEST_GP);
	guest_pce(g, true);
	assert_int_equal(guest_rdpmc(g, 0, 3, &v), GUEST_DONE);
	assert_int_equal(guest_rdpmc(g, 99, 0, &v), GUEST_GP);
	uint32_t regs[4] = { 0x50654, 0, 0x8000, 0 };
	guest_cpuid(g, 1, 0, regs);
	assert_int_equal(regs[0], 0x506e3);
	assert_int_equal(regs[2] >> 15 & 1, 1);		/* PDCM */
	uint32_t l2[4] = { 0x1c004143, 0x03c0003f, 0x3ff, 0 }, l1i[4] = { 0x1c004122, 0, 0, 0 };
	uint32_t none[4] = { 0, 1, 2, 3 };
	guest_cpuid(g, 4, 2, l2);
	assert_int_equal(l2[0], 0x1c004143);
	assert_int_equal(((l2[1] >> 22) + 1) * ((l2[1] & 0xfff) + 1) * (l2[2] + 1), 256 << 10);
	guest_cpuid(g, 4, 1, l1i);
	assert_int_equal(((l1i[1] >> 22) + 1) * ((l1i[1] & 0xfff) + 1) * (l1i[2] + 1), 32 << 10);
	guest_cpuid(g, 4, 4, none);
	assert_int_equal(none[1], 1);			/* no cache: as it is */
	guest_destroy(g);
	g = make("pentium3", GUEST_COUNTING);
	memset(regs, 0, sizeof regs);
	regs[2] = 1 << 15;
	guest_cpuid(g, 1, 0, regs);
	assert_int_equal(regs[2] >> 15 & 1, 0);
	assert_int_equal(guest_wrmsr(g, MSR_IA32_PERF_GLOBAL_CTRL, 1), GUEST_NOT_MINE);
	set(g, MSR_P6_PERFEVTSEL0, 0xc0 | USR | EN);
	assert_true(guest_watches(g));
	guest_destroy(g);
}

static void test_pebs_records_hold_the_registers_of_their_instruction(void **state)
{
	(void)state;
	enum { BYTES = 200, PERIOD = 100 };
	struct guest *g = make("skylake", GUEST_COUNTING);
	uint64_t *ds = (uint64_t *)toy.memory;
	ds[4] = ds[5] = MEMORY + 4096;
	ds[6] = ds[7] = MEMORY + 4096 + 40 * BYTES;
	ds[8] = -(uint64_t)PERIOD & 0xffffffffffff;
	set(g, MSR_IA32_DS_AREA, MEMORY);
	set(g, MSR_IA32_PERFEVTSEL0, 0x81d0 | USR | EN);
	set(g, MSR_IA32_PMC0, (uint32_t)-PERIOD);
	set(g, MSR_IA32_PEBS_ENABLE, 1);
	set(g, MSR_IA32_PERF_GLOBAL_CTRL, 1);
	rounds(g, LOOP, 3, 2050);
	(void)counter(g, MSR_IA32_PMC0);
	const uint64_t records = (ds[5] - ds[4]) / BYTES;
	assert_int_equal(records, 20);
	for (unsigned i = 0; i < records; i++) {
		const uint64_t *r = (const uint64_t *)(toy.memory + 4096 + i * BYTES);
		assert_int_equal(r[22], LOOP);			/* EventingIP */
		assert_int_equal(r[19], MEMORY);		/* data */
		if (i)
			/* RCX counts the loads down; the one behind the overflow triggers the record */
			assert_int_equal(r[4], ((const uint64_t *)((const char *)r - BYTES))[4] - PERIOD - 1);
	}
	guest_destroy(g);
}

static void test_address_spaces_share_no_line(void **state)
{
	(void)state;
	struct guest *g = make("skylake", GUEST_COUNTING);
	set(g, MSR_IA32_PERFEVTSEL0, 0x08d1 | USR | OS | EN);	/* MEM_LOAD_RETIRED.L1_MISS */
	set(g, MSR_IA32_PERF_GLOBAL_CTRL, 1);
	guest_space(g, 0x1000);
	rounds(g, LOOP, 3, 100);
	const uint64_t first = counter(g, MSR_IA32_PMC0);
	assert_int_equal(first, 1);
	guest_space(g, 0x2000);
	rounds(g, LOOP, 3, 100);
	assert_int_equal(counter(g, MSR_IA32_PMC0), 2);
	guest_space(g, 0x1000);
	rounds(g, LOOP, 3, 100);
	assert_int_equal(counter(g, MSR_IA32_PMC0), 2);
	guest_destroy(g);
}

static void test_a_rep_instruction_is_one(void **state)
{
	(void)state;
	struct guest *g = make("skylake", GUEST_COUNTING);
	set(g, MSR_IA32_PERFEVTSEL0, 0xc0 | USR | EN);
	set(g, MSR_IA32_PERF_GLOBAL_CTRL, 1);
	const struct guest_insn i = { .ip = LOOP, .code = INSN_CODE("\xf3\x48\xa5", 3), .len = 3, .cpl = 3,
		.bits = 64, .rep = true };
	guest_begin(g, &i);
	for (unsigned n = 0; n < 100; n++) {
		guest_access(g, GUEST_LOAD, MEMORY + 8 * n, 8);
		guest_access(g, GUEST_STORE, MEMORY + 8192 + 8 * n, 8);
		guest_iteration(g);
	}
	guest_end(g, LOOP + 3);
	rounds(g, LOOP + 3, 3, 10);
	assert_int_equal(counter(g, MSR_IA32_PMC0), 31);
	guest_destroy(g);
}

static void test_what_cannot_be_is_refused(void **state)
{
	(void)state;
	const struct guest_emulator e = { .interrupt = on_interrupt, .read = on_read, .write = on_write,
		.registers = on_registers };
	struct guest *g = NULL;
	struct err err = { 0 };
	assert_int_equal(guest_create(&g, &(struct guest_options){ .data_dir = data_dir(), .core = "zen4" }, &e, &err),
		ERR_UNSUPPORTED);
	assert_non_null(strstr(err.text, "zen4"));
	assert_true(guest_create(&g, &(struct guest_options){ .data_dir = data_dir(), .core = "none-such" }, &e, &err) <
		0);
	assert_null(g);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_counts_each_privilege_level_by_itself),
		cmocka_unit_test(test_watches_while_a_counter_is_enabled),
		cmocka_unit_test(test_a_count_begins_and_ends_between_instructions),
		cmocka_unit_test(test_time_is_the_cores),
		cmocka_unit_test(test_a_pmi_comes_right_behind_its_overflow),
		cmocka_unit_test(test_ahead_of_the_core_nothing_changes),
		cmocka_unit_test(test_a_model_that_fails_has_its_core_back),
		cmocka_unit_test(test_an_interrupt_that_is_unmasked_late_comes),
		cmocka_unit_test(test_what_is_not_timed_may_warm_the_core),
		cmocka_unit_test(test_registers_fault_as_they_do),
		cmocka_unit_test(test_pebs_records_hold_the_registers_of_their_instruction),
		cmocka_unit_test(test_address_spaces_share_no_line),
		cmocka_unit_test(test_a_rep_instruction_is_one),
		cmocka_unit_test(test_what_cannot_be_is_refused),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
