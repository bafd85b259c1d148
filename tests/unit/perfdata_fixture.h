/* SPDX-License-Identifier: GPL-2.0-or-later
 * Shared by the perf.data tests: a directory of their own, a writer with two events, whole files, perf as a reader. */
#ifndef PERFDATA_FIXTURE_H
#define PERFDATA_FIXTURE_H
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>
#include "output/perfdata.h"
#include <fcntl.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

struct fixture { char dir[64], path[96], old[96]; };

static inline int fixture_setup(void **state)
{
	struct fixture *f = calloc(1, sizeof *f);
	strcpy(f->dir, "/tmp/softpmu-test-XXXXXX");
	if (!mkdtemp(f->dir))
		return -1;
	snprintf(f->path, sizeof f->path, "%s/perf.data", f->dir);
	snprintf(f->old, sizeof f->old, "%s/perf.data.old", f->dir);
	*state = f;
	return 0;
}
static inline int fixture_teardown(void **state)
{
	struct fixture *f = *state;
	unlink(f->path);
	unlink(f->old);
	rmdir(f->dir);
	free(f);
	return 0;
}

static const struct perfdata_event two_events[] = {
	{ .name = "cycles:u", .type = PERF_TYPE_HARDWARE, .config = 0, .frequency = 4000, .exclude_kernel = true },
	{ .name = "LONGEST_LAT_CACHE.MISS:u", .type = PERF_TYPE_RAW, .config = 0x412e, .period = 1000, .exclude_kernel = true },
};
static char *const command_line[] = { "softpmu", "record", "--", "./a program" };

static inline struct perfdata_options options(const char *path, size_t events, bool chains)
{
	return (struct perfdata_options){
		.path = path, .events = two_events, .event_count = events, .call_chains = chains, .build_ids = true, .argc = 4,
		.argv = command_line, .version = "softpmu", .cpu_title = "a modelled core", .cpuid = "GenuineIntel,6,94,3",
	};
}
static inline struct perfdata_writer *create(const char *path, size_t events, bool chains)
{
	struct perfdata_writer *w;
	struct err err;
	struct perfdata_options o = options(path, events, chains);
	assert_int_equal(perfdata_create(&w, &o, &err), 0);
	return w;
}

struct contents { uint8_t *bytes; size_t size; };
static inline struct contents slurp(const char *path)
{
	struct stat st;
	int fd = open(path, O_RDONLY);
	assert_true(fd >= 0 && fstat(fd, &st) == 0);
	struct contents c = { malloc((size_t)st.st_size + 1), (size_t)st.st_size };
	assert_int_equal(read(fd, c.bytes, c.size), st.st_size);
	close(fd);
	return c;
}
static inline uint64_t u64_at(const struct contents *c, size_t offset)
{
	uint64_t v;
	assert_true(offset + 8 <= c->size);
	memcpy(&v, c->bytes + offset, 8);
	return v;
}
static inline uint32_t u32_at(const struct contents *c, size_t offset) { return (uint32_t)(u64_at(c, offset - 4) >> 32); }
static inline uint16_t u16_at(const struct contents *c, size_t offset) { return (uint16_t)(u64_at(c, offset - 6) >> 48); }

/* Runs perf with these words and the file; its output (to be freed), NULL if perf is not there.  Its stderr must stay empty. */
static inline char *perf(const char *words, const char *path)
{
	char command[512];
	if (access("/usr/bin/perf", X_OK))
		return NULL;
	snprintf(command, sizeof command, "exec 2>%s.err; HOME=%s PERF_CONFIG=/dev/null PAGER= perf %s -i %s </dev/null", path, path, words,
		 path);
	FILE *f = popen(command, "r");
	assert_non_null(f);
	size_t used = 0, room = 1 << 20;
	char *text = malloc(room);
	size_t n;
	while ((n = fread(text + used, 1, room - used - 1, f)) > 0)
		used += n;
	text[used] = 0;
	int status = pclose(f);
	snprintf(command, sizeof command, "%s.err", path);
	struct contents err = slurp(command);
	unlink(command);
	if (err.size)
		print_error("perf %s: %.*s\n", words, (int)err.size, (char *)err.bytes);
	assert_int_equal(err.size, 0);
	free(err.bytes);
	assert_int_equal(status, 0);
	return text;
}
#endif
