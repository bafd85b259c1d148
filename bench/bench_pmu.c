/* SPDX-License-Identifier: GPL-2.0-or-later
 * Cost of the PMU: nanoseconds per record for 1, 4 and 8 counters.
 *
 * Batches of 1024 records as a core makes them (nine uops in ten records, one in a thousand squashed, signals
 * for the rest), consumed repeatedly by one PMU. Best of five. Strengths: the PMU alone, in cache, each path by
 * itself. Weaknesses: the bits are random, not a program's; the records are always in the host's cache, as they are
 * when the core runs on the same host core.
 *
 *   gcc -std=gnu17 -O2 -D_GNU_SOURCE -Iinclude -Isrc bench/bench_pmu.c src/pmu/pmu_*.c -o bench_pmu && ./bench_pmu
 */
#include "softpmu/pmu.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { BATCHES = 16, ROUNDS = 200 };

static struct spmu_record records[BATCHES][SPMU_BATCH_MAX];
static struct spmu_batch batches[BATCHES];
static uint64_t span;

static uint64_t rng(uint64_t *s)
{
	*s ^= *s << 13;
	*s ^= *s >> 7;
	return *s ^= *s << 17;
}

static void build(void)
{
	uint64_t seed = 12345, now = 0, retire = 40, from = 0;
	for (unsigned k = 0; k < BATCHES; k++) {
		uint64_t base = now;
		for (unsigned i = 0; i < SPMU_BATCH_MAX; i++) {
			struct spmu_record *r = &records[k][i];
			uint64_t draw = rng(&seed);
			memset(r, 0, sizeof *r);
			r->cpl = 3;
			if (i == SPMU_BATCH_MAX - 1 || draw % 10 == 0) {
				bool cycles = i == SPMU_BATCH_MAX - 1;
				r->kind = SPMU_REC_SIGNAL;
				r->signal = cycles ? SPMU_SIG_CYCLES : draw >> 8 & 1 ? SPMU_SIG_L1D_PENDING
					: SPMU_SIG_L2_DEMAND_RD_HIT;
				r->did = 1;
				r->begin = (uint32_t)((cycles ? from : now) - base);
				r->end = (uint32_t)((cycles ? retire : now + (draw >> 16) % 40) - base);
				if (cycles)
					from = retire;
				continue;
			}
			now += draw >> 10 & 1 ? (draw >> 12 & 1) : 0;
			retire = now + 40 > retire ? now + 40 : retire;
			r->ip = 0x400000 + 4 * i;
			r->port = draw >> 20 & 7;
			r->is = SPMU_IS(INST_BEGIN) | SPMU_IS(INST_END) | SPMU_IS(SLOT) | SPMU_IS(EXEC);
			r->is |= draw >> 24 & 3 ? 0 : SPMU_IS(LOAD);
			r->is |= draw >> 26 & 7 ? 0 : SPMU_IS(BRANCH) | SPMU_IS(COND);
			r->did = draw >> 30 & 1023 ? SPMU_DID(RETIRED) : 0;
			r->did |= draw >> 40 & 15 ? SPMU_DID(L1D_HIT) : SPMU_DID(L1D_MISS) | SPMU_DID(L2_HIT);
			r->fetch = (uint32_t)(now - base);
			r->alloc = r->fetch + 6;
			r->ready = r->alloc + 1;
			r->dispatch = r->ready + 1 + (draw >> 45 & 7);
			r->complete = r->dispatch + 4;
			r->retire = (uint32_t)(retire - base);
		}
		batches[k] = (struct spmu_batch){ .base_cycle = base, .watermark = now, .count = SPMU_BATCH_MAX,
			.records = records[k] };
	}
	span = now;
}

static void handler(void *context, struct spmu *p, const struct spmu_pmi *pmi, const struct spmu_batch *b)
{
	(void)b;
	spmu_wrmsr(p, MSR_IA32_PERF_GLOBAL_STATUS_RESET, pmi->status);
	spmu_wrmsr(p, MSR_IA32_PMC0, 0 - *(uint64_t *)context);
}

static double measure(const struct spmu_model *m, const char *const *names, unsigned n, uint64_t period)
{
	double best = 1e9;
	for (unsigned round = 0; round < 5; round++) {
		struct spmu_host host = { .context = &period, .pmi = handler, .pmi_latency = 30 };
		struct spmu *p;
		if (spmu_create(&p, m, &host))
			exit(1);
		for (unsigned i = 0; i < n; i++) {
			const struct spmu_event *e = spmu_model_find(m, names[i]);
			if (!e || spmu_wrmsr(p, MSR_IA32_PERFEVTSEL0 + i, (uint64_t)(e->event | e->umask << 8) |
				SPMU_EVTSEL_CMASK(e->cmask) |
			    (e->inv ? SPMU_EVTSEL_INV : 0) | (e->edge ? SPMU_EVTSEL_EDGE : 0) | SPMU_EVTSEL_USR |
			    	SPMU_EVTSEL_EN |
			    (period && !i ? SPMU_EVTSEL_INT : 0))) {
				fprintf(stderr, "%s\n", names[i]);
				exit(1);
			}
		}
		if (period)
			spmu_wrmsr(p, MSR_IA32_PMC0, 0 - period);
		struct timespec a, b;
		clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &a);
		for (unsigned r = 0; r < ROUNDS; r++)
			for (unsigned k = 0; k < BATCHES; k++) {
				struct spmu_batch x = batches[k];
				x.base_cycle += r * span;
				x.watermark += r * span;
				spmu_consume(p, &x);
			}
		clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &b);
		double ns = ((double)(b.tv_sec - a.tv_sec) * 1e9 +
			(double)(b.tv_nsec - a.tv_nsec)) / ((double)ROUNDS * BATCHES * SPMU_BATCH_MAX);
		best = ns < best ? ns : best;
		spmu_destroy(p);
	}
	return best;
}

int main(int argc, char **argv)
{
	static const char *const plain[] = { "INST_RETIRED.ANY_P", "BR_INST_RETIRED.ALL_BRANCHES",
		"BR_MISP_RETIRED.ALL_BRANCHES",
		"CPU_CLK_UNHALTED.THREAD_P", "BR_INST_RETIRED.CONDITIONAL", "L2_RQSTS.ALL_DEMAND_DATA_RD",
		"UOPS_RETIRED.RETIRE_SLOTS",
		"LONGEST_LAT_CACHE.MISS" };
	static const char *const mixed[] = { "MEM_LOAD_RETIRED.L1_MISS", "MEM_INST_RETIRED.ALL_LOADS",
		"UOPS_ISSUED.ANY",
		"UOPS_EXECUTED.THREAD", "UOPS_DISPATCHED_PORT.PORT_0",
		"IDQ.DSB_UOPS",
		"L1D_PEND_MISS.PENDING", "RESOURCE_STALLS.SB" };
	static const char *const ring[] = { "UOPS_EXECUTED.THREAD_CYCLES_GE_1", "UOPS_ISSUED.STALL_CYCLES",
		"CYCLE_ACTIVITY.STALLS_L1D_MISS",
		"CYCLE_ACTIVITY.STALLS_TOTAL", "RS_EVENTS.EMPTY_CYCLES", "UOPS_EXECUTED.THREAD_CYCLES_GE_2",
		"L1D_PEND_MISS.PENDING_CYCLES",
		"EXE_ACTIVITY.1_PORTS_UTIL" };
	struct spmu_model *m;
	char text[300];
	if (spmu_model_load(&m, argc > 1 ? argv[1] : "data/events/skylake.tsv", text, sizeof text)) {
		fprintf(stderr, "%s\n", text);
		return 1;
	}
	build();
	printf("ns a record          1 counter  4 counters  8 counters\n");
	printf("at retirement        %9.2f %11.2f %11.2f\n", measure(m, plain, 1, 0), measure(m, plain, 4, 0),
		measure(m, plain, 8, 0));
	printf("any stage            %9.2f %11.2f %11.2f\n", measure(m, mixed, 1, 0), measure(m, mixed, 4, 0),
		measure(m, mixed, 8, 0));
	printf("cycle by cycle       %9.2f %11.2f %11.2f\n", measure(m, ring, 1, 0), measure(m, ring, 4, 0),
		measure(m, ring, 8, 0));
	printf("sampling, 1 in 100 k %9.2f %11.2f %11.2f\n", measure(m, plain, 1, 100000), measure(m, plain, 4, 100000),
		measure(m, plain, 8, 100000));
	spmu_model_free(m);
	return 0;
}
