/* SPDX-License-Identifier: GPL-2.0-or-later
 * Runs one benchmark of `softpmu gate` and adds what it counted to a gate_file.
 *
 * Surroundings.  So that two checkouts or two machines count the same, a benchmark sees nothing of its caller but what
 * gate_surroundings.h lists.
 *
 * The whole program is one benchmark; or each region that it marks is one, called NAME/REGION.  All of the run is
 * timed.  The exact profile (analysis/exact.h) says which function each cycle and instruction belongs to, so that a
 * baseline can name the function that grew, without the program that it was made with.
 */
#ifndef GATE_RUN_H
#define GATE_RUN_H
#include "cli/cli.h"
#include "cli/gate/gate_figures.h"
#include "session/session.h"

struct gate_work {		/* what to run */
	const char *name;
	char *const *argv;
	bool regions;
};
struct gate_machine {		/* on what; all borrowed */
	struct cli_run *run;	/* whose options and core are used; its argv is set */
	const struct spmu_model *model;
	const struct session_events *events;
	char *const *env;
};

/* Runs it.  0, or an error; *err is empty if a line was printed.  A program that fails is an error, after what it wrote
 * to its standard error was printed. */
int gate_run(struct gate_file *to, const struct gate_work *w, const struct gate_machine *m, struct err *err);
#endif
