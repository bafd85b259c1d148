/* SPDX-License-Identifier: GPL-2.0-or-later
 * The core of a machine with one processor has a thread of its own (guest_queue.h) while the next overflow is far:
 * the emulator is then ahead of it by two meetings at most.  Closer to an overflow, and wherever the guest looks at its
 * PMU, both go together in the emulator's thread.
 *
 * The machine's clock, meanwhile, is the core's of the last meeting but one, whichever thread is faster, so two runs
 * are equal.  If a stretch takes so many cycles that the overflow comes all the same, its PMI is taken at the next
 * meeting: late, and counted in guest_report.late.
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
}

int guest_ahead_create(struct guest *g, struct err *err)
{
	return guest_queue_create(&g->queue, &(struct guest_queue_side){ g, guest_core_apply, tell }, err);
}

/* times: how many such distances.  Two meetings that take twice as long as the last one did must not reach it. */
static bool far_enough(const struct guest *g, unsigned times)
{
	const uint64_t slow = NEAR_CYCLES + 4 * g->seen.took;
	const uint64_t cycles = slow > AHEAD_CYCLES ? slow : AHEAD_CYCLES;
	return g->seen.horizon > g->given && g->seen.horizon - g->given > times * (uint64_t)AHEAD_INSNS &&
		g->seen.horizon_cycle > g->seen.now && g->seen.horizon_cycle - g->seen.now > times * cycles;
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
	if (!g->queue || g->ahead || !g->watches || g->keeps || g->failed)
		return;
	if (!g->times) {	/* no time passes, so nobody has to meet */
		g->ahead = true;
		return;
	}
	g->seen.now = core_now(g->core);
	g->seen.horizon = g->horizon;
	g->seen.horizon_cycle = g->horizon_cycle;
	g->ahead = far_enough(g, 2);	/* else it would soon have to come back */
	g->meet_at = g->given + MEET_INSNS;
}

void guest_meet(struct guest *g)
{
	uint64_t told[QUEUE_TELLS];
	guest_queue_meet(g->queue, g->given, told);
	g->meet_at = g->given + MEET_INSNS;
	if (told[1]) {		/* 0: the first meeting */
		g->seen.took = told[0] - g->seen.now;
		g->seen.now = told[0];
		g->seen.horizon = told[1];
		g->seen.horizon_cycle = told[2];
	}
	if (told[3] || !far_enough(g, 1))
		guest_together(g);
}
