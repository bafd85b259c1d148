/* SPDX-License-Identifier: GPL-2.0-or-later
 * Settings that affect the whole machine: prefetchers (a model-specific register on every processor) and ways of
 * the L3 (resctrl).  Whatever is changed is restored: by the process that changed it; if that is killed, by its
 * guard; if the guard is killed, too, when softpmu next changes the machine.
 *
 * Before a value is changed, the old one is appended to a journal, ROOT/run/softpmu-native.journal.  The guard is
 * a process in a session of its own.  It waits for the end of a pipe whose other end only the changing process
 * holds; then it restores what the journal has, last entry first, and empties it.  The journal is locked from the
 * first change until it is empty, so two processes never change the machine at once.  A journal from an earlier
 * boot is dropped: registers and groups were reset.
 *
 * Only the changed bits are restored, so what others wrote to the register meanwhile stays. ROOT is where
 * /dev/cpu, /sys/fs/resctrl, /proc and /run are looked for; it is "" except in tests.
 *
 * Left out: L2 ways, memory bandwidth, processors that come and go meanwhile.
 */
#ifndef NATIVE_MACHINE_H
#define NATIVE_MACHINE_H
#include "native/setting.h"
#include <limits.h>

struct native_machine;

/* Takes the lock, restores what an earlier process left (*left: how many values; may be NULL), and starts the
 * guard. */
int  native_machine_open(struct native_machine **out, const char *root, unsigned *left, struct err *err);
/* Applies the set's settings of the machine.  On failure everything is as it was before. */
int  native_machine_set(struct native_machine *m, const struct native_set *set, struct err *err);
/* The file into which the program's process id must be written after native_machine_set, or NULL. */
const char *native_machine_tasks(const struct native_machine *m);
/* Restores everything. */
int  native_machine_reset(struct native_machine *m, struct err *err);
/* Restores everything, ends the guard and releases the lock.  m may be NULL. */
int  native_machine_close(struct native_machine *m, struct err *err);
/* Restores what a softpmu left that was killed together with its guard.  *left: how many values; 0 if there is no
 * journal. */
int  native_machine_restore(const char *root, unsigned *left, struct err *err);

/* These are for knobs.c, too: a path below root; a register of a processor; the line "L3:0=ff;1=ff" of a schemata
 * file, without leading blanks. */
enum { NATIVE_PATH = PATH_MAX, NATIVE_CPUS = 1024, NATIVE_SCHEMA = 1024 };
int  native_path(char path[NATIVE_PATH], const char *root, const char *below, struct err *err);
int  native_msr_read(const char *root, unsigned cpu, uint32_t msr, uint64_t *value, struct err *err);
int  native_cache_schema(char line[NATIVE_SCHEMA], const char *root, struct err *err);
/* Half of each mask in the line: the upper half (for the program) or the lower one.  False if a mask has fewer
 * than two bits. */
bool native_cache_half(char half[NATIVE_SCHEMA], const char *line, bool upper);
/* Processors that have a directory in ROOT/dev/cpu, ascending; returns how many. */
unsigned native_msr_cpus(const char *root, unsigned cpu[NATIVE_CPUS]);
/* Reads a small file, without the newline at its end. */
int  native_read(char *text, size_t bytes, const char *root, const char *below, struct err *err);
#endif
