/* SPDX-License-Identifier: GPL-2.0-or-later
 * The uop tables' class rows: every row is sound, every class is reached and has a row, and bad tables are
 * refused by line. Rows of instruction forms: test_uop_tables.c. */
#include "isa_fixture.h"

static const char *const uarchs[] = { "skylake", "golden-cove", "ivy-bridge", "zen3", "zen4", "zen5" };
enum { UARCHS = sizeof uarchs / sizeof *uarchs, INTELS = UARCHS - 3 };

/* Returns the ports that only memory uops may use: a computing row that names one is a mistake. */
static uint16_t memory_ports(const char *uarch)
{
	/* moves to general registers use the ports of vector stores */
	if (!strcmp(uarch, "zen3") || !strcmp(uarch, "zen4"))
		return 1 << 4 | 1 << 5 | 1 << 6 | 1 << 12;
	if (!strcmp(uarch, "zen5"))	/* likewise: all of them */
		return 0xf << 6;
	if (!strcmp(uarch, "ivy-bridge"))
		return 1 << 2 | 1 << 3 | 1 << 4;
	return strcmp(uarch, "skylake") ? 1 << 2 | 1 << 3 | 1 << 4 | 1 << 7 | 1 << 8 | 1 << 9 | 1 << 11
	                                : 1 << 2 | 1 << 3 | 1 << 4 | 1 << 7;
}

static bool is_memory_class(unsigned cls)
{
	return cls == CLASS_load || cls == CLASS_load_index || cls == CLASS_store_address ||
	       cls == CLASS_store_address_index || cls == CLASS_store_data;
}

static void test_every_row_is_sound(void **state)
{
	(void)state;
	for (size_t k = 0; k < UARCHS; k++) {
		struct isa *isa = open_isa(uarchs[k]);
		assert_string_equal(isa->uarch, uarchs[k]);
		for (unsigned i = 0; i < isa->n_rows; i++) {
			const struct row *r = &isa->rows[i];
			if (r->flags & ROW_FORM)
				continue;
			for (unsigned s = 0; s < r->count; s++) {
				const struct spec *u = &isa->specs[r->first + s];
				bool portless = u->kind == UOP_NOP || u->kind == UOP_ELIMINATED;
				assert_int_equal(u->ports & ~isa->ports, 0);
				assert_int_equal(!u->ports, portless);
				assert_true(!u->busy || u->unit);
				if (!is_memory_class(r->cls) && u->ports &&
					(u->ports & ~memory_ports(uarchs[k])) == 0 &&
				    !(u->kind >= UOP_FENCE_LOAD) && r->cls != CLASS_clflush &&
				    r->cls != CLASS_clflushopt &&
				    r->cls != CLASS_rdrand)
					fail_msg("%s: %s computes on a memory port", uarchs[k], r->name);
			}
			if (is_memory_class(r->cls))
				assert_int_equal(r->count, 1);
			if (isa_classes[r->cls].traits & T_BRANCH) {	/* the last uop is the branch */
				assert_true(r->count >= 1);
				assert_false(isa->specs[r->first + r->count - 1u].attr & SPEC_SIDE);
			}
		}
		isa_destroy(isa);
	}
}

static void test_every_class_is_reached_and_every_row_can_serve(void **state)
{
	(void)state;
	static bool reached[CLASS_COUNT];
	for (int m = 0; m <= ZYDIS_MNEMONIC_MAX_VALUE; m++)
		reached[isa_mnemonic_class[m]] = true;
	for (unsigned c = 0; c < CLASS_COUNT; c++)
		if (!reached[c] && !(isa_classes[c].traits & T_RULE))
			fail_msg("class %s has neither a mnemonic nor a rule", isa_classes[c].name);
	for (size_t k = 0; k < UARCHS; k++) {
		static bool used[ROWS_MAX];
		struct isa *isa = open_isa(uarchs[k]);
		memset(used, 0, sizeof used);
		for (unsigned c = 0; c < CLASS_COUNT; c++)
			for (unsigned w = 0; w < WIDTHS; w++)
				for (unsigned f = 0; f < FORMS; f++) {
					const struct row *r = isa_row(isa, (enum isa_class)c, w, f);
					assert_int_equal(r->cls, c);
					used[r - isa->rows] = true;
				}
		for (unsigned i = 0; i < isa->n_rows; i++)
			if (!used[i] && !(isa->rows[i].flags & ROW_FORM))
				fail_msg("%s: row %s serves nothing", uarchs[k], isa->rows[i].name);
		isa_destroy(isa);
	}
}

static void test_the_tables_have_the_same_class_rows(void **state)
{
	(void)state;
	struct isa *a = open_isa(uarchs[0]);
	for (size_t k = 1; k < INTELS; k++) {
		struct isa *b = open_isa(uarchs[k]);
		unsigned i = 0;		/* the rows of forms follow those of classes */
		for (; i < a->n_rows && !isa_row_is_form(a, i); i++)
			assert_string_equal(isa_row_name(a, i), isa_row_name(b, i));
		assert_true(i > CLASS_COUNT && isa_row_is_form(b, i));
		isa_destroy(b);
	}
	isa_destroy(a);
}

static void test_a_specific_row_goes_before_a_general_one(void **state)
{
	(void)state;
	struct isa *isa = open_isa("skylake");
	assert_string_equal(isa_row(isa, CLASS_mov, WIDTH_8, FORM_LOAD)->name, "mov.8.m");
	assert_string_equal(isa_row(isa, CLASS_mov, WIDTH_32, FORM_LOAD)->name, "mov.m");
	assert_string_equal(isa_row(isa, CLASS_mov, WIDTH_8, FORM_REG)->name, "mov.8");
	assert_string_equal(isa_row(isa, CLASS_mov, WIDTH_32, FORM_REG)->name, "mov");
	assert_string_equal(isa_row(isa, CLASS_fp_div_d, WIDTH_256, FORM_LOAD)->name, "fp_div_d.256");
	isa_destroy(isa);
}

/* Checks that isa_table_parse refuses a table of these lines with this message. */
static void refused(const char *lines, const char *saying)
{
	struct isa *isa = calloc(1, sizeof *isa);
	struct err err = { 0 };
	assert_int_equal(isa_table_parse(isa, "t.tsv", lines, &err), ERR_INPUT);
	if (!strstr(err.text, saying))
		fail_msg("\"%s\" does not say \"%s\"", err.text, saying);
	isa_destroy(isa);
}

static void test_bad_tables_are_refused_by_line(void **state)
{
	(void)state;
	refused("@ports\t01\nnosuch\tp0/1\t-\tx\n", "t.tsv:2: no class is called \"nosuch\"");
	refused("@ports\t01\nalu\tp7/1\t-\tx\n", "t.tsv:2: a port that @ports does not name");
	refused("@ports\t01\nalu\tp00/1\t-\tx\n", "port 0 twice");
	refused("@ports\t01\nalu\tp0/256\t-\tx\n", "latency of 0 to 255");
	refused("@ports\t01\nalu\tp0\t-\tx\n", "latency of 0 to 255");
	refused("@ports\t01\nalu\tq0/1\t-\tx\n", "starts with p, nop or elim");
	refused("@ports\t01\nalu\tp0/1:fast\t-\tx\n", "unknown attribute");
	refused("@ports\t01\nalu\tp0/1:busy=3\t-\tx\n", "busy= without unit=");
	refused("@ports\t014\nalu\tp04/9:busy=3:unit=fpdivs\t-\tx\n", "differ by 4, 8 or 12 have one divider");
	refused("@ports\t01\nalu\tp0/1:joined+p0/1\t-\tx\n", "joined, but no uop before it");
	refused("@ports\t01\nalu\tp0/1+2*p0/1:joined\t-\tx\n", "joined, but no uop before it");
	refused("@ports\t01\nalu\tp0/1:out1+p0/1:par\t-\tx\n", "par after a uop that writes a result");
	refused("@ports\t01\nalu\tp0/1|p0/1\t-\tx\n", "| is for REP strings");
	refused("@ports\t01\nalu\t999*p0/1\t-\tx\n", "repeat count");
	refused("@ports\t01\nalu\t100*p0/1+100*p0/1\t-\tx\n", "more than 120 uops");
	refused("@ports\t01\nalu\tp0/1\tquick\tx\n", "unknown flag");
	refused("@ports\t01\nalu\tp0/1\n", "four fields");
	refused("@ports\t01\nalu\tp0/1\t-\t\n", "four fields");
	refused("@ports\t01\nalu\tp0/1\t-\tx\nalu\tp0/1\t-\tx\n", "t.tsv:3: row alu again, first in line 2");
	refused("@ports\t01\nalu.7\tp0/1\t-\tx\n", "neither a width nor a form");
	refused("@ports\t01\nalu.m.8\tp0/1\t-\tx\n", "neither a width nor a form");
	refused("@ports\tzz\n", "no port");
	refused("@speed\t3\n", "unknown setting");
	refused("@ports\t01\nalu\tp0/1\t-\tx\n", "class default has no row");
	refused("", "no @ports");
	refused("@ports\t01\nADD r8,r8\tp0/1\t-\tx\n", "a form has six fields");
	refused("@ports\t01\nADD r8,r8\tp0/1\t-\t1/1\t1\t\n", "a form has six fields");
	refused("@ports\t01\nADD r8,r8\tp0/1\t-\t2/1\t1\tx\n", "two numbers");
	refused("@ports\t01\nADD r8,r8\tp0/1\t-\t1/1\tfast\tx\n", "clocks an instruction");
	refused("@ports\t01\nADD r8,r8\tp0/1\t-\t1/1\t1\tx\nADD r8,r8\tp0/1\t-\t1/1\t1\tx\n",
	        "t.tsv:3: form ADD r8,r8 again, first in line 2");
	refused("@ports\t01\nADD r8,r8\tp0/1:out1+p0/1:in2\t-\t2/2\t1\tx\n", "in after a uop that writes a result");
	refused("@ports\t01\nADD r8,r8\tp0/1+p0/1:in2\t-\t2/2\t1\tx\n", "the first uop names no operand");
}

static void test_a_missing_table_is_named(void **state)
{
	(void)state;
	struct isa *isa;
	struct err err = { 0 };
	assert_int_equal(isa_create(&isa, "/nonexistent/x.tsv", &err), ERR_SYSTEM);
	assert_non_null(strstr(err.text, "/nonexistent/x.tsv"));
	assert_null(isa);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_every_row_is_sound),
		cmocka_unit_test(test_every_class_is_reached_and_every_row_can_serve),
		cmocka_unit_test(test_the_tables_have_the_same_class_rows),
		cmocka_unit_test(test_a_specific_row_goes_before_a_general_one),
		cmocka_unit_test(test_bad_tables_are_refused_by_line),
		cmocka_unit_test(test_a_missing_table_is_named),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
