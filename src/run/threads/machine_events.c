/* SPDX-License-Identifier: GPL-2.0-or-later
 * Streams of a whole machine (machine_events.h).
 */
#include "run/threads/machine_events.h"
#include "run/runner.h"
#include <stdlib.h>
#include <string.h>

enum {
	HELD_WORDS = 1 << 22,	/* most words of records between two blocks */
	SPACES = 1 << 16,	/* tags are below: bit 63 stays clear */
	DELIVERED_BYTES = 64,	/* most of one access of a delivery */
};
#define HALT_MOST (UINT64_C(1) << 48)	/* cycles */
#define LOW ((UINT64_C(1) << ST_SPACE_SHIFT) - 1)

struct machine_front {		/* of a thread */
	uint64_t tag;		/* of the address space, behind all records so far */
	struct pending block;	/* that the held records are behind; .block NULL: nothing is held */
	uint64_t block_tag;	/* of the address space it was executed in */
	uint64_t *slots;	/* of that block, if its span is gone */
	size_t slots_room;
	uint64_t *record;	/* held */
	size_t words, room;
	bool told;		/* the record says where the block goes on, and not the next block's address */
};

const char *whole_misfit(const struct run_options *o)
{
	if (o->smt || o->cpus)
		return "a whole machine's stream has one processor: --smt and --cpus do not apply";
	if (o->start || o->stop)
		return "a whole machine's stream is timed from its beginning to its end: not with --start or --stop";
	if (o->writes)
		return "a whole machine's stream does not go with --wrmsr REGISTER=VALUE@FUNCTION";
	if (o->sample.measured || o->live_points)
		return "a whole machine's stream is timed in full: there are no windows of it";
	return NULL;
}

int whole_image(struct process *p, const struct st_process *s, const struct run_options *o, struct err *err)
{
	p->is_machine = s->is_machine;
	if (!s->is_machine)
		return 0;
	if (!o->core->both_rings)
		return err_set(err, ERR_UNSUPPORTED, "the stream is of a whole machine, which only some commands take, "
			"by --replay of a file that is no pipe");
	if (s->has_regs)
		return err_set(err, ERR_INPUT, "the stream of a whole machine says that it holds registers");
	const char *misfit = whole_misfit(o);
	return misfit ? err_set(err, ERR_UNSUPPORTED, "%s", misfit) : 0;
}

bool whole_has(unsigned kind)
{
	switch (kind) {
	case ST_BLOCK_DEF: case ST_PROCESS: case ST_SWITCH: case ST_THREAD_START: case ST_THREAD_EXIT: case ST_MAP:
	case ST_UNMAP: case ST_COMM: case ST_EXIT: case ST_NOTE:
		return true;
	default:
		return false;
	}
}

int whole_word_bytes(const struct process *p, const struct st_block_def *def, struct err *err)
{
	const int bytes = p->is_machine && def->pad[0] ? def->pad[0] : p->word_bytes;
	return bytes == 8 || bytes == 4 ? bytes : err_set(err, ERR_INPUT,
		"the stream of process %u defines block %u with an impossible word size of %d bytes", p->pid, def->id,
		bytes);
}

int whole_start(struct rthread *t, struct err *err)
{
	if (t->index)
		return err_set(err, ERR_INPUT, "the stream of a whole machine starts a second processor");
	t->machine = calloc(1, sizeof *t->machine);
	t->pub.is_machine = true;
	return t->machine ? 0 : err_set(err, ERR_NOMEM, "out of memory for a machine's processor");
}

void whole_end(struct rthread *t)
{
	if (!t->machine)
		return;
	free(t->machine->slots);
	free(t->machine->record);
	free(t->machine);
	t->machine = NULL;
}

/* ---- what a record must be ---- */

static bool page_fits(const struct st_page *s)
{
	if ((s->shift != 12 && s->shift != 21 && s->shift != 22 && s->shift != 30) || s->levels > ST_PAGE_LEVELS)
		return false;
	const uint64_t rest = (UINT64_C(1) << s->shift) - 1;
	return !(s->addr & rest) && !(s->frame & rest);
}

static bool delivery_fits(const struct st_delivery *s, size_t bytes)
{
	const uint64_t *access = (const uint64_t *)(s + 1);
	if (s->accesses != (bytes - sizeof *s) / 16 || (bytes - sizeof *s) % 16)
		return false;
	for (uint64_t i = 0; i < s->accesses; i++)
		if (!(uint32_t)access[2 * i + 1] || (uint32_t)access[2 * i + 1] > DELIVERED_BYTES ||
			access[2 * i + 1] >> 33)
			return false;
	return true;
}

static bool symbols_fit(const struct st_symbols *s, size_t bytes)
{
	return s->what <= ST_SYMBOLS_PROGRAM && s->tag < SPACES && s->path_bytes &&
		s->path_bytes <= bytes - sizeof *s && !((const char *)(s + 1))[s->path_bytes - 1];
}

static bool proper(const uint64_t *w, size_t bytes)
{
	const void *record = w;
	const struct st_level *level = record;
	switch (ST_HEADER_KIND(w[0])) {
	case ST_LEVEL:
		return (level->cpl == 0 || level->cpl == 3) && (level->word_bytes == 8 || level->word_bytes == 4);
	case ST_TRAP:
		return ((const struct st_trap *)record)->vector < 256 && ((const struct st_trap *)record)->interrupt < 2;
	case ST_HALT:
		return ((const struct st_halt *)record)->cycles < HALT_MOST;
	case ST_SPACE:
		return ((const struct st_space *)record)->tag < SPACES;
	case ST_PAGE:
		return page_fits(record);
	case ST_DROP:
		return ((const struct st_drop *)record)->what <= ST_DROP_SPACE;
	case ST_DELIVERY:
		return delivery_fits(record, bytes);
	case ST_SYMBOLS:
		return symbols_fit(record, bytes);
	default:
		return true;
	}
}

/* ---- holding back ---- */

/* Does the record say itself where the block before it goes on? */
static bool tells(const uint64_t *w, uint64_t *next)
{
	const void *record = w;
	switch (ST_HEADER_KIND(w[0])) {
	case ST_TRAP:
		*next = ((const struct st_trap *)record)->next;
		return true;
	case ST_HALT:
		*next = ((const struct st_halt *)record)->next;
		return true;
	case ST_SERIALIZE:
		*next = ((const struct st_serialize *)record)->next;
		return true;
	default:
		return false;
	}
}

static int hold(struct machine_front *m, const uint64_t *w, size_t length, struct err *err)
{
	if (length > HELD_WORDS || m->words > HELD_WORDS - length)
		return err_set(err, ERR_INPUT, "the machine's stream holds too much between two blocks");
	if (m->words + length > m->room) {
		const size_t room = 2 * (m->words + length);
		uint64_t *bigger = realloc(m->record, room * sizeof *bigger);
		if (!bigger)
			return err_set(err, ERR_NOMEM, "out of memory for a machine's records");
		m->record = bigger;
		m->room = room;
	}
	memcpy(m->record + m->words, w, length * sizeof *w);
	m->words += length;
	return 0;
}

int whole_record(struct runner *r, struct process *p, const uint64_t *w, size_t length, struct err *err)
{
	struct rthread *t = p->current;
	uint64_t next = 0;
	if (!t || !t->machine)
		return err_set(err, ERR_INPUT, "the stream of process %u holds a record of kind %u, which only that of "
			"a whole machine has", p->pid, ST_HEADER_KIND(w[0]));
	if (!proper(w, length * 8))
		return err_set(err, ERR_INPUT, "the machine's stream holds a malformed record (kind %u, %zu bytes)",
			ST_HEADER_KIND(w[0]), length * 8);
	struct machine_front *m = t->machine;
	if (t->pending.block) {		/* nothing is held then */
		m->block = t->pending;
		m->block_tag = m->tag;
		t->pending.block = NULL;
	}
	if (ST_HEADER_KIND(w[0]) == ST_SPACE)
		m->tag = ((const struct st_space *)w)->tag;
	if (!m->block.block) {
		if (!r->stopped)
			engine_side(&r->engine, t, p->pid, w, length, 0);
		return 0;
	}
	if (tells(w, &next)) {
		m->told = true;
		runner_run_all(r, t, next);
		m->told = false;
		if (!r->stopped)
			engine_side(&r->engine, t, p->pid, w, length, 0);
		return 0;
	}
	return hold(m, w, length, err);
}

struct pending *whole_held(struct rthread *t, uint64_t next_ip)
{
	struct machine_front *m = t->machine;
	struct pending *p = &m->block;
	if (!p->block)
		return NULL;
	if (p->block->exit[p->exit].jump == ST_JUMP_REPEAT)	/* a round of a REP instruction */
		next_ip = p->block->addr;
	else if (!m->told && next_ip && !(next_ip >> 63))
		next_ip = (next_ip & LOW) | m->block_tag << ST_SPACE_SHIFT;
	p->next_ip = next_ip;
	return p;
}

void whole_pass(struct runner *r, struct rthread *t)
{
	struct machine_front *m = t->machine;
	m->block.block = NULL;
	for (size_t at = 0; at < m->words && !r->stopped; at += ST_HEADER_LOW(m->record[at]) / 8)
		engine_side(&r->engine, t, t->process->pid, m->record + at, ST_HEADER_LOW(m->record[at]) / 8, 0);
	m->words = 0;
}

int whole_keep(struct rthread *t, struct err *err)
{
	struct machine_front *m = t->machine;
	struct pending *p = &m->block;
	if (!p->block || p->slots == m->slots)
		return 0;
	if (p->slot_count > m->slots_room) {
		uint64_t *bigger = realloc(m->slots, p->slot_count * sizeof *bigger);
		if (!bigger)
			return err_set(err, ERR_NOMEM, "out of memory for the slots of a block");
		m->slots = bigger;
		m->slots_room = p->slot_count;
	}
	if (p->slot_count)
		memcpy(m->slots, p->slots, p->slot_count * sizeof *m->slots);
	p->slots = m->slots;
	return 0;
}

/* ---- the cores' thread ---- */

static void level(struct rthread *t, const struct st_level *s)
{
	if (s->cpl != t->pub.cpl)
		core_serialize(t->on);
	t->pub.cpl = s->cpl;
}

void whole_apply(struct rthread *t, const uint64_t *w)
{
	const void *record = w;
	switch (ST_HEADER_KIND(w[0])) {
	case ST_LEVEL:
		level(t, record);
		break;
	case ST_TRAP:
		core_serialize(t->on);
		core_hold(t->on, core_now(t->on) + 100);
		break;
	case ST_HALT:
		core_serialize(t->on);
		core_halt_until(t->on, core_now(t->on) + ((const struct st_halt *)record)->cycles);
		break;
	case ST_SERIALIZE:
		core_serialize(t->on);
		break;
	case ST_SPACE:
		core_flush(t->on, false);	/* a batch is of one space */
		t->pub.space = ((const struct st_space *)record)->tag;
		break;
	}
}

/* The core keeps its records to itself until it fills them anew, so they may be changed here. */
void whole_batch(const struct rthread *t, struct spmu_batch *b)
{
	struct spmu_record *r = (struct spmu_record *)b->records;
	b->user_only = t->pub.cpl == 3 ? 1 : 2;
	for (uint32_t i = 0; i < b->count; i++) {
		r[i].cpl = t->pub.cpl;
		if (!(r[i].ip >> 63))
			r[i].ip &= LOW;
		if (!(r[i].addr >> 63))
			r[i].addr &= LOW;
	}
}
