/* SPDX-License-Identifier: GPL-2.0-or-later
 * steps.c for hosts with SSE4.1: the choice of a port is one instruction there (scheduler.h).  The Makefile says so to the compiler;
 * where it is not told, there is no such way.
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
