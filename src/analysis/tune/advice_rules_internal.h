/* SPDX-License-Identifier: GPL-2.0-or-later
 * What the files of rules share.  Private to src/analysis/tune.
 */
#ifndef ANALYSIS_ADVICE_RULES_INTERNAL_H
#define ANALYSIS_ADVICE_RULES_INTERNAL_H
#include "analysis/tune/advice_rules.h"
#include <inttypes.h>
#include <stdio.h>

enum { OFTEN = 20, ENOUGH = 200, PAGE = 4096 };	/* ENOUGH: fewer events show no pattern */
#define CAUSE(name) (1u << EXACT_##name)
/* The front end delivers late, or a slot at a time: then each slot's own stages show. */
#define FETCH (CAUSE(FRONT_END) | CAUSE(PIPELINE))
#define SAY(a, ...) snprintf((a)->evidence, sizeof (a)->evidence, __VA_ARGS__)

static inline double advice_of(uint64_t part, uint64_t all) { return all ? (double)part / (double)all : 0; }
/* Cycles that the exact profile charges to the place for these causes. */
double advice_charged(const struct advice_place *p, uint32_t causes);
/* The estimate is part / all of what the change gains.  True. */
bool advice_gains(struct advice *a, enum advice_change change, double part, double all);

typedef bool advice_rule_of(const struct advice_place *p, const struct advice_program *r, struct advice *a);
/* advice_rules_core.c */
advice_rule_of advice_spin_wait, advice_lock, advice_fence, advice_divide, advice_denormal, advice_sse_avx,
	advice_string, advice_partial, advice_lcp, advice_jcc, advice_store_passed, advice_load_chain,
	advice_allocation, advice_chain, advice_port;
#endif
