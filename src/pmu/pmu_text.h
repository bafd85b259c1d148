/* SPDX-License-Identifier: BSD-2-Clause
 * Helpers that both readers of event tables use (pmu_table.c, uncore_table.c).
 */
#ifndef PMU_TEXT_H
#define PMU_TEXT_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Formats a message into text (bytes long; 0: writes nothing).  Returns `error`. */
int pmu_text_problem(char *text, size_t bytes, int error, const char *format, ...)
	__attribute__((format(printf, 4, 5)));
/* Reads `s` as a number: digits of this base and nothing else, at most `limit`.  False: it is none; *out is
 * untouched. */
bool pmu_text_number(const char *s, int base, uint64_t limit, uint64_t *out);
#endif
