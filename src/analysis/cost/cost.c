/* SPDX-License-Identifier: GPL-2.0-or-later
 * Counts events, busy cycles, pushouts and charged cycles of a run (cost.h). */
#include "analysis/cost/busy_cycles.h"
#include "analysis/cost/cost.h"
#include "analysis/estimate.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { FINE = 8 };	/* fineness of a run's spreads */

const char *const cost_group_name[COST_GROUPS_COUNT] = {
#define X(name, text, help) text,
	COST_GROUPS(X)
#undef X
};
const char *const cost_group_help[COST_GROUPS_COUNT] = {
#define X(name, text, help) help,
	COST_GROUPS(X)
#undef X
};

static const uint8_t group_of[EXACT_CAUSES] = {
	[EXACT_RETIRING] = COST_BASE, [EXACT_EXECUTION] = COST_LATENCY, [EXACT_DIVIDER] = COST_DIVIDER,
	[EXACT_PORT] = COST_LATENCY, [EXACT_PIPELINE] = COST_LATENCY, [EXACT_FORWARDING] = COST_FORWARDING,
	[EXACT_L1D] = COST_L1D, [EXACT_TLB] = COST_TLB, [EXACT_LFB] = COST_LFB, [EXACT_L2] = COST_L2,
	[EXACT_L3] = COST_L3, [EXACT_SNOOP] = COST_SNOOP, [EXACT_MEMORY] = COST_MEMORY,
	[EXACT_L2_WALK] = COST_TLB, [EXACT_L3_WALK] = COST_TLB, [EXACT_MEMORY_WALK] = COST_TLB,
	[EXACT_SERIALIZE] = COST_LOCK, [EXACT_STORES] = COST_RESOURCE, [EXACT_MISPREDICT] = COST_MISPREDICT,
	[EXACT_CLEAR] = COST_CLEAR, [EXACT_ASSIST] = COST_ASSIST, [EXACT_ICACHE] = COST_ICACHE,
	[EXACT_ITLB] = COST_ITLB, [EXACT_RESTEER] = COST_RESTEER, [EXACT_FRONT_END] = COST_FRONT_END,
};

struct busy_pair {
	struct busy whole, less;
	/* 1 + cycle in which a mispredicted branch was allocated; 0: no branch waits for the right path */
	uint64_t branch;
};

struct cost_run {
	struct pushout_widths width;
	unsigned measures;
	bool detail, failed, waits, signals;	/* signals: some measure counts them */
	struct cost_measure measure[COST_MEASURES];
	struct cost_result result[COST_MEASURES];
	uint64_t cycles, instructions, signal[2];
	struct cost_site *site;
	uint32_t *bucket;	/* 1 + index of the site; 0: free */
	size_t sites, room, buckets;
	struct cost_thread *threads;
	struct windows *windows;	/* of a sampled run; else NULL */
};

/* What is counted in windows: the cycles, then of each measure its count; with detail also of each measure its busy
 * cycles, of each one its pushouts, and the groups. */
static size_t count_at(unsigned measure) { return 1 + measure; }
static size_t busy_at(const struct cost_run *r, unsigned measure) { return 1 + r->measures + measure; }
static size_t pushed_at(const struct cost_run *r, unsigned measure) { return 1 + 2 * (size_t)r->measures + measure; }
static size_t group_at(const struct cost_run *r, unsigned group) { return 1 + 3 * (size_t)r->measures + group; }

struct cost_thread {
	struct cost_run *run;
	struct windows_thread *windows;	/* of a sampled run; else NULL */
	bool counting;			/* not in the lead of a window */
	double *now;			/* of a sampled run: what windows count */
	struct cost_thread *next;
	uint32_t pid;
	uint64_t cycles_to;	/* CYCLES are counted up to here */
	struct pushout *pushout;
	struct exact *exact;	/* NULL without detail */
	struct busy_pair busy[COST_MEASURES];
};

/* ---- sites ---- */

static size_t place_of(const struct cost_run *r, uint32_t pid, uint64_t ip)
{
	size_t at = (size_t)((ip ^ (uint64_t)pid << 40) * UINT64_C(0x9e3779b97f4a7c15) >> 32) & (r->buckets - 1);
	while (r->bucket[at] && (r->site[r->bucket[at] - 1].ip != ip || r->site[r->bucket[at] - 1].pid != pid))
		at = (at + 1) & (r->buckets - 1);
	return at;
}

static bool grow(struct cost_run *r)
{
	size_t room = r->room ? 2 * r->room : 1024;
	uint32_t *bucket = room < UINT32_MAX / 2 ? calloc(2 * room, sizeof *bucket) : NULL;
	struct cost_site *site = bucket ? realloc(r->site, room * sizeof *site) : NULL;
	if (!site) {
		free(bucket);
		return false;
	}
	free(r->bucket);
	r->site = site;
	r->bucket = bucket;
	r->room = room;
	r->buckets = 2 * room;
	for (uint32_t i = 0; i < r->sites; i++)
		r->bucket[place_of(r, r->site[i].pid, r->site[i].ip)] = i + 1;
	return true;
}

/* NULL: out of memory. */
static struct cost_site *site_of(struct cost_run *r, uint32_t pid, uint64_t ip)
{
	size_t at = r->buckets ? place_of(r, pid, ip) : 0;
	if (r->buckets && r->bucket[at])
		return &r->site[r->bucket[at] - 1];
	if (r->sites == r->room) {
		if (!grow(r)) {
			r->failed = true;
			return NULL;
		}
		at = place_of(r, pid, ip);
	}
	r->site[r->sites] = (struct cost_site){ .ip = ip, .pid = pid };
	r->bucket[at] = (uint32_t)++r->sites;
	return &r->site[r->sites - 1];
}

static void on_pushout(void *context, unsigned measure, const struct pushout_one *one)
{
	struct cost_thread *t = context;
	struct cost_run *r = t->run;
	if (!t->counting)
		return;
	if (t->now) {
		t->now[count_at(measure)]++;
		t->now[pushed_at(r, measure)] += one->cycles;
	}
	r->result[measure].count++;
	struct cost_site *s = site_of(r, t->pid, one->ip);
	if (s && !s->of) {
		s->of = calloc(r->measures, sizeof *s->of);
		for (unsigned i = 0; s->of && i < r->measures; i++)
			spread_init(&s->of[i].pushout, COST_SITE_FINE);
	}
	if (!spread_add(&r->result[measure].pushout, one->cycles) || !s || !s->of ||
		!spread_add(&s->of[measure].pushout, one->cycles)) {
		r->failed = true;
		return;
	}
	s->of[measure].count++;
	s->of[measure].pushed += one->cycles;
}

static int on_exact(void *context, const struct exact_entry *e)
{
	struct cost_thread *t = context;
	struct cost_site *s = site_of(t->run, t->pid, e->ip);
	if (!s)
		return ERR_NOMEM;
	s->instructions += e->instructions;
	for (unsigned c = 0; c < EXACT_CAUSES; c++) {
		s->group[group_of[c]] += e->part[c];
		if (t->now)
			t->now[group_at(t->run, group_of[c])] += (double)e->part[c] / EXACT_CYCLE;
	}
	return 0;
}

/* Before a window's measured part. */
static int forget_exact(void *context, const struct exact_entry *e)
{
	(void)context, (void)e;
	return 0;
}

/* ---- runs and threads ---- */

static void want(uint64_t signal[2], unsigned s)
{
	if (s && s < SPMU_SIG_COUNT)
		signal[s >> 6] |= UINT64_C(1) << (s & 63);
}

int cost_run_create(struct cost_run **out, const struct pushout_widths *widths, const struct cost_measure *m,
	unsigned measures, bool detail, struct err *err)
{
	if (measures > COST_MEASURES)
		return err_set(err, ERR_INPUT, "%u events at a time are more than %d", measures, COST_MEASURES);
	struct cost_run *r = calloc(1, sizeof *r);
	if (!r)
		return err_set(err, ERR_NOMEM, "out of memory");
	r->width = *widths;
	r->measures = measures;
	r->detail = detail;
	r->signal[SPMU_SIG_CYCLES >> 6] |= UINT64_C(1) << (SPMU_SIG_CYCLES & 63);
	want(r->signal, SPMU_SIG_CLEAR_MEMORY_ORDER);
	want(r->signal, SPMU_SIG_CLEAR_SMC);
	for (unsigned i = 0; i < measures; i++) {
		r->measure[i] = m[i];
		r->waits |= m[i].waits;
		spread_init(&r->result[i].pushout, FINE);
		for (unsigned k = 0; k < 2; k++) {
			want(r->signal, m[i].counted[k]);
			want(r->signal, detail ? m[i].busy[k] : 0);
		}
		r->signals |= m[i].counted[0] != 0;
		if (detail)
			want(r->signal, m[i].less);
	}
	*out = r;
	return 0;
}

int cost_run_sample(struct cost_run *r, struct err *err)
{
	const size_t counts = r->detail ? group_at(r, COST_GROUPS_COUNT) : count_at(r->measures);
	return windows_create(&r->windows, counts, count_at(r->measures), err);
}

int cost_thread_sample(struct cost_thread *t, const struct run_thread *run, struct err *err)
{
	struct cost_run *r = t->run;
	const size_t counts = r->detail ? group_at(r, COST_GROUPS_COUNT) : count_at(r->measures);
	t->counting = false;
	t->now = calloc(counts, sizeof *t->now);
	return t->now ? windows_thread(r->windows, &t->windows, run, err)
		: err_set(err, ERR_NOMEM, "out of memory for windows");
}

void cost_thread_window(struct cost_thread *t, const struct run_window *part)
{
	struct cost_run *r = t->run;
	if (!t->now)
		return;
	if (r->detail && part->leads) {	/* nothing waits for what was before the gap */
		pushout_restart(t->pushout);
		for (unsigned i = 0; i < r->measures; i++)
			t->busy[i].branch = 0;
	} else if (r->detail) {
		r->failed |= exact_take(t->exact, part->begins ? forget_exact : on_exact, t) || exact_failed(t->exact);
		for (unsigned i = 0; i < r->measures; i++)
			t->now[busy_at(r, i)] = (double)t->busy[i].whole.cycles - (double)t->busy[i].less.cycles;
	}
	t->counting = windows_part(t->windows, part, t->now);
}

void cost_thread_pid(struct cost_thread *t, uint32_t pid)
{
	if (pid != t->pid && t->exact)
		t->run->failed |= exact_take(t->exact, on_exact, t) || exact_failed(t->exact);
	t->pid = pid;
}

static void thread_release(struct cost_thread *t)
{
	free(t->now);
	t->now = NULL;
	for (unsigned i = 0; i < COST_MEASURES; i++) {
		busy_release(&t->busy[i].whole);
		busy_release(&t->busy[i].less);
	}
	pushout_destroy(t->pushout);
	exact_destroy(t->exact);
	t->pushout = NULL;
	t->exact = NULL;
}

void cost_run_destroy(struct cost_run *r)
{
	if (!r)
		return;
	while (r->threads) {
		struct cost_thread *t = r->threads;
		r->threads = t->next;
		thread_release(t);
		free(t);
	}
	for (unsigned i = 0; i < COST_MEASURES; i++)
		spread_release(&r->result[i].pushout);
	for (size_t k = 0; k < r->sites; k++) {
		for (unsigned i = 0; r->site[k].of && i < r->measures; i++)
			spread_release(&r->site[k].of[i].pushout);
		free(r->site[k].of);
	}
	free(r->site);
	free(r->bucket);
	windows_destroy(r->windows);
	free(r);
}

struct core_wanted cost_run_wanted(const struct cost_run *r)
{
	const uint64_t all = r->detail ? ~UINT64_C(0) : 0;
	struct core_wanted w = { .signal = { r->signal[0], r->signal[1] }, .is = all, .did = all,
		.assists = r->signal[SPMU_SIG_FP_ASSIST >> 6] >> (SPMU_SIG_FP_ASSIST & 63) & 1 };
	for (unsigned i = 0; i < r->measures; i++) {
		const struct tag *t = &r->measure[i].tag;
		w.is |= t->without ? ~UINT64_C(0) : t->is;
		w.did |= t->did;
	}
	for (unsigned i = 0; r->detail && i < r->measures; i++)
		if (pushout_signal(r->measure[i].point) != SPMU_SIG_COUNT)
			want(w.signal, pushout_signal(r->measure[i].point));
	return w;
}

int cost_thread_start(struct cost_run *r, struct cost_thread **out, uint32_t pid, struct err *err)
{
	struct pushout_measure m[COST_MEASURES];
	struct cost_thread *t = calloc(1, sizeof *t);
	if (!t)
		return err_set(err, ERR_NOMEM, "out of memory");
	for (unsigned i = 0; i < r->measures; i++)
		m[i] = (struct pushout_measure){ .tag = &r->measure[i].tag,
			.from = r->measure[i].from, .point = r->measure[i].point, .each = on_pushout,
			.context = t };
	t->run = r;
	t->pid = pid;
	t->counting = true;
	t->pushout = r->detail ? pushout_create(&r->width, m, r->measures) : NULL;
	t->exact = r->detail ? exact_create(0) : NULL;
	if (r->detail && (!t->pushout || !t->exact)) {
		thread_release(t);
		free(t);
		return err_set(err, ERR_NOMEM, "out of memory");
	}
	t->next = r->threads;
	r->threads = t;
	*out = t;
	return 0;
}

static void busy_batch(struct cost_thread *t, const struct spmu_batch *b)
{
	struct cost_run *r = t->run;
	for (unsigned i = 0; i < r->measures; i++) {
		const struct cost_measure *m = &r->measure[i];
		struct busy_pair *p = &t->busy[i];
		bool good = true;
		if (!m->busy[0])
			continue;
		for (uint32_t k = 0; k < b->count; k++) {
			const struct spmu_record *u = &b->records[k];
			if (u->kind == SPMU_REC_SIGNAL) {
				if (u->signal && (u->signal == m->busy[0] || u->signal == m->busy[1]))
					good &= busy_add(&p->whole, b->base_cycle + u->begin, b->base_cycle + u->end);
				else if (u->signal && u->signal == m->less)
					good &= busy_add(&p->less, b->base_cycle + u->begin, b->base_cycle + u->end);
			} else if (m->busy[0] == COST_ALLOCATION && u->did & SPMU_DID(RETIRED)) {
				if (p->branch)
					good &= busy_add(&p->whole, p->branch, b->base_cycle + u->alloc);
				p->branch = u->did & SPMU_DID(MISPREDICTED) ? b->base_cycle + u->alloc + 1 : 0;
			}
		}
		busy_close(&p->whole, b->watermark);
		busy_close(&p->less, b->watermark);
		r->failed |= !good;
	}
}

static void count(struct cost_thread *t, uint64_t is, uint64_t did)
{
	struct cost_run *r = t->run;
	for (unsigned i = 0; i < r->measures; i++)
		if (tag_holds(&r->measure[i].tag, is, did)) {
			r->result[i].count++;
			if (t->now)
				t->now[count_at(i)]++;
		}
}

/* Events that are signals. */
static void count_signal(struct cost_thread *t, const struct spmu_record *u)
{
	struct cost_run *r = t->run;
	for (unsigned i = 0; i < r->measures; i++) {
		const uint8_t *counted = r->measure[i].counted;
		if (!counted[0] || (u->signal != counted[0] && u->signal != counted[1]))
			continue;
		r->result[i].count += u->did;
		if (t->now)
			t->now[count_at(i)] += (double)u->did;
	}
}

/* How long uops with the events wait. */
static void wait_batch(struct cost_thread *t, const struct spmu_batch *b)
{
	struct cost_run *r = t->run;
	for (uint32_t k = 0; k < b->count && r->waits && t->counting; k++) {
		const struct spmu_record *u = &b->records[k];
		if (u->kind != SPMU_REC_UOP || !(u->did & SPMU_DID(RETIRED)) ||
			!(u->is & (SPMU_IS(LOAD) | SPMU_IS(DIVIDE))))
			continue;
		for (unsigned i = 0; i < r->measures; i++) {
			struct cost_result *of = &r->result[i];
			if (!r->measure[i].waits || !tag_holds(&r->measure[i].tag, u->is, u->did))
				continue;
			of->uops++;
			of->waited += u->complete - u->dispatch;
		}
	}
}

/* Counts the slots for which pushouts would be measured, from only those uops for which a tag may hold.  Uops of
 * a slot share instruction and retirement cycle, and its first uop has SLOT.  (Two slots of one instruction that
 * retire in the same cycle count as one if their first uops are not among these.) */
static void count_batch(struct cost_thread *t, const struct spmu_batch *b)
{
	const uint64_t clears = SPMU_DID(CLEAR_MEMORY_ORDER) | SPMU_DID(CLEAR_SMC);
	const struct spmu_record *first = NULL;
	uint64_t is = 0, did = 0;
	for (uint32_t k = 0; k < b->count; k++) {
		const struct spmu_record *u = &b->records[k];
		if (u->kind == SPMU_REC_SIGNAL) {
			/* each clear counts once, whatever caused it */
			if (u->signal == SPMU_SIG_CLEAR_MEMORY_ORDER || u->signal == SPMU_SIG_CLEAR_SMC)
				count(t, 0,
					u->signal == SPMU_SIG_CLEAR_SMC ? SPMU_DID(CLEAR_SMC)
									: SPMU_DID(CLEAR_MEMORY_ORDER));
			continue;
		}
		if (!(u->did & SPMU_DID(RETIRED)))
			continue;
		if (first && (u->is & SPMU_IS(SLOT) || u->ip != first->ip || u->retire != first->retire)) {
			count(t, is, did);
			first = NULL;
		}
		if (!first) {
			first = u;
			is = did = 0;
		}
		is |= u->is;
		did |= u->did & ~clears;
	}
	if (first)
		count(t, is, did);
}

void cost_thread_batch(struct cost_thread *t, const struct spmu_batch *b)
{
	struct cost_run *r = t->run;
	for (uint32_t i = b->count; i--; ) {
		const struct spmu_record *u = &b->records[i];
		if (u->kind == SPMU_REC_SIGNAL && u->signal == SPMU_SIG_CYCLES) {
			r->cycles += u->end - u->begin;
			if (t->now)
				*t->now += u->end - u->begin;
		} else if (r->signals && u->kind == SPMU_REC_SIGNAL && u->signal && t->counting) {
			count_signal(t, u);
		}
	}
	r->instructions += b->instructions;
	if (!r->detail) {
		if (t->counting)
			count_batch(t, b);
		return;
	}
	pushout_batch(t->pushout, b);
	exact_batch(t->exact, b);
	busy_batch(t, b);
	wait_batch(t, b);
}

void cost_thread_end(struct cost_thread *t)
{
	struct cost_run *r = t->run;
	if (r->detail && t->exact && !t->now) {
		if (exact_take(t->exact, on_exact, t) || exact_failed(t->exact))
			r->failed = true;
		for (unsigned i = 0; i < r->measures; i++) {
			busy_close(&t->busy[i].whole, UINT64_MAX);
			busy_close(&t->busy[i].less, UINT64_MAX);
			uint64_t whole = t->busy[i].whole.cycles, less = t->busy[i].less.cycles;
			r->result[i].busy += whole > less ? whole - less : 0;
		}
	}
	thread_release(t);
}

static int by_place(const void *a, const void *b)
{
	const struct cost_site *p = a, *q = b;
	if (p->pid != q->pid)
		return p->pid < q->pid ? -1 : 1;
	return p->ip < q->ip ? -1 : p->ip > q->ip;
}

int cost_run_finish(struct cost_run *r, struct err *err)
{
	for (struct cost_thread *t = r->threads; t; t = t->next)
		if (t->pushout)		/* it has not ended yet */
			cost_thread_end(t);
	if (r->sites)
		qsort(r->site, r->sites, sizeof *r->site, by_place);
	r->buckets = 0;		/* no site is looked up any more */
	return r->failed ? err_set(err, ERR_NOMEM, "out of memory: some of the costs are missing") : 0;
}

/* A count of the whole run, and by which factor what was seen in windows becomes that. */
static uint64_t estimated(const struct cost_run *r, size_t at, double *factor)
{
	double half;
	const double n = windows_count(r->windows, at, &half), seen = windows_seen(r->windows, at);
	*factor = seen > 0 && n > 0 ? n / seen : 0;
	return n > 0 ? (uint64_t)(n + 0.5) : 0;
}

static void scale_site(const struct cost_run *r, struct cost_site *s, double insns, const double *count,
	const double *pushed, const double *group)
{
	s->instructions = (uint64_t)((double)s->instructions * insns + 0.5);
	for (unsigned g = 0; g < COST_GROUPS_COUNT; g++)
		s->group[g] = (uint64_t)((double)s->group[g] * group[g] + 0.5);
	for (unsigned i = 0; s->of && i < r->measures; i++) {
		s->of[i].count = (uint64_t)((double)s->of[i].count * count[i] + 0.5);
		s->of[i].pushed = (uint64_t)((double)s->of[i].pushed * pushed[i] + 0.5);
		spread_scale(&s->of[i].pushout, count[i]);
		s->of[i].pushout.sum = s->of[i].pushed;
	}
}

int cost_run_estimate(struct cost_run *r, const struct run_result *res, struct err *err)
{
	double count[COST_MEASURES] = { 0 }, pushed[COST_MEASURES] = { 0 }, group[COST_GROUPS_COUNT] = { 0 }, unused;
	const int rc = windows_total(r->windows, res, err);
	if (rc)
		return rc;
	const double instructions = (double)(res->instructions + res->warmed),
		     insns = instructions / windows_measured(r->windows);
	r->instructions = (uint64_t)instructions;
	r->cycles = estimated(r, 0, &unused);
	for (unsigned i = 0; i < r->measures; i++) {
		struct cost_result *of = &r->result[i];
		of->count = estimated(r, count_at(i), &count[i]);
		if (!r->detail)
			continue;
		of->busy = estimated(r, busy_at(r, i), &unused);
		spread_scale(&of->pushout, count[i]);
		of->pushout.count = of->count;
		of->pushout.sum = estimated(r, pushed_at(r, i), &pushed[i]);
	}
	for (unsigned g = 0; r->detail && g < COST_GROUPS_COUNT; g++)
		estimated(r, group_at(r, g), &group[g]);
	for (size_t k = 0; k < r->sites; k++)
		scale_site(r, &r->site[k], insns, count, pushed, group);
	return 0;
}

const struct windows *cost_run_windows(const struct cost_run *r) { return r->windows; }

double cost_half_count(const struct cost_run *r, unsigned measure)
{
	double half = (double)NAN;
	if (r->windows)
		windows_count(r->windows, count_at(measure), &half);
	return half;
}

static double half_of_ratio(const struct cost_run *r, size_t top, size_t bottom)
{
	const struct windows_term above = { r->windows, top, 1 }, below = { r->windows, bottom, 1 };
	return r->windows ? windows_ratio(&above, 1, &below, 1) : (double)NAN;
}

double cost_half_duration(const struct cost_run *r, unsigned measure)
{
	return half_of_ratio(r, busy_at(r, measure), count_at(measure));
}

double cost_half_pushout(const struct cost_run *r, unsigned measure)
{
	return half_of_ratio(r, pushed_at(r, measure), count_at(measure));
}

double cost_half_difference(const struct cost_run *r, unsigned measure, unsigned other)
{
	const struct windows_term above[] = { { r->windows, pushed_at(r, measure), 1 },
		{ r->windows, pushed_at(r, other), -1 } }, below = { r->windows, 0, 1 };
	if (!r->windows || !r->detail)
		return (double)NAN;
	/* the bias of two counts of events need not be the same (windows_ratio allows for that of time) */
	const double cycles = (double)r->cycles, bias = ESTIMATE_BIAS_OTHER * hypot(
		(double)r->result[measure].pushout.sum, (double)r->result[other].pushout.sum) / cycles;
	return hypot(windows_ratio(above, 2, &below, 1), bias);
}

double cost_half_marginal(enum cost_change change, const struct cost_run *r, const struct cost_run *changed,
	unsigned measure)
{
	const struct windows_term above[] = { { r->windows, 0, 1 }, { changed->windows, 0, -1 } },
		below[] = { { r->windows, count_at(measure), 1 }, { changed->windows, count_at(measure), -1 } };
	return r->windows && changed->windows ? windows_ratio(above, 2, below, change == COST_FREES ? 1 : 2)
		: (double)NAN;
}

uint64_t cost_run_cycles(const struct cost_run *r) { return r->cycles; }
uint64_t cost_run_instructions(const struct cost_run *r) { return r->instructions; }
const struct cost_result *cost_run_result(const struct cost_run *r, unsigned measure) { return &r->result[measure]; }

const struct cost_site *cost_run_sites(const struct cost_run *r, size_t *count)
{
	*count = r->sites;
	return r->site;
}

void cost_run_groups(const struct cost_run *r, uint64_t group[COST_GROUPS_COUNT])
{
	memset(group, 0, COST_GROUPS_COUNT * sizeof *group);
	for (size_t i = 0; i < r->sites; i++)
		for (unsigned g = 0; g < COST_GROUPS_COUNT; g++)
			group[g] += r->site[i].group[g];
}

double cost_marginal(enum cost_change change, double cycles, double events, double cycles_changed,
	double events_changed, const char **why)
{
	if (!(events > 0) && !(events_changed > 0)) {
		*why = "the event did not occur";
		return (double)NAN;
	}
	if (change == COST_FREES)
		return (cycles - cycles_changed) / events;
	/* otherwise other effects of the change would pass for the cost of the few events that it did change */
	if (fabs(events - events_changed) < 0.01 * fmax(events, events_changed)) {
		*why = "the change left the count of events the same to within 1 %";
		return (double)NAN;
	}
	return (cycles - cycles_changed) / (events - events_changed);
}
