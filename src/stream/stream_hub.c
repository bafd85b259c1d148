/* SPDX-License-Identifier: GPL-2.0-or-later
 * One stream for several readers (stream_hub.h): a ring of copied spans.
 */
#include "stream/stream_hub.h"
#include "stream/stream_internal.h"
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

enum { HUB_SLOTS = 64 };

struct slot {
	int state;			/* what stream_next returned */
	struct stream_span span;
	struct err err;
	uint64_t words[ST_CHUNK_BYTES / 8];
};

struct reader { uint64_t at; bool holds, gone; };

struct stream_hub {
	struct trace_reader *file;
	pthread_mutex_t lock;
	pthread_cond_t filled, emptied;
	uint64_t head;			/* slots filled so far */
	bool ended;			/* the last of them is the end */
	int wait_status;
	double share;
	unsigned readers;
	struct reader *reader;
	struct slot slot[HUB_SLOTS];
};

int stream_hub_create(struct stream_hub **out, const char *path, unsigned readers, struct err *err)
{
	struct stream_hub *h = calloc(1, sizeof *h);
	*out = NULL;
	if (!h)
		return err_set(err, ERR_NOMEM, "out of memory for a stream");
	pthread_mutex_init(&h->lock, NULL);
	pthread_cond_init(&h->filled, NULL);
	pthread_cond_init(&h->emptied, NULL);
	h->readers = readers;
	h->reader = calloc(readers + 1, sizeof *h->reader);
	const int rc = h->reader ? trace_reader_open(&h->file, path, err)
		: err_set(err, ERR_NOMEM, "out of memory for a stream");
	if (rc)
		stream_hub_destroy(h);
	else
		*out = h;
	return rc;
}

void stream_hub_destroy(struct stream_hub *h)
{
	if (!h)
		return;
	trace_reader_close(h->file);
	pthread_mutex_destroy(&h->lock);
	pthread_cond_destroy(&h->filled);
	pthread_cond_destroy(&h->emptied);
	free(h->reader);
	free(h);
}

/* The slots that every reader has done with; UINT64_MAX: no reader is left.  Under the lock. */
static uint64_t done(const struct stream_hub *h)
{
	uint64_t least = UINT64_MAX;
	for (unsigned i = 0; i < h->readers; i++)
		if (!h->reader[i].gone && h->reader[i].at < least)
			least = h->reader[i].at;
	return least;
}

/* Waits for a slot.  NULL: no reader is left. */
static struct slot *room(struct stream_hub *h)
{
	pthread_mutex_lock(&h->lock);
	while (h->head >= HUB_SLOTS && done(h) <= h->head - HUB_SLOTS)
		pthread_cond_wait(&h->emptied, &h->lock);
	const bool any = done(h) < UINT64_MAX;
	pthread_mutex_unlock(&h->lock);
	return any ? &h->slot[h->head % HUB_SLOTS] : NULL;
}

void stream_hub_feed(struct stream_hub *h)
{
	for (struct slot *s; !h->ended && (s = room(h)); ) {
		s->err = (struct err){ 0 };
		s->state = trace_reader_next(h->file, &s->span, &s->err);
		if (s->state == STREAM_SPAN) {
			memcpy(s->words, s->span.words, s->span.count * sizeof *s->words);
			s->span.words = s->words;
		}
		pthread_mutex_lock(&h->lock);
		h->ended = s->state == STREAM_END;
		h->wait_status = trace_reader_wait_status(h->file);
		h->share = trace_reader_share(h->file);
		h->head++;
		pthread_cond_broadcast(&h->filled);
		pthread_mutex_unlock(&h->lock);
	}
}

void stream_hub_leave(struct stream_hub *h, unsigned reader)
{
	pthread_mutex_lock(&h->lock);
	h->reader[reader].gone = true;
	pthread_cond_signal(&h->emptied);
	pthread_mutex_unlock(&h->lock);
}

int stream_hub_next(struct stream_hub *h, unsigned reader, struct stream_span *span, struct err *err)
{
	struct reader *r = &h->reader[reader];
	pthread_mutex_lock(&h->lock);
	if (r->holds) {		/* it has done with the span before */
		r->holds = false;
		r->at++;
		pthread_cond_signal(&h->emptied);
	}
	while (!r->gone && h->head == r->at)
		pthread_cond_wait(&h->filled, &h->lock);
	const bool gone = r->gone;
	pthread_mutex_unlock(&h->lock);
	const struct slot *s = &h->slot[r->at % HUB_SLOTS];
	if (gone || s->state == STREAM_END)
		return STREAM_END;
	r->holds = true;
	if (s->state == STREAM_SPAN)
		*span = s->span;
	else if (err)
		*err = s->err;
	return s->state;
}

int stream_hub_wait_status(struct stream_hub *h)
{
	pthread_mutex_lock(&h->lock);
	const int status = h->wait_status;
	pthread_mutex_unlock(&h->lock);
	return status;
}

double stream_hub_share(struct stream_hub *h)
{
	pthread_mutex_lock(&h->lock);
	const double share = h->share;
	pthread_mutex_unlock(&h->lock);
	return share;
}
