# SPDX-License-Identifier: GPL-2.0-or-later
# Jumps to themselves; no C library.  Each iteration retires: 2 * 1000 + 7 instructions, 2 * 1000 of them branches.
	.text
	.globl _start
_start:
	mov $1000, %ecx			# 1
1:	loop 1b
	mov $1000, %ecx			# 2
	test %esp, %esp			# 3: not zero
2:	loopne 2b
	nop				# 4
	mov $60, %eax			# 5
	xor %edi, %edi			# 6
	syscall				# 7
	.section .note.GNU-stack,"",@progbits
