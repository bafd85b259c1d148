/* SPDX-License-Identifier: GPL-2.0-or-later
 * The cores' own thread (engine.h).  The work of a process with one thread is done in the stream's order, without
 * a queue.
 */
#include "run/front_first.h"
#include "run/lanes.h"
#include "run/threads/machine_events.h"
#include "run/watch/calls.h"
#include "run/watch/history.h"
#include "core/wrongpath/walker.h"
#include <stdlib.h>
#include <string.h>

_Static_assert(CALLS_DEPTH * sizeof(struct calls_frame) / 8 < ENGINE_CHUNK / 2, "a window's frames fit");

/* length of the fixed part */
enum {
	RUN_WORDS = SCRIPT_OP_WORDS, SIDE_WORDS = 4, NEED_WORDS = 4, REGISTERS_WORDS = 4,
	SETTLE_WORDS = 3, LANE_WORDS = 2, WINDOW_WORDS = 2 + sizeof(struct run_window) / 8
};

/* ---- the thread ---- */

static bool is_kallsyms(const uint64_t *record)
{
	return ST_HEADER_KIND(record[0]) == ST_SYMBOLS &&
		((const struct st_symbols *)record)->what == ST_SYMBOLS_KALLSYMS;
}

/* run_options.kallsyms, as a stream says it. */
static void tell_kallsyms(struct engine *e, struct rthread *t, uint32_t pid, uint64_t cycle)
{
	struct { struct st_symbols head; char path[4096]; } own = { .head = { .what = ST_SYMBOLS_KALLSYMS } };
	const size_t length = strnlen(e->kallsyms, sizeof own.path - 1);
	memcpy(own.path, e->kallsyms, length);
	own.head.path_bytes = (uint32_t)length + 1;
	own.head.header = ST_HEADER(ST_SYMBOLS, sizeof own.head + (length + 8) / 8 * 8);
	e->sink->side(e->sink->context, t ? &t->pub : NULL, pid, (const uint64_t *)&own, cycle);
}

void engine_pass_side(struct engine *e, struct rthread *t, uint32_t pid, const uint64_t *record, uint64_t cycle)
{
	if (t && ST_HEADER_KIND(record[0]) == ST_COMM) {
		memcpy(t->pub.comm, ((const struct st_name *)record)->name, sizeof t->pub.comm);
		t->pub.comm[sizeof t->pub.comm - 1] = 0;
	}
	if (t && (ST_HEADER_KIND(record[0]) == ST_SYSCALL || ST_HEADER_KIND(record[0]) == ST_SYSCALL_RET))
		t->in_call = ST_HEADER_KIND(record[0]) == ST_SYSCALL;
	if (t && t->pub.registers && ST_HEADER_KIND(record[0]) == ST_REGS)
		history_file(t->pub.registers, ((const struct st_regs *)record)->gpr,
			((const struct st_regs *)record)->flags);
	const struct st_process *image = (const struct st_process *)record;
	if (!e->sink->side || (e->kallsyms && is_kallsyms(record)))
		return;
	e->sink->side(e->sink->context, t ? &t->pub : NULL, pid, record, cycle);
	if (e->kallsyms && ST_HEADER_KIND(record[0]) == ST_PROCESS && image->is_machine)
		tell_kallsyms(e, t, pid, cycle);
}

void engine_fails(struct engine *e, const struct err *why)
{
	if (__atomic_load_n(&e->failed, __ATOMIC_RELAXED))
		return;
	e->failure = *why;
	__atomic_store_n(&e->failed, true, __ATOMIC_RELEASE);
}

int engine_failed(struct engine *e, struct err *err)
{
	return __atomic_load_n(&e->failed, __ATOMIC_ACQUIRE) ? err_set(err, e->failure.code, "%s", e->failure.text) : 0;
}

/* l: lane of the queue; NULL: none. */
static void side(struct engine *e, struct lane *l, struct rthread *t, uint32_t pid, const uint64_t *record,
	size_t words, uint64_t cycle)
{
	struct machine *machine = l ? l->machine : t ? t->process->machine : NULL;
	if (t && ST_HEADER_KIND(record[0]) == ST_MAP) {
		const struct st_map *m = (const struct st_map *)record;
		machine_map(machine, m->addr, m->bytes, m->is_huge);
	} else if (t && ST_HEADER_KIND(record[0]) == ST_UNMAP) {
		machine_map(machine, ((const struct st_range *)record)->addr,
			((const struct st_range *)record)->bytes, false);
	} else if (t && ST_HEADER_KIND(record[0]) >= ST_LEVEL && ST_HEADER_KIND(record[0]) <= ST_SYMBOLS) {
		whole_apply(e, t, record);
	}
	if (l)
		lane_side(e, l, t, pid, record, words, cycle);
	else
		engine_pass_side(e, t, pid, record, t ? rthread_now(t) : cycle);
}

static __attribute__((noinline)) void interrupt(struct lane *l, struct rthread *t)
{
	uint64_t cycles = t->pub.interrupt_cycles;
	struct core *core = l ? l->core : t->on;
	t->pub.interrupt_cycles = 0;
	if (core)
		core_interrupt(core, cycles, t->pub.interrupt_lines);
	else
		t->queue.ready_at += cycles;	/* it has left its processor: time passes, but no line is touched */
}

void engine_interrupt(struct rthread *t)
{
	interrupt(NULL, t);
}

/* A window of a thread without lanes begins or ends. */
static void window(struct engine *e, struct rthread *t, const struct run_window *w)
{
	struct sample_place *s = &t->sample;
	core_flush(t->on, false);
	if (w->leads) {
		if (e->sink->window)
			e->sink->window(e->sink->context, &t->pub, w);
		return;
	}
	if (w->begins) {
		s->begin_cycle = rthread_now(t);
		s->begin_done = w->instructions + w->rounds;
	} else {
		s->cycles = rthread_now(t) - s->begin_cycle;
		s->instructions = w->instructions + w->rounds - s->begin_done;
	}
	const uint64_t interval = e->sink->window ? e->sink->window(e->sink->context, &t->pub, w) : 0;
	if (interval)
		s->next_interval = interval;
}

/* First the threads that have come at least as far as this one, so that overflows in its last cycles find a block
 * before which their interrupt can be taken. */
static void leave(struct rthread *t)
{
	const struct process *p = t->process;
	for (size_t i = 0; i < p->threads; i++) {
		const struct rthread *o = p->thread[i];
		if (o != t && o->on && o->pub.core == t->pub.core)
			core_flush(o->on, false);
	}
	core_flush(t->on, false);
	t->pub.gone = true;
}

/* order.h calls it too, of threads that have no lanes. */
static void operation(void *context, const uint64_t *w)
{
	struct engine_worker *worker = context;
	struct engine *e = worker->engine;
	struct rthread *t = (struct rthread *)w[1];
	switch ((enum op)(w[0] >> 56)) {
	case OP_RUN:
		if (t->pub.interrupt_cycles)
			interrupt(NULL, t);
		core_run_script(t->on, w + RUN_WORDS);
		if (t->queue.when)
			order_ran(t);
		break;
	case OP_NEED: {
		struct rthread *of = (struct rthread *)w[2];
		uint64_t when = order_when(of, w[3]);
		if (of->on)
			core_settle(of->on);
		if (when)
			core_hold(t->on, when);
		break;
	}
	case OP_WAIT:
		core_halt_until(t->on, order_when((struct rthread *)w[2], w[3]));
		break;
	case OP_REGISTERS:
		history_block(t->pub.registers, (struct iblock *)w[2], (uint16_t)w[3], (uint16_t)(w[3] >> 16),
			w + REGISTERS_WORDS, (unsigned)(w[3] >> 32), true);
		break;
	case OP_SIDE:
		side(e, worker->lane, t, (uint32_t)w[2], w + SIDE_WORDS, (uint32_t)w[0] - SIDE_WORDS, w[3]);
		break;
	case OP_LEAVE:
		leave(t);
		break;
	case OP_SETTLE:
		break;
	case OP_WINDOW: {
		struct run_window part = *(const struct run_window *)(w + 2);
		part.frame = (const struct calls_frame *)(w + WINDOW_WORDS);
		if (worker->lane)
			lane_window(e, worker->lane, &part);
		else
			window(e, t, &part);
		break;
	}
	case OP_LANE:
		if (!worker->behind_front)
			front_first();
		worker->behind_front = true;
		worker->lane = (struct lane *)w[1];
		break;
	case OP_TURN:
		lane_settle(e, worker->lane);
		break;
	case OP_DONE:
		lane_done(e, worker->lane);
		break;
	}
}

/* When an operation may run: all threads of a process must see some in one order. */
static enum order_turn turn_of(const uint64_t *w)
{
	if (w[0] >> 56 != OP_SIDE)
		return ORDER_FREE;
	switch (ST_HEADER_KIND(w[SIDE_WORDS])) {
	case ST_SYSCALL:
	case ST_SYSCALL_RET:
	case ST_SIGNAL:
	case ST_REGS:
	case ST_NOTE:
		return ORDER_FREE;
	default:
		return ORDER_SIDE;
	}
}

static void execute(struct engine_worker *worker, const uint64_t *w, const uint64_t *end)
{
	struct engine *e = worker->engine;
	struct rthread *t = NULL;
	while (w < end) {
		t = (struct rthread *)w[1];
		if (__builtin_expect(w[0] >> 56 == OP_RUN && !t->process->ordered && !t->queue.when, 1)) {
			if (__builtin_expect(t->pub.interrupt_cycles != 0, 0))
				interrupt(worker->lane, t);
			w = core_run_scripts(worker->lane ? worker->lane->core : t->on, w, end,
				&t->pub.interrupt_cycles);
			continue;
		}
		if (w[0] >> 56 >= OP_LANE) {
			operation(worker, w);
			t = NULL;
		} else if (w[0] >> 56 == OP_SETTLE) {
			order_settle(&((struct process *)w[2])->order);
			t = NULL;
		} else if (t && t->process->ordered) {
			order_push(&t->process->order, t, turn_of(w), w);
		} else {
			operation(worker, w);
		}
		w += (uint32_t)w[0];
	}
	if (t && !worker->lane && t->on) {
		__atomic_store_n(&e->instructions, core_instructions(t->on), __ATOMIC_RELAXED);
		__atomic_store_n(&e->cycle, core_now(t->on), __ATOMIC_RELAXED);
	}
}

static void *thread(void *argument)
{
	struct engine_worker *k = argument;
	struct engine *e = k->engine;
	pthread_mutex_lock(&e->lock);
	for (;;) {
		while (k->head == k->tail && !e->stop) {
			k->waits = true;
			pthread_cond_wait(&k->filled, &e->lock);
		}
		k->waits = false;
		if (k->head == k->tail)
			break;
		const uint64_t *w = k->chunk[k->head % ENGINE_CHUNKS], *end = w + k->used[k->head % ENGINE_CHUNKS];
		pthread_mutex_unlock(&e->lock);
		execute(k, w, end);
		pthread_mutex_lock(&e->lock);
		k->head++;
		if (e->front_waits && (k->head == k->tail || k->tail - k->head < ENGINE_CHUNKS / 2))
			pthread_cond_signal(&e->emptied);
	}
	pthread_mutex_unlock(&e->lock);
	return NULL;
}

uint64_t engine_turn(struct engine *e)
{
	return __atomic_load_n(&e->turn, __ATOMIC_ACQUIRE);
}

void engine_await(struct engine *e, uint64_t window)
{
	if (engine_turn(e) >= window)
		return;
	pthread_mutex_lock(&e->lock);
	while (engine_turn(e) < window)
		pthread_cond_wait(&e->turned, &e->lock);
	pthread_mutex_unlock(&e->lock);
}

void engine_next_turn(struct engine *e)
{
	pthread_mutex_lock(&e->lock);
	__atomic_store_n(&e->turn, e->turn + 1, __ATOMIC_RELEASE);
	pthread_cond_broadcast(&e->turned);
	pthread_mutex_unlock(&e->lock);
}

void engine_progress(struct engine *e, uint64_t instructions, uint64_t cycle)
{
	__atomic_fetch_add(&e->instructions, instructions, __ATOMIC_RELAXED);
	__atomic_store_n(&e->cycle, cycle, __ATOMIC_RELAXED);
}

/* ---- the front ---- */

static int start_worker(struct engine *e, struct engine_worker *k, struct err *err)
{
	k->engine = e;
	for (unsigned i = 0; i < ENGINE_CHUNKS; i++)
		if (!k->chunk[i] && !(k->chunk[i] = malloc(ENGINE_CHUNK * sizeof *k->chunk[i])))
			return err_set(err, ERR_NOMEM, "out of memory for the cores' queue");
	int rc = pthread_create(&k->thread, NULL, thread, k);
	if (rc)
		return err_set(err, ERR_SYSTEM, "cannot start a thread: %s", strerror(rc));
	k->running = true;
	return 0;
}

int engine_start(struct engine *e, const struct run_sink *sink, unsigned jobs, struct err *err)
{
	memset(e, 0, sizeof *e);
	e->sink = sink;
	e->jobs = jobs;
	e->to = &e->worker[0];
	pthread_mutex_init(&e->lock, NULL);
	pthread_cond_init(&e->emptied, NULL);
	pthread_cond_init(&e->turned, NULL);
	for (unsigned i = 0; i < RUN_LANES; i++)
		pthread_cond_init(&e->worker[i].filled, NULL);
	return start_worker(e, e->to, err);
}

static void wait_emptied(struct engine *e)
{
	e->front_waits = true;
	pthread_cond_wait(&e->emptied, &e->lock);
	e->front_waits = false;
}

/* Sends the chunk being filled; waits for a free one.  more: the window goes on, and its worker may sleep until half of
 * the chunks are there. */
static void send_chunk(struct engine *e, bool more)
{
	struct engine_worker *k = e->to;
	if (!k->fill)
		return;
	pthread_mutex_lock(&e->lock);
	k->used[k->tail++ % ENGINE_CHUNKS] = k->fill;
	k->fill = 0;
	if (k->waits && !(more && e->lane && k->tail - k->head < ENGINE_CHUNKS / 2))
		pthread_cond_signal(&k->filled);
	while (k->tail - k->head == ENGINE_CHUNKS)
		wait_emptied(e);
	pthread_mutex_unlock(&e->lock);
}

static void send(struct engine *e)
{
	send_chunk(e, false);
}

/* Makes room for an operation of up to `words`. */
static uint64_t *reserve(struct engine *e, size_t words)
{
	if (e->to->fill + words > ENGINE_CHUNK)
		send_chunk(e, true);
	e->idle_for = NULL;
	return e->to->chunk[e->to->tail % ENGINE_CHUNKS] + e->to->fill;
}

static void lane_op(struct engine *e, enum op op, const struct lane *l)
{
	uint64_t *w = reserve(e, LANE_WORDS);
	w[0] = (uint64_t)op << 56 | LANE_WORDS;
	w[1] = (uint64_t)l;
	e->to->fill += LANE_WORDS;
}

void engine_lane(struct engine *e, struct lane *l, uint64_t window)
{
	struct engine_worker *k = &e->worker[window % e->jobs];
	if (!k->running && start_worker(e, k, NULL) < 0) {	/* fewer do the same */
		e->jobs = 1;
		k = &e->worker[0];
	}
	e->to = k;
	e->lane = l;
	lane_op(e, OP_LANE, l);
}

void engine_lane_done(struct engine *e)
{
	lane_op(e, OP_DONE, e->lane);
	send(e);
}

void engine_leave_lanes(struct engine *e)
{
	for (unsigned i = 0; i < RUN_LANES; i++)
		e->worker[i].lane = NULL;
	e->to = &e->worker[0];
	e->lane = NULL;
}

/* Waits until the chunks are empty; what went to the threads' queues of order.h stays there.  A lane that has not
 * ended gets its turn. */
static void wait_for_all(struct engine *e)
{
	if (e->lane)
		lane_op(e, OP_TURN, e->lane);
	send(e);
	pthread_mutex_lock(&e->lock);
	for (unsigned i = 0; i < RUN_LANES; i++)
		while (e->worker[i].head != e->worker[i].tail) {
			if (e->worker[i].waits)
				pthread_cond_signal(&e->worker[i].filled);
			wait_emptied(e);
		}
	pthread_mutex_unlock(&e->lock);
}

void engine_drain(struct engine *e, const struct process *p)
{
	if (!e->worker[0].running)
		return;
	if (p->ordered) {
		uint64_t *w = reserve(e, SETTLE_WORDS);
		w[0] = (uint64_t)OP_SETTLE << 56 | SETTLE_WORDS;
		w[1] = 0;
		w[2] = (uint64_t)p;
		e->to->fill += SETTLE_WORDS;
	}
	wait_for_all(e);
	e->idle_for = p;
}

void engine_stop(struct engine *e)
{
	if (e->worker[0].running) {
		wait_for_all(e);
		pthread_mutex_lock(&e->lock);
		e->stop = true;
		for (unsigned i = 0; i < RUN_LANES; i++)
			pthread_cond_signal(&e->worker[i].filled);
		pthread_mutex_unlock(&e->lock);
	}
	for (unsigned i = 0; i < RUN_LANES; i++) {
		if (e->worker[i].running)
			pthread_join(e->worker[i].thread, NULL);
		e->worker[i].running = false;
		for (unsigned n = 0; n < ENGINE_CHUNKS; n++)
			free(e->worker[i].chunk[n]);
		pthread_cond_destroy(&e->worker[i].filled);
	}
	pthread_cond_destroy(&e->emptied);
	pthread_cond_destroy(&e->turned);
	pthread_mutex_destroy(&e->lock);
}

static void need(struct engine *e, enum op op, struct rthread *t, struct rthread *of, uint64_t number)
{
	uint64_t *w = reserve(e, NEED_WORDS);
	w[0] = (uint64_t)op << 56 | NEED_WORDS;
	w[1] = (uint64_t)t;
	w[2] = (uint64_t)of;
	w[3] = number;
	e->to->fill += NEED_WORDS;
}

void engine_leave(struct engine *e, struct rthread *t)
{
	uint64_t *w = reserve(e, LANE_WORDS);
	w[0] = (uint64_t)OP_LEAVE << 56 | LANE_WORDS;
	w[1] = (uint64_t)t;
	e->to->fill += LANE_WORDS;
}

/* For the next block of a thread that is not alone: queues waits for what must be done before. */
static void block_needs(struct engine *e, struct rthread *t, const struct pending *p, bool timed)
{
	struct process *own = t->process;
	struct depend_need needs[DEPEND_NEEDS];
	unsigned n = own->depend
		? depend_block(own->depend, &t->depend, t->index, p->block, p->slot_count, p->slots, needs)
		: 0;
	for (unsigned i = 0; i < n && timed; i++)
		need(e, OP_NEED, t, own->thread[needs[i].thread], needs[i].number);
	t->depend.issued++;
}

/* Queues the register writes of the block that is about to run. */
static void registers(struct engine *e, struct rthread *t, const struct pending *p)
{
	size_t words = REGISTERS_WORDS + p->slot_count;
	unsigned completed = run_completed(p->block, p->exit, p->insns);
	if (__builtin_expect(words > ENGINE_CHUNK, 0)) {
		engine_drain(e, t->process);
		history_block(t->pub.registers, p->block, p->insns, completed, p->slots, p->slot_count, true);
		return;
	}
	uint64_t *w = reserve(e, words);
	w[0] = (uint64_t)OP_REGISTERS << 56 | words;
	w[1] = (uint64_t)t;
	w[2] = (uint64_t)p->block;
	w[3] = p->insns | (uint64_t)completed << 16 | (uint64_t)p->slot_count << 32;
	if (p->slot_count)
		memcpy(w + REGISTERS_WORDS, p->slots, p->slot_count * sizeof *w);
	e->to->fill += words;
}

void engine_run(struct engine *e, struct rthread *t, const struct pending *p)
{
	if (__builtin_expect(t->pub.registers != NULL, 0))
		registers(e, t, p);
	size_t most = RUN_WORDS + core_script_room(p->block);
	if (t->walker) {
		walker_track(t->walker, p->block, p->slots, p->slot_count);
		most += CORE_SCRIPT_WALK;
	}
	if (__builtin_expect(t->process->ordered, 0)) {
		block_needs(e, t, p, true);
		core_predicts(t->core);
	}
	/* too large to be queued: it runs here, after everything that is queued */
	if (__builtin_expect(most > ENGINE_CHUNK, 0)) {
		engine_drain(e, t->process);
		if (!t->on)
			order_seat(&t->process->order, t);
		uint64_t script[core_script_room(p->block) + (t->walker ? CORE_SCRIPT_WALK : 0)];
		core_script(t->core, p->block, p->exit, p->insns, p->slots, p->next_ip, script);
		core_run_script(t->on, script);
		if (t->queue.when)
			order_ran(t);
		return;
	}
	uint64_t *w = reserve(e, most);
	size_t words =
		RUN_WORDS + core_script(t->core, p->block, p->exit, p->insns, p->slots, p->next_ip, w + RUN_WORDS);
	w[0] = (uint64_t)OP_RUN << 56 | words;
	w[1] = (uint64_t)t;
	e->to->fill += words;
	if (t->walker && (!t->lanes || t->lanes->left))
		walker_made(t->walker, words);
}

void engine_window(struct engine *e, struct rthread *t, enum sample_part part, uint64_t represents,
	const struct core_misses *misses)
{
	const struct run_window window = { .leads = part == SAMPLE_LEAD, .begins = part == SAMPLE_MEASURED,
		.instructions = t->sample.done - t->sample.rounds, .rounds = t->sample.rounds, .represents = represents,
		.misses = *misses,
		.frames = t->calls && part == SAMPLE_LEAD ? t->calls->depth : 0 };
	const size_t words = WINDOW_WORDS + window.frames * sizeof(struct calls_frame) / 8;
	uint64_t *w = reserve(e, words);
	w[0] = (uint64_t)OP_WINDOW << 56 | words;
	w[1] = (uint64_t)t;
	memcpy(w + 2, &window, sizeof window);
	if (window.frames)
		memcpy(w + WINDOW_WORDS, t->calls->frame, window.frames * sizeof(struct calls_frame));
	e->to->fill += words;
}

void engine_follow(struct rthread *t)
{
	/* With lanes a walk is known when as many more windows have begun; walker_made counts these then.  Else: a
	 * chunk is reused only after its old content is done; the script is at most one chunk ahead. */
	const bool lanes = t->lanes && !t->lanes->left;
	walker_follow(t->walker, t->process->ordered ? 0 : lanes ? RUN_LANES : (ENGINE_CHUNKS + 1) * ENGINE_CHUNK);
}

void engine_warm(struct engine *e, struct rthread *t, const struct pending *p)
{
	engine_settle(e, t->process);
	if (__builtin_expect(t->pub.registers != NULL, 0))
		history_block(t->pub.registers, p->block, p->insns, run_completed(p->block, p->exit, p->insns),
			p->slots, p->slot_count, false);
	if (__builtin_expect(t->walker != NULL, 0))
		walker_track(t->walker, p->block, p->slots, p->slot_count);
	if (__builtin_expect(t->process->ordered, 0)) {
		block_needs(e, t, p, false);
		core_predicts(t->core);
		if (!t->on)
			order_seat(&t->process->order, t);
	}
	core_predict(t->core, p->block, p->exit, p->insns, p->next_ip);
	core_passes(t->on);
	core_warm_memory(t->on, p->block, p->exit, p->insns, p->slots);
	if (__builtin_expect(t->queue.when != NULL, 0))
		order_ran(t);
}

void engine_wait(struct engine *e, struct rthread *t, struct rthread *by, uint64_t number)
{
	need(e, OP_WAIT, t, by, number);
}

void engine_order(struct engine *e, struct process *p)
{
	p->order.execute = operation;
	p->order.context = &e->worker[0];
	p->ordered = true;
	for (size_t i = 0; i < p->threads; i++)
		if (p->thread[i] && p->thread[i]->walker)
			engine_follow(p->thread[i]);
}

void engine_disorder(struct process *p)
{
	p->ordered = false;
}

void engine_side(struct engine *e, struct rthread *t, uint32_t pid, const uint64_t *record, size_t words,
	uint64_t cycle)
{
	if (t && e->idle_for == t->process) {
		side(e, e->lane, t, pid, record, words, cycle);
		return;
	}
	if (SIDE_WORDS + words > ENGINE_CHUNK) {	/* huge, like an argument list */
		if (t)
			engine_drain(e, t->process);
		else
			wait_for_all(e);
		side(e, e->lane, t, pid, record, words, cycle);
		return;
	}
	uint64_t *w = reserve(e, SIDE_WORDS + words);
	w[0] = (uint64_t)OP_SIDE << 56 | (SIDE_WORDS + words);
	w[1] = (uint64_t)t;
	w[2] = pid;
	w[3] = cycle;
	memcpy(w + SIDE_WORDS, record, words * sizeof *w);
	e->to->fill += SIDE_WORDS + words;
}
