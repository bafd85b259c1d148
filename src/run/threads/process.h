/* SPDX-License-Identifier: GPL-2.0-or-later
 * The guest processes of a run: their blocks, threads, machines, and which of them waits for which.  Private to
 * src/run.
 */
#ifndef RUN_PROCESS_H
#define RUN_PROCESS_H
#include "core/core.h"
#include "isa/isa.h"
#include "run/threads/depend.h"
#include "run/threads/order.h"
#include "run/threads/spaces.h"
#include "run/run.h"

struct runner;
struct process;

enum block_flags {
	BLOCK_ODD = 1,		/* holds unknown or substituted instructions */
	BLOCK_START = 2,
	BLOCK_STOP = 4,
	BLOCK_HEAP = 8,		/* enters the allocator */
	BLOCK_WRITE = 16,	/* holds a place of run_options.write */
};

struct pending {		/* a block whose successor is not known yet */
	struct iblock *block;	/* NULL: none */
	const uint64_t *slots;	/* in the current span, or rthread.kept */
	uint64_t next_ip;
	uint32_t slot_count;
	uint16_t exit, insns;
	uint8_t  block_flags;
};

struct walk_space;
struct walker;
struct ahead;
struct lanes;

/* Where a thread is in a sampled run (sample.h). */
struct sample_place {
	enum sample_part { SAMPLE_GAP, SAMPLE_LEAD, SAMPLE_MEASURED } part;
	uint64_t done;		/* steps so far (sample.h) */
	uint64_t rounds;	/* of these, those that are no instructions */
	uint64_t until;		/* this part ends when so many are done */
	uint64_t base;		/* where the current stretch begins */
	uint64_t interval;	/* its length */
	uint64_t then;		/* that of the next one */
	uint64_t left;		/* where the last window ended */
	uint64_t windows;	/* that have ended */
	/* Of a stream of live points (points/points.h): by enum st_place_what; and the stretches whose branches the
	 * leader has seen: their steps, what it mispredicted there, and where the current one began. */
	struct core_misses told[4];
	bool in_part;		/* a part has begun and not ended */
	bool told_from;		/* ST_PLACE_FROM was here, in this part */
	uint64_t seen, seen_misses, seen_from, seen_from_misses;
	bool seen_whole;	/* the way that comes is that of all skipped blocks */
	bool way_told;		/* ST_WAY was here, and `unseen` blocks of the way are not seen, but only learned */
	uint64_t unseen;
	uint64_t part_done, part_rounds;	/* steps and rounds where the part begins */
	uint64_t way;		/* header of its last block, whose successor is not known yet; 0: none */
	bool mute;		/* of a stream that is cut: what the core passes on belongs to no piece */
	bool ran;		/* a window has ended since the core took over the leader's state */
	/* of a thread without lanes; owned by the cores' thread; the front reads it when that is drained: */
	uint64_t next_interval;	/* 0: as before */
	uint64_t begin_cycle, begin_done;	/* where the window's measured part begins */
	uint64_t cycles, instructions;	/* of the last window's measured part: instead of instructions, steps */
};

struct rthread {
	struct run_thread pub;
	struct process *process;
	struct core *core;	/* its own core: predicts branches and makes its scripts */
	struct walker *walker;	/* NULL: no wrong path */
	/* core that runs the scripts: its own, or the processor of --cpus that it is on now; NULL: none */
	struct core *on;
	struct core *leader;	/* of a sampled run: warms, and the cores that are timed follow it; else NULL */
	struct sample_place sample;
	bool wants_everything;	/* of the last rthread_want: more than run_options.wanted */
	struct lanes *lanes;	/* of a sampled run: where its windows are timed (lanes.h); NULL: on its core */
	struct spaces spaces;	/* of a whole machine */
	uint32_t index;		/* its index in process.thread */
	uint32_t seat;		/* --smt: its hardware thread, numbered over all cores */
	struct order_queue queue;	/* owned by the cores' thread */
	struct depend_thread depend;	/* owned by the front */
	uint64_t instructions;	/* retired instructions, less those of the core that it is on now */
	struct pending pending;
	uint64_t *kept;		/* slots of a pending block whose span is gone */
	size_t kept_size;
	struct ahead *ahead;		/* blocks before the pending one that wait; NULL: none do (ahead.h) */
	struct heap_thread *heap;	/* run_options.heap; else NULL */
	struct calls *calls;		/* run_options.calls; else NULL */
	uint32_t guest_tid;		/* the tracer's number */
	bool alive;
	/* --smt: its stream has ended, but what is queued of it runs in its turn: others may come to these cycles */
	bool leaving;
	bool in_call;			/* its last operation so far is a system call (cores' thread) */
};

/* What gaps need of a block, on half a cache line (gap.c). */
enum { BRIEF_EXITS = 10 };
struct block_brief {
	struct iblock *block;	/* NULL: not defined, or discarded */
	uint16_t exits, flags;	/* of the block; its block_flags */
	uint16_t slots[BRIEF_EXITS];	/* values that an execution through each of the first exits has */
};

struct stash { struct stash *next; size_t count; uint64_t *words; };

struct process {
	struct runner *runner;
	uint32_t index, pid, parent_pid;
	int word_bytes;
	bool has_regs;			/* its stream holds registers */
	bool is_machine, has_pages;	/* its stream is a whole machine's (machine_events.h), and tells its pages */
	char comm[16];
	struct machine *machine;
	struct machine *leader;		/* of a sampled run: the machine of the threads' leaders; else NULL */
	bool sampled;			/* its threads have leaders */
	bool changed;			/* its program or --wrmsr has changed the machine's features */
	int64_t detail_left;		/* instructions until then (run_sample.after) */
	struct core_features registers;	/* the machine's feature registers */
	struct core_config decoded_for;	/* the machine for which its blocks were decoded */
	/* number of the configuration of isa with which its blocks are decoded; 0: the run's */
	uint32_t decoding;
	struct walk_space *space;	/* what the wrong path knows about it; NULL: there is no wrong path */
	struct iblock **block;		/* by id; NULL: not defined, or discarded */
	uint8_t *block_flags;
	struct block_brief *brief;	/* by id */
	/* next block whose first instruction is on the same page; a chained hash table */
	uint32_t *page_next;
	uint32_t *page_head;		/* hash of page numbers */
	uint32_t page_buckets;
	size_t blocks, blocks_room;
	struct iblock **grave;		/* discarded blocks; freed at the discard after the next */
	size_t graves, graves_old, graves_room;
	struct rthread **thread;
	size_t threads;
	struct rthread *current;
	struct rthread *ran_before;	/* ran in the stream before the current one */
	struct order order;
	struct depend *depend;		/* NULL: no memory for it, or one thread */
	bool ordered;			/* it has several threads, which run in the order of modelled time */
	uint32_t first_cpu;		/* --cpus: number of its first processor */
	uint64_t start_cycle, end_cycle;
	bool started;			/* its start cycle is known */
	bool ended;
	bool is_child;			/* child of a followed process: waits for the parent's ST_FORK */
	uint32_t wait_pid;		/* reaped child whose stream is not consumed yet; 0: none */
	struct stash *stash_first, **stash_last;
	size_t stashed;
};

struct process_table {
	struct process **process;
	size_t count;
	/* children that a parent's ST_FORK announced */
	struct { uint32_t pid; uint64_t cycle; bool used; } *fork;
	size_t forks;
	uint32_t cpus;			/* modelled cores given out so far */
	uint32_t processors;		/* --cpus: for each process; 0: every thread has a core of its own */
	uint64_t quantum;		/* cycles; 0: the default */
	uint32_t smt;			/* --smt: hardware threads of a core; 0: one, nothing is shared */
	const struct core_config *core;
	const struct core_features *features;	/* feature registers of a new image; NULL: all zero */
	/* decodings: number of configurations so far; decoding: the one that isa has now */
	uint32_t decodings, decoding;
};

/* Configures isa to decode for this process. */
void process_decode_for(struct process_table *t, struct process *p, struct isa *isa);
/* The machine has changed: decodes the blocks again if its decoders work differently now.  The engine must be
 * drained. */
int  process_decodes(struct process *p, struct isa *isa, const struct core_config *to, struct err *err);
/* In run.c: the table that the process is in. */
struct process_table *runner_processes(struct runner *r);
/* In run.c: the block will be freed. */
void runner_forget_block(struct process *p, struct iblock *b);
/* In run.c: waits until the cores have finished everything that is queued for this process. */
void runner_drain(struct process *p);
/* Number of instructions that an execution completes. */
static inline unsigned run_completed(const struct iblock *b, unsigned exit, unsigned insns)
{
	const bool repeats =
		insns && exit < b->exits && b->exit[exit].jump == ST_JUMP_REPEAT && insns == b->exit[exit].insns;
	return insns - repeats;
}

/* Finds the process of that index; makes it if it is new. */
int process_get(struct process **out, struct process_table *t, uint32_t index, uint32_t pid, struct runner *r,
	struct err *err);
/* ST_PROCESS: a new image; drops the blocks of the old one, makes the machine. */
int  process_image(struct process *p, const struct st_process *s, const struct core_config *core, struct err *err);
int  process_add_block(struct process *p, struct iblock *b, unsigned flags, struct err *err);
void process_discard(struct process *p, uint64_t addr, uint64_t bytes);
int process_thread_start(struct rthread **out, struct process_table *table, struct process *p, uint32_t guest_tid,
	uint32_t os_tid, uint64_t cycle, core_emit *emit, struct err *err);
/* A thread's clock, and the number of instructions that it retired. */
uint64_t rthread_now(const struct rthread *t);
uint64_t rthread_instructions(const struct rthread *t);
/* Calls core_want for each core on which the thread may run. */
void rthread_want(struct rthread *t, const struct core_wanted *w);
/* True if its threads must run in the order of modelled time. */
bool process_needs_order(const struct process *p);
/* Starts, and ends, running its threads in the order of modelled time. */
int  process_order(struct process *p, struct err *err);
void process_disorder(struct process *p);
/* Frees its core; the rthread stays until the table is released. */
void process_thread_end(struct rthread *t);
struct rthread *process_find_thread(const struct process *p, uint32_t guest_tid);	/* alive ones only */
void process_table_release(struct process_table *t);

/* Orderings between processes. */
void process_forked(struct process_table *t, struct process *parent, uint32_t child_pid, uint64_t cycle);
/* The parent reaped child_pid: returns true if it must wait for the child's stream. */
bool process_wait_for(struct process_table *t, struct process *parent, uint32_t child_pid);
bool process_waits(struct process_table *t, struct process *p);
/* Stops waiting for a child that never appeared; at_end: stops waiting for anything. */
void process_stop_waiting(struct process_table *t, struct process *p, bool at_end);
/* true if a process waits for one that never appeared */
bool process_any_hopeless(const struct process_table *t);
int  process_stash(struct process *p, const uint64_t *w, size_t count, struct err *err);
uint64_t *process_unstash(struct process *p, size_t *count);	/* the caller owns the words */
int  process_restash(struct process *p, uint64_t *w, size_t used, size_t count, struct err *err);	/* takes w */
#endif
