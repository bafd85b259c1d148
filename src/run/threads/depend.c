/* SPDX-License-Identifier: GPL-2.0-or-later
 * What a thread's accesses have to wait for (depend.h).
 */
#include "run/threads/depend.h"
#include <stdlib.h>

enum { BYTES_MOST = 4096 };	/* most bytes of an access that are looked at */

static struct depend_write *set_of(struct depend *d, uint64_t word)
{
	return d->write[(word ^ word >> 14) & (DEPEND_SETS - 1)];
}

static uint8_t bytes_in(uint64_t word, uint64_t addr, uint64_t end)
{
	uint64_t first = addr > word * 8 ? addr - word * 8 : 0, last = end < word * 8 + 8 ? end - word * 8 : 8;
	return (uint8_t)((0xff << first) & (0xff >> (8 - last)));
}

/* True if the thread has not waited for this block yet; remembers it.  False also if there is no memory. */
static bool is_new(struct depend_thread *t, uint32_t thread, uint64_t number)
{
	if (thread >= t->room) {
		size_t room = thread + 8;
		uint64_t *bigger = realloc(t->seen, room * sizeof *bigger);
		if (!bigger)
			return true;
		for (size_t i = t->room; i < room; i++)
			bigger[i] = 0;
		t->seen = bigger;
		t->room = room;
	}
	if (t->seen[thread] >= number)
		return false;
	t->seen[thread] = number;
	return true;
}

static unsigned load(struct depend *d, struct depend_thread *t, uint32_t index, uint64_t addr, uint64_t end,
	struct depend_need *need, unsigned needs)
{
	for (uint64_t word = addr >> 3; word <= (end - 1) >> 3; word++) {
		const struct depend_write *w = set_of(d, word);
		for (unsigned i = 0; i < DEPEND_WAYS; i++) {
			if (w[i].word != word || !w[i].thread || w[i].thread == index + 1 ||
			    !(w[i].bytes & bytes_in(word, addr, end)) || !is_new(t, w[i].thread - 1, w[i].number))
				continue;
			unsigned at = 0;
			while (at < needs && need[at].thread != w[i].thread - 1)
				at++;
			if (at == DEPEND_NEEDS)
				continue;
			need[at] = (struct depend_need){ w[i].thread - 1, w[i].number };
			needs += at == needs;
		}
	}
	return needs;
}

static void store(struct depend *d, const struct depend_thread *t, uint32_t index, uint64_t addr, uint64_t end)
{
	for (uint64_t word = addr >> 3; word <= (end - 1) >> 3; word++) {
		struct depend_write *w = set_of(d, word), *own = NULL;
		uint8_t bytes = bytes_in(word, addr, end);
		for (unsigned i = 0; i < DEPEND_WAYS; i++) {
			if (w[i].word != word || !w[i].thread)
				continue;
			if (w[i].thread == index + 1)
				own = &w[i];
			else if (!(w[i].bytes &= (uint8_t)~bytes))
				w[i].thread = 0;
		}
		if (!own) {
			own = !w[0].thread ? &w[0] : !w[1].thread ? &w[1] : w[0].older ? &w[0] : &w[1];
			*own = (struct depend_write){ .word = word, .thread = index + 1 };
		}
		own->bytes |= bytes;
		own->number = t->issued + 1;
		own->older = 0;
		w[own == w].older = 1;
	}
}

unsigned depend_block(struct depend *d, struct depend_thread *t, uint32_t index, const struct iblock *b,
	unsigned slot_count, const uint64_t *slots, struct depend_need need[DEPEND_NEEDS])
{
	unsigned needs = 0;
	for (unsigned pass = ST_SLOT_LOAD; pass <= ST_SLOT_STORE; pass++)	/* loads first */
		for (unsigned i = 0; i < slot_count && i < b->slots; i++) {
			const unsigned kind = b->slot[i].kind;
			uint64_t addr = slots[i], size = b->slot[i].size;
			if (kind > ST_SLOT_LOADSTORE || !(kind & pass) || addr == ST_NOT_DONE || !size)
				continue;
			if (size > BYTES_MOST)
				size = BYTES_MOST;
			if (addr > UINT64_MAX - size)
				continue;
			if (pass == ST_SLOT_LOAD)
				needs = load(d, t, index, addr, addr + size, need, needs);
			else
				store(d, t, index, addr, addr + size);
		}
	return needs;
}

/* Linux, include/uapi/linux/futex.h */
enum {
	FUTEX_WAIT = 0, FUTEX_WAKE = 1, FUTEX_REQUEUE = 3, FUTEX_CMP_REQUEUE = 4, FUTEX_WAKE_OP = 5,
	FUTEX_WAIT_BITSET = 9, FUTEX_WAKE_BITSET = 10, FUTEX_COMMAND = 127
};

static bool is_futex(bool wide, const struct st_syscall *s)
{
	/* Linux, syscall_64.tbl and syscall_32.tbl; 422 is 32-bit futex with 64-bit times */
	return s->number == (wide ? 202u : 240u);
}

static const struct depend_wake *wake_of(const struct depend *d, uint64_t address)
{
	return &d->wake[(address >> 2 ^ address >> 10) % DEPEND_FUTEXES];
}

static void woke(struct depend *d, const struct depend_thread *t, uint32_t index, uint64_t address)
{
	*(struct depend_wake *)wake_of(d, address) = (struct depend_wake){ address, t->issued, index + 1 };
}

void depend_syscall(struct depend *d, const struct depend_thread *t, uint32_t index, bool wide,
	const struct st_syscall *s)
{
	if (!is_futex(wide, s) && !(!wide && s->number == 422))
		return;
	switch (s->arg[1] & FUTEX_COMMAND) {
	case FUTEX_WAKE_OP:
	case FUTEX_REQUEUE:
	case FUTEX_CMP_REQUEUE:
		woke(d, t, index, s->arg[4]);
		/* fall through */
	case FUTEX_WAKE:
	case FUTEX_WAKE_BITSET:
		woke(d, t, index, s->arg[0]);
		break;
	}
}

bool depend_blocks(bool wide, const struct st_syscall *s)
{
	enum { AGAIN = 11 };
	/* Linux, syscall_64.tbl: mmap mprotect munmap brk rt_sigaction rt_sigprocmask mremap madvise sched_yield
	 * getpid clone exit prctl arch_prctl gettid sched_setaffinity sched_getaffinity set_tid_address
	 * clock_gettime set_robust_list rseq clone3 */
	static const uint16_t own64[] = { 9, 10, 11, 12, 13, 14, 25, 28, 24, 39, 56, 60, 157, 158, 186, 203, 204, 218,
		228, 273, 334, 435 };
	/* syscall_32.tbl: exit getpid brk mmap munmap clone mprotect sched_yield mremap prctl rt_sigaction
	 * rt_sigprocmask mmap2 madvise gettid sched_setaffinity sched_getaffinity set_tid_address clock_gettime
	 * set_robust_list rseq clock_gettime64 clone3 */
	static const uint16_t own32[] = { 1, 20, 45, 90, 91, 120, 125, 158, 163, 172, 174, 175, 192, 219, 224, 241, 242,
		258, 265, 311, 386, 403, 435 };
	const uint16_t *own = wide ? own64 : own32;
	const size_t count = wide ? sizeof own64 / sizeof *own64 : sizeof own32 / sizeof *own32;
	for (size_t i = 0; i < count; i++)
		if (s->number == own[i])
			return false;
	if (!is_futex(wide, s) && !(!wide && s->number == 422))
		return true;
	switch (s->arg[1] & FUTEX_COMMAND) {
	case FUTEX_WAKE:
	case FUTEX_WAKE_OP:
	case FUTEX_WAKE_BITSET:
	case FUTEX_REQUEUE:
	case FUTEX_CMP_REQUEUE:
		return false;
	default:
		return !(s->is_error && (s->result == AGAIN || s->result == (uint64_t)-AGAIN));
	}
}

bool depend_woken(const struct depend *d, uint32_t index, bool wide, const struct st_syscall *s, struct depend_need *by)
{
	uint64_t command = s->arg[1] & FUTEX_COMMAND;
	if ((!is_futex(wide, s) && !(!wide && s->number == 422)) || s->is_error ||
	    (command != FUTEX_WAIT && command != FUTEX_WAIT_BITSET))
		return false;
	const struct depend_wake *w = wake_of(d, s->arg[0]);
	if (!w->thread || w->address != s->arg[0] || w->thread == index + 1)
		return false;
	*by = (struct depend_need){ w->thread - 1, w->number };
	return true;
}
