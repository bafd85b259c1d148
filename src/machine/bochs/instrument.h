/* SPDX-License-Identifier: GPL-2.0-or-later
 * What Bochs calls while it executes a guest, and what the lines of bochs.patch call.  Bochs includes this file in all
 * its sources under this name (--enable-instrumentation), and calls the functions through the macros below.
 *
 * The macros for each instruction and access first look whether somebody wants to know.  While nobody does, the guest
 * runs at Bochs's own speed or faster: REP goes in batches, and a branch jumps to its next trace (softpmu_link).
 */
#ifndef SOFTPMU_INSTRUMENT_H
#define SOFTPMU_INSTRUMENT_H

class bxInstruction_c;
/* Instructions keep their bytes, which are what the model decodes. */
#define BX_INSTR_STORE_OPCODE_BYTES

/* Calls a function with the processor in RDI and more in RSI and EDX; these three and RAX are kept.  The compiler sees
 * no call but a line of assembly.  So a handler that calls nothing else saves no registers for what happens only while
 * the guest is timed.  The call needs the stack below RSP, so Bochs is compiled with -mno-red-zone. */
#define SOFTPMU_CALL(function, ...) \
	__asm__ volatile("call " #function "_kept" : : "D"(this), ##__VA_ARGS__ : \
		"rcx", "r8", "r9", "r10", "r11", "cc", "memory", "xmm0", "xmm1", "xmm2", "xmm3", "xmm4", "xmm5", \
		"xmm6", "xmm7", "xmm8", "xmm9", "xmm10", "xmm11", "xmm12", "xmm13", "xmm14", "xmm15")
#define SOFTPMU_WATCHED		__builtin_expect(this->softpmu_watched, 0)

/* Handlers are not virtual, so the first word of a pointer to one is its address (Itanium C++ ABI). */
template <class C, class I> struct softpmu_handler {
	C *c;
	void (*f)(C *, I *);
	__attribute__((always_inline)) void operator()(I *i) const { return f(c, i); }
};
template <class C, class I>
__attribute__((always_inline)) inline softpmu_handler<C, I> softpmu_method(C *c, void (C::*m)(I *))
{
	softpmu_handler<C, I> h = { c, nullptr };
	__builtin_memcpy(&h.f, &m, sizeof h.f);
	return h;
}

void softpmu_start(unsigned cpu);
void softpmu_end(void);
void softpmu_reset(unsigned cpu, unsigned type);
void softpmu_iteration(unsigned cpu);
/* Counts the rounds of a batch of REP, except for one that Bochs counts.  So a batch counts the same as its rounds
 * executed one by one. */
void softpmu_rounds(unsigned rounds);
void softpmu_link(class BX_CPU_C *c, bxInstruction_c *i);	/* goes on behind a branch */
void softpmu_exception(unsigned cpu, unsigned vector, unsigned code);
void softpmu_interrupt(unsigned cpu, unsigned vector);
void softpmu_halt(unsigned cpu);
void softpmu_control(unsigned cpu, unsigned what, Bit64u value);
void softpmu_cr3(unsigned cpu, Bit64u value);		/* MOV CR3 is about to load this */
void softpmu_invpcid(unsigned cpu, unsigned type, unsigned pcid, Bit64u addr);
void softpmu_out(Bit16u port, unsigned value);
/* -1: not a register of the model; 0: #GP(0); 1: done */
int  softpmu_rdmsr(unsigned cpu, unsigned msr, Bit64u *value);
int  softpmu_wrmsr(unsigned cpu, unsigned msr, Bit64u value);
int  softpmu_rdpmc(unsigned cpu, unsigned index, unsigned cpl, Bit64u *value);
void softpmu_cpuid(unsigned cpu, unsigned leaf, unsigned subleaf, Bit32u *a, Bit32u *b, Bit32u *c, Bit32u *d);
void softpmu_lvt(unsigned cpu, unsigned entry, Bit32u value);
Bit32u softpmu_ticks(Bit32u instructions);		/* of a machine with one processor */
void softpmu_processors(void);				/* runs several of them in turns */
bool softpmu_turn_ends(unsigned cpu);			/* the processor is not to go on with another trace */
void softpmu_monitor(Bit64u addr);			/* stores to the physical address are to be seen from now on */

#define BX_INSTR_INIT_ENV()
#define BX_INSTR_EXIT_ENV()
#define BX_INSTR_INITIALIZE(cpu)		softpmu_start(cpu)
#define BX_INSTR_EXIT(cpu)			softpmu_end()
#define BX_INSTR_RESET(cpu, type)		softpmu_reset(cpu, type)
#define BX_INSTR_HLT(cpu)			softpmu_halt(cpu)
#define BX_INSTR_MWAIT(cpu, addr, len, flags)	softpmu_halt(cpu)
#define BX_INSTR_DEBUG_PROMPT()
#define BX_INSTR_DEBUG_CMD(cmd)
#define BX_INSTR_CNEAR_BRANCH_TAKEN(cpu, from, to)
#define BX_INSTR_CNEAR_BRANCH_NOT_TAKEN(cpu, from)
#define BX_INSTR_UCNEAR_BRANCH(cpu, what, from, to)
#define BX_INSTR_FAR_BRANCH(cpu, what, from_cs, from, to_cs, to)
#define BX_INSTR_OPCODE(cpu, i, code, len, is32, is64)
#define BX_INSTR_EXCEPTION(cpu, vector, code)	softpmu_exception(cpu, vector, code)
#define BX_INSTR_INTERRUPT(cpu, vector)
#define BX_INSTR_HWINTERRUPT(cpu, vector, cs, ip) softpmu_interrupt(cpu, vector)
#define BX_INSTR_CLFLUSH(cpu, lin, phy)
#define BX_INSTR_CACHE_CNTRL(cpu, what)
#define BX_INSTR_TLB_CNTRL(cpu, what, value)	softpmu_control(cpu, what, value)
#define BX_INSTR_PREFETCH_HINT(cpu, what, seg, offset)
#define BX_INSTR_BEFORE_EXECUTION(cpu, i) \
	do { if (SOFTPMU_WATCHED) SOFTPMU_CALL(softpmu_before, "S"(i)); } while (0)
#define BX_INSTR_AFTER_EXECUTION(cpu, i)	do { if (SOFTPMU_WATCHED) SOFTPMU_CALL(softpmu_after); } while (0)
#define BX_INSTR_REPEAT_ITERATION(cpu, i)	do { if (SOFTPMU_WATCHED) softpmu_iteration(cpu); } while (0)
#define BX_INSTR_INP(port, len)
#define BX_INSTR_INP2(port, len, value)
#define BX_INSTR_OUTP(port, len, value)		softpmu_out(port, value)
#define BX_INSTR_LIN_ACCESS(cpu, lin, phy, len, type, rw) \
	do { \
		if (SOFTPMU_WATCHED) \
			SOFTPMU_CALL(softpmu_access, "S"((Bit64u) (lin)), \
				"d"((unsigned) (len) | (unsigned) (rw) << 16)); \
	} while (0)
#define BX_INSTR_PHY_ACCESS(cpu, phy, len, type, rw)
#define BX_INSTR_VMEXIT(cpu, reason, qualification)

/* Each of these returns from the function that it stands in if the model has answered.  The first is called at the
 * start of BX_CPU_C::wrmsr, the others by bochs.patch. */
#define BX_INSTR_WRMSR(cpu, msr, value) \
	do { \
		const int softpmu_done = softpmu_wrmsr(cpu, msr, value); \
		if (softpmu_done >= 0) \
			return softpmu_done != 0; \
	} while (0)
#define SOFTPMU_RDMSR(cpu, msr, value) \
	do { \
		const int softpmu_done = softpmu_rdmsr(cpu, msr, value); \
		if (softpmu_done >= 0) \
			return softpmu_done != 0; \
	} while (0)
#define SOFTPMU_RDPMC(i) \
	do { \
		Bit64u softpmu_value = 0; \
		if (softpmu_rdpmc(BX_CPU_ID, ECX, CPL, &softpmu_value) <= 0) \
			exception(BX_GP_EXCEPTION, 0); \
		RAX = GET32L(softpmu_value); \
		RDX = GET32H(softpmu_value); \
		BX_NEXT_INSTR(i); \
	} while (0)
#endif
