/* SPDX-License-Identifier: GPL-2.0-or-later
 * The search for the settings of a machine's features that a program runs best with.
 *
 * It knows features by their names and levels, and a run as two figures, cycles and energy; whoever has the machine measures, many configurations at
 * a time.  What is asked for next depends on figures alone, never on the order in which they came: same figures, same choice.
 *
 *   one at a time   each feature by itself; a size goes down as long as that gains
 *   together        all that gained at once, and each group of features that do alike (the prefetchers), which may hide what the others cost
 *   pairs           if that is not what the single gains would make: the interaction of two is what both gain beyond the product of their gains
 *   greedy          from the best so far, what promises most by gains and interactions; then without each, and without what gains next to nothing
 *
 * A feature that cannot save the threshold, by what its events cost (limit), is not run at all.  Of all that was measured the choice is the configuration
 * with the fewest changes that is within the threshold of the best: a change that buys less is not made.
 * exhaustive: every configuration instead, as the yardstick.
 *
 * Leaves out: features whose gain shows only together with others outside their group (no single gain, no run of the two).
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
	const char *level[TUNE_LEVELS];	/* [0]: as the preset has it */
	unsigned levels;
	bool ordered;			/* each level is less than the one before */
	unsigned group;			/* those of the same one do alike; 0: none */
	double limit;			/* share of the objective that it can save at most; 1: not known */
};

enum tune_objective { TUNE_CYCLES, TUNE_ENERGY, TUNE_EDP, TUNE_ENERGY_WITHIN };
struct tune_goal {
	enum tune_objective what;
	double within;			/* TUNE_ENERGY_WITHIN: of the best time, 0.01 for 1 % */
	double threshold;		/* share of the objective that a change must buy */
};

struct tune_set { uint8_t level[TUNE_FEATURES]; };
#define TUNE_STAGES(X) X(PRESET, "preset") X(SINGLE, "single") X(TOGETHER, "together") X(GROUP, "group") X(PAIR, "pair") X(GREEDY, "greedy") X(WITHOUT, "without") \
	X(EXHAUSTIVE, "exhaustive")
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
	double cycles, energy;		/* filled in by the measurement */
	struct energy_activity activity;
};
struct tune_pair { unsigned a, b; double gain_a, gain_b, gain_both, interaction; };	/* of features; shares of the preset's objective */

/* Measures n configurations, in any order, all of them: 0, or an error, which ends the search. */
typedef int tune_measure(void *context, struct tune_try *tries, size_t n, struct err *err);

struct tune;
/* The features are kept by reference.  preset: the run of the machine as it is. */
int  tune_create(struct tune **out, const struct tune_feature *f, unsigned features, const struct tune_goal *goal, const struct tune_try *preset,
		 tune_measure *measure, void *context, struct err *err);
void tune_destroy(struct tune *t);
int  tune_search(struct tune *t, struct err *err);
/* Configurations that there are, pruned features included. */
double tune_space(const struct tune *t);
/* All of them: ERR_INPUT if they are more than `most`. */
int  tune_exhaustive(struct tune *t, double most, struct err *err);
bool tune_pruned(const struct tune *t, unsigned feature);

/* Everything that was measured, the preset first. */
const struct tune_try *tune_tries(const struct tune *t, size_t *count);
const struct tune_pair *tune_pairs(const struct tune *t, size_t *count);
const struct tune_try *tune_choice(const struct tune *t);
/* A feature by itself at its best level; NULL: it was not run. */
const struct tune_try *tune_single(const struct tune *t, unsigned feature);
/* The objective, the preset's being 1; what is too slow for TUNE_ENERGY_WITHIN is above 1000. */
double tune_value(const struct tune *t, const struct tune_try *r);
/* "feature=level,feature=level", in the features' order; "" for the preset.  malloc'd; NULL: out of memory. */
char *tune_text(const struct tune_feature *f, unsigned features, const struct tune_set *s);
#endif
