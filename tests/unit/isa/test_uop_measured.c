/* SPDX-License-Identifier: GPL-2.0-or-later
 * No form's row is slower than what was measured for it: a row of data/uops/ that names a measured throughput ("IL T
 * 0.5", "HOST T 4") takes at most 15 % more clocks, by its ports, its issue slots and its dividers.  (A measurement may
 * be slower than the row: its loop has other limits, too.)  Exempt are, by the generator's own rules
 * (tools/uops/generate_uops.py, zen.py):
 *   moves that rename eliminates;
 *   rows whose data flow names results, whose measured loop may be a chain;
 * and the rows of `known` below, each with its reason. */
#include "isa_fixture.h"
#include <dirent.h>
#include "data_dir.h"

enum { FIELDS = 6, PORTS = 16, UOPS = 64 };

static const struct { const char *table, *form, *reason; } known[] = {
	{ "ivy-bridge", "PALIGNR xmm,xmm,i8", "0.85, between the 1 and 0.5 that one or two ports can give" },
	{ "ivy-bridge", "VPALIGNR xmm,xmm,xmm,i8", "0.84, likewise" },
	{ "zen4", "PSHUFHW xmm,xmm,i8", "0.38, between 0.5 and 0.33; its siblings take 0.5" },
	{ "zen4", "VCVTPH2PS ymm,m128", "the register form's second uop is not on other ports; 0.67 against 0.5" },
	{ "zen5", "VCVTPH2PS ymm,m128", "likewise" },
	{ "zen5", "VCVTPS2PH m64,xmm,i8", "the class' row; 0.67 against 0.51" },
	{ "zen4", "VFNMADD213PS ymm,ymm,ymm", "0.39; its siblings take the 0.5 of two multipliers" },
	{ "zen4", "VFNMADD132PD ymm,ymm,ymm", "0.42, likewise" },
	{ "zen4", "PUNPCKLDQ mm,mm", "0.42, between 0.5 and 0.33" },
	{ "zen4", "PUNPCKLBW mm,mm", "0.42, likewise" },
	{ "zen4", "PUNPCKHWD mm,mm", "0.42, likewise" },
	{ "zen4", "PUNPCKHBW mm,mm", "0.42, likewise" },
#define FEWER "the class' row is for eight elements; the clocks go with their number"
	{ "zen4", "VMASKMOVPD m128,xmm,xmm", FEWER }, { "zen4", "VMASKMOVPD m256,ymm,ymm", FEWER },
	{ "zen4", "VPMASKMOVQ m128,xmm,xmm", FEWER }, { "zen4", "VPMASKMOVQ m256,ymm,ymm", FEWER },
	{ "zen4", "VMASKMOVPS m128,xmm,xmm", FEWER }, { "zen4", "VPMASKMOVD m128,xmm,xmm", FEWER },
	{ "zen3", "VMASKMOVPD m128,xmm,xmm", FEWER }, { "zen3", "VMASKMOVPD m256,ymm,ymm", FEWER },
	{ "zen3", "VPMASKMOVQ m128,xmm,xmm", FEWER }, { "zen3", "VPMASKMOVQ m256,ymm,ymm", FEWER },
	{ "zen3", "VMASKMOVPS m128,xmm,xmm", FEWER }, { "zen3", "VPMASKMOVD m128,xmm,xmm", FEWER },
};
enum { KNOWN = sizeof known / sizeof *known };

struct line_row { unsigned ports[UOPS]; unsigned n; double busy; bool exempt; };

/* Reads the uops of a row; those of REP's start are left out. */
static void read_row(struct line_row *r, const char *uops)
{
	char text[1024], *save = NULL;
	const char *loop = strchr(uops, '|');
	snprintf(text, sizeof text, "%s", loop ? loop + 1 : uops);
	memset(r, 0, sizeof *r);
	for (char *u = strtok_r(text, "+", &save); u; u = strtok_r(NULL, "+", &save)) {
		char *star = strchr(u, '*'), *busy = strstr(u, "busy=");
		unsigned times = star ? (unsigned)atoi(u) : 1, set = 0, ports = 0;
		r->exempt |= strstr(u, ":out") || strstr(u, "elim");
		u = star ? star + 1 : u;
		for (char *p = u + 1; *u == 'p' && *p && *p != '/' && *p != ':'; p++, ports++)
			set |= 1u << strtoul((char[]){ *p, 0 }, NULL, 16);
		for (unsigned i = 0; set && i < times && r->n < UOPS; i++)
			r->ports[r->n++] = set;
		/* fpdivs: each of its ports has a divider */
		if (busy)
			r->busy += atof(busy + 5) * times / (strstr(u, "unit=fpdivs") ? ports : 1);
	}
}

/* Clocks for each instruction: of the most loaded set of ports, of the dividers, and of the issue. */
static double clocks_of(const struct line_row *r, unsigned slots, unsigned width)
{
	double most = r->busy > (double)slots / width ? r->busy : (double)slots / width;
	for (unsigned i = 0; i < r->n; i++)	/* these sets and their unions: others have no more load */
		for (unsigned k = i; k < r->n; k++) {
			unsigned all = r->ports[i] | r->ports[k], n = 0;
			for (unsigned j = 0; j < r->n; j++)
				n += !(r->ports[j] & ~all);
			double load = (double)n / __builtin_popcount(all);
			most = load > most ? load : most;
		}
	return most;
}

/* The measured clocks in a row's source; 0: none. */
static double measured(const char *source)
{
	const char *il = strstr(source, "IL T "), *on = strstr(source, "HOST T ");
	return on ? atof(on + 7) : il ? atof(il + 5) : 0;
}

static bool is_known(const char *table, const char *form, bool used[KNOWN])
{
	for (unsigned i = 0; i < KNOWN; i++)
		if (!strcmp(known[i].table, table) && !strcmp(known[i].form, form))
			return used[i] = true;
	return false;
}

/* Returns how many rows name a measurement; adds those that contradict it to *slower. */
static unsigned check_table(const char *table, unsigned width, bool used[KNOWN], unsigned *slower)
{
	char path[600], line[4096];
	unsigned compared = 0;
	snprintf(path, sizeof path, "%s/uops/%s.tsv", data_dir(), table);
	FILE *in = fopen(path, "r");
	assert_non_null(in);
	while (fgets(line, sizeof line, in)) {
		char *rest = line, *field[FIELDS];
		int n = 0;
		line[strcspn(line, "\n")] = 0;
		for (char *f; n < FIELDS && (f = strsep(&rest, "\t")); n++)
			field[n] = f;
		if (n < FIELDS || *line < 'A' || *line > 'Z')
			continue;
		double is = measured(field[5]);
		struct line_row row;
		read_row(&row, field[1]);
		if (is == 0 || row.exempt || strstr(field[2], "elim"))
			continue;
		compared++;
		double takes = clocks_of(&row, (unsigned)atoi(field[3]), width);
		if (takes > 1.15 * is && takes > 0.26 && !is_known(table, field[0], used)) {
			print_error("%s: %s takes %.2f clocks by its row, %.2f were measured\n", table, field[0],
				takes, is);
			++*slower;
		}
	}
	fclose(in);
	return compared;
}

static void test_no_row_is_slower_than_its_measurement(void **state)
{
	(void)state;
	static const struct { const char *table; unsigned width, rows; } tables[] = {
		{ "skylake", 4, 50 }, { "golden-cove", 6, 50 }, { "ivy-bridge", 4, 100 }, { "zen3", 6, 2000 },
		{ "zen4", 6, 2000 }, { "zen5", 8, 3000 },
	};
	bool used[KNOWN] = { 0 };
	unsigned slower = 0;
	for (unsigned i = 0; i < sizeof tables / sizeof *tables; i++) {
		unsigned n = check_table(tables[i].table, tables[i].width, used, &slower);
		if (n < tables[i].rows)
			fail_msg("%s: only %u rows name a measurement", tables[i].table, n);
	}
	assert_int_equal(slower, 0);
	for (unsigned i = 0; i < KNOWN; i++)
		if (!used[i])
			fail_msg("%s: %s is no exception any more", known[i].table, known[i].form);
}

static void test_a_row_takes_what_its_ports_and_dividers_take(void **state)
{
	(void)state;
	struct line_row r;
	read_row(&r, "p015/1:side+p5/3");
	assert_true(clocks_of(&r, 2, 4) == 1);
	read_row(&r, "2*p01/1:side+p0/1+p5/1");
	assert_true(clocks_of(&r, 4, 4) == 1.5);
	read_row(&r, "p0/18:busy=12:unit=fpdiv");
	assert_true(clocks_of(&r, 1, 4) == 12);
	read_row(&r, "pab/13:busy=8:unit=fpdivs");
	assert_true(clocks_of(&r, 1, 8) == 4);
	read_row(&r, "nop");
	assert_true(clocks_of(&r, 3, 4) == 0.75);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_no_row_is_slower_than_its_measurement),
		cmocka_unit_test(test_a_row_takes_what_its_ports_and_dividers_take),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
