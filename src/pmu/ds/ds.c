/* SPDX-License-Identifier: BSD-2-Clause
 * Debug store: its registers, the management area in guest memory, DEBUGCTL's trace bits, and BTS.
 *
 * Source: SDM vol. 3B, chapter "Debug, Branch Profile, TSC...", sections "BTS and DS Save Area", "DS Save Area
 * and IA-32e Mode Operation", "Setting Up the DS Save Area"; chapter "Performance Monitoring", sections on PEBS
 * of each generation; vol. 4, MSR tables.
 *
 * The area has the 64-bit layout on processors with DTES64 (from Core 2 on) in any mode; on earlier ones the
 * mode decides (spmu_host.mode64).  Every pointer in it comes from the guest: if a buffer's index lies outside
 * [base, absolute maximum), or an access faults, the record is lost.  A maximum may be a multiple of the record
 * size plus 1, as the manual has it, or without that 1, as drivers write it; both mean the same.
 *
 *   32 bits: BTS base 00H, index 04H, maximum 08H, threshold 0CH; PEBS the same from 10H on; counter reset (40
 *   bits) at 20H 64 bits: BTS 00H, 08H, 10H, 18H; PEBS 20H, 28H, 30H, 38H; counter resets from 40H on:
 *            formats 0 to 3: general-purpose counter n at 40H + 8n; format 4: also fixed counter n at 80H + 8n;
 *            format 5: fixed counter n at 140H + 8n (Linux, arch/x86/include/asm/intel_ds.h: MAX_PEBS_EVENTS_FMT4 8,
 *            MAX_PEBS_EVENTS 32)
 *
 * IA32_MISC_ENABLE: bits 7, 11 and 12 belong to the PMU; other bits are stored and have no effect.  Bit 0, fast
 * strings, is set after power-up where it exists (vol. 4: NetBurst, and from Core 2 on; reserved on Yonah): without it
 * an operating system does not use the instructions REP MOVS and REP STOS for its copies.
 * GUESS: writes to its read-only bits are ignored; WRMSR with bit 11 inverted settles it.
 * GUESS: in a 32-bit guest, bits 63:32 of IA32_DS_AREA must be canonical, too.
 */
#include "../pmu_internal.h"
#include <string.h>

#define MISC_FAST_STRINGS UINT64_C(1)
#define MISC_PERFMON_AVAILABLE (UINT64_C(1) << 7)
#define MISC_BTS_UNAVAILABLE (UINT64_C(1) << 11)
#define MISC_PEBS_UNAVAILABLE (UINT64_C(1) << 12)
#define MISC_OURS (MISC_PERFMON_AVAILABLE | MISC_BTS_UNAVAILABLE | MISC_PEBS_UNAVAILABLE)
#define CAP_PEBS_OUTPUT_PT (UINT64_C(1) << 16)

static bool is_arch(const struct spmu *p)
{
	return p->model->family == &pmu_arch;
}

static bool has_area(const struct spmu *p)
{
	return is_arch(p) || p->model->family == &pmu_netburst;
}

bool pmu_ds_memory(const struct spmu *p)
{
	return p->host.read_memory && p->host.write_memory && has_area(p);
}

bool pmu_ds_wide(const struct spmu *p)
{
	return p->host.mode64 || (is_arch(p) && p->model->version >= 2);
}

bool pmu_ds_capable(uint64_t capabilities)
{
	unsigned lbr = capabilities & 0x3f, format = capabilities >> 8 & 15;
	return !(capabilities & ~UINT64_C(0x1efff)) && (lbr <= 5 || lbr == 0x3f) && format <= 5 &&
		!!(capabilities >> 14 & 1) == (format >= 4);
}

void spmu_set_mode64(struct spmu *p, bool mode64)
{
	p->host.mode64 = mode64;
}

static bool canonical(uint64_t v)
{
	return (uint64_t)((int64_t)(v << 16) >> 16) == v;
}

/* ---- the management area ------------------------------------------------------------------------------------ */

static uint64_t field_address(const struct spmu *p, unsigned offset64)
{
	return pmu_ds_wide(p) ? p->ds.area + offset64 : (uint32_t)(p->ds.area + offset64 / 2);
}

static uint64_t little(const uint8_t *bytes, unsigned n)
{
	uint64_t v = 0;
	while (n--)
		v = v << 8 | bytes[n];
	return v;
}

bool pmu_ds_buffer(const struct spmu *p, unsigned which, struct pmu_ds_buffer *out)
{
	uint8_t bytes[32];
	unsigned n = pmu_ds_wide(p) ? 8 : 4;
	if (!pmu_ds_memory(p) || p->host.read_memory(p->host.context, field_address(p, 0x20 * which), bytes, 4 * n))
		return false;
	*out = (struct pmu_ds_buffer){ little(bytes, n), little(bytes + n, n), little(bytes + 2 * n, n),
		little(bytes + 3 * n, n) };
	return true;
}

bool pmu_ds_set_index(const struct spmu *p, unsigned which, uint64_t index)
{
	uint8_t bytes[8];
	unsigned n = pmu_ds_wide(p) ? 8 : 4;
	for (unsigned i = 0; i < 8; i++)
		bytes[i] = (uint8_t)(index >> 8 * i);
	return !p->host.write_memory(p->host.context, field_address(p, 0x20 * which + 8), bytes, n);
}

bool pmu_ds_room(const struct pmu_ds_buffer *b, size_t bytes)
{
	return b->index >= b->base && b->index <= b->maximum && b->maximum - b->index >= bytes;
}

bool pmu_ds_counter_reset(const struct spmu *p, unsigned i, uint64_t *value)
{
	uint8_t bytes[8];
	int format = pmu_pebs_format(p);
	if (is_arch(p) && format >= 4 && (p->host.pebs_reload_msrs || pmu_pebs_to_trace(p))) {
		*value = p->ds.reload[i];
		return true;
	}
	unsigned slot = !is_arch(p) ? 0 : i < p->model->gp ? i : i - p->model->gp + (format < 5 ? 8 : 32);
	uint64_t address = pmu_ds_wide(p) ? p->ds.area + 0x40 + 8 * slot : (uint32_t)(p->ds.area + 0x20);
	if (!pmu_ds_memory(p) || p->host.read_memory(p->host.context, address, bytes, 8))
		return false;
	*value = little(bytes, 8);
	return true;
}

/* ---- registers ---------------------------------------------------------------------------------------------- */

void pmu_ds_reset(struct spmu *p)
{
	const struct spmu_model *m = p->model;
	enum pmu_lbr_style style = LBR_NONE;
	p->ds = (struct pmu_ds_state){ 0 };
	if (m->family == &pmu_p6) {
		style = LBR_P6;
	} else if (m->family == &pmu_netburst) {
		style = LBR_NETBURST16;
	} else if (is_arch(p) && m->version == 1) {
		style = LBR_YONAH;
	} else if (is_arch(p)) {	/* IA32_PERF_CAPABILITIES.LBR_FMT */
		static const uint8_t by_format[8] = { LBR_CORE2, LBR_BONNELL, LBR_CORE2, LBR_NEHALEM, LBR_HASWELL,
			LBR_SKYLAKE, LBR_NONE, LBR_NONE };
		unsigned format = m->capabilities & 0x3f;
		style = format < 8 ? by_format[format] : format == 0x3f ? LBR_ARCH : LBR_NONE;
	}
	if (has_area(p) && style != LBR_YONAH)
		p->ds.misc = MISC_FAST_STRINGS;
	pmu_lbr_style(p, style);
}

static bool has_reload(const struct spmu *p)
{
	return is_arch(p) && pmu_pebs_format(p) >= 4 &&
		(p->host.pebs_reload_msrs || p->model->capabilities & CAP_PEBS_OUTPUT_PT);
}

/* The counter that this MSR_RELOAD_x belongs to; -1: it is no such MSR. */
static int reload_counter(const struct spmu *p, uint32_t msr)
{
	if (!has_reload(p))
		return -1;
	if (msr - MSR_RELOAD_PMC0 < p->model->gp)
		return (int)(msr - MSR_RELOAD_PMC0);
	if (msr - MSR_RELOAD_FIXED_CTR0 < p->model->fixed)
		return (int)(p->model->gp + msr - MSR_RELOAD_FIXED_CTR0);
	return -1;
}

/* Where a PEBS register of the architectural family is stored; *bits: the bits that may be set.  NULL: it does
 * not exist. */
static uint64_t *pebs_register(struct spmu *p, uint32_t msr, uint64_t *bits)
{
	int format = is_arch(p) ? pmu_pebs_format(p) : PEBS_NONE;
	switch (msr) {
	case MSR_IA32_PEBS_ENABLE:
		*bits = pmu_pebs_enable_bits(p);
		return format >= 0 ? &p->ds.enable : NULL;
	case MSR_PEBS_DATA_CFG:
		*bits = UINT64_C(0xff00000f);
		return format >= 4 ? &p->ds.data_cfg : NULL;
	case MSR_PEBS_LD_LAT_THRESHOLD:
		*bits = 0xffff;
		return format >= 1 ? &p->ds.latency : NULL;
	case MSR_PEBS_FRONTEND:
		*bits = format >= 5 ? 0x7fff1f : 0x7fff17;
		return format >= 3 ? &p->ds.frontend : NULL;
	}
	return NULL;
}

/* IA32_PEBS_ENABLE: output selects 2 and 3 are reserved.  (Bit 63 alone is precise store, on processors without
 * output select.) */
static bool bad_output(uint64_t enable)
{
	return enable >> 62 & 1 && !(enable >> 63);
}

int pmu_ds_wrmsr(struct spmu *p, uint32_t msr, uint64_t value)
{
	uint64_t bits, *reg = pebs_register(p, msr, &bits);
	int reload = reload_counter(p, msr);
	if (reg) {
		if (value & ~bits || (msr == MSR_IA32_PEBS_ENABLE && bad_output(value)))
			return SPMU_GP;
		int error = pmu_change(p, reg, value);
		for (unsigned i = 0; !error && msr == MSR_IA32_PEBS_ENABLE && i < p->model->gp + p->model->fixed; i++)
			if (!pmu_pebs_on(p, i)) {
				p->counter[i].armed = false;
				p->ds.waiting &= ~(1u << i);
			}
		return error;
	}
	if (reload >= 0) {
		if (value & ~p->counter[reload].mask)
			return SPMU_GP;
		p->ds.reload[reload] = value;
		return SPMU_OK;
	}
	if (msr == MSR_IA32_DS_AREA && has_area(p)) {
		if (!canonical(value))
			return SPMU_GP;
		p->ds.area = value;
		p->ds.rip_at = 0;
		return SPMU_OK;
	}
	if (msr == MSR_IA32_MISC_ENABLE && has_area(p)) {
		p->ds.misc = value & ~MISC_OURS;
		return SPMU_OK;
	}
	return pmu_lbr_wrmsr(p, msr, value);
}

int pmu_ds_rdmsr(const struct spmu *p, uint32_t msr, uint64_t *value)
{
	uint64_t bits;
	const uint64_t *reg = pebs_register((struct spmu *)p, msr, &bits);	/* only looked at */
	int reload = reload_counter(p, msr);
	if (reg)
		*value = *reg;
	else if (reload >= 0)
		*value = p->ds.reload[reload];
	else if (msr == MSR_IA32_DS_AREA && has_area(p))
		*value = p->ds.area;
	else if (msr == MSR_IA32_MISC_ENABLE && has_area(p))
		*value = p->ds.misc | MISC_PERFMON_AVAILABLE | (pmu_ds_memory(p) ? 0 : MISC_BTS_UNAVAILABLE) |
			(pmu_ds_memory(p) && pmu_pebs_format(p) >= 0 ? 0 : MISC_PEBS_UNAVAILABLE);
	else
		return pmu_lbr_rdmsr(p, msr, value);
	return SPMU_OK;
}

int pmu_ds_restored(struct spmu *p)
{
	static const uint32_t registers[] = { MSR_IA32_PEBS_ENABLE, MSR_PEBS_DATA_CFG, MSR_PEBS_LD_LAT_THRESHOLD,
		MSR_PEBS_FRONTEND };
	struct pmu_ds_state *d = &p->ds;
	bool bad = !canonical(d->area) || d->misc & MISC_OURS || !pmu_lbr_valid(p) ||
		d->debugctl & ~(pmu_ds_debugctl_bits(p) | UINT64_C(1) << 12) || bad_output(d->enable);
	for (unsigned i = 0; i < sizeof registers / sizeof *registers; i++) {
		uint64_t bits, *reg = pebs_register(p, registers[i], &bits);
		bad |= reg && *reg & ~bits;
	}
	for (unsigned i = 0; i < PMU_RELOADS && i < p->model->counters; i++)
		bad |= p->counter[i].mask && d->reload[i] & ~p->counter[i].mask;
	if (d->waiting_since > PMU_CYCLE_LAST)
		d->waiting_since = 0;
	d->waiting &= (1u << p->model->counters) - 1;
	d->rip_at = d->rip_was = 0;	/* the guest's memory is not the one of the saved PMU */
	d->open = d->closing = (struct pmu_stretch){ 0 };
	if (!bad)
		pmu_ds_debugctl(p, d->debugctl);
	return bad ? SPMU_EINPUT : SPMU_OK;
}

/* Source: SDM vol. 2, "CPUID"; leaf 1CH: vol. 3B, "Last Branch Records". */
void spmu_cpuid_bits(const struct spmu *p, uint32_t leaf, uint32_t regs[4])
{
	bool arch_lbr = p->ds.lbr.style == LBR_ARCH;
	memset(regs, 0, 4 * sizeof *regs);
	switch (leaf) {
	case 0x01:
		if (!has_area(p))
			break;
		regs[3] = UINT32_C(1) << 21;
		if (is_arch(p) && p->model->version >= 2)
			regs[2] = 1 << 2 | 1 << 4;
		else if (!is_arch(p))
			regs[2] = 1 << 4;
		if (p->model->capabilities)
			regs[2] |= 1 << 15;
		break;
	case 0x07:
		regs[3] = arch_lbr ? UINT32_C(1) << 19 : 0;
		break;
	case 0x0a:
		spmu_cpuid_0a(p, regs);
		break;
	case 0x1c:
		if (!arch_lbr)
			break;
		regs[0] = 0x0b | UINT32_C(1) << 31;	/* depths 8, 16, 32; addresses are linear */
		regs[1] = 7;				/* filters by level and by kind, call stack */
		regs[2] = 7;				/* mispredicted, cycles, kind of branch */
		break;
	}
}

/* ---- DEBUGCTL ----------------------------------------------------------------------------------------------- */

/* Bit numbers: NetBurst has its own layout.  P6: bits 5:2 (PBi) drive pins. */
struct layout { uint8_t tr, bts, btint, off_os, off_usr; };
static const struct layout netburst_layout = { 2, 3, 4, 5, 6 }, common_layout = { 6, 7, 8, 9, 10 };

static const struct layout *layout(const struct spmu *p)
{
	return p->model->family == &pmu_netburst ? &netburst_layout : &common_layout;
}

uint64_t pmu_ds_debugctl_bits(const struct spmu *p)
{
	if (p->model->family == &pmu_p6 || p->model->family == &pmu_netburst)
		return 0x7f;
	if (!is_arch(p))
		return 0;
	return p->model->version == 1 ? 0x1c3 : 0xfc3;	/* CPL qualification and freezing from Core 2 on */
}

void pmu_ds_debugctl(struct spmu *p, uint64_t value)
{
	const struct layout *l = layout(p);
	p->ds.debugctl = value;
	p->ds.lbr_on = p->ds.lbr.style == LBR_ARCH ? p->ds.lbr.control & 1 : p->ds.lbr.style != LBR_NONE && value & 1;
	p->ds.bts_on = pmu_ds_memory(p) && value >> l->tr & 1 && value >> l->bts & 1;
	p->ds.watch = p->ds.lbr_on | p->ds.bts_on;
	p->watching = (uint8_t)((p->watching & ~(1u << p->on)) | (unsigned)p->ds.watch << p->on);
}

static bool bts_interrupts(const struct spmu *p)
{
	return p->ds.bts_on && p->ds.debugctl >> layout(p)->btint & 1;
}

bool pmu_ds_taken(const struct spmu *p, const struct spmu_record *r)
{
	return r->kind == SPMU_REC_UOP && r->is & SPMU_IS(BRANCH) && (r->did & (SPMU_DID(RETIRED) | SPMU_DID(TAKEN))) ==
		(SPMU_DID(RETIRED) | SPMU_DID(TAKEN)) && pmu_thread(p, r->hw_thread) == p->on;
}

/* ---- BTS ---------------------------------------------------------------------------------------------------- */

static bool bts_wants(const struct spmu *p, const struct spmu_record *r)
{
	const struct layout *l = layout(p);
	return pmu_ds_taken(p, r) && !(p->ds.debugctl >> (r->cpl ? l->off_usr : l->off_os) & 1);
}

/* With BTINT the buffer is filled once, up to its maximum, and an interrupt is requested when the index reaches
 * the threshold.  Without BTINT the buffer is circular.  Bit 4 of the third field: predicted, on NetBurst only.
 * GUESS: with BTINT and a full buffer, branches are lost; a handler that leaves the index settles it. */
static void bts_segment(struct spmu *p, const struct spmu_batch *b, uint32_t from, uint32_t to)
{
	struct pmu_ds_buffer buffer;
	bool read = false, moved = false;
	unsigned n = pmu_ds_wide(p) ? 8 : 4;
	for (uint32_t i = from; i < to; i++) {
		const struct spmu_record *r = &b->records[i];
		uint8_t bytes[24] = { 0 };
		if (!bts_wants(p, r))
			continue;
		if (!read && !pmu_ds_buffer(p, 0, &buffer))
			return;
		read = true;
		if (!pmu_ds_room(&buffer, 3 * n) && !bts_interrupts(p))
			buffer.index = buffer.base;
		if (!pmu_ds_room(&buffer, 3 * n))
			continue;
		uint64_t from = SPMU_BRANCH_IP(r);
		for (unsigned k = 0; k < n; k++) {
			bytes[k] = (uint8_t)(from >> 8 * k);
			bytes[n + k] = (uint8_t)(r->addr >> 8 * k);
		}
		if (p->model->family == &pmu_netburst && !(r->did & SPMU_DID(MISPREDICTED)))
			bytes[2 * n] = 1 << 4;
		if (p->host.write_memory(p->host.context, buffer.index, bytes, 3 * n))
			break;
		buffer.index += 3 * n;
		moved = true;
	}
	if (moved)
		pmu_ds_set_index(p, 0, buffer.index);
}

static uint32_t bts_due(const struct spmu *p, const struct spmu_batch *b, uint32_t from)
{
	struct pmu_ds_buffer buffer;
	unsigned size = pmu_ds_wide(p) ? 24 : 12;
	if (!bts_interrupts(p) || from >= b->count || !pmu_ds_buffer(p, 0, &buffer) ||
		buffer.index >= buffer.threshold || !pmu_ds_room(&buffer, size))
		return b->count;
	uint64_t left = (buffer.threshold - buffer.index - 1) / size + 1;	/* records until then */
	if (left > (buffer.maximum - buffer.index) / size)
		return b->count;
	for (uint32_t i = from; i < b->count; i++)
		if (bts_wants(p, &b->records[i]) && !--left)
			return i;
	return b->count;
}

uint32_t pmu_bts_due(struct spmu *p, const struct spmu_batch *b, uint32_t from, unsigned *thread)
{
	uint32_t first = b->count;
	*thread = 0;
	for (unsigned set = p->watching, was = p->on; set; set &= set - 1) {
		unsigned one = (unsigned)__builtin_ctz(set);
		pmu_on(p, one);
		uint32_t due = bts_due(p, b, from);
		pmu_on(p, was);
		if (due < first) {
			first = due;
			*thread = one;
		}
	}
	return first;
}

bool pmu_bts_reached(const struct spmu *p)
{
	struct pmu_ds_buffer buffer;
	return pmu_ds_buffer(p, 0, &buffer) && buffer.index >= buffer.threshold;
}

/* ---- batches ------------------------------------------------------------------------------------------------ */

void pmu_ds_segment(struct spmu *p, const struct spmu_batch *b, uint32_t from, uint32_t to)
{
	for (unsigned set = p->watching, was = p->on; set; set &= set - 1) {
		pmu_on(p, (unsigned)__builtin_ctz(set));
		for (uint32_t i = from; p->ds.lbr_on && i < to; i++)
			if (pmu_ds_taken(p, &b->records[i]))
				pmu_lbr_branch(p, b, i);
		if (p->ds.bts_on)
			bts_segment(p, b, from, to);
		pmu_on(p, was);
	}
}

/* After a record that was written at a batch's end, the next instruction gives its RIP: writes it into the
 * record, if the record is unchanged. */
static void patch_rip(struct spmu *p, const struct spmu_batch *b)
{
	for (uint32_t i = 0; i < b->count; i++) {
		const struct spmu_record *r = &b->records[i];
		uint8_t bytes[8];
		if (r->kind != SPMU_REC_UOP || !(r->did & SPMU_DID(RETIRED)) || r->hw_thread != p->host.hw_thread ||
			!(r->is & SPMU_IS(INST_BEGIN)))
			continue;
		if (!p->host.read_memory(p->host.context, p->ds.rip_at, bytes, 8) &&
			little(bytes, 8) == p->ds.rip_was) {
			for (unsigned k = 0; k < 8; k++)
				bytes[k] = (uint8_t)(r->ip >> 8 * k);
			p->host.write_memory(p->host.context, p->ds.rip_at, bytes, 8);
		}
		p->ds.rip_at = 0;
		return;
	}
}

void pmu_ds_begin(struct spmu *p, const struct spmu_batch *b)
{
	if (p->ds.rip_at)
		patch_rip(p, b);
	if (p->ds.waiting) {	/* the engine makes them act at the batch's first instruction */
		if (p->late == PMU_NEVER || p->late > p->ds.waiting_since)
			p->late = p->ds.waiting_since;
		p->late_due |= p->ds.waiting;
	}
}
