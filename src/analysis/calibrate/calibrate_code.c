/* SPDX-License-Identifier: GPL-2.0-or-later
 * Machine code of the microbenchmarks (calibrate_code.h).  Rules as in tests/native/kernels.S: the chain under test never waits for the
 * loop's counter (rdi), no chain consists of additions of constants (some cores do these at rename), floating-point values stay normal,
 * branches start at multiples of 16 bytes where few stand together (erratum SKX102). */
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
#define REPEAT(c, times, ...) repeat(c, times, (const uint8_t[]){ __VA_ARGS__ }, sizeof (const uint8_t[]){ __VA_ARGS__ })

/* Zeroes r8d to r15d in turn but for those that are in use: r9, r10 or r11. */
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

/* Two chases, in rsi and r8, and so many fillers behind each load. */
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
				half ? PUT(c, 0x4f, 0x8d, 0x1c, 0x00) : PUT(c, 0x4c, 0x8d, 0x1c, 0x36); /* lea r11, [r8+r8]; [rsi+rsi] */
		} else {
			repeat(c, n, f == CAL_LOADQUEUE ? load : store, 4);
		}
	}
}

size_t cal_make(uint8_t *at, const struct cal_probe *p, struct cal_shape *s)
{
	struct code c = { at, 0 };
	size_t top;
	*s = (struct cal_shape){ .ops = 128 };
	begin(&c);
	switch (p->family) {
	case CAL_ADD:
		top = loop(&c);
		REPEAT(&c, 128, 0x48, 0x01, 0xd8);			/* add rax, rbx */
		break;
	case CAL_ADDIMM:
		top = loop(&c);
		REPEAT(&c, 128, 0x48, 0x83, 0xc0, 7);			/* add rax, 7 */
		break;
	case CAL_IMUL:
		top = loop(&c);
		REPEAT(&c, 128, 0x48, 0x0f, 0xaf, 0xc3);		/* imul rax, rbx */
		break;
	case CAL_DIV32:
	case CAL_DIV64:
		s->ops = 32;
		top = loop(&c);
		if (p->family == CAL_DIV32)
			REPEAT(&c, 32, 0xf7, 0xf3);			/* div ebx */
		else
			REPEAT(&c, 32, 0x48, 0xf7, 0xf3);		/* div rbx */
		break;
	case CAL_ADDPS:
		top = loop(&c);
		REPEAT(&c, 128, 0x41, 0x0f, 0x58, 0xc7);		/* addps xmm0, xmm15 */
		break;
	case CAL_MULPS:
		top = loop(&c);
		REPEAT(&c, 128, 0x0f, 0x59, 0xc1);			/* mulps xmm0, xmm1 */
		break;
	case CAL_ADDS:
		s->ops = 16 * 8;
		top = loop(&c);
		for (unsigned i = 0; i < 16; i++)			/* add REG, rbp: rax, rbx, rcx, rdx, r8, r9, r10, r11 */
			PUT(&c, 0x48, 0x01, 0xe8, 0x48, 0x01, 0xeb, 0x48, 0x01, 0xe9, 0x48, 0x01, 0xea, 0x49, 0x01, 0xe8, 0x49, 0x01, 0xe9,
				0x49, 0x01, 0xea, 0x49, 0x01, 0xeb);
		break;
	case CAL_ZEROS:
		s->ops = 510;
		top = loop(&c);
		zeroes(&c, s->ops);
		break;
	case CAL_LOADS:
	case CAL_STORES:
		s->memory = CAL_LINES;
		s->bytes = 16384;
		top = loop(&c);
		for (unsigned i = 0; i < 128; i++) {			/* mov rax, [rsi+i*64]; mov [rsi+i*8], rax */
			PUT(&c, 0x48, p->family == CAL_LOADS ? 0x8b : 0x89, 0x86);
			put32(&c, i * (p->family == CAL_LOADS ? 64 : 8));
		}
		break;
	case CAL_FORWARD:
	case CAL_RENAMED:
		s->ops = 64;
		s->memory = CAL_LINES;
		s->bytes = 4096;
		PUT(&c, 0x4c, 0x8d, 0x46, 0x40);			/* lea r8, [rsi+64] */
		top = loop(&c);
		if (p->family == CAL_FORWARD)
			REPEAT(&c, 64, 0x48, 0x89, 0x46, 0x40, 0x49, 0x8b, 0x00);	/* mov [rsi+64], rax; mov rax, [r8] */
		else
			REPEAT(&c, 64, 0x48, 0x89, 0x46, 0x40, 0x48, 0x8b, 0x46, 0x40);
		break;
	case CAL_BLOCKED:
		s->ops = 32;
		s->memory = CAL_LINES;
		s->bytes = 4096;
		top = loop(&c);
		REPEAT(&c, 32, 0x89, 0x46, 0x40, 0x89, 0x46, 0x44, 0x48, 0x8b, 0x46, 0x40);
		break;
	case CAL_RANDOM:
		s->ops = 16;
		s->memory = CAL_LINES;
		s->bytes = 4096;
		constants(&c);
		PUT(&c, 0x4d, 0x8b, 0x07);				/* mov r8, [r15]: another sequence at each run */
		top = loop(&c);
		random_bits(&c);
		PUT(&c, 0x49, 0x0f, 0xaf, 0xc2);			/* imul rax, r10 */
		PUT(&c, 0x4d, 0x89, 0x07);				/* mov [r15], r8 */
		branches(&c);
		break;
	case CAL_PREDICTED:
		s->ops = 16;
		s->memory = CAL_LINES;
		s->bytes = 4096;
		constants(&c);
		PUT(&c, 0x49, 0xba), put64(&c, 0xaaaaaaaaaaaaaaaa);	/* mov r10 */
		PUT(&c, 0x4d, 0x8b, 0x07);
		top = loop(&c);
		random_bits(&c);
		PUT(&c, 0x4c, 0x89, 0xd0);				/* mov rax, r10 */
		PUT(&c, 0x4d, 0x89, 0x07);
		branches(&c);
		break;
	case CAL_JUMPS:
		s->ops = p->param;
		top = loop(&c);
		REPEAT(&c, p->param, 0xeb, 6, 0xcc, 0xcc, 0xcc, 0xcc, 0xcc, 0xcc);
		break;
	case CAL_CODE:
		s->ops = p->param;
		top = loop(&c);
		zeroes(&c, p->param);
		break;
	case CAL_FARCODE:
		s->ops = p->param / 8;
		top = loop(&c);
		REPEAT(&c, s->ops, 0x0f, 0x1f, 0x84, 0, 0, 0, 0, 0);
		break;
	case CAL_CHASE:
	case CAL_HUGE:
	case CAL_STRIDE:
	case CAL_PAGES:
		s->ops = 32;
		s->memory = p->family == CAL_STRIDE ? CAL_RING_STRIDE : p->family == CAL_PAGES ? CAL_RING_PAGES : CAL_RING;
		s->bytes = p->param;
		s->huge = p->family == CAL_HUGE;
		if (p->family == CAL_STRIDE)	/* one instruction, as in a program's list: prefetchers know it by its address */
			s->ops = 1;
		top = loop(&c);
		REPEAT(&c, s->ops, 0x48, 0x8b, 0x36);			/* mov rsi, [rsi] */
		break;
	case CAL_GATHER:
		s->ops = 32;
		s->memory = CAL_LINES;
		s->bytes = p->param;
		s->huge = true;
		s->argument = p->param;
		constants(&c);
		PUT(&c, 0x4d, 0x8b, 0x07);				/* mov r8, [r15] */
		top = loop(&c);
		for (unsigned i = 0; i < 32; i++) {
			PUT(&c, 0x4d, 0x0f, 0xaf, 0xc2);		/* imul r8, r10 */
			PUT(&c, 0x4d, 0x01, 0xc8);			/* add r8, r9 */
			PUT(&c, 0x4c, 0x89, 0xc0);			/* mov rax, r8 */
			PUT(&c, 0x48, 0xc1, 0xe8, 32);			/* shr rax, 32: a fraction of 2^32 ... */
			PUT(&c, 0x48, 0x0f, 0xaf, 0xc1);		/* imul rax, rcx: ... of the buffer */
			PUT(&c, 0x48, 0xc1, 0xe8, 32);			/* shr rax, 32 */
			PUT(&c, 0x48, 0x8b, 0x04, 0x06);		/* mov rax, [rsi+rax] */
		}
		PUT(&c, 0x4d, 0x89, 0x07);				/* mov [r15], r8 */
		break;
	case CAL_READ:
	case CAL_WRITE:
		s->ops = 64;
		s->memory = CAL_LINES;
		s->bytes = p->param;
		s->huge = true;
		s->argument = p->param;
		PUT(&c, 0x48, 0x01, 0xf1);				/* add rcx, rsi */
		top = loop(&c);
		for (unsigned i = 0; i < 64; i++) {
			PUT(&c, 0x48, p->family == CAL_READ ? 0x8b : 0x89, 0x86);
			put32(&c, i * 64);
		}
		PUT(&c, 0x48, 0x81, 0xc6), put32(&c, 4096);		/* add rsi, 4096 */
		PUT(&c, 0x48, 0x39, 0xce);				/* cmp rsi, rcx */
		PUT(&c, 0x49, 0x0f, 0x43, 0xf7);			/* cmovae rsi, r15 */
		break;
	default:
		s->ops = 2;
		s->memory = CAL_TWO_RINGS;
		s->bytes = 64 << 20;
		s->huge = true;
		PUT(&c, 0x49, 0x8b, 0x37, 0x4d, 0x8b, 0x47, 0x08);	/* mov rsi, [r15]; mov r8, [r15+8]: where the last run stopped */
		top = loop(&c);
		window(&c, p->family, p->param);
		PUT(&c, 0x49, 0x89, 0x37, 0x4d, 0x89, 0x47, 0x08);
		break;
	}
	end(&c, top);
	return c.n;
}
