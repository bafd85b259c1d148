/* SPDX-License-Identifier: GPL-2.0-or-later
 * The session's part for the uncore: event names to control registers of its boxes, a PMU for each modelled
 * machine (as many copies as the events need), counts summed over boxes, machines and copies.  Touches the PMU
 * only through softpmu/uncore.h's register functions.
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
	uint8_t counters;	/* set of those that can count it */
	double scale;		/* times this is what is printed, in scale_unit; 1 and "" */
	const char *scale_unit;
};

/* Does the user mean an uncore event: UNC_..., or a PMU's name of this model (or beginning with uncore_) before
 * a slash? */
bool uncore_meant(const struct spmu_uncore_model *m, const char *text, size_t n);
/* m NULL: the core has none.  Refuses modifiers, what is not modelled, and boxes that the machine does not
 * have.  *name: of name=, not terminated, or NULL.  ERR_INPUT, ERR_UNSUPPORTED. */
int uncore_parse(struct uncore_event *out, const struct spmu_uncore_model *m, const struct core_config *core,
	const char *text, size_t n, const char **name, size_t *name_bytes, struct err *err);

struct uncore_session;
/* events: kept, not copied; those without a model are skipped. */
int uncore_session_create(struct uncore_session **out, const struct core_config *core,
	const struct uncore_event *const *event, size_t events, struct err *err);
void uncore_session_destroy(struct uncore_session *u);
void uncore_session_wanted(const struct uncore_session *u, uint64_t set[2]);
int  uncore_session_start(struct uncore_session *u, const struct run_thread *t, struct err *err);
void uncore_session_end(struct uncore_session *u, const struct run_thread *t);
void uncore_session_batch(struct uncore_session *u, const struct run_thread *t, const struct spmu_batch *b);
uint64_t uncore_session_count(const struct uncore_session *u, size_t event);
#endif
