/* SPDX-License-Identifier: GPL-2.0-or-later
 * What `softpmu gate` counted, and the baseline file that holds it.
 *
 * The file is JSON with one figure a line, sorted, so that a change of it is easy to review and the same counts give
 * the same bytes:
 *
 *   {
 *     "softpmu gate": 1,
 *     "model": "softpmu 0.1.0, build-id:...",	the program that counted
 *     "machine": "golden-cove, ...",		what it modelled, with a hash of all its fields
 *     "processor": "avx2 ...",			what of the host's instructions programs may choose
 *     "benchmarks": {
 *       "NAME": {
 *         "objects": { "FILE": "build-id:HEX" },	the program and its libraries
 *         "counts": { "EVENT": N },
 *         "cycles by function": { "FUNCTION [FILE]": N },	of the exact profile, rounded
 *         "instructions by function": { ... }
 *       }
 *     }
 *   }
 *
 * A baseline is input like any other: everything in it is checked, and what it holds beyond this is refused.
 */
#ifndef GATE_FIGURES_H
#define GATE_FIGURES_H
#include "util/err.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

struct gate_figure { char *name; uint64_t value; };
/* Sorted by name (strcmp); each name once. */
struct gate_figures { struct gate_figure *figure; size_t count, room; };
struct gate_object { char *name, *id; };
struct gate_objects { struct gate_object *object; size_t count, room; };

enum gate_table { GATE_COUNTS, GATE_CYCLES, GATE_INSTRUCTIONS, GATE_TABLES };
struct gate_benchmark {
	char *name;
	struct gate_objects objects;
	struct gate_figures table[GATE_TABLES];
};
struct gate_file {
	char *model, *machine, *processor;
	struct gate_benchmark *benchmark;	/* sorted by name */
	size_t benchmarks, room;
};

/* Adds value to the figure of this name, which is made if it is new.  ERR_NOMEM, or ERR_INPUT if it would exceed
 * INT64_MAX, the largest number that the file can hold. */
int gate_figures_add(struct gate_figures *f, const char *name, uint64_t value);
/* NULL: there is none of this name. */
const struct gate_figure *gate_figures_find(const struct gate_figures *f, const char *name);
uint64_t gate_figures_sum(const struct gate_figures *f);
/* Two files of the same name and different contents: the id becomes "ID+ID".  0 or ERR_NOMEM. */
int gate_objects_add(struct gate_objects *o, const char *name, const char *id);
const char *gate_objects_find(const struct gate_objects *o, const char *name);	/* NULL: there is none */
/* Functions with less than a ten-thousandth of the cycles and of the instructions share a line for each file,
 * "(others) [FILE]".  With `old`, those that it names keep their own line, and others have one from a thousandth on:
 * so two benchmarks can be compared in which a function lies on different sides of the border.  0 or ERR_NOMEM, after
 * which b is of no use. */
int gate_fold(struct gate_benchmark *b, const struct gate_benchmark *old);
/* The benchmark of this name; makes it if it is new.  NULL: no memory. */
struct gate_benchmark *gate_benchmark_add(struct gate_file *f, const char *name);
struct gate_benchmark *gate_benchmark_find(const struct gate_file *f, const char *name);

/* Writes the file's text; a failed write shows in ferror. */
void gate_file_write(FILE *to, const struct gate_file *f);
/* Reads a file.  ERR_INPUT: it is no baseline, with its place in err.  *missing: there is no such file.  On failure
 * *f is empty. */
int  gate_file_read(struct gate_file *f, const char *path, bool *missing, struct err *err);
/* The same from memory; path is for messages. */
int  gate_file_parse(struct gate_file *f, const char *text, size_t bytes, const char *path, struct err *err);
void gate_file_free(struct gate_file *f);
#endif
