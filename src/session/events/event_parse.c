/* SPDX-License-Identifier: GPL-2.0-or-later
 * Parses a list of events as perf spells it (perf-list(1), perf-record(1) "-e") into what the registers need:
 *
 *   list  := (event | group) (',' (event | group))*        group := '{' event (',' event)* '}' (':' modifiers)?
 *   event := NAME (':' modifiers)? | 'r' HEX (':' modifiers)? | 'cpu/' term (',' term)* '/' modifiers?
 *          | 'pushout/' term (',' term)* '/' modifiers?    (session/events/pushout_events.h)
 *          | PMU '::' EVENT (':' UMASK | ':' attribute)*   (libpfm4's)
 * NetBurst's events have more words: session/events/netburst_spell.h.
 *
 * Over a stream of a whole machine (core_config.both_rings), an event without :u and :k counts both rings, as perf's
 * does; else all count user mode.
 *
 * Left out, each refused by name: there ring 0 (:k, :h), and guests (:G), counting with :p, leader sampling (:S),
 * metrics, tracepoints, breakpoints, PMUs other than the core's and the uncore's (uncore_parse.c).
 */
#include "session/events/event_names.h"
#include "session/events/netburst_spell.h"
#include "session/events/software_events.h"
#include "session/session.h"
#include <ctype.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

struct parser {
	const struct spmu_model *model;
	const struct core_config *core;	/* NULL: no libpfm4 spelling */
	const struct spmu_uncore_model *uncore;	/* NULL: the core has none, or uncore events are not wanted */
	bool counts_uncore;
	struct session_events *out;
	struct err *err;
	int group, groups;
	bool sampling;	/* :p, ldlat= */
	bool registers;	/* SESSION_FOR_REGISTERS: any ring, precise or not, modelled or not */
	bool rings;	/* both are counted (core_config.both_rings) */
	bool (*leave_out)(void *context, const char *event, size_t bytes, const struct err *why);
	void *context;
};

/* What the modifiers and terms of one event ask for. */
struct wish {
	bool user, kernel;
	unsigned precise;
	bool most_precise;	/* P */
	uint64_t extra;		/* value of ldlat=, frontend=, config1= */
	/* the MSR that `extra` is for; UINT32_MAX: the one that the event needs; 0: no such term */
	uint32_t extra_msr;
	bool offcore;		/* offcore_rsp=: either register */
	uint64_t set, mask;	/* PERFEVTSEL bits that modify the event, and the mask of those that were given */
	uint64_t period, frequency;
	struct thread_words threads;	/* NetBurst */
	const char *name;	/* of name=, not terminated */
	size_t name_bytes;
	struct netburst_wish netburst;
};

static char *copy(const char *text, size_t n)
{
	char *s = malloc(n + 1);
	if (s) {
		memcpy(s, text, n);
		s[n] = 0;
	}
	return s;
}

static int bad(struct parser *p, int code, const char *format, ...) __attribute__((format(printf, 3, 4)));
static int bad(struct parser *p, int code, const char *format, ...)
{
	char text[900];
	va_list ap;
	va_start(ap, format);
	vsnprintf(text, sizeof text, format, ap);
	va_end(ap);
	return err_set(p->err, code, "%s", text);
}

/* Whose events they are: the core's, or those of the PMU that it was given instead of its own. */
static const char *core_name(const struct parser *p)
{
	return !p->core ? "this core" : p->core->other_pmu ? p->core->pmu : p->core->name;
}

static int unknown(struct parser *p, const char *name)
{
	char near[400];
	if (software_of_kernel(name) && p->rings)
		return bad(p, ERR_NOT_MODELLED, "event '%s' is counted by the machine's kernel, which does not tell it",
			name);
	if (software_of_kernel(name))
		return bad(p, ERR_NOT_MODELLED,
			"event '%s' is counted by a kernel, and the model has none (user mode only)", name);
	names_nearest(p->model, name, near, sizeof near);
	if (near[0])
		return bad(p, ERR_INPUT, "unknown event '%s' on %s; nearest: %s", name, core_name(p), near);
	return bad(p, ERR_INPUT, "unknown event '%s' on %s; `softpmu list` shows them all", name, core_name(p));
}

/* ---- modifiers ------------------------------------------------------------------------------------------ */

static bool modifier_letters(const char *s, size_t n)
{
	return n && strspn(s, "ukhGHIpPSDWeb") >= n;
}

static int modifiers(struct parser *p, struct wish *w, const char *s, size_t n, const char *where)
{
	for (size_t i = 0; i < n; i++)
		switch (s[i]) {
		case 'u': w->user = true; break;
		case 'p': w->precise++; break;
		case 'k': case 'h':
			w->kernel = true;
			if (p->rings && s[i] == 'h')
				return bad(p, ERR_NOT_MODELLED, "'%s': the machine has no hypervisor (':h')", where);
			if (p->registers || p->rings)
				break;
			return bad(p, ERR_NOT_MODELLED,
				"'%s': the tracer sees user mode only, so ':%c' cannot be counted", where, s[i]);
		case 'G':
			return bad(p, ERR_NOT_MODELLED, "'%s': there is no guest to count in (':G')", where);
		case 'S':
			return bad(p, ERR_UNSUPPORTED, "'%s': sampling the leader only (':S') is not supported", where);
		case 'b':
			return bad(p, ERR_UNSUPPORTED, "'%s': there is no BPF in the model (':b')", where);
		case 'P': w->most_precise = true; break;
		/* These have no effect: nothing is multiplexed, nobody else uses the counters, nothing idles,
		 * and there is no guest. */
		case 'D': case 'W': case 'e': case 'I': case 'H': break;
		default:
			return bad(p, ERR_INPUT, "'%s': unknown modifier '%c'; known: u, p, P, D, W, I, H", where,
				s[i]);
		}
	if (w->precise > 3)
		return bad(p, ERR_INPUT, "'%s': at most three 'p'", where);
	if (w->precise && !p->registers && !p->sampling)
		return bad(p, ERR_UNSUPPORTED,
			"'%s': ':%.*s' asks for PEBS samples, which is not for counting; use it with softpmu record",
			where, (int)w->precise, "ppp");
	return 0;
}

static int number(struct parser *p, const char *s, size_t n, uint64_t max, uint64_t *out, const char *what)
{
	char text[32], *end;
	if (n && n < sizeof text) {
		memcpy(text, s, n);
		text[n] = 0;
		unsigned long long v = strtoull(text, &end, 0);
		if (isdigit((unsigned char)text[0]) && !*end && v <= max) {
			*out = v;
			return 0;
		}
	}
	return bad(p, ERR_INPUT, "%s '%.*s' is not a number from 0 to %#llx", what, (int)(n > 60 ? 60 : n), s,
		   (unsigned long long)max);
}

/* libpfm4's attributes c=N, i, e, t, each with an optional =0 or =1.  *known: it is one of them. */
static int attribute(struct parser *p, struct wish *w, const char *s, size_t n, bool *known)
{
	static const struct { char letter; uint64_t bit; } flag[] = {
		{ 'i', SPMU_EVTSEL_INV }, { 'e', SPMU_EVTSEL_EDGE }, { 't', SPMU_EVTSEL_ANY } };
	uint64_t v = 1;
	*known = true;
	if (n > 2 && s[0] == 'c' && s[1] == '=') {
		if (number(p, s + 2, n - 2, 255, &v, "c="))
			return ERR_INPUT;
		w->set |= SPMU_EVTSEL_CMASK(v);
		w->mask |= SPMU_EVTSEL_CMASK(0xff);
		return 0;
	}
	for (size_t i = 0; i < sizeof flag / sizeof *flag; i++)
		if (s[0] == flag[i].letter && (n == 1 || (n == 3 && s[1] == '=' && (s[2] == '0' || s[2] == '1')))) {
			w->set |= n == 3 && s[2] == '0' ? 0 : flag[i].bit;
			w->mask |= flag[i].bit;
			return 0;
		}
	if (n == 3 && (s[0] == 'u' || s[0] == 'k') && s[1] == '=' && (s[2] == '0' || s[2] == '1')) {
		if (p->rings) {
			w->kernel |= (s[0] == 'k') == (s[2] == '1');
			w->user |= (s[0] == 'u') == (s[2] == '1');
			return 0;
		}
		if (s[0] == 'k' && s[2] == '1')
			return modifiers(p, w, "k", 1, s);
		if (s[0] == 'u' && s[2] == '0')
			return bad(p, ERR_UNSUPPORTED,
				"':u=0': the tracer sees user mode only, so nothing would be counted");
		w->user |= s[0] == 'u';
		return 0;
	}
	*known = false;
	return spmu_model_family(p->model) == SPMU_FAMILY_NETBURST ? thread_word(&w->threads, s, n, known, p->err) : 0;
}

/* ---- adding an event ------------------------------------------------------------------------------------ */

static bool is_netburst(const struct parser *p)
{
	return spmu_model_family(p->model) == SPMU_FAMILY_NETBURST;
}

/* Appends *e with these texts.  They and e->made are freed if that fails; either text may be NULL: memory ran out. */
static int push(struct parser *p, struct session_event *e, char *spelled, char *name)
{
	struct session_events *out = p->out;
	struct session_event *grown = spelled && name ? realloc(out->event, (out->count + 1) * sizeof *grown) : NULL;
	if (!grown) {
		free(spelled);
		free(name);
		free(e->made);
		return bad(p, ERR_NOMEM, "out of memory");
	}
	e->spelled = spelled;
	e->name = name;
	out->event = grown;
	grown[out->count] = *e;
	out->count++;
	return 0;
}

/* The name to print.  perf appends the u that was not asked for, and so do we.  It joins modifiers that are
 * there, but not libpfm4's attributes: perf turns `cycles:c=4` into `cycles:c=4:u`.  Over a machine
 * there is no such u. */
static char *shown(const struct parser *p, const char *spelled, size_t n, const struct wish *w, bool libpfm)
{
	char *s = NULL;
	const char *base = w->name ? w->name : spelled;
	size_t len = w->name ? w->name_bytes : n;
	bool joined = !w->name && !libpfm && (memchr(spelled, '/', n) || memchr(spelled, ':', n));
	if (w->user || p->rings)
		return copy(base, len);
	if (asprintf(&s, "%.*s%su", (int)len, base, joined ? "" : ":") < 0)
		return NULL;
	return s;
}

/* The value for the event's second MSR. */
static int extra(struct parser *p, const struct spmu_event *row, const struct wish *w, const char *spelled, size_t n,
	uint64_t *value)
{
	const int length = (int)(n > 100 ? 100 : n);
	*value = row->extra;
	if (!w->extra_msr)
		return 0;
	const bool second = w->offcore && row->extra_msr == MSR_OFFCORE_RSP_1;
	if (!row->extra_msr || (w->extra_msr != UINT32_MAX && w->extra_msr != row->extra_msr && !second))
		return bad(p, ERR_UNSUPPORTED, "'%.*s': %s uses no such register; leave the term out", length, spelled,
			row->name);
	*value = w->extra;
	const char *why = p->registers ? NULL : spmu_event_extra(p->model, row, w->extra);
	return why ? bad(p, ERR_UNSUPPORTED, "'%.*s': %#llx: %s", length, spelled, (unsigned long long)w->extra, why)
		: 0;
}

/* Sets up *e for a row of the table.  base: PERFEVTSEL image before the bits of `w`. */
static int hardware(struct parser *p, struct session_event *e, const char *spelled, size_t n, uint64_t base,
	const struct wish *w)
{
	const struct spmu_event *row = e->event;
	uint64_t evtsel = (base & ~w->mask) | w->set | netburst_filter(&w->netburst);
	bool qualified = (evtsel ^ names_evtsel(row)) & (NAMES_EVENT_BITS & ~UINT64_C(0xffff));
	const bool same = strlen(row->name) == n && !strncasecmp(spelled, row->name, n);
	if (row->flags & SPMU_EVENT_NOT_MODELLED && !p->registers)
		return bad(p, ERR_NOT_MODELLED, "event '%.*s'%s%s%s exists on %s but is not modelled: %s",
			(int)(n > 100 ? 100 : n), spelled, same ? "" : " (", same ? "" : row->name, same ? "" : ")",
			core_name(p),
			row->not_modelled[0] ? row->not_modelled : "the table gives no reason");
	if (row->fixed >= 0 && !qualified)
		e->fixed = row->fixed;
	if ((row->flags & SPMU_EVENT_FIXED_ONLY) || !row->pmc_mask) {
		if (qualified || row->fixed < 0)
			return bad(p, ERR_UNSUPPORTED,
				"event '%s' is counted by a fixed counter only: cmask, inv, edge and any do not apply",
				row->name);
		evtsel = 0;
	}
	e->evtsel = evtsel & NAMES_EVENT_BITS;
	return extra(p, row, w, spelled, n, &e->extra);
}

/* Adds an event to the list.  row NULL: a software event of kind `source`.  base: PERFEVTSEL image before the
 * bits of `w`. */
static int add(struct parser *p, const char *spelled, size_t n, const struct spmu_event *row, uint64_t base, int source,
	       const struct wish *w, bool libpfm)
{
	const bool both = p->rings && !w->user && !w->kernel;
	if (p->rings && row && row->flags & SPMU_EVENT_NOT_MODELLED && software_instead(row->name, &source)) {
		row = NULL;
		base = 0;
	}
	struct session_event e = {
		.event = row, .fixed = -1, .group = p->group, .precise = (uint8_t)w->precise,
		.most_precise = w->most_precise, .exclude_kernel = !w->kernel && !both,
		.exclude_user = w->kernel && !w->user, .source = source, .period = w->period,
		.frequency = w->frequency,
		.threads = w->threads
	};
	if (!row && (w->threads.who || w->threads.active || w->threads.pmi))
		return bad(p, ERR_INPUT, "'%.*s' is a clock: hardware threads do not apply", (int)n, spelled);
	if (row) {
		int rc = netburst_compose(&w->netburst, p->model, row, &e.event, &e.made, p->err);
		rc = rc ? rc : hardware(p, &e, spelled, n, base, w);
		if (rc) {
			free(e.made);
			return rc;
		}
	} else if (w->mask | w->extra_msr || netburst_filter(&w->netburst)) {
		return bad(p, ERR_INPUT, "'%.*s' is a clock: cmask, inv, edge, any and other registers do not apply",
			(int)n, spelled);
	}
	return push(p, &e, copy(spelled, n), shown(p, spelled, n, w, libpfm));
}

/* rUUEE and longer; `digits` is without the r. */
static int raw(struct parser *p, const char *digits, uint64_t *code)
{
	char *end;
	*code = strtoull(digits, &end, 16);
	if (is_netburst(p))
		return 0;	/* netburst_config looks at the bits */
	uint64_t rest = *code & ~(NAMES_EVENT_BITS | NAMES_IGNORED_BITS);
	if (rest)
		return bad(p, ERR_UNSUPPORTED,
			"raw event 'r%s': bits %#llx select nothing in this PMU (event 7:0, umask 15:8, edge 18, "
			"any 21, inv 23, cmask 31:24)",
			digits, (unsigned long long)rest);
	*code &= NAMES_EVENT_BITS;
	return 0;
}

/* Of several rows with the same code, the one whose second MSR has the wanted value. */
static const struct spmu_event *by_extra(const struct parser *p, const struct spmu_event *row, const struct wish *w)
{
	for (size_t i = 0; row->extra_msr && w->extra_msr && i < spmu_model_events(p->model); i++) {
		const struct spmu_event *e = spmu_model_event(p->model, i);
		if (e->extra_msr && e->extra == w->extra && names_evtsel(e) == names_evtsel(row))
			return e;
	}
	return row;
}

/* perf's config for NetBurst */
static int add_config(struct parser *p, const char *spelled, size_t n, uint64_t config, const struct wish *w,
	bool libpfm)
{
	const struct spmu_event *row = NULL;
	struct wish all = *w;
	int rc = netburst_config(&all.netburst, p->model, config, &row, p->err);
	return rc ? rc : add(p, spelled, n, row, names_evtsel(row), SESSION_HARDWARE, &all, libpfm);
}

static int add_code(struct parser *p, const char *spelled, size_t n, uint64_t code, const struct wish *w, bool libpfm)
{
	bool exact;
	if (is_netburst(p))
		return add_config(p, spelled, n, code, w, libpfm);
	const struct spmu_event *row =
		names_find_code(p->model, ((code & ~w->mask) | w->set) & NAMES_EVENT_BITS, &exact);
	if (!row)
		return bad(p, ERR_NOT_MODELLED, "'%.*s': event %#04llx umask %#04llx is not in the event table of %s",
			(int)n, spelled, (unsigned long long)(code & 0xff), (unsigned long long)(code >> 8 & 0xff),
			core_name(p));
	struct wish all = *w;
	if (row->extra_msr && !w->extra_msr)	/* a code alone leaves the other register at 0 */
		all.extra_msr = row->extra_msr;
	return add(p, spelled, n, by_extra(p, row, &all), code, SESSION_HARDWARE, &all, libpfm);
}

/* ---- cpu/.../ ------------------------------------------------------------------------------------------- */

static int term(struct parser *p, struct wish *w, uint64_t *code, bool *coded, char name[128], const char *s, size_t n)
{
	static const struct { const char *key; unsigned shift; uint64_t max; } field[] = {
		{ "event", 0, 0xff }, { "umask", 8, 0xff }, { "edge", 18, 1 }, { "any", 21, 1 },
		{ "inv", 23, 1 }, { "cmask", 24, 0xff } };
	const char *eq = memchr(s, '=', n);
	size_t key = eq ? (size_t)(eq - s) : n, vn = eq ? n - key - 1 : 0;
	uint64_t v = 1;
	for (size_t i = 0; i < sizeof field / sizeof *field; i++) {
		const uint64_t max = is_netburst(p) && field[i].shift == 8 ? 0xffff : field[i].max;
		if (strlen(field[i].key) != key || memcmp(s, field[i].key, key))
			continue;
		if (eq ? number(p, eq + 1, vn, max, &v, field[i].key)
		       : field[i].max != 1 && number(p, "", 0, field[i].max, &v, field[i].key))
			return ERR_INPUT;
		if (is_netburst(p) && field[i].shift < 16) {
			*code |= v << (field[i].shift ? 41 : 57);
			*coded = true;
		} else if (field[i].shift < 16) {
			*code = (*code & ~(UINT64_C(0xff) << field[i].shift)) | v << field[i].shift;
			*coded = true;
		} else {
			w->mask |= field[i].max << field[i].shift;
			w->set = (w->set & ~(field[i].max << field[i].shift)) | v << field[i].shift;
		}
		return 0;
	}
	if (key == 6 && !memcmp(s, "config", 6) && eq) {
		char digits[24];
		if (number(p, eq + 1, vn, UINT64_MAX, &v, "config"))
			return ERR_INPUT;
		snprintf(digits, sizeof digits, "%llx", (unsigned long long)v);
		*coded = true;
		return raw(p, digits, code);
	}
	if (is_netburst(p)) {	/* the fields of perf's config, and NetBurst's own words */
		static const struct { const char *key; unsigned shift; uint64_t max; } part[] = {
			{ "cccr", 0, UINT32_MAX }, { "escr", 32, INT32_MAX }, { "ht", 63, 1 } };
		bool known;
		for (size_t i = 0; i < sizeof part / sizeof *part && eq; i++)
			if (strlen(part[i].key) == key && !memcmp(s, part[i].key, key)) {
				*coded |= i == 1;
				if (number(p, eq + 1, vn, part[i].max, &v, part[i].key))
					return ERR_INPUT;
				*code |= v << part[i].shift;
				return 0;
			}
		int rc = thread_word(&w->threads, s, n, &known, p->err);
		if (rc || known)
			return rc;
		rc = netburst_word(&w->netburst, p->model, NULL, s, n, &known, p->err);
		if (rc || known)
			return rc;
	}
	if (key == 4 && !memcmp(s, "name", 4) && vn) {
		w->name = eq + 1;
		w->name_bytes = vn;
		return 0;
	}
	if (key == 6 && !memcmp(s, "period", 6) && eq)
		return number(p, eq + 1, vn, UINT64_C(1) << 46, &w->period, "period");
	if (key == 4 && !memcmp(s, "freq", 4) && eq)
		return number(p, eq + 1, vn, 1000000000, &w->frequency, "freq");
	if (key == 2 && !memcmp(s, "pc", 2))
		return 0;	/* pin control: there is no pin */
	static const struct {
		const char *key;
		uint32_t msr;
		uint64_t max;
	} extras[] = { { "ldlat", MSR_PEBS_LD_LAT_THRESHOLD, 0xffff }, { "frontend", MSR_PEBS_FRONTEND, 0xffffff },
		{ "config1", UINT32_MAX, UINT64_MAX } };
	for (size_t i = 0; i < sizeof extras / sizeof *extras; i++)
		if (eq && strlen(extras[i].key) == key && !memcmp(s, extras[i].key, key)) {
			w->extra_msr = extras[i].msr;
			return number(p, eq + 1, vn, extras[i].max, &w->extra, extras[i].key);
		}
	if (eq && key == 11 && !memcmp(s, "offcore_rsp", 11)) {
		w->offcore = true;
		w->extra_msr = MSR_OFFCORE_RSP_0;	/* or _1, if the event needs that */
		return number(p, eq + 1, vn, UINT64_MAX, &w->extra, "offcore_rsp");
	}
	static const char *const refused[] = { "config2", "in_tx",
		"in_tx_cp", "call-graph", "stack-size", "max-stack", "branch_type", "aux-output", "aux-sample-size",
		"percore", "metric-id" };
	for (size_t i = 0; i < sizeof refused / sizeof *refused; i++)
		if (strlen(refused[i]) == key && !memcmp(s, refused[i], key))
			return bad(p, ERR_UNSUPPORTED, "'%.*s': %s", (int)key, s, memcmp(s, "in_tx", 5)
				? "the modelled PMU has no register for it"
				: "the model does not know which instructions are in a transaction");
	if (!eq && n && n < 128 && !name[0]) {
		memcpy(name, s, n);
		name[n] = 0;
		return 0;
	}
	return bad(p, ERR_INPUT,
		"unknown term '%.*s' in cpu/.../; known: event, umask, cmask, inv, edge, any, config, name, period, "
		"freq "
		"or an event's name",
		(int)(n > 100 ? 100 : n), s);
}

/* PMUs that Linux registers on PCs beside those of cores and uncores.  Source: Linux, perf_pmu_register's callers in
 * arch/x86/events and kernel/events. */
static bool kernel_pmu(const char *s, size_t n)
{
	static const char *const known[] = { "breakpoint", "cpu_atom", "cstate_core", "cstate_pkg", "intel_bts",
		"intel_pt", "kprobe", "msr", "power", "software", "tracepoint", "uprobe" };
	for (size_t i = 0; i < sizeof known / sizeof *known; i++)
		if (strlen(known[i]) == n && !memcmp(s, known[i], n))
			return true;
	return false;
}

static int braced(struct parser *p, const char *s, size_t n, struct wish w)
{
	const char *first = memchr(s, '/', n), *last = memchr(first + 1, '/', n - (size_t)(first + 1 - s));
	size_t pmu = (size_t)(first - s);
	char name[128] = "";
	uint64_t code = 0;
	bool coded = false;
	if (!last)
		return bad(p, ERR_INPUT, "'%.*s': the closing '/' is missing", (int)n, s);
	if (!(pmu == 3 && !memcmp(s, "cpu", 3)) && !(pmu == 8 && !memcmp(s, "cpu_core", 8)))
		return bad(p, kernel_pmu(s, pmu) ? ERR_NOT_MODELLED : ERR_UNSUPPORTED,
			"'%.*s': only the core's own PMU is modelled, cpu/.../", (int)n, s);
	for (const char *t = first + 1; t < last;) {
		const char *comma = memchr(t, ',', (size_t)(last - t)), *end = comma ? comma : last;
		if (end > t && term(p, &w, &code, &coded, name, t, (size_t)(end - t)))
			return p->err ? p->err->code : ERR_INPUT;
		t = end + 1;
	}
	const char *mods = last + 1;
	size_t left = n - (size_t)(mods - s);
	if (left && *mods == ':')
		mods++, left--;
	int rc = modifiers(p, &w, mods, left, s);
	if (rc)
		return rc;
	if (coded && name[0])
		return bad(p, ERR_INPUT, "'%.*s': give either an event's name or its code, not both", (int)n, s);
	if (coded)
		return add_code(p, s, n, code, &w, false);
	if (!name[0])
		return bad(p, ERR_INPUT, "'%.*s' names no event", (int)n, s);
	const struct spmu_event *row = is_netburst(p) ? netburst_named(&w.netburst, p->model, name)
						      : names_find(p->model, name);
	if (row)
		return add(p, s, n, row, names_evtsel(row), SESSION_HARDWARE, &w, false);
	if (name[0] == 'r' && name[1] && !name[1 + strspn(name + 1, "0123456789abcdefABCDEF")] && strlen(name) <= 17) {
		rc = raw(p, name + 1, &code);
		return rc ? rc : add_code(p, s, n, code, &w, false);
	}
	return unknown(p, name);
}

/* ---- names ---------------------------------------------------------------------------------------------- */

/* `pmu::EVENT...`: checks the PMU's name.  Returns the length of the prefix, or a negative error. */
static int prefix(struct parser *p, const char *text)
{
	const char *colons = strstr(text, "::");
	if (!colons)
		return 0;
	int n = (int)(colons - text);
	if (!p->core)
		return bad(p, ERR_UNSUPPORTED, "'%s': libpfm4's names need a core", text);
	if (strncasecmp(text, p->core->libpfm, (size_t)n) == 0 && p->core->libpfm[n] == 0)
		return n + 2;
	return bad(p, ERR_UNSUPPORTED, "'%s': %.*s is not the PMU of %s; that is %s::", text, n, text, core_name(p),
		p->core->libpfm);
}

/* The text before the colon begins one of Intel's names: it is a mistyped umask, and not a tracepoint. */
static bool begins_name(const struct parser *p, const char *text)
{
	size_t n = strcspn(text, ":");
	for (size_t i = 0; i < spmu_model_events(p->model); i++) {
		const char *name = spmu_model_event(p->model, i)->name;
		if (!strncasecmp(name, text, n) && name[n] == '.')
			return true;
	}
	return false;
}

/* A word of the text is u or u=..., and not a unit mask that begins with u. */
static bool asks_user(const char *text)
{
	for (const char *at = text; (at = strstr(at, ":u")); at += 2)
		if (!at[2] || at[2] == ':' || at[2] == '=')
			return true;
	return false;
}

/* Adds the event if libpfm4 can encode `text`; *known says so. */
static int by_libpfm(struct parser *p, const char *s, size_t n, const char *text, struct wish w, bool *known)
{
	uint64_t code = 0;
	bool two = false;
	struct err why = { 0 };
	*known = p->core && p->core->libpfm[0] && !names_libpfm(text, p->core, &code, &w.extra, &two, &why);
	if (!*known)
		return 0;
	w.extra_msr = two ? UINT32_MAX : 0;
	const uint64_t rest = code & ~(NAMES_EVENT_BITS | NAMES_IGNORED_BITS);
	if (rest && !is_netburst(p))
		return bad(p, ERR_UNSUPPORTED, "'%s': libpfm4 sets bits %#llx, which select nothing in this PMU", text,
			(unsigned long long)rest);
	const int rc = code & SPMU_EVTSEL_OS ? modifiers(p, &w, "k", 1, text) : 0;
	if (rc)
		return rc;
	w.user |= asks_user(text) && (code & SPMU_EVTSEL_USR);
	return add_code(p, s, n, code & NAMES_EVENT_BITS, &w, true);
}

/* `words`, in text, are unit masks of the event, and libpfm4 does not know all of them.  Names the first such. */
static int no_mask(struct parser *p, const char *text, const char *words, const struct spmu_event *row)
{
	size_t n = strcspn(words, ":");
	for (const char *w = words; *w; w += *w == ':') {
		const size_t wn = strcspn(w, ":");
		char alone[512];
		uint64_t code, value;
		bool two;
		struct err why = { 0 };
		snprintf(alone, sizeof alone, "%.*s%.*s", (int)(words - text), text, (int)wn, w);
		if (!modifier_letters(w, wn) && (!p->core || !p->core->libpfm[0] ||
				names_libpfm(alone, p->core, &code, &value, &two, &why))) {
			words = w;
			n = wn;
			break;
		}
		w += wn;
	}
	return bad(p, ERR_INPUT,
		"'%s': %s has no unit mask '%.*s' in the event table of %s, and no modifier is called so", text,
		row->name, (int)(n > 60 ? 60 : n), words, core_name(p));
}

static int named(struct parser *p, const char *s, size_t n, struct wish w)
{
	char text[256], head[256];
	if (n >= sizeof text)
		return bad(p, ERR_INPUT, "event name '%.40s...' is too long", s);
	memcpy(text, s, n);
	text[n] = 0;
	int skip = prefix(p, text), source = 0;
	if (skip < 0)
		return skip;
	bool libpfm = skip > 0;
	const char *name = text + skip;
	size_t len = strlen(name), cut;
	const struct spmu_event *row = NULL;
	bool soft = false, is_raw = false;

	/* find the longest head that is an event; what follows its colon modifies it */
	for (cut = len;;) {
		memcpy(head, name, cut);
		head[cut] = 0;
		row = names_find(p->model, head);
		soft = !row && !libpfm && software_find(head, p->rings, &source);
		is_raw = !row && !soft && !libpfm && head[0] == 'r' && cut >= 2 && cut <= 17 &&
			 strspn(head + 1, "0123456789abcdefABCDEF") == cut - 1;
		if (row || soft || is_raw)
			break;
		while (cut > 0 && name[--cut] != ':')
			;
		if (cut == 0)
			break;
	}
	if (cut == 0) {
		/* not in our tables; libpfm4 may know another spelling of it */
		bool known;
		int rc = by_libpfm(p, s, n, text, w, &known);
		if (rc || known)
			return rc;
		memcpy(head, name, len + 1);
		char *colon = strchr(head, ':');
		char *last = strrchr(head, ':');
		if (colon && last && modifier_letters(last + 1, strlen(last + 1)))
			*last = 0;
		if (!libpfm && strchr(head, ':') && islower((unsigned char)head[0]) && !strchr(head, '.') &&
			!begins_name(p, head))
			return bad(p, ERR_NOT_MODELLED,
				"'%s' looks like a tracepoint or breakpoint: those are a kernel's, and there is none "
				"in the model",
				text);
		if (!strchr(text, '/') && strspn(head, "0123456789") == strlen(head))
			return bad(p, ERR_INPUT, "'%s' is no event; a raw code is written r%s", text, head);
		return unknown(p, head);
	}
	/* the tail: perf's modifiers in one word, or libpfm4's attributes, each behind a colon */
	const char *tail = name + cut;
	const struct wish w0 = w;
	bool single = *tail && !strchr(tail + 1, ':'), attributes = false;
	while (*tail) {
		const char *word = tail + 1, *end = strchrnul(word, ':');
		size_t wn = (size_t)(end - word);
		bool known = false, encoded = false;
		int rc = 0;
		if (is_netburst(p) && row && wn)
			rc = netburst_word(&w.netburst, p->model, row, word, wn, &known, p->err);
		if (single && wn == 1 && *word == 'e' && !libpfm)
			return bad(p, ERR_INPUT,
				"'%s': ':e' is \"exclusive\" to perf and \"edge\" to libpfm4; write cpu/%.*s,edge/ for "
				"the edge",
				text, (int)cut, name);
		if (!rc && !known && wn && (!modifier_letters(word, wn) || (wn == 1 && *word == 'e')))
			rc = attribute(p, &w, word, wn, &known);
		attributes |= known;
		/* a unit mask that the tables do not name: libpfm4 has such for bits of MSR_OFFCORE_RSP_x */
		if (!rc && !known && row && !is_netburst(p) && wn && !modifier_letters(word, wn))
			rc = by_libpfm(p, s, n, text, w0, &encoded);
		if (encoded)
			return rc;
		if (!rc && !known && row && wn > 1 && isupper((unsigned char)*word) && !modifier_letters(word, wn))
			rc = no_mask(p, text, word, row);
		else if (!rc && !known)
			rc = wn ? modifiers(p, &w, word, wn, text)
				: bad(p, ERR_INPUT, "'%s': a modifier was expected after the colon", text);
		if (rc)
			return rc;
		tail = end;
	}
	if (soft)
		return add(p, s, n, NULL, 0, source, &w, false);
	if (is_raw) {
		uint64_t code;
		head[cut] = 0;
		int rc = raw(p, head + 1, &code);
		return rc ? rc : add_code(p, s, n, code, &w, attributes);
	}
	return add(p, s, n, row, names_evtsel(row), SESSION_HARDWARE, &w,
		libpfm || attributes || memchr(name, ':', cut));
}

/* ---- the list ------------------------------------------------------------------------------------------- */

/* End of the event that starts at s: the first comma or brace outside slashes. */
static const char *event_end(const char *s)
{
	int slashes = 0;
	for (; *s; s++) {
		if (*s == '/')
			slashes++;
		else if (slashes != 1 && (*s == ',' || *s == '{' || *s == '}'))
			break;
	}
	return s;
}

/* Adds an uncore event, which counts for the machine and not for a core. */
static int add_uncore(struct parser *p, const char *s, size_t n, const struct wish *w)
{
	struct session_event e = { .fixed = -1, .group = p->group, .source = SESSION_UNCORE, .exclude_kernel = true };
	const char *name;
	size_t bytes = 0;
	if (!p->counts_uncore)
		return bad(p, ERR_UNSUPPORTED,
			"'%.*s': uncore events count for the whole machine; count them with softpmu stat",
			(int)(n > 100 ? 100 : n), s);
	if (w->user || w->kernel || w->precise)
		return bad(p, ERR_UNSUPPORTED,
			"'%.*s': uncore events count for the whole machine and take no modifier",
			(int)(n > 100 ? 100 : n), s);
	int rc = uncore_parse(&e.uncore, p->uncore, p->core, s, n, &name, &bytes, p->err);
	if (rc)
		return rc;
	return push(p, &e, copy(s, n), name ? copy(name, bytes) : copy(s, n));
}

static int add_pushout(struct parser *p, const char *s, size_t n, const struct wish *outer)
{
	struct session_event e = { .fixed = -1, .group = p->group, .source = SESSION_PUSHOUT, .exclude_kernel = true };
	struct pushout_terms terms;
	struct wish w = *outer;
	int rc = pushout_parse(&e.pushout, &terms, p->core, s, n, p->err);
	if (!rc)
		rc = modifiers(p, &w, terms.modifiers, terms.modifier_bytes, s);
	if (rc)
		return rc;
	const bool both = p->rings && !w.user && !w.kernel;
	e.exclude_kernel = !w.kernel && !both;
	e.exclude_user = w.kernel && !w.user;
	e.pushout.control |= (e.exclude_kernel ? 0 : SPMU_EVTSEL_OS) | (e.exclude_user ? 0 : SPMU_EVTSEL_USR);
	e.period = terms.period;
	e.frequency = terms.frequency;
	w.name = terms.name;
	w.name_bytes = terms.name_bytes;
	return push(p, &e, copy(s, n), shown(p, s, n, &w, false));
}

/* The event of `n` bytes at s, without spaces around it. */
static int event(struct parser *p, const char *s, size_t n, const struct wish *w)
{
	if (uncore_meant(p->uncore, s, n))
		return add_uncore(p, s, n, w);
	if (pushout_meant(s, n))
		return add_pushout(p, s, n, w);
	if (memchr(s, '/', n)) {
		char *text = copy(s, n);
		int rc = text ? braced(p, text, n, *w) : bad(p, ERR_NOMEM, "out of memory");
		free(text);
		return rc;
	}
	return named(p, s, n, *w);
}

static int one(struct parser *p, const char *s, size_t n, const struct wish *w)
{
	while (n && isspace((unsigned char)*s))
		s++, n--;
	while (n && isspace((unsigned char)s[n - 1]))
		n--;
	if (!n)
		return bad(p, ERR_INPUT, "empty event name in the list");
	const int rc = event(p, s, n, w);
	return rc && rc != ERR_NOMEM && p->leave_out && p->leave_out(p->context, s, n, p->err) ? 0 : rc;
}

static int group(struct parser *p, const char **at)
{
	const char *s = *at + 1, *close = s;
	struct wish w = { 0 };
	while (*close != '}') {
		const char *end = event_end(close);
		if (!*end)
			return bad(p, ERR_INPUT, "'%s': the closing '}' is missing", *at);
		if (*end == '{')
			return bad(p, ERR_INPUT, "'%s': a group cannot contain a group", *at);
		close = end + (*end == ',');
	}
	const char *after = close + 1;
	if (*after == ':') {
		const char *end = event_end(++after);
		int rc = modifiers(p, &w, after, (size_t)(end - after), *at);
		if (rc)
			return rc;
		after = end;
	}
	if (s == close)
		return bad(p, ERR_INPUT, "'{}': an empty group; name its events");
	p->group = p->groups++;
	while (s < close || s[-1] == ',') {
		const char *end = event_end(s);
		int rc = one(p, s, (size_t)(end - s), &w);
		if (rc)
			return rc;
		if (end == close)
			break;
		s = end + 1;
	}
	p->group = -1;
	*at = after;
	return 0;
}

int session_parse(struct session_events *out, const struct session_parse_options *o, const char *list, struct err *err)
{
	struct err own = { 0 };
	struct parser p = { .model = o->model,
		.core = o->core,
		.uncore = o->uncore,
		.out = out, .err = err ? err : &own, .group = -1,
		.counts_uncore = o->purpose == SESSION_FOR_COUNTING_UNCORE,
		.sampling = o->purpose == SESSION_FOR_SAMPLING,
		.registers = o->purpose == SESSION_FOR_REGISTERS,
		.rings = o->core && o->core->both_rings && !o->all_user,
		.leave_out = o->leave_out, .context = o->context };
	size_t before = out->count;
	for (size_t i = 0; i < before; i++)
		if (out->event[i].group >= p.groups)
			p.groups = out->event[i].group + 1;
	const char *s = list;
	int rc = 0;
	for (;;) {
		const struct wish none = { 0 };
		while (isspace((unsigned char)*s))
			s++;
		if (*s == '{') {
			rc = group(&p, &s);
		} else {
			const char *end = event_end(s);
			rc = one(&p, s, (size_t)(end - s), &none);
			s = end;
		}
		while (!rc && isspace((unsigned char)*s))
			s++;
		if (rc || !*s)
			break;
		if (*s != ',') {
			rc = bad(&p, ERR_INPUT, "'%s': a comma was expected at '%s'", list, s);
			break;
		}
		s++;
	}
	if (rc) {	/* a list that does not parse adds nothing */
		while (out->count > before) {
			out->count--;
			free(out->event[out->count].spelled);
			free(out->event[out->count].name);
			free(out->event[out->count].made);
		}
		if (!out->count) {
			free(out->event);
			out->event = NULL;
		}
	}
	return rc;
}

void session_events_free(struct session_events *e)
{
	for (size_t i = 0; i < e->count; i++) {
		free(e->event[i].spelled);
		free(e->event[i].name);
		free(e->event[i].made);
	}
	free(e->event);
	e->event = NULL;
	e->count = 0;
}
