/* SPDX-License-Identifier: GPL-2.0-or-later
 * What calibrate_fields.c and calibrate_refine.c share: how fields are reported, and the chains that show how much of
 * L3 other programs use.  Described where they are defined, in calibrate_fields.c. */
#ifndef CALIBRATE_PRIVATE_H
#define CALIBRATE_PRIVATE_H
#include "analysis/calibrate/calibrate_fields.h"
#include "analysis/calibrate/calibrate_fit.h"

struct cal_shared { size_t probe[CAL_CURVE]; struct cal_curve curve; double low, high, end; bool level; };

bool cal_is_noisy(double cycles, double least);
bool cal_shares_l3(const struct core_config *c, const struct cal_probe *p);
void cal_order_latencies(struct core_config *c, uint32_t base_code_latency);
void cal_refuse(struct cal_fields *out, const char *key, double was, const char *why);
bool cal_shared_chains(struct cal_shared *s, const struct core_config *c, const struct cal_probe *p, size_t count,
	const struct cal_native *host);
void cal_tell_text(struct cal_fields *out, const char *key, const char *was, const char *is, const char *why);
void cal_tell(struct cal_fields *out, const char *key, double was, double is, const char *format, ...)
	__attribute__((format(printf, 5, 6)));
#endif
