/* SPDX-License-Identifier: GPL-2.0-or-later
 * From a run's side records to perf.data: who is called what, what is mapped where, who forks and ends.
 */
#ifndef OUTPUT_RECORDER_H
#define OUTPUT_RECORDER_H
#include "output/perfdata.h"
#include "run/run.h"

struct recorder;

/* The writer stays the caller's. hz: clock of the modelled cores, for times. read_build_ids: of mapped files whose build-id
 * the stream does not carry, if the file on disk is still the one that was mapped. */
int  recorder_create(struct recorder **out, struct perfdata_writer *w, double hz, bool read_build_ids, struct err *err);
void recorder_destroy(struct recorder *r);
/* From now on it knows the heap's blocks (RUN_HEAP) and threads' stacks; before any record comes. */
int  recorder_heap(struct recorder *r, struct err *err);
/* A sample of this thread, which retired at `cycle` and is written next with time_ns, accessed addr: tells readers what lies there, if they do not know yet. */
int  recorder_data(struct recorder *r, const struct run_thread *t, uint64_t addr, uint64_t cycle, uint64_t time_ns);
/* run_sink.side.  Negative once the file could not be written or memory ran out. */
int  recorder_side(struct recorder *r, const struct run_thread *t, uint32_t pid, const uint64_t *record, uint64_t cycle);
/* A thread's clock has reached `cycle`: it takes no sample before that any more. */
void recorder_clock(struct recorder *r, const struct run_thread *t, uint64_t cycle);
#endif
