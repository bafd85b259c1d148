/* SPDX-License-Identifier: GPL-2.0-or-later
 * Which machines can take over the state of one leader (core.h, core_copy): those of which warming leaves the same in
 * caches, TLBs, prefetchers, predictors and the uop cache.
 *
 * leads.c lists the fields that warming does not read; machines may differ in these.  Every other field counts, so one
 * that is new counts until somebody lists it.  The fields of the predictors and of the wrong path count, because
 * leaders also get what wrong paths bring (core_feed_back).
 */
#ifndef CORE_LEADS_H
#define CORE_LEADS_H
#include "core/machine/config.h"

/* Are all fields equal?  Names and titles do not count. */
bool core_config_same(const struct core_config *a, const struct core_config *b);
/* May machines a and b have one leader? */
bool core_config_leads_alike(const struct core_config *a, const struct core_config *b);
/* Do the predictors of leaders of these machines learn the same of the same stream?  Machines that differ in memory
 * only, or in timing, are such. */
bool core_config_predict_alike(const struct core_config *a, const struct core_config *b);
/* Gives the fields that only timing reads the values that they have in `from`. */
void core_config_time_like(struct core_config *to, const struct core_config *from);
/* The keys of these fields, in no order.  k: from 0 on; NULL: there are no more. */
const char *core_config_timed_field(unsigned k);
#endif
