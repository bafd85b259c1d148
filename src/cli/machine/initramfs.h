/* SPDX-License-Identifier: GPL-2.0-or-later
 * The guest's root file system: an archive that the kernel unpacks into memory.
 *
 * Format: cpio, "newc", as Linux's Documentation/driver-api/early-userspace/buffer-format.rst has it.  Everything
 * belongs to root.  What is put there first stays; a later file of the same name is left out.  Names go through
 * symbolic links that are in the archive already.
 */
#ifndef CLI_INITRAMFS_H
#define CLI_INITRAMFS_H
#include "util/err.h"
#include <stdint.h>
#include <stdio.h>
#include <sys/types.h>

struct initramfs;

int  initramfs_open(struct initramfs **out, const char *file, struct err *err);
/* From now on each regular file of the host that is put there is written to the list: its path here, a tab, its path in
 * the guest.  The list is the caller's. */
void initramfs_list(struct initramfs *a, FILE *list);
/* Writes the end and closes the file.  NULL: does nothing. */
int  initramfs_close(struct initramfs *a, struct err *err);

/* Names are absolute, or relative to /; the folders above are made. */
int  initramfs_folder(struct initramfs *a, const char *name, mode_t mode, struct err *err);
int  initramfs_device(struct initramfs *a, const char *name, mode_t mode, unsigned major, unsigned minor,
	struct err *err);
int  initramfs_link(struct initramfs *a, const char *name, const char *target, struct err *err);
int  initramfs_text(struct initramfs *a, const char *name, mode_t mode, const char *text, struct err *err);
/* A regular file of the host. */
int  initramfs_file(struct initramfs *a, const char *name, mode_t mode, const char *from, struct err *err);
/* The host's folder with all below it, as `name`; it stays on its file system no more than find does.  Hard links stay
 * ones; sockets are left out. */
int  initramfs_tree(struct initramfs *a, const char *name, const char *from, struct err *err);

/* initramfs_add.c: a file of the host under its own name: a folder as it is; a file with the symbolic links on the way
 * to it.  With a program come its interpreter and its shared libraries (as ld.so finds them), with a script its
 * interpreter.  ERR_INPUT: a library is missing; ERR_SYSTEM: no such file. */
int  initramfs_add(struct initramfs *a, const char *path, struct err *err);
/* A shell and the tools that a script expects, as far as the host has them. */
int  initramfs_basics(struct initramfs *a, struct err *err);
#endif
