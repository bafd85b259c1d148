/* SPDX-License-Identifier: GPL-2.0-or-later
 * Machines that have one leader (core/machine/leads.h): each field that counts as timing is changed, and warming leaves
 * what it leaves without the change; a field that is not listed keeps machines apart.  Predictors that learn for
 * another machine's leader: a field that is not theirs changes nothing in what they learn. */
#include "isa_fixture.h"
#include "core/core.h"
#include "core/machine/leads.h"

enum { BLOCKS = 48, WARMED = 3000, TIMED = 400 };

static uint64_t next_random(uint64_t *s)
{
	*s ^= *s << 13;
	*s ^= *s >> 7;
	return *s ^= *s << 17;
}

static void load_core(struct core_config *c, const char *name)
{
	struct err err;
	assert_int_equal(core_config_load(c, data_dir(), name, &err), 0);
}

/* Blocks with loads, stores, moves, zero idioms, constants, fused and microcoded instructions, a branch at the end. */
static void make(struct iblock *block[BLOCKS], const struct core_config *c)
{
	static const char *const code[] = { "48 89 c8", "31 c0", "48 83 c0 08", "48 01 d8", "48 f7 f1", "90",
		"0f 28 c1", "66 0f ef c0", "0f a2", "f0 48 0f c1 06", "48 8b 06", "48 89 07", "48 03 04 0e",
		"66 81 c1 34 12" };
	char path[4096];
	struct isa_options o;
	struct isa *isa;
	struct err err;
	uint64_t s = 5, at = 0x400000;
	snprintf(path, sizeof path, "%s/uops/%s.tsv", data_dir(), c->uops);
	assert_int_equal(isa_create(&isa, path, &err), 0);
	core_isa_options(c, &o);
	isa_configure(isa, &o);
	for (unsigned i = 0; i < BLOCKS; i++) {
		struct maker m;
		maker_init(&m, at);
		for (uint64_t n = 1 + next_random(&s) % 8; n; n--) {
			const size_t k = next_random(&s) % (sizeof code / sizeof *code);
			maker_insn(&m, code[k]);
			if (k == 9)
				maker_slot(&m, ST_SLOT_LOADSTORE, 8);
			else if (k >= 10 && k <= 12)
				maker_slot(&m, k == 11 ? ST_SLOT_STORE : ST_SLOT_LOAD, 8);
		}
		maker_insn(&m, i % 4 ? "74 10" : "ff e0");	/* JE, or JMP RAX */
		block[i] = maker_decode(&m, isa, 8);
		at = m.addr + next_random(&s) % 300;
	}
	isa_destroy(isa);
}

static void drop(struct iblock *block[BLOCKS])
{
	for (unsigned i = 0; i < BLOCKS; i++)
		isa_block_free(block[i]);
}

static void warm_taught(struct core *c, struct iblock *b, unsigned exit, unsigned insns, const uint64_t *slots,
	uint64_t next_ip)
{
	(void)next_ip;
	core_warm_taught(c, b, exit, insns, slots);
}

/* Executes some blocks, by core_run_block, which times them, or by a function that warms. */
typedef void execute(struct core *, struct iblock *, unsigned, unsigned, const uint64_t *, uint64_t);
static void walk(struct core *c, struct iblock *block[BLOCKS], uint64_t *s, unsigned n, execute *run)
{
	unsigned at = (unsigned)(next_random(s) % BLOCKS);
	while (n--) {
		struct iblock *b = block[at];
		uint64_t slots[32];
		for (unsigned i = 0; i < b->slots; i++) {
			const uint64_t v = next_random(s);
			const uint64_t among = v % 4 ? 0x3fff : v % 16 ? 0x7ffff : 0x3ffffff;
			slots[i] = 0x10000000 + (v >> 8 & among);
			slots[i] += v % 64 == 1 ? 61 : 0;
		}
		const uint64_t v = next_random(s);
		at = v % 3 ? (at + 1 + (v >> 8 & 1)) % BLOCKS : (unsigned)(v >> 8) % BLOCKS;
		run(c, b, 0, b->insns, slots, block[at]->addr);
	}
}

static struct spmu_record *add_up(void *hash, const struct spmu_batch *b)
{
	uint64_t *h = hash;
	for (uint32_t i = 0; i < b->count; i++) {
		const struct spmu_record *r = &b->records[i];
		if (r->kind == SPMU_REC_UOP)
			*h = (*h ^ r->ip ^ r->did ^ (b->base_cycle + r->retire) << 20) * UINT64_C(0x100000001b3);
	}
	return NULL;
}

static const struct core_wanted everything = { .signal = { ~UINT64_C(0), ~UINT64_C(0) }, .is = ~UINT64_C(0),
	.did = ~UINT64_C(0), .outcomes = true };

/* False: there is no such leader. */
static bool make_leader(const struct core_config *of, struct machine **leader, struct core **l)
{
	struct err err = { 0 };
	if (machine_create(leader, of, &err))	/* there is no such machine */
		return false;
	machine_leads(*leader);
	if (!core_create(l, *leader, NULL, NULL, &err))
		return true;
	machine_destroy(*leader);
	return false;
}

/* Warms a leader of the one description, and times a core of the other one from there: a hash of what that did; 0:
 * there is no such leader.  teaches: NULL, or the machine whose leader's predictors learn for it. */
static uint64_t lead(const struct core_config *leads, const struct core_config *timed,
	const struct core_config *teaches)
{
	struct iblock *block[BLOCKS];
	struct machine *leader, *machine, *teacher = NULL;
	struct core *l, *c, *from = NULL;
	struct err err = { 0 };
	uint64_t s = 99, hash = 0;
	if (teaches && !make_leader(teaches, &teacher, &from))
		return 0;
	if (!make_leader(leads, &leader, &l)) {
		assert_null(teaches);
		return 0;
	}
	if (teaches) {
		uint64_t same = s;
		make(block, teaches);
		walk(from, block, &same, WARMED, core_warm_block);
		drop(block);
	}
	assert_int_equal(machine_create(&machine, timed, &err), 0);
	assert_int_equal(core_create(&c, machine, add_up, &hash, &err), 0);
	core_want(c, &everything);
	make(block, leads);
	walk(l, block, &s, WARMED, teaches ? warm_taught : core_warm_block);
	if (teaches)
		core_copy_predictors(l, from);
	const struct core_misses m = core_warm_misses(l);
	hash = m.branches + m.l1 * 3 + m.l2 * 5 + m.l3 * 7 + m.walks * 11;
	drop(block);
	core_copy(c, l);
	assert_int_equal(machine_copy(machine, leader, &err), 0);
	make(block, timed);
	walk(c, block, &s, TIMED, core_run_block);
	core_flush(c, true);
	drop(block);
	core_destroy(c);
	core_destroy(l);
	machine_destroy(machine);
	machine_destroy(leader);
	if (teaches) {
		core_destroy(from);
		machine_destroy(teacher);
	}
	return hash;
}

static const char *const cores[] = { "golden-cove", "skylake" };
static const char *const value[] = { "0", "1", "2", "3", "5", "12", "100" };
enum { VALUES = sizeof value / sizeof *value };

static void test_fields_of_timing_leave_what_warming_leaves_as_it_is(void **state)
{
	(void)state;
	for (unsigned p = 0; p < sizeof cores / sizeof *cores; p++) {
		struct core_config preset;
		unsigned changes = 0;
		load_core(&preset, cores[p]);
		const uint64_t is = lead(&preset, &preset, NULL);
		const char *key;
		for (unsigned k = 0; (key = core_config_timed_field(k)); k++) {
			unsigned tried = 0;
			for (unsigned v = 0; v < VALUES && tried < 2; v++) {
				struct core_config changed = preset;
				char text[128];
				snprintf(text, sizeof text, "%s=%s", key, value[v]);
				if (core_config_set(&changed, text, NULL) || core_config_check(&changed, NULL) ||
					core_config_same(&changed, &preset))
					continue;
				assert_true(core_config_leads_alike(&changed, &preset));
				const uint64_t led = lead(&changed, &preset, NULL);
				if (led && led != is)
					fail_msg("%s: warming with %s leaves something else", cores[p], text);
				tried += led > 0;
				changes += led > 0;
			}
		}
		assert_true(changes > 100);
	}
}

/* Every field of the memory, the front end and the wrong path, at another value. */
static void test_predictors_learn_the_same_whatever_the_rest_of_the_machine_is(void **state)
{
	static const struct { const char *key; bool theirs; } field[] = {
#define FIELD_INT(id, key, min, max, unit, help) { key, false },
#define FIELD_ENUM(id, key, names, help) { key, false },
#include "core/machine/fields.def"
#define FIELD_INT(id, key, min, max, unit, help) { key, true },
#define FIELD_ENUM(id, key, names, help) { key, true },
#define FIELD_DEFAULT(key, value)
#include "core/machine/fields_bpred.def"
#undef FIELD_INT
#undef FIELD_ENUM
#undef FIELD_DEFAULT
	};
	struct core_config preset;
	unsigned alike = 0, apart = 0;
	(void)state;
	load_core(&preset, cores[0]);
	const uint64_t is = lead(&preset, &preset, NULL);
	for (size_t k = 0; k < sizeof field / sizeof *field; k++) {
		unsigned tried = 0;
		for (unsigned v = 0; v < VALUES && !tried; v++) {
			struct core_config changed = preset;
			char text[128];
			snprintf(text, sizeof text, "%s=%s", field[k].key, value[v]);
			if (core_config_set(&changed, text, NULL) || core_config_check(&changed, NULL) ||
				core_config_leads_alike(&changed, &preset))
				continue;
			if (field[k].theirs)
				assert_false(core_config_predict_alike(&changed, &preset));
			apart += field[k].theirs;
			if (!core_config_predict_alike(&changed, &preset))
				continue;
			const uint64_t led = lead(&preset, &preset, &changed);
			if (led && led != is)
				fail_msg("predictors with %s learn something else", text);
			tried += led > 0;
			alike += led > 0;
		}
	}
	assert_true(alike > 50);
	assert_true(apart > 20);
	struct core_config other = preset;
	other.bpred_perfect = 1;	/* which learns nothing */
	assert_true(lead(&preset, &preset, &other) != is);
}

static bool is_timed(const char *key)
{
	const char *timed;
	for (unsigned k = 0; (timed = core_config_timed_field(k)); k++)
		if (!strcmp(timed, key))
			return true;
	return false;
}

static void test_every_other_field_keeps_machines_apart(void **state)
{
	struct core_config preset, changed;
	unsigned timed = 0, fields = 0;
	(void)state;
	load_core(&preset, cores[0]);
#define APART(key) \
	assert_false(core_config_same(&changed, &preset)); \
	assert_int_equal(core_config_leads_alike(&changed, &preset), is_timed(key)); \
	timed += is_timed(key); \
	fields++;
#define FIELD_INT(id, key, min, max, unit, help) changed = preset; changed.id++; APART(key)
#define FIELD_REAL(id, key, min, max, unit, help) changed = preset; changed.id += 1; APART(key)
#define FIELD_ENUM(id, key, names, help) changed = preset; changed.id++; APART(key)
#define FIELD_FALL(id, key, unit, help) \
	changed = preset; changed.id = (struct core_fall){ 1, { 7 }, { 0 } }; APART(key)
#include "core/machine/fields.def"
	unsigned listed = 0;
	while (core_config_timed_field(listed))
		listed++;
	assert_int_equal(timed, listed);
	assert_true(fields > 2 * timed);
}

static void test_a_leader_with_another_cache_is_noticed(void **state)
{
	struct core_config preset, changed;
	struct err err;
	(void)state;
	load_core(&preset, cores[0]);
	changed = preset;
	assert_int_equal(core_config_set(&changed, "l1d.replacement=lru", &err), 0);
	assert_true(lead(&changed, &preset, NULL) != lead(&preset, &preset, NULL));
	changed = preset;
	assert_int_equal(core_config_set(&changed, "prefetch.l2_streamer=0", &err), 0);
	assert_true(lead(&changed, &preset, NULL) != lead(&preset, &preset, NULL));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_fields_of_timing_leave_what_warming_leaves_as_it_is),
		cmocka_unit_test(test_predictors_learn_the_same_whatever_the_rest_of_the_machine_is),
		cmocka_unit_test(test_every_other_field_keeps_machines_apart),
		cmocka_unit_test(test_a_leader_with_another_cache_is_noticed),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
