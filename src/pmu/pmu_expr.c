/* SPDX-License-Identifier: BSD-2-Clause
 * The `count` expressions of an event table: what an event adds to its counter.
 *
 *   expr   := term { '+' term }
 *   term   := [ INT [ '/' INT ] '*' ] ( source | 'slots' | 'tsc' | 'cycles(' cond { '&' cond } ')' )
 *   source := 'uop(' clause { '&' clause } ')' [ '@' stage [ ':' stage ] ]
 *           | ( 'sig' | 'begins' | 'ends' | 'pending' ) '(' NAME { '&' attr } ')'
 *   attr   := NAME | '!' NAME | '(' NAME { '|' NAME } ')'
 *   clause := NAME | '!' NAME | '(' NAME { '|' NAME } ')' | 'port(' INT { ',' INT } ')'
 *           | [ '!' ] 'tag(' INT { ',' INT } ')'
 *   stage  := fetch | alloc | ready | dispatch | complete | retire | squash
 *   cond   := source { '+' source } ( '>=' | '>' | '<=' | '<' | '==' | '!=' ) INT
 *
 * uop(...)@retire   one for each retired uop whose bits meet every clause, at its retirement.  Retirement is
 *                   the default stage and implies RETIRED.
 * uop(...)@stage    the same for every uop that reached the stage, squashed ones included; a stage that a uop did
 *                   not reach has the offset UINT32_MAX.
 * uop(...)@squash   one for each uop that did not retire, in the cycle in which it left the core (its record's
 *                   `retire`; none for a uop that has no such cycle).
 * uop(...)@a:b      in every cycle from stage a to stage b, each such uop that reached both: an occupancy.
 * tag(...)          at least one of these tags; with !, none of them.  The family's registers decide which uops have
 *                   which tags (netburst_tags.c; architectural: tag(0) a load above the latency threshold, tag(1) a
 *                   front-end event that MSR_PEBS_FRONTEND selects, tag(2) a branch that changes the LBR stack).
 * NAME              a STATIC or DYNAMIC of signals.def.  At most one (A|B) group and one port() in a predicate.
 * sig(NAME)         a SIGNAL of signals.def.  POINT: its count.  INTERVAL: cycles in which at least one is true.
 *                   OCCUPANCY: its count, in every cycle.
 * sig(NAME & ...)   only the records whose bits meet every clause: ATTRIBUTEs of signals.def.  Overlapping INTERVALs
 *                   are merged whatever their attributes, so of those only begins, ends and pending take clauses.
 * begins, ends      one for each record of an INTERVAL or OCCUPANCY, at its first cycle or after its last.
 * pending(NAME)     in every cycle, how many records of an INTERVAL are under way (overlaps add up).
 * cycles(...)       1 in each unhalted cycle in which every condition holds; a condition compares the sum of its
 *                   sources in that cycle.  A weight makes it the event's value in that cycle, for events
 *                   whose documented CMASK selects one of several conditions.
 * slots, tsc        sig(CYCLES) times the issue width; sig(CYCLES) in ticks of the time-stamp counter.
 * INT '/' INT       a fraction is allowed only for an expression that is one term on sig(CYCLES).
 */
#include "pmu_internal.h"
#include <ctype.h>
#include <stdio.h>
#include <string.h>

static const struct { const char *name; } is_names[] = {
#define STATIC(name, text) { #name },
#include "softpmu/signals.def"
}, did_names[] = {
#define DYNAMIC(name, text) { #name },
#include "softpmu/signals.def"
}, attribute_names[] = {
#define ATTRIBUTE(name, text) { #name },
#include "softpmu/signals.def"
}, signal_names[] = {
#define SIGNAL(name, kind, text) { #name },
#include "softpmu/signals.def"
};
static const char *const stage_names[] = { "fetch", "alloc", "ready", "dispatch", "complete", "retire", "squash" };
enum { STAGE_SQUASH = STAGE_NONE + 1 };	/* in this file only: STAGE_RETIRE of a uop that does not retire */
_Static_assert(SPMU_IS_COUNT <= 64 && SPMU_DID_COUNT <= 64 && SPMU_SIG_COUNT <= 128, "sets fit their words");

struct parser {
	struct spmu_model *m;
	const char *s;
	char *text;
	size_t text_bytes;
	int error;
};

static bool fail(struct parser *p, int error, const char *what, const char *at, size_t length)
{
	if (!p->error)
		snprintf(p->text, p->text_bytes, "%s%s%.*s%s", what, length ? " '" : "",
			(int)(length > 60 ? 60 : length), at, length ? "'" : "");
	p->error = error;
	return false;
}

static void skip(struct parser *p)
{
	while (*p->s == ' ')
		p->s++;
}

static bool accept(struct parser *p, const char *token)
{
	size_t n = strlen(token);
	skip(p);
	if (strncmp(p->s, token, n))
		return false;
	p->s += n;
	return true;
}

static bool expect(struct parser *p, const char *token)
{
	if (accept(p, token))
		return true;
	char what[48];
	snprintf(what, sizeof what, "count expression: '%s' expected at", token);
	return fail(p, SPMU_EINPUT, what, *p->s ? p->s : "end", *p->s ? strlen(p->s) : 3);
}

static size_t word(struct parser *p, const char **start)
{
	skip(p);
	*start = p->s;
	while (isalnum((unsigned char)*p->s) || *p->s == '_')
		p->s++;
	return (size_t)(p->s - *start);
}

static bool number(struct parser *p, uint32_t limit, uint32_t *out)
{
	uint64_t v = 0;
	skip(p);
	const char *start = p->s;
	while (isdigit((unsigned char)*p->s) && v <= limit)
		v = v * 10 + (uint64_t)(*p->s++ - '0');
	if (p->s == start || v > limit)
		return fail(p, SPMU_EINPUT, "count expression: bad number at", start, strlen(start));
	*out = (uint32_t)v;
	return true;
}

static int lookup(const void *names, size_t count, const char *s, size_t n)
{
	const struct { const char *name; } *t = names;
	for (size_t i = 0; i < count; i++)
		if (strlen(t[i].name) == n && !memcmp(t[i].name, s, n))
			return (int)i;
	return -1;
}

static bool bit_name(struct parser *p, uint64_t *is, uint64_t *did)
{
	const char *s;
	size_t n = word(p, &s);
	int i = lookup(is_names, sizeof is_names / sizeof *is_names, s, n);
	if (i >= 0) {
		*is |= UINT64_C(1) << i;
		return true;
	}
	i = lookup(did_names, sizeof did_names / sizeof *did_names, s, n);
	if (i < 0)
		return fail(p, SPMU_EINPUT, "count expression: signals.def has no STATIC or DYNAMIC", n ? s : "?",
			n ? n : 1);
	*did |= UINT64_C(1) << i;
	return true;
}

static bool clause(struct parser *p, struct pmu_source *s)
{
	if (accept(p, "(")) {
		if (s->any_is | s->any_did)
			return fail(p, SPMU_EINPUT, "count expression: only one (A|B) group a predicate", "", 0);
		do {
			if (!bit_name(p, &s->any_is, &s->any_did))
				return false;
		} while (accept(p, "|"));
		return expect(p, ")");
	}
	bool without = accept(p, "!tag(");
	if (without || accept(p, "tag(")) {
		uint16_t *tags = without ? &s->untagged : &s->tagged;
		if (*tags)
			return fail(p, SPMU_EINPUT, "count expression: only one tag() and one !tag() a predicate", "",
				0);
		do {
			uint32_t tag;
			if (!number(p, 15, &tag))
				return false;
			*tags |= (uint16_t)(1u << tag);
		} while (accept(p, ","));
		return expect(p, ")");
	}
	if (accept(p, "port(")) {
		if (s->ports)
			return fail(p, SPMU_EINPUT, "count expression: only one port() a predicate", "", 0);
		do {
			uint32_t port;
			if (!number(p, 15, &port))
				return false;
			s->ports |= (uint16_t)(1u << port);
		} while (accept(p, ","));
		return expect(p, ")");
	}
	bool want = !accept(p, "!");
	uint64_t is = 0, did = 0;
	if (!bit_name(p, &is, &did))
		return false;
	if ((s->is_mask & is) | (s->did_mask & did))
		return fail(p, SPMU_EINPUT, "count expression: a bit is named twice", "", 0);
	s->is_mask |= is;
	s->did_mask |= did;
	if (want) {
		s->is_want |= is;
		s->did_want |= did;
	}
	return true;
}

static bool attribute_name(struct parser *p, uint64_t *set)
{
	const char *s;
	size_t n = word(p, &s);
	int i = lookup(attribute_names, sizeof attribute_names / sizeof *attribute_names, s, n);
	if (i < 0)
		return fail(p, SPMU_EINPUT, "count expression: signals.def has no ATTRIBUTE", n ? s : "?", n ? n : 1);
	*set |= UINT64_C(1) << i;
	return true;
}

static bool attribute(struct parser *p, struct pmu_source *s)
{
	uint64_t set = 0;
	if (accept(p, "(")) {
		if (s->any_is)
			return fail(p, SPMU_EINPUT, "count expression: only one (A|B) group a signal", "", 0);
		do {
			if (!attribute_name(p, &s->any_is))
				return false;
		} while (accept(p, "|"));
		return expect(p, ")");
	}
	bool want = !accept(p, "!");
	if (!attribute_name(p, &set))
		return false;
	if (s->is_mask & set)
		return fail(p, SPMU_EINPUT, "count expression: an attribute is named twice", "", 0);
	s->is_mask |= set;
	s->is_want |= want ? set : 0;
	return true;
}

static bool intern(struct parser *p, const struct pmu_source *s, uint16_t *index)
{
	struct spmu_model *m = p->m;
	for (size_t i = 0; i < m->sources; i++)
		if (!memcmp(&m->source[i], s, sizeof *s)) {
			*index = (uint16_t)i;
			return true;
		}
	if (m->sources == PMU_MAX_SOURCES)
		return fail(p, SPMU_EINPUT, "count expression: too many distinct sources in this table", "", 0);
	memcpy(&m->source[m->sources], s, sizeof *s);
	*index = (uint16_t)m->sources++;
	return true;
}

static bool stage(struct parser *p, uint8_t *out)
{
	const char *w;
	size_t n = word(p, &w);
	for (unsigned i = 0; i < sizeof stage_names / sizeof *stage_names; i++)
		if (strlen(stage_names[i]) == n && !memcmp(stage_names[i], w, n)) {
			*out = (uint8_t)(i <= STAGE_RETIRE ? i : STAGE_SQUASH);
			return true;
		}
	return fail(p, SPMU_EINPUT, "count expression: no such stage", n ? w : "?", n ? n : 1);
}

static bool source(struct parser *p, uint16_t *index)
{
	struct pmu_source s;
	const char *w;
	size_t n;
	memset(&s, 0, sizeof s);	/* the padding, too, because sources are compared as bytes */
	static const char *const forms[PMU_FORMS] = { "sig(", "begins(", "ends(", "pending(" };
	for (s.form = 0; s.form < PMU_FORMS && !accept(p, forms[s.form]);)
		s.form++;
	s.until = STAGE_NONE;
	if (s.form < PMU_FORMS) {
		n = word(p, &w);
		int i = lookup(signal_names, sizeof signal_names / sizeof *signal_names, w, n);
		if (i < 0)
			return fail(p, SPMU_EINPUT, "count expression: signals.def has no SIGNAL", n ? w : "?",
				n ? n : 1);
		s.is_signal = 1;
		s.signal = (uint8_t)i;
		if (s.form != FORM_VALUE && (pmu_signal_kind(s.signal) == SPMU_POINT ||
		    (s.form == FORM_PENDING && pmu_signal_kind(s.signal) == SPMU_OCCUPANCY)))
			return fail(p, SPMU_EINPUT,
				"count expression: begins, ends and pending are for intervals, not for", w, n);
		while (accept(p, "&"))
			if (!attribute(p, &s))
				return false;
		if (pmu_qualified(&s) && s.form == FORM_VALUE && pmu_signal_kind(s.signal) == SPMU_INTERVAL)
			return fail(p, SPMU_EINPUT, "count expression: sig() of an interval takes no attributes:", w,
				n);
		return expect(p, ")") && intern(p, &s, index);
	}
	s.form = FORM_VALUE;
	if (!expect(p, "uop("))
		return false;
	do {
		if (!clause(p, &s))
			return false;
	} while (accept(p, "&"));
	if (!expect(p, ")"))
		return false;
	s.stage = STAGE_RETIRE;
	if (accept(p, "@") && (!stage(p, &s.stage) || (accept(p, ":") && !stage(p, &s.until))))
		return false;
	if ((s.until <= s.stage && s.stage != STAGE_SQUASH) || s.until == STAGE_SQUASH)
		return fail(p, SPMU_EINPUT, "count expression: stages in the wrong order", "", 0);
	if (s.stage == STAGE_SQUASH) {
		if (s.until != STAGE_NONE || s.did_want & SPMU_DID(RETIRED))
			return fail(p, SPMU_EINPUT,
				"count expression: @squash is a stage of its own, and implies !RETIRED", "", 0);
		s.stage = STAGE_RETIRE;
		s.did_mask |= SPMU_DID(RETIRED);
	} else if (s.stage == STAGE_RETIRE || s.until == STAGE_RETIRE) {
		if (s.did_mask & ~s.did_want & SPMU_DID(RETIRED))
			return fail(p, SPMU_EINPUT, "count expression: a squashed uop does not retire", "", 0);
		s.did_mask |= SPMU_DID(RETIRED);
		s.did_want |= SPMU_DID(RETIRED);
	}
	return intern(p, &s, index);
}

static bool cond(struct parser *p, struct pmu_cond *c)
{
	static const struct { const char *text; uint8_t op; } ops[] = {
		{ ">=", OP_GE }, { "<=", OP_LE }, { "==", OP_EQ }, { "!=", OP_NE }, { ">", OP_GT }, { "<", OP_LT },
	};
	do {
		if (c->sources == PMU_MAX_ADDENDS)
			return fail(p, SPMU_EINPUT, "count expression: too many sources in a condition", "", 0);
		if (!source(p, &c->source[c->sources]))
			return false;
		c->sources++;
	} while (accept(p, "+"));
	for (size_t i = 0; i < sizeof ops / sizeof *ops; i++)
		if (accept(p, ops[i].text)) {
			c->op = ops[i].op;
			return number(p, 1000000, &c->value);
		}
	return fail(p, SPMU_EINPUT, "count expression: comparison expected at", *p->s ? p->s : "end",
		*p->s ? strlen(p->s) : 3);
}

static bool term(struct parser *p, struct pmu_term *t)
{
	t->num = t->den = 1;
	skip(p);
	if (isdigit((unsigned char)*p->s)) {
		if (!number(p, 1000000, &t->num) || (accept(p, "/") && !number(p, 1000000, &t->den)) || !expect(p, "*"))
			return false;
		if (!t->num || !t->den)
			return fail(p, SPMU_EINPUT, "count expression: a weight may not be 0", "", 0);
	}
	bool slots = accept(p, "slots"), tsc = !slots && accept(p, "tsc");
	if (slots || tsc) {
		struct parser cycles = *p;
		cycles.s = "sig(CYCLES)";
		if (!source(&cycles, &t->source))
			return fail(p, cycles.error, "count expression: too many sources", "", 0);
		uint64_t num = t->num * (uint64_t)(slots ? p->m->slots : p->m->tsc_num);
		uint64_t den = t->den * (uint64_t)(slots ? 1 : p->m->tsc_den);
		if (num > UINT32_MAX || den > UINT32_MAX)
			return fail(p, SPMU_EINPUT, "count expression: weight too large", "", 0);
		t->num = (uint32_t)num;
		t->den = (uint32_t)den;
		return true;
	}
	if (!accept(p, "cycles("))
		return source(p, &t->source);
	do {
		if (t->conds == PMU_MAX_CONDS)
			return fail(p, SPMU_EINPUT, "count expression: too many conditions", "", 0);
		if (!cond(p, &t->cond[t->conds]))
			return false;
		t->conds++;
	} while (accept(p, "&"));
	return expect(p, ")");
}

int pmu_expr_parse(struct spmu_model *m, struct pmu_expr *out, const char *s, char *text, size_t text_bytes)
{
	struct parser p = { .m = m, .s = s, .text = text, .text_bytes = text_bytes };
	struct pmu_expr e;
	memset(&e, 0, sizeof e);
	do {
		if (e.terms == PMU_MAX_TERMS) {
			fail(&p, SPMU_EINPUT, "count expression: too many terms", "", 0);
			return p.error;
		}
		if (!term(&p, &e.term[e.terms]))
			return p.error;
		e.terms++;
	} while (accept(&p, "+"));
	skip(&p);
	if (*p.s)
		fail(&p, SPMU_EINPUT, "count expression: what is this?", p.s, strlen(p.s));
	for (unsigned i = 0; i < e.terms && !p.error; i++) {
		const struct pmu_source *c = &m->source[e.term[i].source];
		if (e.term[i].den != 1 &&
			(e.terms > 1 || e.term[i].conds || !c->is_signal || c->signal != SPMU_SIG_CYCLES || c->form))
			fail(&p, SPMU_EINPUT, "count expression: a fraction is for a lone sig(CYCLES)", "", 0);
	}
	if (!p.error)
		memcpy(out, &e, sizeof e);	/* the padding, too, because expressions are compared as bytes */
	return p.error;
}
