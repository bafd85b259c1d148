/* SPDX-License-Identifier: GPL-2.0-or-later
 * Reads what stat wrote, for `softpmu compare`: lines of fields (-x), JSON objects (-j), or the table (-o), of
 * softpmu or
 * of perf.  Left out: intervals (-I) and several runs in one file (--append), which are refused. */
#ifndef COMPARE_STAT_H
#define COMPARE_STAT_H
#include "util/err.h"
#include <stdbool.h>
#include <stddef.h>

struct compare_count {
	char *name;		/* "cycles:u", "REGION cycles:u" */
	double value;
	bool counted;		/* else it says <not supported> or <not counted> */
};
struct compare_counts { struct compare_count *count; size_t counts, room; };

/* text: ends with NUL, and is changed.  separator: of -x.  On failure *c is to be freed as well. */
int  compare_stat_read(struct compare_counts *c, char *text, const char *path, const char *separator, struct err *err);
const struct compare_count *compare_stat_find(const struct compare_counts *c, const char *name);
void compare_stat_free(struct compare_counts *c);
#endif
