/* SPDX-License-Identifier: GPL-2.0-or-later
 * softpmu cores --coverage FILE: which instruction forms of a program have no row of their own in a core's uop
 * table. */
#ifndef CLI_COVERAGE_H
#define CLI_COVERAGE_H
#include "core/machine/config.h"

enum { COVERAGE_CORES = 64 };
/* path: an ELF file (each instruction of its executable sections counts once) or a saved stream (each
 * instruction counts as often as it executed). Returns the exit status. */
int coverage(const char *path, const struct core_config *core, unsigned cores, bool json);
#endif
