/* SPDX-License-Identifier: GPL-2.0-or-later
 * Hardware lock elision (HLE): regions between an XACQUIRE-prefixed locked instruction and the XRELEASE-prefixed store
 * that releases the lock.  Sources: SDM vol. 1, "Programming with Intel Transactional Synchronization Extensions";
 * vol. 2, XACQUIRE/XRELEASE.
 *
 * The program runs without elision under the tracer: it takes the lock and releases it.  That is what a processor
 * executes after an abort, and the results are the same.  The model follows each region beside this, and says how it
 * would have ended:
 *   commit      The last of its locks is released.  The stores up to there are written first.
 *   conflict    Another core writes a line that the region has read, or asks for one that it has written.
 *   capacity    A line that it has written leaves L1D; an inclusive L3 evicts one that it has read; it touches more
 *               than hle.read_lines lines.
 *   instruction PAUSE, CPUID, system calls, x87, MMX and so on (src/isa/decode.c, elision_of).
 *   interrupt   A PMI that takes time (--pmi-cost), or the thread leaves its core.
 *   lock        Stores to an elided lock without XRELEASE, loads that reach beyond it, releases of what is no elided
 *               lock.
 * An abort clears the pipeline and takes hle.abort_cycles (GUESS: 150; settle with a loop of a region that holds
 * XABORT or PAUSE, less its time without the prefixes).  It is taken behind the block in which its cause lies, or
 * before the region's next one.
 *
 * Locks inside a region: hle.locks of them are elided (GUESS: 1; settle with two nested regions and
 * TX_MEM.ABORT_HLE_ELISION_BUFFER_FULL), others are taken.  More than ELISION_LOCKS abort the region.
 *
 * Threads that want the same lock run one after the other here, as the program ran; with elision they would run at the
 * same time.  An XACQUIRE on a lock that another core elides at the moment therefore begins no region: the thread
 * waits, and the attempt that gets the lock begins one.  What these attempts write to the lock is no conflict.  The
 * stream does not say which attempt got the lock.  Where two meet within some hundred cycles, the first in modelled
 * time counts as the one that did; if it was the other, its PAUSE aborts it.
 *
 * Left out: the time of the attempt that an abort throws away, and what it did; the concurrency that elision gives;
 * that an elided lock's line is not written; the lock's value, so a release that does not restore it goes unnoticed;
 * conflicts between hardware threads of one core (--smt); page faults and signals, until the handler's system call;
 * XTEST, which says that no region is under way.
 * GUESS: up to 65,536 lines may be read, four megabytes, as published measurements of Haswell say; settle with a region
 * that reads more and more lines, and TX_MEM.ABORT_CAPACITY.
 */
#ifndef CORE_ELISION_H
#define CORE_ELISION_H
#include "core/pipeline.h"

int  elision_init(struct core *c, struct err *err);
void elision_release(struct core *c);
void elision_reset(struct core *c);
/* Instruction i of block b, which has hints, is about to go the general way; has gone.  word: its word in a script;
 * end: the words behind the script's end. */
void elision_before(struct core *c, const struct iblock *b, unsigned i, const uint64_t *end);
void elision_after(struct core *c, const struct iblock *b, unsigned i, const uint64_t *word, const uint64_t *end);
/* The core_steps_way of a region. */
void elision_steps(struct core *c, const uint64_t *script);
/* The core halts, or the thread leaves it: an interrupt aborts the region. */
void elision_interrupt(struct core *c);

/* emit.h: emitter.line_taken, line_left. */
void elision_line_taken(void *core, void *by, uint32_t line, bool write);
void elision_line_left(void *core, uint32_t line, bool l1d);
#endif
