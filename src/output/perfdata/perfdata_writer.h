/* SPDX-License-Identifier: GPL-2.0-or-later
 * The state of a writer of perf.data; private to this folder. */
#ifndef OUTPUT_PERFDATA_WRITER_H
#define OUTPUT_PERFDATA_WRITER_H
#include "output/perfdata/perfdata.h"
#include "util/bytes.h"
#include <linux/perf_event.h>

enum { CHUNK = 64 * 1024, MARKS = 8, PATH_LIMIT = 4096, BRANCHES_LIMIT = 256, CACHES = 8 };

struct known_file { char *path; uint8_t build_id[PERFDATA_BUILD_ID_BYTES]; uint8_t build_id_bytes; bool kernel; };

struct perfdata_writer {
	int fd;
	struct err error;		/* the first error; code 0: none */
	char *path;
	bool call_chains, build_ids, map_build_ids, thread_counts, counts;
	bool pipe;
	bool renamed, regular;		/* an old file was renamed to PATH.old; PATH is a regular file, not a device */
	uint64_t sample_type, regs, branch_type;
	struct perf_event_attr *attr;
	char **name;
	size_t events;
	uint64_t data_start, written;	/* file offsets: start of the data, end of the records on disk */
	struct { uint64_t offset, samples; } mark[MARKS];	/* the latest chunk ends, for a full disk */
	unsigned marks;
	uint8_t *chunk;
	size_t used;
	uint64_t samples, first_time, last_time;
	uint32_t cpus;
	struct known_file *file;
	size_t files;
	char *version, *cpu_title, *cpuid;
	struct perfdata_cache cache[CACHES];
	size_t caches;
	char **argv;
	int argc;
	struct bytes own[PERFDATA_FEATURES - PERFDATA_OWN];
};

/* Writes a feature's content; false: the file does not have it. */
bool perfdata_put_feature(struct bytes *b, const struct perfdata_writer *w, unsigned feature);
/* Builds the table of sections and the sections; offsets count from the end of the data. */
void perfdata_build_features(struct bytes *all, const struct perfdata_writer *w, uint64_t features[4]);
static inline void put_u32(struct bytes *b, uint32_t v) { bytes_put(b, &v, 4); }
static inline void put_u64(struct bytes *b, uint64_t v) { bytes_put(b, &v, 8); }
void perfdata_put_zeros(struct bytes *b, size_t n);
#endif
