/* SPDX-License-Identifier: GPL-2.0-or-later
 * libFuzzer harness: the DS area, PEBS, BTS and LBR of every family, with hostile pointers, in any order of
 * register writes, guest writes and batches.
 *
 *   make build/fuzz/fuzz_pmu_ds && TOP=. build/fuzz/fuzz_pmu_ds -max_total_time=600
 *
 * Checked: guest memory is written only inside the buffers that the management area names and in its index
 * fields; a record's length is its format's; a fault leaves a register as it was and a write that took reads
 * back; LBR and PEBS registers stay within their bits; a PMI names a record of its batch; the same input gives
 * the same memory and registers; state saved and restored is the same.
 */
#include "pmu/pmu_internal.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "fuzz_models.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define MUST(x) do { if (!(x)) abort(); } while (0)

enum { MEMORY = 0x4000, AREA = 0x100 };

struct input { const uint8_t *at, *end; };

struct guest {
	struct input in;
	uint8_t memory[MEMORY];
	uint64_t hole;			/* addresses that fault: [hole, hole + 64) */
	const struct spmu *pmu;		/* NULL: writes are not checked */
	bool spoiled;			/* a record overwrote the management area: no checks until the next batch */
	uint64_t traced;
	unsigned pmis;
};

static uint64_t take(struct input *in, unsigned bytes)
{
	uint64_t v = 0;
	for (unsigned i = 0; i < bytes && in->at < in->end; i++)
		v |= (uint64_t)*in->at++ << 8 * i;
	return v;
}

static bool has(const struct guest *g, uint64_t address, size_t n)
{
	return address < MEMORY && n <= MEMORY - address && (address + n <= g->hole || address >= g->hole + 64);
}

static int read_memory(void *context, uint64_t address, void *to, size_t n)
{
	const struct guest *g = context;
	if (!has(g, address, n))
		return 1;
	memcpy(to, g->memory + address, n);
	return 0;
}

static uint64_t field(const struct guest *g, uint64_t address, unsigned n)
{
	uint64_t v = 0;
	if (address < MEMORY && n <= MEMORY - address)
		memcpy(&v, g->memory + address, n);
	return v;
}

static int write_memory(void *context, uint64_t address, const void *from, size_t n)
{
	struct guest *g = context;
	const struct spmu *p = g->pmu;
	if (!has(g, address, n))
		return 1;
	if (p) {
		unsigned w = pmu_ds_wide(p) ? 8 : 4;
		uint64_t area = w == 8 ? p->ds.area : (uint32_t)p->ds.area;
		bool inside = n == w && (address == area + w || address == area + 5 * w);	/* an index field */
		inside |= n == 8 && address == p->ds.rip_at;
		for (unsigned which = 0; which < 2; which++) {
			uint64_t base = field(g, area + 4 * w * which, w), maximum = field(g,
				area + (4 * which + 2) * w, w);
			inside |= address >= base && address + n <= maximum;
		}
		MUST(inside || g->spoiled);
		g->spoiled |= n != w && address < area + 16 * w && address + n > area;
	}
	memcpy(g->memory + address, from, n);
	return 0;
}

static int registers(void *context, const struct spmu_batch *b, uint32_t record, bool before,
	struct spmu_registers *out)
{
	(void)context;
	MUST(record < b->count && b->records[record].kind == SPMU_REC_UOP);
	memset(out, before ? 0x11 : 0x22, sizeof *out);
	return b->records[record].ip & 1;
}

static void output(void *context, const void *record, size_t bytes)
{
	struct guest *g = context;
	uint64_t format;
	memcpy(&format, record, 8);
	MUST(bytes >= 32 && bytes <= PEBS_RECORD_MAX && format >> 48 == bytes);
	g->traced += bytes;
}

static uint32_t some_msr(struct input *in)
{
	static const uint32_t msrs[] = { MSR_IA32_DS_AREA, MSR_IA32_PEBS_ENABLE, MSR_IA32_PEBS_ENABLE,
		MSR_PEBS_DATA_CFG, MSR_PEBS_LD_LAT_THRESHOLD,
		MSR_PEBS_FRONTEND, MSR_IA32_DEBUGCTL, MSR_IA32_DEBUGCTL, MSR_IA32_MISC_ENABLE, MSR_RELOAD_PMC0,
		MSR_RELOAD_FIXED_CTR0, MSR_LBR_SELECT,
		MSR_LASTBRANCH_TOS, MSR_LBR_NHM_FROM, MSR_LBR_NHM_TO, MSR_LBR_INFO_0, MSR_LBR_CORE_FROM,
		MSR_LBR_CORE_TO, MSR_LER_FROM_LIP, MSR_LER_TO_LIP,
		MSR_IA32_LBR_CTL, MSR_IA32_LBR_DEPTH, MSR_IA32_LBR_0_INFO, MSR_IA32_LBR_0_FROM_IP, MSR_IA32_LBR_0_TO_IP,
		MSR_P4_LER_FROM_LIP,
		MSR_P4_LASTBRANCH_TOS, MSR_P4_LASTBRANCH_0, MSR_IA32_PERF_GLOBAL_CTRL,
		MSR_IA32_PERF_GLOBAL_STATUS_RESET, MSR_IA32_FIXED_CTR_CTRL,
		MSR_IA32_PMC0, MSR_IA32_PERFEVTSEL0, MSR_IA32_FIXED_CTR0, 0x300, 0x360, 0x3a0, 0x3cc };
	unsigned k = (unsigned)take(in, 1), step = (unsigned)take(in, 1);
	uint32_t msr = msrs[k % (sizeof msrs / sizeof *msrs)];
	return msr + (msr < 0x390 || msr >= 0x680 || msr == MSR_LBR_CORE_FROM || msr == 0x3a0 ? step & 31 : step & 1);
}

static void write_register(struct spmu *p, struct input *in)
{
	uint32_t msr = some_msr(in);
	uint64_t before = 0, after = 0, value = take(in, 1 + (take(in, 1) & 7));
	int readable = spmu_rdmsr(p, msr, &before), outcome = spmu_wrmsr(p, msr, value), again = spmu_rdmsr(p, msr,
		&after);
	MUST(again == readable);
	if (outcome != SPMU_OK)
		MUST(before == after);
	else if (msr == MSR_IA32_DS_AREA || msr == MSR_PEBS_DATA_CFG || msr == MSR_IA32_LBR_CTL ||
		msr - MSR_LBR_NHM_FROM < 32)
		MUST(after == value);
}

static void pmi(void *context, struct spmu *p, const struct spmu_pmi *pmi, const struct spmu_batch *b)
{
	struct guest *g = context;
	MUST(pmi->record <= b->count);
	g->pmis++;
	spmu_apic_write(p, SPMU_APIC_LVT_PC, 0x400);
	unsigned op = (unsigned)take(&g->in, 1);
	if (op & 1)
		spmu_wrmsr(p, MSR_IA32_PERF_GLOBAL_STATUS_RESET, pmi->status);
	for (unsigned which = 0; which < 2; which++)	/* empty the buffer */
		if (op >> which & 2) {
			unsigned w = pmu_ds_wide(p) ? 8 : 4;
			memcpy(g->memory + AREA + (4 * which + 1) * w, g->memory + AREA + 4 * which * w, w);
		}
	if (op & 8)
		write_register(p, &g->in);
}

/* Sets up a valid area; the input may overwrite parts of it later. */
static void set_up(struct spmu *p, struct guest *g)
{
	unsigned w = pmu_ds_wide(p) ? 8 : 4, op = (unsigned)take(&g->in, 1);
	for (unsigned which = 0; which < 2; which++) {
		uint64_t base = 0x800 + 0x1800 * which, f[4] = { base, base, base + 0x40 * (1 + (op & 63)),
			base + 0x20 * (op & 15) };
		for (unsigned k = 0; k < 4; k++)
			memcpy(g->memory + AREA + (4 * which + k) * w, &f[k], w);
	}
	for (unsigned k = 0; k < 48; k++) {
		uint64_t reset = ~UINT64_C(0) - (op & 7);
		if (p->model->family == &pmu_arch)
			reset &= (UINT64_C(1) << (p->model->cpuid[0] >> 16 & 0xff)) - 1;
		memcpy(g->memory + AREA + 8 * w + 8 * k, &reset, 8);
	}
	MUST(p->model->family == &pmu_p5 || p->model->family == &pmu_p6 || spmu_wrmsr(p, MSR_IA32_DS_AREA,
		AREA) == SPMU_OK);
}

static void program(struct spmu *p, const struct spmu_model *m, struct input *in)
{
	const struct spmu_event *e = spmu_model_event(m, take(in, 2) % spmu_model_events(m));
	unsigned more = (unsigned)take(in, 1), pmc = more & 7;
	if (m->family != &pmu_arch)
		return;
	spmu_wrmsr(p, MSR_IA32_PERFEVTSEL0 + pmc, (uint64_t)(e->event | e->umask << 8) | SPMU_EVTSEL_CMASK(e->cmask) |
		(e->inv ? SPMU_EVTSEL_INV : 0) | SPMU_EVTSEL_USR | SPMU_EVTSEL_OS | SPMU_EVTSEL_EN | (more & 8
			? SPMU_EVTSEL_INT : 0) |
		(m->capabilities >> 14 & 1 && more & 16 ? UINT64_C(1) << 34 : 0));
	spmu_wrmsr(p, MSR_IA32_PMC0 + pmc, (uint32_t)(-1 - (int)(more >> 5)));
	spmu_wrmsr(p, MSR_IA32_PEBS_ENABLE, p->ds.enable | UINT64_C(1) << pmc);
}

static void batch(struct spmu *p, struct input *in)
{
	static struct spmu_record r[40];
	struct spmu_batch b = { .records = r };
	unsigned flags = (unsigned)take(in, 1), n = flags >> 2;
	n = n > 40 ? 40 : n;
	b.base_cycle = p->floor;
	uint32_t now = 8;
	for (b.count = 0; b.count < n && in->at < in->end; b.count++) {
		struct spmu_record *x = &r[b.count];
		uint8_t kind = (uint8_t)take(in, 1);
		*x = (struct spmu_record){ .kind = (kind & 7) == 7, .cpl = kind & 64 ? 0 : 3, .hw_thread = kind >= 0xfe,
			.ip = 0x1000 + 3 * b.count };
		now += kind >> 3 & 3;
		if (x->kind) {
			x->signal = kind & 8 ? SPMU_SIG_CYCLES : kind & 16 ? SPMU_SIG_IDQ_BUBBLE
				: SPMU_SIG_STORE_L1D_MISS;
			x->begin = now;
			x->end = now + (uint32_t)take(in, 1);
			x->did = 1 + (kind >> 6);
			continue;
		}
		x->is = SPMU_IS(INST_BEGIN) | SPMU_IS(INST_END) | (kind & 1 ? SPMU_IS(BRANCH) : SPMU_IS(LOAD)) |
			(kind & 2 ? take(in, 5) : 0);
		x->did = SPMU_DID(RETIRED) | (kind & 1 ? SPMU_DID(TAKEN) : SPMU_DID(L1D_HIT)) | (kind & 4 ? take(in, 5)
			: 0);
		x->addr = 0x2000 + b.count;
		x->fetch = now - 8;
		x->alloc = now - 6;
		x->ready = x->dispatch = now - 5;
		x->complete = kind & 32 ? now : now - 1;
		x->retire = now;
	}
	b.watermark = b.base_cycle + now;
	b.is_last = flags & 1;
	for (uint32_t i = 0; i < b.count; i++)
		b.hw_threads |= r[i].kind ? 0 : UINT64_C(1) << r[i].hw_thread;
	spmu_consume(p, &b);
}

static void check(const struct spmu *p)
{
	const struct pmu_lbr_state *l = &p->ds.lbr;
	MUST(l->depth <= PMU_LBR_MAX && (!l->depth || l->tos < l->depth));
	MUST(!(p->ds.enable & ~pmu_pebs_enable_bits(p)));
	for (unsigned i = 0; i < p->model->counters; i++)
		MUST(!p->counter[i].mask || !(p->counter[i].value & ~p->counter[i].mask));
}

static void save_and_restore(struct spmu *p)
{
	size_t n = spmu_state_bytes(p);
	uint8_t *a = malloc(n), *b = malloc(n);
	MUST(a && b);
	spmu_save(p, a);
	MUST(spmu_restore(p, a) == SPMU_OK);	/* an unfinished RIP is forgotten */
	spmu_save(p, a);
	MUST(spmu_restore(p, a) == SPMU_OK);
	spmu_save(p, b);
	MUST(!memcmp(a, b, n));
	free(a);
	free(b);
}

static uint64_t run(const struct spmu_model *m, const uint8_t *data, size_t size)
{
	static struct guest g;
	uint64_t sum = 0, v;
	memset(&g, 0, sizeof g);
	g.in = (struct input){ data, data + size };
	unsigned options = (unsigned)take(&g.in, 1);
	struct spmu_host host = { .context = &g, .pmi = options & 1 ? pmi : NULL, .read_memory = read_memory,
		.write_memory = write_memory,
		.registers = options & 2 ? registers : NULL, .pebs_output = options & 4 ? output : NULL,
		.pebs_reload_msrs = options & 8,
		.mode64 = options & 16, .pebs_arming = options >> 5 & 3, .pmi_latency = options >> 7 ? 5 : 0 };
	struct spmu *p;
	if (spmu_create(&p, m, &host))
		return 0;
	g.hole = MEMORY;
	spmu_apic_write(p, SPMU_APIC_LVT_PC, 0x400);
	set_up(p, &g);
	while (g.in.at < g.in.end) {
		switch (take(&g.in, 1) & 7) {
		case 0:
		case 1: write_register(p, &g.in); break;
		case 2: program(p, m, &g.in); break;
		case 3: {	/* the guest writes into its area */
			uint64_t at = AREA + (take(&g.in, 1) & 127), value = take(&g.in, 1 + (take(&g.in, 1) & 7));
			memcpy(g.memory + at, &value, 8);
			break;
		}
		case 4: g.hole = take(&g.in, 2); break;
		case 5: set_up(p, &g); break;
		case 6: save_and_restore(p); break;
		default:
			g.pmu = p;
			g.spoiled = false;
			batch(p, &g.in);
			g.pmu = NULL;
		}
		check(p);
	}
	for (unsigned i = 0; i < MEMORY; i += 8) {
		memcpy(&v, g.memory + i, 8);
		sum = sum * 31 + v;
	}
	static const struct { uint32_t first, last; } ranges[] = { { 0x40, 0x67 }, { 0xc1, 0xc8 }, { 0x1c8, 0x1de },
		{ 0x300, 0x311 }, { 0x38d, 0x390 },
		{ 0x3f1, 0x3f7 }, { 0x680, 0x6df }, { 0xdc0, 0xddf }, { 0x1200, 0x121f }, { 0x1500, 0x151f },
			{ 0x1600, 0x161f } };
	for (unsigned k = 0; k < sizeof ranges / sizeof *ranges; k++)
		for (uint32_t msr = ranges[k].first; msr <= ranges[k].last; msr++)
			if (!spmu_rdmsr(p, msr, &v))
				sum = sum * 31 + v;
	sum = sum * 31 + g.traced + g.pmis;
	spmu_destroy(p);
	return sum;
}

static const struct { const char *name; uint64_t capabilities; } shapes[] = { { "skylake", 0x23c5 },
	{ "golden-cove", 0x1e5ff }, { "golden-cove", 0xe5ff }, { "golden-cove", 0xe4c5 }, { "skylake", 0x22c4 },
	{ "sandy-bridge", 0x21c3 }, { "nehalem", 0x1c3 }, { "core2", 0xc2 }, { "core2", 0x82 }, { "bonnell", 0xc1 },
	{ "yonah", 0 }, { "netburst", 0 }, { "netburst-prescott", 0 }, { "p6", 0 }, { "p5", 0 } };
enum { SHAPES = sizeof shapes / sizeof *shapes };
static struct spmu_model *model[SHAPES];

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
	(void)argc, (void)argv;
	for (unsigned i = 0; i < SHAPES; i++) {
		model[i] = load_model(shapes[i].name);
		model[i]->capabilities = shapes[i].capabilities;
	}
	return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	if (size < 4)
		return 0;
	const struct spmu_model *m = model[(data[0] & 0x7f) % SHAPES];
	uint64_t sum = run(m, data + 1, size - 1);
	if (data[0] >> 7)
		MUST(sum == run(m, data + 1, size - 1));
	return 0;
}
