/* SPDX-License-Identifier: GPL-2.0-or-later
 * Names of software events (software_events.h).
 *
 * Of a whole machine, page faults are exceptions with vector 14, of either privilege; context switches are changes of
 * the process' address space.  So threads of one process, and the kernel's own, switch unseen; a kernel with page
 * tables of its own does not switch at each system call (threads/spaces.h).  The machine has one processor, so nothing
 * migrates.  exceptions and interrupts are names of our own.
 */
#include "session/events/software_events.h"
#include "session/session.h"
#include <strings.h>

bool software_find(const char *name, bool machine, int *source)
{
	static const struct { const char *name; int source; bool machine; } known[] = {
		{ "task-clock", SESSION_TASK_CLOCK, false }, { "cpu-clock", SESSION_TASK_CLOCK, false },
		{ "duration_time", SESSION_DURATION, false }, { "dummy", SESSION_NOTHING, false },
		{ "emulation-faults", SESSION_NOTHING, false },
		{ "page-faults", SESSION_FAULTS, true }, { "faults", SESSION_FAULTS, true },
		{ "context-switches", SESSION_SWITCHES, true }, { "cs", SESSION_SWITCHES, true },
		{ "cpu-migrations", SESSION_NOTHING, true }, { "migrations", SESSION_NOTHING, true },
		{ "exceptions", SESSION_EXCEPTIONS, true }, { "interrupts", SESSION_INTERRUPTS, true },
	};
	for (size_t i = 0; i < sizeof known / sizeof *known; i++)
		if (strcasecmp(name, known[i].name) == 0 && (machine || !known[i].machine)) {
			*source = known[i].source;
			return true;
		}
	return false;
}

bool software_instead(const char *name, int *source)
{
	if (strcasecmp(name, "HW_INTERRUPTS.RECEIVED"))
		return false;
	*source = SESSION_INTERRUPTS;
	return true;
}

bool software_of_kernel(const char *name)
{
	static const char *const kernel[] = { "page-faults", "faults", "minor-faults", "major-faults",
		"context-switches", "cs", "cpu-migrations", "migrations", "alignment-faults", "bpf-output",
		"cgroup-switches", "user_time", "system_time" };
	for (size_t i = 0; i < sizeof kernel / sizeof *kernel; i++)
		if (strcasecmp(name, kernel[i]) == 0)
			return true;
	return false;
}
