/* SPDX-License-Identifier: GPL-2.0-or-later
 * Tasks and results of sweeps as files, their store, intervals, effects, elimination and the Pareto front. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "sweep/sweep_table.h"
#include "data_dir.h"

#define KEY "0123456789abcdef0123456789abcdef"
#define KEY2 "fedcba9876543210fedcba9876543210"

static char folder[] = "/tmp/softpmu-sweep-XXXXXX";
static struct err err;

/* ---- tasks ---- */

static char *line_of(const struct sweep_task *t)
{
	char *text = NULL;
	size_t bytes;
	FILE *to = open_memstream(&text, &bytes);
	sweep_task_write(to, t);
	fclose(to);
	assert_int_equal(text[bytes - 1], '\n');
	text[bytes - 1] = 0;
	assert_null(strchr(text, '\n'));
	return text;
}

static void test_tasks_are_read_as_they_were_written(void **state)
{
	const struct plan_setting setting[] = { { "l2.size", "1M", false }, { "tage.size", "1/2", true } };
	struct sweep_task t = { .program = KEY,
		.machine = KEY2,
		.model = "softpmu 0 %41",
		.mode = "sample auto",
		.events = "cycles,cpu/event=1,umask=2/",
		.energy = true,
		.stream = "/a b\t\n%/\xc3\xa4",
		.core = "skylake",
		.setting = setting,
		.settings = 2 },
			  back;
	struct plan texts = { 0 };
	(void)state;
	sweep_task_key(&t);
	char *line = line_of(&t);
	assert_int_equal(sweep_task_read(&back, line, &texts, &err), 0);
	assert_string_equal(back.stream, t.stream);
	assert_string_equal(back.model, t.model);
	assert_true(back.energy && back.settings == 2 && back.setting[1].feature && !back.setting[0].feature);
	assert_string_equal(back.setting[1].level, "1/2");
	sweep_task_key(&back);
	assert_string_equal(back.key, t.key);
	free(line);
	char *const env[] = { "A=b c", "HOME=/", NULL }, *const argv[] = { "prog", "", "x\ty", NULL };
	t = (struct sweep_task){ .trace = true, .program = "build-id:00", .file = "/s/x", .env = env, .argv = argv };
	sweep_task_key(&t);
	line = line_of(&t);
	assert_int_equal(sweep_task_read(&back, line, &texts, &err), 0);
	assert_true(back.trace && !back.env[2] && !back.argv[3]);
	assert_string_equal(back.env[0], "A=b c");
	assert_string_equal(back.argv[1], "");
	assert_string_equal(back.argv[2], "x\ty");
	free(line);
	plan_free(&texts);
}

static void test_the_key_of_a_point_is_what_decides_its_counts(void **state)
{
	struct sweep_task a = { .program = KEY,
		.machine = KEY2,
		.model = "m",
		.mode = "d",
		.events = "e",
		.stream = "x",
		.core = "c" },
			  b = a;
	(void)state;
	b.stream = "elsewhere";
	sweep_task_key(&a);
	sweep_task_key(&b);
	assert_string_equal(a.key, b.key);
	b.mode = "s";
	sweep_task_key(&b);
	assert_string_not_equal(a.key, b.key);
	b = a;
	b.energy = true;
	sweep_task_key(&b);
	assert_string_not_equal(a.key, b.key);
}

static void test_lines_that_are_no_tasks(void **state)
{
	static const char *const wrong[] = { "", "point", "trace", "point\tx", "trace\t" KEY "\tf\t1",
		"trace\t" KEY "\tf\t9\tw", "trace\t" KEY "\tf\tx\tw",
		"point\t" KEY "\t" KEY "\t" KEY "\tm\td\t\te\t\tc",
		"point\t" KEY "\t" KEY "\t" KEY "\tm\td\t\te\ts\tc\ts\tf",
		"point\t" KEY "\t" KEY "\t" KEY "\tm\td\t\te\ts\tc\tx\tf\tl",
		"point\t" KEY "\t" KEY "\t" KEY "\tm%\td\t\te\ts\tc",
		"point\t" KEY "\t" KEY "\t" KEY "\tm%00\td\t\te\ts\tc" };
	struct plan texts = { 0 };
	struct sweep_task t;
	(void)state;
	for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
		char *line = strdup(wrong[i]);
		if (sweep_task_read(&t, line, &texts, &err) != ERR_INPUT)
			fail_msg("taken: %s", wrong[i]);
		free(line);
	}
	plan_free(&texts);
}

/* ---- results ---- */

static struct sweep_result result(const char *machine, double cycles)
{
	struct sweep_result r = { .seconds = 1.5, .kilobytes = 2000 };
	strcpy(r.key, KEY);
	strcpy(r.program, KEY);
	strcpy(r.machine, machine);
	strcpy(r.model, "softpmu 0");
	strcpy(r.mode, "sample auto");
	strcpy(r.host, "h");
	r.value = calloc(TASK_VALUES, sizeof *r.value);
	r.value[0] = (struct sweep_value){ "cpu/event=1,umask=2/", cycles, NAN };
	r.value[1] = (struct sweep_value){ "cycles", NAN, 0 };
	r.values = 2;
	return r;
}

static void test_a_result_is_read_as_it_was_written(void **state)
{
	struct sweep_result r = result(KEY2, 0.1), back;
	char path[256];
	(void)state;
	assert_int_equal(sweep_result_write(&r, folder, &err), 0);
	snprintf(path, sizeof path, "%s/%s", folder, KEY);
	assert_int_equal(sweep_result_read(&back, path, &err), 0);
	assert_int_equal(back.values, 2);
	assert_true(back.value[0].value == 0.1 && isnan(back.value[0].half) && isnan(back.value[1].value));
	assert_string_equal(back.mode, "sample auto");
	assert_true(back.kilobytes == 2000);
	free(back.value);
	/* every file that ends too early is refused */
	char text[2048];
	FILE *f = fopen(path, "r");
	const size_t n = fread(text, 1, sizeof text, f);
	fclose(f);
	for (size_t cut = 0; cut < n; cut++) {
		f = fopen(path, "w");
		fwrite(text, 1, cut, f);
		fclose(f);
		if (sweep_result_read(&back, path, &err) != ERR_INPUT)
			fail_msg("a result of %zu of %zu bytes is taken", cut, n);
	}
	unlink(path);
	assert_int_equal(sweep_result_write(&r, "/nonexistent", &err), ERR_SYSTEM);
	free(r.value);
}

struct rows { size_t values, failures, costs; double sum; };

static int each(void *context, const struct sweep_row *row)
{
	struct rows *r = context;
	r->values += row->event != NULL;
	r->failures += row->failed != NULL;
	r->costs += !row->event && !row->failed;
	r->sum += row->event && !isnan(row->value) ? row->value : 0;
	return 0;
}

static void test_the_store_keeps_what_was_put(void **state)
{
	struct sweep_result r = result(KEY2, 7);
	struct sweep_store *s;
	struct rows rows = { 0 };
	char path[256], model[64], digest[FNV_CHARS];
	(void)state;
	snprintf(path, sizeof path, "%s/results.db", folder);
	assert_int_equal(sweep_store_open(&s, path, true, &err), 0);
	assert_int_equal(sweep_store_put(s, &r, &err), 0);
	assert_int_equal(sweep_store_put(s, &r, &err), 0);	/* twice is once */
	assert_int_equal(sweep_store_read(s, "softpmu 0", "sample auto", each, &rows, &err), 0);
	assert_true(rows.values == 2 && rows.costs == 1 && !rows.failures && rows.sum == 7);
	assert_int_equal(sweep_store_begin(s, &err), 0);
	strcpy(r.failed, "no");
	assert_int_equal(sweep_store_put(s, &r, &err), 0);
	sweep_store_rollback(s);
	rows = (struct rows){ 0 };
	assert_int_equal(sweep_store_read(s, "softpmu 0", "sample auto", each, &rows, &err), 0);
	assert_true(!rows.failures);
	assert_int_equal(sweep_store_last_model(s, "sample auto", model, sizeof model, &err), 1);
	assert_string_equal(model, "softpmu 0");
	assert_int_equal(sweep_store_last_model(s, "detail", model, sizeof model, &err), 0);
	assert_int_equal(sweep_store_file_put(s, "/x", 1, 2, KEY, &err), 0);
	assert_int_equal(sweep_store_file(s, "/x", 1, 2, digest, &err), 1);
	assert_int_equal(sweep_store_file(s, "/x", 1, 3, digest, &err), 0);
	sweep_store_close(s);
	FILE *f = fopen(path, "w");
	fputs("no database, but long enough to be looked at as one, page after page\n", f);
	fclose(f);
	assert_int_equal(sweep_store_open(&s, path, true, &err), ERR_INPUT);
	unlink(path);
	free(r.value);
}

/* ---- statistics ---- */

/* Source: Abramowitz and Stegun, table 26.10. */
static void test_students_quantiles(void **state)
{
	static const struct { double tail, degrees, t; } of[] = { { 0.025, 1, 12.706 }, { 0.025, 4, 2.776 },
		{ 0.005, 10, 3.169 }, { 0.05, 30, 1.697 }, { 0.0005, 2, 31.598 }, { 0.025, 1e6, 1.960 } };
	(void)state;
	for (size_t i = 0; i < sizeof of / sizeof *of; i++)
		assert_true(fabs(student_quantile(of[i].tail, of[i].degrees) - of[i].t) < 0.001 * of[i].t);
	assert_true(isnan(student_quantile(0, 3)));
	const double value[] = { 1, NAN, 2, 3 };
	const struct paired p = paired_mean(value, 4, 0.95);
	assert_true(p.n == 3 && p.mean == 2 && fabs(p.half - 4.303 / sqrt(3)) < 0.001);
	assert_true(isnan(paired_mean(value, 1, 0.95).half));
}

/* A table of `programs` whose time is a product: of the program, of l1d.size (64K: a tenth less), of rob.size (128: 20
 * % more), and a little of both that changes from program to program. */
static void make_table(struct sweep_table *t, struct plan *p, struct sweep_machines *m, struct sweep_store **s,
	const char *more, size_t programs)
{
	static char *event[] = { "duration_time", "energy" };
	static char key[64][FNV_CHARS];
	char text[4096] = "core skylake\nset l1d.size 32K 64K\nset rob.size 224 128\n", path[256];
	for (size_t i = 0; i < programs; i++)
		snprintf(text + strlen(text), 32, "stream p%zu f\n", i);
	strcat(text, more);
	assert_int_equal(plan_parse(p, text, strlen(text), "p", &err), 0);
	assert_int_equal(sweep_machines_make(m, p, data_dir(), &err), 0);
	assert_int_equal(m->machines, 4);
	assert_int_equal(sweep_table_make(t, p, m, event, 2, &err), 0);
	snprintf(path, sizeof path, "%s/t.db", folder);
	unlink(path);
	assert_int_equal(sweep_store_open(s, path, true, &err), 0);
	for (size_t i = 0; i < programs; i++) {
		snprintf(key[i], FNV_CHARS, "%032zx", i);
		t->program[i] = key[i];
	}
}

static void put(struct sweep_store *s, const struct sweep_machines *m, size_t program, size_t machine)
{
	struct sweep_result r = result(m->machine[machine].key, 0);
	const double wobble = 1 + 0.002 * (double)((program * 7 + machine * 3) % 5);
	snprintf(r.program, sizeof r.program, "%032zx", program);
	r.value[0] = (struct sweep_value){ "duration_time", 1000 * (double)(program + 1) * (machine & 2 ? 0.9 : 1) *
		(machine & 1 ? 1.2 : 1) * wobble, 0 };
	r.value[1] = (struct sweep_value){ "energy", 500 * (machine & 2 ? 1.3 : 1) * (machine & 1 ? 0.99 : 1), 0 };
	assert_int_equal(sweep_store_put(s, &r, &err), 0);
	free(r.value);
}

static void test_effects_and_front(void **state)
{
	struct sweep_table t;
	struct plan p;
	struct sweep_machines m;
	struct sweep_store *s;
	double x[4], y[4];
	unsigned char front[4];
	(void)state;
	err = (struct err){ 0 };
	make_table(&t, &p, &m, &s, "", 6);
	for (size_t i = 0; i < 24; i++)
		put(s, &m, i / 4, i % 4);
	assert_int_equal(sweep_table_read(&t, s, "softpmu 0", "sample auto", &err), 0);
	const struct paired cache = sweep_effect(&t, "time", 0, 1, 0.95, &err),
			    rob = sweep_effect(&t, "time", 1, 1, 0.95, &err);
	assert_true(cache.n == 6 && fabs(cache.mean - log(0.9)) < 0.01 && cache.half < 0.01 && cache.half > 0);
	assert_true(fabs(rob.mean - log(1.2)) < 0.01);
	assert_int_equal(sweep_front(&t, "time", "energy", x, y, front, &err), 0);
	assert_true(front[0] && front[1] && front[2] && !front[3]);
	assert_true(fabs(x[2] - 0.9) < 0.01 && fabs(y[2] - 1.3) < 0.01);
	assert_true(t.seconds[3] == 1.5 && t.kilobytes[3] == 2000);
	sweep_store_close(s);
	sweep_table_free(&t);
	sweep_machines_free(&m);
	plan_free(&p);
}

/* The worse machines go at the first look; where all are alike, none does; and what is missing holds a look up. */
static void test_elimination(void **state)
{
	struct sweep_table t;
	struct plan p;
	struct sweep_machines m;
	struct sweep_store *s;
	(void)state;
	make_table(&t, &p, &m, &s, "eliminate 95 6\n", 12);
	assert_int_equal(sweep_table_read(&t, s, "softpmu 0", "sample auto", &err), 0);
	assert_true(t.look_count == 2 && t.looks[0] == 6 && t.looks[1] == 9);
	assert_int_equal(sweep_table_reach(&t), 6);
	for (size_t i = 0; i < 6; i++)
		for (size_t k = 0; k < 4; k++)
			if (i || k)
				put(s, &m, t.order[i], k);
	assert_int_equal(sweep_table_read(&t, s, "softpmu 0", "sample auto", &err), 0);
	assert_int_equal(sweep_table_reach(&t), 6);	/* one point is missing */
	assert_true(!t.gone[1] && !t.gone[3]);
	put(s, &m, t.order[0], 0);
	assert_int_equal(sweep_table_read(&t, s, "softpmu 0", "sample auto", &err), 0);
	assert_int_equal(sweep_table_reach(&t), 9);
	assert_true(t.gone[0] == 1 && t.gone[1] == 1 && !t.gone[2] && t.gone[3] == 1);
	assert_int_equal(t.against[1], 2);
	assert_true(fabs(t.why[1].mean - log(1.2 / 0.9)) < 0.01 && t.why[1].mean - t.why[1].half > 0);
	for (size_t i = 6; i < 9; i++)		/* of those that are gone nothing more is needed */
		put(s, &m, t.order[i], 2);
	assert_int_equal(sweep_table_read(&t, s, "softpmu 0", "sample auto", &err), 0);
	assert_int_equal(sweep_table_reach(&t), 12);
	sweep_store_close(s);
	sweep_table_free(&t);
	sweep_machines_free(&m);
	plan_free(&p);
}

static void put_part(struct sweep_store *s, const struct sweep_machines *m, size_t program, size_t machine,
	unsigned part, double time)
{
	struct sweep_result r = result(m->machine[machine].key, 0);
	snprintf(r.program, sizeof r.program, "%032zx", program);
	sweep_trial_mode("sample auto", part, r.mode, sizeof r.mode);
	r.value[0] = (struct sweep_value){ "duration_time", time, 0 };
	r.value[1] = (struct sweep_value){ "energy", 1, 0 };
	assert_int_equal(sweep_store_put(s, &r, &err), 0);
	free(r.value);
}

/* Parts differ much from each other, and machines little, but alike on all parts: so one that is 2 % worse goes. */
static void test_elimination_by_points(void **state)
{
	static const double length[SWEEP_TRIALS] = { 900, 5000, 2000, 3000, 800, 7000 };
	struct sweep_table t;
	struct plan p;
	struct sweep_machines m;
	struct sweep_store *s;
	(void)state;
	err = (struct err){ 0 };
	make_table(&t, &p, &m, &s, "eliminate points 95\n", 3);
	t.has_points[0] = t.has_points[2] = true;	/* and program 1 takes no part */
	assert_int_equal(sweep_table_read(&t, s, "softpmu 0", "sample auto", &err), 0);
	assert_int_equal(sweep_table_reach(&t), 0);
	assert_int_equal(sweep_trial_reach(&t), 3);
	for (unsigned k = 0; k < 3; k++)
		for (size_t i = 0; i < 12; i++)
			if (i / 4 != 1 && (k != 2 || i != 11))
				put_part(s, &m, i / 4, i % 4, k, length[k] * (1 + 0.001 * (double)((i * 7 + k) % 3)) *
					(i % 4 == 1 ? 1.5 : i % 4 == 2 ? 1.02 : 1));
	assert_int_equal(sweep_table_read(&t, s, "softpmu 0", "sample auto", &err), 0);
	assert_int_equal(sweep_trial_reach(&t), 3);	/* one part is missing */
	assert_true(t.trial_seconds[0] == 1.5 && t.trial_kilobytes[0] == 2000 && !t.trial_kilobytes[1]);
	put_part(s, &m, 2, 3, 2, length[2]);
	assert_int_equal(sweep_table_read(&t, s, "softpmu 0", "sample auto", &err), 0);
	assert_true(t.gone[1] == 1 && t.gone[2] == 1 && !t.gone[0] && !t.gone[3]);
	assert_true(fabs(t.why[1].mean - log(1.5)) < 0.005 && t.why[1].half > 0 && t.why[1].n == 2);
	assert_int_equal(sweep_trial_reach(&t), 6);
	for (unsigned k = 3; k < 6; k++)
		for (size_t i = 0; i < 12; i++)
			if (i / 4 != 1 && i % 4 % 3 == 0)	/* of those that are gone nothing more is needed */
				put_part(s, &m, i / 4, i % 4, k, length[k] * (1 + 0.001 * (double)((i * 7 + k) % 3)));
	assert_int_equal(sweep_table_read(&t, s, "softpmu 0", "sample auto", &err), 0);
	assert_true(!t.gone[0] && !t.gone[3]);
	assert_int_equal(sweep_trial_reach(&t), 0);
	assert_int_equal(sweep_table_reach(&t), 3);	/* whole files, of all programs */
	sweep_store_close(s);
	sweep_table_free(&t);
	sweep_machines_free(&m);
	plan_free(&p);
}

/* Of a drawn factor the plane gives the effect, whatever the other one does. */
static void test_effects_of_what_is_drawn(void **state)
{
	static char *event[] = { "duration_time" };
	const char text[] = "core skylake\nstream a f\nstream b f\ndraw 16 3\ndraw set rob.size 100..260\ndraw set "
		"l2.latency 8..24\n";
	struct sweep_table t;
	struct plan p;
	struct sweep_machines m;
	struct sweep_store *s;
	char path[256], key[2][FNV_CHARS];
	(void)state;
	snprintf(path, sizeof path, "%s/t.db", folder);
	unlink(path);
	assert_int_equal(plan_parse(&p, text, strlen(text), "p", &err), 0);
	assert_int_equal(sweep_machines_make(&m, &p, data_dir(), &err), 0);
	assert_int_equal(m.machines, 16);
	assert_int_equal(sweep_table_make(&t, &p, &m, event, 1, &err), 0);
	assert_int_equal(sweep_store_open(&s, path, true, &err), 0);
	for (size_t i = 0; i < 32; i++) {
		struct sweep_result r = result(m.machine[i % 16].key, 0);
		snprintf(r.program, sizeof r.program, "%032zx", i / 16);
		snprintf(key[i / 16], FNV_CHARS, "%032zx", i / 16);
		t.program[i / 16] = key[i / 16];
		r.values = 1;
		r.value[0] = (struct sweep_value){ "duration_time",
			exp(-0.3 * m.machine[i % 16].level[0] +
				(0.1 + 0.01 * (double)(i / 16)) * m.machine[i % 16].level[1]),
			0 };
		assert_int_equal(sweep_store_put(s, &r, &err), 0);
		free(r.value);
	}
	assert_int_equal(sweep_table_read(&t, s, "softpmu 0", "sample auto", &err), 0);
	assert_true(fabs(sweep_effect(&t, "time", 0, 1, 0.95, &err).mean + 0.3) < 1e-6);
	assert_true(fabs(sweep_effect(&t, "time", 1, 1, 0.95, &err).mean - 0.105) < 1e-6);
	sweep_store_close(s);
	sweep_table_free(&t);
	sweep_machines_free(&m);
	plan_free(&p);
}

static int make_folder(void **state)
{
	(void)state;
	return mkdtemp(folder) ? 0 : -1;
}

static int remove_folder(void **state)
{
	char path[256];
	(void)state;
	snprintf(path, sizeof path, "%s/t.db", folder);
	unlink(path);
	return rmdir(folder);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_tasks_are_read_as_they_were_written),
		cmocka_unit_test(test_the_key_of_a_point_is_what_decides_its_counts),
		cmocka_unit_test(test_lines_that_are_no_tasks),
		cmocka_unit_test(test_a_result_is_read_as_it_was_written),
		cmocka_unit_test(test_the_store_keeps_what_was_put),
		cmocka_unit_test(test_students_quantiles),
		cmocka_unit_test(test_effects_and_front),
		cmocka_unit_test(test_elimination),
		cmocka_unit_test(test_elimination_by_points),
		cmocka_unit_test(test_effects_of_what_is_drawn),
	};
	return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
