/* SPDX-License-Identifier: GPL-2.0-or-later
 * Writes an excerpt as JSON, an object a line, for `softpmu report --html --add` (html/page/pipeline.js).
 *
 *   {"pipeline": 1, "cycle": C, "stages": [[NAME, MEANING], ...], "causes": [NAME, ...], "threads": [TEXT, ...],
 *    "program": NAME, "texts": [[ADDRESS, INSTRUCTION, PLACE], ...]}
 *   {"rows": {"text": [...], "nth": [...], "thread": [...], "port": [...], "cause": [...], "wrong": [...],
 *             "front": [...], "fetch": [...], "alloc": [...], "ready": [...], "dispatch": [...], "complete": [...],
 *             "retire": [...]}}
 *
 * The second kind comes once for each ROWS rows.  Columns have equal length.  fetch: cycles since the row before (since
 * C for the first); the other cycles count from the row's fetch, and -1 is never.  front: the stage that delivered it.
 * port: -1 is none.  program: the name of the first thread.
 */
#include "output/pipeline/pipeline_private.h"
#include "util/json.h"
#include <inttypes.h>

enum { ROWS = 4096 };

static void list(FILE *to, const char *name, bool first)
{
	fprintf(to, "%s\"%s\": [", first ? "" : "], ", name);
}

static void cycles(FILE *to, const struct pipeline_row *r, size_t n, const char *name, size_t member)
{
	list(to, name, false);
	for (size_t i = 0; i < n; i++) {
		const uint64_t cycle = *(const uint64_t *)(const void *)((const char *)&r[i] + member);
		if (cycle == PIPELINE_NEVER)
			fputs(i ? ",-1" : "-1", to);
		else
			fprintf(to, i ? ",%" PRIu64 : "%" PRIu64, cycle - r[i].fetch);
	}
}
#define CYCLES(member) cycles(to, r, n, #member, offsetof(struct pipeline_row, member))
#define NUMBERS(name, value) \
	do { \
		list(to, name, false); \
		for (size_t i = 0; i < n; i++) \
			fprintf(to, i ? ",%d" : "%d", (int)(value)); \
	} while (0)

static void write_rows(FILE *to, const struct pipeline_row *r, size_t n, uint64_t before)
{
	fputs("{\"rows\": {", to);
	list(to, "text", true);
	for (size_t i = 0; i < n; i++)
		fprintf(to, i ? ",%" PRIu32 : "%" PRIu32, r[i].text);
	NUMBERS("nth", r[i].nth);
	NUMBERS("thread", r[i].thread);
	NUMBERS("port", r[i].port == 255 ? -1 : r[i].port);
	NUMBERS("cause", r[i].cause);
	NUMBERS("wrong", r[i].wrong);
	NUMBERS("front", pipeline_front(&r[i]));
	list(to, "fetch", false);
	for (size_t i = 0; i < n; i++)
		fprintf(to, i ? ",%" PRIu64 : "%" PRIu64, r[i].fetch - (i ? r[i - 1].fetch : before));
	CYCLES(alloc);
	CYCLES(ready);
	CYCLES(dispatch);
	CYCLES(complete);
	CYCLES(retire);
	fputs("]}}\n", to);
}

void pipeline_json(FILE *to, const struct pipeline *p)
{
	size_t n;
	const struct pipeline_row *row = pipeline_rows(p, &n);
	const uint64_t first = n ? row[0].fetch : 0;
	fprintf(to, "{\"pipeline\": 1, \"cycle\": %" PRIu64 ", \"stages\": [", first);
	for (enum pipeline_stage_kind k = 0; k < PIPELINE_STAGES; k++)
		fprintf(to, "%s[\"%s\", \"%s\"]", k ? ", " : "", pipeline_stage_name(k), pipeline_stage_help(k));
	fputs("], \"causes\": [", to);
	for (enum exact_cause k = 0; k < EXACT_CAUSES; k++)
		fprintf(to, "%s\"%s\"", k ? ", " : "", exact_cause_name(k));
	fputs("], \"threads\": [", to);
	for (size_t i = 0; i < pipeline_threads(p); i++) {
		const struct pipeline_thread *t = pipeline_thread_info(p, i);
		char name[40];
		snprintf(name, sizeof name, "%s %u", t->comm, t->tid);
		fputs(i ? ", " : "", to);
		json_string(to, name);
	}
	fputs("], \"program\": ", to);
	json_string(to, pipeline_threads(p) ? pipeline_thread_info(p, 0)->comm : "");
	fputs(", \"texts\": [", to);
	const struct pipeline_text *text;
	for (size_t i = 0; (text = pipeline_text_number(p, i)); i++) {
		fprintf(to, "%s[\"%" PRIx64 "\", ", i ? ", " : "", text->ip);
		json_string(to, text->insn);
		fputs(", ", to);
		json_string(to, text->place);
		fputs("]", to);
	}
	fputs("]}\n", to);
	for (size_t i = 0; i < n; i += ROWS)
		write_rows(to, row + i, n - i < ROWS ? n - i : ROWS, i ? row[i - 1].fetch : first);
}
