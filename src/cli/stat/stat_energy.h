/* SPDX-License-Identifier: GPL-2.0-or-later
 * stat --energy: the energy of the run by the model of analysis/cost/energy.h, as a line of the table.
 *
 * In a sampled run what the model counts is estimated like any event; the sum has no interval, because its counts go
 * together in ways that their own intervals do not tell.
 */
#ifndef CLI_STAT_ENERGY_H
#define CLI_STAT_ENERGY_H
#include "analysis/cost/energy.h"
#include "cli/common/cli_sample.h"
#include "cli/stat/stat_print.h"

struct stat_energy {
	bool on;
	struct energy_model model;
	struct energy_activity *thread;	/* by its number in the session */
	size_t threads;
	bool failed;			/* out of memory */
};
/* Reads the core's energy table, and makes the estimates ready for the counts. */
int  stat_energy_begin(struct stat_energy *e, const struct core_config *core, struct cli_sample *sample,
	struct err *err);
void stat_energy_batch(struct stat_energy *e, const struct session *session, const struct run_thread *t,
	const struct spmu_batch *b);
/* Tells the estimates what a thread has counted, before cli_sample_sampled and cli_sample_window. */
void stat_energy_tell(const struct stat_energy *e, struct cli_sample *sample, const struct run_thread *t);
/* Adds the energy of a run that has ended (and, if it was sampled, after cli_sample_finish) to the line. */
int  stat_energy_line(struct stat_energy *e, struct stat_line *l, const struct core_config *core,
	struct cli_sample *sample, const struct run_result *r, struct err *err);
void stat_energy_free(struct stat_energy *e);
#endif
