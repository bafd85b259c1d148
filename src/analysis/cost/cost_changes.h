/* SPDX-License-Identifier: GPL-2.0-or-later
 * Changes of a machine by event (struct cost_event.change in cost.h).  Private to cost_events.c and cost_changes.c.
 */
#ifndef ANALYSIS_COST_CHANGES_H
#define ANALYSIS_COST_CHANGES_H
#include "analysis/cost/cost.h"

/* Appends to text. */
void cost_say(char *text, size_t bytes, const char *format, ...) __attribute__((format(printf, 3, 4)));
/* Memory that answers at once, with unlimited bandwidth. */
extern const char cost_free_memory_fields[];
typedef enum cost_change cost_changer(struct core_config *c, enum cost_try how, char *text, size_t bytes,
	const char **why);
/* no_change: there is none. */
cost_changer cost_no_change, cost_change_predictor, cost_change_btb, cost_change_l1d, cost_change_l2, cost_change_l3,
	cost_change_l1i, cost_change_dtlb, cost_change_stlb, cost_change_itlb, cost_change_prefetch, cost_change_split,
	cost_change_forward, cost_change_store_buffer, cost_change_clear, cost_change_dsb;
#endif
