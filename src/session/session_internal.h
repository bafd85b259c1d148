/* SPDX-License-Identifier: GPL-2.0-or-later
 * What the session's files share (session.c, session_counter.c, session_sampling.c, session_shared.c,
 * session_counts.c, session_create.c, session_cores.c, session_windows.c).  No other file includes it.
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
	TICK_HZ = 250, /* the kernel's tick, at which it looks after the periods of rare events */
};
#define LVT_NMI UINT32_C(0x400)	/* delivery mode of the local APIC's performance entry */
#define LVT_MASKED UINT32_C(0x10000)

struct item {			/* a counter's job; the same in all threads */
	size_t event;		/* index of the session's event; NO_EVENT: the clock */
	uint64_t period, frequency;	/* in counts of the counter; both 0: counting */
	double most_weight, rarer;	/* the event's */
	bool gradual;		/* the event's */
	bool clock;		/* samples of a clock: the counter counts cycles, the user's periods are ns */
};
#define NO_EVENT ((size_t)-1)

struct pending {
	/* 1 + index in thread.extra; 0: none */
	uint64_t ip, cycle, period; uint32_t record, order; size_t item, extra;
	bool exact, has_pushout; uint32_t pushout;
	size_t branch, branches;	/* its branch stack, in thread.branch */
};

struct counter {
	uint64_t count, prev;	/* total; raw value at the last update */
	int64_t left;		/* events until the period is over */
	uint64_t period;	/* the next reload uses it */
	uint64_t loaded;	/* period of the current interval, which its sample stands for */
	uint64_t stamp;		/* cycle of the last overflow */
	uint64_t tick_count;	/* count at the last tick */
	uint64_t base;		/* precise: count when it was last reloaded */
	uint64_t reload;	/* precise: the value with which PEBS reloads it */
	uint64_t taken, taken_cycle;	/* precise: events of the records taken from the buffer; the last one's cycle */
	/* session_windows.c */
	double whole;		/* its period in events of the whole run; 0: not known yet */
	double fraction;	/* of an event, that the next period is longer */
	double estimated;	/* events of the whole run, as the windows have it */
	uint64_t began;		/* count at the beginning of the window */
	bool late;		/* precise: it overflowed in the last window, and its record is still to come */
};

struct thread;
struct shared_core {		/* a core whose hardware threads share its PMUs (session_cores.c) */
	struct session *s;
	uint32_t process, core;
	struct spmu **pmu;		/* by copy */
	struct attached *attached;	/* the PMUs' host; .core is this core, .thread NULL */
	struct thread *seat[DRIVER_THREADS];	/* by hardware thread; NULL: none runs on it */
	unsigned members;
	struct thread *owner;	/* counts what is counted once for the core (driver_event.who); NULL: none yet */
	/* By hardware thread: the thread that has ended there at cycle `end`, some of whose counters go on (.thread
	 * NULL: none), and its places of the events. */
	struct { struct thread *thread; struct driver_event *job; uint64_t end; } late[DRIVER_THREADS];
};
struct attached {
	struct thread *thread;
	struct shared_core *core;	/* NULL: the PMU belongs to a thread */
	unsigned pmu;
	struct precise *precise /* NULL: no event of this copy is */, *own /* of no processor */;
};
struct processor {
	struct precise **buffer; /* by copy of the PMU */
	struct thread *last; /* the thread whose records it holds; NULL: nobody's */
};

struct thread {
	struct session *s;
	struct run_thread *run;	/* NULL: ended, or not started yet */
	bool ended;		/* by session_thread_end */
	struct spmu **pmu;	/* by copy; its own, or its core's */
	struct shared_core *core;	/* NULL: its PMUs are its own */
	unsigned hw_thread;
	/* session.job, or with its core's PMUs this thread's own places of the events */
	struct driver_event *job;
	struct attached *attached;
	struct counter *counter;
	struct pending *pending;
	size_t pendings, pending_room;
	struct precise_record *extra;	/* of pending samples */
	size_t extras, extra_room;
	struct session_branch *branch;	/* branch stacks of pending samples */
	size_t branches, branch_room;
	struct lbr_kinds kinds;
	uint64_t instructions;	/* instructions retired before the current batch */
	uint64_t registers_from;	/* `instructions` when run->registers began */
	int word_bytes;
	struct callstack *stack;
	uint64_t *chain;
	uint64_t next_tick;	/* cycle; 0: before the first batch */
	uint64_t tick_clock;	/* cycles counted at the last tick */
	uint32_t pid, tid, first_cpu;
	char comm[16];
	struct client client;	/* the program's own PMU */
	struct region_thread regions;
	bool outside;		/* outside session_options.region: nothing counts */
	bool windows;		/* it is sampled: what follows is of windows */
	bool between;		/* outside the windows' measured parts: counters stand still */
	double weight;		/* session_window; 0: before the first one */
	uint64_t reached;	/* watermark of its last batch */
	/* [turns]: cycles for which that turn's copy of the PMU counted; NULL: all count always */
	uint64_t *ran;
};

enum { SESSION_UNMODELLED = 8 };	/* kept of them, at most */

struct session {
	struct session_options o;
	/* counters that were set up by registers for something that cannot be counted, each event once */
	struct spmu_unmodelled unmodelled[SESSION_UNMODELLED];
	size_t unmodelled_kept;
	uint64_t hz;
	struct item *item;
	const struct driver *driver;
	struct driver_event *job;	/* by item */
	bool *hit;			/* [items], for PMI handlers: the item overflowed */
	size_t items, clock;
	size_t plain;		/* the first `plain` items have counters of the family, the others pushout counters */
	int *item_of_event;	/* -1: a clock that is not sampled */
	/* number of copies of which one counts at a time, as one PMU would; 0: all count always */
	unsigned turns;
	unsigned pmus;
	bool any_thread;	/* some event counts AnyThread, and cores have several hardware threads */
	bool shares;		/* hardware threads share their core's PMUs */
	struct shared_core **core;
	size_t cores, core_room;
	bool adapts, gradual;	/* some item has a frequency; one that is gradual */
	bool metrics;			/* some event is one */
	uint64_t max_period;
	struct thread **thread;
	size_t threads, thread_room;
	uint64_t *adapted;	/* [items]: the last period found in frequency mode, with which a new thread starts */
	uint64_t now, next_interval;
	uint64_t interrupts;
	struct uncore_session *uncore;	/* NULL: no uncore events */
	/* of a whole machine, by cpl != 0 of where it came from */
	struct session_traps { uint64_t faults[2], switches[2], exceptions[2], interrupts[2]; } traps;
	uint64_t space;		/* the last process' address space (run_thread.process_space) */
	bool spaced;		/* there was one */
	struct regions regions;
	uint64_t *mark;		/* scratch: a thread's counts at a marker */
	struct lbr *lbr;	/* NULL: no branch stacks */
	struct processor *processor;	/* pebs_shared */
	uint32_t processors;
	uint64_t mistaken;	/* PEBS records attributed to the wrong thread */
};

/* session_counter.c: counters, read and written through their registers.  `i` is an item. */
uint64_t counter_mask(const struct session *s, size_t i);	/* of the bits it has */
uint64_t counter_since(const struct session *s, const struct thread *t, size_t i);	/* the last update */
uint64_t counter_total(const struct session *s, const struct thread *t, size_t i);
void counter_update(const struct session *s, struct thread *t, size_t i);
void counter_metrics(const struct session *s, struct thread *t);	/* updates the metrics (driver_is_metric) */
int counter_write(const struct session *s, struct thread *t, size_t i, uint64_t value);
/* writes it, and the value with which PEBS reloads it */
int counter_preset(const struct session *s, struct thread *t, size_t i, uint64_t value);
/* presets it for what is left of the period; true if a period was over */
bool counter_set_period(const struct session *s, struct thread *t, size_t i);
const char *session_spelled(const struct session *s, size_t i);	/* the item's event, as the user wrote it */
/* keeps what spmu_unmodelled says of this PMU, after its registers have been written */
void session_note_unmodelled(struct session *s, const struct spmu *pmu);
/* programs all PMUs of a thread; counting starts */
int session_program(struct session *s, struct thread *t, struct err *err);

/* session_sampling.c: makes samples of PMIs and PEBS records. */
bool sampling_precise(const struct session *s, unsigned pmu);	/* some event of this copy of the PMU is precise */
/* makes a thread's PMUs */
int sampling_attach(struct session *s, struct thread *t, uint8_t hw_thread, struct err *err);
/* frequency mode: adapts the periods of rare events, and at which cycle to do so again */
uint64_t sampling_next_tick(const struct session *s, uint64_t now);
void sampling_tick(struct session *s, struct thread *t, uint64_t now);
/* delivers pending samples in the order of the records */
void sampling_deliver(struct session *s, struct thread *t, const struct spmu_batch *b);
/* the thread's registers before or after the instruction of a uop of the current batch; false: not known */
bool sampling_moment(void *thread, const struct spmu_batch *batch, uint32_t record, bool before,
	struct history_moment *out);
/* delivers what the DS buffers hold, before the thread ends */
void sampling_drain(struct session *s, struct thread *t);

/* a PMU's host; hw_thread: as in struct spmu_host */
int sampling_pmu(struct session *s, struct spmu **out, struct attached *context, int word_bytes, uint8_t hw_thread,
	struct err *err);
int sampling_buffer(struct session *s, struct precise **out, int word_bytes, struct attached *context, struct err *err);
/* Fills in t->attached[pmu], with a PEBS buffer of its own if the PMU samples precisely. */
int sampling_attached(struct session *s, struct thread *t, unsigned pmu, struct err *err);

/* session_shared.c: with pebs_shared, handles the buffers when a thread starts, continues and ends. */
int shared_start(struct session *s, struct thread *t, const struct run_thread *run, struct err *err);
void shared_arrive(struct session *s, struct thread *t);
void shared_leave(struct session *s, struct thread *t);
void shared_release(struct session *s);

/* session_cores.c: hardware threads that share their core's PMUs. */
/* the core that the thread runs on; NULL with err: out of memory */
struct shared_core *cores_find(struct session *s, const struct run_thread *run, struct err *err);
void cores_free(struct session *s, struct shared_core *core);
/* the thread takes its place on the core: makes the PMUs with the first one */
int cores_join(struct session *s, struct thread *t, struct err *err);
/* the thread has started: events that the core counts and that interrupt it are sampled from now on */
void cores_resume(struct session *s, struct thread *t);
/* stops its counters and its interrupts */
void cores_stop(struct session *s, struct thread *t);
/* the same, and frees the core with the last thread */
void cores_leave(struct session *s, struct thread *t);
/* stops the counters of threads that have ended, once all others have passed cycle `reached` */
void cores_settle(struct session *s, struct shared_core *c, uint64_t reached);
/* the item's counter counts for this thread, and not for another one or the core's owner */
bool cores_mine(const struct thread *t, size_t item);
/* the registers that each hardware thread has for itself are this one's from now on */
void cores_execute(const struct thread *t, unsigned pmu);
/* delivers samples that this batch, another thread's, has made in threads beside t */
void cores_deliver(struct session *s, const struct thread *t);

/* session_windows.c: sampling in windows. */
/* a thread starts, between windows */
void windows_start(struct session *s, struct thread *t);
/* stops a counter where it does not overflow */
void windows_park(struct session *s, struct thread *t, size_t i);
/* in a window: chooses the next period */
void windows_next(const struct session *s, struct thread *t, size_t i);
/* So many events of the window, in events of the whole run. */
uint64_t windows_whole(const struct thread *t, uint64_t events);
/* What a PEBS record stands for, in events of the whole run, behind a period of `loaded`. */
uint64_t windows_record(const struct thread *t, size_t i, uint64_t loaded);
/* What a sample stands for, in events of the whole run, at an overflow behind a period of `loaded`: also periods that
 * passed before the interrupt, which it takes out of counter.left. */
uint64_t windows_stands_for(const struct thread *t, size_t i, uint64_t loaded);

/* session.c */
int session_thread_new(struct thread **out, struct session *s, int word_bytes, uint8_t hw_thread,
	struct shared_core *core, struct err *err);
void session_thread_free(struct session *s, struct thread *t);
#endif
