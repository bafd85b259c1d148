/* SPDX-License-Identifier: GPL-2.0-or-later
 * What a Linux guest of softpmu machine is made of, from the command's options to the emulator's.
 */
#ifndef CLI_MACHINE_LINUX_H
#define CLI_MACHINE_LINUX_H
#include "cli/machine/machine_config.h"
#include "util/err.h"

enum { MACHINE_ADDS = 256 };

struct machine_linux {			/* NULL: not given */
	const char *kernel;		/* a bzImage */
	const char *root;		/* a folder: the guest's / */
	const char *add[MACHINE_ADDS];	/* files and folders of the host */
	unsigned adds;
	const char *command;		/* for /bin/sh -c */
	const char *append;		/* behind the kernel's command line */
	const char *out;		/* a folder: what the command leaves in /out */
	const char *kallsyms, *console;	/* files */
	const char *stream;		/* a file for what is timed (--save-stream) */
	const char *state;		/* a folder */
	const char *libexec;		/* where boot_rom and init are */
	/* machine_linux_check fills: */
	unsigned bits;			/* 0: known when it is unpacked */
	char rom[PATH_MAX];
	char line[4096];		/* the kernel's command line */
};

/* What can be said before anything is made.  c->rom becomes the ROM of a Linux guest. */
int  machine_linux_check(struct machine_linux *l, struct machine_config *c, struct err *err);
/* Unpacks the kernel, packs the archive, and writes the lowest memory. */
int  machine_linux_unpack(struct machine_linux *l, const struct machine_config *c, const struct machine_files *f,
	struct err *err);
int  machine_linux_pack(struct machine_linux *l, const struct machine_config *c, const struct machine_files *f,
	struct err *err);
/* The lines of the emulator's options, and what the guest is to do.  restore, save: a folder or NULL. */
int  machine_linux_options(const struct machine_linux *l, const struct machine_config *c, const struct machine_files *f,
	const char *data_dir, const char *save, const char *restore, struct err *err);

/* machine_out.c: unpacks what the guest sent of /out (guest_ports.h) into the folder, which is made.  Nothing outside
 * of it is written to, whatever the guest sent.  ERR_INPUT: it sent something else, or was cut short. */
int  machine_out(const char *stream, const char *folder, struct err *err);
#endif
