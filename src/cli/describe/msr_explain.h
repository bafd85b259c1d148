/* SPDX-License-Identifier: GPL-2.0-or-later
 * What a value in a register of the PMU asks for: the event it selects, what keeps it from counting, what WRMSR makes of it. */
#ifndef CLI_MSR_EXPLAIN_H
#define CLI_MSR_EXPLAIN_H
#include "softpmu/pmu.h"

struct msr_notes {
	char line[48][240];	/* sentences */
	size_t lines;
	char event[24][100];	/* names of events of the table that the value selects */
	size_t events;
};
/* What the value means beyond its fields, for the registers that select events. */
void msr_explain(const struct spmu_model *m, const struct spmu_msr *r, uint64_t value, struct msr_notes *out);

struct msr_outcome {
	enum { MSR_TAKEN, MSR_FAULTS, MSR_READ_ONLY, MSR_ABSENT } write;
	uint64_t bits;		/* MSR_FAULTS: those that fault alone; 0: their combination does */
	uint64_t reads;		/* MSR_TAKEN: what is read back */
};
/* Asks a PMU that was just created.  host: its host.  0, or SPMU_ENOMEM. */
int msr_try(const struct spmu_model *m, const struct spmu_host *host, const struct spmu_msr *r, uint64_t value, struct msr_outcome *out);
/* Value after reset; false: the register is not there. */
bool msr_reset_value(const struct spmu *p, const struct spmu_msr *r, uint64_t *value);
#endif
