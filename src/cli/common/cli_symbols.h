/* SPDX-License-Identifier: GPL-2.0-or-later
 * Names of a run's addresses while it runs: its side records into an address space of symbols (symbols/symbols.h). */
#ifndef CLI_SYMBOLS_H
#define CLI_SYMBOLS_H
#include "symbols/symbols.h"

/* What is mapped where.  *time: of the last record, moved on.  Out of memory: names are missing. */
void cli_symbols_side(struct symbols *s, uint32_t pid, const uint64_t *record, uint64_t *time);
#endif
