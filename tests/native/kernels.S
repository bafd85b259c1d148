# SPDX-License-Identifier: GPL-2.0-or-later
# The microbenchmarks: each a function run(rdi = rounds, rsi = memory, rdx = bytes of it) that makes `ops`
# operations a round, and one row of the table that micro.c walks. What is measured is in the text of each.
# Rules: the chain under test never waits for the loop's counter; no chain consists of ADD with an immediate
# (Golden Cove does those at rename); floating-point values stay normal. Branches start at multiples of 16
# bytes, so that none crosses or ends at a 32-byte boundary (erratum SKX102, "JCC erratum").
	.intel_syntax noprefix

# memory: what the buffer of a benchmark is
	.equ NONE, 0
	.equ L1, 1
	.equ L2, 2
	.equ L3, 3
	.equ DRAM, 4
	# the buffer is a cycle of pointers in random order, one a line; rsi: where the last run stopped
	.equ CHASE, 8
	.equ AVX2, 16		# needs AVX2 and FMA
	.equ BMI2, 32

	.macro BENCH name, ops, needs, text
	.pushsection .rodata.text, "a", @progbits
8001:	.asciz "\name"
8002:	.asciz "\text"
	.popsection
	.pushsection benches, "a", @progbits
	.quad 8001b, 8002b, run_\name
	.long \ops, \needs
	.popsection
	.text
	.p2align 6
	.globl run_\name
	.type run_\name, @function
run_\name:
	push rbx
	push rbp
	push r12
	push r13
	push r14
	push r15
	mov r15, rdx
	mov rbp, rsi
	mov eax, 0x12345679
	mov ebx, 1
	mov ecx, 3
	mov r8d, 8
	mov r9d, 9
	mov r10d, 10
	mov r11d, 11
	mov r12d, 12
	mov r13d, 13
	mov r14d, 14
	.endm
	.macro LOOP
	.p2align 6
7001:
	.endm
	.macro END
	dec rdi
	jnz 7001b
	jmp leave
	.endm
	.macro VECTORS			# all sixteen: 1.0 in every lane; xmm15: 0.0
	.irp n, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14
	vbroadcastss ymm\n, [rip + one]
	.endr
	vxorps xmm15, xmm15, xmm15
	.endm
	.macro SSE_VECTORS
	.irp n, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14
	movss xmm\n, [rip + one]
	shufps xmm\n, xmm\n, 0
	.endr
	xorps xmm15, xmm15
	.endm

	.section .rodata
	.p2align 5
one:	.float 1.0

	.text
	.p2align 6
leave:	vzeroupper
	pop r15
	pop r14
	pop r13
	pop r12
	pop rbp
	pop rbx
	ret

# --- latency of integer instructions: chains ---
	.macro CHAIN name, ops, text, one:vararg
	BENCH \name, \ops, NONE, "\text"
	LOOP
	.rept \ops
	\one
	.endr
	END
	.endm

CHAIN add,      128, "ADD r64, r64, dependent",				add rax, rbx
CHAIN adc,      128, "ADC r64, r64, dependent",				adc rax, rbx
CHAIN imul,     128, "IMUL r64, r64, dependent",			imul rax, rbx
CHAIN lea2,     128, "LEA r64, [r64 + r64], dependent",			lea rax, [rax + rbx]
CHAIN lea3,     128, "LEA r64, [r64 + r64 + disp8], dependent",		lea rax, [rax + rbx + 8]
CHAIN lea_scaled, 128, "LEA r64, [r64 + r64 * 8], dependent",		lea rax, [rbx + rax * 8]
CHAIN cmov,     128, "CMOVNE r64, r64, dependent",			cmovne rax, rbx
CHAIN shl,      128, "SHL r64, imm8, dependent",			shl rax, 3
CHAIN shl_cl,   128, "SHL r64, CL, dependent",				shl rax, cl
CHAIN shld,     128, "SHLD r64, r64, imm8, dependent",			shld rax, rbx, 5
CHAIN bswap,    128, "BSWAP r64, dependent",				bswap rax
CHAIN xchg,     128, "XCHG r64, r64, dependent",			xchg rax, rbx
CHAIN bsf,      128, "BSF r64, r64, dependent",				bsf rax, rax
CHAIN popcnt,   128, "POPCNT r64, r64, dependent",			popcnt rax, rax
CHAIN crc32,    128, "CRC32 r64, r64, dependent",			crc32 rax, rbx
	BENCH pdep, 128, BMI2, "PDEP r64, r64, r64, dependent"
	LOOP
	.rept 128
	pdep rax, rax, rbx
	.endr
	END
	BENCH div32, 32, NONE, "DIV r32, dependent: 00000000:12345679H by 1"
	xor edx, edx
	LOOP
	.rept 32
	div ebx
	.endr
	END
	BENCH div64, 32, NONE, "DIV r64, dependent: 0:0000000012345679H by 1"
	xor edx, edx
	LOOP
	.rept 32
	div rbx
	.endr
	END
	BENCH div64_wide, 32, NONE, "DIV r64, dependent: 3FFFFFFFFFFFFFFFH:0 by 7FFFFFFFFFFFFFFFH"
	mov rbx, 0x7fffffffffffffff
	mov r8, 0x3fffffffffffffff
	LOOP
	.rept 32
	mov rdx, r8			# and rax: the quotient before
	div rbx
	.endr
	END

# --- latency of vector instructions ---
	.macro VECTOR_CHAIN name, ops, needs, text, one:vararg
	BENCH \name, \ops, \needs, "\text"
	.if \needs & AVX2
	VECTORS
	.else
	SSE_VECTORS
	.endif
	LOOP
	.rept \ops
	\one
	.endr
	END
	.endm

VECTOR_CHAIN addps,    128, NONE, "ADDPS xmm, xmm, dependent",			addps xmm0, xmm15
VECTOR_CHAIN mulps,    128, NONE, "MULPS xmm, xmm, dependent",			mulps xmm0, xmm1
VECTOR_CHAIN divps,    64,  NONE, "DIVPS xmm, xmm, dependent",			divps xmm0, xmm1
VECTOR_CHAIN sqrtps,   64,  NONE, "SQRTPS xmm, xmm, dependent",			sqrtps xmm0, xmm0
VECTOR_CHAIN paddd,    128, NONE, "PADDD xmm, xmm, dependent",			paddd xmm0, xmm1
VECTOR_CHAIN pshufb,   128, NONE, "PSHUFB xmm, xmm, dependent",			pshufb xmm0, xmm1
VECTOR_CHAIN pmulld,   64,  NONE, "PMULLD xmm, xmm, dependent",			pmulld xmm0, xmm1
VECTOR_CHAIN cvtdq2ps, 128, NONE, "CVTDQ2PS xmm, xmm, dependent",		cvtdq2ps xmm0, xmm0
VECTOR_CHAIN vaddps,   128, AVX2, "VADDPS ymm, ymm, ymm, dependent",		vaddps ymm0, ymm0, ymm15
VECTOR_CHAIN vpaddd,   128, AVX2, "VPADDD ymm, ymm, ymm, dependent",		vpaddd ymm0, ymm0, ymm1
VECTOR_CHAIN vfma,     128, AVX2, "VFMADD231PS ymm, ymm, ymm, dependent",	vfmadd231ps ymm0, ymm15, ymm1
	BENCH movq_pair, 64, NONE, "MOVQ xmm, r64 and MOVQ r64, xmm, dependent: the pair"
	LOOP
	.rept 64
	movq xmm0, rax
	movq rax, xmm0
	.endr
	END

# --- loads and forwarding ---
	BENCH load_use, 64, L1, "MOV r64, [r64], the address from the load before"
	mov [rsi], rsi
	LOOP
	.rept 64
	mov rsi, [rsi]
	.endr
	END
	BENCH load_use_indexed, 64, L1, "MOV r64, [r64 + r64], the address from the load before"
	mov [rsi], rsi
	xor ebx, ebx
	LOOP
	.rept 64
	mov rsi, [rsi + rbx]
	.endr
	END
	BENCH forward, 64, L1, "MOV [m64], r64 and MOV r64, [m64] of the same address register: the pair"
	LOOP
	.rept 64
	mov [rsi + 64], rax
	mov rax, [rsi + 64]
	.endr
	END
	BENCH forward_other, 64, L1, "the same pair, the load through another address register"
	lea r8, [rsi + 64]
	LOOP
	.rept 64
	mov [rsi + 64], rax
	mov rax, [r8]
	.endr
	END
	BENCH forward_narrow, 64, L1, "MOV [m64], r64 and MOV r32, [m32] of its lower half: the pair"
	LOOP
	.rept 64
	mov [rsi + 64], rax
	mov eax, [rsi + 64]
	.endr
	END
	BENCH forward_vector, 64, L1, "MOVAPS [m128], xmm and MOVAPS xmm, [m128]: the pair"
	LOOP
	.rept 64
	movaps [rsi + 64], xmm0
	movaps xmm0, [rsi + 64]
	.endr
	END
	BENCH forward_blocked, 32, L1, "two MOV [m32], r32 and a MOV r64, [m64] of both"
	LOOP
	.rept 32
	mov [rsi + 64], eax
	mov [rsi + 68], eax
	mov rax, [rsi + 64]
	.endr
	END
	.macro CHASE_OF name, memory, text
	BENCH \name, 32, \memory | CHASE, "\text"
	LOOP
	.rept 32
	mov rsi, [rsi]
	.endr
	dec rdi
	jnz 7001b
	mov rax, rsi			# the next run goes on from here
	jmp leave
	.endm
CHASE_OF chase_l1, L1, "pointer chase within half of L1"
CHASE_OF chase_l2, L2, "pointer chase within L2"
CHASE_OF chase_l3, L3, "pointer chase within L3"
CHASE_OF chase_memory, DRAM, "pointer chase in memory, 4 KB pages"

# Streams: a round is 4 KB, an operation a line of 64 bytes; over the buffer again and again
	.macro STREAM name, memory, text, one:vararg
	BENCH \name, 64, \memory | AVX2, "\text"
	mov r8, rsi
	lea r9, [rsi + rdx]
	LOOP
	.set at, 0
	.rept 64
	\one
	.set at, at + 64
	.endr
	add rsi, 4096
	cmp rsi, r9
	cmovae rsi, r8
	END
	.endm
	.macro READ_LINE
	vmovdqa ymm0, [rsi + at]
	vmovdqa ymm1, [rsi + at + 32]
	.endm
	.macro WRITE_LINE
	vmovdqa [rsi + at], ymm0
	vmovdqa [rsi + at + 32], ymm0
	.endm
STREAM read_l1, L1, "read of L1 by VMOVDQA ymm, a line", READ_LINE
STREAM read_l2, L2, "read of L2, a line", READ_LINE
STREAM read_l3, L3, "read of L3, a line", READ_LINE
STREAM read_memory, DRAM, "read of memory, a line", READ_LINE
STREAM write_l1, L1, "write of L1 by VMOVDQA ymm, a line", WRITE_LINE
STREAM write_l2, L2, "write of L2, a line", WRITE_LINE
STREAM write_l3, L3, "write of L3, a line", WRITE_LINE
STREAM write_memory, DRAM, "write of memory, a line", WRITE_LINE

# --- branches ---
# Sixteen conditional branches on the upper bits of a hash of a 64-bit counter: none can learn them.
# ADD shifts the next bit into CF.
	BENCH branch_random, 16, NONE, "a conditional branch on a random bit, taken or not"
	mov r9, 0x9e3779b97f4a7c15
	mov r10, 0xbf58476d1ce4e5b9
	mov r8, [rip + counter]		# another sequence at each run, or the runs would be learnt
	LOOP
	add r8, r9
	mov rax, r8
	shr rax, 30
	xor rax, r8
	imul rax, r10
	.rept 16
	.p2align 4
	add rax, rax
	jnc 7002f
	mov r12, r13
7002:
	.endr
	.p2align 4
	dec rdi
	jnz 7001b
	mov [rip + counter], r8
	jmp leave
	.pushsection .bss
	.p2align 6
counter: .quad 0
	.popsection
	BENCH branch_predicted, 16, NONE, "the same branches, every other one taken"
	mov r9, 0x9e3779b97f4a7c15
	mov r10, 0xaaaaaaaaaaaaaaaa
	xor r8d, r8d
	LOOP
	add r8, r9
	mov rax, r8
	shr rax, 30
	xor rax, r8
	mov rax, r10
	.rept 16
	.p2align 4
	add rax, rax
	jnc 7002f
	mov r12, r13
7002:
	.endr
	.p2align 4
	END
	BENCH not_taken, 256, NONE, "a conditional branch that is not taken, and a NOP"
	test rdi, rdi
	LOOP
	.rept 256
	jz leave			# ZF: of the DEC
	.byte 0x66, 0x2e, 0x0f, 0x1f, 0x84, 0, 0, 0, 0, 0
	.endr
	END
	BENCH taken, 64, NONE, "JMP to the next but one of 16 bytes"
	LOOP
	.rept 64
	jmp 7002f
	.p2align 4
7002:
	.endr
	END
	BENCH loop_shortest, 1, NONE, "DEC and JNZ that is taken: the whole loop"
	.p2align 6
7001:	END
	BENCH call_return, 32, NONE, "CALL and RET: the pair"
	LOOP
	.rept 32
	call empty
	.p2align 4
	.endr
	END
	.p2align 6
empty:	ret

# --- front end ---
	.macro NOP4
	.byte 0x0f, 0x1f, 0x40, 0
	.endm
	.macro NOP8
	.byte 0x0f, 0x1f, 0x84, 0, 0, 0, 0, 0
	.endm
	.macro STRAIGHT name, ops, text, one:vararg
	BENCH \name, \ops, NONE, "\text"
	LOOP
	.rept \ops
	\one
	.endr
	END
	.endm
STRAIGHT nop1_decoded, 16384, "NOP of 1 byte, straight on for 16 KB: more than the uop cache holds",	nop
STRAIGHT nop4_decoded, 7168, "NOP of 4 bytes, straight on for 28 KB: more than the uop cache holds",	NOP4
STRAIGHT nop8_straight, 3072, "NOP of 8 bytes, 24 KB: more than Skylake's uop cache",	NOP8
STRAIGHT nop8_l2, 16384, "NOP of 8 bytes, straight on for 128 KB: code from L2",			NOP8
STRAIGHT lcp_decoded, 7168, "TEST AX, imm16 (length-changing prefix), straight on for 28 KB",		test ax, 0x1234
STRAIGHT nop4_loop, 512, "NOP of 4 bytes in a loop of 2 KB: from the uop cache",			NOP4
STRAIGHT xor_zero, 512, "XOR r32, r32 of the same register in a loop of 1 KB",			xor eax, eax

# --- ports: independent instructions ---
	.macro PORTS name, text, one:vararg
	BENCH \name, 120, NONE, "\text"
	LOOP
	.rept 12
	.irp r, rax, rbx, rcx, rdx, r8, r9, r10, r11, r12, r13
	\one \r
	.endr
	.endr
	END
	.endm
	.macro P_ADD r
	add \r, rbp
	.endm
	.macro P_SHL r
	shl \r, 3
	.endm
	.macro P_IMUL r
	imul \r, rbp
	.endm
	.macro P_POPCNT r
	popcnt \r, rbp
	.endm
	.macro P_LEA2 r
	lea \r, [\r + rbp]
	.endm
	.macro P_LEA3 r
	lea \r, [\r + rbp + 8]
	.endm
PORTS ports_add, "ADD r64, r64, independent", P_ADD
PORTS ports_shl, "SHL r64, imm8, independent", P_SHL
PORTS ports_imul, "IMUL r64, r64, independent", P_IMUL
PORTS ports_popcnt, "POPCNT r64, r64, independent", P_POPCNT
PORTS ports_lea2, "LEA r64, [r64 + r64], independent", P_LEA2
PORTS ports_lea3, "LEA r64, [r64 + r64 + disp8], independent", P_LEA3
	BENCH ports_load, 120, L1, "MOV r64, [m64], independent, L1"
	LOOP
	.rept 12
	.set at, 0
	.irp r, rax, rbx, rcx, rdx, r8, r9, r10, r11, r12, r13
	mov \r, [rsi + at]
	.set at, at + 64
	.endr
	.endr
	END
	BENCH ports_store, 120, L1, "MOV [m64], r64, one line"
	LOOP
	.rept 12
	.set at, 0
	.irp r, rax, rbx, rcx, rdx, r8, r9, r10, r11, r12, r13
	mov [rsi + (at & 56)], \r
	.set at, at + 8
	.endr
	.endr
	END
	.macro VECTOR_PORTS name, text, one:vararg
	BENCH \name, 120, AVX2, "\text"
	VECTORS
	LOOP
	.rept 12
	.irp n, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9
	\one ymm\n
	.endr
	.endr
	END
	.endm
	.macro V_PADDD r
	vpaddd \r, \r, ymm10
	.endm
	.macro V_ADDPS r
	vaddps \r, \r, ymm15
	.endm
	.macro V_FMA r
	vfmadd231ps \r, ymm15, ymm10
	.endm
	.macro V_PSHUFB r
	vpshufb \r, ymm10, ymm11
	.endm
	.macro V_DIVPS r
	vdivps \r, ymm10, ymm11
	.endm
VECTOR_PORTS ports_vpaddd, "VPADDD ymm, independent", V_PADDD
VECTOR_PORTS ports_vaddps, "VADDPS ymm, independent", V_ADDPS
VECTOR_PORTS ports_vfma, "VFMADD231PS ymm, independent", V_FMA
VECTOR_PORTS ports_vpshufb, "VPSHUFB ymm, independent", V_PSHUFB
VECTOR_PORTS ports_vdivps, "VDIVPS ymm, independent", V_DIVPS

	.section .note.GNU-stack, "", @progbits
