/* SPDX-License-Identifier: GPL-2.0-or-later
 * The side records of a whole machine's stream, as records of perf.data: each address space is a process, with the
 * number symbols_space_pid, the name of its program, and mappings of its files; the kernel and its modules are mapped
 * as the kernel's perf_event does it.
 */
#ifndef OUTPUT_MACHINE_RECORD_H
#define OUTPUT_MACHINE_RECORD_H
#include "output/perfdata/perfdata.h"

struct machine_record;

/* The writer is borrowed.  0 or ERR_NOMEM. */
int  machine_record_create(struct machine_record **out, struct perfdata_writer *w, uint64_t time);
void machine_record_destroy(struct machine_record *m);	/* NULL: does nothing */
/* Any side record.  Returns a negative error once the file could not be written or there is no memory. */
int  machine_record_side(struct machine_record *m, const uint64_t *record, uint64_t time);
/* Why the kernel's functions have no names, or "". */
const char *machine_record_note(const struct machine_record *m);
#endif
