/* SPDX-License-Identifier: GPL-2.0-or-later
 * The modelled core: takes decoded blocks with their addresses in program order, and emits batches of records.
 *
 * It works in one pass: each uop gets the cycles at which it was fetched, allocated, became ready, was
 * dispatched, completed and retired, from rings of timestamps that represent the machine's finite resources.
 * There is no loop over cycles.
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
struct machine;			/* one machine: the shared L3 and memory, which its cores use */
struct core;			/* one core, or one hardware thread of it */

/* Takes a batch.  The callee returns NULL if it is done with the batch.  Or it keeps batch->records, which it
 * then owns, and returns another buffer from malloc with room for SPMU_BATCH_MAX records; the core fills and
 * owns that one next. */
typedef struct spmu_record *core_emit(void *context, const struct spmu_batch *batch);

/* Machines and cores are independent of each other except for the shared L3: one process may have several
 * machines. */
int  machine_create(struct machine **out, const struct core_config *config, struct err *err);
void machine_destroy(struct machine *m);
/* The program's mapping of these addresses: new or changed, with huge pages (2 MB) or without, or gone. */
void machine_map(struct machine *m, uint64_t addr, uint64_t bytes, bool huge);
/* A new machine takes the place of `of`, for the same blocks: it has the same mappings, of which no page was touched
 * yet.  Before its first core is made.  ERR_NOMEM. */
int  machine_replaces(struct machine *m, const struct machine *of, struct err *err);

/* Changes the machine's features (features.h).  core: all of its cores, in any order.  Call it between two
 * blocks, when no script of these cores is left to be run.  After an error neither the machine nor the cores
 * may be used. */
int machine_resize(
	struct machine *m, struct core *const *core, size_t cores, const struct core_config *to, struct err *err);

int  core_create(struct core **out, struct machine *m, core_emit *emit, void *context, struct err *err);
/* Creates the next hardware thread of the core that `of` is a thread of: they share caches, TLBs, predictors,
 * ports and bandwidth (smt.h).  Refused beyond smt.threads. */
int  core_create_thread(struct core **out, struct core *of, core_emit *emit, void *context, struct err *err);
unsigned core_hw_thread(const struct core *c);
/* Says how many of the core's hardware threads run; the others are halted. */
void core_smt_share(struct core *c, unsigned active);
/* The scripts that are made next are those of hardware thread c. */
void core_predicts(struct core *c);
void core_destroy(struct core *c);
/* Empties caches, predictors and queues, and sets the clock to `cycle`, so that another thread can use the
 * core. */
void core_reset(struct core *c, uint64_t cycle);

/* Runs one execution of `b`, which was left through exit `exit` (index into b->exit), with its slot values.
 * insns: number of instructions executed (b->exit[exit].insns, fewer for a block that was cut).
 * next_ip: address of the instruction that the thread executes next, which decides taken and target; 0 if it is
 * unknown (end of the thread, a signal): then the branch counts as not taken. */
void core_run_block(
	struct core *c, struct iblock *b, unsigned exit, unsigned insns, const uint64_t *slots, uint64_t next_ip);
/* The two halves of core_run_block, for two host threads.  core_script settles in program order what does not
 * depend on time, predictions included.  So one host thread may run ahead and write scripts (it alone uses the
 * predictors then) while another runs them.
 * script: room for core_script_room(b) words.  Returns how many words it has. */
size_t core_script(struct core *c, struct iblock *b, unsigned exit, unsigned insns, const uint64_t *slots,
	uint64_t next_ip, uint64_t *script);
static inline size_t core_script_room(const struct iblock *b)
{
	return 8 + 3 * (size_t)b->uops + b->insns + b->slots;
}
/* From now on scripts hold the wrong paths of mispredicted branches, as walked by w (walker.h), and take up to
 * CORE_SCRIPT_WALK words more.  The caller owns w, and tells it of each execution before core_script.  NULL: no
 * wrong paths any more. */
struct walker;
enum { CORE_SCRIPT_WALK = 2048 + 8 };
void core_set_walker(struct core *c, struct walker *w);
void core_run_script(struct core *c, const uint64_t *script);
/* Runs scripts in a queue of operations.  An operation's first word has its length in words in the low half and
 * its kind above that; the second word says whose it is; the script lies behind these.  Runs the script of
 * `op`, and of the operations with the same kind and owner that follow it, up to `end` or until *stop is not 0.
 * Returns the operation behind them. */
enum { SCRIPT_OP_WORDS = 2 };
const uint64_t *core_run_scripts(struct core *c, const uint64_t *op, const uint64_t *end, const uint64_t *stop);
/* The predictors' half of core_warm_block. */
void core_predict(struct core *c, struct iblock *b, unsigned exit, unsigned insns, uint64_t next_ip);
/* The memory's half of core_warm_block. */
void core_warm_memory(struct core *c, struct iblock *b, unsigned exit, unsigned insns, const uint64_t *slots);
/* Sampled runs keep a machine that only warms, the leader, and another one of the same description that is timed in
 * windows.  machine_leads comes before the leader's first core.  machine_copy and core_copy take over the leader's
 * caches, TLBs, prefetchers and predictors, while no script of these cores is left to be run; machine_pass tells the
 * leader, whose time stands still, that it is `cycle` now.  ERR_NOMEM. */
void machine_leads(struct machine *leader);
int  machine_copy(struct machine *to, const struct machine *leader, struct err *err);
void machine_pass(struct machine *leader, uint64_t cycle);
void core_copy(struct core *to, const struct core *leader);
/* A leader takes over what the predictors of another leader have learned, and what these have mispredicted.  The
 * machines are alike in all that predictors read (core_config_predict_alike). */
void core_copy_predictors(struct core *to, const struct core *from);
/* The leader takes over pages and lines that wrong paths of a timed core, in its last window, have brought into the
 * second-level TLB and L2. */
void core_feed_back(struct core *leader, const struct core *timed);
/* A window begins in mid-program: the core's ports are busy with uops of before, as `seed` says.  Ports are chosen by
 * how busy they are, so a steady loop repeats one of several patterns for as long as it runs.  If each window began
 * with idle ports, all would have the same one. */
void core_disturb(struct core *c, uint64_t seed);
/* The core begins as if its program had run for long: loads go ahead of stores of unknown address, which the leader
 * cannot learn, and which a core that is timed in windows alone would take long to learn. */
void core_seasoned(struct core *c);
/* The core takes over what another one's loads have learned of stores. */
void core_copy_loads(struct core *to, const struct core *from);
/* What the leader's core missed since it was made, as warming sees it: estimates of sampled runs use it. */
struct core_misses { uint64_t branches, loads, l1, l2, l3, walks; };	/* loads: of l1, those of loads */
struct core_misses core_warm_misses(const struct core *leader);
static inline void core_misses_add(struct core_misses *sum, const struct core_misses *of)
{
	sum->branches += of->branches;
	sum->loads += of->loads;
	sum->l1 += of->l1;
	sum->l2 += of->l2;
	sum->l3 += of->l3;
	sum->walks += of->walks;
}
/* Warms caches and TLBs with an access to this line of 64 bytes, made by nobody knows which instruction. */
void core_warm_line(struct core *c, uint64_t addr, bool code, bool written);
/* Whether its prefetchers see what core_warm_line does. */
void core_warm_prefetchers(struct core *c, bool on);
/* As core_run_block, but functionally only: warms caches, TLBs and predictors; no time passes and no records
 * are made. */
void core_warm_block(
	struct core *c, struct iblock *b, unsigned exit, unsigned insns, const uint64_t *slots, uint64_t next_ip);

/* As core_warm_block, for an execution that was not cut.  Returns how many instructions it completed. */
unsigned core_warm_whole(struct core *c, struct iblock *b, unsigned exit, const uint64_t *slots, uint64_t next_ip);
/* The two halves of core_warm_whole, which two host threads may do at once.  core_learn teaches the predictors n
 * executions that follow each other; next_ip: where the thread goes on behind the last one.  core_warm_rest does
 * everything else of one of a leader.  path: what core_learn needs of it, which lives as long as the block; NULL: only
 * core_warm_whole can do it, and nothing was done. */
struct warm_path;
struct core_warmed { const struct warm_path *path; uint64_t completed; };	/* instructions */
void core_learn(struct core *c, const struct warm_path *const *path, size_t n, uint64_t next_ip);
struct core_warmed core_warm_rest(struct core *c, struct iblock *b, unsigned exit, const uint64_t *slots);
/* As core_warm_block, but the predictors learn nothing: they are another leader's (core_copy_predictors). */
void core_warm_taught(struct core *c, struct iblock *b, unsigned exit, unsigned insns, const uint64_t *slots);

/* How often the block was warmed through this exit, as a whole, since the last call.  Returns the number of
 * instructions of such an execution. */
unsigned core_take_times(struct iblock *b, unsigned exit, uint64_t *times);
/* Was an execution like this one counted there? */
bool core_counts_times(const struct iblock *b, unsigned exit, unsigned insns);
/* Passes what is pending to `emit`.  last: the thread halts or ends here (batch.is_last). */
void core_flush(struct core *c, bool last);
/* Code in [addr, addr+bytes) changed or went away: uop cache and loop buffer forget it. */
void core_discard_code(struct core *c, uint64_t addr, uint64_t bytes);
/* Returns the cycle in which the last uop retired: the core's now.  It never decreases. */
uint64_t core_now(const struct core *c);
/* Returns the cycle in which the next slot would be allocated; it orders threads by time. */
uint64_t core_clock(const struct core *c);
/* Allocates nothing before `cycle`: the thread spins, unhalted. */
void core_hold(struct core *c, uint64_t cycle);
/* Writes all stores that have retired. */
void core_settle(struct core *c);
/* Blocks follow that the core is only warmed with: an elided region ends here, and nothing is said of it. */
void core_passes(struct core *c);
/* The thread leaves the core; another thread comes and begins at `cycle`, and batches go to `context` from then
 * on. */
void core_leave(struct core *c);
void core_switch_to(struct core *c, void *context, uint64_t cycle);
/* Halts until `cycle` (does nothing if that is past): the pipeline drains, and the cycles in between are not
 * CYCLES. */
void core_halt_until(struct core *c, uint64_t cycle);
/* An interrupt comes behind the last instruction: the pipeline drains; the handler takes `cycles`, which are
 * the kernel's and not CYCLES, and brings `lines` lines of code, and as many lines of data that it writes, into
 * the caches and TLBs. */
void core_interrupt(struct core *c, uint64_t cycles, unsigned lines);
/* As a serialising instruction behind the last one run: everything in flight completes and is passed to `emit`,
 * stores are written, and the next instruction is fetched behind that.  Its cycles are CYCLES. */
void core_serialize(struct core *c);
/* Notes in the records that a feature register was written here. */
void core_note_write(struct core *c, uint32_t msr, uint64_t value);
/* What goes into the batches; everything at first.  Neither timing nor a batch's `instructions` depends on it. */
struct core_wanted {
	uint64_t signal[2];	/* set of enum spmu_signal */
	uint64_t is, did;	/* uops that have one of these bits */
	/* TAKEN, MISPREDICTED and MISP_TARGET of squashed branches say how they were executed (the caller also
	 * calls walker_outcomes); else how they were predicted */
	bool outcomes;
	/* counts depend on denormal numbers, for which the tracer looks only if asked (run_options.assists) */
	bool assists;
	/* also details of each uop (detail.h); not for cores with several hardware threads.  Set before the
	 * first block */
	bool detail;
};
/* Everything that either of them asks for.  Whoever wants records says so by a function that returns the whole struct
 * (session_wanted, energy_wanted, ...), so that what it does not name is 0; none fills in a struct of its caller's. */
struct core_wanted core_wanted_both(struct core_wanted a, struct core_wanted b);
void core_want(struct core *c, const struct core_wanted *w);
/* Returns the instructions retired so far (as INST_RETIRED.ANY counts, in the timed part only). */
uint64_t core_instructions(const struct core *c);
#endif
