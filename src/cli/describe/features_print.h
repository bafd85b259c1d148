/* SPDX-License-Identifier: GPL-2.0-or-later
 * Features of a core and their registers for people and as JSON (softpmu cores --features, softpmu msr). */
#ifndef CLI_FEATURES_PRINT_H
#define CLI_FEATURES_PRINT_H
#include "core/machine/features.h"

/* All of them. */
void features_print(const struct core_config *preset, bool json);
/* The registers, as lines of `softpmu msr`'s table; JSON: elements of its array, each behind a comma. */
void features_print_registers(const struct core_config *preset, bool json);
/* One register's fields; with a value: what it means, and what WRMSR makes of it. */
void features_print_layout(const struct core_config *preset, const char *name, uint32_t msr, bool json);
void features_print_value(const struct core_config *preset, const char *name, uint32_t msr, uint64_t value, bool json);
#endif
