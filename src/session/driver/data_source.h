/* SPDX-License-Identifier: GPL-2.0-or-later
 * Translates the data source of a PEBS record to that of a perf sample.
 */
#ifndef SESSION_DATA_SOURCE_H
#define SESSION_DATA_SOURCE_H
#include <stdbool.h>
#include <stdint.h>

/* source: the record's field (pmu/ds/pebs_format.c lists its values).  Returns union perf_mem_data_src as a word. */
uint64_t data_source(uint64_t source, bool store);
/* For an access whose record holds nothing but its address. */
uint64_t data_source_unknown(bool store);
#endif
