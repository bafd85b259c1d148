/* SPDX-License-Identifier: GPL-2.0-or-later
 * Features and their registers (features.h).  features.def says everything about each feature; this file has the rules
 * by which levels set fields.  Halving removes sets first, and ways once one set is left, so that caches and tables
 * stay consistent.  A level that a preset cannot have is not among its levels.
 */
#include "core/machine/features.h"
#include "util/near.h"
#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

enum reg { PREFETCH, FRONT_END, PREDICTION, EXECUTION, MEMORY, POLICY };
static const struct { uint32_t msr; const char *name; } registers[FEATURE_REGISTERS] = {
	[PREFETCH] = { MSR_MISC_FEATURE_CONTROL, "MSR_MISC_FEATURE_CONTROL" },
	[FRONT_END] = { MSR_FEATURES, "SOFTPMU_FEATURES_FRONT_END" },
	[PREDICTION] = { MSR_FEATURES + 1, "SOFTPMU_FEATURES_PREDICTION" },
	[EXECUTION] = { MSR_FEATURES + 2, "SOFTPMU_FEATURES_EXECUTION" },
	[MEMORY] = { MSR_FEATURES + 3, "SOFTPMU_FEATURES_MEMORY" },
	[POLICY] = { MSR_FEATURES + 4, "SOFTPMU_FEATURES_POLICY" },
};

#define KEEP UINT32_MAX		/* as `off`: the feature has no such level */
enum rule {
	RULE_NONE, RULE_CACHE, RULE_ENTRIES, RULE_COUNT, RULE_LOG2, RULE_PUT, RULE_ENUM, RULE_EACH, RULE_SCALE, RULE_BIT
};
enum { PARTS = 3, NAMED = 2, HALVINGS = 4 /* 1/16 at most */ };

struct part {			/* a field of the configuration, and how levels change it */
	enum rule rule;
	size_t field, ways;
	uint32_t off;		/* entries that are left when it is off; PUT: the value; BIT: the bit */
	int32_t by[NAMED];	/* for each name: the value (EACH), or the halvings (SCALE; below 0: doublings) */
};

struct row {
	const char *name;
	enum feature_kind kind;
	unsigned reg, low;
	const char *names, *lacks, *help;	/* names: of a policy, separated by | */
	struct part part[PARTS];
};

#define AT(id) offsetof(struct core_config, id)
#define CACHE(size, ways, off) { RULE_CACHE, AT(size), AT(ways), off, { 0 } }
#define ENTRIES(entries, ways, off) { RULE_ENTRIES, AT(entries), AT(ways), off, { 0 } }
#define COUNT(count, off) { RULE_COUNT, AT(count), 0, off, { 0 } }
#define LOG2(log2) { RULE_LOG2, AT(log2), 0, KEEP, { 0 } }
#define PUT(id, value) { RULE_PUT, AT(id), 0, value, { 0 } }
#define BIT(id, n) { RULE_BIT, AT(id), 0, n, { 0 } }
#define ENUM(id) { RULE_ENUM, AT(id), 0, KEEP, { 0 } }
#define EACH(id, ...) { RULE_EACH, AT(id), 0, KEEP, { __VA_ARGS__ } }
#define SCALE(id, ...) { RULE_SCALE, AT(id), 0, KEEP, { __VA_ARGS__ } }
#define FEATURE_SIZE(name, reg, bit, lacks, help, ...) \
	{ name, FEATURE_SIZE, reg, bit, "", lacks, help, { __VA_ARGS__ } },
#define FEATURE_SWITCH(name, reg, bit, lacks, help, ...) \
	{ name, FEATURE_SWITCH, reg, bit, "", lacks, help, { __VA_ARGS__ } },
#define FEATURE_POLICY(name, reg, bit, names, lacks, help, ...) \
	{ name, FEATURE_POLICY, reg, bit, names, lacks, help, { __VA_ARGS__ } },
static const struct row rows[] = {
#include "core/machine/features.def"
};
enum { ROWS = sizeof rows / sizeof *rows };
_Static_assert((int)ROWS <= (int)FEATURES_MAX, "callers have room for all");

static const struct { size_t at; const char *key; double max; } keys[] = {
#define FIELD_INT(id, key, min, max, unit, help) { AT(id), key, max },
#define FIELD_ENUM(id, key, names, help) { AT(id), key, 0 },
#include "core/machine/fields.def"
};

static unsigned width(const struct row *r)
{
	return r->kind == FEATURE_SWITCH ? 1 : 3;
}

static uint32_t get(const struct core_config *c, size_t field)
{
	uint32_t v;
	memcpy(&v, (const char *)c + field, sizeof v);
	return v;
}

static void put(struct core_config *c, size_t field, uint32_t v)
{
	memcpy((char *)c + field, &v, sizeof v);
}

/* ---- what a level does to the fields -------------------------------------------------------------------------- */

/* Bytes of a way of a cache set: a line, or a sector of L2.  1 for parts that count entries. */
static uint32_t unit_of(const struct core_config *c, const struct part *p)
{
	uint32_t line = c->cache_line ? 32 : 64;
	if (p->rule != RULE_CACHE)
		return 1;
	return p->field == AT(l2_size) ? line << c->l2_sectors : p->field == AT(l3_size) ? 64 : line;
}

/* Halves the sets, or the ways if there is one set.  Returns false if it cannot be halved. */
static bool halve_sets(struct core_config *c, const struct part *p)
{
	uint32_t size = get(c, p->field), ways = get(c, p->ways), set = ways * unit_of(c, p);
	if (!size || !ways || size % set || (size / set % 2 && (size != set || ways % 2)))
		return false;
	put(c, p->field, size / 2);
	if (size == set)
		put(c, p->ways, ways / 2);
	return true;
}

/* Returns false if the part cannot be made smaller. */
static bool halve(struct core_config *c, const struct part *p)
{
	uint32_t v = get(c, p->field);
	switch (p->rule) {
	case RULE_CACHE:
	case RULE_ENTRIES:
		return halve_sets(c, p);
	case RULE_COUNT:
		if (v < 2)
			return false;
		put(c, p->field, v / 2);
		return true;
	case RULE_LOG2:
		if (!v)
			return false;
		put(c, p->field, v - 1);
		return true;
	default:
		return true;
	}
}

static void switch_off(struct core_config *c, const struct part *p)
{
	if (p->off == KEEP)
		return;
	if (p->rule == RULE_BIT) {
		put(c, p->field, get(c, p->field) | 1u << p->off);
		return;
	}
	put(c, p->field, p->off * unit_of(c, p));
	if ((p->rule == RULE_CACHE || p->rule == RULE_ENTRIES) && p->off)
		put(c, p->ways, p->off);
}

static void scale(struct core_config *c, const struct part *p, int32_t by)
{
	uint32_t v = get(c, p->field), most = v;
	for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
		if (keys[i].at == p->field)
			most = (uint32_t)keys[i].max;
	uint32_t to = by < 0 ? v << -by : v >> by;
	put(c, p->field, to > most ? most : to ? to : 1);
}

static unsigned names_of(const char *names)
{
	unsigned n = *names != 0;
	for (; *names; names++)
		n += *names == '|';
	return n;
}

/* Does the preset have the structure that the feature changes? */
static bool has(const struct core_config *c, const struct row *r)
{
	const struct part *p = &r->part[0];
	bool tage = c->bpred_class == 0, hybrid = c->bpred_class == 1;
	switch (p->field) {	/* fields that have a meaning on some machines only */
	case AT(tage_entries_log2):
		return tage && c->tage_tables;
	case AT(tage_base_log2):
		return tage || hybrid;
	case AT(tage_loop_entries):
		return (tage || hybrid) && c->tage_loop_entries;
	case AT(btb_l2_entries):
		return (tage || hybrid) && c->btb_l2_entries;
	case AT(local_history):
		return !tage && !hybrid && c->local_history;
	case AT(trace_btb_entries):
		return !tage && !hybrid && c->trace_btb_entries;
	case AT(global_entries_log2):
		return hybrid || (!tage && c->trace_btb_entries);
	case AT(indirect_entries_log2):
		return c->indirect_tables;
	case AT(l3_replacement):
		return c->l3_size;
	case AT(prefetch_l2_distance):
		return c->prefetch_l2_streamer;
	case AT(disambiguation_limit):
		return c->disambiguation_limit != 255;
	case AT(forward_renamed):
		return c->forward_renamed || c->forward_renamed_stores;
	case AT(smt_idq):
	case AT(smt_rob):
	case AT(smt_load_buffer):
	case AT(smt_store_buffer):
		return c->smt_threads > 1;
	case AT(ports_off):
		return p->off < c->ports_count && !c->inorder && !c->alu_double_speed && !(c->ports_off >> p->off & 1);
	case AT(rob_size):
	case AT(rs_size):
	case AT(load_buffer_size):
	case AT(store_buffer_size):
	case AT(idq_size):
		return !c->inorder;
	default:
		if (p->rule == RULE_ENUM)
			return true;
		return get(c, p->field) != (p->rule == RULE_PUT ? p->off : 0);
	}
}

static bool can_halve(const struct part *p)
{
	return p->rule != RULE_NONE && p->rule != RULE_PUT;
}

static bool apply_size(struct core_config *c, const struct row *r, uint32_t code)
{
	bool can = code <= HALVINGS;
	for (unsigned i = 0; i < PARTS && code == FEATURE_OFF; i++)
		can |= r->part[i].rule != RULE_NONE && r->part[i].off != KEEP;
	for (unsigned i = 0; i < PARTS && can; i++)
		for (uint32_t k = 0; k < code && can_halve(&r->part[i]) && code != FEATURE_OFF; k++)
			if (!halve(c, &r->part[i]) && !i)
				return false;
	for (unsigned i = 0; i < PARTS && can && code == FEATURE_OFF; i++)
		if (r->part[i].rule)
			switch_off(c, &r->part[i]);
	return can;
}

static bool apply_policy(struct core_config *c, const struct row *r, uint32_t code)
{
	if (code > names_of(r->names))
		return false;
	for (unsigned i = 0; i < PARTS && code; i++) {
		const struct part *p = &r->part[i];
		if (p->rule == RULE_ENUM)
			put(c, p->field, code - 1);
		else if (p->rule == RULE_EACH)
			put(c, p->field, (uint32_t)p->by[code - 1]);
		else if (p->rule == RULE_SCALE)
			scale(c, p, p->by[code - 1]);
	}
	return true;
}

/* Changes the preset's fields to a level; returns false if the preset has no such level.  No two features set the same
 * field, so their order does not matter. */
static bool apply(struct core_config *c, const struct row *r, uint32_t code)
{
	struct core_config to = *c;
	bool can = true;
	if (!code)
		return true;
	if (r->kind == FEATURE_SIZE)
		can = apply_size(&to, r, code);
	else if (r->kind == FEATURE_POLICY)
		can = apply_policy(&to, r, code);
	for (unsigned i = 0; i < PARTS && r->kind == FEATURE_SWITCH; i++)
		if (r->part[i].rule)
			switch_off(&to, &r->part[i]);
	if (!can || core_config_check(&to, NULL))
		return false;
	*c = to;
	return true;
}

/* Does the preset have the feature, with a level that changes something? */
static bool present(const struct core_config *preset, const struct row *r)
{
	for (uint32_t code = 1; code < 1u << width(r) && has(preset, r); code++) {
		struct core_config c = *preset;
		if (apply(&c, r, code) && memcmp(&c, preset, sizeof c))
			return true;
	}
	return false;
}

static void level_name(char *name, size_t bytes, const struct row *r, uint32_t code)
{
	const char *s = r->names;
	if (r->kind == FEATURE_SWITCH || (r->kind == FEATURE_SIZE && code == FEATURE_OFF)) {
		snprintf(name, bytes, "%s", code ? "off" : "on");
	} else if (r->kind == FEATURE_SIZE) {
		snprintf(name, bytes, code ? "1/%u" : "full", 1u << code);
	} else if (!code) {
		snprintf(name, bytes, "preset");
	} else {
		while (--code && *s)
			s += strcspn(s, "|") + 1;
		snprintf(name, bytes, "%.*s", (int)strcspn(s, "|"), s);
	}
}

static void describe(const struct core_config *preset, const struct row *r, struct core_feature *f)
{
	*f = (struct core_feature){ .name = r->name, .help = r->help, .key = "", .kind = r->kind,
		.msr = registers[r->reg].msr, .low = (uint8_t)r->low, .width = (uint8_t)width(r) };
	for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
		if (keys[i].at == r->part[0].field)
			f->key = keys[i].key;
	for (uint32_t code = 0; code < 1u << width(r); code++) {
		struct core_config c = *preset;
		if (!apply(&c, r, code))
			continue;
		struct feature_level l = { .code = code, .value = get(&c, r->part[0].field) };
		level_name(l.name, sizeof l.name, r, code);
		if (r->kind == FEATURE_POLICY && r->part[0].rule == RULE_ENUM && code && l.value == f->level[0].value)
			memcpy(f->level[0].name, l.name, sizeof l.name);	/* the preset has this policy */
		else
			f->level[f->levels++] = l;
	}
}

size_t core_features_list(const struct core_config *preset, struct core_feature *out, size_t room)
{
	size_t n = 0;
	for (size_t i = 0; i < ROWS; i++)
		if (present(preset, &rows[i]) && n++ < room)
			describe(preset, &rows[i], &out[n - 1]);
	return n;
}

static const struct row *find_row(const struct core_config *preset, const char *name, struct err *err)
{
	for (size_t i = 0; i < ROWS; i++)
		if (!strcmp(rows[i].name, name)) {
			if (present(preset, &rows[i]))
				return &rows[i];
			err_set(err, ERR_UNSUPPORTED, "feature %s: core '%s' has no %s", name, preset->name,
				rows[i].lacks);
			return NULL;
		}
	struct near near;
	char text[256];
	near_start(&near, name);
	for (size_t i = 0; i < ROWS; i++)
		if (present(preset, &rows[i]))
			near_offer(&near, rows[i].name, strlen(rows[i].name));
	near_text(&near, "; nearest: ", text, sizeof text);
	err_set(err, ERR_INPUT, "unknown feature '%.64s'%s (`softpmu cores %s --features` lists them)", name, text,
		preset->name);
	return NULL;
}

int core_feature_find(const struct core_config *preset, const char *name, struct core_feature *out, struct err *err)
{
	struct err why = { 0 };
	const struct row *r = find_row(preset, name, &why);
	if (!r)
		return err_set(err, why.code, "%s", why.text);
	describe(preset, r, out);
	return 0;
}

/* ---- registers ------------------------------------------------------------------------------------------------ */

void core_features_init(struct core_features *f, const struct core_config *preset)
{
	memset(f, 0, sizeof *f);
	f->preset = *preset;
}

static uint32_t code_of(const uint64_t *value, const struct row *r)
{
	return (uint32_t)(value[r->reg] >> r->low) & ((1u << width(r)) - 1);
}

static void config_of(const struct core_config *preset, const uint64_t *value, struct core_config *out)
{
	*out = *preset;
	for (size_t i = 0; i < ROWS; i++)
		if (code_of(value, &rows[i]))
			apply(out, &rows[i], code_of(value, &rows[i]));
}

void core_features_config(const struct core_features *f, struct core_config *out)
{
	config_of(&f->preset, f->value, out);
}

/* Finds the code of a level by its name; `preset` is level 0 of every feature. */
static int code_by_name(const struct core_config *preset, const struct row *r, const char *level, uint32_t *code,
	struct err *err)
{
	struct core_feature f;
	char known[192] = "";
	describe(preset, r, &f);
	for (uint32_t i = 0; i < f.levels; i++) {
		size_t used = strlen(known);
		if (!strcmp(f.level[i].name, level) || (!i && !strcmp(level, "preset"))) {
			*code = f.level[i].code;
			return 0;
		}
		snprintf(known + used, sizeof known - used, "%s%s", i ? ", " : "", f.level[i].name);
	}
	return err_set(err, ERR_INPUT, "feature %s: core '%s' has no level '%.32s'; there are: %s", r->name,
		preset->name, level, known);
}

static int set_one(struct core_features *f, char *setting, struct err *err)
{
	char *level = strchr(setting, '=');
	uint32_t code = 0;
	if (!level)
		return err_set(err, ERR_INPUT, "'%.64s' is not of the form feature=level", setting);
	*level++ = 0;
	struct err why = { 0 };
	const struct row *r = find_row(&f->preset, setting, &why);
	if (!r || code_by_name(&f->preset, r, level, &code, &why))
		return err_set(err, why.code, "%s", why.text);
	f->value[r->reg] = (f->value[r->reg] & ~(((UINT64_C(1) << width(r)) - 1) << r->low)) | (uint64_t)code << r->low;
	return 0;
}

int core_features_set_all(struct core_features *f, const char *settings, struct err *err)
{
	struct core_features to = *f;
	char one[128];
	while (*settings) {
		size_t n = strcspn(settings, ",");
		if (n >= sizeof one)
			return err_set(err, ERR_INPUT, "'%.64s...' is not of the form feature=level", settings);
		snprintf(one, sizeof one, "%.*s", (int)n, settings);
		int rc = set_one(&to, one, err);
		if (rc)
			return rc;
		settings += n + (settings[n] == ',');
	}
	*f = to;
	return 0;
}

int core_features_set(struct core_features *f, const char *setting, struct err *err)
{
	if (!*setting || strchr(setting, ','))
		return err_set(err, ERR_INPUT, "'%.64s' is not of the form feature=level", setting);
	return core_features_set_all(f, setting, err);
}

int core_features_apply(struct core_config *config, const char *settings, struct err *err)
{
	struct core_features f;
	core_features_init(&f, config);
	int rc = core_features_set_all(&f, settings, err);
	if (!rc)
		core_features_config(&f, config);
	return rc;
}

bool core_features_text(const struct core_features *f, char *text, size_t bytes)
{
	size_t used = 0;
	if (bytes)
		*text = 0;
	for (size_t i = 0; i < ROWS && used < bytes; i++) {
		char name[16];
		if (!code_of(f->value, &rows[i]))
			continue;
		level_name(name, sizeof name, &rows[i], code_of(f->value, &rows[i]));
		used += (size_t)snprintf(text + used, bytes - used, "%s%s=%s", used ? "," : "", rows[i].name, name);
	}
	return used < bytes;
}

/* Returns the index of the register, or -1 if the preset has none of its features. */
static int register_at(const struct core_config *preset, uint32_t msr)
{
	for (size_t i = 0; i < ROWS; i++)
		if (registers[rows[i].reg].msr == msr && present(preset, &rows[i]))
			return (int)rows[i].reg;
	return -1;
}

enum feature_access core_features_read(const struct core_features *f, uint32_t msr, uint64_t *value)
{
	int reg = register_at(&f->preset, msr);
	if (reg < 0)
		return FEATURE_NO_MSR;
	*value = f->value[reg];
	return FEATURE_OK;
}

enum feature_access core_features_write(struct core_features *f, uint32_t msr, uint64_t value)
{
	int reg = register_at(&f->preset, msr);
	uint64_t rest = value, to[FEATURE_REGISTERS];
	if (reg < 0)
		return FEATURE_NO_MSR;
	memcpy(to, f->value, sizeof to);
	to[reg] = value;
	for (size_t i = 0; i < ROWS; i++) {
		struct core_config c = f->preset;
		if ((int)rows[i].reg != reg || !present(&f->preset, &rows[i]))
			continue;
		if (!apply(&c, &rows[i], code_of(to, &rows[i])))
			return FEATURE_GP;
		rest &= ~(((UINT64_C(1) << width(&rows[i])) - 1) << rows[i].low);
	}
	if (rest)
		return FEATURE_GP;
	f->value[reg] = value;
	return FEATURE_OK;
}

const char *core_features_register(unsigned index, uint32_t *msr)
{
	if (index >= FEATURE_REGISTERS)
		return NULL;
	*msr = registers[index].msr;
	return registers[index].name;
}

/* Reads a number in one of the forms 0x3c000, 3C000H and 245760. */
static bool number(const char *text, uint64_t *out)
{
	char *end;
	size_t digits = strspn(text, "0123456789abcdefABCDEF");
	bool h = digits && (text[digits] == 'h' || text[digits] == 'H') && !text[digits + 1];
	if (!isdigit((unsigned char)*text))
		return false;
	errno = 0;
	*out = strtoull(text, &end, h ? 16 : strncasecmp(text, "0x", 2) ? 10 : 16);
	return !errno && (h ? end == text + digits : !*end);
}

static const char *bare(const char *name)
{
	name += !strncasecmp(name, "MSR_", 4) ? 4 : 0;
	return name + (!strncasecmp(name, "SOFTPMU_", 8) ? 8 : 0);
}

const char *core_features_register_find(const char *text, uint32_t *msr)
{
	uint64_t address = 0;
	bool addressed = number(text, &address);
	for (size_t i = 0; i < FEATURE_REGISTERS; i++)
		if (addressed ? registers[i].msr == address : !strcasecmp(bare(registers[i].name), bare(text))) {
			*msr = registers[i].msr;
			return registers[i].name;
		}
	return NULL;
}

int core_features_wrmsr(struct core_features *f, const char *assignment, struct err *err)
{
	const char *equals = strchr(assignment, '=');
	char name[64];
	uint32_t msr;
	uint64_t value, alone = 0;
	if (!equals || (size_t)(equals - assignment) >= sizeof name)
		return err_set(err, ERR_INPUT, "'%.64s' is not of the form register=value", assignment);
	snprintf(name, sizeof name, "%.*s", (int)(equals - assignment), assignment);
	if (!core_features_register_find(name, &msr))
		return err_set(err, ERR_INPUT,
			"'%s' is not a feature register (`softpmu cores %s --features` lists them)", name,
			f->preset.name);
	if (!number(equals + 1, &value))
		return err_set(err, ERR_INPUT, "'%.64s' is not a value (0x5, 5H or 5)", equals + 1);
	struct core_features empty;
	core_features_init(&empty, &f->preset);
	switch (core_features_write(f, msr, value)) {
	case FEATURE_OK:
		return 0;
	case FEATURE_NO_MSR:
		return err_set(err, ERR_UNSUPPORTED, "%s: core '%s' has none of the features of this register", name,
			f->preset.name);
	default:
		for (unsigned bit = 0; bit < 64; bit++)
			if (value >> bit & 1 && core_features_write(&empty, msr, UINT64_C(1) << bit) != FEATURE_OK)
				alone |= UINT64_C(1) << bit;
		return err_set(err, ERR_INPUT,
			alone ? "WRMSR %s, %llXH: #GP(0): core '%s' reserves bits %llXH"
			      : "WRMSR %s, %llXH: #GP(0): core '%s' lacks the level that a field selects",
			name, (unsigned long long)value, f->preset.name, (unsigned long long)alone);
	}
}
