/* SPDX-License-Identifier: GPL-2.0-or-later
 * Which blocks of memory a program gets from its allocator, and which code asked for them: it finds calls of
 * malloc and similar functions in the stream of executed blocks, without a change to the program.  The results are
 * RUN_HEAP records (run.h).  Private to src/run.
 *
 * A function is found by its name in every executable file that is mapped.  A call begins where a block enters the
 * function, and ends where the stack pointer is above the return address again.  Arguments and results are in the
 * registers that the stream holds.  Arguments of 32-bit code are on the stack; the value of each is known from the
 * function's first MOV that loads it (an argument that is only used as an operand stays unknown, and so does the
 * block).  Of nested calls the outermost counts: operator new, not its malloc.
 *
 * Left out: posix_memalign (its result goes to memory, whose content the stream does not hold), brk, a program's
 * own allocators under other names.
 */
#ifndef RUN_MALLOC_CALLS_H
#define RUN_MALLOC_CALLS_H
#include "isa/isa.h"
#include "run/run.h"

struct heap_watch { struct { uint32_t process, function; uint64_t addr; } *entry; size_t entries, room; };

struct heap_thread {
	uint64_t gpr[16];
	bool known;		/* gpr is known */
	bool inside;		/* a call has begun */
	uint32_t function;
	uint64_t sp;		/* at its entry: points to the return address */
	uint64_t argument[3];
	unsigned arguments;	/* set of the known arguments */
};

/* Looks the functions up in a new mapping.  0 or ERR_NOMEM. */
int  heap_map(struct heap_watch *w, uint32_t process, const struct st_map *m, const char *path);
/* Forgets the process' files, at an exec. */
void heap_forget(struct heap_watch *w, uint32_t process);
void heap_release(struct heap_watch *w);
/* True if the block enters one of the functions. */
bool heap_enters(const struct heap_watch *w, uint32_t process, const struct iblock *b);
void heap_file(struct heap_thread *t, const uint64_t gpr[16], int word_bytes);
/* Handles an execution of a block, after which the thread continues at next_ip (0: unknown).  enters: heap_enters
 * of the block.  True: *out describes a call that has ended. */
bool heap_block(const struct heap_watch *w, struct heap_thread *t, uint32_t process, int word_bytes,
	const struct iblock *b, bool enters, const uint64_t *slots, unsigned nslots, uint64_t next_ip,
	struct run_heap *out);
#endif
