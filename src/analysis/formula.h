/* SPDX-License-Identifier: GPL-2.0-or-later
 * Formulas over counts: parsed once, checked for units, evaluated often.
 *
 * Grammar: numbers, names (letters, digits, _ and the dots of event names), + - * /, comparisons (1 or 0),
 * parentheses, min(a, b), max(a, b), if(condition, then, else), ratio(a, b): a / b, but 0 where both are 0.
 * Units: products of powers of the bases below.  Both sides of + - min max if and of comparisons must have the
 * same unit; the number 0 has any unit.  A division by zero has no value (NaN), and neither has anything
 * computed from it: such a metric says nothing about the run.  Errors name the column in the formula, from 1,
 * and what stands there.
 */
#ifndef ANALYSIS_FORMULA_H
#define ANALYSIS_FORMULA_H
#include "util/err.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum formula_base { UNIT_CYCLE, UNIT_SLOT, UNIT_UOP, UNIT_INSTRUCTION, UNIT_EVENT, UNIT_BYTE, UNIT_SECOND, UNIT_BASES };
struct formula_unit { int8_t power[UNIT_BASES]; };	/* all 0: a plain number */

/* Parses "1", "%" (a plain number, printed in hundredths), "cycle/event", "byte/second", "1/cycle". 0, or
 * ERR_INPUT. */
int formula_unit_parse(struct formula_unit *out, const char *text, struct err *err);
/* Writes "cycle/event"; text must have room for 128 bytes. */
const char *formula_unit_text(struct formula_unit u, char *text);
bool formula_unit_equal(struct formula_unit a, struct formula_unit b);

struct formula;			/* compiled; immutable */
/* Looks up a name: `index` is what formula_value's callback gets.  false: no such name. */
typedef bool formula_name(void *context, const char *name, size_t chars, unsigned *index, struct formula_unit *unit);
int    formula_compile(struct formula **out, const char *text, formula_name *name, void *context, struct err *err);
void   formula_free(struct formula *f);
struct formula_unit formula_unit_of(const struct formula *f);
/* The index of every name, in order of appearance, with repetitions. */
const unsigned *formula_names(const struct formula *f, size_t *count);
double formula_value(const struct formula *f, double (*value)(void *context, unsigned index), void *context);
#endif
