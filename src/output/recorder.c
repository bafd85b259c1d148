/* SPDX-License-Identifier: GPL-2.0-or-later
 * Turns side records of the stream into records of perf.data.
 *
 * Each thread has its own clock, but readers of perf.data replay records in order of time.  So a mapping that one
 * thread makes is dated back to the slowest clock of its process, and no sample in it comes before it; unless
 * something else was mapped there before, whose samples would then be misread.  munmap has no record in perf.data, as
 * with perf itself.
 *
 * Heap blocks are written as data mappings called "[heap] FUNCTION SITE NAME", each only when a sample is about to
 * hit it.  So there are no more of them than samples, and every reader of perf.data shows the allocation site.
 * Stacks of threads are called "[stack:TID]", as older kernels did.
 */
#include "output/recorder.h"
#include "output/heapmap.h"
#include "output/machine_record.h"
#include "symbols/symbols.h"
#include "util/grow.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>

struct range { uint64_t start, end; };
/* .bss of a mapped file */
struct zeroed { uint64_t start, end, offset, inode; uint32_t dev_major, dev_minor; char *path; };
struct clock { uint32_t tid; uint64_t cycle; };
struct traced {			/* a process */
	uint32_t pid, parent;
	bool forked;		/* its FORK record is written */
	bool seen;		/* its image is known */
	uint64_t since;		/* cycle of its last exec, or start: its mappings are not dated earlier */
	uint64_t latest;	/* latest cycle that any of its threads reached */
	struct range *used;	/* where anything was ever mapped in this image; merged, sorted */
	size_t uses, use_room;
	struct zeroed *bss;
	size_t bsses;
	struct heapmap *heap;	/* NULL: heap blocks are not recorded */
	struct range *anonymous;	/* anonymous mappings, the latest last */
	size_t anonymouses, anonymous_room;
	uint32_t stack_of[16];	/* the latest threads whose stacks were recorded */
	unsigned stacks;
	struct clock *clock;	/* clocks of its live threads */
	size_t clocks, clock_room;
};
struct recorder {
	struct perfdata_writer *w;
	double hz;
	bool read_build_ids, heap;
	uint32_t round;		/* counts mappings: a block written before the latest mapping may be covered by it */
	struct symbols *symbols;	/* heap: for the names of allocation sites */
	struct traced *process;
	size_t processes, room;
	struct machine_record *machine;	/* NULL: the stream is not of a whole machine */
};

int recorder_create(struct recorder **out, struct perfdata_writer *w, double hz, bool read_build_ids, struct err *err)
{
	struct recorder *r = calloc(1, sizeof *r);
	if (!r)
		return err_set(err, ERR_NOMEM, "out of memory");
	r->w = w;
	r->hz = hz;
	r->round = 1;
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
		free(r->process[i].anonymous);
		heapmap_destroy(r->process[i].heap);
		free(r->process[i].used);
		free(r->process[i].clock);
	}
	free(r->process);
	machine_record_destroy(r->machine);
	symbols_destroy(r->symbols);
	free(r);
}

/* Returns the latest process with this pid, since numbers are reused; adds it if there is none.  NULL without
 * memory. */
static struct traced *get_process(struct recorder *r, uint32_t pid)
{
	for (size_t i = r->processes; i-- > 0; )
		if (r->process[i].pid == pid)
			return &r->process[i];
	struct traced *grown = grow_array(r->process, r->processes, &r->room, 8, sizeof *grown);
	if (!grown)
		return NULL;
	r->process = grown;
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
	struct clock *grown = grow_array(p->clock, p->clocks, &p->clock_room, 4, sizeof *grown);
	if (!grown)
		return NULL;
	p->clock = grown;
	p->clock[p->clocks] = (struct clock){ tid, p->since };
	return &p->clock[p->clocks++];
}

void recorder_clock(struct recorder *r, const struct run_thread *t, uint64_t cycle)
{
	struct traced *p = get_process(r, t->pid);
	struct clock *c = p ? get_clock(p, t->tid) : NULL;
	if (!c || cycle == UINT64_MAX)	/* UINT64_MAX: the last batch of all */
		return;
	if (cycle > c->cycle)
		c->cycle = cycle;
	if (cycle > p->latest)
		p->latest = cycle;
}

/* Marks [start, end) as used.  *fresh: none of it was used before.  Returns 0 or ERR_NOMEM. */
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
	if (first == last) {
		struct range *grown = grow_array(p->used, p->uses, &p->use_room, 64, sizeof *grown);
		if (!grown)
			return ERR_NOMEM;
		p->used = grown;
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
	if (s->is_machine)
		return r->machine ? 0 : machine_record_create(&r->machine, r->w, ns(r, cycle));
	struct traced *p = get_process(r, s->pid);
	if (!p)
		return ERR_NOMEM;
	if (s->path_bytes > room || !s->path_bytes || path[s->path_bytes - 1])
		path = "";
	if (s->is_exec || p->seen) {	/* a new image replaces the old one */
		p->uses = p->clocks = 0;
		forget_bss(p);
		p->anonymouses = 0;
		heapmap_destroy(p->heap);
		p->heap = NULL;
		if (r->heap && symbols_exec(r->symbols, s->pid, ns(r, cycle)))
			return ERR_NOMEM;
	} else if (s->parent_pid && !p->forked) {
		bool known = false;
		for (size_t i = 0; i < r->processes; i++)
			known |= r->process[i].pid == s->parent_pid && r->process[i].seen;
		if (known && perfdata_fork(r->w, s->pid, s->parent_pid, s->pid, s->parent_pid, ns(r, cycle)))
			return ERR_SYSTEM;
		p->forked = known;
	}
	bool fork_only = !s->is_exec && p->forked && !p->seen;
	if (r->heap && !p->heap && !(p->heap = heapmap_create()))
		return ERR_NOMEM;
	p->parent = s->parent_pid;
	p->since = cycle;
	p->seen = true;
	const char *slash = strrchr(path, '/'), *comm = slash ? slash + 1 : path;
	/* A forked child has its parent's name until it calls exec. */
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
	list[p->bsses] =
		(struct zeroed){ b.start, b.end, b.address, s->inode, s->dev_major, s->dev_minor, strdup(path) };
	if (!list[p->bsses].path)
		return ERR_NOMEM;
	p->bsses++;
	return 0;
}

static int note_map(struct recorder *r, struct traced *p, const struct perfdata_map *m);

/* Anonymous memory that is the .bss of a file is written once more, under the file's name, so that readers find its
 * symbols.  In the kernel's records it has no name, and no reader finds them. */
static int map_bss(struct recorder *r, struct traced *p, const struct perfdata_map *anonymous, uint64_t time)
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
		if (r->heap && note_map(r, p, &m))
			return ERR_NOMEM;
		return perfdata_mmap(r->w, &m, time);
	}
	return 0;
}

/* ---- data: heap blocks and stacks ---- */

int recorder_heap(struct recorder *r, struct err *err)
{
	r->heap = true;
	return symbols_create(&r->symbols, err);
}

static int note_map(struct recorder *r, struct traced *p, const struct perfdata_map *m)
{
	r->round++;
	if (!strcmp(m->path, "//anon") && m->prot & PROT_WRITE) {
		struct range *grown = grow_array(p->anonymous, p->anonymouses, &p->anonymous_room, 64, sizeof *grown);
		if (!grown)
			return ERR_NOMEM;
		p->anonymous = grown;
		p->anonymous[p->anonymouses++] = (struct range){ m->addr, m->addr + m->bytes };
	}
	return symbols_map(r->symbols, m->pid,
		&(struct symbols_map){
			.addr = m->addr, .bytes = m->bytes, .offset = m->offset,
			.executable = m->prot & PROT_EXEC, .path = m->path, .build_id = m->build_id,
			.build_id_bytes = m->build_id_bytes
		},
		0);
}

/* A thread starts: its stack is the mapping that contains its stack pointer. */
static int on_stack(struct recorder *r, struct traced *p, uint32_t tid, uint64_t sp, uint64_t time)
{
	char name[32];
	for (unsigned i = 0; i < sizeof p->stack_of / sizeof *p->stack_of; i++)
		if (p->stack_of[i] == tid)
			return 0;
	p->stack_of[p->stacks++ % (sizeof p->stack_of / sizeof *p->stack_of)] = tid;
	for (size_t i = p->anonymouses; i-- > 0; ) {
		if (sp < p->anonymous[i].start || sp >= p->anonymous[i].end)
			continue;
		snprintf(name, sizeof name, "[stack:%u]", tid);
		r->round++;
		if (p->heap)		/* pthread_create got it by mmap, but it is no heap block */
			heapmap_remove(p->heap, sp);
		return perfdata_mmap(r->w,
			&(struct perfdata_map){ .pid = p->pid,
				.tid = tid,
				.addr = p->anonymous[i].start,
				.bytes = p->anonymous[i].end - p->anonymous[i].start,
				.path = name,
				.prot = PROT_READ | PROT_WRITE },
			time);
	}
	return 0;
}

static int on_heap(struct traced *p, const struct run_heap *h, uint64_t cycle)
{
	if (p->heap && h->old && !strcmp(run_heap_function(h->function), "munmap"))
		/* freed blocks stay (heapmap.h), but unmapped memory may get any use */
		heapmap_remove(p->heap, h->old);
	return p->heap && h->addr ? heapmap_add(p->heap, h->addr, h->bytes, h->site, h->function, cycle) : 0;
}

int recorder_data(struct recorder *r, const struct run_thread *t, uint64_t addr, uint64_t cycle, uint64_t time_ns)
{
	char name[512];
	struct symbols_place at;
	struct traced *p = get_process(r, t->pid);
	struct heapmap_block *b = p && p->heap ? heapmap_find(p->heap, addr, cycle) : NULL;
	if (!b || b->told == r->round)
		return 0;
	symbols_resolve(r->symbols, t->pid, addr, UINT64_MAX, &at);
	if (at.path[0] == '/' && at.path[1] != '/')	/* a mapped file already has a name */
		return 0;
	b->told = r->round;
	symbols_resolve(r->symbols, t->pid, b->site - 1, UINT64_MAX, &at);
	if (at.symbol)
		snprintf(name, sizeof name, "[heap] %s %#llx %.400s+%#llx", run_heap_function(b->function),
			(unsigned long long)b->site, at.symbol->name,
			(unsigned long long)(at.address + 1 - at.symbol->start));
	else
		snprintf(name, sizeof name, "[heap] %s %#llx", run_heap_function(b->function),
			(unsigned long long)b->site);
	return perfdata_mmap(r->w,
		&(struct perfdata_map){
			.pid = t->pid, .tid = t->tid, .addr = b->start, .bytes = b->end - b->start,
			.path = name, .prot = PROT_READ | PROT_WRITE
		},
		time_ns);
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
		.pid = pid, .tid = tid, .addr = s->addr, .bytes = s->bytes, .offset = s->offset,
		.dev_major = s->dev_major, .dev_minor = s->dev_minor, .inode = s->inode, .path = path,
		.prot = (s->prot & ST_PROT_R ? PROT_READ : 0) | (s->prot & ST_PROT_W ? PROT_WRITE : 0) |
			(s->prot & ST_PROT_X ? PROT_EXEC : 0),
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
	if (r->heap && note_map(r, p, &m))
		return ERR_NOMEM;
	int code = perfdata_mmap(r->w, &m, ns(r, cycle));
	return code || strcmp(path, "//anon") ? code : map_bss(r, p, &m, ns(r, cycle));
}

int recorder_side(struct recorder *r, const struct run_thread *t, uint32_t pid, const uint64_t *record, uint64_t cycle)
{
	size_t bytes = ST_HEADER_LOW(record[0]);
	uint32_t tid = t ? t->tid : pid;
	struct traced *p;
	if (r->machine)
		return machine_record_side(r->machine, record, ns(r, cycle));
	switch (ST_HEADER_KIND(record[0])) {
	case ST_PROCESS:
		return bytes < sizeof(struct st_process)
			? 0
			: on_process(r, (const struct st_process *)record, bytes, cycle);
	case ST_MAP:
		return bytes < sizeof(struct st_map) ? 0
						     : on_map(r, (const struct st_map *)record, bytes, pid, tid, cycle);
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
		if (bytes < sizeof *s || s->os_tid == pid)	/* the first thread came with its process */
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
	case RUN_HEAP:
		p = get_process(r, pid);
		return !p                                 ? ERR_NOMEM
			: bytes < sizeof(struct run_heap) ? 0
							  : on_heap(p, (const struct run_heap *)record, cycle);
	case ST_REGS:
		p = r->heap && t && tid != pid ? get_process(r, pid) : NULL;
		return p && bytes >= sizeof(struct st_regs)
			? on_stack(r, p, tid, ((const struct st_regs *)record)->gpr[4], ns(r, cycle))
			: 0;
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
		if (cycle < p->latest)	/* it ends with the last of its threads */
			cycle = p->latest;
		int code = perfdata_exit(r->w, pid, p->parent, pid, p->parent, ns(r, cycle));
		p->pid = 0;	/* its pid may be reused; no process has pid 0 */
		return code;
	}
	return 0;
}

const char *recorder_note(const struct recorder *r)
{
	return r && r->machine ? machine_record_note(r->machine) : "";
}
