/* SPDX-License-Identifier: GPL-2.0-or-later
 * steps.c for cores of several hardware threads: these share cycles of delivery and allocation (smt.h), and
 * loads are remembered (clears.h).
 */
#define STEPS core_steps_smt
#define WATCH true
#define CORE_SMT 1
#include "core/steps.c"
