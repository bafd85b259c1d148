/* SPDX-License-Identifier: GPL-2.0-or-later
 * Reads and prints machine descriptions.  Everything about a field comes from fields.def; only the checks at the end of
 * this file know fields by name.
 */
#include "core/machine/config.h"
#include "util/near.h"
#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum type { INT, REAL, ENUM, STRING, FALL };

struct field {
	const char *key;
	enum type type;
	size_t offset, bytes;	/* bytes: of a string */
	double min, max;
	const char *unit, *names, *help;	/* names: of an enum, split by | */
};

#define AT(id) offsetof(struct core_config, id)
#define STRING_FIELD(id, help) \
	{ #id, STRING, AT(id), sizeof ((struct core_config *)0)->id, 0, 0, "", "", help },
static const struct field fields[] = {
	STRING_FIELD(title, "name for people")
	STRING_FIELD(uops, "uop table: data/uops/UOPS.tsv")
	STRING_FIELD(pmu, "PMU and its event table: data/events/PMU.tsv")
	STRING_FIELD(libpfm, "name of the PMU in libpfm4")
	STRING_FIELD(uncore, "uncore PMU and its event table: data/events/uncore-UNCORE.tsv; or none")
	STRING_FIELD(energy, "energy table: data/energy/ENERGY.tsv, or a path")
	STRING_FIELD(cpuid_vendor, "CPUID vendor")
	STRING_FIELD(cpuid_signature, "CPUID signature: family, model, stepping")
	STRING_FIELD(cpuid_models, "FAMILY_MODEL of each processor that it models (--core host)")
#define FIELD_INT(id, key, min, max, unit, help) { key, INT, AT(id), 0, min, max, unit, "", help },
#define FIELD_REAL(id, key, min, max, unit, help) { key, REAL, AT(id), 0, min, max, unit, "", help },
#define FIELD_ENUM(id, key, names, help) { key, ENUM, AT(id), 0, 0, 0, "", names, help },
#define FIELD_FALL(id, key, unit, help) { key, FALL, AT(id), 0, 0, 0, unit, "", help },
#include "core/machine/fields.def"
};
enum { FIELDS = sizeof fields / sizeof fields[0], DEPTH = 8, LINE = 1024 };

/* The values of fields that no file sets. */
static const char *const defaults[][2] = {
#define FIELD_DEFAULT(key, value) { key, value },
#include "core/machine/fields.def"
};

static const struct field *find_field(const char *key, struct err *err)
{
	for (size_t i = 0; i < FIELDS; i++)
		if (!strcmp(fields[i].key, key))
			return &fields[i];

	struct near near;
	char text[256];
	near_start(&near, key);
	for (size_t i = 0; i < FIELDS; i++)
		near_offer(&near, fields[i].key, strlen(fields[i].key));
	bool found = near_text(&near, "; nearest: ", text, sizeof text);
	err_set(err, ERR_INPUT, "unknown field '%.64s'%s", key, found ? text : "; `softpmu cores NAME` lists them all");
	return NULL;
}

/* --- values --- */
/* Reads hexadecimal after 0x, or decimal digits with a point and K, M or G.  strtod would depend on the locale. */
static bool number(const char *s, double *value)
{
	double v = 0, scale = 1;
	unsigned digits = 0;
	if (s[0] == '0' && (s[1] == 'x' || s[1] == 'X')) {
		for (s += 2; isxdigit((unsigned char)*s) && digits < 13; s++, digits++)
			v = v * 16 + (isdigit((unsigned char)*s) ? *s - '0' : tolower((unsigned char)*s) - 'a' + 10);
		*value = v;
		return digits && !*s;
	}
	for (; isdigit((unsigned char)*s); s++, digits++)
		v = v * 10 + (*s - '0');
	if (*s == '.')
		for (s++; isdigit((unsigned char)*s); s++, digits++) {
			v = v * 10 + (*s - '0');
			scale *= 10;
		}
	if (!digits || digits > 15)
		return false;
	v /= scale;
	if (*s == 'K')
		v *= 1024, s++;
	else if (*s == 'M')
		v *= 1048576, s++;
	else if (*s == 'G')
		v *= 1073741824, s++;
	*value = v;
	return !*s;
}

static void print_number(char *text, size_t bytes, const struct field *f, double v)
{
	uint64_t n = (uint64_t)v;
	if (f->type == REAL || v != (double)n)
		snprintf(text, bytes, "%.10g", v);
	else if (!strcmp(f->unit, "mask"))
		snprintf(text, bytes, "0x%llx", (unsigned long long)n);
	else if (!strcmp(f->unit, "bytes") && n && !(n & 1073741823))
		snprintf(text, bytes, "%lluG", (unsigned long long)(n >> 30));
	else if (!strcmp(f->unit, "bytes") && n && !(n & 1048575))
		snprintf(text, bytes, "%lluM", (unsigned long long)(n >> 20));
	else if (!strcmp(f->unit, "bytes") && n && !(n & 1023))
		snprintf(text, bytes, "%lluK", (unsigned long long)(n >> 10));
	else
		snprintf(text, bytes, "%llu", (unsigned long long)n);
}

/* Index of `value` among names split by |, or -1. */
static int enum_index(const char *names, const char *value)
{
	size_t n = strlen(value);
	for (int i = 0; *names; i++) {
		size_t one = strcspn(names, "|");
		if (one == n && !strncmp(names, value, n))
			return i;
		names += one + (names[one] == '|');
	}
	return -1;
}

static int range(const struct field *f, double v, struct err *err)
{
	char least[32], most[32], is[32];
	if (v >= f->min && v <= f->max)
		return 0;
	print_number(least, sizeof least, f, f->min);
	print_number(most, sizeof most, f, f->max);
	print_number(is, sizeof is, f, v);
	return err_set(err, ERR_INPUT, "%s = %s is out of range: %s to %s%s%s", f->key, is, least, most,
		*f->unit ? " " : "", strcmp(f->unit, "mask") ? f->unit : "");
}

static int fall_check(const struct core_fall *p, const char *key, struct err *err)
{
	if (p->points > CORE_FALL)
		return err_set(err, ERR_INPUT, "%s: more than %d pairs", key, CORE_FALL);
	for (uint32_t i = 0; i < p->points; i++) {
		const double before = i ? p->at[i - 1] : 0, most = i ? p->per_cent[i - 1] : 100;
		if (!(p->at[i] > before && p->at[i] >= 0.0001 && p->at[i] <= 1e5))
			return err_set(err, ERR_INPUT,
				"%s: %.6g follows %.6g: the first numbers of the pairs must rise, within 0.0001 to "
				"100000",
				key, p->at[i], before);
		if (!(p->per_cent[i] <= most && (p->per_cent[i] >= 0.0001 || p->per_cent[i] == 0)))
			return err_set(err, ERR_INPUT,
				"%s: %.6g %% follows %.6g %%: the second numbers of the pairs must not rise", key,
				p->per_cent[i], most);
	}
	if (p->points && p->per_cent[p->points - 1] > 0)
		return err_set(err, ERR_INPUT, "%s: the last pair must end with 0 %%", key);
	return 0;
}

static int fall_set(struct core_fall *out, const char *key, const char *value, struct err *err)
{
	struct core_fall p = { .points = 0 };
	for (const char *s = strcmp(value, "none") ? value : ""; *s;) {
		char pair[64];
		const size_t n = strcspn(s, " \t");
		snprintf(pair, sizeof pair, "%.*s", (int)(n < sizeof pair ? n : sizeof pair - 1), s);
		char *colon = strchr(pair, ':');
		if (p.points == CORE_FALL)
			return err_set(err, ERR_INPUT, "%s: more than %d pairs", key, CORE_FALL);
		if (colon)
			*colon = 0;
		if (!colon || !number(pair, p.at + p.points) || !number(colon + 1, p.per_cent + p.points))
			return err_set(err, ERR_INPUT, "%s = %.64s: not of the form 2.5:80 4:0 (or none)", key, value);
		p.points++;
		s += n + strspn(s + n, " \t");
	}
	int code = fall_check(&p, key, err);
	if (!code)
		*out = p;
	return code;
}

void core_fall_print(const struct core_fall *p, char text[CORE_FALL_TEXT])
{
	size_t used = 0;
	strcpy(text, "none");
	for (uint32_t i = 0; i < p->points; i++)
		used += (size_t)snprintf(text + used, CORE_FALL_TEXT - used, "%s%.6g:%.6g", i ? " " : "", p->at[i],
			p->per_cent[i]);
}

double core_fall_per_cent(const struct core_fall *p, double at)
{
	double before = 0, top = 100;
	for (uint32_t i = 0; i < p->points; before = p->at[i], top = p->per_cent[i], i++)
		if (at < p->at[i])
			return top + (p->per_cent[i] - top) * (at - before) / (p->at[i] - before);
	return 0;
}

double core_fall_at(const struct core_fall *p, double per_cent)
{
	double before = 0, top = 100;
	for (uint32_t i = 0; i < p->points; before = p->at[i], top = p->per_cent[i], i++)
		if (per_cent > p->per_cent[i])
			return before + (p->at[i] - before) * (top - per_cent) / (top - p->per_cent[i]);
	return before;
}

static int set_value(struct core_config *c, const struct field *f, const char *value, struct err *err)
{
	char *at = (char *)c + f->offset;
	double v;
	int index;
	switch (f->type) {
	case STRING:
		if (strlen(value) >= f->bytes)
			return err_set(err, ERR_INPUT, "%s: longer than %zu characters", f->key, f->bytes - 1);
		strcpy(at, value);
		return 0;
	case FALL:
		return fall_set((struct core_fall *)at, f->key, value, err);
	case ENUM:
		index = enum_index(f->names, value);
		if (index < 0)
			return err_set(err, ERR_INPUT, "%s = %.64s: not one of %s", f->key, value, f->names);
		memcpy(at, &(uint32_t){ (uint32_t)index }, sizeof(uint32_t));
		return 0;
	case INT:
		if (!number(value, &v) || v != (double)(uint64_t)v)
			return err_set(err, ERR_INPUT, "%s = %.64s: not a whole number (12, 0x1f, 32K, 4M or 1G)",
				f->key, value);
		if (range(f, v, err))
			return ERR_INPUT;
		memcpy(at, &(uint32_t){ (uint32_t)v }, sizeof(uint32_t));
		return 0;
	default:
		if (!number(value, &v))
			return err_set(err, ERR_INPUT, "%s = %.64s: not a number", f->key, value);
		if (range(f, v, err))
			return ERR_INPUT;
		memcpy(at, &v, sizeof v);
		return 0;
	}
}

/* Cuts blanks at both ends. */
static char *trim(char *s)
{
	while (isspace((unsigned char)*s))
		s++;
	size_t n = strlen(s);
	while (n && isspace((unsigned char)s[n - 1]))
		s[--n] = 0;
	return s;
}

/* Does `key = value`.  With set[], a field that is marked there is refused, and the new one is marked. */
static int assign(struct core_config *c, char *line, bool *set, struct err *err)
{
	char *value = strchr(line, '=');
	if (!value)
		return err_set(err, ERR_INPUT, "'%.64s' is not of the form field=value", line);
	*value++ = 0;
	char *key = trim(line);
	value = trim(value);
	const struct field *f = find_field(key, err);
	if (!f)
		return ERR_INPUT;
	if (!*value)
		return err_set(err, ERR_INPUT, "%s: no value", key);
	if (set && set[f - fields])
		return err_set(err, ERR_INPUT, "%s is set twice", key);
	int code = set_value(c, f, value, err);
	if (!code && set)
		set[f - fields] = true;
	return code;
}

/* --- files --- */
static int compare(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

int core_config_presets(char *names[CONFIG_PRESETS], const char *data_dir, struct err *err)
{
	char path[4096];
	int count = 0;
	snprintf(path, sizeof path, "%s/cores", data_dir);
	DIR *d = opendir(path);
	if (!d)
		return err_system(err, "cannot list the cores in %s", path);
	for (struct dirent *e; count < CONFIG_PRESETS && (e = readdir(d));) {
		size_t n = strlen(e->d_name);
		if (n > 5 && !strcmp(e->d_name + n - 5, ".conf") && (names[count] = strndup(e->d_name, n - 5)))
			count++;
	}
	closedir(d);
	qsort(names, (size_t)count, sizeof *names, compare);
	return count;
}

static int no_preset(const char *data_dir, const char *name, struct err *err)
{
	char *names[CONFIG_PRESETS], text[256];
	struct near near;
	int count = core_config_presets(names, data_dir, err);
	if (count < 0)
		return count;
	near_start(&near, name);
	for (int i = 0; i < count; i++)
		near_offer(&near, names[i], strlen(names[i]));
	if (!near_text(&near, "; nearest: ", text, sizeof text)) {
		size_t used = 0;
		for (int i = 0; i < count && used < sizeof text; i++) {
			const char *before = i ? ", " : "; a file needs a / in its name; the presets are: ";
			int n = snprintf(text + used, sizeof text - used, "%s%s", before, names[i]);
			used += n > 0 ? (size_t)n : sizeof text;
		}
	}
	for (int i = 0; i < count; i++)
		free(names[i]);
	return err_set(err, ERR_INPUT, "unknown core '%.64s'%s", name, text);
}

static int load(struct core_config *c, const char *data_dir, const char *name, bool *all, unsigned depth,
		struct err *err)
{
	char path[4096], line[LINE];
	bool set[FIELDS] = { false };
	struct err why = { 0, "" };
	int code = 0;

	if (depth >= DEPTH)
		return err_set(err, ERR_INPUT, "core '%.64s': more than %d files include each other", name, DEPTH);
	bool is_path = strchr(name, '/');
	int n = is_path ? snprintf(path, sizeof path, "%s", name)
			: snprintf(path, sizeof path, "%s/cores/%s.conf", data_dir, name);
	if (n < 0 || (size_t)n >= sizeof path)
		return err_set(err, ERR_INPUT, "core '%.64s...': name too long", name);
	FILE *f = fopen(path, "re");
	if (!f)
		return errno == ENOENT && !is_path ? no_preset(data_dir, name, err)
						   : err_system(err, "cannot read %s", path);
	for (unsigned number = 1; !code && fgets(line, sizeof line, f); number++) {
		size_t length = strlen(line);
		if (length == sizeof line - 1 && line[length - 1] != '\n') {
			code = err_set(&why, ERR_INPUT, "line too long");
		} else {
			line[strcspn(line, "#")] = 0;
			char *s = trim(line);
			if (!strncmp(s, "include", 7) && isspace((unsigned char)s[7]))
				code = load(c, data_dir, trim(s + 7), all, depth + 1, &why);
			else if (*s)
				code = assign(c, s, set, &why);
		}
		if (code)
			err_set(err, code, "%.512s:%u: %.480s", path, number, why.text);
	}
	if (!code && ferror(f))
		code = err_system(err, "cannot read %s", path);
	fclose(f);
	/* A file that sets another signature than the file it includes does not inherit that file's models. */
	bool other = false, said = false;
	for (size_t i = 0; i < FIELDS; i++) {
		other |= set[i] && fields[i].offset == AT(cpuid_signature);
		said |= set[i] && fields[i].offset == AT(cpuid_models);
		all[i] |= set[i];
	}
	for (size_t i = 0; i < FIELDS; i++)
		if (other && !said && fields[i].offset == AT(cpuid_models))
			all[i] = false;
	return code;
}

/* Reads one to eight hexadecimal digits.  Returns their number, or 0 if there are none or more. */
static size_t hexadecimal(const char *s, unsigned long *value)
{
	size_t n = strspn(s, "0123456789abcdefABCDEF");
	*value = n && n <= 8 ? strtoul(s, NULL, 16) : 0;
	return n <= 8 ? n : 0;
}

/* Sets cpuid_models to family and model of the signature, for a core that does not set it. */
static void models_of_signature(struct core_config *c)
{
	unsigned long s;
	if (!hexadecimal(c->cpuid_signature, &s))
		return;
	unsigned family = s >> 8 & 15, model = (s >> 4 & 15) | (s >> 16 & 15) << 4;
	if (family == 15)
		family += s >> 20 & 255;
	snprintf(c->cpuid_models, sizeof c->cpuid_models, "%02X_%02X", family, model);
}

int core_config_load(struct core_config *out, const char *data_dir, const char *name, struct err *err)
{
	struct core_config c;
	bool set[FIELDS] = { false };
	memset(&c, 0, sizeof c);
	for (size_t i = 0; i < sizeof defaults / sizeof *defaults; i++) {
		const struct field *f = find_field(defaults[i][0], err);
		if (!f || set_value(&c, f, defaults[i][1], err))
			return ERR_INPUT;
		set[f - fields] = true;
	}
	int code = load(&c, data_dir, name, set, 0, err);
	if (code)
		return code;
	for (size_t i = 0; i < FIELDS; i++)
		if (!set[i] && fields[i].offset == AT(cpuid_models))
			models_of_signature(&c);
		else if (!set[i])
			return err_set(err, ERR_INPUT, "core '%.64s' does not set %s", name, fields[i].key);
	const char *base = strrchr(name, '/') ? strrchr(name, '/') + 1 : name;
	size_t n = strlen(base);
	if (n > 5 && !strcmp(base + n - 5, ".conf"))
		n -= 5;
	if (n >= sizeof c.name)
		n = sizeof c.name - 1;
	memcpy(c.name, base, n);
	code = core_config_check(&c, err);
	if (!code)
		*out = c;
	return code;
}

int core_config_set(struct core_config *config, const char *assignment, struct err *err)
{
	char line[LINE];
	struct core_config c = *config;
	if (strlen(assignment) >= sizeof line)
		return err_set(err, ERR_INPUT, "'%.64s...': too long", assignment);
	strcpy(line, assignment);
	int code = assign(&c, line, NULL, err);
	if (!code)
		*config = c;
	return code;
}

char *core_config_print(const struct core_config *config, bool with_help)
{
	char *text = NULL;
	size_t bytes = 0;
	FILE *out = open_memstream(&text, &bytes);
	if (!out)
		return NULL;
	for (size_t i = 0; i < FIELDS; i++) {
		const struct field *f = &fields[i];
		const char *at = (const char *)config + f->offset;
		char value[CORE_FALL_TEXT] = "", limits[80] = "";
		uint32_t n = 0;
		double v = 0;
		switch (f->type) {
		case STRING:
			snprintf(value, sizeof value, "%s", at);
			break;
		case FALL:
			core_fall_print((const struct core_fall *)at, value);
			snprintf(limits, sizeof limits, " [%s:%%]", f->unit);
			break;
		case ENUM: {
			const char *name = f->names;
			memcpy(&n, at, sizeof n);
			while (n-- && *name)
				name += strcspn(name, "|") + (name[strcspn(name, "|")] == '|');
			snprintf(value, sizeof value, "%.*s", (int)strcspn(name, "|"), name);
			break;
		}
		case INT:
			memcpy(&n, at, sizeof n);
			v = n;
			print_number(value, sizeof value, f, v);
			break;
		case REAL:
			memcpy(&v, at, sizeof v);
			print_number(value, sizeof value, f, v);
			break;
		}
		if (f->type == INT || f->type == REAL) {
			char least[32], most[32];
			print_number(least, sizeof least, f, f->min);
			print_number(most, sizeof most, f, f->max);
			snprintf(limits, sizeof limits, " [%s..%s%s%s]", least, most, *f->unit ? " " : "", f->unit);
		}
		fprintf(out, "%s = %s", f->key, value);
		if (with_help)
			fprintf(out, "%*s# %s%s",
				(int)(strlen(f->key) + strlen(value) < 35 ? 35 - strlen(f->key) - strlen(value) : 1),
				"", f->help, f->type == ENUM ? " (" : limits);
		if (with_help && f->type == ENUM)
			fprintf(out, "%s)", f->names);
		fputc('\n', out);
	}
	if (fclose(out)) {
		free(text);
		return NULL;
	}
	return text;
}

/* --- consistency --- */
static bool power_of_two(uint32_t n)
{
	return n && !(n & (n - 1));
}

static bool too_many(uint32_t ports)
{
	return __builtin_popcount(ports) > CORE_SCHEDULER_PORTS;
}

int core_config_check(const struct core_config *c, struct err *err)
{
	for (size_t i = 0; i < FIELDS; i++) {
		const struct field *f = &fields[i];
		const char *at = (const char *)c + f->offset;
		uint32_t n = 0;
		double v = 0;
		if (f->type == INT || f->type == ENUM)
			memcpy(&n, at, sizeof n), v = n;
		else if (f->type == REAL)
			memcpy(&v, at, sizeof v);
		if ((f->type == INT || f->type == REAL) && range(f, v, err))
			return ERR_INPUT;
		if (f->type == ENUM) {
			uint32_t names = 1;
			for (const char *s = f->names; *s; s++)
				names += *s == '|';
			if (n >= names)
				return err_set(err, ERR_INPUT, "%s: not one of %s", f->key, f->names);
		}
		if (f->type == FALL && fall_check((const struct core_fall *)at, f->key, err))
			return ERR_INPUT;
		if (f->type == STRING && !memchr(at, 0, f->bytes))
			return err_set(err, ERR_INPUT, "%s: not terminated", f->key);
	}
	unsigned long hex;
	size_t digits = hexadecimal(c->cpuid_signature, &hex);
	if (!digits || (strcmp(c->cpuid_signature + digits, "H") && c->cpuid_signature[digits]))
		return err_set(err, ERR_INPUT, "cpuid_signature = %s is not of the form 506E3H", c->cpuid_signature);
	for (const char *s = c->cpuid_models; *s; s += digits) {
		size_t family = hexadecimal(s, &hex);
		size_t model = family && s[family] == '_' ? hexadecimal(s + family + 1, &hex) : 0;
		digits = family + 1 + model;
		if (!model || (s[digits] && !isspace((unsigned char)s[digits])))
			return err_set(err, ERR_INPUT,
				"cpuid_models = %s is not of the form 06_5E 06_4E", c->cpuid_models);
		digits += strspn(s + digits, " \t");
	}
	const struct { const char *key; uint32_t value; bool zero; } powers[] = {
		{ "dsb.sets", c->dsb_sets, true }, { "dsb.window_bytes", c->dsb_window_bytes, false },
		{ "mite.fetch_bytes", c->mite_fetch_bytes, false }, { "clear.smc_bytes", c->clear_smc_bytes, false },
		{ "predict.pairs", c->predict_pairs, true },
	};
	for (size_t i = 0; i < sizeof powers / sizeof *powers; i++)
		if (!power_of_two(powers[i].value) && !(powers[i].zero && !powers[i].value))
			return err_set(err, ERR_INPUT, "%s = %u is not a power of two", powers[i].key, powers[i].value);
	if (c->dsb_window_lines > c->dsb_ways)
		return err_set(err, ERR_INPUT, "dsb.window_lines = %u: a set has only %u lines (dsb.ways)",
			c->dsb_window_lines, c->dsb_ways);
	if ((c->predict_pairs || c->dsb_straddle) && !c->predict_ahead)
		return err_set(err, ERR_INPUT, "predict.pairs and dsb.straddle need predict.ahead > 0");
	uint32_t ports = (1u << c->ports_count) - 1;
	if ((c->ports_load | c->ports_store) & ~ports)
		return err_set(err, ERR_INPUT, "ports.load and ports.store_data name ports beyond ports.count = %u",
			c->ports_count);
	if (c->ports_load & c->ports_store)
		return err_set(err, ERR_INPUT, "ports.load and ports.store_data share ports");
	if ((c->rs_load_size && !c->ports_load) || (c->rs_store_size && !c->ports_store))
		return err_set(err, ERR_INPUT,
			"a scheduler has no ports: rs.load_size needs ports.load, and rs.store_size needs "
			"ports.store_data");
	const uint32_t load = c->rs_load_size ? c->ports_load : 0, store = c->rs_store_size ? c->ports_store : 0;
	const uint32_t common = ports & ~load & ~store;
	if (!common)
		return err_set(err, ERR_INPUT, "ports.load and ports.store_data leave no port to the common scheduler");
	if (too_many(common) || too_many(load) || too_many(store))
		return err_set(err, ERR_INPUT, "ports.count = %u: one scheduler would have more than %d ports",
			c->ports_count, CORE_SCHEDULER_PORTS);
	return 0;
}
