/* SPDX-License-Identifier: GPL-2.0-or-later
 * Plays the kernel: turns event names into register writes, attaches PMUs to modelled cores, takes PMIs,
 * reads counters.  Touches PMUs only through softpmu/pmu.h's register functions.
 *
 * By default as many copies of the PMU as the events need are attached to every core, so nothing is multiplexed.
 */
#ifndef SESSION_SESSION_H
#define SESSION_SESSION_H
#include "core/machine/config.h"
#include "run/run.h"
#include "session/events/pushout_events.h"
#include "session/events/uncore_events.h"
#include "softpmu/pmu.h"
#include "util/err.h"
#include <stdbool.h>

/* One event as asked for. */
struct session_event {
	char *spelled;		/* as the user wrote it, e.g. "cycles:u" */
	char *name;		/* to print */
	const struct spmu_event *event;	/* NULL for a software event (task-clock, duration) */
	uint64_t evtsel;	/* PERFEVTSEL image without EN and INT; 0 for fixed-only */
	int fixed;		/* fixed counter to use, -1: general-purpose */
	int group;		/* events of one {group} share a number; -1: none */
	uint8_t precise;	/* number of p modifiers */
	bool most_precise;	/* P: sampled as precisely as the PMU can, imprecisely if it cannot */
	uint64_t extra;		/* what event->extra_msr has to hold, by name or by ldlat=, frontend=, config1= */
	bool exclude_user, exclude_kernel;
	enum { SESSION_HARDWARE, SESSION_TASK_CLOCK, SESSION_DURATION, SESSION_UNCORE, SESSION_PUSHOUT,
		SESSION_NOTHING /* 0 by its meaning: perf's dummy; emulation-faults, which no kernel counts on x86 */ } source;
	struct uncore_event uncore;	/* of SESSION_UNCORE: counted for the machine, not for a thread */
	struct pushout_event pushout;	/* of SESSION_PUSHOUT */
	/* sampling: 0 = counting only */
	uint64_t period;	/* events a sample */
	uint64_t frequency;	/* samples a modelled second (adapts the period); 0 = fixed period */
	/* NetBurst alone.  after: 1 + index of the event that has to be counted `period` times first, each time anew, which `starts` and is not sampled
	 * itself; 0: none.  forced: a sample at every event, of period 1. */
	size_t after;
	bool starts, forced;
};

struct session_events { struct session_event *event; size_t count; };

/* Parses perf's syntax: names (Intel's, perf's aliases, libpfm4's with its modifiers), rUUEE, cpu/event=..,umask=../,
 * {a,b}, modifiers ukhp.  Refuses by name what the machine has and the model cannot produce; unknown names get the
 * nearest ones.
 * Both append to *out (all zero at first), so that -e may be repeated; on failure *out is as before.  The
 * second also takes libpfm4's `pmu::EVENT:UMASK` for core->libpfm and names the core in its errors; core NULL: as
 * session_parse. */
int session_parse(struct session_events *out, const struct spmu_model *m, const char *list, struct err *err);
int session_parse_core(struct session_events *out, const struct spmu_model *m, const struct core_config *core,
	const char *list, struct err *err);
/* As session_parse_core, and takes uncore events of this model (NULL: refuses them because the core has none), which must live as long. */
int session_parse_uncore(struct session_events *out, const struct spmu_model *m, const struct spmu_uncore_model *uncore,
	const struct core_config *core, const char *list, struct err *err);
/* As session_parse_core, for events to sample: takes :p and ldlat=, too. */
int session_parse_sampling(struct session_events *out, const struct spmu_model *m, const struct core_config *core,
	const char *list, struct err *err);
/* As session_parse_core, for a look at registers: takes :k, :h and :p, too, and events that are not modelled (event->not_modelled says why). */
int session_parse_registers(struct session_events *out, const struct spmu_model *m, const struct core_config *core,
	const char *list, struct err *err);
void session_events_free(struct session_events *e);

/* An entry of a branch stack.  flags: as struct perf_branch_entry has them behind its addresses. */
struct session_branch { uint64_t from, to, flags; };
/* perf's words for -j ("any_call,u,save_type") to a set of PERF_SAMPLE_BRANCH_. */
int session_parse_branches(const char *list, uint64_t *type, struct err *err);

/* A call chain entry list of a sample: innermost first, ip included as entry 0. */
struct session_sample {
	size_t event;		/* index into the session's events */
	uint64_t ip;
	uint64_t cycle;		/* core cycle at which it was taken */
	uint64_t time_ns;	/* modelled time: cycle / frequency */
	uint64_t period;
	uint32_t pid, tid, cpu;
	const uint64_t *chain;	/* NULL without call chains */
	size_t chain_length;
	bool exact;		/* ip is that of the instruction that did it */
	bool has_pushout;	/* of a pushout counter: that of the very slot */
	uint32_t pushout;
	const struct session_branch *branch;	/* newest first; NULL without branch stacks */
	size_t branches;
	const struct precise_record *precise;	/* what the PEBS record holds beyond; NULL: none (session/driver/precise.h) */
};

struct session;
struct session_options {
	const struct core_config *core;
	const struct spmu_model *model;
	const struct session_events *events;
	const char *region;	/* count only inside of regions of this name (softpmu/client.h); NULL: everywhere */
	bool call_chains;	/* keep a shadow call stack from the stream's calls and returns */
	uint64_t branches;	/* set of PERF_SAMPLE_BRANCH_: keep branch stacks; 0: none */
	unsigned data;		/* set of enum precise_data: what samples of precise events hold */
	unsigned pebs_records;	/* in the DS buffer before it interrupts; 0: 1 */
	/* Threads that take turns on a processor (run_options.cpus) and its DS buffer: each has one of its own, as if the kernel kept it with the task;
	 * or they share the processor's, which is drained when it switches, or at interrupts only: records are then taken for those of the thread
	 * that the interrupt finds. */
	enum session_pebs { SESSION_PEBS_OWN, SESSION_PEBS_DRAINED, SESSION_PEBS_MIXED } pebs_shared;
	unsigned cpus;		/* of each process; with a shared buffer */
	uint64_t pmi_cycles;	/* that an interrupt costs the program; 0: none */
	unsigned pmi_lines;	/* of code, and of data, that its handler brings into the caches */
	bool one_pmu;		/* one PMU a core, as the machine has: events that do not fit on it take turns (counting only) */
	uint64_t rotate_cycles;	/* length of a turn */
	/* 0, or call `interval` once for each multiple of it that a core's clock passes (seen where two batches meet) */
	uint64_t interval_cycles;
	void *context;
	void (*sample)(void *context, struct run_thread *t, const struct session_sample *s);
	void (*interval)(void *context, uint64_t end_cycle);
};

int  session_create(struct session **out, const struct session_options *o, struct err *err);
void session_destroy(struct session *s);
/* Samples need the threads' registers: run_options.history and regs. */
bool session_needs_registers(const struct session *s);
/* What of the cores' records this session looks at: run_options.wanted. */
void session_wanted(const struct session *s, struct core_wanted *wanted);
/* The sink's calls, to be passed on by whoever owns the sink.  The session keeps its state in run_thread.sink_private. */
int  session_thread_start(struct session *s, struct run_thread *t, struct err *err);
void session_thread_end(struct session *s, struct run_thread *t);
void session_batch(struct session *s, struct run_thread *t, const struct spmu_batch *b);
/* The thread is outside of the region to which the session is kept. */
bool session_outside(const struct run_thread *t);
bool session_client(struct session *s, struct run_thread *t, const struct st_client *request, const char *name, struct st_answer *answer);
/* Counts so far, summed over all threads of the run; index into the events.  Clocks count modelled ns. */
uint64_t session_count(const struct session *s, size_t event);
/* Time the event was enabled, and of that counted, in modelled ns; equal unless events take turns (one_pmu).  Counts are not scaled by it. */
uint64_t session_enabled_ns(const struct session *s, size_t event);
uint64_t session_running_ns(const struct session *s, size_t event);
/* Modelled time in ns for a number of core cycles (of any thread's clock). */
uint64_t session_ns(const struct session *s, uint64_t cycles);
/* Interrupts taken so far. */
uint64_t session_interrupts(const struct session *s);
/* PEBS records so far that were taken for those of another thread (SESSION_PEBS_MIXED). */
uint64_t session_mistaken(const struct session *s);
/* Copies of the PMU attached to each core. */
unsigned session_pmus(const struct session *s);

/* Threads seen so far, in order of their start, ended ones included. */
struct session_thread { uint32_t pid, tid; const char *comm; /* until session_destroy */ uint64_t running_ns; };
size_t session_threads(const struct session *s);
void session_thread_info(const struct session *s, size_t thread, struct session_thread *out);
uint64_t session_thread_count(const struct session *s, size_t thread, size_t event);
uint64_t session_thread_running_ns(const struct session *s, size_t thread, size_t event);

/* Regions that the program marked, in order of their first beginning; their counts so far, of those left again, summed over all threads. */
struct session_region { const char *name; /* until session_destroy */ uint64_t entries, running_ns; };
size_t session_regions(const struct session *s);
bool session_has_region(const struct session *s, const char *name);
void session_region_info(const struct session *s, size_t region, struct session_region *out);
uint64_t session_region_count(const struct session *s, size_t region, size_t event);
#endif
