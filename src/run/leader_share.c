/* SPDX-License-Identifier: GPL-2.0-or-later
 * One leader for several runs (leader_share.h).
 */
#include "run/leader_share.h"
#include <pthread.h>
#include <stdlib.h>

/* At least as often as leader_share_tell is called between two leader_share_give: lead, measured, gap. */
enum { PARTS = 4 };

struct leader_share {
	pthread_mutex_t lock;
	pthread_cond_t given, taken;
	const struct rthread *thread;	/* whose state is there; NULL: of none */
	uint64_t now;
	uint64_t number;		/* how often it was given */
	unsigned followers, due;	/* left; that have not taken it yet */
	bool ended, failed;
	struct core_misses misses[PARTS];	/* the last ones that were told */
	uint64_t told;
	struct { uint64_t taken, heard; bool left; } follower[];
};

int leader_share_create(struct leader_share **out, unsigned followers, struct err *err)
{
	struct leader_share *s = calloc(1, sizeof *s + followers * sizeof *s->follower);
	*out = s;
	if (!s)
		return err_set(err, ERR_NOMEM, "out of memory for replays");
	s->followers = followers;
	pthread_mutex_init(&s->lock, NULL);
	pthread_cond_init(&s->given, NULL);
	pthread_cond_init(&s->taken, NULL);
	return 0;
}

void leader_share_destroy(struct leader_share *s)
{
	if (!s)
		return;
	pthread_mutex_destroy(&s->lock);
	pthread_cond_destroy(&s->given);
	pthread_cond_destroy(&s->taken);
	free(s);
}

void leader_share_give(struct leader_share *s, const struct rthread *t, uint64_t now)
{
	pthread_mutex_lock(&s->lock);
	s->thread = t;
	s->now = now;
	s->number++;
	s->due = s->followers;
	pthread_cond_broadcast(&s->given);
	while (s->due)
		pthread_cond_wait(&s->taken, &s->lock);
	s->thread = NULL;
	pthread_mutex_unlock(&s->lock);
}

void leader_share_tell(struct leader_share *s, const struct core_misses *misses)
{
	pthread_mutex_lock(&s->lock);
	s->misses[s->told++ % PARTS] = *misses;
	pthread_cond_broadcast(&s->given);
	pthread_mutex_unlock(&s->lock);
}

bool leader_share_misses(struct leader_share *s, unsigned follower, struct core_misses *misses)
{
	pthread_mutex_lock(&s->lock);
	const uint64_t n = s->follower[follower].heard++;
	while (n >= s->told && !s->ended)
		pthread_cond_wait(&s->given, &s->lock);
	const bool there = n < s->told;
	if (there)
		*misses = s->misses[n % PARTS];
	pthread_mutex_unlock(&s->lock);
	return there;
}

void leader_share_end(struct leader_share *s, bool failed)
{
	pthread_mutex_lock(&s->lock);
	s->ended = true;
	s->failed |= failed;
	pthread_cond_broadcast(&s->given);
	pthread_mutex_unlock(&s->lock);
}

bool leader_share_failed(struct leader_share *s)
{
	pthread_mutex_lock(&s->lock);
	const bool failed = s->failed;
	pthread_mutex_unlock(&s->lock);
	return failed;
}

/* A follower has what is given now, or does without.  Under the lock. */
static void done(struct leader_share *s)
{
	if (s->due && !--s->due)
		pthread_cond_signal(&s->taken);
}

const struct rthread *leader_share_take(struct leader_share *s, unsigned follower, const struct rthread *t,
	uint64_t *now)
{
	const struct rthread *from = NULL;
	pthread_mutex_lock(&s->lock);
	while (s->number == s->follower[follower].taken && !s->ended)
		pthread_cond_wait(&s->given, &s->lock);
	if (s->number != s->follower[follower].taken) {
		s->follower[follower].taken = s->number;
		from = s->thread;
		*now = s->now;
	}
	if (from && (from->process->index != t->process->index || from->index != t->index ||
			from->sample.done != t->sample.done)) {
		from = NULL;
		s->failed = true;
		done(s);
	}
	pthread_mutex_unlock(&s->lock);
	return from;
}

void leader_share_taken(struct leader_share *s)
{
	pthread_mutex_lock(&s->lock);
	done(s);
	pthread_mutex_unlock(&s->lock);
}

void leader_share_leave(struct leader_share *s, unsigned follower)
{
	pthread_mutex_lock(&s->lock);
	if (!s->follower[follower].left) {
		s->follower[follower].left = true;
		s->followers--;
		if (s->follower[follower].taken != s->number)	/* what is given now waits for it */
			done(s);
	}
	pthread_mutex_unlock(&s->lock);
}
