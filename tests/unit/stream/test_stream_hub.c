/* SPDX-License-Identifier: GPL-2.0-or-later
 * A hub gives each of its readers the whole file, in order, also if another reader stops early. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>
#include "stream/stream_hub.h"
#include "stream/stream_internal.h"
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { READERS = 3, SPANS = 500, WORDS = 1000 };
static char path[] = "/tmp/test-hub-XXXXXX";

static void write_file(void)
{
	struct trace_writer *w;
	uint64_t words[WORDS];
	struct err err;
	const int fd = mkstemp(path);
	assert_true(fd >= 0);
	close(fd);
	assert_int_equal(trace_writer_open(&w, path, false, &err), 0);
	for (uint64_t i = 0; i < SPANS; i++) {
		for (uint64_t k = 0; k < WORDS; k++)
			words[k] = i * WORDS + k;
		assert_int_equal(trace_writer_span(w, &(struct stream_span){ 0, 7, words, WORDS }, &err), 0);
	}
	assert_int_equal(trace_writer_end(w, TRACE_END_WHOLE, 0x300, NULL, &err), 0);
	trace_writer_close(w);
}

struct reading { struct stream_hub *hub; unsigned reader; uint64_t stop, words; bool wrong; int end; };

static void *read_all(void *argument)
{
	struct reading *r = argument;
	struct stream *s;
	struct stream_span span;
	struct err err;
	if (stream_hub_join(&s, r->hub, r->reader, &err))
		return NULL;
	while ((r->end = stream_next(s, &span, &err)) == STREAM_SPAN) {
		for (size_t i = 0; i < span.count; i++)
			r->wrong |= span.words[i] != r->words++;
		if (r->stop && r->words >= r->stop)
			stream_detach(s);
	}
	r->wrong |= !r->stop && stream_wait_status(s) != 0x300;
	stream_close(s);
	return NULL;
}

static void test_every_reader_gets_all_of_the_file(void **state)
{
	(void)state;
	struct reading r[READERS] = { 0 };
	pthread_t thread[READERS];
	struct err err;
	struct stream_hub *h;
	assert_int_equal(stream_hub_create(&h, path, READERS, &err), 0);
	for (unsigned i = 0; i < READERS; i++) {
		r[i] = (struct reading){ .hub = h, .reader = i, .stop = i == 1 ? 2 * WORDS : 0 };
		assert_int_equal(pthread_create(&thread[i], NULL, read_all, &r[i]), 0);
	}
	stream_hub_feed(h);
	for (unsigned i = 0; i < READERS; i++) {
		pthread_join(thread[i], NULL);
		assert_false(r[i].wrong);
		assert_int_equal(r[i].end, STREAM_END);
		assert_int_equal(r[i].words, i == 1 ? 2 * WORDS : SPANS * WORDS);
	}
	stream_hub_destroy(h);
}

static void test_without_readers_feeding_ends(void **state)
{
	(void)state;
	struct err err;
	struct stream_hub *h;
	assert_int_equal(stream_hub_create(&h, path, 1, &err), 0);
	stream_hub_leave(h, 0);
	stream_hub_feed(h);
	stream_hub_destroy(h);
}

static void test_a_cut_file_is_every_readers_error(void **state)
{
	(void)state;
	struct err err;
	struct stream_hub *h;
	struct stream_span span;
	struct stream *s;
	assert_int_equal(truncate(path, 1000), 0);
	assert_int_equal(stream_hub_create(&h, path, 1, &err), 0);
	stream_hub_feed(h);
	assert_int_equal(stream_hub_join(&s, h, 0, &err), 0);
	assert_int_equal(stream_next(s, &span, &err), ERR_TRUNCATED);
	assert_int_equal(stream_next(s, &span, &err), STREAM_END);
	stream_close(s);
	stream_hub_destroy(h);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_every_reader_gets_all_of_the_file),
		cmocka_unit_test(test_without_readers_feeding_ends),
		cmocka_unit_test(test_a_cut_file_is_every_readers_error),
	};
	write_file();
	const int failed = cmocka_run_group_tests(tests, NULL, NULL);
	unlink(path);
	return failed;
}
