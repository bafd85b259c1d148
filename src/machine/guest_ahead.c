/* SPDX-License-Identifier: GPL-2.0-or-later
 * While the next overflow is far, the core of a machine with one processor has a thread of its own (guest_queue.h).
 * The emulator is then ahead of the core by two meetings at most.  The nearer the overflow, the closer the meetings.
 * Close to the overflow, and wherever the guest looks at its PMU, both go together in the emulator's thread.
 *
 * While the emulator is ahead, the machine's clock is the core's at the last meeting but one.  That does not depend on
 * which thread is faster, so two runs are equal.  If a stretch takes so many cycles that the overflow comes all the
 * same, its PMI is taken up to two meetings late, and counted in guest_report.late.
 */
#include "machine/guest_internal.h"

/* How close the next overflow is decides which records the PMU gets. */
static void look(struct guest *g, uint64_t applied)
{
	g->applied = applied;
	if (g->times && (guest_closeness(g) != GUEST_FAR) != g->near)
		guest_approach(g);
}

static void tell(void *guest, uint64_t mark, uint64_t told[QUEUE_TELLS])
{
	struct guest *g = guest;
	look(g, mark);
	told[0] = core_now(g->core);
	told[1] = g->horizon;
	told[2] = g->horizon_cycle;
	told[3] = g->core_failed || g->deferred;
	told[4] = mark;
}

int guest_ahead_create(struct guest *g, struct err *err)
{
	return guest_queue_create(&g->queue, &(struct guest_queue_side){ g, guest_core_apply, tell }, err);
}

/* Instructions up to the next meeting; 0: the overflow is too near, so both go together.  At that meeting the emulator
 * learns where the core was at the one before.  So what it has given since the last meeting that it knows of counts,
 * too.  Each instruction is taken to need twice the cycles that one of the last stretch took, and at least SLOW. */
static uint64_t stretch(const struct guest *g)
{
	enum { SLOW = 4 };
	const uint64_t rate = 2 * g->seen.took / (g->seen.length ? g->seen.length : 1);
	const uint64_t cycles = g->seen.now + NEAR_CYCLES, insns = g->given + NEAR_INSNS;
	if (g->seen.horizon_cycle <= cycles || g->seen.horizon <= insns)
		return 0;
	const uint64_t left = (g->seen.horizon_cycle - cycles) / (rate > SLOW ? rate : SLOW);
	const uint64_t open = g->given - g->seen.at;
	uint64_t most = left > open ? left - open : 0;
	most = most < g->seen.horizon - insns ? most : g->seen.horizon - insns;
	return most < MEET_LEAST ? 0 : most < MEET_MOST ? most : MEET_MOST;
}

void guest_together(struct guest *g)
{
	if (!g->ahead)
		return;
	guest_queue_drain(g->queue);
	g->ahead = false;
	look(g, g->given);
	if (g->core_failed && !g->failed) {
		g->failure = g->core_failure;
		guest_fail(g);
	}
	if (!g->deferred)
		return;
	g->report.late += g->deferred;
	g->deferred = 0;
	g->emulator.interrupt(g->emulator.context, g->deferred_lvt & ~0x10000u, g->deferred_lvt);
}

void guest_apart(struct guest *g)
{
	if (!g->queue || g->ahead || !g->watches || g->keeps || g->stores || g->failed)
		return;
	if (!g->times) {	/* no time passes, so nobody has to meet */
		g->ahead = true;
		return;
	}
	g->seen.now = core_now(g->core);
	g->seen.at = g->given;
	g->seen.horizon = g->horizon;
	g->seen.horizon_cycle = g->horizon_cycle;
	const uint64_t insns = stretch(g);
	g->ahead = insns > 4 * MEET_LEAST;	/* else it would soon have to come back */
	g->meet_at = g->given + insns;
}

void guest_meet(struct guest *g)
{
	uint64_t told[QUEUE_TELLS];
	guest_queue_meet(g->queue, g->given, told);
	if (told[1]) {		/* 0: the first meeting, nothing is told yet */
		g->seen.took = told[0] - g->seen.now;
		g->seen.length = told[4] - g->seen.at;
		g->seen.now = told[0];
		g->seen.at = told[4];
		g->seen.horizon = told[1];
		g->seen.horizon_cycle = told[2];
	}
	const uint64_t insns = stretch(g);
	g->meet_at = g->given + insns;
	if (told[3] || !insns)
		guest_together(g);
}
