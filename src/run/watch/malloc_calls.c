/* SPDX-License-Identifier: GPL-2.0-or-later
 * Allocator calls in the stream (malloc_calls.h).
 */
#include "run/watch/malloc_calls.h"
#include "symbols/symbols.h"
#include <stdlib.h>
#include <string.h>

/* other instructions do not load the argument itself */
enum { RAX = 0, RDX = 2, RSP = 4, RSI = 6, RDI = 7, NONE = -1, MOV_LOAD = 0x8b };

/* For each function the numbers of its arguments: the size (and its factor), and the block that it frees. */
static const struct { const char *name; int8_t size, times, old;
} function[] = {
	{ "malloc", 0, NONE, NONE }, { "calloc", 0, 1, NONE }, { "realloc", 1, NONE, 0 },
	{ "reallocarray", 1, 2, 0 }, { "memalign", 1, NONE, NONE }, { "aligned_alloc", 1, NONE, NONE },
	{ "valloc", 0, NONE, NONE }, { "pvalloc", 0, NONE, NONE }, { "free", NONE, NONE, 0 },
	{ "mmap", 1, NONE, NONE }, { "mmap64", 1, NONE, NONE }, { "munmap", NONE, NONE, 0 },
	{ "mremap", 2, NONE, 0 },
	/* symbol tables keep only the strongest of several names of one function */
	{ "__libc_malloc", 0, NONE, NONE }, { "__libc_calloc", 0, 1, NONE }, { "__libc_realloc", 1, NONE, 0 },
	{ "__libc_memalign", 1, NONE, NONE }, { "__libc_valloc", 0, NONE, NONE },
	{ "__libc_pvalloc", 0, NONE, NONE }, { "__libc_free", NONE, NONE, 0 },
	{ "__libc_reallocarray", 1, 2, 0 }, { "__mmap", 1, NONE, NONE }, { "__mmap64", 1, NONE, NONE },
	{ "__munmap", NONE, NONE, 0 }, { "__mremap", 2, NONE, 0 }, { "_Znwm", 0, NONE, NONE },
	{ "_Znam", 0, NONE, NONE }, { "_Znwj", 0, NONE, NONE }, { "_Znaj", 0, NONE, NONE },
	{ "_ZnwmRKSt9nothrow_t", 0, NONE, NONE }, { "_ZnamRKSt9nothrow_t", 0, NONE, NONE },
	{ "_ZnwmSt11align_val_t", 0, NONE, NONE }, { "_ZnamSt11align_val_t", 0, NONE, NONE },
};
enum { FUNCTIONS = sizeof function / sizeof *function };

const char *run_heap_function(uint32_t number)
{
	if (number >= FUNCTIONS)
		return "unknown";
	const char *name = function[number].name;
	if (!strncmp(name, "_Zn", 3))
		return name[3] == 'w' ? "new" : "new[]";
	return !strncmp(name, "__libc_", 7) ? name + 7 : !strncmp(name, "__", 2) ? name + 2 : name;
}

int heap_map(struct heap_watch *w, uint32_t process, const struct st_map *m, const char *path)
{
	const char *name[FUNCTIONS];
	uint64_t offset[FUNCTIONS];
	if (!(m->prot & ST_PROT_X) || path[0] != '/')
		return 0;
	for (unsigned i = 0; i < FUNCTIONS; i++)
		name[i] = function[i].name;
	if (!symbols_find_functions(path, name, offset, FUNCTIONS))
		return 0;
	for (unsigned i = 0; i < FUNCTIONS; i++) {
		if (offset[i] == UINT64_MAX || offset[i] < m->offset || offset[i] - m->offset >= m->bytes)
			continue;
		if (w->entries == w->room) {
			size_t room = w->room ? w->room * 2 : 64;
			void *grown = realloc(w->entry, room * sizeof *w->entry);
			if (!grown)
				return ERR_NOMEM;
			w->entry = grown;
			w->room = room;
		}
		w->entry[w->entries].process = process;
		w->entry[w->entries].function = i;
		w->entry[w->entries++].addr = m->addr + (offset[i] - m->offset);
	}
	return 0;
}

void heap_forget(struct heap_watch *w, uint32_t process)
{
	size_t kept = 0;
	for (size_t i = 0; i < w->entries; i++)
		if (w->entry[i].process != process)
			w->entry[kept++] = w->entry[i];
	w->entries = kept;
}

void heap_release(struct heap_watch *w)
{
	free(w->entry);
	memset(w, 0, sizeof *w);
}

/* Finds the block's first instruction that is an entry: returns its index, and the function; insns if there is
 * none. */
static unsigned entry_in(const struct heap_watch *w, uint32_t process, const struct iblock *b, uint32_t *number)
{
	for (unsigned k = 0; k < b->insns; k++)
		for (size_t i = w->entries; i-- > 0;)
			if (w->entry[i].addr == b->insn[k].addr && w->entry[i].process == process) {
				*number = w->entry[i].function;
				return k;
			}
	return b->insns;
}

bool heap_enters(const struct heap_watch *w, uint32_t process, const struct iblock *b)
{
	uint32_t number;
	return w->entries && entry_in(w, process, b, &number) < b->insns;
}

void heap_file(struct heap_thread *t, const uint64_t gpr[16], int word_bytes)
{
	memset(t->gpr, 0, sizeof t->gpr);
	memcpy(t->gpr, gpr, (word_bytes == 8 ? 16 : 8) * sizeof *gpr);
	t->known = true;
}

static void write_register(uint64_t *reg, const struct st_slot *s, uint64_t value)
{
	if (s->size >= 8) {
		*reg = value;
		return;
	}
	const unsigned shift = 8 * (s->offset & 7);
	const uint64_t mask = ((UINT64_C(1) << 8 * s->size) - 1) << shift;
	*reg = (*reg & ~mask) | (value << shift & mask);
}

/* Applies slots [from, to) of an execution: register writes; in a call of 32-bit code also what loads of its
 * arguments gave. */
static void apply(struct heap_thread *t, int word_bytes, const struct iblock *b, const uint64_t *value, unsigned from,
	unsigned to)
{
	unsigned wanted = UINT32_MAX, insn = UINT32_MAX;	/* the argument that this instruction loads */
	for (unsigned i = from; i < to; i++) {
		const struct st_slot *s = &b->slot[i];
		if (s->flags & ST_SLOT_COND && value[i] == ST_NOT_DONE)
			continue;
		if (s->kind == ST_SLOT_REG && s->reg < 16) {
			if (wanted < 3 && s->insn == insn && s->reg != RSP && s->size == 4 &&
			    !(t->arguments >> wanted & 1)) {
				t->argument[wanted] = value[i];
				t->arguments |= 1u << wanted;
			}
			write_register(&t->gpr[s->reg], s, value[i]);
		} else if (s->kind == ST_SLOT_LOAD && t->inside && word_bytes == 4 && s->size == 4) {
			wanted = (unsigned)((value[i] - t->sp) / 4 - 1);
			insn = (value[i] - t->sp) % 4 || value[i] <= t->sp || b->code[s->insn][0] != MOV_LOAD
				? UINT32_MAX
				: s->insn;
		}
	}
}

static bool argument(const struct heap_thread *t, int number, uint64_t *out)
{
	if (number < 0 || !(t->arguments >> number & 1))
		return false;
	*out = t->argument[number];
	return true;
}

/* Describes a call that has ended. */
static bool finish(const struct heap_thread *t, int word_bytes, uint64_t site, struct run_heap *out)
{
	uint64_t result = t->gpr[RAX], times = 1;
	int64_t as_error = word_bytes == 8 ? (int64_t)result : (int32_t)result;
	*out = (struct run_heap){ .header = ST_HEADER(RUN_HEAP, sizeof *out), .site = site, .function = t->function };
	if (word_bytes == 4)
		result = (uint32_t)result;
	argument(t, function[t->function].old, &out->old);
	if (function[t->function].size < 0)
		return out->old != 0;
	if (!result || (as_error < 0 && as_error >= -4095))
		return false;		/* it failed; a realloc then keeps the old block */
	if (!argument(t, function[t->function].size, &out->bytes) ||
	    (function[t->function].times >= 0 && !argument(t, function[t->function].times, &times)))
		return out->old != 0;
	if (__builtin_mul_overflow(out->bytes, times, &out->bytes) || result + out->bytes < result)
		return false;
	out->addr = result;
	return true;
}

bool heap_block(const struct heap_watch *w, struct heap_thread *t, uint32_t process, int word_bytes,
	const struct iblock *b, bool enters, const uint64_t *slots, unsigned nslots, uint64_t next_ip,
	struct run_heap *out)
{
	unsigned from = 0;
	if (nslots > b->slots)
		nslots = b->slots;
	if (!t->known)
		return false;
	if (enters) {
		uint32_t number = 0;
		unsigned k = entry_in(w, process, b, &number);
		if (k < b->insns && b->insn[k].first_slot <= nslots) {
			from = b->insn[k].first_slot;
			apply(t, word_bytes, b, slots, 0, from);
			if (!t->inside || t->gpr[RSP] > t->sp) {
				t->inside = true;
				t->function = number;
				t->sp = t->gpr[RSP];
				t->arguments = word_bytes == 8 ? 7 : 0;
				t->argument[0] = t->gpr[RDI];
				t->argument[1] = t->gpr[RSI];
				t->argument[2] = t->gpr[RDX];
			}
		}
	}
	apply(t, word_bytes, b, slots, from, nslots);
	if (!t->inside || t->gpr[RSP] <= t->sp)
		return false;
	t->inside = false;	/* by return, longjmp or similar */
	return t->gpr[RSP] == t->sp + (unsigned)word_bytes && next_ip && finish(t, word_bytes, next_ip, out);
}
