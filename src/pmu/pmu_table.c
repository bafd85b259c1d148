/* SPDX-License-Identifier: BSD-2-Clause
 * Reads event tables (data/events/NAME.tsv) into struct spmu_model, and looks events up in it.
 *
 * A line is empty, a comment ('#'), a shape line ('@') or an event: ten columns separated by one TAB, "-" for
 * nothing.
 *
 *   @family NAME                  p5, p6, netburst or arch; the first line of all, arch if it is absent
 *   @cpuid_0a EAX EBX ECX EDX     arch: leaf 0AH in hex: version (1 to 5), counters, widths, fixed counters,
 *                                 AnyThread
 *   @perf_capabilities HEX        arch: IA32_PERF_CAPABILITIES: LBR_FMT 5:0 (0 to 5, 3FH), PEBS_TRAP 6,
 *                                 PEBS_ARCH_REGS 7, PEBS_REC_FMT 11:8 (0 to 5), FW_WRITE 13, PEBS_BASELINE 14
 *                                 (formats 4 and 5), PERF_METRICS_AVAILABLE 15, PEBS_OUTPUT_PT 16; LBR, PEBS and
 *                                 their MSRs follow from it (ds.h)
 *   @features LIST                optional; arch: in_tx (TSX bits of PERFEVTSEL), split (two threads share the
 *                                 counters); p5: rdpmc (MMX parts)
 *   @offcore NAME                 arch, optional: the layout of MSR_OFFCORE_RSP_x (families/offcore.c)
 *   @metric NAME EXPR             arch, optional: the slots and cycles from which MSR_PERF_METRICS is computed
 *                                 (arch_metrics.c lists the names)
 *   @model N                      netburst: CPUID model, 0 to 6, which decides on ESCRs, LBRs and cascades
 *   @threads N                    netburst: hardware threads, 1 or 2
 *   @core NAME                    optional: the core preset nearest to the machines that have this PMU
 *   @libpfm NAME                  optional: libpfm4's name of the PMU
 *   @slots N                      issue slots a cycle
 *   @tsc NUM/DEN                  time-stamp counter ticks a core cycle
 *
 *   name  event  umask  mods  counters  flags  alias  count  help  not_modelled
 *     event, umask  hex
 *     mods          c=N (CMASK), i, e, t, msr=HEX/HEX (another MSR that it needs, and its value), joined by commas;
 *                   NetBurst: escr=HEX[/HEX] (MSRs), sel=N, ti, replay=HEX/HEX (MSR_PEBS_ENABLE,
 *                   MSR_PEBS_MATRIX_VERT), up=NAME (the event that tags uops for this one)
 *     counters      0-3,5
 *     flags         precise, spec, deprecated, fixed=N, fixed-only; P5: duration
 *     alias         perf's generic names, comma-separated
 *     count         an expression (pmu_expr.c); "-" where not_modelled says why the model cannot produce the event;
 *                   "metrics" for a field of MSR_PERF_METRICS: event 0, umask 80 + the field's number (as Linux
 *                   numbers them: arch/x86/include/asm/perf_event.h, INTEL_TD_METRIC_RETIRING and the next), fixed=3,
 *                   fixed-only
 *
 * Rows with the same event and umask describe the same signal wire, so they must have the same `count` (or
 * none); the counter applies CMASK, INV and EDGE to it.
 */
#include "pmu_internal.h"
#include "pmu_text.h"
#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { TABLE_BYTES_MAX = 4 << 20, ROWS_MAX = 4096 };
enum {
	SEEN_CPUID = 1, SEEN_CAPABILITIES = 2, SEEN_SLOTS = 4, SEEN_TSC = 8, SEEN_FAMILY = 16,
	SEEN_FEATURES = 32, SEEN_CORE = 256, SEEN_LIBPFM = 512, SEEN_MODEL = 64, SEEN_THREADS = 128,
	SEEN_OFFCORE = 1024,
	SEEN_ARCH = 15, SEEN_OLDER = 12
};

/* @metric NAME EXPR */
static int metric_line(struct spmu_model *m, char *s, char *text, size_t bytes)
{
	char why[160];
	s += strspn(s, " \t");
	size_t n = strcspn(s, " \t");
	char *expr = s + n + strspn(s + n, " \t");
	if (s[n])
		s[n] = 0;
	enum pmu_metric which = pmu_metric_find(s);
	if (m->family != &pmu_arch || which == PMU_METRICS || m->metric[which].terms)
		return pmu_text_problem(text, bytes, SPMU_EINPUT,
			"@metric '%.40s' is unknown for this family, or appears twice", s);
	int error = pmu_expr_parse(m, &m->metric[which], expr, why, sizeof why);
	return error ? pmu_text_problem(text, bytes, error, "@metric %s: %s", s, why) : SPMU_OK;
}

/* @cpuid_0a EAX EBX ECX EDX */
static int cpuid_line(struct spmu_model *m, char *const v[4], char *text, size_t bytes)
{
	uint64_t x[4];
	for (unsigned i = 0; i < 4; i++) {
		if (!pmu_text_number(v[i], 16, UINT32_MAX, &x[i]))
			return pmu_text_problem(text, bytes, SPMU_EINPUT, "bad value '%s' in @cpuid_0a", v[i]);
		m->cpuid[i] = (uint32_t)x[i];
	}
	m->version = x[0] & 0xff;
	m->gp = x[0] >> 8 & 0xff;
	m->fixed = x[3] & 0x1f;
	m->any_thread = m->version >= 3 && !(m->version >= 5 && x[3] >> 15 & 1);
	if (!m->version || m->version > 5)
		return pmu_text_problem(text, bytes, SPMU_EINPUT,
			"@cpuid_0a: version %u is not modelled; versions 1 to 5 are", m->version);
	if (m->version < 2)
		m->fixed = 0;
	if (!m->gp || m->gp > PMU_MAX_GP || !m->fixed != (m->version < 2) || m->fixed > PMU_MAX_FIXED)
		return pmu_text_problem(text, bytes, SPMU_EINPUT,
			"@cpuid_0a needs 1 to %d general-purpose and (from version 2 on) 1 to %d fixed counters",
			PMU_MAX_GP, PMU_MAX_FIXED);
	if (m->version == 5 && x[2] & ~((UINT64_C(1) << m->fixed) - 1))
		return pmu_text_problem(text, bytes, SPMU_EINPUT,
			"@cpuid_0a: ECX names fixed counters beyond EDX[4:0]");
	return SPMU_OK;
}

static int shape(struct spmu_model *m, char *line, unsigned *seen, char *text, size_t bytes)
{
	if (!strncmp(line, "@metric", 7) && (line[7] == ' ' || line[7] == '\t'))
		return metric_line(m, line + 7, text, bytes);
	char *save = NULL, *key = strtok_r(line, " \t", &save), *v[5] = { 0 };
	unsigned n = 0, bit;
	uint64_t x[4] = { 0 };
	while (n < 5 && (v[n] = strtok_r(NULL, " \t", &save)))
		n++;
	if (!strcmp(key, "@family") && n == 1) {
		static const struct pmu_family *const all[] = { &pmu_arch, &pmu_p5, &pmu_p6, &pmu_netburst };
		bit = SEEN_FAMILY;
		if (*seen & ~bit)
			return pmu_text_problem(text, bytes, SPMU_EINPUT, "@family must be the first line");
		for (unsigned i = 0; i < sizeof all / sizeof *all; i++)
			if (!strcmp(v[0], all[i]->name))
				m->family = all[i];
		if (!(*seen & bit) && m->family == &pmu_arch && strcmp(v[0], "arch"))
			return pmu_text_problem(text, bytes, SPMU_EINPUT,
				"unknown @family '%.40s'; it must be arch, p5, p6 or netburst", v[0]);
	} else if (!strcmp(key, "@cpuid_0a") && n == 4 && m->family == &pmu_arch) {
		bit = SEEN_CPUID;
		int error = cpuid_line(m, v, text, bytes);
		if (error)
			return error;
	} else if (!strcmp(key, "@perf_capabilities") && n == 1 && m->family == &pmu_arch) {
		bit = SEEN_CAPABILITIES;
		if (!pmu_text_number(v[0], 16, UINT64_MAX, &m->capabilities) || !pmu_ds_capable(m->capabilities))
			return pmu_text_problem(text, bytes, SPMU_EINPUT,
				"@perf_capabilities '%s' is not modelled; modelled are LBR_FMT 0 to 5 and 3F, "
				"PEBS_TRAP, PEBS_ARCH_REGS, PEBS_REC_FMT 0 to 5, FW_WRITE, PEBS_BASELINE (with "
				"PEBS_REC_FMT 4 and 5), PERF_METRICS, PEBS_OUTPUT_PT", v[0]);
	} else if (!strcmp(key, "@features") && n && n < 5) {
		bit = SEEN_FEATURES;
		for (unsigned i = 0; i < n; i++) {
			static const struct {
				const char *name;
				unsigned bit;
				const struct pmu_family *family;
			} known[] = {
				{ "in_tx", PMU_FEATURE_IN_TX, &pmu_arch },
				{ "split", PMU_FEATURE_SPLIT, &pmu_arch },
				{ "rdpmc", PMU_FEATURE_RDPMC, &pmu_p5 },
			};
			unsigned one = 0;
			for (unsigned k = 0; k < sizeof known / sizeof *known; k++)
				if (!strcmp(v[i], known[k].name) && known[k].family == m->family)
					one = known[k].bit;
			if (!one || m->features & one)
				return pmu_text_problem(text, bytes, SPMU_EINPUT,
					"@features '%.40s' is unknown for this family, or appears twice", v[i]);
			m->features |= one;
		}
	} else if ((!strcmp(key, "@model") || !strcmp(key, "@threads")) && n == 1 && m->family == &pmu_netburst) {
		bool threads = key[1] == 't';
		bit = threads ? SEEN_THREADS : SEEN_MODEL;
		if (!pmu_text_number(v[0], 10, threads ? 2 : 6, &x[0]) || (threads && !x[0]))
			return pmu_text_problem(text, bytes, SPMU_EINPUT,
				threads ? "@threads '%.40s' must be 1 or 2" : "@model '%.40s' must be 0 to 6", v[0]);
		*(threads ? &m->threads : &m->model) = (unsigned)x[0];
	} else if (!strcmp(key, "@offcore") && n == 1 && m->family == &pmu_arch) {
		bit = SEEN_OFFCORE;
		if (!(m->offcore = pmu_offcore_find(v[0])))
			return pmu_text_problem(text, bytes, SPMU_EINPUT, "@offcore '%.40s' is no layout", v[0]);
	} else if (!strcmp(key, "@core") && n == 1) {
		bit = SEEN_CORE;
		m->core = v[0];
	} else if (!strcmp(key, "@libpfm") && n == 1) {
		bit = SEEN_LIBPFM;
		m->libpfm = v[0];
	} else if (!strcmp(key, "@slots") && n == 1) {
		bit = SEEN_SLOTS;
		if (!pmu_text_number(v[0], 10, 64, &x[0]) || !x[0])
			return pmu_text_problem(text, bytes, SPMU_EINPUT, "@slots '%s' must be 1 to 64", v[0]);
		m->slots = (unsigned)x[0];
	} else if (!strcmp(key, "@tsc") && n == 1) {
		bit = SEEN_TSC;
		char *den = strchr(v[0], '/');
		if (den)
			*den++ = 0;
		if (!den || !pmu_text_number(v[0], 10, 100000, &x[0]) || !pmu_text_number(den, 10, 100000, &x[1]) ||
			!x[0] || !x[1])
			return pmu_text_problem(text, bytes, SPMU_EINPUT,
				"@tsc must be NUM/DEN, each from 1 to 100000");
		m->tsc_num = (unsigned)x[0];
		m->tsc_den = (unsigned)x[1];
	} else {
		return pmu_text_problem(text, bytes, SPMU_EINPUT,
			"unknown shape line '%.40s', or the wrong number of values", key);
	}
	if (*seen & bit)
		return pmu_text_problem(text, bytes, SPMU_EINPUT, "%.40s appears twice", key);
	*seen |= bit;
	return SPMU_OK;
}

static bool row_mods(struct spmu_event *e, char *s, bool netburst)
{
	char *save = NULL;
	for (char *t = strtok_r(s, ",", &save); t; t = strtok_r(NULL, ",", &save)) {
		uint64_t v;
		if (netburst) {
			char *second = strchr(t, '/');
			if (second)
				*second++ = 0;
			if (!strcmp(t, "ti"))
				e->thread_independent = true;
			else if (!strcmp(t, "e"))
				e->edge = 1;
			else if (!strncmp(t, "sel=", 4) && pmu_text_number(t + 4, 10, 7, &v))
				e->escr_select = (uint8_t)v;
			else if (!strncmp(t, "escr=", 5) && pmu_text_number(t + 5, 16, 0xffff, &v)) {
				e->escr[0] = (uint16_t)v;
				if (second && !pmu_text_number(second, 16, 0xffff, &v))
					return false;
				e->escr[1] = second ? (uint16_t)v : 0;
			} else if (!strncmp(t, "replay=", 7) && second && pmu_text_number(t + 7, 16, UINT32_MAX, &v)) {
				e->replay_enable = (uint32_t)v;
				if (!pmu_text_number(second, 16, UINT32_MAX, &v))
					return false;
				e->replay_matrix = (uint32_t)v;
			} else if (!strncmp(t, "up=", 3) && t[3] && !second) {
				e->upstream = t + 3;
			} else {
				return false;
			}
			continue;
		}
		if (!strcmp(t, "i"))
			e->inv = 1;
		else if (!strcmp(t, "e"))
			e->edge = 1;
		else if (!strcmp(t, "t"))
			e->any = 1;
		else if (!strncmp(t, "c=", 2) && pmu_text_number(t + 2, 10, 255, &v) && v)
			e->cmask = (uint8_t)v;
		else if (!strncmp(t, "msr=", 4) && strchr(t, '/')) {
			char *value = strchr(t, '/');
			*value++ = 0;
			if (!pmu_text_number(t + 4, 16, UINT32_MAX, &v) ||
				!pmu_text_number(value, 16, UINT64_MAX, &e->extra))
				return false;
			e->extra_msr = (uint32_t)v;
		}
		else
			return false;
	}
	return true;
}

static bool row_counters(const struct spmu_model *m, struct spmu_event *e, char *s)
{
	char *save = NULL;
	uint64_t last_pmc = m->gp - 1;
	for (char *t = strtok_r(s, ",", &save); t; t = strtok_r(NULL, ",", &save)) {
		uint64_t first, last;
		char *dash = strchr(t, '-');
		if (dash)
			*dash++ = 0;
		if (!pmu_text_number(t, 10, last_pmc, &first) ||
			!pmu_text_number(dash ? dash : t, 10, last_pmc, &last) || first > last)
			return false;
		for (; first <= last; first++)
			e->pmc_mask |= 1u << first;
	}
	return e->pmc_mask;
}

static bool row_flags(const struct spmu_model *m, struct spmu_event *e, char *s)
{
	char *save = NULL;
	for (char *t = strtok_r(s, ",", &save); t; t = strtok_r(NULL, ",", &save)) {
		uint64_t v;
		if (!strcmp(t, "precise"))
			e->flags |= SPMU_EVENT_PRECISE;
		else if (!strcmp(t, "spec"))
			e->flags |= SPMU_EVENT_SPECULATIVE;
		else if (!strcmp(t, "deprecated"))
			e->flags |= SPMU_EVENT_DEPRECATED;
		else if (!strcmp(t, "duration") && m->family == &pmu_p5)
			e->flags |= SPMU_EVENT_DURATION;
		else if (!strcmp(t, "fixed-only"))
			e->flags |= SPMU_EVENT_FIXED_ONLY;
		else if (!strncmp(t, "fixed=", 6) && pmu_text_number(t + 6, 10, m->fixed - 1, &v)) {
			e->flags |= SPMU_EVENT_FIXED;
			e->fixed = (int8_t)v;
		} else
			return false;
	}
	return !(e->flags & SPMU_EVENT_FIXED_ONLY) || e->flags & SPMU_EVENT_FIXED;
}

/* A row that needs MSR_OFFCORE_RSP_x has a value that counts. */
static int offcore_row(const struct spmu_model *m, const struct spmu_event *e, char *text, size_t bytes)
{
	bool nothing;
	const unsigned which = e->extra_msr - MSR_OFFCORE_RSP_0;
	if (which >= PMU_OFFCORE_REGISTERS)
		return SPMU_OK;
	const char *why = which >= pmu_offcore_registers(m->offcore) ? "this PMU lacks the register (@offcore)"
		: pmu_offcore_problem(m->offcore, e->extra, &nothing);
	return why ? pmu_text_problem(text, bytes, SPMU_EINPUT, "%s: %s", e->name, why) : SPMU_OK;
}

static int event_line(struct spmu_model *m, struct pmu_row *row, char *line, char *text, size_t bytes)
{
	enum { NAME, EVENT, UMASK, MODS, COUNTERS, FLAGS, ALIAS, COUNT, HELP, WHY, COLUMNS };
	static char nothing[] = "";
	char *col[COLUMNS];
	uint64_t v;
	struct spmu_event *e = &row->public;
	for (unsigned i = 0; i < COLUMNS; i++) {
		col[i] = line;
		char *tab = line ? strchr(line, '\t') : NULL;
		if (!line || (i + 1 < COLUMNS && !tab) || (i + 1 == COLUMNS && tab))
			return pmu_text_problem(text, bytes, SPMU_EINPUT,
				"an event line must have %d columns", COLUMNS);
		if (tab)
			*tab++ = 0;
		line = tab;
		if (!strcmp(col[i], "-"))
			col[i] = nothing;
	}
	for (const char *c = col[NAME]; *c; c++)
		if (!isalnum((unsigned char)*c) && !strchr("._:", *c))
			return pmu_text_problem(text, bytes, SPMU_EINPUT, "bad character in name '%s'", col[NAME]);
	if (!*col[NAME] || spmu_model_find(m, col[NAME]))
		return pmu_text_problem(text, bytes, SPMU_EINPUT,
			*col[NAME] ? "event %s appears twice" : "an event has no name%s", col[NAME]);
	e->name = col[NAME];
	e->fixed = -1;
	e->upstream = nothing;
	bool netburst = m->family == &pmu_netburst;
	if (!pmu_text_number(col[EVENT], 16, netburst || m->family == &pmu_p5 ? 63 : 255, &v))
		return pmu_text_problem(text, bytes, SPMU_EINPUT, "%s: bad event select '%s'", e->name, col[EVENT]);
	e->event = (uint8_t)v;
	if (!pmu_text_number(col[UMASK], 16, netburst ? 0xffff : 255, &v))
		return pmu_text_problem(text, bytes, SPMU_EINPUT, "%s: bad umask '%s'", e->name, col[UMASK]);
	e->umask = (uint16_t)v;
	if (!row_mods(e, col[MODS], netburst))
		return pmu_text_problem(text, bytes, SPMU_EINPUT, "%s: bad mods; they are %s", e->name,
			netburst ? "escr=, sel=, ti, e, replay=, up=" : "c=N, i, e, t, msr=HEX/HEX");
	if (e->any && !m->any_thread)
		return pmu_text_problem(text, bytes, SPMU_EINPUT,
			"%s: mod 't' needs AnyThread, which this PMU does not have", e->name);
	if (!row_flags(m, e, col[FLAGS]))
		return pmu_text_problem(text, bytes, SPMU_EINPUT, "%s: bad flags", e->name);
	if (*col[COUNTERS] && !row_counters(m, e, col[COUNTERS]))
		return pmu_text_problem(text, bytes, SPMU_EINPUT, "%s: bad counters", e->name);
	if (!e->pmc_mask != !!(e->flags & SPMU_EVENT_FIXED_ONLY))
		return pmu_text_problem(text, bytes, SPMU_EINPUT,
			"%s: counters must be empty with the flag fixed-only, and only with it", e->name);
	e->perf_alias = col[ALIAS];
	e->help = col[HELP];
	e->not_modelled = col[WHY];
	if (!*e->help)
		return pmu_text_problem(text, bytes, SPMU_EINPUT, "%s: the column help is empty", e->name);
	if (!*col[COUNT] == !*e->not_modelled)
		return pmu_text_problem(text, bytes, SPMU_EINPUT, "%s: give either `count` or `not_modelled`", e->name);
	if (*e->not_modelled) {
		e->flags |= SPMU_EVENT_NOT_MODELLED;
		return SPMU_OK;
	}
	if (!strcmp(col[COUNT], "metrics")) {
		e->flags |= SPMU_EVENT_METRIC;
		return SPMU_OK;	/* the shape lines that it needs may follow: finish */
	}
	char why[160];
	int error = pmu_expr_parse(m, &row->expr, col[COUNT], why, sizeof why);
	if (error)
		return pmu_text_problem(text, bytes, error, "%s: %s", e->name, why);
	error = offcore_row(m, e, text, bytes);
	if (error)
		return error;
	for (unsigned i = 0; i < row->expr.terms; i++) {
		const struct pmu_term *t = &row->expr.term[i];
		row->weighted |= t->conds && t->num != 1;
		e->needs_tags |= !t->conds && m->source[t->source].tagged;
		if (m->family == &pmu_arch && !t->conds && m->source[t->source].tagged & TAG_LBR)
			e->flags |= SPMU_EVENT_LBR;
		for (unsigned c = 0; c < t->conds; c++)
			for (unsigned a = 0; a < t->cond[c].sources; a++)
				e->needs_tags |= m->source[t->cond[c].source[a]].tagged != 0;
	}
	if (row->weighted && !e->cmask)
		return pmu_text_problem(text, bytes, SPMU_EINPUT, "%s: cycles() with a weight needs a CMASK", e->name);
	for (size_t i = 0; i < m->rows; i++) {
		const struct pmu_row *o = &m->row[i];
		if (m->family == &pmu_p5 && !(o->public.pmc_mask & e->pmc_mask))
			continue;	/* the MMX parts' counters differ in what a select means */
		if (o->expr.terms && o->public.event == e->event && o->public.umask == e->umask &&
			o->public.escr[0] == e->escr[0] && memcmp(&o->expr, &row->expr, sizeof row->expr))
			return pmu_text_problem(text, bytes, SPMU_EINPUT,
				"%s: its `count` differs from that of %s, which has the same event and umask", e->name,
				o->public.name);
	}
	return SPMU_OK;
}

static bool shape_known(const struct spmu_model *m, unsigned seen)
{
	unsigned all = m->family == &pmu_arch ? SEEN_ARCH
		: m->family == &pmu_netburst ? SEEN_OLDER | SEEN_MODEL | SEEN_THREADS
		: SEEN_OLDER;
	return (seen & all) == all;
}

/* The table can say what the metric's field holds. */
static bool metric_known(const struct spmu_model *m, const struct spmu_event *e)
{
	static const uint8_t needs[] = { METRIC_RETIRING, METRIC_BAD_SPEC, METRIC_FE_BOUND, METRIC_SLOTS,
		METRIC_HEAVY_OPS, METRIC_BR_MISPREDICT, METRIC_FETCH_LAT, METRIC_MEMORY_STALLS };
	return m->family == &pmu_arch && m->capabilities >> 15 & 1 && !e->event && e->umask >= 0x80 &&
		e->umask < 0x80 + sizeof needs && e->fixed == 3 && e->flags & SPMU_EVENT_FIXED_ONLY &&
		m->metric[needs[e->umask - 0x80]].terms;
}

static int finish(struct spmu_model *m, unsigned seen, char *text, size_t bytes)
{
	if (!shape_known(m, seen))
		return pmu_text_problem(text, bytes, SPMU_EINPUT,
			"shape lines are missing; the table needs %s@slots, @tsc",
			m->family == &pmu_arch               ? "@cpuid_0a, @perf_capabilities, "
				: m->family == &pmu_netburst ? "@model, @threads, "
				: "");
	for (size_t i = 0; i < m->rows; i++) {
		const struct pmu_row *r = &m->row[i];
		if (r->public.flags & SPMU_EVENT_METRIC && !metric_known(m, &r->public))
			return pmu_text_problem(text, bytes, SPMU_EINPUT,
				"%s: `metrics` wants PERF_METRICS_AVAILABLE, event 0, umask 80 to 87, fixed=3, "
				"fixed-only and the field's @metric", r->public.name);
		if (r->public.flags & SPMU_EVENT_FIXED && r->expr.terms) {
			const struct pmu_row **f = &m->fixed_row[r->public.fixed];
			if (*f && memcmp(&(*f)->expr, &r->expr, sizeof r->expr))
				return pmu_text_problem(text, bytes, SPMU_EINPUT,
					"%s and %s have one fixed counter but different counts", r->public.name,
					(*f)->public.name);
			*f = r;
		}
	}
	bool cycles = false;
	for (size_t i = 0; i < m->sources; i++)
		cycles |= m->source[i].is_signal && m->source[i].signal == SPMU_SIG_CYCLES &&
			m->source[i].form == FORM_VALUE;
	if (!cycles)
		return pmu_text_problem(text, bytes, SPMU_EINPUT, "no event counts sig(CYCLES); one must");
	for (unsigned i = 0; i < m->fixed; i++)
		if (!m->fixed_row[i])
			return pmu_text_problem(text, bytes, SPMU_EINPUT, "no event counts on fixed counter %u", i);
	return SPMU_OK;
}

static int parse(struct spmu_model *m, const char *path, char *text, size_t bytes)
{
	unsigned line_number = 0, seen = 0;
	char why[256];
	m->family = &pmu_arch;
	for (char *line = m->text, *next; line && *line; line = next) {
		int error = SPMU_OK;
		line_number++;
		next = strchr(line, '\n');
		if (next)
			*next++ = 0;
		if (*line == 0 || *line == '#')
			continue;
		if (*line == '@')
			error = m->rows
				? pmu_text_problem(why, sizeof why, SPMU_EINPUT, "shape lines must come before events")
				: shape(m, line, &seen, why, sizeof why);
		else if (!shape_known(m, seen))
			error = finish(m, seen, why, sizeof why);
		else if (!m->counters && (error = m->family->shape(m, why, sizeof why)))
			;
		else if (m->rows == ROWS_MAX)
			error = pmu_text_problem(why, sizeof why, SPMU_EINPUT, "more than %d events", ROWS_MAX);
		else {
			error = event_line(m, &m->row[m->rows], line, why, sizeof why);
			m->rows += !error;
		}
		if (error)
			return pmu_text_problem(text, bytes, error, "%s:%u: %s", path, line_number, why);
	}
	int error = finish(m, seen, why, sizeof why);
	return error ? pmu_text_problem(text, bytes, error, "%s: %s", path, why) : SPMU_OK;
}

static int read_file(struct spmu_model *m, const char *path, char *text, size_t bytes)
{
	FILE *f = fopen(path, "r");
	if (!f)
		return pmu_text_problem(text, bytes, SPMU_EINPUT, "%s: %s", path, strerror(errno));
	size_t room = 1 << 16, n = 0, got;
	int error = SPMU_OK;
	m->text = malloc(room + 1);
	while (m->text && (got = fread(m->text + n, 1, room - n, f)) > 0) {
		n += got;
		if (n < room)
			continue;
		char *larger = room < TABLE_BYTES_MAX ? realloc(m->text, 2 * room + 1) : NULL;
		if (!larger) {
			error = pmu_text_problem(text, bytes, SPMU_EINPUT,
				"%s is too large for an event table, or memory is short", path);
			break;
		}
		m->text = larger;
		room *= 2;
	}
	if (!m->text)
		error = pmu_text_problem(text, bytes, SPMU_ENOMEM, "out of memory");
	else if (ferror(f) && !error)
		error = pmu_text_problem(text, bytes, SPMU_EINPUT, "%s: cannot be read", path);
	fclose(f);
	if (error)
		return error;
	m->text[n] = 0;
	if (strlen(m->text) != n)
		return pmu_text_problem(text, bytes, SPMU_EINPUT, "%s holds a NUL byte: it is not text", path);
	return SPMU_OK;
}

int spmu_model_load(struct spmu_model **out, const char *path, char *text, size_t text_bytes)
{
	struct spmu_model *m = calloc(1, sizeof *m);
	int error = m ? read_file(m, path, text, text_bytes)
		: pmu_text_problem(text, text_bytes, SPMU_ENOMEM, "out of memory");
	if (!error) {
		size_t lines = 1;
		for (const char *s = m->text; *s; s++)
			lines += *s == '\n';
		m->row = calloc(lines < ROWS_MAX ? lines : ROWS_MAX, sizeof *m->row);
		m->source = calloc(PMU_MAX_SOURCES, sizeof *m->source);
		error = m->row && m->source ? parse(m, path, text, text_bytes)
			: pmu_text_problem(text, text_bytes, SPMU_ENOMEM, "out of memory");
	}
	if (error) {
		spmu_model_free(m);
		return error;
	}
	m->identity = pmu_model_identity(m);
	*out = m;
	return SPMU_OK;
}

void spmu_model_free(struct spmu_model *m)
{
	if (!m)
		return;
	free(m->text);
	free(m->row);
	free(m->source);
	free(m);
}

enum spmu_pmu_family spmu_model_family(const struct spmu_model *m) { return m->family->public; }
const char *spmu_model_core(const struct spmu_model *m) { return m->core; }
const char *spmu_model_libpfm(const struct spmu_model *m) { return m->libpfm; }
uint64_t spmu_model_capabilities(const struct spmu_model *m) { return m->capabilities; }

unsigned spmu_model_counter_bits(const struct spmu_model *m, bool fixed)
{
	return m->family != &pmu_arch ? 40 : fixed ? m->cpuid[3] >> 5 & 0xff : m->cpuid[0] >> 16 & 0xff;
}

size_t spmu_model_events(const struct spmu_model *m) { return m->rows; }
unsigned spmu_model_version(const struct spmu_model *m) { return m->version; }
unsigned spmu_model_gp_counters(const struct spmu_model *m) { return m->gp; }
unsigned spmu_model_gp_counters_of(const struct spmu_model *m, unsigned siblings)
{
	return m->features & PMU_FEATURE_SPLIT && siblings > 1 ? m->gp / 2 : m->gp;
}
unsigned spmu_model_fixed_counters(const struct spmu_model *m) { return m->fixed; }
unsigned spmu_model_slots(const struct spmu_model *m) { return m->slots; }

const struct spmu_event *spmu_model_event(const struct spmu_model *m, size_t index)
{
	return index < m->rows ? &m->row[index].public : NULL;
}

static bool same(const char *a, const char *b, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		int x = a[i] == ':' ? '.' : tolower((unsigned char)a[i]),
		    y = b[i] == ':' ? '.' : tolower((unsigned char)b[i]);
		if (x != y || !x)
			return false;
	}
	return true;
}

const struct spmu_event *spmu_model_find(const struct spmu_model *m, const char *name)
{
	size_t n = strlen(name);
	for (size_t i = 0; n && i < m->rows; i++)
		if (strlen(m->row[i].public.name) == n && same(m->row[i].public.name, name, n))
			return &m->row[i].public;
	for (size_t i = 0; n && i < m->rows; i++)
		for (const char *a = m->row[i].public.perf_alias; *a;) {
			size_t length = strcspn(a, ",");
			if (length == n && same(a, name, n))
				return &m->row[i].public;
			a += length + (a[length] == ',');
		}
	return NULL;
}

/* The row that fits a PERFEVTSEL image best; NULL: none.  fixed: a row that only a fixed counter counts is as good as
 * others; else it is the last choice. */
static const struct pmu_row *find_code(const struct spmu_model *m, uint64_t perfevtsel, bool fixed)
{
	const struct pmu_row *best = NULL;
	unsigned best_rank = 0;
	unsigned cmask = perfevtsel >> 24 & 0xff, inv = !!(perfevtsel & SPMU_EVTSEL_INV),
		 edge = !!(perfevtsel & SPMU_EVTSEL_EDGE);
	/* (an ESCR's event select says nothing without the ESCR) */
	for (size_t i = 0; i < m->rows && m->family != &pmu_netburst; i++) {
		const struct pmu_row *r = &m->row[i];
		const struct spmu_event *e = &r->public;
		unsigned rank;
		if ((unsigned)(e->event | e->umask << 8) != (perfevtsel & 0xffff))
			continue;
		const bool fits = e->cmask == cmask && e->inv == inv && e->edge == edge;
		if (e->flags & SPMU_EVENT_FIXED_ONLY && !(fixed && fits))	/* fixed counters have no modifiers */
			rank = fits;
		else if (fits)
			rank = e->any == !!(perfevtsel & SPMU_EVTSEL_ANY) ? 6 : 5;
		else if (r->weighted)	/* its value means something at its own CMASK only */
			rank = e->cmask == cmask ? 4 : 0;
		else
			rank = !e->cmask && !e->inv && !e->edge ? 3 : 2;
		/* of rows alike (the extra MSR tells them apart) one that is modelled */
		rank = 2 * rank + (rank && r->expr.terms);
		if (rank > best_rank) {
			best = r;
			best_rank = rank;
		}
	}
	return best;
}

const struct pmu_row *pmu_find_code(const struct spmu_model *m, uint64_t perfevtsel)
{
	return find_code(m, perfevtsel, false);
}

const struct spmu_event *spmu_model_find_code(const struct spmu_model *m, uint64_t perfevtsel)
{
	const struct pmu_row *r = find_code(m, perfevtsel, true);
	return r ? &r->public : NULL;
}

/* The rows' events are wired to the same ESCRs by the same event select. */
static bool same_wire(const struct spmu_event *a, const struct spmu_event *b)
{
	return a->escr[0] && a->event == b->event && a->escr[0] == b->escr[0] && a->escr[1] == b->escr[1];
}

const struct spmu_event *spmu_netburst_part(const struct spmu_model *m, const struct spmu_event *event, uint32_t mask)
{
	const struct spmu_event *best = NULL;
	int most = 0;
	for (size_t i = 0; i < m->rows; i++) {
		const struct pmu_row *r = &m->row[i];
		const struct spmu_event *e = &r->public;
		int bits = __builtin_popcount(e->umask);
		if (!same_wire(e, event) || !(e->umask & mask))
			continue;
		if (!r->expr.terms) {
			best = best ? best : e;
		} else if (!(e->umask & ~mask) && bits > most) {
			best = e;
			most = bits;
		}
	}
	return best;
}

/* What the event counts may come from this row: the row is the event, or part of the sum of one that is no row. */
static bool has_part(const struct spmu_model *m, const struct spmu_event *event, const struct pmu_row *r)
{
	const struct pmu_row *row = (const struct pmu_row *)event;	/* `public` is its first member */
	if (row >= m->row && row < m->row + m->rows)
		return row == r;
	return same_wire(event, &r->public) && r->public.umask && !(r->public.umask & ~event->umask);
}

/* The expressions by which the event may count, from 0 to m->rows + PMU_METRICS; NULL: none at this index. */
static const struct pmu_expr *counted_by(const struct spmu_model *m, const struct spmu_event *event, size_t i)
{
	if (i >= m->rows)
		return event->flags & SPMU_EVENT_METRIC ? &m->metric[i - m->rows] : NULL;
	return has_part(m, event, &m->row[i]) ? &m->row[i].expr : NULL;
}

static void expr_signals(const struct spmu_model *m, const struct pmu_expr *x, uint64_t set[2])
{
	for (unsigned t = 0; t < x->terms; t++) {
		const struct pmu_term *term = &x->term[t];
		const struct pmu_source *s = &m->source[term->source];
		if (!term->conds && s->is_signal)
			set[s->signal >> 6] |= UINT64_C(1) << (s->signal & 63);
		for (unsigned c = 0; c < term->conds; c++)
			for (unsigned a = 0; a < term->cond[c].sources; a++) {
				s = &m->source[term->cond[c].source[a]];
				if (s->is_signal)
					set[s->signal >> 6] |= UINT64_C(1) << (s->signal & 63);
			}
	}
}

void spmu_event_signals(const struct spmu_model *m, const struct spmu_event *event, uint64_t set[2])
{
	set[0] = set[1] = 0;
	for (size_t i = 0; i < m->rows + PMU_METRICS; i++) {
		const struct pmu_expr *x = counted_by(m, event, i);
		if (x)
			expr_signals(m, x, set);
	}
	if (event->extra_msr == MSR_PEBS_FRONTEND)	/* what its tags are made of */
		set[SPMU_SIG_IDQ_BUBBLE >> 6] |= UINT64_C(1) << (SPMU_SIG_IDQ_BUBBLE & 63);
	set[SPMU_SIG_CYCLES >> 6] |= UINT64_C(1) << (SPMU_SIG_CYCLES & 63);
}

const char *spmu_event_extra(const struct spmu_model *m, const struct spmu_event *event, uint64_t value)
{
	if (event->extra_msr == MSR_PEBS_FRONTEND && event->event != 0xc6)	/* not FRONTEND_RETIRED */
		return value == event->extra ? NULL
			: "this event takes only one value of frontend=, which softpmu list --details shows";
	if (event->extra_msr == MSR_PEBS_FRONTEND && !pmu_frontend_known(m->capabilities >> 8 & 15, value))
		return "the model has no such front-end event (bits 7:0)";
	if (event->extra_msr - MSR_OFFCORE_RSP_0 < pmu_offcore_registers(m->offcore))
		return pmu_offcore_problem(m->offcore, value, &(bool){ false });
	if (event->extra_msr == MSR_IA32_PEBS_ENABLE && value != event->extra)
		return "this event takes only one value there";
	return NULL;
}

int spmu_event_outcomes(const struct spmu_model *m, const struct spmu_event *event)
{
	for (size_t i = 0; i < m->rows + PMU_METRICS; i++) {
		const struct pmu_expr *x = counted_by(m, event, i);
		for (unsigned t = 0; x && t < x->terms; t++) {
			const struct pmu_term *term = &x->term[t];
			if (!term->conds && pmu_source_outcomes(&m->source[term->source]))
				return 1;
			for (unsigned c = 0; c < term->conds; c++)
				for (unsigned a = 0; a < term->cond[c].sources; a++)
					if (pmu_source_outcomes(&m->source[term->cond[c].source[a]]))
						return 1;
		}
	}
	return 0;
}

uint64_t spmu_event_decoded(const struct spmu_model *m, const struct spmu_event *event)
{
	uint64_t bits = 0;
	for (size_t i = 0; i < m->rows + PMU_METRICS; i++) {
		const struct pmu_expr *x = counted_by(m, event, i);
		for (unsigned t = 0; x && t < x->terms; t++) {
			const struct pmu_source *s = &m->source[x->term[t].source];
			if (x->term[t].conds || x->term[t].den != 1 || s->is_signal || s->stage != STAGE_RETIRE ||
				s->until != STAGE_NONE || s->did_want != SPMU_DID(RETIRED) ||
				s->did_mask != SPMU_DID(RETIRED) || s->any_did || s->ports ||
				s->tagged | s->untagged)
				return 0;
			bits |= s->is_mask | s->any_is;
		}
	}
	return event->extra_msr || event->flags & SPMU_EVENT_METRIC ? 0 : bits;
}

uint64_t spmu_event_uop(const struct spmu_model *m, const struct spmu_event *event, uint64_t is)
{
	uint64_t n = 0;
	for (size_t i = 0; i < m->rows; i++) {
		const struct pmu_expr *x = counted_by(m, event, i);
		for (unsigned t = 0; x && t < x->terms; t++) {
			const struct pmu_source *s = &m->source[x->term[t].source];
			if ((is & s->is_mask) == s->is_want && (!s->any_is || is & s->any_is))
				n += x->term[t].num;
		}
	}
	return n;
}

void spmu_event_uops(const struct spmu_model *m, const struct spmu_event *event, int plain, uint64_t *is, uint64_t *did)
{
	for (size_t i = 0; i < m->rows + PMU_METRICS; i++) {
		const struct pmu_expr *x = counted_by(m, event, i);
		if (!x || (plain && pmu_is_instructions(m, x)))
			continue;
		for (unsigned t = 0; t < x->terms; t++) {
			const struct pmu_term *term = &x->term[t];
			if (!term->conds && !m->source[term->source].is_signal)
				pmu_source_uops(&m->source[term->source], is, did);
			for (unsigned c = 0; c < term->conds; c++)
				for (unsigned a = 0; a < term->cond[c].sources; a++)
					if (!m->source[term->cond[c].source[a]].is_signal)
						pmu_source_uops(&m->source[term->cond[c].source[a]], is, did);
		}
	}
}
