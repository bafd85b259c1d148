/* SPDX-License-Identifier: GPL-2.0-or-later
 * Several processors: Bochs runs them in turns, and this says whose turn it is.  It takes the place of the loop in
 * Bochs's main.cc.
 *
 * A tick of the machine's clock is a cycle.  The clock goes on in rounds.  In a round each processor runs until it has
 * reached the round's end: by the cycles of its core while it is timed, else by an instruction a tick.  One that has
 * gone beyond the end waits for the clock; one that is halted, or waits for its start, is at the clock's time without
 * doing anything.  So processors that are timed differ by less than a round and one path of instructions, and what they
 * do to each other's lines comes in the order of modelled time but for that.
 *
 * Cores' cycles are the clock's: a core that was not timed, or halted, is brought to the clock's time first.
 */
#include "bochs.h"
#include "cpu/cpu.h"
#include "pc_system.h"
#include "machine/bochs/processors.h"
#include "machine/machine.h"
#include <csetjmp>

namespace {

enum {
	ROUND_TIMED = 64,	/* ticks of a round while a processor is timed */
	ROUND_FREE = 512,	/* while none is: at least 64 blocks of instructions */
	ROUND_IDLE = 1000000,	/* at most, while all are halted */
	STALLED = 256,		/* instructions that no core times, after which time goes on by them all the same */
	BEHIND = 1024,		/* a core that is so far behind the clock is brought up to it */
};

/* Not in the function's frame, because an exception jumps back into it. */
struct rounds {
	Bit64u clock, end;		/* the clock; the round's end */
	Bit64u time[PROCESSORS_MAX];
	Bit64u stalled[PROCESSORS_MAX];
	Bit64u from;			/* instructions of the processor before its traces */
	unsigned turn = PROCESSORS_MAX;	/* whose it is; at the number of processors, nobody's */
	bool halted;			/* all that had their turn in this round are */
} now;

/* The processor has executed instructions, or was halted. */
void account(unsigned n)
{
	const Bit64u executed = BX_CPU(n)->get_icount() - now.from;
	Bit64u *time = &now.time[n];
	if (!executed) {
		*time = now.end;
		return;
	}
	now.halted = false;
	if (!BX_CPU(n)->softpmu_watched) {
		*time += executed;
		return;
	}
	const Bit64u reached = guest_now(processors_model(n));
	now.stalled[n] += executed;
	if (reached > *time) {
		*time = reached;
		now.stalled[n] = 0;
	} else if (now.stalled[n] >= STALLED) {
		*time += now.stalled[n];
		now.stalled[n] = 0;
	}
}

void run_turn(unsigned n)
{
	while (now.time[n] < now.end) {
		now.from = BX_CPU(n)->get_icount();
		if (BX_CPU(n)->softpmu_watched && guest_now(processors_model(n)) + BEHIND < now.time[n])
			guest_time(processors_model(n), now.time[n]);
		BX_CPU(n)->cpu_run_trace();
		account(n);
	}
	BX_CPU(n)->sync_icount();
	if (BX_CPU(n)->softpmu_watched)
		processors_yield(n);
}

/* Something that ends a halt has come.  The round that follows is then a short one, although all were halted. */
bool wakes(void)
{
	for (unsigned i = 0; i < BX_SMP_PROCESSORS; i++)
		if (BX_CPU(i)->is_pending(~0u))
			return true;
	return false;
}

Bit64u round_length(bool halted)
{
	if (halted && !wakes()) {
		const Bit64u next = bx_pc_system.getNumCpuTicksLeftNextEvent();
		return next < 1 ? 1 : next > ROUND_IDLE ? (Bit64u)ROUND_IDLE : next;
	}
	for (unsigned i = 0; i < BX_SMP_PROCESSORS; i++)
		if (BX_CPU(i)->softpmu_watched)
			return ROUND_TIMED;
	return ROUND_FREE;
}

}

/* What it has executed in the traces that are not accounted for yet is not timed. */
Bit64u processors_time(unsigned cpu)
{
	const Bit64u time = now.time[cpu] > now.clock ? now.time[cpu] : now.clock;
	return cpu == now.turn && !BX_CPU(cpu)->softpmu_watched ? time + (BX_CPU(cpu)->get_icount() - now.from) : time;
}

/* While nothing is timed, traces follow each other as on one processor: Bochs links them. */
bool softpmu_turn_ends(unsigned cpu)
{
	return BX_CPU(cpu)->softpmu_watched || now.time[cpu] + (BX_CPU(cpu)->get_icount() - now.from) >= now.end;
}

/* Bochs looks for monitored addresses only in stores that go by no pointer into the host's memory, and makes no such
 * pointer to a page that is monitored.  So those that the processors have are dropped. */
void softpmu_monitor(Bit64u addr)
{
	const Bit64u page = PPFOf(addr);
	for (unsigned n = 0; n < BX_SMP_PROCESSORS && BX_SMP_PROCESSORS > 1; n++) {
		BX_CPU_C *c = BX_CPU(n);
		for (bx_TLB_entry &e : c->DTLB.entry)
			if (e.valid() && e.ppf == page)
				e.invalidate();
		c->invalidate_stack_cache();
	}
}

void softpmu_processors(void)
{
	volatile Bit8u frame = 0;		/* Bochs measures by it how deep linked traces have got */
	for (unsigned i = 0; i < BX_SMP_PROCESSORS; i++)
		BX_CPU(i)->cpuloop_stack_anchor = &frame;
	now.clock = now.end = bx_pc_system.time_ticks();
	now.halted = false;
	if (setjmp(BX_CPU_C::jmp_buf_env)) {	/* from an exception */
		BX_CPU_C *c = BX_CPU(now.turn);
		c->icount++;
		c->prev_rip = c->gen_reg[BX_64BIT_REG_RIP].rrx;	/* as BX_CPU_C::cpu_loop does */
		c->speculative_rsp = false;
		account(now.turn);
	} else
		now.turn = BX_SMP_PROCESSORS;
	while (!bx_pc_system.kill_bochs_request) {
		if (now.turn >= BX_SMP_PROCESSORS) {
			BX_TICKN((Bit32u)(now.end - now.clock));
			now.clock = now.end;
			now.end += round_length(now.halted);
			now.halted = true;
			for (unsigned i = 0; i < BX_SMP_PROCESSORS; i++)
				if (now.time[i] < now.clock)
					now.time[i] = now.clock;
			now.turn = 0;
		}
		/* one that has waited is not halted */
		now.halted &= now.time[now.turn] < now.end;
		run_turn(now.turn);
		now.turn++;
	}
}
