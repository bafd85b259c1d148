/* SPDX-License-Identifier: BSD-2-Clause
 * NetBurst's wiring: which event selection control register (ESCR) reaches which counter by which ESCR select,
 * and which counter can start which by cascading.  Also the tags that sources of its event tables look at. */
#ifndef PMU_NETBURST_PMU_H
#define PMU_NETBURST_PMU_H
#include "../pmu_internal.h"

/* tag(N) in an event table: 0 to 3 are execution tags, then the front-end tag, the replay tag, and a tag on the
 * last uop of an instruction that has a tagged uop. */
enum { NETBURST_TAG_FRONT_END = 4, NETBURST_TAG_REPLAY = 5, NETBURST_TAG_INSTRUCTION = 6 };

/* Index of an ESCR in pmu_netburst_state.escr by its MSR address; -1: this model has no ESCR there. */
int  netburst_escr(const struct spmu_model *m, uint32_t msr);
uint32_t netburst_escr_msr(unsigned escr);
/* The ESCR that counter i sees with this ESCR select; -1: none. */
int  netburst_wired(const struct spmu_model *m, unsigned i, unsigned select);
/* The other ESCR of the same unit; -1: none. */
int  netburst_pair(const struct spmu_model *m, unsigned escr);
/* Set of counters that can see this ESCR (block: this ESCR or its pair). */
uint32_t netburst_counters(unsigned escr);
uint32_t netburst_block(unsigned escr);
/* The counter whose overflow starts counter i if CCCR bit 30 (extended: bit 11, CASCNTxINTOy) is set; -1: none. */
int  netburst_cascade(unsigned i);
int  netburst_extended_cascade(const struct spmu_model *m, unsigned i);
/* netburst_tags.c: pmu_family.tag. */
void netburst_tag(struct spmu *p, const struct spmu_batch *b, uint16_t *tag);
/* regs_netburst.c: counter i is enabled, or another one has started it. */
bool netburst_running(const struct spmu *p, unsigned i);
/* Does this row of the table describe the event that the ESCR (its MSR) detects with this event select? */
bool netburst_detects(const struct pmu_row *row, uint32_t msr, unsigned event);
/* netburst_bus.c: events whose mask bits are fields that are looked at together. */
enum netburst_bus { NETBURST_NO_BUS, NETBURST_IOQ, NETBURST_BSQ };
enum netburst_bus netburst_bus(uint32_t msr, unsigned event);
/* Writes the attributes that a mask selects into *s.  False: it selects nothing. */
bool netburst_bus_selects(const struct spmu_model *m, enum netburst_bus of, uint32_t mask, struct pmu_source *s);
/* netburst_threads.c: which threads.  The PMU has more than two, and so MSR_THREADS(i): */
bool netburst_extended(const struct spmu *p);
bool netburst_threads_valid(const struct spmu *p, unsigned i, uint64_t value);
uint64_t netburst_threads_bits(const struct spmu *p, unsigned i);
/* Set of WHO_ that counter i lets pass, which sees an ESCR with this value (tags_who: that ESCR e tags).  independent:
 * by the rule for thread-independent events, as far as it can be decided from one record. */
unsigned netburst_who(const struct spmu *p, unsigned i, uint32_t escr, bool independent);
unsigned netburst_tags_who(const struct spmu *p, unsigned e, bool independent);
/* Bit n: counter i counts while n threads run; 0: always. */
uint16_t netburst_active(const struct spmu *p, unsigned i);
/* The threads that an overflow of counter i interrupts: a set of PMI_. */
uint8_t netburst_interrupted(const struct spmu *p, unsigned i);
/* The thread into whose DS area counter i writes PEBS records; -1: PEBS is off for it. */
int  netburst_pebs_thread(const struct spmu *p, unsigned i);
#endif
