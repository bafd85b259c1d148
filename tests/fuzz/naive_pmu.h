/* SPDX-License-Identifier: GPL-2.0-or-later
 * A second model of the PMUs' register interface, slow and simple, to hold the first against (fuzz_pmu_model.c).
 * naive_regs.c: registers.  naive_count.c: what the counters count, cycle by cycle.
 *
 * It shares the event tables with the first model (their expressions are what an event *is*) and nothing else:
 * registers are a list of addresses with valid bits, counting looks at every cycle of every counter.
 *
 * Don't care: what the sources leave open. A write or read of such a kind is answered by NAIVE_ANY; the caller
 * then takes over what the first model did (naive_adopt). A counter that is set up in a way that has no settled
 * meaning is named by naive_unsettled; the caller has to switch it off in both models before anything happens.
 */
#ifndef NAIVE_PMU_H
#define NAIVE_PMU_H
#include "pmu/pmu_internal.h"

enum { NAIVE_ANY = 1 };		/* beside enum spmu_status: either outcome is right */
enum { NAIVE_MSRS = 192, NAIVE_COUNTERS = 24, NAIVE_RECORDS = 512 };

enum naive_kind {
	NAIVE_PLAIN,		/* holds what was written */
	NAIVE_READ_ONLY,	/* a write is #GP */
	NAIVE_NARROW,		/* counter; a write takes 32 bits and extends their sign */
	NAIVE_WIDE,		/* counter; a write takes all its bits */
	NAIVE_STATUS,		/* the overflow bits, read only */
	NAIVE_CLEAR, NAIVE_SET,	/* a 1 clears or sets a bit of them */
	NAIVE_INUSE,
};

struct naive_msr {
	uint32_t address;
	uint8_t kind, counter;
	uint64_t valid;		/* bits that can be written */
	uint64_t loose;		/* bits of which the sources do not say what a 1 does: taken, ignored or #GP */
	uint64_t value;
};

/* What a counter is set up to do. */
struct naive_setup {
	const struct pmu_expr *expr[16];	/* their sum */
	unsigned exprs;
	bool on;
	unsigned who;		/* bits 0, 1: this thread's user and kernel; 2, 3: the other's */
	unsigned threshold;	/* 0: plain */
	bool below, edge; /* count cycles in which the sum is below it, not at or above it; in which that begins */
	bool inverted;		/* INV is set, whether it matters or not */
	bool gated;		/* `below` only while the thread runs */
	unsigned clip;		/* largest amount a cycle, 0: any */
	unsigned active;	/* NetBurst: bit k: count while k threads run */
	unsigned while_in;	/* NetBurst: only in cycles in which such a thread runs */
	bool interrupts;	/* an overflow asks for a PMI */
	bool forced;		/* NetBurst: every increment overflows */
	bool unsettled;
};

struct naive_counter {
	uint64_t value;
	bool previous;			/* edge detector */
	bool armed;	/* NetBurst: overflowed; an increment from the cycle `armed_from` on interrupts */
	uint64_t armed_from;
	bool changed;			/* set up anew since the last stretch, */
	struct naive_setup last;	/* in which it was this */
};

struct naive {
	const struct spmu_model *m;
	unsigned version, gp, fixed, hw_thread;
	bool pce;
	uint32_t lvt;
	struct naive_msr msr[NAIVE_MSRS];
	unsigned msrs;
	struct naive_counter counter[NAIVE_COUNTERS];	/* general-purpose from 0, fixed from 16 */
	uint64_t status;
	/* Called when the interrupt is taken: all cycles up to `cycle` and all
	 * records below `record` count as the registers were. */
	void (*pmi)(void *context, struct naive *n, uint64_t cycle, uint64_t overflow_cycle, unsigned record);
	void *context;
};

/* A record with absolute cycles: a uop's six stages, PMU_NEVER where it did not get; a signal's begin and end. */
struct naive_record { struct spmu_record r; uint64_t at[6]; };

void naive_setup(const struct naive *n, unsigned counter, struct naive_setup *s);
void naive_changes(struct naive *n);	/* registers have changed */
/* The first counter that is on and means nothing settled; -1: none. */
int  naive_unsettled(const struct naive *n);
bool naive_interrupts(const struct naive *n);	/* some counter may ask for a PMI */
bool naive_interrupts_late(const struct naive *n);	/* and that one is not counted at retirement */
bool naive_edges(const struct naive *n);		/* some counter detects edges */
bool naive_freezes(const struct naive *n);
bool naive_cascades(const struct naive *n);		/* some counter waits for another's overflow */
/* All that happens in cycles [from, to); records end below `to`, own thread's uops in order of retirement. */
void naive_run(struct naive *n, const struct naive_record *r, unsigned records, uint64_t from, uint64_t to);

void naive_init(struct naive *n, const struct spmu_model *m, const struct spmu_host *host);
struct naive_msr *naive_find(const struct naive *n, uint32_t address);
uint64_t naive_reg(const struct naive *n, uint32_t address);	/* 0 if there is none */
uint64_t naive_width(const struct naive *n, unsigned counter);	/* mask */
int  naive_wrmsr(struct naive *n, uint32_t address, uint64_t value);
int  naive_rdmsr(const struct naive *n, uint32_t address, uint64_t *value);
int  naive_rdpmc(const struct naive *n, uint32_t index, unsigned cpl, uint64_t *value);
int  naive_apic_write(struct naive *n, uint32_t offset, uint32_t value);
int  naive_apic_read(const struct naive *n, uint32_t offset, uint32_t *value);
void naive_adopt(struct naive *n, uint32_t address, uint64_t value);
#endif
