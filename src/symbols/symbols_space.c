/* SPDX-License-Identifier: GPL-2.0-or-later
 * The address spaces of a run's processes: what was mapped where, from when to when.
 *
 * Current mappings are in one array, in order of address, and never overlap.  What was unmapped or covered moves to
 * a list of the past, which is only used for questions about earlier times.  A file is opened when the first
 * address in it is looked up.
 */
#include "symbols/kallsyms.h"
#include "symbols/symbols_private.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct symbols_object {
	char *path, *short_name;
	uint8_t build_id[SYMBOLS_BUILD_ID_BYTES];
	unsigned build_id_bytes;
	size_t index;
	enum { OBJECT_FILE, OBJECT_JIT, OBJECT_NAMED /* memory without a file */ } kind;
	bool tried;
	struct symfile *file;
	char *why, *jitdump;
};
struct mapping {
	uint64_t start, end, address;	/* address: of `start` in the object */
	uint64_t from, to;		/* valid while from <= time < to */
	struct symbols_object *object;
};
struct process {
	uint32_t pid;
	struct mapping *live, *past;
	size_t lives, live_room, pasts, past_room;
	char *jitdump;
};
struct symbols {
	struct process *process;	/* in order of pid */
	size_t processes;
	struct symbols_object **object;
	size_t objects;
	bool machine;
	struct known_code *known;	/* of the kernel */
};

int symbols_create(struct symbols **out, struct err *err)
{
	*out = calloc(1, sizeof **out);
	return *out ? 0 : err_set(err, ERR_NOMEM, "out of memory");
}

void symbols_destroy(struct symbols *s)
{
	if (!s)
		return;
	for (size_t i = 0; i < s->processes; i++) {
		free(s->process[i].live);
		free(s->process[i].past);
		free(s->process[i].jitdump);
	}
	for (size_t i = 0; i < s->objects; i++) {
		symfile_close(s->object[i]->file);
		free(s->object[i]->path);
		free(s->object[i]->short_name);
		free(s->object[i]->why);
		free(s->object[i]->jitdump);
		free(s->object[i]);
	}
	free(s->process);
	free(s->object);
	free(s->known);
	free(s);
}

static size_t process_place(const struct symbols *s, uint32_t pid)
{
	size_t low = 0, high = s->processes;
	while (low < high) {
		size_t middle = low + (high - low) / 2;
		if (s->process[middle].pid < pid)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}
static struct process *find_process(const struct symbols *s, uint32_t pid)
{
	size_t at = process_place(s, pid);
	return at < s->processes && s->process[at].pid == pid ? &s->process[at] : NULL;
}
static struct process *get_process(struct symbols *s, uint32_t pid)
{
	struct process *p = find_process(s, pid);
	if (p)
		return p;
	size_t at = process_place(s, pid);
	p = realloc(s->process, (s->processes + 1) * sizeof *p);
	if (!p)
		return NULL;
	s->process = p;
	memmove(p + at + 1, p + at, (s->processes++ - at) * sizeof *p);
	p[at] = (struct process){ .pid = pid };
	return &p[at];
}

/* ---- objects ---- */

static struct symbols_object *get_object(struct symbols *s, const char *path, int kind, const uint8_t *id,
	unsigned id_bytes)
{
	if (id_bytes > SYMBOLS_BUILD_ID_BYTES)
		id_bytes = SYMBOLS_BUILD_ID_BYTES;
	for (size_t i = s->objects; i-- > 0; ) {
		struct symbols_object *o = s->object[i];
		if (strcmp(o->path, path))
			continue;
		/* A file that was replaced while the program ran is another object; without a build-id it counts as
		 * the same. */
		if (o->build_id_bytes && id_bytes &&
		    (o->build_id_bytes != id_bytes || memcmp(o->build_id, id, id_bytes)))
			continue;
		if (id_bytes && !o->build_id_bytes && !o->tried) {
			memcpy(o->build_id, id, id_bytes);
			o->build_id_bytes = id_bytes;
		}
		return o;
	}
	struct symbols_object **list = realloc(s->object, (s->objects + 1) * sizeof *list), *o;
	if (!list)
		return NULL;
	s->object = list;
	o = calloc(1, sizeof *o);
	if (!o)
		return NULL;
	unsigned pid;
	const char *slash = strrchr(path, '/'), *base = slash ? slash + 1 : path;
	o->path = strdup(path);
	if (sscanf(base, "perf-%u.map", &pid) == 1) {
		if (asprintf(&o->short_name, "[JIT] tid %u", pid) < 0)
			o->short_name = NULL;
	} else {
		o->short_name = strdup(*base ? base : path);
	}
	if (!o->path || !o->short_name) {
		free(o->path);
		free(o->short_name);
		free(o);
		return NULL;
	}
	o->kind = kind;
	if (id_bytes)
		memcpy(o->build_id, id, id_bytes);
	o->build_id_bytes = id_bytes;
	o->index = s->objects;
	return list[s->objects++] = o;
}

static void load(struct symbols_object *o, const char *jitdump)
{
	struct err err = { 0 };
	int code = 0;
	if (o->kind == OBJECT_NAMED)
		return;
	if (o->kind == OBJECT_JIT) {
		if (o->tried && (!jitdump || o->jitdump))
			return;
		/* The dump was mapped after the first look-up: read both files now. */
		symfile_close(o->file);
		o->file = NULL;
		if (jitdump)
			o->jitdump = strdup(jitdump);
		code = symfile_open_jit(&o->file, o->path, o->jitdump, &err);
	} else if (!o->tried) {
		code = symfile_open(&o->file, o->path, o->build_id, o->build_id_bytes, &err);
	}
	o->tried = true;
	if (code) {
		o->file = NULL;
		free(o->why);
		o->why = strdup(err.text);
	}
}

/* ---- mappings ---- */

static int reserve(struct mapping **list, size_t count, size_t *room, size_t more)
{
	if (count + more <= *room)
		return 0;
	size_t size = (count + more) * 2;
	struct mapping *grown = realloc(*list, size * sizeof *grown);
	if (!grown)
		return ERR_NOMEM;
	*list = grown;
	*room = size;
	return 0;
}

/* The first live mapping that ends behind addr. */
static size_t first_behind(const struct process *p, uint64_t addr)
{
	size_t low = 0, high = p->lives;
	while (low < high) {
		size_t middle = low + (high - low) / 2;
		if (p->live[middle].end <= addr)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/* Removes [start, end) from what is mapped. */
static int clear(struct process *p, uint64_t start, uint64_t end, uint64_t time)
{
	size_t i = first_behind(p, start);
	while (i < p->lives && p->live[i].start < end) {
		if (reserve(&p->live, p->lives, &p->live_room, 1) || reserve(&p->past, p->pasts, &p->past_room, 1))
			return ERR_NOMEM;
		struct mapping old = p->live[i];
		struct mapping gone = old;
		if (gone.start < start) {
			gone.address += start - gone.start;
			gone.start = start;
		}
		if (gone.end > end)
			gone.end = end;
		gone.to = time;
		p->past[p->pasts++] = gone;
		bool head = old.start < start, tail = old.end > end;
		if (head && tail) {
			memmove(&p->live[i + 2], &p->live[i + 1], (p->lives - i - 1) * sizeof old);
			p->lives++;
		} else if (!head && !tail) {
			memmove(&p->live[i], &p->live[i + 1], (--p->lives - i) * sizeof old);
			continue;
		}
		if (head) {
			p->live[i] = old;
			p->live[i++].end = start;
		}
		if (tail) {
			p->live[i] = old;
			p->live[i].address += end - old.start;
			p->live[i++].start = end;
		}
	}
	return 0;
}

static int add(struct process *p, const struct mapping *m, uint64_t time)
{
	if (clear(p, m->start, m->end, time) || reserve(&p->live, p->lives, &p->live_room, 1))
		return ERR_NOMEM;
	size_t at = first_behind(p, m->start);
	memmove(&p->live[at + 1], &p->live[at], (p->lives++ - at) * sizeof *m);
	p->live[at] = *m;
	return 0;
}

static bool is_anonymous(const char *path)
{
	return !*path || !strncmp(path, "//anon", 6) || !strncmp(path, "/anon_hugepage", 14) ||
		!strncmp(path, "/dev/zero", 9);
}
static bool is_memory(const char *path)
{
	return !strncmp(path, "[stack", 6) || !strncmp(path, "[heap]", 6) || !strncmp(path, "/SYSV", 5);
}

int symbols_map(struct symbols *s, uint32_t pid, const struct symbols_map *m, uint64_t time)
{
	struct process *p = get_process(s, pid);
	if (!p)
		return ERR_NOMEM;
	if (!m->bytes || m->addr + m->bytes < m->addr)
		return 0;
	const char *path = m->path;
	char jit[64];
	int kind = OBJECT_FILE;
	uint64_t address = m->offset;
	if (is_anonymous(path) || is_memory(path)) {
		kind = OBJECT_NAMED;
		if (m->executable) {	/* code made at run time */
			kind = OBJECT_JIT;
			snprintf(jit, sizeof jit, "/tmp/perf-%u.map", pid);
			path = jit;
		} else if (!*path) {
			path = "//anon";
		}
		address = m->addr;
	} else if (*path == '[' || *path != '/') {
		kind = OBJECT_NAMED;	/* [vdso], [vvar], [vsyscall], pseudo files: no file to read */
	} else {
		unsigned of;
		const char *base = strrchr(path, '/') + 1;
		if (sscanf(base, "jit-%u.dump", &of) == 1 && of == pid) {
			char *copy = strdup(path);
			if (!copy)
				return ERR_NOMEM;
			free(p->jitdump);
			p->jitdump = copy;
		}
	}
	struct symbols_object *o = get_object(s, path, kind, m->build_id, m->build_id ? m->build_id_bytes : 0);
	if (!o)
		return ERR_NOMEM;
	return add(p, &(struct mapping){ m->addr, m->addr + m->bytes, address, time, UINT64_MAX, o }, time);
}

int symbols_unmap(struct symbols *s, uint32_t pid, uint64_t addr, uint64_t bytes, uint64_t time)
{
	struct process *p = find_process(s, pid);
	return p && bytes && addr + bytes > addr ? clear(p, addr, addr + bytes, time) : 0;
}

int symbols_exec(struct symbols *s, uint32_t pid, uint64_t time)
{
	struct process *p = find_process(s, pid);
	if (p) {
		free(p->jitdump);
		p->jitdump = NULL;
	}
	return p ? clear(p, 0, UINT64_MAX, time) : 0;
}

int symbols_fork(struct symbols *s, uint32_t parent, uint32_t child, uint64_t time)
{
	if (parent == child)
		return 0;	/* a thread */
	struct process *to = get_process(s, child);
	if (!to)
		return ERR_NOMEM;
	struct process *from = find_process(s, parent);
	if (!from)
		return 0;
	if (clear(to, 0, UINT64_MAX, time) || reserve(&to->live, 0, &to->live_room, from->lives + 1))
		return ERR_NOMEM;
	for (size_t i = 0; i < from->lives; i++) {
		to->live[i] = from->live[i];
		to->live[i].from = time;
	}
	to->lives = from->lives;
	return 0;
}

void symbols_machine(struct symbols *s)
{
	s->machine = true;
}

/* The kernel's objects have their symbols from the start. */
static int map_kernel(struct symbols *s, struct kallsyms *k)
{
	struct process *p = get_process(s, SYMBOLS_KERNEL);
	struct symbols_object **object = calloc(k->owners + 1, sizeof *object);
	int code = p && object ? 0 : ERR_NOMEM;
	for (size_t i = 0; !code && i < k->owners; i++) {
		struct symbols_object *o = object[i] = get_object(s, k->owner[i].name, OBJECT_NAMED, NULL, 0);
		if (!o)
			code = ERR_NOMEM;
		else if (!o->file)	/* else it is known already, and places may point to its symbols */
			o->file = kallsyms_take(k, i);
	}
	for (size_t i = 0; !code && i < k->ranges; i++) {
		const struct kallsyms_range *r = &k->range[i];
		code = add(p, &(struct mapping){ r->start, r->end, r->start, 0, UINT64_MAX, object[r->owner] }, 0);
	}
	free(object);
	return code;
}

int symbols_kernel(struct symbols *s, const char *path, struct err *err)
{
	struct kallsyms *k = NULL;
	int code = kallsyms_open(&k, path, err);
	if (!code && map_kernel(s, k))
		code = err_set(err, ERR_NOMEM, "out of memory");
	kallsyms_close(k);
	return code;
}

int symbols_kernel_code(struct symbols *s, const void *stretches, size_t bytes)
{
	struct known_code *known;
	size_t count;
	const struct process *p = find_process(s, SYMBOLS_KERNEL);
	if (s->known || !p)
		return 0;
	if (known_code_parse(&known, &count, stretches, bytes)) {
		free(known);
		return ERR_NOMEM;
	}
	s->known = known;
	for (size_t i = 0; i < p->lives && count; i++)
		if (p->live[i].object->file) {
			p->live[i].object->file->known = known;
			p->live[i].object->file->knowns = count;
		}
	return 0;
}

static const struct mapping *lookup(const struct process *p, uint64_t ip, uint64_t time)
{
	size_t at = first_behind(p, ip);
	const struct mapping *m = at < p->lives && p->live[at].start <= ip ? &p->live[at] : NULL;
	if (time == UINT64_MAX || (m && m->from <= time))
		return m;
	for (size_t i = p->pasts; i-- > 0; ) {
		const struct mapping *old = &p->past[i];
		if (old->start <= ip && ip < old->end && old->from <= time && time < old->to)
			return old;
	}
	return NULL;
}

void symbols_resolve(struct symbols *s, uint32_t pid, uint64_t ip, uint64_t time, struct symbols_place *place)
{
	const bool kernel = pid == SYMBOLS_KERNEL || (s->machine && symbols_is_kernel(ip));
	const struct process *p = find_process(s, kernel ? SYMBOLS_KERNEL : pid);
	const struct mapping *m = p ? lookup(p, ip, time) : NULL;
	*place = (struct symbols_place){ "[unknown]", "", ip, NULL, NULL };
	if (kernel)
		place->dso = place->path = KALLSYMS_KERNEL;
	if (!m)
		return;
	struct symbols_object *o = m->object;
	load(o, p->jitdump);
	place->dso = o->short_name;
	place->path = o->path;
	place->address = ip - m->start + m->address;
	place->object = o;
	if (o->file)
		place->symbol = symfile_find(o->file, place->address);
}

size_t symbols_place_lines(const struct symbols_place *place, struct symbols_line *lines, size_t max)
{
	struct symfile *f = symbols_place_file(place);
	return f ? symfile_lines(f, place->address, lines, max) : 0;
}
struct symfile *symbols_place_file(const struct symbols_place *place)
{
	return place->object ? place->object->file : NULL;
}
struct symbols_object *symbols_object(struct symbols *s, size_t index)
{
	return index < s->objects ? s->object[index] : NULL;
}
size_t symbols_object_index(const struct symbols_object *o) { return o->index; }
const char *symbols_object_path(const struct symbols_object *o) { return o->path; }
const char *symbols_object_why(const struct symbols_object *o) { return o->why; }
