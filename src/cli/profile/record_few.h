/* SPDX-License-Identifier: GPL-2.0-or-later
 * What `record` says when it took few samples: which period would take about a thousand.
 */
#ifndef CLI_RECORD_FEW_H
#define CLI_RECORD_FEW_H
#include <stddef.h>
#include <stdint.h>

/* A profile of fewer samples is mostly chance: at 100 samples, a function with a tenth of them has 4 to 17 % of the
 * time (95 % interval of a binomial share).  The advice is for RECORD_ENOUGH. */
enum { RECORD_FEW = 100, RECORD_ENOUGH = 1000 };

/* Returns the period by which an event that occurred `count` times is sampled about RECORD_ENOUGH times: a prime, so
 * that it is no multiple of a loop's length; 1 if it occurred less often. */
uint64_t record_enough_period(uint64_t count);
/* Writes what is to be said of an event that occurred `count` times, of which `samples` samples were taken, with a
 * fixed period or at `frequency` samples a modelled second (0: a fixed period).  "" if they are enough, or all there
 * are. */
void record_few_text(const char *event, uint64_t samples, uint64_t count, uint64_t frequency, char *text, size_t bytes);
#endif
