/* SPDX-License-Identifier: GPL-2.0-or-later
 * libFuzzer harness of NetBurst's PMU: register writes, reads, batches of one to eight threads, interrupts and saved
 * states in any order.
 *
 *   make fuzz; build/fuzz/fuzz_pmu_netburst -timeout=1 -max_total_time=120	(in the source tree, or with TOP set
 *       to it)
 *
 * Checked: reserved bits never stay, an accepted write reads back, a fault changes nothing, counters keep to 40
 * bits, a PMI names a record of its batch, and the same operations give the same registers.
 */
#include "pmu/pmu_internal.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "fuzz_models.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define MUST(x) do { if (!(x)) abort(); } while (0)
#define COUNTER_MASK ((UINT64_C(1) << 40) - 1)

/* A batch costs time for each interrupt taken; an operating system that gets too many of them masks the source. */
enum { INTERRUPTS = 500 };
struct input { const uint8_t *at, *end; uint8_t memory[512]; unsigned interrupts, siblings; };

static uint64_t take(struct input *in, unsigned bytes)
{
	uint64_t v = 0;
	for (unsigned i = 0; i < bytes && in->at < in->end; i++)
		v |= (uint64_t)*in->at++ << 8 * i;
	return v;
}

static void write_register(struct spmu *p, uint32_t msr, uint64_t value)
{
	uint64_t before = 0, after = 0;
	int readable = spmu_rdmsr(p, msr, &before), outcome = spmu_wrmsr(p, msr, value);
	MUST(spmu_rdmsr(p, msr, &after) == readable);
	if (outcome != SPMU_OK)
		MUST(before == after || (msr - MSR_BPU_CCCR0 < 18 && (before ^ after) == SPMU_CCCR_OVF));
	else if (msr - MSR_BPU_COUNTER0 < 18)
		MUST(after == (value & COUNTER_MASK));
	else if (msr - MSR_BPU_CCCR0 < 18)
		MUST(after == value && !(value & ~UINT64_C(0xcffff800)));
	else if (msr >= MSR_BSU_ESCR0 && msr <= MSR_CRU_ESCR5)
		MUST(after == value && !(value >> 31));
	else if (msr - MSR_THREADS_0 < 18)
		MUST(after == value && !(value >> 44));
}

/* Registers of a core with more than two threads. */
static void write_threads(struct spmu *p, struct input *in)
{
	unsigned which = (unsigned)take(in, 1);
	write_register(p, which < 18 ? MSR_THREADS_0 + which : MSR_THREADS_CAPABILITIES + (which & 31), take(in, 6));
}

static uint32_t some_msr(struct input *in)
{
	static const uint32_t msrs[] = { MSR_BPU_COUNTER0, MSR_BPU_COUNTER0 + 8, MSR_BPU_CCCR0, MSR_BPU_CCCR0 + 8,
		MSR_BPU_CCCR0 + 12, 0x3a0, 0x3b0, 0x3b8,
		0x3c0, 0x3c8, 0x3e0, MSR_TC_PRECISE_EVENT, MSR_DEBUGCTLA, MSR_IA32_DS_AREA, 0x680, 0x1d7 };
	unsigned which = (unsigned)take(in, 1);
	return msrs[which & 15] + (which >> 4 & 7);
}

static void pmi(void *context, struct spmu *p, const struct spmu_pmi *pmi, const struct spmu_batch *b)
{
	struct input *in = context;
	MUST(pmi->record <= b->count);
	MUST(pmi->cycle >= pmi->overflow_cycle);
	unsigned op = (unsigned)take(in, 1), n = (unsigned)take(in, 1) % 18;
	uint64_t cccr = 0;
	MUST(in->siblings < 2 || pmi->hw_thread < in->siblings);
	spmu_apic_write(p, SPMU_APIC_LVT_PC, op & 32 || ++in->interrupts > INTERRUPTS ? 0x10400 : 0x400);
	spmu_rdmsr(p, MSR_BPU_CCCR0 + n, &cccr);
	if (op & 1)
		write_register(p, MSR_BPU_CCCR0 + n, cccr & ~(uint64_t)SPMU_CCCR_OVF);
	if (op & 2)
		write_register(p, MSR_BPU_COUNTER0 + n, UINT64_C(0) - take(in, 1));
	if (op & 4)
		write_register(p, MSR_BPU_CCCR0 + n, cccr ^ SPMU_CCCR_ENABLE);
	if (op & 8)
		write_register(p, some_msr(in), take(in, 4));
	if (op & 64 && in->siblings > 2)
		write_threads(p, in);
	if (op & 16)
		spmu_consume(p, b);	/* not allowed in a handler: must do nothing */
}

static int read_memory(void *context, uint64_t address, void *to, size_t bytes)
{
	const struct input *in = context;
	if (address > sizeof in->memory || bytes > sizeof in->memory - address)
		return -1;
	memcpy(to, in->memory + address, bytes);
	return 0;
}

static int write_memory(void *context, uint64_t address, const void *from, size_t bytes)
{
	struct input *in = context;
	if (address > sizeof in->memory || bytes > sizeof in->memory - address)
		return -1;
	memcpy(in->memory + address, from, bytes);
	return 0;
}

/* Programs a known event (the ESCR that the counter sees, and the CCCR), so the fuzzer need not guess codes. */
static void program(struct spmu *p, const struct spmu_model *m, struct input *in)
{
	const struct spmu_event *e = spmu_model_event(m, take(in, 2) % spmu_model_events(m));
	unsigned n = (unsigned)take(in, 1) % 18, bits = (unsigned)take(in, 2);
	while (!(e->pmc_mask >> n & 1))
		n = (n + 1) % 18;
	uint32_t escr = spmu_netburst_escr(m, n, e->escr_select);
	if (escr)
		write_register(p, escr, SPMU_ESCR_EVENT(e->event) | SPMU_ESCR_MASK(e->umask) | (bits & 0x1ff));
	write_register(p, MSR_BPU_CCCR0 + n, SPMU_CCCR_SELECT(e->escr_select) | SPMU_CCCR_ACTIVE(bits & 0x800
		? bits >> 9 : 3) |
		(bits & 0x1000 ? 0 : SPMU_CCCR_ENABLE) | (bits & 0x2000 ? SPMU_CCCR_OVF_PMI_T0 : 0) | (bits & 0x4000
			? SPMU_CCCR_CASCADE : 0) |
		(bits & 0x8000 ? (uint32_t)take(in, 1) << 18 : 0));
	if (bits & 0x100)
		write_register(p, MSR_BPU_COUNTER0 + n, UINT64_C(0) - take(in, 1));
	if (e->replay_enable)
		write_register(p, MSR_PEBS_ENABLE, e->replay_enable | (bits & 0x400 ? SPMU_PEBS_MY_THREAD : 0));
	if (e->replay_enable)
		write_register(p, MSR_PEBS_MATRIX_VERT, e->replay_matrix);
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
	const unsigned threads = in->siblings > 2 && flags & 2 ? in->siblings : 2;
	b.hw_threads = flags & 2 ? (1u << threads) - 1 : 1;
	uint32_t now = 0;
	for (b.count = 0; b.count < n && in->at < in->end; b.count++) {
		struct spmu_record *x = &r[b.count];
		uint8_t kind = (uint8_t)take(in, 1);
		*x = (struct spmu_record){ .kind = kind & 1, .cpl = kind & 2 ? 0 : 3, .port = (uint8_t)(kind >> 3),
			.ip = b.count };
		x->hw_thread = flags & 2 ? kind >> 7 : 0;
		if (threads > 2)
			x->hw_thread = (uint8_t)take(in, 1);	/* every other one is none of the core's */
		if (threads > 2 && !(x->hw_thread & 128))
			x->hw_thread %= threads;
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
	if (flags & 16 && in->siblings > 1)
		spmu_pass(p, wild ? take(in, 8) : b.base_cycle + take(in, 2));
	if (flags & 16 && wild)
		spmu_leave(p, (uint8_t)b.base_cycle);
	spmu_consume(p, &b);
	MUST(spmu_pmi_distance(p));	/* 0: nobody would get any further */
}

static void save_and_restore(struct spmu *p, struct input *in)
{
	size_t bytes = spmu_state_bytes(p);
	uint8_t *block = malloc(bytes);
	if (!block)
		return;
	spmu_save(p, block);
	size_t at = take(in, 2);
	const bool sealed = at & 0x8000;	/* as a forger would: the damage has the right checksum */
	at &= 0x7fff;
	uint8_t change = (uint8_t)take(in, 1);
	if (at < bytes)
		block[at] ^= change;
	bool same = at >= bytes || !change;
	if (sealed)
		pmu_save_seal(p, block);
	int outcome = spmu_restore(p, block);
	MUST(same ? outcome == SPMU_OK : sealed || outcome == SPMU_EINPUT);
	free(block);
}

static uint64_t run(const struct spmu_model *m, const uint8_t *data, size_t size)
{
	static struct input in;
	memset(&in, 0, sizeof in);
	in.at = data;
	in.end = data + size;
	const uint32_t area[12] = { 0, 0, 0, 0, 64, 64, 64 + 40 * 8 + 1, 64 + 40 * 4, 0xfffffff8, 0xff };
	memcpy(in.memory, area, sizeof area);
	struct spmu_host host = { .context = &in, .pmi = pmi, .read_memory = read_memory, .write_memory = write_memory,
		.pmi_latency = (uint32_t)(take(&in, 1) & 63) };
	const unsigned more = (unsigned)take(&in, 1);
	struct spmu *p;
	uint64_t sum = 0, v;
	host.quirks = more & 15;
	host.siblings = (uint8_t)(more >> 4);	/* 0 to 15; spmu_create takes up to 8 */
	if (spmu_create(&p, m, &host))
		return 0;
	MUST(host.siblings <= 8);
	in.siblings = host.siblings;
	for (unsigned thread = host.siblings > 1 ? host.siblings : 1; thread-- > 0;) {
		spmu_execute_on(p, (uint8_t)thread);
		spmu_apic_write(p, SPMU_APIC_LVT_PC, 0x400);
	}
	while (in.at < in.end)
		switch (take(&in, 1) % (in.siblings < 2 ? 6 : in.siblings == 2 ? 7 : 8)) {
		case 0: {
			uint32_t msr = some_msr(&in);
			write_register(p, msr, take(&in, 5));
			break;
		}
		case 1: case 2: program(p, m, &in); break;
		case 3: sum += !spmu_rdpmc(p, (uint32_t)take(&in, 4), (unsigned)take(&in, 1) & 3, &v); break;
		case 4: save_and_restore(p, &in); break;
		case 6: {
			const unsigned thread = (unsigned)take(&in, 1);
			MUST((spmu_execute_on(p, (uint8_t)thread) == SPMU_OK) == (thread < in.siblings));
			break;
		}
		case 7: write_threads(p, &in); break;
		default: batch(p, &in); break;
		}
	for (uint32_t i = 0; i < 18; i++) {
		MUST(!spmu_rdmsr(p, MSR_BPU_COUNTER0 + i, &v) && v >> 40 == 0);
		sum = sum * 31 + v;
		MUST(!spmu_rdmsr(p, MSR_BPU_CCCR0 + i, &v) && !(v & ~UINT64_C(0xcffff800)));
		sum = sum * 31 + v;
	}
	for (unsigned i = 0; i < sizeof in.memory; i++)
		sum = sum * 31 + in.memory[i];
	spmu_destroy(p);
	return sum;
}

static struct spmu_model *model[2];

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
	(void)argc, (void)argv;
	for (unsigned i = 0; i < 2; i++)
		model[i] = load_model(i ? "netburst-prescott" : "netburst");
	return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	if (size < 3)
		return 0;
	const struct spmu_model *m = model[data[0] & 1];
	MUST(run(m, data + 1, size - 1) == run(m, data + 1, size - 1));
	return 0;
}
