/* SPDX-License-Identifier: GPL-2.0-or-later
 * Hardware lock elision; what is modelled: elision.h.
 *
 * While a region is under way, elision_steps runs the scripts.  It reads each script before it runs, and puts the lines
 * of its accesses into a hash table; the memory system says which lines others ask for, and which leave.  So programs
 * without such regions pay nothing.
 */
#include "core/backend/clears.h"
#include "core/backend/elision.h"
#include "core/script/script.h"
#include "core/smt.h"
#include <stdlib.h>
#include <string.h>

/* ---- the lines of a region ---- */

int elision_init(struct core *c, struct err *err)
{
	struct elision *el = &c->hle;
	if (!c->config.hle)
		return 0;
	uint32_t places = 1;
	while (places < 2 * c->config.hle_read_lines)
		places *= 2;
	el->mask = places - 1;
	/* host memory is touched only as regions need it */
	el->line = calloc(places, sizeof *el->line);
	el->written = calloc(places, sizeof *el->written);
	el->used = calloc(c->config.hle_read_lines, sizeof *el->used);
	return el->line && el->written && el->used ? 0 :
		err_set(err, ERR_NOMEM, "out of memory for the lines of elided regions");
}

void elision_release(struct core *c)
{
	free(c->hle.line);
	free(c->hle.written);
	free(c->hle.used);
}

/* Returns the line's place in the table, or a free one for it. */
static uint32_t place(const struct elision *el, uint32_t line)
{
	uint32_t at = line * UINT32_C(0x9e3779b1) >> 8 & el->mask;
	while (el->line[at] && el->line[at] != line + 1)
		at = (at + 1) & el->mask;
	return at;
}

static void note_line(struct core *c, uint32_t line, bool store)
{
	struct elision *el = &c->hle;
	const uint32_t at = place(el, line);
	if (!el->line[at]) {
		if (el->lines == c->config.hle_read_lines) {
			el->why = SPMU_ATTR(ABORT_READS);
			return;
		}
		el->line[at] = line + 1;
		el->written[at] = false;
		el->used[el->lines++] = at;
	}
	el->written[at] |= store;
}

static void forget_lines(struct elision *el)
{
	while (el->lines)
		el->line[el->used[--el->lines]] = 0;
}

/* ---- begin and end ---- */

static void join(struct core *c)
{
	c->hle.on = true;
	c->hle.next = c->machine->eliding;
	c->machine->eliding = c;
	memsys_follow(c->mem, true);
	core_choose_steps(c);
}

static void leave(struct core *c)
{
	struct core **at = &c->machine->eliding;
	while (*at != c)
		at = &(*at)->hle.next;
	*at = c->hle.next;
	memsys_follow(c->mem, false);
	forget_lines(&c->hle);
	c->hle.on = false;
	c->hle.why = c->hle.lock_line = 0;
	c->hle.end = NULL;
	c->hle.locks = 0;
	core_choose_steps(c);
}

void elision_reset(struct core *c)
{
	if (c->hle.on)
		leave(c);
}

static void report_abort(struct core *c, uint64_t cycle)
{
	emit_attributes(&c->e, SPMU_SIG_ELISION_ABORT, cycle, cycle, 1, c->hle.why);
	if (emit_wanted(&c->e, SPMU_SIG_ELISION_ABORT))
		c->e.record[c->e.count - 1].ip = c->hle.ip;
}

static void abort_region(struct core *c)
{
	const uint64_t cycle = c->e.now + 1, until = cycle + c->config.hle_abort_cycles;
	report_abort(c, cycle);
	leave(c);
	emit_signal(&c->e, SPMU_SIG_RECOVERY, cycle, until, 1);
	core_redirect(c, until);
}

void elision_interrupt(struct core *c)
{
	if (!c->hle.on)
		return;
	if (!c->hle.why)
		c->hle.why = SPMU_ATTR(ABORT_INTERRUPT);
	report_abort(c, c->e.now);
	leave(c);
}

/* ---- locks ---- */

/* The first access of instruction i.  False: it made none. */
static bool first_access(const struct iblock *b, unsigned i, const uint64_t *end, uint64_t *addr, uint32_t *size)
{
	const struct uop *u = b->uop + b->insn[i].first_uop;
	const uint64_t *slots = end + 3;
	for (unsigned k = 0; k < b->insn[i].uops; k++, u++) {
		if ((u->kind != UOP_LOAD && u->kind != UOP_STORE_ADDR) || !u->size || u->slot >= (uint32_t)end[2] ||
		    slots[u->slot] == ST_NOT_DONE)
			continue;
		*addr = slots[u->slot];
		*size = u->size;
		return true;
	}
	return false;
}

static uint64_t physical(struct core *c, uint64_t addr)
{
	return (uint64_t)memsys_line(c->mem, addr) << 6 | (addr & 63);
}

/* Does another core elide this lock at the moment? */
static bool elided_elsewhere(const struct core *c, uint64_t where)
{
	for (const struct core *o = c->machine->eliding; o; o = o->hle.next)
		for (unsigned k = 0; o != c && k < o->hle.locks; k++)
			if (o->hle.lock[k].elided && o->hle.lock[k].where == where)
				return true;
	return false;
}

static struct elided_lock *find_lock(struct elision *el, uint64_t addr, uint32_t size)
{
	for (unsigned k = 0; k < el->locks; k++)
		if (el->lock[k].addr == addr && el->lock[k].size == size)
			return &el->lock[k];
	return NULL;
}

static void acquire(struct core *c, uint64_t ip, uint64_t addr, uint32_t size)
{
	struct elision *el = &c->hle;
	if (find_lock(el, addr, size))	/* tried again */
		return;
	if (el->locks == ELISION_LOCKS) {
		el->why = SPMU_ATTR(ABORT_INSTRUCTION);
		return;
	}
	unsigned elided = 0;
	for (unsigned k = 0; k < el->locks; k++)
		elided += el->lock[k].elided;
	const bool room = elided < c->config.hle_locks;
	if (!room)
		emit_signal_at(&c->e, SPMU_SIG_ELISION_FULL, c->e.now, c->e.now, 1, ip, addr);
	el->lock[el->locks++] = (struct elided_lock){ addr, physical(c, addr), size, room };
	note_line(c, memsys_line(c->mem, addr), !room);
}

/* word: of the instruction that releases. */
static void release(struct core *c, const uint64_t *word, uint64_t addr, uint32_t size)
{
	struct elision *el = &c->hle;
	struct elided_lock *lock = find_lock(el, addr, size);
	if (!lock) {
		el->why = SPMU_ATTR(ABORT_LOCK_RELEASE);
		return;
	}
	*lock = el->lock[--el->locks];
	if (!el->locks)
		el->end = word;
}

/* ---- what a region does ---- */

static bool overlap(const struct elided_lock *l, uint64_t addr, uint32_t size)
{
	return addr - l->addr < l->size || l->addr - addr < size;
}

static void accesses(struct core *c, uint64_t addr, uint32_t size, bool store)
{
	struct elision *el = &c->hle;
	if (addr == ST_NOT_DONE || !size)
		return;
	for (unsigned k = 0; k < el->locks; k++) {
		const struct elided_lock *l = &el->lock[k];
		if (!l->elided || !overlap(l, addr, size))
			continue;
		if (store)
			el->why = SPMU_ATTR(ABORT_LOCK_STORE);
		else if (addr < l->addr || size > l->size - (addr - l->addr))
			el->why = SPMU_ATTR(ABORT_LOCK_LOAD);
	}
	const uint64_t last = addr + size - 1;
	for (uint64_t at = addr; !el->why; at = (at | 63) + 1) {
		note_line(c, memsys_line(c->mem, at), store);
		if ((at | 63) >= last)
			break;
	}
}

static bool is_state(uint8_t reg)
{
	return (uint8_t)(reg - REG_X87) < REG_FLAGS - REG_X87;
}

static void note_uop(struct core *c, uint64_t is, uint64_t ip)
{
	if (is & SPMU_IS(ZERO_UPPERS) && is & SPMU_IS(INST_END))
		emit_signal_at(&c->e, SPMU_SIG_ELISION_VZEROUPPER, c->e.now, c->e.now, 1, ip, 0);
	if ((is & SPMU_IS(X87)) || (is & (SPMU_IS(NON_TEMPORAL) | SPMU_IS(PREFETCH_SW))) == SPMU_IS(NON_TEMPORAL))
		c->hle.why = SPMU_ATTR(ABORT_INSTRUCTION);
}

static void follow_step(struct core *c, const struct step *s, const uint64_t *w)
{
	const unsigned kind = *w & SCRIPT_KIND;
	for (unsigned k = 0; k < 2; k++) {
		bool state = false;
		note_uop(c, s->is[k], s->ip);
		for (unsigned i = 0; i < 3; i++)
			state |= is_state(s->src[k][i]) || is_state(s->dst[k][i]);
		if (state)
			c->hle.why = SPMU_ATTR(ABORT_INSTRUCTION);
	}
	if (kind >= STEP_LOAD)
		accesses(c, w[1], s->size, kind == STEP_STORE);
}

static void follow_general(struct core *c, const uint64_t *w, const uint64_t *end)
{
	const struct iblock *b = (const struct iblock *)end[0];
	const unsigned i = (uint32_t)*w >> SCRIPT_INDEX;
	const struct insn *in = &b->insn[i];
	const uint64_t *slots = end + 3;
	const enum insn_elision what = b->elision ? b->elision[i] : ELISION_NONE;
	uint64_t addr;
	uint32_t size;
	switch (what) {
	case ELISION_ACQUIRE:
		if (first_access(b, i, end, &addr, &size))
			acquire(c, in->addr, addr, size);
		return;
	case ELISION_RELEASE:
		if (first_access(b, i, end, &addr, &size))
			release(c, w, addr, size);
		return;
	case ELISION_NONE:
		break;
	default:
		c->hle.why = SPMU_ATTR(ABORT_INSTRUCTION);
		return;
	}
	if (in->flags & INSN_FAR)
		c->hle.why = SPMU_ATTR(ABORT_INSTRUCTION);
	const struct uop *u = b->uop + in->first_uop;
	for (unsigned k = 0; k < in->uops && !c->hle.why; k++, u++) {
		note_uop(c, u->is, in->addr);
		if ((u->kind != UOP_LOAD && u->kind != UOP_STORE_ADDR) || u->slot >= (uint32_t)end[2])
			continue;
		accesses(c, slots[u->slot], u->size, u->kind == UOP_STORE_ADDR);
	}
}

static unsigned words(unsigned kind)
{
	switch (kind) {
#define STEP(CASES, KIND, n) CASES: return n;
	SHORT_STEPS(STEP)
#undef STEP
	default: return 1;
	}
}

/* Follows the region from word w of a script on, to the script's end, or to the region's. */
static void follow(struct core *c, const uint64_t *w, const uint64_t *end)
{
	while (!c->hle.why && !c->hle.end) {
		const unsigned kind = *w & SCRIPT_KIND;
		if (kind == SCRIPT_END)
			return;
		if (kind == SCRIPT_WRONG_PATH) {
			w += (uint32_t)*w >> SCRIPT_INDEX;
			continue;
		}
		if (kind == STEP_GENERAL)
			follow_general(c, w, end);
		else
			follow_step(c, script_step(*w), w);
		w += words(kind);
	}
}

void elision_before(struct core *c, const struct iblock *b, unsigned i, const uint64_t *end)
{
	uint64_t addr;
	uint32_t size;
	if (b->elision[i] == ELISION_ACQUIRE && !c->hle.on && first_access(b, i, end, &addr, &size))
		c->hle.lock_line = memsys_line(c->mem, addr) + UINT64_C(1);
}

void elision_after(struct core *c, const struct iblock *b, unsigned i, const uint64_t *word, const uint64_t *end)
{
	struct elision *el = &c->hle;
	uint64_t addr;
	uint32_t size;
	if (el->on && word == el->end) {
		core_settle(c);		/* its stores may still find no room in L1D */
		if (el->why) {
			abort_region(c);
			return;
		}
		emit_signal_at(&c->e, SPMU_SIG_ELISION_COMMIT, c->e.now, c->e.now, 1, el->ip, 0);
		leave(c);
	}
	if (el->on || b->elision[i] != ELISION_ACQUIRE || !first_access(b, i, end, &addr, &size))
		return;
	if (elided_elsewhere(c, physical(c, addr))) {
		el->lock_line = 0;
		return;
	}
	el->ip = b->insn[i].addr;
	emit_signal_at(&c->e, SPMU_SIG_ELISION_START, c->e.now, c->e.now, 1, el->ip, addr);
	join(c);
	acquire(c, el->ip, addr, size);
	follow(c, word + 1, end);
}

void elision_steps(struct core *c, const uint64_t *script)
{
	struct elision *el = &c->hle;
	if (el->why && !c->rep.active) {
		abort_region(c);
		c->steps(c, script);
		return;
	}
	el->end = NULL;
	follow(c, script + 1, script_end(script));
	if (c->follow.end)	/* no script behind this one runs before it has been read */
		c->follow.end = script - SCRIPT_OP_WORDS + 1;
	el->steps(c, script);
	if (el->on && el->why && !c->rep.active)
		abort_region(c);
}

/* ---- what happens to its lines ---- */

static void taken(struct core *c, const struct core *by, uint32_t line, bool write)
{
	struct elision *el = &c->hle;
	if (!el->on || el->why || by->hle.lock_line == line + UINT64_C(1))
		return;
	const uint32_t at = place(el, line);
	if (el->line[at] && (write || el->written[at]))
		el->why = SPMU_ATTR(ABORT_CONFLICT);
}

static void left(struct core *c, uint32_t line, bool l1d)
{
	struct elision *el = &c->hle;
	if (!el->on || el->why)
		return;
	const uint32_t at = place(el, line);
	if (el->line[at] && (!l1d || el->written[at]))
		el->why = el->written[at] ? SPMU_ATTR(ABORT_WRITES) : SPMU_ATTR(ABORT_READS);
}

void elision_line_taken(void *core, void *by, uint32_t line, bool write)
{
	struct core *c = core;
	if (LIKELY(!c->st))
		taken(c, by, line, write);
	for (unsigned i = 0; c->st && i < SMT_MOST; i++)
		if (c->st->smt->thread[i])
			taken(c->st->smt->thread[i], by, line, write);
}

void elision_line_left(void *core, uint32_t line, bool l1d)
{
	struct core *c = core;
	if (LIKELY(!c->st))
		left(c, line, l1d);
	for (unsigned i = 0; c->st && i < SMT_MOST; i++)
		if (c->st->smt->thread[i])
			left(c->st->smt->thread[i], line, l1d);
}
