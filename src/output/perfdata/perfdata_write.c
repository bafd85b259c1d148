/* SPDX-License-Identifier: GPL-2.0-or-later
 * Writes perf.data: records go to disk as they come, in chunks of whole records.
 *
 * Records come in the order of the run, which differs from the order of modelled time: each thread has its own clock.
 * FINISHED_ROUND promises a reader that nothing older than the round before follows, which cannot be promised while
 * another thread's clock may lag.  So there is one round, at the end, and readers sort the whole file, as perf does.
 *
 * Nothing in the file depends on the wall clock.
 */
#include "output/perfdata/perfdata_writer.h"
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

/* A record type of the perf tool, not of the kernel.  Source: perf.data-file-format.txt,
 * "PERF_RECORD_FINISHED_ROUND". */
#define RECORD_FINISHED_ROUND 68
/* Those of pipe mode.  Source: ibid., "PERF_RECORD_HEADER_ATTR" and on. */
enum { RECORD_HEADER_ATTR = 64, RECORD_HEADER_BUILD_ID = 67, RECORD_HEADER_FEATURE = 80, UPDATE_NAME = 2 };

static int write_at(int fd, const void *p, size_t n, uint64_t offset)
{
	const uint8_t *bytes = p;
	while (n) {
		ssize_t done = pwrite(fd, bytes, n, (off_t)offset);
		if (done < 0 && errno == EINTR)
			continue;
		if (done <= 0) {
			if (done == 0)
				errno = ENOSPC;
			return -1;
		}
		bytes += done;
		offset += (uint64_t)done;
		n -= (size_t)done;
	}
	return 0;
}

static int write_on(int fd, const uint8_t *p, size_t n)
{
	while (n) {
		const ssize_t done = write(fd, p, n);
		if (done < 0 && errno == EINTR)
			continue;
		if (done <= 0)
			return -1;
		p += done;
		n -= (size_t)done;
	}
	return 0;
}

static int flush(struct perfdata_writer *w)
{
	if (w->error.code)
		return w->error.code;
	if (!w->used)
		return 0;
	if (w->pipe ? write_on(w->fd, w->chunk, w->used) : write_at(w->fd, w->chunk, w->used, w->written))
		return err_system(&w->error, "cannot write %s", w->path);
	if (w->marks == MARKS) {
		memmove(w->mark, w->mark + 1, sizeof w->mark[0] * (MARKS - 1));
		w->marks--;
	}
	w->written += w->used;
	w->used = 0;
	w->mark[w->marks].offset = w->written;
	w->mark[w->marks++].samples = w->samples;
	return 0;
}

/* Makes room for a record of `size` bytes with its header; returns its body, or NULL after an error. */
static uint8_t *record(struct perfdata_writer *w, uint32_t type, uint16_t misc, size_t size)
{
	if (w->error.code || (w->used + size > CHUNK && flush(w)))
		return NULL;
	uint8_t *p = w->chunk + w->used;
	struct perf_event_header header = { .type = type, .misc = misc, .size = (uint16_t)size };
	memcpy(p, &header, sizeof header);
	w->used += size;
	return p + sizeof header;
}

/* The end of every record other than samples: PERF_SAMPLE_TID, TIME, CPU, IDENTIFIER, in this order. */
struct sample_id { uint32_t pid, tid; uint64_t time; uint32_t cpu, zero; uint64_t id; };

static void put_sample_id(uint8_t *p, uint32_t pid, uint32_t tid, uint64_t time)
{
	struct sample_id id = { .pid = pid, .tid = tid, .time = time, .id = 1 };
	memcpy(p, &id, sizeof id);
}

int perfdata_read(struct perfdata_writer *w, size_t event, uint32_t pid, uint32_t tid, uint64_t count,
	uint64_t enabled_ns, uint64_t running_ns)
{
	const struct { uint32_t pid, tid; uint64_t count, enabled, running, id; } body = {
		pid, tid, count, enabled_ns, running_ns, event + 1,
	};
	const struct sample_id id = { .pid = pid, .tid = tid, .time = w->last_time, .id = event + 1 };
	uint8_t *p = record(w, PERF_RECORD_READ, 0, 8 + sizeof body + sizeof id);
	if (!p)
		return w->error.code;
	memcpy(p, &body, sizeof body);
	memcpy(p + sizeof body, &id, sizeof id);
	return 0;
}

int perfdata_comm(struct perfdata_writer *w, uint32_t pid, uint32_t tid, const char *comm, bool exec, uint64_t time)
{
	char name[16] = "";
	snprintf(name, sizeof name, "%s", comm);
	size_t padded = strlen(name) / 8 * 8 + 8;
	uint8_t *p = record(w, PERF_RECORD_COMM, PERF_RECORD_MISC_USER | (exec ? PERF_RECORD_MISC_COMM_EXEC : 0),
			    8 + 8 + padded + sizeof(struct sample_id));
	if (!p)
		return w->error.code;
	memcpy(p, (uint32_t[]){ pid, tid }, 8);
	memset(p + 8, 0, padded);
	memcpy(p + 8, name, strlen(name));
	put_sample_id(p + 8 + padded, pid, tid, time);
	return 0;
}

static int know_file(struct perfdata_writer *w, const struct perfdata_map *m)
{
	unsigned bytes = m->build_id_bytes < PERFDATA_BUILD_ID_BYTES ? m->build_id_bytes : PERFDATA_BUILD_ID_BYTES;
	for (size_t i = w->files; i-- > 0; )
		if (!strcmp(w->file[i].path, m->path) && w->file[i].build_id_bytes == bytes &&
		    !memcmp(w->file[i].build_id, m->build_id, bytes))
			return 0;
	struct known_file *file = realloc(w->file, (w->files + 1) * sizeof *file);
	if (!file)
		return err_set(&w->error, ERR_NOMEM, "out of memory");
	w->file = file;
	file += w->files;
	memset(file, 0, sizeof *file);
	if (!(file->path = strdup(m->path)))
		return err_set(&w->error, ERR_NOMEM, "out of memory");
	memcpy(file->build_id, m->build_id, bytes);
	file->build_id_bytes = (uint8_t)bytes;
	w->files++;
	return 0;
}

/* The mapping is extended to the end of its page, as the kernel does: create_gcov and create_llvm_prof refuse a file
 * with part of a page. */
int perfdata_mmap(struct perfdata_writer *w, const struct perfdata_map *m, uint64_t time)
{
	struct {
		uint32_t pid, tid;
		uint64_t addr, bytes, offset;
		uint32_t major, minor;
		uint64_t inode, generation;
		uint32_t prot, flags;
	} body = {
		m->pid, m->tid, m->addr,
		m->bytes + (-(m->addr + m->bytes) & 0xfff),
		m->offset, m->dev_major, m->dev_minor, m->inode, 0, m->prot, MAP_PRIVATE,
	};
	size_t length = strnlen(m->path, PATH_LIMIT - 1), padded = length / 8 * 8 + 8;
	const bool with_id = w->map_build_ids && (m->prot & PROT_EXEC) && m->build_id && m->build_id_bytes;
	uint8_t *p = record(w, PERF_RECORD_MMAP2,
		PERF_RECORD_MISC_USER | (m->prot & PROT_EXEC ? 0 : PERF_RECORD_MISC_MMAP_DATA) |
		(with_id ? PERF_RECORD_MISC_MMAP_BUILD_ID : 0), 8 + sizeof body + padded + sizeof(struct sample_id));
	if (!p)
		return w->error.code;
	if (with_id) {	/* in place of device, inode and generation: length, three bytes, the build-id */
		uint8_t id[24] = { 0 };
		_Static_assert(sizeof id == 2 * sizeof body.major + sizeof body.inode + sizeof body.generation, "");
		id[0] = (uint8_t)(m->build_id_bytes < PERFDATA_BUILD_ID_BYTES ? m->build_id_bytes
			: PERFDATA_BUILD_ID_BYTES);
		memcpy(id + 4, m->build_id, id[0]);
		memcpy(&body.major, id, sizeof id);
	}
	memcpy(p, &body, sizeof body);
	memset(p + sizeof body, 0, padded);
	memcpy(p + sizeof body, m->path, length);
	put_sample_id(p + sizeof body + padded, m->pid, m->tid, time);
	if (w->build_ids && !with_id && (m->prot & PROT_EXEC) && m->build_id && m->build_id_bytes)
		return know_file(w, m);
	return 0;
}

int perfdata_mmap_kernel(struct perfdata_writer *w, const char *path, uint64_t addr, uint64_t bytes, uint64_t offset,
	uint64_t time)
{
	const struct { uint32_t pid, tid; uint64_t addr, bytes, offset; } body = { UINT32_MAX, 0, addr, bytes, offset };
	const size_t length = strnlen(path, PATH_LIMIT - 1), padded = length / 8 * 8 + 8;
	uint8_t *p = record(w, PERF_RECORD_MMAP, PERF_RECORD_MISC_KERNEL, 8 + sizeof body + padded +
		sizeof(struct sample_id));
	if (!p)
		return w->error.code;
	memcpy(p, &body, sizeof body);
	memset(p + sizeof body, 0, padded);
	memcpy(p + sizeof body, path, length);
	put_sample_id(p + sizeof body + padded, body.pid, body.tid, time);
	return 0;
}

int perfdata_kernel_build_id(struct perfdata_writer *w, const uint8_t *build_id)
{
	const size_t before = w->files;
	const int code = know_file(w, &(struct perfdata_map){ .path = "[kernel.kallsyms]", .build_id = build_id,
		.build_id_bytes = PERFDATA_BUILD_ID_BYTES });
	if (!code && w->files > before)
		w->file[before].kernel = true;
	return code;
}

static int task(struct perfdata_writer *w, uint32_t type, uint32_t pid, uint32_t parent_pid, uint32_t tid,
	uint32_t parent_tid, uint64_t time)
{
	uint8_t *p = record(w, type, 0, 8 + 24 + sizeof(struct sample_id));
	if (!p)
		return w->error.code;
	memcpy(p, (uint32_t[]){ pid, parent_pid, tid, parent_tid }, 16);
	memcpy(p + 16, &time, 8);
	put_sample_id(p + 24, type == PERF_RECORD_FORK ? parent_pid : pid, type == PERF_RECORD_FORK ? parent_tid : tid,
		time);
	return 0;
}
int perfdata_fork(struct perfdata_writer *w, uint32_t pid, uint32_t parent_pid, uint32_t tid, uint32_t parent_tid,
	uint64_t time)
{
	return task(w, PERF_RECORD_FORK, pid, parent_pid, tid, parent_tid, time);
}
int perfdata_exit(struct perfdata_writer *w, uint32_t pid, uint32_t parent_pid, uint32_t tid, uint32_t parent_tid,
	uint64_t time)
{
	return task(w, PERF_RECORD_EXIT, pid, parent_pid, tid, parent_tid, time);
}

struct sample_body {
	uint64_t id, ip;
	uint32_t pid, tid;
	uint64_t time;		/* PERF_SAMPLE_ADDR follows here */
	uint32_t cpu, zero;
	uint64_t period;
};

/* Writes the fields after the call chain, in the order of <linux/perf_event.h>, comment at PERF_RECORD_SAMPLE.
 * Returns the number of words. */
static size_t put_more(const struct perfdata_writer *w, const struct perfdata_sample *s, size_t branches, uint64_t *out)
{
	size_t n = 0;
	if (w->sample_type & PERF_SAMPLE_BRANCH_STACK) {
		out[n++] = branches;
		for (size_t i = 0; i < branches; i++) {
			out[n++] = s->branch[i].from;
			out[n++] = s->branch[i].to;
			out[n++] = s->branch[i].flags;
		}
	}
	if (w->sample_type & PERF_SAMPLE_WEIGHT_STRUCT)
		out[n++] = s->weight | (uint64_t)s->instruction_latency << 32 | (uint64_t)s->retire_latency << 48;
	if (w->sample_type & PERF_SAMPLE_DATA_SRC)
		out[n++] = s->data_src;
	if (w->sample_type & PERF_SAMPLE_REGS_INTR) {
		out[n++] = !s->reg  ? PERF_SAMPLE_REGS_ABI_NONE
			: s->reg_32 ? PERF_SAMPLE_REGS_ABI_32
				    : PERF_SAMPLE_REGS_ABI_64;
		for (unsigned i = 0; s->reg && i < PERFDATA_REG_COUNT; i++)
			if (w->regs >> i & 1)
				out[n++] = s->reg[i];
	}
	return n;
}

static uint8_t *put_word(uint8_t *p, uint64_t word)
{
	memcpy(p, &word, sizeof word);
	return p + sizeof word;
}

int perfdata_sample(struct perfdata_writer *w, const struct perfdata_sample *s)
{
	struct sample_body body = { s->event + 1, s->ip, s->pid, s->tid, s->time, s->cpu, 0, s->period };
	const uint64_t *chain = s->chain_length && s->chain ? s->chain : &s->ip;
	size_t frames = s->chain_length && s->chain ? s->chain_length : 1, kernel = 0;
	if (frames > PERFDATA_CHAIN_MAX)
		frames = PERFDATA_CHAIN_MAX;
	while (s->kernel && kernel < frames && chain[kernel] >> 63)
		kernel++;
	if (s->event >= w->events)
		return err_set(&w->error, ERR_INPUT, "%s: sample of an event that the file does not have", w->path);
	/* A length, the frames, and markers ahead of the kernel's and the program's.  A sample without frames still
	 * has its own address. */
	size_t words = w->call_chains ? 1 + frames + (kernel > 0) + (kernel < frames) : 0;
	size_t branches = s->branch ? s->branches < BRANCHES_LIMIT ? s->branches : BRANCHES_LIMIT : 0;
	uint64_t more[2 + 3 * BRANCHES_LIMIT + 2 + 1 + PERFDATA_REG_COUNT], addr = s->addr;
	size_t after = put_more(w, s, branches, more), at = offsetof(struct sample_body, cpu);
	bool has_addr = w->sample_type & PERF_SAMPLE_ADDR;
	uint8_t *p = record(w, PERF_RECORD_SAMPLE, (s->kernel ? PERF_RECORD_MISC_KERNEL : PERF_RECORD_MISC_USER) |
			    (s->exact ? PERF_RECORD_MISC_EXACT_IP : 0),
			    8 + sizeof body + 8 * (words + after + has_addr));
	if (!p)
		return w->error.code;
	memcpy(p, &body, at);
	if (has_addr) {
		memcpy(p + at, &addr, 8);
		p += 8;
	}
	memcpy(p + at, (const uint8_t *)&body + at, sizeof body - at);
	p += sizeof body;
	if (words) {
		p = put_word(p, words - 1);
		if (kernel)
			p = put_word(p, (uint64_t)PERF_CONTEXT_KERNEL);
		memcpy(p, chain, 8 * kernel);
		p += 8 * kernel;
		if (kernel < frames)
			p = put_word(p, (uint64_t)PERF_CONTEXT_USER);
		memcpy(p, chain + kernel, 8 * (frames - kernel));
		p += 8 * (frames - kernel);
	}
	memcpy(p, more, 8 * after);
	if (!w->samples || s->time < w->first_time)
		w->first_time = s->time;
	if (s->time > w->last_time)
		w->last_time = s->time;
	if (s->cpu >= w->cpus)
		w->cpus = s->cpu + 1;
	w->samples++;
	return 0;
}

static void fill_attr(struct perf_event_attr *a, const struct perfdata_event *e, const struct perfdata_writer *w,
	bool first)
{
	memset(a, 0, sizeof *a);
	a->type = e->type;
	a->size = PERFDATA_ATTR_BYTES;
	a->config = e->config;
	a->config1 = e->config1;
	a->sample_type = w->sample_type;
	a->sample_regs_intr = w->sample_type & PERF_SAMPLE_REGS_INTR ? w->regs : 0;
	a->branch_sample_type = w->sample_type & PERF_SAMPLE_BRANCH_STACK ? w->branch_type : 0;
	if (w->counts) {
		a->read_format = PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING;
		a->disabled = a->inherit = a->enable_on_exec = 1;
		a->exclude_kernel = a->exclude_hv = e->exclude_kernel;
		return;
	}
	a->read_format = PERF_FORMAT_ID |
		(w->thread_counts ? PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING : 0);
	a->inherit_stat = w->thread_counts;
	a->build_id = w->map_build_ids;
	a->freq = e->frequency != 0;
	if (a->freq)
		a->sample_freq = e->frequency;
	else
		a->sample_period = e->period;
	a->disabled = 1;
	a->inherit = 1;
	a->exclude_user = e->exclude_user;
	a->exclude_kernel = e->exclude_kernel;
	a->exclude_hv = e->exclude_kernel;
	a->precise_ip = e->precise & 3;
	a->enable_on_exec = 1;
	a->sample_id_all = 1;
	if (first)		/* one event tracks the process, as in perf */
		a->mmap = a->comm = a->task = a->mmap_data = a->mmap2 = a->comm_exec = 1;
}

int perfdata_tool_record(struct perfdata_writer *w, uint32_t type, const void *body, size_t bytes)
{
	uint8_t *p = record(w, type, 0, 8 + bytes);
	if (p)
		memcpy(p, body, bytes);
	return p ? 0 : w->error.code;
}

static void release(struct perfdata_writer *w)
{
	if (!w)
		return;
	if (w->fd >= 0)
		close(w->fd);
	for (size_t i = 0; i < w->files; i++)
		free(w->file[i].path);
	for (size_t i = 0; w->name && i < w->events; i++)
		free(w->name[i]);
	for (int i = 0; w->argv && i < w->argc; i++)
		free(w->argv[i]);
	free(w->file);
	free(w->name);
	free(w->argv);
	free(w->attr);
	free(w->chunk);
	free(w->path);
	free(w->version);
	free(w->cpu_title);
	free(w->cpuid);
	for (size_t i = 0; i < sizeof w->own / sizeof w->own[0]; i++)
		bytes_free(&w->own[i]);
	free(w);
}

static void header(const struct perfdata_writer *w, struct perfdata_header *h)
{
	*h = (struct perfdata_header){ .size = sizeof *h,
		.attr_size = PERFDATA_ATTR_BYTES + sizeof(struct perfdata_section) };
	memcpy(h->magic, "PERFILE2", 8);
	h->attrs.offset = sizeof *h + 8 * w->events;
	h->attrs.size = h->attr_size * w->events;
	h->data.offset = w->data_start;
	h->data.size = w->written - w->data_start;
}

static char *copy(const char *s) { return strdup(s ? s : ""); }

static int keep_options(struct perfdata_writer *w, const struct perfdata_options *o)
{
	w->path = copy(o->path);
	w->version = copy(o->version);
	w->cpu_title = copy(o->cpu_title);
	w->cpuid = copy(o->cpuid);
	w->chunk = malloc(CHUNK);
	w->attr = calloc(o->event_count, sizeof *w->attr);
	w->name = calloc(o->event_count, sizeof *w->name);
	w->argv = calloc((size_t)o->argc + 1, sizeof *w->argv);
	if (!w->path || !w->version || !w->cpu_title || !w->cpuid || !w->chunk || !w->attr || !w->name || !w->argv)
		return -1;
	w->events = o->event_count;
	w->argc = o->argc;
	for (size_t i = 0; i < w->events; i++) {
		fill_attr(&w->attr[i], &o->events[i], w, i == 0);
		if (!(w->name[i] = copy(o->events[i].name)))
			return -1;
	}
	for (int i = 0; i < w->argc; i++)
		if (!(w->argv[i] = copy(o->argv[i])))
			return -1;
	for (w->caches = 0; w->caches < o->caches && w->caches < CACHES; w->caches++)
		w->cache[w->caches] = o->cache[w->caches];
	return 0;
}

static int open_file(struct perfdata_writer *w, struct err *err)
{
	struct stat st;
	if (w->pipe)
		return 0;
	if (stat(w->path, &st) == 0 && S_ISREG(st.st_mode) && st.st_size > 0) {
		char *old;
		if (asprintf(&old, "%s.old", w->path) < 0)
			return err_set(err, ERR_NOMEM, "out of memory");
		int failed = rename(w->path, old);
		if (failed)
			err_system(err, "cannot rename %s to %s", w->path, old);
		free(old);
		if (failed)
			return ERR_SYSTEM;
		w->renamed = true;
	}
	/* 0600, as perf: addresses are private */
	w->fd = open(w->path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	if (w->fd < 0)
		return err_system(err, "cannot create %s", w->path);
	w->regular = fstat(w->fd, &st) == 0 && S_ISREG(st.st_mode);
	if (!w->regular && lseek(w->fd, 0, SEEK_CUR) < 0)
		return err_set(err, ERR_UNSUPPORTED, "%s is a pipe: -o - writes for pipes, to standard output",
			w->path);
	return 0;
}

/* Pipe mode: the magic word, then the events as records. */
static int begin_pipe(struct perfdata_writer *w, struct err *err)
{
	struct { char magic[8]; uint64_t size; } head = { .size = sizeof head };
	memcpy(head.magic, "PERFILE2", sizeof head.magic);
	memcpy(w->chunk, &head, sizeof head);
	w->used = w->written = sizeof head;
	w->written = 0;
	for (size_t i = 0; i < w->events; i++) {
		const uint64_t id = i + 1;
		uint8_t *p = record(w, RECORD_HEADER_ATTR, 0, 8 + PERFDATA_ATTR_BYTES + sizeof id);
		if (!p)
			break;
		memcpy(p, &w->attr[i], PERFDATA_ATTR_BYTES);
		memcpy(p + PERFDATA_ATTR_BYTES, &id, sizeof id);
	}
	for (size_t i = 0; i < w->events; i++) {
		const uint64_t what[2] = { UPDATE_NAME, i + 1 };
		const size_t length = strnlen(w->name[i], PATH_LIMIT - 1), padded = length / 8 * 8 + 8;
		uint8_t *p = record(w, PERFDATA_TOOL_EVENT_UPDATE, 0, 8 + sizeof what + padded);
		if (!p)
			break;
		memcpy(p, what, sizeof what);
		memset(p + sizeof what, 0, padded);
		memcpy(p + sizeof what, w->name[i], length);
	}
	return w->error.code ? err_set(err, w->error.code, "%s", w->error.text) : 0;
}

int perfdata_create(struct perfdata_writer **out, const struct perfdata_options *o, struct err *err)
{
	if (!o->event_count)
		return err_set(err, ERR_INPUT, "no event to sample");
	struct perfdata_writer *w = calloc(1, sizeof *w);
	if (!w)
		return err_set(err, ERR_NOMEM, "out of memory");
	w->pipe = o->pipe > 0;
	w->fd = w->pipe ? o->pipe : -1;
	w->call_chains = o->call_chains;
	w->build_ids = o->build_ids;
	w->map_build_ids = o->build_ids && o->map_build_ids;
	w->thread_counts = o->thread_counts;
	w->counts = o->counts;
	w->sample_type = o->counts ? PERF_SAMPLE_IDENTIFIER
		: PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME |
		PERF_SAMPLE_CPU | PERF_SAMPLE_PERIOD | (o->call_chains ? PERF_SAMPLE_CALLCHAIN : 0) |
		(o->fields & PERFDATA_ADDR ? PERF_SAMPLE_ADDR : 0) |
		(o->fields & PERFDATA_WEIGHT ? PERF_SAMPLE_WEIGHT_STRUCT : 0) |
		(o->fields & PERFDATA_DATA_SRC ? PERF_SAMPLE_DATA_SRC : 0) |
		(o->fields & PERFDATA_REGS ? PERF_SAMPLE_REGS_INTR : 0) |
		(o->fields & PERFDATA_BRANCHES ? PERF_SAMPLE_BRANCH_STACK : 0);
	w->regs = o->regs & ((UINT64_C(1) << PERFDATA_REG_COUNT) - 1);
	w->branch_type = o->branch_type;
	int code = keep_options(w, o) ? err_set(err, ERR_NOMEM, "out of memory") : open_file(w, err);
	if (!code && w->pipe)
		code = begin_pipe(w, err);
	if (code || w->pipe) {
		if (code)
			release(w);
		else
			*out = w;
		return code;
	}
	w->data_start = sizeof(struct perfdata_header) +
		w->events * (8 + PERFDATA_ATTR_BYTES + sizeof(struct perfdata_section));
	w->written = w->data_start;

	struct perfdata_header h;
	header(w, &h);
	struct bytes b = { 0 };
	bytes_put(&b, &h, sizeof h);
	for (size_t i = 0; i < w->events; i++)
		put_u64(&b, i + 1);
	for (size_t i = 0; i < w->events; i++) {
		bytes_put(&b, &w->attr[i], PERFDATA_ATTR_BYTES);
		bytes_put(&b, &(struct perfdata_section){ sizeof h + 8 * i, 8 }, sizeof(struct perfdata_section));
	}
	if (b.failed)
		code = err_set(err, ERR_NOMEM, "out of memory");
	else if (write_at(w->fd, b.data, b.size, 0))
		code = err_system(err, "cannot write %s", w->path);
	bytes_free(&b);
	if (code) {
		release(w);
		return code;
	}
	w->mark[w->marks++].offset = w->written;
	*out = w;
	return 0;
}

/* ---- the end ---- */

/* Pipe mode: each feature as a record, and the build-ids, before the last round ends. */
static void finish_pipe(struct perfdata_writer *w)
{
	for (unsigned i = 0; i < PERFDATA_FEATURES; i++) {
		struct bytes b = { 0 };
		const uint64_t feature = i;
		const bool has = perfdata_put_feature(&b, w, i);
		perfdata_put_zeros(&b, -b.size & 7);
		if (has && !b.failed && i == PERFDATA_BUILD_ID) {
			for (size_t at = 0; b.size - at >= sizeof(struct perf_event_header);) {	/* padding follows */
				struct perf_event_header h;
				memcpy(&h, b.data + at, sizeof h);
				uint8_t *p = record(w, RECORD_HEADER_BUILD_ID, h.misc, h.size);
				if (!p)
					break;
				memcpy(p, b.data + at + sizeof h, h.size - sizeof h);
				at += h.size;
			}
		} else if (has && !b.failed && b.size < CHUNK - 64) {
			uint8_t *p = record(w, RECORD_HEADER_FEATURE, 0, 16 + b.size);
			if (p) {
				memcpy(p, &feature, sizeof feature);
				memcpy(p + sizeof feature, b.data, b.size);
			}
		}
		bytes_free(&b);
	}
}

/* Writes the features after the data at w->written, then the header. */
static int close_file(struct perfdata_writer *w, const struct bytes *features, const uint64_t map[4])
{
	struct perfdata_header h;
	header(w, &h);
	if (ftruncate(w->fd, (off_t)w->written) && errno != EINVAL)	/* EINVAL: a device, such as /dev/null */
		return -1;
	if (features) {
		uint8_t *moved = malloc(features->size);
		if (!moved)
			return -1;
		memcpy(moved, features->data, features->size);
		unsigned count = 0;
		for (unsigned i = 0; i < 4; i++)
			count += (unsigned)__builtin_popcountll(map[i]);
		for (unsigned i = 0; i < count; i++) {
			struct perfdata_section s;
			memcpy(&s, moved + i * sizeof s, sizeof s);
			s.offset += w->written;
			memcpy(moved + i * sizeof s, &s, sizeof s);
		}
		int failed = write_at(w->fd, moved, features->size, w->written);
		free(moved);
		if (failed) {
			int saved = errno;
			if (ftruncate(w->fd, (off_t)w->written) == 0)
				errno = saved;
			return -1;
		}
		memcpy(h.features, map, sizeof h.features);
	}
	return write_at(w->fd, &h, sizeof h, 0);
}

int perfdata_finish(struct perfdata_writer *w, uint64_t *bytes, uint64_t *samples, struct err *err)
{
	if (w->pipe) {
		finish_pipe(w);
		record(w, RECORD_FINISHED_ROUND, 0, 8);
		flush(w);
		if (bytes)
			*bytes = w->written;
		if (samples)
			*samples = w->samples;
		const int code = w->error.code;
		if (err && code)
			*err = w->error;
		release(w);
		return code;
	}
	if (!w->counts)
		record(w, RECORD_FINISHED_ROUND, 0, 8);
	flush(w);
	struct bytes features = { 0 };
	uint64_t map[4] = { 0 };
	perfdata_build_features(&features, w, map);
	if (features.failed)
		err_set(&w->error, w->error.code ? w->error.code : ERR_NOMEM, "%s",
			w->error.code ? w->error.text : "out of memory");
	int failed = -1;
	/* On a full disk, drop chunk after chunk until the features fit; if they never do, leave them out. */
	for (unsigned m = w->marks; failed && m-- > 0 && !features.failed; ) {
		w->written = w->mark[m].offset;
		failed = close_file(w, &features, map);
		if (failed && !w->error.code)
			err_system(&w->error, "cannot write %s", w->path);
		if (!failed)
			w->samples = w->mark[m].samples;
	}
	if (failed) {
		w->written = w->mark[w->marks - 1].offset;
		w->samples = w->mark[w->marks - 1].samples;
		if (close_file(w, NULL, map) && !w->error.code)
			err_system(&w->error, "cannot write %s", w->path);
	}
	if (bytes)
		*bytes = w->written + (failed ? 0 : features.size);
	if (samples)
		*samples = w->samples;
	if (close(w->fd) && !w->error.code)
		err_system(&w->error, "cannot write %s", w->path);
	w->fd = -1;
	int code = w->error.code;
	if (err && code)
		*err = w->error;
	bytes_free(&features);
	release(w);
	return code;
}

void perfdata_discard(struct perfdata_writer *w)
{
	if (!w->pipe && w->regular && unlink(w->path) == 0 && w->renamed) {
		char *old;
		if (asprintf(&old, "%s.old", w->path) >= 0) {
			/* if this fails, the old file is still there as PATH.old */
			w->renamed = rename(old, w->path) != 0;
			free(old);
		}
	}
	release(w);
}
