/* SPDX-License-Identifier: GPL-2.0-or-later
 * NetBurst's event tables against libpfm4 (whose encoding is an ESCR, then a CCCR), and against the wiring.
 */
#include "pmu_fixture.h"
#include "pmu/families/netburst_pmu.h"
#include <perfmon/pfmlib.h>

/* Encodes a name by libpfm4, which writes ':' for the first '.'. */
static bool encode(const char *pmu, const char *name, uint32_t *escr, uint32_t *cccr)
{
	char text[256], *dot;
	uint64_t codes[8] = { 0 }, *list = codes;
	int count = 8;
	snprintf(text, sizeof text, "%s::%s", pmu, name);
	dot = strchr(text, '.');
	if (dot)
		*dot = ':';
	if (pfm_get_event_encoding(text, PFM_PLM3, NULL, NULL, &list, &count) != PFM_SUCCESS || count < 2)
		return false;
	*escr = (uint32_t)codes[0];
	*cccr = (uint32_t)codes[1];
	return true;
}

static bool in(const char *const *list, const char *name)
{
	for (; *list; list++)
		if (!strcmp(*list, name))
			return true;
	return false;
}

/* Names that libpfm4 does not have: metrics of the manual's tagging tables, an event that it spells otherwise
 * (mispred_branch_retired), events that it leaves out. */
static const char *const lacking[] = { "memory_loads", "memory_stores", "packed_SP_retired", "packed_DP_retired",
	"scalar_SP_retired",
	"scalar_DP_retired", "X87_FP_retired", "x87_SIMD_moves_uop.ALLP0", "x87_SIMD_moves_uop.ALLP2",
	"uop_type.TAGLOADS", "uop_type.TAGSTORES", "uop_type.TAGLOADS:TAGSTORES",
	"mispred_branch_retired.NBOGUS", NULL };
/* Names that libpfm4 4.13 encodes otherwise: it gives BIT5 and BIT6 of b2b_cycles the code of BIT4, and its virtual
 * masks of replay_event leave the ESCR's mask empty. */
static const char *const different[] = { "b2b_cycles.BIT5", "b2b_cycles.BIT6", "replay_event.L1_LD_MISS",
	"replay_event.L2_LD_MISS",
	"replay_event.DTLB_LD_MISS", "replay_event.DTLB_ST_MISS", "replay_event.DTLB_ALL_MISS", "replay_event.BR_MSP",
	"replay_event.MOB_LD_REPLAY",
	"replay_event.SP_LD_RET", "replay_event.SP_ST_RET", NULL };

static void check(const char *table, const char *pmu)
{
	struct spmu_model *m = fixture_model(table);
	unsigned known = 0, modelled = 0, refused = 0;
	for (size_t i = 0; i < spmu_model_events(m); i++) {
		const struct spmu_event *e = spmu_model_event(m, i);
		uint32_t escr, cccr;
		modelled += !(e->flags & SPMU_EVENT_NOT_MODELLED);
		refused += !!(e->flags & SPMU_EVENT_NOT_MODELLED);
		if (encode(pmu, e->name, &escr, &cccr) == in(lacking, e->name))
			fail_msg("%s: libpfm4 (%s) %s it", e->name, pmu, in(lacking, e->name) ? "knows"
				: "does not know");
		if (in(lacking, e->name))
			continue;
		known++;
		bool differs = e->event != (escr >> 25 & 63) || e->escr_select != (cccr >> 13 & 7) ||
			e->umask != (escr >> 9 & 0xffff);
		if (differs != in(different, e->name))
			fail_msg("%s: event %x select %u mask %x, libpfm4 %x %x", e->name, e->event, e->escr_select,
				e->umask, escr, cccr);
	}
	print_message("%s: %u modelled, %u refused, %u known to libpfm4\n", table, modelled, refused, known);
	assert_true(modelled >= 165);
	assert_true(refused <= 40);
	spmu_model_free(m);
}

static void test_encodings_are_those_of_libpfm4(void **state)
{
	(void)state;
	check("netburst", "netburst");
	check("netburst-prescott", "netburst_p");
}

/* Every mask bit that libpfm4 lists is a row, except TAG0 to TAG3, which are the ESCR's tag fields. */
static void test_every_mask_bit_of_libpfm4_is_a_row(void **state)
{
	static const char *const tables[] = { "netburst", "netburst-prescott" };
	(void)state;
	for (unsigned t = 0; t < 2; t++) {
		struct spmu_model *m = fixture_model(tables[t]);
		pfm_pmu_info_t pmu = { .size = sizeof pmu };
		assert_int_equal(pfm_get_pmu_info(t ? PFM_PMU_INTEL_NETBURST_P : PFM_PMU_INTEL_NETBURST, &pmu),
			PFM_SUCCESS);
		unsigned events = 0;
		for (int i = pmu.first_event; i != -1; i = pfm_get_event_next(i)) {
			pfm_event_info_t e = { .size = sizeof e };
			assert_int_equal(pfm_get_event_info(i, PFM_OS_NONE, &e), PFM_SUCCESS);
			events++;
			for (int k = 0; k < e.nattrs; k++) {
				pfm_event_attr_info_t a = { .size = sizeof a };
				char name[200];
				assert_int_equal(pfm_get_event_attr_info(i, k, PFM_OS_NONE, &a), PFM_SUCCESS);
				if (a.type != PFM_ATTR_UMASK || (!strncmp(a.name, "TAG", 3) && strlen(a.name) == 4))
					continue;
				snprintf(name, sizeof name, "%s.%s", e.name, a.name);
				if (!spmu_model_find(m, name))
					fail_msg("%s has no %s", tables[t], name);
			}
		}
		assert_true(events >= 45);
		spmu_model_free(m);
	}
}

/* All documented events, by (ESCR, event select). */
static void test_there_are_46_events(void **state)
{
	(void)state;
	for (unsigned t = 0; t < 2; t++) {
		struct spmu_model *m = fixture_model(t ? "netburst-prescott" : "netburst");
		unsigned n = 0;
		for (size_t i = 0; i < m->rows; i++) {
			bool seen = false;
			for (size_t k = 0; k < i; k++)
				seen |= m->row[k].public.event == m->row[i].public.event &&
					m->row[k].public.escr[0] == m->row[i].public.escr[0] &&
					m->row[k].public.escr_select == m->row[i].public.escr_select;
			n += !seen;
		}
		assert_int_equal(n, t ? 47 : 46); /* with x87_SIMD_moves_uop; instr_completed only from model 3 on */
		spmu_model_free(m);
	}
}

/* Events that the manual prints with a select that is not that of their ESCRs. */
static const char *const odd[] = { "b2b_cycles", "bnr", "snoop", "response", NULL };

static void test_rows_agree_with_the_wiring(void **state)
{
	(void)state;
	for (unsigned t = 0; t < 2; t++) {
		struct spmu_model *m = fixture_model(t ? "netburst-prescott" : "netburst");
		for (size_t i = 0; i < m->rows; i++) {
			const struct spmu_event *e = &m->row[i].public;
			uint32_t set = 0;
			char unit[64];
			snprintf(unit, sizeof unit, "%.*s", (int)strcspn(e->name, "."), e->name);
			for (unsigned k = 0; k < 2; k++)
				if (e->escr[k]) {
					int escr = netburst_escr(m, e->escr[k]);
					assert_true(escr >= 0);
					set |= netburst_counters((unsigned)escr);
				}
			if (set != e->pmc_mask)
				fail_msg("%s: counters %x, wiring %x", e->name, e->pmc_mask, set);
			for (unsigned pmc = 0; pmc < 18; pmc++) {
				if (!(e->pmc_mask >> pmc & 1) || in(odd, unit))
					continue;
				uint32_t msr = spmu_netburst_escr(m, pmc, e->escr_select);
				if (!msr || (msr != e->escr[0] && msr != e->escr[1]))
					fail_msg("%s: counter %u sees %x", e->name, pmc, msr);
			}
		}
		spmu_model_free(m);
	}
}

/* There are 45 ESCRs (43 from model 3 on); the counters of Table 18-63 see each under its number. */
static void test_the_wiring_is_that_of_table_18_63(void **state)
{
	static const struct { uint16_t escr; uint8_t select; const char *counters; } table[] = {
		{ 0x3a0, 7, "0 1" }, { 0x3a1, 7, "2 3" }, { 0x3a2, 6, "0 1" }, { 0x3a3, 6, "2 3" }, { 0x3aa, 2, "0 1" },
		{ 0x3ab, 2, "2 3" },
		{ 0x3ac, 4, "0 1" }, { 0x3ad, 4, "2 3" }, { 0x3b2, 0, "0 1" }, { 0x3b3, 0, "2 3" }, { 0x3b4, 1, "0 1" },
		{ 0x3b5, 1, "2 3" },
		{ 0x3b6, 3, "0 1" }, { 0x3b7, 3, "2 3" }, { 0x3c8, 5, "0 1" }, { 0x3c9, 5, "2 3" },
		{ 0x3c0, 0, "4 5" }, { 0x3c1, 0, "6 7" }, { 0x3c4, 1, "4 5" }, { 0x3c5, 1, "6 7" }, { 0x3c2, 2, "4 5" },
		{ 0x3c3, 2, "6 7" },
		{ 0x3a6, 0, "8 9" }, { 0x3a7, 0, "10 11" }, { 0x3a4, 1, "8 9" }, { 0x3a5, 1, "10 11" },
		{ 0x3ae, 2, "8 9" }, { 0x3af, 2, "10 11" },
		{ 0x3b0, 3, "8 9" }, { 0x3b1, 3, "10 11" }, { 0x3a8, 5, "8 9" }, { 0x3a9, 5, "10 11" },
		{ 0x3ba, 0, "12 13 16" }, { 0x3bb, 0, "14 15 17" }, { 0x3ca, 1, "12 13 16" }, { 0x3cb, 1, "14 15 17" },
		{ 0x3bc, 2, "12 13 16" },
		{ 0x3bd, 2, "14 15 17" }, { 0x3be, 3, "12 13 16" }, { 0x3b8, 4, "12 13 16" }, { 0x3b9, 4, "14 15 17" },
		{ 0x3cc, 5, "12 13 16" },
		{ 0x3cd, 5, "14 15 17" }, { 0x3e0, 6, "12 13 16" }, { 0x3e1, 6, "14 15 17" },
	};
	(void)state;
	assert_int_equal(sizeof table / sizeof *table, 45);
	for (unsigned t = 0; t < 2; t++) {
		struct spmu_model *m = fixture_model(t ? "netburst-prescott" : "netburst");
		struct spmu *p = NULL;
		assert_int_equal(spmu_create(&p, m, NULL), SPMU_OK);
		unsigned seen = 0, exist = 0;
		for (unsigned i = 0; i < 45; i++) {
			uint64_t v;
			bool gone = t && (table[i].escr == 0x3ba || table[i].escr == 0x3bb);
			assert_int_equal(spmu_rdmsr(p, table[i].escr, &v), gone ? SPMU_ENOMSR : SPMU_OK);
			exist += !gone;
			for (char *c = (char *)table[i].counters; *c;) {
				unsigned pmc = (unsigned)strtoul(c, &c, 10);
				assert_int_equal(spmu_netburst_escr(m, pmc, table[i].select), gone ? 0 : table[i].escr);
				seen += !gone;
			}
		}
		assert_int_equal(exist, t ? 43 : 45);
		unsigned all = 0;
		for (unsigned pmc = 0; pmc < 24; pmc++)
			for (unsigned select = 0; select < 9; select++)
				all += spmu_netburst_escr(m, pmc, select) != 0;
		assert_int_equal(all, seen);
		spmu_destroy(p);
		spmu_model_free(m);
	}
}

/* The sum over all mask bits of an event fits into an expression, so an ESCR can select any set of them. */
static void test_every_mask_fits_an_expression(void **state)
{
	(void)state;
	for (unsigned t = 0; t < 2; t++) {
		struct spmu_model *m = fixture_model(t ? "netburst-prescott" : "netburst");
		for (size_t i = 0; i < m->rows; i++) {
			unsigned terms = 0;
			for (size_t k = 0; k < m->rows; k++)
				if (m->row[k].public.event == m->row[i].public.event &&
					m->row[k].public.escr[0] == m->row[i].public.escr[0] &&
				    __builtin_popcount(m->row[k].public.umask) == 1 && !*m->row[k].public.upstream &&
				    !m->row[k].public.replay_enable &&
				    !(m->row[k].public.flags & SPMU_EVENT_DEPRECATED))
					terms += m->row[k].expr.terms;
			assert_true(terms <= PMU_MAX_TERMS);
		}
		spmu_model_free(m);
	}
}

static void test_upstream_events_exist(void **state)
{
	(void)state;
	struct spmu_model *m = fixture_model("netburst");
	unsigned n = 0;
	for (size_t i = 0; i < m->rows; i++) {
		const struct spmu_event *e = &m->row[i].public;
		if (!*e->upstream)
			continue;
		const struct spmu_event *u = spmu_model_find(m, e->upstream);
		assert_non_null(u);
		assert_true(!(u->flags & SPMU_EVENT_NOT_MODELLED));
		n++;
	}
	assert_int_equal(n, 12);
	spmu_model_free(m);
}

/* instructions and branches excepted: they mean what they mean on the other PMUs. */
static void test_perfs_generic_events_are_those_of_linux(void **state)
{
	static const struct { const char *alias, *name; } table[] = {
		{ "cycles", "global_power_events.RUNNING" }, { "instructions", "instr_retired.NBOGUSNTAG:NBOGUSTAG" },
		{ "branches", "branch_retired.MMNP:MMNM:MMTP:MMTM" }, { "branch-misses",
		"mispred_branch_retired.NBOGUS" },
		{ "bus-cycles", "FSB_data_activity.DRDY_DRV:DRDY_OWN" }, { "L1-dcache-load-misses",
		"replay_event.L1_LD_MISS" },
		{ "LLC-load-misses", "replay_event.L2_LD_MISS" }, { "dTLB-load-misses", "replay_event.DTLB_LD_MISS" },
		{ "dTLB-store-misses", "replay_event.DTLB_ST_MISS" }, { "iTLB-loads", "ITLB_reference.HIT" },
		{ "iTLB-load-misses", "ITLB_reference.MISS" },
	};
	(void)state;
	struct spmu_model *m = fixture_model("netburst");
	for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
		const struct spmu_event *e = spmu_model_find(m, table[i].alias);
		assert_non_null(e);
		assert_string_equal(e->name, table[i].name);
		assert_ptr_equal(spmu_model_find(m, table[i].name), e);
	}
	assert_int_equal(spmu_model_find(m, "cache-references")->umask, 0x3f);
	assert_int_equal(spmu_model_find(m, "cache-misses")->umask, 0x700);
	spmu_model_free(m);
}

/* r0102 could be any of four events: ESCRs of different units have the same event selects. */
static void test_a_perfevtsel_code_finds_nothing(void **state)
{
	(void)state;
	struct spmu_model *m = fixture_model("netburst");
	for (unsigned code = 0; code < 0x10000; code++)
		assert_null(spmu_model_find_code(m, code));
	spmu_model_free(m);
}

static int pfm_on(void **state)
{
	(void)state;
	setenv("LIBPFM_ENCODE_INACTIVE", "1", 1);
	return pfm_initialize() != PFM_SUCCESS;
}

static int pfm_off(void **state)
{
	(void)state;
	pfm_terminate();
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_encodings_are_those_of_libpfm4),
		cmocka_unit_test(test_every_mask_bit_of_libpfm4_is_a_row),
		cmocka_unit_test(test_there_are_46_events),
		cmocka_unit_test(test_rows_agree_with_the_wiring),
		cmocka_unit_test(test_the_wiring_is_that_of_table_18_63),
		cmocka_unit_test(test_every_mask_fits_an_expression),
		cmocka_unit_test(test_upstream_events_exist),
		cmocka_unit_test(test_perfs_generic_events_are_those_of_linux),
		cmocka_unit_test(test_a_perfevtsel_code_finds_nothing),
	};
	return cmocka_run_group_tests(tests, pfm_on, pfm_off);
}
