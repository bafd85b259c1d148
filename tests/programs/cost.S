/* SPDX-License-Identifier: GPL-2.0-or-later
 * Loops that have one kind of costly event each, for softpmu cost (make cost-table).  64-bit, no library.
 *
 * -DMISPREDICT    a branch on the bits of a random sequence, no memory accesses
 * -DBYTES=N -DSTRIDE=N  a chain of pointers, STRIDE bytes apart, through N bytes, followed ROUNDS times
 * -DSTALL         a chain of multiplications, and beside it one that waits for a load that crosses a line.
 *                 Without the penalty of the load both need the multiplier in the
 *                 same cycle; with it they do not
 */
#ifndef ROUNDS
#define ROUNDS 20000
#endif
	.text
	.globl _start
_start:
#if defined MISPREDICT
	mov $0x13579bdf, %eax
	mov $ROUNDS, %ecx
	.balign 32
	.globl again
	.type again, @function
again:	mov %eax, %edx			/* xorshift: every bit follows from all 32 before */
	shl $13, %edx
	xor %edx, %eax
	mov %eax, %edx
	shr $17, %edx
	xor %edx, %eax
	mov %eax, %edx
	shl $5, %edx
	xor %edx, %eax
	test $0x10000, %eax
	jz 1f				/* the time of the code after the branch varies */
	imul $5, %eax, %esi
1:	shl $1, %edi
	dec %ecx
	jnz again
#elif defined STALL
	lea memory + 60(%rip), %rbx
	mov $3, %eax
	mov $ROUNDS, %ecx
	.balign 32
	.globl again
	.type again, @function
again:	imul %rax, %rax			/* the chain */
	mov %rax, %rdx
	and $0, %edx
	mov (%rbx,%rdx), %rsi		/* crosses a line */
	imul %rsi, %rsi			/* its result is not used */
	dec %ecx
	jnz again
#else
	lea memory(%rip), %rbx
	mov $BYTES / STRIDE, %rcx
	mov %rbx, %rdx
1:	lea STRIDE(%rdx), %rsi
	mov %rsi, (%rdx)
	mov %rsi, %rdx
	dec %rcx
	jnz 1b
	mov %rbx, -STRIDE(%rdx)		/* the last points to the first */
	mov $ROUNDS, %rcx
	.balign 32
	.globl again
	.type again, @function
again:
	.rept 8
	mov (%rbx), %rbx
	.endr
	dec %rcx
	jnz again
#endif
	mov $60, %eax
	xor %edi, %edi
	syscall

	.bss
	.balign 4096
#ifdef BYTES
memory:	.skip BYTES
#else
memory:	.skip 4096
#endif
	.section .note.GNU-stack, "", @progbits
