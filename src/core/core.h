/* SPDX-License-Identifier: GPL-2.0-or-later
 * The modelled core: takes decoded blocks with their addresses in program order, emits record batches.
 *
 * One-pass: each uop gets the cycle at which it was fetched, allocated, became ready, was dispatched, completed
 * and retired, from rings of timestamps that stand for the machine's finite resources.  No per-cycle loop.
 */
#ifndef CORE_CORE_H
#define CORE_CORE_H
#include "softpmu/record.h"
#include "isa/isa.h"
#include "util/err.h"
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

struct core_config;		/* config.h: every size, width and latency, read from data/cores/NAME.conf */
struct machine;			/* one machine: the shared L3 and memory; its cores hang on it */
struct core;			/* one core (one hardware thread) */

/* Takes a batch.  Returns NULL if it is done with it, or another buffer from malloc for SPMU_BATCH_MAX records, which the
 * core fills next (and frees in the end) while the callee keeps batch->records and frees or exchanges that in its turn. */
typedef struct spmu_record *core_emit(void *context, const struct spmu_batch *batch);

/* Machines and cores are independent of each other but for the shared L3: two machines in one process. */
int  machine_create(struct machine **out, const struct core_config *config, struct err *err);
void machine_destroy(struct machine *m);
/* The program's mapping of these addresses: new or changed, with huge pages (2 MB) or without, or gone. */
void machine_map(struct machine *m, uint64_t addr, uint64_t bytes, bool huge);

/* The machine is another from now on (features.h).  core: all of its cores, in an order of the caller's own; between two blocks, no script of
 * theirs is left to be run.  After an error neither may be used. */
int  machine_resize(struct machine *m, struct core *const *core, size_t cores, const struct core_config *to, struct err *err);

int  core_create(struct core **out, struct machine *m, core_emit *emit, void *context, struct err *err);
/* The next hardware thread of the core that `of` is one of: caches, TLBs, predictors, ports and bandwidth are theirs together (smt.h).
 * Refused beyond smt.threads. */
int  core_create_thread(struct core **out, struct core *of, core_emit *emit, void *context, struct err *err);
unsigned core_hw_thread(const struct core *c);
/* So many of its core's hardware threads run; the others are halted. */
void core_smt_share(struct core *c, unsigned active);
/* Of the scripts of a core's hardware threads those that are made next are this one's. */
void core_predicts(struct core *c);
void core_destroy(struct core *c);
/* Empty caches, predictors, queues; the clock goes to `cycle`. For reuse by another thread. */
void core_reset(struct core *c, uint64_t cycle);

/* One execution of `b` that was left through exit `exit` (index into b->exit), with its slot values.
 * insns: number of instructions executed (b->exit[exit].insns, fewer for a block that was cut).
 * next_ip: address of the instruction that the thread executes next (decides taken and target);
 *          0 if unknown (end of thread, signal): treated as fall-through. */
void core_run_block(struct core *c, struct iblock *b, unsigned exit, unsigned insns, const uint64_t *slots, uint64_t next_ip);
/* The two halves of it, for two threads: what does not depend on time, predictions included, is settled in program order, so one
 * thread may run ahead and write scripts (it alone touches the predictors then) while another runs them.
 * script: room for core_script_room(b) words.  Returns how many it has. */
size_t core_script(struct core *c, struct iblock *b, unsigned exit, unsigned insns, const uint64_t *slots, uint64_t next_ip,
                   uint64_t *script);
static inline size_t core_script_room(const struct iblock *b)
{
	return 8 + 3 * (size_t)b->uops + b->insns + b->slots;
}
/* Scripts hold the wrong paths of mispredicted branches from now on, walked by w (walker.h; the caller's, NULL: no more): CORE_SCRIPT_WALK words
 * more.  The caller tells w of each execution before core_script. */
struct walker;
enum { CORE_SCRIPT_WALK = 2048 + 8 };
void core_set_walker(struct core *c, struct walker *w);
void core_run_script(struct core *c, const uint64_t *script);
/* Scripts in a queue of operations: an operation's first word has its length in words in the low half and its kind above, the second says
 * whose it is; what it asks for lies behind these.  Runs the script of `op`, and those of the operations of the same kind and owner that follow
 * it, up to `end`, or until *stop is not 0.  Returns the operation behind them. */
enum { SCRIPT_OP_WORDS = 2 };
const uint64_t *core_run_scripts(struct core *c, const uint64_t *op, const uint64_t *end, const uint64_t *stop);
/* The predictors' half of core_warm_block. */
void core_predict(struct core *c, struct iblock *b, unsigned exit, unsigned insns, uint64_t next_ip);
/* The memory's half of core_warm_block. */
void core_warm_memory(struct core *c, struct iblock *b, unsigned exit, unsigned insns, const uint64_t *slots);
/* The same, functionally only: caches, TLBs and predictors are warmed, no time passes, no records. */
void core_warm_block(struct core *c, struct iblock *b, unsigned exit, unsigned insns, const uint64_t *slots, uint64_t next_ip);

/* Pass what is pending to `emit`.  last: the thread halts or ends here (batch.is_last). */
void core_flush(struct core *c, bool last);
/* Code in [addr, addr+bytes) changed or went away: uop cache and loop buffer forget it. */
void core_discard_code(struct core *c, uint64_t addr, uint64_t bytes);
/* Retire cycle of the last retired uop: the core's now.  Monotonic. */
uint64_t core_now(const struct core *c);
/* Where the next slot would be allocated: what orders threads by time. */
uint64_t core_clock(const struct core *c);
/* Nothing is allocated before `cycle`: the thread spins, unhalted. */
void core_hold(struct core *c, uint64_t cycle);
/* Stores that have retired are written. */
void core_settle(struct core *c);
/* The thread leaves the core, or another one comes and begins at `cycle`; batches then go to `context`. */
void core_leave(struct core *c);
void core_switch_to(struct core *c, void *context, uint64_t cycle);
/* Halt until `cycle` (no-op if past): the pipeline drains, cycles in between are not CYCLES. */
void core_halt_until(struct core *c, uint64_t cycle);
/* An interrupt behind the last instruction: the pipeline drains, the handler takes `cycles` (of the kernel: no CYCLES) and brings `lines` lines of
 * code, and as many of data that it writes, into the caches and TLBs. */
void core_interrupt(struct core *c, uint64_t cycles, unsigned lines);
/* As an instruction that serialises, behind the last one run: everything is done and passed to `emit`, stores are written, and the next
 * instruction is fetched behind that.  Its cycles are CYCLES. */
void core_serialize(struct core *c);
/* A register of features was written here: for the records. */
void core_note_write(struct core *c, uint32_t msr, uint64_t value);
/* What goes into the batches; all at first.  Timing does not depend on it, nor do a batch's `instructions`. */
struct core_wanted {
	uint64_t signal[2];	/* set of enum spmu_signal */
	uint64_t is, did;	/* uops that have one of these bits */
	bool outcomes;		/* of squashed branches TAKEN, MISPREDICTED and MISP_TARGET as they were executed (walker_outcomes, the caller's); else as predicted */
	bool detail;		/* and details of each (detail.h); not of cores with several hardware threads.  Before the first block */
};
void core_want(struct core *c, const struct core_wanted *w);
/* Instructions retired so far (what INST_RETIRED.ANY would say, timed part only). */
uint64_t core_instructions(const struct core *c);
#endif
