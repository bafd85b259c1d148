/* SPDX-License-Identifier: GPL-2.0-or-later
 * The part "timeline" of a page: counts over modelled time (timeline.h); null if the file has none.
 *
 *   {"interval": ns, "cycles": of an interval, "width": issue slots a cycle, "intervals": N,
 *    "windows": of a sampled run, or 0,
 *    "totals": of a sampled run, for each of the first columns [COUNT, half of its 95 % interval's width or null],
 *    "columns": [NAME, ...],
 *    "threads": [{"pid": N, "tid": N, "first": N, "values": [[...], ...]}, ...]}
 *
 * first: the interval of a thread's first value.  values: for each column, a count for each of its intervals.
 * intervals: how many the run has.
 */
#include "output/html/part.h"
#include "output/html/timeline.h"
#include "util/json.h"

static void write_thread(FILE *to, const struct timeline_data *d, const struct timeline_thread *t)
{
	fprintf(to, "{\"pid\": %u, \"tid\": %u, \"first\": %llu, \"values\": [", t->pid, t->tid,
		(unsigned long long)t->first);
	for (size_t c = 0; c < d->columns; c++) {
		bool first = true;
		fputs(c ? ",\n[" : "[", to);
		for (size_t k = 0; k < t->intervals; k++)
			html_item(to, t->value[c * t->intervals + k], &first);
		fputs("]", to);
	}
	fputs("]}", to);
}

int html_part_timeline(FILE *to, struct html_run *r, struct err *err)
{
	struct timeline_data *d;
	uint64_t intervals = 0;
	const int code = timeline_read(&d, r->file, err);
	if (code || !d) {
		fputs("null", to);
		return code;
	}
	for (size_t i = 0; i < d->threads; i++) {
		const uint64_t end = d->thread[i].first + d->thread[i].intervals;
		intervals = end > intervals ? end : intervals;
	}
	fprintf(to, "{\"interval\": %.6f, \"cycles\": %llu, \"width\": %llu, \"intervals\": %llu,\n"
		"\"windows\": %llu, \"totals\": [",
		(double)d->interval_cycles * 1e9 / (double)d->hz, (unsigned long long)d->interval_cycles,
		(unsigned long long)d->width, (unsigned long long)intervals, (unsigned long long)d->windows);
	for (size_t c = 0; c < d->totals; c++) {
		fprintf(to, "%s[%llu, ", c ? ", " : "", (unsigned long long)d->total[c].count);
		if (d->total[c].known)
			fprintf(to, "%llu]", (unsigned long long)d->total[c].half);
		else
			fputs("null]", to);
	}
	fputs("],\n\"columns\": [", to);
	for (size_t c = 0; c < d->columns; c++) {
		fputs(c ? ", " : "", to);
		json_string(to, d->name[c]);
	}
	fputs("],\n\"threads\": [", to);
	for (size_t i = 0; i < d->threads; i++) {
		fputs(i ? ",\n" : "", to);
		write_thread(to, d, &d->thread[i]);
	}
	fputs("]}", to);
	timeline_free(d);
	return 0;
}
