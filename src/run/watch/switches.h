/* SPDX-License-Identifier: GPL-2.0-or-later
 * Feature registers in a run: reads and writes by the program (softpmu/client.h), and writes at a place in it
 * (run_options.write).  Private to src/run.
 *
 * Each process' machine has the registers, for all of its cores and hardware threads; a new process or image
 * begins with those that the run began with.  At a write everything before it is finished, all cores of the
 * machine drain (core.h, machine_resize), and the next instruction is the first on the changed machine.  Left out:
 * registers for each core, with a kernel that saves them when it switches threads.
 */
#ifndef RUN_SWITCHES_H
#define RUN_SWITCHES_H
#include "run/threads/process.h"

struct switches {
	const struct run_write *write;
	size_t writes;
	/* their places in memory, and how often a block reached each */
	struct { uint32_t process, write; uint64_t addr, times; } *at;
	size_t found, room;
};

int  switches_init(struct switches *s, const struct run_options *o, struct err *err);
void switches_release(struct switches *s);
/* Looks the places up in a new mapping. */
int  switches_map(struct switches *s, uint32_t process, const struct st_map *m, const char *path, struct err *err);
/* BLOCK_WRITE if a place is in the block. */
unsigned switches_flags(const struct switches *s, uint32_t process, const struct iblock *b);
/* Such a block is about to run in t: makes the writes.  The engine need not be drained. */
int  switches_block(struct switches *s, struct rthread *t, const struct iblock *b, struct isa *isa, struct err *err);
/* True if the request is for a feature register that the process' machine has. */
bool switches_asked(const struct process *p, const struct st_client *c);
/* Answers such a request of t; the engine is drained. */
int switches_client(struct rthread *t, const struct st_client *c, struct isa *isa, struct st_answer *answer,
	struct err *err);
/* Writes one line about a place that was never reached, or "". */
void switches_note(const struct switches *s, char *text, size_t bytes);
#endif
