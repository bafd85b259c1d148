/* SPDX-License-Identifier: GPL-2.0-or-later
 * --sample (cli_sample.h).
 */
#include "cli/common/cli_sample.h"
#include "isa/isa.h"
#include "run/executed.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* The windows of --sample=auto. */
enum {
	AUTO_LEAD = 4000, AUTO_MEASURED = 4000,
	/* stretches of this length at first, so that a short run has windows enough; then twice and four times that,
	 * AUTO_STEP windows each, or a quarter of cli_sample.least */
	AUTO_INTERVAL = 40000, AUTO_STEP = 250,
	/* then chosen again whenever there are a quarter more windows (choose): at least as long as then, at most
	 * twice as long as before */
	AUTO_MOST = 1 << 26, AUTO_GROWS = 2,
	/* cli_sample_parts: the shortest stretches for windows of this size, and so many windows of a long run */
	PARTS_INTERVAL = 32000, PARTS_WINDOWS = 16000,
	/* a program's start is like nothing that follows, and too short for windows of its own: it is timed */
	AUTO_START = 1000000,
	/* without an option, so many instructions are timed before the run is sampled */
	AUTO_AFTER = 200000000,
};
static const double auto_narrow = 0.0088;	/* of +-0.01, which the rest of the run must not lose again */

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

void cli_sample_parts(struct cli_sample *s)
{
	if (!s->automatic)
		return;
	s->plan.interval = PARTS_INTERVAL;
	s->least = PARTS_WINDOWS;
	s->times_start = true;
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

/* A file of live points has its own windows.  Returns what is wrong with the options then; NULL: nothing. */
static const char *use_points(struct cli_sample *s, const char *file)
{
	struct st_points p;
	if (!file || !stream_points(file, &p))
		return NULL;
	if (s->in_full || s->after)
		return "--detail: the file holds live points, which are windows of a run: no part can be timed in full";
	if (s->on && !s->automatic)
		return "--sample=N,U,W: the file holds live points, which are windows of their own";
	s->on = s->points = true;
	s->automatic = false;
	s->plan = (struct run_sample){ .interval = RUN_SAMPLE_LEAST * (p.lead + p.measured), .lead = p.lead,
		.measured = p.measured };
	return NULL;
}

int cli_sample_check(struct cli_sample *s, const struct cli_run *run)
{
	const char *const wrong = use_points(s, run->run.replay);
	const char *text = wrong ? wrong
		: run->run.parts.of && !s->points ? "--parts: only a file of live points (--replay) has parts"
		: s->on && s->in_full ? "--sample and --detail exclude each other"
		: s->on ? run_sample_misfit(&run->run) : NULL;
	if (text)
		cli_error("%s", text);
	return text ? -1 : 0;
}

/* Counts the instructions of the stream, or executes the program without a model and saves its stream, which then is
 * replayed.  0, or -1 after one printed line. */
static int count_stream(struct cli_run *run, uint64_t *instructions, int *wait_status)
{
	struct run_result res = { 0 };
	struct err err = { 0 };
	const bool regs = run->run.regs;
	run->run.record_only = true;
	run->run.record_part = run->run.replay != NULL;
	run->run.regs |= run->core.wrong_path;
	const int rc = cli_run_program(run, &(struct run_sink){ 0 }, &res, &err);
	run->run.record_only = run->run.record_part = false;
	run->run.regs = regs;
	if (res.note[0])
		cli_warn("%s", res.note);
	if (rc)
		cli_error("%s", err.text);
	else if (cli_interrupted())
		cli_error("interrupted: nothing was measured");
	if (rc || cli_interrupted())
		return -1;
	*wait_status = res.wait_status;
	*instructions = res.instructions;
	if (!run->run.replay) {
		run->run.replay = run->run.save;
		run->run.save = NULL;
		run->run.argv = NULL;
	}
	return 0;
}

static void set_interval(struct run_sample *plan, uint64_t instructions, uint64_t windows)
{
	const uint64_t least = RUN_SAMPLE_LEAST * (plan->measured + plan->lead), interval = instructions / windows;
	plan->interval = interval > least ? interval : least;
}

int cli_sample_plan(const struct cli_sample *s, struct cli_run *run, uint64_t windows, struct run_sample *plan,
	int *wait_status)
{
	uint64_t instructions = 0;
	*plan = s->plan;
	*wait_status = 0;
	if (run->run.replay && !s->automatic)
		return 0;
	if (count_stream(run, &instructions, wait_status))
		return -1;
	if (s->automatic)
		set_interval(plan, instructions, windows);
	return 0;
}

int cli_sample_plan_long(struct cli_sample *s, struct cli_run *run, uint64_t windows, struct run_sample *plan,
	int *wait_status)
{
	uint64_t instructions = 0;
	*plan = (struct run_sample){ 0 };
	*wait_status = 0;
	if (s->on)
		return cli_sample_plan(s, run, windows, plan, wait_status);
	if (s->in_full || run_sample_misfit(&run->run))
		return 0;
	if (count_stream(run, &instructions, wait_status))
		return -1;
	if (instructions <= CLI_SAMPLE_LONG)
		return 0;
	cli_note("the program is long (some %.0f million instructions): it is sampled, and what is printed are "
		"estimates (--detail times all of it)", 1e-6 * (double)instructions);
	s->on = s->automatic = true;
	*plan = s->plan = (struct run_sample){ .lead = AUTO_LEAD, .measured = AUTO_MEASURED };
	set_interval(plan, instructions, windows);
	return 0;
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
	const int rc = estimate_create(&s->estimate, s->counts, err);
	if (!rc)
		estimate_clock(s->estimate, s->events, s->events + 1);
	return rc;
}

/* The count of an event in a thread so far, or of the uncore in its process; event == s->events: the time that it ran,
 * in ns; above: extra counts. */
static double counted(const struct cli_sample *s, uint32_t process, size_t thread, size_t event)
{
	struct session_thread t;
	if (event > s->events)
		return s->extra[event - s->events - 1];
	if (event < s->events && session_is_uncore(s->session, event))
		return (double)session_process_count(s->session, process, event);
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
		p->look_at = s->least ? s->least : 5 * s->step / 2;
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
	p->detail += counted(s, run->process, number, s->events);
	for (size_t i = 0; i < s->counts; i++)	/* the uncore is the process's, not the thread's */
		if (i >= s->events || !session_is_uncore(s->session, i) || !p->sampled)
			s->detail[i] += counted(s, run->process, number, i);
	p->sampled = true;
	if (s->after && !s->sampled)
		cli_note("the first %g million instructions are timed; the rest of the run is sampled, and its counts "
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
	p->look_at = n + n / 4;
	estimate_fit(p->estimate, NULL);
	const double sampled = estimate_total(p->estimate, s->events, &half), time = p->detail + sampled,
		     bias = ESTIMATE_BIAS * sampled, narrow = auto_narrow * time;
	if (isnan(half))
		return 0;
	/* Of the interval's half width, chance is what more windows would change: its square is the sum over the
	 * windows of the squares of their stretches, times a constant, divided by the square of the run's length.  A
	 * run that goes on with stretches of `factor` times their mean so far (weighted, and counting what was timed
	 * as well) has at most factor^2 / (4 (factor - 1)) times today's square, at some length, and less behind that.
	 * With the factor below that is at most what makes the whole `narrow`. */
	const double chance = half > bias ? half * half - bias * bias : 0,
		     factor = 2 * (narrow * narrow - bias * bias) / chance;	/* infinite if there is none */
	const double mean = p->squares / p->stretches * sampled / time, most = AUTO_GROWS * (double)p->interval,
		     least = (double)s->plan.interval * 4, stretch = factor * mean < most ? factor * mean : most;
	return p->interval = stretch > AUTO_MOST ? AUTO_MOST : (uint64_t)(stretch > least ? stretch : least);
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
			t->before[i] = counted(s, run->process, number, i);
		return 0;
	}
	const struct core_misses *a = &t->began.misses, *b = &w->misses;
	const double size[ESTIMATE_SIZES] = {
		(double)(w->instructions + w->rounds - t->began.instructions - t->began.rounds),
		(double)(b->branches - a->branches), (double)(b->loads - a->loads), (double)(b->l1 - a->l1),
		(double)(b->l2 - a->l2), (double)(b->l3 - a->l3), (double)(b->walks - a->walks),
		(double)(w->instructions - t->began.instructions) };
	for (size_t i = 0; i < s->counts; i++)
		s->count[i] = counted(s, run->process, number, i) - t->before[i];
	p->stretches += (double)w->represents;
	p->squares += (double)w->represents * (double)w->represents;
	s->measured += size[ESTIMATE_INSTRUCTIONS];
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
	const struct uop *end = b->uop + b->uops;
	for (size_t i = 0; i < s->events; i++) {
		struct cli_sample_exact *exact = &s->exact[i];
		for (const struct uop *u = b->uop; exact->is && u < end && u->insn < insns; u++) {
			const uint64_t n = session_uop(s->session, i, u->is);
			if (n && !executed_once(b, u, insns, repeats))
				exact->is = false;
			exact->count += n * times;
		}
	}
}

/* The count of an event of the uncore in processes that are not sampled. */
static double not_sampled(const struct cli_sample *s, size_t event)
{
	double sum = (double)session_count(s->session, event);
	for (size_t k = 0; k < s->processes; k++)
		if (s->process[k].sampled)
			sum -= (double)session_process_count(s->session, (uint32_t)k, event);
	return sum;
}

double cli_sample_timed(const struct cli_sample *s, size_t event)
{
	double sum = s->detail[event];
	if (event < s->events && session_is_uncore(s->session, event))
		return sum + not_sampled(s, event);
	for (size_t k = 0; k < session_threads(s->session); k++)
		if (!cli_sample_has_windows(s, k))
			sum += counted(s, 0, k, event);
	return sum;
}

int cli_sample_finish(struct cli_sample *s, const struct run_result *r, struct err *err)
{
	const struct core_misses *m = &r->misses;
	const double total[ESTIMATE_SIZES] = { (double)(r->sampled + r->rounds), (double)m->branches,
		(double)m->loads, (double)m->l1, (double)m->l2, (double)m->l3, (double)m->walks, (double)r->sampled };
	if (s->err.code) {
		*err = s->err;
		return s->err.code;
	}
	for (size_t i = 0; i < s->processes; i++)
		if (s->process[i].estimate && estimate_join(s->estimate, s->process[i].estimate, err))
			return err->code;
	estimate_fit(s->estimate, total);
	for (size_t k = 0; s->sampled && k < session_threads(s->session); k++)
		for (size_t i = 0; i <= s->events && !cli_sample_has_windows(s, k); i++)
			if (i == s->events || !session_is_uncore(s->session, i))
				s->detail[i] += counted(s, 0, k, i);
	for (size_t i = 0; s->sampled && i < s->events; i++)
		if (session_is_uncore(s->session, i))
			s->detail[i] += not_sampled(s, i);
	return estimate_elsewhere(s->estimate, (double)(r->instructions + r->warmed - r->sampled), s->detail, err);
}

double cli_sample_total(const struct cli_sample *s, size_t event, double *half)
{
	if (event < s->events && s->exact[event].is) {
		*half = 0;
		return s->detail[event] + (double)s->exact[event].count;
	}
	return s->detail[event] + estimate_total(s->estimate, event, half);
}

void cli_sample_print(const struct cli_sample *s, const struct run_result *r, FILE *out)
{
	const double timed = 1 - (double)r->sampled / (double)(r->instructions + r->warmed);
	if (s->after)
		fprintf(out, " %.2f%% of the instructions were timed, then the run was sampled (--detail times all of "
			"it)\n", 100 * timed);
	fprintf(out, " Estimated from %zu windows; %.2f%% of the instructions%s were measured\n", s->windows,
		100 * s->measured / (double)r->sampled, timed > 0 ? " after the start" : "");
	/* Their control variate is an estimate itself, so the regression leaves no error; and what is wrong with it is
	 * not chance but bias, of either sign (docs/measured/live-point-error.md). */
	if (s->points)
		fputs(" Live points: mispredicted branches are estimated as well; where that was measured, they were "
			"up to 11% off\n", out);
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
