/* SPDX-License-Identifier: GPL-2.0-or-later
 * Who waits for whom among the threads of a process, as the stream tells: a load, or a locked access, of bytes that another
 * thread wrote last cannot be done before that was written.  Locks, flags and hand-offs through memory keep their order by
 * this, whoever is ahead by the modelled clock; accesses that do not meet are free.
 *
 * The writes of each 8 bytes are kept in a table of fixed size, by byte, of two threads at a time; what is pushed out is
 * forgotten: then order is by clock alone.  Left out: that a write must not come before a load that did not see it.
 *
 * Belongs to the front (run.c).  Private to src/run.
 */
#ifndef RUN_DEPEND_H
#define RUN_DEPEND_H
#include "isa/isa.h"
#include "util/err.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { DEPEND_SETS = 1 << 14, DEPEND_WAYS = 2, DEPEND_NEEDS = 64, DEPEND_FUTEXES = 256 };

struct depend_write {
	uint64_t word;		/* address / 8 */
	uint64_t number;	/* the thread's block that wrote last */
	uint32_t thread;	/* 1 + index; 0: empty */
	uint8_t  bytes;		/* set of them */
	uint8_t  older;		/* was touched before the other of its set */
};

struct depend_wake { uint64_t address, number; uint32_t thread; };

struct depend {			/* of a process */
	struct depend_write write[DEPEND_SETS][DEPEND_WAYS];
	struct depend_wake wake[DEPEND_FUTEXES];	/* who woke somebody there last */
};

struct depend_thread {		/* of a thread */
	uint64_t issued;	/* blocks */
	uint64_t *seen;		/* by thread: the last of its blocks that this one waits for, or did */
	size_t room;
};

struct depend_need { uint32_t thread; uint64_t number; };

/* The accesses of an execution by thread `index`, which will be its block issued + 1.  Returns how many other threads' blocks must have been done,
 * filled into need. */
unsigned depend_block(struct depend *d, struct depend_thread *t, uint32_t index, const struct iblock *b, unsigned slot_count,
                      const uint64_t *slots, struct depend_need need[DEPEND_NEEDS]);
/* Thread `index` makes this system call: futex calls that wake. */
void depend_syscall(struct depend *d, const struct depend_thread *t, uint32_t index, bool wide, const struct st_syscall *s);
/* Another thread may have run during the call (st_syscall.blocked): false if that is the tracer's doing alone, because it cannot have waited
 * for another thread: calls about the own memory, signals and threads, futex calls that wake, waits that found the value changed. */
bool depend_blocks(bool wide, const struct st_syscall *s);
/* It came back, having been blocked: true if it was woken by a futex call that is known. */
bool depend_woken(const struct depend *d, uint32_t index, bool wide, const struct st_syscall *s, struct depend_need *by);
#endif
