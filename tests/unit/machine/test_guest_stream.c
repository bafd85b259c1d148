/* SPDX-License-Identifier: GPL-2.0-or-later
 * A machine's stream (docs/reference/machine-stream.md): a replay counts what the guest's own PMU counted, to the last
 * digit.  The guest is a toy: pseudo-random work at both privilege levels, in several address spaces, of both word
 * sizes, with faults, interrupts, REP instructions that are interrupted, halts and pages that move.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>
#include "insn_code.h"
#include "idle_emulator.h"
#include "data_dir.h"
#include "machine/guest_stream.h"
#include "machine/machine.h"
#include "run/run.h"
#include "session/session.h"

enum { USER = 0x401000, DATA = 0x600000, DATA_BYTES = 1 << 20, ROUNDS = 3000, FAULT = 14 };
static const uint64_t kernel = UINT64_C(0xffffffff81000000), kernel_data = UINT64_C(0xffff888000000000);

static struct {
	uint64_t seed;
	unsigned space, moved;
	struct guest *g;
} toy;

static uint32_t chance(uint32_t of)
{
	toy.seed = toy.seed * UINT64_C(6364136223846793005) + 1442695040888963407;
	return (uint32_t)(toy.seed >> 33) % of;
}

/* Kernel code is in a page of 2 MB, which is global; a user's pages lie elsewhere in each space. */
static bool on_walk(void *context, uint64_t linear, struct guest_page *out)
{
	(void)context;
	const uint64_t tables = 0x10000000 + toy.space * UINT64_C(0x10000);
	*out = (struct guest_page){ .levels = 4, .shift = 12, .entry_bytes = 8 };
	if (linear >= kernel) {
		out->shift = 21;
		out->levels = 3;
		out->global = true;
		out->frame = 0x1000000 + ((linear - kernel) >> 21 << 21);
	} else if (linear >= kernel_data) {
		out->frame = 0x2000000 + ((linear - kernel_data) >> 12 << 12);
	} else {
		out->frame = 0x4000000 + toy.space * UINT64_C(0x1000000) + (linear >> 12 << 12) +
			(linear >> 12 == DATA >> 12 ? toy.moved * UINT64_C(0x8000000) : 0);
	}
	for (unsigned i = 0; i < out->levels; i++)
		out->entry[i] = tables + i * UINT64_C(4096) + (linear >> (out->shift + 9 * i) & 511) * 8;
	return true;
}

/* Executes an instruction; `access`: 0 none, else a guest_access at `addr`. */
static void insn(uint64_t ip, unsigned cpl, unsigned bits, const char *code, unsigned len, unsigned access,
	uint64_t addr, uint64_t next)
{
	const struct guest_insn i = { .ip = ip, .code = INSN_CODE(code, len), .len = (uint8_t)len,
		.cpl = (uint8_t)cpl, .bits = (uint8_t)bits };
	if (!guest_watches(toy.g))
		return;
	guest_begin(toy.g, &i);
	if (access)
		guest_access(toy.g, (enum guest_access)access, addr, bits / 8);
	guest_end(toy.g, next);
}

/* n rounds of: mov (%rsi), %rax; test %al, %al; jz, forward over a store; dec %ecx; jnz. */
static void work(uint64_t at, unsigned cpl, unsigned bits, uint64_t data, unsigned n)
{
	const unsigned rex = bits == 64;
	uint64_t ip = at;
	while (n--) {
		const bool skips = chance(3) == 0;
		insn(ip, cpl, bits, rex ? "\x48\x8b\x06" : "\x8b\x06", 2 + rex, GUEST_LOAD,
			data + chance(DATA_BYTES / 8) * 8, ip + 2 + rex);
		ip += 2 + rex;
		insn(ip, cpl, bits, "\x84\xc0", 2, 0, 0, ip + 2);
		ip += 2;
		const uint64_t behind = ip + 2 + 2 + rex;
		insn(ip, cpl, bits, rex ? "\x74\x03" : "\x74\x02", 2, 0, 0, skips ? behind : ip + 2);
		if (!skips)
			insn(ip + 2, cpl, bits, rex ? "\x48\x89\x07" : "\x89\x07", 2 + rex, GUEST_STORE,
				data + chance(512) * 8, behind);
		ip = behind;
		insn(ip, cpl, bits, rex ? "\xff\xc9" : "\x83\xe9\x01", rex ? 2 : 3, 0, 0, ip + (rex ? 2 : 3));
		ip += rex ? 2 : 3;
		const uint64_t next = n ? at : ip + 2;
		insn(ip, cpl, bits, "\x75\xf0", 2, 0, 0, next);
		ip = next;
	}
}

static void trap(uint64_t from, unsigned vector, bool interrupt, uint64_t address)
{
	const struct guest_trap t = { .from = from, .vector = vector, .interrupt = interrupt, .address = address };
	guest_event(toy.g, &t);
	for (unsigned i = 0; i < 5; i++)
		guest_access(toy.g, GUEST_STORE, kernel_data + 0x8000 - 8 * i, 8);
}

static void iret(uint64_t to)
{
	const struct guest_insn i = { .ip = kernel + 0x900, .code = INSN_CODE("\x48\xcf", 2), .len = 2, .bits = 64 };
	if (!guest_watches(toy.g))
		return;
	guest_begin(toy.g, &i);
	for (unsigned k = 0; k < 5; k++)
		guest_access(toy.g, GUEST_LOAD, kernel_data + 0x8000 - 8 * k, 8);
	guest_end(toy.g, to);
}

/* rep movsq, interrupted once in the middle */
static void copy(void)
{
	const struct guest_insn i = { .ip = kernel + 0x800, .code = INSN_CODE("\xf3\x48\xa5", 3), .len = 3,
		.bits = 64, .rep = true };
	const unsigned at = 1 + chance(39);
	for (unsigned k = 0; k < 2; k++) {
		if (!guest_watches(toy.g))
			return;
		guest_begin(toy.g, &i);
		for (unsigned n = k ? at : 0; n < (k ? 40 : at); n++) {
			guest_access(toy.g, GUEST_LOAD, kernel_data + 0x10000 + 8 * n, 8);
			guest_access(toy.g, GUEST_STORE, kernel_data + 0x20000 + 8 * n, 8);
			guest_iteration(toy.g);
		}
		guest_end(toy.g, k ? i.ip + 3 : i.ip);
		if (!k) {
			trap(i.ip, 0xec, true, 0);
			work(kernel + 0x400, 0, 64, kernel_data, 2);
			iret(i.ip);
		}
	}
}

static void play(void)
{
	for (unsigned n = 0; n < ROUNDS; n++) {
		const unsigned bits = toy.space % 2 ? 32 : 64;
		work(USER + toy.space % 2 * 0x1000, 3, bits, DATA, 1 + chance(6));
		const uint64_t at = USER + 0x100;
		const bool faults = chance(5) == 0;
		if (faults) {		/* an instruction that begins and faults */
			const struct guest_insn i = { .ip = at, .code = INSN_CODE("\x8b\x06", 2), .len = 2, .cpl = 3,
				.bits = (uint8_t)bits };
			if (guest_watches(toy.g))
				guest_begin(toy.g, &i);
		}
		trap(at, faults ? FAULT : 0x80, !faults && chance(2), faults ? DATA + 0x5000 : 0);
		work(kernel + chance(4) * 64, 0, 64, kernel_data, 1 + chance(4));
		if (chance(7) == 0)
			copy();
		if (chance(50) == 0)
			guest_halted(toy.g, 5000 + chance(1000));
		if (chance(20) == 0) {	/* a page moves */
			toy.moved = !toy.moved;
			guest_invlpg(toy.g, DATA);
		}
		if (chance(10) == 0) {
			toy.space = chance(3);
			guest_space(toy.g, 0x1000000 + toy.space * UINT64_C(0x1000));
		}
		iret(at);
	}
}

/* Counts `code` at each privilege level and at both while the toy plays; writes the stream. */
static void live(const char *core, const uint64_t *code, unsigned codes, uint64_t rings, const char *path,
	uint64_t *count)
{
	const struct guest_options o = { .data_dir = data_dir(), .core = core, .stream = path };
	const struct guest_emulator e = { .interrupt = on_interrupt, .read = on_read, .write = on_write,
		.registers = on_registers, .walk = on_walk };
	struct err err = { 0 };
	memset(&toy, 0, sizeof toy);
	if (guest_create(&toy.g, &o, &e, &err))
		fail_msg("%s", err.text);
	guest_paging(toy.g, GUEST_PAGED | GUEST_PAE | GUEST_LONG | GUEST_GLOBAL_PAGES);
	guest_space(toy.g, 0x1000000);
	assert_int_equal(guest_wrmsr(toy.g, MSR_IA32_PERF_GLOBAL_CTRL, 0), GUEST_DONE);
	for (unsigned i = 0; i < codes; i++)
		assert_int_equal(guest_wrmsr(toy.g, MSR_IA32_PERFEVTSEL0 + i, code[i] | rings | SPMU_EVTSEL_EN),
			GUEST_DONE);
	assert_int_equal(guest_wrmsr(toy.g, MSR_IA32_PERF_GLOBAL_CTRL, (1u << codes) - 1), GUEST_DONE);
	play();
	assert_int_equal(guest_wrmsr(toy.g, MSR_IA32_PERF_GLOBAL_CTRL, 0), GUEST_DONE);
	struct guest_report r;
	guest_report(toy.g, &r);
	assert_null(r.failure);
	if (guest_end_stream(toy.g, &err))
		fail_msg("%s", err.text);
	for (unsigned i = 0; i < codes; i++)
		assert_int_equal(guest_rdmsr(toy.g, MSR_IA32_PMC0 + i, &count[i]), GUEST_DONE);
	guest_destroy(toy.g);
}

/* ---- the replay ---- */

static struct {
	struct session *s;
	unsigned batches[2];
	uint64_t spaces;
	bool tagged;
} seen;

static int on_start(void *context, struct run_thread *t, struct err *err)
{
	(void)context;
	assert_true(t->is_machine);
	return session_thread_start(seen.s, t, err);
}
static void on_end(void *context, struct run_thread *t)
{
	(void)context;
	session_thread_end(seen.s, t);
}
static void on_batch(void *context, struct run_thread *t, const struct spmu_batch *b)
{
	(void)context;
	seen.batches[t->cpl != 0]++;
	seen.spaces |= UINT64_C(1) << t->space;
	for (uint32_t i = 0; i < b->count; i++)
		seen.tagged |= b->records[i].cpl != t->cpl || (!(b->records[i].ip >> 63) && b->records[i].ip >> 47);
	session_batch(seen.s, t, b);
}
static void on_side(void *context, struct run_thread *t, uint32_t pid, const uint64_t *record, uint64_t cycle)
{
	(void)context;
	(void)pid;
	(void)cycle;
	session_side(seen.s, t, record);
}

static int try_replay(const char *core, const char *list, const char *path, uint64_t *count, struct err *failure)
{
	char events[4096], why[512];
	struct core_config c;
	struct spmu_model *m;
	struct session_events e = { 0 };
	struct run_result result;
	struct err err = { 0 };
	memset(&seen, 0, sizeof seen);
	assert_true(stream_machine(path));
	assert_int_equal(core_config_load(&c, data_dir(), core, &err), 0);
	c.both_rings = true;
	snprintf(events, sizeof events, "%s/events/%s.tsv", data_dir(), c.pmu);
	assert_int_equal(spmu_model_load(&m, events, why, sizeof why), SPMU_OK);
	const struct session_parse_options how = { .model = m, .core = &c };
	if (session_parse(&e, &how, list, &err))
		fail_msg("%s", err.text);
	const struct session_options so = { .core = &c, .model = m, .events = &e };
	if (session_create(&seen.s, &so, &err))
		fail_msg("%s", err.text);
	const struct core_wanted wanted = session_wanted(seen.s);
	const struct run_options o = { .data_dir = data_dir(), .core = &c, .replay = path, .wanted = &wanted };
	const struct run_sink sink = { .thread_start = on_start, .thread_end = on_end, .batch = on_batch,
		.side = on_side };
	const int rc = run_program(&o, &sink, &result, failure);
	for (size_t i = 0; i < e.count; i++)
		count[i] = session_count(seen.s, i);
	session_destroy(seen.s);
	session_events_free(&e);
	spmu_model_free(m);
	return rc;
}

static void replay(const char *core, const char *list, const char *path, uint64_t *count)
{
	struct err err = { 0 };
	if (try_replay(core, list, path, count, &err))
		fail_msg("%s", err.text);
}

static void test_a_replay_counts_what_the_guest_counted(void **state)
{
	(void)state;
	static const uint64_t code[] = { 0xc0, 0x3c, 0xc5, 0x08d1, 0x0108 };
	static const char *const suffix[] = { ":u", ":k", "" };
	static const uint64_t rings[] = { SPMU_EVTSEL_USR, SPMU_EVTSEL_OS, SPMU_EVTSEL_USR | SPMU_EVTSEL_OS };
	char path[] = "/tmp/test-guest-replay-XXXXXX", list[512];
	uint64_t want[5], got[5], sum[5] = { 0 };
	close(mkstemp(path));
	for (unsigned k = 0; k < 3; k++) {
		const char *s = suffix[k];
		live("skylake", code, 5, rings[k], path, want);
		snprintf(list, sizeof list, "instructions%s,cycles%s,branch-misses%s,MEM_LOAD_RETIRED.L1_MISS%s,"
			"DTLB_LOAD_MISSES.MISS_CAUSES_A_WALK%s", s, s, s, s, s);
		replay("skylake", list, path, got);
		for (unsigned i = 0; i < 5; i++) {
			assert_int_equal(got[i], want[i]);
			assert_true(want[i] > 0);
			if (k < 2)
				sum[i] += got[i];
			else
				assert_int_equal(sum[i], got[i]);
		}
		assert_true(seen.batches[0] && seen.batches[1]);
		assert_int_equal(seen.spaces, 14);
		assert_false(seen.tagged);
	}
	unlink(path);
}

static void test_software_events_come_from_the_records(void **state)
{
	(void)state;
	static const uint64_t code[] = { 0xc0 };
	char path[] = "/tmp/test-guest-stream-XXXXXX";
	uint64_t want, got[9];
	close(mkstemp(path));
	live("skylake", code, 1, SPMU_EVTSEL_USR, path, &want);
	replay("skylake", "page-faults,page-faults:u,exceptions,interrupts,interrupts:u,interrupts:k,context-switches,"
		"task-clock,duration_time", path, got);
	assert_true(got[0] > 500 && got[0] < 700);		/* a fifth of the rounds */
	assert_int_equal(got[1], got[0]);
	assert_true(got[2] > got[0]);
	assert_int_equal(got[3], got[4] + got[5]);
	assert_true(got[5] > 300 && got[5] < 600);		/* of REP instructions */
	assert_int_equal(got[2] + got[4], ROUNDS);
	assert_true(got[6] > 100 && got[6] < 300);
	assert_int_equal(got[7], got[8]);
	unlink(path);
}

/* A block, then `record`: the replay ends with this error. */
static void check_refused(const void *record, size_t bytes, bool pages, const char *said)
{
	struct {
		struct st_block_def def;
		struct st_insn_def insn;
		struct st_exit_def exit;
	} b = { .def = { .header = ST_HEADER(ST_BLOCK_DEF, sizeof b), .insns = 1, .exits = 1 },
		.insn = { .addr = USER, .len = 1, .bytes = { 0x90 } }, .exit = { .insns = 1 } };
	const struct st_next next = { ST_HEADER(ST_NEXT, sizeof next), USER + 1 };
	char path[] = "/tmp/test-guest-stream-XXXXXX";
	struct guest_stream *s;
	struct err err = { 0 };
	uint64_t count;
	close(mkstemp(path));
	assert_int_equal(guest_stream_open(&s, path, 8, pages, &err), 0);
	guest_stream_block(s, &b.def, 0, NULL);
	if (said[0] != '!')
		guest_stream_record(s, &next, sizeof next);
	guest_stream_record(s, record, bytes);
	assert_int_equal(guest_stream_close(s, &err), 0);
	assert_int_equal(try_replay("skylake", "instructions", path, &count, &err), ERR_INPUT);
	if (!strstr(err.text, said + (said[0] == '!')))
		fail_msg("%s", err.text);
	assert_null(strchr(err.text, '\n'));
	assert_int_equal(count, 1);		/* what was before it is counted */
	unlink(path);
}

static void test_damaged_records_are_refused(void **state)
{
	(void)state;
	const struct st_level level = { .header = ST_HEADER(ST_LEVEL, sizeof level), .cpl = 2, .word_bytes = 8 };
	const struct st_level no_next = { .header = ST_HEADER(ST_LEVEL, sizeof level), .word_bytes = 8 };
	const struct st_trap trap = { .header = ST_HEADER(ST_TRAP, sizeof trap), .vector = 256 };
	const struct st_halt halt = { ST_HEADER(ST_HALT, sizeof halt), UINT64_MAX, 0 };
	const struct st_space space = { ST_HEADER(ST_SPACE, sizeof space), 1 << 16, 0 };
	struct st_page page = { .header = ST_HEADER(ST_PAGE, sizeof page), .shift = 13, .entry_bytes = 8 };
	const struct st_drop drop = { ST_HEADER(ST_DROP, sizeof drop), 4, 0 };
	const uint64_t delivery[] = { ST_HEADER(ST_DELIVERY, 32), 2, USER, 8 }, small[] = { ST_HEADER(ST_TRAP, 8) };
	const uint64_t fork[] = { ST_HEADER(ST_FORK, 16), 7 };
	const struct st_symbols symbols = { .header = ST_HEADER(ST_SYMBOLS, sizeof symbols), .path_bytes = 9 };
	check_refused(&level, sizeof level, true, "malformed record");
	check_refused(&no_next, sizeof no_next, true, "!does not say where block 0 led to");
	check_refused(&trap, sizeof trap, true, "malformed record");
	check_refused(&halt, sizeof halt, true, "malformed record");
	check_refused(&space, sizeof space, true, "malformed record");
	check_refused(&page, sizeof page, true, "malformed record");
	page.shift = 12;
	check_refused(&page, sizeof page, false, "tells of pages, and says that it does not");
	page.frame = UINT64_C(1) << 50;
	check_refused(&page, sizeof page, true, "beyond");
	check_refused(&drop, sizeof drop, true, "malformed record");
	check_refused(delivery, sizeof delivery, true, "malformed record");
	check_refused(small, sizeof small, true, "malformed record");
	check_refused(fork, sizeof fork, true, "only that of a program has");
	check_refused(&symbols, sizeof symbols, true, "malformed record");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_software_events_come_from_the_records),
		cmocka_unit_test(test_damaged_records_are_refused),
		cmocka_unit_test(test_a_replay_counts_what_the_guest_counted),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
