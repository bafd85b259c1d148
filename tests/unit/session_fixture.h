/* SPDX-License-Identifier: GPL-2.0-or-later
 * A small event table and hand-made batches for the tests of the session: one instruction a cycle, CYCLES always true. */
#ifndef SESSION_FIXTURE_H
#define SESSION_FIXTURE_H
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include "session/session.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char fixture_table[] =
	"@cpuid_0a 08300805 0 0f 8604\n@perf_capabilities 2000\n@slots 6\n@tsc 1/1\n"
	"INST_RETIRED.ANY\t00\t01\t-\t-\tfixed=0,fixed-only\tinstructions\tuop(INST_END)\tinstructions\t-\n"
	"INST_RETIRED.ANY_P\tC0\t00\t-\t0-7\t-\t-\tuop(INST_END)\tinstructions\t-\n"
	"CPU_CLK_UNHALTED.THREAD\t00\t02\t-\t-\tfixed=1,fixed-only\tcycles,cpu-cycles\tsig(CYCLES)\tcycles\t-\n"
	"CPU_CLK_UNHALTED.THREAD_P\t3C\t00\t-\t0-7\tfixed=1\t-\tsig(CYCLES)\tcycles\t-\n"
	"CPU_CLK_UNHALTED.REF_TSC\t00\t03\t-\t-\tfixed=2,fixed-only\tref-cycles\ttsc\treference cycles\t-\n"
	"TOPDOWN.SLOTS\t00\t04\t-\t-\tfixed=3,fixed-only\tslots\tslots\tslots\t-\n"
	"BR_INST_RETIRED.ALL_BRANCHES\tC4\t00\t-\t0-7\tprecise\tbranches,branch-instructions\tuop(BRANCH)\tbranches\t-\n"
	"BR_MISP_RETIRED.ALL_BRANCHES\tC5\t00\t-\t0-7\tprecise\tbranch-misses\tuop(BRANCH&MISPREDICTED)\tmispredicted\t-\n"
	"MEM_INST_RETIRED.ALL_LOADS\tD0\t81\t-\t0-3\tprecise\tL1-dcache-loads\tuop(LOAD)\tloads\t-\n"
	"MEM_LOAD_RETIRED.L1_MISS\tD1\t08\t-\t0-3\tprecise\tL1-dcache-load-misses\tuop(LOAD&L1D_MISS)\tmisses\t-\n"
	"MEM_LOAD_RETIRED.L2_MISS\tD1\t10\t-\t0-3\tprecise\t-\tuop(LOAD&L2_MISS)\tmisses\t-\n"
	"UOPS_ISSUED.ANY\t0E\t01\t-\t0-7\tspec\t-\tuop(SLOT)@alloc\tuops\t-\n"
	"UOPS_ISSUED.STALL_CYCLES\t0E\t01\tc=1,i\t0-7\tspec\t-\tuop(SLOT)@alloc\tstalls\t-\n"
	"ONE.COUNTER\t20\t01\t-\t3\t-\t-\tuop(STORE_ADDR)\tcounter 3 only\t-\n"
	"ASSISTS.ANY\tC1\t07\t-\t0-7\t-\t-\t-\tassists\tno assist is ever taken in this model\n";

static inline struct spmu_model *fixture_model(void)
{
	char path[] = "/tmp/softpmu-test-XXXXXX", text[256] = "";
	struct spmu_model *m = NULL;
	int fd = mkstemp(path);
	assert_true(fd >= 0);
	assert_int_equal(write(fd, fixture_table, sizeof fixture_table - 1), sizeof fixture_table - 1);
	close(fd);
	int rc = spmu_model_load(&m, path, text, sizeof text);
	unlink(path);
	if (rc)
		print_error("%s\n", text);
	assert_int_equal(rc, 0);
	return m;
}

/* 1 GHz: a cycle is a nanosecond. */
static inline struct core_config fixture_core(void)
{
	struct core_config c;
	memset(&c, 0, sizeof c);
	strcpy(c.name, "test-core");
	strcpy(c.libpfm, "skl");
	c.frequency_ghz = 1.0;
	return c;
}

/* The group's table and machine: cmocka_run_group_tests(tests, fixture_setup, fixture_teardown). */
static struct spmu_model *model;
static struct core_config core;

static inline int fixture_setup(void **state)
{
	(void)state;
	model = fixture_model();
	core = fixture_core();
	return 0;
}

static inline int fixture_teardown(void **state)
{
	(void)state;
	spmu_model_free(model);
	return 0;
}

struct fixture_batch {
	struct spmu_batch b;
	struct spmu_record r[SPMU_BATCH_MAX];
};

static inline void fixture_begin(struct fixture_batch *f, uint64_t base)
{
	memset(f, 0, sizeof *f);
	f->b.base_cycle = f->b.watermark = base;
	f->b.records = f->r;
}

static inline struct spmu_record *fixture_uop(struct fixture_batch *f, uint64_t ip, uint64_t is, uint64_t did, uint64_t addr, uint32_t cycle)
{
	struct spmu_record *r = f->r + f->b.count++;
	*r = (struct spmu_record){ .kind = SPMU_REC_UOP, .cpl = 3, .port = 0, .ip = ip, .is = is | SPMU_IS(SLOT), .did = did | SPMU_DID(RETIRED),
		.addr = addr, .fetch = cycle, .alloc = cycle, .ready = cycle, .dispatch = cycle, .complete = cycle, .retire = cycle };
	f->b.instructions += (r->is & SPMU_IS(INST_END)) != 0;
	return r;
}

/* A whole instruction of one uop. */
static inline void fixture_insn(struct fixture_batch *f, uint64_t ip, uint64_t is, uint64_t did, uint64_t addr, uint32_t cycle)
{
	fixture_uop(f, ip, is | SPMU_IS(INST_BEGIN) | SPMU_IS(INST_END), did, addr, cycle);
}

/* CYCLES from `from` to `to`, and the batch is complete. */
static inline void fixture_end(struct fixture_batch *f, uint32_t from, uint32_t to, bool last)
{
	f->r[f->b.count++] = (struct spmu_record){ .kind = SPMU_REC_SIGNAL, .cpl = 3, .port = 255, .signal = SPMU_SIG_CYCLES, .did = 1,
		.begin = from, .end = to };
	f->b.watermark = f->b.base_cycle + to;
	f->b.is_last = last;
}

/* `n` instructions at ip, ip+1.., one a cycle from cycle `at` on, as batches of at most 500; returns the cycle behind. */
static inline uint64_t fixture_run(struct session *s, struct run_thread *t, uint64_t ip, uint64_t at, uint64_t n, bool last)
{
	static struct fixture_batch f;
	while (n) {
		uint32_t k = n < 500 ? (uint32_t)n : 500;
		fixture_begin(&f, at);
		for (uint32_t i = 0; i < k; i++)
			fixture_insn(&f, ip++, 0, 0, 0, i);
		fixture_end(&f, 0, k, last && n == k);
		session_batch(s, t, &f.b);
		at += k;
		n -= k;
	}
	return at;
}
#endif
