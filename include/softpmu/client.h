/* SPDX-License-Identifier: BSD-2-Clause
 * For programs that look at themselves: the modelled PMU of the calling thread, and region markers.
 *
 *	#include <softpmu/client.h>
 *
 *	SOFTPMU_REGION_BEGIN("sort");		// softpmu stat --region sort ./program
 *	sort(data, n);
 *	SOFTPMU_REGION_END("sort");
 *
 * Header-only, for C (from C89 on, with GCC's extensions) and C++, 64- and 32-bit x86, GCC and Clang.  On a
 * processor, under another Valgrind tool, or when no model listens, each call costs a few instructions and returns
 * SPMU_CLIENT_ABSENT ("not under softpmu").  On other architectures a call does nothing but return that.
 *
 * How a call reaches softpmu: by Valgrind's client request.  The tracer recognises five instructions in a row as one
 * request.  On a processor they change nothing (four rotations that add up to whole turns, and an exchange of a
 * register with itself), and no compiler emits them in a row.  RAX (EAX) points to the request's words; RDX (EDX)
 * receives the answer and stays zero if nobody answers.  Source: valgrind.h of Valgrind 3.19, comment "The following
 * defines the magic code sequences which the JITter spots and handles magically".  Rejected: an INT or a reserved
 * opcode, which would fault where nobody listens; a system call, which would cost a kernel entry there; a
 * breakpoint, which needs a debugger.
 *
 * Exactness: a request is one instruction of the program.  It retires when everything before it is done, as WRMSR
 * does, and only then the register is written or read.  A counter that one request enables and another disables
 * therefore counts the instructions between the two (those that prepare the second request are among them) and the
 * second request, but not the first.  With a request that was prepared before (spmu_client_prepare_wrmsr),
 * spmu_client_do() keeps the preparation to three instructions.  Every request, reads included, serialises the
 * modelled core.
 *
 * The PMU is that of the session's machine (softpmu stat --core, --pmu).  It belongs to the calling thread and
 * is made at the thread's first request, in the state after reset: the LVT entry is masked, and
 * IA32_PERF_GLOBAL_CTRL has the generation's value.  It counts what the thread does from that request on; a
 * thread that it creates has a PMU of its own.  It and the PMUs that count softpmu's own -e events do not
 * affect each other.  Accesses are made at CPL 0.  Ring 0 is not modelled: set the USR bit.
 *
 * The same two calls reach the registers of the core's features (docs/reference/features.md:
 * MSR_MISC_FEATURE_CONTROL, 1A4H, and 400000C0H and up), whether or not a PMU listens.  These registers belong
 * to the process's machine: a write changes all of its cores from the next instruction on.
 *
 * The debug store (PEBS, BTS) lies in the program's memory, at IA32_DS_AREA.  The PMU sees what the program
 * changes in the management area at the thread's next request.  What the PMU writes is in the program's memory
 * after the next request: up to 1 MB between two requests; more is lost.  So change and read the debug store
 * while nothing counts, after a request that stopped the counters.  A PEBS record holds RFLAGS, RIP and the
 * general registers, of instructions from the write of IA32_DS_AREA on; XMM registers in it are 0.
 *
 * The pushout counters (softpmu/pmu.h, MSR_PUSHOUT_CAPABILITIES and up) are among the registers, except where
 * hardware threads share a core (--smt).
 */
#ifndef SOFTPMU_CLIENT_H
#define SOFTPMU_CLIENT_H
#include <stdint.h>

/* What a call returns.  The first six have the values of enum spmu_status (softpmu/pmu.h), except that -4 here
 * says that the request itself is malformed. */
enum spmu_client_status {
	SPMU_CLIENT_OK = 0,
	SPMU_CLIENT_GP = -1,		/* the hardware would raise #GP(0); nothing has changed */
	SPMU_CLIENT_NO_MSR = -2,	/* this PMU has no such register (hardware: #GP(0) as well) */
	SPMU_CLIENT_NO_MEMORY = -3,	/* the model is out of memory */
	SPMU_CLIENT_BAD = -4,		/* the request itself is malformed */
	SPMU_CLIENT_UD = -5,		/* the processor has no such instruction: #UD */
	SPMU_CLIENT_ABSENT = -100	/* not under softpmu */
};

/* Request codes.  Valgrind passes a request to the tool whose two letters are in the code's upper half. */
enum spmu_client_code {
	SPMU_CLIENT_BASE = 0x53500000, /* 'S', 'P' */
	SPMU_CLIENT_PRESENT = SPMU_CLIENT_BASE, SPMU_CLIENT_RDMSR, SPMU_CLIENT_WRMSR, SPMU_CLIENT_RDPMC,
	SPMU_CLIENT_CPUID_0A, SPMU_CLIENT_APIC_READ, SPMU_CLIENT_APIC_WRITE, SPMU_CLIENT_PMI,
	SPMU_CLIENT_REGION_BEGIN, SPMU_CLIENT_REGION_END, SPMU_CLIENT_INNER, SPMU_CLIENT_HANDLER,
	SPMU_CLIENT_CODES
};

/* The words that RAX points to. */
struct spmu_client_request {
	uintptr_t code;			/* enum spmu_client_code */
	uintptr_t answer;		/* address of a uint64_t[4] to fill; 0: none */
	uintptr_t index;		/* register or counter number, APIC offset, address of a region's name */
	uintptr_t low, high;		/* value to write, 32 bits each */
	uintptr_t reserved;		/* 0 */
};

#if defined(__GNUC__) && ((defined(__x86_64__) && !defined(__ILP32__)) || defined(__i386__))
#define SPMU_CLIENT_SUPPORTED 1
#if defined(__x86_64__)
/* The five instructions, for an asm statement with operands. */
#define SPMU_CLIENT_SEQUENCE \
	"rolq $3, %%rdi\n\trolq $13, %%rdi\n\trolq $61, %%rdi\n\trolq $51, %%rdi\n\txchgq %%rbx, %%rbx\n\t"
#else
#define SPMU_CLIENT_SEQUENCE \
	"roll $3, %%edi\n\troll $13, %%edi\n\troll $29, %%edi\n\troll $19, %%edi\n\txchgl %%ebx, %%ebx\n\t"
#endif
#define SPMU_CLIENT_INLINE static __inline__ __attribute__((__always_inline__, __unused__))
#else
#define SPMU_CLIENT_SUPPORTED 0
#if defined(__GNUC__)
#define SPMU_CLIENT_INLINE static __inline__ __attribute__((__unused__))
#elif defined(_MSC_VER)
#define SPMU_CLIENT_INLINE static __inline
#else
#define SPMU_CLIENT_INLINE static inline
#endif
#endif

/* Makes the request.  Returns enum spmu_client_status, as do all functions below unless they say otherwise. */
SPMU_CLIENT_INLINE int spmu_client_do(const struct spmu_client_request *request)
{
#if SPMU_CLIENT_SUPPORTED
	uintptr_t answer;
	__asm__ __volatile__(SPMU_CLIENT_SEQUENCE : "=d"(answer) : "a"(request), "0"((uintptr_t)0) : "cc", "memory");
	return answer ? 1 - (int)answer : SPMU_CLIENT_ABSENT;
#else
	(void)request;
	return SPMU_CLIENT_ABSENT;
#endif
}

/* Fills in a request and makes it. */
SPMU_CLIENT_INLINE int spmu_client_ask(uintptr_t code, uintptr_t index, uint64_t value, uint64_t answer[4])
{
	struct spmu_client_request request;
	request.code = code;
	request.answer = (uintptr_t)answer;
	request.index = index;
	request.low = (uintptr_t)(value & 0xffffffffu);
	request.high = (uintptr_t)(value >> 32);
	request.reserved = 0;
	return spmu_client_do(&request);
}

/* 1 if a model with a PMU listens, else 0. */
SPMU_CLIENT_INLINE int spmu_client_present(void)
{
	return spmu_client_ask(SPMU_CLIENT_PRESENT, 0, 0, 0) == SPMU_CLIENT_OK;
}

/* As RDMSR and WRMSR at CPL 0.  *value is written on SPMU_CLIENT_OK only. */
SPMU_CLIENT_INLINE int spmu_client_rdmsr(uint32_t msr, uint64_t *value)
{
	uint64_t answer[4] = { 0, 0, 0, 0 };
	int status = spmu_client_ask(SPMU_CLIENT_RDMSR, msr, 0, answer);
	if (status == SPMU_CLIENT_OK)
		*value = answer[0];
	return status;
}

SPMU_CLIENT_INLINE int spmu_client_wrmsr(uint32_t msr, uint64_t value)
{
	return spmu_client_ask(SPMU_CLIENT_WRMSR, msr, value, 0);
}

/* Makes the thread's PMU that of an inner machine (a guest of a guest), whose PEBS reloads counters from
 * MSR_RELOAD_PMCx (14C1H and up) and MSR_RELOAD_FIXED_CTRx (1309H and up) and never from the DS area
 * (spmu_host.pebs_reload_msrs).  It must be the thread's first request for the PMU: SPMU_CLIENT_BAD afterwards;
 * SPMU_CLIENT_NO_MSR before Ice Lake. */
SPMU_CLIENT_INLINE int spmu_client_inner_machine(void)
{
	return spmu_client_ask(SPMU_CLIENT_INNER, 0, 0, 0);
}

/* Prepares a WRMSR that spmu_client_do() makes later. */
SPMU_CLIENT_INLINE void spmu_client_prepare_wrmsr(struct spmu_client_request *request, uint32_t msr, uint64_t value)
{
	request->code = SPMU_CLIENT_WRMSR;
	request->answer = 0;
	request->index = msr;
	request->low = (uintptr_t)(value & 0xffffffffu);
	request->high = (uintptr_t)(value >> 32);
	request->reserved = 0;
}

/* As RDPMC with ECX = rdpmc_idx.  *value is written on SPMU_CLIENT_OK only. */
SPMU_CLIENT_INLINE int spmu_client_rdpmc(uint32_t rdpmc_idx, uint64_t *value)
{
	uint64_t answer[4] = { 0, 0, 0, 0 };
	int status = spmu_client_ask(SPMU_CLIENT_RDPMC, rdpmc_idx, 0, answer);
	if (status == SPMU_CLIENT_OK)
		*value = answer[0];
	return status;
}

/* CPUID leaf 0AH of the modelled machine: EAX, EBX, ECX, EDX.  (Valgrind answers the program's own CPUID
 * instruction.) */
SPMU_CLIENT_INLINE int spmu_client_cpuid_0a(uint32_t regs[4])
{
	uint64_t answer[4] = { 0, 0, 0, 0 };
	int i, status = spmu_client_ask(SPMU_CLIENT_CPUID_0A, 0, 0, answer);
	for (i = 0; status == SPMU_CLIENT_OK && i < 4; i++)
		regs[i] = (uint32_t)answer[i];
	return status;
}

/* The local APIC's registers by their offset.  There is one: 340H, the performance entry of the local vector
 * table.  It is masked (bit 16) after reset.  A PMI that finds it masked is lost; from NetBurst on a delivered
 * PMI masks it. */
SPMU_CLIENT_INLINE int spmu_client_apic_read(uint32_t offset, uint32_t *value)
{
	uint64_t answer[4] = { 0, 0, 0, 0 };
	int status = spmu_client_ask(SPMU_CLIENT_APIC_READ, offset, 0, answer);
	if (status == SPMU_CLIENT_OK)
		*value = (uint32_t)answer[0];
	return status;
}

SPMU_CLIENT_INLINE int spmu_client_apic_write(uint32_t offset, uint32_t value)
{
	return spmu_client_ask(SPMU_CLIENT_APIC_WRITE, offset, value, 0);
}

/* A PMI that was taken. */
struct spmu_client_pmi {
	uint64_t ip;		/* address of the first instruction that had not retired when it was taken */
	/* IA32_PERF_GLOBAL_STATUS when it was taken; NetBurst: bit n is the OVF flag of CCCR n; 0 on older
	 * families. */
	uint64_t status;
	uint64_t cycle;		/* at which it was taken, on the modelled core's clock */
};

/* Takes this thread's oldest PMI out of its queue.  Returns how many were in the queue, this one included; 0 if
 * it was empty (*pmi is not written); or an enum spmu_client_status below 0.  The queue holds 64; a PMI that
 * finds it full is lost. */
SPMU_CLIENT_INLINE int spmu_client_pmi_pending(struct spmu_client_pmi *pmi)
{
	uint64_t answer[4] = { 0, 0, 0, 0 };
	int status = spmu_client_ask(SPMU_CLIENT_PMI, 0, 0, answer);
	if (status != SPMU_CLIENT_OK || !answer[3])
		return status;
	pmi->ip = answer[0];
	pmi->status = answer[1];
	pmi->cycle = answer[2];
	return (int)answer[3];
}

/* Names the calling thread's handler of its PMIs; entry 0: none.  stack_top: the end of the handler's own stack.
 * SPMU_CLIENT_BAD if entry is not executable or the stack not writable; if they are gone later, the thread gets no
 * more PMIs, and softpmu says so once.
 *
 * `entry` is entered as an interrupt handler is: not called, with the interrupted program's registers and flags, on
 * its own stack, at whose top (aligned to 16) lies the frame, from the lowest address on: RIP, CS, RFLAGS, RSP, SS;
 * words of 8 bytes in a 64-bit program, of 4 in a 32-bit one (SDM vol. 3A, "Stack Switching").  It saves what it
 * changes, and ends with IRET (iretq in a 64-bit program).  It runs at CPL 3: counters go on and count it, unless it
 * stops them.  The PMI has masked the LVT entry (from NetBurst on); the handler unmasks it, as it reloads the counter
 * and clears the overflow.  A PMI that is taken while the handler runs waits for its IRET; further ones merge with it.
 * It may make any request.  What PEBS and BTS have written is in the program's memory when it is entered, and
 * spmu_client_pmi_pending gives the PMI's own place.  A handler that leaves by longjmp gets no more PMIs.
 *
 * Where: behind the instruction at spmu_client_pmi.ip, the first that had not retired when the interrupt arrived: that
 * it had not is known when it has run.  This holds for events that are counted at retirement, and for cycles; others
 * (speculative ones, and those that are counted by the cycle) overflow in the past of the program order, and the
 * handler is entered as soon as that is known, up to the core's whole window later.  No PMI comes between two
 * elements of a string instruction, nor between a comparison and the Jcc that follows it (processors may execute both
 * as one).  The same program, machine and softpmu: the same places.
 *
 * Speed: while a counter is set up to interrupt and the LVT entry is not masked, the program stops for the model
 * about once for each halving of what is left in the counter, and after each instruction between the overflow and the
 * interrupt: some 20 ms for each PMI of instructions, 250 ms of cycles.  From the first handler on, all code
 * of the process runs at about half of its speed under softpmu. */
SPMU_CLIENT_INLINE int spmu_client_handler(void (*entry)(void), void *stack_top)
{
	return spmu_client_ask(SPMU_CLIENT_HANDLER, (uintptr_t)entry, (uint64_t)(uintptr_t)stack_top, 0);
}

/* Marks the begin and the end of a region of the calling thread, by name (up to 255 bytes).  The region begins
 * after the first marker and ends with the second, which belongs to it.  Regions may nest, in themselves as
 * well.  An end without its begin is ignored.  softpmu stat --region NAME counts only inside such a region. */
SPMU_CLIENT_INLINE void spmu_client_region_begin(const char *name)
{
	(void)spmu_client_ask(SPMU_CLIENT_REGION_BEGIN, (uintptr_t)name, 0, 0);
}

SPMU_CLIENT_INLINE void spmu_client_region_end(const char *name)
{
	(void)spmu_client_ask(SPMU_CLIENT_REGION_END, (uintptr_t)name, 0, 0);
}

#define SOFTPMU_REGION_BEGIN(name) spmu_client_region_begin(name)
#define SOFTPMU_REGION_END(name)   spmu_client_region_end(name)
#endif
