/* SPDX-License-Identifier: GPL-2.0-or-later
 * As trace_mem.S, for 32-bit programs. */
	.globl _start, probe_begin, probe_end, data
	.text
_start:
	mov $data, %ebx
	mov $2, %ecx
	mov $stack, %esp
	cld
	fninit
probe_begin:
	mov (%ebx), %eax			#> L 4  0
	mov 8(%ebx), %ah			#> L 1  8
	addw $1, 20(%ebx)			#> L 2  20
						#> S 2  20
	lock incl 24(%ebx)			#> M 4 a 24
	xchg %al, 28(%ebx)			#> M 1 a 28
	lock cmpxchg8b 32(%ebx)			#> M 8 a 32
	prefetcht0 64(%ebx,%ecx,8)		#> P 0  80
	prefetcht1 data+16			#> P 0  16
	push 48(%ebx)				#> L 4  48
						#> S 4  8188
	pop 52(%ebx)				#> L 4  8188
						#> S 4  52
	fldt 64(%ebx)				#> L 10 h 64
	fstpl 80(%ebx)				#> S 8  80
	movdqu 96(%ebx), %xmm0			#> L 16  96
	movaps %xmm0, 112(%ebx)			#> S 16  112
	lea 128(%ebx), %esi
	lea 160(%ebx), %edi
	rep movsb				#> L 1  128
						#> S 1  160
						#> L 1  129
						#> S 1  161
	call target				#> S 4  8188
	jmp after
target:	ret					#> L 4  8188
after:	nop
probe_end:
	mov $1, %eax
	xor %ebx, %ebx
	int $0x80
	.data
	.balign 64
data:	.fill 8192
stack:	.fill 64
	.section .note.GNU-stack, "", @progbits
