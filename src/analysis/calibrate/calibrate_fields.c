/* SPDX-License-Identifier: GPL-2.0-or-later
 * Fits fields to the microbenchmarks (calibrate_fields.h).  Leaves out: fields that no microbenchmark shows by
 * itself (sizes of predictors, replacement policies except L1D's, associativity except where a size forces it),
 * and what stands in the uop table (latencies and ports of instructions; the report shows them beside the
 * host's). */
#include "analysis/calibrate/calibrate_fields.h"
#include "analysis/calibrate/calibrate_fit.h"
#include "analysis/calibrate/calibrate_private.h"
#include "core/memory/cache.h"
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The points of `from` from one parameter to another. */
static struct cal_curve between(const struct cal_curve *from, double least, double most)
{
	struct cal_curve c = { .n = 0 };
	for (size_t i = 0; i < from->n; i++)
		if (from->x[i] >= least && from->x[i] <= most) {
			c.x[c.n] = from->x[i];
			c.y[c.n] = from->y[i];
			c.least[c.n] = from->least[i];
			c.age[c.n] = from->age[i];
			c.most[c.n++] = from->most[i];
		}
	return c;
}

static void add_point(struct cal_curve *c, const struct cal_probe *p, const struct cal_value *v)
{
	c->x[c->n] = p->param;
	c->y[c->n] = v->cycles;
	c->least[c->n] = v->low;
	c->age[c->n] = v->age_ms;
	c->most[c->n++] = v->high;
}

static struct cal_curve curve_of(const struct cal_probe *p, size_t count, const struct cal_native *host,
	enum cal_family f)
{
	struct cal_curve c = { .n = 0 };
	size_t params, first = cal_first(p, count, f, &params);
	for (size_t i = first; i < first + params && c.n < CAL_CURVE; i++)
		if (host->value[i].cycles > 0)
			add_point(&c, p + i, host->value + i);
	return c;
}

/* A value that the fastest of its repeats does not confirm. */
bool cal_is_noisy(double cycles, double least)
{
	return cycles > 1.5 * least;
}

static double value_of(const struct cal_probe *p, size_t count, const struct cal_native *host, const char *name)
{
	size_t i = cal_find(p, count, name);
	return i < count ? host->value[i].cycles : -1;
}

static struct cal_field *field(struct cal_fields *out, const char *key)
{
	for (size_t i = 0; i < out->fields; i++)
		if (!strcmp(out->field[i].key, key))
			return out->field + i;
	if (out->fields == CAL_FIELDS)
		return out->field + CAL_FIELDS - 1;
	out->field[out->fields] = (struct cal_field){ .key = key };
	return out->field + out->fields++;
}

static void size_text(char *text, size_t bytes, double v)
{
	uint64_t n = (uint64_t)v;
	if (v != (double)n)
		snprintf(text, bytes, "%.4g", v);
	else if (n >= 65536 && !(n & 1048575))
		snprintf(text, bytes, "%lluM", (unsigned long long)(n >> 20));
	else if (n >= 4096 && !(n & 1023))
		snprintf(text, bytes, "%lluK", (unsigned long long)(n >> 10));
	else
		snprintf(text, bytes, "%llu", (unsigned long long)n);
}

/* Reports a field. was, is: as written in a core's file. */
void cal_tell_text(struct cal_fields *out, const char *key, const char *was, const char *is, const char *why)
{
	struct cal_field *f = field(out, key);
	snprintf(f->why, sizeof f->why, "%s", why);
	snprintf(f->was, sizeof f->was, "%s", was);
	snprintf(f->is, sizeof f->is, "%s", is);
	f->verdict = strcmp(f->was, f->is) ? CAL_FITTED : CAL_AGREES;
}

__attribute__((format(printf, 5, 6)))
void cal_tell(struct cal_fields *out, const char *key, double was, double is, const char *format, ...)
{
	char why[240], before[32], after[32];
	va_list ap;
	va_start(ap, format);
	vsnprintf(why, sizeof why, format, ap);
	va_end(ap);
	size_text(before, sizeof before, was);
	size_text(after, sizeof after, is);
	cal_tell_text(out, key, before, after, why);
}

static void refuse_text(struct cal_fields *out, const char *key, const char *was, const char *why)
{
	cal_tell_text(out, key, was, was, why);
	field(out, key)->verdict = CAL_REFUSED;
}

void cal_refuse(struct cal_fields *out, const char *key, double was, const char *why)
{
	char text[32];
	size_text(text, sizeof text, was);
	refuse_text(out, key, text, why);
}

/* Keeps the order that a core's latencies must have: L2 takes longer than L1D, L3 longer than L2, and code from
 * L2 at least as long as data from L2 and as in the base. */
void cal_order_latencies(struct core_config *c, uint32_t base_code_latency)
{
	if (c->l2_latency <= c->l1d_latency)
		c->l2_latency = c->l1d_latency + 1;
	c->l2_code_latency = c->l2_latency > base_code_latency ? c->l2_latency : base_code_latency;
	if (lround(c->l3_latency + c->l3_latency_ns * c->frequency_ghz) <= c->l2_latency)
		c->l3_latency_ns = ceil(100 * (c->l2_latency + 1. - c->l3_latency) / c->frequency_ghz) / 100;
}

/* Fits a capacity to the knee of a curve.  extra: entries that are taken beside the parameter's number. */
static void capacity(struct cal_fields *out, const char *key, uint32_t *to, const struct cal_curve *c, double high,
	uint32_t extra, uint32_t unit, const char *what)
{
	struct cal_knee k;
	struct err why = { 0, "" };
	uint32_t was = *to;
	if (cal_fit_knee(&k, c, high, &why)) {
		char text[240];
		snprintf(text, sizeof text, "%s: %.150s", what, why.text);
		cal_refuse(out, key, was, text);
		return;
	}
	/* where pages are scattered over memory, some sets overflow: a cache already misses half at its very size */
	uint64_t least = (uint64_t)k.fits + extra, most = (uint64_t)k.fails + extra - (unit < 4096);
	*to = (uint32_t)(cal_round_between(least / unit, most / unit, was / unit) * unit);
	char a[24], b[24];
	size_text(a, sizeof a, k.fits);
	size_text(b, sizeof b, k.fails);
	cal_tell(out, key, was, *to, "%s: %s still fit (%.1f cycles), %s do not (%.1f)", what, a, k.low, b, k.high);
}

/* Ways for a cache of this size whose number of sets is a power of two: `was` if that works, else the most, up
 * to 16. */
static uint32_t ways_for(uint32_t size, uint32_t line, uint32_t was)
{
	for (uint32_t pass = 0, ways = was; pass < 2; pass++, ways = 16)
		for (; ways > 0; ways--) {
			uint32_t sets = size / line / ways;
			if (sets * ways * line == size && sets && !(sets & (sets - 1)))
				return ways;
			if (!pass)
				break;
		}
	return 1;
}

static void ways(struct cal_fields *out, const char *key, uint32_t *to, uint32_t size, uint32_t line)
{
	uint32_t was = *to;
	*to = ways_for(size, line, was);
	if (*to != was)
		cal_tell(out, key, was, *to, "so that the sets of the new size are a power of two");
}

static void uop_cache(struct core_config *c, struct cal_fields *out, const struct cal_curve *code)
{
	struct cal_knee k;
	struct err why = { 0, "" };
	uint32_t was = c->dsb_ways;
	if (!c->dsb_sets)
		return;
	if (cal_fit_knee(&k, code, 0, &why)) {
		char text[240];
		snprintf(text, sizeof text, "code.N: %.150s", why.text);
		cal_refuse(out, "dsb.ways", was, text);
		return;
	}
	/* cache lines that an instruction of 3 bytes takes */
	double in_window = c->dsb_window_bytes / 3., lines = ceil(in_window / c->dsb_line_uops) / in_window;
	uint64_t least = (uint64_t)ceil(k.fits * lines / c->dsb_sets), most = (uint64_t)(k.fails * lines / c->dsb_sets);
	uint64_t fit = cal_round_between(least, most, was);
	if (fit > 16) {
		cal_refuse(out, "dsb.ways", was, "code.N: more than 16 ways of these sets would hold it");
		return;
	}
	c->dsb_ways = (uint32_t)fit;
	cal_tell(out, "dsb.ways", was, c->dsb_ways,
		"code.N: %.0f instructions of 3 bytes still fit (%.3f cycles), %.0f do not (%.3f)", k.fits, k.low,
		k.fails, k.high);
	if (c->dsb_window_lines > c->dsb_ways) {
		cal_tell(out, "dsb.window_lines", c->dsb_window_lines, c->dsb_ways,
			"a window has no more lines than a set");
		c->dsb_window_lines = c->dsb_ways;
	}
}

/* The share of accesses that find their line gone, for laps through that many lines of a set, always in the
 * same order. */
static double gone(unsigned policy, uint32_t ways, unsigned lines)
{
	enum { LAPS = 96 };
	struct repl r;
	unsigned in[WAYS_MAX], misses = 0;
	repl_init(&r, policy, ways);
	uint64_t word = repl_first(&r);
	for (unsigned way = 0; way < ways; way++)	/* the set begins full of other lines */
		in[way] = lines + way;
	for (unsigned n = 0; n < LAPS * lines; n++) {
		unsigned way = 0;
		while (way < ways && in[way] != n % lines)
			way++;
		if (way < ways) {
			repl_touch(&r, &word, way);
			continue;
		}
		way = repl_victim(&r, &word);
		in[way] = n % lines;
		repl_insert(&r, &word, way);
		misses += n >= LAPS / 2 * lines;
	}
	return 2. * misses / (LAPS * lines);
}

/* L1D's replacement: the policy whose misses in laps of L1D's size up to twice that size are nearest to the
 * host's; the base's if it is as near. */
static void replacement(struct core_config *c, struct cal_fields *out, const struct cal_curve *huge, double l1,
	double l2)
{
	static const char *const name[] = { "lru", "plru", "srrip", "quad" };
	enum { POLICIES = sizeof name / sizeof *name };
	const uint32_t sets = c->l1d_size / 64 / c->l1d_ways, was = c->l1d_replacement;
	double off[POLICIES] = { 0 };
	unsigned points = 0, best = was;
	for (size_t i = 0; i < huge->n; i++) {
		const double lines = huge->x[i] / 64 / sets;
		if (lines < c->l1d_ways || lines > 2 * c->l1d_ways || lines != floor(lines) ||
			cal_is_noisy(huge->y[i], huge->least[i]))
			continue;
		const double share = (huge->y[i] - l1) / (l2 - l1);
		for (unsigned k = 0; k < POLICIES; k++)
			off[k] += pow(gone(k, c->l1d_ways, (unsigned)lines) - share, 2);
		points++;
	}
	for (unsigned k = 0; k < POLICIES; k++)
		if (sqrt(off[k] / points) < sqrt(off[best] / points) - 0.05)
			best = k;
	char why[160];
	if (points < 2 || !(l2 > 1.5 * l1)) {
		snprintf(why, sizeof why, "huge.N: %u points from L1D's size to twice that are too few", points);
		refuse_text(out, "l1d.replacement", name[was], why);
		return;
	}
	c->l1d_replacement = best;
	snprintf(why, sizeof why, "huge.N: %u points from L1D's size to twice that, misses off by %.0f %%; %s: %.0f %%",
		points, 100 * sqrt(off[best] / points), name[was], 100 * sqrt(off[was] / points));
	cal_tell_text(out, "l1d.replacement", name[was], name[best], why);
}

/* A random chain that the base's L3 holds, or one of up to twice that size: these show how many of its lines
 * are left, by their age.  They use 4 KB pages, as programs do.  Chains in huge pages are not used here, so that
 * they can test the result. */
bool cal_shares_l3(const struct core_config *c, const struct cal_probe *p)
{
	return p->family == CAL_CHASE && p->param >= 2 * c->l2_size && p->param < 2. * c->l3_size;
}

/* Collects the shared chains and their levels. s->level: the chains show L3's own level; they do not if the
 * smallest already takes much longer than a chain of which L2 holds the most, and then s->low is the core's L3
 * latency.  false: they show no level of memory. */
bool cal_shared_chains(struct cal_shared *s, const struct core_config *c, const struct cal_probe *p, size_t count,
	const struct cal_native *host)
{
	memset(s, 0, sizeof *s);
	for (size_t i = 0; i < count; i++) {
		const struct cal_value *v = host->value + i;
		if (v->cycles <= 0 || p[i].family != CAL_CHASE || p[i].param < 2 * c->l2_size)
			continue;
		if (!cal_shares_l3(c, p + i)) {	/* the first beyond them: by that age of its lines, all are gone */
			s->high = v->cycles;
			s->end = v->age_ms;
			break;
		}
		if (!cal_is_noisy(v->cycles, v->low) && (!s->low || v->cycles < s->low))
			s->low = v->cycles;
		s->probe[s->curve.n] = i;
		add_point(&s->curve, p + i, v);
	}
	size_t params, near = cal_first(p, count, CAL_CHASE, &params);
	double most = HUGE_VAL;
	for (size_t i = near; i < near + params && p[i].param < 2 * c->l2_size; i++)
		if (p[i].param > c->l2_size && host->value[i].cycles > 0)
			most = 1.6 * host->value[i].cycles;
	s->level = s->low > 0 && s->low < most;
	if (!s->level)
		s->low = c->l3_latency + c->l3_latency_ns * c->frequency_ghz + c->stlb_latency;
	return s->curve.n && s->low < s->high / 2;
}

/* Whether the largest size that seems to fit takes much longer than the smallest: then the knee shows not a
 * cache's size but what other programs leave of it. */
static bool is_soft(const struct cal_knee *k, const struct cal_curve *curve)
{
	for (size_t i = 0; i < curve->n; i++)
		if (curve->x[i] == k->fits)
			return curve->y[i] > k->low + 0.15 * (k->high - k->low);
	return false;
}

/* L3: its size, from where the curve leaves its level.  If the curve rises slowly before that, other programs
 * push lines out: then l3.others gets their fall by age, and the size stays. */
static void shared_cache(struct core_config *c, struct cal_fields *out, const struct cal_curve *far,
	const struct cal_probe *p, size_t count, const struct cal_native *host, double memory)
{
	char was[CORE_FALL_TEXT], is[CORE_FALL_TEXT], text[160];
	struct cal_knee k;
	struct cal_shared s;
	struct err why = { 0, "" };
	core_fall_print(&c->l3_others, was);
	if (!cal_shared_chains(&s, c, p, count, host)) {
		const char *noisy = "chase.N: no points beyond L2, or no level of memory";
		cal_refuse(out, "l3.size", c->l3_size, noisy);
		refuse_text(out, "l3.others", was, noisy);
		return;
	}
	const bool knee = !cal_fit_knee(&k, far, memory, &why);
	/* some points are on the way up, at less than what the base's L3 holds */
	if ((!knee || k.fails < c->l3_size / 2. || (k.fails < c->l3_size && is_soft(&k, far))) &&
		!cal_fit_others(&c->l3_others, &s.curve, s.low, s.high, s.end, &why)) {
		cal_refuse(out, "l3.size", c->l3_size, "huge.N: other programs push lines out before it is full");
		core_fall_print(&c->l3_others, is);
		snprintf(text, sizeof text, "chase.N: from %.0f to %.0f cycles, by the age of the lines at %zu points",
			s.low, s.high, s.curve.n);
		cal_tell_text(out, "l3.others", was, is, text);
		return;
	}
	capacity(out, "l3.size", &c->l3_size, far, memory, 0, 1 << 20, "huge.N");
	if (knee) {
		c->l3_others.points = 0;
		cal_tell_text(out, "l3.others", was, "none", "huge.N: a knee, as of a cache that nobody else uses");
	} else {
		refuse_text(out, "l3.others", was, why.text);
	}
}

/* The distance of a prefetcher that does not stop at pages: how many accesses share one wait.  L3 and memory
 * give different values; the result lies between them. */
static void beyond_pages(struct core_config *c, struct cal_fields *out, const struct cal_probe *p, size_t count,
	const struct cal_native *host)
{
	static const char *const size[] = { "2M", "4M", "64M", "256M" };	/* two in L3, two in memory */
	const double l2 = value_of(p, count, host, "chase.192K"), walked = value_of(p, count, host, "pages.8192") - l2;
	double ratio = 0;
	unsigned points = 0;
	for (size_t i = 0; i < sizeof size / sizeof *size; i++) {
		char one[32], other[32];
		snprintf(one, sizeof one, "stride.%s", size[i]);
		snprintf(other, sizeof other, "chase.%s", size[i]);
		const double stride = value_of(p, count, host, one), chase = value_of(p, count, host, other);
		const uint32_t bytes = p[cal_find(p, count, other)].param;
		/* each access of a random chain also misses the TLBs and, in memory, finds another row open;
		 * few accesses of the stride do */
		const double row = i < 2 ? 0 : c->dram_row_conflict_ns * c->frequency_ghz;
		const double wait =
			chase - row - (bytes / 4096 <= c->stlb_entries || walked <= 0 ? c->stlb_latency : walked);
		if (stride > 0 && chase > 0 && wait > stride && bytes >= 2 * c->l2_size) {
			ratio += log(wait / stride);
			points++;
		}
	}
	if (!points) {
		cal_refuse(out, "prefetch.l1d_ip_distance", c->prefetch_l1d_ip_distance,
			"stride.N: not measured beyond L2");
		return;
	}
	const double was = c->prefetch_l1d_ip_distance;
	ratio = exp(ratio / points);
	c->prefetch_l1d_ip_distance = (uint32_t)fmin(fmax(1, round(ratio) - 1), 32);
	cal_tell(out, "prefetch.l1d_ip_distance", was, c->prefetch_l1d_ip_distance,
		"stride.N: at %u sizes beyond L2, one of %.1f accesses waits as long as one of chase.N", points, ratio);
}

/* The waits a page tell prefetchers apart.  One that requests the rest of a page at the page's first access
 * leaves one wait a page.  One that requests only the next access leaves nearly as many waits as accesses.  One
 * that goes on beyond the page leaves none a page, but every access waits for what it is not far enough ahead
 * of. */
static void stride_distance(struct core_config *c, struct cal_fields *out, const struct cal_probe *p, size_t count,
	const struct cal_native *host)
{
	static const char *const sizes[] = { "64M", "4M", "2M" };
	const double accesses = 4096 / 256., was = c->prefetch_l1d_ip_distance, was_pages = c->prefetch_l1d_ip_pages,
		     l2 = value_of(p, count, host, "chase.192K");
	double page = HUGE_VAL, at = 0;
	size_t params, first = cal_first(p, count, CAL_STRIDE, &params);
	for (size_t i = first; i < first + params && l2 > 0; i++)
		if (p[i].param > 2 * c->l1d_size && p[i].param <= c->l2_size / 2 && host->value[i].cycles > 0 &&
			host->value[i].cycles < page) {
			page = host->value[i].cycles;
			at = p[i].param;
		}
	if (!at) {
		cal_refuse(out, "prefetch.l1d_ip_pages", was_pages, "stride.N: not measured where L2 holds everything");
	} else {
		char size[24];
		const double waits = accesses * (page - c->l1d_latency) / (l2 - c->l1d_latency);
		size_text(size, sizeof size, at);
		c->prefetch_l1d_ip_pages = waits < 0.5;
		cal_tell(out, "prefetch.l1d_ip_pages", was_pages, c->prefetch_l1d_ip_pages,
			"stride.N: at least %.2f cycles where L2 holds everything (%s): %.1f waits a page of %.0f "
			"accesses",
			page, size, waits, accesses);
	}
	if (c->prefetch_l1d_ip_pages) {
		beyond_pages(c, out, p, count, host);
		return;
	}
	for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
		char one[32], other[32];
		snprintf(one, sizeof one, "stride.%s", sizes[i]);
		snprintf(other, sizeof other, "chase.%s", sizes[i]);
		double stride = value_of(p, count, host, one), chase = value_of(p, count, host, other);
		if (stride <= 0 || chase <= 0)
			continue;
		double waits = accesses * (stride - c->l1d_latency) / (chase - c->l1d_latency);
		if (!(waits > 0.3 && waits < 1.3 * accesses))
			break;
		c->prefetch_l1d_ip_distance = (uint32_t)ceil(accesses / fmax(1, round(waits)));
		cal_tell(out, "prefetch.l1d_ip_distance", was, c->prefetch_l1d_ip_distance,
			"%s: %.1f cycles, against %.0f of %s: %.1f waits a page of %.0f accesses", one, stride, chase,
			other, waits, accesses);
		return;
	}
	cal_refuse(out, "prefetch.l1d_ip_distance", was,
		"stride.N: not measured, or the waits are not between one a page and one an access");
}

/* Whether huge pages take the first-level TLB's entries as small ones do: then the hypervisor has backed them
 * with small ones, whose frames are scattered over memory, too. */
static void huge_pages(struct core_config *c, struct cal_fields *out, const struct cal_curve *huge, double l2)
{
	const double reach = c->dtlb_entries * 4096., was = c->memory_huge;
	double share = 0;
	unsigned points = 0;
	for (size_t i = 0; i < huge->n; i++)
		if (huge->x[i] > 1.2 * reach && huge->x[i] <= 0.75 * c->l2_size &&
			!cal_is_noisy(huge->y[i], huge->least[i])) {
			share += (huge->y[i] - l2) / (c->stlb_latency * (1 - reach / huge->x[i]));
			points++;
		}
	if (!points || !c->stlb_latency || l2 <= 0) {
		cal_refuse(out, "memory.huge", was, "huge.N: no points between the TLB's reach and L2's size");
		return;
	}
	c->memory_huge = share / points < 0.5;
	cal_tell(out, "memory.huge", was, c->memory_huge,
		"huge.N: %.0f %% of the TLB misses that small pages have, at %u points", 100 * share / points, points);
}

/* Scattered pages overfill some of L2's sets long before L2 is full: laps of as much as L2 holds then miss. */
bool cal_scatter_wants(const struct core_config *c, const struct cal_probe *p, size_t count,
	const struct cal_native *host, bool *wanted)
{
	size_t params, first = cal_first(p, count, CAL_CHASE, &params);
	unsigned points = 0;
	for (size_t i = 0; i < count; i++) {
		const struct cal_value *v = host->value + i;
		wanted[i] = i >= first && i < first + params && p[i].param >= c->l2_size / 2 &&
			p[i].param <= c->l2_size && v->cycles > 0 && !cal_is_noisy(v->cycles, v->low);
		points += wanted[i];
	}
	return points >= 2 && !c->memory_page;
}

double cal_off(size_t count, const struct cal_native *host, const bool *wanted, const double *model)
{
	double off = 0;
	unsigned points = 0;
	for (size_t i = 0; i < count; i++)
		if (wanted[i] && model[i] > 0) {
			off += pow(log(model[i] / host->value[i].cycles), 2);
			points++;
		}
	return points ? sqrt(off / points) : HUGE_VAL;
}

void cal_scatter_is(struct core_config *c, struct cal_fields *out, const struct core_config *base, uint32_t share,
	double off)
{
	c->memory_scattered = share;
	cal_tell(out, "memory.scattered", base->memory_scattered, share,
		"chase.N from half of L2's size to all of it: the nearest of eight shares, off by %.0f %%", 100 * off);
}

/* Chains with steps of 256 bytes are young, but those that use few of L3's sets still lose some lines: other
 * programs' lines stay in these sets. */
bool cal_room_wants(const struct core_config *c, const struct cal_probe *p, size_t count, const struct cal_native *host,
	bool *wanted)
{
	unsigned points = 0;
	for (size_t i = 0; i < count; i++) {
		const struct cal_value *v = host->value + i;
		wanted[i] = p[i].family == CAL_STRIDE && p[i].param >= c->l3_size / 8 && p[i].param <= c->l3_size / 2 &&
			v->cycles > 0 && !cal_is_noisy(v->cycles, v->low) &&
			core_fall_per_cent(&c->l3_others, v->age_ms) > 99;
		points += wanted[i];
	}
	return points >= 2 && c->l3_others.points;
}

void cal_room_set(struct core_config *c, const struct core_config *base, uint32_t ways)
{
	c->l3_ways = ways;
	c->l3_size = base->l3_size / base->l3_ways * ways;
}

void cal_room_is(struct core_config *c, struct cal_fields *out, const struct core_config *base, uint32_t ways,
	double off)
{
	cal_room_set(c, base, ways);
	cal_tell(out, "l3.ways", base->l3_ways, c->l3_ways,
		"stride.N from an eighth of L3's size to half: the nearest number of ways that others may leave, off "
		"by %.0f %%",
		100 * off);
	cal_tell(out, "l3.size", base->l3_size, c->l3_size, "l3.ways: the number of sets stays");
}

/* Uses sizes in L3 (where others leave few ways, more than the distance shows) and of memory, once it is known
 * how uneven its reads are. */
bool cal_distance_wants(const struct core_config *c, const struct cal_probe *p, size_t count,
	const struct cal_native *host, bool uneven_known, bool *wanted)
{
	unsigned points = 0;
	for (size_t i = 0; i < count; i++) {
		const struct cal_value *v = host->value + i;
		wanted[i] = p[i].family == CAL_STRIDE && v->cycles > 0 && !cal_is_noisy(v->cycles, v->low) &&
			((p[i].param >= 2 * c->l2_size && p[i].param <= 4 * c->l2_size) ||
				(p[i].param == 64 << 20 && (uneven_known || c->dram_others_ns <= 0)));
		points += wanted[i];
	}
	return points >= 2 && c->prefetch_l1d_ip_pages;
}

void cal_distance_is(struct core_config *c, struct cal_fields *out, const struct core_config *base, uint32_t distance,
	double off)
{
	c->prefetch_l1d_ip_distance = distance;
	cal_tell(out, "prefetch.l1d_ip_distance", base->prefetch_l1d_ip_distance, distance,
		"stride.N beyond L2: the nearest of the distances tried, off by %.0f %%", 100 * off);
}

/* A chain of single loads shows how long reads take on average; a chain with prefetched lines waits for the
 * longest of the reads under way. */
bool cal_uneven_wants(const struct core_config *c, const struct cal_probe *p, size_t count,
	const struct cal_native *host, bool *wanted)
{
	unsigned points = 0;
	for (size_t i = 0; i < count; i++) {
		const struct cal_value *v = host->value + i;
		wanted[i] = p[i].family == CAL_STRIDE && v->cycles > 0 && !cal_is_noisy(v->cycles, v->low) &&
			p[i].param >= 2 * c->l3_size;
		points += wanted[i];
	}
	return points && c->prefetch_l1d_ip_pages && c->dram_others_ns > 0;
}

void cal_uneven_set(struct core_config *c, const struct core_config *base, uint32_t share)
{
	const double others = base->dram_others_ns * share / 100;
	c->dram_latency_ns += c->dram_others_ns - others;
	c->dram_others_ns = others;
}

void cal_uneven_is(struct core_config *c, struct cal_fields *out, const struct core_config *base, uint32_t share,
	double off)
{
	cal_uneven_set(c, base, share);
	cal_tell(out, "dram.others_ns", base->dram_others_ns, c->dram_others_ns,
		"stride.N of memory: the nearest of five shares of the base's, off by %.0f %%", 100 * off);
}

/* What the fits of sizes share. */
struct fit {
	struct core_config *c;
	struct cal_fields *out;
	const struct cal_probe *p;
	size_t count;
	const struct cal_native *host;
	struct cal_curve huge;		/* chains in 2 MB pages */
	double l2, memory;		/* their levels, cycles; 0: none */
};

static double host_value(const struct fit *f, const char *name) { return value_of(f->p, f->count, f->host, name); }

static void frequency(const struct fit *f)
{
	const double was = f->c->frequency_ghz;
	if (f->host->ghz <= 0)
		return;
	f->c->frequency_ghz = round(f->host->ghz * 1000) / 1000;
	cal_tell(f->out, "core.frequency_ghz", was, f->c->frequency_ghz, "add: %.3f to %.3f GHz", f->host->ghz_low,
		f->host->ghz_high);
}

static void alloc_width(const struct fit *f, const double *first)
{
	struct core_config *c = f->c;
	const double zeros = host_value(f, "zeros"), modelled = first[cal_find(f->p, f->count, "zeros")];
	const unsigned width = cal_width(zeros);
	const uint32_t was = c->alloc_width;
	if (zeros > 0 && fabs(modelled - zeros) <= 0.08 * zeros) {	/* the uop cache may be what limits both */
		cal_tell(f->out, "alloc.width", was, was, "zeros: host %.3f, model %.3f cycles", zeros, modelled);
	} else if (width >= 1 && width <= 16) {
		c->alloc_width = width;
		if (c->retire_width < width)
			c->retire_width = width;
		cal_tell(f->out, "alloc.width", was, c->alloc_width, "zeros: %.3f cycles", zeros);
	} else {
		cal_refuse(f->out, "alloc.width", was, "zeros: the cycles are not near 1 / a whole number");
	}
}

static void store_commit_width(const struct fit *f)
{
	const double stores = host_value(f, "stores");
	const unsigned width = cal_width(stores);
	const uint32_t was = f->c->store_commit_width;
	if (width >= 1 && width <= 4) {
		f->c->store_commit_width = width;
		cal_tell(f->out, "store.commit_width", was, width, "stores: %.3f cycles", stores);
	} else {
		cal_refuse(f->out, "store.commit_width", was, "stores: the cycles are not near 1 / a whole number");
	}
}

/* Additions of constants that are done at rename: a chain of them takes less than a cycle each. */
static void eliminated_constants(const struct fit *f)
{
	const double constants = host_value(f, "addimm");
	const uint32_t was = f->c->eliminate_constants;
	if (constants > 0.9 && constants < 1.1) {
		f->c->eliminate_constants = 0;
		cal_tell(f->out, "eliminate.constants", was, 0, "addimm: %.3f cycles", constants);
	} else if (constants > 0 && constants < 0.6 && was) {
		cal_tell(f->out, "eliminate.constants", was, was, "addimm: %.3f cycles", constants);
	} else {
		cal_refuse(f->out, "eliminate.constants", was,
			"addimm: neither a cycle nor well below it, or the base does not say up to which constant");
	}
}

/* L1D: latency and size. */
static void l1d(const struct fit *f)
{
	struct core_config *c = f->c;
	struct err why = { 0, "" };
	double level;
	uint32_t was = c->l1d_latency;
	if (!cal_fit_level(&level, f->huge.x, f->huge.y, f->huge.n, 0, 8192, 0.15, &why)) {
		c->l1d_latency = (uint32_t)lround(level);
		cal_order_latencies(c, c->l2_code_latency);
		cal_tell(f->out, "l1d.latency", was, c->l1d_latency, "huge.4K, huge.8K: %.2f cycles", level);
	} else {
		cal_refuse(f->out, "l1d.latency", was, why.text);
	}
	const struct cal_curve part = between(&f->huge, 0, 256 << 10);
	was = c->l1d_size;
	capacity(f->out, "l1d.size", &c->l1d_size, &part, f->l2, 0, 1024, "huge.N");
	if (c->l1d_size != was)
		ways(f->out, "l1d.ways", &c->l1d_ways, c->l1d_size, 64);
}

/* L2's size: up to where memory's share is still small.  GUESS: L3's level is that of
 * the first point above 3 times L2's level; a host whose L3 takes less than that would show whether it holds. */
static void l2_size(const struct fit *f)
{
	struct core_config *c = f->c;
	const struct cal_curve part = between(&f->huge, 3. * c->l1d_size, 8 << 20);
	const uint32_t was = c->l2_size;
	double l3 = 0, env[CAL_CURVE];
	cal_envelope(env, part.y, part.n);
	for (size_t i = 0; i < part.n; i++)
		if (!l3 && env[i] > 3 * f->l2)
			l3 = env[i];
	if (f->l2 > 0 && l3 > 0 && l3 < f->memory)
		capacity(f->out, "l2.size", &c->l2_size, &part, l3, 0, 65536, "huge.N");
	else
		cal_refuse(f->out, "l2.size", was, "huge.N: the levels of L2, L3 and memory cannot be distinguished");
	if (c->l2_size != was)
		ways(f->out, "l2.ways", &c->l2_ways, c->l2_size, 64);
}

static void l3_size(const struct fit *f)
{
	struct core_config *c = f->c;
	const struct cal_curve part = between(&f->huge, 2. * c->l2_size, HUGE_VAL);
	const uint32_t was = c->l3_size;
	if (was)
		shared_cache(c, f->out, &part, f->p, f->count, f->host, f->memory);
	if (c->l3_size != was && c->l3_size % (64 * c->l3_ways))
		ways(f->out, "l3.ways", &c->l3_ways, c->l3_size, 64);
}

/* First-level TLB: seen before the lines leave L1D. */
static void dtlb(const struct fit *f, const struct cal_curve *pages)
{
	struct core_config *c = f->c;
	const struct cal_curve part = between(pages, 0, c->l1d_size / 128);
	const uint32_t was = c->dtlb_entries, was_ways = c->dtlb_ways;
	capacity(f->out, "dtlb.entries", &c->dtlb_entries, &part, 0, 0, 1, "pages.N");
	if (c->dtlb_entries == was)
		return;
	/* few entries: fully associative if that is possible, else as many ways as make the sets a power of two */
	uint32_t sets = 1;
	while (c->dtlb_entries % sets == 0 && c->dtlb_entries / sets > 16)
		sets *= 2;
	if (c->dtlb_entries % sets) {
		c->dtlb_entries = was;
		cal_refuse(f->out, "dtlb.entries", was, "pages.N: sets of up to 16 ways cannot give the measured size");
	} else {
		c->dtlb_ways = c->dtlb_entries / sets;
		cal_tell(f->out, "dtlb.ways", was_ways, c->dtlb_ways,
			"so that the sets of the new size are a power of two");
	}
}

/* Second-level TLB: seen beyond the first level, up to twice 4096 pages. */
static void stlb(const struct fit *f, const struct cal_curve *pages)
{
	struct core_config *c = f->c;
	const struct cal_curve part = between(pages, c->l1d_size / 32, 8192);
	const uint32_t was = c->stlb_entries;
	capacity(f->out, "stlb.entries", &c->stlb_entries, &part, 0, 0, 128, "pages.N");
	if (c->stlb_entries != was)
		ways(f->out, "stlb.ways", &c->stlb_ways, c->stlb_entries, 1);
}

/* Buffers of the back end.  extra: the load in front and the one behind take a place, too. */
static void windows(const struct fit *f)
{
	struct core_config *c = f->c;
	const struct {
		const char *key;
		uint32_t *to;
		enum cal_family family;
		uint32_t extra;
		const char *what;
	} window[] = {
		{ "rob.size", &c->rob_size, CAL_WINDOW, 2, "window.N" },
		{ "load_buffer.size", &c->load_buffer_size, CAL_LOADQUEUE, 2, "loadqueue.N" },
		{ "store_buffer.size", &c->store_buffer_size, CAL_STOREQUEUE, 0, "storequeue.N" },
		{ "rs.size", &c->rs_size, CAL_WAITING, 1, "waiting.N" },
	};
	for (size_t i = 0; i < sizeof window / sizeof *window; i++) {
		const struct cal_curve w = curve_of(f->p, f->count, f->host, window[i].family);
		capacity(f->out, window[i].key, window[i].to, &w, 0, window[i].extra, 1, window[i].what);
	}
}

void cal_fit_sizes(struct core_config *c, struct cal_fields *out, const struct cal_probe *p, size_t count,
	const struct cal_native *host, const double *first)
{
	struct fit f = { c, out, p, count, host, .huge = curve_of(p, count, host, CAL_HUGE) };
	const struct cal_curve pages = curve_of(p, count, host, CAL_PAGES), code = curve_of(p, count, host, CAL_CODE);
	double env[CAL_CURVE];
	cal_envelope(env, f.huge.y, f.huge.n);
	f.memory = f.huge.n ? env[f.huge.n - 1] : 0;
	cal_fit_level(&f.l2, f.huge.x, f.huge.y, f.huge.n, 96 << 10, 192 << 10, 0.3, NULL);
	frequency(&f);
	alloc_width(&f, first);
	store_commit_width(&f);
	eliminated_constants(&f);
	l1d(&f);
	l2_size(&f);
	replacement(c, out, &f.huge, c->l1d_latency, f.l2);
	l3_size(&f);
	stride_distance(c, out, p, count, host);
	cal_refuse(out, "memory.scattered", c->memory_scattered,
		"chase.N: no points between half of L2's size and all of it, or too noisy");
	dtlb(&f, &pages);
	huge_pages(c, out, &f.huge, f.l2);
	stlb(&f, &pages);
	windows(&f);
	uop_cache(c, out, &code);
}
