/* SPDX-License-Identifier: GPL-2.0-or-later
 * Branch stacks (branch_stack.h).
 *
 * Sources.  Registers: SDM vol. 3B, "Last Branch, Call Stack, Interrupt, and Exception Recording" of each
 * processor, "Last Branch Records".  perf's words, and which branches they let pass: perf_event_open(2),
 * "branch_sample_type", and perf-record(1), -j.  How a driver reads the stack: Linux, arch/x86/events/intel/lbr.c.
 *
 * Where the hardware has no filter (P6, NetBurst, Core), or cannot tell jumps from calls (Nehalem), the driver
 * drops the branches that were not asked for; as with Linux, the stack then holds fewer than its depth.  A real
 * driver reads the code to find out what kind a branch is; this one takes the kind from the records.
 *
 * Left out: far branches, whose other end lies in the kernel; transactions, whose branches have no mark; hw_index.
 */
#include "session/driver/branch_stack.h"
#include <linux/perf_event.h>
#include <stdlib.h>
#include <string.h>

/* numbers as in IA32_LBR_x_INFO.BR_TYPE, except OTHER */
enum kind { JCC, IND_JMP, REL_JMP, IND_CALL, REL_CALL, NEAR_RET, OTHER, KINDS };
#define ALL ((1u << OTHER) - 1)
#define CALLS (1u << IND_CALL | 1u << REL_CALL)

/* to 0: FROM and TO share an MSR */
struct layout { uint8_t depth; uint16_t from, to, info, tos; bool flags_in_from, select, stack; };

static const struct layout layouts[] = {
	{ 1, MSR_P6_LASTBRANCHFROMIP, MSR_P6_LASTBRANCHTOIP, 0, 0, false, false, false },
	{ 4, MSR_P4_LASTBRANCH_0, 0, 0, MSR_P4_LASTBRANCH_TOS, false, false, false },	/* NetBurst, models 0 to 2 */
	{ 16, MSR_LBR_NHM_FROM, MSR_LBR_NHM_TO, 0, MSR_P4_LASTBRANCH_TOS, false, false, false },	/* from 3 on */
	{ 8, MSR_LBR_CORE_FROM, 0, 0, MSR_LASTBRANCH_TOS, false, false, false },		/* Yonah */
	{ 4, MSR_LBR_CORE_FROM, MSR_LBR_CORE_TO, 0, MSR_LASTBRANCH_TOS, false, false, false },	/* Core */
	{ 8, MSR_LBR_CORE_FROM, MSR_LBR_CORE_TO, 0, MSR_LASTBRANCH_TOS, false, false, false },	/* Bonnell */
	{ 16, MSR_LBR_NHM_FROM, MSR_LBR_NHM_TO, 0, MSR_LASTBRANCH_TOS, true, true, false },
	{ 16, MSR_LBR_NHM_FROM, MSR_LBR_NHM_TO, 0, MSR_LASTBRANCH_TOS, true, true, true },	/* Haswell */
	{ 32, MSR_LBR_NHM_FROM, MSR_LBR_NHM_TO, MSR_LBR_INFO_0, MSR_LASTBRANCH_TOS, false, true, true },
	{ 32, MSR_IA32_LBR_0_FROM_IP, MSR_IA32_LBR_0_TO_IP, MSR_IA32_LBR_0_INFO, 0, false, true, true },
};
enum { L_P6, L_NETBURST4, L_NETBURST16, L_YONAH, L_CORE, L_BONNELL, L_NEHALEM, L_HASWELL, L_SKYLAKE, L_ARCH };

struct lbr_known { uint64_t from; uint8_t kind; };	/* from 0: free */

struct lbr {
	const struct layout *layout;
	uint64_t type;
	unsigned wanted;	/* set of enum kind */
	bool soft;		/* the driver filters, or must find out what kind a branch is */
	uint64_t select;	/* value for LBR_SELECT or IA32_LBR_CTL */
};

static unsigned wanted_kinds(uint64_t type)
{
	unsigned set = 0;
	if (type & PERF_SAMPLE_BRANCH_ANY)
		set |= ALL;
	if (type & PERF_SAMPLE_BRANCH_ANY_CALL)
		set |= CALLS;
	if (type & PERF_SAMPLE_BRANCH_CALL_STACK)
		set |= CALLS | 1u << NEAR_RET;
	if (type & PERF_SAMPLE_BRANCH_ANY_RETURN)
		set |= 1u << NEAR_RET;
	if (type & PERF_SAMPLE_BRANCH_IND_CALL)
		set |= 1u << IND_CALL;
	if (type & PERF_SAMPLE_BRANCH_CALL)
		set |= 1u << REL_CALL;
	if (type & PERF_SAMPLE_BRANCH_COND)
		set |= 1u << JCC;
	if (type & PERF_SAMPLE_BRANCH_IND_JUMP)
		set |= 1u << IND_JMP;
	return set ? set : ALL;		/* `-j u` alone means any branch, as with perf */
}

static int layout_of(const struct spmu_model *m)
{
	static const int8_t by_format[] = { L_CORE, L_BONNELL, L_CORE, L_NEHALEM, L_HASWELL, L_SKYLAKE };
	unsigned format = spmu_model_capabilities(m) & 0x3f;
	struct spmu *trial = NULL;
	uint64_t v;
	const struct spmu_host host = { 0 };
	switch (spmu_model_family(m)) {
	case SPMU_FAMILY_P5:
		return -1;
	case SPMU_FAMILY_P6:
		return L_P6;
	/* a driver looks at CPUID's model; here, whether the registers exist says the same */
	case SPMU_FAMILY_NETBURST:
		if (spmu_create(&trial, m, &host) != SPMU_OK)
			return -1;
		bool later = spmu_rdmsr(trial, MSR_LBR_NHM_FROM, &v) == SPMU_OK;
		spmu_destroy(trial);
		return later ? L_NETBURST16 : L_NETBURST4;
	default:
		if (spmu_model_version(m) < 2)
			return L_YONAH;
		return format < sizeof by_format ? by_format[format] : format == 0x3f ? L_ARCH : -1;
	}
}

/* A bit of LBR_SELECT suppresses branches, a bit of IA32_LBR_CTL lets them pass. */
static uint64_t select_value(const struct lbr *l, bool jumps_are_calls)
{
	static const uint8_t select_bit[OTHER] = {
		[JCC] = 2, [REL_CALL] = 3, [IND_CALL] = 4, [NEAR_RET] = 5, [IND_JMP] = 6, [REL_JMP] = 7
	};
	static const uint8_t control_bit[OTHER] = {
		[JCC] = 16, [REL_JMP] = 17, [IND_JMP] = 18, [REL_CALL] = 19, [IND_CALL] = 20, [NEAR_RET] = 21
	};
	bool arch = l->layout == &layouts[L_ARCH], stack = l->type & PERF_SAMPLE_BRANCH_CALL_STACK;
	unsigned wanted = l->wanted;
	uint64_t v;
	if (arch) {
		v = 1 | 1 << 2 | (stack ? 1 << 3 : 0);	/* LBREn, USR, CALL_STACK */
		for (unsigned k = 0; k < OTHER; k++)
			v |= wanted >> k & 1 ? UINT64_C(1) << control_bit[k] : 0;
		return v;
	}
	if (jumps_are_calls && wanted & (CALLS | 1u << NEAR_RET))
		wanted |= 1u << IND_JMP | 1u << REL_JMP;
	v = 1 | 1 << 8 | (stack ? 1 << 9 : 0);		/* CPL_EQ_0, FAR_BRANCH, EN_CALLSTACK */
	for (unsigned k = 0; k < OTHER; k++)
		v |= wanted >> k & 1 ? 0 : UINT64_C(1) << select_bit[k];
	return v;
}

int lbr_create(struct lbr **out, const struct spmu_model *m, const char *core, uint64_t type, struct err *err)
{
	int which = layout_of(m);
	if (which < 0)
		return err_set(err, ERR_UNSUPPORTED,
			"branch stacks cannot be recorded: the PMU of %s has no last branch records", core);
	if (type & (PERF_SAMPLE_BRANCH_KERNEL | PERF_SAMPLE_BRANCH_HV))
		return err_set(err, ERR_UNSUPPORTED,
			"branch stacks hold user mode only, because the tracer sees no kernel code; leave out 'k'");
	if (type & PERF_SAMPLE_BRANCH_CALL_STACK && !layouts[which].stack)
		return err_set(err, ERR_UNSUPPORTED,
			"branch stacks: the last branch records of %s have no call-stack mode (Haswell and later "
			"do)", core);
	struct lbr *l = calloc(1, sizeof *l);
	if (!l)
		return err_set(err, ERR_NOMEM, "out of memory");
	/* FW_WRITE: from Sandy Bridge on */
	bool nehalem = which == L_NEHALEM && !(spmu_model_capabilities(m) >> 13 & 1);
	l->layout = &layouts[which];
	l->type = type;
	l->wanted = wanted_kinds(type);
	l->select = l->layout->select ? select_value(l, nehalem) : 0;
	l->soft = !l->layout->select || nehalem || type & PERF_SAMPLE_BRANCH_TYPE_SAVE;
	*out = l;
	return 0;
}

void lbr_destroy(struct lbr *l)
{
	free(l);
}

int lbr_setup(const struct lbr *l, struct driver_writes *out, struct err *err)
{
	if (l->layout == &layouts[L_ARCH])
		return driver_write(out, err, "IA32_LBR_CTL", MSR_IA32_LBR_CTL, l->select,
			"switches last branch records on: which kinds, user mode");
	int rc = l->layout->select
		? driver_write(out, err, "MSR_LBR_SELECT", MSR_LBR_SELECT, l->select,
			"kinds of branches that are not recorded")
		: 0;
	return rc ? rc
		: driver_write(out, err, "IA32_DEBUGCTL", MSR_IA32_DEBUGCTL, 1, "switches last branch records on");
}

void lbr_clear(const struct lbr *l, struct spmu *p)
{
	const struct layout *y = l->layout;
	if (y == &layouts[L_ARCH]) {
		spmu_wrmsr(p, MSR_IA32_LBR_DEPTH, y->depth);	/* clears all entries */
		return;
	}
	for (unsigned i = 0; i < y->depth; i++) {
		spmu_wrmsr(p, y->from + i, 0);
		if (y->to)
			spmu_wrmsr(p, y->to + i, 0);
		if (y->info)
			spmu_wrmsr(p, y->info + i, 0);
	}
}

/* ---- kinds -------------------------------------------------------------------------------------------------- */

static enum kind kind_of(uint64_t is)
{
	bool indirect = is & SPMU_IS(INDIRECT);
	if (is & SPMU_IS(FAR))
		return OTHER;
	if (is & SPMU_IS(COND))
		return JCC;
	if (is & SPMU_IS(RET))
		return NEAR_RET;
	if (is & SPMU_IS(CALL))
		return indirect ? IND_CALL : REL_CALL;
	return indirect ? IND_JMP : REL_JMP;
}

static struct lbr_known *place(struct lbr_known *known, size_t room, uint64_t from)
{
	size_t at = (size_t)(from * UINT64_C(0x9e3779b97f4a7c15) >> 32) & (room - 1);
	while (known[at].from && known[at].from != from)
		at = (at + 1) & (room - 1);
	return &known[at];
}

static bool grow(struct lbr_kinds *k)
{
	size_t room = k->room ? 2 * k->room : 1024;
	struct lbr_known *grown = calloc(room, sizeof *grown);
	if (!grown)
		return false;
	for (size_t n = 0; n < k->room; n++)
		if (k->known[n].from)
			*place(grown, room, k->known[n].from) = k->known[n];
	free(k->known);
	k->known = grown;
	k->room = room;
	return true;
}

/* If memory runs out, branches stay unknown and are left out of stacks. */
void lbr_batch(const struct lbr *l, struct lbr_kinds *k, const struct spmu_batch *b)
{
	for (uint32_t i = 0; l->soft && i < b->count; i++) {
		const struct spmu_record *r = &b->records[i];
		if (r->kind != SPMU_REC_UOP || !(r->is & SPMU_IS(BRANCH)) || !(r->did & SPMU_DID(TAKEN)) ||
			!(r->did & SPMU_DID(RETIRED)))
			continue;
		if (2 * k->used >= k->room && !grow(k))
			return;
		uint64_t from = SPMU_BRANCH_IP(r);
		struct lbr_known *known = place(k->known, k->room, from);
		k->used += !known->from;
		/* another branch's entry, or the code there has been replaced */
		*known = (struct lbr_known){ from, (uint8_t)kind_of(r->is) };
	}
}

void lbr_kinds_release(struct lbr_kinds *k)
{
	free(k->known);
	*k = (struct lbr_kinds){ 0 };
}

/* ---- reading ------------------------------------------------------------------------------------------------ */

static uint64_t flags_of(const struct lbr *l, uint64_t from, uint64_t info, unsigned kind)
{
	static const uint8_t branch_type[KINDS] = {
		[JCC] = PERF_BR_COND, [IND_JMP] = PERF_BR_IND, [REL_JMP] = PERF_BR_UNCOND,
		[IND_CALL] = PERF_BR_IND_CALL, [REL_CALL] = PERF_BR_CALL, [NEAR_RET] = PERF_BR_RET,
		[OTHER] = PERF_BR_UNKNOWN
	};
	struct perf_branch_entry e;
	uint64_t flags;
	memset(&e, 0, sizeof e);
	if ((l->layout->info || l->layout->flags_in_from) && !(l->type & PERF_SAMPLE_BRANCH_NO_FLAGS)) {
		e.mispred = (l->layout->info ? info : from) >> 63;
		e.predicted = !e.mispred;
	}
	if (l->layout->info && !(l->type & PERF_SAMPLE_BRANCH_NO_CYCLES))
		e.cycles = info & 0xffff;
	if (l->type & PERF_SAMPLE_BRANCH_TYPE_SAVE)
		e.type = branch_type[kind];
	memcpy(&flags, (const uint8_t *)&e + 16, sizeof flags);
	return flags;
}

unsigned lbr_read(const struct lbr *l, const struct spmu *p, struct precise_branch out[PRECISE_BRANCHES_MAX])
{
	const struct layout *y = l->layout;
	uint64_t tos = 0;
	unsigned n = 0;
	if (y->tos && spmu_rdmsr(p, y->tos, &tos) != SPMU_OK)
		return 0;
	for (unsigned k = 0; k < y->depth; k++) {
		unsigned at = y == &layouts[L_ARCH] ? k : (unsigned)(tos + y->depth - k) % y->depth;
		struct precise_branch e = { 0 };
		if (spmu_rdmsr(p, y->from + at, &e.from) != SPMU_OK)
			break;
		if (!y->to) {
			e.to = e.from >> 32;
			e.from = (uint32_t)e.from;
		} else if (spmu_rdmsr(p, y->to + at, &e.to) != SPMU_OK) {
			break;
		}
		if (y->info && spmu_rdmsr(p, y->info + at, &e.info) != SPMU_OK)
			break;
		if (e.from)	/* else not filled yet */
			out[n++] = e;
	}
	return n;
}

unsigned lbr_entries(const struct lbr *l, const struct lbr_kinds *k, const struct precise_branch *raw, unsigned n,
	struct session_branch *out)
{
	unsigned entries = 0;
	for (unsigned i = 0; i < n; i++) {
		/* a sign-extended address of 48 bits; flags in 63:61 */
		uint64_t from = l->layout->flags_in_from ? (uint64_t)((int64_t)(raw[i].from << 3) >> 3) : raw[i].from;
		unsigned kind = OTHER;
		if (l->soft) {
			const struct lbr_known *found = k->room ? place(k->known, k->room, from) : NULL;
			kind = found && found->from ? found->kind : OTHER;
			if (kind == OTHER || !(l->wanted >> kind & 1))
				continue;
		}
		out[entries++] =
			(struct session_branch){ from, raw[i].to, flags_of(l, raw[i].from, raw[i].info, kind) };
	}
	return entries;
}

/* ---- perf's words ------------------------------------------------------------------------------------------- */

int session_parse_branches(const char *list, uint64_t *type, struct err *err)
{
	static const struct { const char *name; uint64_t bit; const char *why;
	} word[] = {
		{ "any", PERF_SAMPLE_BRANCH_ANY, NULL },
		{ "any_call", PERF_SAMPLE_BRANCH_ANY_CALL, NULL },
		{ "any_ret", PERF_SAMPLE_BRANCH_ANY_RETURN, NULL },
		{ "ind_call", PERF_SAMPLE_BRANCH_IND_CALL, NULL },
		{ "ind_jmp", PERF_SAMPLE_BRANCH_IND_JUMP, NULL },
		{ "call", PERF_SAMPLE_BRANCH_CALL, NULL },
		{ "cond", PERF_SAMPLE_BRANCH_COND, NULL },
		{ "u", PERF_SAMPLE_BRANCH_USER, NULL },
		{ "stack", PERF_SAMPLE_BRANCH_CALL_STACK, NULL },
		{ "save_type", PERF_SAMPLE_BRANCH_TYPE_SAVE, NULL },
		{ "no_flags", PERF_SAMPLE_BRANCH_NO_FLAGS, NULL },
		{ "no_cycles", PERF_SAMPLE_BRANCH_NO_CYCLES, NULL },
		{ "no_tx", PERF_SAMPLE_BRANCH_NO_TX, NULL },
		{ "k", 0, "the tracer sees user mode only" },
		{ "hv", 0, "the tracer sees user mode only" },
		{ "in_tx", 0, "the model does not know which branches a transaction holds" },
		{ "abort_tx", 0, "the model does not know which branches abort a transaction" },
		{ "hw_index", 0, "the model does not keep the position of an entry in the hardware's stack" },
		{ "priv", 0, "every recorded branch is in user mode" },
	};
	*type = 0;
	for (;;) {
		size_t n = strcspn(list, ","), i = 0;
		while (i < sizeof word / sizeof *word && (strlen(word[i].name) != n || strncmp(word[i].name, list, n)))
			i++;
		if (i == sizeof word / sizeof *word)
			return err_set(err, ERR_INPUT,
				"unknown branch filter '%.*s'; give any, any_call, any_ret, ind_call, ind_jmp, call, "
				"cond, stack, u, save_type, no_flags, no_cycles or no_tx",
				(int)n, list);
		if (word[i].why)
			return err_set(err, ERR_UNSUPPORTED,
				"branch filter '%s' is not available: %s", word[i].name, word[i].why);
		*type |= word[i].bit;
		if (!list[n])
			break;
		list += n + 1;
	}
	if (!(*type &
		    ~(uint64_t)(PERF_SAMPLE_BRANCH_USER | PERF_SAMPLE_BRANCH_TYPE_SAVE | PERF_SAMPLE_BRANCH_NO_FLAGS |
			    PERF_SAMPLE_BRANCH_NO_CYCLES | PERF_SAMPLE_BRANCH_NO_TX)))
		*type |= PERF_SAMPLE_BRANCH_ANY;
	return 0;
}
