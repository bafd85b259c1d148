/* SPDX-License-Identifier: GPL-2.0-or-later
 * Prints the features of a core and their registers, as text and as JSON (softpmu cores --features, softpmu
 * msr). */
#ifndef CLI_FEATURES_PRINT_H
#define CLI_FEATURES_PRINT_H
#include "core/machine/features.h"

/* Prints all features. */
void features_print(const struct core_config *preset, bool json);
/* Prints the registers as lines of `softpmu msr`'s table; as JSON: elements of its array, each after a comma. */
void features_print_registers(const struct core_config *preset, bool json);
/* Prints one register's fields; and for a value: what it means, and what WRMSR does with it. */
void features_print_layout(const struct core_config *preset, const char *name, uint32_t msr, bool json);
void features_print_value(const struct core_config *preset, const char *name, uint32_t msr, uint64_t value, bool json);
#endif
