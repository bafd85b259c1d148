/* SPDX-License-Identifier: GPL-2.0-or-later
 * A kernel's names: a copy of its /proc/kallsyms, or a System.map.
 *
 * Lines are "ADDRESS TYPE NAME" and, of a module, "[MODULE]" behind a tab.  Functions are those of type T, t, W and w;
 * a function ends where the next symbol of the kernel or of its module begins, whatever that is.
 * Source: proc(5), "/proc/kallsyms"; nm(1) for the types.
 */
#ifndef SYMBOLS_KALLSYMS_H
#define SYMBOLS_KALLSYMS_H
#include "util/err.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { KALLSYMS_OWNERS = 4096, KALLSYMS_NAME = 64 };	/* most modules; bytes of "[MODULE]" with its NUL */
#define KALLSYMS_KERNEL "[kernel.kallsyms]"	/* as perf calls the kernel's own code */

struct symfile;
struct kallsyms_owner {		/* the kernel, number 0, or a module */
	char name[KALLSYMS_NAME];	/* KALLSYMS_KERNEL, "[ext4]" */
	struct symfile *file;	/* its functions, by their addresses */
	uint64_t start, end;	/* of its code */
};
/* A stretch of addresses that has functions of one owner.  Modules may lie between each other's parts. */
struct kallsyms_range { uint64_t start, end; size_t owner; };
struct kallsyms {
	struct kallsyms_owner *owner;
	size_t owners;
	struct kallsyms_range *range;	/* in order of address, apart from each other */
	size_t ranges;
	uint64_t text;		/* address of _text, or _stext; 0: it has neither */
};

/* ERR_INPUT: not such a file, or one whose addresses are hidden (all 0). */
int  kallsyms_open(struct kallsyms **out, const char *path, struct err *err);
void kallsyms_close(struct kallsyms *k);	/* NULL: does nothing */
/* Leaves an owner's functions to the caller, who closes them. */
struct symfile *kallsyms_take(struct kallsyms *k, size_t owner);
#endif
