/* SPDX-License-Identifier: GPL-2.0-or-later
 * The driver loop: stream -> isa -> core -> sink (run.h).
 *
 * A thread's blocks run one block late, because the next block tells how a branch was resolved.
 *
 * Processes are independent except for two orderings, which make their clocks meaningful and repeatable:
 * a child starts at its parent's clock at the fork, and a parent that reaped a child continues no earlier than that
 * child ended.  If a process has to wait for another's stream, copies of its spans are queued (`stash`); the rings of
 * the other processes limit how much waits.
 *
 * Left out: time spent in the kernel; a blocking call takes as long as the threads that ran meanwhile.
 */
#include "run/runner.h"
#include "run/ahead.h"
#include "run/engine.h"
#include "run/gap.h"
#include "run/points/capture_program.h"
#include "run/points/parallel.h"
#include "run/points/parts.h"
#include "run/sample.h"
#include "run/watch/calls.h"
#include "run/watch/malloc_calls.h"
#include "run/threads/machine_events.h"
#include "run/threads/process.h"
#include "run/watch/switches.h"
#include "run/watch/tally.h"
#include "run/watch/window.h"
#include "core/core.h"
#include "core/wrongpath/walker.h"
#include "softpmu/client.h"
#include "stream/stream_hub.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static double wall_now(void)
{
	struct timespec ts;
	clock_gettime(CLOCK_MONOTONIC, &ts);	/* for progress, and for wall_seconds; in no other result */
	return (double)ts.tv_sec + 1e-9 * (double)ts.tv_nsec;
}

struct process_table *runner_processes(struct runner *r)
{
	return &r->procs;
}

/* process.h: called before anything touches a core or frees a block. */
void runner_drain(struct process *p)
{
	learner_settle(&p->runner->learner);
	engine_drain(&p->runner->engine, p);
}

/* process.h: called before a block is freed. */
void runner_forget_block(struct process *p, struct iblock *b)
{
	if (p->runner->o->sample.measured)
		sample_tell(p->runner, b);
}

/* ---- blocks ---- */

static void count_odd(struct runner *r, const struct iblock *b, unsigned insns)
{
	for (unsigned i = 0; i < insns; i++) {
		if (b->insn[i].flags & INSN_UNKNOWN)
			r->result->unknown++;
		if (b->insn[i].flags & INSN_SUBSTITUTE)
			r->result->substitute++;
	}
}

static void close_window(struct runner *r)
{
	r->stopped = true;
}

/* Handles a block that perhaps only warms, or that the start or stop condition may concern.  Returns false if it must
 * not run. */
static bool window_step(struct runner *r, struct rthread *t, struct pending *p)
{
	unsigned done = run_completed(p->block, p->exit, p->insns);
	if (t->pub.warms) {
		engine_warm(&r->engine, t, p);
		r->result->warmed += done;
		return false;
	}
	if (!r->window.active)
		return true;
	switch (window_block(&r->window, p->block_flags, done)) {
	case WINDOW_WARM:
		engine_warm(&r->engine, t, p);
		r->result->warmed += done;
		return false;
	case WINDOW_CLOSED:
		close_window(r);
		return false;
	case WINDOW_LAST:
		p->insns = window_left(&r->window, p->insns);
		engine_run(&r->engine, t, p);
		close_window(r);
		return false;
	default:
		return true;
	}
}

/* Reports a call of the allocator that ends with this block. */
static void watch_heap(struct runner *r, struct rthread *t, const struct pending *p)
{
	struct run_heap call;
	if (heap_block(&r->heap, t->heap, t->process->index, t->process->word_bytes, p->block,
		       p->block_flags & BLOCK_HEAP, p->slots, p->slot_count, p->next_ip, &call) && r->sink->side)
		engine_side(&r->engine, t, t->process->pid, (const uint64_t *)&call, sizeof call / 8, 0);
}

static void odd_block(struct runner *r, struct rthread *t, const struct pending *p)
{
	if (p->block_flags & BLOCK_ODD)
		count_odd(r, p->block, p->insns);
	if (p->block_flags & BLOCK_WRITE && !r->failed)
		r->failed = switches_block(&r->switches, t, p->block, r->isa, &r->failure);
}

/* Before the thread is sampled: windows will be told of the calls under way (run_options.calls). */
static void follow_calls(struct rthread *t, const struct pending *p)
{
	const unsigned done = run_completed(p->block, p->exit, p->insns);
	if (done == p->block->exit[p->exit].insns && calls_ends(p->block, p->exit))
		calls_block(t->calls, p->block, p->exit, p->slots);
}

/* Runs a block whose next_ip is known. */
static inline void run_block(struct runner *r, struct rthread *t, struct pending *p)
{
	if (__builtin_expect(r->stopped, 0))	/* behind the window's end */
		return;
	if (__builtin_expect(p->block_flags & (BLOCK_ODD | BLOCK_WRITE), 0))
		odd_block(r, t, p);
	if (__builtin_expect(t->leader != NULL, 0)) {
		sample_block(r, t, p);
	} else {
		if (__builtin_expect(!(r->window.active | t->pub.warms), 1) || window_step(r, t, p))
			engine_run(&r->engine, t, p);
		if (__builtin_expect(t->calls != NULL, 0))
			follow_calls(t, p);
	}
	if (__builtin_expect((t->process->detail_left -= p->insns) < 0, 0))
		sample_after(r, t);
	if (__builtin_expect(t->heap != NULL, 0))
		watch_heap(r, t, p);
}

/* Runs all waiting blocks except the pending one: before anything but a block of the same thread is handled. */
void runner_run_ahead(struct runner *r, struct rthread *t)
{
	while (t->ahead && !ahead_is_empty(t->ahead))
		run_block(r, t, ahead_take(t->ahead));
}

/* Runs the pending block; if that is to wait, too, runs the one that has waited longest. */
static inline void run_pending(struct runner *r, struct rthread *t, uint64_t next_ip)
{
	struct pending *p = &t->pending;
	if (!p->block)
		return;
	p->next_ip = next_ip;
	if (!t->ahead) {
		run_block(r, t, p);
	} else if (__builtin_expect(p->block_flags & BLOCK_WRITE, 0)) {	/* it may change the blocks behind it */
		runner_run_ahead(r, t);
		run_block(r, t, p);
	} else {
		if (__builtin_expect(ahead_is_full(t->ahead), 1))
			run_block(r, t, ahead_take(t->ahead));
		ahead_put(t->ahead, p);
	}
	p->block = NULL;
}

/* Runs the pending block and all that wait. */
void runner_run_all(struct runner *r, struct rthread *t, uint64_t next_ip)
{
	run_pending(r, t, next_ip);
	runner_run_ahead(r, t);
}

/* The span becomes invalid: copies the slots of the pending block. */
int runner_keep_pending(struct rthread *t, struct err *err)
{
	struct pending *p = &t->pending;
	int rc = t->ahead ? ahead_keep(t->ahead, err) : 0;
	if (rc < 0 || !p->block || p->slots == t->kept)
		return rc;
	if (p->slot_count > t->kept_size) {
		uint64_t *bigger = realloc(t->kept, p->slot_count * sizeof *bigger);
		if (!bigger)
			return err_set(err, ERR_NOMEM, "out of memory for the slots of a block");
		t->kept = bigger;
		t->kept_size = p->slot_count;
	}
	if (p->slot_count)
		memcpy(t->kept, p->slots, p->slot_count * sizeof *t->kept);
	p->slots = t->kept;
	return 0;
}

/* ---- the stream ---- */

static bool fits(const uint64_t *words, size_t left, size_t *length)
{
	uint32_t bytes = ST_HEADER_LOW(words[0]);
	*length = bytes / 8;
	return bytes % 8 == 0 && bytes >= 8 && *length <= left;
}

/* How many words ahead of a block's header the cache line is prefetched.  The tracer wrote it on another core of the
 * host; waiting for each header took a tenth of the thread's time with the wrong path. */
enum { FETCH_AHEAD = 128 };

/* Consumes one span of one process.  *used: words consumed (less than count only if the process must wait). */
static int consume(struct runner *r, struct process *p, const uint64_t *w, size_t count, size_t *used, struct err *err)
{
	size_t at = 0;
	int rc = 0;
	if (__builtin_expect(p->decoding != r->procs.decoding, 0))
		process_decode_for(&r->procs, p, r->isa);
	while (at < count && !r->stopped) {
		uint64_t header = w[at];
		unsigned kind = ST_HEADER_KIND(header);
		if (__builtin_expect(r->warms, 0) && kind == ST_BLOCK && gap_here(r, p)) {
			const size_t taken = gap_take(r, p, w + at, count - at);
			at += taken;
			if (taken)
				continue;
		}
		if (__builtin_expect(kind == ST_BLOCK, 1)) {
			__builtin_prefetch(w + at + FETCH_AHEAD);	/* beyond the span, too: that does no harm */
			__builtin_prefetch(w + at + FETCH_AHEAD + 8);
			uint32_t id = ST_HEADER_LOW(header);
			unsigned exit = ST_HEADER_EXIT(header);
			struct rthread *t = p->current;
			struct iblock *b = id < p->blocks ? p->block[id] : NULL;
			if (__builtin_expect(!b || !t || exit >= b->exits || b->exit[exit].slots > count - at - 1, 0)) {
				rc = err_set(err, ERR_INPUT,
					     "the stream of process %u runs block %u, exit %u, which it did not define",
					     p->pid, id, exit);
				break;
			}
			run_pending(r, t, b->addr);
			unsigned slots = b->exit[exit].slots;
			t->pending = (struct pending){ .block = b, .exit = (uint16_t)exit, .insns = b->exit[exit].insns,
				.slot_count = slots, .slots = w + at + 1, .block_flags = p->block_flags[id] };
			at += 1 + slots;
		} else if (kind == ST_BLOCK_CUT) {
			uint32_t id = ST_HEADER_LOW(header);
			unsigned insns = ST_HEADER_EXIT(header), slots = 0;
			struct rthread *t = p->current;
			struct iblock *b = id < p->blocks ? p->block[id] : NULL;
			if (!b || !t || insns > b->insns) {
				rc = err_set(err, ERR_INPUT,
					"the stream of process %u cuts block %u, which it did not define", p->pid, id);
				break;
			}
			for (unsigned i = 0; i < insns; i++)
				slots += b->insn[i].slots;
			if (slots > count - at - 1) {
				rc = err_set(err, ERR_INPUT,
					"the stream of process %u ends within a cut block", p->pid);
				break;
			}
			if (insns) {
				run_pending(r, t, b->addr);
				t->pending = (struct pending){ .block = b,
					.exit = (uint16_t)(b->exits - 1), .insns = (uint16_t)insns,
					.slot_count = slots, .slots = w + at + 1,
					.block_flags = p->block_flags[id] };
			}
			at += 1 + slots;
		} else if (kind == ST_CHUNK_END) {	/* the rest of the span has no meaning */
			at = count;
		} else {
			size_t length;
			bool stop = false;
			if (!fits(w + at, count - at, &length)) {
				rc = err_set(err, ERR_INPUT,
					     "the stream of process %u holds a record of kind %u with a bad length",
					     p->pid, kind);
				break;
			}
			rc = runner_side_record(r, p, w + at, length, &stop, err);
			if (rc < 0)
				break;
			at += length;
			if (stop)
				break;
		}
	}
	if (r->failed && rc == 0)
		rc = err_set(err, r->failed, "%s", r->failure.text);
	if (rc == 0)
		rc = engine_failed(&r->engine, err);
	if (p->current && rc == 0)
		rc = runner_keep_pending(p->current, err);
	*used = r->stopped ? count : at;
	return rc;
}

/* Runs a span, or its rest, through its process; stashes what must wait. */
static int feed(struct runner *r, struct process *p, const uint64_t *w, size_t count, struct err *err)
{
	size_t used = 0;
	int rc = 0;
	if (!process_waits(&r->procs, p) && !p->stashed)
		rc = consume(r, p, w, count, &used, err);
	if (rc == 0 && used < count)
		rc = process_stash(p, w + used, count - used, err);
	return rc;
}

/* Continues processes whose wait has ended because of what just ran.  give_up: ends all waits. */
static int release(struct runner *r, bool give_up, bool at_end, struct err *err)
{
	for (bool moved = true; moved;) {
		moved = false;
		for (size_t i = 0; i < r->procs.count; i++) {
			struct process *p = r->procs.process[i];
			if (give_up)
				process_stop_waiting(&r->procs, p, at_end);
			while (p->stashed && !process_waits(&r->procs, p)) {
				size_t count, used = 0;
				uint64_t *w = process_unstash(p, &count);
				int rc = consume(r, p, w, count, &used, err);
				if (rc == 0 && used < count)
					rc = process_restash(p, w, used, count, err);
				else
					free(w);
				if (rc < 0)
					return rc;
				moved = true;
				if (give_up)
					process_stop_waiting(&r->procs, p, at_end);
			}
		}
	}
	return 0;
}

/* True: the run's owner wants no more of it. */
static bool tick(struct runner *r)
{
	double now = wall_now();
	if (now - r->last_tick < 0.1)
		return false;
	r->last_tick = now;
	uint64_t n =
		r->instructions_done + __atomic_load_n(&r->engine.instructions, __ATOMIC_RELAXED) + r->result->warmed;
	uint64_t cycle = __atomic_load_n(&r->engine.cycle, __ATOMIC_RELAXED);
	if (r->o->share)
		*r->o->share = stream_share(r->stream);
	const bool enough =
		r->sink->tick && r->sink->tick(r->sink->context, n, cycle > r->max_cycle ? cycle : r->max_cycle);
	r->stopped |= enough;
	return enough;
}

/* An error of the stream (a killed child, a full disk under --save-stream) is kept until the end, and the rest is still
 * counted. */
static int loop(struct runner *r, struct stream *s, struct err *err)
{
	bool detached = false;
	int failed = 0;
	for (;;) {
		struct stream_span span;
		int rc = stream_next(s, &span, failed ? NULL : err);
		if (rc < 0) {
			if (failed == rc)
				return rc;
			failed = rc;
			continue;
		}
		if (rc == STREAM_END) {
			rc = release(r, true, true, failed ? NULL : err);
			return failed ? failed : rc;
		}
		if (tick(r) && r->o->replay)	/* nothing waits for the rest to be read */
			return failed;
		if (r->stopped) {
			if (!detached)
				stream_detach(s);
			detached = true;
			continue;
		}
		if (rc == STREAM_IDLE) {
			if (process_any_hopeless(&r->procs)) {
				rc = release(r, true, false, err);
				if (rc < 0)
					return rc;
			}
			continue;
		}
		struct process *p;
		rc = process_get(&p, &r->procs, span.process, span.pid, r, err);
		if (rc == 0)
			rc = feed(r, p, span.words, span.count, err);
		if (rc == 0 && r->procs.count > 1)
			rc = release(r, false, false, err);
		if (rc < 0)
			return rc;
	}
}

struct recording {
	struct stream *stream;
	struct run_result *result;
};

static void recorded(void *context, uint32_t process, const uint64_t *w, size_t words)
{
	struct recording *r = context;
	const struct st_client *c = (const struct st_client *)w;
	if (ST_HEADER_KIND(w[0]) == ST_NOTE)
		runner_take_note(r->result, w, words);
	if (ST_HEADER_KIND(w[0]) == ST_CLIENT && words * 8 >= sizeof *c && c->number)
		stream_answer(r->stream, process, &(struct st_answer){ .number = c->number,
			.status = SPMU_CLIENT_ABSENT });
}

enum { RECORD_PART = 1 << 22 };	/* words; of a longer stream an eighth of the rest is read as well */

/* Runs without a model: `softpmu trace`; or counts the instructions of a recorded stream. */
static int record_only(const struct run_options *o, const struct run_sink *sink, struct run_result *result,
		       struct err *err)
{
	const double started = wall_now();
	struct tally *tally = NULL;
	struct stream *s = NULL;
	struct run_thread first = { 0 };
	struct recording r = { NULL, result };
	double last = started;
	bool detached = false;
	uint64_t read = 0;
	const uint64_t all = o->record_part && o->replay ? stream_words(o->replay) : 0,
		       enough = all > RECORD_PART ? RECORD_PART + (all - RECORD_PART) / 8 : UINT64_MAX;
	int failed = 0, rc = tally_create(&tally, err);
	if (!rc && o->replay)
		rc = stream_open(&s, o->replay, err);
	else if (!rc)
		rc = stream_launch(&s, &(struct stream_launch){ .argv = o->argv, .tracer_dir = o->tracer_dir,
			.follow = o->follow, .waits = o->waits, .regs = o->regs, .assists = o->assists,
			.save = o->save, .env = o->env }, err);
	r.stream = s;
	while (!rc) {
		struct stream_span span;
		int got = stream_next(s, &span, failed ? NULL : err);
		if (got == STREAM_END)
			break;
		if (got < 0 && failed == got)
			rc = got;
		else if (got < 0)
			failed = got;
		else if (got == STREAM_SPAN && !detached)
			rc = tally_span(tally, &span, recorded, &r, failed ? NULL : err);
		if (got == STREAM_SPAN && (read += span.count) >= enough)
			break;
		if (got == STREAM_SPAN && !first.pid) {
			first = (struct run_thread){ .process = span.process, .pid = span.pid, .tid = span.pid };
			if (!rc && sink->thread_start)
				rc = sink->thread_start(sink->context, &first, err);
		}
		if (wall_now() - last >= 0.1) {
			last = wall_now();
			if (sink->tick && sink->tick(sink->context, tally_instructions(tally), 0) && !detached) {
				stream_detach(s);
				detached = true;
				if (o->replay)
					break;
			}
		}
	}
	if (s) {
		result->wait_status = stream_wait_status(s);
		stream_close(s);
	}
	result->instructions = tally ? tally_instructions(tally) : 0;
	if (read >= enough)	/* the number of words an instruction hardly changes during a program */
		result->instructions = (uint64_t)((double)result->instructions * (double)all / (double)read);
	result->wall_seconds = wall_now() - started;
	tally_destroy(tally);
	return rc ? rc : failed;
}

static bool takes_every(void *context, uint32_t part)
{
	return run_takes_part(context, part);
}

int run_program(const struct run_options *o, const struct run_sink *sink, struct run_result *result, struct err *err)
{
	struct runner r = { .o = o, .sink = sink, .result = result, .started = wall_now() };
	char uops[4096];
	memset(result, 0, sizeof *result);
	const char *misfit = o->core && o->core->both_rings && !o->record_only ? whole_misfit(o) : NULL;
	if (misfit)
		return err_set(err, ERR_UNSUPPORTED, "%s", misfit);
	if (o->live_points)
		return capture_program(o, sink, result, err);
	if (o->record_only)
		return record_only(o, sink, result, err);
	if (parallel_fits(o, sink))
		return parallel_run(o, sink, result, err);
	r.last_tick = r.started;
	r.procs.processors = o->cpus;
	r.procs.quantum = o->quantum;
	r.procs.smt = o->smt ? o->core->smt_threads : 0;
	r.procs.core = o->core;
	r.procs.features = o->features;

	snprintf(uops, sizeof uops, "%s/uops/%s.tsv", o->data_dir, o->core->uops);
	int rc = sample_check(o, err);
	if (rc == 0)
		rc = window_init(&r.window, o->start, o->stop, err);
	r.warms = r.window.active || o->sample.measured;
	if (rc == 0)
		rc = switches_init(&r.switches, o, err);
	if (rc == 0)
		rc = isa_create(&r.isa, uops, err);
	if (rc == 0) {
		struct isa_options options;
		core_isa_options(o->core, &options);
		isa_configure(r.isa, &options);
	}
	if (rc == 0)
		rc = engine_start(&r.engine, sink, sample_jobs(o), err);
	if (rc == 0) {
		r.engine.kallsyms = o->kallsyms;
		if (o->hub)
			rc = stream_hub_join(&r.stream, o->hub, o->reader, err);
		else if (o->takes || o->parts.of)
			rc = stream_open_parts(&r.stream, o->replay, o->takes ? o->takes : takes_every,
				o->takes ? o->takes_context : (void *)(uintptr_t)&o->parts, err);
		else if (o->replay)
			rc = stream_open(&r.stream, o->replay, err);
		else
			rc = stream_launch(&r.stream,
				&(struct stream_launch){ .argv = o->argv,
					.tracer_dir = o->tracer_dir, .follow = o->follow, .waits = o->waits,
					.regs = o->regs || o->core->wrong_path,
					.assists = o->assists || runner_wants_assists(o),
					.save = o->save, .env = o->env },
				err);
	}
	if (rc == 0) {
		rc = loop(&r, r.stream, err);
		for (size_t i = 0; i < r.procs.count; i++)	/* also after an error: what was measured stays */
			runner_end_threads(&r, r.procs.process[i]);
		if (rc == 0)
			rc = engine_failed(&r.engine, err);
		result->wait_status = stream_wait_status(r.stream);
		char why[512] = "";
		window_note(&r.window, why, sizeof why);
		if (!result->note[0])
			switches_note(&r.switches, result->note, sizeof result->note);
		if (rc == 0 && o->parts.of && !r.parts)
			rc = err_set(err, ERR_INPUT, "the file of live points has no part %u of every %u",
				o->parts.index + 1, o->parts.of);
		if (rc == 0 && why[0])	/* nothing was measured: an error, not silent zeros */
			rc = err_set(err, ERR_INPUT, "%s", why);
	}
	result->instructions = r.instructions_done;
	result->cycles = r.max_cycle;
	if (r.parts)
		parts_total(result);
	result->wall_seconds = wall_now() - r.started;
	learner_stop(&r.learner);
	engine_stop(&r.engine);
	process_table_release(&r.procs);
	window_release(&r.window);
	switches_release(&r.switches);
	heap_release(&r.heap);
	if (r.stream)
		stream_close(r.stream);
	isa_destroy(r.isa);
	return rc;
}
