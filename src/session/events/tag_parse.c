/* SPDX-License-Identifier: GPL-2.0-or-later
 * Parses tags (tag_parse.h) by recursive descent, and writes the steps in the order of evaluation.
 */
#include "session/events/tag_parse.h"
#include "util/near.h"
#include <ctype.h>
#include <string.h>

static const struct { const char *name, *help; bool is; uint8_t bit; } bits[] = {
#define STATIC(name, text) { #name, text, true, SPMU_IS_##name },
#define DYNAMIC(name, text) { #name, text, false, SPMU_DID_##name },
#include "softpmu/signals.def"
};
static const char *const signals[] = {
#define SIGNAL(name, kind, text) #name,
#include "softpmu/signals.def"
};
static const struct { const char *name; uint64_t is, did; } words[] = {
#define X(name, is, did) { name, is, did },
	TAG_WORDS(X)
#undef X
};
enum {
	BITS = sizeof bits / sizeof *bits,
	SIGNALS = sizeof signals / sizeof *signals,
	WORDS = sizeof words / sizeof *words
};

/* A name that an analysis can use: the bit neither holds for all of its slots nor for none. */
static bool usable(unsigned k)
{
	const uint64_t only_samples = SPMU_DID(STORE_L1D_MISS) | SPMU_DID(STORE_L2_HIT) | SPMU_DID(STORE_L3_HIT) |
		SPMU_DID(STORE_HITM);
	return bits[k].is ? bits[k].bit != SPMU_IS_SLOT
		: bits[k].bit != SPMU_DID_RETIRED && !(only_samples >> bits[k].bit & 1);
}

struct parser {
	const char *at;
	struct tag *tag;
	struct err *err;
	unsigned depth;
	char shown[96] /* in messages: one line of it */;
};

static const char *one_line(char *out, size_t bytes, const char *text)
{
	size_t n = 0;
	for (; text[n] && n + 1 < bytes; n++)
		out[n] = iscntrl((unsigned char)text[n]) ? ' ' : text[n];
	out[n] = 0;
	return out;
}

static int step(struct parser *p, struct tag_step s)
{
	if (p->tag->steps == TAG_STEPS)
		return err_set(p->err, ERR_INPUT,
			"tag '%s' is too long: it has more than %d names and operators", p->shown, TAG_STEPS);
	p->tag->step[p->tag->steps++] = s;
	return 0;
}

static void skip(struct parser *p)
{
	while (isspace((unsigned char)*p->at))
		p->at++;
}

static bool same(const char *name, const char *word, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (!name[i] || tolower((unsigned char)name[i]) != tolower((unsigned char)word[i]))
			return false;
	return !name[n];
}

static int unknown(struct parser *p, const char *word, size_t n)
{
	char wanted[64], near[320];
	struct near near_names;
	const size_t shown = n < sizeof wanted ? n : sizeof wanted - 1;
	memcpy(wanted, word, shown);
	wanted[shown] = 0;
	for (unsigned i = 0; i < SIGNALS; i++)
		if (same(signals[i], word, n))
			return err_set(p->err, ERR_INPUT,
				"tag '%s': %s belongs to no uop, so it cannot tag what retires", p->shown,
				wanted);
	near_start(&near_names, wanted);
	for (unsigned k = 0; k < WORDS; k++)
		near_offer(&near_names, words[k].name, strlen(words[k].name));
	for (unsigned k = 0; k < BITS; k++)
		if (usable(k))
			near_offer(&near_names, bits[k].name, strlen(bits[k].name));
	near_text(&near_names, "; nearest: ", near, sizeof near);
	for (char *c = near; *c; c++)
		*c = (char)tolower((unsigned char)*c);
	return err_set(p->err, ERR_INPUT, "tag '%s': unknown event '%s'%s", p->shown, wanted, near);
}

static int any(struct parser *p);

static int name(struct parser *p)
{
	const char *word = p->at;
	size_t n = 0;
	while (isalnum((unsigned char)word[n]) || word[n] == '_')
		n++;
	if (!n) {
		char rest[9];
		return *word ? err_set(p->err, ERR_INPUT, "tag '%s': a name is missing before '%s'", p->shown,
				       one_line(rest, sizeof rest, word))
				: err_set(p->err, ERR_INPUT, "tag '%s': a name is missing at the end", p->shown);
	}
	p->at += n;
	struct tag_step s = { .what = TAG_HAS };
	for (unsigned k = 0; k < WORDS && !(s.is | s.did); k++)
		if (same(words[k].name, word, n)) {
			s.is = words[k].is;
			s.did = words[k].did;
		}
	for (unsigned k = 0; k < BITS && !(s.is | s.did); k++)
		if (usable(k) && same(bits[k].name, word, n))
			*(bits[k].is ? &s.is : &s.did) = UINT64_C(1) << bits[k].bit;
	if (!(s.is | s.did))
		return unknown(p, word, n);
	p->tag->is |= s.is;
	p->tag->did |= s.did;
	return step(p, s);
}

static int one(struct parser *p)
{
	int rc;
	skip(p);
	if (*p->at != '!' && *p->at != '(')
		return name(p);
	if (++p->depth > TAG_STEPS)
		return err_set(p->err, ERR_INPUT, "tag '%s': too many levels of ( and !", p->shown);
	if (*p->at++ == '!') {
		rc = one(p);
		rc = rc ? rc : step(p, (struct tag_step){ .what = TAG_NOT });
	} else {
		rc = any(p);
		if (!rc && *p->at++ != ')') {
			p->at--;
			rc = err_set(p->err, ERR_INPUT, "tag '%s': a closing ')' is missing", p->shown);
		}
	}
	p->depth--;
	return rc;
}

static int all(struct parser *p)
{
	int rc = one(p);
	for (skip(p); !rc && *p->at == '&'; skip(p)) {
		p->at += 1 + (p->at[1] == '&');
		rc = one(p);
		rc = rc ? rc : step(p, (struct tag_step){ .what = TAG_AND });
	}
	return rc;
}

static int any(struct parser *p)
{
	int rc = all(p);
	for (skip(p); !rc && *p->at == '|'; skip(p)) {
		p->at += 1 + (p->at[1] == '|');
		rc = all(p);
		rc = rc ? rc : step(p, (struct tag_step){ .what = TAG_OR });
	}
	return rc;
}

int tag_parse(struct tag *out, const char *text, struct err *err)
{
	struct tag tag = { 0 };
	struct parser p = { .at = text, .tag = &tag, .err = err };
	char rest[9];
	one_line(p.shown, sizeof p.shown, text);
	int rc = any(&p);
	if (!rc && *p.at)
		rc = err_set(err, ERR_INPUT, "tag '%s': & or | is missing before '%s'", p.shown,
			one_line(rest, sizeof rest, p.at));
	if (rc)
		return rc;
	tag.without = tag_holds(&tag, 0, 0);
	*out = tag;
	return 0;
}

const char *tag_name(unsigned n, char out[64], const char **help)
{
	if (n < WORDS) {
		*help = "";
		strcpy(out, words[n].name);
		return out;
	}
	for (unsigned k = 0, left = n - WORDS; k < BITS; k++) {
		if (!usable(k) || left--)
			continue;
		*help = bits[k].help;
		size_t i = 0;
		for (; bits[k].name[i] && i < 63; i++)
			out[i] = (char)tolower((unsigned char)bits[k].name[i]);
		out[i] = 0;
		return out;
	}
	return NULL;
}
