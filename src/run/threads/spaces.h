/* SPDX-License-Identifier: GPL-2.0-or-later
 * Which process an address space of a whole machine belongs to.
 *
 * A kernel with page table isolation has two sets of tables for each process: the kernel's, and 4 KB above them the
 * program's (Linux, arch/x86/entry/calling.h, PTI_USER_PGTABLE_BIT).  Both are one process, with the number of the
 * program's space.  Once a program runs on tables of the first kind, there is no isolation: each space is a process.
 */
#ifndef RUN_SPACES_H
#define RUN_SPACES_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct spaces {			/* all zero: none */
	uint64_t *tables;	/* by tag, + 1; 0: unknown */
	size_t count;
	bool split, whole;	/* a program ran on tables of the one kind; of the other */
};

/* The processor is on these tables.  Without memory, they are not known. */
void spaces_enter(struct spaces *s, uint64_t tag, uint64_t tables);
/* A program runs in this space. */
void spaces_program(struct spaces *s, uint64_t tag);
uint64_t spaces_process(const struct spaces *s, uint64_t tag);
void spaces_release(struct spaces *s);
#endif
