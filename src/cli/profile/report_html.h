/* SPDX-License-Identifier: GPL-2.0-or-later
 * The page of a perf.data file, for report and record. */
#ifndef CLI_REPORT_HTML_H
#define CLI_REPORT_HTML_H

/* Writes the page of the perf.data file `input` to `path` ("-": standard output), compared with the file `other`
 * unless that is NULL, and with the analyses in `add`, a list of files with commas between them, unless that is NULL.
 * 0, or the exit status after one printed line. */
int report_html(const char *path, const char *input, const char *other, const char *add);
#endif
