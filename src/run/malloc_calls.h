/* SPDX-License-Identifier: GPL-2.0-or-later
 * Which blocks of memory a program gets from its allocator, and who asked: calls of malloc and its kind seen in the stream of executed blocks,
 * without a change to the program.  Private to src/run; what comes of it are RUN_HEAP records (run.h).
 *
 * A function is found by its name in every executable file that is mapped; a call begins where a block enters it, and ends where the stack pointer
 * stands above the return address again.  Arguments and results are the registers that the stream holds; arguments of 32-bit code lie on the stack, and
 * are what the function's first MOV of each brings into a register (one that is only ever an operand stays unknown, and so the block).  Of calls within calls the outermost counts: operator new, not its malloc.
 *
 * Left out: posix_memalign (its result goes to memory, whose contents the stream does not hold), brk, allocators of a program's own under other names.
 */
#ifndef RUN_MALLOC_CALLS_H
#define RUN_MALLOC_CALLS_H
#include "isa/isa.h"
#include "run/run.h"

struct heap_watch { struct { uint32_t process, function; uint64_t addr; } *entry; size_t entries, room; };

struct heap_thread {
	uint64_t gpr[16];
	bool known;		/* gpr is */
	bool inside;		/* a call has begun */
	uint32_t function;
	uint64_t sp;		/* at its entry: where the return address lies */
	uint64_t argument[3];
	unsigned arguments;	/* set of those that are known */
};

/* A mapping: looks the functions up in it.  0 or ERR_NOMEM. */
int  heap_map(struct heap_watch *w, uint32_t process, const struct st_map *m, const char *path);
/* Its files are gone: exec. */
void heap_forget(struct heap_watch *w, uint32_t process);
void heap_release(struct heap_watch *w);
/* Does the block enter one of the functions? */
bool heap_enters(const struct heap_watch *w, uint32_t process, const struct iblock *b);
void heap_file(struct heap_thread *t, const uint64_t gpr[16], int word_bytes);
/* An execution of a block, behind which the thread goes on at next_ip (0: not known).  enters: heap_enters of it.  True: *out tells of a call that is over. */
bool heap_block(const struct heap_watch *w, struct heap_thread *t, uint32_t process, int word_bytes, const struct iblock *b, bool enters,
	const uint64_t *slots, unsigned nslots, uint64_t next_ip, struct run_heap *out);
#endif
