/* SPDX-License-Identifier: GPL-2.0-or-later
 * Drives a run: reads the stream, decodes blocks, runs each thread's blocks on its modelled core, and hands record
 * batches and side records to a sink.  Every command that executes a program goes through here.
 *
 * Each guest process gets a machine of its own (with a shared L3 and memory), and each thread a core of its own on
 * it, so a process's counts do not depend on how the host interleaved the processes.
 */
#ifndef RUN_RUN_H
#define RUN_RUN_H
#include "core/machine/config.h"
#include "core/core.h"
#include "core/machine/features.h"
#include "softpmu/record.h"
#include "stream/format.h"
#include "stream/stream.h"
#include "util/err.h"
#include <stdbool.h>

struct run_thread {		/* one guest thread; valid until thread_end returns */
	uint32_t process;	/* dense index of its process */
	uint32_t pid, tid;	/* of the host's kernel */
	uint32_t cpu;		/* modelled processor it runs on, dense from 0 over the whole run */
	uint8_t  hw_thread;	/* hardware thread of its core, as in the records */
	uint8_t  siblings;	/* hardware threads of its core under run_options.smt; else 0 */
	/* under run_options.smt: its core among those of its process; threads with the same one are its hardware
	 * threads */
	uint32_t core;
	char comm[16];
	int word_bytes;		/* of its process' code: 8 or 4 */
	void *sink_private;	/* the sink's own */
	/* The stream is of a whole machine (format.h, ST_LEVEL), and this is its processor.  The records of a batch
	 * have no tags in their addresses, and all of a batch have the same cpl and were made in the same address
	 * space: those that are here when `batch` is called.  The kernel's addresses mean the same in all of them.
	 * `side` gets ST_LEVEL to ST_SYMBOLS behind the batches before them; then these are what they were before an
	 * ST_TRAP, and what they are from an ST_LEVEL or ST_SPACE on. */
	bool is_machine;
	uint8_t cpl;		/* 0 or 3; 3 of a program */
	uint64_t space;		/* number of the address space (st_space.tag), which ST_SYMBOLS names, too */
	uint64_t process_space;	/* that of its process, where the kernel has tables of its own (threads/spaces.h) */
	/* set by the sink in `batch`: the core takes an interrupt of this length before it continues; 0: none */
	uint64_t interrupt_cycles;
	unsigned interrupt_lines;	/* cache lines of code, and of data, that its handler touches */
	/* For the sink, in `batch` of another thread of the process: does this one stand still, in a system call or
	 * without a processor?  If so, passes what it has done to `batch` first.  It usually goes on at about the time
	 * of the thread that runs.  NULL: threads do not say. */
	bool (*waits)(struct run_thread *t);
	/* run_options.smt: all of it has run, and was passed to `batch`; it ends once the others have come so far */
	bool gone;
	/* run_options.history: what its registers held lately (run/watch/history.h); NULL: unknown */
	struct history *registers;
	/* set by the sink in `client`: from now on keep this thread's registers, if the stream has them from here on */
	bool wants_registers;
	/* Set by the sink in `thread_start` and `client`: from now on its blocks only warm caches, TLBs and predictors,
	 * and nothing of them is passed to `batch`.  Not in a sampled run. */
	bool warms;
};

/* run_options.heap: a call of the allocator returned (run/watch/malloc_calls.h says which ones are seen).  It is a side
 * record like those of the stream. */
enum { RUN_HEAP = 128 };	/* its kind */
struct run_heap {
	uint64_t header;
	uint64_t addr, bytes;	/* the new block; 0: none */
	uint64_t old;		/* start of the block that was freed; 0: none */
	uint64_t site;		/* return address of the call */
	uint32_t function, pad;
};
const char *run_heap_function(uint32_t number);	/* "malloc", "new" */

struct run_window;
struct calls_frame;	/* run/watch/calls.h */
struct run_sink {
	void *context;
	/* Any of these may be NULL; a negative return of one that returns int ends the run with that error. */
	int  (*thread_start)(void *context, struct run_thread *t, struct err *err);
	void (*thread_end)(void *context, struct run_thread *t);
	void (*batch)(void *context, struct run_thread *t, const struct spmu_batch *b);
	/* Gets every record that is not a block, its definition, a switch or a request of the program: ST_PROCESS,
	 * ST_MAP, ST_COMM, ST_FORK, ...  cycle: the thread's now; t may be NULL (before the first thread). */
	void (*side)(void *context, struct run_thread *t, uint32_t pid, const uint64_t *record, uint64_t cycle);
	/* Of a whole machine: a block is defined, whose instructions are run later.  Another thread than that of the
	 * other callbacks calls it. */
	void (*defined)(void *context, const struct st_block_def *def);
	/* Called about ten times a second of wall time; returns nonzero to stop the run early (Ctrl-C handling,
	 * progress). */
	int  (*tick)(void *context, uint64_t instructions, uint64_t cycles);
	/* run_options.sample.  The first `insns` instructions of a block have been executed so many times, timed or
	 * not.  Each execution is told once, at the latest before the run ends.  repeats: the last of them is a round
	 * of a REP instruction. */
	void (*executed)(void *context, const struct iblock *b, unsigned insns, uint64_t times, bool repeats);
	/* run_options.sample.  At the end of a window, returns the interval to use some windows later; 0: as before.
	 * Else what it returns does not matter. */
	uint64_t (*window)(void *context, struct run_thread *t, const struct run_window *w);
	/* run_options.sample: the thread is sampled from here on.  It starts here, or its process has executed
	 * sample.after instructions; if several run, each is told. */
	void (*sampled)(void *context, struct run_thread *t);
	/* The program asks something (softpmu/client.h); all that it did before, up to `request`, has been passed
	 * on.  name: of a region, else "".  Fills in the answer except its number.  True: from now on the sink
	 * needs this thread's records in full.  NULL: there is no answer. */
	bool (*client)(void *context, struct run_thread *t, const struct st_client *request, const char *name,
		struct st_answer *answer);
};

/* A place of a sampled run (run_options.sample): a window's lead or measured part begins, or the window ends.  All that
 * the thread did before has been passed on. */
struct run_window {
	bool leads;			/* the window's lead begins: nothing is counted yet */
	bool begins;			/* the measured part begins; else, unless `leads`, it ends */
	uint64_t instructions;		/* that the thread has executed before this place, timed or not */
	/* The length of windows and of what they stand for is in steps: instructions, and elements of REP instructions.
	 * One instruction can fill megabytes, and windows would hardly see it if it were a single step.  So many
	 * elements so far, each without the last of its instruction, which completes it. */
	uint64_t rounds;
	uint64_t represents;		/* steps of the stretch that the window stands for */
	struct core_misses misses;	/* of all instructions before this place, as warming sees them */
	/* run_options.calls, where the lead begins: the calls under way, outermost first; valid during the call */
	const struct calls_frame *frame;
	size_t frames;
};

/* What of a sampled run is timed: in each stretch of `interval` steps (run_window) of a thread a window of `measured`
 * steps, behind `lead` more that bring the pipeline up to speed.  Everything else only warms caches, TLBs,
 * prefetchers and predictors.  Windows do not change what the rest finds.  measured 0: everything is timed. */
struct run_sample {
	uint64_t interval, lead, measured;
	uint64_t after;		/* each process is timed in full until it has executed so many instructions */
	bool one_thread;	/* and stays so if several of its threads run then */
	/* A saved stream is cut (run/cut.h): the pieces of `measured` instructions whose number modulo cut_step is
	 * cut_first are timed, each behind `lead` instructions, and the sink is told as of windows.  interval has no
	 * meaning then.  cut_step: at least 2; 0: it is not cut. */
	unsigned cut_step, cut_first;
	/* So many windows may be timed at once, by as many host threads; more than RUN_LANES are as many as that; 0: 1.
	 * Of a file of live points: so many of its parts.  Nothing depends on it.  1 if the sink sets
	 * run_thread.interrupt_cycles. */
	unsigned jobs;
};
enum {
	RUN_SAMPLE_LEAST = 4,	/* an interval is at least so many times lead + measured */
	RUN_LANES = 2,		/* windows that may be timed at once */
};

/* A write of a feature register (core/machine/features.h) whenever a thread reaches a place: after all that the
 * thread did before, and ahead of the block that contains the instruction. */
struct run_write {
	const char *function;	/* the entry of this function, in any mapped file; or NULL, and then: */
	const char *object;	/* in this file (the end of its path is enough) ... */
	uint64_t offset;	/* ... the instruction at this offset */
	uint64_t nth;		/* the nth time that the process reaches it, from 1; 0: each time */
	uint32_t msr;
	uint64_t value;		/* a value for which WRMSR does not fault */
	bool may_miss;		/* no note if the program never reaches it */
};

struct run_parts { uint32_t index, of; };
static inline bool run_takes_part(const struct run_parts *p, uint32_t number)
{
	return !p->of || number % p->of == p->index;
}

struct run_options {
	const char *data_dir, *tracer_dir;
	const struct core_config *core;
	/* feature registers at the start; core is their preset changed accordingly.  NULL: core is the preset */
	const struct core_features *features;
	char *const *argv;	/* live run, or NULL */
	const char *replay;	/* recorded stream, or NULL */
	struct stream_hub *hub;	/* one that other runs read, too (together.h), or NULL; and which reader this is */
	unsigned reader;
	/* Of a replay of live points, set by points/parallel.h: which parts are read, and who is told of them. */
	stream_takes *takes;
	void *takes_context;
	const struct parts_watch *watch;
	/* Of a replay of live points: only the parts of the file whose number, from 0, is `index` modulo `of`, as if
	 * the program had executed nothing else.  of 0: all. */
	struct run_parts parts;
	const char *save;	/* also record the stream there */
	/* Of a replay of a whole machine: the sink gets this file's name as that of the kernel's names (ST_SYMBOLS)
	 * instead of the one that the stream gives.  NULL: no. */
	const char *kallsyms;
	char *const *env;	/* as in stream_launch */
	/* NULL, or set before each tick: the share of the stream that was read, 0 to 1; -1: it is not known */
	double *share;
	bool follow, waits;	/* as in stream_launch */
	bool regs;
	bool assists;		/* the tracer looks for denormal numbers; so it does if `wanted` needs that */
	/* no model, and no sink except its tick: the stream is only saved and its instructions are counted */
	bool record_only;
	/* with record_only and replay: reads only a part of a long stream; run_result.instructions is an estimate of
	 * those of the whole */
	bool record_part;
	/* No model, and no sink except its tick: makes this file of live points of the program, or of the recorded
	 * stream (points/capture.h).  The windows are those of `sample`, if live_grows with an interval that grows with
	 * the run.  NULL: no. */
	const char *live_points;
	bool live_grows;
	/* also report the heap's blocks to the sink's `side`: struct run_heap; needs regs, or a stream that holds
	 * them */
	bool heap;
	/* keep the threads' registers for the sink; needs regs, or a stream that holds them */
	bool history;
	/* of a sampled run: keep the threads' calls, for run_window.frame */
	bool calls;
	const struct core_wanted *wanted;	/* what the sink uses; the cores drop the rest.  NULL: everything */
	/* number of processors that the threads of each process share; 0: every thread has a core of its own */
	uint32_t cpus;
	uint64_t quantum;	/* with cpus: cycles that a thread runs while others wait; 0: order.h's default */
	/* threads of a process share cores, as many on each as it has hardware threads (smt.threads); not with
	 * cpus */
	bool smt;
	const struct run_write *write;	/* writes during the run; those at the same place happen in this order */
	size_t writes;
	/* Not with start and stop, writes, cpus, smt.  Threads of a process do not wait for each other. */
	struct run_sample sample;
	/* Of a sampled run, set by together.h: other runs take over its leader's state; or it has no leader of its own,
	 * and takes over that of another run, as follower number `follower`.  Then run_sink.executed is not called, and
	 * run_result.misses is left to together.h. */
	struct leader_share *leads, *follows;
	unsigned follower;
	/* The same of the leader's predictors alone: other runs take over what they have learned; or they learn
	 * nothing, and take that over from another run's, as pupil number `pupil`.  run_result.misses.branches is
	 * then left to together.h. */
	struct leader_share *teaches, *taught;
	unsigned pupil;
	/* NULL, decimal instruction count, or a function name: timing is on from start to stop */
	const char *start, *stop;
};

struct run_result {
	int wait_status;	/* of the program */
	uint64_t instructions;	/* timed */
	uint64_t warmed;	/* functionally warmed: outside of start..stop, or of a sampled run's windows */
	bool threads_at_once;	/* of a sampled run: some process had several threads at a time */
	bool threads_detailed;	/* some process was not sampled, because several threads of it ran (run_sample.after) */
	uint64_t sampled;	/* of `instructions` and `warmed` together, those of sampled threads */
	uint64_t points;	/* run_options.live_points: how many windows the file has */
	/* Of a replay of live points: steps in which mispredicted branches were looked at, and how many there were. */
	uint64_t points_seen, points_mispredicted;
	uint64_t rounds;	/* steps of sampled threads that are no instructions (run_window) */
	struct core_misses misses;	/* of a sampled run: of all instructions, as warming sees them */
	uint64_t cycles;	/* largest cycle any core reached: elapsed time in core cycles */
	uint64_t unknown;	/* executions of instructions without a row in the uop table */
	uint64_t substitute;	/* executions of instructions newer than the core */
	double   wall_seconds;
	char note[1024];	/* what the user should know (tracer's message, AVX-512 hint); "" if nothing */
};

/* Which of these options, if any, goes neither with run_options.sample nor with its cut_step: a sentence; NULL: none.
 * run_program refuses it with this text. */
const char *run_sample_misfit(const struct run_options *o);
/* Returns 0 or an error; in both cases *result is filled as far as the run got. */
int run_program(const struct run_options *o, const struct run_sink *sink, struct run_result *result, struct err *err);
#endif
