/* SPDX-License-Identifier: GPL-2.0-or-later
 * make accuracy: the model's cycles beside those that others measured on real machines.
 *
 * statistics.c  errors of a set of rows: mean, median, percentile, rank correlation, the worst
 * templates.c   skylake-throughput: templates to assembly
 * instlat.c     instruction latencies and throughputs: the files' lines to assembly
 * mca.c         the same blocks through llvm-mca, for comparison
 * memlat.c      memory latency by size and stride
 * main.c        runs it all and writes the report
 */
#ifndef TESTS_ACCURACY_H
#define TESTS_ACCURACY_H
#include "analysis/block/block.h"
#include "util/err.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

struct row {			/* one measurement and what the model makes of it */
	char *name;		/* as the data have it */
	char *text;		/* assembly that was run */
	double measured, model;
	double unit;		/* the block's cycles count for so many of the row's */
	double other;		/* llvm-mca's; negative: none */
	bool held_out;		/* not used to build tables */
	bool failed;		/* the model has no figure: why[] says why */
	char why[96];		/* bottleneck, or the error */
};
struct rows { struct row *row; size_t n, room; };
/* The new row, zeroed; NULL: out of memory. */
struct row *rows_add(struct rows *r);
void rows_free(struct rows *r);

struct summary {
	size_t rows, failed;
	double mape, median, p90;	/* of the absolute errors, per cent */
	double bias;			/* mean error with its sign, per cent */
	double tau;			/* Kendall's tau-b */
	double within;			/* share of rows within the bound asked for, per cent */
};
/* within: whether a row counts as good; NULL: none does. value:
 * which of a row's figures is compared with `measured`. */
typedef bool row_good(const struct row *r);
typedef double row_value(const struct row *r);
double row_model(const struct row *r);
double row_other(const struct row *r);
typedef bool row_chosen(const struct row *r);	/* NULL: all */
int  summarize(const struct rows *r, row_value *value, row_chosen *chosen, row_good *good, struct summary *out);
/* Indices of the `most` rows with the largest error, worst first; how many. */
size_t worst_rows(const struct rows *r, row_chosen *chosen, size_t *index, size_t most);
double row_error(const struct row *r);		/* model / measured - 1 */

/* A sequence of templates joined by '|': its instances, at least `insns` instructions of them, as assembly
 * lines; the number of instances. 0: a placeholder that is not known. */
unsigned template_render(FILE *to, const char *sequence, unsigned insns);
/* FILE of skylake-throughput: a row each, text and unit filled in. */
int  template_read(struct rows *r, const char *path, struct err *err);

enum instlat_kind { INSTLAT_LATENCY, INSTLAT_THROUGHPUT };
struct instlat {			/* what one file holds */
	int word_bytes;	/* set before: of its code, 8 or 4; and whether it took many registers in turn */
	bool wide;
	unsigned general;		/* general registers it took in turn; 0: as usual */
	/* folds: only every so many-th of the rows that are not held out is read, from number `fold`; 0: all rows */
	unsigned fold, folds;
	struct rows latency, throughput;
	size_t lines;			/* with a measurement */
	size_t not_understood;		/* measurements without a translation */
	struct rows missed;		/* their names */
};
int  instlat_read(struct instlat *out, const char *path, struct err *err);
void instlat_free(struct instlat *i);

/* Cycles of each row's template by llvm-mca, four copies a block, into row.other.  ERR_UNSUPPORTED: not installed. */
int  mca_run(struct rows *r, const char *cpu, struct err *err);

/* `accuracy memlat ...`: argv[0] is "memlat". */
int  memlat_main(int argc, char **argv);

/* Runs every row's text on the preset: as a loop, or unrolled to `insns`
 * instructions and `bytes` bytes at most (0: as softpmu block). */
int  rows_run(struct rows *r, struct block_engine *engine, int word_bytes, bool loop, unsigned insns, unsigned bytes,
	struct err *err);
#endif
