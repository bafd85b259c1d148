/* SPDX-License-Identifier: GPL-2.0-or-later
 * A program built anew in several ways (sets of flags, AutoFDO, BOLT), the way chosen by modelled cycles and confirmed on this machine.
 *
 * Every build gets the flags that the next steps need: DWARF 4 (create_llvm_prof of AutoFDO 0.19 finds nothing in DWARF 5), relocations for BOLT.
 * The builds lie in one directory under names of one length, so that stacks begin alike in all runs.  Whatever prints something else than the first build is out.
 *
 * Leaves out: GCC's own AutoFDO (create_gcov 0.19 writes what GCC 12 and later cannot read): with a template of gcc, only BOLT uses the profile. */
#ifndef CLI_TUNE_REBUILD_H
#define CLI_TUNE_REBUILD_H
#include "cli/cli.h"
#include <stdio.h>

enum { REBUILD_FLAGS = 12, REBUILD_VARIANTS = REBUILD_FLAGS + 3 };
struct rebuild_options {
	const char *build;	/* template of a shell command, with {flags} and {out} */
	const char *flags[REBUILD_FLAGS];
	unsigned sets;		/* 0: those that rebuild_flags has */
	const char *dir;	/* where builds go, made if it is not there */
	const char *time;	/* arguments of the runs on this machine, separated by blanks; NULL: the same */
	bool autofdo, bolt, no_native, json;
	unsigned blocks;	/* of trial_options */
};
extern const char *const rebuild_flags[];	/* NULL behind the last */

/* r: the program as the command line has it; its argv[0] gives way to each build.  Returns an exit status. */
int rebuild(struct cli_run *r, const struct rebuild_options *o, FILE *to);
#endif
