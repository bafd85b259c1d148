/* SPDX-License-Identifier: GPL-2.0-or-later
 * What Bochs calls while it executes a guest, and what the lines of bochs.patch call.  Bochs includes this file in all
 * its sources under this name (--enable-instrumentation), and calls the functions through the macros below.
 *
 * What is called for each instruction and access first looks whether somebody wants to know: while nothing is timed,
 * the guest runs at Bochs's own speed.
 */
#ifndef SOFTPMU_INSTRUMENT_H
#define SOFTPMU_INSTRUMENT_H

class bxInstruction_c;
/* Instructions keep their bytes, which are what the model decodes. */
#define BX_INSTR_STORE_OPCODE_BYTES

/* By processor: instructions and their accesses are wanted. */
extern bool softpmu_watches[];

void softpmu_start(unsigned cpu);
void softpmu_end(void);
void softpmu_reset(unsigned cpu, unsigned type);
void softpmu_before(unsigned cpu, bxInstruction_c *i);
void softpmu_after(unsigned cpu);
void softpmu_iteration(unsigned cpu);
void softpmu_access(unsigned cpu, bx_address lin, unsigned len, unsigned rw);
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
#define BX_INSTR_BEFORE_EXECUTION(cpu, i)	do { if (softpmu_watches[cpu]) softpmu_before(cpu, i); } while (0)
#define BX_INSTR_AFTER_EXECUTION(cpu, i)	do { if (softpmu_watches[cpu]) softpmu_after(cpu); } while (0)
#define BX_INSTR_REPEAT_ITERATION(cpu, i)	do { if (softpmu_watches[cpu]) softpmu_iteration(cpu); } while (0)
#define BX_INSTR_INP(port, len)
#define BX_INSTR_INP2(port, len, value)
#define BX_INSTR_OUTP(port, len, value)		softpmu_out(port, value)
#define BX_INSTR_LIN_ACCESS(cpu, lin, phy, len, type, rw) \
	do { if (softpmu_watches[cpu]) softpmu_access(cpu, lin, len, rw); } while (0)
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
