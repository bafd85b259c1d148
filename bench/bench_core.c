/* SPDX-License-Identifier: GPL-2.0-or-later
 * Speed of the pipeline model alone, in uops per second, on synthetic loops; memory and predictor are
 * stand-ins. Strength: the figure has no tracer, no caches and no PMU in it. Weakness: such regular loops are easy
 * for the host's predictors.
 *
 * gcc -std=gnu17 -O2 -D_GNU_SOURCE -Iinclude -Isrc -Itests/unit -o /tmp/bench_core bench/bench_core.c \
 *   src/core/{core,config,emit,frontend,rename,scheduler,lsq,quick,rep,machine}.c src/util/err.c && /tmp/bench_core
 *     [core [rounds]]
 */
#include <stdio.h>
#include <time.h>
#include "core_mock.h"

static uint64_t records;
static struct spmu_record *count(void *context, const struct spmu_batch *b)
{
	(void)context;
	records += b->count;
	return NULL;
}

static double now(void)
{
	struct timespec t;
	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

enum { ALU = 0x63 };

/* Resembles compiled code: blocks of 4 to 12 instructions, a third
 * of them memory accesses, pseudo-random dependences. */
static void mixed(struct code *k, uint64_t addr, unsigned n, uint32_t *seed, uint64_t next)
{
	code_start(k, addr);
	for (unsigned i = 0; i < n; i++) {
		*seed = *seed * 1664525 + 1013904223;
		unsigned what = *seed >> 28, dst = REG_GPR + (*seed >> 20 & 15), src = REG_GPR + (*seed >> 12 & 15);
		if (what < 4) {
			code_load(k, dst, src, 8);
		} else if (what < 6) {
			code_store(k, dst, src, 8);
		} else if (what < 8) {		/* load and operate */
			struct uop *u = code_load(k, REG_TEMP, src, 4);
			struct uop *op = code_uop(k, UOP_COMPUTE, ALU, 1, false);
			(void)u;
			op->src[0] = REG_TEMP;
			op->src[1] = op->dst[0] = (uint8_t)dst;
			op->dst[1] = REG_FLAGS;
		} else {
			struct uop *u = code_op(k, ALU, what == 15 ? 3 : 1, dst, src);
			u->src[1] = (uint8_t)dst;
			u->dst[1] = REG_FLAGS;
		}
	}
	code_branch(k, 2, INSN_COND, next, REG_FLAGS);
	code_exit(k, ST_JUMP_BORING, next);
}

int main(int argc, char **argv)
{
	enum { BLOCKS = 64 };
	struct core_config config;
	struct machine *m;
	struct core *c;
	struct err err;
	mock_reset();
	if (core_config_load(&config, "data", argc > 1 ? argv[1] : "skylake", &err) || machine_create(&m, &config,
		&err) ||
	    core_create(&c, m, count, NULL, &err)) {
		fprintf(stderr, "%s\n", err.text);
		return 1;
	}
	struct code *k = malloc(BLOCKS * sizeof *k);
	uint64_t slots[BLOCKS][MOCK_SLOTS];
	uint32_t seed = 1, rounds = argc > 2 ? (uint32_t)atoi(argv[2]) : 40000;
	uint64_t uops = 0, insns = 0, at = 0x400000;
	for (unsigned i = 0; i < BLOCKS; i++) {
		mixed(&k[i], at, 4 + i % 9, &seed, (at + 4 * (4 + i % 9) + 2 + 15) & ~15ull);
		at = k[i].insn[k[i].b.insns - 1].target;
		for (unsigned s = 0; s < MOCK_SLOTS; s++)
			slots[i][s] = 0x7f0000000000 + (seed = seed * 1664525 + 1013904223) % 32768 / 8 * 8;
	}
	k[BLOCKS - 1].insn[k[BLOCKS - 1].b.insns - 1].target = 0x400000;
	mock.bad_branch = k[7].insn[k[7].b.insns - 1].addr;
	for (unsigned trial = 0; trial < 5; trial++) {
		double start = now();
		uint64_t first = core_now(c), before = records;
		uops = insns = 0;
		for (unsigned round = 0; round < rounds; round++) {
			mock.bad_times = round % 2;
			for (unsigned i = 0; i < BLOCKS; i++) {
				core_run_block(c, &k[i].b, 0, k[i].b.insns, slots[i], k[(i + 1) % BLOCKS].b.addr);
				uops += k[i].b.uops;
				insns += k[i].b.insns;
			}
		}
		double took = now() - start;
		printf("%.1f M uops/s, %.1f M instructions/s, IPC %.2f, %.2f records a uop\n",
			1e-6 * (double)uops / took,
		       1e-6 * (double)insns / took, (double)insns / (double)(core_now(c) - first),
		       (double)(records - before) / (double)uops);
	}
	core_flush(c, true);
	core_destroy(c);
	machine_destroy(m);
	free(k);
	return 0;
}
