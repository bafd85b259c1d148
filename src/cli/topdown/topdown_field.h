/* SPDX-License-Identifier: GPL-2.0-or-later
 * MSR_PERF_METRICS as a program reads it beside fixed counter 3: a PMU of its own for each thread, through its registers alone.
 * Eight bits a field: no share is known better than to 1/255. */
#ifndef CLI_TOPDOWN_FIELD_H
#define CLI_TOPDOWN_FIELD_H
#include "analysis/metrics.h"
#include "core/core.h"
#include "softpmu/pmu.h"

enum { TOPDOWN_FIELDS = 8 };
/* The PMU has the register and its table says what it holds. */
bool topdown_fields_are_there(const struct spmu_model *m, const struct metrics *metrics);
void topdown_fields_wanted(const struct spmu_model *m, struct core_wanted *w);
/* A PMU that counts slots and their metrics from now on.  NULL: out of memory, or it has none. */
struct spmu *topdown_fields_start(const struct spmu_model *m);
/* Adds its fields, in slots. */
void topdown_fields_read(const struct spmu *p, double field[TOPDOWN_FIELDS], double *slots);
/* Shares of the nodes that the table gives fields (metrics.h); NaN: others. */
void topdown_fields_values(const struct metrics *m, const double field[TOPDOWN_FIELDS], double slots, double *value);
#endif
