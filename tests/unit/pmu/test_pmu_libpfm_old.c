/* SPDX-License-Identifier: GPL-2.0-or-later
 * The event tables of the older machines. Core 2 and the 45 nm Atom are compared with libpfm4's `core` and `atom` both
 * ways: a name that libpfm4 knows has its encoding, and every event and unit mask of libpfm4 is a row. Left out:
 * combinations of several states of a line (M and E, ...), which libpfm4 composes and the tables do not list. Core
 * Duo, P6 and the Pentium, which libpfm4 does not support on 64-bit hosts, are compared with the manual's tables (SDM
 * vol. 3B, chapter 19).
 */
#include "pmu_fixture.h"
#include <perfmon/pfmlib.h>

#define CODE_MASK (0xffff | SPMU_EVTSEL_CMASK(255) | SPMU_EVTSEL_INV | SPMU_EVTSEL_EDGE | SPMU_EVTSEL_ANY)

/* Names from Intel's manuals and lists that libpfm4 4.13 does not have; '*' stands for any characters. */
static const char *const lacking[] = {
	"core2 INST_RETIRED.ANY", "core2 CPU_CLK_UNHALTED.CORE", "core2 CPU_CLK_UNHALTED.REF",
	"core2 BR_INST_RETIRED.MISPRED",
	"core2 L1D_CACHE_LOCK_DURATION", "core2 INST_RETIRED.VM_H", "core2 RAT_STALLS.OTHER_SERIALIZATION_STALLS",
	"bonnell INST_RETIRED.ANY", "bonnell CPU_CLK_UNHALTED.CORE", "bonnell CPU_CLK_UNHALTED.REF",
	"bonnell BR_INST_TYPE_RETIRED.*", "bonnell BR_MISSP_TYPE_RETIRED.*", "bonnell UOPS.MS_CYCLES",
	"bonnell MACRO_INSTS.CISC_DECODED", "bonnell ICACHE.HIT", "bonnell CYCLES_ICACHE_MEM_STALLED.*",
	"bonnell L1D_CACHE.ALL_REF", "bonnell L1D_CACHE.ALL_CACHE_REF", "bonnell L1D_CACHE.REPL",
	"bonnell L1D_CACHE.EVICT",
	"bonnell L1D_CACHE.REPLM", "bonnell STORE_FORWARDS.ANY", "bonnell PREFETCH.SOFTWARE_PREFETCH",
	"bonnell PREFETCH.SOFTWARE_PREFETCH.AR", "bonnell PREFETCH.PREFETCHT1", "bonnell PREFETCH.PREFETCHT2",
	"bonnell PREFETCH.HW_PREFETCH", "bonnell DATA_TLB_MISSES.L0_DTLB_MISS_ST", "bonnell PAGE_WALKS.D_SIDE_*",
	"bonnell PAGE_WALKS.I_SIDE_*", "bonnell L2_DATA_RQSTS.*", "bonnell L2_LD_IFETCH.*",
	"bonnell L2_DBUS_BUSY_RD.SELF",
	"bonnell REISSUE.*", "bonnell MISALIGN_MEM_REF.*", "bonnell DISPATCH_BLOCKED.ANY",
	"bonnell X87_COMP_OPS_EXE.FXCH.*",
	"bonnell ITLB.HIT", "bonnell DECODE_STALL.*", "bonnell RESOURCE_STALLS.DIV_BUSY",
	"bonnell EXT_SNOOP.THIS_AGENT.*",
	"bonnell EXT_SNOOP.ALL_AGENTS.*",
	/* libpfm4's `atom` has no mask for "prefetches excluded", and gives these bus events the prefetch field
	 * instead of the agent field */
	"bonnell L2_LD.SELF.DEMAND.*", "bonnell L2_LD.BOTH_CORES.DEMAND.*", "bonnell L2_RQSTS.SELF.DEMAND.*",
	"bonnell L2_RQSTS.BOTH_CORES.DEMAND.*", "bonnell L2_REJECT_BUSQ.SELF.DEMAND.*",
	"bonnell L2_REJECT_BUSQ.BOTH_CORES.DEMAND.*",
	"bonnell L2_LINES_IN.SELF.DEMAND", "bonnell L2_LINES_IN.BOTH_CORES.DEMAND", "bonnell L2_LINES_OUT.SELF.DEMAND",
	"bonnell L2_LINES_OUT.BOTH_CORES.DEMAND", "bonnell L2_M_LINES_OUT.SELF.DEMAND",
	"bonnell L2_M_LINES_OUT.BOTH_CORES.DEMAND",
	"bonnell BUS_TRANS_RFO.*AGENT*", "bonnell BUS_TRANS_WB.*AGENT*", "bonnell BUS_TRANS_BURST.*AGENT*",
	"bonnell BUS_TRANS_MEM.*AGENT*",
	"bonnell BUS_TRANS_ANY.*AGENT*", "bonnell BUS_TRANS_INVAL.*AGENT*", "bonnell BUS_TRANS_PWR.*AGENT*",
	"bonnell BUS_TRANS_IO.*AGENT*",
	"bonnell BUS_TRANS_DEF.*AGENT*", "bonnell SNOOP_STALL_DRV.*AGENT*",
};

/* libpfm4's table has the edge bit in this mask (attribute code 403H);
 * its encoder takes the mask for CYCLES and loses it. */

/* '*' stands for any characters. */
static bool matches(const char *pattern, const char *s)
{
	if (*pattern != '*')
		return *pattern == *s && (!*s || matches(pattern + 1, s + 1));
	return matches(pattern + 1, s) || (*s && matches(pattern, s + 1));
}

static bool is_listed(const char *const *list, size_t n, const char *table, const char *name)
{
	char both[200];
	snprintf(both, sizeof both, "%s %s", table, name);
	for (size_t i = 0; i < n; i++)
		if (matches(list[i], both))
			return true;
	return false;
}

static bool encode_text(const char *text, uint64_t *evtsel)
{
	uint64_t codes[4] = { 0 }, *list = codes;
	int count = 4;
	if (pfm_get_event_encoding(text, PFM_PLM3, NULL, NULL, &list, &count) != PFM_SUCCESS)
		return false;
	*evtsel = codes[0] & CODE_MASK;
	return true;
}

/* Encodes a row's name by libpfm4, which writes EXCL_PREFETCH for DEMAND and joins .S and .AR to their mask by '_'. */
static bool encode(const char *pmu, const char *name, uint64_t *evtsel)
{
	static const char demand[] = ".DEMAND", excluded[] = ":EXCL_PREFETCH";
	char text[256], *end = text + snprintf(text, sizeof text, "%s::", pmu), *mask = NULL;
	for (const char *s = name; *s && end < text + sizeof text - sizeof excluded;) {
		if (!strncmp(s, demand, sizeof demand - 1)) {
			end = stpcpy(end, excluded);
			s += sizeof demand - 1;
			continue;
		}
		if (*s == '.' && !mask)
			mask = end;
		*end++ = *s == '.' ? ':' : *s;
		s++;
	}
	*end = 0;
	if (encode_text(text, evtsel))
		return true;
	for (char *c = mask ? mask + 1 : end; *c; c++)
		if (*c == ':')
			*c = '_';
	return encode_text(text, evtsel);
}

static uint64_t code_of(const struct spmu_event *e)
{
	return (uint64_t)(e->event | e->umask << 8) | SPMU_EVTSEL_CMASK(e->cmask) | (e->inv ? SPMU_EVTSEL_INV : 0) |
		(e->edge ? SPMU_EVTSEL_EDGE : 0) | (e->any ? SPMU_EVTSEL_ANY : 0);
}

static void start_libpfm(void)
{
	setenv("LIBPFM_ENCODE_INACTIVE", "1", 1);
	assert_int_equal(pfm_initialize(), PFM_SUCCESS);
}

static void names_have_the_encoding(const char *table, const char *pmu, unsigned least)
{
	struct spmu_model *m = fixture_model(table);
	unsigned known = 0;
	for (size_t i = 0; i < spmu_model_events(m); i++) {
		const struct spmu_event *e = spmu_model_event(m, i);
		uint64_t want;
		bool knows = encode(pmu, e->name, &want);
		if (knows == is_listed(lacking, sizeof lacking / sizeof *lacking, table, e->name))
			fail_msg("libpfm4 (%s) %s %s, the list says otherwise", pmu, knows ? "knows" : "does not know",
				e->name);
		if (knows && code_of(e) != want)
			fail_msg("%s %s: %llx, libpfm4 %llx", table, e->name, (unsigned long long)code_of(e),
				(unsigned long long)want);
		known += knows;
	}
	assert_true(known >= least);
	spmu_model_free(m);
}

static void test_a_name_libpfm4_knows_has_its_encoding(void **state)
{
	(void)state;
	start_libpfm();
	names_have_the_encoding("core2", "core", 420);
	names_have_the_encoding("bonnell", "atom", 220);
	pfm_terminate();
}

static unsigned has_row(const struct spmu_model *m, const char *table, const char *text)
{
	uint64_t code;
	if (!encode_text(text, &code))	/* an event that has no mask by default */
		return 0;
	const struct spmu_event *e = spmu_model_find_code(m, code);
	if (!e || code_of(e) != code)
		fail_msg("%s has no row for %s (%llx)", table, text, (unsigned long long)code);
	return 1;
}

/* Checks that every name which libpfm4 can encode has a row; returns how many there are. */
static unsigned all_have_rows(const char *table, const char *pmu)
{
	struct spmu_model *m = fixture_model(table);
	unsigned rows = 0;
	int i;
	pfm_for_all_pmus(i) {
		pfm_pmu_info_t p = { .size = sizeof p };
		if (pfm_get_pmu_info(i, &p) != PFM_SUCCESS || strcmp(p.name, pmu))
			continue;
		for (int j = p.first_event; j != -1; j = pfm_get_event_next(j)) {
			pfm_event_info_t e = { .size = sizeof e };
			char text[256];
			assert_int_equal(pfm_get_event_info(j, PFM_OS_NONE, &e), PFM_SUCCESS);
			snprintf(text, sizeof text, "%s::%s", pmu, e.name);
			rows += has_row(m, table, text);
			for (int k = 0; k < e.nattrs; k++) {
				pfm_event_attr_info_t a = { .size = sizeof a };
				assert_int_equal(pfm_get_event_attr_info(j, k, PFM_OS_NONE, &a), PFM_SUCCESS);
				if (a.type != PFM_ATTR_UMASK)
					continue;
				snprintf(text, sizeof text, "%s::%s:%s", pmu, e.name, a.name);
				rows += has_row(m, table, text);
			}
		}
	}
	spmu_model_free(m);
	return rows;
}

static void test_every_event_and_unit_mask_of_libpfm4_is_a_row(void **state)
{
	(void)state;
	start_libpfm();
	/* libpfm4 has 133 events and 285 masks; 16 events have no default mask, so they have no code alone */
	assert_int_equal(all_have_rows("core2", "core"), 402);
	assert_int_equal(all_have_rows("bonnell", "atom"), 289);	/* of 81 events and 224 masks */
	pfm_terminate();
}

/* Linux: core2_hw_cache_event_ids, atom_hw_cache_event_ids, intel_perfmon_event_map. */
static void test_perfs_generic_names_have_linux_codes(void **state)
{
	static const struct { const char *name; unsigned core2, bonnell; } want[] = {
		{ "cycles", 0x003c, 0x003c }, { "instructions", 0x00c0, 0x00c0 }, { "cache-references", 0x4f2e,
		0x4f2e },
		{ "cache-misses", 0x412e, 0x412e }, { "branches", 0x00c4, 0x00c4 }, { "branch-misses", 0x00c5, 0x00c5 },
		{ "bus-cycles", 0x013c, 0x013c }, { "ref-cycles", 0x0300, 0x0300 },
		{ "L1-dcache-loads", 0x0f40, 0x2140 }, { "L1-dcache-load-misses", 0x0140, 0x0840 /* our choice */ },
		{ "L1-dcache-stores", 0x0f41, 0x2240 },
		{ "L1-dcache-store-misses", 0x0141, 0 }, { "L1-dcache-prefetches", 0x104e, 0 },
		{ "L1-icache-loads", 0x0080, 0x0380 }, { "L1-icache-load-misses", 0x0081, 0x0280 },
		{ "LLC-loads", 0x4f29, 0x4f29 }, { "LLC-load-misses", 0x4129, 0x4129 }, { "LLC-stores", 0x4f2a,
		0x4f2a },
		{ "LLC-store-misses", 0x412a, 0x412a }, { "dTLB-loads", 0x0f40, 0x2140 }, { "dTLB-load-misses", 0x0208,
		0x0508 },
		{ "dTLB-stores", 0x0f41, 0x2240 }, { "dTLB-store-misses", 0x0808, 0x0608 },
		{ "iTLB-loads", 0x00c0, 0x00c0 }, { "iTLB-load-misses", 0x1282, 0x0282 },
		{ "branch-loads", 0x00c4, 0x00c4 }, { "branch-load-misses", 0x00c5, 0x00c5 },
	};
	(void)state;
	struct spmu_model *m[2] = { fixture_model("core2"), fixture_model("bonnell") };
	for (size_t i = 0; i < sizeof want / sizeof *want; i++)
		for (unsigned k = 0; k < 2; k++) {
			unsigned code = k ? want[i].bonnell : want[i].core2;
			const struct spmu_event *e = spmu_model_find(m[k], want[i].name);
			if (!e != !code || (e && (unsigned)(e->event | e->umask << 8) != code))
				fail_msg("%s on %s", want[i].name, k ? "bonnell" : "core2");
		}
	spmu_model_free(m[0]);
	spmu_model_free(m[1]);
}

/* Linux: intel_core2_pebs_event_constraints, intel_atom_pebs_event_constraints. */
static bool in_pebs_constraints(unsigned table, const struct spmu_event *e)
{
	static const unsigned both[] = { 0x00c0, 0x00c5 }, core2[] = { 0xfec1, 0x1fc7 };
	unsigned code = (unsigned)(e->event | e->umask << 8);
	return e->event == 0xcb || code == both[0] || code == both[1] || (!table && (code == core2[0] ||
		code == core2[1]));
}

static void test_precise_events_are_those_linux_takes_for_pebs(void **state)
{
	static const char *const tables[] = { "core2", "bonnell", "yonah", "p6", "p5" };
	(void)state;
	for (unsigned t = 0; t < sizeof tables / sizeof *tables; t++) {
		struct spmu_model *m = fixture_model(tables[t]);
		for (size_t i = 0; i < spmu_model_events(m); i++) {
			const struct spmu_event *e = spmu_model_event(m, i);
			if (!(e->flags & SPMU_EVENT_PRECISE) != !(t < 2 && in_pebs_constraints(t, e)))
				fail_msg("%s %s", tables[t], e->name);
		}
		spmu_model_free(m);
	}
}

static void test_p6_has_linux_codes_for_perfs_generic_names(void **state)
{
	/* p6_perfmon_event_map, p6_hw_cache_event_ids */
	static const struct { const char *name; unsigned code; } want[] = {
		{ "cycles", 0x0079 }, { "instructions", 0x00c0 }, { "cache-references", 0x0f2e }, { "cache-misses",
		0x012e }, { "branches", 0x00c4 },
		{ "branch-misses", 0x00c5 }, { "bus-cycles", 0x0062 }, { "stalled-cycles-frontend", 0x00a2 },
		{ "L1-dcache-loads", 0x0043 },
		{ "L1-dcache-load-misses", 0x0045 }, { "L1-dcache-store-misses", 0x0f29 }, { "L1-icache-loads",
		0x0080 },
		{ "L1-icache-load-misses", 0x0f28 }, { "LLC-store-misses", 0x0025 }, { "dTLB-loads", 0x0043 },
		{ "iTLB-loads", 0x0080 },
		{ "iTLB-load-misses", 0x0085 }, { "branch-loads", 0x00c4 }, { "branch-load-misses", 0x00c5 },
	};
	(void)state;
	struct spmu_model *m = fixture_model("p6");
	for (size_t i = 0; i < sizeof want / sizeof *want; i++) {
		const struct spmu_event *e = fixture_event(m, want[i].name);
		assert_int_equal(e->event | e->umask << 8, want[i].code);
	}
	spmu_model_free(m);
}

/* One command line works on every one of these machines. */
static void test_the_generic_set_counts_on_every_table(void **state)
{
	static const char *const tables[] = { "core2", "bonnell", "yonah", "p6", "p5" };
	static const char *const names[] = { "cycles", "instructions", "branches", "branch-misses", "cache-references",
		"cache-misses",
		"L1-dcache-loads", "L1-dcache-load-misses", "L1-icache-load-misses", "LLC-loads", "LLC-load-misses",
		"LLC-stores",
		"iTLB-load-misses", "stalled-cycles-backend" };
	(void)state;
	for (size_t t = 0; t < sizeof tables / sizeof *tables; t++) {
		struct spmu_model *m = fixture_model(tables[t]);
		for (size_t i = 0; i < sizeof names / sizeof *names; i++)
			if (fixture_event(m, names[i])->flags & SPMU_EVENT_NOT_MODELLED)
				fail_msg("%s does not count %s", tables[t], names[i]);
		spmu_model_free(m);
	}
}

/* Event selects, unit masks and counters are those of the manual's tables and of Linux' constraints. */
static void test_events_have_the_manuals_codes_and_counters(void **state)
{
	static const struct { const char *table, *name; unsigned code, counters; } want[] = {
		{ "core2", "FP_COMP_OPS_EXE", 0x0010, 1 }, { "core2", "FP_ASSIST", 0x0011, 2 }, { "core2", "MUL",
		0x0012, 2 }, { "core2", "DIV", 0x0013, 2 },
		{ "core2", "CYCLES_DIV_BUSY", 0x0014, 1 }, { "core2", "IDLE_DURING_DIV", 0x0018, 1 },
		{ "core2", "DELAYED_BYPASS.FP", 0x0019, 2 },
		{ "core2", "RS_UOPS_DISPATCHED_CYCLES.PORT_0", 0x01a1, 1 }, { "core2", "ITLB_MISS_RETIRED", 0x00c9, 1 },
		{ "core2", "MEM_LOAD_RETIRED.L1D_MISS", 0x01cb, 1 }, { "core2", "RS_UOPS_DISPATCHED", 0x00a0, 3 },
		{ "core2", "INST_RETIRED.ANY_P", 0x00c0, 3 },
		{ "yonah", "FP_Assist", 0x0011, 2 }, { "yonah", "Mul", 0x0012, 2 }, { "yonah", "Div", 0x0013, 2 },
		{ "yonah", "Cycles_Div_Busy", 0x0014, 1 },
		{ "yonah", "FP_Comp_Instr_Ret", 0x00c1, 1 }, { "yonah", "L2_Lines_In.SELF.ANY", 0x7024, 3 },
		{ "yonah", "L2_Rqsts.SELF.DEMAND.I_STATE", 0x412e, 3 },
		{ "yonah", "DCache_Repl", 0x0f45, 3 }, { "yonah", "Data_Mem_Ref", 0x0143, 3 },
		{ "yonah", "Data_Mem_Cache_Ref", 0x0244, 3 },
		{ "yonah", "SSE_PrefT2_Miss", 0x024b, 3 }, { "yonah", "Bus_Data_Rcv", 0x4064, 3 },
		{ "yonah", "Bus_Trans_WB.THIS_AGENT", 0xc067, 3 },
		{ "yonah", "Bus_Trans_Def.SELF", 0x606d, 3 }, { "yonah", "DCU_Snoop_To_Share.SELF", 0x4178, 3 },
		{ "yonah", "SIMD_Int_Pari_Exec", 0x20b3, 3 },
		{ "yonah", "SIMD_FP_DP_S_Comp_Ret", 0x03d9, 3 }, { "yonah", "SIMD_Int_128_Ret", 0x04d8, 3 },
		{ "yonah", "Br_MisPred_Taken_Ret", 0x00ca, 3 },
		{ "p6", "FLOPS", 0x00c1, 1 }, { "p6", "FP_COMP_OPS_EXE", 0x0010, 1 }, { "p6", "FP_ASSIST", 0x0011, 2 },
		{ "p6", "MUL", 0x0012, 2 },
		{ "p6", "DIV", 0x0013, 2 }, { "p6", "CYCLES_DIV_BUSY", 0x0014, 1 }, { "p6", "L2_LD.M", 0x0829, 3 },
		{ "p6", "L2_LD.E", 0x0429, 3 },
		{ "p6", "L2_LD.S", 0x0229, 3 }, { "p6", "L2_LD.I", 0x0129, 3 }, { "p6", "L2_LD.MES", 0x0e29, 3 },
		{ "p6", "L2_ST.MESI", 0x0f2a, 3 },
		{ "p6", "BUS_TRAN_MEM.SELF", 0x006f, 3 }, { "p6", "BUS_TRAN_MEM.ANY", 0x206f, 3 },
		{ "p6", "BUS_SNOOP_STALL", 0x007e, 3 },
		{ "p6", "EMON_KNI_PREF_MISS.T2", 0x024b, 3 }, { "p6", "SEG_REG_RENAMES.GS", 0x08d5, 3 },
		{ "p6", "MMX_INSTR_TYPE_EXEC.ARITH", 0x20b3, 3 },
		{ "p5", "DATA_READ", 0x00, 3 }, { "p5", "DATA_WRITE", 0x01, 3 }, { "p5", "DATA_READ_OR_WRITE", 0x28,
		3 }, { "p5", "PIPELINE_FLUSHES", 0x15, 3 },
		{ "p5", "INSTRUCTIONS_EXECUTED", 0x16, 3 }, { "p5", "INSTRUCTIONS_EXECUTED_V_PIPE", 0x17, 3 },
		{ "p5", "FLOPS", 0x22, 3 },
		{ "p5", "BREAKPOINT_MATCH_ON_DR3_REGISTER", 0x26, 3 }, { "p5", "EMMS_INSTRUCTIONS_EXECUTED", 0x2d, 1 },
		{ "p5", "TRANSITIONS_BETWEEN_MMX_AND_FP_INSTRUCTIONS", 0x2d, 2 },
		{ "p5", "NUMBER_OF_CYCLES_NOT_IN_HALT_STATE", 0x30, 1 },
		{ "p5", "DATA_CACHE_TLB_MISS_STALL_DURATION", 0x30, 2 }, { "p5", "FLOATING_POINT_STALLS_DURATION", 0x32,
		1 }, { "p5", "TAKEN_BRANCHES", 0x32, 2 },
		{ "p5", "MISPREDICTED_OR_UNPREDICTED_RETURNS", 0x37, 1 }, { "p5", "PREDICTED_RETURNS", 0x37, 2 },
		{ "p5", "RETURNS", 0x39, 1 },
		{ "p5", "STALL_ON_MMX_INSTRUCTION_WRITE_TO_E_OR_M_STATE_LINE", 0x3b, 2 },
	};
	(void)state;
	struct spmu_model *m = NULL;
	for (size_t i = 0; i < sizeof want / sizeof *want; i++) {
		if (!i || strcmp(want[i].table, want[i - 1].table)) {
			spmu_model_free(m);
			m = fixture_model(want[i].table);
		}
		const struct spmu_event *e = fixture_event(m, want[i].name);
		if ((unsigned)(e->event | e->umask << 8) != want[i].code || e->pmc_mask != want[i].counters)
			fail_msg("%s %s: %02x/%02x on %x", want[i].table, e->name, e->event, e->umask, e->pmc_mask);
	}
	spmu_model_free(m);
}

/* From 2AH on, each event select of the Pentium has one event for each counter; only 39H has none for counter 1. */
static void test_pentium_selects_have_one_event_a_counter(void **state)
{
	(void)state;
	struct spmu_model *m = fixture_model("p5");
	unsigned seen[64] = { 0 };
	for (size_t i = 0; i < spmu_model_events(m); i++) {
		const struct spmu_event *e = spmu_model_event(m, i);
		assert_int_equal(e->umask, 0);
		assert_int_equal(seen[e->event] & e->pmc_mask, 0);
		seen[e->event] |= e->pmc_mask;
	}
	for (unsigned s = 0; s < 64; s++)
		assert_int_equal(seen[s], s == 0x10 || s == 0x11 || s == 0x20 || s == 0x21 || s > 0x3b ? 0 : s == 0x39
			? 1 : 3);
	spmu_model_free(m);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_a_name_libpfm4_knows_has_its_encoding),
		cmocka_unit_test(test_every_event_and_unit_mask_of_libpfm4_is_a_row),
		cmocka_unit_test(test_perfs_generic_names_have_linux_codes),
		cmocka_unit_test(test_precise_events_are_those_linux_takes_for_pebs),
		cmocka_unit_test(test_p6_has_linux_codes_for_perfs_generic_names),
		cmocka_unit_test(test_the_generic_set_counts_on_every_table),
		cmocka_unit_test(test_events_have_the_manuals_codes_and_counters),
		cmocka_unit_test(test_pentium_selects_have_one_event_a_counter),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
