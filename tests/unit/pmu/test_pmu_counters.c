/* SPDX-License-Identifier: GPL-2.0-or-later
 * Which counters can count an event: the column of every table beside the lists of Linux, and what the registers then
 * do on each counter of every row of every table.
 */
#include <dirent.h>
#include "netburst_fixture.h"

/* Source: Linux, arch/x86/events/intel/core.c (tables NAME_event_constraints) and ds.c (glc_pebs_event_constraints:
 * load latency): event select, unit mask (ANY: all of them), set of counters. */
enum { ANY = 0x100 };
static const struct { const char *table; uint16_t event, umask; uint32_t counters; } linux_has[] = {
	{ "core2", 0x10, ANY, 1 }, { "core2", 0x11, ANY, 2 }, { "core2", 0x12, ANY, 2 }, { "core2", 0x13, ANY, 2 },
	{ "core2", 0x14, ANY, 1 }, { "core2", 0x18, ANY, 1 }, { "core2", 0x19, ANY, 2 }, { "core2", 0xa1, ANY, 1 },
	{ "core2", 0xcb, ANY, 1 },
	{ "nehalem", 0x40, ANY, 3 }, { "nehalem", 0x41, ANY, 3 }, { "nehalem", 0x42, ANY, 3 },
	{ "nehalem", 0x43, ANY, 3 }, { "nehalem", 0x4e, ANY, 3 },
	{ "nehalem", 0x51, ANY, 3 }, { "nehalem", 0x63, ANY, 3 },
	{ "sandy-bridge", 0xa3, 0x02, 4 }, { "sandy-bridge", 0xa3, 0x06, 4 }, { "sandy-bridge", 0x48, 0x01, 4 },
	{ "sandy-bridge", 0xcd, ANY, 8 }, { "sandy-bridge", 0xd1, ANY, 15 }, { "sandy-bridge", 0xd0, ANY, 15 },
	{ "ivy-bridge", 0x48, 0x01, 4 }, { "ivy-bridge", 0xa3, 0x08, 4 }, { "ivy-bridge", 0xa3, 0x0c, 4 },
	{ "ivy-bridge", 0xd0, ANY, 15 }, { "ivy-bridge", 0xd1, ANY, 15 },
	{ "haswell", 0x48, 0x01, 4 }, { "haswell", 0xcd, 0x01, 8 }, { "haswell", 0xa3, 0x08, 4 },
	{ "haswell", 0xa3, 0x0c, 4 }, { "haswell", 0xd0, ANY, 15 }, { "haswell", 0xd1, ANY, 15 },
	{ "broadwell", 0x48, 0x01, 4 }, { "broadwell", 0xa3, 0x08, 4 }, { "broadwell", 0xd0, ANY, 15 },
	{ "broadwell", 0xd1, ANY, 15 }, { "broadwell", 0xd2, ANY, 15 }, { "broadwell", 0xcd, ANY, 15 },
	{ "skylake", 0xd0, ANY, 15 }, { "skylake", 0xd1, ANY, 15 }, { "skylake", 0xd2, ANY, 15 },
	{ "skylake", 0xcd, ANY, 15 }, { "skylake", 0xc6, ANY, 15 },
	{ "golden-cove", 0xcd, 0x01, 0xfe }, { "golden-cove", 0xcd, 0x02, 1 },
};

static void test_restricted_events_have_the_counters_that_linux_gives_them(void **state)
{
	(void)state;
	unsigned bad = 0, tried = 0;
	for (size_t k = 0; k < sizeof linux_has / sizeof *linux_has; k++) {
		struct spmu_model *m = fixture_model(linux_has[k].table);
		unsigned rows = 0;
		for (size_t i = 0; i < spmu_model_events(m); i++) {
			const struct spmu_event *e = spmu_model_event(m, i);
			if (e->event != linux_has[k].event || e->flags & SPMU_EVENT_FIXED_ONLY ||
				(linux_has[k].umask != ANY && e->umask != linux_has[k].umask))
				continue;
			rows++;
			if (e->pmc_mask == linux_has[k].counters)
				continue;
			print_error("%s %s: counters %x, Linux %x\n", linux_has[k].table, e->name, e->pmc_mask,
				linux_has[k].counters);
			bad++;
		}
		if (!rows)
			fail_msg("%s has no event %x", linux_has[k].table, linux_has[k].event);
		tried += rows;
		spmu_model_free(m);
	}
	assert_int_equal(bad, 0);
	assert_true(tried > 100);
}

static int no_memory(void *context, uint64_t address, void *to, size_t bytes)
{
	(void)context, (void)address, (void)to, (void)bytes;
	return -1;
}

static int no_memory_write(void *context, uint64_t address, const void *from, size_t bytes)
{
	(void)context, (void)address, (void)from, (void)bytes;
	return -1;
}

/* Is counter n set up to count the event, once its registers say so? */
static bool counts_on(const struct spmu_model *m, const struct spmu_event *e, unsigned n)
{
	const struct spmu_host host = { .read_memory = no_memory, .write_memory = no_memory_write };
	struct spmu *p = NULL;
	assert_int_equal(spmu_create(&p, m, &host), SPMU_OK);
	switch (spmu_model_family(m)) {
	case SPMU_FAMILY_P5:
		spmu_wrmsr(p, MSR_P5_CESR, SPMU_CESR_ES(n, e->event) | SPMU_CESR_CC(n, 3));
		break;
	case SPMU_FAMILY_P6:
		spmu_wrmsr(p, MSR_P6_PERFEVTSEL0 + n, fixture_evtsel(e) & ~(n ? SPMU_EVTSEL_EN : 0));
		break;
	case SPMU_FAMILY_NETBURST: {
		uint32_t escr = spmu_netburst_escr(m, n, e->escr_select);
		if (escr && (escr == e->escr[0] || escr == e->escr[1]))
			spmu_wrmsr(p, escr, nb_escr_named(m, e, T0));
		spmu_wrmsr(p, MSR_PEBS_ENABLE, e->replay_enable);
		spmu_wrmsr(p, MSR_PEBS_MATRIX_VERT, e->replay_matrix);
		spmu_wrmsr(p, NB_CCCR(n), SPMU_CCCR_ENABLE | SPMU_CCCR_ACTIVE(3) | SPMU_CCCR_SELECT(e->escr_select));
		break;
	}
	case SPMU_FAMILY_ARCH:	/* load latency and precise stores count under PEBS only */
		if (spmu_model_capabilities(m))
			for (unsigned high = 0; high < 65; high += 32)
				spmu_wrmsr(p, MSR_IA32_PEBS_ENABLE, fixture_read(p, MSR_IA32_PEBS_ENABLE) |
					(high < 64 ? UINT64_C(1) << (n + high) : UINT64_C(1) << 63));
		if (e->extra_msr)
			spmu_wrmsr(p, e->extra_msr, e->extra);
		spmu_wrmsr(p, MSR_IA32_PERFEVTSEL0 + n, fixture_evtsel(e) | (e->any ? SPMU_EVTSEL_ANY : 0));
		break;
	}
	bool programmed = p->counter[n].programmed;
	if (spmu_model_family(m) == SPMU_FAMILY_P5)	/* a select means another event on the other counter */
		programmed &= p->row[n] && &p->row[n]->public == e;
	spmu_destroy(p);
	return programmed;
}

/* The counters' column is what the registers do: an event counts on the counters that it names and on no other. */
static void test_an_event_counts_on_its_counters_only(void **state)
{
	(void)state;
	char path[512];
	unsigned tables = 0, rows = 0;
	snprintf(path, sizeof path, "%s/events", data_dir());
	DIR *d = opendir(path);
	assert_non_null(d);
	for (struct dirent *f; (f = readdir(d));) {
		size_t length = strlen(f->d_name);
		char name[64];
		if (length < 5 || length > sizeof name || strcmp(f->d_name + length - 4, ".tsv") ||
			!strncmp(f->d_name, "uncore-", 7))
			continue;
		snprintf(name, sizeof name, "%.*s", (int)(length - 4), f->d_name);
		struct spmu_model *m = fixture_model(name);
		for (size_t i = 0; i < spmu_model_events(m); i++) {
			const struct spmu_event *e = spmu_model_event(m, i);
			if (e->flags & (SPMU_EVENT_NOT_MODELLED | SPMU_EVENT_FIXED_ONLY))
				continue;
			rows++;
			for (unsigned n = 0; n < m->gp; n++)
				if (counts_on(m, e, n) != (e->pmc_mask >> n & 1))
					fail_msg("%s %s, counter %u", name, e->name, n);
		}
		spmu_model_free(m);
		tables++;
	}
	closedir(d);
	print_message("%u rows of %u tables\n", rows, tables);
	assert_true(tables >= 14);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_restricted_events_have_the_counters_that_linux_gives_them),
		cmocka_unit_test(test_an_event_counts_on_its_counters_only),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
