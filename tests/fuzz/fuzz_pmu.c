/* SPDX-License-Identifier: GPL-2.0-or-later
 * libFuzzer harness: register writes, reads and batches in any order; the event table parser for inputs that
 * begin with '@'.
 *
 *   clang -g -O1 -fsanitize=fuzzer,address,undefined -D_GNU_SOURCE -Iinclude -Isrc tests/fuzz/fuzz_pmu.c
 *     src/pmu/pmu_*.c -o fuzz_pmu
 *   ./fuzz_pmu -max_total_time=120		(in the source tree, or with TOP set to it)
 *
 * Checked: no counter leaves its 48 bits, a read gives back what a write left, a fault leaves the register as it was,
 * a PMI names a record of its batch, and the same operations give the same registers.
 */
#include "softpmu/pmu.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "fuzz_models.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

struct input { const uint8_t *at, *end; };

static uint64_t take(struct input *in, unsigned bytes)
{
	uint64_t v = 0;
	for (unsigned i = 0; i < bytes && in->at < in->end; i++)
		v |= (uint64_t)*in->at++ << 8 * i;
	return v;
}

#define MUST(x) do { if (!(x)) abort(); } while (0)

static void pmi(void *context, struct spmu *p, const struct spmu_pmi *pmi, const struct spmu_batch *b)
{
	struct input *in = context;
	MUST(pmi->record <= b->count);
	MUST(pmi->cycle >= pmi->overflow_cycle);
	unsigned op = (unsigned)take(in, 1);
	spmu_apic_write(p, SPMU_APIC_LVT_PC, op & 32 ? 0x10400 : 0x400);
	if (op & 1)
		spmu_wrmsr(p, MSR_IA32_PERF_GLOBAL_STATUS_RESET, pmi->status & ~(UINT64_C(3) << 60));
	if (op & 2)
		spmu_wrmsr(p, MSR_IA32_PMC0 + (op >> 5), UINT64_C(0) - 1 - take(in, 1));
	if (op & 4)
		spmu_wrmsr(p, MSR_IA32_PERFEVTSEL0 + (op >> 5), take(in, 4));
	if (op & 8)
		spmu_wrmsr(p, MSR_IA32_PERF_GLOBAL_CTRL, take(in, 1));
	if (op & 16)
		spmu_consume(p, b);	/* not allowed in a handler: must do nothing */
}

static const uint32_t msrs[] = { MSR_IA32_PMC0, MSR_IA32_PERFEVTSEL0, MSR_IA32_A_PMC0, MSR_IA32_FIXED_CTR0,
	MSR_IA32_FIXED_CTR_CTRL,
	MSR_IA32_PERF_GLOBAL_STATUS, MSR_IA32_PERF_GLOBAL_CTRL, MSR_IA32_PERF_GLOBAL_STATUS_RESET,
	MSR_IA32_PERF_GLOBAL_STATUS_SET,
	MSR_IA32_PERF_GLOBAL_INUSE, MSR_IA32_DEBUGCTL, MSR_IA32_PERF_CAPABILITIES, MSR_PERF_METRICS };

static void write_register(struct spmu *p, struct input *in)
{
	uint32_t msr = msrs[take(in, 1) % (sizeof msrs / sizeof *msrs)] + (uint32_t)(take(in, 1) & 7);
	uint64_t before = 0, after = 0, value = take(in, 8);
	int readable = spmu_rdmsr(p, msr, &before), outcome = spmu_wrmsr(p, msr, value);
	MUST(spmu_rdmsr(p, msr, &after) == readable);
	if (outcome != SPMU_OK)
		MUST(before == after);
	else if (msr - MSR_IA32_PERFEVTSEL0 < 8 || msr - MSR_IA32_A_PMC0 < 8)
		MUST(after == value);
}

/* Programs a known event with its own modifiers, so that the fuzzer need not guess codes. */
static void program(struct spmu *p, const struct spmu_model *m, struct input *in)
{
	const struct spmu_event *e = spmu_model_event(m, take(in, 2) % spmu_model_events(m));
	uint64_t more = take(in, 1);
	spmu_wrmsr(p, MSR_IA32_PERFEVTSEL0 + (uint32_t)(more & 7), (uint64_t)(e->event | e->umask << 8) |
		SPMU_EVTSEL_CMASK(e->cmask) |
		(e->inv ? SPMU_EVTSEL_INV : 0) | (e->edge ? SPMU_EVTSEL_EDGE : 0) | SPMU_EVTSEL_USR | SPMU_EVTSEL_EN |
		(more & 8 ? SPMU_EVTSEL_INT : 0) | (more & 16 ? SPMU_EVTSEL_OS : 0));
	if (more & 32)
		spmu_wrmsr(p, MSR_IA32_PMC0 + (uint32_t)(more & 7), UINT64_C(0) - 1 - take(in, 1));
}

static void batch(struct spmu *p, struct input *in)
{
	static struct spmu_record r[64];
	struct spmu_batch b = { .records = r };
	unsigned flags = (unsigned)take(in, 1), n = (unsigned)take(in, 1) & 63;
	bool wild = (flags & 12) == 12;		/* wild: any cycles; otherwise small steps from the base */
	b.base_cycle = wild ? take(in, 8) : take(in, 3);
	b.watermark = wild ? take(in, 8) : b.base_cycle + take(in, 1);
	b.is_last = flags & 1;
	uint32_t now = 0;
	for (b.count = 0; b.count < n && in->at < in->end; b.count++) {
		struct spmu_record *x = &r[b.count];
		uint8_t kind = (uint8_t)take(in, 1);
		*x = (struct spmu_record){ .kind = kind & 1, .cpl = kind & 2 ? 0 : 3, .port = (uint8_t)(kind >> 3),
			.ip = b.count };
		x->did = take(in, kind & 1 ? 1 : 5);
		if (kind & 1) {
			x->signal = kind & 4 ? SPMU_SIG_CYCLES : (uint32_t)take(in, 1);
			x->begin = wild ? (uint32_t)take(in, 4) : now + (uint32_t)take(in, 1);
			x->end = wild ? (uint32_t)take(in, 4) : x->begin + (uint32_t)take(in, 1);
			continue;
		}
		x->is = take(in, 5) | (kind & 4 ? SPMU_IS(INST_BEGIN) | SPMU_IS(INST_END) : 0);
		x->did |= kind & 4 ? SPMU_DID(RETIRED) : 0;
		uint32_t *at[6] = { &x->fetch, &x->alloc, &x->ready, &x->dispatch, &x->complete, &x->retire };
		for (unsigned k = 0; k < 6; k++)
			*at[k] = wild ? (uint32_t)take(in, 4) : now + k + (uint32_t)(take(in, 1) & 15);
		now = wild ? 0 : x->fetch;
	}
	spmu_consume(p, &b);
	MUST(spmu_pmi_distance(p));	/* 0: nobody would get any further */
}

static uint64_t run(const struct spmu_model *m, const uint8_t *data, size_t size)
{
	struct input in = { data, data + size };
	struct spmu_host host = { .context = &in, .pmi = pmi, .pmi_latency = (uint32_t)(take(&in, 1) & 63) };
	struct spmu *p;
	uint64_t sum = 0, v;
	if (spmu_create(&p, m, &host))
		return 0;
	spmu_apic_write(p, SPMU_APIC_LVT_PC, 0x400);
	while (in.at < in.end)
		switch (take(&in, 1) & 3) {
		case 0: write_register(p, &in); break;
		case 1: program(p, m, &in); break;
		case 2: sum += !spmu_rdpmc(p, (uint32_t)take(&in, 4), (unsigned)take(&in, 1) & 3, &v); break;
		default: batch(p, &in); break;
		}
	for (uint32_t i = 0; i < 8; i++) {
		MUST(!spmu_rdmsr(p, MSR_IA32_PMC0 + i, &v) && v >> 48 == 0);
		sum = sum * 31 + v;
	}
	MUST(!spmu_rdmsr(p, MSR_IA32_PERF_GLOBAL_STATUS, &v));
	sum = sum * 31 + v;
	spmu_destroy(p);
	return sum;
}

static void parse(const uint8_t *data, size_t size)
{
	char path[] = "/dev/shm/fuzz-pmu-XXXXXX", text[64];
	struct spmu_model *m = NULL;
	int fd = mkstemp(path);
	if (fd < 0)
		return;
	if (write(fd, data, size) == (ssize_t)size && !spmu_model_load(&m, path, text, sizeof text)) {
		for (size_t i = 0; i < spmu_model_events(m); i++)
			MUST(spmu_model_find(m, spmu_model_event(m, i)->name) == spmu_model_event(m, i));
		spmu_model_free(m);
	}
	close(fd);
	unlink(path);
}

static struct spmu_model *model[2];

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
	(void)argc, (void)argv;
	for (unsigned i = 0; i < 2; i++)
		model[i] = load_model(i ? "golden-cove" : "skylake");
	return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	if (size && data[0] == '@') {
		parse(data, size);
		return 0;
	}
	if (size < 2)
		return 0;
	const struct spmu_model *m = model[data[0] & 1];
	MUST(run(m, data + 1, size - 1) == run(m, data + 1, size - 1));
	return 0;
}
