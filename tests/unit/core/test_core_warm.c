/* SPDX-License-Identifier: GPL-2.0-or-later
 * Warming leaves in the uop cache what detailed execution leaves: whatever runs next, comes from the same path. */
#include "core_fixture.h"

enum { CODES = 40, WALK = 3000, PROBES = 4 * CODES };
static struct code code[CODES];

static uint64_t next_random(uint64_t *s)
{
	*s ^= *s << 13;
	*s ^= *s >> 7;
	return *s ^= *s << 17;
}

/* Makes blocks of 1 to 16 instructions, which follow each other straight on or far apart.  They end with a branch. */
static void make(uint64_t *s)
{
	uint64_t at = 0x1000;
	for (struct code *k = code; k < code + CODES; k++) {
		code_start(k, at);
		for (uint64_t n = next_random(s) % 16; n; n--) {
			const uint64_t v = next_random(s);
			code_op(k, ALU, 1, REG_GPR, REG_GPR);
			k->insn[k->b.insns - 1].len = (uint8_t)(1 + v % 9);
			k->at += k->insn[k->b.insns - 1].len - 4u;
			k->insn[k->b.insns - 1].flags |= (v >> 8 & 31) == 0 ? INSN_WIDE : 0;
			k->insn[k->b.insns - 1].issue_slots = 1;
		}
		code_branch(k, 2, INSN_COND, 0, 0);
		code_exit(k, ST_JUMP_BORING, 0);
		at = k->at + (next_random(s) & 1 ? 0 : next_random(s) % 200);
	}
}

enum way { DETAIL, WARM, LEADER, WAYS };	/* LEADER: without the predictors, as a leader's front thread does */

/* Walks through the blocks in one of these ways, and then runs some in detail.  path: of each instruction of these, the
 * path that delivered it.  Returns how many there are. */
static unsigned walk(const char *settings, enum way way, uint64_t path[PROBES * 17], unsigned *fetches)
{
	struct bench b;
	uint64_t s = 99;
	unsigned n = 0, at = 0;
	fixture_start(&b, NULL, settings);
	for (unsigned i = 0; i < WALK + PROBES; i++) {
		const uint64_t v = next_random(&s);
		/* straight on, somewhere near, or anywhere */
		const unsigned next = v % 4 == 0 ? (at + 1) % CODES : v % 4 < 3 ? (at & ~3u) + (v >> 8) % 4
										: (v >> 8) % CODES;
		struct code *k = &code[at];
		const uint64_t to = code[next].b.addr;
		k->insn[k->b.insns - 1].target = to;
		at = next;
		if (way == LEADER && i < WALK) {
			assert_non_null(core_warm_rest(b.c, &k->b, 0, NULL).path);
			continue;
		}
		if (way == WARM && i < WALK) {
			core_warm_block(b.c, &k->b, 0, k->b.insns, NULL, to);
			continue;
		}
		if (i == WALK)
			core_warm_block(b.c, &k->b, 0, 0, NULL, 0);	/* a gap of nothing */
		if (i == WALK)
			*fetches = mock.fetches + mock.warm_fetch;
		const unsigned before = out.uops;
		core_run_block(b.c, &k->b, 0, k->b.insns, NULL, to);
		core_flush(b.c, false);
		for (unsigned u = before; i >= WALK && u < out.uops; u++)
			path[n++] = out.uop[u].did & (SPMU_DID(FROM_DSB) | SPMU_DID(FROM_MITE));
	}
	bench_end(&b);
	return n;
}

static void test_the_uop_cache_is_warmed(void **state)
{
	static const char *const settings[] = {
		"dsb.sets=8 dsb.ways=4 lsd.size=0",
		"dsb.sets=4 dsb.ways=8 dsb.window_bytes=64 dsb.window_lines=6 dsb.line_uops=8 dsb.halves=0 lsd.size=0",
		"dsb.sets=8 dsb.ways=4 predict.ahead=24 dsb.straddle=1 dsb.window_bytes=64 dsb.halves=0 lsd.size=0",
		"dsb.sets=0 lsd.size=0 trace.sets=8 trace.ways=4 trace.line_uops=6",
	};
	static uint64_t path[WAYS][PROBES * 17];
	(void)state;
	for (unsigned k = 0; k < sizeof settings / sizeof *settings; k++) {
		uint64_t s = 7;
		unsigned n[WAYS], fetches[WAYS], decoded = 0;
		for (enum way way = DETAIL; way < WAYS; way++) {
			make(&s);
			s = 7;
			n[way] = walk(settings[k], way, path[way], &fetches[way]);
		}
		for (unsigned i = 0; i < n[0]; i++)
			decoded += path[0][i] == SPMU_DID(FROM_MITE);
		assert_true(decoded > n[0] / 20 && decoded < n[0] * 19 / 20);
		/* with dsb.straddle warming may decode once more where the lines of two windows meet */
		const unsigned apart = k == 2 ? fetches[0] / 100 : 0;
		for (enum way way = WARM; way < WAYS; way++) {
			assert_int_equal(n[0], n[way]);
			assert_memory_equal(path[0], path[way], n[0] * sizeof *path[0]);
			assert_in_range(fetches[way], fetches[0] - apart, fetches[0] + apart);
		}
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_the_uop_cache_is_warmed),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
