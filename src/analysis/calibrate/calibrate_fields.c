/* SPDX-License-Identifier: GPL-2.0-or-later
 * Fields from microbenchmarks (calibrate_fields.h).
 * Left out: what has no microbenchmark of its own (predictors' sizes, replacement but L1D's, associativity but where a size forces it), and what is in the
 * uop table (latencies and ports of instructions; the page shows them beside the host's). */
#include "analysis/calibrate/calibrate_fields.h"
#include "analysis/calibrate/calibrate_fit.h"
#include "core/memory/cache.h"
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The points of `from` between two parameters. */
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

static struct cal_curve curve_of(const struct cal_probe *p, size_t count, const struct cal_native *host, enum cal_family f)
{
	struct cal_curve c = { .n = 0 };
	size_t params, first = cal_first(p, count, f, &params);
	for (size_t i = first; i < first + params && c.n < CAL_CURVE; i++)
		if (host->value[i].cycles > 0)
			add_point(&c, p + i, host->value + i);
	return c;
}

/* A value that the fastest of its repeats does not bear out. */
static bool is_noisy(double cycles, double least)
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

/* was, is: as in a core's file. */
static void tell_text(struct cal_fields *out, const char *key, const char *was, const char *is, const char *why)
{
	struct cal_field *f = field(out, key);
	snprintf(f->why, sizeof f->why, "%s", why);
	snprintf(f->was, sizeof f->was, "%s", was);
	snprintf(f->is, sizeof f->is, "%s", is);
	f->verdict = strcmp(f->was, f->is) ? CAL_FITTED : CAL_AGREES;
}

__attribute__((format(printf, 5, 6)))
static void tell(struct cal_fields *out, const char *key, double was, double is, const char *format, ...)
{
	char why[240], before[32], after[32];
	va_list ap;
	va_start(ap, format);
	vsnprintf(why, sizeof why, format, ap);
	va_end(ap);
	size_text(before, sizeof before, was);
	size_text(after, sizeof after, is);
	tell_text(out, key, before, after, why);
}

static void refuse_text(struct cal_fields *out, const char *key, const char *was, const char *why)
{
	tell_text(out, key, was, was, why);
	field(out, key)->verdict = CAL_REFUSED;
}

static void refuse(struct cal_fields *out, const char *key, double was, const char *why)
{
	char text[32];
	size_text(text, sizeof text, was);
	refuse_text(out, key, text, why);
}

/* What a core must have of latencies: L2 takes longer than L1D, L3 than L2, and code of L2 at least as long as data, or as in the base. */
static void order_latencies(struct core_config *c, uint32_t base_code_latency)
{
	if (c->l2_latency <= c->l1d_latency)
		c->l2_latency = c->l1d_latency + 1;
	c->l2_code_latency = c->l2_latency > base_code_latency ? c->l2_latency : base_code_latency;
	if (lround(c->l3_latency + c->l3_latency_ns * c->frequency_ghz) <= c->l2_latency)
		c->l3_latency_ns = ceil(100 * (c->l2_latency + 1. - c->l3_latency) / c->frequency_ghz) / 100;
}

/* A capacity: extra: entries taken beside the parameter's number. */
static void capacity(struct cal_fields *out, const char *key, uint32_t *to, const struct cal_curve *c, double high, uint32_t extra, uint32_t unit,
	const char *what)
{
	struct cal_knee k;
	struct err why = { 0, "" };
	uint32_t was = *to;
	if (cal_fit_knee(&k, c, high, &why)) {
		char text[240];
		snprintf(text, sizeof text, "%s: %.150s", what, why.text);
		refuse(out, key, was, text);
		return;
	}
	/* a cache of which pages all over memory fill some sets only misses half at its very size */
	uint64_t least = (uint64_t)k.fits + extra, most = (uint64_t)k.fails + extra - (unit < 4096);
	*to = (uint32_t)(cal_round_between(least / unit, most / unit, was / unit) * unit);
	char a[24], b[24];
	size_text(a, sizeof a, k.fits);
	size_text(b, sizeof b, k.fails);
	tell(out, key, was, *to, "%s: %s still fit (%.1f cycles), %s do not (%.1f)", what, a, k.low, b, k.high);
}

/* Ways for a cache of this size whose sets are a power of two: as before if that works, else the most up to 16. */
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
		tell(out, key, was, *to, "so that the sets of the new size are a power of two");
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
		refuse(out, "dsb.ways", was, text);
		return;
	}
	/* lines that so many instructions of 3 bytes take */
	double in_window = c->dsb_window_bytes / 3., lines = ceil(in_window / c->dsb_line_uops) / in_window;
	uint64_t least = (uint64_t)ceil(k.fits * lines / c->dsb_sets), most = (uint64_t)(k.fails * lines / c->dsb_sets);
	uint64_t fit = cal_round_between(least, most, was);
	if (fit > 16) {
		refuse(out, "dsb.ways", was, "code.N: more than 16 ways of these sets would hold it");
		return;
	}
	c->dsb_ways = (uint32_t)fit;
	tell(out, "dsb.ways", was, c->dsb_ways, "code.N: %.0f instructions of 3 bytes still fit (%.3f cycles), %.0f do not (%.3f)", k.fits, k.low,
		k.fails, k.high);
	if (c->dsb_window_lines > c->dsb_ways) {
		tell(out, "dsb.window_lines", c->dsb_window_lines, c->dsb_ways, "a window has no more lines than a set");
		c->dsb_window_lines = c->dsb_ways;
	}
}

/* Of laps through so many lines of a set, always in one order, the share of accesses that find their line gone. */
static double gone(unsigned policy, uint32_t ways, unsigned lines)
{
	enum { LAPS = 96 };
	struct repl r;
	unsigned in[WAYS_MAX], misses = 0;
	repl_init(&r, policy, ways);
	uint64_t word = repl_first(&r);
	for (unsigned way = 0; way < ways; way++)	/* others' lines first */
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

/* L1D's replacement: the policy whose misses in laps of what L1D holds and up to twice as much are nearest to the host's; the base's if it is as near. */
static void replacement(struct core_config *c, struct cal_fields *out, const struct cal_curve *huge, double l1, double l2)
{
	static const char *const name[] = { "lru", "plru", "srrip", "quad" };
	enum { POLICIES = sizeof name / sizeof *name };
	const uint32_t sets = c->l1d_size / 64 / c->l1d_ways, was = c->l1d_replacement;
	double off[POLICIES] = { 0 };
	unsigned points = 0, best = was;
	for (size_t i = 0; i < huge->n; i++) {
		const double lines = huge->x[i] / 64 / sets;
		if (lines < c->l1d_ways || lines > 2 * c->l1d_ways || lines != floor(lines) || is_noisy(huge->y[i], huge->least[i]))
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
		snprintf(why, sizeof why, "huge.N: %u points of L1D's size to its double are too few", points);
		refuse_text(out, "l1d.replacement", name[was], why);
		return;
	}
	c->l1d_replacement = best;
	snprintf(why, sizeof why, "huge.N: %u points of L1D's size to its double, misses off by %.0f %%; %s: %.0f %%", points,
		100 * sqrt(off[best] / points), name[was], 100 * sqrt(off[was] / points));
	tell_text(out, "l1d.replacement", name[was], name[best], why);
}

/* Chains at random that L3 holds, or that are up to twice as large: at what age of their lines how many are left there.  4 KB pages, as programs have them;
 * those in huge pages are not asked, and tell whether that holds. */
static bool is_shared(const struct core_config *c, const struct cal_probe *p)
{
	return p->family == CAL_CHASE && p->param >= 2 * c->l2_size && p->param < 2. * c->l3_size;
}

struct shared { size_t probe[CAL_CURVE]; struct cal_curve curve; double low, high, end; bool level; };

/* level: they show L3's: not if already the smallest takes much longer than one of which L2 holds the most; the level is then that of the core.  false: they do
 * not show one of memory. */
static bool shared_chains(struct shared *s, const struct core_config *c, const struct cal_probe *p, size_t count, const struct cal_native *host)
{
	memset(s, 0, sizeof *s);
	for (size_t i = 0; i < count; i++) {
		const struct cal_value *v = host->value + i;
		if (v->cycles <= 0 || p[i].family != CAL_CHASE || p[i].param < 2 * c->l2_size)
			continue;
		if (!is_shared(c, p + i)) {	/* the first, and its lines' age: all are gone by then */
			s->high = v->cycles;
			s->end = v->age_ms;
			break;
		}
		if (!is_noisy(v->cycles, v->low) && (!s->low || v->cycles < s->low))
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

/* The largest size that is taken to fit takes much longer than the smallest: no cache's size, but what others leave of it. */
static bool is_soft(const struct cal_knee *k, const struct cal_curve *curve)
{
	for (size_t i = 0; i < curve->n; i++)
		if (curve->x[i] == k->fits)
			return curve->y[i] > k->low + 0.15 * (k->high - k->low);
	return false;
}

/* L3: where the curve leaves it.  If it rises slowly before, others push lines out: when, and the size stays. */
static void shared_cache(struct core_config *c, struct cal_fields *out, const struct cal_curve *far, const struct cal_probe *p, size_t count,
	const struct cal_native *host, double memory)
{
	char was[CORE_FALL_TEXT], is[CORE_FALL_TEXT], text[160];
	struct cal_knee k;
	struct shared s;
	struct err why = { 0, "" };
	core_fall_print(&c->l3_others, was);
	if (!shared_chains(&s, c, p, count, host)) {
		const char *noisy = "chase.N: beyond L2 nothing, or no level of memory";
		refuse(out, "l3.size", c->l3_size, noisy);
		refuse_text(out, "l3.others", was, noisy);
		return;
	}
	const bool knee = !cal_fit_knee(&k, far, memory, &why);
	/* points on the way, at less than what the base's L3 holds */
	if ((!knee || k.fails < c->l3_size / 2. || (k.fails < c->l3_size && is_soft(&k, far))) && !cal_fit_others(&c->l3_others, &s.curve, s.low, s.high, s.end, &why)) {
		refuse(out, "l3.size", c->l3_size, "huge.N: others push lines out before it is full");
		core_fall_print(&c->l3_others, is);
		snprintf(text, sizeof text, "chase.N: from %.0f to %.0f cycles, by the age of the lines at %zu points", s.low, s.high, s.curve.n);
		tell_text(out, "l3.others", was, is, text);
		return;
	}
	capacity(out, "l3.size", &c->l3_size, far, memory, 0, 1 << 20, "huge.N");
	if (knee) {
		c->l3_others.points = 0;
		tell_text(out, "l3.others", was, "none", "huge.N: a knee, as for a cache of one's own");
	} else {
		refuse_text(out, "l3.others", was, why.text);
	}
}

/* How far ahead a prefetcher is that pages do not stop: so many accesses take one wait.  In L3 and in memory these are not the same: between them. */
static void beyond_pages(struct core_config *c, struct cal_fields *out, const struct cal_probe *p, size_t count, const struct cal_native *host)
{
	static const char *const size[] = { "2M", "4M", "64M", "256M" };	/* two of L3, two of memory */
	const double l2 = value_of(p, count, host, "chase.192K"), walked = value_of(p, count, host, "pages.8192") - l2;
	double ratio = 0;
	unsigned points = 0;
	for (size_t i = 0; i < sizeof size / sizeof *size; i++) {
		char one[32], other[32];
		snprintf(one, sizeof one, "stride.%s", size[i]);
		snprintf(other, sizeof other, "chase.%s", size[i]);
		const double stride = value_of(p, count, host, one), chase = value_of(p, count, host, other);
		const uint32_t bytes = p[cal_find(p, count, other)].param;
		/* of a chain at random each access misses TLBs, too, and in memory finds another row open; of this few do */
		const double row = i < 2 ? 0 : c->dram_row_conflict_ns * c->frequency_ghz;
		const double wait = chase - row - (bytes / 4096 <= c->stlb_entries || walked <= 0 ? c->stlb_latency : walked);
		if (stride > 0 && chase > 0 && wait > stride && bytes >= 2 * c->l2_size) {
			ratio += log(wait / stride);
			points++;
		}
	}
	if (!points) {
		refuse(out, "prefetch.l1d_ip_distance", c->prefetch_l1d_ip_distance, "stride.N: not measured beyond L2");
		return;
	}
	const double was = c->prefetch_l1d_ip_distance;
	ratio = exp(ratio / points);
	c->prefetch_l1d_ip_distance = (uint32_t)fmin(fmax(1, round(ratio) - 1), 32);
	tell(out, "prefetch.l1d_ip_distance", was, c->prefetch_l1d_ip_distance, "stride.N: one of %.1f accesses waits as long as chase.N's at %u sizes beyond L2", ratio,
		points);
}

/* Of a prefetcher that asks for the rest of a page at the page's first access a wait a page is left; of one that asks for the next access only, nearly
 * as many as there are accesses; of one that goes on beyond the page, none a page, but everywhere what it is not far enough ahead for. */
static void stride_distance(struct core_config *c, struct cal_fields *out, const struct cal_probe *p, size_t count, const struct cal_native *host)
{
	static const char *const sizes[] = { "64M", "4M", "2M" };
	const double accesses = 4096 / 256., was = c->prefetch_l1d_ip_distance, was_pages = c->prefetch_l1d_ip_pages, l2 = value_of(p, count, host, "chase.192K");
	double page = HUGE_VAL, at = 0;
	size_t params, first = cal_first(p, count, CAL_STRIDE, &params);
	for (size_t i = first; i < first + params && l2 > 0; i++)
		if (p[i].param > 2 * c->l1d_size && p[i].param <= c->l2_size / 2 && host->value[i].cycles > 0 && host->value[i].cycles < page) {
			page = host->value[i].cycles;
			at = p[i].param;
		}
	if (!at) {
		refuse(out, "prefetch.l1d_ip_pages", was_pages, "stride.N: not measured where all is in L2");
	} else {
		char size[24];
		const double waits = accesses * (page - c->l1d_latency) / (l2 - c->l1d_latency);
		size_text(size, sizeof size, at);
		c->prefetch_l1d_ip_pages = waits < 0.5;
		tell(out, "prefetch.l1d_ip_pages", was_pages, c->prefetch_l1d_ip_pages, "stride.N: at least %.2f cycles where all is in L2 (%s): %.1f waits a page of %.0f accesses",
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
		tell(out, "prefetch.l1d_ip_distance", was, c->prefetch_l1d_ip_distance, "%s: %.1f cycles, against %.0f of %s: %.1f waits a page of %.0f accesses",
			one, stride, chase, other, waits, accesses);
		return;
	}
	refuse(out, "prefetch.l1d_ip_distance", was, "stride.N: not measured, or not between one wait a page and one an access");
}

/* Huge pages that take the first-level TLB's entries as small ones do: a hypervisor has given small ones, and its frames are all over memory, too. */
static void huge_pages(struct core_config *c, struct cal_fields *out, const struct cal_curve *huge, double l2)
{
	const double reach = c->dtlb_entries * 4096., was = c->memory_huge;
	double share = 0;
	unsigned points = 0;
	for (size_t i = 0; i < huge->n; i++)
		if (huge->x[i] > 1.2 * reach && huge->x[i] <= 0.75 * c->l2_size && !is_noisy(huge->y[i], huge->least[i])) {
			share += (huge->y[i] - l2) / (c->stlb_latency * (1 - reach / huge->x[i]));
			points++;
		}
	if (!points || !c->stlb_latency || l2 <= 0) {
		refuse(out, "memory.huge", was, "huge.N: nothing between what the TLB reaches and what L2 holds");
		return;
	}
	c->memory_huge = share / points < 0.5;
	tell(out, "memory.huge", was, c->memory_huge, "huge.N: %.0f %% of the TLB misses that small pages have, at %u points", 100 * share / points, points);
}

/* Pages all over memory leave some of L2's sets without room long before it is full: a lap of as much as L2 holds misses. */
bool cal_scatter_wants(const struct core_config *c, const struct cal_probe *p, size_t count, const struct cal_native *host, bool *wanted)
{
	size_t params, first = cal_first(p, count, CAL_CHASE, &params);
	unsigned points = 0;
	for (size_t i = 0; i < count; i++) {
		const struct cal_value *v = host->value + i;
		wanted[i] = i >= first && i < first + params && p[i].param >= c->l2_size / 2 && p[i].param <= c->l2_size && v->cycles > 0 && !is_noisy(v->cycles, v->low);
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

void cal_scatter_is(struct core_config *c, struct cal_fields *out, const struct core_config *base, uint32_t share, double off)
{
	c->memory_scattered = share;
	tell(out, "memory.scattered", base->memory_scattered, share, "chase.N from half of L2's size to all of it: of eight shares this comes nearest, off by %.0f %%",
		100 * off);
}

/* Chains 256 bytes on are young, and yet of those that use few of L3's sets some is gone: others have lines in these that stay. */
bool cal_room_wants(const struct core_config *c, const struct cal_probe *p, size_t count, const struct cal_native *host, bool *wanted)
{
	unsigned points = 0;
	for (size_t i = 0; i < count; i++) {
		const struct cal_value *v = host->value + i;
		wanted[i] = p[i].family == CAL_STRIDE && p[i].param >= c->l3_size / 8 && p[i].param <= c->l3_size / 2 && v->cycles > 0 &&
			!is_noisy(v->cycles, v->low) && core_fall_per_cent(&c->l3_others, v->age_ms) > 99;
		points += wanted[i];
	}
	return points >= 2 && c->l3_others.points;
}

void cal_room_set(struct core_config *c, const struct core_config *base, uint32_t ways)
{
	c->l3_ways = ways;
	c->l3_size = base->l3_size / base->l3_ways * ways;
}

void cal_room_is(struct core_config *c, struct cal_fields *out, const struct core_config *base, uint32_t ways, double off)
{
	cal_room_set(c, base, ways);
	tell(out, "l3.ways", base->l3_ways, c->l3_ways, "stride.N of an eighth of L3's size to half: of the ways that others may leave these come nearest, off by %.0f %%",
		100 * off);
	tell(out, "l3.size", base->l3_size, c->l3_size, "l3.ways: its sets stay");
}

/* Sizes of L3, as where others leave few ways more than the distance shows, and of memory, once it is known how uneven its reads are. */
bool cal_distance_wants(const struct core_config *c, const struct cal_probe *p, size_t count, const struct cal_native *host, bool uneven_known, bool *wanted)
{
	unsigned points = 0;
	for (size_t i = 0; i < count; i++) {
		const struct cal_value *v = host->value + i;
		wanted[i] = p[i].family == CAL_STRIDE && v->cycles > 0 && !is_noisy(v->cycles, v->low) &&
			((p[i].param >= 2 * c->l2_size && p[i].param <= 4 * c->l2_size) || (p[i].param == 64 << 20 && (uneven_known || c->dram_others_ns <= 0)));
		points += wanted[i];
	}
	return points >= 2 && c->prefetch_l1d_ip_pages;
}

void cal_distance_is(struct core_config *c, struct cal_fields *out, const struct core_config *base, uint32_t distance, double off)
{
	c->prefetch_l1d_ip_distance = distance;
	tell(out, "prefetch.l1d_ip_distance", base->prefetch_l1d_ip_distance, distance, "stride.N beyond L2: of the distances this comes nearest, off by %.0f %%",
		100 * off);
}

/* A chain of single loads shows how long reads take in the mean; one whose lines are prefetched waits for the longest of those under way. */
bool cal_uneven_wants(const struct core_config *c, const struct cal_probe *p, size_t count, const struct cal_native *host, bool *wanted)
{
	unsigned points = 0;
	for (size_t i = 0; i < count; i++) {
		const struct cal_value *v = host->value + i;
		wanted[i] = p[i].family == CAL_STRIDE && v->cycles > 0 && !is_noisy(v->cycles, v->low) && p[i].param >= 2 * c->l3_size;
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

void cal_uneven_is(struct core_config *c, struct cal_fields *out, const struct core_config *base, uint32_t share, double off)
{
	cal_uneven_set(c, base, share);
	tell(out, "dram.others_ns", base->dram_others_ns, c->dram_others_ns, "stride.N of memory: of five shares of the base's this comes nearest, off by %.0f %%", 100 * off);
}

void cal_fit_sizes(struct core_config *c, struct cal_fields *out, const struct cal_probe *p, size_t count, const struct cal_native *host, const double *first)
{
	struct cal_curve huge = curve_of(p, count, host, CAL_HUGE), part;
	double was, env[CAL_CURVE];
	uint32_t old;

	was = c->frequency_ghz;
	if (host->ghz > 0) {
		c->frequency_ghz = round(host->ghz * 1000) / 1000;
		tell(out, "core.frequency_ghz", was, c->frequency_ghz, "add: %.3f to %.3f GHz", host->ghz_low, host->ghz_high);
	}
	/* widths */
	double zeros = value_of(p, count, host, "zeros"), modelled = first[cal_find(p, count, "zeros")];
	unsigned width = cal_width(zeros);
	old = c->alloc_width;
	if (zeros > 0 && fabs(modelled - zeros) <= 0.08 * zeros) {	/* the uop cache may be what limits both */
		tell(out, "alloc.width", old, old, "zeros: host %.3f, model %.3f cycles", zeros, modelled);
	} else if (width >= 1 && width <= 16) {
		c->alloc_width = width;
		if (c->retire_width < width)
			c->retire_width = width;
		tell(out, "alloc.width", old, c->alloc_width, "zeros: %.3f cycles", zeros);
	} else {
		refuse(out, "alloc.width", old, "zeros: not near one over a whole number of cycles");
	}
	double stores = value_of(p, count, host, "stores");
	width = cal_width(stores);
	old = c->store_commit_width;
	if (width >= 1 && width <= 4) {
		c->store_commit_width = width;
		tell(out, "store.commit_width", old, width, "stores: %.3f cycles", stores);
	} else {
		refuse(out, "store.commit_width", old, "stores: not near one over a whole number of cycles");
	}
	/* additions of constants done at rename: a chain of them takes less than a cycle each */
	double constants = value_of(p, count, host, "addimm");
	old = c->eliminate_constants;
	if (constants > 0.9 && constants < 1.1) {
		c->eliminate_constants = 0;
		tell(out, "eliminate.constants", old, 0, "addimm: %.3f cycles", constants);
	} else if (constants > 0 && constants < 0.6 && old) {
		tell(out, "eliminate.constants", old, old, "addimm: %.3f cycles", constants);
	} else {
		refuse(out, "eliminate.constants", old, "addimm: neither a cycle nor well below it, or the base does not say up to where");
	}
	/* L1D: latency and size, from what lies below 1/8 and below 4 times the base's */
	struct err why = { 0, "" };
	double level;
	old = c->l1d_latency;
	if (!cal_fit_level(&level, huge.x, huge.y, huge.n, 0, 8192, 0.15, &why)) {
		c->l1d_latency = (uint32_t)lround(level);
		order_latencies(c, c->l2_code_latency);
		tell(out, "l1d.latency", old, c->l1d_latency, "huge.4K, huge.8K: %.2f cycles", level);
	} else {
		refuse(out, "l1d.latency", old, why.text);
	}
	cal_envelope(env, huge.y, huge.n);
	double l2 = 0, l3 = 0, memory = huge.n ? env[huge.n - 1] : 0;
	cal_fit_level(&l2, huge.x, huge.y, huge.n, 96 << 10, 192 << 10, 0.3, &why);
	part = between(&huge, 0, 256 << 10);
	old = c->l1d_size;
	capacity(out, "l1d.size", &c->l1d_size, &part, l2, 0, 1024, "huge.N");
	if (c->l1d_size != old)
		ways(out, "l1d.ways", &c->l1d_ways, c->l1d_size, 64);
	/* L2: up to where memory's share is still small; L3's latency is a GUESS of the level at 3 times the base's L2 */
	part = between(&huge, 3. * c->l1d_size, 8 << 20);
	cal_envelope(env, part.y, part.n);
	for (size_t i = 0; i < part.n; i++)
		if (!l3 && env[i] > 3 * l2)
			l3 = env[i];
	old = c->l2_size;
	if (l2 > 0 && l3 > 0 && l3 < memory)
		capacity(out, "l2.size", &c->l2_size, &part, l3, 0, 65536, "huge.N");
	else
		refuse(out, "l2.size", old, "huge.N: no levels of L2, L3 and memory to tell apart");
	if (c->l2_size != old)
		ways(out, "l2.ways", &c->l2_ways, c->l2_size, 64);
	replacement(c, out, &huge, c->l1d_latency, l2);
	part = between(&huge, 2. * c->l2_size, HUGE_VAL);
	old = c->l3_size;
	if (old)
		shared_cache(c, out, &part, p, count, host, memory);
	if (c->l3_size != old && c->l3_size % (64 * c->l3_ways))
		ways(out, "l3.ways", &c->l3_ways, c->l3_size, 64);
	stride_distance(c, out, p, count, host);
	refuse(out, "memory.scattered", c->memory_scattered, "chase.N: nothing of L2's size and its half, or too noisy");
	/* TLBs: first level before the lines leave L1D, second level between that and four times 4096 */
	struct cal_curve pages = curve_of(p, count, host, CAL_PAGES);
	part = between(&pages, 0, c->l1d_size / 128);
	old = c->dtlb_entries;
	capacity(out, "dtlb.entries", &c->dtlb_entries, &part, 0, 0, 1, "pages.N");
	if (c->dtlb_entries != old) {	/* few entries: fully associative if that can be, else as many ways as leave sets a power of two */
		uint32_t sets = 1, before = c->dtlb_ways;
		while (c->dtlb_entries % sets == 0 && c->dtlb_entries / sets > 16)
			sets *= 2;
		if (c->dtlb_entries % sets) {
			c->dtlb_entries = old;
			refuse(out, "dtlb.entries", old, "pages.N: no sets of up to 16 ways hold what was seen");
		} else {
			c->dtlb_ways = c->dtlb_entries / sets;
			tell(out, "dtlb.ways", before, c->dtlb_ways, "so that the sets of the new size are a power of two");
		}
	}
	huge_pages(c, out, &huge, l2);
	part = between(&pages, c->l1d_size / 32, 8192);
	old = c->stlb_entries;
	capacity(out, "stlb.entries", &c->stlb_entries, &part, 0, 0, 128, "pages.N");
	if (c->stlb_entries != old)
		ways(out, "stlb.ways", &c->stlb_ways, c->stlb_entries, 1);
	/* windows: the load in front and the one behind take a place too */
	const struct { const char *key; uint32_t *to; enum cal_family family; uint32_t extra; const char *what; } window[] = {
		{ "rob.size", &c->rob_size, CAL_WINDOW, 2, "window.N" },
		{ "load_buffer.size", &c->load_buffer_size, CAL_LOADQUEUE, 2, "loadqueue.N" },
		{ "store_buffer.size", &c->store_buffer_size, CAL_STOREQUEUE, 0, "storequeue.N" },
		{ "rs.size", &c->rs_size, CAL_WAITING, 1, "waiting.N" },
	};
	for (size_t i = 0; i < sizeof window / sizeof *window; i++) {
		struct cal_curve w = curve_of(p, count, host, window[i].family);
		capacity(out, window[i].key, window[i].to, &w, 0, window[i].extra, 1, window[i].what);
	}
	struct cal_curve code = curve_of(p, count, host, CAL_CODE);
	uop_cache(c, out, &code);
}

/* --- what the model finds --- */
enum how { ADD_CYCLES, ADD_NS, AS_IT_IS };	/* AS_IT_IS: the host's time itself */
struct target {
	const char *key;
	size_t offset;
	bool real;
	enum how how;
	double per, least, most;	/* the field changes by the difference × per */
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

/* The probe's name; of L3: from twice L2's size on.  Pages of 4 KB: a guest's 2 MB pages may be small ones of the hypervisor, with the TLB misses of
 * these, and that the model's then have not. */
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
		size_t i = probe_of(c, p, count, target[t].probe), k = target[t].minus ? cal_find(p, count, target[t].minus) : count;
		if (i < count)
			wanted[i] = true;
		if (i < count && p[i].family == CAL_CHASE && wanted[i] && i && p[i - 1].family == CAL_CHASE && !cal_is_long(p + i))
			wanted[i - 1] = true;	/* as natively: what of L3 others have pushed out, this one finds */
		if (k < count)
			wanted[k] = true;
	}
	for (size_t i = 0; i < count && c->l3_others.points; i++)
		wanted[i] |= is_shared(c, p + i);
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

/* Of curves the envelope: what is disturbed is not asked of the model.  at: where its value is. */
static double host_of(const struct cal_probe *p, size_t count, const struct cal_native *host, size_t i, size_t *at)
{
	bool curve = p[i].family == CAL_CHASE || p[i].family == CAL_PAGES;
	*at = i;
	for (size_t k = i + 1; curve && k < count && p[k].family == p[i].family; k++)
		if (host->value[k].cycles > 0 && host->value[k].cycles < host->value[*at].cycles)
			*at = k;
	return host->value[*at].cycles;
}

/* What others leave of L3: by as much more or less of each chain's lines as would make up for the difference.  Of chains near L3's level all is there. */
static unsigned refine_others(struct core_config *c, struct cal_fields *out, const struct core_config *base, const struct cal_probe *p, size_t count,
	const struct cal_native *host, const double *model, bool last)
{
	char was[CORE_FALL_TEXT], before[CORE_FALL_TEXT], is[CORE_FALL_TEXT], text[160];
	double share[CAL_CURVE], off = 0;
	struct shared s;
	if (!c->l3_others.points || !shared_chains(&s, c, p, count, host))
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
		snprintf(text, sizeof text, "chase.N: from %.0f to %.0f cycles, by the age of the lines at %zu points; model off by %.0f %% of them", s.low, s.high,
			s.curve.n, 100 * off);
		tell_text(out, "l3.others", was, before, text);
		return 0;
	}
	if (cal_fit_fall(&c->l3_others, s.curve.age, share, s.curve.n, s.end, NULL))
		return 0;
	core_fall_print(&c->l3_others, is);
	return strcmp(before, is) != 0;
}

unsigned cal_refine(struct core_config *c, struct cal_fields *out, const struct core_config *base, const struct cal_probe *p, size_t count,
	const struct cal_native *host, const double *model, const double *first, bool last)
{
	struct shared s;
	unsigned changed = refine_others(c, out, base, p, count, host, model, last);
	for (size_t n = 0; n < TARGETS; n++) {
		const struct target *t = target + n;
		size_t i = probe_of(c, p, count, t->probe), k = t->minus ? cal_find(p, count, t->minus) : count;
		double was = get(base, t), is = get(c, t), next = is;
		if (i >= count || host->value[i].cycles <= 0 || model[i] <= 0 || (k < count && (host->value[k].cycles <= 0 || model[k] <= 0))) {
			set(c, t, was);		/* from the base on: an L2 that was slow may not be any more */
			refuse(out, t->key, was, "its microbenchmark did not run");
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
		const bool hidden = !strcmp(t->key, "l3.latency_ns") && shared_chains(&s, c, p, count, host) && !s.level;
		if (native <= 0 || ours <= 0 || hidden || is_noisy(spread.cycles, spread.low)) {
			char text[120];
			snprintf(text, sizeof text, "%s: %s, %.1f to %.1f cycles", p[i].name, hidden ? "others have pushed lines out by then" : "too noisy", spread.low, spread.high);
			set(c, t, was);
			refuse(out, t->key, was, text);
			continue;
		}
		double off = native - ours;
		if (last) {
			/* a bandwidth that is not the limit may be anything */
			bool near = fabs(off) <= 0.12 * native, helped = t->how != AS_IT_IS && before > 0 && fabs(off) < 0.8 * fabs(native - before);
			char text[160];
			snprintf(text, sizeof text, "%s%s%s: host %.2f, model %.2f cycles%s", p[i].name, k < count ? " - " : "", k < count ? p[k].name : "",
				native, ours, near ? "" : helped ? "; as near as this field brings it" : "; this field does not bring it nearer");
			if (!near && !helped) {
				set(c, t, was);
				refuse(out, t->key, was, text);
			} else {
				tell(out, t->key, was, is, "%s", text);
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
	order_latencies(c, base->l2_code_latency);
	if (last && c->l2_latency != l2_latency)
		tell(out, "l2.latency", base->l2_latency, c->l2_latency, "more than l1d.latency");
	if (last && c->l3_latency_ns != l3_latency_ns)
		tell(out, "l3.latency_ns", base->l3_latency_ns, c->l3_latency_ns, "more than l2.latency");
	if (last && c->l2_code_latency != base->l2_code_latency)
		tell(out, "l2.code_latency", base->l2_code_latency, c->l2_code_latency, "no less than l2.latency");
	return changed;
}
