/* SPDX-License-Identifier: GPL-2.0-or-later
 * Compares what `softpmu gate` counted with the baseline, and judges it by limits.
 *
 * A limit is [BENCHMARK:]EVENT=LIMIT.  LIMIT is a percentage, and then the count may exceed the baseline's by no more
 * (a soft limit; of several for one event the last one holds); or a number, and then the count may not exceed it (a
 * hard limit).  Without soft limits of their own, instructions have 0.1 % and cycles 1 %.
 *
 * A benchmark that exceeds a limit has FAILED, unless something else than its program changed (a library, the model,
 * the host's processor) and the program did not, or the machine is another one.  Then the SURROUNDINGS changed, and the
 * baseline should be renewed by a commit that says so.  A program that was only built anew has another build-id if its
 * debugging information names another folder; so it counts as unchanged, too, if each of its functions executed as many
 * instructions as before.  NEW: the baseline lacks the benchmark, or an event of it.
 */
#ifndef GATE_CHECK_H
#define GATE_CHECK_H
#include "cli/gate/gate_figures.h"

#define GATE_INSTRUCTIONS_LIMIT 0.1
#define GATE_CYCLES_LIMIT 1.0

struct gate_limit {
	char name[256];		/* EVENT or BENCHMARK:EVENT */
	bool soft;
	double percent;
	uint64_t most;
};
int gate_limit_parse(struct gate_limit *l, const char *text, struct err *err);
/* Is it a limit of this event, of every benchmark or of one? */
bool gate_limit_is_of(const struct gate_limit *l, const char *event);
/* Is it a limit of this event of this benchmark? */
bool gate_limit_applies(const struct gate_limit *l, const char *benchmark, const char *event);

struct gate_row {
	const char *event;
	bool known;		/* the baseline has it */
	uint64_t before, now;
	bool has_soft, has_hard, over_soft, over_hard;
	double soft;
	uint64_t hard;
};
struct gate_change { const char *name, *before, *now; };	/* NULL: was not there, is not there */
struct gate_function {
	const char *name;	/* "FUNCTION [FILE]" */
	uint64_t before[GATE_TABLES], now[GATE_TABLES];	/* of GATE_CYCLES and GATE_INSTRUCTIONS */
};
enum gate_verdict { GATE_EQUAL, GATE_WITHIN, GATE_NEW, GATE_SURROUNDINGS, GATE_FAILED };
struct gate_judged {
	const char *name;
	enum gate_verdict verdict;
	bool in_baseline;	/* its name is */
	struct gate_row *row;
	size_t rows;
	struct gate_change *change;	/* of files */
	size_t changes;
	bool program_changed;	/* its file */
	bool program_works;	/* as well, and its functions executed other numbers of instructions */
	struct gate_function *function;	/* those that differ; the largest difference first */
	size_t functions;
};
struct gate_report {
	const struct gate_file *before, *now;
	struct gate_judged *judged;
	size_t count, verdicts[GATE_FAILED + 1];
	/* NULL: as in the baseline */
	const char *model, *machine, *processor;
};

/* program[i]: the file name of now->benchmark[i]'s program.  Both files must outlive the report.  0 or ERR_NOMEM;
 * gate_report_free in both cases. */
int  gate_check(struct gate_report *r, const struct gate_file *before, const struct gate_file *now,
	const char *const *program, const struct gate_limit *limit, size_t limits);
void gate_report_free(struct gate_report *r);

/* Difference in percent of `before`; infinite if that is 0 and now is not. */
double gate_percent(uint64_t before, uint64_t now);
#endif
