/* SPDX-License-Identifier: GPL-2.0-or-later
 * Names of a run's addresses while it runs: puts the run's side records into an address space of symbols
 * (symbols/symbols.h). */
#ifndef CLI_SYMBOLS_H
#define CLI_SYMBOLS_H
#include "run/run.h"
#include "symbols/symbols.h"

/* The process that an address of this thread's batch belongs to: of a whole machine, its address space. */
uint32_t cli_symbols_pid(const struct run_thread *t);
/* Takes a side record that says what is mapped where. *time: number of the last record; it is increased. If
 * memory runs out, names are missing. */
void cli_symbols_side(struct symbols *s, uint32_t pid, const uint64_t *record, uint64_t *time);
#endif
