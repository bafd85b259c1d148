/* SPDX-License-Identifier: GPL-2.0-or-later
 * Runs of live points (points.h).
 */
#include "run/points/points.h"
#include "run/points/lines.h"
#include "run/points/parts.h"
#include "run/cut.h"
#include "run/sample.h"
#include "core/wrongpath/walker.h"

#define STEPS_MOST (UINT64_C(1) << 60)

static int malformed(const struct process *p, const char *what, struct err *err)
{
	return err_set(err, ERR_INPUT, "the live points of process %u are damaged: %s", p->pid, what);
}

static int begin(struct runner *r, const struct process *p, const struct st_points *s, struct err *err)
{
	const struct run_sample *plan = &r->o->sample;
	if (p->threads)
		return malformed(p, "they begin behind a thread", err);
	if (!plan->measured || cut_is(r->o) || plan->after)
		return err_set(err, ERR_UNSUPPORTED,
			"the stream holds live points, which are windows of a run: this needs the whole run");
	if (r->o->history || r->o->heap || r->o->calls)
		return err_set(err, ERR_UNSUPPORTED, "the stream holds live points, which lack %s between windows",
			r->o->calls ? "calls" : "register writes");
	if (s->lead != plan->lead || s->measured != plan->measured)
		return err_set(err, ERR_INPUT, "the live points have windows of %llu + %llu instructions, not of "
			"%llu + %llu", (unsigned long long)s->lead, (unsigned long long)s->measured,
			(unsigned long long)plan->lead, (unsigned long long)plan->measured);
	r->points = true;
	return 0;
}

struct core_misses points_misses(const struct rthread *t, enum sample_part part, const struct core_misses *own)
{
	struct core_misses misses = t->sample.told[part == SAMPLE_MEASURED ? ST_PLACE_BEGIN : ST_PLACE_END];
	misses.branches = own->branches;
	return misses;
}

/* The leader's branches are looked at from here on, or were up to here; `steps` of the thread are done. */
static void see_from(struct rthread *t, uint64_t steps)
{
	t->sample.seen_from = steps;
	t->sample.seen_from_misses = core_warm_misses(t->leader).branches;
}

static void see_to(struct rthread *t, uint64_t steps)
{
	struct sample_place *s = &t->sample;
	s->seen += steps - s->seen_from;
	s->seen_misses += core_warm_misses(t->leader).branches - s->seen_from_misses;
}

struct core_misses points_total(const struct rthread *t, bool cut)
{
	const struct sample_place *s = &t->sample;
	const struct core_misses *to = &s->told[cut ? ST_PLACE_END : ST_PLACE_TOTAL], *from = &s->told[ST_PLACE_FROM];
	struct core_misses total = { .loads = to->loads - from->loads, .l1 = to->l1 - from->l1,
		.l2 = to->l2 - from->l2, .l3 = to->l3 - from->l3, .walks = to->walks - from->walks };
	total.branches = s->seen ? (uint64_t)((double)s->seen_misses * (double)s->done / (double)s->seen) : 0;
	return total;
}

void points_see_part(struct runner *r, struct rthread *t)
{
	struct sample_place *s = &t->sample;
	see_to(t, s->done);
	see_from(t, s->done);
	r->result->points_seen += s->seen;
	r->result->points_mispredicted += s->seen_misses;
	s->seen = s->seen_misses = 0;
}

static int skip(struct runner *r, struct rthread *t, const struct st_skip *k, struct err *err)
{
	struct sample_place *s = &t->sample;
	const struct process *p = t->process;
	runner_run_all(r, t, k->from);
	if (!sample_settle(r, t))
		return malformed(p, "blocks are left out of a window", err);
	if (k->steps > STEPS_MOST || k->rounds > k->steps || s->done > STEPS_MOST || k->interval > STEPS_MOST ||
		(k->until != ST_NO_WINDOW && (k->until < s->done + k->steps || k->until > 4 * STEPS_MOST)))
		return malformed(p, "impossible numbers of instructions", err);
	see_to(t, s->done);
	s->done += k->steps;
	see_from(t, s->done);
	s->seen_whole = s->way_told = false;
	s->way = 0;
	s->rounds += k->rounds;
	r->result->warmed += k->steps - k->rounds;
	s->until = k->until;
	s->interval = s->then = k->interval;
	if (t->walker)
		walker_lose(t->walker);
	return 0;
}

static void touch(const struct runner *r, struct rthread *t, const uint64_t *w, size_t count)
{
	for (size_t i = 0; i < count && !r->o->follows; i++)
		core_warm_line(t->leader, w[i] >> ST_TOUCH_BITS << 6, w[i] & ST_TOUCH_CODE, w[i] & ST_TOUCH_WRITTEN);
}

static int lines(const struct runner *r, struct rthread *t, const uint64_t *w, size_t count, struct err *err)
{
	struct lines_reader reader = lines_read(w, count);
	uint64_t line;
	bool on = true;
	while (lines_next(&reader, &line)) {
		if (reader.exact != on)
			core_warm_prefetchers(t->leader, on = reader.exact);
		touch(r, t, &line, 1);
	}
	if (!on)
		core_warm_prefetchers(t->leader, true);
	return reader.damaged ? malformed(t->process, "a list of lines that cannot be read", err) : 0;
}

/* The block that a header of ST_BLOCK names; NULL: there is none, or its code was discarded since. */
static struct iblock *block_of(const struct process *p, uint64_t header)
{
	const uint32_t id = ST_HEADER_LOW(header);
	struct iblock *b = id < p->blocks && ST_HEADER_KIND(header) == ST_BLOCK ? p->block[id] : NULL;
	return b && ST_HEADER_EXIT(header) < b->exits ? b : NULL;
}

static void follow(const struct runner *r, struct rthread *t, const uint64_t *w, size_t count)
{
	const struct process *p = t->process;
	struct sample_place *s = &t->sample;
	/* at first the predictors have to catch up with what they have not seen */
	uint64_t steps = 0;
	s->seen_whole |= count && w[0] == POINTS_WHOLE_WAY && !s->way_told;
	const size_t first = !s->way_told ? s->seen_whole ? 0 : count / 2 : s->unseen < count ? s->unseen : count;
	s->unseen -= s->way_told ? first : 0;
	for (size_t i = 0; i < count && !r->o->follows && !r->o->taught; i++) {
		if (i == first) {
			see_from(t, 0);
			steps = 0;
		}
		const unsigned exit = ST_HEADER_EXIT(s->way);
		struct iblock *const b = block_of(p, s->way), *const next = block_of(p, w[i]);
		if (b)
			core_predict(t->leader, b, exit, b->exit[exit].insns, next ? next->addr : 0);
		steps += b ? b->exit[exit].insns : 0;
		s->way = w[i];
	}
	if (first < count)
		see_to(t, steps);
	see_from(t, s->done);
}

static int place(struct rthread *t, const struct st_place *s, struct err *err)
{
	if (s->what > ST_PLACE_FROM)
		return malformed(t->process, "a place that is none", err);
	t->sample.told_from |= s->what == ST_PLACE_FROM;
	t->sample.told[s->what] = (struct core_misses){ .loads = s->loads, .l1 = s->l1, .l2 = s->l2,
		.l3 = s->l3, .walks = s->walks };
	return 0;
}

static void count_odd(struct run_result *result, const struct iblock *b, unsigned insns, uint64_t times)
{
	for (unsigned i = 0; i < insns; i++) {
		result->unknown += b->insn[i].flags & INSN_UNKNOWN ? times : 0;
		result->substitute += b->insn[i].flags & INSN_SUBSTITUTE ? times : 0;
	}
}

static int times(struct runner *r, const struct process *p, const uint64_t *w, size_t count, struct err *err)
{
	for (size_t i = 0; i + 1 < count; i += 2) {
		const uint32_t id = ST_HEADER_LOW(w[i]);
		const bool cut = ST_HEADER_KIND(w[i]) == ST_BLOCK_CUT;
		const unsigned which = ST_HEADER_EXIT(w[i]);
		const struct iblock *b = id < p->blocks ? p->block[id] : NULL;
		if (!b || (!cut && ST_HEADER_KIND(w[i]) != ST_BLOCK) || which >= (cut ? b->insns + 1u : b->exits))
			return malformed(p, "executions of what is no block", err);
		const unsigned insns = cut ? which : b->exit[which].insns;
		count_odd(r->result, b, insns, w[i + 1]);
		if (r->sink->executed && !r->o->follows)
			r->sink->executed(r->sink->context, b, insns, w[i + 1],
				!cut && b->exit[which].jump == ST_JUMP_REPEAT);
	}
	return 0;
}

int points_record(struct runner *r, struct process *p, const uint64_t *w, size_t length, struct err *err)
{
	const unsigned kind = ST_HEADER_KIND(*w);
	const void *record = w;
	struct rthread *t = p->current;
	if (kind == ST_POINTS)
		return begin(r, p, record, err);
	if (kind == ST_PART)
		return r->points ? parts_record(r, p, record, err) : malformed(p, "a record out of place", err);
	if (!r->points || !t || !t->leader || !t->alive)
		return malformed(p, "a record out of place", err);
	switch (kind) {
	case ST_SKIP:
		return skip(r, t, record, err);
	case ST_TOUCH:
		touch(r, t, w + 1, length - 1);
		return 0;
	case ST_LINES:
		return lines(r, t, w + 1, length - 1, err);
	case ST_PATH:
		follow(r, t, w + 1, length - 1);
		return 0;
	case ST_PLACE:
		return place(t, record, err);
	case ST_WAY:
		t->sample.way_told = true;
		t->sample.unseen = ((const struct st_way *)record)->unseen;
		return 0;
	default:
		return times(r, p, w + 1, length - 1, err);
	}
}
