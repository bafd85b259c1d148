/* SPDX-License-Identifier: GPL-2.0-or-later
 * softpmu msr: lists the registers of a PMU; prints one of them, or a value in it, field by field; and prints the
 * writes that set up an event.
 *
 * Names and fields: src/pmu/families/msr_names.c.  A modelled PMU says which registers there are, their values
 * after reset, and what a WRMSR does with a value.  The writes are those of the driver that sessions use
 * (src/session/driver/driver.h); they are executed on a PMU before they are printed.
 */
#include "cli/cli.h"
#include "cli/describe/features_print.h"
#include "cli/describe/msr_explain.h"
#include "session/driver/driver.h"
#include "session/session.h"
#include "util/json.h"
#include "util/near.h"
#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

extern const struct cli_command cmd_msr;

enum { REGISTERS = 512, PMUS = 16 };

/* A host with memory for a DS area, which is never read or written. */
static int no_read(void *context, uint64_t address, void *to, size_t bytes)
{
	(void)context, (void)address, (void)to, (void)bytes;
	return 1;
}
static int no_write(void *context, uint64_t address, const void *from, size_t bytes)
{
	(void)context, (void)address, (void)from, (void)bytes;
	return 1;
}
static struct spmu_host host = { .read_memory = no_read,
	.write_memory = no_write };	/* show() adds the core's widths */

static void json_pair(const char *key, const char *text, const char *end)
{
	printf("\"%s\": ", key);
	json_string(stdout, text);
	fputs(end, stdout);
}

/* ---- the list ------------------------------------------------------------------------------------------------- */

/* If a and b are the same but for one number: that number's digits in b; else NULL. */
static const char *numbered_alike(const char *a, const char *b)
{
	size_t i = 0, k, n;
	while (a[i] && a[i] == b[i])
		i++;
	while (i && isdigit((unsigned char)a[i - 1]))
		i--;
	k = strspn(a + i, "0123456789");
	n = strspn(b + i, "0123456789");
	return k && n && !strcmp(a + i + k, b + i + n) ? b + i : NULL;
}

static void address_text(char *text, size_t bytes, const struct spmu_msr *r)
{
	snprintf(text, bytes, "%s%XH", r->apic ? "APIC " : "", r->address);
}

static int list(const struct core_config *core, const struct spmu_model *m, const struct spmu *p, bool json)
{
	static struct spmu_msr r[REGISTERS];
	size_t n = spmu_msr_list(m, r, REGISTERS);
	bool absent = false;
	if (n > REGISTERS)
		n = REGISTERS;
	if (json)
		printf("{\"core\": \"%s\", \"pmu\": \"%s\", \"registers\": [", core->name, core->pmu);
	else
		printf("%s: registers of its PMU, %s\n\n  %-13s %-34s %-13s %s\n", core->name, core->pmu, "address",
			"name", "after reset", "what it is");
	for (size_t i = 0, next; i < n; i = next) {
		uint64_t v = 0, w;
		char address[40], name[100], value[24];
		bool there = msr_reset_value(p, &r[i], &v);
		absent |= !there;
		const char *last = NULL, *digits;
		for (next = i + 1; next < n && !json && r[next].address == r[next - 1].address + 1 &&
			(digits = numbered_alike(r[i].name, r[next].name));
			next++) {
			if (msr_reset_value(p, &r[next], &w) != there || (there && w != v))
				break;
			last = digits;
		}
		if (json) {
			printf("%s\n{\"space\": \"%s\", \"address\": %u, ", i ? "," : "", r[i].apic ? "apic" : "msr",
				r[i].address);
			json_pair("name", r[i].name, ", ");
			printf("\"present\": %s, ", there ? "true" : "false");
			if (there)
				printf("\"reset\": %" PRIu64 ", ", v);
			json_pair("help", r[i].help, "}");
			continue;
		}
		address_text(address, sizeof address, &r[i]);
		if (last)
			snprintf(address, sizeof address, "%XH-%XH", r[i].address, r[next - 1].address);
		snprintf(name, sizeof name, "%s%s%.*s", r[i].name, last ? " to " : "",
			last ? (int)strspn(last, "0123456789") : 0, last ? last : "");
		snprintf(value, sizeof value, there ? "%" PRIX64 "H" : "absent", v);
		printf("  %-13s %-34s %-13s %s\n", address, name, value, r[i].help);
	}
	features_print_registers(core, json);
	if (json)
		puts("\n]}");
	else
		printf("\n%sOne of them: softpmu msr NAME [VALUE]\n",
			!absent ? ""
				: spmu_model_family(m) == SPMU_FAMILY_NETBURST
				? "absent: comes with spmu_host.siblings above 2.  "
				: "absent: comes with spmu_host.pebs_reload_msrs.  ");
	return 0;
}

/* ---- one register --------------------------------------------------------------------------------------------- */

static void range_text(char *text, size_t bytes, unsigned high, unsigned low)
{
	snprintf(text, bytes, high == low ? "[%u]" : "[%u:%u]", high, low);
}

/* The length of the longest name, at least 18. */
static int name_width(const struct spmu_field *f, size_t n)
{
	size_t width = 18;
	for (size_t i = 0; i < n; i++)
		width = strlen(f[i].name) > width ? strlen(f[i].name) : width;
	return (int)width;
}

static void print_values(const struct spmu_field *f)
{
	for (size_t i = 0; i < f->values; i++)
		printf("             %*s%" PRIX64 "H  %s\n", f->value[i].value > 15 ? 0 : 1, "", f->value[i].value,
			f->value[i].meaning);
}

/* For bits high down to low, which have no name: says which are ignored and which fault when set. */
static int print_reserved(const struct spmu_model *m, const struct spmu_msr *r, unsigned high, unsigned low)
{
	char range[16];
	struct msr_outcome o;
	int status = SPMU_OK;
	for (int bit = (int)high; bit >= (int)low && !status;) {
		status = msr_try(m, &host, r, UINT64_C(1) << bit, &o);
		int from = bit, write = o.write;
		while (!status && --bit >= (int)low && !(status = msr_try(m, &host, r, UINT64_C(1) << bit, &o)) &&
			(int)o.write == write)
			;
		range_text(range, sizeof range, (unsigned)from, (unsigned)bit + 1);
		printf("  %-9s  reserved: %s\n", range, write == MSR_TAKEN ? "ignored" : "#GP when set");
	}
	return status;
}

static int layout(const struct spmu_model *m, const struct spmu *p, const struct spmu_msr *r, bool json)
{
	struct spmu_field f[SPMU_FIELDS_MAX];
	size_t n = spmu_msr_fields(m, r, f);
	uint64_t reset = 0;
	char text[40];
	struct msr_outcome o;
	bool there = msr_reset_value(p, r, &reset);
	int status = msr_try(m, &host, r, reset, &o);
	address_text(text, sizeof text, r);
	if (json) {
		printf("{\"space\": \"%s\", \"address\": %u, ", r->apic ? "apic" : "msr", r->address);
		json_pair("name", r->name, ", ");
		json_pair("help", r->help, ", ");
		printf("\"present\": %s, \"reset\": %" PRIu64 ", \"fields\": [", there ? "true" : "false", reset);
	} else {
		printf("%s  %s  %s\nafter reset %" PRIX64 "H%s\n\n", r->name, text, r->help, reset,
			!there                             ? "; absent with this host"
				: o.write == MSR_READ_ONLY ? "; read-only: a WRMSR raises #GP"
							   : "");
	}
	int next = r->apic ? 31 : 63;
	for (size_t i = 0; i < n && !status; i++) {
		if (json) {
			printf("%s{\"high\": %u, \"low\": %u, ", i ? ", " : "", f[i].high, f[i].low);
			json_pair("name", f[i].name, ", ");
			json_pair("help", f[i].help, ", \"values\": {");
			for (size_t k = 0; k < f[i].values; k++) {
				printf("%s\"%" PRIu64 "\": ", k ? ", " : "", f[i].value[k].value);
				json_string(stdout, f[i].value[k].meaning);
			}
			fputs("}}", stdout);
			continue;
		}
		if (next > f[i].high && o.write == MSR_TAKEN)
			status = print_reserved(m, r, (unsigned)next, f[i].high + 1u);
		range_text(text, sizeof text, f[i].high, f[i].low);
		printf("  %-9s  %-*s  %s\n", text, name_width(f, n), f[i].name, f[i].help);
		print_values(&f[i]);
		next = f[i].low - 1;
	}
	if (json)
		puts("]}");
	else if (next >= 0 && o.write == MSR_TAKEN && !status)
		status = print_reserved(m, r, (unsigned)next, 0);
	return status;
}

/* The bits of a set, the highest first: "63-33, 15". */
static void bits_text(uint64_t set, char *text, size_t bytes)
{
	size_t used = 0;
	*text = 0;
	for (int high = 63; high >= 0 && used + 8 < bytes; high--) {
		int low = high;
		if (!(set >> high & 1))
			continue;
		while (low > 0 && set >> (low - 1) & 1)
			low--;
		used += (size_t)snprintf(text + used, bytes - used, low < high ? "%s%d-%d" : "%s%d", used ? ", " : "",
			high, low);
		high = low;
	}
}

static void print_outcome(const struct msr_outcome *o, const struct spmu_msr *r, uint64_t value)
{
	const char *how = r->apic ? "written" : "WRMSR";
	char bits[256];
	bits_text(o->bits, bits, sizeof bits);
	if (o->write == MSR_ABSENT)
		printf("%s: #GP(0), there is no such register with this host\n", how);
	else if (o->write == MSR_READ_ONLY)
		printf("%s: #GP(0), the register is read-only\n", how);
	else if (o->write == MSR_FAULTS && o->bits)
		printf("%s: #GP(0), reserved: bit%s %s\n", how, o->bits & (o->bits - 1) ? "s" : "", bits);
	else if (o->write == MSR_FAULTS)
		printf("%s: #GP(0), for this combination of bits\n", how);
	else if (o->reads != value)
		printf("%s: accepted; reads back as %" PRIX64 "H\n", how, o->reads);
	else
		printf("%s: accepted\n", how);
}

static int explain(const struct spmu_model *m, const struct spmu_msr *r, uint64_t value, bool json)
{
	static const char *const outcomes[] = { "taken", "#GP", "read-only", "absent" };
	static struct msr_notes notes;
	struct spmu_field f[SPMU_FIELDS_MAX];
	struct msr_outcome o;
	size_t n = spmu_msr_fields(m, r, f);
	char text[40];
	int status = msr_try(m, &host, r, value, &o);
	if (status)
		return status;
	msr_explain(m, r, value & ~o.bits, &notes);	/* a bit that faults does nothing */
	address_text(text, sizeof text, r);
	if (json) {
		printf("{\"space\": \"%s\", \"address\": %u, ", r->apic ? "apic" : "msr", r->address);
		json_pair("name", r->name, ", ");
		printf("\"value\": %" PRIu64 ", \"write\": \"%s\", \"reserved\": %" PRIu64 ", \"reads\": %" PRIu64
		       ", \"fields\": [",
			value, outcomes[o.write], o.bits, o.reads);
	} else {
		printf("%s  %s  =  %0*" PRIX64 "H\n\n", r->name, text, value >> 32 ? 16 : 8, value);
	}
	for (size_t i = 0; i < n; i++) {
		unsigned width = f[i].high - f[i].low + 1u;
		uint64_t v = value >> f[i].low & (width == 64 ? UINT64_MAX : (UINT64_C(1) << width) - 1);
		const char *meaning = spmu_field_meaning(&f[i], v);
		char number[24];
		if (json) {
			printf("%s{\"high\": %u, \"low\": %u, ", i ? ", " : "", f[i].high, f[i].low);
			json_pair("name", f[i].name, ", ");
			printf("\"value\": %" PRIu64 ", ", v);
			json_pair("meaning", meaning ? meaning : f[i].help, "}");
			continue;
		}
		range_text(text, sizeof text, f[i].high, f[i].low);
		snprintf(number, sizeof number, width > 3 ? "%" PRIX64 "H" : "%" PRIu64, v);
		printf("  %-9s  %-*s  %-8s  %s%s%s\n", text, name_width(f, n), f[i].name, number, f[i].help,
			meaning ? ": " : "", meaning ? meaning : "");
	}
	if (json) {
		fputs("], \"events\": [", stdout);
		for (size_t i = 0; i < notes.events; i++) {
			fputs(i ? ", " : "", stdout);
			json_string(stdout, notes.event[i]);
		}
		fputs("], \"notes\": [", stdout);
		for (size_t i = 0; i < notes.lines; i++) {
			fputs(i ? ", " : "", stdout);
			json_string(stdout, notes.line[i]);
		}
		puts("]}");
		return SPMU_OK;
	}
	putchar('\n');
	for (size_t i = 0; i < notes.lines; i++)
		printf("%s\n", notes.line[i]);
	print_outcome(&o, r, value);
	return SPMU_OK;
}

/* ---- events --------------------------------------------------------------------------------------------------- */

static const char *const counts[SPMU_PUSHOUT_UNITS] = { "PUSHOUT0_COUNT", "PUSHOUT1_COUNT", "PUSHOUT2_COUNT",
	"PUSHOUT3_COUNT" };
struct request { const char *events; uint64_t period, ds_area; bool kernel, json; };

/* Prints what steps 1 to 3 and 6 of NetBurst's procedure chose; these steps write no register. */
static void print_choices(const struct spmu_model *m, const struct driver_event *e)
{
	struct spmu_msr escr, cccr, counter;
	if (!spmu_msr_at(m, e->escr, &escr) || !spmu_msr_at(m, MSR_BPU_CCCR0 + (uint32_t)e->counter, &cccr) ||
	    !spmu_msr_at(m, MSR_BPU_COUNTER0 + (uint32_t)e->counter, &counter))
		return;
	printf("  step 1  event: %s, EVENT SELECT %02XH, EVENT MASK %04XH\n", e->event->name, e->event->event,
		e->event->umask);
	printf("  step 2  ESCR: %s (%XH)", escr.name, e->escr);
	if (e->up_escr && spmu_msr_at(m, e->up_escr, &escr))
		printf("; %s (%XH) tags for it: %s", escr.name, e->up_escr, e->event->upstream);
	printf("\n  step 3  CCCR and counter: %s (%XH) and %s (%XH), number %d\n", cccr.name, cccr.address,
		counter.name, counter.address, e->counter);
	printf("  step 6  cascade: none, the counter starts by itself\n");
}

/* A driver's reason begins with the step: of "7: interrupt ...", step becomes "7", and the rest is returned. */
static const char *step_of(const char *why, char *step, size_t bytes)
{
	const char *colon = strstr(why, ": ");
	*step = 0;
	if (!colon || colon - why > 12 || (!isdigit((unsigned char)*why) && strncmp(why, "PEBS ", 5)))
		return why;
	if (!strncmp(why, "1 to ", 5))	/* print_choices has printed the choices */
		why += 5;
	snprintf(step, bytes, "%.*s", (int)(colon - why), why);
	return colon + 2;
}

static void print_writes(const struct driver_writes *w, bool netburst, bool json)
{
	for (size_t i = 0; i < w->count; i++) {
		const struct driver_write *one = &w->write[i];
		char step[16], address[24];
		const char *why = step_of(one->why, step, sizeof step);
		struct spmu_msr r = { .address = one->msr, .apic = one->apic };
		address_text(address, sizeof address, &r);
		if (json) {
			printf("%s\n  {\"space\": \"%s\", \"address\": %u, ", i ? "," : "", one->apic ? "apic" : "msr",
				one->msr);
			json_pair("name", one->name, ", ");
			printf("\"value\": %" PRIu64 ", ", one->value);
			json_pair("step", step, ", ");
			json_pair("why", why, "}");
			continue;
		}
		char value[24];
		snprintf(value, sizeof value, "%0*" PRIX64 "H", one->value >> 32 ? 16 : 8, one->value);
		if (netburst)
			printf("  %-11s", step);
		printf("  %-9s %-28s %18s  %s\n", address, one->name, value, why);
	}
}

/* Executes the writes on a PMU, which refuses what the manuals forbid, unless making them failed (rc).  0, or an
 * err_code after one printed line. */
static int carry_out(const struct spmu_model *m, struct driver_writes *w, int rc, struct err *err)
{
	struct spmu *p = NULL;
	if (!rc && spmu_create(&p, m, &host))
		rc = err_set(err, ERR_NOMEM, "out of memory");
	if (!rc)
		rc = driver_execute(p, w, err);
	spmu_destroy(p);
	if (rc)
		cli_error("%s", err->text);
	return rc;
}

/* Prints one group of events that fit on a PMU together.  0, or an err_code after one printed line. */
static int print_copy(const struct spmu_model *m, const struct request *q, const struct session_events *events,
	const struct driver_event *job, size_t n, unsigned pmu, unsigned pmus, const uint64_t *period)
{
	static struct driver_writes w;
	struct err err = { 0 };
	bool netburst = spmu_model_family(m) == SPMU_FAMILY_NETBURST;
	w.count = 0;
	int rc = driver_program(m, job, n, pmu, period, &w, &err);
	if ((rc = carry_out(m, &w, rc, &err)))
		return rc;
	if (q->json)
		printf("%s\n{\"pmu\": %u, \"events\": [", pmu ? "," : "", pmu);
	else if (pmus > 1)
		printf("%sgroup %u of %u: not together with the others on one PMU\n\n", pmu ? "\n" : "", pmu + 1, pmus);
	for (size_t i = 0, k = 0; i < n; i++) {
		const struct driver_event *e = &job[i];
		struct spmu_msr r;
		const char *unused;
		if (e->pmu != pmu)
			continue;
		spmu_msr_at(m, driver_for(m)->counter_msr(m, e, &unused), &r);
		if (q->json) {
			fputs(k++ ? ", {" : "{", stdout);
			json_pair("name", events->event[i].spelled, ", ");
			json_pair("event", e->event->name, ", ");
			json_pair("counter", r.name, ", ");
			printf("\"rdpmc\": %u, \"modelled\": %s", driver_for(m)->rdpmc(m, e),
				e->event->flags & SPMU_EVENT_NOT_MODELLED ? "false" : "true");
			if (netburst)
				printf(", \"event_select\": %u, \"event_mask\": %u, \"escr_select\": %u, \"escr\": %u, "
				       "\"cccr\": %u, \"tagging_escr\": %u",
					e->event->event, e->event->umask, e->event->escr_select, e->escr,
					MSR_BPU_CCCR0 + (unsigned)e->counter, e->up_escr);
			putchar('}');
			continue;
		}
		printf("%s: %s, read from %s (RDPMC %XH)", events->event[i].spelled, e->event->name, r.name,
			driver_for(m)->rdpmc(m, e));
		if (e->event->flags & SPMU_EVENT_METRIC)
			printf(" times bits %u:%u of MSR_PERF_METRICS (RDPMC 20000000H), over 255",
				8 * (e->event->umask & 7u) + 7, 8 * (e->event->umask & 7u));
		putchar('\n');
		if (e->event->flags & SPMU_EVENT_NOT_MODELLED)
			printf("  not modelled, so it stays 0 here: %s\n", e->event->not_modelled);
		if (netburst)
			print_choices(m, e);
	}
	if (q->json) {
		fputs("], \"writes\": [", stdout);
		print_writes(&w, netburst, true);
		fputs("]}", stdout);
		return 0;
	}
	printf("\n%s  %-9s %-28s %18s  %s\n", netburst ? "  step       " : "", "address", "register", "value", "why");
	print_writes(&w, netburst, false);
	for (size_t i = 0; i < n && netburst; i++)
		if (job[i].pmu == pmu && job[i].precise) {
			puts("  PEBS 4: the event is set up by steps 1 to 5");
			break;
		}
	return 0;
}

/* Prints the pushout events, from event `from` on.  Each copy of the PMU has four such counters beside the others. */
static int print_pushouts(const struct spmu_model *m, const struct request *q, const struct session_events *events,
	size_t from, bool first)
{
	static struct driver_writes w;
	struct err err = { 0 };
	for (size_t k = from; k < events->count; k += SPMU_PUSHOUT_UNITS) {
		int rc = 0;
		bool interrupts = false;
		const size_t n = events->count - k < SPMU_PUSHOUT_UNITS ? events->count - k : SPMU_PUSHOUT_UNITS;
		w.count = 0;
		for (unsigned i = 0; i < n && !rc; i++) {
			const uint64_t period = events->event[k + i].period ? events->event[k + i].period : q->period;
			interrupts |= period;
			rc = driver_write(&w, &err, counts[i], MSR_PUSHOUT(i, COUNT),
				-period & ((UINT64_C(1) << 48) - 1), period ? "overflows at pushout %llu" : "from 0",
				(unsigned long long)period);
			if (!rc)
				rc = pushout_setup(&events->event[k + i].pushout, i, period, &w, &err);
		}
		if (!rc && interrupts && !driver_for(m)->interrupts)
			rc = err_set(&err, ERR_UNSUPPORTED,
				"'%s': this PMU has no interrupt: its pushouts can be counted, not sampled",
				events->event[k].spelled);
		if (!rc && interrupts) {
			rc = driver_write(&w, &err, "LVT_PC", SPMU_APIC_LVT_PC, 0x400,
				"local APIC: a PMI is an NMI, and not masked");
			w.write[w.count - 1].apic = true;
		}
		if ((rc = carry_out(m, &w, rc, &err)))
			return rc;
		if (q->json)
			printf("%s\n{\"pmu\": %zu, \"events\": [", first ? "" : ",", (k - from) / SPMU_PUSHOUT_UNITS);
		else
			printf("%spushout counters, which this model adds to every PMU\n\n", first ? "" : "\n");
		first = false;
		for (unsigned i = 0; i < n; i++) {
			if (!q->json) {
				printf("%s: read from %s\n", events->event[k + i].spelled, counts[i]);
				continue;
			}
			fputs(i ? ", {" : "{", stdout);
			json_pair("name", events->event[k + i].spelled, ", ");
			json_pair("event", "pushout", ", ");
			json_pair("counter", counts[i], "}");
		}
		if (q->json)
			fputs("], \"writes\": [", stdout);
		else
			printf("\n  %-9s %-28s %18s  %s\n", "address", "register", "value", "why");
		print_writes(&w, false, q->json);
		if (q->json)
			fputs("]}", stdout);
	}
	return 0;
}

/* Moves pushout events behind the others, in order; returns how many others there are. */
static size_t pushouts_last(struct session_events *events)
{
	size_t others = 0;
	for (size_t i = 0; i < events->count; i++) {
		const struct session_event e = events->event[i];
		if (e.source == SESSION_PUSHOUT)
			continue;
		memmove(&events->event[others + 1], &events->event[others], (i - others) * sizeof e);
		events->event[others++] = e;
	}
	return others;
}

static int program(const struct core_config *core, const struct spmu_model *m, const struct request *q)
{
	struct session_events events = { 0 };
	struct err err = { 0 };
	const struct driver *d = driver_for(m);
	struct driver_event *job = NULL;
	uint64_t *period = NULL;
	unsigned pmus = 0;
	size_t which = 0, n = 0;
	const struct session_parse_options how = { .model = m, .core = core, .purpose = SESSION_FOR_REGISTERS };
	int rc = session_parse(&events, &how, q->events, &err);
	if (!rc) {
		job = calloc(events.count + 1, sizeof *job);
		period = calloc(events.count + 1, sizeof *period);
		rc = job && period ? 0 : err_set(&err, ERR_NOMEM, "out of memory");
	}
	const size_t others = rc ? 0 : pushouts_last(&events);
	for (; n < others && !rc; n++) {
		const struct session_event *e = &events.event[n];
		if (e->source != SESSION_HARDWARE) {
			rc = err_set(&err, ERR_INPUT, "'%s' is a clock: no register counts it", e->spelled);
			break;
		}
		period[n] = e->period ? e->period : q->period;
		job[n] = (struct driver_event){ .event = e->event,
			.evtsel = e->evtsel,
			.fixed = e->fixed,
			.user = !e->exclude_user,
			.kernel = q->kernel || !e->exclude_kernel,
			.sampled = period[n] != 0,
			.precise = e->precise != 0,
			.ds_area = q->ds_area,
			.extra = e->extra };
		if (e->precise && !period[n])
			rc = err_set(&err, ERR_INPUT, "'%s' makes records every PERIOD events: -c PERIOD says how many",
				e->spelled);
		else if (period[n] && !d->interrupts)
			rc = err_set(&err, ERR_UNSUPPORTED,
				"'%s': the PMU %s has no interrupt: its events can be counted, not sampled", e->spelled,
				core->pmu);
		else if (e->precise &&
			(spmu_model_family(m) == SPMU_FAMILY_P6 || spmu_model_family(m) == SPMU_FAMILY_P5))
			rc = err_set(&err, ERR_UNSUPPORTED, "'%s': the PMU %s has no PEBS", e->spelled, core->pmu);
	}
	if (!rc && n)
		rc = d->assign(m, job, n, 0, &pmus, &which, &err);
	if (rc)
		cli_error("%s", err.text);
	if (!rc && q->json)
		printf("{\"core\": \"%s\", \"pmu\": \"%s\", \"groups\": [", core->name, core->pmu);
	for (unsigned k = 0; k < pmus && !rc; k++)
		rc = print_copy(m, q, &events, job, n, k, pmus, period);
	if (!rc)
		rc = print_pushouts(m, q, &events, others, !others);
	if (!rc && q->json)
		puts("\n]}");
	free(job);
	free(period);
	session_events_free(&events);
	return rc == ERR_INPUT ? 2 : rc ? 1 : 0;
}

/* ---- options -------------------------------------------------------------------------------------------------- */

/* Reads a number written as 0x3c000, 3C000H or 245760. */
static bool number(const char *text, uint64_t *out)
{
	char *end;
	size_t digits = strspn(text, "0123456789abcdefABCDEF");
	bool h = digits && (text[digits] == 'h' || text[digits] == 'H') && !text[digits + 1];
	if (!isdigit((unsigned char)*text))
		return false;
	errno = 0;
	*out = strtoull(text, &end, h ? 16 : strncmp(text, "0x", 2) && strncmp(text, "0X", 2) ? 10 : 16);
	return !errno && end != text && (h ? end == text + digits : !*end);
}

static const char *bare(const char *name)
{
	name += !strncasecmp(name, "MSR_", 4) ? 4 : 0;
	return name + (!strncasecmp(name, "IA32_", 5) ? 5 : 0);
}

static int unknown(const struct core_config *core, const struct spmu_model *m, const char *name)
{
	static struct spmu_msr r[REGISTERS];
	struct near near;
	char text[256];
	size_t n = spmu_msr_list(m, r, REGISTERS);
	bool prefixed = bare(name) != name;
	near_start(&near, name);
	for (size_t i = 0; i < n && i < REGISTERS; i++) {
		const char *offer = prefixed ? r[i].name : bare(r[i].name);
		near_offer(&near, offer, strlen(offer));
	}
	near_text(&near, "; nearest: ", text, sizeof text);
	cli_error("the PMU %s has no register '%s'%s (softpmu msr --pmu %s)", core->pmu, name, text, core->pmu);
	return 2;
}

static int show(const struct cli_run *r, const struct spmu_model *m, const struct request *q, const char *const *word,
	unsigned words)
{
	struct spmu_msr msr;
	struct spmu *p = NULL;
	uint64_t value = 0;
	const struct pushout_widths widths = session_pushout_widths(&r->core);
	for (unsigned k = 0; k < PUSHOUT_POINTS; k++)
		host.pushout_width[k] = (uint8_t)widths.at[k];
	if (q->events)
		return program(&r->core, m, q);
	struct core_features registers;
	uint32_t address = 0;
	const char *name = NULL;
	core_features_init(&registers, &r->core);
	if (words && !spmu_msr_find(m, word[0], &msr) && (!(name = core_features_register_find(word[0], &address)) ||
	    core_features_read(&registers, address, &value) != FEATURE_OK))
		return unknown(&r->core, m, word[0]);
	if (words == 2 && !number(word[1], &value)) {
		cli_error("'%s' is not a value: 0x3c000, 3C000H or 245760", word[1]);
		return 2;
	}
	if (name && words == 2)
		features_print_value(&r->core, name, address, value, q->json);
	else if (name)
		features_print_layout(&r->core, name, address, q->json);
	if (name)
		return 0;
	/* several hardware threads have no pushout counters, so only a question about their registers has them */
	if (words && msr.address - MSR_THREADS_CAPABILITIES <= MSR_THREADS(17) - MSR_THREADS_CAPABILITIES) {
		host.siblings = 8;
		memset(host.pushout_width, 0, sizeof host.pushout_width);
	}
	int status = spmu_create(&p, m, &host);
	if (!status)
		status = !words      ? list(&r->core, m, p, q->json)
			: words == 1 ? layout(m, p, &msr, q->json)
				     : explain(m, &msr, value, q->json);
	spmu_destroy(p);
	if (status)
		cli_error("out of memory");
	return status ? 1 : 0;
}

struct asked {
	struct cli_run run;
	struct request q;
	const char *word[2];
	unsigned words;
};

static int set_period(void *target, const struct option *option, const char *value, struct err *err)
{
	struct asked *o = target;
	(void)option;
	if (number(value, &o->q.period) && o->q.period)
		return 0;
	return err_set(err, ERR_INPUT, "option -c: '%s' is not a period: a number from 1", value);
}

static int set_ds_area(void *target, const struct option *option, const char *value, struct err *err)
{
	(void)option;
	return number(value, &((struct asked *)target)->q.ds_area)
		? 0
		: err_set(err, ERR_INPUT, "option --ds-area: '%s' is not an address", value);
}

static const struct option options[] = {
	OPT_TEXT('e', "event", "EVENT,...", struct asked, q.events, "Print the register writes that set up these "
		"events. They are written as for softpmu stat; here they may also have :k (ring 0), :u and :p (PEBS), "
		"and need not be modelled."),
	OPT_CALL('c', "count", "PERIOD", set_period, "Set the events up for sampling: an interrupt (or, with :p, a "
		"PEBS record) every PERIOD events."),
	OPT_FLAG('k', "kernel", struct asked, q.kernel, "Count in ring 0, too."),
	OPT_CALL(0, "ds-area", "ADDRESS", set_ds_area, "With :p, the DS area lies at ADDRESS. Default: 0x1000."),
	CLI_OPTION_CORE(struct asked, run.),
	CLI_OPTION_PMU(struct asked, run.),
	OPT_FLAG('j', "json", struct asked, q.json, "Print JSON."),
	OPT_END
};

static int take_word(void *target, const char *word, struct err *err)
{
	struct asked *o = target;
	if (o->words == 2)
		return err_set(err, ERR_INPUT, "'%s' is one word too many (softpmu msr --help)", word);
	o->word[o->words++] = word;
	return 0;
}

static int run(int argc, char **argv)
{
	struct asked o = { .q.ds_area = 0x1000 };
	const struct request *const q = &o.q;
	cli_run_init(&o.run);
	const int go = cli_options_and_words(&cmd_msr, &o, argc, argv, take_word);
	if (go <= 0)
		return go ? 2 : 0;
	if (q->events && o.words) {
		cli_error("either -e EVENT or a register: '%s' is one word too many", o.word[0]);
		return 2;
	}
	if (!q->events && (q->period || q->kernel)) {
		cli_error("options -c and -k belong to -e EVENT");
		return 2;
	}
	if (cli_core(&o.run))
		return 2;
	struct spmu_model *m = cli_model(&o.run.core);
	if (!m)
		return 1;
	int status = show(&o.run, m, q, o.word, o.words);
	spmu_model_free(m);
	return status;
}

const struct cli_command cmd_msr = {
	.name = "msr", .summary = "decode registers of the PMU, or print the register writes that set up an event",
		.options = options, .run = run,
	.usage = "[options]\n[options] REGISTER [VALUE]\n[options] -e EVENT,...",
	.about = "Lists the registers of the PMU; prints the fields of REGISTER, or decodes VALUE in it, field by "
		"field; or, with -e, prints the register writes that set up events, in order. REGISTER is a name, "
		"with or without MSR_ or IA32_, or an address: 0x186, 186H, 390.",
};
