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
};

/* Marks the events that count nothing without it as not modelled, for `reason` (kept, not copied).  Call it before a
 * PMU is made of the model. */
void pmu_model_lacks(struct spmu_model *m, enum pmu_lack what, const char *reason);
#endif
