/* SPDX-License-Identifier: GPL-2.0-or-later
 * A program rebuilt in several ways (sets of flags, AutoFDO, BOLT).  The best way is chosen by modelled cycles
 * and confirmed on this machine.
 *
 * Every build gets the flags that later steps need: DWARF 4 (create_llvm_prof of AutoFDO 0.19 finds nothing in
 * DWARF 5), and relocations for BOLT.  The builds are in one directory under names of equal length, so that
 * stacks begin alike in all runs.  A build whose output differs from the first build's is excluded.
 *
 * Leaves out: GCC's own AutoFDO (create_gcov 0.19 writes what GCC 12 and later cannot read): with a template
 * for gcc, only BOLT uses the profile. */
#ifndef CLI_TUNE_REBUILD_H
#define CLI_TUNE_REBUILD_H
#include "cli/cli.h"
#include <stdio.h>

enum { REBUILD_FLAGS = 12, REBUILD_VARIANTS = REBUILD_FLAGS + 3 };
struct rebuild_options {
	const char *build;	/* template of a shell command, with {flags} and {out} */
	const char *flags[REBUILD_FLAGS];
	unsigned sets;		/* 0: the sets of tune_rebuild.c */
	const char *dir;	/* for the builds; made if it does not exist */
	/* arguments of the runs on this machine, separated by blanks; NULL: the same as in the model */
	const char *time;
	bool autofdo, bolt, no_native, json;
	unsigned blocks;	/* of trial_options */
};
/* r: the program as the command line gives it; each build replaces its argv[0]. Returns an exit status. */
int rebuild(struct cli_run *r, const struct rebuild_options *o, FILE *to);
#endif
