/* SPDX-License-Identifier: GPL-2.0-or-later
 * Advice on a program (analysis/tune/advice_rules.h): one run gathers evidence, and replays on changed
 * machines, each without one of the troubles, give the estimates. */
#ifndef CLI_TUNE_ADVICE_H
#define CLI_TUNE_ADVICE_H
#include "analysis/tune/advice_rules.h"
#include "cli/cli.h"
#include "cli/common/cli_sample.h"
#include <stdio.h>

struct tune_advice;
int  tune_advice_create(struct tune_advice **out, struct err *err);
void tune_advice_destroy(struct tune_advice *a);
/* Runs the program of r, or replays its stream, and applies the rules. r->run.save is kept so that it can be
 * replayed; with neither a saved nor a replayed stream there are no replays. threshold: the least share of the
 * cycles that is worth advice. sample: how, or whether, the runs are sampled. 0, or nonzero after one printed line;
 * *status: the program's exit status. */
int  tune_advice_run(struct tune_advice *a, struct cli_run *r, struct cli_sample *sample, double threshold,
	int *status);
void tune_advice_print(const struct tune_advice *a, FILE *to, size_t rows, bool json);
#endif
