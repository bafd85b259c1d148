/* SPDX-License-Identifier: GPL-2.0-or-later
 * What the units of the session share (session.c, session_counter.c, session_sampling.c, session_shared.c,
 * session_counts.c, session_create.c); nobody else includes it.
 */
#ifndef SESSION_SESSION_INTERNAL_H
#define SESSION_SESSION_INTERNAL_H
#include "session/callstack.h"
#include "session/client_requests.h"
#include "session/driver/driver.h"
#include "session/driver/branch_stack.h"
#include "session/driver/precise.h"
#include "session/events/region.h"
#include "session/session.h"

enum {
	/* GUESS: cycles from the overflow to the interrupt's arrival at the core.  Would be settled by the
	 * distribution of the distance between a lone overflowing instruction (a store behind a serialising
	 * one, counted with period 1) and the sampled address in a row of one-cycle instructions on the machine
	 * itself. */
	PMI_LATENCY = 60,
	TICK_HZ = 250, /* the kernel's tick, at which it looks after the periods of rare events */
};
#define LVT_NMI UINT32_C(0x400)	/* delivery mode of the local APIC's performance entry */

struct item {			/* a counter's job; the same in every thread */
	size_t event;		/* the session's event, or NO_EVENT: the clock */
	uint64_t period, frequency;	/* in counts of the counter; both 0: counting */
	bool clock;		/* samples of a clock: counts are cycles, the user's periods ns */
};
#define NO_EVENT ((size_t)-1)

struct pending {
	/* 1 + index of its struct precise_record; 0: none */
	uint64_t ip, cycle, period; uint32_t record, order; size_t item, extra;
	bool exact, has_pushout; uint32_t pushout;
	size_t branch, branches;	/* its stack: in thread.branch */
};

struct counter {
	uint64_t count, prev;	/* total; raw value at the last update */
	int64_t left;		/* until the period is over */
	uint64_t period;	/* that the next reload uses */
	uint64_t loaded;	/* of the interval that is running: what its sample stands for */
	uint64_t stamp;		/* cycle of the last overflow */
	uint64_t tick_count;	/* count at the last tick */
	uint64_t base;		/* precise: count when it was last reloaded */
	uint64_t reload;	/* precise: what PEBS reloads it with */
};

struct thread;
struct attached {
	struct thread *thread;
	unsigned pmu;
	struct precise *precise /* NULL: no event of this copy is */, *own /* of no processor */;
};
struct processor {
	struct precise **buffer; /* by copy of the PMU */
	struct thread *last; /* of whom its records are; NULL: of nobody now */
};

struct thread {
	struct session *s;
	struct run_thread *run;	/* NULL: ended */
	struct spmu **pmu;
	struct attached *attached;
	struct counter *counter;
	struct pending *pending;
	size_t pendings, pending_room;
	struct precise_record *extra;	/* of pending samples */
	size_t extras, extra_room;
	struct session_branch *branch;	/* stacks of pending samples */
	size_t branches, branch_room;
	struct lbr_kinds kinds;
	uint64_t instructions;	/* retired before the batch in hand */
	int word_bytes;
	struct callstack *stack;
	uint64_t *chain;
	uint64_t next_tick;	/* cycle; 0: before the first batch */
	uint64_t tick_clock;	/* cycles counted at the last tick */
	uint32_t pid, tid, first_cpu;
	char comm[16];
	struct client client;	/* the program's own PMU */
	struct region_thread regions;
	bool outside;		/* of the region to which the session is kept: nothing counts */
	uint64_t reached;	/* watermark of its last batch */
	uint64_t *ran;		/* by turn: cycles for which its copy of the PMU counted; NULL: all count always */
};

struct session {
	struct session_options o;
	uint64_t hz;
	struct item *item;
	const struct driver *driver;
	struct driver_event *job;	/* by item */
	bool *hit;			/* by item: overflowed, in a PMI handler */
	size_t items, clock;
	size_t plain;		/* items of the family's counters; those behind are pushout counters */
	int *item_of_event;	/* -1: a clock that is not sampled */
	unsigned turns;		/* copies that stand for one PMU, of which one counts at a time; 0: all count always */
	unsigned pmus;
	bool any_thread;	/* some event is AnyThread's, and cores have several hardware threads */
	bool adapts;
	uint64_t max_period;
	struct thread **thread;
	size_t threads, thread_room;
	uint64_t *adapted;	/* by item: the last period found in frequency mode, with which a new thread starts */
	uint64_t now, next_interval;
	uint64_t interrupts;
	struct uncore_session *uncore;	/* NULL: no event is the uncore's */
	struct regions regions;
	uint64_t *mark;		/* scratch: a thread's counts at a marker */
	struct lbr *lbr;	/* NULL: no branch stacks */
	struct processor *processor;	/* pebs_shared */
	uint32_t processors;
	uint64_t mistaken;	/* records taken for those of another thread */
};

/* session_counter.c: counters through their registers.  `i` is an item. */
uint64_t counter_mask(const struct session *s, size_t i);	/* of the bits it has */
uint64_t counter_since(const struct session *s, const struct thread *t, size_t i);	/* the last update */
uint64_t counter_total(const struct session *s, const struct thread *t, size_t i);
void counter_update(const struct session *s, struct thread *t, size_t i);
int counter_write(const struct session *s, struct thread *t, size_t i, uint64_t value);
/* writes it, and what PEBS reloads it with */
int counter_preset(const struct session *s, struct thread *t, size_t i, uint64_t value);
/* presets it to what is left; true if a period was over */
bool counter_set_period(const struct session *s, struct thread *t, size_t i);
const char *session_spelled(const struct session *s, size_t i);	/* the item's event, as the user wrote it */
/* all PMUs of a thread; counting starts */
int session_program(struct session *s, struct thread *t, struct err *err);

/* session_sampling.c: from PMIs and PEBS records to samples. */
bool sampling_precise(const struct session *s, unsigned pmu);	/* an event of this copy is precise */
/* makes a thread's PMUs */
int sampling_attach(struct session *s, struct thread *t, uint8_t hw_thread, struct err *err);
/* frequency mode: looks after the periods of rare events */
void sampling_tick(struct session *s, struct thread *t, uint64_t now);
/* what is pending, in the order of the records */
void sampling_deliver(struct session *s, struct thread *t, const struct spmu_batch *b);
void sampling_drain(struct session *s, struct thread *t);	/* what is in the DS buffers, before the thread goes */

int sampling_buffer(struct session *s, struct precise **out, int word_bytes, struct attached *context, struct err *err);

/* session_shared.c: with pebs_shared, what becomes of the buffers when a thread starts, goes on and ends */
int shared_start(struct session *s, struct thread *t, const struct run_thread *run, struct err *err);
void shared_arrive(struct session *s, struct thread *t);
void shared_leave(struct session *s, struct thread *t);
void shared_release(struct session *s);

/* session.c */
int session_thread_new(struct thread **out, struct session *s, int word_bytes, uint8_t hw_thread, struct err *err);
void session_thread_free(struct session *s, struct thread *t);
#endif
