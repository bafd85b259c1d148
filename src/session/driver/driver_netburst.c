/* SPDX-License-Identifier: GPL-2.0-or-later
 * NetBurst's driver (driver.h).
 *
 * The manual's procedure: 1 choose the event; 2 an ESCR that detects it; 3 a counter, with its CCCR, that sees
 * that ESCR; 4 write the ESCR: event, mask, privilege; 5 write the CCCR: ESCR select, threshold; 6 cascading,
 * if any; 7 the interrupt; 8 the enable bit.  A tagged event needs two more things before that: the ESCR that
 * tags, and an enabled counter of its block; or, for a replay metric, MSR_PEBS_ENABLE and MSR_PEBS_MATRIX_VERT.
 * PEBS: 1 the DS area; 2 the enable bit in MSR_PEBS_ENABLE; 3 counter 16 for one of the three tagged events; 4
 * no OVF_PMI, since the DS area interrupts.  Source: SDM vol. 3B, "Programming the Performance Counters for
 * Non-Retirement Events" and "At-Retirement Counting".
 *
 * Events share a copy of the PMU as long as there are counters, ESCRs (two events may share an ESCR with the
 * same value) and tags: a copy has one tagging mechanism, one kind of front-end tag, one replay metric, and as
 * many execution tags as FIRM ESCRs.  Each execution tag has one owner there, so what carries a tag never depends
 * on other events.  instr_retired without its tagged half goes to a copy where nothing is tagged; one that is
 * told what tags, to a copy where nothing else does.  Counter 1 is used last (the erratum of CCCR1).
 *
 * Hardware threads that share the PMU: each event has a counter for each of them, in T0's and T1's case with that
 * thread's bits in an ESCR of its own, as in Linux (asm/perf_event_p4.h; p4.c, p4_pmu_swap_config_ts).  PEBS: counter
 * 16 for T0, 17 for T1.  An ESCR that tags does so for all threads.  With more than two threads, MSR_THREADS (pmu.h)
 * says whom a counter counts: the counters of all threads can then share an ESCR, and PEBS takes any IQ counter.
 *
 * Cascading: the counter of the later event has CASCADE set instead of its enable bit, and counts while OVF of
 * its partner is set.  The handler of its interrupt clears both OVF flags, which stops it until the partner
 * overflows again.  Source: SDM vol. 3B, "Cascading Counters".
 * FORCE_OVF: every event overflows the counter, and so interrupts with the next event.  Its OVF stays set,
 * because clearing it would cancel that pending interrupt.
 */
#include "session/driver/driver.h"
#include <stdlib.h>
#include <string.h>

enum { FIRST_IQ = 12 };	/* counters 12 to 17 */
enum { COUNTERS = 18, PEBS_COUNTER = 16, TAGS = 4, UPSTREAMS = 8, ESCR_FIRST = 0x3a0, ESCR_SPAN = 0x3e2 - ESCR_FIRST };
enum mechanism { TAG_NONE, TAG_FRONT_END, TAG_EXECUTION, TAG_REPLAY };
static const uint8_t preference[COUNTERS] = { 0, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 1 };

/* What the events of one copy of the PMU use. */
struct copy {
	uint32_t counters;
	uint32_t escr[ESCR_SPAN];	/* values; 0: free */
	enum mechanism mechanism;
	const struct spmu_event *metric;	/* TAG_REPLAY */
	struct { const struct spmu_event *upstream; uint32_t who; } tag[TAGS];	/* upstream NULL: free */
	/* ESCRs that tag for all threads, and the counters that keep them awake */
	struct { uint32_t value, escr; int counter; } upstream[UPSTREAMS];
	unsigned upstreams;
	bool untagged;			/* some event counts all instructions, so that nothing may be tagged */
	bool any;			/* some event looks at every tag, so that only its own may be used */
};

static const struct spmu_event *upstream_of(const struct spmu_model *m, const struct spmu_event *e)
{
	return *e->upstream ? spmu_model_find(m, e->upstream) : NULL;
}

/* up: the event's upstream, NULL: none. */
static enum mechanism mechanism_of(const struct spmu_event *e, const struct spmu_event *up)
{
	const struct spmu_event *tagger = up ? up : e->tag_value ? e : NULL;
	return e->replay_enable ? TAG_REPLAY
		: !tagger ? TAG_NONE
		: tagger->escr[0] == MSR_FIRM_ESCR0 ? TAG_EXECUTION
		: TAG_FRONT_END;
}

/* execution_event, whose mask bits stand for the tags. */
static bool tests_tags(const struct spmu_event *e)
{
	return e->escr[0] == MSR_CRU_ESCR2 && e->event == 0x0c;
}

/* instr_retired, which tells instructions with a tagged uop, whatever its tag, from the others. */
static bool tests_any_tag(const struct spmu_event *e)
{
	return e->escr[0] == MSR_CRU_ESCR0 && e->event == 0x02;
}

static unsigned side(unsigned n)
{
	return n < 16 ? n >> 1 & 1 : n & 1;
}

/* The ESCR of the event's pair that counter n sees; 0: none. */
static uint32_t escr_of(const struct spmu_event *e, unsigned n)
{
	for (unsigned k = 0; k < 2 && e->pmc_mask >> n & 1; k++)
		if (e->escr[k] && (e->escr[k] & 1) == side(n))
			return e->escr[k];
	return 0;
}

/* More threads than ESCR and CCCR have bits for: MSR_THREADS(n) says whom counter n counts. */
static bool extended(const struct driver_event *e)
{
	return e->threads > 2;
}

/* The first thread that the event counts. */
static unsigned first_thread(const struct driver_event *e)
{
	return e->who ? (unsigned)__builtin_ctz(e->who) / 2 : e->thread;
}

/* The ESCR's CPL and thread bits for the event's thread, */
static uint32_t who(const struct driver_event *e)
{
	if (extended(e))	/* the same for all threads, so that their counters can share the ESCR */
		return (e->user ? SPMU_ESCR_T0_USR | SPMU_ESCR_T1_USR : 0) |
			(e->kernel ? SPMU_ESCR_T0_OS | SPMU_ESCR_T1_OS : 0);
	if (e->who)
		return (e->who & 1 ? SPMU_ESCR_T0_USR : 0) | (e->who & 2 ? SPMU_ESCR_T0_OS : 0) |
			(e->who & 4 ? SPMU_ESCR_T1_USR : 0) | (e->who & 8 ? SPMU_ESCR_T1_OS : 0);
	uint32_t usr = e->thread ? SPMU_ESCR_T1_USR : SPMU_ESCR_T0_USR;
	uint32_t os = e->thread ? SPMU_ESCR_T1_OS : SPMU_ESCR_T0_OS;
	return (e->user ? usr : 0) | (e->kernel ? os : 0);
}

/* and for all threads that share the PMU. */
static uint32_t whose_tags(const struct driver_event *e)
{
	struct driver_event one = *e, other = *e;
	one.who = other.who = 0;
	other.thread = !e->thread;
	return who(&one) | (e->threads > 1 ? who(&other) : 0);
}

static uint32_t escr_value(const struct spmu_model *m, const struct driver_event *e)
{
	const struct spmu_event *v = e->event;
	/* without a tag value of its own, execution_event's mask is that of the first tag */
	bool shifted = *v->upstream && !v->tag_value && tests_tags(v);
	uint32_t mask = spmu_netburst_mask(m, v, v->umask) << (shifted ? __builtin_ctz(e->tags) : 0);
	uint32_t tag = !*v->upstream && v->tag_value ? SPMU_ESCR_TAG_ENABLE | SPMU_ESCR_TAG(v->tag_value) : 0;
	return SPMU_ESCR_EVENT(v->event) | SPMU_ESCR_MASK(mask) | tag | who(e);
}

static uint32_t upstream_value(const struct driver_event *e, const struct spmu_event *up)
{
	uint32_t tag = e->tags ? SPMU_ESCR_TAG_ENABLE | SPMU_ESCR_TAG(e->tags) : 0;
	return SPMU_ESCR_EVENT(up->event) | SPMU_ESCR_MASK(up->umask) | tag | whose_tags(e);
}

static bool take_escr(struct copy *c, uint32_t msr, uint32_t value)
{
	uint32_t *has = &c->escr[msr - ESCR_FIRST];
	if (*has && *has != value)
		return false;
	*has = value;
	return true;
}

/* instr_retired has separate mask bits for tagged and untagged instructions; with only one of them it counts
 * all instructions only if nothing is tagged. */
static bool sees_untagged(const struct spmu_event *e)
{
	return tests_any_tag(e) && ((e->umask ^ e->umask >> 1) & 5);
}

static bool owns(const struct copy *c, unsigned k, const struct spmu_event *tagger, const struct driver_event *e)
{
	return c->tag[k].upstream == tagger && c->tag[k].who == whose_tags(e);
}

/* A copy has one replay metric. */
static bool take_metric(struct copy *c, const struct spmu_event *e)
{
	bool same = !c->metric ||
		(c->metric->replay_enable == e->replay_enable && c->metric->replay_matrix == e->replay_matrix);
	c->metric = e;
	return same;
}

/* Chooses the event's tags.  False: the copy's tags are used up. */
static bool take_tag(struct copy *c, struct driver_event *e, const struct spmu_event *up)
{
	enum mechanism m = mechanism_of(e->event, up);
	const struct spmu_event *tagger = up ? up : e->event;
	if (m == TAG_NONE) {
		c->untagged |= sees_untagged(e->event);
		return !c->untagged || c->mechanism == TAG_NONE;
	}
	if (c->untagged || (c->mechanism != TAG_NONE && c->mechanism != m))
		return false;
	c->mechanism = m;
	if (m == TAG_REPLAY)
		return take_metric(c, e->event);
	c->any |= tests_any_tag(e->event);
	for (unsigned k = 0; k < TAGS && c->any; k++)
		if (c->tag[k].upstream && !owns(c, k, tagger, e))
			return false;
	e->tags = m == TAG_EXECUTION ? e->event->tag_value : 1;
	for (unsigned k = 0; k < TAGS && !e->tags; k++)	/* an event's own tag, else the first free one */
		if (owns(c, k, tagger, e))
			e->tags = 1u << k;
	for (unsigned k = 0; k < TAGS && !e->tags; k++)
		if (!c->tag[k].upstream)
			e->tags = 1u << k;
	for (unsigned k = 0; k < TAGS; k++) {
		if (!(e->tags >> k & 1))
			continue;
		if (c->tag[k].upstream && !owns(c, k, tagger, e))
			return false;
		c->tag[k].upstream = tagger;
		c->tag[k].who = whose_tags(e);
	}
	return e->tags;
}

/* Chooses the ESCR that tags, and a counter of its block: one that is in use already, or a new one that counts
 * the upstream event. */
static bool take_upstream(struct copy *c, struct driver_event *e, const struct spmu_event *up)
{
	static const uint32_t blocks[] = { 0xf, 0xf0, 0xf00, 0x3f000 };
	uint32_t value = upstream_value(e, up), block = 0;
	for (unsigned b = 0; b < sizeof blocks / sizeof *blocks; b++)
		block |= up->pmc_mask & blocks[b] ? blocks[b] : 0;
	/* the manual's tables of replay metrics name the ESCR */
	uint32_t only = up->event == 0x04 && up->escr[0] == MSR_SAAT_ESCR0 ? MSR_SAAT_ESCR1 :
		up->event == 0x05 && up->escr[0] == MSR_SAAT_ESCR0 ? MSR_SAAT_ESCR0 : 0;
	for (unsigned k = 0; k < c->upstreams; k++)	/* another thread's event has it already */
		if (c->upstream[k].value == value) {
			e->up_escr = c->upstream[k].escr;
			e->up_counter = c->upstream[k].counter;
			return true;
		}
	const bool shared = e->threads > 1;	/* a counter of another thread may stop before this thread does */
	if (shared && c->upstreams == UPSTREAMS)
		return false;
	/* first try without a counter of its own */
	for (unsigned awake = shared; awake < 2; awake++)
		for (unsigned k = 0; k < COUNTERS; k++) {
			unsigned n = preference[k];
			uint32_t msr = escr_of(up, n);
			if (!msr || (only && msr != only) || (awake ? c->counters >> n & 1 : !(c->counters & block)))
				continue;
			if (!take_escr(c, msr, value))
				continue;
			e->up_escr = msr;
			e->up_counter = awake ? (int)n : -1;
			c->counters |= awake ? 1u << n : 0;
			if (shared) {
				c->upstream[c->upstreams].value = value;
				c->upstream[c->upstreams].escr = msr;
				c->upstream[c->upstreams++].counter = (int)n;
			}
			return true;
		}
	return false;
}

static bool place_at(const struct spmu_model *m, struct copy *into, struct driver_event *e, unsigned n)
{
	const struct spmu_event *up = upstream_of(m, e->event);
	struct copy c = *into;
	uint32_t msr = escr_of(e->event, n);
	if ((*e->event->upstream && !up) || !msr || c.counters >> n & 1 ||
		(e->precise && (extended(e) ? n < FIRST_IQ : n != PEBS_COUNTER + e->thread)))
		return false;
	e->up_escr = e->tags = 0;
	e->up_counter = -1;
	c.counters |= 1u << n;
	if (!take_tag(&c, e, up) || !take_escr(&c, msr, escr_value(m, e)) || (up && !take_upstream(&c, e, up)))
		return false;
	e->counter = (int)n;
	e->escr = msr;
	*into = c;
	return true;
}

/* first: the event whose counter starts this one's; NULL: none. */
static bool place(const struct spmu_model *m, struct copy *into, struct driver_event *e, struct driver_event *first)
{
	for (unsigned k = 0; k < COUNTERS; k++) {
		/* the counter that cascades into n: SDM, "Cascading Counters" */
		unsigned n = preference[k], from = n < 16 ? n ^ 2 : n - 2;
		struct copy c = *into;
		if ((first && !place_at(m, &c, first, from)) || !place_at(m, &c, e, n))
			continue;
		*into = c;
		return true;
	}
	return false;
}

/* Refuses what no counter of any copy could do. */
static int check(const struct driver_event *e, struct err *err)
{
	unsigned cmask = e->evtsel >> 24 & 0xff;
	const char *name = e->event->name;
	if (cmask > 16)
		return err_set(err, ERR_UNSUPPORTED,
			"'%s': CMASK must be at most 16, because NetBurst's threshold is 0 to 15", name);
	if (e->evtsel & SPMU_EVTSEL_INV && !cmask)
		return err_set(err, ERR_UNSUPPORTED, "'%s': INV needs a CMASK; give one, such as cmask=1", name);
	if (e->evtsel & SPMU_EVTSEL_ANY)
		return err_set(err, ERR_UNSUPPORTED, "'%s': NetBurst has no AnyThread", name);
	if (e->precise && (e->who || e->active || e->pmi))
		return err_set(err, ERR_UNSUPPORTED,
			"'%s': PEBS has a counter for each hardware thread, so a precise event counts its own thread",
			name);
	if (e->after && (e->who || e->pmi))
		return err_set(err, ERR_UNSUPPORTED, "'%s': a cascaded event counts its own hardware thread", name);
	if (e->precise && (e->forced || e->after))
		return err_set(err, ERR_UNSUPPORTED,
			"'%s': a precise event can neither cascade nor set FORCE_OVF; only one that interrupts can",
			name);
	if (e->precise && !(e->event->flags & SPMU_EVENT_PRECISE))
		return err_set(err, ERR_UNSUPPORTED,
			"'%s': only front_end_event, execution_event and replay_event can be precise", name);
	return 0;
}

static int assign(const struct spmu_model *m, struct driver_event *e, size_t n, unsigned room, unsigned *pmus,
	size_t *which, struct err *err)
{
	struct copy *copies = calloc(n ? n : 1, sizeof *copies);	/* never more copies than events */
	bool *starts = calloc(n ? n : 1, sizeof *starts);		/* others: cascaded events follow them */
	unsigned used = 0;
	int rc = copies && starts ? 0 : err_set(err, ERR_NOMEM, "out of memory");
	for (size_t i = 0; i < n && !rc; i++) {
		rc = check(&e[i], err);
		*which = i;
		e[i].pmu = UINT32_MAX;
		e[i].fixed = -1;
		if (!rc && e[i].after)
			starts[e[i].after - 1] = true;
	}
	/* first the events that only one counter can count, then the tagged ones, which take more than one
	 * counter; the rest in the user's order */
	for (unsigned pass = 0; pass < 3; pass++)
		for (size_t i = 0; i < n && !rc; i++) {
			struct driver_event *first = e[i].after ? &e[e[i].after - 1] : NULL;
			bool tagged = mechanism_of(e[i].event, upstream_of(m, e[i].event)) != TAG_NONE;
			unsigned own = e[i].precise ? 0 : tagged || first ? 1 : 2, k = 0;
			if (own != pass || starts[i])
				continue;
			while (k < used && !place(m, &copies[k], &e[i], first))
				k++;
			*which = i;
			if (k == used && (!room || used < room))
				used += place(m, &copies[k], &e[i], first);
			if (k >= used && first)
				rc = err_set(err, ERR_UNSUPPORTED,
					"no two counters of one block, on its two sides, can count this event and "
					"'%s' so that one cascades into the other",
					first->event->name);
			else if (k >= used)
				rc = err_set(err, ERR_UNSUPPORTED,
					room ? "no counter is left for this event; measure fewer events at a time"
						: "no counter of this PMU can count this event");
			e[i].pmu = k;
			if (first)
				first->pmu = k;
		}
	free(copies);
	free(starts);
	*pmus = used;
	return rc;
}

/* Where threads share the PMU, places each event once for each of them. */
static int netburst_assign(const struct spmu_model *m, struct driver_event *e, size_t n, unsigned room, unsigned *pmus,
	size_t *which, struct err *err)
{
	const unsigned threads = n && e[0].threads > 1 ? e[0].threads : 1;
	if (threads == 1)
		return assign(m, e, n, room, pmus, which, err);
	struct driver_event *each = calloc(n * threads, sizeof *each);
	if (!each)
		return err_set(err, ERR_NOMEM, "out of memory");
	size_t all = 0, *of = calloc(n * threads, sizeof *of), *first = calloc(n, sizeof *first);
	for (size_t i = 0; i < n && of && first; i++) {
		first[i] = all;
		for (unsigned k = 0; k < (e[i].who ? 1 : threads); k++) {
			of[all] = i;
			each[all] = e[i];
			each[all++].thread = k;
		}
	}
	for (size_t i = 0; i < all; i++)
		if (each[i].after)
			each[i].after = 1 + first[each[i].after - 1] + (e[each[i].after - 1].who ? 0 : each[i].thread);
	int rc = of && first ? assign(m, each, all, room, pmus, which, err) : err_set(err, ERR_NOMEM, "out of memory");
	*which = all ? of[*which] : 0;
	for (size_t i = 0; i < all && !rc; i++) {
		const struct driver_event *x = &each[i];
		const unsigned to = x->who ? threads : x->thread + 1;
		for (unsigned k = x->thread; k < to; k++)
			e[of[i]].seat[k] = (struct driver_seat){ x->pmu, x->counter, x->escr, x->up_escr, x->up_counter,
				x->tags };
		if (!x->thread)
			driver_sit(&e[of[i]], 0);
	}
	free(of);
	free(first);
	free(each);
	return rc;
}

/* ---- names ---------------------------------------------------------------------------------------------------- */

static const char *const counter_names[COUNTERS] = { "MSR_BPU_COUNTER0", "MSR_BPU_COUNTER1", "MSR_BPU_COUNTER2",
	"MSR_BPU_COUNTER3", "MSR_MS_COUNTER0", "MSR_MS_COUNTER1", "MSR_MS_COUNTER2", "MSR_MS_COUNTER3",
	"MSR_FLAME_COUNTER0", "MSR_FLAME_COUNTER1", "MSR_FLAME_COUNTER2", "MSR_FLAME_COUNTER3", "MSR_IQ_COUNTER0",
	"MSR_IQ_COUNTER1", "MSR_IQ_COUNTER2", "MSR_IQ_COUNTER3", "MSR_IQ_COUNTER4", "MSR_IQ_COUNTER5" };
static const char *const cccr_names[COUNTERS] = { "MSR_BPU_CCCR0", "MSR_BPU_CCCR1", "MSR_BPU_CCCR2", "MSR_BPU_CCCR3",
	"MSR_MS_CCCR0", "MSR_MS_CCCR1", "MSR_MS_CCCR2", "MSR_MS_CCCR3", "MSR_FLAME_CCCR0", "MSR_FLAME_CCCR1",
	"MSR_FLAME_CCCR2", "MSR_FLAME_CCCR3", "MSR_IQ_CCCR0", "MSR_IQ_CCCR1", "MSR_IQ_CCCR2", "MSR_IQ_CCCR3",
	"MSR_IQ_CCCR4", "MSR_IQ_CCCR5" };

#define THREADS(n) "MSR_THREADS" #n
static const char *const threads_names[COUNTERS] = { THREADS(0), THREADS(1), THREADS(2), THREADS(3), THREADS(4),
	THREADS(5), THREADS(6), THREADS(7), THREADS(8), THREADS(9), THREADS(10), THREADS(11), THREADS(12), THREADS(13),
	THREADS(14), THREADS(15), THREADS(16), THREADS(17) };

static const char *escr_name(uint32_t msr)
{
#define ESCR(name) [name - ESCR_FIRST] = #name
	static const char *const names[ESCR_SPAN] = {
		ESCR(MSR_BSU_ESCR0), ESCR(MSR_BSU_ESCR1), ESCR(MSR_FSB_ESCR0), ESCR(MSR_FSB_ESCR1),
		ESCR(MSR_FIRM_ESCR0), ESCR(MSR_FIRM_ESCR1), ESCR(MSR_FLAME_ESCR0), ESCR(MSR_FLAME_ESCR1),
		ESCR(MSR_DAC_ESCR0), ESCR(MSR_DAC_ESCR1), ESCR(MSR_MOB_ESCR0), ESCR(MSR_MOB_ESCR1),
		ESCR(MSR_PMH_ESCR0), ESCR(MSR_PMH_ESCR1), ESCR(MSR_SAAT_ESCR0), ESCR(MSR_SAAT_ESCR1),
		ESCR(MSR_U2L_ESCR0), ESCR(MSR_U2L_ESCR1), ESCR(MSR_BPU_ESCR0), ESCR(MSR_BPU_ESCR1),
		ESCR(MSR_IS_ESCR0), ESCR(MSR_IS_ESCR1), ESCR(MSR_ITLB_ESCR0), ESCR(MSR_ITLB_ESCR1),
		ESCR(MSR_CRU_ESCR0), ESCR(MSR_CRU_ESCR1), ESCR(MSR_IQ_ESCR0), ESCR(MSR_IQ_ESCR1),
		ESCR(MSR_RAT_ESCR0), ESCR(MSR_RAT_ESCR1), ESCR(MSR_SSU_ESCR0), ESCR(MSR_MS_ESCR0),
		ESCR(MSR_MS_ESCR1), ESCR(MSR_TBPU_ESCR0), ESCR(MSR_TBPU_ESCR1), ESCR(MSR_TC_ESCR0),
		ESCR(MSR_TC_ESCR1), ESCR(MSR_IX_ESCR0), ESCR(MSR_IX_ESCR1), ESCR(MSR_ALF_ESCR0),
		ESCR(MSR_ALF_ESCR1), ESCR(MSR_CRU_ESCR2), ESCR(MSR_CRU_ESCR3), ESCR(MSR_CRU_ESCR4),
		ESCR(MSR_CRU_ESCR5),
	};
#undef ESCR
	return names[msr - ESCR_FIRST];
}

/* ---- writes --------------------------------------------------------------------------------------------------- */

static uint32_t cccr_value(const struct driver_event *e)
{
	unsigned cmask = e->evtsel >> 24 & 0xff;
	const bool one = e->active && !(e->active & (e->active - 1)) && !extended(e);
	uint32_t v = SPMU_CCCR_SELECT(e->event->escr_select) |
		SPMU_CCCR_ACTIVE(one ? (unsigned)__builtin_ctz(e->active) : 3);
	if (cmask || e->evtsel & SPMU_EVTSEL_EDGE)
		v |= SPMU_CCCR_COMPARE | SPMU_CCCR_THRESHOLD(cmask ? cmask - 1 : 0) |
			(e->evtsel & SPMU_EVTSEL_INV ? SPMU_CCCR_COMPLEMENT : 0) |
			(e->evtsel & SPMU_EVTSEL_EDGE ? SPMU_CCCR_EDGE : 0);
	return v;
}

static int write_cccr(struct driver_writes *out, struct err *err, int n, uint32_t value, const char *why)
{
	return driver_write(out, err, cccr_names[n], MSR_BPU_CCCR0 + (uint32_t)n, value, "%s", why);
}

static int stop(const struct driver_event *e, struct driver_writes *out, struct err *err)
{
	int rc = write_cccr(out, err, e->counter, SPMU_CCCR_ACTIVE(3), "the counter stands still");
	if (!rc && e->up_counter >= 0)
		rc = write_cccr(out, err, e->up_counter, SPMU_CCCR_ACTIVE(3), "the counter stands still");
	return rc;
}

/* Where the core has more than two threads: whom counter n counts, with how many running threads; whom it interrupts or
 * in whose DS area it writes records. */
static int write_threads(const struct driver_event *e, int n, uint64_t value, struct driver_writes *out,
	struct err *err)
{
	return !extended(e) ? 0 : driver_write(out, err, threads_names[n], MSR_THREADS(n), value,
		"this model's register: whom counter %d counts", n);
}

static uint64_t threads_value(const struct driver_event *e)
{
	const bool all = !(~e->active & ((1u << (e->threads + 1)) - 2));
	uint64_t v = e->who ? e->who : (e->user ? SPMU_THREADS_USR(e->thread) : 0) |
		(e->kernel ? SPMU_THREADS_OS(e->thread) : 0);
	v |= SPMU_THREADS_ACTIVE(all ? 0 : e->active);
	if (e->precise)
		return v | SPMU_THREADS_PEBS | SPMU_THREADS_PEBS_THREAD(e->thread);
	return v | (e->sampled ? SPMU_THREADS_OVF_PMI(e->pmi ? e->pmi : 1u << first_thread(e)) : 0);
}

/* The registers that all events of a copy share: DS area and replay metric. */
static int write_shared(const struct driver_event *e, size_t n, unsigned pmu, struct driver_writes *out,
	struct err *err)
{
	const struct driver_event *precise = NULL, *replay = NULL;
	uint32_t enable = 0;	/* the bits that switch PEBS on, for all threads */
	for (size_t i = 0; i < n; i++) {
		precise = e[i].pmu == pmu && e[i].precise ? &e[i] : precise;
		replay = driver_uses(&e[i], pmu) && e[i].event->replay_enable ? &e[i] : replay;
		if (extended(&e[i]))	/* MSR_THREADS has it */
			continue;
		enable |= precise ? SPMU_PEBS_MY_THREAD : 0;
		for (unsigned k = 0; k < e[i].threads && e[i].threads > 1 && e[i].precise; k++)
			if (e[i].seat[k].pmu == pmu)
				enable |= k == e[i].thread ? SPMU_PEBS_MY_THREAD : SPMU_PEBS_OTHER_THREAD;
	}
	int rc = 0;
	if (precise)
		rc = driver_write(out, err, "IA32_DS_AREA", MSR_IA32_DS_AREA, precise->ds_area,
			"PEBS 1: address of the DS area");
	if (!rc && replay)
		rc = driver_write(out, err, "MSR_PEBS_MATRIX_VERT", MSR_PEBS_MATRIX_VERT, replay->event->replay_matrix,
			"which uops a replay tags: 1 loads, 2 stores, 10H branches");
	if (!rc && (replay || enable))
		rc = driver_write(out, err, "MSR_PEBS_ENABLE", MSR_PEBS_ENABLE,
			(replay ? replay->event->replay_enable : 0) | enable, "%s%s%s",
			enable & SPMU_PEBS_OTHER_THREAD ? "PEBS 2: bits 25 and 26 enable it, for each thread"
				: enable ? "PEBS 2: bit 25 enables it"
				: "",
			enable && replay ? "; " : "",
			replay ? "bit 24 tags replayed uops; the low bits select causes of replays" : "");
	return rc;
}

/* Writes the ESCR that tags for the event. */
static int write_tagging(const struct spmu_model *m, const struct driver_event *e, struct driver_writes *out,
	struct err *err)
{
	const struct spmu_event *up = e->up_escr ? upstream_of(m, e->event) : NULL;
	int rc = 0;
	if (up)
		rc = driver_write(out, err, escr_name(e->up_escr), e->up_escr, upstream_value(e, up),
			e->tags ? "%.60s tags uops: tag enable, tag %u"
				: "%.60s selects the uops that are replayed",
			up->name, e->tags);
	if (!rc && up && e->up_counter >= 0) {
		const uint64_t each = (e->user ? 0x5555 : 0) | (e->kernel ? 0xaaaa : 0);
		rc = write_threads(e, e->up_counter, each & ((UINT64_C(1) << 2 * e->threads) - 1), out, err);
	}
	if (!rc && up && e->up_counter >= 0)
		rc = write_cccr(out, err, e->up_counter,
			SPMU_CCCR_SELECT(up->escr_select) | SPMU_CCCR_ACTIVE(3) | SPMU_CCCR_ENABLE,
			"an ESCR tags only while a counter that sees it, or its pair, is enabled");
	return rc;
}

static uint32_t interrupt_bits(const struct driver_event *e)
{
	if (extended(e))	/* MSR_THREADS has them */
		return 0;
	if (e->pmi)
		return (e->pmi & 1 ? SPMU_CCCR_OVF_PMI_T0 : 0) | (e->pmi & 2 ? SPMU_CCCR_OVF_PMI_T1 : 0);
	return first_thread(e) ? SPMU_CCCR_OVF_PMI_T1 : SPMU_CCCR_OVF_PMI_T0;
}

static int write_event(const struct spmu_model *m, const struct driver_event *e, struct driver_writes *out,
	struct err *err)
{
	uint32_t v = cccr_value(e);
	int n = e->counter;
	int rc = driver_write(out, err, escr_name(e->escr), e->escr, escr_value(m, e),
		"1 to 4: %.50s is detected here, %s", e->event->name,
		e->user && e->kernel ? "all rings"
			: e->user ? "user mode"
			: e->kernel ? "ring 0"
			: "in no ring");
	if (!rc)
		rc = write_threads(e, n, threads_value(e), out, err);
	if (!rc)
		rc = driver_write(out, err, cccr_names[n], MSR_BPU_CCCR0 + (uint32_t)n, v,
			"5: counter %d sees that ESCR as number %u%s", n, e->event->escr_select,
			v & SPMU_CCCR_COMPARE ? ", filtered by threshold" : "");
	if (!rc && e->after)
		rc = write_cccr(out, err, n, v |= SPMU_CCCR_CASCADE, "6: it counts while its partner's OVF is set");
	if (!rc && e->sampled && !e->precise)
		rc = write_cccr(out, err, n, v |= interrupt_bits(e) | (e->forced ? SPMU_CCCR_FORCE_OVF : 0),
			e->forced ? "7: every event overflows it; interrupt on the one behind"
				: "7: interrupt on the event behind the overflow");
	if (!rc && !e->after)
		rc = write_cccr(out, err, n, v | SPMU_CCCR_ENABLE,
			e->precise ? "8 (PEBS 3): it counts; no OVF_PMI, the DS area's threshold interrupts"
				: "8: it counts");
	return rc;
}

static int netburst_setup(const struct spmu_model *m, const struct driver_event *e, size_t n, unsigned pmu,
	struct driver_writes *out, struct err *err)
{
	int rc = 0;
	for (size_t i = 0; i < n && !rc; i++)
		if (e[i].pmu == pmu)
			rc = stop(&e[i], out, err);
	if (!rc)
		rc = write_shared(e, n, pmu, out, err);
	for (size_t i = 0; i < n && !rc; i++)
		if (e[i].pmu == pmu)
			rc = write_tagging(m, &e[i], out, err);
	for (size_t i = 0; i < n && !rc; i++)
		if (e[i].pmu == pmu)
			rc = write_event(m, &e[i], out, err);
	return rc;
}

/* ---- counters ------------------------------------------------------------------------------------------------- */

static uint32_t netburst_rdpmc(const struct spmu_model *m, const struct driver_event *e)
{
	(void)m;
	return (uint32_t)e->counter;
}

static uint32_t netburst_counter_msr(const struct spmu_model *m, const struct driver_event *e, const char **name)
{
	(void)m;
	*name = counter_names[e->counter];
	return MSR_BPU_COUNTER0 + (uint32_t)e->counter;
}

/* The interrupt comes with the event after the overflow, so the preset is one less.  It cannot be less for a
 * period of 1: its interrupt comes with the second event (with the manual's FORCE_OVF, every event would
 * interrupt).  A PEBS record, too, comes with the event after the overflow, but drivers preset the period as it
 * is: Sprunt's measurements show it (with a period that eight divides, samples of eight addresses in turn). */
static uint64_t netburst_counter_value(const struct spmu_model *m, const struct driver_event *e, uint64_t value)
{
	const uint64_t mask = (UINT64_C(1) << 40) - 1;
	(void)m;
	value &= mask;
	return e->sampled && !e->precise && !e->forced && value >> 39 && value != mask ? value + 1 : value;
}

static unsigned netburst_counter_bits(const struct spmu_model *m, const struct driver_event *e)
{
	(void)m, (void)e;
	return 40;
}

static uint64_t netburst_max_period(const struct spmu_model *m)
{
	(void)m;
	return (UINT64_C(1) << 39) - 1;
}

static void clear_overflow(struct spmu *p, const struct driver_event *e)
{
	uint64_t cccr;
	if (!spmu_rdmsr(p, MSR_BPU_CCCR0 + (uint32_t)e->counter, &cccr))
		spmu_wrmsr(p, MSR_BPU_CCCR0 + (uint32_t)e->counter, cccr & ~(uint64_t)SPMU_CCCR_OVF);
}

static void netburst_acknowledge(struct spmu *p, const struct spmu_pmi *pmi, const struct driver_event *e, size_t n,
	unsigned pmu, bool *hit)
{
	for (size_t i = 0; i < n; i++) {
		uint64_t value = 0;
		/* 0: it has overflowed, but the event that ends the period has not come yet; it will interrupt
		 * by itself */
		hit[i] = e[i].pmu == pmu && e[i].sampled && pmi->status >> e[i].counter & 1 &&
			!spmu_rdpmc(p, (uint32_t)e[i].counter, 0, &value) && (value || e[i].forced);
		if (hit[i] && e[i].after)
			clear_overflow(p, &e[e[i].after - 1]);
		if (hit[i] && !e[i].forced)
			clear_overflow(p, &e[i]);
	}
}

/* The counter that keeps a tagging ESCR awake goes on: other threads' events may need it. */
static void netburst_halt(struct spmu *p, const struct driver_event *e)
{
	spmu_wrmsr(p, MSR_BPU_CCCR0 + (uint32_t)e->counter, SPMU_CCCR_ACTIVE(3));
}

const struct driver driver_netburst = {
	.family = "netburst",
	.interrupts = true, .assign = netburst_assign, .setup = netburst_setup, .rdpmc = netburst_rdpmc,
	.counter_msr = netburst_counter_msr, .counter_value = netburst_counter_value,
	.counter_bits = netburst_counter_bits, .max_period = netburst_max_period,
	.acknowledge = netburst_acknowledge, .halt = netburst_halt,
};
