/* SPDX-License-Identifier: GPL-2.0-or-later
 * Starts the emulator, and reads what it left.
 */
#ifndef CLI_MACHINE_RUN_H
#define CLI_MACHINE_RUN_H
#include "cli/machine/machine_config.h"

enum { MACHINE_FAILED = -1, MACHINE_SAVED = -2 };	/* the reason has been printed; its state was saved, as asked */
/* restore: a folder, or NULL: it begins with f->config.  console: the kernel's messages.  Returns the guest's exit
 * status, or one of the above. */
int machine_run(const char *program, const struct machine_files *f, const char *restore, const char *console);
#endif
