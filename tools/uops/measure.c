/* SPDX-License-Identifier: GPL-2.0-or-later
 * For tools/uops/measure.py: measures the cycles of a few instructions on this machine.  Never installed.
 *
 * Standard input: one body a line, NAME <tab> instructions in it <tab> hexadecimal code.  Prints NAME <tab> cycles per
 * instruction, or a dash if the code faults.  The body, repeated to some 2 KB, runs in a loop of 40 rounds.  The
 * result is the least time of many runs, each beside a chain of dependent ADD r64, r64 whose cycles are known,
 * which gives the frequency of that moment.  In the body RAX points to a buffer of zeros, RCX is 3, and vectors
 * hold 1.0 in every lane; R15 belongs to the loop, RSP stays.  Each body runs in a process of its own.
 */
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { ROUNDS = 40, RUNS = 60, CODE = 1 << 16 };
static uint8_t *code, *chain;
static _Alignas(4096) uint8_t buffer[1 << 16];
static const float one[16] = { 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1 };

static uint64_t now(void)
{
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

/* push rbx rbp r12-r15; rax = rdi, rcx = 3, others 1; vectors from [rsi]; r15 = rounds; body; dec r15; jnz */
static void make(uint8_t *at, const uint8_t *body, size_t length, unsigned times)
{
	static const uint8_t head[] = {
		0x53, 0x55, 0x41, 0x54, 0x41, 0x55, 0x41, 0x56, 0x41,
		0x57, /* push */
		0x48, 0x89,
		0xf8, /* mov rax, rdi */
		0xc5, 0xfc, 0x10, 0x06, 0xc5, 0xfc, 0x10, 0x0e, 0xc5, 0xfc, 0x10, 0x16, 0xc5, 0xfc, 0x10, 0x1e,
		0xc5, 0xfc, 0x10, 0x26, 0xc5, 0xfc, 0x10, 0x2e, 0xc5, 0xfc, 0x10, 0x36, 0xc5, 0xfc, 0x10, 0x3e,
		0xc5, 0x7c, 0x10, 0x06, 0xc5, 0x7c, 0x10, 0x0e, 0xc5, 0x7c, 0x10, 0x16, 0xc5, 0x7c, 0x10, 0x1e,
		/* vmovups ymmN, [rsi] */
		0xc5, 0x7c, 0x10, 0x26, 0xc5, 0x7c, 0x10, 0x2e, 0xc5, 0x7c, 0x10, 0x36, 0xc5, 0x7c, 0x10, 0x3e,
		0xb9, 3, 0, 0, 0, 0xba, 1, 0, 0, 0, 0xbb, 1, 0, 0, 0, 0xbd, 1, 0, 0, 0, 0xbe, 1, 0, 0, 0, 0xbf,
		1, 0, 0, 0, 0x41, 0xb8, 1, 0, 0, 0, 0x41, 0xb9, 1, 0, 0, 0, 0x41, 0xba, 1, 0, 0, 0, 0x41, 0xbb,
		1, 0, 0, 0, 0x41, 0xbc, 1, 0, 0, 0, 0x41, 0xbd, 1, 0, 0, 0, 0x41, 0xbe, 1, 0, 0, 0, 0x41, 0xbf,
		ROUNDS, 0, 0, 0,
	};
	static const uint8_t tail[] = { 0xc5, 0xf8, 0x77, 0x0f, 0x77, 0x41, 0x5f, 0x41, 0x5e, 0x41, 0x5d, 0x41, 0x5c,
		0x5d, 0x5b, 0xc3 };
	uint8_t *p = at, *loop;
	/* C4, C5, 62: VEX and EVEX, if the first instruction is; others want clean upper halves, as legacy SSE does
	 * (else it merges: ADDPS 3 cycles on Zen 5 instead of 2) */
	bool legacy = length && body[0] != 0xc4 && body[0] != 0xc5 && body[0] != 0x62;
	memcpy(p, head, sizeof head);
	p += sizeof head;
	if (legacy) {
		memcpy(p, tail, 3);
		p += 3;
	}
	while ((uintptr_t)p & 63)
		*p++ = 0x90;
	loop = p;
	for (unsigned i = 0; i < times; i++, p += length)
		memcpy(p, body, length);
	*p++ = 0x49;
	*p++ = 0xff;
	*p++ = 0xcf;				/* dec r15 */
	*p++ = 0x0f;
	*p++ = 0x85;
	int32_t back = (int32_t)(loop - (p + 4));
	memcpy(p, &back, 4);
	memcpy(p + 4, tail, sizeof tail);
}

static uint64_t run(uint8_t *at)
{
	uint64_t start = now();
	((void (*)(void *, const void *))(uintptr_t)at)(buffer + 4096, one);
	return now() - start;
}

static void measure(const char *name, unsigned n, const uint8_t *body, size_t length)
{
	unsigned times = 1 + (unsigned)(2000 / length);
	uint64_t best = UINT64_MAX, known = UINT64_MAX;
	make(code, body, length, times);
	for (int i = 0; i < RUNS; i++) {
		uint64_t a = run(chain), b = run(code);
		known = a < known ? a : known;
		best = b < best ? b : best;
	}
	printf("%s\t%.3f\n", name, (double)best / (double)known * 668 * ROUNDS / ((double)times * n * ROUNDS));
}

int main(void)
{
	static char line[1 << 16];
	code = mmap(NULL, 2 * CODE, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (code == MAP_FAILED)
		return 1;
	chain = code + CODE;
	static const uint8_t add[] = { 0x48, 0x01, 0xd3 };	/* add rbx, rdx */
	make(chain, add, sizeof add, 668);
	setvbuf(stdout, NULL, _IOLBF, 0);
	while (fgets(line, sizeof line, stdin)) {
		char *name = strtok(line, "\t"), *count = strtok(NULL, "\t"), *hex = strtok(NULL, "\t\n");
		if (!name || !count || !hex)
			continue;
		uint8_t body[4096];
		size_t n = 0;
		for (unsigned v; n < sizeof body && sscanf(hex + 2 * n, "%2x", &v) == 1; n++)
			body[n] = (uint8_t)v;
		pid_t pid = fork();
		if (!pid) {
			alarm(5);
			measure(name, (unsigned)atoi(count), body, n);
			_exit(0);
		}
		int status;
		waitpid(pid, &status, 0);
		if (!WIFEXITED(status) || WEXITSTATUS(status))
			printf("%s\t-\n", name);
	}
	return 0;
}
