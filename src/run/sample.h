/* SPDX-License-Identifier: GPL-2.0-or-later
 * Sampled runs: which blocks of a thread are timed, and which only warm (run_options.sample).  Private to src/run.
 *
 * Each thread has cores of the same description: two, or more (lanes.h).  The leader executes every instruction
 * functionally.  The others are timed, in windows: at the beginning of a window one of them takes over the leader's
 * caches, TLBs, prefetchers and predictors, then it runs `lead` instructions, whose counts nobody uses, and `measured`
 * ones.  So the leader's state never depends on the windows, and it goes on in the front's thread while the cores'
 * thread runs a window.
 *
 * The steps of a thread (instructions, and elements of REP: run_window) are divided into stretches of `interval`, each
 * with one window.  Its place in the
 * stretch is a hash of the window's number, so no loop of the program stays in step with the windows.
 *
 * Between windows the modelled clock moves on as if the stretch had run at the last window's pace: what depends on time
 * (lines that other programs take from L3, intervals, the times of samples) sees about the time that the whole run
 * would take.
 * The windows of a thread that is alone are timed on several machines, maybe at the same time (lanes.h).
 * Left out: threads that wait for each other (each runs on its own clock), contention between threads outside of what
 * caches show.
 */
#ifndef RUN_SAMPLE_H
#define RUN_SAMPLE_H
#include "run/runner.h"

/* The least length of a stretch. */
static inline uint64_t sample_least(const struct run_sample *s)
{
	return RUN_SAMPLE_LEAST * (s->lead + s->measured);
}
/* A permutation that looks random: splitmix64, by Sebastiano Vigna (public domain). */
static inline uint64_t sample_hash(uint64_t n)
{
	n = (n + 1) * UINT64_C(0x9e3779b97f4a7c15);
	n = (n ^ n >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
	n = (n ^ n >> 27) * UINT64_C(0x94d049bb133111eb);
	return n ^ n >> 31;
}
/* How far behind the beginning of its stretch a thread's window lies: less than `room` steps. */
static inline uint64_t sample_offset(uint64_t window, uint32_t thread, uint64_t room)
{
	return sample_hash(window << 32 | thread) % room;
}
/* Checks run_options.sample.  ERR_INPUT: the windows are too long; ERR_UNSUPPORTED: it does not go with other options.
 */
int  sample_check(const struct run_options *o, struct err *err);
/* How many windows are timed at once. */
unsigned sample_jobs(const struct run_options *o);
/* The thread starts: sets its first window.  ERR_NOMEM. */
int  sample_start(struct runner *r, struct rthread *t, struct err *err);
/* A window that is over ends now, not with the next block (points/points.h).  Returns whether none is under way. */
bool sample_settle(struct runner *r, struct rthread *t);
/* The process' thread will not be alone any more.  The engine is drained. */
void sample_several(struct runner *r, struct process *p);
/* A block of a sampled thread: warms the leader, and times it if it lies in a window. */
void sample_block(struct runner *r, struct rthread *t, const struct pending *p);
/* The thread's process has executed run_sample.after instructions: it is sampled from now on. */
void sample_after(struct runner *r, struct rthread *t);
/* Tells the sink how often the block was executed.  Called before a block is freed. */
void sample_tell(const struct runner *r, struct iblock *b);
/* The wrong path needs to know registers and memory when a window begins.  The thread is followed from so many
 * instructions before the window on.  Following it through all of the gap changed cycles by at most 0.1 % (four
 * programs, stretches of 160,000 instructions), and took a sixth of the leader's time. */
enum { SAMPLE_FOLLOWED = 5000 };
/* The thread's walker follows those blocks of the gap that begin so many instructions from now on, or later. */
static inline uint64_t sample_follows_from(const struct rthread *t)
{
	const struct sample_place *s = &t->sample;
	if (t->process->runner->o->sample.cut_step)	/* all of it (cut.h) */
		return 0;
	if (!t->leader || s->part != SAMPLE_GAP || s->until <= s->done + SAMPLE_FOLLOWED)
		return 0;
	return s->until - s->done - SAMPLE_FOLLOWED;
}
/* The thread has executed a block that completes no instruction: an element of REP.  (Where a REP instruction begins
 * within a block, its first element is no step.) */
static inline void sample_round(struct rthread *t)
{
	if (t->process->runner->o->sample.cut_step)	/* pieces are of instructions */
		return;
	t->sample.done++;
	t->sample.rounds++;
}
/* Does the thread's next block only warm? */
static inline bool sample_only_warms(const struct rthread *t)
{
	return t->sample.part == SAMPLE_GAP && t->sample.done < t->sample.until;
}
#endif
