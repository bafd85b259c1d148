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
 *   - Back-end bound otherwise.  A full store buffer comes first: what its oldest store waits for.  Then a
 *     serialising instruction that keeps issue stalled.  Else the cause is what the oldest uop in flight waits for in
 *     this cycle: a port, before it is dispatched; for a load its translation, then a fill buffer, then a place in the
 *     super queue, then the level that serves it; a divider; or its own latency.  What of an access is over when its
 *     load becomes the oldest counts, too: the rest of its time is divided as the whole was.  Waits for ports and for
 *     latency are told apart by the number of uops that were dispatched in the cycle, too.  If nothing is in flight,
 *     the core waits to begin an access in another thread's turn, or for what serialises.
 * This is the division of Yasin (ISPASS 2014), by cause instead of by counts, with the nodes of its later versions.
 *
 * A slot that retired counts once: microcode, else a further slot of its instruction, else what its uops are, in this
 * order: NOP, fused pair, branch, x87, floating-point arithmetic, integer vector arithmetic, shuffle, memory access,
 * other.
 *
 * Simplified: if the oldest uop is a load that hit a line under way, the level is that of the misses pending then, or
 * else follows from how long the load took.  A wait for memory counts as bandwidth while four reads or more are under
 * way beyond L2, which is toplev's rule.  The oldest store of a full buffer is the one that entered a buffer's size
 * before the one that waits.  Empty slots at the start of a rename group count as back-end bound.  Microcode assists
 * have time and no uops in the model: be.core.serial.assist.  Leaves out: hardware threads that share slots.
 */
#ifndef ANALYSIS_SLOTS_H
#define ANALYSIS_SLOTS_H
#include "core/machine/config.h"
#include "softpmu/record.h"
#include "util/err.h"
#include <stdbool.h>

/* Names are paths: a node of the tree is the sum of the causes below its path. */
#define SLOTS_CAUSES(X) \
	X(RET_X87, "ret.light.fp.x87") X(RET_FP_SCALAR, "ret.light.fp.scalar") X(RET_FP_VECTOR, "ret.light.fp.vector") \
	X(RET_INT_128, "ret.light.int.128") X(RET_INT_256, "ret.light.int.256") \
	X(RET_MEMORY, "ret.light.memory") X(RET_FUSED, "ret.light.fused") X(RET_BRANCH, "ret.light.branch") \
	X(RET_NOP, "ret.light.other.nop") X(RET_SHUFFLE, "ret.light.other.shuffle") \
	X(RET_OTHER, "ret.light.other.rest") X(RET_FEW, "ret.heavy.few") X(RET_MS, "ret.heavy.ms") \
	X(BAD_MISPREDICT, "bad.mispredict") X(BAD_CLEAR_ORDER, "bad.clear.order") \
	X(BAD_CLEAR_OTHER, "bad.clear.other") \
	X(FE_ICACHE, "fe.latency.icache") X(FE_ITLB, "fe.latency.itlb") \
	X(FE_RESTEER_MISPREDICT, "fe.latency.resteer.mispredict") X(FE_RESTEER_CLEAR, "fe.latency.resteer.clear") \
	X(FE_RESTEER_UNKNOWN, "fe.latency.resteer.unknown") \
	X(FE_DSB_SWITCH, "fe.latency.dsb_switch") X(FE_LCP, "fe.latency.lcp") X(FE_MS_SWITCH, "fe.latency.ms_switch") \
	X(FE_DSB, "fe.bandwidth.dsb") X(FE_MITE, "fe.bandwidth.mite") \
	X(FE_MS, "fe.bandwidth.ms") X(FE_LSD, "fe.bandwidth.lsd") \
	X(BE_L1, "be.memory.l1.latency") X(BE_L1_DTLB, "be.memory.l1.dtlb") X(BE_L1_FORWARD, "be.memory.l1.forward") \
	X(BE_L1_ALIAS, "be.memory.l1.alias") X(BE_L1_LOCK, "be.memory.l1.lock") X(BE_L1_SPLIT, "be.memory.l1.split") \
	X(BE_L1_FB_FULL, "be.memory.l1.fb_full") X(BE_L2, "be.memory.l2") \
	X(BE_L3, "be.memory.l3.latency") X(BE_L3_CONTESTED, "be.memory.l3.contested") \
	X(BE_L3_SHARED, "be.memory.l3.shared") X(BE_L3_SQ_FULL, "be.memory.l3.sq_full") \
	X(BE_DRAM, "be.memory.dram.latency") X(BE_DRAM_BANDWIDTH, "be.memory.dram.bandwidth") \
	X(BE_STORE, "be.memory.store.latency") X(BE_STORE_SHARED, "be.memory.store.shared") \
	X(BE_STORE_SPLIT, "be.memory.store.split") X(BE_STORE_STREAMING, "be.memory.store.streaming") \
	X(BE_STORE_DTLB, "be.memory.store.dtlb") X(BE_DIVIDER, "be.core.divider") \
	X(BE_PAUSE, "be.core.serial.pause") X(BE_FENCE, "be.core.serial.fence") X(BE_ASSIST, "be.core.serial.assist") \
	X(BE_SERIAL, "be.core.serial.other") \
	X(BE_CHAIN_0, "be.core.ports.0.chain") X(BE_CHAIN_1, "be.core.ports.1.chain") \
	X(BE_CHAIN_2, "be.core.ports.2.chain") X(BE_CHAIN_3, "be.core.ports.3m.chain") \
	X(BE_PORT_0, "be.core.ports.0.port") X(BE_PORT_1, "be.core.ports.1.port") \
	X(BE_PORT_2, "be.core.ports.2.port") X(BE_PORT_3, "be.core.ports.3m.port")
enum slots_cause {
#define X(name, text) SLOTS_##name,
	SLOTS_CAUSES(X)
#undef X
	SLOTS_CAUSE_COUNT
};

struct slots_core {
	unsigned width;			/* slots a cycle */
	unsigned frontend_latency;	/* cycles from delivery to allocation */
	unsigned l1_latency, l2_latency, l3_latency;	/* load-to-use latency, cycles */
	unsigned stlb_latency;		/* cycles that a miss of the first-level data TLB costs */
	unsigned store_buffer;		/* its entries */
	bool sites;			/* keep what was charged to each instruction */
};
struct slots_core slots_core_of(const struct core_config *c);

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
/* Instructions charged so far are forgotten; totals are not. */
void slots_forget_sites(struct slots *s);
/* The sum of the causes that are `path` or below it; several paths are joined by "+".  false: a path has no cause. */
bool slots_sum(const uint64_t slots[SLOTS_CAUSE_COUNT], const char *path, uint64_t *sum);
#endif
