/* SPDX-License-Identifier: GPL-2.0-or-later
 * The state of a run, and what its three files ask of each other.  Private to src/run/.
 *
 *   run.c            the driver loop; blocks run here
 *   side_records.c   records of the stream that are not blocks
 *   run_threads.c    threads begin and end
 */
#ifndef RUN_RUNNER_H
#define RUN_RUNNER_H
#include "run/engine.h"
#include "run/learner.h"
#include "run/watch/malloc_calls.h"
#include "run/threads/process.h"
#include "run/run.h"
#include "run/watch/switches.h"
#include "run/watch/window.h"

struct runner {
	const struct run_options *o;
	const struct run_sink *sink;
	struct run_result *result;
	struct isa *isa;
	struct stream *stream;
	struct process_table procs;
	struct window window;
	struct switches switches;
	struct heap_watch heap;
	struct engine engine;
	struct learner learner;		/* started when the first gap of a sampled run is taken */
	bool learns_alone;		/* that failed: the front does it */
	int failed;			/* error code of a write in mid-run that failed; `failure` says why */
	struct err failure;
	uint64_t instructions_done;	/* of threads that ended */
	uint64_t max_cycle;
	double started, last_tick;
	/* the window closed, or the sink said stop: the rest is read without modelling */
	bool stopped;
	bool warms;		/* some blocks may only be warmed */
	bool has_thread;	/* of a stream that is cut: a thread has started */
	bool points;		/* the stream holds live points (points/points.h) */
	bool parts;		/* ... in parts (points/parts.h) */
	bool followed;		/* a process has forked another one that is followed */
};

/* run.c: runs all waiting blocks except the pending one.  Called before anything but a block of the same thread is
 * handled. */
void runner_run_ahead(struct runner *r, struct rthread *t);
/* run.c: runs the pending block, after which the thread goes on at next_ip (0: unknown), and all that wait. */
void runner_run_all(struct runner *r, struct rthread *t, uint64_t next_ip);
/* run.c: the span becomes invalid: copies the slots of the pending block.  0 or ERR_NOMEM. */
int  runner_keep_pending(struct rthread *t, struct err *err);

/* side_records.c: handles a record that is not a block.  Sets *stop when the process must wait for another's stream.
 * 0, or an error: ERR_INPUT for a malformed record, ERR_NOMEM, or what the sink returns. */
int  runner_side_record(struct runner *r, struct process *p, const uint64_t *w, size_t length, bool *stop,
	struct err *err);

/* side_records.c: keeps the first note (ST_NOTE) that the tracer has for the user. */
void runner_take_note(struct run_result *result, const uint64_t *w, size_t length);

/* run_threads.c */
/* The sink counts assists by value: the tracer must look for them. */
bool runner_wants_assists(const struct run_options *o);
struct spmu_record *runner_batch(void *rthread, const struct spmu_batch *batch);	/* core_emit of its cores */
extern const struct core_wanted runner_everything;	/* what a run records if the sink does not say what it needs */
int  runner_start_thread(struct runner *r, struct process *p, const struct st_thread *s, struct err *err);
void runner_end_thread(struct runner *r, struct rthread *t);	/* runs what waits; nothing if it has ended */
void runner_end_threads(struct runner *r, struct process *p);
#endif
