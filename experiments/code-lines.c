/* SPDX-License-Identifier: GPL-2.0-or-later
 * Code that does not fit into L1I.  Runs LINES cache lines of code, one after another, many times over.
 *   cc -O2 -o code-lines experiments/code-lines.c
 *   code-lines HOW LINES INSTRUCTIONS PASSES
 * Each line has INSTRUCTIONS (1 to 14) MOV r32, r32 and then, by HOW: straight: NOPs up to the next line; jumps: a JMP
 * to another line, in an order that never changes and that no prefetcher of following lines can guess; pairs: the same,
 * of two lines; indirect: as jumps, but through a register.
 * Cycles a line are the difference of two numbers of passes: build/native/timed natively, softpmu stat in the model. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

static const unsigned char nop[8][8] = {
	{ 0x90 }, { 0x66, 0x90 }, { 0x0f, 0x1f, 0 }, { 0x0f, 0x1f, 0x40 }, { 0x0f, 0x1f, 0x44 },
	{ 0x66, 0x0f, 0x1f, 0x44 }, { 0x0f, 0x1f, 0x80 }, { 0x0f, 0x1f, 0x84 },
};

static size_t emit(unsigned char *at, const void *bytes, size_t n)
{
	memcpy(at, bytes, n);
	return n;
}

int main(int argc, char **argv)
{
	const long lines = argc == 5 ? atol(argv[2]) : 0, fill = argc == 5 ? atol(argv[3]) : 0;
	if (lines < 4 || lines > 1 << 18 || fill < 1 || fill > 14) {
		fputs("usage: code-lines straight|jumps|pairs|indirect LINES INSTRUCTIONS PASSES\n", stderr);
		return 2;
	}
	const int straight = !strcmp(argv[1], "straight"), group = !strcmp(argv[1], "pairs") ? 2 : 1,
		  indirect = !strcmp(argv[1], "indirect");
	unsigned char *code = mmap(NULL, (size_t)(lines + 1) * 64, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE |
		MAP_ANONYMOUS, -1, 0);
	uint32_t *order = calloc((size_t)lines, sizeof *order);
	if (code == MAP_FAILED || !order)
		return 1;
	const long groups = lines / group;
	uint64_t x = 88172645463325252u;
	for (long i = 0; i < groups; i++)
		order[i] = (uint32_t)i;
	for (long i = groups - 1; i > 1; i--) {	/* the first one stays */
		x ^= x << 13, x ^= x >> 7, x ^= x << 17;
		const long k = 1 + (long)(x % (uint64_t)i);
		const uint32_t t = order[i];
		order[i] = order[k];
		order[k] = t;
	}
	memset(code, 0x90, (size_t)(lines + 1) * 64);
	for (long g = 0; g < groups; g++)
		for (int part = 0; part < group; part++) {
			unsigned char *line = code + ((size_t)order[g] * (size_t)group + (size_t)part) * 64, *at = line;
			for (long k = 0; k < fill; k++) {
				at += emit(at, k % 2 ? "\x89\xf1" : "\x89\xf0", 2);	/* to ECX, EAX of ESI */
			}
			if (straight || part + 1 < group) {
				for (long left; (left = line + 64 - at) > 0;)
					at += emit(at, nop[left < 8 ? left - 1 : 7], (size_t)(left < 8 ? left : 8));
				continue;
			}
			unsigned char *next = code + (g + 1 < groups ? (size_t)order[g + 1] * (size_t)group * 64 :
				(size_t)lines * 64);
			if (indirect) {
				at += emit(at, "\x48\x8d\x05", 3);	/* LEA RAX, [RIP + disp32] */
				at += emit(at, &(int32_t) { (int32_t)(next - at - 4) }, 4);
				emit(at, "\xff\xe0", 2);		/* JMP RAX */
			} else {
				*at++ = 0xe9;
				emit(at, &(int32_t) { (int32_t)(next - at - 4) }, 4);
			}
		}
	code[(size_t)lines * 64] = 0xc3;
	for (long n = atol(argv[4]); n > 0; n--)
		__asm__ volatile("call *%0" : : "r"(code) : "rax", "rcx", "memory");
	return 0;
}
