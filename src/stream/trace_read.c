/* SPDX-License-Identifier: GPL-2.0-or-later
 * Reads the trace file (trace_file.h), one whole frame at a time.
 *
 * The file is not trusted: every length is checked against what is there, a frame must fit into TRACE_FRAME_BYTES and
 * have the right checksum before anything of it is delivered, and memory is bounded whatever the file says.  The
 * meaning of the words is not checked.
 */
#include "stream/stream_internal.h"
#include "stream/trace_file.h"
#include "stream/trace_pack.h"
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zstd.h>

enum { IN_BYTES = 256 * 1024 };

struct trace_reader {
	int fd;
	char path[512];
	ZSTD_DCtx *zstd;
	uint8_t *in, *frame;
	struct trace_pack *pack;
	uint64_t *unpacked;		/* the words of one packed span */
	size_t in_at, in_end;		/* compressed bytes not yet used */
	uint64_t consumed;		/* bytes of the file before in_at */
	size_t at, end;			/* positions in the frame */
	uint64_t words;			/* span words of all frames before */
	uint64_t frame_words;		/* span words of this frame, so far */
	uint32_t processes;
	uint32_t version;
	/* of a file with sections: */
	uint32_t sections, parts;	/* that have begun */
	bool in_part;			/* the last of them is a part, whose digest comes next */
	bool left_out;			/* frames of this one are not delivered */
	bool took;			/* the last part was delivered */
	stream_takes *takes;		/* NULL: every part is */
	void *takes_context;
	const uint8_t *map;		/* the file, to find where frames end; NULL: they are decompressed */
	size_t map_bytes;
	int wait_status;
	bool ended;			/* the end marker was read */
	bool skips;			/* spans are no longer unpacked */
	bool stopped;			/* the end was reached, or an error was reported */
};

static int damaged(struct trace_reader *r, const char *what, struct err *err)
{
	r->stopped = true;
	return err_set(err, ERR_INPUT, "%s: the trace is damaged before byte %llu: %s", r->path,
		       (unsigned long long)r->consumed, what);
}

static int truncated(struct trace_reader *r, struct err *err)
{
	r->stopped = true;
	return err_set(err, ERR_TRUNCATED, "%s: the trace is cut short at byte %llu", r->path,
		       (unsigned long long)r->consumed);
}

/* Makes compressed bytes available.  Returns 1, or 0 at the file's end, or an error. */
static int fill(struct trace_reader *r, struct err *err)
{
	if (r->in_at < r->in_end)
		return 1;
	ssize_t n;
	do
		n = read(r->fd, r->in, IN_BYTES);
	while (n < 0 && errno == EINTR);
	if (n < 0) {
		r->stopped = true;
		return err_system(err, "%s: cannot be read", r->path);
	}
	r->in_at = 0;
	r->in_end = (size_t)n;
	return n > 0;
}

/* Makes so many compressed bytes available together, or as many as there are.  Returns how many, or an error. */
static ssize_t gather(struct trace_reader *r, size_t bytes, struct err *err)
{
	memmove(r->in, r->in + r->in_at, r->in_end - r->in_at);
	r->in_end -= r->in_at;
	r->in_at = 0;
	while (r->in_end < bytes) {
		const ssize_t n = read(r->fd, r->in + r->in_end, bytes - r->in_end);
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0) {
			r->stopped = true;
			return err_system(err, "%s: cannot be read", r->path);
		}
		if (!n)
			break;
		r->in_end += (size_t)n;
	}
	return (ssize_t)(r->in_end < bytes ? r->in_end : bytes);
}

/* Does this section come next?  The header has no checksum, so each bit of it is looked at. */
static bool is_next(const struct trace_reader *r, const struct trace_section *s)
{
	if (s->bytes != sizeof *s - 8 || memcmp(s->magic, TRACE_SECTION_MAGIC, sizeof s->magic) ||
		s->number != r->sections || s->pad || (s->kind == TRACE_SECTION_DIGEST) != r->in_part)
		return false;
	switch (s->kind) {
	case TRACE_SECTION_COMMON: return !s->part;
	case TRACE_SECTION_PART:   return s->part == r->parts;
	case TRACE_SECTION_DIGEST: return s->part == r->parts - 1;
	default:                   return false;
	}
}

/* If a section begins here, takes its header.  Returns 1, or 0, or an error. */
static int next_section(struct trace_reader *r, struct err *err)
{
	struct trace_section s;
	uint32_t magic;
	const ssize_t n = gather(r, sizeof s, err);
	if (n < 0)
		return (int)n;
	memcpy(&magic, r->in, sizeof magic);
	if ((size_t)n < sizeof s)
		return n && magic == TRACE_SKIPPABLE ? truncated(r, err) : 0;
	if (magic != TRACE_SKIPPABLE)
		return r->sections ? 0 : damaged(r, "its first section is missing", err);
	memcpy(&s, r->in, sizeof s);
	if (!is_next(r, &s))
		return damaged(r, "bad section", err);
	r->in_at += sizeof s;
	r->consumed += sizeof s;
	r->sections++;
	r->in_part = s.kind == TRACE_SECTION_PART;
	r->parts += r->in_part;
	r->words = r->frame_words = 0;
	trace_pack_forget(r->pack);
	if (s.kind == TRACE_SECTION_PART)
		r->took = !r->takes || r->takes(r->takes_context, s.part);
	r->left_out = s.kind == TRACE_SECTION_PART ? !r->took : s.kind == TRACE_SECTION_DIGEST && r->took;
	return 1;
}

/* Goes to the end of the frame that begins here, without reading it.  False: it must be read. */
static bool hop(struct trace_reader *r)
{
	if (!r->map || r->consumed >= r->map_bytes)
		return false;
	const size_t n = ZSTD_findFrameCompressedSize(r->map + r->consumed, r->map_bytes - r->consumed);
	if (ZSTD_isError(n) || !n || lseek(r->fd, (off_t)(r->consumed + n), SEEK_SET) < 0)
		return false;
	r->consumed += n;
	r->in_at = r->in_end = 0;
	return true;
}

/* Reads a frame.  Returns 1: there is one; 0: the file ended between two frames; or an error. */
static int read_frame(struct trace_reader *r, struct err *err)
{
	ZSTD_outBuffer out = { r->frame, TRACE_FRAME_BYTES, 0 };
	bool begun = false;
	ZSTD_DCtx_reset(r->zstd, ZSTD_reset_session_only);
	for (;;) {
		int more = fill(r, err);
		if (more < 0)
			return more;
		if (!more)
			return begun ? truncated(r, err) : 0;
		ZSTD_inBuffer in = { r->in, r->in_end, r->in_at };
		size_t before = out.pos, result = ZSTD_decompressStream(r->zstd, &out, &in);
		bool progress = in.pos > r->in_at || out.pos > before;
		begun = true;
		r->consumed += in.pos - r->in_at;
		r->in_at = in.pos;
		if (ZSTD_isError(result))
			return damaged(r, ZSTD_getErrorName(result), err);
		if (!result)
			break;
		if (!progress)
			return damaged(r, "a frame is longer than allowed", err);
	}
	r->words += r->frame_words;
	r->frame_words = 0;
	struct trace_frame f;
	if (out.pos < sizeof f || out.pos % 8)
		return damaged(r, "a frame without content", err);
	memcpy(&f, r->frame, sizeof f);
	if (!r->left_out && f.words_before != r->words)
		return damaged(r, "a part is missing", err);
	r->at = sizeof f;
	r->end = out.pos;
	return 1;
}

/* Reads the next frame that is to be delivered.  Returns as read_frame. */
static int next_frame(struct trace_reader *r, struct err *err)
{
	for (;;) {
		int rc = r->version >= TRACE_VERSION_SECTIONS ? next_section(r, err) : 0;
		if (rc < 0)
			return rc;
		if (rc)
			continue;
		if (r->left_out && hop(r))
			continue;
		rc = read_frame(r, err);
		if (rc <= 0 || !r->left_out)
			return rc;
		r->at = r->end;
		r->words = r->frame_words = 0;
	}
}

static int read_end(struct trace_reader *r, const struct trace_chunk *c, struct err *err)
{
	struct trace_end_words e;
	const char *text = (const char *)r->frame + r->at + sizeof e;
	if (c->words < 2 || c->words > TRACE_TEXT_BYTES / 8 || r->at + c->words * 8 != r->end || r->frame[r->end - 1])
		return damaged(r, "bad end marker", err);
	memcpy(&e, r->frame + r->at, sizeof e);
	r->at = r->end;
	r->ended = true;
	r->wait_status = e.wait_status;
	int more = fill(r, err);
	if (more)
		return more < 0 ? more : damaged(r, "something follows the end marker", err);
	r->stopped = true;
	switch (e.how) {
	case TRACE_END_WHOLE: case TRACE_END_CLOSED:
		return STREAM_END;
	case TRACE_END_FAILED:
		return err_set(err, ERR_TRACER, "%s: the recording ended early: %.800s", r->path, text);
	default:
		return damaged(r, "bad end marker", err);
	}
}

static bool fits(const struct trace_reader *r, const struct trace_chunk *c)
{
	return c->words && c->words <= ST_CHUNK_BYTES / 8 && c->process <= r->processes && c->pid && c->pid <= INT_MAX;
}

static int deliver(struct trace_reader *r, const struct trace_chunk *c, const uint64_t *words, struct stream_span *span)
{
	if (c->process == r->processes)
		r->processes++;
	*span = (struct stream_span){ .process = c->process, .pid = c->pid, .words = words, .count = c->words };
	r->frame_words += c->words;
	return STREAM_SPAN;
}

static int packed_span(struct trace_reader *r, const struct trace_chunk *c, struct stream_span *span, struct err *err)
{
	uint64_t bytes;
	if (r->end - r->at < sizeof bytes || !fits(r, c))
		return damaged(r, "bad chunk", err);
	memcpy(&bytes, r->frame + r->at, sizeof bytes);
	r->at += sizeof bytes;
	if (bytes > r->end - r->at)	/* the rest is a multiple of 8, so `bytes` rounded up fits, too */
		return damaged(r, "a chunk is longer than its frame", err);
	if (r->skips) {
		r->at += (bytes + 7) & ~UINT64_C(7);
		return deliver(r, c, r->unpacked, span);
	}
	if (!trace_unpack(r->pack, c->process, r->frame + r->at, bytes, r->unpacked, c->words))
		return damaged(r, "a packed chunk does not make the words it promises", err);
	r->at += (bytes + 7) & ~UINT64_C(7);
	return deliver(r, c, r->unpacked, span);
}

int trace_reader_next(struct trace_reader *r, struct stream_span *span, struct err *err)
{
	struct trace_chunk c;
	if (r->stopped)
		return STREAM_END;	/* the reason was reported before */
	while (r->at == r->end) {
		int got = next_frame(r, err);
		if (got < 0)
			return got;
		if (!got)
			return truncated(r, err);
	}
	if (r->end - r->at < sizeof c)
		return damaged(r, "bad chunk", err);
	memcpy(&c, r->frame + r->at, sizeof c);
	r->at += sizeof c;
	if (c.kind == TRACE_CHUNK_PACKED)
		return packed_span(r, &c, span, err);
	if (c.words > (r->end - r->at) / 8)
		return damaged(r, "a chunk is longer than its frame", err);
	if (c.kind == TRACE_CHUNK_END)
		return read_end(r, &c, err);
	if (c.kind != TRACE_CHUNK_SPAN || !fits(r, &c))
		return damaged(r, "bad chunk", err);
	const uint64_t *words = (const uint64_t *)(const void *)(r->frame + r->at);
	r->at += c.words * 8;
	return deliver(r, &c, words, span);
}

static int read_header(struct trace_reader *r, struct err *err)
{
	struct trace_header h;
	uint8_t *at = (uint8_t *)&h;
	size_t have = 0;
	while (have < sizeof h) {
		int more = fill(r, err);
		if (more < 0)
			return more;
		if (!more)
			break;
		at[have++] = r->in[r->in_at++];
		r->consumed++;
	}
	const struct trace_header want = { .skippable = TRACE_SKIPPABLE, .magic = TRACE_MAGIC };
	size_t magic_end = offsetof(struct trace_header, version);
	if (memcmp(&h, &want, have < 4 ? have : 4) ||
	    (have > 8 && memcmp(h.magic, want.magic, (have < magic_end ? have : magic_end) - 8)))
		return err_set(err, ERR_INPUT, "%s: is not a softpmu trace", r->path);
	if (have < sizeof h)
		return truncated(r, err);
	r->version = h.version;
	if (h.version < TRACE_VERSION_OLDEST || (h.version > TRACE_VERSION && h.version != TRACE_VERSION_POINTS &&
			h.version != TRACE_VERSION_SECTIONS && h.version != TRACE_VERSION_LINES) ||
		h.stream_version < ST_VERSION_OLDEST || h.stream_version > ST_VERSION)
		return err_set(err, ERR_UNSUPPORTED, "%s: is a trace of version %u.%u, this softpmu reads %u.%u",
			r->path, h.version, h.stream_version, TRACE_VERSION_LINES, ST_VERSION);
	if (h.text_bytes > TRACE_TEXT_BYTES || h.bytes != sizeof h - 8 + h.text_bytes)
		return damaged(r, "bad header", err);
	for (uint32_t left = h.text_bytes; left; left--) {
		int more = fill(r, err);
		if (more <= 0)
			return more ? more : truncated(r, err);
		r->in_at++;
		r->consumed++;
	}
	return 0;
}

int trace_reader_open(struct trace_reader **out, const char *path, struct err *err)
{
	struct stat st;
	int failed;
	struct trace_reader *r = calloc(1, sizeof *r);
	if (!r)
		return err_set(err, ERR_NOMEM, "out of memory");
	strncpy(r->path, path, sizeof r->path - 1);
	r->fd = open(path, O_RDONLY | O_CLOEXEC);
	if (r->fd < 0)
		failed = err_system(err, "%s: cannot be opened", path);
	else if (!fstat(r->fd, &st) && S_ISDIR(st.st_mode))
		failed = err_set(err, ERR_INPUT, "%s: is a directory, not a trace", path);
	else if (!(r->in = malloc(IN_BYTES)) || !(r->frame = malloc(TRACE_FRAME_BYTES)) ||
		!(r->zstd = ZSTD_createDCtx()) || !(r->pack = trace_pack_create()) ||
		!(r->unpacked = malloc(ST_CHUNK_BYTES)) ||
		ZSTD_isError(ZSTD_DCtx_setParameter(r->zstd, ZSTD_d_windowLogMax, TRACE_WINDOW_LOG)))
		failed = err_set(err, ERR_NOMEM, "out of memory");
	else
		failed = read_header(r, err);
	if (failed) {
		trace_reader_close(r);
		return failed;
	}
	*out = r;
	return 0;
}

void trace_reader_parts(struct trace_reader *r, stream_takes *takes, void *context)
{
	struct stat file;
	r->takes = takes;
	r->takes_context = context;
	if (fstat(r->fd, &file) || !S_ISREG(file.st_mode) || file.st_size <= 0)
		return;
	void *const map = mmap(NULL, (size_t)file.st_size, PROT_READ, MAP_PRIVATE, r->fd, 0);
	if (map == MAP_FAILED)
		return;
	r->map = map;
	r->map_bytes = (size_t)file.st_size;
}

double trace_reader_share(const struct trace_reader *r)
{
	struct stat file;
	if (fstat(r->fd, &file) || !S_ISREG(file.st_mode) || file.st_size <= 0)
		return -1;
	const double share = (double)r->consumed / (double)file.st_size;
	return share < 1 ? share : 1;
}

void trace_reader_skip(struct trace_reader *r)
{
	r->skips = true;
}

int trace_reader_wait_status(const struct trace_reader *r)
{
	return r->wait_status;
}

void trace_reader_close(struct trace_reader *r)
{
	if (!r)
		return;
	if (r->map)
		munmap((void *)r->map, r->map_bytes);
	if (r->fd >= 0)
		close(r->fd);
	ZSTD_freeDCtx(r->zstd);
	free(r->in);
	free(r->frame);
	free(r->unpacked);
	trace_pack_destroy(r->pack);
	free(r);
}
