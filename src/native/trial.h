/* SPDX-License-Identifier: GPL-2.0-or-later
 * Settings tried against none on a machine that does other things too, by a rule that was fixed before the first run.
 *
 * A block of a setting is four runs of the program: without, with, with, without (ABBA) or the reverse, as a coin says that belongs to the block.
 * Its difference is the logarithm of the better time without over the better time with: what else the machine does only adds to a time, and
 * seldom to both of two.  Whatever it does, a setting that changes nothing has a difference that is as likely as its negative: the coin made it so.
 * The signed-rank test (signed_rank.h) needs no more.
 * A round is one block of each setting that is not decided, in an order of its own.
 *
 * Looks: after three, five and seven tenths of the blocks and at the end.  The first only sorts out what can no longer reach the least gain worth having
 * (its whole interval is below); each of the others gets a third of the level, so that looking often does not make a gain of noise, and Holm's
 * procedure divides it among the settings.  The chance that a program which gains from nothing is given any setting is at most `level`.
 * The intervals are those of one setting at one look, and not widened for the others.
 *
 * Both times are kept of every run.  A setting that gains in the one and is surely worse in the other is no gain.
 *
 * Left out: effects of one setting on another's, but that the chosen set is measured as a whole by trial_confirm.
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
	TRIAL_UNDECIDED,	/* what it does is less than what the noise would hide */
	TRIAL_GAIN,
	TRIAL_NONE,		/* less than the least gain, or a loss: what the interval says of losses is not corrected, and nothing depends on it */
	TRIAL_TRADE,		/* gains in the time measured, and loses in the other */
	TRIAL_FAILED,		/* the program did not run under it as it does without: why[] */
};
struct trial_effect { double gain, low, high; };	/* part of the time saved; its 95 % interval, from -infinity to 1 if unknown */
struct trial_arm {
	enum trial_verdict verdict;
	unsigned blocks;
	struct trial_effect effect[TRIAL_MEASURES];
	double p;		/* of the time measured, corrected for the looks and, by Holm, for all arms */
	char why[160];
	/* private */
	double difference[TRIAL_MEASURES][SIGNED_RANK_MOST];
	bool decided;
};

struct trial_options {
	enum trial_measure measure;
	double level, least;	/* 0.05: of any false gain; 0.01: a gain below this part of the time is none */
	unsigned blocks;	/* of an arm, TRIAL_LEAST_BLOCKS to SIGNED_RANK_MOST */
	uint64_t seed;
	/* Runs the program once under arm (TRIAL_AS_IT_IS: none).  The four runs of a block have the same number.
	 * 0; TRIAL_REFUSED: this arm cannot be measured, err says why; TRIAL_ENOUGH: no more time; negative: all ends. */
	int (*run)(void *context, int arm, uint64_t block, struct trial_times *t, struct err *err);
	void *context;
};
enum { TRIAL_REFUSED = 1, TRIAL_ENOUGH = 2 };

/* Fills arm[0..arms).  0 or an error, of run or of the options. */
int trial_run(struct trial_arm *arm, unsigned arms, const struct trial_options *o, struct err *err);
/* One arm, number 0, all blocks of it and one look at the end: the figure is not of those that happened to look good. */
int trial_confirm(struct trial_arm *arm, const struct trial_options *o, struct err *err);
const char *trial_verdict_name(enum trial_verdict v);
#endif
