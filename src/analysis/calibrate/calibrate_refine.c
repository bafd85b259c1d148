/* SPDX-License-Identifier: GPL-2.0-or-later
 * Fits the fields whose effect only the model shows, by running it (calibrate_fields.h, cal_refine). */
#include "analysis/calibrate/calibrate_private.h"
#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

/* how the field changes by the difference; AS_IT_IS: the field is the host's time itself */
enum how { ADD_CYCLES, ADD_NS, AS_IT_IS };
struct target {
	const char *key;
	size_t offset;
	bool real;
	enum how how;
	double per, least, most;	/* the field changes by the difference × per, within least and most */
	const char *probe, *minus;	/* value: probe, or 2 × (probe - minus) */
};
#define AT(id) offsetof(struct core_config, id)
static const struct target target[] = {
	{ "l2.latency", AT(l2_latency), false, ADD_CYCLES, 1, 1, 1000, "huge.128K", NULL },
	{ "l3.latency_ns", AT(l3_latency_ns), true, ADD_NS, 1, 0, 1000, "chase.L3", NULL },
	{ "dram.latency_ns", AT(dram_latency_ns), true, ADD_NS, 1, 1, 10000, "chase.64M", NULL },
	{ "stlb.latency", AT(stlb_latency), false, ADD_CYCLES, 1, 0, 1000, "pages.256", NULL },
	{ "walk.overhead", AT(walk_overhead), false, ADD_CYCLES, 1, 0, 1000, "pages.8192", NULL },
	{ "l2.bandwidth_cycles", AT(l2_bandwidth_cycles), true, ADD_CYCLES, 1, 0, 64, "read.256K", NULL },
	{ "l3.line_ns", AT(l3_line_ns), true, ADD_NS, 1, 0, 1000, "read.6M", NULL },
	{ "dram.line_ns", AT(dram_line_ns), true, AS_IT_IS, 1, 0, 1000, "read.96M", NULL },
	{ "recovery.redirect", AT(recovery_redirect), false, ADD_CYCLES, 1, 0, 64, "random", "predicted" },
	{ "forward.latency", AT(forward_latency), false, ADD_CYCLES, 1, 1, 100, "forward", NULL },
	{ "forward.blocked", AT(forward_blocked), false, ADD_CYCLES, 1, 0, 100, "blocked", NULL },
};
enum { TARGETS = sizeof target / sizeof *target };

/* Index of the probe of that name; "chase.L3" is the first chain of twice L2's size or more.  It uses 4 KB
 * pages: a guest's 2 MB pages may be small ones in the hypervisor, with their TLB misses, which the model's do
 * not have. */
static size_t probe_of(const struct core_config *c, const struct cal_probe *p, size_t count, const char *name)
{
	if (strcmp(name, "chase.L3"))
		return cal_find(p, count, name);
	size_t params, first = cal_first(p, count, CAL_CHASE, &params);
	for (size_t i = 0; i < params; i++)
		if (p[first + i].param >= 2 * c->l2_size)
			return first + i;
	return count;
}

void cal_refine_wants(const struct core_config *c, const struct cal_probe *p, size_t count, bool *wanted)
{
	for (size_t t = 0; t < TARGETS; t++) {
		size_t i = probe_of(c, p, count, target[t].probe),
		       k = target[t].minus ? cal_find(p, count, target[t].minus) : count;
		if (i < count)
			wanted[i] = true;
		if (i < count && p[i].family == CAL_CHASE && wanted[i] && i && p[i - 1].family == CAL_CHASE &&
			!cal_is_long(p + i))
			/* natively the chain before ran, too: this one finds what others have pushed out of L3 */
			wanted[i - 1] = true;
		if (k < count)
			wanted[k] = true;
	}
	for (size_t i = 0; i < count && c->l3_others.points; i++)
		wanted[i] |= cal_shares_l3(c, p + i);
}

static double get(const struct core_config *c, const struct target *t)
{
	uint32_t whole;
	double v;
	if (t->real) {
		memcpy(&v, (const char *)c + t->offset, sizeof v);
		return v;
	}
	memcpy(&whole, (const char *)c + t->offset, sizeof whole);
	return whole;
}

static void set(struct core_config *c, const struct target *t, double v)
{
	if (t->real)
		memcpy((char *)c + t->offset, &v, sizeof v);
	else
		memcpy((char *)c + t->offset, &(uint32_t){ (uint32_t)v }, sizeof(uint32_t));
}

/* The host's value; of a curve, its envelope, so that the model is not fitted to disturbances.  at: index of
 * that value. */
static double host_of(const struct cal_probe *p, size_t count, const struct cal_native *host, size_t i, size_t *at)
{
	bool curve = p[i].family == CAL_CHASE || p[i].family == CAL_PAGES;
	*at = i;
	for (size_t k = i + 1; curve && k < count && p[k].family == p[i].family; k++)
		if (host->value[k].cycles > 0 && host->value[k].cycles < host->value[*at].cycles)
			*at = k;
	return host->value[*at].cycles;
}

/* Refines l3.others: moves each chain's share of lines left by as much as would make up for the difference.  Of
 * chains near L3's level, all lines are left. */
static unsigned refine_others(struct core_config *c, struct cal_fields *out, const struct core_config *base,
	const struct cal_probe *p, size_t count, const struct cal_native *host, const double *model, bool last)
{
	char was[CORE_FALL_TEXT], before[CORE_FALL_TEXT], is[CORE_FALL_TEXT], text[160];
	double share[CAL_CURVE], off = 0;
	struct cal_shared s;
	if (!c->l3_others.points || !cal_shared_chains(&s, c, p, count, host))
		return 0;
	core_fall_print(&base->l3_others, was);
	core_fall_print(&c->l3_others, before);
	for (size_t i = 0; i < s.curve.n; i++) {
		const double ours = model[s.probe[i]], native = s.curve.y[i];
		share[i] = core_fall_per_cent(&c->l3_others, s.curve.age[i]) / 100;
		if (ours <= 0)
			return 0;
		off += fabs(ours / native - 1) / (double)s.curve.n;
		share[i] = native < 1.1 * s.low ? 1 : share[i] + (ours - native) / (s.high - s.low);
	}
	if (last) {
		snprintf(text, sizeof text,
			"chase.N: from %.0f to %.0f cycles, by the age of the lines at %zu points; model off by %.0f "
			"%% of them",
			s.low, s.high, s.curve.n, 100 * off);
		cal_tell_text(out, "l3.others", was, before, text);
		return 0;
	}
	if (cal_fit_fall(&c->l3_others, s.curve.age, share, s.curve.n, s.end, NULL))
		return 0;
	core_fall_print(&c->l3_others, is);
	return strcmp(before, is) != 0;
}

unsigned cal_refine(struct core_config *c, struct cal_fields *out, const struct core_config *base,
	const struct cal_probe *p, size_t count, const struct cal_native *host, const double *model,
	const double *first, bool last)
{
	struct cal_shared s;
	unsigned changed = refine_others(c, out, base, p, count, host, model, last);
	for (size_t n = 0; n < TARGETS; n++) {
		const struct target *t = target + n;
		size_t i = probe_of(c, p, count, t->probe), k = t->minus ? cal_find(p, count, t->minus) : count;
		double was = get(base, t), is = get(c, t), next = is;
		if (i >= count || host->value[i].cycles <= 0 || model[i] <= 0 ||
			(k < count && (host->value[k].cycles <= 0 || model[k] <= 0))) {
			/* starts from the base again: an L2 that was slow may not be so any more */
			set(c, t, was);
			cal_refuse(out, t->key, was, "its microbenchmark did not run");
			continue;
		}
		size_t at;
		double native = host_of(p, count, host, i, &at), ours = model[i], before = first ? first[i] : -1;
		struct cal_value spread = host->value[at];
		if (k < count) {
			native = 2 * (native - host->value[k].cycles);
			ours = 2 * (ours - model[k]);
			before = first && first[k] > 0 ? 2 * (before - first[k]) : -1;
		}
		const bool hidden =
			!strcmp(t->key, "l3.latency_ns") && cal_shared_chains(&s, c, p, count, host) && !s.level;
		/* a load that became the stored register does not show how long forwarding takes */
		const bool renamed = !strcmp(t->key, "forward.latency") && native < c->l1d_latency;
		if (native <= 0 || ours <= 0 || hidden || renamed || cal_is_noisy(spread.cycles, spread.low)) {
			char text[120];
			snprintf(text, sizeof text, "%s: %s, %.1f to %.1f cycles", p[i].name,
				hidden    ? "other programs have pushed lines out by then"
				: renamed ? "the host renames these pairs"
					  : "too noisy", spread.low, spread.high);
			set(c, t, was);
			cal_refuse(out, t->key, was, text);
			continue;
		}
		double off = native - ours;
		if (last) {
			/* a bandwidth (AS_IT_IS) that is not the limit could have any value */
			bool near = fabs(off) <= 0.12 * native,
			     helped = t->how != AS_IT_IS && before > 0 && fabs(off) < 0.8 * fabs(native - before);
			char text[160];
			snprintf(text, sizeof text, "%s%s%s: host %.2f, model %.2f cycles%s", p[i].name,
				k < count ? " - " : "", k < count ? p[k].name : "", native, ours,
				near             ? ""
					: helped ? "; as near as this field brings it"
						 : "; this field does not bring it nearer");
			if (!near && !helped) {
				set(c, t, was);
				cal_refuse(out, t->key, was, text);
			} else {
				cal_tell(out, t->key, was, is, "%s", text);
			}
			continue;
		}
		switch (t->how) {
		case ADD_CYCLES:
			next = t->real ? round((is + off * t->per) * 100) / 100 : round(is + off * t->per);
			break;
		case ADD_NS:
			next = round((is + off * t->per / c->frequency_ghz) * 100) / 100;
			break;
		case AS_IT_IS:
			next = round(native / c->frequency_ghz * 100) / 100;
			break;
		}
		next = next < t->least ? t->least : next > t->most ? t->most : next;
		if (next != is) {
			set(c, t, next);
			changed++;
		}
	}
	const uint32_t l2_latency = c->l2_latency;
	const double l3_latency_ns = c->l3_latency_ns;
	cal_order_latencies(c, base->l2_code_latency);
	if (last && c->l2_latency != l2_latency)
		cal_tell(out, "l2.latency", base->l2_latency, c->l2_latency, "more than l1d.latency");
	if (last && c->l3_latency_ns != l3_latency_ns)
		cal_tell(out, "l3.latency_ns", base->l3_latency_ns, c->l3_latency_ns, "more than l2.latency");
	if (last && c->l2_code_latency != base->l2_code_latency)
		cal_tell(out, "l2.code_latency", base->l2_code_latency, c->l2_code_latency, "no less than l2.latency");
	return changed;
}
