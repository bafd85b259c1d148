/* SPDX-License-Identifier: GPL-2.0-or-later
 * The search (tune_model.h): rounds of configurations; each round depends on the figures of those before. */
#include "analysis/tune/tune_model.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* TOP: features of which all pairs are measured; ROUND: tries that an exhaustive search asks for at once */
enum { TOP = 5, ROUND = 4096 };
static const double NEAR = TUNE_NOTHING;	/* features that gain less alone are left out */

const char *const tune_stage_name[TUNE_STAGES_COUNT] = {
#define X(name, text) text,
	TUNE_STAGES(X)
#undef X
};

struct tune {
	const struct tune_feature *f;
	unsigned features;
	struct tune_goal goal;
	tune_measure *measure;
	void *context;
	struct tune_try *try, *ask;	/* measured; to be measured next */
	size_t tries, asked, room, ask_room;
	struct tune_pair pair[TOP * (TOP - 1) / 2];
	size_t pairs;
	double fastest;			/* least cycles of all so far */
	uint8_t best[TUNE_FEATURES];	/* best level of the feature alone; 0: none gained */
	double gain[TUNE_FEATURES];	/* gain of that level */
	bool failed;
};

/* ---- figures ---- */

double tune_value(const struct tune *t, const struct tune_try *r)
{
	const struct tune_try *p = t->try;
	const double cycles = p->cycles > 0 ? r->cycles / p->cycles : 1,
		     energy = p->energy > 0 ? r->energy / p->energy : 1;
	switch (t->goal.what) {
	case TUNE_CYCLES: return cycles;
	case TUNE_ENERGY: return energy;
	case TUNE_EDP: return cycles * energy;
	case TUNE_ENERGY_WITHIN: break;
	}
	return r->cycles > t->fastest * (1 + t->goal.within) * (1 + 1e-12) ? 1000 + cycles : energy;
}

/* The value of a change alone.  It counts as too slow only against the preset, because the fastest run may have
 * another change, which can be made as well. */
static double alone(const struct tune *t, const struct tune_try *r)
{
	const struct tune_try *p = t->try;
	if (t->goal.what != TUNE_ENERGY_WITHIN)
		return tune_value(t, r);
	return r->cycles > p->cycles * (1 + t->goal.within) ? 1000 + r->cycles / p->cycles
		: p->energy > 0                             ? r->energy / p->energy
							    : 1;
}

static bool same(const struct tune *t, const struct tune_set *a, const struct tune_set *b)
{
	return !memcmp(a->level, b->level, t->features);
}

static const struct tune_try *find(const struct tune *t, const struct tune_set *s)
{
	for (size_t i = 0; i < t->tries; i++)
		if (same(t, &t->try[i].set, s))
			return &t->try[i];
	return NULL;
}

static unsigned changes(const struct tune *t, const struct tune_set *s)
{
	unsigned n = 0;
	for (unsigned i = 0; i < t->features; i++)
		n += !!s->level[i];
	return n;
}

static const struct tune_try *best_of(const struct tune *t)
{
	const struct tune_try *best = t->try;
	for (size_t i = 1; i < t->tries; i++)
		if (tune_value(t, &t->try[i]) < tune_value(t, best))
			best = &t->try[i];
	return best;
}

const struct tune_try *tune_choice(const struct tune *t)
{
	const struct tune_try *choice = best_of(t);
	const double limit = tune_value(t, choice) + t->goal.threshold;
	for (size_t i = 0; i < t->tries; i++) {
		const struct tune_try *r = &t->try[i];
		const unsigned n = changes(t, &r->set), m = changes(t, &choice->set);
		const double v = tune_value(t, r), w = tune_value(t, choice);
		if (v > limit || n > m)
			continue;
		/* equal in everything: the first by its levels, whenever it was measured */
		if (n < m || v < w || (!(v > w) && memcmp(r->set.level, choice->set.level, t->features) < 0))
			choice = r;
	}
	return choice;
}

bool tune_pruned(const struct tune *t, unsigned feature)
{
	return t->f[feature].limit < t->goal.threshold;
}

/* The feature alone at its best level; NULL: it was not run. */
static const struct tune_try *single(const struct tune *t, unsigned feature)
{
	const struct tune_try *best = NULL;
	for (size_t i = 1; i < t->tries; i++) {
		const struct tune_try *r = &t->try[i];
		if (r->set.level[feature] && changes(t, &r->set) == 1 && (!best || alone(t, r) < alone(t, best)))
			best = r;
	}
	return best;
}

/* ---- rounds ---- */

static bool grow(struct tune_try **a, size_t *room)
{
	const size_t n = *room ? 2 * *room : 64;
	struct tune_try *more = realloc(*a, n * sizeof *more);
	if (!more)
		return false;
	*a = more;
	*room = n;
	return true;
}

static void ask(struct tune *t, const struct tune_set *s, enum tune_stage stage)
{
	bool had = find(t, s);
	for (size_t i = 0; i < t->asked && !had && stage != TUNE_EXHAUSTIVE; i++)
		had = same(t, &t->ask[i].set, s);
	if (had)
		return;
	if (t->asked == t->ask_room && !grow(&t->ask, &t->ask_room)) {
		t->failed = true;
		return;
	}
	t->ask[t->asked++] = (struct tune_try){ .set = *s, .stage = stage };
}

/* Measures what was asked for. */
static int go(struct tune *t, struct err *err)
{
	int rc = t->failed ? err_set(err, ERR_NOMEM, "out of memory") : 0;
	while (!rc && t->room < t->tries + t->asked)
		if (!grow(&t->try, &t->room))
			rc = err_set(err, ERR_NOMEM, "out of memory");
	if (!rc && t->asked)
		rc = t->measure(t->context, t->ask, t->asked, err);
	for (size_t i = 0; !rc && i < t->asked; i++) {
		t->try[t->tries++] = t->ask[i];
		if (t->ask[i].cycles < t->fastest)
			t->fastest = t->ask[i].cycles;
	}
	t->asked = 0;
	return rc;
}

/* Rates each feature by its gain alone; 0 if the gain is too small. */
static void rate(struct tune *t)
{
	for (unsigned i = 0; i < t->features; i++) {
		const struct tune_try *r = single(t, i);
		const double gain = r ? 1 - alone(t, r) : 0;
		t->best[i] = gain > NEAR * t->goal.threshold ? r->set.level[i] : 0;
		t->gain[i] = t->best[i] ? gain : 0;
	}
}

static int singles(struct tune *t, struct err *err)
{
	bool on[TUNE_FEATURES];
	double last[TUNE_FEATURES];
	int rc = 0;
	for (unsigned i = 0; i < t->features; i++) {
		on[i] = !tune_pruned(t, i);
		last[i] = 1;
	}
	for (unsigned level = 1; level < TUNE_LEVELS && !rc; level++) {
		for (unsigned i = 0; i < t->features; i++) {
			struct tune_set s = { { 0 } };
			/* levels without an order: all of them in the first round */
			const unsigned most = t->f[i].ordered ? level : t->f[i].levels - 1;
			for (unsigned l = level; on[i] && l <= most && l < t->f[i].levels; l++) {
				s.level[i] = (uint8_t)l;
				ask(t, &s, TUNE_SINGLE);
			}
		}
		if (!t->asked && !t->failed)
			break;
		rc = go(t, err);
		for (unsigned i = 0; i < t->features && !rc; i++) {
			struct tune_set s = { { 0 } };
			s.level[i] = (uint8_t)level;
			const struct tune_try *r = on[i] && level < t->f[i].levels ? find(t, &s) : NULL;
			const double v = r ? alone(t, r) : 2;
			on[i] = r && t->f[i].ordered && v < last[i];
			last[i] = v;
		}
	}
	rate(t);
	return rc;
}

/* Where the best time is a bound: asks for everything that is faster than the preset, alone and with everything
 * that gained.  The choice must be nearly as fast as the fastest, whatever that one takes. */
static void faster(struct tune *t, const struct tune_set *all)
{
	struct tune_set fast = { { 0 } }, both = *all;
	for (unsigned i = 0; i < t->features; i++) {
		double least = t->try->cycles * (1 - t->goal.threshold);
		for (size_t k = 1; k < t->tries; k++)
			if (t->try[k].set.level[i] && changes(t, &t->try[k].set) == 1 && t->try[k].cycles < least) {
				least = t->try[k].cycles;
				fast.level[i] = both.level[i] = t->try[k].set.level[i];
			}
	}
	ask(t, &fast, TUNE_TOGETHER);
	ask(t, &both, TUNE_TOGETHER);
}

/* Everything that gained; every group as a whole. */
static int together(struct tune *t, struct err *err)
{
	struct tune_set all;
	memcpy(all.level, t->best, sizeof all.level);
	ask(t, &all, TUNE_TOGETHER);
	if (t->goal.what == TUNE_ENERGY_WITHIN)
		faster(t, &all);
	for (unsigned i = 0; i < t->features; i++) {
		struct tune_set s = { { 0 } };
		bool first = t->f[i].group;
		for (unsigned k = 0; k < i; k++)
			first &= t->f[k].group != t->f[i].group;
		for (unsigned k = i; k < t->features && first; k++)
			if (t->f[k].group == t->f[i].group && !tune_pruned(t, k))
				s.level[k] = t->best[k] ? t->best[k] : 1;
		if (first && changes(t, &s) > 1)
			ask(t, &s, TUNE_GROUP);
	}
	return go(t, err);
}

/* Sorts the features that gain, the largest gain first.  Returns their number. */
static unsigned ranked(const struct tune *t, unsigned order[TUNE_FEATURES])
{
	unsigned n = 0;
	for (unsigned i = 0; i < t->features; i++) {
		unsigned at = n;
		if (!t->best[i])
			continue;
		for (; at && t->gain[order[at - 1]] < t->gain[i]; at--)
			order[at] = order[at - 1];
		order[at] = i;
		n++;
	}
	return n;
}

static int pairs(struct tune *t, struct err *err)
{
	unsigned order[TUNE_FEATURES], n = ranked(t, order);
	n = n < TOP ? n : TOP;
	for (unsigned pass = 0; pass < 2; pass++) {
		for (unsigned a = 0; a < n; a++)
			for (unsigned b = a + 1; b < n; b++) {
				struct tune_set s = { { 0 } };
				const unsigned x = order[a] < order[b] ? order[a] : order[b],
					       y = order[a] ^ order[b] ^ x;
				s.level[x] = t->best[x];
				s.level[y] = t->best[y];
				const struct tune_try *r = find(t, &s);
				if (!pass)
					ask(t, &s, TUNE_PAIR);
				else if (r)
					t->pair[t->pairs++] = (struct tune_pair){ x, y, t->gain[x], t->gain[y],
						1 - alone(t, r), (1 - t->gain[x]) * (1 - t->gain[y]) - alone(t, r) };
			}
		int rc = pass ? 0 : go(t, err);
		if (rc)
			return rc;
	}
	return 0;
}

/* The expected value of a configuration with `f` at its best level added, by its gain and its interactions. */
static double promise(const struct tune *t, const struct tune_try *now, unsigned f)
{
	double v = tune_value(t, now) * (1 - t->gain[f]);
	for (size_t i = 0; i < t->pairs; i++) {
		const struct tune_pair *p = &t->pair[i];
		const unsigned other = p->a == f ? p->b : p->a;
		if ((p->a == f || p->b == f) && now->set.level[other] && p->gain_a < 1 && p->gain_b < 1)
			v *= (1 - p->gain_both) / ((1 - p->gain_a) * (1 - p->gain_b));
	}
	return v;
}

static int greedy(struct tune *t, struct err *err)
{
	bool tried[TUNE_FEATURES] = { false };
	for (;;) {
		const struct tune_try *now = best_of(t);
		const double enough = tune_value(t, now) - NEAR * t->goal.threshold;
		unsigned next = t->features;
		double most = enough;
		for (unsigned i = 0; i < t->features; i++)
			if (t->best[i] && !now->set.level[i] && !tried[i] && promise(t, now, i) < most) {
				most = promise(t, now, i);
				next = i;
			}
		if (next == t->features)
			return 0;
		struct tune_set s = now->set;
		s.level[next] = t->best[next];
		tried[next] = true;
		ask(t, &s, TUNE_GREEDY);
		const int rc = go(t, err);
		if (rc)
			return rc;
	}
}

/* Tries the best without each of its features, as long as that gains or costs less than the threshold; then
 * without those that together gain almost nothing. */
static int without(struct tune *t, bool each, struct err *err)
{
	int rc = 0;
	struct tune_set from = best_of(t)->set, to = from;
	for (bool first = true; each && !rc && (first || !same(t, &from, &to)); first = false) {
		from = to;
		for (unsigned i = 0; i < t->features && changes(t, &from) > 1; i++) {
			struct tune_set s = from;
			s.level[i] = 0;
			if (from.level[i])
				ask(t, &s, TUNE_WITHOUT);
		}
		rc = go(t, err);
		to = tune_choice(t)->set;
	}
	if (rc)
		return rc;
	unsigned order[TUNE_FEATURES], n = ranked(t, order);
	struct tune_set s = best_of(t)->set;
	double left = 0.8 * t->goal.threshold;
	for (unsigned i = n; i-- && left > t->gain[order[i]]; )	/* the smallest gain first */
		if (s.level[order[i]]) {
			left -= t->gain[order[i]];
			s.level[order[i]] = 0;
			ask(t, &s, TUNE_WITHOUT);
		}
	if (t->asked > 1) {	/* keep two: without all of them, and without the one that gains least */
		t->ask[1] = t->ask[t->asked - 1];
		t->asked = 2;
	}
	return go(t, err);
}

int tune_search(struct tune *t, struct err *err)
{
	int rc = singles(t, err);
	if (!rc)
		rc = together(t, err);
	struct tune_set all;
	memcpy(all.level, t->best, sizeof all.level);
	const struct tune_try *sum = find(t, &all), *best = best_of(t);
	double expected = 1;
	for (unsigned i = 0; i < t->features; i++)
		expected *= 1 - t->gain[i];
	const bool plain = sum && sum == best && fabs(tune_value(t, sum) - expected) <= t->goal.threshold;
	if (!rc && !plain)
		rc = pairs(t, err);
	if (!rc)
		rc = greedy(t, err);
	if (!rc)
		rc = without(t, !plain, err);
	return rc;
}

/* ---- all of them ---- */

double tune_space(const struct tune *t)
{
	double n = 1;
	for (unsigned i = 0; i < t->features; i++)
		n *= t->f[i].levels;
	return n;
}

int tune_exhaustive(struct tune *t, double most, struct err *err)
{
	struct tune_set s = { { 0 } };
	int rc = 0;
	if (tune_space(t) > most)
		return err_set(err, ERR_INPUT, "there are %.4g configurations, more than %.0f: name fewer features",
			tune_space(t), most);
	for (bool more = true; more && !rc; ) {
		unsigned i = 0;
		while (i < t->features && ++s.level[i] == t->f[i].levels)
			s.level[i++] = 0;
		more = i < t->features;
		if (more)
			ask(t, &s, TUNE_EXHAUSTIVE);
		if (!more || t->asked == ROUND)
			rc = go(t, err);
	}
	rate(t);
	return rc;
}

/* ---- the rest ---- */

int tune_create(struct tune **out, const struct tune_feature *f, unsigned features, const struct tune_goal *goal,
	const struct tune_try *preset, tune_measure *measure, void *context, struct err *err)
{
	if (features > TUNE_FEATURES)
		return err_set(err, ERR_INPUT, "%u features are more than %d", features, TUNE_FEATURES);
	for (unsigned i = 0; i < features; i++)
		if (f[i].levels < 1 || f[i].levels > TUNE_LEVELS)
			return err_set(err, ERR_INPUT, "%s has %u levels", f[i].name, f[i].levels);
	struct tune *t = calloc(1, sizeof *t);
	if (!t || !grow(&t->try, &t->room)) {
		free(t);
		return err_set(err, ERR_NOMEM, "out of memory");
	}
	t->f = f;
	t->features = features;
	t->goal = *goal;
	t->measure = measure;
	t->context = context;
	t->try[t->tries++] = *preset;
	t->try[0].stage = TUNE_PRESET;
	t->fastest = preset->cycles;
	*out = t;
	return 0;
}

void tune_destroy(struct tune *t)
{
	if (!t)
		return;
	free(t->try);
	free(t->ask);
	free(t);
}

const struct tune_try *tune_tries(const struct tune *t, size_t *count)
{
	*count = t->tries;
	return t->try;
}

const struct tune_pair *tune_pairs(const struct tune *t, size_t *count)
{
	*count = t->pairs;
	return t->pair;
}

char *tune_text(const struct tune_feature *f, unsigned features, const struct tune_set *s)
{
	char *text = NULL;
	size_t bytes = 0;
	FILE *out = open_memstream(&text, &bytes);
	const char *comma = "";
	for (unsigned i = 0; out && i < features; i++)
		if (s->level[i]) {
			fprintf(out, "%s%s=%s", comma, f[i].name, f[i].level[s->level[i]]);
			comma = ",";
		}
	if (!out || fclose(out)) {
		free(text);
		return NULL;
	}
	return text;
}
