/* SPDX-License-Identifier: BSD-2-Clause
 * A core that carries another core's PMU, or that of a machine with more parts: what it cannot raise is not modelled
 * there, and no count of zero.
 */
#ifndef PMU_LACKS_H
#define PMU_LACKS_H
#include "softpmu/pmu.h"

enum pmu_lack {
	PMU_LACKS_LOOP_BUFFER,	/* no uop comes from a loop buffer */
	PMU_LACKS_L3,		/* no request hits or misses a third-level cache */
	PMU_LACKS_LCP,		/* no length-changing prefix stalls the predecoder */
	PMU_LACKS_FP_ASSISTS,	/* no microcode assists a floating-point instruction */
	PMU_LACKS_SPLIT_REGISTERS,	/* no access across lines waits for a register */
	PMU_LACKS_FP_PORTS,	/* floating-point uops go to ports with other numbers */
	PMU_LACKS_FLAGS_MERGE,	/* no uop merges CF with the other flags */
	PMU_LACKS_BLENDS,	/* no uop keeps the upper halves of vector registers */
	PMU_LACKS_UPPER_SAVES,	/* no microcode saves or restores them */
	PMU_LACKS_STALE_SNOOPS,	/* no core is snooped for a line that it has dropped */
	PMU_LACKS_1G_PAGES,	/* no page has 1 GB */
	PMU_LACKS_ELISION,	/* no lock is elided */
};

/* Marks the events that count nothing without it as not modelled, for `reason` (kept, not copied).  Call it before a
 * PMU is made of the model. */
void pmu_model_lacks(struct spmu_model *m, enum pmu_lack what, const char *reason);
/* True if the event, which is one of the model's, counts nothing without it.  extra: the value of its extra_msr. */
bool pmu_event_lacks(const struct spmu_model *m, const struct spmu_event *e, uint64_t extra, enum pmu_lack what);
#endif
