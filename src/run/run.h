/* SPDX-License-Identifier: GPL-2.0-or-later
 * Drives a run: pulls the stream, decodes blocks, runs each thread's blocks on its modelled core, and hands record
 * batches and side records to a sink.  Every command that executes a program goes through here.
 *
 * Each guest process gets a machine of its own (shared L3 and memory), each thread a core of its own
 * on it, so that a process's counts do not depend on how the host interleaved the processes.
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
	uint8_t  hw_thread;	/* of its core: records say so */
	uint8_t  siblings;	/* hardware threads of its core under run_options.smt; else 0 */
	uint32_t core;		/* of those of its process, under run_options.smt: threads of the same one are its hardware threads */
	char comm[16];
	int word_bytes;		/* of its process's code: 8 or 4 */
	void *sink_private;	/* the sink's own */
	uint64_t interrupt_cycles;	/* set by the sink in `batch`: the core takes an interrupt that lasts so long before it goes on; 0: none */
	unsigned interrupt_lines;	/* of code, and of data, that its handler touches */
	struct history *registers;	/* run_options.history: what its registers held lately (run/history.h); NULL: not known */
};

/* run_options.heap: a call of the allocator came back (run/malloc_calls.h says which are seen).  A side record like those of the stream. */
enum { RUN_HEAP = 128 };	/* its kind */
struct run_heap {
	uint64_t header;
	uint64_t addr, bytes;	/* the new block; 0: none */
	uint64_t old;		/* start of the block that was given back; 0: none */
	uint64_t site;		/* behind the call */
	uint32_t function, pad;
};
const char *run_heap_function(uint32_t number);	/* "malloc", "new" */

struct run_sink {
	void *context;
	/* any of them may be NULL; a negative return of the int ones ends the run with that error */
	int  (*thread_start)(void *context, struct run_thread *t, struct err *err);
	void (*thread_end)(void *context, struct run_thread *t);
	void (*batch)(void *context, struct run_thread *t, const struct spmu_batch *b);
	/* every record that is not a block, its definition, a switch or a request of the program: ST_PROCESS, ST_MAP, ST_COMM, ST_FORK, ...;
	 * cycle: the thread's now; t may be NULL (before the first thread) */
	void (*side)(void *context, struct run_thread *t, uint32_t pid, const uint64_t *record, uint64_t cycle);
	/* about ten times a second of wall time; return nonzero to stop the run early (Ctrl-C handling, progress) */
	int  (*tick)(void *context, uint64_t instructions, uint64_t cycles);
	/* The program asks (softpmu/client.h): all that it did before has been passed on, `request` included.  name: of a region, else "".  Fills
	 * in all but the number of the answer; true: from now on the sink wants this thread's records whole.  NULL: nobody listens. */
	bool (*client)(void *context, struct run_thread *t, const struct st_client *request, const char *name, struct st_answer *answer);
};

/* A register of features is written (core/machine/features.h) whenever a thread comes to a place: behind all that it did before, and ahead of the block
 * that holds the instruction. */
struct run_write {
	const char *function;	/* the entry of this function, in any file that is mapped; or NULL: */
	const char *object;	/* in this file (the end of its path will do) ... */
	uint64_t offset;	/* ... the instruction that lies here in it */
	uint64_t nth;		/* the nth time that the process comes there, from 1; 0: each time */
	uint32_t msr;
	uint64_t value;		/* one at which WRMSR does not fault */
	bool may_miss;		/* nothing is said if the program never comes there */
};

struct run_options {
	const char *data_dir, *tracer_dir;
	const struct core_config *core;
	const struct core_features *features;	/* registers as they are at first; core is what they make of their preset.  NULL: core is the preset */
	char *const *argv;	/* live run, or NULL */
	const char *replay;	/* recorded stream, or NULL */
	const char *save;	/* also record the stream there */
	bool follow, regs;
	bool record_only;	/* no model and no sink but its tick: the stream is only saved, and its instructions are counted */
	bool heap;		/* tell the sink's `side` of the heap's blocks, too: struct run_heap; with regs, or a stream that holds them */
	bool history;		/* keep the threads' registers for the sink; with regs, or a stream that holds them */
	const struct core_wanted *wanted;	/* what the sink looks at; the rest is dropped in the cores. NULL: all */
	uint32_t cpus;		/* processors that the threads of each process share; 0: every thread has a core of its own */
	uint64_t quantum;	/* of them: cycles that a thread runs while others wait; 0: order.h's */
	bool smt;		/* as many threads of a process on each core as it has hardware threads (smt.threads); not with cpus */
	const struct run_write *write;	/* in mid-run; those of one place in this order */
	size_t writes;
	const char *start, *stop;	/* NULL, decimal instruction count, or a function name: timing is on from start to stop */
};

struct run_result {
	int wait_status;	/* of the program */
	uint64_t instructions;	/* timed */
	uint64_t warmed;	/* functionally warmed, outside start..stop */
	uint64_t cycles;	/* largest cycle any core reached: elapsed time in core cycles */
	uint64_t unknown;	/* executions of instructions without a row in the uop table */
	uint64_t substitute;	/* executions of instructions newer than the core */
	double   wall_seconds;
	char note[1024];	/* what the user should know (tracer's message, AVX-512 hint); "" if nothing */
};

/* 0, or an error; *result is filled as far as the run got in either case. */
int run_program(const struct run_options *o, const struct run_sink *sink, struct run_result *result, struct err *err);
#endif
