/* SPDX-License-Identifier: GPL-2.0-or-later
 * Prints features and their registers (features_print.h). */
#include "cli/describe/features_print.h"
#include "util/json.h"
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

static const char *const kinds[] = {
	[FEATURE_SIZE] = "size", [FEATURE_SWITCH] = "switch", [FEATURE_POLICY] = "policy"
};

static void range_text(char *text, size_t bytes, const struct core_feature *f)
{
	snprintf(text, bytes, f->width > 1 ? "[%u:%u]" : "[%u]", f->low + f->width - 1u, f->low);
}

/* 24K: sizes of caches are round numbers. */
static void value_text(char *text, size_t bytes, const struct core_feature *f, uint32_t value)
{
	size_t n = strlen(f->key);
	bool size =
		n > 5 && !strcmp(f->key + n - 5, ".size") && f->key[0] == 'l' && f->key[1] >= '1' && f->key[1] <= '3';
	if (size && value && !(value & 1048575))
		snprintf(text, bytes, "%uM", value >> 20);
	else if (size && value && !(value & 1023))
		snprintf(text, bytes, "%uK", value >> 10);
	else
		snprintf(text, bytes, "%u", value);
}

/* What a level does: "1/2: l1d.size = 24K". */
static void level_text(char *text, size_t bytes, const struct core_feature *f, const struct feature_level *l)
{
	char value[24];
	value_text(value, sizeof value, f, l->value);
	if (f->kind == FEATURE_SIZE && strcmp(f->name, "tage.size") && strcmp(f->name, "indirect.size"))
		snprintf(text, bytes, "%s: %s = %s", l->name, f->key, value);
	else if (f->kind == FEATURE_SIZE && l->code != FEATURE_OFF)
		snprintf(text, bytes, "%s: %s = %s", l->name, f->key, value);
	else
		snprintf(text, bytes, "%s%s", l->name, l->code ? "" : " (as the preset has it)");
}

static const char *register_name(uint32_t msr)
{
	uint32_t at;
	const char *name;
	for (unsigned i = 0; (name = core_features_register(i, &at)); i++)
		if (at == msr)
			return name;
	return "";
}

static void json_pair(const char *key, const char *text, const char *end)
{
	printf("\"%s\": ", key);
	json_string(stdout, text);
	fputs(end, stdout);
}

static void json_feature(const struct core_feature *f)
{
	json_pair("name", f->name, ", ");
	json_pair("kind", kinds[f->kind], ", ");
	json_pair("help", f->help, ", ");
	json_pair("field", f->key, ", ");
	printf("\"msr\": %u, ", f->msr);
	json_pair("register", register_name(f->msr), ", ");
	printf("\"high\": %u, \"low\": %u, \"levels\": [", f->low + f->width - 1u, f->low);
	for (uint32_t i = 0; i < f->levels; i++) {
		printf("%s{", i ? ", " : "");
		json_pair("name", f->level[i].name, ", ");
		printf("\"code\": %u, \"value\": %u}", f->level[i].code, f->level[i].value);
	}
	putchar(']');
}

void features_print(const struct core_config *preset, bool json)
{
	static struct core_feature f[FEATURES_MAX];
	size_t n = core_features_list(preset, f, FEATURES_MAX);
	uint32_t last = 0;
	if (json)
		printf("{\"core\": \"%s\", \"features\": [", preset->name);
	else
		printf("%s: features that can be changed, by --feature NAME=LEVEL or by writing the register\n",
			preset->name);
	for (size_t i = 0; i < n; i++) {
		char range[16], levels[256] = "", first[24], value[64] = "";
		if (json) {
			printf("%s\n{", i ? "," : "");
			json_feature(&f[i]);
			putchar('}');
			continue;
		}
		if (f[i].msr != last)
			printf("\n%s (%XH)\n", register_name(f[i].msr), f[i].msr);
		last = f[i].msr;
		range_text(range, sizeof range, &f[i]);
		value_text(first, sizeof first, &f[i], f[i].level[0].value);
		if (f[i].kind == FEATURE_SIZE)
			snprintf(value, sizeof value, " (%s = %s)", f[i].key, first);
		for (uint32_t k = 0; k < f[i].levels; k++) {
			size_t used = strlen(levels);
			snprintf(levels + used, sizeof levels - used, "%s%s", k ? " " : "", f[i].level[k].name);
		}
		printf("  %-9s %-22s %-28s %s%s\n", range, f[i].name, levels, f[i].help, value);
	}
	if (json)
		puts("\n]}");
}

void features_print_registers(const struct core_config *preset, bool json)
{
	struct core_features f;
	uint32_t msr;
	uint64_t value;
	const char *name;
	core_features_init(&f, preset);
	for (unsigned i = 0; (name = core_features_register(i, &msr)); i++) {
		char address[16];
		if (core_features_read(&f, msr, &value) != FEATURE_OK)
			continue;
		snprintf(address, sizeof address, "%XH", msr);
		if (json) {
			printf(",\n{\"space\": \"msr\", \"address\": %u, ", msr);
			json_pair("name", name, ", ");
			printf("\"present\": true, \"reset\": 0, ");
			json_pair("help", "features of the core", "}");
		} else {
			printf("  %-13s %-34s %-13s %s\n", address, name, "0H", "features of the core, not of its PMU");
		}
	}
}

void features_print_layout(const struct core_config *preset, const char *name, uint32_t msr, bool json)
{
	static struct core_feature f[FEATURES_MAX];
	size_t n = core_features_list(preset, f, FEATURES_MAX);
	char range[16], text[96];
	bool any = false;
	if (json) {
		printf("{\"space\": \"msr\", \"address\": %u, ", msr);
		json_pair("name", name, ", ");
		json_pair("help", "features of the core", ", ");
		printf("\"present\": true, \"reset\": 0, \"fields\": [");
	} else {
		printf("%s  %XH  features of %s\nafter reset 0H: everything as the preset has it; other bits and "
			"codes: #GP when set\n\n",
			name, msr, preset->name);
	}
	for (size_t i = n; i-- > 0;) {
		if (f[i].msr != msr)
			continue;
		if (json) {
			fputs(any ? ",\n{" : "{", stdout);
			json_feature(&f[i]);
			putchar('}');
			any = true;
			continue;
		}
		range_text(range, sizeof range, &f[i]);
		printf("  %-9s  %-22s  %s\n", range, f[i].name, f[i].help);
		for (uint32_t k = 0; k < f[i].levels; k++) {
			level_text(text, sizeof text, &f[i], &f[i].level[k]);
			printf("             %XH  %s\n", f[i].level[k].code, text);
		}
	}
	if (json)
		puts("]}");
}

void features_print_value(const struct core_config *preset, const char *name, uint32_t msr, uint64_t value, bool json)
{
	static struct core_feature list[FEATURES_MAX];
	size_t n = core_features_list(preset, list, FEATURES_MAX);
	struct core_features f;
	uint64_t fields = 0;
	char range[16], text[96];
	bool any = false;
	core_features_init(&f, preset);
	const bool taken = core_features_write(&f, msr, value) == FEATURE_OK;
	if (json) {
		printf("{\"space\": \"msr\", \"address\": %u, ", msr);
		json_pair("name", name, ", ");
		printf("\"value\": %" PRIu64 ", \"write\": \"%s\", \"fields\": [", value, taken ? "taken" : "faults");
	} else {
		printf("%s  %XH  =  %0*" PRIX64 "H\n\n", name, msr, value >> 32 ? 16 : 8, value);
	}
	for (size_t i = n; i-- > 0;) {
		const struct core_feature *c = &list[i];
		const uint32_t code = (uint32_t)(value >> c->low) & ((1u << c->width) - 1);
		if (c->msr != msr)
			continue;
		fields |= ((UINT64_C(1) << c->width) - 1) << c->low;
		snprintf(text, sizeof text,
			c->kind == FEATURE_POLICY ? "by name, as the preset has it" : "#GP: there is no such level");
		for (uint32_t k = 0; k < c->levels; k++)
			if (c->level[k].code == code)
				level_text(text, sizeof text, c, &c->level[k]);
		if (json) {
			printf("%s{\"high\": %u, \"low\": %u, ", any ? ", " : "", c->low + c->width - 1u, c->low);
			json_pair("name", c->name, ", ");
			printf("\"value\": %u, ", code);
			json_pair("meaning", text, "}");
			any = true;
			continue;
		}
		range_text(range, sizeof range, c);
		printf("  %-9s  %-22s  %X  %s: %s\n", range, c->name, code, c->help, text);
	}
	if (json) {
		printf("], \"reserved\": %" PRIu64 "}\n", value & ~fields);
		return;
	}
	if (taken) {
		core_features_text(&f, text, sizeof text);
		printf("\nWRMSR accepts it%s%s\n", *text ? ": --feature " : "", text);
	} else if (value & ~fields) {
		printf("\nWRMSR: #GP(0): %" PRIX64 "H of it is reserved on this core\n", value & ~fields);
	} else {
		printf("\nWRMSR: #GP(0): a field has no such level on this core\n");
	}
}
