/* SPDX-License-Identifier: GPL-2.0-or-later
 * The cores' own thread (engine.h).
 *
 * An operation: a word with its kind (63:56) and length in words (31:0), the rthread, then what the kind needs.
 */
#include "run/engine.h"
#include "run/history.h"
#include <stdlib.h>
#include <string.h>

enum op { OP_RUN = 1, OP_WARM, OP_SWITCH, OP_RESUME, OP_SIDE, OP_REGISTERS };
enum { RUN_WORDS = 2, WARM_WORDS = 4, SIDE_WORDS = 4, REGISTERS_WORDS = 4 };	/* ahead of what varies */

/* ---- the thread ---- */

static void side(struct engine *e, struct rthread *t, uint32_t pid, const uint64_t *record, uint64_t cycle)
{
	if (t && ST_HEADER_KIND(record[0]) == ST_COMM) {
		memcpy(t->pub.comm, ((const struct st_name *)record)->name, sizeof t->pub.comm);
		t->pub.comm[sizeof t->pub.comm - 1] = 0;
	}
	if (t && t->pub.registers && ST_HEADER_KIND(record[0]) == ST_REGS)
		history_file(t->pub.registers, ((const struct st_regs *)record)->gpr, ((const struct st_regs *)record)->flags);
	if (e->sink->side)
		e->sink->side(e->sink->context, t ? &t->pub : NULL, pid, record, t ? core_now(t->core) : cycle);
}

static void execute(struct engine *e, const uint64_t *w, const uint64_t *end)
{
	struct rthread *t = NULL;
	for (; w < end; w += (uint32_t)w[0]) {
		t = (struct rthread *)w[1];
		switch (w[0] >> 56) {
		case OP_RUN:
			core_run_script(t->core, w + RUN_WORDS);
			break;
		case OP_WARM:
			core_warm_memory(t->core, (struct iblock *)w[2], (uint32_t)w[3], (unsigned)(w[3] >> 32), w + WARM_WORDS);
			break;
		case OP_SWITCH:
			t->process->clock = core_now(t->core);
			break;
		case OP_RESUME:
			core_halt_until(t->core, t->process->clock);
			break;
		case OP_REGISTERS:
			history_block(t->pub.registers, (struct iblock *)w[2], (uint16_t)w[3], (uint16_t)(w[3] >> 16), w + REGISTERS_WORDS, (unsigned)(w[3] >> 33),
				w[3] >> 32 & 1);
			break;
		case OP_SIDE:
			side(e, t, (uint32_t)w[2], w + SIDE_WORDS, w[3]);
			break;
		}
	}
	if (t) {
		__atomic_store_n(&e->instructions, core_instructions(t->core), __ATOMIC_RELAXED);
		__atomic_store_n(&e->cycle, core_now(t->core), __ATOMIC_RELAXED);
	}
}

static void *thread(void *argument)
{
	struct engine *e = argument;
	pthread_mutex_lock(&e->lock);
	for (;;) {
		while (e->head == e->tail && !e->stop) {
			e->waits = true;
			pthread_cond_wait(&e->filled, &e->lock);
		}
		e->waits = false;
		if (e->head == e->tail)
			break;
		const uint64_t *w = e->chunk[e->head % ENGINE_CHUNKS], *end = w + e->used[e->head % ENGINE_CHUNKS];
		pthread_mutex_unlock(&e->lock);
		execute(e, w, end);
		pthread_mutex_lock(&e->lock);
		e->head++;
		if (e->front_waits && (e->head == e->tail || e->tail - e->head < ENGINE_CHUNKS / 2))
			pthread_cond_signal(&e->emptied);
	}
	pthread_mutex_unlock(&e->lock);
	return NULL;
}

/* ---- the front ---- */

int engine_start(struct engine *e, const struct run_sink *sink, struct err *err)
{
	memset(e, 0, sizeof *e);
	e->sink = sink;
	pthread_mutex_init(&e->lock, NULL);
	pthread_cond_init(&e->filled, NULL);
	pthread_cond_init(&e->emptied, NULL);
	for (unsigned i = 0; i < ENGINE_CHUNKS; i++)
		if (!(e->chunk[i] = malloc(ENGINE_CHUNK * sizeof *e->chunk[i])))
			return err_set(err, ERR_NOMEM, "out of memory for the cores' queue");
	int rc = pthread_create(&e->thread, NULL, thread, e);
	if (rc)
		return err_set(err, ERR_SYSTEM, "cannot start a thread: %s", strerror(rc));
	e->running = true;
	return 0;
}

static void wait_emptied(struct engine *e)
{
	e->front_waits = true;
	pthread_cond_wait(&e->emptied, &e->lock);
	e->front_waits = false;
}

/* Sends the chunk being filled; waits for a free one. */
static void send(struct engine *e)
{
	if (!e->fill)
		return;
	pthread_mutex_lock(&e->lock);
	e->used[e->tail++ % ENGINE_CHUNKS] = e->fill;
	e->fill = 0;
	if (e->waits)
		pthread_cond_signal(&e->filled);
	while (e->tail - e->head == ENGINE_CHUNKS)
		wait_emptied(e);
	pthread_mutex_unlock(&e->lock);
}

void engine_drain(struct engine *e)
{
	if (!e->running)
		return;
	send(e);
	pthread_mutex_lock(&e->lock);
	while (e->head != e->tail)
		wait_emptied(e);
	pthread_mutex_unlock(&e->lock);
}

void engine_stop(struct engine *e)
{
	if (e->running) {
		engine_drain(e);
		pthread_mutex_lock(&e->lock);
		e->stop = true;
		pthread_cond_signal(&e->filled);
		pthread_mutex_unlock(&e->lock);
		pthread_join(e->thread, NULL);
		e->running = false;
	}
	for (unsigned i = 0; i < ENGINE_CHUNKS; i++)
		free(e->chunk[i]);
	pthread_cond_destroy(&e->filled);
	pthread_cond_destroy(&e->emptied);
	pthread_mutex_destroy(&e->lock);
}

/* Room for an operation of up to `words`. */
static uint64_t *reserve(struct engine *e, size_t words)
{
	if (e->fill + words > ENGINE_CHUNK)
		send(e);
	return e->chunk[e->tail % ENGINE_CHUNKS] + e->fill;
}

/* What the block that is about to run writes to registers. */
static void registers(struct engine *e, struct rthread *t, const struct pending *p, bool counts)
{
	size_t words = REGISTERS_WORDS + p->slot_count;
	unsigned completed = run_completed(p->block, p->exit, p->insns);
	if (__builtin_expect(words > ENGINE_CHUNK, 0)) {
		engine_drain(e);
		history_block(t->pub.registers, p->block, p->insns, completed, p->slots, p->slot_count, counts);
		return;
	}
	uint64_t *w = reserve(e, words);
	w[0] = (uint64_t)OP_REGISTERS << 56 | words;
	w[1] = (uint64_t)t;
	w[2] = (uint64_t)p->block;
	w[3] = p->insns | (uint64_t)completed << 16 | (uint64_t)counts << 32 | (uint64_t)p->slot_count << 33;
	if (p->slot_count)
		memcpy(w + REGISTERS_WORDS, p->slots, p->slot_count * sizeof *w);
	e->fill += words;
}

void engine_run(struct engine *e, struct rthread *t, const struct pending *p)
{
	if (__builtin_expect(t->pub.registers != NULL, 0))
		registers(e, t, p, true);
	size_t most = RUN_WORDS + core_script_room(p->block);
	if (__builtin_expect(most > ENGINE_CHUNK, 0)) {	/* is not queued: it runs here, behind all that was */
		engine_drain(e);
		core_run_block(t->core, p->block, p->exit, p->insns, p->slots, p->next_ip);
		return;
	}
	uint64_t *w = reserve(e, most);
	size_t words = RUN_WORDS + core_script(t->core, p->block, p->exit, p->insns, p->slots, p->next_ip, w + RUN_WORDS);
	w[0] = (uint64_t)OP_RUN << 56 | words;
	w[1] = (uint64_t)t;
	e->fill += words;
}

void engine_warm(struct engine *e, struct rthread *t, const struct pending *p)
{
	if (t->pub.registers)
		registers(e, t, p, false);
	size_t words = WARM_WORDS + p->slot_count;
	if (__builtin_expect(words > ENGINE_CHUNK, 0)) {
		engine_drain(e);
		core_warm_block(t->core, p->block, p->exit, p->insns, p->slots, p->next_ip);
		return;
	}
	uint64_t *w = reserve(e, words);
	core_predict(t->core, p->block, p->exit, p->insns, p->next_ip);
	w[0] = (uint64_t)OP_WARM << 56 | words;
	w[1] = (uint64_t)t;
	w[2] = (uint64_t)p->block;
	w[3] = p->exit | (uint64_t)p->insns << 32;
	if (p->slot_count)
		memcpy(w + WARM_WORDS, p->slots, p->slot_count * sizeof *w);
	e->fill += words;
}

static void simple(struct engine *e, enum op op, struct rthread *t)
{
	uint64_t *w = reserve(e, 2);
	w[0] = (uint64_t)op << 56 | 2;
	w[1] = (uint64_t)t;
	e->fill += 2;
}

void engine_switch(struct engine *e, struct rthread *t)
{
	simple(e, OP_SWITCH, t);
}

void engine_resume(struct engine *e, struct rthread *t)
{
	simple(e, OP_RESUME, t);
}

void engine_side(struct engine *e, struct rthread *t, uint32_t pid, const uint64_t *record, size_t words, uint64_t cycle)
{
	if (SIDE_WORDS + words > ENGINE_CHUNK) {	/* huge: an argument list */
		engine_drain(e);
		side(e, t, pid, record, cycle);
		return;
	}
	uint64_t *w = reserve(e, SIDE_WORDS + words);
	w[0] = (uint64_t)OP_SIDE << 56 | (SIDE_WORDS + words);
	w[1] = (uint64_t)t;
	w[2] = pid;
	w[3] = cycle;
	memcpy(w + SIDE_WORDS, record, words * sizeof *w);
	e->fill += SIDE_WORDS + words;
}
