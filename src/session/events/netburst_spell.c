/* SPDX-License-Identifier: GPL-2.0-or-later
 * NetBurst's spellings (netburst_spell.h).
 *
 * Sources.  Modifiers: libpfm4, lib/pfmlib_intel_netburst.c (u, k, cmpl, e, thr; thr=0 compares nothing; masks TAG0
 * to TAG3 are bits of TAG VALUE).  perf's config: Linux, arch/x86/include/asm/perf_event_p4.h: the ESCR in bits 63:32
 * with Linux's number of the event in place of EVENT SELECT, the CCCR in bits 31:0 with the number of a replay metric
 * in bits 5:0.  There the kernel itself sets privilege levels, threads, ENABLE, ESCR SELECT and OVF_PMI, and so do
 * we; these bits are ignored.  up= is ours.
 */
#include "session/events/netburst_spell.h"
#include "session/events/event_names.h"
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* Linux's enum P4_EVENTS, in order. */
static const char *const numbered[] = { "TC_deliver_mode", "BPU_fetch_request", "ITLB_reference", "memory_cancel",
	"memory_complete", "load_port_replay", "store_port_replay", "MOB_load_replay", "page_walk_type",
	"BSQ_cache_reference", "IOQ_allocation", "IOQ_active_entries", "FSB_data_activity", "BSQ_allocation",
	"BSQ_active_entries", "SSE_input_assist", "packed_SP_uop", "packed_DP_uop", "scalar_SP_uop", "scalar_DP_uop",
	"64bit_MMX_uop", "128bit_MMX_uop", "x87_FP_uop", "TC_misc", "global_power_events", "tc_ms_xfer",
	"uop_queue_writes", "retired_mispred_branch_type", "retired_branch_type", "resource_stall", "WC_Buffer",
	"b2b_cycles", "bnr", "snoop", "response", "front_end_event", "execution_event", "replay_event",
	"instr_retired", "uops_retired", "uop_type", "branch_retired", "mispred_branch_retired", "x87_assist",
	"machine_clear", "instr_completed" };
enum { NUMBERED = sizeof numbered / sizeof *numbered };

/* Linux's enum P4_PEBS_METRIC, from 1 on. */
static const char *const metrics[] = { "replay_event.L1_LD_MISS", "replay_event.L2_LD_MISS",
	"replay_event.DTLB_LD_MISS", "replay_event.DTLB_ST_MISS", "replay_event.DTLB_ALL_MISS", "replay_event.BR_MSP",
	"replay_event.MOB_LD_REPLAY", "replay_event.SP_LD_RET", "replay_event.SP_ST_RET" };
enum { METRICS = sizeof metrics / sizeof *metrics };

static bool same_wire(const struct spmu_event *a, const struct spmu_event *b)
{
	return a->event == b->event && a->escr[0] == b->escr[0] && a->escr[1] == b->escr[1];
}

static bool same_word(const char *name, const char *word, size_t n)
{
	return strlen(name) == n && !strncasecmp(name, word, n);
}

/* The mask's part of a row's name, behind the dot; "" for the manual's metrics (packed_DP_retired). */
static const char *mask_name(const struct spmu_event *row)
{
	const char *dot = strchr(row->name, '.');
	return dot ? dot + 1 : "";
}

/* The row's mask is the metric's, not one that the user named: other bits replace it. */
static bool is_metric(const struct spmu_event *row)
{
	return row->replay_enable || (*row->upstream && !*mask_name(row));
}

static const struct spmu_event *mask_row(const struct spmu_model *m, const struct spmu_event *row, const char *word,
	size_t n)
{
	for (size_t i = 0; i < spmu_model_events(m); i++) {
		const struct spmu_event *e = spmu_model_event(m, i);
		if (same_wire(e, row) && same_word(mask_name(e), word, n))
			return e;
	}
	return NULL;
}

/* ---- words ------------------------------------------------------------------------------------------------------ */

static int number(const char *word, size_t n, unsigned long max, unsigned long *v, struct err *err)
{
	char text[24], *end;
	const char *eq = memchr(word, '=', n);
	size_t digits = n - (size_t)(eq + 1 - word);
	if (digits && digits < sizeof text && isdigit((unsigned char)eq[1])) {
		memcpy(text, eq + 1, digits);
		text[digits] = 0;
		*v = strtoul(text, &end, 0);
		if (!*end && *v <= max)
			return 0;
	}
	return err_set(err, ERR_INPUT, "'%.*s': a number from 0 to %lu was expected", (int)(n > 60 ? 60 : n), word,
		max);
}

/* up=EVENT */
static int take_up(struct netburst_wish *w, const struct spmu_model *m, const char *name, size_t n, struct err *err)
{
	char text[128], near[300];
	const struct spmu_event *up;
	snprintf(text, sizeof text, "%.*s", (int)n, name);
	up = n < sizeof text ? names_find(m, text) : NULL;
	if (!up) {
		names_nearest(m, text, near, sizeof near);
		return err_set(err, ERR_INPUT, "'up=%s': unknown event%s%s", text, *near ? "; nearest: " : "", near);
	}
	if (*up->upstream && !up->replay_enable)	/* an event that is tagged: what tags for it */
		up = spmu_model_find(m, up->upstream);
	if (!up || (up->escr[0] != MSR_RAT_ESCR0 && up->escr[0] != MSR_FIRM_ESCR0 && !up->replay_enable))
		return err_set(err, ERR_INPUT,
			"'up=%s': only uop_type, the events of the FIRM ESCRs (packed_DP_uop and others) and replay "
			"metrics (replay_event.L1_LD_MISS and others) tag uops",
			text);
	w->up = up;
	return 0;
}

int netburst_word(struct netburst_wish *w, const struct spmu_model *m, const struct spmu_event *row, const char *word,
	size_t n, bool *known, struct err *err)
{
	const struct spmu_event *e = row ? mask_row(m, row, word, n) : NULL;
	unsigned long v = 1;
	*known = true;
	if (e && e->replay_enable) {
		if (w->metric && w->metric != e)
			return err_set(err, ERR_INPUT, "'%.*s': an event has one replay metric, and %s is another",
				(int)n, word, w->metric->name);
		w->metric = e;
		return 0;
	}
	if (e) {
		w->mask |= e->umask | (is_metric(row) || w->mask ? 0 : row->umask);
		return 0;
	}
	if (n > 3 && !strncmp(word, "up=", 3))
		return take_up(w, m, word + 3, n - 3, err);
	if (n > 4 && !strncmp(word, "tag=", 4)) {
		if (number(word, n, 15, &v, err))
			return ERR_INPUT;
		w->tag_value = (uint8_t)v;
		return 0;
	}
	if (n == 4 && !strncasecmp(word, "TAG", 3) && word[3] >= '0' && word[3] <= '3') {
		w->tag_value |= (uint8_t)(1u << (word[3] - '0'));
		return 0;
	}
	if (n > 4 && !strncmp(word, "thr=", 4)) {
		if (number(word, n, 15, &v, err))
			return ERR_INPUT;
		w->threshold = (uint8_t)v;
		w->compare |= v != 0;
		return 0;
	}
	bool complement = n >= 4 && !strncmp(word, "cmpl", 4), edge = n >= 4 && !strncmp(word, "edge", 4);
	if ((complement || edge) && (n == 4 || word[4] == '=')) {
		if (n > 4 && number(word, n, 1, &v, err))
			return ERR_INPUT;
		*(complement ? &w->complement : &w->edge) = v;
		w->compare |= v;
		return 0;
	}
	*known = false;
	return 0;
}

const struct spmu_event *netburst_named(struct netburst_wish *w, const struct spmu_model *m, const char *name)
{
	char head[256];
	size_t n = strlen(name);
	const struct spmu_event *row = NULL;
	struct netburst_wish got = *w;
	if (n >= sizeof head)
		return NULL;
	memcpy(head, name, n + 1);
	for (char *cut = head + n; cut && !(row = names_find(m, head));)
		if ((cut = strrchr(head, ':')))
			*cut = 0;
	for (const char *word = name + strlen(head); row && *word; word = strchrnul(word, ':')) {
		bool known;
		struct err ignored = { 0 };
		word++;
		if (netburst_word(&got, m, row, word, strcspn(word, ":"), &known, &ignored) || !known)
			return NULL;
	}
	if (row)
		*w = got;
	return row;
}

uint64_t netburst_filter(const struct netburst_wish *w)
{
	return (w->compare ? SPMU_EVTSEL_CMASK((uint64_t)w->threshold + 1) : 0) |
		(w->complement ? SPMU_EVTSEL_INV : 0) | (w->edge ? SPMU_EVTSEL_EDGE : 0);
}

/* ---- perf's config ---------------------------------------------------------------------------------------------- */

int netburst_number(const struct spmu_event *row)
{
	const char *name = row->escr[0] == MSR_RAT_ESCR0 ? "uop_type" : row->name;	/* libpfm4: uops_type */
	if (is_metric(row) && !row->replay_enable)
		name = row->escr[0] == MSR_CRU_ESCR2 && row->event == 0x08 ? "front_end_event" : "execution_event";
	for (int i = 0; i < NUMBERED; i++)
		if (same_word(numbered[i], name, strcspn(name, ".")))
			return i;
	return -1;
}

int netburst_config(struct netburst_wish *w, const struct spmu_model *m, uint64_t config, const struct spmu_event **row,
	struct err *err)
{
	const uint32_t cccr = (uint32_t)config, escr = (uint32_t)(config >> 32) & 0x7fffffff;
	const uint32_t refused = SPMU_CCCR_OVF | SPMU_CCCR_CASCADE | SPMU_CCCR_FORCE_OVF | UINT32_C(3) << 28;
	unsigned event = escr >> 25, mask = escr >> 9 & 0xffff, metric = cccr & 0x3f;
	const struct spmu_event *found = NULL;
	if (cccr & refused)
		return err_set(err, ERR_UNSUPPORTED,
			"config %#llx: bits %#x (OVF, CASCADE, FORCE_OVF) are the kernel's; record has --after and "
			"--force-ovf",
			(unsigned long long)config, cccr & refused);
	for (size_t i = 0; i < spmu_model_events(m) && !found; i++) {
		const struct spmu_event *e = spmu_model_event(m, i);
		if (!is_metric(e) && netburst_number(e) == (int)event)
			found = e;
	}
	if (!found)
		return err_set(err, ERR_UNSUPPORTED,
			"config %#llx: this PMU has no event number %u (bits 62:57, Linux's number)",
			(unsigned long long)config, event);
	if (!mask)
		return err_set(err, ERR_INPUT, "config %#llx: no mask bit of %.*s is set (umask; bits 56:41)",
			(unsigned long long)config, (int)strcspn(found->name, "."), found->name);
	if (metric > METRICS)
		return err_set(err, ERR_INPUT, "config %#llx: there is no replay metric %u (bits 5:0)",
			(unsigned long long)config, metric);
	w->mask = mask;
	w->metric = metric ? spmu_model_find(m, metrics[metric - 1]) : NULL;
	w->tag_value |= escr & SPMU_ESCR_TAG_ENABLE ? escr >> 5 & 15 : 0;
	if (cccr & SPMU_CCCR_COMPARE) {
		w->compare = true;
		w->threshold = cccr >> 20 & 15;
		w->complement = cccr & SPMU_CCCR_COMPLEMENT;
		w->edge = cccr & SPMU_CCCR_EDGE;
	}
	*row = found;
	return 0;
}

/* ---- the event -------------------------------------------------------------------------------------------------- */

enum reads { READS_NONE, READS_FRONT_END, READS_EXECUTION, READS_REPLAY, READS_ANY };

/* The kind of tags that the event looks at. */
static enum reads reads(const struct spmu_event *e)
{
	if (e->escr[0] == MSR_CRU_ESCR0)
		return e->event == 0x02 ? READS_ANY : READS_NONE;
	if (e->escr[0] != MSR_CRU_ESCR2)
		return READS_NONE;
	return e->event == 0x08 ? READS_FRONT_END
		: e->event == 0x0c ? READS_EXECUTION
		: e->event == 0x09 ? READS_REPLAY
		: READS_NONE;
}

static bool fits(const struct spmu_event *e, const struct spmu_event *up)
{
	enum reads r = reads(e);
	return r == READS_ANY || (r == READS_REPLAY && up->replay_enable) ||
		(r == READS_FRONT_END && up->escr[0] == MSR_RAT_ESCR0) ||
		(r == READS_EXECUTION && up->escr[0] == MSR_FIRM_ESCR0);
}

static void hint(const struct spmu_model *m, const struct spmu_event *event, char *text, size_t text_bytes)
{
	*text = 0;
	for (size_t i = 0; i < spmu_model_events(m); i++) {
		const struct spmu_event *e = spmu_model_event(m, i);
		bool tags = e->replay_enable || e->escr[0] == MSR_RAT_ESCR0 || e->escr[0] == MSR_FIRM_ESCR0;
		if (tags && !(e->flags & SPMU_EVENT_NOT_MODELLED) && fits(event, e)) {
			snprintf(text, text_bytes, ":up=%s", e->name);
			return;
		}
	}
}

void netburst_hint(const struct spmu_model *m, const struct spmu_event *event, char *text, size_t text_bytes)
{
	*text = 0;
	if (event->needs_tags && !*event->upstream && !event->replay_enable)
		hint(m, event, text, text_bytes);
}

void netburst_code(const struct spmu_model *m, const struct spmu_event *row, char *text, size_t text_bytes)
{
	int event = netburst_number(row);
	unsigned metric = 0;
	char what[160] = "";
	*text = 0;
	if (event < 0)
		return;
	for (unsigned i = 0; i < METRICS; i++)
		if (row->replay_enable && same_word(metrics[i], row->name, strlen(row->name)))
			metric = i + 1;
	if (metric)
		snprintf(what, sizeof what, ",cccr=%u", metric);
	else if (is_metric(row))
		snprintf(what, sizeof what, ",up=%s", row->upstream);
	else
		netburst_hint(m, row, what, sizeof what);
	if (*what == ':')
		*what = ',';
	char filter[40] = "";
	if (row->cmask)
		snprintf(filter, sizeof filter, ",cmask=%u%s", row->cmask, row->inv ? ",inv" : "");
	snprintf(text, text_bytes, "cpu/event=%#04x,umask=%#04x%s%s%s/", (unsigned)event, row->umask, filter,
		row->edge ? ",edge" : "", what);
}

/* Adds up the flags of the rows that the mask's sum is made of. */
static void add_parts(struct spmu_event *e, const struct spmu_model *m)
{
	const uint32_t adds = SPMU_EVENT_SPECULATIVE | SPMU_EVENT_NOT_MODELLED;
	uint32_t left = e->umask;
	e->flags &= ~(uint32_t)(adds | SPMU_EVENT_DEPRECATED);
	e->not_modelled = "";
	e->needs_tags = false;
	while (left) {
		const struct spmu_event *part = spmu_netburst_part(m, e, left);
		if (!part) {
			e->flags |= SPMU_EVENT_NOT_MODELLED;
			e->not_modelled = "the manual does not describe all of these mask bits";
			return;
		}
		e->flags |= part->flags & adds;
		e->needs_tags |= part->needs_tags;
		if (part->flags & SPMU_EVENT_NOT_MODELLED)
			e->not_modelled = part->not_modelled;
		left &= ~(uint32_t)part->umask;
	}
}

/* Writes the event's name with each of its mask bits, metric, up= and tag=; such a name is taken again. */
static void spell(char *out, size_t bytes, const struct spmu_model *m, const struct spmu_event *e,
	const struct netburst_wish *w)
{
	size_t n = (size_t)snprintf(out, bytes, "%.*s", (int)strcspn(e->name, "."), e->name);
	char between = '.';
	for (unsigned bit = 0; bit < 16 && n < bytes; bit++) {
		const char *name = NULL;
		if (is_metric(e) && !e->replay_enable && !w->mask)
			break;		/* packed_DP_retired: its name says the mask */
		for (size_t i = 0; i < spmu_model_events(m) && e->umask >> bit & 1 && !name; i++) {
			const struct spmu_event *r = spmu_model_event(m, i);
			if (same_wire(r, e) && r->umask == 1u << bit && !is_metric(r))
				name = mask_name(r);
		}
		if (!name)
			continue;
		n += (size_t)snprintf(out + n, bytes - n, "%c%s", between, name);
		between = ':';
	}
	if (e->replay_enable && w->metric && n < bytes)
		n += (size_t)snprintf(out + n, bytes - n, ":%s", mask_name(w->metric));
	else if (e->replay_enable && is_metric(e) && n < bytes)
		n += (size_t)snprintf(out + n, bytes - n, ":%s", mask_name(e));
	if (w->up && n < bytes)
		n += (size_t)snprintf(out + n, bytes - n, ":up=%s", w->up->name);
	if (w->tag_value && n < bytes)
		snprintf(out + n, bytes - n, ":tag=%u", w->tag_value);
}

/* Puts what tags into the event. */
static int take_tags(struct spmu_event *e, const struct netburst_wish *w, const struct spmu_event *row, struct err *err)
{
	const struct spmu_event *metric = w->metric ? w->metric : w->up && w->up->replay_enable ? w->up : NULL;
	const struct spmu_event *up = w->up;
	if (up && !fits(row, up))
		return err_set(err, ERR_INPUT, reads(row) ? "'%s' counts no tags that %s sets"
							  : "'%s' looks at no tags, so it takes no up=%s",
			row->name, up->name);
	if (up && up->flags & SPMU_EVENT_NOT_MODELLED)
		return err_set(err, ERR_NOT_MODELLED, "'up=%s': the event is not modelled: %s", up->name,
			up->not_modelled);
	if (metric) {
		e->replay_enable = metric->replay_enable;
		e->replay_matrix = metric->replay_matrix;
		e->upstream = metric->upstream;
	} else if (up) {
		e->upstream = up->name;
	}
	bool tags = row->escr[0] == MSR_FIRM_ESCR0 || row->escr[0] == MSR_RAT_ESCR0;
	bool execution = *e->upstream && !e->replay_enable && (reads(row) == READS_EXECUTION ||
		(up && up->escr[0] == MSR_FIRM_ESCR0));
	if (w->tag_value && !tags && !execution)
		return err_set(err, ERR_INPUT,
			"'%s' takes no tag value: only execution tags have one, with up= or in an event that tags",
			row->name);
	e->tag_value = w->tag_value;
	if (reads(row) == READS_EXECUTION && *e->upstream) {
		if (is_metric(row) && !w->mask)		/* its mask follows the tag */
			e->umask = w->tag_value ? w->tag_value : row->umask;
		else if (!e->tag_value)
			e->tag_value = (e->umask | e->umask >> 4) & 15;
	}
	return 0;
}

int netburst_compose(const struct netburst_wish *w, const struct spmu_model *m, const struct spmu_event *row,
	const struct spmu_event **event, struct netburst_event **made, struct err *err)
{
	char name[400], what[80];
	struct spmu_event e = *row;
	e.umask = (uint16_t)(w->mask ? w->mask : row->umask);
	*made = NULL;
	*event = row;
	if (!row->escr[0])
		return 0;
	if (w->mask && w->mask != row->umask && !w->metric && !w->up && !w->tag_value && !is_metric(row))
		for (size_t i = 0; i < spmu_model_events(m); i++) {	/* the same mask has a row of its own */
			const struct spmu_event *r = spmu_model_event(m, i);
			if (same_wire(r, row) && r->umask == w->mask && !is_metric(r))
				*event = r;
		}
	bool changed = *event == row && (w->metric || w->up || w->tag_value || e.umask != row->umask);
	if (!changed)
		e = **event;
	int rc = changed ? take_tags(&e, w, row, err) : 0;
	if (rc)
		return rc;
	if (changed)
		add_parts(&e, m);
	/* "at most 15" holds in every cycle, whatever the event (perf's second cycles event) */
	bool clocks = w->compare && w->complement && w->threshold == 15;
	spell(name, sizeof name, m, &e, w);
	if (e.needs_tags && !*e.upstream && !e.replay_enable && !clocks) {
		hint(m, &e, what, sizeof what);
		return err_set(err, ERR_INPUT,
			"'%s' counts what carries a tag, and nothing tags uops for it: add what does, as in %s%s",
			name, name, what);
	}
	if (!changed)
		return 0;
	*made = malloc(sizeof **made + strlen(name) + 1);
	if (!*made)
		return err_set(err, ERR_NOMEM, "out of memory");
	memcpy((*made)->name, name, strlen(name) + 1);
	(*made)->event = e;
	(*made)->event.name = (*made)->name;
	(*made)->event.perf_alias = "";
	*event = &(*made)->event;
	return 0;
}
