/* SPDX-License-Identifier: GPL-2.0-or-later
 * Machine code of the microbenchmarks (calibrate_code.h).  The rules are those of tests/native/kernels.S: the chain
 * under test never waits for the loop's counter (rdi); no chain consists of additions of constants, which some
 * cores do at rename; floating-point values stay normal; branches start at multiples of 16 bytes where few stand
 * together (erratum SKX102). */
#include "analysis/calibrate/calibrate_code.h"
#include <string.h>

struct code { uint8_t *start; size_t n; };

static void put(struct code *c, const void *bytes, size_t n)
{
	if (c->n + n <= CAL_CODE_BYTES) {
		memcpy(c->start + c->n, bytes, n);
		c->n += n;
	}
}
#define PUT(c, ...) put(c, (const uint8_t[]){ __VA_ARGS__ }, sizeof (const uint8_t[]){ __VA_ARGS__ })

static void put32(struct code *c, uint32_t v) { put(c, &v, sizeof v); }
static void put64(struct code *c, uint64_t v) { put(c, &v, sizeof v); }

static void align(struct code *c, size_t to)
{
	static const uint8_t nop8[] = { 0x0f, 0x1f, 0x84, 0, 0, 0, 0, 0 }, nop1 = 0x90;
	while (c->n % to)
		put(c, to - c->n % to >= 8 ? nop8 : &nop1, to - c->n % to >= 8 ? 8 : 1);
}

static void begin(struct code *c)
{
	PUT(c, 0x53, 0x55, 0x41, 0x54, 0x41, 0x55, 0x41, 0x56, 0x41, 0x57);	/* push rbx, rbp, r12, r13, r14, r15 */
	PUT(c, 0xb8, 0x79, 0x56, 0x34, 0x12);		/* mov eax, 12345679H */
	PUT(c, 0xbb, 1, 0, 0, 0);			/* mov ebx, 1 */
	PUT(c, 0xbd, 3, 0, 0, 0);			/* mov ebp, 3 */
	PUT(c, 0x49, 0x89, 0xf7);			/* mov r15, rsi */
	PUT(c, 0x48, 0x89, 0xd1);			/* mov rcx, rdx */
	PUT(c, 0x31, 0xd2);				/* xor edx, edx */
	PUT(c, 0x45, 0x0f, 0x57, 0xff);			/* xorps xmm15, xmm15 */
	PUT(c, 0xf3, 0x0f, 0x2a, 0xc3);			/* cvtsi2ss xmm0, ebx */
	PUT(c, 0x0f, 0xc6, 0xc0, 0);			/* shufps xmm0, xmm0, 0 */
	PUT(c, 0x0f, 0x28, 0xc8);			/* movaps xmm1, xmm0 */
}

static void constants(struct code *c)
{
	PUT(c, 0x49, 0xb9), put64(c, 0x9e3779b97f4a7c15);	/* mov r9 */
	PUT(c, 0x49, 0xba), put64(c, 0xbf58476d1ce4e5b9);	/* mov r10 */
}

static void end(struct code *c, size_t loop)
{
	while ((c->n + 3) % 16)
		PUT(c, 0x90);
	PUT(c, 0x48, 0xff, 0xcf, 0x0f, 0x85);		/* dec rdi; jnz loop */
	put32(c, (uint32_t)(loop - c->n - 4));
	PUT(c, 0x48, 0x89, 0xf0);			/* mov rax, rsi */
	PUT(c, 0x41, 0x5f, 0x41, 0x5e, 0x41, 0x5d, 0x41, 0x5c, 0x5d, 0x5b, 0xc3);
}

static size_t loop(struct code *c)
{
	align(c, 64);
	return c->n;
}

static void repeat(struct code *c, unsigned times, const uint8_t *one, size_t n)
{
	while (times--)
		put(c, one, n);
}
#define REPEAT(c, times, ...) \
	repeat(c, times, (const uint8_t[]){ __VA_ARGS__ }, sizeof (const uint8_t[]){ __VA_ARGS__ })

/* Zeroes r9d, r10d and r11d in turn, which nothing else uses here; n instructions. */
static void zeroes(struct code *c, unsigned n)
{
	static const uint8_t reg[] = { 0xc9, 0xd2, 0xdb };
	for (unsigned i = 0; i < n; i++)
		PUT(c, 0x45, 0x31, reg[i % 3]);
}

static void random_bits(struct code *c)
{
	PUT(c, 0x4d, 0x01, 0xc8);			/* add r8, r9 */
	PUT(c, 0x4c, 0x89, 0xc0);			/* mov rax, r8 */
	PUT(c, 0x48, 0xc1, 0xe8, 30);			/* shr rax, 30 */
	PUT(c, 0x4c, 0x31, 0xc0);			/* xor rax, r8 */
}

/* Sixteen branches on the upper bits of rax. */
static void branches(struct code *c)
{
	for (unsigned i = 0; i < 16; i++) {
		align(c, 16);
		PUT(c, 0x48, 0x01, 0xc0, 0x73, 0x03, 0x4d, 0x89, 0xec);	/* add rax, rax; jnc over; mov r12, r13 */
	}
	align(c, 16);
}

/* Two chases, in rsi and r8, with n fillers behind each load. */
static void window(struct code *c, enum cal_family f, unsigned n)
{
	static const uint8_t load[] = { 0x4d, 0x8b, 0x5f, 0x10 };	/* mov r11, [r15+16] */
	static const uint8_t store[] = { 0x4d, 0x89, 0x5f, 0x10 };	/* mov [r15+16], r11 */
	for (unsigned half = 0; half < 2; half++) {
		half ? PUT(c, 0x4d, 0x8b, 0x00) : PUT(c, 0x48, 0x8b, 0x36);	/* mov r8, [r8]; mov rsi, [rsi] */
		if (f == CAL_WINDOW) {
			zeroes(c, n);
		} else if (f == CAL_WAITING) {
			for (unsigned i = 0; i < n; i++)
				/* lea r11, [r8+r8]; lea r11, [rsi+rsi] */
				half ? PUT(c, 0x4f, 0x8d, 0x1c, 0x00) : PUT(c, 0x4c, 0x8d, 0x1c, 0x36);
		} else {
			repeat(c, n, f == CAL_LOADQUEUE ? load : store, 4);
		}
	}
}

/* ---- the families: each writes the code up to the loop's end, and returns where the loop begins ---- */

/* Chains and rows of one instruction, in registers. */
static size_t in_registers(struct code *c, enum cal_family f, struct cal_shape *s)
{
	s->ops = f == CAL_ZEROS ? 510 : f == CAL_DIV32 || f == CAL_DIV64 ? 32 : 128;
	const size_t top = loop(c);
	switch (f) {
	case CAL_ADD:
		REPEAT(c, s->ops, 0x48, 0x01, 0xd8);			/* add rax, rbx */
		break;
	case CAL_ADDIMM:
		REPEAT(c, s->ops, 0x48, 0x83, 0xc0, 7);			/* add rax, 7 */
		break;
	case CAL_IMUL:
		REPEAT(c, s->ops, 0x48, 0x0f, 0xaf, 0xc3);		/* imul rax, rbx */
		break;
	case CAL_DIV32:
		REPEAT(c, s->ops, 0xf7, 0xf3);				/* div ebx */
		break;
	case CAL_DIV64:
		REPEAT(c, s->ops, 0x48, 0xf7, 0xf3);			/* div rbx */
		break;
	case CAL_ADDPS:
		REPEAT(c, s->ops, 0x41, 0x0f, 0x58, 0xc7);		/* addps xmm0, xmm15 */
		break;
	case CAL_MULPS:
		REPEAT(c, s->ops, 0x0f, 0x59, 0xc1);			/* mulps xmm0, xmm1 */
		break;
	case CAL_ADDS:
		for (unsigned i = 0; i < 16; i++)	/* add REG, rbp: rax, rbx, rcx, rdx, r8, r9, r10, r11 */
			PUT(c, 0x48, 0x01, 0xe8, 0x48, 0x01, 0xeb, 0x48, 0x01, 0xe9, 0x48, 0x01, 0xea,
				0x49, 0x01, 0xe8, 0x49, 0x01, 0xe9, 0x49, 0x01, 0xea, 0x49, 0x01, 0xeb);
		break;
	default:
		zeroes(c, s->ops);
		break;
	}
	return top;
}

/* Loads and stores that hit L1D, and stores whose data loads need. */
static size_t in_l1(struct code *c, enum cal_family f, struct cal_shape *s)
{
	const bool loads = f == CAL_LOADS, pairs = f == CAL_FORWARD || f == CAL_RENAMED;
	s->memory = CAL_LINES;
	s->bytes = loads || f == CAL_STORES ? 16384 : 4096;
	/* pairs: so few that each load is made hundreds of times (forward.renamed) */
	s->ops = pairs ? 8 : f == CAL_BLOCKED ? 32 : 128;
	if (pairs)
		PUT(c, 0x4c, 0x8d, 0x46, 0x40);				/* lea r8, [rsi+64] */
	const size_t top = loop(c);
	switch (f) {
	case CAL_FORWARD:
		/* mov [rsi+64], rax; mov rax, [r8] */
		REPEAT(c, s->ops, 0x48, 0x89, 0x46, 0x40, 0x49, 0x8b, 0x00);
		break;
	case CAL_RENAMED:						/* mov [rsi+64], rax; mov rax, [rsi+64] */
		REPEAT(c, s->ops, 0x48, 0x89, 0x46, 0x40, 0x48, 0x8b, 0x46, 0x40);
		break;
	case CAL_BLOCKED:			/* mov [rsi+64], eax; mov [rsi+68], eax; mov rax, [rsi+64] */
		REPEAT(c, s->ops, 0x89, 0x46, 0x40, 0x89, 0x46, 0x44, 0x48, 0x8b, 0x46, 0x40);
		break;
	default:
		for (unsigned i = 0; i < s->ops; i++) {			/* mov rax, [rsi+i*64]; mov [rsi+i*8], rax */
			PUT(c, 0x48, loads ? 0x8b : 0x89, 0x86);
			put32(c, i * (loads ? 64 : 8));
		}
		break;
	}
	return top;
}

/* Sixteen branches a round, on random bits or in an order that is easy to predict; otherwise the same work. */
static size_t with_branches(struct code *c, enum cal_family f, struct cal_shape *s)
{
	s->ops = 16;
	s->memory = CAL_LINES;
	s->bytes = 4096;
	constants(c);
	if (f == CAL_PREDICTED)
		PUT(c, 0x49, 0xba), put64(c, 0xaaaaaaaaaaaaaaaa);	/* mov r10 */
	PUT(c, 0x4d, 0x8b, 0x07);				/* mov r8, [r15]: another sequence at each run */
	const size_t top = loop(c);
	random_bits(c);
	if (f == CAL_PREDICTED)
		PUT(c, 0x4c, 0x89, 0xd0);			/* mov rax, r10 */
	else
		PUT(c, 0x49, 0x0f, 0xaf, 0xc2);			/* imul rax, r10 */
	PUT(c, 0x4d, 0x89, 0x07);				/* mov [r15], r8 */
	branches(c);
	return top;
}

/* Rows of instructions that are as long as the parameter says. */
static size_t long_code(struct code *c, const struct cal_probe *p, struct cal_shape *s)
{
	s->ops = p->family == CAL_FARCODE ? p->param / 8 : p->param;
	const size_t top = loop(c);
	if (p->family == CAL_JUMPS)
		REPEAT(c, s->ops, 0xeb, 6, 0xcc, 0xcc, 0xcc, 0xcc, 0xcc, 0xcc);	/* jmp over 6 bytes */
	else if (p->family == CAL_CODE)
		zeroes(c, s->ops);
	else
		REPEAT(c, s->ops, 0x0f, 0x1f, 0x84, 0, 0, 0, 0, 0);		/* nop of 8 bytes */
	return top;
}

/* Chains of loads through a ring. */
static size_t chase(struct code *c, const struct cal_probe *p, struct cal_shape *s)
{
	const enum cal_family f = p->family;
	/* CAL_STRIDE has one instruction, as a program's list has: prefetchers know it by its address */
	s->ops = f == CAL_STRIDE ? 1 : 32;
	s->memory = f == CAL_STRIDE ? CAL_RING_STRIDE : f == CAL_PAGES ? CAL_RING_PAGES : CAL_RING;
	s->bytes = p->param;
	s->huge = f == CAL_HUGE;
	const size_t top = loop(c);
	REPEAT(c, s->ops, 0x48, 0x8b, 0x36);			/* mov rsi, [rsi] */
	return top;
}

/* Independent loads from random lines. */
static size_t gather(struct code *c, const struct cal_probe *p, struct cal_shape *s)
{
	*s = (struct cal_shape){
		.ops = 32, .memory = CAL_LINES, .bytes = p->param, .huge = true, .argument = p->param
	};
	constants(c);
	PUT(c, 0x4d, 0x8b, 0x07);				/* mov r8, [r15] */
	const size_t top = loop(c);
	for (unsigned i = 0; i < s->ops; i++) {
		PUT(c, 0x4d, 0x0f, 0xaf, 0xc2);			/* imul r8, r10 */
		PUT(c, 0x4d, 0x01, 0xc8);			/* add r8, r9 */
		PUT(c, 0x4c, 0x89, 0xc0);			/* mov rax, r8 */
		PUT(c, 0x48, 0xc1, 0xe8, 32);			/* shr rax, 32: a fraction of 2^32 ... */
		PUT(c, 0x48, 0x0f, 0xaf, 0xc1);			/* imul rax, rcx: ... of the buffer */
		PUT(c, 0x48, 0xc1, 0xe8, 32);			/* shr rax, 32 */
		PUT(c, 0x48, 0x8b, 0x04, 0x06);			/* mov rax, [rsi+rax] */
	}
	PUT(c, 0x4d, 0x89, 0x07);				/* mov [r15], r8 */
	return top;
}

/* Loads from, or stores to, one line after the other. */
static size_t in_order(struct code *c, const struct cal_probe *p, struct cal_shape *s)
{
	*s = (struct cal_shape){
		.ops = 64, .memory = CAL_LINES, .bytes = p->param, .huge = true, .argument = p->param
	};
	PUT(c, 0x48, 0x01, 0xf1);				/* add rcx, rsi */
	const size_t top = loop(c);
	for (unsigned i = 0; i < s->ops; i++) {			/* mov rax, [rsi+i*64]; mov [rsi+i*64], rax */
		PUT(c, 0x48, p->family == CAL_READ ? 0x8b : 0x89, 0x86);
		put32(c, i * 64);
	}
	PUT(c, 0x48, 0x81, 0xc6), put32(c, 4096);		/* add rsi, 4096 */
	PUT(c, 0x48, 0x39, 0xce);				/* cmp rsi, rcx */
	PUT(c, 0x49, 0x0f, 0x43, 0xf7);				/* cmovae rsi, r15 */
	return top;
}

/* Two loads that miss, with the parameter's number of fillers behind each. */
static size_t two_misses(struct code *c, const struct cal_probe *p, struct cal_shape *s)
{
	*s = (struct cal_shape){ .ops = 2, .memory = CAL_TWO_RINGS, .bytes = 64 << 20, .huge = true };
	/* mov rsi, [r15]; mov r8, [r15+8]: where the last run stopped */
	PUT(c, 0x49, 0x8b, 0x37, 0x4d, 0x8b, 0x47, 0x08);
	const size_t top = loop(c);
	window(c, p->family, p->param);
	PUT(c, 0x49, 0x89, 0x37, 0x4d, 0x89, 0x47, 0x08);	/* mov [r15], rsi; mov [r15+8], r8 */
	return top;
}

static size_t family_code(struct code *c, const struct cal_probe *p, struct cal_shape *s)
{
	switch (p->family) {
	case CAL_LOADS: case CAL_STORES: case CAL_FORWARD: case CAL_RENAMED: case CAL_BLOCKED:
		return in_l1(c, p->family, s);
	case CAL_RANDOM: case CAL_PREDICTED:
		return with_branches(c, p->family, s);
	case CAL_JUMPS: case CAL_CODE: case CAL_FARCODE:
		return long_code(c, p, s);
	case CAL_CHASE: case CAL_HUGE: case CAL_STRIDE: case CAL_PAGES:
		return chase(c, p, s);
	case CAL_GATHER:
		return gather(c, p, s);
	case CAL_READ: case CAL_WRITE:
		return in_order(c, p, s);
	case CAL_WINDOW: case CAL_LOADQUEUE: case CAL_STOREQUEUE: case CAL_WAITING:
		return two_misses(c, p, s);
	default:
		return in_registers(c, p->family, s);
	}
}

size_t cal_make(uint8_t *at, const struct cal_probe *p, struct cal_shape *s)
{
	struct code c = { at, 0 };
	*s = (struct cal_shape){ .ops = 0 };
	begin(&c);
	const size_t top = family_code(&c, p, s);
	end(&c, top);
	return c.n;
}
