/* SPDX-License-Identifier: GPL-2.0-or-later
 * Host time per call of the memory system and the branch predictor, by kind of access.
 *   build/bench/bench_mem [data directory] [core]
 * Strength: each line isolates one path.  Weakness: the host's caches are warm; in a whole run the core evicts them. */
#include "core/predict/bpred.h"
#include "core/memory/memsys.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static double now(void)
{
	struct timespec t;
	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static struct spmu_record *drop(void *context, const struct spmu_batch *batch)
{
	*(uint64_t *)context += batch->count;
	return NULL;
}

static uint64_t random_state = 88172645463325252ull;
static uint64_t random_next(void)
{
	random_state ^= random_state << 13;
	random_state ^= random_state >> 7;
	return random_state ^= random_state << 17;
}

static void report(const char *what, double seconds, double calls)
{
	printf("%-58s %7.2f ns\n", what, seconds / calls * 1e9);
}

enum { ADDRESSES = 1 << 16, CALLS = 20 * 1000 * 1000 };

static void loads(struct memsys *m, const char *what, const uint64_t *address, unsigned calls, int how)
{
	struct mem_result r = { 0, 0 };
	for (int round = 0; round < 2; round++) {	/* the first round warms up */
		double start = now();
		uint64_t cycle = 1000000ull * (unsigned)(how + 1) * 1000;
		for (unsigned i = 0; i < calls; i++) {
			uint64_t a = address[i % ADDRESSES];
			if (how == 0)
				memsys_load(m, 0x400000 + (a & 0xff0), a, 8, cycle + i / 2, false, &r);
			else if (how == 1)
				memsys_warm_data(m, 0x400000 + (a & 0xff0), a, 8, i & 1);
			else if (how == 2)
				memsys_store_commit(m, 0x400000, a, 8, cycle + i, false, &r);
			else if (how == 3)
				memsys_fetch(m, a, cycle + i, &r);
			else
				memsys_store_translate(m, a, 8, cycle + i, &r);
		}
		if (round)
			report(what, now() - start, calls);
	}
}

int main(int argc, char **argv)
{
	static struct core_config config;
	static struct emitter emitter;
	struct err err = { 0 };
	struct memsys_shared *shared;
	struct memsys *m;
	struct bpred *p;
	uint64_t records = 0;
	if (core_config_load(&config, argc > 1 ? argv[1] : "data", argc > 2 ? argv[2] : "skylake", &err) ||
	    memsys_shared_create(&shared, &config, &err) || memsys_create(&m, shared, &config, &emitter, &err) ||
	    bpred_create(&p, &config, &err)) {
		fprintf(stderr, "bench_mem: %s\n", err.text);
		return 1;
	}
	static struct spmu_record record[SPMU_BATCH_MAX];
	emitter.record = record;
	emitter.emit = drop;
	emitter.context = &records;
	emitter.wanted[0] = emitter.wanted[1] = ~0ull;

	uint64_t chain = records + 3;
	double start = now();
	for (unsigned i = 0; i < CALLS; i++)
		__asm__ volatile("imul %0, %0" : "+r"(chain));
	report("(this machine: a dependent multiply, 3 of its cycles)", now() - start, CALLS);

	uint64_t *address = malloc(ADDRESSES * sizeof(*address));
	if (!address)
		return 1;
	for (unsigned i = 0; i < ADDRESSES; i++)
		address[i] = 0x7fff0000 + i * 8 % 8192;
	loads(m, "load, L1D hit, two pages in turn", address, CALLS, 0);
	loads(m, "load, warm only", address, CALLS, 1);
	loads(m, "store commit, L1D hit", address, CALLS, 2);
	loads(m, "store translate", address, CALLS, 4);
	for (unsigned i = 0; i < ADDRESSES; i++)
		address[i] = 0x600000 + random_next() % 16384 / 8 * 8;
	loads(m, "load, L1D hit, random in 16 KB", address, CALLS, 0);
	loads(m, "load, warm only, random in 16 KB", address, CALLS, 1);
	loads(m, "fetch, L1I hit, random in 16 KB", address, CALLS, 3);
	for (unsigned i = 0; i < ADDRESSES; i++)
		address[i] = 0x10000000 + random_next() % (192 << 10) / 8 * 8;
	loads(m, "load, random in 192 KB (L2)", address, CALLS / 4, 0);
	for (unsigned i = 0; i < ADDRESSES; i++)
		address[i] = 0x20000000 + random_next() % (64 << 20) / 8 * 8;
	loads(m, "load, random in 64 MB (memory, page walks)", address, CALLS / 20, 0);
	for (unsigned i = 0; i < ADDRESSES; i++)
		address[i] = 0x30000000 + i * 64ull;
	loads(m, "load, a line each, 4 MB in order", address, CALLS / 20, 0);
	free(address);

	struct bpred_outcome out;
	unsigned wrong = 0;
	start = now();
	for (unsigned i = 0; i < CALLS / 2; i++) { /* 64 branches, each taken 3 of 4 times in a pattern of its own */
		uint64_t ip = 0x401000 + i % 64 * 12;
		bpred_branch(p, ip, INSN_BRANCH | INSN_COND, ip + 2, (i / 64 + i % 64) % 4 != 0, ip + 64, &out);
		wrong += out.mispredicted;
	}
	report("conditional branch, patterns", now() - start, CALLS / 2);
	start = now();
	for (unsigned i = 0; i < CALLS / 4; i++) {
		uint64_t ip = 0x401000 + random_next() % 512 * 12;
		bpred_branch(p, ip, INSN_BRANCH | INSN_COND, ip + 2, random_next() >> 40 & 1, ip + 64, &out);
		wrong += out.mispredicted;
	}
	report("conditional branch, random outcome (all allocate)", now() - start, CALLS / 4);
	start = now();
	for (unsigned i = 0; i < CALLS / 2; i++) {
		uint64_t ip = 0x402000 + i % 64 * 12;
		bpred_branch(p, ip, INSN_BRANCH, ip + 2, true, ip + 64, &out);
	}
	report("direct jump", now() - start, CALLS / 2);
	start = now();
	for (unsigned i = 0; i < CALLS / 4; i++) {
		uint64_t ip = 0x402000 + i % 8 * 12;
		bpred_branch(p, ip, INSN_BRANCH | INSN_INDIRECT, ip + 2, true, 0x500000 + i % 16 * 256, &out);
		wrong += out.mispredicted;
	}
	report("indirect jump", now() - start, CALLS / 4);
	printf("(%llu records, %u mispredicted)\n", (unsigned long long)records, wrong);
	bpred_destroy(p);
	memsys_destroy(m);
	memsys_shared_destroy(shared);
	return 0;
}
