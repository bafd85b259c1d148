/* SPDX-License-Identifier: GPL-2.0-or-later
 * One leader (sample.h) for the machines of several runs of one stream, which run together (together.h).
 *
 * One of the runs has the leader.  At the beginning of each window it gives the leader's state, and waits until all
 * other runs, the followers, have taken it over.  Between windows these only count instructions.  All runs have the
 * same windows, in the same order, because their places depend on the stream alone.
 * The clock of the run that leads holds for the followers, too: what depends on time in the state (lines of L3 that
 * others take) goes with it.
 */
#ifndef RUN_LEADER_SHARE_H
#define RUN_LEADER_SHARE_H
#include "run/threads/process.h"

struct leader_share;

/* ERR_NOMEM. */
int  leader_share_create(struct leader_share **out, unsigned followers, struct err *err);
void leader_share_destroy(struct leader_share *s);	/* NULL: nothing */

/* The run that leads: a window of this thread begins at cycle `now`.  Returns when the followers have the state. */
void leader_share_give(struct leader_share *s, const struct rthread *t, uint64_t now);
/* What its leader has missed (core_warm_misses), where a part of the window, or the gap behind it, begins. */
void leader_share_tell(struct leader_share *s, const struct core_misses *misses);
/* It has ended; failed: with an error. */
void leader_share_end(struct leader_share *s, bool failed);

/* A follower: a window of thread t begins.  Waits for the thread of the run that leads, whose process and leaders stay
 * as they are until leader_share_taken.  NULL: there is none, because that run has ended, or is at another place. */
const struct rthread *leader_share_take(struct leader_share *s, unsigned follower, const struct rthread *t,
	uint64_t *now);
void leader_share_taken(struct leader_share *s);
/* What leader_share_tell said at the place where the follower is now.  False: the run that leads ended before. */
bool leader_share_misses(struct leader_share *s, unsigned follower, struct core_misses *misses);
void leader_share_leave(struct leader_share *s, unsigned follower);
bool leader_share_failed(struct leader_share *s);
#endif
