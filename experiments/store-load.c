/* SPDX-License-Identifier: GPL-2.0-or-later
 * How often a load must have taken its data from the same store before rename gives it the stored register.
 *   cc -O2 -o store-load experiments/store-load.c
 *   store-load LOOPS ITERATIONS
 * Runs LOOPS (1 to 4,000) loops, one after another, ITERATIONS times each: MOV [rdi], rax; MOV rax, [rdi];
 * ADD rax, 1. Each loop has code of its own, which the processor has not met before. An iteration takes about 7 cycles
 * by way of the store buffer, and 1 to 2, for the ADD, if the load becomes the register.
 * Cycles an iteration: run it with two numbers of loops, and divide the difference in cycles by that in loops and by
 * ITERATIONS. build/native/timed measures natively, softpmu stat in the model. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

enum { LOOP_BYTES = 64 };

int main(int argc, char **argv)
{
	const long loops = argc == 3 ? atol(argv[1]) : 0;
	if (loops < 1 || loops > 4000) {
		fputs("usage: store-load LOOPS ITERATIONS\n", stderr);
		return 2;
	}
	unsigned char *code = mmap(NULL, (size_t)(loops + 1) * LOOP_BYTES, PROT_READ | PROT_WRITE | PROT_EXEC,
		MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (code == MAP_FAILED)
		return 1;
	/* MOV RCX, RDX; the loop: MOV [RDI], RAX; MOV RAX, [RDI]; ADD RAX, 1; DEC RCX; JNZ; then NOPs */
	static const unsigned char loop[] = {
		0x48, 0x89, 0xd1, 0x48, 0x89, 0x07, 0x48, 0x8b, 0x07, 0x48, 0x83, 0xc0, 0x01, 0x48, 0xff, 0xc9,
		0x75, 0xf1
	};
	memset(code, 0x90, (size_t)(loops + 1) * LOOP_BYTES);
	for (long i = 0; i < loops; i++)
		memcpy(code + i * LOOP_BYTES, loop, sizeof loop);
	code[loops * LOOP_BYTES] = 0xc3;
	uint64_t room = 0;
	__asm__ volatile("call *%[code]" : : [code] "r"(code), "d"(atol(argv[2])), "D"(&room)
		: "rax", "rcx", "memory", "cc");
	return 0;
}
