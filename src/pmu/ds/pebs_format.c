/* SPDX-License-Identifier: BSD-2-Clause
 * The bytes of a PEBS record.
 *
 * Source: SDM vol. 3B, "32-bit Branch Trace Record/PEBS Record Format", "IA-32e Mode DS Save Area", chapter
 * "Performance Monitoring": "PEBS Record Format for Intel Core i7 Processor Family", "... for 4th Generation
 * Intel Core Processor Family", "... for 6th Generation", "Adaptive PEBS"; Linux,
 * arch/x86/include/asm/perf_event.h (struct pebs_basic and so on) and arch/x86/events/intel/ds.c (data source).
 *
 *   NetBurst   10 x 4 bytes, or in IA-32e mode format 0     state before the instruction
 *   0          RFLAGS, RIP, RAX, RBX, RCX, RDX, RSI, RDI, RBP, RSP, R8 to R15: 144 bytes
 *   1          and IA32_PERF_GLOBAL_STATUS before the assist, data address, data source, latency: 176
 *   2          and EventingIP, TX abort information: 192
 *   3          with applicable counters in place of the status, and TSC: 200
 *   4, 5       adaptive: Basic, then what MSR_PEBS_DATA_CFG selects of MemInfo, GPRs, XMMs, LBRs (newest
 *              first); Basic alone for a counter without its Adaptive_Record bit
 *
 * RFLAGS to R15 are the state after the instruction where IA32_PERF_CAPABILITIES.PEBS_TRAP is set (from Core
 * on), else before it.  RIP after an instruction is the next one's address.  EventingIP is the instruction's own.
 *
 * Data address, source and latency are those of the uop that triggered the record, if it is a load or a store.
 * Format 1: for load latency and precise store only.  Formats 2 and 3: source and latency for load latency
 * only; of other stores the L1D bit.  Formats 4 and 5: loads and stores.  Stores say with bit 0 whether L1D had
 * the line; those of MEM_TRANS_RETIRED.STORE_SAMPLE (format 5) have the loads' values (Linux, store_latency_data).
 * A store is committed after its record is made.  So the uop's STORE_ bits tell where the line was when it retired;
 * a signal STORE_L1D_MISS for it in the same batch tells of a miss, too.
 *
 * Load data source: 1 L1D, 2 fill buffer, 3 L2, 4 L3 (5 and 7: another core had it clean, modified), local DRAM
 * 0CH (from Skylake on 0AH: 0CH has another meaning there), 0 unknown; bit 4 STLB miss, bit 5 locked (from
 * Sandy Bridge on), bits 6 and 7 blocked on a store's data or address (format 5).
 * GUESS: 7 for a modified line of another core, as Linux reads it; older texts have 6 for that (two threads on
 * a counter settle it).
 * GUESS: loads whose record names no cache level are 1 (L1D) if forwarded, else 0.
 * GUESS: instruction latency (format 5, [15:0]) runs from dispatch to retirement, cache latency ([47:32]) to
 * completion; both saturate.
 */
#include "../pmu_internal.h"
#include <string.h>

#define CAP_PEBS_TRAP (UINT64_C(1) << 6)
#define EVTSEL_ADAPTIVE (UINT64_C(1) << 34)
enum { CFG_MEMINFO = 1, CFG_GPRS = 2, CFG_XMMS = 4, CFG_LBRS = 8 };

struct out { uint8_t *at; };

static void put(struct out *o, uint64_t v, unsigned bytes)
{
	while (bytes--) {
		*o->at++ = (uint8_t)v;
		v >>= 8;
	}
}

struct memory { uint64_t address, source, latency; };

static bool store_hits(const struct spmu_batch *b, const struct spmu_record *r)
{
	if (r->did & SPMU_DID(STORE_L1D_MISS))
		return false;
	for (uint32_t i = 0; i < b->count; i++) {
		const struct spmu_record *s = &b->records[i];
		if (s->kind != SPMU_REC_UOP && s->signal == SPMU_SIG_STORE_L1D_MISS && s->ip == r->ip &&
			s->addr == r->addr)
			return false;
	}
	return true;
}

static uint64_t load_source(const struct spmu *p, const struct spmu_record *r)
{
	int format = pmu_pebs_format(p);
	uint64_t v = 0;
	if (r->did & SPMU_DID(L3_MISS))
		v = format >= 3 ? 0xa : 0xc;
	else if (r->did & SPMU_DID(L3_HIT))
		v = r->did & SPMU_DID(SNOOP_HITM) ? 7 : r->did & SPMU_DID(SNOOP_HIT) ? 5 : 4;
	else if (r->did & SPMU_DID(L2_HIT))
		v = 3;
	else if (r->did & SPMU_DID(LFB_HIT))
		v = 2;
	else if (r->did & (SPMU_DID(L1D_HIT) | SPMU_DID(FORWARDED)))
		v = 1;
	if (format == 1 && !(p->model->capabilities >> 13 & 1))
		return v;	/* Nehalem */
	return v | (r->did & SPMU_DID(STLB_MISS) ? 1 << 4 : 0) | (r->is & SPMU_IS(LOCK) ? 1 << 5 : 0) |
		(format >= 5 && r->did & SPMU_DID(FORWARD_BLOCKED) ? 1 << 6 : 0) |
		(format >= 5 && r->did & SPMU_DID(ALIAS_4K) ? 1 << 7 : 0);
}

/* latency: of an event that samples stores with the loads' values. */
static uint64_t store_source(const struct spmu_batch *b, const struct spmu_record *r, bool latency)
{
	unsigned where = store_hits(b, r);
	if (latency && !where)
		where = r->did & SPMU_DID(STORE_L2_HIT) ? 3
			: r->did & SPMU_DID(STORE_HITM) ? 7
			: r->did & SPMU_DID(STORE_L3_HIT) ? 4 : 0xa;
	return where | (r->did & SPMU_DID(STLB_MISS) ? 1 << 4 : 0) |
		(r->is & SPMU_IS(LOCK) ? 1 << 5 : 0);
}

static uint64_t clip16(uint64_t v)
{
	return v > 0xffff ? 0xffff : v;
}

static uint64_t latency_of(int format, const struct spmu_record *r)
{
	uint64_t cache = r->complete != UINT32_MAX && r->complete >= r->dispatch ? r->complete - r->dispatch : 0;
	uint64_t instruction = r->retire >= r->dispatch ? r->retire - r->dispatch : 0;
	return format < 5 ? cache : clip16(instruction) | clip16(cache) << 32;
}

static struct memory memory_of(const struct spmu *p, unsigned i, const struct spmu_batch *b,
	const struct spmu_record *r)
{
	int format = pmu_pebs_format(p);
	enum pmu_pebs_extra extra = pmu_pebs_extra(p, i);
	bool load = r->is & SPMU_IS(LOAD), store = r->is & SPMU_IS(STORE_ADDR);
	struct memory m = { 0 };
	if ((!load && !store) || (format == 1 && extra != EXTRA_LATENCY && extra != EXTRA_STORE))
		return m;
	m.address = r->addr;
	if (load && (format >= 4 || extra == EXTRA_LATENCY)) {
		m.source = load_source(p, r);
		m.latency = latency_of(format, r);
	} else if (store) {
		m.source = store_source(b, r, format >= 5 && extra == EXTRA_STORE);
		if (format == 2 || format == 3)
			m.source &= 1;
	}
	return m;
}

uint32_t pmu_pebs_next(const struct spmu *p, const struct spmu_batch *b, uint32_t from)
{
	bool any = p->model->family == &pmu_netburst;
	for (uint32_t i = from; i < b->count; i++) {
		const struct spmu_record *r = &b->records[i];
		if (r->kind == SPMU_REC_UOP && r->did & SPMU_DID(RETIRED) && r->is & SPMU_IS(INST_BEGIN) &&
			(any || r->hw_thread == p->host.hw_thread))
			return i;
	}
	return b->count;
}

/* The uop that the PEBS record is of; batch->count: none in this batch. */
static uint32_t subject(const struct spmu *p, const struct pmu_moment *at)
{
	return at->record < at->batch->count ? at->record : pmu_pebs_next(p, at->batch, at->next);
}

/* The address for a record without a uop of this batch: that of the thread's last instruction. */
static uint64_t last_ip(const struct spmu *p, const struct spmu_batch *b)
{
	for (uint32_t i = b->count; i-- > 0;) {
		const struct spmu_record *r = &b->records[i];
		if (r->kind == SPMU_REC_UOP && r->did & SPMU_DID(RETIRED) && r->hw_thread == p->host.hw_thread)
			return r->ip;
	}
	return p->last_ip;
}

/* The guest's registers; *open: RIP is not known yet. */
static struct spmu_registers registers_of(struct spmu *p, const struct spmu_batch *b, uint32_t k, bool before,
	bool *open)
{
	struct spmu_registers g = { 0 };
	*open = false;
	if (k < b->count && p->host.registers && !p->host.registers(p->host.context, b, k, before, &g))
		return g;
	memset(&g, 0, sizeof g);
	if (k >= b->count) {
		g.rip = last_ip(p, b);
	} else if (before) {
		g.rip = b->records[k].ip;
	} else {
		uint32_t next = pmu_pebs_next(p, b, k + 1);
		*open = next == b->count;
		g.rip = b->records[next < b->count ? next : k].ip;
		if (*open && pmu_ds_taken(p, &b->records[k])) {
			g.rip = b->records[k].addr;
			*open = false;
		}
	}
	return g;
}

static void put_registers(struct out *o, const struct spmu_registers *g, unsigned n, unsigned bytes)
{
	/* AX BX CX DX SI DI BP SP R8.. */
	static const uint8_t order[16] = { 0, 3, 1, 2, 6, 7, 5, 4, 8, 9, 10, 11, 12, 13, 14, 15 };
	put(o, g->rflags, bytes);
	put(o, g->rip, bytes);
	for (unsigned i = 0; i < n; i++)
		put(o, g->gpr[order[i]], bytes);
}

/* The cycle in which the record was made: the retirement of its instruction. */
static uint64_t tsc_at(const struct spmu *p, const struct pmu_moment *at, uint32_t k)
{
	uint64_t cycle = at->cycle;
	if (k < at->batch->count && at->batch->base_cycle + at->batch->records[k].retire > cycle)
		cycle = at->batch->base_cycle + at->batch->records[k].retire;
	__extension__ unsigned __int128 ticks = (unsigned __int128)cycle * p->model->tsc_num;
	return (uint64_t)(ticks / p->model->tsc_den);
}

static uint64_t applicable(const struct spmu *p, unsigned i)
{
	return i < p->model->gp ? UINT64_C(1) << i : UINT64_C(1) << (32 + i - p->model->gp);
}

static bool is_adaptive(const struct spmu *p, unsigned i)
{
	return i < p->model->gp ? !!(p->arch.evtsel[i] & EVTSEL_ADAPTIVE)
		: p->arch.fixed_ctrl >> (32 + 4 * (i - p->model->gp)) & 1;
}

static size_t adaptive(struct spmu *p, unsigned i, const struct pmu_moment *at, uint8_t *bytes, size_t *rip)
{
	const struct spmu_batch *b = at->batch;
	uint32_t k = subject(p, at);
	uint64_t cfg = is_adaptive(p, i) ? p->ds.data_cfg : 0, entry[3];
	struct memory m = { 0 };
	struct out o = { bytes };
	unsigned entries = cfg & CFG_LBRS ? (cfg >> 24 & 0xff) + 1 : 0;
	size_t n = PEBS_BASIC + (cfg & CFG_MEMINFO ? PEBS_MEMINFO : 0) + (cfg & CFG_GPRS ? PEBS_GPRS : 0) +
		(cfg & CFG_XMMS ? PEBS_XMMS : 0) + entries * (size_t)PEBS_LBR;
	bool open = false;
	struct spmu_registers g = { 0 };
	if (cfg & (CFG_GPRS | CFG_XMMS))
		g = registers_of(p, b, k, !(p->model->capabilities & CAP_PEBS_TRAP), &open);
	if (k < b->count)
		m = memory_of(p, i, b, &b->records[k]);
	put(&o, cfg | (uint64_t)n << 48, 8);
	put(&o, k < b->count ? b->records[k].ip : last_ip(p, b), 8);
	put(&o, applicable(p, i), 8);
	put(&o, tsc_at(p, at, k), 8);
	if (cfg & CFG_MEMINFO) {
		put(&o, m.address, 8);
		put(&o, m.source, 8);
		put(&o, m.latency, 8);
		put(&o, 0, 8);		/* TSX */
	}
	if (cfg & CFG_GPRS) {
		*rip = open ? (size_t)(o.at - bytes) + 8 : 0;
		put(&o, g.rflags, 8);
		put(&o, g.rip, 8);
		for (unsigned r = 0; r < 16; r++)
			put(&o, g.gpr[r], 8);
	}
	for (unsigned r = 0; cfg & CFG_XMMS && r < 16; r++) {
		put(&o, g.xmm[r][0], 8);
		put(&o, g.xmm[r][1], 8);
	}
	for (unsigned r = 0; r < entries; r++) {
		if (!pmu_lbr_newest(p, r, entry))
			memset(entry, 0, sizeof entry);
		put(&o, entry[0], 8);
		put(&o, entry[1], 8);
		put(&o, entry[2], 8);
	}
	return n;
}

size_t pmu_pebs_bytes(struct spmu *p, unsigned i, const struct pmu_moment *at, uint8_t out[PEBS_RECORD_MAX],
	size_t *rip)
{
	const struct spmu_batch *b = at->batch;
	int format = pmu_pebs_format(p);
	bool netburst = p->model->family == &pmu_netburst, open;
	uint32_t k = subject(p, at);
	struct out o = { out };
	*rip = 0;
	if (format >= 4)
		return adaptive(p, i, at, out, rip);
	struct spmu_registers g = registers_of(p, b, k, netburst || !(p->model->capabilities & CAP_PEBS_TRAP), &open);
	struct memory m = { 0 };
	if (!pmu_ds_wide(p)) {
		put_registers(&o, &g, 8, 4);
		return (size_t)(o.at - out);
	}
	*rip = open ? 8 : 0;
	put_registers(&o, &g, 16, 8);
	if (format >= 1) {
		if (k < b->count)
			m = memory_of(p, i, b, &b->records[k]);
		put(&o, format < 3 ? p->arch.status : applicable(p, i), 8);
		put(&o, m.address, 8);
		put(&o, m.source, 8);
		put(&o, m.latency, 8);
	}
	if (format >= 2) {
		put(&o, k < b->count ? b->records[k].ip : last_ip(p, b), 8);
		put(&o, 0, 8);		/* TX abort information */
	}
	if (format >= 3)
		put(&o, tsc_at(p, at, k), 8);
	return (size_t)(o.at - out);
}
