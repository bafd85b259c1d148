/* SPDX-License-Identifier: GPL-2.0-or-later
 * Writes the stream of a whole machine (guest_stream.h): a process whose one thread is the processor.
 */
#include "machine/guest_stream.h"
#include "stream/trace_writer.h"
#include <stdlib.h>
#include <string.h>

enum { PID = 1, TID = 1, FIRST_BLOCKS = 1 << 12 };

struct guest_stream {
	struct trace_writer *writer;
	struct err failure;
	bool failed;
	uint8_t word_bytes;		/* of the code now: what the last ST_LEVEL said */
	size_t words;			/* in `chunk` */
	uint8_t *defined;		/* by id: the block's definition is written */
	size_t blocks;
	uint64_t chunk[ST_CHUNK_BYTES / 8];
};

static void fail(struct guest_stream *s, const struct err *why)
{
	if (!s->failed)
		s->failure = *why;
	s->failed = true;
}

static void flush(struct guest_stream *s)
{
	const struct stream_span span = { .process = 0, .pid = PID, .words = s->chunk, .count = s->words };
	struct err err = { 0 };
	if (s->words && !s->failed && trace_writer_span(s->writer, &span, &err) < 0)
		fail(s, &err);
	s->words = 0;
}

/* Room for a record; NULL: it is dropped. */
static uint64_t *room(struct guest_stream *s, size_t words)
{
	struct err err = { 0 };
	if (s->failed)
		return NULL;
	if (words > ST_CHUNK_BYTES / 8) {
		err_set(&err, ERR_UNSUPPORTED, "a record of %zu bytes does not fit into a stream", words * 8);
		fail(s, &err);
		return NULL;
	}
	if (words > ST_CHUNK_BYTES / 8 - s->words)
		flush(s);
	uint64_t *at = s->chunk + s->words;
	s->words += words;
	return at;
}

static void put(struct guest_stream *s, const void *record, size_t bytes)
{
	uint64_t *to = room(s, (bytes + 7) / 8);
	if (!to)
		return;
	if (bytes % 8)
		to[bytes / 8] = 0;
	memcpy(to, record, bytes);
}

static void begin(struct guest_stream *s, bool pages)
{
	static const char path[16] = "[machine]";
	struct st_name name = { .header = ST_HEADER(ST_COMM, sizeof name), .name = "[machine]" };
	struct { struct st_process process; char path[16]; } first = { .process = {
		.header = ST_HEADER(ST_PROCESS, sizeof first), .magic = ST_MAGIC, .version = ST_VERSION, .pid = PID,
		.word_bytes = s->word_bytes, .is_machine = 1, .has_pages = pages, .path_bytes = sizeof "[machine]" } };
	const struct st_thread thread = { .header = ST_HEADER(ST_THREAD_START, sizeof thread), .tid = TID,
		.os_tid = TID };
	memcpy(first.path, path, sizeof path);
	put(s, &first, sizeof first);
	put(s, &name, sizeof name);
	put(s, &thread, sizeof thread);
}

int guest_stream_open(struct guest_stream **out, const char *path, unsigned word_bytes, bool pages, struct err *err)
{
	struct guest_stream *s = calloc(1, sizeof *s);
	*out = NULL;
	if (!s)
		return err_set(err, ERR_NOMEM, "out of memory for a stream");
	s->word_bytes = (uint8_t)word_bytes;
	const int rc = trace_writer_open(&s->writer, path, false, err);
	if (rc < 0) {
		free(s);
		return rc;
	}
	begin(s, pages);
	*out = s;
	return 0;
}

int guest_stream_close(struct guest_stream *s, struct err *err)
{
	const struct st_thread thread = { .header = ST_HEADER(ST_THREAD_EXIT, sizeof thread), .tid = TID,
		.os_tid = TID };
	const struct st_exit end = { .header = ST_HEADER(ST_EXIT, sizeof end) };
	struct err last = { 0 };
	if (!s)
		return 0;
	put(s, &thread, sizeof thread);
	put(s, &end, sizeof end);
	flush(s);
	if (!s->failed && trace_writer_end(s->writer, TRACE_END_WHOLE, 0, NULL, &last) < 0)
		fail(s, &last);
	trace_writer_close(s->writer);
	const int rc = s->failed ? err_set(err, s->failure.code, "%s", s->failure.text) : 0;
	free(s->defined);
	free(s);
	return rc;
}

/* Is the block's definition written?  From now on it is. */
static bool defined(struct guest_stream *s, uint32_t id)
{
	struct err err = { 0 };
	if (id >= s->blocks) {
		const size_t blocks = (size_t)id + id / 2 + FIRST_BLOCKS;
		uint8_t *bigger = realloc(s->defined, blocks);
		if (!bigger) {
			err_set(&err, ERR_NOMEM, "out of memory for a stream's blocks");
			fail(s, &err);
			return true;
		}
		memset(bigger + s->blocks, 0, blocks - s->blocks);
		s->defined = bigger;
		s->blocks = blocks;
	}
	const bool was = s->defined[id];
	s->defined[id] = 1;
	return was;
}

void guest_stream_block(struct guest_stream *s, const struct st_block_def *def, unsigned exit, const uint64_t *values)
{
	if (!s || s->failed)
		return;
	if (!defined(s, def->id)) {
		uint64_t *to = room(s, ST_HEADER_LOW(def->header) / 8);
		if (to) {
			memcpy(to, def, ST_HEADER_LOW(def->header));
			((struct st_block_def *)to)->pad[0] = s->word_bytes;
		}
	}
	const struct st_exit_def *exits = (const struct st_exit_def *)((const char *)(def + 1) +
		def->insns * sizeof(struct st_insn_def) + def->slots * sizeof(struct st_slot));
	const size_t slots = exits[exit].slots;
	uint64_t *to = room(s, 1 + slots);
	if (!to)
		return;
	to[0] = ST_HEADER(ST_BLOCK, def->id) | (uint64_t)exit << 32;
	if (slots)
		memcpy(to + 1, values, slots * sizeof *values);
}

void guest_stream_record(struct guest_stream *s, const void *record, size_t bytes)
{
	if (!s)
		return;
	if (ST_HEADER_KIND(*(const uint64_t *)record) == ST_LEVEL)
		s->word_bytes = ((const struct st_level *)record)->word_bytes;
	put(s, record, bytes);
}
