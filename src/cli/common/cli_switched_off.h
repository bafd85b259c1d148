/* SPDX-License-Identifier: GPL-2.0-or-later
 * Events that count 0 because the machine has a part switched off.
 */
#ifndef CLI_SWITCHED_OFF_H
#define CLI_SWITCHED_OFF_H
#include "core/machine/config.h"
#include "softpmu/pmu.h"

/* Why the event counts 0 on this machine, whatever the program does: which part is off, and the --set that switches it
 * on.  NULL: it can count. */
const char *cli_switched_off(const struct core_config *core, const struct spmu_model *m, const struct spmu_event *e,
	uint64_t extra);
/* The same for an event of the uncore, by its name. */
const char *cli_switched_off_uncore(const struct core_config *core, const char *name);
#endif
