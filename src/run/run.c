/* SPDX-License-Identifier: GPL-2.0-or-later
 * The driver loop: stream -> isa -> core -> sink (run.h).
 *
 * A thread's blocks run one block late, because the next block tells how a branch was resolved.
 *
 * Processes (--follow) are independent except for two orderings, which make their clocks meaningful and repeatable:
 * a child starts at its parent's clock at the fork, and a parent that reaped a child continues no earlier than that
 * child ended.  If a process has to wait for another's stream, copies of its spans are queued (`stash`); the rings of
 * the other processes limit how much waits.
 *
 * Left out: time spent in the kernel; a blocking call takes as long as the threads that ran meanwhile.
 */
#include "run/run.h"
#include "run/ahead.h"
#include "run/engine.h"
#include "run/malloc_calls.h"
#include "run/history.h"
#include "run/process.h"
#include "run/switches.h"
#include "run/tally.h"
#include "run/window.h"
#include "core/core.h"
#include "core/wrongpath/walker.h"
#include "softpmu/client.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

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
	int failed;			/* error code of a write in mid-run that failed; `failure` says why */
	struct err failure;
	uint64_t instructions_done;	/* of threads that ended */
	uint64_t max_cycle;
	double started, last_tick;
	/* the window closed, or the sink said stop: the rest is read without modelling */
	bool stopped;
};

static double wall_now(void)
{
	struct timespec ts;
	clock_gettime(CLOCK_MONOTONIC, &ts);	/* for progress, and for wall_seconds; in no other result */
	return (double)ts.tv_sec + 1e-9 * (double)ts.tv_nsec;
}

static struct spmu_record *on_batch(void *context, const struct spmu_batch *batch)
{
	struct rthread *t = context;
	const struct run_sink *sink = t->process->runner->sink;
	if (t->alive && sink->batch)	/* a reset sends an empty batch before the sink knows the thread */
		sink->batch(sink->context, &t->pub, batch);
	return NULL;
}

struct process_table *runner_processes(struct runner *r)
{
	return &r->procs;
}

/* process.h: called before anything touches a core or frees a block. */
void runner_drain(struct process *p)
{
	engine_drain(&p->runner->engine, p);
}

static void thread_account(struct runner *r, struct rthread *t)
{
	uint64_t now = rthread_now(t);
	if (now > r->max_cycle)
		r->max_cycle = now;
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

/* Number of instructions that this execution completes: one that repeats itself is not complete yet. */
unsigned run_completed(const struct iblock *b, unsigned exit, unsigned insns)
{
	bool repeats = insns && exit < b->exits && b->exit[exit].jump == ST_JUMP_REPEAT && insns == b->exit[exit].insns;
	return insns - repeats;
}

static void close_window(struct runner *r);

/* Handles a block that the start or stop condition may concern.  Returns false if it must not run. */
static bool window_step(struct runner *r, struct rthread *t, struct pending *p)
{
	unsigned done = run_completed(p->block, p->exit, p->insns);
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

/* Runs a block whose next_ip is known. */
static inline void run_block(struct runner *r, struct rthread *t, struct pending *p)
{
	if (__builtin_expect(r->stopped, 0))	/* behind the window's end */
		return;
	if (__builtin_expect(p->block_flags & (BLOCK_ODD | BLOCK_WRITE), 0))
		odd_block(r, t, p);
	if (__builtin_expect(!r->window.active, 1) || window_step(r, t, p))
		engine_run(&r->engine, t, p);
	if (__builtin_expect(t->heap != NULL, 0))
		watch_heap(r, t, p);
}

/* Runs all waiting blocks except the pending one: before anything but a block of the same thread is handled. */
static void run_ahead(struct runner *r, struct rthread *t)
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
		run_ahead(r, t);
		run_block(r, t, p);
	} else {
		if (__builtin_expect(ahead_is_full(t->ahead), 1))
			run_block(r, t, ahead_take(t->ahead));
		ahead_put(t->ahead, p);
	}
	p->block = NULL;
}

/* Runs the pending block and all that wait. */
static void run_all(struct runner *r, struct rthread *t, uint64_t next_ip)
{
	run_pending(r, t, next_ip);
	run_ahead(r, t);
}

/* The span becomes invalid: copies the slots of the pending block. */
static int keep_pending(struct rthread *t, struct err *err)
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

/* ---- threads and processes ---- */

static void end_thread(struct runner *r, struct rthread *t)
{
	if (!t->alive)
		return;
	run_all(r, t, 0);
	runner_drain(t->process);
	if (t->on)
		core_flush(t->on, true);
	else	/* all of it was passed on when the thread left its processor */
		on_batch(t, &(struct spmu_batch){ .base_cycle = rthread_now(t), .watermark = rthread_now(t),
						  .is_last = 1, .user_only = 1 });
	if (t->pub.interrupt_cycles)	/* from the last batch: no block follows before which it could be taken */
		engine_interrupt(t);
	thread_account(r, t);
	if (rthread_now(t) > t->process->end_cycle)
		t->process->end_cycle = rthread_now(t);
	r->instructions_done += rthread_instructions(t);
	if (r->sink->thread_end)
		r->sink->thread_end(r->sink->context, &t->pub);
	t->process->ran_before = t;
	process_thread_end(t);
	if (t->process->ordered && !process_needs_order(t->process)) {
		engine_disorder(t->process);
		process_disorder(t->process);
	}
}

static void end_threads(struct runner *r, struct process *p)
{
	for (size_t i = 0; i < p->threads; i++)
		end_thread(r, p->thread[i]);
}

static void close_window(struct runner *r)
{
	r->stopped = true;
}

/* What a run records if the sink does not say what it needs, or has not said so yet. */
static const struct core_wanted everything = {
	.signal = { ~UINT64_C(0), ~UINT64_C(0) }, .is = ~UINT64_C(0), .did = ~UINT64_C(0), .outcomes = true,
};

static int start_thread(struct runner *r, struct process *p, const struct st_thread *s, struct err *err)
{
	struct rthread *parent = process_find_thread(p, s->parent_tid), *t = NULL;
	runner_drain(p);
	uint64_t cycle = parent ? rthread_now(parent) : p->start_cycle;
	int rc = process_thread_start(&t, &r->procs, p, s->tid, s->os_tid, cycle, on_batch, err);
	if (rc < 0)
		return rc;
	if (!p->ordered && process_needs_order(p)) {
		rc = process_order(p, err);
		if (rc < 0)
			return rc;
		engine_order(&r->engine, p);
	}
	if (p->space) {
		rc = walker_create(&t->walker, p->space, r->o->core, err);
		if (rc < 0)
			return rc;
		core_set_walker(t->core, t->walker);
		if (r->o->core->wrong_path_converge) {
			if (!(t->ahead = calloc(1, sizeof *t->ahead)))
				return err_set(err, ERR_NOMEM, "out of memory for blocks ahead");
			walker_ahead(t->walker, &t->ahead->converge);
		}
		engine_follow(t);
	}
	rthread_want(t, r->o->wanted ? r->o->wanted : &everything);
	if (r->o->history && p->has_regs) {
		rc = history_create(&t->pub.registers, p->word_bytes, err);
		if (rc < 0)
			return rc;
	}
	if (r->o->heap && p->has_regs && !(t->heap = calloc(1, sizeof *t->heap)))
		return err_set(err, ERR_NOMEM, "out of memory for a thread's registers");
	if (parent)
		memcpy(t->pub.comm, parent->pub.comm, sizeof t->pub.comm);
	else
		memcpy(t->pub.comm, p->comm, sizeof t->pub.comm);
	if (r->sink->thread_start)
		return r->sink->thread_start(r->sink->context, &t->pub, err);
	return 0;
}

static int image_start(struct runner *r, struct process *p, const struct st_process *s, struct err *err)
{
	if (s->magic != ST_MAGIC || s->version < ST_VERSION_OLDEST || s->version > ST_VERSION)
		return err_set(err, ERR_INPUT,
			"the stream has version %u, this softpmu reads %u", s->version, ST_VERSION);
	if (s->word_bytes != 8 && s->word_bytes != 4)
		return err_set(err, ERR_INPUT, "the stream's process %u has an impossible word size of %u bytes",
			       s->pid, s->word_bytes);
	end_threads(r, p);	/* exec: the new image starts when the old one has ended */
	heap_forget(&r->heap, p->index);
	int rc = process_image(p, s, r->o->core, err);
	if (rc < 0 || !r->o->core->wrong_path)
		return rc;
	if (s->has_regs)
		return walk_space_create(&p->space, r->isa, s->word_bytes, err);
	if (!r->result->note[0])
		snprintf(r->result->note, sizeof r->result->note,
			 "the stream holds no registers: it runs without the wrong path");
	return 0;
}

static bool fits(const uint64_t *words, size_t left, size_t *length)
{
	uint32_t bytes = ST_HEADER_LOW(words[0]);
	*length = bytes / 8;
	return bytes % 8 == 0 && bytes >= 8 && *length <= left;
}

static int define_block(struct runner *r, struct process *p, const uint64_t *words, size_t length, struct err *err)
{
	struct iblock *b = NULL;
	int rc = isa_decode(r->isa, p->word_bytes, (const struct st_block_def *)words, length * 8, &b, err);
	if (rc < 0)
		return rc;
	unsigned flags = window_flags(&r->window, p->index, b) | switches_flags(&r->switches, p->index, b);
	if (r->o->heap && heap_enters(&r->heap, p->index, b))
		flags |= BLOCK_HEAP;
	for (unsigned i = 0; i < b->insns; i++)
		if (b->insn[i].flags & (INSN_UNKNOWN | INSN_SUBSTITUTE))
			flags |= BLOCK_ODD;
	rc = process_add_block(p, b, flags, err);
	if (rc < 0)
		isa_block_free(b);
	else if (p->space)
		rc = walk_space_block(p->space, b, err);
	return rc;
}

/* Notes a SIGILL that may come from an instruction that the tracer cannot run. */
static void explain_sigill(struct runner *r, const struct process *p, const struct st_signal *s)
{
	char text[128] = "an instruction";
	if (s->code[0] == 0x0f && s->code[1] == 0x0b)
		return;		/* UD2: compilers end a program with it */
	isa_disassemble(s->code, sizeof s->code, s->ip, p->word_bytes, false, text, sizeof text);
	bool evex = s->code[0] == 0x62 && (p->word_bytes == 8 || (s->code[1] & 0xc0) == 0xc0);
	if (evex)
		snprintf(r->result->note, sizeof r->result->note,
			"the program used AVX-512 (`%s` at %#llx), which the tracer cannot run; build it without "
			"-mavx512* or -march=native, or let it choose at run time by CPUID, which shows no AVX-512 "
			"here",
			text, (unsigned long long)s->ip);
	else
		snprintf(r->result->note, sizeof r->result->note,
		         "the program got SIGILL at %#llx (`%s`): if it runs without softpmu, the tracer lacks this "
			 "instruction",
		         (unsigned long long)s->ip, text);
}

static int on_fork(struct runner *r, struct process *p, struct rthread *t, const struct st_fork *f)
{
	if (f->followed) {
		runner_drain(p);
		process_forked(&r->procs, p, f->child_pid, t ? rthread_now(t) : p->start_cycle);
	}
	return 0;
}

/* True if wait4 or a similar call reaped a traced child: the process continues when that child's stream is consumed. */
static bool reaps_child(struct runner *r, struct process *p, const struct st_syscall *s)
{
	bool wait4 = p->word_bytes == 8 ? s->number == 61 : s->number == 114 || s->number == 7;
	if (!wait4 || s->is_error || s->result == 0)
		return false;
	return process_wait_for(&r->procs, p, (uint32_t)s->result);
}

/* The program asks the sink something, or marks a region: all is modelled up to the instruction that does so. */
static int on_client(struct runner *r, struct process *p, struct rthread *t, const struct st_client *c, size_t bytes,
		     struct err *err)
{
	const char *name = (const char *)(c + 1);
	struct st_answer answer = { .number = c->number, .status = SPMU_CLIENT_ABSENT };

	if (c->bytes > bytes - sizeof *c || (c->bytes && !c->memory && name[c->bytes - 1]))
		return err_set(err, ERR_INPUT,
			"the stream of process %u holds a request without a proper name", p->pid);
	if (!c->bytes || c->memory)
		name = "";
	if (t)
		run_all(r, t, 0);
	const bool features = switches_asked(p, c);
	if (t && !r->stopped && (features || r->sink->client)) {
		runner_drain(p);
		if (r->window.open && c->code != ST_CLIENT_MORE && t->on)	/* otherwise no time passes */
			core_serialize(t->on);
		int rc = features ? switches_client(t, c, r->isa, &answer, err) : 0;
		if (rc < 0)
			return rc;
		if (!features && r->sink->client(r->sink->context, &t->pub, c, name, &answer))
			rthread_want(t, &everything);
	}
	if (c->number)
		stream_answer(r->stream, p->index, &answer);
	return 0;
}

/* A system call in which the thread was blocked has returned: it waits for its waker, or else for who ran last. */
static void wait_for_waker(struct runner *r, struct process *p, struct rthread *t, const struct st_syscall *s)
{
	struct depend_need by;
	if (p->depend && depend_woken(p->depend, t->index, p->word_bytes == 8, s, &by))
		engine_wait(&r->engine, t, p->thread[by.thread], by.number);
	else if (p->ran_before && p->ran_before != t)
		engine_wait(&r->engine, t, p->ran_before, p->ran_before->depend.issued);
}

/* Keeps the first note that the tracer has for the user. */
static void take_note(struct run_result *result, const uint64_t *w, size_t length)
{
	const struct st_note *n = (const struct st_note *)w;
	if (length * 8 < sizeof *n)
		return;
	size_t room = length * 8 - sizeof *n, text = n->text_bytes < room ? n->text_bytes : room;
	if (n->severity && !result->note[0])
		snprintf(result->note, sizeof result->note, "%.*s", (int)(text < 900 ? text : 900),
			(const char *)(n + 1));
}

static int on_switch(struct process *p, const struct st_thread *s, struct err *err)
{
	struct rthread *t = p->current, *next = process_find_thread(p, s->tid);
	int rc = 0;
	if (!next)
		return err_set(err, ERR_INPUT,
			"the stream of process %u switches to unknown thread %u", p->pid, s->tid);
	if (t && t != next) {
		rc = keep_pending(t, err);
		p->ran_before = t;
	}
	p->current = next;
	return rc;
}

static int on_code(struct process *p, const struct st_code *c, size_t bytes, struct err *err)
{
	if (c->bytes > bytes - sizeof *c)
		return err_set(err, ERR_INPUT, "the stream of process %u holds code beyond its record", p->pid);
	return p->space ? walk_space_code(p->space, c->addr, c + 1, c->bytes, err) : 0;
}

static int on_map(struct runner *r, struct process *p, const struct st_map *m, size_t bytes, struct err *err)
{
	const char *path = m->path_bytes ? (const char *)(m + 1) : "";
	int rc = 0;
	if (sizeof *m + (size_t)m->path_bytes > bytes || (m->path_bytes && path[m->path_bytes - 1]))
		return err_set(err, ERR_INPUT,
			"the stream of process %u holds a mapping without a proper path", p->pid);
	if (p->space)
		walk_space_cut(p->space, m->addr, m->bytes);
	if (r->window.active)
		window_map(&r->window, p->index, m, path);
	if (r->switches.writes)
		rc = switches_map(&r->switches, p->index, m, path, err);
	if (r->o->heap && heap_map(&r->heap, p->index, m, path))
		return err_set(err, ERR_NOMEM, "out of memory for the allocator's functions");
	return rc;
}

static void on_signal(struct runner *r, struct process *p, struct rthread *t, const struct st_signal *s)
{
	if (t)
		run_all(r, t, s->ip);
	if (s->signo == 4)
		explain_sigill(r, p, s);
}

static void on_syscall(struct runner *r, struct process *p, struct rthread *t, const struct st_syscall *s)
{
	if (t)
		run_all(r, t, 0);
	if (t && p->depend)
		depend_syscall(p->depend, &t->depend, t->index, p->word_bytes == 8, s);
}

/* Returns true if the process must wait for another's stream. */
static bool on_syscall_return(struct runner *r, struct process *p, struct rthread *t, const struct st_syscall *s)
{
	if (t && s->blocked && depend_blocks(p->word_bytes == 8, s))
		wait_for_waker(r, p, t, s);
	return reaps_child(r, p, s);
}

static void on_regs(struct runner *r, struct process *p, struct rthread *t, const struct st_regs *s)
{
	if (t)
		run_all(r, t, s->ip);
	if (t && t->heap)
		heap_file(t->heap, s->gpr, p->word_bytes);
	if (t && t->walker)
		walker_regs(t->walker, s);
}

static void on_exit_record(struct runner *r, struct process *p)
{
	for (size_t i = 0; i < p->threads; i++)
		if (p->thread[i]->alive)
			run_all(r, p->thread[i], 0);
	p->ended = true;
}

/* Threads end only after the sink has got the record that says so. */
static void end_after_record(struct runner *r, struct process *p, unsigned kind, const uint64_t *w)
{
	if (kind == ST_THREAD_EXIT) {
		struct rthread *gone = process_find_thread(p, ((const struct st_thread *)w)->tid);
		if (gone)
			end_thread(r, gone);
	} else if (kind == ST_EXIT) {
		if (p->end_cycle < p->start_cycle)
			p->end_cycle = p->start_cycle;
		end_threads(r, p);
	}
}

static int check_record(const struct process *p, const uint64_t *w, size_t length, struct err *err)
{
	static const uint16_t least[ST_KINDS] = {
		[ST_BLOCK_DEF] = sizeof(struct st_block_def), [ST_DISCARD] = sizeof(struct st_range),
		[ST_PROCESS] = sizeof(struct st_process), [ST_SWITCH] = sizeof(struct st_thread),
		[ST_THREAD_START] = sizeof(struct st_thread), [ST_THREAD_EXIT] = sizeof(struct st_thread),
		[ST_MAP] = sizeof(struct st_map), [ST_UNMAP] = sizeof(struct st_range),
		[ST_SIGNAL] = sizeof(struct st_signal), [ST_SYSCALL] = sizeof(struct st_syscall),
		[ST_SYSCALL_RET] = sizeof(struct st_syscall), [ST_COMM] = sizeof(struct st_name),
		[ST_REGS] = sizeof(struct st_regs), [ST_FORK] = sizeof(struct st_fork),
		[ST_EXIT] = sizeof(struct st_exit), [ST_NOTE] = sizeof(struct st_note),
		[ST_CLIENT] = sizeof(struct st_client), [ST_CODE] = sizeof(struct st_code),
	};
	unsigned kind = ST_HEADER_KIND(w[0]);
	if (kind < ST_KINDS && least[kind] && length * 8 >= least[kind])
		return 0;
	return err_set(err, ERR_INPUT, "the stream of process %u holds a malformed record (kind %u, %zu bytes)", p->pid,
		       kind, length * 8);
}

/* Handles records other than blocks.  Sets *stop when the process must wait for another's stream. */
static int side_record(struct runner *r, struct process *p, const uint64_t *w, size_t length, bool *stop,
		       struct err *err)
{
	const unsigned kind = ST_HEADER_KIND(w[0]);
	const void *record = w;
	struct rthread *t = p->current, *gone;
	int rc = check_record(p, w, length, err);
	if (rc < 0)
		return rc;
	if (kind != ST_BLOCK_DEF && t)
		run_ahead(r, t);
	switch (kind) {
	/* The sink does not get these. */
	case ST_BLOCK_DEF:
		return define_block(r, p, w, length, err);
	case ST_DISCARD:
		process_discard(p, ((const struct st_range *)record)->addr, ((const struct st_range *)record)->bytes);
		return 0;
	case ST_SWITCH:
		return on_switch(p, record, err);
	case ST_CODE:
		return on_code(p, record, length * 8, err);
	case ST_CLIENT:
		return on_client(r, p, t, record, length * 8, err);
	/* The sink gets these. */
	case ST_PROCESS:
		rc = image_start(r, p, record, err);
		t = NULL;
		break;
	case ST_THREAD_START:
		rc = start_thread(r, p, record, err);
		break;
	case ST_THREAD_EXIT:
		gone = process_find_thread(p, ((const struct st_thread *)record)->tid);
		if (gone)
			run_all(r, gone, 0);
		break;
	case ST_SIGNAL:
		on_signal(r, p, t, record);
		break;
	case ST_SYSCALL:
		on_syscall(r, p, t, record);
		break;
	case ST_SYSCALL_RET:
		*stop = on_syscall_return(r, p, t, record);
		break;
	case ST_REGS:
		on_regs(r, p, t, record);
		break;
	case ST_MAP:
		rc = on_map(r, p, record, length * 8, err);
		break;
	case ST_UNMAP:
		if (p->space)
			walk_space_cut(p->space, ((const struct st_range *)record)->addr,
				       ((const struct st_range *)record)->bytes);
		break;
	case ST_COMM:
		memcpy(p->comm, ((const struct st_name *)record)->name, sizeof p->comm);
		p->comm[sizeof p->comm - 1] = 0;
		break;
	case ST_FORK:
		rc = on_fork(r, p, t, record);
		break;
	case ST_EXIT:
		on_exit_record(r, p);
		break;
	case ST_NOTE:
		take_note(r->result, w, length);
		break;
	}
	if (rc < 0)
		return rc;
	if ((r->sink->side || kind == ST_MAP || kind == ST_UNMAP) && !r->stopped)
		engine_side(&r->engine, t, p->pid, w, length, p->start_cycle);
	end_after_record(r, p, kind, w);
	return 0;
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
			rc = side_record(r, p, w + at, length, &stop, err);
			if (rc < 0)
				break;
			at += length;
			if (stop)
				break;
		}
	}
	if (r->failed && rc == 0)
		rc = err_set(err, r->failed, "%s", r->failure.text);
	if (p->current && rc == 0)
		rc = keep_pending(p->current, err);
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

static void tick(struct runner *r)
{
	double now = wall_now();
	if (now - r->last_tick < 0.1)
		return;
	r->last_tick = now;
	uint64_t n =
		r->instructions_done + __atomic_load_n(&r->engine.instructions, __ATOMIC_RELAXED) + r->result->warmed;
	uint64_t cycle = __atomic_load_n(&r->engine.cycle, __ATOMIC_RELAXED);
	if (r->sink->tick && r->sink->tick(r->sink->context, n, cycle > r->max_cycle ? cycle : r->max_cycle))
		r->stopped = true;
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
		tick(r);
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
		take_note(r->result, w, words);
	if (ST_HEADER_KIND(w[0]) == ST_CLIENT && words * 8 >= sizeof *c && c->number)
		stream_answer(r->stream, process, &(struct st_answer){ .number = c->number,
			.status = SPMU_CLIENT_ABSENT });
}

/* Runs without a model: `softpmu trace`. */
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
	int failed = 0, rc = tally_create(&tally, err);
	if (!rc)
		rc = stream_launch(&s, &(struct stream_launch){ .argv = o->argv, .tracer_dir = o->tracer_dir,
			.follow = o->follow, .regs = o->regs, .save = o->save }, err);
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
			}
		}
	}
	if (s) {
		result->wait_status = stream_wait_status(s);
		stream_close(s);
	}
	result->instructions = tally ? tally_instructions(tally) : 0;
	result->wall_seconds = wall_now() - started;
	tally_destroy(tally);
	return rc ? rc : failed;
}

int run_program(const struct run_options *o, const struct run_sink *sink, struct run_result *result, struct err *err)
{
	struct runner r = { .o = o, .sink = sink, .result = result, .started = wall_now() };
	char uops[4096];
	memset(result, 0, sizeof *result);
	if (o->record_only)
		return record_only(o, sink, result, err);
	r.last_tick = r.started;
	r.procs.processors = o->cpus;
	r.procs.quantum = o->quantum;
	r.procs.smt = o->smt ? o->core->smt_threads : 0;
	r.procs.core = o->core;
	r.procs.features = o->features;

	snprintf(uops, sizeof uops, "%s/uops/%s.tsv", o->data_dir, o->core->uops);
	int rc = window_init(&r.window, o->start, o->stop, err);
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
		rc = engine_start(&r.engine, sink, err);
	if (rc == 0) {
		if (o->replay)
			rc = stream_open(&r.stream, o->replay, err);
		else
			rc = stream_launch(&r.stream,
				&(struct stream_launch){ .argv = o->argv,
					.tracer_dir = o->tracer_dir, .follow = o->follow,
					.regs = o->regs || o->core->wrong_path,
					.save = o->save },
				err);
	}
	if (rc == 0) {
		rc = loop(&r, r.stream, err);
		for (size_t i = 0; i < r.procs.count; i++)	/* also after an error: what was measured stays */
			end_threads(&r, r.procs.process[i]);
		result->wait_status = stream_wait_status(r.stream);
		char why[512] = "";
		window_note(&r.window, why, sizeof why);
		if (!result->note[0])
			switches_note(&r.switches, result->note, sizeof result->note);
		if (rc == 0 && why[0])	/* nothing was measured: an error, not silent zeros */
			rc = err_set(err, ERR_INPUT, "%s", why);
	}
	result->instructions = r.instructions_done;
	result->cycles = r.max_cycle;
	result->wall_seconds = wall_now() - r.started;
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
