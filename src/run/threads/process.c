/* SPDX-License-Identifier: GPL-2.0-or-later
 * Guest processes: block tables, threads, orderings between processes (process.h).
 */
#include "run/threads/process.h"
#include "run/ahead.h"
#include "run/lanes.h"
#include "run/watch/history.h"
#include "core/wrongpath/walker.h"
#include <stdlib.h>
#include <string.h>

enum { PAGE_SHIFT = 12, PAGE_BUCKETS = 1 << 14 };

static uint32_t page_bucket(uint64_t page)
{
	return (uint32_t)((page * UINT64_C(0x9e3779b97f4a7c15)) >> 40) & (PAGE_BUCKETS - 1);
}

/* Grows *array (of `size`-byte elements) to hold at least `need`; the new part is zeroed. */
static int grow(void *array, size_t *room, size_t need, size_t size, struct err *err)
{
	void **a = array;
	if (need <= *room)
		return 0;
	size_t bigger = *room ? *room * 2 : 64;
	while (bigger < need)
		bigger *= 2;
	void *p = realloc(*a, bigger * size);
	if (!p)
		return err_set(err, ERR_NOMEM, "out of memory (%zu entries of %zu bytes)", bigger, size);
	memset((char *)p + *room * size, 0, (bigger - *room) * size);
	*a = p;
	*room = bigger;
	return 0;
}

/* ---- blocks ---- */

static void free_graves(struct process *p, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		runner_forget_block(p, p->grave[i]);
		isa_block_free(p->grave[i]);
	}
	if (p->graves > n)
		memmove(p->grave, p->grave + n, (p->graves - n) * sizeof *p->grave);
	p->graves -= n;
}

static void drop_blocks(struct process *p)
{
	runner_drain(p);
	for (size_t i = 0; i < p->blocks; i++) {
		runner_forget_block(p, p->block[i]);
		isa_block_free(p->block[i]);
	}
	free_graves(p, p->graves);
	p->graves_old = 0;
	p->blocks = 0;
	if (p->page_head)
		memset(p->page_head, 0, PAGE_BUCKETS * sizeof *p->page_head);
}

static void set_block(struct process *p, uint32_t id, struct iblock *b)
{
	struct block_brief *brief = &p->brief[id];
	p->block[id] = b;
	*brief = (struct block_brief){ .block = b, .exits = b ? b->exits : 0, .flags = p->block_flags[id] };
	for (unsigned x = 0; b && x < b->exits && x < BRIEF_EXITS; x++)
		brief->slots[x] = b->exit[x].slots;
}

int process_add_block(struct process *p, struct iblock *b, unsigned flags, struct err *err)
{
	uint32_t id = b->id;
	/* Ids are dense: a jump far ahead means damage and must not allocate gigabytes. */
	if (id > p->blocks + 65536 || id == UINT32_MAX)
		return err_set(err, ERR_INPUT, "the stream of process %u defines block %u after block %zu", p->pid, id,
			p->blocks);
	if (id < p->blocks && p->block[id])
		return err_set(err, ERR_INPUT, "the stream of process %u defines block %u twice", p->pid, id);
	if (id >= p->blocks_room) {
		size_t room = p->blocks_room, r2 = room, r3 = room, r4 = room;
		int rc = grow(&p->block, &room, id + 1, sizeof *p->block, err);
		if (rc == 0)
			rc = grow(&p->block_flags, &r2, id + 1, sizeof *p->block_flags, err);
		if (rc == 0)
			rc = grow(&p->page_next, &r3, id + 1, sizeof *p->page_next, err);
		if (rc == 0)
			rc = grow(&p->brief, &r4, id + 1, sizeof *p->brief, err);
		if (rc < 0)
			return rc;
		p->blocks_room = room;
	}
	for (; p->blocks <= id; p->blocks++) {
		p->block_flags[p->blocks] = 0;
		set_block(p, (uint32_t)p->blocks, NULL);
	}
	p->block_flags[id] = (uint8_t)flags;
	set_block(p, id, b);
	uint32_t bucket = page_bucket(b->addr >> PAGE_SHIFT);
	p->page_next[id] = p->page_head[bucket];
	p->page_head[bucket] = id + 1;
	return 0;
}

static bool block_touches(const struct iblock *b, uint64_t addr, uint64_t bytes)
{
	for (unsigned i = 0; i < b->insns; i++)
		if (b->insn[i].addr < addr + bytes && addr < b->insn[i].addr + b->insn[i].len)
			return true;
	return false;
}

static bool bury(struct process *p, uint32_t id)
{
	if (p->graves == p->graves_room) {
		size_t room = p->graves_room;
		if (grow(&p->grave, &room, p->graves + 1, sizeof *p->grave, NULL) < 0)
			return false;	/* keep it: that only costs memory */
		p->graves_room = room;
	}
	if (p->space)
		walk_space_forget(p->space, p->block[id]);
	p->grave[p->graves++] = p->block[id];
	set_block(p, id, NULL);
	return true;
}

static void discard_code(struct rthread *t, uint64_t addr, uint64_t bytes)
{
	if (t->lanes && !t->lanes->left)
		lanes_discard_code(t->lanes, addr, bytes);
	else
		core_discard_code(t->core, addr, bytes);
	if (t->leader)
		core_discard_code(t->leader, addr, bytes);
}

void process_discard(struct process *p, uint64_t addr, uint64_t bytes)
{
	/* A thread may still have a discarded block as its pending one: keep it, and free it at a later discard. */
	size_t free_now = p->graves_old;
	runner_drain(p);
	for (size_t i = 0; i < p->threads && free_now; i++)
		if (p->thread[i]->alive && p->thread[i]->pending.block)
			for (size_t g = 0; g < free_now; g++)
				if (p->grave[g] == p->thread[i]->pending.block)
					free_now = 0;
	for (size_t i = 0; i < p->threads; i++)
		if (p->thread[i]->pub.registers)
			history_discard(p->thread[i]->pub.registers);
	free_graves(p, free_now);
	p->graves_old = p->graves;

	if (p->space)
		walk_space_cut(p->space, addr, bytes);
	/* Blocks are short: one that reaches into the range starts on its first page, on a page in it, or on the
	 * page before. */
	uint64_t first = (addr >> PAGE_SHIFT) ? (addr >> PAGE_SHIFT) - 1 : 0, last = (addr + bytes - 1) >> PAGE_SHIFT;
	if (bytes == 0)
		return;
	if (last - first >= PAGE_BUCKETS) {	/* a large range: look at all blocks */
		first = 0;
		last = PAGE_BUCKETS - 1;
	}
	for (uint64_t page = first; page <= last; page++) {
		uint32_t *link = &p->page_head[last - first == PAGE_BUCKETS - 1 ? (uint32_t)page : page_bucket(page)];
		while (*link) {
			uint32_t id = *link - 1;
			if (p->block[id] && block_touches(p->block[id], addr, bytes) && bury(p, id))
				*link = p->page_next[id];
			else
				link = &p->page_next[id];
		}
	}
	for (size_t i = 0; i < p->threads; i++)
		if (p->thread[i]->alive)
			discard_code(p->thread[i], addr, bytes);
	for (uint32_t i = 0; i < p->order.cpus; i++)
		core_discard_code(p->order.cpu[i].core, addr, bytes);
}

/* ---- threads ---- */

struct rthread *process_find_thread(const struct process *p, uint32_t guest_tid)
{
	for (size_t i = p->threads; i-- > 0;)	/* the newest first: the tracer reuses numbers */
		if (p->thread[i]->alive && !p->thread[i]->leaving && p->thread[i]->guest_tid == guest_tid)
			return p->thread[i];
	return NULL;
}

static void drop_processors(struct process *p)
{
	for (uint32_t i = 0; i < p->order.cpus; i++)
		core_destroy(p->order.cpu[i].core);
	free(p->order.cpu);
	p->order.cpu = NULL;
	p->order.cpus = 0;
}

/* Gives the thread a core of its own, or (--smt) the first free hardware thread. */
static int take_seat(struct process_table *table, struct process *p, struct rthread *t, core_emit *emit,
	struct err *err)
{
	struct core *beside = NULL;
	for (bool taken = table->smt > 0; taken; t->seat += taken) {
		taken = false;
		for (size_t i = 0; i < p->threads; i++)
			taken |= p->thread[i]->alive && p->thread[i]->seat == t->seat;
	}
	p->order.smt = table->smt;
	for (size_t i = 0; table->smt && i < p->threads; i++)
		if (p->thread[i]->alive && p->thread[i]->seat / table->smt == t->seat / table->smt)
			beside = p->thread[i]->core;
	return beside ? core_create_thread(&t->core, beside, emit, t, err)
		      : core_create(&t->core, p->machine, emit, t, err);
}

/* --cpus: makes the processors of a process, for its first thread. */
static int make_processors(struct process_table *table, struct process *p, core_emit *emit, struct rthread *first,
	struct err *err)
{
	struct order *o = &p->order;
	const struct core_config *c = table->core;
	o->cpu = calloc(table->processors, sizeof *o->cpu);
	if (!o->cpu)
		return err_set(err, ERR_NOMEM, "out of memory for %u processors", table->processors);
	for (; o->cpus < table->processors; o->cpus++) {
		int rc = core_create(&o->cpu[o->cpus].core, p->machine, emit, first, err);
		if (rc < 0) {
			drop_processors(p);
			return rc;
		}
	}
	o->quantum = table->quantum ? table->quantum : (uint64_t)(ORDER_QUANTUM_NS * c->frequency_ghz);
	o->switch_cost = (uint64_t)(ORDER_SWITCH_NS * c->frequency_ghz);
	p->first_cpu = table->cpus;
	table->cpus += o->cpus;
	return 0;
}

int process_thread_start(struct rthread **out, struct process_table *table, struct process *p, uint32_t guest_tid,
	uint32_t os_tid, uint64_t cycle, core_emit *emit, struct err *err)
{
	if (!p->machine)
		return err_set(err, ERR_INPUT, "the stream of process %u starts a thread before the process", p->pid);
	if (process_find_thread(p, guest_tid))
		return err_set(err, ERR_INPUT, "the stream of process %u starts thread %u twice", p->pid, guest_tid);
	struct rthread **list = realloc(p->thread, (p->threads + 1) * sizeof *list);
	if (!list)
		return err_set(err, ERR_NOMEM, "out of memory for thread %u", guest_tid);
	p->thread = list;
	struct rthread *t = calloc(1, sizeof *t);
	if (!t)
		return err_set(err, ERR_NOMEM, "out of memory for thread %u", guest_tid);
	int rc = take_seat(table, p, t, emit, err);
	if (rc < 0) {
		free(t);
		return rc;
	}
	t->process = p;
	t->on = t->core;
	t->index = (uint32_t)p->threads;
	core_reset(t->core, cycle);
	if (table->processors && !p->order.cpus)
		rc = make_processors(table, p, emit, t, err);
	if (!rc && p->ordered)
		rc = order_add(&p->order, t, cycle, err);
	if (rc < 0) {
		core_destroy(t->core);
		free(t);
		return rc;
	}
	t->guest_tid = guest_tid;
	t->alive = true;
	t->pub = (struct run_thread){ .process = p->index, .pid = p->pid, .tid = os_tid ? os_tid : p->pid,
		.cpu = p->order.cpus ? p->first_cpu : table->cpus++, .hw_thread = (uint8_t)core_hw_thread(t->core),
		.siblings = (uint8_t)table->smt, .core = table->smt ? t->seat / table->smt : 0,
		.waits = table->smt ? order_waits : NULL, .word_bytes = p->word_bytes, .cpl = 3 };
	p->thread[p->threads++] = t;
	if (!p->current)
		p->current = t;
	*out = t;
	return 0;
}

uint64_t rthread_now(const struct rthread *t)
{
	if (t->lanes && t->lanes->now)
		return lane_now(t->lanes->now);
	if (t->lanes && !t->lanes->left)
		return t->lanes->end_now;
	return t->on ? core_now(t->on) : t->alive ? t->queue.ready_at : t->queue.last;
}

uint64_t rthread_instructions(const struct rthread *t)
{
	if (t->lanes && !t->lanes->left)
		return t->instructions + lanes_instructions(t->lanes);
	return t->instructions + (t->on ? core_instructions(t->on) : 0);
}

void rthread_want(struct rthread *t, const struct core_wanted *w)
{
	if (t->lanes && !t->lanes->left)
		lanes_want(t->lanes, w);
	else
		core_want(t->core, w);
	if (t->walker)
		walker_outcomes(t->walker, w->outcomes);
	for (uint32_t i = 0; i < t->process->order.cpus; i++)
		core_want(t->process->order.cpu[i].core, w);
}

static void halt_until(struct rthread *t, uint64_t cycle)
{
	if (t->on)
		core_halt_until(t->on, cycle);
	else if (t->queue.ready_at < cycle)
		t->queue.ready_at = cycle;
}

bool process_needs_order(const struct process *p)
{
	unsigned alive = 0;
	for (size_t i = 0; i < p->threads; i++)
		alive += p->thread[i]->alive;
	return alive > (p->order.cpus ? 0 : 1);
}

int process_order(struct process *p, struct err *err)
{
	int rc = 0;
	p->depend = calloc(1, sizeof *p->depend);
	for (size_t i = 0; i < p->threads && !rc; i++)
		if (p->thread[i]->alive)
			rc = order_add(&p->order, p->thread[i], rthread_now(p->thread[i]), err);
	return rc;
}

void process_disorder(struct process *p)
{
	for (size_t i = 0; i < p->threads; i++)
		if (p->thread[i]->alive)
			order_remove(&p->order, p->thread[i]);
	free(p->depend);
	p->depend = NULL;
}

void process_thread_end(struct rthread *t)
{
	runner_drain(t->process);
	t->queue.last = rthread_now(t);
	lanes_destroy(t);
	if (t->queue.when)
		order_remove(&t->process->order, t);
	core_destroy(t->core);
	core_destroy(t->leader);
	t->core = t->on = t->leader = NULL;
	free(t->depend.seen);
	t->depend.seen = NULL;
	t->depend.room = 0;
	walker_destroy(t->walker);
	t->walker = NULL;
	t->alive = false;
	history_destroy(t->pub.registers);
	t->pub.registers = NULL;
	free(t->heap);
	t->heap = NULL;
	free(t->calls);
	t->calls = NULL;
	spaces_release(&t->spaces);
	t->pending.block = NULL;
	free(t->kept);
	ahead_destroy(t->ahead);
	t->ahead = NULL;
	t->kept = NULL;
	t->kept_size = 0;
	if (t->process->current == t)
		t->process->current = NULL;
}

/* ---- processes ---- */

int process_get(struct process **out, struct process_table *t, uint32_t index, uint32_t pid, struct runner *r,
	struct err *err)
{
	if (index < t->count) {
		*out = t->process[index];
		return 0;
	}
	if (index != t->count)
		return err_set(err, ERR_INPUT, "the stream names process %u before process %zu", index, t->count);
	struct process **list = realloc(t->process, (t->count + 1) * sizeof *list);
	struct process *p = list ? calloc(1, sizeof *p) : NULL;
	if (list)
		t->process = list;
	if (p)
		p->page_head = calloc(PAGE_BUCKETS, sizeof *p->page_head);
	if (!p || !p->page_head) {
		free(p);
		return err_set(err, ERR_NOMEM, "out of memory for process %u", pid);
	}
	*p = (struct process){ .runner = r, .index = index, .pid = pid, .page_head = p->page_head,
			       .is_child = index > 0, .started = index == 0 };
	p->stash_last = &p->stash_first;
	t->process[t->count++] = p;
	*out = p;
	return 0;
}

int process_image(struct process *p, const struct st_process *s, const struct core_config *core, struct err *err)
{
	uint64_t latest = p->end_cycle > p->start_cycle ? p->end_cycle : p->start_cycle;
	drop_blocks(p);
	p->word_bytes = s->word_bytes;
	p->has_regs = s->has_regs;
	p->parent_pid = s->parent_pid;
	p->pid = s->pid;
	p->current = NULL;
	p->start_cycle = latest;
	p->ended = false;
	walk_space_destroy(p->space);
	p->space = NULL;
	drop_processors(p);
	machine_destroy(p->machine);
	machine_destroy(p->leader);
	p->machine = p->leader = NULL;
	const struct core_features *f = runner_processes(p->runner)->features;
	if (f)
		p->registers = *f;
	else
		core_features_init(&p->registers, core);
	p->decoding = 0;
	p->decoded_for = *core;
	return machine_create(&p->machine, core, err);
}

/* ---- decoders that change ---- */

void process_decode_for(struct process_table *t, struct process *p, struct isa *isa)
{
	struct core_config c;
	struct isa_options o;
	if (t->decoding == p->decoding)
		return;
	core_features_config(&p->registers, &c);
	core_isa_options(p->decoding ? &c : t->core, &o);
	isa_configure(isa, &o);
	t->decoding = p->decoding;
}

/* Decodes all blocks again; the old ones are freed like discarded ones. */
static int decode_again(struct process *p, struct isa *isa, struct err *err)
{
	process_discard(p, 0, 0);	/* starts a new generation of discarded blocks; nothing uses the older ones */
	for (size_t id = 0; id < p->blocks; id++) {
		struct iblock *was = p->block[id], *is = NULL;
		if (!was)
			continue;
		int rc = isa_decode_again(isa, p->word_bytes, was, &is, err);
		if (rc < 0)
			return rc;
		if (!bury(p, (uint32_t)id)) {
			isa_block_free(is);
			return err_set(err, ERR_NOMEM, "out of memory for blocks that are decoded anew");
		}
		set_block(p, (uint32_t)id, is);
		for (size_t i = 0; i < p->threads; i++)
			if (p->thread[i]->alive && p->thread[i]->pending.block == was)
				p->thread[i]->pending.block = is;
		rc = p->space ? walk_space_block(p->space, is, err) : 0;
		if (rc < 0)
			return rc;
	}
	if (p->space)
		walk_space_again(p->space);
	for (size_t i = 0; i < p->threads; i++)
		if (p->thread[i]->alive)
			core_discard_code(p->thread[i]->core, 0, UINT64_MAX);
	for (uint32_t i = 0; i < p->order.cpus; i++)
		core_discard_code(p->order.cpu[i].core, 0, UINT64_MAX);
	return 0;
}

int process_decodes(struct process *p, struct isa *isa, const struct core_config *to, struct err *err)
{
	struct process_table *t = runner_processes(p->runner);
	struct isa_options is, was;
	memset(&was, 0, sizeof was);
	memset(&is, 0, sizeof is);
	core_isa_options(&p->decoded_for, &was);
	core_isa_options(to, &is);
	p->decoded_for = *to;
	if (!memcmp(&was, &is, sizeof was))
		return 0;
	p->decoding = ++t->decodings;
	process_decode_for(t, p, isa);
	return decode_again(p, isa, err);
}

static void process_free(struct process *p)
{
	drop_blocks(p);
	for (size_t i = 0; i < p->threads; i++) {
		if (p->thread[i]->alive)
			process_thread_end(p->thread[i]);
		free(p->thread[i]);
	}
	while (p->stash_first) {
		struct stash *s = p->stash_first;
		p->stash_first = s->next;
		free(s->words);
		free(s);
	}
	drop_processors(p);
	order_release(&p->order);
	free(p->depend);
	walk_space_destroy(p->space);
	machine_destroy(p->machine);
	machine_destroy(p->leader);
	free(p->thread);
	free(p->block);
	free(p->block_flags);
	free(p->brief);
	free(p->page_next);
	free(p->page_head);
	free(p->grave);
	free(p);
}

void process_table_release(struct process_table *t)
{
	for (size_t i = 0; i < t->count; i++)
		process_free(t->process[i]);
	free(t->process);
	free(t->fork);
	memset(t, 0, sizeof *t);
}

/* ---- orderings between processes ---- */

static struct process *newest_with_pid(const struct process_table *t, uint32_t pid)
{
	for (size_t i = t->count; i-- > 0;)
		if (t->process[i]->pid == pid)
			return t->process[i];
	return NULL;
}

static bool fork_open(const struct process_table *t, uint32_t pid, size_t *at)
{
	for (size_t i = 0; i < t->forks; i++)
		if (!t->fork[i].used && t->fork[i].pid == pid) {
			*at = i;
			return true;
		}
	return false;
}

void process_forked(struct process_table *t, struct process *parent, uint32_t child_pid, uint64_t cycle)
{
	(void)parent;
	void *list = realloc(t->fork, (t->forks + 1) * sizeof *t->fork);
	if (!list)
		/* the child then starts at the stream's end, at clock 0: its order is lost, its counts are right */
		return;
	t->fork = list;
	t->fork[t->forks].pid = child_pid;
	t->fork[t->forks].cycle = cycle;
	t->fork[t->forks++].used = false;
}

bool process_wait_for(struct process_table *t, struct process *parent, uint32_t child_pid)
{
	size_t at;
	struct process *child = newest_with_pid(t, child_pid);
	if (!(child && !child->ended) && !fork_open(t, child_pid, &at)) {
		runner_drain(parent);
		if (child && child->ended && parent->current)
			halt_until(parent->current, child->end_cycle);
		return false;
	}
	parent->wait_pid = child_pid;
	return true;
}

bool process_waits(struct process_table *t, struct process *p)
{
	size_t at;
	if (!p->started) {
		if (!fork_open(t, p->pid, &at))
			return true;
		t->fork[at].used = true;
		p->start_cycle = t->fork[at].cycle;
		p->started = true;
	}
	if (p->wait_pid) {
		struct process *child = newest_with_pid(t, p->wait_pid);
		if (fork_open(t, p->wait_pid, &at) || (child && !child->ended))
			return true;
		runner_drain(p);
		if (child && p->current)
			halt_until(p->current, child->end_cycle);
		p->wait_pid = 0;
	}
	return false;
}

void process_stop_waiting(struct process_table *t, struct process *p, bool at_end)
{
	size_t at;
	if (at_end)
		p->started = true;
	if (p->wait_pid && fork_open(t, p->wait_pid, &at) &&
	    !(newest_with_pid(t, p->wait_pid) && !newest_with_pid(t, p->wait_pid)->ended))
		t->fork[at].used = true;
	if (at_end || !newest_with_pid(t, p->wait_pid))
		p->wait_pid = 0;
}

bool process_any_hopeless(const struct process_table *t)
{
	size_t at;
	for (size_t i = 0; i < t->count; i++) {
		uint32_t pid = t->process[i]->wait_pid;
		if (pid && fork_open(t, pid, &at)) {
			struct process *child = newest_with_pid(t, pid);
			if (!child || child->ended)
				return true;
		}
	}
	return false;
}

int process_stash(struct process *p, const uint64_t *w, size_t count, struct err *err)
{
	struct stash *s = malloc(sizeof *s);
	uint64_t *copy = s ? malloc(count * sizeof *copy) : NULL;
	if (!copy) {
		free(s);
		return err_set(err, ERR_NOMEM,
			"out of memory for the stream of process %u, which waits for another", p->pid);
	}
	memcpy(copy, w, count * sizeof *copy);
	*s = (struct stash){ .count = count, .words = copy };
	*p->stash_last = s;
	p->stash_last = &s->next;
	p->stashed++;
	return 0;
}

uint64_t *process_unstash(struct process *p, size_t *count)
{
	struct stash *s = p->stash_first;
	uint64_t *words = s->words;
	*count = s->count;
	p->stash_first = s->next;
	if (!p->stash_first)
		p->stash_last = &p->stash_first;
	p->stashed--;
	free(s);
	return words;
}

int process_restash(struct process *p, uint64_t *w, size_t used, size_t count, struct err *err)
{
	struct stash *s = malloc(sizeof *s);
	if (!s) {
		free(w);
		return err_set(err, ERR_NOMEM,
			"out of memory for the stream of process %u, which waits for another", p->pid);
	}
	memmove(w, w + used, (count - used) * sizeof *w);
	*s = (struct stash){ .next = p->stash_first, .count = count - used, .words = w };
	if (!p->stash_first)
		p->stash_last = &s->next;
	p->stash_first = s;
	p->stashed++;
	return 0;
}
