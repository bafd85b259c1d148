/* SPDX-License-Identifier: GPL-2.0-or-later
 * Turns side records of the stream into records of perf.data.
 *
 * Threads have clocks of their own, but readers of perf.data replay in order of time: a mapping that one thread makes is dated back
 * to the slowest clock of its process, so that no sample in it comes before it; unless something else lay there before,
 * whose samples would then be misread.  munmap has no record in perf.data, as with perf itself.
 */
#include "output/recorder.h"
#include "output/symbols.h"
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>

struct range { uint64_t start, end; };
struct zeroed { uint64_t start, end, offset, inode; uint32_t dev_major, dev_minor; char *path; };	/* .bss of a mapped file */
struct clock { uint32_t tid; uint64_t cycle; };
struct traced {			/* a process */
	uint32_t pid, parent;
	bool forked;		/* its FORK record is written */
	bool seen;		/* its image is known */
	uint64_t since;		/* cycle of its last exec (or start): its mappings are not dated before */
	uint64_t latest;	/* latest cycle any of its threads reached */
	struct range *used;	/* merged, in order: where anything was ever mapped in this image */
	size_t uses, use_room;
	struct zeroed *bss;
	size_t bsses;
	struct clock *clock;	/* of its live threads */
	size_t clocks, clock_room;
};
struct recorder {
	struct perfdata_writer *w;
	double hz;
	bool read_build_ids;
	struct traced *process;
	size_t processes, room;
};

int recorder_create(struct recorder **out, struct perfdata_writer *w, double hz, bool read_build_ids, struct err *err)
{
	struct recorder *r = calloc(1, sizeof *r);
	if (!r)
		return err_set(err, ERR_NOMEM, "out of memory");
	r->w = w;
	r->hz = hz;
	r->read_build_ids = read_build_ids;
	*out = r;
	return 0;
}

static void forget_bss(struct traced *p)
{
	while (p->bsses)
		free(p->bss[--p->bsses].path);
}

void recorder_destroy(struct recorder *r)
{
	if (!r)
		return;
	for (size_t i = 0; i < r->processes; i++) {
		forget_bss(&r->process[i]);
		free(r->process[i].bss);
		free(r->process[i].used);
		free(r->process[i].clock);
	}
	free(r->process);
	free(r);
}

/* The latest process with this pid: numbers come again. */
static struct traced *get_process(struct recorder *r, uint32_t pid)
{
	for (size_t i = r->processes; i-- > 0; )
		if (r->process[i].pid == pid)
			return &r->process[i];
	if (r->processes == r->room) {
		size_t room = r->room ? r->room * 2 : 8;
		struct traced *grown = realloc(r->process, room * sizeof *grown);
		if (!grown)
			return NULL;
		r->process = grown;
		r->room = room;
	}
	r->process[r->processes] = (struct traced){ .pid = pid };
	return &r->process[r->processes++];
}

static uint64_t ns(const struct recorder *r, uint64_t cycle)
{
	uint64_t hz = (uint64_t)(r->hz + 0.5);
	return hz ? (uint64_t)((unsigned __int128)cycle * 1000000000 / hz) : cycle;
}

static struct clock *get_clock(struct traced *p, uint32_t tid)
{
	for (size_t i = 0; i < p->clocks; i++)
		if (p->clock[i].tid == tid)
			return &p->clock[i];
	if (p->clocks == p->clock_room) {
		size_t room = p->clock_room ? p->clock_room * 2 : 4;
		struct clock *grown = realloc(p->clock, room * sizeof *grown);
		if (!grown)
			return NULL;
		p->clock = grown;
		p->clock_room = room;
	}
	p->clock[p->clocks] = (struct clock){ tid, p->since };
	return &p->clock[p->clocks++];
}

void recorder_clock(struct recorder *r, const struct run_thread *t, uint64_t cycle)
{
	struct traced *p = get_process(r, t->pid);
	struct clock *c = p ? get_clock(p, t->tid) : NULL;
	if (!c || cycle == UINT64_MAX)	/* the last batch of all: nothing more to come */
		return;
	if (cycle > c->cycle)
		c->cycle = cycle;
	if (cycle > p->latest)
		p->latest = cycle;
}

/* Notes [start, end) as used; true if none of it was before. */
static int use(struct traced *p, uint64_t start, uint64_t end, bool *fresh)
{
	size_t first = 0, last;
	while (first < p->uses && p->used[first].end < start)
		first++;
	*fresh = true;
	for (last = first; last < p->uses && p->used[last].start <= end; last++) {
		if (p->used[last].start < end && p->used[last].end > start)
			*fresh = false;
		if (p->used[last].start < start)
			start = p->used[last].start;
		if (p->used[last].end > end)
			end = p->used[last].end;
	}
	if (first == last && p->uses == p->use_room) {
		size_t room = p->use_room ? p->use_room * 2 : 64;
		struct range *grown = realloc(p->used, room * sizeof *grown);
		if (!grown)
			return ERR_NOMEM;
		p->used = grown;
		p->use_room = room;
	}
	memmove(&p->used[first + 1], &p->used[last], (p->uses - last) * sizeof *p->used);
	p->uses = p->uses - last + first + 1;
	p->used[first] = (struct range){ start, end };
	return 0;
}

static int on_process(struct recorder *r, const struct st_process *s, size_t bytes, uint64_t cycle)
{
	const char *path = (const char *)(s + 1);
	size_t room = bytes - sizeof *s;
	struct traced *p = get_process(r, s->pid);
	if (!p)
		return ERR_NOMEM;
	if (s->path_bytes > room || !s->path_bytes || path[s->path_bytes - 1])
		path = "";
	if (s->is_exec || p->seen) {	/* a new image: nothing of the old one is left */
		p->uses = p->clocks = 0;
		forget_bss(p);
	} else if (s->parent_pid && !p->forked) {
		bool known = false;
		for (size_t i = 0; i < r->processes; i++)
			known |= r->process[i].pid == s->parent_pid && r->process[i].seen;
		if (known && perfdata_fork(r->w, s->pid, s->parent_pid, s->pid, s->parent_pid, ns(r, cycle)))
			return ERR_SYSTEM;
		p->forked = known;
	}
	bool fork_only = !s->is_exec && p->forked && !p->seen;
	p->parent = s->parent_pid;
	p->since = cycle;
	p->seen = true;
	const char *slash = strrchr(path, '/'), *comm = slash ? slash + 1 : path;
	/* A forked child is called as its parent until it calls exec. */
	return *comm && !fork_only ? perfdata_comm(r->w, s->pid, s->pid, comm, true, ns(r, cycle)) : 0;
}

static int note_bss(struct traced *p, const struct st_map *s, const char *path)
{
	struct symbols_bss b;
	if (!symbols_find_bss(path, s->addr, s->offset, &b))
		return 0;
	struct zeroed *list = realloc(p->bss, (p->bsses + 1) * sizeof *list);
	if (!list)
		return ERR_NOMEM;
	p->bss = list;
	list[p->bsses] = (struct zeroed){ b.start, b.end, b.address, s->inode, s->dev_major, s->dev_minor, strdup(path) };
	if (!list[p->bsses].path)
		return ERR_NOMEM;
	p->bsses++;
	return 0;
}

/* Anonymous memory that is some file's .bss is mapped once more, under the file's name: readers then find its symbols, which those of the kernel's own
 * records, where it is nameless, never do. */
static int map_bss(struct recorder *r, const struct traced *p, const struct perfdata_map *anonymous, uint64_t time)
{
	uint64_t end = anonymous->addr + anonymous->bytes;
	for (size_t i = p->bsses; i-- > 0; ) {
		const struct zeroed *z = &p->bss[i];
		struct perfdata_map m = *anonymous;
		if (z->end <= anonymous->addr || z->start >= end)
			continue;
		m.addr = z->start > anonymous->addr ? z->start : anonymous->addr;
		m.bytes = (z->end < end ? z->end : end) - m.addr;
		m.offset = z->offset + (m.addr - z->start);
		m.path = z->path;
		m.inode = z->inode;
		m.dev_major = z->dev_major;
		m.dev_minor = z->dev_minor;
		return perfdata_mmap(r->w, &m, time);
	}
	return 0;
}

static int on_map(struct recorder *r, const struct st_map *s, size_t bytes, uint32_t pid, uint32_t tid, uint64_t cycle)
{
	const char *path = (const char *)(s + 1);
	uint8_t id[SYMBOLS_BUILD_ID_BYTES];
	struct stat st;
	bool fresh, same_file = false;
	struct traced *p = get_process(r, pid);
	if (s->path_bytes > bytes - sizeof *s || (s->path_bytes && path[s->path_bytes - 1]))
		return 0;
	if (!p)
		return ERR_NOMEM;
	if (!s->path_bytes || !*path)
		path = s->is_stack ? "[stack]" : s->is_heap ? "[heap]" : "//anon";
	if (!s->bytes || s->addr + s->bytes < s->addr)
		return 0;
	if (use(p, s->addr, s->addr + s->bytes, &fresh))
		return ERR_NOMEM;
	if (fresh) {
		for (size_t i = 0; i < p->clocks; i++)
			if (p->clock[i].cycle < cycle)
				cycle = p->clock[i].cycle;
		if (cycle < p->since)
			cycle = p->since;
	}
	struct perfdata_map m = {
		.pid = pid, .tid = tid, .addr = s->addr, .bytes = s->bytes, .offset = s->offset, .dev_major = s->dev_major,
		.dev_minor = s->dev_minor, .inode = s->inode, .path = path,
		.prot = (s->prot & ST_PROT_R ? PROT_READ : 0) | (s->prot & ST_PROT_W ? PROT_WRITE : 0) | (s->prot & ST_PROT_X ? PROT_EXEC : 0),
	};
	if ((s->prot & ST_PROT_X) && *path == '/')
		same_file = stat(path, &st) == 0 && st.st_ino == s->inode;
	if (same_file && note_bss(p, s, path))
		return ERR_NOMEM;
	if (s->build_id_bytes && s->build_id_bytes <= sizeof s->build_id) {
		m.build_id = s->build_id;
		m.build_id_bytes = s->build_id_bytes;
	} else if (r->read_build_ids && same_file) {
		m.build_id_bytes = symbols_build_id(path, id);
		m.build_id = m.build_id_bytes ? id : NULL;
	}
	int code = perfdata_mmap(r->w, &m, ns(r, cycle));
	return code || strcmp(path, "//anon") ? code : map_bss(r, p, &m, ns(r, cycle));
}

int recorder_side(struct recorder *r, const struct run_thread *t, uint32_t pid, const uint64_t *record, uint64_t cycle)
{
	size_t bytes = ST_HEADER_LOW(record[0]);
	uint32_t tid = t ? t->tid : pid;
	struct traced *p;
	switch (ST_HEADER_KIND(record[0])) {
	case ST_PROCESS:
		return bytes < sizeof(struct st_process) ? 0 : on_process(r, (const struct st_process *)record, bytes, cycle);
	case ST_MAP:
		return bytes < sizeof(struct st_map) ? 0 : on_map(r, (const struct st_map *)record, bytes, pid, tid, cycle);
	case ST_COMM: {
		char name[16];
		if (bytes < sizeof(struct st_name))
			return 0;
		memcpy(name, ((const struct st_name *)record)->name, sizeof name);
		name[sizeof name - 1] = 0;
		return perfdata_comm(r->w, pid, tid, name, false, ns(r, cycle));
	}
	case ST_THREAD_START: {
		const struct st_thread *s = (const struct st_thread *)record;
		if (bytes < sizeof *s || s->os_tid == pid)	/* a process's first thread came with it */
			return 0;
		return perfdata_fork(r->w, pid, pid, s->os_tid, tid == s->os_tid ? pid : tid, ns(r, cycle));
	}
	case ST_FORK: {
		const struct st_fork *s = (const struct st_fork *)record;
		if (bytes < sizeof *s || !s->followed)
			return 0;
		p = get_process(r, s->child_pid);
		if (!p)
			return ERR_NOMEM;
		if (p->forked || p->seen)
			return 0;
		p->forked = true;
		return perfdata_fork(r->w, s->child_pid, pid, s->child_pid, tid, ns(r, cycle));
	}
	case ST_THREAD_EXIT: {
		const struct st_thread *s = (const struct st_thread *)record;
		p = get_process(r, pid);
		if (bytes < sizeof *s || !p)
			return 0;
		for (size_t i = 0; i < p->clocks; i++)
			if (p->clock[i].tid == s->os_tid)
				p->clock[i--] = p->clock[--p->clocks];
		return s->os_tid == pid ? 0 : perfdata_exit(r->w, pid, pid, s->os_tid, pid, ns(r, cycle));
	}
	case ST_EXIT:
		p = get_process(r, pid);
		if (!p)
			return ERR_NOMEM;
		if (cycle < p->latest)	/* it ends when the last of its threads does */
			cycle = p->latest;
		int code = perfdata_exit(r->w, pid, p->parent, pid, p->parent, ns(r, cycle));
		p->pid = 0;	/* another process may come with this number; no process has number 0 */
		return code;
	}
	return 0;
}
