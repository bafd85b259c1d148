/* SPDX-License-Identifier: GPL-2.0-or-later
 * The session's part for pushout counters (softpmu/pmu.h, MSR_PUSHOUT_CAPABILITIES): pushout/.../ to registers,
 * units given to events, what a handler reads.
 *
 *   pushout/threshold=N,tag=TAG,from=due|event,at=retire|alloc|decode|memory|visible|fetch,way=down|up|up-to,name=...,period=N,freq=N/
 *
 * Counts slots whose pushouts reach N cycles, 1 unless given; with 0 all that are tagged.
 * Leaves out: tags that the registers cannot say (more than one group of alternatives): they are refused, where
 * `softpmu cost` takes any.
 */
#ifndef SESSION_PUSHOUT_EVENTS_H
#define SESSION_PUSHOUT_EVENTS_H
#include "core/machine/config.h"
#include "pmu/pushout_meter.h"
#include "session/driver/driver.h"
#include "util/err.h"
#include <stdbool.h>
#include <stddef.h>

/* Register images; without EN, INT, USR and STORE_OVF. */
struct pushout_event { uint64_t control, load, tag[6]; /* from ALL_IS on */ };

extern const char *const pushout_point_name[PUSHOUT_POINTS];
/* Slots a cycle of this core at each point. */
struct pushout_widths session_pushout_widths(const struct core_config *core);

/* Does the user mean one: pushout, alone or before a slash? */
bool pushout_meant(const char *text, size_t n);
struct pushout_terms {
	const char *name;
	size_t name_bytes; /* of name=, not terminated; NULL: none */
	uint64_t period, frequency;
	const char *modifiers;
	size_t modifier_bytes;
};
/* core NULL: nothing is said of its widths.  ERR_INPUT, ERR_UNSUPPORTED. */
int pushout_parse(struct pushout_event *out, struct pushout_terms *terms, const struct core_config *core,
	const char *text, size_t n, struct err *err);

/* Unit n of a PMU set up for it, COUNT apart, and let count; appended to *out. */
int pushout_setup(const struct pushout_event *e, unsigned n, bool sampled, struct driver_writes *out, struct err *err);
/* In a PMI handler: unit n overflowed, which is acknowledged.  The pushout with which it did; *known: it was
 * stored. */
bool pushout_overflowed(struct spmu *p, unsigned n, bool *known, uint32_t *cycles, uint64_t *ip);
#endif
