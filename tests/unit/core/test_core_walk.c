/* SPDX-License-Identifier: GPL-2.0-or-later
 * Which values a walk of the wrong path knows and which not, and where it ends (core/wrongpath/walker.h). */
#include "isa_fixture.h"
#include "bpred_fixture.h"
#include "core/wrongpath/converge.h"
#include "core/script/block_plan.h"
#include "core/script/script.h"
#include "core/wrongpath/walker.h"

enum { RAX, RCX, RDX, RBX, RSP, RBP, RSI, RDI };
enum { CODE = 0x1000, DATA = 0x10000, STACK = 0x7000 };

static struct isa *isa;
static struct core_config config;
static struct bpred *predicts;
static struct walk_space *space;
static struct walker *walker;
static struct iblock *blocks[16];
static unsigned block_count;
static struct st_regs regs;

static struct walked { uint64_t ip, addr, went; unsigned way; bool general; } walked[1024];
static unsigned walked_count;
static uint64_t words[WALK_ROOM + 1];

static void begin(const char *setting)
{
	struct err err = { 0 };
	config = preset("golden-cove");
	if (setting)
		assert_int_equal(core_config_set(&config, setting, &err), 0);
	isa = open_isa("golden-cove");
	predicts = predictor(&config);
	assert_int_equal(walk_space_create(&space, isa, 8, &err), 0);
	assert_int_equal(walker_create(&walker, space, &config, &err), 0);
	block_count = 0;
	memset(&regs, 0, sizeof regs);
	regs.gpr[RBX] = DATA;
	regs.gpr[RSP] = STACK;
	regs.gpr[RCX] = 4;
}

static void end(void)
{
	walker_destroy(walker);
	for (unsigned i = 0; i < block_count; i++)
		isa_block_free(blocks[i]);
	walk_space_destroy(space);
	bpred_destroy(predicts);
	isa_destroy(isa);
}

/* Makes a block of instructions (separated by "|") that counts as executed. slots: adds its memory slots; NULL: the
 * stream has none. */
static struct iblock *block(uint64_t addr, const char *code, void (*slots)(struct maker *m))
{
	struct maker m;
	char text[512], *rest = text;
	struct err err = { 0 };
	maker_init(&m, addr);
	snprintf(text, sizeof text, "%s", code);
	for (char *one; (one = strsep(&rest, "|"));)
		maker_insn(&m, one);
	if (slots)
		slots(&m);
	blocks[block_count] = maker_decode(&m, isa, 8);
	assert_int_equal(walk_space_block(space, blocks[block_count], &err), 0);
	return blocks[block_count++];
}

/* Writes code into a mapping, without a block. */
static void bytes(uint64_t addr, const char *code)
{
	uint8_t b[256];
	size_t n = 0;
	struct err err = { 0 };
	for (; *code; code++) {
		unsigned v;
		if (*code == ' ' || *code == '|')
			continue;
		assert_int_equal(sscanf(code++, "%2x", &v), 1);
		b[n++] = (uint8_t)v;
	}
	assert_int_equal(walk_space_code(space, addr, b, n, &err), 0);
}

static size_t walk(uint64_t from, bool general)
{
	struct bpred_outcome o;
	bpred_branch(predicts, 0x900, COND, 0x902, true, 0xa00, &o);
	walker_regs(walker, &regs);
	size_t n = walker_walk(walker, predicts, from, general, words);
	walked_count = 0;
	assert_true(n <= WALK_ROOM + 1);
	assert_true(!n || (uint32_t)*words == (n << SCRIPT_INDEX | SCRIPT_WRONG_PATH));
	for (const uint64_t *w = words + 1; n && (*w & SCRIPT_KIND) != SCRIPT_END;) {
		struct walked *x = &walked[walked_count++];
		const unsigned kind = *w & SCRIPT_KIND;
		*x = (struct walked){ .addr = ST_NOT_DONE, .way = *w >> SCRIPT_FLAGS & (SCRIPT_TAKEN |
			SCRIPT_MISPREDICTED | SCRIPT_WRONG_TARGET) };
		if (kind == STEP_GENERAL) {
			const struct iblock *b = (const struct iblock *)w[1];
			const struct insn *in = &b->insn[(uint32_t)*w >> SCRIPT_INDEX];
			x->general = true;
			x->ip = in->addr;
			x->went = w[2];
			for (unsigned u = 0; u < in->uops; u++)
				if (w[3 + u] != ST_NOT_DONE)
					x->addr = w[3 + u];
			w += 3 + in->uops;
			continue;
		}
		const struct step *s = script_step(*w++);
		x->ip = s->ip;
		assert_int_equal(s->kind, kind);
		if (kind >= STEP_LOAD)
			x->addr = *w++;
		if (kind == STEP_BRANCH || kind == STEP_LOAD_BRANCH || kind == STEP_LOAD_BRANCH_MORE)
			x->went = *w++;
		assert_true(w < words + n);
	}
	return n;
}

static uint64_t last_address(void)
{
	assert_true(walked_count > 0);
	return walked[walked_count - 1].addr;
}

static void known(uint64_t addr, uint64_t value)
{
	walk_memory_write(space, addr, 8, value);
}

/* --- values --- */

static void test_an_address_comes_from_the_registers_at_the_branch(void **state)
{
	(void)state;
	begin(NULL);
	bytes(CODE, "48 8b 44 8b 08");			/* mov rax, [rbx+rcx*4+8] */
	walk(CODE, false);
	assert_int_equal(walked_count, 1);
	assert_int_equal(last_address(), DATA + 4 * 4 + 8);
	assert_false(walked[0].general);
	end();
}

static void test_what_an_instruction_leaves_unknown_makes_no_address(void **state)
{
	(void)state;
	begin(NULL);
	bytes(CODE, "48 f7 f1 | 48 8b 30 | 48 8b 3b");	/* div rcx; mov rsi, [rax]; mov rdi, [rbx] */
	walk(CODE, false);
	assert_int_equal(walked[walked_count - 2].addr, ST_NOT_DONE);
	assert_true(walked[walked_count - 2].general);
	assert_int_equal(last_address(), DATA);
	end();
}

static void test_a_known_word_of_memory_gives_the_next_address(void **state)
{
	(void)state;
	begin(NULL);
	bytes(CODE, "48 8b 03 | 48 8b 10");		/* mov rax, [rbx]; mov rdx, [rax] */
	walk(CODE, false);
	assert_int_equal(last_address(), ST_NOT_DONE);
	known(DATA, 0x123450);
	walk(CODE, false);
	assert_int_equal(last_address(), 0x123450);
	walk_memory_forget(space, DATA + 3, 1);		/* one of its bytes */
	walk(CODE, false);
	assert_int_equal(last_address(), ST_NOT_DONE);
	end();
}

static void test_a_word_that_is_half_in_another_is_put_together(void **state)
{
	(void)state;
	begin(NULL);
	bytes(CODE, "48 8b 43 05 | 48 8b 10");		/* mov rax, [rbx+5]; mov rdx, [rax] */
	known(DATA, 0x4433220000000000);
	walk(CODE, false);
	assert_int_equal(last_address(), ST_NOT_DONE);
	known(DATA + 8, 0x5566);
	walk(CODE, false);
	assert_int_equal(last_address(), 0x5566443322);
	end();
}

static void test_the_wrong_path_sees_its_own_stores_and_nobody_else_does(void **state)
{
	uint64_t v;
	(void)state;
	begin(NULL);
	regs.gpr[RSI] = 0x22220;
	bytes(CODE, "48 89 33 | 48 8b 03 | 48 8b 10");	/* mov [rbx], rsi; mov rax, [rbx]; mov rdx, [rax] */
	bytes(0x2000, "48 8b 03 | 48 8b 10");
	known(DATA, 0x11110);
	walk(CODE, false);
	assert_int_equal(walked[0].addr, DATA);
	assert_int_equal(last_address(), 0x22220);
	assert_true(walk_memory_read(space, DATA, 8, &v));
	assert_int_equal(v, 0x11110);
	walk(0x2000, false);				/* the next walk does not see the store, either */
	assert_int_equal(last_address(), 0x11110);
	end();
}

static void test_a_store_of_an_unknown_value_makes_the_word_unknown(void **state)
{
	(void)state;
	begin(NULL);
	known(DATA, 0x11110);
	known(DATA + 8, 0x33330);
	/* div rcx; mov [rbx], al; mov rdx, [rbx]; mov rsi, [rdx]; mov rdi, [rbx+8]; mov rdi, [rdi] */
	bytes(CODE, "48 f7 f1 | 88 03 | 48 8b 13 | 48 8b 32 | 48 8b 7b 08 | 48 8b 3f");
	walk(CODE, false);
	assert_int_equal(walked[walked_count - 3].addr, ST_NOT_DONE);
	assert_int_equal(last_address(), 0x33330);
	end();
}

/* Checks the value of RAX after the code; the walk shows it as the address of a load. */
static void leaves_rax(const char *code, uint64_t rax)
{
	char text[512];
	begin(NULL);
	regs.gpr[RAX] = 0x8123;
	regs.gpr[RCX] = 0x80000004;
	regs.gpr[RDX] = UINT64_C(0xffffffffffff8001);
	regs.gpr[RSI] = 0x1000;
	regs.flags = 1;					/* CF alone */
	known(DATA, UINT64_C(0x1122334455667788));
	snprintf(text, sizeof text, "%s | 48 8b 38", code);	/* mov rdi, [rax] */
	bytes(CODE, text);
	walk(CODE, false);
	if (last_address() != rax)
		fail_msg("%s: rax %llx, %llx expected", code, (unsigned long long)last_address(),
			(unsigned long long)rax);
	end();
}

static void test_operations_do_what_the_manual_says(void **state)
{
	(void)state;
	leaves_rax("48 01 c8", 0x8123 + 0x80000004ull);		/* add rax, rcx */
	leaves_rax("01 d0", 0x124);					/* add eax, edx: the upper half is 0 */
	leaves_rax("48 29 f0", 0x7123);				/* sub rax, rsi */
	leaves_rax("48 21 f0", 0);					/* and rax, rsi */
	leaves_rax("48 09 f0", 0x9123);				/* or */
	leaves_rax("48 31 f0", 0x9123);				/* xor */
	leaves_rax("48 f7 d8", (uint64_t)-0x8123);			/* neg */
	leaves_rax("f7 d0", 0xffff7edc);				/* not eax */
	leaves_rax("48 ff c0", 0x8124);				/* inc */
	leaves_rax("48 ff c8", 0x8122);				/* dec */
	leaves_rax("48 c1 e0 04", 0x81230);				/* shl rax, 4 */
	leaves_rax("c1 e0 24", 0x81230);				/* shl eax, 36: by 4 */
	leaves_rax("48 c1 e8 04", 0x812);				/* shr */
	leaves_rax("48 89 d0 | 48 c1 f8 04", UINT64_C(0xfffffffffffff800));	/* mov rax, rdx; sar rax, 4 */
	leaves_rax("89 c8 | c1 f8 04", 0xf8000000);			/* mov eax, ecx; sar eax, 4 */
	leaves_rax("0f b7 c2", 0x8001);				/* movzx eax, dx */
	leaves_rax("48 0f bf c2", UINT64_C(0xffffffffffff8001));	/* movsx rax, dx */
	leaves_rax("48 63 c1", UINT64_C(0xffffffff80000004));		/* movsxd rax, ecx */
	leaves_rax("8d 44 36 05", 0x2005);				/* lea eax, [rsi+rsi+5] */
	leaves_rax("66 89 f0", 0x1000);				/* mov ax, si: the rest stays */
	leaves_rax("88 f4", 0x8023);					/* mov ah, dh: 80h of FF..8001 */
	leaves_rax("48 6b c6 03", 0x3000);				/* imul rax, rsi, 3 */
	leaves_rax("48 0f af c6", 0x8123000);				/* imul rax, rsi */
	leaves_rax("48 98", 0x8123);					/* cdqe */
	leaves_rax("48 d1 e0", 0x10246);				/* shl rax, 1 */
	leaves_rax("48 d1 c0", 0x10246);				/* rol rax, 1 */
	leaves_rax("d1 c8", 0x80004091);				/* ror eax, 1 */
	leaves_rax("48 c1 c8 08", UINT64_C(0x2300000000000081));	/* ror rax, 8 */
	leaves_rax("66 c1 c0 0c", 0x3812);				/* rol ax, 12 */
	leaves_rax("48 c1 c0 40", 0x8123);				/* rol rax, 64: by 0 */
	leaves_rax("f3 48 0f bc c1", 2);				/* tzcnt rax, rcx */
	leaves_rax("0f bc c6", 12);					/* bsf eax, esi */
	leaves_rax("48 0f bd c2", 63);					/* bsr rax, rdx */
	leaves_rax("0f bd 03", 30);					/* bsr eax, [rbx] */
	leaves_rax("f3 0f bd c6", 19);					/* lzcnt eax, esi */
	leaves_rax("f3 48 0f b8 c1", 2);				/* popcnt rax, rcx */
	leaves_rax("31 f6 | 48 0f bc c6", ST_NOT_DONE);			/* xor esi, esi; bsf rax, rsi: undefined */
	leaves_rax("31 f6 | f3 0f bd c6", 32);				/* .. lzcnt eax, esi */
	leaves_rax("0f c8", 0x23810000);				/* bswap eax */
	leaves_rax("48 96", 0x1000);					/* xchg rax, rsi */
	leaves_rax("48 8b 03", UINT64_C(0x1122334455667788));		/* mov rax, [rbx] */
	leaves_rax("0f b6 43 01", 0x77);				/* movzx eax, byte [rbx+1] */
	leaves_rax("0f be 03", 0xffffff88);				/* movsx eax, byte [rbx] */
	leaves_rax("31 c0", 0);					/* xor eax, eax */
	leaves_rax("48 11 f0", 0x9124);				/* adc rax, rsi: with CF */
	leaves_rax("48 19 f0", 0x7122);				/* sbb */
	leaves_rax("48 39 f0 | 48 0f 47 c6", 0x1000);			/* cmp rax, rsi; cmova rax, rsi */
	leaves_rax("48 39 f0 | 48 0f 42 c6", 0x8123);			/* .. cmovb: not */
	leaves_rax("48 85 d2 | 0f 98 c0 | 0f b6 c0", 1);		/* test rdx, rdx; sets al; movzx eax, al */
	leaves_rax("39 f0 | 0f 42 c6", 0x8123);				/* cmp eax, esi; cmovb eax, esi */
	leaves_rax("48 39 33 | 0f 97 c0 | 0f b6 c0", 1);		/* cmp [rbx], rsi; seta al; movzx eax, al */
	leaves_rax("66 39 33 | 0f 92 c0 | 0f b6 c0", 0);		/* cmp [rbx], si; setb al */
	leaves_rax("80 3b 88 | 0f 94 c0 | 0f b6 c0", 1);		/* cmp byte [rbx], 88h; sete al */
	leaves_rax("f6 03 08 | 0f 95 c0 | 0f b6 c0", 1);		/* test byte [rbx], 8; setne al */
	leaves_rax("48 85 33 | 0f 94 c0 | 0f b6 c0", 0);		/* test [rbx], rsi; sete al */
	leaves_rax("38 8b 00 10 00 00 | 0f 94 c0", ST_NOT_DONE);	/* cmp [rbx+4096], cl, unknown; sete al */
	leaves_rax("98", 0xffff8123);					/* cwde */
	leaves_rax("0f af c6", 0x8123000);				/* imul eax, esi */
	leaves_rax("69 c1 02 00 00 00", 8);				/* imul eax, ecx, 2 */
	leaves_rax("e8 00 00 00 00 | 58", CODE + 5);			/* call behind it; pop rax */
	leaves_rax("48 83 c3 08 | 56 | 58", 0x1000);			/* add rbx, 8; push rsi; pop rax */
	leaves_rax("48 83 03 01 | 48 8b 03", UINT64_C(0x1122334455667789));	/* add qword [rbx], 1; mov rax, [rbx] */
	leaves_rax("48 c7 03 05 00 00 00 | 48 8b 03", 5);		/* mov qword [rbx], 5; mov rax, [rbx] */
}

static void test_an_idiom_knows_its_result_whatever_the_register(void **state)
{
	(void)state;
	begin(NULL);
	bytes(CODE, "48 f7 f1 | 31 c0 | 48 8b 40 10");	/* div rcx; xor eax, eax; mov rax, [rax+16] */
	walk(CODE, false);
	assert_int_equal(last_address(), 16);
	end();
}

/* --- what the walker learns from executions --- */

static void load_and_its_register(struct maker *m)
{
	maker_slot(m, ST_SLOT_LOAD, 8);
	maker_slot(m, ST_SLOT_REG, 8);
	m->slot[1].reg = RAX;
}

static void test_what_a_load_brought_is_known(void **state)
{
	uint64_t v;
	(void)state;
	begin(NULL);
	struct iblock *b = block(0x5000, "48 8b 03", load_and_its_register);	/* mov rax, [rbx] */
	assert_false(walk_memory_read(space, DATA, 8, &v));
	walker_track(walker, b, (const uint64_t[]){ DATA, 0x777 }, 2);
	assert_true(walk_memory_read(space, DATA, 8, &v));
	assert_int_equal(v, 0x777);
	end();
}

static void store_of_a_register(struct maker *m)
{
	maker_slot(m, ST_SLOT_STORE, 8);
}

static void test_what_a_store_took_out_is_known_if_its_register_was(void **state)
{
	uint64_t v;
	(void)state;
	begin(NULL);
	struct iblock *b = block(0x5000, "48 89 0b", store_of_a_register);	/* mov [rbx], rcx */
	known(DATA, 1);
	walker_track(walker, b, (const uint64_t[]){ DATA }, 1);		/* no registers are known yet */
	assert_false(walk_memory_read(space, DATA, 8, &v));
	walker_regs(walker, &regs);
	walker_track(walker, b, (const uint64_t[]){ DATA }, 1);
	assert_true(walk_memory_read(space, DATA, 8, &v));
	assert_int_equal(v, 4);
	end();
}

static void test_no_register_is_known_behind_blocks_that_were_not_followed(void **state)
{
	uint64_t v;
	(void)state;
	begin(NULL);
	struct iblock *b = block(0x5000, "48 89 0b", store_of_a_register);	/* mov [rbx], rcx */
	walker_regs(walker, &regs);
	known(DATA + 8, 7);
	walker_lose(walker);
	walker_track(walker, b, (const uint64_t[]){ DATA }, 1);
	assert_false(walk_memory_read(space, DATA, 8, &v));
	assert_true(walk_memory_read(space, DATA + 8, 8, &v));	/* memory keeps its last words */
	assert_int_equal(v, 7);
	end();
}

static void vector_store(struct maker *m)
{
	maker_slot(m, ST_SLOT_STORE, 16);
}

static void test_a_store_that_is_not_followed_is_forgotten(void **state)
{
	uint64_t v;
	(void)state;
	begin(NULL);
	struct iblock *b = block(0x5000, "0f 29 03", vector_store);	/* movaps [rbx], xmm0 */
	known(DATA, 1);
	known(DATA + 8, 2);
	known(DATA + 16, 3);
	walker_track(walker, b, (const uint64_t[]){ DATA }, 1);
	assert_false(walk_memory_read(space, DATA, 8, &v));
	assert_false(walk_memory_read(space, DATA + 8, 8, &v));
	assert_true(walk_memory_read(space, DATA + 16, 8, &v));
	end();
}

/* --- where a walk goes, and where it ends --- */

static void ends_before(const char *code)
{
	char text[256];
	begin(NULL);
	snprintf(text, sizeof text, "48 8b 03 | %s | 48 8b 43 08", code);
	bytes(CODE, text);
	walk(CODE, false);
	if (walked_count != 1 || walked[0].ip != CODE)
		fail_msg("%s: %u steps", code, walked_count);
	end();
}

static void test_a_walk_ends_where_nobody_knows_what_comes(void **state)
{
	(void)state;
	ends_before("0f 05");			/* syscall */
	ends_before("cd 80");			/* int 80h */
	ends_before("0f a2");			/* cpuid */
	ends_before("0f ae f0");		/* mfence */
	ends_before("0f ae e8");		/* lfence */
	ends_before("f0 48 01 0b");		/* lock add [rbx], rcx */
	ends_before("48 87 0b");		/* xchg [rbx], rcx */
	ends_before("f3 a4");			/* rep movsb */
	ends_before("f3 90");			/* pause */
	ends_before("0f 0b");			/* ud2 */
}

static void test_code_that_is_unknown_is_not_walked(void **state)
{
	(void)state;
	begin(NULL);
	assert_int_equal(walk(CODE, false), 0);
	bytes(CODE, "90 | 90");
	assert_true(walk(CODE, false) > 0);
	assert_int_equal(walked_count, 2);
	assert_int_equal(walk(0, false), 0);
	end();
}

static void test_unmapped_code_is_forgotten(void **state)
{
	(void)state;
	begin(NULL);
	bytes(CODE, "90 | 90 | 90 | 90");
	walk(CODE, false);
	assert_int_equal(walked_count, 4);
	walk_space_cut(space, CODE + 2, 1);
	walk(CODE, false);
	assert_int_equal(walked_count, 2);
	walk(CODE + 3, false);
	assert_int_equal(walked_count, 1);
	walk_space_cut(space, 0, UINT64_MAX);
	assert_int_equal(walk(CODE, false), 0);
	end();
}

static void test_a_jump_leads_into_a_block_that_was_executed(void **state)
{
	(void)state;
	begin(NULL);
	bytes(CODE, "90 | eb 0d");			/* nop; jmp 1010 */
	block(0x1010, "48 8b 03", NULL);
	walk(CODE, false);
	assert_int_equal(walked_count, 3);
	assert_int_equal(walked[1].went, 0x1010);
	assert_int_equal(walked[2].ip, 0x1010);
	end();
}

static void test_a_call_comes_back_by_the_return_stack(void **state)
{
	(void)state;
	begin(NULL);
	bytes(CODE, "e8 0b 00 00 00 | 48 8b 03");	/* call 1010; mov rax, [rbx] */
	bytes(0x1010, "48 8b 04 24 | c3");		/* mov rax, [rsp]; ret */
	walk(CODE, false);
	assert_int_equal(walked_count, 4 + (walked[0].ip == walked[1].ip));
	assert_int_equal(walked[walked_count - 1].ip, CODE + 5);
	assert_int_equal(walked[walked_count - 1].addr, DATA);
	assert_int_equal(walked[walked_count - 3].addr, STACK - 8);
	end();
}

static void test_a_walk_has_as_many_instructions_as_the_core_file_says(void **state)
{
	(void)state;
	begin("wrong_path.instructions=100");
	bytes(CODE, "90 | eb fd");			/* nop; jmp back */
	walk(CODE, false);
	assert_int_equal(walked_count, 100);
	end();
	begin("wrong_path.instructions=512");
	bytes(CODE, "48 8b 43 08 | 48 89 43 10 | eb f6");
	walk(CODE, false);
	assert_int_equal(walked_count, 512);
	walk(CODE, true);				/* the general way takes more words */
	assert_true(walked_count < 512 && walked_count > 200);
	for (unsigned i = 0; i < walked_count; i++)
		assert_true(walked[i].general);
	end();
}

/* Makes a walk and notes that the core ran `ran` words of it (0: all). Returns the number of words of the walk. */
static unsigned paced(uint64_t from, unsigned ran)
{
	assert_true(walk(from, false) > 0);
	const uint64_t number = *words >> SCRIPT_WALK;
	const unsigned n = ((uint32_t)*words >> SCRIPT_INDEX) - 2;	/* without the first and the last */
	assert_int_not_equal(number, 0);
	walker_ran(walker)[number - 1] = (uint16_t)(ran && ran < n ? ran : n);
	walker_made(walker, 1000);
	return n;
}

static void test_a_walk_goes_as_far_as_the_core_lately_got_there(void **state)
{
	(void)state;
	begin("wrong_path.instructions=512");
	bytes(CODE, "48 8b 43 08 | 48 89 43 10 | eb f6");	/* 512 instructions: 1024 words */
	bytes(CODE + 0x100, "48 8b 43 08 | 48 89 43 10 | eb f6");
	walker_follow(walker, 1000);
	const unsigned whole = paced(CODE, 100);
	assert_true(whole > 1000);
	const unsigned floor = paced(CODE, 20);
	assert_true(floor >= 100 && floor < 300);
	unsigned n = paced(CODE, 0), before;				/* the core runs all of it: it was too short */
	assert_in_range(n, floor, floor + 3);
	for (unsigned i = 0; i < 3 && n < whole; i++) {
		before = n;
		n = paced(CODE, 0);
		assert_true(n > 3 * before / 2 || n == whole);
	}
	assert_int_equal(n, whole);
	for (unsigned i = 0; i < 100; i++)			/* a long walk is forgotten after a while */
		n = paced(CODE, 150);
	assert_in_range(n, 150, 300);
	assert_int_equal(paced(CODE + 0x100, 10), whole);	/* nothing is known of another address */
	end();
}

static void test_what_the_core_did_is_known_when_it_must_be_done(void **state)
{
	(void)state;
	begin("wrong_path.instructions=512");
	bytes(CODE, "48 8b 43 08 | 48 89 43 10 | eb f6");
	walker_follow(walker, 5000);
	const unsigned whole = paced(CODE, 20);
	for (unsigned i = 0; i < 4; i++)
		/* noted, but until 5000 words later the core may not have run it */
		assert_int_equal(paced(CODE, 20), whole);
	assert_true(paced(CODE, 20) < 300);
	walker_follow(walker, 0);				/* without a distance nothing is learnt */
	assert_true(walk(CODE, false) > 0);
	assert_int_equal(*words >> SCRIPT_WALK, 0);
	assert_int_equal(((uint32_t)*words >> SCRIPT_INDEX) - 2, whole);
	end();
}

static void test_many_stores_end_a_walk_and_nothing_more(void **state)
{
	(void)state;
	begin("wrong_path.instructions=512");
	bytes(CODE, "48 89 1b | 48 83 c3 08 | eb f7");	/* mov [rbx], rbx; add rbx, 8; jmp back */
	walk(CODE, false);
	assert_true(walked_count > 300 && walked_count <= 512);
	assert_int_equal(walked[3].addr, DATA + 8);
	end();
}

static void test_the_same_walk_twice_is_the_same(void **state)
{
	static uint64_t first[WALK_ROOM + 1];
	(void)state;
	begin(NULL);
	bytes(CODE, "48 89 1b | 48 8b 0b | 48 83 c3 08 | 75 f4 | 48 8b 01");
	size_t n = walk(CODE, false);
	memcpy(first, words, sizeof first);
	for (unsigned i = 0; i < 3; i++) {
		assert_int_equal(walk(CODE, false), n);
		assert_memory_equal(words, first, n * sizeof *words);
	}
	end();
}

/* --- convergence --- */

static struct converge ahead;

/* Announces an execution of the block on the right path. */
static void comes(const struct iblock *b, const uint64_t *slots, uint32_t n)
{
	converge_read(&ahead, b, slots, n);
	walker_ahead(walker, &ahead);
}

static void begin_ahead(const char *setting)
{
	memset(&ahead, 0, sizeof ahead);
	begin(setting);
}

static void test_an_unknown_address_is_that_of_the_right_path(void **state)
{
	(void)state;
	begin_ahead(NULL);
	bytes(CODE, "48 f7 f1");							/* div rcx */
	struct iblock *b = block(CODE + 3, "48 8b 00", load_and_its_register);		/* mov rax, [rax] */
	struct iblock *c = block(0x5000, "48 8b 03", load_and_its_register);
	walk(CODE, false);
	assert_int_equal(last_address(), ST_NOT_DONE);
	comes(c, (const uint64_t[]){ 0x7770, 1 }, 2);
	comes(b, (const uint64_t[]){ 0x4440, 1 }, 2);
	walk(CODE, false);
	assert_int_equal(last_address(), 0x4440);
	walker_converge(walker, false);
	walk(CODE, false);
	assert_int_equal(last_address(), ST_NOT_DONE);
	walker_converge(walker, true);
	ahead.first = ahead.end;							/* the core has run them */
	walk(CODE, false);
	assert_int_equal(last_address(), ST_NOT_DONE);
	end();
}

static void test_a_known_address_is_not_looked_for(void **state)
{
	(void)state;
	begin_ahead(NULL);
	struct iblock *b = block(CODE, "48 8b 03", load_and_its_register);		/* mov rax, [rbx] */
	comes(b, (const uint64_t[]){ 0x4440, 1 }, 2);
	walk(CODE, false);
	assert_int_equal(last_address(), DATA);
	end();
}

static void test_each_time_it_is_the_next_that_comes(void **state)
{
	(void)state;
	begin_ahead(NULL);
	bytes(CODE, "48 f7 f1 | 48 8b 10 | eb fb");	/* div rcx; mov rdx, [rax]; jmp back to it */
	struct iblock *b = block(CODE + 3, "48 8b 10", load_and_its_register);
	for (unsigned n = 0; n < 3; n++) {	/* the second execution makes no access */
		static const uint64_t slots[3][2] = { { 0x4440 }, { ST_NOT_DONE }, { 0x6660 } };
		comes(b, slots[n], 2);
	}
	walk(CODE, false);
	unsigned seen = 0;
	for (unsigned i = 0; i < walked_count; i++)
		if (walked[i].ip == CODE + 3) {
			static const uint64_t as[] = { 0x4440, 0x6660, ST_NOT_DONE };
			assert_int_equal(walked[i].addr, as[seen < 2 ? seen : 2]);
			seen++;
		}
	assert_true(seen > 3);
	walk(CODE, false);								/* begins at the first */
	for (unsigned i = 0; walked[i].ip != CODE + 3; i++)
		assert_true(walked[i + 1].addr == ST_NOT_DONE || walked[i + 1].addr == 0x4440);
	end();
}

static void test_what_lies_at_such_an_address_is_known(void **state)
{
	(void)state;
	begin_ahead(NULL);
	known(0x4440, 0x5550);
	bytes(CODE, "48 f7 f1 | 48 8b 00 | 48 8b 08");	/* div rcx; mov rax, [rax]; mov rcx, [rax] */
	struct iblock *b = block(CODE + 3, "48 8b 00", load_and_its_register);
	comes(b, (const uint64_t[]){ 0x4440, 1 }, 2);
	walk(CODE, false);
	assert_int_equal(last_address(), 0x5550);
	end();
}

static void test_a_store_takes_the_address_of_a_store(void **state)
{
	(void)state;
	begin_ahead(NULL);
	bytes(CODE, "48 f7 f1 | 48 89 08 | 48 89 ca");	/* div rcx; mov [rax], rcx; mov rdx, rcx */
	struct iblock *b = block(CODE + 3, "48 89 08", store_of_a_register);
	comes(b, (const uint64_t[]){ 0x4440 }, 1);
	walk(CODE, false);
	assert_int_equal(walked[walked_count - 2].ip, CODE + 3);
	assert_int_equal(walked[walked_count - 2].addr, 0x4440);
	end();
}

static void test_an_operand_of_another_segment_is_found_there(void **state)
{
	(void)state;
	begin_ahead(NULL);
	struct iblock *b = block(CODE, "64 48 8b 04 25 10 00 00 00", load_and_its_register);	/* mov rax, fs:[16] */
	walk(CODE, false);
	assert_int_equal(last_address(), ST_NOT_DONE);
	comes(b, (const uint64_t[]){ 0x4440, 1 }, 2);
	walk(CODE, false);
	assert_int_equal(last_address(), 0x4440);
	end();
}

/* --- outcomes --- */

enum { RIGHT, WRONG_WAY = SCRIPT_MISPREDICTED, WRONG_TARGET = SCRIPT_MISPREDICTED | SCRIPT_WRONG_TARGET };

/* Walks the code and checks what the word of its last branch says about the outcome. Returns whether the branch was
 * predicted taken. */
static bool last_branch(const char *code, bool wanted, bool general, unsigned outcome)
{
	unsigned last = walked_count;
	bytes(CODE, code);
	walker_outcomes(walker, wanted);
	walk(CODE, general);
	for (unsigned i = 0; i < walked_count; i++)
		if (walked[i].went)
			last = i;
	assert_true(last < walked_count);
	if ((walked[last].way & ~SCRIPT_TAKEN) != outcome)
		fail_msg("%s: %#x, %#x expected", code, walked[last].way, outcome);
	return walked[last].way & SCRIPT_TAKEN;
}

/* Checks a conditional branch that is taken (or not, per `taken`): it is mispredicted if the prediction differs. */
static void is_taken(const char *code, bool taken)
{
	for (unsigned general = 0; general < 2; general++) {
		begin(NULL);
		regs.flags = 1 << 6;		/* ZF */
		const bool predicted = last_branch(code, false, general, RIGHT);
		assert_int_equal(last_branch(code, true, general, predicted == taken ? RIGHT : WRONG_WAY), predicted);
		end();
	}
}

static void test_a_branch_was_predicted_wrong_if_its_condition_says_so(void **state)
{
	(void)state;
	is_taken("48 83 f9 04 | 74 10", true);		/* cmp rcx, 4; jz */
	is_taken("48 83 f9 04 | 75 10", false);
	is_taken("48 83 f9 05 | 74 10", false);
	is_taken("48 83 f9 05 | 72 10", true);			/* jb */
	is_taken("48 85 c9 | 75 10", true);			/* test rcx, rcx; jnz */
	is_taken("48 ff c9 | 75 10", true);			/* dec rcx; jnz */
	is_taken("48 83 e9 04 | 90 | 74 10", true);		/* sub rcx, 4; nop; jz: not fused */
	is_taken("74 10", true);				/* uses the flags at the branch */
	is_taken("75 10", false);
	is_taken("f6 c1 04 | 74 10", false);			/* test cl, 4 */
}

static void test_a_branch_on_something_unknown_goes_as_predicted(void **state)
{
	/* div rcx; test rax, rax */
	static const char *const code[] = { "48 f7 f1 | 48 85 c0 | 74 10", "48 f7 f1 | 48 85 c0 | 75 10",
		"48 83 3f 00 | 74 10", "48 83 3f 00 | 75 10",		/* cmp qword [rdi], 0 */
		"e3 10", "e2 10" };					/* jrcxz, loop: not followed */
	(void)state;
	for (unsigned i = 0; i < sizeof code / sizeof *code; i++) {
		begin(NULL);
		last_branch(code[i], true, false, RIGHT);
		end();
	}
}

static void test_an_indirect_branch_was_predicted_wrong_if_its_target_says_so(void **state)
{
	(void)state;
	begin(NULL);
	to(predicts, CODE, INDIRECT, 0x1010);
	to(predicts, CODE, INDIRECT, 0x1010);
	regs.gpr[RAX] = 0x1010;
	last_branch("ff e0", true, false, RIGHT);		/* jmp rax */
	assert_int_equal(walked[0].went, 0x1010);
	regs.gpr[RAX] = 0x1020;
	last_branch("ff e0", true, false, WRONG_TARGET);
	assert_int_equal(walked[0].went, 0x1010);		/* fetch goes on as predicted */
	last_branch("ff e0", false, false, RIGHT);		/* outcomes are not wanted */
	last_branch("ff 23", true, false, RIGHT);		/* jmp [rbx]: unknown */
	known(DATA, 0x1010);
	last_branch("ff 23", true, false, RIGHT);
	known(DATA, 0x1018);
	last_branch("ff 23", true, false, WRONG_TARGET);
	last_branch("ff 13", true, false, WRONG_TARGET);	/* call [rbx] */
	end();
	begin(NULL);
	last_branch("ff e0", true, false, WRONG_TARGET);	/* without a prediction, fetch waits for it */
	end();
}

static void test_a_return_was_predicted_wrong_if_its_address_was_changed(void **state)
{
	(void)state;
	begin(NULL);
	bytes(0x1010, "c3");
	last_branch("e8 0b 00 00 00 | 90", true, false, RIGHT);	/* call 1010, where a RET is */
	bytes(0x1010, "48 89 1c 24 | c3");			/* mov [rsp], rbx */
	last_branch("e8 0b 00 00 00 | 90", true, false, WRONG_TARGET);
	assert_int_equal(walked[walked_count - 1].ip, CODE + 5);
	bytes(0x1010, "48 f7 f1 | 48 89 04 24 | c3");		/* div rcx; mov [rsp], rax: unknown */
	last_branch("e8 0b 00 00 00 | 90", true, false, RIGHT);
	end();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_an_address_comes_from_the_registers_at_the_branch),
		cmocka_unit_test(test_what_an_instruction_leaves_unknown_makes_no_address),
		cmocka_unit_test(test_a_known_word_of_memory_gives_the_next_address),
		cmocka_unit_test(test_a_word_that_is_half_in_another_is_put_together),
		cmocka_unit_test(test_the_wrong_path_sees_its_own_stores_and_nobody_else_does),
		cmocka_unit_test(test_a_store_of_an_unknown_value_makes_the_word_unknown),
		cmocka_unit_test(test_operations_do_what_the_manual_says),
		cmocka_unit_test(test_an_idiom_knows_its_result_whatever_the_register),
		cmocka_unit_test(test_what_a_load_brought_is_known),
		cmocka_unit_test(test_what_a_store_took_out_is_known_if_its_register_was),
		cmocka_unit_test(test_no_register_is_known_behind_blocks_that_were_not_followed),
		cmocka_unit_test(test_a_store_that_is_not_followed_is_forgotten),
		cmocka_unit_test(test_a_walk_ends_where_nobody_knows_what_comes),
		cmocka_unit_test(test_code_that_is_unknown_is_not_walked),
		cmocka_unit_test(test_unmapped_code_is_forgotten),
		cmocka_unit_test(test_a_jump_leads_into_a_block_that_was_executed),
		cmocka_unit_test(test_a_call_comes_back_by_the_return_stack),
		cmocka_unit_test(test_a_walk_has_as_many_instructions_as_the_core_file_says),
		cmocka_unit_test(test_a_walk_goes_as_far_as_the_core_lately_got_there),
		cmocka_unit_test(test_what_the_core_did_is_known_when_it_must_be_done),
		cmocka_unit_test(test_many_stores_end_a_walk_and_nothing_more),
		cmocka_unit_test(test_the_same_walk_twice_is_the_same),
		cmocka_unit_test(test_an_unknown_address_is_that_of_the_right_path),
		cmocka_unit_test(test_a_known_address_is_not_looked_for),
		cmocka_unit_test(test_each_time_it_is_the_next_that_comes),
		cmocka_unit_test(test_what_lies_at_such_an_address_is_known),
		cmocka_unit_test(test_a_store_takes_the_address_of_a_store),
		cmocka_unit_test(test_an_operand_of_another_segment_is_found_there),
		cmocka_unit_test(test_a_branch_was_predicted_wrong_if_its_condition_says_so),
		cmocka_unit_test(test_a_branch_on_something_unknown_goes_as_predicted),
		cmocka_unit_test(test_an_indirect_branch_was_predicted_wrong_if_its_target_says_so),
		cmocka_unit_test(test_a_return_was_predicted_wrong_if_its_address_was_changed),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
