/* SPDX-License-Identifier: GPL-2.0-or-later
 * System calls and the few functions of a C library that guest_init.c needs, for 64-bit and 32-bit programs.
 */
#ifndef GUEST_SYSTEM_H
#define GUEST_SYSTEM_H

#ifdef __x86_64__
static inline long sys5(long n, long a, long b, long c, long d, long e)
{
	register long r10 __asm__("r10") = d, r8 __asm__("r8") = e;
	long result;
	__asm__ volatile("syscall" : "=a"(result) : "0"(n), "D"(a), "S"(b), "d"(c), "r"(r10), "r"(r8)
		: "rcx", "r11", "memory");
	return result;
}
__asm__(".globl _start\n_start:\n\txor %ebp, %ebp\n\tand $-16, %rsp\n\tcall guest_init\n");
#else
static inline long sys5(long n, long a, long b, long c, long d, long e)
{
	long result;
	__asm__ volatile("int $0x80" : "=a"(result) : "0"(n), "b"(a), "c"(b), "d"(c), "S"(d), "D"(e) : "memory");
	return result;
}
__asm__(".globl _start\n_start:\n\txor %ebp, %ebp\n\tand $-16, %esp\n\tcall guest_init\n");
#endif
#define sys4(n, a, b, c, d)	sys5(n, a, b, c, d, 0)
#define sys3(n, a, b, c)	sys5(n, a, b, c, 0, 0)
#define sys2(n, a, b)		sys5(n, a, b, 0, 0, 0)
#define sys1(n, a)		sys5(n, a, 0, 0, 0, 0)
#define sys0(n)			sys5(n, 0, 0, 0, 0, 0)

/* The compiler calls these by itself, too. */
void *memset(void *to, int value, unsigned long bytes);
void *memcpy(void *restrict to, const void *restrict from, unsigned long bytes);

void *memset(void *to, int value, unsigned long bytes)
{
	void *at = to;
	__asm__ volatile("rep stosb" : "+D"(at), "+c"(bytes) : "a"(value) : "memory");
	return to;
}

void *memcpy(void *restrict to, const void *restrict from, unsigned long bytes)
{
	void *at = to;
	__asm__ volatile("rep movsb" : "+D"(at), "+S"(from), "+c"(bytes) : : "memory");
	return to;
}

static unsigned long text_length(const char *s)
{
	unsigned long n = 0;
	while (s[n])
		n++;
	return n;
}
#endif
