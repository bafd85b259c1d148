/* SPDX-License-Identifier: GPL-2.0-or-later
 * A second model of the PMUs' register interface, slow and simple. fuzz_pmu_model.c compares the first model with it.
 * naive_regs.c has the registers; naive_count.c counts, cycle by cycle.
 *
 * It shares the event tables with the first model (their expressions are what an event *is*) and nothing else:
 * registers are a list of addresses with valid bits, counting looks at every cycle of every counter.
 *
 * The sources leave some behaviour open. This model answers such a write or read with NAIVE_ANY, and the caller then
 * takes over what the first model did (naive_adopt). naive_unsettled returns a counter whose set-up has no settled
 * meaning; the caller must switch it off in both models before anything is counted.
 */
#ifndef NAIVE_PMU_H
#define NAIVE_PMU_H
#include "pmu/pmu_internal.h"

enum { NAIVE_ANY = 1 };		/* in addition to enum spmu_status: any outcome is right */
enum { NAIVE_MSRS = 192, NAIVE_COUNTERS = 24, NAIVE_RECORDS = 512 };

enum naive_kind {
	NAIVE_PLAIN,		/* holds what was written */
	NAIVE_READ_ONLY,	/* a write is #GP */
	NAIVE_NARROW,		/* counter; a write takes 32 bits and extends their sign */
	NAIVE_WIDE,		/* counter; a write takes all its bits */
	NAIVE_STATUS,		/* the overflow bits, read only */
	NAIVE_CLEAR, NAIVE_SET,	/* writing a 1 clears or sets an overflow bit */
	NAIVE_INUSE,
};

struct naive_msr {
	uint32_t address;
	uint8_t kind, counter;
	uint64_t valid;		/* bits that can be written */
	uint64_t loose;		/* the sources do not say what a 1 in these bits does: taken, ignored or #GP */
	uint64_t value;
};

/* What a counter is set up to do. */
struct naive_setup {
	const struct pmu_expr *expr[16];	/* the counter counts their sum */
	unsigned exprs;
	bool on;
	unsigned who;		/* bits 0, 1: this thread's user and kernel; 2, 3: the other's */
	unsigned threshold;	/* 0: counts the sum itself */
	/* below: counts cycles in which the sum is below the threshold, otherwise those in which it is not; edge:
	 * counts the beginnings of such cycles */
	bool below, edge;
	bool inverted;		/* INV is set, even where it has no effect */
	bool gated;		/* `below` counts only while the thread runs */
	unsigned clip;		/* largest increment in a cycle; 0: no limit */
	unsigned active;	/* NetBurst: bit k set: counts while k threads run */
	unsigned while_in;	/* NetBurst: counts only while a thread of these classes (as in who) runs; 0: always */
	bool interrupts;	/* an overflow asks for a PMI */
	bool forced;		/* NetBurst: every increment overflows */
	bool unsettled;
};

struct naive_counter {
	uint64_t value;
	bool previous;			/* edge detector */
	bool armed;	/* NetBurst: overflowed; an increment from the cycle `armed_from` on interrupts */
	uint64_t armed_from;
	bool changed;			/* set up anew since the last stretch */
	struct naive_setup last;	/* its set-up in the last stretch */
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
	/* Called when the interrupt is taken. All cycles up to `cycle` and all records below `record` are counted with
	 * the registers as they were before the handler. */
	void (*pmi)(void *context, struct naive *n, uint64_t cycle, uint64_t overflow_cycle, unsigned record);
	void *context;
};

/* A record with absolute cycles. at: the six stages of a uop (PMU_NEVER for a stage that it did not reach), or the
 * begin and end of a signal. */
struct naive_record { struct spmu_record r; uint64_t at[6]; };

void naive_setup(const struct naive *n, unsigned counter, struct naive_setup *s);
void naive_changes(struct naive *n);	/* call after registers have changed */
/* Returns the first counter that is on and whose set-up has no settled meaning; -1: none. */
int  naive_unsettled(const struct naive *n);
bool naive_interrupts(const struct naive *n);	/* some counter may ask for a PMI */
bool naive_interrupts_late(const struct naive *n);	/* such a counter does not count at retirement */
bool naive_edges(const struct naive *n);		/* some counter detects edges */
bool naive_freezes(const struct naive *n);
bool naive_cascades(const struct naive *n);		/* some counter waits for another's overflow */
/* Counts the cycles [from, to). All records end below `to`; this thread's uops are in order of retirement. */
void naive_run(struct naive *n, const struct naive_record *r, unsigned records, uint64_t from, uint64_t to);

void naive_init(struct naive *n, const struct spmu_model *m, const struct spmu_host *host);
struct naive_msr *naive_find(const struct naive *n, uint32_t address);
uint64_t naive_reg(const struct naive *n, uint32_t address);	/* its value; 0 if there is no such register */
uint64_t naive_width(const struct naive *n, unsigned counter);	/* mask of its bits */
int  naive_wrmsr(struct naive *n, uint32_t address, uint64_t value);
int  naive_rdmsr(const struct naive *n, uint32_t address, uint64_t *value);
int  naive_rdpmc(const struct naive *n, uint32_t index, unsigned cpl, uint64_t *value);
int  naive_apic_write(struct naive *n, uint32_t offset, uint32_t value);
int  naive_apic_read(const struct naive *n, uint32_t offset, uint32_t *value);
void naive_adopt(struct naive *n, uint32_t address, uint64_t value);
#endif
