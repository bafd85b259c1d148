/* SPDX-License-Identifier: GPL-2.0-or-later
 * The tracer: a Valgrind tool that runs a program and writes down what it does (stream/format.h).
 *
 * tracer_ring.c        the ring file: room for records, publishing, waiting for the reader, the announce pipe
 * instrument.c  a superblock in, the same superblock with inline stores out; its description into the ring
 * blocks.c      the table of blocks that exist; discards; what a fault leaves of a block
 * tracer_prefetch.c    software prefetches, which VEX drops
 * events.c      process, threads, system calls, signals, exit
 * tracer_client.c      the program's own requests
 * turns.c       which thread runs
 * maps.c        mappings and build-ids
 * tracer_main.c        options and start
 *
 * All of it runs with Valgrind's big lock held, so one thread at a time; the state below is the process's.
 * While generated code runs, the write pointer lives in the thread's shadow guest state (struct live, below);
 * otherwise in `ring`.  ring_enter and ring_leave carry it over.
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

/* Of the kernel's asm-generic headers; Valgrind's copies leave them out. */
#define O_CLOEXEC_ 02000000
#define AT_FDCWD_ (-100)
#define AT_EMPTY_PATH_ 0x1000
#define ETIMEDOUT_ 110
#define EOPNOTSUPP_ 95
#define MAP_HUGETLB_ 0x40000
#define MADV_HUGEPAGE_ 14
#define MADV_NOHUGEPAGE_ 15

#define ROUND8(n) (((n) + 7u) & ~(SizeT)7)

/* In shadow area 1 of the running thread's guest state; generated code reads and writes it. */
struct live {
	HWord ptr;		/* next record goes here */
	HWord end;		/* no record may reach beyond */
	HWord open;		/* equal to ptr: a block was entered and not left; its header is the word at ptr */
	HWord after;		/* enum live_after: asked for by the block that was just left */
};
enum live_after { AFTER_NOTHING = 0, AFTER_PAUSE = 1, AFTER_REQUEST = 2 };

struct ring {
	struct st_control *control;	/* NULL: scratch, nobody reads */
	UChar *chunk;		/* the chunk being filled */
	UChar *ptr, *end;
	ULong chunk_pos;	/* absolute position of its first byte */
	ULong published;
	ThreadId stream_tid;	/* thread that the last ST_SWITCH named */
	UInt given;		/* blocks that it may run before it has to ask again */
	Bool met;		/* ring_meet has ended its turn */
	ThreadId running;	/* thread whose shadow state holds ptr; VG_INVALID_THREADID: ring.ptr is right */
};
extern struct ring ring;

struct settings {
	const HChar *dir;	/* --ring-dir */
	Bool regs;		/* --regs=yes */
	Int serial;		/* --serial: execs of this pid before */
	const HChar *argv0;	/* --argv0: what the program is called, if not by its path */
};
extern struct settings settings;

/* tracer_main.c */
void close_first_log(void);		/* after the core has opened one: the program is not to see it */

/* tracer_ring.c */
Bool ring_create(void);			/* makes the ring file and announces it; False: errno said why, state is scratch */
void ring_make_scratch(void);
Bool ring_reader_lives(void);
void *ring_record(enum st_kind kind, SizeT bytes);	/* room for one record, header written, the rest zero */
void ring_thread(ThreadId tid);		/* ST_SWITCH if the stream is in another thread */
void ring_publish(void);
void ring_end(void);			/* publishes; tracer_state 2; then scratch */
void ring_enter(ThreadId tid);		/* generated code starts */
void ring_leave(ThreadId tid);		/* it stopped */
const struct st_answer *ring_answer(UInt number);	/* waits for the answer to that request; NULL: nobody reads any more */
void ring_fault(ThreadId tid);		/* a signal is being handled; if code runs, it was its own and left a block open */
void ring_meet(HWord addr);		/* called by generated code: a locked access */
extern UInt live_threads;
extern SizeT largest_block_bytes;	/* no block's record is longer; ring_enter leaves room for it */

/* blocks.c */
void blocks_init(void);
UInt blocks_next_id(void);
void blocks_add(const struct st_block_def *def, Addr nraddr);	/* takes a copy, writes it into the ring */
void blocks_define_all(void);		/* a forked child's ring gets the definitions of all that survive */
void blocks_cut(ThreadId tid, UInt id, UChar *at);
void blocks_discarded(Addr orig_addr, VexGuestExtents extents);

/* instrument.c */
IRSB *tracer_instrument(VgCallbackClosure *closure, IRSB *in, const VexGuestLayout *layout,
	const VexGuestExtents *vge, const VexArchInfo *host, IRType gword, IRType hword);

/* tracer_prefetch.c: the address expression of a software prefetch; False if these bytes are none (or with a segment prefix). */
struct prefetch { Int base, index; UInt scale; Long disp; Bool address32; };	/* registers as encoded, -1 none */
Bool prefetch_decode(const UChar *code, UInt len, ULong next_ip, struct prefetch *out);

/* events.c */
void events_needs(void);		/* before the options are read */
void events_init(void);			/* after */
void events_regs(ThreadId tid);		/* ST_REGS */
void events_request_regs(ThreadId tid);	/* ST_REGS before the thread runs on */
void events_before_run(ThreadId tid);
void events_note(UInt severity, const HChar *text);

/* turns.c */
UInt turns_blocks(void);		/* blocks that the thread that runs may execute before another's turn */
void turns_ran(UInt blocks);		/* it executed so many, */
void turns_pause(void);			/* a PAUSE, */
void turns_meet(void);			/* a locked access of what another locked last */
void turns_before_syscall(UInt number, const UWord *args);
void turns_after_syscall(UInt number, const UWord *args, SysRes res);
void turns_created(ThreadId child);
void turns_exit(ThreadId tid);		/* it ends, or could not be created */

/* tracer_client.c */
void client_needs(void);
void client_thread_exit(ThreadId tid);

/* maps.c */
void maps_init(void);
void maps_all(void);			/* ST_MAP of everything mapped */
void maps_before_syscall(UInt number, const UWord *args);
void maps_after_syscall(UInt number, const UWord *args, SysRes res);
void maps_check_stack(void);		/* the main stack grows by itself */
#endif
