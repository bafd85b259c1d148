/* SPDX-License-Identifier: GPL-2.0-or-later
 * What jumps, calls and long code cost the front end.
 *   cc -O2 -o jumps experiments/jumps.c
 *   jumps KIND COUNT APART LEAS ROUNDS
 * Makes COUNT pieces of code, APART bytes apart, and runs them one after another in random order. KIND:
 *   jnc     a piece is LEAS LEAs of 4 bytes and a JNC, always taken, to the next piece
 *   call    a piece is LEAS LEAs and RET; two LEAs and a CALL for each piece follow one another
 *   chain   a piece is LEAS LEAs, a CALL to the next piece, and RET
 *   nop     a piece is LEAS NOPs of 8 bytes and a JNC to the next piece; the pieces follow one another in order
 * Prints the cycles of a piece, as beside.h says. A round runs all pieces 4000 / COUNT + 1 times; COUNT is 2 to 8,192.
 * Under the model: run softpmu stat with two numbers of rounds. The difference in cycles, divided by that in rounds,
 * less 8,000 for the chains, is for 4000 / COUNT + 1 passes over COUNT pieces. */
#include "beside.h"
#include <string.h>
#include <sys/mman.h>

enum { ROOM = 64 << 20, MOST = 8192, PIECES = 4000 };
static unsigned char *at;

static void put(const char *bytes, size_t count)
{
	memcpy(at, bytes, count);
	at += count;
}

/* An instruction whose last four bytes are the distance to `target`. */
static void jump(const char *opcode, size_t bytes, const unsigned char *target)
{
	const int32_t distance = (int32_t)(target - (at + bytes + 4));
	put(opcode, bytes);
	put((const char *)&distance, 4);
}

static void leas(long n)
{
	for (long i = 0; i < n; i++)
		put(&"\x48\x8d\x40\x01\x48\x8d\x49\x01\x48\x8d\x52\x01\x48\x8d\x76\x01"[i % 4 * 4], 4);
}

int main(int argc, char **argv)
{
	const long count = argc > 5 ? atol(argv[2]) : 0, apart = argc > 5 ? atol(argv[3]) : 0,
		   fill = argc > 5 ? atol(argv[4]) : 0;
	const char *kind = argc > 5 ? argv[1] : "";
	const int nop = !strcmp(kind, "nop"), call = !strcmp(kind, "call"), chain = !strcmp(kind, "chain");
	if (count < 2 || count > MOST || fill < 0 || fill > ROOM / 8 ||
	    apart < (nop ? 8 : 4) * fill + 11 || apart > ROOM / 2 / count ||
	    (!nop && !call && !chain && strcmp(kind, "jnc"))) {
		fputs("usage: jumps jnc|call|chain|nop COUNT APART LEAS ROUNDS\n", stderr);
		return 2;
	}
	unsigned char *code = mmap(NULL, ROOM, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (code == MAP_FAILED)
		return 1;
	unsigned char *piece[MOST];
	for (long i = 0; i < count; i++)
		piece[i] = code + i * apart;
	uint32_t random = 12345;
	for (long i = nop ? 1 : count; i > 1; i--) {
		random = random * 1103515245 + 12345;
		const long k = (random >> 16) % i;
		unsigned char *was = piece[i - 1];
		piece[i - 1] = piece[k];
		piece[k] = was;
	}
	for (long i = 0; i < count; i++) {
		at = piece[i];
		for (long k = 0; nop && k < fill; k++)
			put("\x0f\x1f\x84\x00\x00\x00\x00\x00", 8);
		leas(nop ? 0 : fill);
		if (i + 1 < count && !call)
			jump(chain ? "\xe8" : "\x0f\x83", chain ? 1 : 2, piece[i + 1]);
		put("\xc3", 1);		/* RET; behind a JNC nothing gets there */
	}
	unsigned char *start = piece[0];
	if (call) {
		at = start = code + count * apart + 64;
		for (long i = 0; i < count; i++) {
			leas(2);
			jump("\xe8", 1, piece[i]);
		}
		put("\xc3", 1);
	}
	static struct beside beside;
	const long passes = PIECES / count + 1;
	for (long round = 0; round < atol(argv[5]); round++) {
		const double before = beside_chain();
		const uint64_t begin = __rdtsc();
		for (long i = 0; i < passes; i++)
			__asm__ volatile("clc\n\tcall *%0"
				: : "r"(start) : "rax", "rcx", "rdx", "rsi", "cc", "memory");
		const uint64_t end = __rdtsc();
		const double after = beside_chain();
		beside_add(&beside, (double)(end - begin), (double)(passes * count), before, after);
	}
	return beside_print(&beside);
}
