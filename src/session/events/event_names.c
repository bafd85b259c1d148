/* SPDX-License-Identifier: GPL-2.0-or-later
 * Event names and codes (event_names.h).  Leaves out: metrics, uncore and software events other than the clocks that
 * event_parse.c knows.
 */
#include "session/events/event_names.h"
#include "session/events/netburst_spell.h"
#include "util/near.h"
#include <ctype.h>
#include <perfmon/pfmlib.h>
#include <stdlib.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

uint64_t names_evtsel(const struct spmu_event *e)
{
	if (e->escr[0])		/* NetBurst: the mask has 16 bits and is not part of this image (driver.h) */
		return e->event | (e->edge ? SPMU_EVTSEL_EDGE : 0);
	return (uint64_t)e->event | (uint64_t)e->umask << 8 | (e->edge ? SPMU_EVTSEL_EDGE : 0) |
	       (e->any ? SPMU_EVTSEL_ANY : 0) | (e->inv ? SPMU_EVTSEL_INV : 0) | SPMU_EVTSEL_CMASK(e->cmask);
}

void names_code(const struct spmu_model *m, const struct spmu_event *e, char *text, size_t text_bytes)
{
	if (spmu_model_family(m) == SPMU_FAMILY_NETBURST) {
		netburst_code(m, e, text, text_bytes);
		return;
	}
	const struct { const char *name; uint64_t value; } more[] = { { "cmask", e->cmask }, { "inv", e->inv },
		{ "edge", e->edge }, { "any", e->any } };
	int n = snprintf(text, text_bytes, "cpu/event=%#04x,umask=%#04x", e->event, e->umask);
	for (size_t i = 0; i < sizeof more / sizeof *more; i++)
		if (more[i].value && n > 0 && (size_t)n < text_bytes)
			n += snprintf(text + n, text_bytes - (size_t)n, ",%s=%llu", more[i].name,
				(unsigned long long)more[i].value);
	if (e->extra_msr && n > 0 && (size_t)n < text_bytes)
		n += snprintf(text + n, text_bytes - (size_t)n, ",%s=%#llx",
			e->extra_msr == MSR_PEBS_LD_LAT_THRESHOLD ? "ldlat"
				: e->extra_msr == MSR_PEBS_FRONTEND ? "frontend"
				: e->extra_msr == MSR_OFFCORE_RSP_0 || e->extra_msr == MSR_OFFCORE_RSP_1 ? "offcore_rsp"
				: "config1",
			(unsigned long long)e->extra);
	if (n > 0 && (size_t)n < text_bytes)
		snprintf(text + n, text_bytes - (size_t)n, "/");
}

/* ---- perf's generic names ------------------------------------------------------------------------------- */

static bool in_list(const char *list, const char *name)
{
	size_t n = strlen(name);
	while (n && list && *list) {
		const char *comma = strchr(list, ',');
		size_t len = comma ? (size_t)(comma - list) : strlen(list);
		if (len == n && strncasecmp(list, name, n) == 0)
			return true;
		list = comma ? comma + 1 : NULL;
	}
	return false;
}

static const struct spmu_event *find_alias(const struct spmu_model *m, const char *name)
{
	for (size_t i = 0; i < spmu_model_events(m); i++)
		if (in_list(spmu_model_event(m, i)->perf_alias, name))
			return spmu_model_event(m, i);
	return NULL;
}

/* Source: perf-list(1) and the hardware cache event names of perf_event_open(2): type, then operation and
 * result in either order; a type alone means its loads. */
static bool cache_name(const char *name, char *canonical, size_t bytes)
{
	static const char *const type[][5] = {
		{ "L1-dcache", "l1-d", "l1d", "l1-data" }, { "L1-icache", "l1-i", "l1i", "l1-instruction" }, { "LLC" },
		{ "dTLB", "d-tlb", "data-tlb" }, { "iTLB", "i-tlb", "instruction-tlb" },
		{ "branch", "branches", "bpu", "btb", "bpc" }, { "node" },
	};
	static const struct { const char *word; int op, miss; } word[] = {
		{ "loads", 0, -1 },
		{ "load", 0, -1 },
		{ "read", 0, -1 },
		{ "stores", 1, -1 },
		{ "store", 1, -1 },
		{ "write", 1, -1 },
		{ "prefetches", 2, -1 },
		{ "prefetch", 2, -1 },
		{ "speculative-read", 2, -1 },
		{ "speculative-load", 2, -1 },
		{ "refs", -1, 0 },
		{ "reference", -1, 0 },
		{ "ops", -1, 0 },
		{ "access", -1, 0 },
		{ "misses", -1, 1 },
		{ "miss", -1, 1 },
	};
	static const char *const form[3][2] = { { "loads", "load-misses" }, { "stores", "store-misses" },
		{ "prefetches", "prefetch-misses" } };
	const char *head = NULL;
	size_t used = 0;
	for (size_t t = 0; t < sizeof type / sizeof *type; t++)
		for (size_t k = 0; k < 5 && type[t][k]; k++) {
			size_t n = strlen(type[t][k]);
			if (n > used && strncasecmp(name, type[t][k], n) == 0 && (name[n] == '-' || !name[n])) {
				used = n;
				head = type[t][0];
			}
		}
	if (!head)
		return false;
	int op = -1, miss = -1;
	for (name += used; *name;) {
		size_t w, n = 0;
		name++;		/* the dash */
		for (w = 0; w < sizeof word / sizeof *word; w++) {
			n = strlen(word[w].word);
			if (strncasecmp(name, word[w].word, n) == 0 && (name[n] == '-' || !name[n]))
				break;
		}
		if (w == sizeof word / sizeof *word || (word[w].op >= 0 && op >= 0) || (word[w].miss >= 0 && miss >= 0))
			return false;
		if (word[w].op >= 0)
			op = word[w].op;
		else
			miss = word[w].miss;
		name += n;
	}
	snprintf(canonical, bytes, "%s-%s", head, form[op < 0 ? 0 : op][miss == 1]);
	return true;
}

static int joined(int c)
{
	return c == ':' || c == '_' ? '.' : tolower(c);
}

/* The event whose name differs only in what joins its words: Intel's lists have CYCLES_0_UOPS_DELIV.CORE, libpfm4
 * CYCLES_0_UOPS_DELIV_CORE.  NULL: none. */
static const struct spmu_event *find_joined(const struct spmu_model *m, const char *name)
{
	for (size_t i = 0; *name && i < spmu_model_events(m); i++) {
		const char *a = spmu_model_event(m, i)->name, *b = name;
		while (*a && joined((unsigned char)*a) == joined((unsigned char)*b))
			a++, b++;
		if (!*a && !*b)
			return spmu_model_event(m, i);
	}
	return NULL;
}

const struct spmu_event *names_find(const struct spmu_model *m, const char *name)
{
	static const char *const twin[][2] = {
		/* perf-list(1): "A OR B" */
		{ "cycles", "cpu-cycles" },
		{ "branches", "branch-instructions" },
		{ "stalled-cycles-frontend", "idle-cycles-frontend" },
		{ "stalled-cycles-backend", "idle-cycles-backend" },
	};
	char canonical[64];
	const struct spmu_event *e = spmu_model_find(m, name);
	if (!e)
		e = find_alias(m, name);
	for (size_t i = 0; !e && i < sizeof twin / sizeof *twin; i++) {
		if (strcasecmp(name, twin[i][0]) == 0)
			e = find_alias(m, twin[i][1]);
		else if (strcasecmp(name, twin[i][1]) == 0)
			e = find_alias(m, twin[i][0]);
	}
	if (!e && cache_name(name, canonical, sizeof canonical))
		e = find_alias(m, canonical);
	return e ? e : find_joined(m, name);
}

const struct spmu_event *names_find_code(const struct spmu_model *m, uint64_t evtsel, bool *exact)
{
	const struct spmu_event *e = spmu_model_find_code(m, evtsel);
	if (!e)
		e = spmu_model_find_code(m, evtsel & 0xffff);
	*exact = e && names_evtsel(e) == (evtsel & NAMES_EVENT_BITS);
	return e;
}

/* ---- libpfm4 -------------------------------------------------------------------------------------------- */

int names_libpfm(const char *text, const struct core_config *core, uint64_t *code, uint64_t *extra, bool *has_extra,
	struct err *err)
{
	/* libpfm4 encodes for PMUs other than the host's only if this variable is set when pfm_initialize runs.
	 * Unset it afterwards, or the traced program would inherit it. */
	static const char variable[] = "LIBPFM_ENCODE_INACTIVE";
	if (!strcmp(core->libpfm, "none"))
		return err_set(err, ERR_UNSUPPORTED, "libpfm4 on '%s': the PMU of %s is not modelled yet", text,
			core->name);
	const char *had = getenv(variable);
	char *saved = had ? strdup(had) : NULL, spelled[512];
	if (had && !saved)
		return err_set(err, ERR_NOMEM, "out of memory");
	setenv(variable, "1", 1);
	int rc = pfm_initialize();
	if (saved)
		setenv(variable, saved, 1);
	else
		unsetenv(variable);
	free(saved);
	if (rc != PFM_SUCCESS)
		return err_set(err, ERR_INPUT, "libpfm4 does not start: %s", pfm_strerror(rc));

	if (strstr(text, "::"))
		snprintf(spelled, sizeof spelled, "%s", text);
	else
		snprintf(spelled, sizeof spelled, "%s::%s", core->libpfm, text);
	pfm_pmu_encode_arg_t arg = { .size = sizeof arg };
	rc = pfm_get_os_event_encoding(spelled, PFM_PLM3, PFM_OS_NONE, &arg);
	if (rc != PFM_SUCCESS)
		rc = err_set(err, ERR_INPUT, "libpfm4 on '%s': %s", text, pfm_strerror(rc));
	else if (arg.count < 1 || arg.count > 2)
		rc = err_set(err, ERR_UNSUPPORTED, "'%s' needs %d registers: only events of one or two are supported",
			text, arg.count);
	else {
		*code = arg.codes[0];
		*has_extra = arg.count == 2;
		*extra = *has_extra ? arg.codes[1] : 0;
	}
	free(arg.codes);
	return rc;
}

/* ---- nearest names -------------------------------------------------------------------------------------- */

void names_nearest(const struct spmu_model *m, const char *name, char *text, size_t text_bytes)
{
	static const char *const software[] = { "task-clock", "cpu-clock", "duration_time" };
	struct near near;
	near_start(&near, name);
	for (size_t i = 0; i < spmu_model_events(m); i++) {
		const struct spmu_event *e = spmu_model_event(m, i);
		for (const char *a = e->perf_alias; a && *a;) {
			const char *comma = strchr(a, ',');
			near_offer(&near, a, comma ? (size_t)(comma - a) : strlen(a));
			a = comma ? comma + 1 : NULL;
		}
		near_offer(&near, e->name, strlen(e->name));
	}
	for (size_t i = 0; i < sizeof software / sizeof *software; i++)
		near_offer(&near, software[i], strlen(software[i]));
	near_text(&near, "", text, text_bytes);
}
