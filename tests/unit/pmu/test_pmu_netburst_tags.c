/* SPDX-License-Identifier: GPL-2.0-or-later
 * NetBurst's tagging: front end, execution, replay; the at-retirement events that see the tags; PEBS.
 */
#include "netburst_setup.h"

static int setup(void **state)
{
	(void)state;
	return nb_setup_pmu("netburst");
}

static void tag(struct spmu *q, uint32_t msr, const char *event, uint32_t value)
{
	nb_write(q, msr, nb_escr(fixture_event(model, event), ALL_CLASSES) | SPMU_ESCR_TAG_ENABLE |
		SPMU_ESCR_TAG(value));
}

/* Enables counter n, so that the ESCRs of its block tag. */
static void wake(struct spmu *q, unsigned n)
{
	nb_write(q, NB_CCCR(n), SPMU_CCCR_ENABLE | SPMU_CCCR_ACTIVE(3));
}

/* 5 loads (one squashed), 3 stores, 4 packed and 2 scalar uops (one of each squashed), a locked load, a return that
 * loads, 2 others. */
static void mixture(void)
{
	uint64_t at = 100;
	for (unsigned i = 0; i < 4; i++)
		stream_inst(&s, 1, SPMU_IS(LOAD), i == 0 ? SPMU_DID(L1D_MISS) | SPMU_DID(L2_MISS) |
			SPMU_DID(DTLB_MISS) :
			i == 1 ? SPMU_DID(LFB_HIT) : i == 2 ? SPMU_DID(SPLIT_LINE) : SPMU_DID(FORWARD_BLOCKED), at++);
	stream_squashed(&s, SPMU_IS(LOAD), at);
	s.r[s.n - 1].did |= SPMU_DID(L1D_MISS);
	for (unsigned i = 0; i < 3; i++)
		stream_inst(&s, 2, SPMU_IS(STORE_ADDR), i == 0 ? SPMU_DID(DTLB_MISS) : i == 1 ? SPMU_DID(SPLIT_LINE)
			: 0, at++);
	for (unsigned i = 0; i < 3; i++)
		stream_inst(&s, 3, SPMU_IS(FP_128_DOUBLE), 0, at++);
	stream_squashed(&s, SPMU_IS(FP_128_DOUBLE), at);
	stream_inst(&s, 4, SPMU_IS(FP_SCALAR_DOUBLE), 0, at++);
	stream_squashed(&s, SPMU_IS(FP_SCALAR_DOUBLE), at);
	stream_inst(&s, 5, SPMU_IS(LOAD) | SPMU_IS(LOCK), SPMU_DID(L1D_MISS), at++);
	stream_inst(&s, 6, SPMU_IS(LOAD) | SPMU_IS(RET) | SPMU_IS(BRANCH), SPMU_DID(L1D_MISS) | SPMU_DID(MISPREDICTED),
		at++);
	stream_inst(&s, 7, SPMU_IS(BRANCH), SPMU_DID(MISPREDICTED) | SPMU_DID(TAKEN), at++);
	stream_inst(&s, 8, 0, 0, at++);
	stream_cycles(&s, 0, 3, 0, at);
}

static void test_front_end_tags_count_loads_or_stores(void **state)
{
	static const struct { const char *event; uint64_t nbogus, bogus; } table[] = {
		{ "uop_type.TAGLOADS", 4, 1 }, { "uop_type.TAGSTORES", 3, 0 },
	};
	(void)state;
	mixture();
	for (unsigned i = 0; i < 2; i++)
		for (unsigned side = 0; side < 2; side++) {
			struct spmu *q = netburst_pmu(model, NULL);
			tag(q, MSR_RAT_ESCR0 + side, table[i].event, 1);
			nb_program(q, 12, "front_end_event.NBOGUS", T0, 0);
			nb_program(q, 14, "front_end_event.BOGUS", T0, 0);
			stream_send_all(&s, q);
			assert_int_equal(nb_count(q, 12), table[i].nbogus);	/* not the locked load, not RET */
			assert_int_equal(nb_count(q, 14), table[i].bogus);
			spmu_destroy(q);
		}
}

static void test_both_kinds_of_front_end_tags_add_up(void **state)
{
	(void)state;
	mixture();
	nb_write(p, MSR_RAT_ESCR0, SPMU_ESCR_EVENT(2) | SPMU_ESCR_MASK(6) | ALL_CLASSES | SPMU_ESCR_TAG_ENABLE);
	nb_write(p, MSR_CRU_ESCR2, SPMU_ESCR_EVENT(8) | SPMU_ESCR_MASK(3) | T0);
	nb_write(p, NB_CCCR(12), SPMU_CCCR_ENABLE | SPMU_CCCR_ACTIVE(3) | SPMU_CCCR_SELECT(5));
	stream_send_all(&s, p);
	assert_int_equal(nb_count(p, 12), 4 + 1 + 3);
}

static void test_without_tag_enable_nothing_is_tagged(void **state)
{
	(void)state;
	mixture();
	nb_write(p, MSR_RAT_ESCR0, nb_escr(fixture_event(model, "uop_type.TAGLOADS"), ALL_CLASSES) | SPMU_ESCR_TAG(15));
	nb_program(p, 12, "front_end_event.NBOGUS", T0, 0);
	stream_send_all(&s, p);
	assert_int_equal(nb_count(p, 12), 0);
}

static void test_an_escr_s_privilege_bits_qualify_tags(void **state)
{
	(void)state;
	stream_inst(&s, 1, SPMU_IS(LOAD), 0, 10);
	stream_inst(&s, 2, SPMU_IS(LOAD), 0, 11)->cpl = 0;
	stream_inst(&s, 3, SPMU_IS(LOAD), 0, 12)->cpl = 0;
	nb_write(p, MSR_RAT_ESCR0, nb_escr(fixture_event(model, "uop_type.TAGLOADS"), SPMU_ESCR_T0_OS) |
		SPMU_ESCR_TAG_ENABLE);
	nb_program(p, 12, "front_end_event.NBOGUS", T0, 0);
	stream_send_all(&s, p);
	assert_int_equal(nb_count(p, 12), 2);
}

static void test_execution_tags_have_four_bits(void **state)
{
	(void)state;
	mixture();
	for (uint32_t value = 0; value < 16; value++)
		for (uint32_t mask = 1; mask < 256; mask += 1 + (mask & 7)) {
			struct spmu *q = netburst_pmu(model, NULL);
			tag(q, MSR_FIRM_ESCR0, "packed_DP_uop.ALL", value);
			wake(q, 8);
			nb_write(q, MSR_CRU_ESCR2, SPMU_ESCR_EVENT(0xc) | SPMU_ESCR_MASK(mask) | T0);
			nb_write(q, NB_CCCR(16), SPMU_CCCR_ENABLE | SPMU_CCCR_ACTIVE(3) | SPMU_CCCR_SELECT(5));
			stream_send_all(&s, q);
			uint64_t want = (mask & 15 & value ? 3 : 0) + (mask >> 4 & value ? 1 : 0);
			if (nb_count(q, 16) != want)
				fail_msg("tag %x mask %x: %llu", value, mask, (unsigned long long)nb_count(q, 16));
			spmu_destroy(q);
		}
}

static void test_two_execution_tags_are_told_apart(void **state)
{
	(void)state;
	mixture();
	tag(p, MSR_FIRM_ESCR0, "packed_DP_uop.ALL", 1);
	tag(p, MSR_FIRM_ESCR1, "scalar_DP_uop.ALL", 4);
	wake(p, 8);
	nb_program(p, 12, "execution_event.NBOGUS0", T0, 0);
	nb_program(p, 14, "execution_event.NBOGUS2", T0, 0);
	stream_send_all(&s, p);
	assert_int_equal(nb_count(p, 12), 3);
	assert_int_equal(nb_count(p, 14), 1);
}

/* SDM: an ESCR used for tagging needs an enabled counter that can see it or its pair, or counts may be 0. */
static void test_tags_need_an_enabled_counter_of_the_escr_s_block(void **state)
{
	(void)state;
	mixture();
	for (unsigned n = 0; n < 18; n++) {
		if (n == 16)
			continue;
		struct spmu *q = netburst_pmu(model, NULL);
		tag(q, MSR_FIRM_ESCR0, "packed_DP_uop.ALL", 1);
		wake(q, n);
		nb_program(q, 16, "execution_event.NBOGUS0", T0, 0);
		stream_send_all(&s, q);
		assert_int_equal(nb_count(q, 16), n >= 8 && n < 12 ? 3 : 0);
		spmu_destroy(q);
	}
}

static void test_replay_tags_count_the_metrics_of_the_manual(void **state)
{
	static const struct { const char *event; uint64_t count; const char *upstream; uint32_t msr; unsigned awake;
		} table[] = {
		/* a missing load, and one that finds the line on its way */
		{ "replay_event.L1_LD_MISS", 2, NULL, 0, 0 },
		{ "replay_event.L2_LD_MISS", 1, NULL, 0, 0 },
		{ "replay_event.DTLB_LD_MISS", 1, NULL, 0, 0 },
		{ "replay_event.DTLB_ST_MISS", 1, NULL, 0, 0 },
		{ "replay_event.DTLB_ALL_MISS", 2, NULL, 0, 0 },
		{ "replay_event.BR_MSP", 1, NULL, 0, 0 },
		{ "replay_event.MOB_LD_REPLAY", 1, "MOB_load_replay.PARTIAL_DATA:UNALGN_ADDR", MSR_MOB_ESCR0, 0 },
		{ "replay_event.SP_LD_RET", 1, "load_port_replay.SPLIT_LD", MSR_SAAT_ESCR1, 10 },
		{ "replay_event.SP_ST_RET", 1, "store_port_replay.SPLIT_ST", MSR_SAAT_ESCR0, 8 },
	};
	(void)state;
	mixture();
	for (size_t i = 0; i < sizeof table / sizeof *table; i++)
		/* with = 0: without UOP_TAG; 1: without the upstream event; 2: complete */
		for (unsigned with = 0; with < 3; with++) {
			struct spmu *q = netburst_pmu(model, NULL);
			const struct spmu_event *e = fixture_event(model, table[i].event);
			assert_true(e->replay_enable & SPMU_PEBS_UOP_TAG);
			nb_write(q, MSR_PEBS_ENABLE, e->replay_enable & ~(with ? 0 : SPMU_PEBS_UOP_TAG));
			nb_write(q, MSR_PEBS_MATRIX_VERT, e->replay_matrix);
			if (table[i].upstream && with == 2) {
				assert_string_equal(e->upstream, table[i].upstream);
				nb_write(q, table[i].msr, nb_escr(fixture_event(model, table[i].upstream),
					ALL_CLASSES));
				wake(q, table[i].awake);
			}
			nb_program(q, 12, table[i].event, T0, 0);
			stream_send_all(&s, q);
			uint64_t want = !with || (with == 1 && table[i].upstream) ? 0 : table[i].count;
			if (nb_count(q, 12) != want)
				fail_msg("%s (%u): %llu", table[i].event, with, (unsigned long long)nb_count(q, 12));
			spmu_destroy(q);
		}
}

static void test_a_replay_metric_needs_all_of_its_bits(void **state)
{
	static const struct { uint32_t enable, matrix, mob; uint64_t count; } table[] = {
		{ 0x18000, 0x10, 0, 1 }, { 0x8000, 0x10, 0, 0 }, { 0x10000, 0x10, 0, 0 }, { 0x18000, 3, 0, 0 },
		{ 1, 0x10, 0, 0 }, { 1, 2, 0, 0 },
		{ 4, 0x10, 0, 0 }, { 0x200, 1, 0x30, 1 }, { 0x200, 1, 0x10, 0 }, { 0x200, 1, 0x20, 0 },
		{ 0x200, 2, 0x30, 0 },
	};
	(void)state;
	mixture();
	for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
		struct spmu *q = netburst_pmu(model, NULL);
		nb_write(q, MSR_PEBS_ENABLE, SPMU_PEBS_UOP_TAG | table[i].enable);
		nb_write(q, MSR_PEBS_MATRIX_VERT, table[i].matrix);
		if (table[i].mob)
			nb_write(q, MSR_MOB_ESCR1, SPMU_ESCR_EVENT(3) | SPMU_ESCR_MASK(table[i].mob) | T0);
		wake(q, 2);
		nb_program(q, 12, "replay_event.NBOGUS", T0, 0);
		stream_send_all(&s, q);
		if (nb_count(q, 12) != table[i].count)
			fail_msg("enable %x matrix %x mob %x: %llu", table[i].enable, table[i].matrix, table[i].mob,
				(unsigned long long)nb_count(q, 12));
		spmu_destroy(q);
	}
}

static void test_far_transfers_cannot_be_tagged(void **state)
{
	(void)state;
	stream_inst(&s, 1, SPMU_IS(LOAD) | SPMU_IS(FAR), 0, 10);
	stream_inst(&s, 2, SPMU_IS(LOAD), 0, 11);
	tag(p, MSR_RAT_ESCR0, "uop_type.TAGLOADS", 1);
	nb_program(p, 12, "front_end_event.NBOGUS", T0, 0);
	stream_send_all(&s, p);
	assert_int_equal(nb_count(p, 12), 1);
}

/* Execution events are thread-independent: the privilege level decides which uops are tagged, not the thread. */
static void test_execution_tags_go_to_both_threads(void **state)
{
	(void)state;
	for (unsigned i = 0; i < 8; i++) {
		struct spmu_record *r = stream_inst(&s, i, SPMU_IS(X87), 0, 10 + i);
		r->hw_thread = i & 1;
		r->cpl = i & 2 ? 0 : 3;
	}
	nb_write(p, MSR_FIRM_ESCR0, nb_escr(fixture_event(model, "x87_FP_uop.ALL"), SPMU_ESCR_T0_USR) |
		SPMU_ESCR_TAG_ENABLE | SPMU_ESCR_TAG(1));
	wake(p, 8);
	nb_program(p, 12, "execution_event.NBOGUS0", ALL_CLASSES, 0);
	stream_send_all(&s, p);
	assert_int_equal(nb_count(p, 12), 4);
}

static void test_bogus_replays_are_counted(void **state)
{
	(void)state;
	mixture();
	nb_write(p, MSR_PEBS_ENABLE, SPMU_PEBS_UOP_TAG | 1);
	nb_write(p, MSR_PEBS_MATRIX_VERT, 1);
	nb_program(p, 12, "replay_event.BOGUS", T0, 0);
	stream_send_all(&s, p);
	assert_int_equal(nb_count(p, 12), 1);
}

/* An instruction that begins but never ends (it is squashed) leaves no tag to the next instruction. */
static void test_an_instruction_that_does_not_end_passes_no_tag_on(void **state)
{
	(void)state;
	stream_squashed(&s, SPMU_IS(LOAD), 20)->is &= ~SPMU_IS(INST_END);
	stream_inst(&s, 2, 0, 0, 21);
	tag(p, MSR_RAT_ESCR0, "uop_type.TAGLOADS", 1);
	nb_program(p, 12, "instr_retired.NBOGUSTAG", T0, 0);
	nb_program(p, 14, "instr_retired.NBOGUSNTAG", T0, 0);
	stream_send_all(&s, p);
	assert_int_equal(nb_count(p, 12), 0);
	assert_int_equal(nb_count(p, 14), 1);
}

/* An instruction is tagged when one of its uops is, wherever a batch ends. */
static void test_instructions_are_split_by_tag(void **state)
{
	(void)state;
	for (unsigned i = 0; i < 60; i++) {
		stream_inst(&s, i, i % 3 ? 0 : SPMU_IS(LOAD), 0, 20 + 2 * i)->is &= ~SPMU_IS(INST_END);
		stream_inst(&s, i, 0, 0, 21 + 2 * i)->is &= ~SPMU_IS(INST_BEGIN);
	}
	for (uint64_t seed = 1; seed < 9; seed++) {
		struct spmu *q = netburst_pmu(model, NULL);
		tag(q, MSR_RAT_ESCR0, "uop_type.TAGLOADS", 1);
		nb_program(q, 12, "instr_retired.NBOGUSTAG", T0, 0);
		nb_program(q, 14, "instr_retired.NBOGUSNTAG", T0, 0);
		stream_send_cut(&s, q, seed, seed);
		assert_int_equal(nb_count(q, 12), 20);
		assert_int_equal(nb_count(q, 14), 40);
		spmu_destroy(q);
	}
}

static void test_two_threads_instructions_do_not_mix_their_tags(void **state)
{
	(void)state;
	/* T0's two-uop instructions begin with a load, T1's do not; uops alternate. */
	for (unsigned i = 0; i < 40; i++)
		for (unsigned thread = 0; thread < 2; thread++) {
			struct spmu_record *r = stream_inst(&s, i / 2, thread || i & 1 ? 0 : SPMU_IS(LOAD), 0, 20 + i);
			r->is &= ~(i & 1 ? SPMU_IS(INST_BEGIN) : SPMU_IS(INST_END));
			r->hw_thread = (uint8_t)thread;
		}
	tag(p, MSR_RAT_ESCR0, "uop_type.TAGLOADS", 1);
	nb_program(p, 12, "instr_retired.NBOGUSTAG", ALL_CLASSES, 0);
	nb_program(p, 14, "instr_retired.NBOGUSTAG", SPMU_ESCR_T1_USR, 0);
	stream_send_all(&s, p);
	assert_int_equal(nb_count(p, 12), 20);
	assert_int_equal(nb_count(p, 14), 0);
}

/* One PMU counts the first half of a stream. Another takes over its state in the middle of a tagged instruction and
 * counts the rest. */
static void test_a_saved_state_goes_on_in_another_pmu(void **state)
{
	(void)state;
	for (unsigned i = 0; i < 60; i++) {
		stream_inst(&s, i, i % 3 ? 0 : SPMU_IS(LOAD), 0, 20 + 2 * i)->is &= ~SPMU_IS(INST_END);
		stream_inst(&s, i, 0, 0, 21 + 2 * i)->is &= ~SPMU_IS(INST_BEGIN);
	}
	void *block = malloc(spmu_state_bytes(p));
	tag(p, MSR_RAT_ESCR0, "uop_type.TAGLOADS", 1);
	nb_program(p, 12, "instr_retired.NBOGUSTAG", T0, 0);
	nb_program(p, 14, "front_end_event.NBOGUS", T0, 0);
	nb_program(p, 15, "front_end_event.NBOGUS", T0, SPMU_CCCR_COMPARE);
	nb_program(p, 13, "instr_retired.NBOGUSTAG", T0, SPMU_CCCR_CASCADE);
	nb_write(p, NB_CCCR(13), fixture_read(p, NB_CCCR(13)) & ~(uint64_t)SPMU_CCCR_ENABLE);
	nb_write(p, NB_COUNTER(15), (uint64_t)-5);
	stream_send(&s, 0, 61, 0, 80, false, p);	/* ends behind the load of the 31st instruction */
	spmu_save(p, block);
	struct spmu *q = netburst_pmu(model, NULL);
	assert_int_equal(spmu_restore(q, block), SPMU_OK);
	stream_send(&s, 61, s.n, 80, 300, true, q);
	assert_int_equal(nb_count(q, 12), 20);
	assert_int_equal(nb_count(q, 14), 20);
	assert_int_equal(nb_count(q, 15), 15);
	assert_int_equal(nb_count(q, 13), 16);	/* from the fifth load on: its own instruction, and 15 more */
	/* a damaged state is refused and changes nothing, or it is a possible state that counts without crashing */
	uint64_t before = fixture_read(q, MSR_RAT_ESCR0);
	for (size_t byte = 0; byte < spmu_state_bytes(p); byte++) {
		((uint8_t *)block)[byte] ^= 0x80;
		pmu_save_seal(p, block);
		struct spmu *r = netburst_pmu(model, NULL);
		if (spmu_restore(r, block) != SPMU_OK)
			assert_int_equal(fixture_read(r, MSR_RAT_ESCR0), 0);
		stream_send(&s, 0, 100, 0, 300, true, r);
		spmu_destroy(r);
		((uint8_t *)block)[byte] ^= 0x80;
	}
	assert_int_equal(fixture_read(q, MSR_RAT_ESCR0), before);
	spmu_destroy(q);
	free(block);
}

/* Tags are kept for SPMU_BATCH_MAX records at a time; a larger batch breaks the contract, but counts. */
static void test_a_batch_that_is_too_large_is_counted_all_the_same(void **state)
{
	(void)state;
	enum { N = 5 * SPMU_BATCH_MAX + 7 };
	struct spmu_record *r = calloc(N, sizeof *r);
	for (uint32_t i = 0; i < N; i++)
		r[i] = (struct spmu_record){ .cpl = 3, .is = SPMU_IS(LOAD) | SPMU_IS(INST_BEGIN) | SPMU_IS(INST_END),
			.did = SPMU_DID(RETIRED),
			.fetch = i, .alloc = i + 1, .ready = i + 2, .dispatch = i + 3, .complete = i + 4,
			.retire = i + 5 };
	const struct spmu_batch b = { .count = N, .instructions = N, .user_only = 1, .is_last = 1, .watermark = N + 10,
		.records = r };
	tag(p, MSR_RAT_ESCR0, "uop_type.TAGLOADS", 1);
	nb_program(p, 12, "front_end_event.NBOGUS", T0, 0);
	nb_program(p, 14, "instr_retired.NBOGUSTAG", T0, 0);
	nb_program(p, 13, "front_end_event.NBOGUS", T0, SPMU_CCCR_COMPARE);
	spmu_consume(p, &b);
	assert_int_equal(nb_count(p, 12), N);
	assert_int_equal(nb_count(p, 13), N);
	assert_int_equal(nb_count(p, 14), N);
	free(r);
}

/* ---- PEBS: a 32-bit DS area at 0x1000, the buffer at 0x2000 ------------------------------------------------------ */

struct guest { uint8_t memory[0x4000]; unsigned pmis; uint32_t asked_before; };

static int guest_read(void *context, uint64_t address, void *to, size_t bytes)
{
	struct guest *g = context;
	if (address > sizeof g->memory || bytes > sizeof g->memory - address)
		return -1;
	memcpy(to, g->memory + address, bytes);
	return 0;
}

static int guest_write(void *context, uint64_t address, const void *from, size_t bytes)
{
	struct guest *g = context;
	if (address > sizeof g->memory || bytes > sizeof g->memory - address)
		return -1;
	memcpy(g->memory + address, from, bytes);
	return 0;
}

/* RAX is the address that `mov (%eax),%eax` reads, so it is known only before the instruction. */
static int guest_registers(void *context, const struct spmu_batch *b, uint32_t record, bool before,
	struct spmu_registers *out)
{
	struct guest *g = context;
	memset(out, 0, sizeof *out);
	out->rip = b->records[record].ip;
	out->gpr[0] = before ? b->records[record].addr : 0xdead;
	out->rflags = 0x246;
	g->asked_before += before;
	return 0;
}

static void guest_pmi(void *context, struct spmu *q, const struct spmu_pmi *pmi, const struct spmu_batch *b)
{
	(void)q, (void)pmi, (void)b;
	((struct guest *)context)->pmis++;
}

static uint32_t word(const struct guest *g, uint64_t at)
{
	uint32_t v;
	memcpy(&v, g->memory + at, 4);
	return v;
}

static void area(struct guest *g, unsigned records, unsigned threshold, uint64_t reset)
{
	const uint32_t words[] = { 0, 0, 0, 0, 0x2000, 0x2000, 0x2000 + 40 * records + 1, 0x2000 + 40 * threshold,
		(uint32_t)reset, (uint32_t)(reset >> 32) & 0xff };
	memcpy(g->memory + 0x1000, words, sizeof words);
}

/* The loop of Sprunt's l1_miss: every load at one address misses; sampled every 10 misses. */
static void test_pebs_records_the_missing_loads(void **state)
{
	(void)state;
	struct guest g = { .pmis = 0 };
	const struct spmu_host host = { .context = &g, .read_memory = guest_read, .write_memory = guest_write,
		.registers = guest_registers,
		.pmi = guest_pmi };
	struct spmu *q = netburst_pmu(model, &host);
	const struct spmu_event *e = fixture_event(model, "replay_event.L1_LD_MISS");
	for (unsigned i = 0; i < 400; i++) {
		bool load = i % 4 == 0;
		stream_inst(&s, 0x8048400 + i % 4, load ? SPMU_IS(LOAD) : 0, load ? SPMU_DID(L1D_MISS) : 0,
			50 + i)->addr = 0x10000 + 0x2000 * (i / 4 % 8);
	}
	area(&g, 20, 5, (uint64_t)-9);
	nb_write(q, MSR_IA32_DS_AREA, 0x1000);
	nb_write(q, MSR_PEBS_ENABLE, e->replay_enable | SPMU_PEBS_MY_THREAD);
	nb_write(q, MSR_PEBS_MATRIX_VERT, e->replay_matrix);
	nb_write(q, NB_COUNTER(16), (uint64_t)-9);
	nb_program(q, 16, "replay_event.NBOGUS", T0, 0);
	stream_send_cut(&s, q, 5, 60);
	/* Armed by the 9th miss, the 10th is recorded and the counter reloaded: records of misses 10, 20, ... 100 */
	assert_int_equal(word(&g, 0x1014), 0x2000 + 40 * 10);
	for (unsigned i = 0; i < 10; i++) {
		assert_int_equal(word(&g, 0x2000 + 40 * i), 0x246);
		assert_int_equal(word(&g, 0x2000 + 40 * i + 4), 0x8048400);
		assert_int_equal(word(&g, 0x2000 + 40 * i + 8), 0x10000 + 0x2000 * ((10 * (i + 1) - 1) % 8));
	}
	assert_int_equal(g.asked_before, 10);
	assert_int_equal(g.pmis, 1);	/* at the threshold; the entry masks itself */
	spmu_destroy(q);
}

static void test_pebs_needs_its_enable_bit_its_counter_and_a_tagged_event(void **state)
{
	static const struct { unsigned counter; uint32_t enable; const char *event; unsigned records; } table[] = {
		{ 16, SPMU_PEBS_MY_THREAD, "front_end_event.NBOGUS", 1 }, { 16, 0, "front_end_event.NBOGUS", 0 },
		{ 16, SPMU_PEBS_UOP_TAG, "front_end_event.NBOGUS", 0 }, { 16, SPMU_PEBS_OTHER_THREAD,
		"front_end_event.NBOGUS", 0 },
		{ 17, SPMU_PEBS_OTHER_THREAD, "front_end_event.NBOGUS", 1 }, { 17, SPMU_PEBS_MY_THREAD,
		"front_end_event.NBOGUS", 0 },
		{ 12, SPMU_PEBS_MY_THREAD, "front_end_event.NBOGUS", 0 }, { 16, SPMU_PEBS_MY_THREAD,
		"branch_retired.MMTP", 0 },
		{ 16, SPMU_PEBS_MY_THREAD, "uops_retired.NBOGUS", 0 },
	};
	(void)state;
	for (unsigned i = 0; i < 40; i++)
		stream_inst(&s, 0x400 + i, SPMU_IS(LOAD) | SPMU_IS(BRANCH), SPMU_DID(TAKEN), 50 + i);
	for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
		struct guest g = { .pmis = 0 };
		const struct spmu_host host = { .context = &g, .read_memory = guest_read, .write_memory = guest_write,
			.registers = guest_registers };
		struct spmu *q = netburst_pmu(model, &host);
		area(&g, 20, 20, (uint64_t)-1000);
		nb_write(q, MSR_IA32_DS_AREA, 0x1000);
		nb_write(q, MSR_PEBS_ENABLE, table[i].enable);
		tag(q, MSR_RAT_ESCR0, "uop_type.TAGLOADS", 1);
		nb_write(q, NB_COUNTER(table[i].counter), (uint64_t)-9);
		nb_program(q, table[i].counter, table[i].event, T0, 0);
		stream_send_all(&s, q);
		if ((word(&g, 0x1014) - 0x2000) / 40 != table[i].records)
			fail_msg("%s on %u with %x: index %x", table[i].event, table[i].counter, table[i].enable,
				word(&g, 0x1014));
		if (table[i].records)
			assert_int_equal(word(&g, 0x2004), 0x409);
		spmu_destroy(q);
	}
}

/* An event with bogus uops is counted by cycles, without knowing which uop counts. The PEBS record is still that of
 * the tagged uop. */
static void test_pebs_finds_the_uop_when_only_the_cycle_is_known(void **state)
{
	(void)state;
	struct guest g = { .pmis = 0 };
	const struct spmu_host host = { .context = &g, .read_memory = guest_read, .write_memory = guest_write,
		.registers = guest_registers };
	struct spmu *q = netburst_pmu(model, &host);
	for (unsigned i = 0; i < 60; i++)
		stream_inst(&s, 0x400 + i, i % 3 == 1 ? SPMU_IS(LOAD) : 0, 0, 50 + i / 3);
	area(&g, 20, 20, (uint64_t)-1000);
	nb_write(q, MSR_IA32_DS_AREA, 0x1000);
	nb_write(q, MSR_PEBS_ENABLE, SPMU_PEBS_MY_THREAD);
	tag(q, MSR_RAT_ESCR0, "uop_type.TAGLOADS", 1);
	nb_write(q, NB_COUNTER(16), (uint64_t)-3);
	nb_write(q, MSR_CRU_ESCR2, SPMU_ESCR_EVENT(8) | SPMU_ESCR_MASK(3) | T0);
	nb_write(q, NB_CCCR(16), SPMU_CCCR_ENABLE | SPMU_CCCR_ACTIVE(3) | SPMU_CCCR_SELECT(5));
	stream_send_all(&s, q);
	assert_int_equal(word(&g, 0x1014), 0x2000 + 40);
	assert_int_equal(word(&g, 0x2004), 0x400 + 10);	/* the fourth load */
	spmu_destroy(q);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_front_end_tags_count_loads_or_stores, setup, teardown),
		cmocka_unit_test_setup_teardown(test_both_kinds_of_front_end_tags_add_up, setup, teardown),
		cmocka_unit_test_setup_teardown(test_without_tag_enable_nothing_is_tagged, setup, teardown),
		cmocka_unit_test_setup_teardown(test_an_escr_s_privilege_bits_qualify_tags, setup, teardown),
		cmocka_unit_test_setup_teardown(test_execution_tags_have_four_bits, setup, teardown),
		cmocka_unit_test_setup_teardown(test_two_execution_tags_are_told_apart, setup, teardown),
		cmocka_unit_test_setup_teardown(test_tags_need_an_enabled_counter_of_the_escr_s_block, setup, teardown),
		cmocka_unit_test_setup_teardown(test_replay_tags_count_the_metrics_of_the_manual, setup, teardown),
		cmocka_unit_test_setup_teardown(test_a_replay_metric_needs_all_of_its_bits, setup, teardown),
		cmocka_unit_test_setup_teardown(test_far_transfers_cannot_be_tagged, setup, teardown),
		cmocka_unit_test_setup_teardown(test_execution_tags_go_to_both_threads, setup, teardown),
		cmocka_unit_test_setup_teardown(test_an_instruction_that_does_not_end_passes_no_tag_on, setup,
		teardown),
		cmocka_unit_test_setup_teardown(test_bogus_replays_are_counted, setup, teardown),
		cmocka_unit_test_setup_teardown(test_instructions_are_split_by_tag, setup, teardown),
		cmocka_unit_test_setup_teardown(test_two_threads_instructions_do_not_mix_their_tags, setup, teardown),
		cmocka_unit_test_setup_teardown(test_a_saved_state_goes_on_in_another_pmu, setup, teardown),
		cmocka_unit_test_setup_teardown(test_a_batch_that_is_too_large_is_counted_all_the_same, setup,
		teardown),
		cmocka_unit_test_setup_teardown(test_pebs_records_the_missing_loads, setup, teardown),
		cmocka_unit_test_setup_teardown(test_pebs_needs_its_enable_bit_its_counter_and_a_tagged_event, setup,
		teardown),
		cmocka_unit_test_setup_teardown(test_pebs_finds_the_uop_when_only_the_cycle_is_known, setup, teardown),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
