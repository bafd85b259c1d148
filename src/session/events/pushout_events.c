/* SPDX-License-Identifier: GPL-2.0-or-later
 * Pushout counters for the session (pushout_events.h).  A tag, which may be any expression, is transformed into
 * the form that the registers have: all of these bits, at least one of those, none of the others.
 */
#include "session/events/pushout_events.h"
#include "session/events/tag_parse.h"
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

struct pushout_widths session_pushout_widths(const struct core_config *core)
{
	const unsigned decode = core->dsb_width > core->mite_width ? core->dsb_width : core->mite_width;
	return (struct pushout_widths){ { core->retire_width, core->alloc_width, decode, core->alloc_width,
		core->store_commit_width, core->mite_predecode } };
}

bool pushout_meant(const char *text, size_t n)
{
	return n >= 7 && !strncasecmp(text, "pushout", 7) && (n == 7 || text[7] == '/' || text[7] == ':');
}

/* ---- tags ---- */

enum { ALL, ANY, NONE };
struct form { uint64_t is[3], did[3]; };

static bool has(const struct form *f, int which)
{
	return f->is[which] | f->did[which];
}

/* Moves the bits of one part into another, which must be empty. */
static struct form moved(const struct form *f, int from, int to)
{
	struct form out = { 0 };
	out.is[to] = f->is[from];
	out.did[to] = f->did[from];
	return out;
}

static bool single(const struct form *f, int which)
{
	return __builtin_popcountll(f->is[which]) + __builtin_popcountll(f->did[which]) == 1;
}

/* One required bit counts as a group of one. */
static bool negate(struct form *f)
{
	const bool all = has(f, ALL), any = has(f, ANY), none = has(f, NONE);
	if (all + any + none != 1 || (all && !single(f, ALL)))
		return false;
	*f = none ? moved(f, NONE, single(f, NONE) ? ALL : ANY) : moved(f, all ? ALL : ANY, NONE);
	return true;
}

static bool both(struct form *f, const struct form *g)
{
	if (has(f, ANY) && has(g, ANY) && (f->is[ANY] != g->is[ANY] || f->did[ANY] != g->did[ANY]))
		return false;
	for (int k = 0; k < 3; k++) {
		f->is[k] |= g->is[k];
		f->did[k] |= g->did[k];
	}
	return true;
}

static bool either(struct form *f, const struct form *g)
{
	const struct form *part[2] = { f, g };
	struct form out = { 0 };
	for (unsigned i = 0; i < 2; i++) {
		const struct form *x = part[i];
		if (has(x, NONE) || has(x, ALL) + has(x, ANY) != 1 || (has(x, ALL) && !single(x, ALL)))
			return false;
		out.is[ANY] |= x->is[ALL] | x->is[ANY];
		out.did[ANY] |= x->did[ALL] | x->did[ANY];
	}
	*f = out;
	return true;
}

static bool form_of(const struct tag *t, struct form *out)
{
	struct form stack[TAG_STEPS] = { 0 };
	unsigned n = 0;
	bool good = true;
	for (unsigned i = 0; i < t->steps && good; i++) {
		const struct tag_step *s = &t->step[i];
		if (s->what == TAG_HAS) {
			const int which = __builtin_popcountll(s->is) + __builtin_popcountll(s->did) == 1 ? ALL : ANY;
			stack[n] = (struct form){ 0 };
			stack[n].is[which] = s->is;
			stack[n++].did[which] = s->did;
		} else if (s->what == TAG_NOT) {
			good = negate(&stack[n - 1]);
		} else {
			n--;
			good = s->what == TAG_AND ? both(&stack[n - 1], &stack[n]) : either(&stack[n - 1], &stack[n]);
		}
	}
	if (good)
		*out = stack[0];
	return good && n == 1;
}

/* ---- events ---- */

static int number(const char *key, const char *text, uint64_t max, uint64_t *out, struct err *err)
{
	char *end;
	unsigned long long v = strtoull(text, &end, 0);
	if (!isdigit((unsigned char)*text) || *end || v > max)
		return err_set(err, ERR_INPUT, "pushout: %s '%.60s' is not a number from 0 to %llu", key, text,
			(unsigned long long)max);
	*out = v;
	return 0;
}

static int choose(const char *key, const char *text, const char *const *name, unsigned names, unsigned *out,
	struct err *err)
{
	char list[80] = "";
	for (unsigned i = 0; i < names; i++) {
		if (!strcmp(name[i], text)) {
			*out = i;
			return 0;
		}
		snprintf(list + strlen(list), sizeof list - strlen(list), "%s%s", i ? ", " : "", name[i]);
	}
	return err_set(err, ERR_INPUT, "pushout: %s '%.60s' is unknown; give one of %s", key, text, list);
}

struct wish { uint64_t threshold; unsigned way, point, from; struct form form; };

static const char *const ways[] = {
#define X(name, text, help) text,
	PUSHOUT_WAYS(X)
#undef X
};
const char *const pushout_point_name[PUSHOUT_POINTS] = { "retire", "alloc", "decode", "memory", "visible", "fetch" };
static const char *const froms[] = { "due", "event" };

static int set_tag(struct wish *w, const char *text, struct err *err)
{
	struct tag t;
	int rc = tag_parse(&t, text, err);
	if (!rc && !form_of(&t, &w->form))
		rc = err_set(err, ERR_UNSUPPORTED,
			"pushout: tag '%.200s' does not fit a counter's registers, which hold events joined by &, one "
			"group of events joined by |, and events behind !; simplify the tag",
			text);
	return rc;
}

static int term(struct wish *w, struct pushout_terms *t, const char *at, size_t n, struct err *err)
{
	char key[16], text[512];
	const char *eq = memchr(at, '=', n);
	const size_t keys = eq ? (size_t)(eq - at) : n, bytes = eq ? n - keys - 1 : 0;
	snprintf(key, sizeof key, "%.*s", (int)keys, at);
	if (!eq || bytes >= sizeof text || keys >= sizeof key)
		return err_set(err, ERR_INPUT,
			"pushout: '%.*s' is not KEY=VALUE, or is too long; keys: threshold, tag, from, at, way, name, "
			"period, freq",
			(int)(n > 100 ? 100 : n), at);
	memcpy(text, eq + 1, bytes);
	text[bytes] = 0;
	if (!strcmp(key, "threshold"))
		return number(key, text, INT32_MAX, &w->threshold, err);
	if (!strcmp(key, "tag"))
		return set_tag(w, text, err);
	if (!strcmp(key, "way"))
		return choose(key, text, ways, PUSHOUT_WAYS_COUNT, &w->way, err);
	if (!strcmp(key, "at"))
		return choose(key, text, pushout_point_name, PUSHOUT_POINTS, &w->point, err);
	if (!strcmp(key, "from"))
		return choose(key, text, froms, 2, &w->from, err);
	if (!strcmp(key, "period"))
		return number(key, text, UINT64_C(1) << 46, &t->period, err);
	if (!strcmp(key, "freq"))
		return number(key, text, 1000000000, &t->frequency, err);
	if (!strcmp(key, "name") && bytes) {
		t->name = eq + 1;
		t->name_bytes = bytes;
		return 0;
	}
	return err_set(err, ERR_INPUT,
		"pushout: unknown term '%s'; known: threshold, tag, from, at, way, name, period, freq", key);
}

int pushout_parse(struct pushout_event *out, struct pushout_terms *terms, const struct core_config *core,
	const char *text, size_t n, struct err *err)
{
	struct wish w = { .threshold = 1 };
	const char *at = text + 7, *end = text + n;
	*terms = (struct pushout_terms){ 0 };
	if (at < end && *at == '/') {
		const char *last = memchr(at + 1, '/', (size_t)(end - at - 1));
		if (!last)
			return err_set(err, ERR_INPUT, "'%.*s': the closing '/' is missing", (int)(n > 200 ? 200 : n),
				text);
		for (at++; at < last;) {
			const char *comma = memchr(at, ',', (size_t)(last - at)), *stop = comma ? comma : last;
			int rc = stop > at ? term(&w, terms, at, (size_t)(stop - at), err) : 0;
			if (rc)
				return rc;
			at = stop + (stop < last);
		}
		at++;
	}
	if (at < end && *at == ':')
		at++;
	terms->modifiers = at;
	terms->modifier_bytes = (size_t)(end - at);
	if (!w.threshold && w.way == PUSHOUT_UP_FROM)
		return err_set(err, ERR_INPUT,
			"pushout: threshold=0 never fires with way=up; give way=down or way=up-to");
	if (core && !session_pushout_widths(core).at[w.point])
		return err_set(err, ERR_UNSUPPORTED,
			"pushout: at=%s cannot be measured: %s does not give the number of slots a cycle at that point",
			pushout_point_name[w.point], core->name);
	*out = (struct pushout_event){
		.control = SPMU_PUSHOUT_WAY(w.way) | SPMU_PUSHOUT_POINT(w.point) | (w.from ? SPMU_PUSHOUT_EVENT : 0),
		.load = w.way == PUSHOUT_UP_FROM ? (UINT64_C(1) << 32) - w.threshold : w.threshold };
	for (unsigned k = 0; k < 3; k++) {
		out->tag[2 * k] = w.form.is[k];
		out->tag[2 * k + 1] = w.form.did[k];
	}
	return 0;
}

/* ---- registers ---- */

/* Descriptions of the tag's registers, for driver_write. */
static const char *const part[6] = { "kinds, all required", "events, all required", "kinds, one required",
	"events, one required", "kinds, none allowed", "events, none allowed" };

int pushout_setup(const struct pushout_event *e, unsigned n, bool sampled, struct driver_writes *out, struct err *err)
{
	static const char *const names[SPMU_PUSHOUT_UNITS][8] = {
#define UNIT(n) { \
	"PUSHOUT" #n "_CONTROL", "PUSHOUT" #n "_LOAD", "PUSHOUT" #n "_ALL_IS", "PUSHOUT" #n "_ALL_DID", \
	"PUSHOUT" #n "_ANY_IS", "PUSHOUT" #n "_ANY_DID", "PUSHOUT" #n "_NONE_IS", "PUSHOUT" #n "_NONE_DID" }
		UNIT(0), UNIT(1), UNIT(2), UNIT(3),
#undef UNIT
	};
	const uint64_t way = e->control & 3;
	int rc = 0;
	for (unsigned k = 0; k < 6 && !rc; k++)
		if (e->tag[k])
			rc = driver_write(out, err, names[n][2 + k], MSR_PUSHOUT(n, ALL_IS) + k, e->tag[k], "tag: %s",
				part[k]);
	if (!rc)
		rc = driver_write(out, err, names[n][1], MSR_PUSHOUT(n, LOAD), e->load,
			way == PUSHOUT_DOWN              ? "the threshold: counts down, fires at 0"
				: way == PUSHOUT_UP_FROM ? "minus the threshold: counts up, fires when it overflows"
				: "the threshold: counts up from 0, fires when it is reached");
	if (!rc)
		rc = driver_write(out, err, names[n][0], MSR_PUSHOUT(n, CONTROL),
			e->control | SPMU_EVTSEL_EN |
				(sampled ? SPMU_EVTSEL_INT | SPMU_PUSHOUT_STORE_OVF : 0),
			"pushouts at %s, from %s, %s%s", pushout_point_name[e->control >> 4 & 7],
			froms[!!(e->control & SPMU_PUSHOUT_EVENT)],
			!(e->control & SPMU_EVTSEL_OS) ? "user mode"
				: e->control & SPMU_EVTSEL_USR ? "all rings" : "ring 0",
			sampled ? "; interrupts and stores the pushout on overflow" : "");
	return rc;
}

bool pushout_overflowed(struct spmu *p, unsigned n, bool *known, uint32_t *cycles, uint64_t *ip)
{
	uint64_t status = 0, stored = 0;
	if (spmu_rdmsr(p, MSR_PUSHOUT_STATUS, &status) || !(status >> n & 1))
		return false;
	spmu_wrmsr(p, MSR_PUSHOUT_STATUS, UINT64_C(1) << n);
	spmu_rdmsr(p, MSR_PUSHOUT(n, STORED_IP), ip);
	spmu_rdmsr(p, MSR_PUSHOUT(n, STORED), &stored);
	*known = stored >> 63;
	*cycles = (uint32_t)stored;
	return true;
}
