/* SPDX-License-Identifier: GPL-2.0-or-later
 * Compares settings with none, on a machine that does other things, too, by a rule that is fixed before the first
 * run.
 *
 * A block of a setting is four runs of the program: without, with, with, without (ABBA) or the reverse; a coin
 * decides for each block.  Its difference is the logarithm of the better time without over the better time with:
 * other work on the machine only adds to a time, and seldom to both of two.  Whatever that work is, a setting
 * without effect has a difference that is as likely as its negative, because of the coin.  The signed-rank test
 * (signed_rank.h) needs no more. A round is one block of each undecided setting, in an order of its own.
 *
 * There are four looks at the results: after three, five and seven tenths of the blocks, and at the end.  The
 * first only removes settings that can no longer reach the least worthwhile gain (their whole interval is below
 * it).  Each of the others gets a third of the level, so that looking often does not turn noise into a gain, and
 * Holm's procedure divides it among the settings.  If nothing gains, the chance that any setting is chosen is at
 * most `level`. The intervals are those of one setting at one look; they are not widened for the others.
 *
 * CPU and wall time of every run are kept.  A setting that gains in one and is surely worse in the other is not a
 * gain.
 *
 * Left out: effects of one setting on another's; but trial_confirm measures the chosen set as a whole.
 */
#ifndef NATIVE_TRIAL_H
#define NATIVE_TRIAL_H
#include "native/signed_rank.h"
#include "util/err.h"
#include <stdbool.h>
#include <stdint.h>

enum { TRIAL_ARMS = 64, TRIAL_LEAST_BLOCKS = 10, TRIAL_BLOCKS = 20, TRIAL_AS_IT_IS = -1 };

struct trial_times { double cpu, wall; };		/* seconds; cpu: user and system of all processes of the run */
enum trial_measure { TRIAL_CPU, TRIAL_WALL, TRIAL_MEASURES };
enum trial_verdict {
	TRIAL_UNDECIDED,	/* its effect is smaller than what the noise would hide */
	TRIAL_GAIN,
	/* below the least gain, or a loss.  (The interval of a loss is not corrected; nothing depends on it.) */
	TRIAL_NONE,
	TRIAL_TRADE,		/* gains in the time measured, but loses in the other */
	TRIAL_FAILED,		/* the program did not behave with it as it does without: why[] */
};
/* share of the time saved; its 95 % interval, from -infinity to 1 if unknown */
struct trial_effect { double gain, low, high; };
struct trial_arm {
	enum trial_verdict verdict;
	unsigned blocks;
	struct trial_effect effect[TRIAL_MEASURES];
	double p;		/* for the time measured; corrected for the looks and, by Holm, for all arms */
	char why[160];
	/* private */
	double difference[TRIAL_MEASURES][SIGNED_RANK_MOST];
	bool decided;
};

struct trial_options {
	enum trial_measure measure;
	/* level: chance of any false gain, 0.05; least: smaller gains, as a part of the time, count as none, 0.01 */
	double level, least;
	unsigned blocks;	/* for each arm, TRIAL_LEAST_BLOCKS to SIGNED_RANK_MOST */
	uint64_t seed;
	/* Runs the program once under arm (TRIAL_AS_IT_IS: none).  The four runs of a block get the same number.
	 * Returns 0; TRIAL_REFUSED: this arm cannot be measured, err says why; TRIAL_ENOUGH: the time is up;
	 * negative: an error that ends all. */
	int (*run)(void *context, int arm, uint64_t block, struct trial_times *t, struct err *err);
	void *context;
};
enum { TRIAL_REFUSED = 1, TRIAL_ENOUGH = 2 };

/* Fills arm[0..arms).  Returns 0, or an error of run or of the options. */
int trial_run(struct trial_arm *arm, unsigned arms, const struct trial_options *o, struct err *err);
/* Measures one arm, number 0, with all its blocks and one look at the end: so the figure is not selected for
 * looking good. */
int trial_confirm(struct trial_arm *arm, const struct trial_options *o, struct err *err);
const char *trial_verdict_name(enum trial_verdict v);
#endif
