/* SPDX-License-Identifier: GPL-2.0-or-later
 * Features: the parts of a core that can be resized, switched off or changed in policy.  A feature is set by the name
 * of one of its levels (`l1d.size=1/2`), or through a field of a register that WRMSR writes.
 *
 * A feature sets one or a few fields of struct core_config, relative to a preset: the machine that --core and --set
 * describe.  Level 0 of every feature is the preset's setting, so registers of all zeros change nothing.
 * The prefetchers have the bits of real parts (MSR_MISC_FEATURE_CONTROL, 1A4H).  Real parts have no registers for the
 * other features; those are in a block of this model's own, at addresses that no processor will ever use (SDM vol. 4,
 * "Model-Specific Registers (MSRs)": 40000000H to 400000FFH).
 * features.def is the table.  docs/reference/features.md is for users.
 * Left out: physical register files (only prf.integer has a limit, and few cores have it); sizes above the preset's.
 */
#ifndef CORE_FEATURES_H
#define CORE_FEATURES_H
#include "core/machine/config.h"

enum feature_kind { FEATURE_SIZE, FEATURE_SWITCH, FEATURE_POLICY };
/* FEATURE_OFF: code of a size that is off */
enum { FEATURE_LEVELS = 8, FEATURE_REGISTERS = 6, FEATURES_MAX = 128, FEATURE_OFF = 7 };

#define MSR_MISC_FEATURE_CONTROL 0x1a4u
#define MSR_FEATURES 0x400000c0u	/* the first of our own block */

struct feature_level {
	char name[16];		/* "full", "1/2", "off", "on", "plru" */
	uint32_t code;		/* in the register's field */
	uint32_t value;		/* of the first field that the feature sets, at this level */
};

struct core_feature {
	const char *name, *help;
	const char *key;	/* the first field that it sets, as --set calls it */
	enum feature_kind kind;
	uint32_t msr;
	uint8_t low, width;	/* its bits in the register */
	uint32_t levels;
	struct feature_level level[FEATURE_LEVELS];	/* [0]: as the preset has it, code 0 */
};

/* Writes the features that this preset has, with their levels, in the table's order.  Returns their number, which may
 * exceed `room`; FEATURES_MAX is always enough. */
size_t core_features_list(const struct core_config *preset, struct core_feature *out, size_t room);
/* Finds one by name.  ERR_INPUT, with the nearest names, if there is none; ERR_UNSUPPORTED if the preset lacks it. */
int core_feature_find(const struct core_config *preset, const char *name, struct core_feature *out, struct err *err);

/* A preset and the registers of its features.  May be copied freely. */
struct core_features {
	struct core_config preset;
	uint64_t value[FEATURE_REGISTERS];
};
void core_features_init(struct core_features *f, const struct core_config *preset);
/* Sets one `feature=level`, as --feature does.  Nothing changes on an error. */
int core_features_set(struct core_features *f, const char *setting, struct err *err);
/* Sets several, separated by commas. */
int core_features_set_all(struct core_features *f, const char *settings, struct err *err);
/* Writes the machine that the registers describe. */
void core_features_config(const struct core_features *f, struct core_config *out);
/* Writes the settings that differ from the preset: "l1d.size=1/2,rob.size=1/4", or "".  Returns false if they do not
 * fit. */
bool core_features_text(const struct core_features *f, char *text, size_t bytes);
/* Applies settings to *config, which is the preset before and the machine after, without registers. */
int core_features_apply(struct core_config *config, const char *settings, struct err *err);

/* RDMSR and WRMSR.  FEATURE_GP: the value sets a reserved bit, or a level that the preset lacks; nothing changes. */
enum feature_access { FEATURE_OK, FEATURE_GP, FEATURE_NO_MSR };
enum feature_access core_features_read(const struct core_features *f, uint32_t msr, uint64_t *value);
enum feature_access core_features_write(struct core_features *f, uint32_t msr, uint64_t value);
/* Address and name of register `index`; NULL after the last. */
const char *core_features_register(unsigned index, uint32_t *msr);
/* Finds a register by its name, in upper or lower case, with or without MSR_ and SOFTPMU_, or by its address: 0x1a4,
 * 1A4H, 420.  Returns its full name, or NULL if there is none. */
const char *core_features_register_find(const char *text, uint32_t *msr);
/* Does `REGISTER=VALUE`, as --wrmsr.  ERR_INPUT if WRMSR would raise #GP. */
int core_features_wrmsr(struct core_features *f, const char *assignment, struct err *err);
#endif
