/* SPDX-License-Identifier: BSD-2-Clause
 * NetBurst's wiring: which event selection control register (ESCR) reaches which counter, under which number; which counter
 * may start which.  And the tags that sources of its event tables look at. */
#ifndef PMU_NETBURST_PMU_H
#define PMU_NETBURST_PMU_H
#include "../pmu_internal.h"

/* tag(N) in an event table: bits 0 to 3, execution tags; then front-end tag, replay tag, and: a uop of this instruction is tagged
 * (on the instruction's last uop). */
enum { NETBURST_TAG_FRONT_END = 4, NETBURST_TAG_REPLAY = 5, NETBURST_TAG_INSTRUCTION = 6 };

/* Index of an ESCR (struct pmu_netburst_state) by its MSR; -1: this model has none there. */
int  netburst_escr(const struct spmu_model *m, uint32_t msr);
uint32_t netburst_escr_msr(unsigned escr);
/* The ESCR that counter i sees with this ESCR select; -1: none. */
int  netburst_wired(const struct spmu_model *m, unsigned i, unsigned select);
/* The other ESCR of the unit; -1: none. */
int  netburst_pair(const struct spmu_model *m, unsigned escr);
/* Counters that can see this ESCR, and those that can see it or its pair. */
uint32_t netburst_counters(unsigned escr);
uint32_t netburst_block(unsigned escr);
/* The counter whose overflow starts counter i, by CCCR bit 30 and by bit 11 (CASCNTxINTOy); -1: the bit does not do that here. */
int  netburst_cascade(unsigned i);
int  netburst_extended_cascade(const struct spmu_model *m, unsigned i);
/* netburst_tags.c: pmu_family.tag. */
void netburst_tag(struct spmu *p, const struct spmu_batch *b, uint16_t *tag);
/* regs_netburst.c: counter i is enabled, or was started by another one. */
bool netburst_running(const struct spmu *p, unsigned i);
/* Does this row of the table describe what the ESCR detects under this event select? */
bool netburst_detects(const struct pmu_row *row, uint32_t msr, unsigned event);
/* The classes that an ESCR's CPL and thread bits let pass.  independent: by the rule for thread-independent events, as far as one record
 * can tell. */
unsigned netburst_who(uint32_t escr, bool independent);
#endif
