/* SPDX-License-Identifier: GPL-2.0-or-later
 * What the indirect jumps of a threaded interpreter cost.
 *   cc -O2 -o threaded experiments/threaded.c
 *   threaded HANDLERS LENGTH INCS ROUNDS [APART [SHIFT]]
 * Runs a program of LENGTH operations, each one of HANDLERS (1 to 512) at random, again and again, some 40,000
 * operations a round, and prints the cycles of an operation, as beside.h says. A handler is MOV RAX, [RSI]; LEA RSI,
 * [RSI + 8]; INCS (at most 64) INCs of four registers in turn; JMP RAX. The distance between handlers is APART bytes or
 * a multiple of that; APART is a power of two from 1 to 4,096 (default 16). SHIFT moves the n-th by n * SHIFT bytes
 * modulo APART, so that the lowest bits of the addresses differ, as they do in real programs.
 * Under the model: run softpmu stat with two numbers of rounds. The difference in cycles, divided by that in rounds,
 * less 8,000 for the chains of ADDs, is for (40000 / (LENGTH + 1) + 1) * (LENGTH + 1) operations, rounded down inside
 * the brackets. */
#include "beside.h"
#include <string.h>
#include <sys/mman.h>

enum { MOST = 512, ROOM = 4 << 20, OPERATIONS = 40000 };

static unsigned char *at;

static void put(const char *bytes, size_t count)
{
	memcpy(at, bytes, count);
	at += count;
}

int main(int argc, char **argv)
{
	const int handlers = argc > 4 ? atoi(argv[1]) : 0, length = argc > 4 ? atoi(argv[2]) : 0;
	const uintptr_t apart = argc > 5 ? strtoul(argv[5], NULL, 10) : 16,
		shift = argc > 6 ? strtoul(argv[6], NULL, 10) : 0;
	if (handlers < 1 || handlers > MOST || length < 1 || length > 1 << 24 || !apart || apart & (apart - 1) ||
	    apart > ROOM / MOST / 2) {
		fputs("usage: threaded HANDLERS LENGTH INCS ROUNDS [APART [SHIFT]]\n", stderr);
		return 2;
	}
	at = mmap(NULL, ROOM, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	uint64_t *program = malloc((size_t)(length + 1) * sizeof *program);
	if (at == MAP_FAILED || !program)
		return 1;
	uint64_t handler[MOST];
	for (int i = 0; i < handlers; i++) {
		at = (unsigned char *)(((uintptr_t)at + apart - 1) & -apart) + (uintptr_t)i * shift % apart;
		handler[i] = (uint64_t)at;
		put("\x48\x8b\x06\x48\x8d\x76\x08", 7);
		for (int k = 0; k < atoi(argv[3]) && k < 64; k++)
			put(&"\x48\xff\xc1\x48\xff\xc2\x49\xff\xc0\x49\xff\xc1"[k % 4 * 3], 3);
		put("\xff\xe0", 2);
	}
	/* the end of the program: DEC RDI; JZ to RET; MOV RSI, RBX; MOV RAX, [RSI]; ADD RSI, 8; JMP RAX; RET */
	at = (unsigned char *)(((uintptr_t)at + 15) & ~(uintptr_t)15);
	program[length] = (uint64_t)at;
	put("\x48\xff\xcf\x74\x0c\x48\x89\xde\x48\x8b\x06\x48\x83\xc6\x08\xff\xe0\xc3", 18);
	uint32_t random = 12345;
	for (int i = 0; i < length; i++) {
		random = random * 1103515245 + 12345;
		program[i] = handler[(random >> 16) % (unsigned)handlers];
	}
	static struct beside beside;
	const uint64_t times = (uint64_t)(OPERATIONS / (length + 1) + 1);
	for (long round = 0; round < atol(argv[4]); round++) {
		const double before = beside_chain();
		const uint64_t begin = __rdtsc();
		uint64_t *from = program;
		uint64_t n = times;
		__asm__ volatile("mov %[p], %%rbx\n\tmov %[p], %%rsi\n\tmov (%%rsi), %%rax\n\tadd $8, %%rsi\n\t"
			"call *%%rax" : "+D"(n), [p] "+d"(from) :
			: "rax", "rbx", "rcx", "rsi", "r8", "r9", "memory", "cc");
		const uint64_t end = __rdtsc();
		const double after = beside_chain();
		beside_add(&beside, (double)(end - begin), (double)(times * (uint64_t)(length + 1)), before, after);
	}
	return beside_print(&beside);
}
