/* SPDX-License-Identifier: GPL-2.0-or-later
 * make accuracy: compares the model's cycles with published measurements of real machines.
 *
 * statistics.c  errors of a set of rows: mean, median, percentile, rank correlation, the worst
 * templates.c   translates the templates of skylake-throughput to assembly
 * instlat.c     translates lines of instruction latencies and throughputs to assembly
 * mca.c         runs the same blocks through llvm-mca, for comparison
 * memlat.c      memory latency by size and stride
 * accuracy_main.c  runs everything and writes the report
 */
#ifndef TESTS_ACCURACY_H
#define TESTS_ACCURACY_H
#include "analysis/block/block.h"
#include "util/err.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

struct row {			/* one measurement and what the model makes of it */
	char *name;		/* as in the data */
	char *text;		/* assembly that was run */
	double measured, model;
	double unit;		/* the block holds the row's code so many times */
	double other;		/* what llvm-mca says; negative: nothing */
	bool held_out;		/* not used to build tables */
	bool failed;		/* the model has no figure: why[] says why */
	char why[96];		/* bottleneck, or the error */
};
struct rows { struct row *row; size_t n, room; };
/* Adds a zeroed row and returns it; NULL: out of memory. */
struct row *rows_add(struct rows *r);
void rows_free(struct rows *r);

struct summary {
	size_t rows, failed;
	double mape, median, p90;	/* of the absolute errors, per cent */
	double bias;			/* mean error with its sign, per cent */
	double tau;			/* Kendall's tau-b */
	double within;			/* share of rows within the bound asked for, per cent */
};
/* good: whether a row is within the bound; NULL: none is. value: which of a row's figures is compared with `measured`.
 * chosen: which rows count. */
typedef bool row_good(const struct row *r);
typedef double row_value(const struct row *r);
double row_model(const struct row *r);
double row_other(const struct row *r);
typedef bool row_chosen(const struct row *r);	/* NULL: all */
int  summarize(const struct rows *r, row_value *value, row_chosen *chosen, row_good *good, struct summary *out);
/* Writes the indices of the (at most) `most` rows with the largest error, worst first; returns how many. */
size_t worst_rows(const struct rows *r, row_chosen *chosen, size_t *index, size_t most);
double row_error(const struct row *r);		/* model / measured - 1 */

/* Writes instances of a sequence of templates (joined by '|') as assembly lines, at least `insns` instructions.
 * Returns the number of instances; 0: the sequence has an unknown placeholder. */
unsigned template_render(FILE *to, const char *sequence, unsigned insns);
/* Reads a file of skylake-throughput: adds a row for each line, with text and unit. */
int  template_read(struct rows *r, const char *path, struct err *err);

enum instlat_kind { INSTLAT_LATENCY, INSTLAT_THROUGHPUT };
struct instlat {			/* the content of one file */
	/* The caller sets these before instlat_read. word_bytes: of the file's code, 8 or 4; wide: whether its
	 * throughput tests rotate through many registers. */
	int word_bytes;
	bool wide;
	unsigned general;		/* general registers that they rotate through; 0: the usual number */
	/* reads only every `folds`-th of the rows that are not held out, from number `fold` on; folds 0: all rows */
	unsigned fold, folds;
	struct rows latency, throughput;
	size_t lines;			/* lines with a measurement */
	size_t not_understood;		/* measurements without a translation */
	struct rows missed;		/* their names */
};
int  instlat_read(struct instlat *out, const char *path, struct err *err);
void instlat_free(struct instlat *i);

/* Sets row.other to the cycles of each row's template by llvm-mca, four copies in a block. ERR_UNSUPPORTED: llvm-mca
 * is not installed. */
int  mca_run(struct rows *r, const char *cpu, struct err *err);

/* `accuracy memlat ...`: argv[0] is "memlat". */
int  memlat_main(int argc, char **argv);

/* Runs every row's text on the engine's core, as a loop or unrolled to at most `insns` instructions and `bytes` bytes
 * (0: as softpmu block does). */
int  rows_run(struct rows *r, struct block_engine *engine, int word_bytes, bool loop, unsigned insns, unsigned bytes,
	struct err *err);
#endif
