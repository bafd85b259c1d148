/* SPDX-License-Identifier: GPL-2.0-or-later
 * From what a user calls an event to a row of the event table: Intel's names, perf's generic names and cache
 * events, libpfm4's spelling, raw codes.  Knows names and codes only; the syntax around them is event_parse.c's.
 */
#ifndef SESSION_EVENT_NAMES_H
#define SESSION_EVENT_NAMES_H
#include "core/machine/config.h"
#include "softpmu/pmu.h"
#include "util/err.h"

/* What of IA32_PERFEVTSELx says which event it is (the rest is USR, OS, PC, INT, EN). */
#define NAMES_EVENT_BITS \
	(UINT64_C(0xffff) | SPMU_EVTSEL_EDGE | SPMU_EVTSEL_ANY | SPMU_EVTSEL_INV | SPMU_EVTSEL_CMASK(0xff))
/* Bits a raw code may carry without meaning: USR, OS, PC, INT, EN.  The kernel ignores them as well. */
#define NAMES_IGNORED_BITS (SPMU_EVTSEL_USR | SPMU_EVTSEL_OS | SPMU_EVTSEL_PC | SPMU_EVTSEL_INT | SPMU_EVTSEL_EN)

/* The PERFEVTSEL image of a row: event, umask, edge, any, inv, cmask. */
uint64_t names_evtsel(const struct spmu_event *e);

/* By Intel's name or one of perf's generic names (cache events in any of perf's spellings); NULL if there is
 * none. */
const struct spmu_event *names_find(const struct spmu_model *m, const char *name);

/* By code.  *exact: the row has these very bits; else it is the row of the event and umask alone, and the other
 * bits qualify it.  NULL: not in the table. */
const struct spmu_event *names_find_code(const struct spmu_model *m, uint64_t evtsel, bool *exact);

/* libpfm4's encoding of `text` ("EVENT:UMASK:c=1" or "pmu::EVENT..."), for core->libpfm.  *code: PERFEVTSEL
 * image, USR and OS as the modifiers say (user only if they say nothing).  ERR_INPUT with libpfm4's reason. */
int names_libpfm(const char *text, const struct core_config *core, uint64_t *code, uint64_t *extra, bool *has_extra,
	struct err *err);

/* Up to three known names that resemble `name`, joined by ", "; "" if nothing does. */
void names_nearest(const struct spmu_model *m, const char *name, char *text, size_t text_bytes);
#endif
