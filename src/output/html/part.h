/* SPDX-License-Identifier: GPL-2.0-or-later
 * Parts of a page's data, for the files that write them.
 *
 * A part writes one JSON value, which becomes the member of its name in the run.  It writes `null` if the file does not
 * have what it needs; views find that out by run.NAME being null.  Parts are in the table of page.c.
 */
#ifndef OUTPUT_HTML_PART_H
#define OUTPUT_HTML_PART_H
#include "output/html/page.h"
#include "output/perfdata/perfdata.h"
#include "symbols/symbols.h"
#include "util/err.h"
#include "util/texts.h"
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

struct html_table {		/* a set of keys, numbered in order of appearance */
	void *key;		/* of `bytes` bytes each, without padding */
	size_t bytes, count, room;
	uint32_t *bucket;	/* 1 + number; 0: free */
	size_t buckets;
};
struct html_run {
	struct perfdata_file *file;
	const char *name;	/* of the file */
	const char *const *add;	/* html_input.add */
	size_t adds;
	char *warning;		/* html_input.warning */
	/* private: */
	struct texts texts;
	struct html_table strings, functions;
	struct html_table programs;	/* names of the sampled threads (const char *) */
	bool failed;
};
void html_run_init(struct html_run *r, struct html_input *in);
void html_run_release(struct html_run *r);
/* Writes the members "strings" and "functions". */
void html_run_tables(FILE *to, const struct html_run *r);

/* Returns the number of a string or a function in the run's tables, which it joins if it is new.  Without memory they
 * return 0, and the page fails. */
uint32_t html_text(struct html_run *r, const char *text);
uint32_t html_function(struct html_run *r, const struct symbols_place *at);
/* The same for a symbol that is inlined at that place. */
uint32_t html_function_of(struct html_run *r, const struct symbols_place *at, const struct symbol *symbol);

/* Notes the name of a thread that was sampled; is there one of that name?  (True if there is none at all.) */
void html_program(struct html_run *r, const char *name);
bool html_has_program(const struct html_run *r, const char *name);

/* Returns the number of a key in a table of zeros but for `bytes`, or UINT32_MAX without memory. */
uint32_t html_number(struct html_table *t, const void *key);
void html_table_free(struct html_table *t);

/* A column is [a,b,...]; first is true before its first number, and false after it. */
void html_item(FILE *to, uint64_t number, bool *first);
/* Writes a table, whose keys are of `columns` numbers of 32 bits each, as that many columns with these names. */
void html_columns(FILE *to, const struct html_table *t, const char *const name[], size_t columns);

/* The parts.  Each returns 0, or an error with its sentence. */
int html_part_summary(FILE *to, struct html_run *r, struct err *err);
int html_part_profile(FILE *to, struct html_run *r, struct err *err);
int html_part_exact(FILE *to, struct html_run *r, struct err *err);
int html_part_timeline(FILE *to, struct html_run *r, struct err *err);
int html_part_code(FILE *to, struct html_run *r, struct err *err);
int html_part_memory(FILE *to, struct html_run *r, struct err *err);
int html_part_analyses(FILE *to, struct html_run *r, struct err *err);
#endif
