/* SPDX-License-Identifier: GPL-2.0-or-later
 * steps.c with cycles of delivery and allocation shared among hardware threads (smt.h), and loads remembered (clears.h).
 */
#define STEPS core_steps_smt
#define WATCH true
#define CORE_SMT 1
#include "core/steps.c"
