/* SPDX-License-Identifier: GPL-2.0-or-later
 * What the kernel's PMU driver of a family does: it assigns counters to events, and says which registers are
 * written, in which order and why.  Sessions execute the writes; `softpmu msr` prints them.
 *
 *   driver.c           choice by family; the architectural PMU, P6 and P5
 *   driver_netburst.c  NetBurst: event -> ESCR -> CCCR and counter -> ...
 *   driver_program.c   the whole list of writes, presets included
 */
#ifndef SESSION_DRIVER_H
#define SESSION_DRIVER_H
#include "softpmu/pmu.h"
#include "util/err.h"
#include <stdbool.h>
#include <stddef.h>

/* One WRMSR. */
struct driver_write {
	uint32_t msr;
	uint64_t value;
	const char *name;	/* the MSR's name: "IA32_PERFEVTSEL0"; static */
	bool apic;		/* not an MSR: the local APIC's register at offset `msr` */
	char why[120];		/* one line */
};
struct pushout_event;
enum { DRIVER_THREADS = 8 };	/* hardware threads that can share a PMU, at most */
struct driver_writes { struct driver_write write[128]; size_t count; };

/* One event's job. */
struct driver_event {
	const struct spmu_event *event;
	/* PERFEVTSEL image of the event with its modifiers (event, umask in 15:8, EDGE, INV, ANY, CMASK),
	 * without USR, OS, INT, EN.  0: only a fixed counter can count it.  NetBurst: only EDGE, INV
	 * (complement) and CMASK (threshold + 1) are used; the mask is event->umask. */
	uint64_t evtsel;
	int  fixed;		/* in: fixed counter wanted, -1: none; out: the one assigned, or -1 */
	bool user, kernel;
	bool sampled;		/* sampled: its overflow interrupts */
	bool forced;		/* NetBurst, sampled: every occurrence of the event overflows the counter (FORCE_OVF) */
	/* NetBurst, sampled: 1 + index of the event whose overflow lets this one count (CASCADE); 0: it counts
	 * at once */
	size_t after;
	/* its overflow makes PEBS records instead of interrupts, in the DS area at ds_area, which the caller
	 * has set up */
	bool precise;
	/* precise, as by :ppp: on counter 0, if that can count it, because its records are of the event that
	 * overflows */
	bool pdist;
	uint64_t ds_area;
	uint64_t pebs_data;	/* precise, adaptive records: the bits of IA32_PEBS_DATA_CFG beyond the basic group */
	uint64_t extra;		/* value for event->extra_msr */
	/* a pushout counter, which drivers do not handle (session/events/pushout_events.h); `counter` is then
	 * its unit.  NULL: an event of the family */
	const struct pushout_event *pushout;
	/* in, NetBurst: the hardware threads that it counts, as in struct thread_words; with `who` not 0 it has one
	 * place, for all threads */
	uint32_t who;
	uint16_t active;
	uint8_t pmi;
	/* in: hardware threads of the core; 0 and 1: one.  NetBurst: they share the PMU, and each of them has a place
	 * (seat) for the event; `thread` is the one whose place pmu to tags below are (driver_sit). */
	unsigned threads, thread;
	struct driver_seat { unsigned pmu; int counter; uint32_t escr, up_escr; int up_counter; unsigned tags; }
		seat[DRIVER_THREADS];
	/* out, by assign */
	unsigned pmu;		/* which copy of the PMU */
	int  counter;		/* general-purpose counter; -1: the fixed one */
	uint32_t escr;		/* NetBurst: the ESCR's MSR; else unused */
	uint32_t up_escr;	/* NetBurst: MSR of the ESCR that tags uops for it; 0: none */
	/* NetBurst: a counter that counts that ESCR's event, because the ESCR tags only while one does; -1:
	 * none needed */
	int  up_counter;
	unsigned tags;		/* NetBurst: the tags that uops get for it, a set of bits; 0: none, or a replay's */
	bool beside_metrics;	/* it counts slots on the fixed counter that metrics are read with */
};

struct driver {
	const char *family;
	bool interrupts;	/* the PMU has an interrupt: events can be sampled */
	/* Gives every event a counter.  Uses as many copies of the PMU as that needs, at most `room` (0: any
	 * number), and writes their number to *pmus.  0; or ERR_UNSUPPORTED with err set, and *which is the
	 * event that found no place. */
	int (*assign)(const struct spmu_model *m, struct driver_event *e, size_t n, unsigned room, unsigned *pmus,
		size_t *which, struct err *err);
	/* Appends to *out, in order, the writes that set up copy `pmu` for its events and let them count; the
	 * counters themselves are not written.  0, or ERR_UNSUPPORTED if there are too many. */
	int (*setup)(const struct spmu_model *m, const struct driver_event *e, size_t n, unsigned pmu,
		struct driver_writes *out, struct err *err);
	/* For an event's counter: ECX for RDPMC; its MSR; the value to write so that the counter holds `value`;
	 * the set of bits it has; the longest period that can be preset. */
	uint32_t (*rdpmc)(const struct spmu_model *m, const struct driver_event *e);
	uint32_t (*counter_msr)(const struct spmu_model *m, const struct driver_event *e, const char **name);
	uint64_t (*counter_value)(const struct spmu_model *m, const struct driver_event *e, uint64_t value);
	unsigned (*counter_bits)(const struct spmu_model *m, const struct driver_event *e);
	uint64_t (*max_period)(const struct spmu_model *m);
	/* For a PMI handler: sets hit[i] for the events e[0..n) of copy `pmu` that have overflowed, and
	 * acknowledges them, so that the next overflow is a new one.  Families without overflow bits test
	 * whether the counter is no longer negative. */
	void (*acknowledge)(struct spmu *p, const struct spmu_pmi *pmi, const struct driver_event *e, size_t n,
		unsigned pmu, bool *hit);
	/* Stops the event's counter, whose PMU other threads go on using; NULL: no threads share this family's. */
	void (*halt)(struct spmu *p, const struct driver_event *e);
};

/* Some thread's place for the event is in this copy of the PMU. */
bool driver_uses(const struct driver_event *e, unsigned pmu);
/* Puts the event, with every thread's place, into copy `pmu`. */
void driver_put(struct driver_event *e, unsigned pmu);
/* The event's place becomes that of hardware thread `thread`, after assign with `threads` above 1. */
void driver_sit(struct driver_event *e, unsigned thread);

/* Events with SPMU_EVENT_METRIC, which have no counter of their own, and the slots beside them: what such an event
 * has counted since the last reset, which is of all of them in that copy of the PMU at once.  Source of reading
 * both registers, and of resetting both at each update: Linux, arch/x86/events/intel/core.c,
 * intel_update_topdown_event. */
bool driver_is_metric(const struct driver_event *e);
uint64_t driver_metric_read(const struct spmu *p, const struct driver_event *e);
int driver_metric_reset(struct spmu *p);	/* as spmu_wrmsr */

/* Never NULL. */
const struct driver *driver_for(const struct spmu_model *m);
extern const struct driver driver_netburst;

/* driver_program.c.  Appends to *out, in order, all writes by which a driver counts or samples the events of
 * copy `pmu`, starting with an idle PMU: the writes of setup; the counters' presets, just before the counters
 * are enabled (-period[i] where e[i] is sampled or precise, else 0); and the local APIC's entry if a counter
 * interrupts.  Errors as setup, and ERR_INPUT for a period that no counter holds. */
int driver_program(const struct spmu_model *m, const struct driver_event *e, size_t n, unsigned pmu,
	const uint64_t *period, struct driver_writes *out, struct err *err);
/* Executes the writes.  0, or ERR_UNSUPPORTED naming the write that the PMU refused. */
int driver_execute(struct spmu *p, const struct driver_writes *w, struct err *err);

/* For drivers: appends a write.  ERR_UNSUPPORTED: *out is full. */
int driver_write(struct driver_writes *out, struct err *err, const char *name, uint32_t msr, uint64_t value,
	const char *why, ...) __attribute__((format(printf, 6, 7)));
#endif
