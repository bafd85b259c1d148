/* SPDX-License-Identifier: GPL-2.0-or-later
 * What softpmu sweep report prints, computed once for all its forms. */
#ifndef CLI_SWEEP_REPORT_H
#define CLI_SWEEP_REPORT_H
#include "cli/sweep/sweep_state.h"
#include <stdio.h>

struct report_effect {
	const char *field, *from, *to;	/* field: "core", or as the plan has it; of a drawn one its ends */
	char ends[2][32];		/* texts of a range */
	size_t level, levels;		/* of the grid; drawn: 1 of 2 */
	bool drawn;
	struct paired log;
};
struct report {
	const struct sweep *s;
	const struct sweep_table *t;
	const char *objective;
	double confidence;
	size_t done, failed, missing;
	struct paired *mean;		/* of each machine: the objective against the first machine's, as a logarithm */
	struct paired *time;		/* likewise the time */
	double *x, *y;			/* of each machine: time and energy for the front */
	unsigned char *front;
	bool has_front;
	struct report_effect *effect;
	size_t effects;
	size_t *best;			/* of each program: a machine, or their number: not known */
};
int  sweep_report_make(struct report *r, const struct sweep *s, const char *objective, struct err *err);
void sweep_report_free(struct report *r);
/* exp(log) - 1 in per cent. */
double sweep_report_percent(double log);
/* What looks of the elimination count: "after 6 ...". */
const char *sweep_report_looked(const struct report *r);

void sweep_report_text(FILE *to, const struct report *r);
void sweep_report_csv(FILE *to, const struct report *r);
void sweep_report_json(FILE *to, const struct report *r);
void sweep_report_html(FILE *to, const struct report *r);
#endif
