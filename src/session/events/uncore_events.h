/* SPDX-License-Identifier: GPL-2.0-or-later
 * The session's part for the uncore: translates event names to control registers of its boxes, attaches a PMU
 * to each modelled machine (as many copies as the events need), and sums counts over boxes, machines and
 * copies.  Uses the PMU only through softpmu/uncore.h's register functions.
 *
 * Counts belong to the machine: no thread, no privilege level, no sampling.
 */
#ifndef SESSION_UNCORE_EVENTS_H
#define SESSION_UNCORE_EVENTS_H
#include "core/machine/config.h"
#include "run/run.h"
#include "softpmu/uncore.h"
#include "util/err.h"

struct uncore_event {
	const struct spmu_uncore_model *model;	/* NULL: not an uncore event */
	uint64_t control;	/* register image without EN */
	unsigned unit;
	int box;		/* -1: all */
	uint8_t counters;	/* set of counters that can count it */
	double scale;		/* what is printed is the count times this, in scale_unit; 1 and "" if there is none */
	const char *scale_unit;
};

/* True for UNC_..., and for the name of one of this model's PMUs, or anything that begins with uncore_, before
 * a slash. */
bool uncore_meant(const struct spmu_uncore_model *m, const char *text, size_t n);
/* m NULL: the core has no modelled uncore.  Refuses modifiers, events that are not modelled, and boxes that the
 * machine does not have.  *name: the value of name=, not terminated, or NULL.  ERR_INPUT, ERR_UNSUPPORTED. */
int uncore_parse(struct uncore_event *out, const struct spmu_uncore_model *m, const struct core_config *core,
	const char *text, size_t n, const char **name, size_t *name_bytes, struct err *err);

struct uncore_session;
/* event: [events]; the array is copied, but what it points to must outlive the session.  Those without a model
 * are skipped. */
int uncore_session_create(struct uncore_session **out, const struct core_config *core,
	const struct uncore_event *const *event, size_t events, struct err *err);
void uncore_session_destroy(struct uncore_session *u);
void uncore_session_wanted(const struct uncore_session *u, uint64_t set[2]);
int  uncore_session_start(struct uncore_session *u, const struct run_thread *t, struct err *err);
void uncore_session_end(struct uncore_session *u, const struct run_thread *t);
void uncore_session_batch(struct uncore_session *u, const struct run_thread *t, const struct spmu_batch *b);
uint64_t uncore_session_count(const struct uncore_session *u, size_t event);
/* The same of one process's machine. */
uint64_t uncore_session_process_count(const struct uncore_session *u, uint32_t process, size_t event);
#endif
