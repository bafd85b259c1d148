/* SPDX-License-Identifier: GPL-2.0-or-later
 * The exact uops of common instructions on both cores: slots, kinds, ports, latencies, units, registers, memory slots.
 *
 * A uop reads: [*] kind [pPORTS/LATENCY] [:bBUSY:uUNIT] [SOURCES>RESULTS] [sSLOT:BYTES]; * opens an issue slot.
 * Slots in front: L load, S store, A compare-and-swap (both), P prefetch, with the bytes accessed.
 * "=" for Golden Cove: as Skylake.
 */
#include "isa_fixture.h"

static const struct { int word_bytes; const char *hex, *slots, *skylake, *golden_cove; } rows[] = {
	{ 8, "48 01 d8", "",	/* add rax, rbx */
	  "*op p0156/1 rax,rbx>rax,flags,cf",
	  "*op p0156a/1 rax,rbx>rax,flags,cf" },
	{ 8, "48 03 06", "L8",	/* add rax, [rsi] */
	  "*load p23/0 rsi>t0 s0:8; op p0156/1 t0,rax>rax,flags,cf",
	  "*load p23b/0 rsi>t0 s0:8; op p0156a/1 t0,rax>rax,flags,cf" },
	{ 8, "48 03 04 0e", "L8",	/* add rax, [rsi+rcx*1] */
	  "*load p23/1 rsi,rcx>t0 s0:8; op p0156/1 t0,rax>rax,flags,cf",
	  "*load p23b/0 rsi,rcx>t0 s0:8; op p0156a/1 t0,rax>rax,flags,cf" },
	{ 8, "48 01 06", "L8 S8",	/* add [rsi], rax */
	  "*load p23/0 rsi>t0 s0:8; op p0156/1 t0,rax>t1,flags,cf; *sta p237/1 rsi> s1:8; std p4/1 t1> s1:8",
	  "*load p23b/0 rsi>t0 s0:8; op p0156a/1 t0,rax>t1,flags,cf; *sta p78/1 rsi> s1:8; std p49/1 t1> s1:8" },
	{ 8, "f0 48 01 06", "A8",	/* lock add [rsi], rax */
	  "*load p23/0 rsi>t0 s0:8; op p0156/1 t0,rax>t1,flags,cf; *op p0156/1; *op p0156/1; *op p0156/1; "
	  "*op p5/1:b20:u3; *sta p237/1 rsi> s0:8; std p4/1 t1> s0:8",
	  "*load p23b/0 rsi>t0 s0:8; op p0156a/1 t0,rax>t1,flags,cf; *op p0156a/1; *op p0156a/1; *op p0156a/1; "
	  "*op p5/1:b17:u3; *sta p78/1 rsi> s0:8; std p49/1 t1> s0:8" },
	{ 8, "48 ff c0", "",	/* inc rax */
	  "*op p0156/1 rax>rax,flags",
	  "*elim p0156a/1 rax>rax,flags" },
	{ 8, "11 d8", "",	/* adc eax, ebx */
	  "*op p06/1 rax,rbx,cf>rax,flags,cf",
	  "=" },
	{ 8, "00 d8", "",	/* add al, bl */
	  "*op p0156/1 rax,rbx>rax,flags,cf",
	  "*op p0156a/1 rax,rbx>rax,flags,cf" },
	{ 8, "66 01 d8", "",	/* add ax, bx */
	  "*op p0156/1 rax,rbx>rax,flags,cf",
	  "*op p0156a/1 rax,rbx>rax,flags,cf" },
	{ 8, "31 c0", "",	/* xor eax, eax */
	  "*elim >rax,flags,cf",
	  "=" },
	{ 8, "30 c0", "",	/* xor al, al */
	  "*op p0156/1 rax>rax,flags,cf",
	  "*op p0156a/1 rax>rax,flags,cf" },
	{ 8, "48 29 db", "",	/* sub rbx, rbx */
	  "*elim >rbx,flags,cf",
	  "=" },
	{ 8, "89 d8", "",	/* mov eax, ebx */
	  "*elim rbx>rax",
	  "=" },
	{ 8, "89 c0", "",	/* mov eax, eax */
	  "*op p0156/1 rax>rax",
	  "*op p0156a/1 rax>rax" },
	{ 8, "66 89 d8", "",	/* mov ax, bx */
	  "*op p0156/1 rbx,rax>rax",
	  "*op p0156a/1 rbx,rax>rax" },
	{ 8, "88 d8", "",	/* mov al, bl */
	  "*op p0156/1 rbx,rax>rax",
	  "*op p0156a/1 rbx,rax>rax" },
	{ 8, "8a 06", "L1",	/* mov al, [rsi] */
	  "*load p23/0 rsi>t0 s0:1; op p0156/1 t0,rax>rax",
	  "*load p23b/0 rsi>t0 s0:1; op p0156a/1 t0,rax>rax" },
	{ 8, "8b 06", "L4",	/* mov eax, [rsi] */
	  "*load p23/0 rsi>rax s0:4",
	  "*load p23b/0 rsi>rax s0:4" },
	{ 8, "8b 86 00 08 00 00", "L4",	/* mov eax, [rsi+0x800] */
	  "*load p23/1 rsi>rax s0:4",
	  "*load p23b/0 rsi>rax s0:4" },
	{ 8, "8b 04 0e", "L4",	/* mov eax, [rsi+rcx*1] */
	  "*load p23/1 rsi,rcx>rax s0:4",
	  "*load p23b/0 rsi,rcx>rax s0:4" },
	{ 8, "89 06", "S4",	/* mov [rsi], eax */
	  "*sta p237/1 rsi> s0:4; std p4/1 rax> s0:4",
	  "*sta p78/1 rsi> s0:4; std p49/1 rax> s0:4" },
	{ 8, "89 04 0e", "S4",	/* mov [rsi+rcx*1], eax */
	  "*sta p23/1 rsi,rcx> s0:4; std p4/1 rax> s0:4",
	  "*sta p78/1 rsi,rcx> s0:4; std p49/1 rax> s0:4" },
	{ 8, "c7 06 01 00 00 00", "S4",	/* mov dword ptr [rsi], 0x01 */
	  "*sta p237/1 rsi> s0:4; std p4/1 s0:4",
	  "*sta p78/1 rsi> s0:4; std p49/1 s0:4" },
	{ 8, "0f b6 c3", "",	/* movzx eax, bl */
	  "*elim rbx>rax",
	  "=" },
	{ 8, "0f b6 c7", "",	/* movzx eax, bh */
	  "*op p0156/1 rbx>rax",
	  "*op p0156a/1 rbx>rax" },
	{ 8, "0f b6 06", "L1",	/* movzx eax, byte ptr [rsi] */
	  "*load p23/0 rsi>rax s0:1",
	  "*load p23b/0 rsi>rax s0:1" },
	{ 8, "48 0f be c3", "",	/* movsx rax, bl */
	  "*op p0156/1 rbx>rax",
	  "*op p15a/1 rbx>rax" },
	{ 8, "0f 44 c1", "",	/* cmovz eax, ecx */
	  "*op p06/1 rcx,flags,rax>rax",
	  "=" },
	{ 8, "0f 47 c1", "",	/* cmovnbe eax, ecx */
	  "*op p06/1 rcx,flags,cf>t0; *op p06/1 t0,rax>rax",
	  "*op p06/1 flags,cf>t0; *op p06/1 rcx,t0,rax>rax" },
	{ 8, "0f 92 c0", "",	/* setb al */
	  "*op p06/1 cf,rax>rax",
	  "*op p06/1; *op p06/1 cf,rax>rax" },
	{ 8, "0f 96 06", "S1",	/* setbe [rsi] */
	  "*op p06/1 flags,cf>t0; *op p06/1 t0>t1; *sta p237/1 rsi> s0:1; std p4/1 t1> s0:1",
	  "*op p06/1 flags,cf>t0; *op p06/1 t0>t1; *sta p78/1 rsi> s0:1; std p49/1 t1> s0:1" },
	{ 8, "48 93", "",	/* xchg rbx, rax */
	  "*op p0156/1 rax>t0; *op p0156/1 rbx>t1,rax; *op p0156/1 t0,t1>rbx",
	  "*op p0156a/1 rax>t0; *op p0156a/1 rbx>t1,rax; *op p0156a/1 t0,t1>rbx" },
	{ 8, "48 87 06", "A8",	/* xchg [rsi], rax */
	  "*load p23/0 rsi>t0 s0:8; op p0156/1 t0,rax>t1; *op p0156/1 t1>t2,rax; *op p0156/1; *op p0156/1; "
	  "*op p0156/1; *op p5/1:b20:u3; *sta p237/1 rsi> s0:8; std p4/1 t2> s0:8",
	  "*load p23b/0 rsi>t0 s0:8; op p0156a/1 t0,rax>t1; *op p0156a/1 t1>t2,rax; *op p0156a/1; *op p0156a/1; "
	  "*op p0156a/1; *op p5/1:b17:u3; *sta p78/1 rsi> s0:8; std p49/1 t2> s0:8" },
	{ 8, "48 8d 04 1e", "",	/* lea rax, [rsi+rbx*1] */
	  "*op p15/1 rsi,rbx>rax",
	  "*op p0156a/1 rsi,rbx>rax" },
	{ 8, "48 8d 04 de", "",	/* lea rax, [rsi+rbx*8] */
	  "*op p15/1 rsi,rbx>rax",
	  "*op p156/2 rsi,rbx>rax" },
	{ 8, "48 8d 44 1e 08", "",	/* lea rax, [rsi+rbx*1+0x08] */
	  "*op p1/3 rsi,rbx>rax",
	  "*op p0156a/1 rsi,rbx>rax" },
	{ 8, "48 8d 44 de 08", "",	/* lea rax, [rsi+rbx*8+0x08] */
	  "*op p1/3 rsi,rbx>rax",
	  "*op p156/2 rsi,rbx>rax" },
	{ 8, "48 83 c0 08", "",	/* add rax, 0x08 */
	  "*op p0156/1 rax>rax,flags,cf",
	  "*elim p0156a/1 rax>rax,flags,cf" },
	{ 8, "48 8d 05 00 01 00 00", "",	/* lea rax, [0x0000000000001107] */
	  "*op p15/1 >rax",
	  "*op p0156a/1 >rax" },
	{ 8, "48 0f af c3", "",	/* imul rax, rbx */
	  "*op p1/3 rax,rbx>rax,flags,cf",
	  "=" },
	{ 8, "48 6b c3 07", "",	/* imul rax, rbx, 0x07 */
	  "*op p1/3 rbx>rax,flags,cf",
	  "=" },
	{ 8, "48 f7 e3", "",	/* mul rbx */
	  "*op p1/3 rbx,rax>t0,rax; *op p5/1 t0>rdx,flags,cf",
	  "=" },
	{ 8, "f7 e3", "",	/* mul ebx */
	  "*op p1/3 rbx,rax>t0; *op p0156/1 t0>t1,rax; *op p06/1 t1>rdx,flags,cf",
	  "*op p1/3 rbx,rax>t0; *op p0156a/1 t0>t1,rax; *op p06/1 t1>rdx,flags,cf" },
	{ 8, "f6 e3", "",	/* mul bl */
	  "*op p1/3 rbx,rax>rax,flags,cf",
	  "=" },
	{ 8, "c4 e2 fb f6 c3", "",	/* mulx rax, rax, rbx */
	  "*op p1/3 rbx,rdx>t0; *op p5/1 t0>rax",
	  "=" },
	{ 8, "d3 e0", "",	/* shl eax, cl */
	  "*op p06/1 rax,rcx,flags,cf>t0,rax; *op p06/1; *op p06/1 t0>flags,cf",
	  "*op p06/1 rax,rcx,flags,cf>flags,cf; *op p06/1 rax,rcx>rax" },
	{ 8, "c1 e0 03", "",	/* shl eax, 0x03 */
	  "*op p06/1 rax>rax,flags,cf",
	  "=" },
	{ 8, "d1 c0", "",	/* rol eax, 0x01 */
	  "*op p06/1 rax>t0,rax; *op p06/1 t0>cf",
	  "=" },
	{ 8, "c4 e2 f1 f7 c3", "",	/* shlx rax, rbx, rcx */
	  "*op p06/1 rbx,rcx>rax",
	  "=" },
	{ 8, "0f a3 d8", "",	/* bt eax, ebx */
	  "*op p06/1 rax,rbx>cf",
	  "*op p1/1 rax,rbx>cf" },
	{ 8, "0f bc c3", "",	/* bsf eax, ebx */
	  "*op p1/3 rbx,rax>rax,flags,cf",
	  "=" },
	{ 8, "f3 0f b8 c3", "",	/* popcnt eax, ebx */
	  "*op p1/3 rbx,rax>rax,flags,cf",
	  "*op p1/3 rbx>rax,flags,cf" },
	{ 8, "f3 0f bd c3", "",	/* lzcnt eax, ebx */
	  "*op p1/3 rbx>rax,flags,cf",
	  "=" },
	{ 8, "0f c8", "",	/* bswap eax */
	  "*op p15/1 rax>rax",
	  "*op p1/1 rax>rax" },
	{ 8, "48 0f c8", "",	/* bswap rax */
	  "*op p06/1 rax>t0; *op p15/1 t0>rax",
	  "*op p06/1 rax>t0; *op p1/1 t0>rax" },
	{ 8, "0f 38 f0 06", "L4",	/* movbe eax, [rsi] */
	  "*load p23/0 rsi>t0 s0:4; op p15/1 t0>rax",
	  "*load p23b/0 rsi>t0 s0:4; op p1/1 t0>rax" },
	{ 8, "48 98", "",	/* cdqe */
	  "*op p0156/1 rax>rax",
	  "*op p15/1 rax>rax" },
	{ 8, "48 99", "",	/* cqo */
	  "*op p06/1 rax>rdx",
	  "=" },
	{ 8, "f8", "",	/* clc */
	  "*elim >cf",
	  "=" },
	{ 8, "f9", "",	/* stc */
	  "*op p0156/1 >cf",
	  "*op p0156a/1 >cf" },
	{ 8, "50", "S8",	/* push rax */
	  "*sta p237/1 rsp> s0:8; std p4/1 rax> s0:8",
	  "*sta p78/1 rsp> s0:8; std p49/1 rax> s0:8" },
	{ 8, "54", "S8",	/* push rsp */
	  "*sta p237/1 rsp> s0:8; std p4/1 rsp> s0:8",
	  "*sta p78/1 rsp> s0:8; std p49/1 rsp> s0:8" },
	{ 8, "58", "L8",	/* pop rax */
	  "*load p23/0 rsp>rax s0:8",
	  "*load p23b/0 rsp>rax s0:8" },
	{ 8, "6a 01", "S8",	/* push 0x01 */
	  "*sta p237/1 rsp> s0:8; std p4/1 s0:8",
	  "*sta p78/1 rsp> s0:8; std p49/1 s0:8" },
	{ 8, "ff 36", "L8 S8",	/* push [rsi] */
	  "*load p23/0 rsi>t0 s0:8; *sta p237/1 rsp> s1:8; std p4/1 t0> s1:8",
	  "*load p23b/0 rsi>t0 s0:8; *sta p78/1 rsp> s1:8; std p49/1 t0> s1:8" },
	{ 8, "8f 06", "L8 S8",	/* pop [rsi] */
	  "*load p23/0 rsp>t0 s0:8; *sta p237/1 rsi> s1:8; std p4/1 t0> s1:8",
	  "*load p23b/0 rsp>t0 s0:8; *sta p78/1 rsi> s1:8; std p49/1 t0> s1:8" },
	{ 8, "c9", "L8",	/* leave */
	  "*op p0156/1 rbp>rsp; *op p0156/1; *load p23/0 rbp>rbp s0:8",
	  "*op p0156a/1 rbp>rsp; *op p0156a/1; *load p23b/0 rbp>rbp s0:8" },
	{ 8, "e8 00 00 00 00", "S8",	/* call 0x0000000000001005 */
	  "*sta p237/1 rsp> s0:8; std p4/1 s0:8; *branch p6/1",
	  "*sta p78/1 rsp> s0:8; std p49/1 s0:8; *branch p6/1" },
	{ 8, "ff d0", "S8",	/* call rax */
	  "*sta p237/1 rsp> s0:8; std p4/1 s0:8; *branch p6/1 rax>",
	  "*sta p78/1 rsp> s0:8; std p49/1 s0:8; *branch p6/1 rax>" },
	{ 8, "ff 16", "L8 S8",	/* call [rsi] */
	  "*load p23/0 rsi>t0 s0:8; *sta p237/1 rsp> s1:8; std p4/1 s1:8; *branch p6/1 t0>",
	  "*load p23b/0 rsi>t0 s0:8; *sta p78/1 rsp> s1:8; std p49/1 s1:8; *branch p6/1 t0>" },
	{ 8, "c3", "L8",	/* ret */
	  "*load p23/0 rsp>t0 s0:8; branch p6/1 t0>",
	  "*load p23b/0 rsp>t0 s0:8; branch p6/1 t0>" },
	{ 8, "c2 08 00", "L8",	/* ret 0x08 */
	  "*load p23/0 rsp>t0 s0:8; op p0156/1; *branch p6/1 t0>",
	  "*load p23b/0 rsp>t0 s0:8; op p0156a/1; *branch p6/1 t0>" },
	{ 8, "eb 00", "",	/* jmp 0x0000000000001002 */
	  "*branch p6/1",
	  "=" },
	{ 8, "ff e0", "",	/* jmp rax */
	  "*branch p6/1 rax>",
	  "=" },
	{ 8, "ff 26", "L8",	/* jmp [rsi] */
	  "*load p23/0 rsi>t0 s0:8; branch p6/1 t0>",
	  "*load p23b/0 rsi>t0 s0:8; branch p6/1 t0>" },
	{ 8, "e3 00", "",	/* jrcxz 0x0000000000001002 */
	  "*op p0156/1 rcx>t0; *branch p06/1 t0>",
	  "*op p0156a/1 rcx>t0; *branch p06/1 t0>" },
	{ 8, "90", "",	/* nop */
	  "*nop",
	  "=" },
	{ 8, "0f 1f 40 00", "",	/* nop [rax], eax */
	  "*nop",
	  "=" },
	{ 8, "f3 90", "",	/* pause */
	  "*op p0156/1; *op p0156/1; *op p0156/1; *serialize p6/140",
	  "*op p0156a/1; *op p0156a/1; *op p0156a/1; *serialize p6/158" },
	{ 8, "0f ae 3e", "F0",	/* clflush [rsi]; as the tracer has it: without a size */
	  "*op p0156/1; *op p0156/1; *flush p237/2 rsi>t0 s0:1; *op p4/1:b66:u3 t0>",
	  "*op p0156a/1; *op p0156a/1; *flush p78/2 rsi>t0 s0:1; *op p49/1:b92:u3 t0>" },
	{ 8, "66 0f ae 3e", "F0",	/* clflushopt [rsi] */
	  "*op p0156/1; *op p0156/1; *flush p237/2 rsi>t0 s0:1; *op p4/1:b56:u3 t0>",
	  "*op p0156a/1; *op p0156a/1; *flush p78/2 rsi>t0 s0:1; *op p49/1:b4:u3 t0>" },
	{ 8, "66 0f ae 36", "F0",	/* clwb [rsi] */
	  "*op p0156/1; *op p0156/1; *flush p237/2 rsi>t0 s0:1; *op p4/1:b56:u3 t0>",
	  "*op p0156a/1; *op p0156a/1; *flush p78/2 rsi>t0 s0:1; *op p49/1:b4:u3 t0>" },
	{ 8, "0f 1c 06", "F0",	/* cldemote [rsi] */
	  "*flush s0:1", "=" },
	{ 8, "0f ae e8", "",	/* lfence */
	  "*lfence p0156/4; *nop",
	  "*lfence p0156a/11; *nop" },
	{ 8, "0f ae f0", "",	/* mfence */
	  "*op p0156/1; *op p0156/1; *mfence p4/31",
	  "*op p0156a/1; *op p0156a/1; *mfence p49/36" },
	{ 8, "0f 18 0e", "P0",	/* prefetcht0 [rsi]; as the tracer has it: without a size */
	  "*load p23/0 rsi> s0:1",
	  "*load p23b/0 rsi> s0:1" },
	{ 8, "0f c3 06", "S4",	/* movnti [rsi], eax */
	  "*sta p237/1 rsi> s0:4; std p4/1 rax> s0:4",
	  "*sta p78/1 rsi> s0:4; std p49/1 rax> s0:4" },
	{ 8, "a4", "L1 S1",	/* movsb */
	  "*load p23/0 rsi>t0 s0:1; *sta p237/1 rdi> s1:1; std p4/1 t0> s1:1; *op p0156/1; "
	  "*op p0156/4 rsi,rdi>rsi,rdi",
	  "*load p23b/0 rsi>t0 s0:1; *sta p78/1 rdi> s1:1; std p49/1 t0> s1:1; *op p0156a/1; "
	  "*op p0156a/4 rsi,rdi>rsi,rdi" },
	{ 8, "a6", "L1 L1",	/* cmpsb */
	  "*load p23/0 rsi>t0 s0:1; *load p23/0 rdi>t1 s1:1; *op p0156/1 t0,t1>flags,cf; *op p0156/1; "
	  "*op p0156/4 rsi,rdi>rsi,rdi",
	  "*load p23b/0 rsi>t0 s0:1; *load p23b/0 rdi>t1 s1:1; *op p0156a/1 t0,t1>flags,cf; *op p0156a/1; "
	  "*op p0156a/4 rsi,rdi>rsi,rdi" },
	{ 8, "aa", "S1",	/* stosb */
	  "*sta p237/1 rdi> s0:1; std p4/1 rax> s0:1; *op p0156/1 rdi>rdi",
	  "*sta p78/1 rdi> s0:1; std p49/1 rax> s0:1; *op p0156a/2 rdi>rdi" },
	{ 8, "ac", "L1",	/* lodsb */
	  "*load p23/0 rsi>t0 s0:1; op p0156/1 t0,rax>rax; *op p0156/1 rsi>rsi",
	  "*load p23b/0 rsi>t0 s0:1; op p0156a/1 t0,rax>rax; *op p0156a/2 rsi>rsi" },
	{ 8, "0f c1 d8", "",	/* xadd eax, ebx */
	  "*op p0156/1 rax,rbx>t0; *op p0156/1 rax,rbx>t1,rbx; *op p0156/1 t0,t1>rax,flags,cf",
	  "*op p0156a/1 rax,rbx>t0; *op p0156a/1 rax,rbx>t1,rbx; *op p0156a/1 t0,t1>rax,flags,cf" },
	{ 8, "0f 58 c1", "",	/* addps xmm0, xmm1 */
	  "*op p01/4 v0,v1>v0",
	  "*op p15/2 v0,v1>v0" },
	{ 8, "f2 0f 58 06", "L8",	/* addsd xmm0, [rsi] */
	  "*load p23/0 rsi>t0 s0:8; op p01/4 t0,v0>v0",
	  "*load p23b/0 rsi>t0 s0:8; op p15/2 t0,v0>v0" },
	{ 8, "c5 f4 58 06", "L32",	/* vaddps ymm0, ymm1, [rsi] */
	  "*load p23/1 rsi>t0 s0:32; op p01/4 t0,v1>v0",
	  "*load p23b/1 rsi>t0 s0:32; op p15/2 t0,v1>v0" },
	{ 8, "c5 f4 58 04 0e", "L32",	/* vaddps ymm0, ymm1, [rsi+rcx*1] */
	  "*load p23/1 rsi,rcx>t0 s0:32; *op p01/4 t0,v1>v0",
	  "*load p23b/1 rsi,rcx>t0 s0:32; *op p15/2 t0,v1>v0" },
	{ 8, "c5 fc 28 04 0e", "L16 L16",	/* vmovaps ymm0, [rsi+rcx*1] */
	  "*load p23/1 rsi,rcx>v0 s0:32",
	  "*load p23b/1 rsi,rcx>v0 s0:32" },
	{ 8, "f2 0f 58 04 0e", "L8",	/* addsd xmm0, [rsi+rcx*1] */
	  "*load p23/1 rsi,rcx>t0 s0:8; op p01/4 t0,v0>v0",
	  "*load p23b/0 rsi,rcx>t0 s0:8; op p15/2 t0,v0>v0" },
	{ 8, "c4 e2 f5 b8 c2", "",	/* vfmadd231pd ymm0, ymm1, ymm2 */
	  "*op p01/4 v0,v1,v2>v0",
	  "=" },
	{ 8, "f2 0f 5e c1", "",	/* divsd xmm0, xmm1 */
	  "*op p0/14:b4:u2 v0,v1>v0",
	  "=" },
	{ 8, "c5 ed 5e c1", "",	/* vdivpd ymm0, ymm2, ymm1 */
	  "*op p0/14:b8:u2 v2,v1>v0",
	  "=" },
	{ 8, "f3 0f 51 c1", "",	/* sqrtss xmm0, xmm1 */
	  "*op p0/12:b3:u2 v1,v0>v0",
	  "=" },
	{ 8, "f2 0f 2a c0", "",	/* cvtsi2sd xmm0, eax */
	  "*op p5/2 rax>t0; *op p01/4 t0,v0>v0",
	  "=" },
	{ 8, "c5 fb 2a c0", "",	/* vcvtsi2sd xmm0, xmm0, eax */
	  "*op p5/2 rax>t0; *op p01/4 t0,v0>v0",
	  "=" },
	{ 8, "f2 0f 2d c0", "",	/* cvtsd2si eax, xmm0 */
	  "*op p01/4 v0>t0; *op p0/2 t0>rax",
	  "=" },
	{ 8, "f2 0f 10 c1", "",	/* movsd xmm0, xmm1 */
	  "*op p5/1 v1,v0>v0",
	  "*op p015/1 v1,v0>v0" },
	{ 8, "f2 0f 10 06", "L8",	/* movsd xmm0, qword ptr [rsi] */
	  "*load p23/0 rsi>v0 s0:8",
	  "*load p23b/0 rsi>v0 s0:8" },
	{ 8, "0f 28 c1", "",	/* movaps xmm0, xmm1 */
	  "*elim v1>v0",
	  "=" },
	{ 8, "0f 28 06", "L16",	/* movaps xmm0, [rsi] */
	  "*load p23/0 rsi>v0 s0:16",
	  "*load p23b/0 rsi>v0 s0:16" },
	{ 8, "0f 29 06", "S16",	/* movaps [rsi], xmm0 */
	  "*sta p237/1 rsi> s0:16; std p4/1 v0> s0:16",
	  "*sta p78/1 rsi> s0:16; std p49/1 v0> s0:16" },
	{ 8, "66 0f ef c0", "",	/* pxor xmm0, xmm0 */
	  "*elim >v0",
	  "=" },
	{ 8, "66 0f ef c1", "",	/* pxor xmm0, xmm1 */
	  "*op p015/1 v0,v1>v0",
	  "=" },
	{ 8, "66 0f 76 c0", "",	/* pcmpeqd xmm0, xmm0 */
	  "*op p01/1 >v0",
	  "=" },
	{ 8, "0f ef c0", "",	/* pxor mm0, mm0 */
	  "*op p05/1 >st0",
	  "=" },
	{ 8, "66 0f 6e c0", "",	/* movd xmm0, eax */
	  "*op p5/2 rax>v0",
	  "=" },
	{ 8, "66 48 0f 7e c0", "",	/* movq rax, xmm0 */
	  "*op p0/2 v0>rax",
	  "=" },
	{ 8, "66 0f 70 c1 00", "",	/* pshufd xmm0, xmm1, 0x00 */
	  "*op p5/1 v1>v0",
	  "*op p15/1 v1>v0" },
	{ 8, "66 0f 63 c1", "",	/* packsswb xmm0, xmm1 */
	  "*op p5/1 v0,v1>v0",
	  "*op p5/3 v0,v1>v0" },
	{ 8, "66 0f 72 f0 03", "",	/* pslld xmm0, 0x03 */
	  "*op p01/1 v0>v0",
	  "=" },
	{ 8, "66 0f f2 c1", "",	/* pslld xmm0, xmm1 */
	  "*op p5/1 v0,v1>t0; *op p01/1 t0>v0",
	  "*op p015/1; *op p01/1 v0,v1>t0; *op p15/1 t0>v0" },
	{ 8, "66 0f 38 40 c1", "",	/* pmulld xmm0, xmm1 */
	  "*op p01/5 v0,v1>t0; *op p01/5 t0>v0",
	  "=" },
	{ 8, "66 0f f6 c1", "",	/* psadbw xmm0, xmm1 */
	  "*op p5/3 v0,v1>v0",
	  "=" },
	{ 8, "0f 12 06", "L8",	/* movlps xmm0, [rsi] */
	  "*load p23/0 rsi>t0 s0:8; op p5/1 t0,v0>v0",
	  "*load p23b/0 rsi>t0 s0:8; op p15/3 t0,v0>v0" },
	{ 8, "66 0f 3a 22 c0 01", "",	/* pinsrd xmm0, eax, 0x01 */
	  "*op p5/2 rax>t0; *op p5/1 t0,v0>v0",
	  "*op p5/2 rax>t0; *op p15/1 t0,v0>v0" },
	{ 8, "66 0f 3a 14 06 01", "S1",	/* pextrb byte ptr [rsi], xmm0, 0x01 */
	  "*op p5/1 v0>t0; *sta p237/1 rsi> s0:1; std p4/1 t0> s0:1",
	  "*op p15/1 v0>t0; *sta p78/1 rsi> s0:1; std p49/1 t0> s0:1" },
	{ 8, "66 0f 38 17 c1", "",	/* ptest xmm0, xmm1 */
	  "*op p0/2 v0,v1>t0; *op p5/1 t0>flags,cf",
	  "*op p0/3 v0,v1>t0; *op p5/1 t0>flags,cf" },
	{ 8, "f2 0f 7c c1", "",	/* haddps xmm0, xmm1 */
	  "*op p5/1 v0,v1>t0; *op p5/1 v0,v1>t1; *op p01/4 t0,t1>v0",
	  "*op p5/1 v0,v1>t0; *op p5/1 v0,v1>t1; *op p15/3 t0,t1>v0" },
	{ 8, "66 0f 38 02 c1", "",	/* phaddd xmm0, xmm1 */
	  "*op p5/1 v0,v1>t0; *op p5/1 v0,v1>t1; *op p015/1 t0,t1>v0",
	  "*op p15/1 v0,v1>t0; *op p15/1 v0,v1>t1; *op p015/1 t0,t1>v0" },
	{ 8, "66 0f 2e c1", "",	/* ucomisd xmm0, xmm1 */
	  "*op p0/2 v0,v1>flags,cf",
	  "*op p0/3 v0,v1>flags,cf" },
	{ 8, "c4 e3 fd 00 c1 00", "",	/* vpermq ymm0, ymm1, 0x00 */
	  "*op p5/3 v1>v0",
	  "=" },
	{ 8, "c4 e3 75 18 06 01", "L16",	/* vinsertf128 ymm0, ymm1, xmmword ptr [rsi], 0x01 */
	  "*load p23/1 rsi>t0 s0:16; *op p015/1 t0,v1>v0",
	  "*load p23b/1 rsi>t0 s0:16; *op p015/1 t0,v1>v0" },
	{ 8, "c4 e2 7d 18 06", "L4",	/* vbroadcastss ymm0, dword ptr [rsi] */
	  "*load p23/1 rsi>v0 s0:4",
	  "*load p23b/1 rsi>v0 s0:4" },
	{ 8, "c4 e2 75 90 04 16", "L4 L4 L4 L4 L4 L4 L4 L4",	/* vpgatherdd ymm0, dword ptr [rsi+ymm2*1], ymm1 */
	  "*load p23/1 rsi,v2>t0 s0:4; *load p23/1 rsi,v2>t1 s1:4; *load p23/1 rsi,v2>t2 s2:4; "
	  "*load p23/1 rsi,v2>t3 s3:4; *load p23/1 rsi,v2>t4 s4:4; *load p23/1 rsi,v2>t5 s5:4; "
	  "*load p23/1 rsi,v2>t6 s6:4; *load p23/1 rsi,v2>t7 s7:4; *op p0/1; *op p5/1 t0,t1,t2,t3>t0; "
	  "*op p5/1 t0,t4,t5,t6>t1; *op p015/1 t1,t7,v0,v1>v0,v1",
	  "*load p23b/1 rsi,v2>t0 s0:4; *load p23b/1 rsi,v2>t1 s1:4; *load p23b/1 rsi,v2>t2 s2:4; "
	  "*load p23b/1 rsi,v2>t3 s3:4; *load p23b/1 rsi,v2>t4 s4:4; *load p23b/1 rsi,v2>t5 s5:4; "
	  "*load p23b/1 rsi,v2>t6 s6:4; *load p23b/1 rsi,v2>t7 s7:4; *op p0/1; *op p5/1 t0,t1,t2,t3>t0; "
	  "*op p5/1 t0,t4,t5,t6>t1; *op p015/1 t1,t7,v0,v1>v0,v1" },
	{ 8, "c4 e2 75 2c 06", "L4 L4 L4 L4 L4 L4 L4 L4",	/* vmaskmovps ymm0, ymm1, [rsi] */
	  "*load p23/1 rsi>t0 s0:32; op p015/1 t0,v1>v0",
	  "*load p23b/1 rsi>t0 s0:32; op p015/1 t0,v1>v0" },
	{ 8, "c5 f8 77", "",	/* vzeroupper */
	  "*nop; *nop; *nop; *nop",
	  "=" },
	{ 8, "66 0f 38 dc c1", "",	/* aesenc xmm0, xmm1 */
	  "*op p0/4 v0,v1>v0",
	  "*op p01/3 v0,v1>v0" },
	{ 8, "0f 38 c8 c1", "",	/* sha1nexte xmm0, xmm1 */
	  "*op p01/3 v0,v1>v0",
	  "*op p015/1; *op p015/1 v0,v1>t0; *op p01/1 t0>t1; *op p15/1 t1>v0" },
	{ 8, "66 0f 3a 44 c1 00", "",	/* pclmulqdq xmm0, xmm1, 0x00 */
	  "*op p5/7 v0,v1>v0",
	  "*op p5/3 v0,v1>v0" },
	{ 8, "62 f1 7c 48 58 c1", "",	/* vaddps zmm0, zmm0, zmm1 */
	  "*op p01/4 v0,v1>v0",
	  "*op p05/3 v0,v1>v0" },
	{ 8, "d9 06", "L4",	/* fld [rsi] */
	  "*load p23/0 rsi>st7 s0:4",
	  "*load p23b/0 rsi>st7 s0:4" },
	{ 8, "dd 06", "L8",	/* fld [rsi] */
	  "*load p23/0 rsi>st7 s0:8",
	  "*load p23b/0 rsi>st7 s0:8" },
	{ 8, "dd 1e", "S8",	/* fstp [rsi] */
	  "*sta p237/1 rsi> s0:8; std p4/1 st0> s0:8",
	  "*sta p78/1 rsi> s0:8; std p49/1 st0> s0:8" },
	{ 8, "d9 c1", "",	/* fld st1 */
	  "*op p05/1 st1>st7",
	  "=" },
	{ 8, "d8 c1", "",	/* fadd st0, st1 */
	  "*op p5/3 st0,st1>st0",
	  "=" },
	{ 8, "de c1", "",	/* faddp st1, st0 */
	  "*op p5/3 st1,st0>st1",
	  "=" },
	{ 8, "dc 06", "L8",	/* fadd [rsi] */
	  "*load p23/0 rsi>t0 s0:8; op p5/3 t0,st0>st0",
	  "*load p23b/0 rsi>t0 s0:8; op p5/3 t0,st0>st0" },
	{ 8, "d9 c9", "",	/* fxch st1 */
	  "*elim st1>t0; elim st0>st1; *elim t0>st0",
	  "*elim st1>t0; op p05/1 st0>st1; *op p05/1 t0>st0" },
	{ 8, "df e9", "",	/* fucomip st0, st1 */
	  "*op p5/2 st0,st1>t0; *op p06/1 t0>flags,cf",
	  "=" },
	{ 8, "df e0", "",	/* fnstsw ax */
	  "*op p0/1 sw>t0; *op p0156/2 t0,rax>rax",
	  "*op p0/1 sw>t0; *op p0156a/2 t0,rax>rax" },
	{ 8, "df 3e", "S8",	/* fistp [rsi] */
	  "*op p1/4 st0>t0; *sta p237/1 rsi> s0:8; std p4/1 t0> s0:8",
	  "*op p1/4 st0>t0; *sta p78/1 rsi> s0:8; std p49/1 t0> s0:8" },
	{ 4, "40", "",	/* inc eax */
	  "*op p0156/1 rax>rax,flags",
	  "*op p0156a/1 rax>rax,flags" },
	{ 4, "55", "S4",	/* push ebp */
	  "*sta p237/1 rsp> s0:4; std p4/1 rbp> s0:4",
	  "*sta p78/1 rsp> s0:4; std p49/1 rbp> s0:4" },
};

static void add_slots(struct maker *m, const char *s)
{
	while (*s) {
		unsigned kind = *s == 'L' ? ST_SLOT_LOAD : *s == 'S' ? ST_SLOT_STORE : *s == 'A' ? ST_SLOT_LOADSTORE
			: *s == 'F' ? ST_SLOT_FLUSH : ST_SLOT_PREFETCH;
		maker_slot(m, kind, (unsigned)atoi(s + 1));
		s += strcspn(s, " ");
		s += *s == ' ';
	}
}

/* Is one text the other with the two inputs of one uop exchanged ("v1,v0>" for "v0,v1>")? */
static bool same_but_for_the_order(const char *a, const char *b)
{
	char other[256];
	const char *comma = strchr(a, ','), *begin = comma, *end;
	if (!comma || strlen(a) >= sizeof other)
		return false;
	while (begin > a && begin[-1] != ' ')
		begin--;
	end = comma + strcspn(comma, ">");
	const int first = (int)(comma - begin), second = (int)(end - comma) - 1;
	snprintf(other, sizeof other, "%.*s%.*s,%.*s%s", (int)(begin - a), a, second, comma + 1, first, begin, end);
	return !strcmp(other, b);
}

static void check_rows(const char *uarch, bool golden_cove)
{
	struct isa *isa = open_isa(uarch);
	static char text[32768];
	unsigned wrong = 0;
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		struct maker m;
		const char *want = golden_cove && strcmp(rows[i].golden_cove, "=") ? rows[i].golden_cove
			: rows[i].skylake;
		maker_init(&m, 0x1000);
		maker_insn(&m, rows[i].hex);
		add_slots(&m, rows[i].slots);
		struct iblock *b = maker_decode(&m, isa, rows[i].word_bytes);
		block_text(text, b);
		/* Zydis 4.0 and 4.1 list the operands of SQRTSS in another order; a uop waits for both */
		if (strcmp(text, want) && !same_but_for_the_order(text, want)) {
			print_message("%s, %s:\n  want %s\n  have %s\n", uarch, rows[i].hex, want, text);
			wrong++;
		}
		isa_block_free(b);
	}
	isa_destroy(isa);
	assert_int_equal(wrong, 0);
}

static void test_skylake_makes_these_uops(void **state)
{
	(void)state;
	check_rows("skylake", false);
}

static void test_golden_cove_makes_these_uops(void **state)
{
	(void)state;
	check_rows("golden-cove", true);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_skylake_makes_these_uops),
		cmocka_unit_test(test_golden_cove_makes_these_uops),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
