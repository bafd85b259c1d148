/* SPDX-License-Identifier: GPL-2.0-or-later
 * What `softpmu gate` prints: for people, as Markdown for a pull request's comment, as JUnit XML for CI systems.  The
 * same report gives the same bytes. */
#ifndef GATE_PRINT_H
#define GATE_PRINT_H
#include "cli/gate/gate_check.h"
#include <stdio.h>

enum { GATE_FUNCTIONS = 5 };	/* so many are named without --explain */

/* explain: all functions that differ, with their counts before and after. */
void gate_print_text(FILE *to, const struct gate_report *r, bool explain);
void gate_print_markdown(FILE *to, const struct gate_report *r, bool explain);
void gate_print_junit(FILE *to, const struct gate_report *r);
#endif
