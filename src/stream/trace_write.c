/* SPDX-License-Identifier: GPL-2.0-or-later
 * Writes the trace file (trace_file.h): spans are gathered into a frame; a thread of its own packs, compresses and
 * writes each full frame while the next one fills, so saving costs the model little more than a copy.
 *
 * A frame is written when it is full, and also when nothing has come for a while and the last write is a second old.
 * So a softpmu that is killed leaves a file that is good up to a second before.  (The clock decides only where frames
 * end, never what is in them.)
 */
#include "stream/stream_internal.h"
#include "stream/trace_file.h"
#include "stream/trace_pack.h"
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#include <zstd.h>

/* Measured on bzip2's stream (213 million instructions; 0.96 GB without registers, 3.7 GB with them), in bytes for each
 * instruction, without / with registers:
 *   zstd alone, level 1    0.467 / 1.596
 *   packed, level -1       0.108 / 0.630
 *   packed, level 1        0.096 / 0.559
 *   packed, level 3        0.092 / 0.521
 *   packed, level 6        0.086 / 0.486
 * Packing takes 13 ns for each word. */
enum {
	LEVEL = 1,
	LEVEL_POINTS = 6,	/* of live points, which are few: 14 % smaller than at level 1 */
	FILL_BYTES = TRACE_FRAME_BYTES / 5 * 3,	/* packing makes 40 bytes of the smallest span, which has 24 */
};

struct frame {
	uint8_t *data;
	size_t used;
	struct trace_section section;	/* magic "": the frame does not begin one */
};

struct trace_writer {
	int fd;
	char path[512];
	struct frame filling;		/* the caller's: spans go here */
	uint64_t words;			/* of the section, if there are any */
	uint32_t sections;
	time_t flushed;
	/* shared with the thread, under lock */
	pthread_t thread;
	pthread_mutex_t lock;
	pthread_cond_t changed;
	struct frame plain;		/* the thread's: `writing` after packing */
	struct trace_pack *pack;	/* the thread's */
	struct frame writing;		/* while used != 0 it is the thread's, which writes it */
	bool stop;
	int failed;			/* the thread's errno, or -1: out of memory; nothing is written after it */
	bool told, started;		/* told: `failed` was reported */
	ZSTD_CCtx *zstd;
	uint8_t *packed;
	size_t packed_room;
};

static time_t seconds(void)
{
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec;
}

/* 0 or errno. */
static int write_all(int fd, const void *data, size_t bytes)
{
	for (const uint8_t *at = data; bytes;) {
		ssize_t n = write(fd, at, bytes);
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return n ? errno : EIO;
		at += n;
		bytes -= (size_t)n;
	}
	return 0;
}

/* Packs `writing` into `plain`. */
static void pack(struct trace_writer *w)
{
	const uint8_t *in = w->writing.data, *end = in + w->writing.used;
	uint8_t *out = w->plain.data;
	memcpy(out, in, sizeof(struct trace_frame));
	in += sizeof(struct trace_frame);
	out += sizeof(struct trace_frame);
	while (in < end) {
		struct trace_chunk c;
		memcpy(&c, in, sizeof c);
		in += sizeof c;
		/* the bytes of ST_LINES are packed already */
		if (c.kind == TRACE_CHUNK_SPAN && ST_HEADER_KIND(*(const uint64_t *)(const void *)in) != ST_LINES) {
			c.kind = TRACE_CHUNK_PACKED;
			uint8_t *data = out + sizeof c + 8;
			uint64_t bytes =
				trace_pack(w->pack, c.process, (const uint64_t *)(const void *)in, c.words, data);
			memcpy(out, &c, sizeof c);
			memcpy(out + sizeof c, &bytes, 8);
			memset(data + bytes, 0, -bytes & 7);
			out = data + ((bytes + 7) & ~UINT64_C(7));
		} else {
			memcpy(out, &c, sizeof c);
			memcpy(out + sizeof c, in, c.words * 8);
			out += sizeof c + c.words * 8;
		}
		in += c.words * 8;
	}
	w->plain.used = (size_t)(out - w->plain.data);
}

static void *writer_thread(void *argument)
{
	struct trace_writer *w = argument;
	pthread_mutex_lock(&w->lock);
	for (;;) {
		while (!w->writing.used && !w->stop)
			pthread_cond_wait(&w->changed, &w->lock);
		if (!w->writing.used)
			break;
		int failed = w->failed;
		pthread_mutex_unlock(&w->lock);
		if (!failed && w->writing.section.magic[0]) {
			trace_pack_forget(w->pack);
			failed = write_all(w->fd, &w->writing.section, sizeof w->writing.section);
		}
		if (!failed) {
			pack(w);
			size_t n = ZSTD_compress2(w->zstd, w->packed, w->packed_room, w->plain.data, w->plain.used);
			failed = ZSTD_isError(n) ? -1 : write_all(w->fd, w->packed, n);
		}
		pthread_mutex_lock(&w->lock);
		w->failed = failed;
		w->writing.used = 0;
		pthread_cond_signal(&w->changed);
	}
	pthread_mutex_unlock(&w->lock);
	return NULL;
}

/* Reports the thread's failure, once; 0 if there is none, or none that is new. */
static int tell(struct trace_writer *w, struct err *err)
{
	if (!w->failed || w->told)
		return 0;
	w->told = true;
	if (w->failed < 0)
		return err_set(err, ERR_NOMEM, "%s: out of memory while compressing the trace", w->path);
	errno = w->failed;
	return err_system(err, "%s: cannot write the trace (what was written can be replayed)", w->path);
}

/* Hands the filling frame to the thread, as soon as the thread has finished with the previous one. */
static int hand_over(struct trace_writer *w, struct err *err)
{
	pthread_mutex_lock(&w->lock);
	while (w->writing.used)
		pthread_cond_wait(&w->changed, &w->lock);
	int r = tell(w, err);
	if (w->filling.used > sizeof(struct trace_frame)) {
		struct frame f = w->writing;
		w->writing = w->filling;
		w->filling = f;
		w->filling.section.magic[0] = 0;
		pthread_cond_signal(&w->changed);
	}
	pthread_mutex_unlock(&w->lock);
	w->filling.used = 0;
	w->flushed = seconds();
	return r;
}

static void append(struct trace_writer *w, const void *data, size_t bytes)
{
	memcpy(w->filling.data + w->filling.used, data, bytes);
	w->filling.used += bytes;
}

static int begin_chunk(struct trace_writer *w, const struct trace_chunk *c, struct err *err)
{
	int r = 0;
	if (w->filling.used + sizeof *c + c->words * 8ull > FILL_BYTES)
		r = hand_over(w, err);
	if (!w->filling.used)
		append(w, &(struct trace_frame){ w->words }, sizeof(struct trace_frame));
	append(w, c, sizeof *c);
	return r;
}

/* Starts the thread, with the first span: if the process forks before that, no thread is lost. */
static int start(struct trace_writer *w, struct err *err)
{
	if (w->started)
		return 0;
	sigset_t all, before; /* this thread takes none of the caller's signals, and SIGXFSZ does not kill it */
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	errno = pthread_create(&w->thread, NULL, writer_thread, w);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	if (errno)
		return err_system(err, "%s: cannot write the trace", w->path);
	w->started = true;
	return 0;
}

static void begin_section(struct trace_writer *w, uint32_t kind, uint32_t part)
{
	w->filling.section = (struct trace_section){ TRACE_SKIPPABLE, sizeof(struct trace_section) - 8,
		TRACE_SECTION_MAGIC, w->sections++, kind, part, 0 };
	w->words = 0;
}

int trace_writer_section(struct trace_writer *w, uint32_t kind, uint32_t part, struct err *err)
{
	const int r = start(w, err), handed = r ? r : hand_over(w, err);
	begin_section(w, kind, part);
	return handed;
}

int trace_writer_open(struct trace_writer **out, const char *path, bool points, struct err *err)
{
	static const char producer[] = "softpmu";
	struct trace_header h = { TRACE_SKIPPABLE, sizeof h - 8 + sizeof producer, TRACE_MAGIC,
		points ? TRACE_VERSION_LINES : TRACE_VERSION, ST_VERSION, sizeof producer, 0 };
	int failed;
	struct trace_writer *w = calloc(1, sizeof *w);
	if (!w)
		return err_set(err, ERR_NOMEM, "out of memory");
	strncpy(w->path, path, sizeof w->path - 1);
	pthread_mutex_init(&w->lock, NULL);
	pthread_cond_init(&w->changed, NULL);
	w->packed_room = ZSTD_compressBound(TRACE_FRAME_BYTES);
	w->fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
	if (w->fd < 0) {
		int r = err_system(err, "%s: cannot write the trace", path);
		trace_writer_close(w);
		return r;
	}
	if (!(w->filling.data = malloc(FILL_BYTES)) || !(w->writing.data = malloc(FILL_BYTES)) ||
	    !(w->plain.data = malloc(TRACE_FRAME_BYTES)) || !(w->pack = trace_pack_create()) ||
	    !(w->packed = malloc(w->packed_room)) || !(w->zstd = ZSTD_createCCtx()) ||
	    ZSTD_isError(ZSTD_CCtx_setParameter(w->zstd, ZSTD_c_compressionLevel,
		    points ? LEVEL_POINTS : LEVEL)) ||
	    ZSTD_isError(ZSTD_CCtx_setParameter(w->zstd, ZSTD_c_windowLog, TRACE_WINDOW_LOG)) ||
	    ZSTD_isError(ZSTD_CCtx_setParameter(w->zstd, ZSTD_c_checksumFlag, 1))) {
		trace_writer_close(w);
		return err_set(err, ERR_NOMEM, "out of memory");
	}
	if ((failed = write_all(w->fd, &h, sizeof h)) || (failed = write_all(w->fd, producer, sizeof producer))) {
		errno = failed;
		int r = err_system(err, "%s: cannot write the trace", path);
		trace_writer_close(w);
		return r;
	}
	if (points)
		begin_section(w, TRACE_SECTION_COMMON, 0);
	w->flushed = seconds();
	*out = w;
	return 0;
}

int trace_writer_span(struct trace_writer *w, const struct stream_span *span, struct err *err)
{
	struct trace_chunk c = { TRACE_CHUNK_SPAN, span->process, span->pid, (uint32_t)span->count };
	int r = start(w, err);
	if (r)
		return r;
	r = begin_chunk(w, &c, err);
	append(w, span->words, span->count * 8);
	w->words += span->count;
	return r;
}

int trace_writer_idle(struct trace_writer *w, struct err *err)
{
	return w->filling.used && seconds() > w->flushed ? hand_over(w, err) : 0;
}

int trace_writer_end(struct trace_writer *w, enum trace_end how, int wait_status, const char *text, struct err *err)
{
	size_t text_bytes = text ? strnlen(text, TRACE_TEXT_BYTES - 8) + 1 : 1;
	struct trace_end_words e = { how, wait_status };
	struct trace_chunk c = { TRACE_CHUNK_END, 0, 0, (uint32_t)(1 + (text_bytes + 7) / 8) };
	int failed = start(w, err), r;
	if (failed)
		return failed;
	failed = begin_chunk(w, &c, err);
	append(w, &e, sizeof e);
	memset(w->filling.data + w->filling.used, 0, (c.words - 1) * 8);
	memcpy(w->filling.data + w->filling.used, text ? text : "", text_bytes - 1);
	w->filling.used += (c.words - 1) * 8;
	r = hand_over(w, failed ? NULL : err);
	failed = failed ? failed : r;
	pthread_mutex_lock(&w->lock);		/* wait until it is on disk, or is known not to be */
	while (w->writing.used)
		pthread_cond_wait(&w->changed, &w->lock);
	r = tell(w, failed ? NULL : err);
	pthread_mutex_unlock(&w->lock);
	return failed ? failed : r;
}

void trace_writer_close(struct trace_writer *w)
{
	if (!w)
		return;
	if (w->started) {
		pthread_mutex_lock(&w->lock);
		w->stop = true;
		pthread_cond_signal(&w->changed);
		pthread_mutex_unlock(&w->lock);
		pthread_join(w->thread, NULL);
	}
	if (w->fd >= 0)
		close(w->fd);
	ZSTD_freeCCtx(w->zstd);
	free(w->filling.data);
	free(w->writing.data);
	free(w->plain.data);
	trace_pack_destroy(w->pack);
	free(w->packed);
	pthread_mutex_destroy(&w->lock);
	pthread_cond_destroy(&w->changed);
	free(w);
}
