/* SPDX-License-Identifier: GPL-2.0-or-later
 * What softpmu machine tells the emulator: a configuration for Bochs, and options for our side of it
 * (src/machine/bochs/instrument.cc).
 */
#ifndef CLI_MACHINE_CONFIG_H
#define CLI_MACHINE_CONFIG_H
#include "core/machine/config.h"
#include "util/err.h"
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>

enum { MACHINE_CONSOLE = 3 };	/* file number of what the guest prints, in the emulator */
enum machine_timing { MACHINE_COUNTING, MACHINE_MARKED, MACHINE_ALWAYS };

struct machine_config {
	const struct core_config *core;
	const char *core_name;		/* as --core had it */
	const char *const *set;		/* as --set had them */
	unsigned sets;
	const char *rom;		/* NULL: not given */
	enum machine_timing timing;
	unsigned memory;		/* MB */
	bool reload_msrs;
};

struct machine_files {			/* in a folder of their own */
	char folder[PATH_MAX - 32], config[PATH_MAX], options[PATH_MAX], report[PATH_MAX], log[PATH_MAX], vga[PATH_MAX];
};

/* ERR_INPUT or ERR_UNSUPPORTED: the machine cannot be had, for this reason. */
int  machine_config_check(const struct machine_config *c, struct err *err);
/* Bochs's configuration. */
void machine_config_print(FILE *out, const struct machine_config *c, const struct machine_files *f);
/* Makes the folder in TMPDIR and writes the files. */
int  machine_files_create(struct machine_files *f, const struct machine_config *c, const char *data_dir,
	struct err *err);
void machine_files_remove(const struct machine_files *f);
#endif
