/* SPDX-License-Identifier: GPL-2.0-or-later
 * Sampled runs: a timed core takes over what a leader, which only warms, has (core.h).
 *
 * Taken over: caches, TLBs, prefetchers, predictors, the uop cache, the upper halves of the vector registers.
 * Left as they are: queues, buffers, what loads have learned of stores, the trace cache (NetBurst), the loop buffer.
 */
#include "core/frontend/frontend.h"

void core_copy(struct core *to, const struct core *leader)
{
	memsys_copy(to->mem, leader->mem);
	bpred_copy(to->bp, leader->bp);
	frontend_copy(to, leader);
	to->cl.uppers = leader->cl.uppers;
}

struct core_misses core_warm_misses(const struct core *leader)
{
	struct core_misses m = { .branches = leader->warm_mispredicts };
	memsys_warm_misses(leader->mem, &m);
	return m;
}
