/* SPDX-License-Identifier: GPL-2.0-or-later
 * Prints a report (gate_print.h). */
#include "cli/gate/gate_print.h"
#include "util/json.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

static const char *const verdict_text[] = {
	[GATE_EQUAL] = "equal", [GATE_WITHIN] = "within its limits", [GATE_NEW] = "NOT IN THE BASELINE",
	[GATE_SURROUNDINGS] = "SURROUNDINGS CHANGED", [GATE_FAILED] = "FAILED",
};
static const char *const table_text[GATE_TABLES] = {
	[GATE_CYCLES] = "cycles", [GATE_INSTRUCTIONS] = "instructions" };

static const char *verdict(const struct gate_judged *j)
{
	return j->verdict == GATE_NEW && j->in_baseline ? "EVENTS NOT IN THE BASELINE" : verdict_text[j->verdict];
}

/* "1,234,567", with a sign if one is asked for; text: room for 40 bytes. */
static const char *grouped(char *text, uint64_t n, const char *sign)
{
	char digits[24];
	const int count = snprintf(digits, sizeof digits, "%llu", (unsigned long long)n);
	size_t at = (size_t)snprintf(text, 40, "%s", sign);
	for (int i = 0; i < count; i++) {
		text[at++] = digits[i];
		if (i + 1 < count && (count - 1 - i) % 3 == 0)
			text[at++] = ',';
	}
	text[at] = 0;
	return text;
}

static const char *difference(char *text, uint64_t before, uint64_t now)
{
	return now < before ? grouped(text, before - now, "-") : grouped(text, now - before, now > before ? "+" : "");
}

/* "+1.25 %", to three digits if it is small; "new" if there was nothing before. */
static const char *percent(char text[24], uint64_t before, uint64_t now)
{
	const double p = gate_percent(before, now);
	if (isinf(p))
		snprintf(text, 24, "new");
	else if (p == 0)
		snprintf(text, 24, "0 %%");
	else if (fabs(p) < 0.0005)
		snprintf(text, 24, "%c<0.001 %%", p < 0 ? '-' : '+');
	else
		snprintf(text, 24, fabs(p) < 0.1 ? "%+.3f %%" : "%+.2f %%", p);
	return text;
}

/* "limit 0.1 % exceeded"; "" without limits. */
static const char *limits(char text[160], const struct gate_row *row)
{
	char n[40];
	*text = 0;
	if (row->has_soft && row->known)
		snprintf(text, 160, "limit %+.15g %%%s", row->soft, row->over_soft ? " exceeded" : "");
	if (row->has_hard)
		snprintf(text + strlen(text), 160 - strlen(text), "%slimit %s%s", *text ? ", " : "",
			grouped(n, row->hard, ""), row->over_hard ? " exceeded" : "");
	return text;
}

static bool changed(const struct gate_row *row)
{
	return !row->known || row->now != row->before || row->over_hard;
}

/* "12ab34cd", the start of an id, which is enough to tell two apart for people; text: room for 32 bytes. */
static const char *brief(char *text, const char *id)
{
	const char *hex = id ? strchr(id, ':') : NULL;
	snprintf(text, 32, "%.12s", !id ? "none" : hex ? hex + 1 : id);
	return text;
}

/* ---- for people ------------------------------------------------------------------------------------------ */

/* "main [walk]: +80,000 instructions (+1.00 %), +2,000 cycles (+0.30 %)" */
static void print_function(FILE *to, const struct gate_function *f)
{
	bool first = true;
	fprintf(to, "%s:", f->name);
	for (unsigned t = GATE_TABLES; t-- > GATE_CYCLES;) {
		char d[40], p[24];
		if (f->before[t] == f->now[t])
			continue;
		fprintf(to, "%s %s %s (%s)", first ? "" : ",", difference(d, f->before[t], f->now[t]), table_text[t],
			percent(p, f->before[t], f->now[t]));
		first = false;
	}
	fputc('\n', to);
}

static void explain_functions(FILE *to, const struct gate_judged *j)
{
	char a[40], b[40], d[40], p[24];
	for (unsigned t = GATE_TABLES; t-- > GATE_CYCLES;) {
		bool any = false;
		for (size_t i = 0; i < j->functions; i++) {
			const struct gate_function *f = j->function + i;
			if (f->before[t] == f->now[t])
				continue;
			if (!any)
				fprintf(to, "  %-14s %17s %17s %15s\n", table_text[t], "before", "now", "change");
			any = true;
			fprintf(to, "  %14s %17s %17s %15s %10s  %s\n", "", grouped(a, f->before[t], ""),
				grouped(b, f->now[t], ""), difference(d, f->before[t], f->now[t]),
				percent(p, f->before[t], f->now[t]), f->name);
		}
	}
}

static void print_causes(FILE *to, const struct gate_report *r, const struct gate_judged *j)
{
	char a[32], b[32];
	bool differs = false;
	for (size_t i = 0; i < j->rows; i++)
		differs |= j->row[i].known && j->row[i].now != j->row[i].before;
	for (size_t i = 0; i < j->changes; i++) {
		const struct gate_change *c = j->change + i;
		if (!c->before)
			fprintf(to, "  new file: %s (%s)\n", c->name, brief(b, c->now));
		else if (!c->now)
			fprintf(to, "  no longer used: %s\n", c->name);
		else
			fprintf(to, "  changed file: %s (%s, was %s)\n", c->name, brief(b, c->now),
				brief(a, c->before));
	}
	if (differs && !j->changes && !r->model && !r->machine && !r->processor)
		fputs("  the program and its libraries are as in the baseline: its input or its surroundings differ\n",
			to);
}

/* What of the surroundings of all benchmarks differs. */
static void print_around(FILE *to, const struct gate_report *r, const char *before, const char *quote)
{
	if (r->model)
		fprintf(to, "%sThe model changed: %s%s%s, was %s%s%s.\n", before, quote, r->now->model, quote, quote,
			r->model, quote);
	if (r->machine)
		fprintf(to, "%sThe modelled machine changed: %s%s%s, was %s%s%s.\n", before, quote, r->now->machine,
			quote, quote, r->machine, quote);
	if (r->processor)
		fprintf(to, "%sThe host's processor differs: programs may use %s%s%s, was %s%s%s.\n", before, quote,
			r->now->processor, quote, quote, r->processor, quote);
}

/* n of the report's benchmarks: with one, the verb is singular. */
static void say(char text[256], const struct gate_report *r, enum gate_verdict v, const char *one, const char *several)
{
	const size_t n = r->verdicts[v];
	if (r->count == 1)
		snprintf(text, 256, "the benchmark %s", one);
	else
		snprintf(text, 256, "%zu of %zu benchmarks %s", n, r->count, n == 1 ? one : several);
}

static const char *summary(char text[256], const struct gate_report *r)
{
	if (r->verdicts[GATE_FAILED])
		say(text, r, GATE_FAILED, "exceeds a limit", "exceed a limit");
	else if (r->verdicts[GATE_SURROUNDINGS])
		say(text, r, GATE_SURROUNDINGS,
			"exceeds a limit, but not by a change of its program; --update renews the baseline",
			"exceed a limit, but not by a change of their programs; --update renews the baseline");
	else if (r->verdicts[GATE_NEW])
		say(text, r, GATE_NEW, "is not in the baseline, or not with all events; --update adds what is new",
			"are not in the baseline, or not with all events; --update adds what is new");
	else if (r->verdicts[GATE_WITHIN])
		say(text, r, GATE_WITHIN, "differs within its limits", "differ within their limits");
	else
		snprintf(text, 256, "%s", r->count == 1 ? "the counts are equal" : "all counts are equal");
	return text;
}

void gate_print_text(FILE *to, const struct gate_report *r, bool explain)
{
	char a[40], b[40], d[40], p[24], l[160], text[256];
	for (size_t i = 0; i < r->count; i++) {
		const struct gate_judged *j = r->judged + i;
		const bool differs = j->verdict != GATE_EQUAL;
		fprintf(to, "%s: %s%s\n", j->name, verdict(j),
			!differs && j->program_changed ? ", although the program was rebuilt" : "");
		for (size_t k = 0; k < j->rows && differs; k++) {
			const struct gate_row *row = j->row + k;
			if (changed(row))
				fprintf(to, "  %-22s %17s %17s %15s %10s%s%s\n", row->event,
					row->known ? grouped(a, row->before, "") : "", grouped(b, row->now, ""),
					row->known ? difference(d, row->before, row->now) : "",
					row->known ? percent(p, row->before, row->now) : "new",
					*limits(l, row) ? "  " : "", l);
		}
		if (differs && explain)
			explain_functions(to, j);
		for (size_t k = 0; k < j->functions && k < GATE_FUNCTIONS && differs && !explain; k++) {
			fputs("  in ", to);
			print_function(to, j->function + k);
		}
		if (differs && !explain && j->functions > GATE_FUNCTIONS)
			fprintf(to, "  and in %zu other functions (--explain)\n", j->functions - GATE_FUNCTIONS);
		if (j->verdict != GATE_NEW)
			print_causes(to, r, j);
	}
	print_around(to, r, "", "");
	fprintf(to, "Gate: %s.\n", summary(text, r));
}

/* ---- Markdown -------------------------------------------------------------------------------------------- */

/* Inside of a table: no bar, and nothing that would begin markup. */
static void markdown(FILE *to, const char *text)
{
	for (; *text; text++) {
		if (strchr("|`*_<>[]\\", *text))
			fputc('\\', to);
		fputc((unsigned char)*text < ' ' ? ' ' : *text, to);
	}
}

static void markdown_functions(FILE *to, const struct gate_judged *j, bool explain)
{
	char d[40], p[24];
	const size_t shown = explain || j->functions < GATE_FUNCTIONS ? j->functions : GATE_FUNCTIONS;
	if (!shown)
		return;
	fputs("\n| function | instructions | | cycles | |\n|---|---:|---:|---:|---:|\n", to);
	for (size_t k = 0; k < shown; k++) {
		const struct gate_function *f = j->function + k;
		fputs("| ", to);
		markdown(to, f->name);
		for (unsigned t = GATE_TABLES; t-- > GATE_CYCLES;)
			fprintf(to, " | %s | %s", difference(d, f->before[t], f->now[t]),
				percent(p, f->before[t], f->now[t]));
		fputs(" |\n", to);
	}
	if (shown < j->functions)
		fprintf(to, "\n%zu other functions differ, too.\n", j->functions - shown);
}

void gate_print_markdown(FILE *to, const struct gate_report *r, bool explain)
{
	char a[40], b[40], d[40], p[24], l[160], text[256];
	fprintf(to, "### softpmu gate: %s\n", summary(text, r));
	for (size_t i = 0; i < r->count; i++) {
		const struct gate_judged *j = r->judged + i;
		if (j->verdict == GATE_EQUAL)
			continue;
		fputs("\n**", to);
		markdown(to, j->name);
		fprintf(to, "**: %s\n\n| event | baseline | now | change | | limit |\n|---|---:|---:|---:|---:|---|\n",
			verdict(j));
		for (size_t k = 0; k < j->rows; k++) {
			const struct gate_row *row = j->row + k;
			fputs("| ", to);
			markdown(to, row->event);
			fprintf(to, " | %s | %s | %s | %s | %s |\n", row->known ? grouped(a, row->before, "") : "",
				grouped(b, row->now, ""), row->known ? difference(d, row->before, row->now) : "",
				row->known ? percent(p, row->before, row->now) : "new", limits(l, row));
		}
		markdown_functions(to, j, explain);
		for (size_t k = 0; k < j->changes; k++) {
			fputs(k ? "" : "\n", to);
			fprintf(to, "- %s file: ", !j->change[k].before ? "new"
					: j->change[k].now                      ? "changed"
										: "no longer used");
			markdown(to, j->change[k].name);
			fputc('\n', to);
		}
	}
	if (r->model || r->machine || r->processor)
		fputc('\n', to);
	print_around(to, r, "- ", "`");
	if (r->verdicts[GATE_EQUAL])
		fprintf(to, "\n%zu of %zu benchmarks are equal.\n", r->verdicts[GATE_EQUAL], r->count);
}

/* ---- JUnit ----------------------------------------------------------------------------------------------- */

/* Text or an attribute's value.  Control characters have no form in XML 1.0, and bytes that are not UTF-8 have none in
 * a file that says that it is. */
static void xml(FILE *to, const char *text, size_t bytes)
{
	for (size_t i = 0; i < bytes;) {
		const unsigned char c = (unsigned char)text[i];
		const size_t n = json_utf8(text + i, bytes - i);
		if (c == '&' || c == '<' || c == '>' || c == '"')
			fprintf(to, "&#%d;", c);
		else if (n > 1)
			fwrite(text + i, 1, n, to);
		else
			fputc(!n || c == 127 || (c < ' ' && c != '\n') ? '?' : c, to);
		i += n ? n : 1;
	}
}

void gate_print_junit(FILE *to, const struct gate_report *r)
{
	const size_t failures = r->verdicts[GATE_FAILED] + r->verdicts[GATE_SURROUNDINGS] + r->verdicts[GATE_NEW];
	fprintf(to, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites>\n<testsuite name=\"softpmu gate\" "
		"tests=\"%zu\" failures=\"%zu\" errors=\"0\" skipped=\"0\">\n", r->count, failures);
	for (size_t i = 0; i < r->count; i++) {
		const struct gate_judged *j = r->judged + i;
		struct gate_report one = *r;
		char *text = NULL;
		size_t bytes = 0;
		fputs("<testcase classname=\"softpmu.gate\" name=\"", to);
		xml(to, j->name, strlen(j->name));
		fputs("\">", to);
		one.judged = r->judged + i;
		one.count = 1;
		memset(one.verdicts, 0, sizeof one.verdicts);
		one.verdicts[j->verdict] = 1;
		FILE *f = open_memstream(&text, &bytes);
		if (f)
			gate_print_text(f, &one, false);
		if (!f || fclose(f))
			bytes = 0;
		const char *kind = j->verdict >= GATE_NEW ? "failure" : "system-out";
		fprintf(to, "<%s", kind);
		if (j->verdict >= GATE_NEW)
			fprintf(to, " type=\"%s\" message=\"%s\"",
				j->verdict == GATE_FAILED ? "limit" : j->verdict == GATE_NEW ? "new" : "surroundings",
				verdict(j));
		fputc('>', to);
		xml(to, text ? text : "", bytes);
		fprintf(to, "</%s></testcase>\n", kind);
		free(text);
	}
	fputs("</testsuite>\n</testsuites>\n", to);
}
