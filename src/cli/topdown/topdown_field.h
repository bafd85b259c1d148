/* SPDX-License-Identifier: GPL-2.0-or-later
 * MSR_PERF_METRICS as a program would read it beside fixed counter 3: each thread gets a PMU of its own, which
 * is used only through its registers.  A field has eight bits, so no share is more precise than 1/255. */
#ifndef CLI_TOPDOWN_FIELD_H
#define CLI_TOPDOWN_FIELD_H
#include "analysis/metrics.h"
#include "core/core.h"
#include "softpmu/pmu.h"

enum { TOPDOWN_FIELDS = 8 };
/* Whether the PMU has the register and the metrics table says what it holds. */
bool topdown_fields_are_there(const struct spmu_model *m, const struct metrics *metrics);
struct core_wanted topdown_fields_wanted(void);
/* Starts a PMU that counts slots and their metrics. NULL: out of memory, or the PMU lacks them. */
struct spmu *topdown_fields_start(const struct spmu_model *m);
/* Adds the PMU's fields to field[], in slots, and its slots to *slots. */
void topdown_fields_read(const struct spmu *p, double field[TOPDOWN_FIELDS], double *slots);
/* Shares of the nodes for which the table has fields (metrics.h); NaN for the others. */
void topdown_fields_values(const struct metrics *m, const double field[TOPDOWN_FIELDS], double slots, double *value);
#endif
