/* SPDX-License-Identifier: GPL-2.0-or-later
 * Samples within a function: which instruction, which source line.
 */
#ifndef OUTPUT_ANNOTATE_H
#define OUTPUT_ANNOTATE_H
#include "output/profile.h"
#include <stdio.h>

struct annotate_hit { uint64_t address, period, samples; };	/* address in the object */
struct annotate_symbol {
	const struct symbol *symbol;
	struct symfile *file;
	const char *path, *dso;
	uint64_t period, samples;
	struct annotate_hit *hit;	/* in order of address */
	size_t hits;
	/* private */
	size_t room;
};
struct annotate_event {
	const struct perfdata_event_info *info;
	struct annotate_symbol *symbol;	/* hottest first */
	size_t symbols;
	uint64_t period, samples;	/* of the whole event, including samples without a symbol */
};
struct annotate {
	struct annotate_event *event;
	size_t events;
	/* private */
	struct profile *profile;
};
struct annotate_options {
	/* what stands in front of an instruction: the share of the function's period, samples, or the period */
	enum { ANNOTATE_PERCENT, ANNOTATE_SAMPLES, ANNOTATE_PERIOD } column;
	bool mangled;		/* the function's name as in the file */
	bool line_numbers;	/* file:line before every source line */
	bool no_source;
	bool intel;		/* Intel's syntax instead of AT&T's */
	/* Writes a note to print after the instruction in [from, to); an empty text prints none.  NULL: no notes. */
	void (*note)(void *context, uint64_t from, uint64_t to, char *text, size_t bytes);
	void *note_context;
	const char *what;	/* what is counted; NULL: samples */
};

int  annotate_load(struct annotate **out, struct perfdata_file *file, struct err *err);
void annotate_free(struct annotate *a);
/* Prints a function: source and disassembly with the share of the function's period at each instruction.  ERR_INPUT
 * if its code cannot be read; nothing is printed then. */
int annotate_print(FILE *to, const struct annotate_event *e, const struct annotate_symbol *s,
	const struct annotate_options *o, struct err *err);
#endif
