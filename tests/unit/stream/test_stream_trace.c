/* SPDX-License-Identifier: GPL-2.0-or-later
 * The trace file: a replay gives what was saved; files that are cut, changed or made up give whole spans and then one
 * error; a full disk does not lose what was already written.
 */
#include "stream/stream_internal.h"
#include "stream/trace_file.h"
#include "stream_producer.h"
#include <setjmp.h>
#include <stdarg.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <zstd.h>
#include <cmocka.h>

static char dir[64];

static const char *path_of(const char *name)
{
	static char path[4][128];
	static int turn;
	char *p = path[turn++ & 3];
	snprintf(p, sizeof *path, "%s/%s", dir, name);
	return p;
}

static uint8_t *slurp(const char *path, size_t *bytes)
{
	struct stat st;
	int fd = open(path, O_RDONLY);
	assert_true(fd >= 0 && !fstat(fd, &st));
	uint8_t *data = malloc((size_t)st.st_size + 1);
	assert_int_equal(read(fd, data, (size_t)st.st_size), st.st_size);
	close(fd);
	*bytes = (size_t)st.st_size;
	return data;
}

static const char *spill(const char *name, const void *data, size_t bytes)
{
	const char *p = path_of(name);
	int fd = open(p, O_WRONLY | O_CREAT | O_TRUNC, 0600);
	assert_true(fd >= 0 && write(fd, data, bytes) == (ssize_t)bytes);
	close(fd);
	return p;
}

/* Replays a file; returns the result of the last stream_next (or of stream_open). */
static int replay(const char *path, struct seen *v, struct err *err, int *status)
{
	struct stream *s;
	memset(v, 0, sizeof *v);
	err->text[0] = 0;
	int r = stream_open(&s, path, err);
	if (r)
		return r;
	r = drain(s, v, err);
	assert_null(v->wrong);
	if (r < 0) {
		struct stream_span span;
		assert_int_equal(stream_next(s, &span, NULL), STREAM_END);	/* the error is returned once */
	}
	if (status)
		*status = stream_wait_status(s);
	assert_int_equal(stream_pid(s), 0);
	stream_close(s);
	return r;
}

static void record(const char *what, const char *n, bool follow, const char *path, int want, struct seen *v,
	int *status)
{
	struct stream *s;
	struct err err;
	memset(v, 0, sizeof *v);
	assert_int_equal(launch(&s, what, n, follow, path, &err), 0);
	int r = drain(s, v, &err);
	if (r != want || v->wrong)
		fail_msg("%s: %d, wanted %d: %s, %s", what, r, want, err.text, v->wrong ? v->wrong : "");
	if (r < 0)
		assert_int_equal(drain(s, v, NULL), STREAM_END);
	*status = stream_wait_status(s);
	stream_close(s);
}

static void same(const struct seen *a, const struct seen *b)
{
	assert_int_equal(a->processes, b->processes);
	for (unsigned i = 0; i < a->processes; i++) {
		assert_int_equal(a->records[i], b->records[i]);
		assert_int_equal(a->pid[i], b->pid[i]);
	}
	assert_true(a->digest == b->digest);
	assert_true(a->digest != 0);
}

static void test_a_replay_equals_the_live_stream(void **state)
{
	(void)state;
	struct seen live, again;
	struct err err;
	int status, replayed;
	record("count", "100000", false, path_of("t"), STREAM_END, &live, &status);
	assert_int_equal(live.records[0], 100000);
	assert_int_equal(replay(path_of("t"), &again, &err, &replayed), STREAM_END);
	same(&live, &again);
	assert_int_equal(replayed, status);
	assert_int_equal(WEXITSTATUS(replayed), 7);
}

static void test_processes_and_execs_are_kept(void **state)
{
	(void)state;
	struct seen live, again;
	struct err err;
	int status;
	record("fork", "30000", true, path_of("t"), STREAM_END, &live, &status);
	assert_int_equal(live.processes, 2);
	assert_int_equal(replay(path_of("t"), &again, &err, NULL), STREAM_END);
	same(&live, &again);
	record("exec", "5000", true, path_of("t"), STREAM_END, &live, &status);
	assert_int_equal(replay(path_of("t"), &again, &err, NULL), STREAM_END);
	same(&live, &again);
}

static void test_a_recording_of_a_killed_program_replays_and_says_so(void **state)
{
	(void)state;
	struct seen live, again;
	struct err err;
	int status, replayed;
	record("kill", "20000", false, path_of("t"), ERR_TRACER, &live, &status);
	assert_int_equal(replay(path_of("t"), &again, &err, &replayed), ERR_TRACER);
	same(&live, &again);
	assert_non_null(strstr(err.text, "SIGKILL"));
	assert_true(WIFSIGNALED(replayed));
}

static void test_a_recording_that_the_reader_ended_is_whole(void **state)
{
	(void)state;
	struct seen live = { 0 }, again;
	struct err err;
	struct stream *s;
	struct stream_span span;
	assert_int_equal(launch(&s, "endless", "0", false, path_of("t"), &err), 0);
	while (live.spans < 40) {
		int r = stream_next(s, &span, &err);
		assert_in_range(r, STREAM_SPAN, STREAM_IDLE);
		if (r == STREAM_SPAN)
			walk(&live, &span);
	}
	stream_close(s);
	assert_int_equal(replay(path_of("t"), &again, &err, NULL), STREAM_END);
	same(&live, &again);
}

/* A small trace with known frames, without a live run: one record a span. */
static void write_small(const char *path, unsigned frames, unsigned spans)
{
	struct trace_writer *w;
	struct err err;
	uint64_t n = 0;
	assert_int_equal(trace_writer_open(&w, path, false, &err), 0);
	for (unsigned f = 0; f < frames; f++) {
		for (unsigned i = 0; i < spans; i++, n++) {
			uint64_t words[64] = { ST_HEADER(ST_NOTE, record_words(n) * 8), n };
			for (unsigned k = 2; k < record_words(n); k++)
				words[k] = filler(n, k);
			struct stream_span span = { 0, 42, words, record_words(n) };
			assert_int_equal(trace_writer_span(w, &span, &err), 0);
		}
		if (f + 1 < frames) {
			sleep_ms(1100);		/* after a second without data the frame is written */
			assert_int_equal(trace_writer_idle(w, &err), 0);
		}
	}
	assert_int_equal(trace_writer_end(w, TRACE_END_WHOLE, 0x0300, NULL, &err), 0);
	trace_writer_close(w);
}

/* Of a trace of write_small. */
static uint64_t small_words(unsigned records)
{
	uint64_t words = 0;
	for (uint64_t n = 0; n < records; n++)
		words += record_words(n);
	return words;
}

static void test_a_cut_anywhere_gives_whole_spans_and_then_truncated(void **state)
{
	(void)state;
	size_t bytes;
	uint64_t last = 0, whole = 0;
	write_small(path_of("small"), 2, 12);
	uint8_t *data = slurp(path_of("small"), &bytes);
	assert_int_equal(stream_words(path_of("small")), small_words(24));
	for (size_t cut = 0; cut < bytes; cut++) {
		struct seen v;
		struct err err;
		int r = replay(spill("cut", data, cut), &v, &err, NULL);
		const uint64_t words = stream_words(path_of("cut"));
		assert_true(!words || words == small_words(12));	/* cut between the frames */
		if (r != ERR_TRUNCATED)
			fail_msg("cut at %zu of %zu: %d %s", cut, bytes, r, err.text);
		assert_true(v.records[0] >= last);
		assert_non_null(strstr(err.text, "cut short"));
		last = v.records[0];
		whole += v.records[0] == 12;
	}
	assert_int_equal(last, 12);		/* the first frame is usable without the second */
	assert_true(whole > 100);
	free(data);
}

static void test_a_flipped_bit_never_gives_a_wrong_word(void **state)
{
	(void)state;
	size_t bytes, header = sizeof(struct trace_header);
	unsigned errors = 0;
	write_small(path_of("small"), 1, 12);
	uint8_t *data = slurp(path_of("small"), &bytes);
	for (size_t i = 0; i < bytes * 8; i++) {
		struct seen v;
		struct err err;
		data[i / 8] ^= (uint8_t)(1 << i % 8);
		int r = replay(spill("flip", data, bytes), &v, &err, NULL);	/* checks each record */
		const uint64_t words = stream_words(path_of("flip"));
		assert_true(!words || words == small_words(12));
		data[i / 8] ^= (uint8_t)(1 << i % 8);
		assert_true(r < 0 || (r == STREAM_END && v.records[0] == 12));
		errors += r < 0;
		bool free_text = i / 8 >= header - 4 && i / 8 < header + 8;	/* the producer's name and padding */
		if (r >= 0 && !free_text && i / 8 < header)
			fail_msg("bit %zu of byte %zu of the header does not matter", i % 8, i / 8);
	}
	assert_true(errors > bytes * 8 * 9 / 10);
	free(data);
}

/* Makes a file from the given frames, with right checksums. */
static const char *forge(const void *const *content, const size_t *bytes, size_t frames)
{
	struct trace_header h = { TRACE_SKIPPABLE, sizeof h - 8, TRACE_MAGIC, TRACE_VERSION, ST_VERSION, 0, 0 };
	size_t room = 4 << 20, used = sizeof h;
	uint8_t *out = malloc(room);
	ZSTD_CCtx *z = ZSTD_createCCtx();
	ZSTD_CCtx_setParameter(z, ZSTD_c_checksumFlag, 1);
	memcpy(out, &h, sizeof h);
	for (size_t i = 0; i < frames; i++)
		used += ZSTD_compress2(z, out + used, room - used, content[i], bytes[i]);
	const char *p = spill("forged", out, used);
	ZSTD_freeCCtx(z);
	free(out);
	return p;
}

static void test_forged_frames_are_refused(void **state)
{
	(void)state;
	struct frame { uint64_t before; struct trace_chunk c; uint64_t w[4]; struct trace_chunk end; uint64_t e[2]; };
	const struct frame good = { 0, { TRACE_CHUNK_SPAN, 0, 9, 2 }, { ST_HEADER(ST_NOTE, 16), 0 }, { 0 }, { 0 } };
	static const struct { const char *why; size_t at; uint64_t value; unsigned bytes; const char *say; } bad[] = {
		{ "words before", offsetof(struct frame, before), 5, 8, "a part is missing" },
		{ "kind", offsetof(struct frame, c.kind), 77, 4, "bad chunk" },
		{ "process", offsetof(struct frame, c.process), 1, 4, "bad chunk" },
		{ "pid", offsetof(struct frame, c.pid), 0, 4, "bad chunk" },
		{ "words", offsetof(struct frame, c.words), 3, 4, "longer than its frame" },
		{ "many words", offsetof(struct frame, c.words), 0xffffffff, 4, "longer than its frame" },
		{ "no words", offsetof(struct frame, c.words), 0, 4, "bad chunk" },
		{ "end", offsetof(struct frame, c.kind), TRACE_CHUNK_END, 4, NULL },
	};
	const size_t size = offsetof(struct frame, w[2]);
	struct seen v;
	struct err err;
	for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
		struct frame f = good;
		memcpy((char *)&f + bad[i].at, &bad[i].value, bad[i].bytes);
		const void *content = &f;
		int r = replay(forge(&content, &size, 1), &v, &err, NULL);
		if (r != ERR_INPUT || (bad[i].say && !strstr(err.text, bad[i].say)))
			fail_msg("%s: %d %s", bad[i].why, r, err.text);
	}
	static const struct { const char *why; uint64_t bytes; uint32_t words; uint8_t data[8]; const char *say;
		} packed[] = {
		{ "longer than the frame", 9, 1, { 0 }, "longer than its frame" },
		{ "very long", UINT64_MAX, 1, { 0 }, "longer than its frame" },
		{ "fewer codes than words", 1, 2, { 0 }, "does not make the words" },
		{ "no such code", 1, 1, { 200 }, "does not make the words" },
		{ "a literal that is not there", 2, 1, { 6, 1 }, "does not make the words" },
		{ "a literal too many", 3, 1, { 5, 1, 1 }, "does not make the words" },
		{ "no words", 1, 0, { 0 }, "bad chunk" },
		{ "more than a span holds", 8, ST_CHUNK_BYTES / 8 + 1, { 0 }, "bad chunk" },
	};
	for (size_t i = 0; i < sizeof packed / sizeof *packed; i++) {
		struct { uint64_t before; struct trace_chunk c; uint64_t bytes; uint8_t data[8]; } f = { 0,
			{ TRACE_CHUNK_PACKED, 0, 9, packed[i].words },
			packed[i].bytes, { 0 } };
		const size_t all = sizeof f;
		const void *content = &f;
		memcpy(f.data, packed[i].data, 8);
		int r = replay(forge(&content, &all, 1), &v, &err, NULL);
		if (r != ERR_INPUT || !strstr(err.text, packed[i].say))
			fail_msg("%s: %d %s", packed[i].why, r, err.text);
	}
	const void *two[2] = { &good, &good };		/* the second frame should state 2 words before it */
	const size_t sizes[2] = { size, size };
	assert_int_equal(replay(forge(two, sizes, 2), &v, &err, NULL), ERR_INPUT);
	assert_int_equal(v.records[0], 1);
	assert_int_equal(replay(forge(two, sizes, 1), &v, &err, NULL), ERR_TRUNCATED);	/* no end marker */
}

static void test_a_frame_larger_than_allowed_is_refused(void **state)
{
	(void)state;
	struct seen v;
	struct err err;
	size_t size = TRACE_FRAME_BYTES + 8;
	void *zeroes = calloc(1, size);
	const void *content = zeroes;
	assert_int_equal(replay(forge(&content, &size, 1), &v, &err, NULL), ERR_INPUT);
	free(zeroes);
}

static void test_what_is_no_trace_is_refused(void **state)
{
	(void)state;
	struct seen v;
	struct err err;
	assert_int_equal(replay(spill("x", "PERFILE2 and more of this and that", 34), &v, &err, NULL), ERR_INPUT);
	assert_non_null(strstr(err.text, "is not a softpmu trace"));
	assert_int_equal(replay("/tmp", &v, &err, NULL), ERR_INPUT);
	assert_int_equal(replay("/no/such/trace", &v, &err, NULL), ERR_SYSTEM);
	assert_non_null(strstr(err.text, "/no/such/trace"));
	size_t bytes;
	write_small(path_of("small"), 1, 2);
	uint8_t *data = slurp(path_of("small"), &bytes);
	data = realloc(data, bytes + 1);
	data[bytes] = 'x';
	assert_int_equal(replay(spill("tail", data, bytes + 1), &v, &err, NULL), ERR_INPUT);
	assert_int_equal(v.records[0], 2);
	data[16]++;		/* version */
	assert_int_equal(replay(spill("tail", data, bytes), &v, &err, NULL), ERR_UNSUPPORTED);
	free(data);
}

static void test_a_full_disk_is_told_once_and_costs_no_span(void **state)
{
	(void)state;
	struct rlimit old, small = { 1 << 20, RLIM_INFINITY };
	struct stream *s;
	struct stream_span span;
	struct seen v = { 0 }, again;
	struct err err = { 0 };
	unsigned told = 0;
	int r;
	getrlimit(RLIMIT_FSIZE, &old);
	small.rlim_max = old.rlim_max;
	/* launch first: the producer's ring must not meet the limit */
	assert_int_equal(launch(&s, "count", "1000000", false, path_of("t"), &err), 0);
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &small), 0);	/* EFBIG; the writer's thread blocks SIGXFSZ */
	while ((r = stream_next(s, &span, &err)) != STREAM_END) {
		if (r < 0) {
			assert_int_equal(r, ERR_SYSTEM);
			assert_non_null(strstr(err.text, "cannot write the trace"));
			told++;
		} else if (r == STREAM_SPAN) {
			walk(&v, &span);
		}
	}
	setrlimit(RLIMIT_FSIZE, &old);
	assert_int_equal(told, 1);
	assert_null(v.wrong);
	assert_int_equal(v.records[0], 1000000);
	stream_close(s);
	assert_int_equal(replay(path_of("t"), &again, &err, NULL), ERR_TRUNCATED);
	assert_in_range(again.records[0], 1000, 999999);
}

static void test_a_device_without_room_is_an_error(void **state)
{
	(void)state;
	struct trace_writer *w;
	struct err err;
	if (access("/dev/full", W_OK))
		skip();
	assert_int_equal(trace_writer_open(&w, "/dev/full", false, &err), ERR_SYSTEM);
	assert_non_null(strstr(err.text, "No space left"));
}

static int begin(void **state)
{
	(void)state;
	strcpy(dir, "/dev/shm/test-trace-XXXXXX");	/* thousands of small files: a disk would take minutes */
	if (mkdtemp(dir))
		return 0;
	strcpy(dir, "/tmp/test-trace-XXXXXX");
	return mkdtemp(dir) ? 0 : -1;
}

static int clean(void **state)
{
	(void)state;
	char command[80];
	remove_tracer_dir();
	snprintf(command, sizeof command, "rm -rf %s", dir);
	return system(command);
}

int main(int argc, char **argv)
{
	if (argc > 1 && !strncmp(argv[1], "--command-line-only", 19))
		act_as_tracer(argc, argv);
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_a_replay_equals_the_live_stream),
		cmocka_unit_test(test_processes_and_execs_are_kept),
		cmocka_unit_test(test_a_recording_of_a_killed_program_replays_and_says_so),
		cmocka_unit_test(test_a_recording_that_the_reader_ended_is_whole),
		cmocka_unit_test(test_a_cut_anywhere_gives_whole_spans_and_then_truncated),
		cmocka_unit_test(test_a_flipped_bit_never_gives_a_wrong_word),
		cmocka_unit_test(test_forged_frames_are_refused),
		cmocka_unit_test(test_a_frame_larger_than_allowed_is_refused),
		cmocka_unit_test(test_what_is_no_trace_is_refused),
		cmocka_unit_test(test_a_full_disk_is_told_once_and_costs_no_span),
		cmocka_unit_test(test_a_device_without_room_is_an_error),
	};
	return cmocka_run_group_tests(tests, begin, clean);
}
