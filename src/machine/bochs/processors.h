/* SPDX-License-Identifier: GPL-2.0-or-later
 * Several processors in turns (processors.cc).
 */
#ifndef SOFTPMU_PROCESSORS_H
#define SOFTPMU_PROCESSORS_H

enum { PROCESSORS_MAX = 64 };
/* The tick of the machine's clock that the processor has reached. */
Bit64u processors_time(unsigned cpu);
/* instrument.cc */
struct guest *processors_model(unsigned cpu);
unsigned processors_paging(unsigned cpu);	/* how it translates addresses now: set of enum guest_mode */
void processors_halted(unsigned cpu);		/* it begins so */
void processors_yield(unsigned cpu);
#endif
