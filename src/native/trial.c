/* SPDX-License-Identifier: GPL-2.0-or-later
 * The blocks, looks and verdicts of trial.h.
 */
#include "native/trial.h"
#include <math.h>
#include <stdio.h>
#include <string.h>

enum { LOOKS = 4, DECIDING = 3 };
/* seconds; getrusage counts microseconds, and no run takes less */
static const double CONFIDENCE = 0.95, SHORTEST = 1e-6;

/* Steele, Lea and Flood, "Fast splittable pseudorandom number generators", OOPSLA 2014. */
static uint64_t next(uint64_t *state)
{
	uint64_t z = *state += 0x9e3779b97f4a7c15;
	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9;
	z = (z ^ z >> 27) * 0x94d049bb133111eb;
	return z ^ z >> 31;
}

static double of(const struct trial_times *t, unsigned measure)
{
	double s = measure == TRIAL_CPU ? t->cpu : t->wall;
	return s > SHORTEST ? s : SHORTEST;
}

/* Makes the four runs of a block.  Returns 0, or what run returned. */
static int block(struct trial_arm *a, int number, const struct trial_options *o, uint64_t *random, struct err *err)
{
	bool first = next(random) & 1;		/* the arm runs first */
	uint64_t id = next(random);
	double best[TRIAL_MEASURES][2] = { { INFINITY, INFINITY }, { INFINITY, INFINITY } };
	for (int i = 0; i < 4; i++) {
		bool with = (i == 0 || i == 3) == first;
		struct trial_times t = { 0 };
		int rc = o->run(o->context, with ? number : TRIAL_AS_IT_IS, id, &t, err);
		if (rc)
			return rc;
		for (unsigned m = 0; m < TRIAL_MEASURES; m++)
			best[m][with] = fmin(best[m][with], of(&t, m));
	}
	for (unsigned m = 0; m < TRIAL_MEASURES; m++)
		a->difference[m][a->blocks] = log(best[m][0] / best[m][1]);
	a->blocks++;
	return 0;
}

/* Computes the current effects and intervals; returns the p value. */
static double measure(struct trial_arm *a, const struct trial_options *o)
{
	double p = 1;
	for (unsigned m = 0; m < TRIAL_MEASURES; m++) {
		struct signed_rank r;
		signed_rank(&r, a->difference[m], a->blocks, CONFIDENCE);
		a->effect[m] = (struct trial_effect){ 1 - exp(-r.estimate), 1 - exp(-r.low), 1 - exp(-r.high) };
		if (m == o->measure)
			p = r.p;
	}
	return p;
}

static enum trial_verdict gain_or(const struct trial_arm *a, const struct trial_options *o)
{
	const struct trial_effect *e = &a->effect[o->measure],
				  *other = &a->effect[o->measure == TRIAL_CPU ? TRIAL_WALL : TRIAL_CPU];
	if (e->gain < o->least)
		return TRIAL_NONE;
	return other->high < -o->least ? TRIAL_TRADE : TRIAL_GAIN;
}

static enum trial_verdict hopeless(const struct trial_arm *a, const struct trial_options *o)
{
	return a->effect[o->measure].high < o->least ? TRIAL_NONE : TRIAL_UNDECIDED;
}

/* deciding: this look may find a gain; it is one of `looks`. */
static void look(struct trial_arm *a, unsigned arms, unsigned looks, bool deciding, bool last,
	const struct trial_options *o)
{
	double p = measure(a, o) * looks;
	if (deciding && p < a->p)
		a->p = p;
	/* Holm's first step, which holds whatever the others' results are */
	if (deciding && a->p * arms <= o->level)
		a->verdict = gain_or(a, o);
	else
		a->verdict = hopeless(a, o);
	a->decided = last || a->verdict != TRIAL_UNDECIDED;
}

static int check(const struct trial_options *o, unsigned arms, struct err *err)
{
	if (arms > TRIAL_ARMS)
		return err_set(err, ERR_INPUT, "%u settings to measure, more than %d", arms, TRIAL_ARMS);
	if (o->blocks < TRIAL_LEAST_BLOCKS || o->blocks > SIGNED_RANK_MOST)
		return err_set(err, ERR_INPUT, "%u blocks of runs a setting: from %d to %d", o->blocks,
			TRIAL_LEAST_BLOCKS, SIGNED_RANK_MOST);
	if (!(o->level > 0 && o->level < 1) || !(o->least >= 0 && o->least < 1))
		return err_set(err, ERR_INPUT, "a level of %g and a least gain of %g: both are parts of 1", o->level,
			o->least);
	return 0;
}

static void start(struct trial_arm *arm, unsigned arms)
{
	for (unsigned i = 0; i < arms; i++) {
		arm[i] = (struct trial_arm){ .p = 1 };
		for (unsigned m = 0; m < TRIAL_MEASURES; m++)
			arm[i].effect[m] = (struct trial_effect){ 0, -INFINITY, 1 };
	}
}

/* Makes one block of each undecided arm.  *left: how many these are. */
static int round_of(struct trial_arm *arm, unsigned arms, const struct trial_options *o, uint64_t *random,
	unsigned *left, struct err *err)
{
	unsigned order[TRIAL_ARMS], n = 0;
	for (unsigned i = 0; i < arms; i++)
		if (!arm[i].decided)
			order[n++] = i;
	for (unsigned i = n; i > 1; i--) {
		unsigned j = (unsigned)(next(random) % i), k = order[i - 1];
		order[i - 1] = order[j];
		order[j] = k;
	}
	*left = n;
	for (unsigned i = 0; i < n; i++) {
		struct trial_arm *a = &arm[order[i]];
		struct err e = { 0 };
		int rc = block(a, (int)order[i], o, random, &e);
		if (rc == TRIAL_REFUSED) {
			snprintf(a->why, sizeof a->why, "%.*s", (int)sizeof a->why - 1, e.text);
			a->verdict = TRIAL_FAILED;
			a->decided = true;
		} else if (rc) {
			if (err)
				*err = e;
			return rc;
		}
	}
	return 0;
}

int trial_run(struct trial_arm *arm, unsigned arms, const struct trial_options *o, struct err *err)
{
	uint64_t random = o->seed;
	unsigned left = 1, at[LOOKS] = { o->blocks * 3 / 10, o->blocks / 2, o->blocks * 7 / 10, o->blocks };
	int rc = check(o, arms, err);
	if (rc)
		return rc;
	start(arm, arms);
	for (unsigned done = 1; done <= o->blocks && left; done++) {
		rc = round_of(arm, arms, o, &random, &left, err);
		if (rc)
			break;
		for (unsigned l = 0; l < LOOKS; l++)
			for (unsigned i = 0; done == at[l] && i < arms; i++)
				if (!arm[i].decided)
					look(&arm[i], arms, DECIDING, l > 0, l == LOOKS - 1, o);
	}
	if (rc < 0)
		return rc;
	double p[TRIAL_ARMS];
	for (unsigned i = 0; i < arms; i++)
		p[i] = arm[i].p;
	holm(p, arms);
	for (unsigned i = 0; i < arms; i++) {
		arm[i].p = p[i];
		if (arm[i].decided && arm[i].verdict != TRIAL_UNDECIDED)
			continue;
		measure(&arm[i], o);	/* also for one that ran out of time */
		if (p[i] <= o->level)
			arm[i].verdict = gain_or(&arm[i], o);
	}
	return 0;
}

int trial_confirm(struct trial_arm *arm, const struct trial_options *o, struct err *err)
{
	uint64_t random = o->seed;
	unsigned left = 1;
	int rc = check(o, 1, err);
	if (rc)
		return rc;
	start(arm, 1);
	for (unsigned done = 0; done < o->blocks && left; done++) {
		rc = round_of(arm, 1, o, &random, &left, err);
		if (rc < 0)
			return rc;
		if (rc) {
			measure(arm, o);	/* out of time: not confirmed */
			return 0;
		}
	}
	if (!arm->decided)
		look(arm, 1, 1, true, true, o);
	return 0;
}

const char *trial_verdict_name(enum trial_verdict v)
{
	static const char *const name[] = {
		[TRIAL_UNDECIDED] = "undecided",
		[TRIAL_GAIN] = "gain",
		[TRIAL_NONE] = "none",
		[TRIAL_TRADE] = "trade",
		[TRIAL_FAILED] = "failed",
	};
	return name[v];
}
