/* SPDX-License-Identifier: GPL-2.0-or-later
 * One core's pipeline: the state that its units share.  Private to src/core/.
 *
 * Every unit is a set of timestamps.  A slot (fused-domain uop) passes, in this order and once:
 * frontend.h (delivery into the uop queue), rename.h (allocation), then each of its uops scheduler.h (port and
 * dispatch) and lsq.h (memory), then retirement in core.c.  What is hot lies in the header of the unit, inline;
 * what is rare in its .c file.
 */
#ifndef CORE_PIPELINE_H
#define CORE_PIPELINE_H
#include "core/predict/bpred.h"
#include "core/machine/config.h"
#include "core/core.h"
#include "core/record/emit.h"
#include "core/memory/memsys.h"
#include "core/older/older.h"
#include "core/backend/memory_pairs.h"
#include "isa/isa.h"
#include <stddef.h>

#ifndef CORE_SMT
#define CORE_SMT 0	/* 1: compiled for cores with several hardware threads, too (smt.h) */
#endif

#define UNLIKELY(x) __builtin_expect(!!(x), 0)
#define LIKELY(x) __builtin_expect(!!(x), 1)

static inline uint64_t max64(uint64_t a, uint64_t b) { return a > b ? a : b; }
static inline uint64_t min64(uint64_t a, uint64_t b) { return a < b ? a : b; }

/* --- front end --- */
enum fe_path { FE_DSB, FE_MITE, FE_MS, FE_LSD, FE_NONE /* after a redirect: not known yet */ };

struct dsb_entry {		/* what the uop cache holds of one window */
	uint64_t window;	/* code address / window bytes; all ones: empty */
	uint64_t mask;		/* bit i: an instruction that starts at byte i is here */
	uint64_t look;		/* bit i: it begins a line, or takes two places of one */
	uint32_t stamp;		/* of its last use */
	uint8_t  lines;		/* lines it takes */
	uint8_t  last;		/* slots in the last of them */
	bool     over;		/* nothing of it is held: more lines than a window may have (field dsb.halves) */
	uint8_t  held;		/* its first bytes whose instructions the last line of the window before holds (field dsb.straddle) */
};

struct frontend {
	uint64_t cycle;		/* delivery is at this cycle */
	uint32_t room;		/* slots that may still be delivered in it */
	uint32_t width;		/* of the current path */
	uint64_t window;	/* being delivered from; all ones: look up the next instruction's */
	uint64_t base;		/* its first byte */
	uint64_t mask;		/* instructions of it that need no further look (bit per byte); 0 while decoding */
	uint64_t predicted, predicted_line;	/* predict.ahead: cycle of the last line that branch prediction covered, its number */
	uint64_t *pair;		/* predict.pairs: beginnings of code that it knows as the second of a pair, by their low bits; NULL: none */
	bool pairs, paired;	/* this code is the first of its cycle, so what a taken branch leads to may be its second; it is a second */
	bool fresh, alone;	/* no line of this window was read yet; none of another may be in that cycle (predict.pairs) */
	bool straddles, begins;	/* decoding came straight on from the window before, whose last line has room; from a taken branch */
	uint32_t reads;		/* dsb.rereads: lines of this window before the last that was read */
	uint64_t read_cycle;	/* likewise, of the first line of its last read */
	uint64_t did;		/* bits for the next uop record: icache and ITLB misses */
	uint64_t did_path;	/* FROM_* bit of the path */
	uint64_t waited, waited_memory, waited_l3, waited_tlb;	/* cycles so far that fetch waited for L1I; for memory, for L3 among these; for the TLB */
	uint32_t path, base_path;	/* enum fe_path; base_path: where MS returns to */
	uint32_t window_log2, window_mask, line_log2;
	/* legacy decode */
	uint64_t pd;		/* predecode is at this cycle */
	uint64_t pd_block, pd_line;	/* fetch block and line it is at; all ones: none */
	uint64_t group_cycle;	/* decode group: its cycle, and decoders used in it */
	uint32_t group, pd_count, pd_lead, fetch_log2;
	/* uop cache */
	struct dsb_entry *dsb;	/* sets x ways */
	uint32_t dsb_stamp;
	uint32_t fill_lines;		/* lines begun in the window being decoded, straight on */
	uint32_t lines, wide;		/* lines: read in line_cycle; wide: INSN_WIDE, or 0 */
	uint64_t line_cycle;
	struct dsb_entry *entry;	/* being delivered from; NULL: none */
	uint64_t lcp_last;	/* address of the instruction decoded last; of its 32 bytes: */
	uint32_t lcp_first, lcp_second;	/* the last in the first half is a fusible_lcp; so many in the second are */
	uint32_t ms_end;	/* ms.drain: rename's pos of the last slot of the instruction that was microcoded last */
	/* loop buffer */
	uint64_t loop_branch, loop_hash, loop_hash_now;
	uint64_t loop_first, loop_last;	/* its windows */
	uint32_t loop_slots, loop_slots_now, loop_count;
	bool loop_active, loop_buffer;	/* loop_buffer: the core has one */
	uint32_t idq_back;		/* uop queue: idq.size in steps of rename's pos */
	uint16_t dsb_hint[256];	/* uop cache: entry in which a window was last found, by its low bits; last (wrongpath.c) */
};

/* --- rename, reorder buffer, load buffer --- */
enum { SLOT_RING = 1024, SLOT_STEP = 8 /* bytes of an entry */, LOAD_RING = 512, RESULT_RING = 512, RETIRE_SHIFT = 5 };	/* at least rob.size and idq.size; load_buffer.size; prf.integer; log2 of more than retire.width */
struct rename {
	uint64_t cycle;		/* earliest cycle with an issue slot left */
	uint32_t used, width;	/* slots used in it */
	uint32_t slot;		/* which of its cycle's the slot being allocated is */
	uint32_t frontend_latency, dispatch_delay;
	uint64_t barrier;	/* nothing is allocated before */
	uint64_t bubble_floor;	/* empty slots before are not the front end's: recovery, halt */
	uint32_t rob_back, lb_size;	/* rob_back: rob.size in steps of pos */
	uint32_t pos;		/* of the slot being allocated: their number since the core was created, low bits, times SLOT_STEP */
	uint32_t loads;		/* likewise, of the next load */
	uint32_t results, prf_size;	/* likewise, of the next result that takes an integer register; prf.integer */
	/* rings of slots, of as many entries as the core needs (less of the host's L1D): bytes less SLOT_STEP */
	uint32_t alloc_mask, free_mask;
	uint64_t alloc[SLOT_RING];	/* when the slot left the uop queue */
	uint64_t free[SLOT_RING];	/* from when its reorder-buffer entry is free */
	uint64_t lb[LOAD_RING];	/* of each load: from when its entry is free */
	uint64_t prf[RESULT_RING];	/* of each integer result: from when there is a register for one that much later */
};

/* --- scheduler --- */
enum { SCHED_WINDOW = 4096, SCHED_PORTS = 16, SCHED_POOLS = 3, SCHED_FAR = 1024, UNIT_RESERVATIONS = 512 /* more than the schedulers hold */, UNITS = 8 };

struct unit {			/* a non-pipelined unit: when it is taken; in order, apart */
	uint32_t count;
	struct { uint64_t begin, end; } taken[UNIT_RESERVATIONS];
};

struct port_choice {		/* ports of a mask; 64 bytes */
	/* for the first eight of them: what a byte shuffle makes 16-bit lanes of port counts with, and the lanes' low bytes */
	_Alignas(64) uint8_t shuffle[16];
	uint8_t low[16];
	uint8_t port[CORE_SCHEDULER_PORTS];
	uint8_t count, pad;
	uint64_t lane, entry;	/* in `free`: the pool's bits, one entry of it */
};
_Static_assert(sizeof(struct port_choice) == 64, "a cache line");

struct sustain {		/* sustain.rate, sustain.memory_rate; scheduler.h */
	uint32_t ports, queue;	/* queue: as sustained.waits */
	struct sustained { uint32_t rate, waits; } all, memory;	/* uops in 1000 cycles; thousandths of a uop that were dispatched and wait */
	uint16_t slow[SCHED_WINDOW];	/* by cycle as scheduler.used: ports that a DOMAIN_SLOW uop has taken */
};

struct scheduler {
	uint64_t walk;		/* dispatches before this cycle are done with */
	_Alignas(16) uint8_t pending[SCHED_PORTS];	/* uops allocated and not dispatched by the cycle before last, of each port */
	_Alignas(16) uint8_t late[SCHED_PORTS];	/* of them, those that were dispatched in the last cycle */
	_Alignas(16) uint8_t counts[SCHED_PORTS];	/* pending when this cycle began */
	struct { uint64_t from, to; } run[SCHED_PORTS];	/* a stretch of cycles in which the port is known to be taken */
	uint64_t free;			/* entries: 16 bits a pool, never below 0; of the common one group_room / 2 more than there are,
				 * because slots of two uops may take more than their group asked for */
	uint32_t group_room;		/* fewer free than that: no group of slots may begin; 0: always */
	uint32_t far_count, port_mask, pools, loads;	/* loads: counts round the load ports */
	uint32_t quick;		/* cycles by which `walk` may go on without a closer look: 1; with struct sustain: 0 */
	uint64_t far_first;	/* least cycle in far[]; all ones if empty */
	uint16_t pool_ports[SCHED_POOLS];
	struct port_choice *choice;	/* by mask of ports */
	struct { uint64_t bytes, entries; } spread[2][256];	/* mask of ports 0 to 7, 8 to 15: 8 bytes of 0 and 1; the same as lanes of `free` */
	_Alignas(16) uint8_t one[SCHED_PORTS][SCHED_PORTS];	/* 1 in the port's byte */
	uint16_t used[SCHED_WINDOW];	/* ports taken in a cycle */
	struct unit unit[UNITS];		/* by unit_of */
	struct { uint64_t cycle; uint32_t port; } far[SCHED_FAR];	/* dispatches beyond the window */
	struct sustain sustain;
};

/* Which of scheduler.unit a uop blocks. */
static inline unsigned unit_of(const struct uop *u, unsigned port)
{
	return u->unit == UNIT_FPDIVS ? UNIT_FPDIVS + (port & 3) : u->unit;
}

/* --- what rename does itself (eliminate.h) --- */
enum { COPIES_MAX = 8 };	/* eliminate.slots */
struct copied {			/* a register of several names */
	uint64_t ready, since;	/* since: allocation of the first copy */
	uint64_t names, name;	/* bits of those it had; one that it still has, as far as is known */
};
struct copies {			/* of a register file */
	uint64_t recent[3];	/* the last cycles in which copies were eliminated, and how many: cycle << 8 | copies */
	uint32_t count;
	struct copied copied[COPIES_MAX];
};
struct eliminate {
	uint32_t slots, cycles, least;	/* least: names of a general register that count */
	int constants;
	struct copies file[2];	/* general, vector */
	struct { uint64_t ready; int constant; } sum[REG_COUNT];	/* added to the register that was ready then */
};

/* --- bypass delays (bypass.h) --- */
struct bypass {
	uint32_t delay, ports, fp_add;
	uint64_t made[32];	/* of each vector register: ready cycle << 2 | enum uop_domain */
};

/* --- pieces of registers (partial_regs.h) --- */
struct partial {		/* sets of RAX, RCX, RDX, RBX, a bit each */
	bool on, apart, general, done;	/* general: no script goes the short way; done: partial_done wants to know */
	uint8_t ahead;		/* high bytes apart, as of the last script made */
	uint8_t dirty;		/* likewise of the last instruction run; partial.stall: bytes */
	uint8_t byte, zeroed;	/* bytes that the instruction under way writes; registers cleared */
	uint8_t latency, stall;
	uint16_t ports;
	bool flags;		/* partial.flags_stall */
	uint8_t flags_kept;	/* flags (1 REG_FLAGS, 2 REG_CARRY) that the last instruction to write some has, or may have, left as they were */
	bool flags_write;	/* the instruction under way writes some */
	uint64_t flags_retired;	/* when the last that did had retired */
	uint64_t below[4], retired[4];	/* when the rest of the register was ready; when the byte's writer retired */
};

/* --- load and store queues --- */
enum { SQ_BUCKETS = 512, MDP_ENTRIES = 256, BANK_RING = 64, SQ_INDEXED = 64 /* bytes of a store that the buckets follow */ };

struct store {			/* 64 bytes */
	uint64_t addr, ip;
	uint64_t addr_ready;	/* first dispatch cycle of a load that sees the address */
	uint64_t data_ready;
	uint64_t retire;	/* lower bound until it is known */
	uint64_t commit;	/* written to L1D; known from sq.head on back */
	uint32_t size;
	bool done;		/* an access is made */
	bool non_temporal;
	bool many;		/* touches more than two buckets: `older` knows the first two only */
	uint32_t older[2];	/* what its first and second bucket held before: 1 + number of an older store */
};

struct lsq {
	uint32_t head, tail;	/* stores are numbered; head: oldest not committed; tail: next */
	uint32_t mask, sb_size;	/* ring's size - 1 */
	uint32_t commit_width, commit_count;
	uint32_t big;		/* 1 + number of the last store too large for the buckets */
	uint32_t slot_tail;	/* tail when the slot began */
	bool wants_data;	/* the newest store's data uop has not come yet */
	bool lock_slot;		/* the slot holds a locked store */
	uint64_t last_commit;	/* cycle of the last commit */
	uint64_t advanced;	/* stores that leave the buffer later do so behind this cycle */
	uint64_t addr_known;	/* latest addr_ready of all stores */
	uint64_t load_floor;	/* no load dispatches before: locks */
	uint64_t lock_begin;
	uint32_t commit_delay, forward_latency, forward_blocked, alias_penalty, l1d_latency, mdp_limit, lock_penalty;
	uint8_t mdp[MDP_ENTRIES];
	/* loads that may take the stored register, and banks; see lsq_load_more */
	uint64_t alias_mask;
	bool same_start;
	uint64_t given[256];	/* of each store: when its data uop had its operand */
	uint32_t forwarded;	/* 1 + number of the store that the last load took its data from; 0: of none */
	uint64_t base[256];	/* rename_stores: cycle of each store's base register, which tells whether it was written since */
	uint8_t named[256];	/* and the registers of its address, as enum uop_load has them */
	uint64_t next_forward;	/* forward.gap: cycle from which on a load may be forwarded to */
	uint32_t rename_stores, forward_vector_extra, forward_gap, commit_line;
	uint64_t last_line;	/* of the last commit */
	uint32_t rename_limit;
	struct pair pair[PAIRS];
	struct { uint64_t cycle, addr; uint32_t size; } bank[BANK_RING];
	uint32_t bucket[SQ_BUCKETS];	/* 1 + number of the newest store to these 8 bytes (mod 4096) */
	struct store store[256];
};

/* --- REP string in flight --- */
enum { REP_UOPS = 32 };
struct rep {
	bool active, started;	/* started: the uops ahead of the rounds have gone */
	bool pending;		/* a round is waiting to grow or go */
	uint64_t addr;		/* of the instruction */
	struct insn insn;
	struct uop uop[REP_UOPS];
	uint64_t at[REP_UOPS];	/* addresses of the waiting round */
	uint32_t bytes;		/* it moves */
};

/* --- machine clears, assists (clears.h) --- */
struct watched { uint64_t ip, addr, complete; };
enum uppers { UPPERS_CLEAN, UPPERS_USED, UPPERS_SAVED };	/* halves of the vector registers */
struct clears {
	bool saves_uppers;	/* assist.sse_avx; as of the last script made: */
	uint8_t uppers;
	bool watching;		/* loads are remembered: other cores have taken lines */
	bool pending;		/* a clear waits for the next instruction */
	enum spmu_signal signal;	/* which; whose access it was: */
	uint64_t ip, addr;
	struct watched load[LOAD_RING];	/* as rename.lb */
};

/* Runs the steps of a script: steps.c.  only_branches: no other records are wanted. */
typedef void core_steps_way(struct core *c, const uint64_t *script);
enum steps_for { STEPS_ALL, STEPS_QUIET, STEPS_WRONG /* of the wrong path: from its first word on */, STEPS_WRONG_QUIET };
core_steps_way *core_steps(enum steps_for what);
core_steps_way *core_steps_sse4(enum steps_for what);	/* NULL: not built */
core_steps_way *core_steps_watched(enum steps_for what);	/* loads are remembered (clears.h) */
core_steps_way *core_steps_smt(enum steps_for what);	/* the same, cycles are shared (smt.h) */
void core_choose_steps(struct core *c);

/* --- the wrong path (wrongpath.h) --- */
enum { WRONG_LOG = 2048 };
struct wrong {
	uint64_t resolve;	/* cycle in which its branch is found mispredicted */
	uint64_t reach;		/* the same, or the end of the scheduler's window if that comes first */
	uint64_t entries;	/* scheduler entries of uops that wait to be dispatched */
	uint32_t stores;	/* number of its first store */
	uint32_t logged;
	uint8_t waiting[SCHED_PORTS];	/* uops that wait, by port */
	bool on;
	bool full;		/* the log is */
	bool walks, tlb;	/* fields wrong_path.walks, wrong_path.tlb */
	const uint64_t *at;	/* where it ended */
	/* as it was before */
	uint64_t reg[REG_COUNT + 1];
	struct frontend fe;
	struct { uint64_t cycle, barrier, bubble_floor; uint32_t used, slot, pos, loads; } rn;
	struct { uint64_t addr_known, load_floor; uint32_t big, slot_tail, forwarded; bool wants_data; } q;
	struct eliminate el;
	struct bypass by;
	struct older old;
	uint32_t most_slots, most_loads;	/* that can be told apart from the right path's, in the rings */
	uint32_t most_quick;	/* slots, likewise, whose reorder-buffer entry was the right path's */
	struct { uint32_t bucket, was; } log[WRONG_LOG];	/* of the store queue */
	struct store store[256];	/* those that the wrong path's have taken the place of */
	uint64_t given[256];
};

/* What every step reads and writes comes first, as near together as can be: two of them a multiple of 4 KB apart would make the host
 * take a load of the one for a load of what was just stored in the other.  rename, scheduler and lsq begin with theirs. */
enum { CORE_APART = 64 };	/* bytes of a line of the host's caches */
struct core {
	struct frontend fe;
	uint64_t reg[REG_COUNT + 1];	/* cycle at which each register is ready; one more to write to (block_plan.h) */
	uint64_t retire_next;	/* cycle in which the last slot retired, and above RETIRE_SHIFT bits of how many did in it; e.now: the cycle */
	uint32_t retire_width, retire_latency;
	uint64_t instructions;
	core_steps_way *steps, *wrong_steps;	/* of this host, for what is wanted */
	struct {		/* core_run_scripts; end NULL: it is not that which runs */
		const uint64_t *end, *stop, *next;
		core_steps_way *steps;
	} follow;
	struct memsys *mem;
	struct emitter e;
	struct rename rn;
	struct scheduler sc;
	struct lsq q;
	struct rep rep;
	struct older old;
	struct partial pa;
	struct eliminate el;
	struct bypass by;
	struct clears cl;
	struct core_config config;
	struct machine *machine;
	struct smt_thread *st;	/* smt.h; NULL: the core has one hardware thread */
	core_steps_way *smt_steps;	/* of it */
	uint16_t *walked;	/* walker_ran */
	/* Of the thread that makes scripts, with a line of the host's caches of its own: beside what each script writes in the cores' thread, every branch
	 * fetched the line from there, and took it away from there. */
	_Alignas(CORE_APART) struct bpred *bp;
	struct walker *walker;	/* NULL: no wrong path */
	uint64_t predicted;	/* where the last mispredicted branch was predicted to go */
	_Alignas(CORE_APART) struct wrong wrong;
};
_Static_assert((offsetof(struct core, sc) & 4095) - (offsetof(struct core, rn) & 4095) < 256 &&
               (offsetof(struct core, q) & 4095) + 256 < 4096, "what is hot does not meet modulo 4 KB");

struct machine {
	struct core_config config;
	struct memsys_shared *shared;
};

/* Runs of emit_grow */
enum { RUN_BUBBLE, RUN_ROB, RUN_RS, RUN_LB, RUN_SB };

/* A branch or clear at `resolve` restarts fetch. */
void core_redirect(struct core *c, uint64_t resolve);

/* A branch was executed, and its word in the script says more than the way it went (SCRIPT_UNUSUAL): steers the front end.  went: where it
 * went.  Returns its record's bits. */
uint64_t frontend_branch_unusual(struct core *c, const struct insn *br, uint64_t word, uint64_t went, uint64_t complete);
/* The wrong path behind the branch that was just executed.  w: its word. */
void core_wrong_path(struct core *c, const uint64_t *w);
/* An instruction of it that goes the general way.  Returns the word behind it; NULL: the wrong path ends here. */
const uint64_t *core_wrong_general(struct core *c, const uint64_t *w);

/* An instruction of a script goes the general way.  end: what lies behind the script's end. */
void core_step_general(struct core *c, const uint64_t *word, const uint64_t *end);
/* The script begins with the REP instruction that is in flight. */
bool core_rep_goes_on(const struct core *c, const uint64_t *script);
void core_drain(struct core *c);	/* everything is done; no cycle passes for that */
int  older_init(struct core *c, struct err *err);
void older_release(struct core *c);
void older_reset(struct core *c);
int  frontend_init(struct core *c, struct err *err);
void frontend_release(struct core *c);
void frontend_reset(struct core *c, uint64_t cycle);
void frontend_forget(struct core *c);	/* timing state only: the next instruction starts anew */
void frontend_discard(struct core *c, uint64_t addr, uint64_t bytes);
void rename_reset(struct core *c, uint64_t cycle);
void rename_rings(struct core *c, bool wrong);	/* wrong: there may be wrong paths; before the first slot */
int  scheduler_init(struct core *c, struct err *err);
void scheduler_release(struct core *c);
void scheduler_reset(struct core *c, uint64_t cycle);
void lsq_reset(struct core *c, uint64_t cycle);
void rep_run(struct core *c, const struct iblock *b, unsigned i, const uint64_t *slots, unsigned nslots, uint64_t next_ip);
void rep_end(struct core *c, bool leave);	/* leave: it has ended; else it was broken off and does not retire */
/* One instruction through the whole pipeline.  at: address of each of its uops; stays: more of it follows. */
void core_run_insn(struct core *c, const struct insn *in, const struct uop *u, unsigned uops, const uint64_t *at, bool stays);
#endif
