/* SPDX-License-Identifier: GPL-2.0-or-later
 * The wrong path in the pipeline (core/wrongpath/wrongpath.h), over a memory and a predictor that do what the
 * test says. */
#include "core_fixture.h"
#include "isa_fixture.h"
#include "core/pipeline.h"
#include "core/wrongpath/walker.h"

enum { RAX, RCX, RDX, RBX, RSP, RBP, RSI, RDI };
enum { BRANCH = 0x1006, WRONG = 0x2000, COLD = 0x8000, WARM = 0x9000, AGAIN = 0x40000 };

static struct isa *isa;
static struct bench b;
static struct walk_space *space;
static struct walker *walker;
static struct iblock *before, *behind;

static void load_slot(struct maker *m)
{
	maker_slot(m, ST_SLOT_LOAD, 8);
}

static void store_slot(struct maker *m)
{
	maker_slot(m, ST_SLOT_STORE, 8);
}

static struct iblock *block(uint64_t addr, const char *code, void (*slots)(struct maker *m))
{
	struct maker m;
	char text[512], *rest = text;
	maker_init(&m, addr);
	snprintf(text, sizeof text, "%s", code);
	for (char *one; (one = strsep(&rest, "|"));) {
		maker_insn(&m, one);
		if (m.insns == 1 && slots)
			slots(&m);
	}
	return maker_decode(&m, isa, 8);
}

/* Sets up a load of COLD, which takes 200 cycles, and a branch on it, which is mispredicted to WRONG, where the code
 * `wrong` lies. A store follows the branch. */
static void begin(const char *setting, const char *wrong, bool walks)
{
	struct err err = { 0 };
	uint8_t code[256];
	size_t n = 0;
	struct st_regs regs = { .gpr = { [RBX] = COLD, [RDI] = WARM, [RSI] = AGAIN } };
	fixture_start(&b, NULL, setting);
	isa = open_isa("skylake");
	/* mov rax, [rbx]; test rax, rax; jz 2000 */
	before = block(0x1000, "48 8b 03 | 48 85 c0 | 0f 84 f4 0f 00 00", load_slot);
	/* mov [rdi], rdx; add rcx, 1 */
	behind = block(before->insn[2].addr + before->insn[2].len, "48 89 17 | 48 83 c1 01", store_slot);
	mock.miss_from = COLD;
	mock.miss_to = COLD + 64;
	if (!walks)
		return;
	for (; *wrong; wrong++) {
		unsigned v;
		if (*wrong == ' ' || *wrong == '|')
			continue;
		assert_int_equal(sscanf(wrong++, "%2x", &v), 1);
		code[n++] = (uint8_t)v;
	}
	assert_int_equal(walk_space_create(&space, isa, 8, &err), 0);
	assert_int_equal(walk_space_code(space, WRONG, code, n, &err), 0);
	assert_int_equal(walker_create(&walker, space, &b.config, &err), 0);
	walker_regs(walker, &regs);
	core_set_walker(b.c, walker);
}

static void end(void)
{
	isa_block_free(before);
	isa_block_free(behind);
	walker_destroy(walker);
	walk_space_destroy(space);
	walker = NULL;
	space = NULL;
	isa_destroy(isa);
	bench_end(&b);
}

static void run(struct iblock *k, uint64_t addr, uint64_t next)
{
	uint64_t script[core_script_room(k) + CORE_SCRIPT_WALK];
	core_script(b.c, k, 0, k->insns, &addr, next, script);
	core_run_script(b.c, script);
}

/* Runs it once: the branch falls through although it is predicted taken. */
static void miss(void)
{
	mock.bad_branch = BRANCH;
	mock.bad_times = 1;
	run(before, COLD, behind->addr);
	run(behind, WARM, behind->addr + 7);
}

static bool retired(const struct seen *u)
{
	return u->did & SPMU_DID(RETIRED);
}

static unsigned count_retired(void)
{
	unsigned n = 0;
	for (unsigned i = 0; i < out.uops; i++)
		n += retired(&out.uop[i]);
	return n;
}

static const struct seen *branch_record(void)
{
	for (unsigned i = 0; i < out.uops; i++)
		if (out.uop[i].did & SPMU_DID(MISPREDICTED))
			return &out.uop[i];
	fail_msg("no branch was mispredicted");
	return NULL;
}

static void test_squashed_uops_are_issued_and_do_not_retire(void **state)
{
	(void)state;
	/* mov rcx, [rdi]; mov [rsi], rcx; add rdx, 1; jmp 2000 */
	begin(NULL, "48 8b 0f | 48 89 0e | 48 83 c2 01 | eb f4", true);
	miss();
	core_flush(b.c, true);
	const struct seen *br = branch_record();
	unsigned squashed = 0;
	for (unsigned i = 0; i < out.uops; i++) {
		const struct seen *u = &out.uop[i];
		if (u->ip < WRONG) {
			assert_true(retired(u));
			continue;
		}
		squashed++;
		assert_false(retired(u));
		assert_int_equal(u->retire, br->complete);	/* squashed when the branch resolves */
		assert_true(u->alloc < br->complete);
		assert_true(u->alloc > br->alloc || (u->alloc == br->alloc));
	}
	assert_true(squashed > 50);		/* 200 cycles of them, unless a buffer is full */
	assert_int_equal(out.violations, 0);
	end();
}

static void test_what_retires_is_the_same_with_and_without(void **state)
{
	unsigned uops[2];
	uint64_t instructions[2], last[2];
	(void)state;
	for (unsigned with = 0; with < 2; with++) {
		begin(NULL, "48 8b 0f | 48 89 0e | 48 83 c2 01 | eb f4", with);
		for (unsigned i = 0; i < 50; i++)
			miss();
		core_flush(b.c, true);
		uops[with] = count_retired();
		instructions[with] = out.instructions;
		last[with] = core_now(b.c);
		assert_int_equal(mock.stores, 50);
		assert_int_equal(out.violations, 0);
		end();
	}
	assert_int_equal(uops[0], uops[1]);
	assert_int_equal(instructions[0], instructions[1]);
	assert_int_equal(instructions[0], 50 * 5);
	/* the mock memory keeps nothing, and the entries are free when the branch resolves */
	assert_int_equal(last[0], last[1]);
}

static void test_stores_of_the_wrong_path_are_never_written(void **state)
{
	(void)state;
	begin(NULL, "48 89 0e | 48 83 c6 40 | eb f7", true);	/* mov [rsi], rcx; add rsi, 64; jmp back */
	miss();
	unsigned issued = 0;
	core_flush(b.c, true);
	for (unsigned i = 0; i < out.uops; i++)
		issued += out.uop[i].ip >= WRONG && (out.uop[i].is & SPMU_IS(STORE_ADDR)) != 0;
	assert_true(issued > 20);
	assert_int_equal(mock.stores, 1);
	assert_true(mock.translations > 20);		/* their addresses are translated */
	end();
}

static void test_a_load_of_the_right_path_does_not_get_what_the_wrong_one_stored(void **state)
{
	(void)state;
	begin(NULL, "48 89 0f | eb fb", true);		/* mov [rdi], rcx; jmp back */
	mock.bad_branch = BRANCH;
	mock.bad_times = 1;
	run(before, COLD, behind->addr);
	run(before, WARM, behind->addr);
	core_flush(b.c, true);
	const struct seen *load = NULL;
	for (unsigned i = 0; i < out.uops; i++)
		if (retired(&out.uop[i]) && out.uop[i].is & SPMU_IS(LOAD))
			load = &out.uop[i];
	assert_int_equal(load->addr, WARM);
	assert_true(load->did & SPMU_DID(L1D_HIT));
	assert_false(load->did & (SPMU_DID(FORWARDED) | SPMU_DID(FORWARD_BLOCKED)));
	end();
}

static void test_loads_of_the_wrong_path_go_to_memory_until_the_branch_resolves(void **state)
{
	(void)state;
	/* mov rcx, [rdi]; mov rdx, [rbx+8], which misses; inc rax, twice; mov rsi, [rax]: the branch waits for RAX,
	 * too */
	begin(NULL, "48 8b 0f | 48 8b 53 08 | 48 ff c0 | 48 ff c0 | 48 8b 30", true);
	miss();
	core_flush(b.c, true);
	assert_int_equal(mock.loads, 3);		/* one of the right path and two */
	const uint64_t resolved = branch_record()->complete;
	for (unsigned i = 0; i < out.uops; i++)
		if (out.uop[i].ip == WRONG)
			assert_true(out.uop[i].dispatch < resolved);
		else if (out.uop[i].ip == WRONG + 13)
			assert_true(out.uop[i].dispatch > resolved);	/* never dispatched */
	end();
}

static void test_a_wrong_path_ends_when_the_scheduler_is_full(void **state)
{
	(void)state;
	begin(NULL, "48 01 c0 | 48 01 c0 | eb f8", true);	/* add rax, rax: all wait for the load */
	for (unsigned i = 0; i < 3; i++)
		miss();
	core_flush(b.c, true);
	unsigned n = 0;
	for (unsigned i = 0; i < out.uops; i++)
		n += out.uop[i].ip >= WRONG && !(out.uop[i].is & SPMU_IS(BRANCH));
	assert_in_range(n / 3, 40, b.config.rs_size);
	assert_int_equal(out.violations, 0);
	end();
}

static void test_a_branch_that_resolves_at_once_leaves_little_time(void **state)
{
	(void)state;
	begin(NULL, "48 83 c2 01 | eb fa", true);
	mock.miss_to = mock.miss_from;			/* the load hits */
	miss();
	core_flush(b.c, true);
	unsigned n = 0;
	for (unsigned i = 0; i < out.uops; i++)
		n += !retired(&out.uop[i]);
	assert_in_range(n, 1, 60);
	end();
}

static void test_the_core_counts_its_entries_right_behind_many_of_them(void **state)
{
	(void)state;
	begin(NULL, "48 8b 0f | 48 89 0e | 48 01 c0 | 48 83 c6 08 | eb f1", true);
	miss();
	core_flush(b.c, true);
	const uint64_t free = b.c->sc.free;
	const uint32_t tail = b.c->q.tail, loads = b.c->rn.loads;
	for (unsigned i = 0; i < 500; i++)
		miss();
	core_flush(b.c, true);
	core_serialize(b.c);
	miss();
	core_flush(b.c, true);
	assert_int_equal(b.c->q.tail - tail, 501);
	assert_int_equal(b.c->rn.loads - loads, 501);
	assert_int_equal(b.c->sc.free, free);
	assert_int_equal(mock.stores, 502);
	end();
}

static void test_the_same_run_twice_is_the_same(void **state)
{
	static struct seen first[20000];
	unsigned n = 0;
	(void)state;
	for (unsigned again = 0; again < 2; again++) {
		begin(NULL, "48 8b 0f | 48 89 0e | 48 83 c6 08 | eb f4", true);
		for (unsigned i = 0; i < 20; i++)
			miss();
		core_flush(b.c, true);
		assert_true(out.uops < sizeof first / sizeof *first);
		if (again) {
			assert_int_equal(out.uops, n);
			assert_memory_equal(out.uop, first, n * sizeof *first);
		}
		n = out.uops;
		memcpy(first, out.uop, n * sizeof *first);
		end();
	}
}

/* The mock predicts a branch of the wrong path as not taken: test rdx, rdx; jz, with RDX 0. */
static void test_what_a_branch_of_the_wrong_path_does_is_said_if_somebody_wants_it(void **state)
{
	static struct seen first[2000];
	unsigned n = 0, said = 0;
	(void)state;
	for (unsigned wanted = 0; wanted < 2; wanted++) {
		/* add; test rdx, rdx; jz; add; jnz; jmp 2000 */
		begin(NULL, "48 83 c1 01 | 48 85 d2 | 74 10 | 48 83 c1 01 | 75 10 | eb ef", true);
		walker_outcomes(walker, wanted);
		miss();
		core_flush(b.c, true);
		assert_true(out.uops < sizeof first / sizeof *first);
		assert_true(!wanted || n == out.uops);
		for (unsigned i = 0; wanted && i < n; i++) {
			struct seen u = out.uop[i];
			if (u.ip >= WRONG && u.is & SPMU_IS(COND)) {	/* JNZ is taken, too: RCX is 1, 2, ... */
				assert_int_equal(u.did & (SPMU_DID(TAKEN) | SPMU_DID(MISPREDICTED) |
					SPMU_DID(MISP_TARGET) | SPMU_DID(RETIRED)),
				                 SPMU_DID(TAKEN) | SPMU_DID(MISPREDICTED));
				u.did &= ~(SPMU_DID(TAKEN) | SPMU_DID(MISPREDICTED));
				said += u.complete < u.retire;	/* executed before the older branch resolved */
			}
			assert_memory_equal(&u, &first[i], sizeof u);	/* nothing else differs */
		}
		n = out.uops;
		memcpy(first, out.uop, n * sizeof *first);
		end();
	}
	assert_true(said > 5);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_squashed_uops_are_issued_and_do_not_retire),
		cmocka_unit_test(test_what_retires_is_the_same_with_and_without),
		cmocka_unit_test(test_stores_of_the_wrong_path_are_never_written),
		cmocka_unit_test(test_a_load_of_the_right_path_does_not_get_what_the_wrong_one_stored),
		cmocka_unit_test(test_loads_of_the_wrong_path_go_to_memory_until_the_branch_resolves),
		cmocka_unit_test(test_a_wrong_path_ends_when_the_scheduler_is_full),
		cmocka_unit_test(test_a_branch_that_resolves_at_once_leaves_little_time),
		cmocka_unit_test(test_the_core_counts_its_entries_right_behind_many_of_them),
		cmocka_unit_test(test_the_same_run_twice_is_the_same),
		cmocka_unit_test(test_what_a_branch_of_the_wrong_path_does_is_said_if_somebody_wants_it),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
