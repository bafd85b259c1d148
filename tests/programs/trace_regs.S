/* SPDX-License-Identifier: GPL-2.0-or-later
 * Register writes of each width, for tests/system/tracer/tracer-access.sh.  Each comment after a # with > is
 * one write that the tracer must report with --regs=yes: R, register, byte offset in it, bytes written,
 * value.  VEX writes all of a register when a 32-bit operand clears its upper half.
 */
	.globl _start, probe_begin, probe_end, data
	.text
_start:
	xor %eax, %eax
	xor %ebx, %ebx
probe_begin:
	mov $0x1122334455667788, %rax		#> R 0 0 8 1122334455667788
	mov %eax, %ebx				#> R 3 0 8 55667788
	mov $0x1234, %ax			#> R 0 0 2 1234
	mov $0x56, %al				#> R 0 0 1 56
	mov $0x78, %ah				#> R 0 1 1 78
	mov %ah, %cl				#> R 1 0 1 78
	mov $0x9a, %r9b				#> R 9 0 1 9a
	xchg %al, %ah				#> R 0 0 1 78
						#> R 0 1 1 56
	mov $-1, %r10				#> R 10 0 8 ffffffffffffffff
	add $1, %r10				#> R 10 0 8 0
	setc %r11b				#> R 11 0 1 1
	cmovc %rax, %r12			#> R 12 0 8 1122334455665678
	push %r12				#> R 4 0 8 (of the system)
	pop %r13				#> R 4 0 8 (of the system)
						#> R 13 0 8 1122334455665678
probe_end:
	mov $60, %eax
	xor %edi, %edi
	syscall
	.data
data:	.quad 0
	.section .note.GNU-stack, "", @progbits
