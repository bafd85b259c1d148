/* SPDX-License-Identifier: GPL-2.0-or-later
 * Where issue slots went, from the records: every slot of every unhalted cycle is charged once, to one cause.
 *
 * A slot that a uop was allocated in is retiring, or bad speculation if the uop was squashed.  Of the slots that stayed empty in a cycle,
 * those that the front end left empty while the back end was ready (IDQ_BUBBLE) are front-end bound: charged to what held up the next
 * uop; where a fetch stall covers the cycle (so many cycles later, the front end's depth), to that.  Bubbles between uops of the wrong path have the
 * causes of any others; those before the first uop behind it are its branch's re-steer.  Others are bad speculation while the core
 * recovers (RECOVERY), or, on a core that does not execute the wrong path, while there is none to allocate (WRONG_PATH).  The rest is
 * back-end bound: a full store buffer, or else what the oldest uop in flight waits for: the level of memory that serves its load, a divider,
 * ports (it waited longer for one than it executed), its latency.  The same division as Yasin's (ISPASS 2014), by cause instead of by counts.
 *
 * Simplified: of a load that hit a line under way the level is that of the misses pending then, else by how long it took.  Empty slots of
 * groups that rename begins anew count as back-end bound.  Leaves out: sharing of slots between hardware threads.
 */
#ifndef ANALYSIS_SLOTS_H
#define ANALYSIS_SLOTS_H
#include "softpmu/record.h"
#include "util/err.h"
#include <stdbool.h>

/* Names are paths: a node of a tree is the sum of the causes below its path. */
#define SLOTS_CAUSES(X) \
	X(RET_BASE, "ret.base") X(RET_MS, "ret.ms") \
	X(BAD_MISPREDICT, "bad.mispredict") X(BAD_CLEAR, "bad.clear") \
	X(FE_ICACHE, "fe.latency.icache") X(FE_ITLB, "fe.latency.itlb") \
	X(FE_RESTEER_MISPREDICT, "fe.latency.resteer.mispredict") X(FE_RESTEER_CLEAR, "fe.latency.resteer.clear") \
	X(FE_RESTEER_UNKNOWN, "fe.latency.resteer.unknown") \
	X(FE_DSB_SWITCH, "fe.latency.dsb_switch") X(FE_LCP, "fe.latency.lcp") X(FE_MS_SWITCH, "fe.latency.ms_switch") \
	X(FE_DSB, "fe.bandwidth.dsb") X(FE_MITE, "fe.bandwidth.mite") X(FE_MS, "fe.bandwidth.ms") X(FE_LSD, "fe.bandwidth.lsd") \
	X(BE_L1, "be.memory.l1") X(BE_L2, "be.memory.l2") X(BE_L3, "be.memory.l3") X(BE_DRAM, "be.memory.dram") \
	X(BE_STORE, "be.memory.store") X(BE_DIVIDER, "be.core.divider") X(BE_PORTS, "be.core.ports") \
	X(BE_LATENCY, "be.core.latency") X(BE_SERIAL, "be.core.serial")
enum slots_cause {
#define X(name, text) SLOTS_##name,
	SLOTS_CAUSES(X)
#undef X
	SLOTS_CAUSE_COUNT
};
extern const char *const slots_cause_name[SLOTS_CAUSE_COUNT];

struct slots_core {
	unsigned width;			/* slots a cycle */
	unsigned frontend_latency;	/* cycles from delivery to allocation */
	unsigned l2_latency, l3_latency;	/* cycles from load to use */
	bool sites;			/* keep what was charged to each instruction */
};

struct slots_site { uint64_t ip; uint64_t slots[SLOTS_CAUSE_COUNT]; };	/* ip 0: to none */

struct slots;			/* of one thread */
int  slots_create(struct slots **out, const struct slots_core *core, struct err *err);
void slots_destroy(struct slots *s);
/* What slots_batch looks at: signals; it wants all uops. */
void slots_wanted(uint64_t signal[2]);
void slots_batch(struct slots *s, const struct spmu_batch *b);
/* The thread has ended: what is still open is charged. */
void slots_end(struct slots *s);
/* Charged so far: they sum to width times *cycles.  0, or the error that ended the accounting. */
int  slots_read(const struct slots *s, uint64_t slots[SLOTS_CAUSE_COUNT], uint64_t *cycles, struct err *err);
/* Instructions, in no order; until the next call with s. */
const struct slots_site *slots_sites(const struct slots *s, size_t *count);
/* Sum of the causes whose names are `path` or below it; several paths joined by +.  False: one is none. */
bool slots_sum(const uint64_t slots[SLOTS_CAUSE_COUNT], const char *path, uint64_t *sum);
#endif
