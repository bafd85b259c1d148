# SPDX-License-Identifier: GPL-2.0-or-later
# No C library, no REP: loads, stores, calls and branches, some hundred thousand instructions.
	.text
	.globl _start
_start:
	mov $20000, %ebx
	lea table(%rip), %r8
1:	mov %ebx, %eax
	and $255, %eax
	call step
	add %rax, (%r8)
	dec %ebx
	jnz 1b
	mov $60, %eax
	xor %edi, %edi
	syscall
step:	push %rbx
	imul $40503, %rax, %rax
	and $255, %eax
	test $16, %al
	jz 2f
	mov 8(%r8,%rax,1), %bl
2:	pop %rbx
	and $255, %eax
	ret
	.bss
	.lcomm table, 4096
	.section .note.GNU-stack,"",@progbits
