/* SPDX-License-Identifier: GPL-2.0-or-later
 * stat -I of a sampled run: prints the pieces whose counts are estimates (stat_intervals.h). */
#include "cli/stat/stat_counting.h"
#include <math.h>
#include <stdlib.h>

/* -I: makes a table of piece k of a sampled run.  half: of each count. */
static void fill_interval(struct counting *s, size_t k, const double *half)
{
	const struct stat_intervals *v = &s->intervals;
	const uint64_t clock = (uint64_t)llround(stat_intervals_until(v, &s->o.sample, k, s->events.count));
	const double ends = stat_intervals_ends(v, k), began = 1e9 * s->style.interval_end;
	for (size_t i = 0; i < s->table.lines; i++) {
		struct stat_line *l = s->table.line + i;
		const size_t e = s->event_of_line[i];
		if (e == NOT_THERE)
			continue;
		/* one thread's cycles are what its time is made of */
		const bool time = l->role == ROLE_DURATION ||
			((l->role == ROLE_CYCLES || l->role == ROLE_TASK_CLOCK) && session_threads(s->session) == 1);
		const uint64_t now = l->role == ROLE_DURATION ? (uint64_t)llround(ends)
			: (uint64_t)llround(fmax(0, stat_intervals_until(v, &s->o.sample, k, e)));
		l->value = l->running_ns = l->enabled_ns = (struct stats){ 0 };
		l->estimated = !time && half[e] != 0;
		l->half = half[e];
		stat_add_reading(l, now - s->last[i], clock - s->last_running[i], clock - s->last_running[i]);
		s->last[i] = now;
		s->last_running[i] = s->last_enabled[i] = clock;
	}
	s->table.elapsed_ns = (struct stats){ 0 };
	stats_add(&s->table.elapsed_ns, ends - (began > 0 ? began : 0));
	s->style.interval_end = 1e-9 * ends;
}

int stat_show_estimated(struct counting *s, const struct run_result *res, struct err *err)
{
	const size_t counts = s->events.count + 1;
	const uint64_t cycles = cli_cycles(&s->o.run.core, s->o.interval_ms);
	struct stat_intervals *v = &s->intervals;
	double *total = calloc(counts, sizeof *total), *half = calloc(counts, sizeof *half), unused;
	size_t unknown = 0;
	int rc = total && half ? cli_sample_finish(&s->o.sample, res, err) : err_set(err, ERR_NOMEM, "out of memory");
	for (size_t i = 0; i < counts && !rc; i++)
		total[i] = cli_sample_total(&s->o.sample, i, &unused) - s->o.sample.detail[i];
	for (size_t i = 0; i < s->table.lines && !rc; i++)
		if (s->event_of_line[i] != NOT_THERE && s->table.line[i].role == ROLE_INSTRUCTIONS)
			total[s->event_of_line[i]] = (double)(res->instructions + res->warmed) -
				s->o.sample.detail[s->event_of_line[i]];
	if (!rc)
		rc = stat_intervals_finish(v, (size_t)(s->last_cycle / cycles), total,
			session_threads(s->session) > 1 ? (double)session_ns(s->session, res->cycles) : 0, err);
	s->table.estimates |= s->style.form != STAT_CSV;
	for (size_t k = v->first; !rc && k < v->pieces; k++) {
		if ((rc = stat_intervals_halves(v, k, half, err)))
			break;
		for (size_t i = 0; i < counts; i++)
			if (isnan(half[i])) {
				unknown++;
				break;
			}
		fill_interval(s, k, half);
		stat_show_interval(s);
	}
	if (!rc && unknown && s->style.form == STAT_TABLE)
		cli_note("-I %g: %zu of %zu estimated pieces of the run have counts without an interval, which needs "
			"%d windows in the piece; there are %.1f on average", s->o.interval_ms, unknown,
			v->pieces - v->first, ESTIMATE_LEAST, (double)v->windows / (double)(v->pieces - v->first));
	fflush(s->style.out);
	free(total);
	free(half);
	return rc;
}
