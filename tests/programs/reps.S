# SPDX-License-Identifier: GPL-2.0-or-later
# REP string instructions and little else; no C library. Each REP instruction retires as one instruction, whatever
# its count: 4 + 6 * 100 + 3 instructions in all.
	.text
	.globl _start
_start:
	mov $100, %ebx			# 1
	cld				# 2
	lea source(%rip), %r8		# 3
	lea target(%rip), %r9		# 4
1:	mov %r8, %rsi
	mov %r9, %rdi
	mov $1000, %ecx
	rep movsb
	dec %ebx
	jnz 1b
	mov $60, %eax			# 1
	xor %edi, %edi			# 2
	syscall				# 3
	.bss
	.lcomm source, 4096
	.lcomm target, 4096
	.section .note.GNU-stack,"",@progbits
