/* SPDX-License-Identifier: GPL-2.0-or-later
 * The search for the feature settings with which a program runs best.
 *
 * The search knows features by name and levels, and a run by two figures, cycles and energy.  The caller, who
 * has the machine, measures many configurations at a time.  What is measured next depends only on figures, never
 * on the order in which they arrived: the same figures give the same choice.
 *
 *   one at a time   each feature alone; a size goes down as long as that gains
 *   together        everything that gained, together; and each group of similar features (the prefetchers),
 *                   because one may hide what the others cost
 *   pairs           if that differs from what the single gains predict: the interaction of two features is their
 *                   common gain beyond the product of their gains
 *   greedy          starting from the best so far, the feature that promises most by gains and interactions; then
 *                   without each one, and without those that gain almost nothing
 *
 * A feature that cannot save the threshold, judged by the cost of its events (limit), is not run at all.  The
 * choice is the measured configuration with the fewest changes that is within the threshold of the best: a
 * change that gains less is not made.  Exhaustive search measures every configuration instead, as a yardstick.
 *
 * Leaves out: features that gain only together with features outside their group, and not alone.
 */
#ifndef ANALYSIS_TUNE_MODEL_H
#define ANALYSIS_TUNE_MODEL_H
#include "analysis/cost/energy.h"
#include "util/err.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { TUNE_FEATURES = 128, TUNE_LEVELS = 8 };
struct tune_feature {
	const char *name;
	const char *level[TUNE_LEVELS];	/* [0]: the preset's */
	unsigned levels;
	bool ordered;			/* each level is less than the one before */
	unsigned group;			/* features of the same group are similar; 0: no group */
	double limit;			/* the largest share of the objective that it can save; 1: not known */
};

enum tune_objective { TUNE_CYCLES, TUNE_ENERGY, TUNE_EDP, TUNE_ENERGY_WITHIN };
struct tune_goal {
	enum tune_objective what;
	double within;			/* TUNE_ENERGY_WITHIN: how much slower than the best time; 0.01 for 1 % */
	double threshold;		/* share of the objective that a change must gain */
};

#define TUNE_NOTHING 0.1	/* share of the threshold: what gains less does not count as a gain */

struct tune_set { uint8_t level[TUNE_FEATURES]; };
#define TUNE_STAGES(X) \
	X(PRESET, "preset") X(SINGLE, "single") X(TOGETHER, "together") X(GROUP, "group") \
	X(PAIR, "pair") X(GREEDY, "greedy") X(WITHOUT, "without") X(EXHAUSTIVE, "exhaustive")
enum tune_stage {
#define X(name, text) TUNE_##name,
	TUNE_STAGES(X)
#undef X
	TUNE_STAGES_COUNT
};
extern const char *const tune_stage_name[TUNE_STAGES_COUNT];
struct tune_try {
	struct tune_set set;
	enum tune_stage stage;
	double cycles, energy;		/* the measurement fills these in */
	/* of cycles: half of the width of the 95 % interval of their share of the preset's; 0: exact; NaN: unknown */
	double half;
	struct energy_activity activity;
};
/* a, b: features; gains: shares of the preset's objective */
struct tune_pair { unsigned a, b; double gain_a, gain_b, gain_both, interaction; };

/* Measures all n configurations, in any order. 0, or an error, which ends the search. */
typedef int tune_measure(void *context, struct tune_try *tries, size_t n, struct err *err);

struct tune;
/* The caller keeps the features alive.  preset: the run of the unchanged machine. */
int tune_create(struct tune **out, const struct tune_feature *f, unsigned features, const struct tune_goal *goal,
	const struct tune_try *preset, tune_measure *measure, void *context, struct err *err);
void tune_destroy(struct tune *t);
int  tune_search(struct tune *t, struct err *err);
/* Number of possible configurations, with pruned features. */
double tune_space(const struct tune *t);
/* Measures all configurations.  ERR_INPUT if there are more than `most`. */
int  tune_exhaustive(struct tune *t, double most, struct err *err);
bool tune_pruned(const struct tune *t, unsigned feature);

/* Everything that was measured; the preset is first. */
const struct tune_try *tune_tries(const struct tune *t, size_t *count);
const struct tune_pair *tune_pairs(const struct tune *t, size_t *count);
const struct tune_try *tune_choice(const struct tune *t);
/* The objective, relative to the preset's; above 1000 if too slow for TUNE_ENERGY_WITHIN. */
double tune_value(const struct tune *t, const struct tune_try *r);
/* "feature=level,feature=level" in the features' order; "" for the preset. malloc'd; NULL: out of memory. */
char *tune_text(const struct tune_feature *f, unsigned features, const struct tune_set *s);
#endif
