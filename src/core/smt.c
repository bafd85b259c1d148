/* SPDX-License-Identifier: GPL-2.0-or-later
 * Several hardware threads on one core; what is modelled: smt.h. */
#include "core/smt.h"
#include "core/frontend/frontend.h"
#include "core/backend/scheduler.h"
#include <stdlib.h>
#include <string.h>

static void smt_free(struct smt *s)
{
	for (unsigned i = 0; s && i < SMT_MOST; i++) {
		free(s->delivers[i]);
		free(s->allocates[i]);
	}
	free(s);
}

static struct smt_thread *thread_new(struct smt *s, struct core *c, unsigned number)
{
	struct smt_thread *t = calloc(1, sizeof *t);
	for (unsigned k = 0; t && k < 2; k++) {
		uint32_t **given = k ? &s->allocates[number] : &s->delivers[number];
		if (*given)
			continue;
		*given = malloc(SMT_RING * sizeof **given);
		if (*given) {
			memset(*given, 0xff, SMT_RING * sizeof **given);
		} else {
			free(t);
			t = NULL;
		}
	}
	if (!t)
		return NULL;
	t->smt = s;
	t->from = c->sc.walk;
	t->stack.depth = c->config.ras_depth;
	s->thread[number] = c;
	s->members++;
	c->e.hw_thread = (uint8_t)number;
	return t;
}

int smt_join(struct core *of, struct core *c, struct err *err)
{
	struct smt *s = of->st ? of->st->smt : NULL;
	unsigned number = 0;
	if (!s) {
		s = calloc(1, sizeof *s);
		if (s) {
			s->in = s->predicts = of;
			of->st = thread_new(s, of, 0);
		}
		if (!s || !of->st) {
			smt_free(s);
			return err_set(err, ERR_NOMEM, "out of memory for the hardware threads of a core");
		}
		core_choose_steps(of);
	}
	while (number < SMT_MOST && s->thread[number])
		number++;
	if (number >= c->config.smt_threads || number == SMT_MOST)
		return err_set(err, ERR_UNSUPPORTED, "more than %u hardware threads on a core (smt.threads)",
			c->config.smt_threads);
	c->st = thread_new(s, c, number);
	s->active = 0;		/* core_smt_share will divide anew */
	if (!c->st)
		return err_set(err, ERR_NOMEM, "out of memory for the hardware threads of a core");
	return 0;
}

bool smt_leave(struct core *c)
{
	struct smt *s = c->st->smt;
	struct core *other = NULL;
	s->thread[c->e.hw_thread] = NULL;
	s->members--;
	s->active = 0;
	for (unsigned i = 0; i < SMT_MOST; i++)
		other = s->thread[i] ? s->thread[i] : other;
	if (s->predicts == c)
		s->predicts = NULL;
	if (s->in == c && other) {
		s->in = NULL;
		smt_enter(other);
	}
	free(c->st);
	c->st = NULL;
	if (other)
		return false;
	smt_free(s);
	return true;
}

void smt_enter(struct core *c)
{
	struct smt *s = c->st->smt;
	if (s->in == c)
		return;
	s->in = c;
	memsys_emitter(c->mem, &c->e);
}

void core_predicts(struct core *c)
{
	if (!c->st || c->st->smt->predicts == c)
		return;
	struct smt *s = c->st->smt;
	struct ras *now = bpred_stack(c->bp);
	for (unsigned i = 0; i < SMT_MOST; i++)
		if (s->thread[i] && s->thread[i] == s->predicts)
			s->thread[i]->st->stack = *now;
	*now = c->st->stack;
	s->predicts = c;
}

/* Returns how many of a resource's `size` entries thread c may have, at least `least`.  shared: what the others
 * leave; else an equal part. */
static uint32_t part(const struct core *c, bool shared, uint32_t size,
	uint32_t (*used)(const struct core *other, uint64_t cycle), uint32_t least)
{
	const struct smt *s = c->st->smt;
	uint32_t others = 0;
	if (!shared)
		return size / s->active > least ? size / s->active : least;
	for (unsigned i = 0; i < SMT_MOST; i++)
		if (s->thread[i] && s->thread[i] != c)
			others += used(s->thread[i], c->rn.cycle);
	return size > others + least ? size - others : least;
}

static uint32_t rob_used(const struct core *c, uint64_t cycle)
{
	uint32_t n = 0;
	struct rename *rn = (struct rename *)&c->rn;
	while (n < c->config.rob_size && *slot_free(rn, rn->pos - n * SLOT_STEP) > cycle)
		n++;
	return n;
}

static uint32_t loads_used(const struct core *c, uint64_t cycle)
{
	uint32_t n = 0;
	while (n < c->config.load_buffer_size && c->rn.lb[(c->rn.loads - 1 - n) & (LOAD_RING - 1)] > cycle)
		n++;
	return n;
}

static uint32_t stores_used(const struct core *c, uint64_t cycle)
{
	const struct lsq *q = &c->q;
	uint32_t n = q->tail - q->head;
	while (n < c->config.store_buffer_size && q->store[(q->tail - 1 - n) & q->mask].commit > cycle)
		n++;
	return n;
}

static void divide(struct core *c)
{
	const struct core_config *f = &c->config;
	enum { OWN_IDQ };
	c->rn.rob_back = part(c, f->smt_rob, f->rob_size, rob_used, f->alloc_width) * SLOT_STEP;
	c->rn.lb_size = part(c, f->smt_load_buffer, f->load_buffer_size, loads_used, 1);
	c->q.sb_size = part(c, f->smt_store_buffer, f->store_buffer_size, stores_used, 1);
	c->fe.idq_back =
		(f->smt_idq == OWN_IDQ ? f->idq_size : part(c, false, f->idq_size, NULL, f->alloc_width)) * SLOT_STEP;
}

void core_smt_share(struct core *c, unsigned active)
{
	if (!c->st)
		return;
	struct smt *s = c->st->smt;
	const struct core_config *f = &c->config;
	if (s->active != active) {
		s->active = active ? active : 1;
		for (unsigned i = 0; i < SMT_MOST; i++)
			if (s->thread[i])
				divide(s->thread[i]);
	} else if (f->smt_rob || f->smt_load_buffer || f->smt_store_buffer) {
		divide(c);
	}
}

/* ---- ports ---- */

/* Uops of another thread are dispatched at `cycle` on these ports. */
static void tell(struct core *c, uint64_t cycle, unsigned ports)
{
	struct scheduler *sc = &c->sc;
	unsigned at = cycle & (SCHED_WINDOW - 1);
	if (cycle < sc->walk || cycle - sc->walk >= SCHED_REACH)
		return;
	for (ports &= ~(unsigned)sc->used[at]; ports; ports &= ports - 1) {
		unsigned port = (unsigned)__builtin_ctz(ports);
		uint64_t entry = sc->spread[port >> 3][1u << (port & 7)].entries;
		const struct port_choice any = { .lane = entry * 0xffff };
		if (scheduler_full(sc, &any)) { /* the entry is taken, so c's next uop waits until there is another */
			scheduler_wait(sc, &any);
			c->rn.barrier = max64(c->rn.barrier, sc->walk);
			if (cycle < sc->walk)
				return;
		}
		if (sc->pending[port] == UINT8_MAX)
			continue;
		sc->free -= entry;
		sc->pending[port]++;
		sc->used[at] |= (uint16_t)(1u << port);
		c->st->others[at] |= (uint16_t)(1u << port);
	}
}

/* Tells the other threads which ports c's uops have taken, and when its units are busy. */
static void tell_others(struct core *c)
{
	struct smt_thread *t = c->st;
	struct smt *s = t->smt;
	struct scheduler *sc = &c->sc;
	const uint64_t walk = sc->walk;
	if (walk - t->from >= SCHED_WINDOW) {
		memset(t->told, 0, sizeof t->told);
		memset(t->others, 0, sizeof t->others);
	} else {
		for (uint64_t cycle = t->from; cycle < walk; cycle++)
			t->told[cycle & (SCHED_WINDOW - 1)] = t->others[cycle & (SCHED_WINDOW - 1)] = 0;
	}
	t->from = walk;
	if (s->members < 2)
		return;
	for (uint64_t cycle = walk & ~UINT64_C(3); cycle < walk + SMT_REACH; cycle += 4) {
		const unsigned at = cycle & (SCHED_WINDOW - 1);
		uint64_t used, told, others;
		memcpy(&used, &sc->used[at], sizeof used);
		memcpy(&told, &t->told[at], sizeof told);
		memcpy(&others, &t->others[at], sizeof others);
		used &= ~(told | others);
		for (unsigned k = 0; used; k++, used >>= 16) {
			unsigned ports = used & UINT16_MAX;
			t->told[at + k] |= (uint16_t)ports;
			for (unsigned i = 0; ports && i < SMT_MOST; i++)
				if (s->thread[i] && s->thread[i] != c)
					tell(s->thread[i], cycle + k, ports);
		}
	}
	for (unsigned u = 0; u < UNITS; u++) {
		const struct unit *own = &sc->unit[u];
		for (unsigned i = 0; own->count && i < SMT_MOST; i++)
			if (s->thread[i] && s->thread[i] != c) {
				struct unit *its = &s->thread[i]->sc.unit[u];
				its->count = own->count;
				memcpy(its->taken, own->taken, own->count * sizeof *own->taken);
			}
	}
}

void smt_steps(struct core *c, const uint64_t *script)
{
	smt_enter(c);
	c->smt_steps(c, script);
	tell_others(c);
}
