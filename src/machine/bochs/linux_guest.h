/* SPDX-License-Identifier: GPL-2.0-or-later
 * What a Linux guest needs of the emulator: images in its memory at the start, calls of its first program, a serial
 * port, and a state that is saved and restored.  instrument.cc calls these.
 */
#ifndef SOFTPMU_LINUX_GUEST_H
#define SOFTPMU_LINUX_GUEST_H
#include "machine/machine.h"
#include <cstdio>
#include <string>

/* A line of the options file: load (ADDRESS OFFSET BYTES FILE, any number of times: a part of a file is put at a
 * physical address), request (a file: struct guest_request), stdout, stderr, kallsyms, files (what the guest's channels
 * go to), serial (what the serial port prints), save (a folder: the machine's state is saved there when the guest asks
 * for it, and the machine ends), restore (a folder: where Bochs restores the state from).  False: another line. */
bool linux_setting(const std::string &name, const char *value);
/* A file for output by its name, or by "fd:NUMBER". */
FILE *linux_output(const char *name);

void linux_devices(void);		/* memory and devices are there: loads images, connects the serial port */
void linux_call(Bit32u addr);		/* GUEST_CALL_PORT */
bool linux_end(void);		/* the processors are still there; true: a state was saved */

/* saved_state.cc: what the processors' models know, in a saved state, as a file of the folder.  A model begins with its
 * caches cold and its counters as they were written. */
void state_note(unsigned cpu, unsigned msr, Bit64u value);	/* the guest wrote a register of the PMU */
void state_write(const std::string &folder);
void state_read(const std::string &folder, unsigned cpu);
bool linux_saves(void);			/* this run boots, saves a state and ends */
const char *linux_restored(void);	/* the folder, or NULL */

void serial_port_init(FILE *out);	/* serial_port.cc; NULL: what is printed is lost */
#endif
