/* SPDX-License-Identifier: GPL-2.0-or-later
 * The part "exact" of a page: the exact profile by function (exact_report.h); null if the file has none.
 *
 *   {"cycles": N, "function": [...], "instructions": [...],
 *    "causes": [{"name": TEXT, "level": "retiring"|"bad"|"frontend"|"backend", "cycles": [...]}, ...]}
 *
 * The columns are by row; a row is a function.  A cause is left out if it has no cycles.  level: the part of top-down's
 * first level that cycles of this cause belong to.
 */
#include "output/exact_report.h"
#include "output/html/part.h"
#include "util/json.h"

static const char *level_of(enum exact_cause c)
{
	switch (c) {
	case EXACT_RETIRING: return "retiring";
	case EXACT_MISPREDICT: case EXACT_CLEAR: return "bad";
	case EXACT_ICACHE: case EXACT_ITLB: case EXACT_RESTEER: case EXACT_FRONT_END: case EXACT_ASSIST:
		return "frontend";
	default: return "backend";
	}
}

/* A file merged from several may have a cause more than once. */
static uint64_t cycles_of(const struct exact_report *x, const uint64_t *period, unsigned kind)
{
	uint64_t sum = 0;
	for (size_t k = 0; k < x->events; k++)
		sum += x->kind[k] == kind ? period[k] : 0;
	return sum;
}

int html_part_exact(FILE *to, struct html_run *r, struct err *err)
{
	struct exact_report *x = NULL;
	bool first = true, first_cause = true;
	if (!exact_report_has(r->file)) {
		fputs("null", to);
		return 0;
	}
	const int code = exact_report_load(&x, r->file, true, err);
	if (code)
		return code;
	fprintf(to, "{\"cycles\": %llu, \"function\": [", (unsigned long long)x->cycles);
	for (size_t i = 0; i < x->rows; i++) {
		const struct exact_row *row = &x->row[i];
		const struct symbols_place at = { .dso = row->dso, .path = row->path, .symbol = row->symbol };
		html_item(to, html_function(r, &at), &first);
	}
	fputs("],\n\"instructions\": [", to);
	first = true;
	for (size_t i = 0; i < x->rows; i++)
		html_item(to, cycles_of(x, x->row[i].period, EXACT_INSTRUCTIONS), &first);
	fputs("],\n\"causes\": [", to);
	for (unsigned c = 0; c < EXACT_CAUSES; c++) {
		if (!cycles_of(x, x->total, c))
			continue;
		fputs(first_cause ? "\n{\"name\": " : ",\n{\"name\": ", to);
		first_cause = false;
		json_string(to, exact_cause_name((enum exact_cause)c));
		fprintf(to, ", \"level\": \"%s\", \"cycles\": [", level_of((enum exact_cause)c));
		first = true;
		for (size_t i = 0; i < x->rows; i++)
			html_item(to, cycles_of(x, x->row[i].period, c), &first);
		fputs("]}", to);
	}
	fputs("]}", to);
	exact_report_free(x);
	return 0;
}
