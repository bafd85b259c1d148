/* SPDX-License-Identifier: GPL-2.0-or-later
 * What the kernel's PMU driver of a family does: gives events counters, and says which registers are written,
 * in which order and why.  Sessions execute the writes; `softpmu msr` prints them.
 *
 *   driver.c           choice by family; the architectural PMU, P6 and P5
 *   driver_netburst.c  NetBurst: event -> ESCR -> CCCR and counter -> ...
 *   driver_program.c          the whole list of writes, presets included
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
	const char *name;	/* of the MSR: "IA32_PERFEVTSEL0"; static */
	bool apic;		/* not an MSR: the local APIC's register at offset `msr` */
	char why[120];		/* one line */
};
struct pushout_event;
struct driver_writes { struct driver_write write[128]; size_t count; };

/* One event's job. */
struct driver_event {
	const struct spmu_event *event;
	/* PERFEVTSEL image of the event with its modifiers (event, umask in 15:8, EDGE, INV, ANY, CMASK),
	 * without USR, OS, INT, EN.  NetBurst: EDGE, INV (complement) and CMASK (threshold + 1) are taken from
	 * it, the mask from event->umask.  0: fixed-only. */
	uint64_t evtsel;
	int  fixed;		/* fixed counter wanted, -1: none; in/out: assign may drop it */
	bool user, kernel;
	bool sampled;		/* its overflow interrupts */
	bool forced;		/* NetBurst: sampled, and every event overflows the counter (FORCE_OVF) */
	/* NetBurst: 1 + index of the event whose overflow lets it count (CASCADE), both sampled alone; 0: it
	 * counts at once */
	size_t after;
	/* its overflow makes PEBS records instead, in the DS area at ds_area, which the caller has set up */
	bool precise;
	/* precise, as :ppp: on counter 0, if that can count it, whose records are of the very event that
	 * overflows */
	bool pdist;
	uint64_t ds_area;
	uint64_t pebs_data;	/* precise, adaptive records: what IA32_PEBS_DATA_CFG asks for beyond the basic group */
	uint64_t extra;		/* what event->extra_msr has to hold */
	/* a pushout counter's, which is no driver's (session/events/pushout_events.h); `counter` is then its
	 * unit; else NULL */
	const struct pushout_event *pushout;
	/* out, by assign */
	unsigned pmu;		/* which copy of the PMU */
	int  counter;		/* general-purpose counter, -1: the fixed one */
	uint32_t escr;		/* NetBurst: the ESCR's MSR; else unused */
	uint32_t up_escr;	/* NetBurst: MSR of the ESCR that tags for it; 0: none */
	/* NetBurst: the counter that keeps that ESCR awake, counting its event; -1: needs none */
	int  up_counter;
	unsigned tag;		/* NetBurst: execution tag, 0 to 3 */
};

struct driver {
	const char *family;
	bool interrupts;	/* there is a PMI: events can be sampled */
	/* Gives every event a counter; as many copies of the PMU as that needs, at most `room` (0: any number),
	 * their number in *pmus.  0, or ERR_UNSUPPORTED with err set; *which is then the event that found no
	 * place. */
	int (*assign)(const struct spmu_model *m, struct driver_event *e, size_t n, unsigned room, unsigned *pmus,
		size_t *which, struct err *err);
	/* The writes that set up copy `pmu` for its events and let them count, in order, appended to *out;
	 * counters themselves are not written.  0, or ERR_UNSUPPORTED if there are too many. */
	int (*setup)(const struct spmu_model *m, const struct driver_event *e, size_t n, unsigned pmu,
		struct driver_writes *out, struct err *err);
	/* Of an event's counter: ECX for RDPMC; its MSR; the value to write there so that it holds `value`;
	 * bits of the counter; the longest period that can be preset. */
	uint32_t (*rdpmc)(const struct spmu_model *m, const struct driver_event *e);
	uint32_t (*counter_msr)(const struct spmu_model *m, const struct driver_event *e, const char **name);
	uint64_t (*counter_value)(const struct spmu_model *m, const struct driver_event *e, uint64_t value);
	unsigned (*counter_bits)(const struct spmu_model *m, const struct driver_event *e);
	uint64_t (*max_period)(const struct spmu_model *m);
	/* In a PMI handler: which of the events e[0..n) of copy `pmu` overflowed (hit[i] set), acknowledged so
	 * that the next overflow is a new one.  Families without overflow bits look whether the counter is no
	 * longer negative. */
	void (*acknowledge)(struct spmu *p, const struct spmu_pmi *pmi, const struct driver_event *e, size_t n,
		unsigned pmu, bool *hit);
};

/* Never NULL. */
const struct driver *driver_for(const struct spmu_model *m);
extern const struct driver driver_netburst;

/* driver_program.c.  All that a driver writes to count, or sample, the events of copy `pmu` from nothing: the
 * writes of setup, the counters preset just before they are let count (to -period[i] where e[i] is sampled or
 * precise, else to 0), the local APIC's entry where one interrupts.  Appended to *out, in order.  As setup, or
 * ERR_INPUT for a period that no counter holds. */
int driver_program(const struct spmu_model *m, const struct driver_event *e, size_t n, unsigned pmu,
	const uint64_t *period, struct driver_writes *out, struct err *err);
/* Executes them.  0, or ERR_UNSUPPORTED naming the write that the PMU refused. */
int driver_execute(struct spmu *p, const struct driver_writes *w, struct err *err);

/* For drivers: appends; ERR_UNSUPPORTED when *out is full. */
int driver_write(struct driver_writes *out, struct err *err, const char *name, uint32_t msr, uint64_t value,
	const char *why, ...) __attribute__((format(printf, 6, 7)));
#endif
