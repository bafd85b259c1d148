/* SPDX-License-Identifier: GPL-2.0-or-later
 * How NetBurst's events are spelled beyond the names in the event table:
 *
 *   several mask bits    branch_retired.MMNM:MMTM
 *   fields of the ESCR   tag=N, or TAG0 to TAG3 (libpfm4's)    TAG VALUE, with TAG ENABLE
 *   fields of the CCCR   thr=N, cmpl, edge                     THRESHOLD, COMPLEMENT, EDGE, with COMPARE
 *   what tags            up=EVENT                              for events that count what carries a tag
 *   perf's config        rNNN, cpu/config=,escr=,cccr=,event=,umask=/    (netburst_config)
 *
 * Each word stands behind a colon (`uops_retired.NBOGUS:thr=2`) or is a term of cpu/.../ .
 */
#ifndef SESSION_NETBURST_SPELL_H
#define SESSION_NETBURST_SPELL_H
#include "softpmu/pmu.h"
#include "util/err.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* What the words behind an event's name ask for; all 0: nothing. */
struct netburst_wish {
	uint32_t mask;				/* bits of the ESCR's mask; 0: the row's */
	const struct spmu_event *metric;	/* the row whose replay metric is meant; NULL: the event's own */
	const struct spmu_event *up;		/* what tags: an event, or a row with a replay metric */
	uint8_t tag_value;
	bool compare, complement, edge;
	uint8_t threshold;			/* with compare */
};

/* An event that is no row of the table. */
struct netburst_event { struct spmu_event event; char name[]; };

/* Takes a word of n bytes.  row: the event that it belongs to; NULL: not known yet, so that mask bits are not taken.
 * *known: it is one of these words.  0, or an error that names it. */
int netburst_word(struct netburst_wish *w, const struct spmu_model *m, const struct spmu_event *row, const char *word,
	size_t n, bool *known, struct err *err);

/* Finds the row that `name` ("branch_retired.MMNM:MMTM") begins with and takes its other words as mask bits.  NULL:
 * no such event. */
const struct spmu_event *netburst_named(struct netburst_wish *w, const struct spmu_model *m, const char *name);

/* Reads perf's 64-bit config for this PMU.  0 with *row; or an error. */
int netburst_config(struct netburst_wish *w, const struct spmu_model *m, uint64_t config, const struct spmu_event **row,
	struct err *err);

/* The number by which perf's config (bits 62:57) and cpu/event=/ know the row's event; -1: they do not. */
int netburst_number(const struct spmu_event *row);

/* Writes the text by which `stat -e` takes the row: "cpu/event=0x29,umask=0x2/"; "" if perf's config does not know
 * it. */
void netburst_code(const struct spmu_model *m, const struct spmu_event *row, char *text, size_t text_bytes);

/* Writes what an event that needs tags could be told, as words to add behind its name: ":up=packed_DP_uop.ALL"; "" if
 * it needs none. */
void netburst_hint(const struct spmu_model *m, const struct spmu_event *event, char *text, size_t text_bytes);

/* The event that the row and the words together stand for: *event is a row, or the event in *made, which the caller
 * frees (else *made is NULL).  An event with bits that the model cannot produce has SPMU_EVENT_NOT_MODELLED.
 * Refuses by name tags without anything that sets them, and words that do not fit the event. */
int netburst_compose(const struct netburst_wish *w, const struct spmu_model *m, const struct spmu_event *row,
	const struct spmu_event **event, struct netburst_event **made, struct err *err);

/* The PERFEVTSEL bits (CMASK, INV, EDGE; session_event.evtsel) that stand for the wish's THRESHOLD, COMPLEMENT and
 * EDGE.  0: no comparison. */
uint64_t netburst_filter(const struct netburst_wish *w);
#endif
