/* SPDX-License-Identifier: GPL-2.0-or-later
 * The front of a sampled run has the most to do, and the run takes as long as it waits for a processor.  A host thread
 * that works for it calls this, so that the front goes first where processors are few.  With a nice value of 5 a
 * thread still has a third of the front's share: it must not starve while other programs run.
 * Private to src/run.
 */
#ifndef RUN_FRONT_FIRST_H
#define RUN_FRONT_FIRST_H
#include <sys/resource.h>

enum { BEHIND_FRONT = 5 };

/* Linux has nice values for threads: this changes that of the calling one. */
static inline void front_first(void)
{
	setpriority(PRIO_PROCESS, 0, getpriority(PRIO_PROCESS, 0) + BEHIND_FRONT);
}
#endif
