/* SPDX-License-Identifier: GPL-2.0-or-later
 * Last branch records: each generation's stack and MSRs, its filters, and the stack's content at the time of a read.
 */
#include "pmu_ds_fixture.h"

#define STATUS_LBR_FRZ (UINT64_C(1) << 58)
#define MISPREDICTED (UINT64_C(1) << 63)

struct stack { const char *name; uint64_t capabilities; unsigned depth; uint32_t from, to, tos; };
static const struct stack stacks[] = {
	{ "netburst-prescott", 0, 16, 0x680, 0x6c0, 0x1da },
	{ "core2", 0xc2, 4, 0x40, 0x60, 0x1c9 },
	{ "bonnell", 0xc1, 8, 0x40, 0x60, 0x1c9 },
	{ "nehalem", 0x1c3, 16, 0x680, 0x6c0, 0x1c9 },
	{ "skylake", 0x22c4, 16, 0x680, 0x6c0, 0x1c9 },
	{ "skylake", 0x23c5, 32, 0x680, 0x6c0, 0x1c9 },
};
enum { STACKS = sizeof stacks / sizeof *stacks };

static struct spmu *create(const struct spmu_model *m, const struct spmu_host *host)
{
	struct spmu *p = NULL;
	assert_int_equal(spmu_create(&p, m, host), SPMU_OK);
	return p;
}

static void test_a_fused_branch_is_where_the_jump_itself_lies(void **state)
{
	(void)state;
	struct spmu_model *m = model_like("skylake", 0x23c5);
	struct spmu *p = create(m, NULL);
	struct stream s = { 0 };
	put_msr(p, MSR_IA32_DEBUGCTL, 1);
	stream_branch(&s, 0x1000, 0x2000, SPMU_IS(COND) | SPMU_IS(MACRO_FUSED) | UINT64_C(5) << SPMU_IS_FUSED_SHIFT, 0,
		10);
	stream_send_all(&s, p);
	assert_int_equal(fixture_read(p, MSR_LBR_NHM_FROM + (uint32_t)fixture_read(p, MSR_LASTBRANCH_TOS)), 0x1005);
	stream_free(&s);
	spmu_destroy(p);
	spmu_model_free(m);
}

static void test_a_stack_holds_the_newest_branches_taken(void **state)
{
	(void)state;
	for (unsigned k = 0; k < STACKS; k++)
		for (unsigned cut = 0; cut < 2; cut++) {
			const struct stack *t = &stacks[k];
			struct spmu_model *m = model_like(t->name, t->capabilities);
			struct spmu *p = create(m, NULL);
			struct stream s = { 0 };
			unsigned n = 2 * t->depth + 3;
			put_msr(p, MSR_IA32_DEBUGCTL, 1);
			for (unsigned i = 0; i < n; i++) {
				stream_inst(&s, 0x500, SPMU_IS(BRANCH) | SPMU_IS(COND), 0, 10 + 3 * i);	/* not taken */
				stream_inst(&s, 0x600, 0, 0, 11 + 3 * i);
				stream_branch(&s, 0x1000 + 16 * i, 0x2000 + 16 * i, 0, i % 3 ? 0
					: SPMU_DID(MISPREDICTED), 12 + 3 * i);
				struct spmu_record *wrong = stream_branch(&s, 0x700, 0x800, 0, 0, 12 + 3 * i);
				wrong->did &= ~SPMU_DID(RETIRED);
			}
			if (cut)
				stream_send_cut(&s, p, 77 + k, 20);
			else
				stream_send_all(&s, p);
			uint64_t tos = fixture_read(p, t->tos);
			assert_int_equal(tos, n % t->depth);
			for (unsigned i = 0; i < t->depth; i++) {
				unsigned at = (unsigned)(tos + t->depth - i) % t->depth, b = n - 1 - i;
				bool flag = (t->capabilities & 0x3f) == 3 || (t->capabilities & 0x3f) == 4;
				assert_int_equal(fixture_read(p, t->from + at), (0x1000 + 16 * b) | (flag && b % 3 == 0
					? MISPREDICTED : 0));
				assert_int_equal(fixture_read(p, t->to + at), 0x2000 + 16 * b);
				if ((t->capabilities & 0x3f) == 5)
					assert_int_equal(fixture_read(p, 0xdc0 + at), 3 | (b % 3 ? 0 : MISPREDICTED));
			}
			put_msr(p, MSR_IA32_DEBUGCTL, 0);
			stream_free(&s);
			spmu_destroy(p);
			spmu_model_free(m);
		}
}

static void test_older_stacks_pack_a_pair_into_a_register(void **state)
{
	(void)state;
	static const struct stack t[] = { { "yonah", 0, 8, 0x40, 0, 0x1c9 }, { "netburst", 0, 4, 0x1db, 0, 0x1da } };
	for (unsigned k = 0; k < 2; k++) {
		struct spmu_model *m = fixture_model(t[k].name);
		struct spmu *p = create(m, NULL);
		struct stream s = { 0 };
		put_msr(p, MSR_IA32_DEBUGCTL, 1);
		for (unsigned i = 0; i < 10; i++)
			stream_branch(&s, 0x1000 + i, 0x80000000 + i, 0, 0, 10 + i);
		stream_send_all(&s, p);
		assert_int_equal(fixture_read(p, t[k].tos), 10 % t[k].depth);
		assert_int_equal(fixture_read(p, t[k].from + 10 % t[k].depth), 0x1009 | UINT64_C(0x80000009) << 32);
		put_msr(p, t[k].from, UINT64_C(0x1111111122222222));
		assert_int_equal(fixture_read(p, t[k].from), UINT64_C(0x1111111122222222));
		stream_free(&s);
		spmu_destroy(p);
		spmu_model_free(m);
	}
}

static void test_p6_has_the_last_branch_and_the_last_before_an_interrupt(void **state)
{
	(void)state;
	struct guest *g = guest_new();
	struct spmu_model *m = fixture_model("p6");
	struct spmu *p = create(m, &g->host);
	struct stream s = { 0 };
	assert_int_equal(spmu_apic_write(p, SPMU_APIC_LVT_PC, 0x400), SPMU_OK);
	put_msr(p, MSR_IA32_DEBUGCTL, 1);
	put_msr(p, MSR_IA32_PMC0, (uint32_t)-3);
	put_msr(p, MSR_IA32_PERFEVTSEL0, 0xc9 | SPMU_EVTSEL_INT | USR_EN); /* BR_TAKEN_RETIRED: PMI behind the third */
	for (unsigned i = 0; i < 6; i++)
		stream_branch(&s, 0x1000 + i, 0x2000 + i, SPMU_IS(COND), 0, 10 + i);
	stream_send_all(&s, p);
	assert_int_equal(g->pmis, 1);
	assert_int_equal(fixture_read(p, MSR_P6_LASTBRANCHFROMIP), 0x1005);
	assert_int_equal(fixture_read(p, MSR_P6_LASTBRANCHTOIP), 0x2005);
	assert_int_equal(fixture_read(p, MSR_P6_LASTINTFROMIP), 0x1002);
	assert_int_equal(fixture_read(p, MSR_P6_LASTINTTOIP), 0x2002);
	stream_free(&s);
	spmu_destroy(p);
	spmu_model_free(m);
	free(g);
}

/* One branch of each kind, at 1000H + kind. */
enum { JCC, REL_JMP, IND_JMP, REL_CALL, IND_CALL, NEAR_RET, SYSCALL, KERNEL_JCC, KINDS };

static void kinds(struct stream *s)
{
	static const uint64_t is[KINDS] = { SPMU_IS(COND), 0, SPMU_IS(INDIRECT), SPMU_IS(CALL),
		SPMU_IS(CALL) | SPMU_IS(INDIRECT), SPMU_IS(RET),
		SPMU_IS(FAR), SPMU_IS(COND) };
	for (unsigned i = 0; i < KINDS; i++)
		stream_branch(s, 0x1000 + i, 0x2000, is[i], 0, 10 + i)->cpl = i == KERNEL_JCC ? 0 : 3;
}

/* Set of kinds found in the registers. */
static unsigned found(const struct spmu *p, uint32_t from, unsigned depth)
{
	unsigned set = 0;
	for (unsigned i = 0; i < depth; i++) {
		uint64_t v = fixture_read(p, from + i) & ~MISPREDICTED;
		if (v)
			set |= 1u << (v - 0x1000);
	}
	return set;
}

#define INSERTS (0x20cc | USR_EN | SPMU_EVTSEL_OS)	/* ROB_MISC_EVENTS.LBR_INSERTS, MISC_RETIRED.LBR_INSERTS */

static void test_lbr_select_keeps_out_what_it_names(void **state)
{
	(void)state;
	static const struct { uint64_t select; unsigned set; } rows[] = {
		{ 0, 0xff }, { 1, 0x3f }, { 2, 0xc0 },		/* the far branch ends in ring 0 */
		{ 1 << 2, 0xff & ~(1u << JCC | 1u << KERNEL_JCC) }, { 1 << 3, 0xff & ~(1u << REL_CALL) },
		{ 1 << 4, 0xff & ~(1u << IND_CALL) },
		{ 1 << 5, 0xff & ~(1u << NEAR_RET) }, { 1 << 6, 0xff & ~(1u << IND_JMP) },
		{ 1 << 7, 0xff & ~(1u << REL_JMP) },
		{ 1 << 8, 0xff & ~(1u << SYSCALL) }, { 0x1fc, 0 },
	};
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
		for (unsigned k = 3; k < STACKS; k++) {
			struct spmu_model *m = model_like(stacks[k].name, stacks[k].capabilities);
			struct spmu *p = create(m, NULL);
			struct stream s = { 0 };
			put_msr(p, MSR_LBR_SELECT, rows[i].select);
			put_msr(p, MSR_IA32_DEBUGCTL, 1);
			put_msr(p, MSR_IA32_PERFEVTSEL0, INSERTS);
			kinds(&s);
			stream_send_all(&s, p);
			unsigned set = rows[i].set;
			if (k > 3)	/* Nehalem lacks the event */
				assert_int_equal(fixture_read(p, MSR_IA32_PMC0), __builtin_popcount(set));
			if (k == 3 && rows[i].select == 1 << 6)		/* Nehalem */
				set &= ~(1u << IND_CALL | 1u << NEAR_RET);
			if (k == 3 && rows[i].select == 1 << 7)
				set &= ~(1u << REL_CALL);
			if (found(p, 0x680, stacks[k].depth) != set)
				fail_msg("%s %llx, LBR_SELECT %llx: %x", stacks[k].name,
					(unsigned long long)stacks[k].capabilities,
					(unsigned long long)rows[i].select, found(p, 0x680, stacks[k].depth));
			stream_free(&s);
			spmu_destroy(p);
			spmu_model_free(m);
		}
}

static void test_lbr_ctl_lets_in_what_it_names(void **state)
{
	(void)state;
	static const struct { uint64_t control; unsigned set; } rows[] = {
		{ 0x7f0007, 0xff }, { 0x7f0005, 0x3f }, { 0x7f0003, 0xc0 }, { 0x7f0006, 0 }, { 7, 0 },
		{ 0x010007, 1u << JCC | 1u << KERNEL_JCC }, { 0x020007, 1u << REL_JMP }, { 0x040007, 1u << IND_JMP },
		{ 0x080007, 1u << REL_CALL },
		{ 0x100007, 1u << IND_CALL }, { 0x200007, 1u << NEAR_RET }, { 0x400007, 1u << SYSCALL },
	};
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		struct spmu_model *m = fixture_model("golden-cove");
		struct spmu *p = create(m, NULL);
		struct stream s = { 0 };
		put_msr(p, MSR_IA32_LBR_CTL, rows[i].control);
		put_msr(p, MSR_IA32_PERFEVTSEL0, INSERTS);
		kinds(&s);
		stream_send_all(&s, p);
		assert_int_equal(fixture_read(p, MSR_IA32_PMC0), __builtin_popcount(rows[i].set));
		if (found(p, MSR_IA32_LBR_0_FROM_IP, 32) != rows[i].set)
			fail_msg("IA32_LBR_CTL %llx: %x", (unsigned long long)rows[i].control,
				found(p, MSR_IA32_LBR_0_FROM_IP, 32));
		stream_free(&s);
		spmu_destroy(p);
		spmu_model_free(m);
	}
}

static void test_architectural_entries_are_newest_first_with_kind_and_cycles(void **state)
{
	(void)state;
	static const unsigned type[KINDS] = { 0, 2, 1, 4, 3, 5, 8, 0 };
	struct spmu_model *m = fixture_model("golden-cove");
	struct spmu *p = create(m, NULL);
	struct stream s = { 0 };
	put_msr(p, MSR_IA32_LBR_DEPTH, 8);
	put_msr(p, MSR_IA32_LBR_CTL, 0x7f0007);
	stream_branch(&s, 0x900, 0x901, 0, 0, 5);
	kinds(&s);
	s.r[1].did |= SPMU_DID(MISPREDICTED);
	stream_send_all(&s, p);
	for (unsigned i = 0; i < 8; i++) {
		unsigned k = KINDS - 1 - i;
		assert_int_equal(fixture_read(p, MSR_IA32_LBR_0_FROM_IP + i), 0x1000 + k);
		assert_int_equal(fixture_read(p, MSR_IA32_LBR_0_TO_IP + i), 0x2000);
		assert_int_equal(fixture_read(p, MSR_IA32_LBR_0_INFO + i), (k ? 1 : 5) | UINT64_C(1) << 60 |
			(uint64_t)type[k] << 56 | (k ? 0 : MISPREDICTED));
	}
	put_msr(p, MSR_IA32_LBR_DEPTH, 16);	/* clears */
	for (unsigned i = 0; i < 16; i++)
		assert_int_equal(fixture_read(p, MSR_IA32_LBR_0_FROM_IP + i) | fixture_read(p, MSR_IA32_LBR_0_INFO + i),
			0);
	stream_free(&s);
	stream_branch(&s, 0x900, 0x901, 0, 0, 50);
	stream_send_all(&s, p);
	assert_int_equal(fixture_read(p, MSR_IA32_LBR_0_INFO), UINT64_C(2) << 56); /* the first entry has no cycles */
	stream_free(&s);
	spmu_destroy(p);
	spmu_model_free(m);
}

static void test_registers_take_or_fault_by_generation(void **state)
{
	(void)state;
	static const struct { const char *name; uint64_t capabilities; uint32_t msr; uint64_t value; int outcome;
		} rows[] = {
		{ "p6", 0, 0x680, 0, SPMU_ENOMSR }, { "p5", 0, 0x1db, 0, SPMU_ENOMSR }, { "p6", 0, 0x1c9, 0,
		SPMU_ENOMSR },
		{ "core2", 0xc2, 0x43, UINT64_C(0x8000000000000000), SPMU_OK }, { "core2", 0xc2, 0x44, 0, SPMU_ENOMSR },
		{ "core2", 0xc2, 0x64, 0, SPMU_ENOMSR },
		{ "core2", 0xc2, 0x1c8, 0, SPMU_ENOMSR }, { "core2", 0xc2, 0x1c9, 3, SPMU_OK }, { "core2", 0xc2, 0x1c9,
		4, SPMU_GP },
		{ "nehalem", 0x1c3, 0x1c8, 0x1ff, SPMU_OK }, { "nehalem", 0x1c3, 0x1c8, 0x200, SPMU_GP },
		{ "nehalem", 0x1c3, 0x68f, 1, SPMU_OK },
		{ "nehalem", 0x1c3, 0x690, 1, SPMU_ENOMSR }, { "nehalem", 0x1c3, 0x680, MISPREDICTED | 1, SPMU_OK },
		{ "nehalem", 0x1c3, 0x680, UINT64_C(1) << 47, SPMU_GP }, { "nehalem", 0x1c3, 0x6c0, UINT64_C(1) << 47,
		SPMU_GP },
		{ "nehalem", 0x1c3, 0xdc0, 0, SPMU_ENOMSR }, { "nehalem", 0x1c3, 0x1dd, 5, SPMU_OK },
		{ "skylake", 0x22c4, 0x1c8, 0x3ff, SPMU_OK }, { "skylake", 0x22c4, 0x1c8, 0x400, SPMU_GP },
		{ "skylake", 0x22c4, 0x680, UINT64_C(0x1fffffff8101349e), SPMU_OK },
		{ "skylake", 0x22c4, 0x680, UINT64_C(0x0fffffff8101349e), SPMU_GP },
		{ "skylake", 0x23c5, 0x69f, 1, SPMU_OK }, { "skylake", 0x23c5, 0x680, MISPREDICTED | 1, SPMU_GP },
		{ "skylake", 0x23c5, 0xddf, UINT64_C(7) << 61 | 0xffff, SPMU_OK }, { "skylake", 0x23c5, 0xdc0, 0x10000,
		SPMU_GP },
		{ "skylake", 0x23c5, 0x1c9, 31, SPMU_OK }, { "skylake", 0x23c5, 0x1c9, 32, SPMU_GP },
		{ "skylake", 0x23c5, 0x14ce, 0, SPMU_ENOMSR },
		{ "golden-cove", 0xe5ff, 0x14ce, 0x7f000f, SPMU_OK }, { "golden-cove", 0xe5ff, 0x14ce, 0x10, SPMU_GP },
		{ "golden-cove", 0xe5ff, 0x14ce, 0x800000, SPMU_GP },
		{ "golden-cove", 0xe5ff, 0x14cf, 16, SPMU_OK }, { "golden-cove", 0xe5ff, 0x14cf, 12, SPMU_GP },
		{ "golden-cove", 0xe5ff, 0x14cf, 0, SPMU_GP },
		{ "golden-cove", 0xe5ff, 0x151f, 1, SPMU_OK }, { "golden-cove", 0xe5ff, 0x1520, 1, SPMU_ENOMSR },
		{ "golden-cove", 0xe5ff, 0x1600, UINT64_C(1) << 47, SPMU_GP },
		{ "golden-cove", 0xe5ff, 0x1200, UINT64_C(0xff) << 56 | 0xffff, SPMU_OK },
		{ "golden-cove", 0xe5ff, 0x1200, UINT64_C(1) << 55, SPMU_GP },
		{ "golden-cove", 0xe5ff, 0x1e0, UINT64_C(0xf1) << 56 | 5, SPMU_OK }, { "golden-cove", 0xe5ff, 0x1e0,
		0x10000, SPMU_GP },
		{ "skylake", 0x23c5, 0x1e0, 0, SPMU_ENOMSR },
		{ "golden-cove", 0xe5ff, 0x680, 0, SPMU_ENOMSR }, { "golden-cove", 0xe5ff, 0x1c8, 0, SPMU_ENOMSR },
		{ "golden-cove", 0xe5ff, 0x1c9, 0, SPMU_ENOMSR },
		{ "netburst-prescott", 0, 0x1da, 15, SPMU_OK }, { "netburst-prescott", 0, 0x1db, 0, SPMU_ENOMSR },
		{ "netburst-prescott", 0, 0x1d7, 9, SPMU_OK },
		{ "netburst", 0, 0x680, 0, SPMU_ENOMSR }, { "netburst", 0, 0x1de, 7, SPMU_OK },
	};
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		struct spmu_model *m = model_like(rows[i].name, rows[i].capabilities);
		struct spmu *p = create(m, NULL);
		uint64_t before = 0, after = 0;
		int readable = spmu_rdmsr(p, rows[i].msr, &before), outcome = spmu_wrmsr(p, rows[i].msr, rows[i].value);
		if (outcome != rows[i].outcome)
			fail_msg("row %zu: %s, WRMSR %x, %llx: %d, expected %d", i, rows[i].name, rows[i].msr,
				(unsigned long long)rows[i].value, outcome, rows[i].outcome);
		assert_int_equal(spmu_rdmsr(p, rows[i].msr, &after), readable);
		assert_int_equal(after, outcome == SPMU_OK ? rows[i].value : before);
		spmu_destroy(p);
		spmu_model_free(m);
	}
}

static void test_entries_beyond_the_architectural_depth_fault(void **state)
{
	(void)state;
	struct spmu_model *m = fixture_model("golden-cove");
	struct spmu *p = create(m, NULL);
	uint64_t v;
	put_msr(p, MSR_IA32_LBR_DEPTH, 8);
	assert_int_equal(spmu_rdmsr(p, MSR_IA32_LBR_0_FROM_IP + 7, &v), SPMU_OK);
	assert_int_equal(spmu_rdmsr(p, MSR_IA32_LBR_0_FROM_IP + 8, &v), SPMU_GP);
	assert_int_equal(spmu_wrmsr(p, MSR_IA32_LBR_0_TO_IP + 8, 0), SPMU_GP);
	assert_int_equal(spmu_wrmsr(p, MSR_IA32_LBR_0_INFO + 31, 0), SPMU_GP);
	spmu_destroy(p);
	spmu_model_free(m);
}

static void test_in_call_stack_mode_a_return_takes_its_call_away(void **state)
{
	(void)state;
	for (unsigned arch = 0; arch < 2; arch++) {
		struct spmu_model *m = fixture_model(arch ? "golden-cove" : "skylake");
		struct spmu *p = create(m, NULL);
		struct stream s = { 0 };
		if (arch) {
			put_msr(p, MSR_IA32_LBR_CTL, 0x38000f);
		} else {
			put_msr(p, MSR_LBR_SELECT, 0x3c4);
			put_msr(p, MSR_IA32_DEBUGCTL, 1);
		}
		put_msr(p, MSR_IA32_PERFEVTSEL0, INSERTS);
		stream_branch(&s, 0x1000, 0x2000, SPMU_IS(CALL), 0, 10);
		stream_branch(&s, 0x2001, 0x3000, SPMU_IS(CALL), 0, 11);
		stream_branch(&s, 0x3000, 0x3005, SPMU_IS(CALL), 0, 11);	/* calls the next address */
		stream_branch(&s, 0x3005, 0x3009, SPMU_IS(COND), 0, 12);
		stream_branch(&s, 0x3010, 0x2006, SPMU_IS(RET), 0, 13);
		stream_branch(&s, 0x2010, 0x4000, SPMU_IS(CALL) | SPMU_IS(INDIRECT), 0, 14);
		stream_send_all(&s, p);
		unsigned tos = arch ? 0 : (unsigned)fixture_read(p, MSR_LASTBRANCH_TOS), below = arch ? 1 : tos - 1;
		uint32_t from = arch ? MSR_IA32_LBR_0_FROM_IP : 0x680;
		assert_int_equal(arch ? 0 : tos, arch ? 0 : 2);
		assert_int_equal(fixture_read(p, from + tos), 0x2010);
		assert_int_equal(fixture_read(p, from + below), 0x1000);
		assert_int_equal(fixture_read(p, from + (arch ? 2 : 0)), 0);
		assert_int_equal(fixture_read(p, MSR_IA32_PMC0), 4);	/* three calls, and the return */
		stream_free(&s);
		spmu_destroy(p);
		spmu_model_free(m);
	}
}

static void test_balanced_calls_leave_an_empty_stack(void **state)
{
	(void)state;
	struct spmu_model *m = fixture_model("skylake");
	struct spmu *p = create(m, NULL);
	struct stream s = { 0 };
	put_msr(p, MSR_LBR_SELECT, 0x3c4);
	put_msr(p, MSR_IA32_DEBUGCTL, 1);
	for (unsigned i = 0; i < 3; i++)
		stream_branch(&s, 0x1000 + i, 0x2000 + i, SPMU_IS(CALL), 0, 10 + i);
	for (unsigned i = 0; i < 3; i++)
		stream_branch(&s, 0x3000, 0x1004, SPMU_IS(RET), 0, 20 + i);
	stream_send_all(&s, p);
	assert_int_equal(fixture_read(p, MSR_LASTBRANCH_TOS), 0);
	for (unsigned i = 0; i < 32; i++)
		assert_int_equal(fixture_read(p, 0x680 + i) | fixture_read(p, 0x6c0 + i) | fixture_read(p, 0xdc0 + i),
			0);
	stream_free(&s);
	spmu_destroy(p);
	spmu_model_free(m);
}

static void test_cycles_saturate(void **state)
{
	(void)state;
	struct spmu_model *m = fixture_model("skylake");
	struct spmu *p = create(m, NULL);
	struct stream s = { 0 };
	put_msr(p, MSR_IA32_DEBUGCTL, 1);
	stream_branch(&s, 0x1000, 0x2000, 0, 0, 10);
	stream_branch(&s, 0x1000, 0x2000, 0, 0, 10 + 0xffff);
	stream_branch(&s, 0x1000, 0x2000, 0, 0, 10 + 0xffff + 0x12345);
	stream_send_all(&s, p);
	assert_int_equal(fixture_read(p, 0xdc1), 0);	/* nothing before it */
	assert_int_equal(fixture_read(p, 0xdc2), 0xffff);
	assert_int_equal(fixture_read(p, 0xdc3), 0xffff);
	stream_free(&s);
	spmu_destroy(p);
	spmu_model_free(m);
}

static void test_other_threads_branches_are_theirs(void **state)
{
	(void)state;
	struct spmu_model *m = fixture_model("skylake");
	for (unsigned thread = 0; thread < 2; thread++) {
		struct spmu_host host = { .hw_thread = (uint8_t)thread };
		struct spmu *p = create(m, &host);
		struct stream s = { 0 };
		put_msr(p, MSR_IA32_DEBUGCTL, 1);
		for (unsigned i = 0; i < 6; i++)
			stream_branch(&s, 0x1000 + i, 0x2000, 0, 0, 10 + i)->hw_thread = i & 1;
		stream_send_all(&s, p);
		assert_int_equal(fixture_read(p, MSR_LASTBRANCH_TOS), 3);
		for (unsigned i = 0; i < 3; i++)
			assert_int_equal(fixture_read(p, 0x681 + i), 0x1000 + 2 * i + thread);
		stream_free(&s);
		spmu_destroy(p);
	}
	spmu_model_free(m);
}

static void test_netburst_entries_are_of_64_bits_in_ia_32e_mode_only(void **state)
{
	(void)state;
	struct spmu_model *m = fixture_model("netburst-prescott");
	for (unsigned wide = 0; wide < 2; wide++) {
		struct spmu *p = create(m, NULL);
		spmu_set_mode64(p, wide);
		struct stream s = { 0 };
		put_msr(p, MSR_IA32_DEBUGCTL, 1);
		stream_branch(&s, UINT64_C(0x7f0012345678), UINT64_C(0x7f0087654321), 0, 0, 10);
		stream_send_all(&s, p);
		assert_int_equal(fixture_read(p, 0x681), wide ? UINT64_C(0x7f0012345678) : 0x12345678);
		assert_int_equal(fixture_read(p, 0x6c1), wide ? UINT64_C(0x7f0087654321) : UINT64_C(0x87654321));
		stream_free(&s);
		spmu_destroy(p);
	}
	spmu_model_free(m);
}

/* ---- PMIs ---------------------------------------------------------------------------------------------------- */

struct seen { uint64_t newest_from, newest_to, debugctl, status; unsigned entries; };
static struct seen seen;

static void look(struct guest *g, struct spmu *p, const struct spmu_pmi *pmi)
{
	(void)g;
	bool arch = p->model->version == 5;
	unsigned tos = arch ? 0 : (unsigned)fixture_read(p, MSR_LASTBRANCH_TOS);
	seen.newest_from = fixture_read(p, (arch ? MSR_IA32_LBR_0_FROM_IP : 0x680) + tos) & ~MISPREDICTED;
	seen.newest_to = fixture_read(p, (arch ? MSR_IA32_LBR_0_TO_IP : 0x6c0) + tos);
	seen.debugctl = fixture_read(p, MSR_IA32_DEBUGCTL);
	seen.status = pmi->status;
	seen.entries = 0;
	for (unsigned i = 0; i < p->ds.lbr.depth; i++)
		seen.entries += fixture_read(p, (arch ? MSR_IA32_LBR_0_FROM_IP : 0x680) + i) != 0;
}

static struct spmu *interrupted(struct guest *g, const struct spmu_model *m, uint64_t debugctl)
{
	struct spmu *p = fixture_pmu(m, &g->host);
	g->on_pmi = look;
	if (m->version == 5)
		put_msr(p, MSR_IA32_LBR_CTL, 0x7f0007);
	put_msr(p, MSR_IA32_DEBUGCTL, debugctl);
	put_msr(p, MSR_IA32_PERFEVTSEL0, 0xc0 | SPMU_EVTSEL_INT | USR_EN);
	put_msr(p, MSR_IA32_PMC0, (uint32_t)-7);
	return p;
}

static void test_a_handler_reads_exactly_what_retired_before_it(void **state)
{
	(void)state;
	for (unsigned latency = 0; latency < 20; latency += 3)
		for (unsigned arch = 0; arch < 2; arch++) {
			struct guest *g = guest_new();
			struct spmu_model *m = fixture_model(arch ? "golden-cove" : "skylake");
			g->host.pmi_latency = latency;
			struct spmu *p = interrupted(g, m, 1);
			struct stream s = { 0 };
			for (unsigned i = 0; i < 20; i++)
				stream_branch(&s, 0x1000 + 16 * i, 0x1010 + 16 * i, 0, 0, 10 + 2 * i);
			stream_send_all(&s, p);
			assert_int_equal(g->pmis, 1);
			assert_int_equal(seen.newest_to, g->pmi.ip);	/* the branch to the interrupted place */
			assert_int_equal(seen.entries, 7 + latency / 2);
			stream_free(&s);
			spmu_destroy(p);
			spmu_model_free(m);
			free(g);
		}
}

static void test_freezing_stops_the_stack_at_the_overflow(void **state)
{
	(void)state;
	static const struct { const char *name; uint64_t capabilities; bool streamlined; } rows[] = {
		{ "nehalem", 0x1c3, false }, { "skylake", 0x23c5, true }, { "golden-cove", 0xe5ff, true },
	};
	for (unsigned k = 0; k < 3; k++) {
		struct guest *g = guest_new();
		struct spmu_model *m = model_like(rows[k].name, rows[k].capabilities);
		g->host.pmi_latency = 9;
		struct spmu *p = interrupted(g, m, 1 | 1 << 11);
		struct stream s = { 0 };
		put_msr(p, MSR_IA32_PERFEVTSEL0 + 1, INSERTS);
		for (unsigned i = 0; i < 20; i++)
			stream_branch(&s, 0x1000 + 16 * i, 0x1010 + 16 * i, 0, 0, 10 + 2 * i);
		stream_send_all(&s, p);
		assert_int_equal(g->pmis, 1);
		assert_int_equal(seen.newest_from, 0x1000 + 16 * 6);
		assert_int_equal(seen.entries, 7);
		assert_int_equal(seen.debugctl & 1, rows[k].streamlined);
		assert_int_equal(!!(seen.status & STATUS_LBR_FRZ), rows[k].streamlined);
		if (rows[k].streamlined)	/* the handler does not unfreeze it */
			assert_int_equal(fixture_read(p, MSR_IA32_PERF_GLOBAL_STATUS), STATUS_LBR_FRZ | 1);
		stream_free(&s);
		for (unsigned i = 0; i < 3; i++)
			stream_branch(&s, 0x3000 + 16 * i, 0x3010 + 16 * i, 0, 0, 100 + 2 * i);
		if (rows[k].streamlined)
			put_msr(p, MSR_IA32_PERF_GLOBAL_STATUS_RESET, STATUS_LBR_FRZ | 1);
		else
			put_msr(p, MSR_IA32_DEBUGCTL, 1 | 1 << 11);
		stream_send_all(&s, p);
		look(g, p, &g->pmi);
		assert_int_equal(seen.newest_from, 0x3020);
		if (k)
			assert_int_equal(fixture_read(p, MSR_IA32_PMC0 + 1), 7 + 3);
		stream_free(&s);
		spmu_destroy(p);
		spmu_model_free(m);
		free(g);
	}
}

/* The handler switches recording off. */
static void off(struct guest *g, struct spmu *p, const struct spmu_pmi *pmi)
{
	(void)g, (void)pmi;
	put_msr(p, MSR_IA32_DEBUGCTL, 0);
}

static void test_switched_in_a_handler_it_holds_from_there(void **state)
{
	(void)state;
	struct guest *g = guest_new();
	struct spmu_model *m = fixture_model("skylake");
	struct spmu *p = interrupted(g, m, 1);
	struct stream s = { 0 };
	put_msr(p, MSR_IA32_PERFEVTSEL0 + 1, INSERTS);
	for (unsigned i = 0; i < 20; i++)
		stream_branch(&s, 0x1000 + 16 * i, 0x1010 + 16 * i, 0, 0, 10 + 2 * i);
	g->on_pmi = off;
	stream_send_all(&s, p);
	assert_int_equal(g->pmis, 1);
	assert_int_equal(fixture_read(p, MSR_IA32_PMC0 + 1), 7);
	assert_int_equal(fixture_read(p, MSR_LASTBRANCH_TOS), 7);
	assert_int_equal(fixture_read(p, 0x680 + 7), 0x1000 + 16 * 6);
	stream_free(&s);
	spmu_destroy(p);
	spmu_model_free(m);
	free(g);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_a_fused_branch_is_where_the_jump_itself_lies),
		cmocka_unit_test(test_a_stack_holds_the_newest_branches_taken),
		cmocka_unit_test(test_older_stacks_pack_a_pair_into_a_register),
		cmocka_unit_test(test_p6_has_the_last_branch_and_the_last_before_an_interrupt),
		cmocka_unit_test(test_lbr_select_keeps_out_what_it_names),
		cmocka_unit_test(test_lbr_ctl_lets_in_what_it_names),
		cmocka_unit_test(test_architectural_entries_are_newest_first_with_kind_and_cycles),
		cmocka_unit_test(test_registers_take_or_fault_by_generation),
		cmocka_unit_test(test_entries_beyond_the_architectural_depth_fault),
		cmocka_unit_test(test_in_call_stack_mode_a_return_takes_its_call_away),
		cmocka_unit_test(test_balanced_calls_leave_an_empty_stack),
		cmocka_unit_test(test_cycles_saturate),
		cmocka_unit_test(test_other_threads_branches_are_theirs),
		cmocka_unit_test(test_netburst_entries_are_of_64_bits_in_ia_32e_mode_only),
		cmocka_unit_test(test_a_handler_reads_exactly_what_retired_before_it),
		cmocka_unit_test(test_freezing_stops_the_stack_at_the_overflow),
		cmocka_unit_test(test_switched_in_a_handler_it_holds_from_there),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
