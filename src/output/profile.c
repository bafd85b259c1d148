/* SPDX-License-Identifier: GPL-2.0-or-later
 * Adds up samples: replays the records in order of time, tracks thread names and mappings, and charges each sample's
 * period to the entry of its combination of sort keys.
 *
 * In children mode, a sample is charged once to every function on its call chain, and each entry has a tree of its
 * callees.
 * Otherwise an entry has a tree of its callers.
 */
#include "output/profile.h"
#include "softpmu/pmu.h"
#include "util/grow.h"
#include "util/texts.h"
#include <linux/perf_event.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

struct profile_thread { uint32_t tid, pid; const char *comm; };
struct profile_chunk { struct profile_chunk *next; size_t used; struct profile_node node[1024]; };

/* Samples with equal keys share an entry; unused keys are zero. */
struct key { const void *comm, *dso, *symbol, *srcline; uint64_t address; uint32_t pid, tid, cpu, prediction;
	struct { const void *dso, *symbol; uint64_t address; } from, to; uint64_t cycles; };

struct taken { struct profile_end from, to; unsigned prediction, cycles; };	/* a branch */

/* ---- threads ---- */

static struct profile_thread *get_thread(struct profile *p, uint32_t pid, uint32_t tid)
{
	size_t low = 0, high = p->threads;
	while (low < high) {
		size_t middle = low + (high - low) / 2;
		if (p->thread[middle].tid < tid)
			low = middle + 1;
		else
			high = middle;
	}
	if (low < p->threads && p->thread[low].tid == tid)
		return &p->thread[low];
	char name[16];
	snprintf(name, sizeof name, ":%d", (int)tid);
	const char *comm = texts_keep(&p->texts, name);
	if (comm && (p->threads & (p->threads - 1)) == 0) {
		struct profile_thread *grown = realloc(p->thread, (p->threads ? p->threads * 2 : 1) * sizeof *grown);
		if (!grown)
			return NULL;
		p->thread = grown;
	}
	if (!comm)
		return NULL;
	memmove(&p->thread[low + 1], &p->thread[low], (p->threads++ - low) * sizeof *p->thread);
	p->thread[low] = (struct profile_thread){ tid, pid, comm };
	return &p->thread[low];
}

/* ---- records other than samples ---- */

static int on_map(struct profile *p, const struct perfdata_record *r)
{
	uint8_t id[PERFDATA_BUILD_ID_BYTES];
	if ((r->misc & PERF_RECORD_MISC_CPUMODE_MASK) == PERF_RECORD_MISC_KERNEL || r->pid == (uint32_t)-1)
		return 0;	/* its functions are those of kallsyms */
	struct symbols_map m = {
		.addr = r->addr, .bytes = r->bytes, .offset = r->offset, .executable = r->prot & PROT_EXEC,
		.path = r->text, .build_id = r->build_id, .build_id_bytes = r->build_id_bytes,
	};
	if (!m.build_id) {
		m.build_id_bytes = perfdata_build_id(p->file, r->text, id);
		m.build_id = m.build_id_bytes ? id : NULL;
	}
	return symbols_map(p->symbols, r->pid, &m, r->time);
}

static int on_record(struct profile *p, const struct perfdata_record *r)
{
	struct profile_thread *t;
	switch (r->kind) {
	case PERFDATA_MMAP:
		return on_map(p, r);
	case PERFDATA_COMM: {
		const char *comm = texts_keep(&p->texts, r->text);
		if (!comm || !(t = get_thread(p, r->pid, r->tid)))
			return ERR_NOMEM;
		t->comm = comm;
		return r->misc & PERF_RECORD_MISC_COMM_EXEC ? symbols_exec(p->symbols, r->pid, r->time) : 0;
	}
	case PERFDATA_FORK: {
		t = get_thread(p, r->parent_pid, r->parent_tid);
		const char *comm = t ? t->comm : NULL;
		if (!comm || !(t = get_thread(p, r->pid, r->tid)))
			return ERR_NOMEM;
		t->comm = comm;
		t->pid = r->pid;
		return symbols_fork(p->symbols, r->parent_pid, r->pid, r->time);
	}
	case PERFDATA_READ: {
		struct profile_read *read = grow_array(p->read, p->reads, &p->read_room, 16, sizeof *read);
		if (!read)
			return ERR_NOMEM;
		p->read = read;
		p->read[p->reads++] = (struct profile_read){ r->pid, r->tid, r->event, r->count };
		return 0;
	}
	case PERFDATA_LOST:
		p->lost += r->lost;
		return 0;
	default:
		return 0;
	}
}

/* ---- call trees ---- */

static struct profile_node *new_node(struct profile *p)
{
	if (!p->chunks || p->chunks->used == sizeof p->chunks->node / sizeof p->chunks->node[0]) {
		struct profile_chunk *c = calloc(1, sizeof *c);
		if (!c)
			return NULL;
		c->next = p->chunks;
		p->chunks = c;
	}
	return &p->chunks->node[p->chunks->used++];
}

/* Adds a chain, whose frames are in the order of the tree, from its root on. */
static int add_chain(struct profile *p, struct profile_entry *e, const struct profile_frame *frame, size_t count,
	uint64_t period)
{
	if (!e->tree && !(e->tree = new_node(p)))
		return ERR_NOMEM;
	struct profile_node *n = e->tree;
	n->total += period;
	for (size_t i = 0; i < count; i++) {
		const struct symbols_place *at = &frame[i].place;
		uint64_t ip = at->symbol ? 0 : frame[i].ip;
		struct profile_node *c = n->child, *before = NULL;
		while (c && !(c->object == at->object && c->symbol == at->symbol && c->ip == ip)) {
			before = c;
			c = c->next;
		}
		if (!c) {
			if (!(c = new_node(p)))
				return ERR_NOMEM;
			c->object = at->object;
			c->symbol = at->symbol;
			c->ip = ip;
			n->children++;
		} else if (before) {
			before->next = c->next;
		}
		if (n->child != c) {	/* move the last used to the front, so that hot chains are found at once */
			c->next = n->child;
			n->child = c;
		}
		c->total += period;
		n = c;
	}
	n->hit += period;
	if (count > e->depth)
		e->depth = count;
	return 0;
}

/* Sorts descending by period; equal ones by object, the one seen later first, then descending by address.  perf
 * happens to show them so, because it compares the addresses of its own objects. */
static int node_before(const struct profile_node *a, const struct profile_node *b)
{
	if (a->total != b->total)
		return a->total > b->total;
	if (a->object != b->object)
		return b->object == NULL ||
			(a->object && symbols_object_index(a->object) > symbols_object_index(b->object));
	uint64_t x = a->symbol ? a->symbol->start : a->ip, y = b->symbol ? b->symbol->start : b->ip;
	return x > y;
}

static struct profile_node *merge(struct profile_node *a, struct profile_node *b)
{
	struct profile_node *head = NULL, **at = &head;
	while (a && b) {
		struct profile_node **from = node_before(b, a) ? &b : &a;
		*at = *from;
		at = &(*at)->next;
		*from = (*from)->next;
	}
	*at = a ? a : b;
	return head;
}
static struct profile_node *sort_list(struct profile_node *list)
{
	if (!list || !list->next)
		return list;
	struct profile_node *slow = list, *fast = list->next;
	while (fast && fast->next) {
		slow = slow->next;
		fast = fast->next->next;
	}
	fast = slow->next;
	slow->next = NULL;
	return merge(sort_list(list), sort_list(fast));
}

static void sort_tree(struct profile_node *n, uint64_t least)
{
	struct profile_node **at = &n->child;
	while (*at)
		if ((*at)->total < least)
			*at = (*at)->next;
		else
			at = &(*at)->next;
	n->child = sort_list(n->child);
	for (struct profile_node *c = n->child; c; c = c->next)
		sort_tree(c, least);
}

/* ---- entries ---- */

static const char *source_line(struct profile *p, const struct symbols_place *at)
{
	struct symbols_line line;
	char text[4096 + 32];
	if (symbols_place_lines(at, &line, 1) && *line.file) {
		const char *slash = p->options.full_paths ? NULL : strrchr(line.file, '/');
		snprintf(text, sizeof text, "%.4000s:%u", slash ? slash + 1 : line.file, line.line);
	} else if (at->symbol) {
		snprintf(text, sizeof text, "%.4000s+%llu", at->symbol->name,
			(unsigned long long)(at->address - at->symbol->start));
	} else {
		snprintf(text, sizeof text, "%.4000s[%llx]", at->dso, (unsigned long long)at->address);
	}
	return texts_keep(&p->texts, text);
}

static int grow_slots(struct profile_event *e, const struct key *keys);

/* Finds or adds the entry of a frame; returns its index, or SIZE_MAX without memory.  keys: parallel to e->entry. */
static size_t get_entry(struct profile *p, struct profile_event *e, struct key **keys, const struct perfdata_record *r,
			const struct profile_thread *t, const struct profile_frame *f, const struct taken *b)
{
	struct key key;
	memset(&key, 0, sizeof key);
	const char *dso = texts_keep(&p->texts, f->place.dso), *srcline = NULL;
	if (!dso)
		return SIZE_MAX;
	for (size_t i = 0; i < p->options.keys; i++)
		switch (p->options.key[i]) {
		case PROFILE_COMM: key.comm = t->comm; break;
		case PROFILE_DSO: key.dso = dso; break;
		case PROFILE_SYMBOL:
			key.symbol = f->place.symbol;
			key.address = f->place.symbol ? 0 : f->place.address;
			break;
		case PROFILE_SRCLINE:
			key.srcline = srcline = source_line(p, &f->place);
			if (!srcline)
				return SIZE_MAX;
			break;
		case PROFILE_PID: key.pid = r->pid; break;
		case PROFILE_TID: key.tid = r->tid; break;
		case PROFILE_CPU: key.cpu = r->cpu; break;
		case PROFILE_PUSHOUT: case PROFILE_PUSHOUT_MEDIAN: case PROFILE_PUSHOUT_SHARE: break;
		case PROFILE_DSO_FROM: key.from.dso = b->from.dso; break;
		case PROFILE_DSO_TO: key.to.dso = b->to.dso; break;
		case PROFILE_SYMBOL_FROM:
			key.from.symbol = b->from.symbol;
			key.from.address = b->from.symbol ? 0 : b->from.address;
			break;
		case PROFILE_SYMBOL_TO:
			key.to.symbol = b->to.symbol;
			key.to.address = b->to.symbol ? 0 : b->to.address;
			break;
		case PROFILE_MISPREDICT: key.prediction = b->prediction; break;
		case PROFILE_CYCLES: key.cycles = b->cycles; break;
		case PROFILE_KEYS: break;
		}
	if (e->entries * 2 >= e->slots && grow_slots(e, *keys))
		return SIZE_MAX;
	size_t at = texts_hash(&key, sizeof key) & (e->slots - 1);
	while (e->slot[at]) {
		if (!memcmp(&(*keys)[e->slot[at] - 1], &key, sizeof key))
			return e->slot[at] - 1;
		at = (at + 1) & (e->slots - 1);
	}
	if (e->entries == e->room) {
		size_t room = e->room ? e->room * 2 : 64;
		struct profile_entry *entry = realloc(e->entry, room * sizeof *entry);
		if (entry)
			e->entry = entry;
		struct key *grown = entry ? realloc(*keys, room * sizeof *grown) : NULL;
		if (!grown)
			return SIZE_MAX;
		*keys = grown;
		e->room = room;
	}
	(*keys)[e->entries] = key;
	e->entry[e->entries] = (struct profile_entry){
		.comm = t->comm, .dso = dso, .path = f->place.path, .srcline = srcline, .symbol = f->place.symbol,
		.address = f->place.address, .pid = r->pid, .tid = r->tid, .cpu = r->cpu, .level = f->level,
		.from = b->from, .to = b->to, .prediction = b->prediction, .cycles = b->cycles,
	};
	e->slot[at] = ++e->entries;
	return e->entries - 1;
}

static int grow_slots(struct profile_event *e, const struct key *keys)
{
	size_t slots = e->slots ? e->slots * 2 : 256, *slot = calloc(slots, sizeof *slot);
	if (!slot)
		return ERR_NOMEM;
	for (size_t i = 0; i < e->entries; i++) {
		size_t at = texts_hash(&keys[i], sizeof keys[i]) & (slots - 1);
		while (slot[at])
			at = (at + 1) & (slots - 1);
		slot[at] = i + 1;
	}
	free(e->slot);
	e->slot = slot;
	e->slots = slots;
	return 0;
}

static void resolve(struct profile *p, const struct perfdata_record *r, uint64_t ip, bool kernel,
	struct profile_frame *f)
{
	f->ip = ip;
	f->level = kernel ? 'k' : '.';
	symbols_resolve(p->symbols, kernel ? SYMBOLS_KERNEL : r->pid, ip, UINT64_MAX, &f->place);
}

static bool is_kernel(const struct perfdata_record *r)
{
	return (r->misc & PERF_RECORD_MISC_CPUMODE_MASK) == PERF_RECORD_MISC_KERNEL;
}

/* Adds a frame of the chain, and before it those of the functions that are inlined there.  room: for these. */
static size_t add_frames(struct profile *p, const struct profile_frame *f, bool caller, size_t room,
	struct profile_frame *out)
{
	const struct symbol *const *inlined = NULL;
	size_t count = p->options.inlines ? symbols_place_inlined(&f->place, caller, &inlined) : 0;
	count = count < room ? count : room;
	for (size_t i = 0; i < count; i++) {
		out[i] = *f;
		out[i].place.symbol = inlined[i];
	}
	out[count] = *f;
	return count + 1;
}

size_t profile_chain(struct profile *p, const struct perfdata_record *r,
	struct profile_frame frame[PROFILE_FRAMES_MAX])
{
	size_t count = 0, frames = 0, skipped = 0;
	const size_t most = p->options.max_stack ? p->options.max_stack : PERFDATA_CHAIN_MAX;
	/* as in perf, which reads the chain in the order of the trees */
	for (size_t i = 0; p->options.max_stack && p->options.caller_first && i < r->chain_length; i++)
		skipped += perfdata_chain_ip(r, i) < (uint64_t)PERF_CONTEXT_MAX;
	skipped = skipped > most ? skipped - most : 0;
	bool kernel = is_kernel(r), caller = false;
	for (size_t i = 0; i < r->chain_length && frames < most; i++) {
		uint64_t ip = perfdata_chain_ip(r, i);
		if (ip < (uint64_t)PERF_CONTEXT_MAX) {
			struct profile_frame f;
			if (skipped) {
				skipped--;
				caller = true;
				continue;
			}
			resolve(p, r, ip, kernel, &f);
			frames++;
			count += add_frames(p, &f, caller, PROFILE_FRAMES_MAX - PERFDATA_CHAIN_MAX - count + frames - 1,
				frame + count);
			caller = true;
		} else if (ip == (uint64_t)PERF_CONTEXT_KERNEL || ip == (uint64_t)PERF_CONTEXT_USER) {
			kernel = ip == (uint64_t)PERF_CONTEXT_KERNEL;
			caller = false;
		} else {
			return 0;	/* bad frame pointers led to garbage; perf drops such a chain, too */
		}
	}
	if (p->options.caller_first)
		for (size_t i = 0; i < count / 2; i++) {
			struct profile_frame swap = frame[i];
			frame[i] = frame[count - 1 - i];
			frame[count - 1 - i] = swap;
		}
	return count;
}

/* ---- filters ---- */

static bool number_on_list(const char *list, uint32_t number)
{
	char text[16];
	snprintf(text, sizeof text, "%u", number);
	return texts_on_list(list, text);
}

/* Processors may be ranges: 0,2-4. */
static bool cpu_on_list(const char *list, uint32_t cpu)
{
	for (; list; list = strchr(list, ',') ? strchr(list, ',') + 1 : NULL) {
		unsigned first = 0, last = 0;
		const int n = sscanf(list, "%u-%u", &first, &last);
		if (n > 0 && cpu >= first && cpu <= (n == 2 ? last : first))
			return true;
	}
	return false;
}

/* As in perf, times and processors also choose what percentages are of. */
static bool counts_at_all(const struct profile_filter *f, const struct perfdata_record *r)
{
	return (!f->cpus || cpu_on_list(f->cpus, r->cpu)) && r->time >= f->from && (!f->until || r->time <= f->until);
}

static bool sample_passes(const struct profile_filter *f, const struct perfdata_record *r, const char *comm)
{
	return (!f->comms || texts_on_list(f->comms, comm)) && (!f->pids || number_on_list(f->pids, r->pid)) &&
		(!f->tids || number_on_list(f->tids, r->tid));
}

static bool place_passes(const struct profile_filter *f, const struct symbols_place *at)
{
	const char *name = at->symbol ? at->symbol->name : "";
	const char *linkage = at->symbol && at->symbol->linkage ? at->symbol->linkage : name;
	return (!f->dsos || texts_on_list(f->dsos, at->dso)) &&
		(!f->symbols || texts_on_list(f->symbols, name) || texts_on_list(f->symbols, linkage)) &&
		(!f->part || strstr(name, f->part)) && (!f->resolved || at->symbol);
}

/* ---- samples ---- */

struct load { struct profile *p; struct key **keys; };

static int branch_end(struct profile *p, const struct perfdata_record *r, uint64_t ip, struct profile_frame *f,
	struct profile_end *out)
{
	resolve(p, r, ip, ip >> 63, f);
	*out = (struct profile_end){ texts_keep(&p->texts, f->place.dso), f->place.symbol, f->place.address, f->level };
	return out->dso ? 0 : ERR_NOMEM;
}

static int on_branches(struct load *l, const struct perfdata_record *r, const struct profile_thread *t)
{
	struct profile *p = l->p;
	struct profile_event *e = &p->event[r->event];
	for (size_t i = 0; i < r->branches; i++) {
		struct perfdata_branch b = perfdata_branch_at(r, i);
		struct profile_frame from, to;
		/* struct perf_branch_entry: mispred, predicted, in_tx, abort, 16 bits of cycles */
		struct taken taken = { .prediction = b.flags & 2 ? PROFILE_PREDICTED
				: b.flags & 1                    ? PROFILE_MISPREDICTED
								 : PROFILE_PREDICTION_UNKNOWN,
			.cycles = b.flags >> 4 & 0xffff };
		if (branch_end(p, r, b.from, &from, &taken.from) || branch_end(p, r, b.to, &to, &taken.to))
			return ERR_NOMEM;
		if (!place_passes(&p->options.filter, &to.place))
			continue;
		size_t at = get_entry(p, e, &l->keys[r->event], r, t, &to, &taken);
		if (at == SIZE_MAX)
			return ERR_NOMEM;
		e->samples++;
		e->period++;
		e->entry[at].self++;
		e->entry[at].total++;
		e->entry[at].samples++;
	}
	return 0;
}

static bool wants_pushouts(const struct profile_options *o)
{
	for (size_t i = 0; i < o->keys; i++)
		if (profile_is_pushout(o->key[i]))
			return true;
	return false;
}

/* record_event.c sets this config. */
bool profile_counts_pushouts(const struct perfdata_event_info *e)
{
	return e->type == PERF_TYPE_RAW && (e->config & ~UINT64_C(0xff)) == MSR_PUSHOUT_CAPABILITIES;
}

static int add_pushout(struct profile_event *e, struct profile_entry *n, const struct perfdata_record *r)
{
	const uint64_t cycles = profile_counts_pushouts(e->info) ? r->weight : r->retire_latency, most = UINT32_MAX;
	if (!e->pushouts)
		return 0;
	if (!n->pushouts) {
		n->pushouts = malloc(sizeof *n->pushouts);
		if (!n->pushouts)
			return ERR_NOMEM;
		spread_init(n->pushouts, 8);
	}
	n->pushed += cycles * r->period;
	e->pushed += cycles * r->period;
	return spread_add(n->pushouts, (uint32_t)(cycles < most ? cycles : most)) ? 0 : ERR_NOMEM;
}

static int on_sample(void *context, const struct perfdata_record *r, const struct symbols_place *place,
	const char *comm)
{
	struct load *l = context;
	struct profile *p = l->p;
	struct profile_event *e = &p->event[r->event];
	struct profile_thread thread = { r->tid, r->pid, comm };
	struct profile_frame leaf = { *place, r->ip, is_kernel(r) ? 'k' : '.' }, frame[PROFILE_FRAMES_MAX];
	static const struct taken none;
	const struct profile_filter *filter = &p->options.filter;
	if (!counts_at_all(filter, r) || (filter->resolved && !place->symbol))
		return 0;
	const bool passes = sample_passes(filter, r, comm), leaf_passes = passes && place_passes(filter, place);
	if (!leaf_passes && !filter->relative && !p->options.branches) {
		e->samples++;
		e->period += r->period;
	}
	if (!passes)
		return 0;
	if (p->options.branches)
		return on_branches(l, r, &thread);
	size_t count = e->chains ? profile_chain(p, r, frame) : 0, seen[PROFILE_FRAMES_MAX + 1], seen_count = 0;
	size_t at;
	if (leaf_passes) {
		e->samples++;
		e->period += r->period;
		at = get_entry(p, e, &l->keys[r->event], r, &thread, &leaf, &none);
		if (at == SIZE_MAX)
			return ERR_NOMEM;
		e->entry[at].self += r->period;
		e->entry[at].total += r->period;
		e->entry[at].samples++;
		if (add_pushout(e, &e->entry[at], r))
			return ERR_NOMEM;
		if (count && p->options.trees && add_chain(p, &e->entry[at], frame, count, r->period))
			return ERR_NOMEM;
		seen[seen_count++] = at;
	}
	for (size_t i = 0; e->children && i < count; i++) {
		struct profile_frame caller = frame[i];
		if (!place_passes(filter, &caller.place))
			continue;
		if (!caller.place.symbol)
			caller.place.address = caller.ip;
		at = get_entry(p, e, &l->keys[r->event], r, &thread, &caller, &none);
		if (at == SIZE_MAX)
			return ERR_NOMEM;
		bool again = false;	/* recursion is charged once */
		for (size_t k = 0; k < seen_count; k++)
			again |= seen[k] == at;
		if (again)
			continue;
		seen[seen_count++] = at;
		e->entry[at].total += r->period;
		/* An entry's tree begins at the entry itself, both for callees and for callers. */
		if (p->options.trees && add_chain(p, &e->entry[at], frame + i, count - i, r->period))
			return ERR_NOMEM;
	}
	return 0;
}

static int by_text(const char *a, const char *b)
{
	return strcmp(a ? a : "", b ? b : "");
}

static int by_symbol(const struct symbol *a, uint64_t address_a, const struct symbol *b, uint64_t address_b)
{
	if (!a != !b)
		return a ? -1 : 1;
	return a ? strcmp(a->name, b->name) : address_a < address_b ? -1 : address_a > address_b;
}

struct sorting { const struct profile *p; bool children; };

static int entry_order(const void *x, const void *y, void *context)
{
	const struct profile_entry *a = x, *b = y;
	const struct sorting *s = context;
	if (wants_pushouts(&s->p->options) && a->pushed != b->pushed)
		return a->pushed > b->pushed ? -1 : 1;
	if (s->children && a->total != b->total)
		return a->total > b->total ? -1 : 1;
	/* Among equal ones, the caller comes before the callee. */
	if (s->children && a->depth != b->depth)
		return (a->depth > b->depth) == s->p->options.caller_first ? -1 : 1;
	if (a->self != b->self)
		return a->self > b->self ? -1 : 1;
	for (size_t i = 0; i < s->p->options.keys; i++) {
		int c = 0;
		switch (s->p->options.key[i]) {
		case PROFILE_COMM: c = by_text(a->comm, b->comm); break;
		case PROFILE_DSO: c = !*a->path != !*b->path ? (*a->path ? -1 : 1) : by_text(a->dso, b->dso); break;
		case PROFILE_SYMBOL: c = by_symbol(a->symbol, a->address, b->symbol, b->address); break;
		case PROFILE_SRCLINE: c = by_text(a->srcline, b->srcline); break;
		case PROFILE_PID: c = a->pid < b->pid ? -1 : a->pid > b->pid; break;
		case PROFILE_TID: c = a->tid < b->tid ? -1 : a->tid > b->tid; break;
		case PROFILE_CPU: c = a->cpu < b->cpu ? -1 : a->cpu > b->cpu; break;
		case PROFILE_PUSHOUT: case PROFILE_PUSHOUT_MEDIAN: case PROFILE_PUSHOUT_SHARE: break;
		case PROFILE_DSO_FROM: c = by_text(a->from.dso, b->from.dso); break;
		case PROFILE_DSO_TO: c = by_text(a->to.dso, b->to.dso); break;
		case PROFILE_SYMBOL_FROM:
			c = by_symbol(a->from.symbol, a->from.address, b->from.symbol, b->from.address);
			break;
		case PROFILE_SYMBOL_TO: c = by_symbol(a->to.symbol, a->to.address, b->to.symbol, b->to.address); break;
		case PROFILE_MISPREDICT: c = a->prediction < b->prediction ? -1 : a->prediction > b->prediction; break;
		case PROFILE_CYCLES: c = a->cycles < b->cycles ? -1 : a->cycles > b->cycles; break;
		case PROFILE_KEYS: break;
		}
		if (c)
			return c;
	}
	if (a->symbol && b->symbol && a->symbol->start != b->symbol->start)
		return a->symbol->start < b->symbol->start ? -1 : 1;
	return 0;
}

/* The kernel's names.  Only a file that was asked for must be there. */
static int open_kernel(struct profile *p, struct err *err)
{
	bool asked;
	struct err why = { 0 };
	const char *path = perfdata_kallsyms(p->file, &asked);
	int code = path ? symbols_kernel(p->symbols, path, &why) : 0;
	size_t bytes;
	const void *stretches = perfdata_own_bytes(p->file, PERFDATA_KERNEL_CODE, &bytes);
	if (!code && stretches && symbols_kernel_code(p->symbols, stretches, bytes))
		code = err_set(&why, ERR_NOMEM, "out of memory");
	return code && (asked || code == ERR_NOMEM) ? err_set(err, code, "%s", why.text) : 0;
}

int profile_open(struct profile **out, struct perfdata_file *file, const struct profile_options *o, struct err *err)
{
	struct profile *p = calloc(1, sizeof *p);
	if (!p)
		return err_set(err, ERR_NOMEM, "out of memory");
	p->options = *o;
	p->file = file;
	p->events = perfdata_event_count(file);
	p->event = calloc(p->events, sizeof *p->event);
	int code = p->event ? symbols_create(&p->symbols, err) : err_set(err, ERR_NOMEM, "out of memory");
	if (!code)
		code = open_kernel(p, err);
	if (code) {
		profile_free(p);
		return code;
	}
	for (size_t i = 0; i < p->events; i++) {
		p->event[i].info = perfdata_event_info(file, i);
		p->event[i].chains = o->chains && !o->branches && p->event[i].info->has_chain;
		p->event[i].children = o->children && p->event[i].chains;
		p->event[i].pushouts = wants_pushouts(o) && (p->event[i].info->sample_type & PERF_SAMPLE_WEIGHT_STRUCT);
	}
	*out = p;
	return 0;
}

int profile_walk(struct profile *p, const struct profile_visit *v, struct err *err)
{
	struct perfdata_record r;
	int code = 0;
	perfdata_rewind(p->file);
	while (!code && perfdata_next(p->file, &r)) {
		if (r.kind != PERFDATA_SAMPLE) {
			code = on_record(p, &r);
			continue;
		}
		struct profile_thread *t = get_thread(p, r.pid, r.tid);
		if (!t) {
			code = ERR_NOMEM;
			continue;
		}
		struct profile_frame f;
		resolve(p, &r, r.ip, is_kernel(&r), &f);
		code = v->sample(v->context, &r, &f.place, t->comm);
	}
	return code ? err_set(err, code, "out of memory") : 0;
}

int profile_load(struct profile **out, struct perfdata_file *file, const struct profile_options *o, struct err *err)
{
	struct profile *p;
	int code = profile_open(&p, file, o, err);
	if (code)
		return code;
	struct load l = { p, calloc(p->events, sizeof *l.keys) };
	if (l.keys)
		code = profile_walk(p, &(struct profile_visit){ &l, on_sample }, err);
	else
		code = err_set(err, ERR_NOMEM, "out of memory");
	for (size_t i = 0; i < p->events; i++) {
		struct profile_event *e = &p->event[i];
		if (l.keys)
			free(l.keys[i]);
		if (code || !e->entries)
			continue;
		qsort_r(e->entry, e->entries, sizeof *e->entry, entry_order,
			&(struct sorting){ p, e->children && !o->by_self });
		for (size_t k = 0; k < e->entries; k++)
			if (e->entry[k].tree)
				sort_tree(e->entry[k].tree, (uint64_t)((double)e->period * (o->chain_percent / 100)));
	}
	free(l.keys);
	if (code)
		profile_free(p);
	else
		*out = p;
	return code;
}

void profile_release_event(struct profile_event *e)
{
	for (size_t i = 0; i < e->entries; i++)
		if (e->entry[i].pushouts) {
			spread_release(e->entry[i].pushouts);
			free(e->entry[i].pushouts);
		}
	free(e->entry);
	free(e->slot);
}

void profile_free(struct profile *p)
{
	if (!p)
		return;
	for (size_t i = 0; p->event && i < p->events; i++)
		profile_release_event(&p->event[i]);
	while (p->chunks) {
		struct profile_chunk *next = p->chunks->next;
		free(p->chunks);
		p->chunks = next;
	}
	texts_free(&p->texts);
	symbols_destroy(p->symbols);
	free(p->thread);
	free(p->read);
	free(p->event);
	free(p);
}
