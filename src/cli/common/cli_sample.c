/* SPDX-License-Identifier: GPL-2.0-or-later
 * --sample (cli_sample.h).
 */
#include "cli/common/cli_sample.h"
#include "isa/isa.h"
#include <stdlib.h>
#include <string.h>

/* The windows of --sample=auto. */
enum {
	AUTO_LEAD = 4000, AUTO_MEASURED = 4000,
	/* stretches of this length at first, so that a short run has windows enough; then twice and four times that,
	 * AUTO_STEP windows each, or a quarter of cli_sample.least */
	AUTO_INTERVAL = 40000, AUTO_STEP = 250,
	/* then twice as long whenever the interval of the running time has become narrow enough, which is looked at
	 * when the number of windows has doubled */
	AUTO_MOST = 1 << 26,
	/* a program's start is like nothing that follows, and too short for windows of its own: it is timed */
	AUTO_START = 1000000,
	/* without an option, so many instructions are timed before the run is sampled */
	AUTO_AFTER = 200000000,
};
static const double auto_narrow = 0.0086;	/* of +-0.01, which the rest of the run must not lose again */

static bool number(const char **at, uint64_t *out)
{
	char *end;
	const unsigned long long n = strtoull(*at, &end, 10);
	const uint64_t scale = *end == 'K' || *end == 'k' ? 1000 : *end == 'M' ? 1000000 : *end == 'G' ? 1000000000 : 1;
	if (end == *at || **at < '0' || **at > '9' || n > UINT64_MAX / scale)
		return false;
	*at = end + (scale > 1);
	*out = n * scale;
	return true;
}

int cli_sample_parse(struct cli_sample *s, const char *value, struct err *err)
{
	struct run_sample p = { .interval = AUTO_INTERVAL, .lead = AUTO_LEAD, .measured = AUTO_MEASURED };
	s->on = true;
	s->automatic = !value || !strcmp(value, "auto");
	const char *at = value;
	if (!s->automatic && (!number(&at, &p.interval) || *at++ != ',' || !number(&at, &p.measured) || *at++ != ',' ||
			!number(&at, &p.lead) || *at || !p.measured))
		return err_set(err, ERR_INPUT, "--sample=%s is neither auto nor N,U,W: in each stretch of N "
			"instructions, W are timed and not counted, then U are measured, as in 1M,3000,3000", value);
	s->plan = p;
	return 0;
}

void cli_sample_default(struct cli_sample *s)
{
	if (!s->on)
		s->plan = (struct run_sample){ .interval = AUTO_INTERVAL, .lead = AUTO_LEAD,
			.measured = AUTO_MEASURED };
	s->automatic |= !s->on;
	s->on = true;
	if (!s->after)
		s->after = AUTO_AFTER;
}

int cli_sample_parse_detail(struct cli_sample *s, const char *value, struct err *err)
{
	s->in_full = !value;
	if (!value)
		return 0;
	if (!number(&value, &s->after) || *value || !s->after || s->after > INT64_MAX)
		return err_set(err, ERR_INPUT, "--detail=N: N is a number of instructions, as in 50M");
	cli_sample_default(s);
	return 0;
}

const char *cli_sample_misfit(const struct cli_run *run)
{
	if (run->run.start || run->run.stop)
		return "--sample goes with neither --start nor --stop";
	if (run->run.smt || run->cpus)
		return "--sample goes with neither --smt nor --cpus: in a sampled run, threads do not wait for "
		       "each other";
	if (run->run.writes)
		return "--sample does not go with --wrmsr REGISTER=VALUE@FUNCTION";
	return NULL;
}

int cli_sample_check(const struct cli_sample *s, const struct cli_run *run)
{
	const char *text = s->on && s->in_full ? "--sample and --detail exclude each other"
		: s->on ? cli_sample_misfit(run) : NULL;
	if (text)
		cli_error("%s", text);
	return text ? -1 : 0;
}

int cli_sample_begin(struct cli_sample *s, struct cli_run *run, struct session *session, size_t events,
	struct err *err)
{
	if (!s->on)
		return 0;
	cli_sample_free(s);
	s->counts = events + 1 + s->extras;
	s->count = calloc(s->counts, sizeof *s->count);
	s->extra = calloc(s->extras + 1, sizeof *s->extra);
	s->session = session;
	s->events = events;
	s->err.code = 0;
	s->step = s->least ? s->least / 4 : AUTO_STEP;
	s->measured = 0;
	s->windows = 0;
	run->run.sample = s->plan;
	if (s->automatic && s->times_start)
		run->run.sample.after = AUTO_START;
	if (s->after) {
		run->run.sample.after = s->after;
		run->run.sample.one_thread = true;
	}
	s->sampled = false;
	s->detail = calloc(s->counts, sizeof *s->detail);
	run->run.sample.jobs = s->jobs;
	s->exact = calloc(events + 1, sizeof *s->exact);
	for (size_t i = 0; s->exact && i < events; i++)
		s->exact[i].is = session_counts_uops(session, i);
	if (!s->count || !s->extra || !s->detail || !s->exact)
		return err_set(err, ERR_NOMEM, "out of memory for estimates");
	return estimate_create(&s->estimate, s->counts, err);
}

/* The count of an event in a thread so far; event == s->events: the time that it ran, in ns; above: extra counts. */
static double counted(const struct cli_sample *s, size_t thread, size_t event)
{
	struct session_thread t;
	if (event > s->events)
		return s->extra[event - s->events - 1];
	if (event < s->events && session_is_uncore(s->session, event))
		return (double)session_count(s->session, event);
	if (event < s->events)
		return (double)session_thread_count(s->session, thread, event);
	session_thread_info(s->session, thread, &t);
	return (double)t.running_ns;
}

/* The state of a thread; NULL: no memory. */
static struct cli_sample_thread *thread_of(struct cli_sample *s, size_t number)
{
	if (number >= s->threads) {
		struct cli_sample_thread *bigger = realloc(s->thread, (number + 1) * sizeof *bigger);
		if (!bigger)
			return NULL;
		memset(bigger + s->threads, 0, (number + 1 - s->threads) * sizeof *bigger);
		s->thread = bigger;
		s->threads = number + 1;
	}
	struct cli_sample_thread *t = s->thread + number;
	if (!t->before)
		t->before = calloc(s->counts, sizeof *t->before);
	return t->before ? t : NULL;
}

/* The windows of a process; NULL: no memory. */
static struct cli_sample_process *process_of(struct cli_sample *s, size_t number)
{
	if (number >= s->processes) {
		struct cli_sample_process *bigger = realloc(s->process, (number + 1) * sizeof *bigger);
		if (!bigger)
			return NULL;
		memset(bigger + s->processes, 0, (number + 1 - s->processes) * sizeof *bigger);
		s->process = bigger;
		s->processes = number + 1;
	}
	struct cli_sample_process *p = s->process + number;
	if (!p->estimate && estimate_create(&p->estimate, s->counts, NULL))
		return NULL;
	if (!p->interval) {
		p->interval = s->plan.interval;
		p->look_at = 4 * s->step;
	}
	return p;
}

/* The state of a thread and of its process.  False: no memory, which is kept as an error. */
static bool find(struct cli_sample *s, const struct run_thread *run, size_t *number, struct cli_sample_thread **t,
	struct cli_sample_process **p)
{
	*number = session_thread_number(s->session, run);
	*t = *number < session_threads(s->session) ? thread_of(s, *number) : NULL;
	*p = process_of(s, run->process);
	if (*t && *p)
		return true;
	if (!s->err.code)
		err_set(&s->err, ERR_NOMEM, "out of memory for estimates");
	return false;
}

void cli_sample_sampled(struct cli_sample *s, const struct run_thread *run)
{
	size_t number;
	struct cli_sample_thread *t;
	struct cli_sample_process *p;
	if (!find(s, run, &number, &t, &p))
		return;
	t->sampled = true;
	p->detail += counted(s, number, s->events);
	for (size_t i = 0; i <= s->events; i++)
		if (i == s->events || !session_is_uncore(s->session, i))
			s->detail[i] += counted(s, number, i);
		else if (!s->sampled)	/* the machine's, not the thread's */
			s->detail[i] = counted(s, number, i);
	if (s->after && !s->sampled)
		cli_warn("the first %g million instructions are timed; the rest of the run is sampled, and its counts "
			"are estimates (--detail times all of it)", 1e-6 * (double)s->after);
	s->sampled = true;
}

/* --sample=auto, after a window: the stretch to use from now on. */
static uint64_t choose(const struct cli_sample *s, struct cli_sample_process *p)
{
	const size_t n = estimate_windows(p->estimate);
	double half;
	if (n == s->step || n == 2 * s->step)
		return p->interval *= 2;
	if (n < p->look_at)
		return 0;
	p->look_at = 2 * n;
	estimate_fit(p->estimate, NULL);
	const double time = p->detail + estimate_total(p->estimate, s->events, &half);
	if (!(half < auto_narrow * time) || p->interval >= AUTO_MOST)
		return 0;
	return p->interval *= 2;
}

uint64_t cli_sample_window(struct cli_sample *s, const struct run_thread *run, const struct run_window *w)
{
	size_t number;
	struct cli_sample_thread *t;
	struct cli_sample_process *p;
	if (!find(s, run, &number, &t, &p) || w->leads)
		return 0;
	if (w->begins) {
		t->began = *w;
		for (size_t i = 0; i < s->counts; i++)
			t->before[i] = counted(s, number, i);
		return 0;
	}
	const struct core_misses *a = &t->began.misses, *b = &w->misses;
	const double size[ESTIMATE_SIZES] = { (double)(w->instructions - t->began.instructions),
		(double)(b->branches - a->branches), (double)(b->loads - a->loads), (double)(b->l1 - a->l1),
		(double)(b->l2 - a->l2), (double)(b->l3 - a->l3), (double)(b->walks - a->walks) };
	for (size_t i = 0; i < s->counts; i++)
		s->count[i] = counted(s, number, i) - t->before[i];
	s->measured += size[0];
	p->measured += size[0];
	if (size[0] > 0 && !s->err.code)
		estimate_add(p->estimate, size, (double)w->represents, s->count, &s->err);
	s->windows += size[0] > 0;
	return s->automatic && !s->err.code ? choose(s, p) : 0;
}

double cli_sample_weight(const struct cli_sample *s, const struct run_thread *t, const struct run_window *w)
{
	/* windows end with a block, so they are a little longer than planned */
	const struct cli_sample_process *p = t->process < s->processes ? s->process + t->process : NULL;
	const size_t n = p && p->estimate ? estimate_windows(p->estimate) : 0;
	return (double)w->represents / (n ? p->measured / (double)n : (double)s->plan.measured);
}

void cli_sample_executed(struct cli_sample *s, const struct iblock *b, unsigned insns, uint64_t times, bool repeats)
{
	const unsigned whole = insns - (repeats && insns);
	const struct uop *end = b->uop + b->uops;
	for (size_t i = 0; i < s->events; i++) {
		struct cli_sample_exact *exact = &s->exact[i];
		for (const struct uop *u = b->uop; exact->is && u < end && u->insn < insns; u++) {
			const uint64_t n = session_uop(s->session, i, u->is);
			/* how many uops a REP instruction has is not known here */
			if (n && (u->insn >= whole || b->insn[u->insn].flags & INSN_REP))
				exact->is = false;
			exact->count += n * times;
		}
	}
}

int cli_sample_finish(struct cli_sample *s, const struct run_result *r, struct err *err)
{
	const struct core_misses *m = &r->misses;
	const double total[ESTIMATE_SIZES] = { (double)r->sampled, (double)m->branches,
		(double)m->loads, (double)m->l1, (double)m->l2, (double)m->l3, (double)m->walks };
	if (s->err.code) {
		*err = s->err;
		return s->err.code;
	}
	for (size_t i = 0; i < s->processes; i++)
		if (s->process[i].estimate && estimate_join(s->estimate, s->process[i].estimate, err))
			return err->code;
	estimate_fit(s->estimate, total);
	for (size_t k = 0; s->sampled && k < session_threads(s->session); k++)
		for (size_t i = 0; i <= s->events && !(k < s->threads && s->thread[k].sampled); i++)
			if (i == s->events || !session_is_uncore(s->session, i))
				s->detail[i] += counted(s, k, i);
	return 0;
}

double cli_sample_total(const struct cli_sample *s, size_t event, double *half)
{
	if (event < s->events && s->exact[event].is) {
		*half = 0;
		return s->detail[event] + (double)s->exact[event].count;
	}
	return s->detail[event] + estimate_total(s->estimate, event, half);
}

void cli_sample_free(struct cli_sample *s)
{
	for (size_t i = 0; i < s->threads; i++)
		free(s->thread[i].before);
	for (size_t i = 0; i < s->processes; i++)
		estimate_destroy(s->process[i].estimate);
	free(s->process);
	free(s->thread);
	free(s->count);
	free(s->extra);
	free(s->detail);
	free(s->exact);
	estimate_destroy(s->estimate);
	s->thread = NULL;
	s->process = NULL;
	s->threads = s->processes = 0;
	s->count = s->extra = s->detail = NULL;
	s->exact = NULL;
	s->estimate = NULL;
}
