/* SPDX-License-Identifier: GPL-2.0-or-later
 * Features: what of a core can be resized, switched off or changed in policy, as levels that have names (`l1d.size=1/2`) and as fields of
 * registers that WRMSR reaches.
 *
 * A feature sets one or a few fields of struct core_config, relative to a preset: the machine as --core and --set describe it.  Level 0 of
 * each is what the preset has, so registers of all zeros change nothing.  The prefetchers' bits are those of real parts (MSR_MISC_FEATURE_CONTROL,
 * 1A4H); real parts have no registers for the rest, which are in a block of this model's own, at addresses that no processor
 * will ever use (SDM vol. 4, "Model-Specific Registers (MSRs)": 40000000H to 400000FFH).
 * features.def is the table.  docs/reference/features.md is for users.
 * Left out: physical register files (prf.integer is the only one with a limit, and few cores have it), sizes above the preset's.
 */
#ifndef CORE_FEATURES_H
#define CORE_FEATURES_H
#include "core/machine/config.h"

enum feature_kind { FEATURE_SIZE, FEATURE_SWITCH, FEATURE_POLICY };
enum { FEATURE_LEVELS = 8, FEATURE_REGISTERS = 6, FEATURES_MAX = 128, FEATURE_OFF = 7 /* code of a size that is off */ };

#define MSR_MISC_FEATURE_CONTROL 0x1a4u
#define MSR_FEATURES 0x400000c0u	/* the first of our own block */

struct feature_level {
	char name[16];		/* "full", "1/2", "off", "on", "plru" */
	uint32_t code;		/* in the register's field */
	uint32_t value;		/* that the first field of the feature then has */
};

struct core_feature {
	const char *name, *help;
	const char *key;	/* of the first field that it sets, as --set has it */
	enum feature_kind kind;
	uint32_t msr;
	uint8_t low, width;	/* its bits there */
	uint32_t levels;
	struct feature_level level[FEATURE_LEVELS];	/* [0]: as the preset has it, code 0 */
};

/* The features that this preset has, with their levels, in the table's order; their number (room for FEATURES_MAX is enough). */
size_t core_features_list(const struct core_config *preset, struct core_feature *out, size_t room);
/* One by name.  ERR_INPUT with the nearest names, ERR_UNSUPPORTED if the preset lacks it. */
int core_feature_find(const struct core_config *preset, const char *name, struct core_feature *out, struct err *err);

/* The registers of a machine, over its preset.  Copied at will. */
struct core_features {
	struct core_config preset;
	uint64_t value[FEATURE_REGISTERS];
};
void core_features_init(struct core_features *f, const struct core_config *preset);
/* `feature=level` of --feature.  Nothing is changed if it fails. */
int core_features_set(struct core_features *f, const char *setting, struct err *err);
/* Several, with commas. */
int core_features_set_all(struct core_features *f, const char *settings, struct err *err);
/* The machine as the registers say. */
void core_features_config(const struct core_features *f, struct core_config *out);
/* What is not as the preset has it: "l1d.size=1/2,rob.size=1/4", "" if all is; false if it does not fit. */
bool core_features_text(const struct core_features *f, char *text, size_t bytes);
/* The same in one step, for who holds settings and not registers: *config is the preset, and then the machine. */
int core_features_apply(struct core_config *config, const char *settings, struct err *err);

/* RDMSR and WRMSR.  GP: a reserved bit, or a level that the preset lacks, is set: nothing is changed. */
enum feature_access { FEATURE_OK, FEATURE_GP, FEATURE_NO_MSR };
enum feature_access core_features_read(const struct core_features *f, uint32_t msr, uint64_t *value);
enum feature_access core_features_write(struct core_features *f, uint32_t msr, uint64_t value);
/* Address and name of each register; NULL behind the last. */
const char *core_features_register(unsigned index, uint32_t *msr);
/* One by name, with or without MSR_ and SOFTPMU_, upper or lower case, or by address: 0x1a4, 1A4H, 420.  NULL: none; else its name. */
const char *core_features_register_find(const char *text, uint32_t *msr);
/* `REGISTER=VALUE` of --wrmsr.  ERR_INPUT if WRMSR would fault. */
int core_features_wrmsr(struct core_features *f, const char *assignment, struct err *err);
#endif
