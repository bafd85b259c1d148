/* SPDX-License-Identifier: GPL-2.0-or-later
 * Register history (history.h): a ring of block executions with their slot values, on top of the register file
 * before the oldest.
 *
 * Left out: vector registers and the x87 stack, which the stream does not hold.
 */
#include "run/watch/history.h"
#include "isa/flags.h"
#include <stdlib.h>
#include <string.h>

/* A core is at most some 2,000 records ahead of what it has passed on. */
enum { ENTRIES = 8192, WORDS = 1 << 17, REGS = 20 /* 16 registers and the thunk */ };
#define RFLAGS_USER UINT64_C(0x202)	/* bit 1 and IF */

struct entry {			/* an execution of a block, or (block NULL) a register file */
	const struct iblock *block;
	uint64_t first;		/* number of its first instruction */
	uint64_t at;		/* position of its slot values in `word`, ever increasing */
	uint32_t words;
	uint16_t completed, insns;
};

struct history {
	int word_bytes;
	bool known;		/* a whole register file has come */
	uint64_t base[REGS];	/* registers before entry `head` */
	uint64_t head, tail;	/* entries, ever increasing */
	uint64_t old;		/* entries below are older than the last discard */
	uint64_t number;	/* number of the next instruction */
	uint64_t fill;		/* words, ever increasing */
	struct entry entry[ENTRIES];
	uint64_t word[WORDS];
};

int history_create(struct history **out, int word_bytes, struct err *err)
{
	struct history *h = calloc(1, sizeof *h);
	if (!h)
		return err_set(err, ERR_NOMEM, "out of memory for a thread's registers");
	h->word_bytes = word_bytes;
	*out = h;
	return 0;
}

void history_destroy(struct history *h)
{
	free(h);
}

static inline struct entry *entry_at(struct history *h, uint64_t i)
{
	return &h->entry[i % ENTRIES];
}

static inline void write_register(uint64_t reg[REGS], const struct st_slot *s, uint64_t value)
{
	if (s->reg >= REGS)
		return;
	if (s->size >= 8) {
		reg[s->reg] = value;
		return;
	}
	const unsigned shift = 8 * (s->offset & 7);
	const uint64_t mask = ((UINT64_C(1) << 8 * s->size) - 1) << shift;
	reg[s->reg] = (reg[s->reg] & ~mask) | (value << shift & mask);
}

/* Applies slots [from, to) of an execution. */
static void apply(const struct history *h, const struct entry *e, unsigned from, unsigned to, uint64_t reg[REGS])
{
	const uint64_t *w = &h->word[e->at % WORDS];
	if (to > e->words)
		to = e->words;
	for (unsigned i = from; i < to; i++)
		if (e->block->slot[i].kind == ST_SLOT_REG &&
		    !(e->block->slot[i].flags & ST_SLOT_COND && w[i] == ST_NOT_DONE))
			write_register(reg, &e->block->slot[i], w[i]);
}

static void apply_entry(const struct history *h, const struct entry *e, uint64_t reg[REGS])
{
	if (e->block)
		apply(h, e, 0, e->words, reg);
	else
		memcpy(reg, &h->word[e->at % WORDS], REGS * sizeof *reg);
}

static void forget_first(struct history *h)
{
	apply_entry(h, entry_at(h, h->head), h->base);
	h->head++;
}

/* Makes room for an entry of this many words, which are contiguous. */
static struct entry *push(struct history *h, uint32_t words)
{
	if (h->fill % WORDS + words > WORDS)
		h->fill += WORDS - h->fill % WORDS;
	while (h->head < h->tail &&
	    (h->tail - h->head == ENTRIES || h->fill + words - entry_at(h, h->head)->at > WORDS))
		forget_first(h);
	struct entry *e = entry_at(h, h->tail++);
	*e = (struct entry){ .first = h->number, .at = h->fill, .words = words };
	h->fill += words;
	return e;
}

void history_file(struct history *h, const uint64_t gpr[16], uint64_t flags)
{
	const struct entry *e = push(h, REGS);
	uint64_t *w = &h->word[e->at % WORDS];
	memset(w, 0, REGS * sizeof *w);
	memcpy(w, gpr, (h->word_bytes == 8 ? 16 : 8) * sizeof *w);
	w[17] = flags;		/* CC_OP 0: the flags themselves */
	h->known = true;
}

void history_block(struct history *h, const struct iblock *b, unsigned insns, unsigned completed, const uint64_t *slots,
	unsigned nslots, bool counts)
{
	if (nslots > b->slots)
		nslots = b->slots;
	if (nslots > WORDS / 2)		/* no block is so large */
		return;
	struct entry *e = push(h, nslots);
	e->block = b;
	e->insns = (uint16_t)insns;
	e->completed = (uint16_t)(counts ? completed : 0);
	memcpy(&h->word[e->at % WORDS], slots, nslots * sizeof *slots);
	h->number += e->completed;
}

void history_discard(struct history *h)
{
	while (h->head < h->tail && h->head < h->old)
		forget_first(h);
	h->old = h->tail;
}

/* The entry that holds the instruction; tail if none. */
static uint64_t find(const struct history *h, uint64_t number)
{
	uint64_t low = h->head, high = h->tail;
	/* the first entry that reaches beyond it; entries that completed nothing precede it */
	while (low < high) {
		uint64_t mid = low + (high - low) / 2;
		const struct entry *e = &h->entry[mid % ENTRIES];
		if (e->first + e->completed > number)
			high = mid;
		else
			low = mid + 1;
	}
	return low;
}

static bool is_at(const struct history *h, uint64_t i, uint64_t number, uint64_t ip)
{
	const struct entry *e = &h->entry[i % ENTRIES];
	return i < h->tail && e->block && number >= e->first && number - e->first < e->completed &&
		e->block->insn[number - e->first].addr == ip;
}

/* Did the execution begin an iteration of a REP instruction there, without completing the instruction?  *index: its
 * place in the block. */
static bool is_iteration(const struct entry *e, uint64_t ip, unsigned *index)
{
	if (!e->block || e->insns != e->completed + 1 || e->block->insn[e->completed].addr != ip)
		return false;
	*index = e->completed;
	return true;
}

bool history_at(const struct history *h, uint64_t number, uint64_t ip, unsigned behind, struct history_moment *out)
{
	uint64_t reg[REGS], at = find(h, number);
	unsigned index = 0;
	/* a REP instruction that goes on is none of those that completed */
	const bool goes_on = at == h->tail && at > h->head && number == h->number &&
		is_iteration(&h->entry[(at - 1) % ENTRIES], ip, &index);
	if (!h->known || (!goes_on && !is_at(h, at, number, ip)))
		return false;
	at -= goes_on;
	const struct entry *e = &h->entry[at % ENTRIES];
	if (!goes_on)
		index = (unsigned)(number - e->first);
	out->code = e->block->code[index];
	out->length = e->block->insn[index].len;
	/* The iterations of a REP instruction except the last are executions that did not complete it. */
	uint64_t from = at;
	unsigned first = index;
	while (!behind && !first && from > h->head && is_iteration(&h->entry[(from - 1) % ENTRIES], ip, &first))
		from--;
	memcpy(reg, h->base, sizeof reg);
	for (uint64_t i = h->head; i < from; i++)
		apply_entry(h, &h->entry[i % ENTRIES], reg);
	e = &h->entry[from % ENTRIES];
	const unsigned most = e->completed + (unsigned)goes_on;
	first = first + behind < most ? first + behind : most;
	apply(h, e, 0, first < e->block->insns ? e->block->insn[first].first_slot : e->words, reg);
	memcpy(out->gpr, reg, sizeof out->gpr);
	out->rflags = isa_flags(h->word_bytes, reg + 16) | RFLAGS_USER;
	out->rip = ip;
	if (!behind || goes_on)
		return true;
	if (first < e->completed) {
		out->rip = e->block->insn[first].addr;
		return true;
	}
	out->rip = e->block->insn[first - 1].addr + e->block->insn[first - 1].len;
	for (uint64_t i = at + 1; i < h->tail; i++)	/* where the block went */
		if (h->entry[i % ENTRIES].block) {
			out->rip = h->entry[i % ENTRIES].block->addr;
			break;
		}
	return true;
}
