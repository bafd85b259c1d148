/* SPDX-License-Identifier: GPL-2.0-or-later
 * libFuzzer harness: the PMU against a second, naive model of it (naive_pmu.h), operation by operation: WRMSR, RDMSR, RDPMC, CR4.PCE, the local
 * APIC's entry, save and restore.
 *
 *   make fuzz; TOP=. build/fuzz/fuzz_pmu_model -max_total_time=600 /tmp/new tests/fuzz/corpus/fuzz_pmu_model
 *
 * Checked: the same outcome of every operation, and the same value of every register and counter after it.  FUZZ_TRACE in the environment tells
 * each operation.
 */
#include "naive_pmu.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

struct input { const uint8_t *at, *end; };

struct pair {
	struct input in;
	const struct spmu_model *m;
	struct spmu *p;
	struct naive n, saved_n;
	uint8_t *saved;
	bool has_saved;
};

static bool tracing;
#define TRACE(...) do { if (tracing) fprintf(stderr, __VA_ARGS__); } while (0)

static void differ(const struct pair *q, const char *what, uint64_t where, uint64_t pmu, uint64_t naive)
{
	fprintf(stderr, "DIFFERENCE (%s) in %s %llX: PMU %llX, naive model %llX\n", spmu_model_core(q->m), what, (unsigned long long)where,
		(unsigned long long)pmu, (unsigned long long)naive);
	abort();
}

static uint64_t take(struct input *in, unsigned bytes)
{
	uint64_t v = 0;
	for (unsigned i = 0; i < bytes && in->at < in->end; i++)
		v |= (uint64_t)*in->at++ << 8 * i;
	return v;
}

static void compare_msr(struct pair *q, uint32_t msr)
{
	uint64_t a = 0, b = 0;
	int x = spmu_rdmsr(q->p, msr, &a), y = naive_rdmsr(&q->n, msr, &b);
	if (y == NAIVE_ANY)
		return;
	if (x != y)
		differ(q, "outcome of RDMSR", msr, (uint64_t)(int64_t)x, (uint64_t)(int64_t)y);
	if (x == SPMU_OK && a != b)
		differ(q, "RDMSR", msr, a, b);
}

static void compare_all(struct pair *q)
{
	for (unsigned i = 0; i < q->n.msrs; i++)
		compare_msr(q, q->n.msr[i].address);
	uint32_t a = 0, b = 0;
	int x = spmu_apic_read(q->p, SPMU_APIC_LVT_PC, &a), y = naive_apic_read(&q->n, SPMU_APIC_LVT_PC, &b);
	if (x != y || a != b)
		differ(q, "LVT", SPMU_APIC_LVT_PC, a, b);
}

static int both_wrmsr(struct pair *q, uint32_t msr, uint64_t value)
{
	int x = spmu_wrmsr(q->p, msr, value), y = naive_wrmsr(&q->n, msr, value);
	TRACE("wrmsr %X <- %llX: %d, %d\n", msr, (unsigned long long)value, x, y);
	if (y != NAIVE_ANY && x != y)
		differ(q, "outcome of WRMSR", msr, (uint64_t)(int64_t)x, (uint64_t)(int64_t)y);
	if (y == NAIVE_ANY && x == SPMU_OK) {
		uint64_t v = 0;
		const struct naive_msr *r = naive_find(&q->n, msr);
		uint32_t from = r && (r->kind == NAIVE_CLEAR || r->kind == NAIVE_SET) ? 0x38e : msr;
		if (spmu_rdmsr(q->p, from, &v) == SPMU_OK)
			naive_adopt(&q->n, from, v);
	}
	return x;
}

/* Mostly a register that exists, seldom a neighbour, or any address. */
static uint32_t some_msr(struct pair *q)
{
	unsigned which = (unsigned)take(&q->in, 1);
	if (which >= 250)
		return (uint32_t)take(&q->in, 2);
	if (which >= 235)
		return q->n.msr[take(&q->in, 1) % q->n.msrs].address + 1;
	return q->n.msr[which % q->n.msrs].address;
}

/* A value likely to be accepted, and how much of it is not. */
static uint64_t some_value(struct pair *q, uint32_t msr)
{
	unsigned how = (unsigned)take(&q->in, 1);
	const struct naive_msr *r = naive_find(&q->n, msr);
	uint64_t valid = r ? r->valid : ~UINT64_C(0), any = r ? r->valid | r->loose : ~UINT64_C(0);
	if (how < 160)
		return take(&q->in, 8) & valid;
	if (how < 200)
		return (UINT64_C(0) - 1 - (how & 7)) & valid;	/* a counter about to overflow; or all bits but some */
	if (how < 230)
		return UINT64_C(1) << (take(&q->in, 1) & 63);
	return how & 1 ? take(&q->in, 8) & any : take(&q->in, 8);
}

static void rdpmc(struct pair *q)
{
	static const uint32_t high[8] = { 0, 0, 0x40000000, 0x80000000, 0x20000000, 0xc0000000, 0x10000000, 0x40000000 };
	unsigned which = (unsigned)take(&q->in, 1), cpl = which >> 3 & 3;
	uint32_t index = high[which & 7] | (uint32_t)(take(&q->in, 1) & 31);
	uint64_t a = 0, b = 0;
	int x = spmu_rdpmc(q->p, index, cpl, &a), y = naive_rdpmc(&q->n, index, cpl, &b);
	TRACE("rdpmc %X cpl %u: %d, %d\n", index, cpl, x, y);
	if (y == NAIVE_ANY)
		return;
	if (x != y)
		differ(q, "outcome of RDPMC", index, (uint64_t)(int64_t)x, (uint64_t)(int64_t)y);
	if (x == SPMU_OK && a != b)
		differ(q, "RDPMC", index, a, b);
}

static void lvt(struct pair *q)
{
	unsigned how = (unsigned)take(&q->in, 1);
	uint32_t offset = how & 0x80 && how & 0x40 ? (uint32_t)take(&q->in, 2) : SPMU_APIC_LVT_PC;
	uint32_t value = how & 1 ? (uint32_t)take(&q->in, 4) : how & 2 ? 0x10400 : 0x400, a = 0, b = 0;
	TRACE("apic %X <- %X\n", offset, value);
	int x = spmu_apic_write(q->p, offset, value), y = naive_apic_write(&q->n, offset, value);
	if (x != y)
		differ(q, "outcome of APIC write", offset, (uint64_t)(int64_t)x, (uint64_t)(int64_t)y);
	x = spmu_apic_read(q->p, offset, &a);
	y = naive_apic_read(&q->n, offset, &b);
	if (x != y || a != b)
		differ(q, "APIC read", offset, a, b);
}

static void save_restore(struct pair *q)
{
	unsigned how = (unsigned)take(&q->in, 1);
	TRACE("save or restore %u\n", how & 3);
	if (how & 1 || !q->has_saved) {
		spmu_save(q->p, q->saved);
		q->saved_n = q->n;
		q->has_saved = true;
	}
	if (how & 2) {
		int x = spmu_restore(q->p, q->saved);
		if (x != SPMU_OK)
			differ(q, "outcome of restoring", 0, (uint64_t)(int64_t)x, 0);
		q->n = q->saved_n;
	}
}

static void run(const struct spmu_model *m, const uint8_t *data, size_t size)
{
	struct pair *q = calloc(1, sizeof *q);
	if (!q)
		abort();
	q->in = (struct input){ data, data + size };
	q->m = m;
	unsigned shape = (unsigned)take(&q->in, 1);
	struct spmu_host host = { .context = q, .hw_thread = shape & 1, .siblings = shape & 6 ? 1 : 2 };
	if (spmu_create(&q->p, m, &host))
		abort();
	q->saved = malloc(spmu_state_bytes(q->p));
	naive_init(&q->n, m, &host);
	compare_all(q);
	while (q->in.at < q->in.end) {
		unsigned op = (unsigned)take(&q->in, 1) % 16;
		if (op < 9) {
			uint32_t msr = some_msr(q);
			both_wrmsr(q, msr, some_value(q, msr));
			compare_msr(q, msr);
		} else if (op < 10) {
			compare_msr(q, (uint32_t)take(&q->in, 2));
		} else if (op < 12) {
			rdpmc(q);
		} else if (op < 13) {
			q->n.pce = take(&q->in, 1) & 1;
			spmu_set_cr4_pce(q->p, q->n.pce);
		} else if (op < 14) {
			lvt(q);
		} else {
			save_restore(q);
		}
		compare_all(q);
	}
	spmu_destroy(q->p);
	free(q->saved);
	free(q);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const char *const names[] = { "p5", "p6", "netburst", "netburst-prescott", "yonah", "core2", "nehalem", "haswell", "skylake", "ice-lake",
		"golden-cove" };
	enum { MODELS = sizeof names / sizeof *names };
	static struct spmu_model *model[MODELS];
	for (unsigned i = 0; i < MODELS; i++)
		if (!model[i]) {
			char path[512], text[300];
			snprintf(path, sizeof path, "%s/data/events/%s.tsv", getenv("TOP") ? getenv("TOP") : ".", names[i]);
			if (spmu_model_load(&model[i], path, text, sizeof text)) {
				fprintf(stderr, "%s\n", text);
				exit(1);
			}
			tracing = getenv("FUZZ_TRACE") != NULL;
		}
	if (size < 3)
		return 0;
	TRACE("model %s\n", names[data[0] % MODELS]);
	run(model[data[0] % MODELS], data + 1, size - 1);
	return 0;
}
