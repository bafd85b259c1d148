/* SPDX-License-Identifier: GPL-2.0-or-later
 * Known numbers of events that are counted by kind. 1,000 rounds of: software prefetches (3 PREFETCHNTA,
 * 5 PREFETCHT0, 2 PREFETCHT1, 1 PREFETCHT2, 1 PREFETCHW); register copies (2 general-purpose, 1 vector) and zero
 * idioms (1 each), which are no copies. Then 1,000 rounds of 7 copies of one general-purpose register that all stay
 * live: more than rename can eliminate.
 */
	.text
	.globl _start
_start:
	lea line(%rip), %rsi
	mov $1000, %ecx
round:
	.rept 3
	prefetchnta (%rsi)
	.endr
	.rept 5
	prefetcht0 (%rsi)
	.endr
	.rept 2
	prefetcht1 (%rsi)
	.endr
	prefetcht2 (%rsi)
	prefetchw (%rsi)
	mov %rsi, %rax			/* the next instruction overwrites the other register */
	mov %rsi, %rdx
	xor %eax, %eax
	lea 1(%rsi), %rdx
	movaps %xmm1, %xmm0
	pxor %xmm0, %xmm0
	dec %ecx
	jnz round
	mov $1000, %ecx
names:	.irp name, r8, r9, r10, r11, r12, r13, r14
	mov %rsi, %\name
	.endr
	add $1, %rsi
	dec %ecx
	jnz names
	mov $60, %eax
	xor %edi, %edi
	syscall
	.bss
	.balign 64
line:	.skip 64
