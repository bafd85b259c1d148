/* SPDX-License-Identifier: GPL-2.0-or-later
 * A machine as data, read from data/cores/NAME.conf.
 *
 * A file has lines `field = value` and comments from # on; `include NAME` comes first if it builds on another core.
 * Sizes take K, M and G.  Times are in cycles or nanoseconds, as the field says.  fields.def lists the fields.
 */
#ifndef CORE_CONFIG_H
#define CORE_CONFIG_H
#include "util/err.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { CORE_FALL = 16 };
/* A share that falls from 100 % at 0 to 0 %, linearly between the points.
 * at[i] rises strictly from above 0; per_cent[i] never rises, and the last is 0.  As text: `2.5:80 4:0`, or `none`. */
struct core_fall {
	uint32_t points;	/* 0: it stays at 100 % */
	double at[CORE_FALL], per_cent[CORE_FALL];
};

/* fields.def gives type, range, unit and help of every field below the strings. */
struct core_config {
	char name[64];		/* file name without .conf */
	char title[128];	/* marketing name */
	char uops[64];		/* uop table: data/uops/<uops>.tsv */
	char pmu[64];		/* PMU and event table: data/events/<pmu>.tsv */
	char libpfm[64];	/* libpfm4's name of that PMU (skl, spr) */
	char uncore[64];	/* PMU and event table of the uncore: data/events/uncore-<uncore>.tsv; "none" */
	char energy[64];	/* energy table: data/energy/<energy>.tsv, or a path */
	char cpuid_vendor[16];	/* default: GenuineIntel */
	char cpuid_signature[16]; /* e.g. 506E3H: family, model, stepping */
	/* FAMILY_MODEL, in hexadecimal, of each processor that it models (--core host); default: that of the
	 * signature */
	char cpuid_models[96];
#define FIELD_INT(id, key, min, max, unit, help) uint32_t id;
#define FIELD_REAL(id, key, min, max, unit, help) double id;
#define FIELD_ENUM(id, key, names, help) uint32_t id;
#define FIELD_FALL(id, key, unit, help) struct core_fall id;
#include "core/machine/fields.def"
	bool other_pmu;		/* no field: pmu is not the one of the core's file (--pmu), so messages name it */
	/* no field: a saved stream of a whole machine runs on it (stream_machine), so events count ring 0, too, unless
	 * their modifiers say otherwise */
	bool both_rings;
};

/* Loads a core.  data_dir: the folder that holds cores/.  name: a preset, or a path (it contains '/').
 * Returns 0, or an error and leaves *out as it was: ERR_INPUT for a bad file, with the nearest names for an unknown
 * core or field. */
int core_config_load(struct core_config *out, const char *data_dir, const char *name, struct err *err);
enum { CONFIG_PRESETS = 64, CORE_SCHEDULER_PORTS = 14 /* most ports of one scheduler */ };
/* Writes the names of the presets in data_dir, sorted, which the caller frees.  Returns their number, or an error. */
int core_config_presets(char *names[CONFIG_PRESETS], const char *data_dir, struct err *err);
/* Sets one field from `field=value`, as --set does.  Does not call core_config_check. */
int core_config_set(struct core_config *config, const char *assignment, struct err *err);
/* Writes the options of the decoders (isa_configure) that follow from the core's fields. */
struct isa_options;
void core_isa_options(const struct core_config *config, struct isa_options *out);
/* Checks ranges, powers of two, and fields that depend on each other.  core_config_load and machine_create call it. */
int core_config_check(const struct core_config *config, struct err *err);
/* The percentage at `at`. */
double core_fall_per_cent(const struct core_fall *fall, double at);
/* The reverse: where the share has fallen to `per_cent`; fall->points must not be 0. */
double core_fall_at(const struct core_fall *fall, double per_cent);
enum { CORE_FALL_TEXT = CORE_FALL * 24 };
void core_fall_print(const struct core_fall *fall, char text[CORE_FALL_TEXT]);
/* Prints every field as a line of a core's file, with its help as a comment if asked.  Returns a malloc'd string, or
 * NULL without memory. */
char *core_config_print(const struct core_config *config, bool with_help);
#endif
