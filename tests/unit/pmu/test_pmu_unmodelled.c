/* SPDX-License-Identifier: GPL-2.0-or-later
 * Registers that select an event which the model cannot produce: every such row of every table, written into the
 * registers as a driver would, is named with its reason; and no row that is modelled is.
 */
#include <dirent.h>
#include "netburst_fixture.h"
#include "pmu/pmu_lacks.h"
#include "softpmu/uncore.h"

static int no_memory(void *context, uint64_t address, void *to, size_t bytes)
{
	(void)context, (void)address;
	memset(to, 0, bytes);
	return -1;
}

static int no_memory_write(void *context, uint64_t address, const void *from, size_t bytes)
{
	(void)context, (void)address, (void)from, (void)bytes;
	return -1;
}

/* A new PMU with the event on counter n, or on its fixed counter.  NULL: the registers do not take it. */
static struct spmu *programmed(const struct spmu_model *m, const struct spmu_event *e, unsigned n)
{
	const struct spmu_host host = { .read_memory = no_memory, .write_memory = no_memory_write };
	struct spmu *p = NULL;
	int outcome = SPMU_OK;
	assert_int_equal(spmu_create(&p, m, &host), SPMU_OK);
	switch (spmu_model_family(m)) {
	case SPMU_FAMILY_P5:
		outcome = spmu_wrmsr(p, MSR_P5_CESR, SPMU_CESR_ES(n, e->event) | SPMU_CESR_CC(n, SPMU_CC_CPL012 |
			SPMU_CC_CPL3));
		break;
	case SPMU_FAMILY_P6:
		outcome = spmu_wrmsr(p, MSR_P6_PERFEVTSEL0 + n, fixture_evtsel(e) & ~(n ? SPMU_EVTSEL_EN : 0));
		if (n)
			outcome = outcome ? outcome : spmu_wrmsr(p, MSR_P6_PERFEVTSEL0, SPMU_EVTSEL_EN);
		break;
	case SPMU_FAMILY_NETBURST:
		outcome = spmu_wrmsr(p, spmu_netburst_escr(m, n, e->escr_select), nb_escr(e, T0));
		outcome = outcome ? outcome : spmu_wrmsr(p, MSR_PEBS_ENABLE, e->replay_enable);
		outcome = outcome ? outcome : spmu_wrmsr(p, MSR_PEBS_MATRIX_VERT, e->replay_matrix);
		outcome = outcome ? outcome : spmu_wrmsr(p, NB_CCCR(n), SPMU_CCCR_ENABLE | SPMU_CCCR_ACTIVE(3) |
			SPMU_CCCR_SELECT(e->escr_select));
		break;
	case SPMU_FAMILY_ARCH:
		if (spmu_model_version(m) >= 2)
			spmu_wrmsr(p, MSR_IA32_PERF_GLOBAL_CTRL, fixture_read(p, MSR_IA32_PERF_GLOBAL_CTRL) |
				((UINT64_C(1) << m->fixed) - 1) << 32);
		if (e->flags & SPMU_EVENT_FIXED_ONLY) {
			outcome = spmu_wrmsr(p, MSR_IA32_FIXED_CTR_CTRL, UINT64_C(3) << 4 * e->fixed);
			break;
		}
		if (e->extra_msr)	/* (a register that this PMU lacks is a reason, too) */
			spmu_wrmsr(p, e->extra_msr, e->extra);
		outcome = spmu_wrmsr(p, MSR_IA32_PERFEVTSEL0 + n, fixture_evtsel(e) | (e->any ? SPMU_EVTSEL_ANY : 0));
		break;
	}
	if (outcome == SPMU_OK)
		return p;
	spmu_destroy(p);
	return NULL;
}

static bool counted_by_another_row(const struct spmu_model *m, const struct spmu_event *e)
{
	for (size_t i = 0; i < m->rows; i++) {
		const struct spmu_event *o = &m->row[i].public;
		if (m->row[i].expr.terms && o->event == e->event && o->umask == e->umask && o->cmask == e->cmask &&
			o->inv == e->inv && o->edge == e->edge && (o->any == e->any || !o->any) &&
			(!o->extra_msr || (o->extra_msr == e->extra_msr && o->extra == e->extra)))
			return true;
	}
	return false;
}

static void check_table(const char *name, unsigned *named, unsigned *silent)
{
	struct spmu_model *m = fixture_model(name);
	const bool netburst = spmu_model_family(m) == SPMU_FAMILY_NETBURST;
	pmu_model_lacks(m, PMU_LACKS_L3, "no third-level cache");	/* what this refuses is named, too */
	for (size_t i = 0; i < spmu_model_events(m); i++) {
		const struct spmu_event *e = spmu_model_event(m, i);
		unsigned n = e->pmc_mask ? (unsigned)__builtin_ctz(e->pmc_mask) : 0;
		struct spmu *p = programmed(m, e, n);
		if (!p)
			continue;
		struct spmu_unmodelled list[8];
		size_t found = spmu_unmodelled(p, list, 8);
		if (e->flags & SPMU_EVENT_NOT_MODELLED) {
			if (!found && (netburst || !counted_by_another_row(m, e)))
				fail_msg("%s %s: not modelled, and nobody says so", name, e->name);
			for (size_t k = 0; k < found; k++)
				assert_true(list[k].reason[0] && list[k].counter_msr);
			++*(found ? named : silent);
		} else if (found) {
			fail_msg("%s %s is modelled, but: %s %s", name, e->name, list[0].event, list[0].reason);
		}
		if (spmu_model_family(m) == SPMU_FAMILY_ARCH && found && !(e->flags & SPMU_EVENT_FIXED_ONLY) &&
			spmu_model_version(m) >= 2) {	/* a counter that stands still is not reported */
			spmu_wrmsr(p, MSR_IA32_PERF_GLOBAL_CTRL, 0);
			assert_int_equal(spmu_unmodelled(p, NULL, 0), 0);
		}
		spmu_destroy(p);
	}
	spmu_model_free(m);
}

static void test_every_row_that_is_not_modelled_is_named(void **state)
{
	(void)state;
	char path[512];
	unsigned named = 0, silent = 0, tables = 0;
	snprintf(path, sizeof path, "%s/events", data_dir());
	DIR *d = opendir(path);
	assert_non_null(d);
	for (struct dirent *f; (f = readdir(d));) {
		size_t n = strlen(f->d_name);
		char name[64];
		if (n < 5 || n > sizeof name || strcmp(f->d_name + n - 4, ".tsv") || !strncmp(f->d_name, "uncore-", 7))
			continue;
		snprintf(name, sizeof name, "%.*s", (int)(n - 4), f->d_name);
		check_table(name, &named, &silent);
		tables++;
	}
	closedir(d);
	print_message("%u tables: %u rows named, %u counted under another name\n", tables, named, silent);
	assert_true(tables >= 14 && named > 100);
}

static void test_a_code_that_no_table_has_is_named(void **state)
{
	(void)state;
	struct spmu_model *m = fixture_model("skylake");
	struct spmu *p = fixture_pmu(m, NULL);
	struct spmu_unmodelled one = { 0 };
	spmu_wrmsr(p, MSR_IA32_PERFEVTSEL0 + 2, 0x43fffe);
	assert_int_equal(spmu_unmodelled(p, &one, 1), 1);
	assert_int_equal(one.counter_msr, MSR_IA32_PMC0 + 2);
	assert_int_equal(one.select, 0x43fffe);
	assert_string_equal(one.event, "");
	spmu_wrmsr(p, MSR_IA32_PERFEVTSEL0 + 2, 0x4300fe & ~(uint64_t)SPMU_EVTSEL_EN);
	assert_int_equal(spmu_unmodelled(p, &one, 1), 0);
	spmu_destroy(p);
	spmu_model_free(m);
}

/* Writes an event into the control register of counter n of a unit's first box. */
static int uncore_program(struct spmu_uncore *u, const struct spmu_uncore_model *m, const struct spmu_uncore_event *e,
	unsigned n)
{
	const uint64_t control = SPMU_UNC_SELECT(e->event, e->umask, e->cmask) | SPMU_UNC_EN;
	const bool server = spmu_uncore_server(m);
	switch (spmu_uncore_unit(m, e->unit)->boxes) {
	case SPMU_BOX_CHANNEL:
		return spmu_uncore_mmio_write(u, 0, MMIO_UNC_IMC_0_CTL0 + 4 * n, 4, control);
	case SPMU_BOX_PACKAGE:
		return spmu_uncore_wrmsr(u, MSR_UNC_ARB_PERFEVTSEL0 + n, control);
	default:
		return spmu_uncore_wrmsr(u, (server ? MSR_UNC_CHA_0_CTL0 : MSR_UNC_CBO_0_PERFEVTSEL0) + n, control);
	}
}

static void test_every_uncore_row_that_is_not_modelled_is_named(void **state)
{
	(void)state;
	static const char *const names[] = { "ivy-bridge", "skylake", "golden-cove" };
	unsigned named = 0;
	for (unsigned k = 0; k < 3; k++) {
		char path[512], text[300];
		struct spmu_uncore_model *m = NULL;
		const struct spmu_uncore_host host = { .slices = 2, .channels = 2, .core_hz = 3000000000 };
		snprintf(path, sizeof path, "%s/events/uncore-%s.tsv", data_dir(), names[k]);
		assert_int_equal(spmu_uncore_load(&m, path, text, sizeof text), SPMU_OK);
		for (size_t i = 0; i < spmu_uncore_events(m); i++) {
			const struct spmu_uncore_event *e = spmu_uncore_event(m, i);
			struct spmu_uncore *u = NULL;
			struct spmu_uncore_unmodelled list[64];
			assert_int_equal(spmu_uncore_create(&u, m, &host), SPMU_OK);
			spmu_uncore_wrmsr(u, MSR_UNC_PERF_GLOBAL_CTRL, SPMU_UNC_GLOBAL_EN);
			spmu_uncore_wrmsr(u, MSR_UNC_PERF_GLOBAL_CTRL_SKL, SPMU_UNC_GLOBAL_EN);
			const size_t before = spmu_uncore_unmodelled(u, list, 64);	/* free-running ones */
			const unsigned n = (unsigned)__builtin_ctz(e->counters);
			bool free = !spmu_uncore_unit(m, e->unit)->programmable, is = false;
			if (!free)
				assert_int_equal(uncore_program(u, m, e, n), SPMU_OK);
			const size_t after = spmu_uncore_unmodelled(u, list, 64);
			assert_true(after <= 64);
			assert_int_equal(after - before, e->not_modelled[0] && !free);
			for (size_t j = 0; j < after; j++)
				is |= !strcmp(list[j].reason, e->not_modelled) && list[j].event[0];
			if (is != !!e->not_modelled[0])
				fail_msg("%s %s", names[k], e->name);
			named += is;
			spmu_uncore_destroy(u);
		}
		spmu_uncore_free(m);
	}
	assert_true(named > 10);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_every_row_that_is_not_modelled_is_named),
		cmocka_unit_test(test_a_code_that_no_table_has_is_named),
		cmocka_unit_test(test_every_uncore_row_that_is_not_modelled_is_named),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
