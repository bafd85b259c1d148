/* SPDX-License-Identifier: GPL-2.0-or-later
 * Streams of a whole machine (machine_events.h).
 */
#include "run/threads/machine_events.h"
#include "run/runner.h"
#include "core/paging/told.h"
#include <stdlib.h>
#include <string.h>

enum {
	SPACES = 1 << 16,	/* tags are below: bit 63 stays clear */
	DELIVERED_BYTES = 64,	/* most of one access of a delivery */
};
#define HALT_MOST (UINT64_C(1) << 48)	/* cycles */
#define LOW ((UINT64_C(1) << ST_SPACE_SHIFT) - 1)

const char *whole_misfit(const struct run_options *o)
{
	if (o->smt || o->cpus)
		return "a whole machine's stream has one processor: --smt and --cpus do not apply";
	if (o->writes)
		return "a whole machine's stream does not go with --wrmsr REGISTER=VALUE@FUNCTION";
	if (o->sample.measured || o->live_points)
		return "a whole machine's stream is timed in full: there are no windows of it";
	return NULL;
}

int whole_image(struct process *p, const struct st_process *s, const struct run_options *o, struct err *err)
{
	p->is_machine = s->is_machine;
	p->has_pages = s->is_machine && s->has_pages;
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
	t->pub.is_machine = true;
	if (t->index)
		return err_set(err, ERR_INPUT, "the stream of a whole machine starts a second processor");
	return t->process->has_pages ? core_told(t->core, err) : 0;
}

/* ---- what a record must be ---- */

static bool page_fits(const struct st_page *s)
{
	if ((s->shift != 12 && s->shift != 21 && s->shift != 22 && s->shift != 30) || s->levels > ST_PAGE_LEVELS ||
		(s->entry_bytes != 8 && s->entry_bytes != 4))
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
	const struct st_trap *trap = record;
	switch (ST_HEADER_KIND(w[0])) {
	case ST_LEVEL:
		return (level->cpl == 0 || level->cpl == 3) && (level->word_bytes == 8 || level->word_bytes == 4);
	case ST_TRAP:
		return trap->vector < 256 && trap->interrupt < 2;
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

/* ---- the front ---- */

/* Outside of --start and --stop no time passes: what only drains or waits is left out. */
static bool passes_time(const uint64_t *w)
{
	switch (ST_HEADER_KIND(w[0])) {
	case ST_TRAP: case ST_HALT: case ST_SERIALIZE: case ST_DELIVERY:
		return true;
	default:
		return false;
	}
}

/* Where the block before the record led to.  False: the record does not say. */
static bool tells(const uint64_t *w, uint64_t *next)
{
	const void *record = w;
	switch (ST_HEADER_KIND(w[0])) {
	case ST_NEXT:
		*next = ((const struct st_next *)record)->next;
		return true;
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

int whole_record(struct runner *r, struct process *p, const uint64_t *w, size_t length, struct err *err)
{
	const unsigned kind = ST_HEADER_KIND(w[0]);
	struct rthread *t = p->current;
	uint64_t next = 0;
	if (!t || !t->pub.is_machine)
		return err_set(err, ERR_INPUT, "the stream of process %u holds a record of kind %u, which only that of "
			"a whole machine has", p->pid, kind);
	if (!proper(w, length * 8))
		return err_set(err, ERR_INPUT, "the machine's stream holds a malformed record (kind %u, %zu bytes)",
			kind, length * 8);
	if ((kind == ST_PAGE || kind == ST_DROP) && !p->has_pages)
		return err_set(err, ERR_INPUT, "the machine's stream tells of pages, and says that it does not");
	if (tells(w, &next))
		runner_run_all(r, t, next);
	else if (t->pending.block && kind != ST_SYMBOLS)
		return err_set(err, ERR_INPUT, "the machine's stream does not say where block %u led to, before a "
			"record of kind %u", t->pending.block->id, kind);
	if (kind == ST_NEXT || r->stopped)
		return 0;
	if (__builtin_expect(r->window.active && !r->window.open, 0)) {
		if (passes_time(w))
			return 0;
		if (kind == ST_LEVEL) {
			struct st_level level = *(const struct st_level *)w;
			level.drains = 0;
			engine_side(&r->engine, t, p->pid, &level.header, sizeof level / 8, 0);
			return 0;
		}
	}
	engine_side(&r->engine, t, p->pid, w, length, 0);
	return 0;
}

/* ---- the cores' thread ---- */

void whole_apply(struct engine *e, struct rthread *t, const uint64_t *w)
{
	const void *record = w;
	const struct st_level *level = record;
	const struct st_drop *drop = record;
	const struct st_delivery *delivery = record;
	const struct st_space *space = record;
	struct err err = { 0 };
	switch (ST_HEADER_KIND(w[0])) {
	case ST_LEVEL:
		if (level->drains)
			core_serialize(t->on);
		else if (level->cpl != t->pub.cpl)	/* while it is only warmed */
			core_flush(t->on, false);
		t->pub.cpl = level->cpl;
		if (level->cpl)
			spaces_program(&t->spaces, t->pub.space);
		break;
	case ST_TRAP:
		core_trap(t->on);
		break;
	case ST_HALT:
		core_halt_for(t->on, ((const struct st_halt *)record)->cycles);
		break;
	case ST_SERIALIZE:
		core_serialize(t->on);
		break;
	case ST_SPACE:
		core_flush(t->on, false);	/* a batch is of one space */
		spaces_enter(&t->spaces, space->tag, space->tables);
		t->pub.space = space->tag;
		t->pub.process_space = spaces_process(&t->spaces, space->tag);
		break;
	case ST_PAGE:
		if (core_told_page(t->on, record, &err) < 0)
			engine_fails(e, &err);
		break;
	case ST_DROP:
		core_told_drop(t->on, (enum st_drop_what)drop->what, drop->addr);
		break;
	case ST_DELIVERY:
		core_deliver(t->on, w + sizeof *delivery / sizeof *w, delivery->accesses);
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
