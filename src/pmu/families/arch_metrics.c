/* SPDX-License-Identifier: BSD-2-Clause
 * MSR_PERF_METRICS: eight fields of eight bits, each a share of the issue slots since the last reset; 255
 * stands for all slots.
 *
 * Source: SDM vol. 3B, chapter "Performance Monitoring", section "Performance Metrics" (fields, their order,
 * reset by writing 0, counting with fixed counter 3 and GLOBAL_CTRL[48]).  The manual does not say how slots
 * are divided.  Here the table's @metric lines define it, with sums that hidden counters keep:
 *
 *   slots, retiring, bad_spec, fe_bound      level 1; back-end bound is the rest, so that the four sum to 255
 * and for the second level, on processors that have it (else these fields are 0):
 *   heavy_ops, br_mispredict, fetch_lat      parts of retiring, bad_spec and fe_bound
 *   memory_stalls, stalls                    cycles; their ratio is the share of memory bound in back-end bound
 *
 * Simplified: writing a value other than 0 sets the sums to those shares of fixed counter 3's current value.
 * Counting never sets GLOBAL_STATUS[48], since the sums are 63 bits wide.
 */
#include "../pmu_internal.h"
#include <string.h>

enum pmu_metric pmu_metric_find(const char *name)
{
	static const char *const names[PMU_METRICS] = { [METRIC_SLOTS] = "slots",
		[METRIC_RETIRING] = "retiring",
		[METRIC_BAD_SPEC] = "bad_spec",
		[METRIC_FE_BOUND] = "fe_bound",
		[METRIC_HEAVY_OPS] = "heavy_ops",
		[METRIC_BR_MISPREDICT] = "br_mispredict",
		[METRIC_FETCH_LAT] = "fetch_lat",
		[METRIC_MEMORY_STALLS] = "memory_stalls",
		[METRIC_STALLS] = "stalls" };
	unsigned i = 0;
	while (i < PMU_METRICS && strcmp(names[i], name))
		i++;
	return (enum pmu_metric)i;
}

/* 255 * part / whole, rounded to nearest, and at most `most`. */
static uint64_t share(uint64_t part, uint64_t whole, uint64_t most)
{
	__extension__ unsigned __int128 scaled = (unsigned __int128)part * 255 + whole / 2;
	uint64_t v = whole ? (uint64_t)(scaled / whole) : 0;
	return part >= whole || v > most ? most : v;
}

uint64_t pmu_metrics_read(const struct spmu *p, unsigned first)
{
#define SUM(name) (p->counter[first + METRIC_##name].value)
	uint64_t slots = SUM(SLOTS), left = 255, stalls = SUM(STALLS);
	if (!slots)
		return 0;
	uint64_t retiring = share(SUM(RETIRING), slots, left);
	left -= retiring;
	uint64_t bad = share(SUM(BAD_SPEC), slots, left);
	left -= bad;
	uint64_t front = share(SUM(FE_BOUND), slots, left);
	left -= front;
	uint64_t memory = SUM(MEMORY_STALLS);
	__extension__ unsigned __int128 part = (unsigned __int128)left * (memory < stalls ? memory : stalls);
	return retiring | bad << 8 | front << 16 | left << 24 | share(SUM(HEAVY_OPS), slots, retiring) << 32 |
		share(SUM(BR_MISPREDICT), slots, bad) << 40 | share(SUM(FETCH_LAT), slots, front) << 48 |
		(stalls ? (uint64_t)((part + stalls / 2) / stalls) : 0) << 56;
#undef SUM
}

void pmu_metrics_write(struct spmu *p, unsigned first, uint64_t slots, uint64_t value)
{
	static const uint8_t field[PMU_METRICS] = {
		[METRIC_RETIRING] = 0, [METRIC_BAD_SPEC] = 8, [METRIC_FE_BOUND] = 16, [METRIC_HEAVY_OPS] = 32,
		[METRIC_BR_MISPREDICT] = 40, [METRIC_FETCH_LAT] = 48, [METRIC_MEMORY_STALLS] = 56,
		[METRIC_STALLS] = 24
	};
	for (unsigned k = 0; k < PMU_METRICS; k++) {
		uint64_t share = k == METRIC_SLOTS ? 255 : value >> field[k] & 0xff;
		__extension__ unsigned __int128 part = (unsigned __int128)slots * share / 255;
		pmu_write_counter(p, first + k, value ? (uint64_t)part : 0);
	}
}
