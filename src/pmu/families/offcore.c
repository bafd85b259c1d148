/* SPDX-License-Identifier: BSD-2-Clause
 * MSR_OFFCORE_RSP_0 and _1: which requests beyond L2 OFFCORE_RESPONSE_0 and _1 (OCR) count.
 *
 * A value has three groups of bits: what the core asked for, who answered (supplier), and what other cores had
 * (snoop).  A request counts if one bit of each group fits it; with bit 16 (ANY) only the first group matters.  A
 * group without a bit fits nothing.  Nehalem has one group for both kinds of answers, and no ANY.
 *
 * Source: SDM vol. 3B, chapter "Performance Monitoring", sections "Off-core Response Performance Monitoring" of each
 * generation with the tables "MSR_OFFCORE_RSP_x Request_Type", "Response Supplier Info" and "Snoop Info Field
 * Definition".  Bits of the parts that the manual leaves out (Skylake's prefetches, Golden Cove): Intel's event lists,
 * by their values of offcore_rsp.  Bits that raise #GP: all that Linux does not let a user set
 * (arch/x86/events/intel/core.c, intel_*_extra_regs).
 *
 * Here a machine has one socket, DRAM and no other memory, no L4.  Bits that nothing can set here are `never`: beside
 * others they add nothing, as on such a machine; alone they are refused.
 * The records do not tell L3's clean states (E, S, F) apart: these bits are refused unless E and S are set.
 *
 * GUESS: an answer of memory fits both SNOOP_NONE and SNOOP_NOT_NEEDED: Linux's node-loads takes the one, Intel's
 * lists of Haswell and Sapphire Rapids the other; counting both on one machine settles it.
 * GUESS: OTHER is what the layout has no bit for: flushes, bus locks and writes past the caches.  From Skylake on the
 * prefetches of L1D do not count as demand reads, whether a bit names them or not.  OTHER beside a loop of each kind,
 * on the machine, settles both.
 * Not modelled: hardware threads of a core share these registers on the machine; here each has its own.
 */
#include "../pmu_internal.h"
#include <string.h>

#define A(name) SPMU_ATTR(name)
#define DEMAND (A(REQUEST_DATA_RD) | A(REQUEST_WALK))
#define L1D_PREFETCH (A(REQUEST_PF_L1D) | A(REQUEST_PF_SOFTWARE))
#define REQUESTS \
	(DEMAND | L1D_PREFETCH | A(REQUEST_RFO) | A(REQUEST_CODE_RD) | A(REQUEST_PF_L2) | A(REQUEST_WRITE_BACK) | \
		A(REQUEST_VICTIM) | A(REQUEST_STREAMING) | A(REQUEST_LOCK) | A(REQUEST_FLUSH))
#define WITHOUT_DATA (A(REQUEST_WRITE_BACK) | A(REQUEST_VICTIM) | A(REQUEST_LOCK) | A(REQUEST_FLUSH))
#define SUPPLIERS (A(SUPPLIED_MODIFIED) | A(SUPPLIED_CLEAN) | A(SUPPLIED_MEMORY) | A(SUPPLIED_NOTHING))
#define SNOOPS \
	(A(SNOOPED_NOBODY) | A(SNOOPED_CLEAN) | A(SNOOPED_FORWARD) | A(SNOOPED_MODIFIED) | A(SNOOPED_AT_MISS) | \
		A(SNOOPED_AT_WRITE) | A(SNOOPED_IN_VAIN))

static const char pf_rfo[] = "the model's prefetchers ask for data, not for ownership",
	pf_code[] = "code prefetches of L2 are not told apart from its others",
	pf_l3[] = "the model's prefetchers bring lines into L2, none into L3 alone",
	socket[] = "the modelled machine has one socket", l4[] = "the modelled machine has no L4",
	pmm[] = "the modelled machine has DRAM only", io[] = "user programs reach no memory but DRAM",
	spl[] = "this answer is not documented",
	snc[] = "the modelled socket is not divided into clusters",
	no_data[] = "nobody sends data for such a request: ask for no supplier (bit 17) or for any answer (bit 16)",
	data[] = "L3 or memory answers every such request",
	unknown[] = "this request type is not documented";

enum group { REQUEST, SUPPLIER, SNOOP };
struct offcore_bit {
	uint8_t first, last;
	uint8_t group;
	uint64_t attributes;	/* 0: never */
	const char *never;
};
struct pmu_offcore {
	const char *name;
	uint64_t valid;		/* other bits: #GP */
	uint8_t registers;
	bool any;		/* bit 16 */
	struct offcore_bit bit[32];
};

#define REQUEST_BIT(n, attributes) { n, n, REQUEST, attributes, NULL }
#define REQUEST_NEVER(first, last, why) { first, last, REQUEST, 0, why }
#define SUPPLIER_BIT(n, attributes) { n, n, SUPPLIER, attributes, NULL }
#define SUPPLIER_NEVER(first, last, why) { first, last, SUPPLIER, 0, why }
#define SNOOP_BIT(n, attributes) { n, n, SNOOP, attributes, NULL }
#define SNOOP_NEVER(n, why) { n, n, SNOOP, 0, why }

/* from Sandy Bridge on */
#define L3_STATES \
	SUPPLIER_BIT(17, A(SUPPLIED_NOTHING)), SUPPLIER_BIT(18, A(SUPPLIED_MODIFIED)), \
		{ 19, 21, SUPPLIER, A(SUPPLIED_CLEAN), NULL }
#define SNOOP_BITS \
	SNOOP_BIT(31, A(SNOOPED_AT_MISS) | A(SNOOPED_AT_WRITE)), \
		SNOOP_BIT(32, A(SNOOPED_NOBODY) | A(SNOOPED_AT_MISS)), \
		SNOOP_BIT(33, A(SNOOPED_IN_VAIN)), SNOOP_BIT(34, A(SNOOPED_CLEAN)), SNOOP_BIT(35, A(SNOOPED_FORWARD)), \
		SNOOP_BIT(36, A(SNOOPED_MODIFIED)), SNOOP_NEVER(37, io)
#define SANDY_BRIDGE_REQUESTS \
	REQUEST_BIT(0, DEMAND | L1D_PREFETCH), REQUEST_BIT(1, A(REQUEST_RFO)), REQUEST_BIT(2, A(REQUEST_CODE_RD)), \
		REQUEST_BIT(3, A(REQUEST_WRITE_BACK)), REQUEST_BIT(4, A(REQUEST_PF_L2)), REQUEST_NEVER(5, 5, pf_rfo), \
		REQUEST_NEVER(6, 6, pf_code), REQUEST_NEVER(7, 9, pf_l3), REQUEST_BIT(10, A(REQUEST_LOCK)), \
		REQUEST_BIT(11, A(REQUEST_STREAMING)), REQUEST_BIT(15, A(REQUEST_FLUSH) | A(REQUEST_VICTIM))

static const struct pmu_offcore layouts[] = {
	{ "nehalem", 0xffff, 1, false, {
		REQUEST_BIT(0, DEMAND | L1D_PREFETCH), REQUEST_BIT(1, A(REQUEST_RFO)),
		REQUEST_BIT(2, A(REQUEST_CODE_RD)),
		REQUEST_BIT(3, A(REQUEST_WRITE_BACK)), REQUEST_BIT(4, A(REQUEST_PF_L2)), REQUEST_NEVER(5, 5, pf_rfo),
		REQUEST_NEVER(6, 6, pf_code),
		REQUEST_BIT(7, A(REQUEST_STREAMING) | A(REQUEST_LOCK) | A(REQUEST_FLUSH) | A(REQUEST_VICTIM)),
		/* GUESS: a write is answered by L3, which takes it */
		SNOOP_BIT(8, A(SNOOPED_NOBODY) | A(SNOOPED_IN_VAIN) | A(SNOOPED_AT_WRITE)),
		SNOOP_BIT(9, A(SNOOPED_CLEAN) | A(SNOOPED_FORWARD)),
		SNOOP_BIT(10, A(SNOOPED_MODIFIED)), SNOOP_NEVER(11, socket), SNOOP_NEVER(12, socket),
		SNOOP_NEVER(13, socket), SNOOP_BIT(14, A(SNOOPED_AT_MISS)), SNOOP_NEVER(15, io) } },
	{ "sandy-bridge", UINT64_C(0x3f807f8fff), 2, true, {
		SANDY_BRIDGE_REQUESTS, L3_STATES, SUPPLIER_BIT(22, A(SUPPLIED_MEMORY)), SNOOP_BITS } },
	{ "haswell", UINT64_C(0x3fffff8fff), 2, true, {
		SANDY_BRIDGE_REQUESTS, L3_STATES, SUPPLIER_BIT(22, A(SUPPLIED_MEMORY)), SUPPLIER_NEVER(23, 29, socket),
		SUPPLIER_NEVER(30, 30, spl), SNOOP_BITS } },
	{ "broadwell", UINT64_C(0x3fffff8fff), 2, true, {
		SANDY_BRIDGE_REQUESTS, L3_STATES, SUPPLIER_NEVER(22, 25, l4), SUPPLIER_BIT(26, A(SUPPLIED_MEMORY)),
		SUPPLIER_NEVER(27, 29, socket), SUPPLIER_NEVER(30, 30, spl), SNOOP_BITS } },
	{ "skylake", UINT64_C(0x3fffff8fff), 2, true, {
		REQUEST_BIT(0, DEMAND), REQUEST_BIT(1, A(REQUEST_RFO)), REQUEST_BIT(2, A(REQUEST_CODE_RD)),
		REQUEST_NEVER(3, 3, unknown), REQUEST_BIT(4, A(REQUEST_PF_L2)), REQUEST_NEVER(5, 5, pf_rfo),
		REQUEST_NEVER(6, 6, unknown), REQUEST_NEVER(7, 8, pf_l3), REQUEST_NEVER(9, 9, unknown),
		REQUEST_BIT(10, L1D_PREFETCH), REQUEST_NEVER(11, 11, unknown),
		REQUEST_BIT(15, A(REQUEST_STREAMING) | A(REQUEST_LOCK) | A(REQUEST_FLUSH)), L3_STATES,
		SUPPLIER_NEVER(22, 25, l4), SUPPLIER_BIT(26, A(SUPPLIED_MEMORY)), SUPPLIER_NEVER(27, 29, socket),
		SUPPLIER_NEVER(30, 30, spl), SNOOP_BITS } },
	{ "ice-lake", UINT64_C(0x3fffffbfff), 2, true, {
		REQUEST_BIT(0, DEMAND), REQUEST_BIT(1, A(REQUEST_RFO)), REQUEST_BIT(2, A(REQUEST_CODE_RD)),
		REQUEST_BIT(3, A(REQUEST_WRITE_BACK)), REQUEST_BIT(4, A(REQUEST_PF_L2)), REQUEST_NEVER(5, 5, pf_rfo),
		REQUEST_NEVER(6, 6, pf_code), REQUEST_NEVER(7, 9, pf_l3), REQUEST_BIT(10, L1D_PREFETCH),
		REQUEST_BIT(11, A(REQUEST_STREAMING)), REQUEST_NEVER(12, 12, unknown), REQUEST_NEVER(13, 13, pf_l3),
		REQUEST_BIT(15, A(REQUEST_LOCK) | A(REQUEST_FLUSH)), L3_STATES, SUPPLIER_NEVER(22, 25, pmm),
		SUPPLIER_BIT(26, A(SUPPLIED_MEMORY)), SUPPLIER_NEVER(27, 29, socket), SUPPLIER_NEVER(30, 30, spl),
		SNOOP_BITS } },
	{ "golden-cove", UINT64_C(0x3fffffffff), 2, true, {
		REQUEST_BIT(0, DEMAND), REQUEST_BIT(1, A(REQUEST_RFO)), REQUEST_BIT(2, A(REQUEST_CODE_RD)),
		REQUEST_BIT(3, A(REQUEST_WRITE_BACK)), REQUEST_BIT(4, A(REQUEST_PF_L2)), REQUEST_NEVER(5, 5, pf_rfo),
		REQUEST_NEVER(6, 6, pf_code), REQUEST_NEVER(7, 9, pf_l3), REQUEST_BIT(10, A(REQUEST_PF_L1D)),
		REQUEST_BIT(11, A(REQUEST_STREAMING)), REQUEST_BIT(12, A(REQUEST_VICTIM)), REQUEST_NEVER(13, 13, pf_l3),
		REQUEST_BIT(14, A(REQUEST_PF_SOFTWARE)), REQUEST_BIT(15, A(REQUEST_LOCK) | A(REQUEST_FLUSH)), L3_STATES,
		SUPPLIER_NEVER(22, 25, pmm), SUPPLIER_BIT(26, A(SUPPLIED_MEMORY)), SUPPLIER_NEVER(27, 27, snc),
		SUPPLIER_NEVER(28, 29, socket), SUPPLIER_NEVER(30, 30, spl), SNOOP_BITS } },
};
#define ANY (UINT64_C(1) << 16)
#define CLEAN_STATES (UINT64_C(7) << 19)
#define CLEAN_KNOWN (UINT64_C(3) << 19)	/* E and S: not every machine has F */

const struct pmu_offcore *pmu_offcore_find(const char *name)
{
	for (size_t i = 0; i < sizeof layouts / sizeof *layouts; i++)
		if (!strcmp(layouts[i].name, name))
			return &layouts[i];
	return NULL;
}

unsigned pmu_offcore_registers(const struct pmu_offcore *o)
{
	return o ? o->registers : 0;
}

bool pmu_offcore_valid(const struct pmu_offcore *o, uint64_t value)
{
	return !(value & ~o->valid);
}

const char *pmu_offcore_name(const struct pmu_offcore *o)
{
	return o ? o->name : "";
}

/* What the value's bits of each group fit. */
struct asked {
	uint64_t attributes[3];
	uint64_t bits[3];	/* those set */
	const char *never[3];	/* of a set bit that nothing fits */
};

static struct asked asked_for(const struct pmu_offcore *o, uint64_t value)
{
	struct asked a = { 0 };
	for (size_t i = 0; i < sizeof o->bit / sizeof *o->bit && (o->bit[i].attributes || o->bit[i].never); i++) {
		const struct offcore_bit *b = &o->bit[i];
		const uint64_t set = value & ((UINT64_C(2) << b->last) - (UINT64_C(1) << b->first));
		if (!set)
			continue;
		a.bits[b->group] |= set;
		a.attributes[b->group] |= b->attributes;
		if (b->never)
			a.never[b->group] = b->never;
	}
	if (!o->any)		/* Nehalem: the snoops say who answered */
		a.attributes[SUPPLIER] = a.bits[SUPPLIER] = SUPPLIERS;
	if (o->any && value & ANY) {
		a.attributes[SUPPLIER] = a.bits[SUPPLIER] = SUPPLIERS;
		a.attributes[SNOOP] = a.bits[SNOOP] = SNOOPS;
	}
	return a;
}

bool pmu_offcore_in_vain(const struct pmu_offcore *o, uint64_t value)
{
	return asked_for(o, value).attributes[SNOOP] == A(SNOOPED_IN_VAIN);
}

bool pmu_offcore_source(const struct pmu_offcore *o, uint64_t value, struct pmu_source *out)
{
	const struct asked a = asked_for(o, value);
	memset(out, 0, sizeof *out);
	out->is_signal = 1;
	out->signal = SPMU_SIG_OFFCORE_REQUEST;
	out->form = FORM_VALUE;
	out->until = STAGE_NONE;
	out->is_mask = ((REQUESTS & ~a.attributes[REQUEST]) | (SUPPLIERS & ~a.attributes[SUPPLIER]) |
		(SNOOPS & ~a.attributes[SNOOP]));
	return a.attributes[REQUEST] && a.attributes[SUPPLIER] && a.attributes[SNOOP];
}

const char *pmu_offcore_problem(const struct pmu_offcore *o, uint64_t value, bool *nothing)
{
	static const char *const empty[] = { "it names no request (bits 15:0)", "it names no supplier (bits 30:16)",
		"it names no snoop response (bits 37:31)" };
	const struct asked a = asked_for(o, value);
	*nothing = false;
	if (!pmu_offcore_valid(o, value))
		return "it has reserved bits: WRMSR of it raises #GP";
	for (unsigned g = REQUEST; g <= SNOOP; g++)
		if (!a.bits[g]) {
			*nothing = true;
			return !o->any && g == SNOOP ? "it names no answer (bits 15:8)"
				: !o->any            ? "it names no request (bits 7:0)"
				: empty[g];
		}
	for (unsigned g = REQUEST; g <= SNOOP; g++)
		if (!a.attributes[g] || (a.never[g] == unknown))
			return a.never[g];
	if (!(a.attributes[REQUEST] & ~WITHOUT_DATA) && !(a.attributes[SUPPLIER] & A(SUPPLIED_NOTHING)))
		return no_data;
	if (!(a.attributes[REQUEST] & WITHOUT_DATA) && a.attributes[SUPPLIER] == A(SUPPLIED_NOTHING))
		return data;
	/* Of writes past the caches, L3's bit says only that L3 has the line. */
	if (o->any && !(value & ANY) && value & CLEAN_STATES && (value & CLEAN_KNOWN) != CLEAN_KNOWN &&
		a.attributes[REQUEST] != A(REQUEST_STREAMING))
		return "L3's clean states E, S and F are not told apart: ask for all of them (bits 21:19)";
	return NULL;
}
