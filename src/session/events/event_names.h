/* SPDX-License-Identifier: GPL-2.0-or-later
 * Finds the row of the event table for what a user calls an event: Intel's names, perf's generic names and
 * cache events, libpfm4's spelling, raw codes.  Knows names and codes only; event_parse.c knows the syntax
 * around them.
 */
#ifndef SESSION_EVENT_NAMES_H
#define SESSION_EVENT_NAMES_H
#include "core/machine/config.h"
#include "softpmu/pmu.h"
#include "util/err.h"

/* The fields of IA32_PERFEVTSELx that select the event (the others are USR, OS, PC, INT, EN). */
#define NAMES_EVENT_BITS \
	(UINT64_C(0xffff) | SPMU_EVTSEL_EDGE | SPMU_EVTSEL_ANY | SPMU_EVTSEL_INV | SPMU_EVTSEL_CMASK(0xff))
/* Fields that a raw code may set without effect: USR, OS, PC, INT, EN.  The kernel ignores them as well. */
#define NAMES_IGNORED_BITS (SPMU_EVTSEL_USR | SPMU_EVTSEL_OS | SPMU_EVTSEL_PC | SPMU_EVTSEL_INT | SPMU_EVTSEL_EN)

/* The PERFEVTSEL image of a row: event, umask, edge, any, inv, cmask. */
uint64_t names_evtsel(const struct spmu_event *e);

/* Finds an event by Intel's name or one of perf's generic names (cache events in any of perf's spellings).
 * NULL: none. */
const struct spmu_event *names_find(const struct spmu_model *m, const char *name);

/* Writes the text by which -e takes the row without its name: "cpu/event=0xd1,umask=0x08/" ("" for the few of NetBurst
 * that perf's config does not know). */
void names_code(const struct spmu_model *m, const struct spmu_event *e, char *text, size_t text_bytes);

/* Finds an event by its code.  *exact: the row has exactly these bits; else the row has only the event and
 * umask, and the other bits modify it.  NULL: not in the table. */
const struct spmu_event *names_find_code(const struct spmu_model *m, uint64_t evtsel, bool *exact);

/* libpfm4's encoding of `text` ("EVENT:UMASK:c=1" or "pmu::EVENT...") for core->libpfm.  *code: PERFEVTSEL
 * image, with USR and OS by the modifiers (user mode only if there are none).  ERR_INPUT with libpfm4's reason. */
int names_libpfm(const char *text, const struct core_config *core, uint64_t *code, uint64_t *extra, bool *has_extra,
	struct err *err);

/* Writes up to three known names that resemble `name`, joined by ", "; "" if none does. */
void names_nearest(const struct spmu_model *m, const char *name, char *text, size_t text_bytes);
#endif
