/* SPDX-License-Identifier: GPL-2.0-or-later
 * One core's pipeline: the state that its units share.  Private to src/core/.
 *
 * Every unit is a set of timestamps.  A slot (a uop of the fused domain) passes once, in this order, through
 * frontend.h (delivery into the uop queue) and rename.h (allocation); then each of its uops through scheduler.h
 * (port and dispatch) and lsq.h (memory); then the slot through retire.h.  stages.h joins these.  What is hot
 * is inline in the header of the unit; what is rare is in its .c file.
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
#define CORE_SMT 0	/* 1: also compiled for cores with several hardware threads (smt.h) */
#endif

#define UNLIKELY(x) __builtin_expect(!!(x), 0)
#define LIKELY(x) __builtin_expect(!!(x), 1)

static inline uint64_t max64(uint64_t a, uint64_t b) { return a > b ? a : b; }
static inline uint64_t min64(uint64_t a, uint64_t b) { return a < b ? a : b; }

/* --- front end --- */
enum fe_path { FE_DSB, FE_MITE, FE_MS, FE_LSD, FE_NONE /* after a redirect: not known yet */ };

struct dsb_entry {		/* what the uop cache holds of one window of code */
	uint64_t window;	/* code address / window bytes; all ones: empty */
	uint64_t mask;		/* bit i: an instruction that starts at byte i is here */
	uint64_t look;		/* bit i: that instruction begins a line, or takes two places of one */
	uint32_t stamp;		/* of its last use */
	uint8_t  lines;		/* lines it takes */
	uint8_t  last;		/* slots in the last of them */
	/* the window needs more lines than it may have, so nothing of it is held (field dsb.halves) */
	bool     over;
	/* the last line of the window before holds the instructions in this many first bytes (field
	 * dsb.straddle) */
	uint8_t  held;
};

enum { PREDICT_RING = 64 };	/* at least predict.ahead; a power of two */
struct frontend {
	uint64_t cycle;		/* delivery is at this cycle */
	uint32_t room;		/* slots that may still be delivered in it */
	uint32_t width;		/* of the current path */
	uint64_t window;	/* being delivered from; all ones: the next instruction's must be looked up */
	uint64_t base;		/* its first byte */
	uint64_t mask;		/* instructions of it that need no further look (a bit a byte); 0 while decoding */
	/* predict.ahead: the last line that branch prediction covered: its cycle, its number.  delivered: when
	 * delivery of the line before that one ended, by predicted_count, and so on for the lines before */
	uint64_t predicted, predicted_line, delivered[PREDICT_RING];
	uint32_t predicted_count;
	/* predict.pairs: a table, by low bits of the address, of code that branch prediction knows as the
	 * second of a pair; NULL: none */
	uint64_t *pair;
	/* pairs: this code is the first of its cycle, so the code that a taken branch leads to may be its
	 * second.  paired: this code is a second */
	bool pairs, paired;
	/* fresh: no line of this window has been read.  alone: no line of another window may be read in that
	 * cycle (predict.pairs) */
	bool fresh, alone;
	/* straddles: decoding came straight on from the window before, whose last line has room.  begins: it
	 * came from a taken branch */
	bool straddles, begins;
	uint32_t reads;		/* dsb.rereads: lines of this window that were read before the last one */
	uint64_t read_cycle;	/* dsb.rereads: cycle of the first line of its last read */
	uint64_t did;		/* bits for the next uop record: misses of L1I and the ITLB */
	uint64_t did_path;	/* FROM_* bit of the path */
	/* cycles so far that fetch waited: for L1I; for memory and for L3 among these; for the TLB */
	uint64_t waited, waited_memory, waited_l3, waited_tlb;
	uint32_t path, base_path;	/* enum fe_path; base_path: the path that MS returns to */
	uint32_t window_log2, window_mask, line_log2;
	/* legacy decode */
	uint64_t pd;		/* predecode is at this cycle */
	uint64_t pd_block, pd_line;	/* fetch block and cache line that it is at; all ones: none */
	uint64_t group_cycle;	/* decode group: its cycle, and the decoders used in it */
	uint32_t group, pd_count, pd_lead, fetch_log2;
	/* uop cache */
	struct dsb_entry *dsb;	/* sets x ways */
	uint32_t dsb_stamp;
	/* lines begun in the window that is being decoded, without a branch in between */
	uint32_t fill_lines;
	uint32_t lines, wide;		/* lines: those read in line_cycle; wide: INSN_WIDE, or 0 */
	uint64_t line_cycle;
	struct dsb_entry *entry;	/* being delivered from; NULL: none */
	uint64_t lcp_last;	/* address of the instruction decoded last; in its 32 bytes: */
	/* first: the last instruction in the first half is a fusible_lcp; second: so many in the second half
	 * are */
	uint32_t lcp_first, lcp_second;
	uint32_t ms_end;	/* ms.drain: rename.pos of the last slot of the last microcoded instruction */
	/* loop buffer */
	uint64_t loop_branch, loop_hash, loop_hash_now;
	uint64_t loop_first, loop_last;	/* its first and last window */
	uint32_t loop_slots, loop_slots_now, loop_count;
	bool loop_active, loop_buffer;	/* loop_buffer: the core has one */
	uint32_t idq_back;		/* size of the uop queue in steps of rename.pos */
	/* uop cache: entry in which a window was last found, by the window's low bits.  Last member
	 * (wrongpath.c) */
	uint16_t dsb_hint[256];
};

/* --- rename, reorder buffer, load buffer --- */
/* Sizes are at least: SLOT_RING rob.size and idq.size, LOAD_RING load_buffer.size, RESULT_RING prf.integer.
 * RETIRE_SHIFT: 2 to that power is more than retire.width */
enum { SLOT_RING = 1024, SLOT_STEP = 8 /* bytes of an entry */, LOAD_RING = 512, RESULT_RING = 512, RETIRE_SHIFT = 5 };
struct rename {
	uint64_t cycle;		/* earliest cycle with an allocation slot left */
	uint32_t used, width;	/* slots used in it */
	/* so many slots more wait for nothing if they are delivered by quick_until (rename_look) */
	uint32_t quick;
	uint64_t quick_until;
	bool never_quick;	/* each slot of a cycle may change what the next one finds (ports.binding) */
	uint32_t slot;		/* number of the slot being allocated in its cycle */
	uint32_t frontend_latency, dispatch_delay;
	uint64_t barrier;	/* nothing is allocated before this cycle */
	uint64_t serial;	/* as barrier, as far as instructions serialise */
	uint64_t bubble_floor;	/* empty slots before this cycle are not the front end's: recovery, halt */
	uint32_t rob_back, lb_size;	/* rob_back: rob.size in steps of pos */
	/* number of the slot being allocated, counted since the core was created, times SLOT_STEP, modulo 2^32 */
	uint32_t pos;
	uint32_t loads;		/* number of the next load */
	bool resteered;		/* fetch was redirected, and no slot has waited for it yet */
	uint32_t results, prf_size;	/* number of the next result that takes an integer register; prf.integer */
	/* rings of slots, with as many entries as the core needs (so that they take less of the host's L1D):
	 * bytes less SLOT_STEP */
	uint32_t alloc_mask, free_mask;
	uint64_t alloc[SLOT_RING];	/* cycle in which the slot left the uop queue */
	uint64_t free[SLOT_RING];	/* cycle from which its reorder-buffer entry is free */
	uint64_t lb[LOAD_RING];	/* of each load: cycle from which its entry is free */
	/* of each integer result: cycle from which its register is free for the result that comes prf.integer
	 * later */
	uint64_t prf[RESULT_RING];
};

/* --- scheduler --- */
/* UNIT_RESERVATIONS: more than the schedulers hold */
enum { SCHED_WINDOW = 4096, SCHED_PORTS = 16, SCHED_POOLS = 3, SCHED_FAR = 1024, UNIT_RESERVATIONS = 512, UNITS = 8 };

struct unit {			/* a non-pipelined unit: when it is taken, in order, without overlap */
	uint32_t count;
	struct { uint64_t begin, end; } taken[UNIT_RESERVATIONS];
};

struct port_choice {		/* ports of a mask; 64 bytes */
	/* for its first eight ports: a byte shuffle that puts their counts in 16-bit lanes, and the lanes' low
	 * bytes */
	_Alignas(64) uint8_t shuffle[16];
	uint8_t low[16];
	uint8_t port[CORE_SCHEDULER_PORTS];
	uint8_t count, pad;
	uint64_t lane, entry;	/* in scheduler.free: the pool's bits, and one entry of it */
};
_Static_assert(sizeof(struct port_choice) == 64, "a cache line");

struct sustain {		/* sustain.rate, sustain.memory_rate; scheduler.h */
	uint32_t ports, queue;	/* queue: in the unit of sustained.waits */
	/* rate: uops in 1000 cycles; waits: thousandths of a uop that were dispatched and wait */
	struct sustained { uint32_t rate, waits; } all, memory;
	uint16_t slow[SCHED_WINDOW];	/* by cycle, as scheduler.used: ports that a DOMAIN_SLOW uop has taken */
};

struct scheduler {
	uint64_t walk;		/* dispatches before this cycle have given their entries back */
	/* of each port: uops that were allocated and had not been dispatched by the cycle before last */
	_Alignas(16) uint8_t pending[SCHED_PORTS];
	_Alignas(16) uint8_t late[SCHED_PORTS];	/* of those, the ones that were dispatched in the last cycle */
	_Alignas(16) uint8_t counts[SCHED_PORTS];	/* `pending` as of the beginning of this cycle */
	struct { uint64_t from, to; } run[SCHED_PORTS];	/* a stretch of cycles in which the port is known to be taken */
	/* free entries, 16 bits a pool, never below 0.  The common pool has group_room / 2 more than the
	 * machine, because slots of two uops may take more than their group asked for */
	uint64_t free;
	/* with fewer free entries than this no group of slots may begin; 0: it always may */
	uint32_t group_room;
	uint32_t far_count, port_mask, pools, loads;	/* loads: the next load port, in turn */
	/* cycles by which scheduler_advance may move `walk` on the quick way: 1; with struct sustain: 0 */
	uint32_t quick;
	uint64_t far_first;	/* least cycle in far[]; all ones if it is empty */
	uint16_t pool_ports[SCHED_POOLS];
	struct port_choice *choice;	/* by mask of ports */
	const struct port_choice *load_choice;	/* that of the last load */
	/* by mask of ports 0 to 7, and of ports 8 to 15: 8 bytes of 0 or 1; the same as lanes of `free` */
	struct { uint64_t bytes, entries; } spread[2][256];
	_Alignas(16) uint8_t one[SCHED_PORTS][SCHED_PORTS];	/* a 1 in the port's byte */
	uint16_t used[SCHED_WINDOW];	/* ports taken in a cycle */
	uint16_t again[SCHED_WINDOW];	/* of those, the ones that a load takes a second time, without an entry */
	struct unit unit[UNITS];		/* by unit_of */
	struct { uint64_t cycle; uint32_t port; } far[SCHED_FAR];	/* dispatches beyond the window */
	struct sustain sustain;
};

/* Index in scheduler.unit of the unit that the uop blocks. */
static inline unsigned unit_of(const struct uop *u, unsigned port)
{
	return u->unit == UNIT_FPDIVS ? UNIT_FPDIVS + (port & 3) : u->unit;
}

/* --- what rename does itself (eliminate.h) --- */
enum { COPIES_MAX = 8 };	/* eliminate.slots */
struct copied {			/* a value that several registers name */
	uint64_t ready, since;	/* since: when the first copy was allocated */
	/* names: the set of registers that named it.  name: one that still does, as far as is known */
	uint64_t names, name;
};
struct copies {			/* of one register file */
	uint64_t recent[3]; /* the last cycles in which copies were eliminated, and how many: cycle << 8, plus copies */
	uint32_t count;
	struct copied copied[COPIES_MAX];
};
struct eliminate {
	uint32_t slots, cycles, least;	/* least: so many names make a general register's value count */
	int constants;
	struct copies file[2];	/* general, vector */
	/* the constant that was added to the register that was ready then */
	struct { uint64_t ready; int constant; } sum[REG_COUNT];
};

/* --- bypass delays (bypass.h) --- */
struct bypass {
	uint32_t delay, ports, fp_add;
	uint64_t made[32];	/* of each vector register: ready cycle << 2, and in the low bits enum uop_domain */
};

/* --- pieces of registers (partial_regs.h) --- */
struct partial {		/* its uint8_t sets have a bit each for RAX, RCX, RDX, RBX */
	/* general: all instructions go the general way; done: partial_done has something to do */
	bool on, apart, general, done;
	uint8_t ahead;		/* high bytes that are apart behind the last script made */
	uint8_t dirty;		/* the same behind the last instruction run; with partial.stall: bytes written */
	/* byte: bytes that the instruction under way writes; zeroed: registers that were cleared */
	uint8_t byte, zeroed;
	uint8_t latency, stall;
	uint16_t ports;
	bool flags;		/* partial.flags_stall */
	/* flags (1 REG_FLAGS, 2 REG_CARRY) that the last instruction to write some left as they were, or may
	 * have left so */
	uint8_t flags_kept;
	bool flags_write;	/* the instruction under way writes flags */
	uint64_t flags_retired;	/* when the last instruction that did had retired */
	/* below: when the rest of the register was ready; retired: when the instruction that wrote the byte
	 * retired */
	uint64_t below[4], retired[4];
};

/* --- load and store queues --- */
/* SQ_INDEXED: the longest store, in bytes, that the buckets follow */
enum { SQ_BUCKETS = 512, MDP_ENTRIES = 256, BANK_RING = 64, SQ_INDEXED = 64 };

struct store {			/* 64 bytes */
	uint64_t addr, ip;
	uint64_t addr_ready;	/* a load that is dispatched in this cycle or later sees the address */
	uint64_t data_ready;
	uint64_t retire;	/* a lower bound until it is known */
	uint64_t commit;	/* when it was written to L1D; known of stores before lsq.head */
	uint32_t size;
	bool done;		/* an access is made */
	bool non_temporal;
	uint8_t flush;		/* enum uop_flush: it is no store, but flushes these bytes */
	bool many;		/* it touches more than two buckets: `older` knows the first two only */
	uint32_t older[2];	/* what its first and second bucket held before: 1 + number of an older store */
};

struct lsq {
	uint32_t head, tail;	/* numbers of stores; head: the oldest that is not committed; tail: the next */
	uint32_t mask, sb_size;	/* ring size - 1; store-buffer entries */
	uint32_t commit_width, commit_count;
	uint32_t big;		/* 1 + number of the last store too large for the buckets */
	uint32_t slot_tail;	/* `tail` when the slot began */
	bool wants_data;	/* the data uop of the newest store has not come yet */
	bool lock_slot;		/* the slot holds a locked store */
	uint64_t last_commit;	/* cycle of the last commit */
	uint64_t advanced;	/* stores that leave the buffer from now on do so behind this cycle */
	uint64_t addr_known;	/* the latest addr_ready of all stores */
	uint64_t load_floor;	/* no load is dispatched before this cycle: locks */
	uint64_t lock_begin;
	uint32_t commit_delay, forward_latency, forward_blocked, alias_penalty, l1d_latency, mdp_limit, lock_penalty;
	uint8_t mdp[MDP_ENTRIES];
	/* for loads that may become the stored register, and for banks: lsq_load_more */
	uint64_t alias_mask;
	bool same_start;
	uint64_t given[256];	/* of each store: when its data uop had its operand */
	uint32_t forwarded;	/* 1 + number of the store that the last load took its data from; 0: none */
	/* rename_stores: ready cycle of each store's base register, which tells whether the register has been
	 * written since */
	uint64_t base[256];
	uint8_t named[256];	/* and the registers of its address, in the form of enum uop_load */
	uint64_t next_forward;	/* forward.gap: first cycle in which a load may take its data from a store */
	uint32_t rename_stores, forward_vector_extra, forward_gap, commit_line, commit_fill, fill_slots, fill_port,
		fill_every;
	uint32_t split_slots, split_cycles;
	uint64_t twice;		/* set of enum spmu_did: loads of which any is true take their port twice */
	uint32_t fills;		/* memsys_fills at the last commit */
	uint32_t fills_seen;	/* memsys_fills when a line took slots of the load ports last */
	uint64_t last_line;	/* cache line of the last commit */
	uint64_t flushed;	/* cycle in which the last flush is done, for which later stores need not wait */
	bool weak_flushes;	/* there were such flushes since the last fence */
	uint32_t rename_limit;
	struct pair pair[PAIRS];
	struct pairs_few few;	/* forward.renamed_few */
	struct { uint64_t cycle, addr; uint32_t size; } bank[BANK_RING];
	struct { uint64_t cycle; uint32_t once, twice; } read[BANK_RING];	/* l1d.bank_reads: sets of banks */
	uint32_t bank_reads;
	uint32_t bucket[SQ_BUCKETS];	/* 1 + number of the newest store to these 8 bytes (modulo 4096) */
	struct store store[256];
};

/* --- REP string in flight --- */
enum { REP_UOPS = 64 /* most uops of a REP instruction, a round included */ };
struct rep {
	bool active, started;	/* started: the uops ahead of the rounds have gone */
	bool pending;		/* a round waits to grow or to go */
	uint64_t addr;		/* of the instruction */
	struct insn insn;
	struct uop uop[REP_UOPS];
	uint64_t at[REP_UOPS];	/* addresses of the waiting round */
	uint32_t bytes;		/* that the waiting round moves, or all that is held back */
	uint32_t element, chunk;	/* bytes of an element, and of a full round */
	uint32_t few;		/* fewer elements go alone; 0: there are more, as is known, or it makes no difference */
	uint32_t start, more;	/* for so many cycles the front end delivers nothing; `more`: if elements are not few */
};

/* --- machine clears, assists (clears.h) --- */
struct watched { uint64_t ip, addr, complete; };
enum uppers { UPPERS_CLEAN, UPPERS_USED, UPPERS_SAVED };	/* state of the upper halves of the vector registers */
struct clears {
	bool follows_uppers, blends;	/* assist.sse_avx, and its `blend`; `uppers` behind the last script made: */
	uint8_t uppers;
	uint16_t fp_assists;	/* assist.fp: which of enum st_assist need an assist */
	bool watching;		/* loads are remembered, since other cores have taken lines */
	bool pending;		/* a clear waits for the next instruction */
	enum spmu_signal signal;	/* which clear it is, and whose access caused it: */
	uint64_t ip, addr;
	struct watched load[LOAD_RING];	/* indexed as rename.lb */
};

/* Runs the steps of a script (steps.c). */
typedef void core_steps_way(struct core *c, const uint64_t *script);

/* --- elided locks (elision.h) --- */
enum { ELISION_LOCKS = 8 };
/* A lock that a region has acquired; where: its physical address.  elided: else the region takes it. */
struct elided_lock { uint64_t addr, where; uint32_t size; bool elided; };
struct elision {
	bool on;		/* a region is under way: */
	core_steps_way *steps;	/* runs a script of it */
	struct core *next;	/* as machine.eliding */
	uint64_t ip;		/* of the instruction that began it */
	uint64_t why;		/* it is to be aborted: an ABORT_*; 0: no */
	const uint64_t *end;	/* it ends with this word of the script that runs; NULL: not in this script */
	/* 1 + physical line of the lock that is being acquired or is elided; 0: none */
	uint64_t lock_line;
	uint32_t locks;
	struct elided_lock lock[ELISION_LOCKS];
	/* a hash table of physical lines, each plus 1, and which of them were written; their places */
	uint32_t mask, lines, *line, *used;
	bool *written;
};
/* STEPS_QUIET_RESULTS: as STEPS_QUIET, for prf.integer.  STEPS_WRONG*: a wrong path, from its first word on */
enum steps_for { STEPS_ALL, STEPS_QUIET, STEPS_QUIET_RESULTS, STEPS_WRONG, STEPS_WRONG_QUIET };
core_steps_way *core_steps(enum steps_for what);
core_steps_way *core_steps_sse4(enum steps_for what);	/* NULL: not built for this host */
core_steps_way *core_steps_watched(enum steps_for what);	/* with loads remembered (clears.h) */
core_steps_way *core_steps_smt(enum steps_for what);	/* likewise, for cores of several hardware threads (smt.h) */
void core_choose_steps(struct core *c);

/* --- the wrong path (wrongpath.h) --- */
enum { WRONG_LOG = 2048 };
struct wrong {
	uint64_t resolve;	/* cycle in which its branch resolves */
	uint64_t reach;		/* the same, or the end of the scheduler's window if that comes first */
	uint64_t entries;	/* scheduler entries of its uops that wait to be dispatched, as in scheduler.free */
	uint32_t stores;	/* number of its first store */
	uint32_t logged;
	uint8_t waiting[SCHED_PORTS];	/* uops that wait, by port */
	bool on;
	bool full;		/* the log is full */
	bool walks, tlb;	/* fields wrong_path.walks and wrong_path.tlb */
	const uint64_t *at;	/* the word of the script at which it ended */
	/* state of the right path, which is put back */
	uint64_t reg[REG_COUNT + 1];
	struct frontend fe;
	struct { uint64_t cycle, barrier, serial, bubble_floor; uint32_t used, slot, pos, loads; } rn;
	struct { uint64_t addr_known, load_floor; uint32_t big, slot_tail, forwarded; bool wants_data; } q;
	struct eliminate el;
	struct bypass by;
	struct older old;
	/* most slots and loads of a wrong path that fit in the rings without overwriting entries of the right
	 * path */
	uint32_t most_slots, most_loads;
	uint32_t most_quick;	/* most slots that take a reorder-buffer entry which was the right path's */
	struct { uint32_t bucket, was; } log[WRONG_LOG];	/* changed buckets of the store queue */
	struct store store[256];	/* stores whose places the wrong path's stores have taken */
	uint64_t given[256];
};

/* What every step reads and writes comes first, as close together as possible: if two of these were a multiple
 * of 4 KB apart, the host would take a load of one for a load of what was just stored in the other.  rename,
 * scheduler and lsq begin with what is hottest in them. */
enum { CORE_APART = 64 };	/* bytes of a cache line of the host */
struct core {
	struct frontend fe;
	uint64_t reg[REG_COUNT + 1];	/* cycle in which each register is ready; one more to write to (block_plan.h) */
	/* cycle in which the last slot retired << RETIRE_SHIFT, and below that how many have retired in it;
	 * e.now: the cycle */
	uint64_t retire_next;
	uint32_t retire_width, retire_latency;
	uint64_t instructions;
	core_steps_way *steps, *wrong_steps;	/* compiled for this host, for the records that are wanted */
	struct {		/* core_run_scripts; end NULL: another function runs the script */
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
	struct elision hle;
	struct core_config config;
	struct machine *machine;
	struct smt_thread *st;	/* smt.h; NULL: the core has one hardware thread */
	core_steps_way *smt_steps;	/* of it */
	uint16_t *walked;	/* walker_ran */
	/* Warming: where straight code goes on, the window of code that came last, and whether that was decoded. */
	struct {
		uint64_t next, window;
		/* changes when the uop cache may hold less than before; no other core of the machine has this number */
		uint64_t losses;
		bool decodes;
	} warm;
	/* Of the host thread that makes scripts, on cache lines of its own: next to data that the other thread
	 * writes with each script, every branch would fetch the line from there and take it away from there. */
	_Alignas(CORE_APART) struct bpred *bp;
	struct walker *walker;	/* NULL: no wrong path */
	uint64_t predicted;	/* where the last mispredicted branch was predicted to go */
	uint64_t warm_mispredicts;	/* of branches that only warmed */
	_Alignas(CORE_APART) struct wrong wrong;
};
_Static_assert((offsetof(struct core, sc) & 4095) - (offsetof(struct core, rn) & 4095) < 256 &&
               (offsetof(struct core, q) & 4095) + 256 < 4096, "what is hot does not meet modulo 4 KB");

struct machine {
	struct core_config config;
	struct memsys_shared *shared;
	struct core *eliding;	/* a list of the cores that elide locks */
	uint64_t losses;	/* the last number of core.warm.losses */
};

/* Runs of emit_grow */
enum { RUN_BUBBLE, RUN_ROB, RUN_RS, RUN_LB, RUN_SB, RUN_BUILD };

/* A mispredicted branch resolves at `resolve`, or a clear happens then: fetch is redirected. */
void core_redirect(struct core *c, uint64_t resolve);

/* A branch was executed, and its word in the script says more than the way it went (SCRIPT_UNUSUAL): steers the
 * front end.  went: where it went.  Returns its record's bits. */
uint64_t frontend_branch_unusual(
	struct core *c, const struct insn *br, uint64_t word, uint64_t went, uint64_t complete);
/* Runs the wrong path behind the branch that was just executed.  w: its word in the script. */
void core_wrong_path(struct core *c, const uint64_t *w);
/* Runs an instruction of the wrong path that goes the general way.  Returns the word behind it; NULL: the wrong
 * path ends here. */
const uint64_t *core_wrong_general(struct core *c, const uint64_t *w);

/* Runs an instruction of a script that goes the general way.  end: the words behind the script's end. */
void core_step_general(struct core *c, const uint64_t *word, const uint64_t *end);
/* True if the script begins with the REP instruction that is in flight. */
bool core_rep_goes_on(const struct core *c, const uint64_t *script);
void core_drain(struct core *c);	/* completes everything in flight; that takes no cycle */
int  older_init(struct core *c, struct err *err);
void older_release(struct core *c);
void older_reset(struct core *c);
int  frontend_init(struct core *c, struct err *err);
void frontend_release(struct core *c);
void frontend_reset(struct core *c, uint64_t cycle);
void frontend_forget(struct core *c);	/* forgets timing state only: the next instruction starts anew */
void frontend_discard(struct core *c, uint64_t addr, uint64_t bytes);
void rename_reset(struct core *c, uint64_t cycle);
/* sets the rings' sizes before the first slot; wrong: there may be wrong paths */
void rename_rings(struct core *c, bool wrong);
int  scheduler_init(struct core *c, struct err *err);
void scheduler_release(struct core *c);
void scheduler_reset(struct core *c, uint64_t cycle);
void lsq_reset(struct core *c, uint64_t cycle);
void rep_run(
	struct core *c, const struct iblock *b, unsigned i, const uint64_t *slots, unsigned nslots, uint64_t next_ip);
/* ends the REP instruction; leave false: it was broken off and does not retire */
void rep_end(struct core *c, bool leave);
/* Sends one instruction through the whole pipeline.  at: address of each of its uops; stays: more of it
 * follows. */
void core_run_insn(
	struct core *c, const struct insn *in, const struct uop *u, unsigned uops, const uint64_t *at, bool stays);
#endif
