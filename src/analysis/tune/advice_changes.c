/* SPDX-License-Identifier: GPL-2.0-or-later
 * The machines without one of the troubles that rules of advice look for (advice_rules.h).
 */
#include "analysis/tune/advice_rules.h"
#include "analysis/cost/cost_whatif.h"
#include <stdio.h>
#include <string.h>

static bool set_all(struct core_config *c, const char *fields, char *text, size_t bytes)
{
	char *save = NULL;
	snprintf(text, bytes, "%s", fields);
	for (char *field = strtok_r(text, ",", &save); field; field = strtok_r(NULL, ",", &save))
		if (core_config_set(c, field, NULL))
			return false;
	snprintf(text, bytes, "%s", fields);
	return !core_config_check(c, NULL);
}

/* The change of an event of cost.h, fields of a what-if, or fields of its own. */
static const struct {
	const char *event;
	enum cost_try how;
	const char *whatif, *fields;
} changes[ADVICE_CHANGES_COUNT] = {
	[ADVICE_PREDICTOR] = { .event = "mispredict", COST_BETTER },
	[ADVICE_INDIRECT] = { .event = "mispredict", COST_BETTER },
	[ADVICE_BTB] = { .event = "btb_miss", COST_BETTER },
	[ADVICE_L1I] = { .event = "icache_miss", COST_BETTER },
	[ADVICE_ITLB] = { .event = "itlb_miss", COST_BETTER },
	[ADVICE_DSB] = { .event = "decoded", COST_BETTER },
	[ADVICE_JCC] = { .fields = "dsb.jcc_erratum=0" },
	[ADVICE_LCP] = { .event = "lcp", COST_ONLY },
	[ADVICE_FRONT_END] = { .whatif = "front-end" },
	[ADVICE_SPLIT] = { .event = "split", COST_BETTER },
	[ADVICE_ALIAS] = { .event = "no_forward", COST_BETTER },
	[ADVICE_FORWARD] = { .event = "no_forward", COST_ONLY },
	[ADVICE_CLEAR] = { .event = "clear", COST_ONLY },
	[ADVICE_STORES] = { .event = "store_miss", COST_ONLY },
	[ADVICE_SNOOP] = { .event = "other_core", COST_ONLY },
	[ADVICE_LOCK] = { .event = "lock", COST_ONLY },
	[ADVICE_OWN] = { .fields = "free.snoop=1,free.lock=1" },
	[ADVICE_SERIALIZE] = { .event = "serialize", COST_ONLY },
	[ADVICE_L3] = { .event = "l2_miss", COST_WITHOUT },
	[ADVICE_MEMORY] = { .event = "l3_miss", COST_WITHOUT },
	[ADVICE_PAGES] = { .event = "page_walk", COST_WITHOUT },
	[ADVICE_DIVIDE] = { .event = "divide", COST_ONLY },
	[ADVICE_ASSIST] = { .event = "assist", COST_ONLY },
	[ADVICE_BLEND] = { .fields = "assist.sse_avx=none" },
	[ADVICE_LATENCY] = { .whatif = "latency" },
	[ADVICE_PORTS] = { .whatif = "port" },
	[ADVICE_PARTIAL] = { .whatif = "partial" },
};

bool advice_change(enum advice_change change, struct core_config *c, char *text, size_t bytes, const char **why)
{
	*text = 0;
	if (change == ADVICE_L2) {	/* L2 as fast as L1D, or nearly */
		*why = "L2 is as quick as L1D";
		if (c->l2_latency <= c->l1d_latency + 1)
			return false;
		c->l2_latency = c->l1d_latency + 1;
		snprintf(text, bytes, "l2.latency=%u", c->l2_latency);
		return !core_config_check(c, NULL);
	}
	*why = "no feature of the machine changes this event alone";
	if (changes[change].whatif)
		return set_all(c, cost_whatif_find(changes[change].whatif)->fields, text, bytes);
	if (changes[change].fields)
		return set_all(c, changes[change].fields, text, bytes);
	const struct cost_event *e = changes[change].event ? cost_event_find(changes[change].event) : NULL;
	char fields[256];
	if (e && changes[change].how == COST_ONLY)
		return cost_event_only(e, c, fields, sizeof fields) && set_all(c, fields, text, bytes);
	if (!e || e->change(c, changes[change].how, text, bytes, why) == COST_NO_CHANGE)
		return false;
	return !core_config_check(c, NULL);
}

void advice_check(enum advice_change change, char *text, size_t bytes)
{
	const char *const event = change == ADVICE_L2 ? "l1_miss"
		: change == ADVICE_BLEND              ? "assist"
						      : changes[change].event;
	if (event)
		snprintf(
			text, bytes, "softpmu cost -e %s --by function: its share by total time is gone here", event);
	else if (changes[change].whatif)
		snprintf(text, bytes, "softpmu cost: what if, %s: its gain must be smaller", changes[change].whatif);
	else
		snprintf(text, bytes, "softpmu stat -e cycles, before and after");
}
