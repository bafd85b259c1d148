/* SPDX-License-Identifier: GPL-2.0-or-later
 * What softpmu machine tells the emulator: a configuration for Bochs, and options for our side of it
 * (src/machine/bochs/instrument.cc, linux_guest.h).
 */
#ifndef CLI_MACHINE_CONFIG_H
#define CLI_MACHINE_CONFIG_H
#include "core/machine/config.h"
#include "util/err.h"
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>

enum { MACHINE_STDOUT = 3, MACHINE_STDERR };	/* file numbers of what the guest prints, in the emulator */
enum machine_timing { MACHINE_COUNTING, MACHINE_MARKED, MACHINE_ALWAYS };

struct machine_config {
	const struct core_config *core;
	const char *core_name;		/* as --core had it */
	const char *const *set;		/* as --set had them */
	unsigned sets;
	const char *rom;		/* NULL: not given; or a Linux kernel's */
	enum machine_timing timing;
	bool functional;		/* nothing is timed */
	unsigned memory;		/* MB */
	bool reload_msrs, warm;
	unsigned cpus;
};

struct machine_files {			/* in a folder of their own */
	char folder[PATH_MAX - 32], config[PATH_MAX], options[PATH_MAX], report[PATH_MAX], log[PATH_MAX], vga[PATH_MAX];
	/* of a Linux guest: its kernel, archive, lowest memory, what it is to do, and what its serial port and its
	 * channel GUEST_FILES bring */
	char kernel[PATH_MAX], archive[PATH_MAX], low[PATH_MAX], request[PATH_MAX], serial[PATH_MAX], out[PATH_MAX];
	char list[PATH_MAX];		/* of the files in the archive (machine/code_files.h) */
};

/* ERR_INPUT or ERR_UNSUPPORTED: the machine cannot be had, for this reason. */
int  machine_config_check(const struct machine_config *c, struct err *err);
/* ERR_UNSUPPORTED: the core's processor has no 64-bit mode. */
int  machine_config_check_bits(const struct machine_config *c, unsigned bits, struct err *err);
/* Bochs's configuration. */
void machine_config_print(FILE *out, const struct machine_config *c, const char *rom, const char *vga);
/* Options for our side; lines of a Linux guest may follow. */
void machine_options_print(FILE *out, const struct machine_config *c, const char *data_dir, const char *report);
/* An image for the display adapter. */
int  machine_config_write_vga(const char *vga);
/* Makes the folder in TMPDIR, and names for files in it. */
int  machine_files_create(struct machine_files *f, struct err *err);
void machine_files_remove(const struct machine_files *f);
int  machine_copy_file(const char *from, const char *to, struct err *err);	/* ERR_SYSTEM */
#endif
