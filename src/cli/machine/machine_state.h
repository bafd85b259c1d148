/* SPDX-License-Identifier: GPL-2.0-or-later
 * A folder with the saved state of a machine (softpmu machine --state): Bochs's files, ROMs, and `identity`, which says
 * of what machine it is.  `unfinished` marks a folder in which a state is being saved.
 */
#ifndef CLI_MACHINE_STATE_H
#define CLI_MACHINE_STATE_H
#include "cli/machine/machine_linux.h"

enum { STATE_TEXT = 1024 };

struct machine_state {
	char folder[PATH_MAX], rom[PATH_MAX], vga[PATH_MAX], config[PATH_MAX];
	char identity[STATE_TEXT];	/* of this machine */
	bool there;			/* the folder has a state, of this machine */
};

/* ERR_INPUT: the folder holds the state of another machine, or something else. */
int machine_state_open(struct machine_state *s, const struct machine_linux *l, const struct machine_config *c,
	const struct machine_files *f, const char *emulator, struct err *err);
/* Before a state is saved: marks the folder, and writes its ROMs. */
int machine_state_begin(const struct machine_state *s, const struct machine_linux *l, struct err *err);
/* The state is saved: it is one now. */
int machine_state_end(struct machine_state *s, struct err *err);
/* Writes Bochs's configuration in the folder, which knows the folder's name: it may have been moved. */
int machine_state_config(const struct machine_state *s, const struct machine_config *c, struct err *err);
#endif
