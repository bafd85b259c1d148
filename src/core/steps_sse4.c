/* SPDX-License-Identifier: GPL-2.0-or-later
 * steps.c for hosts with SSE4.1, where the choice of a port is one instruction (scheduler.h).  The Makefile
 * compiles this file with -msse4.1; without that there is no such variant.
 */
#ifdef __SSE4_1__
#define STEPS core_steps_sse4
#include "core/steps.c"
#else
#include "core/pipeline.h"
core_steps_way *core_steps_sse4(enum steps_for what)
{
	(void)what;
	return NULL;
}
#endif
