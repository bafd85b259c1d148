/* SPDX-License-Identifier: GPL-2.0-or-later
 * The machines of a plan: each core with each combination of levels, each of these with what is drawn, then those that
 * the plan names.  The first one is the machine that reports compare the others with.
 *
 * A Latin hypercube of N points divides the range of each drawn field into N parts; each part has one point.  Which
 * parts meet is chosen by the seed (M. D. McKay, R. J. Beckman and W. J. Conover, "A Comparison of Three Methods for
 * Selecting Values of Input Variables in the Analysis of Output from a Computer Code", Technometrics 21, 1979); here
 * each point lies in the middle of its part.  Of a list of levels each gets an equal share of the parts.
 */
#ifndef SWEEP_MACHINES_H
#define SWEEP_MACHINES_H
#include "core/machine/config.h"
#include "sweep/plan.h"
#include "util/fnv.h"

struct sweep_machine {
	char *name;			/* "golden-cove l2.size=1M prefetch.l2=off" */
	const char *core;
	struct plan_setting *setting;	/* in the plan's order */
	size_t settings;
	int core_level;			/* index in plan.core; -1: named by the plan */
	double *level;			/* of each factor of the plan: index, or 0 to 1 in a drawn range; -1: none */
	char key[FNV_CHARS];		/* of all its fields, and of the tables of its uops, events and energy */
	double ghz;
	unsigned line;			/* of the plan, or 0 */
};
struct sweep_machines {
	struct sweep_machine *machine;
	size_t machines, room;
	struct plan texts;		/* only memory */
};

/* Machines that are the same by their keys are taken once.  data_dir: holds cores/, uops/, ...  An error names the
 * machine. */
int  sweep_machines_make(struct sweep_machines *m, const struct plan *p, const char *data_dir, struct err *err);
/* Can each machine be made?  Sizes that do not fit together are found only so.  data_dir: as above. */
int  sweep_machines_try(const struct sweep_machines *m, const char *data_dir, struct err *err);
void sweep_machines_free(struct sweep_machines *m);
/* The key of a machine; config: what the settings made of the core. */
int  sweep_machine_key(const struct core_config *config, const char *data_dir, char key[FNV_CHARS], struct err *err);
/* Loads the core and applies the settings. */
int  sweep_machine_config(struct core_config *config, const char *data_dir, const char *core,
	const struct plan_setting *setting, size_t settings, struct err *err);
#endif
