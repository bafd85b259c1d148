/* SPDX-License-Identifier: GPL-2.0-or-later
 * Writes a run's side records to perf.data: names of threads, mappings, forks and exits.  Of a whole machine, each
 * address space is a process, with the number symbols_space_pid.
 */
#ifndef OUTPUT_RECORDER_H
#define OUTPUT_RECORDER_H
#include "output/perfdata/perfdata.h"
#include "run/run.h"

struct recorder;

/* The writer is borrowed.  hz: clock of the modelled cores, for times.  read_build_ids: if the stream has no build-id
 * of a mapped file, read it from disk, provided that the file is still the one that was mapped. */
int  recorder_create(struct recorder **out, struct perfdata_writer *w, double hz, bool read_build_ids, struct err *err);
void recorder_destroy(struct recorder *r);
/* Also records heap blocks (RUN_HEAP) and thread stacks.  Call it before any record comes. */
int  recorder_heap(struct recorder *r, struct err *err);
/* A sample of this thread accessed addr; it retired at `cycle` and is written next, with time_ns.  Writes what lies
 * at addr, if the file does not have that yet. */
int  recorder_data(struct recorder *r, const struct run_thread *t, uint64_t addr, uint64_t cycle, uint64_t time_ns);
/* run_sink.side.  Returns a negative error once the file could not be written or there is no memory. */
int recorder_side(struct recorder *r, const struct run_thread *t, uint32_t pid, const uint64_t *record, uint64_t cycle);
/* What the user should know behind the run, or "". */
const char *recorder_note(const struct recorder *r);
/* A thread's clock has reached `cycle`: no sample of it comes before that any more. */
void recorder_clock(struct recorder *r, const struct run_thread *t, uint64_t cycle);
#endif
