/* SPDX-License-Identifier: GPL-2.0-or-later
 * Several hardware threads on one core (--smt).
 *
 * Each is a struct core of its own: registers, front end's place, uop queue, reorder buffer, load and store buffers, and clock are
 * private.  They share the caches, TLBs, fill buffers and prefetchers (one struct memsys), the branch predictor but for the return stack,
 * and three things by the cycle:
 *   delivery    a cycle of the front end delivers to one thread
 *   allocation  a cycle of rename allocates for one thread (Optimization Manual, "Intel Hyper-Threading Technology": the front end and
 *               allocation alternate; a thread that has nothing leaves the cycle to the other)
 *   ports       a port takes one uop a cycle, of whichever thread; what one thread's uops have taken holds a scheduler entry of the
 *               others', too, until it is dispatched: the scheduler is had by whoever comes first, and who finds it full waits
 * Reorder buffer, load and store buffers and, where smt.idq says so, the uop queue are in equal parts while several threads run
 * (smt.rob, ...: split), or each may have what the others leave (shared).  A thread that is halted leaves all to the others.
 *
 * Threads take turns of a block, the least clock first (run/order.h), so cycles are given away in the order of modelled time but for the
 * length of a block: a thread that stalls within its block finds cycles that others have taken meanwhile.
 *
 * Left out: that retirement alternates (it is as wide as allocation at least, and comes behind it); what the wrong path of one thread takes
 * from the others at allocation; ports further than SMT_REACH cycles ahead, until they come nearer; what a thread was given at its ports
 * in cycles that another has passed; memory-order clears between the threads of one core; priorities; the uop cache and decoded lines,
 * of which each thread has its own.
 */
#ifndef CORE_SMT_H
#define CORE_SMT_H
#include "core/pipeline.h"

/* SMT_RING: a thread that has ended was run to its end; what it took is still known when the others come to those cycles */
enum { SMT_MOST = 8, SMT_RING = 1 << 20, SMT_REACH = 256 };

struct smt {			/* a core of several hardware threads */
	const struct core *in;	/* which of them the caches write their signals for */
	const struct core *predicts;	/* whose return stack the predictor has */
	uint32_t members, active;
	struct core *thread[SMT_MOST];	/* by number; NULL: none */
	uint32_t *delivers[SMT_MOST], *allocates[SMT_MOST];	/* SMT_RING each: low half of the cycle last given to the thread there; NULL: never was one */
};

struct smt_thread {		/* of a thread */
	struct smt *smt;
	uint64_t from;		/* what lies below is forgotten */
	struct ras stack;	/* while another thread predicts */
	uint16_t told[SCHED_WINDOW];	/* dispatches that the others know of */
	uint16_t others[SCHED_WINDOW];	/* dispatches in scheduler.used that are others' */
};

/* c is a new thread of the core that `of` is a thread of (at first the only one). */
int  smt_join(struct core *of, struct core *c, struct err *err);
/* Returns true if nobody is left there: what is shared goes, too. */
bool smt_leave(struct core *c);
/* c's turn: the caches write its signals. */
void smt_enter(struct core *c);
/* core_steps_way of a core with several threads. */
void smt_steps(struct core *c, const uint64_t *script);

/* First cycle from `cycle` on that is this thread's, in the calendar; it is from now on. */
static inline uint64_t smt_claim(uint32_t *const given[SMT_MOST], unsigned me, uint64_t cycle)
{
	for (;; cycle++) {
		unsigned at = cycle & (SMT_RING - 1);
		bool taken = false;
		if (given[me][at] == (uint32_t)cycle)
			return cycle;
		for (unsigned i = 0; i < SMT_MOST && given[i]; i++)
			taken |= i != me && given[i][at] == (uint32_t)cycle;
		if (!taken) {
			given[me][at] = (uint32_t)cycle;
			return cycle;
		}
	}
}

static inline uint64_t smt_delivers(struct core *c, uint64_t cycle)
{
	return smt_claim(c->st->smt->delivers, c->e.hw_thread, cycle);
}

static inline uint64_t smt_allocates(struct core *c, uint64_t cycle)
{
	return smt_claim(c->st->smt->allocates, c->e.hw_thread, cycle);
}
#endif
