/* SPDX-License-Identifier: GPL-2.0-or-later
 * The guest's PMU (machine.h): its registers, its interrupt, its records in guest memory.
 *
 * The PMU must be up to date when the guest looks at it: every read and write of its registers first completes all
 * that the guest has executed, as a serialising instruction.  In between, the core's records come in batches; how long
 * a batch may wait follows from the PMU itself (spmu_pmi_distances).
 */
#include "machine/guest_internal.h"
#include <stdlib.h>
#include <string.h>

static bool reads(const struct guest *g, uint32_t msr, uint64_t *value)
{
	return spmu_rdmsr(g->pmu, msr, value) == SPMU_OK;
}

/* Is anything of the PMU switched on that records could change? */
static bool counting(const struct guest *g)
{
	uint64_t v = 0, global = ~UINT64_C(0), debug = 0;
	if (reads(g, MSR_IA32_DEBUGCTL, &debug) && debug & 0xc1)	/* LBR, TR, BTS */
		return true;
	if (reads(g, MSR_IA32_LBR_CTL, &v) && v & 1)
		return true;
	switch (spmu_model_family(g->model)) {
	case SPMU_FAMILY_P5:
		return reads(g, MSR_P5_CESR, &v) && v & 0x01c001c0;
	case SPMU_FAMILY_P6:
		return reads(g, MSR_P6_PERFEVTSEL0, &v) && v & SPMU_EVTSEL_EN;
	case SPMU_FAMILY_NETBURST:
		for (uint32_t n = 0; n < 18; n++)
			if (reads(g, MSR_BPU_CCCR0 + n, &v) && v & SPMU_CCCR_ENABLE)
				return true;
		return false;
	default:
		break;
	}
	if (reads(g, MSR_IA32_PERF_GLOBAL_CTRL, &v))
		global = v;
	for (uint32_t n = 0; n < spmu_model_gp_counters(g->model); n++)
		if (reads(g, MSR_IA32_PERFEVTSEL0 + n, &v) && v & SPMU_EVTSEL_EN && global >> n & 1)
			return true;
	if (!reads(g, MSR_IA32_FIXED_CTR_CTRL, &v))
		v = 0;
	for (unsigned n = 0; n < spmu_model_fixed_counters(g->model); n++)
		if (v >> 4 * n & 3 && global >> (32 + n) & 1)
			return true;
	return false;
}

static uint64_t add(uint64_t a, uint64_t b)
{
	return b > UINT64_MAX - a ? UINT64_MAX : a + b;
}

/* How far the next overflow is, from what the PMU has seen. */
static void measure(struct guest *g)
{
	uint64_t instructions, cycles;
	spmu_pmi_distances(g->pmu, &instructions, &cycles);
	g->horizon = add(g->consumed, instructions);
	g->horizon_cycle = add(g->watermark, cycles);
}

/* What the core hands over: all of it close to an overflow, else what the registers count. */
static void want(struct guest *g)
{
	struct spmu_wants w;
	memset(&w, 0, sizeof w);	/* padding, too: it is compared */
	spmu_wanted(g->pmu, !g->near && !g->keeps, &w);
	const struct core_wanted wanted = { .signal = { w.signal[0], w.signal[1] }, .is = w.is, .did = w.did,
		.outcomes = w.outcomes };
	if (!memcmp(&w, &g->wants, sizeof w))
		return;
	g->wants = w;
	core_want(g->core, &wanted);
}

void guest_approach(struct guest *g)
{
	core_flush(g->core, false);
	g->near = guest_closeness(g) != GUEST_FAR;
	want(g);
}

void guest_renew(struct guest *g)
{
	const bool watched = g->watches, timed = g->times;
	const uint64_t bts = spmu_model_family(g->model) == SPMU_FAMILY_NETBURST ? 0x0c : 0xc0;	/* TR, BTS */
	uint64_t pebs = 0, debug = 0;
	measure(g);
	g->near = guest_closeness(g) != GUEST_FAR;
	g->keeps = reads(g, MSR_IA32_PEBS_ENABLE, &pebs) && pebs;
	g->stores = reads(g, MSR_IA32_DEBUGCTL, &debug) && debug & bts;
	g->mode = 0;
	switch (g->timing) {
	case GUEST_ALWAYS:
		g->times = true;
		break;
	case GUEST_MARKED:
		g->times = g->marked;
		break;
	default:
		g->times = counting(g);
	}
	g->times &= !g->failed;
	g->watches = g->times || (g->warms && !g->failed);
	if (g->times)
		want(g);
	if (g->watches && !watched)
		guest_pages_resume(g);
	if (g->times == timed)
		return;
	/* The instruction that switches it on did not begin under the model's eyes, that which switches it off will not
	 * end so. */
	g->begun = false;
	g->path.insns = g->path.slots = g->path.open = 0;
	g->clock = core_now(g->core);
	g->passed_untimed = g->report.untimed;
}

/* Before the registers are read or written. */
void guest_settle(struct guest *g, uint64_t next_ip)
{
	if (!g->watches)
		return;
	guest_run_path(g, next_ip);
	guest_together(g);
	if (g->failed || !g->times)
		return;
	guest_core_serialize(g);
	g->given = g->applied = g->consumed;
}

/* A register that can only be written is there, too: it reads as SPMU_GP. */
static bool has_register(const struct guest *g, uint32_t msr)
{
	uint64_t value;
	return spmu_rdmsr(g->idle_pmu, msr, &value) != SPMU_ENOMSR;
}

enum guest_answer guest_rdmsr(struct guest *g, uint32_t msr, uint64_t *value)
{
	if (!has_register(g, msr))
		return GUEST_NOT_MINE;
	guest_settle(g, g->insn.ip);
	const int rc = spmu_rdmsr(g->pmu, msr, value);
	return rc == SPMU_OK ? GUEST_DONE : GUEST_GP;
}

enum guest_answer guest_wrmsr(struct guest *g, uint32_t msr, uint64_t value)
{
	if (!has_register(g, msr))
		return GUEST_NOT_MINE;
	guest_settle(g, g->insn.ip);
	const int rc = spmu_wrmsr(g->pmu, msr, value);
	guest_renew(g);
	return rc == SPMU_OK ? GUEST_DONE : GUEST_GP;
}

enum guest_answer guest_rdpmc(struct guest *g, uint32_t index, unsigned cpl, uint64_t *value)
{
	guest_settle(g, g->insn.ip);
	return spmu_rdpmc(g->pmu, index, cpl, value) == SPMU_OK ? GUEST_DONE : GUEST_GP;
}

void guest_pce(struct guest *g, bool pce)
{
	guest_together(g);
	spmu_set_cr4_pce(g->pmu, pce);
}

void guest_lvt(struct guest *g, uint32_t value)
{
	guest_settle(g, g->insn.ip);
	(void)spmu_apic_write(g->pmu, SPMU_APIC_LVT_PC, value);	/* bits that it does not have are ignored there, too */
	guest_renew(g);		/* an overflow that was nobody's may interrupt now */
}

/* Deterministic cache parameters: which caches there are says the emulator, their geometry is the core's.  libc takes
 * from them how it copies and clears memory. */
static void cache_leaf(const struct guest *g, uint32_t regs[4])
{
	enum { LINE = 64, INSTRUCTION = 2 };
	const struct core_config *c = &g->config;
	const struct { uint32_t size, ways; } cache[] = { { c->l1d_size, c->l1d_ways }, { c->l2_size, c->l2_ways },
		{ c->l3_size, c->l3_ways }, { c->l1i_size, c->l1i_ways } };
	const uint32_t type = regs[0] & 31, level = regs[0] >> 5 & 7;
	const unsigned i = type == INSTRUCTION ? 3 : level - 1;
	if (!type || i > 3 || !cache[i].size || !cache[i].ways)
		return;
	regs[1] = (cache[i].ways - 1) << 22 | (LINE - 1);
	regs[2] = cache[i].size / cache[i].ways / LINE - 1;
}

/* Time-stamp counter and processor base frequency: the counter and the local APIC's timer count the core's cycles. */
static void clock_leaf(const struct guest *g, uint32_t leaf, uint32_t regs[4])
{
	const double ghz = g->config.frequency_ghz;
	regs[0] = leaf == 0x15 ? 1 : (uint32_t)(ghz * 1e3);
	regs[1] = leaf == 0x15 ? 1 : (uint32_t)(ghz * 1e3);
	regs[2] = leaf == 0x15 ? (uint32_t)(ghz * 1e9) : 100;
	regs[3] = 0;
}

/* CPUID.01H: the signature is the core's; what the PMU has comes from the PMU alone. */
void guest_cpuid(struct guest *g, uint32_t leaf, uint32_t subleaf, uint32_t regs[4])
{
	static const uint32_t pmu_ecx = 1u << 2 | 1u << 4 | 1u << 15, pmu_edx = 1u << 21;
	uint32_t bits[4] = { 0 };
	enum { SKYLAKE = 0x406e3 };	/* signature of the first processor with leaf 15H */
	const uint32_t signature = (uint32_t)strtoul(g->config.cpuid_signature, NULL, 16);
	switch (leaf) {
	case 1:
		spmu_cpuid_bits(g->pmu, leaf, bits);
		regs[0] = signature ? signature : regs[0];
		regs[2] = (regs[2] & ~pmu_ecx) | bits[2];
		regs[3] = (regs[3] & ~pmu_edx) | bits[3];
		break;
	case 4:
		cache_leaf(g, regs);
		break;
	case 7:
		if (subleaf)
			break;
		spmu_cpuid_bits(g->pmu, leaf, bits);
		for (unsigned i = 0; i < 4; i++)
			regs[i] |= bits[i];
		break;
	case 0x0b:
		if (!subleaf)
			regs[0] = 0;		/* a core has one thread: no bit of the APIC's ID tells them apart */
		break;
	case 0x15:
	case 0x16:
		if (signature >= SKYLAKE)	/* earlier processors end with a lower leaf */
			clock_leaf(g, leaf, regs);
		break;
	case 0x0a:
	case 0x1c:
		spmu_cpuid_bits(g->pmu, leaf, regs);
		break;
	default:
		break;
	}
}

/* ---- what the PMU calls ---- */

static void on_pmi(void *context, struct spmu *pmu, const struct spmu_pmi *pmi, const struct spmu_batch *batch)
{
	struct guest *g = context;
	uint32_t now = 0;
	(void)pmi;
	(void)batch;
	if (spmu_apic_read(pmu, SPMU_APIC_LVT_PC, &now) != SPMU_OK)
		return;
	g->report.pmis++;
	if (g->ahead) {		/* this is the core's thread */
		g->deferred++;
		g->deferred_lvt = now;
		return;
	}
	g->emulator.interrupt(g->emulator.context, now & ~0x10000u, now);
}

static int on_read(void *context, uint64_t addr, void *to, size_t bytes)
{
	struct guest *g = context;
	return g->emulator.read(g->emulator.context, addr, to, bytes);
}

static int on_write(void *context, uint64_t addr, const void *from, size_t bytes)
{
	struct guest *g = context;
	return g->emulator.write(g->emulator.context, addr, from, bytes);
}

/* The ordinal of the record's instruction, counted as guest.given counts.  *ends: how many end with this uop. */
static uint64_t ordinal(const struct guest *g, const struct spmu_batch *b, uint32_t record, unsigned *ends)
{
	uint64_t n = g->consumed;
	const uint64_t both = SPMU_IS(INST_END) | SPMU_IS(INST_END2);
	for (uint32_t i = 0; i < record; i++) {
		const struct spmu_record *r = &b->records[i];
		if (r->kind == SPMU_REC_UOP && r->did & SPMU_DID(RETIRED))
			n += (unsigned)__builtin_popcountll(r->is & both);
	}
	*ends = (unsigned)__builtin_popcountll(b->records[record].is & both);
	return n;
}

static int on_registers(void *context, const struct spmu_batch *batch, uint32_t record, bool before,
	struct spmu_registers *out)
{
	struct guest *g = context;
	unsigned ends;
	uint64_t n = ordinal(g, batch, record, &ends);
	n += before ? 0 : ends ? ends : 1;
	if (n >= g->kept_first && n < g->kept_next && g->kept_next - n <= GUEST_KEPT)
		*out = g->kept[n % GUEST_KEPT];
	else if (n == g->kept_next)	/* the instruction that the emulator has just completed */
		g->emulator.registers(g->emulator.context, out);
	else
		return 1;
	return 0;
}

/* Makes the core's records the guest's: takes the tags of address spaces out again, and sets the privilege level.  All
 * records of a batch have the same, because a change of it drains the pipeline and ends the batch. */
static void adapt(struct spmu_record *r, uint32_t count, unsigned cpl)
{
	const uint64_t low = (UINT64_C(1) << 47) - 1;
	for (uint32_t i = 0; i < count; i++) {
		r[i].cpl = (uint8_t)cpl;
		if (!(r[i].ip >> 63))
			r[i].ip &= low;
		if (!(r[i].addr >> 63))
			r[i].addr &= low;
	}
}

struct spmu_record *guest_take_batch(void *context, const struct spmu_batch *b)
{
	struct guest *g = context;
	/* ours from now on; the core gets the spare one */
	struct spmu_record *mine = (struct spmu_record *)b->records;
	struct spmu_record *next = g->spare;
	struct spmu_batch batch = *b;
	batch.user_only = g->core_cpl == 3 ? 1 : 2;
	adapt(mine, b->count, g->core_cpl);
	spmu_consume(g->pmu, &batch);
	g->consumed += b->instructions;
	g->watermark = b->watermark;
	measure(g);
	g->spare = mine;
	return next;
}

int guest_pmu_create(struct guest *g, struct err *err)
{
	const struct spmu_host host = {
		.context = g, .pmi = on_pmi, .pmi_latency = g->config.pmi_latency, .pmi_clock = g->config.pmi_clock,
		.pmi_line = g->config.pmi_line, .read_memory = on_read, .write_memory = on_write,
		.registers = on_registers, .pebs_reload_msrs = g->reload_msrs
	};
	if (spmu_create(&g->pmu, g->model, &host) != SPMU_OK ||
		(g->first == g && spmu_create(&g->idle_pmu, g->model, &host) != SPMU_OK))
		return err_set(err, ERR_NOMEM, "out of memory for a PMU");
	g->idle_pmu = g->first->idle_pmu;
	return 0;
}
