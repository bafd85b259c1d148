/* SPDX-License-Identifier: GPL-2.0-or-later
 * How many words a trace file holds (trace_file.h), without reading all of it: its last frame says how many are before
 * it.  Only the headers of the other frames' blocks are read.
 */
#include "stream/stream.h"
#include "stream/trace_file.h"
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zstd.h>

/* The words of a frame and of those before it; 0: it is damaged. */
static uint64_t words_of(const uint8_t *frame, size_t bytes)
{
	struct trace_frame f;
	struct trace_chunk c;
	if (bytes < sizeof f)
		return 0;
	memcpy(&f, frame, sizeof f);
	uint64_t words = f.words_before;
	for (size_t at = sizeof f; at < bytes; ) {
		uint64_t content;
		if (bytes - at < sizeof c)
			return 0;
		memcpy(&c, frame + at, sizeof c);
		at += sizeof c;
		if (c.kind == TRACE_CHUNK_END)
			break;
		words += c.words;
		content = c.words * UINT64_C(8);
		if (c.kind == TRACE_CHUNK_PACKED) {
			if (bytes - at < sizeof content)
				return 0;
			memcpy(&content, frame + at, sizeof content);
			at += sizeof content;
			content = content > bytes ? UINT64_MAX : (content + 7) & ~UINT64_C(7);
		}
		if (content > bytes - at)
			return 0;
		at += content;
	}
	return words;
}

/* Of the whole file, in memory. */
static uint64_t words_in(const uint8_t *file, size_t bytes)
{
	size_t last = 0, length = 0;
	for (size_t at = 0; at < bytes; at += length) {
		length = ZSTD_findFrameCompressedSize(file + at, bytes - at);
		if (ZSTD_isError(length) || !length)
			return 0;
		last = at;
	}
	uint8_t *frame = malloc(TRACE_FRAME_BYTES);
	const size_t n = frame && length ? ZSTD_decompress(frame, TRACE_FRAME_BYTES, file + last, length) : 0;
	const uint64_t words = n && !ZSTD_isError(n) ? words_of(frame, n) : 0;
	free(frame);
	return words;
}

uint64_t stream_words(const char *path)
{
	struct stat st;
	uint64_t words = 0;
	const int fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd >= 0 && !fstat(fd, &st) && S_ISREG(st.st_mode) && st.st_size > 0) {
		const size_t bytes = (size_t)st.st_size;
		void *file = mmap(NULL, bytes, PROT_READ, MAP_PRIVATE, fd, 0);
		if (file != MAP_FAILED) {
			words = words_in(file, bytes);
			munmap(file, bytes);
		}
	}
	if (fd >= 0)
		close(fd);
	return words;
}
