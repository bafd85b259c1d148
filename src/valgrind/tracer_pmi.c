/* SPDX-License-Identifier: GPL-2.0-or-later
 * The program's own handler of its PMIs (include/softpmu/client.h, spmu_client_handler).
 *
 * The thread's PMU is in the model, which the thread is usually far ahead of.  A thread with a handler keeps in step:
 * with each answer the model says how many instructions the thread may execute (its budget).  When these are spent,
 * generated code is left between two instructions (instrument.c), and the model is asked again (ST_CLIENT_STEP) when
 * it has consumed all that came before.  If a PMI was taken, the thread enters its handler there.
 *
 * Entry and return are those of an interrupt gate of a less privileged program: SS, RSP, RFLAGS, CS and RIP are pushed
 * on the handler's stack, words of 8 bytes on a 64-bit machine, else of 4.  IRETQ pops them.  VEX runs the 32-bit IRET
 * as one without a change of privilege, which pops three; then this restores ESP.  Selectors are not looked at.
 *
 * An IRET that finds another frame than the one that was pushed is no return from the handler; a thread whose handler
 * never returns (longjmp) gets no more PMIs.
 */
#include "tracer.h"

#if defined(VGA_amd64)
typedef VexGuestAMD64State GuestState;
#define SP_OFFSET offsetof(GuestState, guest_RSP)
#define IP_OFFSET offsetof(GuestState, guest_RIP)
#define USER_CS 0x33	/* Linux, arch/x86/include/asm/segment.h: __USER_CS, __USER_DS */
#define USER_SS 0x2b
#else
typedef VexGuestX86State GuestState;
#define SP_OFFSET offsetof(GuestState, guest_ESP)
#define IP_OFFSET offsetof(GuestState, guest_EIP)
#define USER_CS 0x23	/* __USER32_CS */
#define USER_SS 0x2b
#endif
#define FLAGS_USER 0x202	/* bit 1 and IF */

struct frame { HWord ip, cs, flags, sp, ss; };
struct handler {
	Addr entry, stack;	/* entry 0: none */
	Addr frame;		/* 0: the handler does not run */
	Word budget;
};

/* By thread; threads beyond have no handler. */
static struct handler handlers[1000];
#define HAS_HANDLER(tid) ((tid) < sizeof handlers / sizeof handlers[0])

static Bool usable(Addr entry, Addr stack)
{
	return VG_(am_is_valid_for_client)(entry, 1, VKI_PROT_EXEC) && stack > sizeof(struct frame) + 16 &&
	       VG_(am_is_valid_for_client)(stack - sizeof(struct frame) - 16, sizeof(struct frame) + 16,
			VKI_PROT_READ | VKI_PROT_WRITE);
}

Bool pmi_set_handler(ThreadId tid, Addr entry, Addr stack)
{
	if (!HAS_HANDLER(tid) || (entry && !usable(entry, stack)))
		return False;
	handlers[tid] = (struct handler){ .entry = entry, .stack = stack, .budget = ST_NO_STEP };
	if (entry && !settings.steps) {
		for (ThreadId i = 0; HAS_HANDLER(i); i++)
			handlers[i].budget = ST_NO_STEP;
		settings.steps = True;
		blocks_translate_again();
	}
	return True;
}

Word pmi_budget(ThreadId tid)
{
	return HAS_HANDLER(tid) ? handlers[tid].budget : (Word)ST_NO_STEP;
}

void pmi_set_budget(ThreadId tid, Word budget)
{
	if (HAS_HANDLER(tid))
		handlers[tid].budget = budget;
}

static void put_word(ThreadId tid, SizeT offset, HWord value)
{
	VG_(set_shadow_regs_area)(tid, 0, (PtrdiffT)offset, sizeof value, (const UChar *)&value);
}

static HWord flags_of(ThreadId tid)
{
	GuestState s;

	VG_(get_shadow_regs_area)(tid, (UChar *)&s, 0, 0, sizeof s);
#if defined(VGA_amd64)
	return LibVEX_GuestAMD64_get_rflags(&s) | FLAGS_USER;
#else
	return LibVEX_GuestX86_get_eflags(&s) | FLAGS_USER;
#endif
}

void pmi_enter(ThreadId tid)
{
	if (!HAS_HANDLER(tid) || !handlers[tid].entry)
		return;
	struct handler *h = &handlers[tid];
	if (!usable(h->entry, h->stack)) {
		events_note(2, "a program's PMI handler or its stack is gone: it gets no more PMIs");
		*h = (struct handler){ .budget = ST_NO_STEP };
		return;
	}
	h->frame = (h->stack & ~(Addr)15) - sizeof(struct frame);
	*(struct frame *)h->frame = (struct frame){ .ip = VG_(get_IP)(tid), .cs = USER_CS, .flags = flags_of(tid),
		.sp = VG_(get_SP)(tid), .ss = USER_SS };
	h->budget = ST_NO_STEP;
	put_word(tid, SP_OFFSET, h->frame);
	put_word(tid, IP_OFFSET, h->entry);
	events_request_regs(tid);
}

/* Asks the model and does what it says. */
static void step(ThreadId tid, Bool returned)
{
	UInt budget = ST_NO_STEP;
	Bool take = False;

	if (!client_step(tid, returned, &budget, &take))
		take = False;
	pmi_set_budget(tid, (Word)budget);
	if (take)
		pmi_enter(tid);
}

/* The thread has executed an IRET. */
static void iret(ThreadId tid)
{
	struct handler *h = HAS_HANDLER(tid) ? &handlers[tid] : NULL;
	const struct frame *f = h ? (const struct frame *)h->frame : NULL;

	if (!f || !VG_(am_is_valid_for_client)(h->frame, sizeof *f, VKI_PROT_READ) || VG_(get_IP)(tid) != f->ip)
		return;
	if (sizeof(HWord) == 8) {
		if (VG_(get_SP)(tid) != f->sp)
			return;
	} else {
		if (VG_(get_SP)(tid) != (Addr)&f->sp)
			return;
		put_word(tid, SP_OFFSET, f->sp);
		events_request_regs(tid);
	}
	h->frame = 0;
	step(tid, True);
}

void pmi_left(ThreadId tid, enum live_after after)
{
	if (after == AFTER_IRET)
		iret(tid);
	else
		step(tid, False);
}

void pmi_thread_exit(ThreadId tid)
{
	if (HAS_HANDLER(tid))
		handlers[tid] = (struct handler){ .budget = ST_NO_STEP };
}

void pmi_forget(void)
{
	for (ThreadId i = 0; HAS_HANDLER(i); i++)
		pmi_thread_exit(i);
}
