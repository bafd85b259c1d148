/* SPDX-License-Identifier: GPL-2.0-or-later
 * Which threads of a process must wait for which, according to the stream: a load or a locked access of bytes that
 * another thread wrote last cannot be done before they were written.  This keeps the order of locks, flags and
 * hand-offs through memory, whichever thread is ahead by the modelled clock; other accesses are not ordered.
 *
 * A table of fixed size holds the writes to each 8 bytes, by byte, for two threads at a time.  What is displaced
 * is forgotten; then the order follows the clock alone.  Left out: that a write must not come before a load that
 * did not see it.
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
	uint64_t number;	/* the thread's block that wrote it last */
	uint32_t thread;	/* 1 + index; 0: empty */
	uint8_t  bytes;		/* set of the bytes written */
	uint8_t  older;		/* was used before the other one of its set */
};

struct depend_wake { uint64_t address, number; uint32_t thread; };

struct depend {			/* of a process */
	struct depend_write write[DEPEND_SETS][DEPEND_WAYS];
	struct depend_wake wake[DEPEND_FUTEXES];	/* the last wake-up at each futex */
};

struct depend_thread {		/* of a thread */
	uint64_t issued;	/* blocks */
	uint64_t *seen;		/* by thread: its last block for which this one waits, or has waited */
	size_t room;
};

struct depend_need { uint32_t thread; uint64_t number; };

/* Records the accesses of an execution by thread `index`, which will be its block issued + 1.  Fills `need` with
 * the blocks of other threads that must be done before, and returns how many. */
unsigned depend_block(struct depend *d, struct depend_thread *t, uint32_t index, const struct iblock *b,
	unsigned slot_count, const uint64_t *slots, struct depend_need need[DEPEND_NEEDS]);
/* Thread `index` makes this system call: records futex calls that wake. */
void depend_syscall(struct depend *d, const struct depend_thread *t, uint32_t index, bool wide,
	const struct st_syscall *s);
/* Another thread may have run during the call (st_syscall.blocked).  False if that was only the tracer's doing,
 * because the call cannot have waited for another thread: calls about its own memory, signals and threads, futex
 * calls that wake, waits that found the value changed. */
bool depend_blocks(bool wide, const struct st_syscall *s);
/* A call in which the thread was blocked has returned: true if a known futex call woke it. */
bool depend_woken(const struct depend *d, uint32_t index, bool wide, const struct st_syscall *s,
	struct depend_need *by);
#endif
