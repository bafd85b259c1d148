/* SPDX-License-Identifier: GPL-2.0-or-later
 * Exact cycles of the pipeline on small uop sequences: front end, allocation, scheduler, retirement. */
#include "core_fixture.h"

static struct code k, k2;
static const uint64_t none[MOCK_SLOTS];

/* Runs the block `times` times; a taken branch at its end leads to its start. The uop cache holds it from the second
 * time on. */
static void loop(struct bench *b, struct code *code, unsigned times, const uint64_t *slots)
{
	for (unsigned i = 0; i < times; i++)
		bench_run(b, code, slots, code->b.addr);
	core_flush(b->c, true);
}

static void test_dependent_adds_go_one_a_cycle(void **state)
{
	(void)state;
	struct bench b;
	fixture_start(&b, &k, NULL);
	for (unsigned i = 0; i < 20; i++)
		code_op(&k, ALU, 1, REG_GPR, REG_GPR);
	bench_run(&b, &k, none, 0);
	core_flush(b.c, true);
	assert_int_equal(out.uops, 20);
	for (unsigned i = 1; i < 20; i++)
		assert_int_equal(out.uop[i].dispatch, out.uop[i - 1].dispatch + 1);
	assert_int_equal(out.instructions, 20);
	bench_end(&b);
}

static void test_latency_delays_the_dependent_uop(void **state)
{
	(void)state;
	struct bench b;
	fixture_start(&b, &k, NULL);
	code_op(&k, 1, 5, REG_GPR, 0);
	code_op(&k, ALU, 1, REG_GPR + 1, REG_GPR);
	code_op(&k, ALU, 1, REG_GPR + 2, 0);
	bench_run(&b, &k, none, 0);
	core_flush(b.c, true);
	assert_int_equal(out.uop[1].dispatch, out.uop[0].dispatch + 5);
	assert_int_equal(out.uop[1].ready, out.uop[0].complete);
	assert_true(out.uop[2].dispatch < out.uop[1].dispatch);		/* out of order */
	assert_true(out.uop[2].retire >= out.uop[1].retire);		/* in order */
	bench_end(&b);
}

static void test_way_of_the_first_uop_is_exact(void **state)
{
	(void)state;
	struct bench b;
	fixture_start(&b, &k, NULL);
	code_op(&k, 1, 1, REG_GPR, 0);
	bench_run(&b, &k, none, 0);
	core_flush(b.c, true);
	struct seen *u = &out.uop[0];
	assert_int_equal(u->fetch, 3);		/* mite.latency: nothing is in the uop cache */
	assert_int_equal(u->alloc, 5);		/* frontend.latency 2 */
	assert_int_equal(u->dispatch, 8);	/* rs.dispatch_delay 3 */
	assert_int_equal(u->complete, 9);
	assert_int_equal(u->retire, 10);	/* retire.latency 1 */
	assert_true(u->did & SPMU_DID(FROM_MITE));
	bench_end(&b);
}

static void test_independent_adds_are_limited_by_allocation_width(void **state)
{
	(void)state;
	struct bench b;
	fixture_start(&b, &k, NULL);
	for (unsigned i = 0; i < 31; i++)
		code_op(&k, ALU, 1, REG_GPR + i % 8, 0);
	code_branch(&k, 2, 0, 0x1000, 0);
	loop(&b, &k, 200, none);
	/* 31 adds and a branch: 32 slots, 8 cycles an iteration when all comes from the uop cache */
	uint64_t last = out.uop[out.uops - 1].alloc, before = out.uop[out.uops - 1 - 32 * 20].alloc;
	assert_int_equal(last - before, 8 * 20);
	assert_true(out.uop[out.uops - 1].did & SPMU_DID(FROM_DSB));
	bench_end(&b);
}

static void test_uops_of_one_port_go_one_a_cycle(void **state)
{
	(void)state;
	struct bench b;
	fixture_start(&b, &k, NULL);
	for (unsigned i = 0; i < 12; i++)
		code_op(&k, 2, 3, REG_GPR + i, 0);
	bench_run(&b, &k, none, 0);
	core_flush(b.c, true);
	for (unsigned i = 1; i < 12; i++) {
		assert_int_equal(out.uop[i].dispatch, out.uop[i - 1].dispatch + 1);
		assert_int_equal(out.uop[i].port, 1);
	}
	bench_end(&b);
}

static void test_younger_uop_fills_a_hole_on_the_port(void **state)
{
	(void)state;
	struct bench b;
	fixture_start(&b, &k, NULL);
	code_op(&k, 1, 10, REG_GPR, 0);
	code_op(&k, 2, 1, REG_GPR + 1, REG_GPR);	/* waits for it on port 1 */
	code_op(&k, 2, 1, REG_GPR + 2, 0);		/* ready at once on port 1 */
	bench_run(&b, &k, none, 0);
	core_flush(b.c, true);
	assert_int_equal(out.uop[2].dispatch, out.uop[2].ready);
	assert_true(out.uop[2].dispatch < out.uop[1].dispatch);
	bench_end(&b);
}

static void test_ports_are_chosen_by_least_pending(void **state)
{
	(void)state;
	struct bench b;
	fixture_start(&b, &k, NULL);
	code_op(&k, 1, 50, REG_GPR, 0);
	for (unsigned i = 0; i < 3; i++)
		code_op(&k, 0x40, 1, REG_GPR + 1, REG_GPR);	/* three wait on port 6 */
	code_op(&k, 0x43, 1, REG_GPR + 2, REG_GPR);	/* 0, 1 or 6: 1, the higher of the least loaded */
	code_op(&k, 0x43, 1, REG_GPR + 2, REG_GPR);	/* now 0 or 1 has fewer */
	bench_run(&b, &k, none, 0);
	core_flush(b.c, true);
	assert_int_equal(out.uop[4].port, 1);
	assert_int_not_equal(out.uop[5].port, 6);
	bench_end(&b);
}

static void test_divider_blocks_for_its_busy_cycles(void **state)
{
	(void)state;
	struct bench b;
	fixture_start(&b, &k, NULL);
	for (unsigned i = 0; i < 5; i++) {
		struct uop *u = code_op(&k, 1, 20, REG_GPR + i, 0);
		u->busy = 6;
		u->unit = 1;
	}
	code_op(&k, 1, 1, REG_GPR + 6, 0);	/* same port, not the divider */
	bench_run(&b, &k, none, 0);
	core_flush(b.c, true);
	for (unsigned i = 1; i < 5; i++)
		assert_int_equal(out.uop[i].dispatch, out.uop[i - 1].dispatch + 6);
	assert_true(out.uop[5].dispatch < out.uop[1].dispatch + 6);
	assert_int_equal(heard_sum(SPMU_SIG_DIVIDER_ACTIVE), 30);
	bench_end(&b);
}

static void test_each_of_two_ports_has_a_divider(void **state)
{
	(void)state;
	struct bench b;
	fixture_start(&b, &k, NULL);
	for (unsigned i = 0; i < 8; i++) {
		struct uop *u = code_op(&k, 3, 20, REG_GPR + i, 0);
		u->busy = 5;
		u->unit = UNIT_FPDIVS;
	}
	bench_run(&b, &k, none, 0);
	core_flush(b.c, true);
	unsigned before[2] = { 8, 8 };	/* the last on each port */
	for (unsigned i = 0; i < 8; i++) {
		const unsigned port = out.uop[i].port, last = before[port];
		assert_true(last == 8 || out.uop[i].dispatch == out.uop[last].dispatch + 5);
		before[port] = i;
	}
	assert_int_equal(before[0] + before[1], 6 + 7);	/* both to the end */
	assert_int_equal(heard_sum(SPMU_SIG_DIVIDER_ACTIVE), 8 * 5);
	bench_end(&b);
}

/* Returns the latency of a division whose stream slot has the value `did`. Sets *apart to the cycles until the divider
 * takes the next division. */
static unsigned divided(const char *set, uint64_t did, unsigned *apart)
{
	struct bench b;
	fixture_start(&b, &k, set);
	for (unsigned i = 0; i < 2; i++) {
		struct uop *u = code_op(&k, 1, 20, REG_GPR + i, 0);
		u->busy = 6;
		u->unit = UNIT_INTDIV;
		u->slot = (uint16_t)code_slot(&k, ST_SLOT_REG, 8);
		k.slot[u->slot].reg = ST_SLOT_DIVIDED;
	}
	bench_run(&b, &k, (const uint64_t[]){ did, did }, 0);
	core_flush(b.c, true);
	const unsigned latency = out.uop[0].complete - out.uop[0].dispatch;
	*apart = out.uop[1].dispatch - out.uop[0].dispatch;
	assert_int_equal(heard_sum(SPMU_SIG_DIVIDER_ACTIVE), 2 * *apart);
	bench_end(&b);
	return latency;
}

static void test_division_takes_as_long_as_its_quotient_has_bits(void **state)
{
	(void)state;
	const char *set = "divide.latency=10 divide.bits=9 divide.wide=2 divide.overlap=7";
	unsigned apart;
	assert_int_equal(divided(NULL, UINT64_MAX, &apart), 20);	/* the latency of the uop */
	assert_int_equal(apart, 6);
	assert_int_equal(divided(set, 0, &apart), 10);			/* a quotient of 0 or 1 */
	assert_int_equal(apart, 6);
	assert_int_equal(divided(set, 255, &apart), 10);		/* 9 bits: all but the lowest */
	assert_int_equal(divided(set, 256, &apart), 11);		/* 10 bits */
	assert_int_equal(divided(set, UINT64_MAX >> 1, &apart), 17);	/* 64 bits */
	assert_int_equal(apart, 10);
	assert_int_equal(divided(set, UINT64_MAX, &apart), 19);		/* 64 bits, and the dividend has more */
	assert_int_equal(apart, 12);
}

static void test_rob_full_stalls_allocation_until_retirement(void **state)
{
	(void)state;
	struct bench b;
	fixture_start(&b, &k, "rob.size=16");
	code_op(&k, 1, 100, REG_GPR, 0);
	for (unsigned i = 0; i < 20; i++)
		code_op(&k, ALU, 1, REG_GPR + 1, 0);
	bench_run(&b, &k, none, 0);
	core_flush(b.c, true);
	assert_int_equal(out.uop[16].alloc, out.uop[0].retire + 1);
	assert_true(out.uop[16].did & SPMU_DID(STALL_ROB));
	assert_false(out.uop[15].did & SPMU_DID(STALL_ROB));
	assert_true(heard_sum(SPMU_SIG_RESOURCE_STALL_ROB) >= 90);
	assert_true(heard_count(SPMU_SIG_RESOURCE_STALL_ROB) >= 1);
	bench_end(&b);
}

static void test_scheduler_full_stalls_allocation_until_a_dispatch(void **state)
{
	(void)state;
	struct bench b;
	fixture_start(&b, &k, "rs.size=8 rs.group=0");
	code_op(&k, 1, 100, REG_GPR, 0);
	for (unsigned i = 0; i < 12; i++)
		code_op(&k, 2, 1, REG_GPR + 1, REG_GPR);	/* all wait for the first */
	bench_run(&b, &k, none, 0);
	core_flush(b.c, true);
	/* the first has left when uop 8 comes; uops 1 to 8 fill the scheduler */
	assert_int_equal(out.uop[9].alloc, out.uop[1].dispatch + 1);
	assert_true(out.uop[9].did & SPMU_DID(STALL_RS));
	assert_true(heard_sum(SPMU_SIG_RESOURCE_STALL_RS) >= 90);
	bench_end(&b);
}

static void test_group_waits_for_a_scheduler_entry_for_each_of_its_slots(void **state)
{
	(void)state;
	struct bench b;
	fixture_start(&b, &k, "rs.size=8 rs.group=1");
	code_op(&k, 1, 100, REG_GPR, 0);
	for (unsigned i = 0; i < 12; i++)
		code_op(&k, 1, 1, REG_GPR + 1, REG_GPR);	/* all wait for the first, on one port */
	bench_run(&b, &k, none, 0);
	core_flush(b.c, true);
	/* Seven uops wait after the first has left, so one entry is free. Three more dispatches free four entries, and
	 * the next four slots are allocated. */
	assert_int_equal(out.uop[8].alloc, out.uop[3].dispatch + 1);
	assert_int_equal(out.uop[11].alloc, out.uop[8].alloc);
	assert_true(out.uop[8].did & SPMU_DID(STALL_RS));
	bench_end(&b);
}

static void test_binding_to_the_first_port_leaves_the_others_idle(void **state)
{
	(void)state;
	static const char *const binding[] = { "ports.binding=first", "ports.binding=counts", "ports.binding=least" };
	for (unsigned i = 0; i < 3; i++) {
		struct bench b;
		unsigned used = 0;
		fixture_start(&b, &k, binding[i]);
		for (unsigned n = 0; n < 40; n++)
			code_op(&k, ALU, 1, REG_GPR + 1, 0);
		bench_run(&b, &k, none, 0);
		core_flush(b.c, true);
		for (unsigned n = 0; n < 40; n++)
			used |= 1u << out.uop[n].port;
		assert_int_equal(used, i ? ALU : 1);
		bench_end(&b);
	}
}

static void test_least_loaded_now_counts_the_slots_of_the_same_cycle(void **state)
{
	(void)state;
	for (unsigned i = 0; i < 2; i++) {
		struct bench b;
		fixture_start(&b, &k, i ? "ports.binding=least" : NULL);
		for (unsigned n = 0; n < 4; n++)
			code_op(&k, ALU, 1, REG_GPR + 1, 0);
		bench_run(&b, &k, none, 0);
		core_flush(b.c, true);
		/* counts are equal at the start of the cycle: even slots take the highest port, odd slots the next */
		assert_int_equal(out.uop[0].port, 6);
		assert_int_equal(out.uop[2].port == 6, !i);
		bench_end(&b);
	}
}

static void test_count_falls_the_cycle_after_dispatch(void **state)
{
	(void)state;
	unsigned at_once = 0, later = 0;
	for (unsigned cycles = 2; cycles < 10; cycles++) {	/* of four slots, from the first uop to the last */
		struct bench b;
		fixture_start(&b, &k, "frontend.simple=1");
		code_op(&k, 0x40, 1, REG_GPR, 0);	/* port 6 */
		for (unsigned n = 1; n < 4 * cycles; n++) {
			code_insn(&k, 2, 0);
			code_uop(&k, UOP_NOP, 0, 0, true);
		}
		code_op(&k, 0x41, 1, REG_GPR, 0);	/* port 6 if as many uops wait for port 6 as for port 0 */
		bench_run(&b, &k, none, k.b.addr);
		core_flush(b.c, true);
		const struct seen *first = &out.uop[0], *last = &out.uop[out.uops - 1];
		assert_int_equal(last->port, last->alloc <= first->dispatch + 1 ? 0 : 6);
		at_once += last->alloc == first->dispatch + 1;
		later += last->alloc == first->dispatch + 2;
		bench_end(&b);
	}
	assert_int_equal(at_once, 1);	/* both sides of the limit occurred */
	assert_int_equal(later, 1);
}

static void test_slot_that_begins_a_group_waits_for_the_next_cycle(void **state)
{
	(void)state;
	struct bench b;
	fixture_start(&b, &k, NULL);
	code_op(&k, ALU, 1, REG_GPR + 1, 0);
	code_op(&k, ALU, 1, REG_GPR + 2, 0);
	k.uop[1].flags |= UOP_GROUP;
	code_op(&k, ALU, 1, REG_GPR + 3, 0);
	code_op(&k, ALU, 1, REG_GPR + 4, 0);
	bench_run(&b, &k, none, 0);
	core_flush(b.c, true);
	assert_int_equal(out.uop[1].alloc, out.uop[0].alloc + 1);
	assert_int_equal(out.uop[3].alloc, out.uop[1].alloc);
	bench_end(&b);
}

static void test_eliminated_move_takes_no_port_and_no_time(void **state)
{
	(void)state;
	struct bench b;
	fixture_start(&b, &k, NULL);
	code_op(&k, 1, 10, REG_GPR, 0);
	code_insn(&k, 3, 0);
	struct uop *u = code_uop(&k, UOP_ELIMINATED, 0, 0, true);
	u->src[0] = REG_GPR;
	u->dst[0] = REG_GPR + 1;
	code_op(&k, ALU, 1, REG_GPR + 2, REG_GPR + 1);
	bench_run(&b, &k, none, 0);
	core_flush(b.c, true);
	assert_int_equal(out.uop[1].port, 255);
	assert_int_equal(out.uop[2].ready, out.uop[0].complete);
	bench_end(&b);
}

static void test_zero_idiom_breaks_the_dependence(void **state)
{
	(void)state;
	struct bench b;
	fixture_start(&b, &k, NULL);
	code_op(&k, 1, 50, REG_GPR, 0);
	code_insn(&k, 2, 0);
	code_uop(&k, UOP_ELIMINATED, 0, 0, true)->dst[0] = REG_GPR;
	code_op(&k, ALU, 1, REG_GPR + 2, REG_GPR);
	bench_run(&b, &k, none, 0);
	core_flush(b.c, true);
	assert_true(out.uop[2].dispatch < out.uop[0].complete);
	bench_end(&b);
}

static void test_mispredict_costs_redirect_and_pipeline(void **state)
{
	(void)state;
	struct bench b;
	fixture_start(&b, &k, NULL);
	code_op(&k, ALU, 1, REG_GPR, 0);
	code_branch(&k, 2, INSN_COND, 0x1000, REG_GPR);
	for (unsigned i = 0; i < 3; i++)
		bench_run(&b, &k, none, 0x1000);
	mock.bad_branch = k.insn[1].addr;
	mock.bad_times = 1;
	bench_run(&b, &k, none, 0x1000);
	bench_run(&b, &k, none, 0x1000);
	core_flush(b.c, true);
	struct seen *branch = &out.uop[7], *next = &out.uop[8];
	assert_true(branch->did & SPMU_DID(MISPREDICTED));
	assert_true(branch->did & SPMU_DID(TAKEN));
	assert_int_equal(branch->addr, 0x1000);
	assert_int_equal(next->fetch, branch->complete + 6);	/* recovery.redirect, from the uop cache */
	assert_int_equal(next->alloc, branch->complete + 6 + 2);
	assert_true(next->did & SPMU_DID(FROM_DSB));
	assert_int_equal(heard_sum(SPMU_SIG_RECOVERY), 4);
	/* from the end of recovery until allocation, empty slots are the front end's: 6 + 2 - 4 cycles of 4 slots */
	uint64_t bubbles = 0;
	for (unsigned i = 0; i < out.signals; i++)
		if (out.signal[i].signal == SPMU_SIG_IDQ_BUBBLE && out.signal[i].begin >= branch->complete)
			bubbles += (out.signal[i].end - out.signal[i].begin) * out.signal[i].count;
	assert_true(bubbles >= 16 && bubbles < 16 + 4);
	bench_end(&b);
}

static void test_correct_prediction_costs_nothing(void **state)
{
	(void)state;
	struct bench b;
	fixture_start(&b, &k, NULL);
	code_op(&k, ALU, 1, REG_GPR, REG_GPR);
	code_branch(&k, 2, INSN_COND, 0x1000, REG_GPR);
	loop(&b, &k, 100, none);
	assert_int_equal(out.uop[198].dispatch - out.uop[98].dispatch, 50);	/* one cycle an iteration: the chain */
	assert_int_equal(heard_count(SPMU_SIG_RECOVERY), 0);
	bench_end(&b);
}

static void test_resteer_bubbles_without_a_flush(void **state)
{
	(void)state;
	struct bench b;
	fixture_start(&b, &k, "frontend.resteer=9");
	code_branch(&k, 2, 0, 0x1000, 0);
	for (unsigned i = 0; i < 3; i++)
		bench_run(&b, &k, none, 0x1000);
	mock.resteer_branch = 0x1000;
	bench_run(&b, &k, none, 0x1000);
	mock.resteer_branch = ~UINT64_C(0);
	bench_run(&b, &k, none, 0x1000);
	core_flush(b.c, true);
	assert_int_equal(out.uop[4].fetch, out.uop[3].fetch + 10);	/* 1 for the taken branch, 9 for the bubble */
	assert_true(out.uop[3].did & SPMU_DID(BTB_MISS));
	assert_int_equal(heard_count(SPMU_SIG_BACLEAR), 1);
	assert_int_equal(heard_count(SPMU_SIG_RECOVERY), 0);
	bench_end(&b);
}

static void test_not_taken_branch_goes_on_behind_it(void **state)
{
	(void)state;
	struct bench b;
	fixture_start(&b, &k, NULL);
	code_branch(&k, 2, INSN_COND, 0x5000, 0);
	bench_run(&b, &k, none, 0x1002);
	core_flush(b.c, true);
	assert_false(out.uop[0].did & SPMU_DID(TAKEN));
	assert_int_equal(out.uop[0].addr, 0x1002);
	assert_int_equal(mock.taken, 0);
	assert_int_equal(mock.last_target, 0x5000);
	bench_end(&b);
}

static void test_unknown_next_address_is_fall_through(void **state)
{
	(void)state;
	struct bench b;
	fixture_start(&b, &k, NULL);
	code_branch(&k, 2, INSN_COND, 0x5000, 0);
	bench_run(&b, &k, none, 0);
	core_flush(b.c, true);
	assert_false(out.uop[0].did & SPMU_DID(TAKEN));
	bench_end(&b);
}

static void test_retirement_is_limited_to_its_width(void **state)
{
	(void)state;
	struct bench b;
	fixture_start(&b, &k, "retire.width=2");
	code_op(&k, 1, 60, REG_GPR, 0);
	for (unsigned i = 0; i < 9; i++)
		code_op(&k, ALU, 1, REG_GPR + 1, 0);
	bench_run(&b, &k, none, 0);
	core_flush(b.c, true);
	for (unsigned i = 1; i < 10; i++)
		assert_int_equal(out.uop[i].retire, out.uop[0].retire + i / 2);
	bench_end(&b);
}

static void test_macro_fused_pair_retires_two_instructions(void **state)
{
	(void)state;
	struct bench b;
	fixture_start(&b, &k, NULL);
	code_insn(&k, 3, INSN_FUSES_NEXT);
	struct uop *u = code_uop(&k, UOP_BRANCH, 0x40, 1, true);
	u->is |= SPMU_IS(INST_END2) | SPMU_IS(MACRO_FUSED) | SPMU_IS(BRANCH) | SPMU_IS(COND);
	u->flags |= UOP_FUSED_BRANCH;
	struct insn *in = code_insn(&k, 2, INSN_BRANCH | INSN_COND | INSN_FUSED_INTO_PREV);
	in->target = 0x1000;
	bench_run(&b, &k, none, 0x1000);
	core_flush(b.c, true);
	assert_int_equal(out.uops, 1);
	assert_int_equal(out.instructions, 2);
	assert_int_equal(core_instructions(b.c), 2);
	assert_true(out.uop[0].did & SPMU_DID(TAKEN));
	assert_int_equal(out.uop[0].addr, 0x1000);
	assert_int_equal(mock.branches, 1);
	bench_end(&b);
}

static void test_half_of_a_fused_pair_retires_one(void **state)
{
	(void)state;
	struct bench b;
	fixture_start(&b, &k, NULL);
	code_insn(&k, 3, INSN_FUSES_NEXT);
	code_uop(&k, UOP_BRANCH, 0x40, 1, true)->is |= SPMU_IS(INST_END2) | SPMU_IS(BRANCH);
	code_insn(&k, 2, INSN_BRANCH | INSN_COND | INSN_FUSED_INTO_PREV);
	code_exit(&k, ST_JUMP_BORING, 0);
	core_run_block(b.c, &k.b, 0, 1, none, 0);	/* cut behind the compare */
	core_flush(b.c, true);
	assert_int_equal(out.instructions, 1);
	assert_int_equal(mock.branches, 0);
	assert_false(out.uop[0].is & SPMU_IS(BRANCH));
	bench_end(&b);
}

static void test_serializing_uop_waits_and_holds_back(void **state)
{
	(void)state;
	struct bench b;
	fixture_start(&b, &k, NULL);
	code_op(&k, 1, 40, REG_GPR, 0);
	code_insn(&k, 2, INSN_SERIALIZE);
	code_uop(&k, UOP_SERIALIZE, 1, 10, true);
	code_op(&k, ALU, 1, REG_GPR + 1, 0);
	bench_run(&b, &k, none, 0);
	core_flush(b.c, true);
	assert_true(out.uop[1].alloc > out.uop[0].retire);
	assert_true(out.uop[2].alloc > out.uop[1].retire);
	bench_end(&b);
}

static void test_load_fence_holds_back_younger_uops(void **state)
{
	(void)state;
	struct bench b;
	fixture_start(&b, &k, NULL);
	code_op(&k, 1, 40, REG_GPR, 0);
	code_insn(&k, 3, 0);
	code_uop(&k, UOP_FENCE_LOAD, 0, 1, true);
	code_op(&k, ALU, 1, REG_GPR + 1, 0);
	bench_run(&b, &k, none, 0);
	core_flush(b.c, true);
	assert_true(out.uop[1].complete > out.uop[0].complete);
	assert_true(out.uop[2].dispatch > out.uop[1].complete);
	bench_end(&b);
}

static void test_pause_stops_allocation(void **state)
{
	(void)state;
	struct bench b;
	fixture_start(&b, &k, "pause.cycles=100");
	code_op(&k, ALU, 1, REG_GPR, 0)->is |= SPMU_IS(PAUSE);
	code_op(&k, ALU, 1, REG_GPR, 0);
	bench_run(&b, &k, none, 0);
	core_flush(b.c, true);
	assert_int_equal(out.uop[1].alloc, out.uop[0].alloc + 100);
	bench_end(&b);
}

static void test_halt_is_no_cycles(void **state)
{
	(void)state;
	struct bench b;
	fixture_start(&b, &k, NULL);
	code_op(&k, ALU, 1, REG_GPR, 0);
	bench_run(&b, &k, none, 0);
	uint64_t stopped = core_now(b.c);
	core_halt_until(b.c, stopped + UINT64_C(10000000000));
	assert_int_equal(core_now(b.c), stopped + UINT64_C(10000000000));
	bench_run(&b, &k, none, 0);
	core_flush(b.c, true);
	assert_int_equal(out.uops, 2);
	assert_true(out.uop[1].fetch >= stopped + UINT64_C(10000000000));
	assert_int_equal(heard_sum(SPMU_SIG_CYCLES), stopped + core_now(b.c) - (stopped + UINT64_C(10000000000)));
	assert_int_equal(out.violations, 0);
	core_halt_until(b.c, 5);		/* past: nothing */
	assert_true(core_now(b.c) > 5);
	bench_end(&b);
}

static void test_cycles_sum_up_to_the_last_retirement(void **state)
{
	(void)state;
	struct bench b;
	fixture_start(&b, &k, NULL);
	for (unsigned i = 0; i < 9; i++)
		code_op(&k, ALU, 1 + i % 3, REG_GPR + i % 4, REG_GPR + i % 3);
	code_branch(&k, 2, 0, 0x1000, 0);
	loop(&b, &k, 1000, none);
	assert_int_equal(heard_sum(SPMU_SIG_CYCLES), core_now(b.c));
	assert_int_equal(core_now(b.c), out.uop[out.uops - 1].retire);
	assert_true(out.batches > 5);
	assert_int_equal(out.lasts, 1);
	bench_end(&b);
}

static void test_failed_retry_inside_the_tracer_does_not_retire(void **state)
{
	(void)state;
	struct bench b;
	fixture_start(&b, &k, NULL);
	code_op(&k, ALU, 1, REG_GPR, 0);
	code_op(&k, ALU, 1, REG_GPR, 0);
	code_exit(&k, ST_JUMP_REPEAT, k.insn[1].addr);
	code_exit(&k, ST_JUMP_BORING, 0);
	core_run_block(b.c, &k.b, 0, 2, none, k.insn[1].addr);
	code_start(&k2, k.insn[1].addr);
	code_op(&k2, ALU, 1, REG_GPR, 0);
	bench_run(&b, &k2, none, 0);
	core_flush(b.c, true);
	assert_int_equal(out.instructions, 2);
	bench_end(&b);
}

static void test_unwanted_signals_do_not_change_the_timing(void **state)
{
	(void)state;
	struct bench b;
	uint64_t now[2];
	for (unsigned round = 0; round < 2; round++) {
		fixture_start(&b, NULL, "rob.size=32");
		if (round)
			core_want(b.c, &(struct core_wanted){ .is = ~UINT64_C(0), .did = ~UINT64_C(0) });
		code_start(&k, 0x1000);
		for (unsigned i = 0; i < 20; i++) {
			code_store(&k, REG_GPR, REG_GPR + 1, 8);
			code_load(&k, REG_GPR + i % 4, REG_GPR + (i + 1) % 4, 8);
		}
		code_branch(&k, 2, 0, 0x1000, 0);
		uint64_t slots[MOCK_SLOTS];
		for (unsigned i = 0; i < MOCK_SLOTS; i++)
			slots[i] = 0x10000 + 24 * i;
		mock.miss_from = 0x10100, mock.miss_to = 0x10200;
		loop(&b, &k, 300, slots);
		now[round] = core_now(b.c);
		if (round)
			assert_int_equal(out.signals, 0);
		bench_end(&b);
	}
	assert_int_equal(now[0], now[1]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_dependent_adds_go_one_a_cycle),
		cmocka_unit_test(test_latency_delays_the_dependent_uop),
		cmocka_unit_test(test_way_of_the_first_uop_is_exact),
		cmocka_unit_test(test_independent_adds_are_limited_by_allocation_width),
		cmocka_unit_test(test_uops_of_one_port_go_one_a_cycle),
		cmocka_unit_test(test_younger_uop_fills_a_hole_on_the_port),
		cmocka_unit_test(test_ports_are_chosen_by_least_pending),
		cmocka_unit_test(test_divider_blocks_for_its_busy_cycles),
		cmocka_unit_test(test_division_takes_as_long_as_its_quotient_has_bits),
		cmocka_unit_test(test_each_of_two_ports_has_a_divider),
		cmocka_unit_test(test_rob_full_stalls_allocation_until_retirement),
		cmocka_unit_test(test_scheduler_full_stalls_allocation_until_a_dispatch),
		cmocka_unit_test(test_group_waits_for_a_scheduler_entry_for_each_of_its_slots),
		cmocka_unit_test(test_binding_to_the_first_port_leaves_the_others_idle),
		cmocka_unit_test(test_least_loaded_now_counts_the_slots_of_the_same_cycle),
		cmocka_unit_test(test_count_falls_the_cycle_after_dispatch),
		cmocka_unit_test(test_slot_that_begins_a_group_waits_for_the_next_cycle),
		cmocka_unit_test(test_eliminated_move_takes_no_port_and_no_time),
		cmocka_unit_test(test_zero_idiom_breaks_the_dependence),
		cmocka_unit_test(test_mispredict_costs_redirect_and_pipeline),
		cmocka_unit_test(test_correct_prediction_costs_nothing),
		cmocka_unit_test(test_resteer_bubbles_without_a_flush),
		cmocka_unit_test(test_not_taken_branch_goes_on_behind_it),
		cmocka_unit_test(test_unknown_next_address_is_fall_through),
		cmocka_unit_test(test_retirement_is_limited_to_its_width),
		cmocka_unit_test(test_macro_fused_pair_retires_two_instructions),
		cmocka_unit_test(test_half_of_a_fused_pair_retires_one),
		cmocka_unit_test(test_serializing_uop_waits_and_holds_back),
		cmocka_unit_test(test_load_fence_holds_back_younger_uops),
		cmocka_unit_test(test_pause_stops_allocation),
		cmocka_unit_test(test_halt_is_no_cycles),
		cmocka_unit_test(test_cycles_sum_up_to_the_last_retirement),
		cmocka_unit_test(test_failed_retry_inside_the_tracer_does_not_retire),
		cmocka_unit_test(test_unwanted_signals_do_not_change_the_timing),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
