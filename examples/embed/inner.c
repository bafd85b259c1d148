/* SPDX-License-Identifier: BSD-2-Clause
 * Two things that PEBS does from Ice Lake on, each with a PMU of its own on one stream of instructions:
 *
 *   1. An inner machine (a guest of a guest) takes PEBS records although nobody can write reset values into its DS
 *      area: counters are reloaded from MSR_RELOAD_x (spmu_host.pebs_reload_msrs).
 *   2. PEBS on a fixed counter and on an event that is not precise (cycles), and how far its records are from the
 *      overflow, beside precise PEBS and the interrupt.
 *
 *   cc inner.c $(pkg-config --cflags --libs softpmu) -o inner
 *   ./inner $(pkg-config --variable=eventsdir softpmu)/golden-cove.tsv
 */
#include "softpmu/pmu.h"
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* ---- the machine: straight code, an instruction a cycle, but the 16th of each 64 takes 20 ----------------------- */

enum { CODE = 0x400000, INSN_BYTES = 4, INSNS = 4000, PERIOD = 1000 };
static uint64_t retired_at(unsigned insn) { return insn + 1 + (uint64_t)((insn + 48) / 64) * 19; }

static void execute(struct spmu *pmu)
{
	static struct spmu_record record[SPMU_BATCH_MAX];
	const uint64_t cpl_bits = SPMU_IS(INST_BEGIN) | SPMU_IS(INST_END) | SPMU_IS(SLOT) | SPMU_IS(EXEC);
	uint64_t base = 0;
	for (unsigned insn = 0; insn < INSNS;) {
		uint32_t n = 0;
		unsigned first = insn;
		for (; n < SPMU_BATCH_MAX - 1 && insn < INSNS; insn++, n++) {
			struct spmu_record *r = &record[n];
			*r = (struct spmu_record){ 0 };
			r->kind = SPMU_REC_UOP;
			r->cpl = 3;
			r->ip = CODE + INSN_BYTES * insn;
			r->is = cpl_bits;
			r->did = SPMU_DID(RETIRED);
			r->retire = r->complete = (uint32_t)(retired_at(insn) - base);
			r->fetch = r->alloc = r->ready = r->dispatch = insn == first ? 0 : record[n - 1].retire;
		}
		struct spmu_record *r = &record[n++];	/* the core ran all the time */
		*r = (struct spmu_record){ 0 };
		r->kind = SPMU_REC_SIGNAL;
		r->cpl = 3;
		r->port = 255;
		r->signal = SPMU_SIG_CYCLES;
		r->did = 1;
		r->end = (uint32_t)(retired_at(insn - 1) - base);
		struct spmu_batch b = { 0 };
		b.base_cycle = base;
		b.watermark = retired_at(insn - 1);
		b.count = n;
		b.instructions = insn - first;
		b.is_last = insn == INSNS;
		b.user_only = 1;
		b.records = record;
		spmu_consume(pmu, &b);
		base = b.watermark;
	}
}

/* ---- its memory: the DS area and its PEBS buffer ---------------------------------------------------------------- */

enum { AREA = 0x10000, BUFFER = 0x11000, BASIC = 32, MEMORY = 0x4000 };
static unsigned char memory[MEMORY];

static int get(void *context, uint64_t address, void *to, size_t bytes)
{
	(void)context;
	if (address < AREA || address - AREA > MEMORY - bytes)
		return -1;
	memcpy(to, memory + (address - AREA), bytes);
	return 0;
}

static int put(void *context, uint64_t address, const void *from, size_t bytes)
{
	(void)context;
	if (address < AREA || address - AREA > MEMORY - bytes)
		return -1;
	memcpy(memory + (address - AREA), from, bytes);
	return 0;
}

static uint64_t word(uint64_t address)
{
	uint64_t v = 0;
	get(NULL, address, &v, sizeof v);
	return v;
}

/* Base, index, end and threshold of an empty PEBS buffer.  All reset values, from 40H on, are 0. */
static void make_area(void)
{
	const uint64_t field[4] = { BUFFER, BUFFER, BUFFER + 64 * BASIC, BUFFER + 64 * BASIC };
	memset(memory, 0, sizeof memory);
	put(NULL, AREA + 0x20, field, sizeof field);
}

static uint64_t records(void) { return (word(AREA + 0x28) - BUFFER) / BASIC; }
static unsigned insn_of(uint64_t ip) { return (unsigned)((ip - CODE) / INSN_BYTES); }

/* ---- the guest -------------------------------------------------------------------------------------------------- */

static uint64_t interrupted;		/* address of the first interrupt; 0: none */

static void on_pmi(void *context, struct spmu *pmu, const struct spmu_pmi *pmi, const struct spmu_batch *batch)
{
	(void)context, (void)pmu, (void)batch;
	if (!interrupted)
		interrupted = pmi->ip;
}

static int must(int status, const char *what)
{
	if (status)
		fprintf(stderr, "inner: %s: status %d\n", what, status);
	return status;
}

/* Counts with fixed counter `fixed` from -period on, by PEBS or with an interrupt.  reload: 0, or the value for
 * MSR_RELOAD_FIXED_CTRx of an inner machine. */
static int sample(const struct spmu_model *model, unsigned fixed, uint64_t period, int pebs, uint64_t reload)
{
	const uint64_t mask = (UINT64_C(1) << 48) - 1;
	struct spmu_host host = { 0 };
	struct spmu *p = NULL;
	host.pmi = on_pmi;
	host.pmi_latency = 60;
	host.read_memory = get;
	host.write_memory = put;
	host.pebs_reload_msrs = reload != 0;
	host.mode64 = true;
	interrupted = 0;
	make_area();
	if (must(spmu_create(&p, model, &host), "create"))
		return -1;
	int bad = must(spmu_apic_write(p, SPMU_APIC_LVT_PC, 0xf0), "LVT") ||
		must(spmu_wrmsr(p, MSR_IA32_PERF_GLOBAL_CTRL, 0), "GLOBAL_CTRL") ||
		must(spmu_wrmsr(p, MSR_IA32_DS_AREA, AREA), "DS_AREA") ||
		must(spmu_wrmsr(p, MSR_IA32_FIXED_CTR_CTRL, UINT64_C(0x2) << 4 * fixed | (pebs ? 0 : UINT64_C(0x8)
			<< 4 * fixed)), "FIXED_CTR_CTRL") ||
		must(spmu_wrmsr(p, MSR_IA32_FIXED_CTR0 + fixed, -period & mask), "FIXED_CTR") ||
		(pebs && must(spmu_wrmsr(p, MSR_IA32_PEBS_ENABLE, UINT64_C(1) << (32 + fixed)), "PEBS_ENABLE")) ||
		(reload && must(spmu_wrmsr(p, MSR_RELOAD_FIXED_CTR0 + fixed, reload & mask), "RELOAD_FIXED_CTR")) ||
		must(spmu_wrmsr(p, MSR_IA32_PERF_GLOBAL_CTRL, UINT64_C(1) << (32 + fixed)), "GLOBAL_CTRL");
	if (!bad)
		execute(p);
	spmu_destroy(p);
	return bad ? -1 : 0;
}

/* Where the first sample lies, in instructions behind the one with which the counter overflowed: for cycles, the one
 * for which retirement then waited. */
static int skid(const struct spmu_model *model, const char *way, unsigned fixed, int pebs)
{
	int least = INSNS, most = -INSNS;
	for (uint64_t period = PERIOD; period < PERIOD + 640; period++) {
		unsigned from = fixed ? 0 : (unsigned)period - 1;
		while (fixed && retired_at(from) < period)
			from++;
		if (sample(model, fixed, period, pebs, 0))
			return -1;
		int behind = (int)insn_of(pebs ? word(BUFFER + 8) : interrupted) - (int)from;
		least = behind < least ? behind : least;
		most = behind > most ? behind : most;
	}
	printf("  %-52s %3d to %d\n", way, least, most);
	return 0;
}

int main(int argc, char **argv)
{
	struct spmu_model *model = NULL;
	char text[256];
	if (argc < 2) {
		fprintf(stderr, "usage: inner EVENT_TABLE\n");
		return 2;
	}
	if (spmu_model_load(&model, argv[1], text, sizeof text)) {
		fprintf(stderr, "inner: %s\n", text);
		return 1;
	}
	printf("PEBS records of %d instructions, one every 100:\n", INSNS);
	int bad = sample(model, 0, 100, 1, 0);
	if (!bad)
		printf("  %2" PRIu64 "  the DS area's reset values are 0, no MSR_RELOAD_x\n", records());
	bad = bad || sample(model, 0, 100, 1, (uint64_t)-100);
	if (!bad)
		printf("  %2" PRIu64 "  the DS area's reset values are 0, MSR_RELOAD_FIXED_CTR0 is -100\n"
			"Samples lie so many instructions behind the overflow:\n", records());
	bad = bad || skid(model, "instructions, fixed counter 0, PEBS (precise)", 0, 1) ||
		skid(model, "cycles, fixed counter 1, PEBS (not precise)", 1, 1) ||
		skid(model, "instructions, fixed counter 0, interrupt", 0, 0) ||
		skid(model, "cycles, fixed counter 1, interrupt", 1, 0);
	spmu_model_free(model);
	return bad ? 1 : 0;
}
