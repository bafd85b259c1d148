/* SPDX-License-Identifier: GPL-2.0-or-later
 * Where issue slots went, from the records: every slot of every unhalted cycle is charged once, to one cause.
 *
 * A slot with a uop allocated in it is retiring, or bad speculation if the uop was squashed.  A slot that stayed
 * empty is charged as follows:
 *   - Front-end bound, if the front end left it empty while the back end was ready (IDQ_BUBBLE).  The cause is
 *     what held up the next uop; if a fetch stall covers the cycle (shifted by the front end's depth), the cause
 *     is that stall.  Bubbles between uops of the wrong path have the same causes as any others.  Bubbles before
 *     the first uop after the wrong path are the re-steer of its branch.
 *   - Bad speculation, while the core recovers (RECOVERY), or, on a core that does not execute the wrong path,
 *     while there is nothing to allocate (WRONG_PATH).
 *   - Back-end bound otherwise: a full store buffer, or else what the oldest uop in flight waits for: the level of
 *     memory that serves its load, a divider, ports (it waited longer for one than it executed), its latency.
 * This is the division of Yasin (ISPASS 2014), by cause instead of by counts.
 *
 * Simplified: if the oldest uop is a load that hit a line under way, the level is that of the misses pending
 * then, or else follows from how long the load took.  Empty slots at the start of a rename group count as
 * back-end bound.  Leaves out: hardware threads that share slots.
 */
#ifndef ANALYSIS_SLOTS_H
#define ANALYSIS_SLOTS_H
#include "softpmu/record.h"
#include "util/err.h"
#include <stdbool.h>

/* Names are paths: a node of the tree is the sum of the causes below its path. */
#define SLOTS_CAUSES(X) \
	X(RET_BASE, "ret.base") X(RET_MS, "ret.ms") \
	X(BAD_MISPREDICT, "bad.mispredict") X(BAD_CLEAR, "bad.clear") \
	X(FE_ICACHE, "fe.latency.icache") X(FE_ITLB, "fe.latency.itlb") \
	X(FE_RESTEER_MISPREDICT, "fe.latency.resteer.mispredict") X(FE_RESTEER_CLEAR, "fe.latency.resteer.clear") \
	X(FE_RESTEER_UNKNOWN, "fe.latency.resteer.unknown") \
	X(FE_DSB_SWITCH, "fe.latency.dsb_switch") X(FE_LCP, "fe.latency.lcp") X(FE_MS_SWITCH, "fe.latency.ms_switch") \
	X(FE_DSB, "fe.bandwidth.dsb") X(FE_MITE, "fe.bandwidth.mite") \
	X(FE_MS, "fe.bandwidth.ms") X(FE_LSD, "fe.bandwidth.lsd") \
	X(BE_L1, "be.memory.l1") X(BE_L2, "be.memory.l2") X(BE_L3, "be.memory.l3") X(BE_DRAM, "be.memory.dram") \
	X(BE_STORE, "be.memory.store") X(BE_DIVIDER, "be.core.divider") X(BE_PORTS, "be.core.ports") \
	X(BE_LATENCY, "be.core.latency") X(BE_SERIAL, "be.core.serial")
enum slots_cause {
#define X(name, text) SLOTS_##name,
	SLOTS_CAUSES(X)
#undef X
	SLOTS_CAUSE_COUNT
};

struct slots_core {
	unsigned width;			/* cycles from delivery to allocation */
	unsigned frontend_latency;	/* cycles from delivery to allocation */
	unsigned l2_latency, l3_latency;	/* load-to-use latency, cycles */
	bool sites;			/* keep what was charged to each instruction */
};

struct slots_site { uint64_t ip; uint64_t slots[SLOTS_CAUSE_COUNT]; };	/* ip 0: slots charged to no instruction */

struct slots;			/* one for each thread */
int  slots_create(struct slots **out, const struct slots_core *core, struct err *err);
void slots_destroy(struct slots *s);
/* Adds the signals that slots_batch needs; it also needs all uops. */
void slots_wanted(uint64_t signal[2]);
void slots_batch(struct slots *s, const struct spmu_batch *b);
/* The thread has ended: charges what is still open. */
void slots_end(struct slots *s);
/* Slots charged so far; they sum to width × *cycles. 0, or the error that ended the accounting. */
int  slots_read(const struct slots *s, uint64_t slots[SLOTS_CAUSE_COUNT], uint64_t *cycles, struct err *err);
/* Instructions, in no particular order; valid until the next call with s. */
const struct slots_site *slots_sites(const struct slots *s, size_t *count);
/* The sum of the causes that are `path` or below it; several paths are joined by "+".  false: a path has no cause. */
bool slots_sum(const uint64_t slots[SLOTS_CAUSE_COUNT], const char *path, uint64_t *sum);
#endif
