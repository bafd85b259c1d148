/* SPDX-License-Identifier: GPL-2.0-or-later
 * Counts of a sampled run by modelled time (stat_intervals.h).
 */
#include "cli/stat/stat_intervals.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

void stat_intervals_begin(struct stat_intervals *v, double ns, size_t events)
{
	stat_intervals_free(v);
	*v = (struct stat_intervals){ .counts = events + 1, .ns = ns };
}

static bool room(double **array, size_t elements)
{
	double *bigger = realloc(*array, elements * sizeof *bigger);
	if (bigger)
		*array = bigger;
	return bigger;
}

static void no_memory(struct stat_intervals *v)
{
	if (!v->err.code)
		err_set(&v->err, ERR_NOMEM, "out of memory for intervals");
}

void stat_intervals_sampled(struct stat_intervals *v, const struct cli_sample *s, const struct run_thread *t)
{
	const size_t number = session_thread_number(s->session, t);
	if (number >= v->threads) {
		if (!room(&v->starts, number + 1)) {
			no_memory(v);
			return;
		}
		for (; v->threads <= number; v->threads++)
			v->starts[v->threads] = 0;
	}
	struct session_thread info;
	session_thread_info(s->session, number, &info);
	/* a thread that is alone has the clock of its own time, which is what estimates are made of */
	const double ran = (double)info.running_ns, now = session_threads(s->session) > 1
		? (double)session_ns(s->session, session_now(s->session)) : 0;
	v->starts[number] = ran > now ? ran : now;
}

void stat_intervals_window(struct stat_intervals *v, const struct cli_sample *s, const struct run_thread *t,
	const struct run_window *w)
{
	const size_t number = session_thread_number(s->session, t);
	if (w->leads || w->begins || number >= v->threads || number >= s->threads)
		return;
	const struct run_window *began = &s->thread[number].began;
	const uint64_t steps = w->instructions + w->rounds - began->instructions - began->rounds;
	if (!steps)
		return;
	if (v->windows == v->room) {
		const size_t more = v->room ? 2 * v->room : 256;
		struct stat_intervals_window *bigger = realloc(v->window, more * sizeof *bigger);
		if (bigger)
			v->window = bigger;
		if (!bigger || !room(&v->count, more * v->counts)) {
			no_memory(v);
			return;
		}
		v->room = more;
	}
	v->window[v->windows] = (struct stat_intervals_window){ .thread = number,
		.weight = (double)w->represents / (double)steps };
	memcpy(v->count + v->windows++ * v->counts, s->count, v->counts * sizeof *v->count);
}

void stat_intervals_passes(struct stat_intervals *v, const struct cli_sample *s, size_t number)
{
	if (!v->timed_pieces)
		v->first = number;
	const size_t k = number - v->first;
	if (k != v->timed_pieces)
		return;
	if (!room(&v->timed, (k + 1) * v->counts)) {
		no_memory(v);
		return;
	}
	for (size_t i = 0; i < v->counts; i++)
		v->timed[k * v->counts + i] = cli_sample_timed(s, i);
	v->timed_pieces++;
}

/* The piece in which a time lies. */
static size_t piece_of(const struct stat_intervals *v, double ns)
{
	const double at = floor(ns / v->ns), last = (double)(v->pieces - 1);
	return at < (double)v->first ? v->first : at > last ? v->pieces - 1 : (size_t)at;
}

/* Spreads a stretch, from `at` on, over the pieces. */
static void spread(struct stat_intervals *v, size_t n, double at, double length, const double *scale)
{
	const double *count = v->count + n * v->counts, end = at + length;
	const size_t from = piece_of(v, at), to = piece_of(v, end);
	v->window[n].piece = piece_of(v, at + length / 2);
	for (size_t k = from; k <= to; k++) {
		const double begins = k == from ? at : v->ns * (double)k,
			     ends = k == to ? end : v->ns * (double)(k + 1);
		const double share = length > 0 ? (ends - begins) / length : k == from;
		for (size_t i = 0; i < v->counts; i++)
			v->sum[(k - v->first) * v->counts + i] += share * v->window[n].weight * scale[i] * count[i];
	}
}

/* Walks through the stretches of a thread; returns the time of its end, in ns. */
static double walk(struct stat_intervals *v, size_t thread, const double *scale, bool spreads)
{
	double at = v->starts[thread];
	for (size_t n = 0; n < v->windows; n++) {
		const double *count = v->count + n * v->counts,
			     length = v->window[n].weight * count[v->counts - 1] * scale[v->counts - 1];
		if (v->window[n].thread != thread)
			continue;
		if (spreads)
			spread(v, n, at, length, scale);
		at += length;
	}
	return at;
}

int stat_intervals_finish(struct stat_intervals *v, size_t first, const double *total, double elapsed,
	struct err *err)
{
	double *scale = calloc(v->counts, sizeof *scale);
	int rc = v->err.code;
	if (rc) {
		*err = v->err;
	} else if (!scale) {
		rc = err_set(err, ERR_NOMEM, "out of memory for intervals");
	} else {
		for (size_t n = 0; n < v->windows; n++)
			for (size_t i = 0; i < v->counts; i++)
				scale[i] += v->window[n].weight * v->count[n * v->counts + i];
		for (size_t i = 0; i < v->counts; i++)
			scale[i] = scale[i] > 0 ? total[i] / scale[i] : 0;
		v->first = first;
		v->end = fmax(v->ns * (double)first, elapsed);
		for (size_t t = 0; t < v->threads && !(elapsed > 0); t++)
			v->end = fmax(v->end, walk(v, t, scale, false));
		const double last = ceil(v->end / v->ns);
		v->pieces = (last < (double)(first + v->timed_pieces) ? first + v->timed_pieces : (size_t)last);
		v->pieces += v->pieces == first;
		v->sum = calloc(v->pieces - first, v->counts * sizeof *v->sum);
		for (size_t t = 0; v->sum && t < v->threads; t++)
			walk(v, t, scale, true);
		/* what no window has to be scaled */
		for (size_t i = 0; v->sum && i < v->counts; i++)
			if (!(scale[i] > 0))
				v->sum[(v->pieces - first - 1) * v->counts + i] += total[i];
		for (size_t k = v->counts; v->sum && k < (v->pieces - first) * v->counts; k++)
			v->sum[k] += v->sum[k - v->counts];
		rc = v->sum ? 0 : err_set(err, ERR_NOMEM, "out of memory for intervals");
	}
	free(scale);
	return rc;
}

double stat_intervals_ends(const struct stat_intervals *v, size_t k)
{
	const double whole = v->ns * (double)(k + 1);
	return k + 1 == v->pieces && v->end < whole && v->end > v->ns * (double)k ? v->end : whole;
}

double stat_intervals_until(const struct stat_intervals *v, const struct cli_sample *s, size_t k, size_t count)
{
	const size_t j = k - v->first;
	return v->sum[j * v->counts + count] +
		(j < v->timed_pieces && k + 1 < v->pieces ? v->timed[j * v->counts + count] : s->detail[count]);
}

int stat_intervals_halves(const struct stat_intervals *v, size_t k, double *half, struct err *err)
{
	const double *sum = v->sum + (k - v->first) * v->counts, *before = k > v->first ? sum - v->counts : NULL;
	double total[ESTIMATE_SIZES] = { 0 };
	struct estimate *e = NULL;
	size_t windows = 0;
	for (size_t i = 0; i < v->counts; i++)
		half[i] = sum[v->counts - 1] > (before ? before[v->counts - 1] : 0) ? NAN : 0;
	for (size_t n = 0; n < v->windows; n++)
		windows += v->window[n].piece == k;
	if (windows < ESTIMATE_LEAST)
		return 0;
	int rc = estimate_create(&e, v->counts, err);
	/* the piece is one of time, so time is what its length is known in */
	for (size_t n = 0; n < v->windows && !rc; n++) {
		const double *count = v->count + n * v->counts, size[ESTIMATE_SIZES] = { count[v->counts - 1] };
		if (v->window[n].piece != k || !(size[0] > 0))
			continue;
		total[0] += v->window[n].weight * size[0];
		rc = estimate_add(e, size, v->window[n].weight * size[0], count, err);
	}
	if (!rc) {
		estimate_clock(e, v->counts - 1, v->counts);
		estimate_fit(e, total);
		for (size_t i = 0; i < v->counts; i++) {
			const double estimate = estimate_total(e, i, &half[i]);
			half[i] = estimate > 0 ? half[i] * (sum[i] - (before ? before[i] : 0)) / estimate : NAN;
		}
	}
	estimate_destroy(e);
	return rc;
}

void stat_intervals_free(struct stat_intervals *v)
{
	free(v->window);
	free(v->count);
	free(v->starts);
	free(v->timed);
	free(v->sum);
	*v = (struct stat_intervals){ 0 };
}
