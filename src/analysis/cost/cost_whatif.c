/* SPDX-License-Identifier: GPL-2.0-or-later
 * The machines of cost_whatif.h.
 */
#include "analysis/cost/cost_whatif.h"
#include <string.h>

#define GROUP(name) (1u << COST_##name)
const struct cost_whatif cost_whatifs[COST_WHATIFS] = {
	{ "latency", "every computation takes one cycle: what chains of computations cost", "free.latency=1",
		GROUP(LATENCY), false },
	{ "port", "a computation may go to every port: what work for the same ports costs", "free.ports=1",
		GROUP(LATENCY), true },
	{ "front-end", "the front end always delivers as many uops as can be allocated", "frontend.simple=1",
		GROUP(FRONT_END) | GROUP(ICACHE) | GROUP(ITLB) | GROUP(RESTEER), true },
	{ "partial", "parts of registers need no merging", "partial.high_ports=0,partial.high_latency=0,"
		"partial.flags_ports=0,partial.flags_stall=0,partial.stall=none",
		GROUP(LATENCY) | GROUP(FRONT_END), true },
};

const struct cost_whatif *cost_whatif_find(const char *name)
{
	for (unsigned i = 0; i < COST_WHATIFS; i++)
		if (!strcmp(cost_whatifs[i].name, name))
			return &cost_whatifs[i];
	return NULL;
}
