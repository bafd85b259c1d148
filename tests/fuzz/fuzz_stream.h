/* SPDX-License-Identifier: GPL-2.0-or-later
 * What the fuzzers of streams share: an input that is read as numbers, a file that is written of it, and a core with
 * small tables.  Included by one source file of each.
 */
#ifndef FUZZ_STREAM_H
#define FUZZ_STREAM_H
#include "core/machine/config.h"
#include "data_dir.h"
#include "stream/trace_writer.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

struct input { const uint8_t *at; size_t left; };

static uint8_t byte(struct input *in)
{
	if (!in->left)
		return 0;
	in->left--;
	return *in->at++;
}

/* Small numbers, and sometimes any. */
static uint64_t number(struct input *in)
{
	const uint8_t first = byte(in);
	uint64_t n = first;
	if (first >= 0xf0)
		for (unsigned i = 0; i < 8; i++)
			n = n << 8 | byte(in);
	else if (first >= 0x80)
		n = (uint64_t)(first & 0x7f) << 8 | byte(in);
	return n;
}

struct file {
	struct trace_writer *writer;
	int fd;
	char path[64];
	uint64_t word[4096];
	size_t used;
};

static void flush(struct file *f)
{
	struct err err;
	const struct stream_span span = { .process = 0, .pid = 1, .words = f->word, .count = f->used };
	if (f->used && trace_writer_span(f->writer, &span, &err))
		abort();
	f->used = 0;
}

static void put(struct file *f, const void *record, size_t bytes)
{
	if (bytes / 8 > sizeof f->word / 8 - f->used)
		flush(f);
	memcpy(f->word + f->used, record, bytes);
	f->used += bytes / 8;
}

/* In memory; the caller closes f->fd and frees it. */
static struct file *open_file(bool points)
{
	struct file *f = calloc(1, sizeof *f);
	struct err err;
	if (!f || (f->fd = memfd_create("stream", MFD_CLOEXEC)) < 0)
		abort();
	snprintf(f->path, sizeof f->path, "/proc/self/fd/%d", f->fd);
	if (trace_writer_open(&f->writer, f->path, points, &err))
		abort();
	return f;
}

static void end_file(struct file *f)
{
	struct err err;
	flush(f);
	if (trace_writer_end(f->writer, TRACE_END_WHOLE, 0, NULL, &err))
		abort();
	trace_writer_close(f->writer);
}

static struct core_config *small_core(void)
{
	static struct core_config core;
	struct err err = { 0 };
	if (!core.uops[0] && (core_config_load(&core, data_dir(), "core2", &err) ||
			core_config_set(&core, "l2.size=64K", &err))) {	/* small tables are made sooner */
		fprintf(stderr, "%s\n", err.text);
		abort();
	}
	return &core;
}
#endif
