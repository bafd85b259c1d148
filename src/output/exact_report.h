/* SPDX-License-Identifier: GPL-2.0-or-later
 * The exact profile of a perf.data file (exact_record.h), read back: tables by function or instruction with the stack of causes, annotated source,
 * and the error of the events that were sampled beside it.
 *
 * Sampling error, as in "TIP: Time-Proportional Instruction Profiling" (MICRO 2021) measured between whole profiles: the share of the samples
 * that lie where the exact profile says they should not, 1 - sum over instructions (or functions) of the lesser of the share of samples and the share
 * of cycles.  It holds the chance of sampling, too; exact.sampled shows how much of that there is at its number of samples.
 */
#ifndef OUTPUT_EXACT_REPORT_H
#define OUTPUT_EXACT_REPORT_H
#include "analysis/exact.h"
#include "output/annotate.h"
#include "output/exact_record.h"
#include "output/perfdata.h"
#include "output/profile.h"
#include <stdio.h>

struct exact_row {		/* an instruction or a function */
	const char *dso, *path;
	const struct symbol *symbol;	/* NULL: unknown */
	struct symfile *file;
	uint64_t address;	/* in the object; of a function its start */
	uint64_t cycles;	/* sum of the causes */
	const uint64_t *period;	/* of each event of the file */
};
struct exact_report {
	struct exact_row *row;	/* most cycles first */
	size_t rows;
	uint64_t *total;	/* of each event */
	uint64_t *samples;
	uint64_t *precise;	/* of them, those whose address is the instruction's that did it */
	uint64_t cycles;
	size_t events;
	unsigned *kind;		/* of each event: an index of exact_record.h's; EXACT_EVENTS: one that was sampled */
	/* private */
	uint64_t *periods;
	struct perfdata_file *file;
	struct profile *profile;
};

/* Is there an exact profile in the file? */
bool exact_report_has(const struct perfdata_file *f);
/* By instruction, or by function.  ERR_INPUT: the file has no exact profile. */
int  exact_report_load(struct exact_report **out, struct perfdata_file *f, bool by_function, struct err *err);
void exact_report_free(struct exact_report *r);

struct exact_report_options { const char *file_name; bool by_function, json; double percent_limit; };
void exact_report_print(FILE *to, const struct exact_report *r, const struct exact_report_options *o);
bool exact_report_has_methods(const struct exact_report *r);	/* something was sampled beside it */
/* The table of sampling errors.  Instructions, functions: of the same file. */
void exact_report_errors(FILE *to, const struct exact_report *instructions, const struct exact_report *functions, bool json);
/* The functions called `symbol` (NULL: all, hottest first), annotated; how many were printed.  instructions: by instruction. */
unsigned exact_report_annotate(FILE *to, const struct exact_report *instructions, const char *symbol, const struct annotate_options *o, struct err *err);
#endif
