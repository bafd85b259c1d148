/* SPDX-License-Identifier: GPL-2.0-or-later
 * Windows of a sampled run that are timed at the same time (sample.h).  Private to src/run.
 *
 * A lane is a machine with a core that is timed.  Window n of a thread runs on lane n % RUN_LANES: its begin copies the
 * leader's state there, and one of the engine's workers runs it while the front goes on.  What the copy leaves as it
 * is (what loads have learned of stores) is what the lane's last window left.  Everything that a window
 * takes from earlier ones (the pace of the clock, the length of stretches, how far wrong paths get) comes from window
 * n - RUN_LANES and those before, which are done by then.  So nothing depends on the number of workers.
 *
 * There are two lanes: warming and the scripts of windows, which the front makes, take more time than the windows
 * (docs/measured/sampled-runs.md); and the more lanes there are the older is what a window finds on its lane: four gave
 * 0.1 to 0.3 % more cycles.
 *
 * What windows have for the sink (records, side records) is passed on in their order: a lane keeps its records until
 * it is its window's turn.  A lane's own clock is that of the front, which knows the pace of old windows only; the
 * sink's times are moved so that each window begins where the one before it ended, plus the gap between them.
 *
 * Only a thread that is alone has lanes, in a process that is alone.  When another one starts, the thread leaves its
 * lanes, and windows are timed one after the other.
 */
#ifndef RUN_LANES_H
#define RUN_LANES_H
#include "run/runner.h"

struct lane_item;		/* something kept for the sink */

struct lane {
	struct rthread *t;
	struct machine *machine;	/* lane 0 has the process' and the thread's own */
	struct core *core;
	/* set by the front while nothing runs here: */
	uint64_t window;		/* number of its window */
	uint64_t gap;			/* instructions between the window before and this one */
	uint64_t begin_now;		/* the core's clock at its begin */
	bool ran;			/* it has had a window */
	bool mute;			/* what the core passes on belongs to no window */
	/* by the worker that runs it; the front reads these when the window is done, or the engine is drained: */
	bool turn;			/* it is its window's turn, and nothing is kept any more */
	uint64_t shift;			/* sink's clock less the core's, if it is */
	uint64_t begin_cycle, begin_done;
	uint64_t cycles, instructions;	/* of the window's measured part */
	uint64_t next_interval;
	uint64_t told;			/* instructions of the core that the progress line has */
	struct lane_item *item;
	size_t items, item_room, records;	/* records: of all items */
};

struct lanes {
	struct lane lane[RUN_LANES];
	struct lane *now;		/* that of the last window; NULL: none has begun */
	uint64_t first, next;		/* numbers of the first window and of the next one */
	uint64_t clock, at;		/* the front's clock at its last begin, and how many instructions were done */
	bool left;			/* lane `now` is the thread's only one, and its clock the sink's */
	/* by the worker whose window's turn it is: */
	uint64_t end_now;		/* the sink's clock at the end of the window before */
	uint64_t cycles, instructions;	/* of the measured part of that window */
};

/* The thread, which is alone, gets lanes.  So far it has done `instructions` in `cycles`; 0: nothing.  ERR_NOMEM. */
int  lanes_create(struct rthread *t, uint64_t cycles, uint64_t instructions, struct err *err);
void lanes_destroy(struct rthread *t);		/* when the engine is drained */
/* The thread is no longer alone: keeps one lane, whose machine becomes that of the process. */
void lanes_leave(struct rthread *t);
/* The thread's windows so far have ended, and so have its lanes: it keeps the core of one of them, which passes nothing
 * on.  Returns the sink's clock. */
uint64_t lanes_finish(struct rthread *t);
/* The thread has a walker now. */
void lanes_walk(struct rthread *t);
/* A window begins: returns its lane, on which nothing runs and whose last window is done. */
struct lane *lanes_next(struct runner *r, struct rthread *t);
/* The lane has taken over the leader's state: its window runs.  clock: NULL, or the cycle of the run whose leader it
 * was.  Returns the window's first cycle. */
uint64_t lanes_run(struct runner *r, struct rthread *t, struct lane *l, const uint64_t *clock);
void lanes_want(const struct lanes *s, const struct core_wanted *w);
void lanes_discard_code(const struct lanes *s, uint64_t addr, uint64_t bytes);
uint64_t lanes_instructions(const struct lanes *s);	/* retired on all lanes */

/* --- for the engine's workers, and for the front when the engine is drained --- */
/* core_emit of the cores. */
struct spmu_record *lane_batch(void *lane, const struct spmu_batch *batch);
/* A side record: as engine_pass_side, in its turn. */
void lane_side(struct engine *e, struct lane *l, struct rthread *t, uint32_t pid, const uint64_t *record, size_t words,
	uint64_t cycle);
void lane_window(struct engine *e, struct lane *l, const struct run_window *w);
/* Waits for the window's turn, and passes on what was kept. */
void lane_settle(struct engine *e, struct lane *l);
/* The window is done: the next one may pass on what it has. */
void lane_done(struct engine *e, struct lane *l);
/* The clock that the sink sees; it must be the window's turn. */
static inline uint64_t lane_now(const struct lane *l)
{
	return core_now(l->core) + l->shift;
}
#endif
