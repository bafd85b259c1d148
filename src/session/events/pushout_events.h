/* SPDX-License-Identifier: GPL-2.0-or-later
 * The session's part for pushout counters (softpmu/pmu.h, MSR_PUSHOUT_CAPABILITIES): translates pushout/.../ to
 * registers, assigns units to events, reads a unit in a handler.
 *
 *   pushout/threshold=N,tag=TAG,from=due|event,at=retire|alloc|decode|memory|visible|fetch,way=down|up|up-to,
 *           name=...,period=N,freq=N/
 *
 * Counts the slots whose pushout is at least N cycles (default: 1); with threshold=0, all slots that the tag
 * selects.  Leaves out: tags that the registers cannot express (more than one group of alternatives).  They are
 * refused; `softpmu cost` takes any tag.
 */
#ifndef SESSION_PUSHOUT_EVENTS_H
#define SESSION_PUSHOUT_EVENTS_H
#include "core/machine/config.h"
#include "pmu/pushout_meter.h"
#include "session/driver/driver.h"
#include "util/err.h"
#include <stdbool.h>
#include <stddef.h>

/* Register values, without EN, INT and STORE_OVF; pushout_parse leaves USR and OS to its caller. */
struct pushout_event { uint64_t control, load, tag[6]; /* from ALL_IS on */ };

extern const char *const pushout_point_name[PUSHOUT_POINTS];
/* Slots a cycle of this core at each point. */
struct pushout_widths session_pushout_widths(const struct core_config *core);

/* True for `pushout`, alone or before a slash. */
bool pushout_meant(const char *text, size_t n);
struct pushout_terms {
	const char *name;
	size_t name_bytes; /* value of name=, not terminated; NULL: none */
	uint64_t period, frequency;
	const char *modifiers;
	size_t modifier_bytes;
};
/* core NULL: the core's widths are not checked.  ERR_INPUT, ERR_UNSUPPORTED. */
int pushout_parse(struct pushout_event *out, struct pushout_terms *terms, const struct core_config *core,
	const char *text, size_t n, struct err *err);

/* Appends to *out the writes that set up unit n of a PMU for it and let it count; COUNT is not written. */
int pushout_setup(const struct pushout_event *e, unsigned n, bool sampled, struct driver_writes *out, struct err *err);
/* For a PMI handler.  True: unit n has overflowed; acknowledges it.  *cycles: the pushout with which it
 * overflowed, *ip: its instruction, both if *known. */
bool pushout_overflowed(struct spmu *p, unsigned n, bool *known, uint32_t *cycles, uint64_t *ip);
#endif
