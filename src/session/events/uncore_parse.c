/* SPDX-License-Identifier: GPL-2.0-or-later
 * Names of uncore events as perf takes them (uncore_events.h):
 *
 *   UNC_CBO_CACHE_LOOKUP.ANY_MESI           summed over the boxes
 *   uncore_cbox/event=0x34,umask=0x8f/      the same; uncore_cbox_0/.../ of one box; also cbox/.../,
 *                                           uncore_cbox_* /.../
 *   uncore_imc/data_reads/                  the names below perf's PMUs, scaled as there
 *
 * Left out: filters (tid_en, filter_*), ratio metrics.
 */
#include "session/events/uncore_events.h"
#include "util/near.h"
#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

static bool is_pmu(const struct spmu_uncore_model *m, const char *text, size_t n)
{
	if (n >= 7 && !strncasecmp(text, "uncore_", 7))
		return true;
	for (size_t i = 0; m && i < spmu_uncore_units(m); i++) {
		const char *name = spmu_uncore_unit(m, i)->name;
		size_t length = strlen(name);
		if (n >= length && !strncmp(text, name, length) && (n == length || text[length] == '_'))
			return true;
	}
	return false;
}

bool uncore_meant(const struct spmu_uncore_model *m, const char *text, size_t n)
{
	const char *slash = memchr(text, '/', n);
	return slash ? is_pmu(m, text, (size_t)(slash - text)) : n > 4 && !strncasecmp(text, "unc_", 4);
}

/* The unit that "uncore_cbox_0", "cbox" or "uncore_cbox_*" names; -1: none.  *box: the box's number, -1: all. */
static int unit_named(const struct spmu_uncore_model *m, const char *text, size_t n, int *box)
{
	if (n > 7 && !strncmp(text, "uncore_", 7))
		text += 7, n -= 7;
	for (size_t i = 0; i < spmu_uncore_units(m); i++) {
		const char *name = spmu_uncore_unit(m, i)->name;
		size_t length = strlen(name);
		if (n < length || strncmp(text, name, length))
			continue;
		*box = -1;
		if (n == length || (n == length + 1 && text[length] == '*') ||
			(n == length + 2 && !strncmp(text + length, "_*", 2)))
			return (int)i;
		size_t digits = n - length - 1;
		if (text[length] != '_' || !digits || digits > 3 || strspn(text + length + 1, "0123456789") < digits)
			continue;	/* continue: another unit's name may be longer */
		*box = atoi(text + length + 1);
		return (int)i;
	}
	return -1;
}

static int boxes_of(const struct core_config *c, const struct spmu_uncore_unit *u)
{
	switch (u->boxes) {
	case SPMU_BOX_SLICE: return (int)c->l3_slices;
	case SPMU_BOX_CHANNEL: return (int)c->dram_channels;
	case SPMU_BOX_CONTROLLER: return (int)(c->dram_channels + 1) / 2;
	default: return 1;
	}
}

static int refuse_modifier(const char *text, size_t n, char letter, struct err *err)
{
	if (letter == 'p' || letter == 'P')
		return err_set(err, ERR_UNSUPPORTED,
			"'%.*s': ':%c' asks for precise samples, which uncore counters cannot take; leave it out",
			(int)n, text, letter);
	return err_set(err, ERR_UNSUPPORTED,
		"'%.*s': uncore counters count the whole machine and take no modifier; leave out ':%c'", (int)n, text,
		letter);
}

static const struct spmu_uncore_event *of_code(const struct spmu_uncore_model *m, unsigned unit, unsigned event,
	uint32_t umask, bool any_umask)
{
	const struct spmu_uncore_event *found = NULL;
	for (size_t i = 0; i < spmu_uncore_events(m); i++) {
		const struct spmu_uncore_event *e = spmu_uncore_event(m, i);
		if (e->unit == unit && e->event == event && (any_umask || e->umask == umask) &&
			(!found || (found->not_modelled[0] && !e->not_modelled[0])))
			found = e;
	}
	return found;
}

static int take_row(struct uncore_event *out, const struct spmu_uncore_event *row, const struct core_config *core,
	const char *text, size_t n, struct err *err)
{
	const bool same = strlen(row->name) == n && !strncasecmp(text, row->name, n);
	if (row->not_modelled[0])
		return err_set(err, ERR_NOT_MODELLED, "event '%.*s'%s%s%s exists on %s but is not modelled: %s", (int)n,
			text, same ? "" : " (", same ? "" : row->name, same ? "" : ")", core->name, row->not_modelled);
	out->unit = row->unit;
	out->counters = row->counters;
	out->control = SPMU_UNC_SELECT(row->event, row->umask, row->cmask);
	return 0;
}

static int unknown(const struct spmu_uncore_model *m, const struct core_config *core, const char *name, struct err *err)
{
	struct near near;
	char text[400];
	near_start(&near, name);
	for (size_t i = 0; i < spmu_uncore_events(m); i++)
		near_offer(&near, spmu_uncore_event(m, i)->name, strlen(spmu_uncore_event(m, i)->name));
	near_text(&near, "", text, sizeof text);
	return text[0] ? err_set(err, ERR_INPUT, "unknown uncore event '%s' on %s; nearest: %s", name, core->name, text)
		: err_set(err, ERR_INPUT, "unknown uncore event '%s' on %s; `softpmu list unc_` shows them all",
				 name, core->name);
}

static int named(struct uncore_event *out, const struct spmu_uncore_model *m, const struct core_config *core,
	const char *text, size_t n, struct err *err)
{
	char name[160];
	snprintf(name, sizeof name, "%.*s", (int)n, text);
	const struct spmu_uncore_event *row = spmu_uncore_find(m, name);
	char *colon = strrchr(name, ':');
	if (!row && colon && colon[1] && strspn(colon + 1, "ukhGHIpPSDWeb") == strlen(colon + 1)) {
		char letter = colon[1];
		*colon = 0;
		if (spmu_uncore_find(m, name))
			return refuse_modifier(text, n, letter, err);
	}
	return row ? take_row(out, row, core, text, n, err) : unknown(m, core, name, err);
}

static bool number(const char *s, size_t n, uint64_t max, uint64_t *out)
{
	char text[32], *end;
	if (!n || n >= sizeof text || !isdigit((unsigned char)*s))
		return false;
	memcpy(text, s, n);
	text[n] = 0;
	*out = strtoull(text, &end, 0);
	return !*end && *out <= max;
}

struct terms { uint64_t event, umask, more; bool coded; const char *word; size_t word_bytes; };

static int term(struct terms *t, bool server, const char *s, size_t n, const char **name, size_t *name_bytes,
	struct err *err)
{
	const char *eq = memchr(s, '=', n);
	size_t key = eq ? (size_t)(eq - s) : n, vn = eq ? n - key - 1 : 0;
	uint64_t v = 1;
#define KEY(text) (key == sizeof(text) - 1 && !memcmp(s, text, key))
	bool threshold = KEY("cmask") || KEY("thresh") || KEY("threshold"), edge = KEY("edge"), inv = KEY("inv");
	if (KEY("name") && vn) {
		*name = eq + 1;
		*name_bytes = vn;
		return 0;
	}
	if (KEY("event") || KEY("umask") || threshold || edge || inv) {
		uint64_t max = KEY("umask")    ? server ? UINT32_MAX : 255
			: edge || inv ? 1
			: threshold && !server ? 31
			: 255;
		if (eq ? !number(eq + 1, vn, max, &v) : !(edge || inv))
			return err_set(err, ERR_INPUT, "'%.*s': the value must be a number from 0 to %#llx", (int)n, s,
				(unsigned long long)max);
		if (KEY("event"))
			t->event = v;
		else if (KEY("umask"))
			t->umask = v;
		else
			t->more |= threshold ? v << 24 : edge ? v * SPMU_UNC_EDGE : v * SPMU_UNC_INV;
		t->coded |= KEY("event") || KEY("umask");
		return 0;
	}
	if (eq)
		return err_set(err, ERR_UNSUPPORTED,
			"unknown term '%.*s' in an uncore event; known: event, umask, edge, inv, %s, name, or an "
			"event's name",
			(int)key, s, server ? "thresh" : "cmask");
#undef KEY
	if (n && !t->word) {
		t->word = s;
		t->word_bytes = n;
		return 0;
	}
	return err_set(err, ERR_INPUT,
		"unknown term '%.*s' in an uncore event; it has an event's name already", (int)n, s);
}

static int braced(struct uncore_event *out, const struct spmu_uncore_model *m, const struct core_config *core,
	const char *text, size_t n, const char **name, size_t *name_bytes, struct err *err)
{
	const char *first = memchr(text, '/', n), *last = memchr(first + 1, '/', n - (size_t)(first + 1 - text));
	struct terms t = { 0 };
	int box, unit = unit_named(m, text, (size_t)(first - text), &box);
	if (!last)
		return err_set(err, ERR_INPUT, "'%.*s': the closing '/' is missing", (int)n, text);
	if (unit < 0) {
		char all[200] = "";
		for (size_t i = 0; i < spmu_uncore_units(m); i++)
			snprintf(all + strlen(all), sizeof all - strlen(all), "%suncore_%s", i ? ", " : "",
				spmu_uncore_unit(m, i)->name);
		return err_set(err, ERR_UNSUPPORTED, "'%.*s': %s has no such uncore PMU; it has %s",
			(int)n, text, core->name, all);
	}
	if (box >= boxes_of(core, spmu_uncore_unit(m, (size_t)unit)))
		return err_set(err, ERR_INPUT,
			"'%.*s': no such box: %s has %d of them, numbered from 0", (int)n, text, core->name,
			boxes_of(core, spmu_uncore_unit(m, (size_t)unit)));
	const char *mods = last + 1, *end = text + n;
	if (mods < end && *mods == ':')
		mods++;
	if (mods < end)
		return refuse_modifier(text, n, *mods, err);
	for (const char *s = first + 1; s < last;) {
		const char *comma = memchr(s, ',', (size_t)(last - s)), *stop = comma ? comma : last;
		int rc = stop > s ? term(&t, spmu_uncore_server(m), s, (size_t)(stop - s), name, name_bytes, err) : 0;
		if (rc)
			return rc;
		s = stop + 1;
	}
	if (t.word && t.coded)
		return err_set(err, ERR_INPUT,
			"'%.*s' gives an event's name and a code; give one of them", (int)n, text);
	const struct spmu_uncore_event *row = NULL;
	bool by_alias = false;
	if (t.word) {
		char word[160];
		snprintf(word, sizeof word, "%.*s", (int)t.word_bytes, t.word);
		row = spmu_uncore_find(m, word);
		for (size_t i = 0; !row && i < spmu_uncore_events(m); i++) {
			const struct spmu_uncore_event *e = spmu_uncore_event(m, i);
			/* perf has the fixed clock counter in C-Box 0's PMU */
			bool here = e->unit == unit ||
				(!strcmp(spmu_uncore_unit(m, e->unit)->name, "clock") &&
					!strcmp(spmu_uncore_unit(m, (size_t)unit)->name, "cbox"));
			if (here && e->alias[0] && !strcmp(e->alias, word)) {
				row = e;
				by_alias = true;
			}
		}
		if (!row || (!by_alias && row->unit != unit))
			return unknown(m, core, word, err);
	} else if (t.coded) {
		if (t.event == 0xff && !strcmp(spmu_uncore_unit(m, (size_t)unit)->name, "cbox"))
			row = spmu_uncore_find(m, "UNC_CLOCK.SOCKET");
		else
			row = of_code(m, (unsigned)unit, (unsigned)t.event, (uint32_t)t.umask, false);
	} else {
		return err_set(err, ERR_INPUT,
			"'%.*s' names no event; give event= and umask=, or an event's name", (int)n, text);
	}
	int rc = 0;
	if (row) {
		rc = take_row(out, row, core, text, n, err);
		if (row->unit != unit)
			box = -1;
	} else {
		bool modelled;
		uint64_t set[2];
		const struct spmu_uncore_event *same = of_code(m, (unsigned)unit, (unsigned)t.event, 0, true);
		if (!spmu_uncore_detects(m, (unsigned)unit, (unsigned)t.event, (uint32_t)t.umask, &modelled, set) ||
			!same)
			return err_set(err, ERR_NOT_MODELLED, "'%.*s': event %#llx is not in the uncore table of %s",
				(int)n, text, (unsigned long long)t.event, core->name);
		if (!modelled)
			return err_set(err, ERR_NOT_MODELLED,
				"'%.*s': umask %#llx of event %#llx selects something that is not modelled", (int)n,
				text, (unsigned long long)t.umask, (unsigned long long)t.event);
		out->unit = (unsigned)unit;
		out->counters = same->counters;
		out->control = SPMU_UNC_SELECT(t.event, t.umask, 0);
	}
	if (rc)
		return rc;
	if (t.more && !spmu_uncore_unit(m, out->unit)->programmable)
		return err_set(err, ERR_UNSUPPORTED,
			"'%.*s': this counter has a fixed event: it takes no threshold, edge or inv", (int)n, text);
	if (t.more & UINT64_C(0xff) << 24)
		out->control &= ~(UINT64_C(0xff) << 24);
	out->control |= t.more;
	out->box = box;
	if (by_alias) {
		out->scale = row->scale;
		out->scale_unit = row->scale_unit;
	}
	return 0;
}

int uncore_parse(struct uncore_event *out, const struct spmu_uncore_model *m, const struct core_config *core,
	const char *text, size_t n, const char **name, size_t *name_bytes, struct err *err)
{
	*name = NULL;
	if (!m)
		return err_set(err, ERR_UNSUPPORTED, "'%.*s': uncore events of %s are not modelled",
			(int)(n > 100 ? 100 : n), text, core ? core->name : "this core");
	if (n > 150)
		return err_set(err, ERR_INPUT, "event name '%.40s...' is too long", text);
	*out = (struct uncore_event){ .model = m, .box = -1, .scale = 1, .scale_unit = "" };
	return memchr(text, '/', n) ? braced(out, m, core, text, n, name, name_bytes, err)
		: named(out, m, core, text, n, err);
}
