/* SPDX-License-Identifier: BSD-2-Clause
 * Reads tables of uncore events (data/events/uncore-NAME.tsv) into struct spmu_uncore_model, and looks events
 * up in it.
 *
 * A line is empty, a comment ('#'), a shape line ('@') or an event: eight columns separated by one TAB, "-" for
 * nothing.
 *
 *   @family NAME                    client or server; the first line of all
 *   @global HEX CORES               client: address of the global control register; number of its bits (from 0) that
 *                                   select cores
 *   @uclk_mhz N, @dclk_mhz N        clock of the uncore (L3, ARB) and of the memory; absent or "core": the core's
 *   @unit NAME BOXES COUNTERS BITS [free]
 *                                   a kind of box; BOXES: slice, package, channel or controller; free: counters
 *                                   have no control register
 *   @select UNIT EVENT bits|exact BITS=WORD[+WORD...] ...
 *                                   one group of entries: what bits of the unit mask (hex) let through.  An event
 *                                   counts what all of its groups let through.
 *                                   bits: an entry applies if all of its BITS are set.  Entries are tried in order,
 *                                   and bits that one has used do not apply to the next; BITS 0 always applies,
 *                                   BITS else (the last entry) if no entry before it does.
 *                                   exact: the entry applies whose BITS equal the mask's, of the bits in the group.
 *                                   A word is WHAT, .FOUND, WHAT.FOUND, or any:
 *                                     WHAT   read rfo code prefetch write flush victim snoop invalidate evict
 *                                            dram_read dram_write pending clock; core_one core_many evict_one
 *                                            evict_many: requests or evictions that snoop one core, or several;
 *                                            written: a slice sends a line to memory; entry_read entry_rfo
 *                                            entry_code entry_prefetch: such requests under way at a slice;
 *                                            pending_data: of pending, data reads; dram_read0 dram_read1
 *                                            dram_write0 dram_write1: on one half of the channel; underfill,
 *                                            regular: of dram_read, for a write of a part of a line, or not;
 *                                            shared, exclusive: of victim, several cores had the line, or one
 *                                     FOUND  nothing clean modified elsewhere open empty other closed
 *                                   none: what cannot happen in the modelled machine
 *                                   !: what happens in the real machine and is not modelled
 *   name  unit  event  umask  counters  mods  help  not_modelled
 *     event, umask  hex; umask of a server: with its extension from bit 8 up
 *     counters      0-3,5
 *     mods          c=N (threshold), x=FACTOR:UNIT (unit of a count times FACTOR), alias=NAME (in perf's PMU),
 *                   joined by commas
 */
#include "../pmu_text.h"
#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include "uncore_internal.h"
#include <stdlib.h>
#include <string.h>
#include <strings.h>

enum { TABLE_BYTES_MAX = 1 << 20, ROWS_MAX = 1024, COLUMNS = 8 };

/* The words for what is counted, each with the set of what it stands for. */
#define ONE(what) (UINT32_C(1) << WHAT_##what)
#define TWO(first, second) (ONE(first) | ONE(second))
static const struct { const char *name; uint32_t set; } words_known[] = {
	{ "read", ONE(READ) }, { "rfo", ONE(RFO) }, { "code", ONE(CODE) }, { "prefetch", ONE(PREFETCH) },
	{ "write", ONE(WRITE) }, { "flush", ONE(FLUSH) }, { "written", ONE(WRITTEN) },
	{ "victim", TWO(VICTIM, VICTIM_SHARED) }, { "exclusive", ONE(VICTIM) }, { "shared", ONE(VICTIM_SHARED) },
	{ "entry_read", ONE(ENTRY_READ) }, { "entry_rfo", ONE(ENTRY_RFO) }, { "entry_code", ONE(ENTRY_CODE) },
	{ "entry_prefetch", ONE(ENTRY_PREFETCH) }, { "snoop", ONE(SNOOP) }, { "invalidate", ONE(INVALIDATE) },
	{ "evict", ONE(EVICT) }, { "core_one", ONE(CORE_ONE) }, { "core_many", ONE(CORE_MANY) },
	{ "evict_one", ONE(EVICT_ONE) }, { "evict_many", ONE(EVICT_MANY) },
	{ "dram_read", TWO(DRAM_READ, DRAM_READ_1) | TWO(UNDERFILL, UNDERFILL_1) },
	{ "dram_read0", TWO(DRAM_READ, UNDERFILL) }, { "dram_read1", TWO(DRAM_READ_1, UNDERFILL_1) },
	{ "regular", TWO(DRAM_READ, DRAM_READ_1) }, { "underfill", TWO(UNDERFILL, UNDERFILL_1) },
	{ "dram_write", TWO(DRAM_WRITE, DRAM_WRITE_1) }, { "dram_write0", ONE(DRAM_WRITE) },
	{ "dram_write1", ONE(DRAM_WRITE_1) }, { "pending", TWO(PENDING, PENDING_DATA) },
	{ "pending_data", ONE(PENDING_DATA) }, { "clock", ONE(CLOCK) }, { "any", (UINT32_C(1) << WHATS) - 1 },
};

/* Returns the set that a word stands for; 0: no such word. */
static uint32_t what_set(const char *word)
{
	for (size_t i = 0; i < sizeof words_known / sizeof *words_known; i++)
		if (!strcmp(words_known[i].name, word))
			return words_known[i].set;
	return 0;
}

/* The signals of each. */
#define SIG(name) (UINT64_C(1) << SPMU_SIG_##name % 64), SPMU_SIG_##name / 64
static const struct { uint64_t set; uint8_t word; uint64_t more; uint8_t more_word;
} what_signal[WHATS] = {
	[WHAT_READ] = { SIG(UNC_READ), 0, 0 }, [WHAT_RFO] = { SIG(UNC_RFO), 0, 0 },
	[WHAT_CODE] = { SIG(UNC_CODE), 0, 0 }, [WHAT_PREFETCH] = { SIG(UNC_PREFETCH), 0, 0 },
	[WHAT_WRITE] = { SIG(UNC_WRITE), 0, 0 }, [WHAT_FLUSH] = { SIG(UNC_FLUSH), 0, 0 },
	[WHAT_VICTIM] = { SIG(UNC_VICTIM), 0, 0 }, [WHAT_VICTIM_SHARED] = { SIG(UNC_VICTIM), 0, 0 },
	[WHAT_WRITTEN] = { SIG(UNC_WRITTEN), 0, 0 },
	[WHAT_ENTRY_READ] = { SIG(UNC_ENTRY), 0, 0 }, [WHAT_ENTRY_RFO] = { SIG(UNC_ENTRY), 0, 0 },
	[WHAT_ENTRY_CODE] = { SIG(UNC_ENTRY), 0, 0 }, [WHAT_ENTRY_PREFETCH] = { SIG(UNC_ENTRY), 0, 0 },
	[WHAT_SNOOP] = { SIG(UNC_SNOOP), 0, 0 }, [WHAT_INVALIDATE] = { SIG(UNC_INVALIDATE), 0, 0 },
	[WHAT_EVICT] = { SIG(UNC_EVICT), 0, 0 },
	[WHAT_DRAM_READ] = { SIG(DRAM_READ), 0, 0 }, [WHAT_DRAM_READ_1] = { SIG(DRAM_READ), 0, 0 },
	[WHAT_UNDERFILL] = { SIG(DRAM_READ), 0, 0 }, [WHAT_UNDERFILL_1] = { SIG(DRAM_READ), 0, 0 },
	[WHAT_DRAM_WRITE] = { SIG(DRAM_WRITE), 0, 0 }, [WHAT_DRAM_WRITE_1] = { SIG(DRAM_WRITE), 0, 0 },
	[WHAT_PENDING] = { SIG(UNC_PENDING), 0, 0 }, [WHAT_PENDING_DATA] = { SIG(UNC_PENDING), 0, 0 },
	[WHAT_CORE_ONE] = { SIG(UNC_SNOOP), SIG(UNC_INVALIDATE) },
	[WHAT_CORE_MANY] = { SIG(UNC_SNOOP), SIG(UNC_INVALIDATE) },
	[WHAT_EVICT_ONE] = { SIG(UNC_EVICT), 0, 0 }, [WHAT_EVICT_MANY] = { SIG(UNC_EVICT), 0, 0 } };
static const char *const found_names[] = { "nothing", "clean", "modified", "elsewhere", "open", "empty", "other",
	"closed" };
static const char *const box_names[] = { "slice", "package", "channel", "controller" };

static int find(const char *const *names, size_t count, const char *name)
{
	for (size_t i = 0; i < count; i++)
		if (!strcmp(names[i], name))
			return (int)i;
	return -1;
}
#define FIND(names, name) find(names, sizeof(names) / sizeof *(names), name)

static int unit_find(const struct spmu_uncore_model *m, const char *name)
{
	for (unsigned i = 0; i < m->units; i++)
		if (!strcmp(m->unit[i].name, name))
			return (int)i;
	return -1;
}

/* ---- shape lines ---------------------------------------------------------------------------------------- */

/* Splits at blanks; returns the number of words, at most `room`. */
static unsigned words(char *s, char **word, unsigned room)
{
	unsigned n = 0;
	char *save = NULL;
	for (char *w = strtok_r(s, " \t", &save); w && n < room; w = strtok_r(NULL, " \t", &save))
		word[n++] = w;
	return n;
}

static int unit_line(struct spmu_uncore_model *m, char **w, unsigned n, char *text, size_t bytes)
{
	uint64_t counters, bits;
	int boxes = n >= 4 ? FIND(box_names, w[1]) : -1;
	if (boxes < 0 || n > 5 || (n == 5 && strcmp(w[4], "free")) ||
		!pmu_text_number(w[2], 10, SPMU_UNCORE_COUNTERS, &counters) || !counters ||
		!pmu_text_number(w[3], 10, 48, &bits) || bits < 32)
		return pmu_text_problem(text, bytes, SPMU_EINPUT,
			"bad @unit line; its form is @unit NAME slice|package|channel|controller COUNTERS BITS "
			"[free], with 1 to %d counters of 32 to 48 bits", SPMU_UNCORE_COUNTERS);
	if (m->units == UNITS_MAX || unit_find(m, w[0]) >= 0)
		return pmu_text_problem(text, bytes, SPMU_EINPUT,
			"@unit %.40s: this unit is already there, or there are more than %d units", w[0], UNITS_MAX);
	m->unit[m->units++] = (struct spmu_uncore_unit){ w[0], (enum spmu_uncore_boxes)boxes, (uint8_t)counters,
		(uint8_t)bits, n == 4 };
	return SPMU_OK;
}

/* Reads the WORD+WORD... of an entry. */
static bool value(char *s, struct entry *e)
{
	char *save = NULL;
	for (char *w = strtok_r(s, "+", &save); w; w = strtok_r(NULL, "+", &save)) {
		char *dot = strchr(w, '.');
		if (!strcmp(w, "!"))
			e->unmodelled = true;
		if (!strcmp(w, "!") || !strcmp(w, "none"))
			continue;
		if (dot)
			*dot = 0;
		const uint32_t set = what_set(*w ? w : "any");
		const int found = dot ? FIND(found_names, dot + 1) : 0;
		if (!set || found < 0 || (!*w && !dot))
			return false;
		for (int i = 0; i < WHATS; i++)
			if (set >> i & 1)
				e->accept[i] |= dot ? (uint8_t)(1u << found) : FOUND_ALL;
	}
	return true;
}

static int select_line(struct spmu_uncore_model *m, char **w, unsigned n, char *text, size_t bytes)
{
	uint64_t event, bits;
	int unit = n >= 4 ? unit_find(m, w[0]) : -1;
	bool exact = n >= 4 && !strcmp(w[2], "exact");
	if (unit < 0 || !(exact || !strcmp(w[2], "bits")) || !pmu_text_number(w[1], 16, 255, &event))
		return pmu_text_problem(text, bytes, SPMU_EINPUT,
			"bad @select line; its form is @select UNIT EVENT bits|exact BITS=WORD[+WORD...] ...");
	struct selector *s = m->selector;
	while (s < m->selector + m->selectors && !(s->unit == unit && s->event == event))
		s++;
	if (s == m->selector + SELECTORS_MAX || (s < m->selector + m->selectors && s->groups == GROUPS_MAX) ||
		n - 3 > ENTRIES_MAX)
		return pmu_text_problem(text, bytes, SPMU_EINPUT,
			"too many @select lines, or too many entries in this one");
	if (s == m->selector + m->selectors) {
		*s = (struct selector){ .unit = (uint8_t)unit, .event = (uint8_t)event };
		m->selectors++;
	}
	struct group *g = &s->group[s->groups++];
	*g = (struct group){ .exact = exact };
	for (unsigned i = 3; i < n; i++) {
		char *eq = strchr(w[i], '=');
		struct entry *e = &g->entry[g->entries++];
		*e = (struct entry){ 0 };
		if (eq)
			*eq = 0;
		e->otherwise = !strcmp(w[i], "else") && i == n - 1 && !exact;
		bits = 0;
		if (!eq || !(e->otherwise || pmu_text_number(w[i], 16, UINT32_MAX, &bits)) || !value(eq + 1, e))
			return pmu_text_problem(text, bytes, SPMU_EINPUT,
				"@select: '%.40s' is not BITS=WORD[+WORD...] with known words", w[i]);
		e->bits = (uint32_t)bits;
	}
	return SPMU_OK;
}

static int shape_line(struct spmu_uncore_model *m, bool first, char *s, char *text, size_t bytes)
{
	char *w[ENTRIES_MAX + 5];
	uint64_t a, b;
	unsigned n = words(s, w, sizeof w / sizeof *w);
	if (n < 2)
		return pmu_text_problem(text, bytes, SPMU_EINPUT, "a shape line has no values");
	if (first != !strcmp(w[0], "@family"))
		return pmu_text_problem(text, bytes, SPMU_EINPUT,
			"@family must be the first line, and stand there once");
	if (first) {
		m->server = !strcmp(w[1], "server");
		if (n == 2 && (m->server || !strcmp(w[1], "client")))
			return SPMU_OK;
		return pmu_text_problem(text, bytes, SPMU_EINPUT,
			"unknown @family '%.40s'; it must be client or server", w[1]);
	}
	if (!strcmp(w[0], "@unit"))
		return unit_line(m, w + 1, n - 1, text, bytes);
	if (!strcmp(w[0], "@select"))
		return select_line(m, w + 1, n - 1, text, bytes);
	if (!strcmp(w[0], "@global") && n == 3 && !m->server && pmu_text_number(w[1], 16, UINT32_MAX, &a) && a &&
		pmu_text_number(w[2], 10, 8, &b) && b) {
		m->global = (uint32_t)a;
		m->cores = (uint32_t)b;
		return SPMU_OK;
	}
	bool uclk = !strcmp(w[0], "@uclk_mhz");
	if (n == 2 && (uclk || !strcmp(w[0], "@dclk_mhz")) &&
		(!strcmp(w[1], "core") || (pmu_text_number(w[1], 10, 100000, &a) && a))) {
		*(uclk ? &m->uclk_hz : &m->dclk_hz) = strcmp(w[1], "core") ? a * 1000000 : 0;
		return SPMU_OK;
	}
	return pmu_text_problem(text, bytes, SPMU_EINPUT,
		"shape line '%.40s' is unknown, or its values are out of range", w[0]);
}

/* ---- events --------------------------------------------------------------------------------------------- */

static bool counter_set(char *s, unsigned counters, uint8_t *out)
{
	char *save = NULL;
	for (char *w = strtok_r(s, ",", &save); w; w = strtok_r(NULL, ",", &save)) {
		uint64_t from, to;
		char *dash = strchr(w, '-');
		if (dash)
			*dash = 0;
		if (!pmu_text_number(w, 10, counters - 1, &from) ||
			!pmu_text_number(dash ? dash + 1 : w, 10, counters - 1, &to) || to < from)
			return false;
		for (uint64_t i = from; i <= to; i++)
			*out |= (uint8_t)(1u << i);
	}
	return *out;
}

static bool modifiers(struct spmu_uncore_event *e, char *s)
{
	char *save = NULL, *end;
	uint64_t v;
	e->scale = 1;
	if (!strcmp(s, "-"))
		return true;
	for (char *w = strtok_r(s, ",", &save); w; w = strtok_r(NULL, ",", &save)) {
		char *colon = strchr(w, ':');
		if (!strncmp(w, "alias=", 6) && w[6])
			e->alias = w + 6;
		else if (!strncmp(w, "c=", 2) && pmu_text_number(w + 2, 10, 255, &v))
			e->cmask = (uint8_t)v;
		else if (!strncmp(w, "x=", 2) && colon && (e->scale = strtod(w + 2, &end), end == colon) &&
			e->scale > 0)
			e->scale_unit = colon + 1;
		else
			return false;
	}
	return true;
}

static int event_line(struct spmu_uncore_model *m, char *line, char *text, size_t bytes)
{
	char *column[COLUMNS];
	unsigned n = 0;
	for (char *s = line; s && n < COLUMNS; n++) {
		column[n] = s;
		s = strchr(s, '\t');
		if (s)
			*s++ = 0;
		if (s && n == COLUMNS - 1)
			n = COLUMNS;	/* one too many */
	}
	if (n != COLUMNS)
		return pmu_text_problem(text, bytes, SPMU_EINPUT, "an event line must have %d columns", COLUMNS);
	struct spmu_uncore_event e = { .name = column[0], .alias = "", .scale_unit = "", .help = column[6],
		.not_modelled = strcmp(column[7], "-") ? column[7] : "" };
	uint64_t event, umask;
	int unit = unit_find(m, column[1]);
	if (!e.name[0] || unit < 0)
		return pmu_text_problem(text, bytes, SPMU_EINPUT,
			"event '%.60s': unknown unit '%.40s', or no name", e.name, column[1]);
	if (!pmu_text_number(column[2], 16, 255, &event) ||
		!pmu_text_number(column[3], 16, m->server ? UINT32_MAX : 255, &umask))
		return pmu_text_problem(text, bytes, SPMU_EINPUT, "event '%.60s': bad event select or umask", e.name);
	e.unit = (uint8_t)unit;
	e.event = (uint8_t)event;
	e.umask = (uint32_t)umask;
	if (!counter_set(column[4], m->unit[unit].counters, &e.counters))
		return pmu_text_problem(text, bytes, SPMU_EINPUT, "event '%.60s': bad counters", e.name);
	if (!modifiers(&e, column[5]))
		return pmu_text_problem(text, bytes, SPMU_EINPUT,
			"event '%.60s': bad mods; they are c=N, x=FACTOR:UNIT and alias=NAME", e.name);
	if (spmu_uncore_find(m, e.name))
		return pmu_text_problem(text, bytes, SPMU_EINPUT, "event '%.60s' appears twice", e.name);
	bool modelled = false;
	uint64_t set[2];
	bool known = spmu_uncore_detects(m, e.unit, e.event, e.umask, &modelled, set);
	if (!e.not_modelled[0] && !(known && modelled))
		return pmu_text_problem(text, bytes, SPMU_EINPUT,
			"event '%.60s': no @select line says what it counts, and not_modelled is empty", e.name);
	if (m->events == ROWS_MAX)
		return pmu_text_problem(text, bytes, SPMU_EINPUT, "more than %d events", ROWS_MAX);
	m->event[m->events++] = e;
	return SPMU_OK;
}

static int parse(struct spmu_uncore_model *m, char *text, size_t bytes)
{
	char *next = m->text, why[200];
	bool first = true;
	for (unsigned line = 1; next; line++) {
		char *s = next;
		next = strchr(s, '\n');
		if (next)
			*next++ = 0;
		if (!*s || *s == '#')
			continue;
		why[0] = 0;
		int error = *s == '@' ? shape_line(m, first, s, why, sizeof why)
			: first ? pmu_text_problem(why, sizeof why, SPMU_EINPUT, "@family must be the first line")
			: event_line(m, s, why, sizeof why);
		if (error)
			return pmu_text_problem(text, bytes, error, "line %u: %s", line, why);
		first = false;
	}
	if (first || !m->events || (!m->server && !m->global))
		return pmu_text_problem(text, bytes, SPMU_EINPUT,
			"the table has no events, or a client's table has no @global line");
	return SPMU_OK;
}

int spmu_uncore_load(struct spmu_uncore_model **out, const char *path, char *text, size_t text_bytes)
{
	FILE *f = fopen(path, "re");
	if (!f)
		return pmu_text_problem(text, text_bytes, SPMU_EINPUT, "cannot read %s: %s", path, strerror(errno));
	struct spmu_uncore_model *m = calloc(1, sizeof *m);
	int error = SPMU_ENOMEM;
	char why[300] = "out of memory";
	if (m) {
		m->text = malloc(TABLE_BYTES_MAX + 1);
		m->event = calloc(ROWS_MAX, sizeof *m->event);
	}
	if (m && m->text && m->event) {
		size_t n = fread(m->text, 1, TABLE_BYTES_MAX + 1, f);
		if (ferror(f) || n > TABLE_BYTES_MAX || memchr(m->text, 0, n)) {
			error = pmu_text_problem(why, sizeof why, SPMU_EINPUT,
				"the file cannot be read, is too long, or holds a NUL byte");
		} else {
			char *fits = realloc(m->text, n + 1);
			m->text = fits ? fits : m->text;
			m->text[n] = 0;
			error = parse(m, why, sizeof why);
		}
	}
	fclose(f);
	if (error) {
		spmu_uncore_free(m);
		return pmu_text_problem(text, text_bytes, error, "%s: %s", path, why);
	}
	*out = m;
	return SPMU_OK;
}

void spmu_uncore_free(struct spmu_uncore_model *m)
{
	if (!m)
		return;
	free(m->event);
	free(m->text);
	free(m);
}

/* ---- look-up -------------------------------------------------------------------------------------------- */

bool uncore_select(const struct spmu_uncore_model *m, unsigned unit, unsigned event, uint32_t umask,
	uint8_t accept[WHATS], uint32_t *unmodelled)
{
	const struct selector *s = m->selector;
	memset(accept, 0, WHATS);
	*unmodelled = 0;
	while (s < m->selector + m->selectors && !(s->unit == unit && s->event == event))
		s++;
	if (s == m->selector + m->selectors)
		return false;
	uint32_t unknown = umask;
	memset(accept, FOUND_ALL, WHATS);
	for (const struct group *g = s->group; g < s->group + s->groups; g++) {
		uint8_t through[WHATS] = { 0 };
		uint32_t rest = umask, all = 0;
		bool matched = false;
		for (const struct entry *e = g->entry; e < g->entry + g->entries; e++)
			all |= e->bits;
		for (const struct entry *e = g->entry; e < g->entry + g->entries; e++) {
			if (g->exact ? (umask & all) != e->bits : (rest & e->bits) != e->bits ||
				(e->otherwise && matched))
				continue;
			rest &= ~e->bits;
			matched = true;
			for (unsigned i = 0; i < WHATS; i++)
				through[i] |= e->accept[i];
			if (e->unmodelled)
				*unmodelled |= e->bits;
		}
		unknown &= ~all;
		if (g->exact && !matched)
			*unmodelled |= umask & all ? umask & all : 1;
		for (unsigned i = 0; i < WHATS; i++)
			accept[i] &= through[i];
	}
	*unmodelled |= unknown;
	return true;
}

bool spmu_uncore_detects(const struct spmu_uncore_model *m, unsigned unit, unsigned event, uint32_t umask,
	bool *modelled, uint64_t set[2])
{
	uint8_t accept[WHATS];
	uint32_t unmodelled;
	set[0] = set[1] = 0;
	if (!uncore_select(m, unit, event, umask, accept, &unmodelled))
		return *modelled = false;
	*modelled = !unmodelled;
	for (unsigned i = 0; i < WHATS; i++)
		if (accept[i]) {
			set[what_signal[i].word] |= what_signal[i].set;
			set[what_signal[i].more_word] |= what_signal[i].more;
		}
	return true;
}

const struct spmu_uncore_event *spmu_uncore_find(const struct spmu_uncore_model *m, const char *name)
{
	for (size_t i = 0; i < m->events; i++) {
		const char *a = m->event[i].name, *b = name;
		while (*a &&
			(tolower((unsigned char)*a) == tolower((unsigned char)*b) ||
				(strchr(".:", *a) && *b && strchr(".:", *b))))
			a++, b++;
		if (!*a && !*b)
			return &m->event[i];
	}
	return NULL;
}

size_t spmu_uncore_units(const struct spmu_uncore_model *m) { return m->units; }
const struct spmu_uncore_unit *spmu_uncore_unit(const struct spmu_uncore_model *m, size_t index)
{
	return &m->unit[index];
}
size_t spmu_uncore_events(const struct spmu_uncore_model *m) { return m->events; }
const struct spmu_uncore_event *spmu_uncore_event(const struct spmu_uncore_model *m, size_t index)
{
	return &m->event[index];
}
bool spmu_uncore_server(const struct spmu_uncore_model *m) { return m->server; }
