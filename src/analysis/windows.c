/* SPDX-License-Identifier: GPL-2.0-or-later
 * Windows of a run (windows.h).
 */
#include "analysis/windows.h"
#include "analysis/estimate.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct windows_thread {
	struct windows *of;
	struct windows_thread *next;
	uint32_t process;
	size_t number;			/* in order of its start */
	struct estimate *estimate;
	struct run_window began;
	double *before, *count;
};

struct windows {
	size_t counts, parts, threads;
	struct windows_thread *thread;	/* the last first */
	bool failed;
	double measured, *seen;
	struct estimate *all;
	double total[ESTIMATE_SIZES];
	struct kept {			/* by windows_read: instead of `all`, of one count */
		size_t windows;
		double total, *residual;
	} kept;
};

int windows_create(struct windows **out, size_t counts, size_t parts, struct err *err)
{
	struct windows *w = calloc(1, sizeof *w);
	*out = NULL;
	if (!w || !(w->seen = calloc(counts + 1, sizeof *w->seen))) {
		free(w);
		return err_set(err, ERR_NOMEM, "out of memory for windows");
	}
	w->counts = counts;
	w->parts = parts;
	*out = w;
	return 0;
}

static void forget(struct windows_thread *t)
{
	estimate_destroy(t->estimate);
	free(t->before);
	free(t->count);
	free(t);
}

void windows_destroy(struct windows *w)
{
	if (!w)
		return;
	while (w->thread) {
		struct windows_thread *t = w->thread;
		w->thread = t->next;
		forget(t);
	}
	estimate_destroy(w->all);
	free(w->kept.residual);
	free(w->seen);
	free(w);
}

int windows_thread(struct windows *w, struct windows_thread **out, const struct run_thread *run, struct err *err)
{
	struct windows_thread *t = calloc(1, sizeof *t);
	*out = NULL;
	if (!t || estimate_create(&t->estimate, w->counts, NULL) ||
		!(t->before = calloc(w->counts + 1, sizeof *t->before)) ||
		!(t->count = calloc(w->counts + 1, sizeof *t->count))) {
		if (t)
			forget(t);
		return err_set(err, ERR_NOMEM, "out of memory for windows");
	}
	t->of = w;
	t->process = run->process;
	t->number = w->threads++;
	t->next = w->thread;
	w->thread = t;
	*out = t;
	return 0;
}

bool windows_part(struct windows_thread *t, const struct run_window *part, const double *now)
{
	struct windows *w = t->of;
	if (part->begins) {
		t->began = *part;
		memcpy(t->before, now, w->counts * sizeof *now);
		return true;
	}
	if (part->leads)
		return false;
	const struct core_misses *a = &t->began.misses, *b = &part->misses;
	const double size[ESTIMATE_SIZES] = {
		(double)(part->instructions + part->rounds - t->began.instructions - t->began.rounds),
		(double)(b->branches - a->branches), (double)(b->loads - a->loads), (double)(b->l1 - a->l1),
		(double)(b->l2 - a->l2), (double)(b->l3 - a->l3), (double)(b->walks - a->walks),
		(double)(part->instructions - t->began.instructions) };
	if (!(size[0] > 0))
		return false;
	for (size_t i = 0; i < w->counts; i++) {
		t->count[i] = now[i] - t->before[i];
		w->seen[i] += t->count[i];
	}
	w->measured += size[ESTIMATE_INSTRUCTIONS];
	w->failed |= estimate_add(t->estimate, size, (double)part->represents, t->count, NULL) < 0;
	return false;
}

/* Threads of several processes start in an order that the host makes. */
static int by_process(const void *a, const void *b)
{
	const struct windows_thread *x = *(struct windows_thread *const *)a, *y = *(struct windows_thread *const *)b;
	if (x->process != y->process)
		return x->process < y->process ? -1 : 1;
	return x->number < y->number ? -1 : x->number > y->number;
}

int windows_total(struct windows *w, const struct run_result *r, struct err *err)
{
	const struct core_misses *m = &r->misses;
	const double total[ESTIMATE_SIZES] = { (double)(r->sampled + r->rounds), (double)m->branches,
		(double)m->loads, (double)m->l1, (double)m->l2, (double)m->l3, (double)m->walks, (double)r->sampled };
	struct windows_thread **all = calloc(w->threads + 1, sizeof(struct windows_thread *));
	size_t n = 0;
	int rc = all && !w->failed ? estimate_create(&w->all, w->counts, err)
		: err_set(err, ERR_NOMEM, "out of memory for windows");
	for (struct windows_thread *t = w->thread; t && all; t = t->next)
		all[n++] = t;
	if (!rc)
		qsort(all, n, sizeof(struct windows_thread *), by_process);
	for (size_t i = 0; i < n && !rc; i++)
		rc = estimate_join(w->all, all[i]->estimate, err);
	free(all);
	if (!rc && !estimate_windows(w->all))
		rc = err_set(err, ERR_INPUT, "--sample: the run is too short for a window");
	memcpy(w->total, total, sizeof total);
	if (!rc) {
		estimate_clock(w->all, 0, w->parts);
		estimate_fit(w->all, total);
	}
	return rc;
}

double windows_count(const struct windows *w, size_t count, double *half)
{
	*half = (double)NAN;
	return w->all ? estimate_total(w->all, count, half) : (double)NAN;
}

size_t windows_number(const struct windows *w)
{
	return w->all ? estimate_windows(w->all) : w->kept.windows;
}

double windows_measured(const struct windows *w)
{
	return w->measured;
}

double windows_seen(const struct windows *w, size_t count)
{
	return w->seen[count];
}

static double total_of(const struct windows_term *term)
{
	double unused;
	return term->of->all ? estimate_total(term->of->all, term->count, &unused) : term->of->kept.total;
}

static void residuals_of(const struct windows_term *term, double *residual)
{
	const struct kept *k = &term->of->kept;
	if (term->of->all)
		estimate_residuals(term->of->all, term->count, residual);
	else
		memcpy(residual, k->residual, k->windows * sizeof *residual);
}

/* Adds up the terms: the return, and by how much each window differs from what its sizes give.  NaN: no memory. */
static double add_up(const struct windows_term *term, size_t terms, double by, double *rest, double *scratch, size_t n)
{
	double sum = 0;
	for (size_t k = 0; k < terms; k++) {
		sum += term[k].factor * total_of(&term[k]);
		residuals_of(&term[k], scratch);
		for (size_t i = 0; i < n; i++)
			rest[i] += by * term[k].factor * scratch[i];
	}
	return sum;
}

double windows_ratio(const struct windows_term *top, size_t tops, const struct windows_term *bottom, size_t bottoms)
{
	const size_t n = tops && bottoms ? windows_number(top->of) : 0;
	bool same = n >= ESTIMATE_LEAST;
	for (size_t k = 0; k < tops + bottoms; k++)
		same &= windows_number((k < tops ? top + k : bottom + k - tops)->of) == n;
	double *rest = calloc(2 * n + 1, sizeof *rest), half = (double)NAN;
	if (same && rest) {
		const double above = add_up(top, tops, 1, rest, rest + n, n);
		double squares = 0, below = 0;
		for (size_t k = 0; k < bottoms; k++)
			below += bottom[k].factor * total_of(&bottom[k]);
		const double ratio = above / below;
		add_up(bottom, bottoms, -ratio, rest, rest + n, n);
		for (size_t i = 1; i < n; i++)
			squares += (rest[i] - rest[i - 1]) * (rest[i] - rest[i - 1]);
		const double left = 1 - top->of->measured / top->of->total[0];
		half = 2 * sqrt(squares / (2 * ((double)n - 1)) * (double)n * (left > 0 ? left : 0)) / fabs(below);
		half = hypot(half, ESTIMATE_BIAS * ratio);
	}
	free(rest);
	return half;
}

/* ---- in another process ---- */

char *windows_text(const struct windows *w, size_t count)
{
	const struct windows_term term = { w, count, 1 };
	const size_t n = windows_number(w);
	double *residual = calloc(n + 1, sizeof *residual);
	char *text = NULL;
	size_t bytes = 0;
	FILE *f = residual ? open_memstream(&text, &bytes) : NULL;
	if (f) {
		residuals_of(&term, residual);
		fprintf(f, "%zu %a", n, total_of(&term));
		for (size_t i = 0; i < n; i++)
			fprintf(f, " %a", residual[i]);
	}
	free(residual);
	if (f && !fclose(f))
		return text;
	free(text);
	return NULL;
}

/* A number and the blank or the end behind it. */
static bool number(const char **at, double *value)
{
	char *end;
	*value = strtod(*at, &end);
	const bool good = end != *at && **at != ' ' && (*end == ' ' || !*end);
	*at = *end ? end + 1 : end;
	return good;
}

int windows_read(struct windows **out, const char *text, struct err *err)
{
	struct windows *w = calloc(1, sizeof *w);
	const char *at = text;
	double n, unused;
	*out = NULL;
	if (!w)
		return err_set(err, ERR_NOMEM, "out of memory for windows");
	/* each number has two characters at least, so that a line cannot ask for more memory than it has itself */
	bool good = number(&at, &n) && n >= 0 && n <= (double)strlen(text) && number(&at, &w->kept.total);
	w->kept.windows = good ? (size_t)n : 0;
	w->kept.residual = calloc(w->kept.windows + 1, sizeof *w->kept.residual);
	for (size_t i = 0; i < w->kept.windows && good && w->kept.residual; i++)
		good = number(&at, &w->kept.residual[i]);
	good &= !number(&at, &unused);
	const int rc = !w->kept.residual ? err_set(err, ERR_NOMEM, "out of memory for windows")
		: good ? 0 : err_set(err, ERR_INPUT, "the windows of another run cannot be read");
	if (rc)
		windows_destroy(w);
	else
		*out = w;
	return rc;
}
