/* SPDX-License-Identifier: GPL-2.0-or-later
 * Settings that are the whole machine's: prefetchers (a model-specific register on every processor), ways of the L3 (resctrl).  Whatever is changed
 * is put back: by whoever changed it, and if that is killed by its guard, and if that is killed too when softpmu changes the machine next.
 *
 * Before a value is changed, the old one is appended to a journal, ROOT/run/softpmu-native.journal.  A guard, a process of a session of its own, waits
 * for the end of a pipe whose other end is held by the process that changes things, and by nobody else; then it puts back what the journal has, last
 * first, and empties it.  The journal is locked from the first change on until it is empty: two never change the machine at once.
 * A journal of another boot is dropped: registers and groups began anew.
 *
 * Only the bits changed are put back, so that what somebody else wrote to the register meanwhile stays.
 * ROOT: where /dev/cpu, /sys/fs/resctrl, /proc and /run are looked for; "" but in tests.
 *
 * Left out: L2 ways, memory bandwidth, processors that come and go meanwhile.
 */
#ifndef NATIVE_MACHINE_H
#define NATIVE_MACHINE_H
#include "native/setting.h"
#include <limits.h>

struct native_machine;

/* Takes the lock, puts back what an earlier one left (*left: how many values; may be NULL), and starts the guard. */
int  native_machine_open(struct native_machine **out, const char *root, unsigned *left, struct err *err);
/* Carries out the set's settings of the machine.  On failure everything is as it was before. */
int  native_machine_set(struct native_machine *m, const struct native_set *set, struct err *err);
/* File to write the program's process id into after native_machine_set, or NULL. */
const char *native_machine_tasks(const struct native_machine *m);
/* Puts everything back. */
int  native_machine_reset(struct native_machine *m, struct err *err);
/* The same, ends the guard and the lock.  m may be NULL. */
int  native_machine_close(struct native_machine *m, struct err *err);
/* Of a child that goes on as somebody else: lets go of guard, journal and lock without changing anything. */
void native_machine_leave(struct native_machine *m);
/* Puts back what a softpmu that was killed with its guard has left.  *left: how many values; 0 if there is no journal. */
int  native_machine_restore(const char *root, unsigned *left, struct err *err);

/* For knobs.c, too.  Path below root; a register of a processor; "L3:0=ff;1=ff" of a schemata file, one line without the blanks before it. */
enum { NATIVE_PATH = PATH_MAX, NATIVE_CPUS = 1024, NATIVE_SCHEMA = 1024 };
int  native_path(char path[NATIVE_PATH], const char *root, const char *below, struct err *err);
int  native_msr_read(const char *root, unsigned cpu, uint32_t msr, uint64_t *value, struct err *err);
int  native_cache_schema(char line[NATIVE_SCHEMA], const char *root, struct err *err);
/* Half of each mask of it: the upper (of the program) or the lower half; false: a mask has no two bits. */
bool native_cache_half(char half[NATIVE_SCHEMA], const char *line, bool upper);
/* Processors that have a folder in ROOT/dev/cpu, ascending; returns how many. */
unsigned native_msr_cpus(const char *root, unsigned cpu[NATIVE_CPUS]);
/* A small file, without the newline at its end. */
int  native_read(char *text, size_t bytes, const char *root, const char *below, struct err *err);
#endif
