/* SPDX-License-Identifier: GPL-2.0-or-later
 * Runs threads by modelled time (order.h).
 */
#include "run/threads/order.h"
#include "core/core.h"
#include "run/engine.h"
#include "run/threads/process.h"
#include <stdlib.h>
#include <string.h>

enum { AHEAD = 2 };			/* words before each operation in the queue */
#define NOWHERE UINT32_MAX

static bool empty(const struct order_queue *q)
{
	return q->head == q->tail;
}

static const uint64_t *head(const struct order_queue *q)
{
	return q->word + q->head + AHEAD;
}

static enum op head_kind(const struct order_queue *q)
{
	return (enum op)(*head(q) >> 56);
}

/* True if that block of the thread is done.  The operations OP_NEED and OP_WAIT (engine.h), which wait for one,
 * have the thread and the number as their third and fourth word. */
static bool is_done(const struct rthread *of, uint64_t number)
{
	return !of->queue.when || of->queue.done >= number;
}

uint64_t order_when(const struct rthread *of, uint64_t number)
{
	const struct order_queue *q = &of->queue;
	if (!number || number > q->done)
		return 0;
	if (!q->when)
		return q->last;
	return q->done - number < ORDER_WHEN ? q->when[number % ORDER_WHEN] : 0;
}

bool order_waits(struct run_thread *run)
{
	struct rthread *t = (struct rthread *)run;
	const struct order_queue *q = &t->queue;
	if (!t->process->ordered)
		return false;
	const uint64_t *op = empty(q) ? NULL : head(q);
	const bool call = op ? (enum op)(*op >> 56) == OP_WAIT && !is_done((const struct rthread *)op[2], op[3])
		: t->in_call;
	if (t->on && !call)
		return false;
	if (t->on)
		core_flush(t->on, false);
	return true;
}

void order_ran(struct rthread *t)
{
	t->queue.done++;
	t->queue.last = t->queue.when[t->queue.done % ORDER_WHEN] = core_now(t->on);
}

int order_add(struct order *o, struct rthread *t, uint64_t cycle, struct err *err)
{
	if (o->threads == o->room) {
		size_t room = o->room ? 2 * o->room : 8;
		struct rthread **list = realloc(o->thread, room * sizeof *list);
		if (!list)
			return err_set(err, ERR_NOMEM, "out of memory for the order of threads");
		o->thread = list;
		o->room = room;
	}
	t->queue.when = calloc(ORDER_WHEN, sizeof *t->queue.when);
	if (!t->queue.when)
		return err_set(err, ERR_NOMEM, "out of memory for the order of threads");
	o->thread[o->threads++] = t;
	t->queue.ready_at = cycle;
	t->queue.last_cpu = NOWHERE;
	if (o->cpus)
		t->on = NULL;
	return 0;
}

void order_release(struct order *o)
{
	free(o->thread);
	o->thread = NULL;
	o->threads = o->room = 0;
}

/* ---- shared processors ---- */

static void put_on(struct order *o, struct rthread *t, uint32_t at)
{
	struct order_cpu *cpu = &o->cpu[at];
	uint64_t cycle = core_now(cpu->core);
	if (t->queue.ready_at > cycle)
		cycle = t->queue.ready_at;
	if (!cpu->yielded && (cpu->last ? cpu->last != t || t->queue.last_cpu != at : t->queue.last_cpu != NOWHERE))
		cycle += o->switch_cost;	/* another thread was here, or it was elsewhere */
	cpu->yielded = false;
	core_switch_to(cpu->core, t, cycle);
	cpu->running = t;
	cpu->last = t;
	cpu->since = cycle;
	t->instructions -= core_instructions(cpu->core);	/* so that the difference is what it adds here */
	t->on = cpu->core;
	t->pub.cpu = t->process->first_cpu + at;
	t->queue.last_cpu = at;
}

static void take_off(struct order *o, struct rthread *t)
{
	struct order_cpu *cpu = &o->cpu[t->queue.last_cpu];
	core_leave(cpu->core);
	t->queue.ready_at = core_now(cpu->core);
	t->instructions += core_instructions(cpu->core);
	cpu->running = NULL;
	t->on = NULL;
}

void order_remove(struct order *o, struct rthread *t)
{
	for (size_t i = 0; i < o->threads; i++)
		if (o->thread[i] == t) {
			memmove(o->thread + i, o->thread + i + 1, (o->threads - i - 1) * sizeof *o->thread);
			o->threads--;
			break;
		}
	if (t->on)
		t->queue.last = core_now(t->on);
	if (o->cpus && t->on)
		take_off(o, t);
	free(t->queue.word);
	free(t->queue.when);
	t->queue.word = t->queue.when = NULL;
	t->queue.head = t->queue.tail = t->queue.room = 0;
}

void order_seat(struct order *o, struct rthread *t)
{
	uint32_t at = 0;
	for (uint32_t i = 1; i < o->cpus; i++)
		if (!o->cpu[i].running && (o->cpu[at].running || core_now(o->cpu[i].core) < core_now(o->cpu[at].core)))
			at = i;
	if (!o->cpus)
		return;
	if (o->cpu[at].running)
		take_off(o, o->cpu[at].running);
	put_on(o, t, at);
}

/* Sets when a thread without a processor could have one; false: it is blocked, or has nothing to do. */
static bool ready(const struct rthread *t, uint64_t *at)
{
	const struct order_queue *q = &t->queue;
	if (t->on || empty(q))
		return false;
	*at = q->ready_at;
	if (head_kind(q) == OP_WAIT || head_kind(q) == OP_NEED) {
		const struct rthread *of = (const struct rthread *)head(q)[2];
		if (!is_done(of, head(q)[3]))
			return false;
		uint64_t when = order_when(of, head(q)[3]);
		if (when > *at)
			*at = when;
	}
	return true;
}

/* The thread that has waited longest. */
static struct rthread *next_ready(const struct order *o, uint64_t *at)
{
	struct rthread *best = NULL;
	uint64_t cycle;
	for (size_t i = 0; i < o->threads; i++)
		if (ready(o->thread[i], &cycle) && (!best || cycle < *at)) {
			best = o->thread[i];
			*at = cycle;
		}
	return best;
}

/* When t could continue on that processor. */
static uint64_t could_start(const struct order_cpu *cpu, const struct rthread *t)
{
	uint64_t now = core_now(cpu->core);
	return now > t->queue.ready_at ? now : t->queue.ready_at;
}

/* Finds a processor for t that is idle, or held by a thread that has nothing to do yet: the one on which t
 * continues soonest, preferably its last one. */
static uint32_t find_cpu(const struct order *o, const struct rthread *t)
{
	uint32_t best = NOWHERE;
	for (uint32_t i = 0; i < o->cpus; i++) {
		const struct order_cpu *cpu = &o->cpu[i];
		if (cpu->running && !empty(&cpu->running->queue))
			continue;
		uint64_t start = could_start(cpu, t),
			 least = best == NOWHERE ? UINT64_MAX : could_start(&o->cpu[best], t);
		if (start < least || (start == least && (i == t->queue.last_cpu ||
		    (best != t->queue.last_cpu && core_now(cpu->core) < core_now(o->cpu[best].core)))))
			best = i;
	}
	return best;
}

static void place(struct order *o)
{
	for (;;) {
		uint64_t at;
		struct rthread *t = next_ready(o, &at);
		uint32_t cpu = t ? find_cpu(o, t) : NOWHERE;
		if (cpu == NOWHERE)
			return;
		if (o->cpu[cpu].running)
			take_off(o, o->cpu[cpu].running);
		t->queue.ready_at = at;
		put_on(o, t, cpu);
	}
}

/* If the thread's quantum is over and another is ready, that one continues here. */
static void preempt(struct order *o, struct rthread *t)
{
	struct order_cpu *cpu = &o->cpu[t->queue.last_cpu];
	uint64_t at, now = core_clock(cpu->core);
	if (now < cpu->since + o->quantum)
		return;
	struct rthread *next = next_ready(o, &at);
	if (!next || at > now)
		return;
	take_off(o, t);
	next->queue.ready_at = at;
	put_on(o, next, t->queue.last_cpu);
}

/* Takes t off its processor without the cost of a switch: t only came second in the traced order, and on fewer
 * processors than were traced it would neither wait here nor be switched. */
static void make_room(struct order *o, struct rthread *t)
{
	take_off(o, t);
	o->cpu[t->queue.last_cpu].yielded = true;
}

/* No thread with a processor can continue, because one waits for a thread without: makes room. */
static void spin_out(struct order *o)
{
	struct order_cpu *first = NULL;
	for (uint32_t i = 0; i < o->cpus; i++)
		if (o->cpu[i].running && (!first || o->cpu[i].since < first->since))
			first = &o->cpu[i];
	if (!first)
		return;
	make_room(o, first->running);
	uint64_t at;
	struct rthread *next = next_ready(o, &at);
	if (next) {
		next->queue.ready_at = at;
		put_on(o, next, (uint32_t)(first - o->cpu));
	}
}

/* ---- which thread runs next ---- */

static bool may_run(struct order *o, struct rthread *t)
{
	const struct order_queue *q = &t->queue;
	const uint64_t *op = head(q), turn = q->word[q->head + 1];
	switch ((enum op)(*op >> 56)) {
	case OP_NEED:
		return is_done((const struct rthread *)op[2], op[3]);
	case OP_WAIT: {
		const struct rthread *of = (const struct rthread *)op[2];
		bool done = is_done(of, op[3]);
		if (!o->cpus)
			return done;
		if (done && order_when(of, op[3]) <= core_now(t->on))
			return true;
		take_off(o, t);
		return false;
	}
	default:
		return (turn & 3) != ORDER_SIDE || turn >> 2 == o->sides_done;
	}
}

/* How many threads run on t's core, t included; the others are halted. */
static unsigned running_beside(const struct order *o, const struct rthread *t)
{
	unsigned n = 1;
	for (size_t i = 0; i < o->threads; i++) {
		const struct rthread *other = o->thread[i];
		if (other == t || other->seat / o->smt != t->seat / o->smt || empty(&other->queue))
			continue;
		const uint64_t *op = head(&other->queue);
		n += head_kind(&other->queue) != OP_WAIT || is_done((const struct rthread *)op[2], op[3]);
	}
	return n;
}

static void run_head(struct order *o, struct rthread *t)
{
	struct order_queue *q = &t->queue;
	const uint64_t *op = head(q);
	size_t words = AHEAD + (uint32_t)*op;
	if ((q->word[q->head + 1] & 3) == ORDER_SIDE)
		o->sides_done++;
	if (o->smt)
		core_smt_share(t->on, running_beside(o, t));
	o->execute(o->context, op);
	q->head += words;
	o->words -= words;
	if (empty(q))
		q->head = q->tail = 0;
}

/* The thread that runs next, and up to which clock. */
static struct rthread *pick(struct order *o, uint64_t *limit)
{
	struct rthread *best = NULL;
	uint64_t clock = UINT64_MAX;
	*limit = UINT64_MAX;
	for (size_t i = 0; i < o->threads; i++) {
		struct rthread *t = o->thread[i];
		if (empty(&t->queue) || !t->on || !may_run(o, t))
			continue;
		uint64_t at = core_clock(t->on);
		bool sooner = !best || at < clock ||
			(at == clock && t->queue.word[t->queue.head] < best->queue.word[best->queue.head]);
		if (sooner) {
			*limit = best ? clock : UINT64_MAX;
			best = t;
			clock = at;
		} else if (at < *limit) {
			*limit = at;
		}
	}
	return best;
}

/* When all running threads have reached `clock`: a thread that waits for one without a processor, or longer than a
 * switch takes, makes room if another is ready. */
static bool waits_too_long(struct order *o, uint64_t clock)
{
	for (uint32_t i = 0; i < o->cpus; i++) {
		struct rthread *t = o->cpu[i].running;
		uint64_t at;
		if (!t || empty(&t->queue) || head_kind(&t->queue) != OP_NEED || may_run(o, t))
			continue;
		uint64_t until =
			core_clock(t->on) + (((const struct rthread *)head(&t->queue)[2])->on ? o->switch_cost : 0);
		if (clock < until || !next_ready(o, &at) || at > clock)
			continue;
		core_hold(t->on, until);
		make_room(o, t);
		t->queue.ready_at = until;
		return true;
	}
	return false;
}

static bool somebody_waits_for(const struct order *o, const struct rthread *t)
{
	for (size_t i = 0; i < o->threads; i++) {
		const struct order_queue *q = &o->thread[i]->queue;
		if (empty(q) || o->thread[i] == t)
			continue;
		const uint64_t *op = head(q);
		enum op kind = (enum op)(*op >> 56);
		if (((kind == OP_NEED || kind == OP_WAIT) && op[2] == (uint64_t)t && is_done(t, op[3])) ||
		    (q->word[q->head + 1] & 3) != ORDER_FREE)
			return true;
	}
	return false;
}

/* Executes operations until at most `most` words are queued. */
static void run_down(struct order *o, size_t most)
{
	while (o->words > most) {
		uint64_t limit;
		if (o->cpus)
			place(o);
		struct rthread *t = pick(o, &limit);
		if (!t) {
			if (o->cpus) {
				uint64_t at;
				struct rthread *next = next_ready(o, &at);
				if (next && find_cpu(o, next) != NOWHERE)
					continue;	/* a processor was given up for a wait just now */
				spin_out(o);
				continue;
			}
			return;		/* does not happen: the oldest in the stream waits for nothing */
		}
		if (o->cpus && waits_too_long(o, core_clock(t->on)))
			continue;
		do {
			run_head(o, t);
			if (o->cpus) {
				if (!empty(&t->queue))
					preempt(o, t);
				break;
			}
		} while (o->words > most && !empty(&t->queue) && core_clock(t->on) < limit && may_run(o, t) &&
			!somebody_waits_for(o, t));
	}
}

void order_settle(struct order *o)
{
	run_down(o, 0);
}

static bool room_for(struct order_queue *q, size_t words)
{
	if (q->tail + words <= q->room)
		return true;
	if (q->head > q->room / 2 && q->tail - q->head + words <= q->room) {
		memmove(q->word, q->word + q->head, (q->tail - q->head) * sizeof *q->word);
	} else {
		size_t room = 2 * (q->tail - q->head + words) + 4096;
		uint64_t *bigger = malloc(room * sizeof *bigger);
		if (!bigger)
			return false;
		if (q->word)
			memcpy(bigger, q->word + q->head, (q->tail - q->head) * sizeof *q->word);
		free(q->word);
		q->word = bigger;
		q->room = room;
	}
	q->tail -= q->head;
	q->head = 0;
	return true;
}

void order_push(struct order *o, struct rthread *t, enum order_turn turn, const uint64_t *op)
{
	struct order_queue *q = &t->queue;
	size_t length = (uint32_t)*op;
	if (!room_for(q, AHEAD + length)) {	/* no memory: continue in the stream's order */
		order_settle(o);
		if (!room_for(q, AHEAD + length)) {
			o->execute(o->context, op);
			return;
		}
	}
	uint64_t *w = q->word + q->tail;
	w[0] = o->number++;
	w[1] = turn | (turn == ORDER_SIDE ? o->sides++ << 2 : 0);
	memcpy(w + AHEAD, op, length * sizeof *w);
	q->tail += AHEAD + length;
	o->words += AHEAD + length;
	run_down(o, (size_t)ORDER_WINDOW * (o->threads < ORDER_THREADS ? o->threads : ORDER_THREADS));
}
