/* SPDX-License-Identifier: GPL-2.0-or-later
 * What a locked instruction takes, alone and among other work: four in a loop.
 *   cc -O2 -o locked experiments/locked.c
 *   locked WHAT ITERATIONS	WHAT: add, cmpxchg, xchg; among-adds, among-loads, among-pushes (with LOCK CMPXCHG)
 * Cycles are the difference of two numbers of iterations: build/native/timed natively, softpmu stat in the model. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FOUR(x) x x x x
#define LOOP(body) __asm__ volatile(".p2align 6\n1:\n" FOUR(body) "dec %0\njnz 1b" : "+r"(n) : "r"(cell) \
	: "rax", "rbx", "rcx", "rdx", "rsi", "rdi", "r8", "memory", "cc")
#define ADDS "add $1, %%rsi\nadd $1, %%rdi\nadd $1, %%r8\n"

static long cell[64] __attribute__((aligned(64)));

int main(int argc, char **argv)
{
	const char *what = argc == 3 ? argv[1] : "";
	long n = argc == 3 ? atol(argv[2]) : 0;
	if (n < 1)
		what = "";
	if (!strcmp(what, "add"))
		LOOP("lock addl $1, (%1)\n");
	else if (!strcmp(what, "cmpxchg"))
		LOOP("xor %%eax, %%eax\nxor %%ecx, %%ecx\nlock cmpxchg %%ecx, (%1)\n");
	else if (!strcmp(what, "xchg"))
		LOOP("xchg %%eax, (%1)\n");
	else if (!strcmp(what, "among-adds"))
		LOOP("xor %%eax, %%eax\nlock cmpxchg %%ecx, (%1)\n" FOUR(ADDS) ADDS ADDS);
	else if (!strcmp(what, "among-loads"))
		LOOP("mov (%1), %%eax\nadd $1, %%eax\nmov %%eax, (%1)\nmov 72(%1), %%rdx\nlock cmpxchg %%ecx, 128(%1)\n"
			"mov 80(%1), %%rdx\nmov %%rdx, 88(%1)\n");
	else if (!strcmp(what, "among-pushes"))
		LOOP("push %%rax\npush %%rcx\npush %%rdx\npush %%rsi\nlock cmpxchg %%ecx, 128(%1)\n"
			"pop %%rsi\npop %%rdx\npop %%rcx\npop %%rax\n");
	else {
		fputs("usage: locked WHAT ITERATIONS\n", stderr);
		return 2;
	}
	return 0;
}
