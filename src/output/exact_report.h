/* SPDX-License-Identifier: GPL-2.0-or-later
 * Reads the exact profile of a perf.data file (exact_record.h): tables by function or instruction with the causes of
 * their cycles, annotated source, and the sampling error of the events that were sampled in the same run.
 *
 * The sampling error follows "TIP: Time-Proportional Instruction Profiling" (MICRO 2021), measured between whole
 * profiles: the share of the samples at places where the exact profile has no room for them, which is 1 minus the
 * sum, over instructions (or functions), of the smaller of the share of samples and the share of cycles.  It includes
 * the random error of sampling; exact.sampled shows how large that is at its number of samples.
 */
#ifndef OUTPUT_EXACT_REPORT_H
#define OUTPUT_EXACT_REPORT_H
#include "analysis/exact.h"
#include "output/annotate.h"
#include "output/exact_record.h"
#include "output/perfdata/perfdata.h"
#include "output/profile.h"
#include <stdio.h>

struct exact_row {		/* an instruction or a function */
	const char *dso, *path;
	const struct symbol *symbol;	/* NULL: unknown */
	struct symfile *file;
	uint64_t address;	/* in the object; for a function: its start */
	uint64_t cycles;	/* sum of the causes */
	const uint64_t *period;	/* for each event of the file */
};
struct exact_report {
	struct exact_row *row;	/* most cycles first */
	size_t rows;
	uint64_t *total;	/* for each event: sum of the periods */
	uint64_t *samples;	/* for each event */
	uint64_t *precise;	/* for each event: samples whose address is that of the instruction that caused it */
	uint64_t cycles;
	size_t events;
	unsigned *kind;		/* for each event: its index in exact_record.h, or EXACT_EVENTS if it was sampled */
	/* private */
	uint64_t *periods;
	struct perfdata_file *file;
	struct profile *profile;
};

/* Does the file have an exact profile? */
bool exact_report_has(const struct perfdata_file *f);
/* Loads the profile by instruction, or by function.  ERR_INPUT: the file has no exact profile.  f must outlive the
 * report. */
int  exact_report_load(struct exact_report **out, struct perfdata_file *f, bool by_function, struct err *err);
void exact_report_free(struct exact_report *r);

struct exact_report_options {
	const char *file_name;
	bool by_function, json;
	double percent_limit;
	const struct terminal *terminal;	/* NULL: a file or a pipe */
};
void exact_report_print(FILE *to, const struct exact_report *r, const struct exact_report_options *o);
/* Were events sampled in the same run? */
bool exact_report_has_methods(const struct exact_report *r);
/* Prints the table of sampling errors.  instructions, functions: two reports of the same file. */
void exact_report_errors(FILE *to, const struct exact_report *instructions, const struct exact_report *functions,
	bool json);
/* Prints the functions called `symbol` (NULL: all, hottest first), annotated.  instructions: a report by instruction.
 *  Returns how many were printed. */
unsigned exact_report_annotate(FILE *to, const struct exact_report *instructions, const char *symbol,
                               const struct annotate_options *o, struct err *err);
#endif
