/* SPDX-License-Identifier: GPL-2.0-or-later
 * Sampled runs: a timed core takes over what a leader, which only warms, has (core.h).
 *
 * Taken over: caches, TLBs, prefetchers, predictors, the uop cache or trace cache, the upper halves of the vector
 * registers.  Left as they are: queues, buffers, what loads have learned of stores (it depends on time), the loop
 * buffer.
 */
#include "core/backend/scheduler.h"
#include "core/frontend/frontend.h"
#include <string.h>

void core_copy(struct core *to, const struct core *leader)
{
	memsys_copy(to->mem, leader->mem);
	bpred_copy(to->bp, leader->bp);
	frontend_copy(to, leader);
	to->cl.uppers = leader->cl.uppers;
}

void core_copy_predictors(struct core *to, const struct core *from)
{
	bpred_copy(to->bp, from->bp);
	to->warm_mispredicts = from->warm_mispredicts;
}

void core_feed_back(struct core *leader, const struct core *timed)
{
	memsys_feed_back(leader->mem, timed->mem);
}

void core_disturb(struct core *c, uint64_t seed)
{
	if (!c->config.inorder)
		scheduler_disturb(&c->sc, max64(c->e.now, c->rn.cycle), seed);
}

void core_seasoned(struct core *c)
{
	memset(c->q.mdp, c->q.mdp_limit <= UINT8_MAX ? (int)c->q.mdp_limit : 0, sizeof c->q.mdp);
}

void core_copy_loads(struct core *to, const struct core *from)
{
	memcpy(to->q.mdp, from->q.mdp, sizeof to->q.mdp);
	memcpy(to->q.pair, from->q.pair, sizeof to->q.pair);
}

struct core_misses core_warm_misses(const struct core *leader)
{
	struct core_misses m = { .branches = leader->warm_mispredicts };
	memsys_warm_misses(leader->mem, &m);
	return m;
}
