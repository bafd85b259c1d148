/* SPDX-License-Identifier: GPL-2.0-or-later
 * What a value in a register of the PMU means: the event that it selects, what keeps it from counting, and what
 * WRMSR does with it. */
#ifndef CLI_MSR_EXPLAIN_H
#define CLI_MSR_EXPLAIN_H
#include "softpmu/pmu.h"

struct msr_notes {
	char line[48][240];	/* sentences */
	size_t lines;
	char event[24][100];	/* names of the table's events that the value selects */
	size_t events;
};
/* Explains what the value means beyond its fields, for the registers that select events. */
void msr_explain(const struct spmu_model *m, const struct spmu_msr *r, uint64_t value, struct msr_notes *out);

struct msr_outcome {
	enum { MSR_TAKEN, MSR_FAULTS, MSR_READ_ONLY, MSR_ABSENT } write;
	uint64_t bits;		/* MSR_FAULTS: bits that fault alone; 0: their combination faults */
	uint64_t reads;		/* MSR_TAKEN: what is read back */
};
/* Tries a write on a newly created PMU. host: its host. 0, or SPMU_ENOMEM. */
int msr_try(const struct spmu_model *m, const struct spmu_host *host, const struct spmu_msr *r, uint64_t value,
	struct msr_outcome *out);
/* The value after reset; false: there is no such register. */
bool msr_reset_value(const struct spmu *p, const struct spmu_msr *r, uint64_t *value);
#endif
