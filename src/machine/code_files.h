/* SPDX-License-Identifier: GPL-2.0-or-later
 * Which file of the host a page of a guest's code comes from: the programs and libraries that were packed into the
 * guest are known by the contents of the pages of their executable segments.  Nothing is asked of the guest's kernel.
 *
 * A page that occurs once tells the file, and so where the whole segment lies.  One that occurs at several places is
 * decided by what is known of its address space, else by a later page of the same segment.  A file is taken to be
 * mapped once in an address space: at another place, or with another program, the space has a new image (exec, or
 * another process that got the same page tables).
 *
 * Left out: code that is changed when it is loaded (text relocations, breakpoints); the vDSO; which of several files
 * with equal code it is: it counts as the first of the list.
 */
#ifndef MACHINE_CODE_FILES_H
#define MACHINE_CODE_FILES_H
#include "stream/format.h"
#include "util/err.h"
#include <stdbool.h>
#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

enum { CODE_FILES_PAGE = 4096 };

struct code_files;

/* list: a file with a line for each file: its path on the host and, behind a tab, its path in the guest, which may be
 * missing.  Files that are not ELF, or not there, are passed over.  ERR_SYSTEM: the list cannot be read; ERR_NOMEM. */
int  code_files_open(struct code_files **out, const char *list, struct err *err);
void code_files_close(struct code_files *c);	/* NULL: does nothing */
size_t code_files_count(const struct code_files *c);	/* files with code */

/* A record ST_SYMBOLS, with its path: as guest_stream_record takes it. */
typedef void code_files_tell(void *context, const void *record, size_t bytes);
/* This page of the space's user code is executed for the first time, or may have another content than so far: `page`
 * has its CODE_FILES_PAGE bytes, addr lies in it and has no tag.  Calls `tell` with what is new: ST_SYMBOLS_CODE once
 * for a segment, and ST_SYMBOLS_PROGRAM.  c may be NULL; does nothing without memory.  True: the space has a new image,
 * so the other pages that it executes are to be given again. */
bool code_files_page(struct code_files *c, uint64_t tag, uint64_t addr, const uint8_t *page, code_files_tell *tell,
	void *context);
#ifdef __cplusplus
}
#endif
#endif
