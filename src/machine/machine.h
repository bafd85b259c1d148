/* SPDX-License-Identifier: GPL-2.0-or-later
 * A whole machine: what its emulator and the model of its processor say to each other.  The emulator executes the
 * guest; the model (struct guest) has the core that times it and the PMU that the guest sees.  Bochs is the one
 * emulator so far (bochs/instrument.cc); nothing here or behind this header knows of it.
 *
 * Each processor has a model of its own.  For each instruction that it executes, the emulator calls in this order:
 *   guest_begin;
 *   guest_access for each access;
 *   guest_iteration after each round of a REP string instruction;
 *   guest_end when the instruction is complete.
 * An instruction that faults has no guest_end.  guest_event says that an exception or an interrupt is taken; the
 * accesses between it and the next guest_begin are those of its delivery.  These calls may be left out while
 * guest_watches is false.  Changes of translations are always told: guest_space, guest_paging, guest_invlpg,
 * guest_invpcid.
 *
 * The model is behind the emulator by the instructions of one path, at most PATH_INSNS (path.h); with
 * guest_options.ahead, by up to 8,192 more.  Close to an overflow it is behind by none: it requests a PMI after
 * the instruction whose retirement shows that one is due.
 *
 * Memory is the guest's own (core/paging/told.h).  Before a page's first use the model asks the emulator where it lies,
 * and walks read the guest's table entries through the caches.  TLB entries are dropped where the guest drops them.
 * Several processors share L3 and memory, and their private caches are coherent.
 *
 * Left out: 16-bit code, which is not timed; the wrong path of mispredicted branches; uncacheable memory; what devices
 * write into memory past the caches; the accessed and dirty bits that walks write.  A TLB shootdown costs only its
 * interrupts and instructions.  Global pages of 32-bit guests take TLB entries in each address space.
 */
#ifndef MACHINE_MACHINE_H
#define MACHINE_MACHINE_H
#include "softpmu/pmu.h"
#include "util/err.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#ifdef __cplusplus
extern "C" {
#endif

struct guest;

/* When the core times the guest.  At other times the guest runs at the emulator's speed, or warms the core; each
 * instruction then takes a cycle, and no counter moves. */
enum guest_timing {
	GUEST_COUNTING,		/* while a counter, LBR or BTS is enabled */
	GUEST_MARKED,		/* from guest_mark(true) to guest_mark(false) */
	GUEST_ALWAYS,
};

struct guest_options {
	const char *data_dir;		/* holds cores/, uops/, events/ */
	const char *core;		/* preset */
	const char *const *setting;	/* "field=value", as --set */
	size_t settings;
	enum guest_timing timing;
	const char *stream;		/* a file for what the core is made to do (guest_stream.h), or NULL */
	/* For the stream's readers, or NULL.  files: a list of the host's files that were copied into the guest
	 * (code_files.h); kallsyms: the file that has, or will have, a copy of the guest's /proc/kallsyms. */
	const char *files, *kallsyms;
	bool pebs_reload_msrs;		/* as in struct spmu_host */
	bool warm;			/* caches, TLBs and predictors follow what is not timed, too; no stream */
	bool ahead;			/* the core has a thread of its own; for a machine of one processor */
};

/* Where a page lies. */
struct guest_page {
	uint64_t frame;			/* physical address of its first byte */
	uint64_t entry[4];		/* physical addresses of the table entries that say so, the leaf's first */
	uint8_t levels;			/* how many there are; 0: paging is off */
	uint8_t shift;			/* 12, 21, 22 or 30: log2 of its size */
	uint8_t entry_bytes;		/* 8, or 4 with 32-bit paging */
	bool global;			/* its entry has the bit G */
};

/* What the emulator gives.  All are called with `context`; only `walk` may be NULL. */
struct guest_emulator {
	void *context;
	/* The local APIC sends what its performance entry said when the PMI came, and shows `lvt` from now on: the
	 * interrupt is taken before the next instruction, unless it is masked in the processor. */
	void (*interrupt)(void *context, uint32_t sent, uint32_t lvt);
	/* Linear memory of the address space that the processor is in: 0, or nonzero for a page fault, which is not
	 * raised. */
	int (*read)(void *context, uint64_t addr, void *to, size_t bytes);
	int (*write)(void *context, uint64_t addr, const void *from, size_t bytes);
	/* General registers, RIP and RFLAGS as they are now; xmm is left alone. */
	void (*registers)(void *context, struct spmu_registers *out);
	/* The page of a linear address, as the tables of the address space that the processor is in have it now.
	 * False: they have none.  NULL: there are no tables, and the core gives frames by first touch in each space. */
	bool (*walk)(void *context, uint64_t linear, struct guest_page *out);
};

/* guest_create copies the emulator's struct and keeps nothing of the options.  ERR_INPUT: no such core, a bad
 * setting; ERR_UNSUPPORTED: a core of another vendor, or one with several hardware threads set; ERR_NOMEM. */
int  guest_create(struct guest **out, const struct guest_options *o, const struct guest_emulator *e, struct err *err);
/* Another processor of the machine of `first`, which must outlive it.  ERR_UNSUPPORTED: a stream is written; ERR_NOMEM.
 * Several processors are kept in step by the emulator: all cores' cycles are those of the machine's clock. */
int  guest_create_processor(struct guest **out, struct guest *first, const struct guest_emulator *e, struct err *err);
/* The stream ends here.  ERR_SYSTEM: something could not be written. */
int  guest_end_stream(struct guest *g, struct err *err);
void guest_destroy(struct guest *g);	/* NULL: does nothing */

/* Registers.  Each is done behind all instructions that are complete. */
enum guest_answer { GUEST_NOT_MINE = -1, GUEST_GP = 0, GUEST_DONE = 1 };
enum guest_answer guest_rdmsr(struct guest *g, uint32_t msr, uint64_t *value);
enum guest_answer guest_wrmsr(struct guest *g, uint32_t msr, uint64_t value);
enum guest_answer guest_rdpmc(struct guest *g, uint32_t index, unsigned cpl, uint64_t *value);
/* regs: EAX, EBX, ECX, EDX, as the emulator would answer CPUID.  They become what this processor answers: its
 * signature, its PMU, and its frequencies where it has leaves 15H and 16H. */
void guest_cpuid(struct guest *g, uint32_t leaf, uint32_t subleaf, uint32_t regs[4]);
void guest_lvt(struct guest *g, uint32_t value);	/* the local APIC's performance entry was written */
void guest_pce(struct guest *g, bool pce);		/* CR4.PCE */
/* How addresses are translated.  A change drops all that is known of pages. */
enum guest_mode {
	GUEST_PAGED = 1, GUEST_PAE = 2, GUEST_PSE = 4, GUEST_GLOBAL_PAGES = 8, GUEST_PCIDS = 16, GUEST_LONG = 32,
};
void guest_paging(struct guest *g, unsigned mode);	/* set of enum guest_mode */
void guest_space(struct guest *g, uint64_t cr3);	/* CR3 was written; with PCIDs bit 63 is as written, too */
void guest_invlpg(struct guest *g, uint64_t addr);
void guest_invpcid(struct guest *g, unsigned type, unsigned pcid, uint64_t addr);

/* Instructions */
struct guest_insn {
	uint64_t ip;		/* linear address */
	uint64_t code[2];	/* its bytes, the first in the lowest byte; what is behind `len` of them is ignored */
	uint8_t len;		/* 1 to 15 */
	uint8_t cpl;		/* 0 to 3 */
	uint8_t bits;		/* 16, 32 or 64 */
	bool rep;		/* guest_iteration tells its rounds */
};
enum guest_access { GUEST_LOAD = 1, GUEST_STORE = 2, GUEST_UPDATE = 3 };	/* UPDATE: both, of the same bytes */
bool guest_watches(const struct guest *g);
void guest_begin(struct guest *g, const struct guest_insn *i);
void guest_access(struct guest *g, enum guest_access kind, uint64_t addr, unsigned bytes);
void guest_iteration(struct guest *g);
/* next_ip: linear address of the next instruction.  Returns guest_watches. */
bool guest_end(struct guest *g, uint64_t next_ip);
/* An exception (of an instruction that began, if one did) or an interrupt is taken. */
struct guest_trap {
	uint64_t from;		/* linear address of the instruction that faulted, or of the one not yet executed */
	uint64_t address;	/* CR2 of a page fault, else 0 */
	uint32_t vector, error;	/* error: the error code, 0 if it has none */
	bool interrupt;		/* of the local APIC, or an NMI; false: an exception */
};
void guest_event(struct guest *g, const struct guest_trap *t);
/* The processor halted for so many ticks of the machine's clock, which have passed already. */
void guest_halted(struct guest *g, uint64_t ticks);
/* Several processors: the machine's clock is at `cycle` where this one begins to be timed, goes on
 * after a halt, or is far behind. */
void guest_time(struct guest *g, uint64_t cycle);
uint64_t guest_now(const struct guest *g);	/* the core's cycle, which is the clock's while it is timed */
/* Several processors: another one's turn comes.  What this one has stored is in the emulator's memory already; now it
 * is in the core's caches, too.  next_ip: as in guest_end. */
void guest_yield(struct guest *g, uint64_t next_ip);
void guest_mark(struct guest *g, bool on);
/* The guest is about to look at its clock: guest_ticks counts all that is complete.  next_ip: as in guest_end. */
void guest_look(struct guest *g, uint64_t next_ip);
/* By how many ticks the machine's clock is to advance for the instructions since the last call: modelled cycles where
 * the core times them, else one for each. */
uint64_t guest_ticks(struct guest *g, uint64_t instructions);

struct guest_report {
	double frequency_ghz;		/* of the core, and so of the machine's clock */
	uint64_t instructions[2];	/* timed, at CPL 0 and above it */
	uint64_t cycles[2];		/* of these */
	uint64_t untimed;		/* while it was timed: of 16-bit code */
	uint64_t warmed;		/* instructions that only warmed the core */
	uint64_t pmis;			/* requested of the local APIC */
	uint64_t events;		/* exceptions and interrupts taken while it was timed */
	uint64_t blocks;		/* different paths */
	uint64_t stepped;		/* instructions that were run one by one, close to an overflow */
	uint64_t ahead;			/* instructions that were executed while the core was in its own thread */
	uint64_t late;			/* PMIs that came then: they were taken up to two meetings later */
	const char *failure;		/* why the model stopped timing, or NULL */
};
void guest_report(struct guest *g, struct guest_report *out);
#ifdef __cplusplus
}
#endif
#endif
