/* SPDX-License-Identifier: GPL-2.0-or-later
 * Profiles: what each function is charged, and the printed table and trees, which must be those of perf.
 *
 * The samples are made up; they hit functions of this very program, so that both readers find symbols. */
#include "perfdata_fixture.h"
#include "output/annotate.h"
#include "output/profile.h"

/* Functions that are never called: samples hit them. */
#define PLACE(name) __attribute__((noinline)) int name(int x); int name(int x) { return x * (__LINE__ + x); }
PLACE(place_main) PLACE(place_parse) PLACE(place_work) PLACE(place_leaf)

static uint64_t ip_of(int (*f)(int)) { return (uintptr_t)f; }

/* This program's mappings, as the run would report them. */
static void write_maps(struct perfdata_writer *w)
{
	FILE *maps = fopen("/proc/self/maps", "r");
	char line[8192], path[4096];
	assert_non_null(maps);
	perfdata_comm(w, 5, 5, "prog", true, 1);
	while (fgets(line, sizeof line, maps)) {
		unsigned long start, end, offset, inode;
		char rights[8];
		if (sscanf(line, "%lx-%lx %7s %lx %*s %lu %4095s", &start, &end, rights, &offset, &inode, path) != 6 ||
			path[0] != '/')
			continue;
		struct perfdata_map m = { .pid = 5, .tid = 5, .addr = start, .bytes = end - start, .offset = offset,
			.inode = inode, .path = path,
					  .prot = PROT_READ | (rights[2] == 'x' ? PROT_EXEC : 0) };
		perfdata_mmap(w, &m, 1);
	}
	fclose(maps);
}

static void hit(struct perfdata_writer *w, uint64_t period, const uint64_t *chain, size_t length)
{
	static uint64_t time = 10;
	assert_int_equal(perfdata_sample(w, &(struct perfdata_sample){ .ip = chain[0], .time = time++, .period = period,
		.pid = 5, .tid = 5,
								       .chain = chain, .chain_length = length }), 0);
}

static void write_profile(const char *path, bool chains)
{
	struct perfdata_writer *w = create(path, 1, chains);
	uint64_t m = ip_of(place_main), p = ip_of(place_parse), k = ip_of(place_work), l = ip_of(place_leaf);
	write_maps(w);
	hit(w, 500, (uint64_t[]){ l, k, m }, 3);
	hit(w, 250, (uint64_t[]){ l + 1, p, m }, 3);
	hit(w, 100, (uint64_t[]){ k + 1, k, k, m }, 4);	/* recursion */
	hit(w, 90, (uint64_t[]){ k, m }, 2);
	hit(w, 57, (uint64_t[]){ m }, 1);
	hit(w, 2, (uint64_t[]){ p, m }, 2);
	hit(w, 1, (uint64_t[]){ 0xdead0000beef, m }, 2);
	assert_int_equal(perfdata_finish(w, NULL, NULL, NULL), 0);
}

static struct perfdata_file *file;
static struct profile *load(const char *path, const struct profile_options *o)
{
	struct profile *p;
	assert_int_equal(perfdata_open(&file, path, NULL), 0);
	assert_int_equal(profile_load(&p, file, o, NULL), 0);
	return p;
}
static void unload(struct profile *p)
{
	profile_free(p);
	perfdata_close(file);
}
static const struct profile_options by_symbol = { .key = { PROFILE_COMM, PROFILE_DSO, PROFILE_SYMBOL }, .keys = 3,
	.chains = true, .trees = true,
						  .children = true, .caller_first = true, .chain_percent = 0.5 };

static const struct profile_entry *entry(const struct profile *p, const char *name)
{
	for (size_t i = 0; i < p->event[0].entries; i++) {
		const struct profile_entry *e = &p->event[0].entry[i];
		if (e->symbol && !strcmp(e->symbol->name, name))
			return e;
	}
	fail_msg("no entry %s", name);
	return NULL;
}

static void test_a_function_is_charged_what_hit_it(void **state)
{
	struct fixture *f = *state;
	write_profile(f->path, false);
	struct profile *p = load(f->path, &by_symbol);
	assert_int_equal(p->event[0].samples, 7);
	assert_int_equal(p->event[0].period, 1000);
	assert_false(p->event[0].children);
	assert_int_equal(entry(p, "place_leaf")->self, 750);
	assert_int_equal(entry(p, "place_leaf")->samples, 2);
	assert_int_equal(entry(p, "place_work")->self, 190);
	assert_string_equal(p->event[0].entry[0].symbol->name, "place_leaf");	/* the hottest first */
	assert_string_equal(p->event[0].entry[0].comm, "prog");
	const struct profile_entry *last = &p->event[0].entry[p->event[0].entries - 1];
	assert_null(last->symbol);
	assert_string_equal(last->dso, "[unknown]");
	assert_int_equal(last->address, 0xdead0000beef);
	unload(p);
}

static void test_callers_are_charged_once_for_what_they_call(void **state)
{
	struct fixture *f = *state;
	write_profile(f->path, true);
	struct profile *p = load(f->path, &by_symbol);
	assert_true(p->event[0].children);
	assert_int_equal(entry(p, "place_main")->total, 1000);
	assert_int_equal(entry(p, "place_main")->self, 57);
	assert_int_equal(entry(p, "place_work")->total, 690);	/* three frames of one sample count once */
	assert_int_equal(entry(p, "place_work")->self, 190);
	assert_int_equal(entry(p, "place_parse")->total, 252);
	const struct profile_node *n = entry(p, "place_main")->tree->child;
	assert_string_equal(n->symbol->name, "place_main");
	assert_int_equal(n->hit, 57);
	assert_string_equal(n->child->symbol->name, "place_work");
	assert_int_equal(n->child->total, 690);
	assert_string_equal(n->child->next->symbol->name, "place_parse");
	assert_null(n->child->next->next);		/* 0.1 % is below the limit */
	unload(p);
}

static void test_every_branch_of_a_stack_counts_one(void **state)
{
	struct fixture *f = *state;
	struct perfdata_options o = options(f->path, 1, false);
	struct perfdata_writer *w;
	uint64_t m = ip_of(place_main), k = ip_of(place_work), l = ip_of(place_leaf);
	/* flags: 1 mispredicted, 2 predicted, cycles from bit 4 on */
	const struct perfdata_branch branch[] = { { m, k, 2 | 7 << 4 }, { m + 1, k + 1, 2 | 7 << 4 },
		{ m, k, 1 | 7 << 4 }, { k, l, 2 } };
	o.fields = PERFDATA_BRANCHES;
	o.branch_type = PERF_SAMPLE_BRANCH_ANY;
	assert_int_equal(perfdata_create(&w, &o, NULL), 0);
	write_maps(w);
	for (unsigned i = 0; i < 3; i++)	/* stacks of 4, 1 and none */
		assert_int_equal(perfdata_sample(w, &(struct perfdata_sample){ .ip = l, .time = 50 + i, .period = 1000,
			.pid = 5, .tid = 5,
			.branch = branch, .branches = (size_t[]){ 4, 1, 0 }[i] }), 0);
	assert_int_equal(perfdata_finish(w, NULL, NULL, NULL), 0);
	struct profile *p = load(f->path, &(struct profile_options){ .key = { PROFILE_SYMBOL_FROM, PROFILE_SYMBOL_TO },
		.keys = 2, .branches = true });
	assert_int_equal(p->event[0].samples, 5);
	assert_int_equal(p->event[0].period, 5);
	assert_int_equal(p->event[0].entries, 2);
	assert_string_equal(p->event[0].entry[0].from.symbol->name, "place_main");
	assert_string_equal(p->event[0].entry[0].to.symbol->name, "place_work");
	assert_int_equal(p->event[0].entry[0].self, 4);
	assert_string_equal(p->event[0].entry[1].to.symbol->name, "place_leaf");
	unload(p);
	p = load(f->path, &(struct profile_options){ .key = { PROFILE_MISPREDICT, PROFILE_CYCLES }, .keys = 2,
		.branches = true });
	assert_int_equal(p->event[0].entries, 3);
	assert_int_equal(p->event[0].entry[0].prediction, PROFILE_PREDICTED);
	assert_int_equal(p->event[0].entry[0].cycles, 7);
	assert_int_equal(p->event[0].entry[0].self, 3);
	unload(p);
}

static char *print(const char *path, const struct profile_options *o, const struct report_options *r,
		   void (*how)(FILE *, const struct profile *, const struct report_options *))
{
	char *text;
	size_t size;
	struct profile *p = load(path, o);
	FILE *to = open_memstream(&text, &size);
	how(to, p, r);
	fclose(to);
	unload(p);
	return text;
}

/* Compares both from the header of the samples on, without the tip that perf prints at the end. */
static void assert_same_table(char *ours, char *theirs)
{
	char *a = strstr(ours, "# Samples:"), *b = strstr(theirs, "# Samples:");
	assert_non_null(a);
	assert_non_null(b);
	char *tip = strstr(b, "\n#\n# (Tip");
	if (tip)
		*tip = 0;
	size_t n = strlen(a), m = strlen(b);
	while (n && a[n - 1] == '\n')
		a[--n] = 0;
	while (m && b[m - 1] == '\n')
		b[--m] = 0;
	assert_string_equal(a, b);
	free(ours);
	free(theirs);
}

static void test_the_table_is_perfs(void **state)
{
	struct fixture *f = *state;
	struct report_options r = { .file_name = "x", .print_chains = true };
	write_profile(f->path, false);
	char *theirs = perf("report --stdio", f->path);
	if (!theirs)
		skip();
	assert_same_table(print(f->path, &by_symbol, &r, report_stdio), theirs);
	r.percent_limit = 10;
	assert_same_table(print(f->path, &by_symbol, &r, report_stdio), perf("report --stdio --percent-limit 10",
		f->path));
	struct profile_options dso = { .key = { PROFILE_DSO, PROFILE_COMM }, .keys = 2 };
	r = (struct report_options){ .file_name = "x", .counts = true };
	assert_same_table(print(f->path, &dso, &r, report_stdio), perf("report --stdio -n --sort dso,comm", f->path));
}

static void test_the_call_trees_are_perfs(void **state)
{
	struct fixture *f = *state;
	struct report_options r = { .file_name = "x", .print_chains = true };
	write_profile(f->path, true);
	char *theirs = perf("report --stdio", f->path);
	if (!theirs)
		skip();
	assert_same_table(print(f->path, &by_symbol, &r, report_stdio), theirs);
	struct profile_options callee = by_symbol;
	callee.children = callee.caller_first = false;
	assert_same_table(print(f->path, &callee, &r, report_stdio), perf("report --stdio --no-children", f->path));
	struct profile_options symbol = by_symbol;
	symbol.key[0] = PROFILE_SYMBOL;
	symbol.keys = 1;
	r.sort_starts_with_symbol = true;
	assert_same_table(print(f->path, &symbol, &r, report_stdio), perf("report --stdio --sort sym", f->path));
}

static void test_json_holds_the_same_numbers(void **state)
{
	struct fixture *f = *state;
	struct report_options r = { .file_name = "a \"quoted\"\nname", .percent_limit = 20 };
	struct profile_options o = by_symbol;
	o.chains = false;
	write_profile(f->path, true);
	char *text = print(f->path, &o, &r, report_json);
	assert_non_null(strstr(text, "{\"file\": \"a \\\"quoted\\\"\\u000aname\", \"lost\": 0, \"events\": [\n"
				     "{\"event\": \"cycles:u\", \"samples\": 7, \"period\": 1000, \"entries\": [\n"
				     "  {\"overhead\": 75.0000, \"period\": 750, \"samples\": 2, \"comm\": \"prog\", "
				     	"\"dso\": \"test_perfdata_profile\", "
				     "\"symbol\": \"place_leaf\"}\n]}\n]}\n"));
	free(text);
}

static void test_an_instruction_gets_its_share_of_the_function(void **state)
{
	struct fixture *f = *state;
	struct annotate *a;
	struct annotate_options o = { .no_source = true };
	char *text;
	size_t size;
	write_profile(f->path, false);
	assert_int_equal(perfdata_open(&file, f->path, NULL), 0);
	assert_int_equal(annotate_load(&a, file, NULL), 0);
	assert_true(a->event[0].symbols == 4);
	const struct annotate_symbol *s = &a->event[0].symbol[0];
	assert_string_equal(s->symbol->name, "place_leaf");
	assert_int_equal(s->period, 750);
	FILE *to = open_memstream(&text, &size);
	assert_int_equal(annotate_print(to, &a->event[0], s, &o, NULL), 0);
	fclose(to);
	double sum = 0;
	unsigned lines = 0;
	for (char *line = text; line; line = strchr(line, '\n')) {
		double share;
		unsigned long at;
		line += *line == '\n';
		if (sscanf(line, " %lf : %lx:", &share, &at) == 2) {
			sum += share;
			lines++;
		}
		if (!*line)
			break;
	}
	assert_true(lines >= 2 && sum > 99.95 && sum < 100.05);
	free(text);
	annotate_free(a);
	perfdata_close(file);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
#define T(name) cmocka_unit_test_setup_teardown(name, fixture_setup, fixture_teardown)
		T(test_a_function_is_charged_what_hit_it), T(test_callers_are_charged_once_for_what_they_call),
			T(test_the_table_is_perfs),
		T(test_every_branch_of_a_stack_counts_one),
		T(test_the_call_trees_are_perfs), T(test_json_holds_the_same_numbers),
		T(test_an_instruction_gets_its_share_of_the_function),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
