/* SPDX-License-Identifier: GPL-2.0-or-later
 * Fields of a core's file, fitted to the curves of a made-up host: found, confirmed, or left alone. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include "analysis/calibrate/calibrate_fields.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "data_dir.h"

/* A made-up host. l1, l2, l3: bytes; others: ms within which other programs push a line out of L3; window:
 * instructions; load: per cent of the groups that other programs disturb, which makes a value up to three times as
 * large; flat: all levels take 20 cycles; point, groups: the name of one point and its groups; small_huge: huge pages
 * miss the DTLB as small ones do; sharp: L1D loses all lines as soon as it is too small; soft: at the size of L3 a
 * quarter of the lines is gone; stride, stride_l3: values of stride.N in L2 and in L3; zeros: cycles of a XOR of a
 * register with itself (0: 1/6); zeros_base: the same under the base's model (0: not run). */
struct made_up {
	double l1, l2, l3, others;
	uint32_t window;
	bool flat;
	const char *core;
	double code;
	unsigned load;
	uint32_t seed;
	const char *point;
	struct cal_value groups;
	bool small_huge, sharp, soft;
	double stride, stride_l3;
	double zeros, zeros_base;
};

static double age_of(double bytes)
{
	return bytes / 64 * 15 / 3.5e6 + 0.2;
}

static double level(const struct made_up *m, double bytes)
{
	double y = bytes <= m->l1 ? 4 : bytes <= m->l2 ? 14 : bytes <= m->l3 ? 50 : 450;
	if (y == 50 && m->others > 0)
		y = 450 - 400 * exp(-pow(age_of(bytes) / m->others, 2));
	return m->flat ? 20 : y;
}

static uint32_t draw(uint32_t *seed, uint32_t below)
{
	*seed = *seed * 1103515245 + 12345;
	return (*seed >> 16) % below;
}

static int by_value(const void *a, const void *b)
{
	double v = *(const double *)a, w = *(const double *)b;
	return (v > w) - (v < w);
}

/* Returns what CAL_GROUPS groups measure of a value. */
static struct cal_value measured(const struct made_up *m, double y, uint32_t *seed)
{
	double v[CAL_GROUPS];
	for (unsigned i = 0; i < CAL_GROUPS; i++)
		v[i] = y > 0 && draw(seed, 100) < m->load ? y * (1 + draw(seed, 2000) / 1000.) : y;
	qsort(v, CAL_GROUPS, sizeof *v, by_value);
	return (struct cal_value){ .cycles = v[CAL_GROUPS / 2], .low = v[0], .high = v[CAL_GROUPS - 1] };
}

/* Fits such a host; the base is its `core`, golden-cove if that is NULL. */
static void fit(const struct made_up *m, struct core_config *c, struct cal_fields *out)
{
	struct cal_probe *p;
	uint32_t seed = m->seed;
	size_t count = cal_probes(&p);
	struct cal_native host = { .ghz = 3.5, .ghz_low = 3.5, .ghz_high = 3.5, .value = calloc(count,
		sizeof *host.value) };
	double *first = calloc(count, sizeof *first);
	assert_int_equal(core_config_load(c, data_dir(), m->core ? m->core : "golden-cove", NULL), 0);
	for (size_t i = 0; i < count; i++) {
		double y = p[i].family == CAL_HUGE || p[i].family == CAL_CHASE ? level(m, p[i].param) :
			p[i].family == CAL_WINDOW ? (p[i].param < m->window ? 200 : 400) :
			p[i].family == CAL_STRIDE && m->stride ? p[i].param <= m->l2 ? m->stride : m->stride_l3
				: p[i].family == CAL_CODE && m->code ? (p[i].param <= m->code ? 0.17 : 0.5)
				: p[i].family == CAL_ZEROS ? m->zeros ? m->zeros : 1 / 6. : -1;
		first[i] = p[i].family == CAL_ZEROS && m->zeros_base ? m->zeros_base : -1;
		if (m->small_huge && p[i].family == CAL_HUGE && p[i].param > c->dtlb_entries * 4096.)
			y += c->stlb_latency * (1 - c->dtlb_entries * 4096. / p[i].param);
		if (m->sharp && p[i].family == CAL_HUGE && p[i].param > m->l1 && p[i].param < 2 * m->l1)
			y = 14;
		if (m->soft && (p[i].family == CAL_HUGE || p[i].family == CAL_CHASE) && p[i].param == m->l3)
			y = 150;	/* a quarter is gone */
		host.value[i] = m->point && !strcmp(m->point, p[i].name) ? m->groups : measured(m, y, &seed);
		host.value[i].age_ms = p[i].family == CAL_HUGE || p[i].family == CAL_CHASE ? age_of(p[i].param) : 0;
	}
	memset(out, 0, sizeof *out);
	cal_fit_sizes(c, out, p, count, &host, first);
	free(first);
	free(host.value);
	free(p);
}

static enum cal_verdict verdict(const struct cal_fields *f, const char *key)
{
	for (size_t i = 0; i < f->fields; i++)
		if (!strcmp(f->field[i].key, key))
			return f->field[i].verdict;
	fail_msg("nothing is said of %s", key);
	return CAL_REFUSED;
}

static const char *why(const struct cal_fields *f, const char *key)
{
	for (size_t i = 0; i < f->fields; i++)
		if (!strcmp(f->field[i].key, key))
			return f->field[i].why;
	return "";
}

static void test_sizes_are_read_off_the_curves(void **state)
{
	(void)state;
	struct core_config c;
	struct cal_fields f;
	fit(&(struct made_up){ .l1 = 32 << 10, .l2 = 1 << 20, .l3 = 16 << 20, .window = 250 }, &c, &f);
	assert_int_equal(c.l1d_size, 32 << 10);
	assert_int_equal(c.l2_size, 1 << 20);
	assert_true(c.l3_size >= 16 << 20 && c.l3_size < 24 << 20);
	assert_true(c.rob_size > 240 && c.rob_size <= 258);
	assert_int_equal(c.l1d_latency, 4);
	assert_true(fabs(c.frequency_ghz - 3.5) < 1e-9);
	assert_int_equal(verdict(&f, "l2.size"), CAL_FITTED);
	assert_int_equal(verdict(&f, "alloc.width"), CAL_AGREES);
	assert_int_equal(core_config_check(&c, NULL), 0);
}

static void test_a_width_with_which_the_model_does_as_the_host_stays(void **state)
{
	(void)state;
	struct core_config c;
	struct cal_fields f;
	struct made_up m = { .l1 = 32 << 10, .l2 = 1 << 20, .l3 = 16 << 20, .window = 250, .core = "zen5",
		.zeros = 0.143, .zeros_base = 0.149 };
	fit(&m, &c, &f);	/* seven a cycle at a width of eight, as the uop cache delivers no more */
	assert_int_equal(verdict(&f, "alloc.width"), CAL_AGREES);
	assert_int_equal(c.alloc_width, 8);
	m.zeros_base = 0.125;	/* the model does not explain the figure, so the measurement counts */
	fit(&m, &c, &f);
	assert_int_equal(verdict(&f, "alloc.width"), CAL_FITTED);
	assert_int_equal(c.alloc_width, 7);
	m.zeros_base = 0;
	fit(&m, &c, &f);
	assert_int_equal(c.alloc_width, 7);
}

static void test_what_others_take_of_l3_leaves_its_size(void **state)
{
	(void)state;
	struct core_config c;
	struct cal_fields f;
	fit(&(struct made_up){ .l1 = 32 << 10, .l2 = 1 << 20, .l3 = 1e12, .others = 2, .window = 250 }, &c, &f);
	assert_int_equal(verdict(&f, "l3.size"), CAL_REFUSED);
	assert_int_equal(verdict(&f, "l3.others"), CAL_FITTED);
	for (double bytes = 4 << 20; bytes <= 32 << 20; bytes *= 2)
		assert_true(fabs(core_fall_per_cent(&c.l3_others, age_of(bytes)) - 100 * exp(-pow(age_of(bytes) / 2,
			2))) < 3);
	/* a size losing a quarter of its lines does not fit; others explain that, too, if the base's L3 is larger */
	fit(&(struct made_up){ .l1 = 32 << 10, .l2 = 1 << 20, .l3 = 16 << 20, .window = 250, .core = "zen5",
		.soft = true }, &c, &f);
	assert_int_equal(verdict(&f, "l3.others"), CAL_FITTED);
	assert_int_equal(verdict(&f, "l3.size"), CAL_REFUSED);
	fit(&(struct made_up){ .l1 = 32 << 10, .l2 = 1 << 20, .l3 = 16 << 20, .window = 250, .core = "zen5" }, &c, &f);
	assert_int_equal(verdict(&f, "l3.size"), CAL_FITTED);
}

static void test_huge_pages_that_miss_tlbs_as_small_ones_are_small(void **state)
{
	(void)state;
	struct core_config c;
	struct cal_fields f;
	struct made_up m = { .l1 = 32 << 10, .l2 = 1 << 20, .l3 = 16 << 20, .window = 250, .core = "zen4" };
	fit(&m, &c, &f);
	assert_int_equal(verdict(&f, "memory.huge"), CAL_AGREES);
	assert_int_equal(c.memory_huge, 1);
	m.small_huge = true;
	fit(&m, &c, &f);
	assert_int_equal(verdict(&f, "memory.huge"), CAL_FITTED);
	assert_int_equal(c.memory_huge, 0);
}

static void test_an_l1d_that_loses_all_is_lru(void **state)
{
	(void)state;
	struct core_config c;
	struct cal_fields f;
	struct made_up m = { .l1 = 48 << 10, .l2 = 1 << 20, .l3 = 16 << 20, .window = 250, .sharp = true };
	fit(&m, &c, &f);	/* twelve ways: the tree keeps some of sixteen lines */
	assert_int_equal(verdict(&f, "l1d.replacement"), CAL_FITTED);
	assert_int_equal(c.l1d_replacement, 0);
	m.l1 = 32 << 10;	/* eight: the tree loses them, too */
	m.core = "zen4";
	fit(&m, &c, &f);
	assert_int_equal(verdict(&f, "l1d.replacement"), CAL_AGREES);
}

static void test_a_stride_without_a_wait_a_page_is_asked_for_beyond_it(void **state)
{
	(void)state;
	struct core_config c;
	struct cal_fields f;
	struct made_up m = { .l1 = 32 << 10, .l2 = 1 << 20, .l3 = 1e12, .window = 250, .core = "zen4", .stride = 4.05,
		.stride_l3 = 4.3 };
	fit(&m, &c, &f);
	assert_int_equal(c.prefetch_l1d_ip_pages, 1);
	/* 43 cycles without those of the TLB: one load in ten waits */
	assert_int_equal(c.prefetch_l1d_ip_distance, 9);
	m.stride = 4.7;
	fit(&m, &c, &f);
	assert_int_equal(c.prefetch_l1d_ip_pages, 0);
}

static void test_what_is_fitted_goes_together(void **state)
{
	(void)state;
	struct core_config c;
	struct cal_fields f;
	struct err err = { 0 };
	fit(&(struct made_up){ .l1 = 32 << 10, .l2 = 1 << 20, .l3 = 16 << 20, .window = 250, .core = "zen4",
		.code = 2048 }, &c, &f);
	assert_true(c.dsb_ways < 12);	/* fewer than the lines that a window of the base may have */
	assert_int_equal(c.dsb_window_lines, c.dsb_ways);
	assert_int_equal(core_config_check(&c, &err), 0);
}

static void test_a_flat_host_changes_no_size(void **state)
{
	(void)state;
	struct core_config c, base;
	struct cal_fields f;
	assert_int_equal(core_config_load(&base, data_dir(), "golden-cove", NULL), 0);
	fit(&(struct made_up){ .flat = true, .window = 100000 }, &c, &f);
	assert_int_equal(c.l1d_size, base.l1d_size);
	assert_int_equal(c.l2_size, base.l2_size);
	assert_int_equal(c.l3_size, base.l3_size);
	assert_int_equal(c.rob_size, base.rob_size);
	assert_int_equal(c.dtlb_entries, base.dtlb_entries);
	assert_int_equal(verdict(&f, "l1d.size"), CAL_REFUSED);
	assert_int_equal(verdict(&f, "l2.size"), CAL_REFUSED);
	assert_int_equal(verdict(&f, "rob.size"), CAL_REFUSED);
	assert_int_equal(verdict(&f, "dtlb.entries"), CAL_REFUSED);	/* not measured */
	assert_int_equal(verdict(&f, "memory.scattered"), CAL_REFUSED);
}

static void test_pages_frames_are_asked_for_where_l2_is_half_full_and_more(void **state)
{
	(void)state;
	struct cal_probe *p;
	struct core_config c;
	size_t count = cal_probes(&p);
	bool *wanted = calloc(count, sizeof *wanted);
	double *model = calloc(count, sizeof *model);
	struct cal_native host = { .value = calloc(count, sizeof *host.value) };
	assert_int_equal(core_config_load(&c, data_dir(), "zen4", NULL), 0);
	assert_false(cal_scatter_wants(&c, p, count, &host, wanted));	/* not measured */
	for (size_t i = 0; i < count; i++)
		host.value[i] = (struct cal_value){ .cycles = 20, .low = 20, .high = 20 };
	assert_true(cal_scatter_wants(&c, p, count, &host, wanted));
	for (size_t i = 0; i < count; i++) {
		assert_int_equal(wanted[i], p[i].family == CAL_CHASE && p[i].param >= 512 << 10 &&
			p[i].param <= 1 << 20);
		model[i] = wanted[i] ? 20 * exp(i & 1 ? 0.1 : -0.1) : 1000;
	}
	assert_true(fabs(cal_off(count, &host, wanted, model) - 0.1) < 1e-9);
	host.value[cal_find(p, count, "chase.768K")].low = 10;
	host.value[cal_find(p, count, "chase.512K")].low = 10;
	assert_false(cal_scatter_wants(&c, p, count, &host, wanted));	/* too noisy */
	free(host.value);
	free(model);
	free(wanted);
	free(p);
}

static const struct made_up as_zen4 = { .l1 = 32 << 10, .l2 = 1 << 20, .l3 = 32 << 20, .window = 310, .core = "zen4",
	.code = 5200 };

static void same_sizes(const struct core_config *c, const struct core_config *base)
{
	assert_int_equal(c->l1d_size, base->l1d_size);
	assert_int_equal(c->l1d_ways, base->l1d_ways);
	assert_int_equal(c->l2_size, base->l2_size);
	assert_int_equal(c->l3_size, base->l3_size);
	assert_int_equal(c->rob_size, base->rob_size);
	assert_int_equal(c->dsb_ways, base->dsb_ways);
}

static void test_one_noisy_point_changes_no_size(void **state)
{
	(void)state;
	/* as a virtual machine measures at a load of 15: the median of the groups is on the wrong level */
	static const struct { const char *key, *point; struct cal_value groups; } noisy[] = {
		{ "l1d.size", "huge.32K", { 10.59, 4.09, 12.08, 0, 0 } },
		{ "dsb.ways", "code.5120", { 0.40, 0.17, 0.60, 0, 0 } },
		{ "l2.size", "huge.1M", { 46.49, 14.17, 304.42, 0, 0 } },
		{ "rob.size", "window.288", { 390, 210, 470, 0, 0 } },
	};
	struct core_config c, base;
	struct cal_fields f;
	assert_int_equal(core_config_load(&base, data_dir(), "zen4", NULL), 0);
	fit(&as_zen4, &c, &f);
	same_sizes(&c, &base);
	for (size_t i = 0; i < sizeof noisy / sizeof *noisy; i++)
		assert_int_equal(verdict(&f, noisy[i].key), CAL_AGREES);
	for (size_t i = 0; i < sizeof noisy / sizeof *noisy; i++) {
		struct made_up m = as_zen4;
		m.point = noisy[i].point;
		m.groups = noisy[i].groups;
		fit(&m, &c, &f);
		assert_int_equal(verdict(&f, noisy[i].key), CAL_REFUSED);
		assert_non_null(strstr(why(&f, noisy[i].key), "too noisy"));
		same_sizes(&c, &base);
	}
}

static void test_a_loaded_host_changes_no_size(void **state)
{
	(void)state;
	struct core_config c, base;
	struct cal_fields f;
	assert_int_equal(core_config_load(&base, data_dir(), "zen4", NULL), 0);
	for (uint32_t seed = 1; seed <= 300; seed++) {
		struct made_up m = as_zen4;
		m.seed = seed;
		m.load = seed % 3 * 20 + 10;
		fit(&m, &c, &f);
		same_sizes(&c, &base);
		assert_int_equal(core_config_check(&c, NULL), 0);
	}
}

static void test_a_level_that_was_not_seen_says_nothing_of_others(void **state)
{
	(void)state;
	struct core_config c;
	struct cal_fields f;
	fit(&(struct made_up){ .l1 = 32 << 10, .l2 = 1 << 20, .l3 = 1 << 20, .window = 250 }, &c, &f);
	assert_int_equal(verdict(&f, "l3.others"), CAL_REFUSED);
	assert_int_equal(verdict(&f, "l3.size"), CAL_REFUSED);
}

/* cal_model_age takes the cycles of linking a place, of waiting and of an access. The places that a chain meets were
 * linked a little later than the first place. */
static void test_the_age_of_what_a_chain_meets_is_since_its_linking(void **state)
{
	(void)state;
	struct cal_probe *p;
	size_t count = cal_probes(&p);
	const struct cal_probe *chain = p + cal_find(p, count, "chase.8M"), *stride = p + cal_find(p, count,
		"stride.8M"), *add = p + cal_find(p, count, "add");
	const double places = 8 << 20 >> 6;
	assert_true(cal_places(chain) == places && cal_places(stride) == places / 4 && cal_places(add) == 0);
	const double age = cal_model_age(chain, 32736, 10, 1000, 50), waited = cal_model_age(chain, 32736, 10, 21000,
		50);
	assert_true(fabs(waited - age - 20000) < 1e-6);
	/* half of the 4096 accesses, less the time of the places that were linked before their middle */
	const double met = (age - 10 * places - 1000) / (50 / 2. * 4096);
	assert_true(met < 1 && met > 0);
	assert_true(cal_model_age(chain, 200000, 10, 1000, 50) < 0);	/* beyond one lap */
	assert_true(cal_model_age(chain, 0, 10, 1000, 50) < 0 && cal_model_age(add, 32736, 10, 1000, 50) < 0);
	/* a wait of -1: the accesses before it count */
	assert_true(cal_model_age(chain, 32736, 10, -1, 50) > cal_model_age(chain, 32736, 10, 4096 * 50, 50) - 1);
	free(p);
}

static void test_what_the_model_tries_is_asked_of_chains_that_show_it(void **state)
{
	(void)state;
	struct cal_probe *p;
	struct core_config c, base;
	struct cal_fields f = { .fields = 0 };
	size_t count = cal_probes(&p);
	bool *wanted = calloc(count, sizeof *wanted);
	struct cal_native host = { .value = calloc(count, sizeof *host.value) };
	assert_int_equal(core_config_load(&base, data_dir(), "zen5", NULL), 0);
	c = base;
	for (size_t i = 0; i < count; i++)
		host.value[i] = (struct cal_value){ .cycles = 20, .low = 20, .high = 20, .age_ms = 0.2 };
	assert_false(cal_room_wants(&c, p, count, &host, wanted));	/* no other programs */
	assert_int_equal(core_config_set(&c, "l3.others=0.5:100 4:0", NULL), 0);
	assert_true(cal_room_wants(&c, p, count, &host, wanted));
	for (size_t i = 0; i < count; i++) {
		assert_int_equal(wanted[i], p[i].family == CAL_STRIDE && p[i].param >= 4 << 20 &&
			p[i].param <= 16 << 20);
		host.value[i].age_ms = 0.6;
	}
	assert_false(cal_room_wants(&c, p, count, &host, wanted));	/* the lines are too old */
	cal_room_is(&c, &f, &base, 12, 0.1);
	assert_true(c.l3_ways == 12 && c.l3_size == 24 << 20 && verdict(&f, "l3.ways") == CAL_FITTED &&
		verdict(&f, "l3.size") == CAL_FITTED);
	cal_room_is(&c, &f, &base, 16, 0.1);
	assert_true(c.l3_ways == 16 && c.l3_size == 32 << 20 && verdict(&f, "l3.ways") == CAL_AGREES);
	c.prefetch_l1d_ip_pages = 0;
	assert_false(cal_distance_wants(&c, p, count, &host, false, wanted));	/* the prefetcher stops at pages */
	c.prefetch_l1d_ip_pages = 1;
	assert_true(cal_distance_wants(&c, p, count, &host, false, wanted));
	for (size_t i = 0; i < count; i++)
		assert_int_equal(wanted[i], p[i].family == CAL_STRIDE && (p[i].param == 2 << 20 ||
			p[i].param == 4 << 20));
	/* with the points of memory once its reads are known */
	assert_true(cal_distance_wants(&c, p, count, &host, true, wanted));
	for (size_t i = 0; i < count; i++)
		assert_int_equal(wanted[i], p[i].family == CAL_STRIDE && (p[i].param == 2 << 20 ||
			p[i].param == 4 << 20 || p[i].param == 64 << 20));
	assert_true(cal_uneven_wants(&c, p, count, &host, wanted));
	for (size_t i = 0; i < count; i++)
		assert_int_equal(wanted[i], p[i].family == CAL_STRIDE && p[i].param >= 64 << 20);
	cal_uneven_is(&c, &f, &base, 20, 0.1);
	assert_true(fabs(c.dram_others_ns - base.dram_others_ns / 5) < 1e-9 &&
		verdict(&f, "dram.others_ns") == CAL_FITTED);
	/* the mean latency stays */
	assert_true(fabs(c.dram_others_ns + c.dram_latency_ns - base.dram_others_ns - base.dram_latency_ns) < 1e-9);
	cal_uneven_set(&c, &base, 0);
	assert_false(cal_uneven_wants(&c, p, count, &host, wanted));	/* all reads take equally long, */
	/* so the distance shows in memory, too */
	assert_true(cal_distance_wants(&c, p, count, &host, false, wanted));
	for (size_t i = 0; i < count; i++)
		assert_int_equal(wanted[i], p[i].family == CAL_STRIDE && (p[i].param == 2 << 20 ||
			p[i].param == 4 << 20 || p[i].param == 64 << 20));
	cal_distance_is(&c, &f, &base, 9, 0.1);
	assert_true(c.prefetch_l1d_ip_distance == 9 && verdict(&f, "prefetch.l1d_ip_distance") == CAL_FITTED);
	free(host.value);
	free(wanted);
	free(p);
}

/* Refines a model in which a chain of `at` bytes finds less than on the host (sign 1) or more (-1), by the cycles of
 * 3 % of all lines. Returns the per cent of lines that others leave in L3. */
static double left_after_a_step(double at, double sign, bool hidden)
{
	struct cal_probe *p;
	struct core_config c, base;
	struct cal_fields out = { .fields = 0 };
	size_t count = cal_probes(&p);
	struct cal_native host = { .ghz = 3.5, .value = calloc(count, sizeof *host.value) };
	double *model = calloc(count, sizeof *model);
	assert_int_equal(core_config_load(&base, data_dir(), "zen5", NULL), 0);
	c = base;
	assert_int_equal(core_config_set(&c, "l3.others=0.2:60 4:0", NULL), 0);
	for (size_t i = 0; i < count; i++) {
		const double y = p[i].param <= c.l2_size ? 14 : p[i].param <= 2 << 20 ? (hidden && p[i].param == 2 << 20
			? 200 : 50) : p[i].param < 64 << 20 ? 200 : 450;
		if (p[i].family == CAL_CHASE)
			host.value[i] = (struct cal_value){ y, y, y, age_of(p[i].param), 0 };
		model[i] = p[i].family == CAL_CHASE ? y + (p[i].param == at ? sign * 12 : 0) : -1;
	}
	cal_refine(&c, &out, &base, p, count, &host, model, model, false);
	const double left = core_fall_per_cent(&c.l3_others, age_of(at));
	if (hidden)
		assert_true(verdict(&out, "l3.latency_ns") == CAL_REFUSED && strstr(why(&out, "l3.latency_ns"),
			"other programs have pushed lines out"));
	free(model);
	free(host.value);
	free(p);
	return left;
}

static void test_what_others_leave_follows_what_the_model_is_off(void **state)
{
	(void)state;
	const double at = 8 << 20, was = 60 * (4 - age_of(at)) / 3.8;
	assert_true(fabs(left_after_a_step(at, 0, false) - was) < 0.2);
	assert_true(fabs(left_after_a_step(at, 1, false) - was - 3) < 0.2);
	assert_true(fabs(left_after_a_step(at, -1, false) - was + 3) < 0.2);
	assert_true(fabs(left_after_a_step(2 << 20, 1, false) - 100) < 0.2);	/* the level itself: no line is gone */
}

static void test_a_level_that_others_hide_leaves_the_latency(void **state)
{
	(void)state;
	left_after_a_step(8 << 20, 0, true);
}

/* The host was disturbed while L2 or L1D was measured; still each level takes longer than the one before. */
static void test_each_level_takes_longer_than_the_one_before(void **state)
{
	(void)state;
	struct cal_probe *p;
	struct core_config c, base;
	struct cal_fields out = { .fields = 0 };
	fit(&(struct made_up){ .flat = true }, &c, &out);
	assert_int_equal(c.l1d_latency, 20);
	assert_int_equal(c.l2_latency, 21);
	assert_int_equal(c.l2_code_latency, 21);

	size_t count = cal_probes(&p), probe = cal_find(p, count, "huge.128K");
	struct cal_native host = { .ghz = 3.5, .value = calloc(count, sizeof *host.value) };
	double *model = calloc(count, sizeof *model);
	assert_true(probe < count);
	assert_int_equal(core_config_load(&base, data_dir(), "golden-cove", NULL), 0);
	for (size_t i = 0; i < count; i++)
		model[i] = -1;
	const struct { double host, model; uint32_t latency, code; } step[] = { { 42, 16, 42, 42 }, { 18, 42, 18, 20 },
		{ 6, 18, 6, 20 }, { 2, 6, 6, 20 } };
	c = base;
	for (size_t i = 0; i < sizeof step / sizeof *step; i++) {
		host.value[probe] = (struct cal_value){ step[i].host, step[i].host, step[i].host, 0, 0 };
		model[probe] = step[i].model;
		cal_refine(&c, &out, &base, p, count, &host, model, model, false);
		assert_int_equal(c.l2_latency, step[i].latency);
		assert_int_equal(c.l2_code_latency, step[i].code);
	}
	c.l2_latency = 42;
	host.value[probe] = (struct cal_value){ 42, 42, 42, 0, 0 };
	model[probe] = 42;
	cal_refine(&c, &out, &base, p, count, &host, model, model, true);
	assert_int_equal(c.l2_code_latency, 42);
	assert_int_equal(verdict(&out, "l2.latency"), CAL_FITTED);
	assert_int_equal(verdict(&out, "l2.code_latency"), CAL_FITTED);
	assert_int_equal(verdict(&out, "l3.latency_ns"), CAL_REFUSED);	/* not measured and slower */
	assert_true(c.l3_latency_ns == base.l3_latency_ns);
	host.value[probe] = (struct cal_value){ 300, 300, 300, 0, 0 };
	model[probe] = 300;
	c.l2_latency = 300;
	cal_refine(&c, &out, &base, p, count, &host, model, model, true);
	assert_int_equal(lround(c.l3_latency + c.l3_latency_ns * c.frequency_ghz), 301);
	assert_int_equal(verdict(&out, "l3.latency_ns"), CAL_FITTED);
	free(model);
	free(host.value);
	free(p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_sizes_are_read_off_the_curves),
		cmocka_unit_test(test_a_width_with_which_the_model_does_as_the_host_stays),
		cmocka_unit_test(test_what_others_take_of_l3_leaves_its_size),
		cmocka_unit_test(test_pages_frames_are_asked_for_where_l2_is_half_full_and_more),
		cmocka_unit_test(test_huge_pages_that_miss_tlbs_as_small_ones_are_small),
		cmocka_unit_test(test_an_l1d_that_loses_all_is_lru),
		cmocka_unit_test(test_a_stride_without_a_wait_a_page_is_asked_for_beyond_it),
		cmocka_unit_test(test_what_is_fitted_goes_together), cmocka_unit_test(test_a_flat_host_changes_no_size),
		cmocka_unit_test(test_one_noisy_point_changes_no_size),
		cmocka_unit_test(test_a_loaded_host_changes_no_size),
		cmocka_unit_test(test_a_level_that_was_not_seen_says_nothing_of_others),
		cmocka_unit_test(test_what_others_leave_follows_what_the_model_is_off),
		cmocka_unit_test(test_what_the_model_tries_is_asked_of_chains_that_show_it),
		cmocka_unit_test(test_a_level_that_others_hide_leaves_the_latency),
		cmocka_unit_test(test_the_age_of_what_a_chain_meets_is_since_its_linking),
		cmocka_unit_test(test_each_level_takes_longer_than_the_one_before),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
