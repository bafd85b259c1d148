/* SPDX-License-Identifier: GPL-2.0-or-later
 * The tracer: a Valgrind tool that runs a program and writes down what it does (stream/format.h).
 *
 * tracer_ring.c      the ring file: room for records, publishing, waiting for the reader, the announce pipe
 * instrument.c       adds inline stores to a superblock; writes the block's description into the ring
 * blocks.c           the table of blocks that exist; discards; records of blocks that a fault cut short
 * tracer_prefetch.c  software prefetches, which VEX drops
 * tracer_assists.c   tests for denormal numbers and faults of the x87 stack
 * events.c           process, threads, system calls, signals, exit
 * tracer_follow.c    which processes and programs can be traced
 * tracer_client.c    the program's own requests
 * tracer_pmi.c       the program's own handler of its PMIs
 * turns.c            which thread runs
 * maps.c             mappings and build-ids
 * tracer_main.c      options and start
 *
 * All of it runs while it holds Valgrind's big lock, so in one thread at a time; the state below is the process's.
 * While generated code runs, the write pointer is in the thread's shadow guest state (struct live, below);
 * otherwise it is in `ring`.  ring_enter and ring_leave copy it.
 */
#ifndef TRACER_H
#define TRACER_H
#include "pub_tool_basics.h"
#include "pub_tool_vki.h"
#include "pub_tool_vkiscnums.h"
#include "pub_tool_tooliface.h"
#include "pub_tool_libcbase.h"
#include "pub_tool_libcassert.h"
#include "pub_tool_libcfile.h"
#include "pub_tool_libcprint.h"
#include "pub_tool_libcproc.h"
#include "pub_tool_libcsignal.h"
#include "pub_tool_machine.h"
#include "pub_tool_mallocfree.h"
#include "pub_tool_aspacemgr.h"
#include "pub_tool_threadstate.h"
#include "pub_tool_clientstate.h"
#include "pub_tool_options.h"
#include "pub_tool_xarray.h"
#include "pub_tool_hashtable.h"
#include "pub_tool_guest.h"
#include <stddef.h>

#include "stream/format.h"

/* From the kernel's asm-generic headers; Valgrind's copies lack them. */
#define O_CLOEXEC_ 02000000
#define AT_FDCWD_ (-100)
#define AT_EMPTY_PATH_ 0x1000
#define AT_RANDOM_ 25
#define CLONE_NEWPID_ 0x20000000
#define ETIMEDOUT_ 110
#define EOPNOTSUPP_ 95
#define MAP_HUGETLB_ 0x40000
#define MADV_HUGEPAGE_ 14
#define MADV_NOHUGEPAGE_ 15

/* Where Valgrind tools are linked to lie (tracer.mk; valgrind's configure: valt_load_address_pri_norml). */
#define TRACER_TEXT 0x58000000u

#define ROUND8(n) (((n) + 7u) & ~(SizeT)7)

/* In shadow area 1 of the running thread's guest state; generated code reads and writes it. */
struct live {
	HWord ptr;		/* next record goes here */
	HWord end;		/* no record may reach beyond this */
	HWord open;		/* if equal to ptr: a block was entered and not left; its header is the word at ptr */
	HWord after;		/* enum live_after: what the block that was just left asked for */
	Word budget;		/* settings.steps: instructions that the thread may execute before the model is asked */
	HWord mxcsr;		/* settings.assists: what LDMXCSR loaded last; 0 at first */
};
enum live_after { AFTER_NOTHING = 0, AFTER_PAUSE = 1, AFTER_REQUEST = 2, AFTER_STEP = 3, AFTER_IRET = 4 };

struct ring {
	struct st_control *control;	/* NULL: scratch memory, nobody reads */
	UChar *chunk;		/* the chunk being filled */
	UChar *ptr, *end;
	ULong chunk_pos;	/* absolute position of its first byte */
	ULong published;
	ThreadId stream_tid;	/* thread that the last ST_SWITCH named */
	UInt given;		/* blocks that the running thread may execute before it must ask again */
	Bool met;		/* ring_meet has ended the thread's turn */
	ThreadId running;	/* thread whose shadow state holds ptr; VG_INVALID_THREADID: ring.ptr holds it */
};
extern struct ring ring;

struct settings {
	const HChar *dir;	/* --ring-dir */
	Bool regs;		/* --regs=yes */
	Bool assists;		/* --assists=yes */
	Bool steps;		/* a thread has a handler of its own PMIs: blocks can be left between instructions */
	Int serial;		/* --serial: number of earlier execs of this pid */
	const HChar *argv0;	/* --argv0: the program's argv[0], if that is not its path */
};
extern struct settings settings;

/* tracer_main.c */
void close_first_log(void);		/* call it after the core has opened a log: the program must not see it */

/* tracer_ring.c */
Bool ring_create(void); /* makes and announces the ring file; False: errno tells why, state is scratch */
void ring_make_scratch(void);
Bool ring_reader_lives(void);
void ring_forks(Bool more);		/* a process is to be forked and traced; False: it is not, after all */
void ring_executes(Bool does);		/* the process may be about to execute a program that is traced, or not */
void *ring_record(enum st_kind kind, SizeT bytes);	/* room for one record, header written, the rest zero */
void ring_thread(ThreadId tid);		/* writes ST_SWITCH if the stream is in another thread */
void ring_publish(void);
void ring_end(void);			/* publishes, sets tracer_state 2, then uses scratch memory */
void ring_enter(ThreadId tid);		/* generated code starts */
void ring_leave(ThreadId tid);		/* generated code has stopped */
const struct st_answer *ring_answer(UInt number);	/* waits for the answer to that request; NULL: nobody reads */
void ring_fault(ThreadId tid);		/* a signal is being handled: if code was running, it left a block open */
void ring_meet(HWord addr);		/* called by generated code at a locked access */
extern UInt live_threads;
extern SizeT largest_block_bytes;	/* no block's record is longer; ring_enter leaves room for it */

/* blocks.c */
void blocks_init(void);
UInt blocks_next_id(void);
void blocks_add(const struct st_block_def *def, Addr nraddr);	/* keeps a copy and writes it into the ring */
void blocks_define_all(void);		/* writes the definitions of all blocks into a forked child's ring */
void blocks_translate_again(void);	/* the settings of the translation have changed */
void blocks_cut(ThreadId tid, UInt id, UChar *at);
void blocks_discarded(Addr orig_addr, VexGuestExtents extents);

/* instrument.c */
IRSB *tracer_instrument(VgCallbackClosure *closure, IRSB *in, const VexGuestLayout *layout,
	const VexGuestExtents *vge, const VexArchInfo *host, IRType gword, IRType hword);

/* tracer_prefetch.c: the address expression of a software prefetch or flush.  False if these bytes are neither, or
 * have a segment prefix.  base, index: registers as encoded, -1 none.  flush: it flushes the line instead. */
struct prefetch { Int base, index; UInt scale; Long disp; Bool address32, flush; };
Bool prefetch_decode(const UChar *code, UInt len, ULong next_ip, struct prefetch *out);

/* tracer_assists.c; only with settings.assists.  Statements are added to the block that assists_insn was given. */
/* An instruction begins.  def: what temporaries are; op: behind its prefixes. */
void assists_insn(IRSB *out, IRExpr *const *def, const UChar *op, UInt bytes);
void assists_temp(IRExpr *e, IRExpr *result);			/* e was assigned to the temporary `result` */
void assists_store(IRExpr *data);				/* data will be stored */
Bool assists_any(void);						/* the instruction has a test; then call ... */
IRExpr *assists_take(IRExpr *mxcsr);				/* ... this: the value of its ST_SLOT_ASSIST */
Bool assists_loads_mxcsr(void);
IRExpr *assists_stored_mxcsr(IRExpr *data, IRExpr *mxcsr);	/* what a store stores: `data` but for STMXCSR */

/* events.c */
void events_needs(void);		/* call before the options are read */
void events_init(void);			/* call after the options are read */
void events_regs(ThreadId tid);		/* writes ST_REGS */
void events_request_regs(ThreadId tid);	/* ST_REGS will be written before the thread runs again */
void events_before_run(ThreadId tid);
void events_note(UInt severity, const HChar *text);

/* tracer_follow.c */
extern Bool follow_new_pids;		/* set it while clone makes a PID namespace */
void follow_init(void);			/* call after the options are read */
void follow_begin(void);		/* a process or program begins */
Bool follow_can(void);			/* what this process forks or executes can be traced, else a note says why */
/* The same for this program, if follow_can.  With follow_untraced, softpmu-exec must execute it untraced. */
Bool follow_can_exec(const HChar *path);
extern Bool follow_untraced;

/* turns.c */
UInt turns_blocks(void);		/* blocks that the running thread may execute before another's turn */
void turns_ran(UInt blocks);		/* the running thread executed this many blocks */
void turns_pause(void);			/* it executed a PAUSE */
void turns_meet(void);			/* it made a locked access to a line that another thread locked last */
void turns_before_syscall(UInt number, const UWord *args);
void turns_after_syscall(UInt number, const UWord *args, SysRes res);
void turns_created(ThreadId child);
void turns_exit(ThreadId tid);		/* the thread ends, or could not be created */

/* tracer_client.c */
void client_needs(void);
void client_thread_exit(ThreadId tid);
/* Asks the model whether a PMI was taken (ST_CLIENT_STEP).  value: 1 after the return from the handler.  False: there
 * is no model. */
Bool client_step(ThreadId tid, ULong value, UInt *budget, Bool *take);

/* tracer_pmi.c */
Bool pmi_set_handler(ThreadId tid, Addr entry, Addr stack);	/* False: such memory cannot be used.  entry 0: none */
Word pmi_budget(ThreadId tid);
void pmi_set_budget(ThreadId tid, Word budget);
void pmi_enter(ThreadId tid);		/* the thread enters its handler instead of its next instruction */
void pmi_left(ThreadId tid, enum live_after after);	/* generated code was left with AFTER_STEP or AFTER_IRET */
void pmi_thread_exit(ThreadId tid);
void pmi_forget(void);			/* in a forked child: no thread has a handler */

/* maps.c */
void maps_init(void);
void maps_all(void);			/* writes ST_MAP for everything that is mapped */
void maps_before_syscall(UInt number, const UWord *args);
void maps_after_syscall(UInt number, const UWord *args, SysRes res);
void maps_check_stack(void);		/* the main stack grows without a system call */
#endif
