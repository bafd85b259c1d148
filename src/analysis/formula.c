/* SPDX-License-Identifier: GPL-2.0-or-later
 * Formulas over counts (formula.h): recursive descent into a small stack program.
 * Leaves out: powers, functions other than the header's, strings. */
#include "analysis/formula.h"
#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_OPS = 512, MOST_DEPTH = 48, MOST_POWER = 8, MOST_NAME = 96 };
enum op {
	OP_NUMBER, OP_NAME, OP_ADD, OP_SUB, OP_MUL, OP_DIV, OP_LESS, OP_GREATER, OP_LESS_EQUAL,
	OP_GREATER_EQUAL, OP_NEGATE, OP_MIN, OP_MAX, OP_IF, OP_RATIO
};
struct step { enum op op; unsigned index; double number; };

struct formula {
	struct formula_unit unit;
	size_t steps, names;
	unsigned *name;
	struct step step[];
};

/* ---- units ---- */

static const char *const base_name[UNIT_BASES] = { "cycle", "slot", "uop", "instruction", "event", "byte", "second" };

int formula_unit_parse(struct formula_unit *out, const char *text, struct err *err)
{
	struct formula_unit u = { { 0 } };
	int sign = 1;
	const char *s = text;
	if (!strcmp(text, "%")) {
		*out = u;
		return 0;
	}
	for (;;) {
		size_t n = strspn(s, "abcdefghijklmnopqrstuvwxyz1");
		unsigned b = 0;
		while (b < UNIT_BASES && (strlen(base_name[b]) != n || strncmp(s, base_name[b], n)))
			b++;
		if (b < UNIT_BASES && u.power[b] * sign < MOST_POWER)
			u.power[b] = (int8_t)(u.power[b] + sign);
		else if (n != 1 || *s != '1')
			return err_set(err, ERR_INPUT,
				"unit '%.40s': column %u: cycle, slot, uop, instruction, event, byte, second or 1 was "
				"expected",
				text, (unsigned)(s - text) + 1);
		s += n;
		if (!*s)
			break;
		if (*s != '*' && *s != '/')
			return err_set(err, ERR_INPUT, "unit '%.40s': column %u: * or / was expected", text,
				(unsigned)(s - text) + 1);
		sign = *s++ == '/' ? -1 : 1;
	}
	*out = u;
	return 0;
}

const char *formula_unit_text(struct formula_unit u, char *text)
{
	char *t = text;
	for (int under = 0; under < 2; under++)
		for (unsigned b = 0; b < UNIT_BASES; b++)
			for (int k = 0; k < (under ? -u.power[b] : u.power[b]) && t < text + 100; k++)
				t += sprintf(t, "%s%s", t == text ? (under ? "1/" : "") : under ? "/" : "*",
					base_name[b]);
	if (t == text)
		strcpy(text, "1");
	return text;
}

bool formula_unit_equal(struct formula_unit a, struct formula_unit b)
{
	return !memcmp(&a, &b, sizeof a);
}

/* ---- parsing ---- */

struct term { struct formula_unit unit; bool any; };	/* any: the number 0, which has any unit */

struct parser {
	const char *text, *at;
	formula_name *name;
	void *context;
	struct err *err;
	struct step step[MOST_OPS];
	size_t steps, names;
	unsigned depth;
	bool failed;
};

static struct term expression(struct parser *p);

static bool fail(struct parser *p, const char *at, const char *what)
{
	if (!p->failed) {
		size_t left = strlen(at);
		err_set(p->err, ERR_INPUT, "column %u: %s%s%.24s%s", (unsigned)(at - p->text) + 1, what,
			left ? ", at '" : ", at the end", left ? at : "",
			left > 24 ? "...'" : left ? "'" : "");
	}
	p->failed = true;
	return false;
}

static void put(struct parser *p, enum op op, unsigned index, double number)
{
	if (p->steps == MOST_OPS)
		fail(p, p->at, "the formula is too long");
	else
		p->step[p->steps++] = (struct step){ op, index, number };
}

static char peek(struct parser *p)
{
	p->at += strspn(p->at, " ");
	return *p->at;
}

static bool expect(struct parser *p, char c)
{
	char what[] = "'?' was expected";
	what[1] = c;
	if (p->failed || peek(p) != c)
		return fail(p, p->at, what);
	p->at++;
	return true;
}

/* Both sides of an operation must have one unit. */
static struct term same(struct parser *p, const char *at, struct term a, struct term b)
{
	char what[300], left[128], right[128];
	if (a.any)
		return b;
	if (!b.any && !formula_unit_equal(a.unit, b.unit)) {
		snprintf(what, sizeof what, "units differ: %s and %s", formula_unit_text(a.unit, left),
			formula_unit_text(b.unit, right));
		fail(p, at, what);
	}
	return a;
}

static struct term scaled(struct parser *p, const char *at, struct term a, struct term b, int sign)
{
	struct term r = { .any = a.any };
	for (unsigned k = 0; k < UNIT_BASES; k++) {
		int power = a.unit.power[k] + sign * b.unit.power[k];
		if (power > MOST_POWER || power < -MOST_POWER) {
			fail(p, at, "the unit's power is too high");
			break;
		}
		r.unit.power[k] = (int8_t)power;
	}
	return r;
}

static struct term call(struct parser *p, const char *at, size_t chars)
{
	static const struct { const char *name; enum op op; unsigned arguments; } function[] = {
		{ "min", OP_MIN, 2 }, { "max", OP_MAX, 2 }, { "if", OP_IF, 3 }, { "ratio", OP_RATIO, 2 },
	};
	struct term t[3] = { 0 };
	unsigned f = 0;
	while (f < 4 && (strlen(function[f].name) != chars || strncmp(function[f].name, at, chars)))
		f++;
	if (f == 4) {
		fail(p, at, "unknown function (min, max, if and ratio are known)");
		return t[0];
	}
	p->at++;
	for (unsigned k = 0; k < function[f].arguments && !p->failed; k++) {
		if (k && !expect(p, ','))
			break;
		peek(p);
		const char *begin = p->at;
		t[k] = expression(p);
		if (k && k + 1 == function[f].arguments && function[f].op != OP_RATIO)
			t[0] = same(p, begin, k == 2 ? t[1] : t[0], t[k]);
	}
	if (p->failed || !expect(p, ')'))
		return t[0];
	put(p, function[f].op, 0, 0);
	return function[f].op == OP_RATIO ? scaled(p, at, t[0], t[1], -1) : t[0];
}

static struct term primary(struct parser *p)
{
	struct term t = { .any = false };
	char c = peek(p);
	const char *at = p->at;
	if (c == '(') {
		p->at++;
		t = expression(p);
		expect(p, ')');
	} else if (c == '-') {
		p->at++;
		if (++p->depth > MOST_DEPTH) {
			fail(p, at, "too deeply nested");
			return t;
		}
		t = primary(p);
		p->depth--;
		put(p, OP_NEGATE, 0, 0);
	} else if (isdigit((unsigned char)c)) {
		/* only digits and a point: strtod would also take hexadecimal floats, infinities and the like */
		size_t digits = strspn(at, "0123456789"), n = digits;
		if (at[n] == '.')
			n += 1 + strspn(at + n + 1, "0123456789");
		if (n > 24 || isalpha((unsigned char)at[n]) || at[n] == '_') {
			fail(p, at, "this is no number");
			return t;
		}
		double v = 0, place = 0.1;
		for (size_t i = 0; i < digits; i++)
			v = v * 10 + (at[i] - '0');
		for (size_t i = digits + 1; i < n; i++, place /= 10)
			v += place * (at[i] - '0');
		p->at += n;
		t.any = v == 0;
		put(p, OP_NUMBER, 0, v);
	} else if (isalpha((unsigned char)c) || c == '_') {
		size_t n = 0;
		while (isalnum((unsigned char)at[n]) || at[n] == '_' || at[n] == '.')
			n++;
		p->at += n;
		if (*p->at == '(')
			return call(p, at, n);
		unsigned index;
		if (n > MOST_NAME || !p->name(p->context, at, n, &index, &t.unit)) {
			fail(p, at, "unknown name");
			return t;
		}
		p->names++;
		put(p, OP_NAME, index, 0);
	} else {
		fail(p, at, "a number, a name or ( was expected");
	}
	return t;
}

static struct term product(struct parser *p)
{
	struct term t = primary(p);
	char c;
	while (!p->failed && ((c = peek(p)) == '*' || c == '/')) {
		const char *at = p->at++;
		struct term u = primary(p);
		t = scaled(p, at, t, u, c == '*' ? 1 : -1);
		t.any = false;
		put(p, c == '*' ? OP_MUL : OP_DIV, 0, 0);
	}
	return t;
}

static struct term sum(struct parser *p)
{
	struct term t = product(p);
	char c;
	while (!p->failed && ((c = peek(p)) == '+' || c == '-')) {
		const char *at = p->at++;
		t = same(p, at, t, product(p));
		put(p, c == '+' ? OP_ADD : OP_SUB, 0, 0);
	}
	return t;
}

static struct term expression(struct parser *p)
{
	struct term t = { .any = false };
	if (p->failed || ++p->depth > MOST_DEPTH) {
		fail(p, p->at, "too deeply nested");
		return t;
	}
	t = sum(p);
	char c = p->failed ? 0 : peek(p);
	if (c == '<' || c == '>') {
		const char *at = p->at++;
		bool equal = *p->at == '=';
		p->at += equal;
		same(p, at, t, sum(p));
		put(p, c == '<' ? (equal ? OP_LESS_EQUAL : OP_LESS) : equal ? OP_GREATER_EQUAL : OP_GREATER, 0, 0);
		t = (struct term){ .any = false };
	}
	p->depth--;
	return t;
}

int formula_compile(struct formula **out, const char *text, formula_name *name, void *context, struct err *err)
{
	struct err ours;
	struct parser *p = calloc(1, sizeof *p);
	if (!p)
		return err_set(err, ERR_NOMEM, "out of memory");
	*p = (struct parser){ .text = text, .at = text, .name = name, .context = context, .err = err ? err : &ours };
	struct term t = expression(p);
	if (!p->failed && peek(p))
		fail(p, p->at, "an operator or the end was expected");
	if (p->failed) {
		free(p);
		return ERR_INPUT;
	}
	struct formula *f = malloc(sizeof *f + p->steps * sizeof *f->step);
	unsigned *names = malloc((p->names + 1) * sizeof *names);
	if (!f || !names) {
		free(p);
		free(f);
		free(names);
		return err_set(err, ERR_NOMEM, "out of memory");
	}
	*f = (struct formula){ .unit = t.unit, .steps = p->steps, .name = names };
	memcpy(f->step, p->step, p->steps * sizeof *f->step);
	for (size_t i = 0; i < f->steps; i++)
		if (f->step[i].op == OP_NAME)
			names[f->names++] = f->step[i].index;
	free(p);
	*out = f;
	return 0;
}

void formula_free(struct formula *f)
{
	if (f)
		free(f->name);
	free(f);
}

struct formula_unit formula_unit_of(const struct formula *f)
{
	return f->unit;
}

const unsigned *formula_names(const struct formula *f, size_t *count)
{
	*count = f->names;
	return f->name;
}

/* ---- evaluation ---- */

static double divide(double a, double b)
{
	return b == 0 ? (double)NAN : a / b;
}

/* Unlike fmin, has no value if one side has none. */
static double extreme(double a, double b, bool least)
{
	return isnan(a) || isnan(b) ? (double)NAN : (a < b) == least ? a : b;
}

double formula_value(const struct formula *f, double (*value)(void *context, unsigned index), void *context)
{
	double stack[MOST_OPS], a, b;	/* never deeper than the number of steps */
	size_t n = 0;
	for (size_t i = 0; i < f->steps; i++) {
		const struct step *s = f->step + i;
		if (s->op == OP_NUMBER || s->op == OP_NAME) {
			stack[n++] = s->op == OP_NUMBER ? s->number : value(context, s->index);
			continue;
		}
		if (s->op == OP_NEGATE) {
			stack[n - 1] = -stack[n - 1];
			continue;
		}
		if (s->op == OP_IF) {
			n -= 2;
			a = stack[n - 1];
			stack[n - 1] = isnan(a) ? (double)NAN : a != 0 ? stack[n] : stack[n + 1];
			continue;
		}
		b = stack[--n];
		a = stack[n - 1];
		bool known = !isnan(a) && !isnan(b);
		double *to = stack + n - 1;
		switch (s->op) {
		case OP_ADD: *to = a + b; break;
		case OP_SUB: *to = a - b; break;
		case OP_MUL: *to = a * b; break;
		case OP_DIV: *to = divide(a, b); break;
		case OP_RATIO: *to = a == 0 && b == 0 ? 0 : divide(a, b); break;
		case OP_MIN: *to = extreme(a, b, true); break;
		case OP_MAX: *to = extreme(a, b, false); break;
		case OP_LESS: *to = known ? a < b : (double)NAN; break;
		case OP_GREATER: *to = known ? a > b : (double)NAN; break;
		case OP_LESS_EQUAL: *to = known ? a <= b : (double)NAN; break;
		case OP_GREATER_EQUAL: *to = known ? a >= b : (double)NAN; break;
		case OP_NUMBER: case OP_NAME: case OP_NEGATE: case OP_IF: break;	/* handled above */
		}
	}
	return stack[0];
}
