/* SPDX-License-Identifier: BSD-2-Clause
 * Last branch records: the stack of each generation, its filters, and its MSRs.
 *
 * Source: SDM vol. 3B, chapter "Debug, Branch Profile, TSC...", sections "LBR Stack", "Last Branch, Call Stack,
 * Interrupt, and Exception Recording" of each processor, "Last Exception Records"; chapter "Last Branch
 * Records" (architectural); vol. 4.
 *
 * A taken branch is recorded when it retires, in program order.  `from` is the address of the branch
 * instruction itself, also for a macro-fused pair; `to` is where it went.  Interrupts and exceptions have no
 * entry of their own, because records do not say where a handler begins.  The last-exception registers (P6:
 * LASTINTFROMIP and LASTINTTOIP) receive the newest entry when a PMI is taken, which is the only interrupt that
 * the PMU knows of.  TSX flags are 0: records do not say which branches are in a transaction.
 *
 * Format of entries, by IA32_PERF_CAPABILITIES.LBR_FMT: 0: 32 bits; 1: linear address; 2: effective address,
 * the same where CS has base 0; 3: effective, mispredict flag in FROM[63]; 4: as 3, with TSX flags in
 * FROM[62:61]; 5: flags and cycles in LBR_INFO; 3FH: architectural.
 *
 * A filter by privilege level uses the level at which a branch ends, as the manual's newer editions and the
 * chapter on architectural LBRs say (the edition of June 2016: the level at which it occurs); only far
 * transfers differ.  On Nehalem LBR_SELECT's bits for jumps also suppress calls and returns (Linux, lbr.c:
 * "NHM/WSM erratum"; the manual says that Sandy Bridge no longer does this).
 *
 * Cycles (LBR_INFO[15:0]) are counted from one recorded branch's retirement to the next one's; a stack's first
 * entry has 0.  GUESS: WRMSR to FROM and TO faults unless the value is a sign-extended 48-bit address (Nehalem:
 * bits 62:47 equal, Haswell: 60:47, Skylake and architectural: 63:47); writing 1 << 47 to 680H settles it.
 * From Linux, arch/x86/events/intel/lbr.c: it does on Haswell without TSX.
 * The event LBR_INSERTS counts the branches that change the stack: those that it takes and, in call-stack mode, the
 * returns that remove an entry (Intel's perfmon lists, MISC_RETIRED.LBR_INSERTS of Sapphire Rapids).  While the stack
 * is off or frozen it counts 0.  GUESS: a return counts even if the stack is empty; one return in call-stack mode after
 * the depth register was written settles it.
 * GUESS: a return in call-stack mode clears the entry that it removes; reading the stack after f() settles it.
 * GUESS: the architectural depth is 8, 16 or 32 (CPUID.1CH:EAX[7:0] 0BH) on Golden Cove.
 * GUESS: DEBUGCTL.LBR exists beside IA32_LBR_CTL.LBREn and has no effect.
 */
#include "../pmu_internal.h"
#include <string.h>

#define CAP_FW_WRITE (UINT64_C(1) << 13)	/* from Sandy Bridge on */
#define STATUS_LBR_FRZ (UINT64_C(1) << 58)
#define DEBUGCTL_LBR UINT64_C(1)
#define DEBUGCTL_FREEZE_LBRS_ON_PMI (UINT64_C(1) << 11)
#define FLAG_MISPREDICTED (UINT64_C(1) << 63)
#define SELECT_CALL_STACK (UINT64_C(1) << 9)
#define CTL_CALL_STACK (UINT64_C(1) << 3)
enum { CALL_BYTES = 5 };	/* CALL rel32 without a prefix */
#define CTL_BITS UINT64_C(0x7f000f)
#define INFO_CYCLES_VALID (UINT64_C(1) << 60)
#define INFO_BITS_SKYLAKE (UINT64_C(7) << 61 | 0xffff)
#define INFO_BITS_ARCH (UINT64_C(0xff) << 56 | 0xffff)

/* to 0: FROM and TO share an MSR, FROM in bits 31:0.  select: the bits of LBR_SELECT; 0: it does not exist. */
struct shape { uint8_t depth; uint16_t from, to, info, tos, ler_from, ler_to, select; };

static const struct shape shapes[] = {
	[LBR_NONE] = { 0 },
	[LBR_P6] = { 1, 0x1db, 0x1dc, 0, 0, 0x1dd, 0x1de, 0 },
	[LBR_NETBURST4] = { 4, 0x1db, 0, 0, 0x1da, 0x1d7, 0x1d8, 0 },
	[LBR_NETBURST16] = { 16, 0x680, 0x6c0, 0, 0x1da, 0x1d7, 0x1d8, 0 },
	[LBR_YONAH] = { 8, 0x40, 0, 0, 0x1c9, 0x1dd, 0x1de, 0 },
	[LBR_CORE2] = { 4, 0x40, 0x60, 0, 0x1c9, 0x1dd, 0x1de, 0 },
	[LBR_BONNELL] = { 8, 0x40, 0x60, 0, 0x1c9, 0x1dd, 0x1de, 0 },
	[LBR_NEHALEM] = { 16, 0x680, 0x6c0, 0, 0x1c9, 0x1dd, 0x1de, 0x1ff },
	[LBR_HASWELL] = { 16, 0x680, 0x6c0, 0, 0x1c9, 0x1dd, 0x1de, 0x3ff },
	[LBR_SKYLAKE] = { 32, 0x680, 0x6c0, 0xdc0, 0x1c9, 0x1dd, 0x1de, 0x3ff },
	[LBR_ARCH] = { 32, 0x1500, 0x1600, 0x1200, 0, 0x1dd, 0x1de, 0 },
};

static const struct shape *shape(const struct spmu *p)
{
	return &shapes[p->ds.lbr.style];
}

static uint64_t extended(uint64_t v, unsigned bits)	/* from bit bits - 1 on */
{
	return (uint64_t)((int64_t)(v << (64 - bits)) >> (64 - bits));
}

void pmu_lbr_style(struct spmu *p, enum pmu_lbr_style style)
{
	memset(&p->ds.lbr, 0, sizeof p->ds.lbr);
	p->ds.lbr.style = (uint8_t)style;
	p->ds.lbr.depth = shapes[style].depth;
}

/* ---- recording ---------------------------------------------------------------------------------------------- */

/* numbers as in IA32_LBR_x_INFO.BR_TYPE, except OTHER */
enum kind { JCC, IND_JMP, REL_JMP, IND_CALL, REL_CALL, NEAR_RET, OTHER };

static enum kind kind_of(const struct spmu_record *r)
{
	bool indirect = r->is & SPMU_IS(INDIRECT);
	if (r->is & SPMU_IS(FAR))
		return OTHER;
	if (r->is & SPMU_IS(COND))
		return JCC;
	if (r->is & SPMU_IS(RET))
		return NEAR_RET;
	if (r->is & SPMU_IS(CALL))
		return indirect ? IND_CALL : REL_CALL;
	return indirect ? IND_JMP : REL_JMP;
}

/* The privilege level at which the branch ends: that of the next instruction, if the batch holds it. */
static unsigned level_behind(const struct spmu_batch *b, uint32_t record)
{
	const struct spmu_record *r = &b->records[record];
	if (r->is & SPMU_IS(FAR))
		for (uint32_t i = record + 1; i < b->count; i++) {
			const struct spmu_record *next = &b->records[i];
			if (next->kind == SPMU_REC_UOP && next->did & SPMU_DID(RETIRED) &&
				next->hw_thread == r->hw_thread)
				return next->cpl;
		}
	return r->cpl;
}

static bool passes(const struct spmu *p, enum kind kind, unsigned cpl)
{
	static const uint8_t select_bit[] = {
		[JCC] = 2, [IND_JMP] = 6, [REL_JMP] = 7, [IND_CALL] = 4, [REL_CALL] = 3, [NEAR_RET] = 5, [OTHER] = 8
	};
	static const uint8_t control_bit[] = {
		[JCC] = 16, [IND_JMP] = 18, [REL_JMP] = 17, [IND_CALL] = 20, [REL_CALL] = 19, [NEAR_RET] = 21,
		[OTHER] = 22
	};
	uint64_t v = p->ds.lbr.control;
	if (p->ds.lbr.style == LBR_ARCH)	/* set bits let pass */
		return v >> (cpl ? 2 : 1) & 1 && v >> control_bit[kind] & 1;
	/* before Sandy Bridge, the bits for jumps also apply to calls and returns */
	if (p->ds.lbr.style == LBR_NEHALEM && !(p->model->capabilities & CAP_FW_WRITE)) {
		if ((kind == IND_CALL || kind == NEAR_RET) && v >> select_bit[IND_JMP] & 1)
			return false;
		if (kind == REL_CALL && v >> select_bit[REL_JMP] & 1)
			return false;
	}
	return !(v >> (cpl ? 1 : 0) & 1) && !(v >> select_bit[kind] & 1);	/* set bits suppress */
}

static bool call_stack(const struct spmu *p)
{
	return p->ds.lbr.control &
		(p->ds.lbr.style == LBR_ARCH ? CTL_CALL_STACK : shape(p)->select & SELECT_CALL_STACK);
}

static void pop(struct spmu *p)
{
	struct pmu_lbr_state *l = &p->ds.lbr;
	unsigned at = l->tos;
	if (l->style == LBR_ARCH) {
		memmove(l->from, l->from + 1, (l->depth - 1u) * sizeof l->from[0]);
		memmove(l->to, l->to + 1, (l->depth - 1u) * sizeof l->to[0]);
		memmove(l->info, l->info + 1, (l->depth - 1u) * sizeof l->info[0]);
		at = l->depth - 1u;
	} else {
		l->tos = (uint8_t)((l->tos + l->depth - 1u) % l->depth);
	}
	l->from[at] = l->to[at] = l->info[at] = 0;
}

/* Does this taken branch change the stack, which is on?  In call-stack mode, a return takes an entry out. */
static bool changes(const struct spmu *p, const struct spmu_batch *b, uint32_t record, enum kind kind)
{
	const struct spmu_record *r = &b->records[record];
	if (p->model->family == &pmu_arch && p->model->version >= 4 && p->arch.status & STATUS_LBR_FRZ)
		return false;
	/* a call of the next instruction, by which code learns its own address, has no return */
	return passes(p, kind, level_behind(b, record)) &&
		!(call_stack(p) && kind == REL_CALL && r->addr == SPMU_BRANCH_IP(r) + CALL_BYTES);
}

void pmu_lbr_tag(const struct spmu *p, const struct spmu_batch *b, uint16_t *tag)
{
	for (uint32_t i = 0; p->ds.lbr_on && i < b->count; i++)
		if (pmu_ds_taken(p, &b->records[i]) && changes(p, b, i, kind_of(&b->records[i])))
			tag[i] |= TAG_LBR;
}

void pmu_lbr_branch(struct spmu *p, const struct spmu_batch *b, uint32_t record)
{
	struct pmu_lbr_state *l = &p->ds.lbr;
	const struct spmu_record *r = &b->records[record];
	enum kind kind = kind_of(r);
	bool mispredicted = r->did & SPMU_DID(MISPREDICTED);
	uint64_t from = SPMU_BRANCH_IP(r), to = r->addr, info = 0, cycle = b->base_cycle + r->retire;
	if (!changes(p, b, record, kind))
		return;
	if (call_stack(p) && kind == NEAR_RET) {
		pop(p);
		return;
	}
	if (shape(p)->info) {
		uint64_t cycles = l->timed && cycle > l->last ? cycle - l->last : 0;
		info = (cycles > 0xffff ? 0xffff : cycles) | (mispredicted ? FLAG_MISPREDICTED : 0);
		if (l->style == LBR_ARCH)
			info |= (uint64_t)(kind == OTHER ? 8 : kind) << 56 | (l->timed ? INFO_CYCLES_VALID : 0);
		l->timed = true;
		l->last = cycle;
	}
	/* 32 bits; NetBurst in IA-32e mode has 64 */
	if (!shape(p)->to || l->style == LBR_P6 || p->model->family == &pmu_netburst) {
		from = p->host.mode64 && shape(p)->to && l->style != LBR_P6 ? from : (uint32_t)from;
		to = p->host.mode64 && shape(p)->to && l->style != LBR_P6 ? to : (uint32_t)to;
	}
	if (l->style == LBR_NEHALEM)
		from = (from & ~FLAG_MISPREDICTED) | (mispredicted ? FLAG_MISPREDICTED : 0);
	if (l->style == LBR_HASWELL)
		from = (from & UINT64_MAX >> 3) | (mispredicted ? FLAG_MISPREDICTED : 0);
	unsigned at = 0;
	if (l->style == LBR_ARCH) {	/* a shift register */
		memmove(l->from + 1, l->from, (l->depth - 1u) * sizeof l->from[0]);
		memmove(l->to + 1, l->to, (l->depth - 1u) * sizeof l->to[0]);
		memmove(l->info + 1, l->info, (l->depth - 1u) * sizeof l->info[0]);
	} else {
		at = l->tos = (uint8_t)((l->tos + 1u) % l->depth);
	}
	l->from[at] = from;
	l->to[at] = to;
	l->info[at] = info;
}

bool pmu_lbr_newest(const struct spmu *p, unsigned k, uint64_t out[3])
{
	const struct pmu_lbr_state *l = &p->ds.lbr;
	if (k >= l->depth)
		return false;
	unsigned at = l->style == LBR_ARCH ? k : (l->tos + 2u * l->depth - k) % l->depth;
	out[0] = l->from[at];
	out[1] = l->to[at];
	out[2] = l->info[at];
	return true;
}

void pmu_lbr_interrupt(struct spmu *p)
{
	uint64_t entry[3];
	if (p->ds.lbr_on && shape(p)->ler_from && pmu_lbr_newest(p, 0, entry)) {
		p->ds.lbr.ler_from = entry[0];
		p->ds.lbr.ler_to = entry[1];
		p->ds.lbr.ler_info = entry[2];
	}
}

void pmu_lbr_pmi(struct spmu *p)
{
	if (p->model->family != &pmu_arch || p->model->version < 2 || !(p->ds.debugctl & DEBUGCTL_FREEZE_LBRS_ON_PMI))
		return;
	if (p->model->version >= 4) {
		p->arch.status |= STATUS_LBR_FRZ;
	} else {
		p->arch.debugctl &= ~DEBUGCTL_LBR;
		pmu_ds_debugctl(p, p->arch.debugctl);
	}
}

/* ---- registers ---------------------------------------------------------------------------------------------- */

enum lbr_register {
	REG_NONE, REG_FROM, REG_TO, REG_INFO, REG_TOS, REG_SELECT, REG_DEPTH, REG_LER_FROM, REG_LER_TO,
	REG_LER_INFO, REG_BEYOND
};

static bool depth_exists(const struct spmu *p, uint64_t depth)
{
	return p->ds.lbr.style == LBR_ARCH ? depth == 8 || depth == 16 || depth == 32 : depth == shape(p)->depth;
}

static uint64_t control_bits(const struct spmu *p)
{
	return p->ds.lbr.style == LBR_ARCH ? CTL_BITS : shape(p)->select;
}

static uint64_t info_bits(const struct spmu *p)
{
	return p->ds.lbr.style == LBR_ARCH ? INFO_BITS_ARCH : p->ds.lbr.style == LBR_SKYLAKE ? INFO_BITS_SKYLAKE : 0;
}

bool pmu_lbr_valid(const struct spmu *p)
{
	const struct pmu_lbr_state *l = &p->ds.lbr;
	if (!depth_exists(p, l->depth) || (l->depth ? l->tos >= l->depth : l->tos) || l->control & ~control_bits(p) ||
		l->ler_info & ~info_bits(p))
		return false;
	for (unsigned i = 0; i < PMU_LBR_MAX; i++)
		if (l->info[i] & ~info_bits(p))
			return false;
	return true;
}

static enum lbr_register register_of(const struct spmu *p, uint32_t msr, unsigned *index)
{
	const struct shape *s = shape(p);
	unsigned depth = p->ds.lbr.depth;
	if (!s->depth)
		return REG_NONE;
	if (msr - s->from < s->depth)
		return *index = msr - s->from, *index < depth ? REG_FROM : REG_BEYOND;
	if (s->to && msr - s->to < s->depth)
		return *index = msr - s->to, *index < depth ? REG_TO : REG_BEYOND;
	if (s->info && msr - s->info < s->depth)
		return *index = msr - s->info, *index < depth ? REG_INFO : REG_BEYOND;
	if (s->tos && msr == s->tos)
		return REG_TOS;
	if (msr == s->ler_from)
		return REG_LER_FROM;
	if (msr == s->ler_to)
		return REG_LER_TO;
	if (p->ds.lbr.style == LBR_ARCH)
		return msr == MSR_IA32_LBR_CTL ? REG_SELECT
			: msr == MSR_IA32_LBR_DEPTH ? REG_DEPTH
			: msr == MSR_IA32_LER_INFO ? REG_LER_INFO
			: REG_NONE;
	return s->select && msr == MSR_LBR_SELECT ? REG_SELECT : REG_NONE;
}

/* May software write this value to the entry? */
static bool address_fits(const struct spmu *p, enum lbr_register which, uint64_t v)
{
	switch (p->ds.lbr.style) {
	case LBR_NEHALEM:
		return which == REG_TO ? extended(v, 48) == v : extended(v, 63) == extended(v, 48);
	case LBR_HASWELL:
		return which == REG_TO ? extended(v, 48) == v : extended(v, 61) == extended(v, 48);
	case LBR_SKYLAKE:
	case LBR_ARCH:
		return extended(v, 48) == v;
	default:
		return true;
	}
}

int pmu_lbr_wrmsr(struct spmu *p, uint32_t msr, uint64_t value)
{
	struct pmu_lbr_state *l = &p->ds.lbr;
	unsigned i = 0;
	enum lbr_register which = register_of(p, msr, &i);
	switch (which) {
	case REG_FROM:
	case REG_TO:
		if (!address_fits(p, which, value))
			return SPMU_GP;
		if (which == REG_TO) {
			l->to[i] = value;
		} else if (shape(p)->to) {
			l->from[i] = value;
		} else {
			l->from[i] = (uint32_t)value;
			l->to[i] = value >> 32;
		}
		return SPMU_OK;
	case REG_INFO:
		if (value & ~info_bits(p))
			return SPMU_GP;
		l->info[i] = value;
		return SPMU_OK;
	case REG_TOS:
		if (value >= l->depth)
			return SPMU_GP;
		l->tos = (uint8_t)value;
		return SPMU_OK;
	case REG_SELECT:
		if (value & ~control_bits(p))
			return SPMU_GP;
		l->control = value;
		pmu_ds_debugctl(p, p->ds.debugctl);
		return SPMU_OK;
	case REG_DEPTH:
		if (!depth_exists(p, value))
			return SPMU_GP;
		memset(l->from, 0, sizeof l->from);
		memset(l->to, 0, sizeof l->to);
		memset(l->info, 0, sizeof l->info);
		l->timed = false;
		l->depth = (uint8_t)value;
		return SPMU_OK;
	case REG_LER_FROM:
		l->ler_from = value;
		return SPMU_OK;
	case REG_LER_TO:
		l->ler_to = value;
		return SPMU_OK;
	case REG_LER_INFO:
		if (value & ~info_bits(p))
			return SPMU_GP;
		l->ler_info = value;
		return SPMU_OK;
	case REG_BEYOND:
		return SPMU_GP;
	default:
		return SPMU_ENOMSR;
	}
}

int pmu_lbr_rdmsr(const struct spmu *p, uint32_t msr, uint64_t *value)
{
	const struct pmu_lbr_state *l = &p->ds.lbr;
	unsigned i = 0;
	switch (register_of(p, msr, &i)) {
	case REG_FROM:
		*value = shape(p)->to ? l->from[i] : l->from[i] | l->to[i] << 32;
		return SPMU_OK;
	case REG_TO: *value = l->to[i]; return SPMU_OK;
	case REG_INFO: *value = l->info[i]; return SPMU_OK;
	case REG_TOS: *value = l->tos; return SPMU_OK;
	case REG_SELECT: *value = l->control; return SPMU_OK;
	case REG_DEPTH: *value = l->depth; return SPMU_OK;
	case REG_LER_FROM: *value = l->ler_from; return SPMU_OK;
	case REG_LER_TO: *value = l->ler_to; return SPMU_OK;
	case REG_LER_INFO: *value = l->ler_info; return SPMU_OK;
	case REG_BEYOND: return SPMU_GP;
	default: return SPMU_ENOMSR;
	}
}
