/* SPDX-License-Identifier: GPL-2.0-or-later
 * Calls 1,024 functions in a row, each a RET at the start of a line of its own on a page of its own, ROUNDS
 * times (-DROUNDS=N): each call misses an ITLB of up to 256 pages and an L1I of 512 lines with LRU replacement;
 * from the second round on, an STLB of 1,536 pages and L2 hit.
 */
#ifndef ROUNDS
#define ROUNDS 2
#endif
	.text
	.globl _start
_start:
	mov $ROUNDS, %edi
round:	lea first(%rip), %rax
	mov $1024, %ecx
next:	call *%rax
	add $4160, %rax
	dec %ecx
	jnz next
	dec %edi
	jnz round
	mov $60, %eax
	xor %edi, %edi
	syscall
	.balign 4096
first:	.rept 1024
	ret
	.skip 4159, 0xcc
	.endr
