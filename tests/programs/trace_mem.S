/* SPDX-License-Identifier: GPL-2.0-or-later
 * Instructions with known accesses, for tests/system/tracer/tracer-access.sh. Each comment after a # with > is
 * one access that the tracer must report, in this order: kind, size, flags, offset from `data` (see
 * trace_count.c, option -a).
 */
	.globl _start, probe_begin, probe_end, data
	.text
_start:
	lea data(%rip), %rbx
	mov $2, %ecx
	mov $-1, %eax
	vmovd %eax, %xmm2			# element 0 wanted
	vpinsrd $2, %eax, %xmm2, %xmm2		# element 2 wanted, 1 and 3 not
	vpxor %xmm1, %xmm1, %xmm1
	mov $4, %eax
	vpinsrd $2, %eax, %xmm1, %xmm1		# index of element 2: 4
	vmovdqa %xmm2, %xmm3
	fninit
	lea stack(%rip), %rsp
probe_begin:
	mov (%rbx), %rax			#> L 8  0
	mov 8(%rbx), %al			#> L 1  8
	mov %ax, 16(%rbx)			#> S 2  16
	addl $1, 20(%rbx)			#> L 4  20
						#> S 4  20
	testl $1, 24(%rbx)			#> L 4  24
	mov 32(%rbx), %rdx			#> L 8  32
	mov 40(%rbx), %rdx			#> L 8  40
	cmove 48(%rbx), %rax			#> L 8  48
	lock addl $1, 56(%rbx)			#> M 4 a 56
	lock xadd %eax, 60(%rbx)		#> M 4 a 60
	xchg %rax, 64(%rbx)			#> M 8 a 64
	lock cmpxchg %rdx, 72(%rbx)		#> M 8 a 72
	lock cmpxchg8b 80(%rbx)			#> M 8 a 80
	lock cmpxchg16b 96(%rbx)		#> M 16 a 96
	lea data(%rip), %rbx
	mov $2, %ecx
	lock btsl $3, 112(%rbx)			#> M 4 a 112
	movups 128(%rbx), %xmm4			#> L 16  128
	movaps 144(%rbx), %xmm4			#> L 16  144
	vmovups 160(%rbx), %ymm5		#> L 32  160
	vmovups %ymm5, 192(%rbx)		#> S 32  192
	vmovntdq %ymm5, 192(%rbx)		#> S 32  192
	movnti %eax, 224(%rbx)			#> S 4  224
	prefetcht0 256(%rbx)			#> P 0  256
	prefetchnta 64(%rbx,%rcx,4)		#> P 0  72
	prefetchw 3(%rbx)			#> P 0  3
	prefetcht1 data+16(%rip)		#> P 0  16
	flds 256(%rbx)				#> L 4  256
	fldl 264(%rbx)				#> L 8  264
	faddp
	fstpt 272(%rbx)				#> S 10 h 272
	fldt 272(%rbx)				#> L 10 h 272
	fstpl 288(%rbx)				#> S 8  288
	fildll 288(%rbx)			#> L 8  288
	fistpll 296(%rbx)			#> S 8  296
	fnstcw 304(%rbx)			#> S 2  304
	fldcw 304(%rbx)				#> L 2  304
	stmxcsr 308(%rbx)			#> S 4  308
	ldmxcsr 308(%rbx)			#> L 4  308
	vmaskmovps 320(%rbx), %xmm2, %xmm6	#> L 4 c 320
						#> L 4 c undone
						#> L 4 c 328
						#> L 4 c undone
	vpmaskmovd %xmm6, %xmm2, 336(%rbx)	#> S 4 c 336
						#> S 4 c undone
						#> S 4 c 344
						#> S 4 c undone
	vpgatherdd %xmm3, 352(%rbx,%xmm1,4), %xmm6	#> L 4 c 352
						#> L 4 c undone
						#> L 4 c 368
						#> L 4 c undone
	push 384(%rbx)				#> L 8  384
						#> S 8  8184
	pop 392(%rbx)				#> L 8  8184
						#> S 8  392
	lea 400(%rbx), %rsi
	lea 500(%rbx), %rdi
	cld
	rep movsl				#> L 4  400
						#> S 4  500
						#> L 4  404
						#> S 4  504
	mov $3, %ecx
	xor %eax, %eax
	rep stosb				#> S 1  508
						#> S 1  509
						#> S 1  510
	mov $9, %ecx
	mov $7, %eax
	lea text(%rip), %rdi
	repne scasb				#> L 1  1024
						#> L 1  1025
						#> L 1  1026
	movsq					#> L 8  408
						#> S 8  1027
	call *next(%rip)			#> L 8  1064
						#> S 8  8184
	jmp after
target:	ret					#> L 8  8184
after:	fxsave 2048(%rbx)			#> S 160 h 2048
						#> S 8 h 2072
						#> S 16  2208
						#> S 16  2224
						#> S 16  2240
						#> S 16  2256
						#> S 16  2272
						#> S 16  2288
						#> S 16  2304
						#> S 16  2320
						#> S 16  2336
						#> S 16  2352
						#> S 16  2368
						#> S 16  2384
						#> S 16  2400
						#> S 16  2416
						#> S 16  2432
						#> S 16  2448
						# VEX makes x87 state, MXCSR and each register one access
	fxrstor 2048(%rbx)			#> L 160 h 2048
						#> L 8 h 2072
						#> L 16  2208
						#> L 16  2224
						#> L 16  2240
						#> L 16  2256
						#> L 16  2272
						#> L 16  2288
						#> L 16  2304
						#> L 16  2320
						#> L 16  2336
						#> L 16  2352
						#> L 16  2368
						#> L 16  2384
						#> L 16  2400
						#> L 16  2416
						#> L 16  2432
						#> L 16  2448
probe_end:
	mov $60, %eax
	xor %edi, %edi
	syscall

	.data
	.balign 64
data:	.fill 1024
text:	.byte 1, 2, 7, 4
	.balign 8
	.fill 32
next:	.quad target
	.balign 64
	.fill 8192 - (. - data)
stack:	.fill 64		# VEX reads (%rsp) for masked-off elements of a gather
	.section .note.GNU-stack, "", @progbits
