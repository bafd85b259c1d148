/* SPDX-License-Identifier: GPL-2.0-or-later
 * MSR_PERF_METRICS beside the tree (topdown_field.h).  Source: SDM vol. 3B, "Performance Metrics": fixed counter
 * 3 counts slots, GLOBAL_CTRL[48] turns the metrics on, and each field is its share of the slots since both
 * were written with 0. */
#include "cli/topdown/topdown_field.h"
#include <math.h>
#include <string.h>

enum { FIXED_CTR_CTRL = 0x38d, GLOBAL_CTRL = 0x38f, SLOTS_COUNTER = 3, SLOTS_USER = 2 << 4 * SLOTS_COUNTER };
#define METRICS_ON (UINT64_C(1) << 48)
#define CAPABLE (UINT64_C(1) << 15)	/* IA32_PERF_CAPABILITIES: PERF_METRICS_AVAILABLE */

bool topdown_fields_are_there(const struct spmu_model *m, const struct metrics *metrics)
{
	return metrics->fields && spmu_model_capabilities(m) & CAPABLE;
}

struct core_wanted topdown_fields_wanted(void)
{
	const uint64_t all = ~UINT64_C(0);	/* the table's @metric lines may count anything */
	return (struct core_wanted){ .signal = { all, all }, .is = all, .did = all };
}

struct spmu *topdown_fields_start(const struct spmu_model *m)
{
	static const struct spmu_host nobody;
	struct spmu *p;
	if (spmu_create(&p, m, &nobody))
		return NULL;
	if (spmu_wrmsr(p, MSR_IA32_FIXED_CTR0 + SLOTS_COUNTER, 0) || spmu_wrmsr(p, MSR_PERF_METRICS, 0) ||
		spmu_wrmsr(p, FIXED_CTR_CTRL, SLOTS_USER) ||
		spmu_wrmsr(p, GLOBAL_CTRL, METRICS_ON | UINT64_C(1) << (32 + SLOTS_COUNTER))) {
		spmu_destroy(p);
		return NULL;
	}
	return p;
}

void topdown_fields_read(const struct spmu *p, double field[TOPDOWN_FIELDS], double *slots)
{
	uint64_t counted, value;
	if (spmu_rdmsr(p, MSR_IA32_FIXED_CTR0 + SLOTS_COUNTER, &counted) || spmu_rdmsr(p, MSR_PERF_METRICS, &value))
		return;
	*slots += (double)counted;
	for (unsigned k = 0; k < TOPDOWN_FIELDS; k++)
		field[k] += (double)counted * (double)(value >> 8 * k & 0xff) / 255;
}

void topdown_fields_values(const struct metrics *m, const double field[TOPDOWN_FIELDS], double slots, double *value)
{
	for (size_t k = 0; k < m->metrics; k++)
		value[k] = (double)NAN;
	for (size_t k = 0; k < m->fields && slots > 0; k++)
		value[m->field[k].node] =
			(field[m->field[k].plus] - (m->field[k].minus < 0 ? 0 : field[m->field[k].minus])) / slots;
}
