/* SPDX-License-Identifier: GPL-2.0-or-later
 * Levels of the plan's fields, and ranges of them (plan.h). */
#include "sweep/plan.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

bool plan_number(const char *text, const char *end, double *out)
{
	char copy[40], *rest;
	const size_t n = (size_t)(end - text);
	if (!n || n >= sizeof copy || !strchr("0123456789.", *text))
		return false;
	memcpy(copy, text, n);
	copy[n] = 0;
	if (strspn(copy, "0123456789.KMG") != n)
		return false;
	*out = strtod(copy, &rest);
	for (const char *unit = "KMG"; *rest && *unit; unit++)
		if (*rest == *unit && !rest[1]) {
			*out = ldexp(*out, 10 * (int)(unit - "KMG" + 1));
			rest++;
		}
	return !*rest && isfinite(*out);
}

static int add(struct plan *p, struct plan_factor *f, const char *text, struct err *err)
{
	const size_t n = strlen(text) + 1;
	if (f->levels == PLAN_LEVELS)
		return err_set(err, ERR_INPUT, "%.100s has more than %d levels", f->field, PLAN_LEVELS);
	for (size_t i = 0; i < f->levels; i++)
		if (!strcmp(f->level[i], text))
			return err_set(err, ERR_INPUT, "%.100s has the level '%.100s' twice", f->field, text);
	char *kept = plan_keep(p, n);
	if (!kept)
		return err_set(err, ERR_NOMEM, "out of memory");
	f->level[f->levels++] = memcpy(kept, text, n);
	return 0;
}

/* A whole number, with the largest unit that divides it if the range was written with units. */
static void write_level(char text[32], double value, bool units)
{
	static const char unit[] = "KMG";
	unsigned u = 0;
	while (units && u < 3 && value >= 1024 && fmod(value, 1024) == 0) {
		value /= 1024;
		u++;
	}
	if (u)
		snprintf(text, 32, "%.0f%c", value, unit[u - 1]);
	else
		snprintf(text, 32, "%.10g", value);
}

/* "A..B*F", "A..B+S", and for draws "A..B". */
static int range(struct plan *p, struct plan_factor *f, const char *word, const char *dots, struct err *err)
{
	const char *step = strpbrk(dots, "*+"), *end = word + strlen(word);
	double from, to, by = 0;
	char text[32];
	if (!plan_number(word, dots, &from) || !plan_number(dots + 2, step ? step : end, &to) ||
		(step && !plan_number(step + 1, end, &by)))
		return err_set(err, ERR_INPUT, "'%.100s' is not a range of numbers, as in 256K..4M*2 or 64..512+64",
			word);
	if (from > to || (step && *step == '+' && by <= 0) || (step && *step == '*' && (by <= 1 || from <= 0)))
		return err_set(err, ERR_INPUT, "the range '%.100s' does not end", word);
	if (!step) {
		if (!f->drawn)
			return err_set(err, ERR_INPUT, "the range '%.100s' needs a step, as in %.100s*2: only draw "
				"takes it without one", word, word);
		if (f->levels || f->from < f->to)
			return err_set(err, ERR_INPUT, "%.100s: a range without a step stands alone", f->field);
		if (from == to)
			return err_set(err, ERR_INPUT, "the range '%.100s' is one number", word);
		f->from = from;
		f->to = to;
		return 0;
	}
	const bool units = strpbrk(word, "KMG");
	for (double v = from; v <= to * (1 + 1e-12); v = *step == '+' ? v + by : v * by) {
		write_level(text, v, units);
		const int rc = add(p, f, text, err);
		if (rc)
			return rc;
	}
	return 0;
}

int plan_levels(struct plan *p, struct plan_factor *f, const char *word, struct err *err)
{
	const char *dots = f->feature ? NULL : strstr(word, "..");
	if (f->from < f->to)
		return err_set(err, ERR_INPUT, "%.100s: a range without a step stands alone", f->field);
	if (!*word)
		return err_set(err, ERR_INPUT, "%.100s has an empty level", f->field);
	return dots ? range(p, f, word, dots, err) : add(p, f, word, err);
}
