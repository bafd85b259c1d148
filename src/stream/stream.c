/* SPDX-License-Identifier: GPL-2.0-or-later
 * The one interface to the sources: live, a file, a hub.  Saves a live stream while it passes on to the reader.
 */
#include "stream/stream_hub.h"
#include "stream/stream_internal.h"
#include <stdlib.h>
#include <string.h>

struct stream {
	struct live *live;		/* one of these three is set */
	struct trace_reader *file;
	struct stream_hub *hub;
	unsigned reader;		/* of the hub */
	struct trace_writer *save;	/* NULL: not saved, or saving has ended */
	bool held;			/* `span` was taken but not yet delivered, because saving it failed */
	struct stream_span span;
	bool detached;
	char broken[512];		/* the live stream's first error; the saved file's end repeats it */
	struct err unsaid;		/* an error of stream_detach, which cannot return it: stream_next does */
};

int stream_launch(struct stream **out, const struct stream_launch *how, struct err *err)
{
	struct stream *s = calloc(1, sizeof *s);
	int r;
	*out = NULL;
	if (!s)
		return err_set(err, ERR_NOMEM, "out of memory");
	struct program p;		/* check first: a program that cannot run must not destroy an old trace */
	if (how->save && how->argv && how->argv[0] && (r = program_find(&p, how->argv[0], err))) {
		free(s);
		return r;
	}
	if ((how->save && (r = trace_writer_open(&s->save, how->save, false, err))) ||
		(r = live_launch(&s->live, how, err))) {
		trace_writer_close(s->save);
		free(s);
		return r;
	}
	*out = s;
	return 0;
}

int stream_open(struct stream **out, const char *path, struct err *err)
{
	struct stream *s = calloc(1, sizeof *s);
	*out = NULL;
	if (!s)
		return err_set(err, ERR_NOMEM, "out of memory");
	int r = trace_reader_open(&s->file, path, err);
	if (r)
		free(s);
	else
		*out = s;
	return r;
}

int stream_open_parts(struct stream **out, const char *path, stream_takes *takes, void *context, struct err *err)
{
	const int r = stream_open(out, path, err);
	if (!r)
		trace_reader_parts((*out)->file, takes, context);
	return r;
}

int stream_hub_join(struct stream **out, struct stream_hub *h, unsigned reader, struct err *err)
{
	struct stream *s = calloc(1, sizeof *s);
	*out = s;
	if (!s)
		return err_set(err, ERR_NOMEM, "out of memory");
	s->hub = h;
	s->reader = reader;
	return 0;
}

/* Writes the end marker and closes the recording; returns 0 or an error. */
static int finish_saving(struct stream *s, enum trace_end how, struct err *err)
{
	int r = 0;
	if (s->save) {
		if (s->broken[0])
			how = TRACE_END_FAILED;
		r = trace_writer_end(s->save, how, live_wait_status(s->live), s->broken, err);
		trace_writer_close(s->save);
		s->save = NULL;
	}
	return r;
}

static void stop_saving(struct stream *s)
{
	trace_writer_close(s->save);
	s->save = NULL;
}

int stream_next(struct stream *s, struct stream_span *span, struct err *err)
{
	struct err mine = { 0 };
	int r, failed = 0;
	if (s->file)
		return trace_reader_next(s->file, span, err);
	if (s->hub)
		return stream_hub_next(s->hub, s->reader, span, err);
	if (s->unsaid.code) {
		r = s->unsaid.code;
		if (err)
			*err = s->unsaid;
		s->unsaid.code = 0;
		return r;
	}
	if (s->held) {
		s->held = false;
		*span = s->span;
		return STREAM_SPAN;
	}
	r = live_next(s->live, span, &mine);
	if (r < 0) {
		if (!s->broken[0])
			memcpy(s->broken, mine.text, sizeof s->broken - 1);
		if (err)
			*err = mine;
		return r;
	}
	if (!s->save)
		return r;
	if (r == STREAM_SPAN)
		failed = trace_writer_span(s->save, span, err);
	else if (r == STREAM_IDLE)
		failed = trace_writer_idle(s->save, err);
	else
		failed = finish_saving(s, TRACE_END_WHOLE, err);
	if (!failed)
		return r;
	stop_saving(s);
	if (r == STREAM_SPAN) {
		s->held = true;
		s->span = *span;
	}
	return failed;
}

void stream_answer(struct stream *s, uint32_t process, const struct st_answer *answer)
{
	if (s->live)
		live_answer(s->live, process, answer);
}

void stream_detach(struct stream *s)
{
	if (s->file)
		trace_reader_skip(s->file);
	if (s->hub)		/* the others need not wait for it */
		stream_hub_leave(s->hub, s->reader);
	if (!s->live || s->detached)
		return;
	s->detached = true;
	s->held = false;
	finish_saving(s, TRACE_END_CLOSED, &s->unsaid);
	live_detach(s->live);
}

void stream_kill(struct stream *s, int signo)
{
	if (s->live)
		live_kill(s->live, signo);
}

int stream_wait_status(const struct stream *s)
{
	return s->hub ? stream_hub_wait_status(s->hub) : s->live ? live_wait_status(s->live)
		: trace_reader_wait_status(s->file);
}

double stream_share(const struct stream *s)
{
	return s->hub ? stream_hub_share(s->hub) : s->live ? -1 : trace_reader_share(s->file);
}

int stream_pid(const struct stream *s)
{
	return s->live ? live_pid(s->live) : 0;
}

void stream_close(struct stream *s)
{
	if (!s)
		return;
	if (s->live)
		finish_saving(s, TRACE_END_CLOSED, NULL);
	if (s->hub)
		stream_hub_leave(s->hub, s->reader);
	trace_reader_close(s->file);
	live_close(s->live);
	free(s);
}
