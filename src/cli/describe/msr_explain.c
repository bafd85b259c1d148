/* SPDX-License-Identifier: GPL-2.0-or-later
 * Explains register values for `softpmu msr`: what it says about events comes from the event table, what it
 * says about faults from a PMU.
 */
#include "cli/describe/msr_explain.h"
#include "session/events/event_names.h"
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

enum { COUNTERS = 18 };		/* NetBurst's */

static void note(struct msr_notes *n, const char *format, ...) __attribute__((format(printf, 2, 3)));
static void note(struct msr_notes *n, const char *format, ...)
{
	va_list args;
	if (n->lines == sizeof n->line / sizeof *n->line)
		return;
	va_start(args, format);
	vsnprintf(n->line[n->lines++], sizeof n->line[0], format, args);
	va_end(args);
}

static void selects(struct msr_notes *n, const char *name)
{
	if (n->events < sizeof n->event / sizeof *n->event)
		snprintf(n->event[n->events++], sizeof n->event[0], "%s", name);
}

/* "0, 2, 5" for a set of bits. */
static const char *numbers(uint64_t set, char *text, size_t bytes)
{
	size_t used = 0;
	*text = 0;
	for (unsigned i = 0; i < 64 && used < bytes; i++)
		if (set >> i & 1)
			used += (size_t)snprintf(text + used, bytes - used, "%s%u", used ? ", " : "", i);
	return text;
}

static const char *msr_name(const struct spmu_model *m, uint32_t address, struct spmu_msr *r)
{
	return spmu_msr_at(m, address, r) ? r->name : "no register";
}

/* ---- PERFEVTSELx ---- */

static void qualifiers(uint64_t value, uint64_t row, struct msr_notes *n)
{
	unsigned cmask = value >> 24 & 0xff;
	uint64_t differ = value ^ row;
	if (differ & SPMU_EVTSEL_CMASK(0xff) && cmask)
		note(n, "CMASK %u: counts cycles with %s %u events, one for each cycle", cmask,
			value & SPMU_EVTSEL_INV ? "fewer than" : "at least", cmask);
	if (value & SPMU_EVTSEL_INV && !cmask)
		note(n, "INV without CMASK does nothing");
	if (differ & value & SPMU_EVTSEL_EDGE)
		note(n, "E: counts how often the condition becomes true");
}

static void explain_evtsel(const struct spmu_model *m, unsigned counter, uint64_t value, struct msr_notes *n)
{
	char text[200];
	bool exact, p6 = spmu_model_family(m) == SPMU_FAMILY_P6;
	if (!(value & 0xff)) {
		note(n, "EVENT SELECT is 0: no event, counts nothing");
		return;
	}
	const struct spmu_event *e = names_find_code(m, value & NAMES_EVENT_BITS, &exact);
	if (!e) {
		note(n, "event %02XH, umask %02XH: not in this PMU's event table, counts nothing",
			(unsigned)value & 0xff, (unsigned)(value >> 8) & 0xff);
		return;
	}
	selects(n, e->name);
	note(n, "counts %s: %s", e->name, e->help);
	qualifiers(value, names_evtsel(e), n);
	if (e->flags & SPMU_EVENT_NOT_MODELLED)
		note(n, "this model cannot produce it, so it stays 0: %s", e->not_modelled);
	if (!(e->pmc_mask >> counter & 1))
		note(n, "counter %u cannot count it, so it stays 0; counters that can: %s", counter,
			e->pmc_mask ? numbers(e->pmc_mask, text, sizeof text) : "a fixed one only");
	if (!(value & (SPMU_EVTSEL_USR | SPMU_EVTSEL_OS)))
		note(n, "neither USR nor OS: counts nothing");
	if (p6 && counter == 1)
		note(n, "the enable bit of both counters is in PerfEvtSel0");
	else if (!(value & SPMU_EVTSEL_EN))
		note(n, "EN is clear: %s", p6 ? "both counters stand still" : "the counter stands still");
	if (value >> 32 & 1)
		note(n, "IN_TX: the model does not know which instructions a transaction holds, so it stays 0");
}

/* ---- fixed counters, CESR ---- */

static void explain_fixed(const struct spmu_model *m, uint64_t value, struct msr_notes *n)
{
	for (unsigned i = 0; i < spmu_model_fixed_counters(m); i++) {
		if (!(value >> 4 * i & 3))
			continue;
		for (size_t k = 0; k < spmu_model_events(m); k++) {
			const struct spmu_event *e = spmu_model_event(m, k);
			if (e->fixed != (int)i || !(e->flags & SPMU_EVENT_FIXED))
				continue;
			selects(n, e->name);
			note(n, "fixed counter %u counts %s", i, e->name);
			break;
		}
	}
}

static void explain_cesr(const struct spmu_model *m, uint64_t value, struct msr_notes *n)
{
	for (unsigned i = 0; i < 2; i++) {
		unsigned select = value >> 16 * i & 0x3f, control = value >> (16 * i + 6) & 7;
		const struct spmu_event *e = NULL;
		for (size_t k = 0; k < spmu_model_events(m) && !e; k++)
			if (spmu_model_event(m, k)->event == select && spmu_model_event(m, k)->pmc_mask >> i & 1)
				e = spmu_model_event(m, k);
		if (!(control & 3))
			continue;
		if (!e) {
			note(n, "CTR%u: event %02XH is not one of this PMU, counts nothing", i, select);
			continue;
		}
		selects(n, e->name);
		note(n, "CTR%u counts %s%s: %s", i, control & 4 ? "clocks of " : "", e->name, e->help);
		if (e->flags & SPMU_EVENT_NOT_MODELLED)
			note(n, "this model cannot produce it, so it stays 0: %s", e->not_modelled);
	}
}

/* ---- NetBurst ---- */

/* Whether the event is one of the rows of which an ESCR's mask consists, and not a metric that needs several
 * registers. */
static bool detects(const struct spmu_event *e, uint32_t escr, unsigned select)
{
	return e->event == select && (e->escr[0] == escr || e->escr[1] == escr) && !e->replay_enable &&
		strchr(e->name, '.');
}

static int stem(const char *name)
{
	return (int)strcspn(name, ".");
}

static void explain_mask_bit(
	const struct spmu_model *m, uint32_t escr, unsigned select, unsigned bit, struct msr_notes *n)
{
	for (size_t k = 0; k < spmu_model_events(m); k++) {
		const struct spmu_event *e = spmu_model_event(m, k);
		if (!detects(e, escr, select) || e->umask != 1u << bit)
			continue;
		selects(n, e->name);
		note(n, "EVENT MASK bit %u, %s: %s", bit, e->name + stem(e->name) + 1, e->help);
		if (e->flags & SPMU_EVENT_NOT_MODELLED)
			note(n, "this model does not produce it by itself: %s", e->not_modelled);
		return;
	}
	note(n, "EVENT MASK bit %u: nothing of this event", bit);
}

static void explain_escr(const struct spmu_model *m, uint32_t escr, uint64_t value, struct msr_notes *n)
{
	unsigned select = value >> 25 & 63, mask = value >> 9 & 0xffff;
	const struct spmu_event *first = NULL, *whole = NULL;
	struct spmu_msr r;
	char text[100];
	for (size_t k = 0; k < spmu_model_events(m); k++) {
		const struct spmu_event *e = spmu_model_event(m, k);
		if (!detects(e, escr, select))
			continue;
		first = first ? first : e;
		whole = e->umask == mask && mask & (mask - 1) ? e : whole;
	}
	if (!select)
		note(n, "EVENT SELECT is 0: no event; its counters stand still");
	else if (!first)
		note(n, "EVENT SELECT %02XH: not an event of this unit, counts nothing", select);
	if (first) {
		note(n, "detects %.*s", stem(first->name), first->name);
		for (unsigned bit = 0; bit < 16; bit++)
			if (mask >> bit & 1)
				explain_mask_bit(m, escr, select, bit, n);
		if (whole) {
			selects(n, whole->name);
			note(n, "these bits together: %s", whole->help);
		}
		if (!mask)
			note(n, "EVENT MASK is 0: counts nothing");
	}
	if (select && !(value & 15))
		note(n, "no thread's OS or USR bit is set: counts nothing");
	for (unsigned s = 0; s < 8; s++) {
		uint64_t counters = 0;
		for (unsigned c = 0; c < COUNTERS; c++)
			if (spmu_netburst_escr(m, c, s) == escr)
				counters |= UINT64_C(1) << c;
		if (!counters)
			continue;
		note(n, "seen by counters %s with ESCR SELECT %u", numbers(counters, text, sizeof text), s);
		for (unsigned c = 0; c < COUNTERS; c++)
			if (counters >> c & 1)
				note(n, "  counter %u: %s, configured by %XH", c, msr_name(m, MSR_BPU_COUNTER0 + c, &r),
					MSR_BPU_CCCR0 + c);
	}
}

static void explain_cccr(const struct spmu_model *m, unsigned counter, uint64_t value, struct msr_notes *n)
{
	unsigned select = value >> 13 & 7, threshold = value >> 20 & 15,
		 partner = counter < 16 ? counter ^ 2 : counter - 2;
	uint32_t escr = spmu_netburst_escr(m, counter, select);
	struct spmu_msr r, c;
	char known[200] = "";
	const char *name = msr_name(m, MSR_BPU_COUNTER0 + counter, &c);
	if (!escr) {
		note(n, "counter %u, %s: no ESCR has number %u there, counts nothing", counter, name, select);
	} else {
		size_t used = 0;
		note(n, "counter %u, %s, sees %s (%XH)", counter, name, msr_name(m, escr, &r), escr);
		for (size_t k = 0; k < spmu_model_events(m); k++) {
			const struct spmu_event *e = spmu_model_event(m, k);
			char one[64];
			snprintf(one, sizeof one, "%.*s (%02XH)", stem(e->name), e->name, e->event);
			if (e->escr_select == select && detects(e, escr, e->event) && !strstr(known, one) &&
				used < sizeof known - 70)
				used += (size_t)snprintf(
					known + used, sizeof known - used, "%s%s", used ? ", " : "", one);
		}
		note(n, "that ESCR's event says what is counted: %s",
			*known ? known : "no event of the table is detected there");
	}
	if (value & SPMU_CCCR_COMPARE)
		note(n, "counts clocks with %s %u events, one each%s",
			value & SPMU_CCCR_COMPLEMENT ? "at most" : "more than", threshold,
			value & SPMU_CCCR_EDGE ? ", and of those the first of each run" : "");
	else if (value & (SPMU_CCCR_COMPLEMENT | SPMU_CCCR_THRESHOLD(15) | SPMU_CCCR_EDGE))
		note(n, "COMPARE is clear: COMPLEMENT, THRESHOLD and EDGE do nothing");
	if (value & SPMU_CCCR_CASCADE)
		note(n, "CASCADE: starts when counter %u, %s, overflows", partner,
			msr_name(m, MSR_BPU_COUNTER0 + partner, &r));
	if (value & SPMU_CCCR_EXTENDED_CASCADE && counter >= 12)
		note(n, "EXTENDED CASCADE: starts when counter %u overflows", counter == 12 || counter == 17 ? 16 : 17);
	if (value & (SPMU_CCCR_OVF_PMI_T0 | SPMU_CCCR_OVF_PMI_T1))
		note(n, "PMI at the event after the overflow: preset to -(N - 1) for the N-th event");
	if (!(value & (SPMU_CCCR_ENABLE | SPMU_CCCR_CASCADE | SPMU_CCCR_EXTENDED_CASCADE))) {
		note(n, "ENABLE is clear: the counter stands still");
		return;
	}
	switch (value >> 16 & 3) {
	case 0:
		note(n, "ACTIVE THREAD is 0: counts only while no hardware thread is active, so nothing that a program "
			"does; 3 counts at any time, and is what processors with one thread need");
		break;
	case 1:
		note(n, "ACTIVE THREAD is 1: counts only while one hardware thread is active and the other is not");
		break;
	case 2:
		note(n, "ACTIVE THREAD is 2: counts only while both hardware threads are active, so nothing where one "
			"thread runs alone");
		break;
	}
}

/* What MSR_THREADS of this counter says about each thread. */
static void explain_threads(unsigned counter, uint64_t value, struct msr_notes *n)
{
	char text[120] = "";
	size_t used = 0;
	note(n, "softpmu's own register, for more than two hardware threads (--smt); no processor has it");
	if (!(value & 0xffff))
		note(n, "counter %u counts the threads that its ESCR says", counter);
	for (unsigned t = 0; t < 8; t++)
		if (value >> 2 * t & 3)
			used += (size_t)snprintf(text + used, sizeof text - used, "%sT%u%s", used ? ", " : "", t,
				(value >> 2 * t & 3) == 3 ? "" : value >> 2 * t & 1 ? " user" : " kernel");
	if (used)
		note(n, "counter %u counts %s", counter, text);
	used = 0;
	for (unsigned k = 0; k < 9; k++)
		if (value >> (24 + k) & 1)
			used += (size_t)snprintf(text + used, sizeof text - used, "%s%u", used ? " or " : "", k);
	if (used)
		note(n, "counts while %s thread%s run%s", text, !strcmp(text, "1") ? "" : "s",
			!strcmp(text, "1") ? "s" : "");
	for (unsigned t = 0; t < 8; t++)
		if (value >> (16 + t) & 1)
			note(n, "an overflow interrupts T%u", t);
	if (value & SPMU_THREADS_PEBS)
		note(n, "PEBS records go into the DS area of T%u", (unsigned)(value >> 41 & 7));
}

static void explain_replay(const struct spmu_model *m, uint64_t value, struct msr_notes *n)
{
	const uint32_t metric = 0x18fff | SPMU_PEBS_UOP_TAG;
	for (size_t k = 0; k < spmu_model_events(m); k++) {
		const struct spmu_event *e = spmu_model_event(m, k);
		if (!e->replay_enable || ((e->replay_enable ^ value) & metric))
			continue;
		selects(n, e->name);
		note(n, "for %s, with MSR_PEBS_MATRIX_VERT %XH", e->name, e->replay_matrix);
	}
}

void msr_explain(const struct spmu_model *m, const struct spmu_msr *r, uint64_t value, struct msr_notes *out)
{
	out->lines = out->events = 0;
	if (r->apic)
		return;
	switch (spmu_model_family(m)) {
	case SPMU_FAMILY_P5:
		if (r->address == MSR_P5_CESR)
			explain_cesr(m, value, out);
		break;
	case SPMU_FAMILY_NETBURST:
		if (r->address - MSR_BPU_CCCR0 < COUNTERS)
			explain_cccr(m, r->address - MSR_BPU_CCCR0, value, out);
		else if (r->address >= MSR_BSU_ESCR0 && r->address <= MSR_CRU_ESCR5)
			explain_escr(m, r->address, value, out);
		else if (r->address == MSR_PEBS_ENABLE)
			explain_replay(m, value, out);
		else if (r->address - MSR_THREADS_0 < COUNTERS)
			explain_threads(r->address - MSR_THREADS_0, value, out);
		break;
	case SPMU_FAMILY_P6:
	case SPMU_FAMILY_ARCH:
		if (r->address - MSR_IA32_PERFEVTSEL0 < spmu_model_gp_counters(m))
			explain_evtsel(m, r->address - MSR_IA32_PERFEVTSEL0, value, out);
		else if (r->address == MSR_IA32_FIXED_CTR_CTRL)
			explain_fixed(m, value, out);
		break;
	}
}

/* ---- asking a PMU ---- */

bool msr_reset_value(const struct spmu *p, const struct spmu_msr *r, uint64_t *value)
{
	uint32_t word = 0;
	if (!r->apic)
		return spmu_rdmsr(p, r->address, value) == SPMU_OK;
	int status = spmu_apic_read(p, r->address, &word);
	*value = word;
	return status == SPMU_OK;
}

/* Writes to a new PMU. Returns the status; *reads: what is read back. */
static int write_new(const struct spmu_model *m, const struct spmu_host *host, const struct spmu_msr *r, uint64_t value,
	uint64_t *reads)
{
	struct spmu *p = NULL;
	int status = spmu_create(&p, m, host);
	if (status)
		return status;
	if (r->apic)
		status = value > UINT32_MAX ? SPMU_GP : spmu_apic_write(p, r->address, (uint32_t)value);
	else
		status = spmu_wrmsr(p, r->address, value);
	if (!status && !msr_reset_value(p, r, reads))
		*reads = 0;
	spmu_destroy(p);
	return status;
}

int msr_try(const struct spmu_model *m, const struct spmu_host *host, const struct spmu_msr *r, uint64_t value,
	struct msr_outcome *out)
{
	struct spmu *p = NULL;
	uint64_t reset = 0, ignored;
	*out = (struct msr_outcome){ .write = MSR_TAKEN };
	int status = spmu_create(&p, m, host);
	if (status)
		return status;
	bool there = msr_reset_value(p, r, &reset);
	spmu_destroy(p);
	status = write_new(m, host, r, value, &out->reads);
	if (status == SPMU_OK || status == SPMU_ENOMEM)
		return status;
	out->write = !there || status == SPMU_ENOMSR ? MSR_ABSENT : write_new(m, host, r, reset, &ignored) == SPMU_GP &&
		write_new(m, host, r, 0, &ignored) == SPMU_GP ? MSR_READ_ONLY : MSR_FAULTS;
	for (unsigned bit = 0; bit < 64 && out->write == MSR_FAULTS; bit++)
		if (value >> bit & 1 && write_new(m, host, r, UINT64_C(1) << bit, &ignored) == SPMU_GP)
			out->bits |= UINT64_C(1) << bit;
	return SPMU_OK;
}
