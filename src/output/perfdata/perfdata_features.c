/* SPDX-License-Identifier: GPL-2.0-or-later
 * The features of a perf.data file: what its header's map of bits names, behind the data.
 *
 * Host name, kernel and memory are those of the host.  GROUP_DESC is left out on purpose: with it, perf report shows
 * the events of a group in one table instead of one section each.
 */
#include "output/perfdata/perfdata_writer.h"
#include <stdio.h>
#include <string.h>
#include <sys/sysinfo.h>
#include <sys/utsname.h>

/* Source: perf.data-file-format.txt, "HEADER_BUILD_ID": the size byte in the entry is valid. */
#define MISC_BUILD_ID_SIZE (1u << 15)
enum { NAME_ALIGN = 64 };

void perfdata_put_zeros(struct bytes *b, size_t n)
{
	static const uint8_t zero[NAME_ALIGN];
	for (; n; n -= n < sizeof zero ? n : sizeof zero)
		bytes_put(b, zero, n < sizeof zero ? n : sizeof zero);
}
/* A string in a feature: padded length, bytes, NUL, padding. */
static void put_string(struct bytes *b, const char *s)
{
	size_t length = strlen(s) + 1, padded = (length + NAME_ALIGN - 1) / NAME_ALIGN * NAME_ALIGN;
	put_u32(b, (uint32_t)padded);
	bytes_put(b, s, length);
	perfdata_put_zeros(b, padded - length);
}

static const char *cpu_list(const struct perfdata_writer *w, char *text, size_t room)
{
	snprintf(text, room, w->cpus > 1 ? "0-%u" : "0", w->cpus - 1);
	return text;
}

static void put_build_ids(struct bytes *b, const struct perfdata_writer *w)
{
	for (size_t i = 0; i < w->files; i++) {
		const struct known_file *file = &w->file[i];
		size_t length = strlen(file->path) + 1, padded = (length + NAME_ALIGN - 1) / NAME_ALIGN * NAME_ALIGN;
		struct perf_event_header h = {
			.misc = (file->kernel ? PERF_RECORD_MISC_KERNEL : PERF_RECORD_MISC_USER) | MISC_BUILD_ID_SIZE,
			.size = (uint16_t)(sizeof h + 4 + 24 + padded),
		};
		uint8_t id[24] = { 0 };
		memcpy(id, file->build_id, file->build_id_bytes);
		id[20] = file->build_id_bytes;
		bytes_put(b, &h, sizeof h);
		put_u32(b, (uint32_t)-1);	/* any process */
		bytes_put(b, id, sizeof id);
		bytes_put(b, file->path, length);
		perfdata_put_zeros(b, padded - length);
	}
}

static void put_event_desc(struct bytes *b, const struct perfdata_writer *w)
{
	put_u32(b, (uint32_t)w->events);
	put_u32(b, PERFDATA_ATTR_BYTES);
	for (size_t i = 0; i < w->events; i++) {
		bytes_put(b, &w->attr[i], PERFDATA_ATTR_BYTES);
		put_u32(b, 1);
		put_string(b, w->name[i]);
		put_u64(b, i + 1);
	}
}

/* Version 1.  Source: perf.data-file-format.txt, "HEADER_CACHE"; texts as in sysfs. */
static void put_caches(struct bytes *b, const struct perfdata_writer *w)
{
	char size[32], cpus[32];
	put_u32(b, 1);
	put_u32(b, (uint32_t)w->caches);
	for (size_t i = 0; i < w->caches; i++) {
		const struct perfdata_cache *c = &w->cache[i];
		put_u32(b, c->level);
		put_u32(b, c->line);
		put_u32(b, c->sets);
		put_u32(b, c->ways);
		put_string(b, c->type);
		snprintf(size, sizeof size, "%lluK", (unsigned long long)c->line * c->sets * c->ways / 1024);
		put_string(b, size);
		put_string(b, cpu_list(w, cpus, sizeof cpus));
	}
}

/* One node with all modelled cores, which perf c2c needs.  The memory is the host's, in kilobytes. */
static void put_numa(struct bytes *b, const struct perfdata_writer *w)
{
	struct sysinfo memory;
	char cpus[32];
	uint64_t total = sysinfo(&memory) ? 0 : (uint64_t)memory.totalram * memory.mem_unit / 1024;
	put_u32(b, 1);
	put_u32(b, 0);
	put_u64(b, total);
	put_u64(b, total);
	put_string(b, cpu_list(w, cpus, sizeof cpus));
}

bool perfdata_put_feature(struct bytes *b, const struct perfdata_writer *w, unsigned feature)
{
	struct utsname host;
	struct sysinfo memory;
	bool known = uname(&host) == 0;
	if (feature >= PERFDATA_OWN) {
		const struct bytes *own = &w->own[feature - PERFDATA_OWN];
		bytes_put(b, own->data, own->size);
		return own->size && !w->pipe;
	}
	switch (feature) {
	case PERFDATA_BUILD_ID:
		put_build_ids(b, w);
		return w->files;
	case PERFDATA_HOSTNAME:
		put_string(b, known ? host.nodename : "");
		return known;
	case PERFDATA_OSRELEASE:
		put_string(b, known ? host.release : "");
		return known;
	case PERFDATA_VERSION:
		put_string(b, w->version);
		return *w->version;
	case PERFDATA_ARCH:
		put_string(b, known ? host.machine : "");
		return known;
	case PERFDATA_NRCPUS:		/* modelled cores: configured, online */
		put_u32(b, w->cpus ? w->cpus : 1);
		put_u32(b, w->cpus ? w->cpus : 1);
		return true;
	case PERFDATA_CPUDESC:
		put_string(b, w->cpu_title);
		return *w->cpu_title;
	case PERFDATA_CPUID:
		put_string(b, w->cpuid);
		return *w->cpuid;
	case PERFDATA_TOTAL_MEM:	/* kilobytes */
		if (sysinfo(&memory))
			return false;
		put_u64(b, (uint64_t)memory.totalram * memory.mem_unit / 1024);
		return true;
	case PERFDATA_CMDLINE:
		put_u32(b, (uint32_t)w->argc);
		for (int i = 0; i < w->argc; i++)
			put_string(b, w->argv[i]);
		return w->argc;
	case PERFDATA_EVENT_DESC:
		put_event_desc(b, w);
		return true;
	case PERFDATA_NUMA_TOPOLOGY:
		put_numa(b, w);
		return w->sample_type & PERF_SAMPLE_DATA_SRC;
	case PERFDATA_CACHE:
		put_caches(b, w);
		return w->caches;
	case PERFDATA_STAT:		/* an empty section */
		return w->counts;
	case PERFDATA_BRANCH_STACK:	/* an empty section */
		return w->sample_type & PERF_SAMPLE_BRANCH_STACK;
	case PERFDATA_MEM_TOPOLOGY: {
		/* version, bytes of a block, nodes; for each node: number, blocks, a bitmap of them; here one
		 * of each */
		const uint64_t words[] = { 1, UINT64_C(1) << 40, 1, 0, 1, 1, 1 };
		bytes_put(b, words, sizeof words);
		return w->sample_type & PERF_SAMPLE_DATA_SRC;
	}
	case PERFDATA_SAMPLE_TIME:
		put_u64(b, w->first_time);
		put_u64(b, w->last_time);
		return w->samples;
	}
	return false;
}

int perfdata_own(struct perfdata_writer *w, enum perfdata_feature feature, const void *bytes, size_t n)
{
	struct bytes *own = &w->own[feature - PERFDATA_OWN];
	own->size = 0;
	bytes_put(own, bytes, n);
	return own->failed ? ERR_NOMEM : 0;
}

void perfdata_build_features(struct bytes *all, const struct perfdata_writer *w, uint64_t features[4])
{
	struct bytes body = { 0 };
	struct perfdata_section table[PERFDATA_FEATURES];
	size_t count = 0;
	for (unsigned i = 0; i < PERFDATA_FEATURES; i++) {
		size_t start = body.size;
		if (!perfdata_put_feature(&body, w, i)) {
			body.size = start;
			continue;
		}
		features[i / 64] |= UINT64_C(1) << i % 64;
		table[count++] = (struct perfdata_section){ start, body.size - start };
	}
	for (size_t i = 0; i < count; i++)
		table[i].offset += count * sizeof table[0];
	bytes_put(all, table, count * sizeof table[0]);
	bytes_put(all, body.data, body.size);
	all->failed |= body.failed;
	bytes_free(&body);
}
