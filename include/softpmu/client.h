/* SPDX-License-Identifier: BSD-2-Clause
 * For programs that look at themselves: the modelled PMU of the calling thread, and region markers.
 *
 *	#include <softpmu/client.h>
 *
 *	SOFTPMU_REGION_BEGIN("sort");		// softpmu stat --region sort ./program
 *	sort(data, n);
 *	SOFTPMU_REGION_END("sort");
 *
 * Header-only, C (from C89 on, with GCC's extensions) and C++, 64- and 32-bit x86, GCC and Clang.  On a processor, under another
 * Valgrind tool, or without a model listening, each call costs a few instructions and says "not under softpmu"
 * (SPMU_CLIENT_ABSENT); elsewhere than on x86 it is nothing but that answer.
 *
 * How a call reaches softpmu: Valgrind's client request.  Five instructions that change nothing on a processor (four
 * rotations that add up to whole turns, an exchange of a register with itself) and that no compiler emits in a row are recognised by
 * the tracer as one; RAX (EAX) points to the request's words, RDX (EDX) holds the answer, zero unless somebody writes it.  Source:
 * valgrind.h of Valgrind 3.19, comment "The following defines the magic code sequences which the JITter spots and handles
 * magically".  Chosen over an INT or a reserved opcode, which would fault where nobody listens, over a system call, which would cost a
 * kernel entry there, and over a breakpoint, which needs a debugger.
 *
 * Exactness: a request is one instruction of the program.  It retires when everything before it is done, as WRMSR does, and only then
 * the register is written (or read).  So between a write that enables a counter and one that disables it are
 * counted: all instructions in between, in which those that prepare the second request are included, and the second request itself;
 * the first is not.  spmu_client_do() with a request prepared before (spmu_client_prepare_wrmsr) keeps that to three
 * instructions.  Every request serialises the modelled core, reading ones too.
 *
 * The PMU is of the session's machine (softpmu stat --core, --pmu) and belongs to the thread: made at its first request, in
 * the state after reset (the LVT entry is masked, IA32_PERF_GLOBAL_CTRL is what the generation has there), and apart from the
 * PMUs that count softpmu's own -e events: neither disturbs the other.
 * Accesses are made at CPL 0.  It counts what the thread does from its first request on; a thread that it creates has another.
 * Ring 0 is not modelled: set the USR bit.
 *
 * The registers of the core's features (docs/reference/features.md: MSR_MISC_FEATURE_CONTROL, 1A4H, and 400000C0H on) are reached by the same two calls, whether
 * or not a PMU listens.  They belong to the process's machine: a write changes all of its cores from the next instruction on.
 *
 * Its debug store (PEBS, BTS) lies in the program's memory, at IA32_DS_AREA.  What the program has changed in the management area the PMU
 * sees from the thread's next request on, and what the PMU has written is in the program's memory after it: up to 1 MB between two
 * requests, the rest is lost.  So change and read it while nothing counts, behind a request that stopped it.  Of the registers
 * in a PEBS record only RIP is told, the others are 0.
 */
#ifndef SOFTPMU_CLIENT_H
#define SOFTPMU_CLIENT_H
#include <stdint.h>

/* What a call returns; the first six are those of softpmu/pmu.h. */
enum spmu_client_status {
	SPMU_CLIENT_OK = 0,
	SPMU_CLIENT_GP = -1,		/* the hardware would raise #GP(0); nothing changed */
	SPMU_CLIENT_NO_MSR = -2,	/* this PMU has no such register (hardware: #GP(0) as well) */
	SPMU_CLIENT_NO_MEMORY = -3,
	SPMU_CLIENT_BAD = -4,		/* the request itself is malformed */
	SPMU_CLIENT_UD = -5,		/* the part has no such instruction: #UD */
	SPMU_CLIENT_ABSENT = -100	/* not under softpmu */
};

/* Valgrind gives a tool the requests whose upper half names it. */
enum spmu_client_code {
	SPMU_CLIENT_BASE = 0x53500000,	/* 'S', 'P' */
	SPMU_CLIENT_PRESENT = SPMU_CLIENT_BASE, SPMU_CLIENT_RDMSR, SPMU_CLIENT_WRMSR, SPMU_CLIENT_RDPMC, SPMU_CLIENT_CPUID_0A,
	SPMU_CLIENT_APIC_READ, SPMU_CLIENT_APIC_WRITE, SPMU_CLIENT_PMI,
	SPMU_CLIENT_REGION_BEGIN, SPMU_CLIENT_REGION_END,
	SPMU_CLIENT_CODES
};

/* The words behind RAX. */
struct spmu_client_request {
	uintptr_t code;			/* enum spmu_client_code */
	uintptr_t answer;		/* address of uint64_t[4] to be filled; 0: none */
	uintptr_t index;		/* register or counter number, APIC offset, address of a region's name */
	uintptr_t low, high;		/* value to write, 32 bits each */
	uintptr_t reserved;		/* 0 */
};

#if defined(__GNUC__) && ((defined(__x86_64__) && !defined(__ILP32__)) || defined(__i386__))
#define SPMU_CLIENT_SUPPORTED 1
#if defined(__x86_64__)
/* The five instructions, for an asm statement with operands. */
#define SPMU_CLIENT_SEQUENCE "rolq $3, %%rdi\n\trolq $13, %%rdi\n\trolq $61, %%rdi\n\trolq $51, %%rdi\n\txchgq %%rbx, %%rbx\n\t"
#else
#define SPMU_CLIENT_SEQUENCE "roll $3, %%edi\n\troll $13, %%edi\n\troll $29, %%edi\n\troll $19, %%edi\n\txchgl %%ebx, %%ebx\n\t"
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

/* The request itself.  Returns enum spmu_client_status. */
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

/* Does a model with a PMU listen?  1 or 0. */
SPMU_CLIENT_INLINE int spmu_client_present(void)
{
	return spmu_client_ask(SPMU_CLIENT_PRESENT, 0, 0, 0) == SPMU_CLIENT_OK;
}

/* As RDMSR and WRMSR.  *value is written on SPMU_CLIENT_OK only. */
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

/* A write to be done later by spmu_client_do(). */
SPMU_CLIENT_INLINE void spmu_client_prepare_wrmsr(struct spmu_client_request *request, uint32_t msr, uint64_t value)
{
	request->code = SPMU_CLIENT_WRMSR;
	request->answer = 0;
	request->index = msr;
	request->low = (uintptr_t)(value & 0xffffffffu);
	request->high = (uintptr_t)(value >> 32);
	request->reserved = 0;
}

/* As RDPMC with ECX = rdpmc_idx. */
SPMU_CLIENT_INLINE int spmu_client_rdpmc(uint32_t rdpmc_idx, uint64_t *value)
{
	uint64_t answer[4] = { 0, 0, 0, 0 };
	int status = spmu_client_ask(SPMU_CLIENT_RDPMC, rdpmc_idx, 0, answer);
	if (status == SPMU_CLIENT_OK)
		*value = answer[0];
	return status;
}

/* CPUID leaf 0AH of the modelled machine: EAX, EBX, ECX, EDX.  (The program's own CPUID instruction is answered by Valgrind.) */
SPMU_CLIENT_INLINE int spmu_client_cpuid_0a(uint32_t regs[4])
{
	uint64_t answer[4] = { 0, 0, 0, 0 };
	int i, status = spmu_client_ask(SPMU_CLIENT_CPUID_0A, 0, 0, answer);
	for (i = 0; status == SPMU_CLIENT_OK && i < 4; i++)
		regs[i] = (uint32_t)answer[i];
	return status;
}

/* The local APIC's registers by their offset, of which there is one: 340H, the vector table's performance entry.  It is masked (bit 16)
 * after reset; a PMI that meets it masked is lost, and from NetBurst on a PMI masks it. */
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

/* A PMI that was taken.  No handler runs in the program: it asks. */
struct spmu_client_pmi {
	uint64_t ip;		/* first instruction that had not retired when it was taken */
	uint64_t status;	/* IA32_PERF_GLOBAL_STATUS then; NetBurst: set of counters whose OVF is set; 0 where there are no such bits */
	uint64_t cycle;		/* of the modelled core */
};

/* Takes the oldest PMI of this thread that was not asked for yet.  Returns how many there were, that one included: 0, none, and *pmi is
 * not written; or an enum spmu_client_status below 0.  The queue holds 64; a PMI that finds it full is lost. */
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

/* A region of the calling thread, by name (up to 255 bytes): from behind the one marker up to and including the other.  Regions may nest,
 * in themselves as well; an end without its beginning means nothing.  softpmu stat --region NAME counts only inside. */
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
