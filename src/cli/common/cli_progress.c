/* SPDX-License-Identifier: GPL-2.0-or-later
 * A run as its user sees it: the progress line, and what Ctrl-C does.
 *
 * A SIGINT from the terminal reaches the whole foreground group, also the traced program.  softpmu only takes
 * note of it and waits for the program's own reaction.  A signal that somebody sent with kill() may have been
 * meant for softpmu alone, so it is passed on to the program (a program in the same group may then get it
 * twice).
 */
#include "cli/cli.h"
#include "cli/common/cli_input.h"
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static const double SHOW_AFTER = 2.0, SHOW_EVERY = 0.2, TWICE_WITHIN = 3.0;	/* seconds */

/* signal handlers can only reach globals */
static volatile sig_atomic_t taken, passed_on;	/* signals so far; the last one to pass on */
static const int caught[] = { SIGINT, SIGTERM, SIGHUP };
enum { CAUGHT = sizeof caught / sizeof *caught };

struct guarded {		/* a run with its sink */
	struct cli_run *r;
	const struct run_sink *sink;
	uint32_t process;
	int seen, serious;	/* signals seen by tick; those in quick succession */
	double last;
	bool stopped;
};

static double now(void)
{
	struct timespec ts;
	clock_gettime(CLOCK_MONOTONIC, &ts);	/* only for the terminal; no result depends on it */
	return (double)ts.tv_sec + 1e-9 * (double)ts.tv_nsec;
}

static void on_signal(int signo, siginfo_t *info, void *context)
{
	(void)context;
	taken = taken + 1;
	if (info && (info->si_code == SI_USER || info->si_code == SI_QUEUE || info->si_code == SI_TKILL))
		passed_on = signo;
}

/* Does the program write to the terminal on which progress is shown?  Then a line that is drawn over and over would get
 * into its output.  Each progress is a line of its own there, and lines come ever more rarely. */
static bool apart(const struct cli_run *r)
{
	return r->argv && !r->run.replay && isatty(STDOUT_FILENO);
}

/* Is it time for a progress, `seconds` into the work? */
static bool due(const struct cli_run *r, double t, double seconds)
{
	static const double at[] = { 2, 5, 10, 20, 30 };	/* seconds; then every minute */
	const unsigned n = sizeof at / sizeof *at;
	if (!r->on_terminal || seconds < SHOW_AFTER)
		return false;
	if (apart(r))
		return seconds >= (r->lines < n ? at[r->lines] : 60.0 * (r->lines - n + 1));
	return t - r->shown >= SHOW_EVERY;
}

int cli_tick(void *context, uint64_t instructions, uint64_t cycles)
{
	struct cli_run *r = context;
	const double t = now(), seconds = t - r->started;
	if (!due(r, t, r->doing ? t - r->first : seconds))
		return 0;
	const double modelled = (double)cycles / (r->core.frequency_ghz * 1e9);
	const double share = r->expected ? (double)instructions / (double)r->expected : r->share;
	const bool line = apart(r);
	double input;
	char known[32] = "", times[64] = "";
	if (share > 0)
		snprintf(known, sizeof known, "%.0f%%, ", share < 1 ? 100 * share : 100);
	else if (r->child > 0 && (input = cli_input_share(r->child)) > 0)
		snprintf(known, sizeof known, "%.0f%% of the input, ", 100 * input);
	/* a program that mostly waits takes its time anyway */
	if (!r->told && modelled > 0 && 1e-6 * (double)instructions > seconds) {
		r->told = true;
		fprintf(stderr, "\rsoftpmu: the model takes about %.0f times as long as the modelled machine would"
			"\033[K\n", seconds / modelled);
	}
	if (cycles)	/* softpmu trace models nothing */
		snprintf(times, sizeof times, "%.1f M cycles, %.4f s modelled, ", 1e-6 * (double)cycles, modelled);
	fprintf(stderr, "%s%s%s%s%.1f M instructions, %s%.0f s passed, %.1f MIPS%s", line ? "softpmu: " : "\r  ",
		r->doing ? r->doing : "", r->doing ? ": " : "", known, 1e-6 * (double)instructions, times, seconds,
		seconds > 0 ? 1e-6 * (double)instructions / seconds : 0, line ? "\n" : "\033[K");
	fflush(stderr);
	r->lines++;
	r->shown = line ? 0 : t;
	return 0;
}

void cli_progress_begin(struct cli_run *r)
{
	r->on_terminal = isatty(STDERR_FILENO);
	r->started = now();
	if (!r->first)
		r->first = r->started;
	r->shown = 0;
	r->lines = 0;
	r->share = -1;
	r->child = 0;
	r->run.share = &r->share;
}

void cli_progress_clear(struct cli_run *r)
{
	if (r->shown > 0) {
		fputs("\r\033[K", stderr);
		fflush(stderr);
		r->shown = 0;
	}
}

void cli_progress_text(struct cli_run *r, const char *text)
{
	const double t = now();
	if (!r->on_terminal || t - r->started < SHOW_AFTER || t - r->shown < SHOW_EVERY)
		return;
	fprintf(stderr, "\r  %s\033[K", text);
	fflush(stderr);
	r->shown = t;
}

void cli_progress_share(struct cli_run *r)
{
	char text[96];
	snprintf(text, sizeof text, "%s: %.0f%%", r->doing, r->share > 0 ? 100 * r->share : 0);
	cli_progress_text(r, text);
}

/* 0: go on; 1: stop the measurement. */
static int interrupted(struct guarded *g)
{
	if (passed_on) {
		int signo = passed_on;
		passed_on = 0;
		if (g->r->child > 0)
			kill(g->r->child, signo);
	}
	if (taken != g->seen) {
		double t = now();
		g->serious = g->serious && t - g->last > TWICE_WITHIN && !g->stopped ? 1 : g->serious + 1;
		g->seen = taken;
		g->last = t;
		if (g->serious >= 3 && g->r->child > 0)
			kill(g->r->child, SIGKILL);
		if (g->serious >= 2 || !g->r->argv)	/* nothing else will end the replay of a stream */
			g->stopped = true;
	}
	return g->stopped;
}

static int guard_start(void *context, struct run_thread *t, struct err *err)
{
	struct guarded *g = context;
	if (!g->r->child && g->r->argv) {
		g->r->child = (pid_t)t->pid;
		g->process = t->process;
	}
	return g->sink->thread_start ? g->sink->thread_start(g->sink->context, t, err) : 0;
}

static void guard_end(void *context, struct run_thread *t)
{
	struct guarded *g = context;
	if (g->sink->thread_end)
		g->sink->thread_end(g->sink->context, t);
}

static void guard_batch(void *context, struct run_thread *t, const struct spmu_batch *b)
{
	struct guarded *g = context;
	if (!*g->r->program)	/* a thread has its name soon after its start */
		memcpy(g->r->program, t->comm, sizeof t->comm);
	if (g->sink->batch)
		g->sink->batch(g->sink->context, t, b);
}

static void guard_side(void *context, struct run_thread *t, uint32_t pid, const uint64_t *record, uint64_t cycle)
{
	struct guarded *g = context;
	if (ST_HEADER_KIND(record[0]) == ST_EXIT && (pid_t)pid == g->r->child)
		g->r->child = -1;	/* the program ends: its pid may soon belong to somebody else */
	if (g->sink->side)
		g->sink->side(g->sink->context, t, pid, record, cycle);
}

static int guard_tick(void *context, uint64_t instructions, uint64_t cycles)
{
	struct guarded *g = context;
	int stop = interrupted(g);
	if (g->sink->tick && g->sink->tick != cli_tick)
		stop |= g->sink->tick(g->sink->context, instructions, cycles);
	else
		cli_tick(g->r, instructions, cycles);
	return stop;
}

bool cli_interrupted(void)
{
	return taken;
}

static bool guard_client(void *context, struct run_thread *t, const struct st_client *request, const char *name,
	struct st_answer *answer)
{
	struct guarded *g = context;
	return g->sink->client && g->sink->client(g->sink->context, t, request, name, answer);
}

static void guard_sampled(void *context, struct run_thread *t)
{
	struct guarded *g = context;
	if (g->sink->sampled)
		g->sink->sampled(g->sink->context, t);
}

static uint64_t guard_window(void *context, struct run_thread *t, const struct run_window *w)
{
	struct guarded *g = context;
	return g->sink->window ? g->sink->window(g->sink->context, t, w) : 0;
}

static void guard_executed(void *context, const struct iblock *b, unsigned insns, uint64_t times, bool repeats)
{
	struct guarded *g = context;
	if (g->sink->executed)
		g->sink->executed(g->sink->context, b, insns, times, repeats);
}

static void guard_defined(void *context, const struct st_block_def *def)
{
	struct guarded *g = context;
	g->sink->defined(g->sink->context, def);
}

static void catch(struct sigaction before[CAUGHT])
{
	struct sigaction act = { .sa_sigaction = on_signal, .sa_flags = SA_SIGINFO | SA_RESTART };
	taken = passed_on = 0;
	sigemptyset(&act.sa_mask);
	for (int i = 0; i < CAUGHT; i++) {
		sigaction(caught[i], NULL, before + i);
		/* nohup, a shell's background job: the signal stays ignored, for the program as well */
		if (before[i].sa_handler != SIG_IGN)
			sigaction(caught[i], &act, NULL);
	}
}

void cli_catch(bool on)
{
	static struct sigaction before[CAUGHT];
	static bool caught_now;
	if (on == caught_now)
		return;
	caught_now = on;
	if (on)
		catch(before);
	for (int i = 0; i < CAUGHT && !on; i++)
		sigaction(caught[i], before + i, NULL);
}

int cli_run_program(struct cli_run *r, const struct run_sink *sink, struct run_result *result, struct err *err)
{
	struct guarded g = { .r = r, .sink = sink };
	struct run_sink guard = { .context = &g,
		.thread_start = guard_start, .thread_end = guard_end, .batch = guard_batch, .client = guard_client,
		.side = guard_side, .tick = guard_tick, .sampled = guard_sampled,
		.window = guard_window, .executed = guard_executed,
		.defined = sink->defined ? guard_defined : NULL };
	struct sigaction before[CAUGHT];

	cli_progress_begin(r);
	catch(before);
	int rc = run_program(&r->run, &guard, result, err);
	cli_progress_clear(r);
	for (int i = 0; i < CAUGHT; i++)
		sigaction(caught[i], before + i, NULL);
	/* as a shell says it */
	if (r->argv && !r->run.replay && WIFSIGNALED(result->wait_status))
		cli_note("%s: %s%s", r->argv[0], strsignal(WTERMSIG(result->wait_status)),
			cli_interrupted() ? ". What was measured ends there" : "");
	else if (g.stopped && !r->doing)	/* who makes several runs says it once */
		cli_note("interrupted: what was measured ends there");
	return rc;
}
