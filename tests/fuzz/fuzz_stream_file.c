/* SPDX-License-Identifier: GPL-2.0-or-later
 * libFuzzer harness for the trace file reader.
 *
 *   clang -g -O1 -fsanitize=fuzzer,address,undefined -D_GNU_SOURCE -Iinclude -Isrc -o fuzz_stream_file \
 *       tests/fuzz/fuzz_stream_file.c src/stream/[a-z]*.c src/util/err.c -lzstd -pthread && ./fuzz_stream_file
 *         -max_total_time=60
 *
 * The first byte chooses: even, the rest is a whole file; odd, it is the content of frames (each after its length in
 * two bytes). The harness compresses them with right checksums, so that the code after decompression is reached, too.
 * Checked: no crash, every span within bounds (all words are read), one error at most and then the end.
 */
#include "stream/stream_internal.h"
#include "stream/trace_file.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#include <zstd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void put(int fd, const void *data, size_t bytes)
{
	if (write(fd, data, bytes) != (ssize_t)bytes)
		abort();
}

static void forge(int fd, const uint8_t *data, size_t size)
{
	const struct trace_header h = { TRACE_SKIPPABLE, sizeof h - 8, TRACE_MAGIC, TRACE_VERSION, ST_VERSION, 0, 0 };
	static uint8_t packed[1 << 18];
	ZSTD_CCtx *z = ZSTD_createCCtx();
	ZSTD_CCtx_setParameter(z, ZSTD_c_checksumFlag, 1);
	put(fd, &h, sizeof h);
	while (size >= 2) {
		size_t n = data[0] | (size_t)data[1] << 8;
		data += 2;
		size -= 2;
		if (n > size)
			n = size;
		size_t bytes = ZSTD_compress2(z, packed, sizeof packed, data, n);
		if (ZSTD_isError(bytes))
			abort();
		put(fd, packed, bytes);
		data += n;
		size -= n;
	}
	ZSTD_freeCCtx(z);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct stream *s;
	struct stream_span span;
	struct err err;
	char path[64];
	uint64_t sum = 0;
	int errors = 0;
	if (!size)
		return 0;
	int fd = memfd_create("trace", MFD_CLOEXEC);
	if (fd < 0)
		abort();
	if (data[0] & 1)
		forge(fd, data + 1, size - 1);
	else
		put(fd, data + 1, size - 1);
	snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
	if (!stream_open(&s, path, &err)) {
		for (int r; (r = stream_next(s, &span, &err)) != STREAM_END;) {
			if (r < 0 && ++errors > 1)
				abort();
			if (r == STREAM_SPAN) {
				if (!span.count || span.count > ST_CHUNK_BYTES / 8)
					abort();
				for (size_t i = 0; i < span.count; i++)
					sum += span.words[i];
			}
		}
		__asm__ volatile("" : : "r"(sum + (uint64_t)stream_wait_status(s)));	/* uses the sum of the reads */
		stream_close(s);
	}
	close(fd);
	return 0;
}
