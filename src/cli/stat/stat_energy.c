/* SPDX-License-Identifier: GPL-2.0-or-later
 * The energy of a counted run (stat_energy.h). */
#include "cli/stat/stat_energy.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

int stat_energy_begin(struct stat_energy *e, const struct core_config *core, struct cli_sample *sample,
	struct err *err)
{
	free(e->thread);
	e->thread = NULL;
	e->threads = 0;
	sample->extras = ENERGY_COUNTS_COUNT;
	return energy_load(&e->model, cli_data_dir(), core->energy, err);
}

void stat_energy_batch(struct stat_energy *e, const struct session *session, const struct run_thread *t,
	const struct spmu_batch *b)
{
	const size_t number = session_thread_number(session, t);
	if (number >= e->threads) {
		struct energy_activity *more = realloc(e->thread, (number + 1) * sizeof *more);
		if (!more) {
			e->failed = true;
			return;
		}
		memset(more + e->threads, 0, (number + 1 - e->threads) * sizeof *more);
		e->thread = more;
		e->threads = number + 1;
	}
	energy_batch(e->thread + number, b);
}

void stat_energy_tell(const struct stat_energy *e, struct cli_sample *sample, const struct run_thread *t)
{
	const size_t number = session_thread_number(sample->session, t);
	for (unsigned i = 0; i < ENERGY_COUNTS_COUNT; i++)
		sample->extra[i] = number < e->threads ? (double)e->thread[number].n[i] : 0;
}

int stat_energy_line(struct stat_energy *e, struct stat_line *l, const struct core_config *core,
	struct cli_sample *sample, const struct run_result *r, struct err *err)
{
	const bool estimates = cli_sample_estimates(sample);
	struct energy_activity all = { 0 };
	struct energy_bill bill;
	double unused;
	if (e->failed)
		return err_set(err, ERR_NOMEM, "out of memory for the run's energy");
	for (unsigned i = 0; i < ENERGY_COUNTS_COUNT; i++) {
		double n = estimates ? cli_sample_total(sample, sample->events + 1 + i, &unused) : 0;
		for (size_t k = 0; k < e->threads; k++)	/* threads that were timed in full */
			n += estimates && cli_sample_has_windows(sample, k) ? 0 : (double)e->thread[k].n[i];
		all.n[i] = n > 0 ? (uint64_t)(n + 0.5) : 0;
	}
	if (estimates)
		all.n[ENERGY_COUNT_instructions] = r->instructions + r->warmed;
	energy_bill(&bill, &e->model, core, &all);
	l->estimated = estimates;
	l->half = NAN;
	l->metric = "W";
	l->metric_format = "%8.3f";
	l->metric_value = all.n[ENERGY_COUNT_cycles] ?
		bill.total * core->frequency_ghz / (double)all.n[ENERGY_COUNT_cycles] : NAN;	/* nJ a ns */
	stats_add(&l->value, bill.total);
	stats_add(&l->running_ns, (double)all.n[ENERGY_COUNT_cycles] / core->frequency_ghz);
	stats_add(&l->enabled_ns, (double)all.n[ENERGY_COUNT_cycles] / core->frequency_ghz);
	return 0;
}

void stat_energy_free(struct stat_energy *e)
{
	free(e->thread);
	e->thread = NULL;
}
