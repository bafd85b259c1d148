/* SPDX-License-Identifier: GPL-2.0-or-later
 * A machine as data.  data/cores/NAME.conf: lines `field = value`, `#` comments, `include NAME` first if
 * it builds on another.  Sizes take K, M, G; times `ns` or cycles as the field says. Fields: fields.def.
 */
#ifndef CORE_CONFIG_H
#define CORE_CONFIG_H
#include "util/err.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { CORE_FALL = 16 };
/* A share that falls from 100 % at 0 to nothing: at[i] rise from above 0, per_cent[i] never do, the last is 0; straight lines between. points 0: it stays.
 * As text `2.5:80 4:0`, or none. */
struct core_fall {
	uint32_t points;
	double at[CORE_FALL], per_cent[CORE_FALL];
};

/* Every field with type, range, unit and help comes from fields.def. */
struct core_config {
	char name[64];		/* file name without .conf */
	char title[128];	/* marketing name */
	char uops[64];		/* uop table: data/uops/<uops>.tsv */
	char pmu[64];		/* PMU and event table: data/events/<pmu>.tsv */
	char libpfm[64];	/* libpfm4's name of that PMU (skl, spr) */
	char uncore[64];	/* PMU and event table of the uncore: data/events/uncore-<uncore>.tsv; "none" */
	char energy[64];	/* what its parts take: data/energy/<energy>.tsv */
	char cpuid_vendor[16];	/* GenuineIntel, if not set */
	char cpuid_signature[16]; /* e.g. 506E3H: family, model, stepping */
	char cpuid_models[96];	/* FAMILY_MODEL in hexadecimal of all processors that it stands for (--core host); if not set, the signature's */
#define FIELD_INT(id, key, min, max, unit, help) uint32_t id;
#define FIELD_REAL(id, key, min, max, unit, help) double id;
#define FIELD_ENUM(id, key, names, help) uint32_t id;
#define FIELD_FALL(id, key, unit, help) struct core_fall id;
#include "core/machine/fields.def"
};

/* data_dir: holds cores/.  name: a preset or a path (contains '/').  Unknown field: ERR_INPUT with the nearest names. */
int core_config_load(struct core_config *out, const char *data_dir, const char *name, struct err *err);
enum { CONFIG_PRESETS = 64, CORE_SCHEDULER_PORTS = 14 /* ports of one scheduler at most */ };
/* Names of the presets in data_dir, sorted, into malloc'd strings; their number, or an error. */
int core_config_presets(char *names[CONFIG_PRESETS], const char *data_dir, struct err *err);
/* One `field=value` as of --set. */
int core_config_set(struct core_config *config, const char *assignment, struct err *err);
/* What the decoders shall be told (isa_configure). */
struct isa_options;
void core_isa_options(const struct core_config *config, struct isa_options *out);
/* Consistency (powers of two where needed, sums); called by core_config_load and machine_create. */
int core_config_check(const struct core_config *config, struct err *err);
/* The per cent at `at`, and where they are `per_cent`: the other way; fall->points is not 0. */
double core_fall_per_cent(const struct core_fall *fall, double at);
double core_fall_at(const struct core_fall *fall, double per_cent);
enum { CORE_FALL_TEXT = CORE_FALL * 24 };
void core_fall_print(const struct core_fall *fall, char text[CORE_FALL_TEXT]);
/* One line a field, as in the file, with help. Into a malloc'd string. */
char *core_config_print(const struct core_config *config, bool with_help);
#endif
