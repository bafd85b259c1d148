/* SPDX-License-Identifier: GPL-2.0-or-later
 * What lines that come from L2 take from loads and stores, and what accesses that cross lines take.
 *   cc -O2 -o l1d-lines experiments/l1d-lines.c
 *   l1d-lines LOADS OTHERS STORES CROSSING CROSSING_STORES ITERATIONS
 * An iteration makes LOADS (0 to 8) 8-byte loads of one line, which comes from L2, since each iteration takes the next
 * line of 256 KB; OTHERS (0 to 16) loads of one line in L1D; STORES (0 to 8) stores to one line in L1D; CROSSING (0 to
 * 8) loads in L1D, each of which crosses a line; CROSSING_STORES (0 to 8) stores that do so. Nothing depends on what is
 * loaded.
 * Cycles an iteration: run it with two numbers of iterations, and divide the difference in cycles by that in
 * iterations. Both are above 9,000, so that the 256 KB have come from memory before. build/native/timed measures
 * natively, softpmu stat in the model. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

enum { WALKED = 256 << 10, CODE = 4096 };

/* Writes an instruction with an 8-byte operand: MOV r11, [base + offset], or MOV [base + offset], rbx; base: 6 RSI,
 * 7 RDI. */
static unsigned char *move(unsigned char *at, int store, unsigned base, int32_t offset)
{
	const unsigned char code[3] = { store ? 0x48 : 0x4c, store ? 0x89 : 0x8b, (unsigned char)(0x98 | base) };
	memcpy(at, code, 3);
	memcpy(at + 3, &offset, 4);
	return at + 7;
}

int main(int argc, char **argv)
{
	static const int most[5] = { 8, 16, 8, 8, 8 };
	int n[5] = { 0 };
	for (int i = 0; i < 5; i++) {
		n[i] = argc == 7 ? atoi(argv[1 + i]) : -1;
		if (n[i] < 0 || n[i] > most[i]) {
			fputs("usage: l1d-lines LOADS OTHERS STORES CROSSING CROSSING_STORES ITERATIONS\n", stderr);
			return 2;
		}
	}
	unsigned char *code = mmap(NULL, CODE, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	char *walked = aligned_alloc(2 * WALKED, 2 * WALKED), *held = aligned_alloc(4096, 4096);
	if (code == MAP_FAILED || !walked || !held)
		return 1;
	memset(walked, 1, 2 * WALKED);
	memset(held, 1, 4096);
	unsigned char *at = code;
	for (int i = 0; i < n[0]; i++)
		at = move(at, 0, 6, 8 * i);
	for (int i = 0; i < n[1]; i++)
		at = move(at, 0, 7, 8 * (i % 8));
	for (int i = 0; i < n[2]; i++)
		at = move(at, 1, 7, 1024 + 8 * i);
	for (int i = 0; i < n[3]; i++)
		at = move(at, 0, 7, 2048 + 64 * i + 60);
	for (int i = 0; i < n[4]; i++)
		at = move(at, 1, 7, 3072 + 64 * i + 60);
	/* ADD RSI, 64; AND RSI, RDX; DEC RCX; JNZ to the beginning; RET */
	static const unsigned char end[] = { 0x48, 0x83, 0xc6, 64, 0x48, 0x21, 0xd6, 0x48, 0xff, 0xc9, 0x0f, 0x85 };
	memcpy(at, end, sizeof end);
	at += sizeof end;
	memcpy(at, &(int32_t) { (int32_t)(code - at - 4) }, 4);
	at[4] = 0xc3;
	long count = atol(argv[6]);
	const uint64_t mask = (uint64_t)(uintptr_t)walked | (WALKED - 1);	/* keeps RSI in the first half */
	if (count > 0)
		__asm__ volatile("xor %%ebx, %%ebx; call *%[code]" : "+c"(count), "+S"(walked)
			: [code] "r"(code), "d"(mask), "D"(held) : "rax", "rbx", "r11", "memory", "cc");
	return 0;
}
