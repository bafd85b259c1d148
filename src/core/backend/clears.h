/* SPDX-License-Identifier: GPL-2.0-or-later
 * Recoveries other than from mispredicted branches: machine clears and microcode assists.
 *
 * Models: clears for memory ordering: for a load that was executed before an older store to its bytes whose
 * address came later (lsq.h finds it), and for a load whose line another core took between its execution and
 * its retirement (clears_snooped); clears for self-modifying code: a store into a line that L1I holds; the save
 * and restore of the upper halves of vector registers where legacy SSE meets 256-bit code (assist.sse_avx;
 * script.c settles for which instructions); assists of floating-point instructions by value (assist.fp), if the
 * stream says which need one (format.h, ST_SLOT_ASSIST).
 * From Skylake on (assist.sse_avx = blend) nothing is saved: while upper
 * halves are in use, a uop behind each legacy SSE instruction merges its result with the old upper half of the
 * register, for which it waits (Optimization Manual, "Mixing Intel AVX and Intel SSE Code" of Skylake; Intel's perfmon
 * lists, UOPS_ISSUED.VECTOR_WIDTH_MISMATCH).  GUESS: one uop a register, one cycle, on any vector port; its count and
 * UOPS_DISPATCHED_PORT in a loop of SQRTSD behind VADDPD ymm settle it.  The wrong path has none.
 * A clear is taken when the instruction at fault is the oldest: what is older retires; the instruction and
 * everything younger (self-modifying code: everything younger) is thrown away and fetched again clear.cycles
 * later (A. Glew et al., patents on the P6 memory order buffer; SDM vol. 3B, MACHINE_CLEARS; H. Ragab et al.,
 * "Rage Against the Machine Clear", USENIX Security 2021).
 * Leaves out: what the younger instructions did before a clear threw them away; the uops of an assist, of which only
 * the time is modelled; assists for masked accesses to pages that would fault; accessed and dirty bits, which Linux
 * sets itself when it maps a page; code that another core writes.
 *
 * How: each instruction comes once, in program order, so a clear is a redirect that the instructions behind it
 * wait for.  The two kinds that are found out of order (snoops, self-modifying code) wait in `pending` until
 * the next instruction looks up its window in the front end.
 */
#ifndef CORE_CLEARS_H
#define CORE_CLEARS_H
#include "core/pipeline.h"

void clears_init(struct core *c);
void clears_reset(struct core *c);
/* A load passed a store that it depends on, whose address was known at `known`.  Returns the cycle in which the
 * load may go again. */
uint64_t clears_passed_store(struct core *c, uint64_t ip, uint64_t addr, uint64_t known);
/* The same with free.clear: only the event is told. */
void clears_passed_free(struct core *c, uint64_t ip, uint64_t addr, uint64_t known);
/* A store is about to write a line that L1I holds (emitter.code_written).  Without timing nothing is in flight that
 * would have to be thrown away. */
void clears_code_written(void *core, uint64_t addr, uint32_t size, bool timed);
/* Another core took the line (linear address / 64) away at `cycle` (emitter.snooped). */
void clears_snooped(void *core, uint64_t vline, uint64_t cycle);
/* Takes the pending clear, before the next instruction. */
void clears_take(struct core *c);
/* Microcode runs before instruction `ip`, when what is older has retired.  kind: ASSIST_* of enum spmu_did. */
void clears_assist(struct core *c, enum spmu_did kind, uint64_t ip);
/* Microcode does the floating-point instruction `ip`, when what is older has retired.  why: a bit for each of enum
 * script_assist's SCRIPT_FP, from 0 on; not 0. */
void clears_fp_assist(struct core *c, unsigned why, uint64_t ip);

/* assist.sse_avx = blend: the vector registers that an instruction writes while upper halves are in use, and since when
 * their upper halves are known.  begin: before the instruction; end: when its uops have gone. */
enum { BLENDS = 4 };
struct blend { unsigned regs; uint8_t reg[BLENDS]; uint64_t upper[BLENDS]; };
void clears_blend_begin(const struct core *c, const struct uop *u, unsigned uops, struct blend *b);
void clears_blend_end(struct core *c, const struct insn *in, const struct blend *b);

/* Remembers a load; called once the machine's cores have taken lines from each other. */
static inline void clears_watch(struct core *c, uint32_t number, uint64_t ip, uint64_t addr, uint64_t complete)
{
	struct watched *w = &c->cl.load[number & (LOAD_RING - 1)];
	w->ip = ip;
	w->addr = addr;
	w->complete = complete;
}
#endif
