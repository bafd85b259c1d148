/* SPDX-License-Identifier: BSD-2-Clause
 * What the readers of event tables share (pmu_table.c, uncore_table.c).
 */
#ifndef PMU_TEXT_H
#define PMU_TEXT_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Writes what is wrong; returns `error`. */
int pmu_text_problem(char *text, size_t bytes, int error, const char *format, ...) __attribute__((format(printf, 4, 5)));
/* All of `s` as a number of digits only, at most `limit`. */
bool pmu_text_number(const char *s, int base, uint64_t limit, uint64_t *out);
#endif
