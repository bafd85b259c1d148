/* SPDX-License-Identifier: GPL-2.0-or-later
 * The first and the lowest part of the tests' kernel (kernel.c).  The machine has no BIOS: this is its ROM.
 *
 * ROM: 64 KB at FFFF0000H.  Its first part is what runs at 100000H, its end the reset vector.  From there 16-bit code
 * switches to protected mode, copies the ROM to 100000H and goes on there; that builds page tables and switches to
 * 64-bit mode.
 */
	.set ROM, 0xffff0000
	.set RAM, 0x100000
	.set TABLES, 0x10000		/* PML4, PDPT, PD of the first GB, PD and PT of the second */
	.set STACK, 0x80000
	.set OTHER_STACK, 0x70000	/* of the second processor */

	/* From protected mode to 64-bit code at \to, with the tables that are there. */
	.macro paging_on to
	mov $TABLES, %eax
	mov %eax, %cr3
	mov %cr4, %eax
	or $0x620, %eax				/* PAE, OSFXSR, OSXMMEXCPT */
	mov %eax, %cr4
	mov $0xc0000080, %ecx
	rdmsr
	or $0x101, %eax				/* LME, SCE */
	wrmsr
	mov %cr0, %eax
	or $0x80010000, %eax			/* PG, WP */
	mov %eax, %cr0
	lgdt gdt_pointer
	ljmp $0x10, $\to
	.endm

	.section .text.start, "ax"
	.code32
	.globl start
start:	/* at 100000H, protected mode without paging */
	mov $STACK, %esp
	mov $TABLES, %edi
	xor %eax, %eax
	mov $0x5000 / 4, %ecx
	rep stosl
	movl $TABLES + 0x1007, TABLES		/* present, writable, user */
	movl $TABLES + 0x2007, TABLES + 0x1000
	movl $TABLES + 0x3007, TABLES + 0x1008
	movl $TABLES + 0x4007, TABLES + 0x3000
	mov $TABLES + 0x2000, %edi		/* the first GB by 2 MB pages */
	mov $0x87, %eax
1:	mov %eax, (%edi)
	add $8, %edi
	add $0x200000, %eax
	cmp $TABLES + 0x3000, %edi
	jne 1b
	paging_on long_mode
	.code64
long_mode:
	mov $0x18, %eax
	mov %eax, %ds
	mov %eax, %es
	mov %eax, %ss
	xor %ebp, %ebp
	call kernel_main
	ud2

/* Another processor begins here, in a copy below 1 MB (kernel.c). */
	.globl other_start, other_end
	.weak other_main
	.code16
other_start:
	cli
	data32 lgdt %cs:other_gdt_pointer - other_start
	mov %cr0, %eax
	or $1, %eax
	mov %eax, %cr0
	data32 ljmp $0x08, $other_protected
	.balign 8
other_gdt_pointer:
	.word gdt_pointer - gdt - 1
	.long gdt
other_end:
	.code32
other_protected:
	mov $0x18, %eax
	mov %eax, %ds
	mov %eax, %es
	mov %eax, %ss
	mov $OTHER_STACK, %esp
	paging_on other_long_mode
	.code64
other_long_mode:
	mov $0x18, %eax
	mov %eax, %ds
	mov %eax, %es
	mov %eax, %ss
	xor %ebp, %ebp
	call other_main
	ud2

/* uint64_t user_call(void *at, uint64_t rdi): runs user code at CPL 3 until it executes SYSCALL; returns its RAX */
	.globl user_call, user_return
user_call:
	push %rbx
	push %rbp
	push %r12
	push %r13
	push %r14
	push %r15
	mov %rsp, kernel_stack
	mov %rdi, %rcx
	mov %rsi, %rdi
	pushq $0x23
	pushq $0x280000				/* its stack */
	pushq $0x202
	pushq $0x2b
	push %rcx
	iretq
user_return:					/* LSTAR */
	mov kernel_stack, %rsp
	pop %r15
	pop %r14
	pop %r13
	pop %r12
	pop %rbp
	pop %rbx
	ret

/* Interrupts: the vector and an error code on the stack, then C. */
	.macro entry number, code=0
	.balign 16
	.if \code == 0
	pushq $0
	.endif
	pushq $\number
	jmp common
	.endm
	.globl entries
	.balign 16
entries:
	.set n, 0
	.rept 68
	.if n == 8 || n == 10 || n == 11 || n == 12 || n == 13 || n == 14 || n == 17
	entry n, 1
	.else
	entry n
	.endif
	.set n, n + 1
	.endr
common:
	push %rax
	push %rcx
	push %rdx
	push %rbx
	push %rbp
	push %rsi
	push %rdi
	push %r8
	push %r9
	push %r10
	push %r11
	push %r12
	push %r13
	push %r14
	push %r15
	mov %rsp, %rdi
	call interrupt
	pop %r15
	pop %r14
	pop %r13
	pop %r12
	pop %r11
	pop %r10
	pop %r9
	pop %r8
	pop %rdi
	pop %rsi
	pop %rbp
	pop %rbx
	pop %rdx
	pop %rcx
	pop %rax
	add $16, %rsp
	iretq

/* Code whose instructions are known to the last one.  loop_add(n): 2n + 2.  loop_multiply(n): n dependent
 * multiplications in 3n + 2 instructions.  loop_load(n, address): 3n + 2, n loads. */
	.globl loop_add, loop_multiply, loop_load, loop_load_end, user_add, user_add_end, user_pmc, user_fault
	.balign 64
loop_add:
	mov %edi, %ecx
1:	dec %ecx
	jnz 1b
	ret
	.balign 64
loop_multiply:
	mov %edi, %eax
1:	imul %rax, %rax
	dec %edi
	jnz 1b
	ret
	.balign 64
loop_load:
	mov %edi, %ecx
1:	mov (%rsi), %rax
	dec %ecx
	jnz 1b
loop_load_end:
	ret
	.balign 64
user_add:			/* 2n + 2 at CPL 3, SYSCALL included */
	mov %edi, %ecx
1:	dec %ecx
	jnz 1b
	syscall
user_add_end:
user_pmc:
	mov %edi, %ecx
	rdpmc
	shl $32, %rdx
	or %rdx, %rax
	syscall
user_fault:			/* reads and writes at an address */
	mov (%rdi), %rax
	inc %rax
	mov %rax, (%rdi)
	syscall

	.data
	.balign 16
	.globl gdt, tss, kernel_stack
gdt:	.quad 0
	.quad 0x00cf9a000000ffff	/* 08: 32-bit code */
	.quad 0x00af9a000000ffff	/* 10: 64-bit code */
	.quad 0x00cf92000000ffff	/* 18: data */
	.quad 0x00cff2000000ffff	/* 20: user data */
	.quad 0x00affa000000ffff	/* 28: user code */
	.quad 0, 0			/* 30: task state, filled in by C */
gdt_pointer:
	.word gdt_pointer - gdt - 1
	.quad gdt
	.balign 16
tss:	.fill 104, 1, 0
kernel_stack: .quad 0

/* The end of the ROM.  Its addresses are those of the ROM, not of the copy. */
	.section .reset, "ax"
	.code16
reset:	cli
	data32 lgdt %cs:0xf000 + rom_gdt_pointer - reset	/* its offset in the ROM */
	mov %cr0, %eax
	or $1, %eax
	mov %eax, %cr0
	data32 ljmp $0x08, $protected
	.code32
protected:
	mov $0x10, %eax
	mov %eax, %ds
	mov %eax, %es
	mov %eax, %ss
	mov $ROM, %esi
	mov $RAM, %edi
	mov $0xf000 / 4, %ecx
	cld
	rep movsl
	mov $RAM, %eax
	jmp *%eax
	.balign 8
rom_gdt:
	.quad 0
	.quad 0x00cf9a000000ffff
	.quad 0x00cf92000000ffff
rom_gdt_pointer:
	.word rom_gdt_pointer - rom_gdt - 1
	.long rom_gdt
	.section .vector, "ax"
	.code16
	jmp reset
	.balign 16
