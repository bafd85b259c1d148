/* SPDX-License-Identifier: GPL-2.0-or-later
 * Writes a profile as one HTML page that opens from disk: no file beside it, no request, no dependency.
 *
 * The page is page/page.html with the style, the scripts (assets.def) and the data put in.  The data is one JSON
 * object, `{"format": 1, "softpmu": VERSION, "runs": [RUN, OTHER]}`, in a script element of type application/json,
 * where every `<` is \u003c.  A run is an object with one member for each part (part.h); parts say in their own heads
 * what they hold.  "warning" says what does not belong to the run, or is "".  All parts of a run share two tables,
 * which are its last members:
 *
 *   "strings":   [TEXT, ...]; text 0 is ""
 *   "functions": {"name": [...], "object": [...], "inlined": [...], "address": [...]}, columns of equal length: a
 *                function's name and the path of its object, which are indices of strings, 1 if this is the function as
 *                inlined into another, and where it, or that other, begins in the object.  Addresses of an object
 *                that have no symbol are one function without a name.
 *
 * Times are modelled nanoseconds, counts are whole numbers.  Long columns of times hold differences from the one
 * before.  Left out: the kernel's frames have no names.
 */
#ifndef OUTPUT_HTML_PAGE_H
#define OUTPUT_HTML_PAGE_H
#include "output/perfdata/perfdata.h"
#include "util/err.h"
#include <stdio.h>

enum { HTML_WARNING = 512 };
struct html_input {
	struct perfdata_file *file;
	const char *name;
	const char *const *add;		/* files that `topdown --json` or `cost --json` wrote about the same program */
	size_t adds;
	/* Filled in: what does not belong together, a sentence, which the page has, too; "" if nothing. */
	char warning[HTML_WARNING];
};

/* Writes the page of input[0]; a second one is what it is compared with.  inputs: 1 or 2.  version: of this program. */
int html_write(FILE *to, struct html_input *input, size_t inputs, const char *version, struct err *err);
#endif
