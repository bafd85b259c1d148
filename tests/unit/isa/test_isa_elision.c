/* SPDX-License-Identifier: GPL-2.0-or-later
 * What instructions do to the elision of locks (enum insn_elision): hints count where the manual allows them
 * (SDM vol. 2, XACQUIRE/XRELEASE), and what aborts a region is known by itself.
 */
#include "isa_fixture.h"

static struct iblock *one(const struct isa *isa, const char *hex, int word)
{
	struct maker m;
	maker_init(&m, 0x1000);
	maker_insn(&m, hex);
	return maker_decode(&m, isa, word);
}

static const struct { const char *hex; enum insn_elision what; } rows[] = {
	{ "f2 87 07", ELISION_ACQUIRE },		/* xacquire xchg [rdi], eax: needs no LOCK */
	{ "f2 f0 87 07", ELISION_ACQUIRE },
	{ "f2 f0 0f b1 0f", ELISION_ACQUIRE },		/* xacquire lock cmpxchg [rdi], ecx */
	{ "f2 f0 0f ba 2f 00", ELISION_ACQUIRE },	/* xacquire lock bts dword [rdi], 0 */
	{ "f2 f0 ff 07", ELISION_ACQUIRE },		/* xacquire lock inc dword [rdi] */
	{ "f3 87 07", ELISION_RELEASE },
	{ "f3 f0 29 07", ELISION_RELEASE },		/* xrelease lock sub [rdi], eax */
	{ "f3 89 07", ELISION_RELEASE },		/* xrelease mov [rdi], eax */
	{ "f3 c7 07 00 00 00 00", ELISION_RELEASE },
	{ "f2 89 07", ELISION_NONE },			/* MOV takes no XACQUIRE */
	{ "f2 ff 07", ELISION_NONE },			/* without LOCK */
	{ "f3 29 07", ELISION_NONE },
	{ "f2 89 c7", ELISION_NONE },			/* no memory */
	{ "f2 87 c7", ELISION_NONE },
	{ "f3 8b 07", ELISION_NONE },			/* a load */
	{ "f3 90", ELISION_ABORTS },			/* pause */
	{ "0f a2", ELISION_ABORTS },			/* cpuid */
	{ "c6 f8 00", ELISION_ABORTS },			/* xabort */
	{ "0f 05", ELISION_ABORTS },			/* syscall */
	{ "cd 80", ELISION_ABORTS },			/* int 0x80 */
	{ "9d", ELISION_ABORTS },			/* popf */
	{ "0f ae 3f", ELISION_ABORTS },			/* clflush */
	{ "0f ae 27", ELISION_ABORTS },			/* xsave */
	{ "0f ae 07", ELISION_ABORTS },			/* fxsave */
	{ "8e d8", ELISION_ABORTS },			/* mov ds, eax */
	{ "0f a1", ELISION_ABORTS },			/* pop fs */
	{ "66 0f e7 07", ELISION_NONE },		/* movntdq: known by its uops */
	{ "66 0f 38 2a 07", ELISION_ABORTS },		/* movntdqa */
	{ "d9 e8", ELISION_STATE },			/* fld1 */
	{ "0f 6f c8", ELISION_STATE },			/* movq mm1, mm0 */
	{ "0f 77", ELISION_STATE },			/* emms */
	{ "66 0f 6f c8", ELISION_NONE },		/* movdqa xmm1, xmm0 */
	{ "8c d8", ELISION_NONE },			/* mov eax, ds */
	{ "58", ELISION_NONE },				/* pop rax */
	{ "0f ae f0", ELISION_NONE },			/* mfence */
	{ "0f 31", ELISION_NONE },			/* rdtsc */
	{ "f0 ff 07", ELISION_NONE },			/* a locked access without a hint */
	{ "c5 f8 77", ELISION_NONE },			/* vzeroupper */
};

static void test_hints_and_aborting_instructions_are_known(void **state)
{
	(void)state;
	struct isa *isa = open_isa("skylake");
	isa->o.elides = true;
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		struct iblock *b = one(isa, rows[i].hex, 8);
		const enum insn_elision what = b->elision ? b->elision[0] : ELISION_NONE;
		const bool hint = what == ELISION_ACQUIRE || what == ELISION_RELEASE;
		if (what != rows[i].what || hint != !!(b->special & BLOCK_HINTS))
			fail_msg("%s is %d, not %d", rows[i].hex, (int)what, (int)rows[i].what);
		isa_block_free(b);
	}
	isa_destroy(isa);
}

static void test_a_core_without_elision_knows_none(void **state)
{
	(void)state;
	struct isa *isa = open_isa("skylake");
	isa->o.elides = false;
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		struct iblock *b = one(isa, rows[i].hex, 8);
		assert_null(b->elision);
		assert_false(b->special & BLOCK_HINTS);
		isa_block_free(b);
	}
	isa_destroy(isa);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_hints_and_aborting_instructions_are_known),
		cmocka_unit_test(test_a_core_without_elision_knows_none),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
