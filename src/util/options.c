/* SPDX-License-Identifier: GPL-2.0-or-later
 * Parses a command's options by its tables (options.h). */
#include "util/options.h"
#include "util/near.h"
#include <errno.h>
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

struct found {
	const struct option_set *set;
	const struct option *option;
	char spelled[64];	/* "-o" or "--output": as it was written, without the value */
};

static bool has_name(const struct option *o, const char *name, size_t n)
{
	return o->name && strlen(o->name) == n && !memcmp(o->name, name, n);
}

/* By its letter, or if that is 0 by its name. */
static bool find(const struct option_parser *p, char letter, const char *name, size_t n, struct found *f)
{
	for (f->set = p->set; f->set->option; f->set++)
		for (f->option = f->set->option; f->option->kind; f->option++)
			if (f->option->kind != OPTION_GROUP &&
				(letter ? f->option->brief == letter : has_name(f->option, name, n))) {
				if (letter)
					snprintf(f->spelled, sizeof f->spelled, "-%c", letter);
				else
					snprintf(f->spelled, sizeof f->spelled, "--%.*s", (int)n, name);
				return true;
			}
	return false;
}

static int unknown(const struct option_parser *p, const char *word, struct err *err)
{
	struct near near;
	char text[256], wanted[NEAR_CHARS];
	const char *begin = word + strspn(word, "-");
	snprintf(wanted, sizeof wanted, "--%.*s", (int)strcspn(begin, "="), begin);
	near_start(&near, strlen(wanted) > 3 ? wanted : "");	/* no name resembles a single letter */
	for (const struct option_set *s = p->set; s->option; s++)
		for (const struct option *o = s->option; o->kind; o++)
			if (o->name && !o->hidden && o->kind != OPTION_REFUSED) {
				snprintf(wanted, sizeof wanted, "--%s", o->name);
				near_offer(&near, wanted, strlen(wanted));
			}
	near_text(&near, "; nearest: ", text, sizeof text);
	return err_set(err, ERR_INPUT, "unknown option %s%s (softpmu %s --help)", word, text, p->command);
}

/* ---- values ---- */

static void put_integer(void *at, unsigned bytes, uint64_t value)
{
	if (bytes == 1)
		*(uint8_t *)at = (uint8_t)value;
	else if (bytes == 4)
		*(uint32_t *)at = (uint32_t)value;
	else
		*(uint64_t *)at = value;
}

static int choose(const struct found *f, void *at, const char *value, struct err *err)
{
	int number = f->option->first;
	const size_t length = strlen(value);
	for (const char *word = f->option->argument; ; number++) {
		const size_t n = strcspn(word, "|");
		if (n == length && !memcmp(word, value, n)) {
			put_integer(at, f->option->bytes, (uint64_t)number);
			return 0;
		}
		word += n;
		if (!*word++)
			break;
	}
	char words[256], *bar;
	snprintf(words, sizeof words, "%s", f->option->argument);
	const bool several = (bar = strrchr(words, '|'));
	char last[64] = "";
	if (bar) {
		snprintf(last, sizeof last, "%s", bar + 1);
		*bar = 0;
	}
	char text[512] = "";
	for (const char *c = words; *c && strlen(text) + 3 < sizeof text; c++)
		strcat(text, *c == '|' ? ", " : (char[]){ *c, 0 });
	return err_set(err, ERR_INPUT, "option %s: '%s' is not %s%s%s%s", f->spelled, value,
		several && strchr(text, ',') ? "one of " : "", text, several ? " or " : "", last);
}

/* Reads a number up to *end: as a double, and as a whole number, which is exact up to 2^64 if it is written in
 * digits alone. *whole is UINT64_MAX if it is no such number.  False if text is no number. */
static bool read_number(const char *text, char **end, double *value, uint64_t *whole)
{
	errno = 0;
	*value = strtod(text, end);
	if (errno || *end == text || isnan(*value))
		return false;
	if (strspn(text, "0123456789") == (size_t)(*end - text)) {
		*whole = strtoull(text, NULL, 10);
		return !errno;
	}
	if (*value < 0 || *value >= 0x1p63 || *value != floor(*value))
		*whole = UINT64_MAX;	/* none: every option's most is less */
	else
		*whole = (uint64_t)*value;
	return true;
}

static int bad_number(const struct found *f, const char *value, struct err *err)
{
	const struct option *o = f->option;
	const char *what = o->kind == OPTION_PERCENT ? "percentage"
		: o->kind == OPTION_NUMBER           ? "number"
						     : "whole number";
	const char *suffixes = o->kind == OPTION_SCALED ? " (suffixes k, M, G)" : "";
	if (o->kind == OPTION_MILLISECONDS)
		return err_set(err, ERR_INPUT, "option %s: '%s' is not a number of milliseconds, at least 0.0001",
			f->spelled, value);
	if (o->most >= 1e15)
		return err_set(err, ERR_INPUT, "option %s: '%s' is not a %s from %.15g%s", f->spelled, value, what,
			o->least, suffixes);
	return err_set(err, ERR_INPUT, "option %s: '%s' is not a %s from %.15g to %.15g%s", f->spelled, value, what,
		o->least, o->most, suffixes);
}

static int set_number(const struct found *f, void *at, const char *value, struct err *err)
{
	const struct option *o = f->option;
	char *end;
	double number;
	uint64_t whole;
	if (!read_number(value, &end, &number, &whole))
		return bad_number(f, value, err);
	if (o->kind == OPTION_PERCENT && *end == '%')
		end++;
	if (o->kind == OPTION_MILLISECONDS && !strcmp(end, "ms"))
		end += 2;
	if (o->kind == OPTION_SCALED && *end) {
		const uint64_t scale = *end == 'k' || *end == 'K' ? 1000
			: *end == 'M'                             ? 1000000
			: *end == 'G'                             ? 1000000000
								  : 0;
		if (!scale || whole > (UINT64_C(1) << 63) / scale)
			return bad_number(f, value, err);
		whole *= scale;
		end++;
	}
	if (*end)
		return bad_number(f, value, err);
	if (o->kind == OPTION_WHOLE || o->kind == OPTION_SCALED) {
		if (whole == UINT64_MAX || (double)whole < o->least || (double)whole > o->most)
			return bad_number(f, value, err);
		put_integer(at, o->bytes, whole);
	} else {
		if (!(number >= o->least && number <= o->most))
			return bad_number(f, value, err);
		*(double *)at = number;
	}
	return 0;
}

static int add_value(const struct found *f, const char *value, struct err *err)
{
	const struct option *o = f->option;
	unsigned *count = (unsigned *)((char *)f->set->target + o->count_at);
	const char **list = (const char **)((char *)f->set->target + o->at);
	if (*count == o->room)
		return err_set(err, ERR_INPUT, "more than %u %s options%s%s", o->room, f->spelled, o->more ? "; " : "",
			o->more ? o->more : "");
	list[(*count)++] = value;
	return 0;
}

/* One option: checks its value, and stores it if there is a target. */
static int apply(const struct found *f, const char *value, struct err *err)
{
	const struct option *o = f->option;
	if (o->filled && value && !*value)
		return err_set(err, ERR_INPUT, "option %s: the value is empty", f->spelled);
	if (!f->set->target)
		return 0;
	void *at = (char *)f->set->target + o->at;
	switch (o->kind) {
	case OPTION_FLAG:
	case OPTION_CLEAR:
		*(bool *)at = o->kind == OPTION_FLAG;
		return 0;
	case OPTION_COUNT:
		++*(unsigned *)at;
		return 0;
	case OPTION_TEXT:
		*(const char **)at = value;
		return 0;
	case OPTION_LIST:
		return add_value(f, value, err);
	case OPTION_CHOICE:
		return choose(f, at, value, err);
	case OPTION_WHOLE:
	case OPTION_SCALED:
	case OPTION_NUMBER:
	case OPTION_PERCENT:
	case OPTION_MILLISECONDS:
		return set_number(f, at, value, err);
	case OPTION_CALL:
		return o->call(f->set->target, o, value, err);
	default:
		return 0;	/* OPTION_IGNORED */
	}
}

int options_value(const struct option *o, void *target, const char *value, struct err *err)
{
	const struct option_set set = { o, target };
	struct found f = { .set = &set, .option = o };
	snprintf(f.spelled, sizeof f.spelled, o->name ? "--%s" : "-%s", o->name ? o->name : (char[]){ o->brief, 0 });
	return apply(&f, value, err);
}

/* ---- words ---- */

static int refuse(const struct found *f, struct err *err)
{
	const char *instead = f->option->more;
	return err_set(err, ERR_INPUT, "option %s: %s%s%s", f->spelled, f->option->help, instead ? "; " : "",
		instead ? instead : "");
}

/* The value that stands in the word itself (attached; NULL: none) or is the next word.  *i moves to the last word
 * taken. */
static int take_value(const struct option_parser *p, const struct found *f, const char *attached, int argc, char **argv,
	int *i, const char **value, struct err *err)
{
	const struct option *o = f->option;
	const char *next = *i + 1 < argc ? argv[*i + 1] : NULL;
	*value = attached;
	if (attached)
		return 0;
	if (o->optional && !(next && o->takes && o->takes(next)))
		return 0;
	if (!next)
		return err_set(err, ERR_INPUT, "option %s needs a value (softpmu %s --help)", f->spelled, p->command);
	*value = next;
	++*i;
	return 0;
}

/* Return 1: taken; 0: help; else an error. */
static int long_word(const struct option_parser *p, int argc, char **argv, int *i, struct found *f, struct err *err)
{
	const char *name = argv[*i] + 2, *value = NULL;
	const size_t n = strcspn(name, "=");
	if (!find(p, 0, name, n, f))
		return !strcmp(name, "help") ? 0 : unknown(p, argv[*i], err);
	if (f->option->kind == OPTION_REFUSED)
		return refuse(f, err);
	if (!f->option->argument && name[n])
		return err_set(err, ERR_INPUT, "option %s takes no value (softpmu %s --help)", f->spelled, p->command);
	int rc = f->option->argument ? take_value(p, f, name[n] ? name + n + 1 : NULL, argc, argv, i, &value, err) : 0;
	if (!rc)
		rc = apply(f, value, err);
	return rc ? rc : 1;
}

static int brief_word(const struct option_parser *p, int argc, char **argv, int *i, struct found *f, struct err *err)
{
	char *word = argv[*i];
	for (const char *letter = word + 1; *letter; letter++) {
		const char *value = NULL;
		if (!find(p, *letter, NULL, 0, f))
			return *letter == 'h' ? 0 : unknown(p, word, err);
		if (f->option->kind == OPTION_REFUSED)
			return refuse(f, err);
		int rc = f->option->argument
			? take_value(p, f, letter[1] ? letter + 1 : NULL, argc, argv, i, &value, err)
			: 0;
		if (!rc)
			rc = apply(f, value, err);
		if (rc)
			return rc;
		if (f->option->argument && value == letter + 1)
			break;	/* the rest was its value */
	}
	return 1;
}

int options_parse(const struct option_parser *p, int argc, char **argv, int *next, struct err *err)
{
	struct found f;
	bool only_words = false;
	int i, rc;
	for (i = 1; i < argc; i++) {
		const int first = i;
		const char *word = argv[i];
		const bool ends = !only_words && !strcmp(word, "--");
		if (ends || only_words || word[0] != '-' || !word[1]) {
			if (!p->word)
				break;
			if (ends)
				only_words = true;
			else if ((rc = p->word(p->context, word, err)))
				return rc;
			continue;
		}
		rc = word[1] == '-' ? long_word(p, argc, argv, &i, &f, err) : brief_word(p, argc, argv, &i, &f, err);
		if (rc <= 0)
			return rc;
		if (p->taken)
			p->taken(p->context, f.set, argv + first, i - first + 1);
	}
	*next = i;
	return 1;
}

int option_note(void *target, const struct option *option, const char *value, struct err *err)
{
	const char **noted = (const char **)((char *)target + option->at);
	(void)value, (void)err;
	if (!*noted)
		*noted = option->name;
	return 0;
}

int option_ignore(void *target, const struct option *option, const char *value, struct err *err)
{
	(void)target, (void)option, (void)value, (void)err;
	return 0;
}
