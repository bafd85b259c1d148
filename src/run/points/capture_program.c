/* SPDX-License-Identifier: GPL-2.0-or-later
 * Makes a file of live points of a program (capture_program.h).
 */
#include "run/points/capture_program.h"
#include "run/points/capture.h"
#include "run/runner.h"
#include "run/sample.h"
#include "softpmu/client.h"
#include <time.h>

struct capturing {
	const struct run_sink *sink;
	struct run_result *result;
	struct stream *stream;
	struct capture *capture;
	double last_tick;
	bool first, detached;
};

static double wall(void)
{
	struct timespec ts;
	clock_gettime(CLOCK_MONOTONIC, &ts);	/* for progress, and for wall_seconds; in no other result */
	return (double)ts.tv_sec + 1e-9 * (double)ts.tv_nsec;
}

/* A record that concerns the run itself: notes for the user, and requests that wait for an answer. */
static void noticed(void *context, uint32_t process, const uint64_t *w, size_t words)
{
	struct capturing *c = context;
	const struct st_client *q = (const struct st_client *)w;
	if (ST_HEADER_KIND(*w) == ST_NOTE)
		runner_take_note(c->result, w, words);
	if (ST_HEADER_KIND(*w) == ST_CLIENT && words * 8 >= sizeof *q && q->number)
		stream_answer(c->stream, process, &(struct st_answer){ .number = q->number,
			.status = SPMU_CLIENT_ABSENT });
}

static int open_stream(const struct run_options *o, struct stream **out, struct err *err)
{
	if (o->replay)
		return stream_open(out, o->replay, err);
	return stream_launch(out, &(struct stream_launch){ .argv = o->argv, .tracer_dir = o->tracer_dir,
		.follow = o->follow, .waits = o->waits, .regs = o->regs, .assists = o->assists, .env = o->env }, err);
}

/* A tenth of a second has passed: progress, and whether to stop. */
static void tick(struct capturing *c)
{
	const double now = wall();
	if (now - c->last_tick < 0.1)
		return;
	c->last_tick = now;
	if (c->sink->tick && c->sink->tick(c->sink->context, capture_instructions(c->capture), 0) && !c->detached) {
		stream_detach(c->stream);
		c->detached = true;
	}
}

static int span(struct capturing *c, const struct stream_span *s, struct err *err)
{
	int rc = 0;
	if (!c->first && c->sink->thread_start)
		rc = c->sink->thread_start(c->sink->context, &(struct run_thread){ .process = s->process,
			.pid = s->pid, .tid = s->pid }, err);
	c->first = true;
	return rc ? rc : c->detached ? 0 : capture_span(c->capture, s, err);
}

/* Reads the stream to its end.  An error of the stream is reported when all was read. */
static int loop(struct capturing *c, struct err *err)
{
	int failed = 0, rc = 0;
	while (!rc) {
		struct stream_span s;
		const int got = stream_next(c->stream, &s, failed ? NULL : err);
		if (got == STREAM_END)
			break;
		if (got < 0 && failed)
			rc = failed;
		else if (got < 0)
			failed = got;
		else if (got == STREAM_SPAN)
			rc = span(c, &s, failed ? NULL : err);
		tick(c);
	}
	return rc ? rc : failed;
}

int capture_program(const struct run_options *o, const struct run_sink *sink, struct run_result *result,
	struct err *err)
{
	struct capturing c = { .sink = sink, .result = result, .last_tick = wall() };
	const double started = c.last_tick;
	const struct capture_plan plan = { .sample = o->sample, .automatic = o->live_grows, .tail = CAPTURE_TAIL,
		.path = CAPTURE_PATH, .history = CAPTURE_HISTORY, .side = noticed, .context = &c };
	if (!o->sample.measured || o->sample.interval < sample_least(&o->sample))
		return err_set(err, ERR_INPUT, "a stretch of live points must be at least %d times as long as its "
			"window", RUN_SAMPLE_LEAST);
	int rc = open_stream(o, &c.stream, err);
	if (!rc)
		rc = capture_create(&c.capture, o->live_points, &plan, err);
	if (!rc)
		rc = loop(&c, err);
	if (c.stream) {
		if (rc)
			stream_kill(c.stream, 15);
		result->wait_status = stream_wait_status(c.stream);
	}
	if (c.capture) {
		const int end = capture_end(c.capture, rc ? TRACE_END_FAILED : c.detached ? TRACE_END_CLOSED
			: TRACE_END_WHOLE, result->wait_status, rc && err ? err->text : NULL, rc ? NULL : err);
		rc = rc ? rc : end;
		result->warmed = capture_instructions(c.capture);
		result->points = capture_windows(c.capture);
	}
	if (c.stream)
		stream_close(c.stream);
	capture_destroy(c.capture);
	result->wall_seconds = wall() - started;
	return rc;
}
