/* SPDX-License-Identifier: GPL-2.0-or-later
 * Plays the kernel: turns event names into register writes, attaches PMUs to modelled cores, takes PMIs,
 * reads counters.  Touches PMUs only through softpmu/pmu.h's register functions.
 *
 * By default a session attaches as many copies of the PMU to every core as the events need, so nothing is
 * multiplexed.
 *
 * Functions that can fail return 0 or a negative enum err_code (util/err.h) and fill *err, which may be NULL.
 */
#ifndef SESSION_SESSION_H
#define SESSION_SESSION_H
#include "core/machine/config.h"
#include "run/run.h"
#include "session/events/pushout_events.h"
#include "session/events/thread_words.h"
#include "session/events/uncore_events.h"
#include "softpmu/pmu.h"
#include "util/err.h"
#include <stdbool.h>

/* One event of the user's list. */
struct session_event {
	char *spelled;		/* as the user wrote it, e.g.  "cycles:u" */
	char *name;		/* to print */
	/* the table's row, or the event in `made`; NULL for a software event (task-clock, duration_time) */
	const struct spmu_event *event;
	struct netburst_event *made;	/* NetBurst: an event that is no row; NULL: none */
	uint64_t evtsel;	/* PERFEVTSEL image without EN and INT; 0 if only a fixed counter can count it */
	int fixed;		/* fixed counter to use, -1: general-purpose */
	int group;		/* events of one {group} share a number; -1: none */
	uint8_t precise;	/* number of p modifiers */
	/* modifier P: sample as precisely as the PMU can, imprecisely if it has nothing better */
	bool most_precise;
	uint64_t extra;		/* value for event->extra_msr, by the event's name or by ldlat=, frontend=, config1= */
	bool exclude_user, exclude_kernel;
	enum {
		SESSION_HARDWARE, SESSION_TASK_CLOCK, SESSION_DURATION, SESSION_UNCORE, SESSION_PUSHOUT,
		SESSION_NOTHING,	/* always 0: perf's dummy; emulation-faults, which no kernel counts on x86 */
		/* of a whole machine (events/software_events.h): by session_side */
		SESSION_FAULTS, SESSION_SWITCHES, SESSION_EXCEPTIONS, SESSION_INTERRUPTS,
	} source;
	struct uncore_event uncore;	/* of SESSION_UNCORE: counted for the machine, not for a thread */
	struct pushout_event pushout;	/* of SESSION_PUSHOUT */
	struct thread_words threads;	/* NetBurst: hardware threads that it counts */
	/* Sampling.  Both 0: the event is only counted. */
	uint64_t period;	/* events per sample */
	uint64_t frequency;	/* samples per modelled second (the session adapts the period); 0: fixed period */
	/* With a frequency: in a short run samples lie closer together, about a thousandth of the run so far apart (at
	 * 30000 samples a second and 3 GHz, in the first 100 million cycles).  Not with session_options.windows. */
	bool gradual;
	/* With session_options.windows: a window whose weight is larger takes no more samples than one of this weight.
	 * 0: it does. */
	double most_weight;
	/* With a window of a larger weight than that, samples may be so many times farther apart; 0: not at all. */
	double rarer;
	/* NetBurst only.  after: 1 + index of an event; before each sample of this event, that event must occur
	 * `period` times.  0: none.  starts: this event is such an event of another one, and is not sampled
	 * itself.  forced: a sample at every occurrence of the event; period is 1. */
	size_t after;
	bool starts, forced;
};

struct session_events { struct session_event *event; size_t count; };

/* Whether the event is plain core cycles, without cmask, inv or edge.  Source: SDM vol. 3B, "Architectural
 * Performance Monitoring Version 2": fixed counter 1. */
static inline bool session_is_cycles(const struct session_event *e)
{
	return e->source == SESSION_HARDWARE && e->event && e->event->fixed == 1 && !(e->evtsel >> 16);
}

/* How session_parse reads a list. */
struct session_parse_options {
	const struct spmu_model *model;	/* the PMU's events; must outlive the parsed events */
	/* The core that messages name, and whose PMU libpfm4's `pmu::EVENT:UMASK` may name (core->libpfm).
	 * NULL: messages say "this core", and libpfm4's names are refused. */
	const struct core_config *core;
	/* The uncore's events, for SESSION_FOR_COUNTING_UNCORE; must outlive the parsed events.  NULL: the core
	 * has no modelled uncore. */
	const struct spmu_uncore_model *uncore;
	bool all_user;	/* with core->both_rings: as of a program, each event counts user mode only */
	enum session_purpose {
		SESSION_FOR_COUNTING,		/* refuses :p, ldlat= and uncore events */
		SESSION_FOR_COUNTING_UNCORE,	/* takes uncore events, too */
		SESSION_FOR_SAMPLING,		/* takes :p and ldlat=, too */
		/* To show registers only: takes :k, :h and :p, too, and events that are not modelled
		 * (event->not_modelled says why). */
		SESSION_FOR_REGISTERS,
	} purpose;
	/* Not NULL: called for each event that is refused, `bytes` of text as it was spelled, when out->count events
	 * stand before it.  True: the list goes on without this event. */
	bool (*leave_out)(void *context, const char *event, size_t bytes, const struct err *why);
	void *context;
};

/* Parses perf's syntax: names (Intel's, perf's aliases, libpfm4's with its modifiers), rUUEE,
 * cpu/event=..,umask=../, pushout/../, {a,b}, modifiers ukhp.  Appends to *out (all zero at first), so that -e
 * may be repeated; the caller releases it with session_events_free.  Refuses by name what the machine has and
 * the model cannot produce; the error for an unknown name lists the nearest names.  On failure *out is as before. */
int session_parse(struct session_events *out, const struct session_parse_options *o, const char *list, struct err *err);
void session_events_free(struct session_events *e);

/* An entry of a branch stack.  flags: the bits that follow the addresses in struct perf_branch_entry. */
struct session_branch { uint64_t from, to, flags; };
/* perf's words for -j ("any_call,u,save_type") to a set of PERF_SAMPLE_BRANCH_. */
int session_parse_branches(const char *list, uint64_t *type, struct err *err);

/* A sample.  Its arrays are valid during the call only. */
struct session_sample {
	size_t event;		/* index into the session's events */
	uint64_t ip;
	uint64_t cycle;		/* core cycle at which it was taken */
	uint64_t time_ns;	/* modelled time: cycle / frequency */
	uint64_t period;	/* events that it stands for; with session_options.windows, of the whole run */
	uint32_t pid, tid, cpu;
	/* Of a whole machine (run_thread.is_machine): where it was taken; space is run_thread.process_space.  The call
	 * chain's entries are of the same space.  Else 3 and 0. */
	uint8_t cpl;
	uint64_t space;
	const uint64_t *chain;	/* call chain, innermost first, ip as entry 0; NULL without call chains */
	size_t chain_length;
	bool exact;		/* ip is the instruction that caused the event */
	bool has_pushout;	/* a pushout counter's sample, whose own pushout is known: */
	uint32_t pushout;	/* in cycles */
	const struct session_branch *branch;	/* newest first; NULL without branch stacks */
	size_t branches;
	/* the PEBS record's other data; NULL: none (session/driver/precise.h) */
	const struct precise_record *precise;
};

struct session;
/* All pointers must outlive the session. */
struct session_options {
	const struct core_config *core;
	const struct spmu_model *model;
	const struct session_events *events;
	const char *region;	/* count only inside regions of this name (softpmu/client.h); NULL: everywhere */
	bool call_chains;	/* keep a shadow call stack from the stream's calls and returns */
	uint64_t branches;	/* set of PERF_SAMPLE_BRANCH_: keep branch stacks; 0: none */
	unsigned data;		/* set of enum precise_data: what samples of precise events hold */
	unsigned pebs_records;	/* records in the DS buffer at which it interrupts; 0: 1 */
	/* Threads that take turns on a processor (run_options.cpus), and DS buffers.
	 *   OWN      each thread has a buffer of its own, as if the kernel kept it with the task
	 *   DRAINED  they share the processor's buffer, which is drained whenever another thread starts to run
	 *   MIXED    they share the processor's buffer, which is drained at interrupts only: its records are
	 *            then attributed to the thread that is interrupted */
	enum session_pebs { SESSION_PEBS_OWN, SESSION_PEBS_DRAINED, SESSION_PEBS_MIXED } pebs_shared;
	unsigned cpus;		/* processors of each process; for a shared buffer */
	/* Hardware threads of a core (run_options.smt); 0 and 1: one.  Those of a NetBurst core share its PMUs. */
	unsigned siblings;
	uint64_t pmi_cycles;	/* cycles that an interrupt costs the program; 0: none */
	unsigned pmi_lines;	/* cache lines of code, and as many of data, that the interrupt's handler touches */
	/* one PMU a core, as the machine has: events that do not fit take turns (counting only) */
	bool one_pmu;
	uint64_t rotate_cycles;	/* length of a turn; not 0 with one_pmu */
	/* Not 0: `interval` is called once for each multiple of it that a core's clock passes, where two
	 * batches meet. */
	uint64_t interval_cycles;
	/* The run is sampled, and session_window is called: samples are taken in the windows' measured parts only, and
	 * session_event.period and frequency are about the whole run.  With none of: siblings above 1, one_pmu, region,
	 * pebs_records above 1, pebs_shared; session_event.after, starts and forced. */
	bool windows;
	bool windows_later;	/* only from session_sampled on, which is called for each thread that is sampled */
	void *context;		/* for the two functions below; each may be NULL */
	void (*sample)(void *context, struct run_thread *t, const struct session_sample *s);
	void (*interval)(void *context, uint64_t end_cycle);
};

/* ERR_UNSUPPORTED: the PMU cannot count or sample these events; the message names the event. */
int  session_create(struct session **out, const struct session_options *o, struct err *err);
void session_destroy(struct session *s);	/* NULL: does nothing */
/* True if samples need the threads' registers (run_options.history and regs). */
bool session_needs_registers(const struct session *s);
/* What this session needs of the cores' records: run_options.wanted. */
struct core_wanted session_wanted(const struct session *s);
/* Whoever owns the run's sink passes its calls on to these.  The session keeps its state in
 * run_thread.sink_private. */
int  session_thread_start(struct session *s, struct run_thread *t, struct err *err);
void session_thread_end(struct session *s, struct run_thread *t);
void session_batch(struct session *s, struct run_thread *t, const struct spmu_batch *b);
/* run_sink.side, of a whole machine, for the software events of such. */
void session_side(struct session *s, const struct run_thread *t, const uint64_t *record);
/* run_sink.sampled, with windows_later: all before was timed; what is left of a period goes on in the windows. */
void session_sampled(struct session *s, struct run_thread *t);
/* run_sink.window of a sampled run.  weight: instructions that the window stands for, for each of its own. */
void session_window(struct session *s, struct run_thread *t, const struct run_window *w, double weight);
/* Of a sampled run that has ended: the estimate of the event's count. */
double session_estimate(const struct session *s, size_t event);
/* True while the thread is outside the region of session_options.region. */
bool session_outside(const struct run_thread *t);
/* Answers a client request of the program (softpmu/client.h; run_sink.client).  name: of a region, else "".
 * True: the thread has a PMU of its own, which from now on needs all of the thread's records. */
bool session_client(struct session *s, struct run_thread *t, const struct st_client *request, const char *name,
	struct st_answer *answer);
/* The event's count so far, summed over all threads of the run; `event` is an index into the events.  Clocks
 * count modelled ns; task-clock of a whole machine counts also those in which its processor is halted. */
uint64_t session_count(const struct session *s, size_t event);
/* Does the event count retired instructions by nothing but what they are (spmu_event_decoded), as this session programs
 * it?  Then session_uop says what a retired uop of these bits (enum spmu_is) adds. */
bool session_counts_uops(const struct session *s, size_t event);
uint64_t session_uop(const struct session *s, size_t event, uint64_t is);
/* Is it counted for the machine, and not for a thread? */
bool session_is_uncore(const struct session *s, size_t event);
/* The count of an event of the uncore on the machine of a process (run_thread.process). */
uint64_t session_process_count(const struct session *s, uint32_t process, size_t event);
/* Modelled ns for which the event was enabled, and for which it was counted.  They are equal unless events take
 * turns (one_pmu).  Counts are not scaled by them. */
uint64_t session_enabled_ns(const struct session *s, size_t event);
uint64_t session_running_ns(const struct session *s, size_t event);
/* Core cycles (of any thread's clock) as modelled ns. */
uint64_t session_ns(const struct session *s, uint64_t cycles);
/* The largest cycle that any core has reached. */
uint64_t session_now(const struct session *s);
/* Interrupts taken so far. */
uint64_t session_interrupts(const struct session *s);
/* PEBS records so far that were attributed to the wrong thread (SESSION_PEBS_MIXED). */
uint64_t session_mistaken(const struct session *s);
/* Copies of the PMU attached to each core. */
unsigned session_pmus(const struct session *s);

/* Threads seen so far, in the order in which they started; those that have ended are included. */
struct session_thread { uint32_t pid, tid; const char *comm; /* until session_destroy */ uint64_t running_ns; };
size_t session_threads(const struct session *s);
void session_thread_info(const struct session *s, size_t thread, struct session_thread *out);
uint64_t session_thread_count(const struct session *s, size_t thread, size_t event);
/* The number of a thread that runs; session_threads if it is none of the session's. */
size_t session_thread_number(const struct session *s, const struct run_thread *run);
uint64_t session_thread_running_ns(const struct session *s, size_t thread, size_t event);

/* Regions that the program marked, in the order in which they first began.  Their counts are summed over all
 * threads, and hold what was counted in regions that have ended. */
struct session_region { const char *name; /* until session_destroy */ uint64_t entries, running_ns; };
size_t session_regions(const struct session *s);
bool session_has_region(const struct session *s, const char *name);
void session_region_info(const struct session *s, size_t region, struct session_region *out);
uint64_t session_region_count(const struct session *s, size_t region, size_t event);
/* Counters that registers set up for something that the model cannot count (spmu_unmodelled), by the program itself
 * (softpmu/client.h) or for an event given as a number: the first 8 different ones.  Until session_destroy. */
size_t session_unmodelled(const struct session *s, const struct spmu_unmodelled **out);
#endif
