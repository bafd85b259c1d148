# SPDX-License-Identifier: GPL-2.0-or-later
# Instructions of kinds that events count by name, each so often; no C library. tests/system/stat/by-cause.sh knows
# the numbers.
	.text
	.globl _start
	.macro times n, code:vararg
	mov $\n, %r12d
7:	\code
	dec %r12d
	jnz 7b
	.endm
_start:
	times 100, lfence
	times 50, pause
	mov $60, %r12d
1:	xor %eax, %eax
	cpuid
	dec %r12d
	jnz 1b
	mov $40, %r12d
1:	xbegin 2f
2:	dec %r12d
	jnz 1b
	mov $70, %r12d			# 128 bytes in each
1:	lea source(%rip), %rsi
	lea target(%rip), %rdi
	mov $128, %ecx
	rep movsb
	dec %r12d
	jnz 1b
	mov $3, %r13d
	mov $30, %r12d
1:	mov $1000, %eax
	xor %edx, %edx
	div %r13d
	dec %r12d
	jnz 1b
	mov $7, %eax
	cvtsi2sd %eax, %xmm0
	times 35, divsd %xmm0, %xmm0
	times 20, vpaddd %ymm1, %ymm2, %ymm3
	times 21, vpsubusw %ymm1, %ymm2, %ymm3
	times 22, vpaddq %xmm1, %xmm2, %xmm3
	times 23, psadbw %xmm1, %xmm2
	times 24, vpmulld %ymm1, %ymm2, %ymm3
	times 25, vpermq $0x1b, %ymm2, %ymm3
	times 26, vperm2i128 $1, %ymm1, %ymm2, %ymm3
	times 27, vpmaxsd %ymm1, %ymm2, %ymm3
	times 28, vpshufd $1, %ymm2, %ymm3
	times 29, vaddps %ymm1, %ymm2, %ymm3
	mov $60, %eax
	xor %edi, %edi
	syscall
	.bss
	.lcomm source, 4096
	.lcomm target, 4096
	.section .note.GNU-stack,"",@progbits
